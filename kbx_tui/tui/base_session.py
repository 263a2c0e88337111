"""Opens and creates bases; and one open base: the client of its engine, and the modes' models."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbx_tui.errors import KbxError, NotTrusted
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient, Host, OpenEngine
from kbx_tui.tui.engine.index_sync import LOOK_INTERVAL, IndexFollower, IndexSync
from kbx_tui.tui.explore.model import DEBOUNCE_SECONDS, ExploreModel
from kbx_tui.tui.explore.view import BaseSummary
from kbx_tui.tui.gc_pauses import loading
from kbx_tui.tui.indexing.model import IndexModel
from kbx_tui.tui.judging.live_measure import SearchSettings
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.terminal_app import TabsChanged
from kbx_tui.user_files import logger

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.api.session import Notice
    from kbx_tui.base_trust import TrustRequest
    from kbx_tui.config import Settings
    from kbx_tui.knowledge.topics import EntityProposal
    from kbx_tui.search.request import Tuning
    from kbx_tui.tui.dedup.model import ReviewModel
    from kbx_tui.tui.experts.model import ExpertSearch
    from kbx_tui.tui.tune.model import TuneModel


class Bases:
    """Knowledge bases on this machine. Methods do I/O: call them off the event loop."""

    writes = True
    """Whether bases may be changed, and their indexes are kept up to date."""

    def __init__(self, trusted: Collection[Path | None] = ()) -> None:
        self._trusted = trusted

    def open(self, root: Path, notice: Notice = lambda text: None) -> KnowledgeBase:
        from kbx_tui.api import KnowledgeBase

        return KnowledgeBase(root, notice=notice, trust=root in self._trusted)

    def questions(self, root: Path) -> tuple[TrustRequest, ...]:
        """Return requests not allowed yet; none if declined and the base opens without them."""
        from kbx_tui.base_trust import is_declined, requests_of, ungranted
        from kbx_tui.settings_file import load_settings

        requests = ungranted(root, requests_of(root, load_settings(root)))
        is_open = not any(request.blocks for request in requests)
        return () if is_open and is_declined(root, requests) else requests

    def answer(self, root: Path, requests: Sequence[TrustRequest], *, allowed: bool) -> None:
        from kbx_tui.base_trust import decline, grant

        (grant if allowed else decline)(root, requests)

    def demo(self) -> Path:
        from kbx_tui.demo import install_demo

        return install_demo()

    def existing(self, folder: str) -> Path:
        from kbx_tui.base_discovery import find_base

        return find_base(Path(folder).expanduser())

    def new(self, folder: str) -> Path:
        from kbx_tui.base_discovery import create_base
        from kbx_tui.base_trust import trust_made_here

        root = create_base(Path(folder).expanduser())
        with suppress(KbxError):  # the base exists, and asks for trust when it needs it
            trust_made_here(root)
        return root


def is_folder(path: str) -> bool:
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def complete_folder(typed: str, limit: int = 50) -> Sequence[str]:
    """Return folders whose paths begin with `typed`, each with a slash at the end; `~` is kept."""
    path = Path(typed) if typed else Path()
    is_complete = typed.endswith("/") or not typed
    parent, prefix = (path, "") if is_complete else (path.parent, path.name)
    try:
        names = sorted(
            entry.name
            for entry in parent.expanduser().iterdir()
            if entry.name.startswith(prefix)
            and entry.is_dir()
            and (prefix.startswith(".") or not entry.name.startswith("."))
            and safe_line(entry.name) == entry.name
        )
    except (OSError, RuntimeError, ValueError):  # RuntimeError: `~name` with an unknown user
        return ()
    start = typed if is_complete else typed[: len(typed) - len(prefix)]
    return [f"{start}{name}/" for name in names[:limit]]


CLOSE_SECONDS = 1.0
"""Longest time that the screen stays while drafts are saved and the engine closes."""


class BaseSession:
    """Opens the base, keeps its index up to date, and refreshes the models."""

    def __init__(
        self,
        open_engine: OpenEngine,
        host: Host,
        *,
        writes: bool = True,
        debounce: float = DEBOUNCE_SECONDS,
        on_answer: Callable[[], object] = lambda: None,
    ) -> None:
        """`on_answer` is called after each answer; without `writes`, engines only read."""
        self._host, self._writes = host, writes
        self.left: dict[str, Any] = {}
        """By mode, where the user was in it when they opened a document of it in explore."""
        self._is_open = self._asked_for_trust = self._asked_for_entities = False
        self._has_counted = False
        self.client = EngineClient(open_engine, on_error=self._show_error, on_answer=on_answer)
        self.index_sync = (IndexSync if writes else IndexFollower)(
            self.client,
            open_engine,
            host,
            on_growth=self.refresh,
            on_question=lambda question: host.ask_to_index(question, self._answer_to_index),
        )
        self.explore = ExploreModel(
            self.client, host, open_base=self._open_searchable, debounce=debounce
        )
        self.judging = JudgingModel(
            self.client, host, self.explore, on_write=self.index_sync.expect
        )
        self.explore.on_settings = self.judging.use
        self.index = IndexModel(self.client, open_engine, host, self.index_sync, self.explore)
        self.index_sync.on_run = self._note_run

    # Created on first use: the first paint needs none of their modules.

    @cached_property
    def review(self) -> ReviewModel:
        from kbx_tui.tui.dedup.model import ReviewModel

        return ReviewModel(self.client, self._host, on_write=self.index_sync.expect)

    @cached_property
    def experts(self) -> ExpertSearch:
        from kbx_tui.tui.experts.model import ExpertSearch

        return ExpertSearch(self.client)

    @cached_property
    def tune(self) -> TuneModel:
        from kbx_tui.tui.tune.model import TuneModel

        return TuneModel(self.client, self._host, self.judging, self.explore)

    def _has(self, name: str) -> bool:
        return name in vars(self)

    # What the tabs of all modes show.

    @property
    def tab_counts(self) -> dict[str, str]:
        drafts = self.review.count if self._has("review") else 0
        counts = {
            "dedup": f"({drafts})" if drafts else "",
            "index": self.index_sync.run.short_words,
        }
        return {mode: words for mode, words in counts.items() if words}

    @property
    def base_words(self) -> tuple[str, str]:
        if (summary := self.explore.summary) is None:
            return "", ""
        holds = "" if summary.documents is None else format_count(summary.documents, "document")
        return summary.name, holds

    def start(self) -> None:
        self.client.start(self._open())

    async def stop(self) -> None:
        self.client.closed.set()
        await self.index_sync.stop()
        self.judging.evidence.close()
        has_unsaved = self._has("review") and self.review.has_unsaved
        closing = self.client.close(self.review.save if has_unsaved else None)
        await asyncio.wait({asyncio.wrap_future(closing)}, timeout=CLOSE_SECONDS)

    def refresh(self, changed: frozenset[str] = frozenset()) -> None:
        if changed:
            self.explore.forget_files(changed)
            if self._has("review"):
                self.review.check_again()
            if self._has("experts"):
                self.experts.ask_again()
        self.client.start(self._search_again())

    async def _open(self) -> None:
        if self._is_open:
            return
        try:
            settings, tuning, summary, untrusted = await self.client.run(_read_basics)
        except NotTrusted:
            self._ask_for_trust()
            raise
        if self._is_open:  # a concurrent request has opened it
            return
        self._is_open = True
        if untrusted:
            from kbx_tui.base_trust import INDEX  # the first paint does not wait for it

            if INDEX in untrusted:
                self.index_sync.hold()  # a run would put the index aside that the user may allow
            self._ask_for_trust()
        self.explore.configure(tuning, settings.search.dates)
        self.judging.pin(SearchSettings(tuning))
        self._host.configure(settings)
        self._show_base(summary)
        self.client.start(self._prepare())

    def _ask_for_trust(self) -> None:
        """Ask once per session, although each request tries to open a base that is still closed."""
        if not self._asked_for_trust:
            self._asked_for_trust = True
            self._host.ask_for_trust(self.index_sync.release)

    def _note_run(self) -> None:
        self.index.note_run()
        self._host.broadcast(TabsChanged())  # of the newest at a time; unchanged tabs stay

    def _answer_to_index(self, confirmed: bool) -> None:
        self.index_sync.answer(confirmed=confirmed)
        if self.explore.summary is not None:
            self.explore.show_base(replace(self.explore.summary, is_waiting=not confirmed))

    async def _open_searchable(self) -> bool:
        await self._open()
        return self.explore.is_searchable

    async def _prepare(self) -> None:
        is_complete = False
        try:
            await self.review.count_stored()
            self._host.broadcast(TabsChanged())
            if self._writes:
                self.client.start(self._follow_inbox())
            if self.explore.is_searchable:
                await self.client.run(_warm)
                is_complete = await self._count()
                self.judging.start()
        finally:
            if not is_complete:
                self.index_sync.index()
            self.index_sync.watch()

    async def _follow_inbox(self) -> None:
        """Show in a sentence, and then in the tabs, that agents propose something."""
        seen = None
        while True:
            version = await self.client.look(lambda engine: engine.drafts.inbox_version())
            if version != seen:
                seen = version
                if added := await self.review.read_inbox():
                    from kbx_tui.tui.dedup.rows import describe_proposed

                    key = self._host.key_of("mode.dedup")
                    self._host.show_notice(describe_proposed(added, key))
                self._host.broadcast(TabsChanged())
            await asyncio.sleep(LOOK_INTERVAL)

    async def _search_again(self) -> None:
        try:
            await self.client.run(lambda engine: engine.reread_settings())
        except KbxError as error:  # an invalid edit: the settings stay as they were
            self.client.report(error)
        try:
            await self.client.run(_refresh)
            await self._count()
        except Exception as error:  # an index that cannot be counted may still be searched
            self.client.report(error)
            self.explore.set_searchable(True)
        if self.explore.is_searchable:
            self.explore.search_again()
            self.index.note_index_change()
            if self._has("tune"):
                self.tune.note_index_change()
            self.judging.note_index_change()

    async def _count(self) -> bool:
        counted = await self.client.run(_read_counts if self._has_counted else _load_counts)
        if counted is None:  # another process is still creating the index
            self.explore.set_searchable(False)
            return False
        self._has_counted = True
        summary, is_complete = counted
        self._show_base(summary)
        self.client.start(self._offer_entities(summary))
        return is_complete

    def _show_base(self, summary: BaseSummary) -> None:
        self.explore.show_base(summary)
        self._host.broadcast(TabsChanged())

    # The question of `kbx init`, for a base with few entities.

    async def _offer_entities(self, summary: BaseSummary) -> None:
        is_asked = self._asked_for_entities or not self._host.may_ask_for_entities
        if is_asked or not summary.documents:
            return
        proposal = await self.client.run(lambda engine: engine.entities.offer())
        if proposal is None:
            self._asked_for_entities = True
        elif self._host.may_ask_for_entities and not self._asked_for_entities:
            self._asked_for_entities = True

            def take(wanted: bool) -> None:
                if wanted:
                    self.client.start(self._use_entities(proposal))

            self._host.ask_for_entities(proposal, take)

    async def _use_entities(self, proposal: EntityProposal) -> None:
        written = await self.client.run(lambda engine: engine.entities.use(proposal))
        if (number := written.entry) is not None:
            self.explore.remember(lambda: self.client.start(self._undo_entities(number)))
        self._index_written([written.path])
        self._host.show_notice(
            safe_line(f"{proposal.sentence}: written to kbx.toml; kbx undo takes it back")
        )

    async def _undo_entities(self, number: int) -> None:
        undone = await self.client.run(lambda engine: engine.undo(number))
        self._index_written(change.path for change in undone.changes)
        self._host.show_notice("kbx.toml names no entities, as before")

    def _index_written(self, paths: Iterable[str]) -> None:
        self.index_sync.expect(paths)
        self.index_sync.index()

    # Errors.

    def _show_error(self, error: Exception) -> None:
        if isinstance(error, KbxError) and self.explore.is_searchable:
            self.client.start(self._show_or_index(error))
        else:
            self._show(error)

    async def _show_or_index(self, error: KbxError) -> None:
        if await self.client.run(lambda engine: engine.is_indexed()):
            if not self.explore.is_past(error):  # typed on meanwhile
                self._show(error)
        elif self.explore.is_searchable:  # else failed indexing would be retried for ever
            self.explore.set_searchable(False)
            self._host.show_notice("the index is gone; indexing again")
            self.index_sync.index()

    def _show(self, error: Exception) -> None:
        if not isinstance(error, KbxError):
            logger().error("%s", error, exc_info=error)
        self._host.show_error(error_line(error))


def error_line(error: Exception) -> str:
    """Return an error as one line for the user, with the type of errors other than our own."""
    text = safe_line(str(error).strip() or type(error).__name__)
    return text if isinstance(error, KbxError) else f"{type(error).__name__}: {text}"


def _read_basics(engine: KnowledgeBase) -> tuple[Settings, Tuning, BaseSummary, set[str]]:
    name, root = safe_line(engine.root.name), str(engine.root)
    summary = BaseSummary(name, root, engine.is_indexed())
    untrusted = {request.key for request in engine.untrusted}
    return engine.settings, engine.tuning(), summary, untrusted


def _refresh(engine: KnowledgeBase) -> None:
    if engine.is_indexed():
        engine.refresh()  # else a search just before the index changed may put off reading it


def _warm(engine: KnowledgeBase) -> None:
    with loading():
        engine.warm()


def _load_counts(engine: KnowledgeBase) -> tuple[BaseSummary, bool] | None:
    """Read the counts for the first time, which loads the modules of the tables."""
    with loading():
        return _read_counts(engine)


def _read_counts(engine: KnowledgeBase) -> tuple[BaseSummary, bool] | None:
    if not engine.is_indexed():
        return None
    status, name, root = engine.status(), safe_line(engine.root.name), str(engine.root)
    is_current = not (status.stale or status.entities_outdated)
    is_complete = is_current and status.vector_share >= 1.0
    contents = engine.contents()
    summary = BaseSummary(
        name,
        root,
        True,
        status.documents,
        status.entities,
        contents=safe_line(contents.summary),
        queries=tuple(query for query in contents.queries if safe_line(query) == query),
        busiest=tuple(
            (safe_line(entity.name), safe_line(entity.type), count)
            for entity, count in contents.busiest
        ),
    )
    return summary, is_complete
