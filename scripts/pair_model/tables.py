"""Tables of labelled pairs: a, b, label, and source or phenomenon, separated by tabs."""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    a: str
    b: str
    label: str
    source: str


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of a table; those without a column `source` are of its file."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open() as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            yield Row(row["a"], row["b"], row["label"], row.get("source") or path.stem)
