#!/usr/bin/env python3
"""`packer observe` on generated logs, in each format that servers and CDNs write, plain and compressed: all counts must be those of the devices that were
made up.

  observing.py                 5 000 requests in each format
  observing.py --size BYTES    a log of that many bytes in each format, with the time and the memory that it took

The command is named by the variable PACKER, the seed of the devices by PACKER_TEST_SEED. The time limit is for a release build: OBSERVE_SECONDS for each
1 GB (default: none), and so is the memory limit, 100 MB.
"""

import argparse
import collections
import datetime
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
SEED = int(os.environ.get("PACKER_TEST_SEED") or 1)
SECONDS = float(os.environ.get("OBSERVE_SECONDS") or 0)
MEMORY = 100_000_000
START = int(datetime.datetime(2026, 11, 29, tzinfo=datetime.timezone.utc).timestamp())
CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:key
signKey: file:sign.key
packs:
  - {id: core, root: core, delivery: essential}
  - {id: music, root: music, delivery: prefetch}
  - {id: level, root: level, delivery: onDemand}
"""
FIELDS = "date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id x-host-header cs-protocol cs-bytes time-taken x-forwarded-for ssl-protocol ssl-cipher x-edge-response-result-type cs-protocol-version fle-status fle-encrypted-fields c-port time-to-first-byte x-edge-detailed-result-type sc-content-type sc-content-len sc-range-start sc-range-end"
# What a response has besides its body.
HEADER = 420

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(place, *arguments, status=0):
    done = subprocess.run([PACKER, *map(str, arguments)], cwd=place, capture_output=True, text=True)
    expect(done.returncode == status, f"packer {' '.join(map(str, arguments))}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done.stdout


def project(place, draw):
    """Makes three releases, of which the last one is in dist. Returns the files of each, with their sizes."""
    run(place, "key", "new", "-o", "key")
    run(place, "key", "new", "--signing", "-o", "sign.key")
    for name in ("core", "music", "level"):
        (place / name).mkdir()
        for number in range(20):
            (place / name / f"{number}.bin").write_bytes(draw.randbytes(8000))
    (place / "packer.yml").write_text(CONFIGURATION)
    releases = []
    for version in (1, 2, 3):
        (place / "core" / "0.bin").write_bytes(draw.randbytes(8000))
        if version == 3:
            (place / "level" / "0.bin").write_bytes(draw.randbytes(8000))
        run(place, "build", "-q")
        dist = place / "dist"
        releases.append({path.name: path.stat().st_size for path in dist.iterdir() if path.suffix in (".pack", ".shard")})
        if version < 3:
            run(place, "release", "record", "-q")
    return releases


class Field:
    """Devices, and what the logs should say of them."""

    def __init__(self, releases, manifest, draw):
        self.draw = draw
        entry = {pack["id"]: pack for pack in manifest}
        self.packs = {pack["url"].rsplit("/", 1)[1]: pack["size"] for pack in manifest}
        core = entry["core"]
        self.core = core["url"].rsplit("/", 1)[1]
        self.deltas = {f"core-{delta['sha256'][:16]}.pack": delta["size"] for delta in core["deltas"]}
        self.shard = next(name for name in releases[2] if name.endswith(".shard"))
        self.sizes = {**releases[0], **releases[1], **releases[2]}
        # Of earlier releases, packs are recorded, and neither deltas nor shards.
        self.old = [name for name in releases[0] if name.startswith("core-")]
        known = set(self.packs) | set(self.deltas) | {self.shard}
        self.lost = [name for name in releases[1] if name not in known and name not in releases[0] and not name.endswith(".shard")]
        self.sized = {**self.packs, **self.deltas, self.shard: self.sizes[self.shard], **{name: self.sizes[name] for name in self.old}}
        self.counts = collections.defaultdict(collections.Counter)
        self.errors = {}
        self.all = collections.Counter()
        self.number = 0
        self.clock = START
        # Whether no further devices come, and those that are busy complete what they do.
        self.is_ending = False

    def device(self):
        """Yields the requests of one device: path, status, bytes, the bytes that a part or the whole should have, and method."""
        draw, count = self.draw, self.counts
        for _ in range(draw.randint(1, 3)):
            yield "manifest.json", 304 if draw.random() < 0.7 else 200, 0, "GET"
        kind = draw.random()
        if kind < 0.25:
            yield from self.whole(self.core)
        elif kind < 0.35:
            yield from self.parts(self.core, draw.randint(2, 4))
        elif kind < 0.4:
            # Cut off, and continued.
            size = self.sized[self.core]
            yield self.core, 200, size // 2, "GET"
            yield self.core, 206, size - size // 2, "GET"
            count[self.core].update(begunInParts=1, completedInParts=1)
        elif kind < 0.45:
            yield self.core, 206, self.sized[self.core] // 3, "GET"
            count[self.core].update(begunInParts=1)
        elif kind < 0.7:
            delta = draw.choice(list(self.deltas))
            count[self.core].update(deltaDevices=1)
            if draw.random() < 0.1:
                for _ in range(2):
                    yield delta, draw.choice((404, 503)), 150, "GET"
                yield from self.whole(self.core)
                count[self.core].update(fallbacks=1)
            else:
                yield from self.whole(delta)
        elif kind < 0.8:
            yield self.shard, 200, self.sized[self.shard], "GET"
            count[self.shard].update(wholeCompleted=1)
            yield from self.parts(next(name for name in self.packs if name.startswith("level-")), 3)
        elif kind < 0.85:
            yield from self.whole(self.old[0])
        elif kind < 0.9:
            name = draw.choice(self.lost or self.old)
            yield name, 404, 150, "GET"
        elif kind < 0.92:
            yield self.core, 200, 0, "HEAD"
        elif kind < 0.94:
            yield f"core-{draw.randrange(40):016x}.pack", 403, 200, "GET"
        elif kind < 0.96:
            yield self.core, 416, 0, "GET"
        else:
            yield draw.choice(("index.html", "core.pack", "x/core-0123456789ABCDEF.pack", "manifest.json.bak", "a%20b.pack")), 404, 120, "GET"

    def whole(self, name):
        self.counts[name].update(wholeCompleted=1)
        yield name, 200, self.sized[name], "GET"

    def parts(self, name, number):
        size = self.sized[name]
        self.counts[name].update(begunInParts=1, completedInParts=1)
        ends = [size * part // number for part in range(number + 1)]
        for start, end in zip(ends, ends[1:]):
            yield name, 206, end - start, "GET"

    def requests(self):
        """Yields the requests of many devices that are busy at a time, with their addresses and agents, and counts them."""
        busy = []
        while busy or not self.is_ending:
            while len(busy) < 300 and not self.is_ending:
                self.number += 1
                address = f"10.{self.number >> 16 & 255}.{self.number >> 8 & 255}.{self.number & 255}"
                agent = f"Game/{self.number >> 24 | 1} CFNetwork/1490.0.4 Darwin/23.{self.number % 5}.0"
                busy.append((address, agent, self.device()))
            place = self.draw.randrange(len(busy))
            address, agent, device = busy[place]
            request = next(device, None)
            if request is None:
                busy[place] = busy[-1]
                busy.pop()
                continue
            self.clock += self.draw.random() < 0.02
            yield address, agent, *request

    def note(self, name, status, logged, method):
        self.all["allRequests"] += 1
        if name != "manifest.json" and not self.is_ours(name):
            self.all["otherFiles"] += 1
        elif method != "GET":
            self.all["otherMethods"] += 1
        else:
            counts = self.counts[name]
            counts["requests"] += 1
            if status in (200, 206):
                counts["whole" if status == 200 else "parts"] += 1
                counts["bytes"] += logged
            elif status == 304:
                counts["unchanged"] += 1
            else:
                counts["failed"] += 1
                error = self.errors.setdefault((status, name), [0, self.clock, self.clock])
                error[0] += 1
                error[2] = self.clock

    @staticmethod
    def is_ours(name):
        stem, dot, ending = name.rpartition(".")
        front, _, digits = stem.rpartition("-")
        return ending in ("pack", "lead", "shard") and "/" not in name and len(digits) == 16 and not set(digits) - set("0123456789abcdef") and front != ""


def stamp(clock, form):
    return datetime.datetime.fromtimestamp(clock, datetime.timezone.utc).strftime(form)


class Writer:
    """Lines of a format. `line` returns a line, and the bytes that it says were sent."""

    def __init__(self, name):
        self.name, self.clock = name, None

    def line(self, clock, address, agent, name, status, size, method, full):
        if clock != self.clock:
            self.clock = clock
            self.bracket, self.iso, self.day = stamp(clock, "%d/%b/%Y:%H:%M:%S +0000"), stamp(clock, "%Y-%m-%dT%H:%M:%SZ"), stamp(clock, "%Y-%m-%d\t%H:%M:%S")
        return getattr(self, self.name)(address, agent, name, status, size, method, full)

    def combined(self, address, agent, name, status, size, method, full):
        return f'{address} - - [{self.bracket}] "{method} /packs/{name} HTTP/1.1" {status} {size} "-" "{agent}"\n', size

    def cloudfront(self, address, agent, name, status, size, method, full):
        agent = agent.replace(" ", "%20")
        return (
            f"{self.day}\tFRA56-P3\t{size + HEADER}\t{address}\t{method}\td111111abcdef8.cloudfront.net\t/packs/{name}\t{status}\t-\t{agent}\t-\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\tcdn.example.com\thttps\t23\t0.001\t-\tTLSv1.3\tTLS_AES_128_GCM_SHA256\tHit\tHTTP/2.0\t-\t-\t11040\t0.001\tHit\tapplication/octet-stream\t{full}\t-\t-\n",
            min(size + HEADER, full))

    def cloudflare(self, address, agent, name, status, size, method, full):
        return (
            f'{{"ClientIP":"{address}","ClientRequestHost":"cdn.example.com","ClientRequestMethod":"{method}","ClientRequestURI":"/packs/{name}","ClientRequestUserAgent":"{agent}","EdgeEndTimestamp":"{self.iso}","EdgeResponseBytes":{size + HEADER},"EdgeResponseStatus":{status},"EdgeStartTimestamp":"{self.iso}","RayID":"3a6050bcbe121a87"}}\n',
            size + HEADER)

    def fastly(self, address, agent, name, status, size, method, full):
        return (
            f'{{ "timestamp": "{self.iso[:-1]}+0000", "client_ip": "{address}", "geo_country": "germany", "host": "cdn.example.com", "url": "/packs/{name}", "request_method": "{method}", "request_protocol": "HTTP/2", "request_referer": "", "request_user_agent": "{agent}", "response_state": "HIT-CLUSTER", "response_status": {status}, "response_reason": "OK", "response_body_size": {size}, "fastly_server": "cache-fra-eddf8230020-FRA", "fastly_is_edge": true }}\n',
            size)

    def caddy(self, address, agent, name, status, size, method, full):
        return (
            f'{{"level":"info","ts":{self.clock}.86084,"logger":"http.log.access","msg":"handled request","request":{{"remote_ip":"{address}","remote_port":"50786","client_ip":"{address}","proto":"HTTP/2.0","method":"{method}","host":"cdn.example.com","uri":"/packs/{name}","headers":{{"User-Agent":["{agent}"],"Status":["500"],"Uri":["/evil.pack"]}}}},"bytes_read":0,"user_id":"","duration":0.000571055,"size":{size},"status":{status},"resp_headers":{{"Server":["Caddy"]}}}}\n',
            size)

    def s3(self, address, agent, name, status, size, method, full):
        return (
            f'79a59df900b949e55d96a1e698fbacedfd6e09d98eacf8f8d5218e7cd47ef2be games [{self.bracket}] {address} - 3E57427F3EXAMPLE REST.{method}.OBJECT packs/{name} "{method} /packs/{name} HTTP/1.1" {status} - {size or "-"} {full} 7 5 "-" "{agent}" - s9lzHYrFp76ZVxRcpX9+5cjAnEH2ROuNkd2BHfIa6UkFVdtjf5mKR3/eTPFvsiP/XV/VLi31234= - TLS_AES_128_GCM_SHA256 - games.s3.eu-central-1.amazonaws.com TLSV1.3 - -\n',
            size)


FORMATS = ("combined", "cloudfront", "cloudflare", "fastly", "caddy", "s3")


def write(path, field, form, limit_lines, limit_bytes):
    writer = Writer(form)
    opened = gzip.open if path.suffix == ".gz" else open
    written = 0
    with opened(path, "wt") as log:
        if form == "cloudfront":
            written += log.write(f"#Version: 1.0\n#Fields: {FIELDS}\n")
        for number, (address, agent, name, status, size, method) in enumerate(field.requests()):
            # The length that the response should have had.
            full = field.sized.get(name, size) if status == 200 and method == "GET" and name != "manifest.json" else size
            line, logged = writer.line(field.clock, address, agent, name, status, size, method, full)
            field.note(name, status, logged, method)
            written += log.write(line)
            field.is_ending = written >= limit_bytes if limit_bytes else number + 1 >= limit_lines
    return written


def compare(form, field, records):
    """Compares the records that the command printed with what the devices did."""
    by_type = collections.defaultdict(list)
    for record in records:
        by_type[record["type"]].append(record)
    files = by_type["file"]
    found = {file["name"]: {key: value for key, value in file["counts"].items() if value} for file in files}
    wanted = {name: {key: value for key, value in counts.items() if value} for name, counts in field.counts.items()}
    for name in found.keys() | wanted.keys():
        expect(found.get(name, {}) == wanted.get(name, {}), f"{form}: {name}: the counts are {found.get(name)} instead of {wanted.get(name)}")
    overview = by_type["observation"][0]
    for key in ("allRequests", "otherFiles", "otherMethods"):
        expect(overview[key] == field.all[key], f"{form}: {key} is {overview[key]} instead of {field.all[key]}")
    devices = field.number
    # Five times the error of two in three estimates.
    expect(abs(overview["deviceEstimate"] - devices) <= 0.08 * devices, f"{form}: about {overview['deviceEstimate']} devices instead of {devices}")
    errors = {(record["status"], record["name"]): [record["count"], record["first"], record["last"]] for record in by_type["error"]}
    wanted = {key: [count, *(stamp(clock, "%Y-%m-%dT%H:%M:%SZ") for clock in times)] for key, (count, *times) in field.errors.items()}
    expect(errors == wanted, f"{form}: errors are {errors} instead of {wanted}")
    kinds = {file["name"]: file["kind"] for file in files}
    expect(kinds.get(field.core) == "pack" and all(kinds.get(name) == "delta" for name in field.deltas), f"{form}: kinds are {kinds}")
    expect(by_type["log"][0]["damaged"] == 0, f"{form}: {by_type['log'][0]}")


def observe(place, path, data=None):
    """Returns the status, the output, and what it took in seconds and bytes. GNU time measures it, because a process counts what its parent had."""
    start = time.monotonic()
    done = subprocess.run(
        ["/usr/bin/time", "-q", "-f", "%M", "-o", place / "peak", PACKER, "observe", path, "--json", "-q"], cwd=place, stdin=data,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seconds, memory = time.monotonic() - start, int((place / "peak").read_text().split()[-1]) * 1024
    expect(memory < MEMORY, f"{path}: {memory} bytes of memory")
    return done.returncode, done.stdout, seconds, memory


def refuse(place, draw):
    """Gives what is no log, and names without number: they are refused or counted, and take no more memory than a log."""
    made = "".join(f'10.0.0.{number % 250} - - [30/Nov/2026:01:02:03 +0000] "GET /a-{number:016x}.pack HTTP/1.1" 404 {number} "-" "x{number}"\n' for number in range(100_000))
    zeros = bytes(64 << 20)
    for what, data, wanted in (
            ("zeros", zeros, 65), ("noise", draw.randbytes(8 << 20), 65), ("zeros in gzip", gzip.compress(zeros, 1), 65),
            ("names", made.encode(), 0), ("opening braces", b"{" * (8 << 20) + b"\n" + b'{"a":' * (1 << 20), 65), ("nothing", b"", 0)):
        path = place / "hostile.log"
        path.write_bytes(data)
        with open(path, "rb") as log:
            ended, output, _, memory = observe(place, "-", log)
        expect(ended == wanted, f"{what}: status {ended} instead of {wanted}: {output[-600:]}")
        expect(all(0x20 <= byte < 0x7F or byte == 0x0A for byte in output), f"{what}: the output has bytes that are no text")
        if what == "names":
            records = [json.loads(line) for line in output.splitlines()]
            files = [record for record in records if record["type"] == "file" and record["kind"] == "unknown"]
            expect(len(files) == 10_001 and sum(file["counts"]["failed"] for file in files) == 100_000, f"{what}: {len(files)} files")
        print(f"{what}: {len(data) / 1e6:.1f} MB: status {ended}, {memory / 1e6:.1f} MB of memory")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=0)
    parser.add_argument("--format", action="append", choices=FORMATS)
    options = parser.parse_args()
    draw = random.Random(SEED)
    print(f"PACKER_TEST_SEED={SEED}")
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder)
        releases = project(place, draw)
        manifest = [json.loads(line) for line in run(place, "inspect", "dist", "--json").splitlines()]
        packs = [record for record in manifest if record["type"] == "pack"]
        refuse(place, draw)
        for form in options.format or FORMATS:
            for ending in ("", ".gz") if not options.size or form == "combined" else ("",):
                field = Field(releases, packs, draw)
                path = place / f"{form}.log{ending}"
                written = write(path, field, form, 5_000, options.size)
                status, output, seconds, memory = observe(place, path)
                expect(status == 0, f"{path.name}: status {status}: {output[-600:]}")
                compare(path.name, field, [json.loads(line) for line in output.splitlines()])
                print(f"{path.name}: {written / 1e6:.1f} MB, {field.all['allRequests']} requests, {field.number} devices: {seconds:.2f} s, {memory / 1e6:.1f} MB of memory")
                expect(not SECONDS or not options.size or seconds <= max(1, SECONDS * written / 1e9), f"{path.name}: {seconds:.2f} s")
                path.unlink()
    print("the counts are those of the devices" if not failures else f"{len(failures)} are wrong")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
