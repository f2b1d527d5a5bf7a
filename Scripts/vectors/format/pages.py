"""Pages of a manifest, written and read (FORMAT.md §9.7)."""

from vectors.format.canonical_json import canonical_json, parse_canonical
from vectors.format.entries import PACK_VALUES, check_keys, is_integer, is_text, is_texts, matches, read_pack_entry
from vectors.format.errors import require
from vectors.format.frames import bound, check_frame, decompress, run_frame, zstd_frame
from vectors.format.limits import MAX_DELTAS, MAX_PAGE, MAX_PAGE_ENTRIES, MAX_PAGE_TAGS, MAX_REFERENCES
from vectors.format.primitives import number, sha256

REFERENCE_VALUES = {"contentSize": is_integer, "count": is_integer, "first": is_text, "kind": matches("[a-z]{1,16}"),
                    "sha256": matches("[0-9a-f]{64}"), "size": is_integer}
PAGE_KEYS = {"packs": "packs", "tags": "tags", "updates": "updates", "index": "pages"}
UPDATE_VALUES = {"deltas": lambda value: isinstance(value, list) and 1 <= len(value) <= MAX_DELTAS, "id": PACK_VALUES["id"]}
DELTA_VALUES = {"bases": lambda value: is_texts(value) and 1 <= len(value) <= 4 and all(map(PACK_VALUES["contentRoot"], value))
                and len(set(value)) == len(value),
                "sha256": PACK_VALUES["sha256"], "size": lambda value: is_integer(value) and value > 0}
OPTIONAL_DELTA_VALUES = {"target": PACK_VALUES["contentRoot"]}


def bytes_of(text):
    return text.encode("utf-8", "surrogatepass")


def most_entries(kind):
    return MAX_PAGE_TAGS if kind == "tags" else MAX_PAGE_ENTRIES


def check_references(references):
    """§9.7: a list of references."""
    require(isinstance(references, list) and references, "no list of pages")
    for reference in references:
        check_keys(reference, REFERENCE_VALUES, {"of": REFERENCE_VALUES["kind"]}, "a page")
        require(("of" in reference) == (reference["kind"] == "index"), "`of` belongs to index pages")
        require(reference.get("of") != "index", "an index page of index pages")
        require(1 <= reference["count"] <= most_entries(reference["kind"]), "count")
        require(1 <= reference["contentSize"] <= MAX_PAGE, "contentSize")
        require(1 <= reference["size"] <= bound(reference["contentSize"]), "size")
    keys = [(bytes_of(r.get("of", r["kind"])), bytes_of(r["first"])) for r in references]
    require(all(a < b for a, b in zip(keys, keys[1:])), "the order of the pages")


def page_name(reference):
    return f"{reference['kind']}-{reference['sha256'][:16]}.page"


def page_keys(kind, entries):
    """§9.7: the keys of the entries."""
    if kind == "tags":
        return [f"{entry['tag']}\t{name}" for entry in entries for name in entry["ids"]]
    return [entry["first" if kind == "index" else "id"] for entry in entries]


def check_update(entry):
    """§9.7: the deltas to a pack."""
    check_keys(entry, UPDATE_VALUES, {}, "an update")
    for delta in entry["deltas"]:
        check_keys(delta, DELTA_VALUES, OPTIONAL_DELTA_VALUES, "a delta")
        require(delta.get("target") not in delta["bases"], "a delta that makes one of its bases")
    digests = [delta["sha256"] for delta in entry["deltas"]]
    require(all(a < b for a, b in zip(digests, digests[1:])), "the order of the deltas")


def read_page(data, reference, end, signed):
    """§9.7: the entries of a page; `end` is the first key of the next page of its kind, or None."""
    require(len(data) == reference["size"] and sha256(data).hex() == reference["sha256"], "another file than the reference names")
    content = decompress(data, check_frame(data, exactly=reference["contentSize"]))
    value = parse_canonical(content, 1)
    kind = reference["kind"]
    require(isinstance(value, dict) and isinstance(value.get(PAGE_KEYS[kind]), list), "no such list")
    entries = value[PAGE_KEYS[kind]]
    if kind == "packs":
        entries = [read_pack_entry(entry, signed, {"delivery": "onDemand"}) for entry in entries]
        require(all(entry["delivery"] == "onDemand" for entry in entries), "a delivery in a page")
        require(not {entry["id"] for entry in entries} & {pack["id"] for pack in signed["packs"]}, "an id that the manifest lists")
    elif kind == "tags":
        for entry in entries:
            check_keys(entry, {"ids": is_texts, "tag": matches("[^\0-\x1f]*")}, {}, "a tag")
            require(entry["ids"] and all(map(PACK_VALUES["id"], entry["ids"])), "the ids of a tag")
        tags = [bytes_of(entry["tag"]) for entry in entries]
        require(all(a < b for a, b in zip(tags, tags[1:])), "the order of the tags")
    elif kind == "updates":
        for entry in entries:
            check_update(entry)
    else:
        check_references(entries)
        require(all(entry["kind"] == reference["of"] for entry in entries), "an index page with another kind")
    keys = page_keys(kind, entries)
    order = list(map(bytes_of, keys))
    require(len(keys) == reference["count"] and keys[0] == reference["first"], "count or first key")
    require(all(a < b for a, b in zip(order, order[1:])), "the order of the keys")
    require(end is None or order[-1] < bytes_of(end), "a key of the next page")
    return entries


def end_of_page(references, index):
    """§9.7: the first key of the next page of the kind."""
    kind = references[index].get("of", references[index]["kind"])
    return next((r["first"] for r in references[index + 1:] if r.get("of", r["kind"]) == kind), None)


def tag_groups(pairs):
    groups = []
    for tag, name in pairs:
        if not groups or groups[-1]["tag"] != tag:
            groups.append({"ids": [], "tag": tag})
        groups[-1]["ids"].append(name)
    return groups


def page_content(kind, entries):
    return canonical_json({PAGE_KEYS[kind]: tag_groups(entries) if kind == "tags" else entries}).encode("utf-8")


def cut_pages(kind, entries):
    """§9.7: runs of sorted entries; those of tags are pairs."""
    most = most_entries(kind)
    least = most // 8
    runs, size = [[]], 0
    for entry in entries:
        # At least what the entry adds, so that the content is made only where its length may matter.
        growth = 40 + len(canonical_json(list(entry) if kind == "tags" else entry).encode("utf-8"))
        size = size + growth if runs[-1] else growth
        if runs[-1] and size > MAX_PAGE and len(page_content(kind, [*runs[-1], entry])) > MAX_PAGE:
            runs.append([])
            size = growth
        runs[-1].append(entry)
        key = "\t".join(entry) if kind == "tags" else page_keys(kind, [entry])[0]
        if len(runs[-1]) == most or len(runs[-1]) >= least and number(sha256(bytes_of(key)), 0, 2) % least == 0:
            runs.append([])
    return [run for run in runs if run]


def make_page(kind, entries, of=None, codec=run_frame):
    """§9.7: the reference and the file."""
    content = page_content(kind, entries)
    data = codec(content)
    first = "\t".join(entries[0]) if kind == "tags" else page_keys(kind, entries[:1])[0]
    reference = {"contentSize": len(content), "count": len(entries), "first": first, "kind": kind, "sha256": sha256(data).hex(),
                 "size": len(data), **({"of": of} if of else {})}
    return reference, data


def update_entry(name, deltas, root):
    """§9.7: the entry for a pack with this content root; each delta says what it makes."""
    entries = [{key: value for key, value in delta.items() if key != "target" or value != root} for delta in deltas]
    return {"deltas": sorted(entries, key=lambda delta: delta["sha256"]), "id": name}


def make_pages(packs, updates=(), codec=zstd_frame):
    """§9.7: the references for `signed` and the files by name, for entries as they stand in a page."""
    packs, updates = (sorted(entries, key=lambda entry: entry["id"]) for entries in (packs, updates))
    pairs = sorted({(tag, pack["id"]) for pack in packs for tag in pack.get("tags", ())}, key=lambda pair: bytes_of("\t".join(pair)))
    pages = [make_page(kind, run, codec=codec) for kind, entries in (("packs", packs), ("tags", pairs), ("updates", updates))
             for run in cut_pages(kind, entries)]
    files = dict(pages_by_name(pages))
    if len(pages) > MAX_REFERENCES:
        pages = [make_page("index", run, of=kind, codec=codec) for kind in ("packs", "tags", "updates")
                 for run in cut_pages("index", [r for r, _ in pages if r["kind"] == kind])]
        files.update(pages_by_name(pages))
    return [reference for reference, _ in pages], files


def pages_by_name(pages):
    return ((page_name(reference), data) for reference, data in pages)
