"""A release of two packs, as an app on this machine gets it: `packer serve --cdn` behind the name that is in the manifest, over HTTPS."""

import contextlib
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import threading

HOST = "cdn.example.com"
ADDRESS = f"https://{HOST}/manifest.json"


def release(packer, place, game):
    """Makes a release in `place`/dist: `game`, which is kept packed, and `words`, which is unpacked. Returns the public key that the app trusts."""

    def run(*arguments):
        return subprocess.run([packer, *arguments], cwd=place, check=True, capture_output=True, text=True).stdout

    shutil.copytree(game, place / "game")
    (place / "words").mkdir()
    (place / "words/hello.txt").write_text("Hello.\n")
    run("key", "new", "-o", "key", "-q")
    run("key", "new", "--signing", "-o", "sign", "-q")
    (place / "packer.yml").write_text(
        f"""app: {{bundleID: com.example.arcade, group: group.com.example.arcade}}
key: file:key
signKey: file:sign
serve: {{baseURL: "https://{HOST}/"}}
packs:
  - {{id: words, root: words, delivery: onDemand, install: unpacked, tags: [small]}}
  - {{id: game, root: game, delivery: onDemand, install: packed, tags: [play]}}
""")
    run("build", "--quiet", "-o", "dist")
    return run("key", "public", "--sign-key", "sign", "--quiet").split()[0]


class Front:
    """The server for HTTPS: it has a certificate for the host, counts what it sends, and cuts connections."""

    def __init__(self, place):
        self.certificate = place / "server.crt"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
             "-addext", f"subjectAltName=DNS:{HOST}", "-keyout", place / "server.key", "-out", self.certificate], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, place / "server.key")
        self.listener = socket.create_server(("127.0.0.1", 0))
        # The port of `packer serve`; 0 if nobody answers.
        self.port = 0
        # After so many bytes of packs, a connection is cut, once each.
        self.cuts = []
        self.sent = 0
        self.ranges = []
        threading.Thread(target=self.accept, daemon=True).start()

    def environment(self, trust):
        """What a process needs to reach it."""
        return os.environ | {
            "LD_PRELOAD": str(trust), "PACKER_TEST_AUTHORITY": str(self.certificate),
            "PACKER_TEST_SERVER": f"{HOST}:443:127.0.0.1:{self.listener.getsockname()[1]}",
            "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, plain):
        with contextlib.suppress(OSError), plain, socket.create_connection(("127.0.0.1", self.port)) as server:
            with self.context.wrap_socket(plain, server_side=True) as client:
                threading.Thread(target=self.ask, args=(client, server), daemon=True).start()
                while data := server.recv(1 << 16):
                    if self.cuts and len(data) > 1000:
                        self.cuts[0] -= len(data)
                        if self.cuts[0] <= 0:
                            self.cuts.pop(0)
                            break
                    client.sendall(data)
                    self.sent += len(data)
                # Without the end that TLS has.
                client.shutdown(socket.SHUT_RDWR)

    def ask(self, client, server):
        with contextlib.suppress(OSError):
            while data := client.recv(1 << 16):
                self.ranges += [int(start) for start in re.findall(rb"Range: bytes=(\d+)", data)]
                server.sendall(data.replace(HOST.encode(), f"localhost:{self.port}".encode()))
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)

    @contextlib.contextmanager
    def serving(self, packer, dist, *options):
        """Serves a directory for as long as the block runs."""
        process = subprocess.Popen(
            [packer, "serve", "--cdn", dist, "--port", "0", "--quiet", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            self.port = int(re.search(r":(\d+)/", process.stdout.readline()).group(1))
            yield
        finally:
            self.port = 0
            process.terminate()
            process.wait()


def trust(place):
    """Compiles what is preloaded, so that libcurl trusts the certificate."""
    library = place / "trust.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, pathlib.Path(__file__).parent / "trust.c", "-ldl"], check=True)
    return library
