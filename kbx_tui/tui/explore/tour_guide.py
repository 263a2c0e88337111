"""The tour on the explore screen: its bubble, and the keys it waits for."""

from __future__ import annotations

from collections.abc import Callable

from textual.screen import Screen

from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.commands.keymap import Keymap, command_by_id
from kbx_tui.tui.explore.answer_display import AnswerDisplay
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.shell.tour import ALPHA_STEP, Tour, TourBubble


class TourGuide:
    """Shows the steps of the tour, one after the other."""

    def __init__(
        self,
        screen: Screen[None],
        model: ExploreModel,
        answer: AnswerDisplay,
        app_state: AppState,
        keymap: Callable[[], Keymap],
    ) -> None:
        """`keymap` returns the current keys."""
        self._screen, self._model, self._answer = screen, model, answer
        self._app_state, self._keymap = app_state, keymap
        self._tour = Tour()
        self.is_wanted = False
        """Whether the tour starts as soon as the base can be searched."""

    def start_if_wanted(self) -> None:
        """Start the tour, the first time that there is something to search."""
        if self.is_wanted:
            self.is_wanted = False
            self._app_state.note_tour()
            self._tour.start()
            self.show()

    def end(self) -> None:
        """Leave the tour."""
        self._tour.end()
        self.show()

    def take_key(self, key: str) -> bool:
        """Continue or end the tour if this is its key, which does what it always does as well.

        Return whether it does nothing else: esc in the query line, which keeps the focus.
        """
        if self._tour.step is None:
            return False
        if key == "escape":
            self.end()
            return isinstance(self._screen.focused, QueryLine)
        keymap = self._keymap()

        def keys_of(name: str) -> tuple[str, ...]:
            return keymap.keys(command_by_id(name))

        if self._tour.step.command == ALPHA_STEP and self._is_to_move:
            self._tour.wait(key, keys_of)
            self._screen.call_after_refresh(self.show)
        elif self._tour.take(key, keys_of):
            self._screen.call_after_refresh(self.show)
        return False

    @property
    def _is_to_move(self) -> bool:
        """Whether the next step of alpha moves no row, and a later one does."""
        view = self._answer.view
        has_effect = view is not None and not view.alpha_note.startswith("alpha has no effect")
        return has_effect and self._model.state.alpha < 1.0 and not self._answer.row_that_moves()

    def show(self) -> None:
        """Show the current step; its words depend on the answer."""
        bubble, step = self._screen.query_one(TourBubble), self._tour.step
        watches = step is not None and step.command in (ALPHA_STEP, "undo")
        self._screen.set_class(watches, "-watching-rows")
        if step is None:
            bubble.show("")
        else:
            row = self._answer.row_that_moves() or "the bars"
            if step.command == ALPHA_STEP:
                # once the list is as high as it is at this step
                self._screen.call_after_refresh(self._answer.show_row_that_moves)
            bubble.show(self._tour.words(self._keymap().key_of, row))
