"""The words of a query: which are used by a name, and what the words around one show.

a word is                where it stands
-----------------------  --------------------------------------------------------------------
asked about              `mr Ada`, `did Ada` in a question, `by Ada`, `Ada said`, `Ada on fees`,
                         nothing else asked: `who is Ada`
surely asked about       `mr Bill`, nothing else asked, or two of: `did Bill`; `Bill said` or
                         `Bill's`; a capital where others are small
a source                 `plans from Ada`, and the clause ends
in a list                `Ada, Bob and Bill`; not `alice or chase the invoice`
a modifier               `is rich use`, `by rich data`; not `did rich agree`, `is rich attending`
in a compound            `Chapman-Enskog`, `grace period`, `don't`
where English has no     `a young person`, `to be frank`, `are high on the list`, `to grant the
name (`OF_WORDS`)        request`
before its surname       `did Ruth Castellane agree`, `Ruth Castellane said`; at the end of a
                         clause only after English words: `Hat Ruth Urlaub` ends with a noun;
                         not after `tell`: `tell Ruth Postgres is down`
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from kbx_tui.knowledge.dates import MONTH_NAMES, WEEKDAY_NUMBERS
from kbx_tui.knowledge.entity_names import DETERMINERS, HONORIFICS, TITLES, is_common_word
from kbx_tui.knowledge.folding import WORD, fold


def _word_lists() -> dict[str, frozenset[str]]:
    _, *lists = Path(__file__).with_name("english_words.txt").read_text("utf-8").split("\n\n")
    return {name: frozenset(words) for name, *words in map(str.split, lists)}


_LISTS = _word_lists()

FUNCTION_WORDS = _LISTS["FUNCTION_WORDS"]
"""Words that are never a topic."""
REQUEST_WORDS = _LISTS["REQUEST_WORDS"]
DOCUMENT_WORDS = _LISTS["DOCUMENT_WORDS"]
"""Words for what is asked for, whatever it is about: `meetings last week` asks for a time alone."""
KINDS_OF_TEXT = _LISTS["KINDS_OF_TEXT"]
"""Words for documents that say nothing of what they are about, except where documents say them."""
FOR_PEOPLE, FOR_MEETINGS, FOR_NEWEST = (
    _LISTS[name] for name in ("FOR_PEOPLE", "FOR_MEETINGS", "FOR_NEWEST")
)
"""Words that ask for people, for meetings, or for the newest documents (`asked.py`)."""
NEWS = _LISTS["NEWS"]
"""Words that ask for the newest documents after `what is` or `anything`: `what is Ada up to`."""
STATES = _LISTS["STATES"]
"""Words for the state of what a query names: `is the migration finished`, `when does it start`."""
ASKING_BEFORE = _LISTS["ASKING_BEFORE"]
"""Words before the person or group a query asks about: `what did X ...`, `advice from X`."""
VERB_FOLLOWS = _LISTS["VERB_FOLLOWS"]
"""Auxiliaries followed by a subject and a verb: `did X agree`."""
ASKING_AFTER = _LISTS["ASKING_AFTER"]
"""Words after the person or group a query asks about: `X said`, `X on Y`."""
SAYING, OPINIONS, STANCES = _LISTS["SAYING"], _LISTS["OPINIONS"], _LISTS["STANCES"]
"""Verbs beside the name of who says something, nouns for what they said: `Ada's view`, and what
they are: `is Ada against`."""
NAMES_THAT_ARE_WORDS = _LISTS["NAMES_THAT_ARE_WORDS"]
"""First names that are more likely ordinary words in lower case or at the start of a query."""
OFFICES = _LISTS["OFFICES"]
"""Capitalised titles that may precede a surname without being part of it: `Minister X`."""
MONTHS = frozenset(MONTH_NAMES)
DAYS_AND_MONTHS = (
    MONTHS
    | WEEKDAY_NUMBERS.keys()
    | {"today", "tomorrow", "yesterday", "daily", "weekly", "monthly", "quarterly", "yearly"}
)
"""Capitalised like names, but not part of an adjacent name: `Ruth Monday standup`."""
BEFORE_ADJECTIVES = _LISTS["BEFORE_ADJECTIVES"]
"""Words before an adjective, hardly ever before a name: `to be frank`, `more rich`."""
COMPOUNDS = _LISTS["COMPOUNDS"]
"""Compounds of dictionaries that begin with one of `NAMES_THAT_ARE_WORDS`, hyphenated."""

CONJUNCTIONS = frozenset({"and", "or"})
_PERFECT = frozenset({"had", "has", "have"})
ARTICLES = frozenset({"the", "a", "an", "our"})
ASKING_WHAT = frozenset({"what", "whats", "anything", "something", "much"})
ASKING_WHO = frozenset({("who", "is"), ("who", "s"), ("who", "was"), ("who", "are")})
ASKING_FOR_ONE = ASKING_WHO | {("what", "is"), ("what", "s"), ("about",), ("tell", "me", "about")}
"""Phrases before a name that ask for its entity and nothing else."""


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    folded: str
    start: int
    end: int

    @property
    def is_capitalised(self) -> bool:
        return self.text[:1].isupper()


MOST_WORDS = 16
"""Words of a question. A longer query is a text: it asks for no meetings, and names no title."""


@lru_cache(maxsize=16)  # several parts of a search ask for those of its query
def words_of(text: str) -> Sequence[Word]:
    return tuple(
        Word(match.group(), fold(match.group()), match.start(), match.end())
        for match in WORD.finditer(text)
    )


def asks_for_news(words: Sequence[str]) -> bool:
    """Return whether the folded words of a query, without the names in it, ask for the newest: not
    if they ask for people, `who spoke recently`.
    """
    return bool(words_for_news(words)) and FOR_PEOPLE.isdisjoint(words)


FOR_NEWS = FOR_NEWEST | NEWS | {"last"}
_BEFORE_NOUNS = ARTICLES | {"what", "his", "her", "its", "my", "our", "their", "your"}


def words_for_news(words: Sequence[str]) -> frozenset[str]:
    """Return the words by which folded words ask for the newest: `what is new`, `latest on fees`,
    `last meeting`.

    There are none in `Ada on updates`, `what is the new fare`, `what is her new role`, `what
    working hours` and `last resort`.
    """
    if FOR_NEWS.isdisjoint(words):  # as most are
        return frozenset()
    found = set[str]()
    asks, before = False, ""
    for word, after in pairwise((*words, "")):
        is_latest = word in FOR_NEWEST and before not in ("on", "about")
        is_new = asks and word in NEWS and before not in _BEFORE_NOUNS
        if is_latest or is_new or (word == "last" and after in DOCUMENT_WORDS):
            found.add(word)
        goes_on = asks and not is_new and (not has_topic((word,)) or word in DOCUMENT_WORDS)
        asks, before = word in ASKING_WHAT or goes_on, word
    return frozenset(found)


_BE_OR_DO = frozenset({"are", "did", "does", "has", "is", "s", "was", "were", "will"})


def asks_for_state(words: Sequence[str]) -> bool:
    """Return whether the folded words of a query, without the name in it, ask for its state.

    `is the migration finished`, `how is it going`, `when does it start`: no other topic.
    """
    auxiliary = next((word for word in words if word not in ("how", "when")), "")
    topic = [word for word in words if word in STATES or has_topic((word,))]
    return auxiliary in _BE_OR_DO and bool(topic) and STATES.issuperset(topic)


_TAKING = frozenset({"last", "lasted", "take", "taken", "takes", "took"})


def words_for_duration(words: Sequence[str]) -> frozenset[str]:
    """Return the folded words by which a query asks how long something took: `long` and `take`.

    What answers it holds a duration instead. Not `how long do we store routes`: a topic is there.
    """
    taking = _TAKING.intersection(words) if ("how", "long") in pairwise(words) else ()
    return frozenset({"long", *taking} if taking else ())


def asks_for_topic(words: Sequence[str]) -> bool:
    """Return whether the folded words of a query, without the names in it, ask for a topic.

    `what did present` does not: the verb says little, and `what` asks for everything, as `who`
    does: `who leads`. Nor do words for documents of any kind: `everything about`, `meetings with`.
    Nor does `what is new`.
    """
    news = words_for_news(words)
    asking = [word for word in words if word not in news]
    match [word for word in asking if word not in CONJUNCTIONS]:
        case ["what" | "who", auxiliary, _, *rest] if (
            auxiliary in VERB_FOLLOWS or auxiliary in _PERFECT
        ):
            after_verb = rest
        case ["who", _, *rest]:
            after_verb = rest
        case _:
            after_verb = asking
    return not MONTHS.isdisjoint(after_verb) or bool(topic_words_of(after_verb))


def topic_words_of(words: Iterable[str]) -> list[str]:
    return [word for word in words if word not in _WITHOUT_TOPIC and word not in DOCUMENT_WORDS]


def topic_words(text: str) -> str:
    """Return the words of a text that may be a topic, from the first to the last; if none, all."""
    words = [word for word in words_of(text) if has_topic((word.folded,))]
    return text[words[0].start : words[-1].end] if words else text


_WITHOUT_TOPIC = FUNCTION_WORDS | REQUEST_WORDS


def has_topic(words: Iterable[str]) -> bool:
    return not _WITHOUT_TOPIC.issuperset(words)


TITLE_FROM = 3
"""A query of more topic words than this, all capitalised, is in title case."""

_BEFORE_NAMES = FUNCTION_WORDS | REQUEST_WORDS | ASKING_BEFORE | HONORIFICS | OFFICES
_NEVER_NAMES = HONORIFICS | FUNCTION_WORDS | OFFICES
_INTERROGATIVES = frozenset(
    {"how", "what", "when", "where", "which", "who", "whom", "whose", "why"}
)
_PREPOSITIONS = frozenset({"about", "at", "by", "for", "from", "in", "of", "on", "to", "with"})
_SOURCES = frozenset({"by", "from"})
_CLAUSE_ENDS = frozenset("?!.;:,&)")
_SEPARATORS = frozenset({",", "&", "and", "or", ", and", ", or"})
LONGEST_GAP = 20
"""Characters, spaces included, between two names of a list."""
_HYPHENS = "-‐‑–"
_APOSTROPHES = ("'", "’")


class Place(NamedTuple):
    """A place in a query, shown by the words beside it."""

    example: str
    before: frozenset[str] | None = None
    after: frozenset[str] | None = None
    in_small_letters: bool = False


OF_WORDS = (
    Place("a young person", before=DETERMINERS),
    Place("to be frank", before=BEFORE_ADJECTIVES, in_small_letters=True),
    Place("are high on the list", frozenset({"are", "were"}), _PREPOSITIONS, in_small_letters=True),
    Place("to grant the request", frozenset({"to"}), DETERMINERS | {"that"}, in_small_letters=True),
)
"""Where English has no name: a single person does not go with `are`."""
OF_AGENTS = (
    Place("did Ada agree", before=VERB_FOLLOWS - {"do"}),
    Place("Ada said", after=ASKING_AFTER),
    Place("by Ada", before=_SOURCES | {"according to"}),
)
"""Where someone does or has something: not after `is`, as `what is X` asks what it stands for."""


class QueryWords:
    def __init__(self, text: str, base_form: Callable[[str], str] | None = None) -> None:
        """`base_form` returns the name that a word is a form of, else the word itself, folded."""
        self.text = text
        self.words = list(words_of(text))
        if base_form is not None:
            forms = (base_form(word.text) for word in self.words)
            self.words = [replace(w, folded=f) for w, f in zip(self.words, forms, strict=True)]
        self.folded = [word.folded for word in self.words]
        self.used = [False] * len(self.words)
        capitals = [index for index, word in enumerate(self.words) if word.is_capitalised]
        self.all_lower = all(not index and self.folded[0] in _BEFORE_NAMES for index in capitals)
        """True when capitals say nothing about names: there is none, or the first word's only."""
        topic = [index for index, word in enumerate(self.folded) if word not in FUNCTION_WORDS]
        self.in_title_case = len(topic) > TITLE_FROM and {*topic} <= {*capitals}
        self._topic = [i for i, word in enumerate(self.folded) if word not in _WITHOUT_TOPIC]

    def is_free(self, start: int, size: int) -> bool:
        return True not in self.used[start : start + size]

    def ranges(self, sizes: Iterable[int]) -> Iterator[tuple[int, int]]:
        for size in sizes:
            for start in range(len(self.words) - size + 1):
                yield start, size

    def free_ranges(self, sizes: Iterable[int]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        for start, size in self.ranges(sizes):
            if self.is_free(start, size):
                yield start, size, tuple(self.folded[start : start + size])

    def text_of(self, start: int, size: int) -> str:
        return self.text[self.words[start].start : self.words[start + size - 1].end]

    def use(self, start: int, size: int) -> tuple[int, int]:
        """Mark words as used and return their span in the text, including honorifics before."""
        self.used[start : start + size] = [True] * size
        first = start
        while self.before(first) in TITLES:
            first -= 1
            self.used[first] = True
        return self.words[first].start, self.words[start + size - 1].end

    def before(self, index: int) -> str:
        return self.folded[index - 1] if index else ""

    def after(self, end: int) -> str:
        return self.folded[end] if end < len(self.words) else ""

    def _gap(self, index: int) -> str:
        end = self.words[index + 1].start if index + 1 < len(self.words) else len(self.text)
        return self.text[self.words[index].end : end]

    def _ends_clause(self, index: int) -> bool:
        """Return whether a clause ends after word `index`: not at the dot of `Node.js`."""
        if index + 1 == len(self.words):
            return True
        gap = self._gap(index)
        return gap[-1:].isspace() and gap.strip()[:1] in _CLAUSE_ENDS

    def is_in(self, places: Iterable[Place], index: int) -> bool:
        before = {self.before(index), " ".join(self.folded[max(index - 2, 0) : index])}
        after, is_capitalised = self.after(index + 1), self.words[index].is_capitalised
        return any(
            (place.before is None or not before.isdisjoint(place.before))
            and (place.after is None or after in place.after)
            and not (place.in_small_letters and is_capitalised)
            for place in places
        )

    # What belongs to a name

    def is_possessive(self, index: int) -> bool:
        return self._gap(index) in _APOSTROPHES and self.after(index + 1) == "s"

    def is_initial(self, index: int) -> bool:
        """Return whether a word may be an initial: one letter, not that of `what's`."""
        is_joined = index > 0 and self._gap(index - 1) in _APOSTROPHES
        return len(self.folded[index]) == 1 and not is_joined

    def is_hyphenated(self, index: int) -> bool:
        return index + 1 < len(self.words) and self._gap(index) in _HYPHENS

    def is_compound(self, start: int, size: int) -> bool:
        after, last = self.after(start + size), start + size - 1
        if f"{self.folded[start]}-{after}" in COMPOUNDS:
            return True
        is_hyphenated = self.is_hyphenated(last) or (start > 0 and self.is_hyphenated(start - 1))
        return is_hyphenated or (after == "t" and self._gap(last) in _APOSTROPHES)

    def may_be_surname(self, index: int) -> bool:
        return self._looks_like_name(index, index - 1)

    def may_be_first_name(self, index: int) -> bool:
        return self._looks_like_name(index, index)

    def _looks_like_name(self, index: int, gap_after: int) -> bool:
        if not 0 < index < len(self.words) or self.used[index] or self.in_title_case:
            return False
        word = self.words[index]
        if self._gap(gap_after) != " " or not word.is_capitalised or word.text.isupper():
            return False
        is_other = word.folded in _NEVER_NAMES or word.folded in DAYS_AND_MONTHS
        return not (is_other or is_common_word(word.folded))

    def has_other_surname(self, index: int) -> bool:
        before, after = self.before(index), self.after(index + 2)
        if before in VERB_FOLLOWS or after in ASKING_AFTER:
            return True
        if before and (before not in _BEFORE_NAMES or before in ("tell", "told")):
            return False
        is_end = self.is_possessive(index + 1) or self._ends_clause(index + 1)
        return is_end or (self._gap(index + 1) == " " and after in FUNCTION_WORDS)

    # Who a query asks about

    def asks_who(self, index: int) -> bool:
        """Return whether the query asks for this word and nothing else: `Will`, `who is Will?`"""
        before = tuple(self.folded[:index])
        return index + 1 == len(self.words) and (not before or before in ASKING_WHO)

    def is_asked_about(self, start: int, size: int) -> bool:
        if self._follows_question[start] or self.after(start + size) in ASKING_AFTER:
            return True
        return self._is_all(start, size)

    @cached_property
    def _follows_question(self) -> Sequence[bool]:
        places = range(len(self.words))
        return [self.before(each) in TITLES or self._is_asked_before(each) for each in places]

    def is_asked_for_state(self, index: int) -> bool:
        """Return whether `the` and a word are the subject of a question about its state."""
        before = self.folded[:index]
        is_subject = before[-1:] == ["the"] and len(before) <= TITLE_FROM
        return is_subject and asks_for_state([*before, *self.folded[index + 1 :]])

    def is_surely_asked_about(self, index: int) -> bool:
        if self.before(index) in TITLES or self._is_all(index, 1):
            return True
        word = self.words[index]
        is_all_capitals = len(word.text) > 1 and word.text.isupper()
        signs = (
            self._is_asked_before(index),
            self.after(index + 1) in ASKING_AFTER or self.is_possessive(index),
            not self.all_lower and (word.is_capitalised if index else is_all_capitals),
        )
        return sum(signs) > 1 and not self.is_in(OF_WORDS, index)

    def _is_all(self, start: int, size: int) -> bool:
        return not self._topic or (start <= self._topic[0] and self._topic[-1] < start + size)

    def _is_asked_before(self, start: int) -> bool:
        before, earlier = self.before(start), self.folded[: max(start - 1, 0)]
        if before in VERB_FOLLOWS and earlier:
            return not _INTERROGATIVES.isdisjoint(earlier)
        return before in ASKING_BEFORE

    def is_source(self, index: int) -> bool:
        return self.before(index) in _SOURCES and self._ends_clause(index)

    def is_modifier(self, index: int) -> bool:
        after = self.after(index + 1)
        is_verb = self.before(index) in VERB_FOLLOWS or after.endswith(("ing", "ed"))
        is_noun = after not in ASKING_AFTER and has_topic([after]) and not is_verb
        return is_noun and self._gap(index) == " "

    def is_listed_with(self, index: int, spans: Iterable[tuple[int, int]]) -> bool:
        word, after = self.words[index], self.after(index + 1)
        goes_on = after in ASKING_AFTER or after in _SEPARATORS
        return (goes_on or self._ends_clause(index)) and any(
            self._is_separator(end, word.start) or self._is_separator(word.end, start)
            for start, end in spans
        )

    def _is_separator(self, start: int, end: int) -> bool:
        is_near = 0 < end - start <= LONGEST_GAP
        return is_near and " ".join(self.text[start:end].casefold().split()) in _SEPARATORS
