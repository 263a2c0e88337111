"""Saves the current settings to kbx.toml, after the user has seen the diff; undo takes it back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from kbx_tui.errors import WriteFault
from kbx_tui.tui.engine.client import EngineClient
from kbx_tui.tui.engine.status import KeyedStatus

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.plans import Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.search.evidence.tuning import Tuning


class SettingsSaver:
    """Writes `[search]` of kbx.toml."""

    def __init__(
        self,
        client: EngineClient,
        status: KeyedStatus,
        *,
        remember: Callable[[Callable[[], object]], object],
        on_saved: Callable[[Tuning], object],
        on_write: Callable[[Iterable[str]], object],
    ) -> None:
        """`remember` takes the call that undoes a save; `on_saved` what kbx.toml says now.

        `on_write` receives the files written here.
        """
        self._client, self._status = client, status
        self._remember, self._on_saved, self._on_write = remember, on_saved, on_write

    def propose(self, tuning: Tuning, show: Callable[[str], object]) -> None:
        """Pass the diff to `show`, if there is one."""
        self._client.start(self._propose(tuning, show))

    def save(self, tuning: Tuning, diff: str) -> None:
        """Write what the diff says. Refused if kbx.toml has changed since."""
        self._client.start(self._save(tuning, diff))

    async def _propose(self, tuning: Tuning, show: Callable[[str], object]) -> None:
        written = await self._client.run(lambda engine: engine.save_tuning(tuning, dry_run=True))
        if written.diff:
            show(written.diff)
        else:
            self._status.show_notice("nothing to save: kbx.toml says this already")

    async def _save(self, tuning: Tuning, diff: str) -> None:
        def write(engine: KnowledgeBase) -> tuple[Written, Tuning]:
            if engine.save_tuning(tuning, dry_run=True).diff != diff:
                raise WriteFault("kbx.toml has changed meanwhile; nothing was saved, try again")
            return engine.save_tuning(tuning), engine.tuning()

        written, saved = await self._client.run(write)
        self._on_write([written.path])
        number = written.entry
        if number is not None:
            self._remember(lambda: self._client.start(self._undo(number)))
        self._on_saved(saved)
        undo = self._status.key_of("undo")
        self._status.show_notice(f"saved to kbx.toml; {undo} undoes it")

    async def _undo(self, number: int) -> None:
        def undo(engine: KnowledgeBase) -> tuple[JournalEntry, Tuning]:
            return engine.undo(number), engine.tuning()

        undone, saved = await self._client.run(undo)
        self._on_write(change.path for change in undone.changes)
        self._on_saved(saved)
        self._status.show_notice("kbx.toml is as before again; the sliders stay as they are")
