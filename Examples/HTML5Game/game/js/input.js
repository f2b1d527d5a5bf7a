// Keyboard and touch, gathered into one intent a step.
//
// Touch has no fixed buttons: the left half of the page is a stick that
// appears under the thumb, a tap on the right half dashes.

import { HEIGHT, WIDTH } from "./config.js";

const KEYS = {
  ArrowLeft: "left", KeyA: "left", ArrowRight: "right", KeyD: "right",
  ArrowUp: "up", KeyW: "up", ArrowDown: "down", KeyS: "down",
  Space: "dash", ShiftLeft: "dash", ShiftRight: "dash",
  Enter: "confirm", Escape: "pause", KeyP: "pause", KeyM: "mute",
};

// How far the thumb moves for full speed.
export const STICK = 46;

export class Input {
  constructor(canvas) {
    this.canvas = canvas;
    this.held = new Set();
    this.pressed = new Set();
    this.taps = [];
    this.stick = null;
    this.touching = matchMedia("(pointer: coarse)").matches;
    addEventListener("keydown", (event) => this.#key(event, true));
    addEventListener("keyup", (event) => this.#key(event, false));
    addEventListener("pointerdown", (event) => this.#down(event));
    addEventListener("pointermove", (event) => this.#moved(event));
    addEventListener("pointerup", (event) => this.#up(event));
    addEventListener("pointercancel", (event) => this.#up(event));
    // A key released elsewhere never reports it.
    addEventListener("blur", () => this.held.clear());
  }

  #key(event, down) {
    const name = KEYS[event.code];
    if (!name || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    if (!down) {
      this.held.delete(name);
    } else if (!event.repeat) {
      this.held.add(name);
      this.pressed.add(name);
    }
  }

  // Page coordinates into those of the stage.
  #place(event) {
    const frame = this.canvas.getBoundingClientRect();
    return {
      x: (event.clientX - frame.left) / frame.width * WIDTH,
      y: (event.clientY - frame.top) / frame.height * HEIGHT,
    };
  }

  #down(event) {
    const at = this.#place(event);
    this.taps.push(at);
    if (event.pointerType === "mouse") {
      return;
    }
    this.touching = true;
    if (event.clientX < innerWidth / 2 && !this.stick) {
      this.stick = { id: event.pointerId, from: at, x: 0, y: 0 };
    } else {
      this.pressed.add("dash");
    }
  }

  #moved(event) {
    if (this.stick?.id !== event.pointerId) {
      return;
    }
    const at = this.#place(event);
    const x = (at.x - this.stick.from.x) / STICK;
    const y = (at.y - this.stick.from.y) / STICK;
    const length = Math.max(1, Math.hypot(x, y));
    this.stick.x = x / length;
    this.stick.y = y / length;
  }

  #up(event) {
    if (this.stick?.id === event.pointerId) {
      this.stick = null;
    }
  }

  intent() {
    const axis = (low, high) => Number(this.held.has(high)) - Number(this.held.has(low));
    return {
      x: axis("left", "right") || (this.stick?.x ?? 0),
      y: axis("up", "down") || (this.stick?.y ?? 0),
      dash: this.pressed.has("dash"),
    };
  }

  was(name) {
    return this.pressed.has(name);
  }

  tappedIn({ x, y, width, height }) {
    return this.taps.some((tap) => tap.x >= x && tap.x < x + width
      && tap.y >= y && tap.y < y + height);
  }

  // Presses last for one step, so that none is acted on twice.
  endStep() {
    this.pressed.clear();
    this.taps.length = 0;
  }
}
