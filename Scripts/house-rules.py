#!/usr/bin/env python3
"""Checks the rules that the compiler and the formatter do not check, in all tracked files. Prints each offence as `path:line: …`."""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import unicodedata
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]

TOP_LEVEL = {"Package.swift", "Sources", "Tests", "Examples", "Scripts", "README.md", "Documentation", "CHANGELOG.md", "LICENSE"}
LARGEST_FILE = 2_000_000

# All that these targets may reach, by their own dependencies and those of others. Package.swift says which arrows there are.
REACH = {
    # Pure values.
    "PackFormat": "",
    # A downloader extension links this target, so it has no zstd.
    "PackDelivery": "PackBase PackCrypto PackFormat PackManifest",
    # An app that only reads packs cannot open deltas, and should not carry them, or the code that writes.
    "PackReading": "PackBase PackCrypto PackFormat",
    # The same app in another language.
    "PackC": "PackBase PackCrypto PackFormat PackReading PackServing",
}

# The modules of Sources. One file of each target imports them.
OURS = {path.name for path in (ROOT / "Sources").iterdir() if path.name.startswith("Pack")}

# The targets that no product for apps may reach.
PACKING_SIDE = {"PackProject", "PackBuild", "PackGate", "PackPublish", "PackServer", "PackSimulator", "packer"}

# External libraries, and the folder name that may import each.
LIBRARY_FOLDERS = {"CLibArchive": "LibArchive", "COpenSSL": "OpenSSL", "CLibSSL": "OpenSSL", "CZstd": "Zstd", "libzstd": "Zstd", "CryptoKit": "CryptoKit", "Crypto": "CryptoKit", "CLibYAML": "LibYAML", "CVector": "Vector", "NIOCore": "NIO", "NIOPosix": "NIO", "NIOHTTP1": "NIO", "NIOEmbedded": "NIO", "OSLog": "OSLog"}

# The files on the client side that may import Foundation: only if it is the platform's own, or behind the trait that tests use.
FOUNDATION_ALLOWED = {
    "Sources/PackFormat/EntryPath.swift",  # Darwin only: Unicode normalisation
    "Sources/PackBase/Files/Apple/ImportantCapacity.swift",  # Apple only: the space that includes what the system can purge
    "Sources/PackBase/Files/Apple/DataProtection.swift",  # Apple only: the protection of files while the device is locked
    "Sources/PackBase/Files/Apple/ExpiringActivity.swift",  # Apple only: what keeps the process from being suspended
    "Sources/PackStore/Apple/BackupExclusion.swift",  # Apple only: the resource value that keeps a directory out of backups
    "Sources/PackCrypto/CryptoKit/CryptoKitBackend.swift",  # CryptoKit's interface takes Foundation's protocols
    "Sources/PackManifest/Apple/DeviceProfile+Current.swift",  # Darwin only: the languages of the user
    "Sources/PackRemote/Materializer+JSON.swift",  # the platform's own decoder, without the rest of Foundation if possible
    "Sources/PackBuild/PropertyList/PropertyList+Foundation.swift",  # Darwin only: other platforms use the part of Foundation without ICU
    "Sources/PackServing/WebKit/PackSchemeHandler.swift",  # WebKit only: its interface takes Foundation's types
    "Sources/PackServing/WebKit/PackWebPage.swift",  # WebKit only: addresses of pages
}

# Files with code as text, for projects that the tool makes: what the text imports, the tool does not.
CODE_TEMPLATES = {"Sources/PackBuild/AppProject/AppValues+Code.swift"}

# The modules that no target of `packer` may import: on Linux they include ICU's tables, which would be two thirds of the binary.
FULL_FOUNDATION = ("Foundation", "FoundationInternationalization", "FoundationNetworking", "FoundationXML")

# Folders with code only on Apple platforms. There Foundation is part of the system, and BackgroundAssets uses its types.
APPLE_FOLDERS = ("Sources/PackBackground/", "Sources/PackApp/Background/")
APPLE_ONLY = "#if canImport(BackgroundAssets)\n"

# The only folder that downloads with the system's client. On Linux that client needs about fifty shared libraries, none of which can be linked
# statically, so no target of `packer` may import it.
NETWORK_FOLDER = "Sources/PackApp/Transport/"

# The targets that apps use: the interface of the first has Foundation's types for data, files and addresses, and the other one hands it on to C.
APP_TARGETS = {"PackApp", "PackCLibrary"}

# A command or an option of the tool. Messages of client code must not contain them, because players have no shell.
COMMAND = re.compile(r"\bpacker (?!-)[a-z]|(?<![\w-])--[a-z]|packer\.lock|packer\.yml")

# Types that need newer systems than iOS 16.1 and macOS 13, which the client side supports.
TOO_NEW = re.compile(r"\b(Mutex|Atomic|InlineArray|UTF8Span)\s*[<(]|\bimport Synchronization\b")

SYSTEM_MODULES = {"Glibc", "Musl", "Darwin", "CLinux", "Bionic"}

# The system's file functions. Only one folder calls them.
FILES_FOLDER = "Sources/PackBase/Files/"
FILE_CALLS = re.compile(
    r"(?<![\w.`])(?:Glibc\.|Darwin\.|Musl\.)?"
    r"(open|openat|creat|close|read|pread|readv|write|pwrite|writev|lseek|fsync|fdatasync|ftruncate|truncate|fallocate|rename|renameat|renameat2|"
    r"unlink|unlinkat|mkdir|mkdirat|rmdir|link|linkat|symlink|symlinkat|readlink|readlinkat|stat|fstat|lstat|fstatat|opendir|fdopendir|readdir|"
    r"closedir|chmod|fchmod|fchmodat|chown|flock|mkstemp|mkdtemp|fopen|fread|fwrite|fclose|realpath|utimensat|futimens|statvfs|fstatvfs|access|faccessat)\(")

# Allowed calls outside that folder, by file.
FILE_CALLS_ALLOWED = {
    "Sources/packer/Terminal/StandardStreams.swift": {"open"},  # /dev/null instead of a closed standard stream
}

# The files that may use Foundation's file functions.
FILE_MANAGER_ALLOWED = {
    "Sources/PackBase/Files/Apple/DataProtection.swift",  # the only documented way to set the class
    "Sources/PackBackground/SharedState+Group.swift",  # Apple only: the path of the container of an app group
    "Sources/PackApp/Apple/PackLibrary+Group.swift",  # the same
}

# Words that mark unfinished work, written in two parts so that this file does not contain them.
UNFINISHED = re.compile(r"\b(" + "|".join(("TO" "DO", "FIX" "ME", "X" "XX", "HA" "CK")) + r")\b")

# Phrases that are not plain English, to be avoided.
DIALECT = re.compile(
    r"for who\b|tells? the whole|\bdear\b|\bnobody\b|\bwhoever\b|what an? \w+ \w+ deserves|has an app version any more|"
    r"where chance begins|let warnings count|for lack of: |\bvouch|which is no (?!longer|more)\w|\balone\b|\bnil where\b", re.I)

PUBLIC = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:public|open)\s+"
    r"(?:(?:static|final|mutating|nonmutating|borrowing|consuming|indirect|convenience|required|override|nonisolated|unsafe|class)\s+)*"
    r"(func|var|let|init|subscript|struct|class|enum|actor|protocol|typealias|associatedtype|macro)\b(.*)")

# Members that are documented by a protocol of the standard library.
DOCUMENTED_ELSEWHERE = re.compile(r"^\s*(?:description\b|debugDescription\b|hash\(into|==|<|rawValue\b|encode\(to)")

offences = []


SUITE = re.compile(r'@Suite\("[^\n]*\)\n')
ASYNCHRONOUS_TEST = re.compile(r"@Test\b(?:(?!@Test\b).)*?\n\s*func \w+\([^{]*\basync\b", re.DOTALL)


def offend(path, line, message):
    offences.append(f"{path}:{line}: {message}")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name for name in listed.decode().split("\0") if name and (ROOT / name).exists()]


def check_tree(files):
    for name in files:
        top = name.split("/")[0]
        if not top.startswith(".") and top not in TOP_LEVEL:
            offend(name, 1, f"'{top}' is not allowed at the top level")
        size = (ROOT / name).stat().st_size
        if size > LARGEST_FILE:
            offend(name, 1, f"{size} bytes, more than {LARGEST_FILE}")


def imports(text):
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"^\s*(?:(?:@\w+(?:\([^)]*\))?|public|package|internal|fileprivate|private|unsafe)\s+)*import\s+(?:\w+\s+)?(\w+)", line)
        if match:
            yield number, match.group(1)


class Package:
    """The targets and products of Package.swift."""

    def __init__(self):
        # With the plugin, which is not in the project's own checks.
        environment = {name: value for name, value in os.environ.items() if name != "PACKER_WARNINGS_AS_ERRORS"}
        dumped = json.loads(
            subprocess.run(["swift", "package", "dump-package"], cwd=ROOT, capture_output=True, check=True, env=environment).stdout)
        self.targets = {target["name"]: target for target in dumped["targets"]}
        self.libraries = {name for product in dumped["products"] if "library" in product["type"] for name in product["targets"]}

    def dependencies(self, name):
        """Returns the targets of this package that a target depends on directly."""
        named = (dependency[kind][0] for dependency in self.targets[name]["dependencies"] for kind in ("byName", "target") if kind in dependency)
        return {other for other in named if other in self.targets}

    def closure(self, roots):
        """Returns the given targets and all targets that they depend on."""
        found, waiting = set(), list(roots)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting += self.dependencies(name)
        return found

    def folder(self, name):
        return self.targets[name].get("path") or f"Sources/{name}"

    def sources(self):
        """Returns the targets below Sources that have Swift code."""
        return {name for name, target in self.targets.items() if target["type"] not in ("system", "test") and self.folder(name).startswith("Sources/")}


def check_graph(package):
    for name, allowed in REACH.items():
        if more := package.closure([name]) & package.sources() - {name, *allowed.split()}:
            offend("Package.swift", 1, f"{name} reaches {' '.join(sorted(more))}")
    for product in sorted(package.libraries):
        if wrong := package.closure([product]) & PACKING_SIDE:
            offend("Package.swift", 1, f"{product} is a product for apps, and reaches {' '.join(sorted(wrong))}")
    for name in sorted((PACKING_SIDE | REACH.keys()) - package.sources()):
        offend("Scripts/house-rules.py", 1, f"there is no target {name}")


TYPE = re.compile(
    r"^(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|final|indirect|nonisolated)\s+)*(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)", re.M)


def check_folders(target, texts):
    """Checks that folders of a target do not depend on each other in a cycle, by the types that files declare and use."""
    codes = {name: "\n".join(line for _, line in code_lines(text)) for name, text in texts.items()}
    homes = {}
    for name, code in codes.items():
        for declared in TYPE.findall(code):
            homes.setdefault(declared, set()).add(str(pathlib.PurePath(name).parent))
    arrows = {}
    for name, code in codes.items():
        folder = str(pathlib.PurePath(name).parent)
        for word in set(re.findall(r"\b[A-Z]\w+", code)):
            other = homes.get(word, set())
            if len(other) == 1 and folder not in other:
                arrows.setdefault(folder, {}).setdefault(next(iter(other)), (name, word))
    for start, others in arrows.items():
        for other, (name, word) in others.items():
            seen, waiting = set(), [other]
            while waiting:
                place = waiting.pop()
                if place not in seen:
                    seen.add(place)
                    waiting += arrows.get(place, {})
            if start in seen:
                offend(name, 1, f"a dependency cycle between folders of {target}: this file uses {word} of {other}, which depends on {start}")


def check_foundation(name, text):
    """Checks that full Foundation is imported only in the files listed above, and not on Linux."""
    conditions = []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.strip()
        if words.startswith("#if "):
            conditions.append([words[4:]])
        elif words.startswith(("#elseif", "#else")):
            conditions[-1].append(words.removeprefix("#elseif"))
        elif words.startswith("#endif"):
            conditions.pop()
        for _, module in imports(line):
            if module not in FULL_FOUNDATION:
                continue
            # Linux has FoundationEssentials, and none of Apple's modules.
            is_apple = any(
                re.fullmatch(r"canImport\((Darwin|CryptoKit|WebKit|Security)\).*", branches[-1])
                or branches[-1] == "#else" and branches[0] == "canImport(FoundationEssentials)"
                for branches in conditions)
            if (name not in FOUNDATION_ALLOWED or not is_apple) and name not in CODE_TEMPLATES:
                offend(name, number, f"packer links this file, and it imports {module}")


def code_lines(text):
    """Yields the lines without comments and without the content of string literals, except interpolations in those of several lines."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.count('"""') % 2 == 1:
            inside = not inside
        elif inside:
            line = " ".join(re.findall(r"\\\((.*)\)", line))
        line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
        yield number, line.split("//")[0]


def literals(text):
    """Yields the string literals with their line numbers, including interpolations. A multi-line literal is one literal per line."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.count('"""') % 2 == 1:
            inside = not inside
        elif inside:
            yield number, line.strip()
        elif not line.strip().startswith("//"):
            for literal in re.findall(r'"((?:\\.|[^"\\])*)"', line):
                yield number, literal


def check_source(name, text, client):
    target, *folders = name.split("/")[1:-1]
    imported = dict((module, number) for number, module in imports(text))

    for module, number in imported.items():
        if module in OURS and not name.endswith("/Exports.swift") and name not in CODE_TEMPLATES:
            offend(name, number, f"{module} is imported outside Sources/{target}/Exports.swift")
    for module, folder in LIBRARY_FOLDERS.items():
        if module in imported and folder not in folders:
            offend(name, imported[module], f"{module} is imported outside the folder {folder}")

    if "FoundationNetworking" in imported and not name.startswith(NETWORK_FOLDER):
        offend(name, imported["FoundationNetworking"], f"{target} imports FoundationNetworking")

    if target in client:
        for module, number in imported.items():
            if module.startswith("Foundation") and name not in FOUNDATION_ALLOWED and target not in APP_TARGETS and not name.startswith(APPLE_FOLDERS):
                offend(name, number, f"{target} is client side and imports {module}")
            if module in ("CLibArchive", "CLibYAML", "CVector", "ArgumentParser"):
                offend(name, number, f"{target} is client side and imports {module}, which only the packing side may import")
        for number, literal in literals(text):
            if COMMAND.search(literal):
                offend(name, number, f"{target} is client side and names a command of the tool: {literal}")
        for number, line in code_lines(text):
            if TOO_NEW.search(line):
                offend(name, number, f"newer than the systems that the client side supports: {line.strip()}")

    if name.startswith(APPLE_FOLDERS) and not name.endswith("/Exports.swift") and not (text.startswith(APPLE_ONLY) and text.endswith("#endif\n")):
        offend(name, 1, f"its folder is for Apple platforms only, and this file is not in '{APPLE_ONLY.strip()}'")

    if not name.startswith(FILES_FOLDER) and SYSTEM_MODULES & imported.keys():
        allowed = FILE_CALLS_ALLOWED.get(name, set())
        for number, line in code_lines(text):
            for call in FILE_CALLS.findall(re.sub(r"\bfunc \w+", "", line)):
                if call not in allowed:
                    offend(name, number, f"{call}() is called outside {FILES_FOLDER}")
    for number, line in code_lines(text):
        if re.search(r"\b(FileManager|FileHandle)\b", line) and name not in FILE_MANAGER_ALLOWED | CODE_TEMPLATES:
            offend(name, number, f"{target} uses Foundation's file functions instead of those in {FILES_FOLDER}")

    # A terminal has 80 columns, and an example that wraps cannot be copied.
    for number, line in enumerate(text.split("\n"), 1):
        if target == "packer" and re.match(r" {8}packer \w", line) and len(line) > 86:
            offend(name, number, "an example is longer than 78 columns")

    check_comments(name, text)


def check_comments(name, text):
    lines = text.splitlines()
    for index, line in enumerate(lines):
        match = PUBLIC.match(line)
        if not match or DOCUMENTED_ELSEWHERE.match(match.group(2)):
            continue
        above = index - 1
        while above >= 0 and lines[above].strip().startswith("@"):
            above -= 1
        if above < 0 or not lines[above].strip().startswith("///"):
            offend(name, index + 1, f"no doc comment: {line.strip()}")


def check_time_limits(name, text):
    """An asynchronous test that hangs must end with a verdict."""
    suites = list(SUITE.finditer(text))
    for suite, following in zip(suites, suites[1:] + [None]):
        body = text[suite.end() : following.start() if following else len(text)]
        if ".bounded" not in suite.group() and ASYNCHRONOUS_TEST.search(body):
            offend(name, text.count("\n", 0, suite.start()) + 1, "a suite with asynchronous tests is not .bounded")


def check_words(name):
    for number, line in enumerate((ROOT / name).read_text(encoding="utf-8").splitlines(), 1):
        if UNFINISHED.search(line):
            offend(name, number, f"unfinished work: {line.strip()}")
        if name.startswith("Sources/") and DIALECT.search(line):
            offend(name, number, f"not plain English: {line.strip()}")


def slug(heading):
    """Returns the anchor of a heading in rendered Markdown."""
    text = re.sub(r"`([^`]*)`", r"\1", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
    kept = "".join(c for c in text if c in " -_" or unicodedata.category(c)[0] in "LNM")
    return kept.replace(" ", "-")


def outside_fences(text):
    fence = None
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r"^\s*(```+|~~~+)", line)
        if match and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else match.group(1)
        elif fence is None:
            yield number, line


def anchors(path):
    found, counts = set(), {}
    for _, line in outside_fences(path.read_text(encoding="utf-8")):
        match = re.match(r"^#{1,6}\s+(.*?)\s*#*$", line)
        if match:
            name = slug(match.group(1))
            found.add(name if name not in counts else f"{name}-{counts[name]}")
            counts[name] = counts.get(name, 0) + 1
    return found


def check_links(name, files):
    path = ROOT / name
    for number, line in outside_fences(path.read_text(encoding="utf-8")):
        for link in re.findall(r"\]\(<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"^[a-z][a-z0-9+.-]*:", link):
                continue
            place, _, anchor = urllib.parse.unquote(link).partition("#")
            target = (path.parent / place).resolve() if place else path
            if not target.is_relative_to(ROOT) or not target.exists():
                offend(name, number, f"the target of the link {link} does not exist")
            elif target.is_file() and str(target.relative_to(ROOT)) not in files:
                offend(name, number, f"the target of the link {link} is not tracked")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                offend(name, number, f"the heading of the link {link} does not exist")


# Formulas that Homebrew does not link into its folders, so that pkg-config must be given their place.
KEG_ONLY = {"libarchive"}


def check_homebrew(package):
    """Checks that the instructions for a Mac and its workflow install the formulas that Package.swift names, where SwiftPM finds them."""
    manifest = (ROOT / "Package.swift").read_text(encoding="utf-8")
    formulas = {
        formula for target in package.targets.values() for provider in target.get("providers") or [] for names in provider.get("brew", []) for formula in names}
    for formula in sorted(formulas & KEG_ONLY):
        # On Linux the library is in the default places, and the dumped manifest is that of Linux.
        if not re.search(rf'#else\n(?:(?!#endif)[\s\S])*String\? = "{formula}"', manifest):
            offend("Package.swift", 1, f"{formula} has no pkg-config name on macOS")
    for name in (".github/CONTRIBUTING.md", ".github/workflows/macos.yml"):
        text = (ROOT / name).read_text(encoding="utf-8")
        installed = set(word for line in re.findall(r"brew install ([^`\n]*)", text) for word in line.split())
        for formula in sorted(formulas - installed):
            offend(name, 1, f"does not install Homebrew's {formula}, which Package.swift names")
        for formula in sorted(formulas & KEG_ONLY):
            if f"$(brew --prefix {formula})/lib/pkgconfig" not in text:
                offend(name, 1, f"does not say where pkg-config finds {formula}, which Homebrew does not link")


def main():
    argparse.ArgumentParser(description=__doc__).parse_args()
    files = tracked()
    check_tree(files)
    package = Package()
    check_graph(package)
    check_homebrew(package)
    client = package.closure(package.libraries)
    linked = tuple(package.folder(name) + "/" for name in package.closure(["packer"]))
    targets = {}
    for name in files:
        if name.startswith("Sources/") and name.endswith(".swift"):
            text = (ROOT / name).read_text(encoding="utf-8")
            check_source(name, text, client)
            targets.setdefault(name.split("/")[1], {})[name] = text
            if name.startswith(linked):
                check_foundation(name, text)
        if name.startswith(("Sources/", "Tests/")) and name.endswith(".swift"):
            check_words(name)
        if name.startswith("Tests/") and name.endswith(".swift"):
            check_time_limits(name, (ROOT / name).read_text(encoding="utf-8"))
        if name.endswith(".md"):
            check_links(name, set(files))
    for target, texts in targets.items():
        check_folders(target, texts)
    print("\n".join(offences) if offences else f"{len(files)} files follow the house rules")
    sys.exit(1 if offences else 0)


if __name__ == "__main__":
    main()
