"""HTML elements whose texts and attribute values are always escaped. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from kbx_tui.safe_text import safe_line

VOID = frozenset({"meta"})
"""Names of elements without an end tag."""


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
