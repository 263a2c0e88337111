"""Filters typed in a query: `type:meeting tag:ops from:2026-03 in:memory/notes @alice`. Pure.

There are also `title:budget`, `said:@alice`, the meetings in which she speaks, `-word` and
`-"two words"`, which leave documents out, and `"exact words"`, of which `"one" OR "the other"`
matches either. What is in quotation marks is searched for as well; in a longer question, of which
it is less than half, it is words like others.

`newest first` and `sorted by date` order the results, at the end of a query or followed by a colon
or comma at its beginning.

Any property in the frontmatter of the base's pages filters as well: `status:active`, `priority>2`,
`due<2026-12`. `-status:done` and `-tag:ops` leave out the documents that match.

A filter is at the beginning of a query or after a space, and ends before the next. Values with
spaces are quoted: `tag:"road map"`, `@"Alice Chen"`. A comma means "or": `type:meeting,note`.

A filter of another program, `who:alice`, is left out, with a note of what does that here.
`from:` or `to:` with anything but a date lets no document in, which a note says. Everything else is
words: other keys (`note: call Bob`, `http://x`, `error:5032`), keys without a value, options of one
letter (`-v`) and numbers (`-5`). A longer option leaves documents out, which a note says, unless it
is quoted: `tar "-xzf" archive`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, get_args

from kbx_tui.knowledge.folding import folded_words

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
            (word,) = self.values
            is_word = _EXCLUDED.match(word) and not re.search("[:<>=]", word)  # -tag:x is a filter
            return f"-{_quoted(word, is_quoted=not is_word)}"
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
    filters = read_filters(appended).filters
    is_read = len(filters) > len(read_filters(query).filters) and filters[-1].key == key
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
