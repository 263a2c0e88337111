"""Pages of entities: made, and their fields set."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from kbx_tui.api.opened import well_formed
from kbx_tui.api.writing_through import WritingThrough
from kbx_tui.errors import NotFound

if TYPE_CHECKING:
    from kbx_tui.drafting.written import Written
    from kbx_tui.editing.field_edits import Value
    from kbx_tui.knowledge.records import Entity


class Paging(WritingThrough):
    """Makes pages of people, projects and teams, and changes their frontmatter."""

    def create_page(
        self,
        name: str,
        kind: str = "person",
        fields: Mapping[str, Value] | None = None,
        *,
        dry_run: bool = False,
    ) -> Written:
        """Make the page of a person, project or team, with fields in its frontmatter.

        Raises WriteFault when there is such a page, the name holds no letter, or one of them would
        be read as something else.
        """
        from kbx_tui.drafting.written import Written
        from kbx_tui.editing.file_edits import FileEdit
        from kbx_tui.editing.page_edits import new_page, page_path

        name = well_formed(name).strip()
        path = page_path(kind, name, self._prefix())
        self._refuse_existing(path, name)
        data = new_page(kind, name, fields or {})
        diff = self._diff(path, None, data)
        if dry_run:
            return Written(written=False, path=path, diff=diff)
        entry = self._put([FileEdit(path, None, data)], f"{kind} create {name}")
        return Written(written=True, path=path, diff=diff, entry=entry)

    def edit_page(
        self, entity: str, fields: Mapping[str, Value], *, kind: str | None = None,
        dry_run: bool = False,
    ) -> Written:  # fmt: skip
        """Set fields of an entity's page; None takes one out. `kind` is what it has to be.

        `hints` tell which fields said much the same before. Raises NotFound, Ambiguous, WriteFault,
        FileChanged, EmbeddingError.
        """
        from kbx_tui.drafting.written import Written
        from kbx_tui.editing.field_edits import SetFields, field_value, shown_value
        from kbx_tui.knowledge.parsing.reading import parse_document

        self._ready_index()
        known = self._find_entity(entity, kind)
        if not known.path:
            raise NotFound(f"{known.name} has no page yet; `kbx {known.type} create` makes one")
        before = self._read(known.path)
        told = parse_document(known.path, before).frontmatter
        was = tuple((key, shown_value(field_value(told, key))) for key in fields)
        changed = {
            key: value
            for (key, value), (_, old) in zip(fields.items(), was, strict=True)
            if shown_value(list(value) if isinstance(value, tuple) else value) != old
        }
        if not changed:
            return Written(written=False, path=known.path, diff="", hints=("it says so already",))
        edit = SetFields(tuple(changed.items()), tuple(one for one in was if one[0] in changed))
        hints = self._field_hints(known, changed)
        return self._write(
            known.path, [edit], f"{known.type} edit {known.name}", dry_run=dry_run,
            before=before, answer=partial(Written, hints=hints),
        )  # fmt: skip

    def _field_hints(self, known: Entity, fields: Mapping[str, Value]) -> tuple[str, ...]:
        from kbx_tui.formatting import score_text

        hints = []
        for key, value in fields.items():
            if isinstance(value, str) and value.strip():
                found = self.entity_similar_field(known.id, key, value)
                if found.is_similar:
                    hints.append(
                        f"{key} says much the same: {found.current_value!r} "
                        f"({score_text(found.similarity)})"
                    )
        return tuple(hints)
