"""The commands that make and check the vectors."""

import os
from functools import partial

from vectors.cases.deltas.hostile import hostile_deltas
from vectors.cases.deltas.valid import valid_deltas
from vectors.cases.deltas.vector import base_names, check_delta_vector, delta_vector_bytes, parse_delta_vector
from vectors.cases.files import empty_folder, read_files, write_file
from vectors.cases.languages import LANGUAGES_FILE, check_language_line, language_lines
from vectors.cases.leads import check_lead_vector, lead_packs, lead_vector_bytes, leads, parse_lead_vector
from vectors.cases.lines import CASE_FILES, case_lines, check_case_line
from vectors.cases.manifests.catalogues import catalogue_manifests
from vectors.cases.manifests.damaged import damaged_manifests
from vectors.cases.manifests.keys import keys_manifests
from vectors.cases.manifests.rfc8785 import rfc8785_manifests
from vectors.cases.manifests.rollouts import rollout_manifests
from vectors.cases.manifests.signed import unsupported_manifests, untrusted_manifests, valid_manifests
from vectors.cases.manifests.vector import check_manifest_vector, manifest_vector_bytes, parse_manifest_vector
from vectors.cases.openers import check_opener_vector, opener_packs, opener_vector_bytes, openers, parse_opener_vector
from vectors.cases.packs.archives import archive_vectors
from vectors.cases.packs.hostile import hostile_payloads
from vectors.cases.packs.others import age_vectors, zstd_vectors
from vectors.cases.packs.refused import refused_vectors
from vectors.cases.packs.tars import hostile_tars
from vectors.cases.packs.valid import valid_vectors
from vectors.cases.packs.vector import check_vector, parse_vector, vector_bytes
from vectors.cases.rollouts import check_rollout_vector, parse_rollout_vector, rollout_vector_bytes, rollouts
from vectors.cases.shards.candidates import candidates_in_entries
from vectors.cases.shards.deltas import damaged_deltas_in_entries, valid_deltas_in_entries
from vectors.cases.shards.packs import damaged_shards, valid_shards
from vectors.cases.shards.streams import streams_in_entries
from vectors.cases.shards.vector import check_shard_vector, parse_shard_vector, shard_vector_bytes
from vectors.format.errors import Problem

# The folders of each kind of vectors, and what makes the vectors in each.
PACKS = {
    "valid": lambda: [*valid_vectors()],
    "refused-open": lambda: [*refused_vectors()],
    "hostile": lambda: [*hostile_payloads(), *hostile_tars()],
    "others": lambda: [*age_vectors(), *zstd_vectors(), *archive_vectors()],
}
MANIFESTS = {"manifest": lambda: [*valid_manifests(), *untrusted_manifests(), *damaged_manifests(), *catalogue_manifests(), *unsupported_manifests(),
                                  *rfc8785_manifests(), *keys_manifests(), *rollout_manifests()]}
SHARDS = {"shards": lambda: [*valid_shards(), *damaged_shards(), *valid_deltas_in_entries(), *damaged_deltas_in_entries(), *streams_in_entries(),
                             *candidates_in_entries()]}
DELTAS = {"deltas/valid": lambda: [*valid_deltas()], "deltas/hostile": lambda: [*hostile_deltas()]}
BASES = "deltas/bases"
LEADS, LEAD_PACKS = {"leads": lambda: [*leads()]}, "leads/packs"
OPENERS, OPENER_PACKS = {"openers": lambda: [*openers()]}, "openers/packs"
ROLLOUTS = {"rollouts": lambda: [*rollouts()]}


def command_make(arguments):
    place = arguments.directory
    for folder, make in PACKS.items():
        count, size = write_vectors(place, folder, ".vector", make(), vector_bytes)
        print(f"{folder}: {count} vectors, {size} bytes")
    for folder, make in MANIFESTS.items():
        count, _ = write_vectors(place, folder, ".manifest-vector", make(), manifest_vector_bytes)
        print(f"{folder}: {count} vectors")
    for folder, make in SHARDS.items():
        count, _ = write_vectors(place, folder, ".shard-vector", make(), shard_vector_bytes, has_other_files=False)
        print(f"{folder}: {count} vectors")
    for folder, make in ROLLOUTS.items():
        count, _ = write_vectors(place, folder, ".rollout-vector", make(), rollout_vector_bytes, has_other_files=False)
        print(f"{folder}: {count} vectors")
    make_deltas(place)
    make_with_packs(place, LEADS, ".lead-vector", lead_vector_bytes, LEAD_PACKS, lead_packs)
    make_with_packs(place, OPENERS, ".opener-vector", opener_vector_bytes, OPENER_PACKS, opener_packs)
    files = [(name, list(case_lines(cases()))) for name, cases, _ in CASE_FILES]
    for name, lines in (*files, (LANGUAGES_FILE, [line + "\n" for line in language_lines()])):
        write_file(place, name, "".join(lines).encode("utf-8"))
        print(f"{name}: {len(lines)} cases")


def make_deltas(place):
    made = {folder: make() for folder, make in DELTAS.items()}
    names = base_names([vector for vectors in made.values() for vector in vectors])
    empty_folder(os.path.join(place, BASES))
    for data, name in names.items():
        write_file(os.path.join(place, BASES), name, data)
    print(f"{BASES}: {len(names)} packs, {sum(map(len, names))} bytes")
    for folder, vectors in made.items():
        count, size = write_vectors(place, folder, ".delta-vector", vectors, partial(delta_vector_bytes, names=names), has_other_files=False)
        print(f"{folder}: {count} vectors, {size} bytes")


def make_with_packs(place, folders, suffix, encode, packs_folder, packs):
    """Vectors that are about packs, which have a folder of their own."""
    for folder, make in folders.items():
        count, size = write_vectors(place, folder, suffix, make(), encode)
        print(f"{folder}: {count} vectors, {size} bytes")
    empty_folder(os.path.join(place, packs_folder))
    for name, data in packs().items():
        write_file(os.path.join(place, packs_folder), name, data)


def write_vectors(place, folder, suffix, vectors, encode, has_other_files=True):
    """Writes vectors in the place of those that the folder has. Returns how many they are, and their size in bytes."""
    names = [vector.name for vector in vectors]
    assert len(set(names)) == len(names), [name for name in names if names.count(name) > 1]
    target = os.path.join(place, folder)
    empty_folder(target, suffix if has_other_files else "")
    return len(vectors), sum([write_file(target, vector.name + suffix, encode(vector)) for vector in vectors])


def command_check(arguments):
    place, verbose = arguments.directory, arguments.verbose
    parse_delta = partial(parse_delta_vector, packs=os.path.join(place, BASES))
    parse_lead = partial(parse_lead_vector, packs=os.path.join(place, LEAD_PACKS))
    parse_opener = partial(parse_opener_vector, packs=os.path.join(place, OPENER_PACKS))
    count = failures = 0
    # Folders of shards, rollouts and deltas have no other files, so there each is read.
    for kind, suffix, parse, check in (
            (PACKS, ".vector", parse_vector, check_vector), (MANIFESTS, ".manifest-vector", parse_manifest_vector, check_manifest_vector),
            (SHARDS, "", parse_shard_vector, check_shard_vector), (ROLLOUTS, "", parse_rollout_vector, check_rollout_vector),
            (DELTAS, "", parse_delta, check_delta_vector),
            (LEADS, ".lead-vector", parse_lead, check_lead_vector), (OPENERS, ".opener-vector", parse_opener, check_opener_vector)):
        for folder in kind:
            for name, data in read_files(os.path.join(place, folder), suffix):
                count += 1
                for problem in check(parse(f"{folder}/{name}", data), verbose):
                    failures += 1
                    print(f"{folder}/{name}: {problem}")
    checks = [(name, partial(check_case_line, holds=holds)) for name, _, holds in CASE_FILES]
    for name, check in (*checks, (LANGUAGES_FILE, check_language_line)):
        with open(os.path.join(place, name), encoding="utf-8") as file_object:
            lines = file_object.read().splitlines()
        count += len(lines)
        for line in lines:
            if not check(line):
                failures += 1
                print(f"{name}: {line}")
    print(f"{count} vectors, {failures} problems")
    if failures or not count:
        raise Problem("the vectors and this reader do not agree")
