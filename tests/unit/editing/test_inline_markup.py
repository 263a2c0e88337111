import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.editing.fact_edits import texts_as_written
from kbx_tui.editing.inline_markup import LONGEST, with_markup
from kbx_tui.knowledge.facts.fact_line import read_fact_line
from kbx_tui.knowledge.parsing.inline import plain_text


@pytest.mark.parametrize(
    ("text", "written", "expected"),
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
        "bold", "code", "each sort", "a link within", "the same place", "already so",
        "within its own", "other words", "another case", "some of it", "no markup",
    ],
)  # fmt: skip
def test_markup_stays_where_the_words_do(text: str, written: str, expected: str) -> None:
    assert with_markup(text, written) == expected


def test_a_text_without_the_words_of_a_link_cannot_hold_it() -> None:
    assert with_markup("met Bob", "met [[Ann]]") is None
    assert with_markup("met [[x|Ann]]", "met [[Ann]]") is None


def test_texts_too_long_to_compare_are_left() -> None:
    assert with_markup("a " * LONGEST, "*a*") is None


@given(
    st.lists(st.sampled_from(["async", "Slack", "**Slack**", "_a_", "`a`", "a", "*a*", "(", "*"])),
    st.lists(st.sampled_from(["**async**", "_Slack_", "`a`", "*a* b", "a", "(", "_"])),
)
def test_it_reads_as_before(text: list[str], written: list[str]) -> None:
    marked = with_markup(" ".join(text), " ".join(written))
    assert marked is not None
    assert plain_text(marked) == plain_text(" ".join(text))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("prefers **async** Slack (source: [[Log]])", "prefers **async** Slack"),
        ("prefers **async** (source: chat) Slack", "prefers **async** Slack"),
        ("[2026-01-02] (confidence: .9) `async` first", "(confidence: .9) `async` first"),
    ],
    ids=["notes behind", "a note within", "no note"],
)
def test_a_fact_is_known_as_it_is_written(line: str, said: str) -> None:
    page = f"# Ada\n\n## Facts\n- {line}\n".encode()
    (found,) = texts_as_written("memory/people/ada.md", page).values()
    assert found == said
    assert read_fact_line(found).text == read_fact_line(line).text
