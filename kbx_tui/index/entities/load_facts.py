"""Reading of the facts of the newest generation, and refreshing of facts.bin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kbx_tui.index.columns.read_snapshot import read_snapshot
from kbx_tui.index.derived_files import FACTS
from kbx_tui.index.entities.entity_column import NO_STATE
from kbx_tui.index.entities.stored_facts import StoredFacts, make_facts
from kbx_tui.index.entities.table_state import FACT_TABLES, table_state
from kbx_tui.index.lexical.page_languages import languages_of_pages
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.store import Store


def load_facts(store: Store, snapshot: Snapshot) -> StoredFacts:
    """Return the facts of the entities of a snapshot, read where it has none. Raises IndexFault."""
    if snapshot.facts is not None:
        return snapshot.facts
    languages = partial(languages_of_pages, store, snapshot)
    return make_facts(store, snapshot.entities, languages, NO_STATE)


def refresh_facts_file(store: Store) -> None:
    """Bring facts.bin up to date where it is stale. Raises IndexFault.

    For the holder of the writer lock, once the files of words and entities are up to date.
    """
    state = table_state(FACT_TABLES, store.versions(), store.meta())
    if FACTS.map_state(store, state) is None:
        FACTS.write(store, replace(load_facts(store, read_snapshot(store)), state=state))
