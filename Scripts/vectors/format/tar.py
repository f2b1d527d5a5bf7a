"""The tar inside a pack: written, and compared with the index (FORMAT.md §4.2, §4.9)."""

import re
from collections import namedtuple

from vectors.format.errors import require
from vectors.format.records import DIRECTORY, EXECUTABLE, directory_record, file_record


def padding(length):
    return bytes(-length % 512)


def split_name(name):
    """§4.2.2: (prefix, name), or None where the name does not fit."""
    if len(name) <= 100:
        return b"", name
    at = name.find(b"/", len(name) - 101)
    if at < 0 or at == len(name) - 1 or at > 155:
        return None
    return name[:at], name[at + 1:]


def size_field(size):
    """§4.2.2"""
    if size < 1 << 33:
        return b"%011o " % size
    if size < 1 << 36:
        return b"%012o" % size
    return bytes([0x80]) + size.to_bytes(11, "big")


def checksum(block):
    """§4.2.2: of a header block of 512 bytes."""
    return sum(block[:148]) + 8 * 0x20 + sum(block[156:])


def ustar_block(name, prefix, mode, size, typeflag, linkname=b"", *, mtime=b"00000000000 ",
                magic=b"ustar\x0000", uname=b"", size_bytes=None, sum_bytes=None):
    """§4.2.2: a header block. The named arguments are for vectors that break a rule."""
    zero = b"000000 \0"
    start = name.ljust(100, b"\0") + b"%06o \0" % mode + zero + zero \
        + (size_field(size) if size_bytes is None else size_bytes) + mtime
    end = typeflag + linkname.ljust(100, b"\0") + magic + uname.ljust(32, b"\0") + bytes(32) \
        + zero + zero + prefix.ljust(155, b"\0") + bytes(12)
    total = checksum(start + bytes(8) + end)
    block = start + (b"%06o\0 " % total if sum_bytes is None else sum_bytes) + end
    assert len(block) == 512
    return block


def pax_record(key, value):
    """§4.2.3: `length SP key = value LF`."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest)
    while length != len(rest) + len(b"%d" % length):
        length = len(rest) + len(b"%d" % length)
    return b"%d" % length + rest


def high_bytes(text):
    return any(byte > 0x7F for byte in text)


def pax_records(full, target, size):
    """§4.2.3: the (key, value) pairs that are needed."""
    pairs = []
    if high_bytes(full) or split_name(full) is None:
        pairs.append((b"path", full))
    if high_bytes(target) or len(target) > 100:
        pairs.append((b"linkpath", target))
    if size >= 1 << 33:
        pairs.append((b"size", b"%d" % size))
    return pairs


def full_name(path, kind):
    return path + b"/" if kind == "directory" else path


TYPEFLAGS = {"file": b"0", "link": b"1", "directory": b"5"}


def main_fields(path, kind, executable, size, target):
    """§4.2.2, §4.2.3: (name, prefix, mode, size, typeflag, linkname) of a main header."""
    full = full_name(path, kind)
    prefix, name = split_name(full) or (b"", full[:100])
    mode = 0o755 if executable or kind == "directory" else 0o644
    return name, prefix, mode, size, TYPEFLAGS[kind], target[:100]


def pax_block(length):
    """§4.2.3: the pax header block of records of this length."""
    return ustar_block(b"PaxHeader", b"", 0o644, length, b"x")


def entry_headers(path, kind, executable, size, target=b"", *, pax=None, main_path=None, **broken):
    """§4.2.1: pax header (if needed) and ustar header of an entry. `pax`, `main_path` and
    `broken` (typeflag, linkname, mode, and what ustar_block takes) are for hostile vectors."""
    pairs = pax_records(full_name(path, kind), target, size) if pax is None else pax
    main = list(main_fields(path if main_path is None else main_path, kind, executable, size, target))
    if kind == "link":
        main[3] = 0
    records = pairs if isinstance(pairs, bytes) else b"".join(pax_record(*pair) for pair in pairs)
    front = pax_block(len(records)) + records + padding(len(records)) if records else b""
    for index, key in ((2, "mode"), (4, "typeflag"), (5, "linkname")):
        if key in broken:
            main[index] = broken.pop(key)
    return front + ustar_block(*main, **broken)


class TarBuilder:
    """§4.2.1: entries end to end, then 1024 zero bytes."""

    def __init__(self):
        self.parts, self.size, self.lengths = [], 0, []

    def raw(self, data):
        self.parts.append(data)
        self.lengths.append(len(data))
        self.size += len(data)

    def add(self, path, kind="file", content=b"", executable=False, target=b"", pad=None, **broken):
        """Adds an entry; returns the offset of its data."""
        headers = entry_headers(path, kind, executable, len(content), target, **broken)
        offset = self.size + len(headers)
        self.raw(headers + content + (padding(len(content)) if pad is None else pad))
        return offset

    def finish(self, closing=bytes(1024)):
        self.raw(closing)
        return b"".join(self.parts)


def extension(path, kind="file"):
    """§4.2.4"""
    base = path[path.rfind(b"/") + 1:]
    at = base.rfind(b".")
    if kind == "directory" or at <= 0:
        return b""
    lower = bytes(byte + 32 if 0x41 <= byte <= 0x5A else byte for byte in base[at + 1:])
    return b"ttf" if lower == b"eot" else lower


def reference_order(items):
    def likeness(item):
        return item.path[item.path.rfind(b"/") + 1:], 0 if item.kind == "directory" else len(item.content)

    groups = {}
    for item in items:
        groups[likeness(item)] = min(groups.get(likeness(item), item.path), item.path)
    return sorted(items, key=lambda item: (extension(item.path, item.kind), groups[likeness(item)], item.path))


def build_tree(items, order=reference_order, links=True):
    """§4.2.4: the tar of a tree and its records in index order."""
    builder, records, seen = TarBuilder(), [], {}
    for item in order(items):
        if item.kind == "directory":
            builder.add(item.path, "directory")
            records.append(directory_record(item.path))
            continue
        same = (item.executable, item.content)
        if links and item.content and same in seen:
            target, offset = seen[same]
            builder.add(item.path, "link", executable=item.executable, target=target)
        else:
            offset = builder.add(item.path, "file", item.content, item.executable)
            seen.setdefault(same, (item.path, offset))
        records.append(file_record(item.path, item.content, offset, item.executable))
    return builder, sorted(records, key=lambda record: record.path)


TarEntry = namedtuple("TarEntry", "kind executable size offset target")


def parse_size(text):
    """§4.2.2: the size field."""
    if text[0] & 0x80:
        return int.from_bytes(bytes([text[0] & 0x7F]) + text[1:], "big")
    digits = text[:11] if text[11:] == b" " else text
    require(re.fullmatch(rb"[0-7]+", digits), "a size field that is no number")
    return int(digits, 8)


def parse_pax(data):
    """§4.2.3: the records of a pax header, in order."""
    pairs, at = [], 0
    while at < len(data):
        match = re.compile(rb"([1-9][0-9]{0,8}) ").match(data, at)
        require(match, "a pax record without length")
        end = at + int(match.group(1))
        require(match.end() < end <= len(data), "the length of a pax record")
        record = data[match.end():end]
        require(record.endswith(b"\n") and b"=" in record, "a pax record without = or line end")
        key, _, value = record[:-1].partition(b"=")
        require(pax_record(key, value) == data[at:end], "the form of a pax record")
        pairs.append((key, value))
        at = end
    return pairs


def text_field(block, offset, length):
    return block[offset:offset + length].split(b"\0", 1)[0]


def check_header_block(block):
    """§4.2.2: magic and checksum."""
    require(block[257:265] == b"ustar\x0000", "a tar header that is not ustar")
    require(block[148:156] == b"%06o\0 " % checksum(block), "the checksum of a tar header")


def parse_entry(tar, at, known):
    """§4.2.1: (path, TarEntry, end) of the entry at `at`; `known` are the paths of the index."""
    pax = []
    block = tar.read(at, 512)
    check_header_block(block)
    if block[156:157] == b"x":
        length = parse_size(block[124:136])
        require(0 < length <= 65536, "a pax header of this length")
        pax = parse_pax(tar.read(at + 512, length))
        require(block == pax_block(length), "a pax header block that is not as §4.2.3 writes it")
        end = at + 512 + length + len(padding(length))
        require(not any(tar.read(at + 512 + length, end - at - 512 - length)), "padding of a pax header")
        at, block = end, tar.read(end, 512)
        check_header_block(block)
    keys = dict(pax)
    require(len(keys) == len(pax) and set(keys) <= {b"path", b"linkpath", b"size"}, "the pax keys")
    kinds = {flag: kind for kind, flag in TYPEFLAGS.items()}
    require(block[156:157] in kinds, f"a tar entry of type {block[156:157]!r}")
    kind = kinds[block[156:157]]
    return check_entry(tar, at, block, kind, pax, keys, known)


def check_entry(tar, at, block, kind, pax, keys, known):
    """§4.2.2, §4.2.3: the main header is what a writer would have written for its values."""
    name, prefix, linkname = text_field(block, 0, 100), text_field(block, 345, 155), text_field(block, 157, 100)
    full = keys.get(b"path", prefix + b"/" + name if prefix else name)
    target = keys.get(b"linkpath", linkname)
    size = parse_size(block[124:136])
    path = full[:-1] if kind == "directory" else full
    require(kind != "directory" or full.endswith(b"/"), "a directory without / at the end")
    require(path in known, f"{path!r} is in the tar but not in the index")
    require(kind == "link" or not target, "a link target without a hard link")
    require(size <= tar.length, "a size beyond the end of the tar")
    require(kind == "file" or size == 0, "a size at a directory or a hard link")
    require(block[100:108] in (b"000644 \0", b"000755 \0"), "a mode that is not 0644 or 0755")
    executable = block[100:108] == b"000755 \0"
    require(kind != "directory" or executable, "a directory that is not 0755")
    require(pax == pax_records(full_name(path, kind), target, size), "pax records other than the needed ones")
    expected = main_fields(path, kind, executable, size, target)
    require(block == ustar_block(*expected), "a tar header that is not as §4.2.2 writes it")
    offset = at + 512
    end = offset + size + len(padding(size))
    require(not any(tar.read(offset + size, end - offset - size)), "padding that is not zero")
    return path, TarEntry(kind, executable and kind != "directory", size, offset, target), end


def parse_tar(tar, known):
    """§4.2.1: {path: TarEntry} in tar order, hard links resolved as §4.2.4 says."""
    entries, at = {}, 0
    require(tar.length >= 1024, "a tar without its end")
    while at != tar.length - 1024:
        require(at < tar.length - 1024, "a tar without its end")
        path, entry, at = parse_entry(tar, at, known)
        require(path not in entries, f"{path!r} is twice in the tar")
        if entry.kind == "link":
            target = entries.get(entry.target)
            require(target is not None and target.kind == "file" and target.size > 0
                    and target.executable == entry.executable, f"the target of the hard link {path!r}")
            entry = entry._replace(size=target.size, offset=target.offset)
        entries[path] = entry
    require(tar.read(at, 1024) == bytes(1024), "the closing 1024 bytes are not zero")
    return entries


def verify_tar(tar, records):
    """§4.9: the one-to-one match of tar and index."""
    entries = parse_tar(tar, {record.path for record in records})
    for record in records:
        entry = entries.pop(record.path, None)
        require(entry is not None, f"{record.path!r} is not in the tar")
        require((record.type == DIRECTORY) == (entry.kind == "directory"), f"type of {record.path!r}")
        require((record.type == EXECUTABLE) == entry.executable, f"executable flag of {record.path!r}")
        require(record.size == entry.size, f"size of {record.path!r}")
        require(record.offset == (entry.offset if entry.size else 0), f"offset of {record.path!r}")
