"""The payload of a full pack, written and read (FORMAT.md §4.1, §4.9)."""

import bisect
import hashlib
import struct

from vectors.format.errors import require
from vectors.format.frames import check_frame, cut, decompress, pieces, run_frame
from vectors.format.index import HEAD_FIELDS, INDEX_MAGIC, directory_bytes, groups, head_bytes, read_index, read_seek_table, seek_table, skippable
from vectors.format.records import DIRECTORY, columns, content_root, require_apart, stored_digests
from vectors.format.tar import build_tree, reference_order, verify_tar


def make_payload(tar, records, *, sizes=None, codec=run_frame, **changes):
    """§4.1: the payload of a tar with these records. Each step may be changed by a function of the
    same name in `changes`, which gets the regular value and returns the one to use:

    data      list of (frame, decompressed size)     contents  columns of each block
    blocks    list of blocks                         directory directory, decompressed
    dirframe  directory, compressed                  fields    dict of the head's fields
    head      content of the head frame              extra     list of other skippable frames
    index     [blocks frame, head frame]             entries   list of seek table entries
    table     the seek table"""

    def step(name, value):
        change = changes.pop(name, None)
        return value if change is None else change(value)

    data = step("data", [(codec(piece), len(piece)) for piece in pieces(tar, sizes or [len(tar)])])
    parts = groups(records)
    contents = step("contents", [columns(part) for part in parts])
    blocks = step("blocks", [codec(content) + stored_digests(part) for part, content in zip(parts, contents)])
    directory = step("directory", directory_bytes(blocks, [part[0].path for part in parts]))
    dirframe = step("dirframe", codec(directory) if directory else b"")
    fields = step("fields", dict(zip(HEAD_FIELDS, (
        b"PIX1", len(records), max((size for _, size in data), default=0), 0,
        sum(r.size for r in records), sum(size for _, size in data), content_root(records)))))
    head = step("head", head_bytes(fields) + dirframe)
    extra = step("extra", [])
    index = step("index", [skippable(INDEX_MAGIC, b"".join(blocks)), skippable(INDEX_MAGIC, head)])
    entries = step("entries", [(len(frame), size) for frame, size in data]
                   + [(len(frame), 0) for frame in extra + index])
    table = step("table", seek_table(entries))
    assert not changes, changes
    return b"".join(frame for frame, _ in data) + b"".join(extra + index) + table


def tree_payload(items, *, F=1 << 20, order=reference_order, links=True, **changes):
    """§4: the payload of a tree, cut by the rule of §4.3 unless `sizes` is given."""
    builder, records = build_tree(items, order, links)
    tar = builder.finish()
    changes.setdefault("sizes", cut(builder.lengths, F))
    return make_payload(tar, records, **changes), records


class Tar:
    """The tar as the data frames hold it; of what was decompressed, the last frames are kept.
    `decoded` counts the bytes of frames that were decompressed."""

    def __init__(self, payload, seek, kept=1):
        self.payload, self.places, self.length = payload, seek.data, seek.tar_length
        self.starts, at = [], 0
        for place in seek.data:
            self.starts.append(at)
            at += place.size
        self.contents, self.kept, self.decoded = {}, kept, 0

    def frame(self, index):
        if index not in self.contents:
            place = self.places[index]
            frame = self.payload[place.start:place.start + place.length]
            while len(self.contents) >= self.kept:
                del self.contents[next(iter(self.contents))]
            self.contents[index] = decompress(frame, check_frame(frame, exactly=place.size))
            self.decoded += place.size
        return self.contents[index]

    def chunks(self, offset, length):
        """The bytes offset … offset+length-1, piece by piece."""
        require(offset + length <= self.length, "the tar ends early")
        index = bisect.bisect_right(self.starts, offset) - 1
        while length:
            inner = offset - self.starts[index]
            chunk = self.frame(index)[inner:inner + length]
            yield chunk
            offset, length, index = offset + len(chunk), length - len(chunk), index + 1

    def read(self, offset, length):
        return b"".join(self.chunks(offset, length))


def check_contents(tar, records, sink=None):
    """§4.8, §4.9 step 6: the SHA-256 of every file; `sink(record, chunks)` may take the content."""
    for record in sorted(records, key=lambda r: r.offset):
        if record.type == DIRECTORY:
            if sink:
                sink(record, ())
            continue
        digest = hashlib.sha256()

        def passing():
            for chunk in tar.chunks(record.offset, record.size) if record.size else ():
                digest.update(chunk)
                yield chunk

        if sink:
            sink(record, passing())
        else:
            for _ in passing():
                pass
        require(digest.digest() == record.digest, f"the content of {record.path!r} has another SHA-256")


def verify_extra(payload, seek):
    """§4.5: the other skippable frames."""
    for place in seek.extra:
        magic, length = struct.unpack_from("<II", payload, place.start)
        require(0x184D2A50 <= magic <= 0x184D2A5C, f"a skippable frame with magic {magic:#x}")
        require(length + 8 == place.length, "a skippable frame that does not fill its place")


def read_payload(payload, minor, verify=False, sink=None):
    """§4.9: checks a payload, returns its records."""
    seek = read_seek_table(payload)
    head, records = read_index(payload, seek, minor)
    require_apart(records)
    tar = Tar(payload, seek)
    check_contents(tar, records, sink)
    require(content_root(records) == head.root, "the content root differs")
    if verify:
        verify_extra(payload, seek)
        verify_tar(tar, records)
    return records
