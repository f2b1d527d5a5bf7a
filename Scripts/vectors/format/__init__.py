"""The second implementation of the format: written from FORMAT.md alone. Imports nothing of what makes cases."""
