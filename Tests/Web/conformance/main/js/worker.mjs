import { name } from "./part.mjs";
onmessage = async ({ data }) => postMessage(`${name} ${(await import("./later.mjs")).later} ${data}`);
