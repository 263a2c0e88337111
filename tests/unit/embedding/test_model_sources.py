from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kbx_tui.embedding.embedder import Embedder
from kbx_tui.embedding.local import open_embedder
from kbx_tui.embedding.pooled import multiplies_int8
from kbx_tui.embedding.source import BUNDLED
from kbx_tui.errors import EmbeddingError

FETCHED = "sentence-transformers/all-MiniLM-L6-v2"
CACHED_AS = "models--Qdrant--all-MiniLM-L6-v2-onnx"
ALIKE = 1e-5 if multiplies_int8() else 0.005
"""How far a cosine of one text may be from 1: fastembed does not widen the weights it is given."""


def assert_one_sentence(message: str) -> None:
    assert "\n" not in message
    assert ". " not in message
    assert message.endswith('model = "bundled" works offline')


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of the user's own that happens to hold the bundled model."""
    return Path(shutil.copytree(BUNDLED.folder, tmp_path / "mine"))


@pytest.fixture
def silent_hub() -> Iterator[str]:
    """The address of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_local_folder_serves_as_the_model(folder: Path, embedder: Embedder) -> None:
    mine = open_embedder(str(folder))
    assert (mine.dimension, mine.max_tokens) == (384, 256)
    assert mine.model.startswith("folder/mine-")
    texts = ["alpha beta", "a much longer text about the platform team"]
    cosines = np.sum(mine.embed(texts) * embedder.embed(texts), axis=1)
    np.testing.assert_allclose(cosines, 1.0, atol=ALIKE)


def test_a_folder_s_name_changes_with_its_weights(folder: Path) -> None:
    before = open_embedder(str(folder)).model
    assert open_embedder(str(folder)).model == before
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"retrained")
    assert open_embedder(str(folder)).model != before


@pytest.mark.parametrize("missing", ["model.onnx", "tokenizer.json", "tokenizer_config.json"])
def test_an_incomplete_folder_is_named_with_the_file_it_lacks(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with pytest.raises(EmbeddingError) as raised:
        open_embedder(str(folder))
    assert_one_sentence(str(raised.value))
    assert f"{folder} holds no {missing}" in str(raised.value)


def test_a_damaged_model_file_is_one_sentence(folder: Path) -> None:
    (folder / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(EmbeddingError, match="cannot be loaded") as raised:
        open_embedder(str(folder)).embed_query("anything")
    assert "\n" not in str(raised.value)
    assert str(folder) in str(raised.value)


def test_a_folder_that_is_not_there_is_named() -> None:
    with pytest.raises(EmbeddingError, match="/no/such/folder does not exist") as raised:
        open_embedder("/no/such/folder")
    assert_one_sentence(str(raised.value))


@pytest.mark.usefixtures("no_network")
def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(EmbeddingError, match=r"nearest is 'BAAI/bge-small-en-v1\.5'") as raised:
        open_embedder("BAAI/bge-smal-en-v1.5")
    assert_one_sentence(str(raised.value))


@pytest.mark.usefixtures("no_network")
def test_a_model_in_the_cache_needs_no_network(tmp_path: Path, embedder: Embedder) -> None:
    snapshot = tmp_path / CACHED_AS / "snapshots" / "0123abc"
    shutil.copytree(BUNDLED.folder, snapshot)
    (tmp_path / CACHED_AS / "refs").mkdir()
    (tmp_path / CACHED_AS / "refs" / "main").write_text("0123abc")
    cached = open_embedder(FETCHED.lower(), cache_dir=tmp_path)
    assert cached.model == FETCHED
    assert cached.embed_query("x") @ embedder.embed_query("x") == pytest.approx(1.0, abs=ALIKE)


def test_without_a_network_the_bundled_model_is_offered(
    tmp_path: Path, no_network: None, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(EmbeddingError, match=f"{FETCHED!r} could not be downloaded") as raised:
        open_embedder(FETCHED, cache_dir=tmp_path)
    assert_one_sentence(str(raised.value))
    assert capfd.readouterr() == ("", "")


def test_a_hub_that_never_answers_fails_within_five_seconds(
    tmp_path: Path, silent_hub: str
) -> None:
    # A process of its own: the hub's address is read once, at import. The clock starts after it,
    # as a machine that does much else may take longer for that than the hub is waited for.
    code = (
        "import sys, time, fastembed; from pathlib import Path\n"
        "from kbx_tui.embedding.local import open_embedder\n"
        "began = time.perf_counter()\n"
        f"try: open_embedder({FETCHED!r}, cache_dir=Path({str(tmp_path)!r}))\n"
        "except Exception as error: print(type(error).__name__, error)\n"
        "print(time.perf_counter() - began)"
    )
    environment = os.environ | {"HF_ENDPOINT": silent_hub, "NO_PROXY": "127.0.0.1"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True
    )
    told, seconds = run.stdout.splitlines()
    assert float(seconds) < 5.0  # the promise itself, hence a clock in a test
    name, _, message = told.partition(" ")
    assert (name, run.stderr) == ("EmbeddingError", "")
    assert FETCHED in message
    assert_one_sentence(message)
