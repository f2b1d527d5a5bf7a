"""The values in a manifest, and the entry of a pack (FORMAT.md §9.3)."""

import calendar
import re

from vectors.format.errors import require
from vectors.format.leads import check_numbers
from vectors.format.limits import MAX_DELTAS, MAX_OPENER


def is_time(text):
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", text):
        return False
    year, month, day, hour, minute, second = map(int, re.findall("[0-9]+", text))
    # 2000 and 0 are alike as years go; Python's calendar begins with year 1.
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 2000, month)[1] and hour < 24 \
        and minute < 60 and second < 60


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str)


def is_texts(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


BUDGET_KEYS = ("BADownloadAllowance", "BAEssentialDownloadAllowance", "BAEssentialMaxInstallSize", "BAMaxInstallSize")
HOST, URL_CHARACTER = r"https://[A-Za-z0-9._-]+(:[0-9]{1,5})?", r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})"
PACK_VALUES = {
    "contentRoot": matches("[0-9a-f]{64}"), "contentSize": is_integer, "delivery": matches("essential|prefetch|onDemand"),
    "files": is_integer, "id": matches("[A-Za-z0-9][A-Za-z0-9._-]{0,63}"), "install": matches("unpacked|packed"),
    "installSize": is_integer, "keyId": matches("[0-9a-f]{16}"), "maxFrame": is_integer, "sha256": matches("[0-9a-f]{64}"),
    "size": is_integer, "version": is_integer,
    "url": matches(rf"{HOST}([/?]({URL_CHARACTER}|\?)*)?"),
}
OPTIONAL_PACK_VALUES = {"basePack": PACK_VALUES["id"], "created": is_time, "description": is_text, "name": is_text, "tags": is_texts,
                        "language": matches("(?s).+"), "languages": is_texts, "fallback": is_text, "platforms": is_texts,
                        "deltas": lambda value: isinstance(value, list) and 1 <= len(value) <= MAX_DELTAS, "candidate": lambda value: isinstance(value, dict),
                        "opener": lambda value: isinstance(value, dict), "stream": lambda value: isinstance(value, dict)}
DELTA_VALUES = {"bases": lambda value: is_texts(value) and 1 <= len(value) <= 4 and all(map(PACK_VALUES["contentRoot"], value))
                and len(set(value)) == len(value),
                "sha256": PACK_VALUES["sha256"], "size": lambda value: is_integer(value) and value > 0}
STREAM_VALUES = {"launch": is_integer, "leaves": PACK_VALUES["sha256"], "sha256": PACK_VALUES["sha256"], "size": is_integer, "tail": is_integer}
CANDIDATE_VALUES = {**{key: PACK_VALUES[key] for key in ("contentRoot", "contentSize", "files", "installSize", "maxFrame", "sha256", "size", "version")},
                    "rollout": is_text}
OPTIONAL_CANDIDATE_VALUES = {key: OPTIONAL_PACK_VALUES[key] for key in ("deltas", "stream")}
OPENER_VALUES = {"sha256": PACK_VALUES["sha256"], "size": lambda value: is_integer(value) and 1 <= value <= MAX_OPENER}
DEFAULT_VALUES = {"base": matches(rf"{HOST}/{URL_CHARACTER}*(?<=/)"),
                  "keyId": PACK_VALUES["keyId"]}
SIGNED_VALUES = {"expires": is_time, "packs": lambda value: isinstance(value, list), "version": is_integer}


def check_keys(value, required, optional, what):
    require(isinstance(value, dict), f"{what} is no object")
    for key in required:
        require(key in value, f"{what} has no {key}")
    for key, test in {**required, **optional}.items():
        require(key not in value or test(value[key]), f"{what} has another {key}: {value.get(key)}")


def check_deltas(deltas):
    """§9.3: the deltas to a pack."""
    for delta in deltas:
        check_keys(delta, DELTA_VALUES, {}, "a delta")
    digests = [delta["sha256"] for delta in deltas]
    require(all(a < b for a, b in zip(digests, digests[1:])), "the order of the deltas")


def check_stream(pack):
    """§9.3, §9.9: what an entry says of the lead of its pack."""
    if "stream" in pack:
        check_keys(pack["stream"], STREAM_VALUES, {}, "a stream")
        check_numbers(pack["stream"], pack["size"])


def check_opener(pack):
    """§9.3, §9.10: what an entry says of the opener of its edition."""
    if "opener" in pack:
        check_keys(pack["opener"], OPENER_VALUES, {"opens": is_time}, "an opener")
        require(pack["install"] == "packed", "an opener of a pack that is unpacked")
        for key in ("basePack", "deltas", "stream"):
            require(key not in pack, f"an opener beside {key}")


def check_candidate(pack, rollouts):
    """§9.3, §9.11: what an entry says of another edition; `rollouts` are those of `signed`."""
    if "candidate" in pack:
        candidate = pack["candidate"]
        check_keys(candidate, CANDIDATE_VALUES, OPTIONAL_CANDIDATE_VALUES, "a candidate")
        require("opener" not in pack, "a candidate beside an opener")
        require(candidate["version"] > pack["version"], "a candidate that is not above the entry")
        require(candidate["sha256"] != pack["sha256"], "a candidate that is the file of the entry")
        require(candidate["rollout"] in [rollout["id"] for rollout in rollouts], "a candidate of a rollout that is not there")
        check_deltas(candidate.get("deltas", ()))
        check_stream(candidate)


def check_languages(pack):
    """§9.3: the languages of the packs of which a device takes one."""
    languages = pack.get("languages", [pack[key] for key in ("language",) if key in pack])
    require("languages" not in pack or len(languages) > 1 and pack.get("language") in languages, "languages that are not its own and others")
    require(all(a < b for a, b in zip(languages, languages[1:])), "the order of the languages")
    require("fallback" not in pack or pack["fallback"] in languages, "a fallback that is none of the languages")


def read_pack_entry(pack, signed, implied=None):
    """§9.3: an entry with what `signed` and `implied` say for it; refused if it repeats that."""
    require(isinstance(pack, dict), "a pack is no object")
    said = {**(implied or {}), **{"keyId": signed[key] for key in ("keyId",) if key in signed}}
    if "base" in signed and PACK_VALUES["id"](pack.get("id")) and PACK_VALUES["sha256"](pack.get("sha256")):
        said["url"] = signed["base"] + f"{pack['id']}-{pack['sha256'][:16]}.pack"
    for key in said:
        require(pack.get(key) != said[key], f"a pack repeats its {key}")
    check_keys({**said, **pack}, PACK_VALUES, OPTIONAL_PACK_VALUES, "a pack")
    for key in ("description", "name"):
        require(pack.get(key) != "", f"an empty {key}")
    for key in ("platforms", "tags"):
        require(pack.get(key) != [], f"empty {key}")
    require(pack.get("name") != pack["id"], "a name that is the id")
    check_languages(pack)
    require(pack.get("basePack") != pack["id"], "a pack that is its own base")
    require("base" in signed or "deltas" not in pack, "deltas without a base")
    check_deltas(pack.get("deltas", ()))
    require("base" in signed or "stream" not in pack, "a lead without a base")
    check_stream(pack)
    require("base" in signed or "opener" not in pack, "an opener without a base")
    check_opener(pack)
    require("base" in signed or "candidate" not in pack, "a candidate without a base")
    check_candidate(pack, signed.get("rollouts", ()))
    return {**said, **pack}
