"""What cases of rollouts and candidates are made of."""

from vectors.cases.manifests.samples import STREAM, sample_delta
from vectors.format.limits import MAX_DELTAS, MAX_INTEGER

ROLLOUT = {"id": "winter", "salt": bytes(range(16)).hex(), "share": 2500, "state": "running", "until": "2026-12-24T00:00:00Z"}
CANDIDATE = {"contentRoot": "76543210fedcba98" * 4, "contentSize": 65432, "files": 4, "installSize": 73728, "maxFrame": 40000, "rollout": "winter",
             "sha256": "abcdef0123456789" * 4, "size": 23456, "version": 8}


def stream_in(size):
    """A stream that fits a pack of this size, and no other."""
    return {**STREAM, "launch": 100, "tail": size - 200, "size": 300 + 4 * 32}


def full_candidate(lone=False):
    """A candidate with every key, or only with those that it must have."""
    deltas = sorted((sample_delta(0, j) for j in range(2)), key=lambda delta: delta["sha256"])
    return {**CANDIDATE, **({} if lone else {"deltas": deltas, "stream": stream_in(CANDIDATE["size"])})}


def nested(depth):
    """Arrays in one another."""
    return [nested(depth - 1)] if depth > 1 else []


def numbered_deltas(count):
    return [{**sample_delta(0, 0), "sha256": f"{i:02x}" * 32} for i in range(count)]


def right_candidates(entry, spare):
    """§9.11: what an entry may say of a candidate; an unknown key of it may have as many arrays in one another as `spare`."""
    yield "required-keys", "the keys that a candidate must have, and no others", CANDIDATE
    yield "all-keys", "every key of a candidate", full_candidate()
    yield "version-next", "the next version", {**CANDIDATE, "version": entry["version"] + 1}
    yield "version-largest", "the largest version", {**CANDIDATE, "version": MAX_INTEGER}
    yield "same-content", "the content of the stable edition in another file", {**CANDIDATE, "contentRoot": entry["contentRoot"]}
    yield "deltas-64", "as many deltas as there may be", {**CANDIDATE, "deltas": numbered_deltas(MAX_DELTAS)}
    yield "unknown-keys", "keys of a candidate that readers pass over, among them some of an entry",\
        {**CANDIDATE, "a": 1, "delivery": "later", "keyId": entry.get("keyId", ""), "opener": {}, "url": [], "zone": {"": True}}
    yield "depth-8", "arrays down to depth 8 as the value of an unknown key", {**CANDIDATE, "a": nested(spare)}
    yield "delta-depth-8", "the same of a delta", {**CANDIDATE, "deltas": [{**sample_delta(0, 0), "a": nested(spare - 2)}]}


def wrong_candidates(entry, spare):
    """§9.3, §9.11: what an entry cannot say of a candidate."""
    for key in CANDIDATE:
        yield f"without-{key}", f"a candidate without {key}", {name: value for name, value in CANDIDATE.items() if name != key}
    for key in ("contentSize", "files", "installSize", "maxFrame", "size", "version"):
        yield f"{key}-text", f"a {key} of a candidate that is a text", {**CANDIDATE, key: str(CANDIDATE[key])}
    for name, comment, changes in (
            ("content-root-short", "a content root of 31 bytes", {"contentRoot": "00" * 31}),
            ("sha256-short", "the digest of a candidate with 31 bytes", {"sha256": "00" * 31}),
            ("sha256-upper-case", "the digest of a candidate with upper-case digits", {"sha256": "AB" * 32}),
            ("sha256-same", "the file of the stable edition", {"sha256": entry["sha256"]}),
            ("version-same", "the version of the stable edition", {"version": entry["version"]}),
            ("version-lower", "a version below that of the stable edition", {"version": entry["version"] - 1}),
            ("rollout-unknown", "a rollout that is not there", {"rollout": "autumn"}), ("rollout-case", "a rollout in another case", {"rollout": "Winter"}),
            ("rollout-empty", "an empty id of a rollout", {"rollout": ""}), ("rollout-array", "a rollout that is no text", {"rollout": ["winter"]}),
            ("rollout-object", "the rollout itself", {"rollout": ROLLOUT}),
            ("deltas-none", "an empty list of deltas", {"deltas": []}), ("deltas-65", "a delta too many", {"deltas": numbered_deltas(MAX_DELTAS + 1)}),
            ("deltas-object", "deltas that are no array", {"deltas": sample_delta(0, 0)}),
            ("deltas-unsorted", "deltas that descend", {"deltas": numbered_deltas(2)[::-1]}),
            ("deltas-twice", "a delta twice", {"deltas": numbered_deltas(1) * 2}),
            ("delta-no-base", "a delta over nothing", {"deltas": [{**sample_delta(0, 0), "bases": []}]}),
            ("delta-size-0", "a delta without a byte", {"deltas": [{**sample_delta(0, 0), "size": 0}]}),
            ("delta-depth-9", "arrays down to depth 9 as the value of an unknown key of a delta",
             {"deltas": [{**sample_delta(0, 0), "a": nested(spare - 1)}]}),
            ("stream-of-stable", "a lead that fits the stable edition", {"stream": stream_in(entry["size"])}),
            ("stream-array", "a stream that is no object", {"stream": [stream_in(CANDIDATE["size"])]}),
            ("stream-empty", "a stream without anything", {"stream": {}}),
            ("stream-tail-text", "a tail of a stream that is a text", {"stream": {**stream_in(CANDIDATE["size"]), "tail": "1"}}),
            ("depth-9", "arrays down to depth 9 as the value of an unknown key", {"a": nested(spare + 1)})):
        yield name, comment, {**CANDIDATE, **changes}
    yield "array", "a candidate that is no object", [CANDIDATE]
    yield "text", "a candidate that is a text", CANDIDATE["sha256"]
    yield "empty", "a candidate without anything", {}


def right_rollouts():
    """§9.11: rollouts that a manifest may have."""
    yield "required-keys", "the keys that a rollout must have, and no others, and no candidate", ROLLOUT
    for name, comment, changes in (
            ("share-0", "no device but those of groups", {"share": 0}), ("share-10000", "all devices", {"share": 10000}),
            ("paused", "a rollout that is paused", {"state": "paused"}), ("halted", "a rollout that is halted", {"state": "halted"}),
            ("id-64", "an id with 64 characters", {"id": "w" * 64}), ("group", "one group", {"groups": ["0"]}),
            ("groups-16", "as many groups as there may be", {"groups": [f"g{i:02}" + "-" * 61 for i in range(16)]}),
            ("groups-order", "groups in the order of their bytes", {"groups": ["0", "A", "a", "a-b", "a.b", "aB", "a_b", "ab"]}),
            ("until-long-ago", "an end in year 0", {"until": "0000-02-29T23:59:59Z"}),
            ("unknown-keys", "keys of a rollout that readers pass over", {"a": [], "salts": 1, "zone": {"": True}}),
            ("depth-8", "arrays down to depth 8 as the value of an unknown key", {"a": nested(4)})):
        yield name, comment, {**ROLLOUT, **changes}


def wrong_rollouts():
    """§9.11: rollouts that a manifest cannot have."""
    for key in ROLLOUT:
        yield f"without-{key}", f"a rollout without {key}", {name: value for name, value in ROLLOUT.items() if name != key}
    for name, comment, changes in (
            ("id-empty", "an empty id", {"id": ""}), ("id-dash", "an id that begins with a dash", {"id": "-winter"}),
            ("id-space", "an id with a space", {"id": "in winter"}), ("id-65", "an id with 65 characters", {"id": "w" * 65}),
            ("id-not-ascii", "an id that is not ASCII", {"id": "für-alle"}), ("id-integer", "an id that is no text", {"id": 1}),
            ("salt-15", "a salt of 15 bytes", {"salt": "00" * 15}), ("salt-17", "a salt of 17 bytes", {"salt": "00" * 17}),
            ("salt-odd", "a salt of 31 digits", {"salt": "0" * 31}), ("salt-upper-case", "a salt with upper-case digits", {"salt": "AB" * 16}),
            ("salt-not-hex", "a salt that is no hex", {"salt": "0g" * 16}), ("salt-integer", "a salt that is no text", {"salt": 0}),
            ("share-10001", "more than all devices", {"share": 10001}), ("share-largest", "the largest integer", {"share": MAX_INTEGER}),
            ("share-text", "a share that is a text", {"share": "2500"}), ("share-true", "a share that is true", {"share": True}),
            ("state-unknown", "a state that there is not", {"state": "stopped"}), ("state-case", "a state in another case", {"state": "Running"}),
            ("state-empty", "an empty state", {"state": ""}), ("state-true", "a state that is no text", {"state": True}),
            ("until-day", "a day in the place of a time", {"until": "2026-12-24"}),
            ("until-zone", "a time of another zone", {"until": "2026-12-24T00:00:00+01:00"}),
            ("until-no-day", "a day that does not exist", {"until": "2027-02-29T00:00:00Z"}),
            ("until-number", "a time that is a number", {"until": 1798070400}),
            ("groups-none", "an empty list of groups", {"groups": []}), ("groups-17", "a group too many", {"groups": [f"g{i:02}" for i in range(17)]}),
            ("groups-text", "groups that are no array", {"groups": "beta"}), ("groups-object", "groups in an object", {"groups": {"beta": 1}}),
            ("groups-unsorted", "groups that descend", {"groups": ["staff", "beta"]}), ("groups-twice", "a group twice", {"groups": ["beta", "beta"]}),
            ("groups-unsorted-bytes", "groups in an order without regard to case", {"groups": ["a", "B"]}),
            ("group-empty", "an empty group", {"groups": [""]}), ("group-space", "a group with a space", {"groups": ["all staff"]}),
            ("group-65", "a group with 65 characters", {"groups": ["g" * 65]}), ("group-integer", "a group that is no text", {"groups": ["beta", 1]}),
            ("depth-9", "arrays down to depth 9 as the value of an unknown key", {"a": nested(5)})):
        yield name, comment, {**ROLLOUT, **changes}
    yield "empty", "a rollout without anything", {}
