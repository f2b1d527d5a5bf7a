"""A minimal PNG writer: 8 bits a channel, RGB or RGBA, adaptive row filters."""

import struct
import zlib


def _chunk(kind, body):
    checksum = zlib.crc32(kind + body)
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", checksum)


def _cost(row):
    """The usual heuristic: a row of small signed differences compresses best."""
    return sum(b if b < 128 else 256 - b for b in row)


def _filtered(rows, pixel):
    """Yields each row behind its filter byte, choosing None, Sub or Up."""
    above = bytes(len(rows[0]))
    for row in rows:
        left = bytes(pixel) + row[:-pixel]
        sub = bytes((a - b) & 255 for a, b in zip(row, left))
        up = bytes((a - b) & 255 for a, b in zip(row, above))
        best = min((_cost(row), 0, row), (_cost(sub), 1, sub), (_cost(up), 2, up))
        yield bytes([best[1]]) + best[2]
        above = row


def encode(width, height, channels, pixels):
    """Returns the file's bytes for `pixels`, which holds rows from the top."""
    stride = width * channels
    rows = [bytes(pixels[y * stride:(y + 1) * stride]) for y in range(height)]
    colour_type = {3: 2, 4: 6}[channels]
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    data = zlib.compress(b"".join(_filtered(rows, channels)), 9)
    return (b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header)
            + _chunk(b"IDAT", data) + _chunk(b"IEND", b""))
