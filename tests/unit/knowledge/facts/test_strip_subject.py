"""Stripping the entity name at the beginning of a text."""

from __future__ import annotations

import pytest

from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.records import Entity

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
