"""Filters of a search other than its path: document types, dates, tags, entities. Pure.

Filters of different kinds are combined with AND, several values of one kind with OR. Those typed in
the query (`typed_filters`) narrow the documents further.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.folding import fold, slug
from kbx_tui.search.query.typed_filters import DATE, Key, TypedFilter

Dates = Literal["prefer", "filter", "off"]
"""What date words of a query do: prefer documents of that time, filter by it, or nothing."""


@dataclass(frozen=True, slots=True)
class Filters:
    """Parsed filters; an empty one matches every document."""

    doc_types: tuple[str, ...] = ()
    """Document types such as `meeting`, `note`, `person`, case-insensitive."""
    since: str = ""
    """First date that matches: `2026`, `2026-03` or `2026-03-17`. Excludes undated documents."""
    until: str = ""
    """Last date that matches; `2026-03` includes all of March. Excludes undated documents."""
    tags: tuple[str, ...] = ()
    """Tags, ignoring case and a leading `#`."""
    entities: tuple[str, ...] = ()
    """Ids of entities that a document must be linked to."""
    hidden: frozenset[str] = frozenset()
    """Paths of documents that do not exist for whoever asks."""
    hidden_names: frozenset[tuple[str, str]] = frozenset()
    """Typed names, each with the id of an entity that does not have it for whoever asks."""
    muted_documents: frozenset[str] = frozenset()
    """Paths of documents that the user wants in no results; they are counted."""
    typed: tuple[TypedFilter, ...] = ()
    """Filters typed in the query; a document must match each of them, too."""

    @property
    def typed_names(self) -> tuple[str, ...]:
        """The names of entities in typed filters, each once."""
        names = (name for typed in self.typed if typed.key == "@" for name in typed.values)
        return tuple(dict.fromkeys(names))

    @classmethod
    def of(
        cls,
        *,
        doc_types: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        tags: Sequence[str] = (),
        entities: Sequence[str] = (),
        hidden: Collection[str] = (),
        hidden_names: Collection[tuple[str, str]] = (),
        muted_documents: Collection[str] = (),
        typed: Sequence[TypedFilter] = (),
    ) -> Self:
        """Parse filters as given by the user. Raises ConfigError for a malformed date."""
        return cls(
            doc_types=type_names(doc_types),
            since=_date("from", since),
            until=_date("to", until),
            tags=tuple(tag_key(tag) for tag in tags),
            entities=tuple(entities),
            hidden=frozenset(hidden),
            hidden_names=frozenset(hidden_names),
            muted_documents=frozenset(muted_documents),
            typed=tuple(typed),
        )

    def within(self, first: str, last: str) -> Self:
        """Return the same filters narrowed to the days from `first` to `last`; an empty end is
        open."""
        untils = [until for until in (self.until, last) if until]
        until = min(untils, key=lambda until: until + "~", default="")  # `2026` ends after any day
        return replace(self, since=max(self.since, first), until=until)

    def matches_date(self, date: str) -> bool:
        """Return whether a document of this date, `YYYY-MM-DD` or empty, matches."""
        if not date:
            return not (self.since or self.until)
        return date >= self.since and date[: len(self.until)] <= self.until

    def matches_tags(self, tags: Sequence[str]) -> bool:
        """Return whether a document with these tags matches: `area/topic` has the tag `area`."""
        return not self.tags or any(key in self.tags for tag in tags for key in tag_keys(tag))

    def matches_all_tags(self, tags: Sequence[str]) -> bool:
        """Return whether a document with these tags matches, by the filters in the query too."""
        typed = [Filters.of(tags=each.values) for each in self.typed if each.key == "tag"]
        return all(filters.matches_tags(tags) for filters in (self, *typed))


def type_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return types of documents in the form in which the index stores them."""
    return tuple(slug(name) or name for name in names)


def tag_key(tag: str) -> str:
    """Return a form of a tag that is equal for all its spellings."""
    return fold(tag.strip().removeprefix("#"))


def tag_keys(tag: str) -> Iterator[str]:
    """Yield the keys of a tag and of the tags that it is nested in."""
    key = tag_key(tag)
    while key:
        yield key
        key = key.rpartition("/")[0]


def is_same_value(key: Key, one: str, other: str) -> bool:
    """Return whether two values of a filter match the same documents, whatever their spelling."""
    if key in ("from", "to", "in"):
        return one == other
    if key == "tag":
        return tag_key(one) == tag_key(other)
    return fold(one.strip()) == fold(other.strip()) or slug(one) == slug(other) != ""


def _date(name: str, value: str | None) -> str:
    text = (value or "").strip()
    if text and not DATE.fullmatch(text):
        raise ConfigError(
            f"{name} must be a date such as 2026-03-17, 2026-03 or 2026, got {text!r}"
        )
    return text
