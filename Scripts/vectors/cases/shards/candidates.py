"""A candidate in the entry of a shard."""

from vectors.cases.manifests.editions import CANDIDATE, ROLLOUT, full_candidate, right_candidates, wrong_candidates
from vectors.cases.manifests.samples import OPENER, sample_entries
from vectors.cases.shards.vector import content_vector
from vectors.format.shards import shard_content

FIRST, SECOND = sample_entries(2)


def candidates_in_entries():
    """§9.3, §9.11"""
    def case(name, expect, comment, *entries, rollouts=(ROLLOUT,), beside=None):
        changes = {"rollouts": list(rollouts)} if rollouts else {}
        return content_vector(f"candidate-{name}", expect, comment, {"packs": list(entries), **(beside or {})}, len(entries), **changes)

    for expect, candidates in (("ok", right_candidates(FIRST, 4)), ("damaged", wrong_candidates(FIRST, 4))):
        for name, comment, candidate in candidates:
            yield case(name, expect, comment, {**FIRST, "candidate": candidate})
    whole = {**FIRST, "candidate": full_candidate()}
    yield case("two-packs", "ok", "two packs of two rollouts", {**whole, "candidate": {**CANDIDATE, "rollout": "autumn"}},
               {**SECOND, "candidate": CANDIDATE}, rollouts=({**ROLLOUT, "id": "autumn"}, ROLLOUT))
    yield case("opener", "damaged", "a candidate beside an opener", {**FIRST, "candidate": CANDIDATE, "install": "packed", "opener": OPENER})
    yield case("without-rollouts", "damaged", "a candidate where the manifest has no rollouts", whole, rollouts=())
    yield case("rollouts-in-shard", "damaged", "a candidate where only the shard has rollouts", whole, rollouts=(), beside={"rollouts": [ROLLOUT]})
    yield case("last", "damaged", "a fault in the candidate of the last pack", whole, {**SECOND, "candidate": {**CANDIDATE, "rollout": "autumn"}})
    text = shard_content([{**FIRST, "candidate": CANDIDATE}])
    for name, comment, old, new in (
            ("key-order", "the keys of a candidate in another order", b'"version":8}', b'"version":8,"a":1}'),
            ("key-twice", "a key of a candidate twice", b'"version":8}', b'"version":8,"version":8}'),
            ("version-fraction", "a version of a candidate with a fraction", b'"version":8}', b'"version":8.5}')):
        assert text.count(old) == 1
        yield content_vector(f"candidate-{name}", "damaged", comment, text.replace(old, new), 1, rollouts=[ROLLOUT])
