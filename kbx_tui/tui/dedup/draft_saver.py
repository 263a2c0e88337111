"""Stores drafts and kept duplicates in the base, after every change and at the end."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbx_tui.editing.state.drafts import Draft
from kbx_tui.tui.dedup.draft_store import DraftStore
from kbx_tui.tui.engine.client import EngineClient

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.checks import DraftCheck
    from kbx_tui.drafting.labels import LabelledScore


class DraftSaver:
    """Of drafts from a scan only the decision to keep both is saved: their text is in the base."""

    def __init__(self, client: EngineClient, store: DraftStore) -> None:
        self._client, self._store = client, store
        self.is_loaded = False
        """Whether the drafts of the base have been read."""
        self.stored = 0
        """The number of stored drafts when they were last counted."""
        self._unsaved: tuple[Draft, ...] | None = None
        self._kept: dict[str, bool] = {}
        """Whether the facts of a draft from a scan are kept, by its id."""
        self._unsaved_kept: deque[tuple[DraftCheck, bool]] = deque()

    @property
    def has_unsaved(self) -> bool:
        """Whether some drafts or decisions have not been saved yet."""
        return self._unsaved is not None or bool(self._unsaved_kept)

    async def count(self) -> None:
        """Count the drafts of the base."""
        self.stored = await self._client.run(lambda engine: len(engine.drafts()))

    async def load(self) -> tuple[Sequence[Draft], Sequence[LabelledScore]]:
        """Return the drafts and labels of the base."""
        loaded = await self._client.run(lambda engine: (engine.drafts(), engine.labelled()))
        self.is_loaded = True
        return loaded

    def save_soon(self) -> None:
        """Save the drafts when the engine is free."""
        self._unsaved = tuple(draft for draft in self._store.drafts if draft.stands_for is None)
        for draft in self._store.drafts:
            is_kept = draft.choice is not None and draft.choice.action == "skip"
            check = self._store.check(draft.id)
            if draft.stands_for is None or check is None:
                continue
            if is_kept != self._kept.get(draft.id, False):
                self._kept[draft.id] = is_kept
                self._unsaved_kept.append((check, is_kept))
        self._client.start(self._client.run(self.save))

    def save(self, engine: KnowledgeBase) -> None:
        """Save unsaved drafts; runs on the engine's thread, also as its last call."""
        drafts = self._unsaved
        if drafts is not None:
            engine.save_drafts(drafts)
            if self._unsaved is drafts:
                self._unsaved = None
        while self._unsaved_kept:
            check, is_kept = self._unsaved_kept[0]
            engine.keep_duplicates(check, kept=is_kept)
            self._unsaved_kept.popleft()
