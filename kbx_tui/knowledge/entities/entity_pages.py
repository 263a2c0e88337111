"""Entities from the pages of a knowledge base: people, projects, teams, listed types. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kbx_tui.knowledge.entities.ids import unique_ids
from kbx_tui.knowledge.entities.teams import Teams
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.fields import EMAIL, names_of, text_of, texts_of, unlink
from kbx_tui.knowledge.parsing.kinds import DEFAULT_ENTITY_TYPES, is_entity_kind
from kbx_tui.knowledge.parsing.legacy import legacy_fields
from kbx_tui.knowledge.records import Document, Entity

__all__ = ["DEFAULT_ENTITY_TYPES", "build_entities", "is_entity_kind"]

_ALIAS_KEYS = frozenset(
    {
        "alias", "aliases", "also_known_as", "also known as", "also_called", "also called",
        "codename", "codenames", "codename/also called", "nickname", "nicknames", "initials",
    }
)  # fmt: skip
_ROLE_KEYS = ("role", "job_title", "position")
_PARENTHESES = re.compile(r"\s*\([^()]*\)\s*")


def build_entities(
    documents: Sequence[Document], entity_types: frozenset[str] | None = None
) -> tuple[Entity, ...]:
    """Return every entity the documents tell of, sorted by id.

    Pages of entity kinds are entities, with the ids of ``unique_ids``. Teams are also those that a
    ``team:`` value names or company.md lists; they have no page.
    """
    documents = sorted(documents, key=lambda document: document.path)
    ids = unique_ids(documents)
    pages = [document for document in documents if is_entity_kind(document.kind, entity_types)]
    found = [_from_page(page, ids[page.path]) for page in pages]
    teams = Teams(found)
    for document in documents:
        teams.read(document, member=ids[document.path] if document.kind == "person" else "")
    return tuple(sorted(teams.completed(found), key=lambda entity: entity.id))


def _from_page(page: Document, entity_id: str) -> Entity:
    legacy = legacy_fields(page.body)
    fields = {key.casefold(): value for key, value in page.frontmatter.items()}
    return Entity(
        id=entity_id,
        name=page.title,
        type=page.kind,
        path=page.path,
        aliases=_aliases(page, [*fields.items(), *legacy.items()]),
        role=_role(page, fields) or legacy.get("role", ""),
        team=_team(fields.get("team") or fields.get("teams") or legacy.get("team")),
        emails=_emails([fields.get("email"), fields.get("emails"), legacy.get("email")]),
    )


def _aliases(page: Document, fields: Iterable[tuple[str, object]]) -> tuple[str, ...]:
    """Other names as written, the longest first: it is the most specific."""
    own = name_key(page.title)
    found: dict[str, str] = {}
    for alias in _written_names(page, fields):
        key = name_key(alias)
        if key and key != own:
            found.setdefault(key, alias)
    return tuple(
        sorted(found.values(), key=lambda alias: (-len(name_key(alias).split()), -len(alias)))
    )


def _written_names(page: Document, fields: Iterable[tuple[str, object]]) -> Iterator[str]:
    for key, value in fields:
        if key in _ALIAS_KEYS:
            yield from names_of(value)
        elif key == "name" or (key == "title" and page.kind != "person"):
            yield text_of(value)
    if "(" in page.title:
        yield _PARENTHESES.sub(" ", page.title).strip()


def _role(page: Document, fields: Mapping[str, object]) -> str:
    """A person's ``title:`` is what they do, unless it is all their page is called by."""
    for key in _ROLE_KEYS:
        if role := text_of(fields.get(key)):
            return role
    title = text_of(fields.get("title")) if page.kind == "person" else ""
    return "" if name_key(title) == name_key(page.title) else title


def _team(value: object) -> str:
    return ", ".join(unlink(name) for name in texts_of(value))


def _emails(values: Iterable[object]) -> tuple[str, ...]:
    written = (email.strip("<> ").lower() for value in values for email in texts_of(value))
    return tuple(dict.fromkeys(email for email in written if EMAIL.match(email)))
