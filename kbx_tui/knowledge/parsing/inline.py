"""Inline markup: wikilinks, and plain text without markup."""

from __future__ import annotations

import re
from collections.abc import Iterator

CODE_SPAN = (
    r"(?<!`)(?P<ticks>`{1,16})(?!`)(?:[^`\n]|\n(?!\n)|(?!(?P=ticks)(?!`))`){1,2000}?(?P=ticks)(?!`)"
)
"""A pattern of code within a line or paragraph."""

_CODE_SPAN_OR_WIKILINK = re.compile(
    CODE_SPAN + r"|\[\[(?P<target>[^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?"
    r"(?:\|[^\[\]\n]{0,300})?\]\]"
)
EMPHASIS = (
    re.compile(r"(?<![*\\])\*\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*\*(?!\*)"),
    re.compile(r"(?<![*\\\w])\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*(?![*\w])"),
    re.compile(r"(?<![_\\\w])__(?=\S)([^_\n]{1,500}?)(?<=\S)__(?![_\w])"),
    re.compile(r"(?<![_\\\w])_(?=\S)([^_\n]{1,500}?)(?<=\S)_(?![_\w])"),
    re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)"),
)
"""Bold, italic and code markup; the group is the text inside."""

_INLINE_MARKUP = (  # replaced by the group
    re.compile(r"!?\[\[([^\[\]\n|]{1,300})\]\]"),
    re.compile(r"!?\[\[[^\[\]\n|]{1,300}\|([^\[\]\n]{1,300})\]\]"),
    re.compile(
        r"!?\[([^\[\]\n]{0,500})\]"
        r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,1000}(?:\s+\"[^\"\n]{0,200}\")?\)"
    ),
    *EMPHASIS,
    re.compile(r"\\([!-/:-@\[-`{-~])"),
)

LINK = re.compile(r"!?\[\[[^\[\]\n]{1,500}\]\]|!?\[[^\[\]\n]{1,500}\]\([^()\s]{1,1000}\)")
"""A whole wikilink or markdown link."""


def wikilink_targets(text: str) -> Iterator[str]:
    """Yield the wikilink targets of a text without code blocks, skipping code spans."""
    for match in _CODE_SPAN_OR_WIKILINK.finditer(text):
        target = (match["target"] or "").strip().rstrip("\\").strip()
        if target:
            yield target


def strip_markup(text: str) -> str:
    """Return a line without inline markup: link texts for links, no emphasis or escapes."""
    if not any(mark in text for mark in "[*_`\\"):
        return text
    for pattern in _INLINE_MARKUP:
        text = pattern.sub(r"\1", text)
    return text
