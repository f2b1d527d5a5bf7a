"""Changes of bytes, frames and records that make a case wrong."""

from vectors.format.frames import frame_header, zstd_block


def change(data, offset, value):
    """`value` instead of the bytes at `offset` (from the end if negative)."""
    if offset < 0:
        offset += len(data)
    return data[:offset] + value + data[offset + len(value):]


def flip(data, offset, bits=0x01):
    return change(data, offset, bytes([data[offset] ^ bits]))


def set_bits(data, offset, bits):
    return data[:offset] + bytes([data[offset] | bits]) + data[offset + 1:]


def only_frame(frame):
    """The data frame is replaced; the seek table states the size of the tar."""
    return lambda data: [(frame, data[0][1])]


def bomb_frame(claimed, blocks):
    """§4.4: states `claimed` bytes and holds `blocks` run blocks of 128 KiB."""
    return frame_header(claimed) + b"".join(
        zstd_block(1, 128 << 10, b"\0", i == blocks - 1) for i in range(blocks))


def replaced(path, **values):
    """A function that replaces fields of the record of `path`."""
    return lambda records: [r._replace(**values) if r.path == path else r for r in records]
