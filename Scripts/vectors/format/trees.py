"""Trees as bases of a delta, and the list of their records (FORMAT.md §13.3, §13.4)."""

from vectors.format.errors import require
from vectors.format.index import read_index, read_seek_table
from vectors.format.limits import MAX_CONTENT, MAX_PATH, MAX_RECORDS
from vectors.format.paths import PathOrder, check_directories, check_path
from vectors.format.payload import Tar
from vectors.format.records import DIRECTORY, EXECUTABLE, FILE, Record, content_root, directory_record, file_record, require_apart
from vectors.format.varints import Cursor, varint


def list_bytes(records):
    """§13.4"""
    return b"".join(r.path + b"\0" + bytes([r.type]) + varint(r.size) for r in records)


def read_list(data):
    """§13.4: records without digests; §13.7, step 4."""
    cursor, records, order = Cursor(data), [], PathOrder()
    while cursor.at < len(data):
        require(len(records) < MAX_RECORDS, f"more than {MAX_RECORDS} records", "limit")
        records.append(read_line(cursor, order))
    check_directories([record.path for record in records], [record.type == DIRECTORY for record in records])
    content = sum(record.size for record in records)
    require(content <= MAX_CONTENT, f"content size {content}", "limit")
    return records


def read_line(cursor, order):
    """§13.4: one record; type, path, its order and size are checked as in §4.9, step 5."""
    end = cursor.data.find(b"\0", cursor.at, cursor.at + MAX_PATH + 1)
    require(end >= 0 or len(cursor.data) - cursor.at <= MAX_PATH, "a path above 1024 bytes", "limit")
    require(end >= 0, "the list ends inside a path")
    path = cursor.take(end - cursor.at)
    kind = cursor.take(2)[1]
    require(kind in (FILE, EXECUTABLE, DIRECTORY), f"record type {kind:#04x}", "unsupported")
    check_path(path)
    order.require_next(path)
    size = cursor.varint()
    require(kind != DIRECTORY or size == 0, "a directory with a size")
    return Record(path, kind, size, 0, None)


class FileTree:
    """A tree as files; with the records, the content root and the contents that every base has."""

    def __init__(self, items):
        items = sorted(items, key=lambda item: item.path)
        self.contents = [item.content for item in items]
        self.records = [directory_record(item.path) if item.kind == "directory" else file_record(item.path, item.content, 0, item.executable)
                        for item in items]
        self.root, self.tar = content_root(self.records), None

    def read(self, number, offset, length):
        return self.contents[number][offset:offset + length]


class TarTree:
    """A full pack as a base."""

    def __init__(self, opened):
        seek = read_seek_table(opened.payload)
        head, self.records = read_index(opened.payload, seek, opened.minor)
        require_apart(self.records)
        require(content_root(self.records) == head.root, "the content root differs")
        self.root, self.tar = head.root, Tar(opened.payload, seek, kept=32)

    def read(self, number, offset, length):
        return self.tar.read(self.records[number].offset + offset, length)
