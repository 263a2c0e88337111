"""Finds full names that a query misspells or writes as one word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.english_words import folded_words

CUTOFF = 88.0
"""Lowest similarity of a misspelling to the name, 0..100."""
SHORTEST = 6
"""Shorter texts are not compared: too many of them differ by a single letter."""


class MisspelledNames:
    """The full names of some entities, written as one word."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        names: dict[str, tuple[int, str]] = {}
        for number, entity in enumerate(entities):
            joined = "".join(folded_words(entity.name))
            if len(joined) >= SHORTEST:
                names.setdefault(joined, (number, entity.name))
        self._keys, self._names = list(names), list(names.values())

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, float, list[tuple[int, str]]]]:
        """Yield the texts that are similar to a name, by index, the most similar first.

        With each come the similarity, 0..100, and the names most similar to it: the entity, by
        index, and the name. Texts are folded words written as one.
        """
        long_enough = [index for index, text in enumerate(texts) if len(text) >= SHORTEST]
        if not long_enough or not self._keys:
            return
        scores = self._similarities([texts[index] for index in long_enough])
        for row in np.argsort(-scores.max(axis=1)):
            best = float(scores[row].max())
            if best < CUTOFF:
                return
            names = np.flatnonzero(scores[row] == best).tolist()
            yield long_enough[row], best, [self._names[name] for name in names]

    def _similarities(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the similarity of texts and names, 0..100; 0 if one is the end of the other.

        `kuchemann` is not a misspelling of `dkuchemann`: it was compared as a surname already.
        """
        scores: NDArray[np.float32] = process.cdist(
            texts, self._keys, scorer=fuzz.ratio, score_cutoff=CUTOFF, dtype=np.float32
        )
        for row, column in np.argwhere(scores > 0):
            text, key = texts[row], self._keys[column]
            if text != key and (key.endswith(text) or text.endswith(key)):
                scores[row, column] = 0.0
        return scores
