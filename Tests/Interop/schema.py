#!/usr/bin/env python3
"""Holds the JSON Schema that packer prints against the configurations of Tests/Configurations, with other people's readers.

usage: schema.py (the environment names the tool in PACKER)
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
import yaml

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "Configurations"


def cases(name):
    """The name of each case, what the schema is to say of it, and its text."""
    found, in_text = [], False
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("== ") and line.rstrip().endswith(" =="):
            found.append([line.strip()[3:-3], None, ""])
            in_text = False
        elif in_text:
            found[-1][2] += line
        elif line.startswith("schema: "):
            found[-1][1] = line.split()[1]
        elif line.rstrip() == "--":
            in_text = True
    return found


class Loader(yaml.SafeLoader):
    """Reads times as texts, as YAML 1.2 has them, and the editors that check files against a schema."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in forms if tag != "tag:yaml.org,2002:timestamp"]
    for first, forms in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def judge(validator, text):
    try:
        value = yaml.load(text, Loader=Loader)
    except yaml.YAMLError as error:
        return "unreadable", [str(error)]
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}" for error in validator.iter_errors(value)]
    return ("refuses" if errors else "accepts"), errors


def main():
    packer = os.environ.get("PACKER")
    if not packer:
        sys.exit("PACKER must name the tool")
    printed = subprocess.run([packer, "init", "--schema"], capture_output=True, check=True).stdout
    schema = json.loads(printed)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)

    checked, wrong = 0, []
    for name in ("accepted.txt", "refused.txt"):
        for title, wanted, text in cases(name):
            checked += 1
            found, errors = judge(validator, text)
            if found != wanted:
                wrong.append(f"{name}: {title}: the schema {found}, and '{wanted}' was expected {errors}")
    # What is told as an example must be one.
    for path, value, key in examples(schema):
        checked += 1
        for error in jsonschema.Draft202012Validator(value).iter_errors(key):
            wrong.append(f"{path}: {error.message}")
    # What packer proposes is what it takes.
    with tempfile.TemporaryDirectory() as folder:
        proposal = pathlib.Path(folder) / "packer.yml"
        subprocess.run([packer, "init", FOLDER.parents[1] / "Examples", "-o", proposal, "-q"], check=True, stdout=subprocess.DEVNULL)
        checked += 1
        found, errors = judge(validator, proposal.read_text(encoding="utf-8"))
        if found != "accepts":
            wrong.append(f"packer init: the schema {found} {errors}")
    for line in wrong:
        print(line)
    print(f"schema: {checked} cases, {len(wrong)} wrong")
    sys.exit(1 if wrong or checked < 70 else 0)


def examples(schema, path=""):
    """Every default and example, with the schema of its key."""
    for name, value in schema.get("properties", {}).items():
        place = f"{path}/{name}"
        for example in value.get("examples", []) + ([value["default"]] if "default" in value else []):
            yield place, value, example
        for inner in [value, value.get("items", {}), *value.get("anyOf", [])]:
            if isinstance(inner, dict):
                yield from examples(inner, place)


if __name__ == "__main__":
    main()
