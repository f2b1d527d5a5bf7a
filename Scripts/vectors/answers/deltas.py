"""The known answers of deltas (FORMAT.md §8.9, §13.2)."""

import re

from vectors.cases.samples import AK, SMALL_TREE, file
from vectors.format.base_string import BaseString
from vectors.format.delta import delta_payload
from vectors.format.delta_head import Range, read_delta_frame
from vectors.format.frames import raw_frame
from vectors.format.limits import MAX_INTEGER
from vectors.format.matches import Match, parts_frame
from vectors.format.pack import make_pack
from vectors.format.primitives import sha256
from vectors.format.reader import read_pack
from vectors.format.records import content_root
from vectors.format.trees import FileTree, list_bytes
from vectors.format.varints import Cursor, signed_varint, varint


def example_frame(content, prefix):
    """The frames of §8.9: of the list, of the new contents, and of the head."""
    if len(content) == 24:
        return parts_frame([content[:1], Match(len(prefix), 7), content[8:]], 24)
    return parts_frame([Match(5, 20)], 20) if prefix else raw_frame(content)


def answers_delta(a):
    """§8.9"""
    old = [*SMALL_TREE, file("ü.txt", b"hello")]
    tree = FileTree(old)
    items = [file("1.txt", b"hello"), file("2.txt", b"hello" * 4), file("3.txt", b"hello" * 4), *old]
    a.equal("§8.9 content root of the base", tree.root, "45dd28c9a17fe3a6a94d21398b547ecce1bdf84eef1dc2f4fce8c8e250794a04")
    payload, records = delta_payload([tree], items, extra={1: [Range(37, 5)]}, codec=example_frame)
    base, listing = BaseString([tree]), list_bytes(records)
    a.equal("§8.9 list of the base", base.read(0, 37), "612e747874 00 00 05 622f632e62696e 00 00 00 64 00 01 00 72756e 00 80 02 c3bc2e747874 00 00 05")
    a.equal("§8.9 contents of the base", base.read(37, base.length - 37), "68656c6c6f 2321")
    a.equal("§8.9 literals of the list", listing[:24], "312e747874 00 00 05 322e747874 00 00 14 332e747874 00 00 14")
    a.equal("§8.9 copy of the list", listing[24:], base.read(0, 37))
    a.equal("§8.9 content root", content_root(records), "64e75b43 cd2185ab 50bd00e9 91eed023 076659f2 445e6cc7 c6fd4b46 d6d417e7")
    a.equal("§8.9 first window", payload[:20], "28b52ffd 20 18 080000 31 3c0000 00 01 54 00 05 04 28")
    a.equal("§8.9 first window, the rest", payload[20:39], "810000 322e747874 00 00 14 332e747874 00 00 14")
    a.equal("§8.9 second window", payload[39:55], "28b52ffd 20 14 3d0000 00 01 54 00 03 11 08")
    fields, start = read_delta_frame(payload)
    a.equal("§8.9 start of the head", (start, len(fields)), (55, 87))
    for name, at, want in (("base", 0, "01 45dd28c9 a17fe3a6 a94d2139 8b547ecc e1bdf84e ef1dc2f4 fce8c8e2 50794a04"),
                           ("target", 33, "64e75b43 cd2185ab 50bd00e9 91eed023 076659f2 445e6cc7 c6fd4b46 d6d417e7"),
                           ("lengths and copies", 65, "3d 14 01 00 18 2f 25"), ("first window", 72, "2701"), ("second window", 74, "10 02 01 25 05"),
                           ("moved", 79, "010000"), ("new", 82, "0102"), ("repeated", 84, "010200")):
        a.equal(f"§8.9 head, {name}", fields[at:at + len(re.sub(" ", "", want)) // 2], want)
    a.equal("§8.9 frame of the head", payload[55:64], "28b52ffd 20 57 b90200")
    a.equal("§8.9 trailer", payload[151:], "60000000 50444c31")
    a.equal("§8.9 payload length", len(payload), 159)
    a.equal("§8.9 payload", sha256(payload), "91bff82737e1d8e11b01ef75cff9c3e261b3eccc9cf54c4a31f1c3e80fed5eed")
    pack = make_pack(AK, "kat", 8, payload, kind=2)
    a.equal("§8.9 salt", pack[64:96], "dd91dfc668165400b1d856f8a22416e1e2e8de632c324304c3ea597ce5518d21")
    a.equal("§8.9 length", len(pack), 359)
    a.equal("§8.9 pack", sha256(pack), "277070e88bae76766cd929004de94f51c0278654de9d72161c55d63b5803d550")
    a.equal("§8.9 pack, read", read_pack(pack, AK, bases=[tree]), records)
    for value, want in ((0, "00"), (127, "7f"), (128, "8001"), (MAX_INTEGER, "ffffffffffffff0f")):
        a.equal(f"§13.2 {value}", varint(value).hex() == want and Cursor(varint(value)).varint() == value, True)
    for value, want in ((0, 0), (-1, 1), (1, 2), (-2, 3), (-(1 << 52), MAX_INTEGER)):
        a.equal(f"§13.2 {value}", signed_varint(value) == varint(want) and Cursor(varint(want)).signed_varint() == value, True)
