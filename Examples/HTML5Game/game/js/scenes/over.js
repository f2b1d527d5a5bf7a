// The end of a run, good or bad.

import { HEIGHT, WIDTH } from "../config.js";
import { setState } from "../status.js";
import { bestScore, remember } from "../store.js";
import { Menu } from "./menu.js";

export class Over {
  constructor(game, won, run) {
    this.game = game;
    this.won = won;
    this.run = run;
    this.time = 0;
    this.menu = new Menu([
      { label: () => game.texts.get("again"), act: () => game.start() },
      { label: () => game.texts.get("toTitle"), act: () => game.title() },
    ], 372, game.sound);
  }

  enter() {
    this.record = this.run.score > bestScore();
    // The autopilot's results are not the player's.
    if (this.record && !this.game.options.demo) {
      remember("best", this.run.score);
    }
    this.game.sound.music("evening");
    setState(this.won ? "won" : "lost");
  }

  update(dt) {
    this.time += dt;
    this.menu.update(this.game.input);
  }

  draw(view) {
    const { context, sprites } = view;
    const { texts, images } = this.game;
    context.drawImage(images.title, 0, 0, WIDTH, HEIGHT);
    view.shade(this.won ? 0.35 : 0.62);
    view.text(texts.get(this.won ? "won" : "lost"), WIDTH / 2, 84,
              { size: 46, align: "center", weight: 800,
                colour: this.won ? "#ffe6a6" : "#ff9a8a" });
    view.paragraph(texts.get(this.won ? "wonText" : "lostText"), WIDTH / 2, 136, 560,
                   { size: 18, align: "center" });
    this.#heap(context, sprites);
    view.text(texts.get("score", { score: texts.number(this.run.score) }), WIDTH / 2, 324,
              { size: 28, align: "center", colour: "#ffd97a" });
    if (this.record) {
      view.text(texts.get("record"), WIDTH / 2, 352,
                { size: 15, align: "center", colour: "#8df0c0" });
    }
    this.menu.draw(view);
  }

  #heap(context, sprites) {
    if (!this.won) {
      const frame = Math.floor(this.time * 3) % 4;
      sprites.draw(context, `cat-${frame}`, WIDTH / 2, 236, 130, Math.sin(this.time) * 0.1);
      return;
    }
    sprites.draw(context, "nest", WIDTH / 2, 246, 150);
    const kinds = ["gem", "ring", "button", "key", "gem", "ring", "button"];
    kinds.forEach((kind, i) => {
      const angle = i / kinds.length * Math.PI * 2 + this.time * 0.3;
      sprites.draw(context, kind, WIDTH / 2 + Math.cos(angle) * 100,
                   240 + Math.sin(angle) * 46, 40, Math.sin(this.time * 2 + i) * 0.2);
    });
    sprites.draw(context, "rat-1", WIDTH / 2, 240 + Math.sin(this.time * 3) * 2, 84, -Math.PI / 2);
  }
}
