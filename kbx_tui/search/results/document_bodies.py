"""Texts of documents for snippets: from the file beside the index, else from the table."""

from __future__ import annotations

from collections.abc import Sequence

from kbx_tui.index.lexical.bodies_file import Bodies, Body
from kbx_tui.index.lexical.text_cache import rows_of
from kbx_tui.index.paths.where_clause import quoted
from kbx_tui.index.reader import Reader
from kbx_tui.index.snapshot import Snapshot

GONE: Body = ("", 1)


class BodyReader:
    """The bodies of one generation by path."""

    def __init__(self, snapshot: Snapshot, kept: Bodies | None) -> None:
        self._row_of, self._kept = snapshot.row_of, kept
        self._slot_of: dict[int, int] = {}
        if kept is not None:
            rows = rows_of(kept.names, snapshot.versions).tolist()
            self._slot_of = {row: slot for slot, row in enumerate(rows) if row >= 0}

    def read(self, paths: Sequence[str], reader: Reader) -> list[Body]:
        """Return the bodies in order of `paths`; one that is gone is empty. Raises IndexFault."""
        found: dict[str, Body] = {}
        for path in paths:
            slot = self._slot_of.get(self._row_of.get(path, -1))
            if slot is not None and self._kept is not None:
                found[path] = self._kept[slot]
        missing = [path for path in dict.fromkeys(paths) if path not in found]
        if missing:
            where = f"path IN ({', '.join(map(quoted, missing))})"
            for row in reader.rows("documents", ["path", "body", "body_line"], where).to_pylist():
                found[row["path"]] = (row["body"], row["body_line"])
        return [found.get(path, GONE) for path in paths]
