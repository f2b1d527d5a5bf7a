"""The known answers of manifests and pages (FORMAT.md §9)."""

from vectors.cases.lines import small_order_points
from vectors.cases.manifests.samples import SEED, kat_signed, sample_entries, sample_updates, signed_with
from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import P, public_key
from vectors.format.limits import MAX_PAGE
from vectors.format.manifest import make_manifest, read_manifest
from vectors.format.pages import cut_pages, end_of_page, make_pages, page_content, page_keys, page_name, read_page
from vectors.format.primitives import label, sha256
from vectors.format.signatures import key_id_of, root_id_of, sign_manifest

PAGE_STARTS = [0, 87, 226, 303, 479, 563, 641, 779, 887, 954]
UPDATE_STARTS = [0, 87, 185]
TAG_STARTS = ["all\\tlevel-000000", "all\\tlevel-000579", "world-3\\tlevel-000190"]


def answers_manifest(a):
    """§9.2, §9.5, §8.4"""
    public = public_key(SEED)
    a.equal("§9.5 public key", public, "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8")
    a.equal("§9.5 keyid", key_id_of(public), "17b6f57631a77084")
    a.equal("§8.4 keyid of a root signing key", root_id_of(public), "4f231d8577953171")
    for prefix, name, key, want in (("pks1", "sig-key-text", SEED, "2a6ff9d5"), ("pkp1", "sig-public-text", public, "0124f049"),
                                    ("pkt1", "root-key-text", SEED, "91c1924c"), ("pkq1", "root-public-text", public, "8fe40773")):
        a.equal(f"§8.4 {prefix}", sha256(label(name) + key)[:4], want)
        if a.document:
            a.equal("§8.4 the text in the document", f"{prefix}-{key.hex()}-{want}" in a.document, True)
    signed = canonical_json(kat_signed()).encode()
    a.equal("§9.5 signature", sign_manifest(SEED, signed)["sig"],
            "bf3ccd406ec1caaddd7b48e6fecff1142b607b8af5d1e5eb6d9cff2c192c1a6b"
            "154d0b974f788e5c056b00a4772b746eb381ff2ce7633b93f6ea77c7e5d5c406")
    data = make_manifest(signed, [SEED])
    a.equal("§9.5 length", len(data), 276)
    a.equal("§9.5 SHA-256", sha256(data), "390eddc576a8cb657ace5369530b4ca16b40422fe424ea4b9bcde3d62deb00cc")
    if a.document:
        a.equal("§9.5 the file in the document", data.decode() in a.document, True)
    a.equal("§9.5 read", read_manifest(data, [public]), (kat_signed(), ["17b6f57631a77084"]))
    # §9.2: the points of small order are those that the document lists.
    small = sorted({y for _, y in small_order_points()})
    a.equal("§9.2 small orders", [small[0], small[1], small[-1], len(small)], [0, 1, P - 1, 5])
    for y, want in zip(sorted(y.to_bytes(32, "little").hex() for y in small[2:4]), (
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a")):
        a.equal("§9.2 small order", y, want)


def answers_pages(a):
    """§9.7"""
    few = sample_entries(1000)
    runs = cut_pages("packs", few)
    a.equal("§9.7 pages of packs", [int(page_keys("packs", run)[0][-6:]) for run in runs], PAGE_STARTS)
    pairs = sorted((tag, pack["id"]) for pack in few for tag in pack["tags"])
    cuts = cut_pages("tags", pairs)
    a.equal("§9.7 pages of tags", ["\\t".join(run[0]) for run in cuts], TAG_STARTS)
    content = b"".join(page_content(kind, run) for kind, pages in (("packs", runs), ("tags", cuts)) for run in pages)
    a.equal("§9.7 length", len(content), 344240)
    a.equal("§9.7 SHA-256", sha256(content), "09a1135de3c4cfefe6ad31c7606393d92c24c1fad2cf1600ed782be11094f2a8")
    runs = cut_pages("updates", sample_updates(200))
    a.equal("§9.7 pages of updates", [int(page_keys("updates", run)[0][-6:]) for run in runs], UPDATE_STARTS)
    content = b"".join(page_content("updates", run) for run in runs)
    a.equal("§9.7 length of updates", len(content), 1889199)
    a.equal("§9.7 SHA-256 of updates", sha256(content), "9e56318453f6cdf00b31155561e61889ed3d1ed6a358e20b12d6bb3178ef620a")
    if a.document:
        for text in (*(f"`{text}`" for text in TAG_STARTS), ",".join(map(str, PAGE_STARTS)), ",".join(map(str, UPDATE_STARTS)), "344240bytes", "1889199bytes"):
            a.equal("§9.7 in the document", text in a.document, True)
    # A page may have 2^20 bytes, and not one more.
    full = sample_updates(UPDATE_STARTS[2])[UPDATE_STARTS[1]:]
    missing = MAX_PAGE - len(page_content("updates", full))
    for delta in (delta for entry in full for delta in entry["deltas"]):
        more = min(missing, 13)
        delta["size"] *= 10**more
        missing -= more
    a.equal("§9.7 a full page", (len(page_content("updates", full)), len(cut_pages("updates", full))), (MAX_PAGE, 1))
    full[-1]["deltas"][-1]["size"] *= 10
    a.equal("§9.7 a page that would be too large", list(map(len, cut_pages("updates", full))), [len(full) - 1, 1])
    # What is made is found again, through index pages too.
    packs, updates = sample_entries(9000), sample_updates(9000, 2)
    references, files = make_pages(packs, updates)
    signed = signed_with(*references)
    a.equal("§9.7 index pages", {r.get("of") for r in references}, {"packs", "tags", "updates"})
    found, deltas = [], []
    for i, reference in enumerate(references):
        end = end_of_page(references, i)
        pages = read_page(files[page_name(reference)], reference, end, signed)
        for j, page in enumerate(pages):
            below = pages[j + 1]["first"] if j + 1 < len(pages) else end
            entries = read_page(files[page_name(page)], page, below, signed)
            found += page_keys(page["kind"], entries)
            deltas += entries if page["kind"] == "updates" else ()
    a.equal("§9.7 keys", len(found), 36000)
    a.equal("§9.7 updates", deltas == updates, True)
