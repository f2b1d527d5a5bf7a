"""The known answers of manifests, catalogues and rollouts (FORMAT.md §9)."""

from vectors.cases.lines import small_order_points
from vectors.cases.manifests.samples import SEED, kat_signed, sample_entries, sample_updates, signed_with
from vectors.format.canonical_json import canonical_json
from vectors.format.ed25519 import P, public_key
from vectors.format.manifest import make_manifest, read_manifest
from vectors.format.primitives import label, sha256
from vectors.format.rollouts import place_in
from vectors.format.shards import cut_catalogue, make_catalogue, read_shard, shard_content, shard_name
from vectors.format.signatures import key_id_of, root_id_of, sign_manifest

LENGTH, DIGEST = 313511, "728afb7e76e96f7defdffcd963eadbed04362ee2ded83fcfc95ab06043c2a327"
DELTAS_LENGTH, DELTAS_DIGEST = 1712716, "049de4a5d0b9d4a59d940b5baae1d1ae61fc8f5fe08c802bf95338bb24c2de39"
COUNTS = [54, 55, 46, 45]


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


def answers_catalogue(a):
    """§9.7"""
    few = sample_entries(1000)
    shards = cut_catalogue(few)
    a.equal("§9.7 one shard", len(shards), 1)
    content = shard_content(shards[0])
    a.equal("§9.7 length", len(content), LENGTH)
    a.equal("§9.7 SHA-256", sha256(content).hex(), DIGEST)
    shards = cut_catalogue(sample_updates(200))
    a.equal("§9.7 shards with deltas", [len(entries) for entries in shards], COUNTS)
    content = b"".join(map(shard_content, shards))
    a.equal("§9.7 length with deltas", len(content), DELTAS_LENGTH)
    a.equal("§9.7 SHA-256 with deltas", sha256(content).hex(), DELTAS_DIGEST)
    if a.document:
        for text in (f"{LENGTH}bytes", DIGEST, f"{DELTAS_LENGTH}bytes", DELTAS_DIGEST, ",".join(map(str, COUNTS))):
            a.equal("§9.7 in the document", text in a.document, True)
    # The number of shards never falls.
    a.equal("§9.7 as many as before", len(cut_catalogue(few, 8)), 8)
    # What is made is found again.
    packs = sample_updates(3000, 2)
    shards, files = make_catalogue(packs)
    signed = signed_with(*shards)
    found = [entry for index, shard in enumerate(shards) for entry in read_shard(files[shard_name(shard)], index, signed)]
    a.equal("§9.7 ids", sorted(entry["id"] for entry in found), [entry["id"] for entry in packs])
    a.equal("§9.7 deltas", sorted(map(repr, (entry["deltas"] for entry in found))), sorted(map(repr, (entry["deltas"] for entry in packs))))


def answers_rollout(a):
    """§9.11"""
    salt, place = bytes(range(16)), 9953
    a.equal("§9.11 place", place_in({"salt": salt.hex()}, bytes(range(32))), place)
    if a.document:
        a.equal("§9.11 in the document", f"forsalt00…0fandrandombytes00…1fitis{place}." in a.document, True)
    # Places are spread over all ten-thousandths.
    places = [place_in({"salt": salt.hex()}, sha256(b"installation %d" % i)) for i in range(10000)]
    a.equal("§9.11 all places", 0 <= min(places) < 10 and 9989 < max(places) < 10000, True)
    a.equal("§9.11 a quarter of them", 2300 < sum(place < 2500 for place in places) < 2700, True)
