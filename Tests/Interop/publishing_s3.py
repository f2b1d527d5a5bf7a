#!/usr/bin/env python3
"""`packer publish` to an S3 service (moto) with a fault at every request in turn, to an SFTP server whose connections are cut, to a folder that nginx
serves, and by two publishers at once.

While a release is published over an earlier one, a client reads the manifest and every file that it names, again and again: it must always find a whole
release, the earlier one or the new one. The publication ends with 0, because rclone tried again, or with an error that has rclone's reason and a hint;
then the next run completes it. Of two publishers that race, one may report a conflict. The release of one that ended with 0 is the published one, or was
replaced by a newer version.

The command is named by the variable PACKER, the seed by PACKER_TEST_SEED. The quick form injects one kind of fault at each request, `--long` all kinds at each, and
lets publishers race for 100 rounds. `--only WORD` chooses parts: s3, sftp, nginx, race, held, silent. `--many N` measures only: N packs, requests and time
against `rclone copy` of the same folder. Prints what it counted.
"""

import argparse
import collections
import contextlib
import functools
import hashlib
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from project import PACKER, SEED, inherited
from servers import nginx
from storage import FAULTS, HTTPProxy, TCPProxy, moto, one_request, sftp

GAMES = 3
CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
manifestCeiling: 1 MiB
key: file:key
signKey: file:sign.key
packs:
  - {id: "game-${name}", each: "games/*", delivery: onDemand}
"""
# The statuses of a place that does not answer, or cannot be read or written, and of a conflict.
BROKEN, CONFLICT = {21, 73, 74}, 65
# What rclone says of each kind of fault.
CONNECTION = r"EOF|reset by peer|refused|broken pipe|connection lost|closed|timed? ?out|couldn't connect|failed to dial|handshake failed"
# A connection that is cut inside an answer: the library for SSH has many words for it.
SSH = CONNECTION + "|ssh: |sftp: "
REASONS = {"500": r"InternalError|status code: 500|500 Internal"}
# The attempts that rclone makes by itself; and only one of each.
PATIENT, IMPATIENT = {}, {"RCLONE_RETRIES": "1", "RCLONE_LOW_LEVEL_RETRIES": "1"}

# Where packer puts its temporary files.
temporary = pathlib.Path("/tmp")
failures = []
counts = collections.Counter()
lock = threading.Lock()


def expect(condition, text):
    with lock:
        if not condition and text not in failures:
            failures.append(text)
            print(f"wrong: {text}", file=sys.stderr, flush=True)
    return condition


def count(name, number=1):
    with lock:
        counts[name] += number


# MARK: The command


class Run:
    """A run of packer that goes on."""

    def __init__(self, place, *arguments, environment=None):
        self.words = " ".join(map(str, arguments))
        self.process = subprocess.Popen(
            [PACKER, *map(str, arguments)], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
            # No configuration and no secrets of the person whose machine this is.
            env={**inherited(), "HOME": str(place), "TMPDIR": str(temporary), "RCLONE_CONFIG": "/dev/null", **(environment or {})})

    def end(self, status=None):
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            self.kill()
            self.stdout, self.stderr = self.process.communicate()
        self.status = self.process.returncode
        if status is not None:
            expect(self.status == status, f"packer {self.words}: {self.status}: {self.stdout[-600:]}{self.stderr[-600:]}")
        return self

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)


def run(place, *arguments, environment=None, status=0):
    return Run(place, *arguments, environment=environment).end(status)


def publish(place, remote, environment=None, status=0):
    return run(place, "publish", "--to", remote, "--quick", environment=environment, status=status)


# MARK: Releases


def make(place, games=GAMES, size=20_000):
    """A project, built."""
    for game in range(games):
        folder = place / f"games/{game:04}"
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(f"<!doctype html><title>{game}</title>")
        if size:
            (folder / "data.bin").write_bytes(os.urandom(size))
    (place / "packer.yml").write_text(CONFIGURATION)
    run(place, "key", "new", "-o", "key")
    run(place, "key", "new", "--signing", "-o", "sign.key")
    run(place, "build", "--quiet")


def change(place):
    """Changes the first two games, and builds."""
    for game in range(2):
        (place / f"games/{game:04}/data.bin").write_bytes(os.urandom(20_000))
    run(place, "build", "--quiet")


class Release:
    """What a client reads in a manifest and its catalogue. `read` returns the bytes of a name."""

    def __init__(self, data, read):
        self.data = data
        try:
            shards = {f"catalogue-{one['sha256'][:16]}.shard": one["sha256"] for one in json.loads(data)["signed"].get("catalogue", ())}
        except (ValueError, KeyError):
            shards = {}
        with tempfile.TemporaryDirectory(prefix="packer-manifest.") as folder:
            place = pathlib.Path(folder)
            (place / "manifest.json").write_bytes(data)
            for name in shards:
                (place / name).write_bytes(read(name) or b"")
            listing = subprocess.run([PACKER, "inspect", "--json", place / "manifest.json"], capture_output=True, text=True)
        records = [json.loads(line) for line in listing.stdout.splitlines()]
        self.version = next((one["version"] for one in records if one.get("type") == "manifest"), None)
        self.said = listing.stdout[:300] + listing.stderr[:300]
        packs = {one["url"].rsplit("/", 1)[1]: one["sha256"] for one in records if one.get("type") == "pack"}
        self.files = {**packs, **shards} if packs else {}


releases = {}


def whole(read, title):
    """The release that a client finds and whose files are all there with the right bytes; None without a manifest. `read` returns the bytes of a name."""
    count("looks")
    data = read("manifest.json")
    if data is None:
        return None
    release = releases.get(data) or Release(data, read)
    if release.files:
        releases[data] = release
    if not expect(release.files, f"{title}: a manifest of {len(data)} bytes cannot be read: {release.said}"):
        return None
    for name, digest in release.files.items():
        found = read(name)
        expect(
            found is not None and hashlib.sha256(found).hexdigest() == digest,
            f"{title}: manifest {release.version} names {name}, which is {'missing' if found is None else f'not whole: {len(found)} bytes'}")
    return release


def reading(port, folder):
    """Reads from an HTTP server, as a device does."""

    def read(name):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            with one_request if name == "manifest.json" else contextlib.nullcontext():
                link.request("GET", f"{folder}/{name}")
                answer = link.getresponse()
                data = answer.read()
            expect(answer.status in (200, 404), f"{name}: the server answers {answer.status}: {data[:200]!r}")
            return data if answer.status == 200 else None
        finally:
            link.close()

    return read


def reading_folder(folder):
    def read(name):
        with contextlib.suppress(FileNotFoundError):
            return (folder / name).read_bytes()

    return read


@contextlib.contextmanager
def watching(read, title, pause=0.08, isAlways=True):
    """Looks at the place until the end, with pauses in seconds, because looking takes time of the processor, too. The versions that are found may not go
    back, and there is always one, unless the place is known for moments without."""
    end, versions = threading.Event(), []

    def look():
        while not end.wait(pause):
            if not isAlways:
                data = read("manifest.json")
                if not data or data not in releases and Release(data, read).version is None:
                    count(f"{title.partition(',')[0]}: moments without")
                    continue
            release = whole(read, title)
            if release or isAlways:
                versions.append(release.version if release else 0)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()
    expect(0 not in versions and versions == sorted(versions), f"{title}: a client found the versions {list(dict.fromkeys(versions))}")


class Base:
    """A project whose release 1 is published in `www`, and copies of it that built a release 2 (of the same content in no two of them) or 3."""

    def __init__(self, place):
        self.place, self.www, self.number = place, place / "www", 0
        project = place / "base"
        project.mkdir(parents=True)
        make(project)
        publish(project, self.www)
        self.projects = {}
        for name, version in (("one", 2), ("two", 2), ("three", 3)):
            self.projects[name] = shutil.copytree(project, place / name)
            for _ in range(2, version):
                # A release that was recorded, but never published.
                change(place / name)
                run(place / name, "release", "record")
            change(place / name)

    def fresh(self, *names):
        """A new folder's name, and in it copies of the projects."""
        with lock:
            self.number += 1
            folder = self.place / f"run-{self.number}"
        return folder, [shutil.copytree(self.projects[name], folder / name) for name in names]

    def seed_bucket(self, s3, folder):
        """The path of a new place in the bucket, with release 1."""
        path = f"/bucket/{folder.name}/packs"
        for file in self.www.iterdir():
            status, text = s3.request("PUT", f"{path}/{file.name}", file.read_bytes())
            expect(status == 200, f"moto takes no {file.name}: {status} {text}")
        return path


def remotes(port, path):
    """The ways in which a place in an S3 service can be named: remote and variables."""
    options = {"provider": "Other", "endpoint": f"http://127.0.0.1:{port}", "force_path_style": "true"}
    secrets = {"access_key_id": "x", "secret_access_key": "x"}

    def inline(quote):
        words = [f"{name}={quote}{value}{quote}" if ":" in value else f"{name}={value}" for name, value in options.items()]
        return f":s3,{','.join(words)}:{path[1:]}", {f"RCLONE_S3_{name.upper()}": value for name, value in secrets.items()}

    variables = {f"RCLONE_CONFIG_GAMES_{name.upper()}": value for name, value in {"type": "s3", **options, **secrets}.items()}
    return inline('"'), inline("'"), (f"games:{path[1:]}", variables)


def recovered(kind, title, done, project, remote, environment, read, reason, isFirst=False):
    """After a run with a fault: what it said, and what is there; then the next run completes the release."""
    release = whole(read, title)
    version = release.version if release else None
    expect(version in (None if isFirst else 1, 2), f"{title}: then there is manifest {version}")
    count(f"{kind}: ended with {'0' if done.status == 0 else 'an error'}")
    if done.status == 0:
        expect(version == 2, f"{title}: it ends with 0, but manifest {version} is there")
        return
    expect(done.status in BROKEN, f"{title}: status {done.status}: {done.stderr[-400:]}")
    expect(
        re.search("error: .*rclone", done.stderr) and re.search(reason, done.stderr, re.IGNORECASE) and "hint: " in done.stderr,
        f"{title}: status {done.status} without rclone's reason or a hint: {done.stderr[-400:]!r}")
    again = publish(project, remote, environment, status=None)
    expect(again.status == 0, f"{title}: the next run ends with {again.status}: {again.stderr[-400:]}")
    release = whole(read, title)
    expect(release and release.version == 2, f"{title}: the next run does not complete the release")


# MARK: S3


def s3_faults(base, s3, isLong, crew, **_):
    def one(number, fault, attempts, form, isFirst=False):
        folder, (project,) = base.fresh("one")
        path = f"/bucket/{folder.name}/packs" if isFirst else base.seed_bucket(s3, folder)
        with HTTPProxy(s3.port, fault, number) as proxy:
            remote, variables = remotes(proxy.port, path)[form % 3]
            title = f"S3, {'first publication, ' if isFirst else ''}{fault or 'no fault'} at request {number}{'' if attempts else ', with retries'}"
            read = reading(s3.port, path)
            with watching(read, title, isAlways=not isFirst):
                done = publish(project, remote, {**variables, **attempts}, status=None)
            title += f" ({proxy.struck})"
            listing = list(proxy.requests)
            if fault:
                expect(proxy.struck, f"{title}: there were only {len(listing)} requests")
                count("faults")
            if fault in (None, "slow"):
                expect(done.status == 0, f"{title}: {done.status}: {done.stderr[-400:]}")
            proxy.fault = None
            recovered("S3", title, done, project, remote, variables, read, REASONS.get(fault, CONNECTION), isFirst)
            if not fault:
                # Each name of the place must be found published.
                for remote, variables in remotes(proxy.port, path):
                    said = publish(project, remote, variables).stderr
                    expect("published already" in said, f"{remote}: {said}")
        shutil.rmtree(folder)
        return listing

    # By whether it is the first publication: its requests, and the number of the one that writes the manifest.
    listings = {isFirst: one(0, None, PATIENT, 0, isFirst) for isFirst in (False, True)}
    writes = {
        isFirst: next((number for number, request in enumerate(listing, 1) if request.startswith("PUT ") and request.endswith("/packs/manifest.json")), 1)
        for isFirst, listing in listings.items()}
    if isLong:
        cases = [
            (number, fault, attempts, number, isFirst) for isFirst, listing in listings.items() for number in range(1, len(listing) + 1) for fault in FAULTS
            for attempts in (PATIENT, IMPATIENT) if attempts or fault != "gone" and not isFirst]
    else:
        # One kind at each request, in another order with another seed. With retries every fourth time, because these wait.
        cases = []
        for number in range(1, len(listings[False]) + 1):
            turn = number + SEED
            fault = FAULTS[turn % len(FAULTS)]
            cases.append((number, fault, PATIENT if turn % 4 == 0 and fault != "gone" else IMPATIENT, number))
        # After these faults, rclone does not know whether the manifest was written.
        cases += [(number, "lost", attempts, 0, isFirst) for isFirst, number in writes.items() for attempts in (PATIENT, IMPATIENT)]
    for done in [crew.submit(one, *case) for case in cases]:
        done.result()
    print(
        f"S3: {len(listings[False])} requests of one publication, {len(listings[True])} of the first; {counts['faults']} faults: {counts['S3: ended with 0']} "
        f"publications ended with 0, {counts['S3: ended with an error']} with an error, which the next run completed", flush=True)
    if isLong:
        print("requests: " + "; ".join(re.sub(r"/bucket/run-\d+", "", request) for request in listings[False]))


# MARK: SFTP


def sftp_cuts(base, isLong, crew, **_):
    def one(cut, after, attempts):
        folder, (project,) = base.fresh("one")
        www = shutil.copytree(base.www, folder / "www")
        with sftp(www) as (port, variables), TCPProxy(port, cut, after) as proxy:
            remote = f":sftp,host=127.0.0.1,port={proxy.port},shell_type=none:"
            title = f"SFTP, connection {cut} cut after {after} bytes{'' if attempts else ', with retries'}"
            read = reading_folder(www)
            with watching(read, title, isAlways=not is_written_in_place()):
                done = publish(project, remote, {**variables, **attempts}, status=None)
            count("cuts", proxy.struck)
            proxy.cut = None
            recovered("SFTP", title, done, project, remote, variables, read, SSH)
            if not proxy.struck:
                expect(done.status == 0, f"{title}: {done.status}: {done.stderr[-400:]}")
            sizes = list(proxy.sizes)
        shutil.rmtree(folder)
        return sizes

    sizes = one(0, 0, PATIENT)
    cases = []
    for number, size in enumerate(sizes, 1):
        points = [0, size // 4, size // 2, size * 3 // 4, size - 200, size - 60]
        for turn, point in enumerate(points):
            if isLong or (turn + number + SEED) % len(points) == 0:
                cases += [(number, point, attempts) for attempts in ((PATIENT, IMPATIENT) if isLong else (IMPATIENT,))]
    for done in [crew.submit(one, *case) for case in cases]:
        done.result()
    print(
        f"SFTP: {len(sizes)} connections of one publication; {counts['cuts']} cuts: {counts['SFTP: ended with 0']} publications ended with 0, "
        f"{counts['SFTP: ended with an error']} with an error, which the next run completed; {counts['SFTP: moments without']} looks without a whole manifest", flush=True)


@functools.cache
def is_written_in_place():
    """rclone before 1.63 writes a file of an SFTP server in place, so that for a moment its half may be read."""
    said = subprocess.run(["rclone", "version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.search(r"v(\d+)\.(\d+)", said).groups())) < (1, 63)


# MARK: A folder behind nginx


def behind_nginx(base, isLong, **_):
    dice = random.Random(SEED)
    folder, (project,) = base.fresh("one")
    www = shutil.copytree(base.www, folder / "www")
    with nginx(www, folder / "nginx") as address:
        read = reading(int(address.rstrip("/").rsplit(":", 1)[1]), "")
        seconds = 0.5
        with watching(read, "a folder behind nginx", 0.002):
            for number in range(40 if isLong else 4):
                if number:
                    change(project)
                if number % 2:
                    # Stopped at any moment, the next run goes on.
                    process = Run(project, "publish", "--to", www, "--quick")
                    time.sleep(dice.uniform(0.2, 1) * seconds)
                    process.kill()
                    process.end()
                    count("kills", process.status == -signal.SIGKILL)
                start = time.monotonic()
                publish(project, www)
                seconds = time.monotonic() - start
                count("releases behind nginx")
        release = whole(read, "a folder behind nginx")
        expect(release and release.data == (project / "dist/manifest.json").read_bytes(), "nginx does not serve the last release")
        left = sorted(file.name for file in www.iterdir() if file.name.startswith("."))
        expect(not left, f"a folder behind nginx: temporary files are left: {left}")
    shutil.rmtree(folder)
    print(f"nginx: {counts['releases behind nginx']} releases, {counts['kills']} publishers killed", flush=True)


# MARK: Two publishers


def judge(title, read, publishers):
    """After two publishers: a whole release is there, and none was lost without a word."""
    release = whole(read, title)
    if not expect(release, f"{title}: there is no release"):
        return
    for project, done in publishers:
        ours = Release((project / "dist/manifest.json").read_bytes(), reading_folder(project / "dist"))
        isThere = release.data == ours.data
        if done.status == 0:
            count("published")
            isLost = not isThere and release.version <= ours.version
            count("lost", isLost)
            expect(not isLost, f"{title}: manifest {ours.version} of {project.name} was published with status 0, and is replaced by another manifest {release.version}")
        else:
            count("conflicts")
            expect(
                done.status == CONFLICT and re.search("another (publisher|manifest)|newer", done.stderr),
                f"{title}: {project.name} ends with {done.status}: {done.stderr[-400:]}")
            expect(not isThere, f"{title}: {project.name} is told of a conflict, but its manifest is there: {done.stderr[-400:]}")
    if all(done.status for _, done in publishers):
        count("rounds without a winner")


def forget():
    """Counts from the start what publishers were told."""
    for name in ("published", "conflicts", "lost", "rounds without a winner"):
        counts[name] = 0


def races(base, s3, rounds, **_):
    for kind in ("folder", "S3"):
        forget()
        for number in range(rounds):
            names = ("one", "three") if number % 3 == 2 else ("one", "two")
            folder, projects = base.fresh(*names)
            title = f"race {number + 1}, {kind}"
            if kind == "folder":
                www = shutil.copytree(base.www, folder / "www")
                read, places = reading_folder(www), [(www, {})] * 2
                proxies = contextlib.nullcontext()
            else:
                path = base.seed_bucket(s3, folder)
                proxies = HTTPProxy(s3.port)
                read, places = reading(s3.port, path), [remotes(proxies.port, path)[index] for index in (0, 2)]
            with proxies, watching(read, title):
                # In each order, at once or a little apart.
                runs = []
                for index in (0, 1) if number % 2 else (1, 0):
                    place, variables = places[index]
                    runs.append((projects[index], Run(projects[index], "publish", "--to", place, "--quick", environment=variables)))
                    time.sleep(random.Random(f"{SEED} {title}").choice([0, 0, 0.02, 0.1]))
                for _, process in runs:
                    process.end()
            judge(title, read, runs)
            shutil.rmtree(folder)
        print(
            f"{kind}: two publishers raced {rounds} times: {counts['published']} published, {counts['conflicts']} were told of a conflict, {counts['lost']} lost "
            f"without a word; {counts['rounds without a winner']} rounds without a winner", flush=True)


def held(base, s3, **_):
    """The upload of one publisher's manifest reaches the service only after another publisher has ended."""
    forget()
    for mine, other, isFirst in (("one", "two", False), ("one", "three", False), ("three", "one", False), ("one", "three", True)):
        folder, projects = base.fresh(mine, other)
        path = f"/bucket/{folder.name}/packs" if isFirst else base.seed_bucket(s3, folder)
        arrived, leave = threading.Event(), threading.Event()

        def before(method, target):
            if method == "PUT" and target.partition("?")[0].endswith("/manifest.json"):
                arrived.set()
                leave.wait(60)

        title = f"{'the first, ' if isFirst else ''}an upload of manifest {3 if mine == 'three' else 2}, held until manifest {3 if other == 'three' else 2} is published"
        read = reading(s3.port, path)
        with HTTPProxy(s3.port, before=before) as proxy, HTTPProxy(s3.port) as direct, watching(read, title, isAlways=not isFirst):
            remote, variables = remotes(proxy.port, path)[0]
            first = Run(projects[0], "publish", "--to", remote, "--quick", environment=variables)
            expect(arrived.wait(60), f"{title}: it does not arrive")
            remote, variables = remotes(direct.port, path)[0]
            second = publish(projects[1], remote, variables, status=None)
            leave.set()
            first.end()
        judge(title, read, [(projects[0], first), (projects[1], second)])
        shutil.rmtree(folder)
    print(f"S3, an upload of a manifest that is held: {counts['published']} published, {counts['conflicts']} were told of a conflict, {counts['lost']} lost without a word", flush=True)


def silent(base, **_):
    """A service that does not answer is noticed at the first request, in seconds."""
    folder, (project,) = base.fresh("one")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        for remote, variables in remotes(unused.getsockname()[1], "/bucket/packs"):
            start = time.monotonic()
            done = publish(project, remote, variables, status=21)
            took = time.monotonic() - start
            expect("connection refused" in done.stderr and "hint: check the network" in done.stderr, f"a silent service: {done.stderr[-600:]}")
            # rclone alone tries for a minute and a half.
            expect(took < 75, f"a silent service is noticed after {took:.0f} s")
    shutil.rmtree(folder)
    print("S3: a service that does not answer is noticed", flush=True)


# MARK: Many packs


def many(place, s3, number):
    project = place / "many"
    project.mkdir()
    make(project, number, 0)
    clean = {**inherited(), "HOME": str(place), "RCLONE_CONFIG": "/dev/null"}
    times = collections.defaultdict(list)
    for turn in range(3):
        for name in ("publish", "copy") if turn % 2 else ("copy", "publish"):
            # A recorded release would be another release than the first.
            (project / "packer.lock.json").unlink(missing_ok=True)
            shutil.rmtree(project / "released", ignore_errors=True)
            s3.bucket(f"{name}{turn}")
            remote, variables = remotes(s3.port, f"/{name}{turn}/packs")[0]
            before, start = s3.requests(), time.monotonic()
            if name == "publish":
                publish(project, remote, variables)
            else:
                subprocess.run(["rclone", "copy", project / "dist", remote], env={**clean, **variables}, check=True, stderr=subprocess.DEVNULL)
            times[name].append(time.monotonic() - start)
            counts[f"requests of {name}"] = s3.requests() - before
            print(f"{name}: {times[name][-1]:.1f} s, {counts[f'requests of {name}']} requests", file=sys.stderr, flush=True)
    ours, theirs = (statistics.median(times[name]) for name in ("publish", "copy"))
    print(
        f"{number} packs: packer publish {ours:.1f} s and {counts['requests of publish']} requests, rclone copy {theirs:.1f} s and "
        f"{counts['requests of copy']} requests; ratio {ours / theirs:.2f} (medians of 3)")
    expect(ours / theirs <= 1.2, f"packer publish takes {ours / theirs:.2f} times as long as rclone copy")


PARTS = {"s3": s3_faults, "sftp": sftp_cuts, "nginx": behind_nginx, "race": races, "held": held, "silent": silent}


def main():
    global temporary
    parser = argparse.ArgumentParser()
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--only", action="append", default=[], choices=PARTS)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--many", type=int)
    options = parser.parse_args()
    if not shutil.which("rclone"):
        sys.exit("rclone is missing: apt-get install rclone")
    print(f"PACKER_TEST_SEED={SEED}", flush=True)
    parts = options.only or PARTS
    rounds = options.rounds or (100 if options.long else 3)
    with tempfile.TemporaryDirectory(prefix="packer-publishing.") as name:
        place = pathlib.Path(name)
        temporary = place / "tmp"
        temporary.mkdir()
        with moto(place) as s3, ThreadPoolExecutor(max_workers=max(2, os.cpu_count() or 2)) as crew:
            if options.many:
                many(place, s3, options.many)
                parts = []
            else:
                s3.bucket("bucket")
                base = Base(place / "projects")

            def in_turn(row):
                for part in row:
                    if part in parts:
                        start = time.monotonic()
                        PARTS[part](base=base, s3=s3, crew=crew, isLong=options.long, rounds=rounds)
                        print(f"{part}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)

            # Two rows beside each other: publishers and rclone wait half of the time.
            with ThreadPoolExecutor(max_workers=2) as rows:
                for done in [rows.submit(in_turn, row) for row in (("s3", "sftp"), ("nginx", "race", "held", "silent"))]:
                    done.result()
        left = sorted(file.name for file in temporary.iterdir())
        expect(not left, f"temporary files are left: {left}")
    if not options.many:
        print(f"clients looked {counts['looks']} times")
    if failures:
        sys.exit(f"error: {len(failures)} faults (PACKER_TEST_SEED={SEED})")


if __name__ == "__main__":
    main()
