"""Finds the names of a document in texts that do not link to it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from kbx_tui.index.lexical.terms import CJK_CHARACTER, term_of, words_in
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
        return re.compile(f"{_SKIPPED}|(?P<name>{self._forms.pattern})")

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        return re.compile("|".join(map(_form, self._names)))

    @cached_property
    def _first_look(self) -> re.Pattern[str]:
        """A fast pattern of the names in lower case, which ignores where words end."""
        words = (map(re.escape, _lower(name).split()) for name in self._names)
        return re.compile("|".join(map(r"[ \t]+".join, words)))

    def terms(self, language: str) -> list[list[str]]:
        """Return the search terms of each name: a text in that language with a name has all."""
        words = (words_in(name) for name in self._names)
        return [[term for word in each if (term := term_of(word, language))] for each in words]

    def find(self, body: str) -> Iterator[FoundName]:
        """Yield the names in a body, in order."""
        if not self._names or not self._may_hold_name(body):
            return  # before code is found, which takes a hundred times as long
        for match in self._pattern.finditer(blank_code(body)):
            if match["name"] and "\n" not in match["name"]:
                yield FoundName(*match.span("name"))

    def _may_hold_name(self, body: str) -> bool:
        """Return whether a body holds a name, perhaps as a part of words, or in code."""
        if all(map(str.isascii, self._names)):
            return self._first_look.search(_lower(body)) is not None
        return self._forms.search(body) is not None


def _form(name: str) -> str:
    """Return a pattern of a name as whole words; scripts without spaces have no word boundaries."""
    words = r"[ \t]+".join(re.escape(word) for word in name.split())
    before = "" if _SPACELESS.match(name[0]) else r"(?<![\w@])"
    after = "" if _SPACELESS.match(name[-1]) else r"(?!\w)"
    return before + (words if is_ambiguous(name_key(name)) else f"(?i:{words})") + after


def _lower(text: str) -> str:
    """Return a text in lower case, with those letters plain that `re` takes for `i` and `s`."""
    return text.lower().replace("i\u0307", "i").replace("\u0131", "i").replace("\u017f", "s")
