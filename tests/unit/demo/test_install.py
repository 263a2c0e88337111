"""The demo is copied before it is opened; the shipped files are never changed."""

import hashlib
from pathlib import Path

import pytest

from kbx_tui.demo import JUDGMENTS, SHIPPED, demo_folder, install_demo, shipped_files
from kbx_tui.errors import ConfigError, KbxError
from kbx_tui.index.ownership import claim
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
    assert digest(kept).keys() >= {"memory/notes/mine.md", ".kbx/drafts.jsonl"}
    assert (kept / page.relative_to(folder)).read_text(encoding="utf-8") == "mine"
    assert said == [f"the sample with what you changed and added in it is now {kept}"]


@pytest.mark.parametrize(
    "path",
    [
        "memory/people/alice-chen.md",
        "kbx.toml",
        "drafts.md",
        "memory/notes/mine.md",
        ".kbx/drafts.jsonl",
        ".kbx/queries.jsonl",
        ".kbx/journal/000001.json",
        ".kbx/drafts.20260317-094100.unreadable",
    ],
)
def test_each_change_alone_is_kept(folder: Path, path: str) -> None:
    file = install_demo() / path
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"mine")
    (folder / ".kbx" / "file-hashes.json").write_bytes(b"{}")
    for _ in range(2):  # what was kept is never replaced
        install_demo(reset=True)
        (kept,) = (file for file in folder.parent.iterdir() if file != folder)
        assert (kept / path).read_bytes() == b"mine"


def test_what_can_be_made_again_is_not_kept(folder: Path) -> None:
    index = install_demo() / ".kbx" / "index"
    claim(index)
    for _ in range(2):
        install_demo(reset=True)
    assert list(folder.parent.iterdir()) == [folder]


def test_two_changed_copies_of_a_second_have_two_names(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.strftime", lambda form: "20260317-094100")
    for text in (b"one", b"two"):
        (install_demo() / "memory" / "mine.md").write_bytes(text)
        install_demo(reset=True)
    kept = sorted(file for file in folder.parent.iterdir() if file != folder)
    assert [file.name for file in kept] == [f"demo-kept-20260317-094100{end}" for end in ("", "-2")]
    assert [(file / "memory" / "mine.md").read_bytes() for file in kept] == [b"one", b"two"]


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
