"""Entity cards, links, pinned entities and matches on a small base, with the real store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui import Destination, KnowledgeBase, NotFound, Tuning
from tests.functional.vaults import FILES, index_vault, write_vault

GO_NO_GO = "memory/meetings/2026/03/17/go-no-go.md"


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    links = "# Links\n\n[[Alice Chen#Open Items]] [[Migration go/no-go#Decisions]]\n"
    files = {**FILES, "memory/notes/links.md": links}
    return KnowledgeBase(index_vault(tmp_path_factory.mktemp("base"), files))


def test_card_shows_everything_known_about_a_person(kb: KnowledgeBase) -> None:
    card = kb.entities.card("person:alice-chen")
    assert (card.id, card.name, card.type) == ("person:alice-chen", "Alice Chen", "person")
    assert (card.path, card.aliases) == ("memory/people/alice-chen.md", ("Ace",))
    assert (card.role, card.team) == ("Director of Engineering", "Platform")
    assert [(fact.text, fact.date, fact.status, fact.line) for fact in card.facts] == [
        ("Leads the migration project", "2026-03-01", "active", 11),
        ("Prefers async Slack over email", "2026-02-15", "active", 10),
    ]
    assert [(item.text, item.done, item.line) for item in card.open_items] == [
        ("follow up on migration timeline", False, 15)
    ]
    first = card.documents[0]
    assert (first.path, first.title, first.date) == (GO_NO_GO, "Migration go/no-go", "2026-03-17")
    assert (first.kind, first.reason, first.strength) == ("meeting", "attendee", 1.0)
    assert card.members == ()


def test_card_of_a_team_lists_its_members(kb: KnowledgeBase) -> None:
    card = kb.entities.card("team:platform")
    assert [(member.name, member.id) for member in card.members] == [
        ("Alice Chen", "person:alice-chen"),
        ("Bob Okafor", "person:bob-okafor"),
    ]
    assert card.path == ""
    assert GO_NO_GO in [document.path for document in card.documents]


@pytest.mark.parametrize("entity_id", ["person:nobody", "", "it's", "alice-chen"])
def test_unknown_id_is_not_found(kb: KnowledgeBase, entity_id: str) -> None:
    with pytest.raises(NotFound, match="no entity has the id"):
        kb.entities.card(entity_id)
    with pytest.raises(NotFound, match="no entity has the id"):
        kb.retrieve("rollback", pinned=[entity_id])


def test_entities_are_found_by_part_of_their_name(kb: KnowledgeBase) -> None:
    assert [entity.id for entity in kb.entities.find("oka")] == ["person:bob-okafor"]
    assert kb.entities.find("ace")[0].path == "memory/people/alice-chen.md"
    assert len(kb.entities.find("", limit=2)) == 2


def test_evidence_holds_a_pinned_entity_and_tuning_makes_it_count(kb: KnowledgeBase) -> None:
    query = "how do deployment rollbacks work?"
    evidence = kb.retrieve(query, pinned=["person:alice-chen", "person:alice-chen"])
    plain = kb.retrieve(query)
    assert evidence.entities[: len(plain.entities)] == plain.entities
    ids = [entity.id for entity in evidence.entities]
    assert ids.count("person:alice-chen") == 1
    index = ids.index("person:alice-chen")
    assert len(evidence.links[index].rows) > 0
    assert kb.rank(evidence).search_mode == "flat"
    ranking = kb.rank(evidence, Tuning(pinned=frozenset({"person:alice-chen"})))
    assert ranking.kept == (index,)
    assert ranking.evidence.paths[ranking.top(1)[0].row] in (GO_NO_GO, *FILES)


def test_entity_that_is_only_pinned_comes_last_without_signals(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("what did Bob say?", fast=True, pinned=["team:platform"])
    (only,) = evidence.entities
    assert (only.id, only.score, only.named, only.signals) == ("team:platform", 0.0, False, ())
    assert kb.rank(evidence, Tuning(pinned=frozenset({only.id}))).search_mode_reason == "fast"


def test_link_leads_to_the_section_it_names(kb: KnowledgeBase) -> None:
    source = "memory/notes/links.md"
    assert kb.links.follow("Alice Chen#Open Items", source) == Destination(
        "memory/people/alice-chen.md", "person:alice-chen", "Open Items", 13
    )
    assert kb.links.follow("../meetings/2026/03/17/go-no-go.md#decisions", source) == Destination(
        GO_NO_GO, "", "decisions", 12
    )
    assert kb.links.follow("Lunch menu", source) == Destination("memory/notes/lunch.md")
    assert kb.links.follow("#Links", source) == Destination(source, "", "Links", 1)
    assert kb.links.follow("Lunch menu#Nothing", source) == Destination(
        "memory/notes/lunch.md", "", "Nothing", 0
    )
    assert kb.links.follow("https://example.com", source) is None
    assert kb.links.follow("Nobody Known", source) is None


CALLS: list[Callable[[KnowledgeBase], object]] = [
    lambda kb: kb.entities.card("person:x"),
    lambda kb: kb.entities.find(""),
    lambda kb: kb.documents.complete_path(""),
    lambda kb: kb.links.follow("x", "y.md"),
    lambda kb: kb.documents.count_scope(""),
]


@pytest.mark.parametrize("call", CALLS)
def test_base_without_an_index_raises_not_found(
    tmp_path: Path, call: Callable[[KnowledgeBase], object]
) -> None:
    with pytest.raises(NotFound, match="no index"):
        call(KnowledgeBase(write_vault(tmp_path)))
