// Plays by itself: goes for the cheapest trinket, where being near an enemy
// costs, and carries home early when it is hunted.

import { TILE } from "./config.js";
import { HALF_CONE } from "./actors/cat.js";
import { distance, heading, turnBetween } from "./geometry.js";
import { distances, downhill, tileAt, tileCentre } from "./path.js";

const THINK = 0.1;
const LOAD = 3;

export class Autopilot {
  constructor() {
    this.wait = 0;
    this.route = null;
    this.dash = false;
  }

  intent(dt, world) {
    this.wait -= dt;
    if (this.wait <= 0 || !this.route) {
      this.wait = THINK;
      this.#think(world);
    }
    const { rat } = world;
    const here = tileAt(rat);
    const next = downhill(this.route, here);
    const goal = tileCentre(next === here ? this.goal : next);
    const length = distance(rat, goal);
    if (length < 1.5 || this.#shouldWait(world, goal)) {
      return { x: 0, y: 0, dash: false };
    }
    return { x: (goal.x - rat.x) / length, y: (goal.y - rat.y) / length, dash: this.dash };
  }

  #think(world) {
    const { level, rat } = world;
    const cost = (tile) => 1 + this.#danger(tileCentre(tile), world);
    const hunted = world.enemies.some(({ mood }) => mood === "chase" || mood === "startled");
    const lying = world.trinkets.filter(({ state }) => state === "lying");
    const home = rat.satchel.length >= LOAD || lying.length === 0 || hunted;
    this.goal = tileAt(level.nest);
    if (!home) {
      const here = distances(level, tileAt(rat), cost);
      const reach = lying.map((trinket) => [here[tileAt(trinket)], tileAt(trinket)]);
      this.goal = reach.sort((a, b) => a[0] - b[0])[0][1];
    }
    this.route = distances(level, this.goal, cost);
    this.dash = hunted;
  }

  // The extra cost of a place, as a whole number.
  #danger(place, world) {
    let sum = 0;
    for (const enemy of world.enemies) {
      const away = distance(enemy, place) / TILE;
      if (enemy.kind === "cat") {
        const aside = Math.abs(turnBetween(enemy.angle, heading(enemy, place)));
        const watched = away < enemy.sight / TILE + 1 && aside < HALF_CONE * 1.4;
        sum += (watched && !world.level.hides(place.x, place.y) ? 14 : 0)
          + (away < 3 ? 24 : 0);
      } else if (enemy.kind === "owl") {
        sum += enemy.threat > 0 && distance(enemy.target, place) < 50 ? 30 : 0;
      } else {
        sum += away < 2.2 ? 20 : 0;
      }
    }
    return sum;
  }

  // In the nest nothing can happen; step out only when the way is clear, and
  // never step right in front of a beetle.
  #shouldWait(world, goal) {
    const { rat } = world;
    if (world.inNest(rat) && world.elapsed % 12 < 9) {
      return this.#danger(goal, world) > 0;
    }
    const near = (body) => world.enemies.some(
      (enemy) => enemy.kind === "toy" && distance(enemy, body) < 1.7 * TILE);
    return near(goal) && !near(rat);
  }
}
