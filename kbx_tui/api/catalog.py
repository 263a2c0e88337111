"""Documents, entities, facts, links and paths, as indexed or as they are on disk."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kbx_tui.api.session import NameTable, Naming, Session
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.store import is_one_of, quoted
from kbx_tui.index.stored_page import STORED_PAGE_COLUMNS, MarkedPages, stored_page
from kbx_tui.index.tables import DOCUMENT_COLUMNS, document_from_row, document_version
from kbx_tui.index.vectors.load_vectors import LineRange
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import CORE_ENTITY_TYPES
from kbx_tui.knowledge.obsidian_vault import DailyNotes, read_vault_settings
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity, Fact
from kbx_tui.knowledge.vault import locate, read_page
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search import browse
from kbx_tui.search.browse import BaseContents, EntityCard, EntityName, contents_of
from kbx_tui.search.completion import FilterCompletions, complete_filter, complete_last_word
from kbx_tui.search.link_graph import Destination
from kbx_tui.search.name_lookup import DocumentName
from kbx_tui.search.query.filters import UnfinishedFilter
from kbx_tui.search.query.query_terms import searched_terms
from kbx_tui.similarity.entity_finder import EntityFinder

_WORD = re.compile(r"\w+")

PUBLIC_PAGES = 1000
"""Pages whose public text is kept, the last used ones."""
SETTLED_NS = 2_000_000_000
"""Age of a change in nanoseconds from which the identity of a file is relied on."""


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as it is on disk now."""

    path: str
    title: str
    date: str
    kind: str
    text: str
    """The whole file, decoded, frontmatter included."""
    redacted_lines: frozenset[int] = frozenset()
    """1-based."""
    left_out: int = 0
    """Bytes at the end of the file that are not in `text`."""


def _is_word(name: str, text: str) -> bool:
    """Return whether a name appears in a text, not only as a part of a word."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _file_identity(status: os.stat_result) -> tuple[int, ...]:
    """Return what differs between two versions of a file, times first."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev


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

    def document(self, path: str, most: int | None = None) -> DocumentView:
        whole = data = self._read(path)
        if most is not None and len(whole) > most:  # whole lines, unless one alone is longer
            data = whole[: whole.rfind(b"\n", 0, most) + 1 or most]
        document = parse_document(path, data, daily_notes=self._daily_notes())
        return DocumentView(
            path=path,
            title=document.title,
            date=document.date,
            kind=document.kind,
            text=decode(data)[0],
            redacted_lines=PublicPage(path, data, self._entity_types()).redacted_lines,
            left_out=len(whole) - len(data),
        )

    def read_document(self, path: str) -> Document:
        types, daily_notes = self._entity_types(), self._daily_notes()
        data = self._read(path)
        return parse_document(path, data, entity_types=types, daily_notes=daily_notes)

    def public_page(self, path: str) -> PublicPage | None:
        """A version that is known by the identity of its file is not read again."""
        session = self._session
        pages = session.public_pages
        if session.reads_stored_pages():
            return self._stored_public_page(path)
        try:
            identity = _file_identity(os.stat(f"{session.root}/{path}"))  # noqa: PTH116 - faster
        except (OSError, ValueError):
            identity = None  # gone, or spelt differently on disk: `locate` finds out
        known = pages.pop(path, None)
        if identity is None or known is None or known[0] != identity:
            read_at = time.time_ns()
            try:
                page = PublicPage(path, self._read(path), self._entity_types())
            except NotFound:
                return None
            if identity is None or read_at - max(identity[:2]) < SETTLED_NS:
                return page  # a change as soon after this one might have the same identity
            known = (identity, page)
        pages[path] = known  # the last of the dictionary is the one used last
        if len(pages) > PUBLIC_PAGES:
            del pages[next(iter(pages))]
        return known[1]

    def _stored_public_page(self, path: str) -> PublicPage | None:
        """Return a page as it was published; kept until another version is read."""
        pages = self._session.public_pages
        if path not in pages:
            try:
                data, content_hash = self._stored_page(path)
            except NotFound:
                return None
            pages[path] = ((), PublicPage(path, data, self._entity_types(), content_hash))
            if len(pages) > PUBLIC_PAGES:
                del pages[next(iter(pages))]
        return pages[path][1]

    def _stored_page(self, path: str) -> tuple[bytes, str]:
        """Return a page as it was published, and the hash of its file. Raises NotFound."""
        index, columns = self._session.fresh_index(), [*STORED_PAGE_COLUMNS, "content_hash"]
        marked = self._session.shared(MarkedPages, lambda: MarkedPages(index.store))
        rows = index.store.rows("documents", columns, is_one_of("path", [path])).to_pylist()
        data = marked.pages.get(path)
        if not rows or data == b"":
            raise NotFound(f"no document {path} in the published index")
        return data or stored_page(rows[0]), rows[0]["content_hash"]

    def is_as_indexed(self, page: PublicPage) -> bool:
        snapshot = self._session.snapshot()
        row = snapshot.row_of.get(page.path)
        version = document_version(page.path, page.content_hash)
        return row is not None and snapshot.versions[row] == version

    def entity(self, entity_id: str) -> EntityCard:
        return browse.entity_card(self._session.fresh_index(), entity_id)

    def find_entity(self, name: str, kind: str | None = None) -> Entity:
        """Return the entity with this name, alias or id. Raises UnknownEntity and Ambiguous.

        With `kind`, only entities of that type are considered.
        """
        entities: Sequence[Entity] = self._session.snapshot().entities
        if kind is not None:
            entities = tuple(entity for entity in entities if entity.type == kind)
        with self._session.naming_newer_files():
            return EntityFinder(entities).find(replace_surrogates(name))

    def find_entities(self, text: str, limit: int) -> tuple[EntityName, ...]:
        return browse.find_entities(self._session.fresh_index(), replace_surrogates(text), limit)

    def contents(self, linked: Sequence[str] = ()) -> BaseContents:
        """Return what the base holds; `linked` are the titles of its most linked notes."""
        generation = self._session.fresh_index().generation()
        words = generation.words

        def occurrences(word: str) -> tuple[int, int]:
            terms = searched_terms(word, words.languages, words.holds).words
            return words.occurrences(terms[0]) if terms else (0, 0)

        return contents_of(generation.snapshot, occurrences, linked)

    def find_documents(self, text: str, limit: int) -> tuple[DocumentName, ...]:
        return browse.find_documents(self._session.fresh_index(), replace_surrogates(text), limit)

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

    def complete_filter(self, unfinished: UnfinishedFilter, limit: int) -> FilterCompletions:
        generation = self._session.fresh_index().generation()
        return complete_filter(generation, unfinished, limit)

    def complete_query(self, query: str) -> str:
        return complete_last_word(self._session.fresh_index().generation(), query)

    def count_scope(self, path: str) -> tuple[int, int]:
        path_filter = self._session.path_filter(path)
        return browse.count_scope(self._session.fresh_index(), path_filter)

    def paths_in_scope(self, path: str) -> Sequence[str]:
        paths = self._session.snapshot().paths
        selected = self._session.path_filter(path).among(paths)
        return [each for each in paths if selected.matches(each)]

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
        if not paths:
            return {}
        store = self._session.fresh_index().store
        rows = store.rows("documents", DOCUMENT_COLUMNS, is_one_of("path", paths))
        return {row["path"]: document_from_row(row) for row in rows.to_pylist()}

    def documents_containing(self, word: str) -> Mapping[str, Document]:
        """The last answer is kept for as long as the index stays the same."""
        session = self._session
        if not (session.has_open_index() or session.is_indexed()):
            return {}
        snapshot, cached = session.snapshot(), session.word_matches
        if cached is None or cached[0] is not snapshot or cached[1] != word:
            pattern = quoted(f"%{word.lower()}%")
            where = f"lower(title) LIKE {pattern} OR lower(frontmatter) LIKE {pattern}"
            rows = session.open_index().store.rows("documents", ["path"], where)
            documents = self.stored_documents(rows["path"].to_pylist())
            cached = session.word_matches = (snapshot, word, documents)
        return cached[2]

    def paths_of_kind(self, kind: str) -> Iterator[str]:
        snapshot = self._session.snapshot()
        return (path for path, of in zip(snapshot.paths, snapshot.kinds, strict=True) if of == kind)

    def named_in(self, text: str) -> Iterator[Naming]:
        """Names are looked up by their first word: a base has thousands."""
        text, table = text.casefold(), self._names()
        for word in {"", *_WORD.findall(text)}:
            for path, owner, name in table.get(word, ()):
                folded = name.casefold()
                if folded in text and _is_word(folded, text):
                    yield path, owner, name

    def _names(self) -> NameTable:
        """Return all names of documents and entities by first word, for one index generation."""
        session, snapshot = self._session, self._session.snapshot()
        if session.names is None or session.names[0] is not snapshot:
            rows = zip(snapshot.paths, snapshot.ids, snapshot.titles, strict=True)
            namings: list[Naming] = [
                (path, None, name) for path, *names in rows for name in (path, *names)
            ]
            for entity in snapshot.entities:
                names = (entity.id, entity.name, *entity.aliases, *entity.emails)
                namings += [(entity.path, entity, name) for name in names]
            table: NameTable = {}
            for naming in namings:
                first = _WORD.search(naming[2].casefold())
                if naming[2]:
                    table.setdefault(first[0] if first else "", []).append(naming)
            session.names = (snapshot, table)
        return session.names[1]

    def chunk_lines(self, paths: Sequence[str]) -> Mapping[str, Sequence[LineRange]]:
        if not self._session.is_indexed():
            return {}
        generation = self._session.fresh_index().generation()
        row_of, chunks = generation.snapshot.row_of, generation.chunk_lines
        return {path: chunks.of(row_of[path]) for path in paths if path in row_of}

    def _entity_types(self) -> frozenset[str]:
        return CORE_ENTITY_TYPES | frozenset(self._session.settings.entities.types)

    def _daily_notes(self) -> DailyNotes | None:
        vault = read_vault_settings(self._session.root)
        return vault.daily_notes if vault else None

    def _read(self, path: str) -> bytes:
        session = self._session
        if session.reads_stored_pages():
            return self._stored_page(path)[0]
        try:
            return read_page(
                locate(session.root, path, excluded_files(session.root, session.settings.index))
            )
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise NotFound(f"no document {path} in {session.root}") from error
        except OSError as error:
            reason = error.strerror or error
            raise NotFound(f"{path} in {session.root} cannot be read: {reason}") from error
