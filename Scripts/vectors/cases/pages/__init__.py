"""The cases of pages: Tests/Vectors/pages."""
