"""Finding entities, showing all facts about them, and proposing new ones."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING

from kbx_tui.api.session import Session
from kbx_tui.errors import ConfigError, OutOfRange
from kbx_tui.knowledge.dates import iso_date
from kbx_tui.knowledge.records import Entity, Fact
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.search import browse
from kbx_tui.search.browse import (
    TIMELINE_LIMIT,
    EntityCard,
    EntityName,
    StaleEntity,
    Timeline,
    card_as_of,
    name_of,
    timeline,
)
from kbx_tui.search.name_lookup import EntityFinder
from kbx_tui.search.query.typed_filters import DATE
from kbx_tui.search.request import MAX_QUERY
from kbx_tui.search.results.answer import cut_query_notes

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Written
    from kbx_tui.knowledge.topics import EntityProposal


class Entities:
    """The entities of one base: `kb.entities`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def card(self, entity_id: str, *, as_of: str = "") -> EntityCard:
        """Return everything known about an entity, or what was at a time.

        What is dated later, or not at all, is left out. Raises ConfigError and NotFound.
        """
        _require_time(as_of)
        index = self._session.fresh_index()
        return (
            card_as_of(index, entity_id, as_of) if as_of else browse.entity_card(index, entity_id)
        )

    def named(self, name: str) -> EntityCard:
        """Return everything known about an entity by its name. Raises the errors of `resolve`."""
        return self.card(self.resolve(name).id)

    def resolve(self, name: str, kind: str | None = None) -> Entity:
        """Return the entity with this name, alias or id. Raises UnknownEntity and Ambiguous."""
        entities: Sequence[Entity] = self._session.snapshot().entities
        if kind is not None:
            entities = tuple(entity for entity in entities if entity.type == kind)
        with self._session.naming_newer_files():
            found = EntityFinder(entities).find(replace_surrogates(name))
        self._session.read_paths.add(found.path)
        return found

    def find(self, text: str, limit: int = 20) -> tuple[EntityName, ...]:
        """Return entities with `text` in a name, best first.

        For an empty text, the entities with the most documents.
        """
        for note in cut_query_notes(text):
            self._session.notice_once(note)
        text = replace_surrogates(text[:MAX_QUERY])
        names = self._session.fresh_index().generation().entity_names
        return tuple(map(name_of, names.find(text, limit)))

    def stale(self, days: int) -> tuple[StaleEntity, ...]:
        """Return the entities of which nothing is dated within the last `days`.

        Those never mentioned come first, then those without a date, then the oldest.
        """
        self._session.ensure_indexed()
        before = date.today() - timedelta(min(days, date.today().toordinal() - 1))
        return browse.stale_entities(self._session.fresh_index(), before.isoformat())

    def facts(self, *, entity: str | None = None, since: str | None = None) -> tuple[Fact, ...]:
        """Return facts and open items of any status, newest first, undated ones last.

        `entity` restricts them to one entity, `since` to dates on or after it. Raises ConfigError,
        NotFound and Ambiguous.
        """
        self._session.ensure_indexed()
        entity_id = "" if entity is None else self.resolve(entity).id
        return browse.list_facts(self._session.fresh_index(), entity_id, require_iso_date(since))

    def timeline(
        self, entity: str, *, as_of: str | None = None, limit: int = TIMELINE_LIMIT
    ) -> Timeline:
        """Return facts, open items and linked documents of an entity, newest first.

        `as_of` shows them as of a day, month or year: what is dated later, or not at all, is left
        out. Raises ConfigError, OutOfRange for a limit below 1, NotFound and Ambiguous.
        """
        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        _require_time(as_of or "")
        self._session.ensure_indexed()
        found = self.resolve(entity.removeprefix("@")).id
        return timeline(self._session.fresh_index(), found, as_of or "", limit)

    def proposal(self, *, from_files: bool = False) -> EntityProposal:
        """Return what the entities of the base are and what more could be.

        Settings of `[entities]` in kbx.toml stay as they are. By default the index is read; with
        `from_files` the pages are, and nothing is written. Raises NotFound without an index,
        ConfigError and IndexFault.
        """
        from kbx_tui.api.file_writer import FileWriter
        from kbx_tui.index.build.entity_stage import parse_topics, read_topics
        from kbx_tui.settings_file import entity_keys

        session = self._session
        chosen = entity_keys(FileWriter(session).settings()) or ()
        if from_files:
            topics, known = parse_topics(session.root, session.settings)
        else:
            known = list(session.snapshot().entities)
            topics = read_topics(session.open_index().store)
        return topics.proposal(known, chosen)

    def offer(self) -> EntityProposal | None:
        """Return a proposal to show unasked, for an indexed base with few entities.

        None if nothing qualifies, or kbx.toml has a section `[entities]`. Raises as `proposal`.
        """
        from kbx_tui.api.file_writer import FileWriter
        from kbx_tui.knowledge.topics import are_few
        from kbx_tui.settings_file import entity_keys

        entities = len(self._session.snapshot().entities)
        notes = self._session.open_index().store.count("documents")
        chosen = entity_keys(FileWriter(self._session).settings())
        if chosen is not None or not are_few(entities, notes):
            return None
        proposal = self.proposal()
        return proposal if proposal.counts else None

    def use(self, proposal: EntityProposal, *, dry_run: bool = False) -> Written:
        """Write a proposal to `[entities]` in kbx.toml; the next index run uses it.

        Comments and order are kept. With `dry_run`, only the diff is made. `undo` reverts the
        write. Raises ConfigError, WriteFault and FileChanged.
        """
        from kbx_tui.api.file_writer import FileWriter

        return FileWriter(self._session).set_settings(
            "entities", proposal.settings, "set [entities] in", dry_run=dry_run
        )


def _require_time(as_of: str) -> None:
    if as_of and not DATE.fullmatch(as_of):
        raise ConfigError(f"{as_of!r} is not a date; write it as 2026-03-10, 2026-03 or 2026")


def require_iso_date(date: str | None) -> str:
    """Return an ISO date unchanged, an empty string for None. Raises ConfigError."""
    if date and iso_date(date) != date:
        raise ConfigError(f"{date!r} is not a date; write it as 2026-03-10")
    return date or ""
