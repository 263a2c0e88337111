"""One question to the engine: asked on its thread, answered on the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from kbx_tui.tui.engine.engine import Engine
from kbx_tui.tui.engine.engine_calls import EngineCalls
from kbx_tui.tui.engine.threads import EngineThread, Loop

T = TypeVar("T")


class EngineAnswers:
    """Asks in turn; what is raised is reported by the thread."""

    def __init__(self, loop: Loop, thread: EngineThread, calls: EngineCalls) -> None:
        self._loop, self._thread, self._calls = loop, thread, calls

    @property
    def engine(self) -> Engine | None:
        """The engine, for what is pure; None until it is open."""
        return self._calls.engine

    def opened(self) -> Engine:
        """Return the engine; on its thread."""
        return self._calls.opened()

    def tell(self, callback: Callable[..., object], *args: object) -> None:
        """Call back on the event loop."""
        self._loop.call(callback, *args)

    def ask(
        self,
        call: Callable[[Engine], T],
        then: Callable[[T], object],
        *,
        due: Callable[[], bool] = lambda: True,
        failed: Callable[[], object] = lambda: None,
    ) -> None:
        """Let the engine answer; `then` hears it on the loop, unless it is not due any more."""

        def answer() -> None:
            if not due():
                return
            try:
                found = call(self._calls.opened())
            except Exception:
                self._loop.call(failed)
                raise
            self._loop.call(lambda: then(found) if due() else None)

        self._thread.submit(answer)
