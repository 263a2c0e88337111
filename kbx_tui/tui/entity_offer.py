"""Asks once whether tags, hubs and similar topics of a base without entities are to be entities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.engine.index_upkeep import IndexUpkeep
from kbx_tui.tui.engine.status import Status
from kbx_tui.tui.explore.search_state import UndoCall
from kbx_tui.tui.explore.view import BaseSummary

if TYPE_CHECKING:
    from kbx_tui.knowledge.entities.topics import EntityProposal


NAMES_SHOWN = 6
"""Names of each type in the question."""


class OfferHost(Status, Protocol):
    """The interface that the offer needs from the app."""

    @property
    def may_ask_for_entities(self) -> bool:
        """Whether the user has not answered for this base, and is doing nothing else."""
        ...

    def ask_for_entities(
        self, sentence: str, names: Sequence[str], answer: Callable[[bool], object]
    ) -> None:
        """Ask whether to use them as entities; `answer` receives whether the user says so.

        `names` are lines with the most frequent ones.
        """
        ...


class EntityOffer:
    """The question of `kbx init` for a base that is opened in the app."""

    def __init__(
        self,
        client: EngineClient,
        host: OfferHost,
        index_sync: IndexUpkeep,
        *,
        remember: Callable[[UndoCall], object],
    ) -> None:
        """`remember` receives what takes the change back."""
        self._client, self._host, self._index_sync = client, host, index_sync
        self._remember = remember
        self._is_decided = False

    async def consider(self, summary: BaseSummary) -> None:
        """Ask, if there is something to propose and the user is doing nothing else."""
        if self._is_decided or not summary.documents or summary.entities:
            return
        if not self._host.may_ask_for_entities:
            return
        proposal = await self._client.run(lambda engine: engine.entity_proposal())
        if proposal is None:
            self._is_decided = True
        elif self._host.may_ask_for_entities and not self._is_decided:
            self._is_decided = True
            self._host.ask_for_entities(
                proposal.sentence,
                proposal.lines(NAMES_SHOWN),
                lambda wanted: self._answer(proposal, wanted=wanted),
            )

    def _answer(self, proposal: EntityProposal, *, wanted: bool) -> None:
        if wanted:
            self._client.start(self._use(proposal))

    async def _use(self, proposal: EntityProposal) -> None:
        written = await self._client.run(lambda engine: engine.use_entities(proposal))
        if (number := written.entry) is not None:
            self._remember(lambda: self._client.start(self._undo(number)))
        self._index([written.path])
        self._host.show_notice(
            safe_line(f"{proposal.sentence}: written to kbx.toml; kbx undo takes it back")
        )

    async def _undo(self, number: int) -> None:
        undone = await self._client.run(lambda engine: engine.undo(number))
        self._index(change.path for change in undone.changes)
        self._host.show_notice("kbx.toml names no entities, as before")

    def _index(self, written: Iterable[str]) -> None:
        """Index again, without announcing the files written here as changed on disk."""
        self._index_sync.expect(written)
        self._index_sync.index()
