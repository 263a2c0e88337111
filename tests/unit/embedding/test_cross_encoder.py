from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kbx_tui.embedding.cross_encoder import CrossEncoder, open_cross_encoder
from tests.cross_encoder_folder import MODEL, STEEPNESS, write_cross_encoder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("cross-encoder"))


@pytest.fixture(scope="module")
def model(folder: Path) -> CrossEncoder:
    return open_cross_encoder(str(folder))


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("the winter nest of a blue heron", 1.0),
        ("a nest in winter", 0.5),
        ("heron heron heron", 0.25),
        ("nothing of it", 0.0),
        ("", 0.0),
    ],
)
def test_the_model_of_the_tests_scores_the_share_of_the_query(
    model: CrossEncoder, text: str, share: float
) -> None:
    score = model.score("blue heron winter nest", text)
    assert score == pytest.approx(STEEPNESS * (share - 0.5), abs=1e-5)


@pytest.mark.parametrize("query", ["", "\0", "\ud800", "会議は明日", "word " * 3000])
@pytest.mark.parametrize("text", ["", "\ud800 lone", "🚀", "word " * 3000])
def test_any_query_and_text_have_a_score(model: CrossEncoder, query: str, text: str) -> None:
    assert abs(model.score(query, text)) <= STEEPNESS / 2 + 1e-5


def test_text_beyond_the_limit_of_tokens_does_not_count(model: CrossEncoder) -> None:
    assert model.score("heron", "word " * 3000 + "heron") == pytest.approx(-STEEPNESS / 2)


def test_the_limit_of_tokens_is_read_from_the_folder(tmp_path: Path) -> None:
    folder = write_cross_encoder(tmp_path)
    (folder / "tokenizer_config.json").write_text('{"model_max_length": 8}')
    short = open_cross_encoder(str(folder))
    assert short.score("heron", "one two three four five six heron") < 0.0
    assert short.score("heron", "one two heron") > 0.0


def test_threads_may_share_a_model(model: CrossEncoder) -> None:
    texts = [f"heron number {number} in winter" for number in range(40)]
    expected = [model.score("blue heron", text) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: model.score("blue heron", text), texts)) == expected


def test_a_relative_folder_is_found_where_it_is_said_to_be(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = open_cross_encoder(folder.name, relative_to=folder.parent)
    assert there.folder == folder.resolve()
    monkeypatch.chdir(folder.parent)
    assert open_cross_encoder(f"./{folder.name}").folder == folder.resolve()


def test_the_committed_model_is_what_the_script_builds() -> None:
    pytest.importorskip("onnx", reason="the script needs onnx: see its docstring")
    from scripts.build_cross_encoder import build

    assert build().SerializeToString(deterministic=True) == MODEL.read_bytes()
