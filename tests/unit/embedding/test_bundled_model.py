from __future__ import annotations

import gc
import hashlib
import json
import re
import weakref
from pathlib import Path

import numpy as np
import pytest

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import FEW, LocalEmbedder
from kbx_tui.embedding.pooled import PooledModel
from kbx_tui.embedding.source import BUNDLED

DATA = Path(__file__).parent / "data"
TEXTS: list[str] = json.loads((DATA / "texts.json").read_text(encoding="utf-8"))


def test_every_vector_agrees_with_the_fp32_model(embedder: Embedder) -> None:
    fp32 = np.load(DATA / "vectors.npy")  # torch, untouched weights: scripts/build_model.py
    cosines = np.sum(embedder.embed(TEXTS) * fp32, axis=1)
    assert dict(zip(TEXTS, cosines, strict=True)) == {
        text: pytest.approx(1.0, abs=0.005) for text in TEXTS
    }


@pytest.mark.parametrize(
    ("one", "other", "cosine"),
    [
        ("Engineering Director", "Director of Engineering", 0.958),
        ("Platform", "Platform & Infrastructure", 0.759),
        ("deployment rollback procedure", "lunch menu", -0.068),
    ],
    ids=["reordered-label", "label-plus-word", "unrelated"],
)
def test_cosines_are_those_published_for_the_model(
    embedder: Embedder, one: str, other: str, cosine: float
) -> None:
    # The seeds' pairs, as measured in fp32; 0.01 is what int8 weights may move them.
    assert embedder.embed_query(one) @ embedder.embed_query(other) == pytest.approx(
        cosine, abs=0.01
    )


def test_origin_names_every_file_with_its_sha256() -> None:
    origin = (BUNDLED.folder / "ORIGIN.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| (\S+) \| \d+ \| ([0-9a-f]{64}) \|$", origin, re.MULTILINE))
    files = [path for path in BUNDLED.folder.iterdir() if path.name != "ORIGIN.md"]
    assert stated == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_model_ships_with_its_licence_and_stays_small() -> None:
    assert "Apache License" in (BUNDLED.folder / "LICENSE").read_text(encoding="utf-8")
    assert (BUNDLED.folder / "model.onnx").stat().st_size < 30_000_000


@pytest.mark.usefixtures("no_network")
def test_the_bundled_model_loads_without_a_network() -> None:
    model = PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=True)
    (vector,) = model.query_embed(["offline"])
    assert vector.shape == (384,)


def test_all_bases_of_a_process_share_the_model_that_answers_queries() -> None:
    one, two = LocalEmbedder(BUNDLED), LocalEmbedder(BUNDLED)
    one.embed_query("shared")
    two.embed(["also", "for a few texts"])
    assert one._sessions[1] is two._sessions[1]


def test_the_model_that_embeds_much_goes_with_who_asked_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("kbx_tui.embedding.local._usable_cores", lambda: 2)
    embedder = LocalEmbedder(BUNDLED)
    embedder.embed(["many"] * (FEW + 1))
    session = weakref.ref(embedder._sessions[2])
    del embedder
    gc.collect()
    assert session() is None
