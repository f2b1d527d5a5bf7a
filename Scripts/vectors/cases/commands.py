"""The commands that make and check the vectors."""

import os

from vectors.cases.deltas.hostile import hostile_deltas
from vectors.cases.deltas.valid import valid_deltas
from vectors.cases.deltas.vector import BASE_FOLDER, DELTA_FOLDERS, base_names, check_delta_vector, delta_vector_bytes, parse_delta_vector
from vectors.cases.lines import CASE_FILES, case_lines, check_case_line
from vectors.cases.manifests.damaged import damaged_manifests
from vectors.cases.manifests.keys import keys_manifests
from vectors.cases.manifests.references import page_manifests
from vectors.cases.manifests.rfc8785 import rfc8785_manifests
from vectors.cases.manifests.signed import unsupported_manifests, untrusted_manifests, valid_manifests
from vectors.cases.manifests.vector import MANIFEST_FOLDER, check_manifest_vector, manifest_vector_bytes, parse_manifest_vector
from vectors.cases.packs.archives import libarchive_paths, libarchive_pax, libarchive_sparse, libarchive_types, python_vectors, traversal_vectors
from vectors.cases.packs.hostile import hostile_blocks, hostile_frames, hostile_head, hostile_parts, hostile_paths, hostile_records, hostile_seek
from vectors.cases.packs.others import age_vectors, zstd_vectors
from vectors.cases.packs.refused import refused_vectors
from vectors.cases.packs.tars import hostile_tar_form, hostile_tar_links, hostile_tar_match, hostile_tar_types
from vectors.cases.packs.valid import valid_frames, valid_headers, valid_pack_keys, valid_segments, valid_trees, valid_wraps
from vectors.cases.packs.vector import FOLDERS, check_vector, parse_vector, vector_bytes
from vectors.cases.pages.packs import damaged_pages, valid_pages
from vectors.cases.pages.updates import damaged_updates, valid_updates
from vectors.cases.pages.vector import PAGE_FOLDER, check_page_vector, page_vector_bytes, parse_page_vector
from vectors.format.errors import Problem


def all_vectors():
    """{folder: [vectors]}"""
    return {
        "valid": [*valid_trees(), *valid_segments(), *valid_frames(), *valid_headers(), *valid_pack_keys(), *valid_wraps()],
        "refused-open": list(refused_vectors()),
        "hostile": [*hostile_paths(), *hostile_records(), *hostile_head(), *hostile_blocks(), *hostile_frames(),
                    *hostile_seek(), *hostile_parts(), *hostile_tar_types(), *hostile_tar_links(),
                    *hostile_tar_match(), *hostile_tar_form()],
        "others": other_vectors(),
    }


def other_vectors():
    return [*age_vectors(), *zstd_vectors(), *traversal_vectors(), *python_vectors(), *libarchive_paths(), *libarchive_types(),
            *libarchive_sparse(), *libarchive_pax()]


def all_manifest_vectors():
    return [*valid_manifests(), *untrusted_manifests(), *damaged_manifests(), *page_manifests(), *unsupported_manifests(), *rfc8785_manifests(), *keys_manifests()]


def all_page_vectors():
    return [*valid_pages(), *damaged_pages(), *valid_updates(), *damaged_updates()]


def all_delta_vectors():
    return {"deltas/valid": list(valid_deltas()), "deltas/hostile": list(hostile_deltas())}


def command_make(arguments):
    for folder, vectors in all_vectors().items():
        names = [vector.name for vector in vectors]
        assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
        target = os.path.join(arguments.directory, folder)
        os.makedirs(target, exist_ok=True)
        for name in os.listdir(target):
            if name.endswith(".vector"):
                os.unlink(os.path.join(target, name))
        total = 0
        for vector in vectors:
            data = vector_bytes(vector)
            total += len(data)
            with open(os.path.join(target, vector.name + ".vector"), "wb") as out:
                out.write(data)
        print(f"{folder}: {len(vectors)} vectors, {total} bytes")
    make_manifest_vectors(arguments.directory)
    make_page_vectors(arguments.directory)
    make_delta_vectors(arguments.directory)
    make_case_files(arguments.directory)


def make_manifest_vectors(directory):
    target = os.path.join(directory, MANIFEST_FOLDER)
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(target):
        if name.endswith(".manifest-vector"):
            os.unlink(os.path.join(target, name))
    vectors = all_manifest_vectors()
    assert len({vector.name for vector in vectors}) == len(vectors)
    for vector in vectors:
        with open(os.path.join(target, vector.name + ".manifest-vector"), "wb") as out:
            out.write(manifest_vector_bytes(vector))
    print(f"{MANIFEST_FOLDER}: {len(vectors)} vectors")


def make_page_vectors(directory):
    target = os.path.join(directory, PAGE_FOLDER)
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(target):
        os.unlink(os.path.join(target, name))
    vectors = all_page_vectors()
    assert len({vector.name for vector in vectors}) == len(vectors)
    for vector in vectors:
        with open(os.path.join(target, vector.name + ".page-vector"), "wb") as out:
            out.write(page_vector_bytes(vector))
    print(f"{PAGE_FOLDER}: {len(vectors)} vectors")


def make_delta_vectors(directory):
    every = all_delta_vectors()
    names = base_names([vector for vectors in every.values() for vector in vectors])
    target = empty_folder(os.path.join(directory, BASE_FOLDER))
    for data, name in names.items():
        with open(os.path.join(target, name), "wb") as out:
            out.write(data)
    print(f"{BASE_FOLDER}: {len(names)} packs, {sum(map(len, names))} bytes")
    for folder, vectors in every.items():
        target = empty_folder(os.path.join(directory, folder))
        assert len({vector.name for vector in vectors}) == len(vectors)
        total = 0
        for vector in vectors:
            data = delta_vector_bytes(vector, names)
            total += len(data)
            with open(os.path.join(target, vector.name + ".delta-vector"), "wb") as out:
                out.write(data)
        print(f"{folder}: {len(vectors)} vectors, {total} bytes")


def empty_folder(path):
    os.makedirs(path, exist_ok=True)
    for name in os.listdir(path):
        os.unlink(os.path.join(path, name))
    return path


def make_case_files(directory):
    for name, cases, _ in CASE_FILES:
        lines = list(case_lines(cases()))
        with open(os.path.join(directory, name), "w", encoding="utf-8", newline="\n") as out:
            out.writelines(lines)
        print(f"{name}: {len(lines)} cases")


def command_check(arguments):
    count = failures = 0
    for folder in FOLDERS:
        target = os.path.join(arguments.directory, folder)
        for name in sorted(os.listdir(target)):
            if not name.endswith(".vector"):
                continue
            with open(os.path.join(target, name), "rb") as file_object:
                vector = parse_vector(f"{folder}/{name}", file_object.read())
            count += 1
            for problem in check_vector(vector, arguments.verbose):
                failures += 1
                print(f"{folder}/{name}: {problem}")
    target = os.path.join(arguments.directory, MANIFEST_FOLDER)
    for name in sorted(os.listdir(target)):
        with open(os.path.join(target, name), "rb") as file_object:
            data = file_object.read()
        if not name.endswith(".manifest-vector"):
            continue
        count += 1
        for problem in check_manifest_vector(parse_manifest_vector(f"{MANIFEST_FOLDER}/{name}", data), arguments.verbose):
            failures += 1
            print(f"{MANIFEST_FOLDER}/{name}: {problem}")
    target = os.path.join(arguments.directory, PAGE_FOLDER)
    for name in sorted(os.listdir(target)):
        with open(os.path.join(target, name), "rb") as file_object:
            vector = parse_page_vector(f"{PAGE_FOLDER}/{name}", file_object.read())
        count += 1
        for problem in check_page_vector(vector, arguments.verbose):
            failures += 1
            print(f"{PAGE_FOLDER}/{name}: {problem}")
    for folder in DELTA_FOLDERS:
        target = os.path.join(arguments.directory, folder)
        for name in sorted(os.listdir(target)):
            with open(os.path.join(target, name), "rb") as file_object:
                vector = parse_delta_vector(f"{folder}/{name}", file_object.read(), os.path.join(arguments.directory, BASE_FOLDER))
            count += 1
            for problem in check_delta_vector(vector, arguments.verbose):
                failures += 1
                print(f"{folder}/{name}: {problem}")
    for name, _, holds in CASE_FILES:
        with open(os.path.join(arguments.directory, name), encoding="utf-8") as file_object:
            lines = file_object.read().splitlines()
        count += len(lines)
        for line in lines:
            if not check_case_line(line, holds):
                failures += 1
                print(f"{name}: {line}")
    print(f"{count} vectors, {failures} problems")
    if failures or not count:
        raise Problem("the vectors and this reader do not agree")
