"""Setting frontmatter fields, and the content of new pages."""

import pytest

from kbx_tui.editing.page_edits import (
    LinkName,
    SetFields,
    Value,
    apply_field_edits,
    apply_link_edit,
    new_page,
    page_path,
    scalar,
)
from kbx_tui.errors import WriteFault

# ruff: noqa: E501  # a page before and after is clearest on one line


PATH = "memory/people/ada.md"


def edited(page: str, key: str, value: Value) -> str:
    return apply_field_edits(PATH, page.encode(), SetFields(((key, value),))).decode()


@pytest.mark.parametrize(
    ("page", "key", "value", "expected"),
    [
        ("---\nrole: SRE\n---\n", "role", "Lead", "---\nrole: Lead\n---\n"),
        ("---\nrole: 'SRE'   # since May\n---\n", "role", "A: b", "---\nrole: 'A: b'   # since May\n---\n"),
        ("---\nteam: '[[Data]]'\n---\n", "team", "Ops", "---\nteam: '[[Ops]]'\n---\n"),
        ("---\nteam: Data\n---\n", "team", "Ops", "---\nteam: Ops\n---\n"),
        ("---\nemail: a@b.c\nlead: x\n---\n", "role", "SRE", "---\nemail: a@b.c\nrole: SRE\nlead: x\n---\n"),
        ("---\nrole: SRE\n---\n", "company", "Acme", "---\nrole: SRE\ncompany: '[[Acme]]'\n---\n"),
        ("---\naliases:\n- A\n- B\nrole: x\n---\n", "aliases", ("C",), "---\naliases:\n- C\nrole: x\n---\n"),
        ("---\nrole: |\n  a\n  b\n# c\nx: y\n---\n", "role", "z", "---\nrole: z\n# c\nx: y\n---\n"),
        ("---\r\nrole: a\r\nx: y\r\n---\r\n", "role", None, "---\r\nx: y\r\n---\r\n"),
        ("---\nRole: a\n---\n", "role", "b", "---\nRole: b\n---\n"),
        ("---\ntitle: a: b\nrole: x\n---\n", "role", "y", "---\ntitle: a: b\nrole: y\n---\n"),
        ("# Ada\n", "role", "SRE", "---\nrole: SRE\n---\n# Ada\n"),
        ("# Ada\n\n**Role:** SRE\n", "role", "Lead", "# Ada\n\n**Role:** Lead\n"),
        ("---\n---\n# Ada\n", "role", "SRE", "---\nrole: SRE\n---\n# Ada\n"),
    ],
    ids=["plain", "comment", "link", "no-link", "order", "new-link", "list", "block", "removed",
         "case", "broken-yaml", "no-frontmatter", "legacy", "empty-frontmatter"],
)  # fmt: skip
def test_setting_a_field_changes_nothing_else(
    page: str, key: str, value: Value, expected: str
) -> None:
    assert edited(page, key, value) == expected


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "12:30", "1.0", "null", "a: b", "- x", "#x", "[[A]]", "it's", "2026-01-01",
     "2026-02-30", "0x_"],  # PyYAML raises a ValueError for the last two
)  # fmt: skip
def test_value_that_yaml_would_misread_is_quoted(text: str) -> None:
    assert scalar(text) == "'" + text.replace("'", "''") + "'"


def test_lone_surrogate_is_refused_in_a_new_page() -> None:
    with pytest.raises(WriteFault):
        new_page("person", "Ada", {"role": "a\ud800"})


def test_field_changed_since_it_was_read_is_not_overwritten() -> None:
    edit = SetFields((("role", "Lead"),), (("role", "SRE"),))
    with pytest.raises(WriteFault, match="role is now 'Boss'"):
        apply_field_edits(PATH, b"---\nrole: Boss\n---\n", edit)


@pytest.mark.parametrize("key", ["a: b", "x\ny: z", "[a]", ""])
def test_invalid_field_name_is_refused(key: str) -> None:
    with pytest.raises(WriteFault, match=r"not a valid field name"):
        edited("---\nrole: x\n---\n", key, "v")


def test_new_page_has_the_layout_of_kbx() -> None:
    page = new_page("person", "Zed Mo", {"role": "Eng", "aliases": ("ZM",), "team": "Ops"})
    assert page.decode() == "---\naliases:\n- ZM\nrole: Eng\nteam: '[[Ops]]'\n---\n# Zed Mo\n"
    assert new_page("person", "Zed", {}) == b"# Zed\n"
    assert new_page("team", "Ops", {}) == b"---\ntype: team\n---\n# Ops\n"
    assert page_path("person", "Jérôme Côté", "memory/") == "memory/people/jerome-cote.md"
    assert page_path("company", "Acme", "memory/") == "memory/companies/acme.md"
    with pytest.raises(WriteFault, match="no letter"):
        page_path("person", "…", "")


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("Ann Lee", {"a: b": "c"}, "not a valid field name"),
        ("Ann Lee", {"---": "c"}, "not a valid field name"),
        ("Ann Lee", {"Role": "x", "role": "y"}, "role is given twice"),
        ("C# #", {}, "cannot be the heading"),
    ],
)
def test_new_page_that_would_read_differently_is_refused(
    name: str, fields: dict[str, Value], message: str
) -> None:
    with pytest.raises(WriteFault, match=message):
        new_page("person", name, fields)


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
