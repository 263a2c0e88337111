"""Of the many entities with one role only those that can be candidates get a signal."""

from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.index.stored_names import make_names
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.request import MAX_ENTITIES_LIMIT
from kbx_tui.search.retrieval.entity_pass import SECOND_SIGNAL, RoleIndex

ROLES = ("", "Beekeeper", "Head Beekeeper", "Head Gardener")
TEAMS = ("", "Hives", "Head Office", "Garden Hives")
people = st.lists(st.tuples(st.sampled_from(ROLES), st.sampled_from(TEAMS)), max_size=90)


def best(signals: dict[int, list[float]]) -> list[tuple[float, float, int]]:
    scored = []
    for number, scores in signals.items():
        first, second = max(scores), min(scores) if len(scores) > 1 else 0.0
        scored.append((-first - (1.0 - first) * SECOND_SIGNAL * second, -second, number))
    return sorted(scored)[:MAX_ENTITIES_LIMIT]


@settings(max_examples=60, deadline=None)
@given(people, st.sampled_from(["head", "head beekeeper of hives", "who is the head gardener?"]))
def test_the_best_entities_are_those_of_all_with_a_matching_role_or_team(
    given_people: list[tuple[str, str]], query: str
) -> None:
    entities = EntityColumn.of(
        Entity(f"person:{n:03}", f"Name {n}", "person", "", role=role, team=team)
        for n, (role, team) in enumerate(given_people)
    )
    roles = RoleIndex(entities, make_names(entities, NO_STATE))
    scores, everyone, few = (
        roles.matching(query),
        dict[int, list[float]](),
        dict[int, list[float]](),
    )
    for number, signal in roles.signals(scores, range(len(entities))):
        everyone.setdefault(number, []).append(signal.score)
    for number, signal in roles.signals(scores, ()):
        few.setdefault(number, []).append(signal.score)
    assert best(few) == best(everyone)
    assert all(few[number] == everyone[number] for number in few)


def test_initials_stand_for_the_one_role_that_has_them() -> None:
    given_roles = ("Chief Executive", "Counsel and data protection officer", "Project manager")
    entities = EntityColumn.of(
        Entity(f"person:{n}", f"Name {n}", "person", "", role=role)
        for n, role in enumerate((*given_roles, "Product manager"))
    )
    roles = RoleIndex(entities, make_names(entities, NO_STATE))
    assert roles.spelled_out("ceo") == roles.spelled_out("ce") == "chief executive"
    assert roles.spelled_out("dpo") == "data protection officer"
    assert not any(map(roles.spelled_out, ("pm", "p", "co", "xyz")))


def test_a_sentence_as_a_role_has_no_initials() -> None:
    role = " ".join(f"{letter}{number}" for number in range(2000) for letter in "abcde")
    entities = EntityColumn.of([Entity("person:a", "Ann Lee", "person", "", role=role)])
    assert not RoleIndex(entities, make_names(entities, NO_STATE)).spelled_out("ab")
