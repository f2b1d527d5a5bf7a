#!/usr/bin/env python3
"""JUnit reports of `packer verify`, read back by somebody else's parser: junitparser, from PyPI.

The command is named by the variable PACKER.
"""

import json
import os
import pathlib
import pty
import subprocess
import tempfile

import junitparser
from project import PACKER, fail

CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:arcade.key
signKey: file:arcade.sign.key
packs:
  - {id: core, root: core, delivery: essential}
  - {id: kart, root: kart, delivery: prefetch}
ignore: [{rule: PK2002, reason: "kept for <the \\"old\\" app> & others"}]
"""


def expect(condition, message):
    if not condition:
        fail(message)


def packer(place, *arguments, status=0):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKER")}
    done = subprocess.run([PACKER, *arguments], cwd=place, env=dict(environment, LC_ALL="C.UTF-8"), capture_output=True, text=True)
    expect(done.returncode == status, f"packer {' '.join(arguments)} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
    return done.stdout


def on_terminal(place, *arguments, **variables):
    """Runs the command with a terminal as its output, and returns what it prints."""
    terminal, end = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PACKER", "NO_COLOR"))}
    process = subprocess.Popen([PACKER, *arguments], cwd=place, env=dict(environment, TERM="xterm", **variables), stdin=end, stdout=end, stderr=end)
    os.close(end)
    output = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        output += piece
    os.close(terminal)
    process.wait()
    return output


def main():
    with tempfile.TemporaryDirectory(prefix="packer-reports.") as name:
        place = pathlib.Path(name)
        (place / "packer.yml").write_text(CONFIGURATION)
        for pack in ("core", "kart"):
            (place / pack).mkdir()
            (place / pack / "index.html").write_text(f"<p>{pack}</p>")
        packer(place, "key", "new", "-o", "arcade.key")
        packer(place, "key", "new", "--signing", "-o", "arcade.sign.key")
        packer(place, "build", "-q")

        # One fault that counts, one that is accepted, and rules that lack what they need.
        next((place / "dist").glob("kart-*.pack")).unlink()
        (place / "dist/old.pack").write_bytes(b"old")
        (place / "dist/\x01 odd \u2028 name.pack").write_bytes(b"old")
        packer(place, "verify", "--report", "junit=report.xml", "--report", "json=report.jsonl", status=1)

        # On a terminal, and nowhere else, the level of a finding has a colour.
        expect(b"\x1b[1;31merror PK" in on_terminal(place, "verify", "--quick"), "the findings have no colour")
        expect(b"\x1b[1;31m" not in on_terminal(place, "verify", "--quick", NO_COLOR="1"), "NO_COLOR does not switch the colours off")
        expect("\x1b" not in packer(place, "verify", "--quick", status=1), "there are colours without a terminal")

        records = [json.loads(line) for line in (place / "report.jsonl").read_text(encoding="utf-8").split("\n") if line]
        expect(records[-1]["type"] == "result" and records[-1]["exit"] == 1, "the JSON report does not end in its result")
        release = next(record for record in records if record["type"] == "release")
        found = [record for record in records if record["type"] == "finding"]
        expect(len(found) == 3, f"{len(found)} findings, not 3")

        report = junitparser.JUnitXml.fromfile(str(place / "report.xml"))
        cases = [case for suite in report for case in suite]
        kinds = [type(result).__name__ for case in cases for result in case.result]
        checked = len(release["rules"]) - len({record["rule"] for record in found})
        expect(len(cases) == checked + len(found) + len(release["notChecked"]), "the number of test cases is another one")
        expect(kinds.count("Failure") == 1, f"{kinds.count('Failure')} failures, not 1")
        expect(kinds.count("Skipped") == 2 + len(release["notChecked"]), "the number of skipped cases is another one")
        expect((report.tests, report.failures, report.skipped) == (len(cases), 1, kinds.count("Skipped")), "the totals are other ones")
        failed = next(case for case in cases if any(isinstance(result, junitparser.Failure) for result in case.result))
        expect(failed.classname == "packer.verify.PK2001" and "(kart)" in failed.name, f"the failure is {failed.name}")
        print(f"ok: junitparser reads {len(cases)} test cases, 1 failure, {report.skipped} skipped")


if __name__ == "__main__":
    main()
