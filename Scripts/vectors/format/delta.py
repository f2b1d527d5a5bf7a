"""The payload of a delta, written and read over its bases (FORMAT.md §13)."""

import bisect

from vectors.format.delta_head import DELTA_MAGIC, Range, WindowPlace, delta_head_bytes, read_delta_frame, read_delta_head, running_sums
from vectors.format.errors import require
from vectors.format.frames import check_frame, decompress
from vectors.format.limits import MAX_LIST, MAX_OUTPUT, MAX_PREFIX, MAX_RANGES
from vectors.format.matches import prefix_frame
from vectors.format.primitives import sha256, u32
from vectors.format.records import DIRECTORY, content_root
from vectors.format.trees import Contents, FileTree, list_bytes, read_list


def plan_delta(bases, records):
    """§13.5: the records that are moved, new and repeated, each content stored once."""
    held, own, fresh = {}, {record.path: record for record in bases[0].records}, {}
    for number, record in enumerate(record for base in bases for record in base.records):
        held.setdefault(record.digest, number)
    plan = {"moved": [], "new": [], "repeated": []}
    for index, record in enumerate(records):
        if not record.size or record.path in own and own[record.path].digest == record.digest:
            continue
        if record.digest in held:
            plan["moved"].append((index, held[record.digest]))
        elif record.digest in fresh:
            plan["repeated"].append((index, fresh[record.digest]))
        else:
            fresh[record.digest] = len(plan["new"])
            plan["new"].append(index)
    return plan


def default_ranges(bases, records, places, start, end):
    """The contents that the records of a window have at the same path in the first base."""
    numbers, total, ranges = {record.path: number for number, record in enumerate(bases[0].records)}, 0, set()
    for record, first in places:
        number = numbers.get(record.path)
        if number is None or first >= end or first + record.size <= start or not bases[0].records[number].size:
            continue
        offset = max(0, start - first)
        length = min(bases[0].records[number].size - offset, MAX_PREFIX - total)
        if length > 0 and len(ranges) < MAX_RANGES:
            total += length
            ranges.add(Range(number, offset, length))
    return sorted(ranges)


def cut_stream(length, list_length, sizes):
    """§13.6: the outputs of the windows, cut anew where the list ends."""
    if sizes:
        return sizes
    parts = [list_length, length - list_length]
    return [min(MAX_OUTPUT, part - at) for part in parts for at in range(0, part, MAX_OUTPUT)]


def delta_payload(bases, items, *, sizes=None, ranges=(), codec=prefix_frame, **changes):
    """§13.1: the payload of a delta over these trees. `sizes` are the outputs of the windows, `ranges` is {window: its ranges},
    where they are to be other than the whole list, or the contents at the same path. As in make_payload, a step may be changed:

    plan      {"moved", "new", "repeated"}          list     the list of the target
    stream    the stream                            windows  list of [frame, output, ranges]
    fields    dict of the head's fields             head     the fields, as bytes
    headframe the head's frame                      trailer  the trailer
    payload   the whole payload"""

    def step(name, value):
        change = changes.pop(name, None)
        return value if change is None else change(value)

    tree = FileTree(items)
    contents, ranges = Contents(bases), dict(ranges)
    plan = step("plan", plan_delta(bases, tree.records))
    listing = step("list", list_bytes(tree.records))
    at = running_sums([len(listing), *(tree.records[index].size for index in plan["new"])])
    places = [(tree.records[index], start) for index, start in zip(plan["new"], at)]
    stream = step("stream", listing + b"".join(tree.contents[index] for index in plan["new"]))
    windows, start = [], 0
    for index, size in enumerate(cut_stream(len(stream), len(listing), sizes)):
        default = default_ranges(bases, tree.records, places, start, start + size)
        if start < len(listing) and contents.list:
            default = [Range(len(contents.places), 0, min(len(contents.list), MAX_PREFIX))]
        drawn = ranges.get(index, default)
        windows.append([codec(stream[start:start + size], contents.prefix(drawn)), size, drawn])
        start += size
    windows = step("windows", windows)
    fields = step("fields", {"bases": [base.root for base in bases], "target": tree.root, "list": len(listing), **plan,
                             "windows": [WindowPlace(len(frame), size, drawn) for frame, size, drawn in windows]})
    head = step("head", delta_head_bytes(fields))
    frame = step("headframe", codec(head, b""))
    trailer = step("trailer", u32(len(frame)) + DELTA_MAGIC)
    payload = step("payload", b"".join(window[0] for window in windows) + frame + trailer)
    assert not changes, changes
    return payload, tree.records


class DeltaTree:
    """A delta over its bases: the records of the target, and their contents. It can be a base itself."""

    def __init__(self, opened, bases):
        self.payload, self.contents = opened.payload, Contents(bases)
        require(len(self.contents.list) <= MAX_LIST, "the list of the first base is above 16 MiB", "limit")
        fields, start = read_delta_frame(self.payload)
        self.head = read_delta_head(fields, opened.minor, start)
        require([base.root for base in bases] == self.head.bases, "the bases are not those that the delta names", "wrong-base")
        self.ends = list(running_sums(window.output for window in self.head.windows))
        self.starts = [0, *running_sums(window.length for window in self.head.windows)]
        self.current, self.output = None, b""
        self.records = read_list(self.stream(0, self.head.list))
        self.places = self.read_places(bases[0])
        self.records = [self.with_digest(number) for number in range(len(self.records))]
        self.root = content_root(self.records)
        require(self.root == self.head.target, "the content root of the target differs")

    def window(self, index):
        if self.current != index:
            place = self.head.windows[index]
            frame = self.payload[self.starts[index]:self.starts[index + 1]]
            info = check_frame(frame, exactly=place.output)
            require(frame[4] & 0x20, "the frame of a window is not single-segment")
            self.output = decompress(frame, info, self.contents.prefix(place.ranges))
            self.current = index
        return self.output

    def stream(self, offset, length):
        """Bytes of the stream (§13.6)."""
        parts = []
        while length:
            index = bisect.bisect_right(self.ends, offset)
            inner = offset - (self.ends[index - 1] if index else 0)
            parts.append(self.window(index)[inner:inner + length])
            offset, length = offset + len(parts[-1]), length - len(parts[-1])
        return b"".join(parts)

    def read_places(self, first):
        """§13.5: for each record its content number, or its offset in the stream as a negative number."""
        head, places = self.head, {}

        def name(record, place):
            require(record < len(self.records), f"there is no record {record}")
            require(self.records[record].size > 0, f"record {record} is named, but has no content")
            require(record not in places, f"record {record} is named twice")
            places[record] = place

        for record, content in head.moved:
            name(record, content)
            require(content < len(self.contents.places), f"content {content} is no record of a base")
            require(self.contents.size(content) == self.records[record].size, f"record {record} has another size than content {content}")
        at = head.list
        for record in head.new:
            name(record, -at - 1)
            at += self.records[record].size
        for record, place in head.repeated:
            name(record, places[head.new[place]])
            require(self.records[record].size == self.records[head.new[place]].size, f"record {record} has another size than the one it repeats")
        require(at == (self.ends[-1] if self.ends else 0), "the windows are not as long as the stream")
        self.add_unnamed(places, first)
        return places

    def add_unnamed(self, places, first):
        numbers = {record.path: number for number, record in enumerate(first.records)}
        for index, record in enumerate(self.records):
            if record.size and index not in places:
                number = numbers.get(record.path)
                require(number is not None and first.records[number].size == record.size, f"{record.path!r} has no content")
                places[index] = number

    def with_digest(self, index):
        """§13.7: the record, with the digest of a new content computed, or that of the base's index."""
        record, place = self.records[index], self.places.get(index)
        if record.type == DIRECTORY:
            return record._replace(digest=bytes(32))
        if place is None:
            return record._replace(digest=sha256(b""))
        if place >= 0:
            return record._replace(digest=self.contents.record(place).digest)
        return record._replace(digest=sha256(self.read(index, 0, record.size)))

    def read(self, index, offset, length):
        place = self.places[index]
        return self.stream(-place - 1 + offset, length) if place < 0 else self.contents.read(place, offset, length)
