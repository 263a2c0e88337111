"""Which words of a query are dates, and which period they mean."""

import re
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.search.query.date_forms import DocumentDates, Period
from kbx_tui.search.request import Filters
from kbx_tui.search.retrieval.query_dates import DatedQuery, read_dates

TODAY = date(2026, 11, 23)
"""A Monday."""
EVERY_DAY = [
    (date(2024, 1, 1) + timedelta(days=n)).isoformat()
    for n in range((TODAY - date(2024, 1, 1)).days + 1)
]


def read(query: str, dates: list[str] = EVERY_DAY, names: tuple[str, ...] = ()) -> DatedQuery:
    def find_names(text: str, with_hints: bool) -> list[tuple[int, int]]:
        found = ((text.find(name), len(name)) for name in names)
        return [(start, start + size) for start, size in found if start >= 0]

    return read_dates(query, TODAY, lambda: DocumentDates(dates), find_names)


def periods(dated: DatedQuery) -> list[str]:
    return [read.period.words for read in dated.dates]


@pytest.mark.parametrize(
    ("query", "period"),
    [
        ("on 17 March", "17 March 2026"),
        ("March 17th", "17 March 2026"),
        ("the 17th of March", "17 March 2026"),
        ("the seventeenth of march", "17 March 2026"),
        ("March the twenty first", "21 March 2026"),
        ("on Tuesday, 17 March 2026", "17 March 2026"),
        ("2026-03-17", "17 March 2026"),
        ("2026/03/17", "17 March 2026"),
        ("17.3.2026", "17 March 2026"),
        ("1 Feb, 2025", "1 February 2025"),
        ("December 4, 2025", "4 December 2025"),
        ("29 February", "29 February 2024"),
        ("17-20 March", "17 to 20 March 2026"),
        ("March 3-7, 2026", "3 to 7 March 2026"),
        ("in March", "March 2026"),
        ("in december", "December 2025"),
        ("March 2026", "March 2026"),
        ("2026-03", "March 2026"),
        ("at the beginning of March 2026", "March 2026"),
        ("in mid-August 2025", "August 2025"),
        ("last month", "October 2026"),
        ("Q1 2026", "Q1 2026"),
        ("2026 Q1", "Q1 2026"),
        ("the first quarter of 2026", "Q1 2026"),
        ("in Q3", "Q3 2026"),
        ("last quarter", "Q3 2026"),
        ("in 2025", "2025"),
        ("last year", "2025"),
        ("last week", "16 to 22 November 2026"),
        ("this week", "23 to 29 November 2026"),
        ("the week of 18 March", "16 to 22 March 2026"),
        ("last weekend", "21 to 22 November 2026"),
        ("yesterday", "22 November 2026"),
        ("the day before yesterday", "21 November 2026"),
        ("today", "23 November 2026"),
        ("last Monday", "16 November 2026"),
        ("on Friday", "20 November 2026"),
        ("since March", "since 1 March 2026"),
        ("from March on", "since 1 March 2026"),
        ("after 17 March", "since 18 March 2026"),
        ("before June", "until 31 May 2026"),
        ("until March 2026", "until 31 March 2026"),
        ("by July 10, 2025", "until 10 July 2025"),
        ("since last week", "since 16 November 2026"),
        ("between March and May", "March to May 2026"),
        ("between November 2025 and February 2026", "November 2025 to February 2026"),
        ("between November and February 2026", "November 2025 to February 2026"),
        ("from 2024 to 2025", "2024 to 2025"),
        ("March to May", "March to May 2026"),
        ("the last three weeks", "3 to 23 November 2026"),
        ("in the past year", "24 November 2025 to 23 November 2026"),
        ("17 and 18 March", "17 to 18 March 2026"),
        ("week 12 of 2026", "16 to 22 March 2026"),
        ("KW 1 2026", "29 December 2025 to 4 January 2026"),
        ("this may", "May 2026"),
        ("in may", "May 2026"),
        ("since 1 March until 5 March", "1 to 5 March 2026"),
        ("between March and May 2026", "March to May 2026"),
        ("before 17 March", "until 16 March 2026"),
        ("since 2024-03-01", "since 1 March 2024"),
        ("by end of March", "until 31 March 2026"),
        ("the past 2 days", "22 to 23 November 2026"),
        ("the last two months", "24 September to 23 November 2026"),
        ("Jänner 2024", "January 2024"),
        ("17. März 2026", "17 March 2026"),
        ("1er août 2025", "1 August 2025"),
        ("diciembre de 2025", "December 2025"),
        ("4 de mayo de 2026", "4 May 2026"),
        ("4. marts 2026", "4 March 2026"),
        ("Mayo de 2026", "May 2026"),
        ("mars 2026", "March 2026"),
        ("Março 2026", "March 2026"),
        ("2025年12月", "December 2025"),
        ("2026年3月17日", "17 March 2026"),
        ("2026년 3월", "March 2026"),
    ],
)
def test_date_words_mean_a_period(query: str, period: str) -> None:
    dated = read(query)
    assert periods(dated) == [period]
    assert dated.rest == ""


@pytest.mark.parametrize(
    ("period", "is_in"),
    [
        (Period("2026-03-31", "2026-03-31"), True),
        (Period("2026-04-05", "2026-04-30"), True),
        (Period("", "2026-03-30"), True),
        (Period("2026-04-06", ""), False),
        (Period("", "2026-03-29"), False),
    ],
)
def test_a_week_is_of_each_of_its_days(period: Period, is_in: bool) -> None:
    week = "2026-03-30/04-05"
    assert period.contains(week) == is_in
    assert Filters.of(since=period.first, until=period.last).matches_date(week) == is_in
    assert DocumentDates(["", week]).any_in(period) == is_in


FALSE_FRIENDS = """
what may alice do | two mars bars | 4. Mai | why this may fail | the last may fail |
10 may be enough | may 10 users log in | we march 3 miles | in 2000 lines |
from 2000 to 2048 tokens | before the March release | since the Q1 goals |
what was agreed the week after 17 March | shown on the Sunday before October 25, 2022 |
finished last week before 23 January, 2023 | USA Today article | 9/11 | after 9/11 |
24/7 support | Plan 2026 | in Plan 2026 | release 2026.1 | 2026-W12 | 2025-2026 |
the first 2 may fail | may | march on rome | Mars 2025 | marco 2026 | Julio 2025 |
data marts 2026 | lug 2026 | MRT 2026 |
march to victory | notes may fail | Q1 | Q1 goals | Roadmap 2026 | PR #2026 | PR 2026 | issue 2026 |
version 2.2026 | v2026-03-17b | INC-2026-03 | ES2026 | Sunday Times | on Sunday Times |
the Monday standup | the last one | second | recently | next week | tomorrow | 3 years ago |
3/4/2026 | 30 February | 2026-13-45 | a rate of £2026 | the document in 2015-National model |
the note "March 2026" | 2026-03-17 12:03:44 connection refused |
1 March 2025, 2 March 2025, 3 March 2025, 4 March 2025, 5 March 2025
"""


@pytest.mark.parametrize("query", re.split(r"\s+\|\s+", FALSE_FRIENDS.strip()))
def test_false_friends_stay_words(query: str) -> None:
    assert read(query) == DatedQuery(query, query)


@pytest.mark.parametrize(
    ("query", "text", "rest"),
    [
        ("pricing last week", "pricing", "pricing"),
        ("lab meeting june", "lab meeting june", "lab meeting"),
        ("last week's standup", "standup", "standup"),
        ("last week: migration", "migration", "migration"),
        ("what did we decide yesterday?", "what did we decide?", "what did we decide?"),
        ("pricing in March", "pricing in March", "pricing"),
        ("notes of 17 March about pricing", "notes of 17 March about pricing",
         "notes about pricing"),
        ('goals before March, "last week"', 'goals, "last week"', 'goals, "last week"'),
        ("pricing since March", "pricing", "pricing"),
        ("pricing from March to April", "pricing", "pricing"),
        ("offsite 16-18 March", "offsite 16-18 March", "offsite"),
        ("to march or not to march in march", "to march or not to march in march",
         "to march or not to march"),
        ("in March or April 2025, pricing", "in March or April, pricing", "pricing"),
        ("pricing März 2026", "pricing März", "pricing"),
        ("17 de marzo de 2026, precios", "17 de marzo de, precios", "precios"),
        ("2026-03 pricing", "pricing", "pricing"),
        ("pricing 17.3.2026", "pricing", "pricing"),
        ("pricing in Q1 2026", "pricing in Q1", "pricing"),
        ("pricing in 2026", "pricing in 2026", "pricing"),
    ],
)  # fmt: skip
def test_words_that_documents_do_not_write_are_not_searched_for(
    query: str, text: str, rest: str
) -> None:
    dated = read(query)
    assert (dated.text, dated.rest) == (text, rest)


def test_date_without_a_year_is_the_latest_with_a_document() -> None:
    assert periods(read("in March", ["2023-03-05", "2022-03-04"])) == ["March 2023"]
    assert periods(read("since March", ["2024-04-01"])) == ["since 1 March 2024"]
    assert periods(read("in December", ["2026-12-01", "2025-12-01"])) == ["December 2025"]
    assert periods(read("in December", ["2026-12-01"])) == ["December 2026"]
    assert periods(read("in March", ["0001-01-01", "2025-03-02"])) == ["March 2025"]


def test_date_without_documents_is_noted_and_stays_in_the_text_if_documents_may_write_it() -> None:
    for query, text in {
        "pricing in March 2019": "pricing in March 2019",
        "2000 cases in 2000": "2000 cases in 2000",
        "pricing last week": "pricing",  # nobody writes that in a document
        "pricing since May 2029": "pricing",
        "pricing on Saturday": "pricing on Saturday",  # `Saturday boarding` is a title
    }.items():
        dated = read(query, ["2026-03-01"])
        assert not dated.dates
        assert len(dated.undated) == 1
        assert dated.text == text


def test_several_dates_share_a_year_beside_which_nothing_relative_is_read() -> None:
    assert periods(read("in March or April 2025")) == ["March 2025", "April 2025"]
    assert [found.text for found in read("in March or April 2025").dates] == [
        "in March",
        "April 2025",
    ]

    dated = read("what did Ida finish last Friday on 23 January, 2026?")
    assert periods(dated) == ["23 January 2026"]
    assert "last Friday" in dated.text


def test_name_of_the_base_is_not_a_date() -> None:
    assert not read("advice from April", names=("April",)).dates
    assert periods(read("advice from April")) == ["April 2026"]
    assert periods(read("pricing in April", names=("April",))) == ["April 2026"]
    assert periods(read("from April 2025", names=("April",))) == ["April 2025"]


@pytest.mark.parametrize("word", ["2026 ", "today ", "17 March ", "Q1 ", "last week "])
def test_pasted_text_full_of_dates_is_not_read(word: str) -> None:
    query = word * (2000 // len(word))
    assert read(query) == DatedQuery(query, query)


@given(st.text(max_size=60))
def test_any_text_is_read_and_nothing_is_added_to_it(text: str) -> None:
    dated = read(text)
    if not (dated.dates or dated.undated):
        assert dated == DatedQuery(text, text)
    assert set(dated.rest.split()) <= {word.strip(" ,;:.") for word in text.split()} | set(
        text.split()
    )


@given(
    st.sampled_from(["last", "this", "past", "since last", "before this"]),
    st.sampled_from(["week", "month", "quarter", "year", "weekend"]),
    st.dates(date(1990, 1, 1), date(2090, 1, 1)),
)
def test_relative_periods_are_in_order(lead: str, unit: str, today: date) -> None:
    dated = read_dates(f"{lead} {unit}", today, lambda: DocumentDates([]))
    (found,) = dated.undated
    assert not found.period.last or found.period.first <= found.period.last
