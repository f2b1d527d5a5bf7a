// A cat walks its round, and runs after a rat that it sees. Sight is a cone
// that walls block; a rat in a hiding place is only noticed up close.

import { TILE } from "../config.js";
import { approach, distance, heading, turnBetween, turnTowards } from "../geometry.js";
import { centre } from "../level.js";
import { distances, downhill, tileAt, tileCentre } from "../path.js";

const STARTLED = 0.45;
const PATIENCE = 1.6;
const SEARCH = 2.2;
const UP_CLOSE = 1.1 * TILE;
export const HALF_CONE = 0.62;

export class Cat {
  constructor({ path, speed, chase, sight }, level) {
    this.kind = "cat";
    this.level = level;
    this.round = path.map((point) => centre(...point));
    this.stop = 0;
    this.speeds = { patrol: speed, chase };
    this.sight = sight * TILE;
    this.reach = 23;
    this.walked = 0;
    this.mood = "patrol";
    this.timer = 0;
    this.unseen = 0;
    Object.assign(this, this.round[0]);
    this.step = tileCentre(tileAt(this));
    this.angle = heading(this.round[0], this.round[1 % this.round.length]);
    this.route = null;
    this.routeGoal = -1;
  }

  get dangerous() {
    return this.mood !== "startled";
  }

  // Sends the cat back to its round, after it has caught the rat.
  calm() {
    this.mood = "patrol";
    this.timer = 0;
  }

  notices(rat, world) {
    if (world.inNest(rat) || rat.grace > 0) {
      return false;
    }
    const away = distance(this, rat);
    if (rat.hidden) {
      return away < UP_CLOSE;
    }
    const aside = Math.abs(turnBetween(this.angle, heading(this, rat)));
    const inCone = away < this.sight && aside < HALF_CONE;
    return (inCone || away < UP_CLOSE * 1.2) && world.physics.sees(this, rat);
  }

  update(dt, world) {
    const { rat } = world;
    const seen = this.notices(rat, world);
    this.timer -= dt;
    this.unseen = seen ? 0 : this.unseen + dt;
    switch (this.mood) {
      case "patrol":
        this.#patrol(dt);
        if (seen) {
          this.mood = "startled";
          this.timer = STARTLED;
          world.tell("spotted", this);
        }
        break;
      case "startled":
        this.angle = turnTowards(this.angle, heading(this, rat), dt * 8);
        if (this.timer <= 0) {
          this.mood = "chase";
        }
        break;
      case "chase":
        this.#walk(dt, tileAt(rat), this.speeds.chase);
        if (this.unseen > PATIENCE || world.inNest(rat)) {
          this.mood = "search";
          this.timer = SEARCH;
        }
        break;
      case "search":
        this.angle += Math.sin(this.timer * 4) * dt * 2.4;
        if (seen) {
          this.mood = "chase";
        } else if (this.timer <= 0) {
          this.mood = "patrol";
        }
        break;
    }
  }

  #patrol(dt) {
    const goal = this.round[this.stop];
    if (distance(this, goal) < 2) {
      this.stop = (this.stop + 1) % this.round.length;
    }
    this.#walk(dt, tileAt(this.round[this.stop]), this.speeds.patrol);
  }

  // Walks from the middle of one tile to the next, choosing anew at each.
  #walk(dt, goal, speed) {
    if (goal !== this.routeGoal) {
      this.routeGoal = goal;
      this.route = distances(this.level, goal);
    }
    this.angle = turnTowards(this.angle, heading(this, this.step), dt * 7);
    if (approach(this, this.step, speed * dt)) {
      this.step = tileCentre(downhill(this.route, tileAt(this)));
    }
    this.walked += speed * dt;
  }
}
