"""The payload of a delta, written and read over its bases (FORMAT.md §13)."""

from vectors.format.base_string import BaseString
from vectors.format.copies import copies_at, find_copies, literal_bytes
from vectors.format.delta_head import (
    DELTA_MAGIC, DERIVED, EXTRA, NO_PREFIX, WindowPlace, cut_literals, delta_head_pieces, read_delta_frame, read_delta_head)
from vectors.format.errors import require
from vectors.format.frames import check_frame, decompress
from vectors.format.matches import prefix_frame
from vectors.format.prefixes import gaps_of, prefix_bytes
from vectors.format.primitives import sha256, u32
from vectors.format.records import DIRECTORY, content_root
from vectors.format.trees import FileTree, list_bytes, read_list


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


def stream_windows(base, stream, copies, first, kinds, extra, codec):
    """§13.6: the windows of a stream, as lists of frame, output, kind of the prefix, and extra ranges. `first` is the number of the first one."""
    literals, gaps, start = literal_bytes(stream, copies), list(gaps_of(len(stream), copies)), 0
    for number, output in enumerate(cut_literals(len(literals)), first):
        end, before, drawn = start + output, literals[:start], extra.get(number, [])
        kind = kinds.get(number, EXTRA if drawn else DERIVED)
        prefix = prefix_bytes(base, gaps, start, end, before, kind, drawn)
        if not prefix:
            kind = kinds.get(number, NO_PREFIX)
        yield [codec(literals[start:end], prefix), output, kind, drawn]
        start = end


def delta_payload(bases, items, *, copies=None, kinds=None, extra=None, shortest=32, codec=prefix_frame, **changes):
    """§13.1: the payload of a delta over these trees. Where they are to be other than what a writer chooses, `copies` are {"list" or "contents":
    [(offset in the stream, place, length)]}, `kinds` are {window: the kind of its prefix}, `extra` {window: its extra ranges}.
    As in make_payload, a step may be changed:

    plan      {"moved", "new", "repeated"}                list     the list of the target
    contents  the new contents end to end                 windows  list of [frame, output, kind, extra ranges]
    fields    dict of the head's fields                   pieces   the same as bytes by name, in order
    head      the fields, as bytes                        headframe  the head's frame
    trailer   the trailer                                 payload  the whole payload"""

    def step(name, value):
        change = changes.pop(name, None)
        return value if change is None else change(value)

    tree, base = FileTree(items), BaseString(bases, writes=True)
    plan = step("plan", plan_delta(bases, tree.records))
    streams = {"list": step("list", list_bytes(tree.records)),
               "contents": step("contents", b"".join(tree.contents[index] for index in plan["new"]))}
    chosen, windows = {}, []
    for name, stream in streams.items():
        places = (copies or {}).get(name)
        chosen[name] = copies_at(find_copies(stream, base, shortest) if places is None else places)
        windows += stream_windows(base, stream, chosen[name], len(windows), kinds or {}, extra or {}, codec)
    assert all(number < len(windows) for number in [*(kinds or {}), *(extra or {})])
    windows = step("windows", windows)
    fields = step("fields", {"bases": [base.root for base in bases], "target": tree.root, "list": len(streams["list"]), "contents": len(streams["contents"]),
                             "list copies": chosen["list"], "contents copies": chosen["contents"],
                             "windows": [WindowPlace(len(frame), *rest) for frame, *rest in windows], **plan})
    head = step("head", b"".join(step("pieces", delta_head_pieces(fields)).values()))
    frame = step("headframe", codec(head, b""))
    trailer = step("trailer", u32(len(frame)) + DELTA_MAGIC)
    payload = step("payload", b"".join(window[0] for window in windows) + frame + trailer)
    assert not changes, changes
    return payload, tree.records


class DeltaTree:
    """What a delta makes out of its bases: the records of the target, and their contents."""

    def __init__(self, opened, bases):
        self.payload, self.at = opened.payload, 0
        fields, start = read_delta_frame(self.payload)
        self.head = head = read_delta_head(fields, opened.minor, start)
        found = {base.root: base for base in bases}
        require(all(root in found for root in head.bases), "a base of the delta is not at hand", "wrong-base")
        bases = [found[root] for root in head.bases]
        self.base = BaseString(bases)
        self.require_inside(head.list)
        self.records = read_list(self.read_stream(head.list))
        # The record of a base, or the offset in the new contents, that a record has its content from.
        self.held, self.fresh = {}, {}
        self.place_records()
        self.place_others(bases[0])
        self.require_inside(head.contents)
        self.contents = self.read_stream(head.contents)
        self.records = [self.with_digest(index) for index in range(len(self.records))]
        require(content_root(self.records) == head.target, "the content root of the target differs")

    def require_inside(self, stream):
        """§13.7: copies and extra ranges, before anything is read for them."""
        for copy in stream.copies:
            self.base.require_inside(copy.place, copy.length)
        for window in stream.windows:
            for start, length in window.extra:
                require(start + length <= self.base.length, f"an extra range of {length} bytes at {start}")

    def read_literals(self, stream):
        """§13.6: the outputs of the windows of a stream, whose frames begin where those read before end."""
        gaps, start, before = list(gaps_of(stream.length, stream.copies)), 0, b""
        for length, output, kind, extra in stream.windows:
            frame = self.payload[self.at:self.at + length]
            self.at += length
            info = check_frame(frame, exactly=output)
            require(frame[4] & 0x20, "the frame of a window is not single-segment")
            before = decompress(frame, info, prefix_bytes(self.base, gaps, start, start + output, before, kind, extra))
            start += output
            yield before

    def read_stream(self, stream):
        """§13.5: copies and the literals between them."""
        literals, at, parts = b"".join(self.read_literals(stream)), 0, []
        for copy in stream.copies:
            parts += [literals[at:at + copy.gap], self.base.read(copy.place, copy.length)]
            at += copy.gap
        return b"".join([*parts, literals[at:]])

    def name(self, index, places, place):
        """§13.5: a record is named once, and has a content."""
        require(index < len(self.records), f"there is no record {index}")
        require(self.records[index].size > 0, f"record {index} is named, but has no content")
        require(index not in self.held and index not in self.fresh, f"record {index} is named twice")
        places[index] = place

    def place_records(self):
        """§13.5: the records that are moved, new or repeated."""
        head, at = self.head, 0
        for index, number in head.moved:
            self.name(index, self.held, number)
            require(number < len(self.base.places), f"there is no record {number} in the bases")
            require(self.base.record(number).size == self.records[index].size, f"record {index} has another size than record {number} of the bases")
        for index in head.new:
            self.name(index, self.fresh, at)
            at += self.records[index].size
        for index, place in head.repeated:
            self.name(index, self.fresh, self.fresh[head.new[place]])
            require(self.records[index].size == self.records[head.new[place]].size, f"record {index} has another size than the one it repeats")
        require(at == head.contents.length, "the new contents are not as long as their records say")

    def place_others(self, first):
        """§13.5: the records that are not named have a content in the first base."""
        numbers = {record.path: number for number, record in enumerate(first.records)}
        for index, record in enumerate(self.records):
            if record.size and index not in self.held and index not in self.fresh:
                number = numbers.get(record.path)
                require(number is not None and first.records[number].size == record.size, f"{record.path!r} has no content")
                self.held[index] = number

    def with_digest(self, index):
        """§13.7: the record, with the digest of a new content computed, or that of the base's index."""
        record = self.records[index]
        if record.type == DIRECTORY:
            return record._replace(digest=bytes(32))
        if index in self.held:
            return record._replace(digest=self.base.record(self.held[index]).digest)
        return record._replace(digest=sha256(self.read(index, 0, record.size) if record.size else b""))

    def read(self, index, offset, length):
        if index in self.held:
            return self.base.read_record(self.held[index], offset, length)
        start = self.fresh[index] + offset
        return self.contents[start:start + length]
