"""The pane for reading a document, in which the best passage, matches and links stand out.

Textual's Markdown widget mounts a widget per block and is slow on long notes. This pane draws the
rows of a layout computed off the event loop and mounts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.message import Message

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    fit_to_height,
    looks,
    paragraph,
    shorten,
    shorten_start,
)
from kbx_tui.tui.judging.model import NO_GRADE, grade_sign
from kbx_tui.tui.reading.markdown_lines import Place, Preview
from kbx_tui.tui.reading.reading_layout import (
    NO_PLACE,
    TextLayout,
    first_from,
    first_match,
    is_empty,
    keeps_position,
    lay_out,
    place_at,
    restored_index,
    restored_line,
)
from kbx_tui.tui.terminal_app import Newest, Notice
from kbx_tui.tui.widgets.lines_view import TextPane, dim_text

no_document = dim_text("The document under the cursor, at the passage that matches.")
NO_DOCUMENT = lay_out(Preview("", "", "", ()), 0)


class PreviewPane(TextPane):
    COMPONENT_CLASSES = looks(
        "strong", "accent", "rule", "heading", "emphasis", "struck", "code", "link", "match", "here"
    )
    BINDINGS = bindings("preview")

    @dataclass
    class Followed(Message):
        target: str
        path: str

    @dataclass
    class Resized(Newest):
        """The pane needs a layout for its width: the first one, or one for a new width."""

        width: int

    def __init__(self) -> None:
        super().__init__()
        self.laid_out = NO_DOCUMENT
        self.path = ""
        self.empty_state = no_document
        self._match = self._link = NO_PLACE
        self._error = ""
        self._grades: Mapping[str, int | None] = {}
        self._folds_front = True
        self._notice: list[Line] = []
        self._is_placed = True
        self._best_offset = 0
        self._height = 0

    def show(self, layout: TextLayout) -> None:
        """Show a document at its best passage; the same document stays where it was."""
        before, now = self.preview, layout.preview
        if before is not None and keeps_position(before, now):
            is_at_best, (anchor, rows_below_top) = self._is_at_best(), self._anchor()
            match = restored_index(before, now, before.matches, now.matches, self._match)
            link = restored_index(before, now, self.laid_out.links, layout.links, self._link)
            layout = layout.folded(self.laid_out.is_folded or not self.laid_out.front_lines)
            self._set_layout(layout, match, link)
            if is_at_best:
                self._scroll_to_best()
            else:
                line = restored_line(before.lines, now.lines, anchor.line)
                self.scroll_to_line(layout.row_of(line, anchor.start) - rows_below_top)
        else:
            is_best_in_front = 0 < now.line_start <= layout.front_lines
            layout = layout.folded(self._folds_front and not is_best_in_front)
            self._set_layout(layout, first_match(now), NO_PLACE)
            self._scroll_to_best()
        self._request_layout()

    def shows(self, layout: TextLayout) -> bool:
        return self.laid_out.preview is layout.preview and self.laid_out.width == layout.width

    def clear(self) -> None:
        self.show_gone("", "")

    def show_gone(self, path: str, reason: str) -> None:
        self.laid_out, self.path, self._error = NO_DOCUMENT, path, reason
        self._match = self._link = NO_PLACE
        self._update_title()
        self.rebuild_lines()
        self.scroll_to_line(0)
        self._update_subtitle()

    def show_grades(self, grades: Mapping[str, int | None]) -> None:
        self._grades = grades
        self._update_title()

    @property
    def preview(self) -> Preview | None:
        return None if self.laid_out is NO_DOCUMENT else self.laid_out.preview

    @property
    def text_width(self) -> int:
        """The width in cells to lay a document out for; 0 while it is unknown."""
        return max(self.line_width, 0)

    @property
    def current_place(self) -> Place | None:
        if self._link != NO_PLACE:
            return self.laid_out.links[self._link]
        return self.laid_out.preview.matches[self._match] if self._match != NO_PLACE else None

    @property
    def position(self) -> str:
        """The current link or visible match: `link 2/5`, `3/12`; else the number of matches."""
        if self._link != NO_PLACE:
            return f"link {self._link + 1}/{len(self.laid_out.links)}"
        matches = self.laid_out.preview.matches
        count = len(matches)
        if self._match != NO_PLACE and self._is_visible(matches[self._match]):
            return f"{self._match + 1}/{count}"
        return f"{count:,} match{'es' if count > 1 else ''}" if count else ""

    @property
    def current_line(self) -> int:
        """The 1-based line of the file being read; 0 if there is no document."""
        place = self._place_in_view(self.visible_height)
        line = place.line if place else self.laid_out.line_of(self.scroll_offset.y)
        return self.laid_out.preview.file_line(line)

    def count_lines(self) -> int:
        notice = self._notice_lines(self.line_width)
        self._notice = fit_to_height(notice, self.visible_height) if notice else []
        return len(self._notice) or self.laid_out.height

    def line_at(self, y: int, width: int) -> Line:
        if self._notice:
            return self._notice[y] if y < len(self._notice) else BLANK
        place = self.current_place
        if place is not None and y in self.laid_out.rows_of(place):
            return self.laid_out.line_with(y, place, "here")
        return self.laid_out.line(y)

    def on_resize(self, event: events.Resize) -> None:
        self._update_subtitle()
        read = self._place_in_view(self._height)
        self._height = self.visible_height
        if read is not None and not self._is_visible(read):
            self._scroll_to_place(read)
        self._request_layout()
        if not self._is_placed:
            self.call_after_refresh(self._scroll_to_best)

    def action_toggle_front(self) -> None:
        """Show all of the frontmatter or fold it to one line, also in documents opened later."""
        if self.laid_out.front_lines:
            self._folds_front = not self.laid_out.is_folded
            self._fold(self._folds_front)
            self.scroll_to_line(0)

    def action_step_match(self, step: int) -> None:
        if not self.laid_out.preview.matches:
            self.post_message(Notice("no word of the query is in this document"))
        self._match = self._next_index(self.laid_out.preview.matches, self._match, step)
        self._link = NO_PLACE
        self._reveal()

    def action_step_link(self, step: int) -> None:
        if not self.laid_out.links:
            self.post_message(Notice("this document has no links"))
        self._link = self._next_index(self.laid_out.links, self._link, step)
        self._reveal()

    def action_follow(self) -> None:
        """Follow the current link; without a visible one, go to the next link."""
        place = self.current_place
        if self._link == NO_PLACE and place is not None:
            self._link = place_at(self.laid_out.links, place.line, place.start)
        if self._link != NO_PLACE and self._is_visible(self.laid_out.links[self._link]):
            self._follow()
        else:
            self.action_step_link(1)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None or self._notice or event.chain > 1:
            return
        if offset.y + self.scroll_offset.y == 0 and self.laid_out.front_lines:
            self.action_toggle_front()
            return
        character = self.laid_out.character_at(offset.y + self.scroll_offset.y, offset.x)
        link = NO_PLACE if character is None else place_at(self.laid_out.links, *character)
        if link != NO_PLACE:
            self._link = link
            self._reveal()
            self._follow()

    def _fold(self, folded: bool) -> None:
        self.laid_out = self.laid_out.folded(folded)
        self.rebuild_lines()

    def _set_layout(self, layout: TextLayout, match: int, link: int) -> None:
        self.laid_out, self._match, self._link = layout, match, link
        self.path, self._error = layout.preview.path, ""
        self._update_title()
        self.rebuild_lines()
        self._update_subtitle()

    def _update_title(self) -> None:
        title = self.laid_out.preview.title or safe_line(self.path) or "Preview"
        title = "Gone" if self._error else title
        sign = grade_sign(self._grades, self.path)
        grade = Content() if sign == NO_GRADE else Content.styled(sign, "bold reverse") + " "
        self.border_title = grade + Content(title)

    def _update_subtitle(self) -> None:
        room = max(self.size.width - 6, 12)
        path = safe_line(self.path)
        if self._link != NO_PLACE:
            target = self.laid_out.preview.links[self._link].target
            text = shorten(f"{self.position} → {target}", room)
        elif position := self.position:
            position = f"match {position}" if "/" in position else position
            text = f"{position} · {shorten_start(path, max(room - len(position) - 3, 1))}"
        else:
            text = shorten_start(path, room)
        self.border_subtitle = Content(text)

    def _notice_lines(self, width: int) -> list[Line]:
        if self._error:
            return [
                *paragraph(f"{safe_line(self.path)} can no longer be read.", width, "strong"),
                *paragraph(self._error, width, "dim"),
                BLANK,
                *paragraph("Go back and choose another; the next index run drops it.", width),
            ]
        if self.preview is None:
            return self.empty_state(width)
        return paragraph("This file is empty.", width, "dim") if is_empty(self.preview) else []

    def _request_layout(self) -> None:
        if self.text_width not in (0, self.laid_out.width):
            self.post_message(self.Resized(self.text_width))

    def _scroll_to_best(self) -> None:
        self._is_placed = self.visible_height > 0
        best_row = self.laid_out.row_of(self.laid_out.preview.line_start)
        self.scroll_to_line(best_row - self.visible_height // 4)
        self._best_offset = self.scroll_offset.y
        self._update_subtitle()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._update_subtitle()

    def _is_at_best(self) -> bool:
        return not self._is_placed or self.scroll_offset.y == self._best_offset

    def _anchor(self) -> tuple[Place, int]:
        """Return the place to keep at its position on the screen, and how many rows down it is."""
        layout, top = self.laid_out, self.scroll_offset.y
        if (place := self.current_place) is not None and self._is_visible(place):
            return place, layout.rows_of(place).start - top
        rows = range(top, min(top + self.visible_height, layout.height))
        row = next((row for row in rows if layout.text_of(row)), top)
        return layout.place_of(row), row - top

    def _place_in_view(self, height: int) -> Place | None:
        best = Place(self.laid_out.preview.line_start, 0, 0)
        for place in (self.current_place, best):
            if place is not None and place.line and self._is_visible(place, height):
                return place
        return None

    def _is_visible(self, place: Place, height: int | None = None) -> bool:
        rows = self.visible_height if height is None else height
        return 0 <= self.laid_out.rows_of(place).start - self.scroll_offset.y < rows

    def _next_index(self, places: Sequence[Place], index: int, step: int) -> int:
        """Return the index `step` after `index`, or after the top if that place is not visible."""
        if not places:
            return NO_PLACE
        if index != NO_PLACE and self._is_visible(places[index]):
            return (index + step) % len(places)
        top = self.laid_out.place_of(self.scroll_offset.y)
        first = first_from(places, top.line, top.start)
        return (first if step > 0 else first - 1) % len(places)

    def _reveal(self) -> None:
        place = self.current_place
        if place is not None and self.laid_out.is_in_fold(place):
            self._fold(False)
        if place is not None and not self._is_visible(place):
            self._scroll_to_place(place)
        self._update_subtitle()
        self.refresh()

    def _scroll_to_place(self, place: Place) -> None:
        self.scroll_to_line(self.laid_out.rows_of(place).start - self.visible_height // 4)

    def _follow(self) -> None:
        self.post_message(self.Followed(self.laid_out.preview.links[self._link].target, self.path))
