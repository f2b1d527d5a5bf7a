"""A tiny additive synthesiser and WAV writer."""

import io
import math
import struct
import wave

RATE = 22050
TABLE = 4096
SINE = [math.sin(2 * math.pi * i / TABLE) for i in range(TABLE)]
STEPS = {"C": -9, "D": -7, "E": -5, "F": -4, "G": -2, "A": 0, "B": 2}


def frequency(note):
    """Hertz for names such as A4, F#3 or Bb2."""
    shift = {"#": 1, "b": -1}.get(note[1], 0)
    octave = int(note[-1]) - 4
    return 440 * 2 ** ((STEPS[note[0]] + shift + 12 * octave) / 12)


class Random:
    """xorshift32: the standard library's generator may change, this cannot."""

    def __init__(self, seed):
        self.state = seed or 1

    def bipolar(self):
        s = self.state
        s ^= (s << 13) & 0xFFFFFFFF
        s ^= s >> 17
        s ^= (s << 5) & 0xFFFFFFFF
        self.state = s
        return s / 0x80000000 - 1


def tone(hertz, seconds, partials, attack=0.004, release=0.03, glide=0.0):
    """Sums partials (multiple, level, decay per second), with soft ends.

    `glide` is how many octaves a second the pitch moves.
    """
    count = int(seconds * RATE)
    out = [0.0] * count
    bend = 2 ** (glide / RATE)
    for multiple, level, decay in partials:
        step = hertz * multiple * TABLE / RATE
        if hertz * multiple > RATE / 2.2:
            continue
        keep = math.exp(-decay / RATE)
        phase = 0.0
        for i in range(count):
            out[i] += level * SINE[int(phase) % TABLE]
            phase += step
            step *= bend
            level *= keep
    return shaped(out, attack, release)


def shaped(samples, attack, release):
    """Fades both ends in place, since a hard edge is heard as a click."""
    count = len(samples)
    rise, fall = max(1, int(attack * RATE)), max(1, int(release * RATE))
    for i in range(min(rise, count)):
        samples[i] *= i / rise
    for i in range(min(fall, count)):
        samples[count - 1 - i] *= i / fall
    return samples


def hiss(seconds, decay, seed, smooth=0.0):
    """Decaying noise; `smooth` in [0, 1) is a one-pole low-pass."""
    source, level, held = Random(seed), 1.0, 0.0
    keep = math.exp(-decay / RATE)
    out = []
    for _ in range(int(seconds * RATE)):
        held = held * smooth + source.bipolar() * (1 - smooth)
        out.append(held * level)
        level *= keep
    return shaped(out, 0.002, 0.01)


def mix(target, samples, seconds, gain):
    """Adds samples, wrapping at the end so that a loop has no seam."""
    size = len(target)
    at = int(seconds * RATE) % size
    for sample in samples:
        target[at] += sample * gain
        at += 1
        if at == size:
            at = 0


def echo(samples, seconds, feedback):
    """A feedback echo run twice around the loop, so its tail wraps as well."""
    size, delay = len(samples), int(seconds * RATE)
    wet = list(samples)
    for _ in range(2):
        wet = [samples[i] + feedback * wet[i - delay] for i in range(size)]
    return wet


def encode(samples, peak=0.85):
    """Mono 16-bit WAV bytes, scaled so the loudest sample reaches `peak`."""
    scale = peak * 32767 / max(1e-9, max(abs(s) for s in samples))
    frames = struct.pack(f"<{len(samples)}h", *(round(s * scale) for s in samples))
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(frames)
    return out.getvalue()
