// Shows a game in a frame of a phone's size, what it loads and what fails.
"use strict";

const [frame, screen, day, status] = ["game", "screen", "day", "status"].map((id) => document.getElementById(id));
const [loads, problems, none, wait] = ["loads", "problems", "none", "wait"].map((id) => document.getElementById(id));
// More rows would make the page slow. The counts go on.
const mostRows = 500;
let next = null;
let start = null;
let isTurned = false;
let counts = { files: 0, bytes: 0, problems: 0 };
// The items of the problems by their texts, and how often each came.
let known = new Map();
let isWatched = false;

function size(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let power = 0;
  for (bytes /= 1000; bytes >= 1000 && power < 2; bytes /= 1000) power += 1;
  return `${bytes.toFixed(bytes < 10 ? 2 : 1)} ${units[power]}`;
}

function fit() {
  const [width, height] = screen.value.split("x").map(Number);
  frame.width = isTurned ? height : width;
  frame.height = isTurned ? width : height;
  const box = frame.parentElement;
  const room = [document.documentElement.clientWidth - 56, Math.max(300, innerHeight - box.getBoundingClientRect().top - scrollY - 40)];
  const scale = Math.min(1, room[0] / frame.width, room[1] / frame.height);
  frame.style.transform = `scale(${scale})`;
  box.style.width = `${frame.width * scale + 24}px`;
  box.style.height = `${frame.height * scale + 24}px`;
}

function cell(row, text, isNumber) {
  const made = row.insertCell();
  made.textContent = text;
  if (isNumber) made.className = "number";
}

function words(event) {
  switch (event.kind) {
    case "missing": return `${event.text} is missing${event.note ? `; similar: ${event.note}` : ""}`;
    case "failed": return `${event.text} failed: ${event.note || `status ${event.status}`}`;
    case "foreign": return `${event.text} is on another host, which players without a network do not reach`;
    default: return event.note ? `${event.text} (${event.note})` : event.text;
  }
}

function problem(text) {
  let entry = known.get(text);
  if (entry) {
    entry.count += 1;
    entry.item.textContent = `${text} (${entry.count} times)`;
    return;
  }
  if (known.size === mostRows) text = "more problems are not shown";
  else if (known.size > mostRows) return;
  const item = document.createElement("li");
  item.textContent = text;
  problems.append(item);
  known.set(text, { item, count: 1 });
  none.hidden = true;
}

function add(event) {
  if (start === null) start = event.ms;
  if (event.kind === "load" || event.kind === "missing" || event.kind === "failed") {
    const row = loads.insertRow();
    cell(row, `${((event.ms - start) / 1000).toFixed(2)} s`, true);
    cell(row, event.text);
    cell(row, String(event.status), true);
    cell(row, event.size === undefined ? "" : size(event.size), true);
    if (event.kind !== "load") row.className = "bad";
    while (loads.rows.length > mostRows) loads.deleteRow(0);
    counts.files += 1;
    counts.bytes += event.size || 0;
  }
  if (event.kind !== "load") {
    counts.problems += 1;
    problem(words(event));
  }
}

function show(live) {
  document.title = `${live.title} – phone view`;
  document.getElementById("title").textContent = live.title;
  const list = document.getElementById("list");
  list.hidden = !live.list;
  if (live.list) list.href = live.list;
  day.checked = live.badDay;
  day.disabled = false;
  wait.textContent = live.badDay && live.packSize
    ? `At ${size(live.rate)} per second, the pack itself (${size(live.packSize)}) is downloaded in ${Math.ceil(live.packSize / live.rate)} s.` : "";
  for (const event of live.events) add(event);
  next = live.next;
  const requests = `${counts.files} ${counts.files === 1 ? "request" : "requests"}, ${size(counts.bytes)}`;
  const text = `${requests}; ${counts.problems || "no"} ${counts.problems === 1 ? "problem" : "problems"}`;
  if (status.textContent !== text) status.textContent = text;
}

async function ask() {
  const response = await fetch(`live${next === null ? "" : `?since=${next}`}`);
  if (response.ok) show(await response.json());
  else status.textContent = "This game is not served any more.";
}

async function askAgain() {
  try {
    await ask();
  } catch {
    day.disabled = true;
    status.textContent = "The server has stopped.";
  }
  setTimeout(askAgain, 500);
}

async function load() {
  // The server adds its script to pages only while somebody looks, so it is told first. What happened before does not count.
  try {
    next = null;
    await ask();
  } catch {}
  counts = { files: 0, bytes: 0, problems: 0 };
  start = null;
  loads.replaceChildren();
  problems.replaceChildren();
  known = new Map();
  isWatched = false;
  none.hidden = false;
  frame.contentWindow.location.replace("/");
}

addEventListener("message", (event) => {
  const message = event.origin === location.origin && event.data && event.data.packer;
  if (!message) return;
  if (message.isWatched) isWatched = true;
  else fetch("error", { method: "POST", body: `${message.place}\n${message.text}` }).catch(() => {});
});
function isEmpty() {
  try {
    return frame.contentWindow.location.href === "about:blank";
  } catch {
    return false;
  }
}

frame.addEventListener("load", () => {
  // The empty page before the game loads too. Whether requests of the game are known by now depends on when they were last asked for.
  if (isEmpty()) return;
  // What it sent before is handled first.
  setTimeout(() => {
    if (!isWatched) problem("script errors of this page are not seen: its policy or its encoding keeps the script out that reports them");
    isWatched = false;
  }, 300);
});
screen.addEventListener("change", fit);
addEventListener("resize", fit);
document.getElementById("turn").addEventListener("click", () => {
  isTurned = !isTurned;
  fit();
});
document.getElementById("again").addEventListener("click", load);
day.addEventListener("change", () => {
  fetch(`day${day.checked ? "?bad" : ""}`, { method: "POST" }).catch(() => {});
});
fit();
load().then(askAgain);
