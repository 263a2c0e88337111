"""The final scores of documents as lines over alpha, for one choice of entities. Pure.

    final(alpha) = factor * (alpha * answered + (1 - alpha) * parent) + opened

with factor = 1 - h and opened = h * frecency for a hotness weight h. `final` does the operations of
`rank` in the same order, so it returns the very numbers, bit by bit, for many alphas at once.

A document that at least `limit` others precede under every alpha is left out, so few are left,
whatever the size of the base. One precedes another under every alpha if none of its answered score,
parent score and frecency is lower and ties are resolved in its favour; rounding is monotone, so
this holds of the scores as computed, too. (What is left is the "k-skyband" of database research:
Papadias et al. 2005, https://doi.org/10.1145/1061318.1061320.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import Flags, Rows, Scores
from kbx_tui.search.ranking.rank import Ranking

NO_RESULT = -1.0
"""Below every score: stands for that of a document that is not a result."""
NO_ROW = -1
BLOCK = 128
"""How many documents are compared with each other at a time."""


@dataclass(frozen=True, slots=True)
class ScoreLines:
    """The lines of the documents that may be among the best; arrays have shape (n,) over these."""

    rows: Rows
    """Rows of the Evidence, in the order in which ties are resolved."""
    answered: Scores
    """Score at alpha 1, before frecency."""
    parent: Scores
    """Score at alpha 0, before frecency."""
    opened: Scores
    """What frecency adds."""
    factor: float
    """What frecency leaves of the rest, 0..1."""
    is_known_item: Flags
    is_always_result: Flags
    """Results even if they score 0."""
    is_flat: bool
    """True where alpha has no effect: `answered` is the score."""

    @classmethod
    def of(cls, ranking: Ranking, limit: int | None = None) -> Self:
        """Return the lines of a ranking; with `limit`, of documents that may be among the first.

        A reranker is left out of account. Raises OutOfRange for evidence of one top-k request.
        """
        evidence, h = ranking.evidence, ranking.frecency_weight
        answered, parent = ranking.at(1.0).blended, ranking.at(0.0).blended
        known_items = np.zeros(len(evidence), np.bool_)
        known_items[list(evidence.known_items)] = True
        always = known_items
        if ranking.lists_linked:
            always = known_items | ranking.is_linked | ranking.says_something
        results = always | (answered > 0.0) | (parent > 0.0)
        if ranking.kept and ranking.tuning.gate == "hard":
            results = results & ranking.is_linked
        rows = ranking.tie_order(np.flatnonzero(results | known_items))
        lines = cls(
            rows=rows,
            answered=answered[rows],
            parent=parent[rows],
            opened=np.where(ranking.may_score, h * evidence.frecency, 0.0)[rows],
            factor=1.0 - h,
            is_known_item=known_items[rows],
            is_always_result=always[rows],
            is_flat=not ranking.kept,
        )
        return lines if limit is None or len(rows) <= limit else lines._first(limit)

    def __len__(self) -> int:
        return len(self.rows)

    def final(self, alphas: Scores) -> Scores:
        """Return the final scores, shape (m, n), under alphas of shape (m,); NO_RESULT if none."""
        alpha = (np.ones_like(alphas) if self.is_flat else alphas)[:, None]
        blended = alpha * self.answered + (1.0 - alpha) * self.parent
        final = np.where(self.is_known_item, 1.0, self.factor * blended + self.opened)
        final[(blended <= 0.0) & ~self.is_always_result] = NO_RESULT
        return final

    def best(self, alphas: Scores, limit: int) -> NDArray[np.int64]:
        """Return the rows of the best `limit` documents under each alpha, best first.

        Shape (m, limit), NO_ROW where there are fewer results.
        """
        return self.in_order(self.final(alphas), limit)

    def in_order(self, final: Scores, limit: int) -> NDArray[np.int64]:
        """Return the same for given scores, shape (m, n)."""
        order = np.argsort(-final, axis=1, kind="stable")[:, :limit]
        best = np.full((len(final), limit), NO_ROW)
        is_result = np.take_along_axis(final, order, axis=1) > NO_RESULT
        best[:, : order.shape[1]] = np.where(is_result, self.rows[order], NO_ROW)
        return best

    def _first(self, limit: int) -> Self:
        """Return the lines that fewer than `limit` others precede under every alpha."""
        traits = np.stack((self.answered, self.parent, self.opened), axis=1)
        traits[self.is_known_item] = np.inf
        if not self.opened.any():
            traits = traits[:, :2]
        kept = _preceded_by_few(traits, limit)
        return type(self)(
            rows=self.rows[kept],
            answered=self.answered[kept],
            parent=self.parent[kept],
            opened=self.opened[kept],
            factor=self.factor,
            is_known_item=self.is_known_item[kept],
            is_always_result=self.is_always_result[kept],
            is_flat=self.is_flat,
        )


def _preceded_by_few(traits: Scores, limit: int) -> Rows:
    """Return the rows of `traits` that fewer than `limit` earlier rows equal or exceed throughout.

    It suffices to count those that are kept: what precedes a document that was left out precedes
    it too.
    """
    head = min(max(limit, BLOCK), len(traits))
    floor = traits[:limit].min(axis=0)  # all of these precede what is nowhere above it
    rest = head + np.flatnonzero((traits[head:] > floor).any(axis=1))
    blocks = [np.arange(head), *np.split(rest, range(BLOCK, len(rest), BLOCK))]
    kept = np.empty(0, np.int64)
    for block in blocks:
        earlier = _exceeded(traits[block], traits[kept]).sum(axis=1)
        inside = np.tril(_exceeded(traits[block], traits[block]), -1).sum(axis=1)
        kept = np.concatenate((kept, block[earlier + inside < limit]))
    return kept


def _exceeded(traits: Scores, others: Scores) -> Flags:
    """Return for each row whether each other row is nowhere lower; shape (n, m)."""
    exceeded = np.ones((len(traits), len(others)), np.bool_)
    for column, other in zip(traits.T, others.T, strict=True):
        exceeded &= other[None, :] >= column[:, None]
    return exceeded
