"""The hint that the base says of another entity what a draft says of its own."""

import pytest

from kbx_tui.drafting.checking import said_of_another
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.name_lookup import SubjectIndex
from kbx_tui.similarity.pair_score import MatchType, SimilarityMatch
from tests.unit.similarity.building import make_pair

LEADS = "Leads the mobile team from the Porto office"


def entity(name: str, kind: str = "person") -> Entity:
    slug = name.split()[0].lower()
    return Entity(f"{kind}:{slug}", name, kind, f"memory/{slug}.md")


ALICE, INES, TOM = map(entity, ("Alice Chen", "Inês Carvalho", "Tom Reyes"))
MOBILE = entity("Mobile", "team")
ENTITIES = {each.id: each for each in (ALICE, INES, TOM, MOBILE)}


def fact(owner: Entity, text: str, kind: MatchType = "fact") -> SimilarityMatch:
    return SimilarityMatch(
        text, make_pair(0.7, ()), 0.9, kind, owner.path, 3, owner.id, owner.name, 7
    )


@pytest.mark.parametrize(
    ("statement", "facts", "name"),
    [
        ("leads the mobile team", [fact(INES, LEADS)], "Inês Carvalho"),
        ("leads the mobile team", [fact(MOBILE, f"Inês Carvalho {LEADS}")], "Inês Carvalho"),
        ("leads the mobile team", [fact(INES, LEADS), fact(TOM, LEADS)], ""),
        ("leads the mobile team", [fact(ALICE, LEADS), fact(INES, LEADS)], ""),
        ("leads the mobile team", [fact(MOBILE, "is the mobile team that leads")], ""),
        ("leads the mobile team in Oslo", [fact(INES, LEADS)], ""),
        ("leads 3 mobile teams", [fact(INES, "leads 3 mobile teams now")], "Inês Carvalho"),
        ("leads the mobile team", [fact(INES, "no longer leads the mobile team")], ""),
        ("leads the mobile team", [fact(INES, LEADS, "open_item")], ""),
        ("leads", [fact(INES, LEADS)], ""),
    ],
    ids=[
        "contained", "on-a-team-page", "of-several", "of-itself", "of-another-type", "says-more",
        "with-numbers", "denied", "open-item", "one-word",
    ],
)  # fmt: skip
def test_only_the_same_statement_about_one_other_of_its_type_is_a_hint(
    statement: str, facts: list[SimilarityMatch], name: str
) -> None:
    hint = said_of_another(
        statement, ALICE, facts, ENTITIES, SubjectIndex(tuple(ENTITIES.values()))
    )
    assert (hint.known.entity_name if hint else "") == name
    assert hint is None or (hint.is_of_another and not hint.is_own)
