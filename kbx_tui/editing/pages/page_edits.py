"""Page edits in sequence, and the content of new pages. Pure: bytes in, bytes out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kbx_tui.editing.pages.fact_edits import FactEdit, apply_fact_edit
from kbx_tui.editing.pages.field_edits import (
    ORDER,
    SetFields,
    Value,
    apply_field_edits,
    field_lines,
    field_name,
    shown_value,
)
from kbx_tui.editing.pages.link_edits import LinkName, apply_link_edit
from kbx_tui.editing.pages.lossless_text import one_line
from kbx_tui.errors import WriteFault
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.parsing.markdown import headings
from kbx_tui.knowledge.parsing.reading import parse_document

PageEdit = FactEdit | SetFields | LinkName

FOLDERS: Mapping[str, str] = {
    "person": "people", "project": "projects", "team": "teams", "company": "companies",
}  # fmt: skip
"""Entity type -> folder of its pages."""


def apply_edits(path: str, data: bytes, edits: Sequence[PageEdit]) -> bytes:
    """Return a page with all edits applied. Raises WriteFault when one cannot be made safely."""
    for edit in edits:
        if isinstance(edit, SetFields):
            data = apply_field_edits(path, data, edit)
        elif isinstance(edit, LinkName):
            data = apply_link_edit(path, data, edit)
        else:
            data = apply_fact_edit(path, data, edit)
    return data


def page_path(kind: str, name: str, prefix: str) -> str:
    """Return the path of a page, under `prefix`. Raises WriteFault for a name without a letter."""
    if not slug(name):
        raise WriteFault(f"{name!r} cannot be the name of a page: it has no letter")
    return f"{prefix}{FOLDERS.get(kind, f'{kind}s')}/{slug(name)}.md"


def new_page(kind: str, name: str, fields: Mapping[str, Value]) -> bytes:
    """Return a new entity page as kbx writes it: frontmatter, if any, and a heading.

    Raises WriteFault for a name or field that would be read as something else.
    """
    values: dict[str, Value] = {} if kind in ("person", "project") else {"type": kind}
    values |= {field_name(key): value for key, value in fields.items() if value}
    names = [key.casefold() for key in values]
    if duplicate := next((key for key in names if names.count(key) > 1), ""):
        raise WriteFault(f"{duplicate} is given twice; give it once")
    keys = sorted(values, key=lambda key: ORDER.index(key) if key in ORDER else len(ORDER))
    lines = ["---", *(field_lines(key, values[key]) for key in keys), "---"] if keys else []
    data = ("\n".join([*lines, f"# {one_line(name)}"]) + "\n").encode()
    page = parse_document(page_path(kind, name, ""), data)
    for key, value in values.items():
        expected, actual = shown_value(value), shown_value(page.frontmatter.get(key))
        if actual != expected:
            raise WriteFault(f"{key} {expected!r} would be read as {actual!r}; rephrase it")
    if [heading.text for heading in headings(page.body)] != [one_line(name)]:
        raise WriteFault(f"{name!r} cannot be the heading of a page; remove special characters")
    return data
