#!/usr/bin/env python3
"""Opens pages of `packer report` in headless Chromium, and checks what a person would see: light, dark, 400 points wide, and printed.

report.py --packer PACKER --axe AXE.JS [PAGE…] [--pictures DIR] [--ready SECONDS]

Without pages: one that packer writes for the example game, and those of report_data.py, with hostile names, nothing in them, and 2,000 packs.

Fails on: a message on the console, a request to anything but the page, a finding of axe, a page wider than its window, numbers that differ from the data,
names that are run or not shown, a task of more than 50 ms while the pointer moves over the treemap, a page that is not ready in time. Prints one line for each page.
"""

import argparse
import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

import report_data

ROOT = pathlib.Path(__file__).resolve().parents[2]
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Before the page's own code: what a hostile name would call, and tasks that hold up the page.
WATCH = """
  window.ran = [];
  for (const name of ["alert", "confirm", "prompt", "open", "eval"]) window[name] = (...all) => { window.ran.push([name, ...all].join(" ")); };
  window.long = [];
  new PerformanceObserver((list) => window.long.push(...list.getEntries().map((one) => one.duration))).observe({ type: "longtask", buffered: true });
"""
VIEWS = [("light", 1280, 900, "light"), ("dark", 1280, 900, "dark"), ("narrow", 400, 800, "light")]


def browser(profile):
    options = Options()
    options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
    for flag in ("--headless=new", "--no-sandbox", "--hide-scrollbars", "--force-device-scale-factor=1", "--no-first-run", "--disable-background-networking",
                 "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver"))
    driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
    driver.set_script_timeout(120)
    return driver


def plain(text):
    """The text as the page shows it: control characters, and those that reverse a line, by number."""
    hidden = "[\\0-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
    return re.sub(hidden, lambda found: f"\\u{ord(found[0]):04x}", text)


def paths_of(pack):
    before = []
    for shared, tail in zip(pack["files"]["shared"], pack["files"]["tails"]):
        before = before[:shared] + tail.split("/")
        yield "/".join(before)


def amount(count):
    """Bytes as the page shows them."""
    if count < 1000:
        return f"{count} byte{'' if count == 1 else 's'}"
    for unit in ("kB", "MB", "GB", "TB"):
        count /= 1000
        if count < 999.5:
            break
    return f"{count:.{2 if count < 9.995 else 1 if count < 99.95 else 0}f}\u00a0{unit}"


class Check:
    def __init__(self, driver, page, pictures, axe):
        self.driver, self.page, self.pictures, self.axe_code, self.problems = driver, pathlib.Path(page).resolve(), pictures, axe, []
        found = re.search(r'<script type="application/json" id="data">(.*?)</script>', self.page.read_text(), re.S)
        self.data = json.loads(found[1])

    def expect(self, holds, problem):
        if not holds and problem not in self.problems:
            self.problems.append(problem)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def cdp(self, command, **more):
        return self.driver.execute_cdp_cmd(command, more)

    def picture(self, name, whole=True):
        if self.pictures:
            high = min(self.run("return document.documentElement.scrollHeight"), 9000)
            clip = {"clip": {"x": 0, "y": 0, "width": self.run("return innerWidth"), "height": high, "scale": 1}, "captureBeyondViewport": True} if whole else {}
            (self.pictures / f"{self.page.stem}-{name}.png").write_bytes(base64.b64decode(self.cdp("Page.captureScreenshot", format="png", **clip)["data"]))

    def open(self, width, height, scheme):
        self.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(self.page.as_uri())
        deadline = time.monotonic() + 60
        while not (ready := self.run("return performance.getEntriesByName('ready')[0]?.startTime")):
            if time.monotonic() > deadline:
                raise SystemExit(f"{self.page}: never ready: {self.driver.get_log('browser')}")
            time.sleep(0.05)
        time.sleep(0.3)
        return ready / 1000

    def quiet(self, view):
        for line in self.driver.get_log("browser"):
            self.expect(line["level"] not in ("WARNING", "SEVERE"), f"{view}: console: {line['message'][:300]}")
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.expect(url.split("#")[0] == self.page.as_uri() or url.startswith(("data:", "chrome:")), f"{view}: request to {url[:200]}")
        ran = self.run("return [...window.ran, ...[...document.querySelectorAll('img,iframe,object,embed,svg[onload],[onerror]')].map((one) => one.outerHTML)]")
        self.expect(not ran, f"{view}: what is only a name was run: {ran}")

    def axe(self, view):
        self.run(self.axe_code)
        found = self.driver.execute_async_script(
            "const [tags, done] = arguments; axe.run(document, { runOnly: tags, resultTypes: ['violations'] }).then((all) => done(all), (error) => done(String(error)))", TAGS)
        if isinstance(found, str):
            raise SystemExit(f"axe: {found}")
        for one in found["violations"]:
            self.problems.append(f"{view}: axe: {one['id']}: {one['help']} ({len(one['nodes'])} times): {one['nodes'][0]['html'][:160]} {' '.join(one['nodes'][0]['failureSummary'].split())[:200]}")
        return len(found["violations"])

    def numbers(self):
        """What is shown, against the data."""
        packs = self.data.get("packs", [])
        text = self.run("return document.body.innerText")
        shown = self.run("return [...document.querySelectorAll('main > section')].map((one) => one.id)")
        expected = {"checks": "gate", "advice": "advice", "contents": "packs", "packs": "packs", "duplicates": "duplicates", "budgets": "budgets", "updates": "updates", "history": "history", "rehearsals": "rehearsals", "field": "observations", "runs": "runs"}
        for section, key in expected.items():
            self.expect((section in shown) == (len(self.data.get(key, [])) > (key == "history")), f"section {section} is {'not ' * (section not in shown)}shown")
        for one in ("undefined", "NaN", "[object", "Infinity", "null"):
            self.expect(one not in text, f"'{one}' is on the page: {text[max(0, text.find(one) - 40):][:80]!r}")
        for key in ("packSize", "contentSize"):
            if key in self.data.get("release", {}):
                self.expect(amount(self.data["release"][key]) in text, f"{key} is not shown as {amount(self.data['release'][key])}")
        if packs:
            sums = self.run("return release.list.map((one) => { const list = inside(one); return [one.pack, one.packed, one.count, list.reduce((sum, two) => sum + two.packed, 0), list.reduce((sum, two) => sum + two.count, 0)]; })")
            self.expect(len(sums) == len(packs), f"{len(sums)} packs are shown, and {len(packs)} are in the data")
            for index, packed, count, packed_inside, count_inside in sums:
                pack = packs[index]
                files = len(pack["files"]["tails"]) if "files" in pack else 0
                self.expect(packed == pack["size"] and (not files or (packed_inside, count_inside) == (packed, files)), f"pack {pack['id']}: {packed_inside} of {pack['size']} bytes, {count_inside} of {files} files")
            drawn = self.run("return treemap.tiles().filter((one) => one.depth === 1).reduce((sum, one) => sum + one.node.packed, 0)")
            self.expect(drawn == sum(pack["size"] for pack in packs), f"the tiles have {drawn} bytes, the packs {sum(pack['size'] for pack in packs)}")
            area = self.run("const all = treemap.tiles().filter((one) => one.depth === 1); return all.reduce((sum, one) => sum + one.w * one.h, 0) / (document.querySelector('canvas').clientWidth * document.querySelector('canvas').clientHeight)")
            self.expect(0.97 < area <= 1.0001, f"the tiles cover {area:.4f} of the treemap")
        findings = [one for one in self.data.get("gate", {}).get("findings", []) if not one.get("accepted")]
        if findings:
            self.expect(self.run("return document.querySelectorAll('#checks > div .card').length") == min(20, len(findings)), "the number of findings differs")
            self.expect(not (len({one["level"] for one in findings}) > 1) or f"{len(findings):,} of {len(findings):,} finding" in text, "the count of findings differs")
        for budget in self.data.get("budgets", []):
            for row in budget["rows"]:
                self.expect(f"{amount(row['needed'])} of {amount(row['limit'])}" in text, f"budget {row['key']} is not shown")

    def names(self):
        """Every path can be found, and is shown as text."""
        with_files = [pack for pack in self.data.get("packs", []) if pack.get("files")]
        if not with_files:
            return 0
        slowest = 0
        for path in list(paths_of(with_files[0]))[:20]:
            start = time.monotonic()
            self.run("search.value = arguments[0]; search.dispatchEvent(new Event('input'))", path.strip().split("\n")[0])  # One line: a text field drops line ends.
            shown = []
            while plain(path) not in shown and time.monotonic() < start + 5:
                time.sleep(0.03)
                shown = self.run("return [...document.querySelectorAll('#contents tbody .path')].map((one) => one.textContent)")
            self.expect(plain(path) in shown, f"{path!r} is not found; shown: {shown[:3]}")
            slowest = max(slowest, time.monotonic() - start)
        self.run("search.value = ''; search.dispatchEvent(new Event('input'))")
        time.sleep(0.2)
        return slowest

    def hover(self):
        """The longest task while the pointer moves over the treemap, in milliseconds."""
        box = self.run("const one = document.querySelector('canvas'); if (!one) return; one.scrollIntoView({ behavior: 'instant' }); window.long = []; const box = one.getBoundingClientRect(); return [box.left, box.top, box.width, box.height]")
        if not box:
            return 0
        for step in range(80):
            self.cdp("Input.dispatchMouseEvent", type="mouseMoved", x=box[0] + box[2] * (step * 37 % 80) / 80 + 1, y=box[1] + box[3] * step / 80 + 1)
        self.expect(self.run("return !document.querySelector('.tip').hidden"), "pointing at a tile shows nothing")
        self.picture("hover", whole=False)
        return max(self.run("return window.long"), default=0)

    def keys(self):
        """Into the largest pack and out again, by keyboard."""
        if not self.run("return document.querySelector('canvas')?.focus() ?? !!document.querySelector('canvas')"):
            return
        press = lambda key, code: [self.cdp("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code) for kind in ("keyDown", "keyUp")]  # noqa: E731
        place = "return [...document.querySelectorAll('.crumbs li')].map((one) => one.textContent)"
        press("Home", 36)
        self.expect(self.run("return !document.querySelector('.tip').hidden"), "Home selects no tile")
        press("Enter", 13)
        folder = self.run("return !!release.list[0].folder")
        self.expect(len(self.run(place)) == 1 + folder, f"Enter does not zoom: {self.run(place)}")
        time.sleep(0.2)
        self.picture("zoomed", whole=False)
        press("Escape", 27)
        self.expect(len(self.run(place)) == 1, "Escape does not leave the pack")

    def contrast(self, view):
        """Texts on the canvas, which axe does not see."""
        colors = self.run("const all = getComputedStyle(document.documentElement); return ['ink','k0','k1','k2','k3','k4','k5','k6','k7','r0','r1','r2','r3','r4','soft'].map((key) => all.getPropertyValue('--' + key).trim())")

        def light(color):
            digits = color[1:] if len(color) == 7 else "".join(2 * digit for digit in color[1:])
            parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
            return sum(weight * (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4) for weight, part in zip((0.2126, 0.7152, 0.0722), parts))
        for color in colors[1:]:
            pair = sorted((light(colors[0]), light(color)))
            self.expect((pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, f"{view}: {colors[0]} on {color} has too little contrast")

    def all(self, limit):
        times, violations, slowest, long = [], 0, 0, 0
        for view, width, height, scheme in VIEWS:
            times.append(self.open(width, height, scheme))
            self.expect(times[-1] < limit, f"{view}: ready only after {times[-1]:.2f} s")
            wide = self.run("return document.documentElement.scrollWidth")
            self.expect(wide <= width, f"{view}: the page is {wide} points wide in a window of {width}: " + str(self.run(
                "return [...document.querySelectorAll('body *')].filter((one) => !one.closest('.scroll') && one.getBoundingClientRect().right > innerWidth + 1).slice(0, 4).map((one) => one.outerHTML.slice(0, 120))")))
            self.picture(view)
            self.contrast(view)
            violations += self.axe(view)
            if view == "light":
                self.numbers()
                slowest = self.names()
                long = self.hover()
                self.expect(long == 0, f"a task of {long:.0f} ms while the pointer moves")
                self.keys()
            if view == "dark" and len(self.data.get("packs", [])) < 100:
                # Everything open, sorted and filtered.
                self.run("for (const one of document.querySelectorAll('details')) one.open = true")
                time.sleep(0.4)
                self.run("for (const one of document.querySelectorAll('thead button')) one.click()")
                self.run("for (let turn = 0; turn < 4; turn += 1) for (const one of document.querySelectorAll('.toggle[aria-expanded=false]')) one.click()")
                self.run("document.querySelectorAll('fieldset input[type=checkbox]')[0]?.click(); document.querySelector('#ratio')?.click()")
                violations += self.axe("dark, open")
                self.picture("open")
            if view == "narrow":
                pdf = base64.b64decode(self.cdp("Page.printToPDF", printBackground=True)["data"])
                self.expect(self.run("return [...document.querySelectorAll('details')].every((one) => one.open)"), "printing leaves something folded")
                if self.pictures:
                    (self.pictures / f"{self.page.stem}.pdf").write_bytes(pdf)
                wide = self.run("return document.documentElement.scrollWidth")
                self.expect(wide <= width, f"narrow, open: the page is {wide} points wide")
            self.quiet(view)
        print(f"{'ok ' if not self.problems else 'BAD'} {self.page.name}: {self.page.stat().st_size / 1000:.1f} kB, ready in " + ", ".join(f"{one:.2f} s" for one in times) +
              f" (light, dark, narrow), longest task on hover {long:.0f} ms, slowest search {slowest:.2f} s, pdf {len(pdf) / 1000:.0f} kB, axe {violations}")
        for problem in self.problems:
            print(f"  {problem}")
        return not self.problems


def example(packer, place):
    """The page of packer for the example game, with a simulated installation, as a person would make it."""
    def run(*command):
        done = subprocess.run([packer, *command], cwd=place, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"packer {' '.join(command)} ends with {done.returncode}: {done.stderr}")
        return done.stdout
    shutil.copytree(ROOT / "Examples/HTML5Game/game", place / "game")
    run("key", "new", "-q", "-o", "game.key")
    run("key", "new", "--signing", "-q", "-o", "game.sign.key")
    (place / "packer.yml").write_text(
        "app: {bundleID: com.example.game, group: group.com.example.game}\nserve: {baseURL: 'https://cdn.example.com/packs/'}\n"
        f"key: file:game.key\nsignKey: file:game.sign.key\npacks:\n  - {{id: game, root: game, install: packed}}\n")
    run("build", "-q")
    (place / "install.jsonl").write_text(run("simulate", "install", "dist", "--fail", "game:truncate", "--json"))
    run("release", "record")
    shutil.copytree(place / "dist", place / "first")
    (place / "game/added.txt").write_text("something new\n" * 500)
    run("build", "-q")
    (place / "rollout.jsonl").write_text(run("simulate", "rollout", "--from", "first", "--devices", "300", "--step", "0h:50", "--step", "24h:halt", "--json"))
    names = sorted(path.name for path in (place / "dist").glob("*.pack"))
    (place / "access.log").write_text("".join(
        f'192.0.2.{number % 200} - - [30/Nov/2026:08:{number // 60:02d}:{number % 60:02d} +0000] "GET /packs/{name} HTTP/1.1" {status} {size} "-" "game"\n'
        for number, (name, status, size) in enumerate([("manifest.json", 200, 900), (names[0], 200, (place / "dist" / names[0]).stat().st_size), ("game-0011223344556677.pack", 404, 9)] * 40)))
    (place / "observed.jsonl").write_text(run("observe", "access.log", "--release", "dist", "--json"))
    run("report", "-o", "example.html", "--rehearsal", "install.jsonl", "--rehearsal", "rollout.jsonl", "--observation", "observed.jsonl", "--advise", "-q")
    return place / "example.html"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--packer", type=pathlib.Path, default=ROOT / ".build/debug/packer")
    parser.add_argument("--axe", type=pathlib.Path, required=True, help="the script of axe-core")
    parser.add_argument("--pictures", type=pathlib.Path, help="a directory for pictures and PDF files")
    parser.add_argument("--ready", type=float, default=1.5, help="seconds until a page must be usable")
    arguments = parser.parse_args()
    if arguments.pictures:
        arguments.pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)
        pages = arguments.pages or [example(arguments.packer.resolve(), place), *report_data.write(place)]
        driver = browser(profile)
        try:
            axe = arguments.axe.read_text()
            good = [Check(driver, page, arguments.pictures, axe).all(arguments.ready) for page in pages]
        finally:
            driver.quit()
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
