"""One query under two settings: A, which is pinned, and B, the current ones, which change live."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.content import Content

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.comparing.compare_judge import CompareJudge
from kbx_tui.tui.comparing.lost_and_gained import LostAndGained
from kbx_tui.tui.comparing.messages import Compared
from kbx_tui.tui.comparing.model import CompareModel
from kbx_tui.tui.comparing.settings_line import SettingsLine
from kbx_tui.tui.comparing.side_by_side import SideBySide
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.search_state import MODES, PRESETS
from kbx_tui.tui.judging.judging_screen import JudgingScreen
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.widgets.lines_view import titled_text
from kbx_tui.tui.widgets.number_slider import NumberSlider
from kbx_tui.tui.widgets.status_line import StatusLine


class Compare(JudgingScreen):
    """The compare mode. What it changes is the search of the explore mode."""

    BINDINGS = bindings("compare", "judging", "mode")
    AUTO_FOCUS = "SideBySide"
    MODE = "compare"
    SCOPE = "compare"
    SHARED_SCOPES = ("judging",)
    MAIN_LIST = SideBySide
    FOCUS_SCOPES: ClassVar = {
        SideBySide: ("side_by_side", "list"),
        LostAndGained: ("text",),
        NumberSlider: ("slider",),
    }

    def __init__(self, session: BaseSession, app_state: AppState, navigator: Navigator) -> None:
        super().__init__(session, app_state, navigator)
        self.judge = CompareJudge(self, session)
        self.model = CompareModel(session.client, session.explore, session.judging)

    def compose_panes(self) -> ComposeResult:
        changes = LostAndGained()
        changes.border_title = "Lost and gained"
        yield SettingsLine()
        yield SideBySide()
        yield changes
        yield Knobs()

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self.session.explore.on_ranking = self.model.update
        self.query_one(Knobs).show(self.session.explore.state)
        self.model.update()

    def on_unmount(self) -> None:
        self.session.explore.on_ranking = lambda: None

    def on_compared(self, message: Compared) -> None:
        view, rows = message.view, self.query_one(SideBySide)
        self.query_one(StatusLine).clear_error()
        self.query_one(SettingsLine).show(view)
        self.query_one(LostAndGained).show(view)
        self._show_knobs()
        if view is None:
            rows.show_empty(
                titled_text(
                    "Nothing to compare yet.",
                    "Go back to explore and type a query. Here you see its first results under the"
                    " settings A and under the current ones.",
                )
            )
        else:
            rows.border_title = Content(f"“{safe_line(view.query)}”")
            rows.show(view.rows)
            self._show_pair()
            self.judge.show(self.navigator.keymap)

    def on_measure_changed(self) -> None:
        self.model.update()  # perhaps A is another

    def _show_knobs(self) -> None:
        explore, knobs = self.session.explore, self.query_one(Knobs)
        knobs.show(explore.state)
        if explore.displayed.view is not None:
            knobs.annotate(explore.displayed.view)

    @on(NumberSlider.Changed, "#alpha")
    def change_alpha(self, event: NumberSlider.Changed) -> None:
        self.session.explore.update(alpha=event.value)

    @on(NumberSlider.Changed, "#threshold")
    def change_threshold(self, event: NumberSlider.Changed) -> None:
        self.session.explore.update(threshold=event.value)

    @on(SideBySide.Opened)
    def read_result(self, event: SideBySide.Opened) -> None:
        self.app.call_later(self.navigator.read, event.result.path)

    @on(SideBySide.Highlighted)
    def _show_pair(self) -> None:
        """Show why the marked result is before or behind the one under the cursor."""
        rows = self.query_one(SideBySide)
        other = rows.result.path if rows.result is not None else ""
        pair = self.model.explain_pair(rows.marked, other)
        self.query_one(LostAndGained).show_pair(pair)

    def action_mark(self) -> None:
        """Mark the result under the cursor, or no result if it is marked."""
        rows = self.query_one(SideBySide)
        if rows.result is None:
            self.show_notice("no result is chosen: go to one first")
            return
        is_marked = rows.result.path == rows.marked
        rows.mark("" if is_marked else rows.result.path)
        self._show_pair()
        if not is_marked:
            self.show_notice(f"“{rows.result.title}” is marked: go to another result")

    def action_alpha(self, steps: int) -> None:
        self.query_one(Knobs).alpha.action_move(steps)

    def action_threshold(self, steps: int) -> None:
        self.query_one(Knobs).threshold.action_move(steps)

    def action_next_mode(self) -> None:
        mode = self.session.explore.state.mode
        self.session.explore.update(mode=MODES[(MODES.index(mode) + 1) % len(MODES)])

    def action_next_preset(self) -> None:
        preset = self.session.explore.state.preset
        self.session.explore.update(preset=PRESETS[(PRESETS.index(preset) + 1) % len(PRESETS)])

    def action_undo(self) -> None:
        self.session.explore.undo()
        self._show_knobs()

    def action_back(self) -> None:
        """Remove the mark; go back to the results, then to explore, whose search is compared."""
        rows = self.query_one(SideBySide)
        if rows.marked and rows.has_focus:
            rows.mark("")
            self._show_pair()
        elif rows.has_focus:
            self.app.call_later(self.navigator.go_to, "explore")
        else:
            super().action_back()

    def action_next_pane(self, step: int) -> None:
        self.focus_next() if step > 0 else self.focus_previous()
