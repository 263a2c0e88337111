"""Leads through the tour: shows its steps beside the answer, and takes their keys."""

from __future__ import annotations

from kbx_tui.tui.commands.keymap import command_by_id
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.shell.frame_screen import ModeScreen
from kbx_tui.tui.shell.tour import ALPHA_STEP, Tour, TourBubble

ALPHA_MOVE = 0.05


class TourGuide:
    def __init__(self, screen: ModeScreen) -> None:
        self._screen, self._model = screen, screen.session.explore
        self._tour = Tour()
        self.is_wanted = False
        self.is_shown = False

    def start_if_wanted(self) -> None:
        if self.is_wanted:
            self.is_wanted = False
            self._screen.app_state.note_tour()
            self._tour.start()
            self.show()

    def end(self) -> None:
        self._tour.end()
        self.show()

    def take_key(self, key: str) -> bool:
        """Continue or end the tour if this is its key, which does what it always does as well.

        Return whether it does nothing else: esc in the query line, which keeps the focus.
        """
        if key == "escape":
            self.end()
            return isinstance(self._screen.focused, QueryLine)
        keymap = self._screen.app.keymap

        def keys_of(name: str) -> tuple[str, ...]:
            return keymap.keys(command_by_id(name))

        step = self._tour.step
        if step is not None and step.command == ALPHA_STEP and self._is_to_move:
            self._tour.wait(key, keys_of)
            self._screen.call_after_refresh(self.show)
        elif self._tour.take(key, keys_of):
            self._screen.call_after_refresh(self.show)
        return False

    def show(self) -> None:
        bubble, step = self._screen.query_one(TourBubble), self._tour.step
        watches = step is not None and step.command in (ALPHA_STEP, "undo")
        self._screen.set_class(watches, "-watching-rows")
        self.is_shown = step is not None
        if step is None:
            bubble.show("")
            return
        moves = self._row_that_moves
        if step.command == ALPHA_STEP:
            # once the list is as high as it is at this step
            self._screen.call_after_refresh(self._show_row_that_moves)
        row = "the bars" if moves is None else f"row {moves + 1}"
        bubble.show(self._tour.words(self._screen.app.keymap.key_of, row))

    @property
    def _row_that_moves(self) -> int | None:
        """The row that the next step of alpha moves up; None if it moves none."""
        paths = [result.path for result in self._screen.query_one(ResultList).rows]
        moved = self._model.paths_after_alpha_step(ALPHA_MOVE)
        pairs = zip(paths, moved, strict=False)
        path = next((after for before, after in pairs if before != after), "")
        return paths.index(path) if path in paths else None

    def _show_row_that_moves(self) -> None:
        """Put the cursor on that row if it is out of view, so that it stays in view as it moves."""
        results, row = self._screen.query_one(ResultList), self._row_that_moves
        if row is not None and row not in results.visible_rows():
            results.choose(row)

    @property
    def _is_to_move(self) -> bool:
        """Whether the next step of alpha moves no row, and a later one does."""
        view = self._model.displayed.view
        has_effect = view is not None and not view.alpha_note.startswith("alpha has no effect")
        return has_effect and self._model.state.alpha < 1.0 and self._row_that_moves is None
