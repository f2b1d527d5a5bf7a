"""The cases of RFC 8785 and of its author."""

import re

from vectors.cases.manifests.samples import SEED, kat_pack, kat_signed
from vectors.cases.manifests.vector import manifest_vector
from vectors.format.canonical_json import canonical_json
from vectors.format.limits import MAX_INTEGER
from vectors.format.manifest import make_manifest

RFC8785_NUMBERS = (
    ("0000000000000000", "0"), ("8000000000000000", "0"), ("0000000000000001", "5e-324"), ("8000000000000001", "-5e-324"),
    ("7fefffffffffffff", "1.7976931348623157e+308"), ("ffefffffffffffff", "-1.7976931348623157e+308"),
    ("4340000000000000", "9007199254740992"), ("c340000000000000", "-9007199254740992"), ("4430000000000000", "295147905179352830000"),
    ("44b52d02c7e14af5", "9.999999999999997e+22"), ("44b52d02c7e14af6", "1e+23"), ("44b52d02c7e14af7", "1.0000000000000001e+23"),
    ("444b1ae4d6e2ef4e", "999999999999999700000"), ("444b1ae4d6e2ef4f", "999999999999999900000"), ("444b1ae4d6e2ef50", "1e+21"),
    ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"), ("3eb0c6f7a0b5ed8d", "0.000001"), ("41b3de4355555553", "333333333.3333332"),
    ("41b3de4355555554", "333333333.33333325"), ("41b3de4355555555", "333333333.3333333"), ("41b3de4355555556", "333333333.3333334"),
    ("41b3de4355555557", "333333333.33333343"), ("becbf647612f3696", "-0.0000033333333333333333"), ("43143ff3c1cb0959", "1424953923781206.2"))


def rfc8785_manifests():
    """RFC 8785 and the test data of its author, cyberphone/json-canonicalization: as the value of a key that readers pass over.
    What lies outside of the subset of §9.1 is refused, canonical or not."""
    signed = canonical_json(kat_signed(a="b", packs=[kat_pack()]))

    def case(name, expect, comment, value):
        return manifest_vector("rfc8785-" + name, expect, comment, make_manifest(signed.replace('"a":"b"', '"a":' + value).encode("utf-8"), [SEED]))

    yield case("arrays-input", "damaged", "arrays.json as it is given: white space, keys in no order", '[\n  56,\n  {\n    "d": true,\n    "10": null,\n    "1": [ ]\n  }\n]')
    yield case("arrays", "damaged", "arrays.json in its canonical form, which has null", '[56,{"1":[],"10":null,"d":true}]')
    yield case("arrays-subset", "ok", "the same without null", '[56,{"1":[],"d":true}]')
    yield case("french-input", "damaged", "french.json as it is given", '{\n  "peach": "This sorting order",\n  "péché": "is wrong according to French",\n'
               '  "pêche": "but canonicalization MUST",\n  "sin":   "ignore locale"\n}')
    yield case("french", "damaged", "french.json in its canonical form, which has keys beyond ASCII", '{"peach":"This sorting order",'
               '"péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ignore locale"}')
    yield case("french-subset", "ok", "the same without those keys", '{"peach":"This sorting order","sin":"ignore locale"}')
    yield case("structures-input", "damaged", "structures.json as it is given", '{\n  "1": {"f": {"f": "hi","F": 5} ,"\\n": 56.0},\n  "10": { },\n'
               '  "": "empty",\n  "a": { },\n  "111": [ {"e": "yes","E": "no" } ],\n  "A": { }\n}')
    yield case("structures", "ok", "structures.json in its canonical form",
               '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}')
    yield case("unicode-input", "damaged", "unicode.json as it is given", '{\n  "Unnormalized Unicode":"A\\u030a"\n}')
    yield case("unicode", "ok", "unicode.json in its canonical form: nothing is composed", '{"Unnormalized Unicode":"A\u030a"}')
    yield case("values-input", "damaged", "values.json as it is given", '{\n  "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],\n'
               '  "string": "\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/",\n  "literals": [null, true, false]\n}')
    string = '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    yield case("values", "damaged", "values.json in its canonical form, which has null and fractions",
               '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":' + string + "}")
    yield case("values-subset", "ok", "the same without null and numbers", '{"literals":[true,false],"string":' + string + "}")
    yield case("weird-input", "damaged", "weird.json as it is given", '{\n  "\\u20ac": "Euro Sign",\n  "\\r": "Carriage Return",\n  "\\u000a": "Newline",\n'
               '  "1": "One",\n  "\\u0080": "Control\\u007f",\n  "\\ud83d\\ude02": "Smiley",\n  "\\u00f6": "Latin Small Letter O With Diaeresis",\n'
               '  "\\ufb33": "Hebrew Letter Dalet With Dagesh",\n  "</script>": "Browser Challenge"\n}')
    ascii_part = '"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge"'
    yield case("weird", "damaged", "weird.json in its canonical form, which has keys beyond ASCII, in the order of UTF-16",
               "{" + ascii_part + ',"\u0080":"Control\u007f","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","\U0001f602":"Smiley",'
               '"\ufb33":"Hebrew Letter Dalet With Dagesh"}')
    yield case("weird-subset", "ok", "the same without those keys", "{" + ascii_part + "}")
    # RFC 8785, appendix B: the double, and what it is written as.
    for bits, text in RFC8785_NUMBERS:
        expect = "ok" if re.fullmatch("[0-9]+", text) and int(text) <= MAX_INTEGER else "damaged"
        yield case(f"number-{bits}", expect, f"appendix B: {text}", text)
