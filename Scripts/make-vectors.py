#!/usr/bin/env python3
"""An independent implementation of the .pack format, and the maker of its test vectors.

Written from FORMAT.md alone; the paragraph signs below refer to its sections.
Needs Python 3.9 and the packages `cryptography` and `zstandard`.

  make-vectors.py known-answers                recompute the known answers of FORMAT.md
  make-vectors.py make DIR                     write the test vectors
  make-vectors.py check DIR                    read the vectors in DIR and compare with their heads
  make-vectors.py read PACK --key-hex HEX      check a pack, list or extract it
  make-vectors.py write DIR -o PACK …          write a pack
  … --base PACK                                read or write a delta over this base
  make-vectors.py wrap PACK -o COPY --to …     write a copy of a pack for further recipients

`read` ends with 0, or 1 (a problem outside the pack), 2 (usage), or with the class of §0.4:
10 not-a-pack, 11 unsupported, 12 no-usable-key, 13 wrong-key, 14 truncated, 15 damaged, 16 limit, 18 wrong-base.
"""

import sys

from vectors.command_line import main

sys.exit(main(__doc__))
