"""Ours beside what people use instead, on the same documents and queries (README.md)."""
