// Served with COOP, COEP and CORP, and a policy that allows only its own files and WebAssembly.
row("isolated", "true", () => crossOriginIsolated);
row("SharedArrayBuffer in a worker", 42, async () => {
  const shared = new SharedArrayBuffer(4);
  await answer(new Worker("atomics.js"), shared);
  return new Int32Array(shared)[0];
});
row("shared memory of WebAssembly in a worker", 42, async () => {
  const shared = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true }).buffer;
  await answer(new Worker("atomics.js"), shared);
  return new Int32Array(shared)[0];
});
row("isolated: image of another origin, with CORP", "loaded", () => load(new Image(), { src: `${origins.open}/dot.png` }));
row("isolated: image of another origin, without", "blocked", () => load(new Image(), { src: `${origins.closed}/dot.png` }));
row("policy: script in the page", "blocked", () => window.inline ? "runs" : "blocked");
row("policy: eval", "EvalError", () => eval("1"));
row("policy: own files ('self')", 200, async () => (await fetch("js/rows.js")).status);
row("policy: WebAssembly", 5, async () => (await WebAssembly.instantiateStreaming(fetch("sum.wasm"))).instance.exports.add(2, 3));
row("policy: fetch from another origin", "TypeError", async () => (await fetch(`${origins.open}/engine.mjs`)).status);
fill();
