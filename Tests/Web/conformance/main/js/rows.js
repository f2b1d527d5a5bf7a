// Rows of the table: what is tried, what it gives where all is well, and the value found. A page says that it is done in `data-state`.
const rows = [];

/** A row that should give `expected`. A value that takes too long is one, too. */
const row = (name, expected, find) => rows.push({ name, expected, find });

const late = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds, "nothing happens"));

async function fill() {
  for (const each of rows) {
    try {
      each.found = String(await Promise.race([each.find(), late(4)]));
    } catch (error) {
      each.found = String(error?.name ?? error);
    }
    const cells = [each.name, each.found].map((text) => Object.assign(document.createElement("td"), { textContent: text }));
    const line = document.createElement("tr");
    line.append(...cells);
    document.querySelector("table").append(line);
  }
  globalThis.found = rows.map(({ name, expected, found }) => [name, String(expected), found]);
  document.documentElement.dataset.state = "done";
}

/** The origin of another pack, which the harness puts into the address: `?open=pack://open`. */
const origins = Object.fromEntries(new URLSearchParams(location.search));

/** An element that was loaded, or `blocked`. */
const load = (element, properties) => new Promise((done) => {
  Object.assign(element, properties);
  element.onload = () => done("loaded");
  element.onerror = () => done("blocked");
  if (!(element instanceof Image)) document.body.append(element);
});

/** What a frame sends, or its document where `look` looks into it. */
const frame = (address, look) => new Promise((done, fail) => {
  const element = document.createElement("iframe");
  element.src = address;
  if (look) element.onload = () => setTimeout(() => {
    try {
      const found = look(element.contentDocument, element.contentWindow);
      if (found !== undefined) done(found);
    } catch (error) { fail(error); }
  });
  else addEventListener("message", (event) => {
    if (event.source === element.contentWindow) done(event.data);
  });
  document.body.append(element);
});

const answer = (worker, question) => new Promise((done, fail) => {
  const port = worker.port ?? worker;
  port.onmessage = ({ data }) => done(data);
  worker.onerror = (event) => fail(event.message ? new Error(event.message) : "blocked");
  port.postMessage(question);
});

const event = (target, name, fault = "error") => new Promise((done, fail) => {
  target.addEventListener(name, done, { once: true });
  target.addEventListener(fault, () => fail(target.error ? `error ${target.error.code}` : fault), { once: true });
});
