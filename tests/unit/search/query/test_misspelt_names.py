"""Which full names are similar to a text: all of them, however few are compared by spelling."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz import fuzz

from kbx_tui.index.stored_names import SIMILAR, make_names, most_changes
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.text_columns import TextColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query import name_index
from kbx_tui.search.query.name_index import MisspeltNames

LETTERS = "abcdeж漢"
short = st.text(LETTERS, min_size=6, max_size=30)
long = st.builds(lambda end, times: "cabbage" * times + end, short, st.integers(6, 12))
names = st.lists(short | long, max_size=5, unique=True)
changes = st.lists(
    st.tuples(st.integers(0, 30), st.sampled_from(["", *LETTERS])), min_size=0, max_size=5
)


def names_of(*written: str) -> MisspeltNames:
    entities = EntityColumn.of(Entity(f"note:{name}", name, "note", "") for name in written)
    return MisspeltNames(entities, make_names(entities, NO_STATE))


def changed(text: str, edits: list[tuple[int, str]]) -> str:
    for place, letter in edits:
        at = place % (len(text) + 1)
        text = text[:at] + letter + text[at + (not letter) :]
    return text


@settings(max_examples=50, deadline=None)
@given(names, st.lists(changes, min_size=1, max_size=5))
def test_all_similar_names_are_found(
    written: list[str], edits: list[list[tuple[int, str]]]
) -> None:
    texts = [changed(written[n % len(written)], edit) for n, edit in enumerate(edits) if written]
    texts = [text for text in [*texts, "abcabc"] if len(text) >= 6]
    found = {index: (best, near) for index, best, near in names_of(*written).find(texts)}
    for index, text in enumerate(texts):
        scores = {
            (number, name): fuzz.ratio(text, name.casefold())
            for number, name in enumerate(written)
            if text == name or not (text.endswith(name) or name.endswith(text))
        }
        best = max(scores.values(), default=0.0)
        nearest = [name for name, score in scores.items() if score == best]
        assert found.get(index) == (None if best < SIMILAR else (best, nearest))


def test_equally_similar_names_come_in_the_order_of_the_entities() -> None:
    ((index, _, found),) = names_of("Ruth Millers", "Ruth Biot", "Ruth Muller").find(["ruthmxller"])
    assert (index, found) == (0, [(2, "Ruth Muller")])
    ((_, _, found),) = names_of("Ruth Muller", "Ruth Miller").find(["ruthmxller"])
    assert found == [(0, "Ruth Muller"), (1, "Ruth Miller")]


def test_similar_texts_differ_by_as_few_letters_as_their_lengths_allow() -> None:
    assert most_changes(6, 6) == 0  # one letter for another is two changes, 83 percent
    assert most_changes(6, 7) == 1
    assert most_changes(9, 9) == 2
    assert most_changes(6, 9) == -1


def test_a_very_long_name_is_compared_too() -> None:
    ((index, similarity, _),) = names_of("x" * 10_000).find(["y" * 9, "x" * 9_900 + "y"])
    assert (index, similarity > 99.0) == (1, True)


def test_few_names_of_few_letters_are_compared_by_spelling(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = list[int]()

    class Counted(TextColumn):
        def _at(self, row: int) -> str:
            compared.append(row)
            return super()._at(row)

    monkeypatch.setattr(name_index, "TextColumn", Counted)
    chosen = random.Random(5)
    written = ["".join(chosen.choices("aeiouklmnprst", k=10)) for _ in range(2000)]
    names = names_of(*written)
    texts = [name[:4] + name[5:] for name in written[:20]]
    assert len(list(names.find(texts))) == 20
    assert len(compared) < 200  # of 40,000; by the mere set of letters, 534
