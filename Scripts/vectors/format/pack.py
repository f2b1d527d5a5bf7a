"""A pack around any payload, written and opened (FORMAT.md §1–3)."""

import hmac
from collections import namedtuple

from vectors.format.errors import require
from vectors.format.header import check_core, check_stanzas, derive_stanza, field, make_core, make_header
from vectors.format.keys import file_key_at_hand, salt_for, schedule, schedule_of
from vectors.format.limits import MAX_FILE, MAX_STANZAS
from vectors.format.primitives import hmac256, number
from vectors.format.segments import open_last_segment, open_segments, seal, split_segments


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


Opened = namedtuple("Opened", "core minor kind stanzas N S payload keys")


def open_pack(data, key, deltas=False):
    """§1.4: everything up to the payload. A reader that is given no bases reads no deltas."""
    minor, S, kind = check_core(data)
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
    last = open_last_segment(keys, body, S)
    require(kind == 1 or deltas, "a delta, and no bases", "unsupported")
    return Opened(core, minor, kind, stanzas, N, S, open_segments(keys, body, S, last), keys)
