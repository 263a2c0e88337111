"""What can be asked of a page, and pages made anew. Pure: bytes in, bytes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbx_tui.editing.fact_edits import (
    AddFact,
    ChangeFact,
    DropFact,
    StrikeFact,
    edit_facts,
    one_line,
)
from kbx_tui.editing.field_edits import (
    ORDER,
    SetFields,
    Value,
    edit_fields,
    field_lines,
    field_name,
    shown_value,
)
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.parsing.markdown import headings
from kbx_tui.knowledge.parsing.reading import parse_document

PageEdit = AddFact | ChangeFact | StrikeFact | DropFact | SetFields

FOLDERS: Mapping[str, str] = {
    "person": "people", "project": "projects", "team": "teams", "company": "companies",
}  # fmt: skip
"""Type of an entity -> the folder its pages are in."""


def edited(path: str, data: bytes, edits: Sequence[PageEdit]) -> bytes:
    """Return a page with all edits made, one after the other.

    Raises WriteFault when one does not fit the page, or cannot be made without touching more than
    it says.
    """
    for edit in edits:
        if isinstance(edit, SetFields):
            data = edit_fields(path, data, edit)
        else:
            data = edit_facts(path, data, edit)
    return data


def page_path(kind: str, name: str, prefix: str) -> str:
    """Return where kbx puts the page of an entity; `prefix` is `memory/` or nothing.

    Raises WriteFault for a name without a letter.
    """
    if not slug(name):
        raise WriteFault(f"{name!r} cannot be the name of a page: it has no letter")
    return f"{prefix}{FOLDERS.get(kind, f'{kind}s')}/{slug(name)}.md"


def new_page(kind: str, name: str, fields: Mapping[str, Value]) -> bytes:
    """Return the page of an entity as kbx writes it: frontmatter if there is any, a heading.

    Raises WriteFault for a name or field that would be read as something else.
    """
    told: dict[str, Value] = {} if kind in ("person", "project") else {"type": kind}
    told |= {field_name(key): value for key, value in fields.items() if value}
    names = [key.casefold() for key in told]
    if twice := next((key for key in names if names.count(key) > 1), ""):
        raise WriteFault(f"{twice} is given twice; say it once")
    rank = {key: place for place, key in enumerate(ORDER)}
    keys = sorted(told, key=lambda key: rank.get(key, len(rank)))
    lines = ["---", *(field_lines(key, told[key]) for key in keys), "---"] if keys else []
    data = ("\n".join([*lines, f"# {one_line(name)}"]) + "\n").encode()
    page = parse_document(page_path(kind, name, ""), data)
    for key, value in told.items():
        wanted = shown_value(list(value) if isinstance(value, tuple) else value)
        read = shown_value(page.frontmatter.get(key))
        if read != wanted:
            raise WriteFault(f"{key} {wanted!r} would be read as {read!r}; say it in other words")
    if [one.text for one in headings(page.body)] != [one_line(name)]:
        raise WriteFault(f"{name!r} cannot be the heading of a page; leave out its signs")
    return data
