"""The known answers of deltas (FORMAT.md §8.9, §13.2)."""

import re

from vectors.cases.samples import AK, SMALL_TREE, file
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


def answers_delta(a):
    """§8.9"""
    tree = FileTree([*SMALL_TREE, file("ü.txt", b"hello")])
    items = [file("a.txt", b"hello"), file("b.txt", b"#!"), file("c.txt", b"hello"), file("d.txt", b"hello" * 4), file("e.txt", b"hello" * 4)]
    a.equal("§8.9 content root of the base", tree.root, "45dd28c9a17fe3a6a94d21398b547ecce1bdf84eef1dc2f4fce8c8e250794a04")
    payload, records = delta_payload([tree], items, ranges={0: [], 1: [Range(0, 0, 5)]},
                                     codec=lambda content, prefix: parts_frame([Match(5, 20)], 20) if prefix else raw_frame(content))
    listing = list_bytes(records)
    a.equal("§8.9 list", listing, "612e747874 00 00 05 622e747874 00 00 02 632e747874 00 00 05 642e747874 00 00 14 652e747874 00 00 14")
    a.equal("§8.9 content root", content_root(records), "4cb7913b f37c5b39 8652523e 2fa96f78 6db74cd1 92838db5 1610d61f ea13f93f")
    a.equal("§8.9 first window", payload[:9], "28b52ffd 20 28 410100")
    a.equal("§8.9 first window, content", payload[9:49], listing)
    a.equal("§8.9 second window", payload[49:65], "28b52ffd 20 14 3d0000 00 01 54 00 03 11 08")
    fields, start = read_delta_frame(payload)
    a.equal("§8.9 start of the head", (start, len(fields)), (65, 86))
    for name, at, want in (("base", 0, "01 45dd28c9 a17fe3a6 a94d2139 8b547ecc e1bdf84e ef1dc2f4 fce8c8e2 50794a04"),
                           ("target", 33, "4cb7913b f37c5b39 8652523e 2fa96f78 6db74cd1 92838db5 1610d61f ea13f93f 28 02"),
                           ("first window", 67, "312800"), ("second window", 70, "101401000005"), ("moved", 76, "0201060007"), ("new", 81, "0106"),
                           ("repeated", 83, "010400")):
        a.equal(f"§8.9 head, {name}", fields[at:at + len(re.sub(" ", "", want)) // 2], want)
    a.equal("§8.9 frame of the head", payload[65:74], "28b52ffd 20 56 b10200")
    a.equal("§8.9 trailer", payload[160:], "5f000000 50444c31")
    a.equal("§8.9 payload length", len(payload), 168)
    a.equal("§8.9 payload", sha256(payload), "da40321c6d5dde58592d493f37de6d6add7ced4976038ea31705a079edf3aaa0")
    pack = make_pack(AK, "kat", 8, payload, kind=2)
    a.equal("§8.9 salt", pack[64:96], "cb52eecf39fb938e99d3fc939f562ef9589233f83bbac1f47502e5bdf34af407")
    a.equal("§8.9 length", len(pack), 368)
    a.equal("§8.9 pack", sha256(pack), "f82a228026aab41812049471d17bbab2e2f1b19df089aa48e9476e34586f2964")
    a.equal("§8.9 pack, read", read_pack(pack, AK, bases=[tree]), records)
    for value, want in ((0, "00"), (127, "7f"), (128, "8001"), (MAX_INTEGER, "ffffffffffffff0f")):
        a.equal(f"§13.2 {value}", varint(value).hex() == want and Cursor(varint(value)).varint() == value, True)
    for value, want in ((0, 0), (-1, 1), (1, 2), (-2, 3), (-(1 << 52), MAX_INTEGER)):
        a.equal(f"§13.2 {value}", signed_varint(value) == varint(want) and Cursor(varint(want)).signed_varint() == value, True)
