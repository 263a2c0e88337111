"""Documents that are parts of a longer one, and what parts beside each other lend.

    score' = score + s * max(0, score of the better part beside it - score)

with s the share (`[search] parts`, 0 = none). A talk does not stop where its transcript was cut:
what was asked for in one part goes on in the next, where fewer of the words and another speaker
stand. The best part keeps its score, so a document in one piece is not outdone by those in several.
It holds for what a document says (`doc_relevance`) and for whose it is (links); the parts beside it
count under any filter, so a score depends on none.

Source: the score of a passage and of what is around it, as in Callan 1994,
https://doi.org/10.1007/978-1-4471-2099-5_31; `scales.PART_SHARE` tells what it brought.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import Flags, LinkedDocuments, Rows, Scores, frozen

NONE = -1
BEFORE, AFTER = 0, 1

Lenders = NDArray[np.int8]
"""Per document, which part lent: BEFORE, AFTER or NONE."""

WORDS = {BEFORE: "part before", AFTER: "part after"}


@dataclass(frozen=True, slots=True)
class Parts:
    """Which parts stand beside each other in a base."""

    rows: Rows
    """Documents with a part before or after them, ascending."""
    beside: Rows
    """Shape (2, len(rows)): row of the part before and of that after, NONE where there is none."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Self:
        """Take pairs of rows of which the second goes on where the first ends."""
        both = {BEFORE: dict[int, int](), AFTER: dict[int, int]()}
        for row, following in pairs:
            both[AFTER][row], both[BEFORE][following] = following, row
        rows = sorted({*both[BEFORE], *both[AFTER]})
        beside = [[side.get(row, NONE) for row in rows] for side in both.values()]
        return cls(
            frozen(np.array(rows, np.int64)), frozen(np.array(beside, np.int64).reshape(2, -1))
        )

    def lend_links(self, linked: LinkedDocuments, share: float) -> LinkedDocuments:
        """Return the documents of an entity, and those whose parts beside them are the entity's."""
        size = len(self.rows)
        if not size or not share or not len(linked.rows):
            return linked
        at = np.searchsorted(linked.rows, np.vstack((self.rows, self.beside)))
        at = np.minimum(at, len(linked.rows) - 1)
        known = linked.rows[at] == np.vstack((self.rows, self.beside))
        own, *around = np.where(known, linked.strengths[at], 0.0)
        lent, lenders = _lent(own, np.stack(around), share)
        if not lent.any():
            return linked
        strengths = dict(zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True))
        reasons = dict(zip(linked.rows.tolist(), linked.reasons, strict=True))
        for place in np.flatnonzero(lent).tolist():
            row, side = int(self.rows[place]), int(lenders[place])
            strengths[row] = float(own[place] + lent[place])
            there = f"{linked.reasons[at[side + 1, place]]} in the {WORDS[side]}"
            reasons[row] = f"{reasons[row]}, {there}" if row in reasons else there
        rows = np.array(sorted(strengths), np.int64)
        return LinkedDocuments(
            frozen(rows),
            frozen(np.array([strengths[row] for row in rows.tolist()])),
            tuple(reasons[row] for row in rows.tolist()),
            frozen(~np.isin(rows, linked.rows)),
        )


@dataclass(frozen=True, slots=True)
class Reach:
    """The documents in scope, and the parts beside them: their scores are needed too."""

    flags: Flags
    """Over all documents of the base."""
    rows: Rows
    """Those flagged, ascending."""
    wanted: Rows
    """Where in `rows` those in scope stand, ascending."""
    parts: Rows
    """Which of `wanted` have a part beside them: places in it."""
    beside: Rows
    """Shape (2, len(parts)): where in `rows` that before and that after stand, or NONE."""

    @classmethod
    def alone(cls, in_scope: Flags, rows: Rows) -> Self:
        """Return documents to which nothing is lent; `rows` are those that `in_scope` flags."""
        nothing = np.empty(0, np.int64)
        return cls(in_scope, rows, np.arange(len(rows)), nothing, nothing.reshape(2, 0))

    @classmethod
    def of(cls, parts: Parts, in_scope: Flags, rows: Rows) -> Self:
        """Return documents and the parts beside them; `rows` are those that `in_scope` flags."""
        mine = in_scope[parts.rows]
        if not mine.any():
            return cls.alone(in_scope, rows)
        beside, flags = parts.beside[:, mine], in_scope.copy()
        flags[beside[beside != NONE]] = True
        place = np.cumsum(flags) - 1
        return cls(
            flags=frozen(flags),
            rows=np.flatnonzero(flags),
            wanted=place[rows],
            parts=np.searchsorted(rows, parts.rows[mine]),
            beside=np.where(beside == NONE, NONE, place[beside]),
        )

    def scores_in_scope(self, scores: Scores) -> Scores:
        """Return the scores of `wanted`, given those of `rows`: the same array where all are."""
        return scores if len(self.wanted) == len(self.rows) else scores[self.wanted]

    def around(self, at: Rows) -> Rows:
        """Return where in `rows` some of `wanted` and the parts beside them stand."""
        mine = np.isin(self.parts, at)
        if not mine.any():
            return self.wanted[at]
        beside = self.beside[:, mine]
        return np.unique(np.concatenate((self.wanted[at], beside[beside != NONE])))

    def lend(self, own: Scores, share: float) -> tuple[Scores, Lenders]:
        """Return the scores of `wanted` with what is lent to them, and which part lent it.

        `own` holds those of `rows`. A document that is no result by itself is lent nothing.
        """
        lenders = np.full(len(self.wanted), NONE, np.int8)
        relevance = own[self.wanted]
        if len(self.parts):
            around = np.where(self.beside == NONE, 0.0, own[self.beside])
            lent, by = _lent(relevance[self.parts], around, share)
            lent[relevance[self.parts] <= 0.0] = 0.0
            relevance[self.parts] += lent
            lenders[self.parts] = np.where(lent > 0.0, by, NONE)
        return relevance, lenders


def _lent(own: Scores, around: Scores, share: float) -> tuple[Scores, Lenders]:
    """Return what parts are lent, shape (n,), by the better of two, shape (2, n), and which."""
    by = np.argmax(around, axis=0).astype(np.int8)  # the part before where both are as good
    return share * np.maximum(around.max(axis=0) - own, 0.0), by
