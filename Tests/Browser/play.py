#!/usr/bin/env python3
"""Plays games in headless Chromium, each out of its encrypted pack (`packer serve`) and as plain files (nginx), and compares what is seen.

Without arguments: the example and the games under Tests/Games, each to a scene that is the same every time. With --game DIR: any game that
runs in a browser, to where it is after some seconds of a clock that stands still while the browser works; the pictures may then differ
in what depends on how fast something was loaded, and the share of points that differ is told.

No error may be on the console, the pictures must be the same, places in media must have been fetched with ranges, and `packer serve` must not have
opened a single file for writing (strace sees all of them); nothing of the games may stand in the directories that were its own, or in the browser's.
"""

import argparse
import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
from servers import nginx, packer_serve  # noqa: E402

# A clock that moves when it is told to, and chance that is the same every time. Put into every page before its own code.
CLOCK = """
(() => {
  let now = 1000, last = 0, seed = 1, between = false;
  const frames = new Map(), intervals = new Map();
  const start = 1.7e12;
  performance.now = () => now;
  Date.now = () => start + now;
  Math.random = () => { seed = Math.imul(seed, 48271) % 2147483647; return (seed >>> 0) / 4294967296; };
  window.requestAnimationFrame = (call) => { frames.set(++last, call); return last; };
  window.cancelAnimationFrame = (id) => frames.delete(id);
  window.setInterval = (call, period, ...rest) => {
    intervals.set(++last, { call: () => typeof call === "string" ? eval(call) : call(...rest), period: Math.max(1, +period || 0), due: now + Math.max(1, +period || 0) });
    // A game that counts steps of a sixtieth since it set its timer must not be asked exactly at the end of one: rounding would then decide
    // whether a step is done now or with the next frame, and it depends on how long the game was loading.
    if (!between) {
      between = true;
      now += 1000 / 120;
    }
    return last;
  };
  const clear = window.clearTimeout;
  window.clearInterval = (id) => { if (!intervals.delete(id)) clear(id); };
  window.clearTimeout = (id) => { if (!intervals.delete(id)) clear(id); };
  Object.defineProperty(window, "__step", { value: (count, until, every = 1) => {
    for (let step = 0; step < count; step += 1) {
      if (until && document.documentElement.dataset.state === until) return true;
      now += 1000 / 60;
      for (const interval of [...intervals.values()]) {
        while (interval.due <= now) { interval.due += interval.period; interval.call(); }
      }
      if (step % every && step + 1 < count) continue;
      const due = [...frames.values()];
      frames.clear();
      for (const call of due) call(now);
    }
    return !!until && document.documentElement.dataset.state === until;
  } });
})();
"""


class Game:
    def __init__(self, name, tree, query="", scene=None, steps=0, ranges=(), exact=True, seconds=0, line=0, deeds=()):
        self.name, self.tree, self.query = name, pathlib.Path(tree), query
        self.scene, self.steps, self.ranges, self.exact, self.seconds, self.line = scene, steps, ranges, exact, seconds, line
        self.deeds = deeds


GAMES = [
    Game("example", ROOT / "Examples/HTML5Game/game", "?demo=1&mute=1&seed=7&lang=en", scene="playing", steps=240),
    Game("modules", ROOT / "Tests/Games/modules/game", "?seed=3&steps=120", scene="done"),
    Game("media", ROOT / "Tests/Games/media/game", "?cuts=40,5,31.5,12", scene="done", ranges=("film.webm", "music.ogg"), line=400_000),
]


@contextlib.contextmanager
def browser(profile, clock):
    options = Options()
    options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
    for flag in (
            "--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1", "--window-size=900,700", "--mute-audio",
            "--autoplay-policy=no-user-gesture-required", "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--disable-default-apps", "--disable-extensions", "--use-gl=angle", "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver"))
    try:
        if clock:
            driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": CLOCK})
        yield driver
    finally:
        driver.quit()


def play(driver, url, game, clock):
    """The picture of the scene, and the lines of the console that are errors."""
    driver.get_log("browser")
    if game.line:
        # On a line as fast as this machine a film is there as a whole before anybody could look for a place in it.
        driver.execute_cdp_cmd("Network.enable", {})
        driver.execute_cdp_cmd(
            "Network.emulateNetworkConditions", {"offline": False, "latency": 0, "downloadThroughput": game.line, "uploadThroughput": -1})
    driver.get(url + game.query)
    state = "return [document.documentElement.dataset.state, document.documentElement.dataset.error]"
    deadline = time.monotonic() + 60
    if game.scene:
        while True:
            if clock:
                driver.execute_script("__step(30, arguments[0], 30)", game.scene)
            reached, error = driver.execute_script(state)
            if error:
                raise AssertionError(f"{game.name} says: {error}")
            if reached == game.scene:
                break
            if time.monotonic() > deadline:
                raise AssertionError(f"{game.name} is still '{reached}', and not '{game.scene}'")
            time.sleep(0.01)
        if clock:
            driver.execute_script("__step(arguments[0], null, 30)", game.steps)
    else:
        # What is loaded is waited for in real time, and then the clock goes on.
        for deed in ("", *game.deeds):
            driver.execute_script(deed)
            for _ in range(max(1, int(game.seconds * 4))):
                time.sleep(0.25)
                if clock:
                    driver.execute_script("__step(5)")
    picture = None
    # While the clock stands still nothing is drawn any more; what was drawn last may not have reached the picture yet.
    for _ in range(20 if clock else 1):
        time.sleep(0.15)
        before, picture = picture, base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
        if picture == before:
            break
    errors = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    return picture, errors


def points(png):
    """The bytes of all points of an 8-bit picture, without filters."""
    position, data, width, height, channels = 8, b"", 0, 0, 4
    while position < len(png):
        length, kind = struct.unpack(">I4s", png[position:position + 8])
        body = png[position + 8:position + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
            channels = {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            data += body
        position += 12 + length
    raw, stride, rows = zlib.decompress(data), width * channels, []
    above = bytearray(stride)
    for row in range(height):
        kind, line = raw[row * (stride + 1)], bytearray(raw[row * (stride + 1) + 1:(row + 1) * (stride + 1)])
        for index in range(stride) if kind else ():
            left = line[index - channels] if index >= channels else 0
            corner = above[index - channels] if index >= channels else 0
            if kind == 1:
                guess = left
            elif kind == 2:
                guess = above[index]
            elif kind == 3:
                guess = (left + above[index]) // 2
            else:
                a, b, c = abs(above[index] - corner), abs(left - corner), abs(left + above[index] - 2 * corner)
                guess = left if a <= b and a <= c else above[index] if b <= c else corner
            line[index] = (line[index] + guess) & 255
        rows.append(bytes(line))
        above = line
    return rows, channels


def difference(one, other):
    """The share of points that differ."""
    if one == other:
        return 0.0
    (left, channels), (right, _) = points(one), points(other)
    if len(left) != len(right) or len(left[0]) != len(right[0]):
        return 1.0
    wrong = 0
    for row, twin in zip(left, right):
        if row != twin:
            wrong += sum(row[i:i + channels] != twin[i:i + channels] for i in range(0, len(row), channels))
    return wrong / (len(left) * len(left[0]) / channels)


def colours(png):
    """How many colours a picture has: one alone is a page that shows nothing."""
    rows, channels = points(png)
    found = set()
    for row in rows[::4]:
        found.update(row[i:i + channels] for i in range(0, len(row), channels * 4))
    return len(found)


# What opens, makes or changes a file. Calls that only read one come along with the first two.
TRACED = "open,openat,openat2,creat,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mknod,mknodat,truncate,ftruncate,memfd_create"


def written(trace):
    """What a traced process opened for writing or made, but for devices that keep nothing."""
    found = []
    for line in trace.read_text(errors="replace").splitlines():
        call = re.search(r"\b(\w+)\((.*)", line)
        if not call or re.search(r"= -1 ", line):
            continue
        name, rest = call.groups()
        if name in ("open", "openat", "openat2"):
            if not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|O_TRUNC|O_APPEND", rest) or '"/dev/null"' in rest:
                continue
        elif name not in TRACED.split(","):
            continue
        found.append(line.strip())
    return found


def chunks(tree):
    """Pieces of the files of a tree that are nowhere else by chance."""
    found = set()
    for path in sorted(tree.rglob("*")):
        if not path.is_file():
            continue
        data = path.read_bytes()
        for start in {0, len(data) // 3, len(data) // 2, max(0, len(data) - 64)}:
            piece = data[start:start + 64]
            if len(piece) == 64 and len(set(piece)) >= 12:
                found.add(piece)
    return found


def plaintext(pieces, directories):
    """Files below the directories that hold one of the pieces."""
    pattern = re.compile(b"|".join(map(re.escape, pieces)))
    found = []
    for directory in directories:
        for path in pathlib.Path(directory).rglob("*"):
            with contextlib.suppress(OSError):
                if path.is_file() and not path.is_symlink() and (match := pattern.search(path.read_bytes())):
                    found.append(f"{path}: {match.group()[:32]!r}")
    return found


def check(game, packer, place, keep, clock):
    wrong, told = [], []
    key, pack = place / "key", place / f"{game.name}.pack"
    if not key.exists():
        subprocess.run([packer, "key", "new", "-o", key], check=True, stdout=subprocess.DEVNULL)
    packed = subprocess.run([packer, "pack", game.tree, "-o", pack, "--key", key, "--quiet"], capture_output=True, text=True)
    if packed.returncode:
        return [packed.stderr], told
    size = sum(path.stat().st_size for path in game.tree.rglob("*") if path.is_file())
    told.append(f"{size / 1e6:.1f} MB in {sum(path.is_file() for path in game.tree.rglob('*'))} files")

    private = place / f"private-{game.name}"
    for name in ("home", "tmp", "work"):
        (private / name).mkdir(parents=True)
    environment = dict(os.environ, HOME=str(private / "home"), TMPDIR=str(private / "tmp"))
    trace = place / f"trace-{game.name}"
    strace = ("strace", "-D", "-f", "-qq", "--seccomp-bpf", "-s", "256", "-e", f"trace={TRACED}", "-o", str(trace))
    profile = place / f"profile-{game.name}"
    with packer_serve(packer, pack, "--key", key, wrapper=strace, cwd=private / "work", env=environment) as served:
        with browser(profile, clock) as driver:
            mine, errors = play(driver, served.url, game, clock)
            # While the browser is there: what it has open it may have removed when it ends.
            pieces = chunks(game.tree)
            wrong += [f"plaintext on disk: {line}" for line in plaintext(pieces, [private, profile])]
    wrong += [f"console: {line}" for line in errors]
    wrong += [f"opened for writing: {line}" for line in written(trace)]
    requests = served.requests()
    ranged = [record for record in requests if record["status"] == 206]
    told.append(f"{len(requests)} requests, {len(ranged)} of them 206, {sum(record['decryptedBytes'] for record in requests) / 1e6:.1f} MB decrypted")
    for name in game.ranges:
        starts = {int(match.group(1)) for record in ranged if name in record["target"] and (match := re.match(r"bytes=(\d+)-", record["range"] or ""))}
        if not any(start > 0 for start in starts):
            wrong.append(f"no place in {name} was fetched with a range: {sorted(starts)}")
    if not requests or served.errors.count("warning"):
        wrong.append(f"packer serve says: {served.errors}")

    with nginx(game.tree, place / f"nginx-{game.name}") as url, browser(place / f"plain-{game.name}", clock) as driver:
        theirs, errors_plain = play(driver, url, game, clock)
    told += [f"console of the plain game: {line}" for line in errors_plain]
    if not game.exact:
        # What the game itself says on its console when it is served plain is not ours.
        known = {re.sub(r"http://[^ ]*", "", line) for line in errors_plain}
        wrong = [line for line in wrong if not (line.startswith("console: ") and re.sub(r"http://[^ ]*", "", line[9:]) in known)]
    share = difference(mine, theirs)
    told.append(f"{colours(mine)} colours, {share * 100:.3g} % of the points differ")
    if game.exact and share > 0:
        wrong.append(f"the pictures differ in {share * 100:.3g} % of the points")
    if colours(mine) < 4:
        wrong.append("the picture shows nothing")
    if keep:
        pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
        for kind, picture in (("packer", mine), ("nginx", theirs)):
            (pathlib.Path(keep) / f"{game.name}-{kind}.png").write_bytes(picture)
    return wrong, told


def record(packer, place):
    """Chromium, started by packer: what is not in the pack, and what is on other hosts, also from a worker and a socket."""
    tree = place / "recorded"
    tree.mkdir()
    (tree / "index.html").write_text(
        '<!doctype html><link rel=stylesheet href=style.css><img src="https://tracker.example.com/pixel.gif"><script src=main.js></script>')
    (tree / "style.css").write_text("body { background: url(Gone.png) }")
    (tree / "main.js").write_text('new Worker("worker.js"); new WebSocket("wss://socket.example.net/"); fetch("data.bin", {headers: {Range: "bytes=0-9"}});'
        'document.cookie = "a=1"; console.error(document.cookie + ("serviceWorker" in navigator) + confirm("?")); performance.mark("playable"); new SharedArrayBuffer(8)')
    (tree / "worker.js").write_text('fetch("https://api.example.org/score", {method: "POST"}).catch(() => 0)')
    (tree / "data.bin").write_bytes(bytes(100))
    key, pack, run = place / "recorded.key", place / "recorded.pack", place / "run.json"
    subprocess.run([packer, "key", "new", "-q", "-o", key], check=True, capture_output=True)
    subprocess.run([packer, "pack", tree, "-o", pack, "--key", key, "-q"], check=True, capture_output=True)
    program = shutil.which("chromium") or "/usr/bin/chromium"
    done = subprocess.run(
        [packer, "serve", pack, "--key", key, "--port", "0", "--record", run, "--browser", program, "--for", "8"], capture_output=True, text=True, timeout=90)
    if done.returncode != 0:
        return [f"serve --record ends with {done.returncode}: {done.stderr}"]
    found = next(iter(json.loads(run.read_text())["packs"].values()))
    foreign = {entry["url"] for entry in found["foreign"]}
    expected = {"https://tracker.example.com/pixel.gif", "wss://socket.example.net/", "https://api.example.org/score"}
    wrong = [] if foreign == expected else [f"other hosts: {foreign}"]
    if [entry["path"] for entry in found["missing"]] != ["Gone.png"] or found["unused"]:
        wrong.append(f"missing {found['missing']}, unused {found['unused']}")
    if not 0 < found.get("playable", 0) < 8000:
        wrong.append(f"the mark is {found.get('playable')}")
    # What no web view has is not there.
    problems = sorted((entry["place"], entry["text"].split(" (")[0]) for entry in found["problems"])
    expected = [("/main.js:1:", "Uncaught ReferenceError: SharedArrayBuffer is not defined"), ("console", "falsefalse"), ("phone", "confirm")]
    if len(problems) != 3 or not all(place.startswith(at) and text.startswith(words) for (place, text), (at, words) in zip(problems, expected)):
        wrong.append(f"problems {found['problems']}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--game", action="append", help="the directory of another game, in the place of the own ones")
    parser.add_argument("--query", default="", help="what is behind its address: ?level=3")
    parser.add_argument("--seconds", type=float, default=6, help="how long it is watched")
    parser.add_argument("--do", action="append", default=[], help="JavaScript that goes on in the game, after which it is watched as long again")
    parser.add_argument("--real-clock", action="store_true", help="leave it the browser's clock")
    parser.add_argument("--keep", help="a directory for the pictures")
    options = parser.parse_args()
    games = GAMES
    if options.game:
        games = [Game(pathlib.Path(path).resolve().name, pathlib.Path(path).resolve(), options.query, exact=False, seconds=options.seconds, deeds=options.do)
                 for path in options.game]
    failed = False
    with tempfile.TemporaryDirectory(prefix="packer-play.") as place:
        for game in games:
            start = time.monotonic()
            # Seeking takes the time it takes: where media are watched the clock is the browser's.
            clock = not options.real_clock and game.name != "media"
            try:
                wrong, told = check(game, pathlib.Path(options.packer).resolve(), pathlib.Path(place), options.keep, clock)
            except (AssertionError, RuntimeError) as error:
                wrong, told = [str(error)], []
            print(f"{game.name}: {'; '.join(told)}; {time.monotonic() - start:.1f} s", file=sys.stderr)
            for line in wrong:
                failed = True
                print(f"{game.name}: wrong: {line}", file=sys.stderr)
        if not options.game:
            start = time.monotonic()
            wrong = record(pathlib.Path(options.packer).resolve(), pathlib.Path(place))
            print(f"recorded run: {time.monotonic() - start:.1f} s", file=sys.stderr)
            for line in wrong:
                failed = True
                print(f"recorded run: wrong: {line}", file=sys.stderr)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
