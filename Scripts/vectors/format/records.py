"""The records of an index (FORMAT.md §4.6, §4.8)."""

import hashlib
from collections import namedtuple

from vectors.format.errors import require
from vectors.format.limits import MAX_PATH
from vectors.format.primitives import label, number, sha256, u16, u64

FILE, EXECUTABLE, DIRECTORY = 0x00, 0x80, 0x01
Item = namedtuple("Item", "path kind content executable")
Record = namedtuple("Record", "path type size offset digest")


def directory_record(path):
    return Record(path, DIRECTORY, 0, 0, bytes(32))


def file_record(path, content, offset, executable=False):
    return Record(path, EXECUTABLE if executable else FILE, len(content), offset if content else 0,
                  sha256(content))


def record_bytes(record):
    """§4.6"""
    return u16(len(record.path)) + bytes([record.type]) + u64(record.size) + u64(record.offset) + record.path


def read_record(content, at, digest, tar_length):
    """§4.6: one record and where it ends."""
    require(at + 19 <= len(content), "a block ends inside a record")
    length, kind = number(content, at, 2), content[at + 2]
    size, offset = number(content, at + 3, 8), number(content, at + 11, 8)
    require(kind in (FILE, EXECUTABLE, DIRECTORY), f"record type {kind:#04x}", "unsupported")
    require(length >= 1, "an empty path")
    require(length <= MAX_PATH, "a path above 1024 bytes", "limit")
    require(at + 19 + length <= len(content), "a block ends inside a path")
    path = content[at + 19:at + 19 + length]
    require(kind != DIRECTORY or size == 0, "a directory with a size")
    require(kind != DIRECTORY or digest == bytes(32), "a directory with a digest")
    if size == 0:
        require(offset == 0, "an offset without data")
    else:
        require(offset >= 512 and offset % 512 == 0, f"offset {offset}")
        require(offset + size <= tar_length - 1024, "data outside the tar")
    return Record(path, kind, size, offset, digest), at + 19 + length


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
