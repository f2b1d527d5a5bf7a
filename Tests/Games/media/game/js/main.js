// Cuts a film into four pictures, in an order that no player who reads from the front could make, and finds places in music.
// ?cuts=40,5,31.5,12 says where the pictures are; a click on one cuts anew.

const { dataset } = document.documentElement;
const fail = (reason) => {
  dataset.error ??= String(reason?.message ?? reason);
  console.error(reason);
};
addEventListener("error", (event) => fail(event.error ?? event.message));
addEventListener("unhandledrejection", (event) => fail(event.reason));

const film = document.getElementById("film");
const music = document.getElementById("music");
const canvas = document.getElementById("cuts");
const context = canvas.getContext("2d");

function once(target, name) {
  return new Promise((resolve, reject) => {
    target.addEventListener(name, resolve, { once: true });
    target.addEventListener("error", () => reject(new Error(`${target.id}: ${target.error?.message}`)), { once: true });
  });
}

async function ready(medium) {
  if (medium.readyState < HTMLMediaElement.HAVE_METADATA) await once(medium, "loadedmetadata");
  if (!Number.isFinite(medium.duration)) throw new Error(`${medium.id} does not say how long it is`);
}

async function seek(medium, seconds) {
  const done = once(medium, "seeked");
  medium.currentTime = seconds;
  await done;
  if (medium.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) await once(medium, "canplay");
  if (Math.abs(medium.currentTime - seconds) > 0.1) throw new Error(`${medium.id} is at ${medium.currentTime}, not at ${seconds}`);
}

async function cut(place, seconds) {
  await seek(film, seconds);
  const [x, y] = [(place % 2) * 320, Math.floor(place / 2) * 180];
  context.drawImage(film, x, y, 320, 180);
  context.fillStyle = "#ffffff";
  context.fillText(`${seconds} s`, x + 8, y + 172);
}

// The loudest moment of a sound that is decoded whole.
async function peak(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: status ${response.status}`);
  const sound = await new OfflineAudioContext(1, 1, 44100).decodeAudioData(await response.arrayBuffer());
  return sound.getChannelData(0).reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

async function main() {
  const cuts = (new URLSearchParams(location.search).get("cuts") ?? "40,5,31.5,12").split(",").map(Number);
  await Promise.all([ready(film), ready(music)]);
  for (const [place, seconds] of cuts.slice(0, 4).entries()) await cut(place, seconds);
  for (const seconds of [44, 3, 25]) await seek(music, seconds);
  const loudest = await peak("media/click.wav");
  document.getElementById("status").textContent =
    `film ${film.duration.toFixed(1)} s, music ${music.duration.toFixed(1)} s, click ${loudest.toFixed(2)}`;
  canvas.onclick = ({ offsetX, offsetY }) =>
    cut(Math.floor(offsetX / 320) + 2 * Math.floor(offsetY / 180), Math.random() * film.duration).catch(fail);
  dataset.state = "done";
}

main().catch(fail);
