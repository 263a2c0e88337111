"""How good a threshold is on the pairs somebody labelled. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kbx_tui.editing.state.labels import Label
from kbx_tui.similarity.scoring.labelled_pairs import precision_recall_f1
from kbx_tui.similarity.scoring.pair_score import PairSimilarity

FEWEST = 20
"""Labels from which on a measure says something."""


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A labelled pair and its score."""

    label: Label
    score: float
    is_conflict: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """What a threshold does on the labelled pairs."""

    labels: int
    precision: float
    """Share of the pairs above the threshold that are the same, 0..1; 0 where none is above."""
    recall: float
    """Share of the pairs that are the same which are above it, 0..1."""


def with_scores(
    labels: Sequence[Label], pairs: Sequence[PairSimilarity]
) -> tuple[LabelledScore, ...]:
    """Return the labels with the scores of their pairs, which are given in order."""
    return tuple(
        LabelledScore(label, pair.score, pair.relation == "conflict")
        for label, pair in zip(labels, pairs, strict=True)
    )


def measure(labelled: Sequence[LabelledScore], threshold: float) -> Measured | None:
    """Return precision and recall of a threshold, 0..1; None under 20 labels.

    A pair in conflict counts as not the same, as in every check.
    """
    if len(labelled) < FEWEST:
        return None
    labels = np.array([one.label.same for one in labelled], np.bool_)
    accepted = np.array(
        [one.score >= threshold and not one.is_conflict for one in labelled], np.bool_
    )
    precision, recall, _ = precision_recall_f1(labels, accepted)
    return Measured(len(labelled), precision, recall)
