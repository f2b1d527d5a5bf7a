"""Functions that everything else is made of (FORMAT.md §0.3)."""

import hashlib
import hmac
import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM


def sha256(message):
    return hashlib.sha256(message).digest()


def hmac256(key, message):
    return hmac.new(key, message, hashlib.sha256).digest()


def hkdf(ikm, salt, info, length):
    """§0.3: extract and expand; salt None is 32 zero bytes."""
    prk = hmac256(bytes(32) if salt is None else salt, ikm)
    result, last, counter = b"", b"", 1
    while len(result) < length:
        last = hmac256(prk, last + info + bytes([counter]))
        result += last
        counter += 1
    return result[:length]


def gmac(key, nonce, message):
    return AESGCM(key).encrypt(nonce, b"", message)


def label(text):
    """§0.3: `"pack/v1/…" 00`."""
    return b"pack/v1/" + text.encode("ascii") + b"\0"


def u16(value):
    return struct.pack("<H", value)


def u32(value):
    return struct.pack("<I", value)


def u64(value):
    return struct.pack("<Q", value)


def number(buffer, offset, length):
    return int.from_bytes(buffer[offset:offset + length], "little")
