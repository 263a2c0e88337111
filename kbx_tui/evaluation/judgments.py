"""Which documents answer which query, as people judged it: read from files, checked line by line.

A labelled folder holds `queries.jsonl` (id, text, and a `form` or `kind` to report by),
`qrels.tsv` (query id, path, grade) and perhaps `entities.tsv` (query id, page of an entity the
query names). A user's own judgments are one file, `.kbx/judgments.jsonl`: a line per judged
document with `query`, `path` and `grade`; the last line about a document counts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbx_tui.errors import ConfigError, NotFound

OWN_JUDGMENTS = Path(".kbx") / "judgments.jsonl"
OWN_GROUP = "own"

Grades = Mapping[str, int]
"""Grade by path: 0 is not relevant, 1 relevant, more is more so."""


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query with what is known about its answers."""

    id: str
    text: str
    group: str
    """What it is reported under: its form, else its kind."""
    grades: Grades
    entities: frozenset[str]
    """Pages of the entities it names, empty when nobody noted them."""


def read_judgments(folder: Path) -> tuple[JudgedQuery, ...]:
    """Read a labelled folder, in the order of its queries.

    Raises NotFound without `queries.jsonl` and `qrels.tsv`, ConfigError for a line that is none.
    """
    grades: dict[str, dict[str, int]] = {}
    for place, (query, path, grade) in _table(folder / "qrels.tsv", required=True):
        grades.setdefault(query, {})[path] = _grade(grade, place)
    entities: dict[str, set[str]] = {}
    for _, (query, path, _grade_of_page) in _table(folder / "entities.tsv", required=False):
        entities.setdefault(query, set()).add(path)
    return tuple(
        JudgedQuery(
            id=_text(line, "id", place),
            text=_text(line, "text", place),
            group=str(line.get("form") or line.get("kind") or "query"),
            grades=grades.get(line["id"], {}),
            entities=frozenset(entities.get(line["id"], ())),
        )
        for place, line in _lines(folder / "queries.jsonl")
    )


def read_own_judgments(root: Path) -> tuple[JudgedQuery, ...]:
    """Read the judgments a person made in this knowledge base. Raises as `read_judgments`."""
    grades: dict[str, dict[str, int]] = {}
    for place, line in _lines(root / OWN_JUDGMENTS):
        query, path = _text(line, "query", place), _text(line, "path", place)
        grades.setdefault(query, {})[path] = _grade(line.get("grade"), place)
    return tuple(
        JudgedQuery(text, text, OWN_GROUP, found, frozenset()) for text, found in grades.items()
    )


def _lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for number, text in enumerate(_read(file).splitlines(), 1):
        if not text.strip():
            continue
        place = f"{file}:{number}"
        try:
            line = json.loads(text)
        except ValueError as error:
            raise ConfigError(f"{place} is not JSON: {error}") from error
        if not isinstance(line, dict):
            raise ConfigError(f"{place} must be an object, got {text[:60]!r}")
        yield place, line


def _table(file: Path, *, required: bool) -> Iterator[tuple[str, tuple[str, str, str]]]:
    if not required and not file.exists():
        return
    for number, text in enumerate(_read(file).splitlines(), 1):
        if text.strip():
            fields = text.split("\t")
            if len(fields) != 3:
                raise ConfigError(f"{file}:{number} must be query, path and grade, tabs between")
            yield f"{file}:{number}", (fields[0], fields[1], fields[2])


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"no judgments: {file} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error


def _text(line: Mapping[str, Any], key: str, place: str) -> str:
    value = line.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(f"{place} needs a text under {key!r}, got {value!r}")
    return value


def _grade(value: object, place: str) -> int:
    try:
        grade = int(str(value))
    except ValueError:
        grade = -1
    if grade < 0:
        raise ConfigError(f"{place} needs a grade of 0 or more, got {value!r}")
    return grade
