"""A web site for the tests of the player: folders with ranges, and what servers do wrong."""

import contextlib
import gzip
import http.server
import json
import pathlib
import re
import socketserver
import ssl
import threading
import time

TYPES = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json", ".wasm": "application/wasm",
    ".css": "text/css", ".png": "image/png", ".vector": "application/octet-stream",
}


class Site:
    """What is served, what goes wrong, and what was asked for. `origin` is the address without a slash at its end."""

    def __init__(self):
        # Where the player is.
        self.player = "/play/"
        self.mounts = []
        # The name of a fault by path, and of how many requests are left that it meets; no number means all.
        self.faults = {}
        # What is called before a path is answered, by path.
        self.before = {}
        self.records = []
        self.posts = []
        self.lock = threading.Lock()
        self.is_down = False
        # Bytes in a second of each answer with a file.
        self.line = 0
        self.allows = True
        # What is served for paths without an extension at which nothing is.
        self.fallback = None

    def mount(self, path, folder):
        self.mounts.insert(0, (path, pathlib.Path(folder)))

    def put(self, path, text):
        """Serves a text at a path, or nothing."""
        self.mounts.insert(0, (path, text))

    def find(self, path):
        for prefix, folder in self.mounts:
            if folder is None or isinstance(folder, str):
                if path == prefix:
                    return folder.encode() if folder else None
            elif path.startswith(prefix):
                file = folder / path[len(prefix):]
                if path.endswith("/"):
                    file = file / "index.html"
                if file.is_file():
                    return file
                break
        return self.fallback if not pathlib.PurePath(path).suffix else None

    def fault(self, path):
        with self.lock:
            kind, left = self.faults.get(path, (None, None))
            if left is not None:
                self.faults[path] = (kind, left - 1) if left > 1 else (None, None)
            return kind

    def requests(self, path):
        return [record for record in self.records if record["path"] == path]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site = None

    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.site.posts.append((self.path, body))
        self.answer(204, {}, b"")

    def do_OPTIONS(self):
        self.site.records.append({"path": self.path, "method": "OPTIONS", "range": None, "sent": 0, "status": 204})
        self.answer(204, self.sharing() | {"Access-Control-Allow-Headers": "Range"}, b"")

    def sharing(self):
        return {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Content-Range, ETag"} if self.site.allows else {}

    def answer(self, status, headers, body, length=None):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        site, path = self.site, self.path.split("?")[0]
        if site.is_down:
            self.close_connection = True
            self.connection.close()
            return
        found = site.find(path)
        record = {"path": path, "method": self.command, "range": self.headers.get("Range"), "sent": 0, "status": 0, "headers": dict(self.headers)}
        site.records.append(record)
        with contextlib.suppress(ConnectionError, BrokenPipeError):
            self.deliver(site, path, found, record)

    def deliver(self, site, path, found, record):
        headers = {"Cache-Control": "no-cache", "Content-Type": TYPES.get(pathlib.PurePath(path if isinstance(found, bytes) else found or "").suffix, "application/octet-stream"), **self.sharing()}
        site.before.get(path, lambda: None)()
        fault = site.fault(path)
        if fault == "500":
            record["status"] = 500
            return self.answer(500, headers, b"broken\n")
        if fault == "403":
            record["status"] = 403
            return self.answer(403, headers, b"no\n")
        if fault == "slow":
            time.sleep(0.3)
        if fault == "redirect":
            record["status"] = 302
            return self.answer(302, headers | {"Location": f"/elsewhere{path}"}, b"")
        if fault == "no CORS":
            headers = {name: value for name, value in headers.items() if not name.startswith("Access-Control")}
        if fault == "hidden size":
            headers.pop("Access-Control-Expose-Headers", None)
        if found is None:
            record["status"] = 404
            return self.answer(404, headers, b"nothing here\n")
        size = len(found) if isinstance(found, bytes) else found.stat().st_size
        tag = '"text"' if isinstance(found, bytes) else f'"{found.stat().st_mtime_ns:x}-{size:x}"'
        if fault != "no tag":
            headers["ETag"] = tag
        start, end, status = 0, size, 200
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", record["range"] or "")
        if match and fault != "no ranges":
            start, end = int(match[1]), min(size, int(match[2]) + 1 if match[2] else size)
            if start >= size:
                record["status"] = 416
                return self.answer(416, headers | {"Content-Range": f"bytes */{size}"}, b"")
            status = 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
        record["status"] = status
        if fault == "other range":
            headers["Content-Range"] = f"bytes {start + 1}-{end}/{size}"
        if fault == "other size":
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{size + 5}"
        if isinstance(found, bytes):
            record["sent"] = end - start
            return self.answer(status, headers, found[start:end])
        with open(found, "rb") as file:
            file.seek(start)
            if fault in ("compressed", "short", "long", "cut", "flipped", "pause"):
                body = file.read(end - start)
                if fault == "compressed":
                    return self.answer(status, headers | {"Content-Encoding": "gzip"}, gzip.compress(body))
                if fault == "flipped":
                    body = bytes([*body[:-1], body[-1] ^ 1]) if body else body
                if fault == "short":
                    body = body[:-7]
                if fault == "long":
                    body += b"seven b"
                if fault == "cut":
                    self.answer(status, headers, body[:len(body) // 2], len(body))
                    self.close_connection = True
                    return None
                record["sent"] = len(body)
                return self.answer(status, headers, body)
            self.answer(status, headers, b"", end - start)
            if self.command == "HEAD":
                return None
            left = end - start
            while left > 0 and (piece := file.read(min(left, 1 << 16 if site.line else 1 << 20))):
                self.wfile.write(piece)
                if site.line:
                    time.sleep(len(piece) / site.line)
                left -= len(piece)
                record["sent"] += len(piece)
        return None


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


@contextlib.contextmanager
def serving(site, port=0, certificate=None):
    """Serves a site on this machine; with a certificate and its key, as if it were on the port of https."""
    server = Server(("127.0.0.1", port), type("SiteHandler", (Handler,), {"site": site}))
    site.port = server.server_address[1]
    site.origin = "https://localhost" if certificate else f"http://localhost:{site.port}"
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


def configuration(**packs):
    return json.dumps({"packs": packs})
