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
}

function cell(row, text, isNumber) {
  const made = row.insertCell();
  made.textContent = text;
  if (isNumber) made.className = "number";
}

function words(event) {
  switch (event.kind) {
    case "missing": return `${event.text} is missing${event.note ? `; there is ${event.note}` : ""}`;
    case "failed": return `${event.text} failed: ${event.note || `status ${event.status}`}`;
    case "foreign": return `${event.text} is on another host, which a player without a network does not reach`;
    default: return event.note ? `${event.text} (${event.note})` : event.text;
  }
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
    const item = document.createElement("li");
    item.textContent = words(event);
    problems.append(item);
    while (problems.children.length > mostRows) problems.firstChild.remove();
    none.hidden = true;
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
  show(await response.json());
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
  none.hidden = false;
  frame.contentWindow.location.replace("/");
}

screen.addEventListener("change", fit);
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
