"""The entities that a query names, as a list or a line, and the card of one.

Facts and open items of a card are laid out once per width; each document only when it is drawn, so
that thousands of them cost nothing.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, islice
from math import floor
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual.reactive import reactive

from kbx_tui.formatting import format_count, format_score, join_limited
from kbx_tui.knowledge.records import Fact
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.commands.bindings import bindings
from kbx_tui.tui.drawing.lines import (
    BLANK,
    Line,
    Look,
    Span,
    fit,
    fit_line,
    longest_fitting,
    looks,
    shorten,
    shorten_start,
    width_of,
    wrap,
    wrap_ranges,
)
from kbx_tui.tui.explore.view import EntityRow
from kbx_tui.tui.widgets.lines_view import LineWidget, RowsView, Slot

if TYPE_CHECKING:
    from kbx_tui.search.browse import EntityCard as Card
    from kbx_tui.search.browse import EntityDocument


NEXT_BELOW = 3
"""Number of entities below the threshold that are listed while the list has no focus."""


class EntityList(RowsView[EntityRow]):
    COMPONENT_CLASSES = looks("entity", "rule", "cursor")
    BINDINGS = bindings("entities")
    LEAVE_ACTION = "screen.focus_query"
    NEEDS_FOCUS = True
    threshold = 0.5
    open_id: reactive[str] = reactive("")
    """The entity whose card is open; empty if there is none."""

    def show(
        self, entities: tuple[EntityRow, ...], threshold: float, *, fresh: bool = False
    ) -> None:
        """Show entities; a cursor moved by the user stays, unless `fresh` and without focus."""
        self.chosen = self.chosen and (self.has_focus or not fresh)
        current_id = self.current.id if self.current is not None and self.chosen else ""
        self.rows, self.threshold = entities, threshold
        ids = [entity.id for entity in entities]
        self.rebuild_lines()
        self.cursor = ids.index(current_id) if current_id in ids else 0

    def row_heights(self) -> list[int]:
        folded = range(len(self.rows) - self._folded, len(self.rows))
        return [
            0 if row in folded else 1 + len(self._reason_lines(row))
            for row in range(len(self.rows))
        ]

    @property
    def _folded(self) -> int:
        """Number of the last entities, all below the threshold, hidden until it has the focus."""
        counted = (n for n, entity in enumerate(self.rows, 1) if reasons_shown(entity))
        least = max(count_passing(self.rows, self.threshold), *counted, 0) + NEXT_BELOW
        return 0 if self.has_focus else max(len(self.rows) - least, 0)

    def _reason_lines(self, row: int) -> list[str]:
        entity, width = self.rows[row], max(self.line_width - 5, 1)
        words, is_whole = reasons(entity), row == self.cursor and self.has_focus
        words = words if is_whole else first_reason(words)
        if type_beside(entity, self.line_width) == " ":
            words = ", ".join(filter(None, (entity.type, words)))
        if not words or not (self.has_focus or reasons_shown(entity)):
            return []
        return wrap(words, width) if is_whole else [shorten(words, width)]

    def cursor_moved(self) -> None:
        self.rebuild_lines()  # only the row under the cursor shows its reasons in full
        self.show_cursor()

    def watch_has_focus(self, _has_focus: bool) -> None:
        super().watch_has_focus(_has_focus)  # focus and blur handlers run too early
        self.cursor_moved()

    def slots(self) -> Sequence[Slot | Line]:
        slots = self.row_slots()
        if not slots:
            return slots
        passing = count_passing(self.rows, self.threshold)
        line = sum(row < passing for row, _ in slots)
        rule = Span(" below the threshold ".center(self.line_width - 2, "┄"), "rule")
        more: Line = (Span(f"    and {self._folded:,} more", "dim"),)
        below = [*slots[line:], more] if self._folded else slots[line:]
        return [*slots[:line], (Span("  "), rule), *below]

    def marker(self, row: int) -> str:
        return "›" if self.rows[row].id == self.open_id else super().marker(row)

    def row_line(self, row: int, part: int, width: int) -> Line:
        entity = self.rows[row]
        if part:
            lines = self._reason_lines(row)
            return (Span("    "), Span(lines[part - 1] if part <= len(lines) else "", "dim"))
        return entity_line(entity, width, self.marker(row), self.threshold)


def reasons_shown(entity: EntityRow) -> bool:
    """Return whether an entity has its reasons beside it while the list has no focus."""
    return entity.kept or entity.muted or entity.pinned or bool(entity.left_out)


class EntityStrip(LineWidget):
    COMPONENT_CLASSES = looks("entity", "rule", "accent")


def count_passing(entities: tuple[EntityRow, ...], threshold: float) -> int:
    return sum(entity.score >= threshold for entity in entities)


def decision(entity: EntityRow) -> str:
    return "muted" if entity.muted else "pinned" if entity.pinned else ""


def reasons(entity: EntityRow) -> str:
    decided = f"{decision(entity)} by you" if decision(entity) else ""
    return ", ".join(filter(None, (decided, entity.left_out, entity.signals)))


FIRST_REASON = re.compile("(?:“[^”]*”|[^,(])*")
"""The first of several reasons, without the parentheses after it."""


def first_reason(words: str) -> str:
    return str(FIRST_REASON.findall(words)[0]).strip()


def score_text(score: float, threshold: float) -> str:
    """Return a score, with a third decimal if with two it would seem to reach the threshold."""
    if score < threshold <= round(score, 2):
        return f"{floor(score * 1000) / 1000:.3f}".removeprefix("0")
    return format_score(score)


def type_beside(entity: EntityRow, width: int) -> str:
    """Return the type as shown beside a name, or only a space if the name leaves no room."""
    kind = f" {shorten(entity.type, 9)} "
    return kind if cell_len(entity.name) + cell_len(kind) <= width - 8 else " "


def entity_line(entity: EntityRow, width: int, marker: str = " ", threshold: float = 0.0) -> Line:
    """Return `● Alice Chen      person 1.00` in exactly `width` cells; the name before the type."""
    kind = type_beside(entity, width)
    room = width - 4 - cell_len(kind) - 4
    return (
        Span(f"{marker} ", "dim"),
        Span(f"{entity.sign} ", "entity" if entity.kept else "dim"),
        Span(fit(entity.name, room), "text" if entity.kept else "dim"),
        Span(kind, "dim"),
        Span(f"{score_text(entity.score, threshold):>4}", "text" if entity.kept else "dim"),
    )


def entity_strip_line(
    entities: tuple[EntityRow, ...], threshold: float, key: str, width: int
) -> Line:
    """Return `● Alice Chen 1.00  ● Bob pinned ┊ 16 below the threshold  e show`.

    Those that the user pinned or muted come first, so that none is cut off.
    """
    decided = [entity for entity in entities if entity.pinned or entity.muted]
    passing = [entity for entity in entities if entity.score >= threshold]
    above = [*decided, *(entity for entity in passing if entity not in decided)]
    line: Line = (Span(" "), *_joined(above, threshold))
    if below := len(entities) - len(above):
        line = (*line, Span(" ┊ ", "rule")) if above else (*line, Span("no sure entity · ", "dim"))
        room = width - width_of(line) - len(key) - 7
        wordings = f"{below} below the threshold", f"{below} below"
        words = longest_fitting(wordings if above else (f"{below} weak",), room)
        line = (*line, Span(words, "dim"), Span(f"  {key}", "accent"), Span(" show", "dim"))
    return fit_line(line, width)


def _joined(entities: Sequence[EntityRow], threshold: float) -> Line:
    return tuple(
        span
        for index, entity in enumerate(entities)
        for span in (
            Span(f"{'  ' if index else ''}{entity.sign} ", "entity" if entity.kept else "dim"),
            Span(entity.name, "text" if entity.kept else "dim"),
            Span(f" {decision(entity) or score_text(entity.score, threshold)}", "dim"),
        )
    )


class EntityCard(RowsView[str]):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "rule", "heading", "cursor")
    BINDINGS = bindings("card")

    def __init__(self) -> None:
        super().__init__()
        self.card: Card | None = None
        self.as_of = ""
        self._undated = 0
        """Number of facts, open items and documents left out as of a day: they have no date."""
        self._is_redacted = False
        self._is_by_date = False
        """Whether facts and documents are shown as one list by date."""
        self._facts: tuple[int, ...] = ()
        """The facts whose source can be opened, which are rows; indices into those of the card."""
        self._fact_lines: dict[int, list[Line]] = {}
        """The lines of these facts, by row."""
        self._tops: list[int] = []
        self._heights: list[int] = []
        self._document_height = 1
        self._laid_out_height = 1
        """The visible height for which the card was last laid out."""

    def show(
        self, card: Card, as_of: str = "", *, undated: int = 0, is_redacted: bool = False
    ) -> None:
        """Show a card; for the same entity as before, keep the cursor and scroll position."""
        same = self.card is not None and self.card.id == card.id
        before, cursor_offset = self._current_key, self._cursor_offset() if same else None
        self.card, self.as_of = card, as_of
        self._undated, self._is_redacted = undated, is_redacted
        self.border_title = f"Entity · as of {as_of}" if as_of else "Entity"
        self._set_rows(before if same else None)
        self._lay_out(cursor_offset)
        if not same:
            self.scroll_to_line(0)

    def _set_rows(self, before: object) -> None:
        """Take what can be opened as rows, with the cursor on the one that was there `before`.

        Sections show the sources of facts; a list by date has no room for them.
        """
        card, facts = self.card, dict[int, str]()
        assert card is not None
        if not self._is_by_date:
            titles = Counter(document.title for document in card.documents)
            paths = {each.title: each.path for each in card.documents if titles[each.title] == 1}
            paths |= {document.path: document.path for document in card.documents}
            for number, fact in enumerate(card.facts):
                found = [paths[source] for source in fact.sources if source in paths]
                if found:
                    facts[number] = found[0]
        self._facts = tuple(facts)
        page = (card.path,) if card.path else ()
        self.rows = (*page, *facts.values(), *(document.path for document in card.documents))
        keys = [self._key(row) for row in range(len(self.rows))]
        self.set_reactive(EntityCard.cursor, keys.index(before) if before in keys else 0)

    def _key(self, row: int) -> object:
        fact = self._fact_of(row)
        return self.rows[row] if fact is None else (fact.date, fact.text)

    @property
    def _current_key(self) -> object:
        return self._key(self.cursor) if self.rows else None

    def _fact_of(self, row: int) -> Fact | None:
        facts, row = self._facts, row - self._page_count
        return self.card.facts[facts[row]] if self.card and 0 <= row < len(facts) else None

    def _document_of(self, row: int) -> EntityDocument | None:
        row -= self._page_count + len(self._facts)
        return self.card.documents[row] if self.card and row >= 0 and self.rows else None

    def rebuild_lines(self) -> None:
        self._lay_out(self._cursor_offset())

    @property
    def current_path(self) -> str:
        return self.current or ""

    @property
    def current_date(self) -> str:
        """The date of the fact or document under the cursor; empty on the page, or without one."""
        entry = self._fact_of(self.cursor) or self._document_of(self.cursor)
        return entry.date if entry is not None else ""

    def slots(self) -> Sequence[Slot | Line]:
        card, width = self.card, self.line_width
        self._tops, self._heights, self._fact_lines = [], [], {}
        self._document_height = document_height(width)
        slots: list[Slot | Line] = []
        if card is None or width <= 0:
            return slots

        def add_row(height: int) -> None:
            self._tops.append(len(slots))
            self._heights.append(height)
            slots.extend((len(self._tops) - 1, part) for part in range(height))

        def add_text(*lines: Line) -> None:
            slots.extend(fit_line(line, width) for line in lines)

        add_text(*head_lines(card, width, is_redacted=self._is_redacted))
        left_out = f"{self._undated:,} without a date left out" if self._undated else ""
        add_text(*_indented(left_out, width, "dim"), BLANK)
        if card.path:
            add_row(1)
        else:
            add_text(*_indented("no page of its own", width, "dim"))
        if self._is_by_date:
            self._add_by_date(card, width, add_text, add_row)
            return slots
        add_text(*item_lines(card.open_items, width))
        if card.facts:
            add_text(BLANK, title_line("Facts", len(card.facts), width))
        for number, lines in enumerate(fact_lines(card.facts, width)):
            if number in self._facts:
                self._fact_lines[len(self._tops)] = lines
                add_row(len(lines))
            else:
                add_text(*lines)
        if card.documents:
            add_text(BLANK, title_line("Documents", len(card.documents), width))
        for year, count in groups(card.documents):
            add_text(group_line(year, count, width))
            for _ in range(count):
                add_row(self._document_height)
        return slots

    def _add_by_date(
        self,
        card: Card,
        width: int,
        add_text: Callable[..., None],
        add_row: Callable[[int], None],
    ) -> None:
        """Add facts, open items and documents, newest first; documents keep their order."""
        entries: list[Fact | EntityDocument] = [*card.facts, *card.open_items, *card.documents]
        entries.sort(key=lambda entry: entry.date, reverse=True)
        add_text(BLANK, title_line("Timeline", len(entries), width))
        remaining = iter(entries)
        for year, count in groups(entries):
            add_text(group_line(year, count, width))
            for entry in islice(remaining, count):
                if isinstance(entry, Fact):
                    add_text(*dated_fact_lines(entry, width))
                else:
                    add_row(self._document_height)

    def action_by_date(self) -> None:
        """Show one list by date, or sections again; the document under the cursor stays."""
        offset = self._cursor_offset()
        before, self._is_by_date = self._current_key, not self._is_by_date
        if self.card is not None:
            self._set_rows(before)
        self._lay_out(offset)
        self.show_cursor()

    def row_line(self, row: int, part: int, width: int) -> Line:
        assert self.card is not None  # without a card there are no rows
        cursor = row == self.cursor
        if row < self._page_count:
            return page_line(self.card.path, width, cursor=cursor)
        document = self._document_of(row)
        if document is not None:
            return document_line(document, part, width, cursor=cursor)
        line = fit_line(self._fact_lines[row][part], width)
        return (Span("› ", "dim"), *line[1:]) if cursor and part == 0 else line

    def row_opened(self) -> None:
        if self._is_visible(self.cursor):
            super().row_opened()
        else:
            self.show_cursor()

    # Rows may be pages of text apart: up and down go from row to row, page keys show that text.

    def action_move(self, rows: int) -> None:
        step = 1 if rows > 0 else -1
        row = self._next_row(step)
        if row is not None:
            self._go_to(row)
        elif self._is_visible(self.cursor):
            self.action_move_to_end(rows > 0)  # what is above the first row, or below the last
        else:
            self.show_cursor()

    def action_move_page(self, pages: int) -> None:
        before = self.scroll_offset.y
        self.scroll_to_line(before + pages * max(self.visible_height - 1, 1))
        if self.scroll_offset.y == before:  # already on the last page: go to its last row
            self.action_move_to_end(pages > 0)
        elif not self._is_visible(self.cursor):
            row = self._next_row(1 if pages > 0 else -1)
            if row is not None and self._is_visible(row):
                self._go_to(row)

    def action_move_to_end(self, last: bool) -> None:
        super().action_move_to_end(last)
        self.scroll_to_line(self.virtual_size.height if last else 0)

    def show_cursor(self) -> None:
        if self.cursor < len(self._tops) and self.visible_height:
            bottom = self._bottom(self.cursor)
            if self._tops[self.cursor] < self.scroll_offset.y:
                self.scroll_to_line(self._tops[self.cursor])
            elif bottom >= self.scroll_offset.y + self.visible_height:
                self.scroll_to_line(bottom - self.visible_height + 1)

    @property
    def _page_count(self) -> int:
        return 1 if self.card is not None and self.card.path else 0

    def _lay_out(self, cursor_offset: int | None) -> None:
        super().rebuild_lines()
        self._laid_out_height = self.visible_height
        if cursor_offset is not None and self.cursor < len(self._tops):
            if self.scroll_offset.y:  # if not scrolled, the name stays visible at the top
                self.scroll_to_line(self._tops[self.cursor] - cursor_offset)
            self.show_cursor()

    def _cursor_offset(self) -> int | None:
        """Return how many lines the cursor row is below the top, or None if it is not visible."""
        visible = self._is_visible(self.cursor)
        return self._tops[self.cursor] - self.scroll_offset.y if visible else None

    def _bottom(self, row: int) -> int:
        return self._tops[row] + self._heights[row] - 1

    def _distance(self, row: int) -> int:
        first = self.scroll_offset.y
        return max(
            first - self._tops[row], self._bottom(row) - (first + self._laid_out_height - 1), 0
        )

    def _is_visible(self, row: int) -> bool:
        return row < len(self._tops) and self._distance(row) == 0

    def _go_to(self, row: int) -> None:
        self.choose(row)
        self.show_cursor()  # also if the cursor was already there

    def _next_row(self, step: int) -> int | None:
        if self._is_visible(self.cursor):
            row = self.cursor + step
        elif step > 0:
            row = bisect_left(self._tops, self.scroll_offset.y)
        else:
            row = bisect_left(self._tops, self.scroll_offset.y + self.visible_height) - 1
        return row if 0 <= row < len(self._tops) else None


BESIDE = 48
ONE_LINE = 58
SOURCES = 2

EDGE = 2
DATE = 10
DAY = 5


def head_lines(card: Card, width: int, *, is_redacted: bool = False) -> list[Line]:
    kind = shorten(card.type, max(width // 3, 1))
    room = width - EDGE - cell_len(kind) - 1
    name, *rest = _wrapped(card.name or card.id, room - 1)
    lines: list[Line] = [
        (Span("● ", "entity"), Span(fit(name, room), "strong"), Span(kind, "dim")),
        *((Span("  "), Span(part, "strong")) for part in rest),
    ]
    position = " · ".join(filter(None, (card.role, card.team)))
    lines += _indented(position, width, "dim" if is_redacted else "text")
    lines += _indented(f"also {', '.join(card.aliases)}" if card.aliases else "", width, "dim")
    return [*lines, *_indented(_counts(card), width, "dim")]


def page_line(path: str, width: int, *, cursor: bool) -> Line:
    shown = shorten_start(safe_line(path), max(width - EDGE - 6, 1))
    return (Span("› " if cursor else "  ", "dim"), Span("page "), Span(shown, "document"))


def item_lines(items: Sequence[Fact], width: int) -> list[Line]:
    if not items:
        return []
    lines = [BLANK, title_line("Open items", sum(not item.done for item in items), width)]
    for item in sorted(items, key=lambda item: item.done):
        box: Span = Span("☑ ", "dim") if item.done else Span("☐ ", "accent")
        for index, text in enumerate(_wrapped(item.text, width - EDGE - 2 - 1)):
            is_past = item.done or item.status != "active"
            lines.append((Span("  "), Span("  ") if index else box, _text(text, is_past)))
        if below := " · ".join(filter(None, (item.date, _status(item)))):
            lines[-1:] = _with_date(lines[-1], below, width)
    return lines


def fact_lines(facts: Sequence[Fact], width: int) -> Iterator[list[Line]]:
    """Yield the lines of each fact, which begin with two cells for the cursor."""
    beside = width >= BESIDE and any(fact.date for fact in facts)
    indent = EDGE + (DATE + 2 if beside else 2)
    for fact in facts:
        names = [shorten(short_source(source), width - indent - 8) for source in fact.sources]
        sources = f"from {join_limited(names, limit=SOURCES)}" if names else ""
        below = filter(None, ("" if beside else fact.date, _status(fact), sources))
        lead = fit(fact.date, DATE) + "  " if beside else "· "
        lines: list[Line] = []
        for index, text in enumerate(_wrapped(fact.text, width - indent - 1)):
            before = lead if index == 0 else " " * (indent - EDGE)
            is_past = fact.status != "active"
            lines.append((Span("  "), Span(before, "dim"), _text(text, is_past)))
        yield lines + [
            (Span(" " * indent), Span(text, "dim"))
            for text in _wrapped(" · ".join(below), width - indent - 1)
            if text
        ]


def title_line(words: str, count: int, width: int) -> Line:
    return (Span(f"  {shorten(words, max(width - 8, 1))}", "heading"), Span(f"  {count:,}", "dim"))


def dated_fact_lines(fact: Fact, width: int) -> list[Line]:
    indent = EDGE + DAY + 2
    kind = ("☑ " if fact.done else "☐ ") if fact.kind == "open_item" else ""
    status = f"  {_status(fact)}" if _status(fact) else ""
    lead = f"  {fit(fact.date[5:DATE], DAY)}  "
    is_past = fact.done or fact.status != "active"
    return [
        (Span(" " * indent if index else lead, "dim"), _text(text, is_past))
        for index, text in enumerate(_wrapped(f"{kind}{fact.text}{status}", width - indent - 1))
    ]


def groups(entries: Sequence[Fact | EntityDocument]) -> Iterator[tuple[str, int]]:
    for year, group in groupby(entries, key=lambda entry: _year(entry.date)):
        yield year, sum(1 for _ in group)


def group_line(year: str, count: int, width: int) -> Line:
    words, number = f"  {year} ", f" {count:,}"
    rule = "┄" * max(width - len(words) - len(number) - 1, 0)
    return (Span(words, "dim"), Span(rule, "rule"), Span(number, "dim"))


def document_height(width: int) -> int:
    return 1 if width >= ONE_LINE else 2


def document_line(document: EntityDocument, part: int, width: int, *, cursor: bool) -> Line:
    about = " · ".join(filter(None, (document.kind, document.reason)))
    indent = EDGE + DAY + 2
    if part:
        return (Span(" " * indent), Span(shorten(about, max(width - indent - 1, 0)), "dim"))
    day = document.date[5:DATE] if _year(document.date).isdigit() else document.date
    start = (Span("› " if cursor else "  ", "dim"), Span(fit(day, DAY) + "  ", "dim"))
    room = max(width - indent - 1, 0)
    if width < ONE_LINE:
        return (*start, Span(shorten(document.title, room), "strong"))
    beside = min(room // 2, 34)
    title = Span(fit(document.title, room - beside - 2) + "  ", "strong")
    return (*start, title, Span(shorten(about, beside), "dim"))


def short_source(source: str) -> str:
    """Return the short name of a source: the file name of a path, without `.md`."""
    is_path = "/" in source and " " not in source
    return source.rstrip("/").rpartition("/")[2].removesuffix(".md") if is_path else source


def _counts(card: Card) -> str:
    still_open = sum(not item.done for item in card.open_items)
    counts = [
        format_count(len(card.facts), "fact") if card.facts else "",
        f"{still_open:,} open" if still_open else "",
        format_count(len(card.documents), "document") if card.documents else "",
    ]
    return " · ".join(filter(None, counts)) or "nothing is known about it yet"


def _status(fact: Fact) -> str:
    return "" if fact.status == "active" else fact.status


def _year(date: str) -> str:
    return date[:4] if date[:4].isdigit() else "no date"


def _text(text: str, is_past: bool) -> Span:
    return Span(text, "dim" if is_past else "text")


def _with_date(line: Line, date: str, width: int) -> list[Line]:
    if width_of(line) + 2 + cell_len(date) < width:
        return [(*line, Span(f"  {date}", "dim"))]
    return [line, (Span(" " * (EDGE + 2)), Span(date, "dim"))]


def _indented(text: str, width: int, look: Look) -> list[Line]:
    if not text:
        return []
    return [(Span("  "), Span(line, look)) for line in _wrapped(text, width - EDGE - 1)]


def _wrapped(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in wrap_ranges(text, max(width, 2))]
