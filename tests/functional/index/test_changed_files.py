"""Files that differ from the index are counted by content, and read only when that is needed."""

import gc
import os
import time
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import IndexReport
from kbx_tui.api import KnowledgeBase
from kbx_tui.cli.commands import index as index_command
from kbx_tui.index import index_status
from kbx_tui.index.build import file_changes
from kbx_tui.index.build.file_changes import FILE, FileHashes
from kbx_tui.knowledge.records import Document
from kbx_tui.knowledge.vault import read_page
from tests.command_line import CommandLine
from tests.functional.vaults import tree_digest, write_vault

FILES = 20


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KnowledgeBase]:
    """An indexed base; ticks of the clock are small, so that its new files are remembered."""
    monkeypatch.setattr(file_changes, "TICK_NS", -1)
    for number in range(FILES):
        page = tmp_path / f"memory/{number}.md"
        page.parent.mkdir(exist_ok=True)
        page.write_text(f"# Note {number}\n\nbody {number:03}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        yield kb


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of the files read from now on."""
    paths: list[str] = []

    def record(file: Path, path: str) -> bytes:
        paths.append(file.name)
        return read_page(file, path)

    monkeypatch.setattr(file_changes, "read_page", record)
    return paths


def page(base: KnowledgeBase, number: int) -> Path:
    return base.root / f"memory/{number}.md"


def test_only_touched_files_are_read_and_changed_ones_told(
    base: KnowledgeBase, read: list[str]
) -> None:
    assert base.count_newer_files() == 0
    assert read == []

    os.utime(page(base, 3), (4e9, 4e9))  # a time in the future
    assert base.count_newer_files() == 0
    assert read == ["3.md"]
    assert base.count_newer_files() == 0
    assert read == ["3.md"]


def test_no_page_that_was_indexed_is_kept_in_memory(base: KnowledgeBase) -> None:
    def kept_after(text: str) -> int:
        page(base, 3).write_text(f"# Note\n\n{text}\n", encoding="utf-8")
        base.index(fast=True, only={"memory/3.md"})
        gc.collect()
        return sum(type(each) is Document for each in gc.get_objects())

    assert kept_after("one") == kept_after("two") < FILES


def test_one_stat_per_file(base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> None:
    stats: list[str] = []
    stat = os.stat

    def record(path: Any, *rest: Any, **options: Any) -> os.stat_result:
        if str(path).endswith(".md"):
            stats.append(str(path))
        return stat(path, *rest, **options)

    monkeypatch.setattr(os, "stat", record)
    assert base.count_newer_files() == 0
    assert len(stats) == FILES


def test_changed_file_is_read_once_and_reported_until_it_is_indexed(
    base: KnowledgeBase, read: list[str]
) -> None:
    page(base, 3).write_text("# Another\n", encoding="utf-8")
    assert [base.count_newer_files() for _ in range(3)] == [1, 1, 1]
    assert read == ["3.md"]
    base.index(fast=True)
    assert base.count_newer_files() == 0


def test_rewrite_of_the_same_size_and_time_is_noticed(base: KnowledgeBase) -> None:
    before = page(base, 3).stat()
    while time.time_ns() <= before.st_ctime_ns + 50_000_000:
        pass  # the next tick of the file system's clock
    page(base, 3).write_text("# Note 3\n\nbody 004\n", encoding="utf-8")
    os.utime(page(base, 3), ns=(before.st_atime_ns, before.st_mtime_ns))
    after = page(base, 3).stat()
    assert (after.st_size, after.st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert base.count_newer_files() == 1


def test_old_file_moved_into_the_base_is_reported(base: KnowledgeBase) -> None:
    moved = base.root / "moved.md"
    moved.write_text("# Moved\n", encoding="utf-8")
    os.utime(moved, (1.0, 1.0))
    moved.rename(page(base, FILES))
    assert base.count_newer_files() == 1
    page(base, 0).unlink()
    assert base.count_newer_files() == 2


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: None,
        lambda data: b"",
        lambda data: b"garbage",
        lambda data: b'0\n{"memory/3.md": [[1, 2], "x"]}',
        lambda data: data[:-10] + bytes([data[-10] ^ 1]) + data[-9:],  # in a hash
    ],
    ids=["missing", "empty", "garbage", "other-types", "one-bit"],
)
def test_without_what_was_remembered_all_files_are_read_once(
    base: KnowledgeBase, read: list[str], damage: Callable[[bytes], bytes | None]
) -> None:
    file = base.root / FILE
    content = damage(file.read_bytes())
    file.unlink() if content is None else file.write_bytes(content)
    assert base.count_newer_files() == 0
    assert len(read) == FILES
    assert base.count_newer_files() == 0
    assert len(read) == FILES


def test_file_that_has_just_changed_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its next change could have the same time."""
    monkeypatch.setattr(file_changes, "TICK_NS", 10**15)
    monkeypatch.setattr(file_changes, "COARSE_TICK_NS", 10**15)
    file = tmp_path / "a.md"
    file.write_bytes(b"one")
    (tmp_path / ".kbx").mkdir()
    known = FileHashes(tmp_path)
    first = known.hash_of("a.md", file)
    known.save(["a.md"])
    file.write_bytes(b"two")
    assert FileHashes(tmp_path).hash_of("a.md", file) != first


def test_counting_works_without_a_place_to_remember(base: KnowledgeBase) -> None:
    (base.root / FILE).unlink()
    (base.root / FILE).mkdir()
    assert base.count_newer_files() == 0
    page(base, 1).write_text("# Another\n", encoding="utf-8")
    assert base.count_newer_files() == 1


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
        (tmp_path / "kbx.toml").touch()
        assert kb.index_question() is None  # it is marked as a base
        (tmp_path / "kbx.toml").unlink()
        kb.index(fast=True)
        write_pages(tmp_path, "b")
        assert kb.index_question() is None


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
def odd_files_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
def report(odd_files_base: Path) -> IndexReport:
    before = tree_digest(odd_files_base)
    index_report = KnowledgeBase(odd_files_base).index(fast=True)
    assert tree_digest(odd_files_base) == before
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
    report: IndexReport, odd_files_base: Path, word: str, name: str
) -> None:
    results = KnowledgeBase(odd_files_base).search(word, fast=True).results
    assert [result.path for result in results] == [f"memory/notes/{name}"]
    path = f"memory/notes/{name}"
    assert KnowledgeBase(odd_files_base).search(word, fast=True, path=path).results[0].path == path


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
