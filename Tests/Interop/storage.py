"""An S3 service (moto's), and proxies between rclone and its storage that refuse, break, delay or lose what passes."""

import contextlib
import http.client
import pathlib
import re
import socket
import struct
import subprocess
import sys
import threading
import time

from servers import free_port, stop

# What moto takes for a signature. It does not check any.
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=x"}
POLICY = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::%s/*"}]}'

# Kinds of fault, each at one request: the connection is closed before the request is read; the answer is 500; half of the request arrives; it takes a
# second; it is carried out, and the answer is lost. "gone": this request and all later ones are refused.
FAULTS = ("refused", "500", "cut", "slow", "lost", "gone")


class S3:
    """A running moto with buckets that everybody may read."""

    def __init__(self, port, log):
        self.port, self.log = port, log

    def request(self, method, path, body=None, headers=SIGNED):
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            link.request(method, path, body=body, headers=headers)
            answer = link.getresponse()
            return answer.status, answer.read()
        finally:
            link.close()

    def bucket(self, name):
        for path, body in ((f"/{name}", None), (f"/{name}?policy", POLICY % name)):
            status, text = self.request("PUT", path, body)
            if status != 200:
                raise RuntimeError(f"moto does not make the bucket {name}: {status} {text}")

    def requests(self):
        """How many requests it has answered."""
        return self.log.read_text(errors="replace").count(" HTTP/1.1")


@contextlib.contextmanager
def moto(place):
    """moto's server. `place` is the directory for its log."""
    port, log = free_port(), pathlib.Path(place) / "moto.log"
    with log.open("w") as output:
        process = subprocess.Popen([sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=output, stderr=output)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None:
                sys.exit(f"moto does not start with {sys.executable}: {log.read_text()[-400:]}\nhint: Scripts/test installs it in .venv")
            time.sleep(0.05)
        yield S3(port, log)
    finally:
        stop(process)


@contextlib.contextmanager
def sftp(folder):
    """rclone's own SFTP server on a folder; gives its port and the variables with which rclone logs in."""
    port = free_port()
    process = subprocess.Popen(["rclone", "serve", "sftp", folder, "--addr", f"127.0.0.1:{port}", "--user", "u", "--pass", "p"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        hidden = subprocess.run(["rclone", "obscure", "p"], capture_output=True, text=True, check=True).stdout.strip()
        yield port, {"RCLONE_SFTP_USER": "u", "RCLONE_SFTP_PASS": hidden}
    finally:
        stop(process)


class Proxy:
    """Listens on a port, and handles each connection in a thread of its own."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    def serve(self, link):
        with link, contextlib.suppress(OSError, EOFError):
            self.handle(link)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Closing the socket does not wake the thread that accepts.
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def reset(link):
    """Ends a connection so that the other side sees it at once."""
    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    link.close()


def trickle(link, data, seconds=1, pieces=10):
    size = max(1, -(-len(data) // pieces))
    for start in range(0, len(data), size):
        link.sendall(data[start:start + size])
        time.sleep(seconds / pieces)


# moto compares a condition and writes in two steps, and for a moment has neither the earlier object nor the new one. With one request for a manifest at a
# time, it is as a real service is.
one_request = threading.Lock()


class HTTPProxy(Proxy):
    """Passes HTTP requests on, counts them, and injects a fault at one of them."""

    def __init__(self, upstream, fault=None, at=0, before=None):
        self.upstream, self.fault, self.at = upstream, fault, at
        # Called with the method and the path, before a request is passed on.
        self.before = before
        # Methods that are refused as by a service that does not permit them.
        self.forbidden = ()
        # Method and path of each request, in the order of their arrival; "-" where it was not read.
        self.requests = []
        super().__init__()

    @property
    def struck(self):
        """The request with the fault; None if there was none."""
        return self.requests[self.at - 1] if self.fault and len(self.requests) >= self.at else None

    def handle(self, link):
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while link.recv(1, socket.MSG_PEEK):
            with self.lock:
                self.requests.append("-")
                number = len(self.requests)
            fault = self.fault if number == self.at or self.fault == "gone" and number > self.at else None
            if fault in ("refused", "gone"):
                return reset(link)
            head, body = self.read(link)
            method, path = head.split(b" ", 2)[:2]
            self.requests[number - 1] = f"{method.decode()} {path.decode().partition('?')[0]}"
            if fault == "500":
                text = b"<?xml version='1.0'?><Error><Code>InternalError</Code><Message>We encountered an internal error.</Message></Error>"
                if method == b"HEAD":
                    text = b""
                link.sendall(b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
                continue
            if method.decode() in self.forbidden:
                text = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
                link.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s" % (len(text), text))
                continue
            if self.before:
                self.before(method.decode(), path.decode())
            answer = self.forward(method, path, head, body, fault)
            if answer is None or fault == "lost":
                return reset(link)
            stays = method == b"HEAD" or re.search(rb"\r\nContent-Length:", answer, re.IGNORECASE)
            if stays:
                answer = re.sub(rb"\r\nConnection: close", b"", answer, count=1, flags=re.IGNORECASE)
            if fault == "slow" and not body:
                trickle(link, answer)
            else:
                link.sendall(answer)
            if not stays:
                return

    def read(self, link):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = link.recv(65536)
            if not piece:
                raise EOFError
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        if re.search(rb"\r\nExpect: *100-continue", head, re.IGNORECASE):
            head = re.sub(rb"\r\nExpect:[^\r]*", b"", head, flags=re.IGNORECASE)
            link.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        found = re.search(rb"\r\nContent-Length: *(\d+)", head, re.IGNORECASE)
        size = int(found[1]) if found else 0
        pieces, missing = [body], size - len(body)
        while missing > 0:
            piece = link.recv(min(missing, 1 << 20))
            if not piece:
                raise EOFError
            pieces.append(piece)
            missing -= len(piece)
        return head + b"\r\n\r\n", b"".join(pieces)

    def forward(self, method, path, head, body, fault):
        """The answer; None if only half of the request is passed on."""
        with socket.create_connection(("127.0.0.1", self.upstream)) as upstream:
            if fault == "cut":
                upstream.sendall(head + body[:len(body) // 2] if body else head[:len(head) // 2])
                reset(upstream)
                return None
            # The service waits for the end of the request.
            start, end = (head + body)[:-1], (head + body)[-1:]
            (trickle if fault == "slow" and body else socket.socket.sendall)(upstream, start)
            with one_request if b"/manifest.json" in path else contextlib.nullcontext():
                upstream.sendall(end)
                pieces = []
                while piece := upstream.recv(1 << 20):
                    pieces.append(piece)
            return b"".join(pieces)


class TCPProxy(Proxy):
    """Passes connections on, counts what clients send on each, and cuts one of them."""

    def __init__(self, upstream, cut=None, after=0):
        # The number of the connection that is cut, from 1, and the bytes of its client that are passed on before.
        self.upstream, self.cut, self.after = upstream, cut, after
        # The bytes that the client sent on each connection.
        self.sizes = []
        self.struck = False
        super().__init__()

    def handle(self, link):
        with self.lock:
            self.sizes.append(0)
            number = len(self.sizes)
        left = self.after if number == self.cut else None
        if left == 0:
            self.struck = True
            return reset(link)
        with socket.create_connection(("127.0.0.1", self.upstream)) as upstream:
            for side in (link, upstream):
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.answer, args=(upstream, link), daemon=True).start()
            while data := link.recv(65536):
                self.sizes[number - 1] += len(data)
                if left is not None and len(data) >= left:
                    self.struck = True
                    upstream.sendall(data[:left])
                    # The server gets these bytes, and then the end; the client a reset.
                    time.sleep(0.02)
                    return reset(link)
                left = None if left is None else left - len(data)
                upstream.sendall(data)
            with contextlib.suppress(OSError):
                upstream.shutdown(socket.SHUT_WR)
                time.sleep(0.05)

    def answer(self, upstream, link):
        with contextlib.suppress(OSError):
            while data := upstream.recv(65536):
                link.sendall(data)
            link.shutdown(socket.SHUT_WR)
