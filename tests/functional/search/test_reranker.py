"""A reranker on every surface: what it changes, and that a search goes on without it.

The model of these tests scores a passage by the share of the query that it holds.
"""

import io
import json
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from kbx_tui import KnowledgeBase
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.search.results.response import SearchResponse
from kbx_tui.tools import jsonl_server
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from tests.command_line import CommandLine
from tests.cross_encoder_folder import STEEPNESS, probability, write_cross_encoder
from tests.functional.vaults import index_vault, write_vault
from tests.trusting import configure_trusted

QUERY = "blue heron winter nest"
REPEATED, COMPLETE = "memory/notes/repeated.md", "memory/notes/complete.md"
OTHERS = {
    f"memory/notes/note-{word[0]}{each}.md": f"# Note {each}\n\nThe {word} one, number {each}.\n"
    for word in ("blue", "winter", "nest")
    for each in range(5)
}
PAGES = {
    **OTHERS,
    REPEATED: "# Repeated\n\nHeron, heron and heron again: a heron.\n",
    COMPLETE: "# Complete\n\nThe blue heron keeps its nest in winter.\n\n" + "Filler words. " * 400,
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small base with an index, read only."""
    return index_vault(tmp_path_factory.mktemp("reranker") / "base", PAGES)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_cross_encoder(tmp_path_factory.mktemp("model") / "share")


@pytest.fixture
def kb(base: Path, model: Path) -> Iterator[KnowledgeBase]:
    """The base with the reranker in its settings."""
    settings = Settings(search=SearchSettings(reranker=str(model)))
    with KnowledgeBase(base, settings=settings) as opened:
        yield opened


def scores_of(response: SearchResponse) -> dict[str, float | None]:
    """Return the scores of the reranker by path, from the explanations."""
    return {result.path: (result.explain or {})["reranker_score"] for result in response.results}


def paths_of(response: SearchResponse) -> list[str]:
    return [result.path for result in response.results]


def test_what_holds_more_of_the_query_comes_before_what_repeats_a_word(kb: KnowledgeBase) -> None:
    plain = kb.search(QUERY, hierarchy=False, rerank=False)
    reranked = kb.search(QUERY, hierarchy=False, explain=True)
    before, after = paths_of(plain), paths_of(reranked)
    assert after[0] == COMPLETE
    assert set(scores_of(reranked)) == set(after)
    assert scores_of(reranked)[COMPLETE] == pytest.approx(probability(1.0), abs=1e-4)
    assert scores_of(reranked)[REPEATED] == pytest.approx(probability(0.25), abs=1e-4)
    assert before.index(REPEATED) - before.index(COMPLETE) < after.index(REPEATED)
    assert reranked.meta.notes == plain.meta.notes


def test_the_explanation_adds_up_and_names_the_model(kb: KnowledgeBase, model: Path) -> None:
    response = kb.search(QUERY, explain=True)
    for result in response.results:
        why = result.explain or {}
        parts = ("document_part", "entity_part", "hotness_part", "reranker_part")
        assert sum(why[part] for part in parts) == pytest.approx(result.score, abs=3e-4)
    explain = response.meta.explain or {}
    assert explain["reranker"] == str(model)
    assert explain["reranked"] == min(len(PAGES), 20)
    assert 0.0 < response.meta.timings["rerank_ms"] < response.meta.timings["total_ms"]


def test_the_limit_does_not_decide_what_is_reranked(kb: KnowledgeBase) -> None:
    all_results = kb.search(QUERY, limit=50).results
    for limit in (1, 3, 10):
        few = kb.search(QUERY, limit=limit).results
        assert [(r.path, r.score) for r in few] == [(r.path, r.score) for r in all_results[:limit]]


def test_known_passages_and_other_knobs_need_no_new_scores(kb: KnowledgeBase) -> None:
    ranking = kb.rank(kb.retrieve(QUERY))
    reranked = kb.rerank(ranking)
    assert reranked.is_reranked
    assert kb.begin_reranking(reranked) is None  # all have a score
    again = kb.begin_reranking(kb.rank(kb.retrieve(QUERY)))
    assert again is not None
    scored = again.run(cancelled=lambda: True)  # cancelled, it may not run the model
    assert scored.reranker is not None
    assert dict(scored.reranker.scores) == dict(reranked.reranker_scores)

    reranked = kb.rerank(kb.rank(kb.retrieve(QUERY)))
    for alpha in (0.0, 0.3, 1.0):
        ranking = kb.rank(reranked.evidence, kb.tuning(alpha=alpha, hierarchy=False))
        assert kb.begin_reranking(ranking) is None

    evidence = kb.retrieve("heron number 3")
    pending = kb.begin_reranking(kb.rank(evidence))
    assert pending is not None
    assert pending.run(cancelled=lambda: True) is evidence


@pytest.mark.parametrize(
    "options",
    [{"rerank": False}, {"fast": True}, {"preset": "seed"}, {"reranker": ""}],
    ids=["rerank-false", "fast", "seed", "no-name"],
)
def test_a_plain_search_is_as_without_a_reranker(
    kb: KnowledgeBase, base: Path, options: dict[str, Any]
) -> None:
    with KnowledgeBase(base) as plain:
        expected = plain.search(QUERY, explain=True, **{**options, "rerank": True})
    response = kb.search(QUERY, explain=True, **options)
    assert response.results == expected.results
    assert "rerank_ms" not in response.meta.timings
    assert (response.meta.explain or {})["reranker"] is None


def test_the_seed_preset_is_reranked_on_request(kb: KnowledgeBase, model: Path) -> None:
    response = kb.search(QUERY, preset="seed", reranker=str(model), explain=True)
    assert (response.meta.explain or {})["reranked"] > 0


# Failures: one sentence, and the plain ranking.


def without(name: str) -> Callable[[Path], object]:
    return lambda folder: (folder / name).unlink()


def write(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


def replace_number(before: float, after: float) -> Callable[[Path], object]:
    """Return what replaces a number that the model holds once."""

    def change(folder: Path) -> None:
        parts = (folder / "model.onnx").read_bytes().split(struct.pack("<f", before))
        assert len(parts) == 2
        (folder / "model.onnx").write_bytes(struct.pack("<f", after).join(parts))

    return change


BROKEN: dict[str, tuple[Callable[[Path], object], str]] = {
    "no model": (without("model.onnx"), "has no model.onnx"),
    "no tokenizer": (without("tokenizer.json"), "has no tokenizer.json"),
    "a broken model": (write("model.onnx", b"not a model"), "cannot be loaded"),
    "an empty model": (write("model.onnx", b""), "cannot be loaded"),
    "a broken tokenizer": (write("tokenizer.json", b"{"), "cannot be loaded"),
    "nan": (replace_number(STEEPNESS, float("nan")), "returns nan as a score"),
    "infinity": (replace_number(STEEPNESS, float("inf")), "as a score"),
    "broken limits": (write("tokenizer_config.json", b"\xff{"), "cannot be loaded"),
}


@pytest.mark.parametrize(("break_it", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_model_is_one_sentence_and_the_plain_ranking(
    kb: KnowledgeBase, tmp_path: Path, break_it: Callable[[Path], object], reason: str
) -> None:
    folder = write_cross_encoder(tmp_path / "broken")
    break_it(folder)
    assert_plain(kb, str(folder), reason)


def assert_plain(kb: KnowledgeBase, reranker: str, reason: str) -> None:
    plain = kb.search(QUERY, rerank=False)
    response = kb.search(QUERY, reranker=reranker)
    assert response.results == plain.results
    (note,) = (note for note in response.meta.notes if note not in plain.meta.notes)
    assert note.startswith("not reranked: ")
    assert reason in note
    assert "\n" not in note
    assert ". " not in note


def test_a_missing_folder_is_one_sentence(kb: KnowledgeBase, tmp_path: Path) -> None:
    assert_plain(kb, str(tmp_path / "gone"), "gone does not exist")


def test_an_embedding_model_or_an_unknown_name_is_one_sentence(kb: KnowledgeBase) -> None:
    from kbx_tui.embedding.embedder import BUNDLED

    assert_plain(kb, str(BUNDLED.folder), "is no cross-encoder")
    assert_plain(kb, "BAAI/bge-rerank-base", "the nearest is 'BAAI/bge-reranker-base'")


def test_a_model_that_is_not_there_is_not_downloaded(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path / "cache"))

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("socket.getaddrinfo", refuse)
    assert_plain(kb, "Xenova/ms-marco-MiniLM-L-6-v2", "has not been downloaded")


def test_a_downloaded_model_is_found_by_its_name(
    kb: KnowledgeBase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "models--Xenova--ms-marco-MiniLM-L-6-v2"
    snapshot = write_cross_encoder(repository / "snapshots" / "0123abc")
    (snapshot / "onnx").mkdir()
    (snapshot / "model.onnx").rename(snapshot / "onnx" / "model.onnx")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abc")
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    response = kb.search(QUERY, reranker="xenova/ms-marco-minilm-l-6-v2", explain=True)
    assert scores_of(response)[COMPLETE] == pytest.approx(probability(1.0), abs=1e-4)


# Surfaces.


@pytest.fixture
def configured(tmp_path: Path, model: Path) -> Path:
    """A base whose kbx.toml names the reranker, and which is trusted with it."""
    root = write_vault(tmp_path / "configured", PAGES)
    configure_trusted(root, f'[search]\nreranker = "{model.as_posix()}"\n')
    return root


def test_the_command_line_reranks_by_option_and_by_setting(
    kbx: CommandLine, base: Path, configured: Path, model: Path
) -> None:
    by_option = kbx("search", QUERY, "--reranker", model, "--json", "--kb", base)
    assert (by_option.code, by_option.err) == (0, "")
    assert by_option.json["results"][0]["path"] == COMPLETE
    assert kbx("--kb", configured, "index").code == 0
    by_setting = kbx("search", QUERY, "--json", "--kb", configured).json
    scores = [(result["path"], result["score"]) for result in by_option.json["results"]]
    assert [(result["path"], result["score"]) for result in by_setting["results"]] == scores
    plain = kbx("search", QUERY, "--no-reranker", "--json", "--kb", configured).json
    assert "rerank_ms" not in plain["meta"]["timings"]
    assert plain["results"] == kbx("search", QUERY, "--json", "--kb", base).json["results"]


def test_the_listing_shows_what_the_reranker_added(
    kbx: CommandLine, base: Path, model: Path
) -> None:
    shown = kbx("search", QUERY, "--reranker", model, "--explain", "--kb", base).out
    assert "reranked by" in shown
    assert "reranker .98" in shown
    assert " reranker\n" in shown  # an addend of the score
    assert "┄" in shown
    assert "rerank" not in kbx("search", QUERY, "--explain", "--kb", base).out


def test_a_failure_is_a_message_of_the_command_line(kbx: CommandLine, base: Path) -> None:
    ran = kbx("search", QUERY, "--reranker", "./none", "--kb", base)
    assert ran.code == 0
    assert ran.err.count("not reranked: ") == 1
    assert ran.out


async def test_agents_receive_the_same_reranked_answers(configured: Path) -> None:
    with KnowledgeBase(configured) as kb:
        expected = paths_of(kb.search(QUERY))
        plain = paths_of(kb.search(QUERY, rerank=False))
    assert expected != plain
    worker = EngineWorker(lambda: KnowledgeBase(configured))
    try:
        for rerank, paths in ((True, expected), (False, plain)):
            params = {"query": QUERY, "rerank": rerank}
            sink, request = io.BytesIO(), {"id": 1, "method": "kbx.search", "params": params}
            jsonl_server.serve(worker, io.BytesIO(json.dumps(request).encode()), sink)
            result = json.loads(sink.getvalue())["result"]
            assert [row["path"] for row in result["results"]] == paths
            async with Client(make_server(worker)) as client:
                tool = await client.call_tool("kbx_search", params)
            assert tool.structured_content is not None
            assert [row["path"] for row in tool.structured_content["results"]] == paths
        answer = worker.answer("kb.search", {"query": QUERY, "top_k": 3}).json
        rows = answer["data"]["results"]
        assert [row["metadata"]["file_path"] for row in rows] == expected[:3]
    finally:
        worker.close()


def test_a_base_that_is_not_trusted_runs_no_model(
    kbx: CommandLine, tmp_path: Path, model: Path
) -> None:
    root = write_vault(tmp_path / "clone", PAGES)
    (root / "kbx.toml").write_text(f'[search]\nreranker = "{model.as_posix()}"\n')
    assert kbx("--kb", root, "index").code == 0
    refused = kbx("search", QUERY, "--json", "--kb", root)
    assert refused.code == 0
    (note,) = refused.json["meta"]["notes"]
    assert note.startswith("not reranked: ")
    assert "kbx trust" in note
    assert "rerank_ms" not in refused.json["meta"]["timings"]
    own = kbx("search", QUERY, "--reranker", model, "--json", "--kb", root).json
    assert own["results"][0]["path"] == COMPLETE  # an option is the user's own
    granted = kbx("trust", root)
    assert "results of each search" in granted.out
    assert kbx("search", QUERY, "--json", "--kb", root).json["results"] == own["results"]


def test_a_relative_folder_of_kbx_toml_is_in_the_base(
    kbx: CommandLine, tmp_path: Path, model: Path
) -> None:
    root = write_vault(tmp_path / "base", PAGES)
    write_cross_encoder(root / ".models" / "share")
    configure_trusted(root, '[search]\nreranker = ".models/share"\n')
    assert kbx("--kb", root, "index").code == 0
    assert kbx("search", QUERY, "--json", "--kb", root).json["results"][0]["path"] == COMPLETE
