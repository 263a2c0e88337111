"""Folders, and the lines of a run of indexing."""

from pathlib import Path

import pytest

from kbx_tui.index.build.progress import Progress
from kbx_tui.index.path_filter import PathFilter
from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.engine.index_sync import IndexRun
from kbx_tui.tui.indexing.model import (
    FolderTree,
    count_by_folder,
    folders_in,
    path_of,
    toggled,
    tree_of,
)
from kbx_tui.tui.indexing.screen import stage_lines

PATHS = (
    "memory/index.md",
    "memory/meetings/2025/a.md",
    "memory/meetings/2026/b.md",
    "memory/meetings/2026/c.md",
    "memory/people/ida.md",
    "memory/odd {name}, [1]/x.md",
)
TREE = tree_of(PATHS)


def in_scope(path: str) -> set[str]:
    """Return what a path filter selects, without `memory/`."""
    selected = PathFilter.parse(path, Path("/base")).among(sorted(PATHS))
    return {each.removeprefix("memory/") for each in PATHS if selected.matches(each)}


def test_folders_count_what_is_below_and_show_it_when_open() -> None:
    counts = count_by_folder(PATHS)
    assert (counts[""], counts["memory/meetings"], counts["memory/meetings/2026"]) == (6, 3, 2)
    assert TREE.own_documents("memory") == 1
    assert tree_of(()).rows({""}) == ()

    assert [row.path for row in TREE.rows({""})] == ["", "memory"]
    rows = TREE.rows({"", "memory", "memory/meetings"})
    assert [(row.path, row.depth) for row in rows][3:5] == [
        ("memory/meetings/2025", 3),
        ("memory/meetings/2026", 3),
    ]


def test_marks_say_how_much_of_a_folder_is_in_scope() -> None:
    scope = count_by_folder(["memory/meetings/2025/a.md", "memory/people/ida.md"])
    tree = FolderTree(TREE.documents, TREE.children, in_scope=scope)
    marks = {row.path: row.mark for row in tree.rows({"", "memory", "memory/meetings"})}
    assert marks["memory/people"] == marks["memory/meetings/2025"] == "all"
    assert marks["memory/meetings"] == marks[""] == "some"
    assert marks["memory/meetings/2026"] == "none"
    assert {row.mark for row in TREE.rows({"", "memory"})} == {""}


def test_first_folder_is_the_only_one_and_others_join_it() -> None:
    path = toggled("", "memory/people", TREE)
    assert path == "memory/people/"
    path = toggled(path, "memory/meetings/2025", TREE)
    assert path == "{memory/meetings/2025/,memory/people/}"
    assert in_scope(path) == {"meetings/2025/a.md", "people/ida.md"}
    assert toggled(path, "memory/people", TREE) == "memory/meetings/2025/"
    assert toggled("memory/meetings/2025/", "memory/meetings/2025", TREE) == ""
    assert toggled(path, "", TREE) == ""


def test_added_folder_replaces_those_below_it_and_a_filter_of_another_kind() -> None:
    path = "{memory/meetings/2025/,memory/people/}"
    assert toggled(path, "memory", TREE) == "memory/"
    assert folders_in("memory/**/2026*") is None
    assert toggled("memory/**/2026*", "memory/people", TREE) == "memory/people/"


def test_folder_taken_out_leaves_everything_else_of_the_one_around_it() -> None:
    path = toggled("memory", "memory/meetings/2026", TREE)
    assert in_scope(path) == {
        "index.md",
        "meetings/2025/a.md",
        "people/ida.md",
        "odd {name}, [1]/x.md",
    }
    assert in_scope(toggled(path, "memory/meetings/2026", TREE)) == in_scope("memory")


@pytest.mark.parametrize("folder", ["memory/odd {name}, [1]", "memory/people"])
def test_signs_in_names_are_not_wildcards(folder: str) -> None:
    path = path_of({folder, "memory/meetings/2025"})
    assert folders_in(path) == frozenset({folder, "memory/meetings/2025"})
    assert in_scope(path) == {"meetings/2025/a.md"} | in_scope(f"{folder}/")


def text_of(line: Line) -> str:
    return "".join(span.text for span in line)


def test_stage_shows_a_bar_count_rate_and_time_left() -> None:
    run = IndexRun().in_state("counting")
    run = run.with_progress(Progress("reading", 100, 100, 50.0, 0.0, False))
    run = run.with_progress(Progress("vectors", 300, 1200, 40.0, 22.5, True))
    lines = [text_of(line) for line in stage_lines(run, 80)]
    assert len(lines) == 1  # what is done has no bar
    assert "300 of 1,200  40/s  22 s left" in lines[-1]
    assert lines[-1].count("━") * 3 == lines[-1].count("─")
    assert [text_of(line) for line in stage_lines(run, 80, few=True)] == lines[-1:]
    assert all(len(line) <= 80 for line in lines)


def test_run_ends_with_all_stages_over_but_a_stopped_one_keeps_its_place() -> None:
    run = IndexRun().with_progress(Progress("vectors", 300, 1200, 40.0, 22.5, True))
    assert stage_lines(run.in_state("idle"), 80) == []
    stopped = run.in_state("stopped")
    assert stage_lines(stopped, 80) == stage_lines(run, 80)
    assert stopped.short_words == "stopped"
