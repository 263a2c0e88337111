"""Transferring links and emphasis between texts, and texts with their markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.drafting.deciding import LONGEST, transfer_markup
from kbx_tui.editing.fact_edits import verbatim_fact_texts
from kbx_tui.knowledge.fact_line import read_fact_line
from kbx_tui.knowledge.inline import strip_markup


@pytest.mark.parametrize(
    ("text", "source", "expected"),
    [
        ("async Slack, always", "async **Slack**", "async **Slack**, always"),
        ("runs kubectl apply by hand", "runs `kubectl apply`", "runs `kubectl apply` by hand"),
        ("a b c d", "a _b_ __c__ *d*", "a _b_ __c__ *d*"),
        ("met Ann and Bob", "met **[[Ann]]**", "met **[[Ann]]** and Bob"),
        ("in a while: a call", "**a** call", "in a while: **a** call"),
        ("is **async** on async days", "is **async**", "is **async** on async days"),
        ("the **whole async** thing", "the **async** thing", "the **whole async** thing"),
        ("asynchronous Slack", "**async** Slack", "asynchronous Slack"),
        ("Async Slack", "**async** Slack", "Async Slack"),
        ("see the plan", "see the **plan** *now*", "see the **plan**"),
        ("5 * 3 is 15", "5 * 3", "5 * 3 is 15"),
    ],
    ids=[
        "bold", "code", "every-emphasis", "link-inside-bold", "same-context", "already-marked",
        "inside-other-markup", "longer-word", "different-case", "some-words-missing", "no-markup",
    ],
)  # fmt: skip
def test_markup_is_transferred_to_the_same_words(text: str, source: str, expected: str) -> None:
    assert transfer_markup(text, source) == expected


def test_text_without_the_words_of_a_link_is_refused() -> None:
    assert transfer_markup("met Bob", "met [[Ann]]") is None
    assert transfer_markup("met [[x|Ann]]", "met [[Ann]]") is None


def test_texts_too_long_to_compare_are_refused() -> None:
    assert transfer_markup("a " * LONGEST, "*a*") is None


@given(
    st.lists(st.sampled_from(["async", "Slack", "**Slack**", "_a_", "`a`", "a", "*a*", "(", "*"])),
    st.lists(st.sampled_from(["**async**", "_Slack_", "`a`", "*a* b", "a", "(", "_"])),
)
def test_markup_never_changes_how_the_text_reads(text: list[str], source: list[str]) -> None:
    marked = transfer_markup(" ".join(text), " ".join(source))
    assert marked is not None
    assert strip_markup(marked) == strip_markup(" ".join(text))


@pytest.mark.parametrize(
    ("line", "verbatim"),
    [
        ("prefers **async** Slack (source: [[Log]])", "prefers **async** Slack"),
        ("prefers **async** (source: chat) Slack", "prefers **async** Slack"),
        ("[2026-01-02] (confidence: .9) `async` first", "(confidence: .9) `async` first"),
    ],
    ids=["note-at-the-end", "note-inside", "no-note"],
)
def test_verbatim_text_keeps_markup_and_drops_notes(line: str, verbatim: str) -> None:
    page = f"# Ada\n\n## Facts\n- {line}\n".encode()
    (text,) = verbatim_fact_texts("memory/people/ada.md", page).values()
    assert text == verbatim
    assert read_fact_line(text).text == read_fact_line(line).text
