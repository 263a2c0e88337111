"""The review of drafts: checking, deciding, writing and undoing.

Checking and writing are engine calls. Deciding is pure: moving the threshold searches nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.drafting.drafts import Choice, Draft, complete_file, drafts_from_text, new_draft
from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.dedup.draft_store import DraftStore
from kbx_tui.tui.dedup.draft_writer import DraftSaver, DraftWriter
from kbx_tui.tui.dedup.rows import (
    DraftPlanned,
    DraftsLoaded,
    KnownRow,
    ReviewChanged,
    ReviewProgress,
    ReviewView,
    ScanEnded,
    TypedTextChecked,
    plan_lines,
)
from kbx_tui.tui.dedup.words import describe_saved, describe_threshold
from kbx_tui.tui.engine.client import EngineClient, KeyedStatus, LatestOnly

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.decided_pairs import LabelledScore
    from kbx_tui.drafting.records import DraftCheck

TYPING_PAUSE = 0.15
"""Seconds without a key before the text being typed is checked."""


class ReviewModel:
    """The drafts of one base. It outlives the screen."""

    def __init__(
        self,
        client: EngineClient,
        status: KeyedStatus,
        *,
        on_write: Callable[[Iterable[str]], object],
    ) -> None:
        """`on_write` receives the files written here."""
        self._client, self._status = client, status
        self.post: Callable[[Message], object] = lambda message: None
        """Takes messages to the screen; set by the screen."""
        self.store = DraftStore()
        self.saver = DraftSaver(client, self.store)
        self.writer = DraftWriter(
            client,
            self.store,
            status,
            post=lambda message: self.post(message),
            on_write=on_write,
            on_change=self._save_and_check,
        )
        self._labels: Sequence[LabelledScore] = ()
        self._checks, self._plans = LatestOnly(client), LatestOnly(client)
        self._typed_checks, self._loading = LatestOnly(client), LatestOnly(client)
        self.is_checking = False
        """Whether drafts are being checked."""

    @property
    def count(self) -> int:
        """The number of drafts not written yet."""
        return len(self.store.drafts) if self.saver.is_loaded else self.saver.stored

    async def count_stored(self) -> None:
        """Count the drafts stored in the base, which are read only when they are shown."""
        await self.saver.count()

    # Drafts come and go.

    def open(self) -> None:
        """Show the drafts; the first time, read those stored in the base."""
        if self.saver.is_loaded:
            self._show()
        elif not self._loading.is_running:
            self._loading.start(self._load())

    def add(self, text: str) -> None:
        """Add a draft for every line of `text`. Raises ConfigError for JSON that is not a draft."""
        self._add(drafts_from_text(text))

    def add_line(self, text: str) -> None:
        """Add one draft that was typed; what looks like a heading or JSON is its text."""
        is_plain = text.strip().startswith(("#", "{"))
        self._add((new_draft(text.strip()),) if is_plain else drafts_from_text(text))

    def load(self, file: str) -> None:
        """Add the drafts of a file."""
        self._client.start(self._load_file(file))

    async def complete_file(self, text: str) -> tuple[str, ...]:
        """Return names of files that continue `text`, folders first."""
        return await self._client.run(lambda engine: complete_file(text, engine.root))

    def scan(self, *, kept: bool = False) -> None:
        """Add the facts that the base states more than once, or those of them that are kept."""
        self.post(ReviewProgress("looking for facts the base states more than once …"))
        self._client.start(self._scan(kept))

    def drop(self, draft_id: str) -> None:
        """Remove a draft without writing it."""
        self.store.change(draft for draft in self.store.drafts if draft.id != draft_id)
        self._save_and_check()  # other drafts may have repeated it

    # Changing and deciding.

    def rewrite(self, draft_id: str, text: str) -> None:
        """Change the text of a draft; the decision on the old text is dropped."""
        self.store.replace(draft_id, text=text.strip(), choice=None)
        self._save_and_check()

    def assign(self, draft_id: str, entity_id: str) -> None:
        """Set the entity of a draft."""
        self.store.replace(draft_id, entity_id=entity_id, is_guessed=False, choice=None)
        self._save_and_check()

    def toggle_kind(self, draft_id: str) -> None:
        """Turn a fact into an open item, and an open item into a fact."""
        if (draft := self.store.draft(draft_id)) is not None:
            kind = "open_item" if draft.kind == "fact" else "fact"
            self.store.replace(draft_id, kind=kind, choice=None)
            self._save_and_check()

    def choose(self, draft_id: str, choice: Choice | None) -> None:
        """Decide about a draft; None withdraws the decision."""
        self.store.replace(draft_id, choice=choice)
        self.saver.save_soon()
        self._show()

    def move_threshold(self, threshold: float) -> None:
        """Decide about all drafts again, under another threshold."""
        self.store.move_threshold(threshold)
        self._show()

    def label(self, draft_id: str, known: KnownRow, *, same: bool) -> None:
        """Save whether two texts state the same."""
        check = self.store.check(draft_id)
        if check is not None:
            self._client.start(self._label(check.text, known.text, same))

    # Checking.

    def check_again(self) -> None:
        """Check all drafts again: files changed, so other facts may be known."""
        if self.saver.is_loaded and self.store.drafts and not self.writer.is_writing:
            self._check()

    def check_typed(self, text: str) -> None:
        """Check the text being typed, after a pause in typing."""
        self._typed_checks.start(self._check_typed(new_draft(text.strip())))

    # Writing.

    def plan(self, draft_id: str) -> None:
        """Show what would be written for one draft, as decided or proposed."""
        settled = self.store.settled(self._client.engine, unsure=True)
        self._plans.start(self._plan([draft for draft in settled if draft.id == draft_id]))

    def apply(self) -> None:
        """Write what is decided, and what needs no decision."""
        settled = self.store.settled(self._client.engine)  # only drafts already checked
        if self.is_checking and not settled:
            self._status.show_notice("still checking: a moment")
        else:
            self.writer.apply(settled)

    # What the screen shows.

    def known(self, draft_id: str) -> tuple[KnownRow, ...]:
        """Return the facts and drafts that resemble a draft, best first."""
        return self.store.known(self._client.engine, self.store.check(draft_id))

    def merged_text(self, draft_id: str, known: KnownRow) -> str:
        """Return a first version of the text that merges a draft and a fact."""
        from kbx_tui.drafting.deciding import merged_text  # needs numpy

        check = self.store.check(draft_id)
        for match in check.matches if check else ():
            if check and match.known.fact_id == known.fact_id:
                text = check.written or check.draft.text
                return merged_text(text, match.written or match.known.text)
        return ""

    def _view(self) -> ReviewView:
        engine = self._client.engine
        threshold, note = describe_threshold(engine, self._labels, self.store.threshold)
        rows, scores = self.store.rows(engine), self.store.best_scores()
        return ReviewView(rows, self.is_checking, threshold, note, scores)

    def _show(self) -> None:
        self.post(ReviewChanged(self._view()))

    # Requests.

    def _save_and_check(self) -> None:
        self.saver.save_soon()
        self._check()

    def _add(self, drafts: Sequence[Draft]) -> None:
        if drafts:
            self.store.change((*self.store.drafts, *drafts))
            self._save_and_check()

    def _check(self) -> None:
        """Check all drafts: any of them may repeat another."""
        drafts = self.store.drop_outdated_checks()
        self.is_checking = bool(drafts)
        if drafts:
            self._checks.start(self._run_check(drafts))
        else:
            self._checks.cancel()
        self._show()

    async def _run_check(self, drafts: list[Draft]) -> None:
        try:
            checks = await self._client.run(lambda engine: engine.drafts.check(drafts))
        except Exception:
            self.is_checking = False
            self._show()
            raise
        self.is_checking = False
        self.store.add_checks(checks)
        self._show()

    async def _check_typed(self, draft: Draft) -> None:
        await asyncio.sleep(TYPING_PAUSE)
        known: tuple[KnownRow, ...] = ()
        if draft.text:
            checks = await self._client.run(lambda engine: engine.drafts.check([draft]))
            known = self.store.known(self._client.engine, checks[0])
        self.post(TypedTextChecked(known))

    async def _load(self) -> None:
        drafts, self._labels = await self.saver.load()
        present = {draft.id for draft in self.store.drafts}
        loaded = [draft for draft in drafts if draft.id not in present and draft.stands_for is None]
        self.store.drafts = (*loaded, *self.store.drafts)
        self._check()

    async def _load_file(self, file: str) -> None:
        drafts = await self._client.run(lambda engine: engine.drafts.in_file(file))
        self._add(drafts)
        self.post(DraftsLoaded())
        name = safe_line(Path(file).name)
        self._status.show_notice(f"{format_count(len(drafts), 'draft')} loaded from {name}")

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
            self.saver.save_soon()
            self._show()
        ids = tuple(check.draft.id for check in added)
        self.post(ScanEnded(self._view(), len(checks), ids, kept, has_kept))

    async def _label(self, left: str, right: str, same: bool) -> None:
        def save(engine: KnowledgeBase) -> Sequence[LabelledScore]:
            engine.drafts.label(left, right, same)
            return engine.drafts.labelled()

        self._labels = await self._client.run(save)
        self._status.show_notice(describe_saved(len(self._labels)))
        self._show()

    async def _plan(self, drafts: list[Draft]) -> None:
        lines = await self._client.run(lambda engine: plan_lines(engine.drafts.plan(drafts)))
        self.post(DraftPlanned(lines))
