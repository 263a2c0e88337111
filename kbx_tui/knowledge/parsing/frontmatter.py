"""YAML frontmatter as JSON-safe values. Reading never fails: errors are reported as a fault."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import yaml

from kbx_tui.safe_text import replace_surrogates

_MAX_SIZE = 1 << 20  # characters
_MAX_DEPTH = 50
_MAX_NODES = 50_000
_MAX_SALVAGED_LINES = 2000
_DEEP_MARKS = re.compile(r"[\[{]|[-?:] ")
_OPEN = re.compile(r"---[ \t]*\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_KEY_LINE = re.compile(r"[^\s#\[\]{},:'\"-][^\n:]{0,100}:(?:[ \t]|$)")
_PLAIN_VALUE = re.compile(
    r"([^\s:#-][^:\n]{0,100}):[ \t]+((?:\[\[|[^\s\[\]{}&*!|>'\"%@`#])[^\n]*)\n?\Z"
)

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The values between the two ``---`` lines, and the text after them."""

    values: dict[str, Any]
    body: str
    body_line: int
    """1-based line of the file where the body starts."""
    fault: str = ""
    """Why the values are incomplete, empty if they are complete."""
    fault_line: int = 0
    """1-based line of the file, 0 without a fault."""


def read_frontmatter(text: str) -> Frontmatter:
    """Split ``text``, whose lines end with ``\\n``, and read its frontmatter; never raises.

    Without a closing line, or if the block is not a mapping, the whole text is the body. Of invalid
    YAML, the entries that are valid on their own are kept.
    """
    opening = _OPEN.match(text)
    if not opening:
        return Frontmatter({}, text, 1)
    closing = _CLOSE.search(text, opening.end())
    if not closing:
        fault = "frontmatter has no closing ---" if _KEY_LINE.match(text, opening.end()) else ""
        return Frontmatter({}, text, 1, fault, 1 if fault else 0)
    source = text[opening.end() : closing.start()]
    body = text[closing.end() :]
    body_line = 2 + source.count("\n") + 1
    try:
        loaded = _load(source)
    except _Unreadable as error:
        salvaged = _salvage(source) if error.salvageable else {}
        return Frontmatter(salvaged, body, body_line, str(error), error.line + 2)
    if loaded is None:
        return Frontmatter({}, body, body_line)
    if not isinstance(loaded, dict):
        return Frontmatter({}, text, 1, "frontmatter is not a mapping of keys to values", 1)
    copier = _JsonCopier()
    values = copier.mapping(loaded, 0)
    fault = "frontmatter is nested too deep or repeats itself too often" if copier.cut else ""
    return Frontmatter(values, body, body_line, fault, 1 if fault else 0)


class _Unreadable(Exception):
    def __init__(self, reason: str, line: int = -1, *, salvageable: bool = True) -> None:
        super().__init__(reason)
        self.line = line
        self.salvageable = salvageable


class _Loader(_BaseLoader):  # type: ignore[misc]  # the base is chosen at run time
    """A loader with the scalars of YAML 1.2: ``no``, ``12:30`` and dates are text."""

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


def _load(source: str) -> object:
    if len(source) > _MAX_SIZE:
        raise _Unreadable("frontmatter is larger than 1 MiB", salvageable=False)
    try:
        if len(_DEEP_MARKS.findall(source)) > _MAX_DEPTH and _is_too_deep(source):
            raise _Unreadable("frontmatter is nested too deep", salvageable=False)
        return yaml.load(source, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _Unreadable(
            f"frontmatter is not valid YAML: {error.problem or error.context}",
            mark.line if mark else -1,
        ) from error
    except yaml.YAMLError as error:
        line = source.count("\n", 0, getattr(error, "position", 0) or 0)
        raise _Unreadable("frontmatter has characters that YAML does not allow", line) from error
    except Exception as error:  # PyYAML constructors raise anything, as for `!!int ""`
        raise _Unreadable(f"frontmatter is not valid YAML: {error}") from error


def _is_too_deep(source: str) -> bool:
    """Return whether values are nested too deeply to load, which recurses in C and could crash."""
    depth = 0
    for event in yaml.parse(source, Loader=_BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            return True
    return False


def _salvage(source: str) -> dict[str, Any]:
    """Return the entries of invalid YAML that can be read on their own.

    kbx writes titles unquoted, so a colon in one invalidates the whole block.
    """
    values: dict[str, Any] = {}
    for entry in _entries(source):
        try:
            loaded = _load(entry)
        except _Unreadable:
            plain = _PLAIN_VALUE.match(entry)
            loaded = {plain[1].strip(): plain[2].strip()} if plain else None
        if isinstance(loaded, dict):
            values |= _JsonCopier().mapping(loaded, 0)
    return values


def _entries(source: str) -> Iterator[str]:
    entry: list[str] = []
    for line in source.split("\n")[:_MAX_SALVAGED_LINES]:
        if entry and _KEY_LINE.match(line):
            yield "\n".join(entry)
            entry = []
        entry.append(line)
    yield "\n".join(entry)


class _JsonCopier:
    """Copies loaded values to JSON types, up to a number of nodes and a depth.

    With YAML aliases, a few lines can expand to billions of values or contain themselves.
    """

    def __init__(self) -> None:
        self.remaining = _MAX_NODES
        self.cut = False
        """True once values had to be left out."""

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
        exhausted = self.remaining <= 0 or depth > _MAX_DEPTH
        self.cut = self.cut or exhausted
        return exhausted


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return _encodable(value if isinstance(value, str) else str(value))


def _encodable(text: str) -> str:
    return text if text.isascii() else replace_surrogates(text)
