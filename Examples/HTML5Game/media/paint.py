"""A small antialiased painter built on signed distance functions.

A shape is a function from a point to its distance from the edge (negative
inside). One pixel of coverage is then `0.5 - distance`, which is all the
antialiasing sprites of this size need.
"""

import math

from . import png


def rgb(text):
    return tuple(int(text[i:i + 2], 16) for i in (0, 2, 4))


def blend(a, b, t):
    return tuple(x + (y - x) * t for x, y in zip(a, b))


def ellipse(cx, cy, rx, ry, degrees=0):
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    small = min(rx, ry)

    def distance(x, y):
        u, v = x - cx, y - cy
        return (math.hypot((u * c + v * s) / rx, (v * c - u * s) / ry) - 1) * small
    return distance


def capsule(x0, y0, x1, y1, r0, r1=None):
    r1 = r0 if r1 is None else r1
    dx, dy = x1 - x0, y1 - y0
    length = dx * dx + dy * dy or 1

    def distance(x, y):
        t = min(1, max(0, ((x - x0) * dx + (y - y0) * dy) / length))
        return math.hypot(x - x0 - dx * t, y - y0 - dy * t) - (r0 + (r1 - r0) * t)
    return distance


def polygon(*points):
    edges = list(zip(points, points[-1:] + points[:-1]))

    def distance(x, y):
        best, inside = 1e9, False
        for (ax, ay), (bx, by) in edges:
            ex, ey, wx, wy = bx - ax, by - ay, x - ax, y - ay
            t = min(1, max(0, (wx * ex + wy * ey) / (ex * ex + ey * ey)))
            best = min(best, math.hypot(wx - ex * t, wy - ey * t))
            if (ay > y) != (by > y) and x < ex * (y - ay) / ey + ax:
                inside = not inside
        return -best if inside else best
    return distance


def box(x0, y0, x1, y1, radius=0):
    cx, cy = (x0 + x1) / 2, (y0 + y1) / 2
    hx, hy = (x1 - x0) / 2 - radius, (y1 - y0) / 2 - radius

    def distance(x, y):
        qx, qy = abs(x - cx) - hx, abs(y - cy) - hy
        return (math.hypot(max(qx, 0), max(qy, 0)) + min(max(qx, qy), 0)) - radius
    return distance


def ring(shape, width):
    return lambda x, y: abs(shape(x, y)) - width


class Picture:
    """An RGBA picture with premultiplied float pixels."""

    def __init__(self, width, height, fill=None):
        self.width, self.height = width, height
        pixel = [0.0] * 4 if fill is None else [*map(float, fill), 1.0]
        self.data = pixel * (width * height)

    def put(self, x, y, colour, alpha=1.0):
        if not (0 <= x < self.width and 0 <= y < self.height):
            return
        i = (y * self.width + x) * 4
        keep = 1 - alpha
        d = self.data
        d[i] = d[i] * keep + colour[0] * alpha
        d[i + 1] = d[i + 1] * keep + colour[1] * alpha
        d[i + 2] = d[i + 2] * keep + colour[2] * alpha
        d[i + 3] = d[i + 3] * keep + alpha

    def fill(self, shape, colour, alpha=1.0, shade=0.0, soft=1.0):
        """Fills a shape; `shade` darkens it towards the bottom right."""
        colour = rgb(colour) if isinstance(colour, str) else colour
        for y in range(self.height):
            for x in range(self.width):
                cover = 0.5 - shape(x + 0.5, y + 0.5) / soft
                if cover <= 0:
                    continue
                tint = 1 - shade * ((x + y) / (self.width + self.height) - 0.5)
                pixel = tuple(min(255, c * tint) for c in colour)
                self.put(x, y, pixel, min(1, cover) * alpha)

    def outlined(self, shape, colour, ink="1d1626", width=1.6, shade=0.5):
        self.fill(lambda x, y: shape(x, y) - width, ink)
        self.fill(shape, colour, shade=shade)

    def paste(self, other, left, top):
        for y in range(other.height):
            source = y * other.width * 4
            target = ((y + top) * self.width + left) * 4
            self.data[target:target + other.width * 4] = \
                other.data[source:source + other.width * 4]

    def encode(self, opaque=False):
        """PNG bytes; opaque pictures drop their alpha channel."""
        out = bytearray()
        d = self.data
        for i in range(0, len(d), 4):
            alpha = d[i + 3]
            scale = 1 / alpha if alpha > 0.002 else 0
            for c in d[i:i + 3]:
                out.append(min(255, max(0, round(c * scale))))
            if not opaque:
                out.append(min(255, max(0, round(alpha * 255))))
        return png.encode(self.width, self.height, 3 if opaque else 4, out)
