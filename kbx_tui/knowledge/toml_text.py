"""TOML that may come from elsewhere, read in a time that grows with its length. Apart, because both
frontmatter and kbx.toml are read with it."""

from __future__ import annotations

import re
import tomllib
from typing import Any

KEY_PARTS = 100
_PART = r"(?:[\w-]++|\"\")"
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}[ \t]*+\.[ \t]*+){{{KEY_PARTS}}}")
_STRING_OR_COMMENT = (  # without an end, to where it should be: nothing is looked at twice
    r"\"{3}(?:[^\"\\]|\\.|\"(?!\"\"))*+(?:\"{3,5})?|'{3}(?:[^']|'(?!''))*+(?:'{3,5})?"
    r"|\"(?:[^\"\\\n]|\\.)*+\"?|'[^'\n]*+'?|#[^\n]*+"
)
_TEXT = re.compile(_STRING_OR_COMMENT, re.DOTALL)
_TOKEN = re.compile(rf"{_STRING_OR_COMMENT}|[\[\]{{}}\n]", re.DOTALL)
_DOTTED_KEY = re.compile(r"(?<![\w\"-])[\w\"-]++(?:[ \t]*+\.[ \t]*+[\w\"-]++)++[ \t]*+=")
_ENTRY = re.compile(r"[ \t]*+([^\s#])")


def load_toml(text: str) -> dict[str, Any]:
    """Return what a text in TOML says. Raises ValueError.

    tomllib takes a time that grows with the cube of the parts of a dotted key.
    """
    if _LONG_KEY.search(_without_texts(text)):
        raise ValueError(f"a key has more than {KEY_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def count_dots(text: str) -> int:
    """Return how many dots the keys of a valid text in TOML have, without those of its tables."""
    return sum(key[0].count(".") for key in _DOTTED_KEY.finditer(_without_texts(text)))


def _without_texts(text: str) -> str:
    """Return a text in TOML with its strings emptied, quoted keys too, and without comments."""
    return _TEXT.sub(lambda found: "" if found[0].startswith("#") else '""', text)


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
