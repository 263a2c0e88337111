"""Tags in running text, as Obsidian reads them: `#area/topic` after a blank or a line start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kbx_tui.knowledge.parsing.inline import CODE_SPAN
from kbx_tui.knowledge.parsing.markdown import blank_code

_TAG = re.compile(
    CODE_SPAN + r"|\[\[[^\[\]\n]{1,500}\]\]"
    r"|(?<!\S)\#(?P<tag>[^\s\#!-,.:-@\[-^`{-~\u2000-\u206f\u2e00-\u2e7f]{1,200})"
)
_MAY_BE_TAG = re.compile(r"(?<!\S)#[^\s#]")
_NO_WORD = re.compile(r"[\d/_-]*")


def inline_tags(body: str) -> tuple[str, ...]:
    """Return the distinct tags outside code and links, without `#`, in order.

    A number is not a tag, and punctuation ends one.
    """
    return tuple(dict.fromkeys(_tags(body))) if _MAY_BE_TAG.search(body) else ()


def _tags(body: str) -> Iterator[str]:
    for match in _TAG.finditer(blank_code(body)):
        tag = (match["tag"] or "").strip("/")
        if tag and not _NO_WORD.fullmatch(tag):
            yield tag
