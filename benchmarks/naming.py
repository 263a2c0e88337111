"""Measure how well a base teaches which of its words are names.

    python -m benchmarks.naming BASE... [--show 5]

Needs no labels and no index: the text itself says who is meant. Pages of entities and half of the
other documents, by a hash of the path, are counted as at indexing. Queries come from the rest: up
to 12 words around

- a person: one part of a full name with capitals, within a sentence and not after a determiner,
  whose other parts are left out;
- a word: a part of a name in small letters, within a sentence and not beside the rest of the name.

The words before and after are in small letters, or a sentence or clause ends, so headings are left
out. What is left of a name keeps what follows it: without the comma, `Ada Byron, Grace Hopper`
would be asked as `Ada Grace Hopper`, and without `'s`, `Ada Byron's plan` as `Ada plan`, which
nobody wrote.

Only what is plain is a label. Many write people in small letters too (`i saw danny had his hand
up`), so a word counts only in a sentence that begins with a capital and has no pronoun `i`, and
only if it is an ordinary word of this base: it follows a determiner somewhere (`a light`) and has
another ending somewhere (`lights`, `lighting`), and one of both in a fifth of the documents with it
in small letters. One alone is not enough: an event has a determiner (`the devconnect`). No rule of
the search looks at endings, and a determiner before the word itself is left out, because there the
search would know the answer from the rule that made the label.

Only parts that name one person and nothing else are used, each at most 20 times as a person and 20
times as a word. Every query is asked as written and in small letters, with what the base teaches
and without. Found is a query that names this person strongly enough to open the second pass.
Prints precision and recall of that, and how many of the words open it.
"""

from __future__ import annotations

import argparse
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.index.stored_names import make_names
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.index.versions import NO_STATE
from kbx_tui.knowledge.entities import build_entities
from kbx_tui.knowledge.entity_names import DETERMINERS, NameUseCounter, is_cased
from kbx_tui.knowledge.fields import CORE_ENTITY_TYPES
from kbx_tui.knowledge.folding import fold, folded_words
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.search.query.name_index import NameIndex
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.request import Tuning

AROUND = 6
"""Words on each side of the name."""
PLAIN = 0.2
"""Share of the documents with a word in small letters that show it to be an ordinary word."""
ENDINGS = ("s", "es", "d", "ed", "ing", "er", "ly")
ENDING_FROM = 4
"""Letters; shorter words are too often the beginning of others (`di`, `died`)."""
EACH = 20
"""Queries per part of a name, as a person and as a word."""
ALL = 3000
"""Queries per base."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n(?:\s*\n|\s*[-*#>|\d])")
_WORD = re.compile(r"\w+")
_STOPS = ".,;:!?"
_MARKS = ".,;:!?()'\"“”‘’"
_OPENS = Tuning().entity_threshold

Sentence = tuple[list[str], list[str]]
"""Its words as written, and folded without marks."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query with a part of the name of a person, in which they are meant or not."""

    text: str
    part: str
    """Folded."""
    person: int
    is_meant: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=0, help="errors to print per kind")
    options = parser.parse_args()
    print(f"{'base':<20}{'as':<9}{'votes':<7}{'people':>7}{'words':>7}"
          f"{'precision':>11}{'recall':>8}{'words that open':>17}")  # fmt: skip
    for base in options.bases:
        measure(base, options.show)


def documents_of(base: Path) -> list[Document]:
    """Parse all pages of a base."""
    return [
        parse_document(file.relative_to(base).as_posix(), file.read_bytes())
        for file in sorted(base.rglob("*.md"))
    ]


def measure(base: Path, shown: int) -> None:
    """Print the rows of one base."""
    documents = documents_of(base)
    entities = build_entities(documents, CORE_ENTITY_TYPES)
    votes = votes_of(entities, [page for page in documents if is_counted(page)])
    queries = sampled(queries_of(entities, documents))
    for case in ("written", "lower"):
        for taught in (votes, {}):
            matcher = NameMatcher.of(entities, taught)
            counts: Counter[tuple[bool, bool]] = Counter()
            for query in queries:
                text = query.text.lower() if case == "lower" else query.text
                is_found = opens_second_pass(matcher, text, query)
                counts[query.is_meant, is_found] += 1
                is_wrong = query.is_meant != is_found
                if taught and is_wrong and counts[query.is_meant, is_found] <= shown:
                    print(f"    {'missed' if query.is_meant else 'opened'} {query.part!r}: {text}")
            print_row(base.name, case, bool(taught), counts)


def is_counted(document: Document) -> bool:
    """Return whether a document teaches; the others are asked about."""
    return document.kind in CORE_ENTITY_TYPES or zlib.crc32(document.path.encode()) % 2 == 0


def votes_of(entities: Sequence[Entity], documents: Iterable[Document]) -> dict[str, NameVotes]:
    """Return how the documents use the words of names."""
    counter = NameUseCounter(entities)
    shares: dict[str, list[float]] = defaultdict(list)
    for document in documents:
        for use in counter.uses(document):
            shares[use.word].append(use.as_name / (use.as_name + use.as_word))
    return {word: NameVotes(sum(of), len(of) - sum(of)) for word, of in shares.items()}


def queries_of(entities: Sequence[Entity], documents: Sequence[Document]) -> list[Query]:
    """Return the queries of the documents that are asked about; all of them show what is plain."""
    parts = parts_of_one(entities)
    names = {
        tuple(map(fold, _WORD.findall(entity.name))): number
        for number, entity in enumerate(entities)
        if entity.type == "person" and has_capitals(entity.name)
    }
    asked = [page for page in documents if not is_counted(page) and is_cased(page.body)]
    sentences = [split for page in asked for split in sentences_of(page)]
    words = {part: parts[part] for part in ordinary_words(parts.keys(), documents)}
    rests = {parts[part]: {*map(fold, _WORD.findall(entities[parts[part]].name))} for part in words}
    return [*people(sentences, names, parts), *ordinary_uses(sentences, words, rests)]


def has_capitals(name: str) -> bool:
    """Return whether a name begins and ends with a capitalised word, unlike `Action items`."""
    words = _WORD.findall(name)
    return bool(words) and all(word[0].isupper() for word in (words[0], words[-1]))


def sentences_of(page: Document) -> Iterator[Sentence]:
    for sentence in _SENTENCE.split(page.body):
        words = sentence.replace("*", "").split()
        yield words, [fold(word.strip(_MARKS).removesuffix("'s")) for word in words]


def people(
    sentences: Iterable[Sentence], names: Mapping[tuple[str, ...], int], parts: Mapping[str, int]
) -> Iterator[Query]:
    """Yield queries with one part of a full name."""
    longest = max(map(len, names), default=0)
    for words, bare in sentences:
        for start in range(1, len(bare)):
            for size in range(2, min(longest, len(bare) - start) + 1):
                person = names.get(tuple(bare[start : start + size]))
                ends = (start, start + size - 1)
                if person is None or not is_within(words, start, size, may_end=True):
                    continue
                if bare[start - 1] in DETERMINERS or any(words[end].islower() for end in ends):
                    continue
                for index in ends:
                    if parts.get(bare[index]) == person:
                        is_last = index == ends[1]
                        kept = words[index] + ("" if is_last else ending(words[ends[1]]))
                        rest = [*words[:start], kept, *words[start + size :]]
                        yield Query(window(rest, start), bare[index], person, True)


def ending(word: str) -> str:
    """Return the possessive and the punctuation at the end of a word."""
    return word[len(word.rstrip(_MARKS).removesuffix("'s")) :]


def ordinary_uses(
    sentences: Iterable[Sentence], parts: Mapping[str, int], rests: Mapping[int, set[str]]
) -> Iterator[Query]:
    """Yield queries with a part of a name in small letters; `rests` are the words of full names."""
    for words, bare in sentences:
        if not (words and shows_case(words)):
            continue
        for index, word in enumerate(bare):
            if word not in parts or not words[index].islower():
                continue
            if not is_within(words, index, 1, may_end=True):
                continue
            near = (*bare[index - 1 : index], *bare[index + 1 : index + 2])
            beside = {*near, *(other.removesuffix("s") for other in near)}
            if bare[index - 1] not in DETERMINERS and beside.isdisjoint(rests[parts[word]]):
                yield Query(window(words, index), word, parts[word], False)


def ordinary_words(parts: Iterable[str], documents: Iterable[Document]) -> set[str]:
    """Return the parts of names that a base plainly uses as ordinary words."""
    endings = {part: {part, *other_endings(part)} for part in parts}
    uses: Counter[str] = Counter()
    plain: Counter[str] = Counter()
    with_determiner, with_ending = set[str](), set[str]()
    for page in documents:
        if not is_cased(page.body):
            continue
        words = _WORD.findall(page.body)
        small = {fold(word) for word in words if word.islower()}
        determined = {
            word for before, word in pairwise(words) if before.lower() in DETERMINERS
        } & small
        inflected = {part for part in endings.keys() & small if len(endings[part] & small) > 1}
        uses.update(endings.keys() & small)
        plain.update(endings.keys() & small & (determined | inflected))
        with_determiner |= determined
        with_ending |= inflected
    both = with_determiner & with_ending
    return {part for part in both if plain[part] >= PLAIN * uses[part]}


def other_endings(word: str) -> set[str]:
    """Return how English would write a word with other endings."""
    if len(word) < ENDING_FROM:
        return set()
    stem = word.removesuffix("s")
    cut = stem.removesuffix("e")
    return {stem, *(cut + ending for ending in ENDINGS), *(stem + ending for ending in ENDINGS)}


def shows_case(words: Sequence[str]) -> bool:
    """Return whether a sentence begins with a capital and has no pronoun `i`."""
    first = next((word for word in words if word[:1].isalpha()), "")
    return first[:1].isupper() and "i" not in {word.split("'")[0] for word in words}


def is_within(words: Sequence[str], start: int, size: int, *, may_end: bool = False) -> bool:
    """Return whether two words in small letters enclose some words.

    With `may_end`, a sentence or clause may end after them.
    """
    end = start + size
    before, after = words[max(start - 1, 0) : start], words[end : end + 1]
    around = before if may_end and words[end - 1][-1] in _STOPS else [*before, *after]
    if may_end and not after:
        around = before
    is_enclosed = len(around) == 2 or (may_end and len(around) == 1)
    return is_enclosed and all(word.isalpha() and word.islower() for word in around)


def parts_of_one(entities: Sequence[Entity]) -> dict[str, int]:
    """Return the first names and surnames that name one person and nothing else."""
    column = EntityColumn.of(entities)
    names, parts = NameIndex(make_names(column, NO_STATE)), {}
    for word in sorted({word for entity in entities for word in folded_words(entity.name)}):
        found = names.find([word])
        surnames, full = found.surnames.get((word,), []), found.full.get((word,), [])
        first_names = found.first_names.get(word, [])
        people = {*first_names, *surnames, *(name.entity for name in full)}
        if len(people) == 1 and len(word) > 1 and (first_names or surnames):
            parts[word] = min(people)
    return parts


def window(words: Sequence[str], index: int) -> str:
    """Return a word and those around it."""
    return " ".join(words[max(index - AROUND, 0) : index + AROUND])


def sampled(queries: Iterable[Query]) -> list[Query]:
    """Return some of the queries, the same each time."""
    by_part: Mapping[tuple[str, bool], list[Query]] = defaultdict(list)
    for query in queries:
        by_part[query.part, query.is_meant].append(query)
    chosen = [query for same in by_part.values() for query in sorted(same, key=chance)[:EACH]]
    return sorted(chosen, key=chance)[:ALL]


def chance(query: Query) -> int:
    return zlib.crc32(query.text.encode())


def opens_second_pass(matcher: NameMatcher, text: str, query: Query) -> bool:
    """Return whether a query names its person strongly enough by this part of the name."""
    return any(
        match.entity == query.person
        and match.signal.score >= _OPENS
        and query.part in map(fold, _WORD.findall(text[match.start : match.end]))
        for match in matcher.find(text)
    )


def print_row(
    base: str, case: str, is_taught: bool, counts: Mapping[tuple[bool, bool], int]
) -> None:
    found, missed = counts[True, True], counts[True, False]
    opened, left = counts[False, True], counts[False, False]
    print(
        f"{base:<20}{case:<9}{'yes' if is_taught else 'no':<7}{found + missed:>7}{opened + left:>7}"
        f"{found / max(found + opened, 1):>11.3f}{found / max(found + missed, 1):>8.3f}"
        f"{opened / max(opened + left, 1):>17.3f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
