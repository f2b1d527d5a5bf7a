"""The catalogue of a manifest: shards, written and read (FORMAT.md §9.7)."""

from vectors.format.canonical_json import canonical_json, parse_canonical
from vectors.format.entries import check_keys, is_integer, matches, read_pack_entry
from vectors.format.errors import require
from vectors.format.frames import bound, check_frame, decompress, run_frame, zstd_frame
from vectors.format.limits import MAX_SHARD, MAX_SHARD_WRITTEN, MAX_SHARDS
from vectors.format.primitives import label, number, sha256

SHARD_VALUES = {"contentSize": is_integer, "maxCount": is_integer, "sha256": matches("[0-9a-f]{64}"), "size": is_integer}


def bytes_of(text):
    return text.encode("utf-8", "surrogatepass")


def check_catalogue(shards):
    """§9.7: the list in a manifest."""
    require(isinstance(shards, list) and shards, "no list of shards")
    require(len(shards) <= MAX_SHARDS and len(shards) & (len(shards) - 1) == 0, f"{len(shards)} shards")
    for shard in shards:
        check_keys(shard, SHARD_VALUES, {}, "a shard")
        require(1 <= shard["contentSize"] <= MAX_SHARD, "contentSize")
        require(1 <= shard["size"] <= bound(shard["contentSize"]), "size")
        require(shard["maxCount"] <= shard["contentSize"], "maxCount")


def shard_name(shard):
    return f"catalogue-{shard['sha256'][:16]}.shard"


def shard_number(name, count):
    """§9.7: the number of the shard that an id belongs in, of `count`."""
    bits = count.bit_length() - 1
    return number(sha256(label("shard") + bytes_of(name))[1::-1], 0, 2) >> (16 - bits)


def read_shard(data, index, signed):
    """§9.7: the entries of the shard with this number."""
    shards = signed["catalogue"]
    shard = shards[index]
    require(len(data) == shard["size"] and sha256(data).hex() == shard["sha256"], "another file than the manifest names")
    content = decompress(data, check_frame(data, exactly=shard["contentSize"]))
    value = parse_canonical(content, 1)
    require(isinstance(value, dict) and isinstance(value.get("packs"), list), "no list of packs")
    entries = [read_pack_entry(entry, signed, {"delivery": "onDemand"}) for entry in value["packs"]]
    require(all(entry["delivery"] == "onDemand" for entry in entries), "a delivery in a shard")
    require(not {entry["id"] for entry in entries} & {pack["id"] for pack in signed["packs"]}, "an id that the manifest lists")
    require(len(entries) <= shard["maxCount"], "the number of entries")
    order = [bytes_of(entry["id"]) for entry in entries]
    require(all(a < b for a, b in zip(order, order[1:])), "the order of the ids")
    require(all(shard_number(entry["id"], len(shards)) == index for entry in entries), "an id of another shard")
    return entries


def shard_content(entries):
    return canonical_json({"packs": entries}).encode("utf-8")


def make_shard(entries, codec=run_frame):
    """§9.7: the reference and the file, for entries as they stand in a shard."""
    content = shard_content(entries)
    data = codec(content)
    return {"contentSize": len(content), "maxCount": len(entries), "sha256": sha256(data).hex(), "size": len(data)}, data


def cut_catalogue(packs, least=1):
    """§9.7: the entries of each shard; `least` is the number of shards of the release before."""
    packs, count = sorted(packs, key=lambda entry: bytes_of(entry["id"])), least
    while True:
        shards = [[] for _ in range(count)]
        for pack in packs:
            shards[shard_number(pack["id"], count)].append(pack)
        if all(len(shard_content(entries)) < MAX_SHARD_WRITTEN for entries in shards):
            return shards
        count *= 2
        require(count <= MAX_SHARDS, f"{len(packs)} packs need more than {MAX_SHARDS} shards")


def make_catalogue(packs, least=1, codec=zstd_frame):
    """§9.7: the references for `signed`, and the files by name."""
    made = [make_shard(entries, codec) for entries in cut_catalogue(packs, least)]
    return [shard for shard, _ in made], {shard_name(shard): data for shard, data in made}
