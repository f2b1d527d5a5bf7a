"""Other people's cases of streams and of zstd frames, each built anew from its published description.

  age     C2SP/CCTV, age/internal/tests/stream_*: chunks are segments here
  zstd    facebook/zstd, tests/golden-decompression-errors and doc/decompressor_permissive.md
"""

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from vectors.cases.faults import flip, only_frame
from vectors.cases.packs.vector import hostile_tree, refused, valid
from vectors.cases.samples import AK, NAME, SMALL, SMALL_TREE, VERSION, noise, pack_of, tar_of
from vectors.format.frames import frame_header, zstd_block
from vectors.format.header import derive_stanza, make_core, make_header
from vectors.format.index import skippable
from vectors.format.keys import schedule
from vectors.format.payload import tree_payload
from vectors.format.segments import nonce, split_segments


def age_filler(length, keys):
    """A payload of `length` bytes, and its segments' plaintexts. What fills it is chosen so that it is zeros once it is
    encrypted: so large a vector is small in a repository."""
    def payload(filling):
        return tree_payload(list(SMALL_TREE), extra=lambda extra: [skippable(0x184D2A50, filling)])

    room = length - len(payload(b"")[0])
    pieces = split_segments(bytes(length), SMALL)
    cipher = AESGCM(keys.SEGK)
    stream = b"".join(cipher.encrypt(nonce(keys.NP, i, i == len(pieces) - 1), piece, b"")[:-16] for i, piece in enumerate(pieces))
    start = payload(bytes(room))[0].index(skippable(0x184D2A50, b"", room)) + 8
    filled, records = payload(stream[start:start + room])
    assert len(filled) == length
    return filled, records


def age_vectors():
    """CCTV, age: the cases of the stream. A chunk is a segment; the first has 40 bytes less room, for the Tink header."""
    core = make_core(NAME, VERSION, bytes(range(32)), S=SMALL)
    header, tink = make_header(AK, core, derive_stanza(AK))
    keys, cipher, P = schedule(AK, core), None, SMALL - 16
    cipher = AESGCM(keys.SEGK)
    first = P - 40

    def chunks(*sizes_and_flags):
        """What these chunks are sealed as: (size, whether it is final)."""
        return header + tink + b"".join(
            cipher.encrypt(nonce(keys.NP, i, final), noise(size, b"age"), b"") for i, (size, final) in enumerate(sizes_and_flags))

    def bad(name, expect, comment, data):
        return refused("age-stream_" + name, expect, comment, data)

    def good(name, comment, length):
        payload, records = age_filler(length, keys)
        return valid("age-stream_" + name, comment, payload, records, salt=bytes(range(32)))

    def sealed(length):
        return pack_of(age_filler(length, keys)[0], salt=bytes(range(32)))

    yield good("last_chunk_full", "one segment, which is full", first)
    yield good("two_chunks", "two segments, both full", first + P)
    yield good("last_chunk_full_second", "two segments, the last one full", first + P)
    yield good("three_chunks", "three segments, all full", first + 2 * P)
    yield good("257_chunks", "256 full segments and one of a byte: the counter goes beyond one byte", first + 255 * P + 1)
    yield good("257_chunks_full", "257 full segments", first + 256 * P)
    yield good("258_chunks", "257 full segments and one of a byte", first + 256 * P + 1)
    yield bad("empty_payload", "damaged", "one empty segment: the stream holds, and no payload is empty", chunks((0, True)))
    yield bad("last_chunk_empty", "truncated", "an empty last segment after a full one", chunks((first, False), (0, True)))
    yield bad("bad_tag", "damaged", "a bit of the only tag", flip(sealed(1000), -1, 0x20))
    yield bad("bad_tag_second_chunk", "damaged", "a bit of the tag of a second segment of one byte", flip(sealed(first + 1), -1, 0x20))
    yield bad("bad_tag_second_chunk_full", "damaged", "a bit of the tag of a second segment that is full", flip(sealed(first + P), -1, 0x20))
    yield bad("no_nonce", "truncated", "the file ends where the Tink header begins", header)
    yield bad("short_nonce", "truncated", "12 bytes of the Tink header", header + tink[:12])
    yield bad("no_chunks", "truncated", "no segment", header + tink)
    yield bad("short_chunk", "truncated", "12 bytes in the place of a segment, less than a tag", header + tink + noise(12))
    yield bad("missing_tag", "truncated", "a segment of three bytes without its tag", chunks((3, True))[:-16])
    yield bad("short_second_chunk", "truncated", "a full segment, and 12 bytes", chunks((first, False)) + noise(12))
    yield bad("no_final", "truncated", "the only segment is not sealed as the last", chunks((1, False)))
    yield bad("no_final_full", "truncated", "the only segment is full and not sealed as the last", chunks((first, False)))
    yield bad("no_final_two_chunks", "truncated", "the second segment is not sealed as the last", chunks((first, False), (1, False)))
    yield bad("no_final_two_chunks_full", "truncated", "two full segments, neither sealed as the last", chunks((first, False), (P, False)))
    yield bad("trailing_garbage_long", "damaged", "20 bytes after a full last segment", chunks((first, True)) + noise(20))
    yield bad("trailing_garbage_short", "truncated", "12 bytes after a full last segment", chunks((first, True)) + noise(12))
    yield bad("two_final_chunks", "damaged", "two segments sealed as the last, the second of a byte", chunks((first, True), (1, True)))
    yield bad("two_final_chunks_full", "damaged", "two full segments sealed as the last", chunks((first, True), (P, True)))
    yield bad("two_final_chunks_second", "damaged", "the second and the third of three segments sealed as the last",
              chunks((first, False), (P, True), (1, True)))
    yield bad("two_final_chunks_short", "damaged", "two segments of a byte, both sealed as the last", chunks((1, True), (1, True)))


def zstd_vectors():
    """zstd's golden errors, and the reserved bits of which its document speaks beside them."""
    n = len(tar_of(SMALL_TREE))
    for name, comment, block in (
            ("off0", "an offset that comes to 0", "08 00 02 00 2f 43 0b ae"),
            ("truncated_huff_state", "initial states of Huffman weights that are cut", "72 80 01 04 20 7e 1f 02 aa 00"),
            ("zeroSeq_extraneous", "a byte after no sequences in the form of two bytes", "68" + b"Hello World!\n".hex() + "8000" + "00"),
            ("reserved_bits", "the reserved bits of the compression modes", "68" + b"Hello World!\n".hex() + "0103ffffff")):
        body = bytes.fromhex(block)
        body = zstd_block(2, len(body), body, True)
        theirs = b"\x28\xb5\x2f\xfd\x00\x00" + body
        yield hostile_tree(f"zstd-{name}", f"{comment}: the frame as zstd has it, without a content size", data=only_frame(theirs))
        yield hostile_tree(f"zstd-{name}-sized", f"{comment}: the block in a frame that states the size of the tar",
                           data=only_frame(frame_header(n) + body))
        yield hostile_tree(f"zstd-{name}-block", f"{comment}: in the frame of a block of the index",
                           blocks=lambda b: [frame_header(60) + body + b[0][-64:]])
        yield hostile_tree(f"zstd-{name}-directory", f"{comment}: in the frame of the directory",
                           dirframe=lambda d: frame_header(11) + body)
