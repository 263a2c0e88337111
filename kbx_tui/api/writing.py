"""Writing: facts and open items, each checked before, undoable and indexed at once."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kbx_tui.api.opened import well_formed
from kbx_tui.api.paging import Paging
from kbx_tui.errors import Ambiguous, ConfigError, FileChanged, NotFound
from kbx_tui.knowledge.records import FactKind

if TYPE_CHECKING:
    from kbx_tui.drafting.written import Written
    from kbx_tui.editing.page_edits import PageEdit
    from kbx_tui.knowledge.records import Entity, Fact
    from kbx_tui.similarity.matches import SimilarityMatch

GONE_AMONG = 200
"""Writes, newest first, in which it is looked up what became of an id."""


class Writing(Paging):
    """Small edits of markdown files. All else in a file stays, byte by byte."""

    def memory_add(
        self,
        text: str | None = None,
        *,
        entity: str,
        title: str | None = None,
        kind: FactKind = "fact",
        date: str | None = None,
        source: str | None = None,
        force: bool = False,
        dry_run: bool = False,
        create: bool = False,
    ) -> Written:
        """Write a fact, or open item, onto the page of an entity, unless it is known.

        With something that says the same, or the contrary, nothing is written and `matches` tells
        what it is; `force` writes all the same. A fact without a date gets today's. `create` makes
        the page where there is none; a name nobody knows becomes a person. `title` is another name
        for `text`. Raises ConfigError (empty text), NotFound (entity, or no page), Ambiguous,
        WriteFault, EmbeddingError and IndexForeign.
        """
        from kbx_tui.drafting.written import Written
        from kbx_tui.editing.fact_edits import AddFact
        from kbx_tui.similarity.scoring.pair_score import require_text

        told = require_text(well_formed(text or title or ""))
        page = self._page_for(well_formed(entity), create=create)
        added = AddFact(page.id, kind, told, self._date(date, kind), well_formed(source or ""))
        before, begun = self._begun_page(page)  # read first: what is checked is no older
        matches = self._known_already(told, page)
        answer = partial(Written, matches=matches)
        if matches and not (force or dry_run):
            return answer(written=False, path=page.path, diff="")
        try:
            return self._write(
                page.path, [added], f"memory add {page.name}", dry_run=dry_run, before=before,
                begun=begun, force=force, answer=answer,
            )  # fmt: skip
        except FileChanged:  # perhaps by somebody who said the same
            matches = self._known_already(told, page)
            if not matches:
                raise
            return Written(written=False, path=page.path, diff="", matches=matches)

    def edit_fact(self, fact_id: int, text: str, *, date: str | None = None) -> int:
        """Word a fact anew and return its new id; date, notes and place stay.

        Raises NotFound for an id that no fact has, WriteFault, FileChanged.
        """
        return self.reword_fact(fact_id, text, date=date).fact_id or fact_id

    def reword_fact(
        self, fact_id: int, text: str, *, date: str | None = None, dry_run: bool = False
    ) -> Written:
        """Do as `edit_fact`, and tell all about it."""
        from kbx_tui.editing.fact_edits import ChangeFact, meant

        fact = self._fact(fact_id)
        edit = ChangeFact(
            fact.entity_id, fact_id, well_formed(text), well_formed(date or ""), meant(fact)
        )
        return self._write(fact.path, [edit], f"memory edit-fact {fact_id}", dry_run=dry_run)

    def delete_fact(self, fact_id: int, *, dry_run: bool = False) -> Written:
        """Take the line of a fact out of its file. Raises as `edit_fact`."""
        from kbx_tui.editing.fact_edits import DropFact, meant

        fact = self._fact(fact_id)
        edit = DropFact(fact.entity_id, fact_id, meant(fact))
        return self._write(fact.path, [edit], f"memory delete-fact {fact_id}", dry_run=dry_run)

    def supersede_fact(
        self,
        fact_id: int,
        *,
        text: str | None = None,
        date: str | None = None,
        source: str | None = None,
        dry_run: bool = False,
    ) -> Written:
        """Strike a fact out; with a text, write what holds instead. Raises as `edit_fact`."""
        from kbx_tui.editing.fact_edits import AddFact, StrikeFact, meant

        fact = self._fact(fact_id)
        edits: list[PageEdit] = [StrikeFact(fact.entity_id, fact_id, meant(fact))]
        if text:
            when, whence = self._date(date, fact.kind), well_formed(source or "")
            edits.append(AddFact(fact.entity_id, fact.kind, well_formed(text), when, whence))
        return self._write(fact.path, edits, f"memory supersede {fact_id}", dry_run=dry_run)

    def facts(self, *, entity: str | None = None, since: str | None = None) -> tuple[Fact, ...]:
        """Return facts and open items, whatever their status, newest first, undated ones last.

        Of one entity, or of all; from a date on. Raises ConfigError, NotFound and Ambiguous.
        """
        from kbx_tui.search.browsing.known_facts import list_facts

        self._ready_index()
        owner = self._find_entity(entity).id if entity is not None else ""
        return list_facts(self._open_index(), owner, self._date(since, "open_item"))

    def _page_for(self, name: str, *, create: bool) -> Entity:
        """Return the entity to write about; its path may be that of a page still to be made."""
        from dataclasses import replace

        from kbx_tui.editing.page_edits import page_path
        from kbx_tui.knowledge.records import Entity

        self._ready_index()
        try:
            known = self._find_entity(name)
        except Ambiguous:
            raise
        except NotFound as error:
            if not create:
                raise NotFound(f"{error}; --create makes a page for a new person") from error
            path = page_path("person", name, self._prefix())
            self._refuse_existing(path, name)
            return Entity(f"person:{Path(path).stem}", name, "person", path)
        if known.path:
            return known
        if not create:
            raise NotFound(f"{known.name} has no page yet; --create makes one")
        return replace(known, path=page_path(known.type, known.name, self._prefix()))

    def _begun_page(self, page: Entity) -> tuple[bytes | None, bytes | None]:
        """Return what the file of an entity holds, or what a page to be made begins with."""
        from kbx_tui.editing.file_edits import read_file
        from kbx_tui.editing.page_edits import new_page

        before = read_file(self.root, page.path)
        return before, (new_page(page.type, page.name, {}) if before is None else None)

    def _known_already(self, text: str, page: Entity) -> tuple[SimilarityMatch, ...]:
        from kbx_tui.drafting.strip_subject import without_subject
        from kbx_tui.knowledge.facts.fact_line import read_fact_line

        self._take_in([page.path])
        entities = {one.id: one for one in self._open_index().loaded().snapshot.entities}
        if page.id not in entities:
            return ()
        told = read_fact_line(text).text or text
        wordings = dict.fromkeys((without_subject(told, entities[page.id]), told))
        best: dict[Any, SimilarityMatch] = {}
        for check in self.check_similar(list(wordings), entity=page.id):
            for match in check.matches:
                key = (match.fact_id, match.source_path, match.line)
                if key not in best or match.score > best[key].score:
                    best[key] = match
        return tuple(sorted(best.values(), key=lambda one: (-one.score, bool(one.conflicts))))

    def _fact(self, fact_id: int) -> Fact:
        """Return a fact by id, looking once more at the files when the index does not know it."""
        from kbx_tui.search.browsing.known_facts import facts_by_id

        self._ready_index()
        if not 0 < fact_id < 2**53:
            raise NotFound(f"no fact has the id {fact_id}; `kbx memory list` shows them")
        for _ in range(2):
            found = facts_by_id(self._open_index(), [fact_id])
            if fact_id in found:
                return found[fact_id]
            self.index(fast=True)
            self.refresh()
        raise NotFound(self._gone(fact_id))

    def _gone(self, fact_id: int) -> str:
        """Return why no fact has an id: by what the journal tells of it, or nobody knows."""
        told = {
            f"memory delete-fact {fact_id}": "was taken out of",
            f"memory edit-fact {fact_id}": "was worded anew in",
        }
        for entry in self.undoable(GONE_AMONG):
            if entry.told in told and not entry.undone:
                path, day = entry.changes[0].path, entry.at[:10]
                return (
                    f"fact {fact_id} {told[entry.told]} {path} on {day}; "
                    "`kbx memory list` shows the ids there are, `kbx undo --list` the writes"
                )
        return f"no fact has the id {fact_id}; `kbx memory list` shows them"

    @staticmethod
    def _date(date: str | None, kind: FactKind) -> str:
        from kbx_tui.knowledge.parsing.dates import iso_date

        if date and iso_date(date) != date:
            raise ConfigError(f"{date!r} is no date; give it as 2026-03-10")
        return date or (time.strftime("%Y-%m-%d") if kind == "fact" else "")
