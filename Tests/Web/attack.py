"""Makes attacks on the reader for browsers, as vectors, and says of each what the second implementation says (Scripts/vectors).

attack.py SEED COUNT   writes vectors to standard output: name, length and bytes of each. A negative count has no end.
attack.py --inputs DIR   the same for inputs of packer-fuzz, in folders with the names of its targets, as Tests/Corpora has them.

Packs are changed behind the authentication: payload, index, seek table, records and header are sealed again after the change. So are manifests and
shards, which are signed again.
"""

import copy
import json
import os
import random
import struct
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "Scripts"))

from vectors.cases.files import read_files
from vectors.cases.manifests.samples import SEED as SIGNER
from vectors.cases.manifests.samples import full_manifest, kat_pack, kat_signed, keys_value, make_keys, root_seed, sample_entries, sample_updates, signed_with
from vectors.cases.manifests.vector import keys_vector, manifest_vector, manifest_vector_bytes
from vectors.cases.packs.vector import Vector, outcome, parse_vector, vector_bytes
from vectors.cases.samples import AK, RECIPIENT, SHARED_AK, SMALL_TREE, directory, file, many_files, noise, wrapped
from vectors.cases.shards.vector import ShardVector, ids_of, shard_vector_bytes
from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import public_key
from vectors.format.errors import Problem, Refused
from vectors.format.frames import bound, frame_content_size, frame_header, run_frame, zstd_block, zstd_frame
from vectors.format.header import derive_stanza, make_core, make_header, with_mac
from vectors.format.index import HEAD_FIELDS, INDEX_MAGIC, Place, directory_bytes, head_bytes, read_seek_table, seek_table, skippable
from vectors.format.keys import key_text, parse_key_text, recipient_key_text, schedule
from vectors.format.limits import MAX_ENTRIES, MAX_FRAME
from vectors.format.manifest import make_manifest, read_manifest
from vectors.format.pack import open_pack
from vectors.format.payload import Tar, make_payload
from vectors.format.primitives import sha256, u16, u32
from vectors.format.records import Record, columns, file_record, stored_digests
from vectors.format.segments import seal, split_segments
from vectors.format.tar import build_tree

NUMBERS = [0, 1, 7, 8, 9, 127, 128, 255, 256, 511, 512, 1024, 4095, 65535, 65536, 1 << 17, 1 << 20, 1 << 21, 1 << 23, (1 << 23) + 1, 1 << 24, 1 << 27, 1 << 30,
           (1 << 31) - 1, 1 << 31, (1 << 32) - 9, (1 << 32) - 1, 1 << 32, 1 << 36, 1 << 40, (1 << 53) - 1, 1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 512, (1 << 64) - 1]


class Attack:
    """Changes that depend on a seed only."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        folder = os.path.join(ROOT, "Tests", "Vectors")
        self.packs, self.payloads, self.manifests = [], [], []
        for part in ("valid", "hostile", "others"):
            for name, data in read_files(os.path.join(folder, part), ".vector"):
                vector = parse_vector(name, data)
                if len(vector.data) > 100_000 or not isinstance(vector.key, bytes):
                    continue
                if vector.expect == "ok":
                    self.packs.append(vector)
                try:
                    opened = open_pack(vector.data, vector.key)
                except Refused:
                    continue
                self.payloads.append((vector, opened))

    # Numbers and bytes

    def number(self, width):
        r = self.random
        value = r.choice(NUMBERS) + r.choice((0, 0, 0, 1, -1, 2, 512)) if r.random() < 0.8 else r.getrandbits(8 * width)
        return value & (1 << 8 * width) - 1

    def bytes(self, data, tail=0):
        """Changes bytes; in half of the cases those of the last `tail`."""
        r, data = self.random, bytearray(data)
        for _ in range(r.choice((1, 1, 1, 2, 3, 8))):
            if not data:
                return bytes([r.getrandbits(8)])
            start = max(0, len(data) - tail) if tail and r.random() < 0.6 else 0
            at = r.randrange(start, len(data))
            match r.randrange(8):
                case 0 | 1:
                    data[at] ^= 1 << r.randrange(8)
                case 2:
                    data[at] = r.choice((0, 1, 127, 128, 255, r.getrandbits(8)))
                case 3 | 4:
                    width = r.choice((2, 4, 4, 8))
                    data[at:at + width] = self.number(width).to_bytes(width, "little")[:len(data) - at]
                case 5:
                    del data[at:at + r.choice((1, 2, 8, 64, 512))]
                case 6:
                    data[at:at] = r.randbytes(r.choice((1, 2, 8, 64)))
                case _:
                    other = r.randrange(len(data))
                    data[at:at] = data[other:other + r.choice((1, 8, 16, 128))]
        return bytes(data)

    # Packs

    def sealed(self, payload, core, stanzas, key):
        keys = schedule(key, core)
        pieces = split_segments(payload, int.from_bytes(core[12:16], "little"))
        return with_mac(core, stanzas, keys) + b"\x28" + keys.TS + keys.NP + b"".join(seal(keys, pieces))

    def pack(self, what, data, key):
        vector = Vector("", "ok", what, data, key, None, None)
        said, detail = outcome(vector, False, key)
        said = self.strict(said, data, key)
        vector = vector._replace(expect=said)
        body = vector_bytes(vector)
        if said != "ok":
            return body
        lines = "".join(f"path: {path}\n" + (f"sha256: {digest}\n" if digest else "") for path, digest in detail)
        head, _, rest = body.partition(b"\n\n")
        return head + b"\n" + lines.encode("utf-8").rstrip(b"\n") + b"\n\n" + rest if lines else body

    @staticmethod
    def strict(said, data, key):
        """What a check of a whole pack says, which decompresses every frame: §4.9 leaves those of only headers to the reader. Frames of no bytes, or
        too long for their content (§4.4 item 2), are refused with the seek table already."""
        try:
            payload = open_pack(data, key).payload
        except Refused:
            return said
        try:
            places = read_seek_table(payload).data
        except Refused as error:
            if error.name != "limit" or (count := int.from_bytes(payload[-9:-5], "little")) > MAX_ENTRIES:
                return said
            places = [Place(0, *pair) for pair in struct.iter_unpack("<II", payload[-9 - 8 * count:-9]) if pair[1]]
        for place in places:
            if place.size > MAX_FRAME:
                return said
            if not 0 < place.length <= bound(place.size):
                return "damaged"
        try:
            tar = Tar(payload, read_seek_table(payload))
            for index in range(len(places) if said == "ok" else 0):
                tar.frame(index)
        except Refused:
            return "damaged"
        return said

    def payload_case(self):
        vector, opened = self.random.choice(self.payloads)
        data = vector.data
        payload = self.bytes(opened.payload, tail=self.random.choice((25, 120, 400)))
        return self.pack(f"payload of {vector.name}, with zstd", self.sealed(payload, data[:96], data[100:100 + opened.N], vector.key), vector.key)

    def tree(self):
        r = self.random
        kind = r.randrange(6)
        if kind == 0:
            return list(SMALL_TREE)
        if kind == 1:
            return many_files(r.choice((1, 127, 128, 129, 300)))
        if kind == 2:
            return []
        items = []
        for i in range(r.randrange(1, 12)):
            name = r.choice(("a", "b", "d/e", "d/é", "x" * 200, "n.html", "w.wasm", "日本", "z z")) + str(i)
            if r.random() < 0.15:
                items.append(directory(name))
            else:
                size = r.choice((0, 1, 2, 511, 512, 513, 3000, 5000, 70000))
                content = noise(size, str(i % 3).encode()) if r.random() < 0.5 else bytes([r.choice(b"ab")]) * size
                items.append(file(name, content, r.random() < 0.2))
        return items

    def tree_case(self):
        r = self.random
        changes = {}
        number = self.number

        def entry(value):
            at = r.randrange(len(value))
            change = r.randrange(5)
            if change == 0:
                return value[:at] + value[at + 1:]
            if change == 1:
                return value[:at] + [(number(4), number(4))] * r.choice((1, 1, 3, 40)) + value[at:]
            c, d = value[at]
            return value[:at] + [(number(4), d) if change < 4 else (c, number(4))] + value[at + 1:]

        def fields(value):
            name = r.choice(("magic", "records", "largest", "zero", "content", "tar", "root"))
            width = {"magic": 0, "root": 0, "content": 8, "tar": 8}.get(name, 4)
            return {**value, name: number(width) if width else self.bytes(value[name])[:len(value[name])].ljust(len(value[name]), b"\0")}

        def one(value):
            if not value:
                return value
            at = r.randrange(len(value))
            return value[:at] + [self.bytes(value[at])] + value[at + 1:]

        def data(value):
            at = r.randrange(len(value))
            frame, size = value[at]
            return value[:at] + [(self.bytes(frame, tail=30), number(4) if r.random() < 0.2 else size)] + value[at + 1:]

        def extra(value):
            frames = [skippable(r.choice((0x184D2A50, 0x184D2A5D, 0x184D2A5E, 7)), r.randbytes(r.choice((0, 1, 64)))) for _ in range(r.choice((1, 2, 200)))]
            return value + frames

        steps = {"data": data, "contents": one, "blocks": one, "directory": self.bytes, "dirframe": self.bytes, "fields": fields,
                 "head": lambda value: self.bytes(value), "extra": extra, "index": one, "entries": entry, "table": lambda value: self.bytes(value, tail=17)}
        for name in r.sample(sorted(steps), r.choice((0, 1, 1, 1, 2))):
            changes[name] = steps[name]
        codec = r.choice((run_frame, zstd_frame))
        cut = r.choice((512, 4096, 65536, 1 << 20))
        builder, records = build_tree(self.tree())
        if r.random() < 0.4 and records:
            records = self.records(records)
        tar = builder.finish()
        sizes = [min(cut, len(tar) - at) for at in range(0, len(tar), cut)]
        payload = make_payload(tar, records, sizes=sizes, codec=codec, **changes)
        core = make_core("vector", 7, r.randbytes(32), S=r.choice((4096, 4096, 65536, 1 << 20)), minor=r.choice((0, 0, 1)))
        what = f"a tree with other {', '.join(changes) or 'records'}{', with zstd' if codec is zstd_frame else ''}"
        return self.pack(what, self.sealed(payload, core, derive_stanza(AK), AK), AK)

    def records(self, records):
        r, records = self.random, list(records)
        for _ in range(r.choice((1, 1, 2))):
            at = r.randrange(len(records))
            record = records[at]
            match r.randrange(7):
                case 0:
                    records[at] = record._replace(path=self.bytes(record.path)[:65535].replace(b"\n", b"_"))
                case 1:
                    part = r.choice((b"../", b"/", b"a/" * r.choice((31, 63, 64, 65)), b"\xff", b"con", b".", b"x" * r.choice((254, 255, 256, 1024))))
                    records[at] = record._replace(path=(part + record.path if r.random() < 0.5 else record.path + part))
                case 2:
                    records[at] = record._replace(type=r.choice((0, 1, 2, 0x80, 0x81, 255)))
                case 3:
                    records[at] = record._replace(size=self.number(8))
                case 4:
                    # Steps are in units of 512 bytes.
                    records[at] = record._replace(offset=self.number(8) // 512 * 512 if record.size else 0)
                case 5:
                    records[at] = record._replace(digest=self.bytes(record.digest)[:32].ljust(32, b"\0"))
                case _:
                    records[at] = record._replace(size=records[at - 1].size, offset=records[at - 1].offset, digest=records[at - 1].digest)
        return sorted(records, key=lambda record: record.path) if r.random() < 0.8 else records

    def header_case(self):
        r = self.random
        vector, opened = r.choice(self.payloads)
        data = vector.data
        core, stanzas = data[:96], data[100:100 + opened.N]
        if r.random() < 0.4:
            stanzas = wrapped()(core) if vector.key == AK else stanzas
        key = r.choice((AK, RECIPIENT, SHARED_AK)) if vector.key == AK else vector.key
        if r.random() < 0.5:
            core = (core[:8] + self.bytes(core[8:])[:88].ljust(88, b"\0")) if r.random() < 0.8 else self.bytes(core)[:96].ljust(96, b"\0")
        else:
            stanzas = self.bytes(stanzas)[:65535]
        S = int.from_bytes(core[12:16], "little")
        if not 57 <= S <= 1 << 24:
            return self.pack("header that no segments fit", with_mac(core, stanzas, schedule(vector.key, core)) + data[132 + opened.N:], key)
        return self.pack(f"header of {vector.name}", self.sealed(opened.payload, core, stanzas, vector.key), key)

    def file_case(self):
        vector = self.random.choice(self.packs)
        data = self.bytes(vector.data, tail=200) if self.random.random() < 0.7 else vector.data[:self.random.randrange(len(vector.data) + 1)]
        return self.pack(f"file of {vector.name}", data, vector.key)

    def inputs(self, target, data):
        """Cases of an input of packer-fuzz."""
        core = make_core("vector", 7, bytes(32), S=4096)
        if target == "pack" and len(data) >= 2:
            core = make_core("vector", 7, bytes(32), S=4096 << data[1] % 9, minor=data[0])
            yield ".vector", self.pack("an input", self.sealed(data[2:], core, derive_stanza(AK), AK), AK)
        elif target == "seek-table":
            yield ".vector", self.pack("an input", self.sealed(data[1:], core, derive_stanza(AK), AK), AK)
        elif target == "frames":
            try:
                size = frame_content_size(data)[0]
            except Refused:
                size = 1024
            payload = make_payload(bytes(1024), [], data=lambda _: [(data, min(size, (1 << 32) - 1))])
            yield ".vector", self.pack("an input", self.sealed(payload, core, derive_stanza(AK), AK), AK)
        elif target == "stanzas":
            for key in (AK, SHARED_AK, RECIPIENT):
                yield ".vector", self.pack("an input", self.sealed(make_payload(bytes(1024), []), core, data, AK), key)
        elif target == "header":
            yield ".vector", self.pack("an input", data, AK)
            if len(data) >= 96 and 57 <= int.from_bytes(data[12:16], "little") <= 1 << 24:
                yield ".vector", self.pack("an input", self.sealed(make_payload(bytes(1024), []), data[:96], derive_stanza(AK), AK), AK)
        elif target in ("manifest", "json"):
            yield ".manifest-vector", self.manifest(data)
            yield ".manifest-vector", self.manifest(make_manifest(data, [SIGNER]))
        elif target == "keys":
            yield ".manifest-vector", self.keys(make_manifest(kat_signed(), [SIGNER], [data]))
        elif target == "shard" and data:
            try:
                size = frame_content_size(data)[0]
            except Refused:
                size = 1
            yield ".shard-vector", self.shard(data, min(max(size, 1), 1 << 20), 3)
            yield ".shard-vector", self.shard(run_frame(data), len(data), len(data))
        elif target == "key-text":
            yield ".key-text", self.key(data.decode("utf-8", "replace"))

    # Documents

    def value(self):
        r = self.random
        match r.randrange(9):
            case 0 | 1:
                return r.choice((r.choice(NUMBERS), 10 ** r.choice((19, 20, 30, 300)), -1))
            case 2:
                return "x" * r.choice((0, 1, 64, 65, 5000))
            case 3:
                return r.choice(("é", "e\u0301", "\u0000", "\"\\", "\u2028", "🎮", "\U0010ffff", "ſ", "1e5", "2027-02-30T00:00:00Z", "9999-12-31T23:59:59Z",
                                 "0000-01-01T00:00:00Z", "https://a/", "https://" + "a" * 3000 + "/", "essential"))
            case 4:
                return r.choice((None, True, False))
            case 5:
                return {} if r.random() < 0.5 else {r.choice(("a", "é", "")): 1}
            case 6:
                nested = 0
                for _ in range(r.choice((1, 5, 6, 7, 8, 9, 100, 400))):
                    nested = [nested] if r.random() < 0.7 else {"a": nested}
                return nested
            case 7:
                return [self.value() for _ in range(r.choice((0, 1, 3)))]
            case _:
                return [r.choice(("a", 1, {}))] * r.choice((2, 65, 1000))

    def document(self, value):
        """Changes a JSON value at some places."""
        r, value = self.random, copy.deepcopy(value)
        for _ in range(r.choice((1, 1, 1, 2, 3))):
            node = value
            while True:
                keys = list(node) if isinstance(node, dict) else list(range(len(node)))
                if not keys:
                    break
                key = r.choice(keys)
                if isinstance(node[key], (dict, list)) and node[key] and r.random() < 0.8:
                    node = node[key]
                    continue
                match r.randrange(6):
                    case 0:
                        del node[key]
                    case 1 if isinstance(node, dict):
                        node[r.choice(("a", "zz", "keys", "version", "basePack", "tags", "languages", "fallback", "deltas", "stream", "platforms", "catalogue"))] = self.value()
                    case 1 | 2 if isinstance(node, list):
                        node.insert(key, copy.deepcopy(node[r.randrange(len(node))]))
                    case _:
                        node[key] = self.value()
                break
        return value

    def text(self, value):
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode("utf-8")
        return self.bytes(data).replace(b"\n", b" ") if self.random.random() < 0.3 else data

    def signed(self):
        r = self.random
        return r.choice((full_manifest(), kat_signed(), kat_signed(packs=[kat_pack()]),
                         signed_with({"contentSize": 100, "maxCount": 1, "sha256": "ab" * 32, "size": 50})))

    def manifest_case(self):
        r = self.random
        signed = self.text(self.document(self.signed()))
        data = make_manifest(signed, [SIGNER])
        if r.random() < 0.2:
            data = self.bytes(data)
        return self.manifest(data)

    def manifest(self, data):
        trust = [public_key(SIGNER)]
        try:
            read_manifest(data, trust)
            said = "ok"
        except Refused as error:
            said = error.name
        return manifest_vector_bytes(manifest_vector("", said, "a manifest", data, trust))

    def keys_case(self):
        r = self.random
        documents = []
        for version in range(2, r.choice((3, 4, 6))):
            value = keys_value(version=version)
            if r.random() < 0.4:
                value = self.document(value)
            documents.append(make_keys(self.text(value), by=r.choice(((1, 2), (1, 2, 3), (1,), (4, 5), (2, 3)))))
        data = make_manifest(kat_signed(), [SIGNER], documents)
        if r.random() < 0.2:
            data = self.bytes(data)
        return self.keys(data)

    def keys(self, data):
        vector = keys_vector("", "ok", "keys documents", data, make_keys(keys_value()))
        try:
            read_manifest(data, [], vector.embed)
        except Refused as error:
            vector = vector._replace(expect=error.name)
        return manifest_vector_bytes(vector)

    def shard_case(self):
        r = self.random
        entries = [{**entry} for entry in r.choice((sample_entries, sample_updates))(r.choice((1, 2, 5)))]
        for entry in entries:
            for key in ("keyId", "delivery"):
                entry.pop(key, None)
        content = self.text(self.document({"packs": entries})) if r.random() < 0.9 else canonical_json({"packs": entries}).encode()
        codec = r.choice((run_frame, zstd_frame))
        frame = codec(content) if content else b""
        if r.random() < 0.3:
            frame = self.bytes(frame)
        size = r.choice((1, 1 << 20, len(content) + 1)) if r.random() < 0.1 else len(content)
        return self.shard(frame, min(max(size, 1), 1 << 20), len(entries) + r.choice((0, 1)), "a shard, with zstd" if codec is zstd_frame else "a shard")

    def shard(self, frame, size, count, what="a shard"):
        """A shard that is the only one, with a reference that fits."""
        signed = signed_with({"contentSize": size, "maxCount": min(count, size), "sha256": sha256(frame).hex(), "size": len(frame)})
        trust, document = [public_key(SIGNER)], make_manifest(signed, [SIGNER])
        try:
            read_manifest(document, trust)
            ids, said = ids_of(frame, 0, signed), "ok"
        except Refused as error:
            ids, said = [], error.name
        return shard_vector_bytes(ShardVector("", said, what, signed, 0, frame, ids))

    def key_case(self):
        r = self.random
        text = r.choice((key_text(AK), recipient_key_text(AK), AK.hex(), key_text(AK).replace("pkk1", "pkw1")))
        for _ in range(r.choice((0, 1, 1, 2))):
            at = r.randrange(len(text) + 1)
            text = r.choice((text[:at] + r.choice("0aAg-é \u0000\U0001F3AE") + text[at:], text[:at] + text[at + 1:], text[:at], text * r.choice((2, 100)),
                             text[:at] + r.choice("0123456789abcdef") + text[at + 1:], text.upper(), text + "\n"))
        return self.key(text)

    def key(self, text):
        try:
            # The reader ignores white space around a text.
            parse_key_text(text.strip(" \t\n\v\f\r"))
            said = "ok"
        except Problem:
            said = "malformed-key"
        return f"expect: {said}\ntext: {json.dumps(text)}\n\n".encode()

    KINDS = (("payload", 20, ".vector", payload_case), ("tree", 40, ".vector", tree_case), ("header", 8, ".vector", header_case), ("file", 5, ".vector", file_case),
             ("manifest", 12, ".manifest-vector", manifest_case), ("keys", 4, ".manifest-vector", keys_case), ("shard", 8, ".shard-vector", shard_case),
             ("key", 3, ".key-text", key_case))

    def case(self):
        name, _, suffix, make = self.random.choices(self.KINDS, [kind[1] for kind in self.KINDS])[0]
        while True:
            try:
                return name, suffix, make(self)
            except (AssertionError, OverflowError, struct.error):
                # A change that cannot be written.
                continue


class Sparse:
    """A payload that is zero but for some bytes. Nobody has to have it: its segments are sealed when they are asked for."""

    def __init__(self):
        self.parts, self.size = [], 0

    def add(self, data, length=None):
        self.parts.append((self.size, data))
        self.size += len(data) if length is None else length

    def index(self, fields, directory, blocks, blocks_size, others=(), head_size=None):
        """Adds the frames of the index; `others` are the sizes of skippable frames before it."""
        entries = []
        for size in others:
            self.add(skippable(0x184D2A50, b"", size - 8), size)
            entries.append((size, 0))
        start = self.size
        self.add(skippable(INDEX_MAGIC, b"", blocks_size), 8 + blocks_size)
        self.parts += [(start + 8 + at, block) for at, block in blocks]
        head = head_bytes(fields) + (zstd_frame(directory) if directory else b"")
        self.add(skippable(INDEX_MAGIC, head, (head_size or len(head))), 8 + (head_size or len(head)))
        return [*entries, (8 + blocks_size, 0), (8 + (head_size or len(head)), 0)]

    def case(self, reads, *, S=1 << 20):
        """`reads` are calls of the reader's functions and what they have as the result: a code, or bytes in hexadecimal."""
        core = make_core("vector", 7, bytes(32), S=S)
        keys = schedule(AK, core)
        header, tink = make_header(AK, core, derive_stanza(AK))
        return json.dumps({
            "header": (header + tink).hex(), "key": keys.SEGK.hex(), "prefix": keys.NP.hex(), "segmentSize": S, "payloadSize": self.size,
            "text": key_text(AK), "parts": [(at, data.hex()) for at, data in self.parts], "reads": reads}).encode() + b"\n"


def head_fields(records, largest, content, tar):
    return dict(zip(HEAD_FIELDS, (b"PIX1", records, largest, 0, content, tar, bytes(32))))


def sparse_cases():
    """Packs as large as the format allows, of which a server sends what it likes: the numbers do not fit 32 bits."""
    frame_size, size = 8 << 20, 60 << 30
    start = frame_header(frame_size)
    headers = [zstd_block(0, 128 << 10, b"", last) for last in (False, True)]
    length = len(start) + 64 * (3 + (128 << 10))
    count = 120_000
    sparse = Sparse()
    for number in range(count):
        if number not in (0, 7000, count - 1):
            sparse.size += length
            continue
        at = sparse.size
        sparse.add(start, length)
        sparse.parts += [(at + len(start) + i * (3 + (128 << 10)), headers[i == 63]) for i in range(64)]
    offset = (count - 100) * frame_size
    records = [Record(b"big", 0, size, 512, sha256(b"")), Record(b"end", 0, 100 * frame_size - 1024, offset, sha256(b""))]
    block = run_frame(columns(records)) + stored_digests(records)
    entries = [(length, frame_size)] * count
    sum_size = size + 100 * frame_size - 1024
    entries += sparse.index(head_fields(2, frame_size, sum_size, count * frame_size), directory_bytes([block], [b"big"]), [(0, block)], len(block))
    sparse.add(seek_table(entries))
    at = 7000 * frame_size - 512
    yield "frames-of-1-tb", sparse.case([
        ["read", "big", at + 5_000_000, at + 5_000_010, "00" * 10], ["read", "big", 0, 4, "00" * 4], ["read", "end", 100 * frame_size - 1034, None, "00" * 10],
        ["read", "big", size, size, ""], ["read", "big", size, size + 1, "range-not-satisfiable"], ["read", "big", 1 << 31, (1 << 31) + 9, "damaged-payload"],
        ["read", "big", 0, None, "damaged-payload"], ["range", "big", "bytes=-1", "damaged-payload"]])

    def index(name, reads, fields=None, blocks=(), blocks_size=8, directory=b"", **sizes):
        sparse = Sparse()
        frame = run_frame(bytes(1024))
        sparse.add(frame)
        entries = [(len(frame), 1024)] + sparse.index(fields or head_fields(0, 1024, 0, 1024), directory, blocks, blocks_size, **sizes)
        sparse.add(seek_table(entries))
        return name, sparse.case(reads)

    # 8192 blocks, each as long as any may be, and only the last one is there.
    longest = bound(128 * (1024 + 18)) + 128 * 32
    last = [file_record(b"z%03d" % i, b"", 0) for i in range(128)]
    block = run_frame(columns(last))
    lines = [(bytes(0), b"a%06d" % i) for i in range(8191)]
    directory = b"".join(u32(longest) + u16(len(path)) + path for _, path in lines) + u32(len(block)) + u16(4) + b"z000"
    yield index("blocks-of-1-gb", [["read", "z127", 0, None, ""], ["read", "a000005x", 0, None, "damaged-payload"]], head_fields(1 << 20, 1024, 0, 1024),
                [(8191 * longest, block)], 8191 * longest + len(block), directory)
    most = (1 << 32) - 1
    yield index("skippable-frames-of-1-tb", [["read", "a", 0, None, "no-such-entry"]], blocks_size=0, others=[most] * 240)
    yield index("blocks-of-4-gb", [["open", "damaged-payload"]], blocks_size=most - 8)
    yield index("head-of-4-gb", [["open", "limit-exceeded"]], blocks_size=0, head_size=most - 8)
    # Files of a frame each, which are read at the same time.
    sparse, count = Sparse(), 12
    for number in range(count):
        at = sparse.size
        sparse.add(start, length)
        sparse.parts += [(at + len(start) + i * (3 + (128 << 10)), headers[i == 63]) for i in range(64)]
    size = frame_size - 2048
    records = [Record(b"f%02d" % i, 0, size, i * frame_size + 512, sha256(bytes(size))) for i in range(count)]
    block = run_frame(columns(records)) + stored_digests(records)
    entries = [(length, frame_size)] * count
    entries += sparse.index(head_fields(count, frame_size, count * size, count * frame_size), directory_bytes([block], [b"f00"]), [(0, block)], len(block))
    sparse.add(seek_table(entries))
    yield "files-at-once", sparse.case([["together", [f"f{i:02}" for i in range(count)], size]], S=1 << 16)

    sparse = Sparse()
    sparse.size = 1 << 35
    yield "no-table", sparse.case([["open", "damaged-payload"]])


def send(name, data):
    line = f"{name} {len(data)}\n".encode()
    sys.stdout.buffer.write(line + data)


def send_inputs(attack, folder):
    for target in sorted(os.listdir(folder)):
        if os.path.isdir(os.path.join(folder, target)):
            for name, data in read_files(os.path.join(folder, target)):
                for number, (suffix, case) in enumerate(attack.inputs(target, data)):
                    send(f"input-{target}/{name.replace(' ', '-')}-{number}{suffix}", case)


def main():
    if sys.argv[1] == "--inputs":
        send_inputs(Attack(0), sys.argv[2])
    else:
        seed, count = int(sys.argv[1]), int(sys.argv[2])
        for name, data in sparse_cases():
            send(f"sparse/{name}.sparse", data)
        attack = Attack(seed)
        send_inputs(attack, os.path.join(ROOT, "Tests", "Corpora"))
        number = 0
        while number != count:
            # Each case has a seed of its own, so that one can be made again.
            attack.random.seed(seed * 1_000_003 + number)
            name, suffix, data = attack.case()
            send(f"{name}/{number}{suffix}", data)
            number += 1
    sys.stdout.buffer.flush()


try:
    main()
except ConnectionError:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
