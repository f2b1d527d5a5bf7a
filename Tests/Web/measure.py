#!/usr/bin/env python3
"""Measures the reader for browsers in Node, Chromium and Firefox with packs of random content, and prints the figures.

What is fetched for the first file of a large pack, how fast a large file is read beside a plain fetch of as many bytes of the pack, and how much memory
a check of a pack of 2 GB takes. nginx serves the packs where time is measured, and the tests' own server where requests are counted.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

import traces
from browsers import ROOT, browser
from player import Maker
from servers import nginx
from sites import Site, serving

MIB = 1 << 20

# Each takes the address of a pack, its size and the text of its key.
FIRST = """
const { HTTPSource, importKey, openPack } = await import(args[0]);
const { KeptSource } = args[4] ? await import(args[4]) : {};
const start = performance.now();
const source = new HTTPSource(args[1], { size: args[2] });
const pack = await openPack(args[4] ? new KeptSource(source, 'first', { size: args[2] }) : source, args[3]);
const bytes = await pack.read(args[5]);
const time = performance.now() - start;
pack.close();
return [bytes.length, time];
"""
SPEED = """
const { importKey, openPack } = await import(args[0]);
const pack = await openPack(args[1], args[3], { size: args[2] });
const times = [];
for (let count = 0; count < 3; count += 1) {
  let start = performance.now();
  let length = 0;
  const reader = (await pack.stream('speed.bin')).getReader();
  for (let piece; !(piece = await reader.read()).done;) length += piece.value.length;
  const own = performance.now() - start;
  start = performance.now();
  const response = await fetch(args[1], { headers: { Range: `bytes=0-${length - 1}` }, cache: 'no-store' });
  const plain = response.body.getReader();
  let fetched = 0;
  for (let piece; !(piece = await plain.read()).done;) fetched += piece.value.length;
  if (fetched !== length) throw new Error(`${fetched} bytes are fetched, and ${length} are read`);
  times.push([length / own / 1000, length / (performance.now() - start) / 1000]);
}
pack.close();
return times;
"""
WORKER_SPEED = """
const times = [];
for (let count = 0; count < 2; count += 1) {
  const start = performance.now();
  const reader = (await fetch('speed.bin', { cache: 'no-store' })).body.getReader();
  let length = 0;
  for (let piece; !(piece = await reader.read()).done;) length += piece.value.length;
  times.push(length / (performance.now() - start) / 1000);
}
return times;
"""
CHECK = """
const { openPack } = await import(args[0]);
const pack = await openPack(args[1], args[3], { size: args[2] });
const start = performance.now();
await pack.check();
pack.close();
return (performance.now() - start) / 1000;
"""


def node(script, *arguments):
    program = f"const args = {json.dumps(arguments)};\nconst run = async () => {{ {script} }};\n" \
        "run().then((value) => console.log(JSON.stringify({ value, peak: process.resourceUsage().maxRSS * 1024 })), (error) => { console.error(error); process.exit(1); });"
    done = subprocess.run(["node", "--experimental-global-webcrypto", "--input-type=module", "-e", program], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


class Memory:
    """The largest resident size of a process and its children, without what they share."""

    def __init__(self, pid):
        self.pid, self.peak, self.is_over = pid, 0, False

    def now(self):
        total = 0
        for member in traces.family(self.pid):
            with contextlib.suppress(OSError, StopIteration):
                lines = pathlib.Path(f"/proc/{member}/smaps_rollup").read_text().splitlines()
                total += int(next(line for line in lines if line.startswith("Pss:")).split()[1]) << 10
        return total

    def __enter__(self):
        self.first = self.now()

        def watch():
            while not self.is_over:
                self.peak = max(self.peak, self.now())
                time.sleep(0.5)

        self.thread = threading.Thread(target=watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


def content(folder, size, seed):
    """Random files of several sizes, one of 256 MiB among them. Returns the path of one in the middle."""
    chance, total, names = random.Random(seed), 0, []
    folder.mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><meta charset=utf-8><title>Large</title>")
    while total < size - 256 * MIB:
        length = chance.choice([20 << 10, 200 << 10, MIB, 8 * MIB, 32 * MIB])
        names.append(f"{len(names):05}.bin")
        (folder / names[-1]).write_bytes(chance.randbytes(length))
        total += length
    with open(folder / "speed.bin", "wb") as file:
        for _ in range(8):
            file.write(chance.randbytes(32 * MIB))
    return next(name for name in names[len(names) // 2:] if (folder / name).stat().st_size == 200 << 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--size", type=int, default=1024, help="the size of the first pack in MiB; that of memory is twice as large")
    parser.add_argument("--browser", action="append", choices=["chromium", "firefox"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="packer-measure.") as name:
        place = pathlib.Path(name)
        maker = Maker(pathlib.Path(options.packer).resolve(), place)
        middle = content(place / "tree", options.size * MIB, 52)
        pack = maker.pack(place / "tree", "large")
        content(place / "tree2", 2 * options.size * MIB, 53)
        twice = maker.pack(place / "tree2", "twice")
        (place / "play").symlink_to(ROOT / ".build/web")
        (place / "index.html").write_text("<!doctype html>")
        files = (pack.stat().st_size, maker.key)
        configuration = {"packs": {"large": maker.entry(pack)}}
        (place / "play.json").write_text(json.dumps(configuration))
        print(f"pack of {pack.stat().st_size / 1e6:.0f} MB, another of {twice.stat().st_size / 1e6:.0f} MB")

        site = Site()
        site.mount("/play/", ROOT / ".build/web")
        site.mount("/packs/", place / "packs")
        site.put("/index.html", "<!doctype html>")
        site.put("/play/player.json", json.dumps(configuration))
        local = str(ROOT / ".build/web/packer.js")

        def told(who, path, length, milliseconds):
            asked = site.requests("/packs/large.pack")
            total = sum(record["sent"] for record in asked)
            print(f"{who}: {path} ({length} bytes) after {len(asked)} requests, {total} bytes ({total - length} besides the file), {milliseconds:.0f} ms: "
                  f"{[record['sent'] for record in asked]}")
            site.records.clear()

        browsers = options.browser or ("chromium", "firefox")
        with serving(site):
            url = f"{site.origin}/packs/large.pack"
            for path in ("index.html", middle):
                told("Node", path, *node(FIRST, local, url, *files, None, path)["value"])
            for name in browsers:
                with browser(name, place / f"first-{name}") as one:
                    for path in ("index.html", middle):
                        for kept in (None, "/play/player.js"):
                            one.get(f"{site.origin}/index.html")
                            site.records.clear()
                            told(f"{one.name}{', kept' if kept else ''}", path, *one.run(FIRST, "/play/packer.js", url, *files, kept, path))
                        one.run("for (const name of await caches.keys()) await caches.delete(name);")

        (place / "player").mkdir()
        for file in (ROOT / ".build/web").iterdir():
            (place / "player" / file.name).write_bytes(file.read_bytes())
        (place / "player/player.json").write_text(json.dumps(configuration))
        with nginx(place, place / "nginx") as origin:
            origin = origin.replace("127.0.0.1", "localhost")
            speeds = {"Node": node(SPEED, local, f"{origin}packs/large.pack", *files)["value"]}
            second = (f"{origin}packs/twice.pack", twice.stat().st_size, maker.key)
            done = node(CHECK, local, *second)
            idle = node("return 0")["peak"]
            print(f"Node: check of {twice.stat().st_size / 1e6:.0f} MB in {done['value']:.1f} s; at most {done['peak'] / 1e6:.0f} MB resident, {idle / 1e6:.0f} MB of them Node's own")
            for name in browsers:
                with browser(name, place / f"speed-{name}", seconds=600) as one:
                    one.get(f"{origin}index.html")
                    speeds[one.name] = one.run(SPEED, "/play/packer.js", f"{origin}packs/large.pack", *files)
                    with Memory(one.pid) as memory:
                        seconds = one.run(CHECK, "/play/packer.js", *second)
                    print(f"{one.name}: check of {twice.stat().st_size / 1e6:.0f} MB in {seconds:.1f} s; the browser grows by {(memory.peak - memory.first) / 1e6:.0f} MB")
                    one.get(f"{origin}player/")
                    deadline = time.monotonic() + 60
                    while "/games/" not in one.url and time.monotonic() < deadline:
                        time.sleep(0.2)
                    with Memory(one.pid) as memory:
                        own = one.run(WORKER_SPEED)
                    print(f"{one.name}: through the worker {own[0]:.0f} MB/s, again from what is kept {own[1]:.0f} MB/s; the browser grows by {(memory.peak - memory.first) / 1e6:.0f} MB")
        for who, times in speeds.items():
            own, plain = (max(pair[index] for pair in times) for index in (0, 1))
            print(f"{who}: {own:.0f} MB/s, plain fetch {plain:.0f} MB/s, ratio {own / plain:.2f}: {[[round(speed) for speed in pair] for pair in times]}")


if __name__ == "__main__":
    sys.exit(main())
