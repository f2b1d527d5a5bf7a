"""Other people's hostile archives, each built anew from its published description.

  traversal     jwilk/traversal-archives, README
  zip-slip      snyk/zip-slip-vulnerability, archives/README.md
  python        python/cpython, Lib/test/test_tarfile.py, TestExtractionFilters
  libarchive    libarchive/libarchive, the fixtures of libarchive/test, tar/test and cpio/test that are tars
"""

import re

from vectors.cases.packs.vector import hostile_tar, valid_tree
from vectors.cases.samples import file, noise
from vectors.format.records import directory_record, file_record
from vectors.format.tar import TarBuilder, pax_record, size_field


def archive_vectors():
    yield from traversal_vectors()
    yield from python_vectors()
    yield from libarchive_paths()
    yield from libarchive_types()
    yield from libarchive_sparse()
    yield from libarchive_pax()


class OtherTar(TarBuilder):
    """A tar in the form of §4.2 but for what a case is about, and the index that fits it best: it lists every file, hard link
    and directory, and of a path that stands twice the last."""

    def __init__(self):
        super().__init__()
        self.listed = {}

    def file(self, path, content=b"moo\n", *, listed=None, executable=False, **broken):
        """`listed` is the path in the index, where it is not that of the tar."""
        offset = self.add(path, content=content, executable=executable, **broken)
        name = path if listed is None else listed
        self.listed[name] = file_record(name, content, offset, executable)
        return self

    def directory(self, path, **broken):
        self.add(path, "directory", **broken)
        self.listed[path] = directory_record(path)
        return self

    def symlink(self, path, target):
        return self.other(path, b"2", linkname=target)

    def link(self, path, target, **broken):
        self.add(path, "link", target=target, **broken)
        self.listed[path] = self.listed.get(target, file_record(path, b"", 0))._replace(path=path)
        return self

    def other(self, path, flag, content=b"", **broken):
        """An entry of another type; the index has nothing of it."""
        self.add(path, content=content, typeflag=flag, **broken)
        return self

    def bytes(self, data):
        self.raw(data)
        return self

    def vector(self, name, comment, client="ok", **changes):
        return hostile_tar(name, comment, self, [self.listed[path] for path in sorted(self.listed)], client=client, **changes)


def escapes(name, comment, path):
    """A path that leads outside: where index and tar both have it, and where the tar alone does."""
    yield OtherTar().file(path).vector(name, comment, client=None)
    yield OtherTar().file(path, listed=b"moo").vector(name + "-tar", comment + "; the index has the data under a harmless path")


def traversal_vectors():
    """jwilk/traversal-archives"""
    yield from escapes("traversal-absolute1", "`/tmp/moo`", b"/tmp/moo")
    yield from escapes("traversal-absolute2", "`//tmp/moo`", b"//tmp/moo")
    yield from escapes("traversal-relative0", "`../moo`", b"../moo")
    yield from escapes("traversal-relative2", "`tmp/../../moo`", b"tmp/../../moo")
    yield OtherTar().symlink(b"moo", b"/tmp/moo").file(b"moo").vector(
        "traversal-symlink", "a symbolic link `moo` to `/tmp/moo`, and a file `moo`")
    yield OtherTar().symlink(b"tmp", b"/tmp").file(b"tmp/moo").vector(
        "traversal-dirsymlink", "a symbolic link `tmp` to `/tmp`, and `tmp/moo`")
    yield OtherTar().symlink(b"cur", b".").symlink(b"par", b"cur/..").file(b"par/moo").vector(
        "traversal-dirsymlink2a", "`cur` to `.`, `par` to `cur/..`, and `par/moo`")
    yield OtherTar().symlink(b"cur", b".").symlink(b"cur/par", b"..").file(b"par/moo").vector(
        "traversal-dirsymlink2b", "`cur` to `.`, `cur/par` to `..`, and `par/moo`")
    # snyk/zip-slip-vulnerability
    for name, path in (("zip-slip", b"../" * 40 + b"tmp/evil.txt"), ("zip-slip-win", b"..\\" * 40 + b"Temp\\evil.txt")):
        yield OtherTar().file(b"good.txt").file(path).vector(name, f"`good.txt`, and `{path[-16:].decode()}` 40 levels up", client=None)
        yield OtherTar().file(b"good.txt").file(path, listed=b"tmp/evil.txt").vector(
            name + "-tar", "the same; the index has the data under a harmless path")


def python_vectors():
    """CPython, TestExtractionFilters"""
    def vector(name, comment, tar, client="ok"):
        return tar.vector("python-" + name, comment, client)

    yield from escapes("python-absolute", "an absolute path", b"/outerdir/escaped.evil")
    yield vector("parent_symlink", "`current` to `.`, `parent` to `current/..`, and `parent/evil`",
                 OtherTar().symlink(b"current", b".").symlink(b"parent", b"current/..").file(b"parent/evil"))
    yield vector("parent_symlink2", "`current` to `.`, `current/parent` to `..`, and `parent/evil`",
                 OtherTar().symlink(b"current", b".").symlink(b"current/parent", b"..").file(b"parent/evil"))
    yield vector("absolute_symlink", "`parent` to an absolute path, and `parent/evil`",
                 OtherTar().symlink(b"parent", b"/outerdir").file(b"parent/evil"))
    yield vector("absolute_hardlink", "a hard link to an absolute path", OtherTar().link(b"parent", b"/outerdir/foo"))
    yield vector("sly_relative0", "a symbolic link at `../moo`", OtherTar().symlink(b"../moo", b"..//tmp/moo"))
    yield vector("sly_relative2", "a directory `tmp`, and a symbolic link at `tmp/../../moo`",
                 OtherTar().directory(b"tmp").symlink(b"tmp/../../moo", b"tmp/../..//tmp/moo"))
    yield vector("deep_symlink", "a hard link and a symbolic link to a file in another directory",
                 OtherTar().file(b"targetdir/target", b"123").link(b"linkdir/hardlink", b"targetdir/target").symlink(
                     b"linkdir/symlink", b"../targetdir/target"))
    yield vector("chains", "links to links, before their targets",
                 OtherTar().symlink(b"linkdir/symlink", b"hardlink").symlink(b"symlink2", b"linkdir/hardlink2").file(
                     b"targetdir/target", b"123").link(b"linkdir/hardlink", b"targetdir/target").link(b"linkdir/hardlink2", b"linkdir/symlink"))
    for name, mode in (("all_bits", 0o7777), ("perm_bits", 0o777), ("exec_group_other", 0o677), ("read_group_only", 0o040), ("no_bits", 0)):
        yield vector("modes-" + name, f"a file of mode {mode:04o}", OtherTar().file(b"file", mode=mode))
    for name, mode in (("dir", 0o077), ("dir_all_bits", 0o7777)):
        yield vector("modes-" + name, f"a directory of mode {mode:04o}", OtherTar().directory(b"dir", mode=mode))
    yield vector("pipe", "a named pipe", OtherTar().other(b"foo", b"6"))
    yield vector("special_files-character", "a character device", OtherTar().other(b"foo", b"3"))
    yield vector("special_files-block", "a block device", OtherTar().other(b"foo", b"4"))
    yield vector("stateful_filter", "a file, a symbolic link to `/`, and the file again",
                 OtherTar().file(b"good").symlink(b"bad", b"/").file(b"good"))


# test_patterns_4: ways of writing where a file is on Windows, and elsewhere.
WINDOWS_PATHS = r"""/file01 /../file02 /../../file03 c:/file04 D:../file05 c:../../file06 C:/../file07 a:/../../file08 //./c:/file09
//./C:/../file10 //?/c:/file11 //?/C:/../file12 ////c:/file13 ////C://///file14 //?/UNC/server/share/file15 //?/UNC/file16
//?/UNC/../file17 //?/unc/server/share/file18 //?/unc/file19 //?/unc/../file20 \file21 \..\file22 \..\..\file23 C:\file24 z:..\file25
c:..\..\file26 Z:\..\file27 C:\..\..\file28 \\.\c:\file29 \\.\C:\..\file30 \\?\c:\file31 \\?\D:\..\file32 \\\\c:\file33
\\\\C:\\\\\file34 \\?\UNC\server\share\file35 \\?\UNC\file36 \\?\UNC\..\file37 \\?\unc\server\share\file38 \\?\unc\file39
\\?\unc\..\file40 \../file41 \../..\file42 c:../..\file43 C:/..\file44 D:\../..\file45 \/./c:\file46 \\./C:\..\file47 \/?\c:/file48
\\?/D:/..\file49 \//\D:\file50 \\//c:\//\\file51 \/?/uNc/server\share\file52 \\?/UNc\file53 \/?\UnC\../file54""".split()


def libarchive_paths():
    """Fixtures about paths."""
    for text in WINDOWS_PATHS:
        name = f"libarchive-patterns_4-{text[-2:]}"
        if ":" in text and not re.search(r"\\|^/|/\.\./", text):
            # §5.2: a colon is for the writer and the tool to refuse. Where clients run it is a character as any other.
            yield valid_tree(name, f"`{text}`, which only Windows takes for a drive", [file(text, b"moo\n")])
        else:
            yield OtherTar().file(text.encode()).vector(name, f"`{text}`", client=None)
    yield from escapes("libarchive-leading_slash", "`/foo/file`", b"/foo/file")
    yield OtherTar().file(b"foo/file").link(b"/foo/hardlink", b"/foo/file").vector(
        "libarchive-leading_slash-link", "a hard link at `/foo/hardlink` to `/foo/file`", client=None)
    yield OtherTar().file(b"foo/file").link(b"foo/hardlink", b"/foo/file").vector(
        "libarchive-leading_slash-target", "a hard link at `foo/hardlink` to `/foo/file`")
    yield OtherTar().directory(b"/tmp/foo").directory(b"/tmp/foo/bar").file(b"/tmp/foo/bar/baz", listed=b"baz").vector(
        "libarchive-patterns_2", "directories below `/tmp/foo`", client=None)
    yield OtherTar().directory(b"/tmp/foo/bar").directory(b"tmp/foo/baz").vector(
        "libarchive-patterns_3", "a directory below `/tmp/foo`, and one below `tmp/foo`", client=None)
    yield OtherTar().directory(b"").file(b"a.txt").vector("libarchive-tar_empty_filename", "a directory without a name", client=None)
    for name, comment, path in (
            ("gtar_filename_cp866", "in CP866", b"\x8f\x90\x88\x82\x85\x92"), ("gtar_filename_eucjp", "in EUC-JP", b"\xb4\xc1\xbb\xfa.txt"),
            ("gtar_filename_koi8r", "in KOI8-R", b"\xd0\xd2\xc9\xd7\xc5\xd4")):
        yield OtherTar().file(path, pax=[], magic=b"ustar  \0").vector("libarchive-" + name, f"a path {comment}, under the magic of GNU", client=None)
        yield OtherTar().file(path, pax=[]).vector(f"libarchive-us{name[1:]}", f"a path {comment}, in the header alone", client=None)
        yield OtherTar().file(path).vector(f"libarchive-tar{name[4:]}", f"a path {comment}, in a pax record", client=None)
    binary = b"abc\xcc\x8cmno\xfcxyz"
    yield OtherTar().file(binary).vector("libarchive-pax_filename_encoding-1", "a pax path that is not UTF-8", client=None)
    yield OtherTar().file(binary, pax=[(b"hdrcharset", b"BINARY"), (b"path", binary)]).vector(
        "libarchive-pax_filename_encoding-2", "the same, with hdrcharset=BINARY before it", client=None)
    for name, path in (("compat_mac-1", b"dir/._file"), ("compat_mac-2", b"._mydir"), ("tar_mac_metadata_1", b"._101_" + b"a" * 94)):
        yield OtherTar().file(path).vector("libarchive-" + name, f"a file of metadata, `{path[:11].decode()}…`", client=None)


def libarchive_types():
    """Fixtures about types and links."""
    long, other = b"1234567890" * 20, b"abcdefghij" * 20
    def of_name(text):
        return text + b"\0"

    yield OtherTar().other(b"././@LongLink", b"L", of_name(long)).file(long[:100], listed=long, pax=[], main_path=long[:100]).vector(
        "libarchive-compat_gtar_1-name", "a GNU long name before a file")
    yield OtherTar().file(b"f").other(b"././@LongLink", b"K", of_name(long)).other(b"././@LongLink", b"L", of_name(other)).other(
        other[:99], b"2", linkname=long[:100]).vector("libarchive-compat_gtar_1-link", "a GNU long link name and a GNU long name before a symbolic link")
    deep = b"/".join([b"0123456789" * 10] * 4)
    yield OtherTar().other(b"././@LongLink", b"L", of_name(deep)).file(deep[:90], listed=deep, main_path=deep[:90], pax=[]).vector(
        "libarchive-print_longpath", "a GNU long name of 403 bytes")
    again = b"storage/emulated/0/" + b"x" * 110
    tar = OtherTar()
    for text in (again, again[:-8], again, again[:-8]):
        tar.other(b"././@LongLink", b"L", of_name(text))
    yield tar.file(b"hello.txt", listed=again[:-8]).vector("libarchive-gtar_redundant_L", "four GNU long names before one file")
    yield OtherTar().file(b"file").link(b"linkfile", b"file").symlink(b"symlink", b"file").directory(b"dir").vector(
        "libarchive-gcpio_compat_ref", "a file, a hard link, a symbolic link and a directory")
    yield OtherTar().file(b"f").link(b"hl", b"f").symlink(b"sl", b"f").file(b"d/f").vector(
        "libarchive-list_item", "a hard link and a symbolic link beside files")
    yield OtherTar().directory(b"directory1", typeflag=b"\0", magic=bytes(8)).vector(
        "libarchive-compat_tar_directory_1", "a directory of old form: type 00, a final slash, no magic")
    yield OtherTar().directory(b"directory1", size_bytes=size_field(1)).vector(
        "libarchive-compat_tar_directory_1-size", "a directory of size 1, without data")
    yield OtherTar().file(b"READMf", b"x" * 321).link(b"README", b"READMf", size_bytes=size_field(321)).vector(
        "libarchive-compat_tar_hardlink_1", "a hard link that states the size of its target and has no data")
    yield OtherTar().other(b"file", b"A", b"1000007\0user::rw-").file(b"file").vector(
        "libarchive-compat_solaris_tar_acl", "an entry of type A, an access control list")
    yield OtherTar().other(b"label", b"V").file(b"a.txt").vector("libarchive-tar_empty_with_gnulabel", "a GNU label before the files")
    yield OtherTar().other(b"label", b"V").vector("libarchive-tar_empty_with_gnulabel-alone", "a GNU label, and no file")
    yield OtherTar().other(b"label", b"V", size_bytes=b"\xff\0\0\0\0\0\0 \0\0\0\0").vector(
        "libarchive-tar_V_negative_size", "a GNU label of negative size")
    yield OtherTar().file(b"file1").bytes(bytes(1024)).file(b"file2").vector("libarchive-tar_concatenated", "two tars, one after the other")
    yield OtherTar().file(b"file").file(b"file", b"other").file(b"file", b"third").vector(
        "libarchive-acl_pax_posix1e-names", "the same path three times")


def libarchive_sparse():
    """Fixtures about sparse files."""
    body = noise(512)

    def pax(*pairs):
        return [(key.encode(), value.encode()) for key, value in pairs]

    yield OtherTar().other(b"sparse", b"S", body, magic=b"ustar  \0").vector("libarchive-gtar_sparse_1_13", "a GNU sparse file, magic of GNU included")
    yield OtherTar().other(b"sparse", b"S", body).vector("libarchive-gtar_sparse_1_17", "a GNU sparse file in a ustar header")
    yield OtherTar().other(b"sparse", b"S", size_bytes=size_field(0)).vector("libarchive-gtar_sparse_reuse", "a GNU sparse file without data")
    for name, pairs, content in (
            ("gtar_sparse_1_17_posix00", (("GNU.sparse.size", "3145728"), ("GNU.sparse.numblocks", "1"), ("GNU.sparse.offset", "99"),
                                          ("GNU.sparse.numbytes", "512")), body),
            ("gtar_sparse_1_17_posix01", (("GNU.sparse.size", "3145728"), ("GNU.sparse.numblocks", "1"), ("GNU.sparse.map", "99,512")), body),
            ("gtar_sparse_1_17_posix10", (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "sparse"),
                                          ("GNU.sparse.realsize", "3145728")), b"1\n99\n512\n".ljust(512, b"\0") + body),
            ("gtar_sparse_1_17_posix10_modified", (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "sparse")),
             b"#!gnu-sparse-format\n1\n99\n512\n".ljust(512, b"\0") + body),
            ("gtar_sparse_length", (("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.realsize", "1279")), body),
            ("gtar_sparse_skip_entry", (("size", "4612"), ("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.name", "a"),
                                        ("GNU.sparse.realsize", "10737418244")), b"1\n10737418240\n4\n".ljust(512, b"\0") + b"foo\n"),
            ("compat_solaris_pax_sparse_1", (("SUN.holesdata", " 0 512 1024"), ("size", "512")), body),
            ("compat_solaris_pax_sparse_2", (("SUN.holesdata", " 0 512 819200"),), body),
            ("tar_pax_sun_holesdata", (("SUN.holesdata", " 0 512 1024 1536"),), body)):
        yield OtherTar().file(b"sparse", content, pax=pax(*pairs)).vector("libarchive-" + name, f"a sparse file by the pax key {pairs[-1][0]}")


def libarchive_pax():
    """Fixtures about pax records and the fields of headers."""
    def vector(name, comment, *pairs):
        return OtherTar().file(b"file", pax=list(pairs)).vector("libarchive-" + name, comment)

    acl = b"owner@:rwxpaARWcCos::allow"
    yield vector("acl_pax_posix1e", "an access control list", (b"SCHILY.acl.access", b"user::--x,group::r--,other::-w-"))
    yield vector("acl_pax_nfs4", "an access control list of NFSv4", (b"SCHILY.acl.ace", acl))
    yield vector("compat_star_acl_nfs4", "times and an access control list", (b"atime", b"1479121596.485714000"), (b"SCHILY.acl.ace", acl))
    yield vector("tar_acl_oob_read", "an access control list with zero bytes", (b"SCHILY.acl.ace", acl[:8] + bytes(26) + acl[8:]))
    yield OtherTar().other(b"././@PaxHeader", b"g", pax_record(b"SCHILY.archtype", b"exustar")).file(b"file1").vector(
        "libarchive-compat_star_acl_posix1e", "a global pax header before the files")
    yield vector("pax_xattr_header_schily", "an extended attribute", (b"SCHILY.xattr.user.data1", b"ABCDEFG"))
    yield vector("pax_xattr_header_libarchive", "an extended attribute in base 64", (b"LIBARCHIVE.xattr.user.data1", b"QUJDREVGRw"))
    yield vector("pax_xattr_header_all", "an extended attribute in both forms", (b"LIBARCHIVE.xattr.user.data1", b"QUJDREVGRw"),
                 (b"SCHILY.xattr.user.data1", b"ABCDEFG"))
    yield vector("read_pax_xattr_schily", "an attribute that gives rights", (b"SCHILY.xattr.security.capability", b"\1\0\0\2"))
    yield vector("read_pax_xattr_rht_security_selinux", "a label of SELinux", (b"RHT.security.selinux", b"system_u:object_r:admin_home_t:s0"))
    yield vector("tar_pax_timestamps", "times", (b"mtime", b"1748089464.951928467"), (b"atime", b"1"))
    yield vector("tar_pax_negative_time", "a time before 1970", (b"mtime", b"-2146608000"))
    yield vector("tar_invalid_pax_size", "a size below zero", (b"size", b"-19769411113659727436"))
    yield vector("tar_pax_large_attr", "a record of 8 MB", (b"SCHILY.xattr.user.x", b"a" * 8_000_000))
    yield OtherTar().file(b"empty", pax=b"4 x=").vector("libarchive-read_pax_empty_val_no_nl", "a record without value and without line end")
    yield OtherTar().other(b"pax_global_header", b"g", pax_record(b"comment", b"d" * 40)).vector(
        "libarchive-tar_empty_pax", "a global pax header, and no file")
    yield OtherTar().other(b"empty", b"g", size_bytes=b"40000000000\0").vector(
        "libarchive-tar_pax_g_large", "a global pax header of 4 GiB in 512 bytes")
    yield OtherTar().file(b"f.txt", mode=0o64, size_bytes=bytes(12)).vector(
        "libarchive-tar_timestamp_overflow", "a size field without a digit")
    yield OtherTar().file(b"file", mtime=b"\xff" * 7 + b"\x80\x0d\x5c\x80 ").vector(
        "libarchive-tar_pax_negative_time-header", "a time before 1970 in base 256")
    yield OtherTar().file(b"file", size_bytes=b"          4\0").vector("libarchive-compat_perl_archive_tar", "a size with spaces before it")
    yield OtherTar().file(b"file", size_bytes=b"          4 ", magic=b"ustar\0\0\0").vector(
        "libarchive-compat_plexus_archiver_tar", "a size with spaces around it, and no version after the magic")
    yield OtherTar().file(b"file", magic=b"ustar  \0").vector("libarchive-compat_gtar_2", "the magic of GNU")
    yield OtherTar().file(b"file", magic=bytes(8)).vector("libarchive-compat_tar_hardlink_1-magic", "no magic, as before ustar")
    yield OtherTar().file(b"file", magic=b"utsar\x0000").vector("libarchive-tar_invalid_pax_size-magic", "a magic that is misspelt")
