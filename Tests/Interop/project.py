"""What the programs beside this one share: the command they look at, a project for it, and what a run has of the environment."""

import hashlib
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))

CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:game.key
signKey: file:game.sign.key
packs:
  - {id: core, root: content/core, delivery: essential, tags: [start]}
  - {id: kart, root: content/kart, delivery: prefetch, install: packed}
"""

PLIST = """\
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.arcade</string></dict></plist>
"""


def fail(message):
    sys.exit(f"error: {message}")


def inherited():
    """What a run needs of the environment of this one, and nothing else of it."""
    return {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS") if name in os.environ}


def vector_key(fields):
    """The text of the key that the head of a test vector names."""
    if "key" in fields:
        return fields["key"]
    secret = bytes.fromhex(fields["recipient"])
    return f"pkx1-{secret.hex()}-{hashlib.sha256(b'pack/v1/recipient-key-text' + bytes(1) + secret).hexdigest()[:8]}"
