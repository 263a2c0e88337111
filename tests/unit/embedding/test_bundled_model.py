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
from kbx_tui.embedding.local import SMALL_BATCH, LocalEmbedder, PooledModel
from kbx_tui.embedding.model_files import BUNDLED

DATA = Path(__file__).parent / "data"
TEXTS: list[str] = json.loads((DATA / "texts.json").read_text(encoding="utf-8"))


def test_vectors_agree_with_the_fp32_model(embedder: Embedder) -> None:
    fp32 = np.load(DATA / "vectors.npy")  # by torch with original weights: scripts/build_model.py
    cosines = np.sum(embedder.embed(TEXTS) * fp32, axis=1)
    assert dict(zip(TEXTS, cosines, strict=True)) == {
        text: pytest.approx(1.0, abs=0.005) for text in TEXTS
    }


@pytest.mark.parametrize(
    ("text", "other", "cosine"),
    [
        ("Engineering Director", "Director of Engineering", 0.958),
        ("Platform", "Platform & Infrastructure", 0.759),
        ("deployment rollback procedure", "lunch menu", -0.068),
    ],
    ids=["reordered-label", "label-plus-word", "unrelated"],
)
def test_cosines_agree_with_reference_values(
    embedder: Embedder, text: str, other: str, cosine: float
) -> None:
    # References were computed in fp32; int8 weights may change them by up to 0.01.
    assert embedder.embed_query(text) @ embedder.embed_query(other) == pytest.approx(
        cosine, abs=0.01
    )


def test_origin_lists_every_file_with_its_sha256() -> None:
    origin = (BUNDLED.folder / "ORIGIN.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| (\S+) \| \d+ \| ([0-9a-f]{64}) \|$", origin, re.MULTILINE))
    files = [path for path in BUNDLED.folder.iterdir() if path.name != "ORIGIN.md"]
    assert stated == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_model_ships_with_its_licence_and_stays_small() -> None:
    assert "Apache License" in (BUNDLED.folder / "LICENSE").read_text(encoding="utf-8")
    assert (BUNDLED.folder / "model.onnx").stat().st_size < 30_000_000


@pytest.mark.usefixtures("no_network")
def test_bundled_model_loads_without_a_network() -> None:
    model = PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=True)
    (vector,) = model.query_embed(["offline"])
    assert vector.shape == (384,)


class Sessions(list[tuple[int, "weakref.ref[PooledModel]"]]):
    """Number of threads and a weak reference of every session loaded."""


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Sessions:
    loaded = Sessions()

    class RecordedModel(PooledModel):
        def __init__(self, folder: Path, model_file: str, threads: int, *, as_int8: bool) -> None:
            super().__init__(folder, model_file, threads, as_int8=as_int8)
            loaded.append((threads, weakref.ref(self)))

    monkeypatch.setattr("kbx_tui.embedding.local.PooledModel", RecordedModel)
    monkeypatch.setattr("kbx_tui.embedding.local.usable_cores", lambda: 2)
    return loaded


def test_embedders_share_the_query_session(sessions: Sessions) -> None:
    LocalEmbedder(BUNDLED).embed_query("load the shared session, unless another test did")
    sessions.clear()
    LocalEmbedder(BUNDLED).embed_query("shared")
    LocalEmbedder(BUNDLED).embed(["also", "for a few texts"])
    assert sessions == []


def test_multi_threaded_session_is_freed_with_its_embedder(sessions: Sessions) -> None:
    embedder = LocalEmbedder(BUNDLED)
    embedder.embed(["many"] * (SMALL_BATCH + 1))
    ((threads, session),) = sessions
    assert threads == 2
    assert session() is not None
    del embedder
    gc.collect()
    assert session() is None
