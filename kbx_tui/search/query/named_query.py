"""A query and the names found in it: which variant of it is compared with documents. Pure.

Pass 2 searches without people and teams named outright: links already show which documents are
theirs, and their names, where they occur only in frontmatter, would outweigh the topic. Names of
projects stay: they are the topic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from kbx_tui.index.stored_names import Words
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import PEOPLE, Signal
from kbx_tui.search.query import english_words as english
from kbx_tui.search.query.english_words import asks_for_topic, has_topic, words_of

AMBIGUOUS = 0.8
"""Score of each entity when several share a name: kept, but not named outright."""
HINT = 0.4
"""Score of a name that the query may use as an ordinary word."""
TYPO_WEIGHT = 0.9
"""Score of a misspelled name that differs in nothing, such as one written as one word."""

Span = tuple[int, int]

_POSSESSIVE = re.compile(r"['’]s?\b")
_PUNCTUATION = " \t\r\n?!.,;:\"'“”‘’"


@dataclass(frozen=True, slots=True)
class NameMatch:
    entity: int
    signal: Signal
    start: int
    end: int
    """Span in the query, including an honorific before the name."""
    named: bool
    """True when this entity, and no other, is named."""

    def as_hint(self) -> NameMatch:
        return replace(self, signal=replace(self.signal, score=HINT), named=False)

    def as_meant(self) -> NameMatch:
        alone = not self.signal.ambiguous
        signal = replace(self.signal, score=1.0 if alone else AMBIGUOUS)
        return replace(self, signal=signal, named=alone)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    text: str
    matches: Sequence[NameMatch]
    kinds: tuple[str, ...]
    spans: tuple[Span, ...]
    """Spans of people and teams named outright."""
    things: tuple[int, ...]
    """Indices of the entities named outright that are neither people nor teams."""
    document_query: str
    """Query of pass 2: without `spans`, or as typed where no topic word would be left."""
    names_only: bool
    """True for people or teams and no topic: `what did Ada say?`"""
    words_asked: str
    """What is left without the names of people, teams and things; empty without a topic word."""

    @classmethod
    def of(
        cls,
        text: str,
        matches: Sequence[NameMatch],
        entities: Sequence[Entity],
        is_usual: Callable[[str], bool] = lambda _: False,
    ) -> Self:
        """Create one; `matches` refer to `entities` by index.

        `is_usual` returns whether a folded word is in most documents: such words do not
        count as a topic beside the name of a person or team.
        """
        kinds = tuple(entities[match.entity].type for match in matches)
        named = [(match, kind) for match, kind in zip(matches, kinds, strict=True) if match.named]
        spans = tuple((match.start, match.end) for match, kind in named if kind in PEOPLE)
        things = [match for match, _ in named if (match.start, match.end) not in spans]
        rest = _without(text, spans) if spans else text
        words = folded_words(rest)
        rest_has_topic = asks_for_topic(words)
        if spans and rest_has_topic:
            rest_has_topic = _tells_documents_apart(words, is_usual)
        words_asked = _without(text, {(match.start, match.end) for match, _ in named})
        return cls(
            text=text,
            matches=matches,
            kinds=kinds,
            spans=spans,
            things=tuple(match.entity for match in things),
            document_query=rest if rest_has_topic else text,
            names_only=bool(spans) and not rest_has_topic,
            words_asked=words_asked if has_topic(folded_words(words_asked)) else "",
        )

    @property
    def variants(self) -> list[str]:
        return list(dict.fromkeys((self.text, self.document_query)))

    @property
    def subject(self) -> str:
        """The query without a leading `who is the` and trailing punctuation."""
        return self.text[slice(*self._subject())]

    @property
    def asked_for(self) -> tuple[int, ...]:
        """Indices of the entities whose name is the whole query: `Ada`, `who is Ada?`.

        Several where they share the name.
        """
        start, end = self._subject()
        entities = []
        for match, kind in zip(self.matches, self.kinds, strict=True):
            shared = match.signal.ambiguous and match.signal.score > HINT
            rest = self.text[start : match.start] + self.text[match.end : end]
            if (match.named or shared) and rest.strip().casefold() in ("", kind):
                entities.append(match.entity)
        return tuple(entities)

    def _subject(self) -> Span:
        words, folded = words_of(self.text), folded_words(self.text)
        phrases = (len(each) for each in english.ASKING_FOR_ONE if folded[: len(each)] == each)
        skipped = max(phrases, default=0)
        if skipped + 1 < len(words) and folded[skipped] in english.ARTICLES:
            skipped += 1
        if skipped >= len(words):
            return 0, len(self.text)
        return words[skipped].start, len(self.text.rstrip(_PUNCTUATION))


def _tells_documents_apart(words: Words, is_usual: Callable[[str], bool]) -> bool:
    """Return whether folded words, without names, ask for a topic besides usual words.

    The verb of `what did add to Python` does not, in a base on Python.
    """
    topics = list(english.topic_words_of(words))
    rare = [word for word in topics if not is_usual(word)]
    is_verb_alone = len(rare) < len(topics) and rare == list(words[2:3])
    return bool(rare) and not (is_verb_alone and not asks_for_topic(words[:3]))


def _without(query: str, spans: Iterable[Span]) -> str:
    rest, end = "", 0
    for start, stop in sorted(spans):
        if start >= end:
            rest += f"{query[end:start]} "
            possessive = _POSSESSIVE.match(query, stop)
            end = possessive.end() if possessive else stop
    return " ".join((rest + query[end:]).split())
