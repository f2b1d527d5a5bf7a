"""The known answers of FORMAT.md."""
