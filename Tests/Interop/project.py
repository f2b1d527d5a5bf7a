"""What the programs beside this one share: the command they look at, a project for it, and what a run has of the environment."""

import hashlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))

# Fixed, so that a change fails only for what it changed; runs at night set others.
SEED = int(os.environ.get("PACKER_TEST_SEED", 1))

# The package `vectors`: the second implementation, and the cases that are made with it.
sys.path.append(str(ROOT / "Scripts"))

CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:game.key
signKey: file:game.sign.key
packs:
  - {id: core, root: content/core, delivery: essential, tags: [start]}
  - {id: kart, root: content/kart, delivery: prefetch, install: packed}
"""

# Games with keys of their own. Takes the compression level.
GAMES_CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:root.key
perPackKeys: true
signKey: file:sign.key
defaults: {level: %d}
packs:
  - {id: "game-${name}", each: "games/*", delivery: onDemand}
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


class Checks:
    """What is expected, and what was wrong."""

    def __init__(self):
        self.failures = []

    def expect(self, condition, text):
        if not condition:
            self.failures.append(text)
            print(f"wrong: {text}", file=sys.stderr, flush=True)
        return condition

    def run(self, place, *arguments, environment=None, status=0, inherits=True):
        """Runs packer; `status` is the expected one, or None for any."""
        environment = {**(os.environ if inherits else inherited()), **(environment or {})}
        done = subprocess.run(
            [os.path.abspath(PACKER), *map(str, arguments)], cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment)
        words = " ".join(map(str, arguments))
        self.expect(status is None or done.returncode == status, f"packer {words}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-900:]}")
        return done

    def finish(self):
        if self.failures:
            sys.exit(f"{len(self.failures)} things are wrong")


def contents(folder):
    """The bytes of all files in a folder, by their paths."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}
