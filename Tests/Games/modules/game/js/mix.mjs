// The next of a row of numbers (xorshift). The WebAssembly calls it.

export function mix(state) {
  let next = state || 0x9e3779b9;
  next ^= next << 13;
  next ^= next >>> 17;
  next ^= next << 5;
  return next;
}
