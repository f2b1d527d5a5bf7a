#!/usr/bin/env python3
"""Runs every verb of `packer` where the system itself refuses: inputs that cannot be read, are missing, or are no files; outputs where nothing can be written;
limits on open files and on the size of a file; streams that are closed; a current directory that is gone; directories that disappear while it works.

Each run ends in time with a documented status and one line that names what is at fault. What was there before is unchanged, and nothing temporary is left.
Permission bits mean nothing to root, so that the whole program goes on as another user where it was started as root.

The command is named by the variable PACKER, the seed by PACKER_TEST_SEED. Of all the runs some are done that the seed chooses, and all with `--all`; `--rounds N` is
how often a directory disappears under each verb, `--only WORD` which verbs are looked at. Prints how many runs there were, and how they ended.
"""

import argparse
import atexit
import collections
import os
import pathlib
import random
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from project import CONFIGURATION, PACKER, PLIST, SEED, fail, inherited

# Nobody, on every system.
USER = 65534

# What TROUBLESHOOTING.md says a command may end with, except internal errors (70), findings and signals.
DOCUMENTED = {10, 11, 12, 13, 14, 64, 65, 66, 69, 73, 74}
FINDINGS = {1, 2, 3}
# What says something in any case.
TALKATIVE = (
    "ls", "cat", "inspect", "explain", "init --schema", "completions", "--version", "help", "key id", "key public", "key check", "plist print", "verify", "check",
    "simulate", "build", "store list", "store usage", "store activate", "store purge")

# When everything is built: before now, or a time that cannot be would be a finding.
EPOCH = str(int(time.time()) - 3600)

# A run has these seconds.
PATIENCE = 60

# Of so many runs of each verb one is done, where not all are.
SHARE = 10

TEMPORARY = re.compile(r"(^|/)\..*\.packer-[0-9a-f]{16}(/|$)|(^|/)phone/(staging|trash|uses)/")


class Wrong(Exception):
    """A run that did not end as it should."""


# MARK: Trees


def environment(place, **more):
    everything = {**inherited(), "HOME": str(place), "TMPDIR": str(place / "tmp"), "LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": EPOCH, **more}
    return {name: value for name, value in everything.items() if value is not None}


def snapshot(place):
    """Everything there is: kinds, permissions, contents. What may not be looked into is shown as that."""
    found = {}

    def look(directory):
        try:
            names = sorted(os.listdir(directory))
        except OSError:
            found[os.path.relpath(directory, place)] = "closed"
            return
        for name in names:
            path = os.path.join(directory, name)
            try:
                status = os.lstat(path)
            except OSError:
                found[os.path.relpath(path, place)] = "out of reach"
                continue
            what = (stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode))
            if stat.S_ISDIR(status.st_mode):
                found[os.path.relpath(path, place)] = what
                look(path)
            elif stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, place)] = (*what, file.read())
            else:
                found[os.path.relpath(path, place)] = what
    look(str(place))
    return found


def opened(place):
    """Gives back the permissions that a fault took away."""
    for directory, names, _ in os.walk(place):
        for name in names:
            path = os.path.join(directory, name)
            if not os.path.islink(path):
                os.chmod(path, 0o700)


def remove(path):
    if path.is_dir() and not path.is_symlink():
        opened(path)
        shutil.rmtree(path)
    else:
        path.unlink()


# MARK: Faults of inputs


def missing(path):
    remove(path)


def unreadable(path):
    path.chmod(0)


def unsearchable(path):
    path.chmod(0o644)


def below_closed(path):
    path.parent.chmod(0)


def becomes_directory(path):
    remove(path)
    path.mkdir()


def becomes_file(path):
    remove(path)
    path.write_bytes(b"")


def becomes_pipe(path):
    remove(path)
    os.mkfifo(path)


def leads_to(target):
    def fault(path):
        remove(path)
        path.symlink_to(target)

    fault.__name__ = f"leads to {target}"
    return fault


FILE_FAULTS = (
    missing, unreadable, below_closed, becomes_directory, becomes_pipe, leads_to("/dev/null"), leads_to("/dev/full"), leads_to("/dev/zero"),
    leads_to("nowhere"), leads_to("../" * 20 + "proc/self/mem"))
TREE_FAULTS = (missing, unreadable, unsearchable, below_closed, becomes_file, becomes_pipe, leads_to("/dev/null"), leads_to("nowhere"))


# MARK: Faults of outputs. Each prepares the place, and says where the output goes.


def in_read_only(place, name):
    (place / "closed").mkdir()
    (place / "closed").chmod(0o555)
    return f"closed/{name}"


def in_unsearchable(place, name):
    (place / "closed").mkdir()
    (place / "closed").chmod(0o644)
    return f"closed/{name}"


def in_nothing(place, name):
    return f"nothing/there/{name}"


def below_file(place, name):
    (place / "file").write_bytes(b"a file")
    return f"file/{name}"


def on_directory(place, name):
    (place / name).mkdir()
    (place / name / "mine").write_bytes(b"mine")
    return name


def on_pipe(place, name):
    os.mkfifo(place / name)
    return name


def on_device(device):
    def fault(place, name):
        return device

    fault.__name__ = f"on {device}"
    return fault


def with_long_name(place, name):
    return "n" * 256


def with_long_path(place, name):
    return "p/" * 2100 + name


def without_name(name):
    def fault(place, _):
        return name

    fault.__name__ = f"named {name!r}"
    return fault


OUTPUT_FAULTS = (
    in_read_only, in_unsearchable, in_nothing, below_file, on_directory, on_pipe, on_device("/dev/null"), on_device("/dev/full"), with_long_name,
    with_long_path, without_name(""), without_name("."), without_name("/"), without_name("/proc/nothing"))


class Verb:
    """A command line, in which OUT stands for the output; the inputs it reads, and what it makes.

    - files, trees: inputs. One in `optional` may be missing or be anything, and the command may succeed or fail for what it lacks.
    - missable: inputs below a tree, which may be missing or of another kind: then the tree is another one.
    - tells: a release that cannot be read is a finding of `verify`, and stands in its report.
    - keeps: what may appear or change although the command fails, because each part of it is whole by itself.
    - variable: the name of the variable that says where the output goes.
    - status: how it ends where nothing is wrong; None where there are findings, or no end.
    """

    def __init__(
        self, words, out=None, files=(), trees=(), status=0, optional=(), missable=(), tells=False, uses_temporary=False, given=None, keeps=(), variable=None
    ):
        self.words, self.out, self.files, self.trees, self.status = words.split(), out, files, trees, status
        self.optional, self.missable, self.tells, self.uses_temporary, self.given, self.keeps = optional, missable, tells, uses_temporary, given, keeps
        self.variable = variable


KEY = "--key game.key"
TRUST = "--store phone --trust PUBLIC"
DIST = ("dist/manifest.json",)

VERBS = [
    Verb(f"pack content/core -o OUT {KEY} -q", "new.pack", files=("game.key", "content/core/index.html"), trees=("content/core", "content/core/deep"),
         missable=("content/core/index.html", "content/core/deep")),
    Verb(f"unpack core.pack -C OUT {KEY} -q", "restored", files=("core.pack", "game.key")),
    Verb(f"unpack core.pack --tar OUT {KEY} -q", "payload.tar.zst", files=("core.pack", "game.key")),
    Verb(f"unpack core.pack --zip OUT --for itch {KEY} -q", "game.zip", files=("core.pack", "game.key")),
    Verb(f"ls core.pack {KEY}", files=("core.pack", "game.key")),
    Verb(f"cat core.pack index.html {KEY}", files=("core.pack", "game.key")),
    Verb("inspect core.pack", files=("core.pack",)),
    Verb(f"check core.pack {KEY}", files=("core.pack", "game.key")),
    Verb(f"check core.pack --against content/core {KEY}", trees=("content/core", "content/core/deep"), files=("content/core/index.html",), tells=True),
    Verb(f"serve core.pack {KEY}", files=("core.pack", "game.key"), status=None),
    Verb("serve --cdn dist", trees=("dist",), status=None),
    Verb("init content -o OUT -q", "new.yml", trees=("content", "content/core"), files=("content/core/index.html",),
         optional=("content/core/index.html", "content/core")),
    Verb("key new -o OUT", "new.key"),
    Verb("key new --signing -o OUT", "new.key"),
    Verb(f"key derive --pack core {KEY} -o OUT", "core.key", files=("game.key",)),
    Verb(f"key wrap core.pack -o OUT --to pkw1-79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a-da52a584 {KEY} -q", "copy.pack", files=("core.pack", "game.key")),
    Verb(f"key id {KEY}", files=("game.key",)),
    Verb("key id --key stdin", given="game.key"),
    Verb("key public --sign-key game.sign.key", files=("game.sign.key",)),
    Verb(f"key check core.pack {KEY}", files=("core.pack", "game.key")),
    Verb("build -o OUT -q", "public", files=("packer.yml", "game.key", "game.sign.key", "packer.lock.json", "content/kart/index.html"),
         trees=("content/core", "content/kart"), optional=("packer.lock.json",), missable=("content/kart/index.html",)),
    Verb("verify -q", trees=("dist",), tells=True, files=("packer.yml", "game.key", "dist/manifest.json", "packer.lock.json"), status=None,
         optional=("packer.yml", "packer.lock.json")),
    Verb("verify dist --quick --plist Info.plist -q", files=("Info.plist",), status=None),
    Verb("verify dist --quick -q --report junit=OUT", "report.xml", status=None),
    Verb("verify dist --quick -q --format github", "summary.md", status=None, variable="GITHUB_STEP_SUMMARY"),
    Verb("plist print", files=("dist/Info.fragment.plist",), trees=("dist",)),
    Verb("plist merge Info.plist -o OUT", "App.plist", files=("Info.plist", "dist/Info.fragment.plist")),
    Verb("plist merge Info.plist", files=("Info.plist",)),
    Verb("release record --dist next", files=("packer.yml", "packer.lock.json", "next/manifest.json"), trees=("next",), optional=("packer.lock.json",)),
    Verb("release list", files=("packer.lock.json",)),
    Verb("release retire 1.0", files=("packer.lock.json",)),
    # A store is made with the directories above it, and whole before anything is in it.
    Verb("store adopt next --store OUT --trust PUBLIC", "device", files=("next/manifest.json",), trees=("next",), keeps=("device",)),
    Verb(f"store adopt next {TRUST}", files=("next/manifest.json",), trees=("phone", "phone/state", "phone/staging"), optional=("phone", "phone/state", "phone/staging"),
         # The manifest is taken, and what it asks for cannot be told.
         keeps=("phone/manifest", "phone/memory")),
    Verb(f"store install next {TRUST} {KEY} -q", files=("game.key", "next/manifest.json", "phone/manifest", "phone/memory"),
         trees=("next", "phone/packs", "phone/staging"), optional=("phone/manifest", "phone/memory", "phone/packs", "phone/staging"), keeps=("phone",)),
    Verb(f"store activate kart --confirmed {TRUST}", files=("phone/state/kart", "phone/store"), trees=("phone", "phone/state"),
         optional=("phone/store", "phone/state"), keeps=("phone",)),
    Verb(f"store rollback core {TRUST}", files=("phone/state/core",), trees=("phone", "phone/state"), optional=("phone/state",), keeps=("phone",)),
    Verb(f"store list {TRUST}", files=("phone/state/kart",), trees=("phone", "phone/state"), optional=("phone", "phone/state", "phone/state/kart")),
    Verb(f"store usage {TRUST}", files=("phone/state/kart",), trees=("phone", "phone/packs"), optional=("phone", "phone/packs", "phone/state/kart")),
    Verb(f"store purge --free 1KiB {TRUST}", files=("phone/state/kart",), trees=("phone", "phone/state"), status=None,
         optional=("phone/state/kart", "phone/state"), keeps=("phone",)),
    Verb(f"store remove kart core {TRUST}", files=("phone/state/kart",), trees=("phone", "phone/packs", "phone/trash"),
         optional=("phone/state/kart", "phone/packs", "phone/trash"), keeps=("phone",)),
    Verb(f"store reconcile {TRUST}", files=("phone/state/kart", "phone/manifest", "phone/memory"), trees=("phone", "phone/state", "phone/packs"), status=None,
         optional=("phone/state/kart", "phone/manifest", "phone/memory", "phone/state", "phone/packs"), keeps=("phone",)),
    Verb(f"simulate install dist -q", files=("packer.yml", "dist/manifest.json"), trees=("dist",), optional=("packer.yml",), uses_temporary=True, status=None),
    Verb(f"simulate install dist -q --keep OUT", "device", uses_temporary=False, status=None),
    Verb("explain PK3007"),
    Verb("init --schema"),
    Verb("completions bash"),
    Verb("--version"),
    Verb("help pack"),
]


class Grounds:
    """Where everything happens: a project with two releases, a store, and fresh copies of them."""

    def __init__(self, directory):
        self.directory = directory
        self.template = directory / "template"
        self.counts, self.lock = collections.Counter(), threading.Lock()
        self.runs = 0

    def packer(self, *arguments):
        done = subprocess.run([PACKER, *arguments], cwd=self.template, env=environment(self.template), capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            fail(f"packer {' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode()}")
        return done.stdout.decode()

    def make(self):
        dice = random.Random(SEED)
        self.template.mkdir()
        (self.template / "tmp").mkdir()
        for pack in ("core", "kart"):
            for number in range(3):
                folder = self.template / "content" / pack / "deep"
                folder.mkdir(parents=True, exist_ok=True)
                (folder / f"{number}.bin").write_bytes(dice.randbytes(30_000))
            (self.template / "content" / pack / "index.html").write_text(f"<title>{pack}</title>")
        (self.template / "packer.yml").write_text(CONFIGURATION)
        (self.template / "Info.plist").write_text(PLIST)
        self.packer("key", "new", "-o", "game.key")
        self.packer("key", "new", "--signing", "-o", "game.sign.key")
        self.public = self.packer("key", "public", "--sign-key", "game.sign.key").split()[0]
        self.packer("pack", "content/core", "-o", "core.pack", "--key", "game.key")
        self.packer("build")
        self.packer("plist", "merge", "Info.plist", "-o", "Merged.plist")
        self.packer("release", "record", "--app", "1.0", "--plist", "Merged.plist")
        trust = ["--store", "phone", "--trust", self.public]
        self.packer("store", "install", "dist", "--key", "game.key", *trust)
        for pack in ("core", "kart"):
            self.packer("store", "activate", pack, "--confirmed", *trust)
        (self.template / "content/kart/index.html").write_text("<title>kart, improved</title>")
        self.packer("build", "-o", "next")

    def fresh(self):
        place = pathlib.Path(tempfile.mkdtemp(dir=self.directory)) / "place"
        shutil.copytree(self.template, place, symlinks=True)
        return place

    def command(self, verb, out=None):
        filled = {"PUBLIC": self.public, "OUT": verb.out if out is None else out, "junit=OUT": f"junit={verb.out if out is None else out}"}
        return [PACKER, *(filled.get(word, word) for word in verb.words)]

    def run(self, verb, command, place, started=None, **more):
        """Runs it to its end, which must come in time and be no crash."""
        with open(place.parent / "out", "w+b") as out, open(place.parent / "said", "w+b") as said:
            given = open(place / verb.given, "rb") if verb.given and (place / verb.given).exists() else subprocess.DEVNULL
            streams = dict(stdin=given, stdout=out, stderr=said)
            streams.update({name: more.pop(name) for name in ("stdin", "stdout", "stderr") if name in more})
            variables = more.pop("variables", {})
            process = subprocess.Popen(command, cwd=more.pop("cwd", place), env=environment(place, **variables), start_new_session=True, **streams, **more)
            if started:
                started()
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                raise Wrong(f"it did not end within {PATIENCE} s") from None
            finally:
                if given != subprocess.DEVNULL:
                    given.close()
            out.seek(0)
            said.seek(0)
            text, talk = out.read().decode(errors="replace"), said.read().decode(errors="replace")
        status = process.returncode
        with self.lock:
            self.runs += 1
            self.counts[status] += 1
        if status < 0:
            raise Wrong(f"it was ended by signal {-status}: {talk.strip()[-300:]}")
        if "Fatal error" in talk or "internal" in talk:
            raise Wrong(f"it has a fault of its own: {talk.strip()[-300:]}")
        return status, text, talk

    def judge(self, verb, place, before, status, text, talk, names, may_succeed=False, hint=None):
        """Whether it failed in words, by a documented status, and left what was there."""
        after = snapshot(place)
        if left := sorted(name for name in after if TEMPORARY.search(name) and name not in before):
            raise Wrong(f"it left {left}")
        # init writes a proposal without what cannot be packed, and says that with status 1.
        if may_succeed and (status == 0 or status == 1 and verb.words[0] == "init"):
            return
        is_told = verb.tells and status in DOCUMENTED | FINDINGS and "error PK" in text or verb.tells and status in FINDINGS
        if status not in DOCUMENTED and not (verb.tells and status in FINDINGS) and not (may_succeed and status in FINDINGS):
            raise Wrong(f"it ended with {status}: {(text + talk).strip()[-300:]}")
        errors = [line for line in talk.splitlines() if line.startswith("packer: error:")]
        if len(errors) != (0 if is_told and not errors else 1) and not (may_succeed and status in FINDINGS):
            raise Wrong(f"it ended with {status} and {len(errors)} lines of errors: {talk.strip()[-300:]}")
        said = text + talk if is_told or may_succeed else talk
        if names and not any(name in said for name in names):
            raise Wrong(f"it ended with {status} and names none of {names}: {talk.strip()[-300:]}")
        if hint and "hint: " not in talk:
            raise Wrong(f"it gives no hint: {talk.strip()[-300:]}")
        changed = [
            name for name in sorted({*before, *after})
            if before.get(name) != after.get(name) and not any(name == front or name.startswith(f"{front}/") for front in verb.keeps)]
        if changed:
            raise Wrong(f"it ended with {status} and changed {changed}")


# MARK: The kinds of trouble. Each yields a title and a run.


def inputs(grounds, verb):
    for paths, faults in ((verb.files, FILE_FAULTS), (verb.trees, TREE_FAULTS)):
        for name in paths:
            for fault in faults:
                if fault is below_closed and "/" not in name:
                    continue

                def run(place, name=name, fault=fault):
                    fault(place / name)
                    before = snapshot(place)
                    status, text, talk = grounds.run(verb, grounds.command(verb), place)
                    # A message may name the directory that leads there, or what is below.
                    names = [name, os.path.basename(name), os.path.dirname(name) or name, *verb_names(name)]
                    is_another = name in verb.missable and fault in (missing, becomes_directory, becomes_file)
                    is_optional = name in verb.optional
                    grounds.judge(verb, place, before, status, text, talk, None if is_optional else names, may_succeed=is_optional or is_another)

                yield f"{name} {fault.__name__.replace('_', ' ')}", run


def verb_names(name):
    """What stands for an input in messages."""
    if name.startswith("content/"):
        yield name.split("/")[-1]
    if name.startswith(("phone", "dist", "next")):
        yield name.split("/")[0]


def outputs(grounds, verb):
    if not verb.out:
        return
    for fault in OUTPUT_FAULTS:

        def run(place, fault=fault):
            out = fault(place, verb.out)
            before = snapshot(place)
            status, text, talk = grounds.run(verb, grounds.command(verb, out), place, variables={verb.variable: out} if verb.variable else {})
            if fault is in_nothing and verb.out == "device" and status == 0 and "store" in verb.words:
                # A store is made with the directories above it.
                return
            names = [out, os.path.dirname(out) or out] if out else ["''", "names no", "--report"]
            if out in (".", "/"):
                # Nearly every message has such a character.
                names = [f"'{out}'", f" {out} "]
            # What stands there can be told apart from what cannot be written, and another name helps.
            is_helped = fault.__name__.startswith("on") and "store" not in verb.words and not verb.variable
            # What is appended to may be a device, and need not be named.
            takes_all = verb.variable and out in ("", "/dev/null")
            grounds.judge(verb, place, before, status, text, talk, None if takes_all else names, may_succeed=takes_all, hint=is_helped)
            if takes_all:
                return
            if status not in (64, 65, 73, 74):
                raise Wrong(f"it ended with {status}: {talk.strip()}")

        yield f"output {fault.__name__.replace('_', ' ')}", run


def in_place(grounds, verb):
    """What is changed where it is, in a directory that cannot be written."""
    for words, closed, name in (
        ("plist merge Info.plist", ".", "Info.plist"), ("release record --dist next", ".", "packer.lock.json"), ("release retire 1.0", ".", "packer.lock.json"),
        (f"store adopt next {TRUST}", "phone", "phone"), (f"store install next {TRUST} {KEY} -q", "phone", "phone"),
        (f"store activate kart --confirmed {TRUST}", "phone", "phone"), (f"store rollback core {TRUST}", "phone", "phone"),
        (f"store remove kart core {TRUST}", "phone", "phone"), ("build -q", ".", "dist"),
    ):
        if words.split() != verb.words and not (words == "build -q" and verb.words[0] == "build"):
            continue

        def run(place):
            for directory in [place / closed, *((place / closed).rglob("*") if closed != "." else [])]:
                if directory.is_dir():
                    directory.chmod(0o555)
            before = snapshot(place)
            status, text, talk = grounds.run(verb, [PACKER, *(grounds.public if word == "PUBLIC" else word for word in words.split())], place)
            (place).chmod(0o755)
            # What is as it should be already is not written.
            grounds.judge(verb, place, before, status, text, talk, [name], may_succeed="activate" in words)

        yield f"{name} where nothing can be written", run


def limits(grounds, verb):
    if verb.words[0] == "serve":
        return
    for kind, number, title in [
        ("fsize", 0, "files of 0 bytes"), ("fsize", 20, "files of 20 bytes"), ("fsize", 5000, "files of 5000 bytes"),
        # Three are the streams, and to go through a tree takes one for each level, to clear up as well: with fewer than these, what was begun may stay.
        *(("nofile", number, f"{number} open files") for number in (16, 12, 10)),
    ]:

        def run(place, kind=kind, number=number):
            before = snapshot(place)
            # The streams of the run are pipes: files would be held to the limit too.
            with open(place / verb.given if verb.given else os.devnull, "rb") as given:
                process = subprocess.Popen(
                    ["prlimit", f"--{kind}={number}", *grounds.command(verb)], cwd=place, env=environment(place), stdin=given,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
            try:
                text, talk = (data.decode(errors="replace") for data in process.communicate(timeout=PATIENCE))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                raise Wrong(f"it did not end within {PATIENCE} s") from None
            status = process.returncode
            with grounds.lock:
                grounds.runs += 1
                grounds.counts[status] += 1
            # The loader itself needs a few.
            if status == 127 and "shared libraries" in talk:
                return
            if status < 0 or "Fatal error" in talk or "internal" in talk:
                raise Wrong(f"it ended with {status}: {talk.strip()[-300:]}")
            words = ["file too large"] if kind == "fsize" else ["too many open files"]
            if status in FINDINGS and verb.status is None and verb.words[0] != "simulate":
                return
            # The largest file that may be made is smaller than any output.
            must_fail = kind == "fsize" and number <= 20 and verb.out and verb.status == 0
            grounds.judge(verb, place, before, status, text, talk, words, may_succeed=not must_fail)

        yield title, run


def streams(grounds, verb):
    if verb.words[0] == "serve":
        return
    for title, line in (
        ("stdin closed", "<&-"), ("stdout closed", ">&-"), ("stderr closed", "2>&-"), ("stdin and stdout closed", "<&- >&-"),
        ("all streams closed", "<&- >&- 2>&-"), ("stdout /dev/full", ">/dev/full"), ("stderr /dev/full", "2>/dev/full"),
        ("both /dev/full", ">/dev/full 2>/dev/full"), ("stdin a directory", "<."),
    ):

        def run(place, line=line):
            before = snapshot(place)
            status, text, talk = grounds.run(verb, ["sh", "-c", f'exec "$@" {line}', "sh", *grounds.command(verb)], place)
            if verb.given and "<" in line:
                if status != 10 and status != 74 and not (status == 73 and ">" in line):
                    raise Wrong(f"it ended with {status}: {talk}")
                return
            usual = {0} if verb.status is not None else {0, *FINDINGS, 14}
            is_deaf = ">" in line.replace("2>", "")
            if status not in (usual | {73} if is_deaf else usual):
                raise Wrong(f"it ended with {status}: {talk.strip()}")
            if status == 73 and "2>" not in line and "standard output cannot be written" not in talk:
                raise Wrong(f"it ended with 73 and said: {talk.strip()}")
            # A command that has something to say must not end as if it had said it.
            if is_deaf and status == 0 and " ".join(verb.words).startswith(TALKATIVE):
                raise Wrong("it ended with 0, and its output is lost")
            if left := sorted(name for name in snapshot(place) if TEMPORARY.search(name) and name not in before):
                raise Wrong(f"it left {left}")

        yield title, run


def surroundings(grounds, verb):
    if verb.words[0] == "serve":
        return
    usual = {0} if verb.status is not None else {0, *FINDINGS, 14}

    def homeless(place):
        status, _, talk = grounds.run(verb, grounds.command(verb), place, variables={"HOME": None})
        if status not in usual:
            raise Wrong(f"it ended with {status}: {talk.strip()}")

    def unplaced(place):
        before = snapshot(place)
        status, text, talk = grounds.run(verb, grounds.command(verb), place, variables={"TMPDIR": str(place / "nothing")})
        if verb.uses_temporary:
            grounds.judge(verb, place, before, status, text, talk, [str(place / "nothing")])
        elif status not in usual:
            raise Wrong(f"it ended with {status}: {talk.strip()}")

    def displaced(place):
        """The current directory is gone: relative paths lead nowhere."""
        before = snapshot(place)
        (place / "gone").mkdir()
        status, text, talk = grounds.run(verb, ["sh", "-c", 'rmdir ../gone && exec "$@"', "sh", *grounds.command(verb)], place, cwd=place / "gone")
        # What reads and writes nothing by a path does not notice.
        grounds.judge(verb, place, before, status, text, talk, None, may_succeed=not (verb.files or verb.trees or verb.out))

    def displaced_with_paths(place):
        before = snapshot(place)
        (place / "gone").mkdir()
        names = {word for word in verb.words if (place / word).exists()} | {"OUT", "phone"}
        command = [str(place / word) if word in names or word == verb.out else word for word in grounds.command(verb)]
        if verb.words[0] in ("pack", "unpack", "ls", "cat", "inspect", "init", "key", "store", "plist") and verb.words[1] not in ("print", "--schema"):
            status, _, talk = grounds.run(
                verb, ["sh", "-c", 'rmdir ../gone && exec "$@"', "sh", *command, *(["--dist", str(place / "dist")] if verb.words[1] == "merge" else [])],
                place, cwd=place / "gone")
            if status not in usual:
                raise Wrong(f"it ended with {status}: {talk.strip()}")

    yield "HOME unset", homeless
    yield "TMPDIR missing", unplaced
    yield "current directory gone", displaced
    yield "current directory gone, paths from the root", displaced_with_paths


def disappearances(grounds, verb, rounds):
    """A directory goes while the verb works: of its inputs, or the one in which its output is made."""
    if verb.words[0] == "serve" or not (verb.out or verb.trees or any("phone" in word for word in verb.words)):
        return
    dice = random.Random(f"{SEED} {' '.join(verb.words)}")
    victims = [tree for tree in verb.trees]
    if verb.out:
        victims.append("made")
    if "phone" in verb.words and "phone" not in victims:
        victims.append("phone")
    for victim in victims:
        for _ in range(rounds):
            fraction = dice.random()

            def run(place, victim=victim, fraction=fraction):
                (place / "made").mkdir()
                begun = time.monotonic()
                out = f"made/{verb.out}" if verb.out else None
                grounds.run(verb, grounds.command(verb, out), place)
                took = time.monotonic() - begun
                shutil.rmtree(place)
                shutil.copytree(grounds.template, place, symlinks=True)
                (place / "made").mkdir()

                def vanish():
                    def work():
                        time.sleep(fraction * took)
                        for _ in range(50):
                            shutil.rmtree(place / victim, ignore_errors=True)
                            if not (place / victim).exists():
                                return

                    threads.append(threading.Thread(target=work))
                    threads[0].start()

                threads = []
                status, text, talk = grounds.run(verb, grounds.command(verb, out), place, started=vanish)
                threads[0].join()
                after = snapshot(place)
                # Where the directory itself is gone, so is what was in it, but for what came later.
                if left := sorted(name for name in after if TEMPORARY.search(name) and not name.startswith(victim)):
                    raise Wrong(f"it left {left}")
                if status in {0, *FINDINGS}:
                    return
                if status not in DOCUMENTED:
                    raise Wrong(f"it ended with {status}: {talk.strip()}")
                if "packer: error: " not in talk and not verb.tells:
                    raise Wrong(f"it ended with {status} and said: {talk.strip()}")
                if verb.out and victim != "made" and f"made/{verb.out}" in after and "store" not in verb.words:
                    raise Wrong(f"it ended with {status}, and its output is there")

            yield f"{victim} disappears after {fraction:.3f} of its time", run


def go_on_as_nobody():
    """Gives up being root. A command that only root can reach is copied to where others can."""
    global PACKER
    if os.geteuid() != 0:
        return
    try:
        subprocess.run([PACKER, "--version"], user=USER, group=USER, extra_groups=[], cwd="/", capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        directory = tempfile.mkdtemp(prefix="packer-places.", dir="/tmp")
        PACKER = shutil.copy2(PACKER, directory)
        for path in (directory, PACKER):
            os.chown(path, USER, USER)
        atexit.register(shutil.rmtree, directory)
    os.setgroups([])
    os.setgid(USER)
    os.setuid(USER)
    # The temporary directory of root may be nobody else's.
    tempfile.tempdir = None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    print(f"PACKER_TEST_SEED={SEED}", flush=True)
    go_on_as_nobody()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="packer-places.") as name:
        grounds = Grounds(pathlib.Path(name))
        grounds.make()

        def look(verb, title, run):
            place = grounds.fresh()
            try:
                run(place)
            except (Wrong, OSError) as error:
                wrong.append(f"{' '.join(verb.words)}; {title}: {error}")
            finally:
                place.chmod(0o700)
                opened(place.parent)
                shutil.rmtree(place.parent)

        with ThreadPoolExecutor(max_workers=os.cpu_count()) as crew:
            orders = []
            for verb in VERBS:
                if options.only not in " ".join(verb.words):
                    continue
                troubles = [trouble for kind in (inputs, outputs, in_place, limits, streams, surroundings) for trouble in kind(grounds, verb)]
                troubles += disappearances(grounds, verb, options.rounds)
                if not options.all:
                    dice = random.Random(f"{SEED} {verb.words}")
                    troubles = dice.sample(troubles, -(-len(troubles) // SHARE))
                orders += [crew.submit(look, verb, title, run) for title, run in troubles]
            if not orders:
                fail("no command is meant")
            for order in orders:
                order.result()
    print("statuses: " + ", ".join(f"{status} {count} times" for status, count in sorted(grounds.counts.items())))
    for text in sorted(wrong):
        print(text, file=sys.stderr)
    if wrong:
        fail(f"{len(wrong)} runs of packer did not end as they should (PACKER_TEST_SEED={SEED})")
    print(f"{len(VERBS)} commands, {grounds.runs} runs in places where the system refuses: each ends in words, and leaves what was there")


if __name__ == "__main__":
    main()
