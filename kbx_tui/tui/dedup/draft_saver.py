"""Stores drafts in the base: loads them once, saves them after every change and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbx_tui.editing.state.drafts import Draft
from kbx_tui.tui.engine.client import EngineClient

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.labels import LabelledScore


class DraftSaver:
    """Drafts from a scan are not saved: the base holds their text already."""

    def __init__(self, client: EngineClient) -> None:
        self._client = client
        self.is_loaded = False
        """Whether the drafts of the base have been read."""
        self.stored = 0
        """The number of stored drafts when they were last counted."""
        self._unsaved: tuple[Draft, ...] | None = None

    @property
    def has_unsaved(self) -> bool:
        """Whether some drafts have not been saved yet."""
        return self._unsaved is not None

    async def count(self) -> None:
        """Count the drafts of the base."""
        self.stored = await self._client.run(lambda engine: len(engine.drafts()))

    async def load(self) -> tuple[Sequence[Draft], Sequence[LabelledScore]]:
        """Return the drafts and labels of the base."""
        loaded = await self._client.run(lambda engine: (engine.drafts(), engine.labelled()))
        self.is_loaded = True
        return loaded

    def save_soon(self, drafts: Sequence[Draft]) -> None:
        """Save these drafts when the engine is free."""
        self._unsaved = tuple(draft for draft in drafts if draft.stands_for is None)
        self._client.start(self._client.run(self.save))

    def save(self, engine: KnowledgeBase) -> None:
        """Save unsaved drafts; runs on the engine's thread, also as its last call."""
        drafts = self._unsaved
        if drafts is not None:
            engine.save_drafts(drafts)
            if self._unsaved is drafts:
                self._unsaved = None
