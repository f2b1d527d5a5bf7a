"""References to pages in a manifest."""

from vectors.cases.manifests.samples import DEFAULTS, SEED, kat_pack, kat_signed, sample_entries, sample_updates
from vectors.cases.manifests.vector import manifest_vector
from vectors.format.frames import bound
from vectors.format.limits import MAX_PAGE
from vectors.format.manifest import make_manifest
from vectors.format.pages import make_page


def page_manifests():
    """§9.7: references in a manifest."""
    packs, _ = make_page("packs", sample_entries(3))
    later, _ = make_page("packs", sample_entries(6)[4:])
    tags, _ = make_page("tags", [("all", "level-000000")])
    index, _ = make_page("index", [packs, later], of="packs")

    def case(name, expect, comment, pages, **changes):
        return manifest_vector(name, expect, comment, make_manifest(
            kat_signed(**{"packs": [kat_pack(url=None, keyId=None)], "pages": pages, **DEFAULTS, **changes}), [SEED]))

    yield case("pages", "ok", "pages of packs and tags", [packs, later, tags])
    yield case("pages-index", "ok", "an index page beside a page of tags", [index, tags])
    yield case("pages-mixed", "ok", "a page of packs and an index page of packs", [packs, {**index, "first": later["first"]}])
    yield case("pages-unknown-kind", "ok", "kinds that readers pass over", [packs, {**packs, "kind": "sounds"}, {**packs, "kind": "updates"}])
    updates, _ = make_page("updates", sample_updates(3))
    later_updates, _ = make_page("updates", sample_updates(6)[4:])
    update_index, _ = make_page("index", [updates, later_updates], of="updates")
    yield case("pages-updates", "ok", "pages of packs, tags and updates", [packs, tags, updates, later_updates])
    yield case("pages-updates-only", "ok", "a page of updates and no other", [updates])
    yield case("pages-updates-index", "ok", "index pages of packs and of updates", [index, update_index])
    yield case("pages-unknown-key", "ok", "a key in a reference that readers pass over", [{**packs, "a": 1}])
    many = [{**packs, "first": f"level-{i:06}"} for i in range(65)]
    yield case("pages-64", "ok", "as many references as there may be", many[:64])
    for name, comment, pages in (
            ("pages-65", "a reference too many", many), ("pages-none", "an empty list", []), ("pages-object", "pages that are no array", {}),
            ("pages-text", "a reference that is no object", ["packs"]), ("pages-kinds-unsorted", "kinds in the wrong order", [tags, packs]),
            ("pages-unsorted", "keys in the wrong order", [later, packs]), ("pages-twice", "a first key twice", [packs, packs]),
            ("pages-updates-first", "updates before packs", [updates, packs]),
            ("pages-updates-before-tags", "updates before tags", [packs, updates, tags]),
            ("pages-updates-unsorted", "updates in the wrong order", [later_updates, updates]),
            ("pages-updates-index-first", "an index page of updates before packs", [update_index, packs]),
            ("pages-index-unsorted", "an index page before a page with a lower key", [{**index, "first": later["first"]}, packs])):
        yield case(name, "damaged", comment, pages)
    for key in packs:
        yield case(f"page-without-{key}", "damaged", f"a reference without {key}", [{k: v for k, v in packs.items() if k != key}])
    for name, comment, base, changes in (
            ("page-kind-upper-case", "a kind in upper case", packs, {"kind": "Packs"}),
            ("page-kind-path", "a kind that is no word", packs, {"kind": "../a"}),
            ("page-kind-long", "a kind of 17 letters", packs, {"kind": "a" * 17}),
            ("page-of-without-index", "`of` where there is no index", packs, {"of": "packs"}),
            ("page-index-without-of", "an index page that does not say of what", packs, {"kind": "index"}),
            ("page-index-of-index", "an index page of index pages", index, {"of": "index"}),
            ("page-count-0", "a page without entries", packs, {"count": 0}),
            ("page-count-513", "a page with too many entries", packs, {"count": 513}),
            ("page-count-4097", "a page of tags with too many entries", tags, {"count": 4097}),
            ("page-updates-count-513", "a page of updates with too many entries", updates, {"count": 513}),
            ("page-of-in-updates", "`of` in a page of updates", updates, {"of": "packs"}),
            ("page-content-size-0", "a page without content", packs, {"contentSize": 0}),
            ("page-content-size-above", "a page above 1 MiB", packs, {"contentSize": MAX_PAGE + 1}),
            ("page-size-0", "a page without a byte", packs, {"size": 0}),
            ("page-size-above-bound", "a page larger than its content can make it", packs, {"size": bound(packs["contentSize"]) + 1}),
            ("page-sha256-short", "a digest of 31 bytes", packs, {"sha256": "00" * 31}),
            ("page-first-integer", "a first key that is no text", packs, {"first": 1})):
        yield case(name, "damaged", comment, [{**base, **changes}])
    yield case("pages-without-base", "damaged", "pages where there is no base", [packs], base=None, packs=[kat_pack(keyId=None)])
