#!/usr/bin/env python3
"""Tests packs.py. Tests/CInterface/run.py runs it, and puts the packs into DIRECTORY.

    test_packs.py read DIRECTORY                      every file, and every fault
    test_packs.py fetch DIRECTORY TRUSTED ADDRESS     makes the packs of the release usable; may be killed
    test_packs.py speed DIRECTORY
"""

import json
import pathlib
import sys
import time

from packs import Library, Pack, PackError


def raises(status, call, *arguments):
    try:
        call(*arguments)
    except PackError as error:
        assert error.status == status, (error.status, status, error)
        return error
    raise AssertionError(f"status {status} does not come")


def read(place):
    key = (place / "key").read_bytes()
    with Pack(place / "game.pack", key) as pack:
        entries = [entry for entry in pack if entry.is_file]
        for entry in entries:
            source = (place / "game" / entry.path).read_bytes()
            assert pack.read(entry.path) == source and pack.find(entry.path)[0] == entry
            assert pack.read(entry.path, 5, 7) == source[5:12]
        assert {entry.path for entry in entries} == {str(path.relative_to(place / "game")) for path in (place / "game").rglob("*") if path.is_file()}
        assert pack.read("index.html", 3, 0) == b""
        told = []
        pack.verify(lambda done, total: told.append((done, total)))
        assert told[-1][0] == told[-1][1] > 0
        raises(130, pack.verify, lambda done, total: False)
        pack.unpack(place / "python")
        assert (place / "python/index.html").read_bytes() == (place / "game/index.html").read_bytes()
        error = raises(66, pack.read, "none")
        assert error.code == "no-such-entry" and "none" in error.message
        raises(64, pack.read, "index.html", 10**9, 1)
        try:
            pack.verify(lambda done, total: 1 // 0)
            raise AssertionError("an exception is lost")
        except ZeroDivisionError:
            pass
    raises(64, pack.read, "index.html", 0, 1)
    error = raises(11, Pack, place / "game.pack", (place / "other").read_bytes())
    assert error.code == "wrong-key" and error.subject.endswith("game.pack") and "key" in error.advice
    raises(10, Pack, place / "game.pack", b"")
    raises(10, Pack, place / "game.pack", lambda ids, pack_id: None)
    raises(13, Pack, place / "truncated.pack", key)
    raises(12, Pack, place / "header.pack", key)
    raises(66, Pack, place / "none.pack", key)
    raises(65, Pack, place / "game/index.html", key)
    with Pack(place / "damaged.pack", lambda ids, pack_id: key if len(ids[0]) == 16 and len(pack_id) == 32 else None) as pack:
        assert raises(12, pack.verify).subject.endswith("damaged.pack")
    print(f"Python: {len(entries)} files are equal, and faults are told apart")


def fetch(place, trusted, address):
    def told(event):
        if "received" in event.get("state", {}):
            print(json.dumps(event), flush=True)

    with Library(place / "fetched", address, [trusted], lambda ids, pack_id: (place / "key").read_bytes(), told) as library:
        request = library.ensure("game", "words")
        assert not request.wait(0)
        request.wait()
        with library.pack("game") as pack:
            assert pack.read("index.html") == (place / "game/index.html").read_bytes()
        assert (pathlib.Path(library.directory("words")) / "hello.txt").exists()
        assert library.status("game") == {"status": "ready", "version": 1}
        assert [offer["id"] for offer in library.offers()["packs"]] == ["game", "words"]
        raises(66, library.ensure("none").wait)
        with library.ensure_tags("small") as tags:
            tags.wait()
        library.remove("game")
        assert library.status("game")["status"] == "absent"
    print("Python: fetched")


def speed(place):
    with Pack(place / "game.pack", (place / "key").read_bytes()) as pack:
        rounds = []
        for _ in range(30):
            start = time.perf_counter_ns()
            for _ in range(3000):
                pack.read("assets/sounds/won.wav", 0, 4096)
            rounds.append((time.perf_counter_ns() - start) // 3000)
        print(f"Python: {min(rounds)} ns for a read of 4 KiB")


if __name__ == "__main__":
    {"read": read, "fetch": fetch, "speed": speed}[sys.argv[1]](pathlib.Path(sys.argv[2]), *sys.argv[3:])
