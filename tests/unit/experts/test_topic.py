from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.experts.claim_matcher import Matcher
from kbx_tui.experts.claims import Claim
from kbx_tui.experts.topic import Topic
from kbx_tui.knowledge.records import Entity

ALICE = Entity("person:alice-chen", "Alice Chen", "person", "", aliases=("achen",))
AI = Entity("project:ai", "AI", "project", "")


def share_of(topic: str, text: str) -> float:
    """Return the share of the topic's words that a claim with this text holds."""
    claim = Claim(1, text, "active", "", "p.md", 1, ("p.md",), 0.7, ("person:nobody",))
    return Matcher([claim], [ALICE, AI]).matches(Topic.of(topic)).get(0, 0.0)


def test_a_claim_about_whom_the_topic_names_matches_whole() -> None:
    claim = Claim(1, "Paints tiles", "active", "", "p.md", 1, ("p.md",), 0.7, (ALICE.id,))
    assert Matcher([claim], [ALICE]).matches(Topic.of("Alice Chen and kilns")) == {0: 1.0}


@pytest.mark.parametrize(
    ("topic", "text", "share"),
    [
        ("migration", "Runs the migrations", 1.0),
        ("maintain", "AI answers", 0.0),
        ("vector search", "Searched the pantry", 0.5),
        ("vector search", "Tunes vector searches", 1.0),
        ("who knows about vectors?", "A vector", 1.0),
        ("the who", "The Who played", 1.0),  # nothing but idle words: then they count
        ("Zürich", "Lives in ZURICH", 1.0),
        ("会議", "東京の会議で話した", 1.0),
        ("会議", "会と議", 0.0),
        ("会議 rota", "The rota", 0.5),
    ],
)
def test_words_match_by_stem_and_whole(topic: str, text: str, share: float) -> None:
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
def test_names_match_on_word_boundaries(topic: str, named: set[str]) -> None:
    assert Matcher([], [ALICE, AI]).named(Topic.of(topic)) == named


@pytest.mark.parametrize("text", ["", " ", "?!", "\n\t"])
def test_a_topic_holds_a_word(text: str) -> None:
    with pytest.raises(ConfigError, match="topic is empty"):
        Topic.of(text)


def test_what_only_asks_is_not_searched_for() -> None:
    assert Topic.of("Who knows about the night rota?").query == "night rota"
    assert Topic.of("who is it").query == "who is it"


@given(st.text(), st.text())
def test_any_topic_gives_a_share(topic: str, text: str) -> None:
    try:
        read = Topic.of(topic)
    except ConfigError:
        return
    assert 0.0 <= share_of(topic, text) <= 1.0
    assert read.query in topic
