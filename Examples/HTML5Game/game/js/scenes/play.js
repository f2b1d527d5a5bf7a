// One level: introduction, play, and the reckoning at the end.

import { HEIGHT, LIVES, WIDTH } from "../config.js";
import { setProgress, setState } from "../status.js";
import { Autopilot } from "../autopilot.js";
import { World } from "../world.js";
import { Floats } from "../render/floats.js";
import { PAUSE, drawHud, drawStick } from "../render/hud.js";
import { Stage } from "../render/stage.js";
import { react } from "./reactions.js";
import { Menu } from "./menu.js";

const INTRO = 6;
const OUTRO = 2.6;
const STILL = { x: 0, y: 0, dash: false };

export class Play {
  constructor(game, level, run) {
    this.game = game;
    this.level = level;
    this.run = run;
    this.world = new World(level, game.physics, run);
    this.stage = new Stage(level);
    this.floats = new Floats();
    this.pilot = game.options.demo ? new Autopilot() : null;
    this.phase = "intro";
    this.timer = game.options.demo ? 1 : INTRO;
    this.lastStep = 0;
    this.bonus = 0;
    this.pauseMenu = new Menu([
      { label: () => game.texts.get("resume"), act: () => { this.phase = "live"; } },
      { label: () => game.texts.get("leave"), act: () => game.title() },
    ], 250, game.sound);
  }

  enter() {
    const { track, from } = this.level.data.music;
    this.game.sound.music(track, from);
    setProgress(this.run.level + 1, this.run.score);
    setState("playing");
  }

  update(dt) {
    const { input } = this.game;
    this.stage.update(dt);
    this.timer -= dt;
    switch (this.phase) {
      case "intro":
        if (this.timer <= 0 || input.was("confirm") || input.was("dash") || input.taps.length) {
          this.phase = "live";
        }
        break;
      case "live":
        this.#live(dt);
        break;
      case "paused":
        if (input.was("pause")) {
          this.phase = "live";
        } else {
          this.pauseMenu.update(input);
        }
        break;
      case "outro":
        this.world.update(dt, STILL);
        this.floats.update(dt);
        if (this.timer <= 0) {
          this.game.finishLevel(this.world.over);
          this.phase = "done";
        }
        break;
    }
  }

  #live(dt) {
    const { input } = this.game;
    if (input.was("pause") || input.tappedIn(PAUSE)) {
      this.phase = "paused";
      return;
    }
    this.world.update(dt, this.pilot?.intent(dt, this.world) ?? input.intent());
    this.floats.update(dt);
    this.world.takeEvents().forEach((event) => react(event, this));
    this.#footsteps();
    if (this.world.over) {
      this.phase = "outro";
      this.timer = OUTRO;
      this.#reckon();
    }
  }

  #reckon() {
    if (this.world.over === "cleared") {
      this.bonus = this.world.timeBonus;
      this.run.score += this.bonus;
      this.run.lives = Math.min(LIVES, this.run.lives + 1);
    }
    setProgress(this.run.level + 1, this.run.score);
  }

  #footsteps() {
    const step = Math.floor(this.world.rat.walked / 34);
    if (step !== this.lastStep) {
      this.lastStep = step;
      this.game.sound.play("step", { volume: 0.35, rate: 0.92 + 0.16 * (step % 2) });
    }
  }

  draw(view) {
    const { texts, input } = this.game;
    this.stage.draw(view, this.world);
    this.floats.draw(view);
    drawHud(view, texts, this.world, this.run);
    drawStick(view.context, input.stick);
    if (this.phase === "intro") {
      this.#card(view, this.level.text.name, this.level.text.intro, this.#hint());
    } else if (this.phase === "paused") {
      view.shade(0.6);
      view.text(texts.get("paused"), WIDTH / 2, 200, { size: 34, align: "center" });
      this.pauseMenu.draw(view);
    } else if (this.world.over === "cleared") {
      this.#card(view, texts.get("cleared"),
                 texts.get("bonus", { points: texts.number(this.bonus) }), "");
    } else if (this.world.over === "lost") {
      this.#card(view, texts.get("caught"), "", "");
    }
  }

  #hint() {
    return this.game.texts.get(`hint${this.run.level + 1}`);
  }

  #card(view, heading, body, foot) {
    const width = 480;
    const height = foot ? 190 : 130;
    const x = (WIDTH - width) / 2;
    const y = (HEIGHT - height) / 2;
    view.panel(x, y, width, height);
    view.text(heading, WIDTH / 2, y + 40,
              { size: 28, align: "center", weight: 800, colour: "#ffe6a6" });
    view.paragraph(body, WIDTH / 2, y + 84, width - 50, { size: 16, align: "center" });
    view.paragraph(foot, WIDTH / 2, y + 142, width - 50,
                   { size: 14, align: "center", colour: "#a9d8c0" });
  }
}
