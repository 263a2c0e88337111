"""KnowledgeBase: everything the app, the command line, the servers and programs can call.

Every public method is here, with its documentation; the work is done by parts that share one
`Session`. A part is imported when it is first needed, so that a search loads no markdown parser and
a write no evaluation.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from msgspec.structs import replace as replace_struct

from kbx_tui.api.session import Notice, Session
from kbx_tui.base_trust import GIT_COMMITS, OBSIDIAN, RERANKER, TrustRequest, refusal, requests_of
from kbx_tui.config import Settings
from kbx_tui.editing.journal import PENDING
from kbx_tui.errors import OutOfRange
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener
from kbx_tui.index.build.watch import watch
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.index_status import (
    IndexSummary,
    Status,
    count_newer_files,
    read_status,
    read_summary,
)
from kbx_tui.knowledge.obsidian_vault import obsidian_address
from kbx_tui.knowledge.vault import CONFIG_NAME, find_root
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.frecency import OpenedDocuments
from kbx_tui.search.ranking.alpha import alpha_note, next_changes, swap_points
from kbx_tui.search.ranking.explain import Explanation, explain
from kbx_tui.search.ranking.rank import Ranked, Ranking, rank
from kbx_tui.search.request import MAX_QUERY, SearchRequest
from kbx_tui.settings_file import knowledge_base_from_environment, load_settings
from kbx_tui.state_file import ReadOnlyPath, is_read_only

if TYPE_CHECKING:
    import threading
    from datetime import date

    from kbx_tui.api.catalog import Catalog, DocumentView
    from kbx_tui.api.checker import CheckReport
    from kbx_tui.api.drafts import DraftReview
    from kbx_tui.api.file_writer import FileWriter
    from kbx_tui.api.importer import Importer
    from kbx_tui.api.judging import Evaluator, Judging, Tuner
    from kbx_tui.api.link_browser import LinkBrowser
    from kbx_tui.api.page_writer import PageWriter
    from kbx_tui.api.publishing import Publication
    from kbx_tui.api.queries import PastSearches, WhyNotFinder
    from kbx_tui.api.reranking import PendingReranking, RerankerTrial
    from kbx_tui.api.searcher import Searcher
    from kbx_tui.api.similarity_checks import SimilarityChecks
    from kbx_tui.bulk.ray_workers import RayEngine
    from kbx_tui.drafting.decided_pairs import LabelledScore, ThresholdMetrics
    from kbx_tui.drafting.differences import Difference
    from kbx_tui.drafting.drafts import Draft
    from kbx_tui.drafting.records import Applied, DraftCheck, DraftMatch, Plan, Verdict, Written
    from kbx_tui.editing.file_edits import ProgressCallback
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.editing.page_edits import Value
    from kbx_tui.evaluation.blind_preferences import Better, Preference, ShownList, Votes
    from kbx_tui.evaluation.exchange import Format, JudgmentImport
    from kbx_tui.evaluation.judged_evidence import JudgedEvidence
    from kbx_tui.evaluation.judged_evidence import Progress as TuningProgress
    from kbx_tui.evaluation.judgments import JudgedQuery, Judgment, UndoneJudgment
    from kbx_tui.evaluation.optimise import Advice
    from kbx_tui.evaluation.past_queries import ThresholdObservatory
    from kbx_tui.evaluation.runs import Knob, Mode, Run, Sweep
    from kbx_tui.evaluation.runs import ProgressCallback as QueryProgress
    from kbx_tui.evaluation.tuning_snapshots import TuningSnapshot
    from kbx_tui.experts.expert_ranking import ExpertRanking
    from kbx_tui.importing.import_planning import Answer, ImportPlan
    from kbx_tui.importing.imported_document import Format as ImportFormat
    from kbx_tui.importing.okf import OkfExport
    from kbx_tui.index.index_status import IndexOverview, IndexQuestion
    from kbx_tui.index.vectors.load_vectors import LineRange
    from kbx_tui.knowledge.public_page import PublicPage
    from kbx_tui.knowledge.records import Document, Entity, Fact, FactKind
    from kbx_tui.knowledge.topics import EntityProposal
    from kbx_tui.search.browse import BaseContents, EntityCard, EntityName
    from kbx_tui.search.completion import FilterCompletions
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.search.link_graph import Destination
    from kbx_tui.search.link_records import (
        BrokenLink,
        DocumentLinks,
        LinkedDocument,
        LinkOverview,
        UnlinkedMention,
    )
    from kbx_tui.search.name_lookup import DocumentName
    from kbx_tui.search.query.filters import UnfinishedFilter
    from kbx_tui.search.query_history import News, PastQuery, SavedQuery
    from kbx_tui.search.ranking.explain import Comparison, PairExplanation
    from kbx_tui.search.results.facets import Facets
    from kbx_tui.search.results.response import SearchResponse, Snippet
    from kbx_tui.search.why_not import WhyNot
    from kbx_tui.similarity.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.matches import FieldSimilarity, SimilarityCheck, SimilarityMatch
    from kbx_tui.similarity.pair_score import PairSimilarity


EVIDENCE_BYTES = 512 * 1024 * 1024
"""Memory that the evidence of judged queries takes at most."""

_SEARCH_OPTIONS = [field.name for field in fields(SearchRequest) if field.name != "query"]


class KnowledgeBase:
    """One knowledge base. Cheap to open; index and model load on first use.

    For one thread at a time. `notice` is called with a sentence about anything that delays or
    degrades a call, such as building an index first or waiting for another process.
    """

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        settings: Settings | None = None,
        notice: Notice | None = None,
        trust: bool = False,
        read_only: bool = False,
    ) -> None:
        """Open the base at `root`, else at KBX_ROOT, else the nearest one upward.

        Completes a write during which a process died. `trust` allows everything that its kbx.toml
        asks for; `settings` given here need no trust. With `read_only` every method that writes
        raises ReadOnly, and no use is recorded: neither pages nor anything in `.kbx` change.
        Raises NotFound, ConfigError, and NotTrusted for an index elsewhere or another model that
        the user has not allowed the base.
        """
        folder = Path(root).expanduser() if root is not None else knowledge_base_from_environment()
        found = find_root(explicit=folder)
        self.root: Path = ReadOnlyPath(found) if read_only else found
        self.settings = settings if settings is not None else load_settings(self.root)
        self._reads_settings = settings is None
        self.untrusted = () if trust or settings is not None else self._require_trust()
        """What kbx.toml asks for and the user has not allowed: it is not done."""
        refused = {request.key for request in self.untrusted}
        self._session = Session(
            self.root,
            self.settings,
            notice or (lambda text: None),
            may_commit=GIT_COMMITS not in refused,
            may_rerank=RERANKER not in refused,
            reads_settings=self._reads_settings,
        )
        self.finish_interrupted()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def noting(self) -> Iterator[Sequence[str]]:
        """Collect what `notice` is called with inside the block, besides calling it."""
        notices: list[str] = []
        notice = self._session.notice

        def note(text: str) -> None:
            notices.append(text)
            notice(text)

        self._session.notice = note
        try:
            yield notices
        finally:
            self._session.notice = notice

    @property
    def read_only(self) -> bool:
        """Whether the base was opened for reading only."""
        return is_read_only(self.root)

    def close(self) -> None:
        """Release model, tables and caches; the base may be used again."""
        self._session.close()

    def _require_trust(self) -> tuple[TrustRequest, ...]:
        """Return what is not allowed; raise NotTrusted if the base cannot be opened without it."""
        if not (requests := requests_of(self.root, self.settings)):
            return ()
        from kbx_tui.base_trust import ungranted  # few bases need it

        missing = ungranted(self.root, requests)
        if blocking := [request for request in missing if request.blocks]:
            raise refusal(self.root, blocking)
        return missing

    # Index

    def is_indexed(self) -> bool:
        """Return whether text and entities can be searched; loads nothing."""
        return self._session.is_indexed()

    def index(
        self,
        progress: ProgressListener | None = None,
        *,
        fast: bool = False,
        full: bool = False,
        cancelled: Cancelled = lambda: False,
        wait: bool = True,
        only: Collection[str] | None = None,
        engine: RayEngine | None = None,
    ) -> IndexReport:
        """Bring the index up to date with the files.

        `fast` stops once text and entities can be searched; `full` rebuilds everything but known
        vectors; `only` limits the run to these paths; `engine` lets other processes parse, chunk
        and embed. Raises IndexFault, IndexLocked (without `wait`, or if cancelled while waiting),
        IndexForeign, EmbeddingError, and with `engine` EngineFault and ConfigError.
        """
        return self._session.index(
            progress,
            fast=fast,
            full=full,
            cancelled=cancelled,
            wait=wait,
            only=only,
            engine=engine,
        )

    def publishing(self) -> AbstractContextManager[Publication | None]:
        """Hold the right to publish the index, for `index` and then `Publication.publish`.

        None where the index is in a folder. Another machine's index is only read otherwise: `index`
        raises IndexElsewhere. Raises IndexLocked while another process may publish, StoreFault, and
        ReadOnly.
        """
        from kbx_tui.api.publishing import publication  # few bases publish

        return publication(self._session)

    def index_question(self) -> IndexQuestion | None:
        """Return what to ask the user before `index` compares all files; None for nothing.

        It is asked before more than 2,000 new files, and before the first run in a folder of the
        system. `index` does not ask, a search that indexes the base first raises NotConfirmed.
        """
        from kbx_tui.index.index_status import index_question

        if self._session.published is not None:
            return None
        return index_question(self.root, self.settings)

    def add_vectors(self, *, cancelled: Cancelled = lambda: False) -> int:
        """Embed indexed texts that have no vector yet, and return how many.

        For times without searches: a few texts at a time until `cancelled`, the rest next time.
        Raises IndexLocked while another process writes, NotFound without an index, IndexForeign,
        IndexFault and EmbeddingError.
        """
        return self._session.add_vectors(cancelled=cancelled)

    def refresh(self) -> bool:
        """Return whether the index has a newer generation, which later calls then read.

        While another process is indexing, its newest vectors may be missing for some seconds.
        """
        return self._session.refresh()

    def warm(self) -> None:
        """Load what the first search needs: model, vectors, entities. Raises as `retrieve`."""
        self._searcher.warm()

    def watch(self, changed: Callable[[frozenset[str]], None], *, stopped: threading.Event) -> None:
        """Call `changed` with the paths of files that change on disk, until `stopped` is set.

        Blocks, and may run in a thread of its own: it shares no state with other methods. Paths are
        relative to the root; changes in quick succession come as one call. Raises NotFound when the
        root is gone and KbxError when the system cannot watch it.
        """
        watch(self.root, excluded_files(self.root, self.settings.index), changed, stopped=stopped)

    def count_newer_files(self) -> int:
        """Return how many files are new, changed or gone since the last run.

        Reads only files that changed since the last call or run; much faster than `status`.
        """
        if self._session.published is not None:
            return 0  # nothing is indexed here
        return count_newer_files(self.root, self.settings)

    def entities_outdated(self) -> bool:
        """Return whether `[entities]` of kbx.toml changed since the last run of indexing."""
        return self._session.entities_outdated()

    def naming_newer_files(self) -> AbstractContextManager[None]:
        """Add to an UnknownEntity raised within how many files are newer than the index."""
        return self._session.naming_newer_files()

    def status(self) -> Status:
        """Return what is indexed, what is out of date, and which files had problems."""
        status = read_status(self.root, self._session.store(), self.settings)
        published = self._session.published
        if published is None:
            return status
        return replace(status, stale=(), entities_outdated=False, published=published.words())

    def index_summary(self) -> IndexSummary | None:
        """Return generation and size of the newest index, which is then open; None without one.

        Takes milliseconds, or as long as reading a newer generation.
        """
        session = self._session
        if not session.is_indexed():
            return None
        session.refresh()
        return read_summary(session.store(), session.open_index().generation().number)

    def overview(self) -> IndexOverview:
        """Return the documents, and the files that are new, changed, incomplete or lack vectors.

        Faster than `status`: it reads only files that changed, and looks for no damage.
        """
        from kbx_tui.index.index_status import read_overview

        overview = read_overview(self.root, self._session.store(), self.settings)
        published = self._session.published
        if published is None:
            return overview
        return replace(overview, stale=(), published=published.words())

    def notes(self) -> tuple[str, ...]:
        """Return sentences on what any search would miss: no index, vectors, newer files."""
        from kbx_tui.search.results.notes import NOT_INDEXED, vector_notes

        if not self.is_indexed():
            return (NOT_INDEXED,)
        vectors = self._session.coverage()
        missing = vector_notes(vectors.share, vectors.missing)
        return (*missing, *self._session.outdated_notes())

    def check(self, *, read_data: bool = False) -> CheckReport:
        """Return what in index and state files is not as it was written. Writes nothing.

        With `read_data` every byte and every row is compared, otherwise structure, versions and the
        digests of files that changed. Raises NotFound without an index.
        """
        from kbx_tui.api.checker import check_base  # only this method needs it

        return check_base(self._session, read_data=read_data)

    # Search

    def tuning(self, preset: str | None = None, **changes: Any) -> Tuning:
        """Return the knobs of kbx.toml with `changes`, where None keeps the configured value.

        `preset` is `default` or `seed`. Raises OutOfRange and ConfigError.
        """
        knobs = {name: value for name, value in changes.items() if value is not None}
        return replace(self._searcher.tuning(preset), **knobs)

    def search(self, query: str | SearchRequest, **options: Any) -> SearchResponse:
        """Return ranked results with snippets; a base without an index is indexed first.

        `options` are the fields of `SearchRequest`: filters (`path`, `doc_types`, `since`, ...),
        knobs (`alpha`, `threshold`, ...), `limit`, `fast`, `explain`. Raises TypeError for any
        other, OutOfRange, ConfigError for a path outside the base or a malformed date, NotFound for
        an unknown entity, IndexFault and EmbeddingError.
        """
        return self._searcher.search(_search_request(query, options))

    def retrieve(self, query: str | SearchRequest, **options: Any) -> Evidence:
        """Return everything `rank` needs to order the documents in scope, from the newest index.

        Options and errors as `search`; NotFound without an index. Only filters, `fast`, `preset`,
        `feedback`, `parts` and `pinned` (entities that are retrieved in any case) affect
        retrieval: the other knobs are left to `rank`.
        """
        return self._searcher.retrieve(_search_request(query, options))

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        """Return the documents of `evidence` ranked. Pure."""
        return rank(evidence, tuning or self.tuning())

    def facets(self, documents: Ranking | str) -> Facets:
        """Return how many documents have each type, tag, month, person and folder.

        Of the results of a ranking, or of a path as in `search`; "" are all documents.
        """
        return self._searcher.facets(self._paths_of(documents))

    def rerank(self, ranking: Ranking, reranker: str | None = None) -> Ranking:
        """Return a ranking with its first 20 documents reranked, as `search` returns it.

        `reranker` is a folder with a cross-encoder or its name in fastembed, by default that of
        kbx.toml; without one, and where nothing is to be scored, the ranking is returned as it is.
        If the model fails, `evidence.reranker.failure` of the plain ranking says why.
        """
        return self._searcher.rerank(ranking, reranker)

    def begin_reranking(
        self, ranking: Ranking, reranker: str | None = None
    ) -> PendingReranking | None:
        """Read what the reranker needs for a ranking; None if there is nothing to score.

        Running the model takes long: `PendingReranking.run` does it in any thread, and returns the
        evidence to rank again. Other parameters as `rerank`. Raises IndexFault.
        """
        return self._searcher.begin_reranking(ranking, reranker)

    def try_reranker(self, reranker: str | None = None, *, download: bool = False) -> RerankerTrial:
        """Load a reranker and time it on 20 passages; with `download`, download it first.

        `reranker` as in `rerank`. Raises RerankerError, and ConfigError if none is named.
        """
        return self._searcher.try_reranker(reranker, download=download)

    def explain(self, ranking: Ranking, ranked: Ranked) -> Explanation:
        """Return how the score of one result was computed. Pure."""
        return explain(ranking, ranked)

    def alpha_note(self, ranking: Ranking, limit: int = 200) -> str:
        """Return why no alpha changes the order of the results, empty when one does. Pure."""
        return alpha_note(ranking, limit)

    def next_changes(self, ranking: Ranking, limit: int = 10) -> tuple[float | None, float | None]:
        """Return the nearest alphas below and above that change the top `limit` results. Pure."""
        return next_changes(ranking, limit)

    def swap_points(self, ranking: Ranking, limit: int = 10) -> tuple[float, ...]:
        """Return all alphas, ascending, that change the order of the top `limit` results. Pure."""
        return swap_points(ranking, limit)

    def matches(self, evidence: Evidence, text: str) -> tuple[tuple[int, int], ...]:
        """Return the spans of words in `text` that pass 2 searched for, in order. Pure."""
        return self._searcher.match_spans(evidence, text)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        """Return the best passage for the query of each document at `rows` of `evidence`."""
        return self._searcher.snippets(evidence, rows)

    def opened(self, path: str) -> None:
        """Count an opening of a document towards its frecency. Write errors are ignored."""
        OpenedDocuments(self.root, self._session.notice_once).add(path)

    # Documents and entities

    def document(self, path: str, *, most: int | None = None) -> DocumentView:
        """Return a document as it is on disk now; of a longer one, the first `most` bytes.

        Raises NotFound when there is none at `path` or it is outside the base.
        """
        return self._catalog.document(path, most)

    def entity(self, entity_id: str) -> EntityCard:
        """Return everything known about an entity. Raises NotFound."""
        return self._catalog.entity(entity_id)

    def named_entity(self, name: str) -> EntityCard:
        """Return everything known about the entity with this name, alias or id.

        Prefixes of its words are enough if they fit only one. Raises NotFound and Ambiguous.
        """
        return self._catalog.entity(self._catalog.find_entity(name).id)

    def find_entities(self, text: str, limit: int = 20) -> tuple[EntityName, ...]:
        """Return entities with `text` in their name or an alias, best first.

        Without text, those with the most documents. The first 2,000 characters of a text count.
        """
        from kbx_tui.search.results.notes import cut_query_notes

        for note in cut_query_notes(text):
            self._session.notice_once(note)
        return self._catalog.find_entities(text[:MAX_QUERY], limit)

    def contents(self) -> BaseContents:
        """Return what the base holds by type and tag, and queries that find something in it."""
        return self._catalog.contents(self._link_browser.titles_to_ask_for())

    def find_documents(self, text: str, limit: int = 20) -> tuple[DocumentName, ...]:
        """Return documents with `text` in their title or path, best first.

        Without text, the newest. The first 2,000 characters of a text count. Raises NotFound
        without an index.
        """
        return self._catalog.find_documents(text[:MAX_QUERY], limit)

    def follow(self, target: str, source: str) -> Destination | None:
        """Return where a wikilink or relative link in the document `source` leads.

        None for other addresses (`https://`) and for targets that do not exist.
        """
        return self._catalog.follow(target, source)

    def links(self, name: str) -> DocumentLinks:
        """Return the links of a document: to it, from it, broken ones, and unlinked mentions.

        `name` is its path, id, file name, title or alias. As indexed. Raises NotFound.
        """
        return self._link_browser.of(name)

    def broken_links(self, path: str | None = None) -> tuple[BrokenLink, ...]:
        """Return the links that lead to nothing, by path and line, with documents likely meant.

        `path` is a folder, file or glob. As indexed.
        """
        return self._link_browser.broken(path)

    def link_overview(self) -> LinkOverview:
        """Return how many links and broken links the base has, and what is linked most."""
        return self._link_browser.overview()

    def most_linked(self, documents: Ranking | str) -> tuple[LinkedDocument, ...]:
        """Return those of some documents, as for `facets`, with most links to them, at least 2."""
        return self._link_browser.most_linked(self._paths_of(documents))

    def _paths_of(self, documents: Ranking | str) -> list[str]:
        if isinstance(documents, str):
            return list(self._catalog.paths_in_scope(documents))
        included = documents.included.nonzero()[0].tolist()
        return [documents.evidence.paths[row] for row in included]

    def link_mention(
        self, mention: UnlinkedMention, path: str, *, dry_run: bool = False
    ) -> Written:
        """Make a mention a link to the document at `path`; all other bytes stay. Undoable.

        Raises WriteFault if the name is not there any more.
        """
        return self._link_browser.link(mention, path, dry_run=dry_run)

    def obsidian_address(self, path: str) -> str:
        """Return the address at which Obsidian opens a document.

        Empty where `[links] open` does not name it, and where the base is not a vault or not
        trusted with that.
        """
        if self.settings.links.open != "obsidian" or any(
            request.key == OBSIDIAN for request in self.untrusted
        ):
            return ""
        return obsidian_address(self.root, path)

    def complete_path(self, text: str, limit: int = 20) -> tuple[str, ...]:
        """Return completions of a partial path: folders (with a final slash), then files."""
        return self._catalog.complete_path(text, limit)

    def complete_filter(self, unfinished: UnfinishedFilter, limit: int = 20) -> FilterCompletions:
        """Return how the filter at the end of a query may go on (`unfinished_filter`).

        Raises NotFound without an index.
        """
        return self._catalog.complete_filter(unfinished, limit)

    def complete_query(self, query: str) -> str:
        """Return a query whose last word may still be typed, with that word continued.

        To the most frequent word that begins like it, if no document holds what is typed; otherwise
        the query itself. Raises NotFound without an index.
        """
        return self._catalog.complete_query(query)

    def count_scope(self, path: str) -> tuple[int, int]:
        """Return how many documents a path filter matches, and how many there are in total.

        Raises ConfigError for a path outside the base.
        """
        return self._catalog.count_scope(path)

    def document_paths(self) -> Sequence[str]:
        """Return the paths of all documents, sorted. Raises NotFound without an index."""
        return self._session.snapshot().paths

    def titles(self) -> Mapping[str, str]:
        """Return the title of each document by path. Raises NotFound without an index."""
        snapshot = self._session.snapshot()
        return dict(zip(snapshot.paths, snapshot.titles, strict=True))

    def paths_in_scope(self, path: str) -> Sequence[str]:
        """Return the paths that a path filter matches, sorted. Raises as `count_scope`."""
        return self._catalog.paths_in_scope(path)

    def document_kinds(self) -> Mapping[str, int]:
        """Return the number of documents of each kind, sorted by kind."""
        return dict(sorted(Counter(self._session.snapshot().kinds).items()))

    def document_ids(self, paths: Collection[str]) -> Mapping[str, str]:
        """Return the ids of documents by path; a page has the id of its entity."""
        rows, ids = self._session.snapshot().row_of, self._session.snapshot().ids
        return {path: ids[rows[path]] for path in paths if path in rows}

    def identify(self, document_id: str) -> tuple[str, Entity | None]:
        """Return the path and the entity that an id or path names; either may be missing.

        The path is empty for an entity without a page. Raises NotFound.
        """
        return self._catalog.identify(document_id)

    def list_documents(self, offset: int, limit: int) -> Sequence[tuple[str, str, str]]:
        """Return id, path and title of documents, sorted by path."""
        snapshot, page = self._session.snapshot(), slice(offset, offset + limit)
        return list(
            zip(snapshot.ids[page], snapshot.paths[page], snapshot.titles[page], strict=True)
        )

    def stored_documents(self, paths: Sequence[str]) -> Mapping[str, Document]:
        """Return documents as they were indexed, by path; unknown paths are left out."""
        return self._catalog.stored_documents(paths)

    def documents_containing(self, word: str) -> Mapping[str, Document]:
        """Return the indexed documents with a word in title or frontmatter, by path.

        Letter case is ignored. Empty without an index.
        """
        return self._catalog.documents_containing(word)

    def chunk_lines(self, paths: Sequence[str]) -> Mapping[str, Sequence[LineRange]]:
        """Return first and last line of each chunk, in order, by path of the document."""
        return self._catalog.chunk_lines(paths)

    def read_document(self, path: str) -> Document:
        """Return an indexed document, parsed as it is on disk now. Raises NotFound."""
        return self._catalog.read_document(path)

    def public_page(self, path: str) -> PublicPage | None:
        """Return a file as it is on disk now, and what of it is not redacted; None if it is gone.

        A file that did not change since the last call is not read again.
        """
        return self._catalog.public_page(path)

    def is_redacted(self, path: str, text: str) -> bool:
        """Return whether a text that is on a page stands only in what is redacted of it now."""
        page = self.public_page(path) if path else None
        return page is not None and page.redacts(text)

    def is_as_indexed(self, page: PublicPage) -> bool:
        """Return whether the index was built from this version of a page."""
        return self._catalog.is_as_indexed(page)

    def paths_of_kind(self, kind: str) -> Iterable[str]:
        """Return the paths of the documents of a type, in order, as needed."""
        return self._catalog.paths_of_kind(kind)

    def named_in(self, text: str) -> Iterable[tuple[str, Entity | None, str]]:
        """Return what a text names by title, path, id, name or alias, ignoring letter case.

        As (path, entity, name as indexed); documents without, and entities perhaps without a path.
        """
        return self._catalog.named_in(text)

    # Experts

    def experts(
        self,
        topic: str,
        limit: int = 10,
        min_claims: int = 1,
        weight: Any = "count",
        *,
        people: bool = False,
        half_life_days: float | None = None,
        now: date | None = None,
    ) -> ExpertRanking:
        """Return the entities best known on a topic, best first; equal scores by id.

        Those known for the whole topic come first; a claim that holds only some of its words counts
        by their share. With `people`, only people are ranked.

        `weight`: `count` (claims), `recency` (halved every `half_life_days`), `citation` (distinct
        sources x confidence), `relevance` (documents on the topic count too); any other is `count`.
        Claims are the facts of any page that contain a word of the topic or concern an entity it
        names, except superseded, archived and redacted ones. `now` is the date ages are counted
        from, by default the newest in the base. Raises ConfigError (empty topic), OutOfRange,
        IndexFault and EmbeddingError.
        """
        from kbx_tui.experts.expert_engine import (
            ExpertEngine,  # only experts need it
            with_notes,
        )
        from kbx_tui.experts.expert_ranking import parse_weight

        if half_life_days is None:
            half_life_days = self.settings.experts.half_life_days
        if not half_life_days > 0.0:  # put this way round, NaN fails too
            raise OutOfRange(f"half_life_days must be above 0, got {half_life_days}")
        self._session.ensure_indexed()
        index = self._session.fresh_index()
        engine = self._session.shared(
            ExpertEngine, lambda: ExpertEngine(index, self.root, self.retrieve)
        )
        topic = replace_surrogates(topic)
        ranking = engine.rank(
            topic[:MAX_QUERY],
            parse_weight(weight),
            limit=limit,
            min_claims=min_claims,
            now=now,
            half_life_days=half_life_days,
            people=people,
        )
        outdated = self._session.outdated_notes()
        return with_notes(ranking, topic, weight, engine.evidence, outdated)

    # Similarity

    def pair_similarity(self, pairs: Sequence[tuple[str, str]]) -> list[PairSimilarity]:
        """Return how similar the two texts of each pair are, in order; reads no index.

        Symmetric; identical texts, apart from case, accents and spacing, score exactly 1. Raises
        ConfigError for an empty text and EmbeddingError.
        """
        return self._similarity.compare_pairs(pairs)

    def memory_similar(
        self,
        text: str,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        limit: int = 5,
        chunks: bool = False,
    ) -> list[SimilarityMatch]:
        """Return facts, open items and fields similar to `text`, best first: ask before you write.

        `entity` (name, alias or id) and `path` restrict the search; with `path` or `chunks`,
        passages of documents are compared too. `threshold` replaces those of `[dedup]`; without it,
        what scores .80 or more is listed even below its own, see `is_similar`. Conflicting
        matches are included, see `relation`. Raises ConfigError (empty text), OutOfRange, NotFound
        and Ambiguous (entity), EmbeddingError and IndexForeign.
        """
        (check,) = self.check_similar(
            [text], entity=entity, path=path, threshold=threshold, limit=limit, chunks=chunks
        )
        return list(check.matches)

    def check_similar(
        self,
        texts: Sequence[str],
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        limit: int = 5,
        chunks: bool = False,
    ) -> list[SimilarityCheck]:
        """Return a complete check of each text, in order; faster than one call per text.

        Arguments and errors as `memory_similar`.
        """
        return self._similarity.check(
            texts, entity=entity, path=path, threshold=threshold, limit=limit, chunks=chunks
        )

    def has_similar(
        self,
        text: str,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
    ) -> bool:
        """Return whether anything says the same as `text` without contradicting it.

        Arguments and errors as `memory_similar`.
        """
        return self._similarity.has_similar(text, entity, path, threshold)

    def entity_similar_field(
        self, entity: str, field: str, value: str, *, threshold: float | None = None
    ) -> FieldSimilarity:
        """Return how similar a proposed value is to the current value of an entity's field.

        `field` is role, team, facts, open_items or any frontmatter key of the page. Raises as
        `memory_similar`.
        """
        return self._similarity.check_field(entity, field, value, threshold)

    def scan_duplicates(
        self,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        kept: bool = False,
    ) -> DuplicateScan:
        """Return clusters of facts, and of open items, that say the same.

        Pairs that the user decided to keep are left out; with `kept`, only they are returned. Other
        arguments and errors as `memory_similar`.
        """
        return self._drafts.scan_duplicates(entity, path, threshold, kept=kept)

    # Writes: each is one journal entry, and indexed before the method returns

    def memory_add(
        self,
        text: str | None = None,
        *,
        entity: str,
        title: str | None = None,
        kind: FactKind = "fact",
        date: str | None = None,
        source: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        create: bool = False,
    ) -> Written:
        """Add a fact or open item to the page of an entity, unless it is known already.

        If the page says the same or the contrary, nothing is written and `matches` lists it;
        `force` writes anyway. A fact without a date gets today's. `create` creates a missing page;
        an unknown name becomes a person. `title` is another name for `text`. Raises ConfigError
        (empty text), NotFound (entity or page), Ambiguous, WriteFault, EmbeddingError and
        IndexForeign.
        """
        text = text or title or ""
        return self._pages.add_fact(
            text, entity, kind, date, source, force=force, dry_run=dry_run, create=create
        )

    def edit_fact(self, fact_id: int, text: str, *, date: str | None = None) -> int:
        """Reword a fact and return its new id; date, notes and position stay.

        Writes even what is known: a merge may resemble a third fact. Raises ConfigError (empty
        text), NotFound for an id that no fact has, WriteFault and FileChanged.
        """
        return self.reword_fact(fact_id, text, date=date, force=True).fact_id or fact_id

    def reword_fact(
        self,
        fact_id: int,
        text: str,
        *,
        date: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Written:
        """Reword a fact, unless the page says the same or the contrary elsewhere.

        In that case nothing is written and `matches` lists it, as in `memory_add`; `force` writes
        anyway. Raises as `edit_fact` and `memory_add`.
        """
        return self._pages.reword_fact(fact_id, text, date=date, force=force, dry_run=dry_run)

    def delete_fact(self, fact_id: int, *, dry_run: bool = False) -> Written:
        """Delete the line of a fact. Raises as `edit_fact`."""
        return self._pages.delete_fact(fact_id, dry_run=dry_run)

    def supersede_fact(
        self,
        fact_id: int,
        *,
        text: str | None = None,
        date: str | None = None,
        source: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Written:
        """Strike out a fact; with `text`, add the fact that replaces it.

        If the page says that, or the contrary, elsewhere, nothing is written, as in `reword_fact`.
        Raises as `edit_fact`.
        """
        return self._pages.supersede_fact(fact_id, text, date, source, force=force, dry_run=dry_run)

    def fact(self, fact_id: int) -> Fact:
        """Return a fact or open item by its id; an unknown id has the files indexed first.

        Raises NotFound, which says what became of the fact as far as the journal knows.
        """
        return self._pages.fact(fact_id)

    def facts(self, *, entity: str | None = None, since: str | None = None) -> tuple[Fact, ...]:
        """Return facts and open items of any status, newest first, undated ones last.

        `entity` restricts them to one entity, `since` to dates from that one on. Raises
        ConfigError, NotFound and Ambiguous.
        """
        return self._catalog.facts(entity, since)

    def create_page(
        self,
        name: str,
        kind: str = "person",
        fields: Mapping[str, Value] | None = None,
        *,
        dry_run: bool = False,
    ) -> Written:
        """Create the page of a person, project or team, with `fields` as frontmatter.

        Raises WriteFault if the page exists, the name has no letter, or a name or value would be
        read back as something else.
        """
        return self._pages.create_page(name, kind, fields or {}, dry_run=dry_run)

    def edit_page(
        self,
        entity: str,
        fields: Mapping[str, Value],
        *,
        kind: str | None = None,
        dry_run: bool = False,
    ) -> Written:
        """Set frontmatter fields of an entity's page; None removes a field.

        `kind` is the type the entity must have. `hints` list fields whose old value was similar.
        Raises NotFound, Ambiguous, WriteFault, FileChanged and EmbeddingError.
        """
        return self._pages.edit_page(entity, fields, kind=kind, dry_run=dry_run)

    def plan_import(
        self,
        sources: Iterable[Path | str],
        *,
        form: ImportFormat | None = None,
        answer: Answer = lambda _question: None,
        create_people: bool = False,
    ) -> ImportPlan:
        """Return the pages that files, folders and archives of other programs would become.

        Nothing is written. `form` is the format where names and content do not show it;
        `answer` says who an attendee is who may be several people, by default the name stays as
        written. `create_people` adds a page for each attendee with a full name and without one.
        Raises NotFound, and ConfigError for a source that cannot be read or is refused.
        """
        return self._importer.plan(
            [Path(source) for source in sources], form, answer, create_people=create_people
        )

    def apply_import(self, plan: ImportPlan, description: str = "import") -> int | None:
        """Write the pages of a plan, all or none, as one entry that `undo` reverts.

        Returns the number of that entry, None if there is nothing to write. Raises WriteFault.
        """
        return self._importer.apply(plan, description)

    def export_okf(self, folder: Path | str, *, include_redacted: bool = False) -> OkfExport:
        """Write all pages to a new folder in the Open Knowledge Format v0.1.

        Redacted pages and lines are left out unless `include_redacted`. Raises ConfigError for a
        folder that has content, and WriteFault.
        """
        return self._importer.export_okf(Path(folder), include_redacted=include_redacted)

    def undo(self, number: int | None = None) -> JournalEntry:
        """Revert a write, by default the last one not yet undone, and return its entry.

        Raises WriteFault when there is none, FileChanged when a file was edited since, and
        RecordDamaged when the record of the write is damaged.
        """
        entry = self._files.undo(number)
        if any(change.path == CONFIG_NAME for change in entry.changes):
            self.reread_settings()
        return entry

    def undoable(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """Return the last writes, newest first; undone ones are marked, undos are left out."""
        return self._files.history(limit)

    def finish_interrupted(self) -> tuple[str, ...]:
        """Complete a write during which a process died; return the files it wrote."""
        is_pending = os.path.lexists(self.root / PENDING) and not self.read_only
        return self._files.finish_interrupted() if is_pending else ()

    # Drafts: facts to be checked, decided, planned and applied together

    def drafts(self) -> tuple[Draft, ...]:
        """Return the drafts stored in this base, in order."""
        return self._drafts.drafts()

    def drafts_in(self, file: Path | str) -> tuple[Draft, ...]:
        """Return a draft for each line of a file, which may be relative to the root.

        Stores nothing. Raises NotFound for a file that cannot be read and ConfigError for JSON that
        is not a draft.
        """
        return self._drafts.drafts_in(file)

    def save_drafts(self, drafts: Sequence[Draft]) -> None:
        """Store `drafts` at once, merged with what other processes did in the meantime.

        Drafts they added stay, drafts they settled stay removed unless changed here, and of two
        versions the changed one wins. Raises WriteFault, with the stored drafts unchanged.
        """
        self._drafts.save(drafts)

    def check_drafts(self, drafts: Sequence[Draft]) -> list[DraftCheck]:
        """Return for each draft its probable entity and what is similar, in base and batch.

        Pages edited since the last run are indexed first. Faster for many drafts at once; texts
        checked recently are not embedded again. Raises EmbeddingError, IndexForeign and IndexFault.
        """
        return self._drafts.check(drafts)

    def scan_drafts(
        self,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        kept: bool = False,
    ) -> list[DraftCheck]:
        """Return the result of `scan_duplicates` as checks of the newest fact of each group.

        `stands_for` is that fact, the matches are the older ones. With `kept`, each has the choice
        to keep them. Raises as `scan_duplicates`.
        """
        return self._drafts.scan(entity, path, threshold, kept=kept)

    def keep_duplicates(self, check: DraftCheck, *, kept: bool = True) -> None:
        """Leave the facts of a check from `scan_drafts` out of later scans, or no longer.

        It is on disk when this returns, and no page changes. A fact that is edited is found again.
        Raises WriteFault.
        """
        self._drafts.keep(check, kept=kept)

    def kept_duplicates(self) -> int:
        """Return the number of pairs of facts that the user decided to keep."""
        return self._drafts.kept_pairs()

    def decide(self, check: DraftCheck, threshold: float | None = None) -> Verdict:
        """Return state and proposal of a draft under `threshold`, 0..1, or `[dedup]`. Pure.

        Raises OutOfRange.
        """
        return self._drafts.decide(check, threshold)

    def difference(self, left: str, right: str, conflicts: Sequence[Conflict] = ()) -> Difference:
        """Return two texts as pieces that agree, differ or contradict each other. Pure."""
        return self._drafts.difference(left, right, conflicts)

    def merged_text(self, check: DraftCheck, match: DraftMatch) -> str:
        """Return a first version of the text that merges a draft into a fact. Pure."""
        return self._drafts.merged_text(check, match)

    def plan(self, drafts: Sequence[Draft]) -> Plan:
        """Return exactly what applying the drafts with a choice would write. Writes nothing.

        Raises IndexFault; drafts that cannot be applied are the plan's `problems`.
        """
        return self._drafts.plan(drafts)

    def apply(self, plan: Plan, progress: ProgressCallback | None = None) -> Applied:
        """Write a plan as one journal entry and remove the drafts it settled.

        A file changed since gets those edits that still fit; drafts that do not are in `failed`,
        and all others are written. Raises WriteFault while another process writes.
        """
        return self._drafts.apply(plan, progress)

    def label(self, left: str, right: str, same: bool) -> int:
        """Store whether two texts say the same and return the number of labels.

        A newer label of a pair replaces the older one. Raises WriteFault.
        """
        return self._drafts.label(left, right, same=same)

    def labelled(self) -> tuple[LabelledScore, ...]:
        """Return the labels with the scores of their pairs. Raises EmbeddingError."""
        return self._drafts.labelled()

    def measure(
        self, labelled: Sequence[LabelledScore], threshold: float
    ) -> ThresholdMetrics | None:
        """Return precision and recall of a threshold; None for too few labels. Pure."""
        return self._drafts.measure(labelled, threshold)

    # Evaluation

    def judge(
        self, query: str, path: str, grade: int | None, *, tuning: Tuning | None = None
    ) -> Judgment:
        """Store how relevant a document is for a query; a newer grade of the two counts.

        `grade` is 0 (not relevant) to 3 (just what was wanted), None for not sure. `tuning` is what
        ranked the document, by default that of kbx.toml; it is stored with the generation of the
        index. The grade is on disk when this returns. Raises NotFound for an unknown document,
        OutOfRange for another grade, ConfigError for a blank query, and WriteFault.
        """
        return self._judging.judge(query, path, grade, tuning)

    def undo_judgment(self, judgment: Judgment | None = None) -> UndoneJudgment:
        """Undo a judgment, by default the last one not undone; the one before counts again.

        Raises WriteFault when there is none, or its document was judged again since.
        """
        return self._judging.undo_judgment(judgment)

    def grades(self, query: str) -> Mapping[str, int | None]:
        """Return the user's grades for a query by path, None for not sure."""
        return self._judging.grades(query)

    def judgments(self, folder: Path | str | None = None) -> tuple[JudgedQuery, ...]:
        """Return the judged queries of a labelled folder, or the user's own in this base.

        There may be none of the user's own; lines that cannot be read are left out with a notice.
        For a folder, raises NotFound and ConfigError.
        """
        return self._judging.judgments(folder)

    def prefer(self, query: str, first: ShownList, second: ShownList, better: Better) -> Preference:
        """Store which of two result lists answers a query better: first, second or neither.

        It is on disk when this returns. Raises ConfigError for a blank query and for lists that do
        not differ, and WriteFault.
        """
        return self._judging.prefer(query, first, second, better)

    def undo_preference(self, preference: Preference | None = None) -> Preference:
        """Take back a preference, by default the last one, and return it.

        Raises WriteFault when there is none, or it was replaced or taken back since.
        """
        return self._judging.preferences.undo(preference)

    def preferences(self) -> tuple[Preference, ...]:
        """Return the preferences between result lists that count, the oldest first."""
        return self._judging.preferences.read()

    def count_preferences(self, before: Tuning, after: Tuning) -> Votes:
        """Return how often the lists of each of two settings were preferred.

        Each query with a preference is retrieved once until the index has another generation.
        """
        return self._tuner.count_preferences(self.preferences(), before, after)

    def import_judgments(
        self,
        file: Path | str,
        *,
        form: Format | None = None,
        topics: Path | str | None = None,
        scale: float | None = None,
        replace: bool = False,
        dry_run: bool = False,
    ) -> JudgmentImport:
        """Add the judgments of a file of another tool to the user's own, and return what is new.

        `form` is `qrels`, `quepid` or `opensearch`, by default recognised by content; `topics` has
        the texts of the query ids in qrels; `scale` is the highest rating, which is mapped to 3. A
        grade that differs from one given here is a conflict and changes nothing, except with
        `replace`. Raises NotFound, ConfigError and WriteFault; nothing is stored then.
        """
        return self._judging.import_judgments(
            file, form, topics, scale, replace=replace, dry_run=dry_run
        )

    def export_judgments(
        self, file: Path | str, form: Format = "qrels", *, topics: Path | str | None = None
    ) -> int:
        """Write the user's own judgments for another tool and return how many.

        Those that say "not sure" are left out. `topics` names a file for the queries with the ids
        they have in qrels. Raises KbxError for a file that cannot be written.
        """
        return self._judging.export_judgments(file, form, topics)

    def evaluate(
        self,
        queries: Sequence[JudgedQuery],
        *,
        mode: Mode = "auto",
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        progress: QueryProgress | None = None,
        reranker: str | None = None,
    ) -> Run:
        """Return the quality of the results of each judged query; indexes the base first if needed.

        `reranker` as in `rerank`; an empty one leaves out that of kbx.toml. Raises NotFound when no
        query has a relevant document, and RerankerError.
        """
        return self._evaluator.evaluate(queries, mode, preset, doc_types, progress, reranker)

    def sweep(
        self,
        queries: Sequence[JudgedQuery],
        knob: Knob,
        *,
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        progress: QueryProgress | None = None,
    ) -> Sweep:
        """Return nDCG@10 at many values of a knob, retrieving once per query.

        Raises as `evaluate`.
        """
        return self._evaluator.sweep(queries, knob, preset, doc_types, progress)

    # Tuning

    def judged_evidence(
        self,
        queries: Sequence[JudgedQuery],
        *,
        preset: str | None = None,
        doc_types: Sequence[str] = (),
        limit: int = EVIDENCE_BYTES,
        progress: TuningProgress | None = None,
    ) -> JudgedEvidence:
        """Return the evidence of judged queries, with which any knobs are measured at once.

        It is kept for the next call, until the index has another generation; then only queries that
        are new are retrieved. At most `limit` bytes: `left_out` says how many queries are missing.
        `progress` is called with the number of queries done and the total; True stops.
        """
        return self._tuner.judged_evidence(queries, preset, doc_types, limit, progress)

    def tune(
        self,
        kept: JudgedEvidence,
        current: Tuning | None = None,
        *,
        progress: QueryProgress | None = None,
    ) -> Advice:
        """Return whether other knobs than `current`, or those of kbx.toml, are better.

        They are offered only if they win on queries that did not choose them. Searches for nothing.
        `progress` is called with the number of searches for the best knobs done and the total; what
        it raises ends the call.
        """
        return self._tuner.tune(kept, current, progress)

    def save_tuning(self, tuning: Tuning, *, dry_run: bool = False) -> Written:
        """Write knobs to `[search]` of kbx.toml and use them; comments and order stay.

        With `dry_run` only the diff is made. `undo` reverts it. Muted and pinned entities are not
        written. Raises WriteFault, FileChanged and ConfigError.
        """
        written = self._tuner.save_tuning(tuning, self._files, dry_run=dry_run)
        if written.written:
            self.reread_settings()
        return written

    def change_setting(self, key: str, value: str | None, *, dry_run: bool = False) -> Written:
        """Write a setting, `search.hierarchy_alpha`, to kbx.toml and use it; None removes it.

        Comments and order stay. With `dry_run` only the diff is made. `undo` reverts it. Raises
        ConfigError for an unknown setting or a value that is not valid, NotFound if a setting to
        remove is not set, WriteFault and FileChanged.
        """
        from kbx_tui.editing.file_change import read_file
        from kbx_tui.settings_file import parse_setting, split_key, with_settings, without_setting

        before = read_file(self.root, CONFIG_NAME)
        if value is None:
            after, verb = without_setting(before, key), "unset"
        else:
            section, name = split_key(key)
            after = with_settings(before, section, {name: parse_setting(key, value)})
            verb = "set"
        written = self._files.write_settings(before, after, f"{verb} {key} in", dry_run=dry_run)
        if written.written:
            self.reread_settings()
        return written

    def reread_settings(self) -> None:
        """Use the knobs, muted documents and `[entities]` that kbx.toml has now.

        Settings that were given instead of kbx.toml stay. Raises ConfigError.
        """
        if self._reads_settings:
            now = load_settings(self.root)
            kept = replace_struct(now.search, reranker=self.settings.search.reranker)
            self.settings = self._session.settings = replace_struct(
                self.settings, search=kept, entities=now.entities
            )

    def entity_proposal(self) -> EntityProposal | None:
        """Return what could be entities in an indexed base without any; None if nothing could.

        Nothing is proposed where kbx.toml has a section `[entities]`. Raises NotFound without an
        index, ConfigError and IndexFault.
        """
        from kbx_tui.index.build.entity_stage import read_topics
        from kbx_tui.settings_file import has_section

        if self._session.snapshot().entities or has_section(self._kbx_toml(), "entities"):
            return None
        return read_topics(self._session.open_index().store).proposal()

    def use_entities(self, proposal: EntityProposal, *, dry_run: bool = False) -> Written:
        """Write what a proposal makes entities to `[entities]` of kbx.toml; the next run uses it.

        Comments and order stay. With `dry_run` only the diff is made. `undo` reverts it. Raises
        ConfigError, WriteFault and FileChanged.
        """
        from kbx_tui.settings_file import with_settings

        before = self._kbx_toml()
        after = with_settings(before, "entities", proposal.settings)
        written = self._files.write_settings(before, after, "set [entities] in", dry_run=dry_run)
        if written.written and self._reads_settings:
            entities = load_settings(self.root).entities
            self.settings = self._session.settings = replace_struct(
                self.settings, entities=entities
            )
        return written

    def _kbx_toml(self) -> bytes | None:
        from kbx_tui.editing.file_change import read_file

        return read_file(self.root, CONFIG_NAME)

    def mute_documents(self, paths: Collection[str]) -> Written:
        """Leave these documents, and no others, out of every search from now on.

        They are written to `[search]` of kbx.toml, where comments and order stay; `undo` reverts
        it. Raises WriteFault, FileChanged and ConfigError.
        """
        written = self._tuner.mute_documents(paths, self._files)
        if written.written:
            self.reread_settings()
        return written

    def first_results(self, queries: Sequence[str], limit: int = 10) -> list[tuple[str, ...]]:
        """Return the paths of the first results of each query, best first, muted ones included.

        Raises NotFound without an index, IndexFault and EmbeddingError.
        """
        tuning, firsts = self.tuning(), list[tuple[str, ...]]()
        for query in queries:
            evidence = self.retrieve(SearchRequest(query, muted_documents=()))
            rows = self.rank(evidence, tuning).best(limit).tolist()
            firsts.append(tuple(evidence.paths[row] for row in rows))
        return firsts

    def observe_thresholds(
        self,
        queries: Sequence[str],
        tuning: Tuning | None = None,
        *,
        limit: int = EVIDENCE_BYTES,
        progress: TuningProgress | None = None,
    ) -> ThresholdObservatory:
        """Return how queries would be answered at each entity threshold.

        Each is retrieved once until the index has another generation. `limit` and `progress` as in
        `judged_evidence`; queries beyond the limit are left out.
        """
        return self._tuner.observe_thresholds(queries, tuning or self.tuning(), limit, progress)

    def tuning_snapshots(self) -> tuple[TuningSnapshot, ...]:
        """Return the knobs that the user wants to compare again, the oldest first."""
        return self._tuner.snapshots.read()

    def take_tuning_snapshot(self, tuning: Tuning) -> TuningSnapshot:
        """Store knobs with the time, the generation of the index and the embedding model.

        Raises WriteFault.
        """
        return self._tuner.take_snapshot(tuning)

    def remove_tuning_snapshot(self, snapshot: TuningSnapshot) -> None:
        """Remove a snapshot of knobs, if it is still there. Raises WriteFault."""
        self._tuner.snapshots.remove(snapshot)

    def restore_tuning_snapshot(self, snapshot: TuningSnapshot) -> None:
        """Store a snapshot of knobs again that was removed. Raises WriteFault."""
        self._tuner.snapshots.restore(snapshot)

    def query_history(self) -> tuple[PastQuery, ...]:
        """Return the queries asked in the app, each once, the most recent first; at most 1,000."""
        return self._past_searches.history.read()

    def clear_query_history(self, *, dry_run: bool = False) -> int:
        """Forget the queries asked in the app, and return how many; `dry_run` only counts them.

        Raises WriteFault.
        """
        history = self._past_searches.history
        return len(history.read()) if dry_run else history.clear()

    def saved_queries(self) -> tuple[SavedQuery, ...]:
        """Return the queries saved by name, ordered by name."""
        return self._past_searches.saved.read()

    def saved_query(self, name: str) -> SavedQuery:
        """Return the query saved by this name. Raises NotFound."""
        return self._past_searches.saved.find(name)

    def save_query(
        self, name: str, query: str | SearchRequest, settings: Mapping[str, Any] | None = None
    ) -> SavedQuery:
        """Save a query by name, with what it finds now, in place of one with the same name.

        `settings` are values for JSON to keep with it. Raises ConfigError for a name that is blank
        or longer than 100 characters, WriteFault, and as `retrieve`.
        """
        return self._past_searches.save(name, _search_request(query, {}), settings or {})

    def open_saved_query(self, name: str, query: str | SearchRequest) -> News:
        """Return what is new in the results of a saved query, and note what it finds now.

        `query` is that query with its settings. Raises NotFound, WriteFault, and as `retrieve`.
        """
        return self._past_searches.open(name, _search_request(query, {}))

    def remove_saved_query(self, name: str) -> SavedQuery:
        """Remove a saved query, and return it. Raises NotFound and WriteFault."""
        return self._past_searches.saved.remove(name)

    def restore_saved_query(self, saved: SavedQuery) -> None:
        """Save a query again that was removed. Raises WriteFault."""
        self._past_searches.saved.put(saved)

    def compare(self, before: Ranking, after: Ranking, limit: int = 10) -> Comparison:
        """Return the top `limit` of two rankings of one query, what moved, and why. Pure."""
        from kbx_tui.search.ranking.explain import compare

        return compare(before, after, limit)

    def explain_pair(self, ranking: Ranking, row: int, other: int) -> PairExplanation:
        """Return why one of two results is before the other, in parts that sum exactly. Pure.

        Raises OutOfRange if one is not a result.
        """
        from kbx_tui.search.ranking.explain import explain_pair

        return explain_pair(ranking, row, other)

    def why_not(
        self,
        query: str | SearchRequest,
        path: str,
        limit: int = 10,
        *,
        cancelled: Cancelled = lambda: False,
        **options: Any,
    ) -> WhyNot:
        """Return why a document is not in the top `limit`, and the changes that bring it there.

        Each change is the smallest of its kind and verified by ranking. `options` are the fields of
        `SearchRequest` other than `limit`. `cancelled` ends the search for entities to add, which
        takes longest. Raises as `retrieve`, and NotFound if the index holds no such document.
        """
        request = _search_request(query, options)
        return self._why_not_finder.why_not(request, path, limit, cancelled)

    # Parts, imported on first use: tests/contract/test_imports.py shows what each would load

    @cached_property
    def _catalog(self) -> Catalog:
        from kbx_tui.api.catalog import Catalog

        return Catalog(self._session)

    @cached_property
    def _drafts(self) -> DraftReview:
        from kbx_tui.api.drafts import DraftReview

        return DraftReview(self._session)

    @cached_property
    def _evaluator(self) -> Evaluator:
        from kbx_tui.api.judging import Evaluator

        return Evaluator(self._session)

    @cached_property
    def _tuner(self) -> Tuner:
        from kbx_tui.api.judging import Tuner

        return Tuner(self._session)

    @cached_property
    def _why_not_finder(self) -> WhyNotFinder:
        from kbx_tui.api.queries import WhyNotFinder

        return WhyNotFinder(self._session)

    @cached_property
    def _files(self) -> FileWriter:
        from kbx_tui.api.file_writer import FileWriter

        return FileWriter(self._session)

    @cached_property
    def _importer(self) -> Importer:
        from kbx_tui.api.importer import Importer

        return Importer(self._session)

    @cached_property
    def _link_browser(self) -> LinkBrowser:
        from kbx_tui.api.link_browser import LinkBrowser

        return LinkBrowser(self._session)

    @cached_property
    def _past_searches(self) -> PastSearches:
        from kbx_tui.api.queries import PastSearches

        return PastSearches(self._session)

    @cached_property
    def _judging(self) -> Judging:
        from kbx_tui.api.judging import Judging

        return Judging(self._session)

    @cached_property
    def _pages(self) -> PageWriter:
        from kbx_tui.api.page_writer import PageWriter

        return PageWriter(self._session)

    @cached_property
    def _searcher(self) -> Searcher:
        from kbx_tui.api.searcher import Searcher

        return Searcher(self._session)

    @cached_property
    def _similarity(self) -> SimilarityChecks:
        from kbx_tui.api.similarity_checks import SimilarityChecks

        return SimilarityChecks(self._session)


def _search_request(query: str | SearchRequest, options: Mapping[str, Any]) -> SearchRequest:
    """Return a request for `query`, or the given one with some of its fields replaced."""
    if unknown := sorted(set(options).difference(_SEARCH_OPTIONS)):
        valid = ", ".join(_SEARCH_OPTIONS)
        raise TypeError(f"unknown search option {unknown[0]!r}; valid: {valid}")
    if isinstance(query, SearchRequest):
        return replace(query, **options)
    return SearchRequest(query, **options)
