from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.knowledge.continuation_titles import (
    MAX_GAP_DAYS,
    ParsedTitle,
    continuation_pairs,
    continued_bases,
    follows,
    parse_title,
)
from kbx_tui.knowledge.folding import name_key


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Board offsite, part 2 of 5", ParsedTitle("board offsite", 2, 5, is_continuation=True)),
        ("Board offsite, part 1 of 5", ParsedTitle("board offsite", 1, 5)),
        ("Board offsite (Part 12)", ParsedTitle("board offsite", 12, is_continuation=True)),
        ("Board offsite - Part IV", ParsedTitle("board offsite", 4, is_continuation=True)),
        ("board-offsite-part-2", ParsedTitle("board offsite", 2, is_continuation=True)),
        ("Board offsite (3/5)", ParsedTitle("board offsite", 3, 5, is_continuation=True)),
        ("Board offsite [3 of 5]", ParsedTitle("board offsite", 3, 5, is_continuation=True)),
        ("Klausur, Teil 2 von 3", ParsedTitle("klausur", 2, 3, is_continuation=True)),
        ("Réunion, partie 2/3", ParsedTitle("reunion", 2, 3, is_continuation=True)),
        ("Part 2 of the offsite", ParsedTitle("of the offsite", 2, is_continuation=True)),
        ("Board offsite (continued)", ParsedTitle("board offsite", is_continuation=True)),
        (
            "Board offsite (continuation from Tuesday)",
            ParsedTitle("board offsite", is_continuation=True),
        ),
        ("Board offsite — cont’d", ParsedTitle("board offsite", is_continuation=True)),
        ("Board offsite continuation", ParsedTitle("board offsite", is_continuation=True)),
        ("Continuation: Board offsite", ParsedTitle("board offsite", is_continuation=True)),
        (
            "Continuation from last week: Board offsite",
            ParsedTitle("board offsite", is_continuation=True),
        ),
        ("Continuation of Board offsite", ParsedTitle("board offsite", is_continuation=True)),
    ],
)
def test_title_of_a_part_is_parsed(title: str, expected: ParsedTitle) -> None:
    assert parse_title(title) == expected


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
def test_title_without_a_part_is_its_own_base(title: str) -> None:
    assert parse_title(title) == ParsedTitle(name_key(title))


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
def test_only_the_beginning_of_a_long_title_is_parsed(title: str) -> None:
    assert parse_title(title) == parse_title(title[:300])  # else backtracking takes seconds


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
def test_follows_accepts_the_next_part_only(before: str, after: str, *, expected: bool) -> None:
    assert follows(parse_title(after), parse_title(before)) is expected


def test_continued_bases_are_those_with_a_continuation() -> None:
    titles = ["A, part 1", "B (continued)", "B", "C, part 2", "D"]
    assert continued_bases(titles) == {"b", "c"}


def pairs(*documents: tuple[str, str, str], kinds: tuple[str, ...] = ()) -> set[tuple[int, int]]:
    """Return the pairs of rows for documents given as path, title and date."""
    paths, titles, dates = zip(*documents, strict=True)
    return set(continuation_pairs(titles, kinds or ("meeting",) * len(paths), dates, paths))


def test_parts_are_paired_by_number_not_by_path() -> None:
    result = pairs(
        ("a/one.md", "Offsite, part 1 of 11", "2026-01-02"),
        ("a/p10.md", "Offsite, part 10 of 11", "2026-01-02"),
        ("a/p11.md", "Offsite, part 11 of 11", "2026-01-02"),
        ("a/p2.md", "Offsite, part 2 of 11", "2026-01-02"),
        ("a/q.md", "Something else", "2026-01-02"),
    )
    assert result == {(0, 3), (1, 2)}


def test_continuation_is_paired_with_the_latest_earlier_document_of_its_folder() -> None:
    result = pairs(
        ("1.md", "Realms", "2025-01-01"),
        ("2.md", "Realms", "2025-03-01"),
        ("3.md", "Realms (continued)", "2025-03-02"),
        ("4.md", "Realms", "2025-05-01"),
    )
    assert result == {(1, 2)}

    result = pairs(
        ("a/1.md", "Planning, part 1 of 2", "2026-01-01"),
        ("b/1.md", "Planning, part 1 of 2", "2026-01-02"),
        ("a/2.md", "Planning, part 2 of 2", "2026-01-03"),
        ("b/2.md", "Planning, part 2 of 2", "2026-01-04"),
    )
    assert result == {(0, 2), (1, 3)}


def test_series_with_equal_titles_in_other_folders_or_weeks_are_not_mixed() -> None:
    result = pairs(
        ("a/1.md", "Planning (1/2)", "2026-01-01"),
        ("a/2.md", "Planning (2/2)", "2026-01-01"),
        ("b/1.md", "Planning (1/2)", "2026-01-01"),
        ("b/2.md", "Planning (2/2)", "2026-01-01"),
        ("c/1.md", "Planning (1/2)", "2026-01-08"),
        ("c/2.md", "Planning (2/2)", "2026-01-08"),
    )
    assert result == {(0, 1), (2, 3), (4, 5)}


def test_documents_of_different_kinds_are_not_paired() -> None:
    documents = ("1.md", "Plan", "2026-01-01"), ("2.md", "Plan (continued)", "2026-01-02")
    assert pairs(*documents) == {(0, 1)}
    assert pairs(*documents, kinds=("note", "meeting")) == set()


@pytest.mark.parametrize("first", ["Offsite", "Offsite, part 1"])
def test_continuation_on_the_same_day_follows_regardless_of_path(first: str) -> None:
    result = pairs(
        ("m/offsite-continued.md", "Offsite (continued)", "2026-01-02"),
        ("m/offsite.md", first, "2026-01-02"),
    )
    assert result == {(1, 0)}


def test_continuation_after_the_maximum_gap_is_not_paired() -> None:
    first = date(2026, 1, 1)
    for days, expected in ((MAX_GAP_DAYS, {(0, 1)}), (MAX_GAP_DAYS + 1, set())):
        later = (first + timedelta(days)).isoformat()
        result = pairs(("1.md", "Retro", first.isoformat()), ("2.md", "Retro (continued)", later))
        assert result == expected


def test_a_month_counts_as_its_first_day_and_no_date_within_a_folder_only() -> None:
    assert pairs(("a/1.md", "Plan", "2026-01"), ("b/2.md", "Plan (continued)", "2026-01-02"))
    assert not pairs(("a/1.md", "Plan", "2025"), ("a/2.md", "Plan (continued)", "2026-01-02"))

    assert pairs(("a/1.md", "Plan", ""), ("a/2.md", "Plan (continued)", "")) == {(0, 1)}
    assert pairs(("a/1.md", "Plan", ""), ("b/2.md", "Plan (continued)", "")) == set()


@given(
    st.lists(st.sampled_from(["a (2/3)", "a (1/3)", "b, cont.", "c\0 part 2", "plain", "İ", ""]))
)
def test_titles_searched_together_are_those_searched_alone(titles: list[str]) -> None:
    parsed = map(parse_title, titles)
    assert continued_bases(titles) == {each.base for each in parsed if each.is_continuation}
