"""Level floors, wall tiles and the title picture."""

import math

from . import png
from .noise import Noise, hashed
from .paint import Picture, blend, box, capsule, ellipse, polygon, rgb

TILE = 64
FLOOR_WIDTH, FLOOR_HEIGHT = 768, 480
TITLE_WIDTH, TITLE_HEIGHT = 768, 512


def _render(width, height, pixel):
    out = bytearray()
    for y in range(height):
        for x in range(width):
            for c in pixel(x, y):
                out.append(min(255, max(0, int(c))))
    return png.encode(width, height, 3, out)


def _scaled(colour, factor):
    return tuple(c * factor for c in colour)


def _planks(colour, plank, seed):
    """Boards of one width, with staggered ends, grain and dark seams."""
    grain, wear = Noise(seed), Noise(seed + 1)

    def pixel(x, y):
        row = y // plank
        offset = int(hashed(row, 3, seed) * 160)
        column = (x + offset) // 160
        tone = 0.86 + 0.22 * hashed(row, column, seed + 2)
        tone += 0.16 * (grain.at(x / 34, y / 2.3 + column * 9) - 0.5)
        tone += 0.12 * (wear.at(x / 60, y / 60) - 0.5)
        if y % plank == 0 or (x + offset) % 160 == 0:
            tone *= 0.62
        elif y % plank == 1:
            tone *= 1.1
        return _scaled(colour, tone)
    return pixel


def _grass(seed):
    broad, fine = Noise(seed), Noise(seed + 1)
    dark, light = rgb("35602f"), rgb("6f9a43")

    def pixel(x, y):
        t = 0.65 * broad.at(x / 48, y / 48) + 0.35 * fine.at(x / 2.2, y / 5)
        colour = blend(dark, light, t)
        flower = hashed(x // 5, y // 5, seed + 7)
        if flower > 0.994 and (x % 5 - 2) ** 2 + (y % 5 - 2) ** 2 < 4:
            return (236, 226, 170) if flower > 0.997 else (214, 160, 214)
        return colour
    return pixel


def _marble(seed):
    cloud, vein = Noise(seed), Noise(seed + 1)
    pale, deep = rgb("b9bccb"), rgb("6d7390")

    def pixel(x, y):
        square = (x // 48 + y // 48) % 2
        base = deep if square else pale
        shift = 40 * hashed(x // 48, y // 48, seed)
        swirl = cloud.at(x / 30 + shift, y / 30) * 5 + (x + y) / 38
        line = abs(math.sin(swirl)) ** 0.35
        tone = 0.82 + 0.16 * line + 0.08 * vein.at(x / 14, y / 14)
        if x % 48 == 0 or y % 48 == 0:
            tone *= 0.75
        return _scaled(base, tone)
    return pixel


FLOORS = {
    "01-pantry": lambda: _planks(rgb("a8733f"), 24, 11),
    "02-garden": lambda: _grass(23),
    "03-attic": lambda: _planks(rgb("7d6454"), 32, 37),
    "04-museum": lambda: _marble(53),
}


def floor(level):
    return _render(FLOOR_WIDTH, FLOOR_HEIGHT, FLOORS[level]())


def _plate(colour, edge):
    """An opaque tile with a bevel."""
    p = Picture(TILE, TILE, rgb(edge))
    p.fill(box(2, 2, 62, 62, 3), colour, shade=0.35)
    return p


def _pantry():
    tops = []
    for seed in (1, 2):
        p = _plate("5b3a22", "432a18")
        for y in (12, 24, 36, 48):
            bend = hashed(seed, y) * 6 - 3
            p.fill(capsule(4, y, 60, y + bend, 0.8), "442916")
        tops.append(p)
    fronts = []
    for jars in (("d9573f", "e9c46a"), ("7ba05b", "b56576")):
        p = _plate("3a2415", "6b4528")
        p.fill(box(0, 56, 64, 64), "7a5130")
        for x, colour in zip((18, 45), jars):
            p.outlined(box(x - 10, 24, x + 10, 54, 5), colour, width=1.2, shade=0.8)
            p.outlined(box(x - 8, 17, x + 8, 25, 2), "e8dcc0", width=1.2)
            p.fill(capsule(x - 5, 30, x - 5, 46, 1.6), "ffffff", 0.45)
        fronts.append(p)
    hide = Picture(TILE, TILE)
    hide.outlined(ellipse(32, 35, 29, 26), "cdb48a", shade=0.6)
    for i in range(5):
        hide.fill(capsule(12 + i * 10, 18, 10 + i * 11, 54, 1), "a98d62", 0.7)
    hide.outlined(ellipse(32, 32, 11, 8), "b0935f", width=1.2)
    return tops + fronts + [hide]


def _leaves(p, seed, count, dark, light, top=0):
    for i in range(count):
        x, y = hashed(i, 1, seed) * 64, top + hashed(i, 2, seed) * (64 - top)
        turn = hashed(i, 3, seed) * 180
        colour = blend(rgb(dark), rgb(light), i / count)
        p.fill(ellipse(x, y, 7, 4, turn), _scaled(colour, 0.55))
        p.fill(ellipse(x - 0.6, y - 1, 6, 3.2, turn), colour)


def _garden():
    tops, fronts = [], []
    for seed in (5, 6):
        top = Picture(TILE, TILE, rgb("1f4a2a"))
        _leaves(top, seed, 60, "24552f", "4f8f3f")
        tops.append(top)
        front = Picture(TILE, TILE, rgb("16351f"))
        _leaves(front, seed + 4, 50, "1a3f24", "37702f", 6)
        front.fill(box(0, 57, 64, 66), "0f2416", 0.7, soft=6)
        fronts.append(front)
    for x, y in ((14, 20), (44, 38), (30, 12)):
        fronts[1].outlined(ellipse(x, y + 8, 4, 4), "d8405a", width=1)
    hide = Picture(TILE, TILE)
    for i in range(34):
        x = 6 + hashed(i, 1, 9) * 52
        lean = hashed(i, 2, 9) * 16 - 8
        high = 10 + hashed(i, 3, 9) * 26
        colour = blend(rgb("4f8a35"), rgb("b5cf62"), hashed(i, 4, 9))
        hide.fill(capsule(x, 60, x + lean, high, 2.8, 0.7), _scaled(colour, 0.5))
        hide.fill(capsule(x, 60, x + lean, high, 2.0, 0.4), colour)
    return tops + fronts + [hide]


def _attic():
    tops = []
    for diagonal in (0, 1):
        p = _plate("8a6a45", "4a3522")
        for y in (16, 32, 48):
            p.fill(capsule(3, y, 61, y, 1), "5d442b")
        a, b = (8, 56) if diagonal else (56, 8)
        p.outlined(capsule(a, 8, b, 56, 4), "a3825a", "4a3522", 1.2)
        tops.append(p)
    fronts = []
    for label in ("c9b48a", "8fa7b8"):
        p = _plate("6d5236", "33241a")
        for x in (20, 42):
            p.fill(capsule(x, 2, x, 62, 1), "463322")
        p.outlined(box(22, 20, 42, 38, 2), label, "33241a", 1.2)
        p.fill(capsule(26, 27, 38, 27, 1), "4a3522")
        p.fill(capsule(26, 32, 34, 32, 1), "4a3522")
        fronts.append(p)
    hide = Picture(TILE, TILE)
    hide.outlined(box(5, 7, 59, 59, 14), "7c5f99", shade=0.8)
    for row in range(3):
        for column in range(3):
            colour = ("9b7fc0", "c58bb0", "6c86b8")[(row + column) % 3]
            hide.fill(box(11 + column * 14, 12 + row * 14, 24 + column * 14,
                          25 + row * 14, 3), colour, shade=0.6)
    return tops + fronts + [hide]


def _museum():
    tops = []
    for inset in (10, 16):
        p = _plate("4d5068", "2c2e42")
        p.fill(box(inset, inset, 64 - inset, 64 - inset, 4), "3d4056")
        p.fill(box(inset + 3, inset + 3, 61 - inset, 61 - inset, 3), "575b76", shade=0.6)
        tops.append(p)
    fronts = []
    for gold in ("d8a93c", "b7793a"):
        p = _plate("343750", "22243a")
        p.outlined(box(12, 12, 52, 46, 2), gold, width=1.4, shade=0.9)
        p.fill(box(17, 17, 47, 41), "22304a")
        p.fill(ellipse(38, 24, 4, 4), "e9e2b8")
        p.fill(polygon((17, 41), (28, 27), (36, 35), (41, 30), (47, 41)), "48627c")
        p.fill(box(0, 57, 64, 66), "191b2d")
        fronts.append(p)
    hide = Picture(TILE, TILE)
    hide.outlined(ellipse(32, 34, 29, 27), "a02c3f", shade=0.8)
    for i in range(8):
        angle = i * math.pi / 4
        hide.fill(capsule(32, 34, 32 + math.cos(angle) * 25, 34 + math.sin(angle) * 23,
                          1, 2.4), "7c1f31", 0.8)
    hide.outlined(ellipse(32, 33, 7, 6), "e0b040", width=1.2)
    return tops + fronts + [hide]


TILES = {"01-pantry": _pantry, "02-garden": _garden, "03-attic": _attic,
         "04-museum": _museum}


def tiles(level):
    """A strip of five cells: two tops, two fronts, one hiding place."""
    cells = TILES[level]()
    strip = Picture(TILE * len(cells), TILE)
    for i, cell in enumerate(cells):
        strip.paste(cell, i * TILE, 0)
    return strip.encode()


def _window(x, y, left, top, width, height):
    """True for the panes of a lit window with a cross bar."""
    u, v = x - left, y - top
    if not (0 <= u < width and 0 <= v < height):
        return False
    return abs(u - width / 2) > 1.5 and abs(v - height / 2) > 1.5


def title():
    """A moonlit roofscape; the moon keeps clear of the title and the menu."""
    cloud, tree = Noise(71), Noise(83)
    top, low = rgb("141433"), rgb("5a4a7d")
    moon = (686, 188, 48)
    houses = [(0, 330, 150), (140, 290, 120), (250, 350, 170), (410, 300, 110),
              (510, 345, 140), (640, 310, 130)]

    def house_at(x, y):
        for i, (left, wall, width) in enumerate(houses):
            if left <= x < left + width:
                peak = wall - 46 + abs(x - left - width / 2) * 92 / width
                if y > peak:
                    return i, left, wall
        return None

    def sky(x, y):
        colour = blend(top, low, min(1, y / 380) ** 1.4)
        distance = math.hypot(x - moon[0], y - moon[1])
        if distance < moon[2]:
            crater = cloud.at(x / 17 + 40, y / 17)
            return _scaled((250, 240, 205), 0.86 + 0.16 * crater)
        glow = max(0, 1 - (distance - moon[2]) / 190) ** 2
        star = hashed(x, y, 5)
        if star > 0.9988 and y < 300:
            return _scaled((255, 250, 230), 0.4 + 0.6 * hashed(x, y, 6))
        mist = cloud.at(x / 120, y / 34) * 0.6 + cloud.at(x / 40, y / 14) * 0.4
        colour = blend(colour, (150, 130, 175), max(0, mist - 0.55) * 0.9)
        return blend(colour, (250, 235, 200), glow * 0.4)

    def pixel(x, y):
        ridge = 430 + 16 * tree.at(x / 50, 0) + 6 * tree.at(x / 7, 9)
        if y > ridge:
            return _scaled((20, 22, 38), 0.75 + 0.5 * tree.at(x / 3, y / 6))
        house = house_at(x, y)
        if not house:
            return sky(x, y)
        i, left, wall = house
        for k in range(3):
            if _window(x, y, left + 22 + k * 36, wall + 24, 18, 24):
                lit = hashed(i, k, 4) > 0.45
                return (246, 196, 96) if lit else (38, 38, 66)
        if y < wall:
            tone = 0.8 + 0.3 * ((y // 6 + x // 9) % 2) * 0.5
            return _scaled((52, 36, 62), tone)
        return _scaled((40, 36, 60), 0.85 + 0.2 * tree.at(x / 9, y / 4))

    return _render(TITLE_WIDTH, TITLE_HEIGHT, pixel)
