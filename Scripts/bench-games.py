#!/usr/bin/env python3
"""Compares packer with `tar | zstd | age` on games and web bundles: Scripts/bench-games.py PACKER [--json] [--trees DIR] [--fetch] [--only NAME]…

Scripts/bench-games.txt names them. They are downloaded, checked by their digests, and unpacked without links to DIR, or to a temporary directory. CPU
time is that of all processes of both sides, in turns; a ratio is the median of its rounds. Sizes at level 19 are measured for trees up to 60 MB.
"""

import argparse
import hashlib
import json
import math
import os
import pathlib
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile

LIST = pathlib.Path(__file__).with_name("bench-games.txt")
KINDS = ("size", "pack", "unpack", "check")


def fetch(name, version, digest, place):
    """Unpacks a tree to place/name, if it is not there."""
    tree = place / name
    if tree.exists():
        return tree
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        if version.startswith("=="):
            subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", name + version], cwd=scratch, check=True)
        else:
            subprocess.run(["apt-get", "download", "-q", f"{name}={version}"], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        (file,) = pathlib.Path(scratch).iterdir()
        if hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            sys.exit(f"error: {file.name} is another file than {LIST.name} says")
        found = pathlib.Path(scratch) / "tree"
        if version.startswith("=="):
            zipfile.ZipFile(file).extractall(found)
        else:
            subprocess.run(["dpkg", "-x", file, found], check=True)
        for path in found.rglob("*"):
            if path.is_symlink():
                path.unlink()
        found.rename(tree)
    return tree


def cpu(command):
    """Returns the seconds of CPU time of a shell command and all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(packer, tree, place, identity):
    """Returns the ratios of one tree."""
    size = sum(path.stat().st_size for path in tree.rglob("*") if path.is_file())
    tree, archive, pack, out = (shlex.quote(str(path)) for path in (tree, place / "reference", place / "pack", place / "out"))
    public = next(line.split()[-1] for line in open(identity) if "public key" in line)
    make = f"{packer} pack {tree} -o {pack} --key {place}/key -q --allow-secrets --allow-unportable-paths --name game"
    reference = f"tar -C {tree} -cf - . | zstd -q -T2 -%d | age -r {public} >{archive}"
    read = f"age -d -i {identity} {archive} | zstd -q -d"
    sides = {
        "pack": (make, reference % 3), "unpack": (f"{packer} unpack {pack} -C {out} --key {place}/key -q", f"mkdir {out}; {read} | tar -C {out} -xf -"),
        "check": (f"{packer} check {pack} --key {place}/key -q", f"{read} >/dev/null")}
    rounds = 9 if size < 30e6 else 5 if size < 150e6 else 3
    ratios = {kind: [] for kind in sides}
    for number in range(rounds):
        for kind, pair in sides.items():
            times = []
            for command in pair if number % 2 == 0 else reversed(pair):
                shutil.rmtree(place / "out", ignore_errors=True)
                times.append(cpu(command))
            ratios[kind].append(times[0] / times[1] if number % 2 == 0 else times[1] / times[0])

    def proportion():
        return (place / "pack").stat().st_size / (place / "reference").stat().st_size

    figures = {"size": proportion(), **{kind: statistics.median(values) for kind, values in ratios.items()}}
    if size < 60e6:
        cpu(f"{make} --level 19 && {reference % 19}")
        figures["size at 19"] = proportion()
    return size, figures


def start(packer, place):
    """Returns the seconds of CPU time that a start and the list of the last pack take, without the shell's own."""
    def usual(command):
        return statistics.median(cpu(command) for _ in range(31))

    shell = usual(":")
    return {"version": usual(f"exec {packer} --version") - shell, "ls": usual(f"exec {packer} ls {place}/pack --key {place}/key") - shell}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packer")
    parser.add_argument("--json", action="store_true", help="print a record for Scripts/bench-document.py")
    parser.add_argument("--trees", type=pathlib.Path, help="the directory of the unpacked trees, which stay there")
    parser.add_argument("--only", action="append", help="measure this tree")
    parser.add_argument("--fetch", action="store_true", help="only fetch the trees")
    options = parser.parse_args()
    packer = shlex.quote(os.path.abspath(options.packer))
    rows = [line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#")]
    records, started = [], None
    with tempfile.TemporaryDirectory(prefix="packer-games.", dir=os.environ.get("BENCH_PLACE", "/dev/shm")) as name:
        place = pathlib.Path(name)
        subprocess.run([options.packer, "key", "new", "-o", place / "key"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["age-keygen", "-o", place / "identity"], check=True, stderr=subprocess.DEVNULL)
        for title, version, digest in rows:
            if options.only and title not in options.only:
                continue
            kept = options.trees or place
            kept.mkdir(exist_ok=True)
            tree = fetch(title, version, digest, kept)
            if options.fetch:
                continue
            size, figures = compare(packer, tree, place, place / "identity")
            if size < 1e6:
                started = start(packer, place)
            if options.trees is None:
                shutil.rmtree(tree)
            records.append({"name": title, "version": version.removeprefix("=="), "bytes": size, **figures})
            print(f"{title} {size / 1e6:.1f} MB: " + ", ".join(f"{kind} {value:.3f}" for kind, value in figures.items()), file=sys.stderr, flush=True)
    if options.fetch:
        return
    if options.json:
        print(json.dumps({"type": "games", "start": started, "trees": records}))
        return
    if started:
        print(f"start {started['version'] * 1000:.2f} ms, ls {started['ls'] * 1000:.2f} ms")
    for kind in (*KINDS, "size at 19"):
        values = [record[kind] for record in records if kind in record]
        print(f"{kind:<10} {math.exp(statistics.fmean(map(math.log, values))):.3f}, at most {max(values):.3f}, above 1: {sum(value > 1 for value in values)} of {len(values)}")


if __name__ == "__main__":
    main()
