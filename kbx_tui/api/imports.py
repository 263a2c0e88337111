"""Imports of other programs' files, and exports in the Open Knowledge Format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.session import Session
from kbx_tui.editing.journal import read_file
from kbx_tui.errors import ConfigError
from kbx_tui.importing.import_formats import read_documents, read_source
from kbx_tui.importing.import_planning import (
    ID_FIELD,
    Answer,
    AttendeeMatcher,
    ImportPlan,
    ImportPlanner,
    imported_people,
    keep_as_written,
)
from kbx_tui.importing.imported_document import Format, Imported, ImportProblem
from kbx_tui.importing.okf import OkfExport, write_okf
from kbx_tui.index.build.entity_stage import parse_topics
from kbx_tui.index.excluded_files import excluded_files
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.reading import read_frontmatter
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.vault import VaultFile, read_page, walk, walked_folder
from kbx_tui.state_file import require_writable


class Imports:
    """Imports into one base, and its export: `kb.imports`."""

    def __init__(self, session: Session) -> None:
        self._session, self._files = session, FileWriter(session)

    def plan(
        self,
        sources: Iterable[Path | str],
        *,
        form: Format | None = None,
        answer: Answer = keep_as_written,
        create_people: bool = False,
    ) -> ImportPlan:
        """Return the pages that files, folders and archives of other programs would become.

        Nothing is written. `form` is the format, for files whose names and content do not show it.
        `answer` decides who an attendee is whose name fits several people; by default the name
        stays as written. `create_people` adds a page for each attendee who has a full name but no
        page.
        Raises NotFound, and ConfigError for a source that cannot be read or is refused.
        """
        imported = self._read([Path(source) for source in sources], form)
        prefix = "" if walked_folder(self._session.root) == self._session.root else "memory/"
        people = self._people()
        matcher = AttendeeMatcher((*people, *imported_people(imported, prefix)), answer)
        planner = ImportPlanner(
            prefix,
            self._imported_ids(),
            people,
            lambda path: read_file(self._session.root, path),
            create_people=create_people,
        )
        return planner.plan(imported, matcher)

    def apply(self, plan: ImportPlan, description: str = "import") -> int | None:
        """Write the pages of a plan, all or none; return the write's number, None without pages."""
        return self._files.write(plan.edits, description) if plan.edits else None

    def export_okf(self, folder: Path | str, *, include_redacted: bool = False) -> OkfExport:
        """Write all pages to a new folder in the Open Knowledge Format v0.1.

        Redacted pages and lines are left out unless `include_redacted`. Raises ConfigError for a
        folder that is not empty or lies in the base, and WriteFault.
        """
        folder = Path(folder)
        require_writable(self._session.root)
        inside = walked_folder(self._session.root)
        if folder.expanduser().resolve().is_relative_to(inside.resolve()):
            raise ConfigError(f"{folder} is in {inside}: the base would hold its pages twice")
        pages = ((file.path, read_page(file.absolute, file.path)) for file in self._pages())
        types = frozenset(self._session.settings.entities.types)
        conventions = self._session.conventions()
        return write_okf(folder, pages, types, conventions, include_redacted=include_redacted)

    def _read(self, sources: Sequence[Path], form: Format | None) -> Imported:
        imported = Imported()
        for source in sources:
            try:
                files, problems = read_source(source.expanduser())
                imported += Imported(problems=problems)
                imported += read_documents(files, form)
            except ConfigError as error:
                if len(sources) == 1:
                    raise
                imported += Imported(problems=(ImportProblem(str(source), str(error)),))
        return imported

    def _pages(self) -> tuple[VaultFile, ...]:
        return walk(
            self._session.root, excluded_files(self._session.root, self._session.settings.index)
        ).files

    def _people(self) -> tuple[Entity, ...]:
        if self._session.is_indexed():
            entities = list(self._session.fresh_index().generation().entities.values())
        else:
            _, entities = parse_topics(self._session.root, self._session.settings)
        return tuple(entity for entity in entities if entity.type == "person")

    def _imported_ids(self) -> Iterator[str]:
        for file in self._pages():
            data = read_page(file.absolute, file.path)
            if ID_FIELD.encode() in data:
                front = read_frontmatter(decode(data)[0])
                if found := text_of(front.values.get(ID_FIELD)):
                    yield found
