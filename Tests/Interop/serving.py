#!/usr/bin/env python3
"""`packer serve` as a program: raw connections, many clients, another version while it runs, faults as a client meets them, and its end."""

import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import termios
import threading
import time
import urllib.error
import urllib.request
import warnings

from project import SEED
from servers import packer_serve

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
SECONDS = float(os.environ.get("SERVE_SECONDS", "4"))
CLIENTS = int(os.environ.get("SERVE_CLIENTS", "64"))
# What the process may take while 64 clients read: pieces on their way, and what a pack keeps.
MEMORY = 250_000_000

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(*arguments):
    return subprocess.run([PACKER, *map(str, arguments)], check=True, capture_output=True, text=True)


# What has to happen has these seconds.
PATIENCE = 60


def talk(port, data, half=False, stays=False):
    """Everything that comes back on one connection, and whether the server ended it: for one that stays, half a second after an answer."""
    with socket.create_connection(("127.0.0.1", port)) as link:
        link.sendall(data)
        if half:
            link.shutdown(socket.SHUT_WR)
        link.settimeout(PATIENCE)
        answer = b""
        try:
            while piece := link.recv(65536):
                answer += piece
                if stays:
                    link.settimeout(0.5)
        except TimeoutError:
            return answer, False
        return answer, True


# The host of the pack that is served.
HOST = "localhost"


def request(method="GET", target="/a.txt", *fields, version="1.1"):
    return "\r\n".join([f"{method} {target} HTTP/{version}", f"Host: {HOST}", *fields, "", ""]).encode()


def statuses(answer):
    return [int(status) for status in re.findall(rb"HTTP/1\.1 (\d{3}) ", answer)]


def connections(port):
    close = "Connection: close"
    answer, ended = talk(port, request() + request("HEAD") + request(target="/nothing") + request("GET", "/a.txt", close))
    expect(statuses(answer) == [200, 200, 404, 200] and ended, f"four requests in one go: {answer!r}")
    expect(answer.count(b"content of a\n") == 2, "HEAD has a body, or GET none")
    answer, ended = talk(port, request() + request(), half=True)
    expect(statuses(answer) == [200, 200] and ended, f"a client that ends its side: {answer!r}")
    answer, ended = talk(port, request(version="1.0"))
    expect(statuses(answer) == [200] and ended, f"HTTP/1.0: {answer!r}")
    answer, ended = talk(port, request("GET", "/a.txt", "Connection: keep-alive", version="1.0"), stays=True)
    expect(statuses(answer) == [200] and not ended, f"HTTP/1.0 that stays: {answer!r}")
    for name, data in {
            "no host": b"GET / HTTP/1.1\r\n\r\n", "two hosts": b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n", "no request": b"\x16\x03\x01\x02\x00\r\n\r\n",
            "a line that never ends": b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n", "a field that never ends": b"GET / HTTP/1.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
            "two lengths": b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "a space in front of the colon": b"GET / HTTP/1.1\r\nHost : localhost\r\n\r\n"}.items():
        try:
            answer, ended = talk(port, data)
        except ConnectionError:
            answer, ended = b"HTTP/1.1 400 closed while it was sent\r\n", True
        expect(statuses(answer)[:1] == [400] and ended, f"{name}: {answer[:200]!r}, {'ended' if ended else 'left open'}")
    for name, data in {
            "a body": request("POST", "/a.txt", "Content-Length: 5") + b"hello", "an announced body": request("PUT", "/a.txt", "Content-Length: 5", "Expect: 100-continue"),
            "a body in chunks": request("POST", "/a.txt", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n"}.items():
        answer, ended = talk(port, data)
        expect(statuses(answer)[-1:] == [405] and ended, f"{name}: {answer[:200]!r}")
    # Clients that go away in the middle are nobody's business.
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(request(target="/big.bin"))
            link.recv(1000)


def choices(place):
    """What may be chosen: the browser that is opened, isolation, a policy, a page for paths that are none."""
    tools, opened = place / "tools", place / "opened"
    tools.mkdir()
    (tools / "xdg-open").write_text(f'#!/bin/sh\nenv > {opened}.environment; echo "$#: $1" > {opened}\n')
    (tools / "xdg-open").chmod(0o755)
    environment = dict(os.environ, PATH=f"{tools}:{os.environ['PATH']}", PACKER_KEY_FILE=str(place / "key"))
    with packer_serve(
            PACKER, place / "t.pack", "--open", "--isolated", "--fallback", "a.txt", "--csp", "default-src 'self'", env=environment) as served:
        eventually(lambda: opened.exists() and opened.read_text() == f"1: {served.url}\n", "the browser is not opened at the address")
        expect("PACKER_KEY" not in pathlib.Path(f"{opened}.environment").read_text(), "the browser is told where the key is")
        with urllib.request.urlopen(served.url + "some/route") as response:
            expect(response.read() == b"content of a\n", "the page for paths that are none does not come")
            for name, value in {
                    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp", "Cross-Origin-Resource-Policy": "same-origin",
                    "Content-Security-Policy": "default-src 'self'", "Cache-Control": "no-store"}.items():
                expect(response.headers[name] == value, f"{name} is {response.headers[name]}")
        expect(get(served.url + "missing.png")[0] == 404, "a missing picture is a page")
    environment["PATH"] = str(place)
    with packer_serve(PACKER, place / "t.pack", "--open", env=environment) as served:
        expect(get(served.url + "a.txt")[0] == 200, "without a browser it does not serve")
    expect("xdg-open" in served.errors, "that there is no browser is not told")


def memory(pid, what="VmRSS"):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) * 1024
    return 0


def crowd(served, tree, seed):
    """Clients that read ranges at random for seconds: every byte right, memory bounded and not growing."""
    names = ["big.bin", "a.txt", "empty.bin", *[f"many/{n}.bin" for n in range(20)]]
    contents = {name: (tree / name).read_bytes() for name in names}
    end = time.monotonic() + SECONDS
    counts, wrong, peaks = [0] * CLIENTS, [], []

    def client(number):
        dice = random.Random(seed + number)
        link = http.client.HTTPConnection(served.host, served.port, timeout=60)
        while time.monotonic() < end and not wrong:
            name = dice.choice(names[:1] * 4 + names)
            content = contents[name]
            fields, wanted, status = {}, content, 200
            if content and dice.random() < 0.8:
                first = dice.randrange(len(content))
                last = min(len(content) - 1, first + dice.choice((0, 100, 10_000, 300_000, 3_000_000)))
                fields, wanted, status = {"Range": f"bytes={first}-{last}"}, content[first:last + 1], 206
            try:
                link.request("GET", f"/{name}", headers=fields)
                response = link.getresponse()
                if dice.random() < 0.02:
                    # Goes away in the middle, and comes back.
                    link.close()
                    continue
                body = response.read()
            except (OSError, http.client.HTTPException) as error:
                wrong.append(f"{name} {fields}: {error!r}")
                return
            if response.status != status or body != wanted:
                wrong.append(f"{name} {fields}: {response.status}, {len(body)} bytes of {len(wanted)}")
            counts[number] += 1

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        peaks.append(memory(served.process.pid))
        time.sleep(min(0.2, SECONDS / 20))
    for line in wrong[:5]:
        expect(False, line)
    expect(max(peaks) < MEMORY, f"it takes {max(peaks)} bytes, and {MEMORY} are the limit")
    third = max(1, len(peaks) // 3)
    early, late = max(peaks[third:2 * third] or peaks), max(peaks[2 * third:] or peaks)
    expect(late < early * 1.25 + 20_000_000, f"memory grows from {early} to {late} bytes")
    print(f"{CLIENTS} clients, {SECONDS:g} s, {sum(counts)} answers, every byte right; peak {max(peaks) / 1e6:.0f} MB (limit {MEMORY // 1_000_000} MB)", file=sys.stderr)


def closed(links):
    """How many connections the server has ended."""
    ended = 0
    for link in links:
        link.settimeout(0.01)
        try:
            ended += link.recv(100) == b""
        except TimeoutError:
            pass
        except OSError:
            ended += 1
    return ended


def expect_oldest_closed(links):
    """The server ends so many of 300 connections that its limit is kept. Then all are closed."""
    deadline = time.monotonic() + PATIENCE
    ended = closed(links)
    while ended < 30 and time.monotonic() < deadline:
        ended = closed(links)
    expect(30 <= ended <= 60, f"{ended} of {len(links)} connections were closed, and 256 are the limit")
    for link in links:
        link.close()


def too_many(port):
    """Beyond the limit, the oldest connections on which no request came are closed; if one came on each, new ones are told so. Room comes when others go."""
    links = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    expect(statuses(talk(port, request("GET", "/a.txt", "Connection: close"))[0]) == [200], "300 connections on which nothing comes keep others out")
    expect_oldest_closed(links)
    links, answers = [], 0
    for _ in range(300):
        links.append(socket.create_connection(("127.0.0.1", port)))
        with contextlib.suppress(OSError):
            links[-1].sendall(request())
            answers += links[-1].recv(100).startswith(b"HTTP/1.1 503")
    expect(30 <= answers <= 60, f"{answers} of 300 connections were told 503, and 256 are the limit")
    for link in links:
        link.close()
    deadline = time.monotonic() + PATIENCE
    while not is_served(port):
        if time.monotonic() > deadline:
            return expect(False, "there is no room after all have gone")
        time.sleep(0.05)


def is_served(port):
    """Whether there is room: a connection beyond the limit is told 503, or reset before it read that."""
    with contextlib.suppress(ConnectionError):
        return statuses(talk(port, request("GET", "/a.txt", "Connection: close"))[0]) == [200]
    return False


def get(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=PATIENCE) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def eventually(check, text):
    deadline = time.monotonic() + PATIENCE
    while not check():
        if time.monotonic() > deadline:
            return expect(False, text)
        time.sleep(0.1)


def another_version(place):
    """A pack that is replaced, one that is replaced by something else, and one that is removed."""
    tree, pack, key = place / "one", place / "one.pack", place / "key"
    tree.mkdir()
    (tree / "index.html").write_text("version 1")
    run("pack", tree, "-o", pack, "--key", key, "--quiet")
    with packer_serve(PACKER, pack, "--key", key) as served:
        expect(get(served.url) == (200, b"version 1"), "the first version is not served")
        (tree / "index.html").write_text("version 2")
        run("pack", tree, "-o", pack, "--key", key, "--quiet", "--pack-version", "2")
        eventually(lambda: get(served.url) == (200, b"version 2"), "the second version is not served")
        # In its place at once: what is being written may be looked at in between, and complained of twice.
        (place / "half").write_bytes(b"half a pack")
        (place / "half").rename(pack)
        eventually(lambda: any("is not served" in line for line in served.said), "what cannot be served is not told")
        time.sleep(1.2)
        pack.unlink()
        time.sleep(0.7)
        expect(get(served.url) == (200, b"version 2"), "what is no pack takes the place of one")
    expect(served.errors.count("is not served") == 1, f"what cannot be served is not told once: {served.errors}")
    expect([record["games"][0]["version"] for record in served.records if record["type"] == "refreshed"] == [2], "the new version is not told")


def release(place):
    """A release: an origin for each pack, the list, and the next release while it runs."""
    project, key = place / "arcade", place / "arcade" / "arcade.key"
    subprocess.run([ROOT / "Examples/Arcade/make-project", project], check=True, capture_output=True)
    run("init", project / "content", "-o", project / "packer.yml")
    run("key", "new", "-o", key)
    run("key", "new", "--signing", "-o", project / "arcade.sign.key")
    run("build", "-c", project / "packer.yml", "--quiet")
    dist = project / "dist"
    trusted = run("key", "public", "--sign-key", project / "arcade.sign.key").stdout.split()
    trusted = next(word for word in trusted if word.startswith("pkp1-"))
    with packer_serve(PACKER, dist, "--key", key, "--trust", trusted) as served:
        games = [game["id"] for game in json.loads(json.dumps(served.games))]
        listing = get(served.url)[1].decode()
        for game in games:
            expect(f"http://{game}.localhost:{served.port}/" in listing, f"{game} is not in the list")
            status, page = get(served.url, Host=f"{game}.localhost:{served.port}")
            expect(status == 200 and b"<" in page, f"{game} is not at its origin: {status}")
        expect(get(served.url, Host="nothing.localhost")[0] == 404, "a pack that is not there is served")
        status, page = get(served.url + "INDEX.html", Host=f"{games[0]}.localhost:{served.port}")
        expect((status, page) == (404, f"There is no file 'INDEX.html' in pack '{games[0]}'. Did you mean /index.html?\n".encode()), f"{status}: {page!r}")
        link = http.client.HTTPConnection("127.0.0.1", served.port)
        link.request("GET", f"/{games[0]}/a%20b?c=1")
        response = link.getresponse()
        expect((response.status, response.getheader("Location")) == (302, f"http://{games[0]}.localhost:{served.port}/a%20b?c=1"), "a path does not lead to the origin")
        # The next release, while somebody reads.
        changed = next(iter(sorted((project / "content").rglob("index.html"))))
        changed.write_text("<p>the next version</p>")
        run("build", "-c", project / "packer.yml", "--quiet")
        eventually(lambda: any(b"the next version" in get(served.url, Host=f"{game}.localhost")[1] for game in games), "the next release is not served")
        # One that lacks a pack is not taken.
        manifest = (dist / "manifest.json").read_bytes()
        hidden = next(dist.glob("*.pack"))
        hidden.rename(place / "hidden")
        (dist / "manifest.json").write_bytes(manifest)
        time.sleep(1.2)
        expect(all(get(served.url, Host=f"{game}.localhost")[0] == 200 for game in games), "half a release takes the place of a whole one")
        (place / "hidden").rename(hidden)
    with packer_serve(PACKER, dist, "--key", key, "--pack", games[0]) as served:
        expect(get(served.url)[0] == 200 and b"Games" not in get(served.url)[1], "--pack does not serve the pack at the root")
    other = run("key", "new", "--signing", "-o", place / "other.sign.key")
    stranger = next(word for word in run("key", "public", "--sign-key", place / "other.sign.key").stdout.split() if word.startswith("pkp1-"))
    refused = subprocess.run([PACKER, "serve", dist, "--key", key, "--trust", stranger, "--port", "0"], capture_output=True, text=True)
    expect(refused.returncode == 14, f"a manifest that nobody trusted signed is served: {refused.returncode}")
    return dist


def faults(dist):
    """Faults as a client meets them; that each does what it says the unit tests show."""
    pack = next(dist.glob("*.pack"))
    content = pack.read_bytes()
    with packer_serve(PACKER, "--cdn", dist) as served:
        expect(get(served.url + pack.name) == (200, content), "the pack does not come as it is")
        expect(get(served.url + "manifest.json") == (200, (dist / "manifest.json").read_bytes()), "the manifest does not come as it is")
        expect(get(served.url + pack.name, Range="bytes=10-19") == (206, content[10:20]), "a range does not come as it is")
        expect(get(served.url + "../arcade.key")[0] in (400, 404), "the key is served")
        shutil.copy(dist.parent / "arcade.key", dist)
        expect(get(served.url + "arcade.key")[0] == 403, "a key that appears is served")
    with packer_serve(PACKER, "--cdn", dist) as served:
        pass
    expect(f"keys are not served: {dist}/arcade.key" in served.errors, f"a key in the folder is not told: {served.errors}")
    (dist / "arcade.key").unlink()
    with packer_serve(PACKER, "--cdn", dist, "--truncate", "1000") as served:
        try:
            get(served.url + pack.name)
            expect(False, "a body that is cut comes whole")
        except http.client.IncompleteRead as error:
            expect(error.partial == content[:1000], f"{len(error.partial)} bytes come of 1000")
    with packer_serve(PACKER, "--cdn", dist, "--redirect") as served:
        expect(get(served.url + pack.name) == (200, content), "a redirect does not lead to the pack")
    with packer_serve(PACKER, "--cdn", dist, "--corrupt", "--wrong-size") as served:
        status, body = get(served.url + pack.name)
        expect(len(body) == len(content) + 1 and body[:-1] != content, "neither the size nor a byte is wrong")
    with packer_serve(PACKER, "--cdn", dist, "--status", "503", "--times", "1", "--only", "manifest.json") as served:
        expect([get(served.url + "manifest.json")[0] for _ in range(2)] == [503, 200], "the fault does not end after one time")
    expect(any(record.get("fault") == "status 503" for record in served.records), "the fault is not told")
    with packer_serve(PACKER, "--cdn", dist, "--corrupt", "--only", "Manifest*", "--only", "manifest.*") as served:
        pass
    expect(served.errors.count("matches --only") == 1 and "matches --only 'Manifest*'" in served.errors, f"a pattern for no file is not told: {served.errors}")
    with packer_serve(PACKER, "--cdn", dist, "--no-ranges", "--chance", "0.5") as served:
        pass
    expect("--seed" in served.errors, "the seed is not told")


def fetch(served, path, connection=None, **fields):
    """A request on a new connection, or on one that is there: the status, the body as far as it came, the header fields and the seconds."""
    start = time.monotonic()
    connection = connection or http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    connection.request("GET", "/" + path, headers=fields)
    answer = connection.getresponse()
    try:
        body = answer.read()
    except http.client.IncompleteRead as error:
        body = error.partial
    return answer.status, body, answer.headers, time.monotonic() - start


def slow(place):
    """A link that is simulated: times are never below the arithmetic, however busy the machine is, and every byte is right."""
    dist = place / "slow"
    dist.mkdir()
    content = random.Random(SEED).randbytes(400_000)
    (dist / "manifest.json").write_text("{}")
    (dist / "a.pack").write_bytes(content)
    with open(dist / "large.pack", "wb") as large:
        large.truncate(1 << 30)
    rate, trip = 4_000_000 / 8, 0.2
    link = ["--link", "4Mbit/s,200ms"]
    with packer_serve(PACKER, "--cdn", dist, *link) as served:
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
        status, body, fields, took = fetch(served, "a.pack", connection, Range="bytes=10-")
        expect((status, body) == (206, content[10:]), "a slow part is not that of the file")
        expect(took >= 2 * trip + len(body) / rate, f"{len(body)} bytes on a new connection take {took:.3f} s")
        expect(fields["Access-Control-Allow-Origin"] == "*" and "Content-Range" in fields["Access-Control-Expose-Headers"], f"a page cannot read: {fields}")
        status, body, _, took = fetch(served, "manifest.json", connection)
        expect((status, body) == (200, b"{}") and took >= trip, f"a request on a connection that is there takes {took:.3f} s")
        results = []
        threads = [threading.Thread(target=lambda: results.append(fetch(served, "a.pack"))) for _ in range(20)]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - start
        expect([result[:2] for result in results] == 20 * [(200, content)], "one of twenty at once is wrong")
        expect(took >= 2 * trip + 20 * len(content) / rate, f"twenty at once take {took:.3f} s")
    with packer_serve(PACKER, "--cdn", dist, *link, "--truncate", "100000") as served:
        status, body, _, took = fetch(served, "a.pack")
        expect(body == content[:100_000] and took >= 2 * trip + 100_000 / rate, f"{len(body)} bytes of a cut answer take {took:.3f} s")
        connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
        expect(fetch(served, "manifest.json", connection, Connection="close")[1] == b"{}", "an answer before the end of a connection is not whole")
        expect(talk(served.port, b"GET /manifest.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", half=True)[0].endswith(b"{}"), "a client that sends no more gets no answer")
    with packer_serve(PACKER, "--cdn", dist, *link, "--status", "503", "--corrupt") as served:
        status, _, _, took = fetch(served, "a.pack")
        expect(status == 503 and took >= 2 * trip, f"{status} takes {took:.3f} s")
    # Clients that read nothing of a large file cost little, and keep no other one out.
    with packer_serve(PACKER, "--cdn", dist, "--link", "10Gbit/s,100ms") as served:
        links = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(100)]
        for link in links:
            link.sendall(b"GET /large.pack HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        time.sleep(1)
        for _ in range(3):
            expect(fetch(served, "a.pack")[:2] == (200, content), "clients that read nothing keep others out")
        peak = memory(served.process.pid, "VmHWM")
        expect(peak < MEMORY, f"100 clients that read nothing cost {peak} bytes")
        print(f"100 clients that read nothing of a large file, over a link: peak {peak / 1e6:.0f} MB", file=sys.stderr)
        for link in links:
            link.close()


def drip(link):
    """Sends the rest of a handshake a byte at a time, for as long as it is taken."""
    try:
        for _ in range(3 * PATIENCE):
            time.sleep(0.5)
            link.sendall(b"\0")
    except OSError:
        pass


def many_encrypted(port, context):
    """Handshakes that nobody completes keep no client out, and there is room again when others go."""
    links = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    with urllib.request.urlopen(f"https://localhost:{port}/manifest.json", context=context, timeout=PATIENCE) as answer:
        expect(answer.status == 200, "300 handshakes that nobody completes keep others out")
    expect_oldest_closed(links)
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(f"https://localhost:{port}/manifest.json", context=context, timeout=PATIENCE) as answer:
                return expect(answer.status == 200, "HTTPS does not serve after all have gone")
        except OSError:
            if time.monotonic() > deadline:
                return expect(False, "there is no room for HTTPS after all have gone")
            time.sleep(0.05)


def once(dist, folder):
    """Without -v, each kind of failed connection is told once; and a client of HTTPS at a port of HTTP is told, too."""
    for options, data, text in (
            (["--certificate", folder], request(), "sent HTTP, and this port serves HTTPS"),
            ([], bytes([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 3]), "sent HTTPS, and this port serves HTTP")):
        process = subprocess.Popen([PACKER, "serve", "--cdn", dist, "--port", "0", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        port = int(process.stdout.readline().strip().rstrip("/").rsplit(":", 1)[1])
        for _ in range(3):
            talk(port, data, half=True)
        process.terminate()
        errors = process.communicate()[1]
        expect(errors.count(text) == 1 and "hint: use an address with http" in errors, f"'{text}' is not told once: {errors}")


def foreign(dist, place):
    """A certificate with another key type and a chain, and a key with a pass phrase: OpenSSL must not ask for it."""
    folder = place / "foreign"
    folder.mkdir()

    def openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-sha384", "-days", "9", "-subj", "/CN=top", "-keyout", place / "top.key", "-out", place / "top.crt")
    (place / "middle.cnf").write_text("basicConstraints=CA:TRUE\n")
    (place / "leaf.cnf").write_text("subjectAltName=DNS:localhost\n")
    issuer = "top"
    for name in ("middle", "leaf"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-keyout", place / f"{name}.key", "-out", place / f"{name}.csr")
        openssl(
            "x509", "-req", "-sha384", "-days", "9", "-in", place / f"{name}.csr", "-CA", place / f"{issuer}.crt", "-CAkey", place / f"{issuer}.key",
            "-CAcreateserial", "-extfile", place / f"{name}.cnf", "-out", place / f"{name}.crt")
        issuer = name
    (folder / "server.crt").write_text((place / "leaf.crt").read_text() + (place / "middle.crt").read_text())
    (folder / "server.key").write_bytes((place / "leaf.key").read_bytes())
    with packer_serve(PACKER, "--cdn", dist, "--certificate", folder) as served:
        expect(served.url.startswith("https://localhost:"), f"the address is {served.url}")
        with urllib.request.urlopen(served.url + "manifest.json", context=ssl.create_default_context(cafile=place / "top.crt"), timeout=PATIENCE) as answer:
            expect(answer.status == 200, "a certificate with a chain does not work")
    expect("ca.crt" not in served.errors.replace("directory as ca.crt", ""), f"it names a certificate that does not exist: {served.errors}")
    for form in (["pkcs8", "-topk8", "-v2", "aes256"], ["rsa", "-traditional", "-aes256"]):
        openssl(*form, "-in", place / "leaf.key", "-passout", "pass:secret", "-out", folder / "server.key")
        # In a session of its own with a terminal, which OpenSSL would ask on.
        terminal, other = os.openpty()
        process = subprocess.Popen(
            [PACKER, "serve", "--cdn", dist, "--certificate", folder, "--port", "0"], stdin=other, stdout=other, stderr=other, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(other)
        said = b""
        try:
            while piece := os.read(terminal, 4096):
                said += piece
                if b"Enter" in said:
                    process.kill()
        except OSError:
            pass
        os.close(terminal)
        expect(process.wait(10) == 69 and b"pass phrase, which is not supported" in said and b"Enter" not in said, f"an encrypted key: {process.returncode}, {said}")


def https(dist, place):
    """HTTPS with a certificate made on this machine."""
    folder = place / "certificate"
    with packer_serve(PACKER, "--cdn", dist, "--certificate", folder) as served:
        port = served.port
        authority = folder / "ca.crt"
        # Connections that never complete their handshake are closed after fifteen seconds: one says nothing, one only begins.
        begun = time.monotonic()
        # A third sends a byte now and then, which must not give it more time.
        slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        for client in slow[1:]:
            client.sendall(bytes([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC]))
        dripping = threading.Thread(target=drip, args=(slow[2],))
        dripping.start()
        context = ssl.create_default_context(cafile=authority)

        def fetch(name="manifest.json", host="localhost", headers={}, context=context):
            request = urllib.request.Request(f"https://{host}:{port}/{name}", headers=headers)
            with urllib.request.urlopen(request, context=context, timeout=PATIENCE) as answer:
                return answer.status, answer.read(), answer.headers

        def refused(**arguments):
            try:
                fetch(**arguments)
            except (ssl.SSLError, urllib.error.URLError) as error:
                return str(error)
            return ""

        manifest = (dist / "manifest.json").read_bytes()
        for host in ("localhost", "127.0.0.1"):
            status, body, fields = fetch(host=host)
            expect((status, body) == (200, manifest) and fields["ETag"], f"HTTPS does not serve the manifest at {host}")
        status, body, _ = fetch(headers={"Range": "bytes=3-11"})
        expect((status, body) == (206, manifest[3:12]), "HTTPS does not serve ranges")
        pack = max(dist.glob("*.pack"), key=lambda path: path.stat().st_size)
        bodies = []
        clients = [threading.Thread(target=lambda: bodies.append(fetch(pack.name)[1])) for _ in range(2)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        expect(bodies == [pack.read_bytes()] * 2, "HTTPS does not serve two clients at once")
        expect("CERTIFICATE_VERIFY_FAILED" in refused(context=ssl.create_default_context()), "a client that does not trust the authority accepts the certificate")
        with socket.create_connection(("127.0.0.1", port)) as link:
            try:
                context.wrap_socket(link, server_hostname="cdn.example.com")
                expect(False, "the certificate is for another host, too")
            except ssl.SSLCertVerificationError:
                pass
        for version, is_served in (("TLSv1_1", False), ("TLSv1_2", True), ("TLSv1_3", True)):
            only = ssl.create_default_context(cafile=authority)
            only.set_ciphers("ALL:@SECLEVEL=0")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                only.minimum_version = only.maximum_version = getattr(ssl.TLSVersion, version)
            expect(bool(refused(context=only)) != is_served, f"{version} is {'refused' if is_served else 'served'}")
        answer, _ = talk(port, b"GET /manifest.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        expect(answer.startswith(b"HTTP/1.1 400 ") and answer.endswith(b"This port serves HTTPS only.\n"), f"HTTP to the port of HTTPS gets {answer[:80]}")
        if shutil.which("curl"):
            for options, status in ((["--cacert", authority], 0), ([], 60)):
                done = subprocess.run(["curl", "-sS", "-o", place / "curled", *options, f"https://localhost:{port}/manifest.json"], capture_output=True)
                expect(done.returncode == status, f"curl {options} ends with {done.returncode}, not {status}")
            expect((place / "curled").read_bytes() == manifest, "curl does not get the manifest")
        for client in slow:
            client.settimeout(PATIENCE)
            try:
                while client.recv(4096):
                    pass
            except ConnectionError:
                pass
            except TimeoutError:
                expect(False, "a slow handshake is not ended")
            client.close()
        expect(time.monotonic() - begun > 10, "a slow handshake is ended before 15 seconds")
        dripping.join()
        # One that ends its handshake in the middle.
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(bytes([0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC]))
        many_encrypted(port, context)
    told = [(record["message"], record.get("hint", "")) for record in served.records if record["type"] == "warning"]

    def count(text, hint):
        return sum(text in message and "127.0.0.1" in message and hint in advice for message, advice in told)

    for text, hint, least in (
            ("refused the certificate: unknown authority", f"have it trust {authority}", 2), ("handshake with", "TLS 1.2 or 1.3", 1), ("sent HTTP,", "https://", 1),
            ("ended the TLS handshake", f"have it trust {authority}", 1), ("did not complete the TLS handshake", "", 2)):
        expect(count(text, hint) >= least, f"'{text}' is told {count(text, hint)} times: {told}")
    expect(not any("refused" in message for message, _ in told if "unknown authority" not in message and "bad certificate" not in message), f"wrong refusals: {told}")
    once(dist, folder)
    with packer_serve(PACKER, "--cdn", dist, "--certificate", folder) as served:
        answer = urllib.request.urlopen(f"https://localhost:{served.port}/manifest.json", context=context, timeout=PATIENCE)
        expect(answer.read() == manifest, "the certificate is not used again")
    ownership = subprocess.run(
        ["openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", authority, folder / "server.crt"], capture_output=True, text=True)
    expect(ownership.returncode == 0, f"openssl refuses the certificate: {ownership.stdout}{ownership.stderr}")


def silent(dist):
    """Clients that say nothing, stop between two requests or do not read: at an address for other machines they are closed soon, and here they are not."""
    large = dist / "large.bin"
    large.write_bytes(bytes(64 << 20))
    for host, limits in (("127.0.0.1", None), ("0.0.0.0", {"nothing": 5, "half a request": 5, "idle": 15, "stalled": 30})):
        with packer_serve(PACKER, "--cdn", dist, *(["--host", host] if limits else [])) as served:
            links = {name: socket.create_connection(("127.0.0.1", served.port)) for name in ("nothing", "half a request", "idle", "stalled")}
            links["half a request"].sendall(b"GET / HTTP/1.1\r\nHost: ")
            links["idle"].sendall(b"GET /manifest.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
            links["stalled"].sendall(b"GET /large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
            start, ended = time.monotonic(), {}
            while len(ended) < len(links) and time.monotonic() - start < (30 + PATIENCE if limits else 9):
                time.sleep(0.2)
                # A client that does not read learns nothing of the end, so it is the server's side that is looked at.
                rows = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()]
                open_ports = {int(row[2].rpartition(":")[2], 16) for row in rows if row[1].endswith(f":{served.port:04X}") and row[3] == "01"}
                for name, link in links.items():
                    if name not in ended and link.getsockname()[1] not in open_ports:
                        ended[name] = time.monotonic() - start
            if limits:
                for name, limit in limits.items():
                    expect(name in ended and limit - 2 < ended[name] < limit + PATIENCE, f"at a public address a client ({name}) ends after {ended.get(name)} s, not {limit} s")
            else:
                expect(not ended, f"at this machine's address clients are closed: {ended}")
            for link in links.values():
                link.close()
    large.unlink()


def ending(place):
    """The end: what is being sent is sent, the status says which signal it was, and the port is free at once."""
    # A script in the background ignores SIGINT, and so would what it starts.
    usual = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
        process = subprocess.Popen([PACKER, "serve", place / "t.pack", "--key", place / "key", "--port", "0"], **usual)
        url = process.stdout.readline().strip()
        port = int(url.rstrip("/").rsplit(":", 1)[1])
        with socket.create_connection(("127.0.0.1", port)) as idle, socket.create_connection(("127.0.0.1", port)) as link:
            idle.sendall(request())
            idle.recv(10_000)
            link.sendall(request(target="/big.bin"))
            got = len(link.recv(1000))
            process.send_signal(number)
            time.sleep(0.1)
            while piece := link.recv(1 << 20):
                got += len(piece)
        expect(got > (place / "tree/big.bin").stat().st_size, f"what was being sent is cut off after {got} bytes")
        expect(process.wait(PATIENCE) == status, f"the status is {process.returncode}, not {status}")
        taken = subprocess.Popen([PACKER, "serve", place / "t.pack", "--key", place / "key", "--port", str(port)], **usual)
        expect(taken.stdout.readline().strip() == url, "the port is not free again")
        refused = subprocess.run([PACKER, "serve", place / "t.pack", "--key", place / "key", "--port", str(port)], capture_output=True, text=True)
        expect(refused.returncode == 69 and f"port {port} is in use" in refused.stderr, f"a port that is taken: {refused.returncode}, {refused.stderr}")
        taken.terminate()
        taken.communicate()


def recording(place):
    """What browsers load is written down when the server stops, and the gate reports the faults in it."""
    project = place / "recorded"
    game = project / "game"
    (game / "img").mkdir(parents=True)
    (game / "index.html").write_text("<img src=img/Hero.png>")
    (game / "img/hero.png").write_bytes(b"picture")
    (game / "unused.bin").write_bytes(bytes(4000))
    (game / "sw.js").write_text("")
    (game / "img/index.html").write_text("x")
    run("key", "new", "-o", project / "key")
    run("key", "new", "--signing", "-o", project / "sign.key")
    (project / "packer.yml").write_text(
        'serve: {baseURL: "https://cdn.example.com/"}\nkey: file:key\nsignKey: file:sign.key\npacks:\n  - {id: g, root: game, delivery: prefetch}\n')
    run("build", "-c", project / "packer.yml", "--quiet")
    # It takes the options of Chromium, and loads its last word.
    fake = place / "fake-browser"
    fake.write_text("""#!/usr/bin/env python3
import os, sys, time, urllib.error, urllib.request
assert sys.argv[1] == "--headless=new" and any(word.startswith("--user-data-dir=") for word in sys.argv)
origin, host = sys.argv[-1].rstrip("/"), sys.argv[-1].split("/")[2]
plain = "http://127.0.0.1:" + host.split(":")[1]
def get(path, data=None, **fields):
    request = urllib.request.Request(plain + path, data=data, headers={"Host": host, **fields})
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.headers
    except urllib.error.HTTPError as error:
        return error.code, error.headers
    except OSError:
        return 0, {}
policy = get("/")[1]["Content-Security-Policy-Report-Only"]
where = policy.split("report-uri ")[1].removeprefix(origin)
assert get("/img/Hero.png")[0] == 404 and get("/favicon.ico")[0] == 404
get("/img/hero.png", Range="bytes=1-2")
if "PACKER_FAKE_DIRECTORY" in os.environ:
    assert get("/img")[0] == 200
assert get("/sw.js", **{"Service-Worker": "script"})[0] == 403
def report(url, origin=origin):
    return get(where, b'{"csp-report":{"blocked-uri":"' + url + b'","effective-directive":"img-src","status-code":200}}', Origin=origin)[0]
assert report(b"https://tracker.example.com/p.gif?id=1") == 204 and report(b"https://tracker.example.com/p.gif?id=2#x") == 204
assert report(b"about") == 204 and report(b"chrome-extension://abc") == 204 and report(origin.encode() + b"/x") == 204
assert report(b"https://forged.example.com/", "http://other.localhost") == 403
assert get(where, b"not JSON")[0] == 204 and get(where, bytes(70000))[0] == 0 and get("/index.html", b"x")[0] == 405
assert get("/.well-known/packer/error", b"/a.js:1:7\\nUncaught Error: dead\\n  at x", Origin=origin)[0] == 204
assert get("/.well-known/packer/error", b"/a.js:1:7\\nforged", Origin="http://other.localhost")[0] == 403
time.sleep(60)
""")
    fake.chmod(0o755)
    record = project / "run.json"
    done = subprocess.run(
        [PACKER, "serve", project / "dist", "--port", "0", "--record", record, "--browser", fake, "--for", "3"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0 and "g: 4 requests" not in done.stderr, f"a recorded run ends with {done.returncode}: {done.stderr}")
    expect("; 2 problems; 1 path is not in the pack; 1 address on other hosts; 2 of 5 files never asked for, 4.0 kB" in done.stdout, f"its summary is {done.stdout}")
    pack = json.loads(record.read_text())["packs"]["g"]
    expect([(at["path"], at["status"]) for at in pack["requests"]][:5] == [("index.html", 200), ("img/Hero.png", 404), ("favicon.ico", 404), ("img/hero.png", 206), ("sw.js", 403)],
           f"the requests are {pack['requests']}")
    expect(pack["missing"] == [{"near": "img/hero.png", "path": "img/Hero.png"}], f"missing: {pack['missing']}")
    expect(pack["foreign"] == [{"directive": "img-src", "url": "https://tracker.example.com/p.gif"}], f"foreign: {pack['foreign']}")
    reason = "a web view has no service workers, so the game must work without"
    expect(pack["problems"] == [{"text": f"it registers 'sw.js': {reason}"}, {"place": "/a.js:1:7", "text": "Uncaught Error: dead\n  at x"}], f"problems: {pack['problems']}")
    expect(pack["unused"] == [{"path": "img/index.html", "size": 1}, {"path": "unused.bin", "size": 4000}], f"unused: {pack['unused']}")
    gate = [PACKER, "verify", project / "dist", "-c", project / "packer.yml", "--run", record, "--strict", "--only", "PK601"]
    found = subprocess.run(gate, capture_output=True, text=True)
    expect(found.returncode == 1 and "PK6013: g: its pack has no 'img/Hero.png', but has 'img/hero.png'" in found.stdout, f"the gate says {found.stdout}")
    expect("PK6014: g: it asks for https://tracker.example.com/p.gif (img-src)" in found.stdout, f"the gate says {found.stdout}")
    found = subprocess.run([*gate[:-1], "PK6022"], capture_output=True, text=True)
    expect(found.returncode == 1 and "PK6022: g: it registers 'sw.js'" in found.stdout and "Uncaught Error: dead (/a.js:1:7)" in found.stdout, f"the gate says {found.stdout}")
    (game / "index.html").write_text("<img src=img/hero.png>")
    run("build", "-c", project / "packer.yml", "--quiet")
    found = subprocess.run(gate, capture_output=True, text=True)
    expect(found.returncode == 0 and "PK6015" in found.stdout, f"an old run: {found.returncode}, {found.stdout}")

    # The order in which it loads, added to what is known. What is read in parts is for later, and a page that leads into a directory is no file.
    order = project / "g.order"
    order.write_text("[launch]\nindex.html\nlogo.svg\n")
    done = subprocess.run(
        [PACKER, "serve", project / "dist", "--port", "0", "--layout", order, "--browser", fake, "--for", "3"], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PACKER_FAKE_DIRECTORY": "1"})
    expect(done.returncode == 0 and f"{order}: 2 files at the launch, 1 later" in done.stdout, f"an order ends with {done.returncode}: {done.stdout}{done.stderr}")
    expect(order.read_text().splitlines()[2:] == ["[launch]", "index.html", "logo.svg", "", "[later]", "img/hero.png"], f"the order is {order.read_text()}")

    # A browser that ends, and one that does not exist: nothing is written, and what was there stays.
    before = record.read_bytes()
    for program in ("/bin/true", "no-such-browser"):
        failed = subprocess.run(
            [PACKER, "serve", project / "dist", "--port", "0", "--record", record, "--browser", program, "--for", "9"], capture_output=True, text=True, timeout=60)
        expect(failed.returncode == 66 and record.read_bytes() == before, f"{program}: {failed.returncode}, {failed.stderr}")
    for path in (project / "dist/run.json", project / "dist/manifest.json", project / "key"):
        refused = subprocess.run([PACKER, "serve", project / "dist", "--port", "0", "--record", path, "--for", "1"], capture_output=True, text=True, timeout=60)
        expect(refused.returncode == 64 and "cannot be written to" in refused.stderr, f"--record {path}: {refused.returncode}, {refused.stderr}")
    # Ctrl-C ends the recording, and the file is whole.
    with packer_serve(PACKER, project / "dist", "--key", project / "key", "--record", record) as served:
        port = served.port
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": f"g.localhost:{port}"})).read()
    expect(json.loads(record.read_text())["packs"]["g"]["requestCount"] == 1, "the file is not that of the last run")
    expect(sorted(path.name for path in project.iterdir()) == ["dist", "g.order", "game", "key", "packer.yml", "run.json", "sign.key"], "something is left behind")


def main():
    print(f"PACKER_TEST_SEED={SEED}", file=sys.stderr)
    dice = random.Random(SEED)
    with tempfile.TemporaryDirectory(prefix="packer-serving.") as name:
        place = pathlib.Path(name)
        tree = place / "tree"
        (tree / "many").mkdir(parents=True)
        (tree / "a.txt").write_text("content of a\n")
        (tree / "empty.bin").write_bytes(b"")
        (tree / "big.bin").write_bytes(dice.randbytes(20_000_000))
        for number in range(20):
            (tree / f"many/{number}.bin").write_bytes(dice.randbytes(dice.randrange(1, 200_000)))
        run("key", "new", "-o", place / "key")
        run("pack", tree, "-o", place / "t.pack", "--key", place / "key", "--quiet")
        parts = sys.argv[1:] or ["connections", "too-many", "crowd", "choices", "versions", "release", "link", "recording", "ending"]
        with packer_serve(PACKER, place / "t.pack", "--key", place / "key") as served:
            globals()["HOST"] = served.host
            if "connections" in parts:
                connections(served.port)
            if "too-many" in parts:
                too_many(served.port)
            if "crowd" in parts:
                crowd(served, tree, SEED)
        # One of the invalid requests begins like TLS.
        complaints = [line for line in served.errors.splitlines() if "warning" in line or "Fatal" in line]
        expect([line for line in complaints if "sent HTTPS" not in line] == ["packer: warning: nothing here has an index.html at its root, so no page opens"], f"it complains: {served.errors}")
        if "choices" in parts:
            choices(place)
        if "versions" in parts:
            another_version(place)
        if "release" in parts:
            dist = release(place)
            faults(dist)
            silent(dist)
            https(dist, place)
            foreign(dist, place)
        if "link" in parts:
            slow(place)
        if "recording" in parts:
            recording(place)
        if "ending" in parts:
            ending(place)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
