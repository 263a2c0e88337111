"""The user's decisions about pairs of texts.

`.kbx/labels.jsonl` records which pairs say the same thing; the precision and recall of a
similarity threshold are measured on them. `.kbx/kept-pairs.jsonl` records which similar facts stay
as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from kbx_tui.drafting.drafts import DraftCheck
from kbx_tui.editing.state_files import Log
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.similarity.pair_score import precision_recall_f1, require_threshold
from kbx_tui.state_file import Notice, ignore

_LABELS, _KEPT_PAIRS = "labels.jsonl", "kept-pairs.jsonl"
MIN_LABELS = 20
MOST_LABELS = 1_000
"""Labels that are compared whenever drafts are opened, the newest: each with all facts."""


@dataclass(frozen=True, slots=True)
class Label:
    left: str
    right: str
    same: bool


@dataclass(frozen=True, slots=True)
class LabelledScore:
    label: Label
    score: float
    is_conflict: bool


@dataclass(frozen=True, slots=True)
class ThresholdMetrics:
    labels: int
    precision: float
    recall: float


def read_labels(root: Path, notice: Notice = ignore) -> tuple[Label, ...]:
    labels = Log(root, _LABELS, Label, notice).records()
    return tuple({frozenset((label.left, label.right)): label for label in labels}.values())


def write_labels(root: Path, labels: Iterable[Label]) -> None:
    """Replace the stored labels; unreadable lines stay. If it raises WriteFault, none changes."""
    Log(root, _LABELS, Label).replace(labels)


def measure_threshold(
    labelled: Sequence[LabelledScore], threshold: float
) -> ThresholdMetrics | None:
    """Return the metrics of a threshold; None if there are too few labels.

    Pairs with a conflict count as different. Raises OutOfRange.
    """
    require_threshold(threshold)
    if len(labelled) < MIN_LABELS:
        return None
    same = np.array([pair.label.same for pair in labelled], np.bool_)
    is_accepted = [pair.score >= threshold and not pair.is_conflict for pair in labelled]
    accepted = np.array(is_accepted, np.bool_)
    precision, recall, _ = precision_recall_f1(same, accepted)
    return ThresholdMetrics(len(labelled), precision, recall)


FactPair = frozenset[int]


@dataclass(frozen=True, slots=True)
class KeptPair:
    """Two similar facts that the user keeps; scans for duplicates leave them out.

    A fact whose text changes gets a new id, so its pairs are found again. The texts are stored for
    people who read the file.
    """

    first_id: int
    second_id: int
    first: str
    second: str

    @property
    def ids(self) -> FactPair:
        return frozenset((self.first_id, self.second_id))


def pairs_of(check: DraftCheck) -> tuple[KeptPair, ...]:
    draft = check.draft
    if draft.stands_for is None:
        return ()
    texts = {draft.stands_for: draft.text}
    for match in check.matches:
        if match.known.fact_id is not None:
            texts.setdefault(match.known.fact_id, match.known.text)
    return tuple(
        KeptPair(left, right, replace_surrogates(texts[left]), replace_surrogates(texts[right]))
        for left, right in combinations(texts, 2)
    )


def read_kept(root: Path, notice: Notice = ignore) -> frozenset[FactPair]:
    return frozenset(pair.ids for pair in Log(root, _KEPT_PAIRS, KeptPair, notice).records())


def write_kept(root: Path, pairs: Sequence[KeptPair], *, kept: bool) -> None:
    """Add pairs to the stored ones, or remove them if not `kept`; unreadable lines stay.

    The caller holds the edit lock. Raises WriteFault, leaving the file unchanged.
    """
    log = Log(root, _KEPT_PAIRS, KeptPair)
    stored, changed = log.records(), {pair.ids for pair in pairs}
    present = {pair.ids for pair in stored}
    if kept:
        wanted = [*stored, *(pair for pair in pairs if pair.ids not in present)]
    else:
        wanted = [pair for pair in stored if pair.ids not in changed]
    if len(wanted) != len(stored):
        log.replace(wanted)
