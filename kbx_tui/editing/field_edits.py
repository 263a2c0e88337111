"""Fields written into the frontmatter of a page, one splice per field. Pure.

Only the lines of a field are touched. The frontmatter is read again afterwards: the field must be
as asked and everything else as before, else the edit is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from kbx_tui.editing.fact_edits import one_line
from kbx_tui.editing.lossless_text import Splice, WrittenText, written
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.parsing.fields import texts_of, unlink
from kbx_tui.knowledge.parsing.legacy import legacy_fields
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Document

Value = str | tuple[str, ...] | None
"""A text, a list of texts, or None to take the field out."""

LINKED = frozenset({"team", "reports_to", "lead", "company"})
"""Fields that name an entity; kbx writes them as wikilinks."""
ORDER = (
    "id", "type", "name", "title", "aliases", "email", "role", "team", "reports_to", "company",
    "pcm_base", "pcm_phase", "status", "started", "lead", "pinned",
)  # fmt: skip
"""The order in which kbx writes fields; others follow."""

_KEY = re.compile(r"""^(?P<quote>["']?)(?P<key>[^\s#:"'][^:"'\n]*?)(?P=quote)[ \t]*:(?=[ \t]|$)""")
_SCALAR = re.compile(
    r"""^(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'\[{|>&*!#][^\n]*?)"""
    r"""(?:[ \t]+#.*|[ \t]*)$"""
)
_PLAIN = re.compile(r"[^\W_][\w ./@+()&,-]*")


@dataclass(frozen=True, slots=True)
class SetFields:
    """Fields of a page and what they are to be."""

    fields: tuple[tuple[str, Value], ...]
    was: tuple[tuple[str, str], ...] = ()
    """What some of them were when this was decided, as `shown_value` gives it: not overwritten
    when somebody changed them meanwhile."""


def shown_value(value: Any) -> str:
    """Return a frontmatter value as plain text, several with commas, links without brackets."""
    return ", ".join(unlink(text) for text in texts_of(value))


def field_value(fields: Mapping[str, Any], key: str) -> Any:
    """Return a field of frontmatter, however its name is written; None when it is not there."""
    folded = {name.casefold(): value for name, value in fields.items()}
    return folded.get(key.casefold())


def edit_fields(path: str, data: bytes, edit: SetFields) -> bytes:
    """Return the page with these fields. Raises WriteFault for what cannot be written safely."""
    known = parse_document(path, data).frontmatter
    for key, was in edit.was:
        now = shown_value(field_value(known, key))
        if now != was:
            raise WriteFault(f"{path}: {key} is {now!r} by now, no longer {was!r}")
    for key, value in edit.fields:
        data = _edit_field(path, data, key, value)
    return data


def field_name(key: str) -> str:
    """Return the name of a field as it is written. Raises WriteFault for one no reader knows."""
    key = one_line(key)
    if not re.fullmatch(r"[\w][\w .-]*", key):
        raise WriteFault(f"{key!r} cannot be the name of a field: letters, digits, - and _")
    return key


def field_lines(key: str, value: Value) -> str:
    """Return a field as it is written in frontmatter, several lines for a list."""
    if isinstance(value, tuple):
        return "\n".join((f"{key}:", *(f"- {scalar(text)}" for text in value)))
    return f"{key}: {scalar(linked(key, value or ''))}"


def linked(key: str, value: str) -> str:
    """Return the value of a field that names an entity as a wikilink, any other as it is."""
    return f"[[{value}]]" if key in LINKED and value and "[[" not in value else value


def scalar(text: str) -> str:
    """Return a text as YAML: plain where any reader gives the same text back, else in quotes."""
    text = one_line(text)
    if _PLAIN.fullmatch(text) and _reads_back(text):
        return text
    return "'" + text.replace("'", "''") + "'"


def _reads_back(text: str) -> bool:
    try:
        return bool(yaml.safe_load(f"key: {text}") == {"key": text})
    except yaml.YAMLError:
        return False


def _edit_field(path: str, data: bytes, key: str, value: Value) -> bytes:
    key = field_name(key)
    before = parse_document(path, data)
    for splice in _splices(written(data), before, key, value):
        after = written(data).replace(splice)
        if _is_as_asked(before, parse_document(path, after), key, value):
            return after
    raise WriteFault(
        f"{key} of {path} cannot be set without changing how the rest reads; open it in an editor"
    )


def _splices(text: WrittenText, page: Document, key: str, value: Value) -> Iterator[Splice]:
    if page.body_line == 1:  # no frontmatter
        if value is None:
            yield Splice(0, 0, "")
        elif legacy := _legacy_line(text, page, key):
            yield Splice(*legacy, shown_value(list(value) if isinstance(value, tuple) else value))
        else:
            yield text.insert_line(0, f"---\n{field_lines(key, value)}\n---")
        return
    entries = list(_entries(text, page.body_line - 2))
    mine = next((entry for entry in entries if entry[0].casefold() == key.casefold()), None)
    if mine is None:
        if value is None:
            yield Splice(0, 0, "")
        else:
            yield text.insert_line(_place(entries, key), field_lines(key, value))
        return
    name, first, end = mine
    if value is None:
        yield text.remove_lines(first, end)
        return
    if isinstance(value, str) and end == first + 1:
        yield from _in_line(text, first, name, value)
    yield Splice(
        text.starts[first],
        text.ends[end - 1],
        field_lines(name, value).replace("\n", text.line_end),
    )


def _in_line(text: WrittenText, number: int, key: str, value: str) -> Iterator[Splice]:
    """Put the value alone in place of the one there: spacing and a comment stay."""
    line = text.line(number)
    at = line.index(":") + 1
    at += len(line[at:]) - len(line[at:].lstrip())
    found = _SCALAR.match(line[at:])
    if found:
        was = found["value"]
        start = text.starts[number] + at
        new = linked(key, value) if "[[" in was else value
        yield Splice(start, start + len(was), scalar(new))


def _entries(text: WrittenText, closing: int) -> Iterator[tuple[str, int, int]]:
    """Yield the top fields with their lines, first and end; `closing` is the line that closes."""
    found = [
        (key["key"], number)
        for number in range(1, closing)
        if (key := _KEY.match(text.line(number)))
    ]
    for at, (name, first) in enumerate(found):
        end = found[at + 1][1] if at + 1 < len(found) else closing
        while end > first + 1 and text.line(end - 1).lstrip()[:1] in ("", "#"):
            end -= 1
        yield name, first, end


def _place(entries: list[tuple[str, int, int]], key: str) -> int:
    """Return the line a new field goes to: after those that kbx writes before it."""
    if key not in ORDER:
        return entries[-1][2] if entries else 1
    earlier = ORDER[: ORDER.index(key)]
    return max((end for name, _, end in entries if name.casefold() in earlier), default=1)


def _legacy_line(text: WrittenText, page: Document, key: str) -> tuple[int, int] | None:
    """Return where the value of a `**Role:** x` line stands."""
    label = key.replace("_", " ")
    if label not in legacy_fields(page.body):
        return None
    pattern = re.compile(rf"^\*\*{re.escape(label)}(?::\*\*|\*\*:)[ \t]*(\S.*?)[ \t]*$", re.I)
    for number in range(len(text.starts)):
        if found := pattern.match(text.line(number)):
            return text.starts[number] + found.start(1), text.starts[number] + found.end(1)
    return None


def _is_as_asked(before: Document, after: Document, key: str, value: Value) -> bool:
    if after.problems != before.problems and len(after.problems) >= max(len(before.problems), 1):
        return False
    folded = key.casefold()
    others = [
        {name: known for name, known in page.frontmatter.items() if name.casefold() != folded}
        for page in (before, after)
    ]
    if others[0] != others[1]:
        return False
    wanted = shown_value(list(value) if isinstance(value, tuple) else value)
    if before.body != after.body:  # only where the value stands in the body
        changed = legacy_fields(after.body).get(key.replace("_", " "))
        return before.body_line == 1 == after.body_line and changed == wanted
    return shown_value(field_value(after.frontmatter, key)) == wanted
