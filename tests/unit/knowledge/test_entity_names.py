"""Stripping the entity name at the beginning of a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.entity_names import other_spellings, strip_subject, title_keys
from kbx_tui.knowledge.records import Entity


def test_last_word_of_a_name_changes_number() -> None:
    assert other_spellings("throw expressions") == ["throw expression"]
    assert other_spellings("Iterator Helper") == ["Iterator Helpers"]
    assert other_spellings("Private Classes") == ["Private Class"]
    assert other_spellings("Canvas Design") == ["Canvas Designs"]

    assert other_spellings("Observable") == ["Observables"]
    for name in ("Windows", "2026", "日本", "US", "News"):
        assert other_spellings(name) == []


@pytest.mark.parametrize("name", ["Record & Tuple", "Records and Tuples"])
def test_words_joined_by_and_or_ampersand_change_number_together(name: str) -> None:
    spellings = {"Record and Tuple", "Records & Tuples", "Records and Tuples", "Record & Tuple"}
    assert spellings <= {name, *other_spellings(name)}


@given(st.text(max_size=20))
def test_any_text_has_spellings_and_title_keys(name: str) -> None:
    assert name not in other_spellings(name)
    assert title_keys(name)


def test_title_keys_drop_punctuation_and_read_ampersand_as_and() -> None:
    assert title_keys("For-in order") == ("for in order",)
    assert title_keys("Records & Tuples!") == ("records tuples", "records and tuples")


ALICE = Entity("person:alice-chen", "Alice Chen", "person", "p", aliases=("AC",))
PLATFORM = Entity("team:platform", "Platform", "team", "t")


@pytest.mark.parametrize(
    ("text", "entity", "stripped"),
    [
        ("Alice Chen favours async Slack", ALICE, "favours async Slack"),
        ("alice favours async Slack", ALICE, "favours async Slack"),
        ("AC: favours async Slack", ALICE, "favours async Slack"),
        ("Alice's team owns deploys", ALICE, "Alice's team owns deploys"),
        ("Alicent rows far", ALICE, "Alicent rows far"),
        ("Alice rows", ALICE, "Alice rows"),
        ("Alice Chen rows", ALICE, "Alice Chen rows"),
        ("The platform team owns deploys", PLATFORM, "owns deploys"),
        ("Owns deploys", PLATFORM, "Owns deploys"),
        ("Alice Chen leads Platform", PLATFORM, "Alice Chen leads Platform"),
        ("Alice Chen leads Platform", None, "Alice Chen leads Platform"),
    ],
)
def test_name_is_stripped_if_two_words_remain(
    text: str, entity: Entity | None, stripped: str
) -> None:
    assert strip_subject(text, entity) == stripped
