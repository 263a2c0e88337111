"""English words that carry no topic. Used to distinguish names from topics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kbx_tui.knowledge.dates import MONTH_NAMES, WEEKDAY_NUMBERS
from kbx_tui.knowledge.folding import WORD, fold


def _word_lists() -> dict[str, frozenset[str]]:
    _, *lists = Path(__file__).with_suffix(".txt").read_text("utf-8").split("\n\n")
    return {name: frozenset(words) for name, *words in map(str.split, lists)}


_LISTS = _word_lists()

FUNCTION_WORDS = _LISTS["FUNCTION_WORDS"]
"""Words that are never a topic."""
REQUEST_WORDS = _LISTS["REQUEST_WORDS"]
DOCUMENT_WORDS = _LISTS["DOCUMENT_WORDS"]
"""Words for documents of any kind: `meetings last week` asks for a time and nothing else."""
ASKING_BEFORE = _LISTS["ASKING_BEFORE"]
"""Words before the person or group a query asks about: `what did X ...`, `advice from X`."""
VERB_FOLLOWS = _LISTS["VERB_FOLLOWS"]
"""Auxiliaries followed by a subject and a verb: `did X agree`."""
ASKING_AFTER = _LISTS["ASKING_AFTER"]
"""Words after the person or group a query asks about: `X said`, `X on Y`."""
NAMES_THAT_ARE_WORDS = _LISTS["NAMES_THAT_ARE_WORDS"]
"""First names that are more likely ordinary words in lower case or at the start of a query."""
OFFICES = _LISTS["OFFICES"]
"""Capitalised titles that may precede a surname without being part of it: `Minister X`."""
MONTHS = frozenset(MONTH_NAMES)
DAYS_AND_MONTHS = MONTHS | WEEKDAY_NUMBERS.keys() | {"today", "tomorrow", "yesterday"}
"""Capitalised like names, but not part of an adjacent name: `Ruth Monday standup`."""
BEFORE_ADJECTIVES = _LISTS["BEFORE_ADJECTIVES"]
"""Words before an adjective, hardly ever before a name: `to be frank`, `more rich`."""
COMPOUNDS = _LISTS["COMPOUNDS"]
"""Compounds of dictionaries that begin with one of `NAMES_THAT_ARE_WORDS`, hyphenated."""

CONJUNCTIONS = frozenset({"and", "or"})
_PERFECT = frozenset({"had", "has", "have"})
ARTICLES = frozenset({"the", "a", "an", "our"})
ASKING_WHO = frozenset({("who", "is"), ("who", "s"), ("who", "was"), ("who", "are")})
ASKING_FOR_ONE = ASKING_WHO | {("what", "is"), ("what", "s"), ("about",), ("tell", "me", "about")}
"""Phrases before a name that ask for its entity and nothing else."""


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    folded: str
    start: int
    end: int

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper()


@lru_cache(maxsize=16)  # several parts of a search ask for those of its query
def words_of(text: str) -> Sequence[Word]:
    return tuple(
        Word(match.group(), fold(match.group()), match.start(), match.end())
        for match in WORD.finditer(text)
    )


def asks_for_topic(words: Sequence[str]) -> bool:
    """Return whether the folded words of a query, without the names in it, ask for a topic.

    `what did present` does not: the verb says little, and `what` asks for everything. Nor do words
    for documents of any kind: `everything about`, `meetings with`.
    """
    match [word for word in words if word not in CONJUNCTIONS]:
        case ["what", auxiliary, _] if auxiliary in VERB_FOLLOWS or auxiliary in _PERFECT:
            return False
    return any(True for _ in topic_words_of(words))


def topic_words_of(words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if has_topic((word,)) and word not in DOCUMENT_WORDS)


def topic_words(text: str) -> str:
    """Return the words of a text that may be a topic, from the first to the last; if none, all."""
    words = [word for word in words_of(text) if has_topic((word.folded,))]
    return text[words[0].start : words[-1].end] if words else text


def has_topic(words: Iterable[str]) -> bool:
    return any(word not in FUNCTION_WORDS and word not in REQUEST_WORDS for word in words)
