// Draws a world: ground, things, actors, darkness, and what shines through it.

import { HUD, TILE } from "../config.js";
import { HALF_CONE } from "../actors/cat.js";
import { Light } from "./light.js";
import { paintGround, paintHiding } from "./ground.js";

const SIZES = { toy: 46, cat: 56, owl: 62 };
const PARTICLES = ["#ffe9a8", "#e9dcc3", "#ff7b7b", "#8df0c0"];

export class Stage {
  constructor(level) {
    this.level = level;
    this.ground = paintGround(level);
    this.light = new Light();
    this.time = 0;
    this.shake = 0;
  }

  update(dt) {
    this.time += dt;
    this.shake = Math.max(0, this.shake - dt * 2);
  }

  draw(view, world) {
    const { context, sprites } = view;
    const swing = this.shake * this.shake * 9;
    context.save();
    context.translate(Math.sin(this.time * 61) * swing,
                      HUD + Math.cos(this.time * 53) * swing);
    context.drawImage(this.ground, 0, 0, this.ground.width / 2, this.ground.height / 2);
    sprites.draw(context, "nest", this.level.nest.x, this.level.nest.y, 54);
    this.#cones(context, world);
    this.#trinkets(context, sprites, world);
    this.#walkers(context, sprites, world);
    paintHiding(context, this.level, world.rat);
    this.#particles(context, sprites, world.physics);
    this.light.draw(context, this.level.data.darkness, this.#lamps(world));
    this.#aboveDark(context, sprites, world);
    context.restore();
  }

  #cones(context, world) {
    for (const cat of world.enemies) {
      if (cat.kind !== "cat" || cat.mood === "search") {
        continue;
      }
      const angry = cat.mood !== "patrol";
      const gradient = context.createRadialGradient(cat.x, cat.y, 8, cat.x, cat.y, cat.sight);
      const tint = angry ? "255 90 70" : "250 240 130";
      gradient.addColorStop(0, `rgb(${tint} / 42%)`);
      gradient.addColorStop(1, `rgb(${tint} / 4%)`);
      context.fillStyle = gradient;
      this.#conePath(context, cat, world.physics);
      context.fill();
    }
  }

  // The cone ends at walls, so what is drawn is what the cat can see.
  #conePath(context, cat, physics) {
    const rays = 18;
    const step = TILE / 4;
    context.beginPath();
    context.moveTo(cat.x, cat.y);
    for (let i = 0; i <= rays; i++) {
      const angle = cat.angle + HALF_CONE * (i / rays * 2 - 1);
      const ux = Math.cos(angle);
      const uy = Math.sin(angle);
      let reach = step;
      while (reach < cat.sight && !physics.solid(cat.x + ux * reach, cat.y + uy * reach)) {
        reach += step;
      }
      context.lineTo(cat.x + ux * reach, cat.y + uy * reach);
    }
    context.closePath();
  }

  #trinkets(context, sprites, world) {
    world.trinkets.forEach((trinket, i) => {
      if (trinket.state === "lying") {
        const bob = Math.sin(this.time * 3 + i) * 2;
        sprites.draw(context, trinket.kind, trinket.x, trinket.y + bob, 30);
      }
    });
  }

  #walkers(context, sprites, world) {
    const { rat } = world;
    const blink = rat.grace > 0 && Math.floor(this.time * 12) % 2 === 0;
    this.#shadow(context, rat, 11);
    context.globalAlpha = blink || world.over === "lost" ? 0.35 : 1;
    sprites.walker(context, "rat", rat, 42);
    context.globalAlpha = 1;
    for (const enemy of world.enemies) {
      if (enemy.kind !== "owl") {
        this.#shadow(context, enemy, 15);
        sprites.walker(context, enemy.kind, enemy, SIZES[enemy.kind]);
      }
    }
  }

  #shadow(context, { x, y }, radius) {
    context.fillStyle = "rgb(10 6 20 / 35%)";
    context.beginPath();
    context.ellipse(x + 2, y + 4, radius * 1.3, radius, 0, 0, Math.PI * 2);
    context.fill();
  }

  #particles(context, sprites, physics) {
    physics.eachParticle((x, y, life, kind, size) => {
      context.globalAlpha = life;
      context.fillStyle = PARTICLES[kind];
      context.beginPath();
      context.arc(x, y, size * (0.4 + 0.6 * life), 0, Math.PI * 2);
      context.fill();
    });
    context.globalAlpha = 1;
  }

  #lamps(world) {
    const flicker = 1 + Math.sin(this.time * 7) * 0.02 + Math.sin(this.time * 17) * 0.015;
    const lamps = [
      { x: world.rat.x, y: world.rat.y, radius: 165 * flicker },
      { ...this.level.nest, radius: 92, strength: 0.9 },
    ];
    for (const trinket of world.trinkets) {
      if (trinket.state === "lying") {
        lamps.push({ x: trinket.x, y: trinket.y, radius: 40, strength: 0.75 });
      }
    }
    for (const enemy of world.enemies) {
      lamps.push({ x: enemy.x, y: enemy.y, radius: 60, strength: 0.55 });
    }
    return lamps;
  }

  #aboveDark(context, sprites, world) {
    world.trinkets.forEach((trinket, i) => {
      const glint = Math.sin(this.time * 2.1 + i * 1.7);
      if (trinket.state === "lying" && glint > 0.8) {
        context.globalAlpha = (glint - 0.8) * 5;
        sprites.draw(context, "spark", trinket.x + 7, trinket.y - 7, 20, this.time);
        context.globalAlpha = 1;
      }
    });
    for (const enemy of world.enemies) {
      if (enemy.kind === "owl") {
        this.#owl(context, sprites, enemy);
      } else if (enemy.mood === "startled" || enemy.mood === "chase") {
        const hop = Math.abs(Math.sin(this.time * 9)) * 4;
        sprites.draw(context, "alert", enemy.x, enemy.y - 34 - hop, 26);
      }
    }
  }

  #owl(context, sprites, owl) {
    if (owl.threat > 0) {
      context.strokeStyle = `rgb(255 90 80 / ${0.4 + 0.6 * owl.threat})`;
      context.fillStyle = `rgb(255 60 60 / ${0.25 * owl.threat})`;
      context.lineWidth = 2.5;
      context.beginPath();
      context.arc(owl.target.x, owl.target.y, owl.reach, 0, Math.PI * 2);
      context.fill();
      context.stroke();
      context.beginPath();
      context.arc(owl.target.x, owl.target.y, owl.reach + 40 * (1 - owl.threat), 0, Math.PI * 2);
      context.stroke();
    }
    // The lower it flies, the closer its shadow.
    const height = 26 * (1 - owl.threat);
    context.fillStyle = "rgb(5 3 12 / 40%)";
    context.beginPath();
    context.ellipse(owl.x, owl.y + height, 24, 13, 0, 0, Math.PI * 2);
    context.fill();
    sprites.walker(context, "owl", owl, SIZES.owl * (1.2 - 0.2 * owl.threat));
  }
}
