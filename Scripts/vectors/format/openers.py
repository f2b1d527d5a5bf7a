"""The opener of an edition, made and opened (FORMAT.md §2.8, §9.10)."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from vectors.format.errors import Refused, require
from vectors.format.keys import edition_key, key_id, pack_key
from vectors.format.limits import MAX_VERSION
from vectors.format.primitives import hkdf, label, number, sha256, u64

MAGIC = bytes.fromhex("894f504e0d0a1a0a")
SIZE = 156


def opener_start(root, pack):
    """§2.8: what stands before the nonce; `pack` is the file that it opens, whose first stanza is DERIVE."""
    return MAGIC + bytes.fromhex("0100010000000000") + pack[24:32] + pack[32:64] + sha256(pack) + key_id(pack_key(root, pack[32:64]))


def opener_nonce(edition, start):
    return hkdf(edition, None, label("opener-nonce") + start[8:], 12)


def opener_wrapping_key(ak, start):
    return hkdf(ak, None, label("opener") + start[8:], 32)


def seal_opener(edition, ak, start, nonce=None):
    nonce = opener_nonce(edition, start) if nonce is None else nonce
    return start + nonce + AESGCM(opener_wrapping_key(ak, start)).encrypt(nonce, edition, b"")


def make_opener(root, pack):
    """§2.8: the opener of a pack that was made with its edition key."""
    identifier = pack[32:64]
    edition = edition_key(root, identifier, number(pack, 24, 8))
    return seal_opener(edition, pack_key(root, identifier), opener_start(root, pack))


def opener_entry(data, opens=None):
    """§9.10: what an entry says of it."""
    return {**({"opens": opens} if opens else {}), "sha256": sha256(data).hex(), "size": len(data)}


def open_opener(data, entry, pack, key):
    """§2.8, §9.10: the edition key, for a client that has the entry, the pack, and the pack's key or the root key."""
    require(len(data) == entry["size"] and sha256(data).hex() == entry["sha256"], "another opener")
    shared = data[:8]
    require(shared == MAGIC[:len(shared)], "no opener")
    require(len(data) >= SIZE, f"{len(data)} bytes", "truncated")
    require(len(data) == SIZE, f"{len(data)} bytes")
    require(data[8] == 1 and data[10:12] == b"\1\0", "another major or suite", "unsupported")
    require(data[9] == 0 and not any(data[12:16]) and number(data, 16, 8) <= MAX_VERSION, "a field that no writer makes")
    require(data[16:56] == pack[24:64] and data[56:88] == sha256(pack), "another edition")
    ak = next((ak for ak in (key, pack_key(key, pack[32:64])) if key_id(ak) == data[88:96]), None)
    require(ak is not None, "another key", "wrong-key")
    start, nonce = data[:96], data[96:108]
    try:
        edition = AESGCM(opener_wrapping_key(ak, start)).decrypt(nonce, data[108:], b"")
    except InvalidTag:
        raise Refused("damaged", "the opener does not open")
    require(nonce == opener_nonce(edition, start), "the nonce is not the derived one")
    require(key_id(edition) == pack[104:112], "the key of another edition")
    return edition
