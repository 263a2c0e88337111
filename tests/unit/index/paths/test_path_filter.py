"""A path filter selects a folder or file only, or what its wildcards match."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbx_tui.errors import ConfigError
from kbx_tui.index.path_filter import (
    MAX_ALTERNATIVES,
    PathFilter,
    alternatives,
    complete,
    complete_inner_folder,
    similar_paths,
)
from tests.unit.index.paths.reference_globs import in_scope, trees, trees_and_patterns

ROOT = Path("/base")


@pytest.mark.parametrize(
    ("text", "prefix"),
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
def test_spellings_of_one_path_give_the_same_filter(text: str | None, prefix: str) -> None:
    assert PathFilter.parse(text, ROOT).prefix == prefix


@pytest.mark.parametrize(
    "outside",
    [
        "..", "memory/../..", "/elsewhere", "/base/../x",
        "*/../../x", "{a,../b}", "/else*/x", "a/{..,b}/../*",
    ],
)  # fmt: skip
def test_a_path_outside_the_base_is_an_error(outside: str) -> None:
    with pytest.raises(ConfigError, match="give one below it"):
        PathFilter.parse(outside, ROOT)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[" * 1_000_000, "1,000,000 characters; a path has at most 4,096"),
        ("{a,b}" * 8 + "*x" * 1000, "too much text"),
    ],
    ids=["path", "braces"],
)
def test_a_path_longer_than_any_file_has_is_an_error(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        PathFilter.parse(text, ROOT)


@pytest.mark.parametrize("path", ["memory/café", "memory/caf[é]/*"])
def test_both_unicode_forms_of_a_path_are_equal(path: str) -> None:
    decomposed = unicodedata.normalize("NFD", path)
    assert PathFilter.parse(decomposed, ROOT).matches("memory/café/a.md")


@given(st.text(alphabet="ab%_'\\\"é ", min_size=1, max_size=6).filter(str.strip))
def test_exactly_the_files_below_a_folder_match(name: str) -> None:
    path_filter = PathFilter.parse(f"memory/{name}/", ROOT)
    folder = unicodedata.normalize("NFC", name)
    assert path_filter.matches(f"memory/{folder}/x.md")
    assert not path_filter.matches(f"memory/{folder}x/x.md")


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
    """Return the files of the tree that a path filter selects, without `memory/`."""
    path_filter = PathFilter.parse(path, ROOT).among(TREE)
    return [file.removeprefix("memory/") for file in TREE if path_filter.matches(file)]


MEETINGS = ["meetings/2026/01/a.md", "meetings/2026/03/deep/b.md"]
PEOPLE = ["people/alice.md", "people/bob.md"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("people", PEOPLE),
        ("people/", PEOPLE),
        ("2026/03", ["meetings/2026/03/deep/b.md"]),
        ("deep", ["meetings/2026/03/deep/b.md"]),
        ("memory/people", PEOPLE),
        ("top.md", ["top.md"]),
        ("/people", []),
        ("./people", []),
        ("peop", []),
        ("alice.md", []),
        ("peop*/", []),
        ("026/03", []),
    ],
)
def test_a_folder_that_is_not_at_the_top_is_meant_at_any_depth(
    path: str, expected: list[str]
) -> None:
    path_filter = PathFilter.parse(path, Path("/")).or_at_any_depth(TREE).among(TREE)
    found = [file.removeprefix("memory/") for file in TREE if path_filter.matches(file)]
    assert found == expected


def test_a_folder_at_the_top_is_meant_before_those_below() -> None:
    tree = ["notes/a.md", "work/notes/b.md"]
    path_filter = PathFilter.parse("notes", ROOT).or_at_any_depth(tree)
    assert [file for file in tree if path_filter.matches(file)] == ["notes/a.md"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("peo", ("people/", "people_ops/")),
        ("2026/", ("2026/01/", "2026/03/", "2026/04/")),
        ("mem", ()),
        ("ople", ()),
        ("", ()),
    ],
)
def test_folders_below_others_are_completed(text: str, expected: tuple[str, ...]) -> None:
    assert complete_inner_folder(TREE, text) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("memory/people", PEOPLE),  # not those of people_ops
        ("top.md", ["top.md"]),
        ("memory/meetings/2026/0[1-3]/", MEETINGS),
        ("memory/meetings/2026/0[1-3]", []),  # matches folders, not their content
        ("memory/meetings/2026/0[!4]/", MEETINGS),
        ("memory/meetings/*/04/", ["meetings/2026/04/c.md"]),
        ("memory/meetings/**/b.md", ["meetings/2026/03/deep/b.md"]),
        ("memory/people/**/alice.md", ["people/alice.md"]),  # `**/` also matches nothing
        ("memory/people/*.md", PEOPLE),
        ("memory/people/???.md", ["people/bob.md"]),
        ("memory/*.md", []),  # a star stays inside its folder
        ("*.md", ["top.md"]),
        ("**/people/", PEOPLE),
        ("memory/{people,people_ops}/", [*PEOPLE, "people_ops/x.md"]),
        ("memory/people{,_ops}/*", [*PEOPLE, "people_ops/x.md"]),
        ("{memory/people/,top.md}", [*PEOPLE, "top.md"]),
        ("memory/notes/a[1].md", ["notes/a[1].md"]),  # a file of exactly that name
        ("memory/notes/a[[]1].md", ["notes/a[1].md"]),
        ("memory/notes/a[0-9].md", ["notes/a1.md"]),
        ("memory/notes/{a,b}.md", ["notes/{a,b}.md"]),
        ("memory/notes/[{]a,b}.md", ["notes/{a,b}.md"]),
        ("memory/notes/[ab", []),  # unclosed, so a literal name
        ("memory/notes/{a", []),
        ("memory/PEOPLE/", []),
        ("/base/memory/people/a*", ["people/alice.md"]),
        ("./memory/x/../people/a*", ["people/alice.md"]),
        ("nowhere/**", []),
    ],
)
def test_a_glob_selects_the_expected_files(path: str, expected: list[str]) -> None:
    assert scope(path) == expected


@pytest.mark.parametrize("path", ["", ".", "./", "/base", "/base/", "**", "**/", "**/**", "{./,x}"])
def test_equivalents_of_the_root_select_all_files(path: str) -> None:
    assert len(scope(path)) == len(TREE)


def test_wildcard_characters_in_the_name_of_the_root_are_literal() -> None:
    root = Path("/base [1]/{a,b}")
    assert PathFilter.parse("/base [1]/{a,b}/memory/x", root).prefix == "memory/x"
    assert PathFilter.parse("/base [1]/{a,b}/memory/*", root).globs == ("memory/*",)


def test_a_path_may_reach_the_root_through_a_symbolic_link(tmp_path: Path) -> None:
    root, link = tmp_path / "base", tmp_path / "link"
    root.mkdir()
    link.symlink_to(root)
    assert PathFilter.parse(f"{link}/memory/x", root).prefix == "memory/x"
    assert PathFilter.parse(f"{link}/memory/*.md", root).globs == ("memory/*.md",)
    assert PathFilter.parse(f"{root}/memory/x", link).prefix == "memory/x"


@settings(max_examples=100)
@given(trees_and_patterns())
@example((["a1.md", "a[1].md"], "a[1].md"))
@example((["a/b/a/ab"], "**a*b"))
def test_a_filter_agrees_with_the_reference(tree_and_pattern: tuple[list[str], str]) -> None:
    tree, pattern = tree_and_pattern
    if pattern.strip().startswith("/"):
        return  # absolute, see test_path_filter
    try:
        expected = in_scope(pattern, tree)
    except ConfigError:
        with pytest.raises(ConfigError):
            PathFilter.parse(pattern, ROOT)
        return
    path_filter = PathFilter.parse(pattern, ROOT).among(tree)
    assert [path for path in tree if path_filter.matches(path)] == expected


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("a", ("a",)),
        ("{a,b}c", ("ac", "bc")),
        ("{a,{b,c}d}", ("a", "bd", "cd")),
        ("{a,b}{c,d}", ("ac", "ad", "bc", "bd")),
        ("x{,y}", ("x", "xy")),
        ("{a}", ("{a}",)),
        ("{a{b,c}}", ("{ab}", "{ac}")),
        ("{a,b", ("{a,b",)),
        ("{a,{b,c}", ("{a,b", "{a,c")),
        ("a,b}", ("a,b}",)),
        ("[{]a,b}", ("[{]a,b}",)),
        ("{a,a}", ("a",)),
    ],
)
def test_braces_are_expanded_as_in_a_shell(text: str, expanded: tuple[str, ...]) -> None:
    assert alternatives(text) == expanded


@pytest.mark.parametrize(
    "text", ["{a,b}" * 10, "{" * 5000 + "," + "}" * 5000 + "{a,b}" * 20, "{" + "a," * 2000 + "}",
             "{a," * 1500 + "}" * 1500]
)  # fmt: skip
def test_too_many_alternatives_are_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=f"more than {MAX_ALTERNATIVES:,} paths; write fewer"):
        alternatives(text)


@pytest.mark.parametrize(
    "stars", ["*a" * 30 + "b", "**a" * 30 + "b", "**/*a" * 30 + "/b", "*" * 999]
)
def test_patterns_with_many_stars_match_fast(stars: str) -> None:
    path_filter = PathFilter.parse(stars, ROOT)
    assert not path_filter.matches("a/" * 200 + "a" * 200 + "/c") or set(stars) == {"*"}


PATH_COMPLETION_TREE = sorted(
    [
        "memory/README.md",
        "memory/meetings/2026/01/a.md",
        "memory/meetings/2026/03/b.md",
        "memory/mentors.md",
        "memory/notes[1]/a.md",
        "memory/people-ops/x.md",
        "memory/people/alice.md",
        "memory/people/bob.md",
        "top.md",
    ]
)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("", ["memory/", "top.md"]),
        ("m", ["memory/"]),
        ("memory", ["memory/"]),
        ("memory/me", ["memory/meetings/", "memory/mentors.md"]),
        ("memory/people", ["memory/people-ops/", "memory/people/"]),
        ("memory/people/", ["memory/people/alice.md", "memory/people/bob.md"]),
        ("memory/meetings/2026/", ["memory/meetings/2026/01/", "memory/meetings/2026/03/"]),
        ("./memory/n", ["./memory/notes[1]/"]),
        ("/base/t", ["/base/top.md"]),
        ("memory/x/../people/a", ["memory/x/../people/alice.md"]),
        ("memory/notes[1]/", ["memory/notes[1]/a.md"]),
        ("nowhere/", []),
        ("Memory", []),
        ("../", []),
        ("/elsewhere/", []),
    ],
)
def test_a_typed_path_is_completed_by_one_level(typed: str, expected: list[str]) -> None:
    assert complete(PATH_COMPLETION_TREE, typed, ROOT, 20) == tuple(expected)


def test_completions_are_limited() -> None:
    assert complete(PATH_COMPLETION_TREE, "memory/", ROOT, 3) == (
        "memory/meetings/", "memory/notes[1]/", "memory/people-ops/",
    )  # fmt: skip


@given(trees, st.data())
def test_any_prefix_of_a_path_has_a_completion(tree: list[str], data: st.DataObject) -> None:
    tree = [path for path in tree if path == path.strip() and "//" not in path]
    if not tree:
        return
    path = data.draw(st.sampled_from(tree))
    typed = path[: data.draw(st.integers(0, len(path)))]
    completions = complete(tree, typed, ROOT, 100)
    assert all(text.startswith(typed) for text in completions)
    assert any(
        path == text or (text.endswith("/") and path.startswith(text)) for text in completions
    )
    assert all("/" not in text[len(typed) :].rstrip("/") for text in completions)


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("mee", ["memory/meetings/"]),
        ("mtg", ["memory/meetings/"]),
        ("Meetings/20", ["memory/meetings/2025/", "memory/meetings/2026/"]),
        ("alice", ["memory/people/alice-chen.md"]),
        ("zzz", []),
        ("m*", []),
        ("/", []),
    ],
)
def test_a_part_of_a_name_finds_folders_and_else_files(typed: str, expected: list[str]) -> None:
    paths = [
        "memory/meetings/2025/a.md",
        "memory/meetings/2026/b.md",
        "memory/people/alice-chen.md",
    ]
    assert similar_paths(paths, typed, 20) == tuple(expected)
