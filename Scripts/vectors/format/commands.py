"""The commands that read, write and wrap a single pack."""

import os

from vectors.format.delta import delta_payload
from vectors.format.directories import check_tree, open_bases, read_tree, unpack
from vectors.format.errors import Problem, Refused
from vectors.format.frames import zstd_frame
from vectors.format.header import check_name, check_stanzas, with_mac, wrap_stanzas
from vectors.format.keys import parse_key_text, read_key_file, recipient_text
from vectors.format.limits import MAX_FILE, MAX_FRAME, MAX_SEGMENT, MAX_VERSION, MIN_FRAME_SIZE, MIN_SEGMENT
from vectors.format.matches import library_frame
from vectors.format.pack import make_pack, open_pack
from vectors.format.payload import tree_payload
from vectors.format.primitives import sha256
from vectors.format.reader import read_pack
from vectors.format.records import DIRECTORY, EXECUTABLE, FILE

KINDS = {FILE: "file", EXECUTABLE: "executable", DIRECTORY: "directory"}


def record_line(record):
    digest = "-" if record.type == DIRECTORY else record.digest.hex()
    return f"{record.path.decode('utf-8')} {record.size} {digest} {KINDS[record.type]}"


def argument_key(arguments):
    if arguments.key_hex is not None:
        return parse_key_text(arguments.key_hex)
    return read_key_file(arguments.key_file)


def command_read(arguments):
    ak = argument_key(arguments)
    if os.path.getsize(arguments.pack) > MAX_FILE:
        raise Refused("limit", "a file above 2^40 bytes")
    with open(arguments.pack, "rb") as file:
        data = file.read()
    bases = open_bases(arguments.base, ak)
    if arguments.to:
        records = unpack(data, ak, arguments.to, arguments.verify, bases)
    else:
        records = read_pack(data, ak, arguments.verify, bases=bases)
    if arguments.list or not (arguments.to or arguments.verify):
        for record in records:
            print(record_line(record))
    else:
        print(f"ok: {len(records)} records, {sum(r.size for r in records)} bytes")


def command_write(arguments):
    check_name(arguments.name)
    if not 0 <= arguments.pack_version <= MAX_VERSION:
        raise Problem("pack version outside 0 … 2^53-1")
    S = arguments.segment_size
    if not (MIN_SEGMENT <= S <= MAX_SEGMENT and S & (S - 1) == 0):
        raise Problem("segment size is no power of two within 4096 … 1048576")
    if not MIN_FRAME_SIZE <= arguments.frame_size <= MAX_FRAME:
        raise Problem("frame size outside 64 KiB … 8 MiB")
    ak, items = argument_key(arguments), read_tree(arguments.directory)
    check_tree(items)
    bases = open_bases(arguments.base, ak)
    if bases:
        payload, records = delta_payload(bases, items, shortest=512, codec=lambda content, prefix: library_frame(content, prefix, arguments.level))
    else:
        payload, records = tree_payload(items, F=arguments.frame_size,
                                        codec=lambda content: zstd_frame(content, arguments.level))
    random = os.urandom(32) if arguments.random_salt else None
    pack = make_pack(ak, arguments.name, arguments.pack_version, payload, S=S, random=random, kind=2 if bases else 1)
    with open(arguments.output, "wb") as file:
        file.write(pack)
    print(f"{len(records)} records, {len(pack)} bytes, SHA-256 {sha256(pack).hex()}")


def command_wrap(arguments):
    with open(arguments.pack, "rb") as file:
        data = file.read()
    opened = open_pack(data, argument_key(arguments), deltas=True)
    if check_stanzas(opened.stanzas)[1]:
        raise Problem("the pack is wrapped already")
    publics = []
    for text in arguments.to:
        publics.append(bytes.fromhex(text[5:69]))
        if recipient_text(publics[-1]) != text:
            raise Problem("not the public key of a recipient")
    shared = [read_key_file(path) for path in arguments.to_key_file]
    stanzas = opened.stanzas + wrap_stanzas(opened.keys.FK, opened.core, publics, shared)
    with open(arguments.output, "wb") as file:
        file.write(with_mac(opened.core, stanzas, opened.keys) + data[132 + opened.N:])
