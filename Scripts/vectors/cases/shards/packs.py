"""Shards: files, frames, JSON and entries."""

import zstandard

from vectors.cases.faults import flip
from vectors.cases.manifests.samples import DEFAULTS, STREAM, present, sample_entries, signed_with
from vectors.cases.shards.vector import content_vector, shard_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.frames import bound, frame_content_size, frame_header, raw_frame, run_frame, zstd_block, zstd_frame
from vectors.format.index import skippable
from vectors.format.primitives import sha256
from vectors.format.shards import cut_catalogue, make_shard, shard_content, shard_number


def valid_shards():
    few = sample_entries(3)
    reference, data = make_shard(few)

    def good(name, comment, data, *shards, shard=0):
        return shard_vector(name, "ok", comment, signed_with(*shards), shard, data)

    yield good("packs", "three packs, the only shard", data, reference)
    none, none_data = make_shard([])
    yield good("none", "no entry", none_data, none)
    yield good("more-allowed", "fewer entries than there may be", data, {**reference, "maxCount": 4})
    for count in (2, 4, 16):
        made = [make_shard(entries) for entries in cut_catalogue(sample_entries(24), count)]
        for number in sorted({0, count // 2, count - 1}):
            yield good(f"of-{count}-{number}", f"the shard {number} of {count}", made[number][1], *(shard for shard, _ in made), shard=number)
    last = next(name for name in (f"a{i}" for i in range(1 << 16)) if shard_number(name, 1024) == 1023)
    entry, entry_data = make_shard([{**few[0], "id": last}])
    yield good("of-1024", "the last of as many shards as there may be", entry_data, *[none] * 1023, entry, shard=1023)
    own = [{**few[0], "description": "Snow.", "keyId": "0123456789abcdef", "language": "de", "languages": ["de", "en-US"], "fallback": "en-US",
            "name": "Level", "platforms": ["iOS"], "stream": {**STREAM, "launch": 655, "tail": 655, "size": few[0]["size"] + 4 * 32},
            "url": "https://example.com/l.pack?a"}, {**few[1], "tags": None}]
    own_reference, own_data = make_shard(list(map(present, own)))
    yield good("all-keys", "an entry with every key, and one without tags", own_data, own_reference)
    yield content_vector("ids", "ok", "ids in the order of their bytes, the last with 64 characters",
                         {"packs": [{**few[0], "id": name} for name in ("0", "A", "a", "a-b", "a.b", "a0", "aB", "a_b", "ab", "z" * 64)]}, 10)
    content = shard_content(few)
    for name, comment, data in (
            ("zstd", "compressed by the library", zstd_frame(content)),
            ("raw", "one raw block", raw_frame(content)),
            ("unknown-keys", "keys that readers pass over",
             run_frame(canonical_json({"a": [1], "packs": [{**entry, "zone": {}} for entry in few], "tags": 1}).encode()))):
        size, _, _ = frame_content_size(data)
        yield good(name, comment, data, {**reference, "size": len(data), "sha256": sha256(data).hex(), "contentSize": size})


def damaged_shards():
    few = sample_entries(3)
    reference, data = make_shard(few)
    other, other_data = make_shard([{**few[0], "version": 2}, *few[1:]])

    def bad(name, comment, data, *shards, shard=0, **changes):
        return shard_vector(name, "damaged", comment, signed_with(*shards, **changes), shard, data)

    yield bad("file-empty", "no byte", b"", reference)
    yield bad("file-truncated", "the last byte is missing", data[:-1], reference)
    yield bad("file-longer", "a byte too many", data + b"\0", reference)
    yield bad("file-changed", "a bit of a digest inside differs", flip(data, 60), reference)
    yield bad("file-swapped", "the bytes of the other shard", other_data, reference, other)
    yield bad("file-of-another-release", "the shard of another release, of the same size", other_data, reference)
    yield bad("file-html", "what a server sends that does not have it", b"<!DOCTYPE html><title>404</title>", reference)

    def frame(name, comment, data, **changes):
        return bad(name, comment, data, {**reference, "size": len(data), "sha256": sha256(data).hex(), **changes})

    text = shard_content(few)
    yield frame("frame-none", "the JSON without compression", text[:bound(len(text))])
    yield frame("frame-size-smaller", "the manifest says less than the frame", data, contentSize=len(text) - 1)
    yield frame("frame-size-bigger", "the manifest says more than the frame", data, contentSize=len(text) + 1)
    yield frame("frame-bomb", "a frame that says it expands to 64 MiB",
                frame_header(64 << 20) + b"".join(zstd_block(1, 128 << 10, b" ", last) for last in (False, True)))
    yield frame("frame-expands-to-more", "a frame whose blocks are longer than it says",
                frame_header(len(text)) + zstd_block(1, 128 << 10, b" ", True))
    yield frame("frame-two", "two frames", run_frame(text[:100]) + run_frame(text[100:]))
    yield frame("frame-skippable-behind", "a skippable frame behind it", data + skippable(0x184D2A50, b""))
    yield frame("frame-checksum", "a frame with a checksum", zstandard.ZstdCompressor(write_checksum=True).compress(text))
    yield frame("frame-window", "a window above the content size", frame_header(len(text), window=0x50) + zstd_block(0, len(text), text, True))

    def content(name, comment, value, count=3):
        return content_vector(name, "damaged", comment, value, count)

    first = few[0]["id"]
    yield content("json-space", "a space behind a colon", text.replace(b'"packs":', b'"packs": '))
    yield content("json-behind", "a line end behind the content", text + b"\n")
    yield content("json-array", "an array", few)
    yield content("json-null", "null as the value of an unknown key", b'{"a":null,' + text[1:])
    yield content("other-list", "another list", {"entries": few})
    yield content("list-object", "packs that are no array", {"packs": {}})
    yield content("unsorted", "ids that descend", {"packs": few[::-1]})
    yield content("unsorted-bytes", "ids in an order without regard to case", {"packs": [{**few[0], "id": "a"}, {**few[1], "id": "B"}]})
    yield content("twice", "an id twice", {"packs": [few[0], few[0]]})
    yield content("count", "an entry more than there may be", {"packs": few}, 2)
    yield content("count-0", "an entry where there may be none", {"packs": few[:1]}, 0)
    yield content("in-manifest", "an id that the manifest itself lists", {"packs": [{**few[0], "id": "core"}]})
    yield content("text", "an entry that is no object", {"packs": [first]})
    for name, comment, changes in (
            ("delivery", "an entry that says how it is delivered", {"delivery": "onDemand"}),
            ("essential", "an essential pack", {"delivery": "essential"}), ("no-size", "an entry without size", {"size": None}),
            ("id", "an id that is no pack name", {"id": "../core"}), ("key-id-repeated", "the key id of all packs", {"keyId": DEFAULTS["keyId"]}),
            ("url-http", "a URL without TLS", {"url": "http://example.com/a.pack"}), ("name-id", "a name that is the id", {"name": first})):
        yield content(name, comment, {"packs": [present({**few[0], **changes})]})
    # In the wrong shard: whole shards exchanged, and one entry too much.
    for count in (2, 4):
        made = [make_shard(entries) for entries in cut_catalogue(sample_entries(24), count)]
        swapped = [made[1], made[0], *made[2:]]
        yield bad(f"other-shard-{count}", f"the first two of {count} shards exchanged", swapped[0][1], *(shard for shard, _ in swapped))
    halves = cut_catalogue(sample_entries(24), 2)
    stray, stray_data = make_shard(sorted([*halves[0], halves[1][0]], key=lambda entry: entry["id"]))
    yield bad("stray", "one id of the other shard", stray_data, stray, make_shard(halves[1][1:])[0])
