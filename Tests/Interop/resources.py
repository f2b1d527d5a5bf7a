#!/usr/bin/env python3
"""What hostile and awkward input costs: `packer check` and `packer unpack` over every test vector, and over packs that are large in every way that the
format allows, each with its peak memory and its processor time; and how the time of each verb grows where a tree gets wider, deeper or longer.

The command is named by the variable PACKER. The second half, of some minutes, runs with --growth. Fails where anything takes more than it may.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from project import vector_key

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))

# A vector has a payload of some kilobytes, but its frames may claim 8 MiB. In MiB and seconds of processor time, for a debug build.
VECTOR_MEMORY, VECTOR_SECONDS = 96, 5.0


def fail(message):
    sys.exit(f"error: {message}")


def run(*arguments, statuses=(0,), place=None):
    """Peak memory in MiB and processor time in seconds."""
    # A child of a small process: the system counts what the parent had in memory when it started it.
    program = [shutil.which("time") or "/usr/bin/time", "-q", "-f", "%M %U %S", "-o", str(place / "cost"), PACKER, *arguments]
    done = subprocess.run(program, capture_output=True)
    if done.returncode not in statuses:
        fail(f"packer {' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}")
    kilobytes, user, system = (place / "cost").read_text().split()[-3:]
    return int(kilobytes) / 1024, float(user) + float(system)


def vectors(place):
    most = [(0.0, ""), (0.0, "")]
    count = 0
    for path in sorted((ROOT / "Tests/Vectors").glob("*/*.vector")):
        data = path.read_bytes()
        head, pack = data[: data.index(b"\n\n")].decode(), data[data.index(b"\n\n") + 2 :]
        fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        (place / "key").write_text(vector_key(fields))
        (place / "v.pack").write_bytes(pack)
        is_good = fields["expect"] == "ok"
        for arguments in (["check", str(place / "v.pack")], ["unpack", str(place / "v.pack"), "-C", str(place / "out")]):
            memory, seconds = run(
                *arguments, "--key", f"file:{place / 'key'}", "--quiet", "--jobs", "2", place=place,
                statuses=range(0, 80) if is_good else [status for status in range(1, 80) if status != 70])
            shutil.rmtree(place / "out", ignore_errors=True)
            count += 1
            for kind, value in enumerate((memory, seconds)):
                most[kind] = max(most[kind], (value, f"{arguments[0]} {path.stem}"))
    if count < 500:
        fail(f"there were only {count} runs over vectors")
    (memory, widest), (seconds, slowest) = most
    print(f"vectors: {count} runs, at most {memory:.1f} MiB ({widest}) and {seconds:.2f} s ({slowest})")
    if memory > VECTOR_MEMORY:
        fail(f"{widest} takes {memory:.1f} MiB, and {VECTOR_MEMORY} is the most")
    if seconds > VECTOR_SECONDS:
        fail(f"{slowest} takes {seconds:.1f} s, and {VECTOR_SECONDS} is the most")


def wide(directory, count):
    """Files in one directory."""
    directory.mkdir(parents=True)
    for number in range(count):
        (directory / f"{number:07}").write_bytes(b"")


def deep(directory, count):
    """Files whose paths have as many components as fit, and share all but the last."""
    below = directory.joinpath(*(["d"] * 63))
    below.mkdir(parents=True)
    for number in range(count):
        (below / f"{number:07}").write_bytes(b"")


def long_names(directory, count):
    """Files whose paths are as long as they may be."""
    below = directory.joinpath(*["n" * 255] * 3)
    below.mkdir(parents=True)
    for number in range(count):
        (below / f"{number:07}{'x' * 240}").write_bytes(b"")


def directories(directory, count):
    """Empty directories, each an entry; a quarter as many, because a pack has at most 65 536."""
    for number in range(count // 4):
        (directory / f"{number % 256:02x}" / f"{number:07}").mkdir(parents=True)


def equal(directory, count):
    """Files that are all the same."""
    directory.mkdir(parents=True)
    for number in range(count):
        (directory / f"{number:07}").write_bytes(b"the same in each of them")


def alike(directory, count):
    """Files of one length that differ in their last byte."""
    directory.mkdir(parents=True)
    for number in range(count):
        (directory / f"{number:07}").write_bytes(b"\0" * 500 + number.to_bytes(4, "big"))


def growth(place, small, factor):
    """Processor time of each verb on a tree, and on one `factor` times as large; twice the factor would be quadratic for a factor of two."""
    (place / "key").unlink(missing_ok=True)
    subprocess.run([PACKER, "key", "new", "-o", str(place / "key")], check=True, capture_output=True)
    worst = (0.0, "")
    for shape in (wide, deep, long_names, directories, equal, alike):
        costs = {}
        for size in (small, small * factor):
            tree, pack = place / "tree", place / "t.pack"
            shape(tree, size)
            common = ["--key", f"file:{place / 'key'}", "--quiet", "--jobs", "2"]
            verbs = {
                "pack": ["pack", str(tree), "-o", str(pack), *common],
                "check": ["check", str(pack), "--against", str(tree), *common],
                "ls": ["ls", str(pack), *common[:3]],
                "unpack": ["unpack", str(pack), "-C", str(place / "out"), *common],
                "init": ["init", str(tree), "-o", str(place / "packer.yml"), "--quiet"],
            }
            for verb, arguments in verbs.items():
                # The least of three: what else the machine did only adds.
                runs = []
                for _ in range(3):
                    for left in ("out", "packer.yml"):
                        path = place / left
                        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
                    # A proposal for nothing, or for too much, is refused in words.
                    runs.append(run(*arguments, place=place, statuses=(0, 65) if verb == "init" else (0,)))
                costs.setdefault(verb, []).append((min(memory for memory, _ in runs), min(seconds for _, seconds in runs)))
            shutil.rmtree(tree)
            shutil.rmtree(place / "out", ignore_errors=True)
        for verb, ((_, before), (memory, after)) in costs.items():
            # What the start takes is no growth; below a tenth of a second there is nothing to see.
            ratio = after / max(before, 0.1) / factor
            worst = max(worst, (ratio, f"{verb} of {shape.__name__}"))
            if ratio > 1.6:
                fail(f"{verb} of {shape.__name__}: {before:.2f} s for {small} entries, {after:.2f} s for {small * factor}")
            if memory > 400:
                fail(f"{verb} of {shape.__name__} takes {memory:.0f} MiB for {small * factor} entries")
        told = ", ".join(f"{verb} {after:.2f} s {memory:.0f} MiB" for verb, (_, (memory, after)) in costs.items())
        print(f"{shape.__name__}, {small * factor} entries: {told}", flush=True)
    print(f"growth: {factor} times the entries take at most {worst[0] * factor:.1f} times the time ({worst[1]})")


def main():
    if sys.argv[1:] not in ([], ["--growth"]):
        fail("the one option is --growth")
    with tempfile.TemporaryDirectory(prefix="packer-resources.") as name:
        place = pathlib.Path(name)
        vectors(place)
        if sys.argv[1:]:
            growth(place, 16_384, 8)


if __name__ == "__main__":
    main()
