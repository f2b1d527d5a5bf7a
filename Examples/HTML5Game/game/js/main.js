// Loads what every scene needs, then runs the clock.

import { STEP, readOptions } from "./config.js";
import { Sound } from "./audio.js";
import { Game } from "./game.js";
import { Texts } from "./i18n.js";
import { Input } from "./input.js";
import { loadImage, loadJSON, loadWasm } from "./loader.js";
import { Physics } from "./physics.js";
import { Sprites } from "./sprites.js";
import { setError, setState, watchErrors } from "./status.js";
import { View } from "./render/view.js";

// After a pause, as of a hidden tab, the game goes on instead of catching up.
const LONGEST_FRAME = 0.1;

async function boot() {
  watchErrors();
  setState("loading");
  const options = readOptions(location.search);
  const canvas = document.getElementById("stage");
  const sound = new Sound(document.getElementById("music"), options);
  const texts = new Texts(options.language);
  const [sprites, title, instance, index] = await Promise.all([
    Sprites.load(),
    loadImage("title.png"),
    loadWasm("physics/burrow.wasm"),
    loadJSON("levels/index.json"),
    texts.load(),
    sound.load(),
  ]);
  const view = new View(canvas, sprites);
  const game = new Game({
    options,
    texts,
    sound,
    input: new Input(canvas),
    physics: new Physics(instance),
    images: { title },
    levels: index.levels,
  });
  game.title();
  run(game, view);
}

function run(game, view) {
  let last = performance.now();
  let owed = 0;
  const advance = () => {
    const now = performance.now();
    const passed = Math.min(LONGEST_FRAME, Math.max(0, (now - last) / 1000));
    last = now;
    owed += passed * game.options.speed;
    while (owed >= STEP) {
      owed -= STEP;
      game.update(STEP);
      game.input.endStep();
    }
  };
  // The demonstration has to get on even where no frames are asked for, as in
  // a browser without a screen, so a timer drives it.
  const timed = game.options.demo;
  if (timed) {
    setInterval(advance, STEP * 1000);
  }
  const frame = () => {
    requestAnimationFrame(frame);
    if (!timed) {
      advance();
    }
    game.draw(view);
  };
  requestAnimationFrame(frame);
}

boot().catch(setError);
