// The bar above the stage, and the stick under the thumb.

import { HUD, LIVES, SATCHEL, WIDTH } from "../config.js";
import { DASH } from "../actors/rat.js";
import { STICK } from "../input.js";

export const PAUSE = { x: WIDTH - 40, y: 0, width: 40, height: HUD };

export function drawHud(view, texts, world, run) {
  const { context, sprites } = view;
  context.fillStyle = "#151127";
  context.fillRect(0, 0, WIDTH, HUD);
  context.fillStyle = "#c9a25a";
  context.fillRect(0, HUD - 1.5, WIDTH, 1.5);
  for (let i = 0; i < LIVES; i++) {
    context.globalAlpha = i < run.lives ? 1 : 0.2;
    sprites.draw(context, "heart", 20 + i * 25, HUD / 2, 27);
  }
  context.globalAlpha = 1;
  satchel(context, sprites, world.rat);
  const { level } = world;
  view.text(`${run.level + 1}. ${level.text.name}`, WIDTH / 2 + 20, HUD / 2,
            { size: 15, align: "center" });
  view.text(texts.get("left", { count: world.left }), WIDTH - 220, HUD / 2,
            { size: 14, align: "right", colour: "#b9b4d6" });
  view.text(texts.number(run.score), WIDTH - 52, HUD / 2,
            { size: 18, align: "right", colour: "#ffd97a" });
  context.fillStyle = "#b9b4d6";
  context.fillRect(WIDTH - 27, 9, 5, 14);
  context.fillRect(WIDTH - 18, 9, 5, 14);
}

function satchel(context, sprites, rat) {
  for (let i = 0; i < SATCHEL; i++) {
    const x = 106 + i * 25;
    context.beginPath();
    context.roundRect(x - 11, 5, 22, 22, 5);
    context.fillStyle = "#2a2344";
    context.fill();
    context.strokeStyle = i < rat.satchel.length ? "#ffd97a" : "#4a4070";
    context.lineWidth = 1;
    context.stroke();
    if (rat.satchel[i]) {
      sprites.draw(context, rat.satchel[i].kind, x, HUD / 2, 20);
    }
  }
  // How far the next dash has come.
  const ready = 1 - Math.max(0, rat.resting) / DASH.rest;
  context.fillStyle = "#2a2344";
  context.fillRect(232, 13, 44, 6);
  context.fillStyle = ready >= 1 ? "#7fe0b0" : "#6f86c9";
  context.fillRect(232, 13, 44 * ready, 6);
}

export function drawStick(context, stick) {
  if (!stick) {
    return;
  }
  context.lineWidth = 2;
  context.strokeStyle = "rgb(255 255 255 / 45%)";
  context.fillStyle = "rgb(255 255 255 / 30%)";
  context.beginPath();
  context.arc(stick.from.x, stick.from.y, STICK, 0, Math.PI * 2);
  context.stroke();
  context.beginPath();
  context.arc(stick.from.x + stick.x * STICK, stick.from.y + stick.y * STICK, 20,
              0, Math.PI * 2);
  context.fill();
}
