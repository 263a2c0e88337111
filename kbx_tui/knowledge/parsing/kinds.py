"""Kinds and ids of documents, from their path and frontmatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.parsing.fields import texts_of

CORE_ENTITY_TYPES = frozenset({"person", "project", "team"})
DEFAULT_ENTITY_TYPES = CORE_ENTITY_TYPES | {"lab", "company"}

_ENTITY_FOLDERS = {"people": "person", "projects": "project", "teams": "team"}
_PLAIN_FOLDERS = {"notes": "note", "context": "context", "glossary": "glossary"}

DOCUMENT_KINDS = CORE_ENTITY_TYPES | {"meeting", *_PLAIN_FOLDERS.values()}
"""Kinds that a document can have without a `type:`."""


def is_entity_kind(kind: str, entity_types: frozenset[str] | None = None) -> bool:
    """Return whether a kind is an entity type: person, project, team or a configured type.

    ``entity_types`` None means ``DEFAULT_ENTITY_TYPES``.
    """
    return kind in CORE_ENTITY_TYPES or kind in (
        DEFAULT_ENTITY_TYPES if entity_types is None else entity_types
    )


def kind_of(path: str, frontmatter: Mapping[str, Any]) -> tuple[str, str]:
    """Return the kind and subtype of the document at ``path``.

    Everything below ``meetings/`` is a meeting with its ``type:`` as the subtype. A page directly
    in ``people/``, ``projects/`` or ``teams/`` is an entity of that type. Otherwise the innermost
    folder named ``notes``, ``context`` or ``glossary`` decides, then ``type:``, then it is a note.
    """
    *folders, name = path.casefold().split("/")
    declared = slug(next(texts_of(frontmatter.get("type")), ""))
    if "meetings" in folders:
        return "meeting", declared
    if folders and folders[-1] in _ENTITY_FOLDERS:
        return _ENTITY_FOLDERS[folders[-1]], ""
    if name == "glossary.md":
        return "glossary", ""
    for folder in reversed(folders):
        if folder in _PLAIN_FOLDERS:
            return _PLAIN_FOLDERS[folder], ""
    return {"notes": "note"}.get(declared, declared) or "note", ""


def stem_of(path: str) -> str:
    """Return the file name in ``path`` without its suffix."""
    return path.rpartition("/")[2].rpartition(".")[0]


def document_id(path: str, kind: str, name: str, explicit: str, *, entity: bool) -> str:
    """Return ``explicit``, the id in frontmatter, if any, else ``type:slug`` or ``kind:path``."""
    if explicit:
        return explicit
    if entity and (name_slug := slug(name)):
        return f"{kind}:{name_slug}"
    return f"{kind}:{short_path(path)}"


def short_path(path: str) -> str:
    """Return ``path`` without a leading ``memory/`` and without its suffix."""
    return path.removeprefix("memory/").rpartition(".")[0]
