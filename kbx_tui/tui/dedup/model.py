"""Reviewing drafts: what is known like them, what becomes of them, and how that is taken back.

Beside the controller, with the same thread for the engine. Checking and writing are calls on that
thread; deciding is pure, so a threshold is judged on the event loop and searches nothing. Every
check asked for replaces the one before: an answer that comes late is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.editing.state.drafts import Choice, Draft, drafts_from_text, new_draft
from kbx_tui.formatting import count_words
from kbx_tui.knowledge.facts.draft_file_completion import complete_file
from kbx_tui.safe_text import visible
from kbx_tui.tui.dedup.draft_saver import DraftKeeper, Loaded
from kbx_tui.tui.dedup.draft_store import Drafted
from kbx_tui.tui.dedup.draft_writer import DraftWriter
from kbx_tui.tui.dedup.known_rows import KnownRow
from kbx_tui.tui.dedup.review_labels import Labels
from kbx_tui.tui.dedup.view import ReviewView, plan_lines
from kbx_tui.tui.engine.engine import Engine
from kbx_tui.tui.engine.engine_answers import EngineAnswers
from kbx_tui.tui.engine.engine_calls import EngineCalls
from kbx_tui.tui.engine.threads import EngineThread, Loop
from kbx_tui.tui.messages import Noticed, PlanShown, Reviewed, Typed

if TYPE_CHECKING:
    from kbx_tui.drafting.checks import DraftCheck
    from kbx_tui.drafting.threshold_metrics import LabelledScore


class Reviewing:
    """The drafts of one base, and all that is done with them."""

    def __init__(
        self,
        loop: Loop,
        thread: EngineThread,
        calls: EngineCalls,
        post: Callable[[Message], object],
        wrote: Callable[[Iterable[str]], object],
    ) -> None:
        """`wrote` hears which files were written here."""
        self._post, self._thread = post, thread
        self._answers = EngineAnswers(loop, thread, calls)
        self.keeper = DraftKeeper(self._answers)
        self.drafted = Drafted()
        self.writer = DraftWriter(
            self._answers, self.drafted, post, wrote=wrote, changed=self._changed
        )
        self._labels = Labels()
        self._wanted = self._planned = self._typing = 0
        """Which check, plan and typed text were asked for last."""
        self._checking = False

    @property
    def is_checking(self) -> bool:
        """Whether drafts are being looked up."""
        return self._checking

    # What the screen asks for, on the event loop.

    def open(self) -> None:
        """Show the drafts; the first time, those kept in the base."""
        if self.keeper.loaded:
            self._tell()
        else:
            self.keeper.load(self._take_loaded)

    def again(self) -> None:
        """Files changed: what is known may be another thing now."""
        if self.keeper.loaded and self.drafted.drafts and not self.writer.is_writing:
            self._check()

    def type(self, text: str) -> None:
        """Check what is being typed, which is no draft yet; empty text forgets it."""
        self._typing += 1
        typing, draft = self._typing, new_draft(text.strip())
        if draft.text:
            self._answers.ask(
                lambda engine: engine.check_drafts([draft])[0],
                lambda check: self._post(Typed(self.drafted.known(self._answers.engine, check))),
                due=lambda: typing == self._typing,
            )
        else:
            self._post(Typed(()))

    def add(self, text: str) -> None:
        """Add a draft for every line of `text`. Raises ConfigError for JSON that is no draft."""
        self._add(drafts_from_text(text))

    def add_line(self, text: str) -> None:
        """Add one draft that was typed: a heading or JSON is text there."""
        plain = text.strip().startswith(("#", "{"))
        self._add((new_draft(text.strip()),) if plain else drafts_from_text(text))

    def load(self, file: str) -> None:
        """Add the drafts of a file."""

        def take(drafts: Sequence[Draft]) -> None:
            self._add(drafts)
            name = visible(Path(file).name)
            self._post(Noticed(f"{count_words(len(drafts), 'draft')} loaded from {name}"))

        self._answers.ask(lambda engine: engine.drafts_in(file), take)

    async def complete_file(self, text: str) -> tuple[str, ...]:
        """Return names of files that continue what is typed, folders first."""
        return await self._thread.ask(self._files, text)

    def scan(self) -> None:
        """Add what the base says more than once, to be joined."""
        self._post(Noticed("looking for what the base says more than once …"))
        self._answers.ask(lambda engine: engine.scan_drafts(), self._take_scan)

    def rewrite(self, draft_id: str, text: str) -> None:
        """Give a draft another text; what was decided about the old one is open again."""
        self.drafted.replace(draft_id, text=text.strip(), choice=None)
        self._changed()

    def assign(self, draft_id: str, entity_id: str) -> None:
        """Say whose a draft is."""
        self.drafted.replace(draft_id, entity_id=entity_id, is_guessed=False, choice=None)
        self._changed()

    def turn_kind(self, draft_id: str) -> None:
        """Make an open item of a fact, and a fact of an open item."""
        kind = "open_item" if self.drafted.draft(draft_id).kind == "fact" else "fact"
        self.drafted.replace(draft_id, kind=kind, choice=None)
        self._changed()

    def choose(self, draft_id: str, choice: Choice | None) -> None:
        """Decide about a draft, or no longer."""
        self.drafted.replace(draft_id, choice=choice)
        self.keeper.keep(self.drafted.drafts)
        self._tell()

    def drop(self, draft_id: str) -> None:
        """Take a draft off the list, unwritten."""
        self.drafted.change(draft for draft in self.drafted.drafts if draft.id != draft_id)
        self._changed()  # others may have been repetitions of it

    def retune(self, threshold: float) -> None:
        """Judge all drafts anew under another threshold."""
        self.drafted.retune(threshold)
        self._tell()

    def label(self, draft_id: str, known: KnownRow, *, same: bool) -> None:
        """Keep whether two texts say the same."""
        check = self.drafted.check(draft_id)
        if check is None:
            return
        text = check.text

        def keep(engine: Engine) -> Sequence[LabelledScore]:
            engine.label(text, known.text, same)
            return engine.labelled()

        self._answers.ask(keep, self._take_labels)

    def preview(self, draft_id: str) -> None:
        """Tell what would be written for one draft, decided or proposed."""
        self._planned += 1
        planned = self._planned
        settled = self.drafted.settled(self._answers.engine, unsure=True)
        one = [draft for draft in settled if draft.id == draft_id]
        self._answers.ask(
            lambda engine: plan_lines(engine.plan(one)),
            lambda lines: self._post(PlanShown(lines)),
            due=lambda: planned == self._planned,
        )

    def apply(self) -> None:
        """Write what is decided, and what nobody has to decide."""
        settled = self.drafted.settled(self._answers.engine)  # those whose check has come
        if self._checking and not settled:
            self._post(Noticed("still checking: a moment"))
        else:
            self.writer.apply(settled)

    def make_page(self, draft_id: str) -> None:
        """Make the page of a draft's entity, which has none."""
        self.writer.make_page(draft_id)

    def undo(self) -> None:
        """Take back the last change, or all that was written last."""
        self.writer.undo()

    # What the screen shows.

    def known(self, draft_id: str) -> tuple[KnownRow, ...]:
        """Return what is like a draft, best first."""
        return self.drafted.known(self._answers.engine, self.drafted.check(draft_id))

    def merged_text(self, draft_id: str, known: KnownRow) -> str:
        """Return a text that says what a draft and a fact say, to be edited."""
        check, engine = self.drafted.check(draft_id), self._answers.engine
        if check is None or engine is None:
            return ""
        matches = [one for one in check.matches if one.known.fact_id == known.fact_id]
        return engine.merged_text(check, matches[0]) if matches else ""

    # On the event loop, still.

    def _changed(self) -> None:
        self.keeper.keep(self.drafted.drafts)
        self._check()

    def _add(self, added: Sequence[Draft]) -> None:
        if added:
            self.drafted.change((*self.drafted.drafts, *added))
            self._changed()

    def _check(self) -> None:
        """Check all drafts: what one says may be a repetition of another."""
        self._wanted += 1
        wanted, drafts = self._wanted, self.drafted.forget_stale()
        self._checking = bool(drafts)
        if drafts:
            self._answers.ask(
                lambda engine: engine.check_drafts(drafts),
                self._take_checks,
                due=lambda: wanted == self._wanted,
                failed=self._stop_checking,
            )
        self._tell()

    def _tell(self) -> None:
        engine = self._answers.engine
        shown, note = self._labels.words(engine, self.drafted.threshold)
        rows, scores = self.drafted.rows(engine), self.drafted.best_scores()
        self._post(Reviewed(ReviewView(rows, self._checking, shown, note, scores)))

    # On the engine's thread.

    def _files(self, text: str) -> tuple[str, ...]:
        return complete_file(text, self._answers.opened().root)

    # What the engine answered.

    def _take_checks(self, checks: Sequence[DraftCheck]) -> None:
        self._checking = False
        self.drafted.take_checks(checks)
        self._tell()

    def _stop_checking(self) -> None:
        self._checking = False
        self._tell()

    def _take_loaded(self, loaded: Loaded) -> None:
        kept, self._labels.labelled = loaded
        here = {draft.id for draft in self.drafted.drafts}
        fresh = [one for one in kept if one.id not in here and one.stands_for is None]
        self.drafted.drafts = (*fresh, *self.drafted.drafts)
        self._check()

    def _take_scan(self, checks: Sequence[DraftCheck]) -> None:
        known = {draft.stands_for for draft in self.drafted.drafts}
        fresh = [check for check in checks if check.draft.stands_for not in known]
        if not fresh:
            self._post(Noticed("the base says nothing more than once"))
            return
        self._post(Noticed(f"{count_words(len(fresh), 'fact')} said more than once"))
        self.drafted.change((*self.drafted.drafts, *(check.draft for check in fresh)))
        self.drafted.take_checks(fresh)
        self.keeper.keep(self.drafted.drafts)
        self._tell()

    def _take_labels(self, labelled: Sequence[LabelledScore]) -> None:
        self._labels.labelled = labelled
        self._post(Noticed(self._labels.kept_words()))
        self._tell()
