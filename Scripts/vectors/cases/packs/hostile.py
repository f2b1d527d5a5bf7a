"""Packs with a payload that is refused: its paths, records, index, frames and seek table."""

import zstandard

from vectors.cases.faults import bomb_frame, change, flip, only_frame, replaced, set_bits
from vectors.cases.packs.vector import hostile, hostile_tree, with_records
from vectors.cases.samples import KAT_TEXT, SMALL_TREE, directory, file, many_directories, many_files, tar_of
from vectors.format.frames import frame_header, run_frame, zstd_block, zstd_frame
from vectors.format.index import INDEX_MAGIC, seek_table, skippable
from vectors.format.limits import MAX_BLOCK, MAX_CONTENT, MAX_DIRECTORY, MAX_RECORDS
from vectors.format.primitives import number, sha256, u16, u32
from vectors.format.records import columns
from vectors.format.tar import build_tree


def hostile_payloads():
    yield from hostile_paths()
    yield from hostile_records()
    yield from hostile_head()
    yield from hostile_blocks()
    yield from hostile_frames()
    yield from hostile_seek()
    yield from hostile_parts()


def hostile_paths():
    """§5.1: the path stands in the index and in the tar alike."""
    for name, comment, path in (
            ("dotdot-middle", "`a/../b`", b"a/../b"), ("dotdot-leading", "`../x`", b"../x"),
            ("dotdot-last", "`a/..`", b"a/.."), ("dotdot-alone", "`..`", b".."),
            ("absolute", "`/etc/x`", b"/etc/x"), ("drive", "`C:\\x`", b"C:\\x"), ("backslash", "`a\\b`", b"a\\b"),
            ("dot", "`a/./b`", b"a/./b"), ("dot-alone", "`.`", b"."), ("double-slash", "`a//b`", b"a//b"),
            ("trailing-slash", "a file `a/`", b"a/"), ("slash-alone", "`/`", b"/"),
            ("nul", "U+0000", b"a\0b"), ("control", "U+001B", b"a\x1bb"), ("line-end", "U+000A", b"a\nb"),
            ("delete", "U+007F", b"a\x7fb"), ("c1-control", "U+0085", "a\u0085b".encode()),
            ("bidi-override", "U+202E", "a\u202etxt.exe".encode()), ("bidi-isolate", "U+2066", "a\u2066b".encode()),
            ("nfd", "`u` and U+0308 instead of U+00FC", "u\u0308.txt".encode()),
            ("nfc-singleton", "U+212B, which form C replaces by U+00C5", "\u212b".encode()),
            ("utf8-invalid", "the byte ff", b"a\xffb"), ("utf8-cut", "a sequence that is cut off", b"a\xe2\x82"),
            ("utf8-overlong", "an overlong `/`", b"a\xc0\xafb"), ("utf8-surrogate", "U+D800", b"a\xed\xa0\x80b"),
            ("utf8-above", "U+110000", b"a\xf4\x90\x80\x80b"),
            ("reserved", "`.pack/x`", b".pack/x"), ("reserved-file", "`.pack`", b".pack"),
            ("apple-double", "`a/._x`", b"a/._x"), ("apple-double-directory", "`._d/x`", b"._d/x"),
            ("component-256-bytes", "a component of 256 bytes", b"d/" + b"c" * 256)):
        yield hostile_tree("path-" + name, f"a path with a rule of §5.1 broken: {comment}",
                           [file("keep.txt", b"keep"), file(path, b"evil")])
    yield hostile_tree("path-directory-trailing-slash", "the record of a directory ends in `/`",
                       [directory("d")], contents=lambda c: [b"d/\0\1" + bytes(16)],
                       directory=lambda d: d[:4] + u16(2) + b"d/")
    long = b"/".join([b"c" * 63] * 16) + b"/e"
    assert len(long) == 1025
    yield hostile_tree("path-1025-bytes", "a path of 1025 bytes", [file(long, b"evil")], "limit")
    yield hostile_tree("path-65-components", "a path of 65 components", [file("d/" * 64 + "e", b"evil")], "limit")
    yield hostile_tree("path-65-components-directory", "an empty directory with a path of 65 components",
                       [directory("d/" * 64 + "e")], "limit")
    yield hostile_tree("path-509-directories", "300 empty files, each under 509 directories of its own",
                       [file(f"{number:03}/" + "d/" * 508 + "e") for number in range(300)], "limit", codec=zstd_frame)
    # With the root, 1041 · 63 = 65 583 directories.
    yield hostile_tree("directories-65537", "65 537 directories, each file under 63 of its own",
                       many_directories(65536), "limit", codec=zstd_frame)
    yield hostile_tree("path-empty", "an empty path", [file("a", b"")], contents=lambda c: [bytes(18)],
                       directory=lambda d: d[:4] + u16(0))
    yield hostile_tree("path-file-as-directory", "`a` is a file and a leading directory of `a/b`; `a-b` "
                       "stands between them", [file("a", b"1"), file("a-b", b"2"), file("a/b", b"3")])
    yield hostile_tree("path-directory-not-empty", "`a` is a directory record although `a/b` is there",
                       [directory("a"), file("a/b", b"3")])


def hostile_records():
    """§4.6: records that a client refuses."""
    M = 1 << 64
    for name, comment, function, expect in (
            ("type-2", "record type 2", replaced(b"run", type=2), "unsupported"),
            ("type-0x81", "record type 0x81", replaced(b"d", type=0x81), "unsupported"),
            ("directory-size", "a directory with a size", replaced(b"d", size=5, offset=512), "damaged"),
            ("directory-offset", "a directory with an offset", replaced(b"d", offset=512), "damaged"),
            ("empty-file-offset", "an empty file with an offset", replaced(b"b/c.bin", offset=512), "damaged"),
            ("offset-0", "an offset of 0 with data", replaced(b"a.txt", offset=0), "damaged"),
            ("offset-negative", "an offset of -512", replaced(b"a.txt", offset=-512), "damaged"),
            ("offset-2-64", "an offset of 2^64 + 512", replaced(b"a.txt", offset=M + 512), "damaged"),
            ("offset-in-closing", "data in the closing 1024 bytes", replaced(b"a.txt", offset=3072), "damaged"),
            ("offset-beyond", "data beyond the tar", replaced(b"a.txt", offset=1 << 20), "damaged"),
            ("offset-overflow", "offset + size is 2^64 + 512", replaced(b"a.txt", offset=M - 512, size=1024), "damaged"),
            ("digest-wrong", "a wrong digest, which the content root holds as well",
             replaced(b"a.txt", digest=sha256(b"other")), "damaged")):
        yield with_records(function, name="record-" + name, comment=comment, expect=expect)
    yield with_records(replaced(b"a.txt", digest=sha256(b"other")), [file("a.txt", bytes(4096))], "record-digest-wrong-frames",
                       "a wrong digest of a file in three frames, which the content root holds as well", sizes=[1024, 2048, 2560])
    yield with_records(replaced(b"a.txt", size=1 << 63), name="record-size-2-63", comment="a size of 2^63; the "
                       "content size of the head is small", fields=lambda f: dict(f, content=7))
    yield with_records(replaced(b"a.txt", size=1 << 63), name="record-size-2-63-stated", expect="limit",
                       comment="a size of 2^63, and the head says so")
    yield with_records(lambda records: [r._replace(size=M // 2 + 4 if r.path != b"run" else M // 2 - 1)
                                        if r.size else r for r in records],
                       name="record-sizes-overflow", comment="sizes whose sum is 3 modulo 2^64",
                       fields=lambda f: dict(f, content=3))
    yield with_records(lambda records: [records[1], records[0]] + records[2:], name="record-order",
                       comment="two records are swapped")
    yield with_records(lambda records: [records[0]] + records, name="record-duplicate",
                       comment="a path twice in the index")
    for name, comment, function in (
            ("cut", "a block ends inside its steps", lambda c: c[:-10]),
            ("paths-fewer", "a block with three paths for four records", lambda c: c[6:]),
            ("paths-alone", "a block with nothing but paths", lambda c: c[:-4 * 17]),
            ("paths-without-end", "a block without any 00", lambda c: c.replace(b"\0", b"x")),
            ("step-largest", "steps of 2^64-1", lambda c: c[:-32] + b"\xff" * 32)):
        yield hostile_tree("record-" + name, comment, contents=lambda c, function=function: [function(c[0])])


def hostile_head():
    """§4.6, §4.9 steps 3 and 4: head and directory."""
    def fields(**values):
        return lambda f: dict(f, **values)

    for name, comment, values, expect in (
            ("magic", "`PIX2`", {"magic": b"PIX2"}, "damaged"), ("reserved", "the zero field", {"zero": 1}, "damaged"),
            ("records-fewer", "3 records, the block holds 4", {"records": 3}, "damaged"),
            ("records-more", "5 records, the block holds 4", {"records": 5}, "damaged"),
            ("records-200", "200 records in one block", {"records": 200}, "damaged"),
            ("records-0", "no records, and a directory", {"records": 0}, "damaged"),
            ("records-above-limit", "2^20+1 records", {"records": (1 << 20) + 1}, "limit"),
            ("records-2-32", "2^32-1 records", {"records": (1 << 32) - 1}, "limit"),
            ("largest-smaller", "the largest frame is too small", {"largest": 512}, "damaged"),
            ("largest-bigger", "the largest frame is too big", {"largest": 8 << 20}, "damaged"),
            ("content-size-smaller", "content size 6 instead of 7", {"content": 6}, "damaged"),
            ("content-size-bigger", "content size 8 instead of 7", {"content": 8}, "damaged"),
            ("content-size-above-limit", "content size above 64 GiB", {"content": MAX_CONTENT + 1}, "limit"),
            ("tar-length", "the tar length is 512 too long", {"tar": 4608}, "damaged"),
            ("content-root", "the content root", {"root": bytes(32)}, "damaged")):
        yield hostile_tree("head-" + name, f"in the head: {comment}", expect=expect, fields=fields(**values))
    yield hostile_tree("head-short", "a head of 63 bytes", [], head=lambda head: head[:63])
    yield hostile_tree("head-extra-bytes", "bytes after the directory's frame under minor 0",
                       head=lambda head: head + b"later")
    yield hostile_tree("head-extra-bytes-empty", "bytes after the fields of a head without records under minor 0",
                       [], head=lambda head: head + b"later")
    yield hostile_tree("directory-extra-bytes", "bytes after the last line of the directory",
                       directory=lambda d: d + b"more")
    yield hostile_tree("directory-extra-bytes-minor-1", "bytes after the last line of the directory are refused "
                       "under every minor", directory=lambda d: d + b"more", pack={"minor": 1})
    yield hostile_tree("directory-cut", "the directory ends inside a path", directory=lambda d: d[:-1])
    yield hostile_tree("directory-first-path", "the first path in the directory is not that of the block",
                       directory=lambda d: d[:-1] + b"u")
    yield hostile_tree("directory-block-length", "the length of the only block is 1 too small",
                       directory=lambda d: u32(number(d, 0, 4) - 1) + d[4:])
    yield hostile_tree("directory-above-limit", "a directory of 2 MiB + 1 bytes", expect="limit",
                       dirframe=lambda frame: run_frame(bytes(MAX_DIRECTORY + 1)))
    yield hostile_tree("directory-missing", "no directory although there are records", dirframe=lambda frame: b"")


def hostile_blocks():
    """§4.6, §4.9 step 5: blocks."""
    def lines(change_lengths):
        def function(directory):
            size = 6 + 4
            parts = [directory[at:at + size] for at in range(0, len(directory), size)]
            lengths = change_lengths([number(part, 0, 4) for part in parts])
            return b"".join(u32(length) + part[4:] for length, part in zip(lengths, parts))
        return function

    many = many_files()
    yield hostile_tree("blocks-length-lies", "the lengths of two blocks are shifted by one", many,
                       directory=lines(lambda n: [n[0] + 1, n[1] - 1, n[2]]), codec=zstd_frame)
    yield hostile_tree("blocks-length-2-32", "the length of a block is 2^32-1", many,
                       directory=lines(lambda n: [0xFFFFFFFF, n[1], n[2]]), codec=zstd_frame)
    yield hostile_tree("blocks-out-of-order", "the first two blocks are swapped, in the directory too", many,
                       blocks=lambda b: [b[1], b[0], b[2]], codec=zstd_frame,
                       directory=lambda d: swap_lines(d))
    yield with_records(lambda records: records[:127] + [records[128], records[127]] + records[129:], many,
                       "blocks-order-across", "the last record of a block and the first of the next are swapped",
                       codec=zstd_frame)
    for name, comment, expect, change in (
            ("order-before-next-type", "the last record of a block and the first of the next are swapped, and one of the block behind has type 2", "damaged",
             lambda r: r[:127] + [r[128], r[127]] + r[129:256] + [r[256]._replace(type=2)] + r[257:]),
            ("type-before-next-order", "a record of the first block has type 2, and those before and behind the next border are swapped", "unsupported",
             lambda r: r[:5] + [r[5]._replace(type=2)] + r[6:255] + [r[256], r[255]] + r[257:])):
        yield with_records(change, many, "blocks-" + name, comment, expect, codec=zstd_frame)
    records = build_tree(many_files(129))[1]
    yield hostile_tree("blocks-split-otherwise", "127 and 2 records instead of 128 and 1", many_files(129),
                       contents=lambda c: [columns(part) for part in (records[:127], records[127:])], codec=zstd_frame,
                       directory=lambda d: d[:-1] + b"7")
    yield hostile_tree("block-extra-bytes", "bytes after the steps of a block under minor 0",
                       contents=lambda c: [c[0] + b"later"])
    for name, comment, function in (
            ("extra", "bytes after the digests of a block, under minor 1 too", lambda b: b + b"later"),
            ("extra-digest", "a digest more than the records need, under minor 1 too", lambda b: b + sha256(b"")),
            ("cut", "a block ends inside its last digest", lambda b: b[:-1]),
            ("missing", "a digest is missing", lambda b: b[:-32]), ("none", "no digests", lambda b: b[:-64])):
        yield hostile_tree("block-digests-" + name, comment, blocks=lambda b, function=function: [function(b[0])], pack={"minor": 1})
    same = [file("a.txt", b"hello"), file("b.txt", b"hello")]
    yield hostile_tree("block-digests-of-copy", "the digest of two records with one offset, twice", same,
                       blocks=lambda b: [b[0] + sha256(b"hello")])
    yield hostile_tree("block-above-limit", "a block of 133377 bytes", expect="limit", pack={"minor": 1},
                       contents=lambda c: [c[0] + bytes(MAX_BLOCK + 1 - len(c[0]))])
    yield hostile_tree("blocks-frame-longer", "bytes after the last block in the blocks frame",
                       index=lambda i: [skippable(INDEX_MAGIC, i[0][8:] + b"more"), i[1]])
    yield hostile_tree("blocks-frame-without-records", "bytes in the blocks frame without records", [],
                       index=lambda i: [skippable(INDEX_MAGIC, b"more"), i[1]])


def swap_lines(directory):
    return directory[10:20] + directory[:10] + directory[20:]


def hostile_frames():
    """§4.4: data frames and frames of the index."""
    tar = tar_of(SMALL_TREE)
    n = len(tar)
    body = run_frame(tar)[len(frame_header(n)):]
    cut_body = run_frame(tar[:-512])[len(frame_header(n - 512)):]
    more_body = run_frame(tar + bytes(512))[len(frame_header(n + 512)):]
    checksummed = zstandard.ZstdCompressor(write_checksum=True).compress(tar)
    for name, comment, frame in (
            ("expands-to-more", "a frame that expands beyond its content size", frame_header(n) + more_body),
            ("expands-to-less", "a frame that expands to less than its content size", frame_header(n) + cut_body),
            ("content-size-differs", "a frame of another size than the seek table says",
             frame_header(n + 512) + more_body),
            ("without-content-size", "a frame without content size", b"\x28\xb5\x2f\xfd\x00\x08" + body),
            ("checksum", "a frame with checksum", checksummed),
            ("dictionary-id", "a frame with dictionary id 1",
             b"\x28\xb5\x2f\xfd" + bytes([frame_header(n)[4] | 1]) + b"\x01" + frame_header(n)[5:] + body),
            ("reserved-bit", "the reserved bit of the descriptor", set_bits(frame_header(n), 4, 8) + body),
            ("window-above-content", "a window of 8192 bytes for 4096", frame_header(n, window=3 << 3) + body),
            ("magic", "a legacy magic", b"\x27" + run_frame(tar)[1:]),
            ("skippable", "a skippable frame in place of a data frame", skippable(0x184D2A50, bytes(64))),
            ("block-type-3", "a block of type 3", frame_header(n) + zstd_block(3, 0, b"", True)),
            ("no-last-block", "no block has the last bit", frame_header(n) + b"".join(
                [zstd_block(0, n // 2, tar[:n // 2], False), zstd_block(0, n // 2, tar[n // 2:], False)])),
            ("block-overrun", "a block that runs past its place", (frame_header(n) + body)[:-1]),
            ("raw-block-above-window", "a raw block of 4096 bytes in a window of 2048", frame_header(n, window=1 << 3)
             + zstd_block(0, n, tar, True)),
            ("empty-blocks", "more bytes than the bound: empty blocks in front", frame_header(n)
             + zstd_block(0, 0, b"", False) * 2000 + body),
            ("hidden-second", "a second frame in the same place", run_frame(tar) + run_frame(b"hidden")),
            ("hidden-skippable", "a skippable frame in the same place", run_frame(tar)
             + skippable(0x184D2A50, b"hidden")),
            ("two-halves", "two frames in one place that add up to the stated size",
             run_frame(tar[:n // 2]) + run_frame(tar[n // 2:])),
            ("bomb", "a frame of 4096 bytes that expands to 128 MiB", bomb_frame(n, 1024))):
        yield hostile_tree("frame-" + name, comment, data=only_frame(frame))
    zeros = tar_of([file("zeros", bytes(4096))])
    yield hostile_tree("frame-run-above-window", "a run of 2048 bytes in a window of 1024", [file("zeros", bytes(4096))],
                       data=only_frame(frame_header(len(zeros), window=0) + zstd_block(0, 512, zeros[:512], False)
                                       + zstd_block(1, 2048, b"\0", False) + 2 * zstd_block(1, 1024, b"\0", False)
                                       + zstd_block(1, 1024, b"\0", True)))
    yield hostile_tree("frame-8-mib-and-1", "a data frame of 8 MiB + 512 bytes",
                       [file("zeros", bytes((8 << 20) - 1024))], "limit", sizes=[(8 << 20) + 512])
    zeros = bytes(64 << 20)
    yield hostile_tree("bomb-many-frames", "64 MiB of zeros, the head states a content size of 5",
                       [file("zeros", zeros)], F=8 << 20, fields=lambda f: dict(f, content=5))
    yield hostile_tree("block-frame-bomb", "the frame of a block expands from 200 bytes to 7.5 MiB",
                       blocks=lambda b: [bomb_frame(200, 60) + b[0][-64:]])
    yield hostile_tree("directory-frame-bomb", "the frame of the directory expands from 200 bytes to 7.5 MiB",
                       dirframe=lambda d: bomb_frame(200, 60))
    yield hostile_tree("directory-frame-checksum", "the frame of the directory has the checksum flag",
                       dirframe=lambda d: set_bits(d, 4, 4) + bytes(4))


def hostile_seek():
    """§4.7, §4.9 steps 1 and 2."""
    def entries(function):
        return lambda e: function([list(entry) for entry in e])

    def moved(index, field_index, delta):
        def function(e):
            e[index][field_index] += delta
            return e
        return entries(function)

    for name, comment, table, expect in (
            ("descriptor", "the checksum flag of the descriptor",
             lambda t: change(t, len(t) - 5, b"\x80"), "damaged"),
            ("footer-magic", "the magic at the end", lambda t: flip(t, len(t) - 1), "damaged"),
            ("magic", "the magic of the skippable frame", lambda t: flip(t, 0), "damaged"),
            ("length", "the length of the skippable frame", lambda t: flip(t, 4), "damaged"),
            ("count-too-large", "131073 entries", lambda t: change(t, len(t) - 9, u32(131073)), "limit"),
            ("count-2-32", "2^32-1 entries", lambda t: change(t, len(t) - 9, u32(0xFFFFFFFF)), "limit"),
            ("count-beyond-payload", "131072 entries in a short payload",
             lambda t: change(t, len(t) - 9, u32(131072)), "damaged"),
            ("count-0", "no entries", lambda t: change(t, len(t) - 9, u32(0)), "damaged"),
            ("missing", "no seek table", lambda t: b"", "damaged"),
            ("bytes-after", "a byte after the seek table", lambda t: t + b"\0", "damaged")):
        yield hostile_tree("seek-" + name, f"seek table: {comment}", expect=expect, table=table)
    for name, comment, function in (
            ("compressed-sum", "the compressed sizes do not add up", moved(0, 0, -1)),
            ("decompressed-sum", "the decompressed sizes are not the tar length", moved(1, 1, -512)),
            ("compressed-size-shifted", "the end of the data frame is shifted into the index",
             lambda e: moved(1, 0, -1)(moved(0, 0, 1)(e))),
            ("compressed-size-huge", "a compressed size of 2^32-1",
             entries(lambda e: [[0xFFFFFFFF, e[0][1]]] + e[1:])),
            ("index-decompressed-size", "an index frame with a decompressed size", moved(2, 1, 64)),
            ("empty-data-frame", "an entry of decompressed size 0 before the data frame",
             entries(lambda e: [[8, 0], [e[0][0] - 8, e[0][1]]] + e[1:]))):
        sizes = [2048, 2048] if name == "decompressed-sum" else None
        yield hostile_tree("seek-" + name, f"seek table: {comment}", entries=function, sizes=sizes)
    yield hostile_tree("seek-too-large-in-no-bytes", "seek table: a data frame of no bytes, of more than 8 MiB", expect="limit",
                       entries=lambda value: [(0, (8 << 20) + 512), *value])
    yield hostile_tree("index-directory-window-before-limit", "a directory of 3 MiB, with a window of 4 MiB",
                       dirframe=lambda frame: frame_header(3 << 20, window=12 << 3) + zstd_block(1, 128 << 10, b"a", True))
    yield hostile("payload-empty", "an empty payload", b"")
    yield hostile("payload-16-bytes", "a payload of 16 bytes", seek_table([])[-16:])
    yield hostile("payload-16-bytes-of-many", "a payload of 16 bytes, which says 2^29 entries", seek_table([], count=1 << 29)[-16:])
    yield hostile_tree("index-of-many-without-blocks", "no blocks frame, and more records than the limit: the head comes first", expect="limit",
                       fields=lambda fields: {**fields, "records": MAX_RECORDS + 1}, index=lambda frames: [skippable(0x184D2A50, frames[0][8:]), frames[1]])
    yield hostile("payload-opaque", "the payload of §8.1", KAT_TEXT)


def hostile_parts():
    """§4.1, §4.5: the frames of the payload."""
    tar = tar_of(SMALL_TREE)
    half = len(tar) // 2
    halves = [(run_frame(tar[:half]), half), (run_frame(tar[half:]), len(tar) - half)]

    def data_after_skippable(kind):
        frame = skippable(0x184D2A50, b"between")
        return {"data": lambda data: [halves[0], (frame, 0), halves[1]],
                "fields": lambda f: dict(f, largest=half)}[kind]

    yield hostile_tree("parts-data-after-skippable", "a data frame after a skippable frame",
                       data=data_after_skippable("data"), fields=data_after_skippable("fields"))
    yield hostile_tree("parts-no-index", "no index", index=lambda index: [])
    yield hostile_tree("parts-one-index-frame", "only the head", index=lambda index: index[1:])
    yield hostile_tree("parts-index-swapped", "the head before the blocks", index=lambda index: index[::-1])
    yield hostile_tree("parts-index-magic", "a blocks frame with magic 0x184D2A5C",
                       index=lambda index: [u32(0x184D2A5C) + index[0][4:], index[1]])
    yield hostile_tree("parts-head-magic", "a head frame with magic 0x184D2A5C",
                       index=lambda index: [index[0], u32(0x184D2A5C) + index[1][4:]])
    yield hostile_tree("parts-index-length", "the length field of the blocks frame is 1 too small",
                       index=lambda index: [change(index[0], 4, u32(len(index[0]) - 9)), index[1]])
    yield hostile_tree("parts-head-length", "the length field of the head frame is 1 too large",
                       index=lambda index: [index[0], change(index[1], 4, u32(len(index[1]) - 7))])
    yield hostile_tree("parts-no-data", "no data frame", [], data=lambda data: [],
                       fields=lambda f: dict(f, largest=0, tar=0))
    for name, comment, extra, client in (
            ("magic-5d", "another skippable frame with the magic of the index", skippable(INDEX_MAGIC, b"x"), "ok"),
            ("magic-5f", "another skippable frame with magic 0x184D2A5F", skippable(0x184D2A5F, b"x"), "ok"),
            ("magic-zstd", "a zstd frame in place of a skippable frame", run_frame(b"hidden"), "ok"),
            ("length", "another skippable frame whose length is 1 too small",
             skippable(0x184D2A50, b"xyz", 2), "ok"),
            ("short", "another skippable frame of 7 bytes", skippable(0x184D2A50, b"")[:7], None)):
        yield hostile_tree("extra-" + name, comment, extra=lambda e, extra=extra: [extra], client=client)
