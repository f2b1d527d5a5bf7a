"""Looks for pieces of files in the folders of a browser: in files as they are, and in what Snappy compressed."""

import contextlib
import os
import pathlib
import struct


def uncompressed(data, start=0):
    """The content of a raw Snappy block, or nothing if it is none."""
    size = shift = 0
    while True:
        byte = data[start]
        start += 1
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    if size > 1 << 28:
        raise ValueError("too large")
    out = bytearray()
    while start < len(data):
        tag = data[start]
        start += 1
        kind, length = tag & 3, (tag >> 2) + 1
        if kind == 0:
            if length > 60:
                extra = length - 60
                length = int.from_bytes(data[start:start + extra], "little") + 1
                start += extra
            out += data[start:start + length]
            start += length
            continue
        if kind == 1:
            length, offset = ((tag >> 2) & 7) + 4, (tag >> 5) << 8 | data[start]
            start += 1
        else:
            width = 2 if kind == 2 else 4
            offset = int.from_bytes(data[start:start + width], "little")
            start += width
        if not 0 < offset <= len(out):
            raise ValueError("not Snappy")
        for _ in range(length):
            out.append(out[-offset])
    if len(out) != size:
        raise ValueError("not Snappy")
    return bytes(out)


def frames(data):
    """The content of a framed Snappy stream, as Firefox writes Cache and IndexedDB."""
    position, out = 0, []
    while position + 4 <= len(data):
        kind, length = data[position], int.from_bytes(data[position + 1:position + 4], "little")
        body = data[position + 4:position + 4 + length]
        position += 4 + length
        if kind == 0:
            out.append(uncompressed(body, 4))
        elif kind == 1:
            out.append(body[4:])
    return b"".join(out)


def blocks(data):
    """The content of the compressed blocks of a LevelDB table, as Chromium writes IndexedDB."""
    def number(position):
        value = shift = 0
        while True:
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value, position

    def block(offset, size):
        body = data[offset:offset + size]
        return uncompressed(body) if data[offset + size] == 1 else body

    position = len(data) - 48
    for _ in range(2):
        _, position = number(position)
    offset, position = number(position)
    size, position = number(position)
    index, position, out = block(offset, size), 0, []
    end = len(index) - 4 - 4 * int.from_bytes(index[-4:], "little")
    whole, data_of_index = data, index
    while position < end:
        data = data_of_index
        _, position = number(position)
        unshared, position = number(position)
        length, position = number(position)
        place = position + unshared
        offset, place = number(place)
        size, _ = number(place)
        position += unshared + length
        data = whole
        out.append(block(offset, size))
    return b"".join(out)


def contents(path, data):
    """The bytes of a file, and those that are compressed in it."""
    yield data
    with contextlib.suppress(ValueError, IndexError):
        # A structured clone of Firefox may have bytes before the stream.
        start = data[:4096].find(b"\xff\x06\x00\x00sNaPpY")
        if start >= 0:
            yield frames(data[start:])
        elif path.suffix in (".ldb", ".sst"):
            yield blocks(data)


class Pieces:
    """Pieces of 64 bytes of files, at most 64 of a file."""

    def __init__(self, paths):
        self.known, self.whole, self.files = {}, set(), 0
        for path in paths:
            data = pathlib.Path(path).read_bytes()
            self.files += 1
            step = max(64, len(data) // 64 // 64 * 64)
            for start in range(0, max(1, len(data) - 63), step):
                self.add(data[start:start + 64])

    @classmethod
    def of(cls, pieces):
        found = cls([])
        for piece in pieces:
            found.add(piece)
        return found

    def add(self, piece):
        # What is short or the same all over is anywhere.
        if len(piece) < 32 or len(set(piece)) < 12:
            return
        self.whole.add(piece)
        # At whatever place a piece is, one of these is at a place that eight divides.
        for start in range(8):
            self.known.setdefault(struct.unpack_from("<Q", piece, start)[0], set()).add(piece)

    def __len__(self):
        return len(self.whole)

    def found_in(self, data):
        count = len(data) // 8
        for value in set(struct.unpack_from(f"<{count}Q", data)) & self.known.keys():
            for piece in self.known[value]:
                if piece in data:
                    return piece
        return None

    def search(self, folders):
        """Files that have one of the pieces."""
        found = []
        for folder in folders:
            for path in pathlib.Path(folder).rglob("*"):
                with contextlib.suppress(OSError):
                    if path.is_file() and not path.is_symlink():
                        found += self.search_file(path, path)
        return found

    def search_file(self, path, name):
        for data in contents(pathlib.Path(name), pathlib.Path(path).read_bytes()):
            if piece := self.found_in(data):
                return [f"{name}: {piece[:24]!r}"]
        return []

    def search_open(self, pid):
        """Files outside the system that a process or one of its children has open, also removed ones."""
        found = []
        for member in family(pid):
            with contextlib.suppress(OSError):
                for entry in pathlib.Path(f"/proc/{member}/fd").iterdir():
                    with contextlib.suppress(OSError):
                        target = os.readlink(entry)
                        if target.startswith("/") and not target.startswith(("/dev/", "/proc/", "/usr/", "/memfd:", "/lib", "/sys/")) and entry.stat().st_size < 1 << 30:
                            found += self.search_file(entry, target)
        return found


def family(pid):
    """A process and all below it."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
    members = {pid}
    while more := {child for child, parent in parents.items() if parent in members} - members:
        members |= more
    return members


def count(folders):
    files = [path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    return len(files), sum(path.stat().st_size for path in files)


@contextlib.contextmanager
def environment(**values):
    """Sets variables for the processes that are started inside."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
