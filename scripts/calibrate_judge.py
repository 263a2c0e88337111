"""Fit the weights of the judge of drafts on labelled pairs, and measure how they generalise.

    python -m scripts.calibrate_judge FOLDER[=WEIGHT] ...

Each FOLDER holds `pairs.tsv` or a door set (`drafts.jsonl`), as `benchmarks.similarity judge` reads
them. Of a door set, each draft with each other fact of its entity counts as different, with a tenth
of the weight: so the weights know how rare a relation is on a page. Multinomial logistic
regression, with a penalty on departing from the pair model alone. Prints the measures of each
folder with the weights fitted without it, then the weights fitted on all, as `WEIGHTS` of
`kbx_tui/similarity/judging.py`.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.similarity import JUDGE_HEAD, SHIPPED, Judged, print_measures, read_judged
from kbx_tui import KnowledgeBase
from kbx_tui.embedding.cross_encoder import LABELS, bundled_pair_model
from kbx_tui.similarity import judging
from kbx_tui.similarity.pair_score import PairSimilarity
from kbx_tui.similarity.similarity_engine import known_and_draft

PENALTY, STEPS, AT_ONCE = 6.0, 600, 12
ALONE = np.eye(13, 4)
"""The weights of what the model says alone."""


@dataclass(frozen=True, slots=True)
class Example:
    folder: str
    label: str
    weight: float
    pair: PairSimilarity
    probabilities: NDArray[np.float32]


def main() -> None:
    examples = [each for argument in sys.argv[1:] for each in read(*argument.partition("=")[::2])]
    print(JUDGE_HEAD)
    for folder in dict.fromkeys(each.folder for each in examples):
        inside = [each for each in examples if each.folder == folder]
        with patch.object(judging, "WEIGHTS", fit([e for e in examples if e.folder != folder])):
            said = [
                judging.judge(e.pair.left, e.pair.right, e.probabilities, e.pair.signals)
                for e in inside
            ]
        relations = [Judged(e.label, s.relation, "", "") for e, s in zip(inside, said, strict=True)]
        print_measures(folder, relations)
    for row in fit(examples):
        print("        [" + ", ".join(f"{value:.2f}" for value in row) + "],")


def read(path: str, weight: str) -> list[Example]:
    """Return the labelled pairs of a folder; those of a draft and other facts after them."""
    folder, each = Path(path), float(weight or 1)
    rows = read_judged(folder)
    with tempfile.TemporaryDirectory() as base, KnowledgeBase(base) as kb:
        pairs = kb.similarity.pairs([(row["b"], row["a"]) for row in rows])
    labelled = [(pair, row["label"], each) for pair, row in zip(pairs, rows, strict=True)]
    if (folder / "drafts.jsonl").exists():
        labelled += [(pair, "different", each / 10) for pair in unrelated(folder)]
    labelled.sort(key=lambda one: len(one[0].left + one[0].right))
    asked = [known_and_draft(pair) for pair, *_ in labelled]
    rows_of = [
        row
        for start in range(0, len(asked), AT_ONCE)
        for row in bundled_pair_model().probabilities(asked[start : start + AT_ONCE])
    ]
    return [
        Example(folder.name, label, share, pair, row)
        for (pair, label, share), row in zip(labelled, rows_of, strict=True)
        if not pair.is_same
    ]


def unrelated(folder: Path) -> list[PairSimilarity]:
    """Return each draft with what else is known of its entity, fields after their keys."""
    lines = (folder / "drafts.jsonl").read_text("utf-8").splitlines()
    drafts = [json.loads(line) for line in lines]
    found = []
    for base in sorted({draft["base"] for draft in drafts}):
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch) / "base"
            source = SHIPPED if base == "demo" else folder / f"base_{base}"
            shutil.copytree(source, root, ignore=shutil.ignore_patterns(".kbx"))
            with KnowledgeBase(root) as kb:
                kb.index()
                engine = kb.similarity.engine()
                of_base = [draft for draft in drafts if draft["base"] == base]
                owners = [engine.entity(draft["entity"]).id for draft in of_base]
                texts = [draft["text"] for draft in of_base]
                near = engine.near(texts, owners, 0.0, 48, only_own=True, all_own=True)
                for draft, matches in zip(of_base, near, strict=True):
                    found += [m.judged_pair for m in matches if m.text != draft["line"]]
    return found


def fit(examples: list[Example]) -> NDArray[np.float64]:
    """Return the weights, shape (13, 4), by gradient steps with momentum (Adam)."""
    inputs = np.array(
        [
            judging.weighed(e.pair.left, e.pair.right, e.probabilities, e.pair.signals)
            for e in examples
        ]
    )
    truth = np.eye(4)[[LABELS.index(example.label) for example in examples]]
    shares = np.array([[example.weight] for example in examples])
    weights, speed, size = ALONE.copy(), np.zeros((13, 4)), np.zeros((13, 4))
    for step in range(1, STEPS + 1):
        sums = inputs @ weights
        likely = np.exp(sums - sums.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        slope = inputs.T @ ((likely - truth) * shares) + PENALTY * (weights - ALONE)
        speed, size = 0.9 * speed + 0.1 * slope, 0.99 * size + 0.01 * slope**2
        weights -= 0.03 * speed / (1 - 0.9**step) / (np.sqrt(size / (1 - 0.99**step)) + 1e-8)
    return weights


if __name__ == "__main__":
    main()
