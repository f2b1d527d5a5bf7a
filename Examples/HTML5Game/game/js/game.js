// What the scenes share, and the way from one to the next.

import { LIVES } from "./config.js";
import { loadLevel } from "./level.js";
import { setError } from "./status.js";
import { Over } from "./scenes/over.js";
import { Play } from "./scenes/play.js";
import { Title } from "./scenes/title.js";

export class Game {
  // `parts` are options, texts, sound, input, physics, images and levels.
  constructor(parts) {
    Object.assign(this, parts);
    this.scene = null;
    this.run = null;
    this.busy = false;
  }

  #show(scene) {
    this.scene = scene;
    scene.enter();
  }

  title() {
    this.#show(new Title(this));
  }

  start() {
    const level = Math.min(this.options.level, this.levels.length) - 1;
    this.run = { level, score: 0, lives: LIVES };
    this.#play();
  }

  // The old scene stays on show while the new level is fetched; a second
  // request in the meantime would start it twice.
  async #play() {
    if (this.busy) {
      return;
    }
    this.busy = true;
    try {
      const id = this.levels[this.run.level];
      const [level] = await Promise.all([
        loadLevel(id, this.texts.language),
        this.sound.fetch("step", `levels/${id}/sounds/step.wav`),
      ]);
      // A seed in the address makes a run repeatable.
      this.physics.seed(this.options.seed || Math.floor(Math.random() * 2 ** 31));
      this.#show(new Play(this, level, this.run));
    } catch (error) {
      setError(error);
    } finally {
      this.busy = false;
    }
  }

  finishLevel(outcome) {
    if (outcome === "lost") {
      this.#show(new Over(this, false, this.run));
    } else if (this.run.level + 1 < this.levels.length) {
      this.run.level += 1;
      this.#play();
    } else {
      this.#show(new Over(this, true, this.run));
    }
  }

  update(dt) {
    if (this.input.was("mute")) {
      this.sound.toggle();
    }
    if (!this.busy) {
      this.scene.update(dt);
    }
  }

  draw(view) {
    this.scene.draw(view);
  }
}
