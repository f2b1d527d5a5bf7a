"""Deltas in the entries of a shard."""

from vectors.cases.manifests.editions import nested
from vectors.cases.manifests.samples import present, sample_entries, sample_updates
from vectors.cases.shards.vector import content_vector
from vectors.format.limits import MAX_INTEGER
from vectors.format.shards import shard_content


def small_delta(digest="10", **changes):
    """A delta with digests that say which one it is; a change to None takes a key out."""
    return present({"bases": ["a1" * 32], "sha256": digest * 32, "size": 100, **changes})


def small_entry(*deltas, number=0):
    return {**sample_entries(number + 1)[number], "deltas": list(deltas) or [small_delta()]}


def valid_deltas_in_entries():
    def good(name, comment, *entries):
        return content_vector(f"deltas-{name}", "ok", comment, {"packs": list(entries)}, len(entries))

    yield good("one", "a delta to a pack", *sample_updates(1))
    yield good("several", "deltas to three packs", *sample_updates(3))
    yield good("four-bases", "a delta over four bases, which do not ascend",
               small_entry(small_delta(bases=[digit * 64 for digit in "d0c1"])))
    yield good("64", "as many deltas as there may be", small_entry(*(small_delta(f"{i:02x}", size=i + 1) for i in range(64))))
    yield good("sizes", "the smallest and the largest size", small_entry(small_delta(size=1), small_delta("20", size=MAX_INTEGER)))
    yield good("bases-alike", "two deltas over the same bases", small_entry(small_delta(), small_delta("20")))
    yield good("digest-alike", "deltas to two packs with one digest", small_entry(), small_entry(number=1))
    yield good("unknown-keys", "keys of a delta that readers pass over", small_entry(small_delta(base="", id=True, zone={})))
    yield good("depth-8", "arrays down to depth 8 as the value of an unknown key", small_entry(small_delta(a=nested(3))))


def damaged_deltas_in_entries():
    def entry(name, comment, *deltas):
        return content_vector(f"deltas-{name}", "damaged", comment, {"packs": [small_entry(*deltas)]}, 1)

    text = shard_content([small_entry(small_delta(size=1))])
    for name, comment, old, new in (
            ("space", "a space behind a comma", b',"size":1}', b', "size":1}'),
            ("key-order", "the keys of a delta in another order", b'"size":1}', b'"size":1,"a":1}'),
            ("key-twice", "a key of a delta twice", b'"size":1}', b'"size":1,"size":1}'),
            ("null", "null as the value of an unknown key", b'"size":1}', b'"size":1,"zone":null}'),
            ("size-negative", "a negative size", b'"size":1}', b'"size":-1}'),
            ("size-fraction", "a size with a fraction", b'"size":1}', b'"size":1.0}'),
            ("size-exponent", "a size with an exponent", b'"size":1}', b'"size":1e3}'),
            ("size-leading-zero", "a size with a leading zero", b'"size":1}', b'"size":01}'),
            ("size-2-53", "a size of 2^53", b'"size":1}', b'"size":%d}' % (MAX_INTEGER + 1))):
        assert text.count(old) == 1
        yield content_vector(f"deltas-{name}", "damaged", comment, text.replace(old, new), 1)
    yield entry("depth-9", "arrays down to depth 9 as the value of an unknown key", small_delta(a=nested(4)))
    for name, comment, deltas in (
            ("none", "an empty list", []), ("65", "a delta too many", [small_delta(f"{i:02x}") for i in range(65)]),
            ("object", "deltas that are no array", small_delta()), ("text", "a delta that is no object", ["10" * 32]),
            ("array", "a delta that is an array", [[small_delta()]])):
        yield content_vector(f"deltas-{name}", "damaged", comment, {"packs": [{**small_entry(), "deltas": deltas}]}, 1)
    yield entry("unsorted", "deltas that descend", small_delta("20"), small_delta("10"))
    yield entry("unsorted-late", "the last two deltas descend", small_delta("10"), small_delta("30"), small_delta("20"))
    yield entry("by-size", "deltas in the order of their sizes", small_delta("20", size=1), small_delta("10", size=2))
    yield entry("twice", "a delta twice", small_delta(), small_delta())
    yield entry("digest-twice", "two deltas with one digest", small_delta(), small_delta(bases=["b2" * 32], size=101))
    for key in small_delta():
        yield entry(f"without-{key}", f"a delta without {key}", small_delta(**{key: None}))
    a, b, c, d, e = (letter * 64 for letter in "abcde")
    for name, comment, changes in (
            ("bases-none", "a delta over no base", {"bases": []}), ("bases-5", "a delta over five bases", {"bases": [a, b, c, d, e]}),
            ("bases-twice", "a base twice", {"bases": [a, a]}), ("bases-twice-apart", "the first base once more as the fourth", {"bases": [a, b, c, a]}),
            ("bases-text", "bases that are no array", {"bases": a}), ("bases-object", "bases in an object", {"bases": {a: 1}}),
            ("base-integer", "a base that is no text", {"bases": [a, 1]}), ("base-array", "a base in an array", {"bases": [[a]]}),
            ("base-short", "a base of 63 digits", {"bases": [a[1:]]}), ("base-long", "a base of 65 digits", {"bases": [a + "a"]}),
            ("base-upper-case", "a base in upper case", {"bases": [a.upper()]}), ("base-not-hex", "a base that is no hex", {"bases": [a[1:] + "g"]}),
            ("base-empty", "an empty base", {"bases": [""]}), ("base-last-short", "a fourth base of 63 digits", {"bases": [a, b, c, d[1:]]}),
            ("digest-short", "a digest of 63 digits", {"sha256": a[1:]}), ("digest-long", "a digest of 65 digits", {"sha256": a + "a"}),
            ("digest-upper-case", "a digest in upper case", {"sha256": a.upper()}), ("digest-integer", "a digest that is no text", {"sha256": 1}),
            ("size-0", "a delta without a byte", {"size": 0}), ("size-text", "a size that is a text", {"size": "100"}),
            ("size-true", "a size that is true", {"size": True}), ("size-array", "a size in an array", {"size": [100]})):
        yield entry(name, comment, small_delta(**changes))
    yield content_vector("deltas-last", "damaged", "a fault in the last delta of the last pack",
                         {"packs": [small_entry(), small_entry(small_delta("10"), small_delta("20", size=0), number=1)]}, 2)
