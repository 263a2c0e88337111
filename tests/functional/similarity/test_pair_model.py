"""The bundled pair model, run for real."""

from __future__ import annotations

import numpy as np
import pytest

from kbx_tui.embedding.pair_model import LABELS, MAX_TOKENS, PairModel, bundled_pair_model


@pytest.fixture(scope="module")
def model() -> PairModel:
    return bundled_pair_model()


def label(model: PairModel, known: str, drafted: str) -> str:
    return LABELS[int(model.probabilities([(known, drafted)])[0].argmax())]


@pytest.mark.parametrize(
    ("known", "drafted", "expected"),
    [
        ("reports to Dana", "reports to Daniel", "conflict"),
        ("manager: Bruno Brandt", "manager: Chen Castro", "conflict"),
        ("Incident review on Tuesdays", "Incident review moved to Thursdays", "conflict"),
        ("prefers tea over coffee", "prefers coffee over tea", "conflict"),
        ("speaks French", "speaks German", "different"),
        ("is in charge of the budget", "is responsible for the budget", "same"),
        ("lives in Lyon", "lives in Lyon with her sister", "refines"),
    ],
)
def test_reads_what_two_texts_say(
    model: PairModel, known: str, drafted: str, expected: str
) -> None:
    assert label(model, known, drafted) == expected


def test_a_pair_has_the_same_result_alone_and_among_others(model: PairModel) -> None:
    pairs = [("a", "b"), ("owns the ledger", "no longer owns the ledger " * 9), ("", "tea")]
    together = model.probabilities(pairs)
    alone = np.concatenate([model.probabilities([pair]) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-5)


def test_no_pairs_have_no_probabilities(model: PairModel) -> None:
    assert model.probabilities([]).shape == (0, len(LABELS))


def test_reads_the_beginning_of_a_long_text(model: PairModel) -> None:
    long = "tea " * (MAX_TOKENS + 1)
    read, longer = model.probabilities([("tea", long), ("tea", long * 50)])
    np.testing.assert_allclose(read, longer, atol=1e-5)


def test_any_characters_can_be_read(model: PairModel) -> None:
    odd = ["\x00\x1b[31m", "\ud800", "日本語", "🎉" * 100, "[SEP] [CLS]"]
    assert np.isfinite(model.probabilities([(text, "tea") for text in odd])).all()
