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
_STRING_OR_COMMENT = (
    r"\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*+\"{3,5}|'{3}(?:[^']|'(?!''))*+'{3,5}"
    r"|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+'|#[^\n]*+"
)
_TEXT = re.compile(_STRING_OR_COMMENT, re.DOTALL)
_TOKEN = re.compile(rf"{_STRING_OR_COMMENT}|[\[\]{{}}\n]", re.DOTALL)
_DOTTED_KEY = re.compile(r"(?<![\w\"-])[\w\"-]++(?:[ \t]*+\.[ \t]*+[\w\"-]++)++[ \t]*+=")
_ENTRY = re.compile(r"[ \t]*+([^\s#])")


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
    """Return how many dots the keys of a valid text in TOML have, without those of its tables."""
    return sum(key[0].count(".") for key in _DOTTED_KEY.finditer(_TEXT.sub('""', text)))


def entry_lines(text: str) -> dict[int, int]:
    """Return the lines, from 0, where a valid text in TOML begins a table (0) or a key (1)."""
    starts, line, depth = dict[int, int](), -1, 0
    text = f"\n{text}"
    for token in _TOKEN.finditer(text):
        line += token[0].count("\n")
        depth += (token[0] in "[{") - (token[0] in "]}")
        if token[0] == "\n" and not depth and (first := _ENTRY.match(text, token.end())):
            starts[line] = 0 if first[1] == "[" else 1
    return starts
