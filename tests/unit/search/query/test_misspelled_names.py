"""Which full names are similar to a text."""

from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from kbx_tui.index.stored_names import SHORTEST_TO_COMPARE, SIMILAR, make_names
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_index import MisspelledNames

NAMES = ("Ruth Miller", "Ruth Muller", "Jan van der Berg", "Biot Savart", "Navdeep Bains", "Biot")
ENTITIES = [Entity(f"person:{n}", name, "person", f"{n}.md") for n, name in enumerate(NAMES)]
KEYS = {name.replace(" ", "").lower(): (n, name) for n, name in enumerate(NAMES)}


def names_of(entities: list[Entity]) -> MisspelledNames:
    column = EntityColumn.of(entities)
    return MisspelledNames(column, make_names(column, NO_STATE))


letters = st.text("ruthmile", min_size=SHORTEST_TO_COMPARE, max_size=16)
some_keys = st.sampled_from(sorted(key for key in KEYS if len(key) >= SHORTEST_TO_COMPARE))
misspelled = st.builds(lambda key, end, start: key[start:] + end, some_keys, letters, st.just(2))


def test_equally_similar_names_come_in_the_order_of_the_entities() -> None:
    ((index, similarity, names),) = names_of(ENTITIES).find(["ruthmxller"])
    assert (index, similarity > SIMILAR, names) == (
        0,
        True,
        [KEYS["ruthmiller"], KEYS["ruthmuller"]],
    )


@given(st.lists(some_keys | letters | misspelled, max_size=4))
def test_no_similar_name_is_passed_over_for_its_length(texts: list[str]) -> None:
    found = {index: names for index, _, names in names_of(ENTITIES).find(texts)}
    for index, text in enumerate(texts):
        scores = {
            key: fuzz.ratio(text, key)
            for key in KEYS
            if len(key) >= SHORTEST_TO_COMPARE
            and (key == text or not (key.endswith(text) or text.endswith(key)))
        }
        best = max(scores.values(), default=0.0)
        if best >= SIMILAR:
            assert found[index] == sorted(KEYS[key] for key in scores if scores[key] == best)
        else:
            assert index not in found


def test_nothing_is_similar_without_names() -> None:
    assert not list(names_of([]).find(["ruthmiller"]))
