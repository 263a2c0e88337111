"""Similarity checks of texts, fields and the whole base."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kbx_tui.api.session import Session
from kbx_tui.safe_text import replace_surrogates
from kbx_tui.similarity.pair_score import (
    MAX_TEXT,
    FieldSimilarity,
    PairSimilarity,
    SimilarityCheck,
    cut_notes,
    pair_similarity,
)
from kbx_tui.similarity.similarity_engine import ComparisonScope, SimilarityEngine


class Similarity:
    """Compares texts with the contents of one base: `kb.similarity`."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[PairSimilarity]:
        """Return how similar the two texts of each pair are, in order; reads no index.

        Symmetric; identical texts, apart from case, accents and spacing, score exactly 1. Raises
        ConfigError for an empty text and EmbeddingError.
        """
        cleaned = [(replace_surrogates(left), replace_surrogates(right)) for left, right in pairs]
        return pair_similarity(cleaned, self._session.embedder())

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[PairSimilarity]:
        """Return the pairs of a draft and a known text, in order, as drafts are judged.

        `judgement` says which of the two repeats, refines or contradicts the other, how certain
        that is and why. The first call loads the pair model, unless `[dedup] judge` is `rules`.
        Raises the errors of `pairs`.
        """
        return self.engine().judge(self.pairs(pairs))

    def check(
        self,
        texts: Sequence[str],
        *,
        entity: str | None = None,
        path: str | None = None,
        threshold: float | None = None,
        limit: int = 5,
        chunks: bool = False,
    ) -> list[SimilarityCheck]:
        """Return a complete check of each text, in order; see `KnowledgeBase.memory_similar`."""
        engine, scope = self._scoped(entity, path, chunks=chunks)
        cleaned = [replace_surrogates(text) for text in texts]
        checks = engine.check([text[:MAX_TEXT] for text in cleaned], scope, threshold, limit)
        nearest = (match for check in checks for match in (*check.matches, *check.nearest))
        self._session.read_paths.update(match.source_path for match in nearest)
        newer, in_scope = self._session.outdated_notes(), engine.count_compared(scope)
        return [
            replace(check, notes=(*cut_notes(text), *check.notes, *newer), in_scope=in_scope)
            for text, check in zip(cleaned, checks, strict=True)
        ]

    def has_similar(
        self, text: str, entity: str | None, path: str | None, threshold: float | None
    ) -> bool:
        """Return whether a similar text is known; an identical one is found without the model."""
        text = replace_surrogates(text)[:MAX_TEXT]
        engine, scope = self._scoped(entity, path)
        is_known = engine.has_identical(text, scope)
        return is_known or engine.check([text], scope, threshold, 1)[0].has_similar

    def field(
        self, entity: str, field: str, value: str, threshold: float | None = None
    ) -> FieldSimilarity:
        """Compare a value with a field's value; see `KnowledgeBase.entity_similar_field`."""
        field, value = replace_surrogates(field), replace_surrogates(value)
        engine = self.engine()
        with self._session.naming_newer_files():
            self._session.read_paths.add(engine.entity(entity).path)
            found = engine.field(entity, field, value[:MAX_TEXT], threshold)
        found = replace(found, proposed_value=value)
        absent = [f"{found.entity} has no {field} yet"] if found.pair is None else []
        return replace(found, notes=(*absent, *cut_notes(value), *self._session.outdated_notes()))

    def engine(self, *, with_chunks: bool = False) -> SimilarityEngine:
        """Return the engine on the newest index; `with_chunks` ensures vectors of documents."""
        session = self._session
        session.ensure_indexed(fast=not with_chunks)
        index = session.fresh_index()
        return session.shared(
            SimilarityEngine,
            lambda: SimilarityEngine(index, session.embedder(), session.settings.dedup),
        )

    def _scoped(
        self, entity: str | None, path: str | None, *, chunks: bool = False
    ) -> tuple[SimilarityEngine, ComparisonScope]:
        path_filter = self._session.path_filter(path)
        engine = self.engine(with_chunks=chunks or bool(path_filter.text))
        with self._session.naming_newer_files():
            scope = engine.scope(entity, path_filter, chunks=chunks)
        if scope.entity is not None:
            self._session.read_paths.add(scope.entity.path)
        return engine, scope
