"""What a query asks for: a kind of document, something of one named, words that no document has.

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

    asked of one named                    the answer
    ------------------------------------  ------------------------------------------------------
    Alice's role, Yusuf's time zone       its own page, if a property there says so
    who is Bob's manager                  the page that this property names, else its own
    who reports to Alice                  the pages on which it names her
    Alice's open items, tasks for Bob     its own page, if an item is open there
    members of Platform                   the pages of its members, else its own

A property is asked for by its key or another word for the same, in any number.

Words that no document has are misspelt, and replaced by what is meant, or unknown names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from functools import cached_property, lru_cache

import numpy as np
from rapidfuzz.distance import OSA, Indel

from kbx_tui.index.lexical.bm25 import errors_in
from kbx_tui.index.lexical.postings import term_of, words_in
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.tables import attendees_from
from kbx_tui.index.text_columns import CodedColumn
from kbx_tui.knowledge.dates import first_day
from kbx_tui.knowledge.entity_names import is_common_word
from kbx_tui.knowledge.fields import ATTENDEE_KEYS, AUTHOR_KEYS, page_name, property_key
from kbx_tui.knowledge.folding import ENGLISH, WORD, fold, folded_words, normalized, stem
from kbx_tui.knowledge.records import Attendee, Entity
from kbx_tui.search.evidence.evidence import AskedKind, UnknownName
from kbx_tui.search.evidence.scores import Flags, Rows, Scores, frozen
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.query_terms import HINT, NamedQuery, without_spans
from kbx_tui.search.query.query_words import (
    ASKING_WHAT,
    FOR_MEETINGS,
    FOR_PEOPLE,
    MONTHS,
    MOST_WORDS,
    VERB_FOLLOWS,
    QueryWords,
    has_topic,
    words_of,
)
from kbx_tui.search.results.snippets import OPEN_ITEM

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
"""Attendees of a meeting: a note has one author, or lists several as such."""
_ATTENDED_BY = frozenset(map(property_key, ATTENDEE_KEYS - AUTHOR_KEYS))
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
        names = [
            fold(f"{path} {title}") for path, title in zip(base.paths, base.titles, strict=True)
        ]
        columns = zip(base.kinds, base.attendees, base.properties, names, strict=True)
        meetings = np.array(
            [
                kind == "meeting"
                or _met(attendees_from(attendees), properties)
                or _MEETING.search(name) is not None
                for kind, attendees, properties, name in columns
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
        return (name, of_kind) if SOME <= np.count_nonzero(of_kind) < len(of_kind) else None

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


def _met(people: Sequence[Attendee], properties: Sequence[str]) -> bool:
    """Return whether several people attended, and did not only write a page together.

    One who attended may have written the page, too, so that other people or another key tell.
    """
    if len(people) < SEVERAL:
        return False
    held = [each.partition("=") for each in properties]
    authors = fold("\n".join(value for key, _, value in held if key in AUTHOR_KEYS))
    return any(key in _ATTENDED_BY for key, _, _ in held) or any(
        fold(each.name.rpartition("/")[2]) not in authors for each in people
    )


def _types_in(properties: Iterable[str]) -> Iterator[str]:
    return (each[5:] for each in properties if each.startswith("type="))


def _day_number(day: str) -> int:
    return date.fromisoformat(first_day(day)).toordinal() if day else 0


@lru_cache(maxsize=16)  # several parts of a search ask for those of its query
def _folded(query: str) -> frozenset[str]:
    return frozenset(word.folded for word in words_of(query))


@lru_cache(maxsize=16)
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
    asks_for_age = named.asks_for_news and not for_time
    if not (name or asks_for_age):
        return None
    factors = np.ones(len(rows))
    if of_kind is not None:
        in_scope = of_kind if len(rows) == len(of_kind) else of_kind[rows]
        factors = np.where(in_scope, 1.0, OTHER_KIND)
    is_for_news = bool(named.news_of)
    if asks_for_age:
        oldest = OLDEST_NEWS if named.names_only or is_for_news else OLDEST
        if oldest == OLDEST_NEWS and not _folded(query).isdisjoint(("new", "meeting", "meetings")):
            oldest = OLDEST_NEW
        factors = factors * (1.0 - (1.0 - oldest) * kinds.age[rows])
        newest = f"the newest {name}".rstrip()
        name = "what is new, newer a little higher" if is_for_news else newest
    return AskedKind(name, frozen(factors), is_for_news=is_for_news)


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


SAME = (
    ("role", "title", "job title", "job", "position"),
    ("email", "mail", "e-mail", "email address", "mail address"),
    ("team", "group", "squad", "department"),
    ("reports to", "manager", "line manager", "boss", "supervisor"),
    ("timezone", "time zone", "tz"),
    ("phone", "telephone", "phone number", "telephone number"),
    ("location", "office", "city", "based"),
    ("due", "due date", "deadline"),
    ("birthday", "born", "date of birth"),
    ("owner", "owns"),
    ("lead", "leader"),
)
"""Words for the same property."""
OPEN_ITEMS = "open items"
_NAME = re.compile(r"[^\W\d_a-z]\D*\Z")
"""Matches a value that may be a name, unlike a date or `true`."""
_NO_PROPERTY = frozenset({"own page", "similar name"})
"""Reasons for a known item that begin as the key of a property may."""

_Stems = frozenset[str]


def _stems(words: Iterable[str]) -> _Stems:
    return frozenset(stem(word, ENGLISH) for word in words)


_ITEMS = _stems(("item", "task", "todo", "to-do"))
_OF_ITEMS = _ITEMS | _stems(("action", "open", "outstanding", "pending", "left"))
_MEMBERS = _stems(("member", "people", "staff", "teammate", "colleague"))


def details_asked_for(named: NamedQuery, generation: IndexGeneration) -> Iterator[tuple[int, str]]:
    """Yield the rows of the pages that answer, each with what the query asks for: `their role`."""
    snapshot = generation.snapshot
    matches = [match for match in named.matches if match.named] or [
        match for match in named.matches if match.signal.kind == "name"
    ]  # that it has what is asked for shows that `platform` is its name
    if len({match.entity for match in matches}) != 1:
        return
    rest = without_spans(named.text, {(match.start, match.end) for match in matches})
    words = [word for word in folded_words(rest) if word not in ASKING_WHAT]
    topic = _stems(word for word in words if has_topic((word,)))
    entity = snapshot.entities[matches[0].entity]
    row = snapshot.row_of.get(entity.path, -1)
    if not topic:
        return
    whose = "their" if entity.type == "person" else "its"
    if topic <= _MEMBERS | {"team"} and topic & _MEMBERS:
        pages = (generation.entities.get(member) for member in entity.members)
        found = [snapshot.row_of.get(page.path, -1) for page in pages if page is not None]
        yield from ((page, f"member of {entity.name}") for page in found)
        if not found:
            yield row, "own page"
    elif row < 0:
        return
    elif topic <= _OF_ITEMS and topic & _ITEMS:
        ((body, _),) = generation.bodies.read([entity.path])
        if OPEN_ITEM.search(body):
            yield row, f"{whose} {OPEN_ITEMS}"
    else:
        asks_who = not FOR_PEOPLE.isdisjoint(words)
        before = folded_words(named.text[: matches[0].start])
        others = sorted(generation.properties.keys) if asks_who else ()
        for key in dict.fromkeys((*_keys_of(snapshot.properties[row]), *others)):
            if not (phrase := _phrase_for(key, topic, words)):
                continue
            what, is_relation = key.replace("_", " "), not has_topic(phrase[-1:])  # `reports to`
            is_right_before = _stems(before[-len(phrase) :]) == _stems(phrase)
            if "whose" in before or (is_relation and is_right_before):
                if asks_who:  # `who reports to Alice`, `whose manager is Alice`
                    people = _people_with(key, entity, generation)
                    yield from ((person, f"{what} {entity.name}") for person in people)
                continue
            is_subject = asks_who and not VERB_FOLLOWS.isdisjoint(before[-1:])
            if (is_subject and not is_relation) or before[-1:] in (("from",), ("to",)):
                continue  # `who does Alice manage`, `email from Alice`
            if values := _values(key, snapshot.properties[row]):
                people = _people_named(values, generation) if asks_who else []
                yield from ((person, f"{_noun(key)} of {entity.name}") for person in people)
                if not people and (not asks_who or all(map(_NAME.match, values))):
                    yield row, f"{whose} {what}"


def property_line(properties: Sequence[str], what: str) -> str:
    """Return the property by which a page answers, empty if it is found by another.

    `role: Engineer` for `their role`, `reports_to: Alice` for `reports to Alice`; none for `lead of
    Atlas`, which the page of Atlas states.
    """
    for key in _keys_of(properties):
        words = key.replace("_", " ")
        is_of_other = what.startswith(f"{words} of ") or what in _NO_PROPERTY
        if what in (f"its {words}", f"their {words}") or (
            what.startswith(f"{words} ") and not is_of_other
        ):
            # of a link there are two values, the name of its page and its words
            values = {property_key(each): each for each in _values(key, properties)}
            return f"{key}: {', '.join(values.values())}"
    return ""


def _phrase_for(key: str, topic: _Stems, words: Sequence[str]) -> Sequence[str]:
    """Return the words by which a query asks for a property and nothing else, none if it does not.

    `topic` holds the stems of those of `words` that may be a topic.
    """
    for phrase in _phrases(key):
        spelled = phrase.split()
        may_ask = len(topic) <= len(spelled) and _stems(spelled) <= _stems(words)
        if may_ask and topic == _stems(word for word in spelled if has_topic((word,))):
            return spelled
    return ()


def _noun(key: str) -> str:
    """Return the key of a property as a noun: `manager` for `reports_to`."""
    phrases = _phrases(key)
    return next((each for each in phrases if has_topic(each.split()[-1:])), phrases[0])


def _phrases(key: str) -> Sequence[str]:
    own = key.replace("_", " ")
    return (own, *next((each for each in SAME if own in each), ()))


def _people_named(values: Iterable[str], generation: IndexGeneration) -> Iterable[int]:
    named = (entity for value in values for entity in generation.entity_names.named(value))
    row_of = generation.snapshot.row_of
    return dict.fromkeys(row_of.get(each.path, -1) for each in named if each.type == "person")


def _people_with(key: str, entity: Entity, generation: IndexGeneration) -> Iterable[int]:
    """Return the rows of the people with a property that names an entity."""
    names = {property_key(each) for each in (entity.name, *entity.aliases, page_name(entity.path))}
    rows, texts = generation.properties.values(key)
    found = rows[texts.flags(lambda value: property_key(value) in names)].tolist()
    return [row for row in found if generation.snapshot.kinds[row] == "person"]


def _keys_of(properties: Sequence[str]) -> Iterable[str]:
    return dict.fromkeys(each.partition("=")[0] for each in properties)


def _values(key: str, properties: Sequence[str]) -> list[str]:
    return [each.removeprefix(f"{key}=") for each in properties if each.startswith(f"{key}=")]


QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”")

FORMS_FROM, UMLAUTS_FROM = 5, 50
"""Documents that a misspelt word is compared with for each word it may be, and in which an umlaut
is looked for."""
_TWO_LETTERS = re.compile("([aou])e")
_UMLAUT = re.compile("[äöü]")
_WITH_NUMBER = re.compile(r"([^\W\d_]{2,})(\d{2,})")


def corrected(
    named: NamedQuery, generation: IndexGeneration, flags: Flags, is_token: Callable[[str], bool]
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return the misspelt words of a query, each with what is meant, and the query with it.

    Words in quotation marks are searched for as typed, and so are names, unless they are hints that
    are misspelt. What is meant is looked for in the documents flagged; `is_token` returns whether
    the model has a token for a word, as it has for most words of its language.
    """
    exact = [
        (match.start, match.end)
        for match in named.matches
        if match.signal.kind != "fuzzy" or match.signal.score > HINT
    ]
    text, asks_who = named.text, asks_for_people(named.text)
    exact += [match.span() for match in QUOTED.finditer(text)]
    corrections = list[tuple[str, str]]()
    for word in reversed(words_of(text)):
        if any(start <= word.start < end for start, end in exact):
            continue
        is_role = asks_who or word.text.isupper()
        if meant := _meant_by(word.folded, generation, flags, is_token, is_role=is_role):
            corrections.append((word.text, meant))
            text = text[: word.start] + meant + text[word.end :]
    return tuple(reversed(corrections)), text


def _meant_by(
    word: str,
    generation: IndexGeneration,
    flags: Flags,
    is_token: Callable[[str], bool],
    *,
    is_role: bool,
) -> str:
    """Return the word of a document that a folded word is a misspelling of, or nothing.

    A word that a document or the key of a property holds is not misspelt, nor one that the model
    has a token for or that consists of two common ones, as `offsite` does. `zuerich` is `Zürich`
    and `gw217` is `gw-217`, if that is what documents hold, and the initials of a role are that
    role, if capitals or `who` ask for one (`is_role`), or it is that of a chief: `ceo`. Only one of
    two errors replaces a letter: `checkout` is not `checksum`.
    """
    words, most = generation.words, errors_in(word)
    if not word.isalpha():
        number = _WITH_NUMBER.fullmatch(word)
        parted = "-".join(number.groups()) if number and not words.is_held(word) else ""
        return parted if parted and len(words.rows_with_phrase(parted)) else ""
    if not has_topic([word]) or words.is_held(word):
        return ""
    role = generation.entity_pass.roles.spelled_out(word)
    if role and (is_role or role.startswith("chief ")):
        return role
    if meant := _with_umlaut(word, generation, flags):
        return meant
    if not most or is_common_word(word) or is_token(word) or _is_compound(word):
        return ""
    if word in generation.properties.words_of_keys:
        return ""
    others = _without_letter(word)  # looked for above
    for term in words.spelled_alike(word):
        forms = {
            (OSA.distance(word, form), form)
            for language, text in _texts(words.rows_holding(term), generation, flags, FORMS_FROM)
            for form in words_in(text)
            if term_of(form, language) == term
            and form not in others
            and Indel.distance(word, form) <= most + 1
        }
        if forms and min(forms)[0] <= most:
            return min(forms)[1]
    return ""


def _is_compound(word: str) -> bool:
    parts = ((word[:at], word[at:]) for at in range(2, len(word) - 1))
    return any(all(is_common_word(p) or not has_topic((p,)) for p in both) for both in parts)


def _with_umlaut(word: str, generation: IndexGeneration, flags: Flags) -> str:
    """Return the folded word of a document with an umlaut for `ae`, `oe` or `ue`, or nothing.

    Only if it is written with the umlaut there: `poet` is not `pot`.
    """
    for plain in _without_letter(word):
        rows = generation.words.rows_with_phrase(plain)
        for language, text in _texts(rows, generation, flags, UMLAUTS_FROM):
            term = term_of(word, language)
            for form in WORD.findall(normalized("NFC", text).lower()):
                in_two_letters = _UMLAUT.sub(lambda match: fold(match[0]) + "e", form)
                if in_two_letters != form and term_of(fold(in_two_letters), language) == term:
                    return fold(form)
    return ""


def _without_letter(word: str) -> list[str]:
    """Return a folded word without the `e` of all its `ae`, `oe` and `ue`, and of each alone."""
    ends = [pair.end() for pair in _TWO_LETTERS.finditer(word)]
    alone = (word[: end - 1] + word[end:] for end in ends)
    return list(dict.fromkeys((_TWO_LETTERS.sub(r"\1", word), *alone))) if ends else []


def _texts(
    rows: Rows, generation: IndexGeneration, flags: Flags, most: int
) -> Iterator[tuple[str, str]]:
    """Yield the language and the text, with names, of the first rows that are flagged."""
    snapshot = generation.snapshot
    first = rows[flags[rows]][:most].tolist()
    for row, (body, _) in zip(first, generation.bodies.of_rows(first), strict=True):
        names = (snapshot.titles[row], snapshot.attendees[row], *snapshot.aliases[row])
        yield generation.words.language_of(row), " ".join((*names, body))


def unheard_of(
    named: NamedQuery, query: QueryWords, generation: IndexGeneration
) -> Iterator[UnknownName]:
    """Yield the names that a query asks about, `what did Ada want`, and no document has.

    Meaning finds something for any query, so the answer would seem to be about that person.
    """
    spans = [range(match.start, match.end) for match in named.matches]
    for at, word in enumerate(query.words):
        is_subject = query.before(at) in VERB_FOLLOWS or (
            at > 0 and word.is_capitalised and query.is_surely_asked_about(at)
        )
        is_name = is_subject and word.text.isalpha() and has_topic([word.folded])
        if not is_name or is_common_word(word.folded) or generation.words.is_held(word.folded):
            continue
        if not any(word.start in span for span in spans):
            yield UnknownName(word.text, "")
