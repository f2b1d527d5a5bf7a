// Numbers that decide how the game feels, and the options of the address.

export const TILE = 32;
export const COLUMNS = 24;
export const ROWS = 15;
export const HUD = 32;
export const WIDTH = COLUMNS * TILE;
export const HEIGHT = ROWS * TILE + HUD;

// The rules advance in equal steps, so a slow display cannot change them.
export const STEP = 1 / 60;

export const LIVES = 3;
export const SATCHEL = 5;
export const TRINKETS = { button: 10, ring: 25, key: 40, gem: 60 };

export const LANGUAGES = ["en", "de", "ja"];

export function readOptions(search) {
  const query = new URLSearchParams(search);
  const number = (name, low, high, otherwise) => {
    const value = Number.parseInt(query.get(name) ?? "", 10);
    return Number.isNaN(value) ? otherwise : Math.min(high, Math.max(low, value));
  };
  const language = query.get("lang");
  return {
    demo: query.get("demo") === "1",
    mute: query.get("mute") === "1",
    speed: number("speed", 1, 16, 1),
    level: number("level", 1, 99, 1),
    seed: number("seed", 1, 2 ** 31 - 1, 0),
    language: LANGUAGES.includes(language) ? language : null,
  };
}
