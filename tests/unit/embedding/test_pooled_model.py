"""The bundled model run without fastembed: fastembed's vectors, to the last bit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from kbx_tui.embedding.local import BATCH_SIZE, load_with_fastembed
from kbx_tui.embedding.pooled import PooledModel
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.embedding.tokens import encodable

TEXTS: list[str] = json.loads((Path(__file__).parent / "data" / "texts.json").read_text("utf-8"))
ODD = ["", " \n\t", "\0", "é🚀", "会議は明日", "[PAD] [SEP] [CLS]", "word " * 600, "\ud800 lone"]


@pytest.fixture(scope="module")
def model() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1)


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
