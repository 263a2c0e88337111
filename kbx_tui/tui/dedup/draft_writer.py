"""Writing what was decided about drafts, and taking it back: one at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.editing.state.drafts import Draft
from kbx_tui.formatting import count_words
from kbx_tui.safe_text import visible
from kbx_tui.tui.dedup.draft_store import Drafted
from kbx_tui.tui.dedup.review_steps import Applied, Changed
from kbx_tui.tui.dedup.view import applied_words
from kbx_tui.tui.engine.engine import Engine
from kbx_tui.tui.engine.engine_answers import EngineAnswers
from kbx_tui.tui.messages import Noticed, Writing

if TYPE_CHECKING:
    from kbx_tui.drafting.plans import Applied as AppliedPlan
    from kbx_tui.drafting.plans import Plan
    from kbx_tui.editing.journal import JournalEntry


class DraftWriter:
    """Writes on the engine's thread; while that goes on nothing else is written or taken back."""

    def __init__(
        self,
        answers: EngineAnswers,
        drafted: Drafted,
        post: Callable[[Message], object],
        *,
        wrote: Callable[[Iterable[str]], object],
        changed: Callable[[], object],
    ) -> None:
        """`wrote` hears which files were written, `changed` that the drafts are others now."""
        self._answers, self._drafted, self._post = answers, drafted, post
        self._wrote, self._changed = wrote, changed
        self.is_writing = False

    def apply(self, settled: Sequence[Draft]) -> None:
        """Write these drafts as they are decided, as one entry of the journal."""
        if self.is_writing or not settled:
            nothing = "nothing is decided: c creates, m merges, u supersedes, x skips"
            self._post(Noticed("still writing" if self.is_writing else nothing))
            return
        self.is_writing, before = True, self._drafted.drafts

        def write(engine: Engine) -> tuple[Plan, AppliedPlan]:
            plan = engine.plan(settled)
            return plan, engine.apply(plan, self._progress)

        self._answers.ask(write, partial(self._take_applied, before), failed=self._stop)

    def make_page(self, draft_id: str) -> None:
        """Make the page of a draft's entity, or of a person nobody knows yet."""
        check = self._drafted.check(draft_id)
        entity = check.entity if check is not None else None
        name, kind = self._drafted.draft(draft_id).entity_name, "person"
        if entity is not None and entity.path:
            self._post(Noticed("its entity has a page"))
            return
        if entity is not None:
            name, kind = entity.name, entity.type
        if name:
            self._answers.ask(lambda engine: engine.create_page(name, kind).path, self._take_page)
        else:
            self._post(Noticed("say whose it is first: e"))

    def undo(self) -> None:
        """Take back the last change, or all that was written last."""
        step = None if self.is_writing else self._drafted.last_step()
        if step is None:
            self._post(Noticed("still writing" if self.is_writing else "nothing to take back"))
        elif isinstance(step, Applied) and step.entry is not None:
            entry, self.is_writing = step.entry, True
            self._answers.ask(
                lambda engine: engine.undo(entry),
                partial(self._take_undone, step),
                failed=partial(self._keep_step, step),
            )
        else:
            self._take_back(step)

    def _progress(self, done: int, files: int) -> None:
        words = f"writing {done} of {count_words(files, 'file')}"
        self._answers.tell(self._post, Writing(words))

    def _take_applied(self, before: tuple[Draft, ...], written: tuple[Plan, AppliedPlan]) -> None:
        plan, applied = written
        self._wrote(applied.paths)
        self._stop()
        self._drafted.settle(before, applied.entry, applied.done)
        words = applied_words(applied, (*plan.problems, *applied.failed))
        self._post(Noticed(words + ("; z takes it back" if applied.entry is not None else "")))
        self._changed()

    def _stop(self) -> None:
        self.is_writing = False
        self._post(Writing(""))

    def _keep_step(self, step: Applied) -> None:
        """What could not be taken back now still can be, later."""
        self._drafted.put_back(step)
        self._stop()

    def _take_undone(self, step: Applied, entry: JournalEntry) -> None:
        self._stop()
        self._wrote(change.path for change in entry.changes)
        self._take_back(step)

    def _take_back(self, step: Applied | Changed) -> None:
        self._drafted.take_back(step)
        what = "all that was written last is" if isinstance(step, Applied) else "the last change is"
        self._post(Noticed(f"{what} taken back"))
        self._changed()

    def _take_page(self, path: str) -> None:
        self._post(Noticed(f"made {visible(path)}"))
        self._changed()
