#!/usr/bin/env python3
"""Branches that recorded releases, merged by git: what git merges itself, what `packer release resolve` resolves, and what it says went out twice.

The command is named by the variable PACKER.
"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from project import PACKER, fail

CONFIGURATION = """\
app: {bundleID: com.example.arcade, group: group.com.example.arcade}
serve: {baseURL: "https://cdn.example.com/packs/"}
lock: required
key: file:arcade.key
signKey: file:arcade.sign.key
packs:
  - {id: core, root: core, delivery: essential}
  - {id: kart, root: kart, delivery: prefetch}
  - {id: maze, root: maze, delivery: prefetch}
  - {id: poker, root: poker, delivery: onDemand}
"""


def expect(condition, message):
    if not condition:
        fail(message)


class Project:
    def __init__(self, place):
        self.place = place
        self.git("init", "-q", "-b", "main")
        (place / "packer.yml").write_text(CONFIGURATION)
        (place / "packer.lock.json").write_text('{"version": 2}\n')
        (place / ".gitignore").write_text("dist/\n*.key\n")
        for pack in ("core", "kart", "maze", "poker"):
            (place / pack).mkdir()
            (place / pack / "index.html").write_text(f"<p>{pack}</p>")
        self.packer("key", "new", "-o", "arcade.key")
        self.packer("key", "new", "--signing", "-o", "arcade.sign.key")
        self.release(app="1.0")

    def git(self, *arguments, status=0):
        environment = dict(os.environ, HOME=str(self.place), GIT_CONFIG_NOSYSTEM="1")
        for role in ("AUTHOR", "COMMITTER"):
            environment |= {f"GIT_{role}_NAME": "somebody", f"GIT_{role}_EMAIL": "somebody@example.com"}
        done = subprocess.run(["git", *arguments], cwd=self.place, env=environment, capture_output=True, text=True)
        expect(done.returncode == status, f"git {' '.join(arguments)} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
        return done.stdout

    def packer(self, *arguments, status=0, **variables):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("PACKER", "GITHUB", "CI"))}
        done = subprocess.run(
            [PACKER, *arguments], cwd=self.place, env=dict(environment, LC_ALL="C.UTF-8", **variables), capture_output=True, text=True)
        expect(done.returncode == status, f"packer {' '.join(arguments)} ended with {done.returncode}, not {status}:\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def release(self, pack=None, text="", app=None):
        """Changes a pack, releases and commits. The gate must have nothing against it."""
        if pack:
            (self.place / pack / "index.html").write_text(f"<p>{text}</p>")
        self.packer("build", "-q")
        self.packer("verify", "--quick", "-q", "--strict", "--plist", "dist/Info.fragment.plist")
        words = ["--app", app, "--plist", "dist/Info.fragment.plist"] if app else []
        self.packer("release", "record", *words, BUILD_URL=f"https://ci.example.com/{text or app}", GIT_COMMIT="0123456789abcdef")
        self.commit(text or app)

    def commit(self, message):
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def lock(self):
        records = [json.loads(line) for line in self.packer("release", "list", "--json").splitlines() if line.startswith("{")]
        packs = {record["id"]: record["version"] for record in records if record["type"] == "pack"}
        apps = [record["version"] for record in records if record["type"] == "app"]
        release = next(record for record in records if record["type"] == "release")
        return release["manifestVersion"], packs, apps

    def fork(self, ours, theirs):
        """Runs one step on each of two branches, and merges the second into the first."""
        self.git("checkout", "-q", "-b", "feature")
        theirs()
        self.git("checkout", "-q", "main")
        shutil.rmtree(self.place / "dist")
        ours()

    def merge(self, style="merge", status=0):
        output = self.git("-c", f"merge.conflictStyle={style}", "merge", "-q", "-m", "merged", "feature", status=status)
        if status == 0:
            self.git("branch", "-d", "feature")
        return output


def merged_by_git(place):
    """App and app, content and app: git needs no help."""
    project = Project(place)
    project.fork(lambda: project.release(app="2.1"), lambda: project.release(app="2.0"))
    project.merge()
    expect(project.lock() == (1, {"core": 1, "kart": 1, "maze": 1, "poker": 1}, ["1.0", "2.0", "2.1"]), f"app and app: {project.lock()}")
    project.fork(lambda: project.release("poker", "ours"), lambda: project.release(app="2.2"))
    project.merge()
    expect(project.lock() == (2, {"core": 1, "kart": 1, "maze": 1, "poker": 2}, ["1.0", "2.0", "2.1", "2.2"]), f"content and app: {project.lock()}")
    project.fork(lambda: project.packer("release", "retire", "1.0") and project.commit("retired"), lambda: project.release("core", "theirs"))
    project.merge()
    expect(project.lock()[:2] == (3, {"core": 2, "kart": 1, "maze": 1, "poker": 2}), f"content and a retired app: {project.lock()}")
    project.packer("build", "-q")
    project.packer("verify", "-q", "--strict", "--plist", "dist/Info.fragment.plist")


def resolved(place, style):
    """Content and content: the same manifest went out twice, and a pack too."""
    project = Project(place)

    def ours():
        project.release("core", "ours")
        project.release("kart", "ours again")

    project.fork(ours, lambda: project.release("core", "theirs"))
    project.merge(style, status=1)
    (place / "core/index.html").write_text("<p>both</p>")
    for words in (["build"], ["verify"], ["release", "record"], ["release", "list"]):
        said = project.packer(*words, status=65)
        expect("a merge left conflict markers: HEAD and feature" in said and "hint: packer release resolve" in said, f"{words}: {said}")
    said = project.packer("release", "resolve")
    expect("pack 'core' version 2 went out twice: SHA-256 " in said, said)
    expect("manifest 3, issued " in said and "and manifest 2, issued " in said, said)
    expect("https://ci.example.com/ours again, commit 0123456789ab" in said and "https://ci.example.com/theirs" in said, said)
    expect("next: git add packer.lock.json packer.apps && packer build" in said, said)
    # What went out twice is neither recorded nor released again.
    project.git("checkout", "--ours", "core")
    (place / "core/index.html").write_text("<p>ours</p>")
    said = project.packer("verify", "--quick", "--only", "PK5", status=1)
    expect("error PK5010: core: version 2 went out twice" in said, said)
    said = project.packer("release", "record", status=65)
    expect("went out twice, with different content" in said, said)
    (place / "core/index.html").write_text("<p>both</p>")
    expect("there is nothing to resolve" in project.packer("release", "resolve"), "a second resolve finds something")
    project.packer("build", "-q")
    project.packer("verify", "-q", "--strict", "--plist", "dist/Info.fragment.plist")
    project.packer("release", "record")
    project.commit("merged")
    expect(project.lock() == (4, {"core": 3, "kart": 2, "maze": 1, "poker": 1}, ["1.0"]), f"content and content: {project.lock()}")
    project.git("branch", "-d", "feature")

    # Other packs on each side: only the manifest went out twice, and no pack changes again.
    project.fork(lambda: project.release("poker", "ours 2"), lambda: project.release("core", "theirs 2"))
    project.merge(style, status=1)
    said = project.packer("release", "resolve")
    expect("manifest 5 went out twice: issued " in said and "pack '" not in said, said)
    project.packer("build", "-q")
    project.packer("verify", "-q", "--strict", "--plist", "dist/Info.fragment.plist")
    project.packer("release", "record")
    expect(project.lock() == (6, {"core": 4, "kart": 2, "maze": 1, "poker": 2}, ["1.0"]), f"other packs: {project.lock()}")


def decided(place):
    """The same app version on both branches, with different values."""
    project = Project(place)

    def theirs():
        text = (place / "packer.yml").read_text()
        (place / "packer.yml").write_text(text + "headroom: 50%\n")
        project.release(app="2.0")
        (place / "packer.yml").write_text(text)
        project.commit("as before")

    project.fork(lambda: project.release(app="2.0"), theirs)
    project.merge(status=1)
    said = project.packer("release", "resolve", status=65)
    expect("app 2.0 was recorded on both sides with different values: budget is " in said, said)
    expect(project.git("ls-files", "-u", "packer.apps") != "", "the conflict is gone before the decision")
    said = project.packer("release", "resolve", "--take", "ours")
    expect("packer.apps/2.0.json: resolved" in said and "ours stays" in said, said)
    expect(project.lock()[2] == ["1.0", "2.0"], project.lock())


def main():
    if not shutil.which("git"):
        fail("git is missing: install it, because these cases merge branches")
    for case in (merged_by_git, lambda place: resolved(place, "merge"), lambda place: resolved(place, "diff3"), decided):
        with tempfile.TemporaryDirectory(prefix="packer-merges.") as name:
            case(pathlib.Path(name))
    print("merged branches: 4 histories of releases, 3 merges by git alone, 5 by packer release resolve")


main()
