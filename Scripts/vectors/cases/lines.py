"""Files with one case in a line: signatures and authentication codes."""

import hashlib

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from vectors.cases.manifests.samples import SEED
from vectors.cases.samples import noise
from vectors.format.ed25519 import BASE, IDENTITY, L, P, add, challenge, encode_point, recover_x, signature_holds, times
from vectors.format.errors import Problem
from vectors.format.primitives import hmac256

ORDER_8_Y = int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little")


def secret_scalar(seed):
    """RFC 8032, 5.1.5"""
    digest = bytearray(hashlib.sha512(seed).digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    return int.from_bytes(digest, "little")


def small_order_points():
    """The multiples of a point of order 8, from 0 on."""
    return [times(i, (recover_x(ORDER_8_Y, 0), ORDER_8_Y)) for i in range(8)]


def signature_cases():
    """§9.2: (holds, public key, message, signature, what it shows). Built from what they are, by the arithmetic of the second implementation."""
    number = [0]
    secret = secret_scalar(SEED)
    honest = times(secret, BASE)
    public = encode_point(honest)
    torsion = small_order_points()

    def nonce():
        number[0] += 1
        return int.from_bytes(hashlib.sha512(b"nonce %d" % number[0]).digest(), "little") % L

    def sign(message, a=secret, key=public, shift=IDENTITY, encoded=None):
        """A signature whose R is shifted by a point, or written as `encoded` while R is taken as that point alone."""
        r = 0 if encoded else nonce()
        start = encoded or encode_point(add(times(r, BASE), shift))
        return start + ((r + challenge(key, message, start) * a) % L).to_bytes(32, "little")

    def message_where(test, key, **how):
        """The first message of which the challenge passes a test, and its signature."""
        for count in range(1000):
            message = b"message %d" % count
            signature = sign(message, key=key, **how)
            if test(challenge(key, message, signature[:32])):
                return message, signature
        raise Problem("no such message")

    def plus(signature, value):
        return signature[:32] + (int.from_bytes(signature[32:], "little") + value).to_bytes(32, "little")

    plain = b"manifest"
    good = sign(plain)
    s = int.from_bytes(good[32:], "little")
    yield True, public, b"", sign(b""), "an empty message"
    yield True, public, plain, good, "an ordinary signature"
    yield True, public, plain, Ed25519PrivateKey.from_private_bytes(SEED).sign(plain), "the signature of RFC 8032"
    yield False, public, plain + b"!", good, "another message"
    yield False, encode_point(times(2, honest)), plain, good, "another key"
    yield False, public, plain, good[:63], "63 bytes"
    yield False, public, plain, good + b"\0", "65 bytes"
    yield False, public, plain, b"", "no byte"
    yield False, public, plain, bytes(64), "zeros"
    yield False, public, plain, b"\xff" * 64, "ones"
    for k in range(1, 16):
        if s + k * L < 1 << 256 and k in (1, 2, 7, 8, 15):
            yield False, public, plain, plus(good, k * L), f"S + {k} L"
    yield False, public, plain, good[:32] + L.to_bytes(32, "little"), "S = L"
    yield False, public, plain, good[:63] + bytes([good[63] | 0x80]), "the highest bit of S set"
    yield False, public, plain, good[:63] + bytes([good[63] | 0x20]), "bit 253 of S set"

    names = ("1", "8", "4", "8", "2", "8", "4", "8")
    for index, point in enumerate(torsion):
        key = encode_point(point)
        # R = rB, S = r: holds by the bare equation where the challenge is a multiple of the key's order.
        message, signature = message_where(lambda k: k % 8 == 0, key, a=0)
        yield False, key, message, signature, f"A of order {names[index]} ({index}), S and R such that the equation holds"
        if index:
            yield False, public, plain, sign(plain, shift=point), f"R with a part of order {names[index]} ({index}): holds with the cofactor only"
            yield False, public, plain, sign(plain, encoded=encode_point(point)), f"R of order {names[index]} ({index})"
    yield False, public, plain, sign(plain, encoded=encode_point(IDENTITY)), "R of order 1: the equation holds"

    for y, sign_bit, what in ((P + 1, 0, "p + 1"), (P + 1, 1, "p + 1 with the sign"), (P, 0, "p"), (P, 1, "p with the sign"),
                              (1, 1, "1 with the sign, where x is 0"), (P - 1, 1, "p - 1 with the sign, where x is 0"),
                              (2**255 - 1, 0, "2^255 - 1"), (P + 3, 0, "p + 3"), (P + 18, 1, "p + 18 with the sign")):
        written = (y | sign_bit << 255).to_bytes(32, "little")
        yield False, public, plain, sign(plain, encoded=written), f"R with y = {what}"
        message, signature = message_where(lambda k: k % 8 == 0, written, a=0)
        yield False, written, message, signature, f"A with y = {what}"
    outside = next(y for y in range(2, 100) if recover_x(y, 0) is None).to_bytes(32, "little")
    yield False, outside, plain, sign(plain, key=outside), "A that is no point of the curve"
    yield False, public, plain, sign(plain, encoded=outside), "R that is no point of the curve"

    for index in (1, 2, 4):
        mixed = encode_point(add(honest, torsion[index]))
        order = int(names[index])
        message, signature = message_where(lambda k: k % order == 0, mixed)
        yield True, mixed, message, signature, f"A with a part of order {order} that the challenge takes away: the equation holds"
        message, signature = message_where(lambda k: k % order, mixed)
        yield False, mixed, message, signature, f"A with a part of order {order}: holds with the cofactor only"


def cctv_signature_cases():
    """CCTV, ed25519: every pair of points A and R that has a part of small order, of which the encoding is not the only one, or
    both; with a challenge that takes the parts of small order away and with one that does not; and with the challenge of the
    canonical encodings where those are not the ones that stand there. The same cases in the same order, of another secret."""
    a = secret_scalar(b"cctv")
    r = int.from_bytes(hashlib.sha512(b"cctv nonce").digest(), "little") % L
    honest_a, honest_r = times(a, BASE), times(r, BASE)
    # Each point of small order, and the encodings that are not its canonical one.
    torsion = small_order_points()
    small = sorted((encode_point(point), i) for i, point in enumerate(torsion))
    sign = 1 << 255
    other = {0: [1 | sign, P + 1, P + 1 | sign], 4: [P - 1 | sign], 2: [], 6: []}
    for canonical, i in small:
        if i in (2, 6):
            other[i] = [P | sign if canonical[31] & 0x80 else P]
    points = [(i, canonical, [value.to_bytes(32, "little") for value in other.get(i, ())]) for canonical, i in small]

    def case(i, j, a_text, r_text, canonical_a, canonical_r, with_a, with_r, reencoded):
        """The first message for each answer to whether the parts of small order take each other away."""
        found = set()
        for residue_class in range(8):
            count = 0
            while True:
                message = b"cctv %d" % count
                k = challenge(canonical_a if reencoded else a_text, message, canonical_r if reencoded else r_text)
                if k % 8 == residue_class:
                    break
                count += 1
            residue = (k * i + j) % 8 != 0
            if residue in found:
                continue
            found.add(residue)
            s = (k * (a if with_a else 0) + (r if with_r else 0)) % L
            really = (challenge(a_text, message, r_text) * i + j) % 8 != 0
            flags = [name for name, holds in (
                ("low_order_R", not with_r), ("low_order_A", not with_a), ("low_order_component_R", j != 0), ("low_order_component_A", i != 0),
                ("low_order_residue", really), ("non_canonical_A", a_text != canonical_a), ("non_canonical_R", r_text != canonical_r),
                ("reencoded_k", reencoded)) if holds]
            # §9.2 in CCTV's words.
            holds = not set(flags) - {"low_order_component_A", "low_order_component_R"}
            yield holds, a_text, message, r_text + s.to_bytes(32, "little"), "CCTV: " + (", ".join(flags) or "no flag")

    def mixed(honest, i):
        return encode_point(add(honest, torsion[i]))

    for i, small_a, others_a in points:
        mixed_a = mixed(honest_a, i)
        for j, small_r, others_r in points:
            mixed_r = mixed(honest_r, j)
            yield from case(i, j, small_a, small_r, small_a, small_r, False, False, False)
            yield from case(i, j, small_a, mixed_r, small_a, mixed_r, False, True, False)
            yield from case(i, j, mixed_a, small_r, mixed_a, small_r, True, False, False)
            yield from case(i, j, mixed_a, mixed_r, mixed_a, mixed_r, True, True, False)
            for text in others_a:
                yield from case(i, j, text, small_r, small_a, small_r, False, False, False)
                for reencoded in (False, True):
                    yield from case(i, j, text, mixed_r, small_a, mixed_r, False, True, reencoded)
            for text in others_r:
                yield from case(i, j, small_a, text, small_a, small_r, False, False, False)
                for reencoded in (False, True):
                    yield from case(i, j, mixed_a, text, mixed_a, small_r, True, False, reencoded)
            for text_a in others_a:
                for text_r in others_r:
                    yield from case(i, j, text_a, text_r, small_a, small_r, False, False, False)


def hmac_cases():
    """Wycheproof, hmac_sha256_test.json, the cases with whole codes: (holds, key, message, code, what it shows)."""
    def key(length, count):
        return noise(length, b"hmac key %d %d" % (length, count))

    def whole(comment, size, length):
        secret, message = key(size, length), noise(length, b"hmac message")
        return True, secret, message, hmac256(secret, message), comment

    for length in (*range(18), 24, 32, 47, 48, 49, 112, 127, 128, 255):
        yield whole("empty message" if length == 0 else f"a message of {length} bytes", 32, length)
    changes = [(f"bit {bit} of the code", 1 << bit) for bit in (0, 1, 7, 8, 31, 32, 33, 63, 64, 71, 77, 80, 96, 97, 103, 248, 249, 254, 255)]
    changes += [(f"bits {one} and {two} of the code", 1 << one | 1 << two) for one, two in ((0, 64), (31, 63), (63, 127))]
    every = (1 << 256) - 1
    for comment, bits in (*changes, ("all bits of the code", every), ("a code of zeros", None), ("a code of ones", every + 1),
                          ("the highest bit of every byte", every // 255 * 128), ("the lowest bit of every byte", every // 255)):
        for length in (0, 16):
            secret, message = key(32, length), noise(length, b"hmac message")
            code = int.from_bytes(hmac256(secret, message), "little")
            code = 0 if bits is None else every if bits > every else code ^ bits
            yield False, secret, message, code.to_bytes(32, "little"), comment
    for size in (16, 65):
        for length in (0, 16, 32):
            yield whole(f"a key of {size} bytes", size, length)


def case_lines(cases):
    """Cases as lines: the answer, three values in hex, and what the case shows."""
    for holds, *values, comment in cases:
        yield " ".join(["holds" if holds else "refused", *(value.hex() or "-" for value in values), comment]) + "\n"


def check_case_line(line, holds):
    expected, *parts = line.rstrip("\n").split(" ", 4)
    values = (b"" if part == "-" else bytes.fromhex(part) for part in parts[:3])
    return expected == ("holds" if holds(*values) else "refused")


def code_holds(key, message, code):
    return hmac256(key, message) == code


# Files of lines: where they are, what makes them, and what checks a line.
CASE_FILES = (
    ("manifest/ed25519.txt", signature_cases, signature_holds),
    ("others/cctv-ed25519.txt", cctv_signature_cases, signature_holds),
    ("others/wycheproof-hmac-sha256.txt", hmac_cases, code_holds),
)
