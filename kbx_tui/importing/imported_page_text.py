"""The page that an imported document becomes: its path and its bytes. Pure."""

from __future__ import annotations

from typing import Any

import yaml

from kbx_tui.editing.pages.lossless_text import one_line
from kbx_tui.importing.imported_document import ImportedDocument
from kbx_tui.knowledge.folding import slug
from kbx_tui.safe_text import replace_surrogates

ID_FIELD = "import_id"
"""The frontmatter field by which a page is known to be imported."""
MAX_STEM = 80
"""Characters of the longest file name made from a title."""


def page_stem(document: ImportedDocument) -> str:
    """Return the path of a page below `memory/`, without suffix."""
    stem = document.stem or slug(document.title)[:MAX_STEM].strip("-") or slug(document.import_id)
    if document.kind == "person":
        return f"people/{stem}"
    if document.kind == "meeting":
        return "/".join(filter(None, ("meetings", document.date.replace("-", "/"), stem)))
    if document.stem or not document.date:
        return "/".join(filter(None, ("notes", document.folder, stem)))
    return "/".join(filter(None, ("notes", document.folder, f"{document.date}-{stem}")))


def page_suffix(document: ImportedDocument) -> str:
    """Return what the name of a page ends in; that of a transcript says so."""
    return ".transcript.md" if document.subtype == "transcript" else ".md"


def page_bytes(document: ImportedDocument) -> bytes:
    """Return the page: frontmatter, a heading for entities, notes and events, and the text."""
    title = one_line(document.title)
    fields: dict[str, Any] = {}
    if document.kind == "meeting":
        fields["title"] = title
    if document.date:
        fields["date"] = document.date
    if document.subtype:
        fields["type"] = document.subtype
    fields |= {key: value for key, value in document.fields.items() if key not in fields}
    if document.attendees:
        fields["attendees"] = [
            {"name": who.name, "email": who.email} if who.email else who.name
            for who in document.attendees
        ]
    fields[ID_FIELD] = document.import_id
    head = yaml.safe_dump(
        fields, sort_keys=False, allow_unicode=True, default_flow_style=None, width=10_000
    )
    heading = "" if document.kind == "meeting" else f"# {title}\n"
    between = "\n" if heading and document.body else ""
    return replace_surrogates(f"---\n{head}---\n{heading}{between}{document.body}").encode()
