"""Plans what an import writes: new pages only, nothing that a base has already. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kbx_tui.drafting.planning import file_diff
from kbx_tui.editing.file_edits import FileEdit
from kbx_tui.importing.attendee_matching import AttendeeMatcher, AttendeeQuestion
from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportedPage,
    ImportProblem,
)
from kbx_tui.importing.imported_page_text import (
    page_bytes,
    page_stem,
    page_suffix,
    stored_id,
)
from kbx_tui.knowledge.entities.entity_pages import page_entity
from kbx_tui.knowledge.entities.entity_resolver import EntityResolver
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.parsing.reading import parse_document
from kbx_tui.knowledge.records import Attendee, Entity

ReadPage = Callable[[str], bytes | None]
"""Returns what a path of the base holds, None for no file."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import would write."""

    edits: tuple[FileEdit, ...]
    """New pages, in the order in which they were read."""
    present: int
    """Documents that the base has already: imported before, or people with a page."""
    differing: tuple[str, ...]
    """Paths that hold something else; those pages are kept."""
    questions: tuple[AttendeeQuestion, ...]
    """The questions that came up about attendees."""
    unknown: tuple[Attendee, ...]
    """Attendees without a page, who are kept by name."""
    attendees: int
    """Distinct attendees of the new pages."""
    problems: tuple[ImportProblem, ...]

    @property
    def diff(self) -> str:
        """The diffs of all files."""
        return "".join(file_diff(edit.path, edit.before, edit.after) for edit in self.edits)


class ImportPlanner:
    """Lays out imported documents in a base of which it reads only what it is given."""

    def __init__(
        self,
        prefix: str,
        imported_ids: Iterable[str],
        people: Sequence[Entity],
        read_page: ReadPage,
        *,
        create_people: bool,
    ) -> None:
        """`prefix` is `memory/` or nothing; ids and people are those that the base has."""
        self._prefix, self._read, self._create = prefix, read_page, create_people
        self._known_ids, self._people = set(imported_ids), EntityResolver(people)
        self._edits: dict[str, FileEdit] = {}
        self._present = 0
        self._differing: list[str] = []

    def plan(self, imported: Imported, matcher: AttendeeMatcher) -> ImportPlan:
        """Return what would be written."""
        names: dict[Attendee, None] = {}
        for document in imported.documents:
            if isinstance(document, ImportedPage):
                self._add_page(document)
            elif stored_id(document) in self._known_ids or self._has_page(document):
                self._present += 1
            else:
                who = (matcher.match(person, document.title) for person in document.attendees)
                document = replace(document, attendees=tuple(dict.fromkeys(who)))
                names |= dict.fromkeys(document.attendees)
                self._add(document)
        if self._create:
            self._create_people(matcher.unknown)
        return ImportPlan(
            edits=tuple(self._edits.values()),
            present=self._present,
            differing=tuple(self._differing),
            questions=tuple(matcher.questions),
            unknown=() if self._create else tuple(matcher.unknown),
            attendees=len(names),
            problems=imported.problems,
        )

    def _has_page(self, document: ImportedDocument) -> bool:
        """Return whether a document is a person who has a page."""
        email = str(document.fields.get("email", ""))
        who = Attendee(document.title, email)
        return document.kind == "person" and bool(self._people.by_attendee(who))

    def _add(self, document: ImportedDocument) -> None:
        self._known_ids.add(stored_id(document))
        data = page_bytes(document)
        for path in self._paths(document):
            if path not in self._edits and self._read(path) is None:
                self._edits[path] = FileEdit(path, None, data)
                return

    def _paths(self, document: ImportedDocument) -> Iterator[str]:
        """Yield the paths to try: the natural one, then numbered ones."""
        stem, suffix = page_stem(document), page_suffix(document)
        yield f"{self._prefix}{stem}{suffix}"
        for number in range(2, 100_000):
            yield f"{self._prefix}{stem}-{number}{suffix}"

    def _add_page(self, page: ImportedPage) -> None:
        path = f"{self._prefix}{page.path}"
        current = self._read(path)
        if current == page.data:
            self._present += 1
        elif current is not None or path in self._edits:
            self._differing.append(path)
        else:
            self._edits[path] = FileEdit(path, None, page.data)

    def _create_people(self, attendees: Sequence[Attendee]) -> None:
        """Add a page for each attendee with a full name; a bare address or first name gets none.

        Who is listed with an address in one document and without in another has one page.
        """
        named: set[str] = set()
        for attendee in sorted(attendees, key=lambda attendee: not attendee.email):
            key = name_key(attendee.name)
            is_again = not attendee.email and key in named
            if is_again or "@" in attendee.name or len(key.split()) < 2:
                continue
            named.add(key)
            email = {"email": attendee.email} if attendee.email else {}
            import_id = f"attendee:{attendee.email.lower() or slug(attendee.name)}"
            self._add(ImportedDocument(import_id, "person", attendee.name, fields=email))


def imported_people(imported: Imported, prefix: str) -> tuple[Entity, ...]:
    """Return the people among imported documents, so that attendees can be matched to them."""
    people = []
    for document in imported.documents:
        if isinstance(document, ImportedDocument) and document.kind == "person":
            path = f"{prefix}{page_stem(document)}.md"
            page = parse_document(path, page_bytes(document))
            people.append(page_entity(page, page.id))
    return tuple(people)
