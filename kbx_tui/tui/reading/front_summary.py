"""What the frontmatter of a document holds, in one line. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.formatting import format_count
from kbx_tui.knowledge.parsing.fields import tags_of
from kbx_tui.knowledge.parsing.frontmatter import read_frontmatter
from kbx_tui.safe_text import safe_line
from kbx_tui.tui.drawing.cell_text import shorten
from kbx_tui.tui.reading.markdown_lines import Kind

MOST_TYPE = 20
"""Cells of the type."""


def front_summary(text: str, kinds: Sequence[Kind]) -> str:
    """Return `frontmatter: 6 lines, type meeting, 3 tags`; empty without frontmatter.

    `kinds` says what each line of `text` is.
    """
    lines = next((number for number, kind in enumerate(kinds) if kind != "front"), len(kinds))
    if not lines:
        return ""
    values = read_frontmatter(text.replace("\r\n", "\n")).values
    kind, tags = values.get("type"), tags_of(values)
    facts = [format_count(max(lines - 2, 0), "line")]
    if isinstance(kind, str) and kind.strip():
        facts.append(f"type {shorten(safe_line(kind), MOST_TYPE)}")
    facts += [format_count(len(tags), "tag")] if tags else []
    return f"frontmatter: {', '.join(facts)}"
