// The rules of one level, with no drawing and no sound: what happens is told
// as events, which the play scene turns into noise and sparks.

import { COLUMNS, ROWS, SATCHEL, TILE, TRINKETS } from "./config.js";
import { Cat } from "./actors/cat.js";
import { Owl } from "./actors/owl.js";
import { Rat } from "./actors/rat.js";
import { Toy } from "./actors/toy.js";
import { distance } from "./geometry.js";

const KINDS = { cat: Cat, owl: Owl, toy: Toy };
const PICK_REACH = 20;
const NEST_REACH = 26;

export class World {
  constructor(level, physics, run) {
    this.level = level;
    this.physics = physics;
    this.run = run;
    this.rat = new Rat(level.nest);
    this.trinkets = level.trinkets.map((trinket) => ({ ...trinket, state: "lying" }));
    this.enemies = level.data.enemies.map((about) => new KINDS[about.kind](about, level));
    this.events = [];
    this.elapsed = 0;
    this.warned = 0;
    this.over = null;
    physics.setup(COLUMNS, ROWS, TILE, level.solid);
  }

  tell(type, at, more = {}) {
    this.events.push({ type, x: at.x, y: at.y, ...more });
  }

  takeEvents() {
    return this.events.splice(0);
  }

  inNest(body) {
    return distance(body, this.level.nest) < NEST_REACH;
  }

  get left() {
    return this.trinkets.filter((trinket) => trinket.state !== "home").length;
  }

  get timeBonus() {
    return Math.max(0, Math.round(this.level.data.par - this.elapsed)) * 5;
  }

  update(dt, intent) {
    this.physics.stepParticles(dt);
    if (this.over) {
      return;
    }
    this.elapsed += dt;
    this.warned = Math.max(0, this.warned - dt);
    this.rat.update(dt, intent, this);
    this.#pick();
    this.#deposit();
    for (const enemy of this.enemies) {
      enemy.update(dt, this);
    }
    this.#collide();
  }

  #pick() {
    for (const trinket of this.trinkets) {
      if (trinket.state !== "lying" || distance(this.rat, trinket) > PICK_REACH) {
        continue;
      }
      if (this.rat.full) {
        if (this.warned === 0) {
          this.tell("full", this.rat, { limit: SATCHEL });
          this.warned = 1.5;
        }
        continue;
      }
      trinket.state = "carried";
      this.rat.satchel.push(trinket);
      this.tell("pick", trinket, { kind: trinket.kind });
    }
  }

  // Bringing home several at once multiplies what each is worth.
  #deposit() {
    const { satchel } = this.rat;
    if (satchel.length === 0 || !this.inNest(this.rat)) {
      return;
    }
    const worth = satchel.reduce((sum, { kind }) => sum + TRINKETS[kind], 0);
    const points = worth * satchel.length;
    satchel.forEach((trinket) => { trinket.state = "home"; });
    this.rat.satchel = [];
    this.run.score += points;
    this.tell("deposit", this.level.nest, { points, count: satchel.length });
    if (this.left === 0) {
      this.over = "cleared";
      this.tell("cleared", this.level.nest);
    }
  }

  #collide() {
    const { rat } = this;
    if (this.over || rat.grace > 0 || this.inNest(rat)) {
      return;
    }
    const hunter = this.enemies.find(
      (enemy) => enemy.dangerous && distance(enemy, rat) < enemy.reach);
    if (!hunter) {
      return;
    }
    this.tell("hurt", rat);
    this.run.lives -= 1;
    // What was carried goes back to where it lay, so nothing can be lost.
    rat.satchel.forEach((trinket) => { trinket.state = "lying"; });
    this.enemies.forEach((enemy) => enemy.calm());
    if (this.run.lives <= 0) {
      this.over = "lost";
      this.tell("lost", rat);
      return;
    }
    this.rat = new Rat(this.level.nest);
  }
}
