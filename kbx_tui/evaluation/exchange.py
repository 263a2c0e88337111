"""Import and export of judgments in the formats of other tools."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from kbx_tui.errors import ConfigError
from kbx_tui.evaluation.formats.graded_file import Grade, GradedFile, read_file, write_file
from kbx_tui.evaluation.formats.opensearch import read_opensearch, write_opensearch
from kbx_tui.evaluation.formats.quepid import is_quepid, read_quepid, write_quepid
from kbx_tui.evaluation.formats.trec import read_qrels, read_topics, write_qrels, write_topics
from kbx_tui.evaluation.judgment_log import Judgment, StandingJudgments, now

Format = Literal["qrels", "quepid", "opensearch"]


@dataclass(frozen=True, slots=True)
class JudgmentConflict:
    """A grade in a file that differs from one given here."""

    place: str
    """Where in the file."""
    judgment: Judgment
    """As it is here."""
    grade: int
    """As it is in the file."""


@dataclass(frozen=True, slots=True)
class JudgmentImport:
    """What a file of judgments adds to those of a base."""

    added: tuple[Judgment, ...]
    """Of documents that had no judgment."""
    conflicts: tuple[JudgmentConflict, ...]
    unchanged: int
    """Number of grades that are the same here."""
    problems: tuple[str, ...]
    """A sentence about each part of the file that cannot be read."""
    missing: tuple[str, ...] = ()
    """Paths in the file that name no document of the base; they are added nevertheless."""

    def judgments(self, *, replace: bool) -> list[Judgment]:
        """Return what is to be appended; with `replace`, the grades in conflict as well."""
        conflicts = self.conflicts if replace else ()
        when = now()
        changed = (
            Judgment(one.judgment.query, one.judgment.path, one.grade, when) for one in conflicts
        )
        return [*self.added, *changed]


def read_judgment_file(
    file: Path, form: Format | None, topics: Path | None, scale: float | None
) -> GradedFile:
    """Return the grades of a file, whose format is recognised by its content if `form` is None.

    Raises NotFound and ConfigError.
    """
    data = read_file(file)
    try:
        match form or _recognise(data):
            case "quepid":
                return read_quepid(data, scale)
            case "opensearch":
                return read_opensearch(data, scale)
        if topics is None:
            return read_qrels(data, None, scale)
        texts, problems = read_topics(read_file(topics))
        graded = read_qrels(data, texts, scale)
        graded.problems[:0] = [f"{topics}: {problem}" for problem in problems]
        return graded
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from error


def write_judgment_file(
    file: Path, form: Format, judgments: Iterable[Judgment], topics: Path | None
) -> int:
    """Write the judgments that have a grade, and their queries to `topics`; return how many.

    Raises KbxError for a file that cannot be written.
    """
    grades = [
        Grade("", judgment.query, judgment.path, judgment.grade)
        for judgment in judgments
        if judgment.grade is not None
    ]
    write = {"qrels": write_qrels, "quepid": write_quepid, "opensearch": write_opensearch}[form]
    write_file(file, write(grades))
    if topics is not None:
        write_file(topics, write_topics(dict.fromkeys(grade.query for grade in grades)))
    return len(grades)


def plan_import(
    graded: GradedFile, standing: StandingJudgments, documents: Collection[str]
) -> JudgmentImport:
    """Return what the grades of a file change; `documents` are the paths in the base. Pure.

    A second, different grade of the same document in the file is a problem; the first one counts.
    """
    added: dict[tuple[str, str], Judgment] = {}
    seen: dict[tuple[str, str], Grade] = {}
    conflicts: list[JudgmentConflict] = []
    problems, unchanged, when = list(graded.problems), 0, now()
    for grade in graded.grades:
        judgment = Judgment(grade.query, grade.path, grade.grade, when)
        first = seen.setdefault(judgment.pair, grade)
        if first is not grade:
            if first.grade != grade.grade:
                problems.append(
                    f"{grade.place}: grade {grade.grade}, but {first.grade} in {first.place}"
                )
            continue
        known = standing.get(judgment.pair)
        if known is None:
            added[judgment.pair] = judgment
        elif known.grade == judgment.grade:
            unchanged += 1
        else:
            conflicts.append(JudgmentConflict(grade.place, known, grade.grade))
    paths = dict.fromkeys(path for _, path in seen)
    return JudgmentImport(
        added=tuple(added.values()),
        conflicts=tuple(conflicts),
        unchanged=unchanged,
        problems=tuple(problems),
        missing=tuple(path for path in paths if path not in documents),
    )


def _recognise(data: bytes) -> Format:
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] in (b"{", b"["):
        return "opensearch"
    first = start.partition(b"\n")[0].decode("utf-8", "replace")
    return "quepid" if is_quepid(first) else "qrels"
