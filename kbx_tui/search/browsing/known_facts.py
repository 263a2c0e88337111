"""Facts and open items as the index holds them: listed, and found by their ids."""

from __future__ import annotations

from collections.abc import Iterable

from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.rows import FACT_COLUMNS, fact_from_row
from kbx_tui.knowledge.records import Fact
from kbx_tui.search.open_index import OpenIndex


def list_facts(index: OpenIndex, entity_id: str = "", since: str = "") -> tuple[Fact, ...]:
    """Return the facts and open items of an entity, or of all, newest first, undated ones last.

    `since` is an ISO date from which on they are listed; undated ones are not then.
    """
    clauses = [f"entity_id = {quoted(entity_id)}"] if entity_id else []
    clauses += [f"date >= {quoted(since)}"] if since else []
    table = index.reader.rows("facts", FACT_COLUMNS, " AND ".join(clauses) or "fact_id > 0")
    found = sorted(map(fact_from_row, table.to_pylist()), key=lambda one: (one.path, one.line))
    return tuple(sorted(found, key=lambda one: one.date, reverse=True))


def facts_by_id(index: OpenIndex, ids: Iterable[int]) -> dict[int, Fact]:
    """Return the facts with these ids; those that are unknown are missing."""
    wanted = ", ".join(str(one) for one in sorted(set(ids)))
    if not wanted:
        return {}
    table = index.reader.rows("facts", FACT_COLUMNS, f"fact_id IN ({wanted})")
    return {fact.fact_id: fact for fact in map(fact_from_row, table.to_pylist())}


def indexed_hash(index: OpenIndex, path: str) -> str:
    """Return the content hash of a document as indexed, empty when it is not."""
    rows = index.reader.rows("documents", ["content_hash"], f"path = {quoted(path)}").to_pylist()
    return str(rows[0]["content_hash"]) if rows else ""
