"""The preset of one search, and a topic of which no document says anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.errors import ConfigError
from kbx_tui.search.request import SearchRequest

QUESTION = "what did Alice Chen decide about rollbacks"
TOPIC = "how do we roll the cut-over back?"
SEED = Settings(search=SearchSettings(hierarchy_preset="seed"))


@pytest.mark.parametrize("query", [QUESTION, TOPIC])
def test_preset_of_a_search_equals_that_of_the_settings(demo_kb_path: Path, query: str) -> None:
    with KnowledgeBase(demo_kb_path) as kb, KnowledgeBase(demo_kb_path, settings=SEED) as seed:
        assert kb.search(query, preset="seed").results == seed.search(query).results
        assert kb.search(query).results == seed.search(query, preset="default").results
        assert kb.search(query).results != seed.search(query).results


def test_preset_decides_on_feedback_and_ranks_with_the_knobs_given(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        by_seed, plain = kb.retrieve(TOPIC, preset="seed"), kb.retrieve(TOPIC, feedback=0.0)
        np.testing.assert_array_equal(by_seed.as_typed.cosine, plain.as_typed.cosine)
        response = kb.search(QUESTION, preset="seed", gate="soft", explain=True)
        assert response.meta.explain is not None
        assert (response.meta.explain["preset"], response.meta.explain["gate"]) == ("seed", "soft")
        assert kb.tuning("seed", alpha=0.2).preset == "seed"


def test_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="preset must be default or seed, got 'best'"):
        SearchRequest("a", preset="best")


def test_document_of_a_person_that_says_nothing_of_the_topic_is_not_first(
    demo_kb_path: Path,
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        for alpha in (0.1, 0.5, 0.9):
            first = kb.search(QUESTION, alpha=alpha, explain=True).results[0]
            assert first.explain is not None
            assert first.explain["answered"] > 0.0


def test_topic_that_no_document_mentions_is_noted_and_linked_documents_are_listed(
    demo_kb_path: Path,
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        response = kb.search("Alice Chen zebra")
    note = "no document says anything about “zebra”; these are linked to Alice Chen"
    assert note in response.meta.notes
    assert {result.score for result in response.results} == {0.0}
    assert any("meetings" in result.path for result in response.results)


def test_documents_of_a_person_follow_the_few_that_answer_the_topic(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        response = kb.search("Castellane complaints")
        evidence = kb.retrieve("Castellane complaints")
        order = [evidence.paths[row] for row in kb.rank(evidence).best(10)]
    note = "only 2 documents say something about “complaints”; the others are linked to Ruth"
    assert any(note in said for said in response.meta.notes)
    assert [result.score > 0.0 for result in response.results] == [True] * 2 + [False] * 8
    assert response.results[2].path == "memory/people/ruth-castellane.md"
    assert [result.path for result in response.results] == order
