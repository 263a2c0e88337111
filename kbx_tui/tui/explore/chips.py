"""The badge of the search mode, and the chips with dates and filters beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from kbx_tui.formatting import FLAT_REASONS, format_percent, join_limited, kept_words, mode_name
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, fit_line, looks
from kbx_tui.tui.explore.view import DatesView, Mode
from kbx_tui.tui.widgets.lines_view import LineWidget

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import EntityCandidate, Signal
    from kbx_tui.search.ranking.rank import Ranking


class ModeBadge(LineWidget):
    """Shows the longest badge text that fits."""

    COMPONENT_CLASSES = looks("document", "entity")

    candidates: tuple[str, ...] = ()
    """The possible texts, longest first."""
    busy = False

    def show(self, candidates: tuple[str, ...], *, busy: bool = False) -> None:
        """Show the longest of these texts that fits; all of it dimmed when `busy`."""
        self.candidates, self.busy = candidates, busy
        self.refresh()

    @property
    def text(self) -> str:
        """The text on screen."""
        return longest_that_fits(self.candidates, self.size.width)

    def line(self, width: int) -> Line:
        text = longest_that_fits(self.candidates, width)
        if self.busy:
            return (Span(text, "dim"),)
        name, dot, rest = text.partition(" · ")
        return (Span(name, "entity" if name == "two-pass" else "document"), Span(dot + rest, "dim"))


def longest_that_fits(candidates: tuple[str, ...], width: int) -> str:
    """Return the first candidate of at most `width` cells, else the last one, shortened."""
    shortest = shorten(candidates[-1], width) if candidates else ""
    return next((text for text in candidates if cell_len(text) <= width), shortest)


SHORT_REASONS: Mapping[str, str] = {
    FLAT_REASONS["below_threshold"]: "below threshold",
    FLAT_REASONS["too_broad"]: "too many similar",
    FLAT_REASONS["nothing_linked"]: "nothing linked",
}
"""Where there is little room."""

LEFT_OUT: Mapping[str, str] = {
    "disabled": "not used by a flat search",
    "too_broad": "as similar as many others",
    "nothing_linked": "no document is linked to it",
}
"""Why entities above the threshold do not count in a flat search."""

SIGNAL_WORDS: Mapping[str, str] = {
    "name": "name",
    "alias": "alias",
    "first_name": "first name",
    "surname": "surname",
    "fuzzy": "like",
    "role": "role",
    "team": "team",
    "fact": "fact",
    "meaning": "meaning",
}


def mode_words(ranking: Ranking) -> Mode:
    """Return the search mode, its reason, and how long the search took."""
    from kbx_tui.search.evidence.reranking import RERANK_MS  # numpy: not for the first screen

    evidence = ranking.evidence
    timings = {name: took for name, took in evidence.timings.items() if name != RERANK_MS}
    return Mode(
        name=mode_name(ranking.search_mode, ranking.search_mode_reason),
        reason=mode_reason(ranking),
        preset=ranking.tuning.preset,
        milliseconds=timings.get("total", sum(timings.values())),
        vector_share=evidence.vector_share,
        is_cut=len(evidence.query) > MAX_QUERY,
        reranker_ms=evidence.timings.get(RERANK_MS) if ranking.is_reranked else None,
        candidates=evidence.scope.candidates,
    )


def mode_reason(ranking: Ranking) -> str:
    """Return the entities for which the second pass ran, or why it did not."""
    names = [safe_line(entity.name) for entity in ranking.kept_entities]
    return kept_words(ranking.search_mode, ranking.search_mode_reason, names)


def left_out_words(ranking: Ranking, entity: EntityCandidate) -> str:
    """Return why an entity that reaches the threshold does not count; empty if it does not."""
    tuning = ranking.tuning
    if entity.score < tuning.entity_threshold or not entity.found or entity.id in tuning.muted:
        return ""
    if ranking.search_mode == "two_pass":
        return f"only the best {tuning.max_entities} count"
    return LEFT_OUT.get(ranking.search_mode_reason, "")


def mode_candidates(mode: Mode) -> tuple[str, ...]:
    """Return texts for the badge, the longest first; it shows the first that fits."""
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
    wordings = (
        (name, cut, mode.reason, meaning, time),
        (name, cut, mode.reason, meaning),
        (name, cut, mode.reason),
        (name, cut, short, meaning, time),
        (name, cut, short, meaning),
        (name, cut, short),
        (name, cut),
        (name,),
        (mode.name,),
    )
    return tuple(" · ".join(word for word in words if word) for words in wordings)


def signal_words(signals: Sequence[Signal], most: int = 3) -> str:
    """Return why an entity matched: `name “alice”, 2 facts`; empty when only its meaning did."""
    if all(signal.kind == "meaning" for signal in signals):
        return ""
    words: list[str] = []
    facts = [signal for signal in signals if signal.kind == "fact"]
    for signal in signals:
        if signal.kind == "fact" and len(facts) > 1:
            if signal is facts[0]:
                words.append(f"{len(facts)} facts")
            continue
        word = SIGNAL_WORDS.get(signal.kind, signal.kind)
        detail = safe_line(signal.detail)
        word = f"{word} “{detail}”" if detail and signal.kind != "meaning" else word
        words.append(f"{word} ({signal.taught})" if signal.taught else word)
    return join_limited(words, ", ", limit=most)


class ChipLine(LineWidget):
    """Names keys only where there is room for all of the line."""

    chips: Line = BLANK
    without_keys: Line = BLANK

    def line(self, width: int) -> Line:
        return self.chips

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        parent = self.parent
        room = parent.content_region.right - self.region.x if isinstance(parent, Widget) else width
        return self.draw(fit_line(self.chips if width <= room else self.without_keys, width), width)


class DateChip(ChipLine):
    """Lies over the border below the query; hidden where the query has no date words."""

    COMPONENT_CLASSES = looks("accent", "strong")
    DEFAULT_CSS = "DateChip { display: none; }"

    def show(self, dates: DatesView, keymap: Keymap) -> None:
        """Show these dates, and the keys of this keymap."""
        shown = self.chips
        self.without_keys, keys = chip_words(dates), chip_keys(dates, keymap)
        self.chips = (*self.without_keys, *keys)
        self.display = True
        if self.chips != shown:
            self.refresh(layout=True)

    def hide(self) -> None:
        """Show nothing: there is no query, or it has no date words."""
        self.display = False


def chip_words(dates: DatesView) -> Line:
    """Return the time, and what it does."""
    if dates.use == "off":
        return (Span(" date words are not read", "dim"),)
    if not dates.words:
        return (Span(f" no document is dated {safe_line(dates.undated)}", "dim"),)
    return (Span(" only " if dates.use == "filter" else " prefers "), Span(dates.words, "strong"))


def chip_keys(dates: DatesView, keymap: Keymap) -> Line:
    """Return the keys that change what the time does."""
    off, only = keymap.key_of("dates.off"), keymap.key_of("dates.only")
    if dates.use == "off":
        return _key(off, "read them")
    if not dates.words:
        return _key(off, "do not read it")
    if dates.use == "filter":
        return (*_key(only, "prefer"), *_key(off, "remove"))
    return (*_key(off, "remove"), *_key(only, "only"))


def _key(key: str, label: str) -> Line:
    return (Span("  "), Span(key, "accent"), Span(f" {label}", "dim"))


CLOSE = " x "
"""The end of a chip."""


class FilterChip(ChipLine):
    """Lies over the border below the query; hidden where there is nothing to show."""

    COMPONENT_CLASSES = looks("accent", "strong", "cursor")
    DEFAULT_CSS = "FilterChip { display: none; }"

    filters: tuple[str, ...] = ()

    @dataclass
    class Removed(Message):
        """The user clicked a filter, to remove it."""

        number: int
        """Counted from 0, in the order of the query."""

    def show(self, filters: Sequence[str], words: str, keymap: Keymap) -> None:
        """Show filters, and settings in words; hide the line if there are neither."""
        self.filters = tuple(filters)
        self.display = bool(filters or words)
        remove = (*_key(keymap.key_of("filter.remove"), "remove last"),) if filters else BLANK
        settings, undo = BLANK, BLANK
        if words:
            settings = (Span("  · " if filters else " "), Span(safe_line(words), "strong"))
            undo = _key(keymap.key_of("undo"), "undo")
        chips = [span for text in filters for span in _chip(text)]
        self.without_keys = (*chips, *settings)
        shown, self.chips = self.chips, (*chips, *remove, *settings, *undo)
        if self.chips != shown:  # laying out the screen for each step of a slider would be slow
            self.refresh(layout=True)

    def hide(self) -> None:
        """Show nothing: there is no query."""
        self.display, self.filters = False, ()

    def on_click(self, event: events.Click) -> None:
        ends = accumulate(sum(cell_len(span.text) for span in _chip(text)) for text in self.filters)
        number = next((number for number, end in enumerate(ends) if event.x < end), None)
        if number is not None:
            self.post_message(self.Removed(number))


def _chip(text: str) -> Line:
    return (Span(" "), Span(f"[{text}", "strong"), Span(CLOSE.rstrip(), "dim"), Span("]", "strong"))
