#!/usr/bin/env python3
"""Plays packs in headless Chromium and Firefox ESR through the service worker of the player, and compares what the pages see with `packer serve`.

Parts, all by default: `vectors` (every full pack of Tests/Vectors gives the verdict that is written in it), `games` (each file and each kind of request, with
`packer serve` and nginx beside), `faults` (servers that misbehave, a full disk, a worker that ends), `versions` (offline, two tabs, an update while
a game is played) and `secrecy` (nothing plain in the profile).
"""

import argparse
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.parse

from browsers import ROOT, ScriptError, browser
from servers import nginx, packer_serve
from sites import Site, configuration, serving

GAMES = {
    "example": (ROOT / "Examples/HTML5Game/game", "?demo=1&mute=1&seed=7&lang=en", "playing"),
    "modules": (ROOT / "Tests/Games/modules/game", "?seed=3&steps=120", "done"),
    "media": (ROOT / "Tests/Games/media/game", "?cuts=40,5,31.5,12", "done"),
}

# A game with a part of every kind that a page can ask for.
KINDS = {
    "index.html": """<!doctype html><meta charset=utf-8><title>Kinds</title><link rel=icon href="data:,"><link rel=stylesheet href="css/all.css">
<img id=picture src="img/dot.svg"><script src="classic.js"></script><object data="img/dot.svg" type="image/svg+xml"></object>
<iframe src="frame/"></iframe><iframe src="frame"></iframe><script type=module src="js/main.mjs"></script>""",
    "css/all.css": "@import 'more.css'; body { background: url(../img/dot.svg?v=1) }", "css/more.css": "img { width: 20px }",
    "img/dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="red"/></svg>',
    "classic.js": "window.classic = 'classic';",
    "frame/index.html": "<!doctype html><meta charset=utf-8><script src=deep.js></script>",
    "frame/deep.js": "fetch('data.json').then((r) => r.json()).then((data) => parent.postMessage(data.say + location.pathname.slice(-7), '*'));",
    "frame/data.json": '{"say": "frame"}',
    "page.html": "<!doctype html><meta charset=utf-8><title>Second</title><script>document.documentElement.dataset.state = 'second'</script>",
    "js/main.mjs": """import { name } from './part.mjs';
const all = { classic: window.classic, name, isolated: crossOriginIsolated, frames: [] };
const frames = new Promise((done) => { addEventListener('message', ({ data }) => { all.frames.push(data); if (all.frames.length === 2) done(); }); });
const ask = (worker, question) => new Promise((done, fail) => {
  worker.onmessage = ({ data }) => done(data); worker.onerror = (event) => fail(new Error(`worker: ${event.message}`)); worker.postMessage(question);
});
try {
  all.dynamic = (await import('./later.mjs')).later;
  all.json = (await (await fetch('../play/../data/%C3%A4 b.json'.replace('../play/../', ''))).json()).value;
  all.request = await new Promise((done) => { const r = new XMLHttpRequest(); r.onload = () => done(r.responseText.length); r.open('GET', 'classic.js'); r.send(); });
  all.wasm = (await WebAssembly.instantiateStreaming(fetch('add.wasm'))).instance.exports.add(2, 3);
  all.worker = await ask(new Worker('js/worker.js'), 4);
  all.module = await ask(new Worker(new URL('worker.mjs', import.meta.url), { type: 'module' }), 5);
  if (crossOriginIsolated) {
    const shared = new SharedArrayBuffer(4);
    await ask(new Worker('js/shared.js'), shared);
    all.shared = new Int32Array(shared)[0];
  }
  all.picture = document.getElementById('picture').naturalWidth;
  all.missing = (await fetch('none.png')).status;
  await frames;
  all.frames.sort();
  document.documentElement.dataset.all = JSON.stringify(all);
  document.documentElement.dataset.state = 'done';
} catch (error) { document.documentElement.dataset.error = String(error); }
""",
    "js/part.mjs": "export const name = import.meta.url.split('/').pop();", "js/later.mjs": "export const later = 'later';",
    "js/worker.js": "importScripts('twice.js'); onmessage = async ({ data }) => postMessage([twice(data), (await (await fetch('../frame/data.json')).json()).say]);",
    "js/twice.js": "const twice = (x) => 2 * x;",
    "js/worker.mjs": "import { name } from './part.mjs'; onmessage = ({ data }) => postMessage(name + data);",
    "js/shared.js": "onmessage = ({ data }) => { Atomics.store(new Int32Array(data), 0, 42); postMessage(1); };",
    "data/ä b.json": '{"value": "umlaut"}', "empty.txt": "",
    "add.wasm": bytes.fromhex("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b"),
}
KINDS_SEEN = {
    "classic": "classic", "name": "part.mjs", "dynamic": "later", "json": "umlaut", "request": 27, "wasm": 5, "worker": [8, "frame"], "module": "part.mjs5",
    "picture": 9, "missing": 404, "frames": ["frame/frame/", "frame/frame/"],
}

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def write(folder, files):
    for name, content in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


class Maker:
    """Makes packs with one key."""

    def __init__(self, packer, place):
        self.packer, self.place, self.key_file = packer, place, place / "key"
        (place / "packs").mkdir(exist_ok=True)
        if not self.key_file.exists():
            subprocess.run([packer, "key", "new", "-o", self.key_file], check=True, stdout=subprocess.DEVNULL)
        self.key = next(line for line in self.key_file.read_text().splitlines() if line.startswith("pkk1"))

    def pack(self, tree, name, *options):
        pack = self.place / "packs" / f"{name}.pack"
        subprocess.run([self.packer, "pack", tree, "-o", pack, "--key", self.key_file, "--quiet", "--name", name, *options], check=True, stdout=subprocess.DEVNULL)
        return pack

    def entry(self, pack, url=None, **options):
        return {"url": url or f"/packs/{pack.name}", "size": pack.stat().st_size, "key": self.key, **options}

    def site(self):
        site = Site()
        site.mount("/play/", ROOT / ".build/web")
        site.mount("/packs/", self.place / "packs")
        return site


def wait(one, condition, seconds=60):
    """Waits until a script returns something true, and returns it."""
    deadline = time.monotonic() + seconds
    while True:
        with contextlib.suppress(ScriptError):
            if found := one.run(condition):
                return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{one.name}: {condition} is not true at {one.url}: {one.run('return document.body?.innerText.slice(0, 500)')}")
        time.sleep(0.05)


def first_page(one, site, game=None):
    """Opens the first page, and returns what it says: the code of an error, or the address of the game."""
    one.get(f"{site.origin}/play/{f'?game={game}' if game else ''}")
    wait(one, "return location.pathname.includes('/games/') || document.documentElement.dataset.error || document.querySelector('#list li')")
    return one.run("return location.pathname.includes('/games/') ? null : document.documentElement.dataset.error || 'list'")


def said(one):
    return one.run("return document.getElementById('text')?.textContent ?? document.body.innerText")


# MARK: Vectors


def vectors(name, maker):
    site = Site()
    for folder in ("Tests/Web", "Tests/Vectors", ".build/web"):
        site.mount(f"/{folder}/", ROOT / folder)
    site.put("/index.html", "<!doctype html>")
    names = sorted(str(path.relative_to(ROOT / "Tests/Vectors")) for part in ("valid", "refused-open", "hostile", "others")
                   for path in (ROOT / "Tests/Vectors" / part).glob("*.vector"))
    with serving(site), browser(name, maker.place / f"vectors-{name}", seconds=600) as one:
        one.get(f"{site.origin}/index.html")
        start = time.monotonic()
        found = one.run("""
          const { runVectors } = await import('/Tests/Web/vectors.mjs');
          return runVectors(args[0], async (name) => new Uint8Array(await (await fetch(`/Tests/Vectors/${name}`)).arrayBuffer()));""", names)
        print(f"{one.name}: {found['count']} cases of {len(names)} vectors, {len(found['differences'])} differences, {time.monotonic() - start:.1f} s")
        expect(found["count"] >= 650 and not found["differences"], f"{one.name}: {found['differences'][:5]}")


# MARK: Games

# What a page sees of an answer.
PROBE = """
const seen = [];
for (const [method, target, headers] of args[0]) {
  const response = await fetch(args[1] + target, { method, headers, cache: 'no-store' });
  const body = new Uint8Array(await response.arrayBuffer());
  const digest = Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', body)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const text = body.length < 300 && response.status >= 300 ? new TextDecoder().decode(body) : undefined;
  seen.push({ status: response.status, headers: Object.fromEntries(response.headers), digest, length: body.length, text });
}
return seen;
"""
OWN_FIELDS = {"date", "server", "connection", "keep-alive", "transfer-encoding"}


def asked(url, probes):
    """The answers of a server to the same requests."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=60)
    seen = []
    for method, target, headers in probes:
        connection.request(method, f"/{target}", headers={"Host": parts.netloc, **headers})
        response = connection.getresponse()
        body = response.read()
        fields = {field.lower(): value for field, value in response.getheaders() if field.lower() not in OWN_FIELDS}
        seen.append({"status": response.status, "headers": fields, "digest": hashlib.sha256(body).hexdigest(), "length": len(body), "body": body})
    return seen


def probes_of(tree):
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    probes = []
    for path in files:
        target = urllib.parse.quote(str(path.relative_to(tree)))
        size = path.stat().st_size
        probes.append(("GET", target, {}))
        if size > 10:
            probes.append(("GET", target, {"Range": f"bytes={size // 3}-{size // 2}"}))
    first = urllib.parse.quote(str(files[0].relative_to(tree)))
    large = max(files, key=lambda path: path.stat().st_size)
    name, size = urllib.parse.quote(str(large.relative_to(tree))), large.stat().st_size
    probes += [("HEAD", name, {}), ("POST", first, {}), ("GET", "", {}), ("GET", "?x=1", {}), ("GET", f"{first}?v=2", {}), ("GET", "none.png", {})]
    probes += [("GET", "deep/none/", {}), ("HEAD", "none.png", {}), ("GET", "%zz", {}), ("GET", name, {"If-None-Match": "\"x\""})]
    for ranges in (f"{size - 1}-", "-1", f"{size}-", "0-0", "5-3", f"0-{size + 9}", "0-1,4-5", "x", f"{size // 2}-"):
        probes.append(("GET", name, {"Range": f"bytes={ranges}"}))
    directories = sorted({path.parent for path in files if path.name == "index.html" and path.parent != tree})
    return probes + [("GET", str(path.relative_to(tree)) + end, {}) for path in directories for end in ("", "/", "?q=1&r=2")]


def compare(one, what, probes, mine, theirs, plain):
    """Holds the answers of the worker against those of the servers, and returns how many there are."""
    for (method, target, headers), own, served, file in zip(probes, mine, theirs, plain):
        case = f"{one.name}: {what}: {method} {target} {headers}"
        # A browser answers a preflight or hides these itself; a length is not sent where a worker gives none.
        fields = {name: value for name, value in served["headers"].items()}
        own_fields = dict(own["headers"])
        if served["status"] == 404:
            # The server is for people who develop the game, and names the nearest path.
            served = dict(served, digest=hashlib.sha256(re.sub(rb" Did you mean .*\n", b"\n", served["body"])).hexdigest())
            fields.pop("content-length", None)
            own_fields.pop("content-length", None)
        expect(own["status"] == served["status"], f"{case}: status {own['status']}, not {served['status']}")
        expect(own["digest"] == served["digest"], f"{case}: another body than packer serve: {own.get('text')!r}, not {served['body'][:200]!r}")
        differ = {name: (own_fields.get(name), fields.get(name)) for name in own_fields.keys() | fields.keys() if own_fields.get(name) != fields.get(name)}
        expect(not differ, f"{case}: fields {differ}")
        if file["status"] in (200, 206, 404) and own["status"] == file["status"] and method == "GET" and "," not in headers.get("Range", ""):
            expect(file["status"] == 404 or own["digest"] == file["digest"], f"{case}: another body than nginx")
            kind = file["headers"].get("content-type", "").split(";")[0].replace("application/javascript", "text/javascript")
            if kind not in ("application/octet-stream", "text/plain", "audio/x-wav") and file["status"] != 404:
                expect(own_fields.get("content-type", "").split(";")[0] == kind, f"{case}: type {own_fields.get('content-type')}, nginx says {kind}")
    return len(probes)


def play(one, url, query, scene):
    one.get(url + query)
    return wait(one, f"const {{ state, error }} = document.documentElement.dataset; return error ? `error: ${{error}}` : state === '{scene}' && state")


RESOURCES = """
return performance.getEntriesByType('resource').filter((entry) => entry.name.startsWith(location.origin))
  .filter((entry) => !Array.from(document.querySelectorAll('link[rel=icon]'), (link) => link.href).includes(entry.name))
  .map((entry) => [new URL(entry.name).pathname.slice(args[0].length), entry.responseStatus ?? 0, entry.contentType ?? '']);
"""


def games(name, maker, keep):
    trees = {}
    for game, (tree, query, scene) in GAMES.items():
        copied = maker.place / "trees" / game
        if not copied.exists():
            shutil.copytree(tree, copied)
            # A game below a path has no addresses from the root.
            for path in copied.rglob("*"):
                if game == "modules" and path.suffix in (".html", ".mjs"):
                    path.write_text(re.sub(r'(href=|src=|fetch\()"/', r'\1"./', path.read_text()))
        trees[game] = (copied, query, scene, ())
    trees["kinds"] = (write(maker.place / "trees/kinds", KINDS), "", "done", ())
    trees["isolated"] = (trees["kinds"][0], "", "done", ("--isolated",))
    packs = {game: maker.pack(tree, game) for game, (tree, *_) in trees.items()}
    site = maker.site()
    site.put("/play/player.json", configuration(**{
        game: maker.entry(pack, isolated="--isolated" in trees[game][3]) for game, pack in packs.items()}))
    with serving(site), browser(name, maker.place / f"games-{name}") as one:
        expect(first_page(one, site) == "list", f"{one.name}: no list of games is shown")
        for game, (tree, query, scene, options) in trees.items():
            start = time.monotonic()
            expect(first_page(one, site, game) is None, f"{one.name}: {game} does not start")
            prefix = f"/play/games/{game}/"
            url = site.origin + prefix
            state = play(one, url, query, scene)
            expect(state == scene, f"{one.name}: {game}: {state}")
            errors = [line for line in one.console() if "none.png" not in line]
            expect(not errors, f"{one.name}: {game}: console: {errors}")
            mine = one.run(RESOURCES, prefix)
            if keep:
                (keep / f"{game}-{name}.png").write_bytes(one.picture())
            if scene == "done" and game in ("kinds", "isolated"):
                seen = json.loads(one.run("return document.documentElement.dataset.all"))
                wanted = KINDS_SEEN | ({"isolated": True, "shared": 42} if options else {"isolated": False})
                expect(seen == wanted, f"{one.name}: {game}: {seen}, not {wanted}")
            probes = probes_of(tree)
            answers = one.run(PROBE, probes, url)
            with packer_serve(maker.packer, packs[game], "--key", maker.key_file, *options) as served:
                theirs = asked(served.url, probes)
                one.console()
                state = play(one, served.url, query, scene)
                expect(state == scene, f"{one.name}: {game} with packer serve: {state}")
                other = one.run(RESOURCES, "/")
            with nginx(tree, maker.place / f"nginx-{name}-{game}") as plain:
                count = compare(one, game, probes, answers, theirs, asked(plain, probes))
            # How often a medium is asked for depends on time. A request that the page gives up has no status.
            requests, others = ({(path, status, kind) for path, status, kind in entries if path and status} for entries in (mine, other))
            paths, other_paths = ({path for path, *_ in entries} for entries in (mine, other))
            expect(paths == other_paths, f"{one.name}: {game} asks for {sorted(paths ^ other_paths)} on one side only")
            for path in sorted({entry[0] for entry in requests} & {entry[0] for entry in others}):
                one_side, other_side = ({entry for entry in entries if entry[0] == path} for entries in (requests, others))
                expect(one_side & other_side, f"{one.name}: {game}: {one_side}, and with packer serve {other_side}")
            print(f"{one.name}: {game}: {count} requests compared, {len(requests)} addresses of the game itself, {time.monotonic() - start:.1f} s")


PARTS = {"vectors": vectors, "games": games}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--browser", action="append", choices=["chromium", "firefox"])
    parser.add_argument("--keep", type=pathlib.Path, help="a directory for pictures of the games")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="packer-player.") as place:
        maker = Maker(pathlib.Path(options.packer).resolve(), pathlib.Path(place))
        for part in options.parts or PARTS:
            for name in options.browser or ("chromium", "firefox"):
                try:
                    PARTS[part](name, maker, *([options.keep] if part == "games" else []))
                except (AssertionError, ScriptError) as error:
                    expect(False, f"{name}: {part}: {error}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
