"""An entity card in lines. Pure.

What is not a document is laid out once per width, as `text`; a document is laid out when it is
drawn, so thousands of them cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.cells import cell_len

from kbx_tui.formatting import count_words, join_words
from kbx_tui.safe_text import visible
from kbx_tui.tui.drawing.cell_text import fit, shorten
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, width_of
from kbx_tui.tui.drawing.wrapping import pieces, shorten_start
from kbx_tui.tui.explore.view import CardDocument, CardFact, CardItem, CardView

BESIDE = 48
"""From this many cells on, the date of a fact stands before it and not below."""
ONE_LINE = 58
"""From this many cells on, kind and reason of a document stand beside its title."""
SOURCES = 2
"""Sources of a fact that are named."""

EDGE = 2
DATE = 10
DAY = 5


def head_lines(card: CardView, width: int) -> list[Line]:
    """Return who this is."""
    kind = shorten(card.type, max(width // 3, 1))
    names = _wrapped(card.name or card.id, width - EDGE - cell_len(kind) - 2)
    lines: list[Line] = []
    for index, name in enumerate(names):
        sign = Span("● " if index == 0 else "  ", "entity")
        room = width - EDGE - cell_len(kind) - 1
        line: Line = (sign, Span(fit(name, room) if index == 0 else name, "strong"))
        lines.append((*line, Span(kind, "dim")) if index == 0 else line)
    place = " · ".join(word for word in (card.role, card.team) if word)
    lines += _indented(place, width, "text")
    lines += _indented(f"also {', '.join(card.aliases)}" if card.aliases else "", width, "dim")
    return [*lines, *_indented(_counts(card), width, "dim")]


def page_line(path: str, width: int, *, cursor: bool) -> Line:
    """Return the row of the entity's own page."""
    return (
        Span("› " if cursor else "  ", "dim"),
        Span("page ", "text"),
        Span(shorten_start(visible(path), max(width - EDGE - 6, 1)), "document"),
    )


def no_page_lines(width: int) -> list[Line]:
    """Return what stands in the place of the row of the page."""
    return _indented("no page of its own", width, "dim")


def item_lines(items: Sequence[CardItem], width: int) -> list[Line]:
    """Return open items, those that are done last; nothing when there are none."""
    if not items:
        return []
    lines = [BLANK, _title("Open items", sum(not item.done for item in items), width)]
    for item in sorted(items, key=lambda item: item.done):
        box: Span = Span("☑ ", "dim") if item.done else Span("☐ ", "accent")
        texts = _wrapped(item.text, width - EDGE - 2 - 1)
        for index, text in enumerate(texts):
            lines.append((Span("  "), box if index == 0 else Span("  "), _text(text, item.done)))
        if item.date:
            lines[-1:] = _with_date(lines[-1], item.date, width)
    return lines


def fact_lines(facts: Sequence[CardFact], width: int) -> list[Line]:
    """Return facts in their order, those that hold no more greyed; nothing when there are none."""
    if not facts:
        return []
    lines = [BLANK, _title("Facts", len(facts), width)]
    beside = width >= BESIDE and any(fact.date for fact in facts)
    indent = EDGE + (DATE + 2 if beside else 2)
    for fact in facts:
        below = [] if beside or not fact.date else [fact.date]
        below += [fact.status] if fact.status else []
        if fact.sources:
            names = [shorten(short_source(one), width - indent - 8) for one in fact.sources]
            below.append(f"from {join_words(names, most=SOURCES)}")
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


def document_groups(documents: Sequence[CardDocument]) -> Iterator[tuple[str, int]]:
    """Yield the years of `documents`, newest first as they come, and how many each has."""
    for year, group in groupby(documents, key=lambda document: _year(document.date)):
        yield year, sum(1 for _ in group)


def documents_title(count: int, width: int) -> Line:
    """Return the title of the timeline."""
    return _title("Documents", count, width)


def group_line(year: str, count: int, width: int) -> Line:
    """Return the line above the documents of one year."""
    words, number = f"  {year} ", f" {count:,}"
    return (
        Span(words, "dim"),
        Span("┄" * max(width - len(words) - len(number) - 1, 0), "rule"),
        Span(number, "dim"),
    )


def document_height(width: int) -> int:
    """Return how many lines a document takes."""
    return 1 if width >= ONE_LINE else 2


def document_line(document: CardDocument, part: int, width: int, *, cursor: bool) -> Line:
    """Return one of the lines of a document."""
    about = " · ".join(word for word in (document.kind, document.reason) if word)
    indent = EDGE + DAY + 2
    if part:
        return (Span(" " * indent), Span(shorten(about, max(width - indent - 1, 0)), "dim"))
    day = document.date[5:] if _year(document.date).isdigit() else document.date
    start = (Span("› " if cursor else "  ", "dim"), Span(fit(day, DAY) + "  ", "dim"))
    room = max(width - indent - 1, 0)
    if width < ONE_LINE:
        return (*start, Span(shorten(document.title, room), "strong"))
    beside = min(room // 2, 34)
    return (
        *start,
        Span(fit(document.title, room - beside - 2) + "  ", "strong"),
        Span(shorten(about, beside), "dim"),
    )


def short_source(source: str) -> str:
    """Return a source in few words: of a path its last part, without its ending."""
    is_path = "/" in source and " " not in source
    return source.rstrip("/").rpartition("/")[2].removesuffix(".md") if is_path else source


def _counts(card: CardView) -> str:
    still_open = sum(not item.done for item in card.open_items)
    counts = [
        count_words(len(card.facts), "fact") if card.facts else "",
        f"{still_open:,} open" if still_open else "",
        count_words(len(card.documents), "document") if card.documents else "",
    ]
    return " · ".join(filter(None, counts)) or "nothing is known about it yet"


def _title(words: str, count: int, width: int) -> Line:
    return (Span(f"  {shorten(words, max(width - 8, 1))}", "heading"), Span(f"  {count:,}", "dim"))


def _year(date: str) -> str:
    return date[:4] if date[:4].isdigit() else "no date"


def _text(text: str, is_past: bool) -> Span:
    look: Look = "dim" if is_past else "text"
    return Span(text, look)


def _with_date(line: Line, date: str, width: int) -> list[Line]:
    if width_of(line) + 2 + cell_len(date) < width:
        return [(*line, Span(f"  {date}", "dim"))]
    return [line, (Span(" " * (EDGE + 2)), Span(date, "dim"))]


def _indented(text: str, width: int, look: Look) -> list[Line]:
    if not text:
        return []
    return [(Span("  "), Span(line, look)) for line in _wrapped(text, width - EDGE - 1)]


def _wrapped(text: str, width: int) -> list[str]:
    return [text[start:end] for start, end in pieces(text, max(width, 2))]
