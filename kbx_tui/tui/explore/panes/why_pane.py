"""Why the result under the cursor stands where it stands."""

from __future__ import annotations

from itertools import zip_longest

from rich.cells import cell_len

from kbx_tui.formatting import score_text
from kbx_tui.tui.drawing.cell_text import fit, shorten, wrap
from kbx_tui.tui.drawing.empty_states import Invitation, nothing, squeezed
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, fit_line, looks, width_of
from kbx_tui.tui.explore.view import Part, Section, SnippetView, Term, Why
from kbx_tui.tui.widgets.lines_view import TextPane

FEW_LINES = 14
"""A pane lower than this says what matters side by side, and nothing else."""
TWO_COLUMNS = 64
"""Cells that takes."""


class WhyPane(TextPane):
    """The arithmetic of one result."""

    COMPONENT_CLASSES = looks("strong", "accent", "document", "entity")

    def __init__(self) -> None:
        super().__init__()
        self.why: Why | None = None
        self.snippet: SnippetView | None = None
        self.invitation: Invitation = nothing
        """What stands here when there is nothing to explain."""

    def show(self, why: Why | None, snippet: SnippetView | None) -> None:
        """Show the reasons for another result, or for the same one anew."""
        same = why is not None and self.why is not None and why.row == self.why.row
        self.why, self.snippet = why, snippet
        self.lines_changed()
        if not same:
            self.scroll_line(0)

    def build(self, width: int) -> list[Line]:
        if self.why is None:
            return squeezed(self.invitation(width), self.line_room)
        if self.line_room < FEW_LINES and width >= TWO_COLUMNS:
            return why_side_by_side(self.why, self.snippet, width)
        return why_lines(self.why, self.snippet, width)


def why_lines(why: Why, snippet: SnippetView | None, width: int) -> list[Line]:
    """Return the explanation in lines of at most `width` cells."""
    lines: list[Line] = [(Span(line, "strong"),) for line in wrap(why.title, width)]
    facts = " · ".join(fact for fact in (why.kind, why.date) if fact)
    lines += [(Span(facts, "dim"),), BLANK] if facts else [BLANK]
    lines += formula_lines(why)
    for section in why.sections:
        lines += [BLANK, *section_lines(section, width)]
    if snippet is not None:
        lines += [BLANK, *place_lines(snippet, width)]
    return [*lines, BLANK, *((Span(line, "dim"),) for line in wrap(why.path, width))]


def why_side_by_side(why: Why, snippet: SnippetView | None, width: int) -> list[Line]:
    """Return the formula on the left and what it is made of on the right."""
    left = formula_lines(why)
    left_width = max(width_of(line) for line in left) + 3
    if snippet is not None:
        left += [BLANK, *place_lines(snippet, left_width - 2)]
    right: list[Line] = []
    for section in why.sections:
        right += section_lines(section, width - left_width)
    return [
        (*(cut := fit_line(a, left_width - 1)), Span(" " * (left_width - width_of(cut))), *b)
        for a, b in zip_longest(left, right, fillvalue=BLANK)
    ]


def formula_lines(why: Why) -> list[Line]:
    """Return the score as weight times value, one term per line."""
    score = Span(f"{score_text(why.score):>4}", "text")
    lines: list[Line] = []
    if why.exact:
        lines = [(Span(f"1.00 exact {why.exact}: shown first", "accent"),), (Span("else", "dim"),)]
    if len(why.terms) == 1 and why.hotness is None:
        return [*lines, (score, Span(" = the document alone"))]
    hot = why.hotness
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
    """Return a number of the formula and the parts that sum to it."""
    sign = "█" if section.name == "document" else "▒"
    head: Line = (
        Span(f"{sign} {section.name} ", _look(section.name)),
        Span(score_text(section.total), "text"),
    )
    note = shorten(section.note, max(width - width_of(head) - 2, 0))
    lines: list[Line] = [(*head, Span(f"  {note}", "dim"))]
    names = max([cell_len(part.name) for part in section.parts], default=0)
    beside: list[Line] = [
        (*_part_start(part, names), Span(f"  {part.reason}", "dim")) for part in section.parts
    ]
    if all(width_of(line) <= width for line in beside):
        return lines + beside
    for part in section.parts:
        lines.append(fit_line(_part_start(part, names), width))
        lines.append((Span(" " * 8), Span(shorten(part.reason, width - 8), "dim")))
    return lines


def place_lines(snippet: SnippetView, width: int) -> list[Line]:
    """Return which words were found and where the best place is."""
    lines: list[Line] = []
    if snippet.terms:
        found = ", ".join(f"{term} ×{count}" for term, count in snippet.terms)
        lines += [(Span(line),) for line in wrap(found, width)]
    if snippet.line_start:
        place = f"line {snippet.line_start}" + (f" · {snippet.heading}" if snippet.heading else "")
        lines += [(Span(line, "dim"),) for line in wrap(place, width)]
    return lines


def weight_text(weight: float) -> str:
    """Return a weight in full: `.50`, `.125`."""
    if round(weight, 2) == round(weight, 6):
        return score_text(weight)
    return f"{weight:.6f}".strip("0")


def _term(term: Term) -> Line:
    value = Span(score_text(term.value), "text")
    return (Span(f"{weight_text(term.weight)} × "), value, Span(f" {term.name}", _look(term.name)))


def _part_start(part: Part, name_width: int) -> Line:
    most = "" if part.most is None else f" of {score_text(part.most)}"
    name = Span(f"  {fit(part.name, name_width)}")
    return (Span(f"{score_text(part.value):>6}", "text"), Span(most, "dim"), name)


def _look(name: str) -> Look:
    return "document" if name == "document" else "entity" if name == "entity" else "text"
