"""KnowledgeBase: the one door to everything, for the app, the command line and programs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from kbx_tui.config import Settings, knowledge_base_from_environment, load_settings
from kbx_tui.errors import NotFound, OutOfRange
from kbx_tui.index.progress import Cancelled, IndexReport, ProgressListener
from kbx_tui.index.store import Store, index_uri
from kbx_tui.knowledge.vault import find_root
from kbx_tui.search.alpha import alpha_note
from kbx_tui.search.evidence import Evidence
from kbx_tui.search.explain import Explanation, explain
from kbx_tui.search.ranking import Ranked, Ranking, rank
from kbx_tui.search.response import SearchResponse, Snippet
from kbx_tui.search.tuning import Tuning

if TYPE_CHECKING:
    from kbx_tui.embedding.embedder import Embedder
    from kbx_tui.index.status import Status
    from kbx_tui.search.retrieve import Retriever

Notice = Callable[[str], None]

REFRESH_SECONDS = 0.2
"""A search looks whether the index changed unless that was done so lately: it takes 2 ms."""


@dataclass(frozen=True, slots=True)
class DocumentView:
    """A document as it stands on disk now."""

    path: str
    title: str
    date: str
    kind: str
    text: str
    """The whole file, decoded, frontmatter included."""


class KnowledgeBase:
    """One knowledge base. Cheap to open; the engine loads with the first search.

    For one thread at a time. `notice` hears, in one sentence, what happens on the way: that an
    index is made, that another process is waited for.
    """

    def __init__(
        self,
        root: Path | str | None = None,
        *,
        settings: Settings | None = None,
        notice: Notice | None = None,
    ) -> None:
        """Open the base at `root`, else at KBX_ROOT, else the nearest one upward.

        Raises NotFound and ConfigError.
        """
        given = Path(root).expanduser() if root is not None else knowledge_base_from_environment()
        self.root = find_root(given=given)
        self.settings = settings if settings is not None else load_settings(self.root)
        self._notice: Notice = notice or (lambda text: None)
        self._embedder: Embedder | None = None
        self._retriever: Retriever | None = None
        self._refreshed = -REFRESH_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of model, tables and memory; the base may be used again."""
        if self._retriever is not None:
            self._retriever.close()
        self._embedder = self._retriever = None

    def tuning(self, **changes: Any) -> Tuning:
        """Return the knobs of kbx.toml, with changes; a change that is None is none.

        Raises OutOfRange and ConfigError.
        """
        search = self.settings.search
        start = Tuning.seed() if search.hierarchy_preset == "seed" else Tuning()
        own: dict[str, Any] = {
            "alpha": search.hierarchy_alpha,
            "entity_threshold": search.hierarchy_entity_threshold,
            "max_entities": search.hierarchy_max_entities,
            "hotness_weight": search.hotness_weight,
        }
        if search.hierarchy_preset != "seed":
            own |= {"gate": search.hierarchy_gate, "parent": search.hierarchy_parent}
        given = {name: value for name, value in changes.items() if value is not None}
        return replace(start, **{**own, **given})

    def is_indexed(self) -> bool:
        """Tell whether text and entities can be searched; loads nothing for a local index."""
        store = self._store()
        return store.exists() and store.is_searchable()

    def index(
        self,
        progress: ProgressListener | None = None,
        *,
        fast: bool = False,
        full: bool = False,
        cancelled: Cancelled = lambda: False,
        wait: bool = True,
    ) -> IndexReport:
        """Bring the index up to date with the files.

        `fast` stops when text and entities can be searched, `full` builds everything anew (known
        vectors are kept). Raises IndexFault, IndexLocked (only without `wait`), IndexForeign and
        EmbeddingError.
        """
        from kbx_tui.index.build import build

        self._refreshed = -REFRESH_SECONDS
        return build(
            self.root,
            self.settings,
            self._model(),
            listener=progress,
            fast=fast,
            full=full,
            cancelled=cancelled,
            wait=wait,
            on_wait=self._notice,
        )

    def refresh(self) -> bool:
        """Look whether the index changed; True when the next search reads another generation.

        While a process is indexing, new vectors may lag behind by some seconds: to read them all
        takes part of a second in a large base.
        """
        from kbx_tui.index.lock import is_being_written

        changed = self._engine().refresh(now=not is_being_written(self.root))
        self._refreshed = time.monotonic()
        return changed

    def warm(self) -> None:
        """Load what the first search needs: model, vectors, entities. Raises as `retrieve`."""
        self._engine().warm()

    def retrieve(
        self,
        query: str,
        *,
        path: str | None = None,
        doc_types: Sequence[str] | None = None,
        fast: bool = False,
    ) -> Evidence:
        """Return all that `rank` needs to order the documents in scope, from the newest index.

        Raises NotFound without an index, ConfigError for a path that leads out of the base.
        """
        from kbx_tui.index.paths import PathFilter

        scope = PathFilter.parse(_well_formed(path or ""), self.root)
        kinds = tuple(_well_formed(kind) for kind in doc_types or ())
        self._keep_fresh()
        return self._engine().retrieve(_well_formed(query), path=scope, doc_types=kinds, fast=fast)

    def rank(self, evidence: Evidence, tuning: Tuning | None = None) -> Ranking:
        """Order the documents of `evidence`. Pure: the same arguments give the same ranking."""
        return rank(evidence, tuning or self.tuning())

    def explain(self, ranking: Ranking, ranked: Ranked) -> Explanation:
        """Return how the score of one result came about. Pure."""
        return explain(ranking, ranked)

    def alpha_note(self, ranking: Ranking, limit: int = 200) -> str:
        """Return why no alpha changes the order of the results; empty when some does. Pure."""
        return alpha_note(ranking, limit)

    def snippets(self, evidence: Evidence, rows: Sequence[int]) -> tuple[Snippet, ...]:
        """Return the best place for the query of the documents at `rows` of `evidence`."""
        self._keep_fresh()
        paths = [evidence.paths[row] for row in rows]
        return tuple(self._engine().snippets(evidence.document_query, paths))

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        path: str | None = None,
        fast: bool = False,
        hierarchy: bool = True,
        alpha: float | None = None,
        threshold: float | None = None,
        max_entities: int | None = None,
        gate: str | None = None,
        parent: str | None = None,
        doc_types: Sequence[str] | None = None,
        explain: bool = False,
    ) -> SearchResponse:
        """Search once. Makes the fast part of the index first when there is none.

        Raises OutOfRange, ConfigError, IndexFault and EmbeddingError.
        """
        from kbx_tui.search.answer import answer

        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        tuning = self.tuning(
            hierarchy=hierarchy,
            alpha=alpha,
            entity_threshold=threshold,
            max_entities=max_entities,
            gate=gate,
            parent=parent,
        )
        if not self.is_indexed():
            self._notice(f"{self.root} is not indexed yet; indexing its text first")
            self.index(fast=True)
        began = time.perf_counter()
        evidence = self.retrieve(query, path=path, doc_types=doc_types, fast=fast)
        ranking = rank(evidence, tuning)
        top = ranking.top(limit)
        snippets = self.snippets(evidence, [ranked.row for ranked in top])
        spent = (time.perf_counter() - began) * 1000
        return answer(ranking, top, snippets, total_ms=spent, with_explain=explain)

    def document(self, path: str) -> DocumentView:
        """Return a document as it stands on disk now.

        Raises NotFound when there is none at `path` or it lies outside the base.
        """
        from kbx_tui.knowledge.reading import decode, parse_document
        from kbx_tui.knowledge.vault import locate

        try:
            data = locate(self.root, path, self.settings.index.exclude).read_bytes()
        except (OSError, ValueError) as error:
            raise NotFound(f"no document {path} in {self.root}") from error
        known = parse_document(path, data)
        return DocumentView(path, known.title, known.date, known.kind, decode(data)[0])

    def count_newer_files(self) -> int:
        """Return how many files were written or removed since the last run: a quick look."""
        from kbx_tui.index.status import count_newer_files

        return count_newer_files(self.root, self.settings)

    def status(self) -> Status:
        """Return what is indexed, what is out of date, and which files had problems."""
        from kbx_tui.index.status import read_status

        return read_status(self.root, self.settings)

    def _keep_fresh(self) -> None:
        if time.monotonic() - self._refreshed > REFRESH_SECONDS:
            self.refresh()

    def _store(self) -> Store:
        return Store(index_uri(self.root, self.settings))

    def _model(self) -> Embedder:
        if self._embedder is None:
            from kbx_tui.embedding.local import open_embedder

            self._embedder = open_embedder(self.settings.embedding.model)
        return self._embedder

    def _engine(self) -> Retriever:
        if self._retriever is None:
            from kbx_tui.search.retrieve import Retriever

            self._retriever = Retriever(self._store(), self._model)  # `fast` needs no model
        return self._retriever


def _well_formed(text: str) -> str:
    """Return text any library takes: half a character, as a terminal may pass on, becomes `?`."""
    return text.encode("utf-8", "replace").decode()
