"""Fit the calibration of an embedding model on labelled pairs, and measure how it generalises.

    python -m scripts.calibrate_similarity FOLDER FOLDER ... [--model bundled] [--write]

Each FOLDER holds `pairs.tsv` (text_a, text_b, label). The table in the package was made with

    python -m scripts.calibrate_similarity EVAL/dedup-stsb-dev EVAL/dedup-esco-dev --write

1. Pairs are separated by form, label or sentence; conflicting pairs are left to the conflict guard.
2. Per form, a logistic regression with an L2 penalty on the weights: cosine, tokens and
   shares_word for labels, cosine and spelling for sentences (other signals did not help on pairs of
   the other set).
3. Knots: .85 where F1 is best; .80 and .90 where it has lost 4 % of that to more recall and to more
   precision. Each is the median of 200 bootstrap samples, since the best cut of one sample varies.

Prints in-sample figures, five-fold figures, and each set scored by a table fitted without it. The
same pairs and the same model give the same table.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled_pairs import LabelledPairs, average_precision, f1_by_cut, read_pairs
from kbx_tui.embedding.local import open_embedder
from kbx_tui.similarity.compared_words import Form, Signals
from kbx_tui.similarity.judging import DUPLICATE
from kbx_tui.similarity.pair_score import (
    TABLES,
    Calibration,
    Curve,
    PairSimilarity,
    pair_similarity,
    precision_recall_f1,
)

USED: Mapping[Form, tuple[str, ...]] = {
    "label": ("cosine", "tokens", "shares_word"),
    "sentence": ("cosine", "spelling"),
}
PENALTY = 5e-4
"""L2 penalty per pair: keeps a weight from growing on what few pairs show."""
LOSS = 0.04
"""Share of the best F1 given up at .80 and at .90."""
BOOTSTRAPS, FOLDS, SEED = 200, 5, 7

Pair = tuple[PairSimilarity, bool]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--model", default="bundled")
    parser.add_argument("--write", action="store_true", help="write the table into the package")
    options = parser.parse_args()
    embedder = open_embedder(options.model)
    sets = [read_pairs(folder) for folder in options.folders]
    measured = {found.name: measure(found, embedder) for found in sets}
    everything = [pair for pairs in measured.values() for pair in pairs]
    calibration = fit(embedder.model, everything)
    for name, pairs in measured.items():
        report(f"{name}, in sample", pairs, [rescored(pair, calibration) for pair in pairs])
        report(f"{name}, {FOLDS} folds", pairs, in_folds(embedder.model, everything, pairs))
        if len(measured) > 1:
            others = [pair for other, found in measured.items() if other != name for pair in found]
            without = fit(embedder.model, others)
            report(f"{name}, fitted without it", pairs, [rescored(p, without) for p in pairs])
    if options.write:
        write(calibration, [found.name for found in sets])


def measure(labelled: LabelledPairs, embedder: Any) -> list[Pair]:
    found = pair_similarity(labelled.pairs, embedder)
    return list(zip(found, labelled.labels.tolist(), strict=True))


def fit(model: str, pairs: Sequence[Pair]) -> Calibration:
    """Return the calibration fitted on pairs; a form without pairs uses the other form's curve."""
    curves: dict[Form, Curve] = {}
    for form in USED:
        own = [pair for pair in pairs if pair[0].form == form]
        if len(own) >= 200:
            curves[form] = fit_curve(form, own)
    for form in USED:
        curves.setdefault(form, next(iter(curves.values())))
    return Calibration(model, curves)


def fit_curve(form: Form, pairs: Sequence[Pair]) -> Curve:
    kept = [(found, label) for found, label in pairs if not found.conflicts]
    labels = np.array([label for _, label in kept])
    inputs = np.array([[float(getattr(f.signals, n)) for n in USED[form]] for f, _ in kept])
    weights = logistic_regression(inputs, labels)
    named = dict.fromkeys(("cosine", "tokens", "shares_word", "spelling"), 0.0)
    named |= {name: round(float(w), 3) for name, w in zip(USED[form], weights, strict=False)}
    bias = round(float(weights[-1]), 3)
    curve = Curve(**named, bias=bias, knots=())
    bottom = curve.sum(Signals(0.0, 0.0, False, 0.0, False, False))
    top = curve.sum(Signals(1.0, 1.0, True, 1.0, False, False))
    sums = np.array([curve.sum(found.signals) for found, _ in kept])
    knots = [(bottom, 0.0), *zip(operating_points(labels, sums), (0.8, 0.85, 0.9), strict=True)]
    knots = [(round(total, 3), score) for total, score in [*knots, (top, 1.0)]]
    return Curve(**named, bias=bias, knots=tuple(knots))


def logistic_regression(inputs: NDArray[Any], labels: NDArray[Any]) -> NDArray[np.float64]:
    """Return the weights, bias last, by Newton's method (iteratively reweighted least squares)."""
    columns = np.c_[inputs, np.ones(len(inputs))]
    penalty = PENALTY * len(labels) * np.append(np.ones(inputs.shape[1]), 0.0)
    weights = np.zeros(columns.shape[1])
    for _ in range(50):
        likely = 1.0 / (1.0 + np.exp(-columns @ weights))
        slope = columns.T @ (likely - labels) + penalty * weights
        curvature = (columns * (likely * (1.0 - likely))[:, None]).T @ columns + np.diag(penalty)
        weights -= np.linalg.solve(curvature, slope)
    return weights


def operating_points(labels: NDArray[Any], sums: NDArray[Any]) -> list[float]:
    """Return the sums for .80, .85 and .90."""
    chance = np.random.default_rng(SEED)
    points = []
    for _ in range(BOOTSTRAPS):
        sample = chance.integers(0, len(labels), len(labels))
        cuts, f1 = f1_by_cut(labels[sample], sums[sample])
        near = np.flatnonzero(f1 >= (1.0 - LOSS) * f1.max())
        points.append((cuts[near[-1]], cuts[int(np.argmax(f1))], cuts[near[0]]))
    return [float(found) for found in np.median(points, axis=0)]


def in_folds(model: str, everything: Sequence[Pair], pairs: Sequence[Pair]) -> list[float]:
    """Return the scores of `pairs` in five-fold cross-validation."""
    fold = np.random.default_rng(SEED).integers(0, FOLDS, len(everything))
    number = {id(pair): int(f) for pair, f in zip(everything, fold, strict=True)}
    tables = [
        fit(model, [pair for pair in everything if number[id(pair)] != f]) for f in range(FOLDS)
    ]
    return [rescored(pair, tables[number[id(pair)]]) for pair in pairs]


def rescored(pair: Pair, calibration: Calibration) -> float:
    found = pair[0]
    if found.relation == "exact":
        return 1.0
    return calibration.score(found.signals, found.form)


def report(title: str, pairs: Sequence[Pair], scores: Sequence[float]) -> None:
    labels = np.array([label for _, label in pairs])
    conflict = np.array([bool(found.conflicts) for found, _ in pairs])
    ranks = np.where(conflict, -np.inf, np.array(scores))
    precision, recall, f1 = precision_recall_f1(labels, ranks >= DUPLICATE)
    ap = average_precision(labels, ranks)
    print(f"{title:<36} AP {ap:.4f}   at .85: P {precision:.3f} R {recall:.3f} F1 {f1:.3f}")


def write(calibration: Calibration, sets: Sequence[str]) -> None:
    known = json.loads(TABLES.read_text(encoding="utf-8")) if TABLES.exists() else {"models": {}}
    weights = ("cosine", "tokens", "shares_word", "spelling", "bias")
    known["models"][calibration.model] = {
        form: {
            "fitted_on": list(sets),
            "weights": {name: getattr(curve, name) for name in weights},
            "knots": [list(knot) for knot in curve.knots],
        }
        for form, curve in calibration.curves.items()
    }
    TABLES.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {TABLES}")


if __name__ == "__main__":
    main()
