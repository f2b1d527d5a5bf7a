"""The cases of choices by rollouts: Tests/Vectors/rollouts."""

from collections import namedtuple

from vectors.cases.files import file_bytes, parse_values
from vectors.cases.manifests.editions import CANDIDATE, ROLLOUT
from vectors.cases.manifests.samples import DEFAULTS, kat_pack, kat_signed, present
from vectors.cases.samples import noise
from vectors.format.canonical_json import canonical_json, parse_canonical
from vectors.format.entries import read_pack_entry
from vectors.format.limits import WHOLE_SHARE
from vectors.format.primitives import sha256
from vectors.format.rollouts import check_rollouts, edition, place_in, takes_candidate

RolloutVector = namedtuple("RolloutVector", "name expect comment installation groups standing time place url data")
INSTALLATION, BEFORE, UNTIL = bytes(range(32)), "2026-12-23T23:59:59Z", ROLLOUT["until"]


def choice(vector):
    """§9.11: what a device does with the entry of the signed part: the place, whether it takes the candidate, and the URL of the edition."""
    signed = parse_canonical(vector.data, 2)
    check_rollouts(signed["rollouts"])
    entry, = (read_pack_entry(pack, signed) for pack in signed["packs"])
    rollout = next(rollout for rollout in signed["rollouts"] if rollout["id"] == entry["candidate"]["rollout"])
    takes = takes_candidate(rollout, vector.installation, vector.groups, vector.standing, vector.time)
    return place_in(rollout, vector.installation), "candidate" if takes else "stable", edition(entry, signed, takes)["url"]


def installation_at(place):
    """Random bytes whose place in the rollout is this one."""
    return next(installation for installation in (sha256(b"installation %d" % i) for i in range(1 << 20)) if place_in(ROLLOUT, installation) == place)


def rollouts():
    """§9.11"""
    place = place_in(ROLLOUT, INSTALLATION)

    def case(name, expect, comment, *, installation=INSTALLATION, member=(), standing="other", time=BEFORE, others=(), pack=(), **changes):
        entry = kat_pack(**{"url": None, "keyId": None, "candidate": CANDIDATE, **dict(pack)})
        listed = sorted([present({**ROLLOUT, **changes}), *others], key=lambda rollout: rollout["id"])
        signed = kat_signed(packs=[entry], rollouts=listed, **DEFAULTS)
        vector = RolloutVector(name, expect, comment, installation, list(member), standing, time, None, None, canonical_json(signed).encode())
        found, takes, url = choice(vector)
        assert takes == expect, (name, takes)
        return vector._replace(place=found, url=url)

    yield case("share-is-place", "stable", "a share that is the place", share=place)
    yield case("share-above-place", "candidate", "a share that is one more than the place", share=place + 1)
    yield case("share-0", "stable", "no device", share=0)
    yield case("share-10000", "candidate", "all devices", share=WHOLE_SHARE)
    first, last = installation_at(0), installation_at(WHOLE_SHARE - 1)
    yield case("place-0-share-0", "stable", "the first place, and no device", installation=first, share=0)
    yield case("place-0-share-1", "candidate", "the first place, and a ten-thousandth", installation=first, share=1)
    yield case("place-9999-share-9999", "stable", "the last place, and all devices but a ten-thousandth", installation=last, share=WHOLE_SHARE - 1)
    yield case("place-9999-share-10000", "candidate", "the last place, and all devices", installation=last, share=WHOLE_SHARE)
    other = {"salt": "f0" * 16}
    there = place_in({**ROLLOUT, **other}, INSTALLATION)
    yield case("salt", "stable", "another salt, and so another place", **other, share=there)
    yield case("salt-above-place", "candidate", "a share that is one more than this place", **other, share=there + 1)
    yield case("id", "candidate", "the place does not depend on the id of the rollout", pack={"candidate": {**CANDIDATE, "rollout": "autumn"}},
               id="autumn", share=place + 1)
    for number in range(4):
        installation = noise(32, b"installation %d" % number)
        there = place_in(ROLLOUT, installation)
        yield case(f"installation-{number}", "candidate" if there < 5000 else "stable", "half of all devices", installation=installation, share=5000)


    def group(name, expect, comment, member, groups, share=0, **changes):
        return case(name, expect, comment, member=member, groups=groups or None, share=share, **changes)

    yield group("group", "candidate", "a group of the rollout, whatever the share is", ["beta"], ["beta"])
    yield group("group-several", "candidate", "one group of several on both sides", ["press", "staff", "west"], ["beta", "staff"])
    yield group("group-last-of-16", "candidate", "the last of as many groups as there may be", ["g15"], [f"g{i:02}" for i in range(16)])
    yield group("group-other", "stable", "another group", ["press"], ["beta"])
    yield group("group-case", "stable", "the group in another case", ["Beta"], ["beta"])
    yield group("group-prefix", "stable", "the start of the group, and a longer one", ["bet", "beta-2"], ["beta"])
    yield group("group-of-no-installation", "stable", "an installation without groups", [], ["beta"])
    yield group("group-of-no-rollout", "stable", "a rollout without groups", ["beta"], [])
    yield group("group-is-rollout", "stable", "the id of the rollout is no group of it", ["winter"], ["beta"])
    yield group("group-other-but-share", "candidate", "another group, and a place below the share", ["press"], ["beta"], share=place + 1)

    for state, starts in (("running", "candidate"), ("paused", "stable"), ("halted", "stable")):
        yield case(f"{state}-other", starts, f"{state}, and all devices", state=state, share=WHOLE_SHARE)
        yield group(f"{state}-other-group", starts, f"{state}, and a group", ["beta"], ["beta"], state=state)
        yield case(f"{state}-running", "stable" if state == "halted" else "candidate", f"{state}, no device, and the candidate runs", state=state,
                   standing="running", share=0)
        yield case(f"{state}-failed", "stable", f"{state}, all devices, and the candidate failed", state=state, standing="failed", share=WHOLE_SHARE)
    yield group("failed-group", "stable", "a group of the rollout, and the candidate failed", ["beta"], ["beta"], standing="failed")

    everyone = {"share": WHOLE_SHARE}
    yield case("until-second-before", "candidate", "a second before the end", time=BEFORE, **everyone)
    yield case("until", "stable", "the end", time=UNTIL, **everyone)
    yield case("until-after", "stable", "a year after the end", time="2027-12-24T00:00:00Z", **everyone)
    yield group("until-group", "stable", "the end, and a group of the rollout", ["beta"], ["beta"], time=UNTIL)
    yield case("until-running", "candidate", "the end, and the candidate runs", standing="running", time=UNTIL, share=0)
    yield case("until-running-paused", "candidate", "the end of a rollout that is paused, and the candidate runs", standing="running", time=UNTIL,
               state="paused", share=0)
    yield case("until-clock-of-1970", "candidate", "a clock that was never set", time="1970-01-01T00:00:00Z", **everyone)

    def among(name, expect, comment, own, other):
        return case(name, expect, comment, others=[{**ROLLOUT, "id": "autumn", **other}, {**ROLLOUT, "id": "zone", **other}], **own)

    yield among("named-running", "candidate", "a rollout of all devices between two that are halted", everyone, {"share": 0, "state": "halted"})
    yield among("named-halted", "stable", "a rollout that is halted between two of all devices", {"share": 0, "state": "halted"}, everyone)
    yield case("url", "candidate", "an entry with a URL: that of the candidate follows from the base", pack={"url": "https://example.com/core.pack"},
               **everyone)
    yield case("url-stable", "stable", "the URL of such an entry", pack={"url": "https://example.com/core.pack"}, share=0)


def rollout_vector_bytes(vector):
    """§10.7"""
    return file_bytes([f"expect: {vector.expect}", f"comment: {vector.comment}", f"installation: {vector.installation.hex()}",
                       *(f"group: {group}" for group in vector.groups), f"standing: {vector.standing}", f"time: {vector.time}",
                       f"place: {vector.place}", f"url: {vector.url}"], vector.data)


def parse_rollout_vector(name, data):
    """§10.7"""
    values, body = parse_values(name, data, ("expect", "comment", "installation", "group", "standing", "time", "place", "url"))
    one = {key: found[0] for key, found in values.items() if found}
    return RolloutVector(name, one["expect"], one["comment"], bytes.fromhex(one["installation"]), values["group"], one["standing"], one["time"],
                         int(one["place"]), one["url"], body)


def check_rollout_vector(vector, verbose):
    """The problems of a vector, as texts."""
    found = choice(vector)
    if verbose:
        print(f"{vector.name}: {found}")
    if found != (vector.place, vector.expect, vector.url):
        yield f"place {vector.place}, expect {vector.expect}, url {vector.url}, reader says {found}"
