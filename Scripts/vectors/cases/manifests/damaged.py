"""Manifests that are damaged, although a trusted key has signed them."""

from vectors.cases.manifests.samples import DEFAULTS, NEXT_SEED, SEED, kat_pack, kat_signed
from vectors.cases.manifests.vector import manifest_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.entries import BUDGET_KEYS, PACK_VALUES
from vectors.format.limits import MAX_INTEGER
from vectors.format.manifest import make_manifest
from vectors.format.signatures import sign_manifest


def damaged_manifests():
    """§9.1, §9.3: everything here is signed by the trusted key."""
    data = make_manifest(kat_signed(packs=[kat_pack()]), [SEED])

    def bad(name, comment, data):
        return manifest_vector(name, "damaged", comment, data)

    def text(name, comment, *changes, base=None):
        """The signed bytes with texts replaced."""
        signed = canonical_json(base or kat_signed(a="b", packs=[kat_pack()])).encode()
        for old, new in changes:
            old, new = (part if isinstance(part, bytes) else part.encode("utf-8") for part in (old, new))
            assert signed.count(old) == 1, (name, old, signed)
            signed = signed.replace(old, new)
        return bad(name, comment, make_manifest(signed, [SEED]))

    yield bad("empty", "no byte", b"")
    yield bad("outer-bom", "a byte order mark", b"\xef\xbb\xbf" + data)
    yield bad("outer-line-end", "a final line end", data + b"\n")
    yield bad("outer-space", "a space behind a comma", data.replace(b',"signed"', b', "signed"'))
    yield bad("outer-html", "the page of a server that does not have it", b"<!DOCTYPE html><title>404</title>")
    yield bad("outer-truncated", "the last byte is missing", data[:-1])
    yield bad("outer-extra-key-before", "a third key before the two", b'{"a":1,' + data[1:])
    yield bad("outer-swapped", "the signed part first",
              b'{"signed":' + data[data.index(b',"signed":') + 10:-1] + b"," + data[1:data.index(b',"signed":')] + b"}")
    yield bad("outer-signed-array", "a signed part that is no object", make_manifest(b"[]", [SEED]))
    signature = sign_manifest(SEED, canonical_json(kat_signed(packs=[kat_pack()])).encode())
    entry = canonical_json(signature).encode()
    yield bad("signature-extra-key", "a third key in a signature", data.replace(entry, entry[:-1] + b',"z":1}'))
    yield bad("signature-upper-case", "upper-case digits in a signature",
              data.replace(signature["sig"].encode(), signature["sig"].upper().encode()))
    yield bad("signature-short", "a signature of 63 bytes", data.replace(signature["sig"].encode(), signature["sig"][2:].encode()))
    yield bad("signature-keyid-long", "a keyid of 9 bytes",
              data.replace(signature["keyid"].encode(), b"00" + signature["keyid"].encode()))
    yield bad("signature-twice", "the same signature twice", data.replace(entry, entry + b"," + entry))
    two = [canonical_json(e).encode() for e in sorted(
        (sign_manifest(seed, data[data.index(b',"signed":') + 10:-1]) for seed in (SEED, NEXT_SEED)), key=lambda e: e["keyid"])]
    yield bad("signatures-descend", "two signatures in the wrong order", data.replace(entry, two[1] + b"," + two[0]))
    yield bad("signatures-17", "one signature too many",
              make_manifest(kat_signed(packs=[kat_pack()]), [SEED, *(bytes([i]) * 32 for i in range(1, 17))]))
    yield bad("signatures-trailing-comma", "a comma behind the last signature", data.replace(entry, entry + b","))

    yield text("form-space", "a space behind a colon", ('"a":"b"', '"a": "b"'))
    yield text("form-line-end", "a line end before the last brace", ('"version":1}', '"version":1\n}'))
    yield text("form-key-order", "two keys in the wrong order", ('"a":"b",', ''), ('"expires":', '"z":"b","expires":'))
    yield text("form-key-twice", "a key twice", ('"a":"b"', '"a":"b","a":"b"'))
    yield text("form-key-escaped-order", "keys in the order of their escapes, not of what they mean", ('"a":"b"', '"Z":1,"\\n":2'))
    yield text("form-key-not-ascii", "a key that is not ASCII", ('"version":1}', '"version":1,"ä":1}'))
    yield text("form-null", "null", ('"a":"b"', '"a":null'))
    yield text("form-float", "a fraction", ('"a":"b"', '"a":1.5'))
    yield text("form-float-zero", "an integer written as a fraction", ('"a":"b"', '"a":1.0'))
    yield text("form-exponent", "an exponent", ('"a":"b"', '"a":1e3'))
    yield text("form-negative", "a negative integer", ('"a":"b"', '"a":-1'))
    yield text("form-negative-zero", "minus zero", ('"a":"b"', '"a":-0'))
    yield text("form-leading-zero", "a leading zero", ('"a":"b"', '"a":01'))
    yield text("form-2-53", "2^53", ('"a":"b"', f'"a":{MAX_INTEGER + 1}'))
    yield text("form-integer-long", "an integer of a thousand digits", ('"a":"b"', '"a":1' + "0" * 999))
    yield text("form-literal", "a word that is none of JSON's", ('"a":"b"', '"a":True'))
    yield text("form-trailing-comma", "a comma behind the last element", ('"a":"b"', '"a":[1,]'))
    yield text("form-depth-9", "arrays down to depth 9", ('"a":"b"', '"a":[[[[[[[]]]]]]]'))
    yield text("form-depth-bomb", "a thousand arrays in one another", ('"a":"b"', '"a":' + "[" * 1000 + "]" * 1000))
    yield text("form-behind", "something behind the signed part", ('"version":1}', '"version":1},"z":{}'))
    yield text("string-control", "a control character that is not escaped", ('"a":"b"', '"a":"\x01"'))
    yield text("string-slash", "an escaped slash", ('"a":"b"', '"a":"\\/"'))
    yield text("string-escape-long", "the long escape of a line end", ('"a":"b"', '"a":"\\u000a"'))
    yield text("string-escape-upper-case", "an escape with an upper-case digit", ('"a":"b"', '"a":"\\u001F"'))
    yield text("string-escape-letter", "an escape of a letter", ('"a":"b"', '"a":"\\u0041"'))
    yield text("string-escape-not-ascii", "an escape of a character beyond ASCII", ('"a":"b"', '"a":"\\u20ac"'))
    yield text("string-escape-surrogates", "a pair of escaped surrogates", ('"a":"b"', '"a":"\\ud83d\\ude00"'))
    yield text("string-escape-lone", "an escaped lone surrogate", ('"a":"b"', '"a":"\\ud83d"'))
    yield text("string-escape-key", "a key with an escape that it does not need", ('"a":"b"', '"\\u0061":"b"'))
    yield text("string-utf8-overlong", "an overlong slash", ('"a":"b"', b'"a":"\xc0\xaf"'))
    yield text("string-utf8-surrogate", "a surrogate in UTF-8", ('"a":"b"', b'"a":"\xed\xa0\x80"'))
    yield text("string-utf8-above", "a character above U+10FFFF", ('"a":"b"', b'"a":"\xf4\x90\x80\x80"'))
    yield text("string-utf8-cut", "a character that is cut", ('"a":"b"', b'"a":"\xe2\x82"'))
    yield text("string-utf8-stray", "a continuation byte alone", ('"a":"b"', b'"a":"\x80"'))
    yield text("string-open", "a string that does not end", ('"version":1}', '"version":1,"z":"}'))

    for key in ("expires", "packs", "schema", "version"):
        yield bad(f"signed-without-{key}", f"no {key}", make_manifest(kat_signed(**{key: None}), [SEED]))
    for name, comment, changes in (
            ("signed-version-text", "a version that is a text", {"version": "1"}),
            ("signed-packs-object", "packs that are no array", {"packs": {}}),
            ("signed-schema-integer", "a schema that is no text", {"schema": 1}),
            ("signed-expires-offset", "a time with an offset", {"expires": "2027-01-01T00:00:00+00:00"}),
            ("signed-expires-lower-case", "a time in lower case", {"expires": "2027-01-01t00:00:00z"}),
            ("signed-expires-fraction", "a time with a fraction", {"expires": "2027-01-01T00:00:00.0Z"}),
            ("signed-expires-no-day", "a day that does not exist", {"expires": "2027-02-29T00:00:00Z"}),
            ("signed-expires-leap-second", "a leap second", {"expires": "2026-12-31T23:59:60Z"}),
            ("signed-issued-wrong", "a time of issue that is none", {"issued": "today"}),
            ("budget-array", "a budget that is no object", {"budget": []}),
            ("budget-incomplete", "a budget with three of its integers", {"budget": dict.fromkeys(BUDGET_KEYS[:3], 1)}),
            ("budget-text", "a budget in texts", {"budget": dict.fromkeys(BUDGET_KEYS, "35000000")}),
            ("pack-text", "a pack that is no object", {"packs": ["core"]}),
            ("pack-id-twice", "two packs with one id", {"packs": [kat_pack(), kat_pack(version=8)]})):
        yield bad(name, comment, make_manifest(kat_signed(**changes), [SEED]))
    for key in PACK_VALUES:
        yield bad(f"pack-without-{key}", f"a pack without {key}", make_manifest(kat_signed(packs=[kat_pack(**{key: None})]), [SEED]))
    for name, comment, changes in (
            ("pack-id-slash", "an id that is no pack name", {"id": "../core"}),
            ("pack-id-empty", "an empty id", {"id": ""}),
            ("pack-id-65", "an id of 65 characters", {"id": "a" * 65}),
            ("pack-size-text", "a size that is a text", {"size": "12345"}),
            ("pack-size-true", "a size that is true", {"size": True}),
            ("pack-sha256-short", "a digest of 31 bytes", {"sha256": "00" * 31}),
            ("pack-sha256-upper-case", "a digest with upper-case digits", {"sha256": "AB" * 32}),
            ("pack-content-root-long", "a content root of 33 bytes", {"contentRoot": "00" * 33}),
            ("pack-key-id-upper-case", "a key id with upper-case digits", {"keyId": "E545120E613DD715"}),
            ("pack-key-id-short", "a key id of 7 bytes", {"keyId": "e545120e613dd7"}),
            ("pack-delivery-unknown", "a delivery that there is not", {"delivery": "later"}),
            ("pack-delivery-case", "a delivery in another case", {"delivery": "Essential"}),
            ("pack-install-unknown", "an install mode that there is not", {"install": "mounted"}),
            ("pack-url-http", "a URL without TLS", {"url": "http://cdn.example.com/core.pack"}),
            ("pack-url-relative", "a relative URL", {"url": "core.pack"}),
            ("pack-url-upper-case", "a scheme in upper case", {"url": "HTTPS://cdn.example.com/core.pack"}),
            ("pack-url-no-host", "a URL without a host", {"url": "https:///core.pack"}),
            ("pack-url-port-alone", "a URL with a port and no host", {"url": "https://:443/core.pack"}),
            ("pack-url-credentials", "a URL with a password", {"url": "https://user:secret@cdn.example.com/core.pack"}),
            ("pack-url-fragment", "a URL with a fragment", {"url": "https://cdn.example.com/core.pack#1"}),
            ("pack-url-space", "a URL with a space", {"url": "https://cdn.example.com/the core.pack"}),
            ("pack-url-not-ascii", "a URL that is not ASCII", {"url": "https://cdn.example.com/körn.pack"}),
            ("pack-url-port-letter", "a URL with a port that is no number", {"url": "https://cdn.example.com:x/core.pack"}),
            ("pack-url-port-empty", "a URL with a colon and no port", {"url": "https://cdn.example.com:/core.pack"}),
            ("pack-url-port-six-digits", "a URL with a port of six digits", {"url": "https://cdn.example.com:000443/core.pack"}),
            ("pack-url-address", "a URL with an address in brackets", {"url": "https://[::1]/core.pack"}),
            ("pack-url-bracket", "a URL with a bracket in its path", {"url": "https://cdn.example.com/core[1].pack"}),
            ("pack-url-percent", "a URL with a percent sign before one digit", {"url": "https://cdn.example.com/%4.pack"}),
            ("pack-url-control", "a URL with a line end", {"url": "https://cdn.example.com/core.pack\n"}),
            ("pack-tags-text", "tags that are no array", {"tags": "boot"}),
            ("pack-tags-integer", "a tag that is no text", {"tags": ["boot", 1]}),
            ("pack-platforms-text", "platforms that are no array", {"platforms": "iOS"}),
            ("pack-language-empty", "an empty language", {"language": ""}),
            ("pack-languages-text", "languages that are no array", {"language": "de", "languages": "de"}),
            ("pack-languages-one", "no other language than its own in an array", {"language": "de", "languages": ["de"]}),
            ("pack-languages-empty", "no language in an array", {"language": "de", "languages": []}),
            ("pack-languages-others", "languages without its own", {"language": "de", "languages": ["en", "fr"]}),
            ("pack-languages-none", "languages of a pack without one", {"languages": ["de", "en"]}),
            ("pack-languages-order", "languages in another order", {"language": "de", "languages": ["en", "de"]}),
            ("pack-languages-twice", "a language that is there twice", {"language": "de", "languages": ["de", "de"]}),
            ("pack-fallback-other", "a fallback that is none of the languages", {"language": "de", "languages": ["de", "en"], "fallback": "fr"}),
            ("pack-fallback-none", "a fallback of a pack without language", {"fallback": "de"}),
            ("pack-fallback-array", "a fallback that is no text", {"language": "de", "fallback": ["de"]}),
            ("pack-base-slash", "a base that is no pack name", {"basePack": "../engine"}),
            ("pack-base-itself", "a pack that is its own base", {"basePack": "core"}),
            ("pack-base-array", "a base that is no text", {"basePack": ["engine"]}),
            ("pack-name-array", "a name that is no text", {"name": []}),
            ("pack-description-integer", "a description that is no text", {"description": 1}),
            ("pack-created-wrong", "a time of creation that is none", {"created": "2026-07-01"}),
            ("pack-name-empty", "an empty name", {"name": ""}),
            ("pack-name-id", "a name that is the id", {"name": "core"}),
            ("pack-description-empty", "an empty description", {"description": ""}),
            ("pack-tags-empty", "no tag in an array", {"tags": []}),
            ("pack-platforms-empty", "no platform in an array", {"platforms": []})):
        yield bad(name, comment, make_manifest(kat_signed(packs=[kat_pack(**changes)]), [SEED]))
    bare = kat_pack(url=None, keyId=None)
    for name, comment, changes, pack in (
            ("base-http", "a base without TLS", {"base": "http://cdn.example.com/packs/"}, bare),
            ("base-no-slash", "a base without the slash at its end", {"base": "https://cdn.example.com/packs"}, bare),
            ("base-host-only", "a base without a path", {"base": "https://cdn.example.com"}, bare),
            ("base-port", "a base with a port that is no number", {"base": "https://cdn.example.com:x/"}, bare),
            ("base-query", "a base with a query", {"base": "https://cdn.example.com/packs/?a=/"}, bare),
            ("base-integer", "a base that is no text", {"base": 1}, bare),
            ("base-missing", "a pack without URL where there is no base", {"base": None}, bare),
            ("key-id-default-short", "a key id of 7 bytes for all", {"keyId": "e545120e613dd7"}, bare),
            ("key-id-default-missing", "a pack without key id where there is none for all", {"keyId": None}, bare),
            ("pack-key-id-repeated", "the key id of all packs, once more", {}, kat_pack(url=None)),
            ("pack-url-repeated", "the URL that base, id and digest give", {}, kat_pack(keyId=None))):
        yield bad(name, comment, make_manifest(kat_signed(packs=[pack], **{**DEFAULTS, **changes}), [SEED]))
