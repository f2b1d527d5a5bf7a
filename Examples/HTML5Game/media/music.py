"""Two looping tunes, composed as text and rendered note by note."""

from functools import lru_cache

from .synth import RATE, echo, encode, frequency, hiss, mix, tone

INSTRUMENTS = {
    "box": ([(1, 1, 3.2), (2, 0.35, 5), (4, 0.25, 9), (6.2, 0.08, 16)], 0.003),
    "pluck": ([(1, 1, 5), (2, 0.6, 7), (3, 0.35, 9), (4, 0.2, 12), (5, 0.1, 15)], 0.003),
    "pad": ([(1, 1, 0.4), (1.006, 0.8, 0.4), (2, 0.3, 0.8), (3, 0.12, 1)], 0.5),
    "bass": ([(1, 1, 2.2), (2, 0.45, 3.5), (3, 0.15, 5)], 0.008),
    "flute": ([(1, 1, 0.6), (2, 0.2, 1), (3, 0.08, 1.4)], 0.06),
}

CHORDS = {
    "Am": "A3 C4 E4 A4", "F": "F3 A3 C4 F4", "C": "G3 C4 E4 G4", "G": "G3 B3 D4 G4",
    "E": "G#3 B3 E4 G#4", "Dm": "A3 D4 F4 A4", "Gm": "G3 Bb3 D4 G4",
    "Bb": "F3 Bb3 D4 F4", "A": "A3 C#4 E4 A4",
}

EVENING = {
    "tempo": 92,
    "chords": "Am F C G Am F C E Dm Am F C Dm Am E Am",
    # One bar a line: note:beats, with - for a rest.
    "melody": """
        E5:1.5 D5:.5 C5:1 A4:1 | C5:1.5 A4:.5 F4:1 A4:1
        G4:1 C5:1 E5:1 G5:1 | D5:3 -:1
        E5:1.5 D5:.5 C5:1 E5:1 | A5:1.5 G5:.5 F5:1 C5:1
        E5:1 D5:.5 C5:.5 G4:1 C5:1 | B4:2 E5:1 G#5:1
        A5:1 F5:1 D5:1 F5:1 | E5:1.5 C5:.5 A4:2
        F5:1 E5:.5 D5:.5 C5:1 A4:1 | G4:1 C5:1 E5:2
        D5:1 E5:.5 F5:.5 A5:1 F5:1 | E5:1 A5:1 C6:1 A5:1
        B5:1 G#5:1 E5:1 D5:1 | A4:3 -:1
    """,
    "lead": "box", "arpeggio": "pluck", "figure": (0, 2, 1, 3, 2, 1, 3, 2),
    "swing": 0.0, "drums": 4,
}

MIDNIGHT = {
    "tempo": 104,
    "chords": "Dm Dm Bb A Dm Gm Bb A F C Gm Dm Gm Bb A Dm",
    "melody": """
        D5:.5 -:.5 A4:.5 -:.5 F5:1 E5:1 | D5:1 A4:.5 -:.5 D5:2
        F5:1 D5:.5 -:.5 Bb4:1 D5:1 | C#5:1 E5:.5 -:.5 A5:2
        D5:.5 -:.5 F5:.5 -:.5 A5:1 F5:1 | G5:1 Bb5:.5 A5:.5 G5:1 D5:1
        F5:1 E5:.5 D5:.5 F5:2 | E5:1 C#5:1 A4:2
        A5:1.5 G5:.5 F5:1 C5:1 | E5:1.5 D5:.5 C5:1 G4:1
        Bb4:1 D5:1 G5:1 Bb5:1 | A5:2 F5:1 D5:1
        G5:1 D5:.5 -:.5 Bb4:1 G4:1 | F5:1 D5:.5 -:.5 Bb4:1 F5:1
        E5:.5 F5:.5 E5:.5 C#5:.5 A4:1 C#5:1 | D5:3 -:1
    """,
    "lead": "flute", "arpeggio": "pluck", "figure": (0, 1, 3, 1, 2, 1, 3, 2),
    "swing": 0.12, "drums": 0,
}


@lru_cache(maxsize=None)
def _note(instrument, name, seconds):
    partials, attack = INSTRUMENTS[instrument]
    release = 0.4 if instrument == "pad" else 0.06
    return tuple(tone(frequency(name), seconds, partials, attack, release))


def _melody(tune, beat, out):
    at = 0.0
    for word in tune["melody"].replace("|", " ").split():
        name, beats = word.split(":")
        length = float(beats) * beat
        if name != "-":
            tail = length + (0.8 if tune["lead"] == "box" else 0.08)
            mix(out, _note(tune["lead"], name, round(tail, 3)), at, 0.42)
        at += length


def _accompaniment(tune, beat, out):
    for bar, chord in enumerate(tune["chords"].split()):
        notes = CHORDS[chord].split()
        start = bar * 4 * beat
        for note in notes[:3]:
            mix(out, _note("pad", note, round(4.4 * beat, 3)), start, 0.10)
        root = chord[0] + ("b" if chord[1:2] == "b" else "") + "2"
        for b, level in ((0, 0.5), (1.5, 0.28), (2, 0.4), (3.5, 0.25)):
            mix(out, _note("bass", root, round(beat, 3)), start + b * beat, level)
        for i, pick in enumerate(tune["figure"]):
            late = tune["swing"] * beat if i % 2 else 0
            at = start + i * beat / 2 + late
            level = 0.2 if i % 4 == 0 else 0.15
            mix(out, _note(tune["arpeggio"], notes[pick], round(beat, 3)), at, level)


def _drums(tune, beat, out):
    shaker = hiss(0.07, 55, 31, 0.1)
    thump = tone(95, 0.22, [(1, 1, 16)], glide=-4)
    bars = len(tune["chords"].split())
    for bar in range(tune["drums"], bars):
        for eighth in range(8):
            late = tune["swing"] * beat if eighth % 2 else 0
            at = (bar * 4 + eighth / 2) * beat + late
            mix(out, shaker, at, 0.10 if eighth % 2 else 0.05)
            if eighth in (0, 5):
                mix(out, thump, at, 0.34)


def render(tune):
    """Returns the tune as WAV bytes; its end runs into its beginning."""
    beat = 60 / tune["tempo"]
    bars = len(tune["chords"].split())
    out = [0.0] * round(bars * 4 * beat * RATE)
    _melody(tune, beat, out)
    _accompaniment(tune, beat, out)
    _drums(tune, beat, out)
    return encode(echo(out, beat * 0.75, 0.26))


def tunes():
    return {"evening": render(EVENING), "midnight": render(MIDNIGHT)}
