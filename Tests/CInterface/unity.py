#!/usr/bin/env python3
"""The Unity package of Examples/Unity, without Unity: its C# compiled by Mono against what Unity documents (Tests/CInterface/unity), run against
libPackCLibrary.so, and its editor script on an exported project, compared with what `packer init --app` writes.

`Scripts/c-library` makes the library. The command is named by the variable PACKER. What the machine lacks is skipped by name.
"""

import json
import os
import pathlib
import plistlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from served import ADDRESS, Front, release, trust


ROOT = pathlib.Path(__file__).resolve().parents[2]

PACKER = os.environ.get("PACKER", str(ROOT / ".build/debug/packer"))
LIBRARY = ROOT / ".build/c/lib/libPackCLibrary.so"
PACKAGE = ROOT / "Examples/Unity"
HERE = ROOT / "Tests/CInterface/unity"
failures = []


def expect(holds, wrong):
    if not holds:
        failures.append(wrong)
        print(f"wrong: {wrong}", file=sys.stderr)


def run(*arguments, **keywords):
    return subprocess.run([*map(str, arguments)], check=True, capture_output=True, text=True, **keywords).stdout


def packer(*arguments, **keywords):
    return run(PACKER, *arguments, **keywords)


def compile_all(place):
    def mcs(target, references, *sources):
        kind = "exe" if target.endswith(".exe") else "library"
        # C# 7.0 and no warning: what Unity has since 2018, and IL2CPP.
        run("mcs", "-langversion:7", "-unsafe", "-warnaserror", f"-target:{kind}", f"-out:{place / target}",
            *(f"-r:{name}" for name in references), *sources)

    runtime = sorted((PACKAGE / "Runtime").glob("*.cs"))
    mcs("Packs.dll", [], *runtime, HERE / "UnityEngine.cs")
    definitions = {path.stem: json.loads(path.read_text()) for path in PACKAGE.glob("*/*.asmdef")}
    expect(definitions["Packs"]["allowUnsafeCode"] and definitions["Packs.Editor"]["includePlatforms"] == ["Editor"], "the assemblies have other options")
    json.loads((PACKAGE / "package.json").read_text())
    mcs("RuntimeTests.exe", [place / "Packs.dll", "System.Core"], HERE / "RuntimeTests.cs")
    mcs("Packs.Editor.dll", ["System.Core", "System.Xml", "System.Xml.Linq"], *sorted((PACKAGE / "Editor").glob("*.cs")), HERE / "UnityEditor.cs")
    mcs("ExportTests.exe", [place / "Packs.Editor.dll"], HERE / "ExportTests.cs")
    # Where Unity compiles ahead of time, each function that native code calls has the attribute.
    text = (PACKAGE / "Runtime/Callbacks.cs").read_text()
    expect(len(re.findall(r"\[MonoPInvokeCallback\(typeof\((\w+)\)\)\]\n +private static \w+ On\w+\(", text)) == 4, "a callback lacks its attribute")
    # Each function of the interface that the package can use has the name and the number of parameters of the header.
    declared = dict(re.findall(r"static extern (?:unsafe )?\w+ (packer_\w+)\(([^;]*)\);", (PACKAGE / "Runtime/Native.cs").read_text()))
    header = "".join((ROOT / f".build/c/include/{name}.h").read_text() for name in ("packer", "packer-library"))
    header = re.sub(r"//[^\n]*", "", header)
    for name, parameters in declared.items():
        found = re.search(rf"\b{name}\((.*)\);", header)
        expect(found, f"the header has no {name}")
        inner = re.sub(r"\(\*\w+\)\([^)]*\)", "", found.group(1)) if found else ""
        count = 0 if inner in ("", "void") else inner.count(",") + 1
        expect(count == (parameters.count(",") + 1 if parameters.strip() else 0), f"{name} has {count} parameters in the header")


def mono(place, *arguments, environment=os.environ, **keywords):
    return subprocess.Popen(
        ["mono", str(place / "RuntimeTests.exe"), *map(str, arguments)], env={**environment, "LD_LIBRARY_PATH": str(LIBRARY.parent)},
        stdout=subprocess.PIPE, text=True, **keywords)


def ends(process, what, seconds=300):
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        expect(False, f"{what} does not end:\n{output}")
        return output
    expect(process.returncode == 0, f"{what} ends with {process.returncode}:\n{output}")
    return output


def reading(place):
    tree = ROOT / "Examples/HTML5Game/game"
    packer("key", "new", "-o", place / "game.key", "-q")
    packer("pack", tree, "-o", place / "game.pack", "--key", place / "game.key", "-q")
    print("reading:", ends(mono(place, "read", place / "game.pack", place / "game.key", tree, place), "reading").strip().replace("\n", "; "))


C_LOOP = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "packer.h"
int main(int count, char **words) {
  uint64_t pack, read;
  static uint8_t buffer[4096];
  if (packer_open(words[1], (uint8_t *)words[2], strlen(words[2]), &pack)) return puts(packer_error_message()), 1;
  for (int round = 0; round < 2; round++) {
    struct timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    for (int number = 0; number < 20000; number++)
      if (packer_read(pack, "big.bin", number % 256 * 4096, buffer, sizeof buffer, &read) || read != sizeof buffer) return 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    if (round) printf("%.0f\\n", ((end.tv_sec - start.tv_sec) * 1e9 + (end.tv_nsec - start.tv_nsec)) / 20000);
  }
}
"""


def cost(place):
    """The processor time of a read of 4 KiB from C# and from C, of content that was decrypted before: three times each, the least of them."""
    (place / "big").mkdir()
    (place / "big/big.bin").write_bytes(random.Random(1).randbytes(1 << 20))
    packer("pack", place / "big", "-o", place / "big.pack", "--key", place / "game.key", "-q")
    (place / "loop.c").write_text(C_LOOP)
    run("gcc", "-O2", "-o", place / "loop", "-I", ROOT / ".build/c/include", place / "loop.c", LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}")
    # Only for this process, on this machine; a key that was made for it.
    key = (place / "game.key").read_text().split()[-1]
    managed = min(int(ends(mono(place, "bench", place / "big.pack", place / "game.key"), "the cost")) for _ in range(3))
    native = min(int(run(place / "loop", place / "big.pack", key)) for _ in range(3))
    print(f"a read of 4 KiB: {managed} ns from C#, {native} ns from C")


def downloads(place):
    """The library against `packer serve --cdn`: a connection that is cut, a process that is killed, one that goes on, and a game's loop of frames."""
    seed = random.randrange(1 << 32)
    print(f"seed: {seed}")
    game = place / "source"
    game.mkdir()
    (game / "big.bin").write_bytes(random.Random(seed).randbytes(6_000_000))
    (game / "small.txt").write_text("Grüße")
    work = place / "release"
    work.mkdir()
    public = release(PACKER, work, game)
    configuration = (work / "packer.yml").read_text()
    (work / "packer.yml").write_text(configuration.replace("id: game,", 'id: game, name: "The \\"Game\\" über\\\\alles",'))
    packer("build", "--quiet", "-o", "named", cwd=work)
    dist = work / "named"
    size = next(dist.glob("game-*.pack")).stat().st_size
    front = Front(work)
    environment = front.environment(trust(work))
    words = (ADDRESS, public, work / "key")

    # The connection is cut after 2 MB: the rest comes with another request.
    front.cuts.append(2_000_000)
    with front.serving(PACKER, dist):
        output = ends(mono(place, "ensure", *words, place / "first", game, environment=environment), "a download that is cut")
    expect(not front.cuts and any(1_000_000 < start < 2_100_000 for start in front.ranges), f"a cut download asks for {front.ranges}")
    expect(size < front.sent < size + 300_000, f"a cut download takes {front.sent} bytes for {size}")
    print(f"cut: {front.sent} bytes sent for {size}; {output.splitlines()[-1]}")

    # The process is killed in the middle, and the next one goes on.
    front.sent, front.ranges = 0, []
    with front.serving(PACKER, dist, "--link", "12Mbit/s,0ms"):
        process = mono(place, "ensure", *words, place / "second", game, environment=environment)
        for line in process.stdout:
            found = re.match(r"received (\d+) of", line)
            if found and int(found.group(1)) > 2_000_000:
                break
        process.kill()
        process.wait()
        expect(process.returncode == -signal.SIGKILL, f"the process ended before it was killed: {process.returncode}")
        front.ranges = []
        output = ends(mono(place, "ensure", *words, place / "second", game, environment=environment), "a download that goes on")
    expect(any(start > 1_000_000 for start in front.ranges), f"a download that goes on asks for {front.ranges}")
    expect(front.sent < size + 1_500_000, f"a download that goes on takes {front.sent} bytes for {size}")
    expect("received" in output, "there is no progress")
    print(f"killed: {front.sent} bytes sent for {size}; {output.count('received')} times progress")

    with front.serving(PACKER, dist, "--link", "24Mbit/s,0ms"):
        print(ends(mono(place, "frames", *words, place / "third", environment=environment), "the loop of frames").strip())

    with front.serving(PACKER, dist, "--link", "8Mbit/s,0ms"):
        print(ends(mono(place, "reload", *words, place / "fifth", environment=environment), "a domain that is unloaded").strip())

    packer("key", "new", "--signing", "-o", place / "other.key", "-q")
    other = packer("key", "public", "--sign-key", place / "other.key", "--quiet").split()[0]
    with front.serving(PACKER, dist):
        process = mono(place, "ensure", ADDRESS, other, work / "key", place / "fourth", game, environment=environment, stderr=subprocess.PIPE)
        errors = process.communicate(timeout=120)[1]
    expect(process.returncode != 0 and "PackException" in errors and "sign" in errors, f"a manifest of a stranger ends {process.returncode}: {errors[:300]}")


# The editor script.

UNITY_PLIST = {
    "CFBundleIdentifier": "${PRODUCT_BUNDLE_IDENTIFIER}", "CFBundleShortVersionString": "1.2", "CFBundleVersion": "34", "LSRequiresIPhoneOS": True,
    "UIRequiredDeviceCapabilities": ["arm64"], "BAMaxInstallSize": 1,
}


def exported(place, name):
    folder = place / name
    (folder / "Unity-iPhone.xcodeproj").mkdir(parents=True)
    (folder / "Unity-iPhone.xcodeproj/project.pbxproj").write_text("file\tfile:Info.plist\tInfo.plist\tSource\n")
    (folder / "Info.plist").write_bytes(plistlib.dumps(UNITY_PLIST))
    return folder


def project(folder):
    """What the stub of PBXProject wrote: the words of its lines."""
    return [line.split("\t") for line in (folder / "Unity-iPhone.xcodeproj/project.pbxproj").read_text().splitlines()]


def editor(place):
    import yaml

    def script(folder, app, *more, status=0):
        done = subprocess.run(["mono", place / "ExportTests.exe", folder, app, *(more or ["iOS"])], capture_output=True, text=True)
        expect(done.returncode == status, f"the editor script ends with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    work = place / "app"
    work.mkdir()
    (work / "core").mkdir()
    (work / "core/index.html").write_text("<p>Hello</p>")
    (work / "packer.yml").write_text(
        "app: {bundleID: com.example.arcade, group: group.com.example.arcade}\nkey: file:key\nsignKey: file:sign\n"
        "serve: {baseURL: https://cdn.example.com/, manifestURL: https://cdn.example.com/assets.json}\npacks: [{id: core, root: core, delivery: essential}]\n")
    for arguments in (["key", "new", "-o", "key"], ["key", "new", "--signing", "-o", "sign"], ["build"],
                      ["init", "--app", "ios", "--package", "https://example.com/packer.git"], ["init", "--app", "local", "--package", ROOT]):
        packer(*arguments, "-q", cwd=work)
    app = work / "ios"
    # More than a number of 32 bits has.
    keys = plistlib.loads((app / "App/Info.plist").read_bytes())
    keys["BAMaxInstallSize"] = 5_000_000_000
    (app / "App/Info.plist").write_bytes(plistlib.dumps(keys))

    folder = exported(place, "export")
    script(folder, app)
    result = plistlib.loads((folder / "Info.plist").read_bytes())
    expect(result == {**UNITY_PLIST, **keys}, f"Info.plist has {result}")
    expect((folder / "Info.plist").read_text().splitlines()[1] == '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" '
           '"http://www.apple.com/DTDs/PropertyList-1.0.dtd">', "the plist lost its document type")
    wanted = yaml.safe_load((app / "project.yml").read_text())["targets"]
    compare(folder, app, project(folder), wanted)

    # Again: as after an export with Append. Nothing twice, but the new numbers.
    before = sorted(map(tuple, project(folder)))
    keys["BAMaxInstallSize"] = 6_000_000_000
    (app / "App/Info.plist").write_bytes(plistlib.dumps(keys))
    script(folder, app)
    expect(sorted(map(tuple, project(folder))) == before, "a second run changes the project")
    expect(plistlib.loads((folder / "Info.plist").read_bytes())["BAMaxInstallSize"] == 6_000_000_000, "a second run keeps the old numbers")

    # An app that has entitlements keeps them.
    folder = exported(place, "entitled")
    given = {"aps-environment": "production", "com.apple.security.application-groups": ["group.com.example.widgets"]}
    (folder / "Unity-iPhone").mkdir()
    (folder / "Unity-iPhone/game.entitlements").write_bytes(plistlib.dumps(given))
    with open(folder / "Unity-iPhone.xcodeproj/project.pbxproj", "a") as lines:
        lines.write("setting\tUnity-iPhone\tCODE_SIGN_ENTITLEMENTS\tUnity-iPhone/game.entitlements\n")
    for _ in range(2):
        script(folder, app)
        result = plistlib.loads((folder / "Unity-iPhone/game.entitlements").read_bytes())
        expect(result["aps-environment"] == "production", "entitlements are lost")
        groups = result["com.apple.security.application-groups"]
        expect(sorted(groups) == ["group.com.example.arcade", "group.com.example.widgets"], f"the groups are {groups}")
    expect(not (folder / "App.entitlements").exists(), "the app has two files with entitlements")

    # Refused: what is missing, said with what to do. Another platform is left alone.
    folder = exported(place, "refused")
    before = (folder / "Info.plist").read_bytes(), project(folder)
    expect("packer init --app" in script(folder, work / "nothing", status=1), "no folder of packer is not told")
    expect("https address" in script(folder, work / "local", status=1), "a checkout is not told")
    expect("16.1" in script(folder, app, "iOS", "15.0", status=1), "an old system is not told")
    script(folder, app, "Android")
    expect(before == ((folder / "Info.plist").read_bytes(), project(folder)), "what is refused is changed")
    print("editor: the export has what init --app writes, once and again")


def compare(folder, app, lines, wanted):
    """An export with the script's additions against the project that init --app wrote."""
    def of(kind, *start):
        return [words[1:] for words in lines if words[0] == kind and tuple(words[1:1 + len(start)]) == start]

    target = wanted["Downloader"]
    [[guid, name, extension, kind]] = of("target")
    expect((name, extension, kind) == ("Downloader", ".appex", f"com.apple.product-type.{target['type']}"), f"the target is {name}{extension}, {kind}")
    settings = {words[1]: words[2] for words in of("setting", guid)}
    for key, value in target["settings"]["base"].items():
        expect(settings.get(key) == str(value), f"{key} of the extension is {settings.get(key)}, not {value}")
    common = yaml_base(app)
    for key in (key for key in common if key.startswith("SWIFT_")):
        expect(settings.get(key) == str(common[key]), f"{key} is {settings.get(key)}, not {common[key]}")
    expect(settings["IPHONEOS_DEPLOYMENT_TARGET"] == "16.4" and settings["PRODUCT_NAME"] == "$(TARGET_NAME)", "the extension's settings")
    expect((settings["MARKETING_VERSION"], settings["CURRENT_PROJECT_VERSION"]) == ("1.2", "34"), "the extension has other versions than the app")
    # The same sources, byte for byte.
    sources = {path.relative_to(app).as_posix() for folder_name in target["sources"] for path in (app / folder_name).iterdir()}
    built = {words[1].removeprefix("file:") for words in of("build", f"sources:{guid}")}
    expect(built == {path for path in sources if path.endswith(".swift")}, f"the extension compiles {built}")
    for path in sources:
        expect((folder / path).read_bytes() == (app / path).read_bytes(), f"{path} differs")
        expect(of("file", f"file:{path}"), f"{path} is not in the project")
    # The same extension point and the same entitlements.
    point = plistlib.loads((folder / settings["INFOPLIST_FILE"]).read_bytes())["EXAppExtensionAttributes"]["EXExtensionPointIdentifier"]
    expect(point == "com.apple.background-asset-downloader-extension", f"the extension point is {point}")
    [[_, _, entitlements]] = of("setting", "Unity-iPhone", "CODE_SIGN_ENTITLEMENTS")
    for path, original in ((entitlements, "App/App.entitlements"), (settings["CODE_SIGN_ENTITLEMENTS"], "Downloader/Downloader.entitlements")):
        expect(plistlib.loads((folder / path).read_bytes()) == plistlib.loads((app / original).read_bytes()), f"{path} differs from {original}")
    # The same products of the same package, and embedding as XcodeGen does it for this type.
    [[package, version]] = of("package")
    expect((package, version) == ("package:https://example.com/packer.git", packages(app)), f"the package is {package} {version}")
    products = {(words[0], words[1]) for words in of("product")}
    expect({(guid, item["product"]) for item in target["dependencies"] if "product" in item} == {(guid, "PackBackground")}, "project.yml changed")
    expect(products == {(guid, "PackBackground"), ("UnityFramework", "PackCLibrary"), ("Unity-iPhone", "PackCLibrary")}, f"the products are {products}")
    expect(of("dependency") == [["Unity-iPhone", guid]], "the app does not depend on the extension")
    [copy] = of("copy")
    expect(copy[1:] == ["Unity-iPhone", "$(EXTENSIONS_FOLDER_PATH)", "16"], f"the extension is copied to {copy}")
    expect(of("build", copy[0]) == [[copy[0], "product:Downloader.appex"]], "the extension is not copied")


def yaml_base(app):
    import yaml
    return {key: "YES" if value is True else value for key, value in yaml.safe_load((app / "project.yml").read_text())["settings"]["base"].items()}


def packages(app):
    import yaml
    return yaml.safe_load((app / "project.yml").read_text())["packages"]["packer"]["from"]


def skip(reason):
    print(f"skipped: Unity: {reason}")
    sys.exit(0)


def main():
    for program, package in (("mcs", "mono-mcs, libmono-system-xml-linq4.0-cil"), ("mono", "mono-runtime"), ("gcc", "gcc"), ("openssl", "openssl")):
        if not shutil.which(program):
            skip(f"no {program} (Debian: {package})")
    if not LIBRARY.exists():
        skip("no libPackCLibrary.so: run Scripts/c-library")
    with tempfile.TemporaryDirectory(prefix="packer-unity.") as name:
        place = pathlib.Path(name)
        compile_all(place)
        editor(place)
        reading(place)
        cost(place)
        downloads(place)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
