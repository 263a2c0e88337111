"""Which kind a document is and what it is called: decided by folder, then frontmatter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kbx_tui.knowledge.folding import slug
from kbx_tui.knowledge.parsing.fields import texts_of

CORE_ENTITY_TYPES = frozenset({"person", "project", "team"})
DEFAULT_ENTITY_TYPES = CORE_ENTITY_TYPES | {"lab", "company"}

_ENTITY_FOLDERS = {"people": "person", "projects": "project", "teams": "team"}
_PLAIN_FOLDERS = {"notes": "note", "context": "context", "glossary": "glossary"}


def is_entity_kind(kind: str, entity_types: frozenset[str] | None = None) -> bool:
    """Tell whether pages of this kind are entities: people, projects, teams, listed types."""
    return kind in CORE_ENTITY_TYPES or kind in (
        DEFAULT_ENTITY_TYPES if entity_types is None else entity_types
    )


def kind_of(path: str, frontmatter: Mapping[str, Any]) -> tuple[str, str]:
    """Return kind and subtype of the document at ``path``.

    Anything below ``meetings/`` is a meeting and its ``type:`` the subtype. A page directly in
    people, projects or teams is such an entity; deeper down, where projects keep their papers,
    ``type:`` decides. Of other telling folders the innermost counts.
    """
    *folders, name = path.casefold().split("/")
    written = slug(next(texts_of(frontmatter.get("type")), ""))
    if "meetings" in folders:
        return "meeting", written
    if folders and folders[-1] in _ENTITY_FOLDERS:
        return _ENTITY_FOLDERS[folders[-1]], ""
    if name == "glossary.md":
        return "glossary", ""
    for folder in reversed(folders):
        if folder in _PLAIN_FOLDERS:
            return _PLAIN_FOLDERS[folder], ""
    return {"notes": "note"}.get(written, written) or "note", ""


def stem_of(path: str) -> str:
    """Return the file name without its suffix."""
    return path.rpartition("/")[2].rpartition(".")[0]


def document_id(path: str, kind: str, name: str, given: str, *, entity: bool) -> str:
    """Return the id of a page: ``given`` in frontmatter, else ``type:slug`` or ``kind:path``."""
    if given:
        return given
    if entity and (slugged := slug(name)):
        return f"{kind}:{slugged}"
    return f"{kind}:{short_path(path)}"


def short_path(path: str) -> str:
    """Return ``path`` without ``memory/`` and without suffix."""
    return path.removeprefix("memory/").rpartition(".")[0]
