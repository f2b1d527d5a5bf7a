// The WebAssembly module behind names. Its memory layout is described where
// the module is assembled: tiles at 0, a result at 4096, particles at 8192.

const RESULT = 4096;
const PARTICLES = 8192;
const CAPACITY = 512;
const FLOATS = 8;

// Half the width of a moving body. Below half a tile, or it would get stuck.
export const BODY = 11;

export class Physics {
  constructor(instance) {
    this.code = instance.exports;
    const { buffer } = this.code.memory;
    this.tiles = new Uint8Array(buffer, 0, RESULT);
    this.result = new Float32Array(buffer, RESULT, 2);
    this.pool = new Float32Array(buffer, PARTICLES, CAPACITY * FLOATS);
    this.alive = 0;
  }

  setup(columns, rows, tile, solid) {
    this.code.setup(columns, rows, tile);
    this.tiles.set(solid);
    this.alive = 0;
  }

  seed(value) {
    this.code.seed(value);
  }

  random() {
    return this.code.random();
  }

  solid(x, y) {
    return this.code.solid(x, y) !== 0;
  }

  sees(a, b) {
    return this.code.sees(a.x, a.y, b.x, b.y) !== 0;
  }

  // Moves a body against the walls; returns 1 for x stopped, 2 for y, or both.
  move(body, dx, dy) {
    const hit = this.code.move(body.x, body.y, dx, dy, BODY);
    [body.x, body.y] = this.result;
    return hit;
  }

  burst(x, y, count, speed, life, kind, size) {
    for (let i = 0; i < count; i++) {
      const angle = this.random() * Math.PI * 2;
      const pace = speed * (0.3 + 0.7 * this.random());
      const lasts = life * (0.5 + 0.5 * this.random());
      this.code.spawn(x, y, Math.cos(angle) * pace, Math.sin(angle) * pace,
                      lasts, kind, size);
    }
  }

  stepParticles(dt) {
    this.alive = this.code.step(dt, 0.95);
  }

  eachParticle(visit) {
    for (let i = 0; i < this.alive; i++) {
      const [x, y, , , life, lifetime, kind, size] =
        this.pool.subarray(i * FLOATS, (i + 1) * FLOATS);
      visit(x, y, life / lifetime, kind, size);
    }
  }
}
