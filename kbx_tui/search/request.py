"""A search request: its filters, and the knobs of one ranking. Pure.

Every surface (Python, command line, MCP, JSON lines, app) builds a `SearchRequest`, which can be
written as a command. A new filter or knob is a new field of it, and of `Filters` (parsed filters)
or `Tuning` (knobs of one ranking).

Filters of different kinds are combined with AND, several values of one kind with OR. Those typed in
the query (`search/query/typed_filters.py`) narrow the documents further.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, Literal, Self, get_args

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.knowledge.folding import fold, slug
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.query.typed_filters import (
    DATE,
    KEYS,
    Key,
    TypedFilter,
    TypedQuery,
    read_filters,
)

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
    muted_documents: frozenset[str] = frozenset()
    """Paths of documents that the user wants in no results; they are counted."""
    typed: tuple[TypedFilter, ...] = ()

    def values(self, key: Key, *, negated: bool = True) -> tuple[str, ...]:
        """Return the values of the typed filters with a key, each once.

        Without `negated`, those of negated filters are left out.
        """
        typed = (each for each in self.typed if each.key == key)
        wanted = (each for each in typed if negated or not each.is_negated)
        return tuple(dict.fromkeys(value for each in wanted for value in each.values))

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of properties that are filtered by, as typed."""
        return tuple(
            each.key for each in self.typed if each.operator != ":" or each.key not in KEYS
        )

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
        return end_of(date) >= self.since and date[: len(self.until)] <= self.until

    def matches_tags(self, tags: Sequence[str]) -> bool:
        """Return whether a document with these tags matches: `area/topic` has the tag `area`.

        `none` also stands for a document without tags.
        """
        if not tags:
            return not self.tags or NO_TAG in self.tags
        return not self.tags or any(key in self.tags for tag in tags for key in tag_keys(tag))


def end_of(date: str) -> str:
    """Return the last day that a date of a document means, or a text that sorts right after."""
    first, _, rest = date.partition("/")
    return f"{first[: -len(rest)]}{rest}" if rest else f"{date}~"


def type_names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(slug(name) or name for name in names)


NO_TAG = "none"


def tag_key(tag: str) -> str:
    return fold(tag.strip().removeprefix("#"))


def tag_keys(tag: str) -> Iterator[str]:
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


Gate = Literal["soft", "hard"]
Parent = Literal["coverage", "max"]
Preset = Literal["default", "seed"]
"""`seed` ranks by the formula of the two-pass proposal."""

MAX_ENTITIES_LIMIT = 20
"""Evidence holds the links of at most this many entities found by pass 1."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """How to rank one Evidence. Every field may change without retrieving again."""

    hierarchy: bool = True
    """False ranks flat, whatever entities were found."""
    alpha: float = 0.5
    """Weight of document relevance: 1 ranks by the document alone, 0 by the entity alone."""
    entity_threshold: float = 0.5
    """Entities with a lower score are not kept; if none is kept, the ranking is flat."""
    max_entities: int = 5
    """How many entities are kept at most, 1..20."""
    gate: Gate = "soft"
    """`soft` keeps unlinked documents with a parent score of 0, `hard` removes them."""
    parent: Parent = "coverage"
    """`coverage`: the mean over the entities named outright; `max`: the best kept entity."""
    uniform_links: bool = False
    """True gives every link strength 1, whatever its kind."""
    scale_by_topic: bool = True
    """True scales what entities add by how fully a document answers the rest of the query."""
    keep_names: bool = False
    """True runs pass 2 with the query as typed."""
    hotness_weight: float = 0.0
    """Weight of a document's frecency in the final score, 0..1."""
    muted: frozenset[str] = frozenset()
    """Ids of entities to ignore for this query."""
    pinned: frozenset[str] = frozenset()
    """Ids of entities that are kept and count as named outright, whatever their score. Muting wins
    over pinning. The Evidence must hold them."""

    def __post_init__(self) -> None:
        for name in ("alpha", "entity_threshold", "hotness_weight"):
            number = getattr(self, name)
            if not 0.0 <= number <= 1.0:  # also rejects NaN
                raise OutOfRange(f"{name} must be within 0..1, got {number}")
        if not 1 <= self.max_entities <= MAX_ENTITIES_LIMIT:
            raise OutOfRange(
                f"max_entities must be within 1..{MAX_ENTITIES_LIMIT}, got {self.max_entities}"
            )
        for name, choices in (("gate", get_args(Gate)), ("parent", get_args(Parent))):
            if (choice := getattr(self, name)) not in choices:
                raise ConfigError(f"{name} must be {' or '.join(choices)}, got {choice!r}")

    def pins(self, entity_id: str) -> bool:
        return entity_id in self.pinned and entity_id not in self.muted

    @property
    def preset(self) -> Preset:
        return "default" if self.scale_by_topic else "seed"

    @classmethod
    def seed(cls, *, alpha: float = 0.5, entity_threshold: float = 0.5) -> Self:
        """Return the tuning that follows the two-pass proposal to the letter, for comparison."""
        return cls(
            alpha=alpha,
            entity_threshold=entity_threshold,
            gate="hard",
            parent="max",
            uniform_links=True,
            scale_by_topic=False,
            keep_names=True,
        )


Sort = Literal["score", "date"]
_PRESETS, _SORTS, _DATES = (get_args(choices) for choices in (Preset, Sort, Dates))
MAX_QUERY = 2000
"""Characters of a query that are searched for: names are looked for at every word."""


@dataclass(frozen=True)  # without slots: what is read from the query is kept
class SearchRequest:
    """What to search for, where, and how to rank it. None keeps the configured value.

    Lone surrogates in text are replaced, and sequences become tuples: requests are hashable. Raises
    OutOfRange for a limit below 1 or a share outside 0..1, ConfigError for a malformed date or an
    unknown preset.
    """

    query: str
    """The query as typed. It may hold filters (`TypedFilter`); `searched` are its words."""
    limit: int = 10
    """Results wanted, 1 or more."""
    path: str | None = None
    """A folder, a file or a glob (`*`, `?`, `**`, `[1-3]`, `{a,b}`); None or empty: the base."""
    doc_types: Sequence[str] | None = ()
    """Document types, any of which matches: `meeting`, `note`. Empty: all."""
    since: str | None = None
    """First date, or a prefix of one (`2026-03`), inclusive. Undated documents do not match."""
    until: str | None = None
    """Last date, or a prefix of one, inclusive."""
    tags: Sequence[str] = ()
    """Tags, any of which matches."""
    entities: Sequence[str] = ()
    """Ids of entities; only documents linked to one of them match."""
    said: Sequence[str] = ()
    """Names; only documents in which one of them speaks match, and their turns are the passages."""
    muted_documents: Collection[str] | None = None
    """Paths of documents left out of the results and counted; None: those of kbx.toml."""
    dates: str | None = None
    """`prefer` reads date words of the query as a preference, `filter` as a filter, `off` as words.

    By default that of kbx.toml; `off` with the preset `seed`."""
    today: date | None = None
    """The day that `last week` is counted from; None: today."""
    as_typed: bool = False
    """True corrects no misspelt word."""
    fast: bool = False
    """True searches by words alone: no vectors, no entities."""
    hierarchy: bool = True
    """False ranks flat, whatever entities are found."""
    preset: str | None = None
    """`seed` ranks by the formula of the proposal, without feedback and parts; `default` by ours.

    Knobs given with it still count."""
    alpha: float | None = None
    threshold: float | None = None
    max_entities: int | None = None
    gate: str | None = None
    parent: str | None = None
    hotness: float | None = None
    pinned: Sequence[str] = ()
    muted: Sequence[str] = ()
    """Knobs as in `Tuning`, where `threshold` is `entity_threshold`, and `hotness`
    `hotness_weight`. None or nothing keeps the configured value."""
    sort: str | None = None
    """`date` lists the best 50 newest first (`in_order`), `score` the best first. See `order`."""
    feedback: float | None = None
    """Weight of pseudo-relevance feedback, 0..1; 0 turns it off."""
    parts: float | None = None
    """Share of a score difference that propagates between adjacent parts of a document, 0..1."""
    age_half_life: float | None = None
    """Days in which a document loses half of what age may take from its score; 0: nothing."""
    reranker: str | None = None
    """The cross-encoder that reranks the first 20 results, in place of that of kbx.toml: a folder,
    or a model name of fastembed."""
    rerank: bool = True
    """False leaves the reranker out."""
    exact: bool = False
    """True compares every chunk in scope in meaning, however many there are (`WideScope`)."""
    also: Sequence[str] = ()
    """Paths of documents that are scored even if a wide scope scores only its candidates."""
    explain: bool = False
    """True explains the score of every result."""
    properties: tuple[str, ...] = ()
    """Names in the query that are properties of the base's pages; a search finds them."""

    def __post_init__(self) -> None:
        tidy: dict[str, Any] = {
            "query": replace_surrogates(self.query),
            "path": None if self.path is None else replace_surrogates(self.path),
            "doc_types": tuple(map(replace_surrogates, self.doc_types or ())),
            "tags": tuple(map(replace_surrogates, self.tags)),
            "entities": tuple(self.entities),
            "said": tuple(replace_surrogates(name.removeprefix("@")) for name in self.said),
            "also": tuple(self.also),
            "pinned": tuple(self.pinned),
            "muted": tuple(self.muted),
        }
        for name, value in tidy.items():
            object.__setattr__(self, name, value)
        if self.limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {self.limit}")
        for name, share in (("feedback", self.feedback), ("parts", self.parts)):
            if share is not None and not 0.0 <= share <= 1.0:  # also rejects NaN
                raise OutOfRange(f"{name} must be within 0..1, got {share}")
        if self.age_half_life is not None and not 0.0 <= self.age_half_life <= 1e6:
            raise OutOfRange(f"age_half_life must be within 0..1000000, got {self.age_half_life}")
        if self.preset not in (None, *_PRESETS):
            raise ConfigError(f"preset must be {' or '.join(_PRESETS)}, got {self.preset!r}")
        if self.sort not in (None, *_SORTS):
            raise ConfigError(f"sort must be {' or '.join(_SORTS)}, got {self.sort!r}")
        if self.dates not in (None, *_DATES):
            raise ConfigError(f"dates must be one of {', '.join(_DATES)}, got {self.dates!r}")
        _ = self.filters  # raises ConfigError before anything is searched

    @cached_property
    def typed(self) -> TypedQuery:
        return read_filters(self.query[:MAX_QUERY], self.properties)

    @property
    def searched(self) -> str:
        return self.typed.text

    @property
    def order(self) -> str:
        """`sort`, else `date` where the query asks for the newest first."""
        return self.sort or ("date" if any(self.typed.values("newest first")) else "score")

    @property
    def all_types(self) -> tuple[str, ...]:
        return type_names((*(self.doc_types or ()), *self.typed.values("type")))

    @cached_property
    def filters(self) -> Filters:
        said = [TypedFilter("said", tuple(self.said))] if self.said else []
        return Filters.of(
            doc_types=self.doc_types or (),
            since=self.since,
            until=self.until,
            tags=self.tags,
            entities=self.entities,
            muted_documents=frozenset(self.muted_documents or ()),
            typed=(*self.typed.filters, *said),
        )

    def tuning(self, defaults: Tuning) -> Tuning:
        """Return `defaults` with the knobs that are not None. Raises OutOfRange and ConfigError."""
        knobs = {
            "alpha": self.alpha,
            "entity_threshold": self.threshold,
            "max_entities": self.max_entities,
            "gate": self.gate,
            "parent": self.parent,
            "hotness_weight": self.hotness,
            "pinned": frozenset(self.pinned) or None,
            "muted": frozenset(self.muted) or None,
        }
        changes: dict[str, Any] = {name: knob for name, knob in knobs.items() if knob is not None}
        return replace(defaults, hierarchy=self.hierarchy, **changes)


def command_line(request: SearchRequest, usual: SearchRequest, bases: Sequence[str] = ()) -> str:
    """Return the command that gives the same results, without options that equal `usual`.

    `bases` are what `--kb` is given.
    """
    words = ["kbx", "search", *(word for base in bases for word in ("--kb", base))]

    def add(*options: str) -> None:
        for name, field in map(str.split, options):
            value, as_usual = (_option_value(getattr(each, field)) for each in (request, usual))
            if value not in ("", as_usual):
                words.extend((name, value))

    add("--path path", "--preset preset", "--type doc_types", "--tag tags", "--entity entities")
    add("--said said", "--from since", "--to until")
    if request.dates != "off":
        add("--dates dates")
    elif usual.dates != "off" and request.preset != "seed":
        words.append("--no-dates")
    if request.as_typed:
        words.append("--as-typed")
    if request.fast:
        words.append("--fast")
    elif not request.hierarchy:
        words.append("--no-hierarchy")
    else:
        add("--pin pinned", "--mute muted", "--hierarchy-alpha alpha")
        add("--hierarchy-threshold threshold", "--max-entities max_entities")
        add("--gate gate", "--parent parent")
    add("--sort sort", "--hotness hotness", "--limit limit")
    if request.reranker is not None:
        words += ["--reranker", request.reranker]
    if not request.rerank:
        words.append("--no-reranker")
    if request.exact and not request.fast:
        words.append("--exact")
    if request.query[:1] == "-":
        words.append("--")
    return shlex.join([*words, request.query])


def _option_value(value: str | float | Sequence[str] | None) -> str:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return ",".join(value)
    return f"{value:g}" if isinstance(value, float) else str(value)
