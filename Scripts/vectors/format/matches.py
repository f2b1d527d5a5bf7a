"""Frames that are compressed against a prefix (FORMAT.md §13.6)."""

from collections import namedtuple

import zstandard

from vectors.format.frames import frame_header, raw_dictionary, run_frame, zstd_block

MATCH_LENGTHS = [(base, bits) for base, bits in zip(
    (35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539),
    (1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))]
Match = namedtuple("Match", "offset length")


def match_block(match, last):
    return sequence_block(match.offset + 3, match.length, last)


def sequence_block(value, length, last):
    """RFC 8878, 3.1.1.3: a compressed block without literals and with one sequence, its three codes in RLE mode. `value` is the Offset_Value."""
    code, bits, extra = length - 3, 0, 0
    for index, (base, width) in enumerate(MATCH_LENGTHS):
        if length >= base:
            code, bits, extra = 32 + index, width, length - base
    offset_bits = value.bit_length() - 1
    stream = extra | (value - (1 << offset_bits)) << bits | 1 << bits + offset_bits
    body = bytes([0, 1, 0x54, 0, offset_bits, code]) + stream.to_bytes(stream.bit_length() + 7 >> 3, "little")
    return zstd_block(2, len(body), body, last)


def parts_frame(parts, size, header=None):
    """§4.4: a frame of raw blocks (bytes) and matches, which a library has no part in."""
    blocks = []
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        blocks.append(match_block(part, last) if isinstance(part, Match) else zstd_block(0, len(part), part, last))
    return (frame_header(size) if header is None else header) + b"".join(blocks)


def find_parts(content, prefix, shortest=16):
    """The content as bytes and matches with what stands before it, the prefix included."""
    known, plain, at, text = {}, len(prefix), 0, prefix + content
    while at < len(prefix):
        known.setdefault(text[at:at + shortest], at)
        at += 1
    while at < len(text):
        start = known.get(text[at:at + shortest])
        length = 0
        if start is not None:
            while at + length < len(text) and length < 65536 and text[start + length] == text[at + length]:
                length += 1
        if length >= shortest:
            if plain < at:
                yield text[plain:at]
            yield Match(at - start, length)
            plain = at + length
        for _ in range(max(length, 1)):
            known.setdefault(text[at:at + shortest], at)
            at += 1
    if plain < len(text):
        yield text[plain:]


def prefix_frame(content, prefix=b""):
    """§13.6: one frame against the prefix, of raw blocks and matches."""
    return parts_frame(list(find_parts(content, prefix)), len(content)) if len(content) < 100000 else run_frame(content)


def library_frame(content, prefix, level=3):
    """§13.6: one frame by the library; its window holds output and prefix, so that it is single-segment."""
    parameters = zstandard.ZstdCompressionParameters.from_level(level, source_size=len(content), dict_size=len(prefix), write_content_size=1,
                                                                write_checksum=0, write_dict_id=0, window_log=24)
    dictionary = raw_dictionary(prefix) if prefix else None
    return zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters).compress(content)
