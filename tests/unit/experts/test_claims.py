"""Topics, and the claims and entities that they match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.experts.expert_engine import Claim, ClaimMatcher, Topic
from kbx_tui.knowledge.records import Entity, Fact

ALICE = Entity("person:alice-chen", "Alice Chen", "person", "", aliases=("achen",))
AI = Entity("project:ai", "AI", "project", "")


def make_claim(text: str, entity_id: str) -> Claim:
    fact = Fact(1, entity_id, "fact", text, "", "p.md", 1, "active", False, ("p.md",))
    return Claim(fact, {entity_id: ""})


def share_of(topic: str, text: str) -> float:
    """Return the share of the topic's words in a claim with this text."""
    claim = make_claim(text, "person:nobody")
    return ClaimMatcher([claim], [ALICE, AI]).matches(Topic.of(topic)).get(0, 0.0)


@pytest.mark.parametrize(
    ("topic", "share"),
    [
        ("Alice Chen", 1.0),
        ("alice", 1.0),
        ("Alice Chen and tiles", 1.0),
        ("Alice Chen and kilns", 2 / 3),
        ("what achen paints and fires", 2 / 3),
    ],
)
def test_the_name_of_an_entity_counts_as_words_of_its_claims(topic: str, share: float) -> None:
    claim = make_claim("Paints tiles", ALICE.id)
    assert ClaimMatcher([claim], [ALICE]).matches(Topic.of(topic)) == {0: pytest.approx(share)}


@pytest.mark.parametrize(
    ("topic", "text", "share"),
    [
        ("migration", "Runs the migrations", 1.0),
        ("maintain", "AI answers", 0.0),
        ("vector search", "Searched the pantry", 0.5),
        ("vector search", "Tunes vector searches", 1.0),
        ("who knows about vectors?", "A vector", 1.0),
        ("the who", "The Who played", 1.0),  # only ignored words: then they count
        ("Zürich", "Lives in ZURICH", 1.0),
        ("会議", "東京の会議で話した", 1.0),
        ("会議", "会と議", 0.0),
        ("会議 rota", "The rota", 0.5),
    ],
)
def test_whole_words_match_by_stem(topic: str, text: str, share: float) -> None:
    assert share_of(topic, text) == share


@pytest.mark.parametrize(
    ("topic", "named"),
    [
        ("Alice Chen", {"person:alice-chen"}),
        ("what does achen do", {"person:alice-chen"}),
        ("alice", {"person:alice-chen"}),
        ("chen", {"person:alice-chen"}),
        ("maintain", set()),
        ("AI", {"project:ai"}),
        ("lic", set()),
    ],
)
def test_entity_names_match_on_word_boundaries(topic: str, named: set[str]) -> None:
    found = ClaimMatcher([], [ALICE, AI]).named_by(Topic.of(topic))
    assert {entity_id for entity_id, _ in found} == named


@given(st.text(), st.text())
def test_share_is_within_0_and_1_for_any_topic(topic: str, text: str) -> None:
    try:
        parsed = Topic.of(topic)
    except ConfigError:
        return
    assert 0.0 <= share_of(topic, text) <= 1.0
    assert parsed.query in topic


def test_query_leaves_out_words_that_only_ask() -> None:
    assert Topic.of("Who knows about the night rota?").query == "night rota"
    assert Topic.of("who is it").query == "who is it"
