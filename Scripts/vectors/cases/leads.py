"""The cases of leads: Tests/Vectors/leads."""

import json
import os
from collections import namedtuple

from vectors.cases.faults import flip
from vectors.cases.files import file_bytes, parse_values
from vectors.cases.samples import AK, file, noise, pack_of, wrapped
from vectors.format.canonical_json import canonical_json
from vectors.format.errors import Refused, require
from vectors.format.frames import raw_frame
from vectors.format.leads import LEAF, Lead, make_lead, places, segment_ranges, stream_of
from vectors.format.payload import tree_payload
from vectors.format.primitives import sha256
from vectors.format.tar import build_tree

LeadVector = namedtuple("LeadVector", "name expect comment pack stream segment launch data")
FILES = (file("first.js", noise(5000, b"first")), file("rest.png", noise(24000, b"rest")), file("second.js", noise(200, b"second")))
LAUNCH = ("first.js", "second.js")


def led_pack(**fields):
    """A pack with a frame that has the files of the launch, and another frame that has the rest."""
    lengths = build_tree(list(FILES))[0].lengths
    return pack_of(tree_payload(list(FILES), sizes=[sum(lengths[:2]), sum(lengths[2:]) + 1024], codec=raw_frame)[0], **fields)


def lead_packs():
    """The packs, by the names of their files."""
    return {"movie.pack": led_pack(), "wrapped.pack": led_pack(stanzas=wrapped())}


def received(pack, data, stream):
    """What a client makes of a lead: None, or the refusal and the number of the segment that is refused, if the lead itself is not."""
    segment = None
    try:
        lead = Lead(data, len(pack), stream)
        for segment in lead.missing():
            start, end = lead.ranges[segment]
            require(lead.has(segment, pack[start:end]), f"segment {segment} has another digest")
        whole = lead.start + pack[lead.launch:lead.tail] + lead.end
        require(sha256(whole) == sha256(pack), "another pack")
    except Refused as error:
        return error, segment
    return None


def leads():
    """§9.9"""
    packs = lead_packs()
    pack = packs["movie.pack"]
    launch, tail = places(pack, AK, [name.encode() for name in LAUNCH])
    ranges = segment_ranges(pack, len(pack))
    data, stream = make_lead(pack, launch, tail)
    leaves = LEAF * len(ranges)
    assert ranges[0][1] < launch < ranges[4][0] and tail == ranges[-2][0]

    def good(name, comment, launch, tail, pack="movie.pack", files=()):
        data, stream = make_lead(packs[pack], launch, tail)
        return LeadVector(name, "ok", comment, pack, stream, None, list(files), data)

    yield good("movie", "the end with index and seek table, and the start with two files", launch, tail, files=LAUNCH)
    other_places = places(packs["wrapped.pack"], AK, [name.encode() for name in LAUNCH])
    yield good("wrapped", "a pack with a longer header", *other_places, pack="wrapped.pack", files=LAUNCH)
    yield good("first-segment", "a start of one segment", ranges[0][1], tail)
    yield good("longer-end", "an end of five segments", launch, ranges[-5][0])
    yield good("whole", "all segments, in the other order", launch, launch)

    def bad(name, comment, data, stream, segment=None):
        return LeadVector(name, "damaged", comment, "movie.pack", stream, segment, [], data)

    yield bad("file-empty", "no byte", b"", stream)
    yield bad("file-cut", "the last byte is missing", data[:-1], stream)
    yield bad("file-longer", "a byte too many", data + b"\0", stream)
    yield bad("file-digest-changed", "a bit of a digest inside differs", flip(data, LEAF * 3), stream)
    yield bad("file-end-changed", "a bit of the end of the pack differs", flip(data, leaves), stream)
    yield bad("file-start-changed", "a bit of the start of the pack differs", flip(data, len(data) - 1), stream)
    yield bad("file-swapped", "the start of the pack before its end", data[:leaves] + pack[:launch] + pack[tail:], stream)
    yield bad("file-html", "what a server sends that does not have it", b"<!DOCTYPE html><title>404</title>", stream)

    def signed(name, comment, launch, tail, leaves=data[:leaves], segment=None):
        """What a release says that was made wrong."""
        lead = leaves + pack[tail:] + pack[:launch]
        return bad(name, comment, lead, stream_of(lead, leaves, launch, tail), segment)

    yield bad("leaves", "another digest of the digests", data, {**stream, "leaves": stream["sha256"]})
    yield signed("numbers-swapped", "a launch behind the tail, with a size that fits", tail, launch)
    yield signed("launch-0", "no start", 0, tail)
    yield signed("launch-in-header", "a start that ends inside the header", 100, tail)
    yield signed("launch-header", "the header as the start", 144, tail)
    yield signed("launch-before-end", "a start that ends a byte before the end of a segment", launch - 1, tail)
    yield signed("launch-behind-end", "a start that ends a byte behind the end of a segment", launch + 1, tail)
    yield signed("launch-without-header", "segments that are counted without the header", launch - 144, tail - 144)
    yield signed("tail-before-start", "an end that begins a byte before the start of a segment", launch, tail - 1)
    yield signed("tail-behind-start", "an end that begins a byte behind the start of a segment", launch, tail + 1)
    yield signed("tail-last-byte", "the last byte as the end", launch, len(pack) - 1)
    yield signed("digests-fewer", "a digest less than segments", launch, tail, data[:leaves - LEAF])
    yield signed("digests-more", "a digest more than segments", launch, tail, data[:leaves] + bytes(LEAF))
    yield signed("digests-none", "no digest", launch, tail, b"")
    yield signed("digests-part", "a digest that is cut", launch, tail, data[:leaves - 1])
    yield signed("pack-instead", "the digest of the pack in the place of those of its segments", launch, tail, sha256(pack))
    middle = LEAF * 5
    yield signed("segment-digest", "another digest of a segment", launch, tail, flip(data[:leaves], middle), 5)
    yield signed("segments-exchanged", "the digests of two segments exchanged", launch, tail,
                 data[:middle] + data[middle + LEAF:middle + 2 * LEAF] + data[middle:middle + LEAF] + data[middle + 2 * LEAF:leaves], 5)


def lead_vector_bytes(vector):
    """§10.5"""
    return file_bytes([f"expect: {vector.expect}", f"comment: {vector.comment}", f"pack: {vector.pack}", f"stream: {canonical_json(vector.stream)}",
                       *(f"launch: {name}" for name in vector.launch), *(f"segment: {number}" for number in (vector.segment,) if number is not None)],
                      vector.data)


def parse_lead_vector(name, data, packs):
    """§10.5; `packs` is the folder of the packs, whose bytes take the place of the name."""
    values, body = parse_values(name, data, ("expect", "comment", "pack", "stream", "launch", "segment"))
    with open(os.path.join(packs, values["pack"][0]), "rb") as file_object:
        pack = file_object.read()
    return LeadVector(name, values["expect"][0], values["comment"][0], pack, json.loads(values["stream"][0]),
                      int(values["segment"][0]) if values["segment"] else None, values["launch"], body)


def check_lead_vector(vector, verbose):
    """The problems of a vector, as texts."""
    refusal = received(vector.pack, vector.data, vector.stream)
    if refusal:
        error, segment = refusal
        if verbose:
            print(f"{vector.name}: {error}")
        if (error.name, segment) != (vector.expect, vector.segment):
            yield f"expect {vector.expect} and segment {vector.segment}, reader says {error} with segment {segment}"
        return
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif make_lead(vector.pack, vector.stream["launch"], vector.stream["tail"]) != (vector.data, vector.stream):
        yield "the writer makes another lead"
    elif vector.launch and places(vector.pack, AK, [name.encode() for name in vector.launch]) != (vector.stream["launch"], vector.stream["tail"]):
        yield "the writer begins or ends elsewhere"
