"""The records of an index (FORMAT.md §4.6, §4.8)."""

import hashlib
from collections import namedtuple

from vectors.format.errors import require
from vectors.format.paths import check_path
from vectors.format.primitives import label, sha256, u16, u64

FILE, EXECUTABLE, DIRECTORY = 0x00, 0x80, 0x01
Item = namedtuple("Item", "path kind content executable")
Record = namedtuple("Record", "path type size offset digest")


def directory_record(path):
    return Record(path, DIRECTORY, 0, 0, bytes(32))


def file_record(path, content, offset, executable=False):
    return Record(path, EXECUTABLE if executable else FILE, len(content), offset if content else 0,
                  sha256(content))


def planes(numbers):
    """§4.6"""
    columns = [u64(value) for value in numbers]
    return b"".join(bytes(column[i] for column in columns) for i in range(8))


def read_planes(content, at, count):
    return [int.from_bytes(content[at + i:at + 8 * count:count], "little") for i in range(count)]


class Expected:
    """§4.6: e, the place where the content of the next record is expected."""

    def __init__(self):
        self.place = 0

    def passing(self, offset, size):
        self.place = offset + size + -size % 512 + 512
        return offset

    def step(self, record):
        """What a record of size 0 has as an offset is written as it is; that breaks the rule where it is not 0."""
        if not record.size:
            return record.offset
        v = (record.offset - self.place) // 512
        self.passing(record.offset, record.size)
        return 2 * v if v >= 0 else -2 * v - 1

    def offset(self, step, size):
        if not size:
            require(step == 0, "a step without data")
            return 0
        v = -(step + 1) // 2 if step & 1 else step // 2
        return self.passing(self.place + 512 * v, size)


def columns(records):
    """§4.6: what the frame of a block holds."""
    expected = Expected()
    return b"".join(r.path + b"\0" for r in records) + bytes(r.type for r in records) + planes([r.size for r in records]) \
        + planes([expected.step(r) for r in records])


def copied(records, index):
    """§4.6: the earlier record of a block with the same offset, or None."""
    if not records[index].size:
        return None
    return next((r for r in records[:index] if r.size and r.offset == records[index].offset), None)


def stored_digests(records):
    """§4.6: behind the frame of a block."""
    return b"".join(r.digest for index, r in enumerate(records) if r.size and not copied(records, index))


def read_columns(content, first, count, minor, tar_length, order):
    """§4.6: the records of a block, without their digests. `first` is the path that the directory has for it, `order` that of the paths before."""
    paths = content.split(b"\0", count)[:count]
    at = sum(len(path) + 1 for path in paths)
    require(len(paths) == count and at + 17 * count <= len(content), "a block ends inside its records")
    require(minor > 0 or at + 17 * count == len(content), "bytes after the steps under minor 0")
    kinds = content[at:at + count]
    sizes, steps = read_planes(content, at + count, count), read_planes(content, at + 9 * count, count)
    expected, records = Expected(), []
    for path, kind, size, step in zip(paths, kinds, sizes, steps):
        require(kind in (FILE, EXECUTABLE, DIRECTORY), f"record type {kind:#04x}", "unsupported")
        check_path(path)
        require(kind != DIRECTORY or size == 0, "a directory with a size")
        offset = expected.offset(step, size)
        require(not size or 512 <= offset <= offset + size <= tar_length - 1024, "data outside the tar")
        order.require_next(path)
        require(records or path == first, "the first path of a block differs from the directory's")
        records.append(Record(path, kind, size, offset, bytes(32)))
    return records


def with_digests(records, stored):
    """§4.6: the records with their digests; `stored` are those behind the frame."""
    result = []
    for index, record in enumerate(records):
        if record.size == 0:
            digest = bytes(32) if record.type == DIRECTORY else sha256(b"")
        elif copied(result + records[index:], index):
            digest = copied(result + records[index:], index).digest
        else:
            require(len(stored) >= 32, "a block ends inside its digests")
            digest, stored = stored[:32], stored[32:]
        result.append(record._replace(digest=digest))
    require(not stored, "bytes after the digests of a block")
    return result


def content_root(records):
    """§4.8"""
    digest = hashlib.sha256(label("content-root"))
    for r in records:
        digest.update(u16(len(r.path)) + bytes([r.type]) + r.path + u64(r.size) + r.digest)
    return digest.digest()


def require_apart(records):
    """§4.6: two data ranges are the same or apart."""
    ranges = sorted({(r.offset, r.offset + r.size) for r in records if r.size})
    for (_, end), (start, _) in zip(ranges, ranges[1:]):
        require(end <= start, "two data ranges overlap")
