"""What the readers of judgments in other formats share: lines, ratings, and what is wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from kbx_tui.errors import ConfigError, KbxError, NotFound
from kbx_tui.evaluation.judgment_log import MAX_GRADE
from kbx_tui.evaluation.judgments import SIZE_LIMIT
from kbx_tui.state_file import read_regular_file


class Grade(NamedTuple):
    """A grade as a file has it."""

    place: str
    """Where in the file: `line 7`."""
    query: str
    path: str
    grade: int


@dataclass(slots=True)
class GradedFile:
    """The grades of a file, in order, and a sentence about each part that cannot be read."""

    grades: list[Grade] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, place: str, query: str, path: str, rating: object, scale: float | None) -> None:
        """Add a grade, or what is wrong with it."""
        try:
            if not query.strip() or not path.strip():
                raise ValueError("the query or the document is missing")
            self.grades.append(Grade(place, query, path, grade_of(rating, scale)))
        except ValueError as error:
            self.problems.append(f"{place}: {error}")


def grade_of(rating: object, scale: float | None = None) -> int:
    """Return a rating as a grade of 0..3. Raises ValueError.

    With `scale`, the highest rating, 0..scale is mapped to 0..3 and rounded. A negative rating,
    which TREC uses for spam, is not relevant.
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
    """Return the content of a file of the user. Raises NotFound and ConfigError."""
    try:
        return read_regular_file(file, limit=SIZE_LIMIT, follow_links=True)
    except FileNotFoundError as error:
        raise NotFound(f"{file} does not exist") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}") from error


def lines_of(data: bytes, problems: list[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of each non-blank line; one that is not UTF-8 becomes a problem."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        try:
            text = line.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            problems.append(f"line {number}: not UTF-8 from byte {error.start + 1} on")
            continue
        if text.strip():
            yield number, text


def write_file(file: Path, text: str) -> None:
    """Write a file that the user asked for. Raises KbxError."""
    try:
        file.write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise KbxError(f"cannot write {file}: {error.strerror}") from error
