"""What documents mean compared with what a query means: the dear part of evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kbx_tui.index.vectors.vector_matrix import RoundedCosines, Vectors
from kbx_tui.search.evidence.evidence import Evidence, Rows, Scores
from kbx_tui.search.evidence.scoring import Scoring
from kbx_tui.search.retrieval.pseudo_relevance_feedback import Meanings
from kbx_tui.search.retrieval.top_k.top_k import Once, all_evidence, best_evidence


def compared(
    evidence: Evidence, vectors: Vectors, meaning: Meanings, scoring: Scoring, once: Once | None
) -> Evidence:
    """Return the evidence with the meaning of all documents, or of those that `once` needs."""
    rows, flags = scoring.reach.rows, scoring.reach.flags
    if once is not None:
        rounded: dict[str, RoundedCosines] = {}

        def about(wording: str) -> tuple[Scores, float]:
            told = rounded[wording] = vectors.about_cosine(meaning.of(wording), rows)
            return told.cosine, told.slack

        def exact(wording: str, at: Rows) -> Scores:
            return vectors.best_cosine_of(meaning.of(wording), rows[at], rounded[wording])

        found = best_evidence(evidence, once, scoring, about, exact)
        if found is None:
            wording = once.wording(evidence)
            cosine = vectors.best_cosine(meaning.of(wording)[None], flags)[0, rows]
            found = all_evidence(evidence, once, scoring, cosine)
        return found
    wordings = list(scoring.wordings)
    queries = np.stack([meaning.of(one) for one in wordings])
    cosines = vectors.best_cosine(queries, flags)[:, rows]
    typed, *others = map(scoring.components, wordings, cosines)
    return replace(evidence, as_typed=typed, as_searched=others[0] if others else typed)
