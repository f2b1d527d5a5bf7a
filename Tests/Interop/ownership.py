#!/usr/bin/env python3
"""Counts the C objects that `packer` makes, and sees that each is freed or kept for the next, and that every secret is wiped: of every verb, of every test vector, of every
value that the fuzz targets begin with, and of runs in which one call into OpenSSL, zstd or libarchive fails.

A library is loaded before the program, which counts and has calls fail; Tests/Interop/owners.c says how. The commands are named by the variables PACKER and
PACKER_FUZZ. With --all, every call of a function fails in turn, and not its first and last alone, and vectors are unpacked too.
"""

import argparse
import concurrent.futures
import gzip
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

from project import PACKER, ROOT, fail, vector_key

FUZZ = os.environ.get("PACKER_FUZZ", str(ROOT / ".build/debug/packer-fuzz"))
VECTORS = ROOT / "Tests/Vectors"

CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:game.key
signKey: file:game.sign.key
packs:
  - {id: core, root: tree/core, delivery: essential}
  - {id: kart, root: tree/kart, delivery: prefetch, install: packed}
"""

# What a verb gets over: locking memory is best effort, and a frame that cannot be decompressed over itself is decompressed apart.
MAY_PASS = {"mlock", "ZSTD_decompressDCtx"}
# What is kept for the next of its kind, at most: pages of secrets, which are zeros then, and decoders.
KEPT = {"munmap": 8, "ZSTD_freeDCtx": 2}
# The second question is whether it held for an app that nobody has; and a store goes on with what is installed although its manifest is in nobody's
# name any more.
MAY_PASS_IN = {
    ("verify", "dist"): {"EVP_DigestVerify:2"}, ("store", "activate"): {"EVP_DigestVerify:1"}, ("store", "purge"): {"EVP_DigestVerify:1"},
    ("store", "reconcile"): {"EVP_DigestVerify:1"}}


class Report:
    """What the library counted in one process."""

    def __init__(self, path):
        self.made, self.freed, self.called = {}, {}, {}
        self.files = self.unwiped = self.failures = 0
        for line in path.read_text().splitlines():
            kind, *rest = line.split()
            if kind in ("made", "freed", "called"):
                counts = getattr(self, kind)
                counts[rest[0]] = counts.get(rest[0], 0) + int(rest[1])
            else:
                setattr(self, kind, int(rest[0]))

    def complaint(self):
        for release, count in self.made.items():
            if not 0 <= count - self.freed[release] <= KEPT.get(release, 0):
                return f"{count} objects were made and {self.freed[release]} freed, of those for {release}"
        if self.unwiped:
            return f"{self.unwiped} secrets were given back as they were"
        return f"{self.files} files are still open" if self.files else None


class Counter:
    def __init__(self, directory):
        self.directory = directory
        self.library = directory / "owners.so"
        # Functions that are looked up by name do not make the linker need their library.
        subprocess.run(
            ["cc", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", self.library, ROOT / "Tests/Interop/owners.c",
             "-Wl,--no-as-needed", "-lcrypto", "-lzstd", "-larchive", "-ldl"], check=True)  # fmt: skip
        self.runs = self.objects = self.secrets = self.failures = 0

    def run(self, command, place, fault=None, statuses=None):
        """Runs a command in a directory, and returns its report and status."""
        report = place / "report"
        environment = {**os.environ, "LD_PRELOAD": str(self.library), "OWNERS_REPORT": str(report), "TMPDIR": str(place)}
        environment.pop("PACKER_KEY", None)
        if fault:
            environment["OWNERS_FAIL"] = fault
        told = f"{' '.join(map(str, command))[:200]}{f' with {fault} failing' if fault else ''}"
        done = subprocess.run(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
        said = done.stderr.decode(errors="replace")
        if done.returncode < 0:
            fail(f"{told} ended by signal {-done.returncode}: {said[-2000:]}")
        # 1 is for findings, which are results.
        if done.returncode > 1 and "error" not in said + done.stdout.decode(errors="replace"):
            fail(f"{told} ended with {done.returncode} and says nothing")
        if statuses is not None and done.returncode not in statuses:
            fail(f"{told} ended with {done.returncode}: {said[-2000:]}")
        found = Report(report)
        report.unlink()
        if complaint := found.complaint():
            fail(f"{told}, which ended with {done.returncode}: {complaint}")
        return found, done.returncode

    def add(self, report):
        self.runs += 1
        self.objects += sum(count for release, count in report.made.items() if release != "munmap")
        self.secrets += report.made["munmap"]


def stage(directory):
    """A project with a release, a store and what the verbs need."""
    for name, size in (("core/index.html", 5000), ("core/level.bin", 300_000), ("kart/index.html", 3000), ("kart/music.ogg", 40_000)):
        path = directory / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        source = random.Random(size)
        path.write_bytes(source.randbytes(size) if size > 10_000 else b"<p>hello\n" * (size // 9))
    # The same content twice is a link in the archive.
    shutil.copy(directory / "tree/kart/music.ogg", directory / "tree/kart/song.ogg")
    (directory / "packer.yml").write_text(CONFIGURATION)
    with gzip.open(directory / "access.log.gz", "wb") as log:
        log.write(b'10.0.0.1 - - [30/Nov/2026:01:02:03 +0000] "GET /manifest.json HTTP/1.1" 304 0\n' * 1000)
    def run(*arguments):
        subprocess.run([PACKER, *arguments], cwd=directory, check=True, capture_output=True)
    run("key", "new", "-o", "game.key")
    run("key", "new", "-o", "other.key")
    run("key", "new", "--signing", "-o", "game.sign.key")
    run("pack", "tree", "-o", "game.pack", "--key", "game.key")
    run("key", "new", "--recipient", "-o", "review.key")
    public = subprocess.run([PACKER, "key", "public", "--key", "review.key"], cwd=directory, check=True, capture_output=True, text=True).stdout.split()[0]
    run("key", "wrap", "game.pack", "-o", "review.pack", "--to", public, "--to-key", "other.key", "--key", "game.key")
    run("build")
    run("store", "install", "dist", "--store", "phone")


def verbs():
    """Verbs as they are given, and the statuses they may end with."""
    key = ("--key", "game.key")
    yield ("pack", "tree", "-o", "new.pack", *key), (0,)
    yield ("pack", "tree", "-o", "new.pack", "--level", "19", "--jobs", "1", *key), (0,)
    yield ("unpack", "game.pack", "-C", "out", *key), (0,)
    yield ("unpack", "game.pack", "-C", "out", "--key", "other.key"), (11,)
    yield ("ls", "game.pack", *key), (0,)
    yield ("cat", "game.pack", "core/level.bin", *key), (0,)
    yield ("cat", "game.pack", "nothing", *key), None
    yield ("check", "game.pack", "--against", "tree", *key), (0,)
    yield ("check", "game.pack", "--against", "dist", *key), (1,)
    yield ("unpack", "game.pack", "--tar", "new.tar.zst", *key), (0,)
    yield ("unpack", "game.pack", "--zip", "new.zip", *key), (0,)
    yield ("inspect", "game.pack"), (0,)
    yield ("key", "new", "-o", "new.key"), (0,)
    yield ("key", "new", "--recipient", "-o", "new.key"), (0,)
    yield ("key", "wrap", "game.pack", "-o", "new.pack", "--to-key", "other.key", *key), (0,)
    yield ("key", "unwrap", "review.pack", "-o", "new.pack", "--all", "--key", "review.key"), (0,)
    yield ("ls", "review.pack", "--key", "review.key"), (0,)
    yield ("ls", "review.pack", "--key", "other.key"), (0,)
    yield ("ls", "game.pack", "--key", "review.key"), (11,)
    yield ("key", "public", "game.sign.key"), None
    yield ("key", "id", "game.key"), None
    yield ("build", "-o", "next"), (0,)
    yield ("verify", "dist"), None
    yield ("store", "install", "dist", "--store", "tablet"), (0,)
    yield ("store", "activate", "core", "--store", "phone"), None
    yield ("store", "purge", "--free", "1KiB", "--store", "phone"), None
    yield ("store", "reconcile", "--store", "phone"), None
    yield ("observe", "access.log.gz"), (0,)
    yield ("simulate", "install", "dist", "--quiet"), None


def points(count, every):
    """The calls that fail: all of them, or the first and the last."""
    return range(1, count + 1) if every or count < 3 else (1, count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="have every call fail in turn")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        directory = pathlib.Path(name)
        counter = Counter(directory)
        origin = directory / "origin"
        origin.mkdir()
        stage(origin)

        def copied():
            place = pathlib.Path(tempfile.mkdtemp(dir=directory))
            shutil.copytree(origin, place, dirs_exist_ok=True)
            return place

        def attempt(arguments, fault=None, statuses=None):
            place = copied()
            try:
                return counter.run([PACKER, *arguments], place, fault, statuses)
            finally:
                shutil.rmtree(place)

        # Every verb, and then with each function failing.
        faults = []
        for (arguments, statuses), (report, status) in zip(verbs(), pool.map(lambda one: attempt(one[0], None, one[1]), verbs())):
            counter.add(report)
            # A device's whole life takes a while.
            if status == 0 and (options.all or arguments[0] != "simulate"):
                faults += [(arguments, f"{name}:{number}") for name, count in report.called.items() for number in points(count, options.all)]
        for (arguments, fault), (report, status) in zip(faults, pool.map(lambda one: attempt(*one), faults)):
            counter.add(report)
            # Threads share the work as it comes: a call may have been one of fewer.
            counter.failures += report.failures
            may_pass = fault.partition(":")[0] in MAY_PASS or fault in MAY_PASS_IN.get(arguments[:2], ())
            # What could not be looked at is no finding of a store's.
            passed = (0, 1) if "reconcile" in arguments else (0,)
            if status in passed and report.failures and not may_pass and arguments[0] != "simulate":
                fail(f"packer {' '.join(arguments)} takes no notice of a failing {fault}")

        # Every vector, right ones and hostile ones.
        def vector(path):
            place = pathlib.Path(tempfile.mkdtemp(dir=directory))
            head, _, pack = path.read_bytes().partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
            (place / "v.key").write_text(vector_key(fields))
            (place / "v.pack").write_bytes(pack)
            verbs = (("check", "v.pack"), ("unpack", "v.pack", "-C", "out"))
            try:
                return [counter.run([PACKER, *verb, "--key", "v.key"], place) for verb in verbs[: 2 if options.all else 1]]
            finally:
                shutil.rmtree(place)

        vectors = sorted(VECTORS.glob("*/*.vector"))
        for reports in pool.map(vector, vectors):
            for report, _ in reports:
                counter.add(report)

        # What the fuzz targets begin with.
        def target(name):
            place = pathlib.Path(tempfile.mkdtemp(dir=directory))
            (place / "seeds").mkdir()
            subprocess.run([FUZZ, "seeds", name, place / "seeds"], check=True, capture_output=True)
            files = [*map(str, sorted((place / "seeds").iterdir())), *map(str, sorted((ROOT / "Tests/Corpora" / name).glob("*")))]
            report, status = counter.run([FUZZ, "replay", name, *files], place, None, (0,))
            shutil.rmtree(place)
            return report, len(files)

        targets = subprocess.run([FUZZ, "list"], check=True, capture_output=True, text=True).stdout.split()
        inputs = 0
        for report, count in pool.map(target, targets):
            counter.add(report)
            inputs += count
    if counter.objects < 10_000 or counter.failures < 300 or len(vectors) < 400:
        fail(f"that is too little: {counter.objects} objects, {counter.failures} failures, {len(vectors)} vectors")
    print(
        f"ownership: {counter.runs} runs, {len(vectors)} of them over vectors, {counter.failures} with a call that fails, and {inputs} inputs of fuzz targets: "
        f"{counter.objects} C objects made and freed, {counter.secrets} secrets wiped and given back"
    )


if __name__ == "__main__":
    main()
