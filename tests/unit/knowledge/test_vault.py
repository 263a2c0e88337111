"""Which folders hardly hold notes."""

import os
import stat
import unicodedata
from pathlib import Path

import pytest

from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.knowledge.vault import (
    describe_system_folder,
    find_root,
    list_files,
    load_suppressions,
    read_page,
    suppression_problems,
    walk,
)
from kbx_tui.system import opened_path
from tests.unit.knowledge.building import write


def paths(root: Path, *exclude: str) -> list[str]:
    files = walk(root, exclude).files
    assert sorted(list_files(root, exclude).values()) == sorted(
        str(file.absolute) for file in files
    )
    return [file.path for file in files]


def problems(root: Path) -> dict[str, str]:
    return {problem.path: problem.reason for problem in walk(root).problems}


def test_root_is_explicit_or_has_kbx_toml_or_a_memory_folder_or_is_the_folder_itself(
    tmp_path: Path,
) -> None:
    assert find_root(tmp_path) == tmp_path
    write(tmp_path, {"kb/memory/people/a.md": ""})
    assert find_root(tmp_path / "kb" / "memory" / "people") == tmp_path / "kb"
    write(tmp_path, {"kbx.toml": ""})  # even above a nearer memory folder
    assert find_root(tmp_path / "kb" / "memory" / "people") == tmp_path
    assert find_root(explicit=tmp_path / "kb" / "memory") == tmp_path / "kb" / "memory"


@pytest.mark.parametrize("name", ["missing", "file.md"])
def test_explicit_root_that_is_not_a_folder_raises_not_found(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"file.md": ""})
    with pytest.raises(NotFound, match=name):
        find_root(explicit=tmp_path / name)


IGNORING = {".gitignore": "drafts/\n*.tmp.md\n!keep.tmp.md\n[\n"}
IGNORING_BELOW = {"sub/.gitignore": "/only-here.md\n!x.tmp.md\n"}


@pytest.mark.parametrize(
    ("files", "ignoring", "walked"),
    [
        ("README.md memory/b.md memory/a/c.md docs/d.md", {}, "memory/a/c.md memory/b.md"),
        ("a.md B.MD c.markdown d.txt md", {}, "B.MD a.md"),
        (
            "kept.md .hidden.md .git/a.md node_modules/x/a.md env/pyvenv.cfg env/lib/a.md",
            {},
            "kept.md",
        ),
        (
            "a.md x.tmp.md keep.tmp.md drafts/b.md"
            " sub/only-here.md sub/deep/only-here.md sub/x.tmp.md",
            IGNORING | IGNORING_BELOW,
            "a.md keep.tmp.md sub/deep/only-here.md sub/x.tmp.md",
        ),
        ("memory/a.md", {".gitignore": "memory/\n"}, "memory/a.md"),
        ("x.md/inner.md y.md", {}, "x.md/inner.md y.md"),
    ],
    ids=[
        "only memory if it exists",
        "only md in any letter case",
        "nothing hidden and no packages",
        "what gitignore leaves at every depth",
        "a base although it is ignored as a whole",
        "a folder with the suffix as a folder",
    ],
)
def test_pages_of_a_base_are_walked(
    tmp_path: Path, files: str, ignoring: dict[str, str], walked: str
) -> None:
    write(tmp_path, dict.fromkeys(files.split(), "") | ignoring)
    assert paths(tmp_path) == walked.split()


def test_walk_lists_the_gitignore_files_that_applied(tmp_path: Path) -> None:
    write(
        tmp_path,
        {".gitignore": "memory/drafts/\n", "memory/.gitignore": "", "memory/a.md": "",
         "memory/drafts/.gitignore": "", "memory/.hidden/.gitignore": "", "docs/.gitignore": ""},
    )  # fmt: skip
    assert [file.path for file in walk(tmp_path).gitignores] == [".gitignore", "memory/.gitignore"]


def test_exclude_patterns_are_relative_to_the_root_and_valid(tmp_path: Path) -> None:
    write(tmp_path, {"memory/a.md": "", "memory/old/b.md": "", "memory/new/old.md": ""})
    assert paths(tmp_path, "memory/old/", "**/old.md") == ["memory/a.md"]
    with pytest.raises(ConfigError, match="exclude"):
        walk(tmp_path, ["!"])


def test_links_inside_the_root_are_followed_and_loops_end(tmp_path: Path) -> None:
    write(tmp_path, {"memory/a.md": "", "docs/b.md": "", "memory/sub/c.md": ""})
    (tmp_path / "memory/loop").symlink_to(tmp_path / "memory", target_is_directory=True)
    (tmp_path / "memory/again").symlink_to(tmp_path / "memory/sub", target_is_directory=True)
    (tmp_path / "memory/docs").symlink_to(tmp_path / "docs", target_is_directory=True)
    (tmp_path / "memory/linked.md").symlink_to(tmp_path / "memory/a.md")
    assert paths(tmp_path) == [
        "memory/a.md", "memory/docs/b.md", "memory/linked.md", "memory/sub/c.md",
    ]  # fmt: skip
    assert not problems(tmp_path)


def test_links_outside_the_root_and_broken_links_are_reported_and_skipped(tmp_path: Path) -> None:
    write(tmp_path, {"outside/secret.md": "", "kb/a.md": ""})
    kb = tmp_path / "kb"
    (kb / "out.md").symlink_to(tmp_path / "outside/secret.md")
    (kb / "folder").symlink_to(tmp_path / "outside", target_is_directory=True)
    (kb / "broken.md").symlink_to(tmp_path / "nowhere.md")
    (kb / "circle.md").symlink_to(kb / "circle.md")
    assert paths(kb) == ["a.md"]
    reasons = problems(kb)
    assert reasons["out.md"] == reasons["folder"] == "link leads outside the knowledge base"
    assert set(reasons) == {"out.md", "folder", "broken.md", "circle.md"}


@pytest.mark.skipif(opened_path(1) is None, reason="the system does not say where an open file is")
@pytest.mark.parametrize("swapped", ["memory/notes/a.md", "memory/notes"])
def test_a_page_that_became_a_link_out_after_the_walk_is_not_read(
    tmp_path: Path, swapped: str
) -> None:
    root, outside = tmp_path / "base", tmp_path / "base-of-another"
    for folder in (root, outside):
        write(folder, {"memory/notes/a.md": f"# {folder.name}\n", "memory/notes/b.md": "# B\n"})
    (root / "memory/notes/c.md").symlink_to("b.md")
    files = {file.path: file.absolute for file in walk(root).files}
    assert read_page(files["memory/notes/c.md"], "memory/notes/c.md") == b"# B\n"
    (root / swapped).rename(root / "before")
    (root / swapped).symlink_to(outside / swapped)
    with pytest.raises(OSError, match="outside the knowledge base"):
        read_page(files["memory/notes/a.md"], "memory/notes/a.md")


HIDDEN = {".git/config": "token", ".git/x.md": "", ".env": "", "memory/.kbx/drafts.jsonl": ""}


@pytest.mark.parametrize("target", [*HIDDEN, ".git"])
def test_a_link_to_a_hidden_file_is_left_out(tmp_path: Path, target: str) -> None:
    write(tmp_path, {"memory/a.md": "", **HIDDEN})
    (tmp_path / "memory/b.md").symlink_to(tmp_path / target)
    assert paths(tmp_path) == ["memory/a.md"]
    assert problems(tmp_path) == {"memory/b.md": "link leads to a hidden file or folder"}


@pytest.mark.skipif(opened_path(1) is None, reason="the system does not say where an open file is")
@pytest.mark.parametrize("target", [each for each in HIDDEN if not each.endswith(".md")])
def test_a_page_that_became_a_link_to_a_hidden_file_is_not_read(
    tmp_path: Path, target: str
) -> None:
    write(tmp_path, {"memory/a.md": "", **HIDDEN})
    (tmp_path / "memory/a.md").unlink()
    (tmp_path / "memory/a.md").symlink_to(tmp_path / target)
    with pytest.raises(OSError, match="hidden"):
        read_page(tmp_path / "memory/a.md", "memory/a.md")


def test_pages_in_a_hidden_folder_of_notes_are_read(tmp_path: Path) -> None:
    write(tmp_path, {".notes/a.md": "# A\n", ".notes/.b.md": ""})
    (tmp_path / "memory").symlink_to(tmp_path / ".notes")
    (tmp_path / ".notes/c.md").symlink_to(tmp_path / ".notes/a.md")
    (tmp_path / ".notes/d.md").symlink_to(tmp_path / ".notes/.b.md")
    assert paths(tmp_path) == ["memory/a.md", "memory/c.md"]
    for path in paths(tmp_path):
        assert read_page(tmp_path / path, path) == b"# A\n"


@pytest.mark.skipif(opened_path(1) is None, reason="the system does not say where an open file is")
def test_suppressions_are_not_read_outside_the_base(tmp_path: Path) -> None:
    write(
        tmp_path, {"out/entity-suppressions.json": '{"memory/a.md": ["Ann"]}', "kb/memory/a.md": ""}
    )
    (tmp_path / "kb/memory/.kbx").symlink_to(tmp_path / "out")
    assert load_suppressions(tmp_path / "kb") == {}
    (problem,) = suppression_problems(tmp_path / "kb")
    assert "outside the knowledge base" in problem.reason


def test_memory_folder_may_be_a_link(tmp_path: Path) -> None:
    write(tmp_path, {"elsewhere/a.md": ""})
    (tmp_path / "kb").mkdir()
    (tmp_path / "kb/memory").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert paths(tmp_path / "kb") == ["memory/a.md"]


def test_unreadable_folder_is_reported_and_the_rest_is_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.md": "", "locked/b.md": ""})
    scandir = os.scandir

    def failing_scandir(folder: str) -> object:
        if str(folder).endswith("locked"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", failing_scandir)
    assert paths(tmp_path) == ["a.md"]
    assert problems(tmp_path) == {"locked": "folder cannot be read: Permission denied"}


def test_file_without_read_permission_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"a.md": "", "b.md": ""})
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).endswith("b.md"))
    assert paths(tmp_path) == ["a.md"]
    assert list(problems(tmp_path)) == ["b.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_named_pipe_is_reported_and_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    assert stat.S_ISFIFO((tmp_path / "pipe.md").stat().st_mode)
    assert paths(tmp_path) == []
    assert problems(tmp_path) == {"pipe.md": "is not a regular file"}


def test_file_names_equal_after_nfc_are_one_path_and_a_problem(tmp_path: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "café.md") for form in ("NFC", "NFD"))
    write(tmp_path, {composed: "", decomposed: ""})
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system treats them as one")
    assert paths(tmp_path) == [composed]
    assert "different Unicode form" in problems(tmp_path)[composed]


def test_decomposed_file_name_gets_a_composed_path_and_opens(tmp_path: Path) -> None:
    decomposed = unicodedata.normalize("NFD", "café.md")
    write(tmp_path, {decomposed: "text"})
    (file,) = walk(tmp_path).files
    assert file.path == unicodedata.normalize("NFC", "café.md")
    assert file.absolute.read_text() == "text"


def test_undecodable_file_name_is_reported(tmp_path: Path) -> None:
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.md")).write_text("")
    except OSError:
        pytest.skip("this file system rejects such names")
    assert paths(tmp_path) == []
    assert list(problems(tmp_path).values()) == ["file name is not valid text"]


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/", "a whole disk"),
        ("/tmp", "a folder of temporary files"),
        ("/etc/ssl", "a folder of the system"),
        ("/usr", "a folder of the system"),
        ("/usr/share/doc", "a folder of the system"),
        ("/home/ida/web/node_modules", "a folder of a package manager or a cache"),
        ("/home/ida/.cargo/registry", "a folder of a package manager or a cache"),
        ("/tmp/notes", ""),
        ("/srv/notes", ""),
        ("/usr/src/app", ""),
        ("/var/lib/builds/notes", ""),
        ("/home/ida/notes", ""),
    ],
)
def test_folders_of_the_system_are_recognised_but_not_those_of_users(
    folder: str, words: str
) -> None:
    assert describe_system_folder(Path(folder)) == words


def test_home_folder_is_one_but_not_the_folders_in_it() -> None:
    assert describe_system_folder(Path.home()) == "your home folder"
    assert describe_system_folder(Path.home() / "notes") == ""
