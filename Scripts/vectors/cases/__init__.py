"""The cases of Tests/Vectors: accepted, refused and hostile bytes, each with the result that readers must have."""
