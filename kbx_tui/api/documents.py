"""Documents: found, listed and read, as indexed or as they are on disk; paths and filters."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from operator import attrgetter
from typing import TYPE_CHECKING

from kbx_tui.api.session import Session
from kbx_tui.errors import NotFound
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.path_filter import complete, nearest_path, similar_paths
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import is_one_of
from kbx_tui.index.stored_page import STORED_PAGE_COLUMNS, MarkedPages, stored_page
from kbx_tui.index.tables import document_version
from kbx_tui.index.vectors.vector_matrix import LineRange
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import CORE_ENTITY_TYPES, DOCUMENT_KINDS
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.knowledge.redaction import PublicPage
from kbx_tui.knowledge.vault import locate, read_page
from kbx_tui.safe_text import replace_surrogates, safe_line
from kbx_tui.search.browse import BaseContents, contents_of
from kbx_tui.search.completion import FilterCompletions, complete_filter, complete_last_word
from kbx_tui.search.frecency import OpenedDocuments
from kbx_tui.search.name_lookup import DocumentName, DocumentNames
from kbx_tui.search.query.query_terms import searched_terms
from kbx_tui.search.query.typed_filters import UnfinishedFilter
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.request import MAX_QUERY, type_names
from kbx_tui.search.results.facets import FacetIndex, Facets
from kbx_tui.search.retrieval.scope import find_scope

if TYPE_CHECKING:
    from kbx_tui.search.browse import PageList

_WORD = re.compile(r"\w+")

PUBLIC_PAGES = 1000
"""How many pages have their public text cached: the most recently used ones."""
SETTLED_NS = 2_000_000_000
"""Age of a change, in nanoseconds, above which an unchanged identity means an unchanged file."""

Naming = tuple[str, Entity | None, str]
"""Path of a document, the entity if it is about one, and one of its names."""
NAME_WORDS = 20
_NO_NAMES: Mapping[str, Sequence[Naming]] = {}


@dataclass(frozen=True, slots=True)
class NameTable:
    by_words: Mapping[str, Mapping[str, Sequence[Naming]]]
    """What has a name, by the first `NAME_WORDS` words of that name, and then by it, folded."""
    lengths: Mapping[str, Collection[int]]
    """How many of those words names have, by the first of them."""
    paths: Mapping[str, str]
    """The path of the page, by its path and by its id."""


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
    labels_first: bool = False
    """Whether wikilinks are `[[label|page]]`."""


def unknown_id(document_id: str) -> NotFound:
    return NotFound(
        f"nothing here has the id {document_id!r}; ids look like person:alice-chen, and searches "
        "return them"
    )


def unknown_type(what: str, name: str, known: Collection[str]) -> NotFound:
    near = get_close_matches(name, sorted(known), n=1)
    hint = f"did you mean {near[0]}?" if near else f"types: {', '.join(sorted(known))}"
    return NotFound(safe_line(f"no {what} has type {name}; {hint}"))


class Documents:
    """The documents of one base; `kb.documents`."""

    def __init__(self, session: Session) -> None:
        self._session, self._root = session, str(session.root)
        self._names: tuple[Snapshot, NameTable] | None = None
        self._public_pages: dict[str, tuple[tuple[int, ...], PublicPage]] = {}
        """Identity of the file and its public text by path, the last used last."""
        self._current: tuple[Snapshot | None, dict[str, tuple[int, ...]]] = None, {}
        """Identities of the files that were found to be as they were indexed, by path."""

    @classmethod
    def of(cls, session: Session) -> Documents:
        """Return those of a session, whose caches are dropped when it is closed."""
        return session.shared(cls, lambda: cls(session))

    # On disk

    def view(self, path: str, *, most: int | None = None) -> DocumentView:
        """Return a document as it is on disk now, or its first `most` bytes. Raises NotFound."""
        whole = data = self._bytes(path)
        if most is not None and len(whole) > most:  # whole lines, unless one alone is longer
            data = whole[: whole.rfind(b"\n", 0, most) + 1 or most]
        conventions = self._session.conventions()
        document = parse_document(path, data, conventions=conventions)
        return DocumentView(
            path=path,
            title=document.title,
            date=document.date,
            kind=document.kind,
            text=decode(data)[0],
            redacted_lines=self._public(path, data).redacted_lines,
            left_out=len(whole) - len(data),
            labels_first=conventions.is_dendron,
        )

    def read(self, path: str) -> Document:
        """Return an indexed document, parsed as it is on disk now. Raises NotFound."""
        types, conventions = self._entity_types(), self._session.conventions()
        return parse_document(path, self._bytes(path), entity_types=types, conventions=conventions)

    def opened(self, path: str) -> None:
        """Count an opening of a document towards its frecency. Write errors are ignored."""
        OpenedDocuments(self._session.root, self._session.notice_once).add(path)

    def public_page(self, path: str) -> PublicPage | None:
        """Return a file as it is now, and what of it is not redacted; None if it is gone."""
        pages = self._public_pages
        if self._session.reads_stored_pages():
            return self._stored_public_page(path)
        identity = self._identity(path)
        known = pages.pop(path, None)
        if identity is None or known is None or known[0] != identity:
            read_at = time.time_ns()
            try:
                page = self._public(path, self._whole_bytes(path))
            except NotFound:
                return None
            if identity is None or read_at - max(identity[:2]) < SETTLED_NS:
                return page  # a change as soon after this one might have the same identity
            known = (identity, page)
        self._keep_page(path, known)
        return known[1]

    def _identity(self, path: str) -> tuple[int, ...] | None:
        """Return which version of a page is on disk; None if gone, or spelt differently there."""
        try:
            status = os.stat(f"{self._root}/{path}")  # noqa: PTH116 - faster
        except (OSError, ValueError):
            return None
        identity: tuple[int, ...] = _file_identity(status)
        return identity

    def changed(self, paths: Iterable[str]) -> list[str]:
        """Return those pages that are not as they were indexed, or gone, sorted."""
        snapshot = self._session.snapshot()
        if self._current[0] is not snapshot:
            self._current = snapshot, {}
        current, changed = self._current[1], []
        is_stored = self._session.reads_stored_pages()
        for path in paths:
            known = current.get(path)
            if known is not None and known == (() if is_stored else self._identity(path)):
                continue
            page = self.public_page(path)
            if page is None or not self.is_as_indexed(page):
                changed.append(path)
            elif path in self._public_pages:
                current[path] = self._public_pages[path][0]
        return sorted(changed)

    def index_changed(self, paths: Sequence[str], *, wait: bool) -> bool:
        """Index pages that changed, if that is possible; return whether any became current.

        With `wait`, wait for a process that indexes a few pages, as after a write.
        """
        from kbx_tui.api.file_writer import FileWriter  # reading needs none of it

        FileWriter(self._session).index_edited(paths, wait=wait, notify=False)
        snapshot, changed = self._session.snapshot(), self.changed(paths)
        return any(path not in snapshot.row_of or path not in changed for path in paths)

    def may_hide(self, path: str) -> bool:
        """Return whether a page as it is now has redacted parts, or has moved elsewhere with them.

        On a machine that reads a published index, a page may be absent because it was never here.
        """
        page = self.public_page(path)
        return self._session.published is None if page is None else page.is_marked

    def is_redacted(self, path: str, text: str) -> bool:
        """Return whether a text of a page now occurs only in redacted parts of the page."""
        page = self.public_page(path) if path else None
        return page is not None and page.redacts(text)

    def is_as_indexed(self, page: PublicPage) -> bool:
        """Return whether the index was built from this version of a page."""
        snapshot = self._session.snapshot()
        row = snapshot.row_of.get(page.path)
        is_whole = not self._session.is_public or self._session.reads_stored_pages()
        shown = page.content_hash if is_whole else page.public_hash
        version = document_version(page.path, shown)
        return row is not None and snapshot.versions[row] == version.encode()

    # As indexed; without an index, these raise NotFound unless they say otherwise

    def paths(self) -> Sequence[str]:
        """Return the paths of all documents, sorted."""
        return self._session.snapshot().paths

    def titles(self) -> Mapping[str, str]:
        snapshot = self._session.snapshot()
        return dict(zip(snapshot.paths, snapshot.titles, strict=True))

    def kinds(self) -> Mapping[str, int]:
        """Return the number of documents of each kind, sorted by kind."""
        return dict(sorted(Counter(self._session.snapshot().kinds).items()))

    def paths_of(self, texts: set[str]) -> set[str]:
        """Return the paths of the documents that some texts are the path or id of."""
        known = self._name_table().paths
        return {known[text] for text in known.keys() & texts}

    def ids(self, paths: Collection[str]) -> Mapping[str, str]:
        """Return the ids of documents by path; a page has the id of its entity."""
        snapshot = self._session.snapshot()
        rows = {path: snapshot.row_of[path] for path in paths if path in snapshot.row_of}
        return {path: snapshot.ids[row] for path, row in rows.items()}

    def listed(
        self, path: str = "", text: str = "", *, offset: int = 0, limit: int = 50
    ) -> PageList:
        """Return documents that a path filter matches and whose lines contain a text, by path.

        Without either, all of them. Raises ConfigError.
        """
        from kbx_tui.search.browse import list_pages

        generation = self._session.fresh_index().generation()
        paths = self.in_scope(path)
        found = list_pages(generation, paths, replace_surrogates(text), offset, limit)
        if text:  # their number reveals what is in pages beyond the limit
            self._session.read_paths.update(found.paths)
        return found

    def identify(self, document_id: str) -> tuple[str, Entity | None]:
        """Return path ("" without a page) and entity of an id or path. Raises NotFound."""
        loaded = self._session.fresh_index().generation()
        document_id = replace_surrogates(document_id)
        if entity := loaded.entities.get(document_id):
            self._session.read_paths.add(entity.path)
            return entity.path, entity
        snapshot = loaded.snapshot
        row = snapshot.row_of.get(document_id)
        if row is None and document_id in snapshot.ids:
            row = snapshot.ids.index(document_id)
        if row is None:
            raise unknown_id(document_id)
        self._session.read_paths.add(snapshot.paths[row])
        return snapshot.paths[row], loaded.entities.get(snapshot.ids[row])

    def find(self, text: str, limit: int = 20) -> tuple[DocumentName, ...]:
        """Return documents with `text` in title or path, best first; without text, the newest."""
        text = replace_surrogates(text[:MAX_QUERY])
        generation = self._session.fresh_index().generation()
        return tuple(generation.derived(DocumentNames).find(text, limit))

    def named_in(self, text: str) -> Iterator[Naming]:
        """Yield what a text names by title, path, id, name or alias, ignoring letter case.

        Each is (path, entity, name as indexed). The entity is None for a document about none, and
        the path of an entity without a page is empty.
        """
        text, table = text.casefold(), self._name_table()
        words, alike = _WORD.findall(text), {""}  # looked up by words: a base has thousands
        for at, word in enumerate(words):
            alike |= {" ".join(words[at : at + most]) for most in table.lengths.get(word, ())}
        for phrase in alike:
            for name, namings in table.by_words.get(phrase, _NO_NAMES).items():
                if _is_word(name, text):
                    yield from namings

    def chunk_lines(self, paths: Sequence[str]) -> Mapping[str, Sequence[LineRange]]:
        """Return first and last line of each chunk, in order, by path of the document."""
        if not self._session.is_indexed():
            return {}
        generation = self._session.fresh_index().generation()
        row_of, chunks = generation.snapshot.row_of, generation.chunk_lines
        return {path: chunks.of(row_of[path]) for path in paths if path in row_of}

    def contents(self, linked: Sequence[str] = ()) -> BaseContents:
        """Return what the base holds; `linked` are the titles of its most linked notes."""
        generation = self._session.fresh_index().generation()
        words = generation.words

        def occurrences(word: str) -> tuple[int, int]:
            terms = searched_terms(word, words.languages, words.holds).words
            return words.occurrences(terms[0]) if terms else (0, 0)

        return contents_of(generation.snapshot, occurrences, linked)

    def facets(self, documents: Ranking | str) -> Facets:
        """Return how many have each type, tag, month, person and folder; "" are all documents."""
        generation = self._session.fresh_index().generation()
        return generation.derived(FacetIndex).of(self.chosen(documents))

    def chosen(self, documents: Ranking | str) -> Sequence[str]:
        """Return the paths of the results of a ranking, or those that a path filter matches."""
        if isinstance(documents, str):
            return self.in_scope(documents)
        included = documents.included.nonzero()[0].tolist()
        return [documents.evidence.paths[row] for row in included]

    def require_scope(
        self, doc_types: Collection[str] | None = None, path: str | None = None
    ) -> None:
        """Raise NotFound for a type that does not exist, and for a path without documents.

        A type that this program or kbx.toml knows may be without documents.
        """
        kinds = self.kinds()
        known = DOCUMENT_KINDS.union(self._session.settings.entities.types, kinds)
        for name in type_names(list(doc_types or ())) if kinds else ():
            if name not in known:
                raise unknown_type("document", name, known)
        if path and kinds and not self.in_scope(path):
            near = nearest_path(path, self.paths())
            hint = f"did you mean {near}?" if near else "paths start at the root of the base"
            raise NotFound(f"there are no documents in {safe_line(path)}; {hint}")

    # Paths, filters and queries while they are typed

    def in_scope(self, path: str) -> Sequence[str]:
        """Return the paths that a path filter matches, sorted. Raises as `count_scope`."""
        paths = self._session.snapshot().paths
        selected = self._session.path_filter(path).among(paths)
        return [each for each in paths if selected.matches(each)]

    def count_scope(self, path: str) -> tuple[int, int]:
        """Return how many documents a path filter matches, of how many. Raises ConfigError."""
        path_filter = self._session.path_filter(path)
        scope = find_scope(self._session.fresh_index().generation().snapshot, path_filter)[1]
        return scope.in_scope, scope.total

    def complete_path(self, text: str, limit: int = 20) -> tuple[str, ...]:
        """Return completions of a partial path: folders (with a final slash), then files.

        If no path begins with it, return those with a similar name: `memory/meetings/` for `mee`.
        """
        paths = self._session.fresh_index().generation().snapshot.paths
        text = replace_surrogates(text)
        return complete(paths, text, self._session.root, limit) or similar_paths(paths, text, limit)

    def complete_filter(self, unfinished: UnfinishedFilter, limit: int = 20) -> FilterCompletions:
        """Return completions of the unfinished filter (`unfinished_filter`) that ends a query."""
        return complete_filter(self._session.fresh_index().generation(), unfinished, limit)

    def complete_query(self, query: str) -> str:
        """Return a query with its last word, which may be unfinished, completed.

        If no document holds that word as typed, it becomes the most frequent word that begins with
        it; otherwise the query is returned unchanged.
        """
        return complete_last_word(self._session.fresh_index().generation(), query)

    def _stored_public_page(self, path: str) -> PublicPage | None:
        if path not in self._public_pages:
            try:
                data, content_hash = self._stored_page(path)
            except NotFound:
                return None
            page = self._public(path, data, content_hash)
            self._keep_page(path, ((), page))
        return self._public_pages[path][1]

    def _keep_page(self, path: str, page: tuple[tuple[int, ...], PublicPage]) -> None:
        self._public_pages[path] = page  # the last of the dictionary is the one used last
        if len(self._public_pages) > PUBLIC_PAGES:
            del self._public_pages[next(iter(self._public_pages))]

    def _stored_page(self, path: str) -> tuple[bytes, str]:
        """Return a page as it was published, and the hash of its file. Raises NotFound."""
        index, columns = self._session.fresh_index(), [*STORED_PAGE_COLUMNS, "content_hash"]
        rows = index.store.rows("documents", columns, is_one_of("path", [path])).to_pylist()
        data = None
        if not self._session.is_public:  # there, no row has any text that is redacted
            marked = self._session.shared(MarkedPages, lambda: MarkedPages(index.store))
            data = marked.pages.get(path)
        if not rows or data == b"":
            raise NotFound(f"no document {path} in the published index")
        return data or stored_page(rows[0]), rows[0]["content_hash"]

    def _name_table(self) -> NameTable:
        snapshot = self._session.snapshot()
        if self._names is None or self._names[0] is not snapshot:
            rows = list(zip(snapshot.paths, snapshot.ids, snapshot.titles, strict=True))
            namings: list[Naming] = [
                (path, None, name) for path, *names in rows for name in (path, *names)
            ]
            paths = {document_id: path for path, document_id, _ in rows}
            for entity in snapshot.entities:
                names = (entity.id, entity.name, *entity.aliases, *entity.emails)
                namings += [(entity.path, entity, name) for name in names]
                if entity.path:
                    paths[entity.id] = entity.path
            paths |= {path: path for path, *_ in rows}
            by_words: dict[str, dict[str, list[Naming]]] = {}
            lengths: dict[str, set[int]] = {}
            for naming in namings:
                if name := naming[2].casefold():
                    words = _WORD.findall(name)[:NAME_WORDS]
                    by_words.setdefault(" ".join(words), {}).setdefault(name, []).append(naming)
                    lengths.setdefault("".join(words[:1]), set()).add(len(words))
            self._names = snapshot, NameTable(by_words, lengths, paths)
        return self._names[1]

    def _entity_types(self) -> frozenset[str]:
        return CORE_ENTITY_TYPES | frozenset(self._session.settings.entities.types)

    def _public(self, path: str, data: bytes, content_hash: str = "") -> PublicPage:
        types, conventions = self._entity_types(), self._session.conventions()
        return PublicPage(path, data, types, content_hash, conventions)

    def _bytes(self, path: str) -> bytes:
        """Return the content of a page; for agents, without its redacted parts."""
        data = self._session.shown(path, self._whole_bytes(path))
        if data is None:
            raise NotFound(f"no document {path} in {self._session.root}")
        return data

    def _whole_bytes(self, path: str) -> bytes:
        session = self._session
        if session.reads_stored_pages():
            return self._stored_page(path)[0]
        try:
            return read_page(
                locate(session.root, path, excluded_files(session.root, session.settings.index)),
                path,
            )
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise NotFound(f"no document {path} in {session.root}") from error
        except OSError as error:
            reason = error.strerror or error
            raise NotFound(f"{path} in {session.root} cannot be read: {reason}") from error


def _is_word(name: str, text: str) -> bool:
    """Return whether a text has a name between other signs than those of words; quick."""
    at = text.find(name)
    while at >= 0:
        around = (text[at - 1 : at], text[at + len(name) : at + len(name) + 1])
        if not any(sign.isalnum() or sign == "_" for sign in around):
            return True
        at = text.find(name, at + 1)
    return False


_file_identity = attrgetter("st_mtime_ns", "st_ctime_ns", "st_size", "st_ino", "st_dev")
"""Returns what differs between two versions of a file, times first."""
