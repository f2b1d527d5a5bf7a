"""The cases of openers: Tests/Vectors/openers."""

import json
import os
from collections import namedtuple

from vectors.cases.faults import flip
from vectors.cases.files import file_bytes, parse_values
from vectors.cases.samples import AK, NAME, OTHER_AK, OWN_AK, SMALL_TREE, VERSION, pack_of
from vectors.format.canonical_json import canonical_json
from vectors.format.errors import Refused
from vectors.format.frames import raw_frame
from vectors.format.keys import edition_key, key_id, pack_id
from vectors.format.openers import SIZE, make_opener, open_opener, opener_entry, opener_nonce, opener_start, seal_opener
from vectors.format.pack import open_pack
from vectors.format.payload import tree_payload
from vectors.format.primitives import u64

OpenerVector = namedtuple("OpenerVector", "name expect comment key pack opener data")
OPENS = "2026-12-24T00:00:00Z"


def sealed_pack(version=VERSION):
    """A pack under the key of its edition."""
    return pack_of(tree_payload(list(SMALL_TREE), codec=raw_frame)[0], ak=edition_key(AK, pack_id(NAME), version), version=version)


def opener_packs():
    """The packs, by the names of their files."""
    return {"sealed.pack": sealed_pack(), "next.pack": sealed_pack(VERSION + 1)}


def received(pack, data, entry, key):
    """What a client makes of an opener: None, or the refusal."""
    try:
        open_pack(pack, open_opener(data, entry, pack, key))
    except Refused as error:
        return error
    return None


def openers():
    """§2.8, §9.10"""
    packs = opener_packs()
    pack, later = packs["sealed.pack"], packs["next.pack"]
    data, start = make_opener(AK, pack), opener_start(AK, pack)
    entry = opener_entry(data, OPENS)
    edition = edition_key(AK, pack_id(NAME), VERSION)

    def good(name, comment, key=OWN_AK, pack="sealed.pack", opens=OPENS):
        data = make_opener(AK, packs[pack])
        return OpenerVector(name, "ok", comment, key, pack, opener_entry(data, opens), data)

    yield good("opened", "the pack's own key")
    yield good("root", "the root key, from which the pack's own key follows", AK)
    yield good("without-time", "an edition that opens with its release", opens=None)
    yield good("next", "the next edition", pack="next.pack")

    def bad(name, comment, data, expect="damaged", key=OWN_AK, entry=entry):
        return OpenerVector(name, expect, comment, key, "sealed.pack", entry, data)

    yield bad("file-empty", "no byte", b"")
    yield bad("file-cut", "the last byte is missing", data[:-1])
    yield bad("file-longer", "a byte too many", data + b"\0")
    yield bad("file-changed", "a bit of the wrapped key differs", flip(data, 110))
    yield bad("file-next", "the opener of the next edition", make_opener(AK, later))
    yield bad("file-html", "what a server sends that does not have it", b"<!DOCTYPE html><title>404</title>")

    def signed(name, comment, data, expect="damaged", key=OWN_AK):
        """What a release says that was made wrong."""
        return bad(name, comment, data, expect, key, opener_entry(data, OPENS))

    yield signed("magic", "another first byte", flip(data, 0))
    yield signed("pack-instead", "the start of the pack", pack[:SIZE])
    yield signed("cut", "the last byte is missing", data[:-1], "truncated")
    yield signed("cut-magic", "the first bytes only", data[:5], "truncated")
    yield signed("longer", "a byte too many", data + b"\0")
    yield signed("major-2", "major 2", data[:8] + b"\2" + data[9:], "unsupported")
    yield signed("suite-2", "suite 2", data[:10] + b"\2" + data[11:], "unsupported")
    for at in (9, 12, 15):
        yield signed(f"zero-{at}", f"byte {at} is not zero", flip(data, at))
    yield signed("version-2-53", "a version of 2^53", data[:16] + u64(1 << 53) + data[24:])

    def sealed(name, comment, change, expect="damaged", key=OWN_AK, ak=OWN_AK, edition=edition, nonce=None):
        """An opener that opens, with other fields before the nonce."""
        return signed(name, comment, seal_opener(edition, ak, change(start), nonce), expect, key)

    yield sealed("other-version", "for version 8", lambda s: s[:16] + u64(VERSION + 1) + s[24:])
    yield sealed("other-pack", "for another pack", lambda s: flip(s, 24))
    yield sealed("other-file", "for another file of the version", lambda s: flip(s, 56))
    yield sealed("other-key", "wrapped for another key", lambda s: s[:88] + key_id(OTHER_AK), "wrong-key", ak=OTHER_AK)
    yield sealed("other-key-at-hand", "read with another key", lambda s: s, "wrong-key", key=OTHER_AK)
    yield sealed("edition-key-at-hand", "read with the key of the edition, which opens the pack without it", lambda s: s, "wrong-key", key=edition)
    yield signed("key-before-tag", "read with another key, and the last bit differs: the key comes first", flip(data, SIZE - 1), "wrong-key", OTHER_AK)
    yield signed("nonce", "a bit of the nonce differs", flip(data, 96))
    yield signed("wrapped-key", "a bit of the wrapped key differs", flip(data, 108))
    yield signed("tag", "the last bit differs", flip(data, SIZE - 1))
    other_nonce = bytes([opener_nonce(edition, start)[0] ^ 1]) + opener_nonce(edition, start)[1:]
    yield sealed("nonce-not-derived", "sealed under another nonce", lambda s: s, nonce=other_nonce)
    yield sealed("edition-next", "the key of the next edition", lambda s: s, edition=edition_key(AK, pack_id(NAME), VERSION + 1))
    yield sealed("edition-is-pack-key", "the pack's own key", lambda s: s, edition=OWN_AK)


def opener_vector_bytes(vector):
    """§10.6"""
    return file_bytes([f"expect: {vector.expect}", f"key: {vector.key.hex()}", f"comment: {vector.comment}", f"pack: {vector.pack}",
                       f"opener: {canonical_json(vector.opener)}"], vector.data)


def parse_opener_vector(name, data, packs):
    """§10.6; `packs` is the folder of the packs, whose bytes take the place of the name."""
    values, body = parse_values(name, data, ("expect", "key", "comment", "pack", "opener"))
    with open(os.path.join(packs, values["pack"][0]), "rb") as file_object:
        pack = file_object.read()
    return OpenerVector(name, values["expect"][0], values["comment"][0], bytes.fromhex(values["key"][0]), pack, json.loads(values["opener"][0]), body)


def check_opener_vector(vector, verbose):
    """The problems of a vector, as texts."""
    refusal = received(vector.pack, vector.data, vector.opener, vector.key)
    if refusal:
        if verbose:
            print(f"{vector.name}: {refusal}")
        if refusal.name != vector.expect:
            yield f"expect {vector.expect}, reader says {refusal}"
    elif vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif make_opener(AK, vector.pack) != vector.data:
        yield "the writer makes another opener"
