#!/usr/bin/env python3
"""Opens the pages of Tests/Web/conformance in WebKitGTK, Chromium and Firefox ESR, each from nginx and out of packs, and prints what they find as a table.

WebKitGTK has the packs as `pack://`, by the C interface (webview.c), the browsers by `packer serve`. Each row says what it gives where all is well; what
differs somewhere is in DIFFERENCES with its reason, so that a change on either side is noticed. Then mends are left out, one after the other, and the rows that
they are for must fail. At last two games are played in WebKitGTK, from their packs and from nginx, without requests that fail on one side only. With --game DIR,
only that game is.
"""

import argparse
import contextlib
import gzip
import json
import os
import pathlib
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import zlib

import webkit

ROOT = webkit.ROOT
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
sys.path.insert(0, str(ROOT / "Tests" / "Browser"))
from play import colours, difference  # noqa: E402
from servers import NGINX, TYPES, free_port, nginx, packer_serve, stop, user  # noqa: E402

PAGES = ROOT / "Tests/Web/conformance"
POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src *"
PLACES = ["WebKit nginx", "WebKit pack", "Chromium nginx", "Chromium serve", "Firefox nginx", "Firefox serve"]
PACKS = ("main", "open", "closed", "isolated", "outside")

# What differs and why: a reason, the words that a place must have, and the rows with the value there.
DIFFERENCES = [
    ("nginx sends no X-Content-Type-Options, and has service workers, as any server at a name of this machine has. Packs have none: WebKit has none for an "
     "app's scheme, and `packer serve` refuses them unless it is asked for them.",
     "nginx", {"script of a wrong type": "loaded", "service worker": "registered"}),
    ("The media player of WebKitGTK (GStreamer) loads http, https, blob, data and file only. It asks for 1446 bytes to find the type, and gives up.",
     "WebKit pack", {"film, seeks": "error 4", "film, picture in a canvas": "error 4", "music, seeks": "error 4", "music, plays": "NotSupportedError"}),
    ("WebKit sends no preflight to an app's scheme, so what it would refuse arrives. The response is checked.",
     "WebKit pack", {"CORS, allowed: other field (asks first)": "200"}),
    ("WebKit does not check CORS for fonts.", "WebKit", {"CORS, not allowed: font": "loaded"}),
    ("The Cache API is for http and https, by its standard, and cookies are, in WebKit.",
     "WebKit pack", {"Cache API": "TypeError", "Cache API after a restart": "lost", "cookies": "none"}),
    ("WebKitGTK has no private files.", "WebKit", {"private files": "TypeError", "private files after a restart": "TypeError"}),
    ("WebKitGTK has no SharedArrayBuffer.", "WebKit", {"SharedArrayBuffer in a worker": "ReferenceError", "shared memory of WebAssembly in a worker": "DataCloneError"}),
    ("WebKit isolates a page, and refuses what has no CORP, when its network process loads it. What an app's scheme serves does not pass there.",
     "WebKit pack", {"isolated": "false", "isolated: image of another origin, without": "loaded"}),
    ("Firefox reports the fault as an event.", "Firefox", {"other origin: worker": "blocked"}),
    ("Firefox has no WebGL without a graphics card.", "Firefox", {"image in a texture": "no WebGL"}),
    ("`packer serve` has no mounts, and answers pages of other origins with 403: a game of this machine must not be read by any site.",
     "serve", {
         "another pack in a directory": "TypeError", "CORS, allowed: fetch": "TypeError", "CORS, allowed: range": "TypeError",
         "CORS, allowed: If-None-Match (asks first)": "TypeError", "CORS, allowed: module": "TypeError", "CORS, allowed: font": "NetworkError",
         "CORS, allowed: image": "blocked", "CORS, not allowed: image to look at": "blocked", "other origin: classic script": "blocked",
         "other origin: frame, its storage": "nothing happens", "page of another scheme, allowed: fetch": "TypeError",
         "page of another scheme, allowed: module": "TypeError", "page of another scheme: game in a frame": "nothing happens",
         "isolated: image of another origin, with CORP": "blocked"}),
]

# Faults that were mended: the rows that fail again without the mend.
MENDS = {
    "charset": {"Shift_JIS page that says so"},
    "directories": {"directory, without one", "directory, fetched without one"},
    "mounts": {"another pack in a directory"},
    "allowed origins": {
        "CORS, allowed: fetch", "CORS, allowed: range", "CORS, allowed: If-None-Match (asks first)", "CORS, allowed: module", "CORS, allowed: image"},
}

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def picture(red):
    """A PNG of one point."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes([0, red, 0, 0]))) + chunk(b"IEND", b"")


def brotli(data):
    """A stream of one block that is stored (RFC 7932 §9.2)."""
    return (0x0b | (len(data) - 1) << 7 | 1 << 23).to_bytes(3, "little") + data + b"\x03"


def trees(place):
    """The files of each pack: those of the repository, and those that are made."""
    code = b"window.unpacked = true;\n"
    made = {
        "sum.wasm": bytes.fromhex("0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b"), "dot.png": picture(255),
        "font.ttf": pathlib.Path(subprocess.run(["fc-match", "-f", "%{file}", "DejaVu Sans:fontformat=TrueType"], check=True, capture_output=True, text=True).stdout).read_bytes(),
        "data/ä b.json": b'{ "word": "Umlaut" }', "data/code.js.br": brotli(code), "data/code.js.gz": gzip.compress(code, mtime=0),
    }
    for name in PACKS:
        tree = place / name
        shutil.copytree(PAGES / ("open" if name == "closed" else name), tree)
        for file in made if name == "main" else ("sum.wasm",) if name == "isolated" else ("font.ttf", "dot.png"):
            (tree / file).parent.mkdir(exist_ok=True)
            (tree / file).write_bytes(made[file])
        if name in ("isolated", "outside"):
            (tree / "js").mkdir()
            shutil.copy(PAGES / "main/js/rows.js", tree / "js")
    shutil.copytree(ROOT / "Tests/Games/media/game/media", place / "main/media")


@contextlib.contextmanager
def plain(place):
    """nginx with the same files and fields, at the same names; gives the address of each."""
    port = free_port()
    work = place / "nginx"
    work.mkdir()
    both = f"http://main.localhost:{port} http://outside.localhost:{port}"
    fields = {
        "open": "add_header Access-Control-Allow-Origin $allowed; add_header Access-Control-Expose-Headers 'Content-Range, ETag'; add_header Vary Origin;"
                "add_header Cross-Origin-Resource-Policy cross-origin;"
                "if ($request_method = OPTIONS) { add_header Access-Control-Allow-Origin $allowed; add_header Access-Control-Allow-Headers 'If-None-Match, Range'; return 204; }",
        "isolated": "add_header Cross-Origin-Opener-Policy same-origin; add_header Cross-Origin-Embedder-Policy require-corp;"
                    f"add_header Content-Security-Policy \"{POLICY}\";",
    }
    servers = "".join(
        f"server {{ listen 127.0.0.1:{port}; server_name {name}.localhost; root {place / name}; absolute_redirect off; location / {{ {fields.get(name, '')} }}"
        f"{f'location /engine/ {{ alias {place}/open/; }}' if name == 'main' else ''} }}\n" for name in PACKS)
    temporary = "".join(f"{kind}_temp_path {work}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (work / "nginx.conf").write_text(
        f"daemon off; pid {work}/pid; error_log {work}/errors.log; events {{ }}\nhttp {{ access_log off; {temporary} {TYPES}\n"
        f"map $http_origin $allowed {{ default ''; {''.join(f'{origin} {origin}; ' for origin in both.split())} }}\n{servers} }}\n")
    process = subprocess.Popen([NGINX, "-p", work, "-c", work / "nginx.conf", "-g", user()], stderr=subprocess.PIPE, text=True)
    try:
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise RuntimeError(f"nginx does not start: {process.stderr.read()}")
            time.sleep(0.02)
        yield lambda name: f"http://{name}.localhost:{port}"
    finally:
        stop(process)
        shutil.rmtree(work)


class Bench:
    """The packs, and all that opens them."""

    def __init__(self, packer, program, display, place):
        self.packer, self.program, self.display, self.place = packer, program, display, place
        self.count = 0
        self.key = place / "key"
        self.run("key", "new", "-o", self.key)
        trees(place)
        for name in PACKS:
            self.run("pack", place / name, "-o", place / f"{name}.pack", "--key", self.key, "--quiet")

    def run(self, *arguments):
        done = subprocess.run([self.packer, *arguments], cwd=self.place, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"packer {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")

    def release(self):
        """Builds a release of the same packs, for what needs one."""
        if (self.place / "dist").exists():
            return
        self.run("key", "new", "--signing", "-o", "sign.key")
        (self.place / "packer.yml").write_text(
            "serve: {baseURL: https://cdn.example.com/packs/}\nkey: file:key\nsignKey: file:sign.key\npacks:\n"
            + "".join(f"  - {{id: {name}, root: {name}}}\n" for name in PACKS))
        self.run("build", "--quiet")

    def folder(self):
        self.count += 1
        return self.place / f"profile-{self.count}"

    def browser(self, engine, folder):
        if engine == "WebKit":
            return webkit.WebKit(self.program, self.display, folder)
        from browsers import BROWSERS
        return BROWSERS[engine.lower()](folder)

    def webkit(self, folder, without=None):
        """A web view with all packs, without one of the mends."""
        one = webkit.WebKit(self.program, self.display, folder)
        for name in PACKS:
            one.call("pack", name, self.place / f"{name}.pack", self.key)
        if without != "allowed origins":
            one.call("set", "open", "allowed-origins", "pack://main app://outside")
        one.call("set", "open", "resource-policy", "cross-origin")
        one.call("set", "isolated", "isolated", "true")
        one.call("set", "isolated", "content-security-policy", POLICY)
        if without != "mounts":
            one.call("mount", "main", "engine", "open")
        if without in ("charset", "directories"):
            one.call("undo", "main", without)
        return one


def look(one, at, name, page=""):
    """The rows of a page: name, what it should give, what it gave."""
    one.get(f"{at(name)}/{page}?" + "&".join(f"{each}={at(each)}" for each in ("main", "open", "closed")))
    deadline = time.monotonic() + 100
    while one.look("return document.documentElement.dataset.state") != "done":
        if time.monotonic() > deadline:
            raise RuntimeError(f"{at(name)}/{page} is not done: {one.look('return document.body.innerText')}")
        time.sleep(0.05)
    return one.look("return found")


def pages(start, at, at_isolated=None):
    """All rows of one place, by name."""
    found = []
    one = start()
    try:
        found += look(one, at, "main") + look(one, at, "outside")
    finally:
        one.quit()
    one = start()
    try:
        found += look(one, at, "main", "kept.html")
        if at_isolated is None:
            found += look(one, at, "isolated")
    finally:
        one.quit()
    return found


def mends(bench, table):
    """Leaves out each mend, and looks which rows of the main page are other than with it."""
    for mend, rows in MENDS.items():
        one = bench.webkit(bench.folder(), mend)
        try:
            found = {name: value for name, _, value in look(one, at_scheme, "main")}
        finally:
            one.quit()
        changed = {name for name, value in found.items() if value != table[name][1]}
        # What it says in the table is known by its row.
        print(f"Without the mend '{mend}': " + "; ".join(f"{name}: {found[name]}" for name in sorted(changed)))
        expect(changed - {"CORS, allowed: other field (asks first)"} == rows, f"without '{mend}' other rows change than {sorted(rows)}: {sorted(changed)}")


def gate(bench):
    """What a web view does not decode is refused before it is released."""
    bench.release()
    done = subprocess.run([bench.packer, "verify", "-c", "packer.yml", "dist"], cwd=bench.place, capture_output=True, text=True)
    expect(done.returncode == 1 and re.search(r"error PK6020: main: .*\n +data/code\.js\.br\n +data/code\.js\.gz", done.stdout), f"packer verify lets compressed files through: {done.stdout}")
    print("packer verify: " + next((line for line in done.stdout.splitlines() if "PK6020" in line), "nothing"))


class Game:
    def __init__(self, name, tree, query="", scene=None, seconds=6.0, deeds=()):
        self.name, self.tree, self.query, self.scene, self.seconds, self.deeds = name, pathlib.Path(tree), query, scene, seconds, deeds


GAMES = [
    Game("example", ROOT / "Examples/HTML5Game/game", "?demo=1&mute=1&seed=7&lang=en", "playing", 4),
    Game("modules", ROOT / "Tests/Games/modules/game", "?seed=3&steps=120", "done", 0),
]


def play(bench, game, keep):
    """Plays a game in WebKitGTK from its pack and from nginx, and compares what is asked for and what goes wrong."""
    pack, pictures, failed, asked = bench.place / f"{game.name}.pack", {}, {}, {}
    bench.run("pack", game.tree, "-o", pack, "--key", bench.key, "--quiet")
    for source in ("nginx", "pack"):
        folder = bench.folder()
        log = bench.place / f"{game.name}.log"
        one = webkit.WebKit(bench.program, bench.display, folder)
        try:
            with nginx(game.tree, bench.place / "nginx", log=log) if source == "nginx" else contextlib.nullcontext("pack://game/") as url:
                one.call("pack", "game", pack, bench.key)
                one.get(url + game.query)
                deadline = time.monotonic() + 60
                while game.scene and one.look("return document.documentElement.dataset.state") != game.scene:
                    if time.monotonic() > deadline:
                        expect(False, f"{game.name}, {source}: the scene '{game.scene}' does not come: {one.look('return document.documentElement.dataset.error')}")
                        break
                    time.sleep(0.05)
                for deed in ("", *game.deeds):
                    one.look(deed)
                    time.sleep(game.seconds)
                pictures[source] = one.picture()
                said = [line.replace(url, "/") for line in one.said if line and re.search(r"CONSOLE .*ERROR|^failed", line)]
        finally:
            one.quit()
        if source == "nginx":
            requests = [(path, status) for _, path, _, status in map(json.loads, log.read_text().splitlines())]
        else:
            requests = [(parts[1].removeprefix("pack://game"), int(parts[3])) for parts in (line.split("\t") for line in one.lines("request"))]
        # WebKit sends the fragment to an app's scheme.
        requests = [(re.split("[?#]", path)[0], status) for path, status in requests if path != "/favicon.ico"]
        asked[source] = {path for path, _ in requests}
        failed[source] = {f"{status} {path}" for path, status in requests if status >= 400} | set(said)
        if keep:
            (pathlib.Path(keep) / f"{game.name}-{source}.png").write_bytes(pictures[source])
    print(f"{game.name}: {len(asked['pack'])} files from the pack, {len(asked['nginx'])} from nginx, {colours(pictures['pack'])} colours, "
          f"{difference(pictures['pack'], pictures['nginx']) * 100:.1f} % of the points differ")
    for source, lines in failed.items():
        for line in sorted(lines):
            print(f"  {source}: {line}")
    expect(failed["pack"] <= failed["nginx"], f"{game.name}: fails from the pack: {sorted(failed['pack'] - failed['nginx'])}")
    expect(asked["pack"] == asked["nginx"], f"{game.name}: asked for on one side: {sorted(asked['pack'] ^ asked['nginx'])}")
    expect(colours(pictures["pack"]) > 3, f"{game.name}: the picture shows nothing")


def at_scheme(name):
    return f"{'app' if name == 'outside' else 'pack'}://{name}"


def all_places(bench, chosen):
    """What each place found, by place and row."""
    table = {}
    for place in chosen:
        engine, source = place.split()
        folder, start = bench.folder(), time.monotonic()
        if source == "nginx":
            with plain(bench.place) as at:
                found = pages(lambda: bench.browser(engine, folder), at)
        elif source == "pack":
            found = pages(lambda: bench.webkit(folder), at_scheme)
        else:
            found = served(bench, engine, folder)
        table[place] = {name: (expected, value) for name, expected, value in found}
        print(f"{place}: {len(found)} rows, {time.monotonic() - start:.1f} s", file=sys.stderr)
    return table


def served(bench, engine, folder):
    """The rows of a browser and `packer serve`, of which the options are for all games."""
    bench.release()
    with packer_serve(bench.packer, bench.place / "dist", "--key", bench.key) as one:
        port = one.port
        found = pages(lambda: bench.browser(engine, folder), lambda name: f"http://{name}.localhost:{port}", "later")
    with packer_serve(bench.packer, bench.place / "dist", "--key", bench.key, "--isolated", "--csp", POLICY, port=port):
        one = bench.browser(engine, folder)
        try:
            return found + look(one, lambda name: f"http://{name}.localhost:{port}", "isolated")
        finally:
            one.quit()


def explained(row, place, expected):
    """What a row should give at a place, and the reason if it is not what it gives elsewhere."""
    for reason, words, rows in DIFFERENCES:
        if row in rows and set(words.split()) <= set(place.split()):
            return rows[row], reason
    return expected, None


def judge(table):
    """Prints the table, and compares it with what is known."""
    rows, reasons = {}, []
    for found in table.values():
        for row, (expected, _) in found.items():
            rows.setdefault(row, expected)
    print("| | expected | " + " | ".join(table) + " |\n" + "|---" * (len(table) + 2) + "|")
    for row, expected in rows.items():
        cells = []
        for place, found in table.items():
            expected_here, value = found.get(row, (expected, "missing"))
            wanted, reason = explained(row, place, expected_here)
            expect(value == wanted, f"{place}: {row}: '{value}' instead of '{wanted}'")
            if reason and reason not in reasons:
                reasons.append(reason)
            mark = "✓" if value == expected_here else value
            cells.append(mark + (f" [{reasons.index(reason) + 1}]" if reason else ""))
        print(f"| {row} | {expected} | " + " | ".join(cells) + " |")
    for number, reason in enumerate(reasons, 1):
        print(f"{number}. {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--place", action="append", choices=PLACES, help="only these places of the table")
    parser.add_argument("--game", action="append", default=[], help="the directory of a game, played in WebKitGTK in the place of the table and the own games")
    parser.add_argument("--query", default="", help="what is behind its address: ?level=3")
    parser.add_argument("--seconds", type=float, default=6, help="how long it is watched")
    parser.add_argument("--do", action="append", default=[], help="JavaScript that goes on in the game, after which it is watched as long again")
    parser.add_argument("--keep", help="a directory for the pictures of games")
    options = parser.parse_args()
    packer = pathlib.Path(options.packer).resolve()
    with tempfile.TemporaryDirectory(prefix="packer-conformance.") as name, contextlib.ExitStack() as stack:
        place = pathlib.Path(name)
        # The workers of root's nginx are another user.
        place.chmod(0o755)
        program, chosen = webkit.build(place, packer.parent), options.place or PLACES
        if not program:
            print("skipped: WebKit, because the package libwebkit2gtk-4.1-dev is missing", file=sys.stderr)
            chosen = [each for each in chosen if "WebKit" not in each]
        bench = Bench(packer, program, stack.enter_context(webkit.screen()) if program else None, place)
        if not options.game:
            table = all_places(bench, chosen)
            judge(table)
            if "WebKit pack" in table:
                mends(bench, table["WebKit pack"])
            gate(bench)
        games = [Game(pathlib.Path(path).resolve().name, path, options.query, None, options.seconds, options.do) for path in options.game]
        for game in (games or GAMES) if program else ():
            play(bench, game, options.keep)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
