"""Pairs of texts the user labelled as same or different: `.kbx/labels.jsonl`.

They give the precision and recall of a similarity threshold.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kbx_tui.editing.state.state_folder import read_records, write_records
from kbx_tui.similarity.scoring.pair_score import PairSimilarity
from kbx_tui.similarity.scoring.thresholds import precision_recall_f1
from kbx_tui.state_file import Notice, ignore

LABELS = Path(".kbx", "labels.jsonl")
"""Relative to the root."""
MIN_LABELS = 20
"""Minimum number of labels for meaningful metrics."""


@dataclass(frozen=True, slots=True)
class Label:
    """Whether two texts mean the same, in the user's judgment."""

    left: str
    right: str
    same: bool


@dataclass(frozen=True, slots=True)
class LabelledScore:
    """A labelled pair and its score."""

    label: Label
    score: float
    is_conflict: bool


@dataclass(frozen=True, slots=True)
class ThresholdMetrics:
    """Precision and recall of a threshold on the labelled pairs."""

    labels: int
    precision: float
    """Share of the pairs above the threshold that are the same, 0..1; 0 if none is above."""
    recall: float
    """Share of the pairs that are the same and above the threshold, 0..1."""


def read_labels(root: Path, notice: Notice = ignore) -> tuple[Label, ...]:
    """Return the newest label of each pair, in either order, skipping unreadable lines."""
    labels = (label for _, label in read_records(root / LABELS, Label, notice) if label)
    return tuple({frozenset((label.left, label.right)): label for label in labels}.values())


def write_labels(root: Path, labels: Iterable[Label]) -> None:
    """Replace the stored labels, keeping unreadable lines. Raises WriteFault, changing nothing."""
    stored = read_records(root / LABELS, Label, ignore)
    others = [line for line, label in stored if not label]
    write_records(root, LABELS, labels, others, {label: line for line, label in stored if label})


def score_labels(
    labels: Sequence[Label], pairs: Sequence[PairSimilarity]
) -> tuple[LabelledScore, ...]:
    """Return the labels with the scores of their pairs; `pairs` has the same order."""
    return tuple(
        LabelledScore(label, pair.score, pair.relation == "conflict")
        for label, pair in zip(labels, pairs, strict=True)
    )


def measure_threshold(
    labelled: Sequence[LabelledScore], threshold: float
) -> ThresholdMetrics | None:
    """Return the metrics of a threshold; None with too few labels. Conflicts count as different."""
    if len(labelled) < MIN_LABELS:
        return None
    same = np.array([pair.label.same for pair in labelled], np.bool_)
    accepted = np.array(
        [pair.score >= threshold and not pair.is_conflict for pair in labelled], np.bool_
    )
    precision, recall, _ = precision_recall_f1(same, accepted)
    return ThresholdMetrics(len(labelled), precision, recall)
