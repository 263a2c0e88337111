"""Lists as CSV, as a Markdown table, or as paths alone."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kbx_tui.safe_text import safe_line

TableFormat = Literal["csv", "markdown", "paths"]

_FORMULA = re.compile(
    r"(^|;)(?=\s*[=+@|\uff1d\uff0b\uff0d\uff20-](?!(?:\d++(?:\.\d++)?|\.\d++)\Z))"
)
"""Before what a spreadsheet takes for a formula, in full width too; numbers are none.

A semicolon ends a cell where numbers have a decimal comma.
"""
_MARKUP = re.compile(r"([\\|\[\]`*_<>])")


def table_text(rows: Sequence[Mapping[str, Any]], form: TableFormat) -> str:
    """Return a table with a column for each key; for `paths`, each path of a row once."""
    if form == "paths":
        return "\n".join(dict.fromkeys(_cell(row["path"]) for row in rows if row.get("path")))
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_cell(row.get(column)) for column in columns] for row in rows]
    if form == "markdown":
        lines = [columns, ["---"] * len(columns)] if columns else []
        lines += [[_MARKUP.sub(r"\\\1", cell) for cell in each] for each in cells]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([columns, *([_as_text(cell) for cell in each] for each in cells)])
    return out.getvalue().rstrip("\n")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list | tuple) and not any(isinstance(each, dict) for each in value):
        return "; ".join(map(_cell, value))
    return safe_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _as_text(cell: str) -> str:
    return _FORMULA.sub(r"\1'", cell)
