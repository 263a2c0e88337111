"""The documents that only one of two settings has among the first results, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kbx_tui.formatting import format_count
from kbx_tui.tui.comparing.view import CompareView, Reason
from kbx_tui.tui.drawing.cell_text import wrap
from kbx_tui.tui.drawing.lines import BLANK, Line, Look, Span, looks, paragraph
from kbx_tui.tui.widgets.lines_view import TextPane


class LostAndGained(TextPane):
    """Two lists of titles, each with ranks and reason."""

    COMPONENT_CLASSES = looks("strong", "accent", "bad")

    view: CompareView | None = None
    pair: tuple[str, ...] = ()
    """Why the marked result is before or behind the one at the cursor, under A and under B."""

    def show(self, view: CompareView | None) -> None:
        """Show the lists of this comparison; nothing for None."""
        self.view = view
        self.rebuild_lines()

    def show_pair(self, pair: tuple[str, ...]) -> None:
        """Show these sentences on two results above the lists."""
        if pair != self.pair:
            self.pair = pair
            self.rebuild_lines()
            self.scroll_to_line(0)

    def build(self, width: int) -> list[Line]:
        lines = [line for text in self.pair for line in paragraph(text, width)]
        return [*lines, *([BLANK] if lines else []), *self._lists(width)]

    def _lists(self, width: int) -> list[Line]:
        view = self.view
        if view is None:
            return []
        moved = f"{format_count(view.moved, 'document')} of both moved" if view.moved else ""
        if not (view.lost or view.gained):
            return paragraph(f"Both find the same. {moved or 'Nothing moved'}.", width)
        lines = [*_list("Lost", "bad", view.lost, width)]
        lines += _list("Gained", "accent", view.gained, width)
        return [*lines, BLANK, *paragraph(f"{moved}.", width, "dim")] if moved else lines


def _list(name: str, look: Look, reasons: Sequence[Reason], width: int) -> Iterator[Line]:
    for number, reason in enumerate(reasons):
        label = Span(f"{name if number == 0 else '':<7}", look)
        text = f"{reason.title}  {reason.ranks}"
        lines = wrap(f"{text}: {reason.reason}", max(width - 8, 1))
        yield (label, Span(lines[0]))
        yield from ((Span(" " * 7), Span(line, "dim")) for line in lines[1:])
