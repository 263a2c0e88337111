"""Which names of entities are stored, and in which order they are found."""

from kbx_tui.index.stored_names import make_names, words_hash
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.records import Entity


def names_of(*entities: Entity) -> dict[str, list[tuple[int, int, str]]]:
    """Return entity, kind and text of each stored name, in order, by its folded words."""
    names = make_names(EntityColumn.of(entities), NO_STATE)
    stored = zip(
        names.full.hashes.tolist(),
        names.full.numbers.tolist(),
        names.full_kinds.tolist(),
        names.full_texts,
        strict=True,
    )
    found: dict[str, list[tuple[int, int, str]]] = {}
    for hashed, *name in stored:
        spellings = ("blue harbour", "blue harbours", "bh")
        (words,) = (each for each in spellings if words_hash(tuple(each.split())) == hashed)
        found.setdefault(words, []).append((name[0], name[1], name[2]))
    return found


def test_a_name_that_an_entity_has_twice_is_stored_once_and_as_its_name() -> None:
    aliases = ("blue harbour", "BH", "bh")
    first = Entity("project:a", "Blue Harbour", "project", "a.md", aliases)
    second = Entity("project:b", "Blue harbour", "project", "b.md")
    assert names_of(first, second) == {
        "blue harbour": [(0, 0, "Blue Harbour"), (1, 0, "Blue harbour")],
        "blue harbours": [(0, 0, "Blue Harbours"), (1, 0, "Blue harbours")],
        "bh": [(0, 1, "BH")],
    }


def test_no_plural_is_added_that_is_the_name_of_another_and_none_for_nobody() -> None:
    one = Entity("project:a", "Blue Harbour", "project", "a.md")
    other = Entity("project:b", "Blue Harbours", "project", "b.md")
    assert names_of(one, other) == {
        "blue harbour": [(0, 0, "Blue Harbour")],
        "blue harbours": [(1, 0, "Blue Harbours")],
    }

    assert not names_of()
