"""Runs the search for the best knobs on the measuring thread, and stops it on request."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from kbx_tui.tui.engine.client import EngineClient, LatestOnly
from kbx_tui.tui.judging.evidence_keeper import EvidenceKeeper

if TYPE_CHECKING:
    from kbx_tui.evaluation.optimise import Advice
    from kbx_tui.search.evidence.tuning import Tuning


class _StoppedError(Exception):
    """The user stopped the search."""


class Optimiser:
    """The newest advice, and how far the search for it is."""

    def __init__(
        self, client: EngineClient, evidence: EvidenceKeeper, on_change: Callable[[], object]
    ) -> None:
        self._client, self._evidence, self._on_change = client, evidence, on_change
        self._running = LatestOnly(client)
        self._stopped = threading.Event()
        self.advice: Advice | None = None
        self.progress: tuple[int, int] | None = None
        """Number of coordinate searches done, and the total; None while none is running."""

    def start(self, tuning: Tuning) -> None:
        """Look for knobs that are better than `tuning`; stops an earlier search."""
        self.stop()
        self.progress = (0, 1)
        self._stopped = threading.Event()
        self._running.start(self._run(tuning, self._stopped))
        self._on_change()

    def stop(self) -> None:
        """Stop the search, if one is running, and drop its advice."""
        self._stopped.set()
        self._running.cancel()
        self.progress = self.advice = None
        self._on_change()

    async def _run(self, tuning: Tuning, stopped: threading.Event) -> None:
        def advise() -> Advice | None:
            from kbx_tui.evaluation import optimise

            kept = self._evidence.get(tuning.preset)
            return optimise.advise(kept, tuning, progress=tell) if kept else None

        def tell(done: int, total: int) -> None:
            if stopped.is_set():
                raise _StoppedError
            self._client.call_on_loop(self._show_progress, stopped, done, total)

        try:
            advice = await self._evidence.run(advise)
        except _StoppedError:
            return
        except Exception:
            self.stop()
            raise
        self.advice, self.progress = advice, None
        self._on_change()

    def _show_progress(self, stopped: threading.Event, done: int, total: int) -> None:
        if not stopped.is_set() and self.progress is not None:
            self.progress = done, total
            self._on_change()
