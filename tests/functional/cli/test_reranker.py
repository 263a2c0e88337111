"""`kbx reranker` and `kbx eval --reranker`."""

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.cross_encoder_folder import write_cross_encoder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("model") / "share")


def test_a_model_is_loaded_and_timed(kbx: CommandLine, demo_kb_path: Path, model: Path) -> None:
    ran = kbx("reranker", model, "--kb", demo_kb_path)
    assert (ran.code, ran.err) == (0, "")
    assert "works: 20 passages in " in ran.out
    trial = kbx("reranker", model, "--json", "--kb", demo_kb_path).json
    assert (trial["reranker"], trial["passages"]) == (str(model), 20)
    assert trial["milliseconds"] > 0.0


def test_no_reranker_and_an_unknown_one_are_a_sentence(
    kbx: CommandLine, demo_kb_path: Path
) -> None:
    ran = kbx("reranker", "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (2, "")
    assert "no [search] reranker" in ran.err

    ran = kbx("reranker", "BAAI/bge-rerank-base", "--download", "--kb", demo_kb_path)
    assert ran.code == 6
    assert "the nearest is 'BAAI/bge-reranker-base'" in ran.err


def test_a_broken_model_has_the_exit_code_of_models(
    kbx: CommandLine, demo_kb_path: Path, tmp_path: Path
) -> None:
    ran = kbx("reranker", tmp_path, "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (6, "")
    assert f"{tmp_path} has no tokenizer.json" in ran.err
    assert ran.err.count("\n") == 1


def test_a_download_that_fails_is_one_sentence(
    kbx: CommandLine, demo_kb_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("Network is unreachable")

    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    name = "Xenova/ms-marco-MiniLM-L-6-v2"
    ran = kbx("reranker", name, "--download", "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (6, "")
    assert f"{name!r} could not be downloaded" in ran.err
    assert ran.err.count("\n") == 1


def test_quality_is_measured_with_the_reranker(
    kbx: CommandLine, demo_copy: Path, model: Path, tmp_path: Path
) -> None:
    best = "memory/meetings/2026/03/17/migration-go-no-go.transcript.md"
    judgments = demo_copy / ".kbx" / "judgments.jsonl"
    judgments.write_text(f'{{"query": "rollback plan", "path": "{best}", "grade": 2}}\n')
    plain = kbx("eval", "--json", "--kb", demo_copy).json["queries"][0]["top"]
    reranked = kbx("eval", "--reranker", model, "--json", "--kb", demo_copy)
    assert reranked.json["queries"][0]["top"] != plain
    failed = kbx("eval", "--reranker", tmp_path / "gone", "--kb", demo_copy)
    assert (failed.code, failed.out) == (6, "")
    assert "gone does not exist" in failed.err
