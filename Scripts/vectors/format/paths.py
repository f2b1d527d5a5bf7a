"""The paths of entries (FORMAT.md §5.1, §5.2)."""

import re
import unicodedata

from vectors.format.errors import Problem, Refused, require
from vectors.format.limits import MAX_COMPONENT, MAX_DEPTH_OF_PATH, MAX_DIRECTORIES, MAX_PATH


def forbidden(code):
    """§5.1"""
    return code <= 0x1F or 0x7F <= code <= 0x9F or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069 \
        or code == 0x5C


def check_path(path):
    """§5.1: what concerns one path alone."""
    require(len(path) >= 1, "an empty path")
    require(len(path) <= MAX_PATH, "a path above 1024 bytes", "limit")
    require(path.count(b"/") < MAX_DEPTH_OF_PATH, "a path of more than 64 components", "limit")
    try:
        text = path.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("damaged", f"a path that is not UTF-8: {path!r}")
    require(unicodedata.normalize("NFC", text) == text, f"a path that is not in form C: {path!r}")
    require(not any(forbidden(ord(c)) for c in text), f"a forbidden character in {text!r}")
    components = path.split(b"/")
    for component in components:
        require(1 <= len(component) <= MAX_COMPONENT, f"a component of {len(component)} bytes")
        require(component not in (b".", b".."), f"a component . or .. in {text!r}")
        require(not component.startswith(b"._"), f"a component that begins with ._ in {text!r}")
    require(components[0] != b".pack", "the name .pack is reserved")


def leading_directories(path):
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


class PathOrder:
    """§5.1: what concerns the paths together, which come in index order."""

    def __init__(self):
        self.last, self.paths = b"", set()

    def require_next(self, path):
        require(self.last < path, f"paths out of order: {path!r} after {self.last!r}")
        require(self.paths.isdisjoint(leading_directories(path)), f"a leading directory of {path!r} is a record")
        self.last = path
        self.paths.add(path)


def check_directories(paths, are_directories):
    """§6: directories, implied ones and the root included."""
    directories = {parent for path in paths for parent in leading_directories(path)}
    count = 1 + len(directories) + sum(are_directories)
    require(count <= MAX_DIRECTORIES, f"{count} directories", "limit")


INVISIBLE = [(0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
             (0x200B, 0x200F), (0x2028, 0x2029), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
             (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)]
DEVICES = {"con", "prn", "aux", "nul", "conin$", "conout$"} | {a + b for a in ("com", "lpt") for b in "123456789¹²³"}


def portability_problem(path):
    """§5.2: what concerns one path alone."""
    text = path.decode("utf-8")
    if re.search(r'[:*?"<>|]', text):
        return "a character that Windows refuses"
    if any(first <= ord(c) <= last for c in text for first, last in INVISIBLE):
        return "an invisible character"
    for component in text.split("/"):
        if component[-1] in ". ":
            return "a component that ends in a dot or a space"
        if component.split(".")[0].lower() in DEVICES:
            return "a Windows device name"
    return None


def fold_key(path):
    """§5.2"""
    text = unicodedata.normalize("NFC", path.decode("utf-8"))
    return unicodedata.normalize("NFC", text.casefold())


def check_portability(paths):
    """§5.2, for the writer."""
    keys = {}
    for path in paths:
        problem = portability_problem(path)
        if problem:
            raise Problem(f"{path!r}: {problem}")
        for name in list(leading_directories(path)) + [path]:
            other = keys.setdefault(fold_key(name), name)
            if other != name:
                raise Problem(f"{name!r} and {other!r} differ only in case or form")
