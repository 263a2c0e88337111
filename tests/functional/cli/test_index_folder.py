"""`[index] uri` never costs a file: a folder that may not hold the index is refused by all."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.errors import ConfigError, IndexFault
from kbx_tui.index.index_folder import index_uri
from kbx_tui.removal import INDEX_MARKER
from kbx_tui.settings_file import load_settings
from tests.command_line import CommandLine
from tests.functional.vaults import write_vault

COMMANDS = (
    ("index",),
    ("index", "--full"),
    ("index", "--fast"),
    ("search", "soup"),
    ("search", "soup", "--fast"),
    ("status",),
    ("mcp",),
    ("jsonl",),
)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_vault(tmp_path / "base")


def name_folder(base: Path, uri: str) -> None:
    """Set `[index] uri`."""
    (base / "kbx.toml").write_text(f"[index]\nuri = '{uri}'\n", encoding="utf-8")


def everything_in(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else b""
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("uri", ["memory", "documents", "."])
def test_every_command_refuses_before_anything_is_written(
    kbx: CommandLine, base: Path, uri: str, command: tuple[str, ...]
) -> None:
    (base / "documents").mkdir()
    (base / "documents" / "thesis.odt").write_bytes(b"mine")
    name_folder(base, uri)
    before = everything_in(base.parent)
    ran = kbx(*command, "--kb", base)
    assert (ran.code, ran.out) == (2, "")
    (line,) = ran.err.splitlines()
    assert f'[index] uri = "{uri}" in kbx.toml' in line
    assert "leave uri out for .kbx/index in the base, or name a new folder" in line
    assert everything_in(base.parent) == before


@pytest.mark.parametrize(
    ("uri", "fault"),
    [
        ("memory", "is the folder of the notes"),
        ("memory/", "is the folder of the notes"),
        ("./memory/../memory/.", "is the folder of the notes"),
        ("{base}/memory", "is the folder of the notes"),
        ("link-to-memory", "is the folder of the notes"),
        (".", "contains the folder of the notes"),
        ("..", "contains the folder of the notes"),
        ("{base}", "contains the folder of the notes"),
        ("/", "contains the folder of the notes"),
        ("~", "contains the folder of the notes"),
        ("~/base/memory", "is the folder of the notes"),
        ("memory/people", "lies inside the folder of the notes"),
        ("memory/new/index", "lies inside the folder of the notes"),
        ("memory/.index", "lies inside the folder of the notes"),
        ("link-to-memory/new", "lies inside the folder of the notes"),
        ("kbx.toml", "is a file"),
        ("kbx.toml/index", "lies inside one"),
        ("docs", "holds plan.txt"),
        (".kbx", "that is not for an index"),
        (".kbx/journal", "that is not for an index"),
        (".kbx/drafts.jsonl", "that is not for an index"),
        (".git", "belongs to version control"),
        (".git/index-of-notes", "belongs to version control"),
        ("loop", "cannot be used"),
        ("~nobody-has-this-name/x", "cannot be used"),
        ("file://{base}/memory", "write a folder, not a URL"),
        ("FILE:///tmp/x", "write a folder, not a URL"),
    ],
)
def test_a_folder_that_may_not_hold_the_index_is_refused(
    base: Path, monkeypatch: pytest.MonkeyPatch, uri: str, fault: str
) -> None:
    monkeypatch.setenv("HOME", str(base.parent))
    (base / "link-to-memory").symlink_to("memory")
    (base / "loop").symlink_to("loop")
    (base / "docs").mkdir()
    (base / "docs" / "plan.txt").write_text("mine")
    name_folder(base, uri.format(base=base))
    with pytest.raises(ConfigError, match="uri = ") as refusal:
        index_uri(base, load_settings(base))
    assert fault in str(refusal.value)


@pytest.mark.parametrize(
    "uri",
    [
        "",
        ".kbx/index",
        ".kbx/index-2",
        "./.kbx/index/",
        "own/place",
        "../beside",
        "~/x",
        "empty",
    ],
)
def test_a_folder_of_its_own_may_hold_the_index(
    base: Path, monkeypatch: pytest.MonkeyPatch, uri: str
) -> None:
    monkeypatch.setenv("HOME", str(base.parent))
    (base / "empty").mkdir()
    if uri:
        name_folder(base, uri)
    assert Path(index_uri(base, load_settings(base))).is_absolute()


@pytest.mark.parametrize("uri", ["", ".kbx/index", ".kbx/index/deep"])
def test_without_a_memory_folder_the_index_lies_in_kbx(tmp_path: Path, uri: str) -> None:
    (tmp_path / "note.md").write_text("# Note\n")
    if uri:
        name_folder(tmp_path, uri)
    assert KnowledgeBase(tmp_path).index().documents == 1
    name_folder(tmp_path, "index")
    with pytest.raises(ConfigError, match="lies inside the folder of the notes"):
        KnowledgeBase(tmp_path).status()


def test_a_state_folder_that_leads_into_the_notes_is_refused(base: Path) -> None:
    (base / ".kbx").symlink_to("memory")
    before = everything_in(base)
    with pytest.raises(IndexFault, match="lies inside the folder of the notes"):
        index_uri(base, load_settings(base))
    assert everything_in(base) == before


def test_a_state_folder_on_another_disk_is_used(base: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (base / ".kbx").symlink_to(tmp_path / "disk")
    assert index_uri(base, load_settings(base)) == str(base / ".kbx" / "index")


def test_an_index_whose_marker_is_lost_is_put_aside_and_made_again(base: Path) -> None:
    marker = base / ".kbx" / "index" / INDEX_MARKER
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        assert marker.is_file()
        marker.unlink()
        assert kb.search("soup", fast=True).results
        assert marker.is_file()


@pytest.mark.parametrize("damage", ["nothing", "a table", "meta"])
def test_a_file_of_the_user_in_the_index_folder_survives_a_full_run(
    base: Path, damage: str
) -> None:
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
    folder = base / ".kbx" / "index"
    (folder / "mine.md").write_text("# Mine\n")
    if damage != "nothing":
        name = "meta" if damage == "meta" else "facts"
        for file in (folder / f"{name}.lance").rglob("*"):
            if file.is_file():
                file.write_bytes(b"")
    with KnowledgeBase(base) as kb:
        assert kb.index(fast=True, full=True).documents == 5
    assert (folder / "mine.md").read_text() == "# Mine\n"


def test_a_named_folder_is_refused_once_it_holds_something_else(base: Path) -> None:
    name_folder(base, "elsewhere")
    KnowledgeBase(base).index(fast=True)
    (base / "elsewhere" / "mine.md").write_text("# Mine\n")
    with pytest.raises(ConfigError, match=r"holds mine\.md, which is not part"):
        KnowledgeBase(base).index(full=True)
    assert (base / "elsewhere" / "mine.md").exists()


@pytest.mark.parametrize("make", [os.mkfifo, Path.touch], ids=["fifo", "file"])
def test_a_file_in_place_of_the_index_folder_is_an_error_and_stays(
    base: Path, make: Callable[[Path], None]
) -> None:
    (base / ".kbx").mkdir()
    make(base / ".kbx" / "index")
    with pytest.raises(IndexFault, match="is a file"):
        KnowledgeBase(base).index(full=True)
    assert (base / ".kbx" / "index").exists()


def test_a_link_in_place_of_a_file_of_the_index_is_kept_aside(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
    folder = base / ".kbx" / "index"
    (folder / "BUILD").unlink()
    (folder / "BUILD").symlink_to(base / "memory" / "notes" / "lunch.md")
    with KnowledgeBase(base) as kb:
        assert kb.index(fast=True, full=True).documents == 5
        assert kb.is_indexed()
    assert not (folder / "BUILD").is_symlink()
    assert [file.is_symlink() for file in folder.glob("BUILD.*.unreadable")] == [True]
