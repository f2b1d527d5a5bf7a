// A level: its JSON description, made ready for the rules and the renderer.

import { COLUMNS, ROWS, TILE } from "./config.js";
import { loadImage, loadJSON } from "./loader.js";

const LETTERS = { b: "button", r: "ring", k: "key", g: "gem" };

export function centre(column, row) {
  return { x: (column + 0.5) * TILE, y: (row + 0.5) * TILE };
}

export class Level {
  constructor(id, data) {
    this.id = id;
    this.data = data;
    this.solid = new Uint8Array(COLUMNS * ROWS);
    this.hiding = new Uint8Array(COLUMNS * ROWS);
    this.trinkets = [];
    this.nest = null;
    this.#read(data.rows);
  }

  #read(rows) {
    if (rows.length !== ROWS || rows.some((row) => row.length !== COLUMNS)) {
      throw new Error(`${this.id}: not ${COLUMNS} by ${ROWS} tiles`);
    }
    rows.forEach((row, y) => [...row].forEach((letter, x) => {
      const at = y * COLUMNS + x;
      this.solid[at] = letter === "#" ? 1 : 0;
      this.hiding[at] = letter === "~" ? 1 : 0;
      if (letter === "N") {
        this.nest = centre(x, y);
      } else if (LETTERS[letter]) {
        this.trinkets.push({ kind: LETTERS[letter], ...centre(x, y) });
      }
    }));
    if (!this.nest) {
      throw new Error(`${this.id}: no nest`);
    }
  }

  isSolid(column, row) {
    return column < 0 || row < 0 || column >= COLUMNS || row >= ROWS
      || this.solid[row * COLUMNS + column] === 1;
  }

  hides(x, y) {
    return this.hiding[Math.floor(y / TILE) * COLUMNS + Math.floor(x / TILE)] === 1;
  }
}

// Pictures and texts are fetched when a level is entered, not all at start.
export async function loadLevel(id, language) {
  const folder = `levels/${id}`;
  const [data, floor, tiles, text] = await Promise.all([
    loadJSON(`${folder}/level.json`),
    loadImage(`${folder}/floor.png`),
    loadImage(`${folder}/tiles.png`),
    loadJSON(`${folder}/text/${language}.json`),
  ]);
  return Object.assign(new Level(id, data), { floor, tiles, text });
}
