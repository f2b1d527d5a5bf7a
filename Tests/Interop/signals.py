#!/usr/bin/env python3
"""Ends every verb of `packer` that writes by SIGKILL, SIGINT, SIGTERM and SIGHUP, at random moments of the time it takes, and with strace by SIGKILL at random
file operations too. What is there afterwards is what was there before, or what the verb makes when nobody disturbs it; nothing temporary is left but by
SIGKILL, and that is gone when the verb has run again.

The command is named by the variable PACKER, the seed by PACKER_TEST_SEED. `--rounds N` is how often each signal strikes each verb, `--only WORD` which verbs are looked
at. Prints how the runs ended.
"""

import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from project import CONFIGURATION, PACKER, PLIST, SEED, fail, inherited

# What the signals end a process with that noticed them.
STOPPED = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}

# A process that does not end has these seconds.
PATIENCE = 60

# When everything is built: before now, or the time of the look would stand in reports as the earlier one.
EPOCH = str(int(time.time()) - 3600)

# The calls at which strace kills: what changes files, and what is printed.
CALLS = "mkdirat,unlinkat,renameat,renameat2,linkat,fchmod,fsync,syncfs,pwrite64,fallocate,write"

# The names of outputs that are being made; in a store, what docs call staging, trash and marks of use; a device that is not kept.
TEMPORARY = re.compile(r"(^|/)\..*\.packer-[0-9a-f]{16}(/|$)|^phone/(staging|trash|uses)/")

# In the records of a store: which process, which trial, when.
SESSION = re.compile(rb'"session":"[0-9a-f]{16}-[0-9]+-[0-9a-f]+-[0-9a-f]+"')
NONCE = re.compile(rb'"(nonce|confirmed)":"[0-9a-f]{32}"')
LAST_USE = re.compile(rb'"lastUse":[0-9]+')


class Wrong(Exception):
    """A run after which something is not as it should be."""


def environment(place):
    return dict(
        inherited(), HOME=str(place / "home"), TMPDIR=str(place / "tmp"), LC_ALL="C.UTF-8", SOURCE_DATE_EPOCH=EPOCH,
        GITHUB_STEP_SUMMARY=str(place / "summary.md"))


def packer(place, *arguments, statuses=(0,)):
    done = subprocess.run([PACKER, *arguments], cwd=place, env=environment(place), capture_output=True, timeout=PATIENCE, stdin=subprocess.DEVNULL)
    if done.returncode not in statuses:
        raise Wrong(f"packer {' '.join(arguments)} ended with {done.returncode}: {done.stderr.decode(errors='replace').strip()}")
    return done


def snapshot(place):
    """Everything there is: kinds, permissions, contents."""
    found = {}
    for path in sorted(place.rglob("*")):
        name, status = str(path.relative_to(place)), path.lstat()
        if path.is_symlink():
            found[name] = ("link", os.readlink(path))
        elif path.is_dir():
            found[name] = ("directory", oct(status.st_mode & 0o7777))
        else:
            found[name] = ("file", oct(status.st_mode & 0o7777), path.read_bytes())
    return found


def durable(state):
    return {name: what for name, what in state.items() if not TEMPORARY.search(name)}


def temporary(state):
    return sorted(name for name in state if TEMPORARY.search(name))


def differences(one, other):
    return ", ".join(name for name in sorted({*one, *other}) if one.get(name) != other.get(name))


class Case:
    """A verb in a directory that is prepared for it.

    `normal` takes out of a state what another run makes otherwise: random keys, process numbers. `is_stepwise` says that the verb does several things of
    which each is whole by itself: packs of a release. `mend` is what has to run after SIGKILL by the documentation: before the verb runs again, or with
    `mends_late` behind it, where it would end the very trial that the verb is about.
    """

    def __init__(
        self, name, arguments, template, status=0, normal=lambda state: state, is_stepwise=False, mend=(), mends_late=False, is_repeatable=True, check=None
    ):
        self.name, self.arguments, self.template, self.status = name, [str(word) for word in arguments], template, status
        self.normal, self.is_stepwise, self.mend, self.mends_late = normal, is_stepwise, mend, mends_late
        self.is_repeatable, self.check = is_repeatable, check

    def start(self, place, prefix=()):
        """Starts it in a fresh copy of its directory."""
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.template, place, symlinks=True)
        self.said = open(place.parent / "said", "w+b")
        return subprocess.Popen(
            [*prefix, PACKER, *self.arguments], cwd=place, env=environment(place), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=self.said, start_new_session=True)

    def end(self, process):
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise Wrong(f"it did not end within {PATIENCE} s") from None
        self.said.seek(0)
        self.text = self.said.read().decode(errors="replace").strip()
        self.said.close()
        return status

    def state(self, place):
        return self.normal(snapshot(place))

    def undisturbed(self, place, prefix=()):
        begun = time.monotonic()
        status = self.end(self.start(place, prefix))
        took = time.monotonic() - begun
        if status != self.status:
            raise Wrong(f"undisturbed it ends with {status}, not {self.status}: {self.text}")
        return self.state(place), took

    def learn(self, place, tracer):
        self.before = self.normal(snapshot(self.template))
        self.after, self.took = self.undisturbed(place)
        if self.check:
            self.check(place)
        trace = place.parent / "trace"
        again, _ = self.undisturbed(place, [tracer, "-f", "-qq", "-e", f"trace={CALLS}", "-e", "signal=none", "-o", str(trace)] if tracer else ())
        if again != self.after:
            raise Wrong(f"two runs make different things: {differences(again, self.after)}")
        if left := temporary(self.after):
            raise Wrong(f"undisturbed it leaves {left}")
        # Where a signal is to strike is counted by thread.
        threads = re.findall(r"^(\d+) +\w+\(", trace.read_text(), re.MULTILINE) if tracer else []
        self.operations = max((threads.count(thread) for thread in set(threads)), default=0)

    def strike(self, place, number, fraction):
        process = self.start(place)
        time.sleep(fraction * self.took)
        process.send_signal(number)
        return self.end(process)

    def strike_operation(self, place, tracer, operation):
        rule = f"inject={CALLS}:signal=KILL:when={operation}"
        return self.end(self.start(place, [tracer, "-f", "-qq", "-e", f"trace={CALLS}", "-e", rule, "-e", "signal=none", "-o", "/dev/null"]))

    def judge(self, place, number, status):
        """Whether all is as it should be; returns how it ended."""
        state = self.state(place)
        kept = durable(state)
        if status == self.status:
            if kept != self.after:
                raise Wrong(f"it ended with {status}, and these are not as it makes them: {differences(kept, self.after)}")
        elif self.is_stepwise:
            odd = [name for name in {*kept, *self.before, *self.after} if kept.get(name) not in (self.before.get(name), self.after.get(name))]
            if odd:
                raise Wrong(f"neither as before nor as after: {', '.join(sorted(odd))}")
        elif kept not in (self.before, self.after):
            raise Wrong(
                f"neither as before nor as after: {differences(kept, self.before)} against before, {differences(kept, self.after)} against after")
        is_after = kept == self.after
        if number == signal.SIGKILL:
            if status not in (-signal.SIGKILL, self.status):
                raise Wrong(f"it ended with {status}: {self.text}")
            self.repair(place, is_after)
            return "ended first" if status == self.status else "killed, done" if is_after else "killed"
        if left := temporary(state):
            raise Wrong(f"it left {left}")
        if status == -number:
            # Before the signals are watched, nothing was begun.
            if kept != self.before:
                raise Wrong(f"it was ended by the signal itself, and had changed {differences(kept, self.before)}")
            return "ended at its start"
        if status not in (self.status, STOPPED[number]):
            raise Wrong(f"it ended with {status}: {self.text}")
        if status == STOPPED[number]:
            lines = self.text.splitlines()
            if [line for line in lines if line.startswith("packer: error:")] != [f"packer: error: {'interrupted' if status == 130 else 'terminated'}"]:
                raise Wrong(f"it ended with {status} and said: {self.text}")
        return "ended first" if status == self.status else "stopped, done" if is_after else "stopped"

    def repair(self, place, is_after):
        """What SIGKILL left goes when the verb runs again."""
        if not self.mends_late:
            self.clear(place)
            # What was there whole, and was not recorded yet, is taken in.
            is_after = durable(self.state(place)) == self.after
        if not is_after or self.is_repeatable:
            packer(place, *self.arguments, statuses=(self.status,))
            state = self.state(place)
            left = [] if self.mends_late else temporary(state)
            if left:
                raise Wrong(f"it ran again, and left {left}")
            if (kept := durable(state)) != self.after:
                raise Wrong(f"it ran again, and made other things: {differences(kept, self.after)}")
            if self.check:
                self.check(place)
        if self.mends_late:
            self.clear(place)

    def clear(self, place):
        for arguments in self.mend:
            # A store that was not made yet is told as missing.
            packer(place, *arguments, statuses=(0, 66))
            if left := temporary(snapshot(place)):
                raise Wrong(f"after {' '.join(arguments[:2])} there is {left}")


# MARK: What another run makes otherwise


def without_keys(*names):
    """A fresh key is another one each time. That it is whole is looked at by its form, and that it can be used by running it."""

    def normal(state):
        state = dict(state)
        for name in names:
            if name in state:
                kind, mode, text = state[name]
                state[name] = (kind, mode, bool(re.fullmatch(rb"pk[ks]1-[0-9a-f]{64}-[0-9a-f]+\n", text)))
        return state

    return normal


def of_store(state):
    """A store without what names processes, trials and times, and without directories in which nothing is yet."""
    normal = {}
    for name, what in state.items():
        if name in ("phone", "phone/store", "phone/lock") or re.fullmatch(r"phone/(state|packs|staging|trash|uses)", name):
            continue
        if name.startswith("phone/state/"):
            text = LAST_USE.sub(b'"lastUse":0', NONCE.sub(rb'"\1":""', SESSION.sub(b'"session":""', what[2])))
            what = (*what[:2], text)
        normal[name] = what
    return normal


def of_device(state):
    """A kept device: a store, downloads and shared state, all of which name processes and times. Its files count, and what installed packs hold."""
    normal = {}
    for name, what in state.items():
        if name.startswith("device") and what[0] == "file" and "/packs/" not in name:
            what = what[:2]
        normal[re.sub(r"[0-9a-f]{16}-[0-9]+-[0-9a-f]+(-[0-9a-f]+)?", "PROCESS", name)] = what
    return normal


# MARK: The verbs


def make_inputs(inputs):
    """Keys, contents, packs, two releases and their lock files, all made once."""
    dice = random.Random(SEED)
    for pack in ("core", "kart"):
        for number in range(6):
            folder = inputs / "content" / pack / f"level{number % 3}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{number}.bin").write_bytes(dice.randbytes(60_000))
            (folder / f"{number}.txt").write_text(f"level {number}\n" * 400)
        (inputs / "content" / pack / "index.html").write_text(f"<title>{pack}</title>")
    (inputs / "packer.yml").write_text(CONFIGURATION)
    (inputs / "Info.plist").write_text(PLIST)
    for folder in ("tmp", "home"):
        (inputs / folder).mkdir()
    packer(inputs, "key", "new", "-o", "game.key")
    packer(inputs, "key", "new", "--signing", "-o", "game.sign.key")
    packer(inputs, "pack", "content/core", "-o", "core.pack", "--key", "game.key")
    packer(inputs, "build", "-o", "first")
    packer(inputs, "plist", "merge", "Info.plist", "-o", "Merged.plist", "--dist", "first")
    # A project whose first release went out, and whose second game has changed since.
    (inputs / "content/kart/index.html").write_text("<title>kart, improved</title>")
    shutil.copytree(inputs / "first", inputs / "dist")
    packer(inputs, "release", "record", "--app", "1.0", "--plist", "Merged.plist")
    packer(inputs, "build", "-o", "second")
    return packer(inputs, "key", "public", "--sign-key", "game.sign.key").stdout.decode().split()[0]


def cases(directory):
    inputs, templates = directory / "inputs", directory / "templates"
    inputs.mkdir()
    public = make_inputs(inputs)
    key, dist = f"{inputs}/game.key", inputs / "dist"

    def template(name, *copied):
        """A directory to start from, with copies of inputs in it."""
        place = templates / name
        for folder in ("tmp", "home"):
            (place / folder).mkdir(parents=True)
        for path in copied:
            if (inputs / path).is_dir():
                shutil.copytree(inputs / path, place / path)
            else:
                shutil.copy2(inputs / path, place / path)
        return place

    empty = template("empty")
    with_key = ["--key", key, "--quiet"]
    yield Case("pack", ["pack", inputs / "content/core", "-o", "core.pack", *with_key], empty)
    earlier = template("earlier")
    # Only a pack is replaced.
    packer(inputs, "pack", "content/core", "-o", earlier / "core.pack", "--pack-version", "2", "--key", "game.key")
    yield Case("pack over an earlier one", ["pack", inputs / "content/core", "-o", "core.pack", *with_key], earlier)
    unpack = ["unpack", inputs / "core.pack", "-C", "restored", *with_key]
    yield Case("unpack", unpack, empty, is_repeatable=False)
    hollow = template("hollow")
    (hollow / "restored").mkdir()
    yield Case("unpack into an empty directory", unpack, hollow, is_repeatable=False)
    yield Case("unpack --tar", ["unpack", inputs / "core.pack", "--tar", "payload.tar.zst", *with_key], empty)
    yield Case("unpack --zip", ["unpack", inputs / "core.pack", "--zip", "game.zip", "--for", "itch", *with_key], empty)
    yield Case("init", ["init", inputs / "content", "-o", "packer.yml", "--quiet"], empty, is_stepwise=True, is_repeatable=False)

    def usable(*words):
        return lambda place: packer(place, "key", *words)

    yield Case(
        "key new", ["key", "new", "-o", "new.key"], empty, normal=without_keys("new.key"), is_repeatable=False, check=usable("id", "--key", "new.key"))
    yield Case(
        "key new --signing", ["key", "new", "--signing", "-o", "new.key"], empty, normal=without_keys("new.key"), is_repeatable=False,
        check=usable("public", "--sign-key", "new.key"))
    yield Case("key derive", ["key", "derive", "--pack", "core", "--key", key, "-o", "core.key"], empty, is_repeatable=False)

    recipient = "pkw1-79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a-da52a584"
    yield Case("key wrap", ["key", "wrap", inputs / "core.pack", "-o", "copy.pack", "--to", recipient, *with_key], empty)

    project = template("project", "content", "packer.yml", "packer.lock.json", "packer.apps", "game.key", "game.sign.key", "Info.plist", "Merged.plist", "dist")
    yield Case("build", ["build", "--quiet"], project)
    yield Case("build --ba-package", ["build", "-o", "public", "--ba-package", "--quiet"], project)
    yield Case("plist merge", ["plist", "merge", "Info.plist"], project)
    yield Case("plist merge -o", ["plist", "merge", "Info.plist", "-o", "App.plist"], project)
    fresh = template("fresh", "content", "packer.yml", "game.sign.key", "Merged.plist", "dist")
    # A lock file that records nothing comes before the first app version, so that none is there without it.
    yield Case(
        "release record", ["release", "record", "--app", "1.0", "--plist", "Merged.plist"], fresh, is_stepwise=True,
        normal=lambda state: {name: what for name, what in state.items() if name != "packer.lock.json" or b"released" in what[2]})
    recorded = template("recorded", "content", "packer.yml", "game.sign.key", "Merged.plist", "dist")
    packer(recorded, "release", "record", "--app", "1.0", "--plist", "Merged.plist")
    yield Case("release record of another app", ["release", "record", "--app", "1.1", "--plist", "Merged.plist"], recorded)
    yield Case("release retire", ["release", "retire", "1.0"], project)
    yield Case(
        "verify --report", ["verify", dist, "--quick", "-c", inputs / "packer.yml", "--report", "junit=v.xml", "--report", "json=v.json", "--quiet"],
        template("reports"), status=packer(inputs, "verify", dist, "--quick", statuses=range(80)).returncode, is_stepwise=True)
    # Every command of a step appends to this one file, by one write, so that it has no temporary name. An empty one says no more than none.
    yield Case(
        "verify --format github", ["verify", dist, "--quick", "-c", inputs / "packer.yml", "--format", "github", "--quiet"], template("summary"),
        status=packer(inputs, "verify", dist, "--quick", statuses=range(80)).returncode, is_repeatable=False,
        normal=lambda state: {name: what for name, what in state.items() if name != "summary.md" or what[2]})

    # Stores. What SIGKILL leaves in one goes with 'reconcile', as STORE.md says.
    trust = ["--store", "phone", "--trust", public]
    mend = [["store", "reconcile", *trust]]

    def store(name, arguments, base, **more):
        return Case(f"store {name}", ["store", *arguments, *trust], base, normal=of_store, mend=mend, **more)

    def grown(name, base, *steps):
        """A store that has gone through some commands."""
        place = templates / name
        shutil.copytree(base, place)
        for step in steps:
            packer(place, "store", *step, *trust)
        return place

    install = ["install", inputs / "dist", "--key", key, "--quiet"]
    yield store("adopt", ["adopt", dist], empty, is_stepwise=True)
    yield store("install", install, empty, is_stepwise=True)
    moved = grown("moved", empty, ["adopt", dist])
    pack = sorted((dist).glob("**/kart*.pack"))[0]
    shutil.copy2(pack, moved / "download")
    yield store(
        "install --move", ["install", "download", "--as", "kart", "--move", "--key", key, "--quiet"], moved, is_stepwise=True, is_repeatable=False)
    installed = grown("installed", empty, install)
    yield store("activate --confirmed", ["activate", "kart", "--confirmed"], installed, is_stepwise=True)
    # A trial is its process's own: it ends with the signal, or right after it, and 'reconcile' says so.
    yield store("activate", ["activate", "kart"], installed, is_stepwise=True, is_repeatable=False, mends_late=True)
    running = grown("running", installed, ["activate", "kart", "--confirmed"], ["activate", "core", "--confirmed"])
    second = ["install", inputs / "second", "--key", key, "--quiet"]
    updated = grown("updated", running, second)
    on_trial = templates / "on-trial"
    shutil.copytree(updated, on_trial)
    token = packer(on_trial, "store", "activate", "kart", *trust).stdout.decode().strip()
    yield store("confirm", ["confirm", token], on_trial, is_stepwise=True, mends_late=True)
    yield store("reconcile", ["reconcile"], on_trial, is_stepwise=True)
    confirmed = grown("confirmed", updated, ["activate", "kart", "--confirmed"])
    yield store("rollback", ["rollback", "kart"], confirmed, is_stepwise=True, is_repeatable=False)
    yield store("purge", ["purge", "--free", "1KiB"], confirmed, is_stepwise=True, is_repeatable=False)
    yield store("remove", ["remove", "kart", "core"], confirmed, is_stepwise=True)

    # Rehearsals. The device that is not kept lies in TMPDIR.
    simulate = ["simulate", "install", dist, "-c", inputs / "packer.yml", "--quiet"]
    yield Case("simulate install", simulate, empty)
    yield Case("simulate install --keep", [*simulate, "--keep", "device"], empty, normal=of_device, is_repeatable=False)
    update = ["simulate", "update", inputs / "second", "--from", dist, "-c", inputs / "packer.yml", "--quiet"]
    yield Case("simulate update", update, empty)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    print(f"PACKER_TEST_SEED={SEED}", flush=True)
    # The signals as a terminal has them, also where this was started in a script's background.
    for number in STOPPED:
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOPPED)
    tracer = shutil.which("strace")
    if tracer and subprocess.run([tracer, "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        tracer = None
    counts, wrong = collections.Counter(), []

    def look(case, directory):
        # Each verb has its own, so that one alone meets the same moments.
        dice = random.Random(f"{SEED} {case.name}")
        place = directory / "place"
        directory.mkdir(parents=True)
        try:
            case.learn(place, tracer)
        except Wrong as error:
            wrong.append(f"{case.name}: {error}")
            return
        strikes = [(number, None) for number in (signal.SIGKILL, *STOPPED) for _ in range(options.rounds)]
        if case.operations:
            strikes += [(signal.SIGKILL, dice.randint(1, case.operations)) for _ in range(options.rounds)]
        for number, operation in strikes:
            fraction = dice.random()
            when = f"file operation {operation} of {case.operations}" if operation else f"{fraction:.3f} of {case.took * 1000:.0f} ms"
            try:
                status = case.strike_operation(place, tracer, operation) if operation else case.strike(place, number, fraction)
                counts[signal.Signals(number).name, case.judge(place, number, status)] += 1
            except Wrong as error:
                wrong.append(f"{case.name}, {signal.Signals(number).name} at {when}: {error}")
        shutil.rmtree(directory)

    with tempfile.TemporaryDirectory(prefix="packer-signals.") as name, ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as crew:
        directory = pathlib.Path(name)
        looks = [
            crew.submit(look, case, directory / "work" / str(number)) for number, case in enumerate(cases(directory)) if options.only in case.name]
        if not looks:
            fail("no command is meant")
        for each in looks:
            each.result()
    for name in sorted({name for name, _ in counts}):
        print(f"{name}: " + ", ".join(f"{count} {how}" for (other, how), count in sorted(counts.items()) if other == name))
    for text in sorted(wrong):
        print(text, file=sys.stderr)
    if wrong:
        fail(f"{len(wrong)} runs of packer left something else than they should (PACKER_TEST_SEED={SEED})")
    how = "with strace" if tracer else "without strace, so that nothing was killed at a file operation"
    print(f"{len(looks)} commands, {sum(counts.values())} runs that were struck, {how}: the state before or the state after each time")


if __name__ == "__main__":
    main()
