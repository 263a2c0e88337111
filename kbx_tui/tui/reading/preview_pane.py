"""A document's text as it is in the file: the best place, matches and links stand out.

No markdown widget: it mounts one widget per block and takes seconds on long notes. Here a layout
that was made off the event loop is drawn row by row, and nothing is mounted at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message

from kbx_tui.safe_text import visible
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.cell_text import shorten, wrap
from kbx_tui.tui.drawing.empty_states import squeezed
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks
from kbx_tui.tui.drawing.wrapping import shorten_start
from kbx_tui.tui.explore.view import Place, Preview
from kbx_tui.tui.reading.reading_layout import TextLayout, first_from, place_at
from kbx_tui.tui.reading.reading_position import (
    NONE,
    again,
    first_match,
    goes_on,
    is_empty,
    line_again,
)
from kbx_tui.tui.widgets.lines_view import TextPane


class PreviewPane(TextPane):
    """The text of one file."""

    COMPONENT_CLASSES = looks(
        "strong", "accent", "rule", "heading", "emphasis", "code", "link", "match", "here"
    )
    BINDINGS = bindings("preview")

    class Closed(Message):
        """A person is done reading."""

    @dataclass
    class Followed(Message):
        """A person wants to go where a link leads."""

        target: str
        """As it is written in the file."""
        path: str
        """Of the document that holds the link."""

    @dataclass
    class Resized(Message):
        """What is shown, if anything, was laid out for another width than this pane has."""

        width: int

        def can_replace(self, message: Message) -> bool:
            return isinstance(message, PreviewPane.Resized)

    def __init__(self) -> None:
        super().__init__()
        self.laid_out: TextLayout | None = None
        self.path = ""
        """Of what is shown, also when it is gone."""
        self._match = self._link = NONE
        self._gone = ""
        self._said: list[Line] = []
        self._placed = True

    # Showing.

    def show(self, layout: TextLayout) -> None:
        """Show a document from its best place on; the same one anew where it was."""
        before, now = self.preview, layout.preview
        if self.laid_out is not None and before is not None and goes_on(before, now):
            steady, below_top = self._steady_place(self.laid_out)
            match = again(before, now, before.matches, now.matches, self._match)
            link = again(before, now, self.laid_out.links, layout.links, self._link)
            self._take(layout, match, link)
            line = line_again(before.lines, now.lines, steady.line)
            self.scroll_line(layout.row_of(line, steady.start) - below_top)
        else:
            self._take(layout, first_match(now), NONE)
            self._go_to_start()
        self._ask_for_width()

    def show_gone(self, path: str, reason: str) -> None:
        """Say that there is nothing to read at `path`, and why."""
        self.laid_out, self.path, self._gone = None, path, reason
        self._match = self._link = NONE
        self.border_title = "Gone"
        self.lines_changed()
        self.scroll_line(0)
        self._label()

    @property
    def preview(self) -> Preview | None:
        """The document that is shown."""
        return None if self.laid_out is None else self.laid_out.preview

    @property
    def text_width(self) -> int:
        """Cells of a line, what a document is laid out for; 0 while that is not known."""
        return max(self.line_width, 0)

    @property
    def here(self) -> Place | None:
        """The link or match a person is at."""
        if self.laid_out is None:
            return None
        if self._link != NONE:
            return self.laid_out.links[self._link]
        return self.laid_out.preview.matches[self._match] if self._match != NONE else None

    @property
    def position(self) -> str:
        """Which match or link a person is at: `3/12`, `link 2/5`; at none how many there are."""
        if self.laid_out is None:
            return ""
        if self._link != NONE:
            return f"link {self._link + 1}/{len(self.laid_out.links)}"
        count = len(self.laid_out.preview.matches)
        if self._match != NONE:
            return f"{self._match + 1}/{count}"
        return f"{count:,} match{'es' if count > 1 else ''}" if count else ""

    @property
    def current_line(self) -> int:
        """The 1-based line of the file a person is at; 0 when there is none.

        That of the match or link they are at or else of the best place, if in sight; else the
        top one.
        """
        if self.laid_out is None:
            return 0
        if self.here is not None and self._in_sight(self.here):
            return self.here.line
        best = Place(self.laid_out.preview.line_start, 0, 0)
        if best.line and self._in_sight(best):
            return best.line
        return self.laid_out.line_of(self.scroll_offset.y)

    # Drawing.

    def count_lines(self) -> int:
        sentences = self._sentences(self.line_width)
        self._said = squeezed(sentences, self.line_room) if sentences else []
        if self._said or self.laid_out is None:
            return len(self._said)
        return self.laid_out.height

    def line_at(self, y: int, width: int) -> Line:
        if self._said or self.laid_out is None:
            return self._said[y] if y < len(self._said) else BLANK
        if self.here is not None and y in self.laid_out.rows_of(self.here):
            return fit_line(self.laid_out.line_with(y, self.here, "here"), width)
        return fit_line(self.laid_out.line(y), width)

    def on_resize(self, event: events.Resize) -> None:
        self._label()
        self._ask_for_width()
        if not self._placed:  # only now is it known how much fits above the best place
            self.call_after_refresh(self._go_to_start)

    # Moving.

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def action_step_match(self, step: int) -> None:
        """Go to the next or the previous match, from the last on to the first."""
        if self.laid_out is not None:
            self._match = self._stepped(self.laid_out.preview.matches, self._match, step)
            self._link = NONE
            self._reveal()

    def action_step_link(self, step: int) -> None:
        """Go to the next or the previous link, from the last on to the first."""
        if self.laid_out is not None:
            self._link = self._stepped(self.laid_out.links, self._link, step)
            self._reveal()

    def action_follow(self) -> None:
        """Go where the link leads that a person is at; when at none in sight, go to one."""
        if self.laid_out is None:
            return
        if self._link == NONE and self.here is not None:
            self._link = place_at(self.laid_out.links, self.here.line, self.here.start)
        if self._link != NONE and self._in_sight(self.laid_out.links[self._link]):
            self._follow()
        else:
            self.action_step_link(1)

    def on_click(self, event: events.Click) -> None:
        inside = event.get_content_offset(self)
        if inside is None or self.laid_out is None or self._said or event.chain > 1:
            return
        at = self.laid_out.character_at(inside.y + self.scroll_offset.y, inside.x)
        link = NONE if at is None else place_at(self.laid_out.links, *at)
        if link != NONE:
            self._link = link
            self._reveal()
            self._follow()

    # Within.

    def _take(self, layout: TextLayout, match: int, link: int) -> None:
        self.laid_out, self._match, self._link = layout, match, link
        self.path, self._gone = layout.preview.path, ""
        self.border_title = Content(layout.preview.title or visible(self.path))
        self.lines_changed()
        self._label()

    def _label(self) -> None:
        """Say below where a person is; of a link, where it leads before they go there."""
        room = max(self.size.width - 6, 12)
        path = visible(self.path)
        if self.laid_out is not None and self._link != NONE:
            target = self.laid_out.preview.links[self._link].target
            words = shorten(f"{self.position} → {target}", room)
        elif position := self.position:
            words = f"{position} · {shorten_start(path, max(room - len(position) - 3, 1))}"
        else:
            words = shorten_start(path, room)
        self.border_subtitle = Content(words)

    def _sentences(self, width: int) -> list[Line]:
        """Return what stands here when there is no text."""
        if self._gone:
            return [
                *_said(f"{visible(self.path)} cannot be read any more.", width, "strong"),
                *_said(self._gone, width, "dim"),
                BLANK,
                *_said(
                    "Go back and choose another; the index forgets this one when it looks.", width
                ),
            ]
        if self.laid_out is not None and is_empty(self.laid_out.preview):
            return _said("This file is empty.", width, "dim")
        return []

    def _ask_for_width(self) -> None:
        known = None if self.laid_out is None else self.laid_out.width
        if self.text_width not in (0, known):
            self.post_message(self.Resized(self.text_width))

    def _go_to_start(self) -> None:
        """Put the best place a little below the top."""
        self._placed = self.line_room > 0
        if self.laid_out is not None:
            line = self.laid_out.preview.line_start
            self.scroll_line(self.laid_out.row_of(line) - self.line_room // 4 if line else 0)

    def _steady_place(self, layout: TextLayout) -> tuple[Place, int]:
        """Return what is to stay where it is on the screen, and how far below the top that is."""
        top = self.scroll_offset.y
        if (here := self.here) is not None and self._in_sight(here):
            return here, layout.rows_of(here).start - top
        rows = range(top, min(top + self.line_room, layout.height))
        row = next((row for row in rows if layout.text_of(row)), top)
        return layout.place_of(row), row - top

    def _in_sight(self, place: Place) -> bool:
        if self.laid_out is None:
            return False
        return 0 <= self.laid_out.rows_of(place).start - self.scroll_offset.y < self.line_room

    def _stepped(self, places: Sequence[Place], at: int, step: int) -> int:
        if not places or self.laid_out is None:
            return NONE
        if at != NONE and self._in_sight(places[at]):
            return (at + step) % len(places)
        top = self.laid_out.place_of(self.scroll_offset.y)
        first = first_from(places, top.line, top.start)
        return (first if step > 0 else first - 1) % len(places)

    def _reveal(self) -> None:
        here = self.here
        if here is not None and self.laid_out is not None and not self._in_sight(here):
            self.scroll_line(self.laid_out.rows_of(here).start - self.line_room // 4)
        self._label()
        self.refresh()

    def _follow(self) -> None:
        if self.laid_out is not None:
            target = self.laid_out.preview.links[self._link].target
            self.post_message(self.Followed(target, self.path))


def _said(text: str, width: int, look: Look = "text") -> list[Line]:
    return [(Span(f"  {line}", look),) for line in wrap(text, max(width - 3, 1))]
