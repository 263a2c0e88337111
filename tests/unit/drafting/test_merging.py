"""One sentence from a draft and a known fact, as a person would write it."""

from __future__ import annotations

import pytest

from kbx_tui.drafting.deciding import merged_text, one_sentence


@pytest.mark.parametrize(
    ("text", "known", "merged"),
    [
        ("runs the rota", "runs the weekly rota", "runs the weekly rota"),
        ("runs the weekly rota", "runs the rota", "runs the weekly rota"),
        ("likes tea.", "likes milk.", "likes milk and tea."),
        ("takes tea.", "likes milk.", "likes milk; takes tea."),
        (
            "Likes tea with milk and sugar",
            "likes cake.",
            "likes cake; Likes tea with milk and sugar",
        ),
        (
            "leads the crew (source: x)",
            "Leads the harbour",
            "Leads the harbour and crew (source: x)",
        ),
        (
            "runs the rota with Bob since May (source: [[Kickoff]])",
            "runs the [[Rota|rota]] with [Bob](bob.md)",
            "runs the [[Rota|rota]] with [Bob](bob.md) since May (source: [[Kickoff]])",
        ),
        (
            "likes tea (source: x)",
            "likes *milk* and [[Oats]]",
            "likes *milk* and [[Oats]]; likes tea (source: x)",
        ),
        (
            "prefers async Slack over email (source: on async work)",
            "prefers **async** Slack",
            "prefers **async** Slack over email (source: on async work)",
        ),
    ],
    ids=[
        "subset",
        "superset",
        "begin-alike",
        "different",
        "several-ends",
        "begin-alike-with-notes",
        "links",
        "missing-link",
        "emphasis",
    ],
)
def test_merged_text_contains_both_texts(text: str, known: str, merged: str) -> None:
    assert merged_text(text, known) == merged


def test_no_sentence_is_made_of_texts_that_begin_differently() -> None:
    assert one_sentence("takes tea", "likes milk") == ""
    assert one_sentence("likes tea", "likes tea with [[Bob]]") == "likes tea with [[Bob]]"
