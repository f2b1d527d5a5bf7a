#!/usr/bin/env python3
"""Holds the figures of Documentation/EVIDENCE.md against what a run of the tests printed.

  evidence.py EVIDENCE.md LOG…

Every suite of the document's first table has lines `evidence: SUITE: N cases, N run, N not run` in the logs, one for each back end where there
are two, and all with the figures of the table. A suite without a line, or a line without a suite, is a fault: nothing is left out in silence.
"""

import pathlib
import re
import sys

LINE = re.compile(r"^evidence: (.+): (\d+) cases, (\d+) run(?: \([^)]*\))?, (\d+) not run(?: \([^)]*\))?(?:, with (.+))?$", re.MULTILINE)
ROW = re.compile(r"^\| ([^|]+?) \|[^|]*\| ([\d ]+) \| ([\d ]+) \| ([\d ]+)[^|]*\|$", re.MULTILINE)


def main():
    document, *logs = (pathlib.Path(name).read_text(encoding="utf-8", errors="replace") for name in sys.argv[1:])
    table = {suite: tuple(int(figure.replace(" ", "")) for figure in figures) for suite, *figures in ROW.findall(document)}
    printed, problems = {}, []
    for log in logs:
        for suite, *figures, backend in LINE.findall(log):
            figures = tuple(map(int, figures))
            printed.setdefault(suite, set()).add(backend)
            if table.get(suite) != figures:
                problems.append(f"{suite}{' with ' + backend if backend else ''}: {figures} cases, run and not run; the document says {table.get(suite)}")
    for suite in table:
        backends = printed.get(suite, set())
        if not backends:
            problems.append(f"{suite}: nothing of it was run")
        elif "" not in backends and len(backends) < 2:
            problems.append(f"{suite}: run with {', '.join(backends)} alone")
    if not table:
        problems.append("the document has no table")
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{len(table)} suites of other people, {sum(run for _, run, _ in table.values())} cases run, {sum(left for *_, left in table.values())} not run")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
