"""Fits text into terminal cells, of which wide characters take two. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.wrapping import wrap_ranges

ELLIPSIS = "…"


def fit(text: str, width: int) -> str:
    """Return `text` in exactly `width` cells: cut with an ellipsis, or padded with spaces."""
    if cell_len(text) <= width:
        return set_cell_size(text, max(width, 0))
    if width <= 0:
        return ""
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + ELLIPSIS, width)


def shorten(text: str, width: int) -> str:
    """Return `text`, cut with an ellipsis if it is wider than `width` cells."""
    return text if cell_len(text) <= width else fit(text, width).rstrip()


def longest_fitting(wordings: Sequence[str], width: int) -> str:
    """Return the first of these wordings, the longest first, that fits; else the last."""
    return next((text for text in wordings if cell_len(text) <= width), wordings[-1])


def wrap(text: str, width: int) -> list[str]:
    """Return `text` as lines of at most `width` cells, with the indent of the first line."""
    if width <= 0 or cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    indent = indent if cell_len(indent) < width // 2 else ""
    (start, end), *rest = wrap_ranges(text, width, cell_len(indent))
    return [text[start:end], *(indent + text[start:end] for start, end in rest)]


def format_place(path: str, line: int) -> str:
    """Return path and line of a fact, without the `memory` folder that holds all pages."""
    inner = path.removeprefix("memory/")
    return safe_line(f"{inner}:{line}" if line else inner)
