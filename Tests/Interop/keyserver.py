#!/usr/bin/env python3
"""Runs Examples/KeyServer as an app and a stranger would: keyserver.py CLIENT, CLIENT being the guide's code as a program.

PACKER names the packer whose packs and keys are used.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = ROOT / "Examples" / "KeyServer" / "key-server.py"
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
checks = 0


def check(what, holds):
    global checks
    checks += 1
    if not holds:
        sys.exit(f"error: {what}")


def packer(*arguments, given=None):
    return subprocess.run([PACKER, *map(str, arguments)], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=given).stdout.decode()


@contextlib.contextmanager
def serving(place, *more):
    """The server; gives its address. What it logs is in the file log."""
    with open(place / "log", "ab") as log:
        process = subprocess.Popen(
            [sys.executable, SERVER, "serve", "--root", place / "old.key", "--root", place / "root.key", "--devices", place / "devices.json", "--port", "0", *more],
            stdout=subprocess.PIPE, stderr=log)
        try:
            yield process.stdout.readline().decode().strip()
        finally:
            process.terminate()
            process.wait(60)
            process.stdout.close()


def ask(url, token, body, context=None, path=""):
    request = urllib.request.Request(url + path, data=body if isinstance(body, bytes) else json.dumps(body).encode(), method="POST")
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=60, context=context) as answer:
            return answer.status, answer.read(), answer.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), error.headers


def text_of(key):
    return f"pkk1-{key.hex()}-{hashlib.sha256(b'pack/v1/key-text' + bytes(1) + key).hexdigest()[:8]}\n".encode()


def main():
    client = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="packer-keys.") as name:
        place = pathlib.Path(name)
        for key in ("root.key", "old.key", "stranger.key"):
            packer("key", "new", "-o", place / key)
        tree = ROOT / "Examples" / "KeyServer"
        ids = {}
        for pack, key in (("kart", "root.key"), ("chess", "old.key"), ("secret", "root.key"), ("foreign", "stranger.key")):
            packer("pack", tree, "-o", place / f"{pack}.pack", "--name", pack, "--key", place / key, "--per-pack-key", "--quiet")
            record = json.loads(packer("inspect", place / f"{pack}.pack", "--json").splitlines()[0])
            ids[pack] = {"keyID": record["keyID"], "packID": record["packID"]}

        def add(device, packs, *more):
            return subprocess.run(
                [sys.executable, SERVER, "add", device, "--packs", packs, "--devices", place / "devices.json", *more],
                check=True, stdout=subprocess.PIPE).stdout.decode().strip()

        token, late, eager = add("alice", "kart,chess,foreign"), add("late", "kart", "--days", "0"), add("eager", "kart")
        check("the file of devices is its owner's only", (place / "devices.json").stat().st_mode & 0o077 == 0)
        check("no token is in the file of devices", not any(secret in (place / "devices.json").read_text() for secret in (token, late, eager)))

        keys = []
        with serving(place, "--per-minute", "12") as url:
            for pack in ("kart", "chess"):
                status, key, headers = ask(url, token, ids[pack])
                check(f"a device gets the key of {pack}", status == 200 and len(key) == 32 and headers["Cache-Control"] == "no-store")
                packer("check", place / f"{pack}.pack", "--key", "stdin", given=text_of(key))
                keys.append(key)
            refusals = [
                ("no token", None, ids["kart"], 401), ("an unknown token", "A" * 43, ids["kart"], 401), ("a token that is over", late, ids["kart"], 401),
                ("a pack of somebody else", token, ids["secret"], 403), ("a key that does not follow from a root key", token, ids["foreign"], 404),
                ("no JSON", token, b"{", 400), ("other JSON", token, [1], 400), ("digits that are none", token, {"keyID": "x", "packID": "y"}, 400),
                ("a body of 2 000 bytes", token, b" " * 2000, 413),
            ]
            for what, who, body, expected in refusals:
                status, answer, _ = ask(url, who, body)
                check(f"{what} is refused with {expected}, not {status}", status == expected and answer == b"")
            check("another path is not there", ask(url, token, ids["kart"], path="/more")[0] == 404)
            statuses = [ask(url, eager, ids["kart"])[0] for _ in range(14)]
            check(f"a device that asks too often waits: {statuses}", statuses[:12] == [200] * 12 and set(statuses[12:]) == {429})
            check("and learns how long", int(ask(url, eager, ids["kart"])[2]["Retry-After"]) > 0)

        with serving(place) as url:
            def run(who, pack):
                return subprocess.run([client, url, who, place / f"{pack}.pack"], stdout=subprocess.PIPE, timeout=60).stdout.decode()
            check("the guide's client opens a pack", run(token, "kart") == "2 entries\n" * 2)
            said = run(token, "secret")
            check(f"the guide's client is told of a refusal: {said}", said.startswith("no-key: ") and said.endswith("status 403\n"))
            devices = json.loads((place / "devices.json").read_text())
            (place / "devices.json").write_text(json.dumps({digest: device for digest, device in devices.items() if device["name"] != "alice"}))
            check("a device that was removed gets nothing more", ask(url, token, ids["kart"])[0] == 401)
            (place / "devices.json").write_text(json.dumps(devices))

        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", place / "tls.key", "-out", place / "tls.pem",
             "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"], check=True, stderr=subprocess.DEVNULL)
        with serving(place, "--cert", place / "tls.pem", "--cert-key", place / "tls.key", "--host", "localhost") as url:
            check("with a certificate it serves HTTPS", url.startswith("https://localhost:"))
            trusting = ssl.create_default_context(cafile=place / "tls.pem")
            check("a device gets its key over HTTPS", ask(url, token, ids["kart"], trusting)[1] == keys[0])

        for refused in (["--host", "0.0.0.0"],):
            done = subprocess.run(
                [sys.executable, SERVER, "serve", "--root", place / "root.key", "--devices", place / "devices.json", *refused], stderr=subprocess.PIPE)
            check("keys do not travel in the clear to other machines", done.returncode != 0)
        (place / "root.key").chmod(0o644)
        done = subprocess.run([sys.executable, SERVER, "serve", "--root", place / "root.key", "--devices", place / "devices.json"], stderr=subprocess.PIPE)
        check("a root key that others can read is refused", b"chmod 600" in done.stderr and done.returncode != 0)

        log = (place / "log").read_text()
        check("the log says who had which key", "200 device=alice pack=kart" in log)
        secrets = [token, late, eager, *(key.hex() for key in keys)]
        secrets += [file.read_text().split("-")[1] for file in (place / "root.key", place / "old.key")]
        check("no secret is in the log", not any(secret in log for secret in secrets))
    print(f"{checks} checks of the key server hold")


if __name__ == "__main__":
    main()
