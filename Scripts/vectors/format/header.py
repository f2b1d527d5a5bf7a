"""The header of a pack, written and read (FORMAT.md §1)."""

import re
import struct

from vectors.format.errors import Problem, require
from vectors.format.keys import key_id, pack_id, recipient_id, schedule, wrap_symmetric, wrap_x25519
from vectors.format.limits import MAX_SEGMENT, MAX_VERSION, MIN_SEGMENT
from vectors.format.primitives import hmac256, number, u16, u32

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
    return with_mac(core, stanzas, keys), b"\x28" + keys.TS + keys.NP


def with_mac(core, stanzas, keys):
    """§1.1: bytes 0 … 131+N."""
    start = core + u32(len(stanzas)) + stanzas
    return start + hmac256(keys.MK, start)


def field(data, offset, length):
    """A number of the header; §1.4: a file that ends before it is truncated."""
    require(len(data) >= offset + length, "the file ends inside the header", "truncated")
    return number(data, offset, length)


def check_core(data):
    """§1.4 steps 1 and 2; returns minor, S and kind."""
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
    require(kind in (1, 2), f"kind {kind}", "unsupported")
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
