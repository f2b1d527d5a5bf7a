// An owl circles above the walls, marks a place with its shadow and dives at
// it. Only the moment of the strike is dangerous, so moving on is enough.

import { TILE } from "../config.js";
import { approach, distance, heading, turnTowards } from "../geometry.js";
import { centre } from "../level.js";

const WARNING = 1.25;
const STRIKE = 0.3;

export class Owl {
  constructor({ home, pause, speed }) {
    this.kind = "owl";
    this.home = centre(...home);
    this.pause = pause;
    this.pace = speed;
    this.reach = 30;
    this.walked = 0;
    this.mood = "circle";
    this.timer = pause;
    this.turn = 0;
    this.target = { ...this.home };
    Object.assign(this, this.home);
    this.angle = 0;
  }

  get dangerous() {
    return this.mood === "strike";
  }

  // 0 while circling, rising to 1 as the strike comes near.
  get threat() {
    return this.mood === "aim" ? 1 - this.timer / WARNING : Number(this.mood === "strike");
  }

  calm() {
    this.mood = "circle";
    this.timer = this.pause;
  }

  update(dt, world) {
    this.timer -= dt;
    this.walked += dt * 90;
    if (this.mood === "circle") {
      this.#circle(dt);
      if (this.timer <= 0 && !world.rat.hidden && !world.inNest(world.rat)) {
        this.mood = "aim";
        this.timer = WARNING;
        this.target = { x: world.rat.x, y: world.rat.y };
        world.tell("hoot", this);
      }
      return;
    }
    this.angle = turnTowards(this.angle, heading(this, this.target), dt * 6);
    const left = Math.max(this.timer, dt);
    approach(this, this.target, distance(this, this.target) * Math.min(1, dt / left));
    if (this.mood === "aim" && this.timer <= 0) {
      this.mood = "strike";
      this.timer = STRIKE;
      world.tell("strike", this);
    } else if (this.mood === "strike" && this.timer <= 0) {
      this.calm();
    }
  }

  #circle(dt) {
    this.turn += dt * 0.7;
    const goal = {
      x: this.home.x + Math.cos(this.turn) * TILE * 6,
      y: this.home.y + Math.sin(this.turn) * TILE * 4,
    };
    this.angle = turnTowards(this.angle, heading(this, goal), dt * 3);
    approach(this, goal, this.pace * dt);
  }
}
