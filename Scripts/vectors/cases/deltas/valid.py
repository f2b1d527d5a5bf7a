"""Deltas that readers accept."""

from vectors.cases.deltas.vector import (
    A_TXT, A_TXT_PLACE, ENGINE, LIST_LENGTH, NEW_TEXT, NEW_TREE, NOISE_BIN_PLACE, OLD_END, OLD_TEXT, OLD_TREE, RUN_PLACE, base_pack, delta_vector, moved_to,
    starts_of, without)
from vectors.cases.deltas.woven import (
    C_PLACE, D_PLACE, NOISY, NOISY_END, NOISY_TEXT, WIDE, WIDE_A, WIDE_C, WIDE_D, WIDE_TEXT, base_bytes, filling, near_frame, woven_vector)
from vectors.cases.faults import set_bits
from vectors.cases.samples import AK, NAME, OWN_AK, SMALL, VERSION, directory, file, noise
from vectors.format.delta_head import DERIVED, NO_PREFIX, Range
from vectors.format.frames import frame_header, raw_frame, run_frame
from vectors.format.keys import key_of_pack
from vectors.format.limits import MAX_CONTEXT, MAX_COPIES, MAX_COPY, MAX_OUTPUT, MAX_REACH, MIN_COPY
from vectors.format.matches import Match, library_frame, parts_frame, sequence_block
from vectors.format.pack import make_pack, open_pack
from vectors.format.trees import FileTree, list_bytes

# New contents that are literals from end to end.
PLAIN = {"contents": []}


def plain_frame(content, prefix):
    """A frame without matches, where a vector puts another in its place."""
    return run_frame(content)


def valid_deltas():
    """§13"""
    yield from valid_delta_places()
    yield from valid_delta_bases()
    yield from valid_delta_copies()
    yield from valid_delta_contexts()
    yield from valid_delta_rooms()
    yield from valid_delta_windows()
    yield from valid_delta_ranges()
    yield from valid_delta_frames()
    yield from valid_delta_packs()


def valid_delta_places():
    """§13.5: where the content of a record is."""
    vector = delta_vector
    yield vector("unchanged", "the target is the base: one copy of its list, and no window", OLD_TREE)
    yield vector("changed", "a part of one file changed", NEW_TREE)
    yield vector("renamed", "a file has another name", moved_to("a.txt", "z.txt"))
    yield vector("moved", "a file is in another directory, which there was not before", moved_to("noise.bin", "e/f/noise.bin"))
    yield vector("swapped", "two files changed their places: record numbers of the base that descend",
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
    yield vector("new-though-in-base", "a new content that the base has, too: one copy", [*OLD_TREE, file("m.txt", OLD_TEXT)],
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
    yield vector("empty-base", "a base without records: the base string is empty", NEW_TREE, over=[()])
    yield vector("empty-base-first", "a base without records before another: the list of the second begins at place 0", NEW_TREE, over=[(), OLD_TREE],
                 plan=lambda plan: {"moved": [(3, 3), (4, 4)], "new": [0], "repeated": []})
    yield vector("empty-both", "base and target without records: a payload without windows", [], over=[()])
    yield vector("bases-four", "moved records of four bases, and copies of their lists and contents",
                 [file("1.txt", b"one"), file("a.txt", NEW_TEXT), file("e.js", ENGINE[0].content), file("four", b"four"), file("m", ENGINE[0].content[7:] + b"!"),
                  file("n.bin", noise(200))], over=four)
    yield vector("bases-path-of-second", "the path and the content of a record are those of the second base's: only the first base's records are "
                 "found by path, so that the record is moved", [OLD_TREE[0], ENGINE[1]], over=[OLD_TREE, ENGINE],
                 plan=lambda plan: dict(plan, moved=[(1, 6)]))
    yield vector("bases-second-unused", "a second base of which nothing is used", NEW_TREE, over=[OLD_TREE, ENGINE])
    old, engine = base_pack(OLD_TREE), base_pack(ENGINE)
    yield vector("bases-swapped", "two bases are at hand in the other order", [OLD_TREE[0], ENGINE[1]], over=[OLD_TREE, ENGINE], given=[engine, old])
    yield vector("bases-more", "a base is at hand that the delta does not name", NEW_TREE, given=[engine, old])
    yield vector("bases-twice", "the base is at hand twice", NEW_TREE, given=[old, old])
    both = starts_of(OLD_TREE, ENGINE)
    text = OLD_TEXT[20:60] + ENGINE[0].content[100:150] + list_bytes(FileTree(ENGINE).records) + b"b/c.bin\0\0"
    yield vector("bases-copies-of-both", "copies of contents of both bases and of the list of the second",
                 [*OLD_TREE, file("m", text + noise(150, b"font")[60:140] + b"end")], over=[OLD_TREE, ENGINE])
    yield vector("bases-extra-of-both", "extra ranges of contents of both bases, and of their lists",
                 [*OLD_TREE, file("m", ENGINE[0].content[:80] + noise(100) + text)], over=[OLD_TREE, ENGINE], copies=PLAIN,
                 extra={1: [Range(0, 30), Range(NOISE_BIN_PLACE, 120), Range(both[4], 20), Range(both[5], 100)]})
    shared = (file("a.txt", noise(100)), file("font.bin", noise(150, b"font")), file("z.bin", noise(90, b"z")))
    yield vector("bases-one-content", "a content that both bases have is in the base string once, before the list of the second",
                 [*shared, file("m", noise(90, b"z")[5:50] + b"and" + noise(90, b"z")[40:])], over=[ENGINE, shared],
                 plan=lambda plan: {"moved": [(0, 2), (1, 3), (3, 4)], "new": [2], "repeated": []})
    twice = (file("a.bin", noise(90, b"a")), file("b.bin", noise(90, b"a")), file("c.bin", noise(90, b"c"), True))
    yield vector("base-content-twice", "a content that the base has twice is in the base string once, and both records can be named",
                 [*twice, file("m", noise(90, b"c")[3:60] + b"and" + noise(90, b"c")[40:]), file("n", noise(90, b"a"))], over=[twice],
                 plan=lambda plan: dict(plan, moved=[(4, 1)]))
    own = {name: make_pack(key_of_pack(AK, name), name, VERSION - 1, open_pack(base_pack(tree), AK).payload, S=SMALL)
           for name, tree in ((NAME, OLD_TREE), ("engine", ENGINE))}
    yield vector("bases-other-keys", "the delta and its two bases, one of them of another name, have keys of their own; the key given is their root key (§2.3)",
                 [*OLD_TREE, ENGINE[1]], over=[OLD_TREE, ENGINE], given=[own[NAME], own["engine"]], pack={"ak": OWN_AK})


def valid_delta_copies():
    """§13.5: copies."""
    woven = woven_vector
    yield woven("copies-none", "neither list nor contents have a copy", b"new", copies={"list": [], "contents": []})
    yield woven("copy-32", "the shortest copy", b"new", (C_PLACE + 7, MIN_COPY), b"end")
    yield woven("copy-whole-part", "a copy from the first byte of a content to its last", (D_PLACE, 600), b"end")
    yield woven("copies-touch", "copies without literals between them, each where the one before ended", (C_PLACE, 40), (C_PLACE + 40, 50), (C_PLACE + 90, 60))
    yield woven("copies-only", "new contents of copies: no window", (D_PLACE + 200, 100), (C_PLACE + 100, 100))
    yield woven("copies-descending", "copies of places that descend, and of one place twice", (D_PLACE, 40), (C_PLACE + 500, 40), b"and", (C_PLACE + 10, 90),
                (C_PLACE + 10, 40))
    yield woven("copies-across-contents", "a copy that ends in the next new content", b"begin", (C_PLACE, 400), b"end",
                items=[file("m", b"begin" + NOISY_TEXT[C_PLACE:C_PLACE + 100]), file("n", NOISY_TEXT[C_PLACE + 100:C_PLACE + 400] + b"end")])
    yield woven("copy-1-mib", "the longest copy, and literals before and behind it", b"begin", (WIDE_A + 5, MAX_COPY), b"end", over=WIDE, text=WIDE_TEXT,
                codec=near_frame)
    long = (file("a-file-with-a-name-of-more-than-32-bytes.txt", b"first"), *NOISY)
    yield delta_vector("copy-of-list", "a new content with a copy of the base's list", [*long, file("m", b"begin" + list_bytes(FileTree(long).records)[3:])],
                       over=[long])
    target = [*NOISY, file("m-has-a-name-of-more-than-32-bytes-as-a-base-has-it", b"new")]
    lines = (file("list", b"it was: " + list_bytes(FileTree(target).records)),)
    yield delta_vector("list-copy-of-content", "a list with a copy of a content", target, over=[[*lines, *NOISY]])
    zeros = (file("z", bytes(MIN_COPY)),)
    place = starts_of(zeros)[1]
    yield delta_vector("copies-2-19", "2^19 copies, the most", [file("z", bytes(MIN_COPY * MAX_COPIES))], over=[zeros],
                       copies={"list": [], "contents": [(i * MIN_COPY, place, MIN_COPY) for i in range(MAX_COPIES)]})


def valid_delta_contexts():
    """§13.6: the context. The literals repeat the bytes at the edges of what a window has of the base."""
    woven, t, c = woven_vector, NOISY_TEXT, C_PLACE
    yield woven("context-256", "a gap of 40 bytes: 128 bytes before the end of the copy before and 256 behind it, 256 before the place of the copy after and "
                "128 behind it", (c + 500, 100), t[c + 472:c + 492] + t[c + 2108:c + 2128], (c + 2000, 100))
    yield woven("context-256-inner", "as before, with the other two edges", (c + 500, 100), t[c + 836:c + 856] + t[c + 1744:c + 1764], (c + 2000, 100))
    yield woven("context-129", "a gap of 129 bytes: 129 before and 258 behind", (c + 500, 100), t[c + 471:c + 491] + noise(89, b"g") + t[c + 2109:c + 2129],
                (c + 2000, 100))
    yield woven("context-twice-gap", "a gap of 200 bytes: 200 before and 400 behind", (c + 500, 100), t[c + 400:c + 420] + noise(160, b"g") + t[c + 2180:c + 2200],
                (c + 2000, 100))
    yield woven("context-first-gap", "literals before the first copy: only the copy after them counts", t[c + 744:c + 764] + t[c + 1108:c + 1128], (c + 1000, 60))
    yield woven("context-last-gap", "literals behind the last copy: only the copy before them counts", (c + 1000, 60), t[c + 932:c + 952] + t[c + 1296:c + 1316])
    yield woven("context-clamped", "a copy at the first byte of a content, one at the last of it", (c, 40), t[c:c + 20] + t[c + 2980:c + 3000], (c + 2960, 40))
    yield woven("context-clamped-second", "copies at the last and at the first byte of another content", (NOISY_END - 40, 40),
                t[D_PLACE:D_PLACE + 20] + t[NOISY_END - 20:], (D_PLACE, 40))
    yield woven("context-touch-parts", "ranges of two contents touch", (c + 2900, 100), t[c + 2872:c + 2892] + t[D_PLACE + 108:D_PLACE + 128], (D_PLACE, 50))
    yield woven("context-overlap", "ranges that overlap", (c + 500, 100), t[c + 472:c + 492] + t[c + 778:c + 798], (c + 670, 60))
    yield woven("context-descending", "the copy after is before the copy before", (c + 2000, 100), t[c + 244:c + 264] + t[c + 2336:c + 2356], (c + 500, 100))
    yield woven("context-no-gap", "copies that touch have no gap between them: of the first one only what is around its beginning, of the second only what is "
                "around its end", t[c + 244:c + 264], (c + 500, 300), (c + 1500, 300), t[c + 608:c + 628] + t[c + 1672:c + 1692] + t[c + 2036:c + 2056])
    yield woven("context-three-gaps", "three gaps in one window, before, between and behind copies", t[c:c + 20] + b"first", (c + 400, 50),
                t[c + 322:c + 342] + b"second", (c + 1800, 50), t[c + 2086:c + 2106] + b"third")
    yield delta_vector("context-of-list", "a gap of the list before a copy", [file("A.txt", b"new"), *OLD_TREE])
    yield woven("context-unused", "prefixes in which no match begins", (c + 500, 100), b"unlike", (c + 2000, 100), codec=lambda content, prefix: raw_frame(content))
    yield woven("prefix-0", "a window with copies on both sides that has no prefix", (c + 500, 100), b"unlike" * 5, (c + 2000, 100), kinds={1: NO_PREFIX})
    stairs = (file("stairs", b"".join(bytes([i % 251]) * 1024 for i in range(1500))),)
    place, text = starts_of(stairs)[1], base_bytes(stairs)
    before, after, gap = place + 400 * 1024, place + 1200 * 1024, MAX_OUTPUT + 100
    length = 3 * MAX_REACH
    first = text[before - MAX_REACH // 2 - 4:before - MAX_REACH // 2 + 16]
    last = text[after + MAX_REACH // 2 - 20:after + MAX_REACH // 2]
    literals = first + b"\0" * (MAX_OUTPUT - 20) + first + last + b"\0" * 60
    yield woven("context-2-18", "a gap of 2 MiB + 100 bytes in two windows: both have 2^17 and 2^18 bytes beside each copy; the second has 2 MiB of history",
                (before - 104, 100), literals, (after, 100), over=stairs, text=text,
                codec=plain_frame, windows=lambda w: [
                    w[0], [parts_frame([Match(length, 20), b"\0", *[Match(1, 65536)] * 31, Match(1, 65536 - 21)], MAX_OUTPUT), *w[1][1:]],
                    [parts_frame([Match(length + MAX_OUTPUT, 20), Match(MAX_OUTPUT + 40, 20), b"\0", Match(1, 59)], 100), *w[2][1:]]])
    assert len(literals) == gap


def valid_delta_rooms():
    """§13.6: a context that does not fit, because extra ranges take most of its room."""
    t, c, d = WIDE_TEXT, WIDE_C, WIDE_D

    def woven(name, comment, *pieces, extra):
        return woven_vector(name, comment, *pieces, over=WIDE, text=WIDE_TEXT, codec=near_frame, extra={1: extra})

    mark = Range(c + 1000, 30)
    yield woven("context-left-out", "room for 300 bytes: the first range has 384 and is left out, the second has 128 and is taken", (c + 2000, 100),
                t[d:d + 20] + t[c + 1000:c + 1020], (d, 50), extra=filling(mark, room=300))
    yield woven("context-left-out-between", "room for 350 bytes: the ranges have 128, 384 and 128; the second is left out", (c, 50), t[c:c + 20] + b"one",
                (c + 2000, 50), b"two" + t[d:d + 20] + t[c + 1000:c + 1020], (d, 50),
                extra=filling(mark, room=350))
    yield woven("context-touching-left-out", "room for 200 bytes: two ranges of 128 touch, and are left out as one", (c + 2900, 100), t[c + 1000:c + 1030], (d, 50),
                extra=filling(mark, room=200))
    yield woven("context-exact", "room for 256 bytes: two ranges of 128 that touch are taken", (c + 2900, 100), t[c + 1000:c + 1020] + t[c + 2872:c + 2892], (d, 50),
                extra=filling(mark, room=256))
    for name, k, room in (("halved", 2, 1300), ("quartered", 4, 700)):
        w = 1200 // k
        yield woven("context-" + name, f"a gap of 600 bytes, and room for {room} bytes: only with w = {w} all of the context fits", (c + 2000, 100),
                    t[c + 2100 - w // 2:c + 2120 - w // 2] + bytes(560) + t[d + w // 2 - 20:d + w // 2], (d, 50), extra=filling(mark, room=room))
    yield woven("context-no-room", "extra ranges of 4 MiB leave no room", (c + 2000, 100), t[c + 1000:c + 1020], (d, 50), extra=filling(mark, room=0))


def valid_delta_windows():
    """§13.5, §13.6: windows and history."""
    vector = delta_vector

    def zeros(name, comment, length, *parts, **changes):
        """A new content of zeros, the last window of which has these parts."""
        return vector(name, comment, [*OLD_TREE, file("m", bytes(length))], codec=plain_frame, copies={"list": [], "contents": []},
                      windows=lambda w: [*w[:-1], [parts_frame(parts, w[-1][1]), *w[-1][1:]]], **changes)

    whole = [b"\0", *[Match(1, 65536)] * 31, Match(1, 65535)]
    yield zeros("window-2-mib", "2 MiB of literals: one window", MAX_OUTPUT, *whole)
    yield zeros("window-2-mib-and-1", "2 MiB + 1 of literals: two windows", MAX_OUTPUT + 1, b"\0")
    content = b"first" + b"\1" * (MAX_OUTPUT - 5) + b"second" + b"\2" * (MAX_OUTPUT - 6) + b"second" + b"\1" * 3
    yield vector("history", "three windows: a match of the second begins with the first byte of the first, one of the third with that of the second",
                 [*OLD_TREE, file("m", b"first" + b"\1" * (MAX_OUTPUT - 5) + b"first" + b"\1" * (MAX_OUTPUT - 5) + b"first" + b"\1" * 15)],
                 copies={"list": [], "contents": []}, codec=plain_frame, windows=lambda w: [
                     *w[:2], [parts_frame([Match(MAX_OUTPUT, 65536), *[Match(1, 65536)] * 31], MAX_OUTPUT), *w[2][1:]],
                     [parts_frame([Match(MAX_OUTPUT, 20)], 20), *w[3][1:]]])
    yield vector("history-one-window", "the third window has only the second before it: what it repeats is 2 MiB back",
                 [*OLD_TREE, file("m", content)], copies={"list": [], "contents": []}, codec=plain_frame,
                 windows=lambda w: [*w[:3], [parts_frame([Match(MAX_OUTPUT, 6), b"\1\1\1"], 9), *w[3][1:]]])
    yield vector("history-over-copies", "the history is literals, not what was copied between them",
                 [*OLD_TREE, file("m", b"first" + bytes(MAX_OUTPUT - 5) + OLD_TEXT + b"first" + bytes(15))],
                 copies={"list": [], "contents": [(MAX_OUTPUT, A_TXT_PLACE, len(OLD_TEXT))]}, codec=plain_frame,
                 windows=lambda w: [*w[:2], [parts_frame([Match(MAX_OUTPUT, 20)], 20), *w[2][1:]]])
    several = [*OLD_TREE, file("m", b"first"), file("n", b"the second"), file("o", b"third")]
    yield vector("window-several-contents", "three new contents in one window", several)
    yield zeros("prefix-0-history", "a second window without a prefix", MAX_OUTPUT + 20, b"\0", Match(1, 19), kinds={2: NO_PREFIX})
    yield vector("prefix-1-empty", "windows whose derived prefix has no byte", [*OLD_TREE, file("m", b"new")], copies={"list": [], "contents": []},
                 kinds={0: DERIVED, 1: DERIVED})
    yield woven_vector("prefix-6-mib", "extra ranges of 4 MiB and a history of 2 MiB: a match begins with the first byte of the prefix",
                       b"\1" * MAX_OUTPUT, WIDE_TEXT[:20] + bytes(20), over=WIDE, text=WIDE_TEXT, codec=plain_frame,
                       copies={"list": [], "contents": []}, extra={2: [Range(0, 20), Range(WIDE_A, MAX_CONTEXT - 20)]},
                       windows=lambda w: [*w[:2], [parts_frame([Match(MAX_OUTPUT + MAX_CONTEXT, 40)], 40), *w[2][1:]]])


def valid_delta_ranges():
    """§13.6: extra ranges."""
    def vector(name, comment, *ranges, **changes):
        return delta_vector("extra-" + name, comment, NEW_TREE, copies=PLAIN, extra={1: list(ranges)}, **changes)

    a = A_TXT_PLACE
    yield vector("one", "one extra range", Range(a, len(OLD_TEXT)))
    yield vector("three", "three ranges of two contents", Range(a, 40), Range(a + 100, 60), Range(NOISE_BIN_PLACE + 10, 50))
    yield vector("touch", "ranges of one content that touch", Range(a, 100), Range(a + 100, 1), Range(a + 101, 399))
    yield vector("touch-parts", "ranges that touch where a content ends", Range(a + 400, len(OLD_TEXT) - 400), Range(NOISE_BIN_PLACE, 20))
    yield vector("across-parts", "a range of two contents", Range(a + 100, len(OLD_TEXT)))
    yield vector("from-list", "a range from the last byte of the list on", Range(a - 1, 400))
    yield vector("whole", "a range of the list and all contents", Range(0, OLD_END))
    yield vector("across-bases", "a range from the last byte of the first base through the list of the second into its contents",
                 Range(a, 500), Range(OLD_END - 1, 200), over=[OLD_TREE, ENGINE])
    yield vector("edges", "ranges of the first and the last byte of the list and of contents", Range(0, 1), Range(LIST_LENGTH - 1, 1), Range(a, 1),
                 Range(NOISE_BIN_PLACE - 1, 1), Range(RUN_PLACE, 1), Range(OLD_END - 1, 1))
    yield vector("unused", "a prefix in which no match begins", Range(a, len(OLD_TEXT)), codec=lambda content, prefix: raw_frame(content))
    place = starts_of((file("a.txt", noise(2048)),))[1]
    yield delta_vector("extra-1024", "1024 ranges, the most", NEW_TREE, over=[(file("a.txt", noise(2048)),)], copies=PLAIN,
                       extra={1: [Range(place + 2 * i, 1) for i in range(1024)]})
    yield delta_vector("extra-in-list-window", "an extra range for the list, whose bytes are not in its context", [file("A.txt", b"new"), *OLD_TREE],
                       extra={0: [Range(A_TXT_PLACE + 30, 30)]})
    t, c = NOISY_TEXT, C_PLACE
    yield woven_vector("extra-and-context", "extra ranges, and a context that ascends from place to place once more", (c + 500, 100),
                       t[c + 472:c + 492] + t[c + 2600:c + 2620] + t[c + 2108:c + 2128] + t[c + 100:c + 120], (c + 2000, 100),
                       extra={1: [Range(c + 100, 40), Range(c + 2590, 40)]})
    yield woven_vector("extra-within-context", "an extra range of bytes that the context has, too: the prefix has them twice", (c + 500, 100),
                       t[c + 480:c + 520] + t[c + 472:c + 480], (c + 2000, 100), extra={1: [Range(c + 480, 40)]})


def valid_delta_frames():
    """§13.6: what a prefix is to a frame."""
    vector = delta_vector
    magic = (file("dictionary", bytes.fromhex("37a430ec") + noise(300, b"dictionary")),)
    place = starts_of(magic)[1]
    yield vector("prefix-dictionary-magic", "a prefix that begins with the magic of a zstd dictionary",
                 [file("dictionary", magic[0].content[:200] + b"!")], over=[magic], copies=PLAIN, extra={1: [Range(place, 304)]})
    yield vector("prefix-dictionary-magic-only", "a prefix of only the magic of a zstd dictionary", [file("m", bytes.fromhex("37a430ec") * 5)], over=[magic],
                 extra={1: [Range(place, 4)]}, windows=lambda w: [w[0], [parts_frame([Match(4, 20)], 20), *w[1][1:]]])
    yield vector("prefix-one-byte", "a prefix of one byte, and a match with it", [*OLD_TREE, file("m", b"#" * 20)],
                 extra={1: [Range(RUN_PLACE, 1)]}, windows=lambda w: [w[0], [parts_frame([Match(1, 20)], 20), *w[1][1:]]])
    yield vector("prefix-repeat-offset", "a first match with the second repeated offset, which is 4 as for every frame: a formatted dictionary would change it",
                 [*OLD_TREE, file("m", noise(200)[196:] * 5)], extra={1: [Range(NOISE_BIN_PLACE + 100, 100)]},
                 windows=lambda w: [w[0], [frame_header(20) + sequence_block(1, 20, True), *w[1][1:]]])
    yield vector("match-first-byte", "a match that begins with the first byte of the prefix and runs on into the content",
                 [*OLD_TREE, file("m", (noise(50) + b"x") * 3)], copies=PLAIN, extra={1: [Range(NOISE_BIN_PLACE, 50)]},
                 windows=lambda w: [w[0], [parts_frame([Match(50, 50), b"x", Match(51, 102)], 153), *w[1][1:]]])
    yield vector("match-across-ranges", "a match across two ranges, as if they stood end to end", [*OLD_TREE, file("m", noise(200)[150:] + b"#!/bin/sh\n")],
                 copies=PLAIN, extra={1: [Range(NOISE_BIN_PLACE + 150, 50), Range(RUN_PLACE, 10)]})
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
