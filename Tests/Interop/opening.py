#!/usr/bin/env python3
"""Content that opens at a time, from packer.yml to the server: a release is built and published before the time, and `packer publish --open` runs before
it and after it, with the server's clock right and wrong. Until then, the place has nothing that opens the pack, as the second implementation of the
format says.

The command is named by the variable PACKER. Clocks are set by the time in packer.yml, and by the Date of the server.
"""

import datetime
import email.utils
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Scripts"))

from vectors.format.errors import Refused  # noqa: E402
from vectors.format.keys import key_of_pack, parse_key_text  # noqa: E402
from vectors.format.openers import open_opener  # noqa: E402
from vectors.format.pack import open_pack  # noqa: E402

PACKER = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(place, *arguments, status=0):
    done = subprocess.run([PACKER, *map(str, arguments)], cwd=place, capture_output=True, text=True)
    expect(done.returncode == status, f"packer {' '.join(map(str, arguments))}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done


class Server:
    """Serves a folder, with a clock that may be wrong."""

    def __init__(self, folder):
        self.seconds = 0
        server = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(folder))

            def date_time_string(self, timestamp=None):
                return email.utils.formatdate((time.time() if timestamp is None else timestamp) + server.seconds, usegmt=True)

            def log_message(self, *arguments):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.address = f"http://127.0.0.1:{self.http.server_port}/"


def configure(place, seconds):
    """A release whose pack opens in so many seconds."""
    opens = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    (place / "packer.yml").write_text(f"""\
serve: {{baseURL: "https://cdn.example.com/packs/"}}
key: file:key
signKey: file:sign.key
perPackKeys: true
packs:
  - {{id: core, root: core}}
  - {{id: finale, root: finale, install: packed, opens: {opens.strftime("%Y-%m-%dT%H:%M:%SZ")}}}
""")


def opened(place, server, *options, status=0):
    done = run(place, "publish", "--open", "--to", "www", "--live-at", server.address, "--json", *options, status=status)
    records = [json.loads(line) for line in done.stdout.splitlines()]
    return next((record for record in records if record.get("type") == "opening"), None), done.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        for pack in ("core", "finale"):
            (place / pack).mkdir()
            (place / pack / "index.html").write_text(f"<p>{pack}</p>")
        run(place, "key", "new", "-o", "key", "-q")
        run(place, "key", "new", "--signing", "-o", "sign.key", "-q")
        root = parse_key_text((place / "key").read_text().strip())
        own = key_of_pack(root, "finale")
        (place / "www").mkdir()
        server = Server(place / "www")
        configure(place, 3600)
        run(place, "build", "-q")
        run(place, "verify", "dist")
        run(place, "publish", "--to", "www", "--quick")
        pack = next((place / "www").glob("finale-*.pack")).read_bytes()
        expect(open_pack(pack, root), "the root key does not open the pack")
        try:
            open_pack(pack, own)
            expect(False, "the app's key opens the pack before its time")
        except Refused as error:
            expect(error.name == "wrong-key", f"the app's key: {error}")
        live = ("verify", "dist", "--only", "PK7002", "--only", "PK7023", "--live-at", server.address)
        run(place, *live)

        # A device with the keys of the packs installs it, and cannot open it.
        run(place, "key", "derive", "-c", "packer.yml", "-o", "keys")
        device = ("--store", "phone", "--key", "file:keys/core.key", "--key", "file:keys/finale.key")
        run(place, "store", "install", "www", *device)
        run(place, "store", "activate", "finale", "--store", "phone", status=10)

        # Before the time nothing is published, whoever asks, and a wrong clock is noticed.
        record, _ = opened(place, server)
        expect(record and record["opened"] == [] and [one["id"] for one in record["later"]] == ["finale"], f"before the time: {record}")
        for seconds in (7200, -7200, 400):
            server.seconds = seconds
            _, said = opened(place, server, status=1)
            expect("says that it is" in said and "hint: set the clock" in said, f"a clock that differs by {seconds} s: {said}")
        server.seconds = 0
        expect(not list((place / "www").glob("*.opener")), "an opener is there before its time")
        dead = run(place, "publish", "--open", "--to", "www", "--live-at", "http://127.0.0.1:1/", status=21)
        expect("cannot be reached" in dead.stderr, f"no server: {dead.stderr}")
        run(place, "publish", "dist", "--open", "--to", "www", status=64)

        # The time is moved forward, as it may be until then.
        configure(place, 2)
        run(place, "build", "-q")
        run(place, "publish", "--to", "www", "--quick")
        expect(next((place / "www").glob("finale-*.pack")).read_bytes() == pack, "another time makes another pack")
        time.sleep(3)
        record, _ = opened(place, server, "--dry-run")
        expect(record and record["opened"] == ["finale"] and record["isDryRun"], f"a trial: {record}")
        expect(not list((place / "www").glob("*.opener")), "a trial opens the pack")
        run(place, *live, status=20)
        record, _ = opened(place, server)
        expect(record and record["opened"] == ["finale"], f"at the time: {record}")
        found = list((place / "www").glob("finale-*.opener"))
        expect(len(found) == 1, f"openers: {found}")
        data = found[0].read_bytes()
        listing = run(place, "inspect", "--json", "www/manifest.json").stdout
        entry = next(one for one in map(json.loads, listing.splitlines()) if one.get("id") == "finale")["opener"]
        expect(len(data) == 156 and open_pack(pack, open_opener(data, entry, pack, own)), "the opener does not open the pack")
        run(place, *live)
        said = run(place, "store", "install", "www", *device)
        expect("can be opened now" in said.stderr, f"the device: {said.stdout}{said.stderr}")
        run(place, "store", "activate", "finale", "--store", "phone")
        record, _ = opened(place, server)
        expect(record and record["opened"] == [] and record["isOpen"] == ["finale"], f"again: {record}")
        expect(found[0].read_bytes() == data, "the opener changed")

        # A release that is built now brings its opener, and a machine with a wrong clock does not publish one too early.
        run(place, "build", "-q")
        expect((place / "dist" / found[0].name).read_bytes() == data, "a release that is built after the time has another opener")
        found[0].unlink()
        server.seconds = -7200
        run(place, "publish", "--to", "www", "--live-at", server.address, "--quick", status=1)
        expect(not found[0].exists(), "an opener was published against the server's clock")
    if failures:
        sys.exit(1)
    print("a pack was published an hour before its time and opened at it, once; no wrong clock and no key of the app opened it before")


if __name__ == "__main__":
    main()
