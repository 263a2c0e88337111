"""Which text bears the mark of what is not to be passed on. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kbx_tui.knowledge.facts.fact_line import MARKERS, read_fact_line, read_status
from kbx_tui.knowledge.parsing.fields import text_of

WORD = "redacted"
"""Every mark holds it, in any letter case."""

_MARK = re.compile(
    r"(?:^|(?<=[\s|>*_(]))#redacted\b|[(\[]\s*(?:status::?\s*)?redacted\s*[)\]]", re.IGNORECASE
)


def is_marked(text: str) -> bool:
    """Tell whether a line, paragraph or heading bears a mark: `#redacted`, `(status: redacted)`."""
    if WORD not in text.lower():
        return False
    if _MARK.search(text):
        return True
    return read_fact_line(MARKERS.sub("", text)).status == WORD


def is_page_marked(title: str, frontmatter: Mapping[str, Any]) -> bool:
    """Tell whether a page is redacted as a whole: by its `status:`, or by a mark in its title."""
    statuses = (value for key, value in frontmatter.items() if key.casefold() == "status")
    return is_marked(title) or any(read_status(text_of(value)) == WORD for value in statuses)
