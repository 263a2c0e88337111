"""A query and what it names: which of its wordings is searched for what. Pure.

Pass 2 searches without people and teams named outright: their documents are known from links
already, and their names, where they stand only in frontmatter, would drown the topic. Project names
stay: they are what is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.english_words import ARTICLES, ASKING_FOR_ONE, Word, has_topic, words_of
from kbx_tui.search.query.name_index import HINT, NameMatch

STRIPPED_TYPES = frozenset({"person", "team"})
Span = tuple[int, int]

_POSSESSIVE = re.compile(r"^['’]s?\b")
_SIGNS = " \t\r\n?!.,;:\"'“”‘’"
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query, and where in it which entities are named."""

    text: str
    """As typed."""
    matches: Sequence[NameMatch]
    kinds: tuple[str, ...]
    """Type of the entity of each match."""
    spans: tuple[Span, ...]
    """Of people and teams named outright."""
    document_query: str
    """What pass 2 searches with: without `spans`, as typed where no topic word would be left."""
    names_only: bool
    """True for people or teams and no topic: `what did Ada say?`"""

    @classmethod
    def of(cls, text: str, matches: Sequence[NameMatch], entities: Sequence[Entity]) -> Self:
        """Take a query and what pass 1 found named in it; matches count `entities`."""
        kinds = tuple(entities[match.entity].type for match in matches)
        spans = tuple(
            (match.start, match.end)
            for match, kind in zip(matches, kinds, strict=True)
            if match.named and kind in STRIPPED_TYPES
        )
        left = _without(text, spans) if spans else text
        has_topic_left = has_topic(word.folded for word in words_of(left))
        names_only = bool(spans) and not has_topic_left
        return cls(text, matches, kinds, spans, left if has_topic_left else text, names_only)

    @property
    def wordings(self) -> list[str]:
        """As typed and for pass 2, once where they are equal."""
        return list(dict.fromkeys((self.text, self.document_query)))

    @property
    def names_left(self) -> list[str]:
        """The names that are not taken out."""
        left = [(match.start, match.end) for match in self.matches if match.named]
        return [self.text[start:end] for start, end in left if (start, end) not in self.spans]

    @property
    def subject(self) -> str:
        """What it asks for: without `who is the` before it and signs around it."""
        return self.text[slice(*self._subject())]

    @property
    def asked_for(self) -> tuple[int, ...]:
        """The entities that are all it asks for, by number: `Ada`, `who is Ada?`, `platform team`.

        Several where they share the name; none for a misspelt one, which may be another's.
        """
        start, end = self._subject()
        found = []
        for match, kind in zip(self.matches, self.kinds, strict=True):
            sure = match.named and match.signal.kind != "fuzzy"
            shared = match.signal.ambiguous and match.signal.score > HINT
            beside = (self.text[start : match.start], self.text[match.end : end])
            rest = "".join(beside).strip().casefold()
            if (sure or shared) and match.end <= end and rest in ("", kind):
                found.append(match.entity)
        return tuple(found)

    def _subject(self) -> Span:
        words = words_of(self.text)
        most = max((len(asked) for asked in ASKING_FOR_ONE if _begin(words, asked)), default=0)
        if most + 1 < len(words) and words[most].folded in ARTICLES:
            most += 1
        if most >= len(words):
            return 0, len(self.text)
        return words[most].start, len(self.text.rstrip(_SIGNS))


def _begin(words: Sequence[Word], asked: Sequence[str]) -> bool:
    return tuple(word.folded for word in words[: len(asked)]) == tuple(asked)


def _without(query: str, spans: Iterable[Span]) -> str:
    rest, end = [], 0
    for start, stop in sorted(spans):
        if start < end:
            continue
        rest.append(query[end:start])
        possessive = _POSSESSIVE.match(query[stop:])
        end = stop + (possessive.end() if possessive else 0)
    rest.append(query[end:])
    return _BLANKS.sub(" ", " ".join(rest)).strip()
