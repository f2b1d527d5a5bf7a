#!/usr/bin/env python3
"""Plants faults in a copy of the sources and checks that the tests notice each of them.
  Scripts/mutants.py check                  checks that every fault still fits the sources
  Scripts/mutants.py plant TREE             plants all faults in a copy of the project
  Scripts/mutants.py run TREE [PATTERN]…    runs the built tests of TREE once for each fault whose area or name matches

All faults are built at once. Each is off unless the environment variable PACKER_FAULT has its name. The faults are in Tests/Mutants, one file for each
area: blocks separated by blank lines. 'suites: A B' names the suites to run for the faults below it. A fault is 'NAME | FILE | WHAT IS WRONG', then
lines of a diff: two spaces and a line that stays, '- ' and a line that is replaced, '+ ' and a new line. PLANTED in a new line is true if the fault is
on. The lines must occur exactly once in the file; indentation does not count."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FAULTS = ROOT / "Tests/Mutants"
# The limit of a test in minutes, and that of a run in seconds, which is longer.
MINUTES = 3
SECONDS = 200

SWITCH = """#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

private let plantedFault: String? = unsafe getenv("PACKER_FAULT").map { unsafe String(cString: $0) }

@inline(never)
func planted(_ name: String) -> Bool { plantedFault == name }
"""


class Fault:
    def __init__(self, area, suites, head, lines, place):
        self.area, self.suites, self.place = area, suites, place
        self.name, self.file, self.what = (part.strip() for part in head.split("|"))
        old, self.new, self.first, self.last = [], [], None, 0
        for line in lines:
            kind, text = line[:2].strip(), line[2:].strip()
            if kind not in ("", "-", "+"):
                raise SystemExit(f"{place}: '{line}' is not a line of a diff")
            if kind != "+":
                old.append(text)
            if kind == "-":
                self.first = len(old) - 1 if self.first is None else self.first
                self.last = len(old)
            if kind == "+":
                self.new.append(text.replace("PLANTED", f'planted("{self.name}")'))
        if self.first is None:
            raise SystemExit(f"{place}: '{self.name}' replaces nothing")
        # One group for each part: the lines before, the replaced ones, and those after.
        parts = (old[: self.first], old[self.first : self.last], old[self.last :])
        gap = r"\n[ \t]*"
        before, middle, after = (gap.join(re.escape(line) for line in part) for part in parts)
        self.pattern = re.compile((f"{before}{gap}" if before else "") + f"({middle})" + (f"{gap}{after}" if after else ""))

    def span(self, text):
        found = list(self.pattern.finditer(text))
        if len(found) != 1:
            raise SystemExit(f"{self.place}: '{self.name}' fits {len(found)} places of {self.file} instead of one")
        return found[0].span(1)


def faults():
    found = []
    for path in sorted(FAULTS.glob("*.txt")):
        suites, number = [], 0
        for block in re.split(r"\n\n+", path.read_text().strip()):
            lines = [line for line in block.split("\n") if not line.startswith("#")]
            while lines and lines[0].startswith("suites:"):
                suites = lines.pop(0).split()[1:]
            if lines:
                number += 1
                found.append(Fault(path.stem, suites, lines[0], lines[1:], path.relative_to(ROOT)))
    names = [fault.name for fault in found]
    for name in {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"two faults have the name '{name}'")
    return found


def planted_texts(all_faults):
    """The sources with all faults, by path."""
    texts = {}
    for file in sorted({fault.file for fault in all_faults}):
        text = (ROOT / file).read_text()
        places = sorted(((*fault.span(text), fault) for fault in all_faults if fault.file == file), key=lambda place: place[0])
        for (_, end, one), (start, _, other) in zip(places, places[1:]):
            if end > start:
                raise SystemExit(f"'{one.name}' and '{other.name}' replace the same text of {file}")
        for start, end, fault in reversed(places):
            text = text[:start] + "\n".join(fault.new) + text[end:]
        texts[file] = text
    return texts


def check():
    all_faults = faults()
    planted_texts(all_faults)
    suites = {suite for fault in all_faults for suite in fault.suites}
    tests = "\n".join(path.read_text() for path in (ROOT / "Tests").rglob("*.swift"))
    for suite in sorted(suites):
        if not re.search(rf"\b(struct|class|actor) {suite}\b", tests):
            raise SystemExit(f"there is no suite '{suite}'")
    areas = sorted({fault.area for fault in all_faults})
    print(f"{len(all_faults)} faults fit: " + ", ".join(f"{area} {sum(f.area == area for f in all_faults)}" for area in areas))


def plant(tree):
    """Makes a tree equal to the project with all faults. A file that does not change keeps its time, so that a second build is quick."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    wanted = {name: (ROOT / name).read_bytes() for name in names if name and (ROOT / name).is_file()}
    for file, text in planted_texts(faults()).items():
        wanted[file] = text.encode()
        wanted[f"Sources/{pathlib.PurePath(file).parts[1]}/PlantedFault.swift"] = SWITCH.encode()
    for name, content in wanted.items():
        path = tree / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            if os.access(ROOT / name, os.X_OK):
                path.chmod(0o755)
    for folder in ("Sources", "Tests"):
        for path in (tree / folder).rglob("*"):
            if path.is_file() and str(path.relative_to(tree)) not in wanted:
                path.unlink()


def verdict(tree, fault):
    """How a run of the fault's suites ends: noticed, survived or hung; and the seconds that it took."""
    began = time.monotonic()
    environment = dict(os.environ, PACKER_FAULT=fault.name if fault else "", PACKER_TEST_MINUTES=str(MINUTES))
    command = [
        ".build/debug/packerPackageTests.xctest", "--testing-library", "swift-testing",
        "--filter", "(" + "|".join(fault.suites) + ")/"]
    process = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    os.set_blocking(process.stdout.fileno(), False)
    try:
        return watch(process, began)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def watch(process, began):
    output, end = b"", None
    while end is None:
        output += process.stdout.read() or b""
        # The first issue is enough.
        if b"recorded an issue" in output:
            end = "noticed"
        elif process.poll() is not None:
            output += process.stdout.read() or b""
            ran = re.search(rb"Test run with (\d+) tests?", output)
            crashed = process.returncode not in (0, 1)
            end = "noticed" if process.returncode != 0 or b"recorded an issue" in output or crashed else "survived" if ran and int(ran[1]) else "ran nothing"
        elif time.monotonic() - began > SECONDS:
            end = "hung"
        else:
            time.sleep(0.05)
    where = re.search(rb'Test "?(.*?)"? recorded an issue', output)
    return end, time.monotonic() - began, where[1].decode(errors="replace") if where else ""


def run(tree, patterns):
    # The tests run in sessions of their own, and end with this script.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [f for f in faults() if not patterns or any(re.search(p, f"{f.area}/{f.name}") for p in patterns)]
    score = {}
    bad = []
    for fault in chosen:
        end, seconds, where = verdict(tree, fault)
        counts = score.setdefault(fault.area, [0, 0])
        counts[0] += end == "noticed"
        counts[1] += 1
        print(f"{end:9} {seconds:5.1f} s  {fault.area}/{fault.name}: {fault.what}" + (f" [{where}]" if where else ""), flush=True)
        if end != "noticed":
            bad.append(f"{fault.area}/{fault.name}: {end}")
    for area, (noticed, count) in sorted(score.items()):
        print(f"{area}: {noticed} of {count} noticed ({100 * noticed // count} %)")
    if bad:
        print("not noticed: " + ", ".join(bad))
    wanted = {"security": 95, "durability": 95}
    if any(100 * noticed < wanted.get(area, 90) * count for area, (noticed, count) in score.items()):
        raise SystemExit(1)


def main():
    match sys.argv[1:]:
        case ["check"]:
            check()
        case ["plant", tree]:
            plant(pathlib.Path(tree).resolve())
        case ["run", tree, *patterns]:
            run(pathlib.Path(tree).resolve(), patterns)
        case _:
            print(__doc__)
            raise SystemExit(0 if sys.argv[1:2] in (["--help"], ["-h"]) else 64)


main()
