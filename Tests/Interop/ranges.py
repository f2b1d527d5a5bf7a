#!/usr/bin/env python3
"""The same requests to `packer serve` on a pack and to nginx on the plain tree: same status, same bytes, same Content-Range and Content-Length.

A table of ranges, conditions and odd requests (RFC 9110 §13 and §14, RFC 9112 §3). Where the answers are to differ, DIFFERENCES says how and why;
a difference that is not in it is a fault, and so is one that is not there any more.
"""

import pathlib
import random
import re
import socket
import sys
import tempfile
import os
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
from project import SEED
from servers import nginx, packer_serve

BIG = 5_000_000
SMALL = 1000

# name: (status of packer, status of nginx, why)
DIFFERENCES = {
    "number beyond 64 bits": (206, 416, "RFC 9110 §14.1.1 asks to expect large numbers, and such an end is beyond the file as any other"),
    "empty elements": (206, 416, "RFC 9110 §5.6.1: a recipient accepts a reasonable number of empty list elements"),
    "If-Modified-Since of the file": (200, 304, "there are no dates in a pack; a browser that got a tag asks with that"),
    "If-Range with the date": (200, 206, "there are no dates in a pack, so nobody has one to ask with"),
    "If-Unmodified-Since long ago": (200, 412, "there are no dates in a pack"),
    "HEAD first half": (200, 206, "RFC 9110 §14.2: Range means something for GET alone"),
    "HEAD at the end": (200, 416, "the same"),
    "HEAD two": (200, 206, "the same"),
    "a host of somebody else": (421, 200, "a page of a stranger whose name resolves to this machine gets nothing (DNS rebinding)"),
    "directory without a slash": (200, 301, "WebKit follows no redirect of an app's own scheme, so a page leads there, here as on a device"),
    "directory without a slash and a query": (200, 301, "the same"),
    "range of a redirect": (200, 301, "the same"),
    "seventeen ranges": (200, 206, "more than 16 ranges are nobody's who means well"),
}


def cases(dice):
    """(name, method, target, header fields). {tag} and {date} stand for what the server itself said of the file."""
    big, small, empty = "/data/big.bin", "/data/small.txt", "/data/empty.bin"
    table = [
        ("whole", "GET", small, []), ("whole large", "GET", big, []), ("whole empty", "GET", empty, []), ("HEAD", "HEAD", big, []),
        ("index", "GET", "/", []), ("HEAD index", "HEAD", "/", []), ("index of a directory", "GET", "/deep/", []),
        ("directory without a slash", "GET", "/deep", []), ("directory without a slash and a query", "GET", "/deep?a=1&b=%20", []),
        ("query", "GET", small + "?v=3", []), ("escaped", "GET", "/data/%73mall.txt", []), ("space", "GET", "/data/two%20words.txt", []),
        ("other letters", "GET", "/data/%C3%A9t%C3%A9.txt", []), ("missing", "GET", "/nothing", []), ("HEAD missing", "HEAD", "/nothing", []),
        ("missing with a range", "GET", "/nothing", [("Range", "bytes=0-1")]), ("file as a directory", "GET", small + "/", []),
        ("below a file", "GET", small + "/more", []), ("two slashes", "GET", "//data//small.txt", []),
        ("whole address", "GET", "http://localhost" + small, []), ("escape that is none", "GET", "/data/%zz", []),
        ("escape that is cut", "GET", "/data/%4", []), ("NUL", "GET", "/data/small.txt%00", []),
        ("no such case", "GET", "/data/SMALL.txt", []), ("fragment", "GET", small + "#part", []),
        ("POST with a body", "POST", small, [("Content-Length", "3")]), ("DELETE", "DELETE", small, []),
        ("OPTIONS", "OPTIONS", small, []), ("a host of somebody else", "GET", small, [("Host", "games.example")]),
        ("seventeen ranges", "GET", big, [("Range", "bytes=" + ",".join(f"{n * 10}-{n * 10}" for n in range(17)))]),
        ("sixteen ranges", "GET", big, [("Range", "bytes=" + ",".join(f"{n * 10}-{n * 10}" for n in range(16)))]),
    ]
    ranges = {
        "first byte": "bytes=0-0", "second byte": "bytes=1-1", "first half": "bytes=0-499", "all of it": "bytes=0-999", "one beyond": "bytes=0-1000",
        "far beyond": "bytes=0-999999999", "open": "bytes=500-", "open from 0": "bytes=0-", "last byte by number": "bytes=999-999",
        "last byte open": "bytes=999-", "at the end": "bytes=1000-", "behind the end": "bytes=1001-2000", "suffix 1": "bytes=-1", "suffix 500": "bytes=-500",
        "suffix of all": "bytes=-1000", "suffix of more": "bytes=-5000", "suffix 0": "bytes=-0", "backwards": "bytes=500-400", "nothing": "bytes=",
        "dash": "bytes=-", "letters": "bytes=a-b", "letters behind": "bytes=0-5x", "negative": "bytes=--1", "three parts": "bytes=0-5-9",
        "other unit": "chunks=0-5", "no unit": "0-5", "unit in capitals": "BYTES=0-5", "space behind the sign": "bytes= 0-5", "space in front of the sign": "bytes =0-5",
        "space around the dash": "bytes=0 - 5", "space behind": "bytes=0-5 ", "two": "bytes=0-1,10-19", "two with a space": "bytes=0-1, 10-19", "two that touch": "bytes=0-9,10-19",
        "two that overlap": "bytes=0-99,50-149", "two backwards": "bytes=500-599,0-99", "one of two behind the end": "bytes=0-9,2000-3000",
        "two behind the end": "bytes=1000-1001,2000-3000", "one of two no range": "bytes=0-9,x", "three": "bytes=0-0,500-500,-1", "the same twice": "bytes=0-9,0-9",
        "all of it twice": "bytes=0-,0-", "larger together": "bytes=0-899,100-999", "number beyond 64 bits": "bytes=0-99999999999999999999999",
        "start beyond 64 bits": "bytes=99999999999999999999999-", "suffix beyond 63 bits": "bytes=-9223372036854775807", "leading zeros": "bytes=0000-0009",
        "empty elements": "bytes=,0-9,,", "empty elements alone": "bytes=,,", "semicolon": "bytes=0-5;q=1",
    }
    table += [(name, "GET", small, [("Range", value)]) for name, value in ranges.items()]
    table += [(f"HEAD {name}", "HEAD", small, [("Range", ranges[name])]) for name in ("first half", "at the end", "two")]
    table += [(f"empty file, {name}", "GET", empty, [("Range", ranges[name])]) for name in ("open from 0", "first byte", "suffix 1", "at the end")]
    table += [("range of an index", "GET", "/", [("Range", "bytes=0-9")]), ("range of a redirect", "GET", "/deep", [("Range", "bytes=0-9")])]
    table += [("two fields", "GET", small, [("Range", "bytes=0-9"), ("X-Other", "1")])]
    for name, value in {
            "its tag": "{tag}", "its tag as a weak one": "W/{tag}", "another tag": '"0000"', "any": "*", "a list with it": '"a", {tag}, "b"', "a list without it": '"a", "b"',
            "a list of weak ones with it": 'W/"a", W/{tag}'}.items():
        table.append((f"If-None-Match {name}", "GET", small, [("If-None-Match", value)]))
        table.append((f"If-None-Match {name}, HEAD", "HEAD", small, [("If-None-Match", value)]))
        table.append((f"If-None-Match {name} and a range", "GET", small, [("If-None-Match", value), ("Range", "bytes=0-9")]))
        table.append((f"If-Match {name}", "GET", small, [("If-Match", value)]))
        table.append((f"If-Match {name} and a range", "GET", small, [("If-Match", value), ("Range", "bytes=0-9")]))
    for name, value in {"its tag": "{tag}", "its tag as a weak one": "W/{tag}", "another tag": '"0000"', "a word": "x"}.items():
        table.append((f"If-Range with {name}", "GET", small, [("If-Range", value), ("Range", "bytes=10-19")]))
        table.append((f"If-Range with {name}, not satisfiable", "GET", small, [("If-Range", value), ("Range", "bytes=5000-")]))
    old = "Thu, 01 Jan 1998 00:00:00 GMT"
    table += [
        ("If-Modified-Since of the file", "GET", small, [("If-Modified-Since", "{date}")]), ("If-Modified-Since long ago", "GET", small, [("If-Modified-Since", old)]),
        ("If-Range with the date", "GET", small, [("If-Range", "{date}"), ("Range", "bytes=0-9")]),
        ("If-Range with an old date", "GET", small, [("If-Range", old), ("Range", "bytes=0-9")]),
        ("If-Unmodified-Since long ago", "GET", small, [("If-Unmodified-Since", old)]), ("If-Unmodified-Since of the file", "GET", small, [("If-Unmodified-Since", "{date}")]),
    ]
    for number in range(60):
        one, other = sorted((dice.randrange(BIG), dice.randrange(BIG)))
        value = dice.choice([f"{one}-{other}", f"{one}-", f"-{BIG - one}", f"{one}-{min(one + dice.randrange(70_000), BIG)}"])
        table.append((f"random {number}: {value}", "GET", big, [("Range", f"bytes={value}")]))
    return table


class Answer:
    def __init__(self, status, fields, body):
        self.status, self.fields, self.body = status, fields, body

    def __getitem__(self, name):
        return self.fields.get(name.lower())


def ask(port, method, target, fields, host="localhost"):
    lines = [f"{method} {target.replace('http://localhost', f'http://{host}')} HTTP/1.1"]
    if not any(name == "Host" for name, _ in fields):
        lines.append(f"Host: {host}:{port}")
    lines += [f"{name}: {value}" for name, value in fields] + ["Connection: close", "", ""]
    body = b"abc" if any(name == "Content-Length" for name, _ in fields) else b""
    with socket.create_connection(("127.0.0.1", port), 20) as link:
        link.sendall("\r\n".join(lines).encode() + body)
        data = b""
        while piece := link.recv(1 << 20):
            data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in rest:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Answer(int(first.split()[1]), headers, body)


def normal(answer):
    """What has to be equal. The text of an error page, and what separates the parts of several ranges, are everybody's own."""
    location = answer["Location"] and re.sub(r"^https?://[^/]*", "", answer["Location"])
    if answer.status not in (200, 206):
        return answer.status, answer["Content-Range"], location
    kind, body, length = answer["Content-Type"] or "", answer.body, answer["Content-Length"]
    boundary = re.match(r"multipart/byteranges; boundary=(.*)", kind)
    if boundary:
        assert len(body) == int(length) or not body, "the length of several ranges is wrong"
        body, kind, length = body.replace(boundary[1].encode(), b"BOUNDARY"), "multipart/byteranges", None
        body = re.sub(rb"Content-Type: [^\r]*", b"Content-Type: T", body)
    # That ranges are had nginx says where it sent none.
    offered = answer["Accept-Ranges"] if answer.status == 200 else None
    return answer.status, answer["Content-Range"], length, kind.split(";")[0], offered, location, body


def show(answer):
    text = [f"{part[:60]!r}… ({len(part)})" if isinstance(part, bytes) and len(part) > 60 else repr(part) for part in normal(answer)]
    return ", ".join(text)


def make_tree(tree, dice):
    files = {
        "index.html": b"<!doctype html><title>t</title>hello\n", "deep/index.html": b"<!doctype html>deep\n", "data/empty.bin": b"",
        "data/small.txt": bytes(dice.choice(b"abcdefgh \n") for _ in range(SMALL)), "data/two words.txt": b"two words\n",
        "data/\u00e9t\u00e9.txt": b"summer\n", "data/big.bin": dice.randbytes(BIG),
    }
    for name, content in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(content)


def main():
    packer = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
    dice = random.Random(SEED)
    wrong, seen = [], set()
    with tempfile.TemporaryDirectory(prefix="packer-ranges.") as name:
        place = pathlib.Path(name)
        tree = place / "tree"
        make_tree(tree, dice)
        subprocess.run([packer, "key", "new", "-o", place / "key"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([packer, "pack", tree, "-o", place / "t.pack", "--key", place / "key", "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with packer_serve(packer, place / "t.pack", "--key", place / "key") as served, nginx(tree, place / "nginx") as plain:
            ports = served.port, int(plain.rstrip("/").rsplit(":", 1)[1])
            table = cases(dice)
            for name, method, target, fields in table:
                answers = []
                for port, host in zip(ports, (served.host, "localhost")):
                    about = ask(port, "HEAD", target, [], host)
                    said = {"tag": about["ETag"] or '"none"', "date": about["Last-Modified"] or "Sat, 01 Jan 2022 00:00:00 GMT"}
                    answers.append(ask(port, method, target, [(field, value.replace("{tag}", said["tag"]).replace("{date}", said["date"])) for field, value in fields], host))
                mine, theirs = answers
                if name in DIFFERENCES:
                    seen.add(name)
                    expected = DIFFERENCES[name][:2]
                    if (mine.status, theirs.status) != expected:
                        wrong.append(f"{name}: {mine.status} and {theirs.status}, not {expected[0]} and {expected[1]} as DIFFERENCES says")
                elif normal(mine) != normal(theirs):
                    wrong.append(f"{name}: {method} {target} {fields}\n  packer: {show(mine)}\n  nginx:  {show(theirs)}")
    wrong += [f"{name} is in DIFFERENCES and was not asked" for name in DIFFERENCES.keys() - seen]
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(table)} requests to packer serve and to nginx, {len(DIFFERENCES)} answered differently for a reason (PACKER_TEST_SEED={SEED})", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
