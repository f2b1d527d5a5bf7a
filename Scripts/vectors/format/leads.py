"""The lead of a pack, made and checked (FORMAT.md §9.9)."""

from vectors.format.errors import require
from vectors.format.header import check_core
from vectors.format.index import read_seek_table
from vectors.format.limits import MAX_LEAVES
from vectors.format.pack import open_pack
from vectors.format.payload import read_payload
from vectors.format.primitives import number, sha256

LEAF = 32
# §1.1, §3.2: the header, and a body without payload.
MIN_FILE = 132 + 56


def segment_ends(start, size):
    """§3.1, §9.9: where each segment of a file of this size ends, of which the header is in `start`; the first one begins at byte 0."""
    S, body = check_core(start)[1], 132 + number(start, 96, 4)
    return [min(body + at + S, size) for at in range(0, size - body, S)]


def segment_ranges(start, size):
    ends = segment_ends(start, size)
    return list(zip([0, *ends], ends))


def leaves_size(stream, size):
    """The bytes of digests in a lead, by the numbers of an entry; negative if there is no room for them."""
    return stream["size"] - stream["launch"] - (size - stream["tail"])


def check_numbers(stream, size):
    """§9.9: the numbers fit each other and the size of the pack."""
    require(0 < stream["launch"] <= stream["tail"] < size, f"a lead up to {stream['launch']} and from {stream['tail']} of {size}")
    leaves = leaves_size(stream, size)
    require(leaves % LEAF == 0 and 1 <= leaves // LEAF <= MAX_LEAVES, f"{leaves} bytes of digests")


def places(pack, key, paths):
    """§9.9: `launch` and `tail` of the smallest lead with the contents of these files."""
    opened = open_pack(pack, key)
    records, seek = read_payload(opened.payload, opened.minor), read_seek_table(opened.payload)
    end = max(record.offset + record.size for record in records if record.path in paths)
    frame, at = seek.data[0], 0
    for place in seek.data:
        if at < end:
            frame = place
        at += place.size
    ranges, P = segment_ranges(pack, len(pack)), opened.S - 16
    return ranges[(frame.start + frame.length - 1 + 40) // P][1], ranges[(seek.blocks.start + 40) // P][0]


def make_lead(pack, launch, tail):
    """§9.9: the lead of a pack, and what the entry says of it."""
    leaves = b"".join(sha256(pack[start:end]) for start, end in segment_ranges(pack, len(pack)))
    lead = leaves + pack[tail:] + pack[:launch]
    return lead, stream_of(lead, leaves, launch, tail)


def stream_of(lead, leaves, launch, tail):
    return {"launch": launch, "leaves": sha256(leaves).hex(), "sha256": sha256(lead).hex(), "size": len(lead), "tail": tail}


class Lead:
    """§9.9: a lead as a client takes it, with the entry of its pack."""

    def __init__(self, data, size, stream):
        check_numbers(stream, size)
        require(len(data) == stream["size"], f"a lead of {len(data)} bytes")
        require(sha256(data).hex() == stream["sha256"], "another lead")
        at = leaves_size(stream, size)
        require(sha256(data[:at]).hex() == stream["leaves"], "other digests of segments")
        self.launch, self.tail = stream["launch"], stream["tail"]
        self.leaves = [data[leaf:leaf + LEAF] for leaf in range(0, at, LEAF)]
        self.end, self.start = data[at:at + size - self.tail], data[at + size - self.tail:]
        require(self.launch >= MIN_FILE, "a launch inside the header")
        self.ranges = segment_ranges(self.start, size)
        require(len(self.leaves) == len(self.ranges), f"{len(self.leaves)} digests of {len(self.ranges)} segments")
        require(any(self.launch == end for _, end in self.ranges), "a launch that is no end of a segment")
        require(any(self.tail == start for start, _ in self.ranges), "a tail that is no start of a segment")

    def missing(self):
        """The numbers of the segments that it does not have."""
        return [index for index, (start, end) in enumerate(self.ranges) if start >= self.launch and end <= self.tail]

    def has(self, index, segment):
        """Whether a segment has its digest."""
        return sha256(segment) == self.leaves[index]
