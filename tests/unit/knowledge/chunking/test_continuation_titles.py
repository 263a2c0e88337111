"""Which titles say that a document is a part of a longer one."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from kbx_tui.knowledge.chunking.continuation_titles import (
    LONGEST_GAP,
    Part,
    follows,
    pairs_of_parts,
    part_of,
    wholes_of,
)
from kbx_tui.knowledge.folding import name_key


@pytest.mark.parametrize(
    ("title", "part"),
    [
        ("Board offsite, part 2 of 5", Part("board offsite", 2, 5, continues=True)),
        ("Board offsite, part 1 of 5", Part("board offsite", 1, 5)),
        ("Board offsite (Part 12)", Part("board offsite", 12, continues=True)),
        ("Board offsite - Part IV", Part("board offsite", 4, continues=True)),
        ("board-offsite-part-2", Part("board offsite", 2, continues=True)),
        ("Board offsite (3/5)", Part("board offsite", 3, 5, continues=True)),
        ("Board offsite [3 of 5]", Part("board offsite", 3, 5, continues=True)),
        ("Klausur, Teil 2 von 3", Part("klausur", 2, 3, continues=True)),
        ("Réunion, partie 2/3", Part("reunion", 2, 3, continues=True)),
        ("Part 2 of the offsite", Part("of the offsite", 2, continues=True)),
        ("Board offsite (continued)", Part("board offsite", continues=True)),
        ("Board offsite (continuation from Tuesday)", Part("board offsite", continues=True)),
        ("Board offsite — cont’d", Part("board offsite", continues=True)),
        ("Board offsite continuation", Part("board offsite", continues=True)),
        ("Continuation: Board offsite", Part("board offsite", continues=True)),
        ("Continuation from last week: Board offsite", Part("board offsite", continues=True)),
        ("Continuation of Board offsite", Part("board offsite", continues=True)),
    ],
)
def test_a_title_says_which_part_of_what(title: str, part: Part) -> None:
    assert part_of(title) == part


@pytest.mark.parametrize(
    "title",
    [
        "Board offsite",
        "Party of 5 at the board",
        "Spare parts 2026",
        "Q1/Q2 planning",
        "Report (1/2026)",
        "Weekly sync (10/3)",
        "Support 24/7 (24/7)",
        "Continuous integration",
        "Continued fractions in practice",
        "Continued growth: Q3 plan",
        "Offsite (to be continued)",
        "Part 2",
        "Part mmxx",
        "Part ²",
        "",
    ],
)
def test_a_title_that_says_nothing_is_itself_the_whole(title: str) -> None:
    assert part_of(title) == Part(name_key(title))


@pytest.mark.parametrize(
    "title",
    [
        "/" + "-" * 100_000 + "x",
        "(" * 100_000 + " part",
        "(" + "continued " * 10_000,
        "part 1" + " " * 100_000 + "x",
        "part " * 20_000,
    ],
)
def test_only_the_beginning_of_a_long_title_is_looked_at(title: str) -> None:
    assert part_of(title) == part_of(title[:300])  # else some take seconds, going back and forth


@pytest.mark.parametrize(
    ("before", "after", "expected"),
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
        ("A, part 1 of 2", "A, part 2 of 9", False),
        ("A, part 1", "A, part 2 of 9", True),
    ],
)
def test_a_part_follows_the_one_before_it(before: str, after: str, *, expected: bool) -> None:
    assert follows(part_of(after), part_of(before)) is expected


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


def test_series_that_take_turns_are_told_apart_by_their_folders() -> None:
    found = pairs(
        ("a/1.md", "Planning, part 1 of 2", "2026-01-01"),
        ("b/1.md", "Planning, part 1 of 2", "2026-01-02"),
        ("a/2.md", "Planning, part 2 of 2", "2026-01-03"),
        ("b/2.md", "Planning, part 2 of 2", "2026-01-04"),
    )
    assert found == {(0, 2), (1, 3)}


@pytest.mark.parametrize("first", ["Offsite", "Offsite, part 1"])
def test_what_is_continued_on_the_same_day_follows_whatever_its_path(first: str) -> None:
    found = pairs(
        ("m/offsite-continued.md", "Offsite (continued)", "2026-01-02"),
        ("m/offsite.md", first, "2026-01-02"),
    )
    assert found == {(1, 0)}


def test_what_goes_on_long_after_is_another_matter() -> None:
    first = date(2026, 1, 1)
    for days, expected in ((LONGEST_GAP, {(0, 1)}), (LONGEST_GAP + 1, set())):
        later = (first + timedelta(days)).isoformat()
        found = pairs(("1.md", "Retro", first.isoformat()), ("2.md", "Retro (continued)", later))
        assert found == expected


def test_parts_without_a_date_are_near_in_one_folder() -> None:
    assert pairs(("a/1.md", "Plan", ""), ("a/2.md", "Plan (continued)", "")) == {(0, 1)}
    assert pairs(("a/1.md", "Plan", ""), ("b/2.md", "Plan (continued)", "")) == set()
