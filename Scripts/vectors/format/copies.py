"""What a stream has in common with the bases (FORMAT.md §13.5)."""

from vectors.format.delta_head import Copy
from vectors.format.limits import MAX_COPY, MIN_COPY


def common_length(one, at, other, place, most):
    """How many bytes are the same from there on, `most` at most."""
    length, step = 0, 4096
    while step:
        while length + step <= most and one[at + length:at + length + step] == other[place + length:place + length + step]:
            length += step
        step //= 4
    return length


def find_copies(stream, base, shortest=MIN_COPY):
    """A writer's choice: (offset in the stream, place, length), found by pieces of 32 bytes."""
    text, known = base.read(0, base.length), {}
    step = 1 if len(text) < 1 << 16 else MIN_COPY
    for part in base.parts:
        for place in range(part.start, part.end - MIN_COPY + 1, step):
            known.setdefault(text[place:place + MIN_COPY], place)
    at = plain = 0
    while at + MIN_COPY <= len(stream):
        place = known.get(stream[at:at + MIN_COPY])
        if place is None:
            at += 1
            continue
        part, first = base.part(place), at
        while first > plain and place > part.start and stream[first - 1] == text[place - 1]:
            first, place = first - 1, place - 1
        length = common_length(stream, first, text, place, min(MAX_COPY, len(stream) - first, part.end - place))
        if length >= shortest:
            yield first, place, length
            plain = first + length
        at = max(at + 1, first + length if length >= shortest else 0)


def copies_at(places):
    """Copies of (offset in the stream, place, length)."""
    result, end = [], 0
    for at, place, length in places:
        result.append(Copy(at - end, place, length))
        end = at + length
    return result


def literal_bytes(stream, copies):
    """What the copies leave of a stream."""
    parts, at = [], 0
    for copy in copies:
        parts.append(stream[at:at + copy.gap])
        at += copy.gap + copy.length
    return b"".join([*parts, stream[at:]])
