"""How the tar is cut, and zstd frames: written and checked (FORMAT.md §4.3, §4.4)."""

import re
from collections import namedtuple

import zstandard

from vectors.format.errors import Refused, require
from vectors.format.primitives import number, u16, u32


def cut(lengths, F):
    """§4.3: the sizes of the frames for entries of these lengths."""
    frames, current = [], 0
    for length in lengths:
        if length > F:
            if current:
                frames.append(current)
            current = 0
            frames += [F] * (length // F) + ([length % F] if length % F else [])
        elif current + length > F:
            frames.append(current)
            current = length
        else:
            current += length
    return frames + ([current] if current else [])


def pieces(data, sizes):
    result, at = [], 0
    for size in sizes:
        result.append(data[at:at + size])
        at += size
    assert at == len(data)
    return result


def bound(n):
    """§4.4 item 2"""
    return n + n // 256 + ((131072 - n) // 2048 if n < 131072 else 0)


def zstd_frame(content, level=3):
    """§4.4: one frame by the library."""
    return zstandard.ZstdCompressor(level=level, write_content_size=True, write_checksum=False,
                                    write_dict_id=False).compress(content)


def frame_header(size, *, window=None, descriptor_bits=0, claimed=None):
    """§4.4: magic, descriptor, window byte, content size."""
    claimed = size if claimed is None else claimed
    single = 0x20 if window is None else 0
    if claimed < 256 and single:
        code, field_bytes = 0, bytes([claimed])
    elif 256 <= claimed < 65536 + 256:
        code, field_bytes = 1, u16(claimed - 256)
    else:
        code, field_bytes = 2, u32(claimed)
    return b"\x28\xb5\x2f\xfd" + bytes([code << 6 | single | descriptor_bits]) \
        + (b"" if window is None else bytes([window])) + field_bytes


def zstd_block(kind, size, body, last):
    """§4.4 item 3"""
    return (size * 8 + kind * 2 + (1 if last else 0)).to_bytes(3, "little") + body


def run_lengths(content, limit):
    """Pieces of the content: (byte, length) for runs of 32 bytes and more, else (None, bytes)."""
    plain = 0
    for match in re.finditer(rb"(.)\1{31,}", content, re.DOTALL):
        for start in range(plain, match.start(), limit):
            yield None, content[start:min(start + limit, match.start())]
        for start in range(match.start(), match.end(), limit):
            yield content[start:start + 1], min(limit, match.end() - start)
        plain = match.end()
    for start in range(plain, len(content), limit):
        yield None, content[start:start + limit]


def run_frame(content, *, limit=128 << 10, header=None):
    """§4.4: one frame of raw and run blocks only. The bytes do not depend on a library, so the
    vectors stay the same from machine to machine."""
    parts = list(run_lengths(content, limit))
    result = frame_header(len(content)) if header is None else header
    for index, (byte, value) in enumerate(parts):
        last = index == len(parts) - 1
        result += zstd_block(0, len(value), value, last) if byte is None else zstd_block(1, value, byte, last)
    return result


def raw_frame(content):
    """§4.4: one frame with one raw block."""
    return frame_header(len(content)) + zstd_block(0, len(content), content, True)


FrameInfo = namedtuple("FrameInfo", "size length")


def frame_content_size(frame):
    """§4.4, the table: checks the header, returns (content size, length of the header)."""
    require(frame[:4] == b"\x28\xb5\x2f\xfd" and len(frame) >= 6, "no zstd frame where one must be")
    descriptor = frame[4]
    require(descriptor & 0x03 == 0, "a zstd frame with a dictionary id")
    require(descriptor & 0x04 == 0, "a zstd frame with a checksum")
    require(descriptor & 0x08 == 0, "a zstd frame with the reserved bit")
    single, code = bool(descriptor & 0x20), descriptor >> 6
    at = 5 if single else 6
    require(single or code != 0, "a zstd frame without content size")
    length = 1 << code
    require(len(frame) >= at + length, "a zstd frame that ends in its header")
    size = number(frame, at, length) + (256 if code == 1 else 0)
    if not single:
        b = 1 << (10 + (frame[5] >> 3))
        window = b + (b >> 3) * (frame[5] & 7)
        require(window <= size, "a zstd window above the content size")
    return size, at + length, min(size if single else window, 128 << 10)


def frame_length(frame, at, most):
    """§4.4 item 3: the length of the frame whose blocks begin at `at` and have at most `most` bytes."""
    while True:
        require(at + 3 <= len(frame), "a zstd frame that runs past its place")
        h = number(frame, at, 3)
        kind, size = h >> 1 & 3, h >> 3
        require(kind != 3, "a zstd block of type 3")
        require(size <= most, "a zstd block above its window")
        at += 3 + (1 if kind == 1 else size)
        require(at <= len(frame), "a zstd block that runs past its place")
        if h & 1:
            return at


def check_frame(place, *, exactly=None, limit=None, what="", open_end=False):
    """§4.4 items 1–3 for the frame that fills `place` (with `open_end`: begins it)."""
    size, at, most = frame_content_size(place)
    if exactly is not None:
        require(size == exactly, "a content size that differs from the seek table's")
    require(size >= 1, "a zstd frame with content size 0")
    if limit is not None:
        require(size <= limit, f"{what} of {size} bytes", "limit")
    length = frame_length(place, at, most)
    require(open_end or length == len(place), "a zstd frame that does not fill its place")
    require(length <= bound(size), "a zstd frame longer than its bound")
    return FrameInfo(size, length)


def decompress(place, info, prefix=b""):
    """§4.4: exactly the stated size; §13.6: against a prefix."""
    try:
        reader = zstandard.ZstdDecompressor(dict_data=raw_dictionary(prefix) if prefix else None)
        content = reader.decompress(place[:info.length], max_output_size=info.size)
    except zstandard.ZstdError as error:
        raise Refused("damaged", f"zstd: {error}")
    require(len(content) == info.size, "a zstd frame that is not as long as it says")
    return content


def raw_dictionary(prefix):
    """§13.6: raw content, whatever it begins with."""
    return zstandard.ZstdCompressionDict(prefix, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
