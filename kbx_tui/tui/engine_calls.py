"""The calls to the engine that do I/O. They run on the engine's thread and return plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbx_tui.plain_text import visible, visible_lines
from kbx_tui.tui.engine import Engine, OpenEngine
from kbx_tui.tui.view import BaseSummary, Preview, SnippetView

if TYPE_CHECKING:
    from kbx_tui.index.progress import Progress
    from kbx_tui.search.evidence import Evidence


class EngineCalls:
    """One engine, opened when it is first needed; for one thread at a time."""

    def __init__(self, open_engine: OpenEngine) -> None:
        self._open_engine = open_engine
        self.engine: Engine | None = None
        """None until it has been opened."""

    def opened(self) -> Engine:
        """Return the engine; opening it may raise, and is tried again the next time."""
        if self.engine is None:
            self.engine = self._open_engine()
        return self.engine

    def summary(self, *, searchable: bool) -> BaseSummary:
        """Return what is known without reading the index."""
        return BaseSummary(visible(self.opened().root.name), searchable)

    def count(self) -> tuple[BaseSummary, bool]:
        """Return what the index holds, and whether that is all files as they are now."""
        status = self.opened().status()
        name = visible(self.opened().root.name)
        complete = not status.stale and status.vector_share >= 1.0
        return BaseSummary(name, True, status.documents, status.entities), complete

    def retrieve(self, query: str) -> Evidence:
        """Return the evidence for `query` from the newest generation of the index."""
        evidence = self.opened().retrieve(query)
        from kbx_tui.tui import arithmetic, presenting  # noqa: F401  # loaded here, not in a frame

        return evidence

    def snippets(self, evidence: Evidence, paths: Sequence[str]) -> dict[str, SnippetView]:
        """Return the best place for the query in each of these documents."""
        from kbx_tui.tui.presenting import present_snippet

        rows = [evidence.paths.index(path) for path in paths if path in evidence.paths]
        found = self.opened().snippets(evidence, rows)
        return {
            evidence.paths[row]: present_snippet(one) for row, one in zip(rows, found, strict=True)
        }

    def preview(self, path: str, evidence: Evidence | None) -> Preview:
        """Return a document as its file is now, with its best place when there is a query."""
        document = self.opened().document(path)
        place = None if evidence is None else self.snippets(evidence, [path]).get(path)
        start, end = (place.line_start, place.line_end) if place is not None else (0, 0)
        return Preview(
            path=visible(path),
            title=visible(document.title),
            date=visible(document.date),
            kind=visible(document.kind),
            lines=tuple(visible_lines(document.text)),
            line_start=start,
            line_end=end,
        )

    def index(self, hear: Callable[[Progress], None], cancelled: Callable[[], bool]) -> None:
        """Bring the index up to date, with an engine of its own: this is another thread."""
        engine = self._open_engine()
        try:
            engine.index(hear, cancelled=cancelled, wait=False)
        finally:
            engine.close()

    def close(self) -> None:
        """Let go of the engine."""
        if self.engine is not None:
            self.engine.close()
