"""Marks for text that must not be passed on: `#redacted`, `(status: redacted)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kbx_tui.knowledge.facts.fact_line import MARKERS, read_fact_line, read_status
from kbx_tui.knowledge.parsing.fields import text_of

REDACTED = "redacted"
"""Part of every mark, in any letter case."""

_MARK = re.compile(
    r"(?:^|(?<=[\s|>*_(]))#redacted\b|[(\[]\s*(?:status::?\s*)?redacted\s*[)\]]", re.IGNORECASE
)


def has_redaction_mark(text: str) -> bool:
    """Return whether a line, paragraph or heading is marked as redacted."""
    if REDACTED not in text.lower():
        return False
    if _MARK.search(text):
        return True
    return read_fact_line(MARKERS.sub("", text)).status == REDACTED


def is_page_redacted(title: str, frontmatter: Mapping[str, Any]) -> bool:
    """Return whether a whole page is redacted, by its `status:` or a mark in its title."""
    statuses = (value for key, value in frontmatter.items() if key.casefold() == "status")
    return has_redaction_mark(title) or any(
        read_status(text_of(value)) == REDACTED for value in statuses
    )
