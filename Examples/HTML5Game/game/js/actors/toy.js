// A clockwork beetle: runs to and fro for ever, blind to everything.

import { approach, heading, turnTowards } from "../geometry.js";
import { centre } from "../level.js";

export class Toy {
  constructor({ from, to, speed }) {
    this.kind = "toy";
    this.ends = [centre(...from), centre(...to)];
    this.goal = 1;
    this.pace = speed;
    this.reach = 21;
    this.walked = 0;
    Object.assign(this, this.ends[0]);
    this.angle = heading(this.ends[0], this.ends[1]);
  }

  get dangerous() {
    return true;
  }

  update(dt) {
    const target = this.ends[this.goal];
    if (approach(this, target, this.pace * dt)) {
      this.goal = 1 - this.goal;
    }
    this.angle = turnTowards(this.angle, heading(this, this.ends[this.goal]), dt * 9);
    this.walked += this.pace * dt;
  }

  calm() {
    // Nothing to forget.
  }
}
