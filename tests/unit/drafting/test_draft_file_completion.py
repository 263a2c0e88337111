from pathlib import Path

import pytest

from kbx_tui.drafting.drafts import complete_file


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A knowledge base with files, next to the current folder."""
    root, current = tmp_path / "base", tmp_path / "here"
    for file in ("drafts.md", "drafts/more.md", "drafts/.old.md", "memory/a.md", ".kbx/x"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    current.mkdir()
    (current / "my drafts.txt").touch()
    (current / "drafts.md").touch()
    monkeypatch.chdir(current)
    monkeypatch.setenv("HOME", str(root))
    return root


@pytest.mark.parametrize(
    ("text", "completions"),
    [
        ("", ("drafts/", "memory/", "drafts.md", "my drafts.txt")),
        ("d", ("drafts/", "drafts.md")),
        ("my", ("my drafts.txt",)),
        ("drafts/", ("drafts/more.md",)),
        ("drafts/.", ("drafts/.old.md",)),
        ("./m", ("./memory/", "./my drafts.txt")),
        ("../b", ("../base/",)),
        (".", (".kbx/",)),
        ("~", ("~/",)),
        ("~/mem", ("~/memory/",)),
        ("~nobody-of-that-name/", ()),
        ("drafts.md/", ()),
        ("nowhere/", ()),
        ("a\0b/", ()),
    ],
)
def test_completes_from_the_current_folder_and_the_root(
    root: Path, text: str, completions: tuple[str, ...]
) -> None:
    assert complete_file(text, root) == completions


def test_completions_keep_the_typed_prefix_and_respect_the_limit(root: Path) -> None:
    assert complete_file(f"{root}/dra", root) == (f"{root}/drafts/", f"{root}/drafts.md")
    assert complete_file("", root, limit=2) == ("drafts/", "memory/")
