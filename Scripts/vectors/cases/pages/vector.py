"""Vectors of pages: their files, and what the second implementation makes of them."""

import json
from collections import namedtuple

from vectors.cases.files import file_bytes, parse_values
from vectors.cases.manifests.samples import signed_with
from vectors.format.canonical_json import canonical_json
from vectors.format.errors import Refused
from vectors.format.frames import run_frame
from vectors.format.pages import end_of_page, page_keys, read_page
from vectors.format.primitives import sha256

PageVector = namedtuple("PageVector", "name expect comment signed page data keys")


def page_vector(name, expect, comment, signed, page, data):
    keys = []
    if expect == "ok":
        references = signed["pages"]
        keys = page_keys(references[page]["kind"], read_page(data, references[page], end_of_page(references, page), signed))
    return PageVector(name, expect, comment, signed, page, data, keys)


def content_vector(name, expect, comment, kind, value, first, count, *after, of=None):
    """A page of this JSON, with a reference that fits and the references `after` it."""
    value = value if isinstance(value, bytes) else canonical_json(value).encode("utf-8")
    frame = run_frame(value)
    reference = {"contentSize": len(value), "count": count, "first": first, "kind": kind, "size": len(frame), "sha256": sha256(frame).hex(),
                 **({"of": of} if of else {})}
    return page_vector(name, expect, comment, signed_with(reference, *after), 0, frame)


def page_vector_bytes(vector):
    """§10.3"""
    return file_bytes([f"expect: {vector.expect}", f"signed: {canonical_json(vector.signed)}", f"page: {vector.page}", f"comment: {vector.comment}",
                       *(f"key: {canonical_json(key)}" for key in vector.keys)], vector.data)


def parse_page_vector(name, data):
    """§10.3"""
    values, body = parse_values(name, data, ("expect", "signed", "page", "comment", "key"))
    return PageVector(name, values["expect"][0], values["comment"][0], json.loads(values["signed"][0]), int(values["page"][0]), body,
                      list(map(json.loads, values["key"])))


def check_page_vector(vector, verbose):
    """The problems of a vector, as texts."""
    references = vector.signed["pages"]
    try:
        entries = read_page(vector.data, references[vector.page], end_of_page(references, vector.page), vector.signed)
    except Refused as error:
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif page_keys(references[vector.page]["kind"], entries) != vector.keys:
        yield "the keys differ"
