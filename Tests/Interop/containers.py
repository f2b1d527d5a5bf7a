#!/usr/bin/env python3
"""Runs `packer` in surroundings that containers, clusters and groups have: outputs that are mount points, lie in a lower layer of an overlay or on a volume of
their own, a file system without locks, no /proc, a library that is loaded first and moves the environment, folders that a group shares.

Mounts are made in a namespace of their own, which takes root or namespaces of users; without those, the lines that need them say that they were skipped. The
command is named by the variable PACKER. Prints how many places there were.
"""

import contextlib
import os
import pathlib
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile

from project import CONFIGURATION, PACKER, PLIST, fail, inherited

# Loaded first: moves the environment before Swift's libraries look for the arguments beside it, as libfaketime does; and a file system without locks.
LIBRARIES = {
    "moved": "void *malloc(size_t n) { static int once; if (!once) { once = 1; setenv(\"MOVED\", \"1\", 1); } return __libc_malloc(n); }",
    "lockless": "int flock(int file, int how) { errno = atoi(getenv(\"FLOCK\")); return -1; }",
}

wrong, done = [], []


def expect(condition, text):
    if not condition:
        wrong.append(text)
        print(f"wrong: {text}", file=sys.stderr)


class Place:
    """A project, and what is run in it."""

    def __init__(self, path):
        self.path = path
        for pack in ("core", "kart"):
            (path / "content" / pack / "deep").mkdir(parents=True)
            (path / "content" / pack / "deep/data.bin").write_bytes(os.urandom(50_000))
            (path / "content" / pack / "index.html").write_text(f"<title>{pack}</title>")
        (path / "packer.yml").write_text(CONFIGURATION)
        (path / "Info.plist").write_text(PLIST)
        (path / "tmp").mkdir()
        self.packer("key new -o game.key")
        self.packer("key new --signing -o game.sign.key")
        self.packer("pack content/core -o core.pack --key game.key")
        self.public = self.packer("key public --sign-key game.sign.key").split()[0]
        self.packer("build")

    def run(self, script, status=0, **variables):
        environment = {**inherited(), "HOME": str(self.path), "TMPDIR": str(self.path / "tmp"), "LC_ALL": "C.UTF-8", "packer": str(PACKER), **variables}
        ended = subprocess.run(["sh", "-ec", script], cwd=self.path, env=environment, capture_output=True, text=True, timeout=300)
        expect(ended.returncode == status, f"{script!r} ends with {ended.returncode}: {ended.stdout[-300:]}{ended.stderr[-600:]}")
        return ended.stdout + ended.stderr

    def packer(self, words, status=0, **variables):
        return self.run(f"exec {shlex.quote(str(PACKER))} {words}", status, **variables)

    def left(self):
        """Temporary names that are left anywhere."""
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob(".*") if ".packer-" in path.name)


@contextlib.contextmanager
def line(name):
    before = len(wrong)
    with tempfile.TemporaryDirectory(prefix="packer-containers.") as directory:
        place = Place(pathlib.Path(directory))
        yield place
        expect(not place.left(), f"{name}: it left {place.left()}")
    done.append(name)
    if len(wrong) > before:
        print(f"in: {name}", file=sys.stderr)


def libraries(directory):
    built = {}
    for name, text in LIBRARIES.items():
        source = directory / f"{name}.c"
        source.write_text(f"#include <errno.h>\n#include <stdlib.h>\nextern void *__libc_malloc(size_t);\n{text}\n")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", directory / f"{name}.so", source], check=True)
        built[name] = str(directory / f"{name}.so")
    return built


def namespace():
    """The words that give a command mounts of its own; None if this user may not have them."""
    words = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    works = shutil.which("unshare") and subprocess.run([*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True).returncode == 0
    return " ".join(words) if works else None


def mounts(own):
    """What is mounted, and what runs then."""

    def inside(place, script, status=0):
        return place.run(f"exec {own} sh -ec {shlex.quote(script)}", status)

    with line("no /proc") as place:
        text = inside(place, 'mount -t tmpfs tmpfs /proc; "$packer" ls core.pack --key game.key')
        expect("deep/data.bin" in text, f"without /proc: {text}")
    with line("unpack into a volume, in a container that is read-only") as place:
        inside(place, """mkdir out; mount --bind . .; cd "$PWD"; mount -t tmpfs tmpfs out; mkdir out/lost+found; mount -o remount,ro,bind "$PWD"; touch new 2> /dev/null && exit 1
            TMPDIR=/nowhere "$packer" unpack core.pack -C out --key game.key; test -f out/deep/data.bin; test -d out/lost+found
            "$packer" unpack core.pack -C out --key game.key && exit 1; ls -A out | grep -c . | grep -qx 3""")
    with line("build and record in a volume") as place:
        inside(place, """rm -r dist; mkdir dist; mount -t tmpfs tmpfs dist; mkdir dist/lost+found
            "$packer" build -q; ls dist/*.pack | grep -c . | grep -qx 2; "$packer" verify -q
            echo new > content/kart/new.txt; "$packer" build -q; "$packer" verify -q; ls dist/*.pack | grep -c . | grep -qx 2; test -d dist/lost+found
            touch dist/mine; "$packer" build -q && exit 1; test -f dist/mine; rm dist/mine; "$packer" release record -q""")
    with line("publish from a project that is read-only") as place:
        text = inside(place, """mkdir place; mount --bind . .; cd "$PWD"; mount -t tmpfs tmpfs place; mount -t tmpfs tmpfs /mnt
            mount -o remount,ro,bind "$PWD"; touch new 2> /dev/null && exit 1
            TMPDIR=/mnt "$packer" publish --to place -q && exit 1; ls -A place | grep -c . | grep -qx 0""")
        expect("packer.lock.json" in text and "read-only" in text.lower(), f"publish from a project that is read-only: {text}")
    with line("files that are mounted") as place:
        inside(place, """mount --bind Info.plist Info.plist; "$packer" plist merge Info.plist; grep -q BAManifestURL Info.plist
            "$packer" release record -q; mount --bind packer.lock.json packer.lock.json
            echo new > content/kart/new.txt; "$packer" build -q; "$packer" release record -q; grep -q '"manifestVersion": 2' packer.lock.json
            cp core.pack other.pack; mount --bind other.pack other.pack; "$packer" pack content/kart -o other.pack --key game.key -q
            "$packer" ls other.pack --key game.key | grep -q new.txt""")
        expect("BAManifestURL" in (place.path / "Info.plist").read_text(), "the mounted plist did not change")
    with line("a file that is mounted where all else is read-only") as place:
        text = inside(place, """mount --bind . .; cd "$PWD"; mount --bind Info.plist Info.plist; mount --bind core.pack core.pack
            mount -o remount,ro,bind "$PWD"; touch new 2> /dev/null && exit 1; cp Info.plist /tmp/Info.plist.$$; cat /tmp/Info.plist.$$ > Info.plist; rm /tmp/Info.plist.$$
            for words in "plist merge Info.plist" "pack content/kart -o core.pack --key game.key"; do "$packer" $words -q && exit 1 || test $? = 73; done""")
        expect(text.count("writable, and not only the file") == 2, f"a mounted file in a read-only root: {text}")
    with line("a volume without inodes") as place:
        text = inside(place, """mkdir many; for i in $(seq 60); do echo $i > many/$i; done; "$packer" pack many -o many.pack --key game.key -q
            mkdir out; mount -t tmpfs -o nr_inodes=40 tmpfs out; "$packer" unpack core.pack -C out/core --key game.key -q
            "$packer" unpack many.pack -C out/many --key game.key && exit 1; ls -A out""")
        expect("62 files and directories are too many for the volume" in text or "61 files and directories are too many" in text, f"without inodes: {text}")
        expect("\ncore\n" in text and "\nmany" not in text.split("content root")[-1], f"without inodes it leaves something: {text}")
    with line("a release in a lower layer of an overlay") as place:
        inside(place, """mkdir /tmp/o; mount -t tmpfs tmpfs /tmp/o; mkdir /tmp/o/lower /tmp/o/upper /tmp/o/work /tmp/o/top; cp -r . /tmp/o/lower
            mount -t overlay overlay -o lowerdir=/tmp/o/lower,upperdir=/tmp/o/upper,workdir=/tmp/o/work /tmp/o/top; cd /tmp/o/top
            echo new > content/kart/new.txt; "$packer" build -q; "$packer" verify -q; ls dist/*.pack | grep -c . | grep -qx 2; ls -A | grep -c packer- | grep -qx 0
            mkdir -p empty; "$packer" unpack core.pack -C empty --key game.key""" if not os.path.exists("/tmp/o") else "true")


def everywhere(built):
    with line("a library that moves the environment") as place:
        text = place.packer("ls core.pack --key game.key", LD_PRELOAD=built["moved"])
        expect("deep/data.bin" in text, f"with a moved environment: {text}")
    for number, name in ((38, "ENOSYS"), (95, "EOPNOTSUPP"), (37, "ENOLCK"), (22, "EINVAL"), (13, "EACCES")):
        with line(f"no locks: {name}") as place:
            lockless = {"LD_PRELOAD": built["lockless"], "FLOCK": str(number)}
            # What another process left might be in use: it stays.
            (place.path / ".new.pack.packer-0123456789abcdef").write_bytes(b"")
            for words in ("pack content/core -o new.pack --key game.key -q", "unpack core.pack -C new --key game.key -q", "build -q", "release record -q",
                          "publish --to place --no-record -q",
                          "plist merge Info.plist -q", "report -o new.html -q"):
                place.packer(words, **lockless)
            expect(place.left() == [".new.pack.packer-0123456789abcdef"], f"without locks it removed or left {place.left()}")
            (place.path / ".new.pack.packer-0123456789abcdef").unlink()
            text = place.packer(f"store install dist --store phone --trust {place.public} --key game.key", 73, **lockless)
            expect("cannot be locked" in text and "a volume that has locks" in text, f"a store without locks: {text}")
    with line("the current directory, and links") as place:
        place.run('mkdir new; cd new; "$packer" unpack ../core.pack -C . --key ../game.key -q; test -f deep/data.bin; test "$(ls -A | wc -l)" = 2')
        place.run('mkdir disk; mv dist disk; ln -s disk/dist dist; echo new > content/kart/new.txt; "$packer" build -q; test -h dist; "$packer" verify -q; test "$(ls disk)" = dist')
        place.run('mkdir disk/tree; ln -s disk/tree tree; "$packer" unpack core.pack -C tree --key game.key -q; test -h tree; test -f disk/tree/deep/data.bin')
        place.run('mv core.pack disk; ln -s disk/core.pack core.pack; "$packer" pack content/kart -o core.pack --key game.key -q; test -h core.pack; cmp core.pack disk/core.pack')
        place.run('ln -s nowhere gone; "$packer" unpack core.pack -C gone --key game.key', 73)
    with line("a sparse file of more than a pack may hold") as place:
        text = place.run('mkdir large; truncate -s 69793218561 large/a.bin; exec "$packer" pack large -o large.pack --key game.key', 15)
        expect("more than the 68719476736 that a pack may hold" in text and not (place.path / "large.pack").exists(), f"65 GiB: {text}")
    with line("a folder that a group shares") as place:
        (place.path / "content/kart/new.txt").write_text("new")
        if os.geteuid() == 0:
            os.chown(place.path, 0, 65534)
        place.path.chmod(0o2770)
        place.run("""umask 002; rm -r dist; "$packer" build -q; "$packer" publish --to place -q; "$packer" unpack core.pack -C tree --key game.key -q
            "$packer" pack content/core -o new.pack --key game.key -q""")
        group = place.path.stat().st_gid
        for name in ("dist", "dist/manifest.json", "place", "place/manifest.json", "packer.lock.json", "new.pack", "tree", "tree/deep", "tree/index.html"):
            status = (place.path / name).stat()
            expect(status.st_gid == group, f"{name} has another group than its folder")
            expect(name.startswith("tree") or status.st_mode & stat.S_IWGRP, f"{name} has the mode {status.st_mode:o}, and the group cannot write")
            expect(not (place.path / name).is_dir() or status.st_mode & stat.S_ISGID, f"{name} has lost the bit that gives files the group")
        text = place.run('umask 077; "$packer" publish --to secret -q') + place.run('umask 077; "$packer" publish --to place -q')
        expect(text.count("a web server of another user serves nothing") == 1, f"published with umask 077: {text}")
    with line("files of another user, as root") as place:
        if os.geteuid() == 0:
            place.run('"$packer" release record -q; cp packer.lock.json other.json; chown 65534 Info.plist packer.lock.json; echo new > content/kart/new.txt')
            place.run('"$packer" build -q; "$packer" plist merge Info.plist -q; "$packer" release record -q; ! cmp -s packer.lock.json other.json')
            for name in ("Info.plist", "packer.lock.json"):
                expect((place.path / name).stat().st_uid == 65534, f"{name} has another owner")


def main():
    with tempfile.TemporaryDirectory(prefix="packer-containers.") as directory:
        everywhere(libraries(pathlib.Path(directory)))
    own = namespace()
    if own:
        mounts(own)
    else:
        print("skipped: this user may not mount anything, not even in a namespace")
    if wrong:
        fail(f"{len(wrong)} things are not as they should be")
    print(f"{len(done)} kinds of places: packer works in each, and leaves nothing")


if __name__ == "__main__":
    main()
