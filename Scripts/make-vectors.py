#!/usr/bin/env python3
"""An independent implementation of the .pack format, and the maker of its test vectors.

Written from FORMAT.md alone; the paragraph signs below refer to its sections.
Needs Python 3.9 and the packages `cryptography` and `zstandard`.

  make-vectors.py known-answers                recompute the known answers of FORMAT.md
  make-vectors.py make DIR                     write the test vectors
  make-vectors.py check DIR                    read the vectors in DIR and compare with their heads
  make-vectors.py read PACK --key-hex HEX      check a pack, list or extract it
  make-vectors.py write DIR -o PACK …          write a pack
  … --base PACK                                read or write a delta over this base
  make-vectors.py wrap PACK -o COPY --to …     write a copy of a pack for further recipients

`read` ends with 0, or 1 (a problem outside the pack), 2 (usage), or with the class of §0.4:
10 not-a-pack, 11 unsupported, 12 no-usable-key, 13 wrong-key, 14 truncated, 15 damaged, 16 limit, 18 wrong-base.
"""

import argparse
import bisect
import calendar
import hashlib
import hmac
import json
import os
import re
import stat
import struct
import sys
import unicodedata
from collections import namedtuple

import zstandard
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

# ---------------------------------------------------------------------------------------------
# §0.4 Error classes
# ---------------------------------------------------------------------------------------------

CLASSES = ("not-a-pack", "unsupported", "no-usable-key", "wrong-key", "truncated", "damaged", "limit", "untrusted", "wrong-base")
EXIT_CODES = {name: 10 + index for index, name in enumerate(CLASSES)}


class Refused(Exception):
    """A pack is refused; `name` is one of CLASSES."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name = name


class Problem(Exception):
    """Something outside the pack is wrong: a file, an argument, a known answer."""


def require(condition, message, name="damaged"):
    if not condition:
        raise Refused(name, message)


# ---------------------------------------------------------------------------------------------
# §6 Limits
# ---------------------------------------------------------------------------------------------

MAX_FILE = 1 << 40
MAX_STANZAS = 16384
MIN_SEGMENT, MAX_SEGMENT = 4096, 1 << 20
MAX_VERSION = (1 << 53) - 1
MAX_ENTRIES = 131072
MAX_RECORDS = 1 << 20
MAX_PATH = 1024
MAX_COMPONENT = 255
MAX_DEPTH_OF_PATH, MAX_DIRECTORIES = 64, 65536
MAX_FRAME = 8 << 20
MAX_BLOCK = 128 * (19 + 1024)
MAX_DIRECTORY = 2 << 20
MAX_CONTENT = 64 << 30
MIN_FRAME_SIZE = 64 << 10

# ---------------------------------------------------------------------------------------------
# §0.3 Functions
# ---------------------------------------------------------------------------------------------


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


# ---------------------------------------------------------------------------------------------
# §2 Keys
# ---------------------------------------------------------------------------------------------

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
    own = pack_key(key, core[32:64])
    require(key_id(own) == derive, "the pack is for another key", "wrong-key")
    return file_key(own, core)


# ---------------------------------------------------------------------------------------------
# §2.6 Recipients
# ---------------------------------------------------------------------------------------------


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


# ---------------------------------------------------------------------------------------------
# §1, §3 Writing header and segments
# ---------------------------------------------------------------------------------------------

MAGIC = bytes.fromhex("8950414b0d0a1a0a")


def check_name(name):
    """§1.1"""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
        raise Problem(f"not a pack name: {name}")


def make_core(name, version, salt, *, S=65536, flags=1, major=1, minor=0, suite=1, kind=1, reserved=0):
    """§1.1: bytes 0 … 95."""
    return MAGIC + struct.pack("<BBHIHHIQ", major, minor, suite, S, kind, flags, reserved, version) \
        + pack_id(name) + salt


def stanza(kind, content, length=None):
    """§1.3"""
    return u16(kind) + u16(len(content) if length is None else length) + content


def derive_stanza(ak):
    return stanza(1, key_id(ak))


def wrap_stanzas(fk, core, recipients=(), shared=()):
    """§1.3, §2.6: the WRAP stanzas for public keys and for application keys, as writers order them."""
    wraps = [(2, key_id(ak), wrap_symmetric(fk, ak, core)) for ak in shared]
    wraps += [(3, recipient_id(public), wrap_x25519(fk, public, core)) for public in recipients]
    return b"".join(stanza(kind, identifier + content) for kind, identifier, content in sorted(wraps))


def make_header(ak, core, stanzas):
    """§1.1: bytes 0 … 131+N, and the 40 bytes of the Tink header. `stanzas` may be a function of core."""
    keys = schedule(ak, core)
    if callable(stanzas):
        stanzas = stanzas(core)
    start = core + u32(len(stanzas)) + stanzas
    return start + hmac256(keys.MK, start), b"\x28" + keys.TS + keys.NP


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


def make_pack(ak, name, version, payload, *, random=None, salt=None, stanzas=None, **fields):
    """§1–3: a whole pack. `fields` are those of make_core; `random` is R of §2.4."""
    if random is not None:
        fields.setdefault("flags", 0)
    if salt is None:
        salt = salt_for(ak, make_core(name, version, bytes(32), **fields), payload, random)
    core = make_core(name, version, salt, **fields)
    header, tink = make_header(ak, core, derive_stanza(ak) if stanzas is None else stanzas)
    pieces = split_segments(payload, number(core, 12, 4))
    return header + tink + b"".join(seal(schedule(ak, core), pieces))


# ---------------------------------------------------------------------------------------------
# §1.4, §3.4 Reading header and segments
# ---------------------------------------------------------------------------------------------

Opened = namedtuple("Opened", "core minor kind stanzas N S payload keys")


def field(data, offset, length):
    """A number of the header; §1.4: a file that ends before it is truncated."""
    require(len(data) >= offset + length, "the file ends inside the header", "truncated")
    return number(data, offset, length)


def check_core(data, deltas):
    """§1.4 steps 1 and 2; returns minor, S and kind. A reader that has no bases knows no deltas."""
    present = min(len(data), 8)
    require(data[:present] == MAGIC[:present], "the first bytes are not the magic", "not-a-pack")
    require(present == 8, "the file ends inside the magic", "truncated")
    major = field(data, 8, 1)
    require(major == 1, f"major {major}", "unsupported")
    suite = field(data, 10, 2)
    require(suite == 1, f"suite {suite}", "unsupported")
    S = field(data, 12, 4)
    require(MIN_SEGMENT <= S <= MAX_SEGMENT and S & (S - 1) == 0, f"segment size {S}")
    kind = field(data, 16, 2)
    require(kind == 1 or kind == 2 and deltas, f"kind {kind}", "unsupported")
    flags = field(data, 18, 2)
    require(flags & 0xFE == 0, f"critical flags {flags & 0xFE:#04x}", "unsupported")
    require(field(data, 20, 4) == 0, "reserved bytes are not zero")
    require(field(data, 24, 8) <= MAX_VERSION, "pack version above 2^53-1")
    return data[9], S, kind


WRAP_LENGTHS = {2: 68, 3: 88}


def check_stanzas(stanzas):
    """§1.3; returns the key id of the DERIVE stanza, and the contents of WRAP stanzas by type and key id."""
    found, wraps, at = None, {}, 0
    while at < len(stanzas):
        require(at + 4 <= len(stanzas), "a remainder after the stanzas")
        kind, length = number(stanzas, at, 2), number(stanzas, at + 2, 2)
        require(at + 4 + length <= len(stanzas), "a stanza runs past the stanzas")
        if kind == 1:
            require(length == 8, "a DERIVE stanza that has not 8 bytes")
            require(found is None, "two DERIVE stanzas")
            found = stanzas[at + 4:at + 12]
        elif WRAP_LENGTHS.get(kind) == length:
            name = kind, stanzas[at + 4:at + 12]
            require(name not in wraps, "two WRAP stanzas for one key")
            wraps[name] = stanzas[at + 12:at + 4 + length]
        at += 4 + length
    require(found is not None, "there is no DERIVE stanza", "no-usable-key")
    return found, wraps


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


def open_pack(data, key, deltas=False):
    """§1.4: everything up to the payload."""
    minor, S, kind = check_core(data, deltas)
    N = field(data, 96, 4)
    require(N <= MAX_STANZAS, f"{N} bytes of key stanzas", "limit")
    require(len(data) >= 188 + N, "the file is shorter than its header", "truncated")
    require(len(data) <= MAX_FILE, "a file above 2^40 bytes", "limit")
    core, stanzas = data[:96], data[100:100 + N]
    keys = schedule_of(file_key_at_hand(key, check_stanzas(stanzas), core), core)
    mac = data[100 + N:132 + N]
    require(hmac.compare_digest(hmac256(keys.MK, data[:100 + N]), mac), "header MAC")
    body = data[132 + N:]
    require(body[0] == 0x28, "the first byte of the body is not 0x28")
    require(body[1:40] == keys.TS + keys.NP, "stream salt or nonce prefix is not the derived one")
    return Opened(core, minor, kind, stanzas, N, S, open_segments(keys, body, S), keys)


# ---------------------------------------------------------------------------------------------
# §4.2 Writing the tar
# ---------------------------------------------------------------------------------------------


def padding(length):
    return bytes(-length % 512)


def split_name(name):
    """§4.2.2: (prefix, name), or None where the split fails."""
    if len(name) <= 100:
        return b"", name
    at = name.find(b"/", len(name) - 101)
    if at == 0:
        at = name.find(b"/", 1)
    if at < 0 or at == len(name) - 1 or at > 155:
        return None
    return name[:at], name[at + 1:]


def longest_beginning(text, limit):
    """§4.2.3, shorten, steps 4 and 5: empty, or ending in `/`, of at most `limit` bytes."""
    return text[:text.rfind(b"/", 0, max(limit, 0)) + 1]


def shorten(path, insert):
    """§4.2.3"""
    if not insert and len(path) < 100:
        return path
    slash = path.endswith(b"/")
    if slash:
        path = path[:-1]
    at = path.rfind(b"/") + 1
    dirs, base = path[:at], path[at:]
    room = 98 - slash - (len(insert) + 2 if insert else 0)
    base = base[:room]
    room -= len(base)
    first = longest_beginning(dirs, 155)
    second = longest_beginning(dirs[len(first):], room + 1)
    return first + second + (insert + b"/" if insert else b"") + base + (b"/" if slash else b"")


def size_field(size):
    """§4.2.2"""
    if size < 1 << 33:
        return b"%011o " % size
    if size < 1 << 36:
        return b"%012o" % size
    return bytes([0x80]) + size.to_bytes(11, "big")


def checksum(block):
    """§4.2.2: of a header block of 512 bytes."""
    return sum(block[:148]) + 8 * 0x20 + sum(block[156:])


def ustar_block(name, prefix, mode, size, typeflag, linkname=b"", *, mtime=b"00000000000 ",
                magic=b"ustar\x0000", uname=b"", size_bytes=None, sum_bytes=None):
    """§4.2.2: a header block. The named arguments are for vectors that break a rule."""
    zero = b"000000 \0"
    start = name.ljust(100, b"\0") + b"%06o \0" % mode + zero + zero \
        + (size_field(size) if size_bytes is None else size_bytes) + mtime
    end = typeflag + linkname.ljust(100, b"\0") + magic + uname.ljust(32, b"\0") + bytes(32) \
        + zero + zero + prefix.ljust(155, b"\0") + bytes(12)
    total = checksum(start + bytes(8) + end)
    block = start + (b"%06o\0 " % total if sum_bytes is None else sum_bytes) + end
    assert len(block) == 512
    return block


def pax_record(key, value):
    """§4.2.3: `length SP key = value LF`."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest)
    while length != len(rest) + len(b"%d" % length):
        length = len(rest) + len(b"%d" % length)
    return b"%d" % length + rest


def high_bytes(text):
    return any(byte > 0x7F for byte in text)


def pax_records(full, target, size):
    """§4.2.3: the (key, value) pairs that are needed."""
    pairs = []
    if high_bytes(full) or split_name(full) is None:
        pairs.append((b"path", full))
    if high_bytes(target) or len(target) > 100:
        pairs.append((b"linkpath", target))
    if size >= 1 << 33:
        pairs.append((b"size", b"%d" % size))
    return pairs


def full_name(path, kind):
    return path + b"/" if kind == "directory" else path


TYPEFLAGS = {"file": b"0", "link": b"1", "directory": b"5"}


def main_fields(path, kind, executable, size, target):
    """§4.2.2, §4.2.3: (name, prefix, mode, size, typeflag, linkname) of a main header."""
    full = full_name(path, kind)
    has_path = any(key == b"path" for key, _ in pax_records(full, target, size))
    prefix, name = split_name(shorten(full, b"") if has_path else full)
    mode = 0o755 if executable or kind == "directory" else 0o644
    linkname = target if len(target) <= 100 else b"././@LongHardLink"
    return name, prefix, mode, size, TYPEFLAGS[kind], linkname


def pax_block(main, records):
    """§4.2.3: the pax header block for the main header fields `main`."""
    joined = main[1] + b"/" + main[0] if main[1] else main[0]
    if joined.endswith(b"/"):
        joined = joined[:-1]
    prefix, name = split_name(shorten(joined, b"PaxHeader"))
    return ustar_block(name, prefix, main[2], len(records), b"x")


def entry_headers(path, kind, executable, size, target=b"", *, pax=None, main_path=None, **broken):
    """§4.2.1: pax header (if needed) and ustar header of an entry. `pax`, `main_path` and
    `broken` (typeflag, linkname, mode, and what ustar_block takes) are for hostile vectors."""
    pairs = pax_records(full_name(path, kind), target, size) if pax is None else pax
    main = list(main_fields(path if main_path is None else main_path, kind, executable, size, target))
    if kind == "link":
        main[3] = 0
    records = pairs if isinstance(pairs, bytes) else b"".join(pax_record(*pair) for pair in pairs)
    front = pax_block(main, records) + records + padding(len(records)) if records else b""
    for index, key in ((2, "mode"), (4, "typeflag"), (5, "linkname")):
        if key in broken:
            main[index] = broken.pop(key)
    return front + ustar_block(*main, **broken)


class TarBuilder:
    """§4.2.1: entries end to end, then 1024 zero bytes."""

    def __init__(self):
        self.parts, self.size, self.lengths = [], 0, []

    def raw(self, data):
        self.parts.append(data)
        self.lengths.append(len(data))
        self.size += len(data)

    def add(self, path, kind="file", content=b"", executable=False, target=b"", pad=None, **broken):
        """Adds an entry; returns the offset of its data."""
        headers = entry_headers(path, kind, executable, len(content), target, **broken)
        offset = self.size + len(headers)
        self.raw(headers + content + (padding(len(content)) if pad is None else pad))
        return offset

    def finish(self, closing=bytes(1024)):
        self.raw(closing)
        return b"".join(self.parts)


# ---------------------------------------------------------------------------------------------
# §4.2.4 Order and equal content
# ---------------------------------------------------------------------------------------------

FILE, EXECUTABLE, DIRECTORY = 0x00, 0x80, 0x01
Item = namedtuple("Item", "path kind content executable")
Record = namedtuple("Record", "path type size offset digest")


def extension(path, kind="file"):
    """§4.2.4"""
    base = path[path.rfind(b"/") + 1:]
    at = base.rfind(b".")
    if kind == "directory" or at <= 0:
        return b""
    lower = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in base[at + 1:])
    return b"ttf" if lower == b"eot" else lower


def reference_order(items):
    def likeness(item):
        return item.path[item.path.rfind(b"/") + 1:], 0 if item.kind == "directory" else len(item.content)

    groups = {}
    for item in items:
        groups[likeness(item)] = min(groups.get(likeness(item), item.path), item.path)
    return sorted(items, key=lambda item: (extension(item.path, item.kind), groups[likeness(item)], item.path))


def directory_record(path):
    return Record(path, DIRECTORY, 0, 0, bytes(32))


def file_record(path, content, offset, executable=False):
    return Record(path, EXECUTABLE if executable else FILE, len(content), offset if content else 0,
                  sha256(content))


def build_tree(items, order=reference_order, links=True):
    """§4.2.4: the tar of a tree and its records in index order."""
    builder, records, seen = TarBuilder(), [], {}
    for item in order(items):
        if item.kind == "directory":
            builder.add(item.path, "directory")
            records.append(directory_record(item.path))
            continue
        same = (item.executable, item.content)
        if links and item.content and same in seen:
            target, offset = seen[same]
            builder.add(item.path, "link", executable=item.executable, target=target)
        else:
            offset = builder.add(item.path, "file", item.content, item.executable)
            seen.setdefault(same, (item.path, offset))
        records.append(file_record(item.path, item.content, offset, item.executable))
    return builder, sorted(records, key=lambda record: record.path)


# ---------------------------------------------------------------------------------------------
# §4.3 Frame cutting, §4.4 zstd frames
# ---------------------------------------------------------------------------------------------


def cut(lengths, F):
    """§4.3: the sizes of the frames for entries of these lengths."""
    frames, current = [], 0
    for length in lengths:
        if length > F:
            if current:
                frames.append(current)
            current = 0
            frames += [F] * (length // F) + ([length % F] if length % F else [])
        elif current + length > F:
            frames.append(current)
            current = length
        else:
            current += length
    return frames + ([current] if current else [])


def pieces(data, sizes):
    result, at = [], 0
    for size in sizes:
        result.append(data[at:at + size])
        at += size
    assert at == len(data)
    return result


def bound(n):
    """§4.4 item 2"""
    return n + n // 256 + ((131072 - n) // 2048 if n < 131072 else 0)


def zstd_frame(content, level=3):
    """§4.4: one frame by the library."""
    return zstandard.ZstdCompressor(level=level, write_content_size=True, write_checksum=False,
                                    write_dict_id=False).compress(content)


def frame_header(size, *, window=None, descriptor_bits=0, claimed=None):
    """§4.4: magic, descriptor, window byte, content size."""
    claimed = size if claimed is None else claimed
    single = 0x20 if window is None else 0
    if claimed < 256 and single:
        code, field_bytes = 0, bytes([claimed])
    elif 256 <= claimed < 65536 + 256:
        code, field_bytes = 1, u16(claimed - 256)
    else:
        code, field_bytes = 2, u32(claimed)
    return b"\x28\xb5\x2f\xfd" + bytes([code << 6 | single | descriptor_bits]) \
        + (b"" if window is None else bytes([window])) + field_bytes


def zstd_block(kind, size, body, last):
    """§4.4 item 3"""
    return (size * 8 + kind * 2 + (1 if last else 0)).to_bytes(3, "little") + body


def run_lengths(content, limit):
    """Pieces of the content: (byte, length) for runs of 32 bytes and more, else (None, bytes)."""
    plain = 0
    for match in re.finditer(rb"(.)\1{31,}", content, re.DOTALL):
        for start in range(plain, match.start(), limit):
            yield None, content[start:min(start + limit, match.start())]
        for start in range(match.start(), match.end(), limit):
            yield content[start:start + 1], min(limit, match.end() - start)
        plain = match.end()
    for start in range(plain, len(content), limit):
        yield None, content[start:start + limit]


def run_frame(content, *, limit=128 << 10, header=None):
    """§4.4: one frame of raw and run blocks only. The bytes do not depend on a library, so the
    vectors stay the same from machine to machine."""
    parts = list(run_lengths(content, limit))
    result = frame_header(len(content)) if header is None else header
    for index, (byte, value) in enumerate(parts):
        last = index == len(parts) - 1
        result += zstd_block(0, len(value), value, last) if byte is None else zstd_block(1, value, byte, last)
    return result


def raw_frame(content):
    """§4.4: one frame with one raw block."""
    return frame_header(len(content)) + zstd_block(0, len(content), content, True)


# ---------------------------------------------------------------------------------------------
# §4.5–4.8 Writing index and seek table
# ---------------------------------------------------------------------------------------------

INDEX_MAGIC, SEEK_MAGIC, SEEK_FOOTER = 0x184D2A5D, 0x184D2A5E, 0x8F92EAB1


def skippable(magic, content, length=None):
    """§4.5"""
    return u32(magic) + u32(len(content) if length is None else length) + content


def record_bytes(record):
    """§4.6"""
    return u16(len(record.path)) + bytes([record.type]) + u64(record.size) + u64(record.offset) + record.path


def content_root(records):
    """§4.8"""
    digest = hashlib.sha256(label("content-root"))
    for r in records:
        digest.update(u16(len(r.path)) + bytes([r.type]) + r.path + u64(r.size) + r.digest)
    return digest.digest()


def groups(records):
    """§4.6: record r is in block r div 128."""
    return [records[at:at + 128] for at in range(0, len(records), 128)]


def directory_bytes(blocks, first_paths):
    """§4.6"""
    return b"".join(u32(len(block)) + u16(len(path)) + path for block, path in zip(blocks, first_paths))


HEAD_FIELDS = ("magic", "records", "largest", "zero", "content", "tar", "root")


def head_bytes(f):
    return f["magic"] + u32(f["records"]) + u32(f["largest"]) + u32(f["zero"]) + u64(f["content"]) \
        + u64(f["tar"]) + f["root"]


def seek_table(entries, count=None, descriptor=0, magic=SEEK_FOOTER):
    """§4.7"""
    content = b"".join(u32(c) + u32(d) for c, d in entries) \
        + u32(len(entries) if count is None else count) + bytes([descriptor]) + u32(magic)
    return skippable(SEEK_MAGIC, content)


def make_payload(tar, records, *, sizes=None, codec=run_frame, **changes):
    """§4.1: the payload of a tar with these records. Each step may be changed by a function of the
    same name in `changes`, which gets the regular value and returns the one to use:

    data      list of (frame, decompressed size)     contents  content of each block (records)
    blocks    list of blocks                         directory directory, decompressed
    dirframe  directory, compressed                  fields    dict of the head's fields
    head      content of the head frame              extra     list of other skippable frames
    index     [blocks frame, head frame]             entries   list of seek table entries
    table     the seek table"""

    def step(name, value):
        change = changes.pop(name, None)
        return value if change is None else change(value)

    data = step("data", [(codec(piece), len(piece)) for piece in pieces(tar, sizes or [len(tar)])])
    parts = groups(records)
    contents = step("contents", [b"".join(record_bytes(r) for r in part) for part in parts])
    blocks = step("blocks", [b"".join(r.digest for r in part) + codec(content)
                             for part, content in zip(parts, contents)])
    directory = step("directory", directory_bytes(blocks, [part[0].path for part in parts]))
    dirframe = step("dirframe", codec(directory) if directory else b"")
    fields = step("fields", dict(zip(HEAD_FIELDS, (
        b"PIX1", len(records), max((size for _, size in data), default=0), 0,
        sum(r.size for r in records), sum(size for _, size in data), content_root(records)))))
    head = step("head", head_bytes(fields) + dirframe)
    extra = step("extra", [])
    index = step("index", [skippable(INDEX_MAGIC, b"".join(blocks)), skippable(INDEX_MAGIC, head)])
    entries = step("entries", [(len(frame), size) for frame, size in data]
                   + [(len(frame), 0) for frame in extra + index])
    table = step("table", seek_table(entries))
    assert not changes, changes
    return b"".join(frame for frame, _ in data) + b"".join(extra + index) + table


def tree_payload(items, *, F=1 << 20, order=reference_order, links=True, **changes):
    """§4: the payload of a tree, cut by the rule of §4.3 unless `sizes` is given."""
    builder, records = build_tree(items, order, links)
    tar = builder.finish()
    changes.setdefault("sizes", cut(builder.lengths, F))
    return make_payload(tar, records, **changes), records


# ---------------------------------------------------------------------------------------------
# §5 Paths
# ---------------------------------------------------------------------------------------------


def forbidden(code):
    """§5.1"""
    return code <= 0x1F or 0x7F <= code <= 0x9F or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 \
        or code == 0x5C


def check_path(path):
    """§5.1: what concerns one path alone."""
    require(len(path) >= 1, "an empty path")
    require(len(path) <= MAX_PATH, "a path above 1024 bytes", "limit")
    require(path.count(b"/") < MAX_DEPTH_OF_PATH, "a path of more than 64 components", "limit")
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("damaged", f"a path that is not UTF-8: {path!r}")
    require(unicodedata.normalize("NFC", text) == text, f"a path that is not in form C: {path!r}")
    require(not any(forbidden(ord(c)) for c in text), f"a forbidden character in {text!r}")
    components = path.split(b"/")
    for component in components:
        require(1 <= len(component) <= MAX_COMPONENT, f"a component of {len(component)} bytes")
        require(component not in (b".", b".."), f"a component . or .. in {text!r}")
        require(not component.startswith(b"._"), f"a component that begins with ._ in {text!r}")
    require(components[0] != b".pack", "the name .pack is reserved")


def leading_directories(path):
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def check_paths(paths):
    """§5.1: what concerns the paths together; they are in index order."""
    for path in paths:
        check_path(path)
    for one, two in zip(paths, paths[1:]):
        require(one < two, f"paths out of order: {two!r} after {one!r}")
    leading = {parent for path in paths for parent in leading_directories(path)}
    for path in paths:
        require(path not in leading, f"{path!r} is a record and a leading directory")


def check_directories(paths, are_directories):
    """§6: directories, implied ones and the root included."""
    directories = {parent for path in paths for parent in leading_directories(path)}
    count = 1 + len(directories) + sum(are_directories)
    require(count <= MAX_DIRECTORIES, f"{count} directories", "limit")


INVISIBLE = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
             (0x200B, 0x200F), (0x2028, 0x2029), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
             (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]
DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {a + b for a in ("com", "lpt") for b in "123456789¹²³"}


def portability_problem(path):
    """§5.2: what concerns one path alone."""
    text = path.decode("utf-8")
    if re.search(r'[:*?"<>|]', text):
        return "a character that Windows refuses"
    if any(first <= ord(c) <= last for c in text for first, last in INVISIBLE):
        return "an invisible character"
    for component in text.split("/"):
        if component[-1] in ". ":
            return "a component that ends in a dot or a space"
        if component.split(".")[0].lower() in DEVICES:
            return "a Windows device name"
    return None


def fold_key(path):
    """§5.2"""
    text = unicodedata.normalize("NFC", path.decode("utf-8"))
    return unicodedata.normalize("NFC", text.casefold())


def check_portability(paths):
    """§5.2, for the writer."""
    keys = {}
    for path in paths:
        problem = portability_problem(path)
        if problem:
            raise Problem(f"{path!r}: {problem}")
        for name in list(leading_directories(path)) + [path]:
            other = keys.setdefault(fold_key(name), name)
            if other != name:
                raise Problem(f"{name!r} and {other!r} differ only in case or form")


# ---------------------------------------------------------------------------------------------
# §4.4 Reading zstd frames
# ---------------------------------------------------------------------------------------------

FrameInfo = namedtuple("FrameInfo", "size length")


def frame_content_size(frame):
    """§4.4, the table: checks the header, returns (content size, length of the header)."""
    require(frame[:4] == b"\x28\xb5\x2f\xfd" and len(frame) >= 6, "no zstd frame where one must be")
    descriptor = frame[4]
    require(descriptor & 0x03 == 0, "a zstd frame with a dictionary id")
    require(descriptor & 0x04 == 0, "a zstd frame with a checksum")
    require(descriptor & 0x08 == 0, "a zstd frame with the reserved bit")
    single, code = bool(descriptor & 0x20), descriptor >> 6
    at = 5 if single else 6
    require(single or code != 0, "a zstd frame without content size")
    length = 1 << code
    require(len(frame) >= at + length, "a zstd frame that ends in its header")
    size = number(frame, at, length) + (256 if code == 1 else 0)
    if not single:
        b = 1 << (10 + (frame[5] >> 3))
        window = b + (b >> 3) * (frame[5] & 7)
        require(window <= size, "a zstd window above the content size")
    return size, at + length, min(size if single else window, 128 << 10)


def frame_length(frame, at, most):
    """§4.4 item 3: the length of the frame whose blocks begin at `at` and have at most `most` bytes."""
    while True:
        require(at + 3 <= len(frame), "a zstd frame that runs past its place")
        h = number(frame, at, 3)
        kind, size = h >> 1 & 3, h >> 3
        require(kind != 3, "a zstd block of type 3")
        require(size <= most, "a zstd block above its window")
        at += 3 + (1 if kind == 1 else size)
        require(at <= len(frame), "a zstd block that runs past its place")
        if h & 1:
            return at


def check_frame(place, *, exactly=None, limit=None, what="", open_end=False):
    """§4.4 items 1–3 for the frame that fills `place` (with `open_end`: begins it)."""
    size, at, most = frame_content_size(place)
    if exactly is not None:
        require(size == exactly, "a content size that differs from the seek table's")
    require(size >= 1, "a zstd frame with content size 0")
    if limit is not None:
        require(size <= limit, f"{what} of {size} bytes", "limit")
    length = frame_length(place, at, most)
    require(open_end or length == len(place), "a zstd frame that does not fill its place")
    require(length <= bound(size), "a zstd frame longer than its bound")
    return FrameInfo(size, length)


def decompress(place, info, prefix=b""):
    """§4.4: exactly the stated size; §13.6: against a prefix."""
    try:
        reader = zstandard.ZstdDecompressor(dict_data=raw_dictionary(prefix) if prefix else None)
        content = reader.decompress(place[:info.length], max_output_size=info.size)
    except zstandard.ZstdError as error:
        raise Refused("damaged", f"zstd: {error}")
    require(len(content) == info.size, "a zstd frame that is not as long as it says")
    return content


# ---------------------------------------------------------------------------------------------
# §4.9 Reading the payload as a client
# ---------------------------------------------------------------------------------------------

Seek = namedtuple("Seek", "data extra blocks head tar_length")
Place = namedtuple("Place", "start length size")


def read_seek_table(payload):
    """§4.9 steps 1 and 2; places of the frames."""
    require(len(payload) >= 17, "a payload shorter than a seek table")
    require(payload[-4:] == u32(SEEK_FOOTER) and payload[-5] == 0, "no seek table at the end")
    E = number(payload, len(payload) - 9, 4)
    require(E <= MAX_ENTRIES, f"{E} seek table entries", "limit")
    start = len(payload) - (17 + 8 * E)
    require(start >= 0, "a seek table longer than the payload")
    require(payload[start:start + 8] == u32(SEEK_MAGIC) + u32(9 + 8 * E), "header of the seek table")
    places, at = [], 0
    for i in range(E):
        length, size = struct.unpack_from("<II", payload, start + 8 + 8 * i)
        places.append(Place(at, length, size))
        at += length
    require(at == start, "the compressed sizes do not add up")
    data = [p for p in places if p.size]
    other = places[len(data):]
    require(all(p.size for p in places[:len(data)]), "a data frame after a skippable frame")
    require(len(data) >= 1, "no data frame")
    require(len(other) >= 2 and all(p.length >= 8 for p in other), "no index")
    require(all(p.size <= MAX_FRAME for p in data), "a data frame above 8 MiB", "limit")
    return Seek(data, other[:-2], other[-2], other[-1], sum(p.size for p in data))


def index_content(payload, place):
    """§4.5, §4.6: the content of one of the two index frames."""
    frame = payload[place.start:place.start + place.length]
    require(frame[:8] == u32(INDEX_MAGIC) + u32(place.length - 8), "header of an index frame")
    return frame[8:]


Head = namedtuple("Head", "records content root rest")


def read_head(payload, seek):
    """§4.9 step 3"""
    head = index_content(payload, seek.head)
    require(seek.tar_length >= 1024 and seek.tar_length % 512 == 0, "the frames hold no tar")
    require(len(head) >= 64 and head[:4] == b"PIX1", "no index head")
    require(number(head, 12, 4) == 0, "a reserved field of the head is not zero")
    require(number(head, 8, 4) == max(p.size for p in seek.data), "the largest frame differs")
    require(number(head, 24, 8) == seek.tar_length, "the tar length differs")
    records, content = number(head, 4, 4), number(head, 16, 8)
    require(records <= MAX_RECORDS, f"{records} records", "limit")
    require(content <= MAX_CONTENT, f"content size {content}", "limit")
    return Head(records, content, head[32:64], head[64:])


def read_directory(head, blocks, minor):
    """§4.9 step 4: [(block, first path)]"""
    count, lines = -(-head.records // 128), []
    rest = head.rest
    if count:
        info = check_frame(rest, limit=MAX_DIRECTORY, what="an index directory", open_end=True)
        directory, rest = decompress(rest, info), rest[info.length:]
    else:
        directory = b""
    require(minor > 0 or not rest, "bytes after the directory under minor 0")
    at, start = 0, 0
    for _ in range(count):
        require(at + 6 <= len(directory), "the directory ends early")
        length, path_length = number(directory, at, 4), number(directory, at + 4, 2)
        require(at + 6 + path_length <= len(directory), "the directory ends early")
        path = directory[at + 6:at + 6 + path_length]
        require(not lines or lines[-1][1] < path, "the directory is out of order")
        lines.append((blocks[start:start + length], path))
        at, start = at + 6 + path_length, start + length
    require(at == len(directory), "bytes after the last line of the directory")
    require(start == len(blocks), "the block lengths do not add up")
    return lines


def read_record(content, at, digest, tar_length):
    """§4.6: one record and where it ends."""
    require(at + 19 <= len(content), "a block ends inside a record")
    length, kind = number(content, at, 2), content[at + 2]
    size, offset = number(content, at + 3, 8), number(content, at + 11, 8)
    require(kind in (FILE, EXECUTABLE, DIRECTORY), f"record type {kind:#04x}", "unsupported")
    require(length >= 1, "an empty path")
    require(length <= MAX_PATH, "a path above 1024 bytes", "limit")
    require(at + 19 + length <= len(content), "a block ends inside a path")
    path = content[at + 19:at + 19 + length]
    require(kind != DIRECTORY or size == 0, "a directory with a size")
    require(kind != DIRECTORY or digest == bytes(32), "a directory with a digest")
    if size == 0:
        require(offset == 0, "an offset without data")
    else:
        require(offset >= 512 and offset % 512 == 0, f"offset {offset}")
        require(offset + size <= tar_length - 1024, "data outside the tar")
    return Record(path, kind, size, offset, digest), at + 19 + length


def read_block(block, first, count, minor, tar_length):
    """§4.9 step 5: the records of one block."""
    require(len(block) >= 32 * count, "a block shorter than its digests")
    place = block[32 * count:]
    content = decompress(place, check_frame(place, limit=MAX_BLOCK, what="an index block"))
    records, at = [], 0
    for i in range(count):
        record, at = read_record(content, at, block[32 * i:32 * i + 32], tar_length)
        records.append(record)
    require(minor > 0 or at == len(content), "bytes after the last record under minor 0")
    require(records[0].path == first, "the first path of a block differs from the directory's")
    return records


def read_index(payload, seek, minor):
    """§4.9 steps 3–5: head and all records."""
    head = read_head(payload, seek)
    records = []
    for block, first in read_directory(head, index_content(payload, seek.blocks), minor):
        count = min(128, head.records - len(records))
        records += read_block(block, first, count, minor, seek.tar_length)
    check_paths([record.path for record in records])
    check_directories([record.path for record in records], [record.type == DIRECTORY for record in records])
    require(sum(record.size for record in records) == head.content, "the content size differs")
    return head, records


class Tar:
    """The tar as the data frames hold it; of what was decompressed, the last frames are kept."""

    def __init__(self, payload, seek, kept=1):
        self.payload, self.places, self.length = payload, seek.data, seek.tar_length
        self.starts, at = [], 0
        for place in seek.data:
            self.starts.append(at)
            at += place.size
        self.contents, self.kept = {}, kept

    def frame(self, index):
        if index not in self.contents:
            place = self.places[index]
            frame = self.payload[place.start:place.start + place.length]
            while len(self.contents) >= self.kept:
                del self.contents[next(iter(self.contents))]
            self.contents[index] = decompress(frame, check_frame(frame, exactly=place.size))
        return self.contents[index]

    def chunks(self, offset, length):
        """The bytes offset … offset+length-1, piece by piece."""
        require(offset + length <= self.length, "the tar ends early")
        index = bisect.bisect_right(self.starts, offset) - 1
        while length:
            inner = offset - self.starts[index]
            chunk = self.frame(index)[inner:inner + length]
            yield chunk
            offset, length, index = offset + len(chunk), length - len(chunk), index + 1

    def read(self, offset, length):
        return b"".join(self.chunks(offset, length))


def check_contents(tar, records, sink=None):
    """§4.8, §4.9 step 6: the SHA-256 of every file; `sink(record, chunks)` may take the content."""
    for record in sorted(records, key=lambda r: r.offset):
        if record.type == DIRECTORY:
            if sink:
                sink(record, ())
            continue
        digest = hashlib.sha256()

        def passing():
            for chunk in tar.chunks(record.offset, record.size) if record.size else ():
                digest.update(chunk)
                yield chunk

        if sink:
            sink(record, passing())
        else:
            for _ in passing():
                pass
        require(digest.digest() == record.digest, f"the content of {record.path!r} has another SHA-256")


def require_apart(records):
    """§4.6: two data ranges are the same or apart."""
    ranges = sorted({(r.offset, r.offset + r.size) for r in records if r.size})
    for (_, end), (start, _) in zip(ranges, ranges[1:]):
        require(end <= start, "two data ranges overlap")


def read_payload(payload, minor, verify=False, sink=None):
    """§4.9: checks a payload, returns its records."""
    seek = read_seek_table(payload)
    head, records = read_index(payload, seek, minor)
    require_apart(records)
    tar = Tar(payload, seek)
    check_contents(tar, records, sink)
    require(content_root(records) == head.root, "the content root differs")
    if verify:
        verify_extra(payload, seek)
        verify_tar(tar, records)
    return records


# ---------------------------------------------------------------------------------------------
# §4.9 Verifying: the tar and the other frames
# ---------------------------------------------------------------------------------------------

TarEntry = namedtuple("TarEntry", "kind executable size offset target")


def verify_extra(payload, seek):
    """§4.5: the other skippable frames."""
    for place in seek.extra:
        magic, length = struct.unpack_from("<II", payload, place.start)
        require(0x184D2A50 <= magic <= 0x184D2A5C, f"a skippable frame with magic {magic:#x}")
        require(length + 8 == place.length, "a skippable frame that does not fill its place")


def parse_size(text):
    """§4.2.2: the size field."""
    if text[0] & 0x80:
        return int.from_bytes(bytes([text[0] & 0x7F]) + text[1:], "big")
    digits = text[:11] if text[11:] == b" " else text
    require(re.fullmatch(rb"[0-7]+", digits), "a size field that is no number")
    return int(digits, 8)


def parse_pax(data):
    """§4.2.3: the records of a pax header, in order."""
    pairs, at = [], 0
    while at < len(data):
        match = re.compile(rb"([1-9][0-9]{0,8}) ").match(data, at)
        require(match, "a pax record without length")
        end = at + int(match.group(1))
        require(match.end() < end <= len(data), "the length of a pax record")
        record = data[match.end():end]
        require(record.endswith(b"\n") and b"=" in record, "a pax record without = or line end")
        key, _, value = record[:-1].partition(b"=")
        require(pax_record(key, value) == data[at:end], "the form of a pax record")
        pairs.append((key, value))
        at = end
    return pairs


def text_field(block, offset, length):
    return block[offset:offset + length].split(b"\0", 1)[0]


def check_header_block(block):
    """§4.2.2: magic and checksum."""
    require(block[257:265] == b"ustar\x0000", "a tar header that is not ustar")
    require(block[148:156] == b"%06o\0 " % checksum(block), "the checksum of a tar header")


def check_pax_block(block, mode, length):
    """§4.2.3: a pax header block but for its name."""
    expected = ustar_block(text_field(block, 0, 100), text_field(block, 345, 155), mode, length, b"x")
    require(block == expected, "a pax header block that is not as §4.2.3 writes it")


def parse_entry(tar, at, known):
    """§4.2.1: (path, TarEntry, end) of the entry at `at`; `known` are the paths of the index."""
    pax, front = [], None
    block = tar.read(at, 512)
    check_header_block(block)
    if block[156:157] == b"x":
        length = parse_size(block[124:136])
        require(0 < length <= 65536, "a pax header of this length")
        pax = parse_pax(tar.read(at + 512, length))
        front = (block, length)
        end = at + 512 + length + len(padding(length))
        require(not any(tar.read(at + 512 + length, end - at - 512 - length)), "padding of a pax header")
        at, block = end, tar.read(end, 512)
        check_header_block(block)
    keys = dict(pax)
    require(len(keys) == len(pax) and set(keys) <= {b"path", b"linkpath", b"size"}, "the pax keys")
    kinds = {flag: kind for kind, flag in TYPEFLAGS.items()}
    require(block[156:157] in kinds, f"a tar entry of type {block[156:157]!r}")
    kind = kinds[block[156:157]]
    return check_entry(tar, at, block, kind, pax, keys, front, known)


def check_entry(tar, at, block, kind, pax, keys, front, known):
    """§4.2.2, §4.2.3: the main header is what a writer would have written for its values."""
    name, prefix, linkname = text_field(block, 0, 100), text_field(block, 345, 155), text_field(block, 157, 100)
    full = keys.get(b"path", prefix + b"/" + name if prefix else name)
    target = keys.get(b"linkpath", linkname)
    size = parse_size(block[124:136])
    path = full[:-1] if kind == "directory" else full
    require(kind != "directory" or full.endswith(b"/"), "a directory without / at the end")
    require(path in known, f"{path!r} is in the tar but not in the index")
    require(kind == "link" or not target, "a link target without a hard link")
    require(size <= tar.length, "a size beyond the end of the tar")
    require(kind == "file" or size == 0, "a size at a directory or a hard link")
    require(block[100:108] in (b"000644 \0", b"000755 \0"), "a mode that is not 0644 or 0755")
    executable = block[100:108] == b"000755 \0"
    require(kind != "directory" or executable, "a directory that is not 0755")
    require(pax == pax_records(full_name(path, kind), target, size), "pax records other than the needed ones")
    expected = list(main_fields(path, kind, executable, size, target))
    if b"path" in keys:
        expected[0], expected[1] = name, prefix
    if b"linkpath" in keys:
        expected[5] = linkname
    require(block == ustar_block(*expected), "a tar header that is not as §4.2.2 writes it")
    if front:
        check_pax_block(front[0], expected[2], front[1])
    offset = at + 512
    end = offset + size + len(padding(size))
    require(not any(tar.read(offset + size, end - offset - size)), "padding that is not zero")
    return path, TarEntry(kind, executable and kind != "directory", size, offset, target), end


def parse_tar(tar, known):
    """§4.2.1: {path: TarEntry} in tar order, hard links resolved as §4.2.4 says."""
    entries, at = {}, 0
    require(tar.length >= 1024, "a tar without its end")
    while at != tar.length - 1024:
        require(at < tar.length - 1024, "a tar without its end")
        path, entry, at = parse_entry(tar, at, known)
        require(path not in entries, f"{path!r} is twice in the tar")
        if entry.kind == "link":
            target = entries.get(entry.target)
            require(target is not None and target.kind == "file" and target.size > 0
                    and target.executable == entry.executable, f"the target of the hard link {path!r}")
            entry = entry._replace(size=target.size, offset=target.offset)
        entries[path] = entry
    require(tar.read(at, 1024) == bytes(1024), "the closing 1024 bytes are not zero")
    return entries


def verify_tar(tar, records):
    """§4.9: the one-to-one match of tar and index."""
    entries = parse_tar(tar, {record.path for record in records})
    for record in records:
        entry = entries.pop(record.path, None)
        require(entry is not None, f"{record.path!r} is not in the tar")
        require((record.type == DIRECTORY) == (entry.kind == "directory"), f"type of {record.path!r}")
        require((record.type == EXECUTABLE) == entry.executable, f"executable flag of {record.path!r}")
        require(record.size == entry.size, f"size of {record.path!r}")
        require(record.offset == (entry.offset if entry.size else 0), f"offset of {record.path!r}")


def read_pack(data, ak, verify=False, sink=None, bases=()):
    """The whole reader. With bases (§13) a delta is read, too."""
    opened = open_pack(data, ak, deltas=bool(bases))
    if opened.kind == 1:
        return read_payload(opened.payload, opened.minor, verify, sink)
    tree = DeltaTree(opened, bases)
    read_tree_contents(tree, sink)
    return tree.records


# ---------------------------------------------------------------------------------------------
# §5.3 Unpacking, and the commands read and write
# ---------------------------------------------------------------------------------------------

KINDS = {FILE: "file", EXECUTABLE: "executable", DIRECTORY: "directory"}


def open_parent(root, components):
    """§5.3: the descriptor of the directory, component by component, no link followed."""
    fd = os.dup(root)
    for component in components:
        try:
            os.mkdir(component, 0o755, dir_fd=fd)
        except FileExistsError:
            pass
        below = os.open(component, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


def unpacker(root):
    """§5.3: a sink for read_payload."""

    def sink(record, chunks):
        components = record.path.split(b"/")
        parent = open_parent(root, components[:-1])
        try:
            if record.type == DIRECTORY:
                os.mkdir(components[-1], 0o755, dir_fd=parent)
                return
            mode = 0o755 if record.type == EXECUTABLE else 0o644
            fd = os.open(components[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode,
                         dir_fd=parent)
            with open(fd, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                os.fchmod(fd, mode)
        finally:
            os.close(parent)

    return sink


def unpack(data, ak, target, verify, bases=()):
    """§5.3: into a fresh directory beside the target, then one rename."""
    if os.path.lexists(target):
        raise Problem(f"{target} exists")
    fresh = f"{target}.unpacking-{os.getpid()}"
    os.mkdir(fresh)
    root = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
    try:
        records = read_pack(data, ak, verify, unpacker(root), bases)
        os.rename(fresh, target)
        return records
    except BaseException:
        remove_tree(fresh)
        raise
    finally:
        os.close(root)


def remove_tree(path):
    for parent, directories, files in os.walk(path, topdown=False):
        for name in files:
            os.unlink(os.path.join(parent, name))
        for name in directories:
            os.rmdir(os.path.join(parent, name))
    os.rmdir(path)


def record_line(record):
    digest = "-" if record.type == DIRECTORY else record.digest.hex()
    return f"{record.path.decode('utf-8')} {record.size} {digest} {KINDS[record.type]}"


def command_read(arguments):
    ak = argument_key(arguments)
    if os.path.getsize(arguments.pack) > MAX_FILE:
        raise Refused("limit", "a file above 2^40 bytes")
    with open(arguments.pack, "rb") as file:
        data = file.read()
    bases = open_bases(arguments.base, ak)
    if arguments.to:
        records = unpack(data, ak, arguments.to, arguments.verify, bases)
    else:
        records = read_pack(data, ak, arguments.verify, bases=bases)
    if arguments.list or not (arguments.to or arguments.verify):
        for record in records:
            print(record_line(record))
    else:
        print(f"ok: {len(records)} records, {sum(r.size for r in records)} bytes")


def argument_key(arguments):
    if arguments.key_hex is not None:
        return parse_key_text(arguments.key_hex)
    return read_key_file(arguments.key_file)


def command_wrap(arguments):
    with open(arguments.pack, "rb") as file:
        data = file.read()
    opened = open_pack(data, argument_key(arguments), deltas=True)
    if check_stanzas(opened.stanzas)[1]:
        raise Problem("the pack is wrapped already")
    publics = []
    for text in arguments.to:
        publics.append(bytes.fromhex(text[5:69]))
        if recipient_text(publics[-1]) != text:
            raise Problem("not the public key of a recipient")
    shared = [read_key_file(path) for path in arguments.to_key_file]
    stanzas = opened.stanzas + wrap_stanzas(opened.keys.FK, opened.core, publics, shared)
    start = opened.core + u32(len(stanzas)) + stanzas
    with open(arguments.output, "wb") as file:
        file.write(start + hmac256(opened.keys.MK, start) + data[132 + opened.N:])


def read_tree(root):
    """§4.2.1, §5.1: the items of a directory; anything but files and directories is refused."""
    items = []

    def visit(directory, path):
        names = sorted(os.listdir(directory))
        if not names and path:
            items.append(Item(path, "directory", b"", False))
        for name in names:
            full, inner = os.path.join(directory, name), path + b"/" + name if path else name
            status = os.lstat(full)
            if stat.S_ISDIR(status.st_mode):
                visit(full, inner)
            elif stat.S_ISREG(status.st_mode):
                with open(full, "rb") as file:
                    items.append(Item(inner, "file", file.read(), bool(status.st_mode & 0o111)))
            else:
                raise Problem(f"{inner!r} is neither file nor directory")

    visit(os.fsencode(root), b"")
    return sorted(items, key=lambda item: item.path)


def check_tree(items):
    """§5.1, §5.2, §6, for the writer."""
    paths = [item.path for item in items]
    try:
        check_paths(paths)
        check_directories(paths, [item.kind == "directory" for item in items])
        require(len(items) <= MAX_RECORDS, f"{len(items)} files", "limit")
        first_paths = paths[::128]
        require(sum(6 + len(path) for path in first_paths) <= MAX_DIRECTORY, "the index directory", "limit")
    except Refused as error:
        raise Problem(str(error))
    check_portability(paths)


def command_write(arguments):
    check_name(arguments.name)
    if not 0 <= arguments.pack_version <= MAX_VERSION:
        raise Problem("pack version outside 0 … 2^53-1")
    S = arguments.segment_size
    if not (MIN_SEGMENT <= S <= MAX_SEGMENT and S & (S - 1) == 0):
        raise Problem("segment size is no power of two within 4096 … 1048576")
    if not MIN_FRAME_SIZE <= arguments.frame_size <= MAX_FRAME:
        raise Problem("frame size outside 64 KiB … 8 MiB")
    ak, items = argument_key(arguments), read_tree(arguments.directory)
    check_tree(items)
    bases = open_bases(arguments.base, ak)
    if bases:
        payload, records = delta_payload(bases, items, codec=lambda content, prefix: library_frame(content, prefix, arguments.level))
    else:
        payload, records = tree_payload(items, F=arguments.frame_size,
                                        codec=lambda content: zstd_frame(content, arguments.level))
    random = os.urandom(32) if arguments.random_salt else None
    pack = make_pack(ak, arguments.name, arguments.pack_version, payload, S=S, random=random, kind=2 if bases else 1)
    with open(arguments.output, "wb") as file:
        file.write(pack)
    print(f"{len(records)} records, {len(pack)} bytes, SHA-256 {sha256(pack).hex()}")


# ---------------------------------------------------------------------------------------------
# §10.1 Test vectors: packs
# ---------------------------------------------------------------------------------------------

# The key is bytes, or the secret key of a recipient.
Vector = namedtuple("Vector", "name expect comment data key client records root", defaults=(None,))
AK = bytes(range(32))
OTHER_AK = bytes(range(32, 64))
NAME, VERSION, SMALL = "vector", 7, 4096
OWN_AK = key_of_pack(AK, NAME)
FOLDERS = ("valid", "refused-open", "hostile", "others")


def vector_bytes(vector):
    """§10.1, and `client:` where a client that reads only the index says something else."""
    lines = [f"expect: {vector.expect}"]
    if vector.client:
        lines.append(f"client: {vector.client}")
    if isinstance(vector.key, Recipient):
        lines.append(f"recipient: {vector.key.secret.hex()}")
    else:
        lines.append(f"key: {vector.key.hex()}")
    if vector.root:
        lines.append(f"root: {vector.root.hex()}")
    lines.append(f"comment: {vector.comment}")
    for record in vector.records or ():
        path = record.path.decode("utf-8")
        if record.type == DIRECTORY:
            lines.append(f"path: {path}/")
        else:
            lines += [f"path: {path}", f"sha256: {record.digest.hex()}"]
    return "".join(line + "\n" for line in lines).encode("utf-8") + b"\n" + vector.data


def parse_vector(name, data):
    """§10.1: a vector as it stands in its file; an unknown key is an error."""
    head, separator, body = data.partition(b"\n\n")
    values, listing = {}, []
    for line in head.decode("utf-8").split("\n"):
        key, colon, value = line.partition(": ")
        if not (separator and colon) or key not in ("expect", "client", "key", "recipient", "root", "comment", "path", "sha256"):
            raise Problem(f"{name}: the head of the vector: {line}")
        if key == "path":
            listing.append([value, None])
        elif key == "sha256":
            listing[-1][1] = value
        else:
            values[key] = value
    root = bytes.fromhex(values["root"]) if "root" in values else None
    if ("key" in values) == ("recipient" in values):
        raise Problem(f"{name}: the head of the vector has no key, or two")
    at_hand = bytes.fromhex(values["key"]) if "key" in values else Recipient(bytes.fromhex(values["recipient"]))
    return Vector(name, values["expect"], values.get("comment"), body, at_hand, values.get("client"), listing, root)


def pack_of(payload, *, ak=AK, S=SMALL, version=VERSION, **fields):
    return make_pack(ak, NAME, version, payload, S=S, **fields)


def file(path, content=b"", executable=False):
    return Item(path.encode("utf-8") if isinstance(path, str) else path, "file", content, executable)


def directory(path):
    return Item(path.encode("utf-8"), "directory", b"", False)


def noise(length, seed=b"noise"):
    """Bytes that do not compress, always the same."""
    return b"".join(sha256(seed + u32(i)) for i in range(-(-length // 32)))[:length]


SMALL_TREE = (file("a.txt", b"hello"), file("b/c.bin"), directory("d"), file("run", b"#!", True))

# ---------------------------------------------------------------------------------------------
# Vectors: valid
# ---------------------------------------------------------------------------------------------


def valid(name, comment, payload, records, **fields):
    return Vector(name, "ok", comment, pack_of(payload, **fields), AK, None, records)


def valid_tree(name, comment, items, *, pack=None, **changes):
    """A valid vector; `changes` are those of tree_payload, `pack` the fields of make_pack."""
    payload, records = tree_payload(list(items), **changes)
    return valid(name, comment, payload, records, **(pack or {}))


def valid_trees():
    """Trees of every kind (§4.2, §5)."""
    yield valid_tree("empty-tree", "no files (§8.6)", ())
    yield valid_tree("one-file", "one file", [file("a.txt", b"hello")])
    yield valid_tree("empty-file", "one empty file", [file("empty.bin")])
    yield valid_tree("empty-directory", "one empty directory", [directory("d")])
    yield valid_tree("executable", "one executable file", [file("run", b"#!/bin/sh\n", True)])
    yield valid_tree("small-tree", "files, an executable, an empty file, an empty directory", SMALL_TREE)
    same = [file("a.txt", b"hello"), file("b.txt", b"hello"), file("c/d.txt", b"hello"),
            file("x.txt", b"hello", True), file("y", b""), file("z", b"")]
    yield valid_tree("identical-files", "equal content as hard links; not for another executable flag, "
                     "nor for empty files (§4.2.4)", same)
    yield valid_tree("identical-files-no-links", "equal content written twice (§4.2.4)", same, links=False)
    yield valid_tree("identical-files-link-first", "the hard link comes first in the index, last in the tar",
                     [file("a.txt", b"hello"), file("b", b"hello")])
    yield valid_tree("hard-link-long-target", "a hard link with a linkpath record and ././@LongHardLink",
                     [file("a/" * 60 + "f", b"same"), file("z", b"same")])
    yield valid_tree("path-non-ascii", "paths in form C beyond ASCII", [
        file("ü.txt", b"hello"), file("日本/語.bin", b"x"), file("café/naïve", b"y"),
        directory("étage"), file("\U0001F600", b"z")])
    yield valid_tree("path-ustar-prefix", "a path that is split into prefix and name",
                     [file("p" * 60 + "/" + "p" * 60, b"hello")])
    yield valid_tree("path-pax-header", "paths that need a pax header", [
        file("y" * 101, b"1"), file("n" * 50 + "/" + "n" * 149, b"2"), directory("e" * 100)])
    yield valid_tree("path-100-bytes", "a path of exactly 100 bytes", [file("k" * 100, b"hello")])
    long = "/".join("c" * 63 for _ in range(16))
    yield valid_tree("path-1024-bytes", "a path of 1024 bytes, the longest",
                     [file(long + "e", b"hello")])
    yield valid_tree("path-64-components", "a path of 64 components, the most", [
        file("d/" * 63 + "e", b"hello"), directory("e/" * 63 + "e")])
    yield valid_tree("component-255-bytes", "a component of 255 bytes, the longest",
                     [file("d/" + "c" * 255, b"hello")])
    yield valid_tree("path-portability", "paths that readers tolerate (§5.2): devices, `:`, dots and "
                     "spaces at the end", [file("aux.txt", b"1"), file("a:b", b"2"), file("end.", b"3"),
                                           file("end ", b"4"), file("que?stion*", b"5"),
                                           file("conin$", b"6"), file("soft\u00adhyphen", b"7"),
                                           file("left\u200fright", b"8")])
    yield valid_tree("path-case-twins", "paths that differ in case: readers tolerate them (§5.2), but "
                     "unpacking aborts on a volume that does not distinguish case (§5.3)",
                     [file("A.txt", b"1"), file("a.txt", b"2")])
    yield valid_tree("path-near-reserved", "`.packs`, `a/.pack`, `...` and `_.x` are free names",
                     [file(".packs", b"1"), file("a/.pack", b"2"), file("...", b"3"), file("_.x", b"4")])
    yield valid_tree("path-neighbours", "`a-b` stands between `a.` and `a/b` without being in the way",
                     [file("a-b", b"1"), file("a.c", b"2"), file("a/b", b"3"), file("ab", b"4")])
    yield valid_tree("order-reversed", "the entries in descending path order (§4.2.4)", SMALL_TREE,
                     order=lambda items: sorted(items, key=lambda item: item.path, reverse=True))
    for count in (127, 128, 129, 300):
        items = [file(f"f{i:03}", b"%d" % i) for i in range(count)]
        yield valid_tree(f"records-{count}", f"{count} records: blocks of 128 and the rest (§4.6)", items,
                         codec=zstd_frame)


def exact_length(target):
    """A tree whose payload has exactly `target` bytes."""
    for length in range(target, 0, -1):
        items = [file("noise.bin", noise(length)), file("z", b"end")]
        payload, records = tree_payload(items)
        if len(payload) == target:
            return payload, records
    raise Problem("no payload of this length")


def valid_segments():
    """§3.2: edges of segments."""
    P = SMALL - 16
    for n in (1, 2, 3):
        payload, records = exact_length(n * P - 40)
        yield valid(f"segments-{n}-full", f"a payload of {len(payload)} bytes fills {n} segments exactly "
                    "(§3.2)", payload, records)
    payload, records = exact_length(2 * P - 40 + 1)
    yield valid("segments-3-one-byte", "a last segment with one byte (§3.2)", payload, records)
    yield valid_tree("segment-65536", "S = 65536", SMALL_TREE, pack={"S": 65536})
    yield valid_tree("segment-1048576", "S = 1048576, the largest", SMALL_TREE, pack={"S": 1 << 20})


def large_content():
    return b"".join(noise(2000, b"%d" % i) + b"frame %d " % i * 6000 for i in range(4))


def valid_frames():
    """§4.3, §4.4: frames."""
    large = [file("a.txt", b"hello"), file("large.bin", large_content()), file("z.txt", b"end")]
    yield valid_tree("frames-large-file", "a file of several frames and segments, cut with F = 65536",
                     large, F=65536, codec=zstd_frame)
    yield valid_tree("frames-one", "the same tree in one frame", large, codec=zstd_frame)
    yield valid_tree("frames-level-19", "the same tree, compressed at level 19", large, F=65536,
                     codec=lambda content: zstd_frame(content, 19))
    yield valid_tree("frames-cut-in-headers", "cuts in the middle of headers and data; readers take "
                     "the cuts from the seek table", SMALL_TREE, sizes=[100, 412, 3, 700, 300, 2581])
    yield valid_tree("frames-of-one-byte", "every data frame holds one byte", [file("a", b"1")],
                     sizes=[1] * 2048)
    yield valid_tree("frames-raw-blocks", "frames with raw blocks only", SMALL_TREE, codec=raw_frame)
    yield valid_tree("frames-window", "a data frame with a window byte: window 1024, content 4096 (§4.4)",
                     SMALL_TREE, data=lambda data: [window_frame(SMALL_TREE, 0)])
    yield valid_tree("frames-unused-bit", "bit 4 of the descriptor is ignored (§4.4)", SMALL_TREE,
                     data=lambda data: [(set_bits(frame, 4, 0x10), size) for frame, size in data])
    yield valid_tree("frames-8-mib", "a data frame of 8 MiB, the largest", [file("zeros", bytes((8 << 20) - 1536))],
                     F=8 << 20)


def set_bits(data, offset, bits):
    return data[:offset] + bytes([data[offset] | bits]) + data[offset + 1:]


def tar_of(items):
    return build_tree(list(items))[0].finish()


def window_frame(items, window):
    """One frame for the tar of `items`, with a window byte."""
    tar = tar_of(items)
    return run_frame(tar, limit=1024, header=frame_header(len(tar), window=window)), len(tar)


def valid_headers():
    """§1, §2.4, §7: what readers ignore or take as it stands."""
    unknown = stanza(0x7001, b"a stanza of a later version")
    for name, comment, stanzas in (
            ("stanza-unknown-before", "an unknown stanza before DERIVE", unknown + derive_stanza(AK)),
            ("stanza-unknown-after", "an unknown stanza after DERIVE", derive_stanza(AK) + unknown),
            ("stanza-unknown-empty", "an unknown stanza without content", stanza(0xFFFF, b"") + derive_stanza(AK)),
            ("stanza-reserved", "stanzas of the reserved types are skipped", derive_stanza(AK)
             + stanza(2, bytes(68)) + stanza(3, b"") + stanza(4, b"x")),
            ("stanzas-16384-bytes", "N = 16384, the largest", derive_stanza(AK) + stanza(0x7001, bytes(16368)))):
        yield valid_tree(name, comment + " (§1.3)", SMALL_TREE, pack={"stanzas": stanzas})
    yield valid_tree("flag-bit-9", "an ignorable flag is set (§1.2)", SMALL_TREE, pack={"flags": 0x0201})
    yield valid_tree("flags-8-to-15", "all ignorable flags are set (§1.2)", SMALL_TREE, pack={"flags": 0xFF01})
    yield valid_tree("salt-random", "a random salt with R = 40…5f (§2.4)", SMALL_TREE,
                     pack={"random": bytes(range(0x40, 0x60))})
    yield valid_tree("salt-not-recomputable", "flag bit 0 with a salt that is not the one of §2.4: "
                     "a reader takes it as it stands", SMALL_TREE, pack={"salt": bytes(32)})
    yield valid_tree("version-0", "pack version 0", SMALL_TREE, pack={"version": 0})
    yield valid_tree("version-largest", "pack version 2^53-1", SMALL_TREE, pack={"version": MAX_VERSION})
    yield valid_tree("minor-255", "minor 255, nothing else", SMALL_TREE, pack={"minor": 255})
    yield valid_tree("minor-1-additions", "minor 1: bytes after the directory's frame and after the last "
                     "record of a block, other skippable frames", SMALL_TREE, pack={"minor": 1},
                     contents=lambda contents: [content + b"later" for content in contents],
                     head=lambda head: head + b"later", extra=lambda extra: other_frames())
    yield valid_tree("minor-0-skippable-frame", "another skippable frame under minor 0 is passed over (§4.5)",
                     SMALL_TREE, extra=lambda extra: other_frames()[:1])


def with_pack_key(vector):
    """The vector of a pack that was made with the key of its own, and the root key that this is made from (§2.3)."""
    return vector._replace(key=OWN_AK, root=AK)


def valid_pack_keys():
    """§2.3"""
    own = {"ak": OWN_AK}
    yield with_pack_key(valid_tree("pack-key", "made with a key of its own, which follows from the root key",
                                   SMALL_TREE, pack=own))
    yield with_pack_key(valid_tree("pack-key-segments", "the same over several segments",
                                   [file("noise.bin", noise(13000)), file("z.txt", b"end")], pack=own))
    yield with_pack_key(valid_tree("pack-key-random-salt", "the same with a random salt, R = 40…5f", SMALL_TREE,
                                   pack={**own, "random": bytes(range(0x40, 0x60))}))


RECIPIENT = Recipient(bytes(range(0x40, 0x60)))
SHARED_AK = bytes(range(0x60, 0x80))
OTHER_RECIPIENT = Recipient(bytes(range(0x80, 0xa0)))


def wrapped(*changes, recipients=(RECIPIENT,), shared=(SHARED_AK,), ak=AK):
    """A function from core to DERIVE and the WRAP stanzas, each of `changes` applied to the bytes of the latter."""
    def stanzas(core):
        wraps = wrap_stanzas(file_key(ak, core), core, [key.public for key in recipients], shared)
        for change in changes:
            wraps = change(wraps)
        return derive_stanza(ak) + wraps
    return stanzas


def valid_wraps():
    """§2.6: one pack, read with each of its keys."""
    for name, comment, key in (("key", "its own key", AK), ("recipient", "the secret key of a recipient", RECIPIENT),
                               ("shared", "a key that publisher and recipient have", SHARED_AK)):
        vector = valid_tree(f"wrap-{name}", f"wrapped for two, read with {comment}", SMALL_TREE, pack={"stanzas": wrapped()})
        yield vector._replace(key=key)
    vector = valid_tree("wrap-segments", "wrapped, over several segments", [file("noise.bin", noise(13000)), file("z.txt", b"end")],
                        pack={"stanzas": wrapped(shared=())})
    yield vector._replace(key=RECIPIENT)
    vector = valid_tree("wrap-own-key", "a pack with a key of its own, wrapped, read by the recipient", SMALL_TREE,
                        pack={"ak": OWN_AK, "stanzas": wrapped(ak=OWN_AK)})
    yield vector._replace(key=RECIPIENT)
    yield vector._replace(name="wrap-own-key-root", comment="the same with the root key", key=AK)
    many = tuple(Recipient(bytes([i]) * 32) for i in range(177))
    vector = valid_tree("wrap-177", "as many recipients as there is room for", SMALL_TREE,
                        pack={"stanzas": wrapped(recipients=many, shared=())})
    yield vector._replace(key=many[100])
    def order(core):
        wraps = wrap_stanzas(file_key(AK, core), core, [RECIPIENT.public], [SHARED_AK])
        return wraps[72:] + stanza(0x7001, b"between") + derive_stanza(AK) + wraps[:72]
    vector = valid_tree("wrap-other-order", "WRAP stanzas before and behind DERIVE: readers take any order (§1.3)", SMALL_TREE,
                        pack={"stanzas": order})
    yield vector._replace(key=RECIPIENT)
    yield vector._replace(name="wrap-other-order-shared", comment="the same with the shared key", key=SHARED_AK)


def refused_wraps(payload):
    """§2.6, §1.4 step 4; the header MAC holds unless the comment says otherwise."""
    def bad(name, expect, comment, key, *changes, **fields):
        return refused(name, expect, comment, pack_of(payload, stanzas=wrapped(*changes, **fields)), key)
    yield bad("wrap-other-recipient", "wrong-key", "no stanza for this recipient", OTHER_RECIPIENT)
    yield bad("wrap-other-key", "wrong-key", "no stanza for this shared key", OTHER_AK)
    yield bad("wrap-kind", "wrong-key", "the 32 bytes of the recipient's secret key as an application key", RECIPIENT.secret)
    yield bad("wrap-kind-recipient", "wrong-key", "the 32 bytes of the application key as a recipient's secret key", Recipient(AK))
    yield refused("wrap-none", "wrong-key", "a pack that is wrapped for nobody", pack_of(payload), RECIPIENT)
    # WRAP-SYM is bytes 0 … 71, WRAP-X25519 72 … 163.
    for name, comment, key, at in (
            ("wrap-sym-nonce", "a bit of the nonce of WRAP-SYM", SHARED_AK, 12), ("wrap-sym-key", "a bit of the wrapped FK in WRAP-SYM", SHARED_AK, 24),
            ("wrap-sym-tag", "the last bit of WRAP-SYM", SHARED_AK, 71),
            ("wrap-x25519-ephemeral", "a bit of the ephemeral key", RECIPIENT, 84),
            ("wrap-x25519-ephemeral-high", "the highest bit of the ephemeral key, which X25519 ignores", RECIPIENT, 115),
            ("wrap-x25519-key", "a bit of the wrapped FK in WRAP-X25519", RECIPIENT, 116),
            ("wrap-x25519-tag", "the last bit of WRAP-X25519", RECIPIENT, 163)):
        yield bad(name, "damaged", comment, key, lambda wraps: flip(wraps, at, 0x80))
    for name, point in (("zero", bytes(32)), ("one", b"\x01" + bytes(31)),
                        ("order-8", bytes.fromhex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800"))):
        yield bad(f"wrap-x25519-{name}", "damaged", "an ephemeral key of small order: the shared secret is zero", RECIPIENT,
                  lambda wraps: change(wraps, 84, point))

    def sealed_to_zero(core):
        # Everybody can compute this wrapping key.
        fk = file_key(AK, core)
        sealed = AESGCM(x25519_wrapping_key(bytes(32), bytes(32), RECIPIENT.public, core)).encrypt(bytes(12), fk, b"")
        return derive_stanza(AK) + stanza(3, RECIPIENT.id + bytes(32) + sealed)
    yield refused("wrap-x25519-zero-sealed", "damaged", "FK sealed under a shared secret of zero", pack_of(payload, stanzas=sealed_to_zero),
                  RECIPIENT)

    def random_ephemeral(core):
        fk, secret = file_key(AK, core), bytes(range(0xa0, 0xc0))
        ephemeral = x25519_public(secret)
        wrapping = x25519_wrapping_key(x25519(secret, RECIPIENT.public), ephemeral, RECIPIENT.public, core)
        return derive_stanza(AK) + stanza(3, RECIPIENT.id + ephemeral + AESGCM(wrapping).encrypt(bytes(12), fk, b""))
    yield refused("wrap-x25519-not-derived", "damaged", "an ephemeral key that is not derived from FK, otherwise correct",
                  pack_of(payload, stanzas=random_ephemeral), RECIPIENT)

    def random_nonce(core):
        sealed = AESGCM(symmetric_wrapping_key(SHARED_AK, core)).encrypt(bytes(12), file_key(AK, core), b"")
        return derive_stanza(AK) + stanza(2, key_id(SHARED_AK) + bytes(12) + sealed)
    yield refused("wrap-sym-not-derived", "damaged", "a nonce that is not derived from FK, otherwise correct",
                  pack_of(payload, stanzas=random_nonce), SHARED_AK)

    def other_file_key(core):
        return derive_stanza(AK) + wrap_stanzas(file_key(OTHER_AK, core), core, [RECIPIENT.public], [SHARED_AK])
    for name, key in (("recipient", RECIPIENT), ("shared", SHARED_AK)):
        yield refused(f"wrap-other-fk-{name}", "damaged", "another FK is wrapped: the MAC holds every recipient to one",
                      pack_of(payload, stanzas=other_file_key), key)
    other = pack_of(payload, stanzas=wrapped(), version=VERSION + 1)
    yield refused("wrap-of-other-version", "damaged", "the WRAP stanzas of another version of the pack",
                  pack_of(payload, stanzas=other[100:276]), RECIPIENT)
    for name, key in (("key", AK), ("recipient", RECIPIENT)):
        yield bad(f"wrap-twice-{name}", "damaged", "two WRAP-X25519 stanzas for one recipient", key, lambda wraps: wraps + wraps[72:])
    yield bad("wrap-twice-sym", "damaged", "two WRAP-SYM stanzas for one key", AK, lambda wraps: wraps[:72] + wraps)
    yield bad("wrap-x25519-87", "wrong-key", "a WRAP-X25519 stanza of 87 bytes is unknown", RECIPIENT,
              lambda wraps: stanza(3, wraps[76:163]))
    yield bad("wrap-x25519-89", "wrong-key", "a WRAP-X25519 stanza of 89 bytes is unknown", RECIPIENT,
              lambda wraps: stanza(3, wraps[76:164] + b"\0"))
    yield bad("wrap-sym-swapped", "wrong-key", "a WRAP-SYM stanza under the type of WRAP-X25519 is unknown", SHARED_AK,
              lambda wraps: stanza(3, wraps[4:72]))
    yield refused("wrap-no-derive", "no-usable-key", "WRAP stanzas without DERIVE (§1.3)",
                  pack_of(payload, stanzas=lambda core: wrapped()(core)[12:]), RECIPIENT)
    plain, regular = pack_of(payload), pack_of(payload, stanzas=wrapped())
    yield refused("wrap-mac-flipped", "damaged", "a bit of the header MAC of a wrapped pack", flip(regular, 276), RECIPIENT)
    yield refused("wrap-removed", "damaged", "the WRAP stanzas were removed after the MAC, read with the pack's key",
                  regular[:96] + u32(12) + regular[100:112] + regular[276:])
    added = wrapped()(plain[:96])
    yield refused("wrap-added", "damaged", "the WRAP stanzas were added after the MAC, read by a recipient",
                  plain[:96] + u32(len(added)) + added + plain[112:], RECIPIENT)
    yield refused("wrap-segment-flipped", "damaged", "a bit of the last tag of a wrapped pack", flip(regular, -1), RECIPIENT)
    yield refused("wrap-178", "limit", "178 recipients",
                  pack_of(payload, stanzas=wrapped(recipients=[Recipient(bytes([i]) * 32) for i in range(178)], shared=())))


def other_frames():
    return [skippable(0x184D2A50, b"padding"), skippable(0x184D2A5C, b""), skippable(0x184D2A57, bytes(100))]


# ---------------------------------------------------------------------------------------------
# Vectors: refused-open
# ---------------------------------------------------------------------------------------------


def refused(name, expect, comment, data, key=AK):
    return Vector(name, expect, comment, data, key, None, None)


def change(data, offset, value):
    """`value` instead of the bytes at `offset` (from the end if negative)."""
    if offset < 0:
        offset += len(data)
    return data[:offset] + value + data[offset + len(value):]


def flip(data, offset, bits=0x01):
    return change(data, offset, bytes([data[offset] ^ bits]))


def refused_headers(payload):
    """§1.4 steps 1–4: fields; the header MAC is right wherever there is one."""
    regular = pack_of(payload)
    yield refused("magic-bad", "not-a-pack", "the first byte differs", flip(regular, 0))
    yield refused("magic-last-byte", "not-a-pack", "the last byte of the magic differs", flip(regular, 7))
    yield refused("magic-crlf-to-lf", "not-a-pack", "CR LF became LF", regular.replace(b"\r\n", b"\n"))
    yield refused("magic-lf-to-crlf", "not-a-pack", "LF became CR LF", change(regular, 4, b"\r\r\n\x1a\r\n"))
    yield refused("text-file", "not-a-pack", "a text", b"hello\n")
    for name, expect, comment, fields in (
            ("major-2", "unsupported", "major 2", {"major": 2}),
            ("major-0", "unsupported", "major 0", {"major": 0}),
            ("suite-2", "unsupported", "suite 2", {"suite": 2}),
            ("suite-0x0101", "unsupported", "suite 0x0101", {"suite": 0x101}),
            ("kind-2", "unsupported", "kind 2, a delta pack", {"kind": 2}),
            ("kind-3", "unsupported", "kind 3", {"kind": 3}),
            ("kind-0", "unsupported", "kind 0", {"kind": 0}),
            ("flag-bit-1", "unsupported", "critical flag bit 1", {"flags": 0x0003}),
            ("flag-bit-7", "unsupported", "critical flag bit 7", {"flags": 0x0081}),
            ("reserved-not-zero", "damaged", "reserved bytes are not zero", {"reserved": 1 << 24}),
            ("segment-2048", "damaged", "S = 2048", {"S": 2048}),
            ("segment-5000", "damaged", "S = 5000", {"S": 5000}),
            ("segment-2097152", "damaged", "S = 2^21", {"S": 1 << 21}),
            ("version-2-53", "damaged", "pack version 2^53", {"version": 1 << 53}),
            ("version-2-64", "damaged", "pack version 2^64-1", {"version": (1 << 64) - 1})):
        yield refused(name, expect, comment, pack_of(payload, **fields))
    yield refused("order-major-before-segment", "unsupported", "major 2 and S = 5000: major comes first (§1.4)",
                  pack_of(payload, major=2, S=5000))
    yield refused("order-segment-before-kind", "damaged", "S = 5000 and kind 2: S comes first (§1.4)",
                  pack_of(payload, S=5000, kind=2))
    yield refused("order-flag-before-reserved", "unsupported", "a critical flag and reserved bytes: the flag "
                  "comes first (§1.4)", pack_of(payload, flags=3, reserved=1))


def refused_stanzas(payload):
    """§1.3, §1.4 steps 3 and 4."""
    own = derive_stanza(AK)
    for name, expect, comment, stanzas in (
            ("stanza-overrun", "damaged", "a stanza runs past N", own + stanza(0x7001, b"four", 5)),
            ("stanza-remainder", "damaged", "a remainder of 3 bytes", own + b"\x01\x70\x00"),
            ("stanza-length-7", "damaged", "DERIVE with 7 bytes", stanza(1, key_id(AK)[:7])),
            ("stanza-length-9", "damaged", "DERIVE with 9 bytes", stanza(1, key_id(AK) + b"\0")),
            ("stanza-two-derive", "damaged", "two DERIVE stanzas, the same", own + own),
            ("stanza-two-derive-other", "damaged", "two DERIVE stanzas, the first of another key",
             derive_stanza(OTHER_AK) + own),
            ("stanza-no-derive", "no-usable-key", "only an unknown stanza", stanza(0x7001, b"unknown!")),
            ("stanza-none", "no-usable-key", "N = 0", b""),
            ("stanza-wrap-only", "no-usable-key", "only WRAP-SYM (§12.1)", stanza(2, bytes(68))),
            ("stanzas-16385-bytes", "limit", "N = 16385", own + stanza(0x7001, bytes(16369))),
            ("key-id-changed", "wrong-key", "the key id in DERIVE is that of another key", derive_stanza(OTHER_AK))):
        yield refused(name, expect, comment, pack_of(payload, stanzas=stanzas))
    regular = pack_of(payload)
    yield refused("stanzas-n-huge", "limit", "N = 2^32-1", change(regular, 96, u32(0xFFFFFFFF)))
    yield refused("stanzas-n-beyond-file", "truncated", "N = 16384 in a shorter file",
                  change(regular, 96, u32(16384)))
    yield refused("key-other", "wrong-key", "a pack for another key", pack_of(payload, ak=OTHER_AK))
    yield refused("order-key-before-mac", "wrong-key", "another key, and the header MAC is wrong: the key id "
                  "comes first (§1.4)", flip(pack_of(payload, ak=OTHER_AK), 112))


def refused_keys(payload):
    """§1.4 steps 5 and 6."""
    regular = pack_of(payload)
    yield refused("mac-flipped", "damaged", "a bit of the header MAC", flip(regular, 112))
    yield refused("mac-last-byte", "damaged", "the last bit of the header MAC", flip(regular, 143, 0x80))
    yield refused("minor-flipped", "damaged", "minor was changed after the MAC", flip(regular, 9))
    yield refused("flags-flipped", "damaged", "an ignorable flag was set after the MAC", flip(regular, 19))
    yield refused("version-flipped", "damaged", "the pack version was changed after the MAC", flip(regular, 24))
    yield refused("pack-id-flipped", "damaged", "the pack id was changed after the MAC", flip(regular, 32))
    yield refused("salt-flipped", "damaged", "the salt was changed after the MAC", flip(regular, 95))
    grown = change(regular, 96, u32(16))[:112] + stanza(0x7001, b"") + regular[112:]
    yield refused("stanza-added", "damaged", "a stanza was added after the MAC", grown)
    yield refused("tink-0x28", "damaged", "the first byte of the body is 0x29", flip(regular, 144))
    yield refused("tink-salt-flipped", "damaged", "TS was changed", flip(regular, 145))
    yield refused("tink-prefix-flipped", "damaged", "NP was changed", flip(regular, 183))
    other = pack_of(payload, version=VERSION + 1)
    yield refused("body-of-other-version", "damaged", "header of version 8, body of version 7",
                  other[:144] + regular[144:])
    yield refused("segments-of-other-version", "damaged", "header and Tink header of version 8, segments of "
                  "version 7", other[:184] + regular[184:])


def refused_pack_keys(payload):
    """§2.3: what a root key does not open, and what was changed after it was made with a key of its own."""
    own = pack_of(payload, ak=OWN_AK)
    for name, comment, data in (
            ("pack-key-mac-flipped", "made with a key of its own, a bit of the header MAC changed", flip(own, 112)),
            ("pack-key-version-flipped", "made with a key of its own, the pack version changed", flip(own, 24)),
            ("pack-key-segment-flipped", "made with a key of its own, a bit of the last tag changed", flip(own, -1))):
        yield with_pack_key(refused(name, "damaged", comment, data))
    yield with_pack_key(refused("pack-key-cut", "truncated", "made with a key of its own, and cut in the header", own[:150]))
    yield refused("pack-key-other-name", "wrong-key", "the root key's, but made with the key of another name",
                  pack_of(payload, ak=key_of_pack(AK, "other")))
    yield refused("pack-key-other-root", "wrong-key", "made with a key of its own, read with another root key",
                  own, key=OTHER_AK)
    yield refused("pack-key-pack-id-flipped", "wrong-key", "made with a key of its own, and the pack id changed: "
                  "of that id another key follows from the root key", flip(own, 32))
    yield refused("pack-key-of-root-pack", "wrong-key", "made with the root key itself, read with the key of the "
                  "pack: nothing leads back", pack_of(payload), key=OWN_AK)
    yield refused("pack-key-twice", "wrong-key", "made with a key that follows from the pack's own: one step is "
                  "all that is tried", pack_of(payload, ak=key_of_pack(OWN_AK, NAME)))


def refused_segments(payload):
    """§3.4; the payload has more than two segments and a partial last one."""
    regular, S, start = pack_of(payload), SMALL, 144
    edges = list(range(start + S, len(regular), S))
    assert len(edges) >= 2 and 17 < len(regular) - edges[-1] < S - 1
    first, middle = regular[:edges[0]], [regular[a:a + S] for a in edges[:-1]]
    last = regular[edges[-1]:]
    for name, expect, comment, data in (
            ("segment-first-flipped", "damaged", "a bit of the first segment", flip(regular, 184)),
            ("segment-middle-flipped", "damaged", "a bit of a middle segment", flip(regular, edges[0] + 100)),
            ("segment-first-tag", "damaged", "a bit of the first tag", flip(regular, edges[0] - 1)),
            ("segment-last-flipped", "damaged", "a bit of the last segment", flip(regular, edges[-1])),
            ("segment-last-tag", "damaged", "a bit of the last tag", flip(regular, -1 + len(regular))),
            ("appended-byte", "damaged", "a byte after the last segment", regular + b"\0"),
            ("appended-segment", "damaged", "a full segment after the last", regular + middle[0]),
            ("segments-swapped", "damaged", "first full and next segment swapped",
             first + b"".join([middle[1], middle[0]] + middle[2:]) + last),
            ("segment-repeated", "damaged", "a middle segment twice", first + middle[0] + b"".join(middle) + last),
            ("segment-middle-dropped", "damaged", "a middle segment is missing", first + b"".join(middle[1:]) + last),
            ("segment-last-dropped", "truncated", "the last segment is missing", regular[:edges[-1]]),
            ("segments-two-dropped", "truncated", "the last two segments are missing", regular[:edges[-2]]),
            ("segment-last-for-first", "damaged", "only the last segment after the Tink header",
             regular[:184] + last)):
        yield refused(name, expect, comment, data)


def sealed_as(payload, last_flags, extra=()):
    """§3.3 with the last bytes of the nonces as given, and pieces after the regular ones."""
    core = make_core(NAME, VERSION, bytes(range(32)), S=SMALL)
    header, tink = make_header(AK, core, derive_stanza(AK))
    keys = schedule(AK, core)
    parts = split_segments(payload, SMALL) + list(extra)
    return header + tink + b"".join(
        AESGCM(keys.SEGK).encrypt(nonce(keys.NP, i, last_flags(i, len(parts))), piece, b"")
        for i, piece in enumerate(parts))


def refused_filling():
    """§3.4, §4.5: a segment that holds nothing but a skippable frame."""
    payload = tree_payload(list(SMALL_TREE), extra=lambda extra: [skippable(0x184D2A50, bytes(3 * SMALL))])[0]
    start = payload.index(skippable(0x184D2A50, b"", 3 * SMALL)) + 8
    number = (start + SMALL + SMALL // 2 + 40) // (SMALL - 16)
    assert start + 40 <= number * (SMALL - 16) and (number + 1) * (SMALL - 16) <= start + 3 * SMALL + 40
    yield refused("segment-skippable-flipped", "damaged", "a bit of a segment that holds nothing but a skippable frame",
                  flip(pack_of(payload), 144 + number * SMALL + 100))


def refused_nonces(small, full):
    """§3.2, §3.3: sealed with the right key, but not as written there."""
    yield refused("last-sealed-as-00", "truncated", "the last segment is sealed with 00",
                  sealed_as(small, lambda i, n: False))
    yield refused("first-sealed-as-01", "damaged", "the first of two segments is sealed with 01",
                  sealed_as(full, lambda i, n: True, [b"more"]))
    yield refused("last-empty", "truncated", "an empty last segment after a full one",
                  sealed_as(full, lambda i, n: i == n - 1, [b""]))
    little = make_core(NAME, VERSION, bytes(range(32)), S=SMALL)
    keys = schedule(AK, little)
    header, tink = make_header(AK, little, derive_stanza(AK))
    wrong = [AESGCM(keys.SEGK).encrypt(keys.NP + struct.pack("<I", i) + bytes([i == 1]), piece, b"")
             for i, piece in enumerate([full, b"more"])]
    yield refused("counter-little-endian", "damaged", "the counter in the nonce is little-endian",
                  header + tink + b"".join(wrong))


def refused_truncations(payload, small):
    """§1.4, §3.4: files that end early."""
    one, several = pack_of(small), pack_of(payload)
    for name, length, comment in (
            ("empty", 0, "an empty file"), ("in-magic", 4, "inside the magic"), ("after-magic", 8, "after the magic"),
            ("after-major", 9, "after major"), ("in-core", 40, "inside core"), ("after-core", 96, "after core"),
            ("in-n", 98, "inside N"), ("in-stanzas", 105, "inside the stanzas"),
            ("after-stanzas", 112, "after the stanzas"), ("in-mac", 130, "inside the MAC"),
            ("after-mac", 144, "after the MAC"), ("in-tink-header", 160, "inside the Tink header"),
            ("after-tink-header", 184, "after the Tink header"), ("in-first-tag", 199, "one byte short of a tag")):
        yield refused("truncated-" + name, "truncated", f"the file ends {comment}", one[:length])
    yield refused("truncated-only-tag", "damaged", "the file ends 16 bytes after the Tink header", one[:200])
    yield refused("truncated-in-only-segment", "damaged", "the only segment lacks its last byte", one[:-1])
    edge, last = 144 + SMALL, 144 + 2 * SMALL
    yield refused("truncated-first-edge", "truncated", "the file ends after the first segment", several[:edge])
    yield refused("truncated-second-edge", "truncated", "the file ends after the second segment", several[:last])
    yield refused("truncated-edge-minus-1", "damaged", "one byte of the first segment is missing", several[:edge - 1])
    yield refused("truncated-edge-plus-1", "truncated", "one byte after the first segment", several[:edge + 1])
    yield refused("truncated-last-16", "truncated", "16 bytes of the next segment", several[:last + 16])
    yield refused("truncated-last-17", "damaged", "17 bytes of the next segment", several[:last + 17])
    yield refused("truncated-in-last-segment", "damaged", "the last segment lacks its last byte", several[:-1])
    yield refused("truncated-major-2", "unsupported", "major 2, and the file ends inside core",
                  change(one, 8, b"\x02")[:20])


def refused_vectors():
    small = tree_payload(list(SMALL_TREE))[0]
    payload = tree_payload([file("noise.bin", noise(13000)), file("z.txt", b"end")])[0]
    full = exact_length(SMALL - 16 - 40)[0]
    yield from refused_headers(small)
    yield from refused_stanzas(small)
    yield from refused_keys(small)
    yield from refused_pack_keys(small)
    yield from refused_wraps(small)
    yield from refused_segments(payload)
    yield from refused_filling()
    yield from refused_nonces(small, full)
    yield from refused_truncations(payload, small)
    yield refused("appended-byte-at-edge", "truncated", "one byte after a full last segment (§3.4)",
                  pack_of(full) + b"\0")


# ---------------------------------------------------------------------------------------------
# Vectors: hostile
# ---------------------------------------------------------------------------------------------


def hostile(name, comment, payload, expect="damaged", client=None, **fields):
    return Vector(name, expect, comment, pack_of(payload, **fields), AK, client, None)


def hostile_tree(name, comment, items=SMALL_TREE, expect="damaged", client=None, pack=None, **changes):
    return hostile(name, comment, tree_payload(list(items), **changes)[0], expect, client, **(pack or {}))


def hostile_tar(name, comment, builder, records, client="ok", **changes):
    """A vector whose tar was built by hand; by default only a verifier refuses it."""
    closing = changes.pop("closing", bytes(1024))
    records = sorted(records, key=lambda record: record.path)
    return hostile(name, comment, make_payload(builder.finish(closing), records, **changes), client=client)


def many_directories(count):
    """Files, each under directories of its own, that need this many directories beside the root."""
    return [file(f"{start:05}/" + "d/" * (min(63, count - start) - 1) + "e") for start in range(0, count, 63)]


def hostile_paths():
    """§5.1: the path stands in the index and in the tar alike."""
    for name, comment, path in (
            ("dotdot-middle", "`a/../b`", b"a/../b"), ("dotdot-leading", "`../x`", b"../x"),
            ("dotdot-last", "`a/..`", b"a/.."), ("dotdot-alone", "`..`", b".."),
            ("absolute", "`/etc/x`", b"/etc/x"), ("drive", "`C:\\x`", b"C:\\x"), ("backslash", "`a\\b`", b"a\\b"),
            ("dot", "`a/./b`", b"a/./b"), ("dot-alone", "`.`", b"."), ("double-slash", "`a//b`", b"a//b"),
            ("trailing-slash", "a file `a/`", b"a/"), ("slash-alone", "`/`", b"/"),
            ("nul", "U+0000", b"a\0b"), ("control", "U+001B", b"a\x1bb"), ("line-end", "U+000A", b"a\nb"),
            ("delete", "U+007F", b"a\x7fb"), ("c1-control", "U+0085", "a\u0085b".encode()),
            ("bidi-override", "U+202E", "a\u202etxt.exe".encode()), ("bidi-isolate", "U+2066", "a\u2066b".encode()),
            ("nfd", "`u` and U+0308 instead of U+00FC", "u\u0308.txt".encode()),
            ("nfc-singleton", "U+212B, which form C replaces by U+00C5", "\u212b".encode()),
            ("utf8-invalid", "the byte ff", b"a\xffb"), ("utf8-cut", "a sequence that is cut off", b"a\xe2\x82"),
            ("utf8-overlong", "an overlong `/`", b"a\xc0\xafb"), ("utf8-surrogate", "U+D800", b"a\xed\xa0\x80b"),
            ("utf8-above", "U+110000", b"a\xf4\x90\x80\x80b"),
            ("reserved", "`.pack/x`", b".pack/x"), ("reserved-file", "`.pack`", b".pack"),
            ("apple-double", "`a/._x`", b"a/._x"), ("apple-double-directory", "`._d/x`", b"._d/x"),
            ("component-256-bytes", "a component of 256 bytes", b"d/" + b"c" * 256)):
        yield hostile_tree("path-" + name, f"a path with a rule of §5.1 broken: {comment}",
                           [file("keep.txt", b"keep"), file(path, b"evil")])
    yield hostile_tree("path-directory-trailing-slash", "the record of a directory ends in `/`",
                       [directory("d")], contents=lambda c: [u16(2) + b"\x01" + bytes(16) + b"d/"],
                       directory=lambda d: d[:4] + u16(2) + b"d/")
    long = b"/".join([b"c" * 63] * 16) + b"/e"
    assert len(long) == 1025
    yield hostile_tree("path-1025-bytes", "a path of 1025 bytes", [file(long, b"evil")], "limit")
    yield hostile_tree("path-65-components", "a path of 65 components", [file("d/" * 64 + "e", b"evil")], "limit")
    yield hostile_tree("path-65-components-directory", "an empty directory with a path of 65 components",
                       [directory("d/" * 64 + "e")], "limit")
    yield hostile_tree("path-509-directories", "300 empty files, each under 509 directories of its own",
                       [file(f"{number:03}/" + "d/" * 508 + "e") for number in range(300)], "limit", codec=zstd_frame)
    # With the root, 1041 · 63 = 65 583 directories.
    yield hostile_tree("directories-65537", "65 537 directories, each file under 63 of its own",
                       many_directories(65536), "limit", codec=zstd_frame)
    yield hostile_tree("path-empty", "an empty path", [file("a", b"")], contents=lambda c: [bytes(19)],
                       directory=lambda d: d[:4] + u16(0))
    yield hostile_tree("path-file-as-directory", "`a` is a file and a leading directory of `a/b`; `a-b` "
                       "stands between them", [file("a", b"1"), file("a-b", b"2"), file("a/b", b"3")])
    yield hostile_tree("path-directory-not-empty", "`a` is a directory record although `a/b` is there",
                       [directory("a"), file("a/b", b"3")])


def with_records(function, items=SMALL_TREE, name="", comment="", expect="damaged", client=None, **changes):
    """The tar of `items` and the records that `function` makes of the right ones."""
    builder, records = build_tree(list(items))
    payload = make_payload(builder.finish(), function(records), **changes)
    return hostile(name, comment, payload, expect, client)


def replaced(path, **values):
    """A function that replaces fields of the record of `path`."""
    return lambda records: [r._replace(**values) if r.path == path else r for r in records]


def hostile_records():
    """§4.6: records that a client refuses."""
    M = 1 << 64
    for name, comment, function, expect in (
            ("type-2", "record type 2", replaced(b"run", type=2), "unsupported"),
            ("type-0x81", "record type 0x81", replaced(b"d", type=0x81), "unsupported"),
            ("directory-size", "a directory with a size", replaced(b"d", size=5, offset=512), "damaged"),
            ("directory-offset", "a directory with an offset", replaced(b"d", offset=512), "damaged"),
            ("directory-digest", "a directory with a digest", replaced(b"d", digest=sha256(b"")), "damaged"),
            ("empty-file-offset", "an empty file with an offset", replaced(b"b/c.bin", offset=512), "damaged"),
            ("empty-file-digest", "an empty file with the digest of a directory",
             replaced(b"b/c.bin", digest=bytes(32)), "damaged"),
            ("offset-0", "an offset of 0 with data", replaced(b"a.txt", offset=0), "damaged"),
            ("offset-513", "an offset that is no multiple of 512", replaced(b"a.txt", offset=513), "damaged"),
            ("offset-in-closing", "data in the closing 1024 bytes", replaced(b"a.txt", offset=3072), "damaged"),
            ("offset-beyond", "data beyond the tar", replaced(b"a.txt", offset=1 << 20), "damaged"),
            ("offset-overflow", "offset + size is 2^64 + 512", replaced(b"a.txt", offset=M - 512, size=1024), "damaged"),
            ("digest-wrong", "a wrong digest, which the content root holds as well",
             replaced(b"a.txt", digest=sha256(b"other")), "damaged")):
        yield with_records(function, name="record-" + name, comment=comment, expect=expect)
    yield with_records(replaced(b"a.txt", digest=sha256(b"other")), [file("a.txt", bytes(4096))], "record-digest-wrong-frames",
                       "a wrong digest of a file in three frames, which the content root holds as well", sizes=[1024, 2048, 2560])
    yield with_records(replaced(b"a.txt", size=1 << 63), name="record-size-2-63", comment="a size of 2^63; the "
                       "content size of the head is small", fields=lambda f: dict(f, content=7))
    yield with_records(replaced(b"a.txt", size=1 << 63), name="record-size-2-63-stated", expect="limit",
                       comment="a size of 2^63, and the head says so")
    yield with_records(lambda records: [r._replace(size=M // 2 + 4 if r.path != b"run" else M // 2 - 1)
                                        if r.size else r for r in records],
                       name="record-sizes-overflow", comment="sizes whose sum is 3 modulo 2^64",
                       fields=lambda f: dict(f, content=3))
    yield with_records(lambda records: [records[1], records[0]] + records[2:], name="record-order",
                       comment="two records are swapped")
    yield with_records(lambda records: [records[0]] + records, name="record-duplicate",
                       comment="a path twice in the index")
    yield with_records(lambda records: records, name="record-path-overrun", comment="a path length that runs "
                       "past the block", contents=lambda c: [c[0][:-22] + u16(999) + c[0][-20:]])
    yield with_records(lambda records: records, name="record-cut", comment="a block ends inside a record",
                       contents=lambda c: [c[0][:-10]])


def hostile_head():
    """§4.6, §4.9 steps 3 and 4: head and directory."""
    def fields(**values):
        return lambda f: dict(f, **values)

    for name, comment, values, expect in (
            ("magic", "`PIX2`", {"magic": b"PIX2"}, "damaged"), ("reserved", "the zero field", {"zero": 1}, "damaged"),
            ("records-fewer", "3 records, the block holds 4", {"records": 3}, "damaged"),
            ("records-more", "5 records, the block holds 4", {"records": 5}, "damaged"),
            ("records-200", "200 records in one block", {"records": 200}, "damaged"),
            ("records-0", "no records, and a directory", {"records": 0}, "damaged"),
            ("records-above-limit", "2^20+1 records", {"records": (1 << 20) + 1}, "limit"),
            ("records-2-32", "2^32-1 records", {"records": (1 << 32) - 1}, "limit"),
            ("largest-smaller", "the largest frame is too small", {"largest": 512}, "damaged"),
            ("largest-bigger", "the largest frame is too big", {"largest": 8 << 20}, "damaged"),
            ("content-size-smaller", "content size 6 instead of 7", {"content": 6}, "damaged"),
            ("content-size-bigger", "content size 8 instead of 7", {"content": 8}, "damaged"),
            ("content-size-above-limit", "content size above 64 GiB", {"content": MAX_CONTENT + 1}, "limit"),
            ("tar-length", "the tar length is 512 too long", {"tar": 4608}, "damaged"),
            ("content-root", "the content root", {"root": bytes(32)}, "damaged")):
        yield hostile_tree("head-" + name, f"in the head: {comment}", expect=expect, fields=fields(**values))
    yield hostile_tree("head-short", "a head of 63 bytes", [], head=lambda head: head[:63])
    yield hostile_tree("head-extra-bytes", "bytes after the directory's frame under minor 0",
                       head=lambda head: head + b"later")
    yield hostile_tree("head-extra-bytes-empty", "bytes after the fields of a head without records under minor 0",
                       [], head=lambda head: head + b"later")
    yield hostile_tree("directory-extra-bytes", "bytes after the last line of the directory",
                       directory=lambda d: d + b"more")
    yield hostile_tree("directory-extra-bytes-minor-1", "bytes after the last line of the directory are refused "
                       "under every minor", directory=lambda d: d + b"more", pack={"minor": 1})
    yield hostile_tree("directory-cut", "the directory ends inside a path", directory=lambda d: d[:-1])
    yield hostile_tree("directory-first-path", "the first path in the directory is not that of the block",
                       directory=lambda d: d[:-1] + b"u")
    yield hostile_tree("directory-block-length", "the length of the only block is 1 too small",
                       directory=lambda d: u32(number(d, 0, 4) - 1) + d[4:])
    yield hostile_tree("directory-above-limit", "a directory of 2 MiB + 1 bytes", expect="limit",
                       dirframe=lambda frame: run_frame(bytes(MAX_DIRECTORY + 1)))
    yield hostile_tree("directory-missing", "no directory although there are records", dirframe=lambda frame: b"")


def many_files(count=300):
    return [file(f"f{i:03}", b"%d" % i) for i in range(count)]


def hostile_blocks():
    """§4.6, §4.9 step 5: blocks."""
    def lines(change_lengths):
        def function(directory):
            size = 6 + 4
            parts = [directory[at:at + size] for at in range(0, len(directory), size)]
            lengths = change_lengths([number(part, 0, 4) for part in parts])
            return b"".join(u32(length) + part[4:] for length, part in zip(lengths, parts))
        return function

    many = many_files()
    yield hostile_tree("blocks-length-lies", "the lengths of two blocks are shifted by one", many,
                       directory=lines(lambda n: [n[0] + 1, n[1] - 1, n[2]]), codec=zstd_frame)
    yield hostile_tree("blocks-length-2-32", "the length of a block is 2^32-1", many,
                       directory=lines(lambda n: [0xFFFFFFFF, n[1], n[2]]), codec=zstd_frame)
    yield hostile_tree("blocks-out-of-order", "the first two blocks are swapped, in the directory too", many,
                       blocks=lambda b: [b[1], b[0], b[2]], codec=zstd_frame,
                       directory=lambda d: swap_lines(d))
    yield with_records(lambda records: records[:127] + [records[128], records[127]] + records[129:], many,
                       "blocks-order-across", "the last record of a block and the first of the next are swapped",
                       codec=zstd_frame)
    yield hostile_tree("blocks-split-otherwise", "127 and 2 records instead of 128 and 1", many_files(129),
                       contents=lambda c: [c[0][:-23], c[0][-23:] + c[1]], codec=zstd_frame,
                       directory=lambda d: d[:-1] + b"7")
    yield hostile_tree("block-extra-bytes", "bytes after the last record under minor 0",
                       contents=lambda c: [c[0] + b"later"])
    yield hostile_tree("block-extra-in-frame-place", "bytes after the frame of a block, under minor 1 too",
                       blocks=lambda b: [b[0] + b"later"], pack={"minor": 1})
    yield hostile_tree("block-above-limit", "a block of 133505 bytes", expect="limit", pack={"minor": 1},
                       contents=lambda c: [c[0] + bytes(MAX_BLOCK + 1 - len(c[0]))])
    yield hostile_tree("block-short", "a block shorter than its digests", blocks=lambda b: [b[0][:127]])
    yield hostile_tree("blocks-frame-longer", "bytes after the last block in the blocks frame",
                       index=lambda i: [skippable(INDEX_MAGIC, i[0][8:] + b"more"), i[1]])
    yield hostile_tree("blocks-frame-without-records", "bytes in the blocks frame without records", [],
                       index=lambda i: [skippable(INDEX_MAGIC, b"more"), i[1]])


def swap_lines(directory):
    return directory[10:20] + directory[:10] + directory[20:]


def only_frame(frame):
    """The data frame is replaced; the seek table states the size of the tar."""
    return lambda data: [(frame, data[0][1])]


def bomb_frame(claimed, blocks):
    """§4.4: states `claimed` bytes and holds `blocks` run blocks of 128 KiB."""
    return frame_header(claimed) + b"".join(
        zstd_block(1, 128 << 10, b"\0", i == blocks - 1) for i in range(blocks))


def hostile_frames():
    """§4.4: data frames and frames of the index."""
    tar = tar_of(SMALL_TREE)
    n = len(tar)
    body = run_frame(tar)[len(frame_header(n)):]
    cut_body = run_frame(tar[:-512])[len(frame_header(n - 512)):]
    more_body = run_frame(tar + bytes(512))[len(frame_header(n + 512)):]
    checksummed = zstandard.ZstdCompressor(write_checksum=True).compress(tar)
    for name, comment, frame in (
            ("expands-to-more", "a frame that expands beyond its content size", frame_header(n) + more_body),
            ("expands-to-less", "a frame that expands to less than its content size", frame_header(n) + cut_body),
            ("content-size-differs", "a frame of another size than the seek table says",
             frame_header(n + 512) + more_body),
            ("without-content-size", "a frame without content size", b"\x28\xb5\x2f\xfd\x00\x08" + body),
            ("checksum", "a frame with checksum", checksummed),
            ("dictionary-id", "a frame with dictionary id 1",
             b"\x28\xb5\x2f\xfd" + bytes([frame_header(n)[4] | 1]) + b"\x01" + frame_header(n)[5:] + body),
            ("reserved-bit", "the reserved bit of the descriptor", set_bits(frame_header(n), 4, 8) + body),
            ("window-above-content", "a window of 8192 bytes for 4096", frame_header(n, window=3 << 3) + body),
            ("magic", "a legacy magic", b"\x27" + run_frame(tar)[1:]),
            ("skippable", "a skippable frame in place of a data frame", skippable(0x184D2A50, bytes(64))),
            ("block-type-3", "a block of type 3", frame_header(n) + zstd_block(3, 0, b"", True)),
            ("no-last-block", "no block has the last bit", frame_header(n) + b"".join(
                [zstd_block(0, n // 2, tar[:n // 2], False), zstd_block(0, n // 2, tar[n // 2:], False)])),
            ("block-overrun", "a block that runs past its place", (frame_header(n) + body)[:-1]),
            ("raw-block-above-window", "a raw block of 4096 bytes in a window of 2048", frame_header(n, window=1 << 3)
             + zstd_block(0, n, tar, True)),
            ("empty-blocks", "more bytes than the bound: empty blocks in front", frame_header(n)
             + zstd_block(0, 0, b"", False) * 2000 + body),
            ("hidden-second", "a second frame in the same place", run_frame(tar) + run_frame(b"hidden")),
            ("hidden-skippable", "a skippable frame in the same place", run_frame(tar)
             + skippable(0x184D2A50, b"hidden")),
            ("two-halves", "two frames in one place that add up to the stated size",
             run_frame(tar[:n // 2]) + run_frame(tar[n // 2:])),
            ("bomb", "a frame of 4096 bytes that expands to 128 MiB", bomb_frame(n, 1024))):
        yield hostile_tree("frame-" + name, comment, data=only_frame(frame))
    zeros = tar_of([file("zeros", bytes(4096))])
    yield hostile_tree("frame-run-above-window", "a run of 2048 bytes in a window of 1024", [file("zeros", bytes(4096))],
                       data=only_frame(frame_header(len(zeros), window=0) + zstd_block(0, 512, zeros[:512], False)
                                       + zstd_block(1, 2048, b"\0", False) + 2 * zstd_block(1, 1024, b"\0", False)
                                       + zstd_block(1, 1024, b"\0", True)))
    yield hostile_tree("frame-8-mib-and-1", "a data frame of 8 MiB + 512 bytes",
                       [file("zeros", bytes((8 << 20) - 1024))], "limit", sizes=[(8 << 20) + 512])
    zeros = bytes(64 << 20)
    yield hostile_tree("bomb-many-frames", "64 MiB of zeros, the head states a content size of 5",
                       [file("zeros", zeros)], F=8 << 20, fields=lambda f: dict(f, content=5))
    yield hostile_tree("block-frame-bomb", "the frame of a block expands from 200 bytes to 7.5 MiB",
                       blocks=lambda b: [b[0][:128] + bomb_frame(200, 60)])
    yield hostile_tree("directory-frame-bomb", "the frame of the directory expands from 200 bytes to 7.5 MiB",
                       dirframe=lambda d: bomb_frame(200, 60))
    yield hostile_tree("directory-frame-checksum", "the frame of the directory has the checksum flag",
                       dirframe=lambda d: set_bits(d, 4, 4) + bytes(4))


def hostile_seek():
    """§4.7, §4.9 steps 1 and 2."""
    def entries(function):
        return lambda e: function([list(entry) for entry in e])

    def moved(index, field_index, delta):
        def function(e):
            e[index][field_index] += delta
            return e
        return entries(function)

    for name, comment, table, expect in (
            ("descriptor", "the checksum flag of the descriptor",
             lambda t: change(t, len(t) - 5, b"\x80"), "damaged"),
            ("footer-magic", "the magic at the end", lambda t: flip(t, len(t) - 1), "damaged"),
            ("magic", "the magic of the skippable frame", lambda t: flip(t, 0), "damaged"),
            ("length", "the length of the skippable frame", lambda t: flip(t, 4), "damaged"),
            ("count-too-large", "131073 entries", lambda t: change(t, len(t) - 9, u32(131073)), "limit"),
            ("count-2-32", "2^32-1 entries", lambda t: change(t, len(t) - 9, u32(0xFFFFFFFF)), "limit"),
            ("count-beyond-payload", "131072 entries in a short payload",
             lambda t: change(t, len(t) - 9, u32(131072)), "damaged"),
            ("count-0", "no entries", lambda t: change(t, len(t) - 9, u32(0)), "damaged"),
            ("missing", "no seek table", lambda t: b"", "damaged"),
            ("bytes-after", "a byte after the seek table", lambda t: t + b"\0", "damaged")):
        yield hostile_tree("seek-" + name, f"seek table: {comment}", expect=expect, table=table)
    for name, comment, function in (
            ("compressed-sum", "the compressed sizes do not add up", moved(0, 0, -1)),
            ("decompressed-sum", "the decompressed sizes are not the tar length", moved(1, 1, -512)),
            ("compressed-size-shifted", "the end of the data frame is shifted into the index",
             lambda e: moved(1, 0, -1)(moved(0, 0, 1)(e))),
            ("compressed-size-huge", "a compressed size of 2^32-1",
             entries(lambda e: [[0xFFFFFFFF, e[0][1]]] + e[1:])),
            ("index-decompressed-size", "an index frame with a decompressed size", moved(2, 1, 64)),
            ("empty-data-frame", "an entry of decompressed size 0 before the data frame",
             entries(lambda e: [[8, 0], [e[0][0] - 8, e[0][1]]] + e[1:]))):
        sizes = [2048, 2048] if name == "decompressed-sum" else None
        yield hostile_tree("seek-" + name, f"seek table: {comment}", entries=function, sizes=sizes)
    yield hostile("payload-empty", "an empty payload", b"")
    yield hostile("payload-16-bytes", "a payload of 16 bytes", seek_table([])[-16:])
    yield hostile("payload-opaque", "the payload of §8.1", KAT_TEXT)


def hostile_parts():
    """§4.1, §4.5: the frames of the payload."""
    tar = tar_of(SMALL_TREE)
    half = len(tar) // 2
    halves = [(run_frame(tar[:half]), half), (run_frame(tar[half:]), len(tar) - half)]

    def data_after_skippable(kind):
        frame = skippable(0x184D2A50, b"between")
        return {"data": lambda data: [halves[0], (frame, 0), halves[1]],
                "fields": lambda f: dict(f, largest=half)}[kind]

    yield hostile_tree("parts-data-after-skippable", "a data frame after a skippable frame",
                       data=data_after_skippable("data"), fields=data_after_skippable("fields"))
    yield hostile_tree("parts-no-index", "no index", index=lambda index: [])
    yield hostile_tree("parts-one-index-frame", "only the head", index=lambda index: index[1:])
    yield hostile_tree("parts-index-swapped", "the head before the blocks", index=lambda index: index[::-1])
    yield hostile_tree("parts-index-magic", "a blocks frame with magic 0x184D2A5C",
                       index=lambda index: [u32(0x184D2A5C) + index[0][4:], index[1]])
    yield hostile_tree("parts-head-magic", "a head frame with magic 0x184D2A5C",
                       index=lambda index: [index[0], u32(0x184D2A5C) + index[1][4:]])
    yield hostile_tree("parts-index-length", "the length field of the blocks frame is 1 too small",
                       index=lambda index: [change(index[0], 4, u32(len(index[0]) - 9)), index[1]])
    yield hostile_tree("parts-head-length", "the length field of the head frame is 1 too large",
                       index=lambda index: [index[0], change(index[1], 4, u32(len(index[1]) - 7))])
    yield hostile_tree("parts-no-data", "no data frame", [], data=lambda data: [],
                       fields=lambda f: dict(f, largest=0, tar=0))
    for name, comment, extra, client in (
            ("magic-5d", "another skippable frame with the magic of the index", skippable(INDEX_MAGIC, b"x"), "ok"),
            ("magic-5f", "another skippable frame with magic 0x184D2A5F", skippable(0x184D2A5F, b"x"), "ok"),
            ("magic-zstd", "a zstd frame in place of a skippable frame", run_frame(b"hidden"), "ok"),
            ("length", "another skippable frame whose length is 1 too small",
             skippable(0x184D2A50, b"xyz", 2), "ok"),
            ("short", "another skippable frame of 7 bytes", skippable(0x184D2A50, b"")[:7], None)):
        yield hostile_tree("extra-" + name, comment, extra=lambda e, extra=extra: [extra], client=client)


def tar_entry_vector(name, comment, **broken):
    """A tar with `a.txt` and one entry that breaks a rule; the index lists `b` as an empty file."""
    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello")
    builder.add(b"b", **broken)
    records = [file_record(b"a.txt", b"hello", offset), file_record(b"b", b"", 0)]
    return hostile_tar("tar-" + name, comment, builder, records)


def hostile_tar_types():
    """§4.2.1, §5.1: entries of other types; the index says an empty file."""
    for name, comment, flag, link in (
            ("symlink", "a symbolic link", b"2", b"/etc/passwd"), ("character-device", "a character device", b"3", b""),
            ("block-device", "a block device", b"4", b""), ("fifo", "a named pipe", b"6", b""),
            ("type-7", "a contiguous file", b"7", b""), ("type-nul", "the type byte 00 of old archives", b"\0", b""),
            ("type-sparse", "a GNU sparse file", b"S", b""), ("type-long-name", "a GNU long name", b"L", b""),
            ("type-global", "a pax global header", b"g", b"")):
        yield tar_entry_vector(name, comment + " in the tar", typeflag=flag, linkname=link)
    yield tar_entry_vector("directory-for-file", "a directory in the tar, a file in the index", kind="directory")
    yield tar_entry_vector("file-with-link-target", "a regular file with a linkname", linkname=b"a.txt")
    yield tar_entry_vector("mode-setuid", "a regular file of mode 4755", mode=0o4755)
    yield tar_entry_vector("mode-0600", "a regular file of mode 0600", mode=0o600)
    yield tar_entry_vector("mtime", "an mtime of 1", mtime=b"00000000001 ")
    yield tar_entry_vector("uname", "a user name", uname=b"root")
    yield tar_entry_vector("magic-gnu", "the magic of GNU tar", magic=b"ustar  \0")
    yield tar_entry_vector("checksum", "a wrong checksum", sum_bytes=b"000000\0 ")
    yield tar_entry_vector("size-negative", "a size of -1 in base 256", size_bytes=b"\xff" * 12)
    yield tar_entry_vector("size-huge", "a size of 2^63 in base 256", size_bytes=size_field(1 << 63))
    yield tar_entry_vector("size-not-octal", "a size that is no number", size_bytes=b"0000000000x ")


def hostile_tar_links():
    """§4.2.4: hard links."""
    def vector(name, comment, build, content=b"hello", executable=False, client="ok"):
        builder = TarBuilder()
        offset = build(builder)
        records = [file_record(b"a.txt", b"hello", offset), file_record(b"b", content, offset, executable)]
        return hostile_tar("tar-link-" + name, comment, builder, records, client=client)

    def after(target, **broken):
        def build(builder):
            offset = builder.add(b"a.txt", content=b"hello")
            builder.add(b"b", "link", target=target, **broken)
            return offset
        return build

    def before(builder):
        builder.add(b"b", "link", target=b"a.txt")
        return builder.add(b"a.txt", content=b"hello")

    yield vector("outside", "a hard link to `../../etc/passwd`", after(b"../../etc/passwd"))
    yield vector("absolute", "a hard link to `/etc/passwd`", after(b"/etc/passwd"))
    yield vector("unknown", "a hard link to a path that is not in the tar", after(b"c.txt"))
    yield vector("self", "a hard link to itself", after(b"b"))
    yield vector("later", "a hard link to a later entry", before)
    yield vector("executable", "a hard link with another executable flag than its target", after(b"a.txt", executable=True),
                 executable=True)
    yield vector("size-differs", "a record with the data of a hard link, one byte shorter", after(b"a.txt"), b"hell",
                 client=None)

    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello")
    builder.add(b"b", "link", target=b"a.txt")
    builder.add(b"c", "link", target=b"b")
    yield hostile_tar("tar-link-to-link", "a hard link to a hard link", builder,
                      [file_record(path, b"hello", offset) for path in (b"a.txt", b"b", b"c")])
    builder = TarBuilder()
    builder.add(b"d", "directory")
    builder.add(b"e", "link", target=b"d")
    yield hostile_tar("tar-link-to-directory", "a hard link to a directory", builder,
                      [directory_record(b"d"), file_record(b"e", b"", 0)])
    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello")
    builder.add(b"b", "link", target=b"a.txt", size_bytes=size_field(5))
    yield hostile_tar("tar-link-size", "a hard link with a size in its header", builder,
                      [file_record(path, b"hello", offset) for path in (b"a.txt", b"b")])


def hostile_tar_match():
    """§4.9: tar and index differ."""
    tree = [file("a.txt", b"hello"), file("b.txt", b"world")]

    def vector(name, comment, function):
        return with_records(function, tree, name, comment, client="ok")

    builder, records = build_tree(tree)
    a, b = records
    yield vector("match-index-only", "the index has an empty file that the tar lacks",
                 lambda r: r + [file_record(b"c.txt", b"", 0)])
    yield vector("match-index-only-data", "the index has a file with data that the tar has for another",
                 lambda r: r + [r[1]._replace(path=b"c.txt")])
    yield vector("match-index-only-directory", "the index has an empty directory that the tar lacks",
                 lambda r: r + [directory_record(b"d")])
    yield vector("match-tar-only", "the tar has a file that the index lacks", lambda r: r[:1])
    yield vector("match-nothing-listed", "the index lists nothing of the tar", lambda r: [])
    yield vector("match-size", "a size that is not that of the tar",
                 lambda r: [file_record(b"a.txt", b"hell", a.offset), b])
    yield vector("match-size-into-padding", "a size that includes padding of the tar",
                 lambda r: [file_record(b"a.txt", b"hello\0\0\0", a.offset), b])
    yield vector("match-offset", "the offset of another file's data",
                 lambda r: [file_record(b"a.txt", b"world", b.offset), b])
    yield vector("match-offsets-swapped", "the offsets of two files are swapped",
                 lambda r: [a._replace(offset=b.offset, digest=b.digest), b._replace(offset=a.offset, digest=a.digest)])
    yield vector("match-executable", "executable in the index, mode 0644 in the tar",
                 lambda r: [a._replace(type=EXECUTABLE), b])
    yield vector("match-path", "another path in the index than in the tar",
                 lambda r: [a._replace(path=b"A.txt"), b])
    long = noise(1024)
    yield with_records(lambda r: [r[0], file_record(b"b.bin", long[512:], r[0].offset + 512)],
                       [file("a.bin", long), file("b.bin", long[512:])], "match-overlap",
                       "a data range inside another one")
    builder = TarBuilder()
    header = entry_headers(b"a.txt", "file", False, 5)
    offset = builder.add(b"b.bin", content=header + b"hello".ljust(512, b"\0"))
    yield hostile_tar("match-entry-inside-data", "a record whose entry stands inside the data of another",
                      builder, [file_record(b"a.txt", b"hello", offset + 512),
                                file_record(b"b.bin", header + b"hello".ljust(512, b"\0"), offset)], client=None)


def hostile_tar_form():
    """§4.2.1, §4.2.3: duplicates, padding, gaps, the end, pax records."""
    def started():
        builder = TarBuilder()
        return builder, file_record(b"a.txt", b"hello", builder.add(b"a.txt", content=b"hello"))

    builder, a = started()
    builder.add(b"a.txt", content=b"other")
    yield hostile_tar("tar-duplicate", "a path twice in the tar, with other content", builder, [a])
    builder, a = started()
    builder.add(b"a.txt", content=b"hello")
    yield hostile_tar("tar-duplicate-same", "a path twice in the tar, with the same content", builder, [a])
    builder, a = started()
    builder.add(b"b")
    builder.add(b"b")
    yield hostile_tar("tar-duplicate-for-another", "an empty file twice in the tar, and another one missing", builder,
                      [a, file_record(b"b", b"", 0), file_record(b"c", b"", 0)])
    builder, a = started()
    builder.add(b"b", "directory")
    builder.add(b"b/c")
    yield hostile_tar("tar-directory-not-empty", "an entry for a directory that is not empty", builder,
                      [a, file_record(b"b/c", b"", 0)])
    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello", pad=b"x" + bytes(506))
    yield hostile_tar("tar-padding", "padding that is not zero", builder, [file_record(b"a.txt", b"hello", offset)])
    builder, a = started()
    builder.raw(bytes(512))
    offset = builder.add(b"b.txt", content=b"world")
    yield hostile_tar("tar-gap-512", "512 zero bytes between two entries", builder,
                      [a, file_record(b"b.txt", b"world", offset)])
    builder, a = started()
    builder.raw(bytes(1024))
    offset = builder.add(b"b.txt", content=b"world")
    yield hostile_tar("tar-gap-1024", "the end of the tar, and an entry after it", builder,
                      [a, file_record(b"b.txt", b"world", offset)])
    builder = TarBuilder()
    builder.raw(bytes(512))
    offset = builder.add(b"a.txt", content=b"hello")
    yield hostile_tar("tar-gap-first", "512 zero bytes before the first entry", builder,
                      [file_record(b"a.txt", b"hello", offset)])
    for name, comment, closing in (
            ("end-zeros", "512 more zero bytes at the end", bytes(1536)),
            ("end-10240", "zero bytes up to 10240 at the end, as tar programs write", bytes(10240 - 1024)),
            ("end-bytes", "512 bytes after the closing 1024", bytes(1024) + b"x" * 512),
            ("end-odd", "one byte after the closing 1024", bytes(1025)),
            ("end-not-zero", "a byte of the closing 1024 is not zero", bytes(1023) + b"x")):
        builder, a = started()
        # A tar that is no multiple of 512 bytes is refused by its length alone.
        yield hostile_tar("tar-" + name, comment, builder, [a], closing=closing, client=None if len(closing) % 512 else "ok")
    builder, a = started()
    builder.add(b"b")
    yield hostile_tar("tar-end-512", "only 512 closing bytes, after an empty file", builder,
                      [a, file_record(b"b", b"", 0)], closing=bytes(512))
    builder, a = started()
    yield hostile_tar("tar-end-512-data", "only 512 closing bytes: the data of the last file reaches into the last "
                      "1024 bytes", builder, [a], closing=bytes(512), client=None)
    yield from hostile_pax()


def hostile_pax():
    """§4.2.3: pax headers."""
    def vector(name, comment, pax, path="ü".encode(), main_path=None):
        builder = TarBuilder()
        offset = builder.add(path, content=b"hello", pax=pax, main_path=main_path)
        return hostile_tar("tar-pax-" + name, comment, builder, [file_record(path, b"hello", offset)])

    own = pax_record(b"path", "ü".encode())
    yield vector("path-differs", "a path record with another path than the index", [(b"path", "ö".encode())])
    yield vector("path-twice", "two path records", own + own)
    yield vector("unknown-key", "a pax record with another key", own + pax_record(b"mtime", b"1"))
    yield vector("xattr", "an extended attribute", own + pax_record(b"SCHILY.xattr.user.x", b"1"))
    yield vector("size-differs", "a size record that is not the size", own + pax_record(b"size", b"4"))
    yield vector("length", "a record length that is 1 too large", b"1" + b"1 path=\xc3\xbc\n"[1:])
    yield vector("no-line-end", "a record without line end", own[:-1] + b"x")
    yield vector("length-leading-zero", "a record length with a leading zero", b"011 path=\xc3\xbc\n")
    builder = TarBuilder()
    builder.add(b"a.txt", content=b"hello")
    front = entry_headers("ü".encode(), "file", False, 0)[:1024]
    builder.raw(front)
    yield hostile_tar("tar-pax-at-end", "a pax header before the end of the tar", builder,
                      [file_record(b"a.txt", b"hello", 512)])
    builder = TarBuilder()
    builder.raw(front)
    offset = builder.add("ü".encode(), content=b"hello")
    yield hostile_tar("tar-pax-twice", "two pax headers before an entry", builder,
                      [file_record("ü".encode(), b"hello", offset)])


# ---------------------------------------------------------------------------------------------
# Vectors: others. Other people's cases, each built anew from its published description
# ---------------------------------------------------------------------------------------------

# Their suites: the beginning of the names, and where the descriptions are.
OTHERS = {
    "age": "C2SP/CCTV, age/internal/tests/stream_*: chunks are segments here",
    "zstd": "facebook/zstd, tests/golden-decompression-errors and doc/decompressor_permissive.md",
    "traversal": "jwilk/traversal-archives, README",
    "zip-slip": "snyk/zip-slip-vulnerability, archives/README.md",
    "python": "python/cpython, Lib/test/test_tarfile.py, TestExtractionFilters",
    "libarchive": "libarchive/libarchive, the fixtures of libarchive/test, tar/test and cpio/test that are tars",
}


def age_filler(length, keys):
    """A payload of `length` bytes, and its segments' plaintexts. What fills it is chosen so that it is zeros once it is
    encrypted: so large a vector is small in a repository."""
    def payload(filling):
        return tree_payload(list(SMALL_TREE), extra=lambda extra: [skippable(0x184D2A50, filling)])

    room = length - len(payload(b"")[0])
    pieces = split_segments(bytes(length), SMALL)
    cipher = AESGCM(keys.SEGK)
    stream = b"".join(cipher.encrypt(nonce(keys.NP, i, i == len(pieces) - 1), piece, b"")[:-16] for i, piece in enumerate(pieces))
    start = payload(bytes(room))[0].index(skippable(0x184D2A50, b"", room)) + 8
    filled, records = payload(stream[start:start + room])
    assert len(filled) == length
    return filled, records


def age_vectors():
    """CCTV, age: the cases of the stream. A chunk is a segment; the first has 40 bytes less room, for the Tink header."""
    core = make_core(NAME, VERSION, bytes(range(32)), S=SMALL)
    header, tink = make_header(AK, core, derive_stanza(AK))
    keys, cipher, P = schedule(AK, core), None, SMALL - 16
    cipher = AESGCM(keys.SEGK)
    first = P - 40

    def chunks(*sizes_and_flags):
        """What these chunks are sealed as: (size, whether it is final)."""
        return header + tink + b"".join(
            cipher.encrypt(nonce(keys.NP, i, final), noise(size, b"age"), b"") for i, (size, final) in enumerate(sizes_and_flags))

    def bad(name, expect, comment, data):
        return refused("age-stream_" + name, expect, comment, data)

    def good(name, comment, length):
        payload, records = age_filler(length, keys)
        return valid("age-stream_" + name, comment, payload, records, salt=bytes(range(32)))

    def sealed(length):
        return pack_of(age_filler(length, keys)[0], salt=bytes(range(32)))

    yield good("last_chunk_full", "one segment, which is full", first)
    yield good("two_chunks", "two segments, both full", first + P)
    yield good("last_chunk_full_second", "two segments, the last one full", first + P)
    yield good("three_chunks", "three segments, all full", first + 2 * P)
    yield good("257_chunks", "256 full segments and one of a byte: the counter goes beyond one byte", first + 255 * P + 1)
    yield good("257_chunks_full", "257 full segments", first + 256 * P)
    yield good("258_chunks", "257 full segments and one of a byte", first + 256 * P + 1)
    yield bad("empty_payload", "damaged", "one empty segment: the stream holds, and no payload is empty", chunks((0, True)))
    yield bad("last_chunk_empty", "truncated", "an empty last segment after a full one", chunks((first, False), (0, True)))
    yield bad("bad_tag", "damaged", "a bit of the only tag", flip(sealed(1000), -1, 0x20))
    yield bad("bad_tag_second_chunk", "damaged", "a bit of the tag of a second segment of one byte", flip(sealed(first + 1), -1, 0x20))
    yield bad("bad_tag_second_chunk_full", "damaged", "a bit of the tag of a second segment that is full", flip(sealed(first + P), -1, 0x20))
    yield bad("no_nonce", "truncated", "the file ends where the Tink header begins", header)
    yield bad("short_nonce", "truncated", "12 bytes of the Tink header", header + tink[:12])
    yield bad("no_chunks", "truncated", "no segment", header + tink)
    yield bad("short_chunk", "truncated", "12 bytes in the place of a segment, less than a tag", header + tink + noise(12))
    yield bad("missing_tag", "truncated", "a segment of three bytes without its tag", chunks((3, True))[:-16])
    yield bad("short_second_chunk", "truncated", "a full segment, and 12 bytes", chunks((first, False)) + noise(12))
    yield bad("no_final", "truncated", "the only segment is not sealed as the last", chunks((1, False)))
    yield bad("no_final_full", "truncated", "the only segment is full and not sealed as the last", chunks((first, False)))
    yield bad("no_final_two_chunks", "truncated", "the second segment is not sealed as the last", chunks((first, False), (1, False)))
    yield bad("no_final_two_chunks_full", "truncated", "two full segments, neither sealed as the last", chunks((first, False), (P, False)))
    yield bad("trailing_garbage_long", "damaged", "20 bytes after a full last segment", chunks((first, True)) + noise(20))
    yield bad("trailing_garbage_short", "truncated", "12 bytes after a full last segment", chunks((first, True)) + noise(12))
    yield bad("two_final_chunks", "damaged", "two segments sealed as the last, the second of a byte", chunks((first, True), (1, True)))
    yield bad("two_final_chunks_full", "damaged", "two full segments sealed as the last", chunks((first, True), (P, True)))
    yield bad("two_final_chunks_second", "damaged", "the second and the third of three segments sealed as the last",
              chunks((first, False), (P, True), (1, True)))
    yield bad("two_final_chunks_short", "damaged", "two segments of a byte, both sealed as the last", chunks((1, True), (1, True)))


def zstd_vectors():
    """zstd's golden errors, and the reserved bits of which its document speaks beside them."""
    n = len(tar_of(SMALL_TREE))
    for name, comment, block in (
            ("off0", "an offset that comes to 0", "08 00 02 00 2f 43 0b ae"),
            ("truncated_huff_state", "initial states of Huffman weights that are cut", "72 80 01 04 20 7e 1f 02 aa 00"),
            ("zeroSeq_extraneous", "a byte after no sequences in the form of two bytes", "68" + b"Hello World!\n".hex() + "8000" + "00"),
            ("reserved_bits", "the reserved bits of the compression modes", "68" + b"Hello World!\n".hex() + "0103ffffff")):
        body = bytes.fromhex(block)
        body = zstd_block(2, len(body), body, True)
        theirs = b"\x28\xb5\x2f\xfd\x00\x00" + body
        yield hostile_tree(f"zstd-{name}", f"{comment}: the frame as zstd has it, without a content size", data=only_frame(theirs))
        yield hostile_tree(f"zstd-{name}-sized", f"{comment}: the block in a frame that states the size of the tar",
                           data=only_frame(frame_header(n) + body))
        yield hostile_tree(f"zstd-{name}-block", f"{comment}: in the frame of a block of the index",
                           blocks=lambda b: [b[0][:128] + frame_header(60) + body])
        yield hostile_tree(f"zstd-{name}-directory", f"{comment}: in the frame of the directory",
                           dirframe=lambda d: frame_header(11) + body)


class OtherTar(TarBuilder):
    """A tar in the form of §4.2 but for what a case is about, and the index that fits it best: it lists every file, hard link
    and directory, and of a path that stands twice the last."""

    def __init__(self):
        super().__init__()
        self.listed = {}

    def file(self, path, content=b"moo\n", *, listed=None, executable=False, **broken):
        """`listed` is the path in the index, where it is not that of the tar."""
        offset = self.add(path, content=content, executable=executable, **broken)
        name = path if listed is None else listed
        self.listed[name] = file_record(name, content, offset, executable)
        return self

    def directory(self, path, **broken):
        self.add(path, "directory", **broken)
        self.listed[path] = directory_record(path)
        return self

    def symlink(self, path, target):
        return self.other(path, b"2", linkname=target)

    def link(self, path, target, **broken):
        self.add(path, "link", target=target, **broken)
        self.listed[path] = self.listed.get(target, file_record(path, b"", 0))._replace(path=path)
        return self

    def other(self, path, flag, content=b"", **broken):
        """An entry of another type; the index has nothing of it."""
        self.add(path, content=content, typeflag=flag, **broken)
        return self

    def bytes(self, data):
        self.raw(data)
        return self

    def vector(self, name, comment, client="ok", **changes):
        return hostile_tar(name, comment, self, [self.listed[path] for path in sorted(self.listed)], client=client, **changes)


def escapes(name, comment, path):
    """A path that leads outside: where index and tar both have it, and where the tar alone does."""
    yield OtherTar().file(path).vector(name, comment, client=None)
    yield OtherTar().file(path, listed=b"moo").vector(name + "-tar", comment + "; the index has the data under a harmless path")


def traversal_vectors():
    """jwilk/traversal-archives"""
    yield from escapes("traversal-absolute1", "`/tmp/moo`", b"/tmp/moo")
    yield from escapes("traversal-absolute2", "`//tmp/moo`", b"//tmp/moo")
    yield from escapes("traversal-relative0", "`../moo`", b"../moo")
    yield from escapes("traversal-relative2", "`tmp/../../moo`", b"tmp/../../moo")
    yield OtherTar().symlink(b"moo", b"/tmp/moo").file(b"moo").vector(
        "traversal-symlink", "a symbolic link `moo` to `/tmp/moo`, and a file `moo`")
    yield OtherTar().symlink(b"tmp", b"/tmp").file(b"tmp/moo").vector(
        "traversal-dirsymlink", "a symbolic link `tmp` to `/tmp`, and `tmp/moo`")
    yield OtherTar().symlink(b"cur", b".").symlink(b"par", b"cur/..").file(b"par/moo").vector(
        "traversal-dirsymlink2a", "`cur` to `.`, `par` to `cur/..`, and `par/moo`")
    yield OtherTar().symlink(b"cur", b".").symlink(b"cur/par", b"..").file(b"par/moo").vector(
        "traversal-dirsymlink2b", "`cur` to `.`, `cur/par` to `..`, and `par/moo`")
    # snyk/zip-slip-vulnerability
    for name, path in (("zip-slip", b"../" * 40 + b"tmp/evil.txt"), ("zip-slip-win", b"..\\" * 40 + b"Temp\\evil.txt")):
        yield OtherTar().file(b"good.txt").file(path).vector(name, f"`good.txt`, and `{path[-16:].decode()}` 40 levels up", client=None)
        yield OtherTar().file(b"good.txt").file(path, listed=b"tmp/evil.txt").vector(
            name + "-tar", "the same; the index has the data under a harmless path")


def python_vectors():
    """CPython, TestExtractionFilters"""
    def vector(name, comment, tar, client="ok"):
        return tar.vector("python-" + name, comment, client)

    yield from escapes("python-absolute", "an absolute path", b"/outerdir/escaped.evil")
    yield vector("parent_symlink", "`current` to `.`, `parent` to `current/..`, and `parent/evil`",
                 OtherTar().symlink(b"current", b".").symlink(b"parent", b"current/..").file(b"parent/evil"))
    yield vector("parent_symlink2", "`current` to `.`, `current/parent` to `..`, and `parent/evil`",
                 OtherTar().symlink(b"current", b".").symlink(b"current/parent", b"..").file(b"parent/evil"))
    yield vector("absolute_symlink", "`parent` to an absolute path, and `parent/evil`",
                 OtherTar().symlink(b"parent", b"/outerdir").file(b"parent/evil"))
    yield vector("absolute_hardlink", "a hard link to an absolute path", OtherTar().link(b"parent", b"/outerdir/foo"))
    yield vector("sly_relative0", "a symbolic link at `../moo`", OtherTar().symlink(b"../moo", b"..//tmp/moo"))
    yield vector("sly_relative2", "a directory `tmp`, and a symbolic link at `tmp/../../moo`",
                 OtherTar().directory(b"tmp").symlink(b"tmp/../../moo", b"tmp/../..//tmp/moo"))
    yield vector("deep_symlink", "a hard link and a symbolic link to a file in another directory",
                 OtherTar().file(b"targetdir/target", b"123").link(b"linkdir/hardlink", b"targetdir/target").symlink(
                     b"linkdir/symlink", b"../targetdir/target"))
    yield vector("chains", "links to links, before their targets",
                 OtherTar().symlink(b"linkdir/symlink", b"hardlink").symlink(b"symlink2", b"linkdir/hardlink2").file(
                     b"targetdir/target", b"123").link(b"linkdir/hardlink", b"targetdir/target").link(b"linkdir/hardlink2", b"linkdir/symlink"))
    for name, mode in (("all_bits", 0o7777), ("perm_bits", 0o777), ("exec_group_other", 0o677), ("read_group_only", 0o040), ("no_bits", 0)):
        yield vector("modes-" + name, f"a file of mode {mode:04o}", OtherTar().file(b"file", mode=mode))
    for name, mode in (("dir", 0o077), ("dir_all_bits", 0o7777)):
        yield vector("modes-" + name, f"a directory of mode {mode:04o}", OtherTar().directory(b"dir", mode=mode))
    yield vector("pipe", "a named pipe", OtherTar().other(b"foo", b"6"))
    yield vector("special_files-character", "a character device", OtherTar().other(b"foo", b"3"))
    yield vector("special_files-block", "a block device", OtherTar().other(b"foo", b"4"))
    yield vector("stateful_filter", "a file, a symbolic link to `/`, and the file again",
                 OtherTar().file(b"good").symlink(b"bad", b"/").file(b"good"))


# test_patterns_4: ways of writing where a file is on Windows, and elsewhere.
WINDOWS_PATHS = r"""/file01 /../file02 /../../file03 c:/file04 D:../file05 c:../../file06 C:/../file07 a:/../../file08 //./c:/file09
//./C:/../file10 //?/c:/file11 //?/C:/../file12 ////c:/file13 ////C://///file14 //?/UNC/server/share/file15 //?/UNC/file16
//?/UNC/../file17 //?/unc/server/share/file18 //?/unc/file19 //?/unc/../file20 \file21 \..\file22 \..\..\file23 C:\file24 z:..\file25
c:..\..\file26 Z:\..\file27 C:\..\..\file28 \\.\c:\file29 \\.\C:\..\file30 \\?\c:\file31 \\?\D:\..\file32 \\\\c:\file33
\\\\C:\\\\\file34 \\?\UNC\server\share\file35 \\?\UNC\file36 \\?\UNC\..\file37 \\?\unc\server\share\file38 \\?\unc\file39
\\?\unc\..\file40 \../file41 \../..\file42 c:../..\file43 C:/..\file44 D:\../..\file45 \/./c:\file46 \\./C:\..\file47 \/?\c:/file48
\\?/D:/..\file49 \//\D:\file50 \\//c:\//\\file51 \/?/uNc/server\share\file52 \\?/UNc\file53 \/?\UnC\../file54""".split()


def libarchive_paths():
    """Fixtures about paths."""
    for text in WINDOWS_PATHS:
        name = f"libarchive-patterns_4-{text[-2:]}"
        if ":" in text and not re.search(r"\\|^/|/\.\./", text):
            # §5.2: a colon is for the writer and the tool to refuse. Where clients run it is a character as any other.
            yield valid_tree(name, f"`{text}`, which only Windows takes for a drive", [file(text, b"moo\n")])
        else:
            yield OtherTar().file(text.encode()).vector(name, f"`{text}`", client=None)
    yield from escapes("libarchive-leading_slash", "`/foo/file`", b"/foo/file")
    yield OtherTar().file(b"foo/file").link(b"/foo/hardlink", b"/foo/file").vector(
        "libarchive-leading_slash-link", "a hard link at `/foo/hardlink` to `/foo/file`", client=None)
    yield OtherTar().file(b"foo/file").link(b"foo/hardlink", b"/foo/file").vector(
        "libarchive-leading_slash-target", "a hard link at `foo/hardlink` to `/foo/file`")
    yield OtherTar().directory(b"/tmp/foo").directory(b"/tmp/foo/bar").file(b"/tmp/foo/bar/baz", listed=b"baz").vector(
        "libarchive-patterns_2", "directories below `/tmp/foo`", client=None)
    yield OtherTar().directory(b"/tmp/foo/bar").directory(b"tmp/foo/baz").vector(
        "libarchive-patterns_3", "a directory below `/tmp/foo`, and one below `tmp/foo`", client=None)
    yield OtherTar().directory(b"").file(b"a.txt").vector("libarchive-tar_empty_filename", "a directory without a name", client=None)
    for name, comment, path in (
            ("gtar_filename_cp866", "in CP866", b"\x8f\x90\x88\x82\x85\x92"), ("gtar_filename_eucjp", "in EUC-JP", b"\xb4\xc1\xbb\xfa.txt"),
            ("gtar_filename_koi8r", "in KOI8-R", b"\xd0\xd2\xc9\xd7\xc5\xd4")):
        yield OtherTar().file(path, pax=[], magic=b"ustar  \0").vector("libarchive-" + name, f"a path {comment}, under the magic of GNU", client=None)
        yield OtherTar().file(path, pax=[]).vector(f"libarchive-us{name[1:]}", f"a path {comment}, in the header alone", client=None)
        yield OtherTar().file(path).vector(f"libarchive-tar{name[4:]}", f"a path {comment}, in a pax record", client=None)
    binary = b"abc\xcc\x8cmno\xfcxyz"
    yield OtherTar().file(binary).vector("libarchive-pax_filename_encoding-1", "a pax path that is not UTF-8", client=None)
    yield OtherTar().file(binary, pax=[(b"hdrcharset", b"BINARY"), (b"path", binary)]).vector(
        "libarchive-pax_filename_encoding-2", "the same, with hdrcharset=BINARY before it", client=None)
    for name, path in (("compat_mac-1", b"dir/._file"), ("compat_mac-2", b"._mydir"), ("tar_mac_metadata_1", b"._101_" + b"a" * 94)):
        yield OtherTar().file(path).vector("libarchive-" + name, f"a file of metadata, `{path[:11].decode()}…`", client=None)


def libarchive_types():
    """Fixtures about types and links."""
    long, other = b"1234567890" * 20, b"abcdefghij" * 20
    def of_name(text):
        return text + b"\0"

    yield OtherTar().other(b"././@LongLink", b"L", of_name(long)).file(long[:100], listed=long, pax=[], main_path=long[:100]).vector(
        "libarchive-compat_gtar_1-name", "a GNU long name before a file")
    yield OtherTar().file(b"f").other(b"././@LongLink", b"K", of_name(long)).other(b"././@LongLink", b"L", of_name(other)).other(
        other[:99], b"2", linkname=long[:100]).vector("libarchive-compat_gtar_1-link", "a GNU long link name and a GNU long name before a symbolic link")
    deep = b"/".join([b"0123456789" * 10] * 4)
    yield OtherTar().other(b"././@LongLink", b"L", of_name(deep)).file(deep[:90], listed=deep, main_path=deep[:90], pax=[]).vector(
        "libarchive-print_longpath", "a GNU long name of 403 bytes")
    again = b"storage/emulated/0/" + b"x" * 110
    tar = OtherTar()
    for text in (again, again[:-8], again, again[:-8]):
        tar.other(b"././@LongLink", b"L", of_name(text))
    yield tar.file(b"hello.txt", listed=again[:-8]).vector("libarchive-gtar_redundant_L", "four GNU long names before one file")
    yield OtherTar().file(b"file").link(b"linkfile", b"file").symlink(b"symlink", b"file").directory(b"dir").vector(
        "libarchive-gcpio_compat_ref", "a file, a hard link, a symbolic link and a directory")
    yield OtherTar().file(b"f").link(b"hl", b"f").symlink(b"sl", b"f").file(b"d/f").vector(
        "libarchive-list_item", "a hard link and a symbolic link beside files")
    yield OtherTar().directory(b"directory1", typeflag=b"\0", magic=bytes(8)).vector(
        "libarchive-compat_tar_directory_1", "a directory of old form: type 00, a final slash, no magic")
    yield OtherTar().directory(b"directory1", size_bytes=size_field(1)).vector(
        "libarchive-compat_tar_directory_1-size", "a directory of size 1, without data")
    yield OtherTar().file(b"READMf", b"x" * 321).link(b"README", b"READMf", size_bytes=size_field(321)).vector(
        "libarchive-compat_tar_hardlink_1", "a hard link that states the size of its target and has no data")
    yield OtherTar().other(b"file", b"A", b"1000007\0user::rw-").file(b"file").vector(
        "libarchive-compat_solaris_tar_acl", "an entry of type A, an access control list")
    yield OtherTar().other(b"label", b"V").file(b"a.txt").vector("libarchive-tar_empty_with_gnulabel", "a GNU label before the files")
    yield OtherTar().other(b"label", b"V").vector("libarchive-tar_empty_with_gnulabel-alone", "a GNU label, and no file")
    yield OtherTar().other(b"label", b"V", size_bytes=b"\xff\0\0\0\0\0\0 \0\0\0\0").vector(
        "libarchive-tar_V_negative_size", "a GNU label of negative size")
    yield OtherTar().file(b"file1").bytes(bytes(1024)).file(b"file2").vector("libarchive-tar_concatenated", "two tars, one after the other")
    yield OtherTar().file(b"file").file(b"file", b"other").file(b"file", b"third").vector(
        "libarchive-acl_pax_posix1e-names", "the same path three times")


def libarchive_sparse():
    """Fixtures about sparse files."""
    body = noise(512)

    def pax(*pairs):
        return [(key.encode(), value.encode()) for key, value in pairs]

    yield OtherTar().other(b"sparse", b"S", body, magic=b"ustar  \0").vector("libarchive-gtar_sparse_1_13", "a GNU sparse file, magic of GNU included")
    yield OtherTar().other(b"sparse", b"S", body).vector("libarchive-gtar_sparse_1_17", "a GNU sparse file in a ustar header")
    yield OtherTar().other(b"sparse", b"S", size_bytes=size_field(0)).vector("libarchive-gtar_sparse_reuse", "a GNU sparse file without data")
    for name, pairs, content in (
            ("gtar_sparse_1_17_posix00", (("GNU.sparse.size", "3145728"), ("GNU.sparse.numblocks", "1"), ("GNU.sparse.offset", "99"),
                                          ("GNU.sparse.numbytes", "512")), body),
            ("gtar_sparse_1_17_posix01", (("GNU.sparse.size", "3145728"), ("GNU.sparse.numblocks", "1"), ("GNU.sparse.map", "99,512")), body),
            ("gtar_sparse_1_17_posix10", (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "sparse"),
                                          ("GNU.sparse.realsize", "3145728")), b"1\n99\n512\n".ljust(512, b"\0") + body),
            ("gtar_sparse_1_17_posix10_modified", (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "sparse")),
             b"#!gnu-sparse-format\n1\n99\n512\n".ljust(512, b"\0") + body),
            ("gtar_sparse_length", (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.realsize", "1279")), body),
            ("gtar_sparse_skip_entry", (("size", "4612"), ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "a"),
                                        ("GNU.sparse.realsize", "10737418244")), b"1\n10737418240\n4\n".ljust(512, b"\0") + b"foo\n"),
            ("compat_solaris_pax_sparse_1", (("SUN.holesdata", " 0 512 1024"), ("size", "512")), body),
            ("compat_solaris_pax_sparse_2", (("SUN.holesdata", " 0 512 819200"),), body),
            ("tar_pax_sun_holesdata", (("SUN.holesdata", " 0 512 1024 1536"),), body)):
        yield OtherTar().file(b"sparse", content, pax=pax(*pairs)).vector("libarchive-" + name, f"a sparse file by the pax key {pairs[-1][0]}")


def libarchive_pax():
    """Fixtures about pax records and the fields of headers."""
    def vector(name, comment, *pairs):
        return OtherTar().file(b"file", pax=list(pairs)).vector("libarchive-" + name, comment)

    acl = b"owner@:rwxpaARWcCos::allow"
    yield vector("acl_pax_posix1e", "an access control list", (b"SCHILY.acl.access", b"user::--x,group::r--,other::-w-"))
    yield vector("acl_pax_nfs4", "an access control list of NFSv4", (b"SCHILY.acl.ace", acl))
    yield vector("compat_star_acl_nfs4", "times and an access control list", (b"atime", b"1479121596.485714000"), (b"SCHILY.acl.ace", acl))
    yield vector("tar_acl_oob_read", "an access control list with zero bytes", (b"SCHILY.acl.ace", acl[:8] + bytes(26) + acl[8:]))
    yield OtherTar().other(b"././@PaxHeader", b"g", pax_record(b"SCHILY.archtype", b"exustar")).file(b"file1").vector(
        "libarchive-compat_star_acl_posix1e", "a global pax header before the files")
    yield vector("pax_xattr_header_schily", "an extended attribute", (b"SCHILY.xattr.user.data1", b"ABCDEFG"))
    yield vector("pax_xattr_header_libarchive", "an extended attribute in base 64", (b"LIBARCHIVE.xattr.user.data1", b"QUJDREVGRw"))
    yield vector("pax_xattr_header_all", "an extended attribute in both forms", (b"LIBARCHIVE.xattr.user.data1", b"QUJDREVGRw"),
                 (b"SCHILY.xattr.user.data1", b"ABCDEFG"))
    yield vector("read_pax_xattr_schily", "an attribute that gives rights", (b"SCHILY.xattr.security.capability", b"\1\0\0\2"))
    yield vector("read_pax_xattr_rht_security_selinux", "a label of SELinux", (b"RHT.security.selinux", b"system_u:object_r:admin_home_t:s0"))
    yield vector("tar_pax_timestamps", "times", (b"mtime", b"1748089464.951928467"), (b"atime", b"1"))
    yield vector("tar_pax_negative_time", "a time before 1970", (b"mtime", b"-2146608000"))
    yield vector("tar_invalid_pax_size", "a size below zero", (b"size", b"-19769411113659727436"))
    yield vector("tar_pax_large_attr", "a record of 8 MB", (b"SCHILY.xattr.user.x", b"a" * 8_000_000))
    yield OtherTar().file(b"empty", pax=b"4 x=").vector("libarchive-read_pax_empty_val_no_nl", "a record without value and without line end")
    yield OtherTar().other(b"pax_global_header", b"g", pax_record(b"comment", b"d" * 40)).vector(
        "libarchive-tar_empty_pax", "a global pax header, and no file")
    yield OtherTar().other(b"empty", b"g", size_bytes=b"40000000000\0").vector(
        "libarchive-tar_pax_g_large", "a global pax header of 4 GiB in 512 bytes")
    yield OtherTar().file(b"f.txt", mode=0o64, size_bytes=bytes(12)).vector(
        "libarchive-tar_timestamp_overflow", "a size field without a digit")
    yield OtherTar().file(b"file", mtime=b"\xff" * 7 + b"\x80\x0d\x5c\x80 ").vector(
        "libarchive-tar_pax_negative_time-header", "a time before 1970 in base 256")
    yield OtherTar().file(b"file", size_bytes=b"          4\0").vector("libarchive-compat_perl_archive_tar", "a size with spaces before it")
    yield OtherTar().file(b"file", size_bytes=b"          4 ", magic=b"ustar\0\0\0").vector(
        "libarchive-compat_plexus_archiver_tar", "a size with spaces around it, and no version after the magic")
    yield OtherTar().file(b"file", magic=b"ustar  \0").vector("libarchive-compat_gtar_2", "the magic of GNU")
    yield OtherTar().file(b"file", magic=bytes(8)).vector("libarchive-compat_tar_hardlink_1-magic", "no magic, as before ustar")
    yield OtherTar().file(b"file", magic=b"utsar\x0000").vector("libarchive-tar_invalid_pax_size-magic", "a magic that is misspelt")


def other_vectors():
    return [*age_vectors(), *zstd_vectors(), *traversal_vectors(), *python_vectors(), *libarchive_paths(), *libarchive_types(),
            *libarchive_sparse(), *libarchive_pax()]


def suite_of(name):
    """The suite of a vector in `others`: of two that fit, the longer."""
    return max((suite for suite in OTHERS if name == suite or name.startswith(suite + "-")), key=len)


# ---------------------------------------------------------------------------------------------
# Commands make and check
# ---------------------------------------------------------------------------------------------


def all_vectors():
    """{folder: [vectors]}"""
    return {
        "valid": [*valid_trees(), *valid_segments(), *valid_frames(), *valid_headers(), *valid_pack_keys(), *valid_wraps()],
        "refused-open": list(refused_vectors()),
        "hostile": [*hostile_paths(), *hostile_records(), *hostile_head(), *hostile_blocks(), *hostile_frames(),
                    *hostile_seek(), *hostile_parts(), *hostile_tar_types(), *hostile_tar_links(),
                    *hostile_tar_match(), *hostile_tar_form()],
        "others": other_vectors(),
    }


def command_make(arguments):
    for folder, vectors in all_vectors().items():
        names = [vector.name for vector in vectors]
        assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
        target = os.path.join(arguments.directory, folder)
        os.makedirs(target, exist_ok=True)
        for name in os.listdir(target):
            if name.endswith(".vector"):
                os.unlink(os.path.join(target, name))
        total = 0
        for vector in vectors:
            data = vector_bytes(vector)
            total += len(data)
            with open(os.path.join(target, vector.name + ".vector"), "wb") as out:
                out.write(data)
        print(f"{folder}: {len(vectors)} vectors, {total} bytes")
    make_manifest_vectors(arguments.directory)
    make_page_vectors(arguments.directory)
    make_delta_vectors(arguments.directory)
    make_case_files(arguments.directory)


def make_manifest_vectors(directory):
    target = os.path.join(directory, MANIFEST_FOLDER)
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(target):
        if name.endswith(".manifest-vector"):
            os.unlink(os.path.join(target, name))
    vectors = all_manifest_vectors()
    assert len({vector.name for vector in vectors}) == len(vectors)
    for vector in vectors:
        with open(os.path.join(target, vector.name + ".manifest-vector"), "wb") as out:
            out.write(manifest_vector_bytes(vector))
    print(f"{MANIFEST_FOLDER}: {len(vectors)} vectors")


def make_page_vectors(directory):
    target = os.path.join(directory, PAGE_FOLDER)
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(target):
        os.unlink(os.path.join(target, name))
    vectors = all_page_vectors()
    assert len({vector.name for vector in vectors}) == len(vectors)
    for vector in vectors:
        with open(os.path.join(target, vector.name + ".page-vector"), "wb") as out:
            out.write(page_vector_bytes(vector))
    print(f"{PAGE_FOLDER}: {len(vectors)} vectors")


def make_case_files(directory):
    for name, cases, _ in CASE_FILES:
        lines = list(case_lines(cases()))
        with open(os.path.join(directory, name), "w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
        print(f"{name}: {len(lines)} cases")


def outcome(vector, verify, key):
    """What this reader says: the class and the listing."""
    try:
        records = read_pack(vector.data, key, verify)
    except Refused as error:
        return error.name, str(error)
    listing = []
    for record in records:
        path = record.path.decode("utf-8")
        listing.append([path + "/", None] if record.type == DIRECTORY else [path, record.digest.hex()])
    return "ok", listing


def check_vector(vector, verbose):
    """The problems of a vector, as texts."""
    for key in (vector.key, vector.root):
        if key:
            yield from check_reading(vector, key, verbose)


def check_reading(vector, key, verbose):
    """The problems of a vector that is read with a key."""
    said, detail = outcome(vector, True, key)
    client, client_detail = outcome(vector, False, key)
    if verbose:
        print(f"{vector.name}: {detail if said != 'ok' else 'ok'}")
    if said != vector.expect:
        yield f"expect {vector.expect}, verifier says {said}: {detail}"
    if client != (vector.client or vector.expect):
        yield f"expect {vector.client or vector.expect}, client says {client}: {client_detail}"
    if said == "ok" == vector.expect and detail != vector.records:
        yield f"the records differ: {detail}"


def command_check(arguments):
    count = failures = 0
    for folder in FOLDERS:
        target = os.path.join(arguments.directory, folder)
        for name in sorted(os.listdir(target)):
            if not name.endswith(".vector"):
                continue
            with open(os.path.join(target, name), "rb") as file_object:
                vector = parse_vector(f"{folder}/{name}", file_object.read())
            count += 1
            for problem in check_vector(vector, arguments.verbose):
                failures += 1
                print(f"{folder}/{name}: {problem}")
    target = os.path.join(arguments.directory, MANIFEST_FOLDER)
    for name in sorted(os.listdir(target)):
        with open(os.path.join(target, name), "rb") as file_object:
            data = file_object.read()
        if not name.endswith(".manifest-vector"):
            continue
        count += 1
        for problem in check_manifest_vector(parse_manifest_vector(f"{MANIFEST_FOLDER}/{name}", data), arguments.verbose):
            failures += 1
            print(f"{MANIFEST_FOLDER}/{name}: {problem}")
    target = os.path.join(arguments.directory, PAGE_FOLDER)
    for name in sorted(os.listdir(target)):
        with open(os.path.join(target, name), "rb") as file_object:
            vector = parse_page_vector(f"{PAGE_FOLDER}/{name}", file_object.read())
        count += 1
        for problem in check_page_vector(vector, arguments.verbose):
            failures += 1
            print(f"{PAGE_FOLDER}/{name}: {problem}")
    for folder in DELTA_FOLDERS:
        target = os.path.join(arguments.directory, folder)
        for name in sorted(os.listdir(target)):
            with open(os.path.join(target, name), "rb") as file_object:
                vector = parse_delta_vector(f"{folder}/{name}", file_object.read(), os.path.join(arguments.directory, BASE_FOLDER))
            count += 1
            for problem in check_delta_vector(vector, arguments.verbose):
                failures += 1
                print(f"{folder}/{name}: {problem}")
    for name, _, holds in CASE_FILES:
        with open(os.path.join(arguments.directory, name), encoding="utf-8") as file_object:
            lines = file_object.read().splitlines()
        count += len(lines)
        for line in lines:
            if not check_case_line(line, holds):
                failures += 1
                print(f"{name}: {line}")
    print(f"{count} vectors, {failures} problems")
    if failures or not count:
        raise Problem("the vectors and this reader do not agree")


# ---------------------------------------------------------------------------------------------
# §9 Manifest
# ---------------------------------------------------------------------------------------------

MAX_MANIFEST = 1 << 20
MAX_SIGNATURES = 16
MAX_DOCUMENTS, MAX_DOCUMENT, MAX_DOCUMENT_SIGNATURES, MAX_KEYS = 32, 1 << 14, 32, 16
MAX_DEPTH = 8
MAX_INTEGER = (1 << 53) - 1
SCHEMA = "pack-manifest/1"
KEYS_SCHEMA = "pack-keys/1"


def canonical_json(value):
    """§9.1: RFC 8785 for what manifests use."""
    if isinstance(value, dict):
        return "{" + ",".join(canonical_json(k) + ":" + canonical_json(value[k]) for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    return '"' + "".join(short.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


def unique_keys(pairs):
    require(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def refuse_number(text):
    raise Refused("damaged", f"{text} is no plain integer")


def check_values(value, depth):
    """§9.1: what a canonical document may hold."""
    require(value is not None, "null")
    if isinstance(value, (dict, list)):
        require(depth <= MAX_DEPTH, f"depth {depth}")
        for key in value if isinstance(value, dict) else ():
            require(key.isascii(), f"the key {key} is not ASCII")
        for item in value.values() if isinstance(value, dict) else value:
            check_values(item, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        require(0 <= value <= MAX_INTEGER, f"{value} is out of range")


def parse_canonical(data, depth):
    """§9.1: parsed by a JSON reader that allows everything, and compared with what it would be written as."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys, parse_float=refuse_number,
                           parse_constant=refuse_number)
    except (ValueError, RecursionError) as error:
        raise Refused("damaged", f"not JSON: {error}")
    check_values(value, depth)
    require(canonical_json(value).encode("utf-8", "surrogatepass") == data, "not the canonical form")
    return value


def key_id_of(public):
    """§9.2: keyid."""
    return sha256(label("sig-key") + public)[:8].hex()


# §9.2: the curve, as RFC 8032 has it. Slow, and it says what libraries leave open.
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


def sign_manifest(seed, signed):
    """§9.2: an entry of the signature list."""
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(label("manifest") + signed)
    return {"keyid": key_id_of(public_key(seed)), "sig": signature.hex()}


def make_manifest(signed, seeds, keys=()):
    """§9.1: `signed` is the bytes of that part, or the value; `keys` are keys documents."""
    if not isinstance(signed, bytes):
        signed = canonical_json(signed).encode("utf-8")
    signatures = sorted((sign_manifest(seed, signed) for seed in seeds), key=lambda s: s["keyid"])
    start = b'{"keys":[' + b",".join(keys) + b"]," if keys else b"{"
    return start + b'"signatures":' + canonical_json(signatures).encode("ascii") + b',"signed":' + signed + b"}"


def split_keys(data):
    """§9.6: the keys documents of a manifest, and the manifest without them."""
    start = b'{"keys":['
    if not data.startswith(start):
        return [], data
    # As Latin-1 each byte is a character, so that places are those of the file.
    text, place, documents = data.decode("latin-1"), len(start), []
    while True:
        try:
            _, end = json.JSONDecoder().raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise Refused("damaged", f"keys: {error}")
        document = data[place:end]
        require(len(documents) < MAX_DOCUMENTS, "too many keys documents")
        require(isinstance(parse_canonical(document, 3), dict), "a keys document is no object")
        require(len(document) <= MAX_DOCUMENT, f"a keys document of {len(document)} bytes")
        documents.append(document)
        place = end + 1
        if text[end:end + 1] == "]":
            require(text[end + 1:end + 2] == ",", "nothing behind the keys documents")
            return documents, b"{" + data[end + 2:]
        require(text[end:end + 1] == ",", "no comma between keys documents")


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


def is_time(text):
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z", text):
        return False
    year, month, day, hour, minute, second = map(int, re.findall("[0-9]+", text))
    # 2000 and 0 are alike as years go; Python's calendar begins with year 1.
    return 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year or 2000, month)[1] and hour < 24 \
        and minute < 60 and second < 60


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_text(value):
    return isinstance(value, str)


def is_texts(value):
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


BUDGET_KEYS = ("BADownloadAllowance", "BAEssentialDownloadAllowance", "BAEssentialMaxInstallSize", "BAMaxInstallSize")
URL_CHARACTER = r"[!$-;=?-\[\]_a-z~]"  # printable ASCII without space " # < > \ ^ ` { | }
PACK_VALUES = {
    "contentRoot": matches("[0-9a-f]{64}"), "contentSize": is_integer, "delivery": matches("essential|prefetch|onDemand"),
    "files": is_integer, "id": matches("[A-Za-z0-9][A-Za-z0-9._-]{0,63}"), "install": matches("unpacked|packed"),
    "installSize": is_integer, "keyId": matches("[0-9a-f]{16}"), "maxFrame": is_integer, "sha256": matches("[0-9a-f]{64}"),
    "size": is_integer, "version": is_integer,
    "url": matches(rf"https://(?![:@/?])(?:(?![@/?]){URL_CHARACTER})+([/?]{URL_CHARACTER}*)?"),
}
OPTIONAL_PACK_VALUES = {"basePack": PACK_VALUES["id"], "created": is_time, "description": is_text, "name": is_text, "tags": is_texts,
                        "language": matches("(?s).+"), "platforms": is_texts}
DEFAULT_VALUES = {"base": matches(rf"https://(?![:@/?])(?:(?![@/?]){URL_CHARACTER})+/(?:(?!\?){URL_CHARACTER})*(?<=/)"),
                  "keyId": PACK_VALUES["keyId"]}
SIGNED_VALUES = {"expires": is_time, "packs": lambda value: isinstance(value, list), "version": is_integer}


def check_keys(value, required, optional, what):
    require(isinstance(value, dict), f"{what} is no object")
    for key in required:
        require(key in value, f"{what} has no {key}")
    for key, test in {**required, **optional}.items():
        require(key not in value or test(value[key]), f"{what} has another {key}: {value.get(key)}")


def read_pack_entry(pack, signed, implied=None):
    """§9.3: an entry with what `signed` and `implied` say for it; refused if it repeats that."""
    require(isinstance(pack, dict), "a pack is no object")
    said = {**(implied or {}), **{"keyId": signed[key] for key in ("keyId",) if key in signed}}
    if "base" in signed and PACK_VALUES["id"](pack.get("id")) and PACK_VALUES["sha256"](pack.get("sha256")):
        said["url"] = signed["base"] + f"{pack['id']}-{pack['sha256'][:16]}.pack"
    for key in said:
        require(pack.get(key) != said[key], f"a pack repeats its {key}")
    check_keys({**said, **pack}, PACK_VALUES, OPTIONAL_PACK_VALUES, "a pack")
    for key in ("description", "name"):
        require(pack.get(key) != "", f"an empty {key}")
    for key in ("platforms", "tags"):
        require(pack.get(key) != [], f"empty {key}")
    require(pack.get("name") != pack["id"], "a name that is the id")
    require(pack.get("basePack") != pack["id"], "a pack that is its own base")
    return {**said, **pack}


def root_id_of(public):
    """§9.6: keyid."""
    return sha256(label("root-key") + public)[:8].hex()


def public_text(prefix, name, public):
    """§2.5"""
    return f"{prefix}-{public.hex()}-{sha256(label(name) + public)[:4].hex()}"


def read_public_text(text, prefix, name):
    """§2.5: the 32 bytes of a public key, for a key that is one (§9.2)."""
    require(isinstance(text, str) and re.fullmatch(prefix + "-[0-9a-f]{64}-[0-9a-f]{8}", text) is not None, "a key text")
    public = bytes.fromhex(text[5:69])
    require(text == public_text(prefix, name, public), "the last part of a key text")
    require(decode_point(public) is not None, "a key that is none")
    return public


KEYS_VALUES = {"expires": is_time, "issued": is_time, "rootKeys": lambda value: isinstance(value, list), "rootThreshold": is_integer,
               "signingKeys": lambda value: isinstance(value, list), "signingThreshold": is_integer, "version": is_integer}


class KeysDocument:
    """§9.6: a keys document that was read whole."""

    def __init__(self, data):
        require(len(data) <= MAX_DOCUMENT, f"{len(data)} bytes")
        self.signatures, self.signed = read_outer(data, MAX_DOCUMENT_SIGNATURES)
        value = parse_canonical(self.signed, 4)
        require(isinstance(value.get("schema"), str), "no schema")
        require(value["schema"] == KEYS_SCHEMA, f"schema {value['schema']}", "unsupported")
        check_keys(value, KEYS_VALUES, {}, "signed")
        require(value["version"] >= 1, "version 0")
        self.version = value["version"]
        self.roots = self.keys(value["rootKeys"], "pkq1", "root-public-text", root_id_of)
        self.signers = self.keys(value["signingKeys"], "pkp1", "sig-public-text", key_id_of)
        require(not set(self.roots.values()) & set(self.signers.values()), "a key of both kinds")
        self.root_threshold, self.signing_threshold = value["rootThreshold"], value["signingThreshold"]
        require(1 <= self.root_threshold <= len(self.roots), "the threshold of root keys")
        require(1 <= self.signing_threshold <= len(self.signers), "the threshold of signing keys")

    @staticmethod
    def keys(texts, prefix, name, identify):
        require(1 <= len(texts) <= MAX_KEYS, f"{len(texts)} keys")
        publics = [read_public_text(text, prefix, name) for text in texts]
        require(all(left < right for left, right in zip(publics, publics[1:])), "the order of the keys")
        keys = {identify(public): public for public in publics}
        require(len(keys) == len(publics), "two keys with one id")
        return keys

    def require_signed_by(self, other):
        """Whether it is signed by the root keys of a document."""
        count = 0
        for keyid, signature in self.signatures:
            if keyid in other.roots:
                require(signature_holds(other.roots[keyid], label("keys") + self.signed, signature), f"the signature of {keyid}", "untrusted")
                count += 1
        require(count >= other.root_threshold, f"{count} signatures", "untrusted")

    def followed_by(self, documents, newest):
        """The newest document after those of a manifest, which `newest` is told one by one."""
        current = self
        newest.append(self)
        for data in documents:
            document = KeysDocument(data)
            if document.version <= current.version:
                continue
            document.require_signed_by(current)
            require(document.version == current.version + 1, f"version {document.version} after {current.version}", "untrusted")
            document.require_signed_by(document)
            current = document
            newest.append(document)
        return current


def read_manifest(data, trusted, embedded=None, newest=None):
    """§9: the value of `signed`, and the keyids that vouch for it. With an embedded keys document, `newest` gets those that count, in turn."""
    require(len(data) <= MAX_MANIFEST, f"{len(data)} bytes")
    documents, data = split_keys(data)
    signatures, signed = read_outer(data)
    threshold = 1
    if embedded is not None:
        first = KeysDocument(embedded)
        first.require_signed_by(first)
        keys = first.followed_by(documents, [] if newest is None else newest)
        trusted, threshold = list(keys.signers.values()), keys.signing_threshold
    signers = check_signatures(signatures, signed, trusted)
    require(len(signers) >= threshold, f"{len(signers)} of {threshold} signatures", "untrusted")
    value = parse_canonical(signed, 2)
    require(isinstance(value.get("schema"), str), "no schema")
    require(value["schema"] == SCHEMA, f"schema {value['schema']}", "unsupported")
    check_keys(value, SIGNED_VALUES, {"issued": is_time, **DEFAULT_VALUES}, "signed")
    if "budget" in value:
        check_keys(value["budget"], dict.fromkeys(BUDGET_KEYS, is_integer), {}, "budget")
    for pack in value["packs"]:
        read_pack_entry(pack, value)
    ids = [pack["id"] for pack in value["packs"]]
    require(len(set(ids)) == len(ids), "an id stands twice")
    if "pages" in value:
        check_references(value["pages"])
        require(len(value["pages"]) <= MAX_REFERENCES, f"{len(value['pages'])} pages")
        require("base" in value, "pages without a base")
    return value, signers


# ---------------------------------------------------------------------------------------------
# §9.7 Pages
# ---------------------------------------------------------------------------------------------

MAX_PAGE = 1 << 20
MAX_REFERENCES = 64
REFERENCE_VALUES = {"contentSize": is_integer, "count": is_integer, "first": is_text, "kind": matches("[a-z]{1,16}"),
                    "sha256": matches("[0-9a-f]{64}"), "size": is_integer}
PAGE_KEYS = {"packs": "packs", "tags": "tags", "updates": "updates", "index": "pages"}
MAX_DELTAS = 64
UPDATE_VALUES = {"deltas": lambda value: isinstance(value, list) and 1 <= len(value) <= MAX_DELTAS, "id": PACK_VALUES["id"]}
DELTA_VALUES = {"bases": lambda value: is_texts(value) and 1 <= len(value) <= 4 and all(map(PACK_VALUES["contentRoot"], value))
                and len(set(value)) == len(value),
                "sha256": PACK_VALUES["sha256"], "size": lambda value: is_integer(value) and value > 0}
OPTIONAL_DELTA_VALUES = {"target": PACK_VALUES["contentRoot"]}


def bytes_of(text):
    return text.encode("utf-8", "surrogatepass")


def most_entries(kind):
    return 4096 if kind == "tags" else 512


def check_references(references):
    """§9.7: a list of references."""
    require(isinstance(references, list) and references, "no list of pages")
    for reference in references:
        check_keys(reference, REFERENCE_VALUES, {"of": REFERENCE_VALUES["kind"]}, "a page")
        require(("of" in reference) == (reference["kind"] == "index"), "`of` belongs to index pages")
        require(reference.get("of") != "index", "an index page of index pages")
        require(1 <= reference["count"] <= most_entries(reference["kind"]), "count")
        require(1 <= reference["contentSize"] <= MAX_PAGE, "contentSize")
        require(1 <= reference["size"] <= bound(reference["contentSize"]), "size")
    keys = [(bytes_of(r.get("of", r["kind"])), bytes_of(r["first"])) for r in references]
    require(all(a < b for a, b in zip(keys, keys[1:])), "the order of the pages")


def page_name(reference):
    return f"{reference['kind']}-{reference['sha256'][:16]}.page"


def page_keys(kind, entries):
    """§9.7: the keys of the entries."""
    if kind == "tags":
        return [f"{entry['tag']}\t{name}" for entry in entries for name in entry["ids"]]
    return [entry["first" if kind == "index" else "id"] for entry in entries]


def check_update(entry):
    """§9.7: the deltas to a pack."""
    check_keys(entry, UPDATE_VALUES, {}, "an update")
    for delta in entry["deltas"]:
        check_keys(delta, DELTA_VALUES, OPTIONAL_DELTA_VALUES, "a delta")
        require(delta.get("target") not in delta["bases"], "a delta that makes one of its bases")
    digests = [delta["sha256"] for delta in entry["deltas"]]
    require(all(a < b for a, b in zip(digests, digests[1:])), "the order of the deltas")


def read_page(data, reference, end, signed):
    """§9.7: the entries of a page; `end` is the first key of the next page of its kind, or None."""
    require(len(data) == reference["size"] and sha256(data).hex() == reference["sha256"], "another file than the reference names")
    content = decompress(data, check_frame(data, exactly=reference["contentSize"]))
    value = parse_canonical(content, 1)
    kind = reference["kind"]
    require(isinstance(value, dict) and isinstance(value.get(PAGE_KEYS[kind]), list), "no such list")
    entries = value[PAGE_KEYS[kind]]
    if kind == "packs":
        entries = [read_pack_entry(entry, signed, {"delivery": "onDemand"}) for entry in entries]
        require(all(entry["delivery"] == "onDemand" for entry in entries), "a delivery in a page")
        require(not {entry["id"] for entry in entries} & {pack["id"] for pack in signed["packs"]}, "an id that the manifest lists")
    elif kind == "tags":
        for entry in entries:
            check_keys(entry, {"ids": is_texts, "tag": matches("[^\0-\x1f]*")}, {}, "a tag")
            require(entry["ids"] and all(map(PACK_VALUES["id"], entry["ids"])), "the ids of a tag")
        tags = [bytes_of(entry["tag"]) for entry in entries]
        require(all(a < b for a, b in zip(tags, tags[1:])), "the order of the tags")
    elif kind == "updates":
        for entry in entries:
            check_update(entry)
    else:
        check_references(entries)
        require(all(entry["kind"] == reference["of"] for entry in entries), "an index page with another kind")
    keys = page_keys(kind, entries)
    order = list(map(bytes_of, keys))
    require(len(keys) == reference["count"] and keys[0] == reference["first"], "count or first key")
    require(all(a < b for a, b in zip(order, order[1:])), "the order of the keys")
    require(end is None or order[-1] < bytes_of(end), "a key of the next page")
    return entries


def end_of_page(references, index):
    """§9.7: the first key of the next page of the kind."""
    kind = references[index].get("of", references[index]["kind"])
    return next((r["first"] for r in references[index + 1:] if r.get("of", r["kind"]) == kind), None)


def tag_groups(pairs):
    groups = []
    for tag, name in pairs:
        if not groups or groups[-1]["tag"] != tag:
            groups.append({"ids": [], "tag": tag})
        groups[-1]["ids"].append(name)
    return groups


def page_content(kind, entries):
    return canonical_json({PAGE_KEYS[kind]: tag_groups(entries) if kind == "tags" else entries}).encode("utf-8")


def cut_pages(kind, entries):
    """§9.7: runs of sorted entries; those of tags are pairs."""
    most = most_entries(kind)
    least = most // 8
    runs, size = [[]], 0
    for entry in entries:
        # At least what the entry adds, so that the content is made only where its length may matter.
        growth = 40 + len(canonical_json(list(entry) if kind == "tags" else entry).encode("utf-8"))
        size = size + growth if runs[-1] else growth
        if runs[-1] and size > MAX_PAGE and len(page_content(kind, [*runs[-1], entry])) > MAX_PAGE:
            runs.append([])
            size = growth
        runs[-1].append(entry)
        key = "\t".join(entry) if kind == "tags" else page_keys(kind, [entry])[0]
        if len(runs[-1]) == most or len(runs[-1]) >= least and number(sha256(bytes_of(key)), 0, 2) % least == 0:
            runs.append([])
    return [run for run in runs if run]


def make_page(kind, entries, of=None, codec=run_frame):
    """§9.7: the reference and the file."""
    content = page_content(kind, entries)
    data = codec(content)
    first = "\t".join(entries[0]) if kind == "tags" else page_keys(kind, entries[:1])[0]
    reference = {"contentSize": len(content), "count": len(entries), "first": first, "kind": kind, "sha256": sha256(data).hex(),
                 "size": len(data), **({"of": of} if of else {})}
    return reference, data


def update_entry(name, deltas, root):
    """§9.7: the entry for a pack with this content root; each delta says what it makes."""
    entries = [{key: value for key, value in delta.items() if key != "target" or value != root} for delta in deltas]
    return {"deltas": sorted(entries, key=lambda delta: delta["sha256"]), "id": name}


def make_pages(packs, updates=(), codec=zstd_frame):
    """§9.7: the references for `signed` and the files by name, for entries as they stand in a page."""
    packs, updates = (sorted(entries, key=lambda entry: entry["id"]) for entries in (packs, updates))
    pairs = sorted({(tag, pack["id"]) for pack in packs for tag in pack.get("tags", ())}, key=lambda pair: bytes_of("\t".join(pair)))
    pages = [make_page(kind, run, codec=codec) for kind, entries in (("packs", packs), ("tags", pairs), ("updates", updates))
             for run in cut_pages(kind, entries)]
    files = dict(pages_by_name(pages))
    if len(pages) > MAX_REFERENCES:
        pages = [make_page("index", run, of=kind, codec=codec) for kind in ("packs", "tags", "updates")
                 for run in cut_pages("index", [r for r, _ in pages if r["kind"] == kind])]
        files.update(pages_by_name(pages))
    return [reference for reference, _ in pages], files


def pages_by_name(pages):
    return ((page_name(reference), data) for reference, data in pages)


def sample_entries(count):
    """§9.7, the known answers."""
    return [{"contentRoot": sha256(b"root %d" % i).hex(), "contentSize": 2000 + i, "files": 3, "id": f"level-{i:06}", "install": "unpacked",
             "installSize": 8192, "maxFrame": 1000, "sha256": sha256(b"pack %d" % i).hex(), "size": 1000 + i,
             "tags": ["all", f"world-{i // 50}"], "version": 1 + i % 7} for i in range(count)]


def sample_updates(count, most=MAX_DELTAS):
    """§9.7, the known answers."""
    return [update_entry(f"level-{i:06}", (sample_delta(i, j) for j in range(1 + i % most)), sha256(b"root %d" % i).hex()) for i in range(count)]


def sample_delta(i, j):
    return {"bases": [sha256(b"base %d %d %d" % (i, j, k)).hex() for k in range(1 + j % 4)], "sha256": sha256(b"delta %d %d" % (i, j)).hex(),
            "size": 1 + j, "target": sha256(b"target %d %d" % (i, j) if j % 2 else b"root %d" % i).hex()}


# ---------------------------------------------------------------------------------------------
# §10.3 Test vectors: pages
# ---------------------------------------------------------------------------------------------

PageVector = namedtuple("PageVector", "name expect comment signed page data keys")
PAGE_FOLDER = "pages"


def page_vector(name, expect, comment, signed, page, data):
    keys = []
    if expect == "ok":
        references = signed["pages"]
        keys = page_keys(references[page]["kind"], read_page(data, references[page], end_of_page(references, page), signed))
    return PageVector(name, expect, comment, signed, page, data, keys)


def page_vector_bytes(vector):
    lines = [f"expect: {vector.expect}", f"signed: {canonical_json(vector.signed)}", f"page: {vector.page}", f"comment: {vector.comment}",
             *(f"key: {canonical_json(key)}" for key in vector.keys)]
    return "".join(line + "\n" for line in lines).encode("utf-8") + b"\n" + vector.data


def parse_page_vector(name, data):
    head, separator, body = data.partition(b"\n\n")
    values = {"expect": [], "signed": [], "page": [], "comment": [], "key": []}
    for line in head.decode("utf-8").split("\n"):
        key, colon, value = line.partition(": ")
        if not (separator and colon) or key not in values:
            raise Problem(f"{name}: the head of the vector: {line}")
        values[key].append(value)
    return PageVector(name, values["expect"][0], values["comment"][0], json.loads(values["signed"][0]), int(values["page"][0]), body,
                      list(map(json.loads, values["key"])))


def check_page_vector(vector, verbose):
    """The problems of a vector, as texts."""
    references = vector.signed["pages"]
    try:
        entries = read_page(vector.data, references[vector.page], end_of_page(references, vector.page), vector.signed)
    except Refused as error:
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif page_keys(references[vector.page]["kind"], entries) != vector.keys:
        yield "the keys differ"


def signed_with(*references, **changes):
    return kat_signed(packs=[kat_pack(url=None, keyId=None)], pages=list(references), **DEFAULTS, **changes)


def valid_pages():
    few = sample_entries(3)
    reference, data = make_page("packs", few)
    after, _ = make_page("packs", sample_entries(6)[4:])
    tags = [("all", "a"), ("all", "b"), ("boss \"x\"", "b"), ("höhle", "a")]
    tag_reference, tag_data = make_page("tags", tags)

    def good(name, comment, data, *references, page=0):
        return page_vector(name, "ok", comment, signed_with(*references), page, data)

    yield good("packs", "three packs, the only page", data, reference)
    yield good("packs-before-another", "a page that ends before another", data, reference, after)
    yield good("packs-before-tags", "the next page is of another kind, with a lower key", data, reference, tag_reference)
    yield good("tags", "pairs, with a tag of several words and one beyond ASCII", tag_data, reference, tag_reference, page=1)
    own = [{**few[0], "description": "Snow.", "keyId": "0123456789abcdef", "language": "de", "name": "Level", "platforms": ["iOS"],
            "url": "https://example.com/l.pack?a"}, {**few[1], "tags": None}]
    own = [{key: value for key, value in entry.items() if value is not None} for entry in own]
    own_reference, own_data = make_page("packs", own)
    yield good("packs-all-keys", "an entry with every key, and one without tags", own_data, own_reference)
    content = page_content("packs", few)
    for name, comment, data in (
            ("packs-zstd", "compressed by the library", zstd_frame(content)),
            ("packs-raw", "one raw block", raw_frame(content)),
            ("packs-unknown-keys", "keys that readers pass over",
             run_frame(canonical_json({"a": [1], "packs": [{**entry, "zone": {}} for entry in few], "tags": 1}).encode()))):
        size, _, _ = frame_content_size(data)
        yield good(name, comment, data, {**reference, "size": len(data), "sha256": sha256(data).hex(), "contentSize": size})
    index_reference, index_data = make_page("index", [reference, after], of="packs")
    yield good("index", "two references", index_data, index_reference)
    reserved = {**reference, "kind": "updates"}
    yield good("packs-before-updates", "a reference of a reserved kind is passed over", data_of(few), reference, reserved)


def data_of(entries):
    return make_page("packs", entries)[1]


def content_vector(name, expect, comment, kind, value, first, count, *after, of=None):
    """A page of this JSON, with a reference that fits and the references `after` it."""
    value = value if isinstance(value, bytes) else canonical_json(value).encode("utf-8")
    frame = run_frame(value)
    reference = {"contentSize": len(value), "count": count, "first": first, "kind": kind, "size": len(frame), "sha256": sha256(frame).hex(),
                 **({"of": of} if of else {})}
    return page_vector(name, expect, comment, signed_with(reference, *after), 0, frame)


def damaged_pages():
    few = sample_entries(3)
    reference, data = make_page("packs", few)
    after, after_data = make_page("packs", sample_entries(6)[4:])
    pairs = [("all", "a"), ("all", "b"), ("boss", "b")]

    def bad(name, comment, data, *references, page=0, **changes):
        return page_vector(name, "damaged", comment, signed_with(*references, **changes), page, data)

    def content(name, comment, kind, value, first, count, of=None):
        return content_vector(name, "damaged", comment, kind, value, first, count, of=of)

    yield bad("file-empty", "no byte", b"", reference)
    yield bad("file-truncated", "the last byte is missing", data[:-1], reference)
    yield bad("file-longer", "a byte too many", data + b"\0", reference)
    yield bad("file-changed", "a bit of a digest inside differs", flip(data, 60), reference)
    yield bad("file-swapped", "the bytes of the next page", after_data, reference, after)
    yield bad("file-of-another-release", "the page of another release, of the same size", data_of([{**few[0], "version": 2}, *few[1:]]), reference)
    yield bad("file-html", "the page of a server that does not have it", b"<!DOCTYPE html><title>404</title>", reference)

    def frame(name, comment, data, **changes):
        return bad(name, comment, data, {**reference, "size": len(data), "sha256": sha256(data).hex(), **changes})

    text = page_content("packs", few)
    yield frame("frame-none", "the JSON without compression", text[:bound(len(text))])
    yield frame("frame-size-smaller", "the reference says less than the frame", data, contentSize=len(text) - 1)
    yield frame("frame-size-bigger", "the reference says more than the frame", data, contentSize=len(text) + 1)
    yield frame("frame-bomb", "a frame that says it expands to 64 MiB",
                frame_header(64 << 20) + b"".join(zstd_block(1, 128 << 10, b" ", last) for last in (False, True)))
    yield frame("frame-expands-to-more", "a frame whose blocks are longer than it says",
                frame_header(len(text)) + zstd_block(1, 128 << 10, b" ", True))
    yield frame("frame-two", "two frames", run_frame(text[:100]) + run_frame(text[100:]))
    yield frame("frame-skippable-behind", "a skippable frame behind it", data + skippable(0x184D2A50, b""))
    yield frame("frame-checksum", "a frame with a checksum", zstandard.ZstdCompressor(write_checksum=True).compress(text))
    yield frame("frame-window", "a window above the content size", frame_header(len(text), window=0x50) + zstd_block(0, len(text), text, True))

    first = few[0]["id"]
    yield content("json-space", "a space behind a colon", "packs", text.replace(b'"packs":', b'"packs": '), first, 3)
    yield content("json-behind", "a line end behind the content", "packs", text + b"\n", first, 3)
    yield content("json-array", "an array", "packs", few, first, 3)
    yield content("json-null", "null as the value of an unknown key", "packs", b'{"a":null,' + text[1:], first, 3)
    yield content("packs-other-list", "the list of another kind", "packs", {"pages": few}, first, 3)
    yield content("packs-none", "no entry", "packs", {"packs": []}, first, 1)
    yield content("packs-unsorted", "ids that descend", "packs", {"packs": few[::-1]}, few[-1]["id"], 3)
    yield content("packs-twice", "an id twice", "packs", {"packs": [few[0], few[0]]}, first, 2)
    yield content("packs-count", "another number of entries", "packs", {"packs": few}, first, 2)
    yield content("packs-first", "another first key", "packs", {"packs": few}, first[:-1], 3)
    yield content("packs-513", "an entry too many", "packs", {"packs": sample_entries(513)}, first, 512)
    yield content("packs-in-manifest", "an id that the manifest itself lists", "packs", {"packs": [{**few[0], "id": "core"}]}, "core", 1)
    for name, comment, changes in (
            ("delivery", "an entry that says how it is delivered", {"delivery": "onDemand"}),
            ("essential", "an essential pack", {"delivery": "essential"}), ("no-size", "an entry without size", {"size": None}),
            ("id", "an id that is no pack name", {"id": "../core"}), ("key-id-repeated", "the key id of all packs", {"keyId": DEFAULTS["keyId"]}),
            ("url-http", "a URL without TLS", {"url": "http://example.com/a.pack"}), ("name-id", "a name that is the id", {"name": first})):
        entry = {key: value for key, value in {**few[0], **changes}.items() if value is not None}
        yield content(f"packs-{name}", comment, "packs", {"packs": [entry]}, entry["id"], 1)
    yield bad("packs-beyond", "keys that belong to the next page", data, reference, {**after, "first": few[2]["id"]})

    groups = tag_groups(pairs)
    yield content("tags-unsorted", "tags that descend", "tags", {"tags": groups[::-1]}, "boss\tb", 3)
    yield content("tags-in-two-groups", "a tag in two groups", "tags", {"tags": [{"ids": ["a"], "tag": "all"}, {"ids": ["b"], "tag": "all"}]},
                  "all\ta", 2)
    yield content("tags-ids-unsorted", "ids that descend", "tags", {"tags": [{"ids": ["b", "a"], "tag": "all"}]}, "all\tb", 2)
    yield content("tags-ids-twice", "an id twice", "tags", {"tags": [{"ids": ["a", "a"], "tag": "all"}]}, "all\ta", 2)
    yield content("tags-no-ids", "a tag without ids", "tags", {"tags": [{"ids": [], "tag": "all"}, *groups[1:]]}, "boss\tb", 1)
    yield content("tags-id", "an id that is no pack name", "tags", {"tags": [{"ids": ["a/b"], "tag": "all"}]}, "all\ta/b", 1)
    yield content("tags-tab", "a tag with a tab", "tags", {"tags": [{"ids": ["a"], "tag": "a\tb"}]}, "a\tb\ta", 1)
    yield content("tags-text", "a tag that is no object", "tags", {"tags": ["all"]}, "all\ta", 1)

    yield content("index-other-kind", "a page of another kind", "index", {"pages": [reference]}, reference["first"], 1, of="tags")
    inner, _ = make_page("index", [reference, after], of="packs")
    yield content("index-of-index", "an index page in an index page", "index", {"pages": [inner]}, inner["first"], 1, of="packs")
    yield content("index-unsorted", "pages that descend", "index", {"pages": [after, reference]}, after["first"], 2, of="packs")
    yield content("index-twice", "two pages with one first key", "index", {"pages": [reference, reference]}, reference["first"], 2, of="packs")


def few_updates():
    """Updates to three packs, with one, two and three deltas."""
    return sample_updates(3)


def small_delta(digest="10", **changes):
    """A delta with digests that say which one it is; a change to None takes a key out."""
    delta = {"bases": ["a1" * 32], "sha256": digest * 32, "size": 100, **changes}
    return {key: value for key, value in delta.items() if value is not None}


def small_update(*deltas, name="level-000000"):
    return {"deltas": list(deltas) or [small_delta()], "id": name}


def nested(depth):
    """Arrays in one another."""
    return [nested(depth - 1)] if depth > 1 else []


def valid_updates():
    def good(name, comment, entries, *after):
        return content_vector(f"updates-{name}" if name else "updates", "ok", comment, "updates", {"updates": entries}, entries[0]["id"],
                              len(entries), *after)

    few = few_updates()
    reference, data = make_page("updates", few)
    after, _ = make_page("updates", sample_updates(6)[4:])
    packs, _ = make_page("packs", sample_entries(6)[4:])
    yield good("", "a delta to a pack", few[:1])
    yield good("several", "deltas to three packs, some to another content root", few)
    yield good("four-bases", "a delta over four bases, which do not ascend",
               [small_update(small_delta(bases=[digit * 64 for digit in "d0c1"], target="ab" * 32))])
    yield good("64-deltas", "as many deltas as there may be", [small_update(*(small_delta(f"{i:02x}", size=i + 1) for i in range(64)))])
    yield good("before-another", "a page that ends before another", few, after)
    yield good("before-unknown", "the next page is of a kind that readers pass over, with a lower key", few,
               {**packs, "first": "a", "kind": "zones"})
    yield page_vector("updates-after-packs", "ok", "the page before is of another kind, with a higher key", signed_with(packs, reference), 1, data)
    yield good("in-manifest", "deltas to a pack that the manifest itself lists", [small_update(name="core")])
    yield good("sizes", "the smallest and the largest size", [small_update(small_delta(size=1), small_delta("20", size=MAX_INTEGER))])
    yield good("ids", "ids in the order of their bytes, the last with 64 characters",
               [small_update(name=name) for name in ("0", "A", "a", "a-b", "a.b", "a0", "aB", "a_b", "ab", "z" * 64)])
    yield good("bases-alike", "two deltas over the same bases", [small_update(small_delta(), small_delta("20"))])
    yield good("digest-alike", "deltas to two packs with one digest", [small_update(), small_update(name="level-000001")])
    yield good("chain", "a chain of three deltas, not in the order in which they apply",
               [small_update(small_delta(bases=["b2" * 32], target="c3" * 32), small_delta("20", bases=["c3" * 32]), small_delta("30", target="b2" * 32))])
    yield good("circle", "two deltas of which each makes the base of the other",
               [small_update(small_delta(target="b2" * 32), small_delta("20", bases=["b2" * 32], target="a1" * 32))])
    yield content_vector("updates-unknown-keys", "ok", "keys that readers pass over: of the page, of an entry and of a delta", "updates",
                         {"packs": 1, "updates": [{**few[0], "target": 1, "url": []}, small_update(small_delta(base="", id=True, zone={}),
                                                                                                name="level-000001")]}, few[0]["id"], 2)
    yield good("depth-8", "arrays down to depth 8 as the value of an unknown key", [small_update(small_delta(a=nested(3)))])
    index, index_data = make_page("index", [reference, after], of="updates")
    last, _ = make_page("updates", sample_updates(10)[8:])
    yield page_vector("index-updates", "ok", "two references to pages of updates", signed_with(index), 0, index_data)
    yield page_vector("index-updates-before-another", "ok", "an index page that ends before a page of updates", signed_with(index, last), 0, index_data)


def damaged_updates():
    def bad(name, comment, value, first="level-000000", count=1, *after):
        return content_vector(f"updates-{name}", "damaged", comment, "updates", value, first, count, *after)

    few = few_updates()
    reference, data = make_page("updates", few)
    after, after_data = make_page("updates", sample_updates(6)[4:])
    first, text = few[0]["id"], page_content("updates", few[:1])
    yield page_vector("file-updates-swapped", "damaged", "the bytes of the next page of updates", signed_with(reference, after), 0, after_data)
    yield page_vector("file-updates-changed", "damaged", "a bit of a digest of a delta differs", signed_with(reference), 0, flip(data, 60))

    yield bad("other-list", "the list of another kind", {"packs": few}, first, 3)
    yield bad("list-object", "updates that are no array", {"updates": {}})
    yield bad("list-missing", "no updates", {})
    yield bad("none", "no entry", {"updates": []})
    yield bad("text", "an entry that is no object", {"updates": [first]})
    yield bad("array", "an entry that is an array", {"updates": [[small_delta()]]})
    yield content_vector("packs-as-updates", "damaged", "packs where the reference says updates", "updates", {"updates": sample_entries(3)}, first, 3)
    yield content_vector("updates-as-packs", "damaged", "updates where the reference says packs", "packs", {"packs": few}, first, 3)
    yield bad("unsorted", "ids that descend", {"updates": few[::-1]}, few[-1]["id"], 3)
    yield bad("unsorted-bytes", "ids in an order without regard to case", {"updates": [small_update(name="a"), small_update(name="B")]}, "a", 2)
    yield bad("twice", "an id twice", {"updates": [small_update(), small_update(small_delta("20"))]}, first, 2)
    yield bad("count-less", "more entries than the reference says", {"updates": few}, first, 2)
    yield bad("count-more", "fewer entries than the reference says", {"updates": few}, first, 4)
    yield bad("count-of-deltas", "the number of deltas as that of entries", {"updates": few}, first, 6)
    yield bad("first", "another first key", {"updates": few}, first[:-1], 3)
    yield bad("first-of-deltas", "the digest of a delta as the first key", {"updates": few[:1]}, few[0]["deltas"][0]["sha256"])
    yield bad("513", "an entry too many", {"updates": [small_update(name=f"{i:03}") for i in range(513)]}, "000", 512)
    yield page_vector("updates-beyond", "damaged", "keys that belong to the next page", signed_with(reference, {**after, "first": few[2]["id"]}), 0, data)
    late, _ = make_page("index", [after], of="updates")
    yield page_vector("updates-beyond-index", "damaged", "keys that belong to the index page behind it",
                      signed_with(reference, {**late, "first": few[1]["id"]}), 0, data)

    for name, comment, old, new in (
            ("space", "a space behind a comma", b',"size"', b', "size"'),
            ("key-order", "the keys of a delta in another order", b'"size":1}],"id"', b'"size":1,"a":1}],"id"'),
            ("entry-key-order", "the keys of an entry in another order", b'{"deltas"', b'{"id":"level-000000","deltas"'),
            ("key-twice", "a key of a delta twice", b'"size":1', b'"size":1,"size":1'),
            ("target-null", "null as the target", b'"size":1', b'"size":1,"target":null'),
            ("size-negative", "a negative size", b'"size":1', b'"size":-1'),
            ("size-fraction", "a size with a fraction", b'"size":1', b'"size":1.0'),
            ("size-exponent", "a size with an exponent", b'"size":1', b'"size":1e3'),
            ("size-leading-zero", "a size with a leading zero", b'"size":1', b'"size":01'),
            ("size-2-53", "a size of 2^53", b'"size":1', b'"size":%d' % (MAX_INTEGER + 1)),
            ("id-escape", "an escape of a letter in an id", b'"level-', b'"\\u006cevel-')):
        assert text.count(old) == 1
        changed = text.replace(old, new)
        if name == "entry-key-order":
            changed = changed.replace(b',"id":"level-000000"}', b"}")
        yield bad(name, comment, changed)
    yield bad("depth-9", "arrays down to depth 9 as the value of an unknown key", {"updates": [small_update(small_delta(a=nested(4)))]})

    def entry(name, comment, *deltas):
        return bad(name, comment, {"updates": [small_update(*deltas)]})

    for key in ("deltas", "id"):
        yield bad(f"without-{key}", f"an entry without {key}", {"updates": [{k: v for k, v in small_update().items() if k != key}]})
    for name, comment, deltas in (
            ("none", "an entry without a delta", []), ("65", "a delta too many", [small_delta(f"{i:02x}") for i in range(65)]),
            ("object", "deltas that are no array", small_delta()), ("text", "a delta that is no object", ["10" * 32]),
            ("array", "a delta that is an array", [[small_delta()]])):
        yield bad(f"deltas-{name}", comment, {"updates": [{"deltas": deltas, "id": first}]})
    yield entry("deltas-unsorted", "deltas that descend", small_delta("20"), small_delta("10"))
    yield entry("deltas-unsorted-late", "the last two deltas descend", small_delta("10"), small_delta("30"), small_delta("20"))
    yield entry("deltas-by-size", "deltas in the order of their sizes", small_delta("20", size=1), small_delta("10", size=2))
    yield entry("deltas-twice", "a delta twice", small_delta(), small_delta())
    yield entry("deltas-digest-twice", "two deltas with one digest", small_delta(), small_delta(bases=["b2" * 32], size=101))
    for name, comment, value in (
            ("path", "an id that is no pack name", "../core"), ("empty", "an empty id", ""), ("65", "an id of 65 characters", "a" * 65),
            ("dot", "an id that begins with a dot", ".core"), ("slash", "an id with a slash", "a/b"), ("not-ascii", "an id beyond ASCII", "höhle"),
            ("line-end", "an id with a line end", "core\n")):
        yield bad(f"id-{name}", comment, {"updates": [small_update(name=value)]}, value)
    yield bad("id-integer", "an id that is no text", {"updates": [small_update(name=1)]}, "1")

    for key in small_delta():
        yield entry(f"delta-without-{key}", f"a delta without {key}", small_delta(**{key: None}))
    a, b, c, d, e = (letter * 64 for letter in "abcde")
    for name, comment, changes in (
            ("bases-none", "a delta over no base", {"bases": []}), ("bases-5", "a delta over five bases", {"bases": [a, b, c, d, e]}),
            ("bases-twice", "a base twice", {"bases": [a, a]}), ("bases-twice-apart", "the first base once more as the fourth", {"bases": [a, b, c, a]}),
            ("bases-text", "bases that are no array", {"bases": a}), ("bases-object", "bases in an object", {"bases": {a: 1}}),
            ("base-integer", "a base that is no text", {"bases": [a, 1]}), ("base-array", "a base in an array", {"bases": [[a]]}),
            ("base-short", "a base of 63 digits", {"bases": [a[1:]]}), ("base-long", "a base of 65 digits", {"bases": [a + "a"]}),
            ("base-upper-case", "a base in upper case", {"bases": [a.upper()]}), ("base-not-hex", "a base that is no hex", {"bases": [a[1:] + "g"]}),
            ("base-empty", "an empty base", {"bases": [""]}), ("base-last-short", "a fourth base of 63 digits", {"bases": [a, b, c, d[1:]]}),
            ("target-base", "a delta that makes its base", {"target": "a1" * 32}),
            ("target-base-last", "a delta that makes its fourth base", {"bases": [a, b, c, d], "target": d}),
            ("target-short", "a target of 63 digits", {"target": a[1:]}), ("target-long", "a target of 65 digits", {"target": a + "a"}),
            ("target-upper-case", "a target in upper case", {"target": a.upper()}), ("target-empty", "an empty target", {"target": ""}),
            ("target-integer", "a target that is no text", {"target": 1}), ("target-array", "a target in an array", {"target": [a]}),
            ("target-false", "a target that is false", {"target": False}),
            ("digest-short", "a digest of 63 digits", {"sha256": a[1:]}), ("digest-long", "a digest of 65 digits", {"sha256": a + "a"}),
            ("digest-upper-case", "a digest in upper case", {"sha256": a.upper()}), ("digest-integer", "a digest that is no text", {"sha256": 1}),
            ("size-0", "a delta without a byte", {"size": 0}), ("size-text", "a size that is a text", {"size": "100"}),
            ("size-true", "a size that is true", {"size": True}), ("size-array", "a size in an array", {"size": [100]})):
        yield entry(name, comment, small_delta(**changes))
    yield bad("last-delta", "a fault in the last delta of the last pack",
              {"updates": [small_update(), small_update(small_delta("10"), small_delta("20", size=0), name="level-000001")]}, first, 2)

    packs, _ = make_page("packs", sample_entries(3))

    def index(name, comment, references, of="updates", count=None):
        return content_vector(f"index-updates-{name}", "damaged", comment, "index", {"pages": references}, references[0]["first"],
                              count or len(references), of=of)

    yield index("packs", "a page of packs in an index page of updates", [packs])
    yield index("in-packs", "a page of updates in an index page of packs", [reference], of="packs")
    yield index("both", "a page of packs before a page of updates", [packs, reference])
    yield index("unsorted", "pages of updates that descend", [after, reference])
    yield index("twice", "two pages of updates with one first key", [reference, {**after, "first": first}])
    yield index("count", "another number of pages of updates", [reference, after], count=1)
    yield index("513", "a page of updates with too many entries", [{**reference, "count": 513}])
    inner, _ = make_page("index", [reference], of="updates")
    yield index("of-index", "an index page in an index page of updates", [inner])
    index_reference, index_data = make_page("index", [reference, after], of="updates")
    yield page_vector("index-updates-beyond", "damaged", "a page that belongs behind the index page",
                      signed_with(index_reference, after), 0, index_data)


def all_page_vectors():
    return [*valid_pages(), *damaged_pages(), *valid_updates(), *damaged_updates()]


# ---------------------------------------------------------------------------------------------
# §10.2 Test vectors: manifests
# ---------------------------------------------------------------------------------------------

ManifestVector = namedtuple("ManifestVector", "name expect comment data trust version signers packs embed keys", defaults=(None, None))
SEED = bytes(range(32))
NEXT_SEED, STRANGE_SEED = bytes(range(32, 64)), bytes(range(64, 96))
MANIFEST_FOLDER = "manifest"


def manifest_vector(name, expect, comment, data, trust=None):
    trust = [public_key(SEED)] if trust is None else trust
    version, signers, packs = None, [], []
    if expect == "ok":
        value, signers = read_manifest(data, trust)
        version = value["version"]
        packs = [(pack["id"], pack["version"], pack["size"]) for pack in value["packs"]]
    return ManifestVector(name, expect, comment, data, trust, version, signers, packs)


def keys_vector(name, expect, comment, data, embed):
    """A vector for an app that embeds a keys document."""
    newest, version, signers, packs = [], None, [], []
    try:
        value, signers = read_manifest(data, [], embed, newest)
        version = value["version"]
        packs = [(pack["id"], pack["version"], pack["size"]) for pack in value["packs"]]
    except Refused:
        pass
    return ManifestVector(name, expect, comment, data, [], version, signers, packs, embed, newest[-1].version if newest else 1)


def manifest_vector_bytes(vector):
    """§10.2"""
    lines = [f"expect: {vector.expect}", *(f"trust: {key.hex()}" for key in vector.trust), f"comment: {vector.comment}"]
    if vector.embed is not None:
        lines += [f"embed: {vector.embed.decode()}", f"keys: {vector.keys}"]
    if vector.version is not None:
        lines += [f"version: {vector.version}", *(f"signer: {signer}" for signer in vector.signers)]
        lines += [f"pack: {name} {version} {size}" for name, version, size in vector.packs]
    return "".join(line + "\n" for line in lines).encode("utf-8") + b"\n" + vector.data


def parse_manifest_vector(name, data):
    head, separator, body = data.partition(b"\n\n")
    values = {"expect": [], "trust": [], "comment": [], "version": [], "signer": [], "pack": [], "embed": [], "keys": []}
    for line in head.decode("utf-8").split("\n"):
        key, colon, value = line.partition(": ")
        if not (separator and colon) or key not in values:
            raise Problem(f"{name}: the head of the vector: {line}")
        values[key].append(value)
    packs = [(pack.split(" ")[0], *map(int, pack.split(" ")[1:])) for pack in values["pack"]]
    return ManifestVector(name, values["expect"][0], values["comment"][0], body, list(map(bytes.fromhex, values["trust"])),
                          int(values["version"][0]) if values["version"] else None, values["signer"], packs,
                          values["embed"][0].encode("utf-8") if values["embed"] else None, int(values["keys"][0]) if values["keys"] else None)


def check_manifest_vector(vector, verbose):
    """The problems of a vector, as texts."""
    newest = []
    try:
        value, signers = read_manifest(vector.data, vector.trust, vector.embed, newest)
    except Refused as error:
        if newest and newest[-1].version != vector.keys:
            yield f"keys {vector.keys}, reader stays at {newest[-1].version}"
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    if newest and newest[-1].version != vector.keys:
        yield f"keys {vector.keys}, reader goes to {newest[-1].version}"
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif (value["version"], signers) != (vector.version, vector.signers):
        yield f"version {value['version']}, signers {signers}"
    elif [(pack["id"], pack["version"], pack["size"]) for pack in value["packs"]] != vector.packs:
        yield "the packs differ"


def kat_signed(**changes):
    """The value of §9.5; a change to None takes a key out."""
    value = {"schema": SCHEMA, "version": 1, "expires": "2027-01-01T00:00:00Z", "packs": [], **changes}
    return {key: item for key, item in value.items() if item is not None}


def kat_pack(**changes):
    value = {
        "id": "core", "version": 7, "url": "https://cdn.example.com/packs/core-0123456789abcdef.pack", "size": 12345,
        "sha256": "0123456789abcdef" * 4, "contentRoot": "fedcba9876543210" * 4, "contentSize": 54321, "installSize": 61440,
        "files": 3, "maxFrame": 32768, "keyId": "e545120e613dd715", "delivery": "essential", "install": "unpacked", **changes}
    return {key: item for key, item in value.items() if item is not None}


DEFAULTS = {"base": "https://cdn.example.com/packs/", "keyId": "e545120e613dd715"}


def full_manifest():
    """Every key that a writer writes, and texts that need care."""
    budget = dict(zip(BUDGET_KEYS, (2_000_001, 112_345, 70_000, 5_000_000)))
    core = kat_pack(
        created="2026-07-01T12:00:00Z", description="What the app needs first.\n\t\"Boot\" \\ menu\u0001\u007f", name="Kern – コア",
        tags=["boot", "menu"], language="de-CH", platforms=["iOS", "macOS"], url=None, keyId=None)
    level = kat_pack(
        id="level-1", version=MAX_INTEGER, url="https://cdn.example.com:8443/packs/level-1-fedcba9876543210.pack?v=1", size=MAX_INTEGER,
        delivery="onDemand", install="packed", created="2026-06-30T23:59:59Z", name="🎮", keyId="0123456789abcdef")
    return kat_signed(version=42, issued="2026-07-05T00:00:00Z", budget=budget, packs=[core, level], **DEFAULTS)


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
    forged = b'{"signatures":' + canonical_json([entry]).encode() + b',"signed":' + signed + b"}"
    yield bad("key-of-small-order", "a trusted key of order 1, under which anybody can sign", forged, [small])
    yield bad("not-read-before-trust", "a signed part that is no JSON, signed by an unknown key: the signature counts first",
              make_manifest(b'{"schema":nonsense}', [STRANGE_SEED]))


def damaged_manifests():
    """§9.1, §9.3: everything here is signed by the trusted key."""
    data = make_manifest(kat_signed(packs=[kat_pack()]), [SEED])

    def bad(name, comment, data):
        return manifest_vector(name, "damaged", comment, data)

    def text(name, comment, *changes, base=None):
        """The signed bytes with texts replaced."""
        signed = canonical_json(base or kat_signed(a="b", packs=[kat_pack()])).encode()
        for old, new in changes:
            old, new = (part if isinstance(part, bytes) else part.encode("utf-8") for part in (old, new))
            assert signed.count(old) == 1, (name, old, signed)
            signed = signed.replace(old, new)
        return bad(name, comment, make_manifest(signed, [SEED]))

    yield bad("empty", "no byte", b"")
    yield bad("outer-bom", "a byte order mark", b"\xef\xbb\xbf" + data)
    yield bad("outer-line-end", "a final line end", data + b"\n")
    yield bad("outer-space", "a space behind a comma", data.replace(b',"signed"', b', "signed"'))
    yield bad("outer-html", "the page of a server that does not have it", b"<!DOCTYPE html><title>404</title>")
    yield bad("outer-truncated", "the last byte is missing", data[:-1])
    yield bad("outer-extra-key-before", "a third key before the two", b'{"a":1,' + data[1:])
    yield bad("outer-swapped", "the signed part first",
              b'{"signed":' + data[data.index(b',"signed":') + 10:-1] + b"," + data[1:data.index(b',"signed":')] + b"}")
    yield bad("outer-signed-array", "a signed part that is no object", make_manifest(b"[]", [SEED]))
    signature = sign_manifest(SEED, canonical_json(kat_signed(packs=[kat_pack()])).encode())
    entry = canonical_json(signature).encode()
    yield bad("signature-extra-key", "a third key in a signature", data.replace(entry, entry[:-1] + b',"z":1}'))
    yield bad("signature-upper-case", "upper-case digits in a signature",
              data.replace(signature["sig"].encode(), signature["sig"].upper().encode()))
    yield bad("signature-short", "a signature of 63 bytes", data.replace(signature["sig"].encode(), signature["sig"][2:].encode()))
    yield bad("signature-keyid-long", "a keyid of 9 bytes",
              data.replace(signature["keyid"].encode(), b"00" + signature["keyid"].encode()))
    yield bad("signature-twice", "the same signature twice", data.replace(entry, entry + b"," + entry))
    two = [canonical_json(e).encode() for e in sorted(
        (sign_manifest(seed, data[data.index(b',"signed":') + 10:-1]) for seed in (SEED, NEXT_SEED)), key=lambda e: e["keyid"])]
    yield bad("signatures-descend", "two signatures in the wrong order", data.replace(entry, two[1] + b"," + two[0]))
    yield bad("signatures-17", "one signature too many",
              make_manifest(kat_signed(packs=[kat_pack()]), [SEED, *(bytes([i]) * 32 for i in range(1, 17))]))
    yield bad("signatures-trailing-comma", "a comma behind the last signature", data.replace(entry, entry + b","))

    yield text("form-space", "a space behind a colon", ('"a":"b"', '"a": "b"'))
    yield text("form-line-end", "a line end before the last brace", ('"version":1}', '"version":1\n}'))
    yield text("form-key-order", "two keys in the wrong order", ('"a":"b",', ''), ('"expires":', '"z":"b","expires":'))
    yield text("form-key-twice", "a key twice", ('"a":"b"', '"a":"b","a":"b"'))
    yield text("form-key-escaped-order", "keys in the order of their escapes, not of what they mean", ('"a":"b"', '"Z":1,"\\n":2'))
    yield text("form-key-not-ascii", "a key that is not ASCII", ('"version":1}', '"version":1,"ä":1}'))
    yield text("form-null", "null", ('"a":"b"', '"a":null'))
    yield text("form-float", "a fraction", ('"a":"b"', '"a":1.5'))
    yield text("form-float-zero", "an integer written as a fraction", ('"a":"b"', '"a":1.0'))
    yield text("form-exponent", "an exponent", ('"a":"b"', '"a":1e3'))
    yield text("form-negative", "a negative integer", ('"a":"b"', '"a":-1'))
    yield text("form-negative-zero", "minus zero", ('"a":"b"', '"a":-0'))
    yield text("form-leading-zero", "a leading zero", ('"a":"b"', '"a":01'))
    yield text("form-2-53", "2^53", ('"a":"b"', f'"a":{MAX_INTEGER + 1}'))
    yield text("form-integer-long", "an integer of a thousand digits", ('"a":"b"', '"a":1' + "0" * 999))
    yield text("form-literal", "a word that is none of JSON's", ('"a":"b"', '"a":True'))
    yield text("form-trailing-comma", "a comma behind the last element", ('"a":"b"', '"a":[1,]'))
    yield text("form-depth-9", "arrays down to depth 9", ('"a":"b"', '"a":[[[[[[[]]]]]]]'))
    yield text("form-depth-bomb", "a thousand arrays in one another", ('"a":"b"', '"a":' + "[" * 1000 + "]" * 1000))
    yield text("form-behind", "something behind the signed part", ('"version":1}', '"version":1},"z":{}'))
    yield text("string-control", "a control character that is not escaped", ('"a":"b"', '"a":"\x01"'))
    yield text("string-slash", "an escaped slash", ('"a":"b"', '"a":"\\/"'))
    yield text("string-escape-long", "the long escape of a line end", ('"a":"b"', '"a":"\\u000a"'))
    yield text("string-escape-upper-case", "an escape with an upper-case digit", ('"a":"b"', '"a":"\\u001F"'))
    yield text("string-escape-letter", "an escape of a letter", ('"a":"b"', '"a":"\\u0041"'))
    yield text("string-escape-not-ascii", "an escape of a character beyond ASCII", ('"a":"b"', '"a":"\\u20ac"'))
    yield text("string-escape-surrogates", "a pair of escaped surrogates", ('"a":"b"', '"a":"\\ud83d\\ude00"'))
    yield text("string-escape-lone", "an escaped lone surrogate", ('"a":"b"', '"a":"\\ud83d"'))
    yield text("string-escape-key", "a key with an escape that it does not need", ('"a":"b"', '"\\u0061":"b"'))
    yield text("string-utf8-overlong", "an overlong slash", ('"a":"b"', b'"a":"\xc0\xaf"'))
    yield text("string-utf8-surrogate", "a surrogate in UTF-8", ('"a":"b"', b'"a":"\xed\xa0\x80"'))
    yield text("string-utf8-above", "a character above U+10FFFF", ('"a":"b"', b'"a":"\xf4\x90\x80\x80"'))
    yield text("string-utf8-cut", "a character that is cut", ('"a":"b"', b'"a":"\xe2\x82"'))
    yield text("string-utf8-stray", "a continuation byte alone", ('"a":"b"', b'"a":"\x80"'))
    yield text("string-open", "a string that does not end", ('"version":1}', '"version":1,"z":"}'))

    for key in ("expires", "packs", "schema", "version"):
        yield bad(f"signed-without-{key}", f"no {key}", make_manifest(kat_signed(**{key: None}), [SEED]))
    for name, comment, changes in (
            ("signed-version-text", "a version that is a text", {"version": "1"}),
            ("signed-packs-object", "packs that are no array", {"packs": {}}),
            ("signed-schema-integer", "a schema that is no text", {"schema": 1}),
            ("signed-expires-offset", "a time with an offset", {"expires": "2027-01-01T00:00:00+00:00"}),
            ("signed-expires-lower-case", "a time in lower case", {"expires": "2027-01-01t00:00:00z"}),
            ("signed-expires-fraction", "a time with a fraction", {"expires": "2027-01-01T00:00:00.0Z"}),
            ("signed-expires-no-day", "a day that does not exist", {"expires": "2027-02-29T00:00:00Z"}),
            ("signed-expires-leap-second", "a leap second", {"expires": "2026-12-31T23:59:60Z"}),
            ("signed-issued-wrong", "a time of issue that is none", {"issued": "today"}),
            ("budget-array", "a budget that is no object", {"budget": []}),
            ("budget-incomplete", "a budget with three of its integers", {"budget": dict.fromkeys(BUDGET_KEYS[:3], 1)}),
            ("budget-text", "a budget in texts", {"budget": dict.fromkeys(BUDGET_KEYS, "35000000")}),
            ("pack-text", "a pack that is no object", {"packs": ["core"]}),
            ("pack-id-twice", "two packs with one id", {"packs": [kat_pack(), kat_pack(version=8)]})):
        yield bad(name, comment, make_manifest(kat_signed(**changes), [SEED]))
    for key in PACK_VALUES:
        yield bad(f"pack-without-{key}", f"a pack without {key}", make_manifest(kat_signed(packs=[kat_pack(**{key: None})]), [SEED]))
    for name, comment, changes in (
            ("pack-id-slash", "an id that is no pack name", {"id": "../core"}),
            ("pack-id-empty", "an empty id", {"id": ""}),
            ("pack-id-65", "an id of 65 characters", {"id": "a" * 65}),
            ("pack-size-text", "a size that is a text", {"size": "12345"}),
            ("pack-size-true", "a size that is true", {"size": True}),
            ("pack-sha256-short", "a digest of 31 bytes", {"sha256": "00" * 31}),
            ("pack-sha256-upper-case", "a digest with upper-case digits", {"sha256": "AB" * 32}),
            ("pack-content-root-long", "a content root of 33 bytes", {"contentRoot": "00" * 33}),
            ("pack-key-id-upper-case", "a key id with upper-case digits", {"keyId": "E545120E613DD715"}),
            ("pack-key-id-short", "a key id of 7 bytes", {"keyId": "e545120e613dd7"}),
            ("pack-delivery-unknown", "a delivery that there is not", {"delivery": "later"}),
            ("pack-delivery-case", "a delivery in another case", {"delivery": "Essential"}),
            ("pack-install-unknown", "an install mode that there is not", {"install": "mounted"}),
            ("pack-url-http", "a URL without TLS", {"url": "http://cdn.example.com/core.pack"}),
            ("pack-url-relative", "a relative URL", {"url": "core.pack"}),
            ("pack-url-upper-case", "a scheme in upper case", {"url": "HTTPS://cdn.example.com/core.pack"}),
            ("pack-url-no-host", "a URL without a host", {"url": "https:///core.pack"}),
            ("pack-url-port-alone", "a URL with a port and no host", {"url": "https://:443/core.pack"}),
            ("pack-url-credentials", "a URL with a password", {"url": "https://user:secret@cdn.example.com/core.pack"}),
            ("pack-url-fragment", "a URL with a fragment", {"url": "https://cdn.example.com/core.pack#1"}),
            ("pack-url-space", "a URL with a space", {"url": "https://cdn.example.com/the core.pack"}),
            ("pack-url-not-ascii", "a URL that is not ASCII", {"url": "https://cdn.example.com/körn.pack"}),
            ("pack-url-control", "a URL with a line end", {"url": "https://cdn.example.com/core.pack\n"}),
            ("pack-tags-text", "tags that are no array", {"tags": "boot"}),
            ("pack-tags-integer", "a tag that is no text", {"tags": ["boot", 1]}),
            ("pack-platforms-text", "platforms that are no array", {"platforms": "iOS"}),
            ("pack-language-empty", "an empty language", {"language": ""}),
            ("pack-base-slash", "a base that is no pack name", {"basePack": "../engine"}),
            ("pack-base-itself", "a pack that is its own base", {"basePack": "core"}),
            ("pack-base-array", "a base that is no text", {"basePack": ["engine"]}),
            ("pack-name-array", "a name that is no text", {"name": []}),
            ("pack-description-integer", "a description that is no text", {"description": 1}),
            ("pack-created-wrong", "a time of creation that is none", {"created": "2026-07-01"}),
            ("pack-name-empty", "an empty name", {"name": ""}),
            ("pack-name-id", "a name that is the id", {"name": "core"}),
            ("pack-description-empty", "an empty description", {"description": ""}),
            ("pack-tags-empty", "no tag in an array", {"tags": []}),
            ("pack-platforms-empty", "no platform in an array", {"platforms": []})):
        yield bad(name, comment, make_manifest(kat_signed(packs=[kat_pack(**changes)]), [SEED]))
    bare = kat_pack(url=None, keyId=None)
    for name, comment, changes, pack in (
            ("base-http", "a base without TLS", {"base": "http://cdn.example.com/packs/"}, bare),
            ("base-no-slash", "a base without the slash at its end", {"base": "https://cdn.example.com/packs"}, bare),
            ("base-host-only", "a base without a path", {"base": "https://cdn.example.com"}, bare),
            ("base-query", "a base with a query", {"base": "https://cdn.example.com/packs/?a=/"}, bare),
            ("base-integer", "a base that is no text", {"base": 1}, bare),
            ("base-missing", "a pack without URL where there is no base", {"base": None}, bare),
            ("key-id-default-short", "a key id of 7 bytes for all", {"keyId": "e545120e613dd7"}, bare),
            ("key-id-default-missing", "a pack without key id where there is none for all", {"keyId": None}, bare),
            ("pack-key-id-repeated", "the key id of all packs, once more", {}, kat_pack(url=None)),
            ("pack-url-repeated", "the URL that base, id and digest give", {}, kat_pack(keyId=None))):
        yield bad(name, comment, make_manifest(kat_signed(packs=[pack], **{**DEFAULTS, **changes}), [SEED]))


def page_manifests():
    """§9.7: references in a manifest."""
    packs, _ = make_page("packs", sample_entries(3))
    later, _ = make_page("packs", sample_entries(6)[4:])
    tags, _ = make_page("tags", [("all", "level-000000")])
    index, _ = make_page("index", [packs, later], of="packs")

    def case(name, expect, comment, pages, **changes):
        return manifest_vector(name, expect, comment, make_manifest(
            kat_signed(**{"packs": [kat_pack(url=None, keyId=None)], "pages": pages, **DEFAULTS, **changes}), [SEED]))

    yield case("pages", "ok", "pages of packs and tags", [packs, later, tags])
    yield case("pages-index", "ok", "an index page beside a page of tags", [index, tags])
    yield case("pages-mixed", "ok", "a page of packs and an index page of packs", [packs, {**index, "first": later["first"]}])
    yield case("pages-unknown-kind", "ok", "kinds that readers pass over", [packs, {**packs, "kind": "sounds"}, {**packs, "kind": "updates"}])
    updates, _ = make_page("updates", sample_updates(3))
    later_updates, _ = make_page("updates", sample_updates(6)[4:])
    update_index, _ = make_page("index", [updates, later_updates], of="updates")
    yield case("pages-updates", "ok", "pages of packs, tags and updates", [packs, tags, updates, later_updates])
    yield case("pages-updates-only", "ok", "a page of updates and no other", [updates])
    yield case("pages-updates-index", "ok", "index pages of packs and of updates", [index, update_index])
    yield case("pages-unknown-key", "ok", "a key in a reference that readers pass over", [{**packs, "a": 1}])
    many = [{**packs, "first": f"level-{i:06}"} for i in range(65)]
    yield case("pages-64", "ok", "as many references as there may be", many[:64])
    for name, comment, pages in (
            ("pages-65", "a reference too many", many), ("pages-none", "an empty list", []), ("pages-object", "pages that are no array", {}),
            ("pages-text", "a reference that is no object", ["packs"]), ("pages-kinds-unsorted", "kinds in the wrong order", [tags, packs]),
            ("pages-unsorted", "keys in the wrong order", [later, packs]), ("pages-twice", "a first key twice", [packs, packs]),
            ("pages-updates-first", "updates before packs", [updates, packs]),
            ("pages-updates-before-tags", "updates before tags", [packs, updates, tags]),
            ("pages-updates-unsorted", "updates in the wrong order", [later_updates, updates]),
            ("pages-updates-index-first", "an index page of updates before packs", [update_index, packs]),
            ("pages-index-unsorted", "an index page before a page with a lower key", [{**index, "first": later["first"]}, packs])):
        yield case(name, "damaged", comment, pages)
    for key in packs:
        yield case(f"page-without-{key}", "damaged", f"a reference without {key}", [{k: v for k, v in packs.items() if k != key}])
    for name, comment, base, changes in (
            ("page-kind-upper-case", "a kind in upper case", packs, {"kind": "Packs"}),
            ("page-kind-path", "a kind that is no word", packs, {"kind": "../a"}),
            ("page-kind-long", "a kind of 17 letters", packs, {"kind": "a" * 17}),
            ("page-of-without-index", "`of` where there is no index", packs, {"of": "packs"}),
            ("page-index-without-of", "an index page that does not say of what", packs, {"kind": "index"}),
            ("page-index-of-index", "an index page of index pages", index, {"of": "index"}),
            ("page-count-0", "a page without entries", packs, {"count": 0}),
            ("page-count-513", "a page with too many entries", packs, {"count": 513}),
            ("page-count-4097", "a page of tags with too many entries", tags, {"count": 4097}),
            ("page-updates-count-513", "a page of updates with too many entries", updates, {"count": 513}),
            ("page-of-in-updates", "`of` in a page of updates", updates, {"of": "packs"}),
            ("page-content-size-0", "a page without content", packs, {"contentSize": 0}),
            ("page-content-size-above", "a page above 1 MiB", packs, {"contentSize": MAX_PAGE + 1}),
            ("page-size-0", "a page without a byte", packs, {"size": 0}),
            ("page-size-above-bound", "a page larger than its content can make it", packs, {"size": bound(packs["contentSize"]) + 1}),
            ("page-sha256-short", "a digest of 31 bytes", packs, {"sha256": "00" * 31}),
            ("page-first-integer", "a first key that is no text", packs, {"first": 1})):
        yield case(name, "damaged", comment, [{**base, **changes}])
    yield case("pages-without-base", "damaged", "pages where there is no base", [packs], base=None, packs=[kat_pack(keyId=None)])


def unsupported_manifests():
    for name, comment, changes in (
            ("schema-2", "another schema", {"schema": "pack-manifest/2"}),
            ("schema-2-other-values", "another schema, of which the values are not looked at",
             {"schema": "pack-manifest/2", "packs": {"core": 1}, "version": "2.0", "expires": None}),
            ("schema-case", "the schema in another case", {"schema": "Pack-manifest/1"}),
            ("schema-empty", "an empty schema", {"schema": ""})):
        yield manifest_vector(name, "unsupported", comment, make_manifest(kat_signed(**changes), [SEED]))


def rfc8785_manifests():
    """RFC 8785 and the test data of its author, cyberphone/json-canonicalization: as the value of a key that readers pass over.
    What lies outside of the subset of §9.1 is refused, canonical or not."""
    signed = canonical_json(kat_signed(a="b", packs=[kat_pack()]))

    def case(name, expect, comment, value):
        return manifest_vector("rfc8785-" + name, expect, comment, make_manifest(signed.replace('"a":"b"', '"a":' + value).encode("utf-8"), [SEED]))

    yield case("arrays-input", "damaged", "arrays.json as it is given: white space, keys in no order", '[\n  56,\n  {\n    "d": true,\n    "10": null,\n    "1": [ ]\n  }\n]')
    yield case("arrays", "damaged", "arrays.json in its canonical form, which has null", '[56,{"1":[],"10":null,"d":true}]')
    yield case("arrays-subset", "ok", "the same without null", '[56,{"1":[],"d":true}]')
    yield case("french-input", "damaged", "french.json as it is given", '{\n  "peach": "This sorting order",\n  "péché": "is wrong according to French",\n'
               '  "pêche": "but canonicalization MUST",\n  "sin":   "ignore locale"\n}')
    yield case("french", "damaged", "french.json in its canonical form, which has keys beyond ASCII", '{"peach":"This sorting order",'
               '"péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}')
    yield case("french-subset", "ok", "the same without those keys", '{"peach":"This sorting order","sin":"ignore locale"}')
    yield case("structures-input", "damaged", "structures.json as it is given", '{\n  "1": {"f": {"f": "hi","F": 5} ,"\\n": 56.0},\n  "10": { },\n'
               '  "": "empty",\n  "a": { },\n  "111": [ {"e": "yes","E": "no" } ],\n  "A": { }\n}')
    yield case("structures", "ok", "structures.json in its canonical form",
               '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}')
    yield case("unicode-input", "damaged", "unicode.json as it is given", '{\n  "Unnormalized Unicode":"A\\u030a"\n}')
    yield case("unicode", "ok", "unicode.json in its canonical form: nothing is composed", '{"Unnormalized Unicode":"A\u030a"}')
    yield case("values-input", "damaged", "values.json as it is given", '{\n  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n'
               '  "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",\n  "literals": [null, true, false]\n}')
    string = '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    yield case("values", "damaged", "values.json in its canonical form, which has null and fractions",
               '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":' + string + "}")
    yield case("values-subset", "ok", "the same without null and numbers", '{"literals":[true,false],"string":' + string + "}")
    yield case("weird-input", "damaged", "weird.json as it is given", '{\n  "\\u20ac": "Euro Sign",\n  "\\r": "Carriage Return",\n  "\\u000a": "Newline",\n'
               '  "1": "One",\n  "\\u0080": "Control\\u007f",\n  "\\ud83d\\ude02": "Smiley",\n  "\\u00f6": "Latin Small Letter O With Diaeresis",\n'
               '  "\\ufb33": "Hebrew Letter Dalet With Dagesh",\n  "</script>": "Browser Challenge"\n}')
    ascii_part = '"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge"'
    yield case("weird", "damaged", "weird.json in its canonical form, which has keys beyond ASCII, in the order of UTF-16",
               "{" + ascii_part + ',"\u0080":"Control\u007f","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","\U0001f602":"Smiley",'
               '"\ufb33":"Hebrew Letter Dalet With Dagesh"}')
    yield case("weird-subset", "ok", "the same without those keys", "{" + ascii_part + "}")
    # RFC 8785, appendix B: the double, and what it is written as.
    for bits, text in RFC8785_NUMBERS:
        expect = "ok" if re.fullmatch("[0-9]+", text) and int(text) <= MAX_INTEGER else "damaged"
        yield case(f"number-{bits}", expect, f"appendix B: {text}", text)


RFC8785_NUMBERS = (
    ("0000000000000000", "0"), ("8000000000000000", "0"), ("0000000000000001", "5e-324"), ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"), ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"), ("c340000000000000", "-9007199254740992"), ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"), ("44b52d02c7e14af6", "1e+23"), ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"), ("444b1ae4d6e2ef4f", "999999999999999900000"), ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"), ("3eb0c6f7a0b5ed8d", "0.000001"), ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"), ("41b3de4355555555", "333333333.3333333"), ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"), ("becbf647612f3696", "-0.0000033333333333333333"), ("43143ff3c1cb0959", "1424953923781206.2"))


def root_seed(number):
    return bytes([number]) * 31 + b"\xa5"


def keys_value(version=1, roots=(1, 2, 3), threshold=2, signers=(SEED,), needed=1, **changes):
    """What a keys document says; a change to None takes a key out."""
    value = {
        "schema": KEYS_SCHEMA, "version": version, "issued": "2026-07-01T00:00:00Z", "expires": "2027-07-01T00:00:00Z",
        "rootKeys": sorted(public_text("pkq1", "root-public-text", public_key(root_seed(number))) for number in roots), "rootThreshold": threshold,
        "signingKeys": sorted(public_text("pkp1", "sig-public-text", public_key(seed)) for seed in signers), "signingThreshold": needed, **changes}
    return {key: item for key, item in value.items() if item is not None}


def sign_keys(seed, signed, purpose="keys"):
    """§9.6: an entry of the signature list."""
    signature = Ed25519PrivateKey.from_private_bytes(seed).sign(label(purpose) + signed)
    return {"keyid": root_id_of(public_key(seed)), "sig": signature.hex()}


def make_keys(value, by=(1, 2), signatures=None):
    """§9.6: a keys document, signed with root keys."""
    signed = value if isinstance(value, bytes) else canonical_json(value).encode("utf-8")
    if signatures is None:
        signatures = sorted((sign_keys(root_seed(number), signed) for number in by), key=lambda s: s["keyid"])
    return b'{"signatures":' + canonical_json(signatures).encode("ascii") + b',"signed":' + signed + b"}"


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
        return make_keys(signed, signatures=sorted(entries, key=lambda s: s["keyid"]))

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
        value = {key: item for key, item in value.items() if item is not None}
        yield bad(name, "damaged", comment, [make_keys(value)])
    yield bad("thirty-three", "damaged", "more documents than there may be", [*chain, make_keys(keys_value(34, signers=[NEXT_SEED]))])
    yield bad("signatures-33", "damaged", "33 signatures", [make_keys(keys_value(2, signers=[NEXT_SEED]), by=range(1, 34))])
    descending = make_keys(signed, signatures=sorted((one, two), key=lambda s: s["keyid"], reverse=True))
    yield bad("signatures-descend", "damaged", "signatures in descending order", [descending])
    yield bad("signature-twice", "damaged", "a signature twice", [make_keys(signed, signatures=[one, one])])
    yield bad("space", "damaged", "a space in a document", [second.replace(b'"signed":{', b'"signed":{ ')])
    yield bad("extra-key", "damaged", "another key beside those of a document", [second[:-1] + b',"z":1}'])
    yield bad("array", "damaged", "a document that is no object", [b"[]"])
    empty = make_manifest(good, [SEED]).replace(b'{"signatures"', b'{"keys":[],"signatures"')
    yield keys_vector("keys-empty", "damaged", "an empty list of documents", empty, first)
    yield bad("schema-2", "unsupported", "another schema", [make_keys(keys_value(2, schema="pack-keys/2", rootKeys=1))])


def all_manifest_vectors():
    return [*valid_manifests(), *untrusted_manifests(), *damaged_manifests(), *page_manifests(), *unsupported_manifests(), *rfc8785_manifests(), *keys_manifests()]


def signature_cases():
    """§9.2: (holds, public key, message, signature, what it shows). Built from what they are, by the arithmetic above."""
    number = [0]

    def scalar(seed):
        digest = bytearray(hashlib.sha512(seed).digest()[:32])
        digest[0] &= 248
        digest[31] = digest[31] & 127 | 64
        return int.from_bytes(digest, "little")

    secret = scalar(SEED)
    honest = times(secret, BASE)
    public = encode_point(honest)
    torsion = [times(i, (recover_x(ORDER_8_Y, 0), ORDER_8_Y)) for i in range(8)]

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
    digest = bytearray(hashlib.sha512(b"cctv").digest()[:32])
    digest[0] &= 248
    digest[31] = digest[31] & 127 | 64
    a = int.from_bytes(digest, "little")
    r = int.from_bytes(hashlib.sha512(b"cctv nonce").digest(), "little") % L
    honest_a, honest_r = times(a, BASE), times(r, BASE)
    # Each point of small order, and the encodings that are not its canonical one.
    small = sorted((encode_point(times(i, (recover_x(ORDER_8_Y, 0), ORDER_8_Y))), i) for i in range(8))
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
        return encode_point(add(honest, times(i, (recover_x(ORDER_8_Y, 0), ORDER_8_Y))))

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


ORDER_8_Y = int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little")
SIGNATURE_FILE = "ed25519.txt"


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
    (f"{MANIFEST_FOLDER}/{SIGNATURE_FILE}", signature_cases, signature_holds),
    (f"others/cctv-{SIGNATURE_FILE}", cctv_signature_cases, signature_holds),
    ("others/wycheproof-hmac-sha256.txt", hmac_cases, code_holds),
)


# ---------------------------------------------------------------------------------------------
# §13 Payload of a delta pack: contents of the bases, list
# ---------------------------------------------------------------------------------------------

MAX_BASES, MAX_WINDOWS, MAX_RANGES, MAX_NAMED = 4, 131072, 1024, 1 << 20
MAX_OUTPUT, MAX_PREFIX = 1 << 20, 3 << 20
MAX_LIST, MAX_DELTA_HEAD = 16 << 20, 4 << 20
DELTA_MAGIC = b"PDL1"

Range = namedtuple("Range", "content offset length")
WindowPlace = namedtuple("WindowPlace", "length output ranges")


def varint(value):
    """§13.2"""
    result = b""
    while value >= 128:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def signed_varint(value):
    """§13.2"""
    return varint(2 * value if value >= 0 else -2 * value - 1)


class Cursor:
    """Reads fields from the start on; what is missing is damaged."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        require(self.at + length <= len(self.data), "the fields end early")
        self.at += length
        return self.data[self.at - length:self.at]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            require(shift < 56, "a varint of more than eight bytes")
        require(value <= MAX_INTEGER, "a varint above 2^53-1")
        require(byte != 0 or shift == 7, "a varint that is not the shortest")
        return value

    def signed_varint(self):
        value = self.varint()
        return -(value + 1 >> 1) if value & 1 else value >> 1


def in_range(value):
    """§13.2: what is computed from numbers is one, too."""
    require(0 <= value <= MAX_INTEGER, f"a number that comes to {value}")
    return value


def list_bytes(records):
    """§13.4"""
    return b"".join(r.path + b"\0" + bytes([r.type]) + varint(r.size) for r in records)


def read_list(data):
    """§13.4: records without digests; §13.7, step 4."""
    cursor, records, last = Cursor(data), [], b""
    while cursor.at < len(data):
        require(len(records) < MAX_RECORDS, f"more than {MAX_RECORDS} records", "limit")
        records.append(read_line(cursor, last))
        last = records[-1].path
    paths = [record.path for record in records]
    check_paths(paths)
    check_directories(paths, [record.type == DIRECTORY for record in records])
    content = sum(record.size for record in records)
    require(content <= MAX_CONTENT, f"content size {content}", "limit")
    return records


def read_line(cursor, last):
    """§13.4: one record, whose path comes after `last`; type, path and size are checked as in §4.9, step 5."""
    end = cursor.data.find(b"\0", cursor.at, cursor.at + MAX_PATH + 1)
    require(end >= 0 or len(cursor.data) - cursor.at <= MAX_PATH, "a path above 1024 bytes", "limit")
    require(end >= 0, "the list ends inside a path")
    path = cursor.take(end - cursor.at)
    kind = cursor.take(2)[1]
    require(kind in (FILE, EXECUTABLE, DIRECTORY), f"record type {kind:#04x}", "unsupported")
    check_path(path)
    require(last < path, f"paths out of order: {path!r} after {last!r}")
    size = cursor.varint()
    require(kind != DIRECTORY or size == 0, "a directory with a size")
    return Record(path, kind, size, 0, None)


class FileTree:
    """A tree as files; with the records, the content root and the contents that every base has."""

    def __init__(self, items):
        items = sorted(items, key=lambda item: item.path)
        self.contents = [item.content for item in items]
        self.records = [directory_record(item.path) if item.kind == "directory" else file_record(item.path, item.content, 0, item.executable)
                        for item in items]
        self.root = content_root(self.records)

    def read(self, number, offset, length):
        return self.contents[number][offset:offset + length]


class TarTree:
    """A full pack as a base."""

    def __init__(self, opened):
        seek = read_seek_table(opened.payload)
        head, self.records = read_index(opened.payload, seek, opened.minor)
        require_apart(self.records)
        require(content_root(self.records) == head.root, "the content root differs")
        self.root, self.tar = head.root, Tar(opened.payload, seek, kept=32)

    def read(self, number, offset, length):
        return self.tar.read(self.records[number].offset + offset, length)


class Contents:
    """§13.3: the contents of the bases by number."""

    def __init__(self, bases):
        self.places = [(base, number) for base in bases for number in range(len(base.records))]
        self.list = list_bytes(bases[0].records)

    def size(self, content):
        """The size of a content; None if there is none of this number."""
        if content < len(self.places):
            return self.record(content).size
        return len(self.list) if content == len(self.places) else None

    def record(self, content):
        base, number = self.places[content]
        return base.records[number]

    def read(self, content, offset, length):
        if content == len(self.places):
            return self.list[offset:offset + length]
        base, number = self.places[content]
        return base.read(number, offset, length)

    def prefix(self, ranges):
        """§13.6; §13.7, step 5: nothing is read before every range has been compared with its content."""
        for content, offset, length in ranges:
            size = self.size(content)
            require(size is not None and offset + length <= size, f"a range of content {content} outside it")
        return b"".join(self.read(*part) for part in ranges)


# ---------------------------------------------------------------------------------------------
# §13 Reading a delta pack
# ---------------------------------------------------------------------------------------------

DeltaHead = namedtuple("DeltaHead", "bases target list windows moved new repeated")


def read_delta_frame(payload):
    """§13.7, step 1: the head's fields, and where the head begins."""
    require(len(payload) >= 8, "a payload shorter than a trailer")
    require(payload[-4:] == DELTA_MAGIC, "no trailer of a delta at the end")
    start = len(payload) - 8 - number(payload, len(payload) - 8, 4)
    require(start >= 0, "a head longer than the payload")
    place = payload[start:-8]
    return decompress(place, check_frame(place, limit=MAX_DELTA_HEAD, what="the head of a delta")), start


def read_ranges(cursor):
    count = cursor.varint()
    require(count <= MAX_RANGES, f"{count} ranges in a window", "limit")
    ranges, content, end, total = [], 0, 0, 0
    for _ in range(count):
        step = cursor.varint()
        content, end = content + step, 0 if step else end
        offset = end + cursor.varint()
        length = cursor.varint()
        require(length >= 1, "an empty range")
        total += length
        require(total <= MAX_PREFIX, f"a prefix of {total} bytes or more", "limit")
        end = in_range(offset + length)
        ranges.append(Range(in_range(content), offset, length))
    return ranges


def read_window(cursor):
    length, output = cursor.varint(), cursor.varint()
    require(output >= 1, "a window without output")
    require(output <= MAX_OUTPUT, f"a window of {output} bytes", "limit")
    require(length <= bound(output), "a window longer than its bound")
    return WindowPlace(length, output, read_ranges(cursor))


def read_named(cursor, before, signed, other):
    """Record numbers, and the numbers that `other` reads beside them. `before` are the lists that came before."""
    record, named, count = -1, [], cursor.varint()
    require(sum(map(len, before)) + count <= MAX_NAMED, f"{count} records, and those before them", "limit")
    for _ in range(count):
        record = in_range(record + 1 + (cursor.signed_varint() if signed else cursor.varint()))
        named.append((record, other()))
    return named


def read_delta_head(data, minor, start):
    """§13.5; §13.7, step 2."""
    cursor = Cursor(data)
    bases = cursor.varint()
    require(bases >= 1, "no bases")
    require(bases <= MAX_BASES, f"{bases} bases", "limit")
    roots, target = [cursor.take(32) for _ in range(bases)], cursor.take(32)
    length = cursor.varint()
    require(length <= MAX_LIST, f"a list of {length} bytes", "limit")
    count = cursor.varint()
    require(count <= MAX_WINDOWS, f"{count} windows", "limit")
    windows = [read_window(cursor) for _ in range(count)]
    content = -1

    def next_content():
        nonlocal content
        content = in_range(content + 1 + cursor.signed_varint())
        return content

    moved = read_named(cursor, [], False, next_content)
    new = [record for record, _ in read_named(cursor, [moved], True, lambda: None)]
    repeated = read_named(cursor, [moved, new], False, cursor.varint)
    require(all(place < len(new) for _, place in repeated), "a repeated record of a new content that is not there")
    require(minor > 0 or cursor.at == len(data), "bytes after the fields of the head under minor 0")
    require(sum(window.length for window in windows) == start, "the compressed lengths do not add up")
    require(length == 0 or length in running_sums(window.output for window in windows), "no window ends where the list does")
    return DeltaHead(roots, target, length, windows, moved, new, repeated)


def running_sums(values):
    at = 0
    for value in values:
        at += value
        yield at


class DeltaTree:
    """A delta over its bases: the records of the target, and their contents. It can be a base itself."""

    def __init__(self, opened, bases):
        self.payload, self.contents = opened.payload, Contents(bases)
        require(len(self.contents.list) <= MAX_LIST, "the list of the first base is above 16 MiB", "limit")
        fields, start = read_delta_frame(self.payload)
        self.head = read_delta_head(fields, opened.minor, start)
        require([base.root for base in bases] == self.head.bases, "the bases are not those that the delta names", "wrong-base")
        self.ends = list(running_sums(window.output for window in self.head.windows))
        self.starts = [0, *running_sums(window.length for window in self.head.windows)]
        self.current, self.output = None, b""
        self.records = read_list(self.stream(0, self.head.list))
        self.places = self.read_places(bases[0])
        self.records = [self.with_digest(number) for number in range(len(self.records))]
        self.root = content_root(self.records)
        require(self.root == self.head.target, "the content root of the target differs")

    def window(self, index):
        if self.current != index:
            place = self.head.windows[index]
            frame = self.payload[self.starts[index]:self.starts[index + 1]]
            info = check_frame(frame, exactly=place.output)
            require(frame[4] & 0x20, "the frame of a window is not single-segment")
            self.output = decompress(frame, info, self.contents.prefix(place.ranges))
            self.current = index
        return self.output

    def stream(self, offset, length):
        """Bytes of the stream (§13.6)."""
        parts = []
        while length:
            index = bisect.bisect_right(self.ends, offset)
            inner = offset - (self.ends[index - 1] if index else 0)
            parts.append(self.window(index)[inner:inner + length])
            offset, length = offset + len(parts[-1]), length - len(parts[-1])
        return b"".join(parts)

    def read_places(self, first):
        """§13.5: for each record its content number, or its offset in the stream as a negative number."""
        head, places = self.head, {}

        def name(record, place):
            require(record < len(self.records), f"there is no record {record}")
            require(self.records[record].size > 0, f"record {record} is named, but has no content")
            require(record not in places, f"record {record} is named twice")
            places[record] = place

        for record, content in head.moved:
            name(record, content)
            require(content < len(self.contents.places), f"content {content} is no record of a base")
            require(self.contents.size(content) == self.records[record].size, f"record {record} has another size than content {content}")
        at = head.list
        for record in head.new:
            name(record, -at - 1)
            at += self.records[record].size
        for record, place in head.repeated:
            name(record, places[head.new[place]])
            require(self.records[record].size == self.records[head.new[place]].size, f"record {record} has another size than the one it repeats")
        require(at == (self.ends[-1] if self.ends else 0), "the windows are not as long as the stream")
        self.add_unnamed(places, first)
        return places

    def add_unnamed(self, places, first):
        numbers = {record.path: number for number, record in enumerate(first.records)}
        for index, record in enumerate(self.records):
            if record.size and index not in places:
                number = numbers.get(record.path)
                require(number is not None and first.records[number].size == record.size, f"{record.path!r} has no content")
                places[index] = number

    def with_digest(self, index):
        """§13.7: the record, with the digest of a new content computed, or that of the base's index."""
        record, place = self.records[index], self.places.get(index)
        if record.type == DIRECTORY:
            return record._replace(digest=bytes(32))
        if place is None:
            return record._replace(digest=sha256(b""))
        if place >= 0:
            return record._replace(digest=self.contents.record(place).digest)
        return record._replace(digest=sha256(self.read(index, 0, record.size)))

    def read(self, index, offset, length):
        place = self.places[index]
        return self.stream(-place - 1 + offset, length) if place < 0 else self.contents.read(place, offset, length)


def open_tree(data, key, bases=()):
    """A pack as a tree: a full one, or a delta over these bases."""
    opened = open_pack(data, key, deltas=bool(bases))
    return DeltaTree(opened, bases) if opened.kind == 2 else TarTree(opened)


def read_tree_contents(tree, sink=None):
    """Every file, read from its place: its SHA-256 is the one in the record."""
    for index, record in enumerate(tree.records):
        content = tree.read(index, 0, record.size) if record.size else b""
        require(record.type == DIRECTORY or sha256(content) == record.digest, f"the content of {record.path!r} has another SHA-256")
        if sink:
            sink(record, (content,))


def open_bases(paths, key):
    """The bases that a command is given: packs, or directories. A delta among them is over those directly before it."""
    trees = []
    for path in paths:
        if os.path.isdir(path):
            trees.append(FileTree(read_tree(path)))
            continue
        with open(path, "rb") as file_object:
            data = file_object.read()
        opened = open_pack(data, key, deltas=True)
        if opened.kind == 2:
            fields, start = read_delta_frame(opened.payload)
            count = len(read_delta_head(fields, opened.minor, start).bases)
            if count > len(trees):
                raise Problem(f"{path} is a delta; its bases come before it")
            trees[len(trees) - count:] = [DeltaTree(opened, trees[len(trees) - count:])]
        else:
            trees.append(TarTree(opened))
    return trees


# ---------------------------------------------------------------------------------------------
# §13 Writing a delta pack
# ---------------------------------------------------------------------------------------------

MATCH_LENGTHS = [(base, bits) for base, bits in zip(
    (35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539),
    (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))]
Match = namedtuple("Match", "offset length")


def match_block(match, last):
    return sequence_block(match.offset + 3, match.length, last)


def sequence_block(value, length, last):
    """RFC 8878, 3.1.1.3: a compressed block without literals and with one sequence, its three codes in RLE mode. `value` is the Offset_Value."""
    code, bits, extra = length - 3, 0, 0
    for index, (base, width) in enumerate(MATCH_LENGTHS):
        if length >= base:
            code, bits, extra = 32 + index, width, length - base
    offset_bits = value.bit_length() - 1
    stream = extra | (value - (1 << offset_bits)) << bits | 1 << bits + offset_bits
    body = bytes([0, 1, 0x54, 0, offset_bits, code]) + stream.to_bytes(stream.bit_length() + 7 >> 3, "little")
    return zstd_block(2, len(body), body, last)


def parts_frame(parts, size, header=None):
    """§4.4: a frame of raw blocks (bytes) and matches, which a library has no part in."""
    blocks = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        blocks.append(match_block(part, last) if isinstance(part, Match) else zstd_block(0, len(part), part, last))
    return (frame_header(size) if header is None else header) + b"".join(blocks)


def find_parts(content, prefix, shortest=16):
    """The content as bytes and matches with what stands before it, the prefix included."""
    known, plain, at, text = {}, len(prefix), 0, prefix + content
    while at < len(prefix):
        known.setdefault(text[at:at + shortest], at)
        at += 1
    while at < len(text):
        start = known.get(text[at:at + shortest])
        length = 0
        if start is not None:
            while at + length < len(text) and length < 65536 and text[start + length] == text[at + length]:
                length += 1
        if length >= shortest:
            if plain < at:
                yield text[plain:at]
            yield Match(at - start, length)
            plain = at + length
        for _ in range(max(length, 1)):
            known.setdefault(text[at:at + shortest], at)
            at += 1
    if plain < len(text):
        yield text[plain:]


def prefix_frame(content, prefix=b""):
    """§13.6: one frame against the prefix, of raw blocks and matches."""
    return parts_frame(list(find_parts(content, prefix)), len(content)) if len(content) < 100000 else run_frame(content)


def library_frame(content, prefix, level=3):
    """§13.6: one frame by the library; its window holds output and prefix, so that it is single-segment."""
    parameters = zstandard.ZstdCompressionParameters.from_level(level, source_size=len(content), dict_size=len(prefix), write_content_size=1,
                                                                write_checksum=0, write_dict_id=0, window_log=22)
    dictionary = raw_dictionary(prefix) if prefix else None
    return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(content)


def raw_dictionary(prefix):
    """§13.6: raw content, whatever it begins with."""
    return zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def range_bytes(ranges):
    """§13.5"""
    result, content, end = b"", 0, 0
    for part in ranges:
        result += varint(part.content - content) + varint(part.offset - (end if part.content == content else 0)) + varint(part.length)
        content, end = part.content, part.offset + part.length
    return result


def named_bytes(named, signed, other):
    """§13.5: the records that are moved, new or repeated; `other` makes the rest of a line of the number beside."""
    result, last = varint(len(named)), -1
    for record, value in named:
        result += (signed_varint if signed else varint)(record - last - 1) + other(value)
        last = record
    return result


def delta_head_bytes(f):
    """§13.5"""
    last = -1

    def content(value):
        nonlocal last
        last, step = value, value - last - 1
        return signed_varint(step)

    return b"".join((
        varint(len(f["bases"])), *f["bases"], f["target"], varint(f["list"]), varint(len(f["windows"])),
        *(varint(w.length) + varint(w.output) + varint(len(w.ranges)) + range_bytes(w.ranges) for w in f["windows"]),
        named_bytes(f["moved"], False, content), named_bytes([(record, None) for record in f["new"]], True, lambda _: b""),
        named_bytes(f["repeated"], False, varint)))


def plan_delta(bases, records):
    """§13.5: the records that are moved, new and repeated, each content stored once."""
    held, own, fresh = {}, {record.path: record for record in bases[0].records}, {}
    for number, record in enumerate(record for base in bases for record in base.records):
        held.setdefault(record.digest, number)
    plan = {"moved": [], "new": [], "repeated": []}
    for index, record in enumerate(records):
        if not record.size or record.path in own and own[record.path].digest == record.digest:
            continue
        if record.digest in held:
            plan["moved"].append((index, held[record.digest]))
        elif record.digest in fresh:
            plan["repeated"].append((index, fresh[record.digest]))
        else:
            fresh[record.digest] = len(plan["new"])
            plan["new"].append(index)
    return plan


def default_ranges(bases, records, places, start, end):
    """The contents that the records of a window have at the same path in the first base."""
    numbers, total, ranges = {record.path: number for number, record in enumerate(bases[0].records)}, 0, set()
    for record, first in places:
        number = numbers.get(record.path)
        if number is None or first >= end or first + record.size <= start or not bases[0].records[number].size:
            continue
        offset = max(0, start - first)
        length = min(bases[0].records[number].size - offset, MAX_PREFIX - total)
        if length > 0 and len(ranges) < MAX_RANGES:
            total += length
            ranges.add(Range(number, offset, length))
    return sorted(ranges)


def cut_stream(length, list_length, sizes):
    """§13.6: the outputs of the windows, cut anew where the list ends."""
    if sizes:
        return sizes
    parts = [list_length, length - list_length]
    return [min(MAX_OUTPUT, part - at) for part in parts for at in range(0, part, MAX_OUTPUT)]


def delta_payload(bases, items, *, sizes=None, ranges=(), codec=prefix_frame, **changes):
    """§13.1: the payload of a delta over these trees. `sizes` are the outputs of the windows, `ranges` is {window: its ranges},
    where they are to be other than the whole list, or the contents at the same path. As in make_payload, a step may be changed:

    plan      {"moved", "new", "repeated"}          list     the list of the target
    stream    the stream                            windows  list of [frame, output, ranges]
    fields    dict of the head's fields             head     the fields, as bytes
    headframe the head's frame                      trailer  the trailer
    payload   the whole payload"""

    def step(name, value):
        change = changes.pop(name, None)
        return value if change is None else change(value)

    tree = FileTree(items)
    contents, ranges = Contents(bases), dict(ranges)
    plan = step("plan", plan_delta(bases, tree.records))
    listing = step("list", list_bytes(tree.records))
    at = running_sums([len(listing), *(tree.records[index].size for index in plan["new"])])
    places = [(tree.records[index], start) for index, start in zip(plan["new"], at)]
    stream = step("stream", listing + b"".join(tree.contents[index] for index in plan["new"]))
    windows, start = [], 0
    for index, size in enumerate(cut_stream(len(stream), len(listing), sizes)):
        default = default_ranges(bases, tree.records, places, start, start + size)
        if start < len(listing) and contents.list:
            default = [Range(len(contents.places), 0, min(len(contents.list), MAX_PREFIX))]
        drawn = ranges.get(index, default)
        windows.append([codec(stream[start:start + size], contents.prefix(drawn)), size, drawn])
        start += size
    windows = step("windows", windows)
    fields = step("fields", {"bases": [base.root for base in bases], "target": tree.root, "list": len(listing), **plan,
                             "windows": [WindowPlace(len(frame), size, drawn) for frame, size, drawn in windows]})
    head = step("head", delta_head_bytes(fields))
    frame = step("headframe", codec(head, b""))
    trailer = step("trailer", u32(len(frame)) + DELTA_MAGIC)
    payload = step("payload", b"".join(window[0] for window in windows) + frame + trailer)
    assert not changes, changes
    return payload, tree.records


# ---------------------------------------------------------------------------------------------
# §10.4 Test vectors: deltas
# ---------------------------------------------------------------------------------------------

# `bases` are (bytes, how many bases directly before it that one is over, 0 for a full pack).
DeltaVector = namedtuple("DeltaVector", "name expect comment key bases data records")
DELTA_FOLDERS = ("deltas/valid", "deltas/hostile")
BASE_FOLDER = "deltas/bases"
OLD_TEXT = b"".join(b"%d: the line of the file that was there before\n" % i for i in range(12))
NEW_TEXT = OLD_TEXT.replace(b"5: the line", b"5: another line")
OLD_TREE = (file("a.txt", OLD_TEXT), file("b/c.bin"), directory("d"), file("noise.bin", noise(200)), file("run", b"#!/bin/sh\n", True))
NEW_TREE = (file("a.txt", NEW_TEXT), *OLD_TREE[1:])
ENGINE = (file("engine.js", b"function engine() { return 'the same for all games' }\n" * 4), file("font.bin", noise(150, b"font")))


def delta_vector_bytes(vector, names):
    """§10.4; `names` has the names of the bases."""
    lines = [f"expect: {vector.expect}", f"key: {vector.key.hex()}", f"comment: {vector.comment}",
             *(f"base: {names[data]}" + (f" {over}" if over else "") for data, over in vector.bases)]
    for record in vector.records or ():
        path = record.path.decode("utf-8")
        lines += [f"path: {path}/"] if record.type == DIRECTORY else [f"path: {path}", f"sha256: {record.digest.hex()}"]
    return "".join(line + "\n" for line in lines).encode("utf-8") + b"\n" + vector.data


def parse_delta_vector(name, data, packs):
    """§10.4; `packs` is the folder of the bases."""
    head, separator, body = data.partition(b"\n\n")
    values, bases, listing = {}, [], []
    for line in head.decode("utf-8").split("\n"):
        key, colon, value = line.partition(": ")
        if not (separator and colon) or key not in ("expect", "key", "comment", "base", "path", "sha256"):
            raise Problem(f"{name}: the head of the vector: {line}")
        if key == "base":
            base, _, over = value.partition(" ")
            with open(os.path.join(packs, base), "rb") as file_object:
                bases.append((file_object.read(), int(over or 0)))
        elif key == "path":
            listing.append([value, None])
        elif key == "sha256":
            listing[-1][1] = value
        else:
            values[key] = value
    return DeltaVector(name, values["expect"], values["comment"], bytes.fromhex(values["key"]), bases, body, listing)


def trees_of(bases, key):
    """The trees of the bases of a vector; a delta among them takes the place of its own bases."""
    trees = []
    for data, over in bases:
        trees[len(trees) - over:] = [open_tree(data, key, trees[len(trees) - over:])]
    return trees


def check_delta_vector(vector, verbose):
    """The problems of a vector, as texts."""
    try:
        records = read_pack(vector.data, vector.key, bases=trees_of(vector.bases, vector.key))
    except Refused as error:
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    listing = [[r.path.decode("utf-8") + "/", None] if r.type == DIRECTORY else [r.path.decode("utf-8"), r.digest.hex()] for r in records]
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif listing != vector.records:
        yield f"the records differ: {listing}"


def base_pack(items, **changes):
    """A base, as small as it can be: one data frame, whose bytes do not depend on a library."""
    return pack_of(tree_payload(list(items), F=8 << 20, codec=prefix_frame, **changes)[0], version=VERSION - 1), 0


def delta_vector(name, comment, items, *, over=(OLD_TREE,), given=None, expect="ok", pack=None, **changes):
    """A vector of a delta to `items` over full packs of the trees in `over`. `given` are the bases that the reader gets, where others."""
    trees = [FileTree(tree) for tree in over]
    payload, records = delta_payload(trees, items, **changes)
    bases = [base_pack(tree) for tree in over] if given is None else given
    return DeltaVector(name, expect, comment, AK, bases, pack_of(payload, **{"kind": 2, **(pack or {})}), records if expect == "ok" else None)


def without(path, items=OLD_TREE):
    return [item for item in items if item.path != path.encode()]


def moved_to(path, other, items=OLD_TREE):
    return [item._replace(path=other.encode()) if item.path == path.encode() else item for item in items]


# The numbers of the contents of OLD_TREE.
A_TXT, C_BIN, D_DIRECTORY, NOISE_BIN, RUN, OLD_LIST = range(6)


def valid_deltas():
    """§13"""
    yield from valid_delta_places()
    yield from valid_delta_bases()
    yield from valid_delta_windows()
    yield from valid_delta_frames()
    yield from valid_delta_packs()


def valid_delta_places():
    """§13.5: where the content of a record is."""
    vector = delta_vector
    yield vector("unchanged", "nothing changed: only the list is sent", OLD_TREE)
    yield vector("changed", "a part of one file changed", NEW_TREE)
    yield vector("renamed", "a file has another name", moved_to("a.txt", "z.txt"))
    yield vector("moved", "a file is in another directory, which there was not before", moved_to("noise.bin", "e/f/noise.bin"))
    yield vector("swapped", "two files changed their places: content numbers that descend",
                 [*OLD_TREE[1:3], file("a.txt", noise(200)), file("noise.bin", OLD_TEXT), OLD_TREE[4]])
    yield vector("moved-thrice", "one content moved to three records",
                 [*OLD_TREE, file("e.txt", OLD_TEXT), file("f.txt", OLD_TEXT), file("g.txt", OLD_TEXT, True)])
    yield vector("moved-to-itself", "a record that is moved from where it would be taken from anyhow", OLD_TREE,
                 plan=lambda plan: dict(plan, moved=[(A_TXT, A_TXT)]))
    yield vector("repeated", "three records of one new content, the first of them last in the head",
                 [*OLD_TREE, file("m.txt", b"new"), file("n.txt", b"new"), file("o.txt", b"new", True)],
                 plan=lambda plan: dict(plan, new=[6], repeated=[(3, 0), (4, 0)]))
    yield vector("equal-contents-twice", "equal contents that are stored twice", [*OLD_TREE, file("m", b"new"), file("n", b"new")],
                 plan=lambda plan: dict(plan, new=[3, 4], repeated=[]))
    yield vector("new-though-in-base", "a new content that the base has, too", [*OLD_TREE, file("m.txt", OLD_TEXT)],
                 plan=lambda plan: dict(plan, moved=[], new=[3]))
    yield vector("new-descending", "new contents in an order of their own",
                 [*OLD_TREE, file("m", b"first"), file("n", b"second"), file("o", b"third")],
                 plan=lambda plan: dict(plan, new=[6, 3, 4]))
    yield vector("removed", "a file is gone", without("noise.bin"))
    yield vector("executable", "the executable flag of two files changed, not their contents",
                 [file("a.txt", OLD_TEXT, True), *OLD_TREE[1:4], file("run", b"#!/bin/sh\n")])
    yield vector("kinds", "a file became a directory, a directory and an empty file became files",
                 [file("a.txt/x", b"in the directory"), file("b/c.bin", b"no more empty"), file("d", OLD_TEXT), *OLD_TREE[3:]])
    yield vector("emptied", "a file became empty, another a directory: no place is needed", [file("a.txt"), *OLD_TREE[1:3], directory("noise.bin"), OLD_TREE[4]])
    yield vector("empty-target", "a target without records: no list, and no window", [])


def valid_delta_bases():
    """§13.3: bases."""
    vector = delta_vector
    four = ((file("1.txt", b"one"), file("x", b"x")), ENGINE, OLD_TREE, (file("4.txt", b"four"), directory("dir")))
    yield vector("empty-base", "a base without records: content 0 is an empty list", NEW_TREE, over=[()])
    yield vector("empty-both", "base and target without records: a payload without windows", [], over=[()])
    yield vector("bases-four", "moved records, and a prefix, of four bases",
                 [file("1.txt", b"one"), file("a.txt", NEW_TEXT), file("e.js", ENGINE[0].content), file("four", b"four"), file("n.bin", noise(200))],
                 over=four, ranges={1: [Range(4, 0, len(OLD_TEXT))]})
    yield vector("bases-path-of-second", "the path and the content of a record are those of the second base's: only the first base's records are "
                 "found by path, so that the record is moved", [OLD_TREE[0], ENGINE[1]], over=[OLD_TREE, ENGINE],
                 plan=lambda plan: dict(plan, moved=[(1, 6)]))
    yield vector("bases-second-unused", "a second base of which nothing is used", NEW_TREE, over=[OLD_TREE, ENGINE])
    yield vector("bases-equal", "two bases that are the same", moved_to("a.txt", "z.txt"), over=[OLD_TREE, OLD_TREE],
                 plan=lambda plan: dict(plan, moved=[(4, 5 + A_TXT)]))
    yield vector("bases-prefix-from-both", "a prefix from contents of both bases, and from the list of the first",
                 [*OLD_TREE, file("m", ENGINE[0].content[:80] + noise(100) + b"b/c.bin\0\0")], over=[OLD_TREE, ENGINE],
                 ranges={1: [Range(NOISE_BIN, 0, 120), Range(5, 0, 100), Range(7, 5, 12)]})
    own = {name: make_pack(key_of_pack(AK, name), name, VERSION - 1, open_pack(base_pack(tree)[0], AK).payload, S=SMALL)
           for name, tree in ((NAME, OLD_TREE), ("engine", ENGINE))}
    yield vector("bases-other-keys", "the delta and its two bases, one of them of another name, have keys of their own; the key given is their root key (§2.3)",
                 [*OLD_TREE, ENGINE[1]], over=[OLD_TREE, ENGINE], given=[(own[NAME], 0), (own["engine"], 0)], pack={"ak": OWN_AK})
    below = base_pack(OLD_TREE)
    middle = (*OLD_TREE, file("m.txt", NEW_TEXT), file("n", b"new"), file("o", b"new"))
    payload, _ = delta_payload([FileTree(OLD_TREE)], middle)
    between = pack_of(payload, kind=2), 1
    after = (file("a.txt", NEW_TEXT + b"and more\n"), file("m.txt", b"new"), file("n", b"new"), file("p.txt", NEW_TEXT))
    yield vector("base-is-delta", "the base is a delta over a full pack: contents of it are moved, and in prefixes", after, over=[middle],
                 given=[below, between], pack={"version": VERSION + 1})
    payload, _ = delta_payload([FileTree(middle), FileTree(ENGINE)], (*after, ENGINE[1]))
    third = pack_of(payload, kind=2, version=VERSION + 1), 2
    yield vector("base-is-delta-of-two", "two full packs and two deltas: the second delta is over the first and a full pack, the third over the second",
                 [*after, file("q.bin", noise(100, b"font"))], over=[(*after, ENGINE[1])], given=[below, between, base_pack(ENGINE), third],
                 pack={"version": VERSION + 2})


def valid_delta_windows():
    """§13.6: ranges and windows."""
    vector = delta_vector
    three = [Range(A_TXT, 0, 40), Range(A_TXT, 100, 60), Range(NOISE_BIN, 10, 50)]
    yield vector("ranges-three", "a window with three ranges of two contents", NEW_TREE, ranges={1: three})
    yield vector("ranges-touch", "ranges of one content that touch", NEW_TREE, ranges={1: [Range(A_TXT, 0, 100), Range(A_TXT, 100, 1), Range(A_TXT, 101, 399)]})
    yield vector("ranges-edges", "ranges of the first and the last byte of a content, and of the list",
                 NEW_TREE, ranges={1: [Range(A_TXT, 0, 1), Range(A_TXT, len(OLD_TEXT) - 1, 1), Range(OLD_LIST, 0, 1),
                                       Range(OLD_LIST, len(list_bytes(FileTree(OLD_TREE).records)) - 1, 1)]})
    yield vector("ranges-1024", "1024 ranges, the most", NEW_TREE, over=[(file("a.txt", noise(2048)),)],
                 ranges={1: [Range(0, 2 * i, 1) for i in range(1024)]})
    yield vector("ranges-none", "windows without ranges, also that of the list", NEW_TREE, ranges={0: [], 1: []})
    yield vector("ranges-unused", "a prefix in which no match begins", NEW_TREE, codec=lambda content, prefix: raw_frame(content))
    large = (file("zeros", bytes(MAX_PREFIX + 5)),)
    yield vector("prefix-3-mib", "a prefix of 3 MiB, the longest, in two ranges, and an output of 1 MiB, the longest",
                 [file("m", b"\0\1" * (1 << 19)), *large], over=[large],
                 ranges={1: [Range(0, 3, 1 << 20), Range(0, (1 << 20) + 5, 2 << 20)]},
                 windows=lambda w: [w[0], [parts_frame([b"\0\1", *[Match(2, 65536)] * 15, Match(2, 65534)], 1 << 20), *w[1][1:]]])
    yield vector("list-three-windows", "a list in windows of 5 bytes, 1 byte and the rest", NEW_TREE,
                 sizes=[5, 1, len(list_bytes(FileTree(NEW_TREE).records)) - 6, len(NEW_TEXT)])
    several = [*OLD_TREE, file("m", b"first"), file("n", b"the second"), file("o", b"third")]
    length = len(list_bytes(FileTree(several).records))
    yield vector("window-several-contents", "three new contents in one window", several)
    yield vector("windows-cut-contents", "windows that end inside contents, one with one byte", several, sizes=[length, 3, 1, 9, 7])
    yield vector("windows-of-one-byte", "each window holds one byte", [file("a", b"12")], sizes=[1] * 6)


def valid_delta_frames():
    """§13.6: what a prefix is to a frame."""
    vector = delta_vector
    magic = (file("dictionary", bytes.fromhex("37a430ec") + noise(300, b"dictionary")),)
    yield vector("prefix-dictionary-magic", "a prefix that begins with the magic of a zstd dictionary",
                 [file("dictionary", magic[0].content[:200] + b"!")], over=[magic])
    yield vector("prefix-dictionary-magic-only", "a prefix of only the magic of a zstd dictionary", [file("m", bytes.fromhex("37a430ec") * 5)], over=[magic],
                 ranges={0: [], 1: [Range(0, 0, 4)]}, windows=lambda w: [w[0], [parts_frame([Match(4, 20)], 20), *w[1][1:]]])
    yield vector("prefix-one-byte", "a prefix of one byte, and a match with it", [*OLD_TREE, file("m", b"#" * 20)],
                 ranges={1: [Range(RUN, 0, 1)]}, windows=lambda w: [w[0], [parts_frame([Match(1, 20)], 20), *w[1][1:]]])
    yield vector("prefix-repeat-offset", "a first match with the second repeated offset, which is 4 as for every frame: a formatted dictionary would change it",
                 [*OLD_TREE, file("m", noise(200)[196:] * 5)], ranges={1: [Range(NOISE_BIN, 100, 100)]},
                 windows=lambda w: [w[0], [frame_header(20) + sequence_block(1, 20, True), *w[1][1:]]])
    yield vector("match-first-byte", "a match that begins with the first byte of the prefix and runs on into the content",
                 [*OLD_TREE, file("m", (noise(50) + b"x") * 3)], ranges={1: [Range(NOISE_BIN, 0, 50)]},
                 windows=lambda w: [w[0], [parts_frame([Match(50, 50), b"x", Match(51, 102)], 153), *w[1][1:]]])
    yield vector("match-across-ranges", "a match across two ranges, as if they stood end to end", [*OLD_TREE, file("m", noise(200)[150:] + b"#!/bin/sh\n")],
                 ranges={1: [Range(NOISE_BIN, 150, 50), Range(RUN, 0, 10)]})
    yield vector("frame-unused-bit", "bit 4 of the descriptor is ignored (§4.4), in a window and in the head", NEW_TREE,
                 windows=lambda w: [w[0], [set_bits(w[1][0], 4, 0x10), *w[1][1:]]], headframe=lambda frame: set_bits(frame, 4, 0x10))
    text = b"".join(b"line %d of a text that a library compresses, %d\n" % (i, i * i) for i in range(120))
    changed = text.replace(b"9", b"nine")
    for level in (3, 19):
        yield vector(f"library-level-{level}", f"frames of the zstandard library, level {level}", [file("a.txt", changed), directory("d")], over=[(file("a.txt", text),)],
                     codec=lambda content, prefix: library_frame(content, prefix, level))


def valid_delta_packs():
    """§1, §2.4, §7: the pack around the payload."""
    vector = delta_vector
    yield vector("segment-65536", "S = 65536, the base has 4096", NEW_TREE, pack={"S": 65536})
    yield vector("segments-three", "a delta over three segments", [*OLD_TREE, file("m", noise(9000, b"large"))])
    yield vector("salt-random", "a random salt with R = 40…5f (§2.4)", NEW_TREE, pack={"random": bytes(range(0x40, 0x60))})
    yield vector("minor-255", "minor 255, nothing else", NEW_TREE, pack={"minor": 255})
    yield vector("minor-1-bytes", "minor 1: bytes after the fields of the head are ignored (§13.5)", NEW_TREE, pack={"minor": 1},
                 head=lambda head: head + b"later")
    yield vector("version-lower", "the version of the target is below that of the base", NEW_TREE, pack={"version": 0})
    yield vector("flag-bit-9", "an ignorable flag is set (§1.2)", NEW_TREE, pack={"flags": 0x0201})


# ---------------------------------------------------------------------------------------------
# Vectors: hostile deltas
# ---------------------------------------------------------------------------------------------


def hostile_delta(name, comment, items=NEW_TREE, expect="damaged", **changes):
    return delta_vector(name, comment, items, expect=expect, **changes)


def hostile_deltas():
    """§13.5–13.7"""
    yield from hostile_delta_trailers()
    yield from hostile_delta_fields()
    yield from hostile_delta_ranges()
    yield from hostile_delta_bases()
    yield from hostile_delta_lists()
    yield from hostile_delta_places()
    yield from hostile_delta_frames()
    yield from hostile_delta_orders()


def with_fields(**values):
    """A change of fields of the head; a function is applied to the regular value."""
    return lambda f: dict(f, **{key: value(f[key]) if callable(value) else value for key, value in values.items()})


def with_window(index, **values):
    """A change of what the head says of one window."""
    return with_fields(windows=lambda windows: [w._replace(**values) if i == index else w for i, w in enumerate(windows)])


def with_ranges(*ranges):
    """A change of what the head says of the ranges of the window of contents, whose frame stays what it is."""
    return with_window(1, ranges=list(ranges))


def hostile_delta_trailers():
    """§13.7, step 1."""
    for name, comment, changes, expect in (
            ("magic", "another magic at the end", {"trailer": lambda t: flip(t, 4)}, "damaged"),
            ("missing", "no trailer", {"trailer": lambda t: b""}, "damaged"),
            ("byte-after", "a byte after the trailer", {"trailer": lambda t: t + b"\0"}, "damaged"),
            ("head-longer", "the length of the head is 1 too large", {"trailer": lambda t: u32(number(t, 0, 4) + 1) + t[4:]}, "damaged"),
            ("head-shorter", "the length of the head is 1 too small", {"trailer": lambda t: u32(number(t, 0, 4) - 1) + t[4:]}, "damaged"),
            ("head-0", "the length of the head is 0", {"trailer": lambda t: u32(0) + t[4:]}, "damaged"),
            ("head-beyond", "the head is longer than the payload", {"trailer": lambda t: u32(100000) + t[4:]}, "damaged"),
            ("head-2-32", "the length of the head is 2^32-1", {"trailer": lambda t: u32(0xFFFFFFFF) + t[4:]}, "damaged"),
            ("payload-empty", "an empty payload", {"payload": lambda p: b""}, "damaged"),
            ("payload-7-bytes", "a payload of 7 bytes, the last four of them the magic", {"payload": lambda p: p[-7:]}, "damaged"),
            ("payload-8-bytes", "a payload of 8 bytes, without a head", {"payload": lambda p: u32(0) + DELTA_MAGIC}, "damaged")):
        yield hostile_delta("trailer-" + name, comment, expect=expect, **changes)
    for name, comment, frame, expect in (
            ("above-limit", "a head of 4 MiB + 1 bytes", lambda f: run_frame(bytes(MAX_DELTA_HEAD + 1)), "limit"),
            ("bomb", "the frame of the head states 200 bytes and expands to 7.5 MiB", lambda f: bomb_frame(200, 60), "damaged"),
            ("longer", "the frame of the head expands to more than it states", lambda f: change(f, 5, bytes([f[5] - 1])), "damaged"),
            ("checksum", "the frame of the head has the checksum flag", lambda f: set_bits(f, 4, 4) + bytes(4), "damaged"),
            ("hidden", "bytes after the frame of the head", lambda f: f + b"hidden", "damaged"),
            ("skippable", "a skippable frame in the place of the head", lambda f: skippable(0x184D2A50, bytes(64)), "damaged"),
            ("zeros", "a head of 4 MiB of zeros: no bases", lambda f: run_frame(bytes(MAX_DELTA_HEAD)), "damaged")):
        yield hostile_delta("head-" + name, comment, expect=expect, headframe=frame)


def hostile_delta_fields():
    """§13.2, §13.5; §13.7, step 2."""
    at_list = 1 + 32 + 32
    first = varint(len(list_bytes(FileTree(NEW_TREE).records)))
    assert len(first) == 1

    def list_length(value):
        return lambda head: head[:at_list] + value + head[at_list + 1:]

    for name, comment, head, expect in (
            ("cut", "the head ends inside its last number", lambda h: h[:-1], "damaged"),
            ("cut-in-roots", "the head ends inside a content root", lambda h: h[:40], "damaged"),
            ("bytes-after", "bytes after the fields under minor 0", lambda h: h + b"\0", "damaged"),
            ("varint-two-bytes", "the number of bases in two bytes: 81 00", lambda h: b"\x81\0" + h[1:], "damaged"),
            ("varint-long-zero", "the length of the list with a group of zeros", list_length(bytes([first[0] | 128, 0x80, 0])), "damaged"),
            ("varint-2-53", "2^53 as the length of the list", list_length(varint(1 << 53)), "damaged"),
            ("varint-largest", "2^53-1 as the length of the list", list_length(varint((1 << 53) - 1)), "limit"),
            ("varint-2-64", "2^64 + 1 as the number of bases", lambda h: varint((1 << 64) + 1) + h[1:], "damaged"),
            ("varint-endless", "a varint that does not end", lambda h: h[:at_list] + b"\xff" * 100, "damaged"),
            ("bases-0", "no bases", lambda h: b"\0" + h[33:], "damaged"),
            ("bases-5", "five bases", lambda h: b"\5" + 4 * h[1:33] + h[1:], "limit"),
            ("list-above-limit", "a list of 16 MiB + 1 bytes", list_length(varint(MAX_LIST + 1)), "limit"),
            ("list-16-mib", "a list of 16 MiB of which the windows hold 50 bytes", list_length(varint(MAX_LIST)), "damaged"),
            ("windows-above-limit", "131073 windows", lambda h: h[:at_list + 1] + varint(MAX_WINDOWS + 1), "limit"),
            ("moved-2-53", "2^53-1 moved records, of which none is there", lambda h: h[:-4] + varint(MAX_INTEGER), "limit"),
            ("new-2-53", "2^53-1 new contents, of which none is there", lambda h: h[:-3] + varint(MAX_INTEGER), "limit"),
            ("new-4-million", "new contents of the records 0 … 3 999 999", lambda h: h[:-3] + varint(4000000) + bytes(4000001), "limit"),
            ("new-2-20", "new contents of the records 0 … 2^20-1", lambda h: h[:-3] + varint(MAX_NAMED) + bytes(MAX_NAMED + 1), "damaged"),
            ("new-above-limit", "a moved record, and 2^20 new contents of which none is there", lambda h: h[:-4] + b"\1\0\0" + varint(MAX_NAMED), "limit"),
            ("repeated-2-53", "2^53-1 repeated records, of which none is there", lambda h: h[:-1] + varint(MAX_INTEGER), "limit"),
            ("repeated-above-limit", "one new content, and 2^20 repeated records of which none is there", lambda h: h[:-1] + varint(MAX_NAMED), "limit"),
            ("windows-131072", "131072 windows, of which two are there", lambda h: h[:at_list + 1] + varint(MAX_WINDOWS) + h[at_list + 2:], "damaged")):
        yield hostile_delta("fields-" + name, comment, expect=expect, head=head)
    for name, comment, fields, expect in (
            ("output-0", "a window without output", with_window(1, output=0), "damaged"),
            ("output-above-limit", "a window of 1 MiB + 1 bytes", with_window(1, output=MAX_OUTPUT + 1), "limit"),
            ("output-1-mib", "the output length is not the frame's", with_window(1, output=MAX_OUTPUT), "damaged"),
            ("compressed-shorter", "the compressed lengths are 1 too small", with_window(1, length=20), "damaged"),
            ("compressed-longer", "a compressed length above the bound of the output", with_window(1, length=5000), "damaged"),
            ("compressed-0", "a window of no bytes", with_window(1, length=0), "damaged"),
            ("compressed-shifted", "the end of the first window is 1 byte too late",
             with_fields(windows=lambda w: [w[0]._replace(length=w[0].length + 1), w[1]._replace(length=w[1].length - 1)]), "damaged"),
            ("window-missing", "the head does not have the last window", with_fields(windows=lambda w: w[:1]), "damaged"),
            ("compressed-overflow", "1100 windows whose compressed lengths are 2^53-1",
             with_fields(windows=lambda w: [w[0], *[WindowPlace(MAX_INTEGER, 1, [])] * 1100]), "damaged"),
            ("list-shorter", "the list ends inside its window", with_fields(list=lambda n: n - 1), "damaged"),
            ("list-longer", "the list ends inside the window of the contents", with_fields(list=lambda n: n + 1), "damaged"),
            ("list-0", "a list of no bytes, although the stream has one", with_fields(list=0), "damaged"),
            ("list-beyond", "the list is as long as the stream", with_fields(list=lambda n: n + len(NEW_TEXT)), "damaged"),
            ("target-root", "the content root of the target", with_fields(target=bytes(32)), "damaged")):
        yield hostile_delta("fields-" + name, comment, expect=expect, fields=fields)
    yield hostile_delta("windows-cross-list", "a window holds the end of the list and the beginning of a content",
                        sizes=[len(list_bytes(FileTree(NEW_TREE).records)) - 1, len(NEW_TEXT) + 1], ranges={1: [Range(A_TXT, 0, len(OLD_TEXT))]})
    yield hostile_delta("windows-cross-list-one", "one window holds list and contents", sizes=[len(list_bytes(FileTree(NEW_TREE).records)) + len(NEW_TEXT)])


def hostile_delta_ranges():
    """§13.5, §13.6, §13.7 step 5; the frame was made with the right prefix."""
    size = len(OLD_TEXT)
    for name, comment, ranges, expect in (
            ("1025", "1025 ranges", [Range(A_TXT, i, 1) for i in range(1025)], "limit"),
            ("empty", "a range of no bytes", [Range(A_TXT, 0, size), Range(NOISE_BIN, 0, 0)], "damaged"),
            ("prefix-above-limit", "a prefix of 3 MiB + 1 bytes, in two ranges", [Range(A_TXT, 0, 1), Range(A_TXT, 1, MAX_PREFIX)], "limit"),
            ("length-2-53", "a range of 2^53-1 bytes", [Range(A_TXT, 0, MAX_INTEGER)], "limit"),
            ("beyond", "a range that ends 1 byte behind its content", [Range(A_TXT, 1, size)], "damaged"),
            ("behind", "a range that begins where its content ends", [Range(A_TXT, size, 1)], "damaged"),
            ("offset-2-53", "an offset of 2^53-1, and an end of 2^53", [Range(A_TXT, MAX_INTEGER, 1)], "damaged"),
            ("offset-2-32", "an offset of 2^32: 0 in 32 bits", [Range(A_TXT, 1 << 32, size)], "damaged"),
            ("offsets-overflow", "1024 ranges whose ends come to 2^63", [Range(A_TXT, i * (1 << 53) + MAX_INTEGER, 1) for i in range(1024)], "damaged"),
            ("contents-overflow", "1024 ranges whose content numbers come to nearly 2^63", [Range((i + 1) * MAX_INTEGER, 0, 1) for i in range(1024)], "damaged"),
            ("content-2-32", "content 2^32: 0 in 32 bits", [Range(1 << 32, 0, size)], "damaged"),
            ("of-directory", "a range of a directory, which has no bytes", [Range(A_TXT, 0, size), Range(D_DIRECTORY, 0, 1)], "damaged"),
            ("of-empty-file", "a range of an empty file", [Range(A_TXT, 0, size), Range(C_BIN, 0, 1)], "damaged"),
            ("of-list-beyond", "a range behind the list of the base", [Range(OLD_LIST, 0, 100)], "damaged"),
            ("content-beyond", "a range of content R + 1", [Range(A_TXT, 0, size), Range(OLD_LIST + 1, 0, 1)], "damaged"),
            ("other", "another prefix of the right length: the content is not the target's", [Range(A_TXT, 1, size - 1), Range(RUN, 0, 1)], "damaged")):
        yield hostile_delta("range-" + name, comment, expect=expect, fields=with_ranges(*ranges))
    yield hostile_delta("range-list-window", "a range outside its content in the window of the list", fields=with_window(0, ranges=[Range(OLD_LIST, 1, 50)]))
    yield hostile_delta("range-list-of-second", "content R is the list of the first base; that of the second is none", over=[OLD_TREE, ENGINE],
                        fields=with_ranges(Range(A_TXT, 0, size), Range(8, 0, 5)))
    yield hostile_delta("range-empty-base-list", "a range of the empty list of an empty base", over=[()], fields=with_ranges(Range(0, 0, 1)))


def hostile_delta_bases():
    """§13.7, step 3."""
    old, engine = base_pack(OLD_TREE), base_pack(ENGINE)
    other = base_pack([*OLD_TREE[:4], file("run", b"#!/bin/zsh", True)])
    for name, comment, over, given in (
            ("wrong", "the base at hand is another tree with the same paths and sizes", [OLD_TREE], [other]),
            ("executable", "the base at hand has another executable flag", [OLD_TREE], [base_pack([*OLD_TREE[:4], file("run", b"#!/bin/sh\n")])]),
            ("swapped", "two bases in the other order", [OLD_TREE, ENGINE], [engine, old]),
            ("missing", "one of two bases is missing", [OLD_TREE, ENGINE], [old]),
            ("more", "one base more than the delta has", [OLD_TREE], [old, engine]),
            ("target", "the base at hand is the target", [OLD_TREE], [base_pack(NEW_TREE)])):
        yield hostile_delta("base-" + name, comment, expect="wrong-base", over=over, given=given)
    damaged = list(old)
    damaged[0] = flip(old[0], 300)
    yield hostile_delta("base-damaged", "a segment of the base does not open: the base's error", given=[tuple(damaged)])
    yield hostile_delta("base-truncated", "the base is cut off: the base's error", expect="truncated", given=[(old[0][:150], 0)])
    builder, records = build_tree([*OLD_TREE[:4], file("run", b"#!/bin/zsh", True)])
    payload = make_payload(builder.finish(), records, codec=prefix_frame, fields=with_fields(root=FileTree(OLD_TREE).root))
    yield hostile_delta("base-root-stated", "the head of the base states the content root that the delta names, but another follows from its records; "
                        "the target does not have the file that differs", without("run"), given=[(pack_of(payload), 0)])
    between, _ = delta_payload([FileTree(OLD_TREE)], NEW_TREE)
    wrong = [other, (pack_of(between, kind=2), 1)]
    yield hostile_delta("base-delta-over-other", "the base is a delta, and not over its own base: the base's error", expect="wrong-base", over=[NEW_TREE], given=wrong)
    between, _ = delta_payload([FileTree(OLD_TREE)], [*NEW_TREE, file("m", b"other")], fields=with_fields(target=FileTree([*NEW_TREE, file("m", b"named")]).root))
    yield hostile_delta("base-delta-root-stated", "the base is a delta whose head states the content root that this delta names, but another follows; the target "
                        "does not have the file that differs", over=[(*NEW_TREE, file("m", b"named"))], given=[old, (pack_of(between, kind=2), 1)])
    forged = replaced(b"a.txt", digest=sha256(b"other"))
    builder, records = build_tree(list(OLD_TREE))
    payload = make_payload(builder.finish(), forged(records), codec=prefix_frame)
    tree = FileTree(OLD_TREE)
    tree.records = forged(tree.records)
    tree.root = content_root(tree.records)
    made, _ = delta_payload([tree], moved_to("a.txt", "z.txt"), plan=lambda plan: {"moved": [(4, A_TXT)], "new": [], "repeated": []},
                            fields=with_fields(target=content_root(sorted(r._replace(path=b"z.txt") if r.path == b"a.txt" else r for r in tree.records))))
    yield DeltaVector("base-digest", "damaged", "a content of the base has another SHA-256 than its index says; the content roots of base and target "
                      "hold the wrong one", AK, [(pack_of(payload), 0)], pack_of(made, kind=2), None)


def hostile_delta_lists():
    """§13.4; the content root of the target is that of the tree with the fault, where it has one."""
    def with_list(name, comment, listing, expect="damaged"):
        return hostile_delta("list-" + name, comment, OLD_TREE, expect, list=listing)

    def lines(*changed):
        """The list with other records."""
        return lambda _: b"".join(path + b"\0" + bytes([kind]) + varint(size) for path, kind, size in changed)

    rest = (b"b/c.bin", 0, 0), (b"d", 1, 0), (b"noise.bin", 0, 200), (b"run", 0x80, 10)
    text = len(OLD_TEXT)
    for name, comment, listing, expect in (
            ("order", "two records are swapped", lines((b"a.txt", 0, text), rest[1], rest[0], *rest[2:]), "damaged"),
            ("twice", "a path twice", lines((b"a.txt", 0, text), (b"a.txt", 0, text), *rest), "damaged"),
            ("type-2", "record type 2", lines((b"a.txt", 0, text), rest[0], (b"d", 2, 0), *rest[2:]), "unsupported"),
            ("type-0x81", "record type 0x81", lines((b"a.txt", 0, text), rest[0], (b"d", 0x81, 0), *rest[2:]), "unsupported"),
            ("directory-size", "a directory with a size", lines((b"a.txt", 0, text), rest[0], (b"d", 1, 5), *rest[2:]), "damaged"),
            ("cut", "the list ends before the size of its last record", lambda l: l[:-1], "damaged"),
            ("cut-in-path", "the list ends inside a path", lambda l: l + b"z", "damaged"),
            ("path-1025-without-end", "1025 bytes without 00 at the end of the list", lambda l: l + b"z" * 1025, "limit"),
            ("size-long", "a size that is not the shortest varint", lambda l: l[:-1] + bytes([l[-1] | 128, 0]), "damaged"),
            ("size-2-53", "a size of 2^53", lambda l: l + b"z\0\0" + varint(1 << 53), "damaged"),
            ("content-size", "a content size above 64 GiB", lambda l: l + b"z\0\0" + varint(MAX_CONTENT), "limit"),
            ("under-file", "a file and a leading directory with one path", lines((b"a.txt", 0, text), (b"a.txt/x", 0, 0), *rest), "damaged"),
            ("path-empty", "an empty path", lambda l: b"\0\0\0" + l, "damaged"),
            ("path-dotdot", "`../x`", lambda l: b"../x\0\0\0" + l, "damaged"),
            ("path-absolute", "`/etc/x`", lambda l: b"/etc/x\0\0\0" + l, "damaged"),
            ("path-backslash", "`s\\x`", lambda l: l + b"s\\x\0\0\0", "damaged"),
            ("path-slash-last", "a directory `s/`", lambda l: l + b"s/\0\1\0", "damaged"),
            ("path-utf8", "the byte ff", lambda l: l + b"s\xff\0\0\0", "damaged"),
            ("path-nfd", "`u` and U+0308", lambda l: l + "u\u0308\0\0\0".encode(), "damaged"),
            ("path-reserved", "`.pack/x`", lambda l: b".pack/x\0\0\0" + l, "damaged"),
            ("path-1025-bytes", "a path of 1025 bytes", lambda l: l + b"/".join([b"z" * 63] * 16) + b"/e\0\0\0", "limit"),
            ("path-65-components", "a path of 65 components", lambda l: l + b"z/" * 64 + b"e\0\0\0", "limit"),
            ("component-256-bytes", "a component of 256 bytes", lambda l: l + b"z" * 256 + b"\0\0\0", "damaged")):
        yield with_list(name, comment, listing, expect)
    large = b"".join(b"z%04d\0\0" % i + varint(MAX_INTEGER) for i in range(1025))
    yield hostile_delta("list-sizes-overflow", "1025 sizes of 2^53-1, which come to more than 2^63", expect="limit", list=lambda listing: listing + large,
                        codec=lambda content, prefix: library_frame(content, prefix, 19))
    yield hostile_delta("list-bytes-after-minor-1", "bytes after the last record are refused under every minor", list=lambda listing: listing + b"later",
                        pack={"minor": 1})
    yield hostile_delta("list-directories-65537", "65 537 directories, each file under 63 of its own", many_directories(65536), "limit", over=[()],
                        codec=lambda content, prefix: library_frame(content, prefix, 19))


def hostile_delta_places():
    """§13.5; §13.7, step 4."""
    added = [*OLD_TREE, file("m", b"new")]  # record 3; noise.bin is 4, run 5
    ten = [*OLD_TREE, file("m", b"0123456789"), file("n", b"0123456789")]  # records 3 and 4, of the size of run
    renamed = moved_to("a.txt", "z.txt")  # record 4
    for name, comment, items, plan in (
            ("moved-beyond", "moved from content R + 1", renamed, {"moved": [(4, OLD_LIST + 1)]}),
            ("moved-2-32", "moved from content 2^32: 0 in 32 bits", renamed, {"moved": [(4, 1 << 32)]}),
            ("moved-negative", "moved from content -1", renamed, {"moved": [(4, -1)]}),
            ("moved-negative-later", "the second record moved from content -1", [*renamed, file("zz", OLD_TEXT)], {"moved": [(4, 0), (5, -1)]}),
            ("moved-size", "moved from a content of another size", renamed, {"moved": [(4, NOISE_BIN)]}),
            ("moved-directory-content", "moved from a directory", renamed, {"moved": [(4, D_DIRECTORY)]}),
            ("moved-record-beyond", "moved to a record that is not there", renamed, {"moved": [(4, 0), (5, 0)]}),
            ("moved-record-2-32", "moved to record 2^32 + 4", renamed, {"moved": [((1 << 32) + 4, 0)]}),
            ("moved-empty", "moved to an empty file, from an empty file", OLD_TREE, {"moved": [(1, C_BIN)]}),
            ("moved-directory", "moved to a directory, from a directory", OLD_TREE, {"moved": [(2, D_DIRECTORY)]}),
            ("moved-records-overflow", "moved records whose numbers come to 2^64", renamed, {"moved": [((1 << 53) * (i + 1) - 1, 0) for i in range(2049)]}),
            ("moved-contents-overflow", "moved records whose contents come to 2^64", renamed, {"moved": [(i, (1 << 52) * (i + 1) - 1) for i in range(4100)]}),
            ("moved-and-new", "a record is moved and new", ten[:-1], {"moved": [(3, RUN)], "new": [3]}),
            ("new-twice", "a record is new twice", added, {"new": [3, 3]}),
            ("new-and-repeated", "a record is new and repeats itself", added, {"new": [3], "repeated": [(3, 0)]}),
            ("new-directory", "new content of a directory", added, {"new": [3, 2]}),
            ("new-empty", "new content of an empty file", added, {"new": [3, 1]}),
            ("new-record-beyond", "new content of a record that is not there", added, {"new": [3, 6]}),
            ("new-record-negative", "new content of record -1", added, {"new": [3, -1]}),
            ("repeated-beyond", "a new content that is not there is repeated", [*OLD_TREE, file("m", b"new"), file("n", b"new")],
             {"new": [3], "repeated": [(4, 1)]}),
            ("repeated-size", "a new content of another size is repeated", [*OLD_TREE, file("m", b"new"), file("n", b"four")],
             {"new": [3], "repeated": [(4, 0)]}),
            ("repeated-without-new", "a record is repeated, and none is new", [*OLD_TREE, file("m", b"new")], {"repeated": [(3, 0)]}),
            ("repeated-directory", "a directory is repeated", added, {"new": [3], "repeated": [(2, 0)]}),
            ("repeated-and-moved", "a record is repeated and moved", ten, {"moved": [(4, RUN)], "new": [3], "repeated": [(4, 0)]}),
            ("none", "a record without a place: no record of the base has its path", added, {}),
            ("none-size", "a record without a place: the base's record of its path has another size", NEW_TREE, {}),
            ("none-directory", "a record without a place: the base has a directory of its path", [*OLD_TREE[:2], file("d", b"file"), *OLD_TREE[3:]], {}),
            ("none-in-second", "a record without a place: only the second base has its path", [*OLD_TREE, file("z", b"z")], {})):
        over = [OLD_TREE, (file("z", b"z"),)] if name == "none-in-second" else [OLD_TREE]
        whole = {"moved": [], "new": [], "repeated": [], **plan}
        yield hostile_delta("place-" + name, comment, items, over=over, plan=lambda _: {**whole, "new": [i for i in whole["new"] if 0 <= i < len(items)]},
                            fields=with_fields(new=whole["new"]))
    yield hostile_delta("place-moved-list", "moved from the list of the base, which has the record's size",
                        [*OLD_TREE, file("z", list_bytes(FileTree(OLD_TREE).records))], plan=lambda _: {"moved": [(5, OLD_LIST)], "new": [], "repeated": []})
    yield hostile_delta("place-same-size", "a record of the same path and size as the base's, and of another content, has no place of its own",
                        [file("a.txt", OLD_TEXT.upper()), *OLD_TREE[1:]], plan=lambda _: {"moved": [], "new": [], "repeated": []})
    yield hostile_delta("stream-longer", "the windows hold a byte more than the stream", stream=lambda s: s + b"!")
    yield hostile_delta("stream-shorter", "the windows hold a byte less than the stream", stream=lambda s: s[:-1])
    yield hostile_delta("stream-only-list", "no window holds the new content", stream=lambda s: s[:-len(NEW_TEXT)])
    yield hostile_delta("stream-window-more", "a window behind the stream", sizes=[50, len(NEW_TEXT), 5], stream=lambda s: s + b"extra")


def hostile_delta_frames():
    """§4.4, §13.6: the frame of a window, which has n bytes."""
    n = len(NEW_TEXT)
    text = parts_frame([NEW_TEXT], n)

    def window(name, comment, frame, **changes):
        return hostile_delta("frame-" + name, comment, windows=lambda w: [w[0], [frame, *w[1][1:]]], **changes)

    for name, comment, frame in (
            ("content-size-more", "a frame that states a byte more than the head", parts_frame([NEW_TEXT, b"!"], n + 1)),
            ("content-size-less", "a frame that states a byte less than the head", parts_frame([NEW_TEXT[:-1]], n - 1)),
            ("content-size-8-mib", "a frame that states 8 MiB + 1 bytes", frame_header((8 << 20) + 1) + text[7:]),
            ("expands-to-more", "a frame that expands beyond its content size", parts_frame([NEW_TEXT, b"!"], n)),
            ("expands-to-less", "a frame that expands to less than its content size", parts_frame([NEW_TEXT[:-1]], n)),
            ("bomb", "a frame that expands to 128 MiB", bomb_frame(n, 300)[:bound(n)]),
            ("without-content-size", "a frame without content size", b"\x28\xb5\x2f\xfd\x00\x00" + text[7:]),
            ("checksum", "a frame with the checksum flag", set_bits(text, 4, 4) + bytes(4)),
            ("dictionary-id", "a frame with dictionary id 1", text[:4] + bytes([text[4] | 1]) + b"\1" + text[5:]),
            ("dictionary-id-0", "a frame with a dictionary id of one byte, which is 0", text[:4] + bytes([text[4] | 1]) + b"\0" + text[5:]),
            ("window-above-content", "a window of 1024 bytes for less", frame_header(n, window=0) + text[7:]),
            ("skippable", "a skippable frame", skippable(0x184D2A50, bytes(64))),
            ("hidden", "a second frame in the same place", text + raw_frame(b"hidden")),
            ("two-halves", "two frames that add up to the stated size", parts_frame([NEW_TEXT[:100]], 100) + parts_frame([NEW_TEXT[100:]], n - 100)),
            ("block-overrun", "a block that runs past its place", text[:-1]),
            ("empty-blocks", "more bytes than the bound: empty blocks in front", text[:7] + zstd_block(0, 0, b"", False) * 60 + text[7:]),
            ("treeless-literals", "literals that take their table from a dictionary, which raw content does not have", frame_header(n)
             + zstd_block(2, 24, b"\x43\1\1" + bytes(21), True)),
            ("repeated-tables", "a sequence whose tables come from a dictionary", frame_header(n) + zstd_block(2, 5, b"\0\1\xfc\1\1", True)),
            ("match-before-prefix", "a match that begins 1 byte before the prefix", parts_frame([Match(len(OLD_TEXT) + 1, 100), NEW_TEXT[100:]], n)),
            ("match-before-content", "a match that would be right if the prefix were twice as long",
             parts_frame([Match(2 * len(OLD_TEXT), 100), NEW_TEXT[100:]], n))):
        yield window(name, comment, frame)
    yield hostile_delta("frame-window", "a frame with a window byte: window 1024, content 2048; its matches are nearer", [*OLD_TREE, file("m", b"ab" * 1024)],
                        windows=lambda w: [w[0], [parts_frame([b"ab", Match(2, 1022), Match(2, 1024)], 2048, frame_header(2048, window=0)), *w[1][1:]]])
    content = noise(1000, b"c") + noise(1000, b"d") + noise(20)
    yield hostile_delta("frame-match-beyond-window", "a match with the prefix that is further back than the window of 1024 bytes", [*OLD_TREE, file("m", content)],
                        ranges={1: [Range(NOISE_BIN, 0, 100)]}, windows=lambda w: [
                            w[0], [parts_frame([content[:1000], content[1000:2000], Match(2100, 20)], 2020, frame_header(2020, window=0)), *w[1][1:]]])
    yield window("match-without-prefix", "a match that begins before a content without prefix", parts_frame([Match(1, 100), NEW_TEXT[100:]], n),
                 fields=with_ranges())
    yield hostile_delta("frame-list-bomb", "the window of the list states its size and expands to more",
                        windows=lambda w: [[bomb_frame(w[0][1], 12), *w[0][1:]], w[1]])
    yield hostile_delta("kind-1", "the payload of a delta under kind 1", pack={"kind": 1})
    yield hostile_delta("kind-2", "the payload of a full pack under kind 2", payload=lambda _: tree_payload(list(NEW_TREE))[0])
    yield hostile_delta("kind-3", "kind 3", expect="unsupported", pack={"kind": 3})
    whole = delta_vector("changed", "", NEW_TREE)
    for name, comment, expect, data in (("segment-flipped", "a segment that does not open", "damaged", flip(whole.data, 200)),
                                        ("mac-flipped", "a bit of the header MAC", "damaged", flip(whole.data, 112)),
                                        ("truncated", "a delta that is cut off in its header", "truncated", whole.data[:150]),
                                        ("not-a-pack", "a text", "not-a-pack", b"hello\n")):
        yield whole._replace(name="pack-" + name, comment=comment, expect=expect, data=data, records=None)
    yield hostile_delta("pack-key-other", "a delta for another key, and another base: the key comes first", expect="wrong-key", given=[base_pack(ENGINE)],
                        pack={"ak": OTHER_AK})


def hostile_delta_orders():
    """§13.7: of two faults the first in its order counts."""
    old, engine = base_pack(OLD_TREE), base_pack(ENGINE)
    for name, comment, expect, given, changes in (
            ("fields-before-base", "131073 windows, and another base", "limit", [engine],
             {"head": lambda h: h[:66] + varint(MAX_WINDOWS + 1)}),
            ("bytes-after-before-base", "bytes after the fields, and another base", "damaged", [engine], {"head": lambda h: h + b"\0"}),
            ("sum-before-base", "compressed lengths that do not add up, and another base", "damaged", [engine], {"fields": with_window(1, length=20)}),
            ("list-end-before-base", "no window ends where the list does, and another base", "damaged", [engine], {"fields": with_fields(list=lambda n: n + 1)}),
            ("number-before-base", "an offset of 2^53-1 and an end of 2^53, and another base", "damaged", [engine],
             {"fields": with_ranges(Range(A_TXT, MAX_INTEGER, 1))}),
            ("negative-before-base", "moved from content -1, and another base", "damaged", [engine], {"fields": with_fields(moved=[(0, -1)])}),
            ("repeated-before-base", "a new content that is not there is repeated, and another base", "damaged", [engine],
             {"fields": with_fields(repeated=[(4, 1)])}),
            ("base-before-twice", "a record is new twice, and another base", "wrong-base", [engine], {"fields": with_fields(new=[0, 0])}),
            ("base-before-range", "a range outside its content, and another base", "wrong-base", [engine], {"fields": with_ranges(Range(A_TXT, 1, 5000))}),
            ("base-before-list", "record type 2, and another base", "wrong-base", [engine], {"list": lambda l: l + b"z\0\2\0"}),
            ("base-before-place", "moved to a record that is not there, and another base", "wrong-base", [engine], {"fields": with_fields(moved=[(9, 0)])}),
            ("type-before-path", "a record of type 2 with the path `../x`", "unsupported", [old], {"list": lambda l: b"../x\0\2\0" + l}),
            ("type-before-size", "a record of type 2 whose size is not the shortest varint", "unsupported", [old], {"list": lambda l: l + b"z\0\2\x80\0"}),
            ("type-before-end", "a record of type 2, and the list ends before its size", "unsupported", [old], {"list": lambda l: l + b"z\0\2"}),
            ("type-before-components", "a record of type 2 with a path of 65 components", "unsupported", [old],
             {"list": lambda l: l + b"z/" * 64 + b"e\0\2\0"}),
            ("path-before-size", "a path of 65 components, and a size that is not the shortest varint", "limit", [old],
             {"list": lambda l: l + b"z/" * 64 + b"e\0\0\x80\0"}),
            ("path-before-next-type", "a record with the path `../x`, then one of type 2", "damaged", [old], {"list": lambda l: b"../x\0\0\0" + b"/\0\2\0" + l}),
            ("order-before-next-type", "two records are swapped, then one has type 2", "damaged", [old],
             {"list": lambda l: b"a.txt\0\0\0" + b"a\0\0\0" + b"b\0\2\0"}),
            ("path-length-before-type", "a record of type 2 with a path of 1025 bytes", "limit", [old], {"list": lambda l: l + b"z" * 1025 + b"\0\2\0"}),
            ("list-before-place", "record type 2, and moved to a record that is not there", "unsupported", [old],
             {"list": lambda l: l + b"z\0\2\0", "fields": with_fields(moved=[(9, 0)])}),
            ("list-before-range", "record type 2, and a range outside its content in a window of contents", "unsupported", [old],
             {"list": lambda l: l + b"z\0\2\0", "fields": with_ranges(Range(A_TXT, 1, 5000))}),
            ("bound-before-next-window", "a first window above its bound, a second of 1 MiB + 1 bytes", "damaged", [old],
             {"fields": with_fields(windows=lambda w: [w[0]._replace(length=5000), w[1]._replace(output=MAX_OUTPUT + 1)])}),
            ("prefix-before-number", "a range at offset 1 of 2^53-1 bytes: the length exceeds the prefix before an end is computed", "limit", [old],
             {"fields": with_ranges(Range(A_TXT, 1, MAX_INTEGER))}),
            ("prefix-before-windows", "a prefix of 3 MiB + 1 bytes, and the head ends after it", "limit", [old],
             {"head": lambda _: b"\1" + bytes(64) + b"\x32\1" + varint(20) + varint(50) + b"\1" + range_bytes([Range(0, 0, MAX_PREFIX + 1)])})):
        yield hostile_delta("order-" + name, comment, expect=expect, given=given, **changes)


def all_delta_vectors():
    return {"deltas/valid": list(valid_deltas()), "deltas/hostile": list(hostile_deltas())}


def base_names(vectors):
    """Names for the files of the bases: those of trees that many vectors have, or that of the first vector with the base."""
    names = {base_pack(tree)[0]: f"{name}.pack" for name, tree in (("old", OLD_TREE), ("new", NEW_TREE), ("engine", ENGINE))}
    for vector in vectors:
        for data, _ in vector.bases:
            number = sum(name.startswith(vector.name + "-of-") for name in names.values()) + 1
            names.setdefault(data, f"{vector.name}-of-{number}.pack")
    return names


def empty_folder(path):
    os.makedirs(path, exist_ok=True)
    for name in os.listdir(path):
        os.unlink(os.path.join(path, name))
    return path


def make_delta_vectors(directory):
    every = all_delta_vectors()
    names = base_names([vector for vectors in every.values() for vector in vectors])
    target = empty_folder(os.path.join(directory, BASE_FOLDER))
    for data, name in names.items():
        with open(os.path.join(target, name), "wb") as out:
            out.write(data)
    print(f"{BASE_FOLDER}: {len(names)} packs, {sum(map(len, names))} bytes")
    for folder, vectors in every.items():
        target = empty_folder(os.path.join(directory, folder))
        assert len({vector.name for vector in vectors}) == len(vectors)
        total = 0
        for vector in vectors:
            data = delta_vector_bytes(vector, names)
            total += len(data)
            with open(os.path.join(target, vector.name + ".delta-vector"), "wb") as out:
                out.write(data)
        print(f"{folder}: {len(vectors)} vectors, {total} bytes")


# ---------------------------------------------------------------------------------------------
# Known answers: §8, §9.5 and the worked examples
# ---------------------------------------------------------------------------------------------

KAT_TEXT = b"The plaintext of the known-answer test."
KAT_PACK_1 = bytes.fromhex("""
    8950414b 0d0a1a0a 01000100 00100000 01000000 00000000 07000000 00000000
    0ca94049 5f108ec5 ad6ef708 c86b707a 05b4be16 fddd5d6a 4d1af521 c03b4833
    20212223 24252627 28292a2b 2c2d2e2f 30313233 34353637 38393a3b 3c3d3e3f
    0c000000 01000800 e545120e 613dd715 672ae0c2 96bfb96a 06dbbccd 819dc5cd
    bf1f3895 45ab06f3 a69af056 bcbd5c81 286750b2 d6c15801 901ad264 c7207bc9
    dabb0333 15c12921 f393959b 4e6cc463 a7b5d6f2 61ec645c 6de60745 a0f9d63f
    12ef66e4 a1ddb826 31149e06 4409996f 01c664ca 6649d374 24e4d53d 229da8d0
    7a8408dc 5383737d 6779d63b c08183
""")
KAT_RECORDS = bytes.fromhex("""
    05000005 00000000 00000000 0a000000 00000061 2e747874 07000000 00000000
    00000000 00000000 00000062 2f632e62 696e0100 01000000 00000000 00000000
    00000000 00640300 80020000 00000000 00000400 00000000 0072756e 06000005
    00000000 00000000 0a000000 000000c3 bc2e7478 74
""")
KAT_DATA_FRAME = bytes.fromhex("""
    28b52ffd 600015ad 06007247 1920a0a7 19037355 55f55846 e9ccdf4c 32359bc6
    3b2862bf dcb6250d 3c4b0512 47069a88 76f50104 c6ad45ae bec46417 29753c4e
    63cb6285 b70c8aa6 618c265d f71cb24e d694063f 42410e47 c180e044 b5429868
    b4f1b12d c768e026 ae497d9e 7feeaa1f cf122d20 50834c54 a00760a0 2a682800
    ab820605 7c438100 8aa94187 038c4818 2e3f9a60 332a80e6 0d60e060 55d361c7
    500e9832 53056cd2 63d53972 0334e14f 0aa6acab 0f28894d 327834b8 ec01a7ca
    ac029f06 18b500b9 019cd013 912805f4 85f6b274 80e42116 02e098c0 f8f486
""")
KAT_BLOCKS_FRAME = bytes.fromhex("""
    5d2a4d18 e7000000 2cf24dba 5fb0a30e 26e83b2a c5b9e29e 1b161e5c 1fa7425e
    73043362 938b9824 e3b0c442 98fc1c14 9afbf4c8 996fb924 27ae41e4 649b934c
    a495991b 7852b855 00000000 00000000 00000000 00000000 00000000 00000000
    00000000 00000000 3612ddaf 46e149a4 f583faf0 face8465 85148f59 e0ce2645
    594df83b 5dc807e8 2cf24dba 5fb0a30e 26e83b2a c5b9e29e 1b161e5c 1fa7425e
    73043362 938b9824 28b52ffd 2075f501 00b40205 00000500 0a00612e 74787407
    00622f63 2e62696e 01000100 64030080 02000400 72756e06 c3bc2e74 78740700
    5f70021a 066e019d 07d30081 33a005
""")
KAT_HEAD_FRAME = bytes.fromhex("""
    5d2a4d18 54000000 50495831 05000000 00160000 00000000 0c000000 00000000
    00160000 00000000 45dd28c9 a17fe3a6 a94d2139 8b547ecc e1bdf84e ef1dc2f4
    fce8c8e2 50794a04 28b52ffd 200b5900 00e70000 00050061 2e747874
""")
KAT_SEEK_TABLE = bytes.fromhex("""
    5e2a4d18 21000000 df000000 00160000 ef000000 00000000 5c000000 00000000
    03000000 00b1ea92 8f
""")
KAT_PACK_2 = bytes.fromhex("""
    8950414b 0d0a1a0a 01000100 00000100 01000100 00000000 07000000 00000000
    0ca94049 5f108ec5 ad6ef708 c86b707a 05b4be16 fddd5d6a 4d1af521 c03b4833
    2f818f68 ba1838db 3856240f 12279326 0ae93b73 5b5cf8e5 13e91493 34713d1e
    0c000000 01000800 e545120e 613dd715 fa5ee1c0 88ff03c6 774396f9 5e1659b9
    a3a01587 b0365fc0 4a1b10f4 ecae355b 284d96bc 66794f76 7296cd35 d5b53080
    e9b69c44 6b40e983 d00ca812 40131a00 4041737f 6c18a5f0 83aaa453 ce4d4819
    c0abefa1 048b1e9b 70ba4adc 15e22bcb 7418a893 e024645f 15cf4c17 59d0fe41
    3a504175 18cee4dd 921c461f 9bca05e7 8bc1ed7d 9f9ee7aa c6c73ea3 67bc5150
    6204131b 3f126be0 4d4b9507 3cedf74f 0b2f4a86 861a7f21 f19b25a9 b0fb5108
    cecfce7b cf5833fd fb7bcfdf a5bd1ed6 77e7309d ca8bb809 dd97ae06 cb8e4aea
    627e2971 8777d5d1 f4d0df8f 5f74452b d0f16db7 4a63ae94 a8639c26 1ba7b879
    37b6a3f9 45abc3b5 1997dfa4 28318308 3f74de90 9b1a9447 d6eba1ed 622960c9
    2a9d329d 4d4bf0df b3f8c4b2 da4a065c 8023f1ba 5eb0ad46 0f0968da 87af88bc
    b7fe1e36 f6587eb2 2961a798 8a38b10e d9329be1 0e5294dc a09df5ce 778782fe
    30bb1f1a 4940a272 e9e98a65 eb07975d 67718df7 f46c7d41 002b7717 a6454cf0
    f0062d5e a2355427 4087bb4e 20cc6d8f 64e56a7d b5ae5c08 1a0051ac cd1a6e42
    c62fa992 1f5f3086 257f7c6b 7b0e868d bf2370a9 f032ba50 ed39e82b 01975d34
    46f2533b 2d1b82f9 af3d317c 4fe12ba8 a7558629 be63dace c3a056e1 b8cd8ee3
    d0b8be62 2c054136 4840282a f0ac9ec3 e2f4c132 74183eb6 84ea9c9c 5dff8850
    864d3fb1 d04f912d eacbb7ee dbd8c5e5 c3cbc2a8 439e4db1 23e9d825 7ad0bfab
    da96e48e 32452302 d5c1fded fee43beb ac149292 34f0804e dd40f2e4 0a7015e0
    445e9d8c 5da53b26 cddf5fb9 7b184367 6e2ef2e8 0d3deeaa 7f2a6421 8190a1ed
    e3d0d6f7 be1dcea3 845d6dde 48005676 81b6edbd fb2e118b a5489149 3c7beba8
    3b27bf99 673a3fc4 231a1d5d d0f6b928 6481cf93 54810596 80a6d76c b8809818
    f5d17716 b1a73132 de543442 f2e6e1f0 c91d88bb ad59f1ec f6605b
""")

KAT_WRAP = {
    "public": "79a631ee de1bf9c9 8f12032c deadd0e7 a079398f c786b88c c846ec89 af85a51a",
    "id": "f0125d04 6c0fa903",
    "text": "pkx1-404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f-d28ab4a3",
    "public text": "pkw1-79a631eede1bf9c98f12032cdeadd0e7a079398fc786b88cc846ec89af85a51a-da52a584",
    "e": "3f84403b 0ced7202 79c804f0 7ba04d8c 7e963f70 4f15f28a f991b04b ee140714",
    "E": "aa2a3768 c65d43b0 c3492553 131efbc8 0a339f81 2f4eabda 5b453b55 73154d26",
    "Z": "d313b3c8 bd976977 96bd7aa0 0892fac4 4154b8c6 029075c0 5cf2455c d96df700",
    "W": "be2ab41d d112cec8 031e167e d9ca2e44 a71d2c5d 61868c60 e63bf789 f62a2da9",
    "shared id": "673ffaf1 b038894e",
    "nonce": "dfd26a38 607edd38 8ba214d1",
    "shared W": "bab31ad6 c2c26b4d 333c34ac f1046ce3 8b897822 274f689e 1195f2d4 1c8e64d5",
    "stanzas": """
        02004400 673ffaf1 b038894e dfd26a38 607edd38 8ba214d1 cf4d6d41 372d4b4a
        1503f6a4 b39374ea 62635e7d 746c76d0 fba25aa6 fabde169 17290529 f9767698
        1030ec44 7d2f5692 03005800 f0125d04 6c0fa903 aa2a3768 c65d43b0 c3492553
        131efbc8 0a339f81 2f4eabda 5b453b55 73154d26 d4333536 ce6c5403 3de99bb6
        5af57c2e 1009cc1a 78b0ceb8 429dae3e 0973457b 08f8c955 7c94b721 7214544c
        523092c0""",
    "MAC": "02ebf04e 725c338f d8acbba0 ebb988b0 89f9df17 e16d9b06 1f2b6633 b757cfa0",
    "pack": "c03c6910c167cd6d9bc5401791dcdd5cc49fc1e8406c4801a2af9af3a67537ce",
}


class Answers:
    """Counts comparisons; the first that differs ends the run. With the text of FORMAT.md, every
    value given as hex of 8 digits or more must also stand there."""

    def __init__(self, document=None):
        self.count = 0
        self.document = document and re.sub(r"\s", "", document)

    def equal(self, name, got, want):
        self.count += 1
        in_document = isinstance(want, str)
        if isinstance(got, bytes):
            got = got.hex()
        if isinstance(want, bytes):
            want = want.hex()
        if isinstance(want, str):
            want = re.sub(r"\s", "", want)
        if got != want:
            raise Problem(f"{name}: computed {got}, FORMAT.md has {want}")
        if self.document and in_document and re.fullmatch(r"[0-9a-f]{8,}", want) and want not in self.document:
            raise Problem(f"{name}: {want} is not in the document")


def kat_core(salt, **fields):
    return make_core("kat", 7, salt, **fields)


def pattern(length):
    return (bytes(range(251)) * (length // 251 + 1))[:length]


def answers_layout(a):
    """§1.1, §3.5, §4.6, §4.7, §6: lengths."""
    header, tink = make_header(AK, kat_core(bytes(32)), derive_stanza(AK))
    a.equal("§1.1 start of the body", len(header), 144)
    a.equal("§1.1 first ciphertext byte", len(header + tink), 184)
    for length, n, B, last in ((0, 1, 56, 16), (1, 1, 57, 17), (4040, 1, 4096, 4056), (4041, 2, 4113, 17),
                               (8120, 2, 8192, 4096), (8121, 3, 8209, 17), (10000, 3, 10088, 1896)):
        parts = split_segments(bytes(length), 4096)
        a.equal(f"§3.5 payload {length}: n", len(parts), n)
        pack = make_pack(AK, "kat", 7, bytes(length), S=4096)
        a.equal(f"§3.5 payload {length}: file length", len(pack), B + 144)
        a.equal(f"§3.5 payload {length}: last segment", len(parts[-1]) + 16, last)
    a.equal("§3.5 plaintext of the segments", [len(p) for p in split_segments(bytes(10000), 4096)],
            [4040, 4080, 1880])
    for p, segment, inner in ((0, 0, 0), (4039, 0, 4039), (4040, 1, 0), (8119, 1, 4079), (8120, 2, 0), (9999, 2, 1879)):
        i = (p + 40) // 4080
        a.equal(f"§3.1 payload offset {p}", (i, (p + 40) % 4080 - (40 if i == 0 else 0)), (segment, inner))
    a.equal("§4.6 blocks of 300 records", [len(part) for part in groups(range(300))], [128, 128, 44])
    a.equal("§4.6 largest block", MAX_BLOCK, 133504)
    a.equal("§6 largest seek table", 17 + 8 * MAX_ENTRIES, 1048593)
    a.equal("§6 largest header", 132 + MAX_STANZAS, 16516)
    a.equal("§4.4 raw frame", raw_frame(b"hello"), "28b52ffd 20 05 290000 68656c6c6f")
    frame = raw_frame(b"hello")
    a.equal("§4.4 raw frame, read", decompress(frame, check_frame(frame, exactly=5)), b"hello")
    for name, want in (("A.PNG", b"png"), ("x.tar.gz", b"gz"), (".gitignore", b""), ("README", b""), ("end.", b"")):
        a.equal(f"§4.2.4 extension of {name}", extension(name.encode()), want)
    for name, want in (("nul", True), ("Con.txt", True), ("aux.tar.gz", True), ("console", False)):
        a.equal(f"§5.2 {name}", portability_problem(name.encode()) is not None, want)
    a.equal("§5.2 A/x and a/y", fold_key(b"A") == fold_key(b"a"), True)
    lengths = [1024, 60928, 3072, 65536, 512, 200704, 1024, 1024]
    a.equal("§4.3 frames", cut(lengths, 65536), [65024, 65536, 512, 65536, 65536, 65536, 4096, 2048])


def answers_one_segment(a):
    """§8.1, §8.2"""
    salt = bytes(range(0x20, 0x40))
    core = kat_core(salt, S=4096, flags=0)
    k = schedule(AK, core)
    a.equal("§8.1 pack id", core[32:64], "0ca94049 5f108ec5 ad6ef708 c86b707a 05b4be16 fddd5d6a 4d1af521 c03b4833")
    a.equal("§8.1 key id", key_id(AK), "e545120e 613dd715")
    for name, got, want in (
            ("FK", k.FK, "8ec0d15e e54a5177 6e81a0f2 f5ddd660 d6eb0adb 93d0eb66 d3564f6a 8ee8c4b5"),
            ("MK", k.MK, "6c730497 4a8eaac9 8ca4c642 e67a85e0 516003d4 cc825bc5 acb07a05 188c6537"),
            ("SK", k.SK, "e44841d4 85d9908e 01b40084 e0cdd525 99a3ab1a 379d3e07 587d9509 98a57288"),
            ("TS", k.TS, "6750b2d6 c1580190 1ad264c7 207bc9da bb033315 c12921f3 93959b4e 6cc463a7"),
            ("NP", k.NP, "b5d6f261 ec645c"),
            ("SEGK", k.SEGK, "44ab964b beb2326a 93471c0b a649d2d2 55eb4bff b23f4309 6f0261fb ea1cfc65"),
            ("nonce", nonce(k.NP, 0, True), "b5d6f261 ec645c00 00000001"),
            ("MAC", make_header(AK, core, derive_stanza(AK))[0][-32:],
             "672ae0c2 96bfb96a 06dbbccd 819dc5cd bf1f3895 45ab06f3 a69af056 bcbd5c81")):
        a.equal(f"§8.1 {name}", got, want)
    pack = make_pack(AK, "kat", 7, KAT_TEXT, salt=salt, S=4096, flags=0)
    a.equal("§8.1 pack", pack, KAT_PACK_1.hex())
    a.equal("§8.1 SHA-256", sha256(pack), "993b09f090fa60fe52bb3f242c1edf8495795ee5f187c6b9b708f5eba70e8590")
    a.equal("§8.1 payload, read", open_pack(pack, AK).payload == KAT_TEXT, True)
    pack = make_pack(AK, "kat", 7, pattern(10000), salt=salt, S=4096, flags=0)
    a.equal("§8.2 length", len(pack), 10232)
    a.equal("§8.2 SHA-256", sha256(pack), "24d14e84a890803076cf041ce21f4db36555eaed58f1b29dea9707dd237e1c34")
    a.equal("§8.2 payload, read", open_pack(pack, AK).payload == pattern(10000), True)


def answers_salts(a):
    """§8.3"""
    R = bytes(range(0x40, 0x60))
    core0 = kat_core(bytes(32), S=4096)
    kd, tags = payload_tags(AK, KAT_TEXT)
    for name, got, want in (
            ("KD", kd, "1ab4150396e535918a6c69ac0392b762e7b1ff5dc1d146190400eeb8a0c9413f"),
            ("SHA-256(core0)", sha256(core0),
             "37f98489 ae82ae97 4209865f d65e218e 552f88b0 ae3304e7 b11a62f2 28c701de"),
            ("tag_0", tags[0], "786c379b e8ecb0b9 522d563d 21249d32"),
            ("D", payload_digest(AK, KAT_TEXT),
             "27d6af56 0e6d87ac 8b624ac0 c4d3ea5e 0964ec9f 35ba683a 8ae8e35f 05927dbf"),
            ("deterministic salt", salt_for(AK, core0, KAT_TEXT),
             "372af202 ce653144 585fb3c5 f1b0652e 4abc72bd 592eae30 18fea6cd 3f94703a"),
            ("deterministic pack", sha256(make_pack(AK, "kat", 7, KAT_TEXT, S=4096)),
             "71bc1ceb3b5573d08984a3bfcb62291ecdbc48b0cbee67fd62554f05c887036c"),
            ("random salt", salt_for(AK, kat_core(bytes(32), S=4096, flags=0), KAT_TEXT, R),
             "cc7b6583 d1fc6847 2eaa1bf5 57a25c5a d5ea7848 ec37f390 8eadc921 13d0df80"),
            ("random pack", sha256(make_pack(AK, "kat", 7, KAT_TEXT, S=4096, random=R)),
             "2e47ade3a3d3d2f7e9d0fe5bf4bb61d0a127a3d47c699938cf2d96b71b186cfc"),
            ("empty payload, D", payload_digest(AK, b""),
             "af5570f5 a1810b7a f78caf4b c70a660f 0df51e42 baf91d4d e5b2328d e0e83dfc"),
            ("empty payload, salt", salt_for(AK, core0, b""),
             "ea9fe1da 08b220f4 db957644 81a9e81e 789225ca ac687360 88316918 2d40da59")):
        a.equal(f"§8.3 {name}", got, want)
    payload, core0 = pattern(2500000), kat_core(bytes(32))
    tags = payload_tags(AK, payload)[1]
    for name, got, want in (
            ("SHA-256(core0)", sha256(core0),
             "c49f3396 ca44df7d 857367ea 14611f18 1f5ef9d5 a6a6e125 c3f28444 2b7fdb0f"),
            ("tag_0", tags[0], "6f4e7450 3bf4239d 7c0fd4fb c786fda9"),
            ("tag_1", tags[1], "e6e5c032 3c3f8379 bd58caa9 d802f379"),
            ("tag_2", tags[2], "0ac44393 20d2a81f 2597ea5c 755030d6"),
            ("D", payload_digest(AK, payload),
             "924907fe b7ea577d a08ac716 87eed812 99855d2f 06af74d3 bedff1a5 da687a10"),
            ("salt", salt_for(AK, core0, payload),
             "a032a9d0 af3d65c2 4a34f6f8 55f43195 a394b97b 20428758 27475848 f60b7dad")):
        a.equal(f"§8.3 2500000 bytes, {name}", got, want)


def answers_keys(a):
    """§8.4"""
    ak = key_of_pack(AK, "kat")
    a.equal("§8.4 AK", ak, "11657c8d 739a607e d9542014 637a306d f9ff94f2 bf1719ba aa8fd151 60435bb9")
    a.equal("§8.4 key id", key_id(ak), "72af39ab ae9a562f")
    own_text = "pkk1-11657c8d739a607ed9542014637a306df9ff94f2bf1719baaa8fd15160435bb9-3d1cf3e5"
    a.equal("§8.4 key text of the pack key", key_text(ak), own_text)
    own_pack = make_pack(ak, "kat", 7, KAT_TEXT, salt=bytes(range(0x20, 0x40)), S=4096, flags=0)
    a.equal("§8.4 MAC", own_pack[112:144], "517efa36 10f258e8 cd25d3b6 74780398 b1121fd6 19973b55 b1b87a36 fa69d673")
    a.equal("§8.4 pack", sha256(own_pack), "f63d8c3e95c38acbad057017523b02b621ceb3a0f0a8f2f831eb32d289821d4e")
    for key in (ak, AK):
        a.equal("§8.4 pack, read", open_pack(own_pack, key).payload == KAT_TEXT, True)
    text = "pkk1-000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f-a5978502"
    a.equal("§8.4 key text", key_text(AK), text)
    a.equal("§8.4 key text, read", parse_key_text(text), AK)


def answers_recipients(a):
    """§8.8"""
    core = kat_core(bytes(range(0x20, 0x40)), S=4096, flags=0)
    fk = file_key(AK, core)
    a.equal("§8.8 public key", RECIPIENT.public, KAT_WRAP["public"])
    a.equal("§8.8 recipient's key id", RECIPIENT.id, KAT_WRAP["id"])
    a.equal("§8.8 text of the secret key", recipient_key_text(RECIPIENT.secret), KAT_WRAP["text"])
    a.equal("§8.8 text of the public key", recipient_text(RECIPIENT.public), KAT_WRAP["public text"])
    secret = ephemeral_secret(fk, RECIPIENT.public, core)
    ephemeral, shared = x25519_public(secret), x25519(secret, RECIPIENT.public)
    a.equal("§8.8 e", secret, KAT_WRAP["e"])
    a.equal("§8.8 E", ephemeral, KAT_WRAP["E"])
    a.equal("§8.8 Z", shared, KAT_WRAP["Z"])
    a.equal("§8.8 W of WRAP-X25519", x25519_wrapping_key(shared, ephemeral, RECIPIENT.public, core), KAT_WRAP["W"])
    a.equal("§8.8 id of the shared key", key_id(SHARED_AK), KAT_WRAP["shared id"])
    a.equal("§8.8 nonce", symmetric_nonce(fk, SHARED_AK, core), KAT_WRAP["nonce"])
    a.equal("§8.8 W of WRAP-SYM", symmetric_wrapping_key(SHARED_AK, core), KAT_WRAP["shared W"])
    a.equal("§8.8 stanzas", wrap_stanzas(fk, core, [RECIPIENT.public], [SHARED_AK]), KAT_WRAP["stanzas"])
    pack = make_pack(AK, "kat", 7, KAT_TEXT, salt=core[64:96], S=4096, flags=0, stanzas=wrapped())
    a.equal("§8.8 MAC", pack[276:308], KAT_WRAP["MAC"])
    a.equal("§8.8 pack", sha256(pack), KAT_WRAP["pack"])
    a.equal("§8.8 length", len(pack), 403)
    for key in (AK, RECIPIENT, SHARED_AK):
        a.equal("§8.8 pack, read", open_pack(pack, key).payload == KAT_TEXT, True)


def answers_records(a):
    """§8.5"""
    records = [file_record(b"a.txt", b"hello", 512), file_record(b"b/c.bin", b"", 0), directory_record(b"d"),
               file_record(b"run", b"#!", 1536, True)]
    for record, want in zip(records, (
            "0500 00 0500000000000000 0002000000000000 612e747874",
            "0700 00 0000000000000000 0000000000000000 622f632e62696e",
            "0100 01 0000000000000000 0000000000000000 64",
            "0300 80 0200000000000000 0006000000000000 72756e")):
        a.equal(f"§8.5 record {record.path.decode()}", record_bytes(record), want)
    for name, some, want in (
            ("four records", records, "a8c8b3a591e484d53119355083aa548a6ad6aaecd867ee4c1914e939aa8ada74"),
            ("two records", records[:2], "a42f406f6d95f8a2820acfffa3bc321d1e24192eab66c37d7e7a5c7b7974ba93"),
            ("no records", [], "3cf901090ad4d1b5820b855cd835220ae57b5f8f267a189b05712b3c60ede683")):
        a.equal(f"§8.5 content root of {name}", content_root(some), want)


def answers_empty_tree(a):
    """§8.6; the data frame is the one of the document, so that the compressor does not matter."""
    frame = bytes.fromhex("28b52ffd6000034d00001000000100fb2b8005")
    a.equal("§8.6 data frame, read", decompress(frame, check_frame(frame, exactly=1024)), bytes(1024))
    payload = make_payload(bytes(1024), [], data=lambda data: [(frame, 1024)])
    index = len(frame)
    a.equal("§8.6 blocks frame", payload[index:index + 8], "5d2a4d18 00000000")
    a.equal("§8.6 head frame", payload[index + 8:index + 80],
            "5d2a4d18 40000000 50495831 00000000 00040000 00000000 00000000 00000000 00040000 00000000"
            "3cf90109 0ad4d1b5 820b855c d835220a e57b5f8f 267a189b 05712b3c 60ede683")
    a.equal("§8.6 seek table", payload[index + 80:],
            "5e2a4d18 21000000 13000000 00040000 08000000 00000000 48000000 00000000 03000000 00 b1ea928f")
    a.equal("§8.6 payload length", len(payload), 140)
    a.equal("§8.6 payload", sha256(payload), "ff2d09467bff82a178e63527cb56447aa87b21c505505b157d6375798f553c99")
    pack = make_pack(AK, "kat", 7, payload)
    a.equal("§8.6 salt", pack[64:96], "da2ecc2a61bf1e8f054a4dfdb7350ba3e1544fb7fd00d907157055ced515037c")
    a.equal("§8.6 length", len(pack), 340)
    a.equal("§8.6 pack", sha256(pack), "eccc3b863ec92488ebee17c3e0d078dbfa1732444080112b408b3f21a8a9b2fc")
    a.equal("§8.6 pack, read", read_pack(pack, AK, verify=True), [])


def answers_small_tree(a):
    """§8.7; the compressed frames are those of the document."""
    items = [*SMALL_TREE, file("ü.txt", b"hello")]
    builder, records = build_tree(items)
    tar = builder.finish()
    a.equal("§8.7 order", [i.path.decode() for i in reference_order(items)], ["d", "run", "b/c.bin", "a.txt", "ü.txt"])
    a.equal("§8.7 tar length", len(tar), 5632)
    a.equal("§8.7 tar", sha256(tar), "d6457c44cc892df1593883e68a277a52adc310b8bc2ccfdc9177ac401391dda4")
    for at, want in ((0, b"007410\0 "), (512, b"007707\0 "), (1536, b"010310\0 "), (2048, b"010141\0 "),
                     (3072, b"012553\0 "), (4096, b"011552\0 ")):
        a.equal(f"§8.7 checksum at {at}", tar[at + 148:at + 156], want)
    a.equal("§8.7 pax record", tar[3584:3599], "15 path=ü.txt\n".encode())
    content = b"".join(record_bytes(record) for record in records)
    a.equal("§8.7 records", content, KAT_RECORDS.hex())
    block = KAT_BLOCKS_FRAME[8:]
    a.equal("§8.7 digests", block[:160], b"".join(record.digest for record in records))
    a.equal("§8.7 block, read", decompress(block[160:], check_frame(block[160:])), content)
    directory = directory_bytes([block], [b"a.txt"])
    a.equal("§8.7 directory", directory, "e7000000 0500 612e747874")
    dirframe = KAT_HEAD_FRAME[72:]
    a.equal("§8.7 directory, read", decompress(dirframe, check_frame(dirframe)), directory)
    a.equal("§8.7 data frame, read", decompress(KAT_DATA_FRAME, check_frame(KAT_DATA_FRAME, exactly=5632)), tar)
    payload = make_payload(tar, records, data=lambda data: [(KAT_DATA_FRAME, len(tar))],
                           blocks=lambda blocks: [block], dirframe=lambda frame: dirframe)
    a.equal("§8.7 parts", payload, KAT_DATA_FRAME + KAT_BLOCKS_FRAME + KAT_HEAD_FRAME + KAT_SEEK_TABLE)
    for part in (KAT_DATA_FRAME, KAT_BLOCKS_FRAME, KAT_HEAD_FRAME, KAT_SEEK_TABLE):
        a.equal("§8.7 a part", part, part.hex())
    a.equal("§8.7 payload length", len(payload), 595)
    a.equal("§8.7 payload", sha256(payload), "b3a30931e59d550527c1a7f1fc40e7ffd2baa403448470495a446aba4790b159")
    a.equal("§8.7 content size", sum(record.size for record in records), 12)
    a.equal("§8.7 content root", content_root(records),
            "45dd28c9a17fe3a6a94d21398b547ecce1bdf84eef1dc2f4fce8c8e250794a04")
    answers_small_pack(a, payload, records)


def answers_small_pack(a, payload, records):
    pack = make_pack(AK, "kat", 7, payload)
    a.equal("§8.7 tag_0", payload_tags(AK, payload)[1][0], "1ee32425 b2f786a4 64bc40c5 ea3b6a65")
    a.equal("§8.7 D", payload_digest(AK, payload),
            "3fb59013 7eb3b1cd 2327ee45 3c6dd315 354225c0 515a3e0b 9af55e83 7f13aec0")
    a.equal("§8.7 salt", pack[64:96], "2f818f68 ba1838db 3856240f 12279326 0ae93b73 5b5cf8e5 13e91493 34713d1e")
    a.equal("§8.7 SEGK", schedule(AK, pack[:96]).SEGK,
            "6e04aeb5 9ebe615e cc3c6f72 b36d4576 4c014379 f0e1b681 56f4a8e2 81e53881")
    a.equal("§8.7 pack", pack, KAT_PACK_2.hex())
    a.equal("§8.7 length", len(pack), 795)
    a.equal("§8.7 SHA-256", sha256(pack), "05b8d358ef1d15f7b1cf68701f4ca3f0068b9b0ee252bcea9a5702d2d538e7c5")
    a.equal("§8.7 pack, read", read_pack(pack, AK, verify=True), records)


def header_row(block):
    """The fields of a header block that the table at the end of §4.2.3 shows."""
    return (text_field(block, 0, 100).decode(), text_field(block, 345, 155).decode(), block[100:106].decode(),
            block[124:136].decode(), block[156:157].decode(), text_field(block, 157, 100).decode())


def answers_tar_headers(a):
    """§4.2.3: (entry, rows, pax records, checksums), among them those of the table at its end."""
    def pax_row(name, size, prefix="", mode="000644"):
        return (name, prefix, mode, f"{size:011o} ", "x", "")

    def main_row(name, size="00000000000 ", prefix="", mode="000644", flag="0", link=""):
        return (name, prefix, mode, size, flag, link)

    long = "k" * 60 + "/" + "k" * 60
    for path, kind, size, target, rows, records, sums in (
            ("a.txt", "file", 5, "", [main_row("a.txt", "00000000005 ")], "", ["010141"]),
            ("d", "directory", 0, "", [main_row("d/", mode="000755", flag="5")], "", ["007410"]),
            ("e.bin", "file", 0, "", [main_row("e.bin")], "", ["010071"]),
            ("copy.txt", "link", 0, "a.txt", [main_row("copy.txt", flag="1", link="a.txt")], "", ["011646"]),
            ("p" * 60 + "/" + "p" * 60, "file", 0, "", [main_row("p" * 60, prefix="p" * 60)], "", None),
            ("y" * 101, "file", 0, "", [pax_row("PaxHeader/" + "y" * 87, 0o157), main_row("y" * 98)],
             "111 path=" + "y" * 101 + "\n", None),
            ("n" * 50 + "/" + "n" * 149, "file", 0, "",
             [pax_row("PaxHeader/" + "n" * 87, 210, "n" * 50), main_row("n" * 98, prefix="n" * 50)],
             "210 path=" + "n" * 50 + "/" + "n" * 149 + "\n", None),
            ("e" * 100, "directory", 0, "",
             [pax_row("PaxHeader/" + "e" * 87, 111, mode="000755"), main_row("e" * 97 + "/", mode="000755", flag="5")],
             "111 path=" + "e" * 100 + "/\n", None),
            ("dir/ü.txt", "file", 5, "", [pax_row("dir/PaxHeader/ü.txt", 0o23), main_row("dir/ü.txt", "00000000005 ")],
             "19 path=dir/ü.txt\n", ["013326", "011355"]),
            ("café", "directory", 0, "", [pax_row("PaxHeader/café", 15, mode="000755"),
                                          main_row("café/", mode="000755", flag="5")],
             "15 path=café/\n", [None, "010472"]),
            ("z1", "link", 0, "dir/ü.txt", [pax_row("PaxHeader/z1", 23), main_row("z1", flag="1", link="dir/ü.txt")],
             "23 linkpath=dir/ü.txt\n", [None, "011624"]),
            ("z3", "link", 0, long, [pax_row("PaxHeader/z3", 135), main_row("z3", flag="1", link="././@LongHardLink")],
             f"135 linkpath={long}\n", [None, "012262"]),
            ("big.bin", "file", 1 << 33, "", [pax_row("PaxHeader/big.bin", 0o23), main_row("big.bin", "100000000000")],
             "19 size=8589934592\n", ["012364", "010427"]),
            ("big.bin", "file", (1 << 33) - 1, "", [main_row("big.bin", "77777777777 ")], "", ["010523"])):
        name = f"§4.2.3 {path[:20]} {kind}"
        headers = entry_headers(path.encode(), kind, False, size, target.encode())
        blocks = [headers[:512]] if len(rows) == 1 else [headers[:512], headers[-512:]]
        a.equal(name + ", fields", [header_row(block) for block in blocks], rows)
        a.equal(name + ", records", headers[512:-512].rstrip(b"\0"), records.encode())
        for block, want in zip(blocks, sums or ()):
            a.equal(name + ", checksum", want is None or block[148:156].decode() == want + "\0 ", True)


def answers_delta(a):
    """§8.9"""
    tree = FileTree([*SMALL_TREE, file("ü.txt", b"hello")])
    items = [file("a.txt", b"hello"), file("b.txt", b"#!"), file("c.txt", b"hello"), file("d.txt", b"hello" * 4), file("e.txt", b"hello" * 4)]
    a.equal("§8.9 content root of the base", tree.root, "45dd28c9a17fe3a6a94d21398b547ecce1bdf84eef1dc2f4fce8c8e250794a04")
    payload, records = delta_payload([tree], items, ranges={0: [], 1: [Range(0, 0, 5)]},
                                     codec=lambda content, prefix: parts_frame([Match(5, 20)], 20) if prefix else raw_frame(content))
    listing = list_bytes(records)
    a.equal("§8.9 list", listing, "612e747874 00 00 05 622e747874 00 00 02 632e747874 00 00 05 642e747874 00 00 14 652e747874 00 00 14")
    a.equal("§8.9 content root", content_root(records), "4cb7913b f37c5b39 8652523e 2fa96f78 6db74cd1 92838db5 1610d61f ea13f93f")
    a.equal("§8.9 first window", payload[:9], "28b52ffd 20 28 410100")
    a.equal("§8.9 first window, content", payload[9:49], listing)
    a.equal("§8.9 second window", payload[49:65], "28b52ffd 20 14 3d0000 00 01 54 00 03 11 08")
    fields, start = read_delta_frame(payload)
    a.equal("§8.9 start of the head", (start, len(fields)), (65, 86))
    for name, at, want in (("base", 0, "01 45dd28c9 a17fe3a6 a94d2139 8b547ecc e1bdf84e ef1dc2f4 fce8c8e2 50794a04"),
                           ("target", 33, "4cb7913b f37c5b39 8652523e 2fa96f78 6db74cd1 92838db5 1610d61f ea13f93f 28 02"),
                           ("first window", 67, "312800"), ("second window", 70, "101401000005"), ("moved", 76, "0201060007"), ("new", 81, "0106"),
                           ("repeated", 83, "010400")):
        a.equal(f"§8.9 head, {name}", fields[at:at + len(re.sub(" ", "", want)) // 2], want)
    a.equal("§8.9 frame of the head", payload[65:74], "28b52ffd 20 56 b10200")
    a.equal("§8.9 trailer", payload[160:], "5f000000 50444c31")
    a.equal("§8.9 payload length", len(payload), 168)
    a.equal("§8.9 payload", sha256(payload), "da40321c6d5dde58592d493f37de6d6add7ced4976038ea31705a079edf3aaa0")
    pack = make_pack(AK, "kat", 8, payload, kind=2)
    a.equal("§8.9 salt", pack[64:96], "cb52eecf39fb938e99d3fc939f562ef9589233f83bbac1f47502e5bdf34af407")
    a.equal("§8.9 length", len(pack), 368)
    a.equal("§8.9 pack", sha256(pack), "f82a228026aab41812049471d17bbab2e2f1b19df089aa48e9476e34586f2964")
    a.equal("§8.9 pack, read", read_pack(pack, AK, bases=[tree]), records)
    for value, want in ((0, "00"), (127, "7f"), (128, "8001"), (MAX_INTEGER, "ffffffffffffff0f")):
        a.equal(f"§13.2 {value}", varint(value).hex() == want and Cursor(varint(value)).varint() == value, True)
    for value, want in ((0, 0), (-1, 1), (1, 2), (-2, 3), (-(1 << 52), MAX_INTEGER)):
        a.equal(f"§13.2 {value}", signed_varint(value) == varint(want) and Cursor(varint(want)).signed_varint() == value, True)


PAGE_STARTS = [0, 87, 226, 303, 479, 563, 641, 779, 887, 954]
UPDATE_STARTS = [0, 87, 185]
TAG_STARTS = ["all\\tlevel-000000", "all\\tlevel-000579", "world-3\\tlevel-000190"]


def answers_manifest(a):
    """§9.2, §9.5, §8.4"""
    public = public_key(SEED)
    a.equal("§9.5 public key", public, "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")
    a.equal("§9.5 keyid", key_id_of(public), "17b6f57631a77084")
    a.equal("§8.4 keyid of a root signing key", root_id_of(public), "4f231d8577953171")
    for prefix, name, key, want in (("pks1", "sig-key-text", SEED, "2a6ff9d5"), ("pkp1", "sig-public-text", public, "0124f049"),
                                    ("pkt1", "root-key-text", SEED, "91c1924c"), ("pkq1", "root-public-text", public, "8fe40773")):
        a.equal(f"§8.4 {prefix}", sha256(label(name) + key)[:4], want)
        if a.document:
            a.equal("§8.4 the text in the document", f"{prefix}-{key.hex()}-{want}" in a.document, True)
    signed = canonical_json(kat_signed()).encode()
    a.equal("§9.5 signature", sign_manifest(SEED, signed)["sig"],
            "bf3ccd406ec1caaddd7b48e6fecff1142b607b8af5d1e5eb6d9cff2c192c1a6b"
            "154d0b974f788e5c056b00a4772b746eb381ff2ce7633b93f6ea77c7e5d5c406")
    data = make_manifest(signed, [SEED])
    a.equal("§9.5 length", len(data), 276)
    a.equal("§9.5 SHA-256", sha256(data), "390eddc576a8cb657ace5369530b4ca16b40422fe424ea4b9bcde3d62deb00cc")
    if a.document:
        a.equal("§9.5 the file in the document", data.decode() in a.document, True)
    a.equal("§9.5 read", read_manifest(data, [public]), (kat_signed(), ["17b6f57631a77084"]))
    # §9.2: the points of small order are those that the document lists.
    small = sorted({times(i, (recover_x(ORDER_8_Y, 0), ORDER_8_Y))[1] for i in range(8)})
    a.equal("§9.2 small orders", [small[0], small[1], small[-1], len(small)], [0, 1, P - 1, 5])
    for y, want in zip(sorted(y.to_bytes(32, "little").hex() for y in small[2:4]), (
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")):
        a.equal("§9.2 small order", y, want)


def answers_pages(a):
    """§9.7"""
    few = sample_entries(1000)
    runs = cut_pages("packs", few)
    a.equal("§9.7 pages of packs", [int(page_keys("packs", run)[0][-6:]) for run in runs], PAGE_STARTS)
    pairs = sorted((tag, pack["id"]) for pack in few for tag in pack["tags"])
    cuts = cut_pages("tags", pairs)
    a.equal("§9.7 pages of tags", ["\\t".join(run[0]) for run in cuts], TAG_STARTS)
    content = b"".join(page_content(kind, run) for kind, pages in (("packs", runs), ("tags", cuts)) for run in pages)
    a.equal("§9.7 length", len(content), 344240)
    a.equal("§9.7 SHA-256", sha256(content), "09a1135de3c4cfefe6ad31c7606393d92c24c1fad2cf1600ed782be11094f2a8")
    runs = cut_pages("updates", sample_updates(200))
    a.equal("§9.7 pages of updates", [int(page_keys("updates", run)[0][-6:]) for run in runs], UPDATE_STARTS)
    content = b"".join(page_content("updates", run) for run in runs)
    a.equal("§9.7 length of updates", len(content), 1889199)
    a.equal("§9.7 SHA-256 of updates", sha256(content), "9e56318453f6cdf00b31155561e61889ed3d1ed6a358e20b12d6bb3178ef620a")
    if a.document:
        for text in (*(f"`{text}`" for text in TAG_STARTS), ",".join(map(str, PAGE_STARTS)), ",".join(map(str, UPDATE_STARTS)), "344240bytes", "1889199bytes"):
            a.equal("§9.7 in the document", text in a.document, True)
    # A page may have 2^20 bytes, and not one more.
    full = sample_updates(UPDATE_STARTS[2])[UPDATE_STARTS[1]:]
    missing = MAX_PAGE - len(page_content("updates", full))
    for delta in (delta for entry in full for delta in entry["deltas"]):
        more = min(missing, 13)
        delta["size"] *= 10**more
        missing -= more
    a.equal("§9.7 a full page", (len(page_content("updates", full)), len(cut_pages("updates", full))), (MAX_PAGE, 1))
    full[-1]["deltas"][-1]["size"] *= 10
    a.equal("§9.7 a page that would be too large", list(map(len, cut_pages("updates", full))), [len(full) - 1, 1])
    # What is made is found again, through index pages too.
    packs, updates = sample_entries(9000), sample_updates(9000, 2)
    references, files = make_pages(packs, updates)
    signed = signed_with(*references)
    a.equal("§9.7 index pages", {r.get("of") for r in references}, {"packs", "tags", "updates"})
    found, deltas = [], []
    for i, reference in enumerate(references):
        end = end_of_page(references, i)
        pages = read_page(files[page_name(reference)], reference, end, signed)
        for j, page in enumerate(pages):
            below = pages[j + 1]["first"] if j + 1 < len(pages) else end
            entries = read_page(files[page_name(page)], page, below, signed)
            found += page_keys(page["kind"], entries)
            deltas += entries if page["kind"] == "updates" else ()
    a.equal("§9.7 keys", len(found), 36000)
    a.equal("§9.7 updates", deltas == updates, True)


def answers_vector(a):
    """§10.1: the example of Tests/Vectors/README.md."""
    vector = Vector("example", "ok", "a pack without files", b"pack", AK, None, [])
    a.equal("§10.1 head", vector_bytes(vector), ("expect: ok\nkey: " + AK.hex()
                                              + "\ncomment: a pack without files\n\npack").encode())


def command_known_answers(arguments):
    document = None
    if arguments.format:
        with open(arguments.format, encoding="utf-8") as file_object:
            document = file_object.read()
    a = Answers(document)
    for run in (answers_layout, answers_tar_headers, answers_one_segment, answers_salts, answers_keys, answers_recipients,
                answers_records, answers_empty_tree, answers_small_tree, answers_delta, answers_manifest, answers_pages, answers_vector):
        try:
            run(a)
        except Refused as error:
            raise Problem(f"{run.__doc__.split(':')[0]}: {error}")
    print(f"{a.count} known answers agree")


# ---------------------------------------------------------------------------------------------
# Command line
# ---------------------------------------------------------------------------------------------


def add_key_arguments(parser):
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--key-hex", metavar="KEY", help="64 hex digits, or a key text (§2.5)")
    group.add_argument("--key-file", metavar="FILE", help="a file with one key text")


def add_base_argument(parser):
    parser.add_argument("--base", metavar="PACK", action="append", default=[],
                        help="a base of a delta (§13): a pack or a directory; once for each, in order, a delta behind its own bases")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    known = commands.add_parser("known-answers", help="recompute the known answers of FORMAT.md")
    known.add_argument("--format", metavar="FORMAT.md", help="check too that the values stand in this document")
    known.set_defaults(run=command_known_answers)
    make = commands.add_parser("make", help="write the test vectors into the folders valid, refused-open, hostile, others, manifest, pages and deltas")
    make.add_argument("directory", metavar="DIR")
    make.set_defaults(run=command_make)
    check = commands.add_parser("check", help="read test vectors and compare with their heads")
    check.add_argument("directory", metavar="DIR")
    check.add_argument("--verbose", action="store_true", help="say why each vector is refused")
    check.set_defaults(run=command_check)
    read = commands.add_parser("read", help="check a pack as a client does; list or extract it")
    read.add_argument("pack", metavar="PACK")
    add_key_arguments(read)
    read.add_argument("--list", action="store_true", help="print `path size sha256 kind` lines")
    read.add_argument("--to", metavar="DIR", help="extract into DIR, which must not exist")
    read.add_argument("--verify", action="store_true", help="parse the tar too and compare it with the index")
    add_base_argument(read)
    read.set_defaults(run=command_read)
    write = commands.add_parser("write", help="pack a directory")
    write.add_argument("directory", metavar="DIR")
    write.add_argument("-o", "--output", metavar="PACK", required=True)
    add_key_arguments(write)
    write.add_argument("--name", required=True, help="name of the pack (§1.1)")
    write.add_argument("--pack-version", type=int, default=1)
    write.add_argument("--segment-size", type=int, default=65536)
    write.add_argument("--frame-size", type=int, default=1 << 20)
    write.add_argument("--level", type=int, default=3, help="zstd level")
    write.add_argument("--random-salt", action="store_true", help="the random salt of §2.4")
    add_base_argument(write)
    write.set_defaults(run=command_write)
    wrap = commands.add_parser("wrap", help="write a copy of a pack for further recipients")
    wrap.add_argument("pack", metavar="PACK")
    wrap.add_argument("-o", "--output", metavar="COPY", required=True)
    add_key_arguments(wrap)
    wrap.add_argument("--to", metavar="KEY", action="append", default=[], help="the public key of a recipient (pkw1-, §2.5)")
    wrap.add_argument("--to-key-file", metavar="FILE", action="append", default=[], help="a file with a key that the recipient has, too")
    wrap.set_defaults(run=command_wrap)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    try:
        arguments.run(arguments)
    except Refused as error:
        print(error, file=sys.stderr)
        return EXIT_CODES[error.name]
    except (Problem, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
