"""Fitting text into the cells of a terminal: wide characters take two of them. Pure."""

from __future__ import annotations

import re

from rich.cells import cell_len, chop_cells, set_cell_size

ELLIPSIS = "…"


def fit(text: str, width: int) -> str:
    """Return `text` as exactly `width` cells: cut with an ellipsis, or filled with spaces."""
    if cell_len(text) <= width:
        return set_cell_size(text, max(width, 0))
    if width <= 0:
        return ""
    return set_cell_size(set_cell_size(text, width - 1).rstrip() + ELLIPSIS, width)


def shorten(text: str, width: int) -> str:
    """Return `text`, cut with an ellipsis when it takes more than `width` cells."""
    return text if cell_len(text) <= width else fit(text, width).rstrip()


def wrap(text: str, width: int) -> list[str]:
    """Return `text` in lines of at most `width` cells, broken at spaces or after slashes."""
    if width <= 0 or cell_len(text) <= width:
        return [text]
    indent = text[: len(text) - len(text.lstrip())]
    indent = indent if cell_len(indent) < width // 2 else ""
    lines: list[str] = []
    line = ""
    for word in re.findall(r"\s*[^\s/]+/*|\s*/+", text):
        if cell_len(line) + cell_len(word) <= width:
            line += word
            continue
        if line:
            lines.append(line)
        line = indent + word.lstrip() if lines else word
        while cell_len(line) > width:  # one word wider than a line
            head, *rest = chop_cells(line, width)
            lines.append(head)
            line = indent + "".join(rest)
    return [*lines, line]
