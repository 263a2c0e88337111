"""The calls to the engine that do I/O. They run on the engine's thread and return plain values."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kbx_tui.safe_text import visible
from kbx_tui.tui.engine.engine import Engine, OpenEngine
from kbx_tui.tui.explore.view import BaseSummary, CardView, Preview, ScopeView, SnippetView
from kbx_tui.tui.gc_pauses import freeze_loaded, loading

if TYPE_CHECKING:
    from kbx_tui.index.build.progress import Progress
    from kbx_tui.search.browsing.card import EntityName
    from kbx_tui.search.browsing.destination import Destination
    from kbx_tui.search.evidence.evidence import Evidence


class EngineCalls:
    """One engine, opened when it is first needed; for one thread at a time."""

    def __init__(self, open_engine: OpenEngine) -> None:
        self._open_engine = open_engine
        self._generation = -1
        self.engine: Engine | None = None
        """None until it has been opened."""

    def opened(self) -> Engine:
        """Return the engine; opening it may raise, and is tried again the next time."""
        if self.engine is None:
            self.engine = self._open_engine()
        return self.engine

    def warm(self) -> None:
        """Load what the first search needs."""
        with loading():
            self.opened().warm()

    def summary(self, *, searchable: bool) -> BaseSummary:
        """Return what is known without reading the index."""
        root = self.opened().root
        return BaseSummary(visible(root.name), str(root), searchable)

    def count(self) -> tuple[BaseSummary, bool]:
        """Return what the index holds, and whether that is all files as they are now."""
        status, root = self.opened().status(), self.opened().root
        complete = not status.stale and status.vector_share >= 1.0
        name = visible(root.name)
        return BaseSummary(name, str(root), True, status.documents, status.entities), complete

    def scope(self, path: str) -> ScopeView:
        """Return how much a path filter leaves."""
        return ScopeView(visible(path), *self.opened().count_scope(path))

    def retrieve(self, query: str, path: str, fast: bool, pinned: Sequence[str]) -> Evidence:
        """Return the evidence for `query` from the newest generation of the index."""
        evidence = self.opened().retrieve(query, path=path or None, fast=fast, pinned=pinned)
        from kbx_tui.tui.explore import presenting  # noqa: F401  # loaded here, not in a frame

        if evidence.generation != self._generation:
            self._generation = evidence.generation
            freeze_loaded()
        return evidence

    def snippets(self, evidence: Evidence, paths: Sequence[str]) -> dict[str, SnippetView]:
        """Return the best place for the query in each of these documents."""
        from kbx_tui.tui.explore.presenting import present_snippet

        rows = [evidence.paths.index(path) for path in paths if path in evidence.paths]
        found = self.opened().snippets(evidence, rows)
        return {
            evidence.paths[row]: present_snippet(one) for row, one in zip(rows, found, strict=True)
        }

    def preview(self, path: str, evidence: Evidence | None) -> Preview:
        """Return a document as its file is now, with its best place when there is a query."""
        from kbx_tui.tui.explore.presenting import present_document

        document = self.opened().document(path)
        if evidence is None:
            return present_document(document, None, lambda text: ())
        place = self.snippets(evidence, [path]).get(path)
        return present_document(document, place, lambda text: self._matches(evidence, text))

    def note_opening(self, path: str) -> None:
        """Count that a person opened a document."""
        self.opened().opened(path)

    def card(self, entity_id: str) -> CardView:
        """Return all that is known about an entity."""
        from kbx_tui.tui.explore.presenting import present_card

        return present_card(self.opened().entity(entity_id))

    def follow(self, target: str, source: str) -> Destination | None:
        """Return where a link leads, None when nowhere."""
        return self.opened().follow(target, source)

    def complete_path(self, text: str) -> tuple[str, ...]:
        """Return paths that continue what is typed, folders first."""
        return self.opened().complete_path(text)

    def find_entities(self, text: str) -> tuple[EntityName, ...]:
        """Return entities by a part of their name."""
        return self.opened().find_entities(text)

    def index(self, hear: Callable[[Progress], None], cancelled: Callable[[], bool]) -> None:
        """Bring the index up to date, with an engine of its own: this is another thread."""
        engine = self._open_engine()
        try:
            engine.index(hear, cancelled=cancelled, wait=False)
        finally:
            engine.close()

    def watch(self, changed: Callable[[frozenset[str]], None], stopped: threading.Event) -> None:
        """Tell which files change until `stopped`, with an engine of its own."""
        engine = self._open_engine()
        try:
            if engine.settings.app.watch:
                engine.watch(changed, stopped=stopped)
        finally:
            engine.close()

    def close(self) -> None:
        """Let go of the engine."""
        if self.engine is not None:
            self.engine.close()

    def _matches(self, evidence: Evidence, text: str) -> tuple[tuple[int, int], ...]:
        return self.opened().matches(evidence, text)
