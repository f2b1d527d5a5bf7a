import { name } from "./part.mjs";

const status = async (path, options) => (await fetch(path, { cache: "no-store", ...options })).status;
const size = 1542972; // of media/film.webm

row("secure context", "true true", () => `${isSecureContext} ${!!crypto.subtle}`);
row("origin", origins.main, () => location.origin);
row("origin of a parsed address", origins.main, () => new URL("x", location).origin);

row("media types", "", async () => {
  const types = {
    "js/part.mjs": "text/javascript", "js/rows.js": "text/javascript", "style.css": "text/css", "sum.wasm": "application/wasm", "data/words.json": "application/json",
    "dot.svg": "image/svg+xml", "dot.png": "image/png", "font.ttf": "font/ttf", "media/film.webm": "video/webm", "media/music.ogg": "audio/ogg",
    "media/click.wav": "audio/wav", "text/utf8.html": "text/html", "text/utf8.txt": "text/plain",
  };
  const wrong = [];
  for (const [path, type] of Object.entries(types)) {
    const found = (await fetch(path, { method: "HEAD" })).headers.get("Content-Type");
    if (found?.split(";")[0] !== type) wrong.push(`${path} ${found}`);
  }
  return wrong.join(", ");
});
row("style sheet", "123px", () => {
  document.body.append(Object.assign(document.createElement("div"), { id: "styled" }));
  return getComputedStyle(document.getElementById("styled")).width;
});
row("script of a wrong type", "blocked", async () => `${await load(document.createElement("script"), { src: "text/script.txt" })}`);

row("fetch", "Wörter", async () => (await (await fetch("data/words.json")).json()).word);
row("fetch, name with a space and an umlaut", "Umlaut", async () => (await (await fetch("data/ä b.json?x=1#y")).json()).word);
row("fetch, missing", 404, () => status("none.png"));
row("fetch, POST", 405, () => status("data/words.json", { method: "POST", body: "x" }));
row("fetch, HEAD", `200 ${size} 0`, async () => {
  const response = await fetch("media/film.webm", { method: "HEAD", cache: "no-store" });
  return `${response.status} ${response.headers.get("Content-Length")} ${(await response.arrayBuffer()).byteLength}`;
});
row("fetch, If-None-Match", 304, async () => {
  const tag = (await fetch("data/words.json", { method: "HEAD", cache: "no-store" })).headers.get("ETag");
  return status("data/words.json", { headers: { "If-None-Match": tag } });
});
for (const [range, expected] of [["10-19", `206 bytes 10-19/${size} 10`], ["-5", `206 bytes ${size - 5}-${size - 1}/${size} 5`], [`${size}-`, `416 bytes */${size}`]]) {
  row(`fetch, bytes=${range.replace(size, "END")}`, expected, async () => {
    const response = await fetch("media/film.webm", { headers: { Range: `bytes=${range}` }, cache: "no-store" });
    const found = `${response.status} ${response.headers.get("Content-Range")}`;
    return response.ok ? `${found} ${(await response.arrayBuffer()).byteLength}` : found;
  });
}
row("fetch, body read as a stream", size, async () => {
  let bytes = 0;
  for (const reader = (await fetch("media/film.webm", { cache: "no-store" })).body.getReader(); ;) {
    const { done, value } = await reader.read();
    if (done) return bytes;
    bytes += value.length;
  }
});
row("fetch, aborted", "AbortError, then 200", async () => {
  const stop = new AbortController();
  const film = fetch("media/film.webm", { signal: stop.signal, cache: "no-store" }).then((response) => response.arrayBuffer());
  stop.abort();
  return `${await film.then(() => "complete", (error) => error.name)}, then ${await status("dot.svg")}`;
});
row("64 requests at once", 64, async () =>
  (await Promise.all(Array.from({ length: 64 }, (_, index) => status(`media/music.ogg?${index}`)))).filter((code) => code === 200).length);
row("XMLHttpRequest", 600468, () => new Promise((done) => {
  const request = Object.assign(new XMLHttpRequest(), { responseType: "arraybuffer", onload: () => done(request.response.byteLength), onerror: () => done("error") });
  request.open("GET", "media/music.ogg");
  request.send();
}));
row("XMLHttpRequest, synchronous", "200 21", () => {
  const request = new XMLHttpRequest();
  request.open("GET", "data/words.json", false);
  request.send();
  return `${request.status} ${request.responseText.length}`;
});

row("module", "js/part.mjs", () => name);
row("import map", "bare js/part.mjs", async () => `${(await import("bare")).name} ${(await import("parts/part.mjs")).name}`);
row("dynamic import", "later", async () => (await import("./later.mjs")).later);
row("JSON module", "Wörter", async () => (await import("../data/words.json", { with: { type: "json" } })).default.word);
row("WebAssembly.compileStreaming", 5, async () => new WebAssembly.Instance(await WebAssembly.compileStreaming(fetch("sum.wasm"))).exports.add(2, 3));
row("WebAssembly.instantiateStreaming", 7, async () => (await WebAssembly.instantiateStreaming(fetch("sum.wasm"))).instance.exports.add(3, 4));

row("worker", "8 Wörter", () => answer(new Worker("js/worker.js"), 4));
row("module worker", "js/part.mjs later 5", () => answer(new Worker(new URL("worker.mjs", import.meta.url), { type: "module" }), 5));
row("worker of a blob", "6", () => answer(new Worker(URL.createObjectURL(new Blob([`importScripts("${new URL("twice.js", import.meta.url)}"); onmessage = (event) => postMessage(String(twice(event.data)));`]))), 3));
row("shared worker", 2, () => answer(new SharedWorker("js/shared.js"), 1));
row("service worker", "none", async () => {
  if (!navigator.serviceWorker) return "none";
  return navigator.serviceWorker.register("service.js").then(async (one) => `${await one.unregister()}` && "registered", (error) => `none`);
});

const seeks = async (medium, places) => {
  Object.assign(medium, { muted: true, preload: "auto" });
  await event(medium, "loadedmetadata");
  const found = [];
  for (const place of places) {
    medium.currentTime = place;
    await event(medium, "seeked");
    found.push(+medium.currentTime.toFixed(1));
  }
  return `${medium.duration.toFixed(1)} s; ${found.join(", ")}`;
};
const film = (address) => Object.assign(document.createElement("video"), { src: address });
const whole = async (path) => URL.createObjectURL(await (await fetch(path)).blob());
row("film, seeks", "48.0 s; 40, 5, 31.5", () => seeks(film("media/film.webm"), [40, 5, 31.5]));
row("film of a blob, seeks", "48.0 s; 40, 5, 31.5", async () => seeks(film(await whole("media/film.webm")), [40, 5, 31.5]));
row("film, picture in a canvas", "drawn", async () => {
  const one = film("media/film.webm");
  await seeks(one, [20]);
  const context = document.createElement("canvas").getContext("2d");
  context.drawImage(one, 0, 0, 64, 36);
  return new Set(context.getImageData(0, 0, 64, 36).data).size > 8 ? "drawn" : "empty";
});
row("music, seeks", "48.0 s; 44, 3, 25", () => seeks(new Audio("media/music.ogg"), [44, 3, 25]));
row("music of a blob, seeks", "48.0 s; 44, 3, 25", async () => seeks(new Audio(await whole("media/music.ogg")), [44, 3, 25]));
row("music, plays", "plays", async () => {
  const music = Object.assign(new Audio("media/music.ogg"), { muted: true });
  await music.play();
  await event(music, "timeupdate");
  music.pause();
  return "plays";
});
row("sound, decoded", "1.00 s", async () =>
  `${(await new OfflineAudioContext(1, 1, 22050).decodeAudioData(await (await fetch("media/click.wav")).arrayBuffer())).duration.toFixed(2)} s`);
row("missing film", "error 4", () => event(Object.assign(document.createElement("video"), { src: "media/none.webm" }), "loadedmetadata"));

row("Shift_JIS page that says so", "Shift_JIS 日本", () => frame("text/sjis.html", (page) => `${page.characterSet} ${page.querySelector("p").textContent}`));
row("UTF-8 page that says nothing", "UTF-8 日本", () => frame("text/utf8.html", (page) => `${page.characterSet} ${page.querySelector("p").textContent}`));
row("UTF-8 text", "日本", () => frame("text/utf8.txt", (page) => page.body.textContent.trim()));
row("UTF-8 script, style", "語 語", async () => {
  await load(document.createElement("script"), { src: "text/utf8.js" });
  await load(document.createElement("link"), { rel: "stylesheet", href: "text/utf8.css" });
  return `${window.utf8} ${getComputedStyle(document.getElementById("styled"), "::after").content.slice(1, -1)}`;
});
row("Shift_JIS script that says so", "語", async () => {
  await load(document.createElement("script"), { src: "text/sjis.js", charset: "shift_jis" });
  return window.sjis;
});

for (const kind of ["br", "gz"]) {
  row(`.${kind} file, fetched`, "compressed", async () => (await (await fetch(`data/code.js.${kind}`)).text()).startsWith("window") ? "decoded" : "compressed");
  row(`.${kind} file, as a script`, "does not run", async () => {
    window.unpacked = false;
    await load(document.createElement("script"), { src: `data/code.js.${kind}` });
    return window.unpacked ? "runs" : "does not run";
  });
}
row("DecompressionStream", "unpacked", async () =>
  (await new Response((await fetch("data/code.js.gz")).body.pipeThrough(new DecompressionStream("gzip"))).text()).match(/unpacked/)?.[0]);

row("directory, with a slash", "/section/?a=1", () => frame("section/?a=1"));
row("directory, without one", "/section/?a=1", () => frame("section?a=1"));
row("directory, fetched without one", "200 page", async () => {
  const response = await fetch("section");
  return `${response.status} ${(await response.text()).includes("<") ? "page" : "nothing"}`;
});

row("font of a style sheet", 1, async () => (await document.fonts.load("12px Own")).length);
row("FontFace", "loaded", async () => (await new FontFace("Own2", "url(font.ttf)").load()).status);
row("image by fragment", "9 9", async () => {
  document.body.insertAdjacentHTML("beforeend", '<svg id="uses" width="20" height="20"><use href="dot.svg#dot"/></svg>');
  const image = new Image();
  image.src = "dot.svg#view";
  await image.decode();
  const use = document.querySelector("#uses use");
  for (let tries = 0; tries < 100 && !use.getBBox().width; tries += 1) await new Promise((done) => setTimeout(done, 20));
  return `${use.getBBox().width} ${image.naturalWidth}`;
});
row("image in a canvas", "255,0,0,255", async () => {
  const image = new Image();
  image.src = "dot.png";
  await image.decode();
  const context = document.createElement("canvas").getContext("2d");
  context.drawImage(image, 0, 0);
  return [...context.getImageData(0, 0, 1, 1).data].join();
});
row("image in a texture", "255,0,0,255", async () => {
  const image = new Image();
  image.src = "dot.png";
  await image.decode();
  const gl = document.createElement("canvas").getContext("webgl");
  if (!gl) return "no WebGL";
  gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, gl.RGBA, gl.UNSIGNED_BYTE, image);
  gl.bindFramebuffer(gl.FRAMEBUFFER, gl.createFramebuffer());
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, gl.getParameter(gl.TEXTURE_BINDING_2D), 0);
  const pixel = new Uint8Array(4);
  gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
  return pixel.join();
});
row("history.pushState", "/deep/link", () => {
  const before = location.href;
  history.pushState(null, "", "/deep/link");
  const found = location.pathname;
  history.replaceState(null, "", before);
  return found;
});
row("frame of the same origin", "true", () => frame("text/utf8.html", (page, window) => window.parent.origins === globalThis.origins));
row("another pack in a directory", "engine", async () => (await import("/engine/engine.mjs")).name);

// Other origins: one whose files this page may read, and one that says nothing.
row("CORS, allowed: fetch", "engine", async () => (await (await fetch(`${origins.open}/engine.mjs`)).text()).match(/engine/)[0]);
row("CORS, allowed: range", "206 bytes 0-1/28 2", async () => {
  const response = await fetch(`${origins.open}/engine.mjs`, { headers: { Range: "bytes=0-1" }, cache: "no-store" });
  return `${response.status} ${response.headers.get("Content-Range")} ${(await response.text()).length}`;
});
row("CORS, allowed: If-None-Match (asks first)", 304, async () => {
  const tag = (await fetch(`${origins.open}/engine.mjs`, { cache: "no-store" })).headers.get("ETag");
  return status(`${origins.open}/engine.mjs`, { headers: { "If-None-Match": tag } });
});
row("CORS, allowed: other field (asks first)", "TypeError", () => status(`${origins.open}/engine.mjs`, { headers: { "X-Other": "1" } }));
row("CORS, allowed: module", "engine", async () => (await import(`${origins.open}/engine.mjs`)).name);
row("CORS, allowed: font", "loaded", async () => (await new FontFace("Own3", `url(${origins.open}/font.ttf)`).load()).status);
const readable = async (address, properties) => {
  const image = new Image();
  const state = await load(image, { ...properties, src: address });
  if (state === "blocked") return state;
  const context = document.createElement("canvas").getContext("2d");
  context.drawImage(image, 0, 0);
  try { return context.getImageData(0, 0, 1, 1).data.length && "readable"; } catch (error) { return error.name; }
};
row("CORS, allowed: image", "readable", () => readable(`${origins.open}/dot.png`, { crossOrigin: "anonymous" }));
row("CORS, not allowed: fetch", "TypeError", () => status(`${origins.closed}/engine.mjs`));
row("CORS, not allowed: module", "TypeError", async () => (await import(`${origins.closed}/engine.mjs`)).name);
row("CORS, not allowed: font", "NetworkError", async () => (await new FontFace("Own4", `url(${origins.closed}/font.ttf)`).load()).status);
row("CORS, not allowed: image for a canvas", "blocked", () => readable(`${origins.closed}/dot.png`, { crossOrigin: "anonymous" }));
row("CORS, not allowed: image to look at", "SecurityError", () => readable(`${origins.closed}/dot.png`, {}));
row("CORS, not allowed: no-cors", "opaque", async () => (await fetch(`${origins.closed}/dot.png`, { mode: "no-cors" })).type);
row("other origin: classic script", "loaded", () => load(document.createElement("script"), { src: `${origins.closed}/classic.js` }));
row("other origin: worker", "SecurityError", () => answer(new Worker(`${origins.open}/classic.js`), 1));

row("localStorage", "kept", () => localStorage.mark = "kept");
row("IndexedDB", "kept", async () => {
  const open = indexedDB.open("marks", 1);
  open.onupgradeneeded = () => open.result.createObjectStore("all");
  await event(open, "success");
  const put = open.result.transaction("all", "readwrite").objectStore("all").put(new Blob(["kept"]), "mark");
  await event(put, "success");
  open.result.close();
  return "kept";
});
row("Cache API", "kept", async () => {
  await (await caches.open("marks")).put(new URL("data/mark", location), new Response("kept"));
  return (await (await caches.open("marks")).match(new URL("data/mark", location))).text();
});
row("cookies", "mark=kept", () => {
  document.cookie = "mark=kept; max-age=9999";
  return document.cookie || "none";
});
row("private files", "kept", async () => {
  const file = await (await navigator.storage.getDirectory()).getFileHandle("mark", { create: true });
  const writer = await file.createWritable();
  await writer.write("kept");
  await writer.close();
  return (await file.getFile()).text();
});
// After this page has kept something.
row("other origin: frame, its storage", "empty", () => frame(`${origins.closed}/storage.html`));
row("policy in the page", "blocked", () => frame("policy.html"));
fill();
