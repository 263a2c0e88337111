"""A page that became a pipe or a loop of links is one clear sentence, and blocks nothing."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui import KbxError, KnowledgeBase, NotFound
from kbx_tui.index.build.document_stage import _read
from kbx_tui.index.build.file_changes import Changes
from kbx_tui.knowledge.vault import locate
from tests.functional.vaults import write_vault

PAGE = "memory/people/alice-chen.md"


def pipe(file: Path) -> None:
    os.mkfifo(file)


def loop(file: Path) -> None:
    file.symlink_to(file.name)


def device(file: Path) -> None:
    file.symlink_to("/dev/zero")


REPLACEMENTS = [
    pytest.param(pipe, id="pipe"),
    pytest.param(loop, id="loop"),
    pytest.param(device, id="device"),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("replace", REPLACEMENTS)
def test_replaced_page_is_not_read(tmp_path: Path, replace: Callable[[Path], None]) -> None:
    base = write_vault(tmp_path / "base")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        (base / PAGE).unlink()
        replace(base / PAGE)
        with pytest.raises(NotFound, match="alice-chen"):
            kb.documents.view(PAGE)
        with pytest.raises(KbxError, match="alice-chen"):
            kb.memory_add("Likes tea", entity="person:alice-chen")
        report = kb.index(fast=True)
        assert [problem.path for problem in report.problems].count(PAGE) == 1
        assert kb.search("migration", fast=True).results


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_file_that_becomes_a_pipe_while_indexing_is_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    changes = Changes(
        hashes={"a.md": ""}, indexed={}, files={"a.md": tmp_path / "a.md"},
        added=["a.md"], changed=[], deleted=[], moved=0, problems=[],
    )  # fmt: skip
    assert _read("a.md", changes) is None
    assert [problem.reason for problem in changes.problems] == [
        "cannot be read: it is a pipe, not a regular file"
    ]


def test_loop_of_links_is_an_os_error(tmp_path: Path) -> None:
    loop(tmp_path / "a.md")
    with pytest.raises(OSError, match="loop of links"):
        locate(tmp_path, "a.md")
