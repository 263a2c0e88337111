"""The similarity score of two texts, used everywhere in the program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import ConfigError
from kbx_tui.similarity.conflicts.conflict_guard import Conflict, contradict, find_conflicts
from kbx_tui.similarity.scoring.calibration import Calibration, calibration_of
from kbx_tui.similarity.scoring.compared_words import analyse_words
from kbx_tui.similarity.scoring.signals import Form, Signals, compare, form_of

Relation = Literal["exact", "duplicate", "conflict", "related", "different"]

DUPLICATE = 0.85
"""Lowest score of duplicates, without a conflict: the calibrated point of best F1."""
MAX_TEXT = 10_000
"""Characters of the longest text that is written as a fact; of a longer one these are compared."""

RELATED = 0.6
"""Lowest score of texts that are related, or that may contradict each other."""


@dataclass(frozen=True, slots=True)
class PairSimilarity:
    """How similar two texts are, and why."""

    score: float
    """Calibrated, 0..1; exactly 1 only for identical text, ignoring case, accents and spacing."""
    cosine: float
    """Raw cosine of the two vectors, -1..1."""
    signals: Signals
    conflicts: tuple[Conflict, ...]
    relation: Relation
    form: Form
    is_calibrated: bool
    """False for an embedder without a calibration, whose score is the raw cosine."""


@dataclass(frozen=True, slots=True)
class PairScore:
    """The similarity of two texts before looking for conflicts, which takes most of the time."""

    left: str
    """Stripped of surrounding white space, as is `right`."""
    right: str
    is_same: bool
    """Whether the texts are identical, ignoring case, accents and spacing."""
    score: float
    """As in PairSimilarity, like the fields below."""
    signals: Signals
    form: Form
    is_calibrated: bool

    def is_conflict(self) -> bool:
        """Return whether the relation is `conflict`, stopping at the first conflict found."""
        return not self.is_same and self.score >= RELATED and contradict(self.left, self.right)

    def with_conflicts(self) -> PairSimilarity:
        """Return the full similarity, conflicts included."""
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
    """Return the similarity of each pair, in order. Raises ConfigError for an empty text.

    Symmetric: swapping the texts of a pair only swaps `left` and `right` of its conflicts.
    """
    for pair in pairs:
        for text in pair:
            require_text(text)
    pairs = [(left[:MAX_TEXT], right[:MAX_TEXT]) for left, right in pairs]
    texts = sorted(
        {text for pair in pairs for text in pair}
    )  # sorted: batches, and so rounding, must not depend on the caller
    vectors = embedder.embed(texts).astype(np.float64)
    row_of = {text: row for row, text in enumerate(texts)}
    calibration = calibration_of(embedder.model)
    return [
        similarity(left, right, float(vectors[row_of[left]] @ vectors[row_of[right]]), calibration)
        for left, right in pairs
    ]


def similarity(left: str, right: str, cosine: float, calibration: Calibration) -> PairSimilarity:
    """Return the similarity of two texts whose vectors have this cosine. Pure."""
    return score_pair(left, right, cosine, calibration).with_conflicts()


def score_pair(left: str, right: str, cosine: float, calibration: Calibration) -> PairScore:
    """Return the score of two texts and its signals, without looking for conflicts. Pure."""
    one, other = analyse_words(left[:MAX_TEXT]), analyse_words(right[:MAX_TEXT])
    signals = compare(one, other, _rounded(cosine))
    form = form_of(one, other)
    is_same = one.normal == other.normal
    score = 1.0 if is_same else round(calibration.score(signals, form), 6)
    return PairScore(one.text, other.text, is_same, score, signals, form, calibration.is_known)


def _rounded(cosine: float) -> float:
    return round(min(max(cosine, -1.0), 1.0), 6)  # batches of different sizes differ by 1e-7


def _relation(score: float, conflicts: tuple[Conflict, ...]) -> Relation:
    if conflicts and score >= RELATED:
        return "conflict"
    if score >= DUPLICATE:
        return "duplicate"
    return "related" if score >= RELATED else "different"


def require_text(text: str) -> str:
    """Return the text. Raises ConfigError for a blank one."""
    if not text.strip():
        raise ConfigError("the text is empty; give a text to compare")
    return text


def cut_notes(text: str) -> tuple[str, ...]:
    """Return a note if only a part of the text is compared."""
    if len(text) <= MAX_TEXT:
        return ()
    return (f"the text has {len(text):,} characters; only the first {MAX_TEXT:,} are compared",)


def too_long_for_a_fact(text: str) -> str:
    """Return why a text cannot be written as a fact, empty if it is short enough."""
    if len(text) <= MAX_TEXT:
        return ""
    return (
        f"the fact has {len(text):,} characters; a fact has at most {MAX_TEXT:,}: "
        "write the text to a page of its own"
    )
