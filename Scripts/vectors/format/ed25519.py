"""Signatures by Ed25519 (FORMAT.md §9.2), with the letters and formulas of RFC 8032. Slow, but it decides what libraries leave open."""

import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
IDENTITY = (0, 1)


def add_extended(a, b):
    """RFC 8032, 5.1.4: points as X, Y, Z, T."""
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    u, v = (y1 - x1) * (y2 - x2) % P, (y1 + x1) * (y2 + x2) % P
    w, z = 2 * t1 * t2 * D % P, 2 * z1 * z2 % P
    e, f, g, h = v - u, z - w, z + w, v + u
    return e * f % P, g * h % P, f * g % P, e * h % P


def extended(point):
    return point[0], point[1], 1, point[0] * point[1] % P


def affine(point):
    inverse = pow(point[2], P - 2, P)
    return point[0] * inverse % P, point[1] * inverse % P


def add(a, b):
    return affine(add_extended(extended(a), extended(b)))


def times(scalar, point):
    result, point = extended(IDENTITY), extended(point)
    while scalar:
        if scalar & 1:
            result = add_extended(result, point)
        point = add_extended(point, point)
        scalar >>= 1
    return affine(result)


def recover_x(y, sign):
    """x of a point, or None where there is none."""
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P:
        return None
    return x if x % 2 == sign else -x % P


BASE = (recover_x(4 * pow(5, P - 2, P) % P, 0), 4 * pow(5, P - 2, P) % P)


def encode_point(point):
    return (point[1] | (point[0] & 1) << 255).to_bytes(32, "little")


def decode_point(data):
    """§9.2: a point in its canonical encoding and not of small order, or None."""
    value = int.from_bytes(data, "little")
    y, sign = value & (1 << 255) - 1, value >> 255
    if y >= P:
        return None
    x = recover_x(y, sign)
    if x is None or x == 0 and sign:
        return None
    return None if times(8, (x, y)) == IDENTITY else (x, y)


def challenge(public, message, r):
    return int.from_bytes(hashlib.sha512(r + public + message).digest(), "little") % L


def signature_holds(public, message, signature):
    """§9.2"""
    if len(public) != 32 or len(signature) != 64:
        return False
    s = int.from_bytes(signature[32:], "little")
    a, r = decode_point(public), decode_point(signature[:32])
    if s >= L or a is None or r is None:
        return False
    return times(s, BASE) == add(r, times(challenge(public, message, signature[:32]), a))


def public_key(seed):
    private = Ed25519PrivateKey.from_private_bytes(seed)
    return private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
