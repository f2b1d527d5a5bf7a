// Loads everything in every way that modules and WebAssembly know, then plays. ?seed=N&steps=N plays so many steps and stops.

import { load } from "./field.mjs";
import palette from "./palette.mjs";

const { dataset } = document.documentElement;
const fail = (reason) => {
  dataset.error ??= String(reason?.message ?? reason);
  console.error(reason);
};
addEventListener("error", (event) => fail(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason));

// Answers from a thread of its own, which is a module too.
function ask(question) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("./worker.mjs", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }) => {
      worker.terminate();
      resolve(data);
    };
    worker.onerror = (event) => reject(new Error(event.message ?? "the worker cannot be loaded"));
    worker.postMessage(question);
  });
}

async function main() {
  const query = new URLSearchParams(location.search);
  const seed = Number(query.get("seed") ?? Date.now() % 100000);
  const steps = query.has("steps") ? Number(query.get("steps")) : Infinity;
  const rules = await (await fetch("/data/rules.json")).json();
  const { mix } = await import("./mix.mjs");
  const field = await load(new URL("../wasm/cells.wasm", import.meta.url), mix);
  const rule = rules[query.get("rule") ?? "life"];
  field.seed(seed);
  const first = await ask({ cells: field.copy(), ...rule });

  const canvas = document.getElementById("field");
  const context = canvas.getContext("2d");
  canvas.onclick = ({ offsetX, offsetY }) => field.toggle(Math.floor(offsetX / 4), Math.floor(offsetY / 4));
  let step = 0;
  let living = 0;
  const frame = () => {
    // One frame of a browser is nobody's measure here: in a test they all come at once.
    do {
      living = field.step(rule);
      step += 1;
      // What the worker computes in JavaScript is what the WebAssembly did.
      if (step === 1 && living !== first) return fail(new Error(`the worker counts ${first} cells, and there are ${living}`));
    } while (Number.isFinite(steps) && step < steps);
    field.draw(context, palette);
    const text = `${rule.name}: step ${step}, ${living} cells, ${field.digest()}`;
    document.getElementById("status").textContent = text;
    if (step < steps) requestAnimationFrame(frame);
    else dataset.state = "done";
  };
  requestAnimationFrame(frame);
}

main().catch(fail);
