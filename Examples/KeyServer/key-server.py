#!/usr/bin/env python3
"""A small key server: sends the key of one pack to a device that may have it.

  key-server.py add NAME --packs ID[,ID]… --devices FILE [--days N]   allows a device, and prints its token
  key-server.py serve --root FILE --devices FILE [--cert FILE --cert-key FILE] [--host H] [--port N]

The root key (`packer key new`, with `perPackKeys: true` in packer.yml) stays here; a device gets keys that follow from it
(FORMAT.md §2.3). Needs Python 3.9 and nothing else. An example: read Documentation/KEYS_IN_APPS.md before you run one.
"""

import argparse
import datetime
import hashlib
import hmac
import http.server
import json
import os
import pathlib
import re
import secrets
import ssl
import stat
import sys
import threading
import time

LARGEST_BODY = 1024
REQUESTS_PER_MINUTE = 30
ADDRESSES_REMEMBERED = 10_000
LOOPBACK = ("127.0.0.1", "::1", "localhost")


# Keys, as FORMAT.md defines them.


def hkdf(key, info, count):
    """HKDF-SHA256 without a salt; count is at most 32."""
    return hmac.digest(hmac.digest(bytes(32), key, "sha256"), info + b"\x01", "sha256")[:count]


def pack_id(name):
    return hashlib.sha256(b"pack/v1/pack-id\0" + name.encode("ascii")).digest()


def pack_key(root, pack):
    return hkdf(root, b"pack/v1/pack-key\0" + pack, 32)


def key_id(key):
    return hkdf(key, b"pack/v1/key-id\0", 8)


def read_root(path):
    """The key in a file that only its owner can read."""
    with open(path, encoding="ascii") as file:
        if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & 0o077:
            sys.exit(f"error: {path} can be read by others; run: chmod 600 {path}")
        text = file.read().strip()
    match = re.fullmatch(r"pkk1-([0-9a-f]{64})-([0-9a-f]{8})", text)
    key = bytes.fromhex(match[1]) if match else b""
    if not match or hashlib.sha256(b"pack/v1/key-text\0" + key).hexdigest()[:8] != match[2]:
        sys.exit(f"error: {path} holds no key text; make one with: packer key new -o {path}")
    return key


# Devices: a file with digests of their tokens, so that the file reveals no token.


class Devices:
    """The devices of a file, read again when the file changes: a removed device is refused at once."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.lock = threading.Lock()
        self.stamp = None
        self.known = {}
        self.read()

    def read(self):
        with self.lock:
            status = self.path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if stamp != self.stamp:
                self.known = json.loads(self.path.read_text(encoding="utf-8"))
                self.stamp = stamp
            return self.known

    def find(self, token):
        """Returns the device with this token, unless the token has expired."""
        # Looked up by digest: the time of the look-up depends on the digest, which does not reveal the token.
        device = self.read().get(hashlib.sha256(token.encode()).hexdigest())
        return device if device and time.time() < device["until"] else None


def add_device(options):
    path = pathlib.Path(options.devices)
    devices = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    packs = options.packs.split(",")
    for pack in packs:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", pack):
            sys.exit(f"error: '{pack}' is not the id of a pack")
    token = secrets.token_urlsafe(32)
    devices[hashlib.sha256(token.encode()).hexdigest()] = {"name": options.name, "packs": packs, "until": int(time.time()) + options.days * 86_400}
    staged = path.with_name(path.name + ".new")
    with open(os.open(staged, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        json.dump(devices, file, indent=1)
    os.replace(staged, path)
    print(token)


class Limiter:
    """A limit of requests per minute for each name. Further requests are refused with the seconds to wait."""

    def __init__(self, per_minute):
        self.per_minute = per_minute
        self.lock = threading.Lock()
        self.buckets = {}

    def wait(self, name):
        """Counts one request; returns 0, or the seconds to wait."""
        now = time.monotonic()
        with self.lock:
            left, last = self.buckets.pop(name, (self.per_minute, now))
            left = min(self.per_minute, left + (now - last) * self.per_minute / 60)
            self.buckets[name] = (left - 1 if left >= 1 else left, now)
            if len(self.buckets) > ADDRESSES_REMEMBERED:
                self.buckets.pop(next(iter(self.buckets)))
            return 0 if left >= 1 else int((1 - left) * 60 / self.per_minute) + 1


# The server.


class Handler(http.server.BaseHTTPRequestHandler):
    """POST /v1/pack-key {"keyID": 16 digits, "packID": 64 digits} with a bearer token; the answer is the key's 32 bytes."""

    server_version = "key-server"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_POST(self):
        self.device = self.pack = "-"
        status, body, fields = self.answer()
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Cache-Control", "no-store")
        if status != 200:
            # The unread rest of a body would be parsed as the next request.
            self.send_header("Connection", "close")
            self.close_connection = True
        self.end_headers()
        self.wfile.write(body)
        moment = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        print(f"{moment} {status} device={self.device} pack={self.pack}", file=sys.stderr, flush=True)

    def answer(self):
        wait = self.server.addresses.wait(self.client_address[0])
        if wait:
            return 429, b"", {"Retry-After": str(wait)}
        if self.path != "/v1/pack-key":
            return 404, b"", {}
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        device = self.server.devices.find(token) if kind == "Bearer" else None
        if device is None:
            return 401, b"", {"WWW-Authenticate": "Bearer"}
        self.device = device["name"]
        wait = self.server.tokens.wait(device["name"])
        if wait:
            return 429, b"", {"Retry-After": str(wait)}
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,6}", length):
            return 411, b"", {}
        if int(length) > LARGEST_BODY:
            return 413, b"", {}
        try:
            question = json.loads(self.rfile.read(int(length)))
            wanted, pack = bytes.fromhex(question["keyID"]), bytes.fromhex(question["packID"])
        except (ValueError, KeyError, TypeError):
            return 400, b"", {}
        # The ids in a request are public and prove nothing. What counts is which packs this device may have.
        name = next((name for name in device["packs"] if pack_id(name) == pack), None)
        if name is None:
            return 403, b"", {}
        self.pack = name
        for root in self.server.roots:
            key = pack_key(root, pack)
            if key_id(key) == wanted:
                return 200, key, {}
        return 404, b"", {}

    def log_message(self, *_):
        """Nothing: do_POST writes one line, without path, token or key."""


def serve(options):
    if not options.cert and options.host not in LOOPBACK:
        sys.exit("error: without --cert the server listens on this machine only: keys travel in the clear")
    server = http.server.ThreadingHTTPServer((options.host, options.port), Handler)
    server.daemon_threads = True
    server.roots = [read_root(path) for path in options.root]
    server.devices = Devices(options.devices)
    server.addresses, server.tokens = Limiter(4 * options.per_minute), Limiter(options.per_minute)
    if options.cert:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(options.cert, options.cert_key)
        # The handshake runs on the connection's thread, so one that never ends does not block other connections.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    print(f"{'https' if options.cert else 'http'}://{options.host}:{server.server_port}/v1/pack-key", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("add", help="allow a device, and print its token")
    command.add_argument("name", help="what the log calls the device")
    command.add_argument("--packs", required=True, help="the ids of the packs it may have, separated by commas")
    command.add_argument("--devices", required=True, help="the file of devices")
    command.add_argument("--days", type=int, default=30, help="how long the token is good for (default: 30)")
    command = commands.add_parser("serve", help="answer requests for keys")
    command.add_argument("--root", action="append", required=True, help="the file of a root key; repeatable while keys change")
    command.add_argument("--devices", required=True, help="the file of devices")
    command.add_argument("--host", default="127.0.0.1")
    command.add_argument("--port", type=int, default=7226, help="0 for a free one (default: 7226)")
    command.add_argument("--cert", help="certificate chain, PEM; without it only this machine is served")
    command.add_argument("--cert-key", help="private key of the certificate, PEM")
    command.add_argument("--per-minute", type=int, default=REQUESTS_PER_MINUTE, help="requests of one device in a minute (default: 30)")
    options = parser.parse_args()
    add_device(options) if options.command == "add" else serve(options)


if __name__ == "__main__":
    main()
