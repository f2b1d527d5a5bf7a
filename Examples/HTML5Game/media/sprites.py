"""Every sprite, drawn from above and facing right so the game can rotate it."""

import json
import math

from .paint import Picture, box, capsule, ellipse, polygon, ring

CELL = 64
WALK_FRAMES = 4


def _stride(frame):
    """Paw offset for a walk frame: a full sine over the cycle."""
    return math.sin(frame / WALK_FRAMES * 2 * math.pi)


def _tail(p, x, y, sway, colour, segments, radius):
    points = []
    for i in range(segments + 1):
        t = i / segments
        points.append((x - t * 20, y + math.sin(t * 4.2 + sway) * 6 * t))
    pairs = list(zip(points, points[1:]))
    for grow, paint in ((1.6, "1d1626"), (0, colour)):
        for i, ((ax, ay), (bx, by)) in enumerate(pairs):
            width = radius * (1 - 0.6 * i / segments)
            p.fill(capsule(ax, ay, bx, by, width + grow), paint)


def rat(frame):
    p = Picture(CELL, CELL)
    step = _stride(frame)
    _tail(p, 20, 32, frame / WALK_FRAMES * 2 * math.pi, "d99a94", 7, 2.6)
    for side in (-1, 1):
        p.outlined(ellipse(40 + 4 * step * side, 32 + 12 * side, 4.5, 3.2), "e3aba3")
        p.outlined(ellipse(24 - 4 * step * side, 32 + 12 * side, 5, 3.4), "e3aba3")
    p.outlined(ellipse(29, 32, 15, 11.5), "8d7a74", shade=0.9)
    p.fill(ellipse(27, 30, 10, 6), "a8958c", 0.55, soft=4)
    # The satchel strap tells the hero apart from any other rodent.
    p.fill(capsule(31, 21.5, 27, 42.5, 2.0), "c2413b")
    p.outlined(box(21, 36, 31, 44, 2), "e0a03c", width=1.2)
    p.outlined(ellipse(45, 32, 9.5, 8), "988680", shade=0.9)
    for side in (-1, 1):
        p.outlined(ellipse(40, 32 + 8.5 * side, 5.6, 5.2), "8d7a74")
        p.fill(ellipse(40.5, 32 + 8.5 * side, 3.4, 3.2), "e9aaa4")
        p.fill(ellipse(49, 32 + 3.6 * side, 1.7, 1.7), "120d18")
        p.fill(ellipse(49.6, 32 + 3.6 * side - 0.6, 0.7, 0.7), "ffffff")
    p.fill(ellipse(54, 32, 2.2, 2.0), "f08a8f")
    return p


def cat(frame, coat="d98a3d", stripe="a85f22"):
    p = Picture(CELL, CELL)
    step = _stride(frame)
    _tail(p, 18, 32, frame / WALK_FRAMES * 2 * math.pi + 1, coat, 7, 3.8)
    for side in (-1, 1):
        p.outlined(ellipse(44 + 5 * step * side, 32 + 11 * side, 6, 4), "f3dcb8")
        p.outlined(ellipse(20 - 5 * step * side, 32 + 12 * side, 6, 4.4), "f3dcb8")
    p.outlined(ellipse(29, 32, 18, 12.5), coat, shade=0.8)
    for x in (16, 23, 30):
        for side in (-1, 1):
            p.fill(capsule(x, 32 + 11 * side, x + 3, 32 + 4 * side, 1.9, 0.8), stripe)
    p.outlined(ellipse(48, 32, 11.5, 12), coat, shade=0.8)
    for side in (-1, 1):
        ear = polygon((40, 32 + 7 * side), (38, 32 + 16 * side), (48, 32 + 11 * side))
        p.outlined(ear, coat)
        p.fill(polygon((41, 32 + 9 * side), (40, 32 + 13.5 * side),
                       (45.5, 32 + 11 * side)), "f0a8a0")
        p.fill(ellipse(52.5, 32 + 4.6 * side, 2.7, 3), "d8f06a")
        p.fill(ellipse(53.2, 32 + 4.6 * side, 1.1, 2.4), "15101c")
        p.fill(capsule(42, 32 + 3 * side, 46, 32 + 2 * side, 1.2, 0.6), stripe)
    p.fill(ellipse(58, 32, 1.8, 1.8), "e06f74")
    return p


def toy(frame):
    """A clockwork beetle: it never stops and never looks."""
    p = Picture(CELL, CELL)
    for i, x in enumerate((20, 32, 44)):
        swing = 4 * _stride(frame + 2 * (i % 2))
        for side in (-1, 1):
            p.outlined(capsule(x, 32 + 12 * side, x + swing * side, 32 + 21 * side, 2),
                       "6b7686")
    p.outlined(ellipse(31, 32, 17, 14.5), "3d8fae", shade=1.1)
    p.outlined(ellipse(47, 32, 8, 9), "2d5f86", shade=0.9)
    p.fill(capsule(15, 32, 43, 32, 1.0), "1d3d58")
    for x, y in ((25, 25), (25, 39), (36, 25), (36, 39)):
        p.fill(ellipse(x, y, 2.8, 2.8), "f2d24b")
    turn = frame / WALK_FRAMES * math.pi
    dx, dy = math.cos(turn) * 8, math.sin(turn) * 8
    p.outlined(capsule(29 - dx, 32 - dy, 29 + dx, 32 + dy, 2.6), "e8b64a")
    p.outlined(ellipse(29, 32, 3.2, 3.2), "b9852a", width=1)
    for side in (-1, 1):
        p.fill(ellipse(51, 32 + 4 * side, 2.3, 2.3), "ff5b4d")
    return p


def owl(frame):
    p = Picture(CELL, CELL)
    flap = _stride(frame) * 3
    for side in (-1, 1):
        tip = (22 + flap, 32 + 29 * side)
        p.outlined(polygon((42, 32 + 5 * side), (44, 32 + 19 * side), tip,
                           (18, 32 + 17 * side), (22, 32 + 4 * side)), "7d6a5c")
        for k in range(4):
            y = 32 + (9 + 5 * k) * side
            p.fill(capsule(22 + k, y, 36, y, 1.1), "5b4a42")
    p.outlined(polygon((20, 27), (8, 25), (8, 39), (20, 37)), "6a584d")
    p.outlined(ellipse(32, 32, 15, 10), "8f7a68", shade=0.8)
    p.outlined(ellipse(45, 32, 10, 10.5), "a08b76", shade=0.7)
    for side in (-1, 1):
        p.fill(ellipse(48, 32 + 4.6 * side, 4.4, 4.4), "f2e6cf")
        p.fill(ellipse(48.8, 32 + 4.6 * side, 2.9, 2.9), "f0b429")
        p.fill(ellipse(49.2, 32 + 4.6 * side, 1.5, 1.5), "120d18")
    p.outlined(polygon((52, 30), (58, 32), (52, 34)), "e8a13a", width=1)
    return p


def button():
    p = Picture(CELL, CELL)
    p.outlined(ellipse(32, 32, 15, 15), "4fa3d8", shade=1.2)
    p.fill(ring(ellipse(32, 32, 11, 11), 1), "2f74a6")
    for x in (28, 36):
        for y in (28, 36):
            p.fill(ellipse(x, y, 2, 2), "1c3f5c")
    p.fill(ellipse(26, 24, 4, 2, -35), "ffffff", 0.7)
    return p


def jewel_ring():
    p = Picture(CELL, CELL)
    hoop = ellipse(32, 37, 13, 13)
    p.fill(ring(hoop, 4.6), "1d1626")
    p.fill(ring(hoop, 3), "f2c445", shade=1)
    p.outlined(polygon((32, 10), (41, 18), (32, 28), (23, 18)), "ef5f7a", shade=1)
    p.fill(polygon((32, 12), (36, 18), (32, 22), (28, 18)), "ffc2cd", 0.7)
    return p


def key():
    p = Picture(CELL, CELL)
    bow = ellipse(22, 32, 8, 8)
    p.fill(ring(bow, 4.8), "1d1626")
    p.outlined(capsule(30, 32, 52, 32, 2.6), "d9dfe8")
    for x in (44, 51):
        p.outlined(capsule(x, 34, x, 41, 2), "d9dfe8")
    p.fill(ring(bow, 3.2), "d9dfe8", shade=1)
    p.fill(capsule(28, 31, 50, 31, 0.9), "ffffff", 0.8)
    return p


def gem():
    p = Picture(CELL, CELL)
    p.outlined(polygon((20, 20), (44, 20), (54, 31), (32, 54), (10, 31)), "44d39a",
               shade=1)
    p.fill(polygon((20, 20), (32, 31), (10, 31)), "9df0cb", 0.8)
    p.fill(polygon((44, 20), (54, 31), (32, 31)), "2ba777", 0.7)
    p.fill(polygon((24, 31), (40, 31), (32, 52)), "7ae8bb", 0.7)
    return p


def heart():
    p = Picture(CELL, CELL)
    halves = [ellipse(24, 26, 10, 10), ellipse(40, 26, 10, 10),
              polygon((15.5, 31), (48.5, 31), (32, 52))]

    def shape(x, y):
        return min(h(x, y) for h in halves)
    p.outlined(shape, "e8475c", width=2, shade=0.9)
    p.fill(ellipse(24, 22, 4, 2.6, -30), "ffffff", 0.75)
    return p


def nest():
    p = Picture(CELL, CELL)
    p.outlined(ellipse(32, 33, 27, 25), "8a6236", shade=0.8)
    for i in range(44):
        angle = i * 2.399
        radius = 15 + (i * 7 % 11)
        x, y = 32 + math.cos(angle) * radius, 33 + math.sin(angle) * radius * 0.92
        turn = angle + math.pi / 2 + (i % 5 - 2) * 0.25
        dx, dy = math.cos(turn) * 6, math.sin(turn) * 6
        p.fill(capsule(x - dx, y - dy, x + dx, y + dy, 1.1),
               ("c79a55", "e0bd77", "6b4824")[i % 3])
    p.fill(ellipse(32, 33, 15, 13), "3b2716", soft=3)
    p.fill(ellipse(32, 34, 11, 9), "5c4022", 0.8, soft=3)
    return p


def spark():
    p = Picture(CELL, CELL)
    p.fill(ellipse(32, 32, 20, 20), "ffffff", 0.35, soft=20)
    p.fill(polygon((32, 4), (36, 28), (60, 32), (36, 36), (32, 60), (28, 36), (4, 32),
                   (28, 28)), "ffffff")
    return p


def alert():
    p = Picture(CELL, CELL)
    p.outlined(capsule(32, 14, 32, 36, 6, 4), "ffd84d", width=2.4)
    p.outlined(ellipse(32, 49, 5, 5), "ffd84d", width=2.4)
    return p


def _sheet():
    walkers = (("rat", rat), ("cat", cat), ("toy", toy), ("owl", owl))
    for name, draw in walkers:
        for frame in range(WALK_FRAMES):
            yield f"{name}-{frame}", draw(frame)
    for name, draw in (("button", button), ("ring", jewel_ring), ("key", key),
                       ("gem", gem), ("heart", heart), ("nest", nest),
                       ("spark", spark), ("alert", alert)):
        yield name, draw()


def atlas():
    """Returns the sheet's PNG bytes and the JSON that names its cells."""
    cells = list(_sheet())
    columns = 8
    rows = -(-len(cells) // columns)
    sheet = Picture(columns * CELL, rows * CELL)
    frames = {}
    for i, (name, picture) in enumerate(cells):
        x, y = i % columns * CELL, i // columns * CELL
        sheet.paste(picture, x, y)
        frames[name] = [x, y]
    table = {"image": "atlas.png", "cell": CELL, "walkFrames": WALK_FRAMES,
             "frames": frames}
    return sheet.encode(), (json.dumps(table, indent=2) + "\n").encode()


def icon():
    p = Picture(CELL, CELL)
    p.fill(box(0, 0, 64, 64, 14), "232046")
    p.fill(ellipse(32, 32, 26, 26), "f4d88a", 0.35, soft=16)
    body = rat(1)
    for i in range(0, len(body.data), 4):
        alpha = body.data[i + 3]
        if alpha > 0:
            colour = tuple(c / alpha for c in body.data[i:i + 3])
            p.put(i // 4 % CELL, i // 4 // CELL, colour, alpha)
    return p.encode()
