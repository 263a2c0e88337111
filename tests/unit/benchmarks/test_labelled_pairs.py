"""Measures on labelled pairs, with results computed by hand."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.labelled_pairs import average_precision, best_f1, read_pairs
from kbx_tui.errors import NotFound

LABELS = np.array([True, False, True, False])


def test_average_precision_counts_tied_ranks_as_one_step() -> None:
    assert average_precision(LABELS, np.array([4.0, 3.0, 2.0, 1.0])) == (1 / 1 + 2 / 3) / 2

    ranks = np.ones(4)
    assert average_precision(LABELS, ranks) == average_precision(LABELS[::-1], ranks) == 2 / 4


def test_best_f1_finds_the_best_cut_off() -> None:
    f1, cut = best_f1(LABELS, np.array([0.9, 0.2, 0.8, 0.1]))
    assert (f1, cut) == (1.0, 0.8)


def test_pairs_are_read_and_a_missing_table_raises_not_found(tmp_path: Path) -> None:
    table = "text_a\ttext_b\tlabel\na b\tc\t1\nd\te\t0\n"
    (tmp_path / "pairs.tsv").write_text(table, encoding="utf-8")
    found = read_pairs(tmp_path)
    assert found.pairs == (("a b", "c"), ("d", "e"))
    assert found.labels.tolist() == [True, False]
    with pytest.raises(NotFound, match="no labelled pairs"):
        read_pairs(tmp_path / "nowhere")
