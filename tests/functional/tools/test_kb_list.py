"""kbx_list: pages below a path, and the lines in them that contain a text."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.tools.dispatch import answer_call
from tests.functional.vaults import index_vault

LONG = f"{'a ' * 400}the needle is here{' b' * 400}"
PAGES = {
    "memory/notes/one.md": "---\ndate: 2026-03-01\nneedle: yes\n---\n# One\n\nTwo needles.\n"
    + "".join(f"- NEEDLE {number}\n" for number in range(8)),
    "memory/notes/deep/two.md": f"# Two\n\n{LONG}\n",
    "memory/people/zoe.md": "# Zoé Ágh\n\n## Facts\n- Sews with a nee\u0301dle, 50 % (a+)+$ [x]\n",
    "memory/people/empty.md": "# Empty\n",
}


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path / "base", PAGES, fast=True)) as opened:
        yield opened


def listed(kb: KnowledgeBase, **arguments: Any) -> dict[str, Any]:
    answer = answer_call(lambda: kb, "kbx_list", arguments)
    assert answer.failure is None, answer.json
    return answer.json


def test_pages_are_listed_by_path(kb: KnowledgeBase) -> None:
    answer = listed(kb)
    assert [page["path"] for page in answer["pages"]] == sorted(PAGES)
    assert answer["total"] == 4
    below = listed(kb, path="memory/notes/", limit=1)
    assert ([page["title"] for page in below["pages"]], below["total"]) == (["Two"], 2)
    (one,) = listed(kb, path="memory/notes/*.md")["pages"]
    assert (one["date"], one["lines"], one["more_lines"]) == ("2026-03-01", [], 0)
    none = listed(kb, path="memory/note")
    assert none["pages"] == []
    assert none["notes"][0] == "there are no documents in memory/note; did you mean memory/notes?"


def test_lines_that_contain_a_text_are_those_that_kb_get_reads(kb: KnowledgeBase) -> None:
    answer = listed(kb, text="needle")
    assert answer["total"] == 3
    two, one, zoe = answer["pages"]
    assert zoe["lines"][0]["text"].startswith("- Sews with")  # accents are ignored
    assert "the needle is here" in two["lines"][0]["text"]
    assert len(two["lines"][0]["text"]) <= 300
    assert [line["line"] for line in one["lines"]] == [7, 8, 9, 10, 11]  # no property
    assert one["more_lines"] == 4
    for page in (one, zoe):
        for line in page["lines"]:
            params = {"id": page["path"], "lines": str(line["line"])}
            got = answer_call(lambda: kb, "kb_get", params).json
            assert got["data"]["content"].rstrip("\n") == line["text"]


@pytest.mark.parametrize("text", ["(a+)+$", "50 %", "[x]", "Á", "NÉEDLE,"])
def test_special_characters_of_a_text_mean_themselves(kb: KnowledgeBase, text: str) -> None:
    assert "memory/people/zoe.md" in [page["path"] for page in listed(kb, text=text)["pages"]]
    assert listed(kb, text="n.*dle")["pages"] == []


def test_what_cannot_be_listed_is_said(kb: KnowledgeBase, tmp_path: Path) -> None:
    for arguments in (
        {"text": "a\nb"},
        {"path": "../elsewhere"},
        {"limit": 0},
        {"text": "x" * 501},
    ):
        answer = answer_call(lambda: kb, "kbx_list", arguments)
        assert answer.failure is not None
        assert answer.failure.type == "VALIDATION"
    (tmp_path / "none").mkdir()
    with KnowledgeBase(tmp_path / "none") as unindexed:
        empty = listed(unindexed, text="needle")
    assert (empty["pages"], empty["total"], len(empty["notes"])) == ([], 0, 1)


def test_a_mark_that_was_just_set_holds(kb: KnowledgeBase) -> None:
    page = kb.root / "memory/people/zoe.md"
    assert listed(kb, text="sews with")["total"] == 1
    assert listed(kb, text="needle", limit=1)["total"] == 3
    page.write_text(page.read_text("utf-8").replace("[x]", "#redacted"), encoding="utf-8")
    first = listed(kb, text="needle", limit=1)
    assert ([each["title"] for each in first["pages"]], first["total"]) == (["Two"], 2)
    assert listed(kb, text="sews with")["pages"] == []
