"""The bundled model without fastembed: bit-identical as int8, nearly identical as float32."""

import ctypes
import gc
import json
import random
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import simsimd

from kbx_tui.embedding.embedder import BUNDLED, Embedder, encodable
from kbx_tui.embedding.local import (
    BATCH_SIZE,
    SMALL_BATCH,
    LocalEmbedder,
    PooledModel,
    load_with_fastembed,
    prefers_int8,
)

WORDS = "budget review of the platform team is late because Zoë moved the audit to May"


def texts_of_mixed_length(count: int) -> list[str]:
    choose = random.Random(7)
    return [" ".join(choose.choices(WORDS.split(), k=choose.randint(1, 120))) for _ in range(count)]


def test_row_i_belongs_to_text_i_in_any_batch_and_in_none(embedder: Embedder) -> None:
    texts = texts_of_mixed_length(20)
    alone = np.stack([embedder.embed([text])[0] for text in texts])
    np.testing.assert_allclose(embedder.embed(texts), alone, atol=1e-5)

    vectors = embedder.embed([])
    assert vectors.shape == (0, 384)
    assert vectors.dtype == np.float32


def test_text_beyond_the_maximum_length_accents_and_case_do_not_count(embedder: Embedder) -> None:
    start = "word " * embedder.max_tokens
    first, second = embedder.embed([start + "alpha " * 20_000, start + "omega"])
    np.testing.assert_allclose(first, second, atol=1e-5)
    assert embedder.embed_query("ZOË") @ embedder.embed_query("zoe") == pytest.approx(1.0)


@pytest.mark.parametrize(
    "text",
    ["", " \n\t", "\0", "é🚀", "会議は明日", "مرحبا", "\ud800 lone", "e\u0301\u200d", "x" * 5000],
    ids=["empty", "blank", "nul", "emoji", "cjk", "arabic", "surrogate", "combining", "long-word"],
)
def test_any_text_has_a_unit_vector(embedder: Embedder, text: str) -> None:
    for vector in (embedder.embed_query(text), embedder.embed([text])[0]):
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_embedder_is_thread_safe(embedder: Embedder) -> None:
    texts = texts_of_mixed_length(12)
    expected = embedder.embed(texts)
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(embedder.embed_query, texts))
    np.testing.assert_allclose(np.stack(vectors), expected, atol=1e-5)


DATA = Path(__file__).parent / "data"
TEXTS: list[str] = json.loads((DATA / "texts.json").read_text(encoding="utf-8"))


def test_vectors_agree_with_the_fp32_model(embedder: Embedder) -> None:
    fp32 = np.load(DATA / "vectors.npy")  # by torch with original weights: scripts/build_model.py
    cosines = np.sum(embedder.embed(TEXTS) * fp32, axis=1)
    assert dict(zip(TEXTS, cosines, strict=True)) == {
        text: pytest.approx(1.0, abs=0.005) for text in TEXTS
    }


def test_cosines_agree_with_reference_values(embedder: Embedder) -> None:
    # References were computed in fp32; int8 weights may change them by up to 0.01.
    for text, other, cosine in (
        ("Engineering Director", "Director of Engineering", 0.958),
        ("Platform", "Platform & Infrastructure", 0.759),
        ("deployment rollback procedure", "lunch menu", -0.068),
    ):
        found = embedder.embed_query(text) @ embedder.embed_query(other)
        assert found == pytest.approx(cosine, abs=0.01)


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


class MallocInfo(ctypes.Structure):
    _fields_ = (("sizes", ctypes.c_size_t * 10),)

    @classmethod
    def bytes_in_use(cls) -> int:
        if (mallinfo := getattr(ctypes.CDLL(None), "mallinfo2", None)) is None:
            pytest.skip("only glibc says how much is in use")
        mallinfo.restype = cls
        sizes = mallinfo().sizes
        return int(sizes[4] + sizes[7])  # mapped on their own, and in heaps


def test_a_model_keeps_no_memory_of_the_batches_it_ran(int8: PooledModel) -> None:
    list(int8.query_embed(["short"]))
    before = MallocInfo.bytes_in_use()
    for count in (2, 3, 4):
        list(int8.passage_embed(["word " * 600] * count, batch_size=count))
    assert MallocInfo.bytes_in_use() - before < 10_000_000


ODD = ["", " \n\t", "\0", "é🚀", "会議は明日", "[PAD] [SEP] [CLS]", "word " * 600, "\ud800 lone"]


@pytest.fixture(scope="module")
def int8() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=True)


@pytest.fixture(scope="module")
def float32() -> PooledModel:
    return PooledModel(BUNDLED.folder, BUNDLED.model_file, threads=1, as_int8=False)


@pytest.mark.slow  # loads fastembed
def test_vectors_are_identical_to_those_of_fastembed(int8: PooledModel) -> None:
    reference, texts = load_with_fastembed(BUNDLED, threads=1), encodable([*ODD, *TEXTS])
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
