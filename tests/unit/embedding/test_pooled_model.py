"""The bundled model run without fastembed: fastembed's vectors, to the last bit, or as near as can
be where the processor is quicker with fp32."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import simsimd

from kbx_tui.embedding.local import BATCH_SIZE, load_with_fastembed
from kbx_tui.embedding.pooled import PooledModel, multiplies_int8
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.embedding.tokens import encodable

TEXTS: list[str] = json.loads((Path(__file__).parent / "data" / "texts.json").read_text("utf-8"))
ODD = ["", " \n\t", "\0", "é🚀", "会議は明日", "[PAD] [SEP] [CLS]", "word " * 600, "\ud800 lone"]


@pytest.fixture(scope="module")
def model() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=True)


@pytest.fixture(scope="module")
def widened() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=False)


def test_its_vectors_are_those_of_fastembed(model: PooledModel) -> None:
    theirs, texts = load_with_fastembed(BUNDLED, threads=1), encodable([*TEXTS, *ODD])
    for one in texts:
        np.testing.assert_array_equal(
            np.stack(list(model.query_embed([one]))), np.stack(list(theirs.query_embed([one])))
        )
    np.testing.assert_array_equal(
        np.stack(list(model.passage_embed(texts, batch_size=BATCH_SIZE))),
        np.stack(list(theirs.passage_embed(texts, batch_size=BATCH_SIZE))),
    )


def test_widened_weights_give_nearly_the_same_vectors(
    model: PooledModel, widened: PooledModel
) -> None:
    as_int8, as_fp32 = (
        np.stack(list(one.passage_embed(TEXTS, batch_size=1))) for one in (model, widened)
    )
    cosines = np.sum(as_int8 * as_fp32, axis=1)
    assert cosines.mean() > 0.999
    assert cosines.min() > 0.995
    assert not np.array_equal(as_int8, as_fp32)


@pytest.mark.parametrize(
    ("has", "as_int8"),
    [("haswell", False), ("skylake", True), ("neon_i8", True), ("", False)],
    ids=["avx2", "avx512", "arm", "unknown"],
)
def test_the_processor_decides_how_weights_are_multiplied(
    monkeypatch: pytest.MonkeyPatch, has: str, as_int8: bool
) -> None:
    known = {name: name == has for name in simsimd.get_capabilities()}
    monkeypatch.setattr(simsimd, "get_capabilities", lambda: known)
    assert multiplies_int8() is as_int8
