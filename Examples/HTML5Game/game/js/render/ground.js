// Floor and walls. They never change, so they are drawn once for each level.

import { COLUMNS, ROWS, TILE } from "../config.js";

const CELL = 64;
const FRONT = 20;

function cell(context, tiles, index, x, y, width, height, top = 0) {
  context.drawImage(tiles, index * CELL, top * 2, CELL, CELL - top * 2,
                    x, y, width, height);
}

export function paintGround(level) {
  // Twice the logical size, to stay sharp on a dense display.
  const canvas = document.createElement("canvas");
  canvas.width = COLUMNS * TILE * 2;
  canvas.height = ROWS * TILE * 2;
  const context = canvas.getContext("2d");
  context.scale(2, 2);
  context.drawImage(level.floor, 0, 0, COLUMNS * TILE, ROWS * TILE);
  eachTile((column, row, x, y) => {
    if (!level.isSolid(column, row)) {
      shadows(context, level, column, row, x, y);
    }
  });
  eachTile((column, row, x, y) => {
    if (level.isSolid(column, row)) {
      wall(context, level, column, row, x, y);
    }
  });
  return canvas;
}

function eachTile(visit) {
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      visit(column, row, column * TILE, row * TILE);
    }
  }
}

function shadows(context, level, column, row, x, y) {
  context.fillStyle = "rgb(10 6 20 / 34%)";
  if (level.isSolid(column, row - 1)) {
    context.fillRect(x, y, TILE, 7);
  }
  if (level.isSolid(column - 1, row)) {
    context.fillRect(x, y, 5, TILE);
  }
}

function wall(context, level, column, row, x, y) {
  const variant = (column * 7 + row * 3) % 2;
  cell(context, level.tiles, variant, x, y, TILE, TILE);
  if (row + 1 < ROWS && !level.isSolid(column, row + 1)) {
    cell(context, level.tiles, 2 + variant, x, y + TILE - FRONT, TILE, FRONT, 4);
    context.fillStyle = "rgb(255 245 220 / 28%)";
    context.fillRect(x, y + TILE - FRONT, TILE, 1);
  }
  // A light edge where a wall meets the floor behind it lifts it off the floor.
  if (row > 0 && !level.isSolid(column, row - 1)) {
    context.fillStyle = "rgb(255 245 220 / 22%)";
    context.fillRect(x, y, TILE, 1.5);
  }
}

// Drawn over the actors. The one with the rat below lets it shine through, as
// the player must not lose sight of it.
export function paintHiding(context, level, rat) {
  eachTile((column, row, x, y) => {
    if (level.hiding[row * COLUMNS + column]) {
      const above = Math.floor(rat.x / TILE) === column && Math.floor(rat.y / TILE) === row;
      context.globalAlpha = above ? 0.6 : 1;
      cell(context, level.tiles, 4, x - 2, y - 2, TILE + 4, TILE + 4);
    }
  });
  context.globalAlpha = 1;
}
