"""Fields of frontmatter are set one by one; everything around them stays."""

# ruff: noqa: E501  # a page before and after reads best on one line

from __future__ import annotations

import pytest

from kbx_tui.editing.field_edits import SetFields, Value, edit_fields, scalar
from kbx_tui.editing.page_edits import new_page, page_path
from kbx_tui.errors import WriteFault

PATH = "memory/people/ada.md"


def edited(page: str, key: str, value: Value) -> str:
    return edit_fields(PATH, page.encode(), SetFields(((key, value),))).decode()


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
def test_one_field_changes_and_nothing_else(
    page: str, key: str, value: Value, expected: str
) -> None:
    assert edited(page, key, value) == expected


@pytest.mark.parametrize(
    "text",
    ["yes", "no", "12:30", "1.0", "null", "a: b", "- x", "#x", "[[A]]", "it's", "2026-01-01"],
)
def test_a_value_that_yaml_would_misread_is_quoted(text: str) -> None:
    assert scalar(text) == "'" + text.replace("'", "''") + "'"


def test_a_field_that_somebody_changed_is_not_overwritten() -> None:
    edit = SetFields((("role", "Lead"),), (("role", "SRE"),))
    with pytest.raises(WriteFault, match="role is 'Boss' by now"):
        edit_fields(PATH, b"---\nrole: Boss\n---\n", edit)


@pytest.mark.parametrize("key", ["a: b", "x\ny: z", "[a]", ""])
def test_a_name_of_a_field_is_a_word(key: str) -> None:
    with pytest.raises(WriteFault, match=r"name of a field|cannot be set"):
        edited("---\nrole: x\n---\n", key, "v")


def test_a_page_is_made_as_kbx_makes_it() -> None:
    page = new_page("person", "Zed Mo", {"role": "Eng", "aliases": ("ZM",), "team": "Ops"})
    assert page.decode() == "---\naliases:\n- ZM\nrole: Eng\nteam: '[[Ops]]'\n---\n# Zed Mo\n"
    assert new_page("person", "Zed", {}) == b"# Zed\n"
    assert new_page("team", "Ops", {}) == b"---\ntype: team\n---\n# Ops\n"
    assert page_path("person", "Jérôme Côté", "memory/") == "memory/people/jerome-cote.md"
    with pytest.raises(WriteFault, match="no letter"):
        page_path("person", "…", "")


@pytest.mark.parametrize(
    ("name", "fields", "words"),
    [
        ("Ann Lee", {"a: b": "c"}, "cannot be the name of a field"),
        ("Ann Lee", {"---": "c"}, "cannot be the name of a field"),
        ("Ann Lee", {"Role": "x", "role": "y"}, "role is given twice"),
        ("C# #", {}, "cannot be the heading"),
    ],
)
def test_a_page_that_would_read_otherwise_is_not_made(
    name: str, fields: dict[str, Value], words: str
) -> None:
    with pytest.raises(WriteFault, match=words):
        new_page("person", name, fields)


def test_a_company_goes_to_the_companies() -> None:
    assert page_path("company", "Acme", "memory/") == "memory/companies/acme.md"
