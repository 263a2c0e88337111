"""Document relevance for each variant of a query, from BM25 and cosine. Pure.

Continuations, documents that are parts of a longer one, propagate scores to adjacent parts:

    score' = score + s * max(0, score of the better adjacent part - score)

with the share s (`[search] parts`, 0 = off). A discussion does not end where its transcript was
cut: the next part continues it with fewer of the query's words and other speakers. The best part
keeps its score, so that a document in one piece is not outranked by one in several. The same holds
for links to entities. Parts that a filter excludes propagate too, so that a score depends on no
filter.

Source: passage scores that take the surrounding text into account, Callan 1994,
https://doi.org/10.1007/978-1-4471-2099-5_31. Share: `scores.PROPAGATION_SHARE`..
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import ComponentScores, LinkedDocuments
from kbx_tui.search.evidence.scores import (
    Flags,
    Rows,
    Scores,
    above_floor,
    frozen,
    fuse,
    scale_cosine,
    scale_lexical,
)


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """Lexical scores of one variant of a query: as typed, or without the names in it."""

    raw_lexical: Scores
    """BM25, one per scored document."""
    lexical_weight: float


@dataclass(frozen=True)  # without slots: `lexical` is kept
class Scoring:
    """Scores the documents in scope, including what adjacent parts propagate to them.

    Cosines and BM25 have shape (m,) over the scored documents, results shape (n,) over those in
    scope.
    """

    documents: ScoredDocuments
    variants: Mapping[str, QueryVariant]
    propagation_share: float

    @cached_property
    def lexical(self) -> tuple[ComponentScores, ComponentScores]:
        scores = [self.components(query, None) for query in self.variants]
        return scores[0], scores[-1]

    def components(self, query: str, cosine: Scores | None) -> ComponentScores:
        """Return all scores for one query variant.

        `cosine` is NaN where there is no vector, and None if there is none at all.
        """
        variant, in_scope = self.variants[query], self.documents.values_in_scope
        if cosine is None:
            lexical, vector = scale_lexical(variant.raw_lexical), np.zeros(len(self.documents.rows))
            cosine, own = np.full(len(vector), np.nan), variant.lexical_weight * lexical
        else:
            lexical, vector = _scaled(variant.raw_lexical, cosine)
            own = fuse(lexical, vector, variant.lexical_weight)
        relevance, propagated_from = self.documents.propagate(own, self.propagation_share)
        return ComponentScores(
            query=query,
            raw_lexical=frozen(in_scope(variant.raw_lexical)),
            lexical=frozen(in_scope(lexical)),
            cosine=frozen(in_scope(cosine).copy()),
            vector=frozen(in_scope(vector)),
            own_relevance=frozen(in_scope(own)),
            doc_relevance=frozen(relevance),
            propagated_from=frozen(propagated_from),
            lexical_weight=variant.lexical_weight,
        )

    def is_relevant(self, query: str, cosine: Scores) -> Flags:
        """Return which documents in scope would have a `doc_relevance` above 0.

        Parts propagate nothing to a document without any, and both scores have some weight. No
        BM25 is so low that it becomes 0 on the scale of 0..1.
        """
        raw_lexical = self.variants[query].raw_lexical
        vector = above_floor(scale_cosine(cosine), raw_lexical)
        return self.documents.values_in_scope((raw_lexical > 0.0) | (vector > 0.0))

    def relevance(self, query: str, cosine: Scores, rows: Rows) -> Scores:
        """Return `doc_relevance` of a few rows in scope, from the cosines of these rows alone."""
        variant, positions = self.variants[query], self.documents.positions_for(rows)
        scaled = _scaled(variant.raw_lexical[positions], cosine[positions])
        own = np.zeros(len(self.documents.rows))
        own[positions] = fuse(*scaled, variant.lexical_weight)
        relevance, _ = self.documents.propagate(own, self.propagation_share)
        return relevance[rows]


def _scaled(raw_lexical: Scores, cosine: Scores) -> tuple[Scores, Scores]:
    return scale_lexical(raw_lexical), above_floor(scale_cosine(cosine), raw_lexical)


BEFORE, AFTER, NONE = 0, 1, -1

Values = TypeVar("Values", Scores, Flags)

Sides = NDArray[np.int8]
"""BEFORE, AFTER or NONE per document: the side from which a score propagated."""

SIDE_NAMES = {BEFORE: "part before", AFTER: "part after"}


@dataclass(frozen=True, slots=True)
class Continuations:
    rows: Rows
    """Documents with an adjacent part, ascending."""
    adjacent: Rows
    """Shape (2, len(rows)): rows of the part before and the part after, or NONE."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Self:
        """Return the continuations given by pairs of rows; the second continues the first."""
        sides = {BEFORE: dict[int, int](), AFTER: dict[int, int]()}
        for row, following in pairs:
            sides[AFTER][row], sides[BEFORE][following] = following, row
        rows = sorted({*sides[BEFORE], *sides[AFTER]})
        adjacent = [[side.get(row, NONE) for row in rows] for side in sides.values()]
        return cls(
            frozen(np.array(rows, np.int64)), frozen(np.array(adjacent, np.int64).reshape(2, -1))
        )

    def propagate_links(self, linked: LinkedDocuments, share: float) -> LinkedDocuments:
        size = len(self.rows)
        if not size or not share or not len(linked.rows):
            return linked
        parts = np.vstack((self.rows, self.adjacent))
        index = np.minimum(np.searchsorted(linked.rows, parts), len(linked.rows) - 1)
        is_linked = linked.rows[index] == parts
        own, *adjacent = np.where(is_linked, linked.strengths[index], 0.0)
        gains, sides = _gains(own, np.stack(adjacent), share)
        if not gains.any():
            return linked
        strengths = dict(zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True))
        reasons = dict(zip(linked.rows.tolist(), linked.reasons, strict=True))
        for position in np.flatnonzero(gains).tolist():
            row, side = int(self.rows[position]), int(sides[position])
            strengths[row] = float(own[position] + gains[position])
            reason = f"{linked.reasons[index[side + 1, position]]} in the {SIDE_NAMES[side]}"
            reasons[row] = f"{reasons[row]}, {reason}" if row in reasons else reason
        rows = np.array(sorted(strengths), np.int64)
        return LinkedDocuments(
            frozen(rows),
            frozen(np.array([strengths[row] for row in rows.tolist()])),
            tuple(reasons[row] for row in rows.tolist()),
            frozen(~np.isin(rows, linked.rows)),
        )


@dataclass(frozen=True, slots=True)
class ScoredDocuments:
    """The documents to score: those in scope, and the parts adjacent to them."""

    flags: Flags
    rows: Rows
    in_scope: Rows
    """Positions in `rows` of the documents in scope, ascending."""
    parts: Rows
    """Indices into `in_scope` of the documents with an adjacent part."""
    adjacent: Rows
    """Shape (2, len(parts)): positions in `rows` of the part before and after, or NONE."""

    @classmethod
    def without_continuations(cls, in_scope: Flags, rows: Rows) -> Self:
        nothing = np.empty(0, np.int64)
        return cls(in_scope, rows, np.arange(len(rows)), nothing, nothing.reshape(2, 0))

    @classmethod
    def of(cls, continuations: Continuations, in_scope: Flags, rows: Rows) -> Self:
        with_adjacent = in_scope[continuations.rows]
        if not with_adjacent.any():
            return cls.without_continuations(in_scope, rows)
        adjacent, flags = continuations.adjacent[:, with_adjacent], in_scope.copy()
        flags[adjacent[adjacent != NONE]] = True
        scored = np.flatnonzero(flags)
        return cls(
            flags=frozen(flags),
            rows=scored,
            in_scope=np.searchsorted(scored, rows),
            parts=np.searchsorted(rows, continuations.rows[with_adjacent]),
            adjacent=np.where(adjacent == NONE, NONE, np.searchsorted(scored, adjacent)),
        )

    def values_in_scope(self, values: Values) -> Values:
        """Return the values of the documents in scope; `values` itself if it has no others."""
        return values if len(self.in_scope) == len(self.rows) else values[self.in_scope]

    def positions_for(self, rows: Rows) -> Rows:
        """Return the positions in `self.rows` of some documents in scope and their adjacent parts.

        `rows` are indices into `in_scope`, as rows of Evidence are.
        """
        is_wanted = np.zeros(len(self.in_scope), np.bool_)
        is_wanted[rows] = True
        with_adjacent = is_wanted[self.parts]
        if not with_adjacent.any():
            return self.in_scope[rows]
        adjacent = self.adjacent[:, with_adjacent]
        return np.unique(np.concatenate((self.in_scope[rows], adjacent[adjacent != NONE])))

    def propagate(self, own: Scores, share: float) -> tuple[Scores, Sides]:
        """Return the scores of the documents in scope after propagation, and from which side.

        `own` has shape (len(rows),). Nothing propagates to a document with a score of 0.
        """
        propagated_from = np.full(len(self.in_scope), NONE, np.int8)
        relevance = own[self.in_scope]
        if len(self.parts):
            adjacent = np.where(self.adjacent == NONE, 0.0, own[self.adjacent])
            gains, sides = _gains(relevance[self.parts], adjacent, share)
            gains[relevance[self.parts] <= 0.0] = 0.0
            relevance[self.parts] += gains
            propagated_from[self.parts] = np.where(gains > 0.0, sides, NONE)
        return relevance, propagated_from


def _gains(own: Scores, adjacent: Scores, share: float) -> tuple[Scores, Sides]:
    """Return the gain of each part from its better adjacent part, and the side of that part.

    `own` has shape (n,), `adjacent` (2, n).
    """
    sides = np.argmax(adjacent, axis=0).astype(np.int8)  # a tie goes to the part before
    return share * np.maximum(adjacent.max(axis=0) - own, 0.0), sides
