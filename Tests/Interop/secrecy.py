#!/usr/bin/env python3
"""Runs every verb of `packer` with keys, contents and a home directory that are marked, in text and as JSON, where it works and where it refuses, and
looks for the marks in everything that was written: both streams, every file that is left, and what strace saw written while it ran.

Then it gives a key, spelled in every wrong way, in the place of a key reference: at every option of every verb, in every variable and at every value of
packer.yml. None of it is printed.

A key stands in the key files that hold it, and nowhere else. A content stands in the source, and in what was asked to bring it back. The command is named by
the variable PACKER, the seed by PACKER_TEST_SEED. Of the runs with wrong spellings a seventh is done that the seed chooses, and all with `--all`. Prints how much was
searched.
"""

import base64
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import tempfile

from project import CONFIGURATION, PACKER, SEED, fail, inherited



def forms(key):
    """The ways in which 32 secret bytes may be written down."""
    digits = key.hex()
    yield key
    yield digits.encode()
    yield digits.upper().encode()
    yield base64.b64encode(key).rstrip(b"=")
    yield base64.urlsafe_b64encode(key).rstrip(b"=")
    # Half of a key is too much as well.
    yield key[:16]
    yield key[16:]
    yield digits[:32].encode()
    yield digits[32:].encode()


def spellings(key):
    """The key in the ways in which people get it wrong. The text of a variable or an option cannot contain a zero."""
    text = key.decode() if isinstance(key, bytes) else key
    yield text
    for before, after in (
            (" ", ""), ("", " "), ("", "\r"), ("", "\r\n"), ("\t", "\n"), ("'", "'"), ('"', '"'), ('"', ""), ("\u201c", "\u201d"), ("0x", ""), ("env:", ""), ("file:", ""), ("fd:", ""),
            ("cmd:", ""), ("cmd:echo ", ""), ("cmd:echo '", "'"), ("cmd:'", ""), ("cmd:sh -c 'echo ", "'"), ("file: ", ""), ("env:0x", ""), ("stdin:", ""), ("./", ""), ("/", ""), ("keys/", ".key"),
            ("key=", ""), ("<", ">"), ("\ufeff", ""), ("\u200b", ""), ("-", ""), ("--", ""), ("", "/"), ("base64:", ""), ("", text)):
        yield f"{before}{text}{after}"
    yield text.upper()
    yield f"env:{text.upper()}"
    yield " ".join((text[:20], text[20:]))
    yield "\n".join((text[:40], text[40:]))
    yield " ".join(text)
    yield ":".join(text[start:start + 2] for start in range(0, len(text), 2))
    yield "cmd:echo " + " ".join(text[start:start + 8] for start in range(0, len(text), 8))
    yield text[:-1]
    yield text[1:]
    yield text[:40]
    yield text[:10] + "l" + text[11:50] + "O" + text[51:]
    yield text + "0"


def options(verb):
    """The options of a verb, as its help names them, with the verbs below it."""
    help = subprocess.run([PACKER, *verb, "--help"], capture_output=True, text=True).stdout
    below = re.search(r"SUBCOMMANDS:\n(.*)", help, re.S)
    if below:
        for name in re.findall(r"^  ([a-z-]+)", below.group(1), re.M):
            if name != "help":
                yield from options([*verb, name])
    else:
        yield verb, sorted(set(re.findall(r"--(?:sign-)?key\b(?!-)", help)))


def values(schema, path=()):
    """The places of single values in packer.yml, by its schema."""
    for choice in schema.get("anyOf", [schema]):
        if choice.get("type") == "object" or "properties" in choice:
            for name, value in choice.get("properties", {}).items():
                yield from values(value, (*path, name))
        elif choice.get("type") == "array":
            yield from values(choice["items"], (*path, 0))
        else:
            yield path


def configured(path, value, as_name=False):
    """A configuration with a value at a place, or with the value as a name there."""
    result = {
        "serve": {"baseURL": "https://cdn.example.com/packs/"}, "key": "file:game.key", "signKey": "file:game.sign.key",
        "packs": [{"id": "core", "root": "content/core"}]}
    place = result
    for step, following in itertools.zip_longest(path, path[1:]):
        if following is None:
            break
        if isinstance(place, list):
            if not place:
                place.append([] if following == 0 else {})
            place = place[0]
        else:
            if not isinstance(place.get(step), list if following == 0 else dict):
                place[step] = [] if following == 0 else {}
            place = place[step]
    if isinstance(place, list):
        place[:] = [value]
    elif as_name:
        place[value] = 1
    else:
        place[path[-1]] = value
    return json.dumps(result)


def tries(place, texts):
    """Gives keys where references belong. Returns how many runs there were."""
    spelled = [text for key in texts for text in spellings(key)]
    digits = [re.search("[0-9a-f]{64}", key).group() for key in texts]
    pieces = {key[start:start + 20].encode() for key in digits for start in range(45)}
    # Overlapping windows of 20 digits are found by any digits that are as long.
    jobs = []
    pairs = [(verb, option) for verb, found in options([]) for option in found]
    if len(pairs) < 12:
        fail(f"only {len(pairs)} verbs with options for keys are found")
    for turn, (verb, option) in enumerate(pairs):
        for number, text in enumerate(spelled):
            # Every spelling at `packer key`, and at every verb a fifth of them, not the same ones.
            if verb[0] != "key" and (number + turn) % 5:
                continue
            form = [] if number % 2 else ["--json"]
            jobs.append(([*verb, "core.pack", f"{option}={text}" if number % 3 == 0 else option, *([] if number % 3 == 0 else [text]), *form], {}, None))
    for variable, number in itertools.product(("PACKER_KEY", "PACKER_SIGN_KEY"), range(len(spelled))):
        for suffix in ("", "_FILE", "_COMMAND"):
            verb = ["key", "public"] if "SIGN" in variable else ["key", "id"]
            jobs.append(([*verb, *([] if number % 2 else ["--json"])], {variable + suffix: spelled[number]}, None))
    for variable, text in itertools.product(("SOURCE_DATE_EPOCH", "TMPDIR", "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITHUB_REF", "TERM", "NO_COLOR"), spelled[::7]):
        jobs.append((["build", "--dry-run"], {variable: text}, None))
    schema = json.loads(subprocess.run([PACKER, "init", "--schema"], capture_output=True, check=True).stdout)
    places = sorted(set(values(schema)), key=str)
    for number, (path, text) in enumerate(itertools.product(places, spelled)):
        if path == ("trust", 0) or path in (("key",), ("signKey",), ("signKey", 0)) or number % 13 == 0:
            verb = [["plist", "print"], ["build", "--dry-run"], ["verify", "--format", "github"], ["verify", "--format", "sarif"], ["plist", "print", "--json"]][number // 13 % 5]
            jobs.append((verb, {}, configured(path, text, as_name=number % 39 == 0)))

    if sys.argv[1:] != ["--all"]:
        # Every option, variable and value is among them, and every spelling.
        jobs = jobs[SEED % 7 :: 7]

    def run(numbered):
        number, (arguments, variables, configuration) = numbered
        if configuration:
            file = place.work / f"tried-{number}.yml"
            file.write_text(configuration)
            arguments = [*arguments, "--config", file.name]
        environment = place.environment(**variables)
        done = subprocess.run([PACKER, *arguments], cwd=place.work, env=environment, input=b"", capture_output=True, timeout=60)
        if configuration:
            file.unlink()
        for stream, text in (("output", done.stdout), ("errors", done.stderr)):
            squeezed = re.sub(rb"[^0-9a-z]", b"", text.lower())
            if any(piece in squeezed for piece in pieces):
                return f"a key is in the {stream} of packer {arguments!r} {variables!r} {configuration or ''}: {text!r}"
        if done.returncode < 0 or done.returncode == 70:
            return f"packer {arguments!r} {variables!r} ended with {done.returncode}"
        return None

    with concurrent.futures.ThreadPoolExecutor(2 * (os.cpu_count() or 1)) as pool:
        faults = [fault for fault in pool.map(run, enumerate(jobs)) if fault]
    if faults:
        fail(f"{len(faults)} of {len(jobs)} runs:\n" + "\n".join(faults[:20]))
    return len(jobs), len(pairs), len(places), len(spelled)


class Place:
    def __init__(self, directory):
        # The name of the home directory is a mark too.
        self.mark = secrets.token_hex(8)
        self.home = directory / f"home-{self.mark}"
        self.work = self.home / "project"
        self.work.mkdir(parents=True)
        (self.home / "tmp").mkdir()
        self.traces = directory / "trace"
        self.content = [f"PLAIN-{secrets.token_hex(24)}" for _ in range(2)]
        self.keys = {}
        self.runs = self.searched = 0
        self.strace = shutil.which("strace")

    def environment(self, **more):
        return {**inherited(), "HOME": str(self.home), "TMPDIR": str(self.home / "tmp"), "LC_ALL": "C.UTF-8", **more}

    def learn(self, name):
        text = (self.work / name).read_text().strip()
        self.keys[name] = bytes.fromhex(text.split("-")[1])

    def run(self, *arguments, status=0, shows_content=False, is_traced=True, given=None, pass_fds=(), **variables):
        command = [PACKER, *arguments]
        # What is written to any descriptor, files without a name among them, as long as it is.
        if self.strace and is_traced:
            shutil.rmtree(self.traces, ignore_errors=True)
            self.traces.mkdir()
            command = [
                self.strace, "-ff", "-qq", "-xx", "-s", "2000000", "-e", "trace=write,pwrite64,writev,pwritev,sendto,sendmsg",
                "-e", "signal=none", "-o", str(self.traces / "t"), *command]
        done = subprocess.run(command, cwd=self.work, env=self.environment(**variables), input=given or b"", capture_output=True, pass_fds=pass_fds)
        if done.returncode != status:
            fail(f"packer {' '.join(arguments)} ended with {done.returncode}, not {status}:\n{done.stdout.decode()}{done.stderr.decode()}")
        self.runs += 1
        where = f"packer {' '.join(arguments)}"
        for stream, text in (("standard output", done.stdout), ("standard error", done.stderr)):
            self.search(text, f"{stream} of {where}", shows_content)
            if str(self.home).encode() in text:
                fail(f"{stream} of {where} names the home directory")
        for trace in self.traces.glob("t*") if self.strace and is_traced else []:
            for line in trace.read_text().splitlines():
                # Keys alone: what an unpack writes are contents.
                for quoted in re.findall(r'"((?:\\x[0-9a-f]{2})*)"', line):
                    self.search(bytes.fromhex(quoted.replace("\\x", "")), f"what {where} wrote", True)
        return done

    def search(self, data, where, shows_content=False):
        self.searched += len(data)
        for name, key in self.keys.items():
            if any(form in data for form in forms(key)):
                fail(f"the key in {name} is in {where}")
        if not shows_content:
            for content in self.content:
                if content.encode() in data:
                    fail(f"a content is in {where}")

    def search_files(self, holding_contents):
        """Looks at everything that is left, but for the keys' own files and, for contents, what was asked to hold them."""
        count = 0
        for path in self.home.rglob("*"):
            if path.is_symlink() or not path.is_file():
                continue
            name = str(path.relative_to(self.work)) if path.is_relative_to(self.work) else f"~/{path.relative_to(self.home)}"
            if name in self.keys or name.startswith("child"):
                continue
            data = path.read_bytes()
            self.search(data, name, name.startswith(holding_contents))
            if self.mark.encode() in data:
                fail(f"{name} names the home directory")
            count += 1
        left = [path.name for path in (self.home / "tmp").iterdir()]
        if left:
            fail(f"temporary files were left: {left}")
        return count


def both(place, *arguments, **more):
    place.run(*arguments, **more)
    return place.run(*arguments, "--json", **more)


def main():
    with tempfile.TemporaryDirectory(prefix="packer-secrets.") as name:
        place = Place(pathlib.Path(name))
        for pack, content in zip(("core", "kart"), place.content):
            directory = place.work / "content" / pack
            directory.mkdir(parents=True)
            (directory / "index.html").write_text(f"<title>{pack}</title>")
            # What does not shrink stands in a frame as it is.
            (directory / "data.txt").write_text(content)
            (directory / "noise.bin").write_bytes(secrets.token_bytes(100_000))
        (place.work / "packer.yml").write_text(CONFIGURATION)
        (place.work / "Info.plist").write_bytes(
            b'<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict><key>CFBundleIdentifier</key>'
            b"<string>com.example.arcade</string></dict></plist>\n")

        # Keys. They are marks from here on: whatever packer says of them later is looked at.
        for key, kind in (("game.key", []), ("other.key", []), ("game.sign.key", ["--signing"]), ("other.sign.key", ["--signing"]),
                          ("review.key", ["--recipient"])):
            place.run("key", "new", *kind, "-o", key, is_traced=False)
            place.learn(key)
        key_text = (place.work / "game.key").read_text().strip()
        for arguments in (["key", "id", "--key", "game.key"], ["key", "public", "--sign-key", "game.sign.key"], ["key", "public", "--key", "review.key"]):
            both(place, *arguments)
        place.run("key", "id", PACKER_KEY=key_text)
        place.run("key", "id", "--key", "env:MINE", MINE=key_text)
        place.run("key", "id", "--key", "stdin", given=key_text.encode())
        place.run("key", "id", "--key", "cmd:cat game.key", is_traced=False)
        # What a program gets to see that prints a key.
        (place.work / "child").write_text(
            "#!/bin/sh\nls /proc/$$/fd >child-descriptors\nenv >child-environment\ncat /proc/$PPID/cmdline >child-parent\ncat game.key\n")
        (place.work / "child").chmod(0o755)
        place.run(
            "key", "id", "--key", "cmd:./child", is_traced=False, MINE="kept", PACKER_SIGN_KEY=key_text.replace("pkk1", "pks1"), PACKER_KEY_OLD=key_text,
            LATER=key_text, SPACED=f" \t{key_text.upper()}")
        for said in ("child-environment", "child-parent"):
            data = (place.work / said).read_bytes()
            if not data:
                fail(f"{said} is empty")
            place.search(data, f"what a key command sees, {said}")
        # A key is gone under any name, and nothing else is.
        if b"MINE=kept" not in (place.work / "child-environment").read_bytes():
            fail("a key command lost a variable that is none of ours")
        # Wrong keys, of every kind, are told without a digit of them.
        for text, status in ((key_text[:-1] + ("0" if key_text[-1] != "0" else "1"), 10), (key_text[5:69].upper(), 10), (key_text + key_text, 10), (key_text[:40], 10)):
            place.run("key", "id", status=status, PACKER_KEY=text)
            place.run("key", "id", "--json", status=status, PACKER_KEY=text)
        place.run("key", "id", "--key", key_text, status=64)
        place.run("pack", "content/core", "-o", "x.pack", "--key", key_text, status=64)
        place.run("ls", "x.pack", "--key", f"env:{key_text}", status=64)

        # What is almost a key, where a reference belongs.
        sign_text = (place.work / "game.sign.key").read_text().strip()
        tried = tries(place, [key_text, key_text[5:69], sign_text, (place.work / "review.key").read_text().strip()])

        # One pack.
        both(place, "pack", "content/core", "-o", "core.pack", "--key", "game.key")
        place.run("pack", "content/core", "-o", "random.pack", "--key", "game.key", "--random-salt")
        for verb in (["ls"], ["ls", "--long"], ["check"]):
            both(place, verb[0], "core.pack", *verb[1:], "--key", "game.key")
            both(place, verb[0], "core.pack", *verb[1:], "--key", "other.key", status=11)
        both(place, "check", "core.pack", "--key", "game.key", "--against", "content/core")
        both(place, "inspect", "core.pack")
        place.run("cat", "core.pack", "data.txt", "--key", "game.key", shows_content=True)
        place.run("cat", "core.pack", "none.txt", "--key", "game.key", status=66)
        place.run("unpack", "core.pack", "-C", "restored", "--key", "game.key")
        place.run("unpack", "core.pack", "-C", "refused", "--key", "other.key", status=11)
        place.run("unpack", "core.pack", "--tar", "payload.tar.zst", "--key", "game.key")
        place.run("unpack", "core.pack", "--zip", "game.zip", "--key", "game.key")
        damaged = bytearray((place.work / "core.pack").read_bytes())
        (place.work / "short.pack").write_bytes(damaged[: 144 + 65536])
        damaged[-20] ^= 1
        (place.work / "damaged.pack").write_bytes(damaged)
        for file, status in (("damaged.pack", 12), ("short.pack", 13), ("none.pack", 66), ("packer.yml", 65)):
            both(place, "check", file, "--key", "game.key", status=status)
            place.run("unpack", file, "-C", "refused", "--key", "game.key", status=status)

        # Copies for recipients.
        review_text = (place.work / "review.key").read_text().strip()
        public = subprocess.run([PACKER, "key", "public", "--key", "review.key"], cwd=place.work, capture_output=True, text=True, check=True).stdout.split()[0]
        both(place, "key", "wrap", "core.pack", "-o", "review.pack", "--to", public, "--to-key", "other.key", "--key", "game.key")
        both(place, "key", "unwrap", "review.pack", "-o", "back.pack", "--all", "--key", "review.key")
        both(place, "ls", "review.pack", "--key", "review.key")
        both(place, "ls", "core.pack", "--key", "review.key", status=11)
        for text, status in ((review_text, 64), (key_text, 64), (review_text[:-1], 64)):
            both(place, "key", "wrap", "core.pack", "-o", "x.pack", "--to", text, "--key", "game.key", status=status)
            both(place, "key", "unwrap", "review.pack", "-o", "x.pack", "--from", text, "--key", "game.key", status=status)

        # A release.
        place.run("init", "content", "-o", "proposed.yml")
        place.run("init", "--schema")
        place.run("explain")
        both(place, "build")
        both(place, "build", "--dry-run")
        # The signing key waits in a variable or a descriptor of its own while a program prints the other one.
        sign_text = (place.work / "game.sign.key").read_text()
        place.run("build", "--key", "cmd:./child", "--sign-key", "env:SIGN", is_traced=False, SIGN=sign_text)
        place.search((place.work / "child-environment").read_bytes(), "what a key command sees of a signing key")
        with open(place.work / "game.sign.key", "rb") as waiting:
            place.run("build", "--key", "cmd:./child", "--sign-key", f"fd:{waiting.fileno()}", is_traced=False, pass_fds=[waiting.fileno()])
            if str(waiting.fileno()) in (place.work / "child-descriptors").read_text().split():
                fail("a key command inherits the descriptor of another key")
        both(place, "plist", "print")
        both(place, "plist", "merge", "Info.plist")
        both(place, "verify", "--plist", "Info.plist")
        place.run("verify", "--format", "junit")
        place.run("verify", "--key", "other.key", status=11)
        both(place, "key", "check", "core.pack", "--key", "game.key")
        both(place, "key", "check", "dist/manifest.json", "--sign-key", "game.sign.key")
        public = place.run("key", "public", "--sign-key", "game.sign.key").stdout.decode().strip().split()[0]
        other = place.run("key", "public", "--sign-key", "other.sign.key").stdout.decode().strip().split()[0]
        place.run("release", "record", "--app", "1.0", "--plist", "Info.plist")

        # A device.
        both(place, "store", "adopt", "dist", "--store", "phone", "--trust", public)
        place.run("store", "install", "dist", "--store", "phone", "--key", "other.key", status=11)
        both(place, "store", "install", "dist", "--store", "phone")
        place.run("store", "install", "dist", "--store", "elsewhere", "--trust", other, status=14)
        token = place.run("store", "activate", "kart", "--store", "phone").stdout.decode().strip()
        place.run("store", "confirm", token, "--store", "phone")
        for verb in ("list", "usage", "reconcile"):
            both(place, "store", verb, "--store", "phone")
        simulate = subprocess.run([PACKER, "simulate", "--help"], capture_output=True).returncode == 0
        if simulate:
            both(place, "simulate", "install", "--plist", "Info.plist")

        # Below the store, a pack that was unpacked is content, as it is below `restored`. The rest of what is left holds none.
        unpacked = tuple(str(path.relative_to(place.work)) for path in place.work.glob("phone/packs/*"))
        count = place.search_files(("content/", "restored/", "payload.tar.zst", "game.zip", *unpacked))
        # The search finds what is there to be found.
        place.keys.clear()
        (place.work / "leak").write_text(place.content[0])
        try:
            place.search((place.work / "leak").read_bytes(), "a leak")
        except SystemExit:
            pass
        else:
            fail("the search does not find a content that is there")
        print(f"{tried[0]} runs with {tried[3]} spellings of keys at {tried[1]} options, 6 variables and {tried[2]} values of packer.yml: none is printed")
        how = "with what strace saw of every write" if place.strace else "without strace, which is not installed: files without a name were not seen"
        print(f"{place.runs} runs, {place.searched} bytes searched, {count} files left: no key, no content, no home directory; {how}")


if __name__ == "__main__":
    main()
