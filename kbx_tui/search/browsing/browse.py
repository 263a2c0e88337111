"""What can be asked of an index without a query: entities, links, paths. One read at most each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kbx_tui.index.paths.path_completion import complete
from kbx_tui.index.paths.path_filter import PathFilter
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.rows import FACT_COLUMNS, fact_from_row
from kbx_tui.search.browsing.card import EntityCard, EntityName, documents_of, make_card, name_of
from kbx_tui.search.browsing.destination import Destination, heading_line
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.retrieval.scope import find_scope


def entity_card(index: OpenIndex, entity_id: str) -> EntityCard:
    """Return all that is known about an entity. Raises NotFound."""
    loaded = index.loaded()
    entity = loaded.entity(entity_id)
    found = index.reader.rows("facts", FACT_COLUMNS, f"entity_id = {quoted(entity_id)}")
    return make_card(
        entity,
        members=[loaded.entities[one] for one in entity.members if one in loaded.entities],
        facts=map(fact_from_row, found.to_pylist()),
        documents=documents_of(loaded.snapshot, loaded.linked(entity_id)),
    )


def find_entities(index: OpenIndex, text: str, limit: int) -> tuple[EntityName, ...]:
    """Return entities by a piece of their name, best first."""
    return tuple(map(name_of, index.loaded().entity_names().find(text, limit)))


def follow(index: OpenIndex, target: str, source: str) -> Destination | None:
    """Return where a link in `source` leads, None when nowhere."""
    found = index.loaded().destinations().find(target, source)
    if found is None or not (found.heading and found.path):
        return found
    where = f"path = {quoted(found.path)}"
    for row in index.reader.rows("documents", ["body", "body_line"], where).to_pylist():
        line = heading_line(row["body"], row["body_line"], found.heading)
        return replace(found, line=line)
    return found


def complete_path(index: OpenIndex, text: str, root: Path, limit: int) -> tuple[str, ...]:
    """Return how a path that is being typed may go on, folders first."""
    return complete(index.loaded().snapshot.paths, text, root, limit)


def count_scope(index: OpenIndex, path: PathFilter) -> tuple[int, int]:
    """Return how many documents a path lets in, and how many there are."""
    scope = find_scope(index.loaded().snapshot, path)[1]
    return scope.in_scope, scope.total
