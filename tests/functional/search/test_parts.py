"""A transcript cut into parts: what was asked for goes on in the part beside the best one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, SearchResponse
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.errors import OutOfRange
from kbx_tui.evaluation.judgments import JudgedQuery
from kbx_tui.search.evidence.score_normalization import PART_SHARE
from tests.functional.vaults import write_vault

QUERY = "closing the harbour crane for repairs"
TALK = [
    "Good morning everyone. We begin with the minutes of last week, which nobody wants to change.",
    "The harbour crane must be closed for repairs. The repairs of the crane take nine days.",
    "And who tells the crews about it? The crane drivers know, the others do not yet.",
    "Last came lunch. The canteen asks for more salad.",
]
PEOPLE = ["Ada Stone", "Ben Marsh", "Ada Stone", "Ben Marsh"]
FOLDER = "memory/meetings/2026/03/02"
BESIDE, BEST = f"{FOLDER}/council-3.md", f"{FOLDER}/council-2.md"


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
    made = write_vault(tmp_path_factory.mktemp("port"), PAGES)
    with KnowledgeBase(made) as kb:
        kb.index()
    return made


@pytest.fixture
def kb(root: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(root) as opened:
        yield opened


def places(answer: SearchResponse) -> dict[str, tuple[int, float]]:
    return {one.path: (rank, one.score) for rank, one in enumerate(answer.results, 1)}


def test_the_part_beside_the_best_rises_and_the_best_stays(kb: KnowledgeBase, root: Path) -> None:
    found = places(kb.search(QUERY))
    settings = Settings(search=SearchSettings(parts=0.0))
    with KnowledgeBase(root, settings=settings) as without:
        alone = places(without.search(QUERY))
    assert found[BEST] == alone[BEST] == (1, alone[BEST][1])
    assert found[BESIDE][1] == pytest.approx(
        alone[BESIDE][1] + PART_SHARE * (alone[BEST][1] - alone[BESIDE][1]), abs=1e-3
    )
    assert found[BESIDE][0] == 2
    notes = [path for path in alone if path.startswith("memory/notes")]
    assert {path: found[path][1] for path in notes} == {path: alone[path][1] for path in notes}


@pytest.mark.parametrize("fast", [False, True])
def test_it_counts_also_where_the_filter_leaves_it_out(kb: KnowledgeBase, fast: bool) -> None:
    everything = places(kb.search(QUERY, fast=fast))
    alone = places(kb.search(QUERY, path=BESIDE, fast=fast))
    assert alone == {BESIDE: (1, everything[BESIDE][1])}


def test_the_part_beside_that_of_the_person_asked_for_is_hers_in_part(kb: KnowledgeBase) -> None:
    answer = kb.search("what did Ben Marsh say about repairs of the crane?", explain=True)
    assert answer.meta.search_mode == "two_pass"
    why = {one.path: one.explain for one in answer.results}[BESIDE]
    assert why is not None
    assert why["entities"][0]["reason"] == "attendee in the part before"
    assert why["entities"][0]["link_strength"] == PART_SHARE


def test_a_part_without_a_word_of_it_is_nobodys_by_the_part_beside_it(kb: KnowledgeBase) -> None:
    answer = kb.search("what did Ben Marsh say about repairs of the crane?")
    assert f"{FOLDER}/council-1.md" not in {one.path for one in answer.results}


def test_explain_says_what_was_lent_and_by_which_part(kb: KnowledgeBase) -> None:
    why = {one.path: one.explain for one in kb.search(QUERY, explain=True).results}
    beside, best = why[BESIDE], why[BEST]
    assert beside is not None
    assert best is not None
    assert beside["lent_by"] == "part before"
    own = (
        beside["lexical_score"] * beside["lexical_weight"]
        + beside["vector_score"] * beside["vector_weight"]
    )
    assert own + beside["lent"] == pytest.approx(beside["doc_relevance"], abs=1e-3)
    assert (best["lent"], best["lent_by"]) == (0.0, None)


@pytest.mark.parametrize("off", [{"parts": 0.0}, {"hierarchy_preset": "seed"}])
def test_switched_off_or_as_the_seed_nothing_is_lent(root: Path, off: dict[str, object]) -> None:
    settings = Settings(search=SearchSettings(**off))  # type: ignore[arg-type]
    with KnowledgeBase(root, settings=settings) as kb:
        scores = kb.retrieve(QUERY).as_typed
        assert (scores.doc_relevance == scores.own_relevance).all()


def test_evaluating_the_seed_lends_nothing(kb: KnowledgeBase) -> None:
    judged = [JudgedQuery("1", QUERY, "topic", {BESIDE: 1}, frozenset())]
    seed, ours = kb.evaluate(judged, preset="seed"), kb.evaluate(judged)
    assert seed.results[0].reciprocal_rank < ours.results[0].reciprocal_rank == 0.5


def test_the_default_of_the_setting_is_that_of_the_search() -> None:
    assert SearchSettings().parts == PART_SHARE


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_a_share_beyond_its_range_is_refused(kb: KnowledgeBase, share: float) -> None:
    with pytest.raises(OutOfRange, match="parts must be within"):
        kb.retrieve(QUERY, parts=share)
