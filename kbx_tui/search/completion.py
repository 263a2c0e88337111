"""Completion of a filter or word that the user is typing at the end of a query.

The most frequent values of a filter come first, paths one level at a time. A word that no document
holds is completed to the word that occurs in most documents. As the index holds stems only, the
whole word is read from some of these documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kbx_tui.index.lexical.bm25 import Bm25Index
from kbx_tui.index.lexical.postings import stem_of_term, term_of
from kbx_tui.index.path_filter import complete, complete_inner_folder
from kbx_tui.knowledge.folding import fold, slug
from kbx_tui.search.open_index import IndexGeneration
from kbx_tui.search.query.typed_filters import DATE, UnfinishedFilter, read_filters
from kbx_tui.search.request import tag_keys

_DATE_SO_FAR = re.compile(r"\d{1,4}(-\d{0,2}){0,2}")


@dataclass(frozen=True, slots=True)
class FilterCompletions:
    values: tuple[str, ...]
    is_whole: bool
    """Whether the typed text is already a value, or no value begins with it."""


def complete_filter(
    generation: IndexGeneration, unfinished: UnfinishedFilter, limit: int
) -> FilterCompletions:
    typed = unfinished.value
    values = list(_values(generation, unfinished, limit))
    if unfinished.key in ("from", "to"):
        is_part = bool(_DATE_SO_FAR.fullmatch(typed)) and not DATE.fullmatch(typed)
        return FilterCompletions(tuple(values[:limit]), is_whole=not is_part)
    if unfinished.key == "@":
        is_whole = bool(typed) and bool(generation.entity_names.named(typed))
    elif unfinished.key == "said":
        is_whole = bool(typed) and bool(generation.speakers.labels(typed))
    elif unfinished.key == "in":
        is_whole = typed.endswith("/") or bool({typed, f"{typed}/"} & set(values))
    else:
        is_whole = fold(typed) in map(fold, values)
    longer = (value for value in values if _begins(value, typed))
    return FilterCompletions(tuple(dict.fromkeys(longer))[:limit], is_whole or not values)


def _begins(value: str, typed: str) -> bool:
    """Return whether a value goes on after what is typed, in any spelling."""
    return fold(value[: len(typed)]) == fold(typed) and len(value) > len(typed)


def _values(generation: IndexGeneration, unfinished: UnfinishedFilter, limit: int) -> Iterator[str]:
    typed, snapshot = unfinished.value, generation.snapshot
    match unfinished.key:
        case "type":
            yield from _frequent(Counter(filter(None, snapshot.kinds)), typed)
        case "tag":
            keys = (key for tags in snapshot.tags for tag in tags for key in tag_keys(tag))
            yield from _frequent(Counter(keys), typed)
        case "from" | "to":
            yield from _dates(snapshot.dates, typed)
        case "in":
            yield from complete(snapshot.paths, typed, Path("/"), limit)
            yield from complete_inner_folder(snapshot.paths, typed)
        case "said":
            names = (
                each if unfinished.is_quoted else slug(each) for each in generation.speakers.names
            )
            yield from (name for name in dict.fromkeys(names) if fold(name).startswith(fold(typed)))
        case "@":
            named = generation.entity_names.find(typed, limit) if typed else []
            names = (each.name if unfinished.is_quoted else slug(each.name) for each in named)
            yield from (name for name in dict.fromkeys(names) if fold(name).startswith(fold(typed)))
        case name:
            yield from _frequent(generation.properties.values(name).counts, typed)


def _dates(dates: Iterable[str], typed: str) -> Iterator[str]:
    parts = typed.count("-") + (1 if not DATE.fullmatch(typed) else 2)
    starts = (date.partition("/")[0] for date in dates if date.startswith(typed))  # of weeks
    longer = {"-".join(start.split("-")[:parts]) for start in starts}
    yield from sorted(longer - {typed}, reverse=True)


def _frequent(counts: Mapping[str, int], typed: str) -> Iterator[str]:
    start = fold(typed)
    found = [value for value in counts if fold(value).startswith(start)]
    yield from sorted(found, key=lambda value: (-counts[value], value))


SHORTEST = 3
TERMS_TRIED, DOCUMENTS_READ = 5, 5
READ_AT_MOST = 30_000

_LAST_WORD = re.compile(rf"(?:^|(?<=[\s(-]))[^\W\d_]{{{SHORTEST},}}$")


def complete_last_word(generation: IndexGeneration, query: str) -> str:
    """Return the query with its last word completed; unchanged if that is a word of the base.

    The typed letters stay as they are. The query is also unchanged if no word begins with them, or
    they are within a filter or quotation marks.
    """
    match = _LAST_WORD.search(query)
    if match is None or query.count('"') % 2:
        return query
    typed, spans = fold(match[0]), read_filters(query).spans
    if len(typed) != len(match[0]) or (spans and spans[-1][1] == len(query)):
        return query
    if _is_known(generation, typed):
        return query
    for term, language in _candidates(generation.words, typed):
        word = _word_of(generation, term, language, typed)
        if word:
            return query + word[len(typed) :]
    return query


def _is_known(generation: IndexGeneration, typed: str) -> bool:
    words = generation.words
    terms = [term_of(typed, language) for language in words.languages]
    is_word = not all(terms) or any(len(words.rows_holding(term)) for term in terms)
    return is_word or bool(generation.entity_names.named(typed))


def _candidates(words: Bm25Index, typed: str) -> list[tuple[str, str]]:
    """Return the terms of words that may begin with `typed`, with their languages."""
    counts = Counter[tuple[str, str]]()
    for language in words.languages:
        term = term_of(typed, language)
        prefix = term.removesuffix(stem_of_term(term))
        for longer, count in words.frequent(prefix + typed).items():
            counts[longer, language] += count
        for end in range(SHORTEST, len(typed)):
            counts[prefix + typed[:end], language] += len(words.rows_holding(prefix + typed[:end]))
    return [each for each, count in counts.most_common(TERMS_TRIED) if count]


def _word_of(generation: IndexGeneration, term: str, language: str, typed: str) -> str:
    snapshot = generation.snapshot
    rows = generation.words.rows_holding(term)
    rows = rows[:: max(len(rows) // DOCUMENTS_READ, 1)][:DOCUMENTS_READ]
    paths = [snapshot.paths[row] for row in rows]
    beginning = re.compile(rf"(?<![^\W_]){re.escape(typed)}[^\W_]*")
    counts = Counter[str]()
    for row, (body, _) in zip(rows, generation.bodies.read(paths), strict=True):
        text = f"{snapshot.titles[row]}\n{snapshot.attendees[row]}\n{body[:READ_AT_MOST]}"
        counts.update(beginning.findall(fold(text)))
    words = {word: count for word, count in counts.items() if term_of(word, language) == term}
    return max(words, key=lambda word: words[word], default="")
