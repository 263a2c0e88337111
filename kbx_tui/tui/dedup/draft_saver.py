"""Keeping drafts in the base: read once, saved after every change, also when the app ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbx_tui.editing.state.drafts import Draft
from kbx_tui.tui.engine.engine_answers import EngineAnswers

if TYPE_CHECKING:
    from kbx_tui.drafting.threshold_metrics import LabelledScore

Loaded = tuple[Sequence[Draft], "Sequence[LabelledScore]"]


class DraftKeeper:
    """What a scan found is not kept: it stands in the base already."""

    def __init__(self, answers: EngineAnswers) -> None:
        self._answers = answers
        self.loaded = False
        """Whether the drafts of the base have come."""
        self._loading = False
        self._unsaved: tuple[Draft, ...] | None = None

    def load(self, then: Callable[[Loaded], object]) -> None:
        """Read drafts and labels; `then` hears them, once."""
        if self._loading:
            return
        self._loading = True

        def take(found: Loaded) -> None:
            self.loaded, self._loading = True, False
            then(found)

        self._answers.ask(
            lambda engine: (engine.drafts(), engine.labelled()), take, failed=self._give_up
        )

    def keep(self, drafts: Sequence[Draft]) -> None:
        """Save these drafts when the engine comes to it."""
        self._unsaved = tuple(draft for draft in drafts if draft.stands_for is None)
        self._answers.ask(lambda engine: self.save(), lambda done: None)

    def save(self) -> None:
        """Save what is not saved yet; on the engine's thread, and the last thing it does."""
        drafts = self._unsaved
        if drafts is not None:
            self._answers.opened().save_drafts(drafts)
            if self._unsaved is drafts:
                self._unsaved = None

    def _give_up(self) -> None:
        self._loading = False
