"""The similarity of two texts: one score that everything else uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import ConfigError
from kbx_tui.similarity.conflicts.conflict_guard import Conflict, contradict, find_conflicts
from kbx_tui.similarity.scoring.calibration import Calibration, calibration_of
from kbx_tui.similarity.scoring.compared_words import words_of
from kbx_tui.similarity.scoring.signals import Form, Signals, compare, form_of

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


@dataclass(frozen=True, slots=True)
class Likeness:
    """How alike two texts are before anybody asks whether they contradict each other."""

    left: str
    """Without blanks around it, as `right`."""
    right: str
    is_same: bool
    """True for the same text, case, accents and spacing aside."""
    score: float
    """As PairSimilarity has it, and what follows too."""
    signals: Signals
    form: Form
    is_calibrated: bool

    def is_conflict(self) -> bool:
        """Tell whether `judged` will say so, stopping at the first conflict."""
        return not self.is_same and self.score >= RELATED and contradict(self.left, self.right)

    def judged(self) -> PairSimilarity:
        """Return the same with what the texts contradict each other on."""
        conflicts = () if self.is_same else find_conflicts(self.left, self.right)
        return PairSimilarity(
            score=self.score,
            cosine=self.signals.cosine,
            signals=self.signals,
            conflicts=conflicts,
            relation="exact" if self.is_same else _relation(self.score, conflicts),
            form=self.form,
            is_calibrated=self.is_calibrated,
        )


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
    return likeness(left, right, cosine, calibration).judged()


def likeness(left: str, right: str, cosine: float, calibration: Calibration) -> Likeness:
    """Return the score of two texts and where it comes from; a third of the work. Pure."""
    one, other = words_of(left), words_of(right)
    signals = compare(one, other, _rounded(cosine))
    form = form_of(one, other)
    is_same = one.normal == other.normal
    score = 1.0 if is_same else round(calibration.score(signals, form), 6)
    return Likeness(one.text, other.text, is_same, score, signals, form, calibration.is_known)


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
