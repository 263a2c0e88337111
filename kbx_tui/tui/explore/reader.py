"""What is read in explore: the open document or card, and the history for going back.

Where there is room, it also previews the document under the cursor below the why pane.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from textual.screen import Screen
from textual.widget import Widget

from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.explore.pane_layout import READERS, Pane, PaneSwitch
from kbx_tui.tui.explore.reading_model import LivePreview, ReadingModel
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.view import CardView, LivePreviewReady
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.reading.reading_layout import TextLayout

LEAST_WIDTH = 20
"""Minimum width in cells to lay a document out for, before its pane has a width."""


class Reader:
    """The document or card being read, and the history of those read before."""

    def __init__(
        self,
        screen: Screen[None],
        reading: ReadingModel,
        live: LivePreview,
        pane_switch: PaneSwitch,
    ) -> None:
        self._screen, self._reading, self._live = screen, reading, live
        self._pane_switch = pane_switch
        self.history = History()
        self.origin: Pane = "results"
        """The pane to return to when nothing is read any more."""
        self._takes_focus = False
        """Whether what is opened next gets the focus when it arrives."""
        self._replaces = False
        """Whether what is opened next takes the place of what is read now in the history."""

    @property
    def is_open(self) -> bool:
        """Whether something is being read."""
        return self._pane_switch.panes.read is not None

    @property
    def _pane(self) -> PreviewPane:
        return self._screen.query_one(PreviewPane)

    # Previewing.

    def follow_cursor(self) -> None:
        """Preview the result under the cursor, where the preview is shown all the time."""
        result = self._screen.query_one(ResultList).current
        if self._pane_switch.panes.is_live and not self.is_open and result is not None:
            self._live.show(result.path, self._width())

    def show_live(self, message: LivePreviewReady) -> None:
        """Show the document under the cursor, unless the cursor has moved on."""
        result, pane = self._screen.query_one(ResultList).current, self._pane
        if self.is_open or result is None or result.path != message.path:
            return
        if message.layout is None:
            pane.show_gone(message.path, message.reason)
        elif not pane.shows(message.layout):
            pane.show(message.layout)

    # Opening.

    def open_document(
        self, path: str, *, line: int = 0, focus: bool = False, replace: bool = False
    ) -> None:
        """Open a document, at a line if one is given; its pane is shown when the text arrives."""
        self._takes_focus, self._replaces = focus, replace
        if focus:  # a document passed over with the cursor does not count as opened
            self._reading.count_opening(path)
        self._reading.open_document(path, self._width(), line)

    def open_card(self, entity_id: str, *, replace: bool = False) -> None:
        """Open an entity card."""
        self._takes_focus, self._replaces = True, replace
        self._reading.open_card(entity_id)

    def follow(self, target: str, source: str) -> None:
        """Open the target of a link, given as written in the document at `source`."""
        self._takes_focus, self._replaces = True, False
        self._reading.follow(target, source, self._pane.text_width)

    def lay_out(self, width: int) -> None:
        """Lay out what the pane shows for another width."""
        if self.is_open:
            self._reading.lay_out(width)
        else:
            self.follow_cursor()

    def reload(self, paths: frozenset[str]) -> None:
        """Read the open document again if it is among these files, and an open card in any case."""
        self._live.forget()
        path, card = self._pane.path, self._screen.query_one(EntityCard).card
        match self._pane_switch.panes.read:
            case "card" if card is not None:
                self._reading.reload_card(card.id)
            case "document" if path in paths:
                self._reading.reload(path)
            case None if path in paths:
                self.follow_cursor()

    # Arriving.

    def show_document(self, layout: TextLayout) -> None:
        """Show a document that has been read."""
        pane = self._pane
        pane.show(layout)
        self._arrive(Step("document", layout.preview.path), pane)

    def show_missing_document(self, path: str, reason: str) -> None:
        """Show that a document cannot be read."""
        pane = self._pane
        pane.show_gone(path, reason)
        self._arrive(Step("document", path), pane)

    def show_card(self, card: CardView) -> None:
        """Show an entity card."""
        pane = self._screen.query_one(EntityCard)
        pane.show(card)
        self._arrive(Step("card", card.id), pane)

    def abandon(self) -> None:
        """Leave the focus where it is, because the link target does not exist."""
        self._takes_focus = False

    # Going back.

    def back(self) -> None:
        """Return to what was read before; at the start of the history, to the previous pane."""
        self._reading.cancel()
        step = self.history.back() if self.is_open else None
        if step is None:
            self._close()
            self._pane_switch.focus(self.origin)
            self.origin = "results"
        elif step.kind == "card":
            self.open_card(step.key, replace=True)
        else:
            self.open_document(step.key, focus=True, replace=True)

    def toggle_preview(self) -> None:
        """Close what is read; when nothing is, preview the result under the cursor."""
        results = self._screen.query_one(ResultList)
        if self.is_open:
            self._reading.cancel()
            self._close()
            if not isinstance(self._screen.focused, ResultList):
                self._pane_switch.focus("results")
        elif results.current is not None:
            self.open_document(results.current.path)

    def give_way(self) -> None:
        """Close what is read where it covers the results and the focus has left it."""
        focused = self._screen.focused
        covers = self.is_open and not self._screen.has_class("-wide")
        if covers and not isinstance(focused, tuple(READERS.values())):
            self._reading.cancel()
            self._close()
            self.origin = "results"

    def _close(self) -> None:
        self.history.clear()
        self._pane_switch.panes.show_reader(None)
        self.follow_cursor()

    def _arrive(self, step: Step, pane: Widget) -> None:
        if self._replaces:
            self.history.replace(step)
        else:
            self.history.go(step)
        self._replaces = False
        panes, focused = self._pane_switch.panes, self._screen.focused
        panes.show_reader(step.kind)
        if self._takes_focus or panes.is_covered(focused):
            self._takes_focus = False
            self._screen.set_focus(pane)
        else:
            self.give_way()  # the focus moved on before this arrived

    def _width(self) -> int:
        """Return the width to lay a document out for; approximate before its pane is shown."""
        results = self._screen.query_one(ResultList)
        width = self._pane.text_width
        return width or max(results.size.width - 3, LEAST_WIDTH)


MAX_STEPS = 50


@dataclass(frozen=True, slots=True)
class Step:
    """A document or a card that was read."""

    kind: Literal["document", "card"]
    key: str
    """Path of the document or id of the entity."""


@dataclass
class History:
    """Steps in order; the last one is being read."""

    steps: list[Step] = field(default_factory=list)

    def go(self, step: Step) -> None:
        """Append a step, unless it is the current one."""
        if not self.steps or self.steps[-1] != step:
            self.steps.append(step)
            del self.steps[:-MAX_STEPS]

    def replace(self, step: Step) -> None:
        """Replace the current step."""
        self.steps[-1:] = [step]

    def back(self) -> Step | None:
        """Drop the current step and return the one before, None when there is none."""
        del self.steps[-1:]
        return self.steps[-1] if self.steps else None

    def clear(self) -> None:
        """Drop all steps."""
        self.steps.clear()
