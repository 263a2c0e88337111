"""The date words of a query: their meaning, the filter or preference, and the query without them.

A date without a year is the latest one, up to today, with a document; if there is none, a future
one with a document; else the latest. A date relative to today is not read beside a date with a
year, because it is then relative to that. A month, quarter or year alone is read only after a word
such as `in` or `since`, or at the end after one for documents, `lab meeting june`: `Q1 goals` and
`roadmap 2026` are topics. Nothing within quotation marks is read. If no document has a date
that documents may write, its words are searched for like others.

Whether a document is of the time that a query asks for depends on its date, title and path. A title
names a date in words or numbers (`Q1 2026 goals`, `Notes of 17 March`). Without a year it counts
only for a document that is not dated in another year. Dates in texts are only found by the search
for the words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import chain, pairwise
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from kbx_tui.formatting import join_limited
from kbx_tui.index.lexical.bm25 import Bm25Index
from kbx_tui.index.lexical.postings import term_of
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.dates import MONTH_NAMES, MONTH_NUMBERS, WEEKDAY_NUMBERS
from kbx_tui.knowledge.folding import FUNCTION_WORDS as COMMON_WORDS
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.search.evidence.evidence import DateMatch, DatePreference, PreferredDates
from kbx_tui.search.evidence.scores import DATE_WEIGHT, frozen
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.date_forms import (
    DAY,
    WEEKDAYS,
    DateWords,
    DocumentDates,
    Period,
    days,
    find_dates,
    week_of,
)
from kbx_tui.search.query.query_terms import NamedQuery
from kbx_tui.search.query.query_words import (
    DOCUMENT_WORDS,
    FOR_NEWEST,
    FOR_NEWS,
    KINDS_OF_TEXT,
    asks_for_news,
    has_topic,
    topic_words_of,
    words_for_news,
    words_of,
)
from kbx_tui.search.request import Filters, SearchRequest
from kbx_tui.search.retrieval.asked import QUOTED, DocumentKinds
from kbx_tui.search.retrieval.scope import ScopedDocuments


@dataclass(frozen=True, slots=True)
class QueryDates:
    text: str
    """The text to search for; empty if the query asks for a time, or the newest, and nothing
    else."""
    filters: Filters
    read: tuple[ReadDate, ...] = ()
    undated: tuple[str, ...] = ()
    is_filter: bool = False
    is_for_newest: bool = False
    """Whether the query asks for the newest documents and nothing else: `last meeting`."""
    of_kind: tuple[int, ...] = ()
    """Rows of the documents that a query for a time and a type or folder lists."""
    note: str = ""
    """What is listed, where no document of the time says a word of the query."""

    @classmethod
    def of(
        cls,
        request: SearchRequest,
        generation: IndexGeneration,
        find_names: Callable[[str], NamedQuery],
    ) -> Self:
        query, filters = request.searched, request.filters
        if request.dates == "off":
            return cls(query, filters)

        def spans_of_names(text: str, with_hints: bool = False) -> list[Span]:
            matches = find_names(text).matches
            return [(each.start, each.end) for each in matches if each.named or with_hints]

        today, is_filter = request.today or date.today(), request.dates == "filter"
        dated = read_dates(query, today, lambda: generation.document_dates, spans_of_names)
        periods = [read.period for read in (*dated.dates, *dated.undated)]
        if not periods:
            kind, of_kind = _newest_asked_for(query), tuple[int, ...]()
            if kind and not spans_of_names(query):
                of_kind = tuple(_rows_of_kind(kind, generation))
            if not of_kind and (kind != [] or generation.document_dates.first_year is None):
                return cls(query, filters)
            return cls("", filters, is_for_newest=True, of_kind=of_kind)
        if is_filter:
            ends = [period.last for period in periods]
            last = max(ends) if all(ends) else ""
            filters = filters.within(min(period.first for period in periods), last)
        undated = tuple(read.period.words for read in dated.undated)
        named, topic = find_names(dated.rest), _topic_words(dated.rest)
        dates = cls(_searched(dated, named), filters, dated.dates, undated, is_filter)
        has_names = any(match.named for match in named.matches)
        return dates if has_names or not topic else dates._without_kind(topic, generation)

    def _without_kind(self, words: Sequence[str], generation: IndexGeneration) -> Self:
        """Return the dates without the other words if those only name a kind of documents.

        They do if no document of that time holds any of them, and they are either the type, folder
        or title of some documents or words for documents of any kind, such as `posts`.
        """
        flags = np.zeros(len(generation.snapshot.paths), np.bool_)
        for read in self.read:
            flags |= generation.document_dates.flags_in(read.period)
        said = (flags[generation.words.rows_with_phrase(word)].any() for word in words)
        if not flags.any() or any(said):
            return self
        of_kind = tuple(row for row in _rows_of_kind(words, generation) if flags[row])
        if not (of_kind or KINDS_OF_TEXT.issuperset(words)):
            return self
        time = join_limited([read.period.words for read in self.read], " or ")
        listed = "those of that type, folder or title" if of_kind else "all of that time"
        note = f"no document of {time} says “{' '.join(words)}”; these are {listed}"
        return replace(self, text="", of_kind=of_kind, note=note)

    def blanked(self, text: str) -> str:
        """Return a text with blanks for the dates read: they say nothing of the names beside."""
        for read in self.read:
            text = text.replace(read.text, " " * len(read.text))
        return text

    def preference(
        self, generation: IndexGeneration, scoped: ScopedDocuments, full_relevance: float | None
    ) -> DatePreference | None:
        """Return the preference for documents in scope; None if no date was read.

        `full_relevance` is the relevance of a full answer, None if the query asks only for people.
        """
        if not self.read:
            return None
        matches = date_matches(
            self.read, generation.snapshot, generation.document_dates, generation.words
        )
        dates = tuple(
            PreferredDates(read.text, read.period.first, read.period.last, read.period.words)
            for read in self.read
        )
        matches = frozen(matches[scoped.rows])
        return DatePreference(dates, matches, full_relevance, DATE_WEIGHT, self.is_filter)


def _newest_asked_for(query: str) -> Sequence[str] | None:
    """Return the words for a kind after those for the newest: `lab meeting` in `last lab meeting`.

    Empty if they say nothing, as in `last meeting`; None if anything else is asked.
    """
    words = [word.folded for word in words_of(query)]
    if FOR_NEWS.isdisjoint(words):  # as most are
        return None
    ignored = words_for_news(words) | DOCUMENT_WORDS | {"last"}
    kind = [word for word in words if word not in ignored and has_topic((word,))]
    if not kind:
        return kind if asks_for_news(words) else None
    newest = [at for at, word in enumerate(words, 1) if word in FOR_NEWEST | {"last"}]
    after = words[newest[-1] :] if newest else []
    return after if {*kind} <= {*after} and all(has_topic((word,)) for word in after) else None


_HAPPENED = frozenset(
    {
        *("geschah", "geschehen", "passierte", "passiert", "arrive", "passe", "paso", "pasado"),
        *("ocurrio", "sucedio", "successo", "accadde", "accaduto", "aconteceu", "passou"),
        *("gebeurde", "gebeurd", "hande", "skedde", "skete", "skjedde", "произошло", "случилось"),
    }
)
"""Folded words of other languages for what happened."""
_COMMON_WORDS = frozenset(chain.from_iterable(COMMON_WORDS.values()))


def _topic_words(rest: str) -> Sequence[str]:
    """Return the topic words of a query without dates, none if it only asks what happened."""
    topic = topic_words_of(folded_words(rest))
    others = set(topic) - _HAPPENED
    asks = bool(others) and not _HAPPENED.isdisjoint(topic)
    return [] if asks and _COMMON_WORDS.issuperset(others) else topic


def _searched(dated: DatedQuery, named: NamedQuery) -> str:
    """Return the text to search for.

    The words of a date are searched for along with a topic, as titles and texts contain them. With
    names alone they would become the topic, but documents of that time need not contain them.
    """
    if any(match.named for match in named.matches):
        return dated.rest if named.names_only and dated.dates else dated.text
    if _topic_words(dated.rest):
        return dated.text
    may_be_written = not dated.dates and any(read.is_written for read in dated.undated)
    return dated.text if may_be_written else ""


def _rows_of_kind(words: Sequence[str], generation: IndexGeneration) -> Iterator[int]:
    """Yield the dated documents whose type, folders or series folded words are."""
    rows = np.flatnonzero(generation.derived(DocumentKinds).called(words)).tolist()
    return (row for row in rows if generation.snapshot.dates[row])


_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


def date_matches(
    dates: Sequence[ReadDate], snapshot: Snapshot, documents: DocumentDates, words: Bm25Index
) -> NDArray[np.int8]:
    matches = np.zeros(len(snapshot.paths), np.int8)
    for read in dates:
        if read.named_period is not None:
            named = list(_rows_naming(read.named_period, snapshot, words))
            matches[named] = DateMatch.NAMED
    for read in dates:
        in_period = documents.flags_in(read.period)
        only_around = documents.flags_around(read.period) & (matches <= DateMatch.AROUND)
        matches[in_period] = DateMatch.DATED
        matches[only_around] = DateMatch.AROUND
    return matches


def _forms(period: Period) -> tuple[str, Sequence[str], str]:
    """Return patterns of the written forms of a period, and of its form in numbers.

    First comes a word that every written form contains.
    """
    (year, first_month, first_day), (_, last_month, _) = (
        end.split("-") for end in (period.first, period.last)
    )
    month = MONTH_NAMES[int(first_month) - 1]
    if period.first == period.last:
        day = rf"0?{int(first_day)}(?:st|nd|rd|th)?"
        forms = (rf"{day} (?:of )?{month}", rf"{month} {day}")
        return month, forms, rf"{year}[-/._]?{first_month}[-/._]?{first_day}"
    if first_month == last_month:
        return month, (month,), rf"{year}[-/._]{first_month}"
    if (first_month, last_month) == ("01", "12"):
        return year, (year,), year
    quarter = f"q{int(last_month) // 3}"
    return quarter, (quarter,), rf"{year}[-/._]?{quarter}"


def _rows_naming(period: Period, snapshot: Snapshot, words: Bm25Index) -> Iterator[int]:
    year, (rarest_word, forms, numbers) = period.first[:4], _forms(period)
    in_path = re.compile(rf"(?<!\d){numbers}(?!\d)")
    in_title = re.compile(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)|{in_path.pattern}")
    for row in words.rows_holding(term_of(rarest_word)).tolist():
        title = fold(snapshot.titles[row])
        if in_title.search(title):
            dated = snapshot.dates[row][:4] or year
            if year in (_YEAR.findall(title) or [dated]):
                yield row
    for row, path in enumerate(snapshot.paths):
        if year in path and in_path.search(fold(path)):
            yield row


MOST_DATES = 4
"""Number of dates above which none is read: the query is pasted text."""
FIRST_YEAR = 1900

Direction = Literal["in", "since", "after", "before", "until"]
Span = tuple[int, int]

_HINT = re.compile(
    rf"(?:19|20)\d\d|\b(?:{'|'.join(MONTH_NUMBERS)}|q[1-4]|(?:week|month|quarter|year|day)s?|"
    rf"weekend|yesterday|today|{WEEKDAYS})\b",
    re.IGNORECASE,
)
"""Matches every query with a date: a fast check that rejects most queries."""

_FROM_ANOTHER = re.compile(
    r"\b(?:day|night|morning|evening|afternoon|weekend|week|month|quarter|year|"
    rf"{WEEKDAYS})s?\s+(?:before|after|following|preceding|prior\s+to)\s+(?:the\s+)?$",
    re.IGNORECASE,
)
"""Matches before a date that only locates another: `the Sunday before 25 October`."""

_DIRECTIONS: dict[str, Direction] = {
    "since": "since", "after": "after", "before": "before", "until": "until", "till": "until",
    "up to": "until", "by": "until",
}  # fmt: skip
_NEVER_BEFORE_NAMES = frozenset({"in", "during", "throughout", "within", "last", "this"})
"""Words that do not precede a person: `in April` is the month."""
_LICENSING = _NEVER_BEFORE_NAMES | {
    "since", "after", "before", "until", "till", "up to", "between", "from", "as of",
}  # fmt: skip
"""Words after which a month, quarter or year alone is a date."""
_LEAD_LENGTH = 60
_LEAD = re.compile(
    r"(?:\b(?P<word>since|after|before|until|till|up\s+to|by|between|from|in|during|throughout|"
    r"within|on|at|of|for|as\s+of|dated|last|this|over)\s+)?(?P<the>the\s+)?"
    r"(?:\b(?P<part>(?:(?:beginning|start|middle|end|month|year|week|day|(?:first|second)\s+half|"
    r"(?:first|last)\s+(?:week|days))\s+of\s+(?:the\s+)?)|early\s+|late\s+|mid(?:\s+|-)))?"
    rf"(?:\b(?:{WEEKDAYS}),?\s+(?:the\s+)?)?$",
    re.IGNORECASE,
)
"""The words before a date that belong to it; matches before every date, as all are optional."""
_TRAIL = re.compile(
    r"(?P<onwards>\s+(?:onwards?\b|and\s+later\b|on(?=\s*(?:$|[^\w\s]))))|['’]s?(?!\w)",
    re.IGNORECASE,
)
"""The words after a date that belong to it, but not the `on` of `from March on the rollout`."""
_JOINS = re.compile(r"\s*(?:,|-|–|to|and|or|until|till|through|,\s*(?:and|or))\s*", re.IGNORECASE)
_RANGE_JOINS = frozenset({"-", "–", "to", "until", "till", "through"})
_AROUND = re.compile(r"^(?:[,–-]|and\b|or\b|\s)+|['’]s?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ReadDate:
    text: str
    """The date as typed, with the words that belong to it: `in March`."""
    period: Period
    named_period: Period | None = None
    """The day, month, quarter or year if it names one, as documents may do too; else None."""
    is_written: bool = True
    """Whether documents may write it so: not `last week`, `since May` or `from May to July`."""


@dataclass(frozen=True, slots=True)
class DatedQuery:
    text: str
    """The text to search for, without dates that documents do not contain: those relative to today
    and those with an open end. It includes the others, with or without documents of that time; of
    those with some, only the words: no years beside them and no numbers."""
    rest: str
    dates: tuple[ReadDate, ...] = ()
    """Dates on which documents are dated."""
    undated: tuple[ReadDate, ...] = ()
    """Dates on which no document is dated."""


@dataclass(frozen=True, slots=True)
class _Expression:
    """One date, or a range of two, with the words that belong to it."""

    start: int
    end: int
    first: DateWords
    last: DateWords
    direction: Direction
    is_whole_week: bool
    """Whether the whole week of the day is meant: `the week of 16 March`."""
    may_be_name: bool
    is_unmarked: bool
    """Whether nothing but the word before, as in `meeting June`, says that it is a date."""


def read_dates(
    query: str,
    today: date,
    document_dates: Callable[[], DocumentDates],
    find_names: Callable[[str, bool], Sequence[Span]] = lambda text, with_hints: (),
) -> DatedQuery:
    """Return the query without its date words, and the periods that they mean.

    `document_dates` is called only if there are any, and `find_names`, which returns the spans of
    the names in a text, or also of words that may be one, only where a word such as `April` or
    `May` may be one.
    """
    expressions = [
        each
        for each in _find_expressions(query, today)
        if not each.may_be_name
        or all(
            not start <= each.first.start < end
            for start, end in find_names(query, each.is_unmarked)
        )
    ]
    if not expressions:
        return DatedQuery(query, query)
    documents = document_dates()
    read: list[ReadDate] = []
    undated: list[ReadDate] = []
    removed: list[Span] = []
    for expression in expressions:
        meant = _resolve(query, expression, today, documents)
        has_documents = documents.any_in(meant.period)
        (read if has_documents else undated).append(meant)
        is_weekday = not WEEKDAY_NUMBERS.keys().isdisjoint(folded_words(meant.text))
        if not (meant.is_written or (is_weekday and not has_documents)):
            removed.append((expression.start, expression.end))
        elif has_documents:
            removed += _never_searched(query, expression)
    rest = _without_dates(query, [(expression.start, expression.end) for expression in expressions])
    return DatedQuery(_without_dates(query, removed), rest, tuple(read), tuple(undated))


_IN_NUMBERS = re.compile(r"\d+[./-][\d./-]+")


def _never_searched(query: str, e: _Expression) -> Iterator[Span]:
    """Yield a date in numbers, and the year beside a month, day or quarter: these are in the names
    of pages of any time. Texts write the other words of a date.
    """
    start, end = e.first.start, e.last.end
    if _IN_NUMBERS.fullmatch(query, start, end):
        yield start, end
    elif e.first.months != (1, 12) or e.first.week is not None:
        yield from (match.span() for match in _YEAR.finditer(query, start, end))


def _find_expressions(query: str, today: date) -> list[_Expression]:
    if not _HINT.search(query):
        return []
    query = QUOTED.sub(lambda match: '"' * len(match[0]), query)
    dates = find_dates(query, today)
    if origins := [
        each for each in dates if not each.relative and _precedes(_FROM_ANOTHER, query, each)
    ]:
        dates = [each for each in dates if not each.relative and each not in origins]
    expressions = _joined(query, dates)
    if len(expressions) > MOST_DATES:
        return []
    if any(expression.first.year for expression in expressions):
        expressions = [e for e in expressions if not e.first.relative]
    return expressions


def _precedes(words: re.Pattern[str], query: str, found: DateWords) -> re.Match[str] | None:
    return words.search(query, max(found.start - _LEAD_LENGTH, 0), found.start)


def _joined(query: str, dates: list[DateWords]) -> list[_Expression]:
    """Return the expressions in a query: ranges are joined, dates without a year take that of the
    next joined date, and bare words that nothing before them marks as dates are left out.
    """
    matches = [_JOINS.fullmatch(query, one.end, other.start) for one, other in pairwise(dates)]
    joins = ["", *(match[0].strip().lower() if match else "" for match in matches), ""]
    for index in range(len(dates) - 1, 0, -1):
        if joins[index] and not (dates[index - 1].year or dates[index - 1].relative):
            dates[index - 1] = replace(dates[index - 1], year=dates[index].year)
    expressions: list[_Expression] = []
    word, is_licensed, is_open = "", False, False
    for index, first in enumerate(dates):
        join, next_join = joins[index], joins[index + 1]
        trail = _TRAIL.match(query, first.end)
        end = trail.end() if trail else first.end
        if is_open and (join in _RANGE_JOINS or (word == "between" and join == "and")):
            expressions[-1] = replace(expressions[-1], end=end, last=first, direction="in")
            is_open = False
            continue
        lead = _precedes(_LEAD, query, first)
        assert lead is not None  # all parts are optional
        is_joined = bool(join) and is_licensed
        if not is_joined:
            word = " ".join((lead["word"] or "").lower().split())
        part = (lead["part"] or "").lower()
        is_adjective = lead["the"] and not part  # `before the March release`
        is_at_end = not query[end:].strip(" ?!.")
        is_range = next_join in _RANGE_JOINS and first.months != (1, 12)  # `March to May`
        is_marked = bool(
            not first.is_bare
            or is_joined
            or part
            or (is_range and not dates[index + 1].relative)
            or (word in _LICENSING and not is_adjective)
        )
        is_licensed = is_marked or (is_at_end and _follows_document_word(query[: lead.start()]))
        if not is_licensed:
            continue
        is_onwards = word == "from" and trail is not None and trail["onwards"]
        expression = _Expression(
            start=expressions[-1].end if is_joined else lead.start(),
            end=end,
            first=first,
            last=first,
            direction="since" if is_onwards else _DIRECTIONS.get(word, "in"),
            is_whole_week=part.startswith("week"),
            may_be_name=first.is_bare and word not in _NEVER_BEFORE_NAMES,
            is_unmarked=not is_marked,
        )
        expressions.append(expression)
        is_open = word in ("between", "from") or next_join in _RANGE_JOINS
    return expressions


def _follows_document_word(before: str) -> bool:
    return not DOCUMENT_WORDS.isdisjoint(folded_words(before)[-1:])


def _resolve(query: str, e: _Expression, today: date, documents: DocumentDates) -> ReadDate:
    text = _AROUND.sub("", " ".join(query[e.start : e.end].split()))
    is_relative = bool(e.first.relative or e.last.relative)
    years = (today.year,) if is_relative else _years(e.last.year, today, documents)
    options = [dates for year in years if (dates := _within(e, year))]
    options.sort(key=lambda dates: dates[0] > today)  # others stay latest first
    # Without a leap year in range, 29 February has no options.
    periods = [_directed(e, *dates) for dates in options or [(today, today)]]
    period = next(filter(documents.any_in, periods), periods[0])
    is_written = e.direction == "in" and e.first is e.last and not is_relative
    is_one = e.first.days is None or e.first.days[0] == e.first.days[1]
    is_named = is_written and is_one and not e.is_whole_week
    return ReadDate(text, period, period if is_named else None, is_written)


def _years(year: int | None, today: date, documents: DocumentDates) -> Sequence[int]:
    if year is not None:
        return (year,)
    first = max(min(documents.first_year or today.year, today.year) - 1, FIRST_YEAR)
    return range(today.year + 1, first - 1, -1)


def _within(e: _Expression, year: int) -> tuple[date, date] | None:
    begins, ends = e.first.within(year), e.last.within(year)
    if begins and ends and begins[0] > ends[1] and e.first.year in (None, e.last.year):
        begins = replace(e.first, year=None).within(ends[0].year - 1)  # `November and February`
    return (begins[0], max(ends[1], begins[1])) if begins and ends else None


def _directed(e: _Expression, first: date, last: date) -> Period:
    if e.is_whole_week:
        first, last = week_of(first)[0], week_of(last)[1]
    match e.direction:
        case "since":
            return Period(first.isoformat(), "")
        case "after":
            return Period((last + DAY).isoformat(), "")
        case "before":
            return Period("", (first - DAY).isoformat())
        case "until":
            return Period("", last.isoformat())
    return days(first, last)


def _without_dates(query: str, spans: Sequence[Span]) -> str:
    if not spans:
        return query
    edges = [0, *(edge for span in spans for edge in span), len(query)]
    rest = " ".join(query[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    joined = re.sub(r"\s+([,.;:?!])", r"\1", " ".join(rest.split()))
    return joined.strip(" ,;:.")
