"""Measure in how many phrasings of a question a name is found, by how the name is written.

    python -m benchmarks.name_forms BASE... [--show 5]

Needs no labels and no index. Up to 200 people of each base, chosen by a seed, are asked about in
every phrasing by their full name, their aliases, their first name and their surname, and all teams
by their names. Found is a name that is named outright or, where several share it, one of those that
open the second pass. First names and surnames that all documents use as ordinary words count, too:
that `Mark` on its own is not found is right as often as not.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.naming import documents_of, votes_of
from kbx_tui.index.stored_names import SUFFIXES
from kbx_tui.index.stored_records import EntityColumn
from kbx_tui.knowledge.entities import build_entities
from kbx_tui.knowledge.fields import CORE_ENTITY_TYPES
from kbx_tui.knowledge.folding import folded_words
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_matching import NameMatcher
from kbx_tui.search.request import Tuning

PEOPLE = 200
TOPICS = ("tuition fees", "the border", "error handling", "mental health in schools")
PHRASINGS = (
    "What did {name} say about {topic}?",
    "{name} on {topic}",
    "{name} {topic}",
    "{topic} {name}",
    "{name}: {topic}",
    "{topic} ({name})",
    "{topic}, {name}",
    "{topic} by {name}",
    "{topic} according to {name}",
    "{name}'s opinion on {topic}",
    "summarize {name}’s views on {topic}",
    "Which of {name}'s ideas about {topic} were rejected?",
    "Did {name} support {topic}?",
    "Does {name} agree that {topic} is needed?",
    "When did {name} mention {topic}?",
    "How does {name} feel about {topic}?",
    "What questions did {name} ask about {topic}?",
    "What concerns did {name} raise about {topic}?",
    "Was {name} in favour of {topic}?",
    "Why is {name} against {topic}?",
    "Has {name} commented on {topic}?",
    "What was the position of {name} on {topic}?",
    "what {name} thinks of {topic}",
    "Tell me what {name} thought of {topic}.",
    "I need everything {name} said on {topic}",
    "notes where {name} talks about {topic}",
    "meetings with {name} about {topic}",
    "feedback from {name} on {topic}",
    "how {name} would handle {topic}",
    "{name} vs {topic}",
    "did anyone besides {name} talk about {topic}",
)
_OPENS = Tuning().entity_threshold

AskedName = tuple[str, str, frozenset[int]]
"""How it is written, the name, and the entities that have it."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bases", type=Path, nargs="+")
    parser.add_argument("--show", type=int, default=0, help="queries to print per form")
    options = parser.parse_args()
    print(f"{'base':<20}{'name':<12}{'queries':>9}{'as written':>12}{'small letters':>15}")
    for base in options.bases:
        measure(base, options.show)


def measure(base: Path, shown: int) -> None:
    """Print a row per form of names."""
    documents = documents_of(base)
    entities = EntityColumn.of(build_entities(documents, CORE_ENTITY_TYPES))
    matcher = NameMatcher.of(entities, votes_of(entities, documents))
    asked, found = Counter[str](), Counter[tuple[str, bool]]()
    for form, name, holders in names_of(entities):
        for number, phrasing in enumerate(PHRASINGS):
            query = phrasing.format(name=name, topic=TOPICS[number % len(TOPICS)])
            asked[form] += 1
            for lower in (False, True):
                text = query.lower() if lower else query
                is_found = is_named(matcher, text, holders)
                found[form, lower] += is_found
                if not is_found and asked[form] - found[form, lower] <= shown:
                    print(f"    missed {form}: {text}")
    for form, queries in asked.items():
        shares = [found[form, lower] / queries for lower in (False, True)]
        print(f"{base.name:<20}{form:<12}{queries:>9}{shares[0]:>12.3f}{shares[1]:>15.3f}")


def names_of(entities: Sequence[Entity]) -> Iterator[AskedName]:
    """Yield the names to ask about."""
    people = [number for number, entity in enumerate(entities) if entity.type == "person"]
    parts: dict[str, set[int]] = defaultdict(set)
    for number in people:
        tokens = entities[number].name.split()
        for token in {tokens[0], tokens[-1]}:
            parts[token].add(number)
    for number in random.Random(0).sample(people, min(PEOPLE, len(people))):
        entity = entities[number]
        yield "full", entity.name, frozenset({number})
        yield from (("alias", alias, frozenset({number})) for alias in entity.aliases)
        if len(tokens := entity.name.split()) > 1:
            if "." not in tokens[0]:
                yield "first name", tokens[0], frozenset(parts[tokens[0]])
            if "." not in tokens[-1] and tuple(folded_words(tokens[-1])) not in SUFFIXES:
                yield "surname", tokens[-1], frozenset(parts[tokens[-1]])
    for number, entity in enumerate(entities):
        if entity.type == "team":
            yield "team", entity.name, frozenset({number})


def is_named(matcher: NameMatcher, query: str, holders: frozenset[int]) -> bool:
    """Return whether a query names one of some entities strongly enough for the second pass."""
    return any(
        match.entity in holders and match.signal.score >= _OPENS for match in matcher.find(query)
    )


if __name__ == "__main__":
    main()
