"""The demo is copied before it is opened; the shipped files are never changed."""

import hashlib
from pathlib import Path

import pytest

from kbx_tui.demo import JUDGMENTS, SHIPPED, demo_folder, install_demo, shipped_files
from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.removal import DEMO_MARKER


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KBX_DEMO_DIR", str(tmp_path / "data" / "demo"))
    return tmp_path / "data" / "demo"


def digest(root: Path) -> dict[str, str]:
    return {
        file.relative_to(root).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(root.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    }


def test_copy_contains_every_page_and_the_settings(folder: Path) -> None:
    before = digest(SHIPPED)
    assert install_demo() == folder
    copied = digest(folder)
    assert copied.keys() == {DEMO_MARKER, JUDGMENTS, *shipped_files()}
    assert all(copied[path] == before[path] for path in shipped_files())
    assert "kbx.toml" in copied
    assert digest(SHIPPED) == before


def test_changes_are_kept_until_reset(folder: Path) -> None:
    page = install_demo() / "memory" / "people" / "alice-chen.md"
    shipped = page.read_bytes()
    page.write_text("mine", encoding="utf-8")
    (folder / "memory" / "notes" / "mine.md").write_text("# Mine\n", encoding="utf-8")
    (folder / ".kbx" / "drafts.jsonl").write_text("{}\n", encoding="utf-8")
    install_demo()
    assert page.read_text(encoding="utf-8") == "mine"
    said: list[str] = []
    install_demo(reset=True, notice=said.append)
    assert page.read_bytes() == shipped
    assert digest(folder).keys() == {DEMO_MARKER, JUDGMENTS, *shipped_files()}
    (kept,) = (file for file in folder.parent.iterdir() if file != folder)
    assert list(digest(kept)) == ["memory/notes/mine.md"], "nothing that was added is lost"
    assert said == [f"kept 1 files that are not part of the sample in {kept}"]


def test_grades_given_in_the_demo_survive_a_reset(folder: Path) -> None:
    grade = b'{"query": "lunch", "path": "memory/glossary.md", "grade": 1}\n'
    shipped = (install_demo() / JUDGMENTS).read_bytes()
    (folder / JUDGMENTS).write_bytes(shipped + grade)
    said: list[str] = []
    install_demo(reset=True, notice=said.append)
    assert (folder / JUDGMENTS).read_bytes() == shipped
    (kept,) = (file for file in folder.parent.iterdir() if file != folder)
    assert (kept / JUDGMENTS).read_bytes() == shipped + grade
    assert str(kept) in said[0]
    install_demo(reset=True, notice=said.append)
    assert len(said) == 1


@pytest.mark.parametrize("reset", [False, True], ids=["open", "reset"])
def test_folder_with_other_content_is_left_alone(folder: Path, reset: bool) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.md").write_text("# My thesis\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="contains something other"):
        install_demo(reset=reset)
    assert [file.name for file in folder.iterdir()] == ["thesis.md"]


def test_demo_is_installed_into_an_empty_folder(folder: Path) -> None:
    folder.mkdir(parents=True)
    assert (install_demo() / DEMO_MARKER).is_file()


def test_folder_that_cannot_be_created_is_an_error(folder: Path) -> None:
    folder.parent.write_text("a file is in the way", encoding="utf-8")
    with pytest.raises(KbxError, match="set KBX_DEMO_DIR to a writable folder"):
        install_demo()


def test_default_folder_is_in_the_user_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KBX_DEMO_DIR", raising=False)
    assert demo_folder().name == "demo"
    assert SHIPPED not in demo_folder().parents
