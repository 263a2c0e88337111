"""The JSON of `kbx search`: names, types and order, on which programs rely."""

from math import prod
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import CommandLine

QUERY = "what did the platform team decide about migration?"
EXPECTED = "memory/meetings/2026/03/17/migration-go-no-go.transcript.md"


@pytest.fixture
def answer(kbx: CommandLine, demo_kb_path: Path) -> Any:
    ran = kbx("search", QUERY, "--json", "--kb", demo_kb_path)
    assert (ran.code, ran.err) == (0, "")
    return ran.json


def test_results_are_the_best_documents_sorted_with_spans_inside_and_timings(answer: Any) -> None:
    assert answer["meta"]["search_mode"] == "two_pass"
    assert answer["results"][0]["path"] == EXPECTED

    paths = [result["path"] for result in answer["results"]]
    scores = [result["score"] for result in answer["results"]]
    assert len(set(paths)) == len(paths)
    assert scores == sorted(scores, reverse=True)
    assert all(0.0 <= score <= 1.0 for score in scores)

    for result in answer["results"]:
        ends = [0, *(end for span in result["matches"] for end in span), len(result["snippet"])]
        assert ends == sorted(ends)

    timings = answer["meta"]["timings"]
    assert all(name.endswith("_ms") and spent >= 0.0 for name, spent in timings.items()), timings
    assert timings["total_ms"] > 0.0


def test_explained_parts_add_up_to_the_score(kbx: CommandLine, demo_kb_path: Path) -> None:
    answer = kbx("search", QUERY, "--explain", "--json", "--kb", demo_kb_path).json
    for result in answer["results"]:
        why = result["explain"]
        alpha = answer["meta"]["explain"]["hierarchy_alpha"]
        blended = alpha * why["answered"] + (1 - alpha) * why["parent_entity_score"]
        assert why["document_part"] + why["entity_part"] == pytest.approx(blended, abs=3e-4)
        if not why["exact"]:
            assert result["score"] == pytest.approx(blended, abs=3e-4)
        share = why["doc_relevance"] / why["full_relevance"]
        kind = float((why["lowered_reason"] or "1").rpartition("×")[2])
        assert why["answered"] == pytest.approx(kind * min(1.0, share) ** 1.5, abs=2e-3)
        for entity in why["entities"]:
            factors = [entity[key] for key in ("weight", "score", "link_strength", "answered")]
            assert entity["share"] == pytest.approx(prod(factors), abs=3e-4)
        shares = sum(entity["share"] for entity in why["entities"])
        assert shares == pytest.approx(why["parent_entity_score"], abs=3e-4)
        assert {"final_score", "fts_score", "vector_score", "matched_terms"} <= why.keys()


def test_explain_changes_neither_results_nor_scores(
    kbx: CommandLine, demo_kb_path: Path, answer: Any
) -> None:
    explained = kbx("search", QUERY, "--explain", "--json", "--kb", demo_kb_path).json
    expected = [(result["path"], result["score"]) for result in answer["results"]]
    assert [(result["path"], result["score"]) for result in explained["results"]] == expected


@pytest.mark.parametrize(
    ("arguments", "mode", "reason"),
    [
        ([QUERY, "--no-hierarchy"], "flat", "disabled"),
        ([QUERY, "--fast"], "flat", "fast"),
        ([QUERY, "--hierarchy-threshold", "1", "--no-hierarchy"], "flat", "disabled"),
        (["What has Grace been working on?"], "two_pass", "entities"),
    ],
    ids=["no-hierarchy", "fast", "disabled-wins", "person"],
)
def test_search_mode_comes_with_a_reason(
    kbx: CommandLine, demo_kb_path: Path, arguments: list[str], mode: str, reason: str
) -> None:
    meta = kbx("search", *arguments, "--json", "--kb", demo_kb_path).json["meta"]
    assert (meta["search_mode"], meta["search_mode_reason"]) == (mode, reason)


@pytest.mark.parametrize("query", ["how do deployment rollbacks work?", "error code 5032"])
def test_query_without_entities_is_searched_flat_with_a_reason(
    kbx: CommandLine, demo_kb_path: Path, query: str
) -> None:
    meta = kbx("search", query, "--json", "--kb", demo_kb_path).json["meta"]
    assert meta["search_mode"] == "flat"
    assert meta["search_mode_reason"] in ("no_entities", "below_threshold", "too_broad")


def test_path_filter_is_reported_and_applied(kbx: CommandLine, demo_kb_path: Path) -> None:
    folder = "memory/meetings/2026/03"
    answer = kbx("search", QUERY, "--path", folder, "--json", "--kb", demo_kb_path).json
    assert answer["meta"]["path_filter"] == folder
    assert answer["results"]
    assert all(result["path"].startswith(f"{folder}/") for result in answer["results"])
    assert answer["meta"]["in_scope"] == len(list((demo_kb_path / folder).rglob("*.md")))


def test_glob_limits_both_pipelines_and_is_explained(kbx: CommandLine, demo_kb_path: Path) -> None:
    glob = "memory/meetings/2026/0[1-3]/"
    arguments = ("--path", glob, "--limit", "99", "--explain", "--json", "--kb", demo_kb_path)
    answer = kbx("search", QUERY, *arguments).json
    months = [demo_kb_path / "memory" / "meetings" / "2026" / f"0{month}" for month in (1, 2, 3)]
    files = {
        str(file.relative_to(demo_kb_path)) for month in months for file in month.rglob("*.md")
    }
    assert answer["results"]
    assert {result["path"] for result in answer["results"]} <= files
    explain = answer["meta"]["explain"]
    assert explain["path"] == answer["meta"]["path_filter"] == glob
    pipeline = {"in_scope": len(files), "status": "complete"}
    assert explain["lexical"] == explain["vector"] == pipeline


def test_type_option_takes_a_list_or_repetitions(kbx: CommandLine, demo_kb_path: Path) -> None:
    def kinds(*arguments: str) -> set[str]:
        ran = kbx("search", QUERY, "--limit", "40", "--json", "--kb", demo_kb_path, *arguments)
        return {result["doc_type"] for result in ran.json["results"]}

    assert kinds("--type", "meeting,note") == {"meeting", "note"}
    assert kinds("--type", "meeting", "--type", "note") == {"meeting", "note"}
    assert kinds("--type", "person") == {"person"}
