"""Vectors of packs: their files, and what the second implementation makes of them (Tests/Vectors/README.md)."""

from collections import namedtuple

from vectors.cases.files import file_bytes, listing_lines, listing_of, parse_file, parse_listing
from vectors.cases.samples import AK, OWN_AK, SMALL_TREE, pack_of
from vectors.format.errors import Problem, Refused
from vectors.format.keys import Recipient
from vectors.format.payload import make_payload, tree_payload
from vectors.format.reader import read_pack
from vectors.format.tar import build_tree

# The key is bytes, or the secret key of a recipient.
Vector = namedtuple("Vector", "name expect comment data key client records root", defaults=(None,))


def vector_bytes(vector):
    """§10.1, and `client:` where a client that reads only the index says something else."""
    head = [f"expect: {vector.expect}"]
    if vector.client:
        head.append(f"client: {vector.client}")
    if isinstance(vector.key, Recipient):
        head.append(f"recipient: {vector.key.secret.hex()}")
    else:
        head.append(f"key: {vector.key.hex()}")
    if vector.root:
        head.append(f"root: {vector.root.hex()}")
    head += [f"comment: {vector.comment}", *listing_lines(vector.records or ())]
    return file_bytes(head, vector.data)


def parse_vector(name, data):
    """§10.1: a vector as it stands in its file; an unknown key is an error."""
    pairs, body = parse_file(name, data, ("expect", "client", "key", "recipient", "root", "comment", "path", "sha256"))
    values = dict(pairs)
    root = bytes.fromhex(values["root"]) if "root" in values else None
    if ("key" in values) == ("recipient" in values):
        raise Problem(f"{name}: the head of the vector has no key, or two")
    at_hand = bytes.fromhex(values["key"]) if "key" in values else Recipient(bytes.fromhex(values["recipient"]))
    return Vector(name, values["expect"], values.get("comment"), body, at_hand, values.get("client"), parse_listing(pairs), root)


def outcome(vector, verify, key):
    """What this reader says: the class and the listing."""
    try:
        records = read_pack(vector.data, key, verify)
    except Refused as error:
        return error.name, str(error)
    return "ok", listing_of(records)


def check_vector(vector, verbose):
    """The problems of a vector, as texts."""
    for key in (vector.key, vector.root):
        if key:
            yield from check_reading(vector, key, verbose)


def check_reading(vector, key, verbose):
    """The problems of a vector that is read with a key."""
    said, detail = outcome(vector, True, key)
    client, client_detail = outcome(vector, False, key)
    if verbose:
        print(f"{vector.name}: {detail if said != 'ok' else 'ok'}")
    if said != vector.expect:
        yield f"expect {vector.expect}, verifier says {said}: {detail}"
    if client != (vector.client or vector.expect):
        yield f"expect {vector.client or vector.expect}, client says {client}: {client_detail}"
    if said == "ok" == vector.expect and detail != vector.records:
        yield f"the records differ: {detail}"


def valid(name, comment, payload, records, **fields):
    return Vector(name, "ok", comment, pack_of(payload, **fields), AK, None, records)


def valid_tree(name, comment, items, *, pack=None, **changes):
    """A valid vector; `changes` are those of tree_payload, `pack` the fields of make_pack."""
    payload, records = tree_payload(list(items), **changes)
    return valid(name, comment, payload, records, **(pack or {}))


def with_pack_key(vector):
    """The vector of a pack that was made with the key of its own, and the root key that this is made from (§2.3)."""
    return vector._replace(key=OWN_AK, root=AK)


def refused(name, expect, comment, data, key=AK):
    return Vector(name, expect, comment, data, key, None, None)


def hostile(name, comment, payload, expect="damaged", client=None, **fields):
    return Vector(name, expect, comment, pack_of(payload, **fields), AK, client, None)


def hostile_tree(name, comment, items=SMALL_TREE, expect="damaged", client=None, pack=None, **changes):
    return hostile(name, comment, tree_payload(list(items), **changes)[0], expect, client, **(pack or {}))


def hostile_tar(name, comment, builder, records, client="ok", **changes):
    """A vector whose tar was built by hand; by default only a verifier refuses it."""
    closing = changes.pop("closing", bytes(1024))
    records = sorted(records, key=lambda record: record.path)
    return hostile(name, comment, make_payload(builder.finish(closing), records, **changes), client=client)


def with_records(function, items=SMALL_TREE, name="", comment="", expect="damaged", client=None, **changes):
    """The tar of `items` and the records that `function` makes of the right ones."""
    builder, records = build_tree(list(items))
    payload = make_payload(builder.finish(), function(records), **changes)
    return hostile(name, comment, payload, expect, client)
