"""Manifests that are accepted, that no trusted key has signed, and of another schema."""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.cases.manifests.samples import DEFAULTS, NEXT_SEED, SEED, STRANGE_SEED, full_manifest, kat_pack, kat_signed
from vectors.cases.manifests.vector import manifest_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import BASE, IDENTITY, L, encode_point, public_key
from vectors.format.entries import BUDGET_KEYS
from vectors.format.limits import MAX_INTEGER
from vectors.format.manifest import make_manifest
from vectors.format.signatures import key_id_of, outer_bytes, sign_manifest


def valid_manifests():
    good = kat_signed(packs=[kat_pack()])
    yield manifest_vector("known-answer", "ok", "the known answer of 9.5", make_manifest(kat_signed(), [SEED]))
    yield manifest_vector("all-keys", "ok", "every key that a writer writes", make_manifest(full_manifest(), [SEED]))
    yield manifest_vector("required-keys", "ok", "the keys that readers require, and no others", make_manifest(good, [SEED]))
    unknown = {"a\n": "A'B\"\\\\\"/", "b": [True, False, 0, MAX_INTEGER, []], "c": {"": {"d": [[[[]]]]}}}
    yield manifest_vector(
        "unknown-keys", "ok", "unknown keys in the signed part, the budget and a pack are passed over, down to depth 8",
        make_manifest({**kat_signed(packs=[kat_pack(a=unknown["b"], zone={"": [[[]]]})]), **unknown,
                       "budget": {**dict.fromkeys(BUDGET_KEYS, 0), "BAOther": "€"}}, [SEED]))
    yield manifest_vector(
        "base-with-port", "ok", "a base with a port, without a directory, and entries without URL and key id",
        make_manifest(kat_signed(packs=[kat_pack(url=None, keyId=None), kat_pack(id="b", url=None, keyId=None)],
                                 **{**DEFAULTS, "base": "https://cdn.example.com:8443/"}), [SEED]))
    yield manifest_vector(
        "pack-base", "ok", "a pack with a base, which need not be listed",
        make_manifest(kat_signed(packs=[kat_pack(basePack="engine")]), [SEED]))
    yield manifest_vector(
        "defaults-not-used", "ok", "a base and a key id, of which no entry makes use",
        make_manifest(kat_signed(packs=[kat_pack(url="https://cdn.example.com/core.pack", keyId="0123456789abcdef")], **DEFAULTS), [SEED]))
    url = "https://a_b.example.com:1/-._~!$&'()*+,;=:@/%2f?a=/?%2F"
    yield manifest_vector("pack-url-characters", "ok", "a URL with all that it may have", make_manifest(kat_signed(packs=[kat_pack(url=url)]), [SEED]))
    yield manifest_vector("two-signers", "ok", "the current and the next key, both trusted", make_manifest(good, [SEED, NEXT_SEED]),
                          [public_key(SEED), public_key(NEXT_SEED)])
    yield manifest_vector("stranger-beside", "ok", "a signature by an unknown key is passed over",
                          make_manifest(good, [SEED, STRANGE_SEED]))
    data = make_manifest(good, [SEED, STRANGE_SEED])
    strange = key_id_of(public_key(STRANGE_SEED)).encode()
    at = data.index(strange) + len(strange) + len(b'","sig":"')
    yield manifest_vector("stranger-wrong", "ok", "a wrong signature by an unknown key is passed over",
                          data[:at] + b"00" * 64 + data[at + 128:])
    many = [SEED, *(bytes([i]) * 32 for i in range(1, 16))]
    yield manifest_vector("sixteen-signatures", "ok", "as many signatures as there may be", make_manifest(good, many))
    yield manifest_vector("next-key", "ok", "signed by the next key alone", make_manifest(good, [NEXT_SEED]),
                          [public_key(SEED), public_key(NEXT_SEED)])
    yield manifest_vector("expired-long-ago", "ok", "an expiry in year 0: the clock is no part of the format",
                          make_manifest(kat_signed(expires="0000-02-29T23:59:59Z"), [SEED]))
    yield manifest_vector("bad-trusted-key", "ok", "a trusted key of small order counts as not given", make_manifest(good, [SEED]),
                          [encode_point(IDENTITY), public_key(SEED)])


def untrusted_manifests():
    good = kat_signed(packs=[kat_pack()])
    data = make_manifest(good, [SEED])
    signed = canonical_json(good).encode()

    def bad(name, comment, data, trust=None):
        return manifest_vector(name, "untrusted", comment, data, trust)

    def with_signature(signature):
        return data.replace(data[data.index(b'"sig":"') + 7:][:128], signature.hex().encode())

    keyid = key_id_of(public_key(SEED))
    signature = bytes.fromhex(sign_manifest(SEED, signed)["sig"])
    yield bad("no-signature", "an empty signature list", make_manifest(good, []))
    yield bad("no-trusted-key", "nobody is trusted", data, [])
    yield bad("only-stranger", "signed by an unknown key alone", make_manifest(good, [STRANGE_SEED]))
    yield bad("changed-after", "a size was changed after signing", data.replace(b'"size":12345', b'"size":12346'))
    yield bad("one-wrong-of-two", "a wrong signature under a trusted key is refused although another one holds",
              make_manifest(good, [SEED, NEXT_SEED]).replace(bytes(sign_manifest(NEXT_SEED, signed)["sig"], "ascii"), b"00" * 64),
              [public_key(SEED), public_key(NEXT_SEED)])
    yield bad("outer-extra-key", "a third key behind the two, which counts as signed", data[:-1] + b',"z":{}}')
    other = make_manifest(good, [NEXT_SEED]).replace(key_id_of(public_key(NEXT_SEED)).encode(), keyid.encode())
    yield bad("stranger-as-trusted", "a signature by another key under the keyid of a trusted one", other)
    yield bad("without-label", "a signature over the signed bytes without the label",
              with_signature(Ed25519PrivateKey.from_private_bytes(SEED).sign(signed)))
    yield bad("signature-malleable", "S + L in the place of S",
              with_signature(signature[:32] + (int.from_bytes(signature[32:], "little") + L).to_bytes(32, "little")))
    small = encode_point(IDENTITY)
    entry = {"keyid": key_id_of(small), "sig": (encode_point(BASE) + (1).to_bytes(32, "little")).hex()}
    forged = outer_bytes([entry], signed)
    yield bad("key-of-small-order", "a trusted key of order 1, under which anybody can sign", forged, [small])
    yield bad("not-read-before-trust", "a signed part that is no JSON, signed by an unknown key: the signature counts first",
              make_manifest(b'{"schema":nonsense}', [STRANGE_SEED]))


def unsupported_manifests():
    for name, comment, changes in (
            ("schema-2", "another schema", {"schema": "pack-manifest/2"}),
            ("schema-2-other-values", "another schema, of which the values are not looked at",
             {"schema": "pack-manifest/2", "packs": {"core": 1}, "version": "2.0", "expires": None}),
            ("schema-case", "the schema in another case", {"schema": "Pack-manifest/1"}),
            ("schema-empty", "an empty schema", {"schema": ""})):
        yield manifest_vector(name, "unsupported", comment, make_manifest(kat_signed(**changes), [SEED]))
