#!/usr/bin/env python3
"""Makes a tree of files for Scripts/soak. The same seed gives the same tree."""

import argparse
import os
import random

MIB = 1 << 20
FRAME = 1 << 20
SEGMENT = 65_536 - 16


def write(path, pieces, executable=False):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        for piece in pieces:
            file.write(piece)
    if executable:
        os.chmod(path, 0o755)


def large(noise, size):
    """Yields content of which half compresses and half does not. Each megabyte is different."""
    for number in range(size // MIB):
        half = noise.randbytes(MIB // 2)
        yield half + number.to_bytes(8, "big") * (MIB // 16)


def plain(root, noise, megabytes):
    for number in range(megabytes // 8):
        write(f"{root}/{number:04}/data.bin", large(noise, 8 * MIB))


def awkward(root, noise):
    write(f"{root}/large.bin", large(noise, 3 << 30))
    for number in range(100_000):
        size = noise.choice((0, 1, 17, 500, 2_000)) if number % 10 else 5_000
        write(f"{root}/small/{number // 1_000:03}/{number:06}.{noise.choice(('txt', 'json', 'png'))}", [noise.randbytes(size)], number % 97 == 0)
    for edge in (512, SEGMENT, SEGMENT - 40, 2 * SEGMENT, FRAME, FRAME - 512, 2 * FRAME, 8 * MIB):
        for size in (edge - 1, edge, edge + 1):
            write(f"{root}/edges/{size}.bin", [noise.randbytes(size)])
    for number in range(20):
        write(f"{root}/identical/{number}.dat", [b"the same in all of them\n" * 5_000], number % 2 == 0)
    write(f"{root}/{'n' * 251}.txt", [b"255 bytes"])
    write(f"{root}/{'漢' * 84}.md", [b"255 bytes in UTF-8"])
    write(f"{root}/ünï/çödé/ñandú 漢字 🐀.txt", ["non-ASCII, composed\n".encode()])
    write(f"{root}/{'/'.join(['deep'] * 63)}/leaf", [b"leaf"])
    os.makedirs(f"{root}/empty/directory")
    os.makedirs(f"{root}/ünï/leer")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", help="the directory to make")
    parser.add_argument("seed", type=int, help="the seed of the random numbers")
    parser.add_argument("kind", help="awkward, plain:MEGABYTES or noise:MEGABYTES")
    options = parser.parse_args()
    root, kind = options.directory, options.kind
    noise = random.Random(options.seed)
    if kind == "awkward":
        awkward(root, noise)
    elif kind.startswith("noise:"):
        for number in range(int(kind.removeprefix("noise:"))):
            write(f"{root}/{number:04}.bin", [noise.randbytes(1_000_000)])
    else:
        plain(root, noise, int(kind.removeprefix("plain:")))


if __name__ == "__main__":
    main()
