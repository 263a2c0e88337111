"""No name that is similar to a text is missed when only names with a piece of it are compared."""

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from kbx_tui.index.stored_names import (
    LONGEST_IN_PIECES,
    SIMILAR,
    make_names,
    most_changes,
    runs_to_look_up,
)
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_index import MisspelledNames

LETTERS = "abcdeж漢"
short = st.text(LETTERS, min_size=6, max_size=30)
long = st.builds(lambda end, times: "cabbage" * times + end, short, st.integers(6, 12))
names = st.lists(short | long, min_size=1, max_size=5, unique=True)
changes = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from(["", *LETTERS])), min_size=0, max_size=5
)


def changed(text: str, edits: list[tuple[int, str]]) -> str:
    for place, letter in edits:
        at = place % (len(text) + 1)
        text = text[:at] + letter + text[at + (not letter) :]
    return text


@pytest.fixture(autouse=True)
def any_number_of_names_is_many() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("kbx_tui.search.query.name_index.FEW_NAMES", 0)
        yield


@settings(max_examples=50, deadline=None)
@given(names, st.lists(changes, min_size=1, max_size=5))
def test_all_similar_names_are_found(
    written: list[str], edits: list[list[tuple[int, str]]]
) -> None:
    entities = EntityColumn.of(Entity(f"note:{name}", name, "note", "") for name in written)
    misspelled = MisspelledNames(entities, make_names(entities, NO_STATE))
    texts = [changed(written[n % len(written)], edit) for n, edit in enumerate(edits)]
    texts = [text for text in texts if len(text) >= 6]
    found = dict[int, tuple[float, set[str]]]()
    for index, best, most_similar in misspelled.find(texts):
        found[index] = best, {name for _, name in most_similar}
    for index, text in enumerate(texts):
        folded = {entity.name: entity.name.casefold() for entity in entities}
        scores = {
            name: float(np.float32(fuzz.ratio(text, key)))
            for name, key in folded.items()
            if text == key or not (text.endswith(key) or key.endswith(text))
        }
        best = max(scores.values(), default=0.0)
        if best < SIMILAR:
            assert index not in found
        else:
            assert found[index] == (best, {name for name, score in scores.items() if score == best})


def test_similar_texts_differ_by_as_few_letters_as_their_lengths_allow() -> None:
    assert most_changes(6, 6) == 0  # one letter for another is two changes, 83 percent
    assert most_changes(6, 7) == 1
    assert most_changes(9, 9) == 2
    assert most_changes(6, 9) == -1


def test_what_is_stored_and_looked_up_is_bounded_however_long_a_name_or_a_query_is() -> None:
    entities = EntityColumn.of([Entity("note:long", "x" * 10_000, "note", "")])
    names = make_names(entities, NO_STATE)
    assert not len(names.pieces.hashes)
    ((index, similarity, _),) = MisspelledNames(entities, names).find(["y" * 9, "x" * 9_900 + "y"])
    assert (index, similarity > 99.0) == (1, True)
    runs = [len(runs_to_look_up(length)[0]) for length in range(2 * LONGEST_IN_PIECES)]
    assert max(runs) < 15_000
    assert len(runs_to_look_up(2000)[0]) == 0
