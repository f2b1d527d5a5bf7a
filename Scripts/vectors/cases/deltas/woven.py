"""New contents of which it is said what is copied, and bases that show what a prefix has of them."""

from vectors.cases.deltas.vector import delta_vector, starts_of
from vectors.cases.samples import file, noise
from vectors.format.base_string import BaseString
from vectors.format.delta_head import Range
from vectors.format.limits import MAX_CONTEXT
from vectors.format.matches import prefix_frame
from vectors.format.trees import FileTree

# Two contents in which every place is another.
NOISY = (file("c.bin", noise(3000, b"c.bin")), file("d.bin", noise(600, b"d.bin")))
_, C_PLACE, D_PLACE, NOISY_END = starts_of(NOISY)
# The same behind a content that fills a prefix.
WIDE = (file("a.bin", bytes(MAX_CONTEXT)), *NOISY)
_, WIDE_A, WIDE_C, WIDE_D, WIDE_END = starts_of(WIDE)


def base_bytes(*trees):
    base = BaseString(list(map(FileTree, trees)), writes=True)
    return base.read(0, base.length)


NOISY_TEXT, WIDE_TEXT = base_bytes(NOISY), base_bytes(WIDE)


def weave(text, pieces):
    """The content, and its copies as delta_payload takes them. A piece is literals, or (place, length) of what is copied from the text."""
    content, places = b"", []
    for piece in pieces:
        if isinstance(piece, tuple):
            places.append((len(content), *piece))
            piece = text[piece[0]:piece[0] + piece[1]]
        content += piece
    return content, places


def woven_vector(name, comment, *pieces, over=NOISY, text=NOISY_TEXT, items=None, copies=None, **changes):
    """A delta whose new contents are these pieces: those of one file, or of `items` that the tree has besides."""
    content, places = weave(text, pieces)
    added = [file("m", content)] if items is None else items
    return delta_vector(name, comment, [*over, *added], over=[over], copies={"contents": places} if copies is None else copies, **changes)


def near_frame(content, prefix):
    """A frame whose matches begin in the last bytes of the prefix, so that a long one is soon searched."""
    return prefix_frame(content, prefix[-5000:])


def filling(*ranges, room):
    """Extra ranges over WIDE that end with these, and leave this room to the context."""
    return [Range(WIDE_A, MAX_CONTEXT - room - sum(part.length for part in ranges)), *ranges]
