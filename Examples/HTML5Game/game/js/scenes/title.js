// The title: the night, the menu, and a rat on its way across the roofs.

import { HEIGHT, WIDTH } from "../config.js";
import { setState } from "../status.js";
import { bestScore } from "../store.js";
import { Menu } from "./menu.js";

const DEMO_PAUSE = 1.5;

export class Title {
  constructor(game) {
    this.game = game;
    const { texts, sound } = game;
    this.menu = new Menu([
      { label: () => texts.get("play"), act: () => game.start() },
      { label: () => texts.get("language"), act: () => texts.next() },
      {
        label: () => texts.get(sound.muted ? "soundOff" : "soundOn"),
        act: () => sound.toggle(),
      },
    ], 318, sound);
    this.time = 0;
  }

  enter() {
    this.best = bestScore();
    this.game.sound.music("evening");
    setState("ready");
  }

  update(dt) {
    this.time += dt;
    this.menu.update(this.game.input);
    if (this.game.options.demo && this.time > DEMO_PAUSE) {
      this.game.start();
    }
  }

  draw(view) {
    const { context, sprites } = view;
    const { texts, images } = this.game;
    context.drawImage(images.title, 0, 0, WIDTH, HEIGHT);
    this.#runner(context, sprites);
    const sway = Math.sin(this.time * 1.4) * 3;
    view.text(texts.get("title"), WIDTH / 2, 92 + sway,
              { size: 58, align: "center", weight: 800, colour: "#ffe6a6" });
    view.text(texts.get("subtitle"), WIDTH / 2, 144 + sway,
              { size: 18, align: "center", colour: "#e3dcf5" });
    this.menu.draw(view);
    const touch = this.game.input.touching;
    view.text(texts.get(touch ? "helpTouch" : "helpKeys"), WIDTH / 2, 466,
              { size: 14, align: "center", colour: "#c9c3e2" });
    if (this.best > 0) {
      view.text(texts.get("best", { score: texts.number(this.best) }), WIDTH / 2, 490,
                { size: 14, align: "center", colour: "#ffd97a" });
    }
  }

  #runner(context, sprites) {
    const x = (this.time * 90 + 150) % (WIDTH + 400) - 200;
    const frame = Math.floor(this.time * 10) % 4;
    const y = 258 + Math.sin(x / 40) * 4;
    sprites.draw(context, `rat-${frame}`, x, y, 58);
    ["button", "ring", "key", "gem"].forEach((kind, i) => {
      const bob = Math.sin(this.time * 4 + i) * 4;
      sprites.draw(context, kind, x - 52 - i * 30, y + bob, 26, Math.sin(this.time * 3 + i) * 0.2);
    });
  }
}
