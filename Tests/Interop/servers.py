"""The two servers that are held against each other: `packer serve` on a pack, nginx on the plain tree."""

import contextlib
import json
import pathlib
import shutil
import socket
import subprocess
import threading
import time

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"

TYPES = """
types {
  text/html html; text/css css; text/javascript js mjs; application/json json; application/wasm wasm; text/plain txt;
  application/manifest+json webmanifest; image/png png; image/svg+xml svg; image/webp webp; image/jpeg jpg jpeg; image/gif gif; image/x-icon ico;
  audio/wav wav; audio/ogg ogg oga; audio/mpeg mp3; audio/mp4 m4a; audio/flac flac; video/webm webm; video/mp4 mp4;
  font/woff woff; font/woff2 woff2; font/ttf ttf; font/otf otf; application/vnd.ms-fontobject eot; model/gltf-binary glb;
}
default_type application/octet-stream;
"""
REQUESTS = """log_format request escape=json '["$request_method", "$request_uri", "$http_range", $status]';"""
# The moment at which an answer was handed over, how many seconds after its request, and the bytes of its body.
TRAFFIC = """log_format request escape=json '[$msec, $request_time, "$request_uri", $body_bytes_sent]';"""
# As sites have it, but little is on its way to a client that is slow, so that what it asks for later is not behind all of that.
HTTP2 = """
gzip on; gzip_comp_level 6; gzip_min_length 256; gzip_vary on;
gzip_types text/css text/javascript text/plain application/json application/wasm application/manifest+json image/svg+xml;
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def stop(process):
    process.terminate()
    try:
        return process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise


@contextlib.contextmanager
def nginx(tree, place, log="off", fields=(), line=0, certificate=None):
    """nginx on a tree; gives the address. `place` is a directory for its own files, `log` the file of its requests,
    `fields` are for each answer, and `line` is how many bytes of it are sent in a second. With a certificate and its key, it speaks HTTP/2, compresses texts, and notes traffic."""
    place = pathlib.Path(place)
    place.mkdir(parents=True, exist_ok=True)
    port = free_port()
    temporary = "".join(f"{kind}_temp_path {place}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    listen, more = f"127.0.0.1:{port}", ""
    if certificate:
        listen += " ssl http2 sndbuf=16k"
        more = f"ssl_certificate {certificate[0]}; ssl_certificate_key {certificate[1]}; ssl_protocols TLSv1.3; {HTTP2}"
    (place / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {place}/pid; error_log {place}/errors.log;\nevents {{ worker_connections 256; }}\n"
        f"http {{ {TRAFFIC if certificate else REQUESTS} {more} access_log {log}{' request' if log != 'off' else ''}; limit_rate {line}; sendfile on; {temporary} {TYPES}\n"
        f"{''.join(f'add_header {name} {value} always; ' for name, value in fields)}\n"
        # Debian's nginx would answer with the index only where the path ends in a slash, which is what is wanted.
        f"server {{ listen {listen}; root {pathlib.Path(tree).resolve()}; index index.html; absolute_redirect off; }} }}\n")
    # What works for whoever it was started by has to be readable for it: workers of root's nginx are somebody else.
    process = subprocess.Popen([NGINX, "-p", str(place), "-c", str(place / "nginx.conf"), "-g", user()], stderr=subprocess.DEVNULL)
    try:
        for _ in range(3000):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                raise RuntimeError(f"nginx does not start: {(place / 'errors.log').read_text()}")
            time.sleep(0.02)
        yield f"http{'s' if certificate else ''}://127.0.0.1:{port}/"
    finally:
        stop(process)


def user():
    import os
    return "user root;" if os.getuid() == 0 else ""


_getaddrinfo = socket.getaddrinfo


def _resolve(host, *arguments, **keywords):
    """Names below localhost are this machine (RFC 6761), which the system's resolver may not know."""
    return _getaddrinfo("127.0.0.1" if isinstance(host, str) and host.endswith(".localhost") else host, *arguments, **keywords)


socket.getaddrinfo = _resolve


class Served:
    """A running `packer serve`. The address of a single pack is that of its origin."""

    def __init__(self, process, first, errors):
        self.process = process
        # What it said on standard error up to now, line by line.
        self.said = errors
        self.url = first["url"]
        self.games = first.get("games")
        self.host = "localhost"
        if self.games and len(self.games) == 1:
            self.host = f"{self.games[0]['id'].lower()}.localhost"
            self.url = f"http://{self.host}:{self.port}/"
        self.records = []
        self.errors = ""

    @property
    def port(self):
        return int(self.url.rstrip("/").rsplit(":", 1)[1])

    def requests(self):
        return [record for record in self.records if record["type"] == "request"]


@contextlib.contextmanager
def packer_serve(packer, *arguments, wrapper=(), port=0, says="-v", **keywords):
    """`packer serve` with the arguments; gives it with its address and, when it has ended, all that it said."""
    process = subprocess.Popen(
        [*wrapper, str(packer), "serve", *map(str, arguments), "--port", str(port), "--json", says],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **keywords)
    errors = []
    listener = threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True)
    listener.start()
    line = process.stdout.readline()
    if not line or json.loads(line)["type"] != "serving":
        process.wait(60)
        listener.join(5)
        raise RuntimeError(f"packer serve does not start: {line}{''.join(errors)}")
    served = Served(process, json.loads(line), errors)
    reader = threading.Thread(target=lambda: served.records.extend(map(json.loads, process.stdout)), daemon=True)
    reader.start()
    try:
        yield served
    finally:
        stop(process)
        reader.join(5)
        listener.join(5)
        served.errors = "".join(errors)
