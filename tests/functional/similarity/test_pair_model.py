"""The bundled pair model, run for real."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbx_tui.embedding.cross_encoder import (
    LABELS,
    PAIR_MODEL,
    TOKENS_OF_TEXT,
    PairModel,
    bundled_pair_model,
)
from kbx_tui.errors import EmbeddingError


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


def test_a_pair_of_any_texts_has_the_same_result_alone_and_among_others(model: PairModel) -> None:
    pairs = [("a", "b"), ("owns the ledger", "no longer owns the ledger " * 9), ("", "tea")]
    together = model.probabilities(pairs)
    alone = np.concatenate([model.probabilities([pair]) for pair in pairs])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-5)
    assert model.probabilities([]).shape == (0, len(LABELS))

    long = "tea " * (TOKENS_OF_TEXT + 1)
    read, longer = model.probabilities([("tea", long), ("tea", long * 50)])
    np.testing.assert_allclose(read, longer, atol=1e-5)

    odd = ["\x00\x1b[31m", "\ud800", "日本語", "🎉" * 100, "[SEP] [CLS]"]
    assert np.isfinite(model.probabilities([(text, "tea") for text in odd])).all()


@pytest.mark.parametrize("content", [None, b"", b"not a model", PAIR_MODEL.read_bytes()[:100_000]])
def test_a_missing_or_damaged_model_is_one_sentence(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "model.onnx"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(EmbeddingError, match="cannot be loaded") as raised:
        PairModel(file)
    message = str(raised.value)
    assert str(file) in message
    assert "\n" not in message
    assert message.endswith("; install kbx-tui again")


def test_a_model_with_other_inputs_cannot_run() -> None:
    other = PairModel(PAIR_MODEL.parents[1] / "bundled" / "model.onnx")
    with pytest.raises(EmbeddingError, match="cannot run"):
        other.probabilities([("a", "b")])


def test_the_model_ships_with_its_licences_and_stays_small() -> None:
    assert "Apache License" in (PAIR_MODEL.parent / "LICENSE").read_text(encoding="utf-8")
    assert "Princeton University" in (PAIR_MODEL.parent / "NOTICE").read_text(encoding="utf-8")
    assert PAIR_MODEL.stat().st_size <= 25_000_000
