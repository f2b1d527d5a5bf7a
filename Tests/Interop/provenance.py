#!/usr/bin/env python3
"""What Scripts/provenance says of a release, against other people's tools: CycloneDX's own schema for the list, `ssh-keygen` for the signature.

Refusals first: another byte in a package, another file, another key, another purpose, a list that is not true. PACKER names the binary.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
PRODUCTS = ROOT / ".build/debug"
CHECKOUTS = ROOT / ".build/checkouts"
wrong = []
checked = 0


def expect(name, is_right, said=""):
    global checked
    checked += 1
    if not is_right:
        wrong.append(f"{name}: {said}")


def provenance(*arguments, script=ROOT / "Scripts/provenance"):
    return subprocess.run([sys.executable, str(script), *map(str, arguments)], capture_output=True, text=True)


def refused(name, words, *arguments, **options):
    found = provenance(*arguments, **options)
    expect(name, found.returncode == 1 and words in found.stderr and "Traceback" not in found.stderr, f"exit {found.returncode}, {found.stderr.strip()[-300:]}")


def accepted(name, *arguments, **options):
    found = provenance(*arguments, **options)
    expect(name, found.returncode == 0, found.stderr.strip()[-300:])


def packages(place):
    """Changes to the sources of one package, in a copy of the checkouts and of the pins."""
    project = place / "project"
    checkouts = project / "checkouts"
    shutil.copytree(ROOT / "Scripts", project / "Scripts")
    shutil.copy(ROOT / "Package.resolved", project / "Package.resolved")
    # Debug builds take the newest versions, so the copy is pinned to what is there.
    checkouts.mkdir()
    for folder in sorted(CHECKOUTS.iterdir()):
        if folder.name in ("swift-atomics", "swift-system"):
            shutil.copytree(folder, checkouts / folder.name, symlinks=True)
    own = {"script": project / "Scripts/provenance"}
    accepted("pins of what is there", "pin", checkouts, **own)
    accepted("what was pinned", "check", checkouts, **own)
    source = next((checkouts / "swift-atomics/Sources").rglob("*.swift"))
    source.chmod(0o644)
    content = source.read_bytes()
    source.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    refused("one bit of a source", "the sources of swift-atomics", "check", checkouts, **own)
    source.write_bytes(content)
    source.chmod(0o755)
    refused("a source that became executable", "the sources of swift-atomics", "check", checkouts, **own)
    source.chmod(0o644)
    accepted("the same again", "check", checkouts, **own)
    more = source.with_name("More.swift")
    more.write_text("")
    refused("an empty file more", "the sources of swift-atomics", "check", checkouts, **own)
    more.unlink()
    source.rename(more)
    refused("a renamed source", "the sources of swift-atomics", "check", checkouts, **own)
    more.rename(source)
    accepted("the same once more", "check", checkouts, **own)
    (checkouts / "swift-extra").mkdir()
    refused("a package that nobody pinned", "swift-extra", "check", checkouts, **own)
    (checkouts / "swift-extra").rmdir()
    shutil.rmtree(checkouts / "swift-system")
    refused("a package less", "swift-system", "check", checkouts, **own)
    pins = project / "Scripts/pins"
    pins.write_text(pins.read_text().replace("swift-atomics 1.", "swift-atomics 99."))
    resolved = (project / "Package.resolved").read_bytes()
    refused("a version that is not there", "has no version 99.", "resolve", **own)
    expect("Package.resolved stays as it was", (project / "Package.resolved").read_bytes() == resolved)


def contents(place):
    folder = place / "packer-1"
    folder.mkdir()
    shutil.copy(PACKER, folder / "packer")
    (folder / "README.md").write_text("Read this.\n")
    accepted("contents", "contents", folder, PRODUCTS, "--version", "1", "--time", "2026-01-01T00:00:00Z")
    listing = folder / "packer.cdx.json"
    text = listing.read_text()
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    expect("CycloneDX's schema", error is None, str(error)[:300])
    expect("its schema refuses", JsonStrictValidator(SchemaVersion.V1_6).validate_str(text.replace('"library"', '"librarian"')) is not None)
    for name in ["swift-nio", "swift-argument-parser", "swift", "libarchive-dev", "libyaml-dev"]:
        expect(f"{name} is listed", f'"name": "{name}"' in text)
        expect(f"licence of {name}", any((folder / "licences" / name).iterdir()))
    # The object files of swift-asn1 are not in the binary, although packages that it needs name it.
    expect("only what is linked in", '"name": "swift-asn1"' not in text or "SwiftASN1" in subprocess.run(["nm", PACKER], capture_output=True, text=True).stdout)
    accepted("what it lists", "listed", folder)
    (folder / "README.md").write_text("Read that.\n")
    refused("another README", "README.md", "listed", folder)
    (folder / "README.md").write_text("Read this.\n")
    (folder / "more").write_text("")
    refused("a file more", "more", "listed", folder)
    (folder / "more").unlink()
    document = json.loads(text)
    document["metadata"]["component"]["properties"][0]["value"] = "0" * 64
    listing.write_text(json.dumps(document))
    refused("other sources", "other sources", "listed", folder)


def signatures(place):
    def key(name):
        subprocess.run([PACKER, "key", "new", "--signing", "-o", place / name], check=True, capture_output=True)
        return subprocess.run([PACKER, "key", "public", "--sign-key", place / name], check=True, capture_output=True, text=True).stdout.strip()

    public, other = key("sign.key"), key("other.key")
    file = place / "release.tar.gz"
    file.write_bytes(os.urandom(100_000))
    refused("unsigned", "is not signed", "verify", file, "--signer", public)
    subprocess.run([PACKER, "key", "new", "-o", place / "pack.key"], check=True, capture_output=True)
    refused("a key of packs", "holds no signing key", "sign", file, "--sign-key", place / "pack.key")
    text = (place / "sign.key").read_text()
    (place / "typed.key").write_text(text[:6] + ("0" if text[6] != "0" else "1") + text[7:])
    refused("a typing error", "typing error", "sign", file, "--sign-key", place / "typed.key")
    expect("no signature yet", not pathlib.Path(f"{file}.sig").exists())
    found = provenance("sign", file, "--sign-key", place / "sign.key")
    expect("signed", found.returncode == 0, found.stderr)
    expect("the key is not printed", text.split("-")[1] not in found.stdout + found.stderr)
    expect("nothing is left in memory", not any(name.startswith("tmp") and os.path.isfile(f"/dev/shm/{name}/key") for name in os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else True)
    accepted("its key", "verify", file, "--signer", public)
    refused("another key", "no signature of this file", "verify", file, "--signer", other)
    refused("no key", "holds no public key", "verify", file, "--signer", "pkp1-")
    expect("a signing key is not echoed", text.strip() not in provenance("verify", file, "--signer", text.strip()).stderr)
    # ssh-keygen itself, with the line that a person writes.
    line = found.stderr.split("signed for ")[1].strip()
    (place / "signers").write_text(f"packer {line}\n")
    command = ["ssh-keygen", "-Y", "verify", "-f", place / "signers", "-I", "packer", "-s", f"{file}.sig"]
    for purpose, status in [("packer-release", 0), ("file", 255)]:
        with open(file, "rb") as content:
            expect(f"ssh-keygen, {purpose}", subprocess.run([*command, "-n", purpose], stdin=content, capture_output=True).returncode == status)
    content = bytearray(file.read_bytes())
    content[50_000] ^= 1
    file.write_bytes(content)
    refused("one bit", "no signature of this file", "verify", file, "--signer", public)


with tempfile.TemporaryDirectory() as name:
    for part in (packages, contents, signatures):
        folder = pathlib.Path(name) / part.__name__
        folder.mkdir()
        part(folder)
for line in wrong:
    print(f"wrong: {line}")
print(f"{checked} checks of pins, list and signature, {len(wrong)} wrong")
sys.exit(bool(wrong))
