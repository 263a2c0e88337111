"""The similarity of two texts: one score that everything else uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import ConfigError
from kbx_tui.similarity.calibration import Calibration, calibration_of
from kbx_tui.similarity.conflicts import Conflict, find_conflicts
from kbx_tui.similarity.signals import Form, Signals, compare, form_of
from kbx_tui.similarity.words import Words, words_of

Relation = Literal["exact", "duplicate", "conflict", "related", "different"]

DUPLICATE = 0.85
"""Score from which on texts without a conflict are duplicates: where F1 is best."""
RELATED = 0.6
"""Score from which on texts have to do with each other, or contradict each other."""


@dataclass(frozen=True, slots=True)
class PairSimilarity:
    """How alike two texts are, and why."""

    score: float
    """Calibrated, 0..1; exactly 1 only for the same text, case, accents and spacing aside."""
    cosine: float
    """Raw cosine of the vectors, -1..1."""
    signals: Signals
    conflicts: tuple[Conflict, ...]
    relation: Relation
    form: Form
    is_calibrated: bool
    """False for an embedder without a calibration: the score is the raw cosine then."""


def pair_similarity(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> list[PairSimilarity]:
    """Return how alike the texts of each pair are, in order. Raises ConfigError for an empty text.

    Symmetric: the texts of a pair may be swapped, `left` and `right` of its conflicts swap too.
    """
    for pair in pairs:
        for text in pair:
            require_text(text)
    texts = sorted({text for pair in pairs for text in pair})  # the order decides the batches
    vectors = embedder.embed(texts).astype(np.float64)
    place = {text: row for row, text in enumerate(texts)}
    calibration = calibration_of(embedder.model)
    return [
        similarity(left, right, float(vectors[place[left]] @ vectors[place[right]]), calibration)
        for left, right in pairs
    ]


def similarity(left: str, right: str, cosine: float, calibration: Calibration) -> PairSimilarity:
    """Return how alike two texts are whose vectors have this cosine. Pure."""
    one, other = words_of(left), words_of(right)
    signals = compare(one, other, _rounded(cosine))
    form = form_of(one, other)
    score = _score(one, other, signals, form, calibration)
    is_same = one.normal == other.normal
    conflicts = () if is_same else find_conflicts(one.text, other.text)
    return PairSimilarity(
        score=score,
        cosine=signals.cosine,
        signals=signals,
        conflicts=conflicts,
        relation="exact" if is_same else _relation(score, conflicts),
        form=form,
        is_calibrated=calibration.is_known,
    )


def score_of(left: str, right: str, cosine: float, calibration: Calibration) -> float:
    """Return the score alone; a third of the work."""
    one, other = words_of(left), words_of(right)
    signals = compare(one, other, _rounded(cosine))
    return _score(one, other, signals, form_of(one, other), calibration)


def _score(
    one: Words, other: Words, signals: Signals, form: Form, calibration: Calibration
) -> float:
    return 1.0 if one.normal == other.normal else round(calibration.score(signals, form), 6)


def _rounded(cosine: float) -> float:
    return round(min(max(cosine, -1.0), 1.0), 6)  # batches of another size differ by 1e-7


def _relation(score: float, conflicts: tuple[Conflict, ...]) -> Relation:
    if conflicts and score >= RELATED:
        return "conflict"
    if score >= DUPLICATE:
        return "duplicate"
    return "related" if score >= RELATED else "different"


def require_text(text: str) -> str:
    """Return the text. Raises ConfigError when there is nothing in it."""
    if not text.strip():
        raise ConfigError("the text is empty; say what to compare")
    return text
