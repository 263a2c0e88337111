"""The pane that explains the score of the result under the cursor."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from rich.cells import cell_len

from kbx_tui.formatting import format_score
from kbx_tui.tui.drawing.cell_text import fit, shorten, wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks, width_of
from kbx_tui.tui.explore.view import Addend, Reranking, Section, Term, Why
from kbx_tui.tui.widgets.lines_view import TextPane

if TYPE_CHECKING:
    from kbx_tui.search.results.response import Snippet


FEW_LINES = 14
"""A pane with fewer lines shows only the formula and its sections, side by side."""
REASON_LINES = 2
RERANKER_BAR = 10
TWO_COLUMNS = 64


class WhyPane(TextPane):
    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity", "reranker")

    why: Why | None = None
    snippet: Snippet | None = None
    difference = ""

    def show(self, why: Why | None, snippet: Snippet | None, difference: str = "") -> None:
        """Show an explanation; `difference` says why a marked result is before or behind it."""
        same = why is not None and self.why is not None and why.row == self.why.row
        self.why, self.snippet, self.difference = why, snippet, difference
        self.rebuild_lines()
        if not same:
            self.scroll_to_line(0)

    def build(self, width: int) -> list[Line]:
        if self.why is None:
            return self.empty_lines()
        pair = _wrapped(self.difference, width, "accent") if self.difference else []
        if self.visible_height < FEW_LINES and width >= TWO_COLUMNS:
            return [*pair, *why_side_by_side(self.why, self.snippet, width)]
        return [*pair, *([BLANK] if pair else []), *why_lines(self.why, self.snippet, width)]


def why_lines(why: Why, snippet: Snippet | None, width: int) -> list[Line]:
    lines = _wrapped(why.title, width, "strong")
    if facts := " · ".join(filter(None, (why.kind, why.date))):
        lines.append((Span(facts, "dim"),))
    lines += [BLANK, *formula_lines(why)]
    for section in why.sections:
        lines += [BLANK, *section_lines(section, width)]
    if why.reranking is not None:
        lines += [BLANK, *reranking_lines(why.reranking, width)]
    if snippet is not None:
        lines += [BLANK, *location_lines(snippet, width)]
    return [*lines, BLANK, *_wrapped(why.path, width, "dim")]


def why_side_by_side(why: Why, snippet: Snippet | None, width: int) -> list[Line]:
    left = formula_lines(why)
    left_width = max(width_of(line) for line in left) + 3
    if snippet is not None:
        left += [BLANK, *location_lines(snippet, left_width - 2)]
    right: list[Line] = []
    for section in why.sections:
        right += section_lines(section, width - left_width)
    if why.reranking is not None:
        right += reranking_lines(why.reranking, width - left_width)
    return [
        (*(cut := fit_line(line, left_width - 1)), Span(" " * (left_width - width_of(cut))), *rest)
        for line, rest in zip_longest(left, right, fillvalue=BLANK)
    ]


def formula_lines(why: Why) -> list[Line]:
    lines: list[Line] = []
    score = Span(f"{format_score(why.score):>4}", "text")
    if (reranking := why.reranking) is not None:
        plain, added = (
            Span(format_score(value), "text") for value in (reranking.plain, reranking.added)
        )
        lines = [(score, Span(" = "), plain, Span(" + "), added, Span(" reranker", "reranker"))]
        score = Span(f"{plain.text:>4}", "text")
    if why.known_item:
        first = f"1.00 exact {why.known_item}: shown first"
        lines = [(Span(first, "accent"),), (Span("else", "dim"),)]
    if len(why.terms) == 1 and why.frecency is None:
        return [*lines, (score, Span(" = the document alone"))]
    hot = why.frecency
    opening = "" if hot is None else f"{weight_text(1.0 - hot.weight)} × ( "
    for index, term in enumerate(why.terms):
        start = (score, Span(f" = {opening}"))
        more = (Span(" " * (4 + cell_len(opening))), Span(" + "))
        lines.append((*(more if index else start), *_term(term)))
    if hot is not None:
        lines[-1] = (*lines[-1], Span(" )"))
        lines.append((Span("     + "), *_term(hot)))
    return lines


def section_lines(section: Section, width: int) -> list[Line]:
    sign = "█" if section.name == "document" else "▒"
    head: Line = (
        Span(f"{sign} {section.name} ", _look(section.name)),
        Span(format_score(section.total), "text"),
    )
    lines: list[Line] = [(*head, Span(f"  {note}", "dim")) for note in section.notes[:1]] or [head]
    if width_of(lines[0]) > width:
        lines = [head, *((Span(f"  {line}", "dim"),) for line in wrap(section.notes[0], width - 2))]
    lines += [(Span(f"  {shorten(note, width - 2)}", "dim"),) for note in section.notes[1:]]
    name_width = max([cell_len(addend.name) for addend in section.addends], default=0)
    beside: list[Line] = [
        (*_addend_start(addend, name_width), Span(f"  {addend.reason}", "dim"))
        for addend in section.addends
    ]
    if all(width_of(line) <= width for line in beside):
        return lines + beside
    for addend in section.addends:
        lines.append(fit_line(_addend_start(addend, name_width), width))
        reason = wrap(addend.reason, max(width - 8, 1))[:REASON_LINES]
        lines += ((Span(" " * 8), Span(line, "dim")) for line in reason)
    return lines


def reranking_lines(reranking: Reranking, width: int) -> list[Line]:
    score, added = format_score(reranking.score), format_score(reranking.added)
    bar = Span("  " + "░" * round(reranking.score * RERANKER_BAR), "reranker")
    most = Span(f" of {format_score(reranking.maximum)}", "dim")
    return [
        fit_line((Span("░ reranker ", "reranker"), Span(score), bar), width),
        fit_line((Span(f"{added:>6}"), most, Span("  added")), width),
    ]


def location_lines(snippet: Snippet, width: int) -> list[Line]:
    lines: list[Line] = []
    if snippet.terms:
        lines += _wrapped(", ".join(f"{term} ×{count}" for term, count in snippet.terms), width)
    if snippet.line_start:
        place = f"line {snippet.line_start}" + (f" · {snippet.heading}" if snippet.heading else "")
        lines += _wrapped(place, width, "dim")
    return lines


def weight_text(weight: float) -> str:
    """Return a weight in full: `.50`, `.125`."""
    if round(weight, 2) == round(weight, 6):
        return format_score(weight)
    return f"{weight:.6f}".strip("0")


def _term(term: Term) -> Line:
    value = Span(format_score(term.value), "text")
    return (Span(f"{weight_text(term.weight)} × "), value, Span(f" {term.name}", _look(term.name)))


def _addend_start(addend: Addend, name_width: int) -> Line:
    maximum = "" if addend.maximum is None else f" of {format_score(addend.maximum)}"
    name = Span(f"  {fit(addend.name, name_width)}")
    return (Span(f"{format_score(addend.value):>6}", "text"), Span(maximum, "dim"), name)


def _look(name: str) -> Look:
    return "document" if name == "document" else "entity" if name == "entity" else "text"


def _wrapped(text: str, width: int, look: Look = "text") -> list[Line]:
    return [(Span(line, look),) for line in wrap(text, width)]
