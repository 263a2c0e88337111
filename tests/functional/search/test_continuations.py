"""A transcript in parts: the part after the best one ranks higher, as it continues the topic."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, SearchResponse
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.evidence.scores import PROPAGATION_SHARE
from tests.functional.vaults import index_vault

QUERY = "closing the harbour crane for repairs"
PERSON_QUERY = "what did Ben Marsh say about repairs of the crane?"
TALK = [
    "Good morning everyone. We begin with the minutes of last week, which nobody wants to change.",
    "The harbour crane must be closed for repairs. The repairs of the crane take nine days.",
    "And who tells the crews about it? The crane drivers know, the others do not yet.",
    "Last came lunch. The canteen asks for more salad.",
]
PEOPLE = ["Ada Stone", "Ben Marsh", "Ada Stone", "Ben Marsh"]
FOLDER = "memory/meetings/2026/03/02"
ADJACENT, BEST = f"{FOLDER}/council-3.md", f"{FOLDER}/council-2.md"


PAGES = {
    f"{FOLDER}/council-{number}.md": f"""---
title: Port council, part {number} of 4
date: 2026-03-02
attendees: [{person}]
---

{text}
"""
    for number, (text, person) in enumerate(zip(TALK, PEOPLE, strict=True), 1)
}
PAGES |= {
    f"memory/notes/crane-{number}.md": f"# Crane {number}\n\nA crane of type {number}."
    for number in range(6)
}
PAGES |= {
    f"memory/people/{name}.md": f"---\nname: {name}\ntype: person\n---\n\nWorks."
    for name in sorted({*PEOPLE})
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_vault(tmp_path_factory.mktemp("port"), PAGES)


@pytest.fixture
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        yield opened


def ranks_and_scores(response: SearchResponse) -> dict[str, tuple[int, float]]:
    return {result.path: (rank, result.score) for rank, result in enumerate(response.results, 1)}


def test_adjacent_part_rises_and_the_best_part_is_unchanged(kb: KnowledgeBase, root: Path) -> None:
    found = ranks_and_scores(kb.search(QUERY))
    settings = Settings(search=SearchSettings(parts=0.0))
    with KnowledgeBase(root, settings=settings) as without:
        alone = ranks_and_scores(without.search(QUERY))
    assert found[BEST] == alone[BEST] == (1, alone[BEST][1])
    assert found[ADJACENT][1] == pytest.approx(
        alone[ADJACENT][1] + PROPAGATION_SHARE * (alone[BEST][1] - alone[ADJACENT][1]), abs=1e-3
    )
    assert found[ADJACENT][0] == 2
    notes = [path for path in alone if path.startswith("memory/notes")]
    assert {path: found[path][1] for path in notes} == {path: alone[path][1] for path in notes}


@pytest.mark.parametrize("fast", [False, True])
def test_parts_out_of_scope_propagate_too(kb: KnowledgeBase, fast: bool) -> None:
    everything = ranks_and_scores(kb.search(QUERY, fast=fast))
    alone = ranks_and_scores(kb.search(QUERY, path=ADJACENT, fast=fast))
    assert alone == {ADJACENT: (1, everything[ADJACENT][1])}


def test_link_to_a_person_propagates_to_the_adjacent_part(kb: KnowledgeBase) -> None:
    response = kb.search(PERSON_QUERY, explain=True)
    assert response.meta.search_mode == "two_pass"
    why = {result.path: result.explain for result in response.results}[ADJACENT]
    assert why is not None
    assert why["entities"][0]["reason"] == "attendee in the part before"
    assert why["entities"][0]["link_strength"] == PROPAGATION_SHARE


@pytest.mark.parametrize("query", [QUERY, PERSON_QUERY], ids=["flat", "two-pass"])
def test_explain_shows_the_propagated_score_and_the_part_it_is_from(
    kb: KnowledgeBase, query: str
) -> None:
    why = {result.path: result.explain for result in kb.search(query, explain=True).results}
    adjacent, best = why[ADJACENT], why[BEST]
    assert adjacent is not None
    assert best is not None
    assert adjacent["lent_by"] == "part before"
    own = (
        adjacent["lexical_score"] * adjacent["lexical_weight"]
        + adjacent["vector_score"] * adjacent["vector_weight"]
    )
    assert own + adjacent["lent"] == pytest.approx(adjacent["doc_relevance"], abs=1e-3)
    assert (best["lent"], best["lent_by"]) == (0.0, None)


@pytest.mark.parametrize("off", [{"parts": 0.0}, {"hierarchy_preset": "seed"}])
def test_nothing_propagates_if_disabled_or_with_the_seed_preset(
    root: Path, off: dict[str, object]
) -> None:
    settings = Settings(search=SearchSettings(**off))  # type: ignore[arg-type]
    with KnowledgeBase(root, settings=settings) as kb:
        scores = kb.retrieve(QUERY).as_typed
        assert (scores.doc_relevance == scores.own_relevance).all()


def test_nothing_propagates_when_evaluating_the_seed_preset(kb: KnowledgeBase) -> None:
    judged = [JudgedQuery("1", QUERY, "topic", {ADJACENT: 1}, frozenset())]
    seed, ours = kb.judgments.evaluate(judged, preset="seed"), kb.judgments.evaluate(judged)
    assert seed.results[0].reciprocal_rank < ours.results[0].reciprocal_rank == 0.5
