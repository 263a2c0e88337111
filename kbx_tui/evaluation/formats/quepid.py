"""Judgments as Quepid exports and imports them: CSV with the columns query, docid and rating."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from kbx_tui.errors import ConfigError
from kbx_tui.evaluation.formats.graded_file import Grade, GradedFile, lines_of

COLUMNS = ("query", "docid", "rating")
_OTHER_NAMES = {"query text": "query", "doc id": "docid", "document id": "docid"}
MAX_LINES = 20
"""Lines that one record may have; a quotation mark that is not closed after them is a mistake."""


def is_quepid(first_line: str) -> bool:
    """Return whether a first line names the three columns, among others."""
    return set(COLUMNS) <= set(_names(next(csv.reader([first_line]), [])))


def read_quepid(data: bytes, scale: float | None = None) -> GradedFile:
    """Return the grades of a file; rows with an empty rating are not judged and left out.

    Raises ConfigError without the three columns.
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
    """Return grades as CSV."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((grade.query, grade.path, grade.grade) for grade in grades)
    return text.getvalue()


def _names(cells: list[str]) -> list[str]:
    lowered = (cell.strip().lower() for cell in cells)
    return [_OTHER_NAMES.get(name, name) for name in lowered]


def _records(lines: list[tuple[int, str]], problems: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield number of the first line and cells of each record.

    A quotation mark that is not closed costs its own line, not the rest of the file.
    """
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
