"""What the keys of the explore screen do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widget import Widget

from kbx_tui.safe_text import visible
from kbx_tui.tui.commands.registry import Scope
from kbx_tui.tui.explore import clipboard_text
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.knobs import Knobs
from kbx_tui.tui.explore.panes.pane_layout import Pane, Panes
from kbx_tui.tui.explore.panes.path_field import PathField, PathLine
from kbx_tui.tui.explore.panes.query_line import QueryLine
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.explore.search_state import MODES, command_line
from kbx_tui.tui.explore.view import BaseSummary, ExploreView
from kbx_tui.tui.reading.history import Trail
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.mode_screen import ModeScreen

if TYPE_CHECKING:
    from kbx_tui.tui.app_state import Memory
    from kbx_tui.tui.controller import Controller


class ExploreActions(ModeScreen):
    """The explore screen as keys move it: its `action_` methods, how one gets to read something."""

    _wants_focus = False
    """Whether what is read next gets the focus when it comes."""
    _came_from: Pane = "results"
    """Where one goes when nothing is read any more."""
    _replaces = False
    """Whether what is read next takes the place of what is read now."""

    def __init__(self, controller: Controller, memory: Memory) -> None:
        super().__init__(controller, memory)
        self.summary: BaseSummary | None = None
        self.view: ExploreView | None = None
        """What is shown; None before the first answer and when nothing is typed."""
        self.trail = Trail()
        self.remembers_knobs = False
        """Whether alpha and threshold are kept for the next time."""

    @property
    def panes(self) -> Panes:
        """The panes."""
        return self.query_one(Panes)

    @property
    def palette_scopes(self) -> tuple[Scope, ...]:
        return ("screen", "mode")

    def leave_field(self) -> None:
        if isinstance(self.focused, QueryLine | PathLine):
            self.action_leave_field()

    @property
    def is_typing(self) -> bool:  # before the first frame nothing has the focus: one types then too
        return self.focused is None or isinstance(self.focused, QueryLine | PathLine)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Tab takes a completion where there is one: a screen hears keys first."""
        if action == "next_pane" and isinstance(self.focused, PathLine) and self.focused.completion:
            return parameters != (1,)
        return super().check_action(action, parameters)

    # Going somewhere.

    def action_leave_field(self) -> None:
        self._focus_pane("results")

    def action_focus_query(self) -> None:
        self.set_focus(self.query_one(QueryLine))

    def action_focus_path(self) -> None:
        self.query_one(PathField).add_class("-typing")  # or there is nothing yet to focus
        self.set_focus(self.query_one(PathLine))

    def action_focus_entities(self) -> None:
        self.panes.remove_class("-no-entities")
        self._remember_hidden()
        self._focus_pane("entities")

    def action_next_pane(self, step: int) -> None:
        pane = self.panes.name_of(self.focused)
        if self.has_class("-small") and pane is not None:
            self._focus_pane(self.panes.beside(pane, step))
        elif step > 0:
            self.focus_next()
        else:
            self.focus_previous()

    def action_back(self) -> None:
        """Leave what is read for what was read before; at the end of that, the results."""
        self.controller.reading.forget()
        before = self.trail.back() if self.panes.read else None
        if before is None:
            self.trail.clear()
            self.panes.show_reader(None)
            self._focus_pane(self._came_from)
            self._came_from = "results"
        elif before.kind == "card":
            self.read_card(before.key, replace=True)
        else:
            self.read_document(before.key, focus=True, replace=True)

    def _focus_pane(self, pane: Pane) -> None:
        self.panes.show_pane(pane)
        self.set_focus(self.panes.pane(pane))  # at once: the next key may be here already

    # Reading.

    def read_document(self, path: str, *, focus: bool = False, replace: bool = False) -> None:
        """Read a document; its pane opens when the text has come."""
        self._wants_focus, self._replaces = focus, replace
        if focus:  # else it is only passed by
            self.controller.reading.note_opening(path)
        self.controller.reading.document(path, self._reader_width())

    def read_card(self, entity_id: str, *, replace: bool = False) -> None:
        """Show all that is known about an entity."""
        self._wants_focus, self._replaces = True, replace
        self.controller.reading.card(entity_id)

    def _reader_width(self) -> int:
        """Return how wide a document will be: before its pane is shown, about that wide."""
        known = self.query_one(PreviewPane).text_width
        return known or max(self.query_one(ResultList).size.width - 3, 20)

    def action_toggle_preview(self) -> None:
        if self.panes.read:
            self.controller.reading.forget()
            self.trail.clear()
            self.panes.show_reader(None)
            if not isinstance(self.focused, ResultList):
                self._focus_pane("results")
        elif (result := self.query_one(ResultList).current) is not None:
            self.read_document(result.path)

    # Knobs.

    def action_alpha(self, steps: int) -> None:
        self.query_one(Knobs).alpha.action_move(steps)

    def action_threshold(self, steps: int) -> None:
        self.query_one(Knobs).threshold.action_move(steps)

    def action_next_mode(self) -> None:
        controller = self.controller
        mode = MODES[(MODES.index(controller.asking.mode) + 1) % len(MODES)]
        controller.ask(mode=mode)
        self.notice(f"{mode} search: {MODE_HELP[mode]}")

    def action_next_sort(self) -> None:
        controller = self.controller
        sort = "date" if controller.asking.sort == "score" else "score"
        controller.ask(sort=sort)
        if self.view is None:
            self.notice(f"results are sorted by {sort} now")

    def action_undo(self) -> None:
        self.controller.undo()

    def action_add_entity(self) -> None:
        self._app.pick_entity(self._pin)

    def _pin(self, entity_id: str) -> None:
        controller = self.controller
        if not controller.asking.query:
            self.read_card(entity_id)
        else:
            controller.ask(pinned=controller.asking.pinned | {entity_id})

    def action_earlier_query(self) -> None:
        line, queries = self.query_one(QueryLine), self.memory.base.queries
        at = queries.index(line.value) + 1 if line.value in queries else 0
        if at < len(queries):
            line.show_query(queries[at])

    # The document at hand.

    def at_hand(self) -> tuple[str, int]:
        """Return path and line of the document a person is at; empty when at none."""
        focused = self.focused
        if isinstance(focused, PreviewPane):
            return focused.path, focused.current_line
        if isinstance(focused, EntityCard):
            return focused.current_path, 0
        if isinstance(focused, EntityList):
            return (focused.current.path if focused.current is not None else ""), 0
        result = self.query_one(ResultList).current
        if result is None:
            return "", 0
        snippet = self.controller.shown.snippets.get(result.path)
        return result.path, snippet.line_start if snippet is not None else 0

    async def action_edit(self) -> None:
        path, line = self.at_hand()
        if path and self.summary is not None:
            self.controller.reading.note_opening(path)
            await self._app.edit(self.summary.root, path, line)
            self.controller.upkeep.index(perhaps=[path])
        else:
            self.notice("no document is chosen: go to one first")

    def action_copy(self, what: clipboard_text.What) -> None:
        path, line = self.at_hand()
        if what == "command":
            root = self.summary.root if self.summary is not None else ""
            asking, defaults = self.controller.asking, self.controller.defaults
            text = command_line(asking, defaults, root) if asking.query else ""
        else:
            text = clipboard_text.text(
                what, path, line, self._titles(), self.controller.shown.snippets
            )
        if not text:
            words = "nothing to copy: type a query and go to a result first"
            if visible(path) != path:
                words = "the name of this file holds characters that act in a terminal: not copied"
            self.notice(words)
            return
        self._app.copy_to_clipboard(text)
        self.notice(f"copied {clipboard_text.NAMES[what]}: {text}")

    def _titles(self) -> dict[str, tuple[str, str]]:
        """Return title and date by path, of what is shown."""
        results = self.query_one(ResultList).results
        titles = {result.path: (result.title, result.date) for result in results}
        preview = self.query_one(PreviewPane).preview
        if preview is not None:
            titles[preview.path] = (preview.title, preview.date)
        return titles

    # The screen and the app.

    def action_toggle_why(self) -> None:
        if self.has_class("-small"):
            self._focus_pane("results" if self.panes.shown_pane == "why" else "why")
        else:
            self._toggle("why")

    def action_toggle_entities(self) -> None:
        if self.has_class("-wide"):
            self._toggle("entities")
        else:
            self._focus_pane("results" if self.panes.shown_pane == "entities" else "entities")

    def _toggle(self, pane: Pane) -> None:
        focused: Widget | None = self.focused
        self.panes.toggle_class(f"-no-{pane}")
        if self.panes.name_of(focused) in self._remember_hidden():
            self._focus_pane("results")

    def _remember_hidden(self) -> list[str]:
        hidden = [name for name in ("why", "entities") if self.panes.has_class(f"-no-{name}")]
        self.memory.base.hidden = hidden
        return hidden

    def action_refresh_index(self) -> None:
        shown = [result.path for result in self.query_one(ResultList).results]
        read = self.query_one(PreviewPane).path
        self.controller.upkeep.index(perhaps=[*shown, read])

    def action_switch_base(self) -> None:
        self._app.choose_base()

    def action_help(self) -> None:
        self._app.show_help()

    def action_leave(self) -> None:
        self._app.exit()


MODE_HELP = {
    "two-pass": "entities first, then their documents",
    "flat": "all documents alike",
    "fast": "words only, no entities and no meaning",
}
