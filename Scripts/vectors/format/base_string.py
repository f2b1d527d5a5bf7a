"""The bytes of the bases, end to end (FORMAT.md §13.3)."""

import bisect
from collections import namedtuple

from vectors.format.errors import require
from vectors.format.limits import FREE_WORK, MAX_LIST
from vectors.format.trees import list_bytes

# `read(offset, length)` reads bytes of the part.
Part = namedtuple("Part", "start end read")


class BaseString:
    """For each base its list, then each content that did not occur before. A writer may read it as often as it likes."""

    def __init__(self, bases, writes=False):
        self.bases, self.parts, self.length, seen = bases, [], 0, set()
        self.places = [(base, number) for base in bases for number in range(len(base.records))]
        self.work = None if writes else FREE_WORK + 3 * sum(base.tar.length for base in bases if base.tar)
        for base in bases:
            listing = list_bytes(base.records)
            require(len(listing) <= MAX_LIST, "the list of a base is above 16 MiB", "limit")
            self.add(len(listing), lambda offset, length, listing=listing: listing[offset:offset + length])
            for number, record in enumerate(base.records):
                if record.size and record.digest not in seen:
                    seen.add(record.digest)
                    self.add(record.size, lambda offset, length, base=base, number=number: base.read(number, offset, length))
        self.starts = [part.start for part in self.parts]

    def add(self, length, read):
        if length:
            self.parts.append(Part(self.length, self.length + length, read))
            self.length += length

    def part(self, place):
        """The part that holds this byte."""
        return self.parts[bisect.bisect_right(self.starts, place) - 1]

    def require_inside(self, place, length):
        """§13.7: a copy lies inside one part."""
        require(place < self.length and place + length <= self.part(place).end, f"a copy outside a part: {length} bytes at {place}")

    def read(self, place, length):
        """Bytes that may be of several parts."""
        pieces = []
        while length:
            part = self.part(place)
            pieces.append(part.read(place - part.start, min(length, part.end - place)))
            place, length = place + len(pieces[-1]), length - len(pieces[-1])
        self.count_work()
        return b"".join(pieces)

    def record(self, number):
        """The record of this number, those of all bases counted through."""
        base, inner = self.places[number]
        return base.records[inner]

    def read_record(self, number, offset, length):
        base, inner = self.places[number]
        content = base.read(inner, offset, length)
        self.count_work()
        return content

    def count_work(self):
        """§13.7: what was decompressed of the bases."""
        done = sum(base.tar.decoded for base in self.bases if base.tar)
        require(self.work is None or done <= self.work, "the frames of the bases are read too often", "limit")
