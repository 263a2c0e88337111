"""How this room words its errors: one sentence, and the way out at its end."""

from __future__ import annotations

OFFLINE_HINT = 'model = "bundled" works offline'
"""How every message about a model that cannot be had ends."""


def brief(error: Exception) -> str:
    """Return the first sentence of a library's error on one line, at most 160 characters."""
    sentence = " ".join(str(error).split()).partition(". ")[0]
    return sentence[:160].rstrip(". ") or type(error).__name__
