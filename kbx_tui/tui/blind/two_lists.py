"""Two result lists without names: side by side, or one below the other where that is too narrow."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.tui.blind.question import Question, ShownResult
from kbx_tui.tui.drawing.cell_text import fit
from kbx_tui.tui.drawing.lines import BLANK, Line, Span, highlight, looks, slice_line, width_of
from kbx_tui.tui.drawing.wrapping import wrap_ranges
from kbx_tui.tui.widgets.lines_view import TextPane

BESIDE_FROM = 64
"""The width from which the lists are side by side."""
SPACINGS = ((3, 1), (3, 0), (2, 0), (1, 0), (0, 0))
"""Lines of a passage, and blank lines below it; the first for which there is room is used."""
DATE = 10


class TwoLists(TextPane):
    """The question, or a text while there is none."""

    COMPONENT_CLASSES = looks("strong", "accent", "rule")

    question: Question | None = None

    def show(self, question: Question | None) -> None:
        """Show a question; None shows the empty state."""
        self.question = question
        self.rebuild_lines()
        self.scroll_to_line(0)

    def build(self, width: int) -> list[Line]:
        if self.question is None:
            return self.empty_lines()
        for passage, gap in SPACINGS:
            lines = question_lines(self.question, width, passage, gap)
            if len(lines) <= self.visible_height:
                break
        return lines


def question_lines(question: Question, width: int, passage: int, gap: int) -> list[Line]:
    """Return both lists with passages of at most `passage` lines, and `gap` lines between them."""
    if width < BESIDE_FROM:
        return [
            *_list("List 1", question.first_results, width, passage, gap),
            *_list("List 2", question.second_results, width, passage, gap),
        ]
    half = (width - 3) // 2
    left = _list("List 1", question.first_results, half, passage, gap)
    right = _list("List 2", question.second_results, half, passage, gap)
    height = max(len(left), len(right))
    return [
        (
            *(line := left[y] if y < len(left) else BLANK),
            Span(" " * (half - width_of(line))),
            Span(" │ ", "rule"),
            *(right[y] if y < len(right) else BLANK),
        )
        for y in range(height)
    ]


def _list(
    name: str, results: Sequence[ShownResult], width: int, passage: int, gap: int
) -> list[Line]:
    lines: list[Line] = [(Span(f" {name} ", "accent"), Span("─" * (width - 9), "rule"))]
    if not results:
        lines.append((Span("   no result", "dim"),))
    for rank, result in enumerate(results, 1):
        dated = f" {result.date:>{DATE}} " if width >= 40 else " "
        title = fit(result.title, max(width - 4 - len(dated), 1))
        lines.append(
            (
                Span(f" {rank}  ", "dim"),
                Span(title, "dim" if result.is_same else "strong"),
                Span(dated, "dim"),
            )
        )
        lines += [*_passage(result, width - 5, passage), *[BLANK] * gap]
    return lines


def _passage(result: ShownResult, width: int, count: int) -> list[Line]:
    """Return exactly `count` lines, so that equal ranks stand side by side."""
    lines: list[Line] = []
    if result.snippet is not None and count:
        text = result.snippet.text
        marked = highlight(text, () if result.is_same else result.snippet.matches)
        for start, end in wrap_ranges(text, max(width, 8))[:count]:
            lines.append((Span("    "), *slice_line(marked, start, end)))
    return [*lines, *[BLANK] * (count - len(lines))]
