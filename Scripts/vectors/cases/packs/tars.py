"""Packs with a tar that is refused: its types, links, form and pax headers."""

from vectors.cases.packs.vector import hostile_tar, with_records
from vectors.cases.samples import file, noise
from vectors.format.records import EXECUTABLE, directory_record, file_record
from vectors.format.tar import TarBuilder, build_tree, entry_headers, pax_record, size_field, ustar_block


def hostile_tars():
    yield from hostile_tar_types()
    yield from hostile_tar_links()
    yield from hostile_tar_match()
    yield from hostile_tar_form()
    yield from hostile_pax()


def tar_entry_vector(name, comment, **broken):
    """A tar with `a.txt` and one entry that breaks a rule; the index lists `b` as an empty file."""
    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello")
    builder.add(b"b", **broken)
    records = [file_record(b"a.txt", b"hello", offset), file_record(b"b", b"", 0)]
    return hostile_tar("tar-" + name, comment, builder, records)


def hostile_tar_types():
    """§4.2.1, §5.1: entries of other types; the index says an empty file."""
    for name, comment, flag, link in (
            ("symlink", "a symbolic link", b"2", b"/etc/passwd"), ("character-device", "a character device", b"3", b""),
            ("block-device", "a block device", b"4", b""), ("fifo", "a named pipe", b"6", b""),
            ("type-7", "a contiguous file", b"7", b""), ("type-nul", "the type byte 00 of old archives", b"\0", b""),
            ("type-sparse", "a GNU sparse file", b"S", b""), ("type-long-name", "a GNU long name", b"L", b""),
            ("type-global", "a pax global header", b"g", b"")):
        yield tar_entry_vector(name, comment + " in the tar", typeflag=flag, linkname=link)
    yield tar_entry_vector("directory-for-file", "a directory in the tar, a file in the index", kind="directory")
    yield tar_entry_vector("file-with-link-target", "a regular file with a linkname", linkname=b"a.txt")
    yield tar_entry_vector("mode-setuid", "a regular file of mode 4755", mode=0o4755)
    yield tar_entry_vector("mode-0600", "a regular file of mode 0600", mode=0o600)
    yield tar_entry_vector("mtime", "an mtime of 1", mtime=b"00000000001 ")
    yield tar_entry_vector("uname", "a user name", uname=b"root")
    yield tar_entry_vector("magic-gnu", "the magic of GNU tar", magic=b"ustar  \0")
    yield tar_entry_vector("checksum", "a wrong checksum", sum_bytes=b"000000\0 ")
    yield tar_entry_vector("size-negative", "a size of -1 in base 256", size_bytes=b"\xff" * 12)
    yield tar_entry_vector("size-huge", "a size of 2^63 in base 256", size_bytes=size_field(1 << 63))
    yield tar_entry_vector("size-not-octal", "a size that is no number", size_bytes=b"0000000000x ")


def hostile_tar_links():
    """§4.2.4: hard links."""
    def vector(name, comment, build, content=b"hello", executable=False, client="ok"):
        builder = TarBuilder()
        offset = build(builder)
        records = [file_record(b"a.txt", b"hello", offset), file_record(b"b", content, offset, executable)]
        return hostile_tar("tar-link-" + name, comment, builder, records, client=client)

    def after(target, **broken):
        def build(builder):
            offset = builder.add(b"a.txt", content=b"hello")
            builder.add(b"b", "link", target=target, **broken)
            return offset
        return build

    def before(builder):
        builder.add(b"b", "link", target=b"a.txt")
        return builder.add(b"a.txt", content=b"hello")

    yield vector("outside", "a hard link to `../../etc/passwd`", after(b"../../etc/passwd"))
    yield vector("absolute", "a hard link to `/etc/passwd`", after(b"/etc/passwd"))
    yield vector("unknown", "a hard link to a path that is not in the tar", after(b"c.txt"))
    yield vector("self", "a hard link to itself", after(b"b"))
    yield vector("later", "a hard link to a later entry", before)
    yield vector("executable", "a hard link with another executable flag than its target", after(b"a.txt", executable=True),
                 executable=True)
    yield vector("size-differs", "a record with the data of a hard link, one byte shorter", after(b"a.txt"), b"hell",
                 client=None)

    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello")
    builder.add(b"b", "link", target=b"a.txt")
    builder.add(b"c", "link", target=b"b")
    yield hostile_tar("tar-link-to-link", "a hard link to a hard link", builder,
                      [file_record(path, b"hello", offset) for path in (b"a.txt", b"b", b"c")])
    builder = TarBuilder()
    builder.add(b"d", "directory")
    builder.add(b"e", "link", target=b"d")
    yield hostile_tar("tar-link-to-directory", "a hard link to a directory", builder,
                      [directory_record(b"d"), file_record(b"e", b"", 0)])
    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello")
    builder.add(b"b", "link", target=b"a.txt", size_bytes=size_field(5))
    yield hostile_tar("tar-link-size", "a hard link with a size in its header", builder,
                      [file_record(path, b"hello", offset) for path in (b"a.txt", b"b")])


def hostile_tar_match():
    """§4.9: tar and index differ."""
    tree = [file("a.txt", b"hello"), file("b.txt", b"world")]

    def vector(name, comment, function):
        return with_records(function, tree, name, comment, client="ok")

    builder, records = build_tree(tree)
    a, b = records
    yield vector("match-index-only", "the index has an empty file that the tar lacks",
                 lambda r: r + [file_record(b"c.txt", b"", 0)])
    yield vector("match-index-only-data", "the index has a file with data that the tar has for another",
                 lambda r: r + [r[1]._replace(path=b"c.txt")])
    yield vector("match-index-only-directory", "the index has an empty directory that the tar lacks",
                 lambda r: r + [directory_record(b"d")])
    yield vector("match-tar-only", "the tar has a file that the index lacks", lambda r: r[:1])
    yield vector("match-nothing-listed", "the index lists nothing of the tar", lambda r: [])
    yield vector("match-size", "a size that is not that of the tar",
                 lambda r: [file_record(b"a.txt", b"hell", a.offset), b])
    yield vector("match-size-into-padding", "a size that includes padding of the tar",
                 lambda r: [file_record(b"a.txt", b"hello\0\0\0", a.offset), b])
    yield vector("match-offset", "the offset of another file's data",
                 lambda r: [file_record(b"a.txt", b"world", b.offset), b])
    yield vector("match-offsets-swapped", "the offsets of two files are swapped",
                 lambda r: [a._replace(offset=b.offset, digest=b.digest), b._replace(offset=a.offset, digest=a.digest)])
    yield vector("match-executable", "executable in the index, mode 0644 in the tar",
                 lambda r: [a._replace(type=EXECUTABLE), b])
    yield vector("match-path", "another path in the index than in the tar",
                 lambda r: [a._replace(path=b"A.txt"), b])
    long = noise(1024)
    yield with_records(lambda r: [r[0], file_record(b"b.bin", long[512:], r[0].offset + 512)],
                       [file("a.bin", long), file("b.bin", long[512:])], "match-overlap",
                       "a data range inside another one")
    builder = TarBuilder()
    header = entry_headers(b"a.txt", "file", False, 5)
    offset = builder.add(b"b.bin", content=header + b"hello".ljust(512, b"\0"))
    yield hostile_tar("match-entry-inside-data", "a record whose entry stands inside the data of another",
                      builder, [file_record(b"a.txt", b"hello", offset + 512),
                                file_record(b"b.bin", header + b"hello".ljust(512, b"\0"), offset)], client=None)


def hostile_tar_form():
    """§4.2.1: duplicates, padding, gaps, the end."""
    def started():
        builder = TarBuilder()
        return builder, file_record(b"a.txt", b"hello", builder.add(b"a.txt", content=b"hello"))

    builder, a = started()
    builder.add(b"a.txt", content=b"other")
    yield hostile_tar("tar-duplicate", "a path twice in the tar, with other content", builder, [a])
    builder, a = started()
    builder.add(b"a.txt", content=b"hello")
    yield hostile_tar("tar-duplicate-same", "a path twice in the tar, with the same content", builder, [a])
    builder, a = started()
    builder.add(b"b")
    builder.add(b"b")
    yield hostile_tar("tar-duplicate-for-another", "an empty file twice in the tar, and another one missing", builder,
                      [a, file_record(b"b", b"", 0), file_record(b"c", b"", 0)])
    builder, a = started()
    builder.add(b"b", "directory")
    builder.add(b"b/c")
    yield hostile_tar("tar-directory-not-empty", "an entry for a directory that is not empty", builder,
                      [a, file_record(b"b/c", b"", 0)])
    builder = TarBuilder()
    offset = builder.add(b"a.txt", content=b"hello", pad=b"x" + bytes(506))
    yield hostile_tar("tar-padding", "padding that is not zero", builder, [file_record(b"a.txt", b"hello", offset)])
    builder, a = started()
    builder.raw(bytes(512))
    offset = builder.add(b"b.txt", content=b"world")
    yield hostile_tar("tar-gap-512", "512 zero bytes between two entries", builder,
                      [a, file_record(b"b.txt", b"world", offset)])
    builder, a = started()
    builder.raw(bytes(1024))
    offset = builder.add(b"b.txt", content=b"world")
    yield hostile_tar("tar-gap-1024", "the end of the tar, and an entry after it", builder,
                      [a, file_record(b"b.txt", b"world", offset)])
    builder = TarBuilder()
    builder.raw(bytes(512))
    offset = builder.add(b"a.txt", content=b"hello")
    yield hostile_tar("tar-gap-first", "512 zero bytes before the first entry", builder,
                      [file_record(b"a.txt", b"hello", offset)])
    for name, comment, closing in (
            ("end-zeros", "512 more zero bytes at the end", bytes(1536)),
            ("end-10240", "zero bytes up to 10240 at the end, as tar programs write", bytes(10240 - 1024)),
            ("end-bytes", "512 bytes after the closing 1024", bytes(1024) + b"x" * 512),
            ("end-odd", "one byte after the closing 1024", bytes(1025)),
            ("end-not-zero", "a byte of the closing 1024 is not zero", bytes(1023) + b"x")):
        builder, a = started()
        # A tar that is no multiple of 512 bytes is refused by its length alone.
        yield hostile_tar("tar-" + name, comment, builder, [a], closing=closing, client=None if len(closing) % 512 else "ok")
    builder, a = started()
    builder.add(b"b")
    yield hostile_tar("tar-end-512", "only 512 closing bytes, after an empty file", builder,
                      [a, file_record(b"b", b"", 0)], closing=bytes(512))
    builder, a = started()
    yield hostile_tar("tar-end-512-data", "only 512 closing bytes: the data of the last file reaches into the last "
                      "1024 bytes", builder, [a], closing=bytes(512), client=None)


def hostile_pax():
    """§4.2.3: pax headers."""
    def vector(name, comment, pax, path="ü".encode(), main_path=None):
        builder = TarBuilder()
        offset = builder.add(path, content=b"hello", pax=pax, main_path=main_path)
        return hostile_tar("tar-pax-" + name, comment, builder, [file_record(path, b"hello", offset)])

    own = pax_record(b"path", "ü".encode())
    yield vector("path-differs", "a path record with another path than the index", [(b"path", "ö".encode())])
    yield vector("path-twice", "two path records", own + own)
    yield vector("unknown-key", "a pax record with another key", own + pax_record(b"mtime", b"1"))
    yield vector("xattr", "an extended attribute", own + pax_record(b"SCHILY.xattr.user.x", b"1"))
    yield vector("size-differs", "a size record that is not the size", own + pax_record(b"size", b"4"))
    yield vector("length", "a record length that is 1 too large", b"1" + b"1 path=\xc3\xbc\n"[1:])
    yield vector("no-line-end", "a record without line end", own[:-1] + b"x")
    yield vector("length-leading-zero", "a record length with a leading zero", b"011 path=\xc3\xbc\n")
    yield vector("name-differs", "another name in the main header, where a path record has the right one", None, main_path=b"other")
    for name, comment, fields in (("name", "another name than `PaxHeader`", (b"PaxHeader/x", b"", 0o644)),
                                  ("prefix", "a prefix", (b"PaxHeader", b"p", 0o644)), ("mode", "mode 0755", (b"PaxHeader", b"", 0o755))):
        builder = TarBuilder()
        builder.raw(ustar_block(*fields, len(own), b"x") + own.ljust(512, b"\0"))
        offset = builder.add("ü".encode(), content=b"hello", pax=[])
        yield hostile_tar("tar-pax-block-" + name, "a pax header block with " + comment, builder, [file_record("ü".encode(), b"hello", offset)])
    builder = TarBuilder()
    builder.add(b"a.txt", content=b"hello")
    front = entry_headers("ü".encode(), "file", False, 0)[:1024]
    builder.raw(front)
    yield hostile_tar("tar-pax-at-end", "a pax header before the end of the tar", builder,
                      [file_record(b"a.txt", b"hello", 512)])
    builder = TarBuilder()
    builder.raw(front)
    offset = builder.add("ü".encode(), content=b"hello")
    yield hostile_tar("tar-pax-twice", "two pax headers before an entry", builder,
                      [file_record("ü".encode(), b"hello", offset)])
