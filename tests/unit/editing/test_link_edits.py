"""A name becomes a link by a splice that leaves every other byte as it was."""

from __future__ import annotations

import pytest

from kbx_tui.editing.page_edits import LinkName, apply_link_edit
from kbx_tui.errors import WriteFault

PAGE = "---\ntitle: Café\n---\r\nThe  plan\tis here, plan.\r\n\r\n\x0c| a | plan |\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_all_other_bytes_stay(encoding: str) -> None:
    data = PAGE.encode(encoding)
    after = apply_link_edit("a.md", data, LinkName(4, 19, "plan", "[[notes/plan|plan]]"))
    assert after == PAGE.replace("plan.", "[[notes/plan|plan]].").encode(encoding)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("see [[the plan b]]\n", 1, 10),
        ("see `the plan`\n", 1, 9),
        ("```\nthe plan\n```\n", 2, 4),
        ("---\ntitle: plan\n---\n", 2, 7),
        ("the plan\n", 1, 3),
        ("the plan\n", 2, 4),
        ("the plan\n", 1, 8),
        ("see [the plan](x.md)\n", 1, 9),
        ("see #plan\n", 1, 5),
        ("plan:: done\n", 1, 0),
    ],
)
def test_a_name_that_moved_or_is_part_of_something_else_is_refused(
    text: str, line: int, column: int
) -> None:
    with pytest.raises(WriteFault, match=r"a\.md:"):
        apply_link_edit("a.md", text.encode(), LinkName(line, column, "plan", "[[plan]]"))
