"""Words of a query that name an entity, and their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from kbx_tui.search.evidence.evidence import Signal, SignalKind
from kbx_tui.search.query.names.query_words import QueryWords

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
