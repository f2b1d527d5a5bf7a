"""The head of a delta, written and read (FORMAT.md §13.5)."""

from collections import namedtuple

from vectors.format.errors import require
from vectors.format.frames import bound, check_frame, decompress
from vectors.format.limits import MAX_BASES, MAX_DELTA_HEAD, MAX_LIST, MAX_NAMED, MAX_OUTPUT, MAX_PREFIX, MAX_RANGES, MAX_WINDOWS
from vectors.format.primitives import number
from vectors.format.varints import Cursor, in_range, signed_varint, varint

DELTA_MAGIC = b"PDL1"
Range = namedtuple("Range", "content offset length")
WindowPlace = namedtuple("WindowPlace", "length output ranges")
DeltaHead = namedtuple("DeltaHead", "bases target list windows moved new repeated")


def range_bytes(ranges):
    """§13.5"""
    result, content, end = b"", 0, 0
    for part in ranges:
        result += varint(part.content - content) + varint(part.offset - (end if part.content == content else 0)) + varint(part.length)
        content, end = part.content, part.offset + part.length
    return result


def named_bytes(named, signed, other):
    """§13.5: the records that are moved, new or repeated; `other` makes the rest of a line of the number beside."""
    result, last = varint(len(named)), -1
    for record, value in named:
        result += (signed_varint if signed else varint)(record - last - 1) + other(value)
        last = record
    return result


def delta_head_bytes(f):
    """§13.5"""
    last = -1

    def content(value):
        nonlocal last
        last, step = value, value - last - 1
        return signed_varint(step)

    return b"".join((
        varint(len(f["bases"])), *f["bases"], f["target"], varint(f["list"]), varint(len(f["windows"])),
        *(varint(w.length) + varint(w.output) + varint(len(w.ranges)) + range_bytes(w.ranges) for w in f["windows"]),
        named_bytes(f["moved"], False, content), named_bytes([(record, None) for record in f["new"]], True, lambda _: b""),
        named_bytes(f["repeated"], False, varint)))


def read_delta_frame(payload):
    """§13.7, step 1: the head's fields, and where the head begins."""
    require(len(payload) >= 8, "a payload shorter than a trailer")
    require(payload[-4:] == DELTA_MAGIC, "no trailer of a delta at the end")
    start = len(payload) - 8 - number(payload, len(payload) - 8, 4)
    require(start >= 0, "a head longer than the payload")
    place = payload[start:-8]
    return decompress(place, check_frame(place, limit=MAX_DELTA_HEAD, what="the head of a delta")), start


def read_ranges(cursor):
    count = cursor.varint()
    require(count <= MAX_RANGES, f"{count} ranges in a window", "limit")
    ranges, content, end, total = [], 0, 0, 0
    for _ in range(count):
        step = cursor.varint()
        content, end = content + step, 0 if step else end
        offset = end + cursor.varint()
        length = cursor.varint()
        require(length >= 1, "an empty range")
        total += length
        require(total <= MAX_PREFIX, f"a prefix of {total} bytes or more", "limit")
        end = in_range(offset + length)
        ranges.append(Range(in_range(content), offset, length))
    return ranges


def read_window(cursor):
    length, output = cursor.varint(), cursor.varint()
    require(output >= 1, "a window without output")
    require(output <= MAX_OUTPUT, f"a window of {output} bytes", "limit")
    require(length <= bound(output), "a window longer than its bound")
    return WindowPlace(length, output, read_ranges(cursor))


def read_named(cursor, before, signed, other):
    """Record numbers, and the numbers that `other` reads beside them. `before` are the lists that came before."""
    record, named, count = -1, [], cursor.varint()
    require(sum(map(len, before)) + count <= MAX_NAMED, f"{count} records, and those before them", "limit")
    for _ in range(count):
        record = in_range(record + 1 + (cursor.signed_varint() if signed else cursor.varint()))
        named.append((record, other()))
    return named


def read_delta_head(data, minor, start):
    """§13.5; §13.7, step 2."""
    cursor = Cursor(data)
    bases = cursor.varint()
    require(bases >= 1, "no bases")
    require(bases <= MAX_BASES, f"{bases} bases", "limit")
    roots, target = [cursor.take(32) for _ in range(bases)], cursor.take(32)
    length = cursor.varint()
    require(length <= MAX_LIST, f"a list of {length} bytes", "limit")
    count = cursor.varint()
    require(count <= MAX_WINDOWS, f"{count} windows", "limit")
    windows = [read_window(cursor) for _ in range(count)]
    content = -1

    def next_content():
        nonlocal content
        content = in_range(content + 1 + cursor.signed_varint())
        return content

    moved = read_named(cursor, [], False, next_content)
    new = [record for record, _ in read_named(cursor, [moved], True, lambda: None)]
    repeated = read_named(cursor, [moved, new], False, cursor.varint)
    require(all(place < len(new) for _, place in repeated), "a repeated record of a new content that is not there")
    require(minor > 0 or cursor.at == len(data), "bytes after the fields of the head under minor 0")
    require(sum(window.length for window in windows) == start, "the compressed lengths do not add up")
    require(length == 0 or length in running_sums(window.output for window in windows), "no window ends where the list does")
    return DeltaHead(roots, target, length, windows, moved, new, repeated)


def running_sums(values):
    at = 0
    for value in values:
        at += value
        yield at
