"""The bundled model without fastembed: bit-identical as int8, nearly identical as float32."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import simsimd

from kbx_tui.embedding.local import BATCH_SIZE, PooledModel, load_with_fastembed, prefers_int8
from kbx_tui.embedding.model_files import BUNDLED, encodable

TEXTS: list[str] = json.loads((Path(__file__).parent / "data" / "texts.json").read_text("utf-8"))
ODD = ["", " \n\t", "\0", "é🚀", "会議は明日", "[PAD] [SEP] [CLS]", "word " * 600, "\ud800 lone"]


@pytest.fixture(scope="module")
def int8() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=True)


@pytest.fixture(scope="module")
def float32() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=False)


def test_vectors_are_identical_to_those_of_fastembed(int8: PooledModel) -> None:
    reference, texts = load_with_fastembed(BUNDLED, threads=1), encodable([*TEXTS, *ODD])
    for text in texts:
        np.testing.assert_array_equal(
            np.stack(list(int8.query_embed([text]))), np.stack(list(reference.query_embed([text])))
        )
    np.testing.assert_array_equal(
        np.stack(list(int8.passage_embed(texts, batch_size=BATCH_SIZE))),
        np.stack(list(reference.passage_embed(texts, batch_size=BATCH_SIZE))),
    )


def test_float32_weights_give_nearly_the_same_vectors_as_int8(
    int8: PooledModel, float32: PooledModel
) -> None:
    int8_vectors, float32_vectors = (
        np.stack(list(session.passage_embed(TEXTS, batch_size=1))) for session in (int8, float32)
    )
    cosines = np.sum(int8_vectors * float32_vectors, axis=1)
    assert cosines.mean() > 0.999
    assert cosines.min() > 0.995
    assert not np.array_equal(int8_vectors, float32_vectors)


@pytest.mark.parametrize(
    ("capability", "expected"),
    [("haswell", False), ("skylake", True), ("neon_i8", True), ("", False)],
    ids=["avx2", "avx512", "arm", "unknown"],
)
def test_int8_is_preferred_depending_on_the_processor(
    monkeypatch: pytest.MonkeyPatch, capability: str, expected: bool
) -> None:
    capabilities = {name: name == capability for name in simsimd.get_capabilities()}
    monkeypatch.setattr(simsimd, "get_capabilities", lambda: capabilities)
    assert prefers_int8() is expected
