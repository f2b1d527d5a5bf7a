// Short texts that rise from where something happened.

import { HUD } from "../config.js";

const LASTS = 1.3;

export class Floats {
  constructor() {
    this.items = [];
  }

  add(text, x, y, options = {}) {
    this.items.push({ text, x, y, age: 0, options });
  }

  update(dt) {
    this.items.forEach((item) => { item.age += dt; });
    this.items = this.items.filter((item) => item.age < LASTS);
  }

  draw(view) {
    for (const { text, x, y, age, options } of this.items) {
      view.context.globalAlpha = Math.min(1, 2 * (1 - age / LASTS));
      const rise = 34 * (1 - (1 - age / LASTS) ** 2);
      view.text(text, x, y + HUD - 20 - rise, { align: "center", size: 17, ...options });
    }
    view.context.globalAlpha = 1;
  }
}
