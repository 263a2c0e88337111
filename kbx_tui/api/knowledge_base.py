"""KnowledgeBase: everything the app, the command line, the servers and programs can call.

What most programs call is a method of it: indexing, searching, checking for what is known, writing
a fact, undoing. Everything else is in namespaces, such as `kb.drafts.plan(...)`: classes that share
one `Session`, imported when they are first needed, so that a search loads no markdown parser and a
write no evaluation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from kbx_tui.api.session import Notice, Session
from kbx_tui.base_trust import missing_trust, trust_for_now
from kbx_tui.config import Settings
from kbx_tui.editing.journal import PENDING
from kbx_tui.errors import OutOfRange
from kbx_tui.index.build.file_changes import watch
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.index.index_status import IndexSummary, Status, read_status, read_summary
from kbx_tui.knowledge.vault import find_root
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.ranking.rank import Ranking, rank
from kbx_tui.search.request import SearchRequest
from kbx_tui.settings_file import knowledge_base_from_environment, load_settings
from kbx_tui.state_file import ReadOnlyPath, is_read_only

if TYPE_CHECKING:
    import threading
    from datetime import date

    from kbx_tui.api.documents import Documents
    from kbx_tui.api.drafts import Drafts
    from kbx_tui.api.entities import Entities
    from kbx_tui.api.file_writer import FileWriter
    from kbx_tui.api.imports import Imports
    from kbx_tui.api.judgments import Judgments, Preferences, Tuner
    from kbx_tui.api.links import Links
    from kbx_tui.api.pages import Pages
    from kbx_tui.api.publishing import Publication
    from kbx_tui.api.queries import Queries
    from kbx_tui.api.searcher import PendingReranking, RerankerTrial, Searcher
    from kbx_tui.api.similarity import Similarity
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.bulk.ray_workers import RayEngine
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.experts.expert_engine import ExpertRanking
    from kbx_tui.index.check_index import CheckReport
    from kbx_tui.index.index_status import IndexOverview, IndexQuestion
    from kbx_tui.knowledge.records import FactKind
    from kbx_tui.search.browse import BaseContents
    from kbx_tui.search.digest import Digest
    from kbx_tui.search.evidence.evidence import Evidence
    from kbx_tui.search.link_records import RelatedDocuments
    from kbx_tui.search.request import Tuning
    from kbx_tui.search.results.response import SearchResponse, Snippet
    from kbx_tui.search.why_not import WhyNot
    from kbx_tui.similarity.pair_score import FieldSimilarity, SimilarityMatch

StatusT = TypeVar("StatusT", "Status", "IndexOverview")
_NAMESPACES = {
    "entities": "kbx_tui.api.entities:Entities",
    "links": "kbx_tui.api.links:Links",
    "similarity": "kbx_tui.api.similarity:Similarity",
    "pages": "kbx_tui.api.pages:Pages",
    "drafts": "kbx_tui.api.drafts:Drafts",
    "imports": "kbx_tui.api.imports:Imports",
    "queries": "kbx_tui.api.queries:Queries",
    "judgments": "kbx_tui.api.judgments:Judgments",
    "preferences": "kbx_tui.api.judgments:Preferences",
    "tuner": "kbx_tui.api.judgments:Tuner",
    "_searcher": "kbx_tui.api.searcher:Searcher",
    "_files": "kbx_tui.api.file_writer:FileWriter",
}
_SEARCH_OPTIONS = [
    field.name for field in fields(SearchRequest) if field.name not in ("query", "properties")
]


class KnowledgeBase:
    """One knowledge base. Cheap to open; index and model load on first use.

    For one thread at a time. `notice` is called with a sentence about anything that delays or
    degrades a call, such as building an index first or waiting for another process.
    """

    # Namespaces, each made when it is first needed

    entities: Entities
    """People, projects and others: found, shown, their facts; what could be entities."""
    links: Links
    """Links between documents: to and from one, broken ones, mentions made links."""
    similarity: Similarity
    """Texts compared with what the base knows, many at once."""
    pages: Pages
    """Pages of entities created and edited, and their facts."""
    drafts: Drafts
    """Facts to be checked, decided, planned and applied together."""
    imports: Imports
    """Files of other programs as pages, and pages for other programs."""
    queries: Queries
    """Queries asked in the app, and those saved by name."""
    judgments: Judgments
    """The user's own relevance judgments, and search quality measured by judgments."""
    preferences: Preferences
    """Which of two result lists the user preferred."""
    tuner: Tuner
    """The knobs of searches: chosen by judged queries, observed on past ones, and written."""
    _searcher: Searcher
    _files: FileWriter

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
        used = settings if settings is not None else load_settings(self.root)
        if trust:
            trust_for_now(self.root, used)
        self.untrusted = () if trust or settings is not None else missing_trust(self.root, used)
        """What kbx.toml asks for and the user has not allowed: it is not done."""
        self._session = Session(
            self.root,
            used,
            notice or (lambda text: None),
            refused={request.key for request in self.untrusted},
            reads_settings=settings is None,
        )
        self._public: KnowledgeBase | None = None
        self.finish_interrupted()

    @staticmethod
    def _of(session: Session, untrusted: tuple[TrustRequest, ...]) -> KnowledgeBase:
        """Return a base over an existing session, without opening it again."""
        kb = KnowledgeBase.__new__(KnowledgeBase)
        kb.root, kb.untrusted = session.root, untrusted
        kb._session, kb._public = session, None
        return kb

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """The settings in use: those that were given, else those of kbx.toml."""
        return self._session.settings

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

    @contextmanager
    def reading(self) -> Iterator[Collection[str]]:
        """Collect the paths of the pages of what is looked up by name or compared in the block.

        The path of what has no page is empty.
        """
        self._session.read_paths = read = set[str]()
        try:
            yield read
        finally:
            self._session.read_paths = set()

    @property
    def read_only(self) -> bool:
        return is_read_only(self.root)

    def close(self) -> None:
        """Release model, tables and caches; the base may be used again."""
        self._session.close()

    @property
    def public(self) -> KnowledgeBase:
        """The base as agents see it: without any redacted text, and everything made from it.

        Each page is read without its redacted parts; a page redacted as a whole does not exist. A
        write changes the same files.
        """
        if self._session.is_public:
            return self
        if self._public is None:
            self._public = self._of(self._session.public(), self.untrusted)
        return self._public

    @property
    def documents(self) -> Documents:
        """Documents found, listed and read; paths and filters completed."""
        from kbx_tui.api.documents import Documents

        return Documents.of(self._session)

    if not TYPE_CHECKING:  # type checkers know the attributes that there are

        def __getattr__(self, name: str) -> object:
            if name not in _NAMESPACES:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            module, kind = _NAMESPACES[name].split(":")
            namespace = getattr(import_module(module), kind)(self._session)
            setattr(self, name, namespace)
            return namespace

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
            progress, engine, fast=fast, full=full, cancelled=cancelled, wait=wait, only=only
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
        """Return whether the index has a newer generation, which later calls then read."""
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
        """Return how many files are new, changed or gone since the last run; fast."""
        return len(self._session.newer_files())

    def entities_outdated(self) -> bool:
        """Return whether `[entities]` of kbx.toml changed since the last run of indexing."""
        return self._session.entities_outdated()

    def status(self) -> Status:
        """Return what is indexed, what is out of date, and which files had problems."""
        status = read_status(self.root, self._session.store(), self.settings)
        return self._without_files(status, entities_outdated=False)

    def index_summary(self) -> IndexSummary | None:
        """Return generation and size of the newest index, which is then open; None without."""
        session = self._session
        if not session.is_indexed():
            return None
        session.refresh()
        return read_summary(session.store(), session.open_index().generation().number)

    def overview(self) -> IndexOverview:
        """Return documents, and files that are new, changed, incomplete or lack vectors; fast."""
        from kbx_tui.index.index_status import read_overview

        return self._without_files(read_overview(self.root, self._session.store(), self.settings))

    def _without_files(self, seen: StatusT, **changes: Any) -> StatusT:
        """Return what was seen without changed files, if they are elsewhere or some are hidden."""
        published = self._session.published
        if published is None and not self._session.is_public:
            return seen
        changes["published"] = "" if published is None else published.words()
        return replace(seen, stale=(), **changes)

    def notes(self) -> tuple[str, ...]:
        """Return sentences on what any search would miss: no index, vectors, newer files."""
        from kbx_tui.index.vectors.stored_vectors import read_coverage
        from kbx_tui.search.results.answer import NOT_INDEXED, vector_notes

        if not self.is_indexed():
            return (NOT_INDEXED,)
        vectors = read_coverage(self._session.store())
        missing = vector_notes(vectors.share, vectors.missing)
        return (*missing, *self._session.outdated_notes())

    def check(self, *, read_data: bool = False) -> CheckReport:
        """Return what in index and state files is not as it was written. Writes nothing.

        With `read_data` every byte and every row is compared, otherwise structure, versions and the
        digests of files that changed. Raises NotFound without an index.
        """
        from kbx_tui.editing.state_files import unreadable_state_files
        from kbx_tui.index.check_index import check_index

        store = self._session.store()
        if not store.exists():
            raise store.missing_error()
        return check_index(store, unreadable_state_files(self.root), read_data=read_data)

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
        """Time a reranker on 20 passages, downloaded first if asked. Raises RerankerError."""
        return self._searcher.try_reranker(reranker, download=download)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        """Return the best passage for the query of each document at `rows` of `evidence`."""
        return self._searcher.snippets(evidence, rows)

    def contents(self) -> BaseContents:
        """Return what the base holds by type and tag, and queries that find something in it."""
        return self.documents.contents(self.links.titles_to_ask_for())

    def context(self, tokens: int = 2000) -> Digest:
        """Return people, projects, teams and what is new, in at most `tokens` tokens.

        A token is four bytes of UTF-8. Raises OutOfRange and IndexFault.
        """
        from kbx_tui.search.digest import make_digest

        self._session.ensure_indexed()
        digest = make_digest(self._session.fresh_index(), tokens)
        self._session.read_paths.update(digest.paths)
        return digest

    def related(self, document: str, limit: int = 10) -> RelatedDocuments:
        """Return the documents related to one, by path, id, title or alias, each with the reason.

        They say the same, link to it or to the same pages, or share its people and projects. Where
        there are no vectors, meaning does not count, and a note says so. Raises NotFound with the
        nearest path, OutOfRange for a limit below 1, IndexFault and IndexForeign.
        """
        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        return self.links.related(document, limit)

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
        from kbx_tui.experts.expert_engine import ExpertEngine

        if half_life_days is None:
            half_life_days = self.settings.experts.half_life_days
        if not half_life_days > 0.0:  # put this way round, NaN fails too
            raise OutOfRange(f"half_life_days must be above 0, got {half_life_days}")
        self._session.ensure_indexed()
        index, undated = self._session.fresh_index(), self._session.redacted_paths
        engine = self._session.shared(
            ExpertEngine, lambda: ExpertEngine(index, self.root, self.retrieve, undated)
        )
        ranking = engine.rank(
            replace_surrogates(topic),
            weight,
            limit=limit,
            min_claims=min_claims,
            now=now,
            half_life_days=half_life_days,
            people=people,
            outdated=self._session.outdated_notes(),
        )
        receipts = (receipt for expert in ranking.experts for receipt in expert.receipts)
        self._session.read_paths.update(receipt.path for receipt in receipts)
        return ranking

    # Similarity

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
        (check,) = self.similarity.check(
            [text], entity=entity, path=path, threshold=threshold, limit=limit, chunks=chunks
        )
        return list(check.matches)

    def has_similar(
        self,
        text: str,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
    ) -> bool:
        """Return whether anything says the same without contradicting it, as `memory_similar`."""
        return self.similarity.has_similar(text, entity, path, threshold)

    def entity_similar_field(
        self, entity: str, field: str, value: str, *, threshold: float | None = None
    ) -> FieldSimilarity:
        """Return how similar a proposed value is to the current value of an entity's field.

        `field` is role, team, facts, open_items or any frontmatter key of the page. Raises as
        `memory_similar`.
        """
        return self.similarity.field(entity, field, value, threshold)

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
        return self.pages.add_fact(
            text or title or "",
            entity=entity,
            kind=kind,
            date=date,
            source=source,
            force=force,
            dry_run=dry_run,
            create=create,
        )

    def edit_fact(self, fact_id: int, text: str, *, date: str | None = None) -> int:
        """Reword a fact and return its new id; date, notes and position stay.

        Writes even what is known: a merge may resemble a third fact. Raises ConfigError (empty
        text), NotFound for an id that no fact has, WriteFault and FileChanged.
        """
        return self.pages.reword_fact(fact_id, text, date=date, force=True).fact_id or fact_id

    def undo(self, number: int | None = None) -> JournalEntry:
        """Revert a write, by default the last one not yet undone, and return its entry.

        Raises WriteFault when there is none, FileChanged when a file was edited since, and
        RecordDamaged when the record of the write is damaged.
        """
        return self._files.undo(number)

    def undoable(self, limit: int = 20) -> tuple[JournalEntry, ...]:
        """Return the last writes, newest first; undone ones are marked, undos are left out."""
        return self._files.history(limit)

    def finish_interrupted(self) -> tuple[str, ...]:
        """Complete a write during which a process died; return the files it wrote."""
        is_pending = os.path.lexists(self.root / PENDING) and not self.read_only
        return self._files.finish_interrupted() if is_pending else ()

    def change_setting(self, key: str, value: str | None, *, dry_run: bool = False) -> Written:
        """Write a setting, `search.hierarchy_alpha`, to kbx.toml and use it; None removes it.

        Comments and order stay. With `dry_run` only the diff is made. `undo` reverts it. Raises
        ConfigError for an unknown setting or a value that is not valid, NotFound if a setting to
        remove is not set, WriteFault and FileChanged.
        """
        from kbx_tui.settings_file import parse_setting, split_key, without_setting

        if value is None:
            before = self._files.settings()
            after = without_setting(before, key)
            return self._files.write_settings(before, after, f"unset {key} in", dry_run=dry_run)
        section, name = split_key(key)
        values = {name: parse_setting(key, value)}
        return self._files.set_settings(section, values, f"set {key} in", dry_run=dry_run)

    def reread_settings(self) -> None:
        """Use what kbx.toml says now, unless settings were given. Raises ConfigError."""
        self._session.reread_settings()

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
        takes longest. Raises as `retrieve`, NotFound if the index holds no such document, and
        OutOfRange for a limit below 1.
        """
        from kbx_tui.api.queries import WhyNotSearch

        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        request = self._searcher.with_properties(_search_request(query, options))
        return WhyNotSearch(self._session, request, path, limit, cancelled).answer()


def _search_request(query: str | SearchRequest, options: Mapping[str, Any]) -> SearchRequest:
    if unknown := sorted(set(options).difference(_SEARCH_OPTIONS)):
        valid = ", ".join(_SEARCH_OPTIONS)
        raise TypeError(f"unknown search option {unknown[0]!r}; valid: {valid}")
    if isinstance(query, SearchRequest):
        return replace(query, **options)
    return SearchRequest(query, **options)
