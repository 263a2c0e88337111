"""Documents, entities, facts, links and paths, as indexed or as they are on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kbx_tui.api.session import Session
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.index.rows import DOCUMENT_COLUMNS, document_from_row
from kbx_tui.index.where_clause import is_one_of, quoted
from kbx_tui.knowledge.parsing.dates import iso_date
from kbx_tui.knowledge.parsing.decoding import decode
from kbx_tui.knowledge.parsing.kinds import CORE_ENTITY_TYPES
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity, Fact
from kbx_tui.knowledge.vault import locate
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.browsing import browse
from kbx_tui.search.browsing.card import EntityCard, EntityName
from kbx_tui.search.browsing.destination import Destination
from kbx_tui.similarity.entity_finder import EntityFinder

LineRange = tuple[int, int]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as it is on disk now."""

    path: str
    title: str
    date: str
    kind: str
    text: str
    """The whole file, decoded, frontmatter included."""


def unknown_id(document_id: str) -> NotFound:
    """Return the error for an id or path that names nothing."""
    return NotFound(
        f"nothing here has the id {document_id!r}; ids look like person:alice-chen, and searches "
        "return them"
    )


def require_iso_date(date: str | None) -> str:
    """Return an ISO date unchanged, or an empty string for none. Raises ConfigError."""
    if date and iso_date(date) != date:
        raise ConfigError(f"{date!r} is not a date; write it as 2026-03-10")
    return date or ""


class Catalog:
    """Looks things up in a session without a search. `KnowledgeBase` documents the methods."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def document(self, path: str) -> DocumentView:
        data = self._read(path)
        document = parse_document(path, data)
        return DocumentView(path, document.title, document.date, document.kind, decode(data)[0])

    def read_document(self, path: str) -> Document:
        types = frozenset(self._session.settings.entities.types)
        return parse_document(path, self._read(path), entity_types=CORE_ENTITY_TYPES | types)

    def entity(self, entity_id: str) -> EntityCard:
        return browse.entity_card(self._session.fresh_index(), entity_id)

    def find_entity(self, name: str, kind: str | None = None) -> Entity:
        """Return the entity with this name, alias or id. Raises NotFound and Ambiguous.

        With `kind`, only entities of that type are considered.
        """
        entities = self._session.snapshot().entities
        if kind is not None:
            entities = tuple(entity for entity in entities if entity.type == kind)
        return EntityFinder(entities).find(replace_surrogates(name))

    def find_entities(self, text: str, limit: int) -> tuple[EntityName, ...]:
        return browse.find_entities(self._session.fresh_index(), replace_surrogates(text), limit)

    def facts(self, entity: str | None, since: str | None) -> tuple[Fact, ...]:
        self._session.ensure_indexed()
        entity_id = "" if entity is None else self.find_entity(entity).id
        return browse.list_facts(self._session.fresh_index(), entity_id, require_iso_date(since))

    def follow(self, target: str, source: str) -> Destination | None:
        index = self._session.fresh_index()
        return browse.follow(index, replace_surrogates(target), replace_surrogates(source))

    def complete_path(self, text: str, limit: int) -> tuple[str, ...]:
        index = self._session.fresh_index()
        return browse.complete_path(index, replace_surrogates(text), self._session.root, limit)

    def count_scope(self, path: str) -> tuple[int, int]:
        path_filter = self._session.path_filter(path)
        return browse.count_scope(self._session.fresh_index(), path_filter)

    def identify(self, document_id: str) -> tuple[str, Entity | None]:
        loaded = self._session.fresh_index().generation()
        document_id = replace_surrogates(document_id)
        if entity := loaded.entities.get(document_id):
            return entity.path, entity
        snapshot = loaded.snapshot
        row = snapshot.row_of.get(document_id)
        if row is None and document_id in snapshot.ids:
            row = snapshot.ids.index(document_id)
        if row is None:
            raise unknown_id(document_id)
        return snapshot.paths[row], loaded.entities.get(snapshot.ids[row])

    def stored_documents(self, paths: Sequence[str]) -> Mapping[str, Document]:
        rows = self._rows("documents", DOCUMENT_COLUMNS, paths)
        return {row["path"]: document_from_row(row) for row in rows}

    def documents_containing(self, word: str) -> Mapping[str, Document]:
        """The last answer is kept for as long as the index stays the same."""
        session = self._session
        if not session.is_indexed():
            return {}
        snapshot, cached = session.snapshot(), session.word_matches
        if cached is None or cached[0] is not snapshot or cached[1] != word:
            pattern = quoted(f"%{word.lower()}%")
            where = f"lower(title) LIKE {pattern} OR lower(frontmatter) LIKE {pattern}"
            rows = session.open_index().reader.rows("documents", ["path"], where)
            documents = self.stored_documents(rows["path"].to_pylist())
            cached = session.word_matches = (snapshot, word, documents)
        return cached[2]

    def chunk_lines(self, paths: Sequence[str]) -> Mapping[str, Sequence[LineRange]]:
        rows = self._rows("chunks", ["path", "ordinal", "line_start", "line_end"], paths)
        lines: dict[str, list[LineRange]] = {}
        for row in sorted(rows, key=lambda row: row["ordinal"]):
            lines.setdefault(row["path"], []).append((row["line_start"], row["line_end"]))
        return lines

    def _rows(self, table: str, columns: Sequence[str], paths: Sequence[str]) -> list[Any]:
        if not paths:
            return []
        reader = self._session.fresh_index().reader
        return list(reader.rows(table, columns, is_one_of("path", paths)).to_pylist())

    def _read(self, path: str) -> bytes:
        session = self._session
        try:
            return locate(session.root, path, session.settings.index.exclude).read_bytes()
        except (OSError, ValueError) as error:
            raise NotFound(f"no document {path} in {session.root}") from error
