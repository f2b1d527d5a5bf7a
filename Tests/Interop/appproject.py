#!/usr/bin/env python3
"""PyYAML on the project.yml files that `packer init --app` makes, and on that of the example, against XcodeGen's documented schema.

Every key is one that Docs/ProjectSpec.md of XcodeGen 2.45 describes, with a value of the described type, and every path leads to a file. The command is
named by the variable PACKER.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))

SETTINGS = {"base": dict, "configs": dict, "groups": list}
TARGET = {
    "type": str, "platform": str, "deploymentTarget": str, "sources": list, "settings": dict, "dependencies": list, "scheme": dict,
    "info": dict, "entitlements": dict,
}
SPEC = {"name": str, "options": dict, "settings": dict, "packages": dict, "targets": dict, "schemes": dict}
SOURCE = {"path": str, "type": str, "buildPhase": str, "optional": bool, "excludes": list}
DEPENDENCY = {"target": str, "package": str, "product": str, "embed": bool}
PACKAGE = {"path": str, "url": str, "from": str}
SCHEME = {"environmentVariables": dict, "configVariants": list, "testTargets": list}
OPTIONS = {"minimumXcodeGenVersion": str, "deploymentTarget": dict}
WORDS = {"type": {"application", "extensionkit-extension", "bundle.unit-test"}, "platform": {"iOS"}}

CONFIGURATIONS = {
    "essential": "packs: [{id: core, root: core, delivery: essential}, {id: game, root: game, install: packed}]",
    "on-demand": "perPackKeys: true\ndefaults: {delivery: onDemand}\npacks: [{id: game, root: game}]",
    "managed": "hosting: managed\npacks: [{id: core, root: core}]",
    "apple": "hosting: apple\npacks: [{id: core, root: core}]",
}


def problems(path, later=()):
    """What is wrong with a project.yml, line by line. `later` are the paths that a script makes first."""
    spec = yaml.safe_load(path.read_text())
    found = []

    def check(value, shape, place):
        for key, part in value.items():
            if key not in shape:
                found.append(f"{place}.{key} is not documented")
            elif not isinstance(part, shape[key]):
                found.append(f"{place}.{key} is {part!r}, not of the type {shape[key].__name__}")

    def exists(name, place):
        if not (path.parent / name).exists():
            found.append(f"{place}: {name} does not exist")

    check(spec, SPEC, "spec")
    check(spec.get("options", {}), OPTIONS, "options")
    for name, package in spec.get("packages", {}).items():
        check(package, PACKAGE, name)
        if "path" in package:
            exists(f"{package['path']}/Package.swift", name)
    for name, target in spec["targets"].items():
        check(target, TARGET, name)
        for key, words in WORDS.items():
            if target[key] not in words:
                found.append(f"{name}.{key} is '{target[key]}'")
        for source in target["sources"]:
            if isinstance(source, str):
                source = {"path": source}
            check(source, SOURCE, f"{name}.sources")
            if not source.get("optional") and source["path"] not in later:
                exists(source["path"], name)
        for dependency in target["dependencies"] if "dependencies" in target else []:
            check(dependency, DEPENDENCY, f"{name}.dependencies")
            if dependency.get("target", name) not in spec["targets"] or dependency.get("package", "packer") not in spec["packages"]:
                found.append(f"{name} depends on {dependency}, which is not in the project")
            if "product" in dependency and f'.library(name: "{dependency["product"]}"' not in (ROOT / "Package.swift").read_text():
                found.append(f"{name} depends on {dependency}, which is no product of the package")
        check(target.get("scheme", {}), SCHEME, f"{name}.scheme")
        if "configVariants" not in target.get("scheme", {"configVariants": []}):
            found.append(f"{name}.scheme lacks configVariants, which is required")
        check(target["settings"], SETTINGS, f"{name}.settings")
        # Xcode makes that of tests, which have no entitlements.
        for key in ("INFOPLIST_FILE", "CODE_SIGN_ENTITLEMENTS") if target["type"] != "bundle.unit-test" else ():
            exists(target["settings"]["base"][key], name)
    return found


def main():
    failures = []
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PACKER_")}
    with tempfile.TemporaryDirectory(prefix="packer-apps.") as name:
        place = pathlib.Path(name)
        for folder in ("core", "game"):
            (place / folder).mkdir()
            (place / folder / "index.html").write_text("<p>Hello</p>")

        def run(*arguments):
            subprocess.run([PACKER, *arguments], cwd=place, env=environment, check=True, stdout=subprocess.DEVNULL)

        run("key", "new", "-o", "key", "-q")
        run("key", "new", "--signing", "-o", "sign", "-q")
        head = (
            "app: {bundleID: com.example.arcade, group: group.com.example.arcade}\nkey: file:key\nsignKey: file:sign\n"
            "serve: {baseURL: https://cdn.example.com/, manifestURL: https://cdn.example.com/assets.json}\n")
        for title, text in CONFIGURATIONS.items():
            (place / "packer.yml").write_text(head + text + "\n")
            run("build", "--quiet", "-o", f"dist-{title}")
            run("init", "--app", title, "--dist", f"dist-{title}", "--package", str(ROOT))
            failures += [f"{title}: {problem}" for problem in problems(place / title / "project.yml")]
        # Mistakes are found.
        spec = place / "essential/project.yml"
        text = spec.read_text()
        for right, wrong in (("buildPhase:", "phase:"), ("- Shared", "- Common"), ("platform: iOS", "platform: iPhone"), ("target: Down", "target: Up")):
            spec.write_text(text.replace(right, wrong, 1))
            if text.count(right) == 0 or not problems(spec):
                failures.append(f"'{wrong}' instead of '{right}' is not found")
    example = ROOT / "Examples/iOSApp/project.yml"
    if example.exists():
        failures += [f"Examples/iOSApp: {problem}" for problem in problems(example, later=["dist"])]
    for failure in failures:
        print(f"wrong: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
