"""Deltas that are refused."""

from vectors.cases.deltas.vector import (
    A_TXT, A_TXT_PLACE, C_BIN, D_DIRECTORY, DeltaVector, ENGINE, NEW_TEXT, NEW_TREE, NOISE_BIN, NOISE_BIN_PLACE, OLD_END, OLD_TEXT, OLD_TREE, RUN, RUN_PLACE,
    base_pack, delta_vector, moved_to, without)
from vectors.cases.deltas.woven import C_PLACE, WIDE, WIDE_A, WIDE_C, WIDE_D, WIDE_TEXT, base_bytes, near_frame, woven_vector
from vectors.cases.faults import bomb_frame, change, flip, replaced, set_bits
from vectors.cases.samples import AK, OTHER_AK, file, many_directories, noise, pack_of
from vectors.format.delta import delta_payload
from vectors.format.delta_head import DELTA_MAGIC, DERIVED, EXTRA, NO_PREFIX, Copy, Range
from vectors.format.frames import bound, frame_header, raw_frame, run_frame, zstd_block
from vectors.format.index import skippable
from vectors.format.limits import (
    MAX_CONTENT, MAX_CONTEXT, MAX_COPIES, MAX_COPY, MAX_DELTA_HEAD, MAX_INTEGER, MAX_LIST, MAX_NAMED, MAX_OUTPUT)
from vectors.format.matches import Match, library_frame, parts_frame, prefix_frame
from vectors.format.payload import make_payload, tree_payload
from vectors.format.primitives import number, sha256, u32
from vectors.format.records import content_root
from vectors.format.tar import build_tree
from vectors.format.trees import FileTree, list_bytes
from vectors.format.varints import signed_varint, varint

# The copies of the new contents of NEW_TREE: one with literals behind it, one without, and the last one.
CHANGED = NEW_TEXT.index(b"another")
LIST_COPY = 34
COPIES = [(0, A_TXT_PLACE, CHANGED), (CHANGED + 7, A_TXT_PLACE + CHANGED + 3, 100), (CHANGED + 107, A_TXT_PLACE + CHANGED + 103, len(NEW_TEXT) - CHANGED - 107)]
assert all(NEW_TEXT[at:at + length] == OLD_TEXT[place - A_TXT_PLACE:place - A_TXT_PLACE + length] for at, place, length in COPIES)

# The row of places for them and the copy of the list, without gaps, whose last but one copy ends at 2^53-1.
FAR_PLACES = b"".join(map(signed_varint, ((1 << 52) - 1, (1 << 52) - LIST_COPY - CHANGED - 100, 0)))


def hostile_delta(name, comment, items=NEW_TREE, expect="damaged", **changes):
    return delta_vector(name, comment, items, expect=expect, **changes)


def plain_delta(name, comment, items=NEW_TREE, expect="damaged", **changes):
    """A delta whose new contents are literals from end to end, with an extra range of the old text in the prefix of their only window."""
    return delta_vector(name, comment, items, expect=expect, **{"copies": {"contents": []}, "extra": {1: [Range(A_TXT_PLACE, len(OLD_TEXT))]}, **changes})


def hostile_deltas():
    """§13.5–13.7"""
    yield from hostile_delta_trailers()
    yield from hostile_delta_fields()
    yield from hostile_delta_named()
    yield from hostile_delta_copies()
    yield from hostile_delta_windows()
    yield from hostile_delta_ranges()
    yield from hostile_delta_bases()
    yield from hostile_delta_lists()
    yield from hostile_delta_places()
    yield from hostile_delta_lengths()
    yield from hostile_delta_frames()
    yield from hostile_delta_packs()
    yield from hostile_delta_orders()


def with_fields(**values):
    """A change of fields of the head, or of their bytes; a function is applied to the regular value. Underscores in names are spaces."""
    values = {key.replace("_", " "): value for key, value in values.items()}
    return lambda f: dict(f, **{key: value(f[key]) if callable(value) else value for key, value in values.items()})


def cut_after(name, **values):
    """A change of the bytes of fields, with which the head ends after this one."""
    def pieces(regular):
        names = list(regular)
        return {key: value for key, value in with_fields(**values)(regular).items() if names.index(key) <= names.index(name)}
    return pieces


def with_copy(index, name="contents_copies", **values):
    """A change of what the head says of one copy."""
    return with_fields(**{name: lambda copies: [c._replace(**values) if i == index else c for i, c in enumerate(copies)]})


def with_window(index, **values):
    """A change of what the head says of one window."""
    return with_fields(windows=lambda windows: [w._replace(**values) if i == index else w for i, w in enumerate(windows)])


def with_ranges(*ranges):
    """A change of what the head says of the extra ranges of the window of contents, whose frame stays what it is."""
    return with_window(1, prefix=EXTRA, extra=list(ranges))


def hostile_delta_trailers():
    """§13.7, step 1."""
    for name, comment, changes, expect in (
            ("magic", "another magic at the end", {"trailer": lambda t: flip(t, 4)}, "damaged"),
            ("missing", "no trailer", {"trailer": lambda t: b""}, "damaged"),
            ("byte-after", "a byte after the trailer", {"trailer": lambda t: t + b"\0"}, "damaged"),
            ("head-longer", "the length of the head is 1 too large", {"trailer": lambda t: u32(number(t, 0, 4) + 1) + t[4:]}, "damaged"),
            ("head-shorter", "the length of the head is 1 too small", {"trailer": lambda t: u32(number(t, 0, 4) - 1) + t[4:]}, "damaged"),
            ("head-0", "the length of the head is 0", {"trailer": lambda t: u32(0) + t[4:]}, "damaged"),
            ("head-beyond", "the head is longer than the payload", {"trailer": lambda t: u32(100000) + t[4:]}, "damaged"),
            ("head-2-32", "the length of the head is 2^32-1", {"trailer": lambda t: u32(0xFFFFFFFF) + t[4:]}, "damaged"),
            ("payload-empty", "an empty payload", {"payload": lambda p: b""}, "damaged"),
            ("payload-7-bytes", "a payload of 7 bytes, the last four of them the magic", {"payload": lambda p: p[-7:]}, "damaged"),
            ("payload-8-bytes", "a payload of 8 bytes, without a head", {"payload": lambda p: u32(0) + DELTA_MAGIC}, "damaged")):
        yield hostile_delta("trailer-" + name, comment, expect=expect, **changes)
    for name, comment, frame, expect in (
            ("above-limit", "a head of 4 MiB + 1 bytes", lambda f: run_frame(bytes(MAX_DELTA_HEAD + 1)), "limit"),
            ("bomb", "the frame of the head states 200 bytes and expands to 7.5 MiB", lambda f: bomb_frame(200, 60), "damaged"),
            ("longer", "the frame of the head expands to more than it states", lambda f: change(f, 5, bytes([f[5] - 1])), "damaged"),
            ("checksum", "the frame of the head has the checksum flag", lambda f: set_bits(f, 4, 4) + bytes(4), "damaged"),
            ("hidden", "bytes after the frame of the head", lambda f: f + b"hidden", "damaged"),
            ("skippable", "a skippable frame in the place of the head", lambda f: skippable(0x184D2A50, bytes(64)), "damaged"),
            ("zeros", "a head of 4 MiB of zeros: no bases", lambda f: run_frame(bytes(MAX_DELTA_HEAD)), "damaged")):
        yield hostile_delta("head-" + name, comment, expect=expect, headframe=frame)


def hostile_delta_fields():
    """§13.2, §13.5; §13.7, step 2: numbers, and the fields before the copies."""
    length = varint(len(list_bytes(FileTree(NEW_TREE).records)))
    assert len(length) == 1
    root = FileTree(OLD_TREE).root
    for name, comment, changes, expect in (
            ("cut", "the head ends inside its last number", {"head": lambda h: h[:-1]}, "damaged"),
            ("cut-in-roots", "the head ends inside a content root", {"head": lambda h: h[:40]}, "damaged"),
            ("bytes-after", "bytes after the fields under minor 0", {"head": lambda h: h + b"\0"}, "damaged"),
            ("varint-two-bytes", "the number of bases in two bytes: 81 00", {"pieces": with_fields(bases=lambda b: b"\x81\0" + b[1:])}, "damaged"),
            ("varint-long-zero", "the length of the list with a group of zeros", {"pieces": with_fields(list=bytes([length[0] | 128, 0x80, 0]))}, "damaged"),
            ("varint-2-53", "2^53 as the length of the list", {"fields": with_fields(list=1 << 53)}, "damaged"),
            ("varint-largest", "2^53-1 as the length of the list", {"fields": with_fields(list=MAX_INTEGER)}, "limit"),
            ("varint-2-64", "2^64 + 1 as the number of bases", {"pieces": with_fields(bases=lambda b: varint((1 << 64) + 1) + b[1:])}, "damaged"),
            ("varint-endless", "a varint that does not end", {"pieces": cut_after("list", list=b"\xff" * 100)}, "damaged"),
            ("bases-0", "no bases", {"fields": with_fields(bases=[])}, "damaged"),
            ("bases-5", "five bases", {"fields": with_fields(bases=[bytes([i]) * 32 for i in range(5)])}, "limit"),
            ("bases-equal", "two equal bases", {"over": [OLD_TREE, OLD_TREE]}, "damaged"),
            ("bases-equal-apart", "the first of three bases is the last, too", {"over": [OLD_TREE, ENGINE, OLD_TREE]}, "damaged"),
            ("list-above-limit", "a list of 16 MiB + 1 bytes", {"fields": with_fields(list=MAX_LIST + 1)}, "limit"),
            ("contents-above-limit", "new contents of 64 GiB + 1 bytes, and the head ends behind their length",
             {"pieces": cut_after("contents", contents=varint(MAX_CONTENT + 1))}, "limit"),
            ("list-16-mib", "a list of 16 MiB of which the windows hold 8 bytes", {"fields": with_fields(list=MAX_LIST)}, "damaged"),
            ("list-0", "a list of no bytes, although it has a copy", {"fields": with_fields(list=0)}, "damaged"),
            ("list-shorter", "the list is 1 byte shorter than its window", {"fields": with_fields(list=lambda n: n - 1)}, "damaged"),
            ("list-longer", "the list is 1 byte longer than its window", {"fields": with_fields(list=lambda n: n + 1)}, "damaged"),
            ("contents-2-53", "2^53 bytes of new contents", {"fields": with_fields(contents=1 << 53)}, "damaged"),
            ("contents-0", "no bytes of new contents, although there are copies", {"fields": with_fields(contents=0)}, "damaged"),
            ("target-root", "the content root of the target", {"fields": with_fields(target=bytes(32))}, "damaged")):
        yield hostile_delta("fields-" + name, comment, expect=expect, **changes)


def hostile_delta_named():
    """§13.5; §13.7, step 2: how many records are moved, new and repeated."""
    for name, comment, pieces, expect in (
            ("moved-2-53", "2^53-1 moved records, of which none is there", cut_after("moved", moved=varint(MAX_INTEGER)), "limit"),
            ("new-2-53", "2^53-1 new contents, of which none is there", cut_after("new", new=varint(MAX_INTEGER)), "limit"),
            ("new-4-million", "new contents of the records 0 … 3 999 999", with_fields(new=varint(4000000) + bytes(4000000)), "limit"),
            ("new-2-20", "new contents of the records 0 … 2^20-1", with_fields(new=varint(MAX_NAMED) + bytes(MAX_NAMED)), "damaged"),
            ("new-above-limit", "a moved record, and 2^20 new contents of which none is there",
             cut_after("new", moved=b"\1\0\0", new=varint(MAX_NAMED)), "limit"),
            ("repeated-2-53", "2^53-1 repeated records, of which none is there", with_fields(repeated=varint(MAX_INTEGER)), "limit"),
            ("repeated-above-limit", "one new content, and 2^20 repeated records of which none is there", with_fields(repeated=varint(MAX_NAMED)), "limit")):
        yield hostile_delta("fields-" + name, comment, expect=expect, pieces=pieces)


def hostile_delta_copies():
    """§13.5: copies. Their fields are changed, and the windows stay what they are."""
    copies = {"copies": {"contents": COPIES}}
    for name, comment, changes, expect in (
            ("2-19-and-1", "2^19 + 1 copies, of which none is there", {"pieces": cut_after("contents copies", list_copies=b"\0",
                                                                                          contents_copies=varint(MAX_COPIES + 1))}, "limit"),
            ("of-list-2-19-and-1", "2^19 + 1 copies in the list, of which none is there", {"pieces": cut_after("list copies", list_copies=varint(MAX_COPIES + 1))},
             "limit"),
            ("together-above-limit", "2^19 + 1 copies in both streams together, of which none is there", {"pieces": cut_after(
                "contents copies", list_copies=b"\1", contents_copies=varint(MAX_COPIES))}, "limit"),
            ("2-53", "2^53-1 copies, of which none is there", {"pieces": cut_after("contents copies", contents_copies=varint(MAX_INTEGER))}, "limit"),
            ("2-19-missing", "2^19 copies, of which none is there", {"pieces": cut_after("contents copies", list_copies=b"\0", contents_copies=varint(MAX_COPIES))},
             "damaged"),
            ("row-missing", "the row of lengths is missing", {"pieces": cut_after("places")}, "damaged"),
            ("31", "a copy of 31 bytes", {"copies": {"contents": [(0, A_TXT_PLACE, 31)]}}, "damaged"),
            ("0", "a copy of no bytes", {"copies": {"contents": [(100, A_TXT_PLACE + 100, 0)]}}, "damaged"),
            ("in-list-31", "a copy of 31 bytes in the list", {"copies": {"list": [(8, 8, 31)], "contents": COPIES}}, "damaged"),
            ("length-2-53", "a copy of 2^53-1 bytes", {"fields": with_copy(2, length=MAX_INTEGER)}, "damaged"),
            ("length-2-32", "a copy of 2^32 + 100 bytes", {"fields": with_copy(1, length=(1 << 32) + 100)}, "damaged"),
            ("place-negative", "a copy of place -1", {"fields": with_copy(0, "list_copies", place=-1)}, "damaged"),
            ("place-negative-later", "the last copy has place -1", {"fields": with_copy(2, place=-1)}, "damaged"),
            ("place-2-53", "a copy that ends at 2^53", {"pieces": with_fields(gaps=bytes(4), places=FAR_PLACES + signed_varint(1 - COPIES[2][2]))}, "damaged"),
            ("place-2-32", "a copy of a place of 2^32 more than is meant", {"fields": with_copy(1, place=(1 << 32) + COPIES[1][1])}, "damaged"),
            ("gap-beyond", "a gap that ends 1 byte behind the stream", {"fields": with_copy(1, gap=8)}, "damaged"),
            ("gap-2-53", "a gap of 2^53-1 bytes", {"pieces": with_fields(
                gaps=b"\0" + varint(MAX_INTEGER) + b"\0\0", places=b"\0" + signed_varint(1 - (1 << 52)) + b"\0\0")}, "damaged"),
            ("gap-2-32", "a gap of 2^32 + 7 bytes", {"fields": with_copy(1, gap=(1 << 32) + 7)}, "damaged"),
            ("in-list-gap-beyond", "the copy of the list ends 1 byte behind it; both streams together are as long as before",
             {"fields": with_fields(list_copies=lambda c: [c[0]._replace(gap=c[0].gap + 1)], contents_copies=lambda c: [c[0], c[1]._replace(gap=6), c[2]])}, "damaged"),
            ("length-beyond", "a copy that ends 1 byte behind the stream", {"fields": with_copy(2, length=COPIES[2][2] + 1)}, "damaged"),
            ("beyond", "a copy that ends 1 byte behind the base string", {"fields": with_copy(1, place=OLD_END - 99)}, "damaged"),
            ("behind", "a copy from where the base string ends", {"fields": with_copy(1, place=OLD_END)}, "damaged"),
            ("far-behind", "a copy of place 2^40", {"fields": with_copy(1, place=1 << 40)}, "damaged"),
            ("in-list-beyond", "a copy of the list from behind the base string", {"fields": with_copy(0, "list_copies", place=OLD_END)}, "damaged"),
            ("other-place", "a copy of the byte before: another content", {"fields": with_copy(1, place=COPIES[1][1] - 1)}, "damaged"),
            ("other-gap", "a copy that is 1 byte too early in the stream: another content", {"fields": with_fields(
                contents_copies=lambda c: [c[0], c[1]._replace(gap=6), c[2]._replace(gap=1)])}, "damaged")):
        yield hostile_delta("copy-" + name, comment, expect=expect, **{**copies, **changes})
    yield hostile_delta("copies-gaps-overflow", "2049 copies whose gaps come to more than 2^63, each from where the one before ended", copies=copies["copies"],
                        pieces=with_fields(list_copies=b"\0", contents_copies=varint(2049), gaps=varint(1 << 52) * 2049, places=signed_varint(-(1 << 52)) * 2049,
                                           lengths=b"\x20" * 2049))
    yield hostile_delta("copies-places-overflow", "2049 copies whose places would come to 2^63", copies=copies["copies"],
                        pieces=with_fields(list_copies=b"\0", contents_copies=varint(2049), gaps=bytes(2049), places=signed_varint((1 << 52) - 1) * 2049,
                                           lengths=b"\x20" * 2049))
    t, d = WIDE_TEXT, WIDE_D
    both = base_bytes(OLD_TREE, ENGINE)
    for name, comment, over, text, place, length in (
            ("above-limit", "a copy of 2^20 + 1 bytes", WIDE, t, WIDE_A, MAX_COPY + 1),
            ("across-contents", "a copy whose last byte is in the next content", WIDE, t, d - 99, 100),
            ("from-list-into-content", "a copy that begins with the last byte of the list", OLD_TREE, both, A_TXT_PLACE - 1, 100)):
        yield woven_vector("copy-" + name, comment, b"new", (place, length), over=over, text=text, codec=near_frame, expect="damaged")
    yield hostile_delta("copy-across-bases", "a copy that begins with the last byte of the first base", [*OLD_TREE, file("m", both[OLD_END - 1:OLD_END + 40])],
                        over=[OLD_TREE, ENGINE], copies={"contents": [(0, OLD_END - 1, 41)]})
    yield hostile_delta("copy-in-list-across", "a copy of the list whose last bytes are in a content", [file("a.txt", OLD_TEXT), file("b", b"new"), *OLD_TREE[1:]],
                        copies={"list": [(20, 11, 33)]}, list=lambda l: l[:20] + both[11:44])
    content = noise(100)
    yield hostile_delta("copy-of-empty-base", "a copy, and the base is empty: the base string has no byte", [file("m", content)], over=[()],
                        windows=lambda w: [w[0], [raw_frame(content[32:]), 68, *w[1][2:]]], fields=with_fields(contents_copies=[Copy(0, 0, 32)]))


def hostile_delta_windows():
    """§13.5: windows."""
    none = {"list": b"\0", "list_copies": b"\0", "contents_copies": b"\0", "gaps": b"", "places": b"", "lengths": b""}
    yield hostile_delta("windows-32768", "64 GiB of new contents: 32 768 windows, of which none is there",
                        pieces=cut_after("lengths", **none, contents=varint(MAX_CONTENT)))
    for name, comment, fields in (
            ("compressed-shorter", "the compressed lengths are 1 too small", with_window(1, length=20)),
            ("compressed-longer", "a compressed length above the bound of the output", with_window(1, length=5000)),
            ("compressed-2-53", "a compressed length of 2^53-1", with_window(1, length=MAX_INTEGER)),
            ("compressed-0", "a window of no bytes", with_window(1, length=0)),
            ("compressed-shifted", "the end of the first window is 1 byte too late",
             with_fields(windows=lambda w: [w[0]._replace(length=w[0].length + 1), w[1]._replace(length=w[1].length - 1)])),
            ("missing", "the head does not have the last window", with_fields(windows=lambda w: w[:1])),
            ("prefix-2-53", "a prefix of kind 2^53-1", with_window(1, prefix=MAX_INTEGER)),
            ("prefix-2-32", "a prefix of kind 2^32 + 2", with_window(1, prefix=(1 << 32) + 2)),
            ("prefix-1-for-2", "the frame has a match with extra ranges that the head does not name", with_window(1, prefix=DERIVED)),
            ("prefix-0-for-2", "the frame has a match with a prefix, and the head says that there is none", with_window(1, prefix=NO_PREFIX))):
        yield plain_delta("window-" + name, comment, fields=fields)
    yield woven_vector("window-prefix-3", "a prefix of kind 3", b"new", (C_PLACE, 100), expect="damaged", kinds={1: 3})
    c, t = WIDE_C, WIDE_TEXT
    for name, comment, values in (
            ("0-for-1", "the frame has a match with the context, and the head says that there is no prefix", {"prefix": NO_PREFIX}),
            ("2-for-1", "the frame has a match with the context, and the head names extra ranges that leave it no room",
             {"prefix": EXTRA, "extra": [Range(WIDE_A, MAX_CONTEXT)]})):
        yield woven_vector("window-prefix-" + name, comment, (c + 500, 100), t[c + 472:c + 492] + t[c + 2108:c + 2128], (c + 2000, 100), over=WIDE, text=t,
                           codec=near_frame, expect="damaged", fields=with_window(1, **values))


def hostile_delta_ranges():
    """§13.5, §13.7: extra ranges; the frame was made with the right prefix."""
    a, size = A_TXT_PLACE, len(OLD_TEXT)
    for name, comment, ranges, expect in (
            ("1025", "1025 ranges", [Range(a + i, 1) for i in range(1025)], "limit"),
            ("sum-above-limit", "ranges of 4 MiB + 1 bytes together", [Range(a, 1), Range(a + 1, MAX_CONTEXT)], "limit"),
            ("sum-4-mib", "ranges of 4 MiB together, the last of which is not in the base string", [Range(a, 1), Range(a + 1, MAX_CONTEXT - 1)], "damaged"),
            ("length-2-53", "a range of 2^53-1 bytes", [Range(a, MAX_INTEGER)], "limit"),
            ("beyond-last", "a range that ends 1 byte behind the base string", [Range(a, size), Range(OLD_END - 9, 10)], "damaged"),
            ("behind", "a range that begins where the base string ends", [Range(a, size), Range(OLD_END, 1)], "damaged"),
            ("start-2-53", "a start of 2^53-1, and an end of 2^53", [Range(MAX_INTEGER, 1)], "damaged"),
            ("start-2-32", "a start of 2^32 more than is meant", [Range((1 << 32) + a, size)], "damaged"),
            ("starts-overflow", "1024 ranges whose ends come to 2^63", [Range(i * (1 << 53) + MAX_INTEGER, 1) for i in range(1024)], "damaged"),
            ("other", "another prefix of the right length: the content is not the target's", [Range(a + 1, size - 1), Range(RUN_PLACE, 1)], "damaged")):
        yield plain_delta("extra-" + name, comment, expect=expect, fields=with_ranges(*ranges))
    for name, comment, ranges in (("beyond", "a range that ends 1 byte behind the base string, for the list", [Range(OLD_END - 9, 10)]), ("none", "a prefix with extra ranges of the list, of which there are none", [])):
        yield hostile_delta("extra-in-list-window-" + name, comment, fields=with_window(0, prefix=EXTRA, extra=ranges))
    yield plain_delta("extra-empty", "a range of no bytes", over=[OLD_TREE, ENGINE], extra={1: [Range(a, size), Range(NOISE_BIN_PLACE, 0)]})
    yield plain_delta("extra-beyond-last-base", "a range that ends 1 byte behind the second base", over=[OLD_TREE, ENGINE],
                      fields=with_ranges(Range(a, size), Range(len(base_bytes(OLD_TREE, ENGINE)) - 9, 10)))
    yield woven_vector("extra-none", "a prefix with extra ranges, of which there are none", b"new", (C_PLACE, 100), expect="damaged", kinds={1: EXTRA})
    yield hostile_delta("extra-empty-base", "an extra range of an empty base", over=[()], fields=with_ranges(Range(0, 1)))


def hostile_delta_bases():
    """§13.7, step 3."""
    old, engine = base_pack(OLD_TREE), base_pack(ENGINE)
    other = base_pack([*OLD_TREE[:4], file("run", b"#!/bin/zsh", True)])
    for name, comment, over, given in (
            ("wrong", "the base at hand is another tree with the same paths and sizes", [OLD_TREE], [other]),
            ("executable", "the base at hand has another executable flag", [OLD_TREE], [base_pack([*OLD_TREE[:4], file("run", b"#!/bin/sh\n")])]),
            ("missing", "one of two bases is missing", [OLD_TREE, ENGINE], [old]),
            ("missing-twice", "one of two bases is missing, and the other is there twice", [OLD_TREE, ENGINE], [old, old]),
            ("target", "the base at hand is the target", [OLD_TREE], [base_pack(NEW_TREE)])):
        yield hostile_delta("base-" + name, comment, expect="wrong-base", over=over, given=given)
    yield hostile_delta("base-damaged", "a segment of the base does not open: the base's error", given=[flip(old, 300)])
    yield hostile_delta("base-truncated", "the base is cut off: the base's error", expect="truncated", given=[old[:150]])
    yield hostile_delta("base-is-delta", "the base is a delta, which is opened without bases", expect="unsupported", over=[NEW_TREE], given=[delta_vector("", "", NEW_TREE).data])
    builder, records = build_tree([*OLD_TREE[:4], file("run", b"#!/bin/zsh", True)])
    payload = make_payload(builder.finish(), records, codec=prefix_frame, fields=with_fields(root=FileTree(OLD_TREE).root))
    yield hostile_delta("base-root-stated", "the head of the base states the content root that the delta names, but another follows from its records; "
                        "the target does not have the file that differs", without("run"), given=[pack_of(payload)])
    yield forged_base("base-digest", "a content of the base has another SHA-256 than its index says; the content roots of base and target hold the wrong one",
                      moved_to("a.txt", "z.txt"), digest=sha256(b"other"))
    start = next(record.offset for record in build_tree(list(OLD_TREE))[1] if record.path == b"run")
    yield forged_base("base-overlap", "two contents of the base overlap without being the same", without("a.txt"), offset=start,
                      digest=sha256(b"#!/bin/sh\n" + bytes(len(OLD_TEXT) - 10)))


def forged_base(name, comment, items, **values):
    """A base whose record of `a.txt` has these values, which the content roots of base and target hold, too. The target has nothing new."""
    builder, records = build_tree(list(OLD_TREE))
    payload = make_payload(builder.finish(), replaced(b"a.txt", **values)(records), codec=prefix_frame)
    tree, target = FileTree(OLD_TREE), FileTree(items)
    tree.records = replaced(b"a.txt", **values)(tree.records)
    tree.root = content_root(tree.records)
    made, _ = delta_payload([tree], items, plan=lambda _: {"moved": [(4, A_TXT)] if len(items) == 5 else [], "new": [], "repeated": []},
                            fields=with_fields(target=content_root([r._replace(digest=values["digest"]) if r.size == len(OLD_TEXT) else r for r in target.records])))
    return DeltaVector(name, "damaged", comment, AK, [pack_of(payload)], pack_of(made, kind=2), None)


def hostile_delta_lists():
    """§13.4; the content root of the target is that of the tree with the fault, where it has one."""
    def with_list(name, comment, listing, expect="damaged"):
        return hostile_delta("list-" + name, comment, OLD_TREE, expect, list=listing)

    def lines(*changed):
        """The list with other records."""
        return lambda _: b"".join(path + b"\0" + bytes([kind]) + varint(size) for path, kind, size in changed)

    rest = (b"b/c.bin", 0, 0), (b"d", 1, 0), (b"noise.bin", 0, 200), (b"run", 0x80, 10)
    text = len(OLD_TEXT)
    for name, comment, listing, expect in (
            ("order", "two records are swapped", lines((b"a.txt", 0, text), rest[1], rest[0], *rest[2:]), "damaged"),
            ("twice", "a path twice", lines((b"a.txt", 0, text), (b"a.txt", 0, text), *rest), "damaged"),
            ("type-2", "record type 2", lines((b"a.txt", 0, text), rest[0], (b"d", 2, 0), *rest[2:]), "unsupported"),
            ("type-0x81", "record type 0x81", lines((b"a.txt", 0, text), rest[0], (b"d", 0x81, 0), *rest[2:]), "unsupported"),
            ("directory-size", "a directory with a size", lines((b"a.txt", 0, text), rest[0], (b"d", 1, 5), *rest[2:]), "damaged"),
            ("cut", "the list ends before the size of its last record", lambda l: l[:-1], "damaged"),
            ("cut-in-path", "the list ends inside a path", lambda l: l + b"z", "damaged"),
            ("path-1025-without-end", "1025 bytes without 00 at the end of the list", lambda l: l + b"z" * 1025, "limit"),
            ("size-long", "a size that is not the shortest varint", lambda l: l[:-1] + bytes([l[-1] | 128, 0]), "damaged"),
            ("size-2-53", "a size of 2^53", lambda l: l + b"z\0\0" + varint(1 << 53), "damaged"),
            ("content-size", "a content size above 64 GiB", lambda l: l + b"z\0\0" + varint(MAX_CONTENT), "limit"),
            ("under-file", "a file and a leading directory with one path", lines((b"a.txt", 0, text), (b"a.txt/x", 0, 0), *rest), "damaged"),
            ("path-empty", "an empty path", lambda l: b"\0\0\0" + l, "damaged"),
            ("path-dotdot", "`../x`", lambda l: b"../x\0\0\0" + l, "damaged"),
            ("path-absolute", "`/etc/x`", lambda l: b"/etc/x\0\0\0" + l, "damaged"),
            ("path-backslash", "`s\\x`", lambda l: l + b"s\\x\0\0\0", "damaged"),
            ("path-slash-last", "a directory `s/`", lambda l: l + b"s/\0\1\0", "damaged"),
            ("path-utf8", "the byte ff", lambda l: l + b"s\xff\0\0\0", "damaged"),
            ("path-nfd", "`u` and U+0308", lambda l: l + "u\u0308\0\0\0".encode(), "damaged"),
            ("path-reserved", "`.pack/x`", lambda l: b".pack/x\0\0\0" + l, "damaged"),
            ("path-1025-bytes", "a path of 1025 bytes", lambda l: l + b"/".join([b"z" * 63] * 16) + b"/e\0\0\0", "limit"),
            ("path-65-components", "a path of 65 components", lambda l: l + b"z/" * 64 + b"e\0\0\0", "limit"),
            ("component-256-bytes", "a component of 256 bytes", lambda l: l + b"z" * 256 + b"\0\0\0", "damaged")):
        yield with_list(name, comment, listing, expect)
    large = b"".join(b"z%04d\0\0" % i + varint(MAX_INTEGER) for i in range(1025))
    yield hostile_delta("list-sizes-overflow", "1025 sizes of 2^53-1, which come to more than 2^63", expect="limit", list=lambda listing: listing + large,
                        codec=lambda content, prefix: library_frame(content, prefix, 19))
    yield hostile_delta("list-bytes-after-minor-1", "bytes after the last record are refused under every minor", list=lambda listing: listing + b"later",
                        pack={"minor": 1})
    deep = b"/".join([b"d" * 255] * 3) + b"/"
    yield hostile_delta("list-three-windows", "a list of more than 4 MiB: its last record, which the third window has, is of type 2", expect="unsupported",
                        list=lambda _: b"".join(deep + b"%06d" % i + b"\0\0\0" for i in range(5500)) + b"e\0\2\0",
                        codec=lambda content, prefix: library_frame(content, prefix, 19))
    yield hostile_delta("list-directories-65537", "65 537 directories, each file under 63 of its own", many_directories(65536), "limit", over=[()],
                        codec=lambda content, prefix: library_frame(content, prefix, 19))


def hostile_delta_places():
    """§13.5; §13.7, step 4."""
    added = [*OLD_TREE, file("m", b"new")]  # record 3; noise.bin is 4, run 5
    ten = [*OLD_TREE, file("m", b"0123456789"), file("n", b"0123456789")]  # records 3 and 4, of the size of run
    renamed = moved_to("a.txt", "z.txt")  # record 4
    for name, comment, items, plan in (
            ("moved-beyond", "moved from record R, which is none of the base's", renamed, {"moved": [(4, 5)]}),
            ("moved-2-32", "moved from record 2^32 of the base: 0 in 32 bits", renamed, {"moved": [(4, 1 << 32)]}),
            ("moved-negative", "moved from record -1", renamed, {"moved": [(4, -1)]}),
            ("moved-negative-later", "the second record moved from record -1", [*renamed, file("zz", OLD_TEXT)], {"moved": [(4, 0), (5, -1)]}),
            ("moved-size", "moved from a record of another size", renamed, {"moved": [(4, NOISE_BIN)]}),
            ("moved-directory-content", "moved from a directory", renamed, {"moved": [(4, D_DIRECTORY)]}),
            ("moved-record-beyond", "moved to a record that is not there", renamed, {"moved": [(4, 0), (5, 0)]}),
            ("moved-record-2-32", "moved to record 2^32 + 4", renamed, {"moved": [((1 << 32) + 4, 0)]}),
            ("moved-empty", "moved to an empty file, from an empty file", OLD_TREE, {"moved": [(1, C_BIN)]}),
            ("moved-directory", "moved to a directory, from a directory", OLD_TREE, {"moved": [(2, D_DIRECTORY)]}),
            ("moved-records-overflow", "moved records whose numbers come to 2^64", renamed, {"moved": [((1 << 53) * (i + 1) - 1, 0) for i in range(2049)]}),
            ("moved-contents-overflow", "moved records whose records of the base come to 2^64", renamed, {"moved": [(i, (1 << 52) * (i + 1) - 1) for i in range(4100)]}),
            ("moved-and-new", "a record is moved and new", ten[:-1], {"moved": [(3, RUN)], "new": [3]}),
            ("new-twice", "a record is new twice", added, {"new": [3, 3]}),
            ("new-and-repeated", "a record is new and repeats itself", added, {"new": [3], "repeated": [(3, 0)]}),
            ("new-directory", "new content of a directory", added, {"new": [3, 2]}),
            ("new-empty", "new content of an empty file", added, {"new": [3, 1]}),
            ("new-record-beyond", "new content of a record that is not there", added, {"new": [3, 6]}),
            ("new-record-negative", "new content of record -1", added, {"new": [3, -1]}),
            ("repeated-beyond", "a new content that is not there is repeated", [*OLD_TREE, file("m", b"new"), file("n", b"new")],
             {"new": [3], "repeated": [(4, 1)]}),
            ("repeated-size", "a new content of another size is repeated", [*OLD_TREE, file("m", b"new"), file("n", b"four")],
             {"new": [3], "repeated": [(4, 0)]}),
            ("repeated-without-new", "a record is repeated, and none is new", [*OLD_TREE, file("m", b"new")], {"repeated": [(3, 0)]}),
            ("repeated-directory", "a directory is repeated", added, {"new": [3], "repeated": [(2, 0)]}),
            ("repeated-and-moved", "a record is repeated and moved", ten, {"moved": [(4, RUN)], "new": [3], "repeated": [(4, 0)]}),
            ("none", "a record without a place: no record of the base has its path", added, {}),
            ("none-size", "a record without a place: the base's record of its path has another size", NEW_TREE, {}),
            ("none-directory", "a record without a place: the base has a directory of its path", [*OLD_TREE[:2], file("d", b"file"), *OLD_TREE[3:]], {}),
            ("none-in-second", "a record without a place: only the second base has its path", [*OLD_TREE, file("z", b"z")], {})):
        over = [OLD_TREE, (file("z", b"z"),)] if name == "none-in-second" else [OLD_TREE]
        whole = {"moved": [], "new": [], "repeated": [], **plan}
        yield hostile_delta("place-" + name, comment, items, over=over, plan=lambda _: {**whole, "new": [i for i in whole["new"] if 0 <= i < len(items)]},
                            fields=with_fields(new=whole["new"]))
    yield hostile_delta("place-same-size", "a record of the same path and size as the base's, and of another content, has no place of its own",
                        [file("a.txt", OLD_TEXT.upper()), *OLD_TREE[1:]], plan=lambda _: {"moved": [], "new": [], "repeated": []})
def hostile_delta_lengths():
    """§13.7, step 4: the length of the new contents."""
    for name, comment, contents in (
            ("longer", "the new contents are a byte longer than their records say", lambda c: c + b"!"),
            ("shorter", "the new contents are a byte shorter than their records say", lambda c: c[:-1]),
            ("0", "there are no new contents, although a record is new", lambda c: b"")):
        yield plain_delta("contents-" + name, comment, contents=contents, extra={})
    yield plain_delta("contents-without-record", "new contents, and no record is new", OLD_TREE, contents=lambda c: b"extra", extra={})


def hostile_delta_frames():
    """§4.4, §13.6: the frame of a window, which has n bytes."""
    n = len(NEW_TEXT)
    text = parts_frame([NEW_TEXT], n)

    def window(name, comment, frame, **changes):
        return plain_delta("frame-" + name, comment, windows=lambda w: [w[0], [frame, *w[1][1:]]], **changes)

    for name, comment, frame in (
            ("content-size-more", "a frame that states a byte more than the head", parts_frame([NEW_TEXT, b"!"], n + 1)),
            ("content-size-less", "a frame that states a byte less than the head", parts_frame([NEW_TEXT[:-1]], n - 1)),
            ("content-size-2-mib", "a frame that states 2 MiB + 1 bytes", frame_header(MAX_OUTPUT + 1) + text[7:]),
            ("content-size-8-mib", "a frame that states 8 MiB + 1 bytes", frame_header((8 << 20) + 1) + text[7:]),
            ("expands-to-more", "a frame that expands beyond its content size", parts_frame([NEW_TEXT, b"!"], n)),
            ("expands-to-less", "a frame that expands to less than its content size", parts_frame([NEW_TEXT[:-1]], n)),
            ("bomb", "a frame that expands to 128 MiB", bomb_frame(n, 300)[:bound(n)]),
            ("without-content-size", "a frame without content size", b"\x28\xb5\x2f\xfd\x00\x00" + text[7:]),
            ("checksum", "a frame with the checksum flag", set_bits(text, 4, 4) + bytes(4)),
            ("dictionary-id", "a frame with dictionary id 1", text[:4] + bytes([text[4] | 1]) + b"\1" + text[5:]),
            ("dictionary-id-0", "a frame with a dictionary id of one byte, which is 0", text[:4] + bytes([text[4] | 1]) + b"\0" + text[5:]),
            ("window-above-content", "a window of 1024 bytes for less", frame_header(n, window=0) + text[7:]),
            ("skippable", "a skippable frame", skippable(0x184D2A50, bytes(64))),
            ("hidden", "a second frame in the same place", text + raw_frame(b"hidden")),
            ("two-halves", "two frames that add up to the stated size", parts_frame([NEW_TEXT[:100]], 100) + parts_frame([NEW_TEXT[100:]], n - 100)),
            ("block-overrun", "a block that runs past its place", text[:-1]),
            ("empty-blocks", "more bytes than the bound: empty blocks in front", text[:7] + zstd_block(0, 0, b"", False) * 60 + text[7:]),
            ("treeless-literals", "literals that take their table from a dictionary, which raw content does not have", frame_header(n)
             + zstd_block(2, 24, b"\x43\1\1" + bytes(21), True)),
            ("repeated-tables", "a sequence whose tables come from a dictionary", frame_header(n) + zstd_block(2, 5, b"\0\1\xfc\1\1", True)),
            ("match-before-prefix", "a match that begins 1 byte before the prefix", parts_frame([Match(len(OLD_TEXT) + 1, 100), NEW_TEXT[100:]], n)),
            ("match-before-content", "a match that would be right if the prefix were twice as long",
             parts_frame([Match(2 * len(OLD_TEXT), 100), NEW_TEXT[100:]], n))):
        yield window(name, comment, frame)
    yield hostile_delta("frame-window", "a frame with a window byte: window 1024, content 2048; its matches are nearer", [*OLD_TREE, file("m", b"ab" * 1024)],
                        copies={"contents": []}, windows=lambda w: [w[0], [parts_frame([b"ab", Match(2, 1022), Match(2, 1024)], 2048, frame_header(2048, window=0)), *w[1][1:]]])
    content = noise(1000, b"c") + noise(1000, b"d") + noise(20)
    yield hostile_delta("frame-match-beyond-window", "a match with the prefix that is further back than the window of 1024 bytes", [*OLD_TREE, file("m", content)],
                        copies={"contents": []}, extra={1: [Range(NOISE_BIN_PLACE, 100)]}, windows=lambda w: [
                            w[0], [parts_frame([content[:1000], content[1000:2000], Match(2100, 20)], 2020, frame_header(2020, window=0)), *w[1][1:]]])
    yield window("match-without-prefix", "a match that begins before a content without prefix", parts_frame([Match(1, 100), NEW_TEXT[100:]], n),
                 extra={})
    yield plain_delta("frame-match-in-list", "a match with the literals of the list, which are no history of the new contents", [*OLD_TREE, file("m", b"noise.bin" * 3)],
                      extra={}, kinds={1: DERIVED}, windows=lambda w: [w[0], [parts_frame([Match(19, 9), Match(9, 18)], 27), *w[1][1:]]])
    whole = [b"\0", *[Match(1, 65536)] * 63, Match(1, 65535)]
    yield plain_delta("frame-match-before-history", "a match of the third window that begins 1 byte before the second", [*OLD_TREE, file("m", bytes(2 * MAX_OUTPUT + 20))],
                      extra={}, codec=lambda content, prefix: run_frame(content),
                      windows=lambda w: [w[0], *([parts_frame(whole, MAX_OUTPUT), *x[1:]] for x in w[1:3]), [parts_frame([Match(MAX_OUTPUT + 1, 20)], 20), *w[3][1:]]])
    yield hostile_delta("frame-list-bomb", "the window of the list states its size and expands to more",
                        windows=lambda w: [[bomb_frame(w[0][1], 12), *w[0][1:]], w[1]])


def hostile_delta_packs():
    """§1: the pack around the payload."""
    yield hostile_delta("kind-1", "the payload of a delta under kind 1", pack={"kind": 1})
    yield hostile_delta("kind-2", "the payload of a full pack under kind 2", payload=lambda _: tree_payload(list(NEW_TREE))[0])
    yield hostile_delta("kind-3", "kind 3", expect="unsupported", pack={"kind": 3})
    whole = delta_vector("changed", "", NEW_TREE)
    for name, comment, expect, data in (("segment-flipped", "a segment that does not open", "damaged", flip(whole.data, 200)),
                                        ("mac-flipped", "a bit of the header MAC", "damaged", flip(whole.data, 112)),
                                        ("truncated", "a delta that is cut off in its header", "truncated", whole.data[:150]),
                                        ("not-a-pack", "a text", "not-a-pack", b"hello\n")):
        yield whole._replace(name="pack-" + name, comment=comment, expect=expect, data=data, records=None)
    yield hostile_delta("pack-key-other", "a delta for another key, and another base: the key comes first", expect="wrong-key", given=[base_pack(ENGINE)],
                        pack={"ak": OTHER_AK})


def hostile_delta_orders():
    """§13.7: of two faults the first in its order counts."""
    old, engine = base_pack(OLD_TREE), base_pack(ENGINE)
    behind, outside = Range(OLD_END, 1), with_ranges(Range(OLD_END, 1))
    type_2 = {"list": lambda l: l + b"z\0\2\0"}
    for name, comment, expect, given, changes in (
            # Step 2, in the order of the fields.
            ("bases-before-list", "two equal bases, and a list above 16 MiB", "damaged", [old], {"fields": with_fields(bases=lambda b: b * 2, list=MAX_LIST + 1)}),
            ("copies-before-rows", "2^19 + 1 copies in the list, and the head ends after their number", "limit", [old],
             {"pieces": cut_after("list copies", list_copies=varint(MAX_COPIES + 1))}),
            ("contents-before-copies", "new contents of 64 GiB + 1 bytes, and a copy of 31 bytes", "limit", [old],
             {"fields": with_fields(contents=MAX_CONTENT + 1, contents_copies=[Copy(0, A_TXT_PLACE, 31)])}),
            ("bound-before-extra", "a first window above its bound, a second with 1025 extra ranges", "damaged", [old], {"fields": with_fields(
                windows=lambda w: [w[0]._replace(length=5000), w[1]._replace(extra=[Range(i, 1) for i in range(1025)])])}),
            ("prefix-before-next-window", "a first window with a prefix of kind 3, a second with 1025 extra ranges", "damaged", [old], {"fields": with_fields(
                windows=lambda w: [w[0]._replace(prefix=3), w[1]._replace(extra=[Range(i, 1) for i in range(1025)])])}),
            ("extra-before-number", "an extra range at 1 of 2^53-1 bytes: its length exceeds the limit before an end is computed", "limit", [old],
             {"fields": with_ranges(Range(1, MAX_INTEGER))}),
            ("extra-before-end", "extra ranges of 4 MiB + 1 bytes, and the head ends after them", "limit", [old],
             {"fields": with_ranges(Range(0, MAX_CONTEXT + 1)), "pieces": cut_after("windows")}),
            ("sum-before-moved", "compressed lengths that do not add up, and 2^53-1 moved records", "damaged", [old],
             {"fields": with_window(1, length=20), "pieces": cut_after("moved", moved=varint(MAX_INTEGER))}),
            # Step 2 before step 3.
            ("copies-before-base", "2^19 + 1 copies, and another base", "limit", [engine], {"pieces": with_fields(contents_copies=varint(MAX_COPIES + 1))}),
            ("bytes-after-before-base", "bytes after the fields, and another base", "damaged", [engine], {"head": lambda h: h + b"\0"}),
            ("sum-before-base", "compressed lengths that do not add up, and another base", "damaged", [engine], {"fields": with_window(1, length=20)}),
            ("bases-equal-before-base", "two equal bases, and one other at hand", "damaged", [engine], {"fields": with_fields(bases=lambda b: b * 2)}),
            ("number-before-base", "an extra range with an end of 2^53, and another base", "damaged", [engine], {"fields": with_ranges(Range(MAX_INTEGER, 1))}),
            ("negative-before-base", "moved from record -1, and another base", "damaged", [engine], {"fields": with_fields(moved=[(0, -1)])}),
            ("repeated-before-base", "a new content that is not there is repeated, and another base", "damaged", [engine],
             {"fields": with_fields(repeated=[(4, 1)])}),
            # Step 3 before step 4.
            ("base-before-twice", "a record is new twice, and another base", "wrong-base", [engine], {"fields": with_fields(new=[0, 0])}),
            ("base-before-extra", "an extra range outside a part, and another base", "wrong-base", [engine], {"fields": outside}),
            ("base-before-list", "record type 2, and another base", "wrong-base", [engine], {"list": lambda l: l + b"z\0\2\0"}),
            ("base-before-place", "moved to a record that is not there, and another base", "wrong-base", [engine], {"fields": with_fields(moved=[(9, 0)])}),
            ("base-before-contents", "new contents that are too long, and another base", "wrong-base", [engine], {"contents": lambda c: c + b"!"}),
            # Step 4: what is inside the bases for the list, the list, its places, what is inside the bases for the new contents.
            ("extra-before-list", "an extra range outside a part for the list, and record type 2", "damaged", [old],
             {**type_2, "fields": with_window(0, prefix=EXTRA, extra=[behind])}),
            ("type-before-path", "a record of type 2 with the path `../x`", "unsupported", [old], {"list": lambda l: b"../x\0\2\0" + l}),
            ("type-before-size", "a record of type 2 whose size is not the shortest varint", "unsupported", [old], {"list": lambda l: l + b"z\0\2\x80\0"}),
            ("type-before-end", "a record of type 2, and the list ends before its size", "unsupported", [old], {"list": lambda l: l + b"z\0\2"}),
            ("type-before-components", "a record of type 2 with a path of 65 components", "unsupported", [old],
             {"list": lambda l: l + b"z/" * 64 + b"e\0\2\0"}),
            ("path-before-size", "a path of 65 components, and a size that is not the shortest varint", "limit", [old],
             {"list": lambda l: l + b"z/" * 64 + b"e\0\0\x80\0"}),
            ("path-before-next-type", "a record with the path `../x`, then one of type 2", "damaged", [old], {"list": lambda l: b"../x\0\0\0" + b"/\0\2\0" + l}),
            ("order-before-next-type", "two records are swapped, then one has type 2", "damaged", [old],
             {"list": lambda l: b"a.txt\0\0\0" + b"a\0\0\0" + b"b\0\2\0"}),
            ("path-length-before-type", "a record of type 2 with a path of 1025 bytes", "limit", [old], {"list": lambda l: l + b"z" * 1025 + b"\0\2\0"}),
            ("list-before-place", "record type 2, and moved to a record that is not there", "unsupported", [old], {**type_2, "fields": with_fields(moved=[(9, 0)])}),
            ("list-before-contents", "record type 2, and new contents that are too long", "unsupported", [old], {**type_2, "contents": lambda c: c + b"!"}),
            ("content-size-before-contents", "a content size above 64 GiB, and new contents that are too long", "limit", [old],
             {"list": lambda l: l + b"z\0\0" + varint(MAX_CONTENT), "contents": lambda c: c + b"!"}),
            ("list-before-extra", "record type 2, and an extra range outside a part for the new contents", "unsupported", [old], {**type_2, "fields": outside}),
            ("list-before-frame", "record type 2, and a frame of the new contents with a checksum", "unsupported", [old],
             {**type_2, "windows": lambda w: [w[0], [set_bits(w[1][0], 4, 4), *w[1][1:]]]})):
        yield plain_delta("order-" + name, comment, expect=expect, given=given, **changes)
    for name, comment, expect, given, changes in (
            ("place-before-base", "a copy that ends at 2^53, and another base", "damaged", [engine], {"pieces": with_fields(gaps=bytes(4), places=FAR_PLACES + signed_varint(1 - COPIES[2][2]))}),
            ("base-before-copy", "copies beyond the base string, the last of which ends at 2^53-1, and another base", "wrong-base", [engine],
             {"pieces": with_fields(gaps=bytes(4), places=FAR_PLACES + signed_varint(-COPIES[2][2]))}),
            ("copy-before-list", "a copy of the list outside a part, and record type 2", "damaged", [old],
             {"list": lambda l: l + b"z\0\2\0", "fields": with_copy(0, "list_copies", place=9)}),
            ("list-before-copy", "record type 2, and a copy of the new contents outside a part", "unsupported", [old],
             {"list": lambda l: l + b"z\0\2\0", "fields": with_copy(1, place=NOISE_BIN_PLACE - 99)})):
        yield hostile_delta("order-" + name, comment, expect=expect, given=given, copies={"contents": COPIES}, **changes)
