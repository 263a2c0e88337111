"""Several bases searched together; entering a row opens its base with the same query."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.geometry import Size

from kbx_tui.formatting import format_count, format_score
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.shell.frame_screen import FrameScreen
from kbx_tui.tui.together.messages import AnswersMerged, BasesChanged, QueryRefused
from kbx_tui.tui.together.model import TogetherModel
from kbx_tui.tui.together.owned_list import BaseList, OwnedList
from kbx_tui.tui.together.view import TogetherView, count_words
from kbx_tui.tui.widgets.lines_view import EmptyState, titled_text
from kbx_tui.tui.widgets.ordered_input import OrderedInput
from kbx_tui.tui.widgets.status_line import StatusLine


class TogetherLine(OrderedInput):
    """The field for the query."""

    BINDINGS = bindings("together_line")

    def __init__(self) -> None:
        super().__init__(
            placeholder="search all bases: a person, a project, any words", compact=True
        )
        self.cursor_blink = False


class Together(FrameScreen):
    """One query line, the bases, and their results in one list."""

    BINDINGS = bindings("together", "mode")
    AUTO_FOCUS = "TogetherLine"
    MODE = "together"
    SCOPE = "together"
    MAIN_LIST = OwnedList
    FOCUS_SCOPES: ClassVar = {
        TogetherLine: ("together_line",),
        OwnedList: ("together_results", "list"),
        BaseList: ("together_bases", "list"),
    }

    def __init__(self, model: TogetherModel, navigator: Navigator) -> None:
        super().__init__(navigator)
        self.model = model
        self.view: TogetherView | None = None
        """The newest answer; None before the first and without a query."""

    def show_query(self, query: str) -> None:
        """Ask this query, with the focus on its results."""
        self.query_one(TogetherLine).value = query
        self.action_leave_field()

    @property
    def base_words(self) -> tuple[str, str]:
        return format_count(len(self.model.bases), "base"), "searched together"

    @property
    def root_in_hand(self) -> Path:
        """The root of the base whose modes the keys of modes open."""
        return self.model.root_of(self._name_in_hand)

    @property
    def _name_in_hand(self) -> str:
        bases = self.query_one(BaseList)
        result = self.query_one(OwnedList).current
        if result is not None and not bases.has_focus:
            return result.base
        return bases.current.name if bases.current is not None else self.model.bases[0].name

    def meanings(self) -> Iterable[tuple[str, str]]:
        match self.focused:
            case OwnedList() as results if (row := results.current) is not None:
                yield format_score(row.score), "how well it answers, 0 to 1, in every base alike."
                yield row.base, "the base that it is in."
                if row.is_known_item:
                    yield "=", "the query is its title, path or name, so it comes first."
            case BaseList() as bases if (base := bases.current) is not None:
                yield base.holds, "what it holds, or why it cannot be searched."
                if base.found:
                    yield (
                        base.found,
                        "how many documents match, and which entities were found first.",
                    )

    def compose_panes(self) -> ComposeResult:
        results = OwnedList()
        results.empty_state = self._before_a_query
        yield TogetherLine()
        yield BaseList()
        yield results

    def on_mount(self) -> None:
        self.model.post = self.post_message
        self.query_one(TogetherLine).border_title = "search"
        self.query_one(BaseList).border_title = "Bases"
        self.query_one(OwnedList).border_title = "Results"
        self._show_bases()

    def fit(self, size: Size) -> None:
        frame = 0 if self.has_class("-small") else 2
        self.query_one(BaseList).styles.height = len(self.model.bases) + frame

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self.call_after_refresh(self.model.start)

    def on_screen_suspend(self) -> None:
        self.model.rest()

    @property
    def _before_a_query(self) -> EmptyState:
        key = self.navigator.keymap.key_of("mode.together")
        return titled_text(
            "Type a query: all these bases are searched.",
            "Each result names its base. Enter reads it there, with the same query, and with the"
            f" reasons, sliders and entities of that base. {key} comes back to this list.",
        )

    # What has arrived.

    def on_bases_changed(self, message: BasesChanged) -> None:
        self._show_bases()

    def on_answers_merged(self, message: AnswersMerged) -> None:
        view, results = message.view, self.query_one(OwnedList)
        if view.query != self.model.query:
            return
        is_new = self.view is None or self.view.query != view.query
        self.view = view
        self.query_one(StatusLine).clear_error()
        self.query_one(StatusLine).show_note("; ".join(view.notes))
        results.border_title = count_words(view)
        results.empty_state = titled_text(
            f"Nothing found for “{view.query}”." if view.is_complete else "Searching …"
        )
        results.show(view.rows, is_new=is_new)

    def on_query_refused(self, message: QueryRefused) -> None:
        self.query_one(StatusLine).show_error(message.reason)

    @on(TogetherLine.Changed)
    def change_query(self, event: TogetherLine.Changed) -> None:
        query = event.value.strip()
        self.model.ask(query)
        if not query:
            self.view = None
            results = self.query_one(OwnedList)
            results.border_title, results.empty_state = "Results", self._before_a_query
            results.show((), is_new=True)
            self.query_one(StatusLine).show_note("")

    @on(OwnedList.Opened)
    def open_result(self, event: OwnedList.Opened) -> None:
        self._open(event.row.base, event.row.path)

    @on(BaseList.Opened)
    def open_one(self, event: BaseList.Opened) -> None:
        self._open(event.name)

    def _open(self, name: str, path: str = "") -> None:
        root = self.model.root_of(name)
        self.app.call_later(self.navigator.open_alone, root, self.model.query, path)

    def _show_bases(self) -> None:
        self.query_one(BaseList).show(self.model.rows)

    # Actions.

    def action_focus_query(self) -> None:
        self.set_focus(self.query_one(TogetherLine))

    def action_next_pane(self, step: int) -> None:
        self.focus_next() if step > 0 else self.focus_previous()

    def action_refresh(self) -> None:
        """Index what has changed in any base."""
        self.model.start()
        self.show_notice("indexing what has changed")
