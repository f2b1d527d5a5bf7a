#!/usr/bin/env python3
"""Writes every binary file of the game.

Usage: make-media.py [--check]

Only the standard library is used and every random number comes from a fixed
seed, so a second run writes the same bytes. With --check nothing is written;
the exit status says whether the committed files are what would be written.
"""

import sys
from pathlib import Path

# A cache directory beside the sources would only be litter in the example.
sys.dont_write_bytecode = True

from media import music, scenery, sounds, sprites, wasm  # noqa: E402

ASSETS = Path(__file__).resolve().parent / "game" / "assets"

# Two of the levels have wooden floors and therefore ship the same footstep.
FOOTSTEPS = {"01-pantry": "wood", "02-garden": "grass", "03-attic": "wood",
             "04-museum": "stone"}


def media():
    """Yields (path below assets, bytes)."""
    yield "physics/burrow.wasm", wasm.module()
    sheet, table = sprites.atlas()
    yield "sprites/atlas.png", sheet
    yield "sprites/atlas.json", table
    yield "icon.png", sprites.icon()
    yield "title.png", scenery.title()
    for level, ground in FOOTSTEPS.items():
        yield f"levels/{level}/floor.png", scenery.floor(level)
        yield f"levels/{level}/tiles.png", scenery.tiles(level)
        yield f"levels/{level}/sounds/step.wav", sounds.footstep(ground)
    for name, data in sounds.shared().items():
        yield f"sounds/{name}.wav", data
    for name, data in music.tunes().items():
        yield f"music/{name}.wav", data


def main():
    check = sys.argv[1:] == ["--check"]
    stale = 0
    for name, data in media():
        path = ASSETS / name
        if path.is_file() and path.read_bytes() == data:
            print(f"same     {len(data):9} {name}")
            continue
        stale += 1
        print(f"{'differs' if check else 'written'}  {len(data):9} {name}")
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
