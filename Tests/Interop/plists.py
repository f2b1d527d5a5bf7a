#!/usr/bin/env python3
"""Python's plistlib on the property lists that packer writes and changes.

  the fragment        plistlib reads the keys, and writes the same bytes for them
  a built app         packer reads the version, platform and keys of an .ipa that zipfile makes, with a binary plist of plistlib; records it; finds
                      the key that zipfile puts in; and refuses what zipfile refuses
  merging             every other key and value comes back with its type, from XML and from binary plists, made at random among others

The command is named by the variable PACKER. Needs nothing but Python.
"""

import datetime
import json
import math
import os
import pathlib
import plistlib
import random
import re
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
FORMATS = {"XML": plistlib.FMT_XML, "binary": plistlib.FMT_BINARY}
SEED = 2026
RANDOM_PLISTS = 12

KEYS = {
    "AppGroupIdentifier": "group.com.example.arcade",
    "BAEssentialMaxInstallSize": 33_000_000,
    "BAInitialDownloadRestrictions": {
        "BADownloadAllowance": 0,
        "BADownloadDomainAllowList": ["*.example.com", "example.com"],
        "BAEssentialDownloadAllowance": 28_100_000,
    },
    "BAManifestURL": "https://cdn.example.com/packs/manifest.json?a=1&b=2",
    "BAMaxInstallSize": 2**53 - 1,
}

EVERYTHING = {
    "integers": [0, 1, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**31), -(2**63)],
    "reals": [0.0, -0.0, 1.0, 35_000_000.0, 0.1, -2.5, 1e300, 5e-324, math.inf, -math.inf],
    "booleans": [True, False],
    "texts": ["", " ", "a", "  two  spaces  ", "true", "1", "e\u0301", "\U0001f47e", "<&>\"'", "a\tb\nc", "]]>", "x" * 300],
    "dates": [datetime.datetime(2001, 1, 1), datetime.datetime(1970, 1, 1), datetime.datetime(2026, 2, 28, 23, 59, 59)],
    "data": [b"", b"\0", bytes(range(256)), b"x" * 1000],
    "nested": {"": [], "e\u0301": 2, "z": {}, "ä": [[{"k": [True, 1, 1.0, "1"]}]]},
    "CFBundleIdentifier": "$(PRODUCT_BUNDLE_IDENTIFIER)",
}


def expect(condition, message):
    if not condition:
        sys.exit(f"error: {message}")


def same(left, right):
    """Equal, with equal types all the way down: True is not 1, and 1 is not 1.0. The order of keys says nothing."""
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, float):
        return left == right
    return left == right


def packer(*arguments):
    done = subprocess.run([PACKER, "plist", *map(str, arguments)], capture_output=True)
    expect(done.returncode == 0, f"packer plist {' '.join(map(str, arguments))} ended with {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def any_value(chance, depth):
    kind = chance.randrange(9 if depth else 6)
    if kind == 0:
        return chance.choice([True, False])
    if kind == 1:
        return chance.randrange(-(2 ** chance.randrange(1, 64)), 2 ** chance.randrange(1, 65))
    if kind == 2:
        return chance.choice([chance.uniform(-1e6, 1e6), float(chance.randrange(100))])
    if kind == 3:
        return chance.randbytes(chance.randrange(40))
    if kind == 4:
        return datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=chance.randrange(-(10**9), 10**9))
    if kind == 5:
        return any_text(chance)
    if kind == 6:
        return [any_value(chance, depth - 1) for _ in range(chance.randrange(20))]
    return any_dictionary(chance, depth - 1)


def any_text(chance):
    return "".join(chance.choice("abc <>&\"'\n\tä\u0301€\U0001f47e") for _ in range(chance.randrange(20)))


def any_dictionary(chance, depth):
    return {any_text(chance): any_value(chance, depth) for _ in range(chance.randrange(20))}


def check_fragment(place):
    printed = packer("print", "--dist", place)
    expect(same(plistlib.loads(printed), KEYS), f"plistlib reads {plistlib.loads(printed)} from the fragment")
    expect(printed == plistlib.dumps(KEYS, sort_keys=True), "plistlib writes other bytes for the keys of the fragment")


def check_merge(place, values, title):
    for name, form in FORMATS.items():
        path, merged = place / "Info.plist", place / "merged.plist"
        path.write_bytes(plistlib.dumps(values, fmt=form, sort_keys=False))
        before = path.read_bytes()
        # As plistlib itself reads it: of 0.0 and -0.0 it keeps one.
        values = plistlib.loads(before, fmt=form)
        packer("merge", path, "-o", merged, "--dist", place)
        expect(path.read_bytes() == before, f"{title}, {name}: the plist itself was changed")
        if form == plistlib.FMT_XML and values:
            # What was there is still there, line by line and in its order.
            lines = iter(merged.read_bytes().split(b"\n"))
            expect(all(line in lines for line in before.split(b"\n")), f"{title}: lines of the plist are gone")
        read = plistlib.loads(merged.read_bytes(), fmt=form)
        expect(same({key: read[key] for key in values}, values), f"{title}, {name}: other values came back changed")
        added = {key: value for key, value in read.items() if key not in values}
        digest = added.pop("PackerMergedValues", "")
        expect(re.fullmatch("[0-9a-f]{16}", digest), f"{title}, {name}: the digest of the merged values is '{digest}'")
        expect(added == KEYS, f"{title}, {name}: the keys are not those of the release")
        packer("merge", path, "-o", place / "twice.plist", "--dist", place)
        expect((place / "twice.plist").read_bytes() == merged.read_bytes(), f"{title}, {name}: another process writes other bytes")
        again = merged.read_bytes()
        packer("merge", merged, "--dist", place)
        expect(merged.read_bytes() == again, f"{title}, {name}: a second merge changed the bytes")


CONFIGURATION = """
app: {bundleID: com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:arcade.key
signKey: file:arcade.sign.key
packs:
  - {id: core, root: core, delivery: prefetch}
"""


def run(place, status, *arguments):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKER")}
    done = subprocess.run([PACKER, *arguments], cwd=place, env=dict(environment, LC_ALL="C.UTF-8"), capture_output=True, text=True)
    expect(done.returncode == status, f"packer {' '.join(arguments)} ended with {done.returncode}, not {status}: {done.stdout}{done.stderr}")
    return done.stdout


def check_app(place):
    (place / "packer.yml").write_text(CONFIGURATION)
    (place / "core").mkdir()
    (place / "core/index.html").write_text("<p>core</p>" * 1000)
    run(place, 0, "key", "new", "-o", "arcade.key")
    run(place, 0, "key", "new", "--signing", "-o", "arcade.sign.key")
    run(place, 0, "build", "-q")
    keys = plistlib.loads(run(place, 0, "plist", "print").encode())
    app = dict(EVERYTHING, **keys)
    app |= {"CFBundleIdentifier": "com.example.arcade", "CFBundleShortVersionString": "3.0.1", "CFBundleSupportedPlatforms": ["iPhoneOS"]}
    point = {"EXExtensionPointIdentifier": "com.apple.background-asset-downloader-extension"}
    downloader = {"CFBundleIdentifier": "com.example.arcade.downloader", "EXAppExtensionAttributes": point}

    def write(name, method, further={}):
        with zipfile.ZipFile(place / name, "w", method) as archive:
            archive.mkdir("Payload/Ärcade.app")
            archive.writestr("Payload/Ärcade.app/Info.plist", plistlib.dumps(app, fmt=plistlib.FMT_BINARY))
            archive.writestr("Payload/Ärcade.app/Extensions/D.appex/Info.plist", plistlib.dumps(downloader))
            for path, content in further.items():
                archive.writestr(f"Payload/Ärcade.app/{path}", content)
        return name

    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        ipa = write(f"{method}.ipa", method)
        lines = [json.loads(line) for line in run(place, 0, "verify", "--json", "--app", ipa).splitlines()]
        release = next(line for line in lines if line["type"] == "release")
        expect(release["facts"]["Info.plist"] == f"{ipa}: Payload/Ärcade.app/Info.plist", f"the report says {release['facts']}")
        restrictions = keys["BAInitialDownloadRestrictions"]
        wanted = dict(restrictions, **keys)
        found = {row["key"]: row["allowed"] for row in release["budget"]}
        expect(found == {key: wanted[key] for key in found} and len(found) == 4, f"the sizes are {found}")
    run(place, 0, "release", "record", "--app", ipa)
    listed = [json.loads(line) for line in run(place, 0, "release", "list", "--json").splitlines()]
    recorded = next(line for line in listed if line["type"] == "app")
    expect((recorded["version"], recorded["platform"]) == ("3.0.1", "iOS"), f"recorded was {recorded}")
    expect(recorded["budget"]["BADownloadAllowance"] == restrictions["BADownloadAllowance"], "another allowance was recorded")

    ipa = write("secret.ipa", zipfile.ZIP_STORED, {"keys.txt": b"x" * 300_000 + b"\n" + (place / "arcade.sign.key").read_bytes()})
    lines = [json.loads(line) for line in run(place, 1, "verify", "--json", "--app", ipa).splitlines()]
    expect([line["rule"] for line in lines if line["type"] == "finding" and line["level"] == "error"] == ["PK6009"], f"it found {lines}")
    broken = bytearray((place / ipa).read_bytes())
    broken[len(broken) // 2] ^= 1
    (place / "broken.ipa").write_bytes(broken)
    expect(zipfile.ZipFile(place / "broken.ipa").testzip() is not None, "zipfile does not find the damage")
    run(place, 65, "verify", "--app", "broken.ipa")


# Calls for which Apple wants a reason, the categories they are in, and ours: files of the app's own containers, and whether there is room to write.
REASONS = {
    r"\bf?l?stat(at)?\(": ("NSPrivacyAccessedAPICategoryFileTimestamp", "C617.1"),
    r"\bf?statvfs\(|\bf?statfs\(": ("NSPrivacyAccessedAPICategoryDiskSpace", "E174.1"),
    r"\bmach_absolute_time\(|\bsystemUptime\b": ("NSPrivacyAccessedAPICategorySystemBootTime", "35F9.1"),
    r"\bUserDefaults\b": ("NSPrivacyAccessedAPICategoryUserDefaults", "CA92.1"),
}


def check_privacy():
    """The privacy manifest declares what the client's sources call, and nothing else."""
    declared = plistlib.loads((ROOT / "Sources/PackBase/PrivacyInfo.xcprivacy").read_bytes())
    expect(declared["NSPrivacyTracking"] is False and declared["NSPrivacyCollectedDataTypes"] == [], "the privacy manifest says more than nothing is collected")
    found = {item["NSPrivacyAccessedAPIType"]: item["NSPrivacyAccessedAPITypeReasons"] for item in declared["NSPrivacyAccessedAPITypes"]}
    targets = ("Format", "Base", "Crypto", "Reading", "Serving", "Manifest", "Delivery", "Background", "Store", "Runtime", "Remote", "App")
    text = "".join(path.read_text() for name in targets for path in sorted((ROOT / f"Sources/Pack{name}").rglob("*.swift")))
    called = {category: [reason] for pattern, (category, reason) in REASONS.items() if re.search(pattern, text)}
    expect(found == called, f"the privacy manifest declares {found}, and the sources call for {called}")


def main():
    check_privacy()
    print(f"random plists from the seed {SEED}")
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="packer-plists.") as name:
        place = pathlib.Path(name)
        (place / "Info.fragment.plist").write_bytes(plistlib.dumps(KEYS))
        check_fragment(place)
        check_merge(place, EVERYTHING, "every type")
        check_merge(place, {}, "an empty plist")
        (place / "app").mkdir()
        check_app(place / "app")
        for number in range(RANDOM_PLISTS):
            check_merge(place, any_dictionary(chance, 3), f"random plist {number}")
    print("ok: plistlib reads the fragment, and every other value of merged plists, XML and binary; packer reads the .ipa of zipfile")


if __name__ == "__main__":
    main()
