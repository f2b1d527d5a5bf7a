"""The rollouts of a manifest, and which edition a device takes (FORMAT.md §9.11)."""

from vectors.format.entries import CANDIDATE_VALUES, OPTIONAL_CANDIDATE_VALUES, PACK_VALUES, check_keys, is_integer, is_texts, is_time, matches
from vectors.format.errors import require
from vectors.format.limits import MAX_GROUPS, MAX_ROLLOUTS, WHOLE_SHARE
from vectors.format.primitives import label, sha256

ROLLOUT_VALUES = {"id": PACK_VALUES["id"], "salt": matches("[0-9a-f]{32}"), "share": lambda value: is_integer(value) and value <= WHOLE_SHARE,
                  "state": matches("running|paused|halted"), "until": is_time}
OPTIONAL_ROLLOUT_VALUES = {"groups": lambda value: is_texts(value) and 1 <= len(value) <= MAX_GROUPS and all(map(PACK_VALUES["id"], value))
                           and ascend(value)}


def ascend(names):
    return all(a < b for a, b in zip(names, names[1:]))


def check_rollouts(rollouts):
    """§9.3, §9.11: the list in a manifest."""
    require(isinstance(rollouts, list) and 1 <= len(rollouts) <= MAX_ROLLOUTS, "the number of rollouts")
    for rollout in rollouts:
        check_keys(rollout, ROLLOUT_VALUES, OPTIONAL_ROLLOUT_VALUES, "a rollout")
    require(ascend([rollout["id"] for rollout in rollouts]), "the order of the rollouts")


def place_in(rollout, installation):
    """§9.11: the place of an installation, by its random bytes."""
    digest = sha256(label("rollout") + bytes.fromhex(rollout["salt"]) + installation)
    return WHOLE_SHARE * int.from_bytes(digest[:8], "big") >> 64


def takes_candidate(rollout, installation, groups, standing, time):
    """§9.11: `standing` is what became of the candidate on the device: `running`, `failed` or `other`."""
    if rollout["state"] == "halted" or standing == "failed":
        return False
    if standing == "running":
        return True
    # Times of this form ascend as texts do.
    picked = place_in(rollout, installation) < rollout["share"] or bool(set(groups) & set(rollout.get("groups", ())))
    return rollout["state"] == "running" and time < rollout["until"] and picked


def edition(entry, signed, takes):
    """§9.11: an entry, as read_pack_entry returns it, as a device sees it that takes the candidate or does not."""
    values = {key: value for key, value in entry.items() if key != "candidate"}
    if not takes:
        return values
    named = [*CANDIDATE_VALUES, *OPTIONAL_CANDIDATE_VALUES]
    own = {key: value for key, value in entry["candidate"].items() if key in named and key != "rollout"}
    shared = {key: value for key, value in values.items() if key not in named}
    return {**shared, **own, "url": signed["base"] + f"{entry['id']}-{own['sha256'][:16]}.pack"}
