"""Rollouts in a manifest, and candidates in its entries."""

from vectors.cases.manifests.editions import ROLLOUT, full_candidate, right_candidates, right_rollouts, wrong_candidates, wrong_rollouts
from vectors.cases.manifests.samples import DEFAULTS, OPENER, SEED, kat_pack, kat_signed, present, sample_delta
from vectors.cases.manifests.vector import manifest_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.limits import MAX_INTEGER, MAX_ROLLOUTS
from vectors.format.manifest import make_manifest


def entry(**changes):
    return kat_pack(**{"url": None, "keyId": None, **changes})


def rollout_manifests():
    """§9.3, §9.11"""
    def case(name, expect, comment, *packs, rollouts=(ROLLOUT,), **changes):
        rollouts = list(rollouts) if isinstance(rollouts, tuple) else rollouts
        signed = kat_signed(**present({"packs": list(packs), "rollouts": rollouts, **DEFAULTS, **changes}))
        return manifest_vector(name, expect, comment, make_manifest(signed, [SEED]))

    for expect, rollouts in (("ok", right_rollouts()), ("damaged", wrong_rollouts())):
        for name, comment, rollout in rollouts:
            yield case(f"rollout-{name}", expect, comment, rollouts=[rollout])

    def named(*names):
        return [{**ROLLOUT, "id": name} for name in names]

    yield case("rollouts-32", "ok", "as many rollouts as there may be", rollouts=named(*(f"r{i:02}" for i in range(MAX_ROLLOUTS))))
    yield case("rollouts-order", "ok", "rollouts in the order of the bytes of their ids", rollouts=named("0", "A", "a", "a-b", "a.b", "aB", "a_b", "ab"))
    yield case("rollouts-without-base", "ok", "a rollout where there is no base, and no candidate", base=None, keyId=None)
    for name, comment, rollouts in (
            ("none", "an empty list", []), ("33", "a rollout too many", named(*(f"r{i:02}" for i in range(MAX_ROLLOUTS + 1)))),
            ("object", "rollouts that are no array", ROLLOUT), ("text", "a rollout that is no object", ["winter"]),
            ("array", "a rollout that is an array", [[ROLLOUT]]), ("unsorted", "ids that descend", named("b", "a")),
            ("unsorted-bytes", "ids in an order without regard to case", named("a", "B")),
            ("unsorted-late", "the last two ids descend", named("a", "c", "b")), ("twice", "a rollout twice", [ROLLOUT, ROLLOUT]),
            ("id-twice", "two rollouts with one id", [ROLLOUT, {**ROLLOUT, "share": 0}]),
            ("last", "a fault in the last rollout", [{**ROLLOUT, "id": "autumn"}, {**ROLLOUT, "share": 10001}])):
        yield case(f"rollouts-{name}", "damaged", comment, rollouts=rollouts)

    core = entry()
    for expect, candidates in (("ok", right_candidates(core, 3)), ("damaged", wrong_candidates(core, 3))):
        for name, comment, candidate in candidates:
            yield case(f"candidate-{name}", expect, comment, entry(candidate=candidate))
    whole = full_candidate()
    other = {**ROLLOUT, "id": "autumn", "salt": "f0" * 16, "share": 0, "groups": None, "state": "paused"}
    yield case("rollouts-all-keys", "ok", "every key that a writer writes of rollouts and candidates",
               entry(candidate=whole, deltas=[sample_delta(1, 0)]), entry(id="level-1", candidate={**full_candidate(lone=True), "rollout": "autumn"}),
               rollouts=[present(other), {**ROLLOUT, "groups": ["beta", "staff"]}], issued="2026-07-05T00:00:00Z")
    for name, comment, changes in (
            ("packed", "an on-demand pack in packed form, in its own place under its own key",
             {"install": "packed", "delivery": "onDemand", "url": "https://example.com/core.pack", "keyId": "0123456789abcdef"}),
            ("languages", "a pack of a language group, with a base", {"language": "de", "languages": ["de", "en"], "basePack": "engine"}),
            ("deltas-alike", "the same delta to both editions", {"deltas": whole["deltas"]})):
        yield case(f"candidate-{name}", "ok", comment, entry(candidate=whole, **changes))
    yield case("candidate-two-packs", "ok", "two packs of one rollout", entry(candidate=whole), entry(id="level-1", candidate=whole))
    for name, comment, changes in (
            ("opener", "a candidate beside an opener", {"opener": OPENER, "install": "packed"}),
            ("of-largest-version", "an edition that no other can follow", {"version": MAX_INTEGER})):
        yield case(f"candidate-{name}", "damaged", comment, entry(candidate=full_candidate(), **changes))
    yield case("candidate-without-base", "damaged", "a candidate where there is no base", kat_pack(keyId=None, candidate=full_candidate(lone=True)), base=None)
    yield case("candidate-without-rollouts", "damaged", "a candidate where there are no rollouts", entry(candidate=whole), rollouts=None)
    yield case("candidate-last", "damaged", "a fault in the candidate of the last pack", entry(candidate=whole),
               entry(id="level-1", candidate={**whole, "rollout": "autumn"}))

    # Numbers and keys that no value has.
    signed = canonical_json(kat_signed(packs=[entry(candidate=full_candidate(lone=True))], rollouts=[ROLLOUT], **DEFAULTS)).encode()
    for name, comment, old, new in (
            ("rollout-share-negative", "a negative share", b'"share":2500,', b'"share":-1,'),
            ("rollout-share-fraction", "a share with a fraction", b'"share":2500,', b'"share":0.25,'),
            ("rollout-share-2-53", "a share of 2^53", b'"share":2500,', b'"share":%d,' % (MAX_INTEGER + 1)),
            ("rollout-key-order", "the keys of a rollout in another order", b'"share":2500,', b'"share":2500,"a":1,'),
            ("rollout-key-twice", "a key of a rollout twice", b'"share":2500,', b'"share":2500,"share":2500,'),
            ("rollout-null", "groups that are null", b'{"id":"winter"', b'{"groups":null,"id":"winter"'),
            ("candidate-version-2-53", "a version of a candidate of 2^53", b'"version":8}', b'"version":%d}' % (MAX_INTEGER + 1)),
            ("candidate-version-fraction", "a version of a candidate with a fraction", b'"version":8}', b'"version":8.5}'),
            ("candidate-key-order", "the keys of a candidate in another order", b'"version":8}', b'"version":8,"a":1}'),
            ("candidate-key-twice", "a key of a candidate twice", b'"version":8}', b'"version":8,"version":8}'),
            ("candidate-null", "a stream of a candidate that is null", b'"version":8}', b'"stream":null,"version":8}')):
        assert signed.count(old) == 1, (name, signed)
        yield manifest_vector(name, "damaged", comment, make_manifest(signed.replace(old, new), [SEED]))
