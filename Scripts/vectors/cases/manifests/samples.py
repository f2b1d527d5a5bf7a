"""What cases of manifests, keys documents and shards are made of."""

from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import public_key
from vectors.format.entries import BUDGET_KEYS
from vectors.format.keys import public_text
from vectors.format.keys_document import KEYS_SCHEMA
from vectors.format.limits import MAX_DELTAS, MAX_INTEGER
from vectors.format.manifest import SCHEMA
from vectors.format.primitives import sha256
from vectors.format.signatures import in_order, outer_bytes, sign_keys

SEED = bytes(range(32))
NEXT_SEED, STRANGE_SEED = bytes(range(32, 64)), bytes(range(64, 96))
STREAM = {"launch": 2192, "leaves": "0123456789abcdef" * 4, "sha256": "89abcdef01234567" * 4, "size": 2192 + 345 + 4 * 32, "tail": 12000}
DEFAULTS = {"base": "https://cdn.example.com/packs/", "keyId": "e545120e613dd715"}


def present(value):
    """The keys that have another value than None."""
    return {key: item for key, item in value.items() if item is not None}


def kat_signed(**changes):
    """The value of §9.5; a change to None takes a key out."""
    value = {"schema": SCHEMA, "version": 1, "expires": "2027-01-01T00:00:00Z", "packs": [], **changes}
    return present(value)


def kat_pack(**changes):
    value = {
        "id": "core", "version": 7, "url": "https://cdn.example.com/packs/core-0123456789abcdef.pack", "size": 12345,
        "sha256": "0123456789abcdef" * 4, "contentRoot": "fedcba9876543210" * 4, "contentSize": 54321, "installSize": 61440,
        "files": 3, "maxFrame": 32768, "keyId": "e545120e613dd715", "delivery": "essential", "install": "unpacked", **changes}
    return present(value)


def full_manifest():
    """Every key that a writer writes, and texts that need care."""
    budget = dict(zip(BUDGET_KEYS, (2_000_001, 112_345, 70_000, 5_000_000)))
    core = kat_pack(
        created="2026-07-01T12:00:00Z", description="What the app needs first.\n\t\"Boot\" \\ menu\u0001\u007f", name="Kern – コア",
        tags=["boot", "menu"], language="de-CH", languages=["de-CH", "en", "zh-Hant"], fallback="en",
        platforms=["iOS", "macOS"], stream=STREAM, url=None, keyId=None)
    level = kat_pack(
        id="level-1", version=MAX_INTEGER, url="https://cdn.example.com:8443/packs/level-1-fedcba9876543210.pack?v=1", size=MAX_INTEGER,
        delivery="onDemand", install="packed", created="2026-06-30T23:59:59Z", name="🎮", keyId="0123456789abcdef")
    return kat_signed(version=42, issued="2026-07-05T00:00:00Z", budget=budget, packs=[core, level], **DEFAULTS)


def signed_with(*shards, **changes):
    return kat_signed(packs=[kat_pack(url=None, keyId=None)], catalogue=list(shards), **DEFAULTS, **changes)


def sample_entries(count):
    """§9.7, the known answers."""
    return [{"contentRoot": sha256(b"root %d" % i).hex(), "contentSize": 2000 + i, "files": 3, "id": f"level-{i:06}", "install": "unpacked",
             "installSize": 8192, "maxFrame": 1000, "sha256": sha256(b"pack %d" % i).hex(), "size": 1000 + i,
             "tags": ["all", f"world-{i // 50}"], "version": 1 + i % 7} for i in range(count)]


def sample_updates(count, most=MAX_DELTAS):
    """§9.7, the known answers: the entries with deltas."""
    return [{**entry, "deltas": sorted((sample_delta(i, j) for j in range(1 + i % most)), key=lambda delta: delta["sha256"])}
            for i, entry in enumerate(sample_entries(count))]


def sample_delta(i, j):
    return {"bases": [sha256(b"base %d %d %d" % (i, j, k)).hex() for k in range(1 + j % 4)], "sha256": sha256(b"delta %d %d" % (i, j)).hex(),
            "size": 1 + j}


def wrong_streams(size):
    """§9.3, §9.9: what an entry of a pack of this size cannot say of a lead: (name, comment, stream)."""
    def fitting(launch, tail, digests=4 * 32):
        return {**STREAM, "launch": launch, "tail": tail, "size": digests + launch + size - tail}

    right = fitting(size // 5, size - 345)
    assert right["launch"] < right["tail"]
    for key in right:
        yield f"without-{key}", f"a stream without {key}", {name: value for name, value in right.items() if name != key}
    for key in ("launch", "size", "tail"):
        yield f"{key}-text", f"a {key} of a stream that is a text", {**right, key: str(right[key])}
    yield "sha256-short", "the digest of a lead with 31 bytes", {**right, "sha256": "00" * 31}
    yield "sha256-upper-case", "the digest of a lead with upper-case digits", {**right, "sha256": "AB" * 32}
    yield "leaves-short", "the digest of digests with 31 bytes", {**right, "leaves": "00" * 31}
    yield "array", "a stream that is no object", [right]
    yield "text", "a stream that is a text", right["sha256"]
    yield "empty", "a stream without anything", {}
    yield "launch-0", "no start", fitting(0, size - 345)
    yield "launch-above-tail", "a start that ends behind where the end begins", fitting(size - 345, size - 346)
    yield "tail-at-size", "no end", fitting(right["launch"], size)
    yield "tail-above-size", "an end that begins behind the pack", fitting(right["launch"], size + 32)
    yield "digests-none", "no digest", fitting(right["launch"], right["tail"], 0)
    yield "digests-part", "a digest that is cut", fitting(right["launch"], right["tail"], 4 * 32 - 1)
    yield "digests-negative", "a lead that is too small for its parts", fitting(right["launch"], right["tail"], -32)
    yield "digests-65537", "a digest too many", fitting(right["launch"], right["tail"], 65537 * 32)
    yield "numbers-largest", "the largest integers", {**right, **dict.fromkeys(("launch", "size", "tail"), MAX_INTEGER)}


def right_streams(size):
    """§9.9: what an entry of a pack of this size may say of a lead."""
    yield "digest", "a lead with one digest", {**STREAM, "launch": 1, "tail": 1, "size": 32 + size}
    yield "digests-65536", "as many digests as there may be", {**STREAM, "launch": 1, "tail": size - 1, "size": 65536 * 32 + 2}
    yield "unknown-keys", "keys of a stream that readers pass over",\
        {**STREAM, "a": [], "launch": 100, "tail": size - 100, "size": 64 + 200, "zone": {"": True}}


OPENER = {"opens": "2026-12-24T00:00:00Z", "sha256": "89abcdef01234567" * 4, "size": 156}


def right_openers():
    """§9.10: what an entry may say of an opener: (name, comment, opener)."""
    yield "time", "an edition that opens at a time", OPENER
    yield "without-time", "an edition that opens with its release", {key: OPENER[key] for key in ("sha256", "size")}
    yield "size-4096", "as large as it may be", {**OPENER, "size": 4096}
    yield "unknown-keys", "keys of an opener that readers pass over", {**OPENER, "a": [], "zone": {"": True}}


def wrong_openers():
    """§9.3, §9.10: what an entry cannot say of an opener."""
    for key in ("sha256", "size"):
        yield f"without-{key}", f"an opener without {key}", {name: value for name, value in OPENER.items() if name != key}
    yield "size-0", "an opener without a byte", {**OPENER, "size": 0}
    yield "size-4097", "an opener that is too large", {**OPENER, "size": 4097}
    yield "size-text", "a size of an opener that is a text", {**OPENER, "size": "156"}
    yield "sha256-short", "the digest of an opener with 31 bytes", {**OPENER, "sha256": "00" * 31}
    yield "opens-day", "a day in the place of a time", {**OPENER, "opens": "2026-12-24"}
    yield "opens-zone", "a time of another zone", {**OPENER, "opens": "2026-12-24T00:00:00+01:00"}
    yield "opens-number", "a time that is a number", {**OPENER, "opens": 1798070400}
    yield "array", "an opener that is no object", [OPENER]
    yield "text", "an opener that is a text", OPENER["sha256"]
    yield "empty", "an opener without anything", {}


def root_seed(number):
    return bytes([number]) * 31 + b"\xa5"


def keys_value(version=1, roots=(1, 2, 3), threshold=2, signers=(SEED,), needed=1, **changes):
    """What a keys document says; a change to None takes a key out."""
    value = {
        "schema": KEYS_SCHEMA, "version": version, "issued": "2026-07-01T00:00:00Z", "expires": "2027-07-01T00:00:00Z",
        "rootKeys": sorted(public_text("pkq1", "root-public-text", public_key(root_seed(number))) for number in roots), "rootThreshold": threshold,
        "signingKeys": sorted(public_text("pkp1", "sig-public-text", public_key(seed)) for seed in signers), "signingThreshold": needed, **changes}
    return present(value)


def make_keys(value, by=(1, 2), signatures=None):
    """§9.6: a keys document, signed with root keys."""
    signed = value if isinstance(value, bytes) else canonical_json(value).encode("utf-8")
    if signatures is None:
        signatures = in_order(sign_keys(root_seed(number), signed) for number in by)
    return outer_bytes(signatures, signed)
