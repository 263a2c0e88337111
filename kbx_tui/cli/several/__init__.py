"""Several knowledge bases at once: which are known, and searching them together."""
