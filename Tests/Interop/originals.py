#!/usr/bin/env python3
"""Makes vectors of other people's original files, which this project does not hold. Scripts/originals runs it.

  originals.py DIR OUT

DIR holds what was fetched by hand, each below its own name; what is not there is told and left out:

  CCTV, json-canonicalization, libarchive, zstd, zip-slip-vulnerability     clones of the repositories of these names
  traversal-archives                                                        the tars of its release, or those that its Makefile makes
  cpython                                                                   a clone, or a folder with its test data

A tar becomes two packs, sealed with the right key: one with the index that fits the tar best, and one whose index lists nothing.
What readers must say of each is what the second implementation says; they have to say the same.
"""

import binascii
import collections
import io
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tarfile

import project  # noqa: F401 – makes the package `vectors` importable
from vectors.cases.faults import only_frame
from vectors.cases.lines import case_lines
from vectors.cases.manifests.samples import SEED, kat_signed
from vectors.cases.manifests.vector import manifest_vector, manifest_vector_bytes
from vectors.cases.packs.vector import Vector, outcome, vector_bytes
from vectors.cases.samples import AK, SMALL_TREE, pack_of
from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import public_key, signature_holds
from vectors.format.errors import Refused
from vectors.format.frames import zstd_frame
from vectors.format.manifest import make_manifest, read_manifest
from vectors.format.paths import leading_directories
from vectors.format.payload import make_payload, tree_payload
from vectors.format.reader import read_pack
from vectors.format.records import DIRECTORY, directory_record, file_record
from vectors.format.tar import checksum

# What bsdcat undoes: its own filters, without a program beside it.
COMPRESSED = (b"\x1f\x9d", b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd", b"LZIP", b"\x5d\0\0")


def uudecoded(text):
    """The file in a uuencoded text. Lines are often padded otherwise than Python wants it."""
    lines, inside = [], False
    for line in text.splitlines():
        if not inside:
            inside = line.startswith(b"begin ")
        elif line.strip() == b"end":
            break
        elif line:
            try:
                lines.append(binascii.a2b_uu(line))
            except binascii.Error:
                lines.append(binascii.a2b_uu(line[:(((line[0] - 32) & 63) * 4 + 5) // 3]))
    return b"".join(lines)


def is_tar(data):
    """Whether the first block has the checksum of a tar, or its magic."""
    block = data[:512]
    if len(block) < 512 or not any(block):
        return False
    if block[257:262] == b"ustar":
        return True
    digits = block[148:156].strip(b" \0")
    return re.fullmatch(rb"[0-7]+", digits) is not None and int(digits, 8) == checksum(block)


def tar_in(path):
    """The tar that a file holds, or why it holds none."""
    data = path.read_bytes()
    if path.suffix == ".uu":
        data = uudecoded(data)
    if not is_tar(data) and data.startswith(COMPRESSED):
        # One fixture is a gzip file that holds itself: it has to end somewhere.
        done = subprocess.run(["bsdcat", "-"], input=data, capture_output=True, preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_AS, (256 << 20, 256 << 20)))
        data = done.stdout
        if done.returncode != 0 and not data:
            return None, "compressed in a way that bsdcat does not undo"
    if is_tar(data):
        return data, None
    return None, "compressed in a way that bsdcat does not undo" if re.search(r"\.tar\.(grz|lrz|lzo)", path.name) else "no tar"


def members(data):
    """What Python's tarfile finds, as far as it reads."""
    found = []
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:", ignore_zeros=True) as archive:
            while (member := archive.next()) is not None:
                found.append(member)
    except (tarfile.TarError, OverflowError, ValueError, OSError):
        pass
    return found


def index_of(data):
    """The records that fit a tar best: each file, hard link and empty directory under its path, the last one of a path."""
    records = {}
    for member in members(data):
        path = os.fsencode(member.name).rstrip(b"/") if member.isdir() else os.fsencode(member.name)
        if len(path) > 0xFFFF:
            continue
        if member.isdir():
            records[path] = directory_record(path)
        elif member.islnk():
            target = records.get(os.fsencode(member.linkname))
            if target:
                records[path] = target._replace(path=path)
        elif member.isreg() or member.issparse():
            size = max(0, min(member.size, len(data) - member.offset_data))
            content = data[member.offset_data:member.offset_data + size]
            records[path] = file_record(path, content, member.offset_data, bool(member.mode & 0o111))
    inner = {path for other in records for path in leading_directories(other)}
    return [records[path] for path in sorted(records) if not (records[path].type == DIRECTORY and path in inner)]


def vector_of(name, comment, payload):
    """A vector that says what the second implementation says."""
    vector = Vector(name, "", comment, pack_of(payload), AK, None, None)
    said, listing = outcome(vector, True, AK)
    client, _ = outcome(vector, False, AK)
    vector = vector._replace(expect=said, client=client if client != said else None)
    if said == "ok":
        records = read_pack(vector.data, AK, verify=True)
        vector = vector._replace(records=records)
    return vector


def write(place, vector):
    (place / f"{vector.name}.vector").write_bytes(vector_bytes(vector))


def wrap_tars(suite, folder, out, pattern):
    """Each file below a folder whose name fits becomes two vectors."""
    left, counts, files, tars = collections.Counter(), collections.Counter(), 0, 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or not re.search(pattern, str(path.relative_to(folder))):
            continue
        files += 1
        data, reason = tar_in(path)
        if data is None:
            left[reason] += 1
            continue
        tars += 1
        data += bytes(-len(data) % 512)
        data += bytes(max(0, 1024 - len(data)))
        sizes = [1 << 20] * (len(data) >> 20) + ([len(data) & 0xFFFFF] if len(data) & 0xFFFFF else [])
        name = f"{suite}-{re.sub(r'[^A-Za-z0-9._-]', '_', path.name)}"
        for suffix, records in (("", index_of(data)), ("-unlisted", [])):
            payload = make_payload(data, records, sizes=sizes, codec=zstd_frame)
            vector = vector_of(name + suffix, f"{path.name}, {'as it says' if not suffix else 'with an index that lists nothing'}", payload)
            write(out, vector)
            counts[f"{vector.expect} (client: {vector.client or vector.expect})"] += 1
    report(suite, files, tars, left, counts)


def report(suite, files, used, left, counts):
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(left.items()))
    said = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
    print(f"{suite}: {files} files, {used} used{f', left out: {reasons}' if reasons else ''}; {sum(counts.values())} vectors: {said}")


def wrap_zstd(folder, out):
    counts, files = collections.Counter(), sorted(folder.glob("tests/golden-decompression*/*.zst"))
    for path in files:
        frame = path.read_bytes()
        places = {
            "data": {"data": only_frame(frame)},
            "block": {"blocks": lambda blocks, frame=frame: [blocks[0][:128] + frame]},
            "directory": {"dirframe": lambda directory, frame=frame: frame},
        }
        for place, changes in places.items():
            payload, _ = tree_payload(list(SMALL_TREE), **changes)
            vector = vector_of(f"zstd-{path.parent.name}-{path.stem}-{place}", f"{path.name} in the place of: {place}", payload)
            write(out, vector)
            counts[vector.expect] += 1
    report("zstd", len(files), len(files), {}, counts)


def wrap_json(folder, out):
    counts, files = collections.Counter(), sorted(folder.glob("testdata/*put/*.json"))
    signed = canonical_json(kat_signed(a="b")).encode()
    trust = [public_key(SEED)]
    for path in files:
        value = path.read_bytes()
        if path.parent.name == "output":
            value = value.rstrip(b"\n")
        data = make_manifest(signed.replace(b'"a":"b"', b'"a":' + value), [SEED])
        try:
            read_manifest(data, trust)
            expect = "ok"
        except Refused as error:
            expect = error.name
        vector = manifest_vector(f"rfc8785-{path.parent.name}-{path.stem}", expect, f"{path.parent.name}/{path.name}", data, trust)
        (out / f"{vector.name}.manifest-vector").write_bytes(manifest_vector_bytes(vector))
        counts[f"{path.parent.name} {expect}"] += 1
    report("json-canonicalization", len(files), len(files), {}, counts)


def wrap_signatures(folder, out):
    """The expectation is FORMAT.md §9.2 in the words of CCTV's flags; the arithmetic of the second implementation has to agree."""
    cases = json.loads((folder / "ed25519/ed25519vectors.json").read_text())
    counts, lines = collections.Counter(), []
    for case in cases:
        flags = set(case["flags"] or ())
        holds = not flags - {"low_order_component_A", "low_order_component_R"}
        key, message, signature = bytes.fromhex(case["key"]), case["msg"].encode(), bytes.fromhex(case["sig"])
        if signature_holds(key, message, signature) != holds:
            sys.exit(f"error: case {case['number']} of CCTV: the second implementation says otherwise than the flags {sorted(flags)}")
        counts["hold" if holds else "refused"] += 1
        lines.append((holds, key, message, signature, f"case {case['number']}: {', '.join(sorted(flags))}"))
    (out / "cctv-ed25519.txt").write_text("".join(case_lines(lines)))
    report("CCTV Ed25519", len(cases), len(cases), {}, counts)


def main():
    place, out = map(pathlib.Path, sys.argv[1:])
    if not shutil.which("bsdcat"):
        sys.exit("error: bsdcat is missing: install the Debian package libarchive-tools")
    (out / "others").mkdir(parents=True)
    (out / "manifest").mkdir()
    for name, wrap in (
            ("libarchive", lambda folder: wrap_tars("libarchive", folder, out / "others", r"\.uu$")),
            ("traversal-archives", lambda folder: wrap_tars("traversal", folder, out / "others", r"\.tar$")),
            ("zip-slip-vulnerability", lambda folder: wrap_tars("zip-slip", folder, out / "others", r"\.tar$")),
            ("cpython", lambda folder: wrap_tars("python", folder, out / "others", r"\.tar(\.xz)?$")),
            ("zstd", lambda folder: wrap_zstd(folder, out / "others")),
            ("json-canonicalization", lambda folder: wrap_json(folder, out / "manifest")),
            ("CCTV", lambda folder: wrap_signatures(folder, out / "others"))):
        if (place / name).is_dir():
            wrap(place / name)
        else:
            print(f"{name}: not in {place}, so nothing of it is run")


if __name__ == "__main__":
    main()
