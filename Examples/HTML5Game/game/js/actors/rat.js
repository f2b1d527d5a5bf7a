// The hero. A full satchel is worth more and makes slow, which is the bargain
// the whole game is about.

import { SATCHEL, TILE } from "../config.js";
import { turnTowards } from "../geometry.js";

const SPEED = 152;
const BURDEN = 0.065;
export const DASH = { seconds: 0.2, factor: 2.5, rest: 1.1 };

export class Rat {
  constructor(nest) {
    this.x = nest.x;
    this.y = nest.y;
    this.angle = -Math.PI / 2;
    this.satchel = [];
    this.dashing = 0;
    this.resting = 0;
    this.grace = 1.5;
    this.walked = 0;
    this.hidden = false;
  }

  get full() {
    return this.satchel.length >= SATCHEL;
  }

  get dashReady() {
    return this.resting <= 0;
  }

  speed() {
    const burdened = SPEED * (1 - BURDEN * this.satchel.length);
    return this.dashing > 0 ? burdened * DASH.factor : burdened;
  }

  update(dt, intent, world) {
    this.grace = Math.max(0, this.grace - dt);
    this.resting = Math.max(0, this.resting - dt);
    this.dashing = Math.max(0, this.dashing - dt);
    const length = Math.hypot(intent.x, intent.y);
    if (intent.dash && this.dashReady && length > 0.2) {
      this.dashing = DASH.seconds;
      this.resting = DASH.rest;
      world.tell("dash", this);
    }
    if (length > 0.2) {
      // Half a stick is half the speed, a full one is never more than full.
      const pace = this.speed() * Math.min(1, length) * dt;
      this.#walk(intent.x / length, intent.y / length, pace, world.physics);
      this.angle = turnTowards(this.angle, Math.atan2(intent.y, intent.x), dt * 14);
      this.walked += pace;
    }
    this.hidden = this.dashing === 0 && world.level.hides(this.x, this.y);
  }

  #walk(ux, uy, pace, physics) {
    const hit = physics.move(this, ux * pace, uy * pace);
    if ((hit & 1) && Math.abs(ux) > Math.abs(uy)) {
      this.#slip("y", Math.sign(ux), 0, pace, physics);
    } else if ((hit & 2) && Math.abs(uy) > Math.abs(ux)) {
      this.#slip("x", 0, Math.sign(uy), pace, physics);
    }
  }

  // Catching on the corner of a doorway is no fun: if the way ahead is open
  // from the middle of this tile, slide towards the middle.
  #slip(axis, sx, sy, pace, physics) {
    const middle = (Math.floor(this[axis] / TILE) + 0.5) * TILE;
    const ahead = axis === "y"
      ? [this.x + sx * TILE * 0.8, middle]
      : [middle, this.y + sy * TILE * 0.8];
    if (physics.solid(...ahead)) {
      return;
    }
    const shift = Math.max(-pace, Math.min(pace, middle - this[axis]));
    physics.move(this, axis === "x" ? shift : 0, axis === "y" ? shift : 0);
  }
}
