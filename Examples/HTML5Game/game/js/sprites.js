// The sprite sheet and its table of cells.

import { loadImage, loadJSON } from "./loader.js";

export class Sprites {
  static async load() {
    const table = await loadJSON("sprites/atlas.json");
    return new Sprites(table, await loadImage(`sprites/${table.image}`));
  }

  constructor(table, image) {
    this.table = table;
    this.image = image;
  }

  draw(context, name, x, y, size, angle = 0) {
    const [left, top] = this.table.frames[name];
    const { cell } = this.table;
    context.save();
    context.translate(x, y);
    context.rotate(angle);
    context.drawImage(this.image, left, top, cell, cell, -size / 2, -size / 2, size, size);
    context.restore();
  }

  // The frame is chosen by the way walked, so paws do not slide on the floor.
  walker(context, name, actor, size) {
    const frame = Math.floor(actor.walked / 9) % this.table.walkFrames;
    this.draw(context, `${name}-${frame}`, actor.x, actor.y, size, actor.angle);
  }
}
