#!/usr/bin/env python3
"""Runs the console examples of README.md and of the guides, and compares what they print with what stands there.

Examples are blocks fenced as ```console: a line that starts with `$ ` is a command, the lines up to the next one are its output, both
streams as they come. All of one document run in one temporary directory, with `packer` (named by the variable PACKER) on the path, the
repository's Examples beside it, and the document's blocks that name a file (```sh file=NAME) as files. Ids of keys differ from run to run and
match each other; everything else must be the same to the byte.

Also compares the Swift block of README.md with the file it is taken from, and its table of exit codes with the command's own.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DOCUMENTS = ["README.md", "Documentation/PIPELINE.md", "Documentation/STORE.md", "Documentation/SIMULATION.md"]
SNIPPET = "Examples/LinuxClient/Sources/LinuxClient/Assets.swift"
EXIT_STATUS = "Sources/packer/ExitStatus.swift"

# Compressed sizes are those of one zstd; another one may compress a little differently.
ZSTD = "1.5.4"


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def examples(text):
    """Each command of all console blocks, with the output that stands below it."""
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def named_files(text):
    """The blocks that are files, by name."""
    return re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.M | re.S)


def without_volatile(text, sizes_differ):
    text = re.sub(r"\b[0-9a-f]{16}\b", "<key id>", text)
    text = re.sub(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", "<time>", text)
    return re.sub(r"[0-9][0-9 .]*|-{3,} *", "#", re.sub(r" +", " ", text)) if sizes_differ else text


def zstd_version():
    return subprocess.run(["pkg-config", "--modversion", "libzstd"], capture_output=True, text=True).stdout.strip()


def run_examples(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    packer = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
    sizes_differ = zstd_version() != ZSTD
    if sizes_differ:
        print(f"zstd is {zstd_version()}, not {ZSTD}: numbers in the examples' output are not compared")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKER")}
    failures = count = 0
    with tempfile.TemporaryDirectory(prefix="packer-readme.") as place:
        os.mkdir(f"{place}/.bin")
        os.symlink(packer, f"{place}/.bin/packer")
        os.symlink(ROOT / "Examples", f"{place}/Examples")
        for name, content in named_files(text):
            path = pathlib.Path(place, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        environment.update(PATH=f"{place}/.bin:{environment['PATH']}", LC_ALL="C.UTF-8")
        for command, expected in examples(text):
            count += 1
            done = subprocess.run(
                ["bash", "-c", command], cwd=place, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            printed = done.stdout.decode()
            if without_volatile(printed, sizes_differ) != without_volatile(expected, sizes_differ):
                failures += 1
                print(f"{document}: `{command}` ends with {done.returncode} and prints\n{printed}instead of\n{expected}")
                tell_logs(place)
    print(f"{count} examples of {document} were run, {failures} differ")
    return failures == 0 and count > 0


def tell_logs(place):
    """What commands wrote into logs instead of into the document."""
    for log in sorted(pathlib.Path(place).glob("*.log")):
        print(f"--- {log.name}\n{log.read_text(encoding='utf-8')}")


def check_snippet(text):
    source = (ROOT / SNIPPET).read_text()
    if blocks(text, "swift") == [source]:
        return True
    print(f"README.md: the Swift block is not what {SNIPPET} holds")
    return False


def check_exit_codes(text):
    section = text.split("## Exit codes", 1)[-1].split("\n## ", 1)[0]
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", section, re.M)}
    known = {int(number) for number in re.findall(r"static let \w+ = Self\(rawValue: (\d+)\)", (ROOT / EXIT_STATUS).read_text())}
    if told == known and known:
        return True
    print(f"README.md: exit codes only there: {sorted(told - known)}, only in {EXIT_STATUS}: {sorted(known - told)}")
    return False


def main():
    text = README.read_text(encoding="utf-8")
    results = [check_snippet(text), check_exit_codes(text), *map(run_examples, DOCUMENTS)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
