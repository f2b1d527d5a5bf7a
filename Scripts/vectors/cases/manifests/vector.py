"""Vectors of manifests: their files, and what the second implementation makes of them."""

from collections import namedtuple

from vectors.cases.files import file_bytes, parse_values
from vectors.cases.manifests.samples import SEED
from vectors.format.ed25519 import public_key
from vectors.format.errors import Refused
from vectors.format.manifest import read_manifest

ManifestVector = namedtuple("ManifestVector", "name expect comment data trust version signers packs embed keys", defaults=(None, None))


def packs_of(value):
    """What a head says of packs."""
    return [(pack["id"], pack["version"], pack["size"]) for pack in value["packs"]]


def manifest_vector(name, expect, comment, data, trust=None):
    trust = [public_key(SEED)] if trust is None else trust
    version, signers, packs = None, [], []
    if expect == "ok":
        value, signers = read_manifest(data, trust)
        version = value["version"]
        packs = packs_of(value)
    return ManifestVector(name, expect, comment, data, trust, version, signers, packs)


def keys_vector(name, expect, comment, data, embed):
    """A vector for an app that embeds a keys document."""
    newest, version, signers, packs = [], None, [], []
    try:
        value, signers = read_manifest(data, [], embed, newest)
        version = value["version"]
        packs = packs_of(value)
    except Refused:
        pass
    return ManifestVector(name, expect, comment, data, [], version, signers, packs, embed, newest[-1].version if newest else 1)


def manifest_vector_bytes(vector):
    """§10.2"""
    head = [f"expect: {vector.expect}", *(f"trust: {key.hex()}" for key in vector.trust), f"comment: {vector.comment}"]
    if vector.embed is not None:
        head += [f"embed: {vector.embed.decode()}", f"keys: {vector.keys}"]
    if vector.version is not None:
        head += [f"version: {vector.version}", *(f"signer: {signer}" for signer in vector.signers)]
        head += [f"pack: {name} {version} {size}" for name, version, size in vector.packs]
    return file_bytes(head, vector.data)


def parse_manifest_vector(name, data):
    """§10.2"""
    values, body = parse_values(name, data, ("expect", "trust", "comment", "version", "signer", "pack", "embed", "keys"))
    packs = [(pack.split(" ")[0], *map(int, pack.split(" ")[1:])) for pack in values["pack"]]
    return ManifestVector(name, values["expect"][0], values["comment"][0], body, list(map(bytes.fromhex, values["trust"])),
                          int(values["version"][0]) if values["version"] else None, values["signer"], packs,
                          values["embed"][0].encode("utf-8") if values["embed"] else None, int(values["keys"][0]) if values["keys"] else None)


def check_manifest_vector(vector, verbose):
    """The problems of a vector, as texts."""
    newest = []
    try:
        value, signers = read_manifest(vector.data, vector.trust, vector.embed, newest)
    except Refused as error:
        if newest and newest[-1].version != vector.keys:
            yield f"keys {vector.keys}, reader stays at {newest[-1].version}"
        if verbose:
            print(f"{vector.name}: {error}")
        if error.name != vector.expect:
            yield f"expect {vector.expect}, reader says {error}"
        return
    if newest and newest[-1].version != vector.keys:
        yield f"keys {vector.keys}, reader goes to {newest[-1].version}"
    if vector.expect != "ok":
        yield f"expect {vector.expect}, reader says ok"
    elif (value["version"], signers) != (vector.version, vector.signers):
        yield f"version {value['version']}, signers {signers}"
    elif packs_of(value) != vector.packs:
        yield "the packs differ"
