#!/usr/bin/env python3
"""The project of Examples/Godot in Debian's Godot 3: without a screen, and with `load` under Xvfb.

`Scripts/c-library` makes the library. The command is named by the variable PACKER. What the machine lacks is skipped by name.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
LIBRARY = ROOT / ".build/c/lib/libPackC.so"
TREE = ROOT / "Examples/HTML5Game/game"
PICTURE = "assets/title.png"
failures = []


def packer(*arguments):
    subprocess.run([PACKER, *map(str, arguments)], check=True, capture_output=True)


def prepare(place):
    project = place / "project"
    shutil.copytree(ROOT / "Examples/Godot", project, ignore=shutil.ignore_patterns("bin", "game.*"))
    folder = project / "addons/packs"
    (folder / "bin").mkdir()
    shutil.copy(LIBRARY, folder / "bin")
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-shared", "-fPIC", "-I", ROOT / ".build/c/include", "-o", folder / "bin/libpacks.so",
         folder / "packs.c", folder / "bin/libPackC.so", "-Wl,-rpath,$ORIGIN"], check=True)
    shutil.copy(ROOT / "Tests/CInterface/godot/test.gd", project)
    for name in ("game.key", "other.key"):
        packer("key", "new", "-o", place / name, "-q")
    packer("pack", TREE, "-o", project / "game.pack", "--key", place / "game.key", "-q")
    content = (project / "game.pack").read_bytes()
    (project / "game.pack.short").write_bytes(content[:50])
    (project / "game.pack.cut").write_bytes(content[: len(content) // 2])
    return project


def godot(place, project, title, *program):
    """Runs the test and the example's scene in a Godot. Its own messages begin with ERROR or WARNING, and a script that fails with SCRIPT ERROR."""
    screen = "screen" if "server" not in title else "none"
    words = [project / "game.pack", place / "game.key", place / "other.key", TREE, PICTURE, screen]
    environment = os.environ | {
        "HOME": str(place), "XDG_DATA_HOME": str(place), "LANG": "C.UTF-8", "PACKER_KEY": (place / "game.key").read_text().split()[-1],
        "PACKER_TEST": json.dumps([str(word) for word in words])}

    def run(*arguments):
        done = subprocess.run(
            ["timeout", "-k", "1", "60", *program, "--path", project, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)
        return done.returncode, done.stdout

    status, output = run("-s", "test.gd")
    lines = [line for line in output.splitlines() if line.startswith(("wrong", "SCRIPT")) or " files, " in line]
    if status != 0 or len(lines) != 1 or "Leaked" in output:
        failures.append(f"{title} ends with {status}:\n{output[-3000:]}")
        return
    print(f"{title}: {lines[0]}")
    status, output = run("-q")
    # The server's dummy has another size.
    if f"title.png is {'768 x 512' if screen == 'screen' else '8 x 8'}" not in output or "SCRIPT ERROR" in output:
        failures.append(f"the scene in {title}: {output}")


def skip(reason):
    print(f"skipped: Godot: {reason}")
    sys.exit(0)


def main():
    if not shutil.which("godot3-server"):
        skip("no godot3-server (Debian: godot3-server)")
    if not LIBRARY.exists():
        skip("no libPackC.so: run Scripts/c-library")
    with tempfile.TemporaryDirectory(prefix="packer-godot.") as name:
        place = pathlib.Path(name)
        project = prepare(place)
        godot(place, project, "Godot's server", "godot3-server")
        missing = [program for program in ("godot3-runner", "xvfb-run") if not shutil.which(program)]
        if missing:
            print(f"skipped: Godot with a screen: no {', '.join(missing)} (Debian: godot3-runner, xvfb, xauth)")
        else:
            godot(place, project, "Godot with a screen", "xvfb-run", "-a", "godot3-runner")
    for failure in failures:
        print(f"wrong: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
