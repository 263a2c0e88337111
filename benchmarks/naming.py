"""Measure how well a base teaches which of its words are names.

    python -m benchmarks.naming BASE... [--show 5]

Needs no labels and no index: the text itself says who is meant. Pages of entities and half of the
other documents, by a hash of the path, are counted as at indexing. Queries come from the rest: up
to 12 words around

- a person: one part of a full name within a sentence, whose other parts are left out;
- a word: a part of a name in small letters, within a sentence, not beside the rest of the name.

The words before and after are in small letters, so lists of names and headings are left out.

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
from pathlib import Path

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.entities.entity_pages import build_entities
from kbx_tui.knowledge.entities.name_uses import NameUseCounter, is_cased
from kbx_tui.knowledge.folding import fold
from kbx_tui.knowledge.parsing.kinds import CORE_ENTITY_TYPES
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Document, Entity
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.search.query.name_index import NameIndex
from kbx_tui.search.query.name_matching import NameMatcher

AROUND = 6
"""Words on each side of the name."""
EACH = 20
"""Queries per part of a name, as a person and as a word."""
ALL = 3000
"""Queries per base."""

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n(?:\s*\n|\s*[-*#>|\d])")
_WORD = re.compile(r"\w+")
_MARKS = ".,;:!?()'\"“”‘’"
_OPENS = Tuning().entity_threshold


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


def measure(base: Path, shown: int) -> None:
    """Print the rows of one base."""
    documents = [
        parse_document(file.relative_to(base).as_posix(), file.read_bytes())
        for file in sorted(base.rglob("*.md"))
    ]
    entities = build_entities(documents, CORE_ENTITY_TYPES)
    votes = votes_of(entities, [page for page in documents if is_counted(page)])
    queries = sampled(queries_of(entities, [page for page in documents if not is_counted(page)]))
    for case in ("written", "lower"):
        for taught in (votes, {}):
            matcher = NameMatcher(entities, taught)
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


def queries_of(entities: Sequence[Entity], documents: Iterable[Document]) -> Iterator[Query]:
    """Yield the queries of the documents."""
    names = {
        tuple(map(fold, _WORD.findall(entity.name))): number
        for number, entity in enumerate(entities)
        if entity.type == "person"
    }
    longest = max(map(len, names), default=0)
    parts = parts_of_one(NameIndex(entities))
    for document in documents:
        if not is_cased(document.body):
            continue
        for sentence in _SENTENCE.split(document.body):
            words = sentence.replace("*", "").split()
            bare = [fold(word.strip(_MARKS).removesuffix("'s")) for word in words]
            for start, word in enumerate(bare):
                if word in parts and words[start].islower() and is_within(words, start, 1):
                    yield Query(window(words, start), word, parts[word], False)
                for size in range(2, min(longest, len(bare) - start) + 1):
                    person = names.get(tuple(bare[start : start + size]))
                    if person is None or not is_within(words, start, size):
                        continue
                    for index in (start, start + size - 1):
                        if parts.get(bare[index]) == person and not words[index].islower():
                            rest = [*words[:start], words[index], *words[start + size :]]
                            yield Query(window(rest, start), bare[index], person, True)


def is_within(words: Sequence[str], start: int, size: int) -> bool:
    """Return whether two words in small letters enclose some words."""
    end = start + size
    around = [*words[max(start - 1, 0) : start], *words[end : end + 1]]
    return len(around) == 2 and all(word.isalpha() and word.islower() for word in around)


def parts_of_one(names: NameIndex) -> dict[str, int]:
    """Return the first names and surnames that name one person and nothing else."""
    people: dict[str, set[int]] = defaultdict(set)
    for word, numbers in names.first_names.items():
        people[word].update(numbers)
    for words, numbers in names.surnames.items():
        if len(words) == 1:
            people[words[0]].update(numbers)
    for words, full in names.full.items():
        if len(words) == 1:
            people[words[0]].update(name.entity for name in full)
    return {word: min(of) for word, of in people.items() if len(of) == 1 and len(word) > 1
            and (word in names.first_names or (word,) in names.surnames)}  # fmt: skip


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
