"""Vectors of shards: their files, and what the second implementation makes of them."""

import json
from collections import namedtuple

from vectors.cases.files import file_bytes, parse_values
from vectors.cases.manifests.samples import signed_with
from vectors.format.canonical_json import canonical_json
from vectors.format.errors import Refused
from vectors.format.frames import run_frame
from vectors.format.primitives import sha256
from vectors.format.shards import read_shard

ShardVector = namedtuple("ShardVector", "name expect comment signed shard data ids")


def ids_of(data, shard, signed):
    return [entry["id"] for entry in read_shard(data, shard, signed)]


def shard_vector(name, expect, comment, signed, shard, data):
    return ShardVector(name, expect, comment, signed, shard, data, ids_of(data, shard, signed) if expect == "ok" else [])


def content_vector(name, expect, comment, value, count, **changes):
    """A shard of this JSON, the only one, with a reference that fits."""
    value = value if isinstance(value, bytes) else canonical_json(value).encode("utf-8")
    frame = run_frame(value)
    reference = {"contentSize": len(value), "maxCount": count, "size": len(frame), "sha256": sha256(frame).hex()}
    return shard_vector(name, expect, comment, signed_with(reference, **changes), 0, frame)


def shard_vector_bytes(vector):
    """§10.3"""
    return file_bytes([f"expect: {vector.expect}", f"signed: {canonical_json(vector.signed)}", f"shard: {vector.shard}", f"comment: {vector.comment}",
                       *(f"id: {canonical_json(name)}" for name in vector.ids)], vector.data)


def parse_shard_vector(name, data):
    """§10.3"""
    values, body = parse_values(name, data, ("expect", "signed", "shard", "comment", "id"))
    return ShardVector(name, values["expect"][0], values["comment"][0], json.loads(values["signed"][0]), int(values["shard"][0]), body,
                       list(map(json.loads, values["id"])))


def check_shard_vector(vector, verbose):
    """The problems of a vector, as texts."""
    try:
        found = ids_of(vector.data, vector.shard, vector.signed)
    except Refused as error:
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif found != vector.ids:
        yield "the ids differ"
