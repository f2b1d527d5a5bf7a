#!/usr/bin/env python3
"""Writes the measurements of Scripts/bench into a document.

In the document, a measured part is between `<!-- measured: NAME -->` and `<!-- end of NAME -->`. Everything else is written by hand and not
changed. Also writes, beside the document, the curves (benchmarks-growth.svg) and the table of all figures with absolute values and the range of
single rounds (benchmarks.csv).
"""

import argparse
import csv
import datetime
import io
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def said(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, cwd=ROOT)
    except OSError:
        return ""
    return (done.stdout + done.stderr).strip()


def version(*command):
    """Returns the first number with a dot in the output of a program."""
    match = re.search(r"\d+(?:\.\d+)+", said(*command))
    return match.group(0) if match else "unknown"


def package(*names):
    for name in names:
        text = said("dpkg-query", "-W", "-f=${Version}", name)
        if text and "no packages" not in text:
            return text
    return "unknown"


def machine(packer, is_quick):
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "unknown")
    memory = int(re.search(r"MemTotal:\s+(\d+)", open("/proc/meminfo").read()).group(1)) / 2**20
    system = re.search(r'PRETTY_NAME="(.*)"', open("/etc/os-release").read())
    commit = said("git", "rev-parse", "--short=12", "HEAD")
    if said("git", "status", "--porcelain", "--untracked-files=no"):
        commit += ", with changes"
    return {
        "type": "machine",
        "quick": is_quick,
        "date": datetime.date.today().isoformat(),
        "facts": [
            ["processor", f"{cpu}, {os.cpu_count()} cores"],
            ["memory", f"{memory:.1f} GiB"],
            ["system", f"{system.group(1) if system else 'unknown'}, Linux {os.uname().release}, {os.uname().machine}"],
            ["packer", f"commit {commit}, {os.path.getsize(packer):,} bytes"],
            ["compiler", (said("swift", "--version").splitlines() or ["unknown"])[0]],
            ["libraries", f"libzstd {package('libzstd1')}, libcrypto {package('libssl3', 'libssl3t64')}, libarchive {package('libarchive13', 'libarchive13t64')}"],
            ["peers", ", ".join([
                f"tar {version('tar', '--version')}", f"zstd {version('zstd', '--version')}", f"age {version('age', '--version')}",
                f"7-Zip {version('7z', 'i')}", f"zip {package('zip')}", f"GnuPG {version('gpg', '--version')}", f"OpenSSL {version('openssl', 'version')}",
                f"restic {version('restic', 'version')}", f"borg {version('borg', '--version')}"])],
        ],
    }


# Formatting of numbers.


def seconds(value):
    return f"{value * 1000:.1f} ms" if value < 1 else f"{value:.2f} s"


def size(value):
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if value >= factor:
            return f"{value / factor:.1f} {unit}"
    return f"{value:.0f} B"


def amount(value, unit):
    if unit == "s":
        return seconds(value)
    if unit == "B":
        return size(value)
    return f"{value:.2f} {unit}" if value < 10 else f"{value:.1f} {unit}"


def ratio(value):
    return f"{value:.3f}" if value < 0.1 else f"{value:.2f}"


def share(value):
    return f"{value:.3f}"


def limit(value):
    return "" if value is None else f"{value:g}"


def table(head, rows, align=None):
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join(align or ["---"] * len(head)) + "|"]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def verdict(figure):
    if figure.get("must") is None:
        return ""
    if not figure["holds"]:
        return "missed"
    stretch = figure.get("stretch")
    within = stretch is not None and (figure["value"] >= stretch if figure["wantsMore"] else figure["value"] <= stretch)
    return "held, stretch goal too" if within else "held"


def bound(figure):
    """Returns the limit of a figure, in bold if it is missed."""
    if figure.get("must") is None:
        return "–"
    value = seconds(figure["must"]) if figure["unit"] == "s" and not figure["against"] else limit(figure["must"])
    text = ("≥ " if figure["wantsMore"] else "≤ ") + value
    return text if figure["holds"] else f"**{text}**"


def of(figure):
    return {"wall": "time", "cpu": "CPU", "size": "size", "memory": "memory", "speed": "speed"}.get(figure["quantity"], figure["quantity"])


def cell(text):
    return text.replace("|", "\\|")


def worth(figure):
    """Returns the value of a figure: a ratio, or an amount if there is no other side."""
    return ratio(figure["value"]) if figure["against"] else amount(figure["value"], figure["unit"])


# The measured parts.


def part_machine(records):
    found = [record for record in records if record["type"] == "machine"]
    if not found:
        return ""
    record = found[-1]
    text = table(["", f"measured on {record['date']}"], record["facts"])
    if record["quick"]:
        text = "From a quick run on small trees, which only shows that everything works.\n\n" + text
    return text


def full_table(records):
    """Returns all figures of all trees with the absolute values of both sides and the range of single rounds, then tools, levels and sizes, as CSV."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["tree", "what", "against", "packer", "other", "figure", "least", "most", "limit", "result"])
    for figure in records:
        if figure["type"] == "figure":
            spread = [ratio(figure["smallest"]), ratio(figure["largest"])] if figure["rounds"] > 1 else ["", ""]
            lines.writerow([
                figure["corpus"], f"{figure['verb']}, {of(figure)}", figure["against"], amount(figure["ours"], figure["unit"]),
                amount(figure["theirs"], figure["unit"]) if figure["against"] else "", worth(figure), *spread, bound(figure).strip("*").replace("–", ""), verdict(figure)])
    def amounts(tree, name, amounts):
        for what, value in amounts:
            lines.writerow([tree, f"{name}, {what}", "", value, "", "", "", "", "", ""])

    for record in records:
        if record["type"] == "peer":
            found = [("time", seconds(record["wall"]))]
            if record["verb"] == "pack":
                found += [("size", size(record["size"])), ("memory", amount(record["memory"], "MiB"))]
            amounts(record["corpus"], f"{record['peer']}: {record['verb']}", found)
        elif record["type"] == "level":
            amounts(record["corpus"], f"level {record['level']}", [
                ("size", size(record["size"])), ("pack time", seconds(record["packWall"])), ("pack CPU", seconds(record["packCPU"])),
                ("pack memory", amount(record["packMemory"], "MiB")), ("unpack time", seconds(record["unpackWall"])),
                ("unpack memory", amount(record["unpackMemory"], "MiB"))])
        elif record["type"] == "growth":
            tree = f"{size(record['size'])} in {record['files']} files"
            for verb in ("pack", "unpack"):
                amounts(tree, verb, [("time", seconds(record[verb]["wall"])), ("memory", amount(record[verb]["memory"], "MiB"))])
            amounts(tree, "verify", [("memory", amount(record["verify"]["memory"], "MiB"))])
        elif record["type"] == "games":
            for tree in record["trees"]:
                for name in filter(tree.__contains__, GAMES):
                    lines.writerow([f"{tree['name']} {tree['version']}", name, "age", "", "", f"{tree[name]:.3f}", "", "", "", ""])
        elif record["type"] == "catalogue":
            for find in ("byID", "list"):
                amounts(f"{record['packs']} packs, {record['deltas']} deltas", find, [
                    ("size", size(record[find]["bytes"])), ("CPU", seconds(record[find]["cpu"])), ("memory", amount(record[find]["memory"], "MiB"))])
    return text.getvalue()


def part_peers(records):
    rows, lacks, corpora = {}, {}, []
    for record in records:
        if record["type"] != "peer":
            continue
        if record["corpus"] not in corpora:
            corpora.append(record["corpus"])
        rows.setdefault((record["corpus"], record["peer"]), {})[record["verb"]] = record
        if record["lacks"]:
            lacks[record["peer"]] = record["lacks"]
    parts = []
    # Only one tree is shown; the others are in the full table.
    for corpus in corpora[:1]:
        body = []
        for (name, peer), verbs in rows.items():
            if name != corpus:
                continue
            pack = verbs.get("pack", {})
            cells = [cell(peer), size(pack.get("size", 0)), amount(pack.get("memory", 0), "MiB")]
            cells += [seconds(verbs[verb]["wall"]) if verb in verbs else "–" for verb in ("pack", "unpack", "cat", "ls", "verify")]
            body.append(cells)
        parts.append(f"On {corpus}:\n\n" + table(["tool", "size", "memory of pack", "pack", "unpack", "one file", "list", "check all"], body,
                                                 ["---"] + ["--:"] * 7))
    if lacks:
        parts.append("What these tools lack:\n\n" + "\n".join(f"* `{peer}`: {text}" for peer, text in lacks.items()))
    return "\n\n".join(parts)


def part_levels(records):
    """Returns a line for each level, with the size as a share of the content, and the time and memory of packing, for each tree."""
    found = {}
    for record in records:
        if record["type"] == "level":
            found.setdefault(record["corpus"], {})[record["level"]] = record
    if not found:
        return ""
    rows = []
    for level in dict.fromkeys(level for levels in found.values() for level in levels):
        # Three of the numbered levels show the curve; the others are in the full table.
        if level.isdecimal() and int(level) not in (1, 9, 19):
            continue
        cells = [f"`{level}`"]
        for levels in found.values():
            record = levels[level]
            cells += [f"{record['size'] / record['contentSize']:.3f}", seconds(record["packWall"]), amount(record["packMemory"], "MiB")]
        rows.append(cells)
    head = ["level"] + [text for corpus in found for text in (f"{corpus}: size", "time", "memory")]
    return table(head, rows, ["---"] + ["--:"] * 3 * len(found))


def part_catalogue(records):
    """Returns what a release costs by the number of its packs: for the device, then for the tool."""
    found = [record for record in records if record["type"] == "catalogue"]
    if not found:
        return ""
    rows = [
        [f"{record['packs']:,}", str(record["deltas"]), size(record["root"]), f"{record['shards']:,}, {size(record['shardsSize'])}",
         size(record["byID"]["bytes"]), size(record["update"]), seconds(record["list"]["cpu"]), amount(record["list"]["memory"], "MiB")]
        for record in found]
    text = table(["packs", "deltas each", "root", "shards", "first pack by name", "one changed", "list of all: CPU", "memory"], rows, ["--:"] * 8)
    most = {key: max(record["byID"][key] for record in found) for key in ("cpu", "memory")}
    text += f"\n\nFinding one pack takes at most {seconds(most['cpu'])} of CPU and {amount(most['memory'], 'MiB')} more than a manifest without packs."
    rows = []
    for record in (record for record in found if record.get("release")):
        cells = [f"{record['packs']:,}"]
        for cost in record["release"].values():
            cells += [seconds(cost["wall"]), seconds(cost["cpu"]), amount(cost["memory"], "MiB")]
        rows.append(cells)
    head = ["packs"] + [text for what in ("first build", "unchanged", "verify") for text in (f"{what}: time", "CPU", "memory")]
    return text + "\n\n" + table(head, rows, ["--:"] * 10)


def growth(records, axis):
    return [record for record in records if record["type"] == "growth" and record["axis"] == axis]


def part_growth(records, picture):
    return f"![Time per byte and per file, by the size of the tree]({picture})" if growth(records, "bytes") or growth(records, "files") else ""


GAMES = ("size", "pack", "unpack", "check", "size at 19")


class Figures:
    """The figures that a user feels, each with its goal. Those that were not measured in this run are left out."""

    def __init__(self, records):
        self.records = records
        self.rows = []
        self.add_games()
        self.add_trees()
        self.add_serving()
        self.add_packs()
        self.add_rest()

    def of_type(self, kind):
        return [record for record in self.records if record["type"] == kind]

    def row(self, what, value, goal, text=ratio, more=False):
        holds = value >= goal if more else value <= goal
        self.rows.append((what, text(value), f"{'≥' if more else '≤'} {f'{goal:g}' if text in (ratio, share) else text(goal)}", holds))

    def add_games(self):
        for record in self.of_type("games"):
            trees = [tree for tree in record["trees"] if tree["bytes"] > 1e6]
            for name, title, mean, each in (
                ("size", "size, against age", 0.985, 1), ("pack", "CPU to pack, against age", 0.75, 1), ("unpack", "CPU to unpack, against age", 0.65, 0.9),
                ("check", "CPU to check, against age", 0.8, None), ("size at 19", "size at level 19, against age -19", None, 1)):
                values = {tree["name"]: tree[name] for tree in trees if name in tree}
                text = share if "size" in name else ratio
                if not values:
                    continue
                if mean:
                    self.row(f"{title}, mean of {len(values)} games", statistics.geometric_mean(values.values()), mean, text)
                if each:
                    worst = max(values, key=values.get)
                    above = sum(value > each for value in values.values())
                    self.row(f"{title}, worst ({worst}; {above} of {len(values)} miss it)", values[worst], each, text)
            if record["start"]:
                self.row("CPU of `packer --version`", record["start"]["version"], 0.0025, seconds)
                self.row("CPU of `packer ls`", record["start"]["ls"], 0.005, seconds)

    def add_trees(self):
        """The trees that were compared as a whole."""
        for verb, quantity, against, title in (
            ("pack", "wall", "age", "time to pack, against age"), ("pack", "memory", "age", "memory to pack, against age"),
            ("pack -19", "cpu", "age", "CPU to pack at level 19, against age -19"), ("unpack", "wall", "age", "time to unpack, against age"),
            ("unpack", "wall", "tar -x", "time to unpack, against tar -x"), ("unpack", "memory", "", "memory to unpack"),
            ("cat", "wall", "age", "time to read one file, against age"), ("ls", "wall", "age", "time to list, against age"),
            ("verify", "cpu", "data", "CPU to check, against restic")):
            for figure in self.of_type("figure"):
                if (figure["verb"], figure["quantity"]) == (verb, quantity) and figure["against"].endswith(against) and figure.get("must") is not None:
                    if bool(figure["against"]) == bool(against) and figure["corpus"] in ("media", "text"):
                        text = ratio if figure["against"] else lambda value: amount(value, "MiB")
                        self.row(f"{title}, {figure['corpus']}", figure["value"], figure["must"], text)

    def add_serving(self):
        for record in self.of_type("serve")[-1:]:
            for item in record["random"]:
                goal = 0.15 if item["tree"] == "media" else 0.5
                mine, other = item["packer"], item["nginx"]
                self.row(
                    f"CPU to serve a random small file of {item['tree']} ({mine['rate']:,.0f} requests/s, half in {mine['50']:.2f} ms, 99 of 100 in "
                    f"{mine['99']:.1f} ms, {item['memory']:.0f} MiB; nginx with the plain files {other['cpu']:.3f} ms, {other['rate']:,.0f} requests/s, "
                    f"{other['50']:.2f} and {other['99']:.1f} ms)", mine["cpu"], goal, lambda value: f"{value:.2f} ms")
            first = record["firstByte"][0]
            self.row(
                f"first byte of a file not read before, pack of {size(record['packSize'])} (nginx {record['firstByte'][1]['median']:.2f} ms)",
                first["median"], 5, lambda value: f"{value:.2f} ms")
            self.row("speed of a download, against nginx", record["downloads"][0]["ratio"][0], 0.5, more=True)

    def add_packs(self):
        costs = {record["packs"]: record["release"] for record in self.of_type("catalogue") if record.get("release")}
        for verb, title, goal in (("unchanged", "CPU of `packer build` without a change", 2.5), ("verify", "CPU of `packer verify`", 15)):
            if 10_000 in costs:
                self.row(f"{title}, 10,000 packs", costs[10_000][verb]["cpu"], goal, seconds)
            least, most = min(costs, default=0), max(costs, default=0)
            if least < most:
                self.row(f"{title}, for each pack, {most:,} packs against {least:,}", costs[most][verb]["cpu"] / most * least / costs[least][verb]["cpu"], 1.1)

    def add_rest(self):
        figures = self.of_type("figure")
        for axis, title in (("B", "byte"), ("file", "file")):
            found = [figure for figure in figures if figure["corpus"] == "growth" and figure["unit"].endswith(f"/{axis}") and figure["quantity"] == "wall"]
            if found:
                self.row(f"time for each {title}, largest tree against smallest", max(figure["value"] for figure in found), 1.2)
        for figure in figures:
            if figure["corpus"] == "growth" and figure["quantity"] == "memory":
                self.row(f"memory to {figure['verb']} the largest tree, {figure['against']}", figure["value"], figure["must"])
        kernels = [figure for figure in figures if figure["corpus"] == "kernels" and figure.get("must") is not None]
        if kernels:
            least = min(kernels, key=lambda figure: figure["value"])
            self.row(f"speed of the slowest kernel ({least['verb']}), against the C library", least["value"], 0.97, more=True)
        for figure in figures:
            if figure["corpus"] == "store" and figure["verb"].startswith(("open and reconcile", "content request")) and figure.get("must") is not None:
                self.row(f"{figure['verb']}, {of(figure)}", figure["value"], figure["must"], seconds)


def part_figures(records):
    rows = Figures(records).rows
    if not rows:
        return ""
    lines = [f"{sum(holds for *_, holds in rows)} of {len(rows)} goals are reached; the others are in bold."]
    skipped = [item for record in records if record["type"] == "skipped" for item in record["items"]]
    if skipped:
        lines += ["", "Skipped, because there was not enough memory:", ""] + [f"* {item}" for item in skipped]
    cells = [[cell(what), value, goal if holds else f"**{goal}**"] for what, value, goal, holds in rows]
    return "\n".join(lines) + "\n\n" + table(["", "packer", "goal"], cells, ["---", "--:", "--:"])


# The curves.


def draw(records):
    """Draws two charts side by side, each with curves for pack and unpack, as SVG."""
    width, height, margin = 420, 260, 56
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {2 * width} {height}" font-family="sans-serif" font-size="11">',
        '<rect width="100%" height="100%" fill="white"/>',
    ]
    panels = (("bytes", "size", "time per byte, ns", 1e9, size), ("files", "files", "time per file, µs", 1e6, lambda value: f"{value:,.0f}"))
    for number, (axis, key, title, scale, label) in enumerate(panels):
        rows = growth(records, axis)
        if not rows:
            continue
        left, right, top, bottom = number * width + margin, (number + 1) * width - 24, 36, height - 44
        highest = max(record[verb]["wall"] / record["units"] * scale for record in rows for verb in ("pack", "unpack")) * 1.15
        place = lambda index: left + (right - left) * (index / max(1, len(rows) - 1))
        rise = lambda value: bottom - (bottom - top) * value / highest
        parts.append(f'<text x="{left}" y="20" font-size="13">{title}</text>')
        for step in range(5):
            value = highest * step / 4
            parts.append(f'<line x1="{left}" x2="{right}" y1="{rise(value):.1f}" y2="{rise(value):.1f}" stroke="#ddd"/>')
            parts.append(f'<text x="{left - 6}" y="{rise(value) + 4:.1f}" text-anchor="end">{value:.1f}</text>')
        for index, record in enumerate(rows):
            parts.append(f'<text x="{place(index):.1f}" y="{bottom + 18}" text-anchor="middle">{label(record[key])}</text>')
        for verb, colour in (("pack", "#1f5fa8"), ("unpack", "#c2571a")):
            points = [(place(index), rise(record[verb]["wall"] / record["units"] * scale)) for index, record in enumerate(rows)]
            parts.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
            parts.append(f'<text x="{points[-1][0]:.1f}" y="{points[-1][1] - 8:.1f}" text-anchor="end" fill="{colour}">{verb}</text>')
    return "\n".join(parts + ["</svg>"]) + "\n"


def write(records_path, document_path, only=None):
    records = [json.loads(line) for line in open(records_path, encoding="utf-8") if line.strip()]
    document = pathlib.Path(document_path)
    text = document.read_text(encoding="utf-8")
    picture = document.with_name("benchmarks-growth.svg")
    parts = {
        "machine": part_machine(records), "figures": part_figures(records), "peers": part_peers(records), "levels": part_levels(records),
        "growth": part_growth(records, picture.name), "catalogue": part_catalogue(records),
    }
    for name, content in parts.items():
        if only not in (None, name):
            continue
        pattern = re.compile(rf"(<!-- measured: {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        if not pattern.search(text):
            sys.exit(f"error: {document_path} has no part '{name}'")
        body = content or "Not measured in this run."
        text = pattern.sub(lambda match: f"{match.group(1)}\n{body}\n\n{match.group(2)}", text)
    document.write_text(text, encoding="utf-8")
    if only is None and any(record["type"] in ("figure", "peer", "level", "growth", "games") for record in records):
        document.with_name("benchmarks.csv").write_text(full_table(records), encoding="utf-8")
    if growth(records, "bytes") or growth(records, "files"):
        picture.write_text(draw(records), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("machine", help="print a record that describes the machine")
    command.add_argument("packer", help="the binary that is measured")
    command.add_argument("--quick", action="store_true", help="mark the run as a quick one")
    commands.add_parser("skipped", help="print a record of skipped parts, from the lines of standard input")
    command = commands.add_parser("part", help="fill one measured part of a document")
    command.add_argument("name")
    command.add_argument("records")
    command.add_argument("document")
    command = commands.add_parser("write", help="fill all measured parts of a document, and write the curves and the full table beside it")
    command.add_argument("records")
    command.add_argument("document")
    options = parser.parse_args()
    if options.command == "machine":
        print(json.dumps(machine(options.packer, options.quick)))
    elif options.command == "skipped":
        print(json.dumps({"type": "skipped", "items": [line for line in sys.stdin.read().splitlines() if line]}))
    elif options.command == "part":
        write(options.records, options.document, only=options.name)
    else:
        write(options.records, options.document)


if __name__ == "__main__":
    main()
