"""Keys, recipients, salts and the texts of keys (FORMAT.md §2)."""

import re
from collections import namedtuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from vectors.format.errors import Problem, Refused, require
from vectors.format.primitives import gmac, hkdf, label, number, sha256, u64

Schedule = namedtuple("Schedule", "FK MK SK TS NP SEGK")


def key_id(ak):
    """§2.1"""
    return hkdf(ak, None, label("key-id"), 8)


def pack_id(name):
    """§1.1"""
    return sha256(label("pack-id") + name.encode("ascii"))


def file_key(ak, core):
    """§2.2: FK"""
    return hkdf(ak, core[64:96], label("file-key") + core[10:12] + key_id(ak), 32)


def schedule(ak, core):
    """§2.2"""
    return schedule_of(file_key(ak, core), core)


def schedule_of(fk, core):
    """§2.2: what follows from FK."""
    salt = core[64:96]
    mk = hkdf(fk, salt, label("header-mac"), 32)
    sk = hkdf(fk, salt, label("stream-key"), 32)
    stream = hkdf(fk, salt, label("stream-header"), 39)
    segk = hkdf(sk, stream[:32], core, 32)
    return Schedule(fk, mk, sk, stream[:32], stream[32:], segk)


def pack_key(root, identifier):
    """§2.3"""
    return hkdf(root, None, label("pack-key") + identifier, 32)


def key_of_pack(root, name):
    """§2.3, by the name of the pack."""
    return pack_key(root, pack_id(name))


def edition_key(root, identifier, version):
    """§2.7"""
    return hkdf(root, None, label("edition-key") + identifier + u64(version), 32)


def file_key_at_hand(key, stanzas, core):
    """§1.4, step 4: FK, by a key of any kind."""
    derive, wraps = stanzas
    if isinstance(key, Recipient):
        require((3, key.id) in wraps, "the pack is not wrapped for this recipient", "wrong-key")
        return unwrap_x25519(key, wraps[3, key.id], core)
    if key_id(key) == derive:
        return file_key(key, core)
    if (2, key_id(key)) in wraps:
        return unwrap_symmetric(key, wraps[2, key_id(key)], core)
    for own in (pack_key(key, core[32:64]), edition_key(key, core[32:64], number(core, 24, 8))):
        if key_id(own) == derive:
            return file_key(own, core)
    raise Refused("wrong-key", "the pack is for another key")


class Recipient:
    """The secret key of a recipient, with its public half."""

    def __init__(self, secret):
        self.secret = secret
        self.public = x25519_public(secret)
        self.id = recipient_id(self.public)


def x25519_public(secret):
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)


def x25519(secret, public):
    """The shared secret; None if it is zero."""
    try:
        return X25519PrivateKey.from_private_bytes(secret).exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError:
        return None


def recipient_id(public):
    return sha256(label("recipient-key") + public)[:8]


def recipient_text(public):
    """§2.5"""
    return f"pkw1-{public.hex()}-{sha256(label('recipient-public-text') + public)[:4].hex()}"


def recipient_key_text(secret):
    """§2.5"""
    return f"pkx1-{secret.hex()}-{sha256(label('recipient-key-text') + secret)[:4].hex()}"


def wrap_symmetric(fk, ak, core):
    """The content of a WRAP-SYM stanza, behind the key id."""
    start = symmetric_nonce(fk, ak, core)
    return start + AESGCM(symmetric_wrapping_key(ak, core)).encrypt(start, fk, b"")


def symmetric_nonce(fk, ak, core):
    return hkdf(fk, core[64:96], label("wrap-sym-nonce") + key_id(ak), 12)


def symmetric_wrapping_key(ak, core):
    return hkdf(ak, core[64:96], label("wrap-sym") + core, 32)


def unwrap_symmetric(ak, content, core):
    fk = unseal(symmetric_wrapping_key(ak, core), content[:12], content[12:])
    require(content[:12] == symmetric_nonce(fk, ak, core), "the nonce of WRAP-SYM is not the derived one")
    return fk


def ephemeral_secret(fk, public, core):
    return hkdf(fk, core[64:96], label("wrap-x25519-ephemeral") + public, 32)


def x25519_wrapping_key(shared, ephemeral, public, core):
    return hkdf(shared, core[64:96], label("wrap-x25519") + core + ephemeral + public, 32)


def wrap_x25519(fk, public, core):
    """The content of a WRAP-X25519 stanza, behind the key id."""
    secret = ephemeral_secret(fk, public, core)
    ephemeral, shared = x25519_public(secret), x25519(secret, public)
    if shared is None:
        raise Problem("a public key of small order")
    return ephemeral + AESGCM(x25519_wrapping_key(shared, ephemeral, public, core)).encrypt(bytes(12), fk, b"")


def unwrap_x25519(key, content, core):
    ephemeral = content[:32]
    shared = x25519(key.secret, ephemeral)
    require(shared is not None, "the ephemeral key of WRAP-X25519 is of small order")
    fk = unseal(x25519_wrapping_key(shared, ephemeral, key.public, core), bytes(12), content[32:])
    require(ephemeral == x25519_public(ephemeral_secret(fk, key.public, core)), "the ephemeral key of WRAP-X25519 is not the derived one")
    return fk


def unseal(key, nonce, sealed):
    try:
        return AESGCM(key).decrypt(nonce, sealed, b"")
    except InvalidTag:
        raise Refused("damaged", "the WRAP stanza for this key does not open")


def payload_tags(ak, payload):
    """§2.4: KD and tag_0, tag_1, …"""
    kd = hkdf(ak, None, label("det-key"), 32)
    piece = 1 << 20
    return kd, [gmac(kd, bytes(12), payload[at:at + piece]) for at in range(0, len(payload), piece)]


def payload_digest(ak, payload):
    """§2.4: D"""
    return sha256(b"".join(payload_tags(ak, payload)[1]) + u64(len(payload)))


def salt_for(ak, core, payload, random=None):
    """§2.4, step two; `random` is R, or None for the deterministic form."""
    core0 = core[:64] + bytes(32)
    info = sha256(core0) + payload_digest(ak, payload)
    if random is None:
        return hkdf(ak, None, label("det-salt") + info, 32)
    return hkdf(ak, None, label("random-salt") + info + random, 32)


def key_text(ak):
    """§2.5"""
    return f"pkk1-{ak.hex()}-{sha256(label('key-text') + ak)[:4].hex()}"


def parse_key_text(text):
    """§2.5: a key text or 64 bare hex digits, lower case only. The secret key of a recipient comes as a Recipient."""
    if re.fullmatch(r"pkx1-[0-9a-f]{64}-[0-9a-f]{8}", text):
        secret = bytes.fromhex(text[5:69])
        if recipient_key_text(secret) != text:
            raise Problem("the last part of the key does not fit: a digit is wrong")
        return Recipient(secret)
    if re.fullmatch(r"[0-9a-f]{64}", text):
        return bytes.fromhex(text)
    match = re.fullmatch(r"pkk1-([0-9a-f]{64})-([0-9a-f]{8})", text)
    if not match:
        raise Problem("not a key")
    ak = bytes.fromhex(match.group(1))
    if key_text(ak) != text:
        raise Problem("the last part of the key does not fit: a digit is wrong")
    return ak


def read_key_file(path):
    """§2.5: one text, with at most one line end."""
    with open(path, "rb") as file:
        data = file.read(200)
    for end in (b"\r\n", b"\n"):
        if data.endswith(end):
            data = data[:-len(end)]
            break
    return parse_key_text(data.decode("ascii", "replace"))


def public_text(prefix, name, public):
    """§2.5"""
    return f"{prefix}-{public.hex()}-{sha256(label(name) + public)[:4].hex()}"
