// Fetching of assets, always relative to the page.

const ROOT = "assets/";

async function get(path) {
  const response = await fetch(ROOT + path);
  if (!response.ok) {
    throw new Error(`${path}: status ${response.status}`);
  }
  return response;
}

export async function loadJSON(path) {
  return (await get(path)).json();
}

export async function loadBytes(path) {
  return (await get(path)).arrayBuffer();
}

export async function loadImage(path) {
  const image = new Image();
  image.src = ROOT + path;
  try {
    await image.decode();
  } catch {
    throw new Error(`${path}: not a picture`);
  }
  return image;
}

export async function loadWasm(path) {
  // Streaming wants the type application/wasm, which not every server sends;
  // the bytes are then fetched again and compiled in one piece.
  if (WebAssembly.instantiateStreaming) {
    try {
      return (await WebAssembly.instantiateStreaming(get(path))).instance;
    } catch (error) {
      if (!(error instanceof TypeError)) {
        throw error;
      }
    }
  }
  return (await WebAssembly.instantiate(await loadBytes(path))).instance;
}

export function assetURL(path) {
  return ROOT + path;
}
