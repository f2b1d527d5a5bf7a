#!/usr/bin/env python3
"""Opens two packs one after the other at the same port, in one profile of headless Chromium, and looks whether the first one reaches the second.

The first game registers a service worker that answers everything below its origin, and saves data in every way that a page has. The second game, the list
of a release and the plain address must see nothing of it. The first game itself must find its worker and its data again, so that the test can fail.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "Interop"))

from play import ROOT, browser  # noqa: E402
from servers import packer_serve  # noqa: E402

WORKER = """\
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  if (event.request.mode === "navigate") event.respondWith(new Response("<title>stolen</title>", { headers: { "Content-Type": "text/html" } }));
});
"""

# What a game may leave in a browser. The result is the worker's fault, or an empty text.
SAVE = """
const done = arguments[0];
(async () => {
  localStorage.mark = "saved";
  document.cookie = "mark=own; max-age=9999";
  document.cookie = "wide=all; domain=localhost; max-age=9999; path=/";
  await new Promise((resolve) => { const open = indexedDB.open("mark"); open.onsuccess = open.onerror = resolve; });
  await (await caches.open("mark")).put("/x", new Response("x"));
  try {
    await navigator.serviceWorker.register("/sw.js");
    await navigator.serviceWorker.ready;
    return "";
  } catch (error) { return String(error); }
})().then(done, (error) => done("failed: " + error));
"""

LOOK = """
const done = arguments[0];
(async () => ({
  title: document.title, address: location.href, saved: localStorage.mark || "", cookies: document.cookie,
  bases: (await indexedDB.databases()).length, caches: (await caches.keys()).length,
  workers: (await navigator.serviceWorker.getRegistrations()).length, controlled: !!navigator.serviceWorker.controller,
}))().then(done, (error) => done({ failure: String(error) }));
"""

CONFIGURATION = """\
serve: {baseURL: "https://cdn.example.com/packs/"}
key: file:key
signKey: file:sign.key
packs:
  - {id: alpha, root: alpha}
  - {id: beta, root: beta}
"""

failures = []


def expect(condition, text):
    if not condition:
        failures.append(text)
        print(f"wrong: {text}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packer", default=os.environ.get("PACKER", ROOT / ".build/debug/packer"))
    packer = pathlib.Path(parser.parse_args().packer).resolve()
    with tempfile.TemporaryDirectory(prefix="packer-origins.") as name:
        place = pathlib.Path(name)

        def run(*arguments):
            done = subprocess.run([packer, *arguments], cwd=place, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"packer {' '.join(map(str, arguments))}: {done.stdout}{done.stderr}")

        run("key", "new", "-o", "key")
        run("key", "new", "--signing", "-o", "sign.key")
        for game in ("alpha", "beta"):
            (place / game).mkdir()
            (place / game / "index.html").write_text(f"<!doctype html><title>{game}</title>")
            (place / game / "sw.js").write_text(WORKER)
            run("pack", game, "-o", f"{game}.pack", "--key", "key", "--quiet")
        (place / "packer.yml").write_text(CONFIGURATION)
        run("build", "--quiet")

        with browser(place / "profile", clock=False) as driver:
            driver.set_script_timeout(20)
            port = []

            def visit(target, path="", *options, act=LOOK):
                """Serves the target at the port of the first visit, and returns what a page at the path sees."""
                with packer_serve(packer, place / target, "--key", place / "key", *options, port=port[0] if port else 0) as served:
                    port[:] = [served.port]
                    driver.get(path.format(port=served.port) if "{port}" in path else f"{served.url}{path}")
                    return driver.execute_async_script(act)

            fault = visit("alpha.pack", act=SAVE)
            expect("403" in fault, f"a service worker is registered that was not allowed: {fault!r}")
            fault = visit("alpha.pack", "", "--service-workers", act=SAVE)
            expect(fault == "", f"a service worker that is allowed is not registered: {fault}")

            def nothing(seen, title, what):
                left = {name: seen.get(name) for name in ("saved", "cookies", "bases", "caches", "workers", "controlled", "failure") if seen.get(name)}
                expect(seen.get("title") == title and not left, f"{what} sees {json.dumps(seen)}")

            seen = visit("alpha.pack", "http://alpha.localhost:{port}/")
            expect(seen["title"] == "stolen", f"the worker of the first game does not answer, so this test shows nothing: {seen}")
            nothing(visit("beta.pack"), "beta", "another pack at the plain address")
            nothing(visit("beta.pack", "index.html?mode=1", "--service-workers"), "beta", "another pack with workers allowed")
            nothing(visit("dist"), "Games", "the list")
            nothing(visit("dist", "beta/"), "beta", "another pack of a release")
            nothing(visit("dist", "http://beta.localhost:{port}/"), "beta", "another pack of a release at its origin")
            nothing(visit("dist", "http://localhost:{port}/"), "Games", "the list at another name")
            nothing(visit("dist", "", "--pack", "beta"), "beta", "the only pack of a release")
    if failures:
        sys.exit(1)
    print("two games in one profile: worker, local storage, cookies, databases and caches of the first are not seen by the second, the list or the plain address")


if __name__ == "__main__":
    main()
