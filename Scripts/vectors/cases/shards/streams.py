"""A lead in the entry of a shard."""

from vectors.cases.manifests.samples import STREAM, right_streams, sample_entries, wrong_streams
from vectors.cases.shards.vector import content_vector
from vectors.format.shards import shard_content

ENTRY = sample_entries(1)[0]
SIZE = ENTRY["size"]


def streams_in_entries():
    """§9.3, §9.9"""
    def entry(name, expect, comment, stream):
        return content_vector(f"stream-{name}", expect, comment, {"packs": [{**ENTRY, "stream": stream}]}, 1)

    for expect, streams in (("ok", right_streams(SIZE)), ("damaged", wrong_streams(SIZE))):
        for name, comment, stream in streams:
            yield entry(name, expect, comment, stream)
    yield entry("of-another-pack", "damaged", "a lead that fits a pack of another size", STREAM)
    text = shard_content([{**ENTRY, "stream": {**STREAM, "launch": 1, "size": 34, "tail": 999}}])
    for name, comment, old, new in (
            ("key-order", "the keys of a stream in another order", b'"tail":999}', b'"tail":999,"a":1}'),
            ("key-twice", "a key of a stream twice", b'"tail":999}', b'"tail":999,"tail":999}'),
            ("tail-fraction", "a tail with a fraction", b'"tail":999}', b'"tail":999.0}')):
        assert text.count(old) == 1
        yield content_vector(f"stream-{name}", "damaged", comment, text.replace(old, new), 1)
