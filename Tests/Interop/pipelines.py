#!/usr/bin/env python3
"""The pipeline of the guide from end to end: a clone, two workers, the release, the gate, the report, publishing to a folder that nginx serves over
TLS, the live check, and a rehearsal of what the server has; then a second release with one changed game: what was uploaded, and what a device downloads.
Then the steps of the GitHub action, the GitLab component and the Containerfile, run as scripts: with programs in place of `apt-get`, `sudo` and `gh`.

`plugin OPTION…` runs only the command plugin of SwiftPM, with these options. The command is named by the variable PACKER. Prints what was uploaded and
downloaded.
"""

import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse

import ruamel.yaml

from live import Certificates, Web
from project import PACKER, PLIST, ROOT, Checks, contents, inherited

GAMES = 8
CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
perPackKeys: true
trust: [%s]
publish: {to: %s}
packs:
  - {id: core, root: core, delivery: essential}
  - {id: "game-${name}", each: "games/*", delivery: prefetch}
"""
TIME = "1793491200"
checks = Checks()
expect = checks.expect


def packer(place, *arguments, environment, status=0):
    return checks.run(place, *arguments, environment=environment, status=status, inherits=False)


def records(done, kind):
    return [record for record in map(json.loads, done.stdout.splitlines()) if record["type"] == kind]


class Repository:
    """A bare repository with a project, and keys beside it that are in no clone."""

    def __init__(self, base, place, more=""):
        self.base, self.number = base, 0
        self.origin = base / "origin.git"
        self.keys = base / "keys"
        self.keys.mkdir()
        self.environment = {
            "HOME": str(base), "SOURCE_DATE_EPOCH": TIME, "RCLONE_CONFIG": "/dev/null", "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com"}
        packer(base, "key", "new", "-o", self.keys / "root.key", "-q", environment=self.environment)
        packer(base, "key", "new", "--signing", "-o", self.keys / "sign.key", "-q", environment=self.environment)
        public = packer(base, "key", "public", "--sign-key", self.keys / "sign.key", environment=self.environment).stdout.split()[0]
        self.secrets = {"PACKER_KEY": (self.keys / "root.key").read_text().split()[-1], "PACKER_SIGN_KEY": (self.keys / "sign.key").read_text().split()[-1]}
        self.git(base, "init", "-q", "--bare", "-b", "main", self.origin)
        first = self.clone()
        for name in ["core"] + [f"games/{number:02}" for number in range(GAMES)]:
            (first / name).mkdir(parents=True)
            (first / name / "index.html").write_text(f"<!doctype html><title>{name}</title>")
            (first / name / "data.js").write_text(f"// {name}\n" + "\n".join(hashlib.sha256(f"{name} {line}".encode()).hexdigest() for line in range(2000)))
        (first / "App").mkdir()
        (first / "App/Info.plist").write_text(PLIST)
        (first / "packer.yml").write_text(CONFIGURATION % (public, json.dumps(str(place))) + more)
        (first / ".gitignore").write_text("dist\nkeys\n*.xml\nreport.html\ndiff.md\n")
        self.commit(first)

    def git(self, place, *words):
        return subprocess.run(["git", *map(str, words)], cwd=place, env={**inherited(), **self.environment}, check=True, capture_output=True, text=True).stdout

    def clone(self):
        self.number += 1
        place = self.base / f"clone-{self.number}"
        self.git(self.base, "clone", "-q", self.origin, place)
        return place

    def commit(self, place, message="Change"):
        self.git(place, "add", "-A")
        self.git(place, "commit", "-q", "-m", message)
        self.git(place, "push", "-q", "origin", "HEAD:main")


def change(place):
    path = place / "games/03/data.js"
    path.write_text(path.read_text().replace("// games/03\n", "// another\n"))


# MARK: The guide


def release(repository, clone, number):
    """Lets two workers pack, builds, checks and reports. Returns how many packs they made, and what the build said."""
    environment = repository.environment
    full = {**environment, **repository.secrets}
    packed = 0
    packer(clone, "key", "derive", "-c", "packer.yml", "--key", repository.keys / "root.key", "-o", "keys", environment=environment)
    for share in (1, 2):
        # Another machine, with the sources and the keys of packs.
        worker = repository.base / f"worker-{number}-{share}"
        shutil.copytree(clone, worker, ignore=shutil.ignore_patterns(".git"))
        texts = [path.read_bytes() for path in worker.rglob("*") if path.is_file()]
        expect(not any(secret.encode() in text for secret in repository.secrets.values() for text in texts), "a worker has the root key or the signing key")
        said = packer(worker, "build", "--share", f"{share}/2", "--only-cache", "--key", "keys", "--json", environment=environment)
        packed += sum(record["packed"] for record in records(said, "cache"))
    done = packer(clone, "build", "--json", environment=full)
    expect([record["packed"] for record in records(done, "build")] == [0], f"the build after the workers: {done.stdout}")
    packer(clone, "plist", "merge", "App/Info.plist", environment=environment)
    packer(clone, "verify", "--plist", "App/Info.plist", "--report", "junit=verify.xml", environment=full)
    packer(clone, "report", "--plist", "App/Info.plist", environment=full)
    expect((clone / "report.html").stat().st_size > 20_000, "the report is no page")
    return packed, done


def fetched(address, place, certificates, published):
    """The release at an address, as a device gets it: the manifest, the files that it names, and its catalogue."""
    place.mkdir()

    def get(name):
        subprocess.run(["curl", "-fsS", "--cacert", certificates.folder / "ca.crt", "-o", place / name, urllib.parse.urljoin(address, name)], check=True)

    get("manifest.json")
    listing = checks.run(place, "inspect", "--json", "manifest.json")
    names = re.findall(r'"url":"[^"]*/([A-Za-z0-9._-]+\.pack)"', listing.stdout)
    deltas = re.findall(r'"sha256":"([0-9a-f]{16})', listing.stdout)
    names += [name for name in published if name.endswith(".shard") or any(digest in name for digest in deltas)]
    for name in sorted(set(names)):
        get(name)
    return place


def guide(base):
    www = base / "site/www/packs"
    www.parent.mkdir(parents=True)
    (base / "site/published").mkdir()
    certificates = Certificates(base / "certificates")
    web = Web(base / "site", certificates)
    repository = Repository(base, www, f"cache: {json.dumps(str(base / 'cache'))}\n")
    full = {**repository.environment, **repository.secrets, **certificates.environment}

    def publish(clone, address):
        before = set(os.listdir(www))
        packer(clone, "publish", "--plist", "App/Info.plist", "--live", "--live-at", address, environment=full)
        repository.commit(clone, "Record the release")
        new = sorted(set(os.listdir(www)) - before)
        return new, sum((www / name).stat().st_size for name in new)

    with web.serve() as address:
        clone = repository.clone()
        packed, _ = release(repository, clone, 1)
        expect(packed == GAMES + 1, f"the workers made {packed} packs")
        first, size = publish(clone, address)
        packs = [name for name in first if name.endswith(".pack") and name.startswith(("core-", "game-"))]
        expect(len(packs) == GAMES + 1, f"the first release uploads {first}")
        old = fetched(address, base / "device-1", certificates, os.listdir(www))
        packer(clone, "simulate", "install", old, "--plist", "App/Info.plist", environment=full)
        print(f"guide: first release: {len(first)} files uploaded, {size} bytes")

        clone = repository.clone()
        change(clone)
        repository.commit(clone)
        # A fresh machine takes what the last one kept, here the packs of the last release.
        shutil.copytree(base / "clone-2/dist", clone / "dist")
        shutil.copytree(base / "clone-2/released", clone / "released", dirs_exist_ok=True)
        packed, done = release(repository, clone, 2)
        expect(packed == 1, f"one changed game: the workers made {packed} packs")
        second, size = publish(clone, address)
        new = [name for name in second if name.startswith("game-")]
        expect(len(new) == 2 and all(name.startswith("game-03-") for name in new), f"the second release uploads {second}")
        downloads = records(done, "download")
        expect(len(downloads) == 1 and 0 < downloads[0]["size"] < downloads[0]["packSize"], f"the build says {downloads}")
        latest = fetched(address, base / "device-2", certificates, os.listdir(www))
        update = packer(clone, "simulate", "update", latest, "--from", old, "--plist", "App/Info.plist", environment=full)
        delta = min((www / name).stat().st_size for name in new)
        expect(downloads[0]["size"] == delta, f"a device downloads {downloads[0]['size']} bytes of packs, and the delta has {delta}")
        expect("game-03" in update.stdout, update.stdout)
        print(f"guide: second release: {len(second)} files uploaded, {size} bytes; a device downloads {downloads[0]['size']} bytes instead of {downloads[0]['packSize']}")


# MARK: Services


class Runner:
    """A machine of a service: a directory for programs, and steps that are run there."""

    def __init__(self, base, repository):
        self.base, self.repository = base, repository
        self.programs, self.installed = base / "programs", base / "installed"
        for folder in (self.programs, self.installed, base / "temporary"):
            folder.mkdir(parents=True)
        self.program("apt-get", "exit 0")
        self.program("sudo", 'exec "$@"')
        # Says which comment there is, as a file names it.
        self.program("gh", f'echo "$@" >> {base}/gh.log; [ "$2" != view ] || cat {base}/comment 2>/dev/null || true; while [ $# -gt 0 ]; do [ "$1" != --body-file ] || cat "$2" >> {base}/gh.log; shift; done')
        self.program("useradd", "exit 0")
        # What the archive has: a program that runs the one under test.
        inner = base / "packer-1.0-linux/packer"
        inner.parent.mkdir()
        inner.write_text(f'#!/bin/sh\nexec {os.path.abspath(PACKER)} "$@"\n')
        inner.chmod(0o755)
        self.archive = base / "packer-linux-x86_64.tar.gz"
        with tarfile.open(self.archive, "w:gz") as archive:
            archive.add(inner.parent, arcname="packer-1.0-linux")
        self.sha256 = hashlib.sha256(self.archive.read_bytes()).hexdigest()

    def program(self, name, text):
        (self.programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (self.programs / name).chmod(0o755)

    def shell(self, text, place, environment, status=0):
        # The folders of the system are those of the runner.
        folders = {"/tmp/": f"{self.base}/temporary/", "/usr/local/bin": str(self.installed), "/var/lib/apt/lists": f"{self.base}/lists"}
        text = re.sub("|".join(folders), lambda match: folders[match[0]], text)
        path = f"{self.programs}:{self.installed}:{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", text], cwd=place, capture_output=True, text=True, stdin=subprocess.DEVNULL,
            env={**inherited(), **self.repository.environment, "PATH": path, **environment})
        expect(status is None or done.returncode == status, f"{text.strip()[:200]}: {done.returncode}: {done.stdout[-600:]}{done.stderr[-900:]}")
        return done


def action(runner, clone, secrets, status=0, event=None, **inputs):
    """Runs the steps of the action as GitHub does."""
    definition = ruamel.yaml.YAML(typ="safe").load((ROOT / ".github/actions/packer/action.yml").read_text())
    given = {name: value.get("default", "") for name, value in definition["inputs"].items()}
    given.update({"url": f"file://{runner.archive}", "sha256": runner.sha256})
    given.update({name.replace("_", "-"): value for name, value in inputs.items()})
    summary = runner.base / "summary.md"
    summary.write_text("")
    environment = {**secrets, "GITHUB_STEP_SUMMARY": str(summary), "RUNNER_TEMP": str(runner.base / "temporary"), "GITHUB_REPOSITORY": "games/arcade"}

    def value(text):
        def one(match):
            words = match[1].strip()
            return given[words.removeprefix("inputs.")] if words.startswith("inputs.") else str((event or {}).get(words, ""))
        return re.sub(r"\$\{\{(.*?)\}\}", one, str(text))

    outputs = []
    for step in definition["runs"]["steps"]:
        condition = step.get("if")
        if condition and not re.fullmatch(r"inputs\.run == '(\w+)'", condition)[1] == given["run"]:
            continue
        expect("${{" not in step["run"], f"the step {step['name']} has an expression in its script")
        own = {name: value(text) for name, text in step.get("env", {}).items()}
        done = runner.shell(step["run"], clone, {**environment, **own}, status=None)
        outputs.append(done.stdout + done.stderr)
        if done.returncode != 0:
            break
    expect(done.returncode == status, f"the action, {given['run']}, step {step['name']}: {done.returncode}: {outputs[-1][-900:]}")
    return "".join(outputs), summary.read_text()


def github(base):
    (base / "www").mkdir()
    repository = Repository(base, base / "www/packs")
    runner = Runner(base / "runner", repository)
    secrets = repository.secrets
    clone = repository.clone()
    said, _ = action(runner, clone, secrets, sha256="0" * 64, run="install", status=1)
    expect("checksum" in said.lower(), f"another archive: {said}")
    packer(clone, "build", environment={**repository.environment, **secrets})
    packer(clone, "plist", "merge", "App/Info.plist", environment=repository.environment)
    repository.commit(clone, "Numbers")

    clone = repository.clone()
    _, summary = action(runner, clone, secrets, plist="App/Info.plist")
    expect("BAMaxInstallSize" in summary and (clone / "report.html").exists() and (clone / "verify.xml").exists(), f"the action leaves {os.listdir(clone)}: {summary}")
    # The place is a folder that no server has, so the live check cannot succeed: everything before it is done.
    said, _ = action(runner, clone, {}, run="publish", plist="App/Info.plist", status=21)
    expect((base / "www/packs/manifest.json").read_bytes() == (clone / "dist/manifest.json").read_bytes(), f"the action published nothing: {said}")
    again = repository.clone()
    expect((again / "packer.lock.json").exists(), "the action pushed no lock file")

    # A pull request: what changes is a comment.
    change(again)
    _, summary = action(runner, again, secrets, comment_token="t", event={"github.event.pull_request.number": "7"})
    said = (runner.base / "gh.log").read_text()
    expect("pr comment 7" in said and "game-03" in said, f"the comment: {said}")
    expect((again / "comment.md").read_text().startswith("<!-- packer -->\n"), "the comment does not begin with its mark")
    (runner.base / "comment").write_text("123\n")
    action(runner, again, secrets, comment_token="t", event={"github.event.pull_request.number": "7"})
    said = (runner.base / "gh.log").read_text()
    expect("api -X PATCH repos/games/arcade/issues/comments/123 -F body=@comment.md" in said and said.count("pr comment") == 1, f"the comment: {said}")
    # A pull request, which gets no secrets.
    fork = repository.clone()
    change(fork)
    shutil.copytree(clone / "dist", fork / "dist")
    said, summary = action(runner, fork, {}, event={"github.event.pull_request.number": "8"})
    expect("there is no key, so nothing is built" in said and "game-03" in summary and not (fork / "dist").exists(), f"a fork: {said}{summary}")
    # On the main branch, a key that is missing is a fault.
    action(runner, repository.clone(), {}, status=10)
    action(runner, fork, {}, run="releas", status=1)
    print("github: the action installs, builds, reports, comments and publishes; a pull request without secrets gets the plan and what changes")


def gitlab(base):
    (base / "www").mkdir()
    repository = Repository(base, base / "www/packs")
    runner = Runner(base / "runner", repository)
    clone = repository.clone()
    packer(clone, "build", environment={**repository.environment, **repository.secrets})
    packer(clone, "plist", "merge", "App/Info.plist", environment=repository.environment)
    text = (ROOT / ".github/gitlab/packer.yml").read_text()
    header, jobs = ruamel.yaml.YAML(typ="safe").load_all(text)
    inputs = {name: (value or {}).get("default", "") for name, value in header["spec"]["inputs"].items()}
    inputs.update({"url": f"file://{runner.archive}", "sha256": runner.sha256, "plist": "App/Info.plist"})
    expect(set(re.findall(r"\$\[\[ inputs\.([a-z0-9-]+) \]\]", text)) == set(inputs), "the component uses other inputs than it declares")
    base_job = jobs[".packer"]
    variables = {name: re.sub(r"\$\[\[ inputs\.([a-z0-9-]+) \]\]", lambda match: inputs[match[1]], value) for name, value in base_job["variables"].items()}
    push = {"PUSH_TOKEN": "t", "CI_COMMIT_REF_PROTECTED": "true", "CI_SERVER_HOST": "gitlab.example.com", "CI_PROJECT_PATH": "games/arcade", "CI_COMMIT_BRANCH": "main"}

    def job(name, place, secrets, status=0):
        script = "\n".join(base_job["before_script"] + jobs[name]["script"])
        # The address of the service is the repository beside this.
        script = script.replace('"https://packer:$PUSH_TOKEN@$CI_SERVER_HOST/$CI_PROJECT_PATH.git"', '"$ORIGIN"')
        return runner.shell(script, place, {**variables, **push, "ORIGIN": str(repository.origin), **secrets}, status=status)

    job("packer-release", clone, repository.secrets)
    job("packer-publish", clone, {}, status=21)
    expect((base / "www/packs/manifest.json").read_bytes() == (clone / "dist/manifest.json").read_bytes(), "the component published nothing")
    again = repository.clone()
    change(again)
    job("packer-release", again, {}, status=10)
    done = job("packer-release", again, {"CI_COMMIT_REF_PROTECTED": "false"})
    expect("`game-03` | changed" in done.stdout and not (again / "dist").exists(), f"without secrets: {done.stdout}")
    print("gitlab: the component installs, builds, reports and publishes; without secrets it shows the plan")


def container(base):
    base.mkdir(exist_ok=True)
    (base / "www").mkdir()
    repository = Repository(base, base / "www/packs")
    runner = Runner(base / "runner", repository)
    lines = (ROOT / "Examples/Machines/Containerfile").read_text().replace("\\\n", " ").splitlines()
    known = {"FROM", "ARG", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    steps = [line.split(None, 1) for line in lines if line.strip() and not line.startswith("#")]
    expect({word for word, _ in steps} <= known, f"the Containerfile has {[word for word, _ in steps]}")
    for word, text in steps:
        if word == "COPY":
            source, target = text.split()
            shutil.copy(runner.base / source, runner.base / "temporary" if target == "/tmp/" else pathlib.Path(target))
        elif word == "RUN":
            runner.shell(text, runner.base, {"SHA256": runner.sha256})
    done = runner.shell("packer --version", runner.base, {})
    expect(re.match(r"packer \d|\d", done.stdout), f"the image's packer says {done.stdout}")
    expect(not (runner.base / "temporary/packer-linux-x86_64.tar.gz").exists(), "the image keeps the archive")
    print(f"container: {sum(word == 'RUN' for word, _ in steps)} steps run")


def plugin(base):
    """The command plugin, with the options of SwiftPM that this is called with."""
    repository = Repository(base, base / "www")
    clone = repository.clone()
    done = subprocess.run(
        ["swift", "package", *sys.argv[2:], "--allow-writing-to-package-directory", "pack-assets", "--", "build", "-c", clone / "packer.yml"],
        cwd=ROOT, capture_output=True, text=True, env={**os.environ, **repository.environment, **repository.secrets, "HOME": os.environ["HOME"]})
    expect(done.returncode == 0 and f"{GAMES + 1} packed" in done.stdout, f"the plugin: {done.returncode}: {done.stdout[-600:]}{done.stderr[-900:]}")
    packer(clone, "verify", environment={**repository.environment, **repository.secrets})
    print("plugin: 'swift package pack-assets' builds a release")


def main():
    with tempfile.TemporaryDirectory(prefix="packer-pipelines-") as name:
        scenes = (guide, github, gitlab, container)
        if len(sys.argv) > 1:
            scenes = [scene for scene in (*scenes, plugin) if scene.__name__ == sys.argv[1]]
        for scene in scenes:
            base = pathlib.Path(name) / scene.__name__
            base.mkdir()
            scene(base)
    checks.finish()


if __name__ == "__main__":
    main()
