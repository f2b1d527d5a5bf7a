// Shows what the games of the list load while they run, and switches the bad day.
"use strict";

const day = document.getElementById("day");
const status = document.getElementById("status");

function count(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}

function size(bytes) {
  if (bytes < 1000) return count(bytes, "byte", "bytes");
  const units = ["kB", "MB", "GB"];
  let power = 0;
  for (bytes /= 1000; bytes >= 1000 && power < 2; bytes /= 1000) power += 1;
  return `${bytes.toFixed(bytes < 10 ? 2 : 1)} ${units[power]}`;
}

function show(item, counts) {
  const state = item.querySelector(".state");
  const good = [`${count(counts.load || 0, "file", "files")} loaded, ${size(counts.sent || 0)}`];
  const bad = [];
  if (counts.missing) bad.push(count(counts.missing, "request for a missing file", "requests for missing files"));
  if (counts.failed) bad.push(`${counts.failed} failed`);
  if (counts.foreign) bad.push(count(counts.foreign, "request to another host", "requests to other hosts"));
  if (counts.error) bad.push(count(counts.error, "script error", "script errors"));
  const text = good.concat(bad).join("; ");
  if (state.textContent !== text) state.textContent = text;
  state.classList.toggle("bad", bad.length > 0);
}

// A game with new content has not been opened yet.
function reset(state) {
  state.textContent = "not opened yet";
  state.classList.remove("bad");
}

async function ask() {
  try {
    if (!document.hidden) {
      const live = await (await fetch("/.well-known/packer/live")).json();
      for (const item of document.querySelectorAll("[data-id]")) {
        const counts = live.games[item.dataset.id];
        if (!item.querySelector("a")) continue;
        if (counts) show(item, counts);
        else reset(item.querySelector(".state"));
      }
      day.checked = live.badDay;
      day.disabled = false;
      status.textContent = "";
    }
  } catch {
    day.disabled = true;
    status.textContent = "The server has stopped.";
  }
  setTimeout(ask, 1000);
}

day.addEventListener("change", () => {
  fetch(`/.well-known/packer/day${day.checked ? "?bad" : ""}`, { method: "POST" }).catch(() => {});
});
ask();
