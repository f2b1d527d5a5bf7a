#!/usr/bin/env python3
"""Looks for keys in what a crash of `packer` leaves, and in the memory of the process.

A process that serves a pack has its keys in use. It is ended by the signal that makes core dumps, with no limit for their size: there must be no dump. Another
program that is ended in the same way shows that this machine makes dumps. Then the pages of the process are read: the content key must be only in pages
that dumps leave out, and the segment key, which is computed here from FORMAT.md, shows what is on the ordinary heap. Another user's process and one of the same user must not read them.

Needs Linux, and root for the memory. The command is named by the variable PACKER.
"""

import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from project import PACKER, fail, inherited
from vectors.format.keys import schedule


def start(command, place, pipe=True):
    def unlimited():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    # A handler of the runtime would end the process in its own way.
    environment = dict(inherited(), SWIFT_BACKTRACE="enable=no", HOME=str(place))
    return subprocess.Popen(command, cwd=place, env=environment, preexec_fn=unlimited, stdout=subprocess.PIPE if pipe else None, stderr=subprocess.DEVNULL, text=True)


def crash(process, number):
    """Ends a process by a signal. Returns whether the system says that it wrote a dump."""
    os.kill(process.pid, number)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -1
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != number:
        fail(f"the process was not ended by signal {number}: {status}")
    return os.WCOREDUMP(status)


def pages(pid):
    """The readable pages of a process: where they are, what the system calls them, and their flags."""
    place, found = None, []
    for line in pathlib.Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if match := re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)", line):
            place = (int(match[1], 16), int(match[2], 16), match[3], match[4])
        elif line.startswith("VmFlags:") and place[2].startswith("r") and place[3] not in ("[vvar]", "[vsyscall]"):
            found.append((*place, line.split()[1:]))
    return found


def search(pid, wanted):
    """For each name of a secret, the places where it is: whether dumps leave them out, and whether they are locked."""
    found = {name: [] for name in wanted}
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for begin, end, _, name, flags in pages(pid):
            try:
                memory.seek(begin)
                data = memory.read(end - begin)
            except (OSError, ValueError, OverflowError):
                continue
            for secret, value in wanted.items():
                found[secret] += [("dd" in flags, "lo" in flags, name or "heap")] * data.count(value)
    return found


def refused(pid, user):
    """Whether a process of a user cannot read the memory of another one."""
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        try:
            open(f"/proc/{pid}/mem", "rb").close()
        except PermissionError:
            os._exit(0)
        os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def main():
    if sys.platform != "linux" or os.getuid() != 0:
        print("skipped: this needs Linux and root")
        return
    with tempfile.TemporaryDirectory(prefix="packer-cores.") as name:
        place = pathlib.Path(name)
        place.chmod(0o755)
        (place / "game").mkdir()
        (place / "game/index.html").write_text("<title>game</title>")
        (place / "game/noise.bin").write_bytes(os.urandom(300_000))
        for words in (["key", "new", "-o", "game.key"], ["pack", "game", "-o", "game.pack", "--key", "game.key", "--quiet"]):
            subprocess.run([PACKER, *words], cwd=place, check=True, stdout=subprocess.DEVNULL)
        key = bytes.fromhex((place / "game.key").read_text().split("-")[1])
        pack = (place / "game.pack").read_bytes()
        segment_key = schedule(key, pack[:96])[-1]

        # Does this machine make dumps at all?
        sleeper = start(["sleep", "60"], place, pipe=False)
        makes = crash(sleeper, signal.SIGABRT)
        for dump in place.glob("core*"):
            dump.unlink()

        # strace and gdb change what may be read, so the process runs by itself.
        process = start([PACKER, "serve", "game.pack", "--key", "game.key", "--port", "0"], place)
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(urllib.request.Request(f"{address}noise.bin", headers={"Host": "game.localhost"})) as answer:
            if answer.read() != (place / "game/noise.bin").read_bytes():
                fail("the pack is not served")
        wanted = {"content key": key, "content key as text": key.hex().encode(), "segment key": segment_key, "content": (place / "game/noise.bin").read_bytes()[:64]}
        # Pages that the process frees meanwhile cannot be read.
        for _ in range(5):
            found = search(process.pid, wanted)
            if found["content"]:
                break
            time.sleep(0.2)
        # The search finds what is there.
        if not found["content"]:
            fail("the search does not find the content that was just served")
        for secret in ("content key", "content key as text"):
            if any(not is_left_out for is_left_out, _, _ in found[secret]):
                fail(f"the {secret} is in pages that dumps contain: {found[secret]}")
        outside = [place for place in found["segment key"] if not place[0]]
        dumped = crash(process, signal.SIGABRT)
        if dumped or list(place.glob("core*")):
            fail("a crash of packer leaves a core dump")
        print(
            f"{'a crash of another program leaves a dump, and one of packer none' if makes else 'this machine makes no dumps, so nothing was shown by a crash'}; "
            f"content key in {len(found['content key'])} places, all in pages that dumps leave out, {sum(place[1] for place in found['content key'])} of them locked; "
            f"segment key in {len(found['segment key'])}, {len(outside)} of them on the ordinary heap")

        # As another user, with a process of the same user beside it.
        other = 65534
        for file in place.iterdir():
            os.chown(file, other, other)
        process = subprocess.Popen(
            [PACKER, "serve", "game.pack", "--key", "game.key", "--port", "0"], cwd=place, env=dict(inherited(), HOME=str(place)), user=other, group=other,
            extra_groups=[], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        sleeper = subprocess.Popen(["sleep", "60"], user=other, group=other, extra_groups=[])
        try:
            if not process.stdout.readline().startswith("http://"):
                fail("packer does not serve as another user")
            if refused(sleeper.pid, other):
                print("this machine lets no process read the memory of another one, so nothing was shown by reading it")
            if not refused(process.pid, other):
                fail("another process of the same user reads the memory of packer")
        finally:
            for one in (process, sleeper):
                one.kill()
                one.wait()


if __name__ == "__main__":
    main()
