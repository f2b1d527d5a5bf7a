"""The cases of shards: Tests/Vectors/shards."""
