#!/usr/bin/env python3
"""Compares the speed of `packer serve` with that of nginx with the plain files: Scripts/bench-serve.py PACKER [--tree NAME=DIR]… [--json] [--quick]

Measures the download of a large file that does not compress, with curl on one connection, in turns, and the time from a request on an open connection
to the first byte of a small file, from a pack of 1 GB, at places that were not read before. Of each given tree, files below 64 KiB are requested in
random order over four connections, by wrk in turns. CPU time is that of the server. The files are on a tmpfs (BENCH_PLACE, or /dev/shm if it is not set).
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Tests" / "Interop"))
from servers import nginx, packer_serve  # noqa: E402
from urllib.parse import quote  # noqa: E402


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


def cpu(process):
    """Returns the seconds of CPU time of a process and its children that run."""
    total = 0
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if process in (int(path.parent.name), int(fields[1])):
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def storm(url, host, script, process, length):
    """Returns what wrk says of one server."""
    before = cpu(process)
    command = ["wrk", "-t1", "-c4", f"-d{length}s", "--latency", "-s", script, "-H", f"Host: {host}", url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in text, text
    requests = int(re.search(r"(\d+) requests in", text).group(1))

    def latency(share):
        value, unit = re.search(rf"{share}%\s+([0-9.]+)(us|ms|s)", text).groups()
        return float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    return {"rate": float(re.search(r"Requests/sec:\s+([0-9.]+)", text).group(1)), "cpu": (cpu(process) - before) / requests * 1000,
            "50": latency(50), "99": latency(99)}


def random_reads(packer, key, name, tree, place, length, rounds):
    """Returns a record of requests for the small files of a tree in random order."""
    files = sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file() and 0 < path.stat().st_size < 65536)
    paths = [quote(f"/{path}") for path in files]
    script = place / "paths.lua"
    script.write_text("local paths = {" + ",".join(json.dumps(path) for path in paths) + "}\nmath.randomseed(5)\n"
                      "request = function() return wrk.format('GET', paths[math.random(#paths)]) end\n")
    pack = place / f"{name}.pack"
    subprocess.run([packer, "pack", tree, "-o", pack, "--key", key, "--quiet", "--allow-secrets", "--allow-unportable-paths"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    found = {"packer": [], "nginx": []}
    with packer_serve(packer, pack, "--key", key, says="--quiet") as served, nginx(tree, place / "nginx-random") as plain:
        plain_process = int((place / "nginx-random" / "pid").read_text())
        for _ in range(rounds):
            found["packer"].append(storm(f"http://127.0.0.1:{served.port}/", f"{served.host}:{served.port}", script, served.process.pid, length))
            found["nginx"].append(storm(plain, "localhost", script, plain_process, length))
        status = pathlib.Path(f"/proc/{served.process.pid}/status").read_text()
        memory = int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024
    return {"tree": name, "files": len(files), "memory": memory, **{
        who: {figure: statistics.median(run[figure] for run in runs) for figure in runs[0]} for who, runs in found.items()}}


def ratio(mine, theirs):
    """Returns the median, the smallest and the largest ratio of the single rounds."""
    ratios = sorted(one / other for one, other in zip(mine, theirs))
    return [statistics.median(ratios), ratios[0], ratios[-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packer")
    parser.add_argument("--tree", action="append", default=[], help="NAME=DIR: also measure random reads of this tree")
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
        trees = [tree.split("=", 1) for tree in options.tree]
        length = 2 if options.quick else 8
        record = {
            "type": "serve",
            "random": [random_reads(options.packer, key, name, pathlib.Path(path), place, length, rounds) for name, path in trees],
            "packSize": pack.stat().st_size, "largeSize": large,
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
    for item in record["random"]:
        for who in ("packer", "nginx"):
            print(f"{item['tree']}, {item['files']} files below 64 KiB, {who}: " + ", ".join(f"{name} {value:.3f}" for name, value in item[who].items()))
        print(f"memory {item['memory']:.1f} MiB")
    for item in record["firstByte"]:
        print(f"first byte, {item['server']:<7} {item['median']:.2f} ms, 99 of 100 within {item['99']:.2f} ms")


if __name__ == "__main__":
    main()
