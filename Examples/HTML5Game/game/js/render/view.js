// The stage: a canvas with fixed logical size, sharp on any display.

import { HEIGHT, WIDTH } from "../config.js";

const FONT = '"Trebuchet MS", "Noto Sans", "Noto Sans CJK JP", "Hiragino Sans", '
  + '"Yu Gothic", "Meiryo", sans-serif';
const MAX_SCALE = 2;

export class View {
  constructor(canvas, sprites) {
    this.canvas = canvas;
    this.sprites = sprites;
    this.context = canvas.getContext("2d");
    this.context.imageSmoothingQuality = "high";
    this.resize();
    addEventListener("resize", () => this.resize());
  }

  resize() {
    const shown = this.canvas.getBoundingClientRect().width * (devicePixelRatio || 1);
    const scale = Math.min(MAX_SCALE, Math.max(1, shown / WIDTH));
    this.canvas.width = Math.round(WIDTH * scale);
    this.canvas.height = Math.round(HEIGHT * scale);
    this.context.setTransform(scale, 0, 0, scale, 0, 0);
  }

  text(text, x, y, { size = 16, colour = "#f5e9cf", align = "left", weight = 600,
                     shadow = true } = {}) {
    const { context } = this;
    context.font = `${weight} ${size}px ${FONT}`;
    context.textAlign = align;
    context.textBaseline = "middle";
    if (shadow) {
      context.fillStyle = "rgb(10 8 20 / 75%)";
      const drop = Math.min(3, size / 12);
      context.fillText(text, x + drop * 0.7, y + drop);
    }
    context.fillStyle = colour;
    context.fillText(text, x, y);
  }

  // Breaks at spaces, or anywhere in a script that is written without them.
  paragraph(text, x, y, width, options) {
    const { context } = this;
    const size = options.size ?? 16;
    context.font = `${options.weight ?? 600} ${size}px ${FONT}`;
    const words = text.includes(" ") ? text.split(/(?<= )/) : [...text];
    let line = "";
    let at = y;
    for (const word of words) {
      if (line && context.measureText(line + word).width > width) {
        this.text(line.trim(), x, at, options);
        line = "";
        at += size * 1.4;
      }
      line += word;
    }
    this.text(line.trim(), x, at, options);
  }

  panel(x, y, width, height, { fill = "rgb(20 16 36 / 82%)", edge = "#c9a25a" } = {}) {
    const { context } = this;
    context.beginPath();
    context.roundRect(x, y, width, height, 10);
    context.fillStyle = fill;
    context.fill();
    context.lineWidth = 1.5;
    context.strokeStyle = edge;
    context.stroke();
  }

  shade(alpha) {
    this.context.fillStyle = `rgb(8 6 20 / ${alpha})`;
    this.context.fillRect(0, 0, WIDTH, HEIGHT);
  }
}
