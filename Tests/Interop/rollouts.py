#!/usr/bin/env python3
"""Rollouts as a machine runs them that has packer.yml, the lock file and a key in its environment, and nothing else.

* Budgets, from the published manifest alone, as BUDGETS.md defines them, to the byte: with candidates that are smaller and larger than the stable versions, as
  packs that are essential and not, kept packed and not.
* A halt whose signing key comes from the environment, with a place that has lost its packs.

The command is named by the variable PACKER.
"""

import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from project import PACKER, SEED

CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:key
signKey: file:sign.key
packs:
  - {id: core, root: core, delivery: essential}
  - {id: engine, root: engine, delivery: essential, install: packed}
  - {id: music, root: music, delivery: prefetch, install: packed}
  - {id: movie, root: movie, delivery: prefetch}
  - {id: level, root: level, delivery: onDemand}
"""
PACKS = ("core", "engine", "music", "movie", "level")
# What is reserved for the manifest, and added to each number, by default.
CEILING, HEADROOM = 65_536, 2
BLOCK = 4096

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(place, *arguments, status=0, **environment):
    done = subprocess.run(
        [PACKER, *map(str, arguments)], cwd=place, capture_output=True, text=True, env={**os.environ, **environment})
    expect(done.returncode == status, f"packer {' '.join(map(str, arguments))}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done


def budget(manifest):
    """The four numbers of a manifest whose packs all stand in it, or in no number."""
    download, installed, largest = {}, {}, 0
    for pack in manifest["packs"]:
        editions = [pack, *([pack["candidate"]] if "candidate" in pack else [])]
        size = max(one["size"] for one in editions)
        if pack["install"] == "packed":
            device = max(-(-one["size"] // BLOCK) * BLOCK for one in editions)
        else:
            device = max(one["installSize"] for one in editions)
        delivery = pack["delivery"]
        download[delivery] = download.get(delivery, 0) + size
        installed[delivery] = installed.get(delivery, 0) + device
        if delivery == "essential":
            largest = max(largest, size)

    def padded(number):
        return max(1, number + -(-number * HEADROOM // 100))

    return {
        "BADownloadAllowance": padded(download.get("prefetch", 0) + largest),
        "BAEssentialDownloadAllowance": padded(download.get("essential", 0) + CEILING),
        "BAEssentialMaxInstallSize": padded(installed.get("essential", 0)),
        "BAMaxInstallSize": padded(installed.get("prefetch", 0)),
    }


def main():
    chance = random.Random(SEED)
    print(f"seed {SEED}")
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)

        def fill(name, size):
            (place / name).mkdir(exist_ok=True)
            (place / name / "data.bin").write_bytes(chance.randbytes(size))
            (place / name / "text.txt").write_bytes(b"a line of text\n" * (size // 100))

        def stable(manifest):
            return [(pack["id"], pack["version"], pack["sha256"]) for pack in manifest["packs"]]

        def published():
            return json.loads((place / "www/manifest.json").read_bytes())["signed"]

        (place / "packer.yml").write_text(CONFIGURATION)
        run(place, "key", "new", "-q", "-o", "key")
        run(place, "key", "new", "--signing", "-q", "-o", "sign.key")
        for name in PACKS:
            fill(name, chance.randrange(50_000, 400_000))
        run(place, "build", "-q")
        run(place, "publish", "--to", "www", "--quick", "-q")
        expect(published()["budget"] == budget(published()), f"without a rollout: {published()['budget']}, not {budget(published())}")
        for number in range(4):
            before = published()
            for name in PACKS:
                if number == 0 or chance.random() < 0.7:
                    fill(name, chance.randrange(20_000, 600_000))
            run(place, "build", "-q")
            run(place, "rollout", "start", f"r{number}", "--share", "5", "--to", "www", "--quick")
            manifest = published()
            expect(any("candidate" in pack for pack in manifest["packs"]), "there is no candidate")
            expect(manifest["budget"] == budget(manifest), f"rollout {number}: {manifest['budget']}, not {budget(manifest)}")
            # Who follows the stable versions gets what was there before.
            expect(stable(manifest) == stable(before), f"rollout {number} changes what is stable")
            if number % 2:
                run(place, "rollout", "finish", f"r{number}", "--to", "www")
                expect(published()["budget"] == budget(published()), f"finished {number}: {published()['budget']}")
            else:
                run(place, "rollout", "halt", f"r{number}", "--to", "www")
                expect(published()["budget"] == manifest["budget"], "a halt changes numbers")

        # At night: no release, no key file, no packs at the place.
        fill("core", 70_000)
        run(place, "build", "-q")
        run(place, "rollout", "start", "last", "--share", "100", "--to", "www", "--quick")
        for path in [*(place / "www").glob("*.pack"), *(place / "dist").iterdir()]:
            path.unlink()
        key = (place / "sign.key").read_text().strip()
        (place / "sign.key").unlink()
        run(place, "rollout", "halt", "last", "--to", "www", status=10)
        run(place, "rollout", "halt", "last", "--to", "www", "--dry-run", PACKER_SIGN_KEY=key)
        version = published()["version"]
        run(place, "rollout", "halt", "last", "--to", "www", PACKER_SIGN_KEY=key)
        state = {one["id"]: one["state"] for one in published()["rollouts"]}
        expect(published()["version"] == version + 1 and state["last"] == "halted", f"it was not halted: {state}")
    if failures:
        sys.exit(1)
    print("the budgets of four rollouts are those that follow from their manifests; a halt needs no pack, no release and no key file")


if __name__ == "__main__":
    main()
