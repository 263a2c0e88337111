"""`kbx search --html`: where the page goes, and what else is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.functional.vaults import write_vault
from tests.parsed_page import ParsedPage


def test_a_page_is_written_once_and_replaced_only_with_force(
    kbx: CommandLine, demo_kb_path: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    search = ("search", "rollback", "--fast", "--kb", demo_kb_path, "--html", page)
    ran = kbx(*search)
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == f"kbx: 7 results written to {page}\n"
    refused = kbx(*search, "--limit", "2")
    assert refused.code == 7
    assert refused.err == f"kbx: {page} exists and was left as it is; --force replaces it\n"
    assert kbx(*search, "--limit", "2", "--force").code == 0
    assert "--fast --limit 2 rollback" in ParsedPage(page.read_text("utf-8")).text


def test_a_dash_is_stdout(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("search", "rollback", "--fast", "--kb", demo_kb_path, "--html", "-")
    assert ran.code == 0
    assert ran.out.startswith("<!doctype html>")
    assert ran.err == ""


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--html", "none/page.html"], 7, "there is no folder none"),
        (["--html", "."], 7, ". is not a file; name a file for the page, or - for stdout"),
        (["--html", "x.html", "--json"], 2, "--html and --json are two outputs"),
        (["--force"], 2, "--force lets --html FILE replace a file"),
    ],
)
def test_what_cannot_be_written_is_one_sentence(
    kbx: CommandLine, demo_kb_path: Path, options: list[str], code: int, message: str
) -> None:
    ran = kbx("search", "rollback", "--fast", "--kb", demo_kb_path, *options)
    assert (ran.code, ran.out) == (code, "")
    assert message in ran.err
    assert ran.err.count("\n") == 1


def test_a_page_of_several_bases_names_the_base_of_each_result(
    kbx: CommandLine, tmp_path: Path
) -> None:
    home = write_vault(tmp_path / "home", {"a.md": "# Rollback plan\n", "people/bo.md": "# Bo\n"})
    work = write_vault(tmp_path / "work", {"b.md": "# Tea\n\nrollback\n"})
    ran = kbx("search", "rollback", "--fast", "--kb", home, "--kb", work, "--html", "-")
    text = ParsedPage(ran.out).text
    assert "Search in home, work" in text
    assert "home · note · a.md:" in text
    assert "work · note · b.md:" in text
    assert "kbx search --kb home --kb work --fast rollback" in text
    assert str(tmp_path) not in ran.out
