"""The cases of manifests and keys documents: Tests/Vectors/manifest."""
