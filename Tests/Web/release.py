#!/usr/bin/env python3
"""Releases of `packer build` in the reader for browsers, in Node: what it lists and reads is what was packed; what a thief or a tired server sends is refused.

The command is named by the variable PACKER, the reader is made by Scripts/web. Prints how many steps were taken.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
BASE = "https://cdn.example.com/packs/"
CONFIGURATION = f"""\
serve: {{baseURL: "{BASE}"}}
key: file:key
signKey: file:sign.key
validity: 30 days
web: true
packs:
  - {{id: core, root: core, delivery: essential}}
  - {{id: german, root: german, delivery: prefetch, language: de}}
  - {{id: phone, root: phone, delivery: prefetch, platforms: [iOS]}}
  - {{id: film, root: film, delivery: prefetch, install: packed, layout: film.order}}
  - {{id: "game-${{name}}", each: "games/*", delivery: onDemand}}
"""
# More than the manifest itself lists.
GAMES = 70
steps = 0


def run(*words, cwd):
    return subprocess.run([PACKER, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def look(*asked):
    """What pages see one after the other in one browser."""
    global steps
    steps += len(asked)
    node = subprocess.run(["node", "--experimental-global-webcrypto", ROOT / "Tests/Web/release.mjs", json.dumps(asked)], capture_output=True, text=True)
    assert node.returncode == 0, node.stderr
    return json.loads(node.stdout)


def same(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, not {wanted!r}")


def main():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        (place / "packer.yml").write_text(CONFIGURATION)
        write(place / "core/index.html", b"<!doctype html><title>core</title>")
        write(place / "core/data/\xc3\xa4.bin".encode("latin-1").decode(), os.urandom(300_000))
        write(place / "german/a.txt", b"hallo")
        write(place / "phone/a.txt", b"phone")
        write(place / "film/index.html", b"<!doctype html><title>film</title>")
        write(place / "film/first.bin", os.urandom(100_000))
        write(place / "film/rest.bin", os.urandom(2_000_000))
        write(place / "film.order", b"[launch]\nindex.html\nfirst.bin\n")
        for number in range(GAMES):
            write(place / f"games/{number}/index.html", b"<!doctype html>%d" % number)
        run("key", "new", "-o", "key", cwd=place)
        run("key", "new", "--signing", "-o", "sign.key", cwd=place)
        trust = run("key", "public", "--sign-key", "sign.key", cwd=place).split()[0]
        other = place / "other"
        other.mkdir()
        run("key", "new", "--signing", "-o", "sign.key", cwd=other)
        foreign = run("key", "public", "--sign-key", "sign.key", cwd=other).split()[0]
        run("build", cwd=place)
        shutil.copytree(place / "dist", place / "first")
        run("publish", "--to", "cdn", cwd=place)
        write(place / "core/new.txt", b"new")
        run("build", cwd=place)
        shutil.copytree(place / "dist", place / "second")

        def step(folder, **more):
            return {"folder": str(place / folder), "base": BASE, "trust": trust, "key": (place / "key").read_text(), **more}

        # What is there.
        [one] = look(step("first", read=[["core", "data/ä.bin"], ["game-7", "index.html"]]))
        same(one.get("error"), None, f"a release ({one.get('message')})")
        same(len(one["packs"]), 4 + GAMES, "packs")
        same({id: is_for for id, _, is_for in one["packs"] if id in ("core", "german", "phone", "game-7")},
             {"core": True, "german": False, "phone": False, "game-7": True}, "packs for the user")
        same(base64.b64decode(one["files"]["core/data/ä.bin"]), (place / "core/data/ä.bin").read_bytes(), "a file")
        same(base64.b64decode(one["files"]["game-7/index.html"]), b"<!doctype html>7", "a file of a pack of the catalogue")

        # Both edges of a pack are asked for before anything of it is there.
        [one] = look(step("first", read=[["core", "data/ä.bin"]], together=2))
        same(one.get("error"), None, f"the edges of a pack ({one.get('message')})")
        parts = sorted(tuple(map(int, request.split("=")[1].split("-"))) for request in one["requests"] if request.startswith("core-"))
        size = next((place / "first").glob("core-*.pack")).stat().st_size
        same((parts[0], parts[-1][1]), ((0, 65536 + 143), size - 1), "the edges of a pack")
        same([one[1] for one, other in zip(parts, parts[1:]) if one[1] >= other[0]], [], "bytes of a pack that come twice")

        # A pack with a lead: its digests and its end first, the launch in its order, and then ranges.
        film = json.loads((place / "first/manifest.json").read_bytes())["signed"]["packs"]
        [film] = [pack for pack in film if pack["id"] == "film"]
        stream = film["stream"]
        segment = int.from_bytes((place / "first" / f"film-{film['sha256'][:16]}.pack").read_bytes()[12:16], "little")
        lead, pack = f"film-{stream['sha256'][:16]}.lead", f"film-{film['sha256'][:16]}.pack"

        def watch(*paths, **more):
            [answer] = look(step("first", read=[["film", path] for path in paths], **more))
            return answer

        def asked(answer):
            return [request.split()[0] for request in answer["requests"] if request.startswith("film-")]

        for path in ("index.html", "first.bin"):
            one = watch(path)
            same(base64.b64decode(one["files"][f"film/{path}"]), (place / "film" / path).read_bytes(), "a file of the launch")
            same((asked(one)[0], asked(one).count(lead), set(asked(one))), (lead, 1, {lead, pack}), "requests for a file of the launch")
            ranges = [tuple(map(int, request.split("=")[1].split("-"))) for request in one["requests"] if request.startswith(pack)]
            same((ranges[0][0], max(end for _, end in ranges)), (0, stream["launch"] - 1), "the launch")
            same(sum(end - start + 1 for start, end in ranges), stream["launch"], "bytes of the launch, none of them twice")
        one = watch("rest.bin")
        same(base64.b64decode(one["files"]["film/rest.bin"]), (place / "film/rest.bin").read_bytes(), "a file behind the launch")
        same(set(asked(one)[1:]), {pack}, "requests for a file behind the launch")

        def forged(name, change):
            content = bytearray((place / "first" / name).read_bytes())
            change(content)
            (place / "first/forged").write_bytes(content)
            return watch("first.bin", "rest.bin", instead={name: "forged"}).get("error")

        def flip(number):
            def change(content):
                content[number] ^= 1
            return change

        leaves = stream["size"] - stream["launch"] - (film["size"] - stream["tail"])
        for place_of, what in [(0, "digest"), (leaves - 1, "digest"), (leaves, "end"), (stream["size"] - stream["launch"] - 1, "end")]:
            same(forged(lead, flip(place_of)), "digest-mismatch", f"a lead with another {what}")
        same(forged(lead, lambda content: content.pop()), "source-changed", "a lead that is cut")
        same(forged(lead, lambda content: content.append(0)), "source-changed", "a lead that is longer")
        for number in (0, *range(stream["launch"] % segment, stream["tail"], segment)):
            same(forged(pack, flip(number + 100)), "digest-mismatch", "a pack with another segment")
        same(watch("first.bin", instead={lead: "none"}).get("error"), "cannot-read", "a lead that is missing")
        # What the lead has is not read from the pack, whatever that has there.
        same([forged(pack, flip(number)) for number in (stream["tail"], film["size"] - 1)], [None] * 2, "other bytes in the place of the lead's")

        # A copy elsewhere.
        mirror = "https://mirror.example.net/copy/"
        [one] = look(step("first", base=mirror, at=mirror, read=[["core", "index.html"], ["film", "index.html"], ["game-7", "index.html"]]))
        same((one.get("error"), len(one["files"])), (None, 3), "files of a copy at another address")

        # What was accepted once.
        seen = look(step("first"), step("second"), step("first"), step("second", down=True), step("second", down=True, now=4_000_000_000))
        same([(answer.get("version"), answer.get("error"), answer.get("isStored")) for answer in seen],
             [(1, None, False), (2, None, False), (None, "manifest-rollback", None), (2, None, True), (2, None, True)], "manifests one after the other")
        same([answer.get("error") for answer in look(step("first", down=True))], ["cannot-read"], "a first start without a network")
        same([answer.get("error") for answer in look(step("first", now=4_000_000_000))], ["manifest-expired"], "an expired manifest")
        same([answer.get("error") for answer in look(step("first", trust=foreign))], ["untrusted-signature"], "a manifest that another key signed")

        # What a server may send in the place of something else.
        names = {path.name.rsplit("-", 1)[0]: path.name for path in (place / "first").glob("*.pack")}
        swapped = step("first", instead={names["core"]: names["german"]}, read=[["core", "index.html"]])
        same(look(swapped)[0].get("error"), "source-changed", "a pack of another size in the place of a pack")
        same(look(step("first", instead={names["game-1"]: names["game-2"]}, read=[["game-1", "index.html"]]))[0].get("error"), "wrong-pack",
             "a pack of the same size in the place of a pack")
        [shard] = [path.name for path in (place / "first").glob("*.shard")]
        same(look(step("first", instead={shard: names["german"]}))[0].get("error"), "wrong-shard", "another file in the place of a shard")
        damaged = bytearray((place / "first" / names["core"]).read_bytes())
        damaged[len(damaged) // 2] ^= 1
        (place / "first" / "damaged.pack").write_bytes(damaged)
        same(look(step("first", instead={names["core"]: "damaged.pack"}, read=[["core", "data/ä.bin"]]))[0].get("error"), "authentication-failed",
             "a changed byte")
        manifest = (place / "first/manifest.json").read_bytes()
        (place / "first/changed.json").write_bytes(manifest.replace(b'"version":1', b'"version":9', 1))
        same(look(step("first", instead={"manifest.json": "changed.json"}))[0].get("error"), "untrusted-signature", "a changed manifest")
        run("key", "new", "-o", "wrong.key", cwd=place)
        same(look(step("first", key=(place / "wrong.key").read_text(), read=[["core", "index.html"]]))[0].get("error"), "wrong-key", "another key")

        # The player that init writes has these addresses and keys.
        run("init", "--web", "site", "--reader", str(ROOT / ".build/web"), cwd=place)
        settings = json.loads((place / "site/player.json").read_text())
        same(settings, {"manifest": f"{BASE}manifest.json", "trust": [trust]}, "player.json")
        same(sorted(path.name for path in (place / "site").iterdir()),
             ["index.html", "packer.d.ts", "packer.js", "packer.wasm", "player.js", "player.json", "worker.js"], "the files of the player")
    print(f"{steps} steps of a page with a release, as expected")


if __name__ == "__main__":
    main()
