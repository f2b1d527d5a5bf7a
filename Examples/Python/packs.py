"""Packs for Python: the C interface of packer, through ctypes. Copy this file, and put libPackCLibrary beside it, or name it in PACKER_LIBRARY.

    with Pack("game.pack", key) as pack:
        level = pack.read("levels/1.json")

    with Library("packs", manifest, trusting=["pkp1-…"], key=give) as library:
        library.ensure("game").wait()
        with library.pack("game") as pack: …

All objects may be used by any thread. Calls that take time let other threads run.
"""

import ctypes
import json
import os
import pathlib
import time
from collections import namedtuple
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_uint8, c_uint64, c_void_p

_Ask = CFUNCTYPE(c_int64, c_void_p, c_char_p, POINTER(c_uint8), c_void_p)
_Visit = CFUNCTYPE(c_int32, c_void_p, c_char_p, c_int32, c_uint64)
_Progress = CFUNCTYPE(c_int32, c_void_p, c_uint64, c_uint64)
_Event = CFUNCTYPE(None, c_void_p, c_char_p)
_RUNNING, _CANCELLED, _ROOM = 75, 130, 128

_native = ctypes.CDLL(os.environ.get("PACKER_LIBRARY") or str(pathlib.Path(__file__).with_name("libPackCLibrary.so")))
for _name in ("code", "message", "subject", "advice"):
    getattr(_native, f"packer_error_{_name}").restype = c_char_p
_native.packer_free.argtypes = [c_void_p]
for _name, _types in {
    "close": [c_uint64],
    "open_asking": [c_char_p, _Ask, c_void_p, c_void_p],
    "info": [c_uint64, c_void_p, c_void_p],
    "list": [c_uint64, _Visit, c_void_p],
    "find": [c_uint64, c_char_p, c_void_p, c_void_p, c_char_p],
    "read": [c_uint64, c_char_p, c_uint64, c_void_p, c_uint64, c_void_p],
    "verify": [c_uint64, _Progress, c_void_p],
    "unpack": [c_uint64, c_char_p, _Progress, c_void_p],
    "library_open": [c_char_p, _Ask, c_void_p, _Event, c_void_p, c_void_p],
    "library_ensure": [c_uint64, c_void_p, c_uint64, c_void_p],
    "library_ensure_tags": [c_uint64, c_void_p, c_uint64, c_double, c_void_p],
    "library_refresh": [c_uint64, c_void_p],
    "wait": [c_uint64, c_int64],
    "library_answer": [c_uint64, c_uint64, c_int32],
    "library_cancel": [c_uint64, c_char_p],
    "library_remove": [c_uint64, c_char_p],
    "library_copy_offers": [c_uint64, c_void_p],
    "library_copy_tags": [c_uint64, c_void_p],
    "library_copy_status": [c_uint64, c_char_p, c_void_p],
    "library_copy_file": [c_uint64, c_char_p, c_char_p, c_void_p],
    "library_copy_directory": [c_uint64, c_char_p, c_void_p],
    "library_pack": [c_uint64, c_char_p, c_void_p],
}.items():
    getattr(_native, f"packer_{_name}").argtypes = _types

Entry = namedtuple("Entry", "path is_file size")


class PackError(Exception):
    """Why a call failed. `status` and `code` are for programs, the texts for people; `subject` and `advice` may be None."""

    def __init__(self, status):
        self.status = status
        self.code, self.message, self.subject, self.advice = (
            text and text.decode() for text in (getattr(_native, f"packer_error_{name}")() for name in ("code", "message", "subject", "advice")))
        super().__init__(self.message)


def _call(name, *arguments):
    """Calls a function, and raises what it says."""
    status = getattr(_native, f"packer_{name}")(*arguments)
    if status not in (0, _RUNNING):
        raise PackError(status)
    return status


def _copied(name, *arguments):
    """Returns the text that a function hands over."""
    text = c_char_p()
    _call(name, *arguments, byref(text))
    try:
        return text.value.decode()
    finally:
        _native.packer_free(text)


def _asking(key, failures=None):
    """Returns the function of C for a key: bytes, or a function that returns them for the ids of keys and the id of the pack, or None if it has none."""

    def ask(_, ids, pack_id, room):
        try:
            given = key(ids.decode().split(), bytes(pack_id[:32])) if callable(key) else key
        except BaseException as error:
            if failures is not None:
                failures.append(error)
            return 0
        if not given or len(given) > _ROOM:
            return 0
        ctypes.memmove(room, given, len(given))
        return len(given)

    return _Ask(ask)


class _Handle:
    """What `with` closes."""

    def __init__(self, value):
        self._value = value

    def close(self):
        if self._value:
            value, self._value = self._value, 0
            _call("close", value)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Pack(_Handle):
    """An open pack. `key` are the bytes of a key, raw or as its text, or a function that returns them: see `Library`."""

    def __init__(self, path, key):
        failures, handle = [], c_uint64()
        try:
            _call("open_asking", os.fsencode(path), _asking(key, failures), None, byref(handle))
        except PackError:
            if failures:
                raise failures[0] from None
            raise
        super().__init__(handle.value)

    def __iter__(self):
        """All entries, in the byte order of their paths."""
        entries = []

        def visit(_, path, kind, size):
            entries.append(Entry(path.decode(), kind == 0, size))
            return 0

        _call("list", self._value, _Visit(visit), None)
        return iter(entries)

    def find(self, path):
        """Returns an entry, and the SHA-256 of its content."""
        kind, size, digest = c_int32(), c_uint64(), ctypes.create_string_buffer(32)
        _call("find", self._value, path.encode(), byref(kind), byref(size), digest)
        return Entry(path, kind.value == 0, size.value), digest.raw

    def read(self, path, offset=0, size=None):
        """Returns the bytes of a file from an offset on: all, or at most `size`."""
        if size is None:
            size = max(0, self.find(path)[0].size - offset)
        content, count = ctypes.create_string_buffer(size), c_uint64()
        _call("read", self._value, path.encode(), offset, content, size, byref(count))
        return content.raw[: count.value]

    def verify(self, progress=None):
        """Checks everything. `progress` gets the bytes that are done, and all; if it returns False, the work ends with status 130."""
        self._work("verify", progress)

    def unpack(self, directory, progress=None):
        """Unpacks into a directory that does not exist, all or nothing."""
        self._work("unpack", progress, os.fsencode(directory))

    def _work(self, name, progress, *arguments):
        failures = []

        def step(_, done, total):
            try:
                return 1 if progress(done, total) is False else 0
            except BaseException as error:
                failures.append(error)
                return 1

        try:
            _call(name, self._value, *arguments, _Progress(step) if progress else _Progress(), None)
        except PackError:
            if failures:
                raise failures[0] from None
            raise


class Request(_Handle):
    """Something that a library does. Closing it ends the waiting; that of tags also ends the use of their packs."""

    def wait(self, seconds=None):
        """Waits for the end. Returns whether it came in time, and raises what went wrong."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            # In pieces, so that Ctrl-C works.
            left = 0.2 if end is None else max(0, min(0.2, end - time.monotonic()))
            if _call("wait", self._value, int(left * 1000)) != _RUNNING:
                return True
            if end is not None and time.monotonic() >= end:
                return False


class Library(_Handle):
    """The packs of an app: those that its manifest offers, and those that are here.

    `key` is called for each pack that is opened, with the ids of its keys and its own id, on any thread, and returns the bytes of a key. `event` gets each
    event as a dictionary, one at a time, on any thread. packer-library.h says what events and further options there are.
    """

    def __init__(self, directory, manifest, trusting, key, event=None, **options):
        handle = c_uint64()
        options |= {"directory": os.fspath(directory), "manifest": manifest, "trusting": list(trusting)}
        # Kept as long as the library calls them.
        self._ask = _asking(key)
        self._event = _Event(lambda _, text: event(json.loads(text))) if event else _Event()
        _call("library_open", json.dumps(options).encode(), self._ask, None, self._event, None, byref(handle))
        super().__init__(handle.value)

    def ensure(self, *packs):
        """Makes packs usable: fetches, checks and installs what is missing. Returns the request."""
        return self._request("ensure", self._value, *self._texts(packs))

    def ensure_tags(self, *tags, priority=0.5):
        """Does the same for all packs with one of the tags, and keeps them until the request is closed."""
        return self._request("ensure_tags", self._value, *self._texts(tags), priority)

    def refresh(self):
        """Fetches the manifest. Returns the request."""
        return self._request("refresh", self._value)

    def pack(self, pack):
        """Returns a pack that was made usable."""
        handle, opened = c_uint64(), Pack.__new__(Pack)
        _call("library_pack", self._value, pack.encode(), byref(handle))
        _Handle.__init__(opened, handle.value)
        return opened

    def file(self, pack, path):
        """Returns the path of a file on the disk with the content of a file."""
        return _copied("library_copy_file", self._value, pack.encode(), path.encode())

    def directory(self, pack):
        """Returns the directory of a pack that is kept unpacked."""
        return _copied("library_copy_directory", self._value, pack.encode())

    def offers(self):
        return json.loads(_copied("library_copy_offers", self._value))

    def tags(self):
        return json.loads(_copied("library_copy_tags", self._value))

    def status(self, pack):
        return json.loads(_copied("library_copy_status", self._value, pack.encode()))

    def answer(self, question, yes):
        """Answers the question of an event `consent`. May be called in `event`."""
        _call("library_answer", self._value, question, bool(yes))

    def cancel(self, pack):
        _call("library_cancel", self._value, pack.encode())

    def remove(self, pack):
        _call("library_remove", self._value, pack.encode())

    @staticmethod
    def _texts(texts):
        return (c_char_p * len(texts))(*(text.encode() for text in texts)), len(texts)

    @staticmethod
    def _request(name, *arguments):
        handle = c_uint64()
        _call(f"library_{name}", *arguments, byref(handle))
        return Request(handle.value)
