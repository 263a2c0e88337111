"""Describing: what programs ask besides searching. Everything here is as indexed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from kbx_tui.api.opened import OpenedBase, well_formed
from kbx_tui.errors import NotFound
from kbx_tui.knowledge.parsing.kinds import CORE_ENTITY_TYPES

if TYPE_CHECKING:
    from kbx_tui.knowledge.records import Document, Entity

LineRange = tuple[int, int]


def unknown_id(wanted: str) -> NotFound:
    """Return the error for an id or path that stands for nothing."""
    return NotFound(
        f"nothing here has the id {wanted!r}; ids look like person:alice-chen, and searches "
        "return them"
    )


class Describing(OpenedBase):
    """Ids, kinds, stored documents and their chunks."""

    _saying: tuple[object, str, Mapping[str, Document]] | None = None
    """Snapshot, word and what was found; the word asked for is the same all day."""

    def close(self) -> None:
        """Let go of model, tables and memory; the base may be used again."""
        self._saying = None
        super().close()

    def document_kinds(self) -> Mapping[str, int]:
        """Return how many documents there are of each kind, by kind."""
        self._keep_fresh()
        kinds = Counter(self._open_index().loaded().snapshot.kinds)
        return dict(sorted(kinds.items()))

    def document_ids(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Return the ids of documents by path; a page's is that of its entity."""
        self._keep_fresh()
        snapshot = self._open_index().loaded().snapshot
        return {
            path: snapshot.ids[snapshot.row_of[path]] for path in paths if path in snapshot.row_of
        }

    def identify(self, wanted: str) -> tuple[str, Entity | None]:
        """Return the path and the entity that an id or path stands for; one of them may be none.

        The path is empty for an entity without a page. Raises NotFound.
        """
        self._keep_fresh()
        loaded = self._open_index().loaded()
        name = well_formed(wanted)
        if entity := loaded.entities.get(name):
            return entity.path, entity
        snapshot = loaded.snapshot
        row = snapshot.row_of.get(name)
        if row is None and name in snapshot.ids:
            row = snapshot.ids.index(name)
        if row is None:
            raise unknown_id(name)
        return snapshot.paths[row], loaded.entities.get(snapshot.ids[row])

    def listed_documents(self, offset: int, limit: int) -> Sequence[tuple[str, str, str]]:
        """Return id, path and title of documents in path order."""
        self._keep_fresh()
        snapshot = self._open_index().loaded().snapshot
        part = slice(offset, offset + limit)
        return list(
            zip(snapshot.ids[part], snapshot.paths[part], snapshot.titles[part], strict=True)
        )

    def stored_documents(self, paths: Sequence[str]) -> Mapping[str, Document]:
        """Return documents as they were indexed, by path; unknown ones are absent."""
        from kbx_tui.index.paths.where_clause import quoted
        from kbx_tui.index.rows import DOCUMENT_COLUMNS, document_from_row

        if not paths:
            return {}
        self._keep_fresh()
        where = f"path IN ({', '.join(map(quoted, paths))})"
        found = self._open_index().reader.rows("documents", DOCUMENT_COLUMNS, where)
        return {row["path"]: document_from_row(row) for row in found.to_pylist()}

    def documents_saying(self, word: str) -> Mapping[str, Document]:
        """Return the documents whose title or frontmatter holds a word, by path.

        Letter case does not matter. Looked up once per state of the index; nothing without one.
        """
        if not self.is_indexed():
            return {}
        self._keep_fresh()
        snapshot = self._open_index().loaded().snapshot
        if self._saying is None or self._saying[0] is not snapshot or self._saying[1] != word:
            from kbx_tui.index.paths.where_clause import quoted

            like = quoted(f"%{word.lower()}%")
            where = f"lower(title) LIKE {like} OR lower(frontmatter) LIKE {like}"
            found = self._open_index().reader.rows("documents", ["path"], where)
            paths = found["path"].to_pylist()
            self._saying = (snapshot, word, self.stored_documents(paths))
        return self._saying[2]

    def chunk_lines(self, paths: Sequence[str]) -> Mapping[str, Sequence[LineRange]]:
        """Return first and last line of every chunk, in order, by path of its document."""
        from kbx_tui.index.paths.where_clause import quoted

        if not paths:
            return {}
        self._keep_fresh()
        where = f"path IN ({', '.join(map(quoted, paths))})"
        columns = ["path", "ordinal", "line_start", "line_end"]
        found = self._open_index().reader.rows("chunks", columns, where).to_pylist()
        places: dict[str, dict[int, LineRange]] = {}
        for row in found:
            lines = (row["line_start"], row["line_end"])
            places.setdefault(row["path"], {})[row["ordinal"]] = lines
        return {path: [of[at] for at in sorted(of)] for path, of in places.items()}

    def read_document(self, path: str) -> Document:
        """Return an indexed document as it stands on disk now. Raises NotFound."""
        from kbx_tui.knowledge.parsing.reading import parse_document
        from kbx_tui.knowledge.vault import locate

        types = frozenset(self.settings.entities.types)
        try:
            data = locate(self.root, path, self.settings.index.exclude).read_bytes()
        except (OSError, ValueError) as error:
            raise NotFound(f"no document {path} in {self.root}") from error
        return parse_document(path, data, entity_types=CORE_ENTITY_TYPES | types)
