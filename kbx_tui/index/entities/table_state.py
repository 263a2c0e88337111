"""Which state of the tables a file was derived from, so that no stale one is read.

Files of documents say which documents they cover. What follows from all documents together is only
right for one state: the versions of some tables and the documents. Tables that are made again
begin to count again, so meta holds an id of them (`TABLES_ID`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kbx_tui.index.columns.versions import VersionArray, sums_of_versions
from kbx_tui.index.schema import text_hash

TABLES_ID = "tables_id"
"""Key in table meta: an id that the first run gives the tables of an index."""

DOCUMENT_TABLES = ("documents",)
ENTITY_TABLES = ("entities",)
FACT_TABLES = (*ENTITY_TABLES, "facts")
LINK_TABLES = (*ENTITY_TABLES, "links", "name_uses")
"""Tables that the files of entities and names, of facts, and of links are derived from."""


def table_state(
    tables: Iterable[str],
    versions: Mapping[str, int],
    meta: Mapping[str, Any],
    documents: VersionArray | None = None,
) -> NDArray[np.bytes_]:
    """Return what identifies a state of tables and documents, shape (1,).

    `versions` are those of all tables, `meta` is the content of that table.
    """
    numbers = [versions[name] for name in tables]
    sums = [] if documents is None else [len(documents), *sums_of_versions(documents).tolist()]
    return np.array([text_hash(json.dumps([numbers, meta.get(TABLES_ID, ""), sums]))], "S32")
