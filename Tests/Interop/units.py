#!/usr/bin/env python3
"""A release on several machines: workers make the packs of a plan, each in a copy of the sources of its own pack, with an environment and files that
hold the key of that pack and no other secret, which are searched for the root key and the signing key. One worker is killed in the middle and its unit
made elsewhere, two make the same unit into one directory, and one has other sources. The `dist` must be that of one machine, byte for byte.

The command is named by the variable PACKER. Prints how long each part took.
"""

import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from project import GAMES_CONFIGURATION, contents

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
GAMES = 30

failures = []
searched = 0


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(place, *arguments, environment, status=0):
    done = subprocess.run([PACKER, *map(str, arguments)], cwd=place, capture_output=True, text=True, env=environment)
    expect(done.returncode == status, f"packer {' '.join(map(str, arguments))}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done


def fill(project):
    """Games of scripts that repeat, and one large one, so that a worker can be killed while it packs."""
    chance = random.Random(30)
    words = ["".join(chance.choices("abcdefghij", k=chance.randint(2, 9))) for _ in range(4000)]
    for number in range(GAMES):
        folder = project / f"games/{number:02}"
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(f"<title>{number}</title>")
        count = 600_000 if number == 7 else 4000
        (folder / "game.js").write_text(" ".join(chance.choices(words, k=count)))
    (project / "packer.yml").write_text(GAMES_CONFIGURATION % 19)


class Worker:
    """A machine with the sources and the key of one pack."""

    def __init__(self, base, project, unit, secrets, name=None):
        self.number, self.id = unit
        self.place = base / f"worker-{name or self.number}"
        source = f"games/{self.id.removeprefix('game-')}"
        shutil.copytree(project / source, self.place / source)
        for file in ("packer.yml", "plan.json"):
            shutil.copy(project / file, self.place)
        subprocess.run(
            [PACKER, "key", "derive", "--pack", self.id, "--key", project / "root.key", "-o", self.place / "pack.key"], check=True, stdout=subprocess.DEVNULL)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.place), "PACKER_KEY_FILE": "pack.key"}
        self.secrets = secrets

    def arguments(self, parts):
        return [str(PACKER), "build", "--plan", "plan.json", "--unit", str(self.number), "-o", str(parts)]

    def search(self, process=None):
        """Looks for the secrets in the files, and in the environment of the process as the kernel has it."""
        global searched
        texts = [path.read_bytes() for path in self.place.rglob("*") if path.is_file()]
        texts.append("\0".join(f"{key}={value}" for key, value in self.environment.items()).encode())
        if process:
            try:
                texts += [pathlib.Path(f"/proc/{process.pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
            except OSError:
                pass
        for text in texts:
            searched += 1
            expect(not any(secret in text for secret in self.secrets), f"the worker of {self.id} has a secret that it must not have")

    def start(self, parts):
        return subprocess.Popen(
            self.arguments(parts), cwd=self.place, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def build(self, parts):
        process = self.start(parts)
        self.search(process)
        output, errors = process.communicate()
        expect(process.returncode == 0, f"unit {self.number}: {process.returncode}: {output}{errors}")
        self.search()


def secrets_of(project):
    found = []
    for name in ("root.key", "sign.key"):
        text = (project / name).read_bytes().strip().splitlines()[-1]
        expect(text.startswith(b"pk"), f"{name} is not a key")
        found.append(text)
    return found


def main():
    with tempfile.TemporaryDirectory(prefix="packer-units-") as name:
        base = pathlib.Path(name)
        project = base / "project"
        environment = {"PATH": "/usr/bin:/bin", "HOME": name, "SOURCE_DATE_EPOCH": "1793491200"}
        project.mkdir()
        fill(project)
        run(project, "key", "new", "-o", "root.key", "-q", environment=environment)
        run(project, "key", "new", "--signing", "-o", "sign.key", "-q", environment=environment)
        began = time.monotonic()
        run(project, "build", "-q", environment=environment)
        alone = time.monotonic() - began
        (project / "dist").rename(project / "expected")
        expected = contents(project / "expected")

        began = time.monotonic()
        run(project, "build", "--plan", "plan.json", environment=environment)
        planning = time.monotonic() - began
        plan = (project / "plan.json").read_bytes()
        run(project, "build", "--plan", "plan.json", environment=environment)
        expect((project / "plan.json").read_bytes() == plan, "a plan made again is another one")
        units = [(number, unit["id"]) for number, unit in enumerate(json.loads(plan)["units"], 1)]
        expect(len(units) == GAMES, f"the plan has {len(units)} units")
        secrets = secrets_of(project)
        expect(not any(secret in plan for secret in secrets), "the plan holds a key")
        parts = base / "parts"
        workers = [Worker(base, project, unit, secrets) for unit in units]

        # A worker that is killed while it packs leaves no unit, and another makes it.
        large = next(worker for worker in workers if worker.id == "game-07")
        killed = large.start(parts)
        while killed.poll() is None and not (parts.exists() and any(parts.glob(".*"))):
            time.sleep(0.01)
        expect(killed.poll() is None, "the worker was done before it was killed")
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        expect(not (parts / str(large.number)).exists(), "a killed worker left a unit")
        missing = run(project, "assemble", *([parts] if parts.exists() and any(parts.glob("[0-9]*")) else []), environment=environment, status=66)
        expect("30 of 30 units are missing: 1-30" in missing.stderr, missing.stderr)

        # Two workers make each of the first units into one directory at the same time.
        twins = [Worker(base, project, unit, secrets, name=f"{unit[0]}-twin") for unit in units[:4]]
        began = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda worker: worker.build(parts), [one for pair in zip(workers, twins) for one in pair] + workers[4:]))
        working = time.monotonic() - began
        expect(not any(path.suffix == ".key" for path in parts.rglob("*")), "a part holds a key file")

        # A worker with other sources makes nothing, and a part from another plan is refused.
        stranger = Worker(base, project, units[0], secrets, name="stranger")
        (stranger.place / "games/00/game.js").write_text("other")
        refused = subprocess.run(stranger.arguments(base / "strange"), cwd=stranger.place, env=stranger.environment, capture_output=True, text=True)
        expect(refused.returncode == 65 and "unit 1 (pack 'game-00')" in refused.stderr, f"other sources: {refused.returncode}: {refused.stderr}")
        expect(not (base / "strange").exists(), "other sources left something")
        record = json.loads((parts / "3/unit.json").read_text())
        shutil.copytree(parts / "3", base / "foreign")
        (base / "foreign/unit.json").write_text(json.dumps({**record, "plan": "0" * 64}))
        refused = run(project, "assemble", parts, base / "foreign", environment=environment, status=65)
        expect("unit 3 (pack 'game-02'), is of another plan" in refused.stderr, refused.stderr)

        began = time.monotonic()
        run(project, "assemble", parts, environment={key: value for key, value in environment.items() if key != "SOURCE_DATE_EPOCH"})
        assembling = time.monotonic() - began
        expect(contents(project / "dist") == expected, "the release of several machines is another one")
        run(project, "verify", "-q", environment=environment)
        shutil.copytree(parts, base / "copied")
        run(project, "assemble", base / "copied", parts, "-o", "again", environment=environment)
        expect(contents(project / "again") == expected, "the release of doubled parts is another one")

    print(f"units: {GAMES} games, one machine {alone:.1f} s; plan {planning:.1f} s, workers {working:.1f} s, assemble {assembling:.1f} s; searched {searched} files and environments for keys")
    if failures:
        sys.exit(f"{len(failures)} things are wrong")


if __name__ == "__main__":
    main()
