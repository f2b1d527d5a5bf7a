"""The head of a delta, written and read (FORMAT.md §13.5)."""

from collections import namedtuple

from vectors.format.errors import require
from vectors.format.frames import bound, check_frame, decompress
from vectors.format.limits import (
    MAX_BASES, MAX_CONTENT, MAX_CONTEXT, MAX_COPIES, MAX_COPY, MAX_DELTA_HEAD, MAX_LIST, MAX_NAMED, MAX_OUTPUT, MAX_RANGES, MIN_COPY)
from vectors.format.primitives import number
from vectors.format.varints import Cursor, in_range, signed_varint, varint

DELTA_MAGIC = b"PDL1"
NO_PREFIX, DERIVED, EXTRA = 0, 1, 2
Copy = namedtuple("Copy", "gap place length")
Range = namedtuple("Range", "start length")
WindowPlace = namedtuple("WindowPlace", "length output prefix extra")
StreamHead = namedtuple("StreamHead", "length copies windows")
# `list` and `contents` are the two streams.
DeltaHead = namedtuple("DeltaHead", "bases target list contents moved new repeated")


def literals_of(length, copies):
    """§13.5: how many bytes of a stream are literals."""
    return length - sum(copy.length for copy in copies)


def cut_literals(count):
    """§13.5: the outputs of the windows of a stream with so many literals."""
    return [min(MAX_OUTPUT, count - at) for at in range(0, count, MAX_OUTPUT)]


def window_bytes(window):
    """§13.5: what the head says of a window."""
    result, end = varint(window.length) + varint(window.prefix), 0
    if window.prefix == EXTRA:
        result += varint(len(window.extra))
        for start, length in window.extra:
            result += varint(start - end) + varint(length)
            end = start + length
    return result


def place_bytes(copies):
    """§13.5: the row of the places."""
    result, end = [], 0
    for copy in copies:
        result.append(signed_varint(copy.place - end - copy.gap))
        end = copy.place + copy.length
    return b"".join(result)


def named_bytes(named, signed, other):
    """§13.5: the records that are moved, new or repeated; `other` makes the rest of a line of the number beside."""
    result, last = varint(len(named)), -1
    for record, value in named:
        result += (signed_varint if signed else varint)(record - last - 1) + other(value)
        last = record
    return result


def delta_head_pieces(f):
    """§13.5: the fields by name, in order. The copies of both streams are in one row."""
    last, copies = -1, [*f["list copies"], *f["contents copies"]]

    def content(value):
        nonlocal last
        last, step = value, value - last - 1
        return signed_varint(step)

    return {
        "bases": varint(len(f["bases"])) + b"".join(f["bases"]), "target": f["target"],
        "list": varint(f["list"]), "contents": varint(f["contents"]),
        "list copies": varint(len(f["list copies"])), "contents copies": varint(len(f["contents copies"])),
        "gaps": b"".join(varint(copy.gap) for copy in copies), "places": place_bytes(copies),
        "lengths": b"".join(varint(copy.length) for copy in copies),
        "windows": b"".join(map(window_bytes, f["windows"])),
        "moved": named_bytes(f["moved"], False, content), "new": named_bytes([(record, None) for record in f["new"]], True, lambda _: b""),
        "repeated": named_bytes(f["repeated"], False, varint)}


def read_delta_frame(payload):
    """§13.7, step 1: the head's fields, and where the head begins."""
    require(len(payload) >= 8, "a payload shorter than a trailer")
    require(payload[-4:] == DELTA_MAGIC, "no trailer of a delta at the end")
    start = len(payload) - 8 - number(payload, len(payload) - 8, 4)
    require(start >= 0, "a head longer than the payload")
    place = payload[start:-8]
    return decompress(place, check_frame(place, limit=MAX_DELTA_HEAD, what="the head of a delta")), start


def read_bases(cursor):
    count = cursor.varint()
    require(count >= 1, "no bases")
    require(count <= MAX_BASES, f"{count} bases", "limit")
    roots = [cursor.take(32) for _ in range(count)]
    require(len(set(roots)) == count, "a base twice")
    return roots


def read_copies(cursor, lengths):
    """§13.5: the copies of both streams, whose lengths these are."""
    counts = []
    for _ in lengths:
        counts.append(cursor.varint())
        require(sum(counts) <= MAX_COPIES, f"{sum(counts)} copies", "limit")
    gaps = [cursor.varint() for _ in range(sum(counts))]
    steps = [cursor.signed_varint() for _ in gaps]
    end, copies = 0, []
    for gap, step in zip(gaps, steps):
        length = cursor.varint()
        require(MIN_COPY <= length <= MAX_COPY, f"a copy of {length} bytes")
        place = in_range(end + gap + step)
        end = in_range(place + length)
        copies.append(Copy(gap, place, length))
    streams = [copies[:counts[0]], copies[counts[0]:]]
    for stream, length in zip(streams, lengths):
        require(sum(copy.gap + copy.length for copy in stream) <= length, "the copies go beyond their stream")
    return streams


def read_extra(cursor):
    count = cursor.varint()
    require(count >= 1, "no extra ranges, where there must be some")
    require(count <= MAX_RANGES, f"{count} extra ranges in a window", "limit")
    ranges, end, total = [], 0, 0
    for _ in range(count):
        start, length = in_range(end + cursor.varint()), cursor.varint()
        require(length >= 1, "an empty extra range")
        total += length
        require(total <= MAX_CONTEXT, f"extra ranges of {total} bytes or more", "limit")
        end = in_range(start + length)
        ranges.append(Range(start, length))
    return ranges


def read_window(cursor, output):
    length = cursor.varint()
    require(length <= bound(output), "a window longer than its bound")
    prefix = cursor.varint()
    require(prefix in (NO_PREFIX, DERIVED, EXTRA), f"a prefix of kind {prefix}")
    return WindowPlace(length, output, prefix, read_extra(cursor) if prefix == EXTRA else [])


def read_windows(cursor, literals):
    """§13.5: the windows of both streams, which have so many literals."""
    return [[read_window(cursor, output) for output in cut_literals(count)] for count in literals]


def read_named(cursor, before, signed, other):
    """Record numbers, and the numbers that `other` reads beside them. `before` are the lists that came before."""
    record, named, count = -1, [], cursor.varint()
    require(sum(map(len, before)) + count <= MAX_NAMED, f"{count} records, and those before them", "limit")
    for _ in range(count):
        record = in_range(record + 1 + (cursor.signed_varint() if signed else cursor.varint()))
        named.append((record, other()))
    return named


def read_delta_head(data, minor, start):
    """§13.5; §13.7, step 2. `start` is where the head begins."""
    cursor = Cursor(data)
    roots, target = read_bases(cursor), cursor.take(32)
    listing = cursor.varint()
    require(listing <= MAX_LIST, f"a list of {listing} bytes", "limit")
    contents = cursor.varint()
    require(contents <= MAX_CONTENT, f"{contents} bytes of new contents", "limit")
    lengths = [listing, contents]
    copies = read_copies(cursor, lengths)
    windows = read_windows(cursor, list(map(literals_of, lengths, copies)))
    require(sum(window.length for stream in windows for window in stream) == start, "the compressed lengths do not add up")
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
    return DeltaHead(roots, target, *map(StreamHead, lengths, copies, windows), moved, new, repeated)
