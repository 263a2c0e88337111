"""A search request: its filters, also those typed in the query, and the knobs of one ranking. Pure.

Every surface (Python, command line, MCP, JSON lines, app) builds a `SearchRequest`, which can be
written as a command. A new filter or knob is a new field of it, and of `Filters` (parsed filters)
or `Tuning` (knobs of one ranking).

Filters of different kinds are combined with AND, several values of one kind with OR. Those typed in
the query, `type:meeting tag:ops from:2026-03 in:memory/notes @alice`, narrow the documents further.
So do `title:budget`, `said:@alice`, the meetings in which she speaks, `-word` and `-"two words"`,
which leave documents out, and `"exact words"`, of which `"one" OR "the other"` matches either. What
is in quotation marks is searched for as well; in a longer question, of which it is less than half,
it is words like others.

`newest first` and `sorted by date` order the results, at the end of a query or followed by a colon
or comma at its beginning.

Any property in the frontmatter of the base's pages filters as well: `status:active`, `priority>2`,
`due<2026-12`. `-status:done` and `-tag:ops` leave out the documents that match.

A typed filter is at the beginning of a query or after a space, and ends before the next. Values
with spaces are quoted: `tag:"road map"`, `@"Alice Chen"`. A comma means "or": `type:meeting,note`.

A filter of another program, `who:alice`, is left out, with a note of what does that here.
`from:` or `to:` with anything but a date lets no document in, which a note says. Everything else is
words: other keys (`note: call Bob`, `http://x`, `error:5032`), keys without a value, options of one
letter (`-v`) and numbers (`-5`). A longer option leaves documents out, which a note says, unless it
is quoted: `tar "-xzf" archive`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from typing import Any, Literal, Self, get_args

from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.knowledge.folding import fold, folded_words, slug
from kbx_tui.safe_text import replace_surrogates

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


Key = Literal["type", "tag", "from", "to", "in", "@", "said", "title", "-", '"', "newest first"]
KEYS: tuple[Key, ...] = get_args(Key)

OF_OTHER_PROGRAMS: Mapping[str, str] = {
    **dict.fromkeys(("who", "by", "author", "speaker"), "@{0} or said:@{0}"),
    **dict.fromkeys(("person", "people", "attendee", "attendees", "with"), "@{0}"),
    **dict.fromkeys(("about", "project", "team"), "@{0}"),
    **dict.fromkeys(("after", "since"), "from:{0}"),
    **dict.fromkeys(("before", "until"), "to:{0}"),
    **dict.fromkeys(("folder", "path"), "in:{0}"),
    **dict.fromkeys(("label", "tags"), "tag:{0}"),
    "kind": "type:{0}",
}
"""Keys that filter in other programs, and what filters by their value here. Such a word filters by
nothing and is not searched for, unless pages have a property of that name."""

DATE = re.compile(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?")
"""A date, or a prefix of one."""
NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?")

NAME = r"[^\W\d][\w-]*"
"""A property as typed: `due_date` and `Due-Date` are the property `Due date`."""
_NAMED = re.compile(rf'(?<!\S)-?(?P<name>{NAME})(?:[<>]=?(?=[\d-])|:(?!//)(?=\S))(?:"[^"]*")?\S*')
_SIGNS = frozenset(":<>")
_UNFINISHED = re.compile(
    rf"""
    (?<!\S) (?: -? (?P<said>said) : @? | -? (?P<key>(?!title:|said:){NAME}) : (?!//) | @ )
            (?P<quoted>")? (?P<value> (?(quoted) [^"]* | [^\s"]* ) ) $
    """,
    re.VERBOSE,
)
_CLOSING = ",;.?!"
"""Punctuation after a value that belongs to the sentence."""
_OR = re.compile(r"(?<=[\"”])\s+OR\s+")
_EXCLUDED = re.compile(r"(?=\w*[^\W\d_])\w{2}")
"""Matches what may be left out after a minus sign: not the option `-v` nor the number `-5`."""
_ORDER = r"""
    (?i: (?:(?:sort|order)(?:ed)?\s)?(?<!best\s)(?<!sell\s)(?<!use\s)
         by\s(?:date|newest|most\srecent)
       | (?:the\s)?(?:newest|latest|most\srecent)(?:\sones)?\sfirst )
"""
"""What asks for the newest first. A thing has a `best by date`."""
_POSSESSIVE = re.compile(r"['’]s$")
_ORDERED = re.compile(rf"{NUMBER.pattern}|{DATE.pattern}")
_NEEDS_QUOTES = re.compile(rf"[\s,]|[{_CLOSING}]$|['’]s$")


@dataclass(frozen=True, slots=True)
class TypedFilter:
    key: str
    """One of `KEYS`, or the name of a property as typed."""
    values: tuple[str, ...]
    """At least one; a document must match one of them, or none where the key is `-`."""
    operator: str = ":"
    """How a property is compared with its value: `:`, `<`, `<=`, `>` or `>=`."""
    is_negated: bool = False

    @property
    def lacks_date(self) -> bool:
        """Whether it filters by date, but holds none, such as `from:yesterday`."""
        return self.key in ("from", "to") and not DATE.fullmatch(self.values[0])

    def __str__(self) -> str:
        if self.key == '"':
            return " OR ".join(f'"{value}"' for value in self.values)
        if self.key == "-":
            return f"-{_quoted(self.values[0], is_quoted=not _EXCLUDED.match(self.values[0]))}"
        if self.key == "newest first":
            return self.key
        values = map(_quoted, self.values) if len(self.values) == 1 else iter(self.values)
        start = _start(self.key) if self.operator == ":" else f"{self.key}{self.operator}"
        return f"{'-' * self.is_negated}{start}{','.join(values)}"


@dataclass(frozen=True, slots=True)
class TypedQuery:
    text: str
    filters: tuple[TypedFilter, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    unknown: tuple[tuple[str, str], ...] = ()
    """Filters of other programs, as typed, each with what filters so here."""

    def values(self, key: Key) -> Iterator[str]:
        return (value for each in self.filters if each.key == key for value in each.values)


def names_in(query: str) -> list[tuple[str, str]]:
    """Return what may be filters by a property: the names, each with the whole word."""
    if _SIGNS.isdisjoint(query):  # most queries
        return []
    return [(each["name"], each[0]) for each in _NAMED.finditer(query) if each["name"] not in KEYS]


@lru_cache(maxsize=64)
def _filter_or_quoted(properties: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(map(re.escape, properties)) or "(?!)"
    others = "|".join(OF_OTHER_PROGRAMS.keys() - {*properties})
    return re.compile(
        rf"""
        (?<!\S) (?: (?P<minus>-)? (?: (?P<key>type|tag|in|title|{names}) : | (?P<said>said) : @? )
                    | (?P<date>from|to) : | (?P<other>{others}) : (?!//)
                    | (?P<not>-)? (?P<name>{names}) (?P<operator>[<>]=?)
                    | (?P<sign>[@-]) (?=["\w]) )
                (?: "(?P<quoted>[^"]*)" | (?P<bare>[^\s"]+) ) (?!\S)
        | (?P<words> "[^"]*" | “[^“”]*” )
        | (?P<order> ^ {_ORDER} \s?[:,;]
        | (?: (?<!\S) | [,;]\s? | \( ) {_ORDER} (?:[,\s]+{_ORDER})?
          [.?!]? \)? (?= \s*\Z | \s+(?:[@"“-]|{NAME}[:<>]) ) )
        """,
        re.VERBOSE,
    )


@lru_cache(maxsize=256)
def read_filters(query: str, properties: tuple[str, ...] = ()) -> TypedQuery:
    """Read the filters of a query; `properties` are the names that the base knows, as typed."""
    filters: list[TypedFilter] = []
    spans: list[tuple[int, int]] = []
    unknown: dict[tuple[int, int], tuple[str, str]] = {}
    for match in _filter_or_quoted(properties).finditer(query):
        if other := match["other"]:
            value = _quoted(match["quoted"] or (match["bare"] or "").rstrip(_CLOSING))
            here = OF_OTHER_PROGRAMS[other]
            is_no_date = here in ("from:{0}", "to:{0}") and not DATE.fullmatch(value)
            unknown[match.span()] = match[0], here.format("2026-03" if is_no_date else value)
            continue
        named = match["key"] or match["said"] or match["date"] or match["name"]
        key = named or match["sign"] or ("newest first" if match["order"] else '"')
        operator = match["operator"] or ":"
        values = _values(key, match["quoted"], match["bare"] or (match["words"] or "")[1:-1])
        if match["order"]:
            values = (key,)
        elif operator != ":":
            values = tuple(filter(_ORDERED.fullmatch, values)) if len(values) == 1 else ()
        if values and key == '"' and spans and _OR.fullmatch(query, spans[-1][1], match.start()):
            filters[-1] = replace(filters[-1], values=(*filters[-1].values, *values))
            spans[-1] = spans[-1][0], match.end()
        elif values:
            is_negated = bool(match["minus"] or match["not"])
            filters.append(TypedFilter(key, values, operator, is_negated))
            spans.append(match.span())
    narrowing = [span for span, each in zip(spans, filters, strict=True) if each.key != '"']
    cut = sorted((*narrowing, *unknown))
    text = _cut(query, cut) if cut else query
    quoted = [value for each in filters if each.key == '"' for value in each.values]
    if quoted and 2 * len(folded_words(" ".join(quoted))) < len(folded_words(text)):
        kept = [each for each in zip(filters, spans, strict=True) if each[0].key != '"']
        filters, spans = [each for each, _ in kept], [span for _, span in kept]
    return TypedQuery(text, tuple(filters), tuple(spans), (*unknown.values(),))


@dataclass(frozen=True, slots=True)
class UnfinishedFilter:
    """A filter at the very end of a query, which may still be typed."""

    key: str
    value: str
    before: str
    is_quoted: bool
    """Whether the value begins with a quotation mark that is not closed."""

    @property
    def rest(self) -> str:
        start = self.before.rfind(_start(self.key).rstrip("@") or "@")
        return self.before[:start].removesuffix("-").rstrip()

    def completed(self, value: str) -> str:
        if self.is_quoted:
            return f'{self.before}{value}"'
        return self.before + (_quoted(value) if "," not in self.before.split()[-1] else value)


def unfinished_filter(query: str) -> UnfinishedFilter | None:
    """Return the filter at the end of a query; None if there is none, or a space after it."""
    match = _UNFINISHED.search(query)
    if match is None or query.count('"', 0, match.start()) % 2:
        return None
    key, start = match["key"] or match["said"] or "@", match.start("value")
    if not match["quoted"] and key not in ("from", "to", "in"):
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


def without_filter(query: str, number: int, properties: tuple[str, ...] = ()) -> str:
    return _cut(query, [read_filters(query, properties).spans[number]])


def _cut(query: str, spans: list[tuple[int, int]]) -> str:
    edges = [0, *(edge for span in spans for edge in span), len(query)]
    rest = [query[start:end].strip() for start, end in zip(edges[::2], edges[1::2], strict=True)]
    return " ".join(filter(None, rest))


def _values(key: str, quoted: str | None, bare: str | None) -> tuple[str, ...]:
    if quoted is not None or key == '"':
        value = (quoted or bare or "").strip()
        return (value,) if value and (key != '"' or re.search(r"\w", value)) else ()
    assert bare is not None
    if key == "-":
        return (bare.rstrip(_CLOSING),) if _EXCLUDED.match(bare) else ()
    if key == "in":  # a glob may hold any of these signs
        return (bare,)
    bare = bare.rstrip(_CLOSING)
    if key in ("@", "said"):
        bare = _POSSESSIVE.sub("", bare).replace(",@", ",")
    if key in ("from", "to"):
        return (bare,)
    return tuple(dict.fromkeys(filter(None, bare.split(","))))


def _start(key: str) -> str:
    return "said:@" if key == "said" else key if key in ("@", "-") else f"{key}:"


def _quoted(value: str, *, is_quoted: bool = False) -> str:
    value = value.replace('"', " ").strip()
    return f'"{value}"' if _NEEDS_QUOTES.search(value) or is_quoted else value


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
    add("--said", ",".join(request.said))
    add("--from", request.since)
    add("--to", request.until)
    if request.dates == "off":
        if usual.dates != "off" and request.preset != "seed":
            words.append("--no-dates")
    else:
        add("--dates", request.dates, usual.dates)
    if request.as_typed:
        words.append("--as-typed")
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
