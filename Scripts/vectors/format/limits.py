"""The limits of FORMAT.md: §6, §9 and §13."""

# §6: packs.
MAX_FILE = 1 << 40
MAX_STANZAS = 16384
MIN_SEGMENT, MAX_SEGMENT = 4096, 1 << 20
MAX_VERSION = (1 << 53) - 1
MAX_ENTRIES = 131072
MAX_RECORDS = 1 << 20
MAX_PATH = 1024
MAX_COMPONENT = 255
MAX_DEPTH_OF_PATH, MAX_DIRECTORIES = 64, 65536
MAX_FRAME = 8 << 20
MAX_BLOCK = 128 * (1024 + 18)
MAX_DIRECTORY = 2 << 20
MAX_CONTENT = 64 << 30
MIN_FRAME_SIZE = 64 << 10

# §9.1, §9.6: manifests and keys documents.
MAX_MANIFEST = 1 << 20
MAX_SIGNATURES = 16
MAX_DOCUMENTS, MAX_DOCUMENT, MAX_DOCUMENT_SIGNATURES, MAX_KEYS = 32, 1 << 14, 32, 16
MAX_DEPTH = 8
MAX_INTEGER = (1 << 53) - 1

# §9.3 and §9.7: deltas to a pack, and shards.
MAX_DELTAS = 64
MAX_SHARD, MAX_SHARD_WRITTEN = 1 << 20, 1 << 19
MAX_SHARDS = 1 << 10

# §9.9: leads.
MAX_LEAVES = 1 << 16
# §9.10: openers.
MAX_OPENER = 4096

# §13: deltas.
MAX_BASES, MAX_COPIES, MAX_RANGES, MAX_NAMED = 4, 1 << 19, 1024, 1 << 20
MIN_COPY, MAX_COPY = 32, 1 << 20
# The output of a window, what its prefix has of the bases, and what of the literals before.
MAX_OUTPUT = MAX_HISTORY = 2 << 20
MAX_CONTEXT = 4 << 20
MIN_REACH, MAX_REACH = 256, 1 << 18
MAX_LIST, MAX_DELTA_HEAD = 16 << 20, 4 << 20
FREE_WORK = 64 << 20
