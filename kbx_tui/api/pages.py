"""Pages of entities: creating them, setting their fields and editing their facts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from kbx_tui.api.documents import Documents
from kbx_tui.api.entities import Entities, require_iso_date
from kbx_tui.api.file_writer import FileWriter
from kbx_tui.api.links import Links
from kbx_tui.api.session import Session
from kbx_tui.api.similarity import Similarity
from kbx_tui.drafting.checking import check_with_entity
from kbx_tui.drafting.deciding import known_matches
from kbx_tui.drafting.drafts import Draft, Written, fact_kind, new_draft
from kbx_tui.editing.fact_edits import AddFact, ChangeFact, DeleteFact, StrikeFact
from kbx_tui.editing.file_edits import FileEdit
from kbx_tui.editing.journal import read_file
from kbx_tui.editing.page_edits import (
    NameCorrection,
    PageEdit,
    SetFields,
    Value,
    field_value,
    new_page,
    page_path,
    shown_value,
)
from kbx_tui.editing.page_merge import merge_pages
from kbx_tui.errors import ConfigError, FileChanged, NotFound, UnknownEntity, WriteFault
from kbx_tui.formatting import format_count, format_score
from kbx_tui.knowledge.decoding import decode
from kbx_tui.knowledge.facts import ID_LIMIT
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.records import Entity, Fact, FactKind
from kbx_tui.knowledge.vault import walked_folder
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search.browse import facts_by_id
from kbx_tui.similarity.pair_score import SimilarityMatch, require_text, too_long_for_a_fact

GONE_LIMIT = 200
"""Journal entries searched, newest first, for what happened to an id."""


class Pages:
    """Writes the pages of entities of one base; `kb.pages`. All other bytes of a file stay.

    Each write is one journal entry, and indexed before the method returns.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._files = session, FileWriter(session)
        self._entities, self._similarity = Entities(session), Similarity(session)

    def create(
        self,
        name: str,
        kind: str = "person",
        fields: Mapping[str, Value] | None = None,
        *,
        dry_run: bool = False,
    ) -> Written:
        """Create the page of a person, project or team, with `fields` as frontmatter.

        Raises WriteFault if the page exists, the name has no letter, or a name or value would be
        read back as something else.
        """
        name = replace_surrogates(name).strip()
        path = self._free_path(kind, name)
        edits = [FileEdit(path, None, new_page(kind, name, fields or {}))]
        return self._files.write_pages(path, edits, f"{kind} create {name}", dry_run=dry_run)

    def edit(
        self,
        entity: str,
        fields: Mapping[str, Value],
        *,
        kind: str | None = None,
        dry_run: bool = False,
    ) -> Written:
        """Set frontmatter fields of an entity's page; None removes a field.

        `entity` is its name, an alias or its id, `kind` the type it must have. `hints` list fields
        whose old value was similar. Raises NotFound, Ambiguous, WriteFault, FileChanged and
        EmbeddingError.
        """
        self._session.ensure_indexed()
        found = self._entities.resolve(entity, kind)
        if not found.path:
            raise NotFound(f"{found.name} has no page yet; `kbx {found.type} create` creates one")
        before = self._files.read(found.path)
        frontmatter = parse_document(found.path, before).frontmatter
        old = {key: shown_value(field_value(frontmatter, key)) for key in fields}
        changed = {key: value for key, value in fields.items() if shown_value(value) != old[key]}
        if not changed:
            return Written(False, found.path, "", hints=("nothing to change",))
        edit = SetFields(tuple(changed.items()), tuple((key, old[key]) for key in changed))
        hints = self._field_hints(found, changed)
        description = f"{found.type} edit {found.name}"
        written = self._files.edit_page(
            found.path, [edit], description, dry_run=dry_run, before=before
        )
        return replace(written, hints=hints)

    def merge(self, kept: str, other: str, *, dry_run: bool = False) -> Written:
        """Put what the page of `other` says into that of `kept`, of the same person, and remove it.

        Its names become aliases, and links follow. `hints` say which of its fields are left out.
        Raises NotFound, Ambiguous, ConfigError if both are one page, and WriteFault where that
        cannot be done exactly: for pages with redacted parts, and links in other forms.
        """
        self._session.ensure_indexed()
        one, two = (self._entities.resolve(name, "person") for name in (kept, other))
        for found in (one, two):
            if not found.path:
                raise NotFound(f"{found.name} has no page, so there is nothing to merge")
            if (self._session.root / found.path).is_symlink():
                raise WriteFault(f"{found.path} is a symbolic link: merge the page it leads to")
        if one.path == two.path:
            raise ConfigError(f"both names mean {one.name}, {one.path}")
        self._session.index(fast=True)  # the links of all pages have to be known
        documents = Documents.of(self._session)
        shown = [documents.public_page(found.path) for found in (one, two)]
        if any(each is None or each.is_marked for each in shown):
            raise WriteFault(
                f"{one.path} or {two.path} has redacted parts, whose marks might not hold in the "
                "other page: merge them in an editor"
            )
        before, gone = self._files.read(one.path), self._files.read(two.path)
        data, left_out = merge_pages(one, before, two, gone)
        links, names = Links(self._session), (two.name, *two.aliases)
        links.require_same(
            *(
                parse_document(found.path, page)
                for found, page in ((two, gone), (one, before), (one, data))
            )
        )
        links.require_own_names(two, one)
        follow = partial(links.redirected, old=two.path, new=one, aliases=names)
        edits = [FileEdit(one.path, before, follow(one.path, data))]
        for source in links.sources(two.path):
            if source not in (one.path, two.path):
                text = self._files.read(source)
                edits.append(FileEdit(source, text, follow(source, text)))
        edits.append(FileEdit(two.path, gone, None))
        edits = [edit for edit in edits if edit.after != edit.before]
        description = f"person merge {two.name} into {one.name}"
        hints = (*left_out, *self._names_of(two.path))
        return self._files.write_pages(one.path, edits, description, hints, dry_run=dry_run)

    def correct_name(self, wrong: str, right: str, *, dry_run: bool = False) -> Written:
        """Write a misheard name rightly, wherever it stands as whole words.

        Links keep leading where they lead. `hints` say how much is corrected, and what is left:
        names in targets of links, code and addresses, and pages that cannot be corrected.
        Raises ConfigError for a text that is not a name, NotFound where no page has it, and
        WriteFault where it is in the name of an entity's page.
        """
        session = self._session
        session.ensure_indexed()
        session.index(fast=True)  # the links of all pages have to be known
        names = replace_surrogates(wrong), replace_surrogates(right)
        correction = NameCorrection(*names, session.conventions())
        for entity in session.snapshot().entities:
            if entity.path and correction.count(entity.name):
                raise WriteFault(
                    f"{correction.wrong!r} is in the name of {entity.path}: give a longer part of "
                    "the wrong name, or merge that page into one with the right name (`kbx person "
                    "create`, then `kbx person merge`), and correct the text after that"
                )
        links, places, kept = Links(session), 0, 0
        edits, hints = list[FileEdit](), list[str]()
        for path in session.snapshot().paths:
            before = self._files.read(path)
            if not (found := correction.count(decode(before)[0])):
                continue
            try:
                if (session.root / path).is_symlink():
                    raise WriteFault(f"{path} is a symbolic link")
                after = correction.apply(path, before)
                links.require_kept(path, before, after)
            except WriteFault as error:
                hints.append(f"left as it is: {error}")
                continue
            left = correction.count(decode(after)[0])
            places, kept = places + found - left, kept + left
            edits += [FileEdit(path, before, after)] if after != before else []
        if kept:
            hints.append(f"{format_count(kept, 'place')} in links, code, addresses or aliases kept")
        if not edits:
            reason = "; ".join(hints) or "`kbx search` finds similar names"
            raise NotFound(f"no page has {correction.wrong!r} to correct: {reason}")
        hints.append(f"{format_count(places, 'place')} in {format_count(len(edits), 'page')}")
        description = f"correct {correction.wrong} to {correction.right}"
        return self._files.write_pages(edits[0].path, edits, description, hints, dry_run=dry_run)

    def _names_of(self, path: str) -> Iterator[str]:
        """Yield sentences on judgments and settings that name a page, and go on naming it."""
        from kbx_tui.evaluation.judgments import JudgmentLog  # imported late: only this needs it

        log = JudgmentLog(self._session.root, self._session.notice_once)
        if number := sum(judgment.path == path for judgment in log.read()):
            yield f"{format_count(number, 'judgment')} of {path} will go on naming it"
        if path in self._session.settings.search.muted_documents:
            yield f"kbx.toml still mutes {path}"

    def add_fact(
        self,
        text: str,
        *,
        entity: str,
        kind: FactKind = "fact",
        date: str | None = None,
        source: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        create: bool = False,
    ) -> Written:
        """Add a fact, as `KnowledgeBase.memory_add` says."""
        text, kind = _require_fact(text), fact_kind(kind)
        page = self._page_of(replace_surrogates(entity), create=create)
        edit = _added_fact(page.id, kind, text, date, source)
        before = read_file(self._session.root, page.path)  # read first: the check is no older
        template = new_page(page.type, page.name, {}) if before is None else None
        draft, nothing = new_draft(text, kind=kind), Written(False, page.path, "")
        matches = self._known(draft, page.id, page.path)
        if matches and not (force or dry_run):
            return replace(nothing, matches=matches)
        try:
            written = self._files.edit_page(
                page.path,
                [edit],
                f"memory add {page.name}",
                dry_run=dry_run,
                before=before,
                template=template,
                force=force,
            )
        except FileChanged:  # perhaps by another process that added the same
            matches = self._known(draft, page.id, page.path)
            if not matches:
                raise
            written = nothing
        return replace(written, matches=matches)

    def reword_fact(
        self,
        fact_id: int,
        text: str,
        *,
        date: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Written:
        """Reword a fact, unless the page says the same or the contrary elsewhere.

        Date, notes and position stay. What is known already is not written and listed in `matches`,
        as in `memory_add`; `force` writes anyway. Raises as `KnowledgeBase.edit_fact` and
        `memory_add`.
        """
        fact = self.fact(fact_id)
        text, date = _require_fact(text), replace_surrogates(date or "")
        edits = [ChangeFact(fact, text, date)]
        return self._change(fact, "edit-fact", edits, text, force=force, dry_run=dry_run)

    def delete_fact(self, fact_id: int, *, dry_run: bool = False) -> Written:
        """Delete the line of a fact. Raises as `KnowledgeBase.edit_fact`."""
        fact = self.fact(fact_id)
        return self._change(fact, "delete-fact", [DeleteFact(fact)], dry_run=dry_run)

    def supersede_fact(
        self,
        fact_id: int,
        *,
        text: str | None = None,
        date: str | None = None,
        source: str | None = None,
        force: bool = False,
        dry_run: bool = False,
    ) -> Written:
        """Strike out a fact as of `date` or today; with `text`, add the fact that replaces it.

        If the page says that, or the contrary, elsewhere, nothing is written, as in `reword_fact`.
        Raises as `KnowledgeBase.edit_fact`.
        """
        fact = self.fact(fact_id)
        day = require_iso_date(date) or time.strftime("%Y-%m-%d")
        if date and day < fact.date:
            raise ConfigError(
                f"the fact is dated {fact.date}, so it cannot be superseded on {date}; give a day "
                "from then on"
            )
        edits: list[PageEdit] = [StrikeFact(fact, day)]
        if text:
            text = _require_fact(text)
            edits.append(_added_fact(fact.entity_id, fact.kind, text, date, source))
        return self._change(fact, "supersede", edits, text, force=force, dry_run=dry_run)

    def _change(
        self,
        fact: Fact,
        command: str,
        edits: Sequence[PageEdit],
        text: str | None = None,
        *,
        force: bool = False,
        dry_run: bool,
    ) -> Written:
        """Write `edits` of a fact, unless its new `text`, if any, is known elsewhere."""
        matches: tuple[SimilarityMatch, ...] = ()
        if text:  # not compared with the fact itself
            draft = new_draft(text, kind=fact.kind, stands_for=fact.fact_id)
            matches = self._known(draft, fact.entity_id, fact.path)
            if matches and not (force or dry_run):
                return Written(False, fact.path, "", matches=matches)
        description = f"memory {command} {fact.fact_id}"
        written = self._files.edit_page(fact.path, edits, description, dry_run=dry_run)
        return replace(written, matches=matches)

    def _page_of(self, name: str, *, create: bool) -> Entity:
        """Return the entity to write about; with `create`, its page may not exist yet."""
        self._session.ensure_indexed()
        try:
            entity = self._entities.resolve(name)
        except UnknownEntity as error:
            if not create:
                raise UnknownEntity(f"{error}; --create makes a page for a new person") from error
            path = self._free_path("person", name)
            return Entity(f"person:{Path(path).stem}", name, "person", path)
        if entity.path:
            return entity
        if not create:
            raise NotFound(f"{entity.name} has no page yet; --create makes one")
        return replace(entity, path=self._new_path(entity.type, entity.name))

    def _new_path(self, kind: str, name: str) -> str:
        root = self._session.root
        return page_path(kind, name, "" if walked_folder(root) == root else "memory/")

    def _free_path(self, kind: str, name: str) -> str:
        """Return the path for a new page. Raises WriteFault if that file exists."""
        path = self._new_path(kind, name)
        if read_file(self._session.root, path) is not None:
            raise WriteFault(f"{name} has a page already: {path}")
        return path

    def _known(self, draft: Draft, entity_id: str, path: str) -> tuple[SimilarityMatch, ...]:
        """Return the matches because of which a fact is not new to an entity's page, best first."""
        self._files.index_edited([path])
        entity = self._session.open_index().generation().entities.get(entity_id)
        if entity is None:
            return ()
        draft = replace(draft, entity_id=entity.id, is_guessed=False)
        check = check_with_entity(draft, entity, self._similarity.engine())
        return tuple(match.known for match in known_matches(check))

    def _field_hints(self, entity: Entity, fields: Mapping[str, Value]) -> tuple[str, ...]:
        hints = []
        for key, value in fields.items():
            if isinstance(value, str) and value.strip():
                check = self._similarity.field(entity.id, key, value)
                if check.is_similar:
                    current = f"{check.current_value!r} ({format_score(check.similarity)})"
                    hints.append(f"{key} already has a similar value: {current}")
        return tuple(hints)

    def fact(self, fact_id: int) -> Fact:
        """Return a fact by its id; if it is unknown, index the files first. Raises NotFound."""
        self._session.ensure_indexed()
        if not 0 < fact_id < ID_LIMIT:
            raise no_fact(fact_id)
        index = self._session.fresh_index()
        for _ in range(2):
            facts = facts_by_id(index, [fact_id])
            if fact_id in facts:
                self._session.read_paths.add(facts[fact_id].path)
                return facts[fact_id]
            self._session.index(fast=True)
            self._session.refresh()
        raise self._gone(fact_id)

    def _gone(self, fact_id: int) -> NotFound:
        verbs = {
            f"memory delete-fact {fact_id}": "was deleted from",
            f"memory edit-fact {fact_id}": "was reworded in",
        }
        history = () if self._session.is_public else self._files.history(GONE_LIMIT)
        for entry in history:  # an id says which text was redacted to whoever can guess it
            if entry.description in verbs and not entry.undone:
                path, day = entry.changes[0].path, entry.written_at[:10]
                return NotFound(
                    f"fact {fact_id} {verbs[entry.description]} {path} on {day}; "
                    "`kbx memory list` shows current ids, `kbx undo --list` the writes"
                )
        return no_fact(fact_id)


def _require_fact(text: str) -> str:
    """Return a text that may be a fact. Raises ConfigError for a blank or too long one."""
    text = require_text(replace_surrogates(text))
    if problem := too_long_for_a_fact(text):
        raise ConfigError(problem)
    return text


def no_fact(fact_id: int) -> NotFound:
    return NotFound(f"no fact has the id {fact_id}; `kbx memory list` shows them")


def _added_fact(
    entity_id: str, kind: FactKind, text: str, date: str | None, source: str | None
) -> AddFact:
    """Return the edit that adds a fact, without a date as of today. Raises ConfigError."""
    today = time.strftime("%Y-%m-%d") if kind == "fact" else ""
    date = require_iso_date(date) or today
    return AddFact(entity_id, kind, text, date, replace_surrogates(source or ""))
