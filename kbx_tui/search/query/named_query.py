"""A query and the names found in it: which variant of it is compared with documents. Pure.

Pass 2 searches without people and teams named outright: links already show which documents are
theirs, and their names, where they occur only in frontmatter, would outweigh the topic. Names of
projects stay: they are the topic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

from kbx_tui.index.stored_names import Words
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.evidence import PEOPLE, Signal, SignalKind
from kbx_tui.search.query import english_words as english
from kbx_tui.search.query.english_words import asks_for_topic, has_topic, words_of
from kbx_tui.search.query.query_words import QueryWords

Span = tuple[int, int]

_POSSESSIVE = re.compile(r"^['’]s?\b")
_PUNCTUATION = " \t\r\n?!.,;:\"'“”‘’"


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query, and the entities named in it."""

    text: str
    """As typed."""
    matches: Sequence[NameMatch]
    kinds: tuple[str, ...]
    """Type of the entity of each match."""
    spans: tuple[Span, ...]
    """Spans of people and teams named outright."""
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
        spans = tuple(
            (match.start, match.end)
            for match, kind in zip(matches, kinds, strict=True)
            if match.named and kind in PEOPLE
        )
        rest = _without(text, spans) if spans else text
        words = folded_words(rest)
        rest_has_topic = asks_for_topic(words)
        if spans and rest_has_topic:
            rest_has_topic = _tells_documents_apart(words, is_usual)
        things = ((match.start, match.end) for match in matches if match.named)
        words_asked = _without(text, {*spans, *things})
        if not has_topic(folded_words(words_asked)):
            words_asked = ""
        return cls(
            text=text,
            matches=matches,
            kinds=kinds,
            spans=spans,
            document_query=rest if rest_has_topic else text,
            names_only=bool(spans) and not rest_has_topic,
            words_asked=words_asked,
        )

    @property
    def variants(self) -> list[str]:
        """The query as typed and the query of pass 2; only one if they are equal."""
        return list(dict.fromkeys((self.text, self.document_query)))

    @property
    def things(self) -> tuple[int, ...]:
        """Indices of the entities named outright that are neither people nor teams."""
        return tuple(
            match.entity
            for match in self.matches
            if match.named and (match.start, match.end) not in self.spans
        )

    @property
    def names_things(self) -> bool:
        """Whether it names anything besides people and teams, such as a project."""
        return bool(self.things)

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
            around = (self.text[start : match.start], self.text[match.end : end])
            rest = "".join(around).strip().casefold()
            if (match.named or shared) and match.end <= end and rest in ("", kind):
                entities.append(match.entity)
        return tuple(entities)

    def _subject(self) -> Span:
        words, folded = words_of(self.text), folded_words(self.text)
        phrases = [
            len(phrase) for phrase in english.ASKING_FOR_ONE if folded[: len(phrase)] == phrase
        ]
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
    rest, end = [], 0
    for start, stop in sorted(spans):
        if start < end:
            continue
        rest.append(query[end:start])
        possessive = _POSSESSIVE.match(query[stop:])
        end = stop + (possessive.end() if possessive else 0)
    rest.append(query[end:])
    return " ".join(" ".join(rest).split())


AMBIGUOUS = 0.8
"""Score of each entity when several share a name: kept, but not named outright."""

HINT = 0.4
"""Score of a name that the query may use as an ordinary word."""

TYPO_WEIGHT = 0.9
"""Score of a misspelled name that differs in nothing, such as one written as one word."""


class TextsWith(Protocol):
    """Returns how many documents hold a folded word, or hold it with another directly after it."""

    def __call__(self, word: str, following: str = "", /) -> int: ...


def no_texts(word: str, following: str = "", /) -> int:
    """Know nothing of the documents."""
    return 0


@dataclass(frozen=True, slots=True)
class NameMatch:
    """Words of the query that name an entity."""

    entity: int
    """Index into the entities."""
    signal: Signal
    start: int
    end: int
    """Span in the query, including an honorific before the name."""
    named: bool
    """True when this entity, and no other, is named."""


def as_hint(match: NameMatch) -> NameMatch:
    """Return a match of the same words that names nothing outright."""
    return replace(match, signal=replace(match.signal, score=HINT), named=False)


def matches_of_part(
    query: QueryWords,
    index: int,
    size: int,
    people: Sequence[tuple[int, SignalKind]],
    certain: bool,
    prior: str,
) -> list[NameMatch]:
    """Return a match for each person with this part of a name; a single one is named outright.

    `people` come with which part of their name it is. `prior` is what the base says of the word,
    for display.
    """
    start, end = query.use(index, size)
    alone = len(people) == 1
    score = (1.0 if alone else AMBIGUOUS) if certain else HINT
    text = query.text_of(index, size)
    return [
        NameMatch(
            person,
            Signal(kind, score, text, ambiguous=not alone, taught=prior),
            start,
            end,
            certain and alone,
        )
        for person, kind in people
    ]
