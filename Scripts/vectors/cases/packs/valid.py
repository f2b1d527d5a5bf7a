"""Packs that readers accept."""

from vectors.cases.faults import set_bits
from vectors.cases.packs.vector import valid, valid_tree, with_pack_key
from vectors.cases.samples import (
    AK, EDITION_AK, OWN_AK, RECIPIENT, SHARED_AK, SMALL, SMALL_TREE, directory, exact_length, file, many_files, noise, other_frames, tar_of, wrapped)
from vectors.format.frames import frame_header, raw_frame, run_frame, zstd_frame
from vectors.format.header import derive_stanza, stanza, wrap_stanzas
from vectors.format.keys import Recipient, file_key
from vectors.format.limits import MAX_VERSION


def valid_vectors():
    yield from valid_trees()
    yield from valid_segments()
    yield from valid_frames()
    yield from valid_headers()
    yield from valid_pack_keys()
    yield from valid_wraps()


def valid_trees():
    """Trees of every kind (§4.2, §5)."""
    yield valid_tree("empty-tree", "no files (§8.6)", ())
    yield valid_tree("one-file", "one file", [file("a.txt", b"hello")])
    yield valid_tree("empty-file", "one empty file", [file("empty.bin")])
    yield valid_tree("empty-directory", "one empty directory", [directory("d")])
    yield valid_tree("executable", "one executable file", [file("run", b"#!/bin/sh\n", True)])
    yield valid_tree("small-tree", "files, an executable, an empty file, an empty directory", SMALL_TREE)
    same = [file("a.txt", b"hello"), file("b.txt", b"hello"), file("c/d.txt", b"hello"),
            file("x.txt", b"hello", True), file("y", b""), file("z", b"")]
    yield valid_tree("identical-files", "equal content as hard links; not for another executable flag, "
                     "nor for empty files (§4.2.4)", same)
    yield valid_tree("identical-files-no-links", "equal content written twice (§4.2.4)", same, links=False)
    yield valid_tree("identical-files-link-first", "the hard link comes first in the index, last in the tar",
                     [file("a.txt", b"hello"), file("b", b"hello")])
    yield valid_tree("hard-link-long-target", "a hard link with a linkpath record and a linkname that is cut",
                     [file("a/" * 60 + "f", b"same"), file("z", b"same")])
    yield valid_tree("path-non-ascii", "paths in form C beyond ASCII", [
        file("ü.txt", b"hello"), file("日本/語.bin", b"x"), file("café/naïve", b"y"),
        directory("étage"), file("\U0001F600", b"z")])
    yield valid_tree("path-ustar-prefix", "a path that is split into prefix and name",
                     [file("p" * 60 + "/" + "p" * 60, b"hello")])
    yield valid_tree("path-pax-header", "paths that need a pax header", [
        file("y" * 101, b"1"), file("n" * 50 + "/" + "n" * 149, b"2"), directory("e" * 100)])
    yield valid_tree("path-100-bytes", "a path of exactly 100 bytes", [file("k" * 100, b"hello")])
    long = "/".join("c" * 63 for _ in range(16))
    yield valid_tree("path-1024-bytes", "a path of 1024 bytes, the longest",
                     [file(long + "e", b"hello")])
    yield valid_tree("path-64-components", "a path of 64 components, the most", [
        file("d/" * 63 + "e", b"hello"), directory("e/" * 63 + "e")])
    yield valid_tree("component-255-bytes", "a component of 255 bytes, the longest",
                     [file("d/" + "c" * 255, b"hello")])
    yield valid_tree("path-portability", "paths that readers tolerate (§5.2): devices, `:`, dots and "
                     "spaces at the end", [file("aux.txt", b"1"), file("a:b", b"2"), file("end.", b"3"),
                                           file("end ", b"4"), file("que?stion*", b"5"),
                                           file("conin$", b"6"), file("soft\u00adhyphen", b"7"),
                                           file("left\u200fright", b"8")])
    yield valid_tree("path-case-twins", "paths that differ in case: readers tolerate them (§5.2), but "
                     "unpacking aborts on a volume that does not distinguish case (§5.3)",
                     [file("A.txt", b"1"), file("a.txt", b"2")])
    yield valid_tree("path-near-reserved", "`.packs`, `a/.pack`, `...` and `_.x` are free names",
                     [file(".packs", b"1"), file("a/.pack", b"2"), file("...", b"3"), file("_.x", b"4")])
    yield valid_tree("path-neighbours", "`a-b` stands between `a.` and `a/b` without being in the way",
                     [file("a-b", b"1"), file("a.c", b"2"), file("a/b", b"3"), file("ab", b"4")])
    yield valid_tree("order-reversed", "the entries in descending path order (§4.2.4)", SMALL_TREE,
                     order=lambda items: sorted(items, key=lambda item: item.path, reverse=True))
    yield valid_tree("identical-files-two-blocks", "equal content in one block of the index and in another one (§4.6)",
                     [*many_files(300), *(file(f"f{i:03}x", b"same") for i in (3, 5, 299))], codec=zstd_frame)
    yield valid_tree("order-by-size", "contents in descending order of size: steps of either sign (§4.6)", many_files(300),
                     order=lambda items: sorted(items, key=lambda item: (-len(item.content), item.path)), codec=zstd_frame)
    for count in (127, 128, 129, 300):
        yield valid_tree(f"records-{count}", f"{count} records: blocks of 128 and the rest (§4.6)", many_files(count), codec=zstd_frame)


def valid_segments():
    """§3.2: edges of segments."""
    P = SMALL - 16
    for n in (1, 2, 3):
        payload, records = exact_length(n * P - 40)
        yield valid(f"segments-{n}-full", f"a payload of {len(payload)} bytes fills {n} segments exactly "
                    "(§3.2)", payload, records)
    payload, records = exact_length(2 * P - 40 + 1)
    yield valid("segments-3-one-byte", "a last segment with one byte (§3.2)", payload, records)
    yield valid_tree("segment-65536", "S = 65536", SMALL_TREE, pack={"S": 65536})
    yield valid_tree("segment-1048576", "S = 1048576, the largest", SMALL_TREE, pack={"S": 1 << 20})


def large_content():
    return b"".join(noise(2000, b"%d" % i) + b"frame %d " % i * 6000 for i in range(4))


def valid_frames():
    """§4.3, §4.4: frames."""
    large = [file("a.txt", b"hello"), file("large.bin", large_content()), file("z.txt", b"end")]
    yield valid_tree("frames-large-file", "a file of several frames and segments, cut with F = 65536",
                     large, F=65536, codec=zstd_frame)
    yield valid_tree("frames-one", "the same tree in one frame", large, codec=zstd_frame)
    yield valid_tree("frames-level-19", "the same tree, compressed at level 19", large, F=65536,
                     codec=lambda content: zstd_frame(content, 19))
    yield valid_tree("frames-cut-in-headers", "cuts in the middle of headers and data; readers take "
                     "the cuts from the seek table", SMALL_TREE, sizes=[100, 412, 3, 700, 300, 2581])
    yield valid_tree("frames-of-one-byte", "every data frame holds one byte", [file("a", b"1")],
                     sizes=[1] * 2048)
    yield valid_tree("frames-raw-blocks", "frames with raw blocks only", SMALL_TREE, codec=raw_frame)
    yield valid_tree("frames-window", "a data frame with a window byte: window 1024, content 4096 (§4.4)",
                     SMALL_TREE, data=lambda data: [window_frame(SMALL_TREE, 0)])
    yield valid_tree("frames-unused-bit", "bit 4 of the descriptor is ignored (§4.4)", SMALL_TREE,
                     data=lambda data: [(set_bits(frame, 4, 0x10), size) for frame, size in data])
    yield valid_tree("frames-8-mib", "a data frame of 8 MiB, the largest", [file("zeros", bytes((8 << 20) - 1536))],
                     F=8 << 20)


def window_frame(items, window):
    """One frame for the tar of `items`, with a window byte."""
    tar = tar_of(items)
    return run_frame(tar, limit=1024, header=frame_header(len(tar), window=window)), len(tar)


def valid_headers():
    """§1, §2.4, §7: what readers ignore or take as it stands."""
    unknown = stanza(0x7001, b"a stanza of a later version")
    for name, comment, stanzas in (
            ("stanza-unknown-before", "an unknown stanza before DERIVE", unknown + derive_stanza(AK)),
            ("stanza-unknown-after", "an unknown stanza after DERIVE", derive_stanza(AK) + unknown),
            ("stanza-unknown-empty", "an unknown stanza without content", stanza(0xFFFF, b"") + derive_stanza(AK)),
            ("stanza-reserved", "stanzas of the reserved types are skipped", derive_stanza(AK)
             + stanza(2, bytes(68)) + stanza(3, b"") + stanza(4, b"x")),
            ("stanzas-16384-bytes", "N = 16384, the largest", derive_stanza(AK) + stanza(0x7001, bytes(16368)))):
        yield valid_tree(name, comment + " (§1.3)", SMALL_TREE, pack={"stanzas": stanzas})
    yield valid_tree("flag-bit-9", "an ignorable flag is set (§1.2)", SMALL_TREE, pack={"flags": 0x0201})
    yield valid_tree("flags-8-to-15", "all ignorable flags are set (§1.2)", SMALL_TREE, pack={"flags": 0xFF01})
    yield valid_tree("salt-random", "a random salt with R = 40…5f (§2.4)", SMALL_TREE,
                     pack={"random": bytes(range(0x40, 0x60))})
    yield valid_tree("salt-not-recomputable", "flag bit 0 with a salt that is not the one of §2.4: "
                     "a reader takes it as it stands", SMALL_TREE, pack={"salt": bytes(32)})
    yield valid_tree("version-0", "pack version 0", SMALL_TREE, pack={"version": 0})
    yield valid_tree("version-largest", "pack version 2^53-1", SMALL_TREE, pack={"version": MAX_VERSION})
    yield valid_tree("minor-255", "minor 255, nothing else", SMALL_TREE, pack={"minor": 255})
    yield valid_tree("minor-1-additions", "minor 1: bytes after the directory's frame and after the last "
                     "record of a block, other skippable frames", SMALL_TREE, pack={"minor": 1},
                     contents=lambda contents: [content + b"later" for content in contents],
                     head=lambda head: head + b"later", extra=lambda extra: other_frames())
    yield valid_tree("minor-0-skippable-frame", "another skippable frame under minor 0 is passed over (§4.5)",
                     SMALL_TREE, extra=lambda extra: other_frames()[:1])


def valid_pack_keys():
    """§2.3, §2.7"""
    own = {"ak": OWN_AK}
    yield with_pack_key(valid_tree("pack-key", "made with a key of its own, which follows from the root key",
                                   SMALL_TREE, pack=own))
    yield with_pack_key(valid_tree("pack-key-segments", "the same over several segments",
                                   [file("noise.bin", noise(13000)), file("z.txt", b"end")], pack=own))
    yield with_pack_key(valid_tree("pack-key-random-salt", "the same with a random salt, R = 40…5f", SMALL_TREE,
                                   pack={**own, "random": bytes(range(0x40, 0x60))}))


    for name, comment, key in (("edition-key", "made with the key of its version", EDITION_AK), ("edition-key-root", "the same with the root key", AK)):
        yield valid_tree(name, comment, SMALL_TREE, pack={"ak": EDITION_AK})._replace(key=key)


def valid_wraps():
    """§2.6: one pack, read with each of its keys."""
    for name, comment, key in (("key", "its own key", AK), ("recipient", "the secret key of a recipient", RECIPIENT),
                               ("shared", "a key that publisher and recipient have", SHARED_AK)):
        vector = valid_tree(f"wrap-{name}", f"wrapped for two, read with {comment}", SMALL_TREE, pack={"stanzas": wrapped()})
        yield vector._replace(key=key)
    vector = valid_tree("wrap-segments", "wrapped, over several segments", [file("noise.bin", noise(13000)), file("z.txt", b"end")],
                        pack={"stanzas": wrapped(shared=())})
    yield vector._replace(key=RECIPIENT)
    vector = valid_tree("wrap-own-key", "a pack with a key of its own, wrapped, read by the recipient", SMALL_TREE,
                        pack={"ak": OWN_AK, "stanzas": wrapped(ak=OWN_AK)})
    yield vector._replace(key=RECIPIENT)
    yield vector._replace(name="wrap-own-key-root", comment="the same with the root key", key=AK)
    many = tuple(Recipient(bytes([i]) * 32) for i in range(177))
    vector = valid_tree("wrap-177", "as many recipients as there is room for", SMALL_TREE,
                        pack={"stanzas": wrapped(recipients=many, shared=())})
    yield vector._replace(key=many[100])
    def order(core):
        wraps = wrap_stanzas(file_key(AK, core), core, [RECIPIENT.public], [SHARED_AK])
        return wraps[72:] + stanza(0x7001, b"between") + derive_stanza(AK) + wraps[:72]
    vector = valid_tree("wrap-other-order", "WRAP stanzas before and behind DERIVE: readers take any order (§1.3)", SMALL_TREE,
                        pack={"stanzas": order})
    yield vector._replace(key=RECIPIENT)
    yield vector._replace(name="wrap-other-order-shared", comment="the same with the shared key", key=SHARED_AK)
