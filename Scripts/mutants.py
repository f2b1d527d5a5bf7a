#!/usr/bin/env python3
"""Plants faults in a copy of the sources and checks that the tests notice each of them.
  Scripts/mutants.py check                          checks that every patch still fits the sources, and some generated faults
  Scripts/mutants.py plant TREE [--sample N] [--seed S] [PATTERN]…
                                                    plants the patches and N generated faults in a copy of the project
  Scripts/mutants.py repair TREE LOG                takes out the generated faults that do not compile: those on lines with an error in LOG
  Scripts/mutants.py run TREE [PATTERN]…            runs the built tests of TREE once for each fault whose area or name matches

All faults are built at once. Each is off unless the environment variable PACKER_FAULT has its number, which is in TREE/planted.json.

Patches are faults that a person wrote, for security and durability. They are in Tests/Mutants, one file for each area: blocks separated by blank lines.
'suites: A B' names the suites to run for the faults below it. A fault is 'NAME | FILE | WHAT IS WRONG', then lines of a diff: two spaces and a line that
stays, '- ' and a line that is replaced, '+ ' and a new line. PLANTED in a new line is true if the fault is on. The lines must occur exactly once in the
file; indentation does not count. Of each area, 95 % must be noticed.

Generated faults are made from the sources by Scripts/mutant_operators.py, so that code can be reworded freely. Their names are TARGET/FILE.FUNCTION.OPERATOR
and a number. A seed chooses the sample: the same seed chooses the same faults of the same sources, and a change of one file changes no choice in another.
Patterns choose by name or path. For each fault, the suites that reach it are run, the quickest first; one run without a fault finds out which these are.

Of the generated faults that the tests reach, GENERATED_PERCENT must be noticed. That is less than for patches, because some of them cannot be noticed: a
shortcut that is not taken, a limit one larger than necessary, a message in other words. What survives is listed with its line, for a person to judge."""

import argparse
import hashlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

import mutant_operators

ROOT = pathlib.Path(__file__).resolve().parent.parent
PATCHES = ROOT / "Tests/Mutants"
# More than the operators find in all sources.
MOST = 1 << 16
PATCH_PERCENT = 95
GENERATED_PERCENT = 75
# In a smaller sample, the percentage is chance.
SMALLEST_SAMPLE = 50
# The limit of a run. That of a test is less than a minute shorter.
SECONDS = 200
SECONDS_WITHOUT_A_FAULT = 3600
# The suites of a generated fault run in groups that take this long without a fault, each group twice as long as the one before, and no more after all.
FIRST_GROUP_SECONDS = 8
ALL_GROUPS_SECONDS = 120
# A fault may make a loop allocate memory for ever.
LARGEST_MEMORY = 4 << 30
# Not compiled on Linux, or not by 'swift build --build-tests'.
LEFT_OUT = ("Sources/PackAssets", "Sources/PackBackground", "Sources/PackApp/Background")
# The tests and the faults they reach, as measured.
REACHED, PLANTED = "reached.json", "planted.json"

SWITCH = """#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

private let plantedFault = unsafe getenv("PACKER_FAULT").map { unsafe atol($0) } ?? 0

/// If PACKER_FAULT is a path: a file with a byte for each fault that was reached.
nonisolated(unsafe) private let reachedFaults: UnsafeMutablePointer<UInt8>? = {
  guard let path = unsafe getenv("PACKER_FAULT"), unsafe path.pointee == CChar(UInt8(ascii: "/")) else { return nil }
  let file = unsafe open(path, O_RDWR)
  guard file >= 0 else { return nil }
  defer { close(file) }
  let memory = unsafe mmap(nil, LARGEST, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
  return unsafe memory == MAP_FAILED ? nil : memory?.assumingMemoryBound(to: UInt8.self)
}()

@inline(never)
func planted(_ number: Int) -> Bool {
  if let reachedFaults = unsafe reachedFaults { unsafe reachedFaults[number] = 1 }
  return number == plantedFault
}
""".replace("LARGEST", str(MOST))


class Patch:
    """A fault of Tests/Mutants."""

    number = 0

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
                self.new.append(text)
        if self.first is None:
            raise SystemExit(f"{place}: '{self.name}' replaces nothing")
        # One group for each part: the lines before, the replaced ones, and those after.
        parts = (old[: self.first], old[self.first : self.last], old[self.last :])
        gap = r"\n[ \t]*"
        before, middle, after = (gap.join(re.escape(line) for line in part) for part in parts)
        self.pattern = re.compile((f"{before}{gap}" if before else "") + f"({middle})" + (f"{gap}{after}" if after else ""))

    def edit(self, text):
        found = list(self.pattern.finditer(text))
        if len(found) != 1:
            raise SystemExit(f"{self.place}: '{self.name}' fits {len(found)} places of {self.file} instead of one")
        return *found[0].span(1), "\n".join(self.new)


class Generated:
    """A fault that changes one line."""

    number, suites = 0, None

    def __init__(self, file, name, line, new):
        self.area, self.file, self.name, self.line, self.new = pathlib.PurePath(file).parts[1], file, name, line, new
        self.what = f"line {line + 1}: {new.strip()}"

    def edit(self, text):
        lines = text.split("\n")
        start = sum(len(line) + 1 for line in lines[: self.line])
        return start, start + len(lines[self.line]), self.new


def patches():
    found = []
    for path in sorted(PATCHES.glob("*.txt")):
        suites = []
        for block in re.split(r"\n\n+", path.read_text().strip()):
            lines = [line for line in block.split("\n") if not line.startswith("#")]
            while lines and lines[0].startswith("suites:"):
                suites = lines.pop(0).split()[1:]
            if lines:
                found.append(Patch(path.stem, suites, lines[0], lines[1:], path.relative_to(ROOT)))
    names = [patch.name for patch in found]
    for name in {name for name in names if names.count(name) > 1}:
        raise SystemExit(f"two faults have the name '{name}'")
    return found


def sources():
    paths = [path.relative_to(ROOT) for path in sorted((ROOT / "Sources").rglob("*.swift"))]
    return [path for path in paths if not str(path).startswith(LEFT_OUT)]


def generated(path):
    """The faults of one file."""
    numbers, found = {}, []
    for function, operator, line, new in mutant_operators.of_file((ROOT / path).read_text()):
        kind = ".".join(part for part in (path.stem, function, operator) if part)
        numbers[kind] = numbers.get(kind, 0) + 1
        found.append(Generated(str(path), f"{kind}.{numbers[kind]}", line, new))
    return found


def matches(fault, patterns):
    return not patterns or any(re.search(pattern, text) for pattern in patterns for text in (f"{fault['area']}/{fault['name']}", fault["file"]))


def sample(seed, count, patterns, beside):
    """Chooses generated faults, at most one for each line, and none on the lines of other faults."""
    candidates = [fault for path in sources() for fault in generated(path) if matches(vars(fault), patterns)]
    candidates.sort(key=lambda fault: hashlib.sha256(f"{seed} {fault.area}/{fault.name}".encode()).digest())
    texts, taken, chosen = {}, {}, []
    for fault in beside:
        text = texts.setdefault(fault.file, (ROOT / fault.file).read_text())
        start, end, _ = fault.edit(text)
        taken.setdefault(fault.file, set()).update(range(text.count("\n", 0, start), text.count("\n", 0, end) + 1))
    for fault in candidates:
        lines = taken.setdefault(fault.file, set())
        if len(chosen) < count and fault.line not in lines:
            lines.add(fault.line)
            chosen.append(fault)
    return chosen


def planted_texts(faults):
    """The sources with all faults, by path."""
    texts = {}
    for file in sorted({fault.file for fault in faults}):
        text = (ROOT / file).read_text()
        edits = sorted(((*fault.edit(text), fault) for fault in faults if fault.file == file), key=lambda edit: edit[0])
        for (_, end, _, one), (start, _, _, other) in zip(edits, edits[1:]):
            if end > start:
                raise SystemExit(f"'{one.name}' and '{other.name}' replace the same text of {file}")
        for start, end, new, fault in reversed(edits):
            text = text[:start] + re.sub(r"\bPLANTED\b", f"planted({fault.number})", new) + text[end:]
        texts[file] = text
    return texts


def check():
    all_patches = patches()
    planted_texts(all_patches)
    suites = {suite for patch in all_patches for suite in patch.suites}
    tests = "\n".join(path.read_text() for path in (ROOT / "Tests").rglob("*.swift"))
    for suite in sorted(suites):
        if not re.search(rf"\b(struct|class|actor) {suite}\b", tests):
            raise SystemExit(f"there is no suite '{suite}'")
    areas = sorted({patch.area for patch in all_patches})
    # Every tenth file is enough to notice that the operators do not understand the sources.
    some = [fault for path in sources()[::10] for fault in generated(path)]
    for fault in some:
        old = (ROOT / fault.file).read_text().split("\n")[fault.line]
        if not mutant_operators.is_well_formed(old, fault.new):
            raise SystemExit(f"{fault.area}/{fault.name} is not well-formed: {fault.new}")
    if not some:
        raise SystemExit("no fault is generated")
    print(f"{len(all_patches)} patches fit: " + ", ".join(f"{area} {sum(p.area == area for p in all_patches)}" for area in areas))
    print(f"{len(some)} generated faults of every tenth file are well-formed")


def plant(tree, faults):
    """Makes a tree equal to the project with these faults. A file that does not change keeps its time, so that a second build is quick."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    wanted = {name: (ROOT / name).read_bytes() for name in names if name and (ROOT / name).is_file()}
    for file, text in planted_texts(faults).items():
        wanted[file] = text.encode()
        wanted[f"Sources/{pathlib.PurePath(file).parts[1]}/PlantedFault.swift"] = SWITCH.encode()
    wanted[PLANTED] = json.dumps(
        [{key: getattr(fault, key) for key in ("number", "area", "name", "file", "what", "suites")} for fault in faults], indent=1).encode()
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
    print(f"{sum(fault.suites is not None for fault in faults)} patches and {sum(fault.suites is None for fault in faults)} generated faults are planted")


def repair(tree, log):
    """Takes out the generated faults on lines with an error. The others keep their numbers, so that few files change."""
    planted = {fault["number"]: fault for fault in json.loads((tree / PLANTED).read_text())}
    gone = set()
    for name, line in re.findall(r"^(\S+\.swift):(\d+):\d+: error: ", log.read_text(errors="replace"), re.MULTILINE):
        text = pathlib.Path(name).read_text().split("\n")[int(line) - 1]
        gone |= {int(number) for number in re.findall(r"\bplanted\((\d+)\)", text) if planted[int(number)]["suites"] is None}
    if not gone:
        raise SystemExit("no generated fault is on a line with an error")
    print("do not compile: " + ", ".join(sorted(f"{planted[number]['area']}/{planted[number]['name']}" for number in gone)))
    files = sorted({fault["file"] for fault in planted.values() if fault["suites"] is None})
    all_faults = {(fault.area, fault.name): fault for fault in patches() + [fault for file in files for fault in generated(pathlib.Path(file))]}
    kept = []
    for number, fault in planted.items():
        if number not in gone:
            kept.append(all_faults[fault["area"], fault["name"]])
            kept[-1].number = number
    plant(tree, kept)


class Run:
    """One run of some suites, which ends with the first issue."""

    def __init__(self, tree, suites, switch, limit=SECONDS):
        environment = dict(os.environ, PACKER_FAULT=switch, PACKER_TEST_MINUTES=str(limit // 60))
        command = [
            ".build/debug/packerPackageTests.xctest", "--testing-library", "swift-testing",
            "--filter", r"\.(" + "|".join(suites) + ")/"]
        self.began, self.limit = time.monotonic(), limit
        self.output = b""
        self.process = subprocess.Popen(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        os.set_blocking(self.process.stdout.fileno(), False)
        try:
            self.end = self.watch()
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
        self.seconds = time.monotonic() - self.began

    def watch(self):
        """noticed, survived, hung, or 'ran nothing'."""
        while True:
            has_ended = self.process.poll() is not None
            self.output += self.process.stdout.read() or b""
            # The first issue is enough.
            if b"recorded an issue" in self.output:
                return "noticed"
            if has_ended:
                ran = re.search(rb"Test run with (\d+) tests?", self.output)
                return "noticed" if self.process.returncode != 0 else "survived" if ran and int(ran[1]) else "ran nothing"
            if self.memory() > LARGEST_MEMORY:
                return "noticed"
            if time.monotonic() - self.began > self.limit:
                return "hung"
            time.sleep(0.05)

    def memory(self):
        try:
            return int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return 0

    @property
    def test(self):
        found = re.search(rb'Test "?(.*?)"? recorded an issue', self.output)
        return found[1].decode(errors="replace") if found else ""


def reached(tree, numbers):
    """For each fault, the suites that reach it, the quickest first, with their seconds. Kept beside the tree, because it takes as long as all tests."""
    place, program = tree / REACHED, tree / ".build/debug/packerPackageTests.xctest"
    if not place.is_file() or place.stat().st_mtime < program.stat().st_mtime:
        listed = subprocess.run(
            [program, "--testing-library", "swift-testing", "--list-tests"], cwd=tree, stdout=subprocess.PIPE, check=True).stdout.decode()
        suites = sorted(set(re.findall(r"^\w+\.(\w+)[./]", listed, re.MULTILINE)))
        found = {}
        for suite in suites:
            with tempfile.NamedTemporaryFile() as marks:
                marks.truncate(MOST)
                run = Run(tree, [suite], marks.name, SECONDS_WITHOUT_A_FAULT)
                if run.end != "survived":
                    print(f"{suite} is not used, because it {run.end} without a fault [{run.test}]", flush=True)
                    continue
                found[suite] = {"seconds": run.seconds, "faults": [number for number, mark in enumerate(marks.read()) if mark]}
        place.write_text(json.dumps(found))
    found = json.loads(place.read_text())
    by_time = sorted(found, key=lambda suite: found[suite]["seconds"])
    return {number: [(suite, found[suite]["seconds"]) for suite in by_time if number in found[suite]["faults"]] for number in numbers}


def groups(suites):
    """Suites that run together: the first group is quick, and each is twice as long as the one before."""
    group, seconds, limit, total = [], 0, FIRST_GROUP_SECONDS, 0
    for suite, own in suites:
        if group and seconds + own > limit:
            yield group
            group, seconds, limit = [], 0, 2 * limit
        if total >= ALL_GROUPS_SECONDS:
            return
        group.append(suite)
        seconds += own
        total += own
    if group:
        yield group


def verdict(tree, fault, reaching):
    """How it ends, the seconds that it took, and the test that noticed it."""
    if fault["suites"]:
        run = Run(tree, fault["suites"], str(fault["number"]))
        return run.end, run.seconds, run.test
    seconds, run = 0, None
    for suites in groups(reaching[fault["number"]]):
        run = Run(tree, suites, str(fault["number"]))
        seconds += run.seconds
        if run.end == "hung":
            # Nobody waits for tests that do not end.
            return "noticed", seconds, "the tests do not end"
        if run.end != "survived":
            break
    return (run.end, seconds, run.test) if run else ("unreached", 0, "")


def percent(ends):
    return 100 * ends.count("noticed") // len(ends)


def run(tree, patterns):
    # The tests run in sessions of their own, and end with this script.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = [fault for fault in json.loads((tree / PLANTED).read_text()) if matches(fault, patterns)]
    numbers = [fault["number"] for fault in chosen if not fault["suites"]]
    reaching = reached(tree, numbers) if numbers else {}
    ends, bad = {}, []
    for fault in chosen:
        end, seconds, test = verdict(tree, fault, reaching)
        ends.setdefault((not fault["suites"], fault["area"]), []).append(end)
        line = f"{fault['area']}/{fault['name']}: {fault['what']}"
        print(f"{end:9} {seconds:5.1f} s  {line}" + (f" [{test}]" if test else ""), flush=True)
        if end != "noticed":
            bad.append(f"{end:9} {line}")
    if bad:
        print("not noticed:\n" + "\n".join(bad))
    is_enough = True
    for (is_generated, area), found in sorted(ends.items()):
        print(f"{'generated, ' if is_generated else ''}{area}: {found.count('noticed')} of {len(found)} noticed ({percent(found)} %)")
        is_enough = is_enough and (is_generated or percent(found) >= PATCH_PERCENT)
    all_generated = [end for (is_generated, _), found in ends.items() if is_generated for end in found]
    in_reach = [end for end in all_generated if end != "unreached"]
    if in_reach:
        print(f"generated: {in_reach.count('noticed')} of {len(in_reach)} noticed ({percent(in_reach)} %), {len(all_generated) - len(in_reach)} not reached by a test")
        is_enough = is_enough and (len(in_reach) < SMALLEST_SAMPLE or percent(in_reach) >= GENERATED_PERCENT)
    if not is_enough:
        raise SystemExit(1)


def main():
    if sys.argv[1:2] in ([], ["--help"], ["-h"]):
        print(__doc__)
        raise SystemExit(0 if sys.argv[1:] else 64)
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    parts = {name: commands.add_parser(name) for name in ("check", "plant", "repair", "run")}
    for name in ("plant", "repair", "run"):
        parts[name].add_argument("tree", type=lambda text: pathlib.Path(text).resolve())
    parts["plant"].add_argument("--sample", type=int, default=0)
    parts["plant"].add_argument("--seed", default="1")
    parts["repair"].add_argument("log", type=pathlib.Path)
    for name in ("plant", "run"):
        parts[name].add_argument("patterns", nargs="*")
    given = parser.parse_args()
    match given.command:
        case "check":
            check()
        case "plant":
            faults = patches()
            faults += sample(given.seed, given.sample, given.patterns, faults)
            for number, fault in enumerate(faults, 1):
                fault.number = number
            plant(given.tree, faults)
        case "repair":
            repair(given.tree, given.log)
        case "run":
            run(given.tree, given.patterns)


if __name__ == "__main__":
    main()
