// A column of choices, for arrow keys, mouse and touch alike.

import { WIDTH } from "../config.js";

const ITEM = { width: 270, height: 36, gap: 8 };

export class Menu {
  // Items are { label: () => string, act: () => void }.
  constructor(items, top, sound, x = WIDTH / 2) {
    this.items = items;
    this.top = top;
    this.sound = sound;
    this.x = x;
    this.at = 0;
  }

  #frame(i) {
    return {
      x: this.x - ITEM.width / 2,
      y: this.top + i * (ITEM.height + ITEM.gap),
      width: ITEM.width,
      height: ITEM.height,
    };
  }

  update(input) {
    const count = this.items.length;
    const turn = Number(input.was("down")) - Number(input.was("up"));
    this.at = (this.at + turn + count) % count;
    const tapped = this.items.findIndex((_, i) => input.tappedIn(this.#frame(i)));
    // A touch on the right half also counts as a dash; only keys confirm here.
    const keyed = input.was("confirm") || (input.was("dash") && input.taps.length === 0);
    if (tapped >= 0) {
      this.at = tapped;
    }
    if (tapped >= 0 || keyed) {
      this.sound.play("click");
      this.items[this.at].act();
    }
  }

  draw(view) {
    this.items.forEach((item, i) => {
      const { x, y, width, height } = this.#frame(i);
      const chosen = i === this.at;
      view.panel(x, y, width, height, chosen
        ? { fill: "rgb(96 66 38 / 92%)", edge: "#ffd97a" }
        : { fill: "rgb(20 16 36 / 78%)", edge: "#5b4f86" });
      view.text(item.label(), this.x, y + height / 2,
                { align: "center", size: 17, colour: chosen ? "#fff3d0" : "#c9c3e2" });
    });
  }
}
