"""Which titles say that a document is a part of a longer one."""

from __future__ import annotations

import pytest

from kbx_tui.knowledge.parts import Part, follow, pairs_of_parts, part_of, wholes_of


@pytest.mark.parametrize(
    ("title", "whole", "number", "continues"),
    [
        ("Board offsite, part 2 of 5", "board offsite", 2, True),
        ("Board offsite, part 1 of 5", "board offsite", 1, False),
        ("Board offsite (Part 12)", "board offsite", 12, True),
        ("Board offsite - Part IV", "board offsite", 4, True),
        ("board-offsite-part-2", "board offsite", 2, True),
        ("Board offsite (3/5)", "board offsite", 3, True),
        ("Board offsite [3 of 5]", "board offsite", 3, True),
        ("Klausur, Teil 2 von 3", "klausur", 2, True),
        ("Réunion, partie 2/3", "reunion", 2, True),
        ("Part 2 of the offsite", "of the offsite", 2, True),
        ("Board offsite (continued)", "board offsite", 0, True),
        ("Board offsite (continuation from Tuesday)", "board offsite", 0, True),
        ("Board offsite — cont’d", "board offsite", 0, True),
        ("Board offsite continuation", "board offsite", 0, True),
        ("Continuation: Board offsite", "board offsite", 0, True),
        ("Continuation from last week: Board offsite", "board offsite", 0, True),
        ("Continuation of Board offsite", "board offsite", 0, True),
        ("Board offsite", "board offsite", 0, False),
        ("Party of 5 at the board", "party of 5 at the board", 0, False),
        ("Spare parts 2026", "spare parts 2026", 0, False),
        ("Q1/Q2 planning", "q1 q2 planning", 0, False),
        ("Continuous integration", "continuous integration", 0, False),
        ("Continued fractions in practice", "continued fractions in practice", 0, False),
        ("Part 2", "part 2", 0, False),
        ("Part mmxx", "part mmxx", 0, False),
        ("", "", 0, False),
    ],
)
def test_a_title_says_which_part_of_what(
    title: str, whole: str, number: int, continues: bool
) -> None:
    assert part_of(title) == Part(whole, number, continues)


@pytest.mark.parametrize(
    ("before", "after", "follows"),
    [
        ("A, part 1", "A, part 2", True),
        ("A, part 1", "A, part 3", False),
        ("A, part 2", "A, part 2", False),
        ("A", "A, part 2", True),
        ("A", "A (continued)", True),
        ("A, part 2", "A (continued)", True),
        ("A (continued)", "A (continued)", True),
        ("A", "A", False),
        ("A (continued)", "A", False),
        ("A, part 2", "A, part 1", False),
    ],
)
def test_a_part_follows_the_one_before_it(before: str, after: str, follows: bool) -> None:
    assert follow(part_of(before), part_of(after)) is follows


def test_wholes_are_those_of_which_something_goes_on() -> None:
    titles = ["A, part 1", "B (continued)", "B", "C, part 2", "D"]
    assert wholes_of(titles) == {"b", "c"}


def pairs(*documents: tuple[str, str, str], kinds: tuple[str, ...] = ()) -> set[tuple[int, int]]:
    """Which documents follow each other, given path, title and date of each."""
    paths, titles, dates = zip(*documents, strict=True)
    return set(pairs_of_parts(titles, kinds or ("meeting",) * len(paths), dates, paths))


def test_parts_follow_by_number_not_by_path() -> None:
    found = pairs(
        ("a/one.md", "Offsite, part 1 of 11", "2026-01-02"),
        ("a/p10.md", "Offsite, part 10 of 11", "2026-01-02"),
        ("a/p11.md", "Offsite, part 11 of 11", "2026-01-02"),
        ("a/p2.md", "Offsite, part 2 of 11", "2026-01-02"),
        ("a/q.md", "Something else", "2026-01-02"),
    )
    assert found == {(0, 3), (1, 2)}


def test_what_is_continued_goes_on_from_the_latest_before_it() -> None:
    found = pairs(
        ("1.md", "Realms", "2025-01-01"),
        ("2.md", "Realms", "2025-03-01"),
        ("3.md", "Realms (continued)", "2025-03-02"),
        ("4.md", "Realms", "2025-05-01"),
    )
    assert found == {(1, 2)}


def test_meetings_of_one_name_in_two_folders_or_weeks_are_not_mixed() -> None:
    found = pairs(
        ("a/1.md", "Planning (1/2)", "2026-01-01"),
        ("a/2.md", "Planning (2/2)", "2026-01-01"),
        ("b/1.md", "Planning (1/2)", "2026-01-01"),
        ("b/2.md", "Planning (2/2)", "2026-01-01"),
        ("c/1.md", "Planning (1/2)", "2026-01-08"),
        ("c/2.md", "Planning (2/2)", "2026-01-08"),
    )
    assert found == {(0, 1), (2, 3), (4, 5)}


def test_documents_of_another_kind_are_no_parts() -> None:
    documents = ("1.md", "Plan", "2026-01-01"), ("2.md", "Plan (continued)", "2026-01-02")
    assert pairs(*documents) == {(0, 1)}
    assert pairs(*documents, kinds=("note", "meeting")) == set()
