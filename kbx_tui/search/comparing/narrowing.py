"""Evidence of fewer documents, as retrieval with one more filter would return it. Pure.

No score depends on which documents are in scope, so none is computed again. Scores of a reranker
are left out: it would read other documents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import ComponentScores, Evidence, Flags, frozen


def narrowed(evidence: Evidence, in_scope: Flags) -> Evidence:
    """Return the Evidence of the documents that `in_scope`, shape (n,), flags."""
    rows = np.flatnonzero(in_scope)
    numbers = rows.tolist()
    typed = _components(evidence.as_typed, rows)
    same = evidence.as_searched is evidence.as_typed
    preference = evidence.date_preference
    if preference is not None:
        preference = replace(preference, matches=frozen(preference.matches[rows]))
    position = {row: number for number, row in enumerate(numbers)}
    return replace(
        evidence,
        scope=replace(evidence.scope, in_scope=len(numbers)),
        links=tuple(linked.within(in_scope, rows) for linked in evidence.links),
        paths=tuple(evidence.paths[row] for row in numbers),
        titles=tuple(evidence.titles[row] for row in numbers),
        dates=tuple(evidence.dates[row] for row in numbers),
        kinds=tuple(evidence.kinds[row] for row in numbers),
        as_typed=typed,
        as_searched=typed if same else _components(evidence.as_searched, rows),
        known_items={
            position[row]: what for row, what in evidence.known_items.items() if row in position
        },
        frecency=frozen(evidence.frecency[rows]),
        reranker=None,
        date_preference=preference,
        evaluated=None if evidence.evaluated is None else frozen(evidence.evaluated[rows]),
    )


def _components(components: ComponentScores, rows: NDArray[np.int64]) -> ComponentScores:
    changes: dict[str, Any] = {
        name: frozen(getattr(components, name)[rows])
        for name in (
            "raw_lexical", "lexical", "cosine", "vector", "own_relevance", "doc_relevance",
            "propagated_from",
        )
    }  # fmt: skip
    return replace(components, **changes)
