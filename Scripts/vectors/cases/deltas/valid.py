"""Deltas that readers accept."""

from vectors.cases.deltas.vector import (
    A_TXT, ENGINE, NEW_TEXT, NEW_TREE, NOISE_BIN, OLD_LIST, OLD_TEXT, OLD_TREE, RUN, base_pack, delta_vector, moved_to, without)
from vectors.cases.faults import set_bits
from vectors.cases.samples import AK, NAME, OWN_AK, SMALL, VERSION, directory, file, noise, pack_of
from vectors.format.delta import delta_payload
from vectors.format.delta_head import Range
from vectors.format.frames import frame_header, raw_frame
from vectors.format.keys import key_of_pack
from vectors.format.limits import MAX_PREFIX
from vectors.format.matches import Match, library_frame, parts_frame, sequence_block
from vectors.format.pack import make_pack, open_pack
from vectors.format.trees import FileTree, list_bytes


def valid_deltas():
    """§13"""
    yield from valid_delta_places()
    yield from valid_delta_bases()
    yield from valid_delta_windows()
    yield from valid_delta_frames()
    yield from valid_delta_packs()


def valid_delta_places():
    """§13.5: where the content of a record is."""
    vector = delta_vector
    yield vector("unchanged", "nothing changed: only the list is sent", OLD_TREE)
    yield vector("changed", "a part of one file changed", NEW_TREE)
    yield vector("renamed", "a file has another name", moved_to("a.txt", "z.txt"))
    yield vector("moved", "a file is in another directory, which there was not before", moved_to("noise.bin", "e/f/noise.bin"))
    yield vector("swapped", "two files changed their places: content numbers that descend",
                 [*OLD_TREE[1:3], file("a.txt", noise(200)), file("noise.bin", OLD_TEXT), OLD_TREE[4]])
    yield vector("moved-thrice", "one content moved to three records",
                 [*OLD_TREE, file("e.txt", OLD_TEXT), file("f.txt", OLD_TEXT), file("g.txt", OLD_TEXT, True)])
    yield vector("moved-to-itself", "a record that is moved from where it would be taken from anyhow", OLD_TREE,
                 plan=lambda plan: dict(plan, moved=[(A_TXT, A_TXT)]))
    yield vector("repeated", "three records of one new content, the first of them last in the head",
                 [*OLD_TREE, file("m.txt", b"new"), file("n.txt", b"new"), file("o.txt", b"new", True)],
                 plan=lambda plan: dict(plan, new=[6], repeated=[(3, 0), (4, 0)]))
    yield vector("equal-contents-twice", "equal contents that are stored twice", [*OLD_TREE, file("m", b"new"), file("n", b"new")],
                 plan=lambda plan: dict(plan, new=[3, 4], repeated=[]))
    yield vector("new-though-in-base", "a new content that the base has, too", [*OLD_TREE, file("m.txt", OLD_TEXT)],
                 plan=lambda plan: dict(plan, moved=[], new=[3]))
    yield vector("new-descending", "new contents in an order of their own",
                 [*OLD_TREE, file("m", b"first"), file("n", b"second"), file("o", b"third")],
                 plan=lambda plan: dict(plan, new=[6, 3, 4]))
    yield vector("removed", "a file is gone", without("noise.bin"))
    yield vector("executable", "the executable flag of two files changed, not their contents",
                 [file("a.txt", OLD_TEXT, True), *OLD_TREE[1:4], file("run", b"#!/bin/sh\n")])
    yield vector("kinds", "a file became a directory, a directory and an empty file became files",
                 [file("a.txt/x", b"in the directory"), file("b/c.bin", b"no more empty"), file("d", OLD_TEXT), *OLD_TREE[3:]])
    yield vector("emptied", "a file became empty, another a directory: no place is needed", [file("a.txt"), *OLD_TREE[1:3], directory("noise.bin"), OLD_TREE[4]])
    yield vector("empty-target", "a target without records: no list, and no window", [])


def valid_delta_bases():
    """§13.3: bases."""
    vector = delta_vector
    four = ((file("1.txt", b"one"), file("x", b"x")), ENGINE, OLD_TREE, (file("4.txt", b"four"), directory("dir")))
    yield vector("empty-base", "a base without records: content 0 is an empty list", NEW_TREE, over=[()])
    yield vector("empty-both", "base and target without records: a payload without windows", [], over=[()])
    yield vector("bases-four", "moved records, and a prefix, of four bases",
                 [file("1.txt", b"one"), file("a.txt", NEW_TEXT), file("e.js", ENGINE[0].content), file("four", b"four"), file("n.bin", noise(200))],
                 over=four, ranges={1: [Range(4, 0, len(OLD_TEXT))]})
    yield vector("bases-path-of-second", "the path and the content of a record are those of the second base's: only the first base's records are "
                 "found by path, so that the record is moved", [OLD_TREE[0], ENGINE[1]], over=[OLD_TREE, ENGINE],
                 plan=lambda plan: dict(plan, moved=[(1, 6)]))
    yield vector("bases-second-unused", "a second base of which nothing is used", NEW_TREE, over=[OLD_TREE, ENGINE])
    yield vector("bases-equal", "two bases that are the same", moved_to("a.txt", "z.txt"), over=[OLD_TREE, OLD_TREE],
                 plan=lambda plan: dict(plan, moved=[(4, 5 + A_TXT)]))
    yield vector("bases-prefix-from-both", "a prefix from contents of both bases, and from the list of the first",
                 [*OLD_TREE, file("m", ENGINE[0].content[:80] + noise(100) + b"b/c.bin\0\0")], over=[OLD_TREE, ENGINE],
                 ranges={1: [Range(NOISE_BIN, 0, 120), Range(5, 0, 100), Range(7, 5, 12)]})
    own = {name: make_pack(key_of_pack(AK, name), name, VERSION - 1, open_pack(base_pack(tree)[0], AK).payload, S=SMALL)
           for name, tree in ((NAME, OLD_TREE), ("engine", ENGINE))}
    yield vector("bases-other-keys", "the delta and its two bases, one of them of another name, have keys of their own; the key given is their root key (§2.3)",
                 [*OLD_TREE, ENGINE[1]], over=[OLD_TREE, ENGINE], given=[(own[NAME], 0), (own["engine"], 0)], pack={"ak": OWN_AK})
    below = base_pack(OLD_TREE)
    middle = (*OLD_TREE, file("m.txt", NEW_TEXT), file("n", b"new"), file("o", b"new"))
    payload, _ = delta_payload([FileTree(OLD_TREE)], middle)
    between = pack_of(payload, kind=2), 1
    after = (file("a.txt", NEW_TEXT + b"and more\n"), file("m.txt", b"new"), file("n", b"new"), file("p.txt", NEW_TEXT))
    yield vector("base-is-delta", "the base is a delta over a full pack: contents of it are moved, and in prefixes", after, over=[middle],
                 given=[below, between], pack={"version": VERSION + 1})
    payload, _ = delta_payload([FileTree(middle), FileTree(ENGINE)], (*after, ENGINE[1]))
    third = pack_of(payload, kind=2, version=VERSION + 1), 2
    yield vector("base-is-delta-of-two", "two full packs and two deltas: the second delta is over the first and a full pack, the third over the second",
                 [*after, file("q.bin", noise(100, b"font"))], over=[(*after, ENGINE[1])], given=[below, between, base_pack(ENGINE), third],
                 pack={"version": VERSION + 2})


def valid_delta_windows():
    """§13.6: ranges and windows."""
    vector = delta_vector
    three = [Range(A_TXT, 0, 40), Range(A_TXT, 100, 60), Range(NOISE_BIN, 10, 50)]
    yield vector("ranges-three", "a window with three ranges of two contents", NEW_TREE, ranges={1: three})
    yield vector("ranges-touch", "ranges of one content that touch", NEW_TREE, ranges={1: [Range(A_TXT, 0, 100), Range(A_TXT, 100, 1), Range(A_TXT, 101, 399)]})
    yield vector("ranges-edges", "ranges of the first and the last byte of a content, and of the list",
                 NEW_TREE, ranges={1: [Range(A_TXT, 0, 1), Range(A_TXT, len(OLD_TEXT) - 1, 1), Range(OLD_LIST, 0, 1),
                                       Range(OLD_LIST, len(list_bytes(FileTree(OLD_TREE).records)) - 1, 1)]})
    yield vector("ranges-1024", "1024 ranges, the most", NEW_TREE, over=[(file("a.txt", noise(2048)),)],
                 ranges={1: [Range(0, 2 * i, 1) for i in range(1024)]})
    yield vector("ranges-none", "windows without ranges, also that of the list", NEW_TREE, ranges={0: [], 1: []})
    yield vector("ranges-unused", "a prefix in which no match begins", NEW_TREE, codec=lambda content, prefix: raw_frame(content))
    large = (file("zeros", bytes(MAX_PREFIX + 5)),)
    yield vector("prefix-3-mib", "a prefix of 3 MiB, the longest, in two ranges, and an output of 1 MiB, the longest",
                 [file("m", b"\0\1" * (1 << 19)), *large], over=[large],
                 ranges={1: [Range(0, 3, 1 << 20), Range(0, (1 << 20) + 5, 2 << 20)]},
                 windows=lambda w: [w[0], [parts_frame([b"\0\1", *[Match(2, 65536)] * 15, Match(2, 65534)], 1 << 20), *w[1][1:]]])
    yield vector("list-three-windows", "a list in windows of 5 bytes, 1 byte and the rest", NEW_TREE,
                 sizes=[5, 1, len(list_bytes(FileTree(NEW_TREE).records)) - 6, len(NEW_TEXT)])
    several = [*OLD_TREE, file("m", b"first"), file("n", b"the second"), file("o", b"third")]
    length = len(list_bytes(FileTree(several).records))
    yield vector("window-several-contents", "three new contents in one window", several)
    yield vector("windows-cut-contents", "windows that end inside contents, one with one byte", several, sizes=[length, 3, 1, 9, 7])
    yield vector("windows-of-one-byte", "each window holds one byte", [file("a", b"12")], sizes=[1] * 6)


def valid_delta_frames():
    """§13.6: what a prefix is to a frame."""
    vector = delta_vector
    magic = (file("dictionary", bytes.fromhex("37a430ec") + noise(300, b"dictionary")),)
    yield vector("prefix-dictionary-magic", "a prefix that begins with the magic of a zstd dictionary",
                 [file("dictionary", magic[0].content[:200] + b"!")], over=[magic])
    yield vector("prefix-dictionary-magic-only", "a prefix of only the magic of a zstd dictionary", [file("m", bytes.fromhex("37a430ec") * 5)], over=[magic],
                 ranges={0: [], 1: [Range(0, 0, 4)]}, windows=lambda w: [w[0], [parts_frame([Match(4, 20)], 20), *w[1][1:]]])
    yield vector("prefix-one-byte", "a prefix of one byte, and a match with it", [*OLD_TREE, file("m", b"#" * 20)],
                 ranges={1: [Range(RUN, 0, 1)]}, windows=lambda w: [w[0], [parts_frame([Match(1, 20)], 20), *w[1][1:]]])
    yield vector("prefix-repeat-offset", "a first match with the second repeated offset, which is 4 as for every frame: a formatted dictionary would change it",
                 [*OLD_TREE, file("m", noise(200)[196:] * 5)], ranges={1: [Range(NOISE_BIN, 100, 100)]},
                 windows=lambda w: [w[0], [frame_header(20) + sequence_block(1, 20, True), *w[1][1:]]])
    yield vector("match-first-byte", "a match that begins with the first byte of the prefix and runs on into the content",
                 [*OLD_TREE, file("m", (noise(50) + b"x") * 3)], ranges={1: [Range(NOISE_BIN, 0, 50)]},
                 windows=lambda w: [w[0], [parts_frame([Match(50, 50), b"x", Match(51, 102)], 153), *w[1][1:]]])
    yield vector("match-across-ranges", "a match across two ranges, as if they stood end to end", [*OLD_TREE, file("m", noise(200)[150:] + b"#!/bin/sh\n")],
                 ranges={1: [Range(NOISE_BIN, 150, 50), Range(RUN, 0, 10)]})
    yield vector("frame-unused-bit", "bit 4 of the descriptor is ignored (§4.4), in a window and in the head", NEW_TREE,
                 windows=lambda w: [w[0], [set_bits(w[1][0], 4, 0x10), *w[1][1:]]], headframe=lambda frame: set_bits(frame, 4, 0x10))
    text = b"".join(b"line %d of a text that a library compresses, %d\n" % (i, i * i) for i in range(120))
    changed = text.replace(b"9", b"nine")
    for level in (3, 19):
        yield vector(f"library-level-{level}", f"frames of the zstandard library, level {level}", [file("a.txt", changed), directory("d")], over=[(file("a.txt", text),)],
                     codec=lambda content, prefix: library_frame(content, prefix, level))


def valid_delta_packs():
    """§1, §2.4, §7: the pack around the payload."""
    vector = delta_vector
    yield vector("segment-65536", "S = 65536, the base has 4096", NEW_TREE, pack={"S": 65536})
    yield vector("segments-three", "a delta over three segments", [*OLD_TREE, file("m", noise(9000, b"large"))])
    yield vector("salt-random", "a random salt with R = 40…5f (§2.4)", NEW_TREE, pack={"random": bytes(range(0x40, 0x60))})
    yield vector("minor-255", "minor 255, nothing else", NEW_TREE, pack={"minor": 255})
    yield vector("minor-1-bytes", "minor 1: bytes after the fields of the head are ignored (§13.5)", NEW_TREE, pack={"minor": 1},
                 head=lambda head: head + b"later")
    yield vector("version-lower", "the version of the target is below that of the base", NEW_TREE, pack={"version": 0})
    yield vector("flag-bit-9", "an ignorable flag is set (§1.2)", NEW_TREE, pack={"flags": 0x0201})
