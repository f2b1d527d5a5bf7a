"""What is computed, compared with the values of FORMAT.md."""

import re

from vectors.format.errors import Problem


class Answers:
    """Counts comparisons; the first that differs ends the run. With the text of FORMAT.md, every
    value given as hex of 8 digits or more must also stand there."""

    def __init__(self, document=None):
        self.count = 0
        self.document = document and re.sub(r"\s", "", document)

    def equal(self, name, got, want):
        self.count += 1
        in_document = isinstance(want, str)
        if isinstance(got, bytes):
            got = got.hex()
        if isinstance(want, bytes):
            want = want.hex()
        if isinstance(want, str):
            want = re.sub(r"\s", "", want)
        if got != want:
            raise Problem(f"{name}: computed {got}, FORMAT.md has {want}")
        if self.document and in_document and re.fullmatch(r"[0-9a-f]{8,}", want) and want not in self.document:
            raise Problem(f"{name}: {want} is not in the document")
