"""What explore says of a search in a line: its mode, dates, filters, and the measured quality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.formatting import FLAT_REASONS, format_percent
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.tui.commands.keymap import Keymap, command_by_id
from kbx_tui.tui.drawing.cell_text import longest_fitting, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks
from kbx_tui.tui.explore.view import DatesView, Mode
from kbx_tui.tui.judging.live_measure import measure_candidates
from kbx_tui.tui.judging.model import JudgingModel
from kbx_tui.tui.widgets.lines_view import LineWidget


class ModeBadge(LineWidget):
    COMPONENT_CLASSES = looks("document", "entity")

    def show(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        def line(width: int) -> Line:
            text = shorten(longest_fitting(candidates, width), width)
            if busy:
                return (Span(text, "dim"),)
            name, dot, rest = text.partition(" · ")
            look: Look = "entity" if name == "two-pass" else "document"
            return (Span(name, look), Span(dot + rest, "dim"))

        self.show_line(line)


SHORT_REASONS: Mapping[str, str] = {
    FLAT_REASONS["below_threshold"]: "below threshold",
    FLAT_REASONS["too_broad"]: "too many similar",
    FLAT_REASONS["nothing_linked"]: "nothing linked",
}


def mode_candidates(mode: Mode) -> tuple[str, ...]:
    """Return texts for the badge, the longest first."""
    time = f"{mode.milliseconds:.0f} ms"
    if mode.reranker_ms is not None:
        time += f" + reranker {mode.reranker_ms:.0f} ms"
    complete = mode.vector_share >= 1.0 or mode.name == "fast"
    meaning = "" if complete else f"meaning {format_percent(mode.vector_share)}"
    if mode.candidates is not None:
        scored = f"{mode.candidates:,} candidates"
        meaning = f"{scored} · {meaning}" if meaning else scored
    short = "" if mode.name == "two-pass" else SHORT_REASONS.get(mode.reason, mode.reason)
    name = f"{mode.name}, seed" if mode.preset == "seed" else mode.name
    cut = f"first {MAX_QUERY:,} characters" if mode.is_cut else ""
    wordings = [
        (name, cut, reason, meaning, time)[:kept]
        for reason in (mode.reason, short)
        for kept in (5, 4, 3)
    ]
    wordings += [(name, cut), (name,), (mode.name,)]
    return tuple(" · ".join(filter(None, words)) for words in wordings)


class ChipLine(LineWidget):
    """Names keys only where there is room for all of the line; hidden while there is nothing."""

    DEFAULT_CSS = "ChipLine { display: none; }"
    chips: Line = BLANK
    without_keys: Line = BLANK

    def show_chips(self, chips: Line, without_keys: Line) -> None:
        self.without_keys = without_keys
        if chips != self.chips:  # laying out the screen for each step of a slider would be slow
            self.chips = chips
            self.refresh(layout=True)

    def line(self, width: int) -> Line:
        return self.chips

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        parent = self.parent
        room = parent.content_region.right - self.region.x if isinstance(parent, Widget) else width
        return self.draw(fit_line(self.chips if width <= room else self.without_keys, width), width)


class DateChip(ChipLine):
    COMPONENT_CLASSES = looks("accent", "strong")

    def show(self, dates: DatesView | None, keymap: Keymap) -> None:
        self.display = dates is not None
        if dates is None:
            return
        off, only = keymap.key_of("dates.off"), keymap.key_of("dates.only")
        words: Line
        if dates.use == "off":
            words, keys = (Span(" date words are not read", "dim"),), _key(off, "read them")
        elif not dates.words:
            words = (Span(f" no document is dated {safe_line(dates.undated)}", "dim"),)
            keys = _key(off, "do not read it")
        else:
            is_filter = dates.use == "filter"
            words = (Span(" only " if is_filter else " prefers "), Span(dates.words, "strong"))
            switch, remove = _key(only, "prefer" if is_filter else "only"), _key(off, "remove")
            keys = (*switch, *remove) if is_filter else (*remove, *switch)
        self.show_chips((*words, *keys), words)


def _key(key: str, label: str) -> Line:
    return (Span("  "), Span(key, "accent"), Span(f" {label}", "dim"))


CLOSE = " x "


class FilterChip(ChipLine):
    COMPONENT_CLASSES = looks("accent", "strong", "cursor")

    filters: tuple[str, ...] = ()

    @dataclass
    class Removed(Message):
        number: int
        """Counted from 0, in the order of the query."""

    def show(self, filters: Sequence[str], words: str, keymap: Keymap) -> None:
        self.filters, self.display = tuple(filters), bool(filters or words)
        if not self.display:
            return
        remove = (*_key(keymap.key_of("filter.remove"), "remove last"),) if filters else BLANK
        settings, undo = BLANK, BLANK
        if words:
            settings = (Span("  · " if filters else " "), Span(safe_line(words), "strong"))
            undo = _key(keymap.key_of("undo"), "undo")
        chips = [span for text in filters for span in _chip(text)]
        self.show_chips((*chips, *remove, *settings, *undo), (*chips, *settings))

    def on_click(self, event: events.Click) -> None:
        ends = accumulate(sum(cell_len(span.text) for span in _chip(text)) for text in self.filters)
        number = next((number for number, end in enumerate(ends) if event.x < end), None)
        if number is not None:
            self.post_message(self.Removed(number))


def _chip(text: str) -> Line:
    return (Span(" "), Span(f"[{text}", "strong"), Span(CLOSE.rstrip(), "dim"), Span("]", "strong"))


class MeasureLine(LineWidget):
    def show(self, judging: JudgingModel, keymap: Keymap) -> None:
        wordings = _measure_wordings(judging, keymap)
        self.show_line(lambda width: (Span(f" {longest_fitting(wordings, width - 2)}", "dim"),))


def _measure_wordings(judging: JudgingModel, keymap: Keymap) -> tuple[str, ...]:
    lowest, highest = (keymap.display_keys(command_by_id(f"grade.{grade}")) for grade in (0, 3))
    if not judging.queries:
        keys = f"{lowest}-{highest} grade a result"
        more = f"{keys}, {keymap.key_of('judge.next')} goes to the next"
        most = f"{more}; then search quality shows here"
        return (most, more, keys) if keymap.offers("grade.0") else ()
    if any(settings and settings.is_fast for settings in (judging.pinned, judging.current)):
        return ("a fast search is not measured",)
    if judging.measured is not None:
        return measure_candidates(judging.measured)
    if not any(query.is_measurable for query in judging.queries):
        return (f"no result is graded 1-{highest}, so there is nothing to measure",)
    return ("reading the judged queries …",)
