#!/usr/bin/env python3
"""Calls the C interface from C, C++ and the languages of Examples: as its header says, and as it forbids.

    run.py LIBRARIES HEADERS            the programs of this directory, compiled by gcc and clang, in C99 and C++11, under AddressSanitizer where it is there
    run.py LIBRARIES HEADERS TOOL N     N calls from eight threads, under `valgrind`, or with a build for it under `thread`, which is ThreadSanitizer

The command is named by the variable PACKER. Examples whose language is not there are skipped by name.
"""

import concurrent.futures
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import served

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GAME = ROOT / "Examples/HTML5Game/game"
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
SECONDS = 120

WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-pthread"]
# Debian's gcc has both sanitizers; the compiler of a Swift toolchain may lack their libraries.
COMPILERS = {
    "gcc": ["gcc", "-std=c99"],
    "clang": ["clang", "-std=c99"],
    "g++": ["g++", "-x", "c++", "-std=c++11"],
    "clang++": ["clang++", "-x", "c++", "-std=c++11"],
}


class Failed(Exception):
    pass


def run(*command, environment=None, seconds=SECONDS):
    """Runs a program, and returns what it writes. If it fails or hangs, so does this."""
    try:
        done = subprocess.run([str(part) for part in command], env=environment, timeout=seconds, capture_output=True, text=True)
    except subprocess.TimeoutExpired:
        raise Failed(f"{command[0]} takes longer than {seconds} s") from None
    if done.returncode != 0:
        raise Failed(f"{' '.join(str(part) for part in command)} ends with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def compiled(source, compiler, library, libraries, headers, place, *options):
    program = place / f"{pathlib.Path(source).stem}-{compiler}"
    run(*COMPILERS[compiler], *WARNINGS, *options, "-I", headers, "-I", HERE, HERE / source, "-o", program, "-L", libraries,
        f"-Wl,-rpath,{libraries}", f"-l{library}", "-ldl")
    return program


def packs(place):
    """What reading.c needs: a good pack, and others that each have one fault."""

    def packer(*arguments):
        return subprocess.run([PACKER, *arguments], cwd=place, check=True, capture_output=True, text=True).stdout

    shutil.copytree(GAME, place / "game")
    (place / "game/saves").mkdir(exist_ok=True)
    packer("key", "new", "-o", "key", "-q")
    packer("key", "new", "-o", "other", "-q")
    (place / "raw").write_bytes(bytes.fromhex((place / "key").read_text().split("-")[1]))
    packer("pack", "game", "-o", "game.pack", "--key", "key", "--quiet")
    good = (place / "game.pack").read_bytes()
    # After its third segment: a pack that ends inside of one cannot be told from a damaged one (FORMAT.md §3.4).
    (place / "truncated.pack").write_bytes(good[: 132 + int.from_bytes(good[96:100], "little") + 3 * 65536])
    (place / "empty.pack").write_bytes(b"")
    (place / "header.pack").write_bytes(good[:40] + bytes([good[40] ^ 1]) + good[41:])
    middle = len(good) // 2
    (place / "damaged.pack").write_bytes(good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1:])


def loading(libraries, headers, place):
    """Every function of a header is in its library, and both may be loaded beside each other, and closed."""
    names = [str(libraries / f"lib{name}.so") for name in ("PackC", "PackCLibrary")]
    text = ""
    for name, header in zip(names, ("packer.h", "packer-library.h")):
        text += re.sub(r"//.*", "", (headers / header).read_text(encoding="utf-8"))
        library = ctypes.CDLL(name)
        for function in re.findall(r"\b(packer_\w+)\(", text):
            getattr(library, function)
    # Those of SwiftPM may not be closed.
    if (libraries / "libPackC.a").exists():
        run(compiled("loading.c", "gcc", "PackC", libraries, headers, place, "-Wl,--as-needed"), *names)


def reading(libraries, headers, place):
    for compiler in COMPILERS:
        options = ["-fsanitize=address", "-DSANITIZED"] if compiler == "gcc" else []
        program = compiled("reading.c", compiler, "PackC", libraries, headers, place, *options)
        # Once with a sanitizer, and once with little room on a stack.
        if compiler not in ("gcc", "clang"):
            continue
        said = run(program, place, environment=os.environ | {"ASAN_OPTIONS": "detect_leaks=0"})
        print(f"{compiler}: {'; '.join(said.splitlines())}")
        for name in ("unpacked", "cancelled"):
            shutil.rmtree(place / name, ignore_errors=True)


def library(libraries, headers, place):
    trusted = served.release(PACKER, place, GAME)
    front = served.Front(place)
    environment = front.environment(served.trust(place))
    programs = {name: compiled("library.c", name, "PackCLibrary", libraries, headers, place, *(["-fsanitize=address"] if name == "gcc" else [])) for name in COMPILERS}
    with front.serving(PACKER, place / "dist", "--link", "32Mbit/s,0ms"):
        print(f"library: {', '.join(run(programs['gcc'], 'attack', place, trusted, served.ADDRESS, environment=environment).splitlines())}")
    for mode in ("leave", "close"):
        with front.serving(PACKER, place / "dist", "--link", "32Mbit/s,0ms"):
            run(programs["clang"], mode, place, trusted, served.ADDRESS, environment=environment)
    fetched(front, environment, place, "C", programs["clang"], "fetch", place, trusted, served.ADDRESS)
    return front, environment, (place, trusted, served.ADDRESS)


def fetched(front, environment, place, title, *command):
    """A process that fetches is killed in the middle, and started again; then the connection is cut. What arrived is not fetched again."""
    shutil.rmtree(place / "fetched", ignore_errors=True)
    size = max(path.stat().st_size for path in (place / "dist").glob("*.pack"))
    front.sent, front.ranges = 0, []
    with front.serving(PACKER, place / "dist", "--link", "16Mbit/s,0ms"):
        with subprocess.Popen([str(part) for part in command], env=environment, stdout=subprocess.PIPE, text=True) as process:
            while front.sent < size // 2 and process.poll() is None:
                time.sleep(0.01)
            process.kill()
            told = process.stdout.read()
        if process.returncode != -9 or '"received"' not in told:
            raise Failed(f"{title}: a process that is killed in the middle ends with {process.returncode}: {told}")
        front.cuts = [size // 4]
        run(*command, environment=environment)
    if front.cuts or len(front.ranges) < 3 or front.sent > size * 1.2:
        raise Failed(f"{title}: after a kill and a cut, {front.sent} bytes of {size} were sent, from {front.ranges}; {front.cuts}")
    print(f"{title}, killed and cut: {front.sent} bytes were sent for a pack of {size}, from {front.ranges}")


def python(libraries, read, front, environment, arguments):
    program = [sys.executable, ROOT / "Examples/Python/test_packs.py"]
    own = {"PACKER_LIBRARY": str(libraries / "libPackCLibrary.so")}
    print(run(*program, "read", read, environment=os.environ | own).strip())
    fetched(front, environment | own, arguments[0], "Python", *program, "fetch", *arguments)


def java(libraries, read, front, environment, arguments):
    jar = pathlib.Path("/usr/share/java/jna.jar")
    if shutil.which("javac") is None or not jar.exists():
        print("Java: skipped, because there is no javac or no JNA (libjna-java)")
        return
    classes = read / "classes"
    run("javac", "-Xlint:all", "-Werror", "-cp", jar, "-d", classes, *(ROOT / "Examples/Java").glob("*.java"))
    program = ["java", "-cp", f"{classes}:{jar}", f"-Djna.library.path={libraries}", "PacksTest"]
    print(run(*program, "read", read).strip())
    fetched(front, environment, arguments[0], "Java", *program, "fetch", *arguments)


def c(libraries, headers, read, front, environment, arguments):
    """The programs of Examples/C, as its README builds them."""
    programs = {}
    for name, library in (("show", "PackC"), ("fetch", "PackCLibrary")):
        programs[name] = compiled(ROOT / f"Examples/C/{name}.c", "gcc", library, libraries, headers, read)
    show = programs["show"]
    listed = run(show, read / "game.pack", read / "key")
    names = [line.split("  ")[0] for line in listed.splitlines() if not line.endswith("/")]
    for name in names:
        content = subprocess.run([show, read / "game.pack", read / "key", name], check=True, stdout=subprocess.PIPE).stdout
        if content != (read / "game" / name).read_bytes():
            raise Failed(f"show: {name} differs")
    for pack, key, status in (("game", "other", 11), ("truncated", "key", 13), ("header", "key", 12), ("none", "key", 66), ("game", "raw", 0)):
        done = subprocess.run([show, read / f"{pack}.pack", read / key], capture_output=True, text=True)
        if done.returncode != status or ("error: " in done.stderr) != (status != 0):
            raise Failed(f"show: {pack}.pack with {key} ends with {done.returncode}, not {status}: {done.stderr}")
    place, trusted, address = arguments
    with front.serving(PACKER, place / "dist"):
        said = run(programs["fetch"], place / "c", address, trusted, place / "key", "game", environment=environment)
    if not said.startswith("game: "):
        raise Failed(f"fetch says {said}")
    print(f"C: {len(names)} files are equal, faults are told apart, and {said.strip()}")


def threads(libraries, headers, place, calls, seed, tool=None):
    """Calls from eight threads: under valgrind, or under ThreadSanitizer with libraries that were built for it."""
    compiler, options, before = "gcc", [], []
    if tool == "valgrind":
        before = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"]
    elif tool == "thread":
        # The sanitizer of this compiler calls libdispatch, which is beside Swift's runtime.
        runtime = pathlib.Path(shutil.which("swiftc")).resolve().parents[1] / "lib/swift/linux"
        compiler, options = "clang", ["-fsanitize=thread", f"-L{runtime}", f"-Wl,-rpath,{runtime}", "-Wl,--no-as-needed", "-ldispatch", "-lBlocksRuntime"]
    program = compiled("threads.c", compiler, "PackC", libraries, headers, place, *options)
    print(run(*before, program, place, calls, seed, seconds=7200).strip(), f"(seed {seed}{', ' + tool if tool else ''})")


def main():
    libraries, headers = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    seed = int(os.environ.get("PACKER_TEST_SEED", time.time_ns() % 1000000))
    with tempfile.TemporaryDirectory(prefix="packer-c.") as name:
        place = pathlib.Path(name)
        fetched, read = place / "fetched", place / "read"
        fetched.mkdir()
        read.mkdir()
        packs(read)
        if sys.argv[3:]:
            tool, calls = sys.argv[3:]
            threads(libraries, headers, read, calls, seed, tool)
            return
        # Most of the time, the first one waits for a slow server.
        with concurrent.futures.ThreadPoolExecutor() as executor:
            fetching = executor.submit(library, libraries, headers, fetched)
            loading(libraries, headers, read)
            reading(libraries, headers, read)
            threads(libraries, headers, read, 8000, seed)
            served_by = fetching.result()
        c(libraries, headers, read, *served_by)
        python(libraries, read, *served_by)
        java(libraries, read, *served_by)


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
