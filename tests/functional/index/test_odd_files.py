"""Malformed and unusual files never stop an index run; each is indexed or listed as a problem."""

from __future__ import annotations

import os
import unicodedata
from pathlib import Path

import pytest

from kbx_tui import IndexReport, KnowledgeBase
from tests.functional.vaults import tree_digest, write_vault

ODD = {
    "malformed.md": b"---\ntitle: [unclosed\n---\nThe quokka sleeps.\n",
    "no-title.md": b"Only the numbat speaks.\n",
    "numbers.md": b"---\ntitle: 2024\ntags: [1, 2.5, true, null]\n---\nA bilby.\n",
    "latin.md": "# Caf\xe9\n\nUn wallaby \xe0 Paris.\n".encode("latin-1"),
    "utf16.md": "# Wide\n\nA wombat.\n".encode("utf-16"),
    "bom.md": b"\xef\xbb\xbf---\ntitle: Marked\n---\nA dingo.\n",
    "nul.md": b"# Nul\n\nA \x00 cassowary.\n",
    "empty.md": b"",
    "blank.md": b"\n\n   \n",
    "crlf.md": b"---\r\ntitle: Lines\r\n---\r\nAn echidna.\r\n",
    "huge.md": b"# Huge\n\n" + b"A platypus swims in the river today. " * 140_000,
    "one-line.md": b"kookaburra " * 20_000,
    "a_b % 'c' [d] é.md": b"# Odd name\n\nA galah.\n",
    "escape.md": b"# \x1b[31mRed\x1b[0m [bold]x[/]\n\nA brolga.\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_vault(tmp_path_factory.mktemp("odd"))
    notes = root / "memory/notes"
    for name, data in ODD.items():
        (notes / name).write_bytes(data)
    (notes / "folder.md").mkdir()
    (notes / "folder.md" / "inner.md").write_text("# Inner\n\nA potoroo.\n")
    (notes / "loop").symlink_to(notes, target_is_directory=True)
    (notes / "out.md").symlink_to("/etc/hostname")
    (notes / "dangling.md").symlink_to(notes / "nowhere.md")
    return root


@pytest.fixture(scope="module")
def report(base: Path) -> IndexReport:
    before = tree_digest(base)
    index_report = KnowledgeBase(base).index(fast=True)
    assert tree_digest(base) == before
    return index_report


def test_the_run_finishes_and_lists_files_it_could_not_read_completely(report: IndexReport) -> None:
    assert report.finished
    reasons = {problem.path: problem.reason for problem in report.problems}
    for name in ("malformed.md", "out.md", "dangling.md"):
        assert reasons[f"memory/notes/{name}"], name


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("quokka", "malformed.md"),
        ("numbat", "no-title.md"),
        ("bilby", "numbers.md"),
        ("wallaby", "latin.md"),
        ("wombat", "utf16.md"),
        ("dingo", "bom.md"),
        ("cassowary", "nul.md"),
        ("echidna", "crlf.md"),
        ("platypus", "huge.md"),
        ("kookaburra", "one-line.md"),
        ("galah", "a_b % 'c' [d] é.md"),
        ("brolga", "escape.md"),
        ("potoroo", "folder.md/inner.md"),
    ],
)
def test_every_readable_file_is_found(
    report: IndexReport, base: Path, word: str, name: str
) -> None:
    results = KnowledgeBase(base).search(word, fast=True).results
    assert [result.path for result in results] == [f"memory/notes/{name}"]
    path = f"memory/notes/{name}"
    assert KnowledgeBase(base).search(word, fast=True, path=path).results[0].path == path


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_a_file_without_read_permission_is_listed(tmp_path: Path) -> None:
    root = write_vault(tmp_path)
    (root / "memory/notes/lunch.md").chmod(0)
    report = KnowledgeBase(root).index(fast=True)
    assert [problem.path for problem in report.problems if problem.skipped] == [
        "memory/notes/lunch.md"
    ]


def test_a_decomposed_file_name_is_indexed_under_its_nfc_form(tmp_path: Path) -> None:
    write_vault(
        tmp_path, {unicodedata.normalize("NFD", "memory/notes/café.md"): "# Tea\n\nOolong.\n"}
    )
    assert not KnowledgeBase(tmp_path).index(fast=True).problems
    (result,) = KnowledgeBase(tmp_path).search("oolong", fast=True).results
    assert result.path == unicodedata.normalize("NFC", "memory/notes/café.md")
    assert KnowledgeBase(tmp_path).documents.view(result.path).title == "Tea"
