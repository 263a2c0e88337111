"""State of one open knowledge base: settings, index, model and caches."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace as replace_struct

from kbx_tui.config import Settings
from kbx_tui.editing.journal import FOLDER as JOURNAL
from kbx_tui.editing.journal import read_file
from kbx_tui.editing.state_files import note_places, require_same_places
from kbx_tui.embedding import is_remote
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.errors import (
    ConfigError,
    EmbeddingError,
    IndexDamaged,
    IndexElsewhere,
    IndexFault,
    IndexForeign,
    NotFound,
    ReadOnly,
    StoreFault,
    UnknownEntity,
    WriteFault,
)
from kbx_tui.formatting import format_count
from kbx_tui.index.array_file import leave_unwritten
from kbx_tui.index.build.progress import Cancelled, IndexReport, ProgressListener
from kbx_tui.index.build.writer_lock import is_being_written, writer_lock
from kbx_tui.index.derived_files import delete_derived_files
from kbx_tui.index.index_folder import DEFAULT, index_location, index_uri, store_of
from kbx_tui.index.index_status import (
    entities_outdated,
    entity_types,
    index_question,
    newer_files,
    refusal_to_index,
)
from kbx_tui.index.ownership import NOT_REMEMBERED, index_id, is_remembered
from kbx_tui.index.path_filter import PathFilter
from kbx_tui.index.snapshot import generation_of
from kbx_tui.index.store import Store
from kbx_tui.index.tables import document_version
from kbx_tui.knowledge.decoding import content_hash
from kbx_tui.knowledge.vault import MEMORY
from kbx_tui.object_store.mirror import PublishedIndex, files_here, publishes_from_here
from kbx_tui.removal import STATE_FOLDER
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.settings_file import load_settings
from kbx_tui.state_file import is_read_only, require_writable

if TYPE_CHECKING:
    from kbx_tui.bulk.ray_workers import RayEngine
    from kbx_tui.drafting.drafts import Draft
    from kbx_tui.index.snapshot import Snapshot
    from kbx_tui.knowledge.reading import Conventions
    from kbx_tui.search.open_index import OpenIndex

Notice = Callable[[str], None]
Resource = TypeVar("Resource")

REFRESH_SECONDS = 0.2
"""Minimum time between two checks of the index for changes by `fresh_index`."""

LOOK_SECONDS = 0.002
"""Minimum time between two looks at the folder of the index: a method may need one per page."""

SMALL_BASE = 20
"""Number of documents up to which a first search finds by meaning, too."""
FIRST_EMBEDDING_SECONDS = 5.0
"""Longest time for their vectors, which seldom take a second; the rest is computed later."""

OUTDATED_SECONDS = 30.0
"""Age from which the number of files that changed since they were indexed is counted again."""
OUTDATED_TIMES = 100
"""That age, too, as a multiple of the time that the last count took: the longer one applies."""

PUBLISH_AGAIN = "publish it again with this version, or install the one that published it"


class Session:
    """State shared by the parts of a `KnowledgeBase`; the parts themselves hold none.

    Cheap to make: index and model load on first use. For one thread at a time.
    """

    def __init__(
        self,
        root: Path,
        settings: Settings,
        notice: Notice = lambda text: None,
        *,
        refused: Collection[str] = (),
        reads_settings: bool = True,
        owner: Session | None = None,
    ) -> None:
        """`refused` are the keys of requests that are not trusted.

        With `owner`, the session of the same base with all its text, this one is that of agents,
        who see pages without their redacted parts.
        """
        self.root, self._settings, self.notice = root, settings, notice
        self._owner = owner
        self._public: Session | None = None
        self.refused, self.reads_settings = refused, reads_settings
        if owner is None:
            index = index_location(root, settings)
            places = (MEMORY, STATE_FOLDER, JOURNAL, DEFAULT if "://" in index else index)
            note_places(root, (root / place for place in places))
        if is_read_only(root):
            leave_unwritten(index_location(root, settings))
        self.published = self._published_index()
        self.unindexed_paths: set[str] = set()
        """Files written through this session that the index does not reflect yet."""
        self.read_paths: set[str] = set()
        """Pages that the answer being made for an agent is from; see `KnowledgeBase.reading`."""
        self.known_drafts: Mapping[str, Draft] = MappingProxyType({})
        """Drafts as last read or saved here, by id: the base of a three-way merge."""
        self._embedder: Embedder | None = None
        self._index: OpenIndex | None = None
        self._shared: dict[type[Any], Any] = {}
        self._index_uri = ""
        self._has_files: bool | None = None
        self._refreshed_at = self._looked_at = self._found_at = self._placed_at = -math.inf
        self._outdated = OutdatedNotes()
        self._noticed: set[str] = set()

    def _published_index(self) -> PublishedIndex | None:
        uri = store_of(self.settings)
        if uri is None or publishes_from_here(self.root, uri):
            return None
        limit = self.settings.index.cache_mb * 1_000_000
        return PublishedIndex(uri, limit=limit, notice=lambda text: self.notice(text))

    @property
    def is_public(self) -> bool:
        """Whether this session knows only what is not redacted."""
        return self._owner is not None

    @property
    def owner(self) -> Session:
        """The session of the same base with all its text: this one, unless it is that of agents."""
        return self._owner or self

    @property
    def settings(self) -> Settings:
        return self.owner._settings

    def public(self) -> Session:
        """Return the session of the same base that knows only what is not redacted."""
        if self._public is None:
            self._public = Session(
                self.root,
                self.settings,
                lambda text: self.notice(text),
                refused=self.refused,
                reads_settings=self.reads_settings,
                owner=self,
            )
        return self._public

    def shown(self, path: str, data: bytes | None) -> bytes | None:
        """Return the content of a page; for agents, its public part, None if there is none."""
        if data is None or not self.is_public:
            return data
        from kbx_tui.knowledge.redaction import public_data  # parses markdown: not for a search

        return public_data(path, data, entity_types(self.settings), self.conventions())

    def conventions(self) -> Conventions:
        """Return how the pages were read when they were indexed."""
        from kbx_tui.knowledge.reading import stored_conventions  # parses markdown

        return stored_conventions(self.snapshot().conventions if self.is_indexed() else None)

    def notice_once(self, text: str) -> None:
        if text not in self._noticed:
            self._noticed.add(text)
            self.notice(text)

    def close(self) -> None:
        if self._public is not None:
            self._public.close()
        self._close_index()
        self._embedder = None

    def _close_index(self) -> None:
        if self._index is not None:
            self._index.close()
        self._index, self._index_uri, self._has_files = None, "", None
        self._shared.clear()

    def use_own_index(self) -> None:
        """Read the index of this machine from now on, no longer the published one."""
        if self._public is not None:
            self._public.use_own_index()
        self._close_index()
        self.published = None

    def shared(self, kind: type[Resource], make: Callable[[], Resource]) -> Resource:
        """Return this session's only instance of `kind`, made on first use, dropped by `close`."""
        if kind not in self._shared:
            self._shared[kind] = make()
        resource: Resource = self._shared[kind]
        return resource

    def store(self) -> Store:
        """Return the tables; a published index is fetched first. Raises NotFound, StoreFault.

        For agents these are those of the public index of a base that has redacted parts.
        """
        store = self._whole_store()
        return store.public() if self.is_public and store.has_public() else store

    def _is_elsewhere(self) -> bool:
        """Return whether agents have another index than the open one: marks came, or are gone."""
        index, now = self._index, time.monotonic()
        if not self.is_public or index is None or now - self._placed_at <= LOOK_SECONDS:
            return False
        self._placed_at = now
        return index.store.uri != self.store().uri

    def _whole_store(self) -> Store:
        if self.published is None:
            self._index_uri = self._index_uri or index_uri(self.root, self.settings)
            return Store(self._index_uri)
        if self._index_uri and not Path(self._index_uri).exists():  # replaced long ago
            self._close_index()
        if not self._index_uri:
            self.published.update()
            self._index_uri = self.published.open()
        return Store(self._index_uri, advice=PUBLISH_AGAIN, is_copy=True)

    def embedder(self) -> Embedder:
        owner = self.owner
        if owner._embedder is None:
            setting = self.settings.embedding
            owner._embedder = open_embedder(setting.model, address=setting.address)
        return owner._embedder

    def open_index(self) -> OpenIndex:
        """Return the index as last read, opened on first use. Raises NotFound without one."""
        if self._is_elsewhere():
            self._close_index()
        if self._index is None:
            from kbx_tui.search.open_index import OpenIndex  # `status` and `index` need none of it

            self._index = OpenIndex(self.store())
        return self._index

    def fresh_index(self) -> OpenIndex:
        """Return the index, read again if another process changed it, or damaged a mapped file.

        Every method looks for damage first: reading what was truncated would end the process.
        """
        now, is_damaged = time.monotonic(), False
        if now - self._looked_at > LOOK_SECONDS:
            is_damaged = self._index is not None and self._index.was_damaged()
            self._looked_at = now
        if is_damaged or now - self._refreshed_at > REFRESH_SECONDS:
            self.refresh()
        return self.open_index()

    def _look_again(self) -> None:
        """Read the index again when it is next used, also for agents."""
        self._refreshed_at = -math.inf
        if self._public is not None:
            self._public._look_again()

    def snapshot(self) -> Snapshot:
        """Return what the newest index holds in memory, safe from damage to its files."""
        if time.monotonic() - self._refreshed_at > REFRESH_SECONDS:
            self.refresh()
        return self.open_index().generation().snapshot

    def refresh(self) -> bool:
        """Return whether the index has a newer generation, which is then in use."""
        require_same_places(self.root)
        self._follow_published()
        changed = self.open_index().refresh(now=not is_being_written(self.root))
        self._refreshed_at = time.monotonic()
        return changed

    def _follow_published(self) -> None:
        """Read the newest version that was fetched, and let newer ones be looked for."""
        if self.published is None or not self._index_uri:
            return
        self.published.update()
        if self.published.has_newer():
            self._close_index()

    def newest_generation(self) -> int:
        """Return the generation of the newest index, which is made if there is none."""
        self.ensure_indexed(fast=False)
        return self.fresh_index().generation().number

    def stored_generation(self) -> int | None:
        """Return the generation of the index without reading it; None without one."""
        return generation_of(self.store().versions()) if self.is_indexed() else None

    def outdated_notes(self) -> tuple[str, ...]:
        """Return sentences on files, and `[entities]`, that changed since the last run."""
        if self.published is not None:
            return self.published.notes(has_files=not self.reads_stored_pages())
        generation = self.open_index().generation().number
        return self._outdated.of(generation, self.newer_files, self.entities_outdated)

    def newer_files(self) -> Collection[str]:
        """Return the paths of files that are new, changed or gone since the last run; fast.

        For agents, of those in which they would see a difference.
        """
        if self.published is not None:  # nothing is indexed here
            return ()
        newer = newer_files(self.root, self.settings)
        if not self.is_public:
            return newer
        snapshot = self.snapshot()

        def differs(path: str) -> bool:
            row, version = snapshot.row_of.get(path), None
            with suppress(WriteFault):  # it cannot be read, as if it were gone
                if (shown := self.shown(path, read_file(self.root, path))) is not None:
                    version = document_version(path, content_hash(shown)).encode()
            return version != (None if row is None else snapshot.versions[row])

        return list(filter(differs, newer))

    def redacted_paths(self) -> Collection[str]:
        """Return the paths of pages with redacted parts, for agents; none for the owner."""
        store = self.owner.store()
        if not (self.is_public and store.has_public()):
            return ()
        return store.mapping("documents", "path", "id", "public_hash != content_hash").keys()

    def reads_stored_pages(self) -> bool:
        """Return whether pages are read from a published index: none of its files is here."""
        if self.published is None:
            return False
        if self._has_files is None:
            self._has_files = any(files_here(self.root, self.snapshot().paths))
        return not self._has_files

    def reread_settings(self) -> None:
        """Use what kbx.toml says now, unless settings were given. Raises ConfigError."""
        if self.reads_settings:
            now, used = load_settings(self.root), self.settings
            search = replace_struct(now.search, reranker=used.search.reranker)
            self.owner._settings = replace_struct(used, search=search, entities=now.entities)

    def entities_outdated(self) -> bool:
        """Return whether kbx.toml, read again, makes other entities now than the index has."""
        settings = self.settings
        if self.published is not None:
            return False
        if self.reads_settings:
            with suppress(ConfigError):
                settings = replace_struct(settings, entities=load_settings(self.root).entities)
        return entities_outdated(self.root, settings)

    @contextmanager
    def naming_newer_files(self) -> Iterator[None]:
        """Add to an UnknownEntity how many files are newer than the index: one may be its page."""
        try:
            yield
        except UnknownEntity as error:
            raise UnknownEntity("; ".join((str(error), *self.outdated_notes()))) from error

    def is_indexed(self) -> bool:
        """Return whether text and entities can be searched."""
        now = time.monotonic()
        if now - self._found_at > LOOK_SECONDS:
            try:
                self._follow_published()
                store = self.store()
            except NotFound:  # nothing is published yet
                return False
            may_be_other = self._index is None or now - self._refreshed_at > REFRESH_SECONDS
            if not store.is_searchable() or (may_be_other and not store.exists()):
                return False
            self._found_at = self._placed_at = now
            if self._index is not None and self._index.store.uri != store.uri:
                self._close_index()
        return True

    def ensure_indexed(self, *, fast: bool = True) -> None:
        """Index a base that has no index yet; with `fast`, without vectors of documents.

        Raises NotConfirmed where the user is to be asked first, ReadOnly where nothing is written.
        """
        if not self.is_indexed():
            if self.published is not None:
                self.store()  # says why
            foreign = self.store().foreign_words()
            if is_read_only(self.root):
                state = foreign or f"{self.root.name} has no index"
                raise ReadOnly(f"{state} and is open for reading only: `kbx index` makes the index")
            if (question := index_question(self.root, self.settings)) is not None:
                raise refusal_to_index(question)
            what = "its text" if fast else "it"
            if foreign:
                trust = self.store().trust_advice()
                self.notice(f"{foreign}: {trust}now {what} is indexed first")
            else:
                self.notice(f"{self.root} is not indexed yet; indexing {what} first")
            report = self.index(fast=fast)
            if fast and report.documents <= SMALL_BASE:
                self.embed_briefly(seconds=FIRST_EMBEDDING_SECONDS)

    def embed_briefly(self, only: Collection[str] | None = None, *, seconds: float) -> None:
        """Embed for so long at most; not by a remote model, which may be slow, or gone."""
        if is_remote(self.settings.embedding.model):
            return
        deadline = time.monotonic() + seconds
        with suppress(EmbeddingError, IndexFault):
            self.add_vectors(only, lambda: time.monotonic() > deadline)

    def rebuild(self, damage: IndexDamaged, *, full: bool) -> None:
        """Build the index again after `damage`, which is raised where that is impossible.

        Without `full` it is kept if the run does not find it damaged: it may be another one by now.
        """
        if self.published is not None:
            self._fetch_again(self.published)
            return
        self.notice_once(f"{damage}: doing so now")
        try:
            self.index(full=full)
        except IndexForeign:  # says what to do instead
            raise
        except (IndexFault, EmbeddingError, ReadOnly) as error:
            raise damage from error

    def rewrite_derived_files(self, fault: Exception) -> None:
        """Write all derived files again, as reading one raised `fault`, or raise that."""
        damage = IndexDamaged(
            f"a file of the index at {self.store().uri} cannot be used ({type(fault).__name__}); "
            "all are written again from the tables"
        )
        if self.published is not None or is_read_only(self.root):
            raise damage from fault
        with writer_lock(self.root):
            delete_derived_files(self.store())
        self._close_index()
        self.rebuild(damage, full=False)

    def repair_derived_files(self) -> tuple[str, ...]:
        """Rewrite the derived files that were found damaged when read; return a note for each."""
        store = self.open_index().store
        if not store.damaged_files:
            return ()
        if self.published is not None:
            try:
                self._fetch_again(self.published)
            except StoreFault as error:
                return (f"the copy of the index is damaged: {error}",)
            return ("the copy of the index was damaged and was fetched again",)
        from kbx_tui.index.build.repair import rewrite_damaged_files

        return rewrite_damaged_files(self.root, store)

    def _fetch_again(self, published: PublishedIndex) -> None:
        self.notice_once(f"the copy of {published.uri} is damaged: fetching it again")
        self._close_index()
        published.fetch_again()

    def index(
        self,
        progress: ProgressListener | None = None,
        engine: RayEngine | None = None,
        **options: Any,
    ) -> IndexReport:
        """Bring the index up to date; `options` are those of `build`."""
        self._require_own_index()
        require_same_places(self.root)
        from kbx_tui.index.build.build_index import build  # parses markdown: not for a search

        self._look_again()
        with ExitStack() as stack:
            embedder, workers = self.embedder(), None
            if engine is not None:
                model = self.settings.embedding.model
                workers = stack.enter_context(engine.start(model, embedder, self.notice))
            report = build(
                self.root,
                self.settings,
                embedder,
                listener=progress,
                on_wait=self.notice,
                workers=workers,
                embed_first=self._paths_to_embed_first,
                **options,
            )
        if not is_remembered(index_id(Path(self.store().uri))):
            self.notice_once(NOT_REMEMBERED)
        return report

    def add_vectors(
        self, only: Collection[str] | None = None, cancelled: Cancelled = lambda: False
    ) -> int:
        self._require_own_index()
        from kbx_tui.index.build.build_index import add_vectors

        self._look_again()
        return add_vectors(
            self.root,
            self.settings,
            self.embedder(),
            only=only,
            cancelled=cancelled,
            embed_first=self._paths_to_embed_first,
        )

    def _paths_to_embed_first(self) -> list[str]:
        """Return the documents that were opened or found first by a query, the latest first."""
        from kbx_tui.search.frecency import OpenedDocuments
        from kbx_tui.search.query_history import QueryHistory

        at = {path: last for path, (_, last) in OpenedDocuments(self.root).opens().items()}
        for past in QueryHistory(self.root).read():
            for path in past.first:
                at[path] = max(past.at, at.get(path, 0.0))
        return sorted(at, key=at.__getitem__, reverse=True)

    def _require_own_index(self) -> None:
        require_writable(self.root)
        if self.published is not None:
            raise IndexElsewhere(
                f"the index is published to {self.published.uri} by another machine; `kbx index` "
                "makes this one index the files and publish"
            )

    def path_filter(self, path: str | None) -> PathFilter:
        """Return a path, glob or nothing as a filter. Raises ConfigError."""
        return PathFilter.parse(replace_surrogates(path or ""), self.root)


class OutdatedNotes:
    """The notes of one session, kept: making them takes longer than many a search."""

    def __init__(self) -> None:
        self._notes: tuple[str, ...] = ()
        self._compare_at, self._generation = -math.inf, -1

    def of(
        self,
        generation: int,
        newer_files: Callable[[], Collection[str]],
        entities: Callable[[], bool],
    ) -> tuple[str, ...]:
        """Return sentences on newer files and `[entities]`, made again after a while."""
        began = time.monotonic()
        if generation != self._generation or began > self._compare_at:
            self._notes = tuple(outdated_notes(len(newer_files()), entities=entities()))
            ended = time.monotonic()
            self._compare_at = ended + max(OUTDATED_SECONDS, OUTDATED_TIMES * (ended - began))
            self._generation = generation
        return self._notes


def outdated_notes(newer_files: int, *, entities: bool) -> Iterator[str]:
    if newer_files:
        files = format_count(newer_files, "file")
        yield f"{files} changed since the last run; `kbx index` updates the index"
    if entities:
        yield "[entities] in kbx.toml changed since the last run; `kbx index` applies it"
