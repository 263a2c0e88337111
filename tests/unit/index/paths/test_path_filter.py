"""A path filter means the same everywhere: that folder or file, and nothing beside it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.index.paths.path_filter import PathFilter

ROOT = Path("/base")


@pytest.mark.parametrize(
    ("given_path", "prefix"),
    [
        (None, ""),
        ("", ""),
        ("  ", ""),
        (".", ""),
        ("./memory", "memory"),
        ("memory/", "memory"),
        ("memory//people/", "memory/people"),
        ("memory/x/../people", "memory/people"),
        ("/base/memory", "memory"),
        ("/base", ""),
        ("memory/100%_a'b", "memory/100%_a'b"),
    ],
)
def test_ways_to_write_one_path_are_one_filter(given_path: str | None, prefix: str) -> None:
    assert PathFilter.parse(given_path, ROOT).prefix == prefix


@pytest.mark.parametrize("outside", ["..", "memory/../..", "/elsewhere", "/base/../x"])
def test_a_path_out_of_the_base_is_refused(outside: str) -> None:
    with pytest.raises(ConfigError, match="give one below it"):
        PathFilter.parse(outside, ROOT)


def test_a_folder_does_not_cover_what_only_begins_like_it() -> None:
    people = PathFilter.parse("memory/people", ROOT)
    assert people.matches("memory/people/a.md")
    assert not people.matches("memory/people_ops/a.md")
    assert not people.matches("memory/people.md")


def test_a_file_covers_itself() -> None:
    assert PathFilter.parse("memory/a.md", ROOT).matches("memory/a.md")


def test_both_unicode_forms_of_a_path_are_one() -> None:
    decomposed = unicodedata.normalize("NFD", "memory/café")
    assert PathFilter.parse(decomposed, ROOT).matches("memory/café/a.md")


@given(st.text(alphabet="ab%_'\\\"é ", min_size=1, max_size=6).filter(str.strip))
def test_everything_below_a_prefix_is_in_scope_and_nothing_else(name: str) -> None:
    chosen = PathFilter.parse(f"memory/{name}/", ROOT)
    folder = unicodedata.normalize("NFC", name)
    assert chosen.matches(f"memory/{folder}/x.md")
    assert not chosen.matches(f"memory/{folder}x/x.md")


TREE = sorted(
    [
        "memory/meetings/2026/01/a.md",
        "memory/meetings/2026/03/deep/b.md",
        "memory/meetings/2026/04/c.md",
        "memory/notes/a1.md",
        "memory/notes/a[1].md",
        "memory/notes/{a,b}.md",
        "memory/people/alice.md",
        "memory/people/bob.md",
        "memory/people_ops/x.md",
        "top.md",
    ]
)


def scope(path: str) -> list[str]:
    """Return what a path lets in of the tree, without `memory/`."""
    chosen = PathFilter.parse(path, ROOT).among(TREE)
    return [one.removeprefix("memory/") for one in TREE if chosen.matches(one)]


MEETINGS = ["meetings/2026/01/a.md", "meetings/2026/03/deep/b.md"]
PEOPLE = ["people/alice.md", "people/bob.md"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/meetings/2026/0[1-3]/", MEETINGS),
        ("memory/meetings/2026/0[1-3]", []),  # names folders, and asks for no content
        ("memory/meetings/2026/0[!4]/", MEETINGS),
        ("memory/meetings/*/04/", ["meetings/2026/04/c.md"]),
        ("memory/meetings/**/b.md", ["meetings/2026/03/deep/b.md"]),
        ("memory/people/**/alice.md", ["people/alice.md"]),  # `**/` also stands for nothing
        ("memory/people/*.md", PEOPLE),
        ("memory/people/???.md", ["people/bob.md"]),
        ("memory/*.md", []),  # a star stays inside its folder
        ("*.md", ["top.md"]),
        ("**/people/", PEOPLE),
        ("memory/{people,people_ops}/", [*PEOPLE, "people_ops/x.md"]),
        ("memory/people{,_ops}/*", [*PEOPLE, "people_ops/x.md"]),
        ("{memory/people/,top.md}", [*PEOPLE, "top.md"]),
        ("memory/notes/a[1].md", ["notes/a[1].md"]),  # a file that is really called so
        ("memory/notes/a[[]1].md", ["notes/a[1].md"]),
        ("memory/notes/a[0-9].md", ["notes/a1.md"]),
        ("memory/notes/{a,b}.md", ["notes/{a,b}.md"]),
        ("memory/notes/[{]a,b}.md", ["notes/{a,b}.md"]),
        ("memory/notes/[ab", []),  # not closed, so a name that nothing has
        ("memory/notes/{a", []),
        ("memory/PEOPLE/", []),
        ("/base/memory/people/a*", ["people/alice.md"]),
        ("./memory/x/../people/a*", ["people/alice.md"]),
        ("nowhere/**", []),
    ],
)
def test_a_glob_lets_in_what_the_grammar_says(path: str, expected: list[str]) -> None:
    assert scope(path) == expected


@pytest.mark.parametrize("path", ["", ".", "./", "/base", "/base/", "**", "**/", "**/**", "{./,x}"])
def test_these_let_everything_in(path: str) -> None:
    assert len(scope(path)) == len(TREE)


def test_a_root_whose_name_looks_like_a_glob_is_only_a_name() -> None:
    root = Path("/base [1]/{a,b}")
    assert PathFilter.parse("/base [1]/{a,b}/memory/x", root).prefix == "memory/x"
    assert PathFilter.parse("/base [1]/{a,b}/memory/*", root).globs == ("memory/*",)


def test_a_root_may_be_named_through_a_link(tmp_path: Path) -> None:
    root, link = tmp_path / "base", tmp_path / "link"
    root.mkdir()
    link.symlink_to(root)
    assert PathFilter.parse(f"{link}/memory/x", root).prefix == "memory/x"
    assert PathFilter.parse(f"{link}/memory/*.md", root).globs == ("memory/*.md",)
    assert PathFilter.parse(f"{root}/memory/x", link).prefix == "memory/x"


@pytest.mark.parametrize("outside", ["*/../../x", "{a,../b}", "/else*/x", "a/{..,b}/../*"])
def test_a_glob_out_of_the_base_is_refused(outside: str) -> None:
    with pytest.raises(ConfigError, match="give one below it"):
        PathFilter.parse(outside, ROOT)


def test_both_unicode_forms_of_a_glob_are_one() -> None:
    decomposed = unicodedata.normalize("NFD", "memory/caf[é]/*")
    assert PathFilter.parse(decomposed, ROOT).matches("memory/café/a.md")
