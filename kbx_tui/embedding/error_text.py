"""Shared wording of embedding errors: one sentence that ends with a remedy."""

from __future__ import annotations

OFFLINE_HINT = 'model = "bundled" works offline'
"""End of every message about a model that is not available."""


def brief(error: Exception) -> str:
    """Return the first sentence of an error on one line, at most 160 characters.

    Falls back to the name of its class.
    """
    sentence = " ".join(str(error).split()).partition(". ")[0]
    return sentence[:160].rstrip(". ") or type(error).__name__
