"""Lays out an entity card in lines. Pure.

Facts and open items are laid out once per width; each document only when it is drawn, so that
thousands of them cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len

from kbx_tui.formatting import format_count, join_limited
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, width_of
from kbx_tui.tui.drawing.wrapping import shorten_start, wrap_ranges
from kbx_tui.tui.explore.view import CardDocument, CardFact, CardItem, CardView

BESIDE = 48
"""From this width, in cells, the date of a fact is shown before it, not below."""
ONE_LINE = 58
"""From this width, in cells, kind and reason of a document are shown beside its title."""
SOURCES = 2
"""Sources of a fact that are listed by name."""

EDGE = 2
DATE = 10
DAY = 5


def head_lines(card: CardView, width: int) -> list[Line]:
    """Return name, type, role, aliases and counts of the entity."""
    kind = shorten(card.type, max(width // 3, 1))
    room = width - EDGE - cell_len(kind) - 1
    name, *rest = _wrapped(card.name or card.id, room - 1)
    lines: list[Line] = [
        (Span("● ", "entity"), Span(fit(name, room), "strong"), Span(kind, "dim")),
        *((Span("  "), Span(part, "strong")) for part in rest),
    ]
    position = " · ".join(filter(None, (card.role, card.team)))
    lines += _indented(position, width, "dim" if card.redacted else "text")
    lines += _indented(f"also {', '.join(card.aliases)}" if card.aliases else "", width, "dim")
    return [*lines, *_indented(_counts(card), width, "dim")]


def page_line(path: str, width: int, *, cursor: bool) -> Line:
    """Return the row of the entity's page."""
    shown = shorten_start(safe_line(path), max(width - EDGE - 6, 1))
    return (Span("› " if cursor else "  ", "dim"), Span("page "), Span(shown, "document"))


def no_page_lines(width: int) -> list[Line]:
    """Return what is shown for an entity without a page."""
    return _indented("no page of its own", width, "dim")


def item_lines(items: Sequence[CardItem], width: int) -> list[Line]:
    """Return the open items, then those done; nothing when there are none."""
    if not items:
        return []
    lines = [BLANK, title_line("Open items", sum(not item.done for item in items), width)]
    for item in sorted(items, key=lambda item: item.done):
        box: Span = Span("☑ ", "dim") if item.done else Span("☐ ", "accent")
        for index, text in enumerate(_wrapped(item.text, width - EDGE - 2 - 1)):
            is_past = item.done or bool(item.status)
            lines.append((Span("  "), Span("  ") if index else box, _text(text, is_past)))
        if below := " · ".join(filter(None, (item.date, item.status))):
            lines[-1:] = _with_date(lines[-1], below, width)
    return lines


def fact_lines(facts: Sequence[CardFact], width: int) -> list[Line]:
    """Return facts in order, inactive ones dimmed; nothing when there are none."""
    if not facts:
        return []
    lines = [BLANK, title_line("Facts", len(facts), width)]
    beside = width >= BESIDE and any(fact.date for fact in facts)
    indent = EDGE + (DATE + 2 if beside else 2)
    for fact in facts:
        names = [shorten(short_source(source), width - indent - 8) for source in fact.sources]
        sources = f"from {join_limited(names, limit=SOURCES)}" if names else ""
        below = filter(None, ("" if beside else fact.date, fact.status, sources))
        lead = fit(fact.date, DATE) + "  " if beside else "· "
        for index, text in enumerate(_wrapped(fact.text, width - indent - 1)):
            before = lead if index == 0 else " " * (indent - EDGE)
            lines.append((Span("  " + before, "dim"), _text(text, bool(fact.status))))
        lines += [
            (Span(" " * indent), Span(text, "dim"))
            for text in _wrapped(" · ".join(below), width - indent - 1)
            if text
        ]
    return lines


def title_line(words: str, count: int, width: int) -> Line:
    """Return the title of a section, with the number of its entries."""
    return (Span(f"  {shorten(words, max(width - 8, 1))}", "heading"), Span(f"  {count:,}", "dim"))


def document_groups(documents: Sequence[CardDocument]) -> Iterator[tuple[str, int]]:
    """Yield the years of `documents`, in their order, and how many each has."""
    for year, group in groupby(documents, key=lambda document: _year(document.date)):
        yield year, sum(1 for _ in group)


def group_line(year: str, count: int, width: int) -> Line:
    """Return the heading of the documents of one year."""
    words, number = f"  {year} ", f" {count:,}"
    rule = "┄" * max(width - len(words) - len(number) - 1, 0)
    return (Span(words, "dim"), Span(rule, "rule"), Span(number, "dim"))


def document_height(width: int) -> int:
    """Return how many lines a document takes."""
    return 1 if width >= ONE_LINE else 2


def document_line(document: CardDocument, part: int, width: int, *, cursor: bool) -> Line:
    """Return line `part` of a document, of `document_height`."""
    about = " · ".join(filter(None, (document.kind, document.reason)))
    indent = EDGE + DAY + 2
    if part:
        return (Span(" " * indent), Span(shorten(about, max(width - indent - 1, 0)), "dim"))
    day = document.date[5:] if _year(document.date).isdigit() else document.date
    start = (Span("› " if cursor else "  ", "dim"), Span(fit(day, DAY) + "  ", "dim"))
    room = max(width - indent - 1, 0)
    if width < ONE_LINE:
        return (*start, Span(shorten(document.title, room), "strong"))
    beside = min(room // 2, 34)
    title = Span(fit(document.title, room - beside - 2) + "  ", "strong")
    return (*start, title, Span(shorten(about, beside), "dim"))


def short_source(source: str) -> str:
    """Return a source in short: the file name of a path, without `.md`."""
    is_path = "/" in source and " " not in source
    return source.rstrip("/").rpartition("/")[2].removesuffix(".md") if is_path else source


def _counts(card: CardView) -> str:
    still_open = sum(not item.done for item in card.open_items)
    counts = [
        format_count(len(card.facts), "fact") if card.facts else "",
        f"{still_open:,} open" if still_open else "",
        format_count(len(card.documents), "document") if card.documents else "",
    ]
    return " · ".join(filter(None, counts)) or "nothing is known about it yet"


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
