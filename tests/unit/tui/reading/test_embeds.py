"""Embedded notes are quoted below the line that embeds them."""

from kbx_tui.tui.reading.documents import MOST_LINES, passage_of, with_passages
from kbx_tui.tui.reading.markdown_lines import Preview, render_inline

NOTE = [
    "---",
    "type: note",
    "---",
    "# Plan",
    "",
    "**Go** on",
    "## Steps",
    "one",
    "![[Other]]",
    "# End",
]


def test_a_note_is_quoted_without_frontmatter_and_title() -> None:
    passage = passage_of(NOTE, 0, frozenset({8}))
    assert passage.lines == ("> Go on", "> ## Steps", "> one", "> Other", "> # End")
    assert passage.redacted == {2}
    assert passage.emphasis[0][0][:2] == (2, 4)


def test_a_section_ends_at_the_next_heading_not_below_it_and_a_long_note_is_cut() -> None:
    assert passage_of(NOTE, 7, frozenset()).lines == ("> one", "> Other")

    lines = passage_of([f"line {n}" for n in range(40)], 0, frozenset()).lines
    assert len(lines) == MOST_LINES + 1
    assert lines[-1] == f"> … {40 - MOST_LINES} more lines"


def test_lines_below_a_passage_keep_the_numbers_of_the_file() -> None:
    lines, kinds, links, emphasis = render_inline(["first", "![[Plan]]", "by [[Bob]]", "*last*"])
    text = Preview("a.md", "A", "", lines, links=links, kinds=kinds, emphasis=emphasis)
    shown = with_passages(text, {2: [passage_of(NOTE, 7, frozenset({8}))]})
    assert shown.lines == ("first", "Plan", "> one", "> Other", "by Bob", "last")
    assert list(shown.file_lines) == [1, 2, 2, 2, 3, 4]
    assert [shown.shown_line(line) for line in (0, 1, 2, 3, 4)] == [0, 1, 2, 5, 6]
    assert [shown.is_own(line) for line in range(1, 7)] == [True, True, False, False, True, True]
    assert shown.redacted == {3}
    assert [link.place.line for link in shown.links] == [2, 5]
    assert list(shown.emphasis) == [6]
