"""Search results as a page to share: one HTML file without what is redacted."""
