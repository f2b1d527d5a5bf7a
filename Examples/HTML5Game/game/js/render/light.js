// The dark of the night, with holes burnt into it by lamps. Half resolution
// is plenty for something this soft.

import { COLUMNS, ROWS, TILE } from "../config.js";

const SCALE = 0.5;
const GLOW = 128;

function glowPicture() {
  const canvas = document.createElement("canvas");
  canvas.width = GLOW * 2;
  canvas.height = GLOW * 2;
  const context = canvas.getContext("2d");
  const gradient = context.createRadialGradient(GLOW, GLOW, 0, GLOW, GLOW, GLOW);
  gradient.addColorStop(0, "rgb(255 255 255 / 100%)");
  gradient.addColorStop(0.45, "rgb(255 255 255 / 75%)");
  gradient.addColorStop(1, "rgb(255 255 255 / 0%)");
  context.fillStyle = gradient;
  context.fillRect(0, 0, GLOW * 2, GLOW * 2);
  return canvas;
}

export class Light {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.canvas.width = COLUMNS * TILE * SCALE;
    this.canvas.height = ROWS * TILE * SCALE;
    this.context = this.canvas.getContext("2d");
    this.glow = glowPicture();
  }

  draw(target, darkness, lamps) {
    const { context, canvas } = this;
    context.globalCompositeOperation = "copy";
    context.globalAlpha = 1;
    context.fillStyle = `rgb(12 10 38 / ${darkness})`;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.globalCompositeOperation = "destination-out";
    for (const { x, y, radius, strength = 1 } of lamps) {
      const r = radius * SCALE;
      context.globalAlpha = strength;
      context.drawImage(this.glow, x * SCALE - r, y * SCALE - r, r * 2, r * 2);
    }
    target.drawImage(canvas, 0, 0, COLUMNS * TILE, ROWS * TILE);
  }
}
