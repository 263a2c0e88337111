"""Relevance judgments (qrels): which documents answer which query, read from files.

A labelled folder holds `queries.jsonl` (id, text, and a `form` or `kind` to group by),
`qrels.tsv` (query id, path, grade) and optionally `entities.tsv` (query id, page of an entity the
query names, grade). The user's own judgments are read by `judgment_log`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.state_file import decode_json, read_regular_file

SIZE_LIMIT = 1024 * 1024 * 1024
"""Largest file of judgments or queries, in bytes."""

Grades = Mapping[str, int]
"""Grade by path: 0 is not relevant, 1 relevant, higher is more relevant."""


HOW_TO_JUDGE = (
    "search in the app (`kbx`) and grade results with 0 to 3, or run "
    "`kbx judgments add QUERY PATH GRADE`"
)
"""What someone without judgments can do."""


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """A query with its relevance judgments."""

    id: str
    text: str
    group: str
    """Its form, else its kind; results are reported per group."""
    grades: Grades
    entities: frozenset[str]
    """Pages of the entities it names; empty when not labelled."""
    unsure: frozenset[str] = frozenset()
    """Paths judged "not sure", which count as not judged."""

    @property
    def is_measurable(self) -> bool:
        """Whether a document is judged relevant, without which every measure is 0."""
        return any(grade > 0 for grade in self.grades.values())


def read_judgments(folder: Path) -> tuple[JudgedQuery, ...]:
    """Return the judged queries of a labelled folder, in file order.

    Raises NotFound without `queries.jsonl` or `qrels.tsv`, ConfigError for an invalid line.
    """
    grades: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for place, (query, path, grade) in _table(folder / "qrels.tsv"):
        grades[query][path] = _grade(grade, place)
    entities: defaultdict[str, set[str]] = defaultdict(set)
    labelled = folder / "entities.tsv"
    for _, (query, path, _grade_of_page) in _table(labelled) if labelled.exists() else ():
        entities[query].add(path)
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


def _lines(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for place, text in _read(file):
        try:
            yield place, decode_json(text, dict[str, Any])
        except ValueError as error:
            raise ConfigError(f"{place} is not a JSON object: {error}") from error


def _table(file: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    for place, text in _read(file):
        fields = tuple(text.split("\t"))
        if len(fields) != 3:
            raise ConfigError(f"{place} must be query, path and grade, separated by tabs")
        yield place, fields


def _read(file: Path) -> Iterator[tuple[str, str]]:
    """Yield place and text of each non-blank line."""
    try:
        data = read_regular_file(file, limit=SIZE_LIMIT, follow_links=True)
        lines = data.decode("utf-8-sig").splitlines()
    except FileNotFoundError as error:
        raise NotFound(f"no judgments: {file} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield f"{file}:{number}", line


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
