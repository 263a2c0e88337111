"""Bodies of documents for snippets: from the file beside the index, otherwise from the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kbx_tui.index.columns.versions import rows_of_versions
from kbx_tui.index.lexical.bodies import Bodies, Body
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.table_reader import TableReader
from kbx_tui.index.where_clause import is_one_of

MISSING: Body = ("", 1)


class BodyReader:
    """Reads bodies of the documents of one generation."""

    def __init__(self, snapshot: Snapshot, file: Bodies | None) -> None:
        self._row_of, self._file = snapshot.row_of, file
        self._index_in_file = np.full(len(snapshot.versions), -1, np.int32)
        if file is not None:
            rows = rows_of_versions(file.versions, snapshot.versions)
            kept = np.flatnonzero(rows >= 0)
            self._index_in_file[rows[kept]] = kept

    def read(self, paths: Sequence[str], reader: TableReader) -> list[Body]:
        """Return the bodies in the order of `paths`, empty for a deleted one. Raises IndexFault."""
        bodies: dict[str, Body] = {}
        for path in paths:
            row = self._row_of.get(path)
            index = -1 if row is None else int(self._index_in_file[row])
            if index >= 0 and self._file is not None:
                bodies[path] = self._file[index]
        missing = [path for path in dict.fromkeys(paths) if path not in bodies]
        if missing:
            where = is_one_of("path", missing)
            for row in reader.rows("documents", ["path", "body", "body_line"], where).to_pylist():
                bodies[row["path"]] = (row["body"], row["body_line"])
        return [bodies.get(path, MISSING) for path in paths]
