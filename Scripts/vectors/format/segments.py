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


def open_segments(keys, body, S):
    """§3.1, §3.4: the payload."""
    cipher, B = AESGCM(keys.SEGK), len(body)
    n = -(-B // S)
    require(n == 1 or B - (n - 1) * S >= 17, "the last segment is too short", "truncated")
    sealed = [body[40 if i == 0 else i * S:min((i + 1) * S, B)] for i in range(n)]
    last = open_segment(cipher, keys.NP, n - 1, True, sealed[-1])
    if last is None:
        missing = open_segment(cipher, keys.NP, n - 1, False, sealed[-1]) is not None
        require(not missing, "segments are missing", "truncated")
        raise Refused("damaged", f"segment {n - 1} does not open")
    pieces = []
    for i in range(n - 1):
        pieces.append(open_segment(cipher, keys.NP, i, False, sealed[i]))
        require(pieces[-1] is not None, f"segment {i} does not open")
    return b"".join(pieces + [last])
