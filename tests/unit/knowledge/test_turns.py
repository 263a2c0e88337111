"""Turns are found by the lines that name a speaker, and by no others."""

import pytest

from kbx_tui.knowledge.turns import turns_of


def said(body: str, *attendees: str) -> list[tuple[str, str]]:
    return [(turn.speaker, body[turn.start : turn.end]) for turn in turns_of(body, attendees)]


@pytest.mark.parametrize(
    "label",
    [
        "Dana:",
        "**Dana:**",
        "**Dana**:",
        "Dana (10:32):",
        "**Dana** (1:10:32):",
        "**Dana (10:32):**",
        "[10:32] Dana:",
        "10:32 - Dana:",
        "- Dana:",
        "Dana (she/her):",
        "**Dana (Guest):**",
        "**Dana | Acme & Sons:**",
    ],
)
def test_a_line_with_a_label_begins_a_turn_that_lasts_until_the_next(label: str) -> None:
    body = f"{label} first\n\nand more\n\nTom: no\n\n{label} second\n"
    assert said(body) == [
        ("Dana", f"{label} first\n\nand more"),
        ("Tom", "Tom: no"),
        ("Dana", f"{label} second"),
    ]


def test_a_family_name_comes_first_only_in_a_label_that_stands_out() -> None:
    body = "**Kim, Dana:** one\n\n**Ellis, Tom:** two\n\nIn May, Tom: so\n\n**Kim, Dana:** four\n"
    assert [speaker for speaker, _ in said(body)] == ["Kim, Dana", "Ellis, Tom", "Kim, Dana"]


def test_an_attendee_may_be_called_like_a_head_of_a_list() -> None:
    body = "**Price, Dana:** one\n\nTom: two\n\n**Price, Dana:** three\n"
    assert said(body) == []
    assert [speaker for speaker, _ in said(body, "Dana Price")] == [
        "Price, Dana", "Tom", "Price, Dana",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "label", ["A. Kowalczyk:", "**Chen, A. B.:**", "Participant 1:", "Ann Day:"]
)
def test_initials_and_numbers_are_parts_of_names(label: str) -> None:
    assert len(said(f"{label} one\n\nTom: two\n\n{label} three\n")) == 3


def test_lines_that_name_nobody_end_a_turn() -> None:
    for line in (
        "Note: later",
        "TODO: call",
        "Date: 3 March",
        "**Decision:** yes",
        "**Next Steps, Owners:** Tom",
        "**Risk, High:** none",
        "**Strengths, Weaknesses:** both",
        "Version 2 (Beta): out",
        "**Phase 1 (Discovery):** done",
        "## Rest",
        "- [redacted]",
    ):
        body = f"Dana: one\n\nTom: two\n\nDana: three\n\n{line}\n\nmore\n"
        assert [speaker for speaker, _ in said(body)] == ["Dana", "Tom", "Dana"]
        assert said(body)[-1][1] == "Dana: three"


@pytest.mark.parametrize(
    "body",
    [
        "Budget: 40\n\nDeadline: May\n\nBudget: 50\n",
        "Dana: sends the list\n",
        "**Pros, Cons:** a\n\n**Risk, High:** b\n\n**Pros, Cons:** c\n",
        "Version 1 (Beta): a\n\nVersion 2 (Beta): b\n\nVersion 1 (Beta): c\n",
        "**Option 1 | Cheap:** a\n\n**Step 2:** b\n\n**Option 1 | Cheap:** c\n",
        "## Actions\n\nDana: sends the list\nTom: calls\nDana: pays\n",
        "```\nDana: one\nTom: two\nDana: three\n```\n",
        "http://example.com\nkey:: value\nkey:: other\n",
        "the plan is: one\nand the rest is: two\nthe plan is: three\n",
    ],
)
def test_other_lists_of_names_have_no_speakers(body: str) -> None:
    assert said(body, "Dana Kim", "Tom Ellis") == []


def test_two_attendees_who_speak_once_each_are_a_dialogue() -> None:
    assert said("Dana: yes\n\nTom: no\n", "Dana Kim", "Tom Ellis")[1] == ("Tom", "Tom: no")
    assert said("Dana: yes\n\nTom: no\n") == []


def test_a_hostile_page_is_read_in_one_pass() -> None:
    assert said("A" * 200_000 + ":\n") == []
    assert said("**" * 100_000) == []
    assert said(f"**{'A, ' * 30}({'x' * 39}\n" * 2_000 + ":\n") == []
    assert said(f"**{'Aa ' * 20}, {'Bb ' * 20} | {'c' * 39} x:\n" * 2_000) == []
    assert len(said("Dana: a\nTom: b\n" * 20_000)) == 40_000
    strangers = "".join(
        f"Guest {chr(65 + number % 26)}{number}: hello\n" for number in range(5_000)
    )
    assert said(strangers, *(f"Person {number}" for number in range(5_000))) == []
