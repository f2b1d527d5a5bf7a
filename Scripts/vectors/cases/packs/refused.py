"""Packs that are refused before the payload is read."""

import struct

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from vectors.cases.faults import change, flip
from vectors.cases.packs.vector import refused, with_pack_key
from vectors.cases.samples import (
    AK, EDITION_AK, NAME, OTHER_AK, OTHER_RECIPIENT, OWN_AK, RECIPIENT, SHARED_AK, SMALL, SMALL_TREE, VERSION, exact_length, file, noise, pack_of,
    wrapped)
from vectors.format.header import derive_stanza, make_core, make_header, stanza, wrap_stanzas
from vectors.format.index import skippable
from vectors.format.keys import (
    Recipient, edition_key, file_key, key_id, key_of_pack, pack_id, schedule, symmetric_wrapping_key, x25519, x25519_public, x25519_wrapping_key)
from vectors.format.payload import tree_payload
from vectors.format.primitives import u32
from vectors.format.segments import nonce, split_segments


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
    delta = pack_of(payload, kind=2)
    yield refused("kind-2-other-key", "wrong-key", "kind 2, and another key: the key comes first", delta, OTHER_AK)
    yield refused("kind-2-mac", "damaged", "kind 2, and a bit of the header MAC: the MAC comes first", flip(delta, 112))
    yield refused("kind-2-last-segment", "damaged", "kind 2, and the only segment lacks its last byte: the segment comes first", delta[:-1])
    yield refused("segments-of-other-version", "damaged", "header and Tink header of version 8, segments of "
                  "version 7", other[:184] + regular[184:])


def refused_pack_keys(payload):
    """§2.3, §2.7: what a root key does not open, and what was changed after it was made with a key of its own."""
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


    edition = pack_of(payload, ak=EDITION_AK)
    yield refused("edition-key-pack-key", "wrong-key", "made with the key of its version, read with that of the pack: nothing leads there", edition,
                  key=OWN_AK)
    yield refused("edition-key-version-flipped", "wrong-key", "made with the key of its version, and the version changed: of that one another key "
                  "follows from the root key", flip(edition, 24))
    yield refused("edition-key-version-flipped-key", "damaged", "the same with the key of its version", flip(edition, 24), key=EDITION_AK)
    yield refused("edition-key-mac-flipped", "damaged", "made with the key of its version, a bit of the header MAC changed", flip(edition, 112))
    yield refused("edition-key-other-version", "wrong-key", "the root key's, but made with the key of another version",
                  pack_of(payload, ak=edition_key(AK, pack_id(NAME), VERSION + 1)))
    yield refused("edition-key-other-name", "wrong-key", "the root key's, but made with the key of that version of another pack",
                  pack_of(payload, ak=edition_key(AK, pack_id("other"), VERSION)))
    yield refused("edition-key-of-pack-key", "wrong-key", "made with a key that follows from the pack's own as if that were the root key",
                  pack_of(payload, ak=edition_key(OWN_AK, pack_id(NAME), VERSION)))


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
    yield refused("truncated-after-major-2", "unsupported", "major 2, and the file ends behind it", change(one, 8, b"\x02")[:9])
    yield refused("truncated-major-2", "unsupported", "major 2, and the file ends inside core",
                  change(one, 8, b"\x02")[:20])
