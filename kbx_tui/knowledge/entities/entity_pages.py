"""Entities built from the pages of a knowledge base."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kbx_tui.knowledge.entities.ids import unique_ids
from kbx_tui.knowledge.entities.teams import Teams
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.fields import (
    ALIAS_KEYS,
    EMAIL,
    link_target,
    names_of,
    text_of,
    texts_of,
)
from kbx_tui.knowledge.parsing.inline_fields import inline_fields
from kbx_tui.knowledge.parsing.kinds import is_entity_kind
from kbx_tui.knowledge.parsing.legacy import legacy_fields
from kbx_tui.knowledge.records import Document, Entity

_ROLE_KEYS = ("role", "job_title", "position")
_PARENTHESES = re.compile(r"\s*\([^()]*\)\s*")


def build_entities(
    documents: Sequence[Document], entity_types: frozenset[str] | None = None
) -> tuple[Entity, ...]:
    """Return the entities in the documents, sorted by id.

    These are the pages of entity types, with the ids of `unique_ids`, and the teams without a page
    that a ``team:`` value or company.md names. ``entity_types`` is as in `parse_document`.
    """
    documents = sorted(documents, key=lambda document: document.path)
    ids = unique_ids(documents)
    pages = [document for document in documents if is_entity_kind(document.kind, entity_types)]
    entities = [page_entity(page, ids[page.path]) for page in pages]
    teams = Teams(entities)
    for document in documents:
        teams.read(document, person_id=ids[document.path] if document.kind == "person" else "")
    return tuple(sorted(teams.with_members(entities), key=lambda entity: entity.id))


def page_entity(page: Document, entity_id: str) -> Entity:
    """Return the entity that a page is about, without members."""
    legacy = {**inline_fields(page.body), **legacy_fields(page.body)}
    fields = {key.casefold(): value for key, value in page.frontmatter.items()}
    team = fields.get("team") or fields.get("teams") or legacy.get("team")
    return Entity(
        id=entity_id,
        name=page.title,
        type=page.kind,
        path=page.path,
        aliases=_aliases(page, [*fields.items(), *legacy.items()]),
        role=_role(page, fields) or text_of(legacy.get("role")),
        team=", ".join(map(link_target, texts_of(team))),
        emails=_emails([fields.get("email"), fields.get("emails"), legacy.get("email")]),
    )


def _aliases(page: Document, fields: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Return the distinct other names as written, longest first as it is the most specific."""
    aliases: dict[str, str] = {}
    for alias in _other_names(page, fields):
        key = name_key(alias)
        if key and key != name_key(page.title):
            aliases.setdefault(key, alias)
    return tuple(
        sorted(aliases.values(), key=lambda alias: (-len(name_key(alias).split()), -len(alias)))
    )


def _other_names(page: Document, fields: Iterable[tuple[str, object]]) -> Iterator[str]:
    for key, value in fields:
        if key in ALIAS_KEYS:
            yield from names_of(value)
        elif key == "name" or (key == "title" and page.kind != "person"):
            yield text_of(value)
    if "(" in page.title:
        yield _PARENTHESES.sub(" ", page.title).strip()


def _role(page: Document, fields: Mapping[str, object]) -> str:
    """Return the role; the ``title:`` of a person is one, unless it is the title of the page."""
    for key in _ROLE_KEYS:
        if role := text_of(fields.get(key)):
            return role
    title = text_of(fields.get("title")) if page.kind == "person" else ""
    return "" if name_key(title) == name_key(page.title) else title


def _emails(values: Iterable[object]) -> tuple[str, ...]:
    written = (email.strip("<> ").lower() for value in values for email in texts_of(value))
    return tuple(dict.fromkeys(email for email in written if EMAIL.match(email)))
