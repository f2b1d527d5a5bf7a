#!/usr/bin/env python3
"""`packer publish` through rclone: to its SFTP server, to a folder through its local backend, and to a folder without it. While each release is
published, clients read the place again and again: they must always find a release whose files are all there, the earlier one or the new one. Then rclone
fails at each of its runs in turn, which leaves such a release too, and the next run completes it.

The command is named by the variable PACKER. Prints how often clients looked.
"""

import base64
import contextlib
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = pathlib.Path(os.environ.get("PACKER", ROOT / ".build/debug/packer")).resolve()
RCLONE = shutil.which("rclone")
PACKS = 12
CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:key
signKey: file:sign.key
packs:
  - {id: "game-${name}", each: "games/*", delivery: onDemand}
"""

failures = []
looks = 0


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def run(place, *arguments, environment=None, status=0):
    done = subprocess.run([PACKER, *map(str, arguments)], cwd=place, capture_output=True, text=True, env={**os.environ, **(environment or {})})
    expect(done.returncode == status if status is not None else True, f"packer {' '.join(map(str, arguments))}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-600:]}")
    return done



def whole(folder):
    """The version of the release in a folder, all of whose files are there with the right bytes; None without a manifest."""
    global looks
    looks += 1
    try:
        data = (folder / "manifest.json").read_bytes()
    except FileNotFoundError:
        return None
    listing = subprocess.run([PACKER, "inspect", "--json", folder / "manifest.json"], capture_output=True, text=True)
    records = [json.loads(line) for line in listing.stdout.splitlines()]
    packs = [one for one in records if one.get("type") == "pack"]
    expect(packs, f"the manifest cannot be read: {listing.stdout[:300]}{listing.stderr[:300]} ({len(data)} bytes)")
    for pack in packs:
        file = folder / pack["url"].rsplit("/", 1)[1]
        found = file.read_bytes() if file.exists() else b""
        expect(hashlib.sha256(found).hexdigest() == pack["sha256"], f"{file.name}, which the manifest names, is not there or not whole: {len(found)} bytes")
    return next((one["version"] for one in records if one.get("type") == "manifest"), None)


@contextlib.contextmanager
def watching(folder):
    """Looks at the folder until the end."""
    stop = threading.Event()
    versions = []

    def look():
        while not stop.is_set():
            versions.append(whole(folder))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield versions
    finally:
        stop.set()
        thread.join()


@contextlib.contextmanager
def sftp(folder):
    """rclone's own SFTP server on a folder; gives the remote."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([RCLONE, "serve", "sftp", folder, "--addr", f"127.0.0.1:{port}", "--user", "u", "--pass", "p"], stderr=subprocess.DEVNULL)
    try:
        for _ in range(1200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        hidden = subprocess.run([RCLONE, "obscure", "p"], capture_output=True, text=True, check=True).stdout.strip()
        os.environ["RCLONE_SFTP_PASS"] = hidden
        yield f":sftp,host=127.0.0.1,port={port},user=u,shell_type=none:"
    finally:
        os.environ.pop("RCLONE_SFTP_PASS", None)
        process.terminate()
        process.wait(60)


def change(place, number):
    """Changes two games."""
    for game in (number % PACKS, (number + 5) % PACKS):
        (place / f"games/{game}/data.bin").write_bytes(os.urandom(40_000))


def failing(place, number):
    """A folder with an rclone whose run of that number fails before it does anything; and its count of runs."""
    folder = place / "failing"
    folder.mkdir(exist_ok=True)
    count = folder / "count"
    count.write_text("")
    script = folder / "rclone"
    script.write_text(f"#!/bin/sh\nprintf x >>'{count}'\nif [ \"$(wc -c <'{count}')\" -eq {number} ]; then exit 7; fi\nexec '{RCLONE}' \"$@\"\n")
    script.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}, count


def renaming(place, command, verb="moveto"):
    """A folder with an rclone that runs a command before it renames, or does what else the verb says."""
    script = place / "renaming/rclone"
    script.parent.mkdir(exist_ok=True)
    script.write_text(f"#!/bin/sh\ncase \" $* \" in *' {verb} '*) {command} ;; esac\nexec '{RCLONE}' \"$@\"\n")
    script.chmod(0o755)
    return {"PATH": f"{script.parent}:{os.environ['PATH']}"}


def check_renaming(place, folder):
    """One that is stopped before it renames leaves nothing that others wait for, one that takes too long renames nothing any more; and what was killed goes."""
    publish = ["publish", "--to", f":local:{folder}", "--quick"]
    change(place, 4)
    run(place, "build", "--quiet")
    before = (folder / "manifest.json").read_bytes()
    for number, status, verb, sight in ((signal.SIGTERM, 143, "copy", "devices see no change"), (signal.SIGINT, 130, "moveto", "or no change"), (signal.SIGTERM, 143, "moveto", "or no change")):
        environment = {**os.environ, **renaming(place, f"touch '{place}/moves'; exec sleep 60", verb)}
        # A shell has processes in the background ignore SIGINT, and packer goes on doing so.
        process = subprocess.Popen(
            [PACKER, *publish], cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        while process.poll() is None and not (place / "moves").exists():
            time.sleep(0.01)
        process.send_signal(number)
        said = process.communicate()[1]
        left = [file.name for file in folder.glob("manifest-new-*")]
        expect(process.returncode == status and not left, f"a publisher that is stopped at {number}: {process.returncode}, {left}: {said[-300:]}")
        expect(sight in said, f"a publisher that is stopped at '{verb}' says {said[-300:]}")
        (place / "moves").unlink()
    said = run(place, *publish, environment=renaming(place, f"rm '{folder}'/manifest-new-*"), status=65).stderr
    expect("another publisher at work" in said and "devices" not in said, f"a publisher that took too long: {said[-300:]}")
    expect((folder / "manifest.json").read_bytes() == before, "a publisher that was stopped, or took too long, changed the manifest")


def publish_all(place, remote, folder, isWatched=True):
    """Publishes three releases."""
    for number in range(3):
        change(place, number)
        run(place, "build", "--quiet")
        # The SFTP server of rclone cannot rename over a file, so there is no manifest for a moment.
        with watching(folder) if isWatched else contextlib.nullcontext([]) as versions:
            run(place, "publish", "--to", remote, "--quick")
        expect(versions == sorted(versions, key=lambda version: version or 0), f"{remote}: versions go back: {versions}")
        before = {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}
        said = run(place, "publish", "--to", remote, "--quick", "--json").stdout
        record = next(json.loads(line) for line in said.splitlines() if '"publication"' in line)
        expect(record["isPublished"] and record["files"] == 0, f"{remote}: published again: {record}")
        expect({file.name: file.stat().st_mtime_ns for file in folder.iterdir()} == before, f"{remote}: files change though nothing is new")
    expect(whole(folder) == 3, f"{remote}: the last release is not there")


# What a person may have set for the rclone of every day: it must not choose among the files of a release, or change what packer reads.
SETTINGS = {
    "PROGRESS": "true", "ERROR_ON_NO_TRANSFER": "true", "MIN_SIZE": "1G", "MAX_AGE": "1s", "EXCLUDE": "*.pack", "INCLUDE": "*.txt", "IMMUTABLE": "true", "HUMAN_READABLE": "true",
    "USE_JSON_LOG": "true", "RECURSIVE": "true", "FORMAT": "pst", "HEAD": "3", "IGNORE_EXISTING": "true", "MAX_TRANSFER": "1", "DIRS_ONLY": "true", "STATS": "1ms", "SYSLOG": "true"}


def check_settings(place, remote, folder):
    for name, value in SETTINGS.items():
        environment = {f"RCLONE_{name}": value}
        change(place, 3)
        run(place, "build", "--quiet")
        run(place, "publish", "--to", remote, "--quick", "--quiet", environment=environment)
        run(place, "prune", "--to", remote, environment=environment)
    expect(whole(folder) == 4 + len(SETTINGS), f"with settings for rclone, the place has manifest {whole(folder)}")
    done = run(place, "publish", "--to", remote, "--quick", environment={"RCLONE_DRY_RUN": "true", "PATH": str(place)}, status=74)
    expect("apt-get install rclone" in done.stderr, f"without rclone: {done.stderr}")


def check_scratch(place):
    """What a killed rollback leaves, which is the contents of packs, goes with the next run; a program gets no path that another user could make first."""
    temporary = place / "tmp"
    temporary.mkdir(mode=0o1777)
    environment = {"TMPDIR": str(temporary)}
    process = subprocess.Popen([PACKER, "release", "rollback", "1", "--to", "www"], cwd=place, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def contents():
        return [name for _, _, names in os.walk(temporary) for name in names if name == "index.html"]

    while process.poll() is None and not contents():
        pass
    process.kill()
    said = process.communicate()[1]
    expect(contents(), f"the rollback was killed before it had any contents, or after it: {process.returncode}: {said}")
    run(place, "prune", "--to", "www", environment=environment)
    expect(not list(temporary.iterdir()), f"what a killed rollback left stays: {[path.name for path in temporary.iterdir()]}")
    program = place / "program"
    program.write_text(f"#!/bin/sh\np='{place}/other'\ncase $1 in list) cd $p; stat -c '%s %n' * | tr ' ' '\\t' ;; get) stat -c %a \"$(dirname \"$3\")\" >>'{place}/modes'; [ ! -e $p/$2 ] || cp $p/$2 \"$3\" ;;"
                       f" add) cp \"$2\" $p/$3 ;; manifest) cp \"$2\" $p/manifest.json ;; esac\n")
    program.chmod(0o755)
    shutil.copytree(place / "www", place / "other")
    run(place, "build", "--renew", "--quiet")
    run(place, "publish", "--to", f"cmd:{program}", "--quick", "--quiet", environment=environment)
    modes = set((place / "modes").read_text().split())
    expect(modes == {"700"}, f"a program is to write into folders with the modes {modes}")


def main():
    if not RCLONE:
        sys.exit("rclone is missing: apt-get install rclone")
    with tempfile.TemporaryDirectory(prefix="packer-publishing.") as name:
        for kind in ("folder", "local", "sftp"):
            place = pathlib.Path(name) / kind
            for game in range(PACKS):
                (place / f"games/{game}").mkdir(parents=True)
                (place / f"games/{game}/index.html").write_text(f"<!doctype html><title>{game}</title>")
            (place / "packer.yml").write_text(CONFIGURATION)
            run(place, "key", "new", "-o", "key")
            run(place, "key", "new", "--signing", "-o", "sign.key")
            folder = place / "www"
            folder.mkdir()
            if kind == "sftp":
                with sftp(folder) as remote:
                    publish_all(place, remote, folder, isWatched=False)
                continue
            publish_all(place, folder if kind == "folder" else f":local:{folder}", folder)
            if kind == "folder":
                check_scratch(place)
            if kind == "local":
                # A publisher that is at work has written its manifest under another name; one that was killed long ago is in nobody's way.
                change(place, 8)
                run(place, "build", "--quiet")
                (folder / f"manifest-new-{int(time.time())}-x.json").write_text("{}")
                said = run(place, "publish", "--to", f":local:{folder}", "--quick", status=65).stderr
                expect("another publisher is at work" in said and "as it was before" in said, f"two publishers: {said[-300:]}")
                expect(whole(folder) == 3, "two publishers: the manifest changed")
                for file in folder.glob("manifest-new-*"):
                    file.rename(folder / f"manifest-new-{int(time.time()) - 61}-x.json")
                # rclone fails at each run in turn.
                remote, runs = f":local:{folder}", 0
                change(place, 9)
                run(place, "build", "--quiet")
                shutil.copytree(folder, place / "before")
                shutil.copytree(place / "packer.lock.json", place / "lock") if (place / "packer.lock.json").is_dir() else shutil.copy(place / "packer.lock.json", place / "lock")
                while True:
                    runs += 1
                    shutil.rmtree(folder)
                    shutil.copytree(place / "before", folder)
                    environment, count = failing(place, runs)
                    done = run(place, "publish", "--to", remote, "--quick", environment=environment, status=None)
                    version = whole(folder)
                    if len(count.read_text()) < runs:
                        expect(done.returncode == 0 and version == 4, f"without a fault: {done.returncode}, manifest {version}: {done.stderr[-300:]}")
                        break
                    expect(done.returncode == 74 and version in (3, 4), f"rclone fails at run {runs}: status {done.returncode}, manifest {version}: {done.stderr[-300:]}")
                    expect("rclone" in done.stderr and "hint: " in done.stderr and "apt-get" not in done.stderr, f"rclone fails at run {runs}: {done.stderr[-300:]}")
                    run(place, "publish", "--to", remote, "--quick")
                    expect(whole(folder) == 4, f"after a fault at run {runs}, the next run does not complete the release")
                expect(runs > 5, f"only {runs} runs of rclone")
                expect(not list(folder.glob("manifest-new-*")), "what a publisher left that was killed a minute ago stays")
                check_settings(place, remote, folder)
                check_renaming(place, folder)
    if failures:
        sys.exit(1)
    print(f"9 releases published to a folder, and through rclone to a folder and to an SFTP server; {runs - 1} faults of rclone; clients looked {looks} times, and found a whole release each time")


if __name__ == "__main__":
    main()
