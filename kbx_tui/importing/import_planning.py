"""Plans what an import writes: new pages only, nothing that a base has already. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import nsmallest
from itertools import count
from typing import Any

import yaml
from rapidfuzz import fuzz, process

from kbx_tui.drafting.planning import file_diff
from kbx_tui.editing.file_edits import FileEdit
from kbx_tui.editing.lossless_text import one_line
from kbx_tui.importing.imported_document import (
    Imported,
    ImportedDocument,
    ImportedPage,
    ImportProblem,
)
from kbx_tui.knowledge.entities import page_entity
from kbx_tui.knowledge.entity_names import EntityResolver
from kbx_tui.knowledge.fields import text_of
from kbx_tui.knowledge.folding import name_key, slug
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Attendee, Entity
from kbx_tui.safe_text import replace_surrogates

ReadPage = Callable[[str], bytes | None]
"""Returns what a path of the base holds, None for no file."""


@dataclass(frozen=True, slots=True)
class ImportPlan:
    edits: tuple[FileEdit, ...]
    present: int
    """Documents that the base has already: imported before, or people with a page."""
    differing: tuple[str, ...]
    """Paths that hold something else; those pages are kept."""
    questions: tuple[AttendeeQuestion, ...]
    unknown: tuple[Attendee, ...]
    """Attendees without a page, who are kept by name."""
    attendees: int
    """Distinct attendees of the new pages."""
    problems: tuple[ImportProblem, ...]

    @property
    def diff(self) -> str:
        return "".join(file_diff(edit.path, edit.before, edit.after) for edit in self.edits)


class ImportPlanner:
    """Plans the pages of imported documents; sees the base only through its arguments."""

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
        self._numbers: dict[tuple[str, str], Iterator[int]] = {}
        """The numbers not yet tried for the files of one name."""
        self._present = 0
        self._differing: list[str] = []

    def plan(self, imported: Imported, matcher: AttendeeMatcher) -> ImportPlan:
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
        email = str(document.fields.get("email", ""))
        who = Attendee(document.title, email)
        return document.kind == "person" and bool(self._people.by_attendee(who))

    def _add(self, document: ImportedDocument) -> None:
        self._known_ids.add(stored_id(document))
        data = page_bytes(document)
        stem, suffix = f"{self._prefix}{page_stem(document)}", page_suffix(document)
        numbers = self._numbers.setdefault((stem, suffix), count(1))
        paths = (f"{stem}-{number}{suffix}" if number > 1 else stem + suffix for number in numbers)
        path = next(path for path in paths if path not in self._edits and self._read(path) is None)
        self._edits[path] = FileEdit(path, None, data)

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
        """Add one page for each attendee with a full name, with the address if one is known."""
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


MOST_CANDIDATES = 9
MOST_COMPARED = 100_000_000
"""Pairs of names compared for similarity, by all attendees together."""

SIMILAR = 88.0
"""Similarity of two names, 0..100, from which one may be a misspelling of the other. Two letters
exchanged in a name of twelve give 91, two people of one family name at most 80."""


@dataclass(frozen=True, slots=True)
class AttendeeQuestion:
    attendee: Attendee
    candidates: tuple[Entity, ...]
    """The most likely first."""
    title: str
    """Title of the first document that names them."""


Answer = Callable[[AttendeeQuestion], Entity | None]
"""Returns who an attendee is; None keeps the name as it is written."""


def keep_as_written(_question: AttendeeQuestion) -> None:
    """Answer no question: the safe choice."""


class AttendeeMatcher:
    """Matches attendees to people; asks about each uncertain one once."""

    def __init__(self, people: Sequence[Entity], answer: Answer = keep_as_written) -> None:
        self._people, self._answer = people, answer
        self._resolver = EntityResolver(people)
        self._room = MOST_COMPARED
        self._by_word: dict[str, dict[int, None]] = defaultdict(dict)
        self._names: list[str] = []
        self._owners: list[int] = []
        for index, person in enumerate(people):
            names = [name_key(name) for name in (person.name, *person.aliases)]
            self._names += names
            self._owners += [index] * len(names)
            words = names[0].split()
            for word in words[:1] + words[-1:]:
                self._by_word[word][index] = None
        self._answers: dict[tuple[str, str], Entity | None] = {}
        self.questions: list[AttendeeQuestion] = []
        self.unknown: list[Attendee] = []
        """Attendees who are nobody here and resemble nobody, each once."""

    def match(self, attendee: Attendee, title: str) -> Attendee:
        """Return the attendee by the name of their page, or as they are written."""
        person = self._known(attendee)
        if person is None:
            key = (name_key(attendee.name), attendee.email.lower())
            if key not in self._answers:
                self._answers[key] = self._ask(attendee, title)
            person = self._answers[key]
        if person is None:
            return attendee
        return Attendee(person.name, attendee.email or next(iter(person.emails), ""))

    def _known(self, attendee: Attendee) -> Entity | None:
        indices = self._resolver.by_attendee(attendee)
        if not indices and (name := _name_in_address(attendee)):
            indices = self._resolver.by_attendee(Attendee(name))
        return self._people[indices[0]] if len(indices) == 1 else None

    def _ask(self, attendee: Attendee, title: str) -> Entity | None:
        candidates = self._candidates(attendee)
        if not candidates:
            self.unknown.append(attendee)
            return None
        question = AttendeeQuestion(attendee, candidates, title)
        self.questions.append(question)
        return self._answer(question)

    def _candidates(self, attendee: Attendee) -> tuple[Entity, ...]:
        """Return the people with the same name, the same first or last name, or a similar name."""
        if indices := self._resolver.by_attendee(attendee):
            return tuple(self._people[index] for index in indices[:MOST_CANDIDATES])
        key = name_key(_name_in_address(attendee) or attendee.name)
        scores = dict.fromkeys(self._by_word.get(key, ()), 99.0)
        if len(key) > 4 and self._room > 0:
            self._room -= len(self._names)
            similar = process.extract_iter(
                key, self._names, scorer=fuzz.ratio, score_cutoff=SIMILAR
            )
            for _, score, number in similar:
                owner = self._owners[number]
                scores[owner] = max(score, scores.get(owner, 0.0))
        best = nsmallest(
            MOST_CANDIDATES, scores, key=lambda index: (-scores[index], self._people[index].id)
        )
        return tuple(self._people[index] for index in best)


def _name_in_address(attendee: Attendee) -> str:
    """Return the name in `alice.chen@…` of an attendee who has no other name, else nothing."""
    if "@" not in attendee.name:
        return ""
    local = attendee.name.split("@")[0].split("+")[0]
    name = " ".join(part for part in local.replace("_", ".").replace("-", ".").split(".") if part)
    return name if " " in name else ""


ID_FIELD = "import_id"
"""The frontmatter field by which a page is known to be imported."""
MAX_NAME, MAX_NAME_BYTES = 80, 180
"""Characters and bytes (in UTF-8) of the longest name made from a title. File systems take 255
bytes, of which a date, a number, the suffix and the name of a temporary file need some."""


def page_stem(document: ImportedDocument) -> str:
    """Return the path of a page below `memory/`, without suffix."""
    stem = _short(document.stem or slug(document.title) or slug(document.import_id))
    if document.kind == "person":
        return f"people/{stem}"
    if document.kind == "meeting":
        return "/".join(filter(None, ("meetings", document.date.replace("-", "/"), stem)))
    folders = map(_short, document.folder.split("/"))
    is_dated = document.date and not document.stem
    name = f"{document.date}-{stem}" if is_dated else stem
    return "/".join(filter(None, ("notes", *folders, name)))


def page_suffix(document: ImportedDocument) -> str:
    """Return the suffix of a page's file name."""
    return ".transcript.md" if document.subtype == "transcript" else ".md"


def stored_id(document: ImportedDocument) -> str:
    """Return the id of a document as it reads when parsed from its page, on one line."""
    return text_of(replace_surrogates(document.import_id))


def page_bytes(document: ImportedDocument) -> bytes:
    """Return the page: frontmatter, a heading for entities, notes and events, and the text."""
    title = one_line(document.title)
    fields: dict[str, Any] = {}
    if document.kind == "meeting":
        fields["title"] = title
    if document.date:
        fields["date"] = document.date
    if document.subtype:
        fields["type"] = document.subtype
    fields |= {key: value for key, value in document.fields.items() if key not in fields}
    if document.attendees:
        fields["attendees"] = [
            {"name": who.name, "email": who.email} if who.email else who.name
            for who in document.attendees
        ]
    fields[ID_FIELD] = stored_id(document)
    head = "".join(_field(name, value) for name, value in fields.items())
    heading = "" if document.kind == "meeting" else f"# {title}\n"
    between = "\n" if heading and document.body else ""
    return replace_surrogates(f"---\n{head}---\n{heading}{between}{document.body}").encode()


def _short(name: str) -> str:
    return name[:MAX_NAME].encode()[:MAX_NAME_BYTES].decode(errors="ignore").strip("-")


def _field(name: str, value: Any) -> str:
    """Return one field of frontmatter as YAML; only the entries of a list share a line."""
    return yaml.safe_dump(
        {name: _plain(value)},
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=None if isinstance(value, list) else False,
        width=10_000,
    )


def _plain(value: Any) -> Any:
    """Return a value without lone surrogates, which YAML would escape and nobody could read."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    return value
