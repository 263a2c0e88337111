"""A search request, and the knobs of one ranking, each in one value. Pure.

Every surface (Python, command line, MCP, JSON lines, app) builds a `SearchRequest`, which can be
written as a command. A new filter or knob is a new field of it, and of `Filters` (parsed filters)
or `Tuning` (knobs of one ranking).
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, Literal, Self, get_args

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.query.filters import Dates, Filters, TypedQuery, read_filters, type_names

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
    hidden: Collection[str] = frozenset()
    """Paths of documents that do not exist for whoever asks: neither results nor counted."""
    hidden_names: Collection[tuple[str, str]] = frozenset()
    """Names in filters of the query, and ids of entities that do not have them for whoever asks."""
    usual_words: bool = True
    """False takes words that most documents hold for a topic, too: that they do may not be known to
    whoever asks."""
    muted_documents: Collection[str] | None = None
    """Paths of documents left out of the results and counted; None: those of kbx.toml."""
    dates: str | None = None
    """`prefer` reads date words of the query as a preference, `filter` as a filter, `off` as words.

    By default that of kbx.toml; `off` with the preset `seed`."""
    today: date | None = None
    """The day that `last week` is counted from; None: today."""
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
    sort: str = "score"
    """`date` lists the best 50 newest first (`in_order`), `score` the best first."""
    feedback: float | None = None
    """Weight of pseudo-relevance feedback, 0..1; 0 turns it off."""
    parts: float | None = None
    """Share of a score difference that propagates between adjacent parts of a document, 0..1."""
    reranker: str | None = None
    """The cross-encoder that reranks the first 20 results, in place of that of kbx.toml: a folder,
    or a model name of fastembed."""
    rerank: bool = True
    """False leaves the reranker out."""
    exact: bool = False
    """True compares every chunk in scope in meaning, however many there are (`WideScope`)."""
    also: Sequence[str] = ()
    """Paths of documents that are scored even where a wide scope has candidates only."""
    explain: bool = False
    """True explains the score of every result."""

    def __post_init__(self) -> None:
        tidy: dict[str, Any] = {
            "query": replace_surrogates(self.query),
            "path": None if self.path is None else replace_surrogates(self.path),
            "doc_types": tuple(map(replace_surrogates, self.doc_types or ())),
            "tags": tuple(map(replace_surrogates, self.tags)),
            "entities": tuple(self.entities),
            "hidden": frozenset(self.hidden),
            "hidden_names": frozenset(self.hidden_names),
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
        if self.preset not in (None, *_PRESETS):
            choices = " or ".join(_PRESETS)
            raise ConfigError(f"preset must be {choices}, got {self.preset!r}")
        if self.sort not in _SORTS:
            choices = " or ".join(_SORTS)
            raise ConfigError(f"sort must be {choices}, got {self.sort!r}")
        if self.dates not in (None, *_DATES):
            choices = ", ".join(_DATES)
            raise ConfigError(f"dates must be one of {choices}, got {self.dates!r}")
        _ = self.filters  # raises ConfigError before anything is searched

    @cached_property
    def typed(self) -> TypedQuery:
        return read_filters(self.query[:MAX_QUERY])

    @property
    def searched(self) -> str:
        return self.typed.text

    @property
    def all_types(self) -> tuple[str, ...]:
        return type_names((*(self.doc_types or ()), *self.typed.values("type")))

    @cached_property
    def filters(self) -> Filters:
        return Filters.of(
            doc_types=self.doc_types or (),
            since=self.since,
            until=self.until,
            tags=self.tags,
            entities=self.entities,
            hidden=self.hidden,
            hidden_names=self.hidden_names,
            muted_documents=frozenset(self.muted_documents or ()),
            typed=self.typed.filters,
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
    words = ["kbx", "search"]

    def add(option: str, value: str | float | None, as_usual: str | float | None = None) -> None:
        if value not in (None, "", as_usual):
            words.extend((option, f"{value:g}" if isinstance(value, float) else str(value)))

    for base in bases:
        add("--kb", base)
    add("--path", request.path)
    add("--preset", request.preset, usual.preset)
    add("--type", ",".join(request.doc_types or ()))
    add("--tag", ",".join(request.tags))
    add("--entity", ",".join(request.entities))
    add("--from", request.since)
    add("--to", request.until)
    if request.dates == "off":
        if usual.dates != "off" and request.preset != "seed":
            words.append("--no-dates")
    else:
        add("--dates", request.dates, usual.dates)
    if request.fast:
        words.append("--fast")
    elif not request.hierarchy:
        words.append("--no-hierarchy")
    else:
        add("--pin", ",".join(request.pinned))
        add("--mute", ",".join(request.muted))
        add("--hierarchy-alpha", request.alpha, usual.alpha)
        add("--hierarchy-threshold", request.threshold, usual.threshold)
        add("--max-entities", request.max_entities, usual.max_entities)
        add("--gate", request.gate, usual.gate)
        add("--parent", request.parent, usual.parent)
    add("--sort", request.sort, usual.sort)
    add("--hotness", request.hotness, usual.hotness)
    add("--limit", request.limit, usual.limit)
    if request.reranker is not None:
        words += ["--reranker", request.reranker]
    if not request.rerank:
        words.append("--no-reranker")
    if request.exact and not request.fast:
        words.append("--exact")
    if request.query[:1] == "-":
        words.append("--")
    return shlex.join([*words, request.query])
