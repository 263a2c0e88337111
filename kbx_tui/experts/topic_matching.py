"""Topics and the claims that match them, over claims indexed once per generation. Pure.

Topics match whole words by their stems: "maintain" finds "maintained", but no entity named AI.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

from kbx_tui.errors import ConfigError
from kbx_tui.experts.claims import Claim
from kbx_tui.index.lexical.terms import CJK_CHARACTER, separate_cjk
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.stemming import stem
from kbx_tui.search.query.english_words import FUNCTION_WORDS, words_of

_IGNORED = FUNCTION_WORDS | frozenset(
    {"expert", "experts", "expertise", "know", "knows", "known", "knowledge"}
    | {"work", "works", "worked", "working"}
)
"""Words that ask for experts without naming a topic: `who knows about X`, `who worked on X`."""
_CJK_RUN = re.compile(f"{CJK_CHARACTER}+")


@dataclass(frozen=True, slots=True)
class Topic:
    """A parsed topic."""

    text: str
    stems: frozenset[str]
    """Stems of its content words; of all its words when it has no content word."""
    cjk_runs: frozenset[str]
    """Runs of Chinese, Japanese or Korean characters, which texts do not separate by spaces."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a topic. Raises ConfigError when it contains no word."""
        cjk_runs = frozenset(_CJK_RUN.findall(fold(text)))
        words = [word.folded for word in words_of(_CJK_RUN.sub(" ", fold(text)))]
        if not (words or cjk_runs):
            raise ConfigError("the topic is empty; name what the experts should know about")
        content = [word for word in words if word not in _IGNORED]
        return cls(text, frozenset(map(stem, content or ([] if cjk_runs else words))), cjk_runs)

    @property
    def query(self) -> str:
        """The topic without leading and trailing words that only ask, like `who knows about`."""
        content = [word for word in words_of(self.text) if word.folded not in _IGNORED]
        return self.text[content[0].start : content[-1].end] if content else self.text


class ClaimMatcher:
    """Claims by stem and by entity, so that the cost of a topic depends on what it matches."""

    def __init__(self, claims: Sequence[Claim], entities: Iterable[Entity]) -> None:
        self.claims = claims
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        self._by_entity: defaultdict[str, list[int]] = defaultdict(list)
        for position, claim in enumerate(claims):
            words = words_of(fold(separate_cjk(claim.text)))
            for word_stem in {stem(word.folded) for word in words}:
                self._by_stem[word_stem].append(position)
            for entity_id in claim.entity_ids:
                self._by_entity[entity_id].append(position)
        self._names = [
            (f" {key} ", entity.id)
            for entity in entities
            for key in map(name_key, (entity.name, *entity.aliases))
            if key
        ]

    def matches(self, topic: Topic) -> dict[int, float]:
        """Return the share of the topic's words in each matching claim, by position, ascending.

        Above 0 and at most 1. The words that name an entity count as words of every claim about it.
        """
        held: defaultdict[int, set[str]] = defaultdict(set)
        for topic_stem in topic.stems:
            for position in self._by_stem.get(topic_stem, ()):
                held[position].add(topic_stem)
        for run in topic.cjk_runs:
            for position, claim in enumerate(self.claims):
                if run in fold(claim.text):
                    held[position].add(run)
        for entity_id, words in self._named_by(topic):
            for position in self._by_entity.get(entity_id, ()) if words else ():
                held[position] |= words
        size = len(topic.stems) + len(topic.cjk_runs)
        return {position: len(words) / size for position, words in sorted(held.items())}

    def named(self, topic: Topic) -> frozenset[str]:
        """Return the ids of entities with a name that the topic contains or is part of."""
        return frozenset(entity_id for entity_id, _ in self._named_by(topic))

    def _named_by(self, topic: Topic) -> Iterator[tuple[str, frozenset[str]]]:
        """Yield each entity that the topic names, and the topic's stems and runs in its name."""
        whole = f" {name_key(topic.text)} "
        for key, entity_id in self._names:
            if whole in key:
                yield entity_id, topic.stems | topic.cjk_runs
            elif key in whole:
                words = frozenset(key.split())
                runs = frozenset(run for run in topic.cjk_runs if words.issuperset(run))
                yield entity_id, (topic.stems & frozenset(map(stem, words))) | runs
