"""Relevance judgments (qrels), from files or the user: how well a document answers a query.

A labelled folder holds `queries.jsonl` (id, text, and a `form` or `kind` to group by), `qrels.tsv`
(query id, path, grade) and optionally `entities.tsv` (query id, page of an entity the query names,
grade).

The user's own judgments of a base are in `.kbx/judgments.jsonl`, one line per grade:

    {"query": "rollback plan", "path": "memory/notes/plan.md", "grade": 2, "when":
     "2026-03-17T09:41:05Z", "knobs": {"alpha": 0.5, ...}, "generation": 41}

`grade` is 0 to 3, or "unsure". The last line for a query and path counts. Lines are only appended,
under a lock and flushed to disk, so that no grade is lost if a process dies or several write.
Undoing appends a line with `"undo": true` and the grade that is valid again, null for none. Only
`query`, `path` and `grade` are required. Unreadable lines are reported and skipped.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import msgspec

from kbx_tui.editing.state_files import Log
from kbx_tui.errors import ConfigError, KbxError, NotFound, OutOfRange, WriteFault
from kbx_tui.knowledge.folding import normalized
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.request import Tuning
from kbx_tui.state_file import Notice, decode_json, read_regular_file

SIZE_LIMIT = 1024 * 1024 * 1024

Grades = Mapping[str, int]
"""Grade by path: 0 is not relevant, 1 relevant, higher is more relevant."""


HOW_TO_JUDGE = (
    "search in the app (`kbx`) and grade results with 0 to 3, or run "
    "`kbx judgments add QUERY PATH GRADE`"
)


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    id: str
    text: str
    group: str
    grades: Grades
    entities: frozenset[str]
    unsure: frozenset[str] = frozenset()

    @property
    def is_measurable(self) -> bool:
        return any(grade > 0 for grade in self.grades.values())


def read_judgments(folder: Path) -> tuple[JudgedQuery, ...]:
    """Return the judged queries of a labelled folder, in file order.

    Raises NotFound if `queries.jsonl` or `qrels.tsv` is missing, ConfigError for an invalid line.
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
    try:
        data = read_regular_file(file, limit=SIZE_LIMIT, follow_links=True)
        lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
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


GROUP = "own"
MAX_GRADE = 3
"""The highest grade in the app: "just what was wanted"."""
UNSURE: Literal["unsure"] = "unsure"

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Judgment:
    query: str
    path: str
    grade: int | None
    """0 not relevant, 1 slightly, 2 relevant, 3 just what was wanted; None: not sure."""
    when: str = ""
    """UTC, `2026-03-17T09:41:05Z`; empty if unknown."""
    knobs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    generation: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", query_key(self.query))
        path = normalized("NFC", replace_surrogates(self.path))
        object.__setattr__(self, "path", path)
        if not self.query or not self.path.strip():
            raise ConfigError("a judgment needs a query and the path of a document")
        if self.grade is not None and not 0 <= self.grade <= MAX_GRADE:
            raise OutOfRange(f"a grade is a number of 0..{MAX_GRADE}, got {self.grade}")

    @property
    def pair(self) -> Pair:
        return self.query, self.path


@dataclass(frozen=True, slots=True)
class UndoneJudgment:
    undone: Judgment
    restored: Judgment | None


class _Line(msgspec.Struct):
    query: str
    path: str
    grade: int | Literal["unsure"] | None
    when: str = ""
    knobs: dict[str, Any] = {}
    generation: int | None = None
    undo: bool = False

    def __post_init__(self) -> None:
        if self.grade is None and not self.undo:
            raise ValueError(f'`grade` is a number of 0..{MAX_GRADE} or "{UNSURE}"')
        self.judgment()

    def judgment(self) -> Judgment:
        grade = self.grade if isinstance(self.grade, int) else None
        return Judgment(self.query, self.path, grade, self.when, self.knobs, self.generation)


class StandingJudgments:
    def __init__(self, lines: Iterable[_Line] = ()) -> None:
        self._standing: dict[int, Judgment] = {}
        self._numbers: dict[Pair, list[int]] = {}
        for number, line in enumerate(lines):
            self._add(number, line)

    def __iter__(self) -> Iterator[Judgment]:
        return (self._standing[numbers[-1]] for numbers in self._numbers.values())

    def __len__(self) -> int:
        return len(self._numbers)

    def get(self, pair: Pair) -> Judgment | None:
        numbers = self._numbers.get(pair)
        return self._standing[numbers[-1]] if numbers else None

    def last(self) -> Judgment | None:
        return self._standing[next(reversed(self._standing))] if self._standing else None

    def before(self, judgment: Judgment) -> Judgment | None:
        numbers = self._numbers[judgment.pair]
        return self._standing[numbers[-2]] if len(numbers) > 1 else None

    def _add(self, number: int, line: _Line) -> None:
        judgment = line.judgment()
        numbers = self._numbers.setdefault(judgment.pair, [])
        if line.undo and numbers:
            del self._standing[numbers.pop()]
        if line.grade is None:  # even if earlier lines were unreadable: the last line counts
            for older in self._numbers.pop(judgment.pair):
                del self._standing[older]
        elif not line.undo or not numbers or self._standing[numbers[-1]].grade != judgment.grade:
            numbers.append(number)
            self._standing[number] = judgment


class JudgmentLog:
    def __init__(self, root: Path, notice: Notice) -> None:
        self._log = Log(root, "judgments.jsonl", _Line, notice)
        self._lines: object = None
        self._standing = StandingJudgments()

    def read(self) -> StandingJudgments:
        if (lines := self._log.lines()) is not self._lines:
            self._lines, self._standing = lines, StandingJudgments(self._log.records())
        return self._standing

    def add(self, judgments: Sequence[Judgment]) -> None:
        """Append judgments in one write. If it raises WriteFault, nothing is changed."""
        with self.locked():
            self.append(judgments)

    def append(self, judgments: Sequence[Judgment]) -> None:
        self._log.append([_encode(judgment) for judgment in judgments])

    def undo(self, judgment: Judgment | None = None) -> UndoneJudgment:
        """Undo a judgment, by default the last one that is not undone.

        Raises WriteFault if there is none, or if its document was judged again since.
        """
        with self.locked():
            standing = self.read()
            if judgment is None:
                judgment = standing.last()
                if judgment is None:
                    raise WriteFault("there is no judgment to undo")
            elif standing.get(judgment.pair) != judgment:
                raise WriteFault(
                    f"{judgment.path} was judged again for this query since, so that judgment "
                    "cannot be undone"
                )
            restored = standing.before(judgment)
            if restored is None:
                gone = {"query": judgment.query, "path": judgment.path, "grade": None, "undo": True}
                self._log.append([json.dumps(gone, ensure_ascii=False).encode()])
            else:
                self._log.append([_encode(restored, undo=True)])
        return UndoneJudgment(judgment, restored)

    def locked(self) -> AbstractContextManager[None]:
        return self._log.locked()


def query_key(query: str) -> str:
    """Return a query as it is stored: in NFC, with single blanks."""
    return " ".join(normalized("NFC", replace_surrogates(query)).split())


def judged_queries(judgments: Iterable[Judgment]) -> tuple[JudgedQuery, ...]:
    grades: dict[str, dict[str, int]] = {}
    unsure: dict[str, set[str]] = {}
    for judgment in judgments:
        graded = grades.setdefault(judgment.query, {})
        if judgment.grade is None:
            unsure.setdefault(judgment.query, set()).add(judgment.path)
        else:
            graded[judgment.path] = judgment.grade
    return tuple(
        JudgedQuery(text, text, GROUP, graded, frozenset(), frozenset(unsure.get(text, ())))
        for text, graded in grades.items()
    )


def knobs_of(tuning: Tuning) -> dict[str, Any]:
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in asdict(tuning).items()
    }


def now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def log_line(record: Any, **changed: object) -> bytes:
    """Return a record as a log line, without empty fields and without a line break."""
    fields = (asdict(record) | changed).items()
    filled = {  # 0 is a grade
        name: value for name, value in fields if value not in ("", {}, None) and value is not False
    }
    return json.dumps(filled, ensure_ascii=False).encode()


def _encode(judgment: Judgment, *, undo: bool = False) -> bytes:
    grade = UNSURE if judgment.grade is None else judgment.grade
    return log_line(judgment, undo=undo, grade=grade)


@dataclass(frozen=True, slots=True)
class TuningSnapshot:
    when: str
    knobs: Mapping[str, Any] = field(hash=False)
    generation: int | None = None
    model: str = ""

    def __post_init__(self) -> None:
        try:
            _tuning(self.knobs)
        except (TypeError, KbxError) as error:
            raise ValueError(f"`knobs` are not valid: {error}") from error

    @property
    def tuning(self) -> Tuning:
        return _tuning(self.knobs)


class TuningSnapshots:
    def __init__(self, root: Path, notice: Notice) -> None:
        self._log = Log(root, "snapshots.jsonl", TuningSnapshot, notice)

    def read(self) -> tuple[TuningSnapshot, ...]:
        return tuple(self._log.records())

    def add(self, snapshot: TuningSnapshot) -> None:
        """Store a snapshot, or a removed one again, in the order of their times."""
        with self._log.locked():
            records = [*self._log.records(), snapshot]
            self._log.replace(sorted(records, key=lambda one: one.when))

    def remove(self, snapshot: TuningSnapshot) -> None:
        with self._log.locked():
            self._log.replace(one for one in self.read() if one != snapshot)


def _tuning(knobs: Mapping[str, Any]) -> Tuning:
    sets = {name: frozenset(knobs[name]) for name in ("muted", "pinned") if name in knobs}
    return Tuning(**{**knobs, **sets})
