"""Frontmatter fields: how kbx writes them, and edits of them, one splice per field. Pure.

Only the lines of the field change. The frontmatter is then parsed again: the field must be as
intended and everything else unchanged, else the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import yaml

from kbx_tui.editing.pages.lossless_text import LosslessText, Splice, decode_lossless, one_line
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.parsing.fields import link_target, texts_of
from kbx_tui.knowledge.parsing.legacy import legacy_fields
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Document

Value = str | tuple[str, ...] | None
"""A text, a list of texts, or None to remove the field."""

LINKED = frozenset({"team", "reports_to", "lead", "company"})
"""Fields that name an entity; kbx writes them as wikilinks."""
ORDER = (
    "id", "type", "name", "title", "aliases", "email", "role", "team", "reports_to", "company",
    "pcm_base", "pcm_phase", "status", "started", "lead", "pinned",
)  # fmt: skip
"""The order in which kbx writes fields; others follow."""

_PLAIN = re.compile(r"[^\W_][\w ./@+()&,-]*")
_KEY = re.compile(r"""^(?P<quote>["']?)(?P<key>[^\s#:"'][^:"'\n]*?)(?P=quote)[ \t]*:(?=[ \t]|$)""")
_SCALAR = re.compile(
    r"""^(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'\[{|>&*!#][^\n]*?)"""
    r"""(?:[ \t]+#.*|[ \t]*)$"""
)
_NO_CHANGE = Splice(0, 0, "")


@dataclass(frozen=True, slots=True)
class SetFields:
    """New values for frontmatter fields of a page."""

    fields: tuple[tuple[str, Value], ...]
    was: tuple[tuple[str, str], ...] = ()
    """Old values of some fields, as `shown_value` returns them; if one differs, none is set."""


def shown_value(value: Any) -> str:
    """Return a frontmatter value as plain text: lists joined by commas, links without brackets."""
    texts = texts_of(list(value) if isinstance(value, tuple) else value)
    return ", ".join(map(link_target, texts))


def field_value(fields: Mapping[str, Any], key: str) -> Any:
    """Return the value of a field, ignoring the case of its name; None if it is missing."""
    by_folded_name = {name.casefold(): value for name, value in fields.items()}
    return by_folded_name.get(key.casefold())


def apply_field_edits(path: str, data: bytes, edit: SetFields) -> bytes:
    """Return the page with these fields set. Raises WriteFault when that cannot be done safely."""
    frontmatter = parse_document(path, data).frontmatter
    for key, was in edit.was:
        current = shown_value(field_value(frontmatter, key))
        if current != was:
            raise WriteFault(f"{path}: {key} is now {current!r}, no longer {was!r}")
    for key, value in edit.fields:
        data = _set_field(path, data, field_name(key), value)
    return data


def field_name(key: str) -> str:
    """Return a field name as it is to be written. Raises WriteFault for an invalid name."""
    key = one_line(key)
    if not re.fullmatch(r"[\w][\w .-]*", key):
        raise WriteFault(f"{key!r} is not a valid field name: use letters, digits, - and _")
    return key


def field_lines(key: str, value: Value) -> str:
    """Return the YAML of a field, several lines for a list."""
    if isinstance(value, tuple):
        return "\n".join((f"{key}:", *(f"- {scalar(text)}" for text in value)))
    return f"{key}: {scalar(_linked(key, value or ''))}"


def scalar(text: str) -> str:
    """Return a text as a YAML scalar, quoted unless every parser reads it back unchanged."""
    text = one_line(text)
    with suppress(yaml.YAMLError):
        if _PLAIN.fullmatch(text) and yaml.safe_load(f"key: {text}") == {"key": text}:
            return text
    return "'" + text.replace("'", "''") + "'"


def _set_field(path: str, data: bytes, key: str, value: Value) -> bytes:
    before, text = parse_document(path, data), decode_lossless(data)
    for splice in _splices(text, before, key, value):
        after = text.apply(splice)
        if _is_expected(before, parse_document(path, after), key, value):
            return after
    raise WriteFault(
        f"{key} of {path} cannot be set without changing how the rest reads; open it in an editor"
    )


def _splices(text: LosslessText, page: Document, key: str, value: Value) -> Iterator[Splice]:
    """Yield candidate splices, the most natural first."""
    if page.body_line == 1:  # no frontmatter
        if value is None:
            yield _NO_CHANGE
        elif legacy := _legacy_value(text, page, key):
            yield Splice(*legacy, shown_value(value))
        else:
            yield text.insert_line(0, f"---\n{field_lines(key, value)}\n---")
        return
    fields = list(_fields(text, page.body_line - 2))
    name, lines = next(
        (field for field in fields if field[0].casefold() == key.casefold()), ("", range(0))
    )
    if value is None:
        yield text.remove_lines(lines.start, lines.stop) if lines else _NO_CHANGE
    elif not lines:
        yield text.insert_line(_line_for(fields, key), field_lines(key, value))
    else:
        if isinstance(value, str) and len(lines) == 1:
            yield from _value_on_its_line(text, lines.start, name, value)
        new = field_lines(name, value).replace("\n", text.line_end)
        yield Splice(text.line_starts[lines.start], text.line_ends[lines.stop - 1], new)


def _value_on_its_line(text: LosslessText, number: int, name: str, value: str) -> Iterator[Splice]:
    """Yield a splice that replaces only the value, keeping spacing and comment."""
    line = text.line(number)
    offset = line.index(":") + 1
    offset += len(line[offset:]) - len(line[offset:].lstrip())
    if match := _SCALAR.match(line[offset:]):
        old = match["value"]
        start = text.line_starts[number] + offset
        new = _linked(name, value) if "[[" in old else value
        yield Splice(start, start + len(old), scalar(new))


def _fields(text: LosslessText, fence: int) -> Iterator[tuple[str, range]]:
    """Yield name and lines of the fields above line `fence`, without comments that follow them."""
    matches = ((number, _KEY.match(text.line(number))) for number in range(1, fence))
    keys = [(number, match["key"]) for number, match in matches if match]
    for (first, name), (end, _) in pairwise([*keys, (fence, "")]):
        while end > first + 1 and text.line(end - 1).lstrip()[:1] in ("", "#"):
            end -= 1
        yield name, range(first, end)


def _line_for(fields: list[tuple[str, range]], key: str) -> int:
    """Return the line at which to insert a field, keeping the order in which kbx writes fields."""
    earlier = ORDER[: ORDER.index(key)] if key in ORDER else None
    ends = [lines.stop for name, lines in fields if earlier is None or name.casefold() in earlier]
    return max(ends, default=1)


def _legacy_value(text: LosslessText, page: Document, key: str) -> tuple[int, int] | None:
    """Return start and end offset of the value on a `**Role:** x` line."""
    label = key.replace("_", " ")
    if label not in legacy_fields(page.body):
        return None
    pattern = re.compile(rf"^\*\*{re.escape(label)}(?::\*\*|\*\*:)[ \t]*(\S.*?)[ \t]*$", re.I)
    for number, start in enumerate(text.line_starts):
        if match := pattern.match(text.line(number)):
            return start + match.start(1), start + match.end(1)
    return None


def _is_expected(before: Document, after: Document, key: str, value: Value) -> bool:
    """Return whether the field has its new value and nothing else changed."""
    if after.problems != before.problems and len(after.problems) >= max(len(before.problems), 1):
        return False
    others_before, others_after = (
        {name: old for name, old in page.frontmatter.items() if name.casefold() != key.casefold()}
        for page in (before, after)
    )
    if others_before != others_after:
        return False
    if before.body != after.body:  # allowed only where the value is in the body
        changed = legacy_fields(after.body).get(key.replace("_", " "))
        return before.body_line == 1 == after.body_line and changed == shown_value(value)
    return shown_value(field_value(after.frontmatter, key)) == shown_value(value)


def _linked(key: str, value: str) -> str:
    """Return the value as a wikilink if the field names an entity, else unchanged."""
    return f"[[{value}]]" if key in LINKED and value and "[[" not in value else value
