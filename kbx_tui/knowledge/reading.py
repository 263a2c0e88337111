"""Reading of a markdown file: its frontmatter as JSON-safe values, and all of it as a Document.

Never raises: errors become problems.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import cycle, repeat
from typing import Any, ClassVar

import msgspec
import yaml

from kbx_tui.knowledge.dates import DailyNotes, date_of
from kbx_tui.knowledge.decoding import BINARY, content_hash, decode
from kbx_tui.knowledge.fields import (
    aliases_of,
    attendee_line,
    attendees_of,
    document_id,
    dotted_place,
    is_entity_kind,
    kind_of,
    references_of,
    tags_of,
    text_of,
)
from kbx_tui.knowledge.markdown import MAX_LINES, has_unread_lines, inline_fields, inline_tags
from kbx_tui.knowledge.records import Document, Problem
from kbx_tui.knowledge.titles import Titles, title_of
from kbx_tui.knowledge.toml_text import entry_lines, load_toml
from kbx_tui.knowledge.turns import turns_of
from kbx_tui.knowledge.written_links import links_of, property_link_targets
from kbx_tui.safe_text import replace_surrogates

MAX_PARSED = 25_000_000


@dataclass(frozen=True, slots=True)
class Conventions:
    """How the pages of a base are to be read where pages alone do not say it."""

    titles: Titles = "heading"
    daily_notes: DailyNotes | None = None
    """How the vault names the notes of days."""
    is_dendron: bool = False
    """Whether `[[label|page]]` is a link to the page, and dots in names of files are folders."""
    version_folders: tuple[str, ...] = ()
    """Folders in which a name such as `2024.12.10` is a version."""


USUAL = Conventions()


def stored_conventions(stored: Mapping[str, Any] | None) -> Conventions:
    """Return the conventions of an index as its table meta has them."""
    return msgspec.convert(stored or {}, Conventions)


def parse_document(
    path: str,
    data: bytes,
    *,
    entity_types: frozenset[str] | None = None,
    conventions: Conventions = USUAL,
) -> Document:
    """Parse ``data``, the content of the file at ``path`` relative to the root.

    ``entity_types`` are the entity types besides person, project and team; None means
    ``DEFAULT_ENTITY_TYPES``. A binary file gets an empty body and a Problem with ``skipped`` set.
    """
    path = unicodedata.normalize("NFC", path)
    text, note = decode(data)
    is_cut = len(text) > MAX_PARSED
    if is_cut:  # cut at the end of a line, unless one line is too long
        text = text[: text.rfind("\n", 0, MAX_PARSED) + 1 or MAX_PARSED]
    front = read_frontmatter(text)
    properties = {**inline_fields(front.body), **front.values}
    place = dotted_place(path) if conventions.is_dendron else path
    kind, subtype = kind_of(place, properties)
    entity = is_entity_kind(kind, entity_types)
    title = title_of(path, front.values, front.body, entity=entity, titles=conventions.titles)
    attendees = attendees_of({**attendee_line(front.body), **properties})
    is_meeting = kind == "meeting" or len(attendees) > 1
    turns = turns_of(front.body, (each.name for each in attendees)) if is_meeting else ()
    problems = []
    if note:
        problems.append(Problem(path, note, skipped=note == BINARY))
    if is_cut:
        problems.append(
            Problem(path, f"is too long: only its first {MAX_PARSED:,} characters count")
        )
    if has_unread_lines(front.body):
        reason = f"has more than {MAX_LINES:,} lines: headings and facts after them are not read"
        problems.append(Problem(path, reason, front.body_line + MAX_LINES))
    if front.fault:
        problems.append(Problem(path, front.fault, front.fault_line))
    return Document(
        path=path,
        id=document_id(path, kind, title, text_of(front.values.get("id")), entity=entity),
        title=title,
        date=date_of(
            properties, path, conventions.daily_notes, front.body, conventions.version_folders
        ),
        kind=kind,
        subtype=subtype,
        aliases=aliases_of(properties),
        tags=tuple(dict.fromkeys((*tags_of(properties), *inline_tags(front.body)))),
        attendees=attendees,
        speakers=tuple(dict.fromkeys(turn.speaker for turn in turns)),
        references=references_of(properties),
        links=tuple(
            link.target for link in links_of(front.body, labels_first=conventions.is_dendron)
        ),
        property_links=tuple(property_link_targets(front.values)),
        frontmatter=front.values,
        body=front.body,
        body_line=front.body_line,
        content_hash=content_hash(data),
        size=len(data),
        problems=tuple(problems),
    )


_MAX_SALVAGED_LINES = 2000
_PLACEHOLDER = re.compile(
    r"^([^\s#:][^:\n]{0,100}:[ \t]+)(\{\{[^\n'{}]{0,200}\}\}[^\n']{0,200})$", re.MULTILINE
)
"""A value that a template leaves open, as `date: {{date}}`, which YAML cannot read."""
_OPEN = re.compile(r"(?P<fence>---|\+\+\+|;;;)(?P<kind>[a-zA-Z]{0,20})[ \t]*\n")
_CLOSE = {
    fence: re.compile(rf"^(?:{closing})[ \t]*(?:\n|\Z)", re.MULTILINE)
    for fence, closing in {"---": r"---|\.\.\.", "+++": r"\+\+\+", ";;;": ";;;"}.items()
}
_KIND = {"---": "yaml", "+++": "toml", ";;;": "json"}
"""The kind of frontmatter by its fence, which may name another, as `---toml` does. An object of
JSON has no fence."""
_KEY_LINE = re.compile(r"[^\s#\[\]{},:'\"-][^\n:]{0,100}:(?:[ \t]|$)")
_KEY_OF_OTHER_KIND = re.compile(r"(?:\s*#[^\n]*\n)*+\s*(?:[\w.\"'-]+\s*[=:]|\[|\{)")
_JSON_OBJECT = re.compile(r"\{\s*\"")
_PLAIN_VALUE = re.compile(
    r"([^\s:#-][^:\n]{0,100}):[ \t]+((?:\[\[|[^\s\[\]{}&*!|>'\"%@`#])[^\n]*)\n?\Z"
)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    values: dict[str, Any]
    body: str
    body_line: int
    fault: str = ""
    fault_line: int = 0


def read_frontmatter(text: str) -> Frontmatter:
    """Split ``text``, whose lines end with ``\\n``, and read its frontmatter; never raises.

    It is YAML, TOML (between `+++`) or JSON. Without a closing line, or if the block is not a
    mapping, the whole text is the body. In invalid YAML, the entries that are valid on their own
    are kept. A template's placeholder, such as `{{date}}`, is read as text.
    """
    opening = _OPEN.match(text)
    if not opening:
        return _read_json_object(text) if _JSON_OBJECT.match(text) else Frontmatter({}, text, 1)
    fence = opening["fence"]
    kind = _kind(opening)
    starts_key = (_KEY_LINE if kind == "yaml" else _KEY_OF_OTHER_KIND).match(text, opening.end())
    closing = _CLOSE[fence].search(text, opening.end())
    if not closing:
        fault = f"frontmatter has no closing {fence}" if starts_key else ""
        return Frontmatter({}, text, 1, fault, 1 if fault else 0)
    source = text[opening.end() : closing.start()]
    body = text[closing.end() :]
    body_line = 2 + source.count("\n") + 1
    if kind not in ("yaml", "yml"):
        if not starts_key:
            fault = _unread(kind) if opening["kind"] and source.strip() else ""
            return Frontmatter({}, text, 1, fault, 1 if fault else 0)
        return _read_other(kind, source, Frontmatter({}, body, body_line))
    try:
        loaded = load_yaml(_readable(source))
    except UnreadableYaml as error:
        salvaged = _salvage(source) if error.salvageable else {}
        return Frontmatter(salvaged, body, body_line, str(error), error.line + 2)
    if loaded is None:
        return Frontmatter({}, body, body_line)
    if not isinstance(loaded, dict):
        is_rule = source.startswith("\n")  # text between two rules
        fault = "" if is_rule else "frontmatter is not a mapping of keys to values"
        return Frontmatter({}, text, 1, fault, 0 if is_rule else 1)
    copier = _JsonCopier()
    values = copier.mapping(loaded, 0)
    fault = "frontmatter is nested too deep or repeats itself too often" if copier.cut else ""
    return Frontmatter(values, body, body_line, fault, 1 if fault else 0)


def _kind(opening: re.Match[str]) -> str:
    return opening["kind"].lower() or _KIND[opening["fence"]]


def _read_json_object(text: str) -> Frontmatter:
    """Read an object of JSON at the start of a text, which is its body if there is none."""
    try:
        _, end = json.JSONDecoder().raw_decode(text[:_MAX_SIZE])
    except (ValueError, RecursionError) as error:
        is_block = text.partition("\n\n")[0].rstrip().endswith("}")
        fault = f"frontmatter is not valid JSON: {error}" if is_block else ""
        return Frontmatter({}, text, 1, " ".join(fault.split()), int(is_block))
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    if text[end:line_end].strip():
        return Frontmatter({}, text, 1)
    front = Frontmatter({}, text[line_end:], 1 + text.count("\n", 0, line_end))
    return _read_other("json", text[:end], front)


def _unread(kind: str) -> str:
    return f"frontmatter of the kind {kind} is not read"


def _read_other(kind: str, source: str, empty: Frontmatter) -> Frontmatter:
    """Return frontmatter that is not YAML; of invalid TOML or JSON nothing is read."""
    readers: dict[str, Callable[[str], Any]] = {"toml": load_toml, "json": json.loads}
    if kind == "json" and not source.lstrip().startswith("{"):
        source = f"{{{source}}}"  # Hexo writes the entries alone
    if kind not in readers:
        return replace(empty, fault=_unread(kind), fault_line=1)
    if len(source) > _MAX_SIZE:
        return replace(empty, fault="frontmatter is larger than 1 MiB", fault_line=1)
    try:
        loaded = readers[kind](source)
    except (ValueError, RecursionError) as error:
        reason = f"frontmatter is not valid {kind.upper()}: {error}"
        return replace(empty, fault=" ".join(reason.split()), fault_line=1)
    copier = _JsonCopier()
    values = copier.mapping(loaded, 0) if isinstance(loaded, dict) else {}
    fault = "frontmatter is nested too deep or has too many values" if copier.cut else ""
    return replace(empty, values=values, fault=fault, fault_line=1 if fault else 0)


def _readable(source: str) -> str:
    """Return YAML with the placeholders of a template as texts. Raises UnreadableYaml."""
    try:
        load_yaml(source)
    except UnreadableYaml:
        if (quoted := _PLACEHOLDER.sub(r"\1'\2'", source)) == source:
            raise
        load_yaml(quoted)
        return quoted
    return source


def entry_starts(head: str) -> dict[int, int]:
    """Return the lines where entries of frontmatter begin, with how deep they are nested.

    `head` has its opening (line 0) and closing line. Keys have depth 1, and what is in them more: a
    list's items and nested keys; a table of TOML has depth 0. An entry ends where the next begins
    that is not deeper. Empty where that is not known: for JSON, and for what cannot be read.
    """
    opening = _OPEN.match(head)
    if not opening:
        return {}
    kind = _kind(opening)
    source = head[opening.end() : head.rfind("\n") + 1]
    starts = dict[int, int]()
    with suppress(UnreadableYaml, ValueError):
        if kind == "toml" and len(source) <= _MAX_SIZE:
            load_toml(source)
            starts = entry_lines(source)
        elif kind in ("yaml", "yml"):
            starts = _yaml_starts(source)
    return {line + 1: depth for line, depth in starts.items()}


def _yaml_starts(source: str) -> dict[int, int]:
    starts = dict[int, int]()
    try:
        source = _readable(source)
    except UnreadableYaml as error:
        if not error.salvageable:
            raise
        line = 0
        for entry in _entries(source):
            _read_alone(entry)  # where one cannot be read, no end of another is sure
            if entry.count("[") != entry.count("]"):
                return {}
            starts[line] = 1
            line += entry.count("\n") + 1
        return starts
    are_starts = list[Iterator[bool]]()
    for event in yaml.parse(source, Loader=_BaseLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            are_starts.pop()
        elif isinstance(event, yaml.NodeEvent):
            is_start = bool(are_starts) and next(are_starts[-1])
            if is_start and event.start_mark:
                starts.setdefault(event.start_mark.line, len(are_starts))
            if isinstance(event, yaml.CollectionStartEvent):
                is_list = isinstance(event, yaml.SequenceStartEvent)
                are_starts.append(repeat(False) if event.flow_style else cycle((True, is_list)))
    return starts


def _salvage(source: str) -> dict[str, Any]:
    """Return the entries of invalid YAML that can be read on their own.

    kbx writes titles unquoted, so a colon in one invalidates the whole block. Together they have as
    many values as valid YAML may.
    """
    values: dict[str, Any] = {}
    copier = _JsonCopier()
    for entry in _entries(source):
        try:
            loaded = _read_alone(entry)
        except UnreadableYaml:
            continue
        if isinstance(loaded, dict):
            values |= copier.mapping(loaded, 0)
        if copier.remaining <= 0:
            break
    return values


def _read_alone(entry: str) -> Any:
    try:
        return load_yaml(entry)
    except UnreadableYaml:
        if not (plain := _PLAIN_VALUE.match(entry)):
            raise
        return {plain[1].strip(): plain[2].strip()}


def _entries(source: str) -> Iterator[str]:
    entry: list[str] = []
    for line in source.split("\n")[:_MAX_SALVAGED_LINES]:
        if entry and _KEY_LINE.match(line):
            yield "\n".join(entry)
            entry = []
        entry.append(line)
    yield "\n".join(entry)


class _JsonCopier:
    """Copies loaded values to JSON types: with YAML aliases, a few lines can expand to billions."""

    def __init__(self) -> None:
        self.remaining = MAX_VALUES
        self.cut = False

    def mapping(self, values: dict[Any, Any], depth: int) -> dict[str, Any]:
        copied = {}
        for key, value in values.items():
            if self._is_exhausted(depth):
                break
            copied[_text(key)] = self.value(value, depth + 1)
        return copied

    def value(self, value: object, depth: int) -> Any:
        self.remaining -= 1
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return _encodable(value)
        if isinstance(value, float):
            return value if math.isfinite(value) else str(value)
        if isinstance(value, dict):
            return self.mapping(value, depth)
        if isinstance(value, list | tuple | set | frozenset):
            copied = []
            for entry in sorted(value, key=str) if isinstance(value, set | frozenset) else value:
                if self._is_exhausted(depth):
                    break
                copied.append(self.value(entry, depth + 1))
            return copied
        return _text(value)

    def _is_exhausted(self, depth: int) -> bool:
        exhausted = self.remaining <= 0 or depth > MAX_DEPTH
        self.cut = self.cut or exhausted
        return exhausted


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _encodable(value if isinstance(value, str) else str(value))


def _encodable(text: str) -> str:
    return text if text.isascii() else replace_surrogates(text)


MAX_DEPTH = 50
MAX_VALUES = 50_000
_MAX_SIZE = 1 << 20  # characters
_KEPT = 2
"""Sources whose values are kept: a file and its public text are read several times in turn."""

_DEEP_MARKS = re.compile(r"[\[{]|[-?:] ")

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class UnreadableYaml(Exception):
    def __init__(self, reason: str, line: int = -1, *, salvageable: bool = True) -> None:
        super().__init__(reason)
        self.line = line
        self.salvageable = salvageable


class _Loader(_BaseLoader):  # type: ignore[misc]  # the base is chosen at run time
    yaml_implicit_resolvers: ClassVar[dict[str, list[tuple[str, re.Pattern[str]]]]] = {}


def _construct_unknown(loader: Any, node: yaml.Node) -> object:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"-?[1-9][0-9]{0,17}|0", list("-0123456789")),
    # Only numbers that print as they are written: version 1.10 is not the number 1.1.
    ("float", r"-?(?:0|[1-9][0-9]{0,9})\.(?:0|[0-9]{0,3}[1-9])", list("-0123456789")),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(f"(?:{_pattern})\\Z"), _first
    )
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _construct_unknown)
_Loader.add_constructor(None, _construct_unknown)


@lru_cache(maxsize=_KEPT)
def load_yaml(source: str) -> Any:
    """Return the value of a source, not to be changed: it may contain itself.

    Raises UnreadableYaml.
    """
    if len(source) > _MAX_SIZE:
        raise UnreadableYaml("frontmatter is larger than 1 MiB", salvageable=False)
    try:
        if len(source) > MAX_VALUES or len(_DEEP_MARKS.findall(source)) > MAX_DEPTH:
            _require_small(source)
        return yaml.load(source, Loader=_Loader)
    except UnreadableYaml:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise UnreadableYaml(
            f"frontmatter is not valid YAML: {error.problem or error.context}",
            mark.line if mark else -1,
        ) from error
    except yaml.YAMLError as error:
        line = source.count("\n", 0, getattr(error, "position", 0) or 0)
        raise UnreadableYaml("frontmatter has characters that YAML does not allow", line) from error
    except Exception as error:  # PyYAML constructors raise anything, as for `!!int ""`
        raise UnreadableYaml(f"frontmatter is not valid YAML: {error}") from error


def _require_small(source: str) -> None:
    """Raise UnreadableYaml for more than `MAX_VALUES` keys, values and lists, or deep nesting.

    That takes much less time than loading them, which recurses in C, so that depth could crash the
    process. Also raises as PyYAML.
    """
    depth = values = 0
    for event in yaml.parse(source, Loader=_BaseLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.NodeEvent):
            values += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
            if values > MAX_VALUES:
                raise UnreadableYaml(f"frontmatter has more than {MAX_VALUES:,} values")
            if depth > MAX_DEPTH:
                raise UnreadableYaml("frontmatter is nested too deep", salvageable=False)
