"""Expert search through `KnowledgeBase`."""

import hashlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from kbx_tui import Expert, KnowledgeBase, OutOfRange
from tests.functional.vaults import index_vault

TODAY = date(2026, 3, 31)


@pytest.fixture
def kb(workshop: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(workshop) as opened:
        yield opened


def scores(experts: tuple[Expert, ...]) -> dict[str, float]:
    return {expert.entity_id: expert.score for expert in experts}


def test_count_is_the_number_of_claims_with_ties_by_id(kb: KnowledgeBase) -> None:
    experts = kb.experts("kiln").experts
    assert [(expert.entity_id, expert.score, expert.claim_count) for expert in experts] == [
        ("person:ada-roe", 3.0, 3),  # two on her page, one of the project she leads
        ("person:bo-lind", 1.0, 1),
        ("project:tiles", 1.0, 1),
        ("team:workshop", 1.0, 1),
    ]


def test_a_fact_of_another_page_says_why_it_counts(kb: KnowledgeBase) -> None:
    experts = {expert.name: expert for expert in kb.experts("kiln").experts}
    why = {receipt.text: receipt.why for receipt in experts["Ada Roe"].receipts}
    assert why["Needs the kiln on Mondays"] == "named as lead"
    assert why["Fired the kiln for the first time"] == ""
    assert [receipt.why for receipt in experts["Workshop"].receipts] == ["named as team"]
    assert [receipt.why for receipt in experts["Tiles"].receipts] == [""]


def test_a_page_is_about_200_that_it_lists_and_50_of_one_name(tmp_path: Path) -> None:
    people = [f"P{number} Roe" for number in range(210)]
    pages = {f"memory/people/{each}.md": f"# {each}\n" for each in people}
    pages |= {f"memory/people/ann-{number}.md": "# Ann\n" for number in range(60)}
    listed = ", ".join(people * 2)
    pages["memory/projects/kiln.md"] = f"---\npeople: [{listed}]\n---\n# Kiln\n\n- Needs tea\n"
    pages["memory/projects/tiles.md"] = "# Tiles\n\n- Fired by [[Ann]]\n"
    with KnowledgeBase(index_vault(tmp_path / "base", pages, fast=True)) as kb:
        experts = kb.experts("tea", limit=300).experts
        assert {each.name: each.receipts[0].why for each in experts} == {
            "Kiln": "", **dict.fromkeys(people[:200], "named as person")
        }  # fmt: skip
        assert kb.experts("fired").total_matched == 1 + 50


def test_recency_halves_with_every_half_life_from_the_newest_day(kb: KnowledgeBase) -> None:
    by_id = scores(kb.experts("kiln", weight="recency", now=TODAY).experts)
    assert by_id["person:bo-lind"] == pytest.approx(2 ** (-20 / 30), abs=1e-6)  # confirmed
    ada = 2 ** (-30 / 30) + 2 ** (-58 / 30) + 2 ** (-20 / 30)  # the last from its page's date
    assert by_id["person:ada-roe"] == pytest.approx(ada, abs=1e-6)
    by_id = scores(kb.experts("kiln", weight="recency", now=TODAY, half_life_days=20.0).experts)
    assert by_id["person:bo-lind"] == pytest.approx(0.5)

    ranking = kb.experts("kiln", weight="recency")
    assert ranking.experts == kb.experts("kiln", weight="recency", now=date(2026, 3, 11)).experts
    assert scores(ranking.experts)["person:bo-lind"] == 1.0
    assert any("from the newest date in the base" in note for note in ranking.notes)
    assert not any("newest date" in note for note in kb.experts("kiln").notes)


def test_full_matches_come_first_and_partial_ones_count_by_their_share(kb: KnowledgeBase) -> None:
    experts = kb.experts("kiln rebuild").experts
    found = [(expert.entity_id, expert.score, expert.full_claim_count) for expert in experts]
    assert found == [
        ("person:ada-roe", 1.0 + 0.5 + 0.5, 1),
        ("person:bo-lind", 0.5, 0),
        ("project:tiles", 0.5, 0),
        ("team:workshop", 0.5, 0),
    ]
    assert [receipt.share for receipt in experts[0].receipts] == [1.0, 0.5, 0.5]
    experts = kb.experts("fire tiles").experts  # Ada has more claims, but none on both
    assert {expert.full_claim_count for expert in experts} == {0}
    experts = kb.experts("kiln mondays").experts
    assert [expert.entity_id for expert in experts] == [
        "person:ada-roe",
        "project:tiles",
        "team:workshop",
        "person:bo-lind",
    ]


def test_people_can_be_asked_for_alone(kb: KnowledgeBase) -> None:
    ranking = kb.experts("kiln", 1, people=True)
    assert [expert.entity_id for expert in ranking.experts] == ["person:ada-roe"]
    assert ranking.total_matched == 2
    for weight in ("count", "recency", "citation", "relevance"):
        experts = kb.experts("kiln", weight=weight, people=True).experts
        assert {expert.type for expert in experts} == {"person"}
        everyone = scores(kb.experts("kiln", weight=weight).experts)
        assert scores(experts).items() <= everyone.items()


def test_citation_is_sources_times_confidence(kb: KnowledgeBase) -> None:
    experts = {e.entity_id: e for e in kb.experts("kiln", weight="citation").experts}
    assert experts["person:ada-roe"].score == pytest.approx(0.7 * (2 + 1 + 1))
    assert experts["person:ada-roe"].citation_count == 4
    tiles = scores(kb.experts("tiles", weight="citation").experts)
    assert tiles["person:cy-vale"] == pytest.approx(0.5)  # linked in another's fact


def test_inactive_claims_do_not_count_and_are_listed_as_excluded(kb: KnowledgeBase) -> None:
    ada = kb.experts("kiln").experts[0]
    assert ada.entity_id == "person:ada-roe"
    assert {receipt.status for receipt in ada.excluded} == {"superseded", "redacted", "archived"}
    assert all(receipt.contribution == 0.0 for receipt in ada.excluded)
    assert not {receipt.claim_id for receipt in ada.excluded} & set(ada.top_claim_ids)
    assert kb.experts("budget").experts == ()  # only in a superseded fact


def test_score_is_the_sum_of_the_receipts(kb: KnowledgeBase) -> None:
    for weight in ("count", "recency", "citation", "relevance"):
        for expert in kb.experts("kiln", weight=weight, now=TODAY).experts:
            total = sum(receipt.contribution for receipt in expert.receipts)
            assert total == pytest.approx(expert.score, abs=1e-5)
            assert expert.claim_count == len(expert.receipts)
            top = [receipt.claim_id for receipt in expert.receipts[:3]]
            assert list(expert.top_claim_ids) == top


def test_min_claims_filters_before_the_limit_applies(kb: KnowledgeBase) -> None:
    filtered = kb.experts("kiln", min_claims=2).experts
    assert [expert.entity_id for expert in filtered] == ["person:ada-roe"]
    first = kb.experts("kiln", limit=1)
    assert [expert.entity_id for expert in first.experts] == ["person:ada-roe"]
    assert first.total_matched == kb.experts("kiln").total_matched > 1


def test_open_items_state_nothing_and_relevance_counts_documents_too(kb: KnowledgeBase) -> None:
    assert kb.experts("bricks").experts == ()

    bo = next(
        expert
        for expert in kb.experts("burners", weight="relevance").experts
        if expert.entity_id == "person:bo-lind"
    )
    assert bo.top_claim_ids[0] == "note:notes/kiln"
    assert bo.counted == "1 document"
    assert bo.receipts[0].path == "memory/notes/kiln.md"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("limit", -1), ("min_claims", -1),
        ("half_life_days", 0.0), ("half_life_days", -1.0), ("half_life_days", float("nan")),
    ],
)  # fmt: skip
def test_a_number_below_the_least_is_refused(kb: KnowledgeBase, name: str, value: float) -> None:
    with pytest.raises(OutOfRange, match=name):
        kb.experts("kiln", **{name: value})


def test_unknown_topic_has_no_experts(kb: KnowledgeBase, tmp_path: Path) -> None:
    assert kb.experts("submarines").experts == ()
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "empty.md").write_text("# Empty\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as empty:
        assert empty.experts("kiln").experts == ()


def test_expert_search_writes_nothing(kb: KnowledgeBase, workshop: Path) -> None:
    before = digest(workshop)
    for weight in ("count", "recency", "citation", "relevance"):
        kb.experts("kiln", weight=weight)
    assert digest(workshop) == before


def digest(root: Path) -> dict[str, str]:
    """Return a hash of every file, including those of the index."""
    return {
        str(file.relative_to(root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(root.rglob("*"))
        if file.is_file()
    }
