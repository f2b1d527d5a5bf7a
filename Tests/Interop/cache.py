#!/usr/bin/env python3
"""The cache that machines share, in a folder and in an S3 service (moto). A fresh clone with nothing changed fetches everything; with one changed game,
it packs that one, and makes its delta from a pack that only the cache has. The `dist` must be that of a machine without a cache, byte for byte. Entries
are then replaced by everything that somebody who can write there but has no key could put there: each is noticed, made anew and repaired. A cache that
cannot be written or reached stops no build.

The command is named by the variable PACKER, the seed by PACKER_TEST_SEED. `--games N` sets how many games there are. Prints bytes and times.
"""

import argparse
import json
import os
import pathlib
import random
import re
import shutil
import sys
import tempfile
import time

from project import GAMES_CONFIGURATION, SEED, Checks, contents
from storage import HTTPProxy, moto

# With more games, only times and bytes are measured: what is wrong in an entry is tried with a build for each.
MOST = 40
TIME = {"SOURCE_DATE_EPOCH": "1793491200"}
checks = Checks()
expect = checks.expect


def words(seed, count):
    chance = random.Random(seed)
    known = ["".join(chance.choices("abcdefghij", k=chance.randint(2, 9))) for _ in range(3000)]
    return " ".join(chance.choices(known, k=count))


class Setting:
    """A repository, as clones have it: sources, keys, lock file and records; neither packs nor a release."""

    def __init__(self, base, place, environment, games):
        self.base, self.environment, self.number = base, {**TIME, **environment}, 0
        self.home = base / "home"
        for game in range(games):
            folder = self.home / f"games/{game:02}"
            folder.mkdir(parents=True)
            (folder / "index.html").write_text(f"<title>{game}</title>")
            (folder / "game.js").write_text(words(game, 20_000))
        (self.home / "packer.yml").write_text(GAMES_CONFIGURATION % 19 + f"cache: {json.dumps(place)}\n")
        self.run(self.home, "key", "new", "-o", "root.key", "-q")
        self.run(self.home, "key", "new", "--signing", "-o", "sign.key", "-q")

    def run(self, place, *arguments, status=0, environment=None):
        environment = {"HOME": str(self.base), "RCLONE_CONFIG": "/dev/null", **self.environment, **(environment or {})}
        return checks.run(place, *arguments, status=status, environment=environment, inherits=False)

    def clone(self):
        self.number += 1
        return shutil.copytree(self.home, self.base / f"clone-{self.number}", ignore=shutil.ignore_patterns("dist", "*.pack"))

    def build(self, place, *arguments, environment=None):
        """Builds; returns how many packs have each action, the same of deltas, and what was said."""
        done = self.run(place, "build", "--json", *arguments, environment=environment)
        records = [json.loads(line) for line in done.stdout.splitlines()]

        def count(kind):
            actions = [record["action"] for record in records if record["type"] == kind]
            return {action: actions.count(action) for action in set(actions)}

        said = [line for record in records if record["type"] in ("warning", "note") for line in (record["message"], record.get("hint") or "")]
        return count("pack"), count("update"), "\n".join(said)


def packs_of(entries):
    """The packs and deltas, without the files that name them."""
    return {name: data for name, data in entries.items() if name.endswith(".pack")}


def scenes(setting, games, entries, title):
    """The same for each kind of place. `entries` gives the names and bytes of what is there."""
    began = time.monotonic()
    packs, _, said = setting.build(setting.home)
    alone = time.monotonic() - began
    expect(packs == {"packed": games}, f"{title}: the first build: {packs}")
    expect(said == "", f"{title}: the first build says {said!r}")
    expect(len(packs_of(entries())) == games and len(entries()) == 2 * games, f"{title}: {len(entries())} entries")
    expected = contents(setting.home / "dist")

    clone = setting.clone()
    began = time.monotonic()
    packs, _, said = setting.build(clone)
    cached = time.monotonic() - began
    expect(packs == {"cached": games} and said == "", f"{title}: a fresh clone: {packs} {said!r}")
    expect(contents(clone / "dist") == expected, f"{title}: the release of a fresh clone is another one")
    setting.run(clone, "verify", "-q")
    size = sum(path.stat().st_size for path in (clone / "dist").glob("*.pack"))

    # The next release, with one changed game. The machine at home has the packs of the first one.
    setting.run(setting.home, "release", "record", "-q")
    game = setting.home / "games/03/game.js"
    game.write_text(game.read_text().replace("a", "b", 400))
    other = setting.clone()
    reference = setting.clone()
    shutil.copytree(setting.home / "released", reference / "released", dirs_exist_ok=True)
    _, updates, _ = setting.build(reference, "--no-cache")
    expect(updates == {"made": 1}, f"{title}: without the cache: {updates}")
    expect(len(entries()) == 2 * games, f"{title}: --no-cache filled the cache")
    packs, updates, said = setting.build(other)
    expect(packs == {"cached": games - 1, "packed": 1} and updates == {"made": 1}, f"{title}: one changed game: {packs} {updates} {said!r}")
    expect(contents(other / "dist") == contents(reference / "dist"), f"{title}: the second release is another one than without the cache")
    third = setting.clone()
    packs, updates, said = setting.build(third)
    expect(packs == {"cached": games} and updates == {"cached": 1}, f"{title}: the second release again: {packs} {updates} {said!r}")
    expect(contents(third / "dist") == contents(reference / "dist"), f"{title}: the delta of the cache is another one")
    expect(len(packs_of(entries())) == games + 2, f"{title}: {len(entries())} entries after two releases")
    return reference, alone, cached, size


def classify(setting, games, good, entries, remove, put):
    """Which entries a build reads as packs, and which as the delta, by what it does without them."""
    used, delta = [], None
    for name in sorted(packs_of(good)):
        remove(name)
        clone = setting.clone()
        packs, updates, _ = setting.build(clone)
        if updates == {"made": 1}:
            delta = name
        elif packs.get("packed"):
            used.append(name)
        shutil.rmtree(clone)
        expect(entries() == good or name not in used + [delta], f"{name} was not made again as it was")
        put(name, good[name])
    expect(delta and len(used) == games, f"a build reads {len(used)} packs and the delta {delta}")
    return used, delta


def poisons(chance, name, all):
    """What somebody without a key can put in the place of an entry."""
    data = all[name]
    def flipped(at):
        return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1:]
    other = chance.choice([key for key in packs_of(all) if key != name])
    yield "empty", b""
    yield "cut", data[:chance.randrange(1, len(data))]
    yield "longer", data + b"\0"
    yield "start", flipped(chance.randrange(0, 64))
    yield "middle", flipped(chance.randrange(len(data) // 4, len(data) * 3 // 4))
    yield "end", flipped(len(data) - 1 - chance.randrange(16))
    yield "another entry", all[other]
    yield "noise", chance.randbytes(len(data))


def search(setting, entries, title):
    secrets = [(setting.home / name).read_bytes().split()[-1] for name in ("root.key", "sign.key")]
    for name, data in entries().items():
        expect(not any(secret in data for secret in secrets) and b"game" not in data, f"{title}: {name} shows a secret")
        expect(re.fullmatch(r"[0-9a-f]{64}(\.pack)?", name), f"{title}: an entry has the name {name}")


def folder(base, games):
    place = base / "cache"
    setting = Setting(base, str(place), {}, games)
    

    def entries():
        return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}

    reference, alone, cached, size = scenes(setting, games, entries, "folder")
    search(setting, entries, "folder")
    if games > MOST:
        return print(f"cache in a folder: {games} games, alone {alone:.1f} s, fresh clone {cached:.1f} s, {size} bytes")
    chance = random.Random(SEED)
    good = entries()
    used, delta = classify(setting, games, good, entries, lambda name: (place / name).unlink(), lambda name, data: (place / name).write_bytes(data))
    count = 0
    for name in (delta, chance.choice(used)):
        for kind, data in poisons(chance, name, good):
            (place / name).write_bytes(data)
            clone = setting.clone()
            packs, updates, said = setting.build(clone)
            title = f"{'the delta' if name == delta else 'a pack'} that is {kind}"
            expect("in the cache is not what it should be" in said and name in said, f"{title}: {packs} {updates} {said!r}")
            expect((place / name).read_bytes() == good[name], f"{title}: it is not repaired")
            expect(contents(clone / "dist") == contents(reference / "dist"), f"{title}: the release is another one")
            shutil.rmtree(clone)
            (place / name).write_bytes(good[name])
            count += 1
    # What is no file.
    for kind, plant in (("a folder", lambda path: path.mkdir()), ("a link to nowhere", lambda path: path.symlink_to("nowhere"))):
        path = place / used[0]
        path.unlink()
        plant(path)
        clone = setting.clone()
        setting.build(clone)
        expect(contents(clone / "dist") == contents(reference / "dist"), f"an entry that is {kind} changes the release")
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        path.write_bytes(good[path.name])
        count += 1

    # A folder that cannot be written. Root may write anywhere, so it is a file.
    moved = place.rename(base / "moved")
    place.write_text("no folder")
    clone = setting.clone()
    packs, _, said = setting.build(clone)
    expect(packs == {"packed": games} and "the cache" in said, f"a cache that is no folder: {packs} {said!r}")
    place.unlink()
    moved.rename(place)

    # A fork has no secrets, and learns what would be packed.
    fork = setting.clone()
    for name in ("root.key", "sign.key"):
        (fork / name).unlink()
    game = fork / "games/05/index.html"
    game.write_text("changed")
    before = entries()
    done = setting.run(fork, "build", "--dry-run")
    # Of a pack with the released content it has only no file.
    expect(re.findall(r"(\S+) +2 +would be packed", done.stdout) == ["game-03", "game-05"], f"a fork: {done.stdout}{done.stderr}")
    setting.run(fork, "build", status=10)
    expect(entries() == before and not (fork / "dist").exists(), "a fork wrote something")

    # Workers take from it, and fill it.
    (setting.home / "games/00/game.js").write_text(words(4711, 20_000))
    clone = setting.clone()
    setting.run(clone, "key", "derive", "-c", "packer.yml", "-o", "keys")
    count_before = len(entries())
    for share in ("1/2", "2/2"):
        setting.run(clone, "build", "--share", share, "--only-cache", "--key", "keys")
    expect(len(entries()) == count_before + 4, f"workers made {len(entries()) - count_before} entries, of a pack and a delta")
    packs, updates, said = setting.build(clone)
    expect(packs == {"cached": games} and "made" not in updates, f"after workers: {packs} {updates} {said!r}")
    print(f"cache in a folder: {games} games, alone {alone:.1f} s, fresh clone {cached:.1f} s, {size} bytes; {count} wrong entries noticed or harmless")


def s3(base, games):
    with moto(base) as service:
        service.bucket("bucket")
        with HTTPProxy(service.port) as proxy:
            environment = {f"RCLONE_CONFIG_GAMES_{name}": value for name, value in {
                "TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": f"http://127.0.0.1:{proxy.port}", "FORCE_PATH_STYLE": "true",
                "ACCESS_KEY_ID": "x", "SECRET_ACCESS_KEY": "x"}.items()}
            setting = Setting(base, "games:bucket/cache", environment, games)

            def entries():
                status, text = service.request("GET", "/bucket?list-type=2&prefix=cache/")
                names = re.findall(r"<Key>cache/([^<]*)</Key>", text.decode())
                return {name: service.request("GET", f"/bucket/cache/{name}")[1] for name in names}

            reference, alone, cached, size = scenes(setting, games, entries, "S3")
            search(setting, entries, "S3")
            requests = len(proxy.requests)
            clone = setting.clone()
            setting.build(clone)
            requests = len(proxy.requests) - requests
            told = f"cache in S3: {games} games, alone {alone:.1f} s, fresh clone {cached:.1f} s, {size} bytes in {requests} requests"
            if games > MOST:
                return print(told)

            good = entries()
            used, delta = classify(
                setting, games, good, entries, lambda name: service.request("DELETE", f"/bucket/cache/{name}"),
                lambda name, data: service.request("PUT", f"/bucket/cache/{name}", data))
            for poisoned in used + [delta]:
                service.request("PUT", f"/bucket/cache/{poisoned}", good[poisoned][:-20] + bytes(20))
            clone = setting.clone()
            packs, updates, said = setting.build(clone)
            expect(packs == {"packed": games} and updates == {"made": 1}, f"S3, all entries poisoned: {packs} {updates}")
            expect(said.count("is not what it should be") == games + 1, f"S3, all entries poisoned: {said}")
            expect(contents(clone / "dist") == contents(reference / "dist"), "S3, all entries poisoned: the release is another one")
            expect(entries() == good, "S3: poisoned entries are not repaired")

            # Without permission to write, it reads.
            proxy.forbidden = ("PUT", "POST", "DELETE")
            (setting.home / "games/00/game.js").write_text(words(4711, 20_000))
            clone = setting.clone()
            packs, _, said = setting.build(clone)
            expect(packs == {"cached": games - 1, "packed": 1} and "gets nothing from this build" in said, f"S3, read only: {packs} {said!r}")
            expect(entries() == good, "S3: something was written")

        # It cannot be reached.
        clone = setting.clone()
        packs, _, said = setting.build(clone)
        expect(packs == {"packed": games} and "cannot be read" in said, f"S3, out of reach: {packs} {said!r}")
    print(told)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=12)
    arguments = parser.parse_args()
    print(f"PACKER_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory(prefix="packer-cache-") as name:
        for scene in (folder, s3):
            base = pathlib.Path(name) / scene.__name__
            base.mkdir()
            scene(base, arguments.games)
    checks.finish()


if __name__ == "__main__":
    main()
