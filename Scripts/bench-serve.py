#!/usr/bin/env python3
"""How fast `packer serve` is beside nginx with the plain files: Scripts/bench-serve.py PACKER [--json] [--quick]

A large file that does not compress, by curl on one connection, in turns; and the time from a request on a warm connection to the first byte of a
small file, out of a pack of 1 GB, at places nobody has read yet. Files lie on a tmpfs (BENCH_PLACE, /dev/shm if not set).
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
from servers import nginx, packer_serve  # noqa: E402


def download(url, start=None):
    command = ["curl", "-sS", "-o", "/dev/null", "-w", "%{speed_download} %{size_download} %{http_code}"]
    if start is not None:
        command += ["-r", f"{start}-"]
    speed, size, status = subprocess.run([*command, url], capture_output=True, text=True, check=True).stdout.split()
    assert status in ("200", "206"), status
    return float(speed), int(size)


def first_bytes(port, paths):
    """Milliseconds from the request to the first byte of the body, one after another on one connection."""
    link = http.client.HTTPConnection("127.0.0.1", port)
    link.request("GET", "/index.html")
    link.getresponse().read()
    times = []
    for path in paths:
        start = time.perf_counter()
        link.request("GET", path)
        response = link.getresponse()
        first = response.read(1)
        times.append((time.perf_counter() - start) * 1000)
        assert response.status == 200 and first
        response.read()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packer")
    parser.add_argument("--json", action="store_true", help="print records for Scripts/bench-document.py")
    parser.add_argument("--quick", action="store_true", help="a tenth of the bytes: that it works, not how fast")
    options = parser.parse_args()
    rounds, large, many = (3, 100_000_000, 100) if options.quick else (7, 800_000_000, 2000)
    dice = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="packer-serve.", dir=os.environ.get("BENCH_PLACE", "/dev/shm")) as name:
        place = pathlib.Path(name)
        tree = place / "tree"
        (tree / "small").mkdir(parents=True)
        (tree / "index.html").write_text("<!doctype html>\n")
        with open(tree / "large.bin", "wb") as file:
            for _ in range(large // 1_000_000):
                file.write(dice.randbytes(1_000_000))
        paths = []
        for number in range(many):
            path = tree / "small" / f"{number:04}.json"
            path.write_bytes(dice.randbytes(100_000))
            paths.append(f"/small/{number:04}.json")
        dice.shuffle(paths)
        key, pack = place / "key", place / "large.pack"
        subprocess.run([options.packer, "key", "new", "-o", key], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([options.packer, "pack", tree, "-o", pack, "--key", key, "--quiet", "--level", "fast"], check=True, stdout=subprocess.DEVNULL)
        with packer_serve(options.packer, pack, "--key", key) as served, nginx(tree, place / "nginx") as plain:
            speeds = {"packer": [], "packer, a range": [], "nginx": []}
            for _ in range(rounds):
                for kind, url, start in (("nginx", plain, None), ("packer", served.url, None), ("packer, a range", served.url, 1)):
                    speed, size = download(url + "large.bin", start)
                    assert size == large - (start or 0)
                    speeds[kind].append(speed)
            mine = first_bytes(served.port, paths[:400])
            theirs = first_bytes(int(plain.rstrip("/").rsplit(":", 1)[1]), paths[:400])
        peak = next(line for line in [f"{pack.stat().st_size}"])
        figures = {kind: statistics.median(all_of) / 1e6 for kind, all_of in speeds.items()}
        record = {
            "type": "serve", "packBytes": int(peak), "largeBytes": large, "rounds": rounds, "megabytesPerSecond": {k: round(v) for k, v in figures.items()},
            "firstByteMilliseconds": {
                who: {"median": round(statistics.median(times), 2), "99 of 100": round(sorted(times)[int(len(times) * 0.99)], 2), "most": round(max(times), 2)}
                for who, times in (("packer", mine), ("nginx", theirs))},
        }
        if options.json:
            print(json.dumps(record))
            return
        for kind, speed in figures.items():
            print(f"{kind:<20} {speed:8.0f} MB/s   {speed / figures['nginx']:.2f} of nginx")
        for who, times in record["firstByteMilliseconds"].items():
            print(f"first byte, {who:<8} {times['median']:.2f} ms, 99 of 100 within {times['99 of 100']:.2f} ms, most {times['most']:.2f} ms")


if __name__ == "__main__":
    main()
