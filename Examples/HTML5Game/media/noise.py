"""Value noise from an integer hash, so it is the same on every machine."""

import math


def hashed(x, y, seed=0):
    """A number in [0, 1) for a lattice point."""
    n = (x * 374761393 + y * 668265263 + seed * 2147483647) & 0xFFFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
    return ((n ^ (n >> 16)) & 0xFFFFFF) / 0x1000000


class Noise:
    """Smooth noise with a feature size of one; lattice values are cached."""

    def __init__(self, seed):
        self.seed, self.cache = seed, {}

    def _lattice(self, x, y):
        key = (x, y)
        value = self.cache.get(key)
        if value is None:
            value = self.cache[key] = hashed(x, y, self.seed)
        return value

    def at(self, x, y):
        ix, iy = math.floor(x), math.floor(y)
        u, v = x - ix, y - iy
        u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
        a, b = self._lattice(ix, iy), self._lattice(ix + 1, iy)
        c, d = self._lattice(ix, iy + 1), self._lattice(ix + 1, iy + 1)
        top, bottom = a + (b - a) * u, c + (d - c) * u
        return top + (bottom - top) * v
