"""Catalogues, deltas, leads and openers in a manifest."""

from vectors.cases.manifests.samples import (
    DEFAULTS, OPENER, SEED, STREAM, kat_pack, kat_signed, present, right_openers, right_streams, sample_delta, sample_entries, wrong_openers,
    wrong_streams)
from vectors.cases.manifests.vector import manifest_vector
from vectors.format.frames import bound
from vectors.format.limits import MAX_SHARD
from vectors.format.manifest import make_manifest
from vectors.format.shards import make_shard


def catalogue_manifests():
    """§9.7: the list of shards; §9.3: deltas, a lead and an opener in an entry."""
    few, _ = make_shard(sample_entries(3))
    none, _ = make_shard([])

    def case(name, expect, comment, shards, **changes):
        return manifest_vector(name, expect, comment, make_manifest(
            kat_signed(**present({"packs": [kat_pack(url=None, keyId=None)], "catalogue": shards, **DEFAULTS, **changes})), [SEED]))

    yield case("catalogue", "ok", "one shard", [few])
    yield case("catalogue-2", "ok", "two shards, one of them without an entry", [few, none])
    yield case("catalogue-1024", "ok", "as many shards as there may be", [few] * 1024)
    yield case("catalogue-same", "ok", "a shard twice", [few, few])
    yield case("catalogue-unknown-key", "ok", "a key of a shard that readers pass over", [{**few, "a": 1}])
    yield case("catalogue-on-demand", "ok", "an on-demand pack that the manifest itself lists", [few],
               packs=[kat_pack(url=None, keyId=None, delivery="onDemand")])
    for name, comment, shards in (
            ("3", "three shards", [few] * 3), ("2048", "too many shards", [few] * 2048), ("none", "an empty list", []),
            ("object", "shards that are no array", {}), ("text", "a shard that is no object", ["packs"])):
        yield case(f"catalogue-{name}", "damaged", comment, shards)
    for key in few:
        yield case(f"shard-without-{key}", "damaged", f"a shard without {key}", [{k: v for k, v in few.items() if k != key}])
    for name, comment, changes in (
            ("content-size-0", "a shard without content", {"contentSize": 0}),
            ("content-size-above", "a shard above 1 MiB", {"contentSize": MAX_SHARD + 1}),
            ("size-0", "a shard without a byte", {"size": 0}),
            ("size-above-bound", "a shard larger than its content can make it", {"size": bound(few["contentSize"]) + 1}),
            ("max-count-above", "more entries than bytes", {"maxCount": few["contentSize"] + 1}),
            ("max-count-text", "a number of entries that is a text", {"maxCount": "3"}),
            ("sha256-short", "a digest of 31 bytes", {"sha256": "00" * 31})):
        yield case(f"shard-{name}", "damaged", comment, [{**few, **changes}])
    yield case("shard-last", "damaged", "a fault in the last of four shards", [few, none, few, {**few, "size": 0}])
    yield case("catalogue-without-base", "damaged", "a catalogue where there is no base", [few], base=None, packs=[kat_pack(keyId=None)])

    first, second = sorted((sample_delta(0, j) for j in range(2)), key=lambda delta: delta["sha256"])

    def entry(name, expect, comment, deltas):
        return case(f"deltas-{name}", expect, comment, None, packs=[kat_pack(url=None, keyId=None, deltas=deltas)])

    yield entry("two", "ok", "two deltas to an essential pack", [first, second])
    yield entry("none", "damaged", "an empty list of deltas", [])
    yield entry("unsorted", "damaged", "deltas that descend", [second, first])
    yield entry("twice", "damaged", "a delta twice", [first, first])
    yield entry("no-base", "damaged", "a delta over nothing", [{**first, "bases": []}])
    yield case("deltas-without-base", "damaged", "deltas where there is no base", None, base=None, packs=[kat_pack(keyId=None, deltas=[first])])
    size = kat_pack()["size"]
    for expect, streams in (("ok", right_streams(size)), ("damaged", wrong_streams(size))):
        for name, comment, stream in streams:
            yield case(f"stream-{name}", expect, comment, None, packs=[kat_pack(url=None, keyId=None, stream=stream)])
    yield case("stream-without-base", "damaged", "a lead where there is no base", None, base=None, packs=[kat_pack(keyId=None, stream=STREAM)])
    sealed = {"url": None, "keyId": None, "install": "packed"}
    for expect, openers in (("ok", right_openers()), ("damaged", wrong_openers())):
        for name, comment, opener in openers:
            yield case(f"opener-{name}", expect, comment, None, packs=[kat_pack(**sealed, opener=opener)])
    for name, comment, changes in (
            ("unpacked", "an opener of a pack that is unpacked", {"install": "unpacked"}),
            ("deltas", "an opener of a pack with deltas", {"deltas": [first]}), ("stream", "an opener of a pack with a lead", {"stream": STREAM}),
            ("base-pack", "an opener of a pack with a base", {"basePack": "engine"})):
        yield case(f"opener-{name}", "damaged", comment, None, packs=[kat_pack(**{**sealed, **changes}, opener=OPENER)])
    yield case("opener-without-base", "damaged", "an opener where there is no base", None, base=None,
               packs=[kat_pack(keyId=None, install="packed", opener=OPENER)])
