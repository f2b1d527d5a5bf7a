"""The command that recomputes the known answers."""

from vectors.answers.comparison import Answers
from vectors.answers.deltas import answers_delta
from vectors.answers.manifests import answers_catalogue, answers_manifest, answers_rollout
from vectors.answers.packs import (
    answers_empty_tree, answers_keys, answers_layout, answers_one_segment, answers_opener, answers_recipients, answers_records, answers_salts, answers_small_tree,
    answers_tar_headers)
from vectors.cases.packs.vector import Vector, vector_bytes
from vectors.cases.samples import AK
from vectors.format.errors import Problem, Refused


def answers_vector(a):
    """§10.1: the example of Tests/Vectors/README.md."""
    vector = Vector("example", "ok", "a pack without files", b"pack", AK, None, [])
    a.equal("§10.1 head", vector_bytes(vector), ("expect: ok\nkey: " + AK.hex()
                                              + "\ncomment: a pack without files\n\npack").encode())


def command_known_answers(arguments):
    document = None
    if arguments.format:
        with open(arguments.format, encoding="utf-8") as file_object:
            document = file_object.read()
    a = Answers(document)
    for run in (answers_layout, answers_tar_headers, answers_one_segment, answers_salts, answers_keys, answers_recipients, answers_opener,
                answers_records, answers_empty_tree, answers_small_tree, answers_delta, answers_manifest, answers_catalogue, answers_rollout, answers_vector):
        try:
            run(a)
        except Refused as error:
            raise Problem(f"{run.__doc__.split(':')[0]}: {error}")
    print(f"{a.count} known answers agree")
