"""Short sound effects."""

from .synth import RATE, encode, frequency, hiss, mix, tone

BELL = [(1, 1, 7), (2, 0.5, 10), (3, 0.2, 14), (5.4, 0.12, 22)]
REED = [(1, 1, 2), (2, 0.6, 3), (3, 0.4, 4), (4, 0.2, 5), (5, 0.15, 6)]


def _phrase(seconds, notes, partials, length):
    """Plays (start, note) pairs into a fresh buffer."""
    out = [0.0] * int(seconds * RATE)
    for at, note in notes:
        room = min(length, seconds - at)
        mix(out, tone(frequency(note), room, partials), at, 1.0)
    return out


def pick():
    return _phrase(0.35, [(0, "E6"), (0.07, "B6")], BELL, 0.28)


def deposit():
    notes = [(0, "C5"), (0.08, "E5"), (0.16, "G5"), (0.24, "C6")]
    return _phrase(0.8, notes, BELL, 0.5)


def dash():
    out = hiss(0.28, 14, 77, 0.55)
    mix(out, tone(300, 0.2, [(1, 1, 14)], glide=4), 0, 0.4)
    return out


def hurt():
    out = tone(520, 0.45, REED, glide=-4.5)
    mix(out, hiss(0.15, 30, 5, 0.3), 0, 1.2)
    return out


def spotted():
    out = tone(330, 0.5, REED, attack=0.06, release=0.2, glide=1.4)
    mix(out, hiss(0.4, 8, 9, 0.7), 0, 0.5)
    return out


def hoot():
    out = [0.0] * int(1.0 * RATE)
    soft = [(1, 1, 1.5), (2, 0.12, 4)]
    mix(out, tone(392, 0.25, soft, 0.05, 0.1, -0.2), 0, 1)
    mix(out, tone(370, 0.55, soft, 0.08, 0.25, -0.5), 0.36, 1)
    return out


def full():
    return _phrase(0.3, [(0, "A3"), (0.1, "F3")], REED, 0.16)


def won():
    notes = [(0, "C5"), (0.14, "E5"), (0.28, "G5"), (0.42, "C6"), (0.42, "E5"),
             (0.7, "A5"), (0.7, "F5"), (0.98, "B5"), (0.98, "G5"),
             (1.26, "C6"), (1.26, "G5"), (1.26, "E5"), (1.26, "C5")]
    return _phrase(2.4, notes, BELL, 1.1)


def lost():
    notes = [(0, "E4"), (0.3, "D#4"), (0.6, "D4"), (0.9, "C4"), (0.9, "A3")]
    return _phrase(2.0, notes, REED, 0.9)


def click():
    return tone(1250, 0.07, [(1, 1, 60), (2.7, 0.4, 90)])


def step(kind):
    """A footfall on wood, grass or stone."""
    if kind == "grass":
        return hiss(0.09, 45, 21, 0.45)
    out = hiss(0.08, 70, 22, 0.6)
    pitch, ring = (180, 50) if kind == "wood" else (420, 80)
    mix(out, tone(pitch, 0.08, [(1, 1, ring), (2.3, 0.4, ring)]), 0, 0.5)
    return out


def shared():
    """The effects every level uses, by file name."""
    makers = (pick, deposit, dash, hurt, spotted, hoot, full, won, lost, click)
    return {maker.__name__: encode(maker(), 0.7) for maker in makers}


def footstep(kind):
    return encode(step(kind), 0.5)
