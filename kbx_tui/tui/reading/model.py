"""What a person reads: documents, entity cards, and where their links lead.

Each thing asked for replaces the one before: an answer that comes late is dropped.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from textual.message import Message

from kbx_tui.errors import NotFound
from kbx_tui.safe_text import visible
from kbx_tui.tui.engine.engine_calls import EngineCalls
from kbx_tui.tui.engine.threads import EngineThread, Loop
from kbx_tui.tui.explore.view import Preview
from kbx_tui.tui.messages import CardReady, Noticed, PreviewGone, PreviewReady
from kbx_tui.tui.reading.reading_layout import lay_out

if TYPE_CHECKING:
    from kbx_tui.search.evidence.evidence import Evidence


class Reading:
    """Reads on the engine's thread, tells on the loop."""

    def __init__(
        self,
        loop: Loop,
        thread: EngineThread,
        calls: EngineCalls,
        post: Callable[[Message], object],
        evidence: Callable[[], Evidence | None],
    ) -> None:
        """`evidence` tells for which query the best place is wanted."""
        self._loop, self._thread, self._calls = loop, thread, calls
        self._post, self._evidence = post, evidence
        self._wanted = 0
        self._pending = False
        """Whether something was asked for and has not come."""
        self._width = 0
        """Cells of the pane a document is laid out for."""
        self._preview: Preview | None = None

    def document(self, path: str, width: int) -> None:
        """Read a document, laid out for a pane of `width` cells."""
        self._width = width
        self._submit(self._read, path, self._evidence())

    def note_opening(self, path: str) -> None:
        """Count that a person opened a document: what is opened often may rank higher."""
        self._thread.submit(self._calls.note_opening, path)

    def again(self, path: str) -> None:
        """Read a document that is shown once more, unless another was asked for meanwhile."""
        if not self._pending:
            self._submit(self._read, path, self._evidence())

    def card(self, entity_id: str) -> None:
        """Gather all that is known about an entity."""
        self._submit(self._gather, entity_id)

    def follow(self, target: str, source: str, width: int) -> None:
        """Open what a link in `source` leads to."""
        self._width = width
        self._submit(self._follow, target, source)

    def lay_out(self, width: int) -> None:
        """Lay the document out anew: its pane has another width now."""
        self._width = width
        if self._preview is not None and not self._pending:
            self._submit(self._lay_out, self._preview)

    def forget(self) -> None:
        """Nobody waits any more for what was asked for."""
        self._wanted += 1
        self._pending = False

    def _submit(self, task: Callable[..., None], *args: object) -> None:
        self._wanted += 1
        self._pending = True
        self._thread.submit(self._run, self._wanted, task, args)

    # On the engine's thread.

    def _run(self, wanted: int, task: Callable[..., None], args: tuple[object, ...]) -> None:
        if wanted != self._wanted:  # superseded while it waited for its turn
            return
        try:
            task(wanted, *args)
        except Exception:
            self._loop.call(self._failed, wanted)
            raise

    def _read(self, wanted: int, path: str, evidence: Evidence | None) -> None:
        try:
            preview = self._calls.preview(path, evidence)
        except NotFound as error:
            self._loop.call(self._tell, wanted, PreviewGone(visible(path), visible(str(error))))
            return
        self._lay_out(wanted, preview)

    def _lay_out(self, wanted: int, preview: Preview) -> None:
        self._preview = preview
        self._loop.call(self._tell, wanted, PreviewReady(lay_out(preview, self._width)))

    def _gather(self, wanted: int, entity_id: str) -> None:
        self._loop.call(self._tell, wanted, CardReady(self._calls.card(entity_id)))

    def _follow(self, wanted: int, target: str, source: str) -> None:
        found = self._calls.follow(target, source)
        if found is None:
            words = f"{visible(target)} leads to no page of this knowledge base"
            self._loop.call(self._tell, wanted, Noticed(words, instead=True))
        elif found.entity_id:
            self._gather(wanted, found.entity_id)
        else:
            self._read(wanted, found.path, self._evidence())

    # On the loop.

    def _tell(self, wanted: int, message: Message) -> None:
        if wanted == self._wanted:
            self._pending = False
            self._post(message)

    def _failed(self, wanted: int) -> None:
        if wanted == self._wanted:
            self._pending = False
