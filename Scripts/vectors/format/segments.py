"""The segments of a pack, sealed and opened (FORMAT.md §3)."""

import struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from vectors.format.errors import Refused, require


def nonce(prefix, index, last):
    """§3.3"""
    return prefix + struct.pack(">I", index) + bytes([1 if last else 0])


def split_segments(payload, S):
    """§3.1, §3.2: the plaintext of each segment."""
    P = S - 16
    pieces = [payload[:P - 40]]
    for at in range(P - 40, len(payload), P):
        pieces.append(payload[at:at + P])
    return pieces


def seal(keys, pieces):
    """§3.3: the ciphertext of each segment."""
    cipher, end = AESGCM(keys.SEGK), len(pieces) - 1
    return [cipher.encrypt(nonce(keys.NP, i, i == end), piece, b"") for i, piece in enumerate(pieces)]


def open_segment(cipher, prefix, index, last, sealed):
    try:
        return cipher.decrypt(nonce(prefix, index, last), sealed, b"")
    except InvalidTag:
        return None


def sealed_segments(body, S):
    """§3.1"""
    B = len(body)
    return [body[at or 40:min(at + S, B)] for at in range(0, B, S)]


def open_last_segment(keys, body, S):
    """§3.4"""
    cipher, sealed = AESGCM(keys.SEGK), sealed_segments(body, S)
    n = len(sealed)
    require(n == 1 or len(sealed[-1]) >= 17, "the last segment is too short", "truncated")
    last = open_segment(cipher, keys.NP, n - 1, True, sealed[-1])
    if last is None:
        missing = open_segment(cipher, keys.NP, n - 1, False, sealed[-1]) is not None
        require(not missing, "segments are missing", "truncated")
        raise Refused("damaged", f"segment {n - 1} does not open")
    return last


def open_segments(keys, body, S, last):
    """§3.4: the payload; `last` is that of the last segment."""
    cipher, sealed, pieces = AESGCM(keys.SEGK), sealed_segments(body, S), []
    for i in range(len(sealed) - 1):
        pieces.append(open_segment(cipher, keys.NP, i, False, sealed[i]))
        require(pieces[-1] is not None, f"segment {i} does not open")
    return b"".join(pieces + [last])
