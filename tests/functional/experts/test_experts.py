from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from kbx_tui import ConfigError, Expert, KnowledgeBase, OutOfRange

TODAY = date(2026, 3, 31)


@pytest.fixture
def kb(workshop: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(workshop) as opened:
        yield opened


def scores(experts: tuple[Expert, ...]) -> dict[str, float]:
    return {one.entity_id: one.score for one in experts}


def test_count_is_the_number_of_claims_and_ties_go_by_id(kb: KnowledgeBase) -> None:
    found = kb.experts("kiln").experts
    assert [(one.entity_id, one.score, one.claim_count) for one in found] == [
        ("person:ada-roe", 3.0, 3),  # two of her page, and the project she leads
        ("person:bo-lind", 1.0, 1),
        ("project:tiles", 1.0, 1),
        ("team:workshop", 1.0, 1),
    ]


def test_recency_halves_with_every_half_life(kb: KnowledgeBase) -> None:
    found = scores(kb.experts("kiln", weight="recency", now=TODAY).experts)
    assert found["person:bo-lind"] == pytest.approx(2 ** (-20 / 30), abs=1e-6)  # as confirmed
    ada = 2 ** (-30 / 30) + 2 ** (-58 / 30) + 2 ** (-20 / 30)  # the last by its document's date
    assert found["person:ada-roe"] == pytest.approx(ada, abs=1e-6)


def test_what_lies_ahead_is_as_good_as_today(kb: KnowledgeBase) -> None:
    found = scores(kb.experts("kiln", weight="recency", now=date(2020, 1, 1)).experts)
    assert found["person:ada-roe"] == 3.0


def test_the_half_life_can_be_turned(kb: KnowledgeBase) -> None:
    found = scores(kb.experts("kiln", weight="recency", now=TODAY, half_life_days=20.0).experts)
    assert found["person:bo-lind"] == pytest.approx(0.5)


def test_citation_is_sources_times_confidence(kb: KnowledgeBase) -> None:
    found = {one.entity_id: one for one in kb.experts("kiln", weight="citation").experts}
    assert found["person:ada-roe"].score == pytest.approx(0.7 * (2 + 1 + 1))
    assert found["person:ada-roe"].citation_count == 4
    tiles = scores(kb.experts("tiles", weight="citation").experts)
    assert tiles["person:cy-vale"] == pytest.approx(0.5)  # linked in a fact of another


def test_what_no_longer_stands_counts_nowhere_and_is_told(kb: KnowledgeBase) -> None:
    ada = kb.experts("kiln").experts[0]
    assert ada.entity_id == "person:ada-roe"
    assert {one.status for one in ada.excluded} == {"superseded", "redacted", "archived"}
    assert all(one.contribution == 0.0 for one in ada.excluded)
    assert not {one.claim_id for one in ada.excluded} & set(ada.top_claim_ids)
    assert kb.experts("budget").experts == ()  # only in what is superseded


def test_the_receipts_add_up_to_the_score(kb: KnowledgeBase) -> None:
    for weight in ("count", "recency", "citation", "relevance"):
        for one in kb.experts("kiln", weight=weight, now=TODAY).experts:
            assert sum(r.contribution for r in one.receipts) == pytest.approx(one.score, abs=1e-5)
            assert one.claim_count == len(one.receipts)
            assert list(one.top_claim_ids) == [r.claim_id for r in one.receipts[:3]]


def test_an_unknown_weight_counts(kb: KnowledgeBase) -> None:
    found = kb.experts("kiln", weight="loudness")
    assert found.weight == "count"
    assert found.experts == kb.experts("kiln").experts


def test_min_claims_leaves_out_before_the_limit_cuts(kb: KnowledgeBase) -> None:
    assert [one.entity_id for one in kb.experts("kiln", min_claims=2).experts] == ["person:ada-roe"]
    first = kb.experts("kiln", limit=1)
    assert [one.entity_id for one in first.experts] == ["person:ada-roe"]
    assert first.total_matched == kb.experts("kiln").total_matched > 1


@pytest.mark.parametrize("weight", ["count", "recency", "citation", "relevance"])
def test_scores_do_not_depend_on_the_limit(kb: KnowledgeBase, weight: str) -> None:
    whole = kb.experts("kiln", 100, weight=weight, now=TODAY).experts
    for limit in range(1, len(whole) + 1):
        assert kb.experts("kiln", limit, weight=weight, now=TODAY).experts == whole[:limit]


def test_words_match_as_words_by_their_stems(kb: KnowledgeBase) -> None:
    assert scores(kb.experts("maintaining").experts) == {"person:cy-vale": 1.0}  # and never "AI"
    assert scores(kb.experts("kilns").experts) == scores(kb.experts("kiln").experts)


def test_an_entity_that_is_named_brings_all_its_claims(kb: KnowledgeBase) -> None:
    assert scores(kb.experts("ada").experts)["person:ada-roe"] == 3.0
    assert "person:cy-vale" in scores(kb.experts("Who knows about Cy Vale?").experts)


def test_words_that_only_ask_match_nothing(kb: KnowledgeBase) -> None:
    asked = kb.experts("who knows about the kiln?").experts
    assert scores(asked) == scores(kb.experts("kiln").experts)


def test_open_items_are_no_claims(kb: KnowledgeBase) -> None:
    assert kb.experts("bricks").experts == ()


def test_with_relevance_documents_speak_too(kb: KnowledgeBase) -> None:
    bo = next(
        one
        for one in kb.experts("burners", weight="relevance").experts
        if one.entity_id == "person:bo-lind"
    )
    assert bo.top_claim_ids[0] == "note:notes/kiln"
    assert bo.receipts[0].path == "memory/notes/kiln.md"


@pytest.mark.parametrize("topic", ["", "   ", "?!"])
def test_an_empty_topic_is_an_error(kb: KnowledgeBase, topic: str) -> None:
    with pytest.raises(ConfigError, match="topic is empty"):
        kb.experts(topic)


@pytest.mark.parametrize("name", ["limit", "min_claims"])
def test_numbers_below_one_are_refused(kb: KnowledgeBase, name: str) -> None:
    with pytest.raises(OutOfRange, match=name):
        kb.experts("kiln", **{name: -1})


@pytest.mark.parametrize("days", [0.0, -1.0, float("nan")])
def test_a_half_life_is_above_zero(kb: KnowledgeBase, days: float) -> None:
    with pytest.raises(OutOfRange, match="half_life_days"):
        kb.experts("kiln", half_life_days=days)


def test_nothing_known_is_no_error(kb: KnowledgeBase, tmp_path: Path) -> None:
    assert kb.experts("submarines").experts == ()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "empty.md").write_text("# Empty\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as empty:
        assert empty.experts("kiln").experts == ()


def test_asking_writes_nothing(kb: KnowledgeBase, workshop: Path) -> None:
    before = digest(workshop)
    for weight in ("count", "recency", "citation", "relevance"):
        kb.experts("kiln", weight=weight)
    assert digest(workshop) == before


def digest(root: Path) -> dict[str, str]:
    """Return a hash of every file, the index's included."""
    return {
        str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }
