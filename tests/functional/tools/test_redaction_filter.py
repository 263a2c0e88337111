"""What the redaction filter does to an answer, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.api.documents import Documents
from kbx_tui.knowledge.public_page import PublicPage
from kbx_tui.tools.answers import Answer, PageDiff, PagePath, Passage
from kbx_tui.tools.dispatch import call
from kbx_tui.tools.redaction_filter import pass_on

ADA = "memory/people/ada.md"
BOB = "memory/people/bob.md"


class Row(Answer):
    about = "path"

    path: PagePath
    text: Passage
    plain: str = ""


class Rows(Answer):
    rows: list[Row]


class Change(Answer):
    diff: PageDiff


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("ada", "bob"):
        file = tmp_path / f"memory/people/{name}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = "\n".join(f"- {name.title()} mends boat {number}" for number in range(3))
        file.write_text(f"# {name.title()}\n\nOf the harbour.\n\n## Facts\n{lines}\n", "utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index()
    return tmp_path


def rows_left(kb: KnowledgeBase, *rows: dict[str, Any]) -> Any:
    return pass_on(kb, Rows, lambda: {"rows": list(rows)}, {})["rows"]


def test_a_text_that_its_page_does_not_hold_is_withheld_with_its_row(base: Path) -> None:
    page = base / ADA
    page.write_text(page.read_text("utf-8").replace("boat 1", "boat 1 #redacted"), "utf-8")
    with KnowledgeBase(base) as kb:
        shown = {"path": ADA, "text": "Ada mends boat 0"}
        assert rows_left(kb, shown, {"path": ADA, "text": "Ada mends boat 1"}) == [shown]
        assert rows_left(kb, {"path": ADA, "text": "Ada mends cars"}) == []
        assert rows_left(kb, {"path": "memory/people/nobody.md", "text": "Ada"}) == []


def test_a_text_taken_out_of_its_file_is_withheld_before_the_index_knows(base: Path) -> None:
    page = base / BOB
    page.write_text(page.read_text("utf-8").replace("- Bob mends boat 2\n", ""), "utf-8")
    with KnowledgeBase(base) as kb:
        found = call(kb, "kbx.memory_similar", {"text": "Bob mends boat 2", "threshold": 0.0})
        assert "Bob mends boat 2" not in [match["text"] for match in found["matches"]]
        assert found["matches"]


def test_a_removed_line_that_looks_like_the_head_of_a_diff_is_withheld(base: Path) -> None:
    head = "--- memory/people/ada.md\n+++ memory/people/ada.md\n@@ -3,2 +3 @@\n"
    with KnowledgeBase(base) as kb:
        removed = {"diff": f"{head}--- the secret boat\n-++ the secret sail\n"}
        passed = pass_on(kb, Change, lambda: removed, {})["diff"]
    assert passed.startswith(head)
    assert "secret" not in passed


def test_undeclared_fields_are_not_passed_on(base: Path) -> None:
    row = {"path": ADA, "text": "Of the harbour."}
    with KnowledgeBase(base) as kb:
        assert rows_left(kb, {**row, "secret": "undeclared"}) == [row]
        assert rows_left(kb, {**row, "plain": "without provenance"}) == []


def test_results_fill_the_limit_when_a_page_was_just_marked(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        first = call(kb, "kb.search", {"query": "who mends a boat?", "top_k": 1})["data"]
        page = base / first["results"][0]["metadata"]["file_path"]
        page.write_text("---\nstatus: redacted\n---\n" + page.read_text("utf-8"), "utf-8")
        again = call(kb, "kb.search", {"query": "who mends a boat?", "top_k": 1})["data"]
    assert again["total_found"] == again["total_matched"] == 1
    assert again["results"][0]["id"] != first["results"][0]["id"]


def test_a_page_is_visible_again_when_the_mark_of_an_open_server_is_gone(base: Path) -> None:
    page = base / ADA
    text = page.read_text("utf-8")
    with KnowledgeBase(base) as kb:
        page.write_text("---\nstatus: redacted\n---\n" + text, "utf-8")
        ids = [row["id"] for row in search_rows(kb)]
        assert ids == ["person:bob"]
        page.write_text(text, "utf-8")
        assert {row["id"] for row in search_rows(kb)} == {"person:ada", "person:bob"}


def search_rows(kb: KnowledgeBase) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = call(kb, "kb.search", {"query": "mends boat"})["data"]["results"]
    return rows


def test_a_warm_call_looks_at_each_page_once_and_reads_none(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    looked_at: list[str] = []
    make, public_page = PublicPage.__init__, Documents.public_page

    def counted(page: PublicPage, path: str, *rest: Any) -> None:
        read.append(path)
        make(page, path, *rest)

    def looked(documents: Documents, path: str) -> PublicPage | None:
        looked_at.append(path)
        page: PublicPage | None = public_page(documents, path)
        return page

    monkeypatch.setattr(PublicPage, "__init__", counted)
    monkeypatch.setattr(Documents, "public_page", looked)
    monkeypatch.setattr("kbx_tui.api.documents.SETTLED_NS", 0)
    with KnowledgeBase(base) as kb:
        search_rows(kb)
        assert sorted(read) == [ADA, BOB]
        looked_at.clear()
        search_rows(kb)
        assert sorted(read) == [ADA, BOB]
        assert sorted(looked_at) == [ADA, BOB]


def test_a_change_that_keeps_size_and_time_is_seen(base: Path) -> None:
    import os

    page = base / ADA
    before = page.stat()
    with KnowledgeBase(base) as kb:
        assert kb.documents.public_page(ADA) is not None
        text = page.read_text("utf-8").replace("boat 1\n- Ada mends", "(redacted)\n-  mend")
        data = text.encode()[: before.st_size].ljust(before.st_size, b" ")
        page.write_bytes(data)
        os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
        public = kb.documents.public_page(ADA)
        assert public is not None
        assert public.is_marked
