"""The cases of full packs: Tests/Vectors/valid, refused-open, hostile and others."""
