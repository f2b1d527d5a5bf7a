#!/usr/bin/env python3
"""`packer verify --live` against nginx: over TLS with an authority made here, and over http on this machine. A clean release has no finding; each planted
fault is found by its rule, and by no other one than those that are named with it. What nginx cannot do wrong, a small server in this file does.

The command is named by the variable PACKER. Prints how many faults were found.
"""

import contextlib
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from servers import NGINX, free_port, packer_serve, stop, user

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
# More than one batch.
PACKS = 70
CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/", hosts: [mirror.example.com]}
key: file:key
signKey: file:sign.key
packs:
  - {id: core, root: core, delivery: essential}
  - {id: "game-${name}", each: "games/*", delivery: onDemand}
"""
LOCATIONS = """
location /packs/ { add_header Cache-Control "public, max-age=31536000, immutable"; %s }
location = /packs/manifest.json { add_header Cache-Control "public, max-age=60"; default_type application/json; %s }
"""

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(place, *arguments, environment=None, status=0):
    done = subprocess.run([PACKER, *map(str, arguments)], cwd=place, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    expect(status is None or done.returncode == status, f"packer {' '.join(map(str, arguments))}: {done.returncode}: {done.stdout[-900:]}{done.stderr[-600:]}")
    return done


class Certificates:
    """Certificates of an authority that curl trusts, and of one that it does not."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        for name in ("ca", "other-ca"):
            self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.crt", "-days", "3650", "-subj", f"/CN={name}")
        self.good = self.make("good")
        # What the user has set for curl must not count.
        (folder / ".curlrc").write_text(f'insecure\noutput = "{folder}/stolen"\nwrite-out = "%{{http_code}}"\n')
        self.environment = {"CURL_CA_BUNDLE": str(folder / "ca.crt"), "CURL_HOME": str(folder), "HOME": str(folder)}

    def _openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def make(self, name, host="localhost", ca="ca", start=-86_400, end=90 * 86_400):
        def moment(offset):
            return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + offset))

        self._openssl("req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={host}")
        (self.folder / f"{name}.cnf").write_text(
            f"[ca]\ndefault_ca=a\n[a]\nnew_certs_dir=.\ndatabase={name}.txt\nserial={name}.srl\ndefault_md=sha256\npolicy=p\n"
            f"rand_serial=yes\nx509_extensions=x\n[p]\ncommonName=supplied\n[x]\nsubjectAltName=DNS:{host}\n")
        (self.folder / f"{name}.txt").write_text("")
        self._openssl("ca", "-batch", "-config", f"{name}.cnf", "-cert", f"{ca}.crt", "-keyfile", f"{ca}.key", "-in", f"{name}.csr", "-out", f"{name}.crt",
                      "-startdate", moment(start), "-enddate", moment(end), "-notext")
        return name


class Web:
    """What is served: a folder, and how nginx serves it."""

    def __init__(self, place, certificates):
        self.place, self.certificates = place, certificates
        self.packs = place / "www/packs"
        self.log = place / "nginx/access.log"
        self.reset()

    def reset(self):
        """Brings back the release as it was published."""
        shutil.rmtree(self.place / "www", ignore_errors=True)
        shutil.copytree(self.place / "published", self.packs)

    def named(self, pattern):
        return sorted(self.packs.glob(pattern))[0]

    @contextlib.contextmanager
    def serve(self, packs="", manifest="", extra="", certificate=None, tls=True, server="", around=LOCATIONS):
        """Runs nginx; gives the address of the release."""
        folder = self.place / "nginx"
        folder.mkdir(exist_ok=True)
        self.log.write_text("")
        port = free_port()
        temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        name = certificate or self.certificates.good
        security = f"ssl_certificate {self.certificates.folder}/{name}.crt; ssl_certificate_key {self.certificates.folder}/{name}.key;" if tls else ""
        (folder / "nginx.conf").write_text(
            f"daemon off; worker_processes 1; pid {folder}/pid; error_log {folder}/errors.log;\nevents {{ worker_connections 256; }}\n"
            f"http {{ log_format short '$status $body_bytes_sent $request_uri $http_range'; access_log {self.log} short; {temporary}\n"
            f"default_type application/octet-stream; types {{}}\n"
            f"server {{ listen 127.0.0.1:{port}{' ssl http2' if tls else ''}; {security} root {self.place / 'www'}; {server}\n{around % (packs, manifest)}\n{extra} }} }}\n")
        process = subprocess.Popen([NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", user()], stderr=subprocess.DEVNULL)
        try:
            for _ in range(3000):
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                    break
                if process.poll() is not None:
                    raise RuntimeError(f"nginx does not start: {(folder / 'errors.log').read_text()[-500:]}")
                time.sleep(0.02)
            yield f"{'https://localhost' if tls else 'http://127.0.0.1'}:{port}/packs/"
        finally:
            stop(process)


class Odd(http.server.BaseHTTPRequestHandler):
    """Serves the folder, wrongly in one way."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.server.folder / self.path.rsplit("/", 1)[1]
        body = path.read_bytes()
        way = self.server.way
        if way == "endless manifest" and path.name == "manifest.json" or way == "endless parts" and path.name == self.server.core:
            return self.endless()
        if way == "drip":
            return self.drip()
        self.server.counts[path.name] = count = self.server.counts.get(path.name, 0) + 1
        if way == "busy once" and count == 1:
            self.send_response(503)
            self.send_header("Retry-After", "1")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        is_core = path.name == self.server.core
        first, last = (int(match[1]), int(match[2])) if match else (0, len(body) - 1)
        self.send_response(206 if match else 200)
        if match:
            self.send_header("Content-Range", f"bytes {first}-{last}/{len(body)}")
        part = body[first:last + 1]
        if way == "wrong part" and match and is_core:
            part = bytes(len(part))
        self.send_header("ETag", f'"{count}"' if way == "other tags" else '"one"')
        self.send_header("Cache-Control", "max-age=60" if path.name == "manifest.json" else "max-age=31536000")
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if way == "broken off" and is_core and not match:
            self.wfile.write(part[:1000])
            self.close_connection = True
            return
        if way == "broken off once" and is_core and not match and not self.server.was_broken:
            self.server.was_broken = True
            self.wfile.write(part[:1000])
            self.close_connection = True
            return
        self.wfile.write(part)


    def endless(self):
        """A body without a length, and without an end."""
        self.send_response(206 if "Range" in self.headers else 200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with contextlib.suppress(OSError):
            for _ in range(ENDLESS >> 20):
                self.wfile.write(b"100000\r\n" + bytes(1 << 20) + b"\r\n")

    def drip(self):
        """A little more than the least that curl waits for."""
        self.send_response(200)
        self.send_header("Content-Length", "1000000")
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(bytes(1100))
                time.sleep(1)


# Where a server that has no end stops, so that it cannot fill the disk of the test.
ENDLESS = 2 << 30


@contextlib.contextmanager
def odd(folder, way):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.folder, server.way, server.counts, server.was_broken = folder, way, {}, False
    server.core = large(folder.parents[1] / "dist")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/packs/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def look(place, address, *options, environment, status=None):
    """Returns the findings of a live check."""
    done = run(place, "verify", "dist", "--only", "PK7", "--live-at", address, "--json", *options, environment=environment, status=status)
    return [json.loads(line) for line in done.stdout.splitlines()], done


def make(place):
    """Makes two releases, the second with deltas over the first, and publishes both."""
    (place / "core").mkdir()
    (place / "core/data.bin").write_bytes(os.urandom(600_000))
    for game in range(PACKS):
        (place / f"games/{game}").mkdir(parents=True)
        (place / f"games/{game}/index.html").write_text(f"<!doctype html><title>{game}</title>")
        (place / f"games/{game}/data.bin").write_bytes(os.urandom(30_000))
    (place / "packer.yml").write_text(CONFIGURATION)
    run(place, "key", "new", "-o", "key")
    run(place, "key", "new", "--signing", "-o", "sign.key")
    for release in range(2):
        if release:
            with open(place / "core/data.bin", "r+b") as file:
                file.write(os.urandom(1000))
        run(place, "build", "--quiet")
        run(place, "publish", "--to", "published", "--quick", "--quiet")
        if not release:
            shutil.copy(place / "published/manifest.json", place / "first.json")


def faults(web):
    """The planted faults: a name, the rules that find it, a change of the folder, and how nginx is to serve it."""
    packs, make = web.named, web.certificates.make

    def change(pattern, body):
        def apply():
            path = packs(pattern)
            path.write_bytes(body(bytearray(path.read_bytes())))
        return apply

    def flip(data):
        data[len(data) // 2] ^= 1
        return data

    def remove(pattern):
        return lambda: packs(pattern).unlink()

    def former():
        shutil.copy(web.place / "first.json", web.packs / "manifest.json")

    def gone():
        names = {path.name for path in (web.place / "dist").glob("core-*.pack")}
        [path.unlink() for path in web.packs.glob("core-*.pack") if path.name not in names]

    current = large(web.place / "dist")
    delta = next(path.name for path in (web.place / "dist").glob("core-*.pack") if path.stat().st_size < 500_000)
    only_core = "location = /packs/%s { add_header Cache-Control 'max-age=31536000'; %%s }" % current
    nothing = lambda: None
    # nginx keeps back what may begin a directive of SSI, and forgets it at the end of a file.
    is_cut = re.search(rb"<(!-?-?)?$", (web.place / "dist" / current).read_bytes())
    return [
        ("gzip of all files", {"PK7006"}, nothing, {"server": "gzip on; gzip_types *; gzip_min_length 1;"}),
        ("gzip of one file", {"PK7006"}, nothing, {"extra": only_core % "gzip on; gzip_types *; gzip_min_length 1;"}),
        ("a file with more bytes", {"PK7003"}, change(current, lambda data: data + b"more"), {}),
        ("a truncated file", {"PK7003"}, change(current, lambda data: data[:-5000]), {}),
        ("a truncated shard", {"PK7003"}, change("catalogue-*.shard", lambda data: data[:-1]), {}),
        ("an empty file", {"PK7003"}, change(current, lambda data: b""), {}),
        ("a stale edge copy", {"PK7001", "PK7016"}, former, {"manifest": "add_header Age 90000;"}),
        ("an old manifest", {"PK7001"}, former, {}),
        ("another manifest", {"PK7001"}, change("manifest.json", lambda data: data + b"\n"), {}),
        ("a web page in place of the manifest", {"PK7001", "PK7013"}, remove("manifest.json"),
         {"around": LOCATIONS.replace("default_type application/json;", "default_type text/html; return 200 '<html></html>';")}),
        ("no manifest", {"PK7002"}, remove("manifest.json"), {}),
        ("a pack that is missing", {"PK7002"}, remove("game-7-*.pack"), {}),
        ("a delta that is missing", {"PK7002"}, remove(delta), {}),
        ("a shard that is missing", {"PK7002"}, remove("catalogue-*.shard"), {}),
        ("a pack that is not allowed to be read", {"PK7019"}, nothing, {"extra": only_core % "deny all;"}),
        ("a server that is always busy", {"PK7020"}, nothing, {"extra": only_core % "return 503;"}),
        ("a changed byte", {"PK7005"}, change(current, flip), {}),
        ("a changed byte of a shard", {"PK7005"}, change("catalogue-*.shard", flip), {}),
        ("another file under the name", {"PK7005"}, change("game-3-*.pack", lambda data: os.urandom(len(data))), {}),
        ("a redirect to another host", {"PK7008"}, nothing, {"extra": only_core % "return 302 https://other.example.net$request_uri;"}),
        ("a redirect to http", {"PK7009"}, nothing, {"extra": only_core % "return 301 http://cdn.example.com$request_uri;"}),
        ("a redirect to itself", {"PK7009"}, nothing, {"extra": only_core % "return 302 $request_uri;"}),
        ("ranges that are ignored", {"PK7011"}, nothing, {"server": "max_ranges 0;"}),
        ("no validators", {"PK7011"}, nothing, {"packs": "etag off; add_header Last-Modified '';"}),
        ("a type of texts", {"PK7013"}, nothing, {"packs": "default_type text/plain;"}),
        ("packs that no cache may keep", {"PK7014"}, nothing, {"around": LOCATIONS.replace("public, max-age=31536000, immutable", "no-store")}),
        ("packs that are kept for a minute", {"PK7014"}, nothing, {"around": LOCATIONS.replace("31536000", "60")}),
        ("packs without a time", {"PK7014"}, nothing, {"around": LOCATIONS.replace('add_header Cache-Control "public, max-age=31536000, immutable";', "")}),
        ("a manifest that is kept for a day", {"PK7015"}, nothing, {"around": LOCATIONS.replace("max-age=60", "max-age=86400")}),
        ("copies that are too old", {"PK7016"}, nothing, {"packs": "add_header Age 99999999;"}),
        ("no length", {"PK7011", "PK7017"} | ({"PK7003"} if is_cut else set()), nothing, {"extra": only_core % "ssi on; ssi_types *;"}),
        ("a pack of the release before that is gone", {"PK7012"}, gone, {}),
        ("an expired certificate", {"PK7007"}, nothing, {"certificate": make("expired", start=-9 * 86_400, end=-86_400)}),
        ("a certificate of another host", {"PK7007"}, nothing, {"certificate": make("elsewhere", host="cdn.example.com")}),
        ("a certificate of an unknown authority", {"PK7007"}, nothing, {"certificate": make("unknown", ca="other-ca")}),
        ("TLS 1.1", {"PK7007"}, nothing, {"server": "ssl_protocols TLSv1.1; ssl_ciphers ALL:@SECLEVEL=0;"}),
        ("a certificate that ends in a week", {"PK7018"}, nothing, {"certificate": make("ending", end=7 * 86_400)}),
    ]


def check_clean(place, web, environment):
    mirror = "location /packs/ { return 302 /mirror$request_uri; } location /mirror/ { alias %s/; add_header Cache-Control 'max-age=31536000'; }" % (place / "www")
    ways = [
        ("over TLS", {}, []), ("over http", {"tls": False}, []), ("in part", {}, ["--quick"]),
        ("after redirects", {"around": mirror + "%.0s" + LOCATIONS.split("\n")[2]}, []),
    ]
    for name, keywords, options in ways:
        with web.serve(**keywords) as address:
            records, done = look(place, address, *options, environment=environment)
            found = [record for record in records if record["type"] == "finding"]
            expect(done.returncode == 0 and not found, f"a clean release {name}: {done.returncode}: {found[:3]} {done.stderr[-500:]}")
    for way in ("none", "busy once", "broken off once"):
        with odd(web.packs, way) as address:
            records, done = look(place, address, *([] if way != "busy once" else ["--quick"]), environment=environment)
            found = [record for record in records if record["type"] == "finding"]
            expect(done.returncode == 0 and not found, f"a clean release, {way}: {done.returncode}: {found[:3]} {done.stderr[-500:]}")
    # With what pages of other sites need, and on a slow link.
    (place / "packer.yml").write_text("web: true\n" + CONFIGURATION)
    with packer_serve(PACKER, "--cdn", web.packs, "--link", "100Mbit/s,20ms") as served:
        records, done = look(place, served.url, environment=environment)
        found = [record for record in records if record["type"] == "finding"]
        expect(done.returncode == 0 and not found, f"a clean release for browsers: {done.returncode}: {found[:3]} {done.stderr[-500:]}")
    with web.serve() as address:
        records, done = look(place, address, environment=environment)
        expect({record["rule"] for record in records if record["type"] == "finding"} == {"PK7022"}, f"a server for no other site: {done.returncode}: {records[:3]}")
    (place / "packer.yml").write_text(CONFIGURATION)
    return len(ways) + 4


def check_faults(place, web, environment):
    for name, rules, apply, keywords in (planted := faults(web)):
        web.reset()
        apply()
        with web.serve(**keywords) as address:
            records, done = look(place, address, environment=environment)
        judge(name, rules, records, done)
    web.reset()
    for way, rule in (("wrong part", "PK7010"), ("broken off", "PK7004"), ("other tags", "PK7011")):
        with odd(web.packs, way) as address:
            records, done = look(place, address, environment=environment)
        judge(way, {rule}, records, done)
    # Only the part of a large file that is asked for shows this with --quick: its last bytes.
    path = web.packs / large(place / "dist")
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    with web.serve() as address:
        records, done = look(place, address, "--quick", environment=environment)
        judge("a changed last byte, in part", {"PK7005"}, records, done)
        # All that is printed depends on the answers only, not on their order.
        texts = {look(place, address, "--live-seed", 7, environment=environment)[1].stdout for _ in range(3)}
        expect(len(texts) == 1, "three runs with the same seed print different findings")
        # The certificate is for localhost.
        elsewhere = f"{address.replace('localhost', 'packs.localhost')}manifest.json"
        done = run(place, "build", "--dry-run", "--published", elsewhere, environment=environment, status=74)
        expect("certificate" in done.stderr, f"a manifest from a server with the certificate of another: {done.stderr}")
        expect(not (web.certificates.folder / "stolen").exists(), "curl obeyed the user's .curlrc")
        formats = {"text": "error PK7005", "github": "::error title=PK7005", "junit": "packer.verify.PK7005"}
        for form, part in formats.items():
            done = run(place, "verify", "dist", "--only", "PK7", "--live-at", address, "--format", form, environment=environment, status=20)
            expect(part in done.stdout, f"--format {form} does not show the finding: {done.stdout[-400:]}")
    web.reset()
    return len(planted) + 4


def large(folder):
    """The name of the only large pack of a release: it is not read whole with --quick."""
    return next(path.name for path in folder.glob("core-*.pack") if path.stat().st_size > 500_000)


def judge(name, rules, records, done):
    found = {record["rule"] for record in records if record["type"] == "finding"}
    texts = [f"{record['rule']} {record['message']}" for record in records if record["type"] == "finding"][:4]
    expect(found == rules, f"{name}: found by {sorted(found)}, not {sorted(rules)}: {texts} {done.stderr[-300:]}")
    isError = any(record["type"] == "finding" and record["level"] == "error" for record in records)
    expect(done.returncode == (20 if isError else 0), f"{name}: status {done.returncode}")


def check_unreachable(place, environment):
    address = f"https://localhost:{free_port()}/packs/"
    records, done = look(place, address, environment=environment, status=21)
    expect(records[-1]["code"] == "server-unreachable" and len(records) == 1, f"a server that does not answer: {records}")


def check_resumption(place, web, environment):
    """A run that is stopped goes on; nothing that changed is passed over."""
    state = place / "live.txt"
    scratch = place / "scratch"
    scratch.mkdir()
    environment = {**environment, "TMPDIR": str(scratch)}
    with web.serve(packs="limit_rate 60k;") as address:
        process = subprocess.Popen(
            [PACKER, "verify", "dist", "--only", "PK7", "--live-at", address, "--live-state", str(state)], cwd=place, env={**os.environ, **environment},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while not state.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        expect(process.wait(60) == 143, f"a run that was stopped ended with {process.returncode}")
        expect(not list(scratch.iterdir()), f"a run that was stopped left {list(scratch.iterdir())}")
        lines = state.read_text().splitlines()
        expect(1 < len(lines) < PACKS, f"a run that was stopped noted {len(lines)} lines")
    with web.serve() as address:
        # Ports differ, and so do addresses.
        old = lines[1].split("\t")[1].rsplit("/", 1)[0] + "/"
        state.write_text(state.read_text().replace(old, address))
        _, done = look(place, address, "--live-state", state, environment=environment, status=0)
        served = [line.split() for line in web.log.read_text().splitlines()]
        unchanged = sum(line[0] == "304" for line in served)
        expect(unchanged >= len(lines) - 1 - 5, f"of {len(lines) - 1} files that were read, {unchanged} were not sent again")
        expect(not list(scratch.iterdir()), f"a run left {list(scratch.iterdir())}")
        path = web.named("game-5-*.pack")
        path.write_bytes(os.urandom(path.stat().st_size))
        records, done = look(place, address, "--live-state", state, environment=environment)
        judge("a file that changed since it was read", {"PK7005"}, records, done)
        records, done = look(place, address, "--live-state", state, environment=environment)
        judge("the same once more", {"PK7005"}, records, done)
        other = place / "packer.yml"
        run(place, "verify", "dist", "--only", "PK7", "--live-at", address, "--live-state", other, environment=environment, status=65)
        expect(other.read_text() == CONFIGURATION, "another file was replaced by the notes")
    web.reset()
    return unchanged


def check_bounds(place, web, environment):
    """A body without an end fills no disk."""
    scratch = place / "bounds"
    scratch.mkdir()
    for way, rule in (("endless parts", "has more than the"), ("endless manifest", "PK7001")):
        with odd(web.packs, way) as address:
            process = subprocess.Popen(
                [PACKER, "verify", "dist", "--only", "PK7", "--live-at", address], cwd=place, env={**os.environ, **environment, "TMPDIR": str(scratch)},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            peak = 0
            while process.poll() is None:
                sizes = 0
                for path in scratch.rglob("*"):
                    with contextlib.suppress(OSError):
                        sizes += path.stat().st_size
                peak = max(peak, sizes)
                time.sleep(0.01)
            text = process.stdout.read()
        expect(process.returncode == 20 and rule in text, f"{way}: {process.returncode}: {text[-600:]}")
        expect(peak < 400 << 20, f"{way}: {peak >> 20} MiB were on the disk")
        expect(not list(scratch.iterdir()), f"{way}: it left {list(scratch.iterdir())}")


@contextlib.contextmanager
def dripping(place, web, environment):
    """A check of a server that sends a little each second ends all the same: in minutes, while the other checks run."""
    with odd(web.packs, "drip") as address:
        process = subprocess.Popen(
            [PACKER, "verify", "dist", "--only", "PK7", "--live-at", address], cwd=place, env={**os.environ, **environment}, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        yield
        try:
            text = process.communicate(timeout=600)[0]
            expect(process.returncode == 21 and "took more than" in text, f"a server that drips: {process.returncode}: {text[-600:]}")
        except subprocess.TimeoutExpired:
            process.kill()
            expect(False, "a check of a server that drips does not end")


def main():
    with tempfile.TemporaryDirectory(prefix="packer-live.") as name:
        place = pathlib.Path(name)
        # nginx's workers read it as another user, unless they are root's.
        place.chmod(0o755)
        make(place)
        web = Web(place, Certificates(place / "certificates"))
        environment = web.certificates.environment
        with dripping(place, web, environment):
            check_bounds(place, web, environment)
            clean = check_clean(place, web, environment)
            planted = check_faults(place, web, environment)
            check_unreachable(place, environment)
            unchanged = check_resumption(place, web, environment)
    if failures:
        sys.exit(1)
    print(f"a clean release served in {clean} ways: no finding; {planted} planted faults, each found by its rule; a stopped run went on without {unchanged} files that it had read")


if __name__ == "__main__":
    main()
