"""The arguments of Scripts/make-vectors.py."""

import argparse
import sys

from vectors.answers.commands import command_known_answers
from vectors.cases.commands import command_check, command_make
from vectors.format.commands import command_read, command_wrap, command_write
from vectors.format.errors import EXIT_CODES, Problem, Refused


def add_key_arguments(parser):
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--key-hex", metavar="KEY", help="64 hex digits, or a key text (§2.5)")
    group.add_argument("--key-file", metavar="FILE", help="a file with one key text")


def add_base_argument(parser):
    parser.add_argument("--base", metavar="PACK", action="append", default=[],
                        help="a base of a delta (§13): a full pack or a directory; once for each, in order")


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    known = commands.add_parser("known-answers", help="recompute the known answers of FORMAT.md")
    known.add_argument("--format", metavar="FORMAT.md", help="check too that the values stand in this document")
    known.set_defaults(run=command_known_answers)
    make = commands.add_parser("make", help="write the test vectors into the folders valid, refused-open, hostile, others, manifest, shards, rollouts, deltas, leads and openers")
    make.add_argument("directory", metavar="DIR")
    make.set_defaults(run=command_make)
    check = commands.add_parser("check", help="read test vectors and compare with their heads")
    check.add_argument("directory", metavar="DIR")
    check.add_argument("--verbose", action="store_true", help="say why each vector is refused")
    check.set_defaults(run=command_check)
    read = commands.add_parser("read", help="check a pack as a client does; list or extract it")
    read.add_argument("pack", metavar="PACK")
    add_key_arguments(read)
    read.add_argument("--list", action="store_true", help="print `path size sha256 kind` lines")
    read.add_argument("--to", metavar="DIR", help="extract into DIR, which must not exist")
    read.add_argument("--verify", action="store_true", help="parse the tar too and compare it with the index")
    add_base_argument(read)
    read.set_defaults(run=command_read)
    write = commands.add_parser("write", help="pack a directory")
    write.add_argument("directory", metavar="DIR")
    write.add_argument("-o", "--output", metavar="PACK", required=True)
    add_key_arguments(write)
    write.add_argument("--name", required=True, help="name of the pack (§1.1)")
    write.add_argument("--pack-version", type=int, default=1)
    write.add_argument("--segment-size", type=int, default=65536)
    write.add_argument("--frame-size", type=int, default=1 << 20)
    write.add_argument("--level", type=int, default=3, help="zstd level")
    write.add_argument("--random-salt", action="store_true", help="the random salt of §2.4")
    add_base_argument(write)
    write.set_defaults(run=command_write)
    wrap = commands.add_parser("wrap", help="write a copy of a pack for further recipients")
    wrap.add_argument("pack", metavar="PACK")
    wrap.add_argument("-o", "--output", metavar="COPY", required=True)
    add_key_arguments(wrap)
    wrap.add_argument("--to", metavar="KEY", action="append", default=[], help="the public key of a recipient (pkw1-, §2.5)")
    wrap.add_argument("--to-key-file", metavar="FILE", action="append", default=[], help="a file with a key that the recipient has, too")
    wrap.set_defaults(run=command_wrap)
    return parser.parse_args()


def main(description):
    """Runs the command that the arguments name. Returns the exit status."""
    arguments = parse_arguments(description)
    try:
        arguments.run(arguments)
    except Refused as error:
        print(error, file=sys.stderr)
        return EXIT_CODES[error.name]
    except (Problem, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0
