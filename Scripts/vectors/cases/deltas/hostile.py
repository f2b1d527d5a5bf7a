"""Deltas that are refused."""

from vectors.cases.deltas.vector import (
    A_TXT, C_BIN, D_DIRECTORY, DeltaVector, ENGINE, NEW_TEXT, NEW_TREE, NOISE_BIN, OLD_LIST, OLD_TEXT, OLD_TREE, RUN, base_pack, delta_vector,
    moved_to, without)
from vectors.cases.faults import bomb_frame, change, flip, replaced, set_bits
from vectors.cases.samples import AK, OTHER_AK, file, many_directories, noise, pack_of
from vectors.format.delta import delta_payload
from vectors.format.delta_head import DELTA_MAGIC, Range, WindowPlace, range_bytes
from vectors.format.frames import bound, frame_header, raw_frame, run_frame, zstd_block
from vectors.format.index import skippable
from vectors.format.limits import MAX_CONTENT, MAX_DELTA_HEAD, MAX_INTEGER, MAX_LIST, MAX_NAMED, MAX_OUTPUT, MAX_PREFIX, MAX_WINDOWS
from vectors.format.matches import Match, library_frame, parts_frame, prefix_frame
from vectors.format.payload import make_payload, tree_payload
from vectors.format.primitives import number, sha256, u32
from vectors.format.records import content_root
from vectors.format.tar import build_tree
from vectors.format.trees import FileTree, list_bytes
from vectors.format.varints import varint


def hostile_delta(name, comment, items=NEW_TREE, expect="damaged", **changes):
    return delta_vector(name, comment, items, expect=expect, **changes)


def hostile_deltas():
    """§13.5–13.7"""
    yield from hostile_delta_trailers()
    yield from hostile_delta_fields()
    yield from hostile_delta_ranges()
    yield from hostile_delta_bases()
    yield from hostile_delta_lists()
    yield from hostile_delta_places()
    yield from hostile_delta_frames()
    yield from hostile_delta_orders()


def with_fields(**values):
    """A change of fields of the head; a function is applied to the regular value."""
    return lambda f: dict(f, **{key: value(f[key]) if callable(value) else value for key, value in values.items()})


def with_window(index, **values):
    """A change of what the head says of one window."""
    return with_fields(windows=lambda windows: [w._replace(**values) if i == index else w for i, w in enumerate(windows)])


def with_ranges(*ranges):
    """A change of what the head says of the ranges of the window of contents, whose frame stays what it is."""
    return with_window(1, ranges=list(ranges))


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
    """§13.2, §13.5; §13.7, step 2."""
    at_list = 1 + 32 + 32
    first = varint(len(list_bytes(FileTree(NEW_TREE).records)))
    assert len(first) == 1

    def list_length(value):
        return lambda head: head[:at_list] + value + head[at_list + 1:]

    for name, comment, head, expect in (
            ("cut", "the head ends inside its last number", lambda h: h[:-1], "damaged"),
            ("cut-in-roots", "the head ends inside a content root", lambda h: h[:40], "damaged"),
            ("bytes-after", "bytes after the fields under minor 0", lambda h: h + b"\0", "damaged"),
            ("varint-two-bytes", "the number of bases in two bytes: 81 00", lambda h: b"\x81\0" + h[1:], "damaged"),
            ("varint-long-zero", "the length of the list with a group of zeros", list_length(bytes([first[0] | 128, 0x80, 0])), "damaged"),
            ("varint-2-53", "2^53 as the length of the list", list_length(varint(1 << 53)), "damaged"),
            ("varint-largest", "2^53-1 as the length of the list", list_length(varint((1 << 53) - 1)), "limit"),
            ("varint-2-64", "2^64 + 1 as the number of bases", lambda h: varint((1 << 64) + 1) + h[1:], "damaged"),
            ("varint-endless", "a varint that does not end", lambda h: h[:at_list] + b"\xff" * 100, "damaged"),
            ("bases-0", "no bases", lambda h: b"\0" + h[33:], "damaged"),
            ("bases-5", "five bases", lambda h: b"\5" + 4 * h[1:33] + h[1:], "limit"),
            ("list-above-limit", "a list of 16 MiB + 1 bytes", list_length(varint(MAX_LIST + 1)), "limit"),
            ("list-16-mib", "a list of 16 MiB of which the windows hold 50 bytes", list_length(varint(MAX_LIST)), "damaged"),
            ("windows-above-limit", "131073 windows", lambda h: h[:at_list + 1] + varint(MAX_WINDOWS + 1), "limit"),
            ("moved-2-53", "2^53-1 moved records, of which none is there", lambda h: h[:-4] + varint(MAX_INTEGER), "limit"),
            ("new-2-53", "2^53-1 new contents, of which none is there", lambda h: h[:-3] + varint(MAX_INTEGER), "limit"),
            ("new-4-million", "new contents of the records 0 … 3 999 999", lambda h: h[:-3] + varint(4000000) + bytes(4000001), "limit"),
            ("new-2-20", "new contents of the records 0 … 2^20-1", lambda h: h[:-3] + varint(MAX_NAMED) + bytes(MAX_NAMED + 1), "damaged"),
            ("new-above-limit", "a moved record, and 2^20 new contents of which none is there", lambda h: h[:-4] + b"\1\0\0" + varint(MAX_NAMED), "limit"),
            ("repeated-2-53", "2^53-1 repeated records, of which none is there", lambda h: h[:-1] + varint(MAX_INTEGER), "limit"),
            ("repeated-above-limit", "one new content, and 2^20 repeated records of which none is there", lambda h: h[:-1] + varint(MAX_NAMED), "limit"),
            ("windows-131072", "131072 windows, of which two are there", lambda h: h[:at_list + 1] + varint(MAX_WINDOWS) + h[at_list + 2:], "damaged")):
        yield hostile_delta("fields-" + name, comment, expect=expect, head=head)
    for name, comment, fields, expect in (
            ("output-0", "a window without output", with_window(1, output=0), "damaged"),
            ("output-above-limit", "a window of 1 MiB + 1 bytes", with_window(1, output=MAX_OUTPUT + 1), "limit"),
            ("output-1-mib", "the output length is not the frame's", with_window(1, output=MAX_OUTPUT), "damaged"),
            ("compressed-shorter", "the compressed lengths are 1 too small", with_window(1, length=20), "damaged"),
            ("compressed-longer", "a compressed length above the bound of the output", with_window(1, length=5000), "damaged"),
            ("compressed-0", "a window of no bytes", with_window(1, length=0), "damaged"),
            ("compressed-shifted", "the end of the first window is 1 byte too late",
             with_fields(windows=lambda w: [w[0]._replace(length=w[0].length + 1), w[1]._replace(length=w[1].length - 1)]), "damaged"),
            ("window-missing", "the head does not have the last window", with_fields(windows=lambda w: w[:1]), "damaged"),
            ("compressed-overflow", "1100 windows whose compressed lengths are 2^53-1",
             with_fields(windows=lambda w: [w[0], *[WindowPlace(MAX_INTEGER, 1, [])] * 1100]), "damaged"),
            ("list-shorter", "the list ends inside its window", with_fields(list=lambda n: n - 1), "damaged"),
            ("list-longer", "the list ends inside the window of the contents", with_fields(list=lambda n: n + 1), "damaged"),
            ("list-0", "a list of no bytes, although the stream has one", with_fields(list=0), "damaged"),
            ("list-beyond", "the list is as long as the stream", with_fields(list=lambda n: n + len(NEW_TEXT)), "damaged"),
            ("target-root", "the content root of the target", with_fields(target=bytes(32)), "damaged")):
        yield hostile_delta("fields-" + name, comment, expect=expect, fields=fields)
    yield hostile_delta("windows-cross-list", "a window holds the end of the list and the beginning of a content",
                        sizes=[len(list_bytes(FileTree(NEW_TREE).records)) - 1, len(NEW_TEXT) + 1], ranges={1: [Range(A_TXT, 0, len(OLD_TEXT))]})
    yield hostile_delta("windows-cross-list-one", "one window holds list and contents", sizes=[len(list_bytes(FileTree(NEW_TREE).records)) + len(NEW_TEXT)])


def hostile_delta_ranges():
    """§13.5, §13.6, §13.7 step 5; the frame was made with the right prefix."""
    size = len(OLD_TEXT)
    for name, comment, ranges, expect in (
            ("1025", "1025 ranges", [Range(A_TXT, i, 1) for i in range(1025)], "limit"),
            ("empty", "a range of no bytes", [Range(A_TXT, 0, size), Range(NOISE_BIN, 0, 0)], "damaged"),
            ("prefix-above-limit", "a prefix of 3 MiB + 1 bytes, in two ranges", [Range(A_TXT, 0, 1), Range(A_TXT, 1, MAX_PREFIX)], "limit"),
            ("length-2-53", "a range of 2^53-1 bytes", [Range(A_TXT, 0, MAX_INTEGER)], "limit"),
            ("beyond", "a range that ends 1 byte behind its content", [Range(A_TXT, 1, size)], "damaged"),
            ("behind", "a range that begins where its content ends", [Range(A_TXT, size, 1)], "damaged"),
            ("offset-2-53", "an offset of 2^53-1, and an end of 2^53", [Range(A_TXT, MAX_INTEGER, 1)], "damaged"),
            ("offset-2-32", "an offset of 2^32: 0 in 32 bits", [Range(A_TXT, 1 << 32, size)], "damaged"),
            ("offsets-overflow", "1024 ranges whose ends come to 2^63", [Range(A_TXT, i * (1 << 53) + MAX_INTEGER, 1) for i in range(1024)], "damaged"),
            ("contents-overflow", "1024 ranges whose content numbers come to nearly 2^63", [Range((i + 1) * MAX_INTEGER, 0, 1) for i in range(1024)], "damaged"),
            ("content-2-32", "content 2^32: 0 in 32 bits", [Range(1 << 32, 0, size)], "damaged"),
            ("of-directory", "a range of a directory, which has no bytes", [Range(A_TXT, 0, size), Range(D_DIRECTORY, 0, 1)], "damaged"),
            ("of-empty-file", "a range of an empty file", [Range(A_TXT, 0, size), Range(C_BIN, 0, 1)], "damaged"),
            ("of-list-beyond", "a range behind the list of the base", [Range(OLD_LIST, 0, 100)], "damaged"),
            ("content-beyond", "a range of content R + 1", [Range(A_TXT, 0, size), Range(OLD_LIST + 1, 0, 1)], "damaged"),
            ("other", "another prefix of the right length: the content is not the target's", [Range(A_TXT, 1, size - 1), Range(RUN, 0, 1)], "damaged")):
        yield hostile_delta("range-" + name, comment, expect=expect, fields=with_ranges(*ranges))
    yield hostile_delta("range-list-window", "a range outside its content in the window of the list", fields=with_window(0, ranges=[Range(OLD_LIST, 1, 50)]))
    yield hostile_delta("range-list-of-second", "content R is the list of the first base; that of the second is none", over=[OLD_TREE, ENGINE],
                        fields=with_ranges(Range(A_TXT, 0, size), Range(8, 0, 5)))
    yield hostile_delta("range-empty-base-list", "a range of the empty list of an empty base", over=[()], fields=with_ranges(Range(0, 0, 1)))


def hostile_delta_bases():
    """§13.7, step 3."""
    old, engine = base_pack(OLD_TREE), base_pack(ENGINE)
    other = base_pack([*OLD_TREE[:4], file("run", b"#!/bin/zsh", True)])
    for name, comment, over, given in (
            ("wrong", "the base at hand is another tree with the same paths and sizes", [OLD_TREE], [other]),
            ("executable", "the base at hand has another executable flag", [OLD_TREE], [base_pack([*OLD_TREE[:4], file("run", b"#!/bin/sh\n")])]),
            ("swapped", "two bases in the other order", [OLD_TREE, ENGINE], [engine, old]),
            ("missing", "one of two bases is missing", [OLD_TREE, ENGINE], [old]),
            ("more", "one base more than the delta has", [OLD_TREE], [old, engine]),
            ("target", "the base at hand is the target", [OLD_TREE], [base_pack(NEW_TREE)])):
        yield hostile_delta("base-" + name, comment, expect="wrong-base", over=over, given=given)
    damaged = list(old)
    damaged[0] = flip(old[0], 300)
    yield hostile_delta("base-damaged", "a segment of the base does not open: the base's error", given=[tuple(damaged)])
    yield hostile_delta("base-truncated", "the base is cut off: the base's error", expect="truncated", given=[(old[0][:150], 0)])
    builder, records = build_tree([*OLD_TREE[:4], file("run", b"#!/bin/zsh", True)])
    payload = make_payload(builder.finish(), records, codec=prefix_frame, fields=with_fields(root=FileTree(OLD_TREE).root))
    yield hostile_delta("base-root-stated", "the head of the base states the content root that the delta names, but another follows from its records; "
                        "the target does not have the file that differs", without("run"), given=[(pack_of(payload), 0)])
    between, _ = delta_payload([FileTree(OLD_TREE)], NEW_TREE)
    wrong = [other, (pack_of(between, kind=2), 1)]
    yield hostile_delta("base-delta-over-other", "the base is a delta, and not over its own base: the base's error", expect="wrong-base", over=[NEW_TREE], given=wrong)
    between, _ = delta_payload([FileTree(OLD_TREE)], [*NEW_TREE, file("m", b"other")], fields=with_fields(target=FileTree([*NEW_TREE, file("m", b"named")]).root))
    yield hostile_delta("base-delta-root-stated", "the base is a delta whose head states the content root that this delta names, but another follows; the target "
                        "does not have the file that differs", over=[(*NEW_TREE, file("m", b"named"))], given=[old, (pack_of(between, kind=2), 1)])
    forged = replaced(b"a.txt", digest=sha256(b"other"))
    builder, records = build_tree(list(OLD_TREE))
    payload = make_payload(builder.finish(), forged(records), codec=prefix_frame)
    tree = FileTree(OLD_TREE)
    tree.records = forged(tree.records)
    tree.root = content_root(tree.records)
    made, _ = delta_payload([tree], moved_to("a.txt", "z.txt"), plan=lambda plan: {"moved": [(4, A_TXT)], "new": [], "repeated": []},
                            fields=with_fields(target=content_root(sorted(r._replace(path=b"z.txt") if r.path == b"a.txt" else r for r in tree.records))))
    yield DeltaVector("base-digest", "damaged", "a content of the base has another SHA-256 than its index says; the content roots of base and target "
                      "hold the wrong one", AK, [(pack_of(payload), 0)], pack_of(made, kind=2), None)


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
    yield hostile_delta("list-directories-65537", "65 537 directories, each file under 63 of its own", many_directories(65536), "limit", over=[()],
                        codec=lambda content, prefix: library_frame(content, prefix, 19))


def hostile_delta_places():
    """§13.5; §13.7, step 4."""
    added = [*OLD_TREE, file("m", b"new")]  # record 3; noise.bin is 4, run 5
    ten = [*OLD_TREE, file("m", b"0123456789"), file("n", b"0123456789")]  # records 3 and 4, of the size of run
    renamed = moved_to("a.txt", "z.txt")  # record 4
    for name, comment, items, plan in (
            ("moved-beyond", "moved from content R + 1", renamed, {"moved": [(4, OLD_LIST + 1)]}),
            ("moved-2-32", "moved from content 2^32: 0 in 32 bits", renamed, {"moved": [(4, 1 << 32)]}),
            ("moved-negative", "moved from content -1", renamed, {"moved": [(4, -1)]}),
            ("moved-negative-later", "the second record moved from content -1", [*renamed, file("zz", OLD_TEXT)], {"moved": [(4, 0), (5, -1)]}),
            ("moved-size", "moved from a content of another size", renamed, {"moved": [(4, NOISE_BIN)]}),
            ("moved-directory-content", "moved from a directory", renamed, {"moved": [(4, D_DIRECTORY)]}),
            ("moved-record-beyond", "moved to a record that is not there", renamed, {"moved": [(4, 0), (5, 0)]}),
            ("moved-record-2-32", "moved to record 2^32 + 4", renamed, {"moved": [((1 << 32) + 4, 0)]}),
            ("moved-empty", "moved to an empty file, from an empty file", OLD_TREE, {"moved": [(1, C_BIN)]}),
            ("moved-directory", "moved to a directory, from a directory", OLD_TREE, {"moved": [(2, D_DIRECTORY)]}),
            ("moved-records-overflow", "moved records whose numbers come to 2^64", renamed, {"moved": [((1 << 53) * (i + 1) - 1, 0) for i in range(2049)]}),
            ("moved-contents-overflow", "moved records whose contents come to 2^64", renamed, {"moved": [(i, (1 << 52) * (i + 1) - 1) for i in range(4100)]}),
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
    yield hostile_delta("place-moved-list", "moved from the list of the base, which has the record's size",
                        [*OLD_TREE, file("z", list_bytes(FileTree(OLD_TREE).records))], plan=lambda _: {"moved": [(5, OLD_LIST)], "new": [], "repeated": []})
    yield hostile_delta("place-same-size", "a record of the same path and size as the base's, and of another content, has no place of its own",
                        [file("a.txt", OLD_TEXT.upper()), *OLD_TREE[1:]], plan=lambda _: {"moved": [], "new": [], "repeated": []})
    yield hostile_delta("stream-longer", "the windows hold a byte more than the stream", stream=lambda s: s + b"!")
    yield hostile_delta("stream-shorter", "the windows hold a byte less than the stream", stream=lambda s: s[:-1])
    yield hostile_delta("stream-only-list", "no window holds the new content", stream=lambda s: s[:-len(NEW_TEXT)])
    yield hostile_delta("stream-window-more", "a window behind the stream", sizes=[50, len(NEW_TEXT), 5], stream=lambda s: s + b"extra")


def hostile_delta_frames():
    """§4.4, §13.6: the frame of a window, which has n bytes."""
    n = len(NEW_TEXT)
    text = parts_frame([NEW_TEXT], n)

    def window(name, comment, frame, **changes):
        return hostile_delta("frame-" + name, comment, windows=lambda w: [w[0], [frame, *w[1][1:]]], **changes)

    for name, comment, frame in (
            ("content-size-more", "a frame that states a byte more than the head", parts_frame([NEW_TEXT, b"!"], n + 1)),
            ("content-size-less", "a frame that states a byte less than the head", parts_frame([NEW_TEXT[:-1]], n - 1)),
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
                        windows=lambda w: [w[0], [parts_frame([b"ab", Match(2, 1022), Match(2, 1024)], 2048, frame_header(2048, window=0)), *w[1][1:]]])
    content = noise(1000, b"c") + noise(1000, b"d") + noise(20)
    yield hostile_delta("frame-match-beyond-window", "a match with the prefix that is further back than the window of 1024 bytes", [*OLD_TREE, file("m", content)],
                        ranges={1: [Range(NOISE_BIN, 0, 100)]}, windows=lambda w: [
                            w[0], [parts_frame([content[:1000], content[1000:2000], Match(2100, 20)], 2020, frame_header(2020, window=0)), *w[1][1:]]])
    yield window("match-without-prefix", "a match that begins before a content without prefix", parts_frame([Match(1, 100), NEW_TEXT[100:]], n),
                 fields=with_ranges())
    yield hostile_delta("frame-list-bomb", "the window of the list states its size and expands to more",
                        windows=lambda w: [[bomb_frame(w[0][1], 12), *w[0][1:]], w[1]])
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
    for name, comment, expect, given, changes in (
            ("fields-before-base", "131073 windows, and another base", "limit", [engine],
             {"head": lambda h: h[:66] + varint(MAX_WINDOWS + 1)}),
            ("bytes-after-before-base", "bytes after the fields, and another base", "damaged", [engine], {"head": lambda h: h + b"\0"}),
            ("sum-before-base", "compressed lengths that do not add up, and another base", "damaged", [engine], {"fields": with_window(1, length=20)}),
            ("list-end-before-base", "no window ends where the list does, and another base", "damaged", [engine], {"fields": with_fields(list=lambda n: n + 1)}),
            ("number-before-base", "an offset of 2^53-1 and an end of 2^53, and another base", "damaged", [engine],
             {"fields": with_ranges(Range(A_TXT, MAX_INTEGER, 1))}),
            ("negative-before-base", "moved from content -1, and another base", "damaged", [engine], {"fields": with_fields(moved=[(0, -1)])}),
            ("repeated-before-base", "a new content that is not there is repeated, and another base", "damaged", [engine],
             {"fields": with_fields(repeated=[(4, 1)])}),
            ("base-before-twice", "a record is new twice, and another base", "wrong-base", [engine], {"fields": with_fields(new=[0, 0])}),
            ("base-before-range", "a range outside its content, and another base", "wrong-base", [engine], {"fields": with_ranges(Range(A_TXT, 1, 5000))}),
            ("base-before-list", "record type 2, and another base", "wrong-base", [engine], {"list": lambda l: l + b"z\0\2\0"}),
            ("base-before-place", "moved to a record that is not there, and another base", "wrong-base", [engine], {"fields": with_fields(moved=[(9, 0)])}),
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
            ("list-before-place", "record type 2, and moved to a record that is not there", "unsupported", [old],
             {"list": lambda l: l + b"z\0\2\0", "fields": with_fields(moved=[(9, 0)])}),
            ("list-before-range", "record type 2, and a range outside its content in a window of contents", "unsupported", [old],
             {"list": lambda l: l + b"z\0\2\0", "fields": with_ranges(Range(A_TXT, 1, 5000))}),
            ("bound-before-next-window", "a first window above its bound, a second of 1 MiB + 1 bytes", "damaged", [old],
             {"fields": with_fields(windows=lambda w: [w[0]._replace(length=5000), w[1]._replace(output=MAX_OUTPUT + 1)])}),
            ("prefix-before-number", "a range at offset 1 of 2^53-1 bytes: the length exceeds the prefix before an end is computed", "limit", [old],
             {"fields": with_ranges(Range(A_TXT, 1, MAX_INTEGER))}),
            ("prefix-before-windows", "a prefix of 3 MiB + 1 bytes, and the head ends after it", "limit", [old],
             {"head": lambda _: b"\1" + bytes(64) + b"\x32\1" + varint(20) + varint(50) + b"\1" + range_bytes([Range(0, 0, MAX_PREFIX + 1)])})):
        yield hostile_delta("order-" + name, comment, expect=expect, given=given, **changes)
