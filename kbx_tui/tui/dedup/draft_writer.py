"""Writes decided drafts, undoes writes and decisions, and stores drafts not written yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.drafting.drafts import Draft
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.dedup.draft_store import DraftStore, ReviewStep
from kbx_tui.tui.dedup.rows import ReviewProgress, describe_applied
from kbx_tui.tui.dedup.words import describe_undone, describe_undone_write
from kbx_tui.tui.engine.client import EngineClient, KeyedStatus

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.decided_pairs import LabelledScore
    from kbx_tui.drafting.records import Applied, DraftCheck, Plan


class DraftWriter:
    """Writes on the engine's thread; meanwhile nothing else is written or undone."""

    def __init__(
        self,
        client: EngineClient,
        store: DraftStore,
        status: KeyedStatus,
        *,
        post: Callable[[Message], object],
        on_write: Callable[[Iterable[str]], object],
        on_change: Callable[[], object],
    ) -> None:
        """`on_write` receives the files written, `on_change` is called when drafts changed."""
        self._client, self._store, self._status = client, store, status
        self._post, self._on_write, self._on_change = post, on_write, on_change
        self.is_writing = False

    def apply(self, settled: Sequence[Draft]) -> None:
        """Write these drafts as decided, as one entry of the journal."""
        if self.is_writing:
            self._status.show_notice("still writing")
        elif settled:
            self.is_writing = True
            self._client.start(self._apply(settled, self._store.drafts))
        else:
            create, merge, supersede, skip = (
                self._status.key_of(f"draft.{name}")
                for name in ("create", "merge", "supersede", "skip")
            )
            keys = f"{create} creates, {merge} merges, {supersede} supersedes, {skip} skips"
            self._status.show_notice(f"nothing is decided: {keys}")

    def create_page(self, draft_id: str) -> bool:
        """Create the page of a draft's entity, or of the person it names.

        Return False, without doing anything, if the draft names nobody.
        """
        check, draft = self._store.check(draft_id), self._store.draft(draft_id)
        entity = check.entity if check is not None else None
        if entity is not None and entity.path:
            self._status.show_notice("its entity has a page")
            return True
        name, kind = draft.entity_name if draft is not None else "", "person"
        if entity is not None:
            name, kind = entity.name, entity.type
        if name:
            self._start_page(name, kind)
        return bool(name)

    def create_page_of(self, draft_id: str, name: str) -> None:
        """Create the page of a person, and say that a draft is about them."""
        self._start_page(name, "person", draft_id)

    def undo(self) -> None:
        """Undo the last change, or the whole last write."""
        step = None if self.is_writing else self._store.pop_step()
        if step is None:
            words = "still writing" if self.is_writing else "nothing to undo"
            self._status.show_notice(words)
        elif step.entry is not None:
            self.is_writing = True
            self._client.start(self._undo(step, step.entry))
        else:
            words = describe_undone(self._store.drafts, self._store.threshold, step)
            self._take_back(step, words)

    async def _apply(self, settled: Sequence[Draft], before: tuple[Draft, ...]) -> None:
        def write(engine: KnowledgeBase) -> tuple[Plan, Applied]:
            plan = engine.drafts.plan(settled)
            return plan, engine.drafts.apply(plan, self._report)

        try:
            plan, applied = await self._client.run(write)
            self._on_write(applied.paths)
        finally:
            self._finish()
        self._store.settle(before, applied.entry, applied.done)
        words = describe_applied(applied, (*plan.problems, *applied.failed))
        self._show_written(words, applied.entry)
        self._on_change()

    async def _undo(self, step: ReviewStep, number: int) -> None:
        try:
            entry = await self._client.run(lambda engine: engine.undo(number))
        except Exception:
            self._store.push_step(step)  # it may work later
            raise
        finally:
            self._finish()
        paths = [change.path for change in entry.changes]
        self._on_write(paths)
        self._take_back(
            step, describe_undone_write(paths, len(step.drafts) - len(self._store.drafts))
        )

    def _start_page(self, name: str, kind: str, draft_id: str = "") -> None:
        if self.is_writing:
            self._status.show_notice("still writing")
        else:
            self.is_writing = True
            self._client.start(self._create_page(name, kind, draft_id))

    async def _create_page(self, name: str, kind: str, draft_id: str) -> None:
        """Create a page; the draft `draft_id`, if any, is about it from then on."""
        try:
            written = await self._client.run(lambda engine: engine.pages.create(name, kind))
        finally:
            self._finish()
        self._on_write([written.path])
        named = {"entity_name": name, "entity_id": "", "is_guessed": True, "choice": None}
        self._store.replace(draft_id, entry=written.entry, **(named if draft_id else {}))
        self._show_written(f"created {safe_line(written.path)}", written.entry)
        self._on_change()

    def _show_written(self, words: str, entry: int | None) -> None:
        """Say what was written, and which key undoes it if there is a journal entry."""
        undo = f"; {self._status.key_of('review.undo')} undoes it" if entry is not None else ""
        self._status.show_notice(words + undo)

    def _report(self, done: int, files: int) -> None:
        words = f"writing {done} of {format_count(files, 'file')}"
        self._client.call_on_loop(self._post, ReviewProgress(words))

    def _finish(self) -> None:
        self.is_writing = False
        self._post(ReviewProgress(""))

    def _take_back(self, step: ReviewStep, words: str) -> None:
        self._store.take_back(step)
        self._status.show_notice(words)
        self._on_change()


class DraftSaver:
    """Of drafts from a scan only the decision to keep both is saved: their text is in the base."""

    def __init__(self, client: EngineClient, store: DraftStore) -> None:
        self._client, self._store = client, store
        self.is_loaded = False
        """Whether the drafts of the base have been read."""
        self.stored = 0
        """The number of stored drafts when they were last counted."""
        self._unsaved: tuple[Draft, ...] | None = None
        self._kept: dict[str, bool] = {}
        """Whether the facts of a draft from a scan are kept, by its id."""
        self._unsaved_kept: deque[tuple[DraftCheck, bool]] = deque()

    @property
    def has_unsaved(self) -> bool:
        """Whether some drafts or decisions have not been saved yet."""
        return self._unsaved is not None or bool(self._unsaved_kept)

    async def count(self) -> None:
        """Count the drafts of the base."""
        self.stored = await self._client.run(lambda engine: len(engine.drafts.stored()))

    async def load(self) -> tuple[Sequence[Draft], Sequence[LabelledScore]]:
        """Return the drafts and labels of the base."""
        loaded = await self._client.run(
            lambda engine: (engine.drafts.stored(), engine.drafts.labelled())
        )
        self.is_loaded = True
        return loaded

    def save_soon(self) -> None:
        """Save the drafts when the engine is free."""
        self._unsaved = tuple(draft for draft in self._store.drafts if draft.stands_for is None)
        for draft in self._store.drafts:
            is_kept = draft.choice is not None and draft.choice.action == "skip"
            check = self._store.check(draft.id)
            if draft.stands_for is None or check is None:
                continue
            if is_kept != self._kept.get(draft.id, False):
                self._kept[draft.id] = is_kept
                self._unsaved_kept.append((check, is_kept))
        self._client.start(self._client.run(self.save))

    def save(self, engine: KnowledgeBase) -> None:
        """Save unsaved drafts; runs on the engine's thread, also as its last call."""
        drafts = self._unsaved
        if drafts is not None:
            engine.drafts.save(drafts)
            if self._unsaved is drafts:
                self._unsaved = None
        while self._unsaved_kept:
            check, is_kept = self._unsaved_kept[0]
            engine.drafts.keep(check, kept=is_kept)
            self._unsaved_kept.popleft()
