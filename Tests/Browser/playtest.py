#!/usr/bin/env python3
"""Opens the list of `packer serve` and the view of a phone in headless Chromium: a release with a sound game, a faulty one and a pack without a page, and
a folder of plain files. Looks at what they show of each game: title, icon, requests, missing files, other hosts, errors of scripts, a bad day.

playtest.py --packer PACKER --axe AXE.JS [--pictures DIR]
"""

import argparse
import base64
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))

from play import ROOT, browser  # noqa: E402
from report import TAGS  # noqa: E402
from servers import packer_serve  # noqa: E402

FAULTY = """\
<!DOCTYPE html>
<html lang="en"><title>Faulty &amp; <b>bold</b></title>
<link rel="icon" href="img/icon.png">
<img src="img/Hero.png" alt=""><img src="http://images.example.invalid/far.png" alt="">
<script>
  console.error("cannot start", { level: 3 });
  Promise.reject(new Error("no such level"));
  undefinedFunction();
</script>
<p id="mode"></p><script>document.getElementById("mode").textContent = document.compatMode</script>
"""
SOUND = """\
<!-- A comment first. -->
<!doctype html><html lang="en"><title>Sound</title><link rel="manifest" href="app.webmanifest">
<script>
  (async () => {
    let failed = 0;
    for (let number = 0; number < 60; number += 1) {
      try { await (await fetch("data/" + number + ".bin?" + performance.now())).arrayBuffer(); } catch { failed += 1; }
    }
    document.title = "done";
    document.documentElement.dataset.failed = failed;
  })();
</script>
"""
STRICT = """\
<!doctype html><title>Strict</title><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'"><script src="a.js"></script>
"""
CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:key
signKey: file:sign.key
packs:
  - {id: faulty, root: games/faulty}
  - {id: sound, root: games/sound, name: "A sound game", delivery: onDemand}
  - {id: shared, root: games/shared}
  - {id: below, root: games/below}
"""

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def png(color):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(b"\0" + color)) + chunk(b"IEND", b"")


def games(place):
    for path, content in {
            "faulty/index.html": FAULTY.encode(), "faulty/img/icon.png": png(b"\xff\0\0"), "faulty/img/hero.png": png(b"\0\xff\0"),
            "sound/index.html": SOUND.encode(), "sound/app.webmanifest": b'{"name": "x", "icons": [{"src": "art/big.png", "sizes": "1x1"}]}',
            "sound/art/big.png": png(b"\0\0\xff"), "shared/engine.js": b"// Shared by all.\n",
            "strict/index.html": STRICT.encode(), "strict/a.js": b"console.error('in a strict page'); top.location.href = 'http://far.example.invalid/';",
            "wide/index.html": "\ufeff<!doctype html><title>Wide</title>".encode("utf-16-le"),
            "below/build/index.html": b"<!doctype html><title>Below</title>", "below/read.txt": b"text\n",
            **{f"sound/data/{number}.bin": os.urandom(2000) for number in range(60)}}.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(content)


class Page:
    def __init__(self, driver, axe, pictures):
        self.driver, self.axe_code, self.pictures = driver, axe, pictures

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, what):
        """Waits until the script is true, and returns what it gives."""
        deadline = time.monotonic() + 60
        while not (found := self.run(script)):
            if time.monotonic() > deadline:
                expect(False, f"{what}: not within {seconds} s; the page says: {self.run('return document.body.innerText')[:800]!r}")
                return None
            time.sleep(0.05)
        return found

    def look(self, name):
        """In light and dark, wide and narrow: no finding of axe, nothing wider than the window."""
        for scheme, width in (("light", 1280), ("dark", 1280), ("light", 400)):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            time.sleep(0.2)
            wide = self.run("return document.documentElement.scrollWidth - innerWidth")
            expect(wide <= 0, f"{name}, {scheme}, {width}: {wide} points too wide")
            self.run(self.axe_code)
            found = self.driver.execute_async_script(
                "const [tags, done] = arguments; axe.run(document, { runOnly: tags, resultTypes: ['violations'], iframes: false }).then((all) => done(all), (error) => done(String(error)))", TAGS)
            for one in found["violations"]:
                expect(False, f"{name}, {scheme}, {width}: axe: {one['id']}: {one['help']}: {one['nodes'][0]['html'][:160]}")
            if self.pictures:
                taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})
                (self.pictures / f"{name}-{scheme}-{width}.png").write_bytes(base64.b64decode(taken["data"]))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def quiet(self, what):
        # The frame of the phone is a sandbox only against games that leave it by mistake.
        lines = [line["message"] for line in self.driver.get_log("browser") if line["level"] in ("WARNING", "SEVERE") and "escape its sandboxing" not in line["message"]]
        expect(not lines, f"{what}: console: {lines}")


def items(page):
    return {one[0]: one[1:] for one in page.run(
        "return [...document.querySelectorAll('[data-id]')].map((one) => [one.dataset.id, one.querySelector('h2').innerText, one.querySelector('.state').innerText,"
        " one.querySelector('img').naturalWidth, !!one.querySelector('h2 a'), one.querySelector('p').innerText])")}


def release(page, packer, place):
    with packer_serve(packer, place / "dist", "--key", place / "key") as served:
        port = served.url.rstrip("/").rsplit(":", 1)[1]
        page.driver.get(served.url)
        page.wait("return !document.getElementById('day').disabled && [...document.images].every((one) => one.complete)", "the list")
        seen = items(page)
        expect(list(seen) == ["below", "faulty", "shared", "sound"], f"the list has {list(seen)}")
        expect(seen["faulty"][0] == "Faulty & <b>bold</b>" and seen["sound"][0] == "A sound game", f"titles: {seen}")
        expect(seen["faulty"][2] == 1 and seen["sound"][2] == 1, f"icons are not those of the games: {seen}")
        expect(seen["shared"][2] > 1 and not seen["shared"][3] and "no index.html" in seen["shared"][1], f"a pack without a page: {seen['shared']}")
        expect("on demand" in seen["sound"][4] and "version 1" in seen["sound"][4] and "63 files" in seen["sound"][4], f"facts: {seen['sound'][4]}")
        expect(seen["sound"][1] == "not opened yet", f"state: {seen['sound'][1]}")
        page.quiet("the list")
        page.look("list")

        page.run("document.querySelector('[data-id=faulty] .button').click()")
        page.wait("return location.pathname.endsWith('/phone') && document.readyState === 'complete'", "the view of a phone")
        expect(page.run("return location.host") == f"faulty.localhost:{port}", "the view of a phone has another origin")
        page.wait("return document.querySelectorAll('#problems li').length >= 5", "five problems")
        text = page.run("return document.getElementById('problems').innerText")
        for part in ("img/Hero.png is missing; similar: img/hero.png", "http://images.example.invalid/far.png is on another host", 'cannot start {"level":3} (console)',
                     "no such level", "undefinedFunction is not defined", "/:8:"):
            expect(part in text, f"problems lack {part!r}: {text}")
        expect(page.run("return document.getElementById('title').innerText") == "Faulty & <b>bold</b>", "the title of the view")
        loads = page.run("return document.getElementById('loads').innerText")
        expect(re.search(r"index\.html\s+200", loads) and re.search(r"img/Hero\.png\s+404", loads), f"requests: {loads}")
        expect(page.run("return document.querySelector('iframe').contentDocument.getElementById('mode').innerText") == "CSS1Compat", "the script before the page changes its mode")
        page.look("phone")
        page.run("document.getElementById('turn').click()")
        expect(page.run("return [game.clientWidth, game.clientHeight]") == [852, 393], "the phone does not turn")
        page.driver.get_log("browser")

        # A bad day, at the same origin and at that of the list.
        page.run("location.href = document.getElementById('list').href")
        page.wait("return document.querySelector('[data-id=faulty] .state')?.classList.contains('bad')", "the faulty game's state")
        state = items(page)["faulty"][1]
        expect(all(part in state for part in ("1 request for a missing file", "1 request to another host", "3 script errors")), f"state: {state}")
        page.run("document.getElementById('day').click()")
        page.driver.get(f"http://sound.localhost:{port}/.well-known/packer/phone")
        page.wait("return document.getElementById('day').checked", "the bad day is on in the view of a phone")
        expect("is downloaded in 1 s" in page.run("return document.getElementById('wait').innerText"), "the time of the download")
        page.wait("return game.contentDocument.title === 'done'", "the sound game on a bad day")
        failed = int(page.run("return game.contentDocument.documentElement.dataset.failed"))
        problems = page.wait("return document.querySelectorAll('#problems li').length > 1", "problems of a bad day")
        text = page.run("return document.getElementById('problems').innerText")
        expect(failed > 0 and problems and "refused on a bad day" in text and "cut in the middle" in text, f"on a bad day, {failed} replies fail: {text}")
        page.run("document.getElementById('day').click()")
        page.driver.get_log("browser")
        time.sleep(0.3)
        page.run("document.getElementById('again').click()")
        time.sleep(0.5)
        page.wait("return game.contentDocument.title === 'done'", "the sound game on another day")
        page.wait("return document.getElementById('status').innerText.startsWith('61 requests') || document.getElementById('status').innerText.startsWith('62 requests')", "all requests are counted")
        expect(page.run("return document.querySelectorAll('#problems li').length") == 0, "problems without a bad day")
        page.quiet("a sound game")

        # What is missing explains itself.
        for address, parts in {
                f"http://faulty.localhost:{port}/img/HERO.png": ["There is no file 'img/HERO.png' in pack 'faulty'", "Did you mean img/hero.png?", "index.html", "all games"],
                f"http://below.localhost:{port}/": ["There is no file 'index.html' in pack 'below'", "pack the folder build instead", "build/index.html"],
                f"http://shared.localhost:{port}/": ["This pack has none"],
                f"http://sound.localhost:{port}/settings/sound": ["--fallback index.html"],
                f"http://nothing.localhost:{port}/": ["There is no game 'nothing' here", "A sound game"],
                f"http://127.0.0.1:{port}/%3Cscript%3Edocument.title=1%3C/script%3E": ["There is no game '<script>document.title=1<' here"]}.items():
            page.driver.get(address)
            text = page.run("return document.body.innerText")
            for part in parts:
                expect(part in text, f"{address} does not say {part!r}: {text}")
            expect(page.run("return document.title") == "Not found", f"{address} has the title {page.run('return document.title')}")
        page.look("missing")
        page.driver.get_log("browser")

        # Nothing of this for other origins, and plain text for programs.
        for origin, method, path, host, status in (
                ("http://other.example", "POST", "day?bad", "127.0.0.1", 403), ("http://other.example", "GET", "live", "127.0.0.1", 403),
                ("http://other.example", "POST", "error", "faulty.localhost", 403), (None, "POST", "day", "127.0.0.1", 204), (None, "GET", "phone", "127.0.0.1", 404),
                (None, "PUT", "day", "127.0.0.1", 405)):
            request = urllib.request.Request(f"http://127.0.0.1:{port}/.well-known/packer/{path}", method=method, headers={"Host": f"{host}:{port}", **({"Origin": origin} if origin else {})})
            try:
                with urllib.request.urlopen(request) as reply:
                    got = reply.status
            except urllib.error.HTTPError as error:
                got = error.code
            expect(got == status, f"{method} {path} from {origin}: {got}, not {status}")
    expect("warning" not in served.errors, f"the server says: {served.errors}")


def folder(page, packer, place):
    (place / "games/shared/manifest.json").write_text('{"name": "a web application"}')
    with packer_serve(packer, place / "games") as served:
        page.driver.get(served.url)
        page.wait("return !document.getElementById('day').disabled && [...document.images].every((one) => one.complete)", "the list of a folder")
        seen = items(page)
        expect(list(seen) == ["faulty", "sound", "strict", "wide"], f"a folder's games: {list(seen)}")
        expect(seen["sound"][0] == "Sound" and "63 files, not packed" in seen["sound"][4] and seen["sound"][2] == 1, f"a folder's game: {seen['sound']}")
        page.run("document.querySelector('[data-id=faulty] .button').click()")
        page.wait("return document.querySelectorAll('#problems li').length >= 5", "five problems of a folder's game")
        page.driver.get_log("browser")
        # A file that changes is served as it is now, and a game that comes is in the list.
        (place / "games/sound/index.html").write_text("<!doctype html><title>Changed</title>")
        (place / "games/new one").mkdir()
        (place / "games/new one/index.html").write_text("<!doctype html><title>New</title>")
        time.sleep(1.5)
        page.driver.get(served.url)
        seen = items(page)
        expect(len(seen) == 5 and any(name.startswith("new-one-") for name in seen) and seen["sound"][0] == "Changed", f"after changes: {seen}")
        # A page with a strict policy is watched, and cannot leave its frame. One that cannot be watched is named.
        for game, part in (("strict", "in a strict page (console)"), ("wide", "script errors of this page are not seen")):
            page.driver.get(f"http://{game}.localhost:{served.port}/.well-known/packer/phone")
            page.wait(f"return document.getElementById('problems').innerText.includes({part!r})", f"{game}: {part}")
            expect(page.run("return location.pathname").endswith("/phone"), f"{game} leaves its frame")
        shown = page.run("return document.querySelector('.frame').getBoundingClientRect().height")
        expect(shown < page.run("return innerHeight"), f"the phone is higher than the window: {shown}")
    with packer_serve(packer, place / "games/sound") as served:
        page.driver.get(f"http://127.0.0.1:{served.port}/")
        expect(list(items(page)) == ["sound"], f"a game's own folder: {items(page)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    parser.add_argument("--axe", required=True, type=pathlib.Path)
    parser.add_argument("--pictures", type=pathlib.Path)
    options = parser.parse_args()
    packer = pathlib.Path(options.packer).resolve()
    with tempfile.TemporaryDirectory(prefix="packer-playtest.") as name:
        place = pathlib.Path(name)
        games(place / "games")
        (place / "packer.yml").write_text(CONFIGURATION)
        for arguments in (["key", "new", "-o", "key"], ["key", "new", "--signing", "-o", "sign.key"], ["build", "--quiet"]):
            done = subprocess.run([packer, *arguments], cwd=place, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"packer {' '.join(arguments)}: {done.stdout}{done.stderr}")
        with browser(place / "profile", clock=False) as driver:
            driver.set_script_timeout(20)
            page = Page(driver, options.axe.read_text(), options.pictures)
            release(page, packer, place)
            folder(page, packer, place)
    if failures:
        sys.exit(1)
    print("games in the list and in the view of a phone: titles, icons, requests, missing files, other hosts, script errors, a bad day; pages that are missing explain themselves; no finding of axe")


if __name__ == "__main__":
    main()
