"""Vectors of deltas: their files and bases, and what the second implementation makes of them."""

import os
from collections import namedtuple

from vectors.cases.files import file_bytes, listing_lines, listing_of, parse_file, parse_listing
from vectors.cases.samples import AK, VERSION, directory, file, noise, pack_of
from vectors.format.base_string import BaseString
from vectors.format.delta import delta_payload
from vectors.format.errors import Refused
from vectors.format.matches import prefix_frame
from vectors.format.payload import tree_payload
from vectors.format.reader import open_base, read_pack
from vectors.format.trees import FileTree, list_bytes

DeltaVector = namedtuple("DeltaVector", "name expect comment key bases data records")
OLD_TEXT = b"".join(b"%d: the line of the file that was there before\n" % i for i in range(12))
NEW_TEXT = OLD_TEXT.replace(b"5: the line", b"5: another line")
OLD_TREE = (file("a.txt", OLD_TEXT), file("b/c.bin"), directory("d"), file("noise.bin", noise(200)), file("run", b"#!/bin/sh\n", True))
NEW_TREE = (file("a.txt", NEW_TEXT), *OLD_TREE[1:])
ENGINE = (file("engine.js", b"function engine() { return 'the same for all games' }\n" * 4), file("font.bin", noise(150, b"font")))
# The numbers of the records of OLD_TREE.
A_TXT, C_BIN, D_DIRECTORY, NOISE_BIN, RUN = range(5)


def starts_of(*trees):
    """§13.3: where the parts of the base string of these trees begin, and where the last one ends."""
    base = BaseString([FileTree(tree) for tree in trees])
    return [*base.starts, base.length]


LIST_LENGTH = len(list_bytes(FileTree(OLD_TREE).records))
# Where the contents of OLD_TREE begin in its base string, and where it ends.
_, A_TXT_PLACE, NOISE_BIN_PLACE, RUN_PLACE, OLD_END = starts_of(OLD_TREE)


def delta_vector_bytes(vector, names):
    """§10.4; `names` has the names of the bases."""
    return file_bytes([f"expect: {vector.expect}", f"key: {vector.key.hex()}", f"comment: {vector.comment}",
                       *(f"base: {names[data]}" for data in vector.bases), *listing_lines(vector.records or ())], vector.data)


def parse_delta_vector(name, data, packs):
    """§10.4; `packs` is the folder of the bases."""
    pairs, body = parse_file(name, data, ("expect", "key", "comment", "base", "path", "sha256"))
    values, bases = dict(pairs), []
    for key, value in pairs:
        if key == "base":
            with open(os.path.join(packs, value), "rb") as file_object:
                bases.append(file_object.read())
    return DeltaVector(name, values["expect"], values["comment"], bytes.fromhex(values["key"]), bases, body, parse_listing(pairs))


def check_delta_vector(vector, verbose):
    """The problems of a vector, as texts."""
    try:
        records = read_pack(vector.data, vector.key, bases=[open_base(data, vector.key) for data in vector.bases])
    except Refused as error:
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    listing = listing_of(records)
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif listing != vector.records:
        yield f"the records differ: {listing}"


def base_pack(items, **changes):
    """A base, as small as it can be: one data frame, whose bytes do not depend on a library."""
    return pack_of(tree_payload(list(items), F=8 << 20, codec=prefix_frame, **changes)[0], version=VERSION - 1)


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


def base_names(vectors):
    """Names for the files of the bases: those of trees that many vectors have, or that of the first vector with the base."""
    names = {base_pack(tree): f"{name}.pack" for name, tree in (("old", OLD_TREE), ("new", NEW_TREE), ("engine", ENGINE))}
    for vector in vectors:
        for data in vector.bases:
            number = sum(name.startswith(vector.name + "-of-") for name in names.values()) + 1
            names.setdefault(data, f"{vector.name}-of-{number}.pack")
    return names
