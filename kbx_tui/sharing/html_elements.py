"""HTML elements whose texts and attribute values are always escaped, and scores as bars. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kbx_tui.formatting import format_score
from kbx_tui.safe_text import safe_line

VOID = frozenset({"meta"})


class Markup(str):
    """HTML made by `element`. Any other string is text, and is escaped."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | None) -> Markup:
    """Return an element; children that are not `Markup` are its text.

    Control characters are removed from text and values (`safe_line`). An attribute that is None is
    left out; in its name, `_` stands for `-`, and one at the end for nothing: `class_`.
    """
    values = "".join(
        f' {key.removesuffix("_").replace("_", "-")}="{_safe(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Markup(f"<{name}{values}>")
    return Markup(f"<{name}{values}>{joined(children)}</{name}>")


def joined(children: Iterable[str], separator: str = "") -> Markup:
    """Return elements and texts, one after the other; texts are escaped."""
    parts = (child if isinstance(child, Markup) else _safe(child) for child in children)
    return Markup(_safe(separator).join(parts))


def _safe(text: str) -> str:
    return escape(safe_line(text), quote=True)


WIDTH, HEIGHT = 160, 10
"""In CSS pixels, of a score of 1."""
NARROW = 90


def score_bar(
    score: float,
    *,
    document: float = 0.0,
    entity: float = 0.0,
    reranker: float = 0.0,
    full: int = WIDTH,
) -> Markup:
    """Return a score in digits, and its parts, each 0..1, as a bar of at most `full` pixels."""
    parts = {"document": document, "entity": entity, "reranker": reranker}
    bars, start = [], 0.0
    for kind, part in parts.items():
        width = min(max(part, 0.0) * full, full - start)
        if width > 0.0:
            bars.append(_rect(start, width, kind))
            start += width
    drawn = element(
        "svg",
        _rect(0, full, "track"),
        *bars,
        class_="bar",
        width=str(full),
        height=str(HEIGHT),
        aria_hidden="true",
    )
    digits = element("b", format_score(score), class_="score")
    return element("span", digits, drawn, class_="scored")


def patterns() -> Markup:
    """Return the hatching and the dots that bars refer to; once per page."""
    hatch = element("path", d="M-1 5 5 -1M1 7 7 1", class_="hatch")
    dots = element("circle", cx="2", cy="2", r="1.1", class_="dots")
    return element(
        "svg",
        _pattern("entity-pattern", "6", element("rect", width="6", height="6"), hatch),
        _pattern("reranker-pattern", "4", dots),
        width="0",
        height="0",
        aria_hidden="true",
        class_="patterns",
    )


def _pattern(name: str, size: str, *shapes: Markup) -> Markup:
    return element(
        "pattern", *shapes, id=name, width=size, height=size, patternUnits="userSpaceOnUse"
    )


def _rect(start: float, width: float, kind: str) -> Markup:
    return element("rect", x=f"{start:.1f}", width=f"{width:.1f}", height=str(HEIGHT), class_=kind)
