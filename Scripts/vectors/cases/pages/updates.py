"""Pages of updates."""

from vectors.cases.faults import flip
from vectors.cases.manifests.samples import present, sample_entries, sample_updates, signed_with
from vectors.cases.pages.vector import content_vector, page_vector
from vectors.format.limits import MAX_INTEGER
from vectors.format.pages import make_page, page_content


def few_updates():
    """Updates to three packs, with one, two and three deltas."""
    return sample_updates(3)


def small_delta(digest="10", **changes):
    """A delta with digests that say which one it is; a change to None takes a key out."""
    return present({"bases": ["a1" * 32], "sha256": digest * 32, "size": 100, **changes})


def small_update(*deltas, name="level-000000"):
    return {"deltas": list(deltas) or [small_delta()], "id": name}


def nested(depth):
    """Arrays in one another."""
    return [nested(depth - 1)] if depth > 1 else []


def valid_updates():
    def good(name, comment, entries, *after):
        return content_vector(f"updates-{name}" if name else "updates", "ok", comment, "updates", {"updates": entries}, entries[0]["id"],
                              len(entries), *after)

    few = few_updates()
    reference, data = make_page("updates", few)
    after, _ = make_page("updates", sample_updates(6)[4:])
    packs, _ = make_page("packs", sample_entries(6)[4:])
    yield good("", "a delta to a pack", few[:1])
    yield good("several", "deltas to three packs, some to another content root", few)
    yield good("four-bases", "a delta over four bases, which do not ascend",
               [small_update(small_delta(bases=[digit * 64 for digit in "d0c1"], target="ab" * 32))])
    yield good("64-deltas", "as many deltas as there may be", [small_update(*(small_delta(f"{i:02x}", size=i + 1) for i in range(64)))])
    yield good("before-another", "a page that ends before another", few, after)
    yield good("before-unknown", "the next page is of a kind that readers pass over, with a lower key", few,
               {**packs, "first": "a", "kind": "zones"})
    yield page_vector("updates-after-packs", "ok", "the page before is of another kind, with a higher key", signed_with(packs, reference), 1, data)
    yield good("in-manifest", "deltas to a pack that the manifest itself lists", [small_update(name="core")])
    yield good("sizes", "the smallest and the largest size", [small_update(small_delta(size=1), small_delta("20", size=MAX_INTEGER))])
    yield good("ids", "ids in the order of their bytes, the last with 64 characters",
               [small_update(name=name) for name in ("0", "A", "a", "a-b", "a.b", "a0", "aB", "a_b", "ab", "z" * 64)])
    yield good("bases-alike", "two deltas over the same bases", [small_update(small_delta(), small_delta("20"))])
    yield good("digest-alike", "deltas to two packs with one digest", [small_update(), small_update(name="level-000001")])
    yield good("chain", "a chain of three deltas, not in the order in which they apply",
               [small_update(small_delta(bases=["b2" * 32], target="c3" * 32), small_delta("20", bases=["c3" * 32]), small_delta("30", target="b2" * 32))])
    yield good("circle", "two deltas of which each makes the base of the other",
               [small_update(small_delta(target="b2" * 32), small_delta("20", bases=["b2" * 32], target="a1" * 32))])
    yield content_vector("updates-unknown-keys", "ok", "keys that readers pass over: of the page, of an entry and of a delta", "updates",
                         {"packs": 1, "updates": [{**few[0], "target": 1, "url": []}, small_update(small_delta(base="", id=True, zone={}),
                                                                                                name="level-000001")]}, few[0]["id"], 2)
    yield good("depth-8", "arrays down to depth 8 as the value of an unknown key", [small_update(small_delta(a=nested(3)))])
    index, index_data = make_page("index", [reference, after], of="updates")
    last, _ = make_page("updates", sample_updates(10)[8:])
    yield page_vector("index-updates", "ok", "two references to pages of updates", signed_with(index), 0, index_data)
    yield page_vector("index-updates-before-another", "ok", "an index page that ends before a page of updates", signed_with(index, last), 0, index_data)


def damaged_updates():
    def bad(name, comment, value, first="level-000000", count=1, *after):
        return content_vector(f"updates-{name}", "damaged", comment, "updates", value, first, count, *after)

    few = few_updates()
    reference, data = make_page("updates", few)
    after, after_data = make_page("updates", sample_updates(6)[4:])
    first, text = few[0]["id"], page_content("updates", few[:1])
    yield page_vector("file-updates-swapped", "damaged", "the bytes of the next page of updates", signed_with(reference, after), 0, after_data)
    yield page_vector("file-updates-changed", "damaged", "a bit of a digest of a delta differs", signed_with(reference), 0, flip(data, 60))

    yield bad("other-list", "the list of another kind", {"packs": few}, first, 3)
    yield bad("list-object", "updates that are no array", {"updates": {}})
    yield bad("list-missing", "no updates", {})
    yield bad("none", "no entry", {"updates": []})
    yield bad("text", "an entry that is no object", {"updates": [first]})
    yield bad("array", "an entry that is an array", {"updates": [[small_delta()]]})
    yield content_vector("packs-as-updates", "damaged", "packs where the reference says updates", "updates", {"updates": sample_entries(3)}, first, 3)
    yield content_vector("updates-as-packs", "damaged", "updates where the reference says packs", "packs", {"packs": few}, first, 3)
    yield bad("unsorted", "ids that descend", {"updates": few[::-1]}, few[-1]["id"], 3)
    yield bad("unsorted-bytes", "ids in an order without regard to case", {"updates": [small_update(name="a"), small_update(name="B")]}, "a", 2)
    yield bad("twice", "an id twice", {"updates": [small_update(), small_update(small_delta("20"))]}, first, 2)
    yield bad("count-less", "more entries than the reference says", {"updates": few}, first, 2)
    yield bad("count-more", "fewer entries than the reference says", {"updates": few}, first, 4)
    yield bad("count-of-deltas", "the number of deltas as that of entries", {"updates": few}, first, 6)
    yield bad("first", "another first key", {"updates": few}, first[:-1], 3)
    yield bad("first-of-deltas", "the digest of a delta as the first key", {"updates": few[:1]}, few[0]["deltas"][0]["sha256"])
    yield bad("513", "an entry too many", {"updates": [small_update(name=f"{i:03}") for i in range(513)]}, "000", 512)
    yield page_vector("updates-beyond", "damaged", "keys that belong to the next page", signed_with(reference, {**after, "first": few[2]["id"]}), 0, data)
    late, _ = make_page("index", [after], of="updates")
    yield page_vector("updates-beyond-index", "damaged", "keys that belong to the index page behind it",
                      signed_with(reference, {**late, "first": few[1]["id"]}), 0, data)

    for name, comment, old, new in (
            ("space", "a space behind a comma", b',"size"', b', "size"'),
            ("key-order", "the keys of a delta in another order", b'"size":1}],"id"', b'"size":1,"a":1}],"id"'),
            ("entry-key-order", "the keys of an entry in another order", b'{"deltas"', b'{"id":"level-000000","deltas"'),
            ("key-twice", "a key of a delta twice", b'"size":1', b'"size":1,"size":1'),
            ("target-null", "null as the target", b'"size":1', b'"size":1,"target":null'),
            ("size-negative", "a negative size", b'"size":1', b'"size":-1'),
            ("size-fraction", "a size with a fraction", b'"size":1', b'"size":1.0'),
            ("size-exponent", "a size with an exponent", b'"size":1', b'"size":1e3'),
            ("size-leading-zero", "a size with a leading zero", b'"size":1', b'"size":01'),
            ("size-2-53", "a size of 2^53", b'"size":1', b'"size":%d' % (MAX_INTEGER + 1)),
            ("id-escape", "an escape of a letter in an id", b'"level-', b'"\\u006cevel-')):
        assert text.count(old) == 1
        changed = text.replace(old, new)
        if name == "entry-key-order":
            changed = changed.replace(b',"id":"level-000000"}', b"}")
        yield bad(name, comment, changed)
    yield bad("depth-9", "arrays down to depth 9 as the value of an unknown key", {"updates": [small_update(small_delta(a=nested(4)))]})

    def entry(name, comment, *deltas):
        return bad(name, comment, {"updates": [small_update(*deltas)]})

    for key in ("deltas", "id"):
        yield bad(f"without-{key}", f"an entry without {key}", {"updates": [{k: v for k, v in small_update().items() if k != key}]})
    for name, comment, deltas in (
            ("none", "an entry without a delta", []), ("65", "a delta too many", [small_delta(f"{i:02x}") for i in range(65)]),
            ("object", "deltas that are no array", small_delta()), ("text", "a delta that is no object", ["10" * 32]),
            ("array", "a delta that is an array", [[small_delta()]])):
        yield bad(f"deltas-{name}", comment, {"updates": [{"deltas": deltas, "id": first}]})
    yield entry("deltas-unsorted", "deltas that descend", small_delta("20"), small_delta("10"))
    yield entry("deltas-unsorted-late", "the last two deltas descend", small_delta("10"), small_delta("30"), small_delta("20"))
    yield entry("deltas-by-size", "deltas in the order of their sizes", small_delta("20", size=1), small_delta("10", size=2))
    yield entry("deltas-twice", "a delta twice", small_delta(), small_delta())
    yield entry("deltas-digest-twice", "two deltas with one digest", small_delta(), small_delta(bases=["b2" * 32], size=101))
    for name, comment, value in (
            ("path", "an id that is no pack name", "../core"), ("empty", "an empty id", ""), ("65", "an id of 65 characters", "a" * 65),
            ("dot", "an id that begins with a dot", ".core"), ("slash", "an id with a slash", "a/b"), ("not-ascii", "an id beyond ASCII", "höhle"),
            ("line-end", "an id with a line end", "core\n")):
        yield bad(f"id-{name}", comment, {"updates": [small_update(name=value)]}, value)
    yield bad("id-integer", "an id that is no text", {"updates": [small_update(name=1)]}, "1")

    for key in small_delta():
        yield entry(f"delta-without-{key}", f"a delta without {key}", small_delta(**{key: None}))
    a, b, c, d, e = (letter * 64 for letter in "abcde")
    for name, comment, changes in (
            ("bases-none", "a delta over no base", {"bases": []}), ("bases-5", "a delta over five bases", {"bases": [a, b, c, d, e]}),
            ("bases-twice", "a base twice", {"bases": [a, a]}), ("bases-twice-apart", "the first base once more as the fourth", {"bases": [a, b, c, a]}),
            ("bases-text", "bases that are no array", {"bases": a}), ("bases-object", "bases in an object", {"bases": {a: 1}}),
            ("base-integer", "a base that is no text", {"bases": [a, 1]}), ("base-array", "a base in an array", {"bases": [[a]]}),
            ("base-short", "a base of 63 digits", {"bases": [a[1:]]}), ("base-long", "a base of 65 digits", {"bases": [a + "a"]}),
            ("base-upper-case", "a base in upper case", {"bases": [a.upper()]}), ("base-not-hex", "a base that is no hex", {"bases": [a[1:] + "g"]}),
            ("base-empty", "an empty base", {"bases": [""]}), ("base-last-short", "a fourth base of 63 digits", {"bases": [a, b, c, d[1:]]}),
            ("target-base", "a delta that makes its base", {"target": "a1" * 32}),
            ("target-base-last", "a delta that makes its fourth base", {"bases": [a, b, c, d], "target": d}),
            ("target-short", "a target of 63 digits", {"target": a[1:]}), ("target-long", "a target of 65 digits", {"target": a + "a"}),
            ("target-upper-case", "a target in upper case", {"target": a.upper()}), ("target-empty", "an empty target", {"target": ""}),
            ("target-integer", "a target that is no text", {"target": 1}), ("target-array", "a target in an array", {"target": [a]}),
            ("target-false", "a target that is false", {"target": False}),
            ("digest-short", "a digest of 63 digits", {"sha256": a[1:]}), ("digest-long", "a digest of 65 digits", {"sha256": a + "a"}),
            ("digest-upper-case", "a digest in upper case", {"sha256": a.upper()}), ("digest-integer", "a digest that is no text", {"sha256": 1}),
            ("size-0", "a delta without a byte", {"size": 0}), ("size-text", "a size that is a text", {"size": "100"}),
            ("size-true", "a size that is true", {"size": True}), ("size-array", "a size in an array", {"size": [100]})):
        yield entry(name, comment, small_delta(**changes))
    yield bad("last-delta", "a fault in the last delta of the last pack",
              {"updates": [small_update(), small_update(small_delta("10"), small_delta("20", size=0), name="level-000001")]}, first, 2)

    packs, _ = make_page("packs", sample_entries(3))

    def index(name, comment, references, of="updates", count=None):
        return content_vector(f"index-updates-{name}", "damaged", comment, "index", {"pages": references}, references[0]["first"],
                              count or len(references), of=of)

    yield index("packs", "a page of packs in an index page of updates", [packs])
    yield index("in-packs", "a page of updates in an index page of packs", [reference], of="packs")
    yield index("both", "a page of packs before a page of updates", [packs, reference])
    yield index("unsorted", "pages of updates that descend", [after, reference])
    yield index("twice", "two pages of updates with one first key", [reference, {**after, "first": first}])
    yield index("count", "another number of pages of updates", [reference, after], count=1)
    yield index("513", "a page of updates with too many entries", [{**reference, "count": 513}])
    inner, _ = make_page("index", [reference], of="updates")
    yield index("of-index", "an index page in an index page of updates", [inner])
    index_reference, index_data = make_page("index", [reference, after], of="updates")
    yield page_vector("index-updates-beyond", "damaged", "a page that belongs behind the index page",
                      signed_with(index_reference, after), 0, index_data)
