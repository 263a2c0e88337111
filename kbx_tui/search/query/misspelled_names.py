"""Names that are similar to words of a query: full names, and first names and surnames."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, process

from kbx_tui.index.stored_entities import EntityColumn
from kbx_tui.index.stored_names import (
    LONGEST_IN_PIECES,
    SIMILAR,
    StoredNames,
    changes_at_most,
    letters_of,
    piece_hashes,
    runs_to_look_up,
    signatures,
)
from kbx_tui.index.text_columns import TextColumn
from kbx_tui.knowledge.folding import folded_words

FEW_NAMES = 3000
"""Names that are all compared with a text: looking for those with a piece of it takes longer."""

LENGTH_SHARE = SIMILAR / (200.0 - SIMILAR)
"""Length of the shorter of two texts as a share of the longer below which they are not similar: the
similarity is at most twice the shorter by the sum of both."""

Keys = NDArray[np.integer[Any]]


class MisspelledNames:
    """The full names of some entities, written as one word."""

    def __init__(self, entities: EntityColumn, names: StoredNames) -> None:
        self._entities, self._names = entities, names
        self._keys = TextColumn([names.keys])

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, float, list[tuple[int, str]]]]:
        """Yield the texts that are similar to a name, by index, the most similar first.

        With each come the similarity, 0..100, and the names most similar to it: the entity, by
        index, and the name. Texts are folded words written as one, of `SHORTEST_TO_COMPARE` letters
        or more.
        """
        found = self._similar(texts) if len(self._keys) else []
        for number, (best, keys) in sorted(enumerate(found), key=lambda each: -each[1][0]):
            if best < SIMILAR:
                return
            entities = self._names.key_entities[keys].tolist()
            yield number, best, [(each, self._entities[each].name) for each in entities]

    def _similar(self, texts: Sequence[str]) -> list[tuple[float, Keys]]:
        """Return the similarity of each text to the most similar names, and these by key."""
        if len(self._keys) <= FEW_NAMES:
            numbers = np.arange(len(self._keys))
            return [_best(row, numbers) for row in _similarities(texts, self._spelled)]
        found: list[tuple[float, Keys]] = [(0.0, np.empty(0, np.int64))] * len(texts)
        candidates = dict(self._with_a_piece(texts))
        for number, text in enumerate(texts):
            keys = candidates.get(number, self._long[:0])
            if len(text) > LENGTH_SHARE * LONGEST_IN_PIECES:
                keys = np.union1d(keys, self._long)
            if len(keys):
                (scores,) = _similarities([text], [self._keys[key] for key in keys.tolist()])
                found[number] = _best(scores, keys)
        return found

    @cached_property
    def _spelled(self) -> Sequence[str]:
        return tuple(self._keys)

    @cached_property
    def _long(self) -> Keys:
        """The keys that have no pieces, and a few more: letters may take several bytes."""
        return np.flatnonzero(np.diff(self._names.keys.starts) > LONGEST_IN_PIECES)

    def _with_a_piece(self, texts: Sequence[str]) -> Iterator[tuple[int, Keys]]:
        """Yield texts, by index, with the keys of which they have a piece, ascending.

        Of them, only those that have nearly the same letters.
        """
        names, letters = self._names, letters_of(texts)
        if not texts or not len(names.pieces.hashes):
            return
        lengths = np.array(list(map(len, texts)), np.int64)
        runs = [runs_to_look_up(length) for length in lengths.tolist()]
        begins = np.cumsum(lengths) - lengths
        starts = np.concatenate([run[0] + begin for run, begin in zip(runs, begins, strict=True)])
        sizes, salts = (np.concatenate([run[part] for run in runs]) for part in (1, 2))
        of_text = np.repeat(np.arange(len(texts)), [len(run[0]) for run in runs])
        hashes = piece_hashes(letters, starts, sizes, salts)
        first = names.pieces.hashes.searchsorted(hashes)
        present = np.flatnonzero(
            names.pieces.hashes[np.minimum(first, len(names.pieces.hashes) - 1)] == hashes
        )
        if not len(present):
            return
        ends = names.pieces.hashes.searchsorted(hashes[present], "right")
        wanted = signatures(letters, lengths)
        most = [changes_at_most(length) for length in lengths.tolist()]
        ranges = zip(of_text[present].tolist(), first[present].tolist(), ends.tolist(), strict=True)
        by_text: dict[int, list[Keys]] = {}
        for text, start, end in ranges:
            by_text.setdefault(text, []).append(names.pieces.numbers[start:end])
        for text, parts in by_text.items():
            keys = np.concatenate(parts)
            differing = (names.key_signatures[keys] ^ wanted[text]).view(np.uint8)
            bits = np.unpackbits(differing).reshape(len(keys), -1).sum(1)
            keys = np.unique(keys[bits <= most[text]])
            if len(keys):
                yield text, keys


def _best(scores: NDArray[np.float32], keys: Keys) -> tuple[float, Keys]:
    best = float(scores.max())
    return best, np.sort(keys[scores == best]) if best else keys[:0]


def _similarities(texts: Sequence[str], keys: Sequence[str]) -> NDArray[np.float32]:
    """Return the similarity of texts and names, 0..100; 0 if one is the end of the other.

    `kuchemann` is not a misspelling of `dkuchemann`: it was compared as a surname already.
    """
    scores: NDArray[np.float32] = process.cdist(
        texts, keys, scorer=fuzz.ratio, score_cutoff=SIMILAR, dtype=np.float32
    )
    for row in np.flatnonzero(scores.max(axis=1)).tolist():
        text = texts[row]
        for column in np.flatnonzero(scores[row]).tolist():
            key = keys[column]
            if text != key and (key.endswith(text) or text.endswith(key)):
                scores[row, column] = 0.0
    return scores


MOST_ENTITIES = 10_000
"""Entities of a base whose names are all read, once; in a larger one no part is looked for."""


class MisspelledParts:
    """The first names and surnames of the people among some entities."""

    def __init__(self, entities: EntityColumn) -> None:
        self._entities = entities

    def most_similar(self, word: str) -> tuple[float, list[int]]:
        """Return the similarity, 0..100, and the people with the part most similar to a word.

        Nobody if none is similar, or if the word is such a part: then it was not meant as a name.
        """
        if word in self._holders:
            return 0.0, []
        best = process.extractOne(
            word, self._holders.keys(), scorer=fuzz.ratio, score_cutoff=SIMILAR
        )
        return (0.0, []) if best is None else (best[1], self._holders[best[0]])

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """People, by index, by first name and by surname."""
        holders: dict[str, list[int]] = defaultdict(list)
        people = enumerate(self._entities.types)
        for number, kind in people if len(self._entities) <= MOST_ENTITIES else ():
            names = self._entities[number].name.split() if kind == "person" else []
            for part in {"".join(folded_words(name)) for name in (*names[:1], *names[-1:])}:
                holders[part].append(number)
        return dict(holders)
