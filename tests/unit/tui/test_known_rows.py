"""The rows of known facts in the drafts mode."""

from dataclasses import replace

import pytest

from kbx_tui.drafting.drafts import new_draft
from kbx_tui.drafting.texts import difference
from kbx_tui.tui.dedup.panes import DraftList, detail_lines, known_line, open_place_line
from kbx_tui.tui.dedup.rows import KnownRow, draft_row, known_words


@pytest.mark.parametrize("width", [40, 140])
def test_the_row_under_the_cursor_gives_its_reason_once(width: int) -> None:
    why, known, draft = "one denies the other: no → yes", "Takes no tea", "Takes tea"
    pair = difference(draft, known, ())
    row = KnownRow(known, 0.9, "conflict", True, "people/ada.md:14", why, pair)
    lines = [open_place_line(row, width), *detail_lines(row, width)]
    text = " ".join("".join(span.text for span in line) for line in lines)
    assert text.count("one denies") == 1
    row = replace(row, relation="refines", why="one is more exact: “no” / “iced”")
    lines = [open_place_line(row, width), *detail_lines(row, width)]
    text = " ".join("".join(span.text for span in line) for line in lines)
    assert "one is more exact" in text and "“no”" not in text  # the words are in brackets


@pytest.mark.parametrize(("width", "below"), [(40, "Alice Chen leads the platform team"), (80, "")])
def test_of_texts_that_say_something_else_the_known_one_is_shown_whole(
    width: int, below: str
) -> None:
    text = "Alice Chen leads the platform team"
    row = KnownRow(text, 0.6, "related", False, "teams/platform.md:12", "", None)
    lines = detail_lines(row, width)
    assert " ".join("".join(span.text for span in line).strip() for line in lines) == below
    assert "[words]" not in dict(known_words(row))


def test_an_unwritten_draft_is_marked_among_known_facts() -> None:
    pair = difference("a", "b", ())
    row = KnownRow("Takes tea", 0.9, "duplicate", True, "draft 2 of this batch", "", pair)
    assert "".join(span.text for span in known_line(row, 80)).endswith(" draft ")


@pytest.mark.parametrize("relation", ["duplicate", "refines", "similar"])
def test_a_known_fact_that_decides_is_near_as_its_draft_is(relation: str) -> None:
    pair = difference("a", "b", ())
    row = KnownRow("Takes tea", 0.9, relation, True, "people/ada.md:14", "", pair)
    assert "".join(span.text for span in known_line(row, 60)).startswith("  .90 near       Takes")
    (label, meaning), *_ = known_words(row)
    assert label == ".90 near" and "Here: " in meaning


@pytest.mark.parametrize(
    ("relation", "score", "shown"),
    [
        ("exact", 1.0, " 1.00 exact      Takes"),
        ("similar", 0.999, "  .99 near       Takes"),
        ("conflict", 0.999, "      conflict   Takes"),
    ],
)
def test_only_equal_texts_have_the_full_score_and_conflicts_none(
    relation: str, score: float, shown: str
) -> None:
    row = KnownRow("Takes tea", score, relation, True, "people/ada.md:14", "", None)
    assert "".join(span.text for span in known_line(row, 60)).startswith(shown)
    (label, meaning), *_ = known_words(row)
    assert meaning[0].isupper()
    assert label == " ".join(shown.split()[:-1])


def test_the_outcome_of_a_draft_keeps_its_place_under_the_cursor() -> None:
    drafts = DraftList()
    drafts.rows = tuple(draft_row(new_draft(text), None, None) for text in ("Likes jam", "Runs"))
    under, other = (
        "".join(span.text for span in drafts.row_line(row, 0, 76)).index("checking")
        for row in range(2)
    )
    assert under == other
    below = "".join(span.text for span in drafts.row_line(0, 1, 76))
    assert below == "   … · fact"


def test_a_draft_that_is_still_checked_does_not_show_an_id() -> None:
    draft = replace(new_draft("Likes jam"), entity_id="person:priya-nair")
    assert draft_row(draft, None, None).about == "… · fact"
