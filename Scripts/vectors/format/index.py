"""The index and the seek table, written and read (FORMAT.md §4.5–4.9)."""

import struct
from collections import namedtuple

from vectors.format.errors import require
from vectors.format.frames import check_frame, decompress
from vectors.format.limits import MAX_BLOCK, MAX_CONTENT, MAX_DIRECTORY, MAX_ENTRIES, MAX_FRAME, MAX_RECORDS
from vectors.format.paths import PathOrder, check_directories
from vectors.format.primitives import number, u16, u32, u64
from vectors.format.records import DIRECTORY, read_columns, with_digests

INDEX_MAGIC, SEEK_MAGIC, SEEK_FOOTER = 0x184D2A5D, 0x184D2A5E, 0x8F92EAB1


def skippable(magic, content, length=None):
    """§4.5"""
    return u32(magic) + u32(len(content) if length is None else length) + content


def groups(records):
    """§4.6: record r is in block r div 128."""
    return [records[at:at + 128] for at in range(0, len(records), 128)]


def directory_bytes(blocks, first_paths):
    """§4.6"""
    return b"".join(u32(len(block)) + u16(len(path)) + path for block, path in zip(blocks, first_paths))


HEAD_FIELDS = ("magic", "records", "largest", "zero", "content", "tar", "root")


def head_bytes(f):
    return f["magic"] + u32(f["records"]) + u32(f["largest"]) + u32(f["zero"]) + u64(f["content"]) \
        + u64(f["tar"]) + f["root"]


def seek_table(entries, count=None, descriptor=0, magic=SEEK_FOOTER):
    """§4.7"""
    content = b"".join(u32(c) + u32(d) for c, d in entries) \
        + u32(len(entries) if count is None else count) + bytes([descriptor]) + u32(magic)
    return skippable(SEEK_MAGIC, content)


Seek = namedtuple("Seek", "data extra blocks head tar_length")
Place = namedtuple("Place", "start length size")


def read_seek_table(payload):
    """§4.9 steps 1 and 2; places of the frames."""
    require(len(payload) >= 17, "a payload shorter than a seek table")
    require(payload[-4:] == u32(SEEK_FOOTER) and payload[-5] == 0, "no seek table at the end")
    E = number(payload, len(payload) - 9, 4)
    require(E <= MAX_ENTRIES, f"{E} seek table entries", "limit")
    start = len(payload) - (17 + 8 * E)
    require(start >= 0, "a seek table longer than the payload")
    require(payload[start:start + 8] == u32(SEEK_MAGIC) + u32(9 + 8 * E), "header of the seek table")
    places, at = [], 0
    for i in range(E):
        length, size = struct.unpack_from("<II", payload, start + 8 + 8 * i)
        places.append(Place(at, length, size))
        at += length
    require(at == start, "the compressed sizes do not add up")
    data = [p for p in places if p.size]
    other = places[len(data):]
    require(all(p.size for p in places[:len(data)]), "a data frame after a skippable frame")
    require(len(data) >= 1, "no data frame")
    require(len(other) >= 2 and all(p.length >= 8 for p in other), "no index")
    tar_length = sum(p.size for p in data)
    require(tar_length >= 1024 and tar_length % 512 == 0, "the frames hold no tar")
    require(all(p.size <= MAX_FRAME for p in data), "a data frame above 8 MiB", "limit")
    return Seek(data, other[:-2], other[-2], other[-1], tar_length)


def index_content(payload, place):
    """§4.5, §4.6: the content of one of the two index frames."""
    frame = payload[place.start:place.start + place.length]
    require(frame[:8] == u32(INDEX_MAGIC) + u32(place.length - 8), "header of an index frame")
    return frame[8:]


Head = namedtuple("Head", "records content root rest")


def read_head(payload, seek):
    """§4.9 step 3"""
    head = index_content(payload, seek.head)
    require(len(head) >= 64 and head[:4] == b"PIX1", "no index head")
    require(number(head, 12, 4) == 0, "a reserved field of the head is not zero")
    require(number(head, 8, 4) == max(p.size for p in seek.data), "the largest frame differs")
    require(number(head, 24, 8) == seek.tar_length, "the tar length differs")
    records, content = number(head, 4, 4), number(head, 16, 8)
    require(records <= MAX_RECORDS, f"{records} records", "limit")
    require(content <= MAX_CONTENT, f"content size {content}", "limit")
    return Head(records, content, head[32:64], head[64:])


def read_directory(head, blocks, minor):
    """§4.9 step 4: [(block, first path)]"""
    count, lines = -(-head.records // 128), []
    rest = head.rest
    if count:
        info = check_frame(rest, limit=MAX_DIRECTORY, what="an index directory", open_end=True)
        directory, rest = decompress(rest, info), rest[info.length:]
    else:
        directory = b""
    require(minor > 0 or not rest, "bytes after the directory under minor 0")
    at, start = 0, 0
    for _ in range(count):
        require(at + 6 <= len(directory), "the directory ends early")
        length, path_length = number(directory, at, 4), number(directory, at + 4, 2)
        require(at + 6 + path_length <= len(directory), "the directory ends early")
        path = directory[at + 6:at + 6 + path_length]
        require(not lines or lines[-1][1] < path, "the directory is out of order")
        lines.append((blocks[start:start + length], path))
        at, start = at + 6 + path_length, start + length
    require(at == len(directory), "bytes after the last line of the directory")
    require(start == len(blocks), "the block lengths do not add up")
    return lines


def read_block(block, first, count, minor, tar_length, order):
    """§4.9 step 5: the records of one block."""
    info = check_frame(block, limit=MAX_BLOCK, what="an index block", open_end=True)
    return with_digests(read_columns(decompress(block, info), first, count, minor, tar_length, order), block[info.length:])


def read_index(payload, seek, minor):
    """§4.9 steps 3–5: head and all records."""
    head = read_head(payload, seek)
    records, order = [], PathOrder()
    for block, first in read_directory(head, index_content(payload, seek.blocks), minor):
        count = min(128, head.records - len(records))
        records += read_block(block, first, count, minor, seek.tar_length, order)
        check_directories([record.path for record in records], [record.type == DIRECTORY for record in records])
    require(sum(record.size for record in records) == head.content, "the content size differs")
    return head, records
