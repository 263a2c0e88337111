"""The page that an imported document becomes: its path and its bytes. Pure."""

from __future__ import annotations

from typing import Any

import yaml

from kbx_tui.editing.pages.lossless_text import one_line
from kbx_tui.importing.imported_document import ImportedDocument
from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.parsing.fields import text_of
from kbx_tui.safe_text import replace_surrogates

ID_FIELD = "import_id"
"""The frontmatter field by which a page is known to be imported."""
MAX_NAME, MAX_NAME_BYTES = 80, 180
"""Characters and bytes (in UTF-8) of the longest name made from a title. File systems take 255
bytes, of which a date, a number, the suffix and the name of a temporary file need some."""


def page_stem(document: ImportedDocument) -> str:
    """Return the path of a page below `memory/`, without suffix."""
    stem = _short(document.stem or slug(document.title) or slug(document.import_id))
    if document.kind == "person":
        return f"people/{stem}"
    if document.kind == "meeting":
        return "/".join(filter(None, ("meetings", document.date.replace("-", "/"), stem)))
    folders = map(_short, document.folder.split("/"))
    is_dated = document.date and not document.stem
    name = f"{document.date}-{stem}" if is_dated else stem
    return "/".join(filter(None, ("notes", *folders, name)))


def page_suffix(document: ImportedDocument) -> str:
    """Return what the name of a page ends in; that of a transcript says so."""
    return ".transcript.md" if document.subtype == "transcript" else ".md"


def stored_id(document: ImportedDocument) -> str:
    """Return the id of a document as a page gives it back: without line breaks, for one."""
    return text_of(replace_surrogates(document.import_id))


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
    fields[ID_FIELD] = stored_id(document)
    head = "".join(_field(name, value) for name, value in fields.items())
    heading = "" if document.kind == "meeting" else f"# {title}\n"
    between = "\n" if heading and document.body else ""
    return replace_surrogates(f"---\n{head}---\n{heading}{between}{document.body}").encode()


def _short(name: str) -> str:
    """Return a name cut to what file systems take."""
    return name[:MAX_NAME].encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip("-")


def _field(name: str, value: Any) -> str:
    """Return one field of frontmatter; only what is in a list is on one line with others."""
    return yaml.safe_dump(
        {name: _plain(value)},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None if isinstance(value, list) else False,
        width=10_000,
    )


def _plain(value: Any) -> Any:
    """Return a value without lone surrogates, which YAML would escape and nobody could read."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return value
