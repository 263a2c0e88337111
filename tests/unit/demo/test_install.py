"""The demo is copied before it is opened; what is shipped is never written to."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from kbx_tui.demo.install import MARKER, SHIPPED, demo_folder, install_demo, shipped_files
from kbx_tui.errors import ConfigError, KbxError


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


def test_the_copy_holds_every_page_and_the_settings(folder: Path) -> None:
    before = digest(SHIPPED)
    assert install_demo() == folder
    copied = digest(folder)
    assert copied.keys() == {MARKER, *shipped_files()}
    assert all(copied[path] == before[path] for path in shipped_files())
    assert "kbx.toml" in copied
    assert digest(SHIPPED) == before


def test_what_a_person_changed_stays_until_reset(folder: Path) -> None:
    page = install_demo() / "memory" / "people" / "alice-chen.md"
    shipped = page.read_bytes()
    page.write_text("mine", encoding="utf-8")
    (folder / "memory" / "notes" / "mine.md").write_text("# Mine\n", encoding="utf-8")
    install_demo()
    assert page.read_text(encoding="utf-8") == "mine"
    install_demo(reset=True)
    assert page.read_bytes() == shipped
    assert not (folder / "memory" / "notes" / "mine.md").exists()
    assert [file.name for file in folder.parent.iterdir()] == ["demo"]


@pytest.mark.parametrize("reset", [False, True], ids=["open", "reset"])
def test_a_folder_with_something_else_is_never_touched(folder: Path, reset: bool) -> None:
    folder.mkdir(parents=True)
    (folder / "thesis.md").write_text("# My thesis\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="holds something else"):
        install_demo(reset=reset)
    assert [file.name for file in folder.iterdir()] == ["thesis.md"]


def test_an_empty_folder_may_become_the_demo(folder: Path) -> None:
    folder.mkdir(parents=True)
    assert (install_demo() / MARKER).is_file()


def test_a_folder_that_cannot_be_made_is_one_sentence(folder: Path) -> None:
    folder.parent.write_text("a file is in the way", encoding="utf-8")
    with pytest.raises(KbxError, match="set KBX_DEMO_DIR to a folder that can be written"):
        install_demo()


def test_the_data_folder_of_the_user_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KBX_DEMO_DIR", raising=False)
    assert demo_folder().name == "demo"
    assert SHIPPED not in demo_folder().parents
