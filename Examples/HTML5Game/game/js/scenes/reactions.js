// What the player hears and sees when the rules tell of something.

import { setProgress } from "../status.js";

// Kinds of particle, by colour: 0 gold, 1 dust, 2 red, 3 green.
const REACTIONS = {
  pick({ x, y }, { game }) {
    game.sound.play("pick", { volume: 0.7 });
    game.physics.burst(x, y, 12, 110, 0.6, 0, 3);
  },

  deposit({ x, y, points, count }, { game, floats, run }) {
    const { sound, texts, physics } = game;
    // Higher for a larger haul.
    sound.play("deposit", { volume: 0.8, rate: 0.9 + 0.08 * count });
    physics.burst(x, y, 14 * count, 170, 0.9, 3, 3.4);
    const times = count > 1 ? ` ×${count}` : "";
    floats.add(`+${texts.number(points)}${times}`, x, y, { size: 22, colour: "#ffe07a" });
    setProgress(run.level + 1, run.score);
  },

  dash({ x, y }, { game }) {
    game.sound.play("dash", { volume: 0.5 });
    game.physics.burst(x, y, 16, 70, 0.5, 1, 4);
  },

  full({ x, y, limit }, { game, floats }) {
    game.sound.play("full", { volume: 0.5 });
    floats.add(game.texts.get("full", { limit }), x, y, { size: 14 });
  },

  spotted(_, { game }) {
    game.sound.play("spotted", { volume: 0.6 });
  },

  hoot(_, { game }) {
    game.sound.play("hoot", { volume: 0.7 });
  },

  strike({ x, y }, { game, stage }) {
    game.physics.burst(x, y, 20, 120, 0.5, 1, 4);
    stage.shake = 0.5;
  },

  hurt({ x, y }, { game, stage, floats }) {
    game.sound.play("hurt");
    game.physics.burst(x, y, 30, 160, 0.8, 2, 3.5);
    floats.add(game.texts.get("ouch"), x, y, { colour: "#ff9a8a" });
    stage.shake = 1;
  },

  cleared({ x, y }, { game }) {
    game.sound.play("won", { volume: 0.8 });
    game.physics.burst(x, y, 120, 260, 1.6, 0, 3.5);
  },

  lost(_, { game }) {
    game.sound.play("lost", { volume: 0.8 });
  },
};

export function react(event, scene) {
  REACTIONS[event.type]?.(event, scene);
}
