"""The signatures of a document (FORMAT.md §9.1, §9.2)."""

import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import decode_point, public_key, signature_holds
from vectors.format.errors import require
from vectors.format.limits import MAX_MANIFEST, MAX_SIGNATURES
from vectors.format.primitives import label, sha256


def key_id_of(public):
    """§9.2: keyid."""
    return sha256(label("sig-key") + public)[:8].hex()


def root_id_of(public):
    """§9.6: keyid."""
    return sha256(label("root-key") + public)[:8].hex()


def sign(seed, signed, purpose, identify):
    """§9.2: an entry of the signature list; `identify` makes the keyid."""
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(label(purpose) + signed)
    return {"keyid": identify(public_key(seed)), "sig": signature.hex()}


def sign_manifest(seed, signed):
    """§9.2"""
    return sign(seed, signed, "manifest", key_id_of)


def sign_keys(seed, signed, purpose="keys"):
    """§9.6; another purpose is for vectors that break a rule."""
    return sign(seed, signed, purpose, root_id_of)


def in_order(signatures):
    """§9.1: by keyid."""
    return sorted(signatures, key=lambda signature: signature["keyid"])


def outer_bytes(signatures, signed):
    """§9.1: the document with these signatures in this order."""
    return b'{"signatures":' + canonical_json(signatures).encode("ascii") + b',"signed":' + signed + b"}"


def read_outer(data, most=None):
    """§9.1: the signature list and the signed bytes."""
    require(len(data) <= MAX_MANIFEST, f"{len(data)} bytes")
    match = re.match(rb'\{"signatures":(\[[^\]]*\]),"signed":(?=\{)', data)
    require(match is not None and data.endswith(b"}}"), "the outer form")
    entry = rb'\{"keyid":"([0-9a-f]{16})","sig":"([0-9a-f]{128})"\}'
    require(re.fullmatch(rb"\[(" + entry + rb"(," + entry + rb")*)?\]", match.group(1)) is not None, "the signature list")
    signatures = [(m.group(1).decode(), bytes.fromhex(m.group(2).decode())) for m in re.finditer(entry, match.group(1))]
    require(len(signatures) <= (most or MAX_SIGNATURES), f"{len(signatures)} signatures")
    ids = [keyid for keyid, _ in signatures]
    require(ids == sorted(set(ids)), "the order of the signatures")
    return signatures, data[match.end():-1]


def check_signatures(signatures, signed, trusted):
    """§9.2: the keyids of the trusted keys whose signatures hold."""
    keys = {key_id_of(public): public for public in trusted if len(public) == 32 and decode_point(public)}
    signers = []
    for keyid, signature in signatures:
        if keyid in keys:
            require(signature_holds(keys[keyid], label("manifest") + signed, signature), f"the signature of {keyid}", "untrusted")
            signers.append(keyid)
    require(signers, "no trusted signature", "untrusted")
    return signers
