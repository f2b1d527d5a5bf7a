"""Pages of packs, tags and index pages."""

import zstandard

from vectors.cases.faults import flip
from vectors.cases.manifests.samples import DEFAULTS, present, sample_entries, signed_with
from vectors.cases.pages.vector import content_vector, page_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.frames import bound, frame_content_size, frame_header, raw_frame, run_frame, zstd_block, zstd_frame
from vectors.format.index import skippable
from vectors.format.pages import make_page, page_content, tag_groups
from vectors.format.primitives import sha256


def valid_pages():
    few = sample_entries(3)
    reference, data = make_page("packs", few)
    after, _ = make_page("packs", sample_entries(6)[4:])
    tags = [("all", "a"), ("all", "b"), ("boss \"x\"", "b"), ("höhle", "a")]
    tag_reference, tag_data = make_page("tags", tags)

    def good(name, comment, data, *references, page=0):
        return page_vector(name, "ok", comment, signed_with(*references), page, data)

    yield good("packs", "three packs, the only page", data, reference)
    yield good("packs-before-another", "a page that ends before another", data, reference, after)
    yield good("packs-before-tags", "the next page is of another kind, with a lower key", data, reference, tag_reference)
    yield good("tags", "pairs, with a tag of several words and one beyond ASCII", tag_data, reference, tag_reference, page=1)
    own = [{**few[0], "description": "Snow.", "keyId": "0123456789abcdef", "language": "de", "name": "Level", "platforms": ["iOS"],
            "url": "https://example.com/l.pack?a"}, {**few[1], "tags": None}]
    own_reference, own_data = make_page("packs", list(map(present, own)))
    yield good("packs-all-keys", "an entry with every key, and one without tags", own_data, own_reference)
    content = page_content("packs", few)
    for name, comment, data in (
            ("packs-zstd", "compressed by the library", zstd_frame(content)),
            ("packs-raw", "one raw block", raw_frame(content)),
            ("packs-unknown-keys", "keys that readers pass over",
             run_frame(canonical_json({"a": [1], "packs": [{**entry, "zone": {}} for entry in few], "tags": 1}).encode()))):
        size, _, _ = frame_content_size(data)
        yield good(name, comment, data, {**reference, "size": len(data), "sha256": sha256(data).hex(), "contentSize": size})
    index_reference, index_data = make_page("index", [reference, after], of="packs")
    yield good("index", "two references", index_data, index_reference)
    reserved = {**reference, "kind": "updates"}
    yield good("packs-before-updates", "a reference of a reserved kind is passed over", data_of(few), reference, reserved)


def data_of(entries):
    return make_page("packs", entries)[1]


def damaged_pages():
    few = sample_entries(3)
    reference, data = make_page("packs", few)
    after, after_data = make_page("packs", sample_entries(6)[4:])
    pairs = [("all", "a"), ("all", "b"), ("boss", "b")]

    def bad(name, comment, data, *references, page=0, **changes):
        return page_vector(name, "damaged", comment, signed_with(*references, **changes), page, data)

    def content(name, comment, kind, value, first, count, of=None):
        return content_vector(name, "damaged", comment, kind, value, first, count, of=of)

    yield bad("file-empty", "no byte", b"", reference)
    yield bad("file-truncated", "the last byte is missing", data[:-1], reference)
    yield bad("file-longer", "a byte too many", data + b"\0", reference)
    yield bad("file-changed", "a bit of a digest inside differs", flip(data, 60), reference)
    yield bad("file-swapped", "the bytes of the next page", after_data, reference, after)
    yield bad("file-of-another-release", "the page of another release, of the same size", data_of([{**few[0], "version": 2}, *few[1:]]), reference)
    yield bad("file-html", "the page of a server that does not have it", b"<!DOCTYPE html><title>404</title>", reference)

    def frame(name, comment, data, **changes):
        return bad(name, comment, data, {**reference, "size": len(data), "sha256": sha256(data).hex(), **changes})

    text = page_content("packs", few)
    yield frame("frame-none", "the JSON without compression", text[:bound(len(text))])
    yield frame("frame-size-smaller", "the reference says less than the frame", data, contentSize=len(text) - 1)
    yield frame("frame-size-bigger", "the reference says more than the frame", data, contentSize=len(text) + 1)
    yield frame("frame-bomb", "a frame that says it expands to 64 MiB",
                frame_header(64 << 20) + b"".join(zstd_block(1, 128 << 10, b" ", last) for last in (False, True)))
    yield frame("frame-expands-to-more", "a frame whose blocks are longer than it says",
                frame_header(len(text)) + zstd_block(1, 128 << 10, b" ", True))
    yield frame("frame-two", "two frames", run_frame(text[:100]) + run_frame(text[100:]))
    yield frame("frame-skippable-behind", "a skippable frame behind it", data + skippable(0x184D2A50, b""))
    yield frame("frame-checksum", "a frame with a checksum", zstandard.ZstdCompressor(write_checksum=True).compress(text))
    yield frame("frame-window", "a window above the content size", frame_header(len(text), window=0x50) + zstd_block(0, len(text), text, True))

    first = few[0]["id"]
    yield content("json-space", "a space behind a colon", "packs", text.replace(b'"packs":', b'"packs": '), first, 3)
    yield content("json-behind", "a line end behind the content", "packs", text + b"\n", first, 3)
    yield content("json-array", "an array", "packs", few, first, 3)
    yield content("json-null", "null as the value of an unknown key", "packs", b'{"a":null,' + text[1:], first, 3)
    yield content("packs-other-list", "the list of another kind", "packs", {"pages": few}, first, 3)
    yield content("packs-none", "no entry", "packs", {"packs": []}, first, 1)
    yield content("packs-unsorted", "ids that descend", "packs", {"packs": few[::-1]}, few[-1]["id"], 3)
    yield content("packs-twice", "an id twice", "packs", {"packs": [few[0], few[0]]}, first, 2)
    yield content("packs-count", "another number of entries", "packs", {"packs": few}, first, 2)
    yield content("packs-first", "another first key", "packs", {"packs": few}, first[:-1], 3)
    yield content("packs-513", "an entry too many", "packs", {"packs": sample_entries(513)}, first, 512)
    yield content("packs-in-manifest", "an id that the manifest itself lists", "packs", {"packs": [{**few[0], "id": "core"}]}, "core", 1)
    for name, comment, changes in (
            ("delivery", "an entry that says how it is delivered", {"delivery": "onDemand"}),
            ("essential", "an essential pack", {"delivery": "essential"}), ("no-size", "an entry without size", {"size": None}),
            ("id", "an id that is no pack name", {"id": "../core"}), ("key-id-repeated", "the key id of all packs", {"keyId": DEFAULTS["keyId"]}),
            ("url-http", "a URL without TLS", {"url": "http://example.com/a.pack"}), ("name-id", "a name that is the id", {"name": first})):
        entry = present({**few[0], **changes})
        yield content(f"packs-{name}", comment, "packs", {"packs": [entry]}, entry["id"], 1)
    yield bad("packs-beyond", "keys that belong to the next page", data, reference, {**after, "first": few[2]["id"]})

    groups = tag_groups(pairs)
    yield content("tags-unsorted", "tags that descend", "tags", {"tags": groups[::-1]}, "boss\tb", 3)
    yield content("tags-in-two-groups", "a tag in two groups", "tags", {"tags": [{"ids": ["a"], "tag": "all"}, {"ids": ["b"], "tag": "all"}]},
                  "all\ta", 2)
    yield content("tags-ids-unsorted", "ids that descend", "tags", {"tags": [{"ids": ["b", "a"], "tag": "all"}]}, "all\tb", 2)
    yield content("tags-ids-twice", "an id twice", "tags", {"tags": [{"ids": ["a", "a"], "tag": "all"}]}, "all\ta", 2)
    yield content("tags-no-ids", "a tag without ids", "tags", {"tags": [{"ids": [], "tag": "all"}, *groups[1:]]}, "boss\tb", 1)
    yield content("tags-id", "an id that is no pack name", "tags", {"tags": [{"ids": ["a/b"], "tag": "all"}]}, "all\ta/b", 1)
    yield content("tags-tab", "a tag with a tab", "tags", {"tags": [{"ids": ["a"], "tag": "a\tb"}]}, "a\tb\ta", 1)
    yield content("tags-text", "a tag that is no object", "tags", {"tags": ["all"]}, "all\ta", 1)

    yield content("index-other-kind", "a page of another kind", "index", {"pages": [reference]}, reference["first"], 1, of="tags")
    inner, _ = make_page("index", [reference, after], of="packs")
    yield content("index-of-index", "an index page in an index page", "index", {"pages": [inner]}, inner["first"], 1, of="packs")
    yield content("index-unsorted", "pages that descend", "index", {"pages": [after, reference]}, after["first"], 2, of="packs")
    yield content("index-twice", "two pages with one first key", "index", {"pages": [reference, reference]}, reference["first"], 2, of="packs")
