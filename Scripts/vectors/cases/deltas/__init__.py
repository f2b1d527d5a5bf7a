"""The cases of deltas: Tests/Vectors/deltas."""
