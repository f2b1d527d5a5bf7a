"""The known answers of packs (FORMAT.md §8.1–8.8) and the examples beside them."""

from vectors.answers.examples import KAT_COLUMNS, KAT_DIGESTS, KAT_INDEX, KAT_PACK_1
from vectors.cases.samples import AK, KAT_TEXT, RECIPIENT, SHARED_AK, SMALL_TREE, file, wrapped
from vectors.format.frames import check_frame, cut, decompress, raw_frame
from vectors.format.header import derive_stanza, make_core, make_header, wrap_stanzas
from vectors.format.index import groups
from vectors.format.keys import (
    edition_key, ephemeral_secret, file_key, key_id, key_of_pack, key_text, pack_id, parse_key_text, payload_digest, payload_tags, recipient_key_text, recipient_text,
    salt_for, schedule, symmetric_nonce, symmetric_wrapping_key, x25519, x25519_public, x25519_wrapping_key)
from vectors.format.limits import MAX_BLOCK, MAX_ENTRIES, MAX_STANZAS
from vectors.format.openers import make_opener, open_opener, opener_entry, opener_start, opener_wrapping_key
from vectors.format.pack import make_pack, open_pack
from vectors.format.paths import fold_key, portability_problem
from vectors.format.payload import make_payload
from vectors.format.primitives import sha256
from vectors.format.reader import read_pack
from vectors.format.records import columns, content_root, directory_record, file_record, stored_digests
from vectors.format.segments import nonce, split_segments
from vectors.format.tar import build_tree, entry_headers, extension, reference_order, text_field

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

KAT_OPENER = """
    894f504e0d0a1a0a010001000000000007000000000000000ca940495f108ec5
    ad6ef708c86b707a05b4be16fddd5d6a4d1af521c03b4833a7d46b95c09eca0b
    b9f3ab738ff871203f0f84f860e1eec096134b21b007cfb172af39abae9a562f
    f1564cdbc4f1017fef902c0f23e313461afa1a6cbf016ac821548c54df9e4916
    3e6f30ffd46e70acca0f5729780cf9025b7cfdcc7b9795525e9b5b9d"""


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
    a.equal("§4.6 largest block", MAX_BLOCK, 133376)
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


def answers_opener(a):
    """§8.10"""
    identifier, core = pack_id("kat"), kat_core(bytes(range(0x20, 0x40)), S=4096, flags=0)
    edition = edition_key(AK, identifier, 7)
    a.equal("§8.10 EK", edition, "c19d96f87ae3341656f16373098bd47dcbcc24491213c066ed39a31ca8a80db2")
    a.equal("§8.10 key id", key_id(edition), "ead866911ebf2f2e")
    pack = make_pack(edition, "kat", 7, KAT_TEXT, salt=core[64:96], S=4096, flags=0)
    a.equal("§8.10 MAC", pack[112:144], "3de8a52885c99473d25081c2ff79dbee091dda3e63deb59f72aee80021ff9f35")
    a.equal("§8.10 pack", sha256(pack), "a7d46b95c09eca0bb9f3ab738ff871203f0f84f860e1eec096134b21b007cfb1")
    a.equal("§8.10 length", len(pack), 239)
    a.equal("§8.10 pack, read with the root key", open_pack(pack, AK).payload == KAT_TEXT, True)
    start = opener_start(AK, pack)
    a.equal("§8.10 W", opener_wrapping_key(key_of_pack(AK, "kat"), start), "dd6daf907356439c1b6e3de04e25f3f5ed035027fab6ddfdec110ba3ab2d4101")
    data = make_opener(AK, pack)
    a.equal("§8.10 opener", data, KAT_OPENER)
    a.equal("§8.10 SHA-256", sha256(data), "611677d742900eba1711dc674f067b69b9f89e915780d95710092185b1ca1e44")
    a.equal("§8.10 opener, read", open_opener(data, opener_entry(data), pack, key_of_pack(AK, "kat")), edition)


def answers_records(a):
    """§8.5"""
    records = [file_record(b"a.txt", b"hello", 512), file_record(b"b/c.bin", b"", 0), directory_record(b"d"),
               file_record(b"run", b"#!", 1536, True)]
    for name, got, want in (("frame", columns(records), KAT_COLUMNS), ("digests", stored_digests(records), KAT_DIGESTS)):
        a.equal(f"§8.5 {name}", got, want)
    for name, some, want in (
            ("four records", records, "a8c8b3a591e484d53119355083aa548a6ad6aaecd867ee4c1914e939aa8ada74"),
            ("two records", records[:2], "a42f406f6d95f8a2820acfffa3bc321d1e24192eab66c37d7e7a5c7b7974ba93"),
            ("no records", [], "3cf901090ad4d1b5820b855cd835220ae57b5f8f267a189b05712b3c60ede683")):
        a.equal(f"§8.5 content root of {name}", content_root(some), want)


def answers_empty_tree(a):
    """§8.6"""
    payload = make_payload(bytes(1024), [], codec=raw_frame)
    a.equal("§8.6 data frame", payload[:10], "28b52ffd 60 0003 012000")
    a.equal("§8.6 blocks frame", payload[1034:1042], "5d2a4d18 00000000")
    a.equal("§8.6 head frame", payload[1042:1114], "5d2a4d184000000050495831000000000004000000000000000000000000000000040000000000003cf901090ad4d1b5820b855cd835220ae57b5f8f267a189b05712b3c60ede683")
    a.equal("§8.6 seek table", payload[1114:], "5e2a4d18210000000a04000000040000080000000000000048000000000000000300000000b1ea928f")
    a.equal("§8.6 payload length", len(payload), 1155)
    a.equal("§8.6 payload", sha256(payload), "677b1234f99abbf5e19081fd53024a8ea9fbf5bbdb62cee551563dfc2a0afa9c")
    pack = make_pack(AK, "kat", 7, payload)
    a.equal("§8.6 salt", pack[64:96], "450b46ad358af9c42a42fdb7a6188ce44210137874a25ab1458536fb94aec991")
    a.equal("§8.6 length", len(pack), 1355)
    a.equal("§8.6 pack", sha256(pack), "986641e3dd0160811846a80f35b4fe8047ab108b07274f4b8c6d253e52cd8ed7")
    a.equal("§8.6 pack, read", read_pack(pack, AK, verify=True), [])


def answers_small_tree(a):
    """§8.7"""
    items = [*SMALL_TREE, file("ü.txt", b"hello")]
    builder, records = build_tree(items)
    tar = builder.finish()
    a.equal("§8.7 order", [i.path.decode() for i in reference_order(items)], ["d", "run", "b/c.bin", "a.txt", "ü.txt"])
    a.equal("§8.7 tar length", len(tar), 5632)
    a.equal("§8.7 tar", sha256(tar), "7e211e54a9b0ca9cb18f68ac2d8b2176267d22d060cdf38e267edf9b87994b1e")
    for at, want in ((0, b"007410\0 "), (512, b"007707\0 "), (1536, b"010310\0 "), (2048, b"010141\0 "),
                     (3072, b"011057\0 "), (4096, b"011552\0 ")):
        a.equal(f"§8.7 checksum at {at}", tar[at + 148:at + 156], want)
    a.equal("§8.7 pax record", tar[3584:3599], "15 path=ü.txt\n".encode())
    payload = make_payload(tar, records, codec=raw_frame)
    a.equal("§8.7 data frame", payload[:10], "28b52ffd60001501b000")
    a.equal("§8.7 index and seek table", payload[10 + len(tar):], KAT_INDEX)
    a.equal("§8.7 index and seek table, in the document", KAT_INDEX, KAT_INDEX.hex())
    a.equal("§8.7 payload length", len(payload), 5968)
    a.equal("§8.7 payload", sha256(payload), "df9d91ebb172ecb8792c51cd45963bfdc6add5dd5b67ef920e17cbe5797625ab")
    a.equal("§8.7 content size", sum(record.size for record in records), 12)
    a.equal("§8.7 content root", content_root(records),
            "45dd28c9a17fe3a6a94d21398b547ecce1bdf84eef1dc2f4fce8c8e250794a04")
    pack = make_pack(AK, "kat", 7, payload)
    a.equal("§8.7 tag_0", payload_tags(AK, payload)[1][0], "3276196f05521454c84d982a2b366ff2")
    a.equal("§8.7 D", payload_digest(AK, payload), "3817889137761e88a1bf013889ff1520ed01452042614f380d37d908a2bf5948")
    a.equal("§8.7 salt", pack[64:96], "b4e6033171216c71e4dc9c53a722d57ed587aabf66ef1ed9932c188d8bce3c05")
    a.equal("§8.7 SEGK", schedule(AK, pack[:96]).SEGK, "5593ce0f76847a0e0b6d3027495f95af5e48616edefc28defc2b5611428d0935")
    a.equal("§8.7 length", len(pack), 6168)
    a.equal("§8.7 SHA-256", sha256(pack), "ed949e314da6e293629b1eeb341e0af2b47c28941b16212881dbbc67355d44a6")
    a.equal("§8.7 pack, read", read_pack(pack, AK, verify=True), records)


def header_row(block):
    """The fields of a header block that the table at the end of §4.2.3 shows."""
    return (text_field(block, 0, 100).decode(), text_field(block, 345, 155).decode(), block[100:106].decode(),
            block[124:136].decode(), block[156:157].decode(), text_field(block, 157, 100).decode())


def answers_tar_headers(a):
    """§4.2.3: (entry, rows, pax records, checksums), among them those of the table at its end."""
    def pax_row(size):
        return ("PaxHeader", "", "000644", f"{size:011o} ", "x", "")

    def main_row(name, size="00000000000 ", prefix="", mode="000644", flag="0", link=""):
        return (name, prefix, mode, size, flag, link)

    long = "k" * 60 + "/" + "k" * 60
    for path, kind, size, target, rows, records, sums in (
            ("a.txt", "file", 5, "", [main_row("a.txt", "00000000005 ")], "", ["010141"]),
            ("d", "directory", 0, "", [main_row("d/", mode="000755", flag="5")], "", ["007410"]),
            ("e.bin", "file", 0, "", [main_row("e.bin")], "", ["010071"]),
            ("copy.txt", "link", 0, "a.txt", [main_row("copy.txt", flag="1", link="a.txt")], "", ["011646"]),
            ("p" * 60 + "/" + "p" * 60, "file", 0, "", [main_row("p" * 60, prefix="p" * 60)], "", None),
            ("y" * 101, "file", 0, "", [pax_row(0o157), main_row("y" * 100)], "111 path=" + "y" * 101 + "\n", ["011064", None]),
            ("n" * 50 + "/" + "n" * 149, "file", 0, "", [pax_row(210), main_row("n" * 50 + "/" + "n" * 49)],
             "210 path=" + "n" * 50 + "/" + "n" * 149 + "\n", None),
            ("e" * 100, "directory", 0, "", [pax_row(0o157), main_row("e" * 100, mode="000755", flag="5")],
             "111 path=" + "e" * 100 + "/\n", None),
            ("dir/ü.txt", "file", 5, "", [pax_row(0o23), main_row("dir/ü.txt", "00000000005 ")],
             "19 path=dir/ü.txt\n", ["011054", "011355"]),
            ("café", "directory", 0, "", [pax_row(15), main_row("café/", mode="000755", flag="5")], "15 path=café/\n", [None, "010472"]),
            ("z1", "link", 0, "dir/ü.txt", [pax_row(23), main_row("z1", flag="1", link="dir/ü.txt")],
             "23 linkpath=dir/ü.txt\n", [None, "011624"]),
            ("z3", "link", 0, long, [pax_row(135), main_row("z3", flag="1", link="k" * 60 + "/" + "k" * 39)],
             f"135 linkpath={long}\n", [None, "034253"]),
            ("big.bin", "file", 1 << 33, "", [pax_row(0o23), main_row("big.bin", "100000000000")],
             "19 size=8589934592\n", ["011054", "010427"]),
            ("big.bin", "file", (1 << 33) - 1, "", [main_row("big.bin", "77777777777 ")], "", ["010523"])):
        name = f"§4.2.3 {path[:20]} {kind}"
        headers = entry_headers(path.encode(), kind, False, size, target.encode())
        blocks = [headers[:512]] if len(rows) == 1 else [headers[:512], headers[-512:]]
        a.equal(name + ", fields", [header_row(block) for block in blocks], rows)
        a.equal(name + ", records", headers[512:-512].rstrip(b"\0"), records.encode())
        for block, want in zip(blocks, sums or ()):
            a.equal(name + ", checksum", want is None or block[148:156].decode() == want + "\0 ", True)
