#!/usr/bin/env python3
"""Runs the console examples of README.md and of the guides, and compares their output with the text in the document.

Examples are blocks fenced as ```console: a line that starts with `$ ` is a command, and the lines up to the next one are its output, both
streams combined. All examples of a document run in one temporary directory. It has `packer` (the binary in the variable PACKER) on the path, the
repository's Examples, and the blocks of the document that name a file (```sh file=NAME). Ids of keys and times differ from run to run and are not
compared; everything else must be the same.

Also compares the Swift blocks of README.md and SERVING.md with their source files, TROUBLESHOOTING.md with the texts of `packer explain`, the exit
statuses and the error codes of the sources, and counts the words of all documents. With --write, only writes those texts into TROUBLESHOOTING.md.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
DOCUMENTS = ["README.md", "Documentation/BUDGETS.md", "Documentation/PIPELINE.md", "Documentation/STORE.md", "Documentation/SIMULATION.md"]
SNIPPET = "Examples/LinuxClient/Sources/LinuxClient/Assets.swift"
QUOTES = {
    "Documentation/SERVING.md": "Examples/iOSApp/App/Player.swift",
}
EXIT_STATUS = "Sources/packer/Terminal/ExitStatus.swift"
TROUBLESHOOTING = "Documentation/TROUBLESHOOTING.md"

# As `wc -w` counts them.
README_WORDS = 900
DOCUMENT_WORDS = 41_990

# The compressed sizes in the documents are from this version of zstd; other versions may differ a little.
ZSTD = "1.5.4"


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def examples(text):
    """Yields each command of all console blocks, with the output below it."""
    for block in blocks(text, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def named_files(text):
    """Returns the blocks that are files, with their names."""
    return re.findall(r"^```\w+ file=(\S+)\n(.*?)^```$", text, re.M | re.S)


def without_volatile(text, sizes_differ):
    text = re.sub(r"\b[0-9a-f]{16}\b", "<key id>", text)
    text = re.sub(r"\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", "<time>", text)
    return re.sub(r"[0-9][0-9 .]*|-{3,} *", "#", re.sub(r" +", " ", text)) if sizes_differ else text


def zstd_version():
    return subprocess.run(["pkg-config", "--modversion", "libzstd"], capture_output=True, text=True).stdout.strip()


def packer():
    return pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()


def run_examples(document):
    text = (ROOT / document).read_text(encoding="utf-8")
    sizes_differ = zstd_version() != ZSTD
    if sizes_differ:
        print(f"zstd is {zstd_version()}, not {ZSTD}: numbers in the examples' output are not compared")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKER")}
    failures = count = 0
    with tempfile.TemporaryDirectory(prefix="packer-readme.") as place:
        os.mkdir(f"{place}/.bin")
        os.symlink(packer(), f"{place}/.bin/packer")
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
    """Prints the logs that commands wrote."""
    for log in sorted(pathlib.Path(place).glob("*.log")):
        print(f"--- {log.name}\n{log.read_text(encoding='utf-8')}")


def check_snippet(text):
    source = (ROOT / SNIPPET).read_text()
    if blocks(text, "swift") == [source]:
        return True
    print(f"README.md: the Swift block differs from {SNIPPET}")
    return False


def check_quotes():
    """Checks that each part of a quoting Swift block, up to an empty line, is in the source file, except for the indentation."""
    results = []
    for document, source in QUOTES.items():
        lines = "\n".join(line.strip() for line in (ROOT / source).read_text().splitlines())
        parts = [part.strip("\n") for block in blocks((ROOT / document).read_text(encoding="utf-8"), "swift") for part in block.split("\n\n")]
        found = [bool(parts)] + ["\n".join(line.strip() for line in part.splitlines()) + "\n" in lines for part in parts]
        results += found
        if not all(found):
            print(f"{document}: the Swift block is not in {source}")
    return all(results)


def check_rules():
    """Checks that TROUBLESHOOTING.md names exactly the rules that `packer explain` lists, each once, by id or as the range `PK1001` to `PK1009`."""
    page = (ROOT / TROUBLESHOOTING).read_text(encoding="utf-8")
    section = re.search(r"^## Rules of packer verify\n(.*?)^## ", page, re.M | re.S)
    ranges = re.findall(r"`PK(\d+)`(?:\s+to\s+`PK(\d+)`)?", section[1]) if section else []
    listed = sorted(f"PK{number}" for first, last in ranges for number in range(int(first), int(last or first) + 1))
    printed = subprocess.run([packer(), "explain", "--quiet"], capture_output=True, text=True, check=True).stdout
    known = re.findall(r"^(PK\d+) ", printed, re.M)
    if known and listed == sorted(known):
        return True
    print(f"{TROUBLESHOOTING}: missing rules: {sorted(set(known) - set(listed))}, unknown: {sorted(set(listed) - set(known))}, {len(listed)} of {len(known)} listed")
    return False


ENTRY = re.compile(r"^(### `?(?:Exit )?([a-z0-9-]+)`?\n\n)(.*?)(?=\n+#|\n*\Z)", re.M | re.S)


def troubleshooting(page):
    """Returns the page with the text that `packer explain` prints below each heading that is an exit status or an error code."""
    codes = [code for _, code, _ in ENTRY.findall(page)]
    printed = subprocess.run([packer(), "explain", "--json", *codes], capture_output=True, text=True, check=True).stdout
    told = {record["code"]: f"{record['cause']} {record['remedy']}" for record in map(json.loads, printed.splitlines()) if "remedy" in record and "code" in record}

    def text(code):
        quoted = re.sub(r"(?<!\w)'([^']+)'(?!\w)", r"`\1`", told[code])
        linked = re.sub(r"Documentation/([A-Z_]+\.md)", r"[\1](\1)", quoted)
        return textwrap.fill(linked, 100, break_long_words=False, break_on_hyphens=False)

    return ENTRY.sub(lambda entry: entry[1] + text(entry[2]), page)


def error_codes():
    """Returns the codes of PackError that the sources declare, without those of calls that are repeated when bytes have arrived: that of the reader for
    browsers, and of a pack that is read while it arrives. Nobody is told these."""
    found = set()
    for path in sorted((ROOT / "Sources").rglob("*.swift")):
        text = path.read_text(encoding="utf-8")
        if path.relative_to(ROOT / "Sources").parts[0] == "PackWeb":
            continue
        for declared in re.finditer(r"^( *)(?:public |package )?(?:extension PackError\.Code|struct PackError|extension PackError)\b[^{]*\{\n(.*?)^\1\}", text, re.M | re.S):
            found |= set(re.findall(r'static let \w+ = (?:Self|Code|PackError\.Code)\(rawValue: "([a-z-]+)"\)', declared[2]))
    return found - {"not-arrived"}


def check_troubleshooting():
    page = (ROOT / TROUBLESHOOTING).read_text(encoding="utf-8")
    told = {code for _, code, _ in ENTRY.findall(page)}
    known = set(re.findall(r"static let \w+ = Self\(rawValue: (\d+)\)", (ROOT / EXIT_STATUS).read_text())) | error_codes()
    wrong = [f"{code} is missing" for code in sorted(known - told)] + [f"{code} is neither an exit status nor an error code" for code in sorted(told - known)]
    if not wrong and page != troubleshooting(page):
        wrong = ["the texts are not those of 'packer explain'; 'Scripts/run-readme.py --write' writes them"]
    for line in wrong:
        print(f"{TROUBLESHOOTING}: {line}")
    return not wrong


def check_length():
    """Counts the words of the README, and of all documents together."""
    count = lambda *paths: sum(len(path.read_text(encoding="utf-8").split()) for path in paths)
    readme, together = count(README), count(README, *ROOT.glob("Documentation/*.md"), *ROOT.glob("Examples/*/README.md"))
    print(f"README.md has {readme} words of {README_WORDS}, all documents have {together} of {DOCUMENT_WORDS}")
    return readme <= README_WORDS and together <= DOCUMENT_WORDS


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="only write the texts of TROUBLESHOOTING.md")
    if parser.parse_args().write:
        page = ROOT / TROUBLESHOOTING
        page.write_text(troubleshooting(page.read_text(encoding="utf-8")), encoding="utf-8")
        return
    results = [check_snippet(README.read_text(encoding="utf-8")), check_quotes(), check_troubleshooting(), check_rules(), check_length(), *map(run_examples, DOCUMENTS)]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
