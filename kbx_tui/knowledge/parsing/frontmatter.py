"""YAML frontmatter as JSON-safe values. Reading never fails: errors are reported as a fault."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kbx_tui.knowledge.parsing.yaml_loading import (
    MAX_DEPTH,
    MAX_VALUES,
    LoadedYaml,
    UnreadableYaml,
    load_yaml,
)
from kbx_tui.safe_text import replace_surrogates

_MAX_SALVAGED_LINES = 2000
_PLACEHOLDER = re.compile(
    r"^([^\s#:][^:\n]{0,100}:[ \t]+)(\{\{[^\n'{}]{0,200}\}\}[^\n']{0,200})$", re.MULTILINE
)
"""A value that a template leaves open, as `date: {{date}}`, which YAML cannot read."""
_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_KEY_LINE = re.compile(r"[^\s#\[\]{},:'\"-][^\n:]{0,100}:(?:[ \t]|$)")
_PLAIN_VALUE = re.compile(
    r"([^\s:#-][^:\n]{0,100}):[ \t]+((?:\[\[|[^\s\[\]{}&*!|>'\"%@`#])[^\n]*)\n?\Z"
)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The values between the two ``---`` lines, and the text after them."""

    values: dict[str, Any]
    body: str
    body_line: int
    """1-based line of the file where the body starts."""
    fault: str = ""
    """Why the values are incomplete, empty if they are complete."""
    fault_line: int = 0
    """1-based line of the file, 0 without a fault."""


def read_frontmatter(text: str) -> Frontmatter:
    """Split ``text``, whose lines end with ``\\n``, and read its frontmatter; never raises.

    Without a closing line, or if the block is not a mapping, the whole text is the body. Of invalid
    YAML, the entries that are valid on their own are kept. A placeholder of a template is text.
    """
    opening = _OPEN.match(text)
    if not opening:
        return Frontmatter({}, text, 1)
    closing = _CLOSE.search(text, opening.end())
    if not closing:
        fault = "frontmatter has no closing ---" if _KEY_LINE.match(text, opening.end()) else ""
        return Frontmatter({}, text, 1, fault, 1 if fault else 0)
    source = text[opening.end() : closing.start()]
    body = text[closing.end() :]
    body_line = 2 + source.count("\n") + 1
    try:
        loaded = _load(source)
    except UnreadableYaml as error:
        salvaged = _salvage(source) if error.salvageable else {}
        return Frontmatter(salvaged, body, body_line, str(error), error.line + 2)
    if loaded.value is None:
        return Frontmatter({}, body, body_line)
    if not isinstance(loaded.value, dict):
        return Frontmatter({}, text, 1, "frontmatter is not a mapping of keys to values", 1)
    copier = _JsonCopier()
    values = copier.mapping(loaded.value, 0)
    fault = ""
    if loaded.is_cut:
        fault = f"frontmatter has more than {MAX_VALUES:,} values: those after them are not read"
    elif copier.cut:
        fault = "frontmatter is nested too deep or repeats itself too often"
    return Frontmatter(values, body, body_line, fault, 1 if fault else 0)


def _load(source: str) -> LoadedYaml:
    """Return the values of a source, with the placeholders of a template as text.

    Raises UnreadableYaml.
    """
    try:
        return load_yaml(source)
    except UnreadableYaml:
        if (quoted := _PLACEHOLDER.sub(r"\1'\2'", source)) == source:
            raise
    return load_yaml(quoted)


def _salvage(source: str) -> dict[str, Any]:
    """Return the entries of invalid YAML that can be read on their own.

    kbx writes titles unquoted, so a colon in one invalidates the whole block. Together they have
    as many values as valid YAML may: each entry could repeat itself that often.
    """
    values: dict[str, Any] = {}
    copier = _JsonCopier()
    for entry in _entries(source):
        try:
            loaded = load_yaml(entry).value
        except UnreadableYaml:
            plain = _PLAIN_VALUE.match(entry)
            loaded = {plain[1].strip(): plain[2].strip()} if plain else None
        if isinstance(loaded, dict):
            values |= copier.mapping(loaded, 0)
        if copier.remaining <= 0:
            break
    return values


def _entries(source: str) -> Iterator[str]:
    entry: list[str] = []
    for line in source.split("\n")[:_MAX_SALVAGED_LINES]:
        if entry and _KEY_LINE.match(line):
            yield "\n".join(entry)
            entry = []
        entry.append(line)
    yield "\n".join(entry)


class _JsonCopier:
    """Copies loaded values to JSON types, up to a number of nodes and a depth.

    With YAML aliases, a few lines can expand to billions of values or contain themselves.
    """

    def __init__(self) -> None:
        self.remaining = MAX_VALUES
        self.cut = False
        """True once values had to be left out."""

    def mapping(self, values: dict[Any, Any], depth: int) -> dict[str, Any]:
        copied = {}
        for key, value in values.items():
            if self._is_exhausted(depth):
                break
            copied[_text(key)] = self.value(value, depth + 1)
        return copied

    def value(self, value: object, depth: int) -> Any:
        self.remaining -= 1
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return _encodable(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, dict):
            return self.mapping(value, depth)
        if isinstance(value, list | tuple | set | frozenset):
            copied = []
            for entry in sorted(value, key=str) if isinstance(value, set | frozenset) else value:
                if self._is_exhausted(depth):
                    break
                copied.append(self.value(entry, depth + 1))
            return copied
        return _text(value)

    def _is_exhausted(self, depth: int) -> bool:
        exhausted = self.remaining <= 0 or depth > MAX_DEPTH
        self.cut = self.cut or exhausted
        return exhausted


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _encodable(value if isinstance(value, str) else str(value))


def _encodable(text: str) -> str:
    return text if text.isascii() else replace_surrogates(text)
