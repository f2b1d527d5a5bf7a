// Opened after the engine was started again.
row("localStorage after a restart", "kept", () => localStorage.mark ?? "lost");
row("IndexedDB after a restart", "kept", async () => {
  const open = indexedDB.open("marks", 1);
  open.onupgradeneeded = () => open.transaction.abort();
  await event(open, "success");
  const get = open.result.transaction("all").objectStore("all").get("mark");
  await event(get, "success");
  return (await get.result.text());
});
row("Cache API after a restart", "kept", async () => (await (await (await caches.open("marks")).match(new URL("data/mark", location)))?.text()) ?? "lost");
row("private files after a restart", "kept", async () => {
  const folder = await navigator.storage.getDirectory();
  return (await (await folder.getFileHandle("mark")).getFile()).text();
});
fill();
