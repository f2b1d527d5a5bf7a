"""Canonical JSON (FORMAT.md §9.1)."""

import json

from vectors.format.errors import Refused, require
from vectors.format.limits import MAX_DEPTH, MAX_INTEGER


def canonical_json(value):
    """§9.1: RFC 8785 for what manifests use."""
    if isinstance(value, dict):
        return "{" + ",".join(canonical_json(k) + ":" + canonical_json(value[k]) for k in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(canonical_json(v) for v in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
    return '"' + "".join(short.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in value) + '"'


def unique_keys(pairs):
    require(len({key for key, _ in pairs}) == len(pairs), "a key stands twice")
    return dict(pairs)


def refuse_number(text):
    raise Refused("damaged", f"{text} is no plain integer")


def check_values(value, depth):
    """§9.1: what a canonical document may hold."""
    require(value is not None, "null")
    if isinstance(value, (dict, list)):
        require(depth <= MAX_DEPTH, f"depth {depth}")
        for key in value if isinstance(value, dict) else ():
            require(key.isascii(), f"the key {key} is not ASCII")
        for item in value.values() if isinstance(value, dict) else value:
            check_values(item, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        require(0 <= value <= MAX_INTEGER, f"{value} is out of range")


def parse_canonical(data, depth):
    """§9.1: parsed by a JSON reader that allows everything, and compared with what it would be written as."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=unique_keys, parse_float=refuse_number,
                           parse_constant=refuse_number)
    except (ValueError, RecursionError) as error:
        raise Refused("damaged", f"not JSON: {error}")
    check_values(value, depth)
    require(canonical_json(value).encode("utf-8", "surrogatepass") == data, "not the canonical form")
    return value
