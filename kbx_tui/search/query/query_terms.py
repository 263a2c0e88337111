"""What documents are searched for: a query without the names in it, and its weighted terms. Pure.

Pass 2 searches without people and teams named outright: links already show which documents are
theirs, and their names, where they occur only in frontmatter, would outweigh the topic. Names of
projects stay: they are the topic. Terms are those of each language that a base holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice, pairwise
from typing import Self

from kbx_tui.index.lexical.bm25 import AnyOf, PlainTerm, Term
from kbx_tui.index.lexical.postings import (
    CJK_CHARACTER,
    OF,
    separate_cjk,
    term_of,
    words_in,
    words_without_topic,
)
from kbx_tui.knowledge.folding import ENGLISH, fold, folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence import scores as weights
from kbx_tui.search.evidence.evidence import PEOPLE, Signal
from kbx_tui.search.query.query_words import (
    ARTICLES,
    ASKING_FOR_ONE,
    FOR_MEETINGS,
    FOR_PEOPLE,
    MONTHS,
    REQUEST_WORDS,
    asks_for_news,
    asks_for_state,
    asks_for_topic,
    has_topic,
    words_for_duration,
    words_for_news,
    words_of,
)

AMBIGUOUS = 0.8
"""Score of each entity when several share a name: kept, but not named outright."""
HINT = 0.4
"""Score of a name that the query may use as an ordinary word."""
TYPO_WEIGHT = 0.9
"""Score of a misspelt name that differs in nothing, such as one written as one word."""

Span = tuple[int, int]

_OF_PAGE = re.compile(
    r"""
    (?:and\s*,\s*)?
    (?: what\s+(?:do|does)\s+(?:the\s+)?
        (?:do|lead|like|manage|need|own|prefer|run|want|work\s+on)(?:\s+here)?
    | (?:what(?:\s+i|['’])s\s+)? (?:doing|in\s+charge\s+of|responsible\s+for)
    | where(?:\s+i|['’])s(?:\s+the)?
    | (?:when\s+)?(?:is|will)\s+(?:(?:s?he|they|the)\s+)?(?:be\s+)?
      (?:away|back|off|on\s+(?:leave|holiday|vacation)|out) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""Matches a query for what someone wants, does or leads, or where they are, without the name, which
their own page says. What they wanted, a meeting says."""
_POSSESSIVE = re.compile(r"['’]s?\b")
_PUNCTUATION = " \t\r\n?!.,;:\"'“”‘’"


@dataclass(frozen=True, slots=True)
class NameMatch:
    entity: int
    signal: Signal
    start: int
    end: int
    """Span in the query, including an honorific before the name."""
    named: bool
    """True when this entity, and no other, is named."""

    def as_hint(self) -> NameMatch:
        return replace(self, signal=replace(self.signal, score=HINT), named=False)

    def as_meant(self) -> NameMatch:
        alone = not self.signal.ambiguous
        signal = replace(self.signal, score=1.0 if alone else AMBIGUOUS)
        return replace(self, signal=signal, named=alone)


@dataclass(frozen=True, slots=True)
class NamedQuery:
    text: str
    matches: Sequence[NameMatch]
    kinds: tuple[str, ...]
    spans: tuple[Span, ...]
    """Spans of people and teams named outright."""
    things: tuple[int, ...]
    """Indices of the entities named outright that are neither people nor teams."""
    document_query: str
    """Query of pass 2: without `spans`. Where no topic word would be left, the query as typed, with
    the name of who has a role, unless it asks for that, or only `spans` if it asks what is new:
    how that is put says nothing."""
    names_only: bool
    """True for people or teams and no topic: `what did Ada say?`"""
    words_asked: str
    """What is left without the names of people, teams and things; empty without a topic word."""
    asks_for_news: bool = False
    """True for what is new, perhaps of a topic: `latest on fees`, `what is Ada up to`."""

    @classmethod
    def of(cls, text: str, matches: Sequence[NameMatch], entities: Sequence[Entity]) -> Self:
        """Create one; `matches` refer to `entities` by index."""
        kinds = tuple(entities[match.entity].type for match in matches)
        named = [(match, kind) for match, kind in zip(matches, kinds, strict=True) if match.named]
        spans = tuple((match.start, match.end) for match, kind in named if kind in PEOPLE)
        things = [match for match, _ in named if (match.start, match.end) not in spans]
        rest, by_name = without_spans(text, spans) if spans else text, text
        words_asked = without_spans(text, {(match.start, match.end) for match, _ in named})
        asked = [word.folded for word in words_of(words_asked)]
        asked_topic = asks_for_topic(asked)
        rest_has_topic = asks_for_topic(folded_words(rest)) if things else asked_topic
        for match in sorted(matches, key=lambda each: -each.start):
            if match.signal.kind == "role" and FOR_PEOPLE.isdisjoint(asked):
                name = entities[match.entity].name
                by_name = f"{by_name[: match.start]}{name}{by_name[match.end :]}"
        news, names_only = asks_for_news(asked), bool(spans) and not rest_has_topic
        asks_state = bool(things) and asks_for_state(asked) and "when" not in asked
        is_for_page = names_only and news and FOR_MEETINGS.isdisjoint(asked)
        if asks_state or is_for_page:
            meant = {*spans, *((match.start, match.end) for match in things)}
            rest, news = " ".join(text[start:end] for start, end in sorted(meant)), True
        return cls(
            text=text,
            matches=matches,
            kinds=kinds,
            spans=spans,
            things=tuple(match.entity for match in things),
            document_query=rest if rest_has_topic or is_for_page else by_name,
            names_only=names_only,
            words_asked=words_asked if asked_topic and not asks_state else "",
            asks_for_news=news,
        )

    @property
    def news_of(self) -> tuple[int, ...]:
        """Indices of the entities of which the query asks what is new, and nothing else: no
        meetings."""
        if self.words_asked or not self.asks_for_news:
            return ()
        if not FOR_MEETINGS.isdisjoint(folded_words(self.text)):
            return ()
        return tuple(dict.fromkeys(match.entity for match in self.matches if match.named))

    @property
    def subject(self) -> str:
        return subject(self.text)

    @property
    def asked_for(self) -> tuple[int, ...]:
        """Indices of the entities whose name is the whole query, `who is Ada?`, or of which it asks
        what they want, `what does Ada prefer?`, or where they are: several that share the name.
        """
        start, end = _subject_span(self.text)
        entities = []
        for match, kind in zip(self.matches, self.kinds, strict=True):
            shared = match.signal.ambiguous and match.signal.score > HINT
            rest = (self.text[start : match.start] + self.text[match.end : end]).strip()
            is_all = rest.casefold() in ("", kind) or _OF_PAGE.fullmatch(rest)
            if (match.named or shared) and is_all:
                entities.append(match.entity)
        return tuple(entities)


def subject(query: str) -> str:
    """Return a query without a leading `who is the` and trailing punctuation."""
    return query[slice(*_subject_span(query))]


def _subject_span(query: str) -> Span:
    words = words_of(query)
    folded = tuple(word.folded for word in words)
    phrases = (len(each) for each in ASKING_FOR_ONE if folded[: len(each)] == each)
    skipped = max(phrases, default=0)
    if skipped + 1 < len(words) and folded[skipped] in ARTICLES:
        skipped += 1
    if skipped >= len(words):
        return 0, len(query)
    return words[skipped].start, len(query.rstrip(_PUNCTUATION))


def without_spans(query: str, spans: Iterable[Span]) -> str:
    """Return a query without names, nor what makes them possessive."""
    rest, end = "", 0
    for start, stop in sorted(spans):
        if start >= end:
            rest += f"{query[end:start]} "
            possessive = _POSSESSIVE.match(query, stop)
            end = possessive.end() if possessive else stop
    return " ".join((rest + query[end:]).split())


MAX_TERMS = 64
"""Further words are ignored: every term takes time, and no question has as many."""

QUERIES_KEPT = 16

_WORD = re.compile(r"\w+")
_YEAR = re.compile(r"(19|20)\d\d")
_IDENTIFIER = re.compile(r"\d|(?<=\w)_(?=\w)")
_JOINED = re.compile(r"(?!\d{4}-\d\d)\w+(?:[-.:]\w+)*")
"""Matches words that are joined, of which those with `_IDENTIFIER` are one name: `LK-014`."""
_CJK_SIGN, _CJK_RUN = re.compile(CJK_CHARACTER), re.compile(f"{CJK_CHARACTER}{{2,}}")
_KANA = re.compile("[\u3040-\u30ff]")
_HIRAGANA = re.compile("[\u3040-\u309f]+")


@dataclass(frozen=True, slots=True)
class SearchedTerms:
    weights: Mapping[Term, float]
    words: Sequence[Term]
    in_titles: Mapping[str, Sequence[str]]
    """The different terms of the query, by language; without languages in which no document holds
    all of them."""


@lru_cache(maxsize=QUERIES_KEPT)
def query_terms(query: str) -> Sequence[str]:
    """Return the distinct words of a query as typed, in order, at most 64."""
    words = _WORD.findall(separate_cjk(query))
    return tuple({word.casefold(): word for word in words}.values())[:MAX_TERMS]


def without_request(
    terms: Sequence[str], request_words: Collection[str] = REQUEST_WORDS
) -> Sequence[str]:
    """Return words of a query without those that only phrase the request, while others remain."""
    folded = [fold(term) for term in terms]
    asking = words_for_news(folded) | words_for_duration(folded)
    left = [
        (term, word)
        for term, word in zip(terms, folded, strict=True)
        if word not in request_words and word not in asking
    ]
    return [term for term, _ in left] if has_topic(word for _, word in left) else terms


def weighted_terms(query: str) -> list[str]:
    """Return the words to search documents for, repeated as often as they count.

    Words that only phrase the request ("latest updates on") are left out while others remain. A
    word counts as often as the query repeats it, up to three times, so that a pasted log is not its
    own best match; the identifiers of a lookup count as if they were repeated. A digit does not, as
    many texts hold it: `reviewer 2`.
    """
    topic = without_request(query_terms(query))
    counts = Counter(word.casefold() for word in _WORD.findall(separate_cjk(query)))
    looked_up = identifiers(query)
    weighted = []
    for term in topic:
        is_telling = term in looked_up and len(term) > 1
        times = weights.REPEATS_COUNTED if is_telling else counts[term.casefold()]
        weighted += [term] * min(times, weights.REPEATS_COUNTED)
    return weighted


@lru_cache(maxsize=QUERIES_KEPT)
def identifiers(query: str) -> frozenset[str]:
    """Return the words with digits or underscores if they are a third of the query.

    `pull request 2718`, `flush_queue_now`.
    """
    folded = {word: fold(word) for word in query_terms(query)}
    if not MONTHS.isdisjoint(folded.values()):
        return frozenset()
    terms = [word for word, each in folded.items() if has_topic([each])]
    numbers = {t for t in terms if _IDENTIFIER.search(t) and not _YEAR.fullmatch(t)}
    return frozenset(numbers if len(numbers) >= weights.IDENTIFIER_SHARE * len(terms) else ())


def lexical_weight(query: str, *, names_someone: bool = False) -> float:
    """Return the weight of the lexical score: higher for identifiers and names.

    `names_someone`: the query names a person or a team, or did before the name was removed.
    """
    if identifiers(query):
        return weights.IDENTIFIER_WEIGHT
    return weights.NAMES_LEXICAL_WEIGHT if names_someone else weights.LEXICAL_WEIGHT


def searched_terms(
    query: str,
    languages: Sequence[str] = (ENGLISH,),
    is_held: Callable[[str], bool] = lambda _: True,
) -> SearchedTerms:
    """Return the terms to search documents in some languages for.

    The first of `languages` is that of most documents. `is_held` returns whether documents hold a
    term of another language than English. Two adjacent words of the query are a term of their own
    with a low weight. Of Chinese, Japanese and Korean, two adjacent characters count as a word.
    """
    in_order = words_in(query)
    counts = Counter(word for typed in weighted_terms(query) for word in words_in(typed))
    ignored = words_without_topic(in_order, languages[0]) if len(languages) > 1 else frozenset()
    asked = [word for word in counts if word not in ignored] or list(counts)
    languages = [
        language
        for language in languages
        if language == ENGLISH or _may_hold([term_of(word, language) for word in asked], is_held)
    ]
    spelled = {
        word: [term_of(word, language) for language in languages] for word in (*in_order, *counts)
    }
    plain: dict[str, None] = {}
    terms: dict[Term, float] = {}
    for word in asked:
        found = [term for term in spelled[word] if term and (OF not in term or is_held(term))]
        plain |= dict.fromkeys(found)
        for term in _any_of(found):
            terms[term] = terms.get(term, 0.0) + counts[word]
    names = filter(_IDENTIFIER.search, _JOINED.findall(query))
    joined = {pair for name in names for pair in pairwise(words_in(name))}
    pairs: dict[Term, float] = {}
    for pair_of_words in islice(pairwise(in_order), MAX_TERMS):
        adjacent = zip(*(spelled[word] for word in pair_of_words), strict=True)
        weight = weights.REPEATS_COUNTED if pair_of_words in joined else weights.PAIR_WEIGHT
        both = [pair for pair in adjacent if pair[0] in plain and pair[1] in plain]
        pairs |= dict.fromkeys(_any_of(both), weight)
    words = list(terms)
    terms |= pairs
    if signs := _adjacent_signs(query):
        words = [*(word for word in words if not _is_sign(word)), *signs]
        weighed = {term: _weight_of_sign(term, weight, signs) for term, weight in terms.items()}
        terms = {term: weight for term, weight in weighed.items() if weight}
    in_titles = {
        language: tuple(dict.fromkeys(filter(None, (spelled[word][number] for word in asked))))
        for number, language in enumerate(languages)
    }
    held = {
        language: found
        for language, found in in_titles.items()
        if language == ENGLISH or all(OF not in term or is_held(term) for term in found)
    }
    return SearchedTerms(terms, words, held)


def _may_hold(terms: Sequence[str], is_held: Callable[[str], bool]) -> bool:
    """Return whether the terms of a query in a language may add to those of English.

    They may not if no document holds any of them and one is a term of that language alone.
    """
    return any(map(is_held, terms)) or not any(OF in term for term in terms)


def _any_of(terms: Sequence[PlainTerm]) -> tuple[Term, ...]:
    different = tuple(dict.fromkeys(terms))
    return (AnyOf(different),) if len(different) > 1 else different


def _adjacent_signs(query: str) -> list[tuple[str, str]]:
    """Return the different pairs of adjacent CJK characters in a query, each folded.

    Pairs of two hiragana, which inflect and connect words, are left out while others remain.
    """
    runs = [words_in(run) for run in _CJK_RUN.findall(query)]
    pairs = list(dict.fromkeys(pair for run in runs for pair in pairwise(run)))
    return [pair for pair in pairs if not _HIRAGANA.fullmatch("".join(pair))] or pairs


def _is_sign(term: Term) -> bool:
    return isinstance(term, str) and _CJK_SIGN.fullmatch(term) is not None


def _weight_of_sign(term: Term, weight: float, signs: Collection[Term]) -> float:
    """Return the weight of a term of a query with the pairs `signs` of CJK characters, or 0.

    A pair counts as a word, a single character as little as a pair of words, and a single kana not
    at all, as it means nothing by itself.
    """
    if term in signs:
        return 1.0
    if _is_sign(term):
        return 0.0 if _KANA.fullmatch(str(term)) else weights.PAIR_WEIGHT
    is_pair_with_sign = isinstance(term, tuple) and any(map(_is_sign, term))
    return 0.0 if is_pair_with_sign else weight
