importScripts("twice.js");
onmessage = async ({ data }) => postMessage(`${twice(data)} ${(await (await fetch("../data/words.json")).json()).word}`);
