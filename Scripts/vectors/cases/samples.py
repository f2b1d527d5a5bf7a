"""What cases are made of: keys, files, trees, and packs of them."""

from vectors.format.errors import Problem
from vectors.format.header import derive_stanza, wrap_stanzas
from vectors.format.index import skippable
from vectors.format.keys import Recipient, edition_key, file_key, key_of_pack, pack_id
from vectors.format.pack import make_pack
from vectors.format.payload import tree_payload
from vectors.format.primitives import sha256, u32
from vectors.format.records import Item
from vectors.format.tar import build_tree

AK = bytes(range(32))
OTHER_AK = bytes(range(32, 64))
NAME, VERSION, SMALL = "vector", 7, 4096
OWN_AK = key_of_pack(AK, NAME)
EDITION_AK = edition_key(AK, pack_id(NAME), VERSION)
RECIPIENT = Recipient(bytes(range(0x40, 0x60)))
SHARED_AK = bytes(range(0x60, 0x80))
OTHER_RECIPIENT = Recipient(bytes(range(0x80, 0xa0)))
KAT_TEXT = b"The plaintext of the known-answer test."


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


def many_files(count=300):
    return [file(f"f{i:03}", b"%d" % i) for i in range(count)]


def many_directories(count):
    """Files, each under directories of its own, that need this many directories beside the root."""
    return [file(f"{start:05}/" + "d/" * (min(63, count - start) - 1) + "e") for start in range(0, count, 63)]


def tar_of(items):
    return build_tree(list(items))[0].finish()


def exact_length(target):
    """A tree whose payload has exactly `target` bytes."""
    for length in range(target, 0, -1):
        items = [file("noise.bin", noise(length)), file("z", b"end")]
        payload, records = tree_payload(items)
        if len(payload) == target:
            return payload, records
    raise Problem("no payload of this length")


def other_frames():
    return [skippable(0x184D2A50, b"padding"), skippable(0x184D2A5C, b""), skippable(0x184D2A57, bytes(100))]


def wrapped(*changes, recipients=(RECIPIENT,), shared=(SHARED_AK,), ak=AK):
    """A function from core to DERIVE and the WRAP stanzas, each of `changes` applied to the bytes of the latter."""
    def stanzas(core):
        wraps = wrap_stanzas(file_key(ak, core), core, [key.public for key in recipients], shared)
        for change in changes:
            wraps = change(wraps)
        return derive_stanza(ak) + wraps
    return stanzas
