#!/usr/bin/env python3
"""Writes the figures of Documentation/EVIDENCE.md from what a run of the tests printed.

  evidence.py EVIDENCE.md LOG…           fails if the document has other figures
  evidence.py --write EVIDENCE.md LOG…   writes them into it

Every suite of the document's first table has lines `evidence: SUITE: N cases, N run, N not run (N reason, …)` in the logs, one for each back end
that was built, and all with the same figures. A suite without a line, or a line without a suite, is an error: somebody has to write, or to
remove, the row and say where the suite comes from.
"""

import pathlib
import re
import sys

LINE = re.compile(r"^evidence: (.+): (\d+) cases, (\d+) run(?: \([^)]*\))?, (\d+) not run(?: \((.*?)\))?(?:, with (.+))?$", re.MULTILINE)
ROW = re.compile(r"^\| ([^|]+?) \| ([^|]*) \| ([\d ]+) \| ([\d ]+) \| (\d+)(:[^|]*|[^|]*) \|$", re.MULTILINE)


def printed(logs):
    """Returns the figures of each suite, with the reasons for what was not run, and all problems."""
    figures, problems = {}, []
    for suite, cases, run, left, reasons, backend in (match for log in logs for match in LINE.findall(log)):
        found = (int(cases), int(run), int(left), tuple(sorted(reasons.split(", "), key=lambda reason: -int(reason.split()[0]))) if reasons else ())
        if figures.setdefault(suite, found) != found:
            problems.append(f"{suite}: {found} with {backend or 'one program'}, {figures[suite]} with another")
    return figures, problems


def written(document, figures):
    """Returns the document with the figures, and the suites of its table."""
    suites = []

    def row(match):
        suite, origin, *_, note = match.groups()
        suites.append(suite)
        if suite not in figures:
            return match.group(0)
        cases, run, left, reasons = figures[suite]
        # The reasons are printed. A note that does not begin with a colon was written by a person, and stays.
        if reasons or note.startswith(":"):
            note = f": {', '.join(reasons)}" if reasons else ""
        return f"| {suite} | {origin} | {cases} | {run} | {left}{note} |"

    return ROW.sub(row, document), suites


def main():
    arguments = sys.argv[1:]
    writes = arguments[:1] == ["--write"]
    path, *logs = (pathlib.Path(name) for name in arguments[writes:])
    document = path.read_text(encoding="utf-8")
    figures, problems = printed(log.read_text(encoding="utf-8", errors="replace") for log in logs)
    new, suites = written(document, figures)
    problems += [f"{suite}: nothing of it was run" for suite in suites if suite not in figures]
    problems += [f"{suite}: the document has no row for it" for suite in figures if suite not in suites]
    if not suites:
        problems.append("the document has no table")
    if writes and not problems:
        path.write_text(new, encoding="utf-8")
    elif new != document:
        olds, news = document.splitlines(), new.splitlines()
        problems += [f"it should be '{after}'" for before, after in zip(olds, news) if before != after]
        problems.append(f"{path} has other figures; 'evidence.py --write' with the same arguments writes these")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{len(suites)} suites of other people, {sum(run for _, run, *_ in figures.values())} cases run, {sum(found[2] for found in figures.values())} not run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
