"""The files of vectors: a head of lines `key: value`, an empty line, and the bytes (Tests/Vectors/README.md)."""

import os

from vectors.format.errors import Problem
from vectors.format.records import DIRECTORY


def file_bytes(head, data):
    """The file with these lines and bytes."""
    return "".join(line + "\n" for line in head).encode("utf-8") + b"\n" + data


def parse_file(name, data, keys):
    """The head as pairs of key and value, in order, and the bytes. A key that is not in `keys` is an error."""
    head, separator, body = data.partition(b"\n\n")
    pairs = []
    for line in head.decode("utf-8").split("\n"):
        key, colon, value = line.partition(": ")
        if not (separator and colon) or key not in keys:
            raise Problem(f"{name}: the head of the vector: {line}")
        pairs.append((key, value))
    return pairs, body


def parse_values(name, data, keys):
    """The head as the list of values of each key, and the bytes."""
    pairs, body = parse_file(name, data, keys)
    return {key: [value for other, value in pairs if other == key] for key in keys}, body


def listing_of(records):
    """What a head says of records: their paths, those of directories with a slash, and the digests of files."""
    return [[r.path.decode("utf-8") + "/", None] if r.type == DIRECTORY else [r.path.decode("utf-8"), r.digest.hex()] for r in records]


def listing_lines(records):
    """The lines of a head that list records."""
    for path, digest in listing_of(records):
        yield f"path: {path}"
        if digest is not None:
            yield f"sha256: {digest}"


def parse_listing(pairs):
    """The listing that a head has."""
    listing = []
    for key, value in pairs:
        if key == "path":
            listing.append([value, None])
        elif key == "sha256":
            listing[-1][1] = value
    return listing


def empty_folder(path, suffix=""):
    """Makes a folder, or removes the files from it whose names end like this."""
    os.makedirs(path, exist_ok=True)
    for name in os.listdir(path):
        if name.endswith(suffix):
            os.unlink(os.path.join(path, name))


def write_file(folder, name, data):
    with open(os.path.join(folder, name), "wb") as out:
        out.write(data)
    return len(data)


def read_files(folder, suffix=""):
    """The files in a folder whose names end like this: (name, bytes), in order of their names."""
    for name in sorted(os.listdir(folder)):
        if name.endswith(suffix):
            with open(os.path.join(folder, name), "rb") as file_object:
                yield name, file_object.read()
