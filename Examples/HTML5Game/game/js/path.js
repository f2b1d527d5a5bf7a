// Shortest ways over the tiles of a level.

import { COLUMNS, ROWS, TILE } from "./config.js";
import { centre } from "./level.js";

const SIZE = COLUMNS * ROWS;
const NEIGHBOURS = [1, -1, COLUMNS, -COLUMNS];

export function tileAt({ x, y }) {
  return Math.floor(y / TILE) * COLUMNS + Math.floor(x / TILE);
}

export function tileCentre(tile) {
  return centre(tile % COLUMNS, Math.floor(tile / COLUMNS));
}

// Distances from every tile to `goal`. `cost` is what entering a tile costs;
// with whole numbers a bucket queue keeps this linear.
export function distances(level, goal, cost = () => 1) {
  const far = new Int32Array(SIZE).fill(-1);
  const buckets = [[goal]];
  for (let d = 0; d < buckets.length; d++) {
    for (const tile of buckets[d] ?? []) {
      if (far[tile] >= 0) {
        continue;
      }
      far[tile] = d;
      for (const step of NEIGHBOURS) {
        const next = tile + step;
        // Levels are walled in, so a neighbour never wraps around the edge.
        if (level.solid[next] === 0 && far[next] < 0) {
          const at = d + cost(next);
          (buckets[at] ??= []).push(next);
        }
      }
    }
  }
  return far;
}

// The neighbour of `tile` that is nearest to the goal of `far`.
export function downhill(far, tile) {
  let best = tile;
  for (const step of NEIGHBOURS) {
    const next = tile + step;
    if (far[next] >= 0 && (far[best] < 0 || far[next] < far[best])) {
      best = next;
    }
  }
  return best;
}
