// Plane geometry shared by the actors.

export function distance(a, b) {
  return Math.hypot(a.x - b.x, a.y - b.y);
}

export function heading(from, to) {
  return Math.atan2(to.y - from.y, to.x - from.x);
}

// The signed difference of two angles, in (-pi, pi].
export function turnBetween(a, b) {
  return Math.atan2(Math.sin(b - a), Math.cos(b - a));
}

export function turnTowards(angle, wanted, limit) {
  const turn = turnBetween(angle, wanted);
  return angle + Math.max(-limit, Math.min(limit, turn));
}

// Moves a point towards another; true once it has arrived.
export function approach(body, goal, step) {
  const left = distance(body, goal);
  if (left <= step) {
    body.x = goal.x;
    body.y = goal.y;
    return true;
  }
  body.x += (goal.x - body.x) / left * step;
  body.y += (goal.y - body.y) / left * step;
  return false;
}
