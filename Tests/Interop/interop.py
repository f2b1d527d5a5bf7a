#!/usr/bin/env python3
"""Other people's readers on what packer writes, and packer on what the second implementation writes.

  bsdtar, zstd        list, extract and test the decrypted payload
  unzip, bsdtar, zipfile
                      test and read the zip of a pack, which has the same bytes in another time zone
  pyzstd              reads every file through the seek table, last file first
  Tink                decrypts the body and encrypts it to the same bytes; says of CCTV's streams what FORMAT.md says, but for those it reads in part
  make-vectors.py     reads and verifies packs, and writes packs that packer verifies and unpacks

The command is named by the variable PACKER. Needs the packages that Scripts/test installs.
"""

import filecmp
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

import pyzstd
import tink_stream
from project import PACKER, ROOT
from vectors.cases.packs.vector import parse_vector
from vectors.format.header import field
from vectors.format.keys import key_of_pack, read_key_file, recipient_text, schedule
from vectors.format.pack import open_pack

ENVIRONMENT = dict(os.environ, LC_ALL="C.UTF-8")


def run(*arguments):
    """Runs a program and returns what it printed."""
    done = subprocess.run([str(a) for a in arguments], env=ENVIRONMENT, capture_output=True)
    if done.returncode != 0:
        sys.stderr.write(done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace"))
        sys.exit(f"error: this ended with {done.returncode}: {' '.join(str(a) for a in arguments)}")
    return done.stdout


def expect(condition, message):
    if not condition:
        sys.exit(f"error: {message}")


def awkward_tree(place):
    """A tree with what archives get wrong."""
    noise = random.Random(2026)
    files = {
        "empty.bin": b"",
        "one.bin": b"1",
        "text.txt": b"a line that repeats\n" * 40_000,
        "noise.dat": noise.randbytes(300_000),
        "copy-of-noise.dat": None,
        "frame.dat": noise.randbytes(65_536 - 512),
        "frame-and-one.dat": noise.randbytes(65_536 - 512 + 1),
        "ü/漢字/ñandú.txt": "ünïcödé\n".encode(),
        "run.sh": b"#!/bin/sh\nexit 0\n",
        "d" * 90 + "/" + "e" * 90 + "/" + "f" * 120 + ".json": b"{}",
        "n" * 250 + ".txt": b"a long name",
        "/".join(["deep"] * 60) + "/leaf": b"leaf",
    }
    files["copy-of-noise.dat"] = files["noise.dat"]
    for path, content in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)
    (place / "run.sh").chmod(0o755)
    (place / "empty directory").mkdir()


def tree(place):
    """All files with their content's path and executable bit, and all empty directories."""
    found = {}
    for directory, directories, files in os.walk(place):
        for name in files:
            path = pathlib.Path(directory, name)
            found[str(path.relative_to(place))] = bool(path.stat().st_mode & 0o111)
        if not directories and not files and pathlib.Path(directory) != place:
            found[str(pathlib.Path(directory).relative_to(place)) + "/"] = None
    return found


def expect_same_tree(found, wanted, reader):
    expect(tree(found) == tree(wanted), f"{reader} finds other paths or permissions in {found} than are in {wanted}")
    for path in tree(wanted):
        if not path.endswith("/"):
            expect(filecmp.cmp(found / path, wanted / path, shallow=False), f"{reader} finds another content of {path}")


def archive_tools(payload, source, work):
    run("zstd", "-q", "-t", payload)
    listed = run("bsdtar", "-tf", payload).decode().splitlines()
    expect(sorted(listed) == sorted(tree(source)), "bsdtar lists other paths")
    target = work / "bsdtar"
    target.mkdir()
    run("bsdtar", "-xpf", payload, "-C", target)
    expect_same_tree(target, source, "bsdtar")


def zip_tools(first, second, source, work):
    """Both zips of a pack are the same, and everybody reads the files of the pack, without empty directories."""
    expect(first.read_bytes() == second.read_bytes(), "a zip written again has other bytes")
    wanted = sorted(name for name in tree(source) if not name.endswith("/"))
    if wanted:
        run("unzip", "-tqq", first)
    expect(sorted(run("bsdtar", "-tf", first).decode().splitlines()) == wanted, "bsdtar lists other paths of the zip")
    with zipfile.ZipFile(first) as archive:
        expect([entry.filename for entry in archive.infolist()] == sorted(wanted, key=str.encode), "the zip has other paths or another order")
        expect({entry.date_time for entry in archive.infolist()} <= {(1980, 1, 1, 0, 0, 0)}, "the zip has times")
        for name in wanted:
            expect(archive.read(name) == (source / name).read_bytes(), f"zipfile reads another content of {name}")
    target = work / "unzipped"
    target.mkdir()
    run("bsdtar", "-xf", first, "-C", target)
    for name in wanted:
        expect(filecmp.cmp(target / name, source / name, shallow=False), f"bsdtar reads another content of {name} in the zip")


def seekable_reader(payload, source):
    """Opens each file by seeking to it, the last one first, so that nothing rests on reading from the start."""
    with pyzstd.SeekableZstdFile(payload) as stream, tarfile.open(fileobj=stream) as archive:
        members = archive.getmembers()
        data = {member.name: member for member in members if member.isreg()}
        for member in reversed(members):
            if member.isdir():
                continue
            holder = data[member.linkname] if member.islnk() else member
            stream.seek(holder.offset_data)
            expect(stream.read(holder.size) == (source / member.name).read_bytes(), f"pyzstd reads another {member.name}")
        expect(sorted(m.name + "/" * m.isdir() for m in members) == sorted(tree(source)), "the tar holds other paths")


def tink(pack, key, payload):
    """The body of a pack is a stream of Tink: `pack` is the whole file, `payload` what it must hold."""
    core = pack[:96]
    body = pack[132 + field(pack, 96, 4):]
    keys = schedule(key, core)
    aead = tink_stream.primitive(keys.SK, field(pack, 12, 4))
    expect(tink_stream.decrypt(aead, body, core) == payload, "Tink decrypts the body to something else")
    expect(tink_stream.encrypt(aead, payload, core, keys.TS, keys.NP) == body, "Tink encrypts to other bytes")


# What Tink takes and packs do not: it stops behind the first segment that is sealed as the last, whatever follows, and an empty one is as good
# as any. A pack's size says which segment is the last one, and the last one holds a byte.
TAKEN_BY_TINK = {"empty_payload", "last_chunk_empty", "trailing_garbage_long", "trailing_garbage_short", "two_final_chunks",
                 "two_final_chunks_full", "two_final_chunks_second"}


def tink_on_streams():
    """CCTV's streams, as make-vectors.py builds them, are read by Tink."""
    count, taken = 0, set()
    for path in sorted((ROOT / "Tests/Vectors/others").glob("age-stream_*.vector")):
        vector = parse_vector(path.name, path.read_bytes())
        core, size = vector.data[:96], field(vector.data, 12, 4)
        body = vector.data[132 + field(vector.data, 96, 4):]
        aead = tink_stream.primitive(schedule(vector.key, core).SK, size)
        name = path.stem.removeprefix("age-stream_")
        try:
            plaintext = tink_stream.decrypt(aead, body, core)
        except tink_stream.core.TinkError as error:
            expect(vector.expect != "ok", f"Tink refuses {path.name}: {error}")
        else:
            if vector.expect == "ok":
                expect(plaintext == open_pack(vector.data, vector.key).payload, f"Tink decrypts {path.name} to something else")
            else:
                taken.add(name)
        count += 1
    expect(taken == TAKEN_BY_TINK, f"Tink takes other streams that packs refuse: {', '.join(sorted(taken ^ TAKEN_BY_TINK))}")
    print(f"evidence: Tink on CCTV's streams: {count} cases, {count} run, 0 not run")


def own_key(work, key_file, options):
    """The file with the key that the pack is made with; where it has one of its own, both implementations make the same."""
    if "--per-pack-key" not in options:
        return key_file
    own = work / "own.key"
    run(PACKER, "key", "derive", "--pack", "interop", "--key", key_file, "-o", own)
    expected = key_of_pack(read_key_file(key_file), "interop")
    expect(read_key_file(own) == expected, "make-vectors.py makes another key for the pack")
    return own


def check_pack(work, source, key_file, own_key_file, options):
    pack, payload = work / "a.pack", work / "payload.tar.zst"
    run(PACKER, "pack", source, "-o", pack, "--name", "interop", "--key", key_file, "--quiet", *options)
    run(PACKER, "unpack", pack, "--tar", payload, "--key", key_file, "--quiet")
    archive_tools(payload, source, work)
    zips = [work / "first.zip", work / "second.zip"]
    for path, zone in zip(zips, ("Pacific/Kiritimati", "America/Los_Angeles")):
        ENVIRONMENT["TZ"] = zone
        run(PACKER, "unpack", pack, "--zip", path, "--key", key_file, "--quiet")
    zip_tools(*zips, source, work)
    seekable_reader(payload, source)
    tink(pack.read_bytes(), read_key_file(own_key_file), payload.read_bytes())
    run(sys.executable, ROOT / "Scripts/make-vectors.py", "read", pack, "--key-file", key_file, "--verify", "--to", work / "second")
    expect_same_tree(work / "second", source, "make-vectors.py")


def check_foreign_pack(work, source, key_file, own_key_file):
    """A pack of the second implementation is one for packer too."""
    pack = work / "b.pack"
    run(sys.executable, ROOT / "Scripts/make-vectors.py", "write", source, "-o", pack, "--name", "interop", "--key-file", own_key_file)
    run(PACKER, "check", pack, "--key", key_file, "--against", source, "--quiet")
    run(PACKER, "unpack", pack, "-C", work / "third", "--key", key_file, "--quiet")
    expect_same_tree(work / "third", source, "packer")


def check_recipients(work, source, key_file):
    """Both implementations write the same copies for recipients, and each reads the other's."""
    review, partner, pack = work / "review.key", work / "partner.key", work / "a.pack"
    run(PACKER, "key", "new", "--recipient", "-o", review)
    run(PACKER, "key", "new", "-o", partner)
    public = recipient_text(read_key_file(review).public)
    run(PACKER, "key", "wrap", pack, "-o", work / "ours.pack", "--to", public, "--to-key", partner, "--key", key_file, "--quiet")
    run(sys.executable, ROOT / "Scripts/make-vectors.py", "wrap", pack, "-o", work / "theirs.pack", "--to", public, "--to-key-file", partner, "--key-file",
        key_file)
    expect((work / "ours.pack").read_bytes() == (work / "theirs.pack").read_bytes(), "make-vectors.py wraps in another way")
    for number, file in enumerate((review, partner)):
        run(sys.executable, ROOT / "Scripts/make-vectors.py", "read", work / "ours.pack", "--key-file", file, "--verify", "--to", work / f"second{number}")
        expect_same_tree(work / f"second{number}", source, "make-vectors.py with the key of a recipient")
        run(PACKER, "check", work / "theirs.pack", "--key", file, "--against", source, "--quiet")
    run(PACKER, "key", "unwrap", work / "theirs.pack", "-o", work / "back.pack", "--all", "--key", review, "--quiet")
    expect((work / "back.pack").read_bytes() == pack.read_bytes(), "a copy without recipients is not the original")


def main():
    for tool in ("bsdtar", "unzip", "zstd"):
        expect(shutil.which(tool), f"{tool} is missing: install the Debian packages libarchive-tools, unzip and zstd")
    with tempfile.TemporaryDirectory(prefix="packer-interop.") as name:
        place = pathlib.Path(name)
        key_file = place / "key"
        run(PACKER, "key", "new", "-o", key_file)
        awkward, empty = place / "awkward", place / "empty"
        awkward.mkdir()
        empty.mkdir()
        awkward_tree(awkward)
        cases = [
            ("the example game", ROOT / "Examples/HTML5Game/game", []),
            ("an awkward tree", awkward, ["--frame-size", "64KiB", "--segment-size", "4KiB", "--level", "1"]),
            ("an awkward tree, random salt", awkward, ["--random-salt", "--segment-size", "1MiB", "--level", "12"]),
            ("an awkward tree, with a key of its own", awkward, ["--per-pack-key"]),
            ("an empty tree", empty, []),
        ]
        for number, (title, source, options) in enumerate(cases):
            work = place / str(number)
            work.mkdir()
            own_key_file = own_key(work, key_file, options)
            check_pack(work, source, key_file, own_key_file, options)
            check_foreign_pack(work, source, key_file, own_key_file)
            check_recipients(work, source, key_file)
            print(f"ok: {title}: bsdtar, unzip, zipfile, zstd, pyzstd, Tink both ways, make-vectors.py both ways")
        tink_on_streams()
        print(f"evidence: Tink: {len(cases)} cases, {len(cases)} run, 0 not run")


if __name__ == "__main__":
    main()
