// A page of another scheme: that of a shell such as Capacitor, which shows games out of packs.
row("page of another scheme, allowed: fetch", "engine", async () => (await (await fetch(`${origins.open}/engine.mjs`)).text()).match(/engine/)[0]);
row("page of another scheme, allowed: module", "engine", async () => (await import(`${origins.open}/engine.mjs`)).name);
row("page of another scheme, not allowed: fetch", "TypeError", async () => (await fetch(`${origins.closed}/engine.mjs`)).status);
row("page of another scheme: game in a frame", "empty", () => frame(`${origins.closed}/storage.html`));
fill();
