#!/usr/bin/env python3
"""Fills the page of `packer report` with made data: small (everything is present), minimal, bare, edges, hostile names, and large (2,000 packs, 200,000
files)."""

import html
import json
import pathlib
import random

TEMPLATE = pathlib.Path(__file__).resolve().parents[2] / "Sources/PackGate/Report/Resources/report.html"
HOSTILE = [
    "</script><img src=x onerror=alert(1)>", "<!--<script>", "img/\"><svg onload=alert(2)>.png", "a/\u202egnp.exe", "a/\u0007bell\nline.txt", "&lt;b&gt;.js",
    "very/" + "long" * 60 + ".png", "עברית/קובץ.mp3", "💾/\u200dsave.json", "__proto__/constructor.js", "toString", " leading/ space .txt", "@DATA@.html", "$&$1.css",
]
# How far packing shrinks files with this ending, and how large they usually are.
ENDINGS = {
    "png": (0.98, 180_000), "webp": (1.0, 90_000), "ktx2": (0.9, 400_000), "m4a": (1.0, 700_000), "wav": (0.85, 900_000), "mp4": (1.0, 3_000_000), "js": (0.28, 120_000),
    "wasm": (0.38, 800_000), "json": (0.15, 40_000), "html": (0.3, 9_000), "css": (0.22, 12_000), "txt": (0.4, 4_000), "glb": (0.7, 500_000), "woff2": (1.0, 60_000), "bin": (0.6, 70_000),
}
FOLDERS = {
    "png": "img/sprites", "webp": "img/backgrounds", "ktx2": "img/textures", "m4a": "audio/music", "wav": "audio/effects", "mp4": "video", "js": "js", "wasm": "js", "json": "levels",
    "html": "", "css": "css", "txt": "text/en", "glb": "models/rooms", "woff2": "fonts", "bin": "levels/compiled",
}
WORDS = "hero castle forest door key lamp river stone tower wolf ship cloud sand bridge storm gold night market garden wheel".split()


def files_of(paths, chance, shrink=1.0):
    """The form of a list of files in the data, and its bytes in the pack."""
    paths = sorted(set(paths), key=lambda path: path.encode())
    shared, tails, sizes, packed, before = [], [], [], [], []
    for path in paths:
        parts = path.split("/")
        same = 0
        while same < min(len(parts), len(before)) - 1 and parts[same] == before[same]:
            same += 1
        shared.append(same)
        tails.append("/".join(parts[same:]))
        ratio, usual = ENDINGS.get(path.rsplit(".", 1)[-1], (0.6, 20_000))
        size = int(usual * shrink * chance.lognormvariate(-0.3, 0.9))
        sizes.append(size)
        packed.append(0 if chance.random() < 0.01 else int(size * min(1, ratio * chance.uniform(0.85, 1.05))) + 20)
        before = parts
    return {"shared": shared, "tails": tails, "sizes": sizes, "packed": packed}


def paths_of(count, chance):
    endings = list(ENDINGS)
    weights = [9, 6, 3, 3, 8, 1, 8, 1, 10, 2, 2, 4, 3, 1, 3]
    found = []
    for index in range(count):
        ending = chance.choices(endings, weights)[0]
        folder = FOLDERS[ending]
        if index and count > 60 and chance.random() < 0.4:
            folder = f"{folder}/{chance.choice(WORDS)}".strip("/")
        found.append(f"{folder}/{chance.choice(WORDS)}-{index}.{ending}".strip("/"))
    return ["index.html", *found[1:]]


def pack_of(name, paths, chance, shrink=1.0, **more):
    files = files_of(paths, chance, shrink)
    rest = 1200 + 40 * len(files["tails"])
    return {"id": name, "version": 3, "delivery": "essential", "install": "packed", "size": sum(files["packed"]) + rest, "sizeOnDevice": sum(files["packed"]) + rest,
            "contentSize": sum(files["sizes"]), "rest": rest, "files": files, **more}


def release_of(packs):
    return {"manifest": 12, "issued": "2026-11-01T10:00:00Z", "expires": "2027-05-01T10:00:00Z", "manifestSize": 1510, "packSize": sum(pack["size"] for pack in packs),
            "contentSize": sum(pack.get("contentSize", 0) for pack in packs), "files": sum(len(pack["files"]["tails"]) for pack in packs if "files" in pack)}


def events_of(count, chance):
    events, now = [], 0
    texts = {
        "system": ["starts the extension", "asks for permission to download", "stops the extension", "installs the app", "reports a download as done"],
        "server": ["GET /manifest.json 200", "GET /game-a-3f2a.pack 206", "GET /game-b-11aa.pack 200"],
        "extension": ["reads the manifest", "schedules 2 downloads", "verifies the pack", "moves the pack to the store"],
        "app": ["opens game-a", "shows progress", "asks for game-b"],
    }
    for index in range(count):
        now += int(chance.expovariate(1 / 700)) if index % 17 else chance.choice([0, 40_000, 3_600_000, 90_000_000])
        actor = chance.choice(list(texts))
        event = {"actor": actor, "milliseconds": now, "text": chance.choice(texts[actor])}
        if chance.random() < 0.3:
            event["pack"] = "game-a"
        if index % 11 == 6:
            event |= {"code": "connection-lost", "text": "the connection breaks after 1.2 MB", "reaction": "the download goes on at byte 1204224"}
        if index % 23 == 9:
            event |= {"injected": True, "text": "the process is stopped"}
        events.append(event)
    return events


def rest_of(packs, chance, events=60):
    first, second = packs[0], packs[1]
    findings = [
        {"rule": "PK3007", "level": "error", "title": "The release does not fit app 1.0.0", "message": "BADownloadAllowance allows 4.70 MB; this release needs 7.93 MB (3.23 MB too much)",
         "onPhone": "112: the download would exceed the allowance", "remedy": "Set 'delivery: onDemand' for a pack, or retire the app version.", "hint": "packer release retire 1.0.0", "pack": second["id"]},
        {"rule": "PK6013", "level": "error", "title": "A file that the game asks for is missing", "message": "index.html refers to img/logo@2x.png, which is in no pack",
         "remedy": "Add the file, or correct the reference.", "hint": "packer build", "pack": first["id"], "file": "index.html", "details": [f"index.html:{line}: img/logo@2x.png" for line in range(12, 18)]},
        {"rule": "PK6003", "level": "warning", "title": "Files that no player needs", "message": "3 source maps, 412 kB", "remedy": "Exclude them in packer.yml.", "pack": first["id"]},
        {"rule": "PK6006", "level": "note", "message": "the same 4 files are in 2 packs"},
        {"rule": "PK6012", "level": "warning", "title": "An archive inside a pack", "message": "levels/all.zip hides its contents from deltas", "accepted": True},
    ]
    history = [{"manifest": number, "issued": f"2026-{number if number < 12 else 11:02d}-01T10:00:00Z", "size": int(first["size"] * (0.6 + number * 0.15)), "packs": min(3, 1 + number // 4)} for number in range(1, 12)]
    history.append({"manifest": 12, "issued": "2026-11-01T10:00:00Z", "size": sum(pack["size"] for pack in packs), "packs": len(packs)})
    updates = []
    for number in (11, 10, 9, 8):
        whole, part = first["size"] + second["size"], int(first["size"] * 0.03 * (12 - number))
        updates.append({"manifest": number, "size": part + second["size"] // 4, "sizeWithApp": part + second["size"] // 2, "packSize": whole, "packs": [
            {"id": first["id"], "size": part, "packSize": first["size"], "isDelta": True, "isNew": False}, {"id": second["id"], "size": second["size"] // 4, "packSize": second["size"], "isDelta": False, "isNew": number < 10}]})
    requests, now = [], 0
    for tail in ["index.html", "js/app.js", "css/style.css", "levels/1.json", "img/hero.png", "audio/music/theme.m4a", "img/logo@2x.png"] * 5:
        now += int(chance.expovariate(1 / 90))
        requests.append({"milliseconds": now, "path": tail, "status": 404 if "@2x" in tail else 200, "size": 0 if "@2x" in tail else chance.randrange(2_000, 900_000)})
    names = [name for name in first["files"]["tails"][:12]]
    return {
        "budgets": [
            {"title": "Info.plist", "rows": [
                {"key": "BADownloadAllowance", "needed": 7_930_000, "limit": 8_090_000, "fits": True}, {"key": "BAEssentialDownloadAllowance", "needed": 1520, "limit": 66_800, "fits": True},
                {"key": "BAEssentialMaxInstallSize", "needed": 0, "limit": 1, "fits": True}, {"key": "BAMaxInstallSize", "needed": 7_930_000, "limit": 8_090_000, "fits": True}]},
            {"title": "app 1.0.0 (42) for iOS", "rows": [
                {"key": "BADownloadAllowance", "needed": 7_930_000, "limit": 4_700_000, "fits": False}, {"key": "BAMaxInstallSize", "needed": 4_700_000, "limit": 4_700_000, "fits": False}]}],
        "duplicates": [{"size": 412_000, "wasted": 398_112, "places": [[0, 1], [1, 2]]}, {"size": 51_000, "wasted": 9_004, "places": [[0, 3], [1, 4]]}],
        "history": history,
        "updates": updates,
        "gate": {"summary": "2 errors, 1 warning, 1 note", "rules": 115, "notChecked": [{"rule": "PK3001", "missing": ["Info.plist"]}, {"rule": "PK5002", "missing": ["server", "manifest URL"]}], "findings": findings},
        "advice": [
            {"title": "Use WebP for 14 pictures", "text": "They are PNG files with many colours; WebP at quality 90 is usually half as large.", "pack": first["id"], "bytes": 1_250_000},
            {"title": "Share music between two packs", "text": "The same file is in game-a and game-b.", "bytes": 398_112}],
        "rehearsals": [
            {"title": "install, wifi", "verdict": "ok, settled after 1 start", "durationMilliseconds": 260_000_000, "events": events_of(events, chance)},
            {"title": "update, cellular, low space", "verdict": "ok, settled after 3 starts", "durationMilliseconds": 41_000, "events": events_of(12, chance)},
            {"title": "rollout", "verdict": "31 % run a candidate after 4 days", "devices": 10_000, "steps": [{"seconds": 0, "what": "start 1 %"}, {"seconds": 86_400, "what": "share 50 %"}, {"seconds": 180_000, "what": "halt"}],
             "counts": [{"seconds": 7200 * number, "runs": number * 90, "has": 400 if number else 0, "failed": number * 3, "before": 10_000 - number * 93 - (400 if number else 0), "bytes": number * 1_000_000} for number in range(49)]}],
        "observations": [{
            "first": "2026-11-30T08:00:00Z", "last": "2026-12-01T08:00:00Z", "deviceEstimate": 912, "counts": counts_of(4000, 21, 30),
            "findings": [{"message": "0.53 % of the requests failed, more than 0.5 %"}],
            "releases": [{"manifest": 12, "deviceEstimate": 640, "counts": counts_of(2900, 20, 22)}, {"manifest": 11, "deviceEstimate": 300, "counts": counts_of(1000, 1, 8)}, {"counts": counts_of(100, 0, 0)}],
            "files": [{"name": f"{first['id']}-{number:016x}.pack", "kind": "pack", "id": first["id"], "version": number, "counts": counts_of(3000 // number, number, 0)} for number in range(1, 30)],
            "errors": [{"status": 404, "count": 20, "name": "manifest.json", "first": "2026-11-30T08:00:00Z", "last": "2026-11-30T09:00:00Z"}, {"status": 503, "count": 1, "name": "manifest.json"}]}],
        "runs": [{"pack": first["id"], "files": len(first["files"]["tails"]), "requests": requests, "missing": [{"path": "img/logo@2x.png", "near": "img/logo.png"}],
                  "foreign": [{"url": "https://stats.example.com/pixel.gif?id=1", "directive": "img-src"}], "unused": [{"path": name, "size": 1000 * (index + 3)} for index, name in enumerate(names)]}],
    }


def counts_of(requests, failed, fallbacks):
    return {"requests": requests, "failed": failed, "fallbacks": fallbacks, "deltaDevices": requests // 9, "bytes": requests * 54_321, "wholeCompleted": requests // 2, "completedInParts": requests // 7}


def data_of(name, chance):
    if name == "minimal":
        return {"format": 1, "title": "dist", "packer": "1.0.0", "packs": [{"id": "game", "size": 1200}]}
    if name == "bare":
        return {"format": 1, "title": "dist"}
    if name == "edges":
        nothing = {"shared": [], "tails": [], "sizes": [], "packed": []}
        copies = {"shared": [0, 1, 1], "tails": ["a/b/c/d.txt", "e.txt", "empty"], "sizes": [10, 10, 0], "packed": [10, 0, 0]}
        packs = [{"id": "empty", "size": 300, "rest": 300, "files": nothing}, {"id": "copies", "size": 10, "files": copies}, {"id": "none", "size": 0, "files": nothing}]
        return {
            "format": 1, "title": "edges", "packs": packs, "gate": {"summary": "no findings", "rules": 1}, "history": [{"manifest": 1, "issued": "2026-11-01T10:00:00Z", "size": 0, "packs": 0}],
            "updates": [{"manifest": 1, "size": 0}], "rehearsals": [{"title": "nothing", "events": []}, {"title": "one", "verdict": "ok", "durationMilliseconds": 0, "events": [{"actor": "app", "milliseconds": 0}]}, {"title": "nobody", "devices": 0, "counts": [{"seconds": 0}]}],
            "observations": [{}],
            "runs": [{"pack": "empty"}], "advice": [{"title": "only a title"}], "release": {"expires": "2020-01-01T00:00:00Z", "files": 0, "contentSize": 0, "packSize": 0, "manifest": 0}}
    if name == "small":
        packs = [
            pack_of("game-a", paths_of(64, chance), chance, platforms=["iOS"], languages=["en"]),
            pack_of("game-b", paths_of(30, chance), chance, 0.8, delivery="prefetch", install="unpacked"),
            pack_of("game-b-levels", paths_of(10, chance), chance, 0.5, delivery="onDemand", base="game-b"),
            {"id": "partner", "version": 1, "delivery": "onDemand", "install": "packed", "size": 640_000, "sizeOnDevice": 640_000, "note": "its key is not known here, so its files are not listed"}]
        return {"format": 1, "title": "dist, manifest 12", "packer": "1.0.0", "release": release_of(packs), "packs": packs, **rest_of(packs, chance)}
    if name == "hostile":
        packs = [pack_of(f"pack {text}", [*HOSTILE, "a/b/c/d.txt"], chance, platforms=[text]) for text in HOSTILE[:3]]
        data = {"format": 1, "title": HOSTILE[0], "packer": "1.0.0", "release": release_of(packs), "packs": packs, **rest_of(packs, chance)}
        for finding in data["gate"]["findings"]:
            finding |= {"title": HOSTILE[0], "message": HOSTILE[3], "hint": HOSTILE[0], "details": HOSTILE, "file": HOSTILE[0], "rule": HOSTILE[0]}
        for event in data["rehearsals"][0]["events"]:
            event |= {"actor": HOSTILE[0], "text": HOSTILE[0], "code": HOSTILE[1], "reaction": HOSTILE[0]}
        data["rehearsals"][2]["steps"] = [{"seconds": 0, "what": text} for text in HOSTILE]
        for name in ("files", "errors"):
            data["observations"][0][name] = [{"name": text, "kind": text, "id": text, "counts": {"requests": 1}} for text in HOSTILE]
        data["observations"][0]["findings"] = [{"message": text} for text in HOSTILE]
        for run in data["runs"]:
            run["requests"] = [{"milliseconds": index, "path": text, "status": 200, "size": 5} for index, text in enumerate(HOSTILE)]
            run["foreign"] = [{"url": text, "directive": text} for text in HOSTILE]
            run["problems"] = [{"text": text, "place": text} for text in HOSTILE]
        data["budgets"][0]["title"] = data["advice"][0]["title"] = data["advice"][0]["text"] = HOSTILE[0]
        return data
    packs = []
    for index in range(2000):
        count = 100_000 // 1999 if index else 100_000
        packs.append(pack_of(f"game-{index:04d}", paths_of(count, chance), chance, 0.05, delivery=("onDemand", "prefetch", "essential")[min(index % 40, 2) if index % 40 < 2 else 0]))
    data = {"format": 1, "title": "dist, manifest 12", "packer": "1.0.0", "release": release_of(packs), "packs": packs, **rest_of(packs, chance, 3000)}
    data["gate"]["findings"] *= 400
    data["duplicates"] = [{"size": 40_000, "wasted": 30_000 - index, "places": [[pack, index % 40] for pack in range(index % 1900, index % 1900 + 9)]} for index in range(5000)]
    data["history"] = [{"manifest": index + 1, "issued": "2026-10-01T10:00:00Z", "size": packs[0]["size"] + index * 900_000, "packs": index * 10 + 10} for index in range(200)]
    data["updates"] = [update | {"packs": update["packs"] * 500} for update in data["updates"] * 4]
    return data


def write(folder):
    """Writes the pages, and returns their paths."""
    template = TEMPLATE.read_text()
    pages = []
    for name in ("small", "minimal", "bare", "edges", "hostile", "large"):
        data = data_of(name, random.Random(7))
        before, after = template.replace("@TITLE@", html.escape(data["title"]), 1).split("@DATA@", 1)
        pages.append(folder / f"{name}.html")
        pages[-1].write_text(before + json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c") + after)
    return pages
