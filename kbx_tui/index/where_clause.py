"""Where clauses in the SQL of LanceDB: lists of values and string literals. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence


def is_one_of(column: str, values: Collection[str]) -> str:
    """Return the clause for rows whose column is one of the values; none for an empty list."""
    return f"{column} IN ({', '.join(map(quoted, values))})" if values else "false"


def batched_clauses(column: str, values: Sequence[str], size: int) -> Iterator[str]:
    """Yield `is_one_of` for at most `size` values at a time; nothing for an empty list."""
    for start in range(0, len(values), size):
        yield is_one_of(column, values[start : start + size])


def quoted(text: str) -> str:
    """Return a SQL string literal; only the single quote needs escaping."""
    return "'" + text.replace("'", "''") + "'"
