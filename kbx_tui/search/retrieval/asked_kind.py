"""The kind of document that a query asks for: people, meetings, or the newest.

    asked with                     preferred
    -----------------------------  ------------------------------------------------------
    who, whose, expert             pages of people
    decide, discuss, say, meeting  meetings and decisions: by type, attendees, or a title or
                                   path that says so
    latest, news, what is new      the newer the better

Of the first two rows, the first that applies counts; `latest meeting` asks for both. Words that ask
for a kind stay in the query, as texts hold them too, but they are not its topic (`query_words`).
Every document keeps a part of its score, so one of another kind that alone answers the query is
still found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property, lru_cache

import numpy as np

from kbx_tui.index.lexical.terms import term_of
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.tables import attendees_from
from kbx_tui.index.text_columns import CodedColumn
from kbx_tui.knowledge.dates import first_day
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.search.evidence.evidence import AskedKind
from kbx_tui.search.evidence.scores import Flags, Rows, Scores, frozen
from kbx_tui.search.query.query_terms import NamedQuery
from kbx_tui.search.query.query_words import FOR_MEETINGS, FOR_PEOPLE, MONTHS, MOST_WORDS, words_of

OTHER_KIND = 0.6
OLDEST, OLDEST_NEWS, OLDEST_NEW = 0.99, 0.85, 0.5
"""Factors of the score of a document of another kind, and of the oldest where the newest are asked
for: of a topic, of nothing but names, so that age decides between documents that answer about
equally, and of what is new with a name, where it decides most. Chosen by the experiment "the
newest" in docs/quality.md."""
AGE_WEIGHT = 0.1
"""The most of a score that age takes. No labelled data chose it, so age counts only on request."""

_MEETINGS = "meetings?|minutes|all[ -]hands|stand-?ups?|retrospective|debrief|kick-?off"
_MEETING, _DECISION = (
    re.compile(rf"(?<![^\W_])(?:{words})(?![^\W_])") for words in (_MEETINGS, "decisions?")
)
_ATTENDED = re.compile(
    rf"""
    \bwho\ (?:else\ )? (?: attend(?:ed|s|ing)?\b (?!\ to\b)
    | (?:is|was|were)\ (?:also\ )? (?: at | in\ (?:an?|the|this|that|our|last) )[ ]
      (?:(?!of\b|with\b)[\w-]+\ ){{0,3}} (?:{_MEETINGS}) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Matches `who attended` and `who was at the kick-off`: what tells is the page of the meeting."""
SEVERAL = 2
"""Attendees of a meeting: a note has one author."""
SERIES = 2
"""Documents whose titles differ only by date, so that they are a series."""
SOME = 3
"""Documents of a kind from which a base has that kind."""


class DocumentKinds:
    """What `asked_kind` needs of each document of a base, computed once, on demand."""

    def __init__(self, base: Snapshot) -> None:
        self._base = base

    @cached_property
    def people(self) -> Flags:
        return CodedColumn.of(self._base.kinds).flags("person".__eq__)

    @cached_property
    def meetings(self) -> Flags:
        base = self._base
        columns = zip(base.kinds, base.attendees, base.paths, base.titles, strict=True)
        names = [fold(f"{path} {title}") for _, _, path, title in columns]
        meetings = np.array(
            [
                kind == "meeting"
                or len(attendees_from(attendees)) >= SEVERAL
                or _MEETING.search(name) is not None
                for kind, attendees, name in zip(base.kinds, base.attendees, names, strict=True)
            ],
            np.bool_,
        )
        if np.count_nonzero(meetings) < SOME:
            return np.zeros_like(meetings)
        return meetings | np.array([_DECISION.search(name) is not None for name in names], np.bool_)

    @cached_property
    def _names(self) -> CodedColumn:
        """The types and folders of each document, one in each line, folded."""
        held = zip(self._base.paths, self._base.properties, strict=True)
        return CodedColumn.of(
            fold("\n".join((*path.split("/")[:-1], *_types_in(properties))))
            for path, properties in held
        )

    @cached_property
    def _series(self) -> CodedColumn:
        """The title of each document, folded and without its date."""
        titles = map(folded_words, self._base.titles)
        return CodedColumn.of(
            " ".join(word for word in title if not (word.isdigit() or word in MONTHS))
            for title in titles
        )

    def called(self, words: Sequence[str]) -> Flags:
        """Return the documents whose type or folders folded words are, or the title of several."""
        wanted = set(map(term_of, words))
        of_kind = self._names.flags(lambda names: wanted <= set(map(term_of, names.split("\n"))))
        in_series = self._series.flags(" ".join(words).__eq__)
        return of_kind | in_series if np.count_nonzero(in_series) >= SERIES else of_kind

    def listed_for(self, query: str) -> Flags | None:
        """Return the documents that a query for nothing else but the newest or a time is for.

        They are those of a type that it names, `latest notes`, else what it asks for; None: all.
        """
        words = _folded(query)
        types = {form for word in words for form in (word, word.removesuffix("s"))}
        of_type = CodedColumn.of(self._base.kinds).flags(types.__contains__)
        asked = None if of_type.any() else self.asked_for(query)
        return of_type if of_type.any() else asked and asked[1]

    def asked_for(self, query: str) -> tuple[str, Flags] | None:
        """Return the people or meetings that a query asks for, and which documents they are.

        None if it asks for neither, or if the base has hardly any of them or no other documents. A
        long query does not ask for meetings: in a text, `decisions` are a topic.
        """
        if asks_for_people(query):
            name, of_kind = "people", self.people
        elif len(words_of(query)) <= MOST_WORDS and (
            not FOR_MEETINGS.isdisjoint(_folded(query)) or _ATTENDED.search(query)
        ):
            name, of_kind = "meetings", self.meetings
        else:
            return None
        return None if of_kind.all() or np.count_nonzero(of_kind) < SOME else (name, of_kind)

    @cached_property
    def age(self) -> Scores:
        """The age of the documents, 0 of the newest to 1 of the oldest, the mean without a date.

        It is the logarithm of the days: days count among the new, years among the old. A month or
        year counts as its first day.
        """
        dates = CodedColumn.of(self._base.dates)
        days = np.array([_day_number(day) for day in dates.values], np.int64)[dates.codes]
        dated = days > 0
        ages = np.log1p(np.where(dated, days.max(initial=0) - days, 0))
        ages[~dated] = ages[dated].mean() if dated.any() else 0.0
        share: Scores = ages / max(float(ages.max(initial=0.0)), 1.0)
        return share


def _types_in(properties: Iterable[str]) -> Iterator[str]:
    return (each[5:] for each in properties if each.startswith("type="))


def _day_number(day: str) -> int:
    return date.fromisoformat(first_day(day)).toordinal() if day else 0


@lru_cache(maxsize=16)  # several parts of a search ask for those of its query
def _folded(query: str) -> frozenset[str]:
    return frozenset(word.folded for word in words_of(query))


def asks_for_people(query: str) -> bool:
    return not (FOR_PEOPLE.isdisjoint(_folded(query)) or _ATTENDED.search(query))


def asked_kind(
    query: str, named: NamedQuery, kinds: DocumentKinds, rows: Rows, *, for_time: bool = False
) -> AskedKind | None:
    """Return the kind that a query asks for, for some rows of a base, so that no filter counts.

    `named` is the query without what is read as a time.

    None if it asks for none. A query that asks for a time does not ask for the newest: `status in
    October 2022`.
    """
    name, of_kind = kinds.asked_for(query) or ("", None)
    factors = np.ones(len(rows)) if of_kind is None else np.where(of_kind[rows], 1.0, OTHER_KIND)
    is_for_news = bool(named.news_of)
    if named.asks_for_news and not for_time:
        oldest = OLDEST_NEWS if named.names_only or is_for_news else OLDEST
        if oldest == OLDEST_NEWS and not _folded(query).isdisjoint(("new", "meeting", "meetings")):
            oldest = OLDEST_NEW
        factors = factors * (1.0 - (1.0 - oldest) * kinds.age[rows])
        newest = f"the newest {name}".rstrip()
        name = "what is new, newer a little higher" if is_for_news else newest
    return AskedKind(name, frozen(factors), is_for_news=is_for_news) if name else None


def age_factors(dates: Sequence[str], half_life: float, today: date | None) -> Scores | None:
    """Return the factors `1 - AGE_WEIGHT * (1 - 2 ** (-age / half_life))`, age in days.

    A document passes only those that score less than 1 / (1 - AGE_WEIGHT) times as much. One
    without a date counts as one half-life old. None for a half-life of 0.
    """
    if not half_life:
        return None
    now, column = (today or date.today()).toordinal(), CodedColumn.of(dates)
    ages = np.array([_age(text, now, half_life) for text in column.values], np.float64)
    factors: Scores = 1.0 - AGE_WEIGHT * (1.0 - np.exp2(-ages / half_life))
    return frozen(factors[column.codes])


def _age(text: str, now: int, undated: float) -> float:
    try:
        return float(max(now - date.fromisoformat(first_day(text)).toordinal(), 0))
    except ValueError:
        return undated
