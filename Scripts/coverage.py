#!/usr/bin/env python3
"""Reads the output of `llvm-cov export -summary-only` from standard input, and prints the line coverage of each target. The exit status is 1 if a target is below its limit."""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

# Targets and folders that read untrusted input.
STRICT = {"PackFormat": 95, "PackCrypto": 95, "PackManifest": 95, "PackReading": 95, "PackStore/Deltas": 95}
LIMIT = 85

# Programs that are not part of the product.
SKIPPED = {"packer-bench", "packer-fuzz"}


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    lines = {}
    files = []
    for file in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        parts = path.parts
        if "Sources" not in parts or "checkouts" in parts:
            continue
        target = parts[parts.index("Sources") + 1]
        folder = "/".join(parts[parts.index("Sources") + 1 :][:2])
        target = folder if folder in STRICT else target
        if target in SKIPPED:
            continue
        summary = file["summary"]["lines"]
        covered, count = lines.get(target, (0, 0))
        lines[target] = (covered + summary["covered"], count + summary["count"])
        files.append((summary["count"] - summary["covered"], summary["percent"], "/".join(parts[parts.index("Sources") + 1 :])))
    if not lines:
        sys.exit("error: the input has no coverage of Sources")
    below = []
    for target, (covered, count) in sorted(lines.items()):
        percent = 100 * covered / count
        limit = STRICT.get(target, LIMIT)
        print(f"{target:<16} {percent:6.2f} % of {count:6d} lines, at least {limit}")
        if percent < limit:
            below.append(target)
    print("least covered:")
    for missed, percent, name in sorted(files, reverse=True)[:25]:
        print(f"  {name:<60} {missed:4d} lines missed, {percent:.1f} %")
    if below:
        sys.exit(f"error: below the limit: {', '.join(below)}")


if __name__ == "__main__":
    main()
