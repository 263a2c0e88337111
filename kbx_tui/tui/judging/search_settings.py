"""The settings of a search that are compared and measured, and their way to kbx.toml."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbx_tui.errors import WriteFault
from kbx_tui.formatting import format_score
from kbx_tui.search.evidence.tuning import Tuning
from kbx_tui.tui.engine.client import EngineClient, KeyedStatus

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.drafting.records import Written
    from kbx_tui.editing.journal import JournalEntry


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """Knobs, and whether the search is by words only; nothing that holds for one query."""

    tuning: Tuning
    """Without muted and pinned entities."""
    is_fast: bool = False

    def words(self) -> str:
        """Return them in words: `two-pass, alpha .50, threshold .50`."""
        if self.is_fast:
            return "fast"
        if not self.tuning.hierarchy:
            return "flat"
        seed = ", ranking of the seed" if self.tuning.preset == "seed" else ""
        alpha, threshold = format_score(self.tuning.alpha), self.tuning.entity_threshold
        others = "".join(f", {words}" for words in self._other_knobs())
        return f"two-pass, alpha {alpha}, threshold {format_score(threshold)}{seed}{others}"

    def _other_knobs(self) -> Iterator[str]:
        """Yield the knobs that are seldom changed, where they differ from the usual."""
        usual = Tuning.seed() if self.tuning.preset == "seed" else Tuning()
        if self.tuning.max_entities != usual.max_entities:
            yield f"{self.tuning.max_entities} entities kept"
        if self.tuning.gate != usual.gate:
            yield f"{self.tuning.gate} gate"
        if self.tuning.parent != usual.parent:
            yield f"parent score {self.tuning.parent}"
        if self.tuning.hotness_weight != usual.hotness_weight:
            yield f"openings {format_score(self.tuning.hotness_weight)}"


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
        written = await self._client.run(lambda engine: engine.tuner.save(tuning, dry_run=True))
        if written.diff:
            show(written.diff)
        else:
            self._status.show_notice("nothing to save: kbx.toml says this already")

    async def _save(self, tuning: Tuning, diff: str) -> None:
        def write(engine: KnowledgeBase) -> tuple[Written, Tuning]:
            if engine.tuner.save(tuning, dry_run=True).diff != diff:
                raise WriteFault("kbx.toml has changed meanwhile; nothing was saved, try again")
            return engine.tuner.save(tuning), engine.tuning()

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
