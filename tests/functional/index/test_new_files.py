"""What is to be confirmed before it is indexed, and where nobody can be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui.api import KnowledgeBase
from kbx_tui.cli.commands import index as index_command
from kbx_tui.errors import NotConfirmed
from kbx_tui.index import index_status
from tests.command_line import CommandLine


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four pages, where three may be indexed without a question."""
    monkeypatch.setattr(index_status, "ASK_ABOVE", 3)
    write_pages(tmp_path, "abcd")
    return tmp_path


def write_pages(root: Path, names: str) -> None:
    for name in names:
        (root / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")


def test_many_new_files_are_to_be_confirmed_but_not_moved_ones(many: Path) -> None:
    with KnowledgeBase(many) as kb:
        question = kb.index_question()
        assert question is not None
        assert (question.new_files, question.is_first) == (4, True)
        kb.index(fast=True)
        assert kb.index_question() is None
        (many / "moved").mkdir()
        for file in many.glob("*.md"):
            file.rename(many / "moved" / file.name)
        assert kb.index_question() is None
        write_pages(many, "efgh")
        question = kb.index_question()
        assert question is not None
        assert (question.new_files, question.is_first) == (4, False)


def test_folder_of_the_system_is_to_be_confirmed_once_whatever_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pages(tmp_path, "a")
    monkeypatch.setattr(index_status, "describe_system_folder", lambda root: "your home folder")
    with KnowledgeBase(tmp_path) as kb:
        question = kb.index_question()
        assert question is not None
        assert question.sentence == f"{tmp_path} is your home folder and holds 1 markdown file"
        kb.index(fast=True)
        write_pages(tmp_path, "b")
        assert kb.index_question() is None


def test_folder_of_the_system_with_a_kbx_toml_is_a_base(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pages(tmp_path, "a")
    (tmp_path / "kbx.toml").touch()
    monkeypatch.setattr(index_status, "describe_system_folder", lambda root: "your home folder")
    with KnowledgeBase(tmp_path) as kb:
        assert kb.index_question() is None


def test_search_does_not_index_what_is_to_be_confirmed(many: Path) -> None:
    with KnowledgeBase(many) as kb, pytest.raises(NotConfirmed, match="kbx index --yes"):
        kb.search("a", fast=True)
    assert not (many / ".kbx" / "index").exists()


def test_first_run_without_a_terminal_stops_unless_yes_is_given(
    kbx: CommandLine, many: Path
) -> None:
    ran = kbx("index", "--fast", "--kb", many)
    assert (ran.code, ran.out) == (9, "")
    assert "holds 4 markdown files that are not indexed yet" in ran.err
    assert kbx("index", "--fast", "--yes", "--kb", many).code == 0
    write_pages(many, "efghi")
    assert "5 new" in kbx("index", "--fast", "--kb", many).out  # an update goes on


def test_answer_on_a_terminal_decides_whether_to_index(
    kbx: CommandLine, many: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions: list[str] = []
    monkeypatch.setattr(index_command, "may_ask", lambda: True)
    for answer, code in ((False, 9), (True, 0)):

        def confirmed(question: str, answer: bool = answer) -> bool:
            questions.append(question)
            return answer

        monkeypatch.setattr(index_command, "confirmed", confirmed)
        assert kbx("index", "--fast", "--kb", many).code == code
    assert questions == [f"{many} holds 4 markdown files that are not indexed yet. Index them?"] * 2
