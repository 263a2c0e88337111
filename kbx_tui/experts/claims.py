"""Claims: the fact lines of the base, each with every entity it is about, and which are on a topic.

Topics match whole words by their stems: "maintain" finds "maintained", but no entity named AI.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import msgspec

from kbx_tui.errors import ConfigError
from kbx_tui.index.lexical.terms import CJK_CHARACTER, separate_cjk
from kbx_tui.index.store import is_one_of
from kbx_tui.index.tables import FACT_COLUMNS, attendees_from, fact_from_row
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.folding import fold, name_key
from kbx_tui.knowledge.languages import stem
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.query.english_words import FUNCTION_WORDS, words_of

_CONFIRMED = re.compile(r"\s*[(\[]?\bconfirmed(?: on)?\s*::?\s*(\d{4}-\d{2}-\d{2})[)\]]?", re.I)
_BRACKETS = re.compile(r"!?\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]")
_ABOUT = frozenset(
    {"person", "people", "project", "projects", "team", "teams", "entity", "entities"}
    | {"lead", "leads", "owner", "owners"}
)
"""Frontmatter keys that name entities which all facts of the page are about too."""


@dataclass(frozen=True, slots=True)
class Claim:
    fact: Fact
    """Without its `confirmed:` note; its date is that of its last confirmation, else its own, its
    page's or its file's, and may be empty."""
    entity_ids: tuple[str, ...]
    """Distinct, the owner of the page first."""
    has_file_date: bool = False
    """Whether the date is that of the file, because neither the line nor the page has one."""


def read_claims(index: OpenIndex, root: Path) -> tuple[Claim, ...]:
    table = index.store.rows("facts", FACT_COLUMNS, "kind = 'fact'")
    facts = sorted(map(fact_from_row, table.to_pylist()), key=lambda fact: (fact.path, fact.line))
    pages = _pages(index, {fact.path for fact in facts})
    snapshot = index.generation().snapshot
    resolver = EntityResolver.looking_up(snapshot.names.with_key)
    ids = [entity.id for entity in snapshot.entities]
    about = {path: _about_page(resolver, page) for path, page in pages.items()}
    days = {path: page["date"] or _day_of_file(root / path) for path, page in pages.items()}
    claims = []
    for fact in facts:
        page = pages.get(fact.path)
        confirmed = _CONFIRMED.search(fact.text)
        stated = (iso_date(confirmed[1]) if confirmed else "") or fact.date
        linked = [row for source in fact.sources for row in resolver.by_reference(source)]
        others = (ids[row] for row in (*about.get(fact.path, ()), *linked))
        shown = replace(
            fact, text=_CONFIRMED.sub("", fact.text), date=stated or days.get(fact.path, "")
        )
        has_file_date = page is not None and not (page["date"] or stated)
        entity_ids = tuple(dict.fromkeys((fact.entity_id, *others)))
        claims.append(Claim(shown, entity_ids, has_file_date))
    return tuple(claims)


def _pages(index: OpenIndex, paths: set[str]) -> dict[str, Mapping[str, Any]]:
    if not paths:
        return {}
    columns = ["path", "date", "frontmatter", "attendees"]
    table = index.store.rows("documents", columns, is_one_of("path", sorted(paths)))
    return {row["path"]: row for row in table.to_pylist()}


def _about_page(resolver: EntityResolver, page: Mapping[str, Any]) -> list[int]:
    """Return the rows of the entities that frontmatter names as participants.

    A person's team is one, since facts about people are about their team; `reports_to` is not.
    """
    fields: Mapping[str, Any] = msgspec.json.decode(page["frontmatter"])
    named = [
        row
        for key, value in fields.items()
        if str(key).casefold() in _ABOUT
        for name in _names(value)
        for row in resolver.by_reference(name)
    ]
    attendees = attendees_from(page["attendees"])
    present = [row for attendee in attendees for row in resolver.by_attendee(attendee)]
    return [*named, *present]


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _BRACKETS.findall(value) or [value]
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)


def _day_of_file(file: Path) -> str:
    try:
        modified = file.stat().st_mtime
    except OSError:  # deleted since it was indexed
        return ""
    return datetime.fromtimestamp(modified, UTC).date().isoformat()


_IGNORED = FUNCTION_WORDS | frozenset(
    {"expert", "experts", "expertise", "know", "knows", "known", "knowledge"}
    | {"work", "works", "worked", "working"}
)
"""Words that ask for experts without naming a topic: `who knows about X`, `who worked on X`."""
_CJK_RUN = re.compile(f"{CJK_CHARACTER}+")


@dataclass(frozen=True, slots=True)
class Topic:
    text: str
    stems: frozenset[str]
    """Stems of its content words; of all its words when it has no content word."""
    cjk_runs: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Self:
        """Parse a topic. Raises ConfigError when it contains no word."""
        cjk_runs = frozenset(_CJK_RUN.findall(fold(text)))
        words = [word.folded for word in words_of(_CJK_RUN.sub(" ", fold(text)))]
        if not (words or cjk_runs):
            raise ConfigError("the topic is empty; name what the experts should know about")
        content = [word for word in words if word not in _IGNORED]
        return cls(text, frozenset(map(stem, content or ([] if cjk_runs else words))), cjk_runs)

    @property
    def query(self) -> str:
        """The topic without leading and trailing words that only ask, like `who knows about`."""
        content = [word for word in words_of(self.text) if word.folded not in _IGNORED]
        return self.text[content[0].start : content[-1].end] if content else self.text


class ClaimMatcher:
    """Claims by stem and by entity, so that the cost of a topic depends on what it matches."""

    def __init__(self, claims: Sequence[Claim], entities: Iterable[Entity]) -> None:
        self.claims = claims
        self._by_stem: defaultdict[str, list[int]] = defaultdict(list)
        self._by_entity: defaultdict[str, list[int]] = defaultdict(list)
        for position, claim in enumerate(claims):
            words = words_of(fold(separate_cjk(claim.fact.text)))
            for word_stem in {stem(word.folded) for word in words}:
                self._by_stem[word_stem].append(position)
            for entity_id in claim.entity_ids:
                self._by_entity[entity_id].append(position)
        self._names = [
            (f" {key} ", entity.id)
            for entity in entities
            for key in map(name_key, (entity.name, *entity.aliases))
            if key
        ]

    def matches(self, topic: Topic) -> dict[int, float]:
        """Return the share of the topic's words in each matching claim, by position, ascending.

        Above 0 and at most 1. The words that name an entity count as words of every claim about it.
        """
        held: defaultdict[int, set[str]] = defaultdict(set)
        for topic_stem in topic.stems:
            for position in self._by_stem.get(topic_stem, ()):
                held[position].add(topic_stem)
        for run in topic.cjk_runs:
            for position, claim in enumerate(self.claims):
                if run in fold(claim.fact.text):
                    held[position].add(run)
        for entity_id, words in self.named_by(topic):
            for position in self._by_entity.get(entity_id, ()) if words else ():
                held[position] |= words
        size = len(topic.stems) + len(topic.cjk_runs)
        return {position: len(words) / size for position, words in sorted(held.items())}

    def named_by(self, topic: Topic) -> Iterator[tuple[str, frozenset[str]]]:
        whole = f" {name_key(topic.text)} "
        for key, entity_id in self._names:
            if whole in key:
                yield entity_id, topic.stems | topic.cjk_runs
            elif key in whole:
                words = frozenset(key.split())
                runs = frozenset(run for run in topic.cjk_runs if words.issuperset(run))
                yield entity_id, (topic.stems & frozenset(map(stem, words))) | runs
