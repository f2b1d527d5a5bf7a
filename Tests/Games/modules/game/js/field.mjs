// The field, whose cells live in the memory of the WebAssembly.

export const WIDTH = 128;
export const HEIGHT = 96;

export async function load(address, mix) {
  // Compiles while it arrives, which the browser does for application/wasm alone.
  const { instance } = await WebAssembly.instantiateStreaming(fetch(address), { rules: { mix } });
  const code = instance.exports;
  const cells = () => new Uint8Array(code.memory.buffer, code.cells(), WIDTH * HEIGHT);
  return {
    seed: (number) => code.seed(number),
    toggle: (x, y) => code.toggle(x, y),
    step: ({ born, survives }) => code.step(born, survives),
    copy: () => cells().slice(),
    draw(context, palette) {
      const living = cells();
      const size = 4;
      for (let cell = 0; cell < living.length; cell += 1) {
        const x = cell % WIDTH;
        const y = (cell - x) / WIDTH;
        context.fillStyle = living[cell] ? palette.living[(x + y) % palette.living.length] : palette.dead;
        context.fillRect(x * size, y * size, size, size);
      }
    },
    // FNV-1a, to be shown.
    digest: () => cells().reduce((hash, cell) => Math.imul(hash ^ cell, 0x01000193) >>> 0, 0x811c9dc5).toString(16),
  };
}
