"""Comparing: what is known already that says the same, or the contrary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kbx_tui.api.opened import OpenedBase, well_formed

if TYPE_CHECKING:
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.matches import FieldSimilarity, SimilarityCheck, SimilarityMatch
    from kbx_tui.similarity.scoring.pair_score import PairSimilarity
    from kbx_tui.similarity.similarity_engine import SimilarityEngine


class Comparing(OpenedBase):
    """Similarity checks of texts, fields and the whole base."""

    def pair_similarity(self, pairs: Sequence[tuple[str, str]]) -> list[PairSimilarity]:
        """Return how alike the two texts of each pair are, in order; reads no index.

        Symmetric; the same text, case, accents and spacing aside, scores exactly 1. Raises
        ConfigError for an empty text and EmbeddingError.
        """
        from kbx_tui.similarity.scoring.pair_score import pair_similarity

        plain = [(well_formed(left), well_formed(right)) for left, right in pairs]
        return pair_similarity(plain, self._model())

    def memory_similar(
        self,
        text: str,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        limit: int = 5,
        chunks: bool = False,
    ) -> list[SimilarityMatch]:
        """Return the facts and open items like `text`, best first: what to look at before writing.

        Of one entity (name, alias or id), of pages below a path, or of all; with a path or `chunks`
        passages of documents too. A threshold given rules for all, else those of `[dedup]`. Matches
        in conflict are among them, see `relation`. Raises ConfigError (empty text), OutOfRange,
        NotFound and Ambiguous (entity), EmbeddingError and IndexForeign.
        """
        (found,) = self.check_similar(
            [text], entity=entity, path=path, threshold=threshold, limit=limit, chunks=chunks
        )
        return list(found.matches)

    def check_similar(
        self,
        texts: Sequence[str],
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        limit: int = 5,
        chunks: bool = False,
    ) -> list[SimilarityCheck]:
        """Return the whole answer for each text, in order; many at once are quicker.

        Arguments and errors as `memory_similar`.
        """
        scope = self._path_filter(path)
        engine = self._comparing(with_chunks=chunks or bool(path))
        where = engine.where(entity, scope, chunks=chunks)
        return engine.check([well_formed(text) for text in texts], where, threshold, limit)

    def has_similar(
        self,
        text: str,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
    ) -> bool:
        """Tell whether something says the same and does not contradict. Raises as above."""
        scope = self._path_filter(path)
        engine = self._comparing(with_chunks=bool(path))
        where = engine.where(entity, scope)
        if engine.has_same(well_formed(text), where):
            return True
        return engine.check([well_formed(text)], where, threshold, 1)[0].has_similar

    def entity_similar_field(
        self, entity: str, field: str, value: str, *, threshold: float | None = None
    ) -> FieldSimilarity:
        """Compare a proposed value with what a field of an entity holds now.

        `field` is role, team, facts, open_items or any key of the page's frontmatter. Raises as
        `memory_similar`.
        """
        engine = self._comparing()
        return engine.field(entity, well_formed(field), well_formed(value), threshold)

    def scan_duplicates(
        self,
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
    ) -> DuplicateScan:
        """Return clusters of facts, and of open items, that say the same. Raises as above."""
        scope = self._path_filter(path)
        engine = self._comparing()
        return engine.scan(engine.where(entity, scope), threshold)

    def _comparing(self, *, with_chunks: bool = False) -> SimilarityEngine:
        if not self.is_indexed():
            self._notice(f"{self.root} is not indexed yet; indexing it first")
            self.index(fast=not with_chunks)  # vectors of facts are made on the way
        self._keep_fresh()
        if self._similarity is None:
            from kbx_tui.similarity.similarity_engine import SimilarityEngine

            self._similarity = SimilarityEngine(
                self._open_index(), self._model(), self.settings.dedup
            )
        return self._similarity
