"""From filters to where clauses, as the tables read them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.index.paths.globs import is_exact_start, is_glob, literal_start
from kbx_tui.index.paths.path_filter import PathFilter


def path_where(path: PathFilter) -> tuple[str, bool]:
    """Return the clause for a table with a column `path`, and whether it says all there is to say.

    The clause is empty for all. It lets everything in that the filter does; where it lets in more,
    the filter has to decide on what it found.
    """
    if path.is_all:
        return "", True
    if not path.globs:
        return f"({_is(path.prefix)} OR {_below(path.prefix + '/')})", True
    exact: dict[str, bool] = {}
    for glob in path.globs:
        clause, says_all = _glob_where(glob)
        exact[clause] = says_all or exact.get(clause, False)
    clause = "" if "" in exact else f"({' OR '.join(exact)})"
    return clause, all(exact.values())


def kinds_where(kinds: Sequence[str]) -> str:
    """Return the where clause for documents of the given kinds, empty for all."""
    return f"kind IN ({', '.join(quoted(kind) for kind in kinds)})" if kinds else ""


def dates_where(since: str, until: str) -> str:
    """Return the where clause for documents between two dates or parts of dates, both included."""
    clauses = [f"date >= {quoted(since or '0')}"] if since or until else []
    if until:
        clauses.append(f"date <= {quoted(until + '~')}")  # `~` comes after all that a date holds
    return both(*clauses)


def both(*clauses: str) -> str:
    """Return the clauses joined with AND, empty ones left out."""
    return " AND ".join(clause for clause in clauses if clause)


def quoted(text: str) -> str:
    """Return a SQL string literal: only the single quote is special in one."""
    return "'" + text.replace("'", "''") + "'"


def _glob_where(glob: str) -> tuple[str, bool]:
    """Return the clause for one alternative, and whether it is exact."""
    start = literal_start(glob)
    if not is_glob(glob):
        return (_below(start) if glob.endswith("/") else _is(start)), True
    return _below(start) if start else "", is_exact_start(start, glob[len(start) :])


def _is(path: str) -> str:
    return f"path = {quoted(path)}"


def _below(start: str) -> str:
    return f"starts_with(path, {quoted(start)})"  # unlike LIKE, it knows no wildcards
