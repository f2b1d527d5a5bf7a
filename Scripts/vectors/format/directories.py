"""Directories on the disk: unpacked into, and read (FORMAT.md §5.3)."""

import os
import stat

from vectors.format.errors import Problem, Refused, require
from vectors.format.limits import MAX_DIRECTORY, MAX_RECORDS
from vectors.format.paths import PathOrder, check_directories, check_path, check_portability
from vectors.format.reader import open_base, read_pack
from vectors.format.records import DIRECTORY, EXECUTABLE, Item
from vectors.format.trees import FileTree


def open_parent(root, components):
    """§5.3: the descriptor of the directory, component by component, no link followed."""
    fd = os.dup(root)
    for component in components:
        try:
            os.mkdir(component, 0o755, dir_fd=fd)
        except FileExistsError:
            pass
        below = os.open(component, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
        os.close(fd)
        fd = below
    return fd


def unpacker(root):
    """§5.3: a sink for read_payload."""

    def sink(record, chunks):
        components = record.path.split(b"/")
        parent = open_parent(root, components[:-1])
        try:
            if record.type == DIRECTORY:
                os.mkdir(components[-1], 0o755, dir_fd=parent)
                return
            mode = 0o755 if record.type == EXECUTABLE else 0o644
            fd = os.open(components[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode,
                         dir_fd=parent)
            with open(fd, "wb") as file:
                for chunk in chunks:
                    file.write(chunk)
                os.fchmod(fd, mode)
        finally:
            os.close(parent)

    return sink


def unpack(data, ak, target, verify, bases=()):
    """§5.3: into a fresh directory beside the target, then one rename."""
    if os.path.lexists(target):
        raise Problem(f"{target} exists")
    fresh = f"{target}.unpacking-{os.getpid()}"
    os.mkdir(fresh)
    root = os.open(fresh, os.O_RDONLY | os.O_DIRECTORY)
    try:
        records = read_pack(data, ak, verify, unpacker(root), bases)
        os.rename(fresh, target)
        return records
    except BaseException:
        remove_tree(fresh)
        raise
    finally:
        os.close(root)


def remove_tree(path):
    for parent, directories, files in os.walk(path, topdown=False):
        for name in files:
            os.unlink(os.path.join(parent, name))
        for name in directories:
            os.rmdir(os.path.join(parent, name))
    os.rmdir(path)


def read_tree(root):
    """§4.2.1, §5.1: the items of a directory; anything but files and directories is refused."""
    items = []

    def visit(directory, path):
        names = sorted(os.listdir(directory))
        if not names and path:
            items.append(Item(path, "directory", b"", False))
        for name in names:
            full, inner = os.path.join(directory, name), path + b"/" + name if path else name
            status = os.lstat(full)
            if stat.S_ISDIR(status.st_mode):
                visit(full, inner)
            elif stat.S_ISREG(status.st_mode):
                with open(full, "rb") as file:
                    items.append(Item(inner, "file", file.read(), bool(status.st_mode & 0o111)))
            else:
                raise Problem(f"{inner!r} is neither file nor directory")

    visit(os.fsencode(root), b"")
    return sorted(items, key=lambda item: item.path)


def check_tree(items):
    """§5.1, §5.2, §6, for the writer."""
    paths = [item.path for item in items]
    try:
        order = PathOrder()
        for path in paths:
            check_path(path)
            order.require_next(path)
        check_directories(paths, [item.kind == "directory" for item in items])
        require(len(items) <= MAX_RECORDS, f"{len(items)} files", "limit")
        first_paths = paths[::128]
        require(sum(6 + len(path) for path in first_paths) <= MAX_DIRECTORY, "the index directory", "limit")
    except Refused as error:
        raise Problem(str(error))
    check_portability(paths)


def open_bases(paths, key):
    """The bases that a command is given: full packs, or directories."""
    trees = []
    for path in paths:
        if os.path.isdir(path):
            trees.append(FileTree(read_tree(path)))
        else:
            with open(path, "rb") as file_object:
                trees.append(open_base(file_object.read(), key))
    return trees
