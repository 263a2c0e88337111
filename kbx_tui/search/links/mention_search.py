"""Finds the names of a document in texts that do not link to it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from kbx_tui.index.lexical.terms import CJK_CHARACTER, separate_cjk, term_of, words_in
from kbx_tui.knowledge.entities.common_words import is_ambiguous
from kbx_tui.knowledge.folding import name_key
from kbx_tui.knowledge.parsing.inline import CODE_SPAN
from kbx_tui.knowledge.parsing.markdown import blank_code

_SKIPPED = (
    CODE_SPAN + r"|!?\[\[[^\[\]\n]{1,500}\]\]"
    r"|!?\[[^\[\]\n]{0,500}\](?:\([^()\n]{0,1000}\)|\[[^\[\]\n]{0,500}\]|:)"
    r"|<[^<>\n]{1,1000}>|[a-z][a-z0-9+.-]{1,20}://[^\s<>]+"
    r"|(?<!\S)[#^][\w/-]+|\[\^[^\[\]\n]{1,200}\]"
)
"""Code, links, tags of HTML, web addresses, tags, ids of blocks, and footnotes."""
_SPACELESS = re.compile(CJK_CHARACTER)


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name in a text."""

    start: int
    end: int


class MentionSearch:
    """Searches for some names as whole words.

    Letter case counts for short names and ordinary words, blanks and line ends are alike.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted({name.strip() for name in names if name_key(name)}, key=len)[::-1]

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        forms = "|".join(map(_form, self._names))
        return re.compile(f"{_SKIPPED}|(?P<name>{forms})")

    def terms(self, language: str) -> list[list[str]]:
        """Return the search terms of each name: a text in that language with a name has all."""
        words = (words_in(separate_cjk(name)) for name in self._names)
        return [[term for word in each if (term := term_of(word, language))] for each in words]

    def find(self, body: str) -> Iterator[FoundName]:
        """Yield the names in a body, in order."""
        if not self._names:
            return
        for match in self._pattern.finditer(blank_code(body)):
            if match["name"] and "\n" not in match["name"]:
                yield FoundName(*match.span("name"))


def _form(name: str) -> str:
    """Return a pattern of a name as whole words; scripts without spaces have no word boundaries."""
    words = r"[ \t]+".join(re.escape(word) for word in name.split())
    before = "" if _SPACELESS.match(name[0]) else r"(?<![\w@])"
    after = "" if _SPACELESS.match(name[-1]) else r"(?!\w)"
    return before + (words if is_ambiguous(name_key(name)) else f"(?i:{words})") + after
