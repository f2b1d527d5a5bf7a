#!/usr/bin/env python3
"""Plays packs in headless Chromium and Firefox ESR through the service worker of the player, and compares what the pages see with `packer serve`.

Parts, all by default: `vectors` (every pack, manifest and shard of Tests/Vectors gives the verdict in it), `games` (each file and each kind of request, with
`packer serve` and nginx beside), `faults` (servers that misbehave, a worker that ends), `room` (a full disk), `versions` (offline, two tabs, an update while
a game is played), `secrecy` (nothing plain in the profile), `release` (a release of `packer build`), `webview` (the player as the web folder of an app for
Android) and `capacitor` (the plugin of Examples/Capacitor, from a page of an app). With --game DIR: any game that runs in a browser, for some seconds, from its pack and from nginx; what it asks for on either side must be the same,
and answered alike.
"""

import argparse
import base64
import contextlib
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

import traces
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
<script src="classic.js"></script><img id=picture src="img/dot.svg"><object data="img/dot.svg" type="image/svg+xml"></object>
<iframe src="frame/"></iframe><iframe src="frame"></iframe><script type=module src="js/main.mjs"></script>""",
    "css/all.css": "@import 'more.css'; body { background: url(../img/dot.svg?v=1) }", "css/more.css": "img { width: 20px }",
    "img/dot.svg": '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9" fill="red"/></svg>',
    "classic.js": "window.classic = 'classic'; window.said = []; addEventListener('message', ({ data }) => said.push(data));",
    "frame/index.html": "<!doctype html><meta charset=utf-8><script src=deep.js></script>",
    "frame/deep.js": "fetch('data.json').then((r) => r.json()).then((data) => parent.postMessage(data.say + location.pathname.slice(-7), '*'));",
    "frame/data.json": '{"say": "frame"}',
    "page.html": "<!doctype html><meta charset=utf-8><title>Second</title><script>document.documentElement.dataset.state = 'second'</script>",
    "js/main.mjs": """import { name } from './part.mjs';
const all = { classic: window.classic, name, isolated: crossOriginIsolated };
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
  while (window.said.length < 2) await new Promise((done) => setTimeout(done, 20));
  all.frames = window.said;
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
    "classic": "classic", "name": "part.mjs", "dynamic": "later", "json": "umlaut", "request": len(KINDS["classic.js"]), "wasm": 5, "worker": [8, "frame"], "module": "part.mjs5",
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
            if found := one.look(condition):
                return found
        if time.monotonic() > deadline:
            raise AssertionError(f"{one.name}: {condition} is not true at {one.url}: {one.look('return document.body?.innerText.slice(0, 500)')}")
        time.sleep(0.05)


def first_page(one, site, game=None):
    """Opens the first page, and returns what it says: the code of an error, or the address of the game."""
    # A page that has just begun may not be listed yet, so the worker waits a moment before it takes a new release.
    time.sleep(1)
    one.get(f"{site.origin}{site.player}{f'?game={game}' if game else ''}")
    wait(one, "return location.pathname.includes('/games/') || document.documentElement.dataset.error || document.querySelector('#list li')")
    return one.look("return location.pathname.includes('/games/') ? null : document.documentElement.dataset.error || 'list'")


def said(one):
    return one.look("return document.getElementById('text')?.textContent ?? document.body?.innerText ?? ''")


# MARK: Vectors


def vectors(name, maker):
    site = Site()
    for folder in ("Tests/Web", "Tests/Vectors", ".build/web"):
        site.mount(f"/{folder}/", ROOT / folder)
    site.put("/index.html", "<!doctype html>")
    names = sorted(str(path.relative_to(ROOT / "Tests/Vectors")) for part in ("valid", "refused-open", "hostile", "others", "manifest", "shards", "leads")
                   for path in (ROOT / "Tests/Vectors" / part).glob("*vector"))
    with serving(site), browser(name, maker.place / f"vectors-{name}", seconds=600) as one:
        one.get(f"{site.origin}/index.html")
        start = time.monotonic()
        found = one.run("""
          const { runVectors } = await import('/Tests/Web/vectors.mjs');
          return runVectors(args[0], async (name) => new Uint8Array(await (await fetch(`/Tests/Vectors/${name}`)).arrayBuffer()));""", names)
        print(f"{one.name}: {found['count']} cases of {len(names)} vectors, {len(found['differences'])} differences, {time.monotonic() - start:.1f} s")
        expect(found["count"] >= 1000 and not found["differences"], f"{one.name}: {found['differences'][:5]}")


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
            time.sleep(1)
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
                time.sleep(1)
                other = one.run(RESOURCES, "/")
            with nginx(tree, maker.place / f"nginx-{name}-{game}") as plain:
                count = compare(one, game, probes, answers, theirs, asked(plain, probes))
            # A request that an element gives up has no status, and may not be noted at all, which depends on time.
            requests, others = ({(path, status, kind) for path, status, kind in entries if path and status} for entries in (mine, other))
            paths, other_paths = ({path for path, *_ in entries if not path.endswith((".ogg", ".webm"))} for entries in (mine, other))
            expect(paths == other_paths, f"{one.name}: {game} asks for {sorted(paths ^ other_paths)} on one side only")
            for path in sorted({entry[0] for entry in requests} & {entry[0] for entry in others}):
                one_side, other_side = ({entry for entry in entries if entry[0] == path} for entries in (requests, others))
                expect(one_side & other_side, f"{one.name}: {game}: {one_side}, and with packer serve {other_side}")
            print(f"{one.name}: {game}: {count} requests compared, {len(requests)} addresses of the game itself, {time.monotonic() - start:.1f} s")

# MARK: A game of one's own

# Goes before the player's own worker: notes what pages and their workers ask for, and what is answered.
RECORDER = """
addEventListener('fetch', event => {
  const { method, url, headers } = event.request;
  const respond = event.respondWith.bind(event);
  const note = async response => {
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await response.arrayBuffer()));
    const hex = Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join('');
    const record = [method, url, headers.get('Range') ?? '', response.status, response.headers.get('Content-Type') ?? '', hex];
    await fetch('/records', { method: 'POST', body: JSON.stringify(record) });
  };
  event.respondWith = answer => respond(Promise.resolve(answer).then(response => { note(response.clone()); return response; }));
});
"""
ISOLATED = (("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Embedder-Policy", "require-corp"), ("Cross-Origin-Resource-Policy", "same-origin"))
# The browser itself asks for these, past the worker.
ICONS = """
return Array.from(document.querySelectorAll('link[rel~=icon], link[rel|=apple-touch-icon], link[rel=manifest]'), (link) => new URL(link.href).pathname);
"""


def watch(one, options, picture):
    """Plays what is open, and returns the errors on the console."""
    wait(one, "return document.readyState === 'complete'")
    for deed in ["", *options.do]:
        one.run(deed)
        time.sleep(options.seconds)
    if options.keep:
        (options.keep / picture).write_bytes(one.picture())
    # What does not come is compared by its status, and other hosts are not compared.
    return {re.sub(r"https?://(localhost|127)[^/ ]*(/play)?(/games/[^/]*)?/", "", line) for line in one.console() if "Failed to load" not in line}


@contextlib.contextmanager
def capacitor(place):
    """The site that an app of Capacitor is on Android: the player's folder at https://localhost. Gives the flags with which Chromium stands in for its view."""
    site, certificate, key = Site(), place / "localhost.pem", place / "localhost.key"
    site.mount("/", ROOT / ".build/web")
    site.player = "/"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    with serving(site, certificate=(certificate, key)):
        yield site, {"flags": ("--ignore-certificate-errors", f"--host-resolver-rules=MAP localhost 127.0.0.1:{site.port}")}


def own_game(name, maker, options):
    with contextlib.ExitStack() as stack:
        packs = stack.enter_context(serving(maker.site()))
        site, flags = stack.enter_context(capacitor(maker.place)) if options.capacitor else (packs, {})
        compare_own(name, maker, options, site, packs, flags)


def compare_own(name, maker, options, site, packs, flags):
    tree, game = options.game.resolve(), options.game.resolve().name.lower()
    prefix = f"{site.player}games/{game}/"
    pack, log = maker.pack(tree, game), maker.place / f"log-{game}-{name}"
    site.put(f"{site.player}worker.js", RECORDER + (ROOT / ".build/web/worker.js").read_text())
    url = None if site is packs else f"http://127.0.0.1:{packs.port}/packs/{pack.name}"
    site.put(f"{site.player}player.json", configuration(**{game: maker.entry(pack, url, isolated=options.isolated)}))
    packs.line = options.line
    start = time.monotonic()
    with browser(name, maker.place / f"{game}-{name}", **flags) as one:
        expect(first_page(one, site, game) is None, f"{one.name}: {game} does not start: {said(one)}")
        console = watch(one, options, f"{game}-{name}.png")
        icons = {path.removeprefix(prefix) for path in one.look(ICONS)}
        records = [json.loads(body) for _, body in site.posts]
        mine = {(method, urllib.parse.urlsplit(url)._replace(scheme="", netloc="").geturl().removeprefix(prefix), ranges): (status, kind, digest)
                for method, url, ranges, status, kind, digest in records if prefix in url}
        with nginx(tree, maker.place / f"nginx-{game}-{name}", log, ISOLATED if options.isolated else (), options.line) as plain:
            one.get(plain if options.capacitor else plain.replace("127.0.0.1", "localhost"))
            plain_console = watch(one, options, f"{game}-{name}-nginx.png")
            theirs = {(method, target[1:], ranges): status for method, target, ranges, status in map(json.loads, log.read_text().splitlines())}
            # A browser asks for places in media when it needs them: each is asked of both.
            requests = sorted(mine.keys() | theirs.keys())
            probes = [(method, target, {"Range": ranges} if ranges else {}) for method, target, ranges in requests]
            answers = asked(plain, probes)
            one.get(f"{site.origin}{site.player}packer.js")
            others = [index for index, request in enumerate(requests) if request not in mine]
            for index, seen in zip(others, one.run(PROBE, [probes[index] for index in others], f"{site.origin}{prefix}")):
                mine[requests[index]] = (seen["status"], seen["headers"].get("content-type", ""), seen["digest"])
            paths = [{target.split("?")[0] for _, target, _ in keys} - icons - {"favicon.ico"} for keys in ({*mine} - {requests[i] for i in others}, theirs)]
    for request, answer in zip(requests, answers):
        status, kind, digest = mine[request]
        kinds = [text.split(";")[0] for text in (kind, answer["headers"].get("content-type", ""))]
        case = f"{one.name}: {game}: {' '.join(request)}"
        # A browser that has a file already asks nginx whether it is still the same.
        told = theirs.get(request, status)
        expect(status == answer["status"] and told in (status, 304), f"{case}: status {status}, nginx {answer['status']} and {told}")
        expect(status >= 300 or digest == answer["digest"], f"{case}: another body than nginx")
        expect(status >= 300 or kinds[0] == kinds[1], f"{case}: type {kinds[0]}, nginx {kinds[1]}")
    expect(paths[0] == paths[1], f"{one.name}: {game} asks the player only for {sorted(paths[0] - paths[1])}, and nginx only for {sorted(paths[1] - paths[0])}")
    expect(console == plain_console, f"{one.name}: {game}: on the console only with the player {console - plain_console}, only with nginx {plain_console - console}")
    print(f"{one.name}: {game}: {len(records)} requests of the player, {len(requests)} different ones compared, {len(requests) - len(others)} of them "
          f"in play, {sum(bool(ranges) for *_, ranges in requests)} for ranges, {time.monotonic() - start:.1f} s")


# MARK: Faults

# Reads a file of the game piece by piece, and says what came: a status and a digest, or the error of the browser.
READ = """
try {
  const response = await fetch(args[0], { cache: 'no-store' });
  const pieces = [];
  const reader = response.body.getReader();
  for (let piece; !(piece = await reader.read()).done;) pieces.push(piece.value);
  const body = new Uint8Array(await new Blob(pieces).arrayBuffer());
  const digest = Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', body)), (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { status: response.status, digest, length: body.length, text: body.length < 1000 ? new TextDecoder().decode(body) : '' };
} catch (error) { return { status: 0, text: String(error) }; }
"""

# What a server does, the code of the error, and a part of what is said.
SERVER_FAULTS = [
    ("no ranges", "cannot-read", "is sent as a whole"), ("compressed", "cannot-read", ""), ("other range", "cannot-read", "were asked for"),
    ("other size", "source-changed", "bytes, not"), ("short", "cannot-read", ""), ("cut", "cannot-read", ""), ("500", "cannot-read", "answers 500"),
    ("403", "cannot-read", "answers 403"), ("flipped", "authentication-failed", "was damaged or changed"),
]


def sample(maker, name="large", seed=None):
    """A game with files of several frames, and the digests of its files. Random content, so that packing it does not shrink it."""
    seed = random.randrange(1 << 32) if seed is None else seed
    print(f"content of {name}: seed {seed}")
    source = random.Random(seed)
    files = {"index.html": f"<!doctype html><meta charset=utf-8><title>{name}</title><script>document.documentElement.dataset.state = 'ready'</script>"}
    files |= {f"part{number}.bin": source.randbytes((3 << 20) + number) for number in range(8)}
    files["film.bin"] = source.randbytes(20 << 20)
    tree = write(maker.place / "trees" / name, files)
    digests = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in tree.iterdir()}
    return maker.pack(tree, name), digests


def faults(name, maker):
    pack, digests = sample(maker)
    site = maker.site()
    count = 0

    def offered(make=os.link, **options):
        """The same pack under a name of its own, of which nothing is kept yet."""
        nonlocal count
        count += 1
        copy = pack.with_name(f"copy{name}{count}.pack")
        make(pack, copy)
        site.put("/play/player.json", configuration(large=maker.entry(copy, **options)))
        return copy, f"/packs/{copy.name}"

    def right(one, path, what):
        """Whether a file comes as it is, or nothing comes that looks like it."""
        found = one.run(READ, path)
        if found["status"] == 200:
            expect(found["digest"] == digests[path], f"{one.name}: {what}: {path} comes with other bytes")
        return found

    with serving(site), browser(name, maker.place / f"faults-{name}") as one:
        # A player whose files are not all there.
        whole = (ROOT / ".build/web/worker.js").read_text()
        for what, text in (("no worker", None), ("a missing file", whole.replace("const shell = {", "const shell = { 'none.js': '',")), ("no script", "<!doctype html>")):
            site.put("/play/worker.js", text)
            got = first_page(one, site, "large")
            expect(got == "no-worker" and "see that" in said(one), f"{one.name}: {what}: {got}: {said(one)}")
            site.mounts.pop(0)
        # Mistakes in the first configuration.
        entry = maker.entry(pack)
        wrong = maker.key[:-6] + ("q" if maker.key[-6] != "q" else "p") + maker.key[-5:]
        broken = {
            "no JSON": "{", "a key with a typing error": configuration(large=dict(entry, key=wrong)), "no size": configuration(large=dict(entry, size=None))}
        for what, text in broken.items():
            site.put("/play/player.json", text)
            got = first_page(one, site, "large")
            expect(got not in (None, "list") and len(said(one)) > 20, f"{one.name}: {what}: {got}: {said(one)}")
            print(f"{one.name}: {what}: {said(one)}")
        site.put("/play/player.json", configuration(large=entry))
        for none in ("none", "constructor"):
            expect(first_page(one, site, none) == "no-such-game", f"{one.name}: a game that is not there: {said(one)}")
        subprocess.run([maker.packer, "key", "new", "-o", maker.place / f"other-{name}", "-q"], check=True, stdout=subprocess.DEVNULL)
        stranger = next(line for line in (maker.place / f"other-{name}").read_text().splitlines() if line.startswith("pkk1"))
        site.put("/play/player.json", configuration(large=dict(entry, key=stranger)))
        got = first_page(one, site, "large")
        expect(got in ("wrong-key", "no-usable-key"), f"{one.name}: another key: {got}: {said(one)}")
        for fault, code, words in SERVER_FAULTS:
            # From the first byte.
            _, path = offered()
            site.faults[path] = (fault, None)
            got = first_page(one, site, "large")
            expect(got == code and words in said(one), f"{one.name}: {fault}: {got}: {said(one)}")
            site.faults.clear()
            expect(first_page(one, site, "large") is None, f"{one.name}: {fault}: does not start when the server is mended: {said(one)}")
            # While it is played.
            _, path = offered()
            expect(first_page(one, site, "large") is None, f"{one.name}: {fault}: does not start")
            site.faults[path] = (fault, None)
            small, large = right(one, "part5.bin", fault), right(one, "film.bin", fault)
            expect(small["status"] >= 500 and words in small["text"], f"{one.name}: {fault} while it is played: {small}")
            expect(large["status"] != 200, f"{one.name}: {fault} while it is played: {large}")
            site.faults.clear()
            for path in ("part5.bin", "film.bin"):
                found = right(one, path, fault)
                expect(found["status"] == 200, f"{one.name}: {fault}: {path} does not come when the server is mended: {found}")
        # Faults that are mended by asking again, or do not matter.
        for fault, times in (("500", 2), ("cut", 2), ("short", 1), ("redirect", None), ("no tag", None)):
            _, path = offered()
            expect(first_page(one, site, "large") is None, f"{one.name}: does not start")
            site.faults[path] = (fault, times)
            if fault == "redirect":
                site.mount("/elsewhere/packs/", maker.place / "packs")
            expect(right(one, "part5.bin", fault)["status"] == 200, f"{one.name}: {fault} {times}: {one.run(READ, 'part5.bin')}")
            site.faults.clear()
        # Another origin, which allows it, does not, or hides the size.
        with serving(maker.site()) as other:
            for allowed, fault, code in ((True, None, None), (False, None, "cannot-read"), (True, "hidden size", None)):
                copy, path = offered()
                other.allows = allowed
                other.faults = {path: (fault, None)} if fault else {}
                site.put("/play/player.json", configuration(large=maker.entry(copy, url=f"{other.origin}{path}")))
                got = first_page(one, site, "large")
                expect(got == code, f"{one.name}: another origin, {'allowed' if allowed else 'not allowed'}, {fault}: {got}: {said(one)}")
                expect(code is None or "(CORS)" in said(one), f"{one.name}: another origin: {said(one)}")
                expect(not [record for record in other.records if record["method"] == "OPTIONS"], f"{one.name}: a browser asks before it asks")
        # The file is another one after some requests: of another time, of another size, and so that only its bytes say so.
        changed, _ = sample(maker, "changed")
        for what, make, words in (
                ("later", lambda copy: os.utime(copy, (1, 1)), "was changed between two requests"),
                ("longer", lambda copy: copy.write_bytes(copy.read_bytes() + b"x"), "bytes, not"),
                ("other bytes", lambda copy: (stamp := copy.stat(), copy.write_bytes(changed.read_bytes()[:stamp.st_size].ljust(stamp.st_size)),
                                              os.utime(copy, ns=(stamp.st_mtime_ns, stamp.st_mtime_ns))), "was damaged or changed")):
            copy, path = offered(shutil.copyfile)
            expect(first_page(one, site, "large") is None, f"{one.name}: does not start")
            make(copy)
            found = right(one, "part6.bin", what)
            expect(found["status"] >= 500 and words in found["text"], f"{one.name}: {what}: {found}")
        # A mistake in a new configuration leaves the last one.
        copy, path = offered()
        expect(first_page(one, site, "large") is None, f"{one.name}: does not start")
        for what, text in broken.items():
            site.put("/play/player.json", text)
            expect(first_page(one, site, "large") is None, f"{one.name}: {what} where games are known: {said(one)}")
        # The worker ends while it sends, and while nothing happens.
        copy, path = offered()
        expect(first_page(one, site, "large") is None, f"{one.name}: does not start")
        site.faults[path] = ("slow", None)
        one.run("window.reading = (async (...args) => { " + READ + " })('film.bin'); await new Promise((done) => setTimeout(done, 700));")
        one.kill_worker()
        found = one.run("return window.reading")
        print(f"{one.name}: a worker that ends while it sends: status {found['status']}, {found.get('length')} bytes, {found['text'][:100]!r}")
        expect(found["status"] != 200 or found["digest"] == digests["film.bin"], f"{one.name}: a worker that ends while it sends: {found}")
        site.faults.clear()
        expect(right(one, "film.bin", "after the worker ended")["status"] == 200, f"{one.name}: after the worker ended nothing comes")
        # A page that goes away while a piece is on its way, as media elements do all the time.
        site.faults[path] = ("slow", None)
        given_up = one.run("""
          const all = [];
          for (let count = 0; count < 6; count += 1) {
            const reader = (await fetch('film.bin', { cache: 'no-store' })).body.getReader();
            await reader.read();
            await reader.cancel();
            const other = await fetch('index.html', { cache: 'no-store' });
            if (!other.ok) all.push(await other.text());
          }
          return all;""")
        expect(not given_up, f"{one.name}: after a reader went away: {given_up}")
        site.faults.clear()
        # The answer is there, and its body is not read yet. Firefox has it all a moment later.
        one.run("window.answer = await fetch('film.bin', { cache: 'no-store' }); await new Promise((done) => setTimeout(done, 1000));")
        one.kill_worker()
        found = one.run(READ.replace("await fetch(args[0], { cache: 'no-store' })", "window.answer"))
        expect(found["status"] != 200 or found["digest"] == digests["film.bin"], f"{one.name}: a worker that ends when it has answered: {found}")
        before = len(site.requests(path))
        one.kill_worker()
        expect(right(one, "film.bin", "after the worker ended")["status"] == 200, f"{one.name}: after the worker ended nothing comes")
        expect(len(site.requests(path)) == before, f"{one.name}: a worker that begins again fetches what is kept: {site.requests(path)[before:]}")


# MARK: Room

# Two packs of a source that counts, of which the quota holds one and a half.
ROOM = """
const { KeptSource } = await import('/play/player.js');
const size = 3 << 20;
const source = (value) => ({ name: 'test', asked: 0, size: async () => size, read(start, end) { this.asked += end - start; return Promise.resolve(new Uint8Array(end - start).fill(value)); } });
const options = { size, quota: 4.5 * 2 ** 20 };
const first = source(1), second = source(2);
const right = async (kept, value) => {
  const bytes = await kept.read(100, size - 100);
  if (bytes.length !== size - 200 || bytes.some((byte) => byte !== value)) throw new Error('other bytes');
};
const seen = { kept: [] };
const progress = [];
seen.kept.push(await new KeptSource(first, 'a', options).keepAll((done) => progress.push(done)));
seen.progress = progress.at(-1);
await right(new KeptSource(first, 'a', options), 1);
seen.again = first.asked;
seen.kept.push(await new KeptSource(second, 'b', options).keepAll());
seen.names = (await caches.keys()).filter((name) => name.startsWith('packer-pack-')).sort();
seen.kept.push(await new KeptSource(source(3), 'c', { size, quota: 1 << 20 }).keepAll());
await right(new KeptSource(source(3), 'c', { size, quota: 1 << 20 }), 3);
await new Promise((done) => setTimeout(done, 500));
// Parts of what is kept, in both directions.
const third = source(4);
const kept = new KeptSource(third, 'd', options);
await kept.read(100, 200); await kept.read(300, 400);
await new Promise((done) => setTimeout(done, 300));
await kept.read(50, 350);
await new Promise((done) => setTimeout(done, 300));
await kept.read(0, 500);
await new Promise((done) => setTimeout(done, 300));
seen.asked = third.asked;
await right(new KeptSource(third, 'd', options), 4);
// A browser that keeps nothing, and one that loses what it has.
await caches.delete('packer-pack-d');
await right(kept, 4);
const open = caches.open;
caches.open = () => Promise.reject(new Error('no'));
await right(new KeptSource(source(5), 'e', options), 5);
seen.kept.push(await new KeptSource(source(5), 'e', options).keepAll());
caches.open = open;
for (const name of await caches.keys()) if (/^packer-pack-.$/.test(name)) await caches.delete(name);
return seen;
"""

# A page reads a game, keeps it and forgets it.
ELSEWHERE = """
const { begin, start, keep, read, list, forget } = await import('/play/player.js');
const fails = (promise) => promise.then(() => 'no error', ({ code }) => code);
await begin('/play/player.json');
await start('roomy');
const part = await read('roomy', 'part2.bin', { start: 7, end: 10 });
const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await read('roomy', 'part2.bin')));
const none = [await fails(read('roomy', 'none')), await fails(read('none', 'part2.bin'))];
const kept = [await keep('roomy') && (await list()).roomy.kept];
await forget('roomy');
kept.push((await list()).roomy.kept);
const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
return { part: [part.length, hex], kept, none, control: navigator.serviceWorker.controller };
"""


def room(name, maker):
    site = maker.site()
    pack, digests = sample(maker, "roomy")
    site.put("/play/player.json", configuration(roomy=maker.entry(pack)))
    limited = {"quota": 20 << 20} if name == "firefox" else {}
    with serving(site):
        with browser(name, maker.place / f"room-{name}") as one:
            one.get(f"{site.origin}/play/packer.js")
            seen = one.run(ROOM)
            wanted = {
                "kept": [True, True, False, False], "progress": 3 << 20, "again": 3 << 20, "names": ["packer-pack-b"], "asked": 500}
            expect(seen == wanted, f"{one.name}: {seen}, not {wanted}")
            # A page that is not in the folder of the player, and so not one of its worker's.
            site.put("/elsewhere.html", "<!doctype html>")
            one.get(f"{site.origin}/elsewhere.html")
            seen = one.run(ELSEWHERE)
            size = pack.stat().st_size
            wanted = {"part": [3, digests["part2.bin"]], "kept": [size, 0], "none": ["no-such-entry", "no-such-game"], "control": None}
            expect(seen == wanted, f"{one.name}: a page elsewhere: {seen}, not {wanted}")
        with browser(name, maker.place / f"full-{name}", **limited) as one:
            # As much room as the player itself needs, and less than the pack.
            if name == "chromium":
                one.get(f"{site.origin}/play/packer.js")
                one.limit(site.origin, 20 << 20)
            expect(first_page(one, site, "roomy") is None, f"{one.name}: a full disk: does not start: {said(one)}")
            for path in ("film.bin", "part0.bin", "part1.bin", "part2.bin", "film.bin"):
                found = one.run(READ, path)
                expect(found["status"] == 200 and found["digest"] == digests[path], f"{one.name}: a full disk: {path}: {found}")
            estimate = one.run("return (await navigator.storage.estimate())")
            print(f"{one.name}: a full disk: {estimate['usage'] / 1e6:.1f} of {estimate['quota'] / 1e6:.1f} MB are used")
            one.get(f"{site.origin}/play/packer.js")
            kept = one.run("const { keep } = await import('./player.js'); return keep('roomy')")
            expect(kept is False, f"{one.name}: a full disk: the pack is said to be kept")


# MARK: Versions

def version(maker, name, number):
    """A game that says which version each of its files is."""
    files = {
        "index.html": f"<!doctype html><meta charset=utf-8><title>{number}</title><script src=main.js></script><iframe src=inner.html></iframe>",
        "inner.html": f"<!doctype html><meta charset=utf-8><script>parent.inner = '{number}'</script>",
        "main.js": f"window.main = '{number}'; const worker = new Worker('worker.js'); worker.onmessage = ({{ data }}) => window.told = data;"
                   "window.ask = () => worker.postMessage(1);",
        "worker.js": f"onmessage = async () => postMessage('{number}' + await (await fetch('later.txt', {{ cache: 'no-store' }})).text());",
        "later.txt": str(number), "more.txt": str(number), "page.html": f"<!doctype html><meta charset=utf-8><title>{number}</title>",
    }
    # Each file in a frame of its own segments, so that a later one is really fetched later.
    files |= {f"fill{count}.bin": random.Random(count + number).randbytes(1 << 20) for count in range(6)}
    return maker.pack(write(maker.place / "trees" / f"{name}{number}", files), f"{name}{number}", "--pack-version", str(number))


SEES = """
window.ask();
for (let count = 0; count < 200 && !(window.told && window.inner); count += 1) await new Promise((done) => setTimeout(done, 20));
const told = window.told;
window.told = undefined;
const text = async (path) => { const response = await fetch(path, { cache: 'no-store' }); return response.ok ? response.text() : `${response.status}: ${await response.text()}`; };
return [document.title, window.main, window.inner, told, await text('later.txt'), await text('more.txt')];
"""
STATE = """
const open = indexedDB.open('packer-player');
await new Promise((done) => { open.onsuccess = done; });
const store = open.result.transaction('releases').objectStore('releases');
const all = await new Promise((done) => { const asked = store.getAll(); asked.onsuccess = () => done(asked.result); });
open.result.close();
const keys = all.flatMap((release) => Object.values(release.games).map(({ key }) => [key.constructor.name, key.extractable]));
const exported = await Promise.all(all.flatMap((release) => Object.values(release.games)).map(({ key }) => crypto.subtle.exportKey('raw', key).then(() => true, () => false)));
return { keys, exported, caches: (await caches.keys()).filter((name) => name.startsWith('packer-pack-')).length };
"""


def seen_of(number):
    return [str(number)] * 3 + [f"{number}{number}"] + [str(number)] * 2


def versions(name, maker):
    packs = {number: version(maker, "game", number) for number in (1, 2)}
    second = {number: version(maker, "second", number) for number in (1, 2)}
    site = maker.site()

    def offer(number, **options):
        site.put("/play/player.json", configuration(game=maker.entry(packs[number], **options), second=maker.entry(second[number])))

    profile = maker.place / f"versions-{name}"
    with serving(site):
        offer(1)
        with browser(name, profile) as one:

            def sees(number, what):
                seen = one.run(SEES)
                expect(seen == seen_of(number), f"{one.name}: {what}: the page sees {seen}, not version {number}")

            expect(first_page(one, site, "game") is None, f"{one.name}: does not start")
            sees(1, "first start")
            expect(one.run(STATE)["keys"] and not any(one.run(STATE)["exported"]), f"{one.name}: a key can be exported: {one.run(STATE)}")
            # A new version while the page is open, in another tab. Both go on with the old one, whole.
            first = one.tab()
            offer(2)
            expect(first_page(one, site, "game") is None, f"{one.name}: does not start")
            sees(1, "a second tab after an update")
            one.get(f"{site.origin}/play/games/second/")
            sees(1, "another game after an update")
            second_tab = one.peek(first)
            one.kill_worker()
            sees(1, "the first tab after an update and a worker's end")
            one.get(f"{site.origin}/play/games/game/page.html")
            expect(one.look("return document.title") == "1", f"{one.name}: another page of the open game is of another version")
            one.switch(second_tab)
            sees(1, "the second tab when the first is closed")
            # All closed: the new one, for all games.
            expect(first_page(one, site, "game") is None, f"{one.name}: does not start")
            sees(2, "the next start")
            one.get(f"{site.origin}/play/games/second/")
            sees(2, "another game at the next start")
            state = one.run(STATE)
            expect(state["caches"] == 2, f"{one.name}: packs of old versions are kept: {state}")
            # A new game that comes with a new version while an old page is open.
            first = one.tab()
            site.put("/play/player.json", configuration(game=maker.entry(packs[2]), second=maker.entry(second[2]), third=maker.entry(packs[1])))
            got = first_page(one, site, "third")
            expect(got == "busy", f"{one.name}: a game of the next version: {got}: {said(one)}")
            one.switch(first)
            one.get("about:blank")
            expect(first_page(one, site, "third") is None, f"{one.name}: does not start when the others are closed: {said(one)}")
            sees(1, "a game that came with an update")
            offer(2)
            # All of it is fetched in the background.
            expect(first_page(one, site) == "list", f"{one.name}: no list")
            progress = one.run("""
              const { keep } = await import('./player.js');
              const steps = [];
              const isKept = await keep('game', (done, all) => steps.push([done, all]));
              return { isKept, steps };""")
            size = packs[2].stat().st_size
            expect(progress["isKept"] and progress["steps"][-1] == [size, size], f"{one.name}: keep: {progress}")
            steps = [done for done, _ in progress["steps"]]
            expect(steps == sorted(steps), f"{one.name}: progress goes back: {steps}")
        # Without a network, after the browser ended: pages, worker, module, packs and keys are there.
        site.is_down = True
        with browser(name, profile) as one:
            expect(first_page(one, site, "game") is None, f"{one.name}: does not start without a network: {said(one)}")
            seen = one.run(SEES)
            expect(seen == seen_of(2), f"{one.name}: without a network: {seen}")
            one.kill_worker()
            one.get(f"{site.origin}/play/games/game/?again")
            seen = one.run(SEES)
            expect(seen == seen_of(2), f"{one.name}: without a network and after the worker's end: {seen}")
            found = one.run(READ, "fill5.bin")
            expect(found["status"] == 200 and found["length"] == 1 << 20, f"{one.name}: without a network: {found}")
            expect(first_page(one, site, "second") is None or "cannot be fetched" in said(one), f"{one.name}: a game that is not kept: {said(one)}")
        site.is_down = False
        with browser(name, profile) as one:
            # The option, for which the page does nothing.
            offer(1, offline=True)
            expect(first_page(one, site, "game") is None, f"{one.name}: does not start: {said(one)}")
            cached = "const cache = await caches.keys(); let sum = 0; for (const name of cache) if (name.startsWith('packer-pack-')) for (const { url } of " \
                "await (await caches.open(name)).keys()) { const found = /(\\d+)-(\\d+)$/.exec(url); if (found) sum += found[2] - found[1]; } return sum;"
            deadline = time.monotonic() + 30
            while one.run(cached) < packs[1].stat().st_size and time.monotonic() < deadline:
                time.sleep(0.2)
            expect(one.run(cached) >= packs[1].stat().st_size, f"{one.name}: offline: only {one.run(cached)} bytes are kept")
            # A worker of a new version of the player itself, one file of which is another one than the browser has in its own cache.
            worker, script = ((ROOT / ".build/web" / file).read_text() for file in ("worker.js", "player.js"))
            changed = f"{script}// next\n"
            digest = base64.b64encode(hashlib.sha256(changed.encode()).digest()).decode()
            site.put("/play/player.js", changed)
            site.put("/play/worker.js", re.sub("('player.js': 'sha256-)[^']*", lambda found: found[1] + digest, worker.replace("const build = '", "const build = 'next")))
            expect(first_page(one, site, "game") is None, f"{one.name}: does not start with a new worker: {said(one)}")
            sees = one.run(SEES)
            expect(sees == seen_of(1), f"{one.name}: with a new worker: {sees}")
            shells = "return (await caches.keys()).filter((name) => name.startsWith('packer-shell-'))"
            deadline = time.monotonic() + 20
            while not (len(one.run(shells)) == 1 and "next" in one.run(shells)[0]) and time.monotonic() < deadline:
                time.sleep(0.2)
            expect(len(one.run(shells)) == 1 and "next" in one.run(shells)[0], f"{one.name}: the files of the player are those of {one.run(shells)}")
            kept = one.run("return (await (await caches.match(new URL('player.js', location.href.replace(/games.*/, '')))).text()).endsWith('// next\\n')")
            expect(kept, f"{one.name}: a file of the last player is kept with the new ones")


# MARK: Secrecy

# What a page that stores plaintext would do, so that the search can fail.
STORE = """
const response = await fetch(args[0], { cache: "no-store" });
if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
const bytes = new Uint8Array(await response.arrayBuffer());
await (await caches.open('plain')).put('/plain', new Response(bytes));
const open = indexedDB.open('plain', 1);
open.onupgradeneeded = () => open.result.createObjectStore('plain');
await new Promise((done) => { open.onsuccess = done; });
const transaction = open.result.transaction('plain', 'readwrite');
transaction.objectStore('plain').put(bytes, 'plain');
await new Promise((done) => { transaction.oncomplete = done; });
open.result.close();
const file = await (await navigator.storage.getDirectory()).getFileHandle('plain', { create: true });
const writer = await file.createWritable();
await writer.write(bytes);
await writer.close();
"""


def secrecy(name, maker):
    rate, seconds = 44100, 120
    sound = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 2 * rate * seconds, b"WAVE", b"fmt ", 16, 1, 1, rate, 2 * rate, 2, 16, b"data", 2 * rate * seconds)
    tree = write(maker.place / "trees/sound", {
        "index.html": "<!doctype html><meta charset=utf-8><audio id=sound src=long.wav preload=auto></audio><script src=main.js></script>",
        "main.js": "const sound = document.getElementById('sound'); const go = (at) => new Promise((done) => { sound.onseeked = done; sound.currentTime = at; });"
                   "sound.oncanplay = async () => { sound.oncanplay = null; for (const at of [100, 5, 60]) await go(at); document.documentElement.dataset.state = 'done'; };",
        "long.wav": sound + random.Random(5).randbytes(2 * rate * seconds)})
    packs = {"example": maker.pack(GAMES["example"][0], "example"), "media": maker.pack(GAMES["media"][0], "media"), "sound": maker.pack(tree, "sound")}
    trees = {"example": GAMES["example"][0], "media": GAMES["media"][0], "sound": tree}
    pieces = traces.Pieces(path for folder in trees.values() for path in folder.rglob("*") if path.is_file())
    served = traces.Pieces(packs.values())
    site = maker.site()
    site.put("/play/player.json", configuration(**{game: maker.entry(pack, offline=True) for game, pack in packs.items()}))
    profile, temporary = maker.place / f"secrecy-{name}", maker.place / f"temporary-{name}"
    temporary.mkdir()
    with serving(site), traces.environment(TMPDIR=str(temporary)):
        with browser(name, profile) as one:
            expect(first_page(one, site) == "list", f"{one.name}: no list")
            for game, query, scene in (("example", *GAMES["example"][1:]), ("media", *GAMES["media"][1:]), ("sound", "", "done")):
                expect(play(one, f"{site.origin}/play/games/{game}/", query, scene) == scene, f"{one.name}: {game} does not play")
                for path in sorted(path for path in trees[game].rglob("*") if path.is_file()):
                    found = one.run(READ, urllib.parse.quote(str(path.relative_to(trees[game]))))
                    expect(found["status"] == 200, f"{one.name}: {game}: {path}: {found}")
            time.sleep(3)
            found = pieces.search([profile, temporary])
            expect(not found, f"{one.name}: plaintext while it is played: {found[:5]}")
            # Files without a name, which end with the process: Chromium parks the data of images in one (Blink's DiskDataAllocator), and Firefox sound and
            # films over 8 MiB (MediaCache), of any page. Nothing that a page does changes that.
            own = [line for line in pieces.search_open(one.pid) if not re.search(r"/(\.org\.chromium\.Chromium\.|mozilla-temp-)\S* \(deleted\)", line)]
            expect(not own, f"{one.name}: plaintext in open files: {own[:5]}")
        found, count, size = pieces.search([profile, temporary]), *traces.count([profile, temporary])
        expect(not found, f"{one.name}: plaintext in the profile: {found[:5]}")
        kept = served.search([profile])
        expect(len(kept) >= 10, f"{one.name}: the search does not even find the ciphertext: {len(kept)}")
        # Texts of keys, in what is on the disk.
        secret = bytes.fromhex(re.sub(r"[^0-9a-f]", "", maker.key[5:])[:64]) if re.fullmatch(r"pkk1-[0-9a-f-]+", maker.key) else b"\0" * 64
        expect(not traces.Pieces.of([maker.key.encode()]).search([profile, temporary]), f"{one.name}: the text of the key is in the profile")
        print(f"{one.name}: {len(pieces)} pieces of {pieces.files} files are not in {count} files of {size / 1e6:.0f} MB; ciphertext is in {len(kept)}; "
              f"the key's bytes are {'' if traces.Pieces.of([secret]).search([profile]) else 'not '}in the profile")
        with browser(name, maker.place / f"leak-{name}") as one:
            expect(first_page(one, site, "sound") is None, f"{one.name}: does not start")
            one.run(STORE, "long.wav")
            time.sleep(2)
        found = {pathlib.Path(line.split(":")[0]).relative_to(maker.place / f"leak-{name}") for line in pieces.search([maker.place / f"leak-{name}"])}
        print(f"{one.name}: stored on purpose, found in {sorted(map(str, found))}")
        expect(len(found) >= 3, f"{one.name}: plaintext that a page stores is not found: {found}")


# MARK: Web views

def webview(name, maker):
    """The player as the web folder of an app for Android, as Capacitor serves it: the local server answers paths without an extension with the first page."""
    if name != "chromium":
        return
    tree = maker.place / "trees/app"
    packs = {"kinds": maker.pack(write(maker.place / "trees/kinds", KINDS), "app")}
    shutil.copytree(ROOT / ".build/web", tree)
    (tree / "packs").mkdir()
    shutil.copyfile(packs["kinds"], tree / "packs/kinds.pack")
    (tree / "player.json").write_text(configuration(kinds=maker.entry(packs["kinds"], "packs/kinds.pack", isolated=True)))
    site = Site()
    site.mount("/", tree)
    site.fallback = tree / "index.html"
    agent = "Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/150.0.0.0 Mobile Safari/537.36"
    with serving(site), browser(name, maker.place / "webview", flags=(f"--user-agent={agent}",)) as one:
        one.get(f"{site.origin}/")
        state = wait(one, "const { state, error } = document.documentElement.dataset; return error ? `error: ${error}` : state === 'done' && state")
        seen = json.loads(one.look("return document.documentElement.dataset.all"))
        wanted = KINDS_SEEN | {"isolated": True, "shared": 42}
        expect(state == "done" and seen == wanted and one.url == f"{site.origin}/games/kinds/", f"{one.name}: a web view: {state} {one.url} {seen}")
        expect("Version/4.0" in one.look("return navigator.userAgent"), "the browser is no web view")
        # Browsers ask no service worker for what an object or embed element shows (HTML Standard, section 4.8.7).
        passed = [record["path"] for record in site.records if record["path"].startswith("/games/") and record["headers"].get("Sec-Fetch-Dest") != "object"]
        expect(not passed, f"{one.name}: requests for a game go to the server: {passed}")


def release(name, maker):
    """The player that `packer init --web` writes, on a release of `packer build` on another host: played, a new one taken, and one of somebody else refused."""
    if name != "chromium":
        return
    place = maker.place / "release"
    for owner in ("own", "other"):
        write(place / owner, {"packer.yml": "\n".join((
            'serve: {baseURL: "https://cdn.example.com/packs/"}', "key: file:../../key", "signKey: file:sign.key", "web: true", "packs:",
            "  - {id: example, root: game, install: packed, delivery: essential, layout: example.order}",
            '  - {id: "level-${name}", each: "levels/*", delivery: onDemand}', ""))})
        # More packs than a manifest lists itself.
        for number in range(70):
            write(place / owner / "levels" / str(number), {"index.html": f"<!doctype html><title>Level {number}</title>"})
        game = shutil.copytree(GAMES["example"][0], place / owner / "game")
        # Small files first, up to a fifth of the game, which is not what it reads first: it plays all the same.
        files = sorted((path.stat().st_size, path.relative_to(game).as_posix()) for path in game.rglob("*") if path.is_file())
        sums = itertools.accumulate(size for size, _ in files)
        first = [path for (_, path), sum_ in zip(files, sums) if sum_ * 5 <= sum(size for size, _ in files)]
        write(place / owner, {"example.order": "[launch]\n" + "\n".join(first) + "\n"})
        subprocess.run([maker.packer, "key", "new", "--signing", "-o", "sign.key", "-q"], cwd=place / owner, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([maker.packer, "build", "-q"], cwd=place / owner, check=True, stdout=subprocess.DEVNULL)
    own = place / "own"
    subprocess.run([maker.packer, "init", "--web", "site", "--reader", ROOT / ".build/web", "-q"], cwd=own, check=True, stdout=subprocess.DEVNULL)
    settings = json.loads((own / "site/player.json").read_text())
    certificate, key = place / "cdn.pem", place / "cdn.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=cdn.example.com", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    site, cdn = Site(), Site()
    site.mount("/play/", own / "site")
    site.put("/play/player.json", json.dumps(settings | {"key": maker.key}))
    cdn.mount("/packs/", own / "dist")

    def early():
        """On a slow line, neither the manifest nor the worker waits for the largest file of the player."""
        deadline = time.monotonic() + 20
        while not (cdn.requests("/packs/manifest.json") and site.requests("/play/worker.js")) and time.monotonic() < deadline:
            time.sleep(0.05)
        expect(time.monotonic() < deadline, f"{name}: the manifest or the worker is not asked for until packer.wasm is there")

    site.before = {"/play/packer.wasm": early}
    with serving(site), serving(cdn, certificate=(certificate, key)):
        flags = ("--ignore-certificate-errors", f"--host-resolver-rules=MAP cdn.example.com 127.0.0.1:{cdn.port}")
        profile, address = maker.place / "release-profile", f"{site.origin}/play/games/"
        with browser(name, profile, flags=flags) as one:
            expect(first_page(one, site) == "list", f"{one.name}: no list of a release: {said(one)}")
            expect(one.look("return document.querySelectorAll('#list li').length") == 71, f"{one.name}: the list has not all packs of the release")
            expect(play(one, f"{address}example/", *GAMES["example"][1:]) == "playing", f"{one.name}: a game of a release does not play")
            # The worker takes what the page has fetched.
            expect(len(site.requests("/play/packer.wasm")) == 1, f"{one.name}: packer.wasm is asked for {len(site.requests('/play/packer.wasm'))} times")
            leads = [record["path"] for record in cdn.records if record["path"].endswith(".lead")]
            expect(len(leads) == 1, f"{one.name}: the lead was fetched {len(leads)} times")
            one.get(f"{address}level-69/")
            expect(one.look("return document.title") == "Level 69", f"{one.name}: a pack of the catalogue does not play")
        subprocess.run([maker.packer, "publish", "--to", "cdn", "-q"], cwd=own, check=True, stdout=subprocess.DEVNULL)
        (own / "levels/69/index.html").write_text("<!doctype html><title>Level 69, better</title>")
        subprocess.run([maker.packer, "build", "-q"], cwd=own, check=True, stdout=subprocess.DEVNULL)
        with browser(name, profile, flags=flags) as one:
            first_page(one, site)
            one.get(f"{address}level-69/")
            expect(one.look("return document.title") == "Level 69, better", f"{one.name}: the new release is not taken")
            expect(play(one, f"{address}example/", *GAMES["example"][1:]) == "playing", f"{one.name}: a game does not play again")
            again = [record["path"] for record in cdn.records if record["path"].endswith(".lead")]
            expect(again == leads, f"{one.name}: the lead is fetched again, although it was kept: {again}")
            # What is there was accepted, whatever a server says now.
            for folder, hint in ((own / "cdn", "was accepted before"), (place / "other/dist", "trusted key")):
                cdn.put("/packs/manifest.json", (folder / "manifest.json").read_text())
                expect(first_page(one, site) == "list" and hint in said(one), f"{one.name}: no warning of {folder.name}: {said(one)}")
                one.get(f"{address}level-69/")
                expect(one.look("return document.title") == "Level 69, better", f"{one.name}: {folder.name} is taken")
    print(f"{name}: a release with 71 packs, its successor, an older one and a foreign one, as expected")


# MARK: The plugin for Capacitor

# The page of an app, and what it does with the plugin.
APP_PAGE = """<!doctype html><meta charset=utf-8><title>App</title><link rel=icon href="data:,">
<script type=importmap>{"imports": {"@capacitor/core": "./core.mjs", "capacitor-packs": "./plugin/index.js"}}</script>
<script>if (location.search === '?android') window.androidBridge = {};</script>
<script type=module>
import { Packs } from 'capacitor-packs';
const fails = (promise) => promise.then(() => 'no error', ({ code, message }) => [code, message]);
const digest = async (bytes) => Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
const get = async (options, headers) => {
  const response = await fetch((await Packs.url(options)).url, { headers, cache: 'no-store' });
  return [response.status, await digest(await response.arrayBuffer())];
};
const events = [];
window.app = {
  Packs, fails, events,
  // The first calls of a page, made at once: both have to reach the same implementation.
  async begin() {
    const [handle, offers] = await Promise.all([Packs.addListener('progress', (status) => events.push(status)), Packs.offers()]);
    window.handle = handle;
    return offers;
  },
  async ensure(id) {
    events.length = 0;
    const started = performance.now();
    const first = Packs.ensure({ id });
    const second = Packs.ensure({ id });
    const waiting = (await Packs.status({ id })).state;
    await first;
    const time = performance.now() - started;
    await second;
    return { waiting, time, events: [...events], after: await Packs.status({ id }) };
  },
  async refused() {
    const id = 'level';
    return [await fails(Packs.url({ id })), await fails(Packs.read({ id, path: 'hello.txt' })), (await Packs.status({ id: 'none' })).state,
      await fails(Packs.ensure({ id: 'none' }))];
  },
  async files(paths) {
    const id = 'level';
    const picture = new Image();
    picture.src = (await Packs.url({ id, path: 'img/dot.svg' })).url;
    await picture.decode();
    return {
      whole: Object.fromEntries(await Promise.all(paths.map(async (path) => [path, (await get({ id, path }))[1]]))),
      range: (await get({ id, path: 'hello.txt' }, { Range: 'bytes=2-4' })),
      text: (await Packs.read({ id, path: 'hello.txt', encoding: 'utf8' })).data,
      base64: (await Packs.read({ id, path: 'hello.txt', start: 1, end: 5 })).data,
      end: (await Packs.read({ id, path: 'hello.txt', start: 7 })).data,
      empty: (await Packs.read({ id, path: 'empty.txt' })).data,
      large: await digest(Uint8Array.from(atob((await Packs.read({ id, path: 'part1.bin' })).data), (character) => character.charCodeAt(0))),
      name: (await get({ id, path: 'ä b#%.txt' }))[0], width: picture.naturalWidth,
      module: (await import((await Packs.url({ id, path: 'part.mjs' })).url)).part,
      absent: (await get({ id, path: 'none.png' }))[0],
      errors: [await fails(Packs.read({ id, path: 'none.txt' })), await fails(Packs.read({ id, path: 'img' })), await fails(Packs.read({ id, path: 'hello.txt', start: 3, end: 99 })),
        await fails(Packs.read({ id, path: 'hello.txt', start: 3, end: 2 })), await fails(Packs.read({ id, path: 'hello.txt', start: -1 }))].map(([code]) => code),
      after: (await Packs.read({ id, path: 'hello.txt', encoding: 'utf8' })).data,
    };
  },
  async frame(id) {
    const frame = document.createElement('iframe');
    frame.src = (await Packs.url({ id })).url;
    const said = new Promise((done) => addEventListener('message', ({ data }) => done(data), { once: true }));
    document.body.append(frame);
    try { return await said; } finally { frame.remove(); }
  },
  async cancel(id) {
    events.length = 0;
    const running = fails(Packs.ensure({ id }));
    while (!events.some(({ received }) => received > 0)) await new Promise((done) => setTimeout(done, 20));
    await Packs.cancel({ id });
    return { error: await running, status: await Packs.status({ id }), last: events.at(-1), twice: await fails(Packs.cancel({ id })) };
  },
  async remove(id) {
    await Packs.remove({ id });
    const { packs } = await Packs.offers();
    return [await Packs.status({ id }), await fails(Packs.url({ id })), packs.find((pack) => pack.id === id).downloadSize, await fails(Packs.remove({ id: 'none' }))];
  },
};
document.documentElement.dataset.state = 'app';
</script>"""


def plugin_methods():
    """The calls of the plugin, as each of its parts has them."""
    folder = ROOT / "Examples/Capacitor"
    swift, web = (folder / "ios/Sources/PacksPlugin/PacksPlugin.swift").read_text(), (folder / "src/web.js").read_text()
    declared = re.search(r"interface PacksPlugin \{(.*?)\n\}", (folder / "src/definitions.d.ts").read_text(), re.S)[1]
    return {
        "pluginMethods": set(re.findall(r'"(\w+)"', re.search(r"pluginMethods = \[(.*?)\]", swift)[1])),
        "methods for Objective-C": set(re.findall(r"^  @objc func (\w+)\(_ call: CAPPluginCall\)", swift, re.M)),
        "definitions.d.ts": set(re.findall(r"^  (\w+)\(", declared, re.M)) - {"addListener", "removeAllListeners"},
        "web.js": set(re.findall(r"^  (?:async )?(\w+)\([^()]*\) \{", web[web.index("class PacksWeb"):web.index("#with(work)")], re.M))}


@contextlib.contextmanager
def plugin_release(name, maker, place, trees):
    """A release with packs, on another host, and the configuration of a player for it: of a manifest in Chromium, and of packs in Firefox."""
    cdn = Site()
    if name == "firefox":
        cdn.mount("/packs/", maker.place / "packs")
        with serving(cdn):
            packs = {id: maker.pack(tree, id) for id, tree in trees.items()}
            yield cdn, {"packs": {id: maker.entry(pack, f"{cdn.origin}/packs/{pack.name}", version=1) for id, pack in packs.items()}}, {}
        return
    write(place, {"packer.yml": "\n".join((
        'serve: {baseURL: "https://cdn.example.com/packs/"}', "key: file:../key", "signKey: file:sign.key", "web: true", "packs:",
        *(f"  - {{id: {id}, root: {id}, install: packed, delivery: onDemand}}" for id in trees), ""))})
    for command in ("key new --signing -o sign.key -q", "build -q", f"init --web site --reader {ROOT}/.build/web -q"):
        subprocess.run([maker.packer, *command.split()], cwd=place, check=True, stdout=subprocess.DEVNULL)
    certificate, key = place / "cdn.pem", place / "cdn.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=cdn.example.com", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    cdn.mount("/packs/", place / "dist")
    with serving(cdn, certificate=(certificate, key)):
        flags = ("--ignore-certificate-errors", f"--host-resolver-rules=MAP cdn.example.com 127.0.0.1:{cdn.port}")
        yield cdn, json.loads((place / "site/player.json").read_text()), {"flags": flags}


def capacitor_plugin(name, maker):
    """The plugin of Examples/Capacitor over the player, from a page of an app, as on Android and in a browser."""
    methods = plugin_methods()
    expect(len(methods["web.js"]) >= 9 and all(each == methods["web.js"] for each in methods.values()), f"the plugin's parts have other calls: {methods}")
    seed = random.randrange(1 << 32)
    print(f"content of the packs: seed {seed}")
    source = random.Random(seed)
    files = {"hello.txt": "hello, level", "empty.txt": "", "img/dot.svg": KINDS["img/dot.svg"], "part.mjs": "export const part = 'part'", "ä b#%.txt": "name"}
    files |= {f"part{number}.bin": source.randbytes((5 << 20) + number) for number in range(2)}
    page = "<!doctype html><meta charset=utf-8><script>parent.postMessage(`${document.title} at ${location.pathname}`, '*')</script>"
    place = maker.place / f"capacitor-{name}"
    trees = {
        "level": write(place / "level", files),
        "game": write(place / "game", {"index.html": page.replace("<script>", "<title>Game</title><script>")}),
        "large": write(place / "large", {"film.bin": source.randbytes(20 << 20)})}
    digests = {path: hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest() for path, content in files.items()}
    app = maker.place / f"app-{name}"
    shutil.copytree(ROOT / ".build/web", app)
    shutil.copytree(ROOT / "Examples/Capacitor/src", app / "plugin")
    shutil.copyfile(ROOT / "Tests/Web/capacitor.mjs", app / "core.mjs")
    (app / "index.html").write_text(APP_PAGE)
    site = Site()
    site.mount("/", app)
    with plugin_release(name, maker, place, trees) as (cdn, settings, options), serving(site):
        with_key = settings if "packs" in settings else settings | {"key": maker.key}

        def sent(id):
            return sum(record["sent"] for record in cdn.records if f"/{id}" in record["path"])

        def open_app(one, query="", **changes):
            site.put("/player.json", json.dumps(with_key | changes))
            one.get(f"{site.origin}/{query}")
            wait(one, "return document.documentElement.dataset.state")
            return one.run("return window.app.begin()")

        def call(one, method, *values):
            return one.run("return window.app[args[0]](...args.slice(1))", method, *values)

        profile = maker.place / f"capacitor-{name}-profile"
        with browser(name, profile, **options) as one:
            # What an app sees that has not been set up.
            if name == "chromium":
                (app / "player.js").rename(app / "away.js")
                one.get(f"{site.origin}/")
                wait(one, "return document.documentElement.dataset.state")
                got = one.run("return app.fails(app.Packs.offers())")
                expect(got[0] == "no-worker" and "packer init --web" in got[1], f"{one.name}: no player: {got}")
                (app / "away.js").rename(app / "player.js")
                site.put("/player.json", json.dumps(settings))
                one.get(f"{site.origin}/?android")
                wait(one, "return document.documentElement.dataset.state")
                got = one.run("return app.fails(app.Packs.offers())")
                expect(got[0] == "usage" and "key" in got[1], f"{one.name}: no key: {got}")
                wrong = maker.key[:-6] + ("q" if maker.key[-6] != "q" else "p") + maker.key[-5:]
                got = one.run("return app.fails(app.Packs.addKey({ key: args[0] }))", wrong)
                expect(got[0] == "malformed-key", f"{one.name}: a key with a typing error: {got}")
                one.run("await app.Packs.addKey({ id: 'level', key: args[0] })", maker.key)
                got = [pack["id"] for pack in one.run("return app.Packs.offers()")["packs"]]
                expect(got == ["level"], f"{one.name}: a key for one pack: {got}")
                one.run("await app.Packs.addKey({ key: args[0] })", maker.key)
                got = {pack["id"] for pack in one.run("return app.Packs.offers()")["packs"]}
                expect(got == set(trees), f"{one.name}: a key for all packs: {got}")
            offers = open_app(one)
            sizes = {pack["id"]: pack["downloadSize"] for pack in offers["packs"]}
            expect(offers["isComplete"] and set(sizes) == set(trees) and min(sizes.values()) > 0, f"{one.name}: offers: {offers}")
            expect({pack["status"]["state"] for pack in offers["packs"]} == {"absent"}, f"{one.name}: offers: {offers}")
            refused = call(one, "refused")
            expect([refused[0][0], refused[1][0], refused[2], refused[3][0]] == ["not-installed", "not-installed", "absent", "unknown-pack"]
                   and "'none'" in refused[3][1], f"{one.name}: before ensure: {refused}")
            # A download, with its events.
            cdn.line = 8 << 20
            got = call(one, "ensure", "level")
            seen = [event for event in got["events"] if event["state"] == "downloading"]
            arrived = [event["received"] for event in seen]
            last = {"id": "level", "state": "ready", "version": 1}
            expect(len(arrived) >= 2 and arrived == sorted(set(arrived)) and {event["size"] for event in seen} == {sizes["level"]} and arrived[-1] <= sizes["level"],
                   f"{one.name}: progress: {got['events']}")
            expect(got["events"][-1] == last and got["after"] == last and got["waiting"] in ("waiting", "downloading"), f"{one.name}: ensure: {got}")
            print(f"{one.name}: {sizes['level'] / 1e6:.1f} MB in {got['time'] / 1000:.1f} s, progress {arrived}")
            before = sent("level")
            expect(before <= sizes["level"] + (4 << 20), f"{one.name}: {before} bytes were sent for {sizes['level']}")
            cdn.line = 0
            seen = call(one, "files", list(files))
            wanted = {
                "whole": digests, "range": [206, hashlib.sha256(b"llo").hexdigest()], "text": "hello, level", "base64": "ZWxsbw==", "end": "bGV2ZWw=", "empty": "",
                "large": digests["part1.bin"], "name": 200, "width": 9, "module": "part", "absent": 404, "after": "hello, level",
                "errors": ["no-such-entry", "no-such-entry", "range-not-satisfiable", "range-not-satisfiable", "range-not-satisfiable"]}
            expect(seen == wanted, f"{one.name}: files: { {key: (value, wanted.get(key)) for key, value in seen.items() if value != wanted.get(key)} }")
            expect(sent("level") == before, f"{one.name}: {sent('level') - before} bytes are fetched of a pack that is ready")
            call(one, "ensure", "game")
            got = call(one, "frame", "game")
            expect(got == "Game at /games/game/", f"{one.name}: a page of a pack: {got}")
            # Cancelled, then resumed.
            cdn.line = 4 << 20
            got = call(one, "cancel", "large")
            expect(got["error"][0] == "cancelled" and got["twice"] == "no error", f"{one.name}: cancel: {got}")
            expect(got["status"]["state"] == "failed" and got["status"]["error"]["code"] == "cancelled" and got["last"] == got["status"], f"{one.name}: cancel: {got}")
            cdn.line = 0
            got = call(one, "ensure", "large")
            expect(got["after"]["state"] == "ready", f"{one.name}: resumed: {got['after']}")
            again = sent("large") - sizes["large"]
            print(f"{one.name}: cancelled and resumed: {again / 1e6:.1f} MB of {sizes['large'] / 1e6:.1f} MB were sent twice")
            expect(again <= 8 << 20, f"{one.name}: resumed: {again} bytes were sent twice")
            # Removed, then fetched again.
            got = call(one, "remove", "large")
            expect(got[0]["state"] == "absent" and got[1][0] == "not-installed" and got[2] == sizes["large"] and got[3] == "no error", f"{one.name}: remove: {got}")
            before = sent("large")
            expect(call(one, "ensure", "large")["after"]["state"] == "ready" and sent("large") - before >= sizes["large"], f"{one.name}: after remove: not fetched")
            # A listener that is removed hears nothing.
            call(one, "remove", "game")
            one.run("await window.handle.remove()")
            expect(call(one, "ensure", "game")["events"] == [], f"{one.name}: a listener that was removed is told")
            # A server that fails: what it is stays known until the next try.
            call(one, "remove", "game")
            paths = {record["path"] for record in cdn.records if "/game" in record["path"] and record["path"].endswith(".pack")}
            cdn.faults = {path: ("500", None) for path in paths}
            got = one.run("return [await app.fails(app.Packs.ensure({ id: 'game' })), await app.Packs.status({ id: 'game' })]")
            expect(paths and got[0][0] == "cannot-read" and "answers 500" in got[0][1] and got[1]["error"]["code"] == "cannot-read", f"{one.name}: a server that fails: {got}")
            cdn.faults = {}
            expect(call(one, "ensure", "game")["after"]["state"] == "ready", f"{one.name}: does not come when the server is mended")
        # The next start, without a network.
        cdn.is_down = True
        with browser(name, profile, **options) as one:
            offers = open_app(one, "?android")
            expect(offers["isComplete"] is ("packs" in settings) and {pack["id"] for pack in offers["packs"]} == set(trees), f"{one.name}: offline: {offers}")
            expect({pack["status"]["state"] for pack in offers["packs"]} == {"ready"} and {pack["downloadSize"] for pack in offers["packs"]} == {0},
                   f"{one.name}: offline: {offers}")
            expect(call(one, "refused")[0][0] == "not-installed", f"{one.name}: offline: a pack that this page did not ask for")
            got = call(one, "ensure", "level")
            expect(got["after"]["state"] == "ready" and got["time"] < 10_000, f"{one.name}: offline: {got}")
            expect(call(one, "files", ["part0.bin"])["whole"]["part0.bin"] == digests["part0.bin"], f"{one.name}: offline: other bytes")
            # A page that was loaded past the worker, as a developer does it.
            if name == "chromium":
                one.driver.execute_cdp_cmd("Page.reload", {"ignoreCache": True})
                time.sleep(1)
                wait(one, "return document.documentElement.dataset.state")
                expect(one.look("return navigator.serviceWorker.controller") is None, f"{one.name}: a page that is loaded again has a worker")
                call(one, "ensure", "level")
                got = call(one, "files", ["part0.bin"])["whole"]["part0.bin"]
                expect(got == digests["part0.bin"], f"{one.name}: a page that was loaded past the worker: {got}")
                call(one, "remove", "large")
                got = one.run("return app.fails(app.Packs.ensure({ id: 'large' }))")
                expect(got[0] == "cannot-read" and "cannot be fetched" in got[1], f"{one.name}: offline: a pack that is not kept: {got}")
        cdn.is_down = False
        if name == "chromium":
            with browser(name, maker.place / f"capacitor-{name}-full", **options) as one:
                one.get(f"{site.origin}/")
                one.limit(site.origin, 12 << 20)
                open_app(one)
                got = one.run("return app.fails(app.Packs.ensure({ id: 'large' }))")
                expect(got[0] == "no-space", f"{one.name}: a full disk: {got}")


PARTS = {
    "vectors": vectors, "games": games, "release": release, "webview": webview, "capacitor": capacitor_plugin, "faults": faults, "room": room, "versions": versions, "secrecy": secrecy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--browser", action="append", choices=["chromium", "firefox"])
    parser.add_argument("--keep", type=pathlib.Path, help="a directory for pictures of the games")
    parser.add_argument("--game", type=pathlib.Path, help="the directory of another game, in the place of the parts")
    parser.add_argument("--capacitor", action="store_true", help="as in an app of Capacitor on Android, only in Chromium")
    parser.add_argument("--isolated", action="store_true", help="give it SharedArrayBuffer")
    parser.add_argument("--seconds", type=float, default=6, help="how long it is watched")
    parser.add_argument("--line", type=int, default=0, help="how many bytes come in a second, so that a place in a medium is asked for")
    parser.add_argument("--do", action="append", default=[], help="JavaScript that goes on in the game, after which it is watched as long again")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="packer-player.") as place:
        maker = Maker(pathlib.Path(options.packer).resolve(), pathlib.Path(place))
        for part in ["game"] if options.game else options.parts or PARTS:
            for name in options.browser or ("chromium", "firefox"):
                start, before = time.monotonic(), len(failures)
                try:
                    if options.game:
                        own_game(name, maker, options)
                    else:
                        PARTS[part](name, maker, *([options.keep] if part == "games" else []))
                except (AssertionError, ScriptError) as error:
                    expect(False, f"{name}: {part}: {error}")
                print(f"{part} in {name}: {len(failures) - before} failures, {time.monotonic() - start:.0f} s", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
