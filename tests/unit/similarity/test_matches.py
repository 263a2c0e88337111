import numpy as np

from kbx_tui.similarity.pair_score import precision_recall_f1

LABELS = np.array([True, False, True, False])


def test_precision_recall_and_f1_are_those_of_the_accepted_pairs() -> None:
    found = precision_recall_f1(LABELS, np.array([True, True, False, False]))
    assert found == (1 / 2, 1 / 2, 1 / 2)
    assert precision_recall_f1(LABELS, np.zeros(4, np.bool_)) == (0.0, 0.0, 0.0)
