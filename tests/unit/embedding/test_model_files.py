import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.embedding.embedder import BATCH_CHARACTERS, BUNDLED, Embedder
from kbx_tui.embedding.local import open_embedder, prefers_int8
from kbx_tui.errors import EmbeddingError

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
CACHE_FOLDER = "models--Qdrant--all-MiniLM-L6-v2-onnx"
COSINE_TOLERANCE = 1e-5 if prefers_int8() else 0.005
"""Allowed difference to 1 of the cosine of equal texts: fastembed always computes in int8."""


def assert_one_sentence(message: str) -> None:
    assert "\n" not in message
    assert ". " not in message
    assert message.endswith('model = "bundled" works offline')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the user with a copy of the bundled model."""
    return Path(shutil.copytree(BUNDLED.folder, tmp_path / "mine"))


@pytest.fixture
def silent_hub() -> Iterator[str]:
    """The URL of a server that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_local_folder_can_be_the_model(folder: Path, embedder: Embedder) -> None:
    local = open_embedder(str(folder))
    assert (local.dimension, local.max_tokens) == (384, 256)
    assert local.model.startswith("folder/mine-")
    texts = ["alpha beta", "a much longer text about the platform team"]
    cosines = np.sum(local.embed(texts) * embedder.embed(texts), axis=1)
    np.testing.assert_allclose(cosines, 1.0, atol=COSINE_TOLERANCE)


def test_model_name_of_a_folder_changes_with_its_weights(folder: Path) -> None:
    before = open_embedder(str(folder)).model
    assert open_embedder(str(folder)).model == before
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"retrained")
    assert open_embedder(str(folder)).model != before


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_incomplete_folder_error_names_the_missing_file(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(EmbeddingError) as raised:
        open_embedder(str(folder))
    assert_one_sentence(str(raised.value))
    assert f"{folder} has no {missing}" in str(raised.value)


def test_corrupt_model_file_error_is_one_sentence(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbeddingError, match="cannot be loaded") as raised:
        open_embedder(str(folder)).embed_query("anything")
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)


def test_missing_folder_error_names_the_folder() -> None:
    with pytest.raises(EmbeddingError, match="/no/such/folder does not exist") as raised:
        open_embedder("/no/such/folder")
    assert_one_sentence(str(raised.value))


@pytest.mark.usefixtures("no_network")
def test_unknown_model_error_suggests_the_nearest_name() -> None:
    with pytest.raises(EmbeddingError, match=r"nearest is 'BAAI/bge-small-en-v1\.5'") as raised:
        open_embedder("BAAI/bge-smal-en-v1.5")
    assert_one_sentence(str(raised.value))


@pytest.mark.usefixtures("no_network")
def test_cached_model_needs_no_network(
    tmp_path: Path, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    snapshot = tmp_path / CACHE_FOLDER / "snapshots" / "0123abc"
    shutil.copytree(BUNDLED.folder, snapshot)
    (tmp_path / CACHE_FOLDER / "refs").mkdir()
    (tmp_path / CACHE_FOLDER / "refs" / "main").write_text("0123abc")
    cached = open_embedder(MODEL.lower())
    assert cached.model == MODEL
    assert cached.embed_query("x") @ embedder.embed_query("x") == pytest.approx(
        1.0, abs=COSINE_TOLERANCE
    )


def test_download_error_suggests_the_bundled_model(
    tmp_path: Path,
    no_network: None,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    with pytest.raises(EmbeddingError, match=f"{MODEL!r} could not be downloaded") as raised:
        open_embedder(MODEL)
    assert_one_sentence(str(raised.value))
    assert capfd.readouterr() == ("", "")


def test_unresponsive_hub_fails_within_five_seconds(tmp_path: Path, silent_hub: str) -> None:
    # In a new process, as the URL of the hub is read at import. The clock starts after the import,
    # which may take longer on a busy machine than the timeout.
    code = (
        "import sys, time, fastembed\n"
        "from kbx_tui.embedding.local import open_embedder\n"
        "started = time.perf_counter()\n"
        f"try: open_embedder({MODEL!r})\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "print(time.perf_counter() - started)"
    )
    environment = os.environ | {
        "HF_ENDPOINT": silent_hub,
        "NO_PROXY": "127.0.0.1",
        "FASTEMBED_CACHE_PATH": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    error, seconds = run.stdout.splitlines()
    assert float(seconds) < 5.0  # the documented limit
    name, _, message = error.partition(" ")
    assert (name, run.stderr) == ("EmbeddingError", "")
    assert MODEL in message
    assert_one_sentence(message)


EMBEDDER: Embedder = open_embedder()
paragraphs = st.lists(st.text(st.characters(codec="utf-8")).filter(str.strip), max_size=6)


@given(paragraphs)
def test_count_of_joined_paragraphs_is_the_sum_of_their_counts(parts: list[str]) -> None:
    (joined,) = EMBEDDER.count_tokens(["\n\n".join(parts)])
    assert joined == sum(EMBEDDER.count_tokens(parts))


def test_special_tokens_are_not_counted_and_all_others_are_however_many() -> None:
    texts = ["", "hello", "hello world", "\ud800", "word " * 3000]
    assert EMBEDDER.count_tokens(texts) == [0, 1, 2, 1, 3000]
    assert EMBEDDER.count_tokens([]) == []

    long = BATCH_CHARACTERS // 5
    counts = EMBEDDER.count_tokens(["word " * long, "", "a b", "word " * long * 2 + "end"])
    assert counts == [long, 0, 2, long * 2 + 1]
