"""Labelled pairs and measures of a score on them, for calibration and its benchmark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kbx_tui.errors import NotFound

Labels = NDArray[np.bool_]
"""Shape (n,): True for a duplicate."""
Ranks = NDArray[np.float64]
"""Shape (n,): larger for more similar pairs; -inf for conflicts, which are ranked last."""


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """Pairs of texts labelled as duplicates or not."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    labels: Labels


def read_pairs(folder: Path) -> LabelledPairs:
    """Read `pairs.tsv` (text_a, text_b, label) of a folder. Raises NotFound without one."""
    file = folder / "pairs.tsv"
    try:
        lines = file.read_text(encoding="utf-8").split("\n")[1:]
    except OSError as error:
        raise NotFound(
            f"no labelled pairs at {file}; expected a table with the columns text_a, text_b, label"
        ) from error
    rows = [line.split("\t") for line in lines if line]
    return LabelledPairs(
        folder.name,
        tuple((left, right) for left, right, _ in rows),
        np.array([label == "1" for _, _, label in rows]),
    )


def average_precision(labels: Labels, ranks: Ranks) -> float:
    """Return the area under precision over recall; ties count as one step, whatever their order.

    Source: `sum (R_n - R_{n-1}) P_n`, as scikit-learn's `average_precision_score`.
    """
    order = np.argsort(-ranks, kind="stable")
    hits = np.cumsum(labels[order])
    last = _ends_of_ties(ranks[order])
    precision = hits[last] / (np.flatnonzero(last) + 1)
    recall = hits[last] / labels.sum()
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def best_f1(labels: Labels, ranks: Ranks) -> tuple[float, float]:
    """Return the best F1 of any cut-off, and the lowest rank it accepts."""
    cuts, f1 = f1_by_cut(labels, ranks)
    best = int(np.argmax(f1))
    return float(f1[best]), float(cuts[best])


def f1_by_cut(labels: Labels, ranks: Ranks) -> tuple[Ranks, Ranks]:
    """Return every cut-off, descending, and its F1."""
    order = np.argsort(-ranks, kind="stable")
    ordered = ranks[order]
    last = np.flatnonzero(_ends_of_ties(ordered))
    hits = np.cumsum(labels[order])[last]
    return ordered[last], 2.0 * hits / (last + 1 + labels.sum())


def _ends_of_ties(ordered: Ranks) -> Labels:
    ends: Labels = np.append(ordered[1:] != ordered[:-1], True)
    return ends
