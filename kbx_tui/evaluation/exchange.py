"""Judgments and runs in the formats of other tools: TREC, Quepid, OpenSearch."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from kbx_tui.editing.file_edits import require_free, write_output
from kbx_tui.errors import ConfigError, NotFound
from kbx_tui.evaluation.judgments import MAX_GRADE, SIZE_LIMIT, Judgment, StandingJudgments, now
from kbx_tui.state_file import read_regular_file

Format = Literal["qrels", "quepid", "opensearch"]


@dataclass(frozen=True, slots=True)
class JudgmentConflict:
    place: str
    judgment: Judgment
    grade: int


@dataclass(frozen=True, slots=True)
class JudgmentImport:
    added: tuple[Judgment, ...]
    conflicts: tuple[JudgmentConflict, ...]
    unchanged: int
    problems: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def judgments(self, *, replace: bool) -> list[Judgment]:
        conflicts = self.conflicts if replace else ()
        when = now()
        changed = (
            Judgment(one.judgment.query, one.judgment.path, one.grade, when) for one in conflicts
        )
        return [*self.added, *changed]


def read_judgment_file(
    file: Path, form: Format | None, topics: Path | None, scale: float | None
) -> GradedFile:
    """Return the grades in a file; its content shows the format if `form` is None.

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
    file: Path,
    form: Format,
    judgments: Iterable[Judgment],
    topics: Path | None,
    *,
    overwrite: bool,
) -> int:
    """Write the judgments that have a grade; return their number. Raises WriteFault."""
    if topics is not None:
        require_free(topics, overwrite=overwrite)  # write both files or none
        if os.path.realpath(topics) == os.path.realpath(file):
            raise ConfigError(f"{file} cannot have the judgments and the topics; name two files")
    grades = [
        Grade("", judgment.query, judgment.path, judgment.grade)
        for judgment in judgments
        if judgment.grade is not None
    ]
    write = {"qrels": write_qrels, "quepid": write_quepid, "opensearch": write_opensearch}[form]
    write_file(file, write(grades), overwrite=overwrite)
    if topics is not None:
        queries = dict.fromkeys(grade.query for grade in grades)
        write_file(topics, write_topics(queries), overwrite=overwrite)
    return len(grades)


def plan_import(
    graded: GradedFile, standing: StandingJudgments, documents: Collection[str]
) -> JudgmentImport:
    """Return what importing a file's grades changes; `documents` are the base's paths. Pure.

    A second, different grade for the same document is a problem; the first one counts.
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
    names = _names(first.replace('"', "").split(","))
    return "quepid" if set(COLUMNS) <= set(names) else "qrels"


class Grade(NamedTuple):
    place: str
    query: str
    path: str
    grade: int


@dataclass(slots=True)
class GradedFile:
    grades: list[Grade] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, place: str, query: str, path: str, rating: object, scale: float | None) -> None:
        try:
            if not query.strip() or not path.strip():
                raise ValueError("the query or the document is missing")
            self.grades.append(Grade(place, query, path, grade_of(rating, scale)))
        except ValueError as error:
            self.problems.append(f"{place}: {error}")


def grade_of(rating: object, scale: float | None = None) -> int:
    """Return a rating as a grade of 0..3. Raises ValueError.

    With `scale`, the highest rating, 0..scale is mapped to 0..3 and rounded. A negative rating,
    which TREC uses for spam, becomes 0.
    """
    try:
        number = float(str(rating))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{str(rating)[:40]!r} is not a number")
    if number <= 0:
        return 0
    if scale is not None:
        number = math.floor(number / scale * MAX_GRADE + 0.5)
    elif number != int(number):
        raise ValueError(
            f"{rating} is not a whole number; `--scale` with the highest rating maps it"
        )
    if number > MAX_GRADE:
        raise ValueError(
            f"{rating} is above {MAX_GRADE if scale is None else scale}; "
            "`--scale` with the highest rating maps all"
        )
    return int(number)


def read_file(file: Path) -> bytes:
    try:
        return read_regular_file(file, limit=SIZE_LIMIT, follow_links=True)
    except FileNotFoundError as error:
        raise NotFound(f"{file} does not exist") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error


def lines_of(data: bytes, problems: list[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each non-blank line; a line that is not UTF-8 is a problem."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            problems.append(f"line {number}: not UTF-8 from byte {error.start + 1} on")
            continue
        if text.strip():
            yield number, text


def write_file(file: Path, text: str, *, overwrite: bool) -> None:
    write_output(file, text.encode("utf-8", "replace"), overwrite=overwrite)


_BLANK = re.compile(r"[\s%\x00-\x1f\x7f]")
_FIELDS = re.compile(r"[ \t\v\f\r]+")
_TOPIC = re.compile(r"<top>((?:[^<]++|<(?!/?top>))*+)</top>")
_NUMBER = re.compile(r"<num>\s*+(?:Number:\s*+)?([^\s<]+)")
_TITLE = re.compile(r"<title>\s*+(?:Topic:\s*+)?([^<]+)")
_IDS, _TEXTS = ("id", "qid", "query_id", "_id"), ("text", "query", "title")

Topics = Mapping[str, str]


def escape(text: str) -> str:
    """Return a text with its blanks escaped; `unquote` restores it.

    TREC tools separate fields by blanks, so document and query ids have `%20` for a blank and `%25`
    for `%`, as in a URL. The id of a query is its escaped text, unless a file of topics gives the
    texts of other ids.
    """
    return _BLANK.sub(lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), text)


def read_qrels(data: bytes, topics: Topics | None = None, scale: float | None = None) -> GradedFile:
    """Return the grades in TREC qrels.

    Without `topics`, ids are query texts: if all are numbers, raises ConfigError.
    """
    file = GradedFile()
    ids = set()
    for number, line in lines_of(data, file.problems):
        place, fields = f"line {number}", _FIELDS.split(line.strip(" \t\v\f\r"))
        if len(fields) != 4:
            file.problems.append(f"{place}: not query id, 0, document and grade: {line[:60]!r}")
            continue
        query_id, _, document, rating = fields
        ids.add(query_id)
        if topics is not None and query_id not in topics:
            file.problems.append(f"{place}: no topic has the id {query_id[:60]!r}")
            continue
        query = unquote(query_id) if topics is None else topics[query_id]
        file.add(place, query, unquote(document), rating, scale)
    if topics is None and ids and all(map(str.isdecimal, ids)):
        raise ConfigError("the queries are only numbers there; `--topics` names a file with texts")
    return file


def write_qrels(grades: Iterable[Grade]) -> str:
    return "".join(
        f"{escape(grade.query)} 0 {escape(grade.path)} {grade.grade}\n" for grade in grades
    )


def read_topics(data: bytes) -> tuple[dict[str, str], list[str]]:
    """Return query texts by id, and a sentence about each unreadable line.

    Topics are JSON lines (`id` and `text`), lines of id, tab and text, or TREC's `<top>` elements.
    """
    topics: dict[str, str] = {}
    problems: list[str] = []
    if data.lstrip().startswith(b"<"):
        for found in _TOPIC.finditer(data.decode("utf-8", "replace")):
            query_id, title = _NUMBER.search(found[1]), _TITLE.search(found[1])
            if query_id and title:
                topics[query_id[1]] = " ".join(title[1].split())
            else:
                problems.append(f"a topic without number or title: {found[1].strip()[:60]!r}")
        return topics, problems
    for number, line in lines_of(data, problems):
        if (topic := _topic(line)) is None:
            problems.append(f"line {number}: not a topic with id and text: {line[:60]!r}")
        else:
            topics[topic[0]] = topic[1]
    return topics, problems


def write_topics(queries: Iterable[str]) -> str:
    lines = ({"id": escape(query), "text": query} for query in queries)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_run(data: bytes) -> tuple[dict[str, list[str]], list[str]]:
    """Return the documents of a run by query id, best first, and its unreadable lines.

    As in trec_eval, documents are ordered by score; equal scores are ordered by rank.
    """
    rows: dict[str, dict[str, tuple[float, float]]] = {}
    problems: list[str] = []
    for number, line in lines_of(data, problems):
        fields = _FIELDS.split(line.strip(" \t\v\f\r"))
        try:
            query_id, _, document, rank, score, _ = fields
            place = -float(score), float(rank)
        except ValueError:
            problems.append(
                f"line {number}: not query id, Q0, document, rank, score and tag: {line[:60]!r}"
            )
            continue
        if any(value != value for value in place):  # NaN cannot be ordered
            problems.append(f"line {number}: rank or score is not a number")
            continue
        rows.setdefault(unquote(query_id), {}).setdefault(unquote(document), place)
    return {query: sorted(found, key=found.__getitem__) for query, found in rows.items()}, problems


def write_run(ranked: Mapping[str, Sequence[str]], tag: str) -> str:
    return "".join(
        f"{escape(query)} Q0 {escape(path)} {rank} {len(paths) - rank + 1} {escape(tag) or 'kbx'}\n"
        for query, paths in ranked.items()
        for rank, path in enumerate(paths, 1)
    )


def _topic(line: str) -> tuple[str, str] | None:
    if line.lstrip().startswith("{"):
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            return None
        found = (
            next((fields[key] for key in keys if key in fields), "") for keys in (_IDS, _TEXTS)
        )
        query_id, text = (str(value) if isinstance(value, str | int) else "" for value in found)
    else:
        query_id, _, text = line.partition("\t")
    query_id, text = query_id.strip(), text.strip()
    return (query_id, text) if query_id and text else None


COLUMNS = ("query", "docid", "rating")
_OTHER_NAMES = {"query text": "query", "doc id": "docid", "document id": "docid"}
MAX_LINES = 20


def read_quepid(data: bytes, scale: float | None = None) -> GradedFile:
    """Return the grades in a Quepid CSV file; rows with an empty rating are left out.

    Raises ConfigError if one of the three columns is missing.
    """
    file = GradedFile()
    records = _records(list(lines_of(data, file.problems)), file.problems)
    names = _names(next(records, (0, []))[1])
    if not set(COLUMNS) <= set(names):
        raise ConfigError("the first line has to name the columns query, docid and rating")
    query, document, rating = map(names.index, COLUMNS)
    for number, cells in records:
        if len(cells) != len(names):
            file.problems.append(f"line {number}: {len(cells)} columns, not {len(names)}")
        elif cells[rating].strip():
            file.add(f"line {number}", cells[query], cells[document], cells[rating], scale)
    return file


def write_quepid(grades: Iterable[Grade]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((grade.query, grade.path, grade.grade) for grade in grades)
    return text.getvalue()


def _names(cells: list[str]) -> list[str]:
    lowered = (cell.strip().lower() for cell in cells)
    return [_OTHER_NAMES.get(name, name) for name in lowered]


def _records(lines: list[tuple[int, str]], problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield CSV records; an unclosed quotation mark costs its line, not the rest of the file."""
    at, columns = 0, 0
    while at < len(lines):
        number = lines[at][0]
        for end in range(at + 1, min(at + MAX_LINES, len(lines)) + 1):
            text = "\n".join(line for _, line in lines[at:end])
            if text.count('"') % 2:
                continue
            try:
                rows = list(csv.reader(io.StringIO(text), strict=True))
            except csv.Error:
                continue
            if len(rows) == 1 and (end == at + 1 or len(rows[0]) == columns):
                columns = columns or len(rows[0])
                yield number, rows[0]
                at = end
                break
        else:
            problems.append(f"line {number}: a quotation mark is not closed or not doubled")
            at += 1


def read_opensearch(data: bytes, scale: float | None = None) -> GradedFile:
    """Return the grades in an OpenSearch file; problems name the place of unreadable parts.

    Raises ConfigError if it is not JSON or has no `judgmentRatings`.
    """
    file = GradedFile()
    ratings = _decode(data)
    for index, entry in enumerate(ratings):
        place = f"judgmentRatings[{index}]"
        query = entry.get("query") if isinstance(entry, dict) else None
        documents = entry.get("ratings") if isinstance(entry, dict) else None
        if not isinstance(query, str) or not isinstance(documents, list):
            file.problems.append(f"{place}: not a query with ratings")
            continue
        for number, row in enumerate(documents):
            where = f"{place}.ratings[{number}]"
            document = row.get("docId") if isinstance(row, dict) else None
            if not isinstance(document, str):
                file.problems.append(f"{where}: no docId")
            else:
                file.add(where, query, document, row.get("rating"), scale)
    return file


def write_opensearch(grades: Iterable[Grade]) -> str:
    by_query: dict[str, list[dict[str, str]]] = {}
    for grade in grades:
        rating = {"docId": grade.path, "rating": f"{grade.grade:.3f}"}
        by_query.setdefault(grade.query, []).append(rating)
    body = {
        "name": "kbx judgments",
        "description": "Judgments exported by kbx",
        "type": "IMPORT_JUDGMENT",
        "judgmentRatings": [
            {"query": query, "ratings": ratings} for query, ratings in by_query.items()
        ],
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


def _decode(data: bytes) -> list[Any]:
    try:
        body = json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise ConfigError(f"line {error.lineno} is not JSON: {error.msg}") from error
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError(f"line {line} is not UTF-8") from error
    except RecursionError as error:
        raise ConfigError("the JSON is nested too deeply") from error
    ratings = body.get("judgmentRatings") if isinstance(body, dict) else body
    if not isinstance(ratings, list):
        raise ConfigError("there is no list judgmentRatings in it")
    return ratings
