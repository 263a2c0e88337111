"""Filters of a search other than its path, and how they are typed in a query. Pure.

Filters of different kinds are combined with AND, several values of one kind with OR. Those typed in
the query, `type:meeting tag:ops from:2026-03 in:memory/notes @alice`, narrow the documents further.

A typed filter is at the beginning of a query or after a space, and ends before the next. Values
with spaces are quoted: `tag:"road map"`, `@"Alice Chen"`. A comma means "or": `type:meeting,note`.

Everything else is words: other keys (`note: call Bob`, `http://x`, `error:5032`), keys without a
value, what is within quotation marks (`"type:meeting"`), and dates that are none (`from:Bob`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, Self, cast

from kbx_tui.errors import ConfigError
from kbx_tui.knowledge.folding import fold, slug

Dates = Literal["prefer", "filter", "off"]
"""What date words of a query do: prefer documents of that time, filter by it, or nothing."""


@dataclass(frozen=True, slots=True)
class Filters:
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
        **others: Any,
    ) -> Self:
        """Parse filters as given by the user, `others` being fields as they are.

        Raises ConfigError for a malformed date.
        """
        return cls(
            type_names(doc_types),
            since=_date("from", since),
            until=_date("to", until),
            tags=tuple(map(tag_key, tags)),
            **others,
        )

    def within(self, first: str, last: str) -> Self:
        """Return the same filters narrowed to the days from `first` to `last`; an empty end is
        open."""
        untils = [until for until in (self.until, last) if until]
        until = min(untils, key=lambda until: until + "~", default="")  # `2026` ends after any day
        return replace(self, since=max(self.since, first), until=until)

    def matches_date(self, date: str) -> bool:
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


Key = Literal["type", "tag", "from", "to", "in", "@"]
KEYS: tuple[Key, ...] = ("type", "tag", "from", "to", "in", "@")

DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
"""A date, or a prefix of one."""

_FILTER_OR_QUOTED = re.compile(
    r"""
    (?<!\S) (?: (?P<key>type|tag|from|to|in) : | @(?=["\w]) )
            (?: "(?P<quoted>[^"]*)" | (?P<bare>[^\s"]+) ) (?!\S)
    | "[^"]*" | “[^“”]*”
    """,
    re.VERBOSE,
)
_UNFINISHED = re.compile(
    r"""
    (?<!\S) (?: (?P<key>type|tag|from|to|in) : | @ )
            (?P<quoted>")? (?P<value> (?(quoted) [^"]* | [^\s"]* ) ) $
    """,
    re.VERBOSE,
)
_CLOSING = ",;.?!"
"""Punctuation after a value that belongs to the sentence."""
_POSSESSIVE = re.compile(r"['’]s$")
_NEEDS_QUOTES = re.compile(rf"[\s,]|[{_CLOSING}]$|['’]s$")


@dataclass(frozen=True, slots=True)
class TypedFilter:
    key: Key
    values: tuple[str, ...]
    """At least one; a document must match one of them."""

    def __str__(self) -> str:
        values = map(_quoted, self.values) if len(self.values) == 1 else iter(self.values)
        return f"{_start(self.key)}{','.join(values)}"


@dataclass(frozen=True, slots=True)
class TypedQuery:
    text: str
    filters: tuple[TypedFilter, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    not_dates: tuple[str, ...] = ()
    """What looks like a filter by date but holds no date, as typed."""

    def values(self, key: Key) -> Iterator[str]:
        return (value for each in self.filters if each.key == key for value in each.values)


@lru_cache(maxsize=256)
def read_filters(query: str) -> TypedQuery:
    filters: list[TypedFilter] = []
    spans: list[tuple[int, int]] = []
    not_dates: list[str] = []
    for match in _FILTER_OR_QUOTED.finditer(query):
        if match["quoted"] is None and match["bare"] is None:
            continue
        key = cast("Key", match["key"] or "@")
        values = _values(key, match["quoted"], match["bare"])
        if values and key in ("from", "to") and not DATE.fullmatch(values[0]):
            not_dates.append(match[0])
        elif values:
            filters.append(TypedFilter(key, values))
            spans.append(match.span())
    if not filters:
        return TypedQuery(query, not_dates=tuple(not_dates))
    return TypedQuery(_cut(query, spans), tuple(filters), tuple(spans), tuple(not_dates))


@dataclass(frozen=True, slots=True)
class UnfinishedFilter:
    """A filter at the very end of a query, which may still be typed."""

    key: Key
    value: str
    before: str
    is_quoted: bool
    """Whether the value begins with a quotation mark that is not closed."""

    @property
    def rest(self) -> str:
        return self.before[: self.before.rfind(_start(self.key))].rstrip()

    def completed(self, value: str) -> str:
        if self.is_quoted:
            return f'{self.before}{value}"'
        return self.before + (_quoted(value) if "," not in self.before.split()[-1] else value)


def unfinished_filter(query: str) -> UnfinishedFilter | None:
    """Return the filter at the end of a query; None if there is none, or a space after it."""
    match = _UNFINISHED.search(query)
    if match is None or query.count('"', 0, match.start()) % 2:
        return None
    key, start = cast("Key", match["key"] or "@"), match.start("value")
    if not match["quoted"] and key in ("type", "tag", "@"):
        start += match["value"].rfind(",") + 1
    return UnfinishedFilter(key, query[start:], query[:start], bool(match["quoted"]))


def with_filter(query: str, key: Key, value: str) -> str:
    """Return a query with one more filter at its end.

    At its beginning, where a quotation mark that is not closed would take it for quoted words.
    """
    added = str(TypedFilter(key, (value,)))
    appended = f"{query.rstrip()} {added}".lstrip()
    is_read = len(read_filters(appended).filters) > len(read_filters(query).filters)
    return appended if is_read else f"{added} {query.strip()}"


def without_filter(query: str, number: int) -> str:
    return _cut(query, [read_filters(query).spans[number]])


def _cut(query: str, spans: list[tuple[int, int]]) -> str:
    edges = [0, *(edge for span in spans for edge in span), len(query)]
    rest = [query[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return " ".join(filter(None, rest))


def _values(key: Key, quoted: str | None, bare: str | None) -> tuple[str, ...]:
    if bare is None:
        return tuple(filter(None, [(quoted or "").strip()]))
    if key == "in":  # a glob may hold any of these signs
        return (bare,)
    bare = bare.rstrip(_CLOSING)
    if key == "@":
        bare = _POSSESSIVE.sub("", bare)
    if key in ("from", "to"):
        return (bare,)
    return tuple(dict.fromkeys(filter(None, bare.split(","))))


def _start(key: Key) -> str:
    return key if key == "@" else f"{key}:"


def _quoted(value: str) -> str:
    value = value.replace('"', " ").strip()
    return f'"{value}"' if _NEEDS_QUOTES.search(value) else value
