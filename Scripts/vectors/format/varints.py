"""Numbers of variable length (FORMAT.md §13.2)."""

from vectors.format.errors import require
from vectors.format.limits import MAX_INTEGER


def varint(value):
    """§13.2"""
    result = b""
    while value >= 128:
        result += bytes([value & 127 | 128])
        value >>= 7
    return result + bytes([value])


def signed_varint(value):
    """§13.2"""
    return varint(2 * value if value >= 0 else -2 * value - 1)


class Cursor:
    """Reads fields from the start on; what is missing is damaged."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, length):
        require(self.at + length <= len(self.data), "the fields end early")
        self.at += length
        return self.data[self.at - length:self.at]

    def varint(self):
        if self.at < len(self.data) and self.data[self.at] < 128:
            self.at += 1
            return self.data[self.at - 1]
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            require(shift < 56, "a varint of more than eight bytes")
        require(value <= MAX_INTEGER, "a varint above 2^53-1")
        require(byte != 0 or shift == 7, "a varint that is not the shortest")
        return value

    def signed_varint(self):
        value = self.varint()
        return -(value + 1 >> 1) if value & 1 else value >> 1


def in_range(value):
    """§13.2: what is computed from numbers is one, too."""
    require(0 <= value <= MAX_INTEGER, f"a number that comes to {value}")
    return value
