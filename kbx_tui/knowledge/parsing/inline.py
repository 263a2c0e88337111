"""Markup within a line: wikilinks, and what a line reads like without any. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CODE_SPAN_OR_WIKILINK = re.compile(
    r"(?<!`)(?P<ticks>`{1,16})(?!`)(?:[^`\n]|\n(?!\n)|(?!(?P=ticks)(?!`))`){1,2000}?(?P=ticks)(?!`)"
    r"|\[\[(?P<target>[^\[\]\n|#]{1,300})(?:#[^\[\]\n|]{0,300})?(?:\|[^\[\]\n]{0,300})?\]\]"
)
EMPHASIS = (
    re.compile(r"(?<![*\\])\*\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*\*(?!\*)"),
    re.compile(r"(?<![*\\\w])\*(?=\S)([^*\n]{1,500}?)(?<=\S)\*(?![*\w])"),
    re.compile(r"(?<![_\\\w])__(?=\S)([^_\n]{1,500}?)(?<=\S)__(?![_\w])"),
    re.compile(r"(?<![_\\\w])_(?=\S)([^_\n]{1,500}?)(?<=\S)_(?![_\w])"),
    re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)"),
)
"""What makes words bold, italic or code; the group is what they read like."""

_INLINE_MARKUP = (
    (re.compile(r"!?\[\[([^\[\]\n|]{1,300})\]\]"), r"\1"),
    (re.compile(r"!?\[\[[^\[\]\n|]{1,300}\|([^\[\]\n]{1,300})\]\]"), r"\1"),
    (
        re.compile(
            r"!?\[([^\[\]\n]{0,500})\]"
            r"\((?:[^()\s]|\([^()\s]{0,200}\)){0,1000}(?:\s+\"[^\"\n]{0,200}\")?\)"
        ),
        r"\1",
    ),
    *((pattern, r"\1") for pattern in EMPHASIS),
    (re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)  # fmt: skip

LINK = re.compile(r"!?\[\[[^\[\]\n]{1,500}\]\]|!?\[[^\[\]\n]{1,500}\]\([^()\s]{1,1000}\)")
"""A wikilink or markdown link as written."""


def wikilink_targets(text: str) -> Iterator[str]:
    """Yield the wikilink targets of a text that has no code blocks; code spans are passed over."""
    for match in _CODE_SPAN_OR_WIKILINK.finditer(text):
        target = (match["target"] or "").strip().rstrip("\\").strip()
        if target:
            yield target


def plain_text(inline: str) -> str:
    """Return a line as it reads: link texts instead of links, no emphasis marks."""
    if not any(mark in inline for mark in "[*_`\\"):
        return inline
    for pattern, replacement in _INLINE_MARKUP:
        inline = pattern.sub(replacement, inline)
    return inline
