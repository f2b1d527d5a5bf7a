"""Manifests for an app that embeds a keys document."""

from vectors.cases.manifests.samples import NEXT_SEED, SEED, STRANGE_SEED, kat_pack, kat_signed, keys_value, make_keys, present, root_seed
from vectors.cases.manifests.vector import keys_vector, manifest_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import IDENTITY, encode_point, public_key
from vectors.format.keys import public_text
from vectors.format.limits import MAX_INTEGER
from vectors.format.manifest import make_manifest
from vectors.format.signatures import in_order, sign_keys


def keys_manifests():
    """§9.6: manifests for an app that embeds a keys document, and their keys documents."""
    good = kat_signed(packs=[kat_pack()])
    first = make_keys(keys_value())
    second = make_keys(keys_value(2, signers=[NEXT_SEED]))
    third = make_keys(keys_value(3, roots=(2, 3, 4), signers=[NEXT_SEED, STRANGE_SEED], needed=2), by=(1, 2, 4))

    def ok(name, comment, seeds, keys=(), embed=first):
        return keys_vector("keys-" + name, "ok", comment, make_manifest(good, seeds, keys), embed)

    def bad(name, expect, comment, keys, seeds=(NEXT_SEED,), embed=first):
        return keys_vector("keys-" + name, expect, comment, make_manifest(good, seeds, keys), embed)

    yield manifest_vector("keys-plain", "ok", "an app with plain keys passes over keys documents", make_manifest(good, [SEED], [second]))
    yield ok("embedded", "the embedded document and no other", [SEED])
    yield ok("next", "one document that follows, and a signature of its key", [NEXT_SEED], [second])
    yield ok("chain", "two documents, other root keys, and a manifest that two keys must sign", [NEXT_SEED, STRANGE_SEED], [second, third])
    yield ok("old-beside", "documents that are not newer are passed over", [NEXT_SEED], [first, second, second])
    other = make_keys(keys_value(1, roots=(7, 8), threshold=1, signers=[STRANGE_SEED]), by=(7,))
    yield ok("old-of-others", "also one that others made", [SEED], [other])
    yield ok("from-second", "an app that embeds the second document", [NEXT_SEED, STRANGE_SEED], [third], second)
    yield ok("stranger-beside", "signatures by unknown keys are passed over", [NEXT_SEED], [make_keys(keys_value(2, signers=[NEXT_SEED]), (1, 2, 9))])
    yield ok("expired", "a document that has expired: the clock is no part of the format", [NEXT_SEED],
             [make_keys(keys_value(2, signers=[NEXT_SEED], expires="2026-07-02T00:00:00Z"))])
    yield ok("unknown-keys", "unknown keys are ignored, down to depth 8", [NEXT_SEED],
             [make_keys(keys_value(2, signers=[NEXT_SEED], a=[[[[]]]], b={"": True}))])
    many = [bytes([i]) * 32 for i in range(1, 17)]
    largest = make_keys(keys_value(2, roots=range(1, 17), threshold=16, signers=many, needed=16), by=range(1, 33))
    yield ok("largest", "as many keys and signatures as there may be", many, [largest])
    chain = [make_keys(keys_value(n, signers=[NEXT_SEED])) for n in range(2, 34)]
    yield ok("thirty-two", "as many documents as there may be", [NEXT_SEED], chain)

    signed = canonical_json(keys_value(2, signers=[NEXT_SEED])).encode()
    one, two = (sign_keys(root_seed(number), signed) for number in (1, 2))
    wrong = {"keyid": two["keyid"], "sig": one["sig"]}

    def listed(*entries):
        return make_keys(signed, signatures=in_order(entries))

    for name, comment, keys in (
            ("removed", "the documents were removed", []),
            ("old-key", "a manifest signed by a key that the newest document no longer lists", [second]),
            ("one-root", "one signature of the two that are needed", [make_keys(keys_value(2, signers=[NEXT_SEED]), by=(1,))]),
            ("own-roots-only", "signed by its own root keys, but not by those before", [make_keys(keys_value(2, roots=(7, 8, 9), signers=[NEXT_SEED]), by=(7, 8))]),
            ("old-roots-only", "signed by the root keys before, but not by its own", [make_keys(keys_value(2, roots=(7, 8, 9), signers=[NEXT_SEED]), by=(1, 2))]),
            ("higher-threshold", "its own threshold is not reached", [make_keys(keys_value(2, threshold=3, signers=[NEXT_SEED]), by=(1, 2))]),
            ("lower-threshold", "the threshold before is not reached", [make_keys(keys_value(2, threshold=1, signers=[NEXT_SEED]), by=(1,))]),
            ("skipped", "a version is skipped", [make_keys(keys_value(3, signers=[NEXT_SEED]))]),
            ("highest", "the highest version", [make_keys(keys_value(MAX_INTEGER, signers=[NEXT_SEED]))]),
            ("swapped", "two documents in the wrong order", [third, second]),
            ("changed", "an expiry was changed after signing", [second.replace(b"2027-07-01", b"2037-07-01")]),
            ("borrowed-signature", "a signature under the id of another root key", [listed(one, wrong)]),
            ("manifest-label", "signed as a manifest", [listed(one, sign_keys(root_seed(2), signed, "manifest"))]),
            ("second-refused", "the first document counts, the second is refused", [second, make_keys(keys_value(3, signers=[STRANGE_SEED]), by=(3,))])):
        yield bad(name, "untrusted", comment, keys, [SEED] if name == "old-key" else [NEXT_SEED])
    yield bad("signing-threshold", "untrusted", "one signing key of the two that are needed", [second, third])

    root, signing = keys_value()["rootKeys"], keys_value(signers=[NEXT_SEED])["signingKeys"]
    weak = public_text("pkp1", "sig-public-text", encode_point(IDENTITY))
    changes = [
        ("threshold-zero", "a threshold of 0", {"rootThreshold": 0}), ("threshold-four", "a threshold above the number of keys", {"rootThreshold": 4}),
        ("signing-threshold-two", "a threshold above the number of signing keys", {"signingThreshold": 2}),
        ("threshold-text", "a threshold in a text", {"rootThreshold": "2"}), ("version-zero", "version 0", {"version": 0}),
        ("roots-descend", "root keys in descending order", {"rootKeys": root[::-1]}), ("root-twice", "a root key twice", {"rootKeys": [root[0], root[0], root[1]]}),
        ("no-roots", "no root key", {"rootKeys": []}), ("no-signers", "no signing key", {"signingKeys": []}),
        ("roots-text", "root keys in a text", {"rootKeys": root[0]}),
        ("seventeen", "17 signing keys", keys_value(signers=[bytes([i]) * 32 for i in range(1, 18)])),
        ("wrong-kind", "a signing key among the root keys", {"rootKeys": root[:2] + signing}),
        ("checksum", "a key text whose last part is wrong", {"signingKeys": [signing[0][:-1] + ("0" if signing[0][-1] != "0" else "1")]}),
        ("bare-key", "a key without its kind", {"signingKeys": [signing[0][5:69]]}), ("weak-key", "a signing key of small order", {"signingKeys": [weak]}),
        ("both-roles", "a key that is a root key and a signing key", {"signingKeys": [public_text("pkp1", "sig-public-text", public_key(root_seed(1)))]}),
        ("expires-fraction", "a time with a fraction", {"expires": "2027-07-01T00:00:00.5Z"}), ("issued-integer", "a time in an integer", {"issued": 1}),
        ("depth-9", "an unknown key down to depth 9", {"a": [[[[[]]]]]}),
        ("large", "a document above 16 KiB", {"a": "a" * (1 << 14)})]
    for key in ("expires", "issued", "rootKeys", "rootThreshold", "schema", "signingKeys", "signingThreshold", "version"):
        changes.append((f"without-{key}", f"a document without {key}", {key: None}))
    for name, comment, change in changes:
        value = {**keys_value(2, signers=[NEXT_SEED]), **change, **({} if "version" in change else {"version": 2})}
        yield bad(name, "damaged", comment, [make_keys(present(value))])
    yield bad("thirty-three", "damaged", "more documents than there may be", [*chain, make_keys(keys_value(34, signers=[NEXT_SEED]))])
    yield bad("signatures-33", "damaged", "33 signatures", [make_keys(keys_value(2, signers=[NEXT_SEED]), by=range(1, 34))])
    descending = make_keys(signed, signatures=in_order((one, two))[::-1])
    yield bad("signatures-descend", "damaged", "signatures in descending order", [descending])
    yield bad("signature-twice", "damaged", "a signature twice", [make_keys(signed, signatures=[one, one])])
    yield bad("space", "damaged", "a space in a document", [second.replace(b'"signed":{', b'"signed":{ ')])
    yield bad("extra-key", "damaged", "another key beside those of a document", [second[:-1] + b',"z":1}'])
    yield bad("array", "damaged", "a document that is no object", [b"[]"])
    empty = make_manifest(good, [SEED]).replace(b'{"signatures"', b'{"keys":[],"signatures"')
    yield keys_vector("keys-empty", "damaged", "an empty list of documents", empty, first)
    yield bad("schema-2", "unsupported", "another schema", [make_keys(keys_value(2, schema="pack-keys/2", rootKeys=1))])
