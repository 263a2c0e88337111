"""What a topic asks for. Pure.

Words match as words, by their stems: "maintain" finds "maintained" and never an entity called AI.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from kbx_tui.errors import ConfigError
from kbx_tui.index.rows import SIGNS, searchable
from kbx_tui.knowledge.folding import fold
from kbx_tui.search.query.english_words import FUNCTION_WORDS, stem, words_of

_ASKING = frozenset(
    {"expert", "experts", "expertise", "know", "knows", "known", "knowledge"}
    | {"work", "works", "worked", "working"}
)
"""Words that ask for experts and name no topic: `who knows about X`, `who worked on X`."""
_IDLE = FUNCTION_WORDS | _ASKING
_SIGNS = re.compile(f"{SIGNS}+")


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic, read once."""

    text: str
    stems: frozenset[str]
    """Of its words that carry meaning; of all its words when none does."""
    signs: frozenset[str]
    """Runs of Chinese, Japanese or Korean, which stand in a text without spaces around them."""

    @classmethod
    def of(cls, text: str) -> Self:
        """Read a topic. Raises ConfigError when it holds no word."""
        signs = frozenset(_SIGNS.findall(fold(text)))
        words = [word.folded for word in words_of(_SIGNS.sub(" ", fold(text)))]
        if not (words or signs):
            raise ConfigError("the topic is empty; say what the experts are to know about")
        meant = [word for word in words if word not in _IDLE]
        return cls(text, frozenset(map(stem, meant or ([] if signs else words))), signs)

    @property
    def query(self) -> str:
        """The topic without the words before and after it that only ask: `who knows about`."""
        meant = [word for word in words_of(self.text) if word.folded not in _IDLE]
        return self.text[meant[0].start : meant[-1].end] if meant else self.text

    @property
    def size(self) -> int:
        """How many words it has that count, at least 1."""
        return len(self.stems) + len(self.signs)


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of all words of a text."""
    return frozenset(stem(word.folded) for word in words_of(fold(searchable(text))))
