// Remembered values. Storage may be switched off or full, and an opaque origin
// throws on the mere mention of it; the game is complete without it.

const PREFIX = "packrat.";

export function recall(key) {
  try {
    return localStorage.getItem(PREFIX + key);
  } catch {
    return null;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(PREFIX + key, String(value));
  } catch {
    // Forgetting a high score is better than stopping the game.
  }
}

export function bestScore() {
  return Number(recall("best")) || 0;
}
