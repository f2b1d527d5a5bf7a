#!/usr/bin/env python3
"""Writes the headers of the C interface: the declarations that the compiler writes for PackC and PackCLibrary, without what only Swift and Clang need.

    Scripts/c-header.py MODULES DIRECTORY    writes packer.h and packer-library.h; MODULES has the modules of a build
    Scripts/c-header.py check DIRECTORY      compares them with Tests/CInterface/symbols.txt, which may only grow
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[1]
SYMBOLS = ROOT / "Tests/CInterface/symbols.txt"

# Each target, and its header. The order of the files is that of the header.
HEADERS = {
    "PackC": ("packer.h", ["PackerStatus", "PackHandle", "Errors", "Reading", "Serving"]),
    "PackCLibrary": ("packer-library.h", ["LibraryHandle", "Library"]),
}

START = """// {title}
//
// Written by Scripts/c-header.py. Handles are never 0. Texts are UTF-8. All functions may be called from any thread, and none throws, ends the process or
// keeps what a pointer leads to after it returned. A result is written only with status 0.
#ifndef {guard}
#define {guard}

#include <stdint.h>
{include}
#ifdef __cplusplus
extern "C" {{
#endif

"""
END = """#ifdef __cplusplus
}  // extern "C"
#endif

#endif
"""
TITLES = {"PackC": "Reads packs: everything that libPackC has.", "PackCLibrary": "Fetches and installs packs: what libPackCLibrary has beside packer.h."}


def package():
    """Returns what SwiftPM calls the package: after its directory, as an identifier."""
    name = re.sub(r"\W", "_", ROOT.name.lower())
    return re.sub(r"^\d", "_", name)


def emitted(target, modules):
    """Returns the header that the compiler writes."""
    features = ["ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault"]
    maps = [f"-fmodule-map-file={path}" for path in sorted((ROOT / "Sources").glob("C*/module.modulemap"))]
    with tempfile.TemporaryDirectory() as place:
        header = pathlib.Path(place) / "header.h"
        command = ["swiftc", "-typecheck", "-swift-version", "6", "-module-name", target, "-package-name", package(), "-I", modules]
        command += [part for feature in features for part in ("-enable-upcoming-feature", feature)]
        command += [part for path in maps for part in ("-Xcc", path)]
        command += ["-emit-clang-header-path", str(header)] + [str(path) for path in sorted((ROOT / "Sources" / target).glob("*.swift"))]
        subprocess.run(command, check=True)
        return header.read_text(encoding="utf-8")


def wrapped(line):
    """Returns a line of a comment in lines that are no longer than those of the sources."""
    start = re.match(r" *///", line)
    if not start:
        return line
    return "\n".join(textwrap.wrap(line, 150, subsequent_indent=start.group() + " ", break_long_words=False, break_on_hyphens=False))


def declarations(text):
    """Returns the declarations with their comments, by name."""
    body = re.search(r'extern "C" \{\n#endif\n(.*?)\n#if defined\(__cplusplus\)\n\} // extern "C"', text, re.S).group(1)
    found = {}
    for part in re.split(r"\n\n(?=///|SWIFT_EXTERN|typedef)", body.strip()):
        part = re.sub(r"</?code>", "`", part).replace("’", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
        part = re.sub(r"\n///(?=\n)", "", part)
        part = re.sub(r" _N(ullable|onnull)\b", "", part)
        part = re.sub(r" SWIFT_NOEXCEPT| SWIFT_WARN_UNUSED_RESULT|SWIFT_ENUM_TAG |SWIFT_EXTERN ", "", part)
        part = re.sub(r"\b(char|uint8_t) const \*", r"const \1 *", part)
        part = re.sub(r"\* (?=[*\w]|const \*)", "*", part.replace("* const *", "*const *"))
        part = re.sub(r"^SWIFT_ENUM_FWD_DECL\(.*\n", "", part)
        part = "\n".join(wrapped(line) for line in part.splitlines())
        enum = re.search(r'typedef SWIFT_ENUM_NAMED\((\w+), (\w+), "\w+", \w+\) \{\n(.*?)\n\};', part, re.S)
        if enum:
            kind, name, cases = enum.groups()
            cases = re.sub(r"^///", "  ///", cases, flags=re.M)
            part = part[: enum.start()] + f"typedef {kind} {name};\nenum {{\n{cases}\n}};"
        else:
            name = re.search(r"\b(packer_\w+)\(", part).group(1)
        found[name] = part
    return found


def write(modules, directory):
    directory.mkdir(parents=True, exist_ok=True)
    for target, (file, sources) in HEADERS.items():
        found = declarations(emitted(target, modules))
        order = [name for source in sources for name in re.findall(r"@c\((\w+)\)", (ROOT / f"Sources/{target}/{source}.swift").read_text("utf-8"))]
        assert sorted(order) == sorted(found), set(order) ^ set(found)
        include = '\n#include "packer.h"\n' if target == "PackCLibrary" else ""
        text = START.format(title=TITLES[target], guard=file.upper().replace(".", "_").replace("-", "_"), include=include)
        (directory / file).write_text(text + "".join(f"{found[name]}\n\n" for name in order) + END, encoding="utf-8")


def symbols(directory):
    """Returns the functions and the numbers of the headers, one in a line."""
    lines = []
    for file, _ in HEADERS.values():
        text = re.sub(r"//.*", "", (directory / file).read_text(encoding="utf-8"))
        lines += re.findall(r"^[\w *]+\bpacker_\w+\(.*\);$", text, re.M)
        lines += re.findall(r"^typedef .*;$", text, re.M)
        lines += [f"{name} = {number}" for name, number in re.findall(r"^  (\w+) = (\d+),", text, re.M)]
    return lines


def check(directory):
    known = SYMBOLS.read_text(encoding="utf-8").splitlines()
    now = symbols(directory)
    failed = False
    for line in known:
        if line not in now:
            failed = True
            print(f"error: the C interface has changed or lost: {line}", file=sys.stderr)
    for line in now:
        if line not in known:
            failed = True
            print(f"error: {SYMBOLS.relative_to(ROOT)} does not have: {line}", file=sys.stderr)
            print("hint: add the line, and raise packer_version if it is released", file=sys.stderr)
    return 1 if failed else 0


def main():
    if sys.argv[1:2] == ["check"]:
        return check(pathlib.Path(sys.argv[2]))
    modules, directory = sys.argv[1:]
    write(modules, pathlib.Path(directory))
    return 0


if __name__ == "__main__":
    sys.exit(main())
