"""Lines of styled text. Pure, but for `LineDrawing`.

A widget draws `Line`s; how a look appears is decided in `styles/` under the class `look--<look>`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from kbx_tui.tui.drawing.cell_text import fit

Look = Literal[
    "text",
    "dim",
    "strong",
    "accent",
    "document",
    "entity",
    "rule",
    "bad",
    "label",
    "track",
    "knob",
    "heading",
    "emphasis",
    "code",
    "link",
    "match",
    "here",
    "cursor",
]
"""What a piece of text is: `strong` titles and matches, `accent` keys and what moved.

`heading` to `here` are for documents; `here` is the match or link a person is at. `cursor` is the
ground of the row a person is at.
"""


def looks(*names: Look) -> set[str]:
    """Return the component classes of a widget that draws in these looks, besides text and dim.

    A widget names the few it needs: every class is styled anew whenever its widget is.
    """
    return {f"look--{name}" for name in ("text", "dim", *names)}


class Span(NamedTuple):
    """A piece of a line that looks one way."""

    text: str
    look: Look = "text"


Line = tuple[Span, ...]
BLANK: Line = ()


def width_of(line: Line) -> int:
    """Return how many cells `line` takes."""
    return sum(cell_len(span.text) for span in line)


def fit_line(line: Line, width: int) -> Line:
    """Return `line` cut to `width` cells; a shorter one is returned as it is."""
    left, spans = width, []
    for span in line:
        size = cell_len(span.text)
        if size > left:
            spans.append(Span(fit(span.text, left), span.look))
            break
        spans.append(span)
        left -= size
    return tuple(spans)


def highlighted(text: str, spans: Sequence[tuple[int, int]], look: Look = "dim") -> Line:
    """Return `text` with `spans` of it as matches."""
    line, at = [], 0
    for start, end in spans:
        line += [Span(text[at:start], look), Span(text[start:end], "strong")]
        at = end
    return tuple(span for span in (*line, Span(text[at:], look)) if span.text)


class LineDrawing:
    """Mixin for widgets whose component classes are `looks`."""

    def draw(self: Any, line: Line, width: int, *, cursor: bool = False) -> Strip:
        """Return `line` as exactly `width` cells in the looks of this widget."""
        ground = Style.null()
        if cursor:  # only its background: the looks keep their colours
            ground = Style(bgcolor=self.get_component_rich_style("look--cursor").bgcolor)
        segments = [
            Segment(span.text, self.get_component_rich_style(f"look--{span.look}") + ground)
            for span in line
        ]
        blank: Style = self.get_component_rich_style("look--text") + ground
        return Strip(segments).adjust_cell_length(width, blank)
