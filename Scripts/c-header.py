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
// Written by Scripts/c-header.py.
{rules}#ifndef {guard}
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
# What a header says once for all its functions.
RULES = """//
// Status: a function returns 0 if it is done. Otherwise packer_error_message and its neighbours say why, for the thread that called it. No function throws or
// ends the process, whatever it is given; only memory that is not the caller's is beyond it.
//
// Handles: packs, servers, responses, libraries and requests are numbers, never 0. packer_close closes each of them, once. A handle that is closed, or of
// something else, is refused with status 64, for ever.
//
// Memory: a result is written only with status 0, and belongs to the caller. What a function with `copy` in its name hands over has to be freed, with
// packer_free; nothing else has. What a pointer leads to is not used any more when the function has returned. A pointer that is NULL is refused with status
// 64, unless it says that it may be NULL.
//
// Texts: UTF-8 with a zero at their end.
//
// Threads: every function may be called from any thread, also while others use the same handle. 128 KiB of stack are enough. After a fork, the child may
// go on to read packs, but not call what waits.
//
// Functions of the app get their context as it was given, NULL too. They have to return: no longjmp, no exception. They may call every function that does not
// wait for other threads; those that do are refused with status 64. They are packer_verify, packer_unpack, packer_wait with a time other than 0, and those
// that are called packer_library_ but ensure, ensure_tags, refresh, answer and pack.
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


def wrapped(text):
    """Returns a text with its comments in lines that are no longer than those of the sources, and each parameter in lines of its own."""

    def filled(block):
        start = re.match(r" *///", block.group()).group()
        words = re.sub(r"\s*\n *///", "", block.group().strip("\n")).strip()
        parts = re.split(r" (?=\\param)", words)
        return "".join(
            "\n".join(textwrap.wrap(part, 150, initial_indent="" if part.startswith("///") else start + " ", subsequent_indent=start + " ",
                                    break_long_words=False, break_on_hyphens=False)).replace("///", start, 1 if part.startswith("///") else 0) + "\n"
            for part in parts)

    return re.sub(r"(?:^ *///.*\n)+", filled, text, flags=re.M)


# What a function of the app is, in Swift and in C.
CALLBACK = re.compile(r"((?:^///.*\n)+)public typealias (\w+)Function =\s+@convention\(c\) \(([^)]*)\)\s+-> (\w+)", re.M)
TYPES = {
    "UnsafeMutableRawPointer?": "void *", "UnsafePointer<CChar>": "const char *", "UnsafePointer<UInt8>": "const uint8_t *",
    "UnsafeMutablePointer<UInt8>": "uint8_t *", "PackerKind": "PackerKind ", "UInt64": "uint64_t ", "Int64": "int64_t", "Int32": "int32_t", "Void": "void",
}


def snake(text):
    """Returns names as C has them: key_size for keySize."""
    return re.sub(r"(?<![\w.])[a-z]+(?:[A-Z][a-z]*)+\b(?!`)", lambda name: re.sub(r"(?<=[a-z])[A-Z]+", lambda part: "_" + part.group().lower(), name.group()), text)


def callbacks(source):
    """Returns the types of the functions of the app that a source declares, by name: what stands in the header, and the type as the compiler writes it."""
    found = {}
    for comment, name, parameters, result in CALLBACK.findall(source):
        parts = [re.fullmatch(r"\s*_ (\w+): (\S+)\s*", part).groups() for part in parameters.split(",")]
        kind = f"{TYPES[result]} (*{{}})({', '.join(TYPES[kind].rstrip() for _, kind in parts)})"
        text = ", ".join(snake(TYPES[kind] + part) for part, kind in parts)
        found[f"Packer{name}"] = (wrapped(comment) + f"typedef {TYPES[result]} (*Packer{name})({text});", kind)
    return found


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
        enum = re.search(r'typedef SWIFT_ENUM_NAMED\((\w+), (\w+), "\w+", \w+\) \{\n(.*?)\n\};', part, re.S)
        if enum:
            kind, name, cases = enum.groups()
            cases = re.sub(r"^///", "  ///", cases, flags=re.M)
            part = part[: enum.start()] + f"typedef {kind} {name};\nenum {{\n{cases.rstrip(',')}\n}};"
        else:
            name = re.search(r"\b(packer_\w+)\(", part).group(1)
            start, declaration = part.rpartition("\n")[::2]
            part = f"{re.sub(r'(?<=param )[a-zA-Z]+', lambda name: snake(name.group()), start)}\n{snake(declaration)}"
        found[name] = wrapped(part)
    return found


def write(modules, directory):
    directory.mkdir(parents=True, exist_ok=True)
    apart = {}
    for target, (file, sources) in HEADERS.items():
        found = declarations(emitted(target, modules))
        texts = [(ROOT / f"Sources/{target}/{source}.swift").read_text("utf-8") for source in sources]
        order = [name for text in texts for name in re.findall(r"@c\((\w+)\)", text)]
        assert sorted(order) == sorted(found), set(order) ^ set(found)
        made = {name: pair for text in texts for name, pair in callbacks(text).items()}
        apart |= made
        for name in order:
            for kind, (_, written) in apart.items():
                found[name] = found[name].replace(written.format(kind.removeprefix("Packer").lower()), f"{kind} {kind.removeprefix('Packer').lower()}")
            assert "(*" not in found[name], found[name]
        # The types that a function of the app has come first, and then those functions.
        enums = sum(name.startswith("Packer") for name in order)
        found |= {name: text for name, (text, _) in made.items()}
        order[enums:enums] = list(made)
        include = '\n#include "packer.h"\n' if target == "PackCLibrary" else ""
        rules = RULES if target == "PackC" else ""
        text = START.format(title=TITLES[target], rules=rules, guard=file.upper().replace(".", "_").replace("-", "_"), include=include)
        (directory / file).write_text(text + "".join(f"{found[name]}\n\n" for name in order) + END, encoding="utf-8")


def symbols(directory):
    """Returns the functions and the numbers of the headers, one in a line."""
    lines = []
    for file, _ in HEADERS.values():
        text = re.sub(r"//.*", "", (directory / file).read_text(encoding="utf-8"))
        lines += re.findall(r"^[\w *]+\bpacker_\w+\(.*\);$", text, re.M)
        lines += re.findall(r"^typedef .*;$", text, re.M)
        lines += [f"{name} = {number}" for name, number in re.findall(r"^  (\w+) = (\d+)", text, re.M)]
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
