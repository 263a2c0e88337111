"""TOML that may come from elsewhere, read in a time that grows with its length. Apart, because both
frontmatter and kbx.toml are read with it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

KEY_PARTS = 100
_PART = r"(?:[\w-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')"
_LONG_KEY = re.compile(rf"(?<![\w\\-])(?:{_PART}[ \t]*+\.[ \t]*+){{{KEY_PARTS}}}")
"""Begins at no escaped quotation mark: a scan from each to the end of its string takes hours."""
_DOTTED_KEY = re.compile(rf"^[ \t]*+((?:{_PART}[ \t]*+\.[ \t]*+)++){_PART}[ \t]*+=", re.MULTILINE)


def load_toml(text: str) -> dict[str, Any]:
    """Return what a text in TOML says. Raises ValueError.

    tomllib takes a time that grows with the cube of the parts of a dotted key.
    """
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def count_dots(text: str) -> int:
    """Return how many dots the keys of a text in TOML have, without those of its tables."""
    return sum(dotted[1].count(".") for dotted in _DOTTED_KEY.finditer(text))
