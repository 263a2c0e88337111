from pathlib import Path

import pytest

from kbx_tui.knowledge.facts.draft_file_completion import complete_file


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A base with files, and a folder beside it where one is."""
    root, here = tmp_path / "base", tmp_path / "here"
    for file in ("drafts.md", "drafts/more.md", "drafts/.old.md", "memory/a.md", ".kbx/x"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    here.mkdir()
    (here / "my drafts.txt").touch()
    (here / "drafts.md").touch()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(root))
    return root


@pytest.mark.parametrize(
    ("text", "found"),
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
def test_names_go_on_from_here_and_from_the_root(
    root: Path, text: str, found: tuple[str, ...]
) -> None:
    assert complete_file(text, root) == found


def test_what_is_typed_stays_and_a_limit_holds(root: Path) -> None:
    assert complete_file(f"{root}/dra", root) == (f"{root}/drafts/", f"{root}/drafts.md")
    assert complete_file("", root, limit=2) == ("drafts/", "memory/")
