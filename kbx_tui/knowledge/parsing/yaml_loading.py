"""YAML as frontmatter uses it, read within limits of size, depth and number of values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import yaml

MAX_DEPTH = 50
MAX_VALUES = 50_000
"""Keys, values and lists that are read."""
_MAX_SIZE = 1 << 20  # characters
_KEPT = 2
"""Sources whose values are kept: a file and its public text are read several times in turn."""

_DEEP_MARKS = re.compile(r"[\[{]|[-?:] ")
_MARK_OF_NEXT = re.compile(r"^[-? ]+\Z", re.MULTILINE)
_CLOSING = {"[": "]", "{": "}"}

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class LoadedYaml:
    """The value of a source, not to be changed."""

    value: Any
    is_cut: bool = False
    """Whether the source has more than `MAX_VALUES`, of which the first are read."""


class UnreadableYaml(Exception):
    """Why a source has no values; `line` is 0-based, -1 if unknown."""

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


@lru_cache(maxsize=_KEPT)
def load_yaml(source: str) -> LoadedYaml:
    """Return the value of a source; raises UnreadableYaml.

    Aliases are not followed to their end: the value may contain itself, and repeat one list often.
    """
    if len(source) > _MAX_SIZE:
        raise UnreadableYaml("frontmatter is larger than 1 MiB", salvageable=False)
    try:
        within = source
        if len(source) > MAX_VALUES or len(_DEEP_MARKS.findall(source)) > MAX_DEPTH:
            within = cut_yaml(source, MAX_VALUES)
        return LoadedYaml(yaml.load(within, Loader=_Loader), is_cut=within is not source)
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


def cut_yaml(source: str, max_values: int) -> str:
    """Return the first `max_values` keys, values and lists of a source, with brackets closed.

    To find where to cut takes a fifth of the time to load as many. Raises UnreadableYaml if values
    are nested too deep to load, which recurses in C and could crash, and as PyYAML.
    """
    closings: list[str] = []
    values = 0
    for event in yaml.parse(source, Loader=_BaseLoader):
        if isinstance(event, yaml.CollectionEndEvent):
            closings.pop()
        elif isinstance(event, yaml.NodeEvent):
            assert event.start_mark is not None  # as it is only for events that were not parsed
            assert event.end_mark is not None
            values += 1
            if values > max_values:
                kept = _MARK_OF_NEXT.sub("", source[: event.start_mark.index])
                return kept + "".join(reversed(closings))
            if isinstance(event, yaml.CollectionStartEvent):
                opening = source[event.start_mark.index : event.end_mark.index]
                closings.append(_CLOSING.get(opening[-1:], ""))
                if len(closings) > MAX_DEPTH:
                    raise UnreadableYaml("frontmatter is nested too deep", salvageable=False)
    return source
