"""Reads a whole pack, full or delta."""

from vectors.format.delta import DeltaTree
from vectors.format.errors import require
from vectors.format.pack import open_pack
from vectors.format.payload import read_payload
from vectors.format.primitives import sha256
from vectors.format.records import DIRECTORY
from vectors.format.trees import TarTree


def read_pack(data, ak, verify=False, sink=None, bases=()):
    """The whole reader. With bases (§13) a delta is read, too."""
    opened = open_pack(data, ak, deltas=bool(bases))
    if opened.kind == 1:
        return read_payload(opened.payload, opened.minor, verify, sink)
    tree = DeltaTree(opened, bases)
    read_tree_contents(tree, sink)
    return tree.records


def open_base(data, key):
    """§13.7: a full pack as a base."""
    return TarTree(open_pack(data, key))


def read_tree_contents(tree, sink=None):
    """Every file, read from its place: its SHA-256 is the one in the record."""
    for index, record in enumerate(tree.records):
        content = tree.read(index, 0, record.size) if record.size else b""
        require(record.type == DIRECTORY or sha256(content) == record.digest, f"the content of {record.path!r} has another SHA-256")
        if sink:
            sink(record, (content,))
