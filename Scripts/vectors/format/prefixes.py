"""What the windows of a stream are compressed against (FORMAT.md §13.6)."""

from collections import namedtuple

from vectors.format.delta_head import NO_PREFIX
from vectors.format.limits import MAX_CONTEXT, MAX_HISTORY, MAX_REACH, MIN_REACH

NARROWINGS = (1, 2, 4, 8)
# A run of literals: its place among the literals, the end of the copy before and the place of the copy after (or None).
Gap = namedtuple("Gap", "start length before after")


def gaps_of(length, copies):
    """The gaps of a stream that have literals."""
    at, done, before = 0, 0, None
    for copy in copies:
        if copy.gap:
            yield Gap(at, copy.gap, before, copy.place)
        at, done, before = at + copy.gap, done + copy.gap + copy.length, copy.place + copy.length
    if done < length:
        yield Gap(at, length - done, before, None)


def ranges_of(base, gap, narrowing):
    """The ranges of the base string, as (start, end), beside the copies around a gap."""
    reach = min(max(2 * gap.length // narrowing, MIN_REACH), MAX_REACH)
    if gap.before is not None:
        part = base.part(gap.before - 1)
        yield max(gap.before - reach // 2, part.start), min(gap.before + reach, part.end)
    if gap.after is not None:
        part = base.part(gap.after)
        yield max(gap.after - reach, part.start), min(gap.after + reach // 2, part.end)


def merged(ranges):
    """The ranges in ascending order, those that overlap or touch as one."""
    result = []
    for start, end in sorted(ranges):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, end))
    return result


def context_ranges(base, gaps, start, end, room):
    """The context of the literals start … end−1: what fits into the room, range by range."""
    touched = [gap for gap in gaps if gap.start < end and start < gap.start + gap.length]
    for narrowing in NARROWINGS:
        ranges = merged(part for gap in touched for part in ranges_of(base, gap, narrowing))
        if sum(last - first for first, last in ranges) <= room:
            break
    for first, last in ranges:
        if last - first <= room:
            room -= last - first
            yield first, last


def prefix_bytes(base, gaps, start, end, before, prefix, extra):
    """Extra ranges, context and history of a window with the literals start … end−1; `before` are the literals before it, or the last of them."""
    if prefix == NO_PREFIX:
        return b""
    room = MAX_CONTEXT - sum(length for _, length in extra)
    context = [base.read(first, last - first) for first, last in context_ranges(base, gaps, start, end, room)]
    return b"".join([*(base.read(*part) for part in extra), *context, before[-MAX_HISTORY:]])
