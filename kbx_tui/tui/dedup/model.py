"""The review of drafts: checking, deciding, writing and undoing.

Checking and writing are engine calls. Deciding is pure: moving the threshold searches nothing.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.drafting.drafts import Choice, Draft, complete_file, drafts_from_text, new_draft
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.dedup.draft_store import DraftStore, ReviewStep
from kbx_tui.tui.dedup.rows import (
    DraftPlanned,
    DraftsLoaded,
    KnownRow,
    ReviewProgress,
    ReviewView,
    ScanEnded,
    TypedTextChecked,
    describe_applied,
    plan_lines,
)
from kbx_tui.tui.dedup.words import (
    describe_saved,
    describe_threshold,
    describe_undone,
    describe_undone_write,
)
from kbx_tui.tui.engine.client import EngineClient, Host, LatestOnly

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.decided_pairs import LabelledScore
    from kbx_tui.drafting.drafts import Applied, DraftCheck, Plan

TYPING_PAUSE = 0.15
"""Seconds without a key before the text being typed is checked."""


class ReviewModel:
    """The drafts of one base. It outlives the screen.

    Drafts are stored after every change. Of those from a scan, whose text is in the base, only the
    decision to keep both facts is.
    """

    def __init__(
        self, client: EngineClient, host: Host, *, on_write: Callable[[Iterable[str]], object]
    ) -> None:
        self._client, self._host, self._on_write = client, host, on_write
        self.on_change: Callable[[], object] = lambda: None
        self.post: Callable[[Message], object] = lambda message: None
        self.store = DraftStore()
        self._labels: Sequence[LabelledScore] = ()
        self._checks, self._plans = LatestOnly(client), LatestOnly(client)
        self._typed_checks, self._loading = LatestOnly(client), LatestOnly(client)
        self.is_loaded = False
        self.is_checking = False
        self._is_writing = False
        self._stored = 0
        self._unsaved: tuple[Draft, ...] | None = None
        self._kept: dict[str, bool] = {}
        self._unsaved_kept: deque[tuple[DraftCheck, bool]] = deque()

    @property
    def count(self) -> int:
        return len(self.store.drafts) if self.is_loaded else self._stored

    async def count_stored(self) -> None:
        self._stored = await self._client.run(lambda engine: len(engine.drafts.stored()))

    @property
    def view(self) -> ReviewView:
        engine = self._client.engine
        settings = None if engine is None else engine.settings.dedup
        threshold, note = describe_threshold(settings, self._labels, self.store.threshold)
        scores = self.store.best_scores()
        return ReviewView(self.store.rows(), self.is_checking, threshold, note, scores)

    # Drafts come and go.

    def open(self) -> None:
        if self.is_loaded:
            self.on_change()
        elif not self._loading.is_running:
            self._loading.start(self._load())

    async def _load(self) -> None:
        drafts, self._labels = await self._client.run(
            lambda engine: (engine.drafts.stored(), engine.drafts.labelled())
        )
        self.is_loaded = True
        present = {draft.id for draft in self.store.drafts}
        loaded = [draft for draft in drafts if draft.id not in present and draft.stands_for is None]
        self.store.drafts = (*loaded, *self.store.drafts)
        self._check()

    def add(self, text: str) -> None:
        """Add a draft for every line of `text`. Raises ConfigError for JSON that is not a draft."""
        self._add(drafts_from_text(text))

    def add_line(self, text: str) -> None:
        """Add one draft that was typed; what looks like a heading or JSON is its text."""
        is_plain = text.strip().startswith(("#", "{"))
        self._add((new_draft(text.strip()),) if is_plain else drafts_from_text(text))

    def load(self, file: str) -> None:
        self._client.start(self._load_file(file))

    async def _load_file(self, file: str) -> None:
        drafts = await self._client.run(lambda engine: engine.drafts.in_file(file))
        self._add(drafts)
        self.post(DraftsLoaded())
        name = safe_line(Path(file).name)
        self._host.show_notice(f"{format_count(len(drafts), 'draft')} loaded from {name}")

    async def complete_file(self, text: str) -> tuple[str, ...]:
        return await self._client.run(lambda engine: complete_file(text, engine.root))

    def _add(self, drafts: Sequence[Draft]) -> None:
        if drafts:
            self.store.change((*self.store.drafts, *drafts))
            self._save_and_check()

    def scan(self, *, kept: bool = False) -> None:
        self.post(ReviewProgress("looking for facts the base states more than once …"))
        self._client.start(self._scan(kept))

    async def _scan(self, kept: bool) -> None:
        def scan(engine: KnowledgeBase) -> tuple[list[DraftCheck], bool]:
            return engine.drafts.scan(kept=kept), engine.drafts.count_kept() > 0

        try:
            checks, has_kept = await self._client.run(scan)
        finally:
            self.post(ReviewProgress(""))
        present = {draft.id for draft in self.store.drafts}
        added = [check for check in checks if check.draft.id not in present]
        if added:
            self.store.change((*self.store.drafts, *(check.draft for check in added)))
            self.store.add_checks(added)
            self._save_soon()
            self.on_change()
        ids = tuple(check.draft.id for check in added)
        self.post(ScanEnded(len(checks), ids, kept, has_kept))

    def drop(self, draft_id: str) -> None:
        self.store.change(draft for draft in self.store.drafts if draft.id != draft_id)
        self._save_and_check()  # other drafts may have repeated it

    # Changing and deciding.

    def rewrite(self, draft_id: str, text: str) -> None:
        self.store.replace(draft_id, text=text.strip(), choice=None)
        self._save_and_check()

    def assign(self, draft_id: str, entity_id: str) -> None:
        self.store.replace(draft_id, entity_id=entity_id, is_guessed=False, choice=None)
        self._save_and_check()

    def toggle_kind(self, draft_id: str) -> None:
        if (draft := self.store.draft(draft_id)) is not None:
            kind = "open_item" if draft.kind == "fact" else "fact"
            self.store.replace(draft_id, kind=kind, choice=None)
            self._save_and_check()

    def choose(self, draft_id: str, choice: Choice | None) -> None:
        self.store.replace(draft_id, choice=choice)
        self._save_soon()
        self.on_change()

    def move_threshold(self, threshold: float) -> None:
        self.store.move_threshold(threshold)
        self.on_change()

    def label(self, draft_id: str, known: KnownRow, *, same: bool) -> None:
        check = self.store.check(draft_id)
        if check is not None:
            self._client.start(self._label(check.text, known.text, same))

    async def _label(self, left: str, right: str, same: bool) -> None:
        def save(engine: KnowledgeBase) -> Sequence[LabelledScore]:
            engine.drafts.label(left, right, same)
            return engine.drafts.labelled()

        self._labels = await self._client.run(save)
        self._host.show_notice(describe_saved(len(self._labels)))
        self.on_change()

    # Checking.

    def check_again(self) -> None:
        if self.is_loaded and self.store.drafts and not self._is_writing:
            self._check()

    def _check(self) -> None:
        """Check all drafts: any of them may repeat another."""
        drafts = self.store.drop_outdated_checks()
        self.is_checking = bool(drafts)
        if drafts:
            self._checks.start(self._run_check(drafts))
        else:
            self._checks.cancel()
        self.on_change()

    async def _run_check(self, drafts: list[Draft]) -> None:
        try:
            checks = await self._client.run(lambda engine: engine.drafts.check(drafts))
        except Exception:
            self.is_checking = False
            self.on_change()
            raise
        self.is_checking = False
        self.store.add_checks(checks)
        self.on_change()

    def check_typed(self, text: str) -> None:
        """Check the text being typed, after a pause in typing."""
        self._typed_checks.start(self._check_typed(new_draft(text.strip())))

    async def _check_typed(self, draft: Draft) -> None:
        await asyncio.sleep(TYPING_PAUSE)
        known: tuple[KnownRow, ...] = ()
        if draft.text:
            checks = await self._client.run(lambda engine: engine.drafts.check([draft]))
            known = self.store.known(checks[0])
        self.post(TypedTextChecked(known))

    # Saving.

    @property
    def has_unsaved(self) -> bool:
        """Whether some drafts or decisions have not been saved yet."""
        return self._unsaved is not None or bool(self._unsaved_kept)

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

    def _save_soon(self) -> None:
        self._unsaved = tuple(draft for draft in self.store.drafts if draft.stands_for is None)
        for draft in self.store.drafts:
            is_kept = draft.choice is not None and draft.choice.action == "skip"
            check = self.store.check(draft.id)
            if draft.stands_for is None or check is None:
                continue
            if is_kept != self._kept.get(draft.id, False):
                self._kept[draft.id] = is_kept
                self._unsaved_kept.append((check, is_kept))
        self._client.start(self._client.run(self.save))

    def _save_and_check(self) -> None:
        self._save_soon()
        self._check()

    # Writing.

    def plan(self, draft_id: str) -> None:
        settled = self.store.settled(unsure=True)
        self._plans.start(self._plan([draft for draft in settled if draft.id == draft_id]))

    async def _plan(self, drafts: list[Draft]) -> None:
        lines = await self._client.run(lambda engine: plan_lines(engine.drafts.plan(drafts)))
        self.post(DraftPlanned(lines))

    def apply(self) -> None:
        settled = self.store.settled()  # only drafts already checked
        if self.is_checking and not settled:
            self._host.show_notice("still checking: a moment")
        elif not self._may_write():
            return
        elif settled:
            self._is_writing = True
            self._client.start(self._apply(settled, self.store.drafts))
        else:
            create, merge, supersede, skip = (
                self._host.key_of(f"draft.{name}")
                for name in ("create", "merge", "supersede", "skip")
            )
            keys = f"{create} creates, {merge} merges, {supersede} supersedes, {skip} skips"
            self._host.show_notice(f"nothing is decided: {keys}")

    def _may_write(self) -> bool:
        if self._is_writing:
            self._host.show_notice("still writing")
        return not self._is_writing

    async def _apply(self, settled: Sequence[Draft], before: tuple[Draft, ...]) -> None:
        def write(engine: KnowledgeBase) -> tuple[Plan, Applied]:
            plan = engine.drafts.plan(settled)
            return plan, engine.drafts.apply(plan, self._report)

        try:
            plan, applied = await self._client.run(write)
            self._on_write(applied.paths)
        finally:
            self._end_writing()
        self.store.settle(before, applied.entry, applied.done)
        words = describe_applied(applied, (*plan.problems, *applied.failed))
        self._show_written(words, applied.entry)
        self._save_and_check()

    def create_page(self, draft_id: str) -> bool:
        """Create the page of a draft's entity, or of the person it names.

        Return False, without doing anything, if the draft names nobody.
        """
        check, draft = self.store.check(draft_id), self.store.draft(draft_id)
        entity = check.entity if check is not None else None
        if entity is not None and entity.path:
            self._host.show_notice("its entity has a page")
            return True
        name, kind = draft.entity_name if draft is not None else "", "person"
        if entity is not None:
            name, kind = entity.name, entity.type
        if name:
            self._start_page(name, kind)
        return bool(name)

    def create_page_of(self, draft_id: str, name: str) -> None:
        self._start_page(name, "person", draft_id)

    def _start_page(self, name: str, kind: str, draft_id: str = "") -> None:
        if self._may_write():
            self._is_writing = True
            self._client.start(self._create_page(name, kind, draft_id))

    async def _create_page(self, name: str, kind: str, draft_id: str) -> None:
        try:
            written = await self._client.run(lambda engine: engine.pages.create(name, kind))
        finally:
            self._end_writing()
        self._on_write([written.path])
        named = {"entity_name": name, "entity_id": "", "is_guessed": True, "choice": None}
        self.store.replace(draft_id, entry=written.entry, **(named if draft_id else {}))
        self._show_written(f"created {safe_line(written.path)}", written.entry)
        self._save_and_check()

    def _show_written(self, words: str, entry: int | None) -> None:
        undo = f"; {self._host.key_of('review.undo')} undoes it" if entry is not None else ""
        self._host.show_notice(words + undo)

    def _report(self, done: int, files: int) -> None:
        words = f"writing {done} of {format_count(files, 'file')}"
        self._client.call_on_loop(self.post, ReviewProgress(words))

    def _end_writing(self) -> None:
        self._is_writing = False
        self.post(ReviewProgress(""))

    # Undoing.

    def undo(self) -> None:
        if not self._may_write():
            return
        step = self.store.pop_step()
        if step is None:
            self._host.show_notice("nothing to undo")
        elif step.entry is not None:
            self._is_writing = True
            self._client.start(self._undo_write(step, step.entry))
        else:
            words = describe_undone(self.store.drafts, self.store.threshold, step)
            self._take_back(step, words)

    async def _undo_write(self, step: ReviewStep, number: int) -> None:
        try:
            entry = await self._client.run(lambda engine: engine.undo(number))
        except Exception:
            self.store.push_step(step)  # it may work later
            raise
        finally:
            self._end_writing()
        paths = [change.path for change in entry.changes]
        self._on_write(paths)
        settled = len(step.drafts) - len(self.store.drafts)
        self._take_back(step, describe_undone_write(paths, settled))

    def _take_back(self, step: ReviewStep, words: str) -> None:
        self.store.take_back(step)
        self._host.show_notice(words)
        self._save_and_check()

    # What the screen shows of one draft.

    def known(self, draft_id: str) -> tuple[KnownRow, ...]:
        return self.store.known(self.store.check(draft_id))

    def merged_text(self, draft_id: str, known: KnownRow) -> str:
        from kbx_tui.drafting.texts import merged_text

        if (check := self.store.check(draft_id)) is None:
            return ""
        facts = (
            match.written or match.known.text
            for match in check.matches
            if match.known.fact_id == known.fact_id
        )
        fact = next(facts, "")
        return merged_text(check.written or check.draft.text, fact) if fact else ""
