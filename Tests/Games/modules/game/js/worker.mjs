// Counts the cells of the next generation in JavaScript, to be held against the WebAssembly.

import { HEIGHT, WIDTH } from "./field.mjs";

onmessage = ({ data: { cells, born, survives } }) => {
  let count = 0;
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      let neighbours = 0;
      for (let dy = -1; dy <= 1; dy += 1) {
        for (let dx = -1; dx <= 1; dx += 1) {
          if (dx || dy) neighbours += cells[((y + dy + HEIGHT) % HEIGHT) * WIDTH + ((x + dx + WIDTH) % WIDTH)];
        }
      }
      count += ((cells[y * WIDTH + x] ? survives : born) >> neighbours) & 1;
    }
  }
  postMessage(count);
};
