#!/usr/bin/env python3
"""Line coverage of the targets, from what `llvm-cov export -summary-only` prints on standard input; ends with 1 where one is below its limit."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]

# What reads what comes from outside.
STRICT = {"PackFormat": 95, "PackCrypto": 95, "PackPayload": 95, "PackManifest": 95}
LIMIT = 85

# What is compiled here and runs only elsewhere: adapters for Apple platforms, which Scripts/apple drives; and the benchmark, which tests nothing.
LEFT_OUT = {"packer-bench", "packer-fuzz"}


def main():
    lines = {}
    files = []
    for file in json.load(sys.stdin)["data"][0]["files"]:
        path = pathlib.Path(file["filename"])
        parts = path.parts
        if "Sources" not in parts or "checkouts" in parts:
            continue
        target = parts[parts.index("Sources") + 1]
        if target in LEFT_OUT:
            continue
        summary = file["summary"]["lines"]
        covered, count = lines.get(target, (0, 0))
        lines[target] = (covered + summary["covered"], count + summary["count"])
        files.append((summary["count"] - summary["covered"], summary["percent"], "/".join(parts[parts.index("Sources") + 1 :])))
    if not lines:
        sys.exit("error: there is no coverage of Sources in this")
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
