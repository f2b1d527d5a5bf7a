#!/usr/bin/env python3
"""Measures how soon games play on a slow line, in headless Chromium: their packs through the player of `packer init --web`, with and without a layout, and
their loose files over HTTP/2. *Again* is the pack with a layout, for somebody who has played another game of the same site before.

Three runs with other seeds and other inputs make the order file; a fourth one, which it has not seen, says what the launch of a game is. In front of nginx,
which serves everything, is one line for all connections: half a round trip each way, one more for a new connection, one rate; no loss and no slow start.

What the figures are: *picture*, the first of four screenshots a second that is not of one colour and from which the next four differ in less than 0.5 % of
pixels (of every fifth one of every fifth row); `performance.mark('playable')` of games that say it; the end of the launch of those that move for longer.
*Launch*: the arrival of the last file of the launch, without icons, that was asked for without an input. Their bytes are all that went over the line until
then, the player's own included. *% pack* and *÷ set*: what the server sent of pack and lead for requests until the picture, of the pack, and until the end
of the launch, less 24 KiB, against a pack of the files of the launch only. *Late*: requests after the launch whose first byte took more than 500 ms. *Zip*:
by arithmetic, three round trips and the bytes. *×*: against loose files.
"""

import argparse
import asyncio
import base64
import bisect
import collections
import contextlib
import csv
import dataclasses
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse
import zipfile
import zlib

from selenium.common.exceptions import WebDriverException

from browsers import ROOT, ScriptError, browser
from player import ICONS, Maker, wait
from servers import free_port, nginx, packer_serve

HOST = "game.example.com"
LINES = ("1Mbit/s,200ms", "5Mbit/s,50ms", "20Mbit/s,50ms")
MODES = ("loose", "layout", "again", "plain")
RELEASES = ("layout", "plain")

# MARK: The line


@dataclasses.dataclass(frozen=True)
class Line:
    """A line, as `--link` of `packer serve` names it."""

    name: str

    @property
    def rate(self):
        """Bytes in a second."""
        return float(re.match(r"[\d.]+", self.name)[0]) * 1e6 / 8

    @property
    def trip(self):
        """The round trip in seconds."""
        return float(re.search(r",([\d.]+)ms", self.name)[1]) / 1000


class Proxy:
    """A line in front of a port, in a process of its own."""

    # The largest piece of a connection before it is the turn of another one, and what is read ahead of each.
    piece, ahead = 4 << 10, 8 << 10

    def __init__(self, line, port):
        self.line, self.target, self.port = line, port, free_port()
        self.total, self.last = multiprocessing.Value("q", 0), multiprocessing.Value("d", 0)
        self.pipe, self.end = multiprocessing.Pipe()

    def __enter__(self):
        self.process = multiprocessing.Process(target=lambda: asyncio.run(self.serve()), daemon=True)
        self.process.start()
        if self.pipe.recv() != "ready":
            raise RuntimeError("the line does not start")
        return self

    def __exit__(self, *_):
        """Ends it, and takes when how many bytes had arrived."""
        self.pipe.send("end")
        self.arrivals, self.connections = self.pipe.recv()
        self.process.join(10)

    def bytes(self, moment):
        """The bytes that had arrived at a moment."""
        index = bisect.bisect_right(self.arrivals, (moment, float("inf")))
        return self.arrivals[index - 1][1] if index else 0

    async def serve(self):
        self.turn, self.waiting, self.samples, self.count = collections.deque(), asyncio.Event(), [], 0
        # A busy machine is no slow line.
        with contextlib.suppress(OSError):
            os.nice(-10)
        server = await asyncio.start_server(self.connect, "127.0.0.1", self.port)
        sending = asyncio.create_task(self.send())
        self.end.send("ready")
        await asyncio.get_running_loop().run_in_executor(None, self.end.recv)
        self.end.send((self.samples, self.count))
        sending.cancel()
        server.close()
        os._exit(0)

    async def connect(self, reader, writer):
        self.count += 1
        writer.transport.set_write_buffer_limits(high=1 << 24)
        loop = asyncio.get_running_loop()
        # What waits in buffers delays what is asked for later.
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2 * self.ahead)
        link.setblocking(False)
        await loop.sock_connect(link, ("127.0.0.1", self.target))
        up, (there, back) = asyncio.Queue(), await asyncio.open_connection(sock=link, limit=self.ahead)
        # The client's first bytes leave when its handshake is over.
        earliest = loop.time() + self.line.trip

        async def upwards():
            while data := await reader.read(1 << 16):
                up.put_nowait((max(loop.time(), earliest) + self.line.trip / 2, data))
            up.put_nowait((loop.time() + self.line.trip / 2, b""))

        async def deliver():
            while True:
                moment, data = await up.get()
                await asyncio.sleep(moment - loop.time())
                if not data:
                    return back.write_eof()
                back.write(data)

        async def downwards():
            # A tenth of a second of the line waits in front of it, as in a router.
            room = asyncio.Semaphore(max(4, int(self.line.rate / 10 / self.piece)))
            while data := await there.read(self.piece):
                await room.acquire()
                self.turn.append((loop.time(), writer, data, room))
                self.waiting.set()
            await asyncio.sleep(self.line.trip)
            writer.close()

        with contextlib.suppress(OSError):
            await asyncio.gather(upwards(), deliver(), downwards())

    async def send(self):
        """Takes a piece of each connection in turn, at the rate of the line."""
        loop, free = asyncio.get_running_loop(), 0.0
        while True:
            if not self.turn:
                self.waiting.clear()
                await self.waiting.wait()
            moment, writer, data, room = self.turn.popleft()
            free = max(free, moment) + len(data) / self.line.rate
            await asyncio.sleep(free - loop.time())
            loop.call_at(free + self.line.trip / 2, self.arrive, writer, data)
            room.release()

    def arrive(self, writer, data):
        if not writer.is_closing():
            writer.write(data)
        self.total.value += len(data)
        self.last.value = time.time()
        self.samples.append((self.last.value, self.total.value))


# MARK: Pictures


def pixels(png):
    """Every fifth pixel of every fifth row of a picture that Chromium made for speed: three bytes a pixel, rows as they are or as the difference to the one above."""
    place, data = 8, b""
    while place < len(png):
        length, kind = struct.unpack_from(">I4s", png, place)
        if kind == b"IHDR":
            width, height, _, color = struct.unpack_from(">IIBB", png, place + 8)
        elif kind == b"IDAT":
            data += png[place + 8:place + 8 + length]
        place += 12 + length
    raw, stride = zlib.decompress(data), 3 * width
    low, high = (int.from_bytes(bytes([mask]) * stride, "little") for mask in (0x7f, 0x80))
    row, found = 0, []
    for number in range(height):
        start = number * (stride + 1)
        line = int.from_bytes(raw[start + 1:start + 1 + stride], "little")
        if color != 2 or raw[start] not in (0, 2):
            raise ValueError("this is another kind of PNG")
        # All bytes are added at once, none with the carry of its neighbour.
        row = ((row & low) + (line & low)) ^ ((row ^ line) & high) if raw[start] else line
        if number % 5 == 0:
            whole = row.to_bytes(stride, "little")
            found += [whole[index:index + 3] for index in range(0, stride, 15)]
    return found


def differ(one, other):
    """The share of pixels that are not the same."""
    return sum(x != y for x, y in zip(one, other)) / len(one) if len(one) == len(other) else 1


def is_stable(shots, index):
    """Whether a picture stays for the four that follow."""
    return len(shots) > index + 4 and all(differ(shots[index][1], shot) < 0.005 for _, shot, _ in shots[index + 1:index + 5])


# MARK: Runs

# The same game for the same seed, and room for all that it asks for.
SEEDED = """
(() => { let state = %d; Math.random = () => { state = (state + 0x6d2b79f5) | 0; let t = Math.imul(state ^ state >>> 15, 1 | state);
  t = t + Math.imul(t ^ t >>> 7, 61 | t) ^ t; return ((t ^ t >>> 14) >>> 0) / 4294967296; };
  performance.setResourceTimingBufferSize(20000); })();
"""
STATE = """
return [location.href, document.readyState, performance.timeOrigin, performance.getEntriesByName('playable')[0]?.startTime ?? null,
  performance.getEntriesByName('first-paint').length > 0];
"""
ENTRIES = """
return performance.getEntriesByType('resource').filter(entry => entry.name.startsWith(location.origin))
  .map(entry => [entry.name, entry.startTime, entry.responseStart, entry.responseEnd])
  .concat(performance.getEntriesByType('navigation').map(entry => [location.href, 0, entry.responseStart, entry.responseEnd]))
  .map(([name, ...times]) => [decodeURIComponent(new URL(name).pathname), ...times.map(time => (time + performance.timeOrigin) / 1000)]);
"""


def inputs(one, seed, seconds):
    """Clicks and keys of somebody who tries things: the same for the same seed."""
    chance, end = random.Random(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(WebDriverException):
            if chance.random() < 0.6:
                place = {"x": chance.choice([450, 450, chance.randrange(900)]), "y": chance.choice([300, 350, chance.randrange(600)]), "button": "left", "clickCount": 1}
                for kind in ("mousePressed", "mouseReleased"):
                    one.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, **place})
            else:
                key, code = chance.choice([(" ", 32), ("ArrowUp", 38), ("ArrowRight", 39), ("ArrowLeft", 37), ("Enter", 13)])
                for kind in ("keyDown", "keyUp"):
                    one.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {
                        "type": kind, "key": key, "code": "Space" if key == " " else key, "windowsVirtualKeyCode": code, **({"text": key} if key == " " and kind == "keyDown" else {})})
        time.sleep(chance.uniform(0.2, 0.8))


@contextlib.contextmanager
def seeded(place, seed, *flags):
    """A browser with a fresh profile, in which games do the same for the same seed."""
    with tempfile.TemporaryDirectory(prefix="profile.", dir=place, ignore_cleanup_errors=True) as profile:
        with browser("chromium", profile, flags=flags, waits=False) as one:
            one.driver.set_page_load_timeout(10)
            one.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SEEDED % seed})
            yield one


def record(game, pack, order, seed):
    """Plays once with `packer serve`, which adds what it sees to an order file."""
    maker = game.maker
    with packer_serve(maker.packer, pack, "--key", maker.key_file, "--record", game.place / "run.json", "--layout", order) as served:
        with seeded(game.place, seed, "--host-resolver-rules=MAP * ^NOTFOUND, EXCLUDE *.localhost, EXCLUDE localhost, EXCLUDE 127.0.0.1") as one:
            one.get(served.url + game.query)
            time.sleep(random.Random(seed).uniform(2, 4))
            inputs(one, seed, 8)


def launch_of(order):
    """The files of the launch in an order file."""
    lines = order.read_text().splitlines()
    lines = lines[lines.index("[launch]") + 1:lines.index("[later]")]
    return [line.removeprefix("./") for line in lines if line and not line.startswith("#")]


class Game:
    """A game with its releases, ready to be served."""

    def __init__(self, maker, tree, query):
        self.maker, self.tree, self.query = maker, tree.resolve(), query
        self.name = tree.resolve().name.lower()
        self.place = maker.place / self.name
        order, judge = self.place / "game.order", self.place / "judge.order"
        self.place.mkdir(exist_ok=True)
        if not judge.exists():
            pack = maker.pack(self.tree, self.name)
            for seed in (1, 2, 3):
                record(self, pack, order, seed)
            record(self, pack, judge, 4)
        if not (self.place / "game.zip").exists():
            for mode in RELEASES:
                self.release(mode, order)
            self.zipped()
        self.launch = set(launch_of(judge))
        self.unseen = self.launch - set(launch_of(order))
        only = self.place / "only"
        shutil.rmtree(only, ignore_errors=True)
        for path in self.launch:
            (only / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.tree / path, only / path)
        self.launch_size = maker.pack(only, f"{self.name}-launch").stat().st_size
        self.zip_size = (self.place / "game.zip").stat().st_size
        self.sizes = {}
        for mode in RELEASES:
            for ending, key in (("pack", mode), ("lead", f"{mode} lead")):
                self.sizes[key] = sum(path.stat().st_size for path in (self.place / mode / "dist").glob(f"{self.name}-*.{ending}"))

    def zipped(self):
        with zipfile.ZipFile(self.place / "game.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path in sorted(self.tree.rglob("*")):
                archive.write(path, path.relative_to(self.tree))

    def release(self, mode, order):
        place, packer = self.place / mode, self.maker.packer
        place.mkdir()
        shutil.copyfile(order, place / "game.order")
        shutil.copytree(self.tree, place / "game")
        layout = ", layout: game.order" if mode == "layout" else ""
        (place / "packer.yml").write_text("\n".join((
            f'serve: {{baseURL: "https://{HOST}/packs/"}}', f"key: file:{self.maker.key_file}", "signKey: file:sign.key", "web: true", "packs:",
            f"  - {{id: {self.name}, root: game, install: packed, delivery: essential{layout}}}",
            "  - {id: another, root: another, install: packed, delivery: essential}", "")))
        (place / "another").mkdir()
        (place / "another/index.html").write_text("<!doctype html><title>Another</title>")
        for command in ("key new --signing -o sign.key -q", "build -q", f"init --web www/play --reader {ROOT}/.build/web -q"):
            if command.startswith("init"):
                (place / "www").mkdir()
            subprocess.run([packer, *command.split()], cwd=place, check=True, stdout=subprocess.DEVNULL)
        (place / "www/packs").symlink_to(place / "dist")
        settings = place / "www/play/player.json"
        settings.write_text(json.dumps(json.loads(settings.read_text()) | {"key": self.maker.key}))


def play(game, mode, line, certificate, options):
    """Plays a game once, in a fresh profile, and returns its figures."""
    place = game.place / f"run-{mode}"
    log = place / "requests"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    release = "layout" if mode == "again" else mode
    tree, base = (game.tree, "/") if mode == "loose" else (game.place / release / "www", f"/play/games/{game.name}/")
    with nginx(tree, place, log, certificate=certificate[:2]) as url, Proxy(line, int(url.rstrip("/").rsplit(":", 1)[1])) as proxy:
        flags = (f"--ignore-certificate-errors-spki-list={certificate[2]}", f"--host-resolver-rules=MAP {HOST} 127.0.0.1:{proxy.port}, MAP * ^NOTFOUND, EXCLUDE 127.0.0.1")
        with seeded(game.place, 4, *flags) as one:
            if mode == "again":
                one.get(f"https://{HOST}/play/?game=another")
                wait(one, "return document.title === 'Another'")
                time.sleep(3)
            shots, start = [], time.time()
            one.get(f"https://{HOST}{f'/play/?game={game.name}' if mode != 'loose' else '/' + game.query}")
            stable, origin, playable, quiet = None, None, None, max(1.5, 5 * line.trip)
            while time.time() - start < options.most:
                moment = time.time()
                with contextlib.suppress(WebDriverException, ScriptError):
                    address, state, begun, mark, is_painted = one.look(STATE)
                    if address.startswith(f"https://{HOST}{base}"):
                        origin = begun / 1000
                        playable = origin + mark / 1000 if mark is not None else None
                        # Before that, the picture is that of the page before, or does not come.
                        if is_painted:
                            moment = time.time()
                            found = one.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "optimizeForSpeed": True})
                            png = base64.b64decode(found["data"])
                            picture = pixels(png)
                            if differ([picture[0]] * len(picture), picture) >= 0.005:
                                shots.append((moment, picture, png))
                        if stable is None:
                            stable = next((index for index in range(max(0, len(shots) - 5), len(shots)) if is_stable(shots, index)), None)
                        if state == "complete" and proxy.last.value < time.time() - quiet and (stable is not None or time.time() - max(origin, proxy.last.value) > 5):
                            break
                time.sleep(max(0, moment + 0.25 - time.time()))
            is_over = time.time() - start < options.most
            before = time.time()
            inputs(one, 4, options.after)
            entries, icons = one.look(ENTRIES), {path.removeprefix(base) for path in one.look(ICONS)}
            if options.keep:
                (options.keep / f"{game.name}-{mode}-{line.name.replace('/', '')}.png".replace(",", "-")).write_bytes(one.picture())
                if stable is not None:
                    (options.keep / f"{game.name}-{mode}-{line.name.replace('/', '')}-first.png".replace(",", "-")).write_bytes(shots[stable][2])
    entries = [(path.removeprefix(base), *times) for path, *times in entries if path.startswith(base)]
    entries = [(path or "index.html", *times) for path, *times in entries]
    seen = [entry for entry in entries if entry[0] in game.launch - icons and entry[1] < before]
    end = max((last for *_, last in seen), default=None)
    still = shots[stable][0] if stable is not None else None
    # What stands still only later moves at the launch.
    first = playable or (still if still and end and still < end + 1 else end)
    sent = [(msec - seconds, urllib.parse.unquote(path), size) for msec, seconds, path, size in map(json.loads, log.read_text().splitlines())]
    sent = [record for record in sent if record[0] > start]
    later = [reply - asked for _, asked, reply, _ in entries if end and asked > end and reply > 0]

    def of_pack(moment):
        return sum(size for asked, path, size in sent if path.endswith((".pack", ".lead")) and asked + line.trip / 2 <= moment) if moment else None

    if options.verbose:
        for asked, path, size in sorted(sent):
            print(f"    {asked - start:7.2f} s {size:9} {path}")
        for path, *times in sorted(seen, key=lambda entry: entry[1]):
            print("   ", *(f"{moment - start:7.2f}" for moment in times), f"s {path}")
    return {
        "game": game.name, "mode": mode, "line": line.name, "is_over": is_over, "is_still": still is not None and first == still, "still": still and still - start, "picture": first and first - start, "launch": end and end - start,
        "page": origin and origin - start, "picture_bytes": first and proxy.bytes(first) - proxy.bytes(start), "launch_bytes": end and proxy.bytes(end) - proxy.bytes(start), "picture_pack": of_pack(first), "launch_pack": of_pack(end),
        "pack_size": game.sizes.get(release), "lead_size": game.sizes.get(f"{release} lead"), "launch_size": game.launch_size, "launch_files": len(seen), "unseen": len(game.unseen),
        "zip": game.zip_size / line.rate + 3 * line.trip, "zip_size": game.zip_size, "requests": len(sent), "connections": proxy.connections,
        "later": len(later), "late": sum(seconds > 0.5 for seconds in later)}


# MARK: The table


def told(row, others):
    """A line of the table."""
    loose = next((other for other in others if (other["game"], other["line"], other["mode"]) == (row["game"], row["line"], "loose")), None)

    def number(value, form=".2f"):
        return "–" if value is None else format(value, form)

    def ratio(key):
        return number(row[key] / loose[key] if loose and row[key] and loose[key] else None)

    share = None if row["mode"] == "loose" or row["picture_pack"] is None else 100 * row["picture_pack"] / row["pack_size"]
    against = None if row["mode"] == "loose" or row["launch_pack"] is None else (row["launch_pack"] - (24 << 10)) / row["launch_size"]
    return (f"{row['game']:12} {row['line']:14} {row['mode']:7} {number(row['page']):>6} {number(row['picture']):>6}{' ' if row['is_still'] else '~'} {ratio('picture'):>5} "
            f"{number(row['launch']):>6} {ratio('launch'):>5} {number(row['picture_bytes'] and row['picture_bytes'] / 1000, '.0f'):>7} "
            f"{number(row['launch_bytes'] and row['launch_bytes'] / 1000, '.0f'):>7} {number(share, '.1f'):>6} {number(against):>6} {row['zip']:7.1f} "
            f"{row['late']:3}/{row['later']:<4} {row['requests']:4}/{row['connections']}{'' if row['is_over'] else ' not over'}")


HEAD = (f"{'game':12} {'line':14} {'mode':7} {'page':>6} {'pict.':>6}  {'×':>5} {'launch':>6} {'×':>5} {'pict.kB':>7} {'lau. kB':>7} {'% pack':>6} {'÷ set':>6} "
        f"{'zip':>7} {'late':>8} requests")


def certified(place):
    """A certificate, its key, and the digest by which the browser trusts it, so that it keeps what it fetched."""
    certificate, key = place / "line.pem", place / "line.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", key, "-out", certificate],
        check=True, capture_output=True)
    public = subprocess.run(["openssl", "x509", "-in", certificate, "-pubkey", "-noout"], check=True, capture_output=True).stdout
    der = subprocess.run(["openssl", "pkey", "-pubin", "-outform", "der"], input=public, check=True, capture_output=True).stdout
    digest = subprocess.run(["openssl", "dgst", "-sha256", "-binary"], input=der, check=True, capture_output=True).stdout
    return certificate, key, base64.b64encode(digest).decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="+", help="directories, each with the parameters of the address if it needs some: DIR?seed=1")
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--line", action="append", type=Line, help=f"rate and round trip (default: {' '.join(LINES)})")
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("--csv", type=pathlib.Path, help="a file for all figures")
    parser.add_argument("--keep", type=pathlib.Path, help="a directory for pictures of the games")
    parser.add_argument("--place", type=pathlib.Path, help="a directory in which the recordings and releases stay, and are found again")
    parser.add_argument("--most", type=float, default=90, help="how many seconds a launch may take")
    parser.add_argument("--after", type=float, default=8, help="how many seconds it is played afterwards")
    parser.add_argument("-v", "--verbose", action="store_true", help="print what the server was asked for")
    options = parser.parse_args()
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    rows = []
    print(HEAD, flush=True)
    with contextlib.ExitStack() as stack:
        place = options.place or pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="packer-launch.", ignore_cleanup_errors=True)))
        place.mkdir(parents=True, exist_ok=True)
        file = stack.enter_context(open(options.csv or os.devnull, "w", newline=""))
        maker, certificate = Maker(pathlib.Path(options.packer).resolve(), place), certified(place)
        for text in options.games:
            tree, _, query = text.partition("?")
            game = Game(maker, pathlib.Path(tree), query and f"?{query}")
            print(f"{game.name}: pack {game.sizes['plain']} bytes, with layout {game.sizes['layout']}, lead {game.sizes['layout lead']}, zip {game.zip_size}; "
                  f"{len(game.launch)} files at the launch, packed {game.launch_size}, not in the order: {sorted(game.unseen)}", flush=True)
            for line in options.line or map(Line, LINES):
                for mode in options.mode or MODES:
                    try:
                        rows.append(play(game, mode, line, certificate, options))
                    except (AssertionError, ScriptError, WebDriverException) as error:
                        print(f"{game.name} {line.name} {mode}: {error}", flush=True)
                        continue
                    print(told(rows[-1], rows), flush=True)
                    writer = csv.DictWriter(file, rows[-1].keys())
                    if len(rows) == 1:
                        writer.writeheader()
                    writer.writerow(rows[-1])
                    file.flush()


if __name__ == "__main__":
    sys.exit(main())
