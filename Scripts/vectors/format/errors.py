"""Why a pack is refused (FORMAT.md §0.4), and what is wrong outside of one."""

CLASSES = ("not-a-pack", "unsupported", "no-usable-key", "wrong-key", "truncated", "damaged", "limit", "untrusted", "wrong-base")
EXIT_CODES = {name: 10 + index for index, name in enumerate(CLASSES)}


class Refused(Exception):
    """A pack is refused; `name` is one of CLASSES."""

    def __init__(self, name, message):
        super().__init__(f"{name}: {message}")
        self.name = name


class Problem(Exception):
    """Something outside the pack is wrong: a file, an argument, a known answer."""


def require(condition, message, name="damaged"):
    if not condition:
        raise Refused(name, message)
