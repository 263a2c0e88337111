"""Marks for text that must not be passed on: `#redacted`, `(redacted)`, `(status: redacted)`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kbx_tui.knowledge.facts.fact_line import MARKERS, read_fact_line
from kbx_tui.knowledge.parsing.fields import tags_of

REDACTED = "redacted"
"""Part of every mark, in any letter case."""

_TAG = r"(?:^|(?<=[\s|>*_(]))#redacted\b"
_BRACKETS = r"[(\[]\s*(?:status::?\s*)?redacted\s*[)\]]"
_MARK = re.compile(f"{_TAG}|{_BRACKETS}", re.IGNORECASE)
_FIELD_MARK = re.compile(rf"#[ \t]*redacted\b|{_BRACKETS}", re.IGNORECASE)
_LONE_MARK = re.compile(
    r"(?:#redacted\b|\(\s*(?:status::?\s*)?redacted\s*\)|\[\s*status::?\s*redacted\s*\]"
    r"|status::?\s*redacted\b)",
    re.IGNORECASE,
)
_OTHER_TAG = re.compile(r"(?:^|(?<=\s))#[^\s#]+")
_WORD = re.compile(r"\bredacted\b", re.IGNORECASE)
_NO = frozenset({"", "false", "no", "none", "null", "0", "off", "~"})


def has_redaction_mark(text: str) -> bool:
    """Return whether a line, paragraph or heading is marked as redacted."""
    if REDACTED not in text.lower():
        return False
    if _MARK.search(text):
        return True
    return read_fact_line(MARKERS.sub("", text)).status == REDACTED


def is_lone_mark(text: str) -> bool:
    """Return whether a block holds a mark, perhaps other tags, and nothing else.

    `[redacted]` is none: it stands for text that its writer already took out.
    """
    if REDACTED not in text.lower():
        return False
    rest, marks = _LONE_MARK.subn("", text)
    return bool(marks) and not any(map(str.isalnum, _OTHER_TAG.sub("", rest)))


def has_field_mark(line: str) -> bool:
    """Return whether a line of frontmatter is marked, where `# redacted` is a comment."""
    return REDACTED in line.lower() and _FIELD_MARK.search(line) is not None


def is_page_redacted(title: str, frontmatter: Mapping[str, Any]) -> bool:
    """Return whether a whole page is redacted.

    It is by a mark in its title, by `status:` (a text or a list with the word), by `redacted:` with
    any value but no, and by the tag `redacted`.
    """
    if has_redaction_mark(title):
        return True
    for key, value in frontmatter.items():
        name = key.strip().casefold()
        if name == "status" and _WORD.search(str(value)):
            return True
        if name == REDACTED and str(value).strip().casefold() not in _NO:
            return True
    return any(
        tag.casefold().split("/")[0] == REDACTED
        for tag in tags_of({key.strip().casefold(): value for key, value in frontmatter.items()})
    )
