"""Parsing of a markdown file into a Document. Never raises: errors become problems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from kbx_tui.knowledge.obsidian.vault_settings import DailyNotes
from kbx_tui.knowledge.parsing.dates import date_of
from kbx_tui.knowledge.parsing.decoding import BINARY, content_hash, decode
from kbx_tui.knowledge.parsing.fields import (
    aliases_of,
    attendees_of,
    references_of,
    tags_of,
    text_of,
)
from kbx_tui.knowledge.parsing.frontmatter import read_frontmatter
from kbx_tui.knowledge.parsing.inline_fields import inline_fields
from kbx_tui.knowledge.parsing.inline_tags import inline_tags
from kbx_tui.knowledge.parsing.kinds import document_id, is_entity_kind, kind_of, stem_of
from kbx_tui.knowledge.parsing.link_syntax import property_link_targets
from kbx_tui.knowledge.parsing.markdown import MAX_LINES, has_unread_lines, headings, links_of
from kbx_tui.knowledge.records import Document, Problem

MAX_PARSED = 25_000_000
"""Characters of a file that are read; more than any page that people write."""

_NO_TEXT = ("#", "<", "!", "[!", "---", "***", "___")
"""How lines begin that may precede the heading that is the title: logos, badges, rules."""
_LEADING_DATE = re.compile(r"\d{4}-\d{2}-\d{2}[-_ ]+(?=\S)")


def parse_document(
    path: str,
    data: bytes,
    *,
    entity_types: frozenset[str] | None = None,
    daily_notes: DailyNotes | None = None,
) -> Document:
    """Parse ``data``, the content of the file at ``path`` relative to the root.

    ``entity_types`` are the entity types besides person, project and team; None means
    ``DEFAULT_ENTITY_TYPES``. ``daily_notes`` is how the vault names the notes of days. A
    binary file gets an empty body and a Problem with ``skipped`` set.
    """
    path = unicodedata.normalize("NFC", path)
    text, note = decode(data)
    is_cut = len(text) > MAX_PARSED
    if is_cut:  # at the end of a line, unless a line alone is longer
        text = text[: text.rfind("\n", 0, MAX_PARSED) + 1 or MAX_PARSED]
    front = read_frontmatter(text)
    properties = {**inline_fields(front.body), **front.values}
    kind, subtype = kind_of(path, properties)
    entity = is_entity_kind(kind, entity_types)
    title = _title(path, front.values, front.body, entity=entity)
    problems = []
    if note:
        problems.append(Problem(path, note, skipped=note == BINARY))
    if is_cut:
        problems.append(
            Problem(path, f"is too long: only its first {MAX_PARSED:,} characters count")
        )
    if has_unread_lines(front.body):
        reason = f"has more than {MAX_LINES:,} lines: headings and facts after them are not read"
        problems.append(Problem(path, reason, front.body_line + MAX_LINES))
    if front.fault:
        problems.append(Problem(path, front.fault, front.fault_line))
    return Document(
        path=path,
        id=document_id(path, kind, title, text_of(front.values.get("id")), entity=entity),
        title=title,
        date=date_of(properties, path, daily_notes),
        kind=kind,
        subtype=subtype,
        aliases=aliases_of(properties),
        tags=tuple(dict.fromkeys((*tags_of(properties), *inline_tags(front.body)))),
        attendees=attendees_of(properties),
        references=references_of(properties),
        links=tuple(link.target for link in links_of(front.body)),
        property_links=property_link_targets(front.values),
        frontmatter=front.values,
        body=front.body,
        body_line=front.body_line,
        content_hash=content_hash(data),
        size=len(data),
        problems=tuple(problems),
    )


def _title(path: str, frontmatter: Mapping[str, Any], body: str, *, entity: bool) -> str:
    """Return the title: an entity prefers its top heading, a document its frontmatter.

    A heading of a lower level is one only if no text precedes it; otherwise it names a part.
    """
    if entity:
        return (
            next((heading.text for heading in headings(body) if heading.level == 1), "").strip()
            or text_of(frontmatter.get("name"))
            or text_of(frontmatter.get("title"))
            or _readable_stem(path).title()
        )
    if title := text_of(frontmatter.get("title")):
        return title
    with_text = [heading for heading in headings(body) if heading.text]
    top = next((heading.text for heading in with_text if heading.level == 1), "")
    opens = bool(with_text) and not _has_text(body, with_text[0].line)
    return top or (with_text[0].text if opens else _readable_stem(path))


def _has_text(body: str, lines: int) -> bool:
    """Return whether any of the first lines of a body is text: no heading, picture or HTML."""
    above = body.split("\n", lines)[:lines]
    return any(line.strip() and not line.lstrip().startswith(_NO_TEXT) for line in above)


def _readable_stem(path: str) -> str:
    stem = stem_of(path)
    if " " not in stem:
        stem = _LEADING_DATE.sub("", stem)
        stem = re.sub(r"[-_]+", " ", stem).strip() or stem
    return stem or path
