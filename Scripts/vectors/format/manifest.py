"""The manifest, written and read (FORMAT.md §9)."""

from vectors.format.canonical_json import canonical_json, parse_canonical
from vectors.format.entries import BUDGET_KEYS, DEFAULT_VALUES, SIGNED_VALUES, check_keys, is_integer, is_time, read_pack_entry
from vectors.format.errors import require
from vectors.format.keys_document import KeysDocument, split_keys
from vectors.format.limits import MAX_MANIFEST
from vectors.format.rollouts import check_rollouts
from vectors.format.shards import check_catalogue
from vectors.format.signatures import check_signatures, in_order, outer_bytes, read_outer, sign_manifest

SCHEMA = "pack-manifest/1"


def make_manifest(signed, seeds, keys=()):
    """§9.1: `signed` is the bytes of that part, or the value; `keys` are keys documents."""
    if not isinstance(signed, bytes):
        signed = canonical_json(signed).encode("utf-8")
    data = outer_bytes(in_order(sign_manifest(seed, signed) for seed in seeds), signed)
    return b'{"keys":[' + b",".join(keys) + b"]," + data[1:] if keys else data


def read_manifest(data, trusted, embedded=None, newest=None):
    """§9: the value of `signed`, and the keyids that vouch for it. With an embedded keys document, `newest` gets those that count, in turn."""
    require(len(data) <= MAX_MANIFEST, f"{len(data)} bytes")
    documents, data = split_keys(data)
    signatures, signed = read_outer(data)
    threshold = 1
    if embedded is not None:
        first = KeysDocument(embedded)
        first.require_signed_by(first)
        keys = first.followed_by(documents, [] if newest is None else newest)
        trusted, threshold = list(keys.signers.values()), keys.signing_threshold
    signers = check_signatures(signatures, signed, trusted)
    require(len(signers) >= threshold, f"{len(signers)} of {threshold} signatures", "untrusted")
    value = parse_canonical(signed, 2)
    require(isinstance(value.get("schema"), str), "no schema")
    require(value["schema"] == SCHEMA, f"schema {value['schema']}", "unsupported")
    check_keys(value, SIGNED_VALUES, {"issued": is_time, **DEFAULT_VALUES}, "signed")
    if "budget" in value:
        check_keys(value["budget"], dict.fromkeys(BUDGET_KEYS, is_integer), {}, "budget")
    if "rollouts" in value:
        check_rollouts(value["rollouts"])
    for pack in value["packs"]:
        read_pack_entry(pack, value)
    ids = [pack["id"] for pack in value["packs"]]
    require(len(set(ids)) == len(ids), "an id stands twice")
    if "catalogue" in value:
        check_catalogue(value["catalogue"])
        require("base" in value, "a catalogue without a base")
    return value, signers
