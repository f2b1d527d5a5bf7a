#!/usr/bin/env python3
"""Compares the speed of `packer serve` with that of nginx with the plain files: Scripts/bench-serve.py PACKER [--json] [--quick]

Measures the download of a large file that does not compress, with curl on one connection, in turns. Also measures the time from a request on an open
connection to the first byte of a small file, from a pack of 1 GB, at places that were not read before. The files are on a tmpfs (BENCH_PLACE, or
/dev/shm if it is not set).
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


def first_bytes(port, paths, host="127.0.0.1"):
    """Returns the milliseconds from each request to the first byte of its body, one after the other on one connection."""
    link = http.client.HTTPConnection(host, port)
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


def ratio(mine, theirs):
    """Returns the median, the smallest and the largest ratio of the single rounds."""
    ratios = sorted(one / other for one, other in zip(mine, theirs))
    return [statistics.median(ratios), ratios[0], ratios[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packer")
    parser.add_argument("--json", action="store_true", help="print a record for Scripts/bench-document.py")
    parser.add_argument("--quick", action="store_true", help="use a tenth of the bytes, to check that it works")
    options = parser.parse_args()
    files, large, many, rounds = (2, 50_000_000, 100, 2) if options.quick else (4, 200_000_000, 2000, 3)
    dice = random.Random(5)
    with tempfile.TemporaryDirectory(prefix="packer-serve.", dir=os.environ.get("BENCH_PLACE", "/dev/shm")) as name:
        place = pathlib.Path(name)
        tree = place / "tree"
        (tree / "small").mkdir(parents=True)
        (tree / "index.html").write_text("<!doctype html>\n")
        for number in range(files):
            with open(tree / f"large{number}.bin", "wb") as file:
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
        kinds = {"all of it": None, "a range of it": 1}
        mine, theirs = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
        with packer_serve(options.packer, pack, "--key", key) as served, nginx(tree, place / "nginx") as plain:
            for number in range(files):
                for _ in range(rounds):
                    for kind, start in kinds.items():
                        for speeds, url in ((mine, served.url), (theirs, plain)):
                            speed, size = download(f"{url}large{number}.bin", start)
                            assert size == large - (start or 0)
                            speeds[kind].append(speed)
            times = {
                "packer": first_bytes(served.port, paths[:400], served.host), "nginx": first_bytes(int(plain.rstrip("/").rsplit(":", 1)[1]), paths[:400])}
        record = {
            "type": "serve", "packSize": pack.stat().st_size, "largeSize": large,
            "downloads": [{
                "kind": kind, "packer": statistics.median(mine[kind]), "nginx": statistics.median(theirs[kind]), "ratio": ratio(mine[kind], theirs[kind])} for kind in kinds],
            "firstByte": [{"server": who, "median": statistics.median(all_of), "99": sorted(all_of)[int(len(all_of) * 0.99)]} for who, all_of in times.items()],
        }
    if options.json:
        print(json.dumps(record))
        return
    for item in record["downloads"]:
        median, least, most = item["ratio"]
        print(f"{item['kind']:<15} {item['packer'] / 1e6:6.0f} MB/s, nginx {item['nginx'] / 1e6:6.0f} MB/s: {median:.2f} ({least:.2f}…{most:.2f})")
    for item in record["firstByte"]:
        print(f"first byte, {item['server']:<7} {item['median']:.2f} ms, 99 of 100 within {item['99']:.2f} ms")


if __name__ == "__main__":
    main()
