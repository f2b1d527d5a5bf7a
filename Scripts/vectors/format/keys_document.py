"""Keys documents (FORMAT.md §9.6)."""

import json
import re

from vectors.format.canonical_json import parse_canonical
from vectors.format.ed25519 import decode_point, signature_holds
from vectors.format.entries import check_keys, is_integer, is_time
from vectors.format.errors import Refused, require
from vectors.format.keys import public_text
from vectors.format.limits import MAX_DOCUMENT, MAX_DOCUMENTS, MAX_DOCUMENT_SIGNATURES, MAX_KEYS
from vectors.format.primitives import label
from vectors.format.signatures import key_id_of, read_outer, root_id_of

KEYS_SCHEMA = "pack-keys/1"


def split_keys(data):
    """§9.6: the keys documents of a manifest, and the manifest without them."""
    start = b'{"keys":['
    if not data.startswith(start):
        return [], data
    # As Latin-1 each byte is a character, so that places are those of the file.
    text, place, documents = data.decode("latin-1"), len(start), []
    while True:
        try:
            _, end = json.JSONDecoder().raw_decode(text, place)
        except (ValueError, RecursionError) as error:
            raise Refused("damaged", f"keys: {error}")
        document = data[place:end]
        require(len(documents) < MAX_DOCUMENTS, "too many keys documents")
        require(isinstance(parse_canonical(document, 3), dict), "a keys document is no object")
        require(len(document) <= MAX_DOCUMENT, f"a keys document of {len(document)} bytes")
        documents.append(document)
        place = end + 1
        if text[end:end + 1] == "]":
            require(text[end + 1:end + 2] == ",", "nothing behind the keys documents")
            return documents, b"{" + data[end + 2:]
        require(text[end:end + 1] == ",", "no comma between keys documents")


def read_public_text(text, prefix, name):
    """§2.5: the 32 bytes of a public key, for a key that is one (§9.2)."""
    require(isinstance(text, str) and re.fullmatch(prefix + "-[0-9a-f]{64}-[0-9a-f]{8}", text) is not None, "a key text")
    public = bytes.fromhex(text[5:69])
    require(text == public_text(prefix, name, public), "the last part of a key text")
    require(decode_point(public) is not None, "a key that is none")
    return public


KEYS_VALUES = {"expires": is_time, "issued": is_time, "rootKeys": lambda value: isinstance(value, list), "rootThreshold": is_integer,
               "signingKeys": lambda value: isinstance(value, list), "signingThreshold": is_integer, "version": is_integer}


class KeysDocument:
    """§9.6: a keys document that was read whole."""

    def __init__(self, data):
        require(len(data) <= MAX_DOCUMENT, f"{len(data)} bytes")
        self.signatures, self.signed = read_outer(data, MAX_DOCUMENT_SIGNATURES)
        value = parse_canonical(self.signed, 4)
        require(isinstance(value.get("schema"), str), "no schema")
        require(value["schema"] == KEYS_SCHEMA, f"schema {value['schema']}", "unsupported")
        check_keys(value, KEYS_VALUES, {}, "signed")
        require(value["version"] >= 1, "version 0")
        self.version = value["version"]
        self.roots = self.keys(value["rootKeys"], "pkq1", "root-public-text", root_id_of)
        self.signers = self.keys(value["signingKeys"], "pkp1", "sig-public-text", key_id_of)
        require(not set(self.roots.values()) & set(self.signers.values()), "a key of both kinds")
        self.root_threshold, self.signing_threshold = value["rootThreshold"], value["signingThreshold"]
        require(1 <= self.root_threshold <= len(self.roots), "the threshold of root keys")
        require(1 <= self.signing_threshold <= len(self.signers), "the threshold of signing keys")

    @staticmethod
    def keys(texts, prefix, name, identify):
        require(1 <= len(texts) <= MAX_KEYS, f"{len(texts)} keys")
        publics = [read_public_text(text, prefix, name) for text in texts]
        require(all(left < right for left, right in zip(publics, publics[1:])), "the order of the keys")
        keys = {identify(public): public for public in publics}
        require(len(keys) == len(publics), "two keys with one id")
        return keys

    def require_signed_by(self, other):
        """Whether it is signed by the root keys of a document."""
        count = 0
        for keyid, signature in self.signatures:
            if keyid in other.roots:
                require(signature_holds(other.roots[keyid], label("keys") + self.signed, signature), f"the signature of {keyid}", "untrusted")
                count += 1
        require(count >= other.root_threshold, f"{count} signatures", "untrusted")

    def followed_by(self, documents, newest):
        """The newest document after those of a manifest, which `newest` is told one by one."""
        current = self
        newest.append(self)
        for data in documents:
            document = KeysDocument(data)
            if document.version <= current.version:
                continue
            document.require_signed_by(current)
            require(document.version == current.version + 1, f"version {document.version} after {current.version}", "untrusted")
            document.require_signed_by(document)
            current = document
            newest.append(document)
        return current
