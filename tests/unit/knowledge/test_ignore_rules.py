"""Patterns of .gitignore leave out what git leaves out, in time that does not explode."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.path_patterns import MOST_RULES
from kbx_tui.knowledge.vault import walk

FILES = tuple(
    f"{folder}{name}.md"
    for folder in ("", "a/", "b/", "ab/", "a/b/", "a/ab/", "b/a/", "a/b/a/", "a b/", "*/", "a-b/")
    for name in ("a", "b", "ab", "ba", "aab", "a b", "a*b", "[a]", "A", "a-b", "!a", "#a")
)
PARTS = (
    *("a", "b", "*", "?", "[ab]", "[!a]", "[^b]", "[a-b]", "[b-a]", "[]a]", "[[:alpha:]]", "]"),
    *("-", ".md", "\\*", "\\a", "\\[", "[*]", " ", "[\\]a]", "#", "!", "[a-]", "**"),
)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("repository")
    for name in FILES:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    return root


def listed_by_git(root: Path) -> set[str]:
    command = ["git", "-C", str(root), "ls-files", "-z", "--others", "--exclude-standard", "*.md"]
    return set(
        subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")
    )


def listed(root: Path) -> set[str]:
    return {file.path for file in walk(root).files} | {""}


NAMES = st.one_of(
    st.just("**"), st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join)
).filter(lambda name: name == "**" or "**" not in name)
"""Other pairs of stars are single ones; git confuses them where letters come before."""
LINES = st.lists(
    st.builds(
        lambda sign, names, end: f"{sign}{'/'.join(names)}{end}",
        st.sampled_from(("", "", "", "!", "/")),
        st.lists(NAMES, min_size=1, max_size=3),
        st.sampled_from(("", "", "/")),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git decides what is right")
@settings(max_examples=50)
@given(lines=LINES, deeper=LINES)
def test_the_files_left_out_are_those_that_git_leaves_out(
    repository: Path, lines: list[str], deeper: list[str]
) -> None:
    (repository / ".gitignore").write_text("\n".join(lines))
    (repository / "a" / ".gitignore").write_text("\n".join(deeper))
    assert listed(repository) == listed_by_git(repository)


@pytest.mark.parametrize("line", ["*a" * 60 + "b", "a*" * 60 + "/b", "**/a*" * 60 + "b", "?*" * 60])
def test_sixty_stars_are_matched(tmp_path: Path, line: str) -> None:
    for name in ("a" * 120 + ".md", "a" * 30 + "/" + "a" * 200 + ".md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text(line)
    files = walk(tmp_path, [line]).files
    assert len(files) == (0 if line.startswith("?") else 2)


@pytest.mark.parametrize("pattern", ["!", "//", "a\\", "!/"])
def test_an_invalid_pattern_is_named(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(ConfigError, match=r"\[index\] exclude has an invalid pattern"):
        walk(tmp_path, [pattern])
    (tmp_path / "a.md").touch()
    (tmp_path / ".gitignore").write_text(f"{pattern}\n")
    assert [file.path for file in walk(tmp_path).files] == ["a.md"]


def test_an_excluded_memory_folder_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    (tmp_path / "memory" / "a.md").touch()
    assert not walk(tmp_path, ["memory"]).files
    assert not walk(tmp_path, ["/memory/"]).files


def test_patterns_beyond_a_limit_are_left_out_and_that_is_a_problem(tmp_path: Path) -> None:
    """Each file is compared with every pattern: a clone could hold half a million."""
    for folder in ("", "sub/"):
        (tmp_path / folder).mkdir(exist_ok=True)
        patterns = "".join(f"x{number}\n" for number in range(MOST_RULES // 2))
        (tmp_path / folder / ".gitignore").write_text(f"{patterns}/early.md\n")
        (tmp_path / folder / "early.md").touch()
    walked = walk(tmp_path)
    assert [file.path for file in walked.files] == ["sub/early.md"]
    (problem,) = walked.problems
    assert (problem.path, "only 5,000 patterns" in problem.reason) == (".gitignore", True)
    with pytest.raises(ConfigError, match="more than 5,000 patterns"):
        walk(tmp_path, ["a"] * (MOST_RULES + 1))


def test_long_patterns_are_left_out_or_count_as_several(tmp_path: Path) -> None:
    """Each is made an expression by every command, which takes time: one of a megabyte, minutes."""
    (tmp_path / "a.md").touch()
    (tmp_path / ".gitignore").write_text("?" * 5_000 + "\n*.md" + "*" * 5_000 + "\n")
    assert [file.path for file in walk(tmp_path).files] == ["a.md"]
    long_ones = "".join("x" * 4_080 + f"{number}\n" for number in range(250))
    (tmp_path / ".gitignore").write_text(f"{long_ones}*\n")
    walked = walk(tmp_path)
    assert [file.path for file in walked.files] == ["a.md"]
    assert [problem.path for problem in walked.problems] == [".gitignore"]
    with pytest.raises(ConfigError, match="more than 4,096 characters"):
        walk(tmp_path, ["?" * 5_000])


def test_a_link_is_not_followed_for_patterns(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "a.md").touch()
    (tmp_path / "private").write_text("a.md\n")
    (tmp_path / "base" / ".gitignore").symlink_to(tmp_path / "private")
    assert [file.path for file in walk(tmp_path / "base").files] == ["a.md"]
