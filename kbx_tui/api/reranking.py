"""Reranking in two steps: what reads the index, and what runs the model, in any thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from kbx_tui.embedding.cross_encoder import CrossEncoder, open_cross_encoder
from kbx_tui.errors import RerankerError
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.reranking import RERANK_MS, RERANKED, Reranker, RerankerScores
from kbx_tui.search.ranking.rank import Ranking
from kbx_tui.search.results.snippets import RERANKED_LENGTH

ReadPassages = Callable[[Evidence, Sequence[int]], Sequence[str]]


@dataclass(frozen=True, slots=True)
class PendingReranking:
    """Passages of the first results of a ranking that a reranker has yet to score."""

    evidence: Evidence
    reranker: Reranker
    rows: Sequence[int]
    """The documents, as rows of the Evidence."""
    passages: Sequence[str]
    read_ms: float

    def run(self, cancelled: Callable[[], bool] = lambda: False) -> Evidence:
        """Return the evidence with the scores of these documents beside those it has.

        Runs the model once per passage, and stops between two when `cancelled`; the evidence is
        returned as it was then. If the model cannot be loaded or run, all scores go, and the
        evidence says why: a ranking of it is the plain one. May run in any thread.
        """
        start, evidence = time.perf_counter(), self.evidence
        try:
            scores = self.reranker.scores(evidence.document_query, self.passages, cancelled)
        except RerankerError as error:
            return with_failure(evidence, self.reranker.name, str(error))
        if scores is None:
            return evidence
        known = {} if evidence.reranker is None else evidence.reranker.scores
        merged = {**known, **dict(zip(self.rows, scores, strict=True))}
        took = self.read_ms + (time.perf_counter() - start) * 1000
        return replace(
            evidence,
            reranker=RerankerScores(self.reranker.name, MappingProxyType(merged)),
            timings=MappingProxyType({**evidence.timings, RERANK_MS: round(took, 3)}),
        )


def begin_reranking(
    ranking: Ranking, reranker: Reranker, read_passages: ReadPassages
) -> PendingReranking | None:
    """Read the passages of the first results that have no score yet; None if all have one.

    None, too, after a failure with the same evidence.
    """
    start, evidence = time.perf_counter(), ranking.evidence
    if evidence.reranker is not None and evidence.reranker.model != reranker.name:
        evidence = replace(evidence, reranker=None)
    scored = evidence.reranker or RerankerScores(reranker.name)
    rows = [row for row in ranking.rows_to_rerank if row not in scored.scores]
    if scored.failure or not rows:
        return None
    passages = read_passages(evidence, rows)
    return PendingReranking(
        evidence, reranker, rows, passages, (time.perf_counter() - start) * 1000
    )


def with_failure(evidence: Evidence, model: str, reason: str) -> Evidence:
    """Return the evidence without scores, and with the reason as a sentence for the user."""
    sentence = f"not reranked: {safe_line(reason)}"
    return replace(evidence, reranker=RerankerScores(model, failure=sentence))


@dataclass(frozen=True, slots=True)
class RerankerTrial:
    """How long a reranker took, its model being loaded."""

    model: str
    passages: int
    milliseconds: float


def try_reranker(reranker: Reranker) -> RerankerTrial:
    """Load a reranker and time it on as many passages as a search gives it. Raises RerankerError.

    The passages are as long as the longest of a search, and of common words.
    """
    words = "the team agreed to move the review of the plan to the next week because of the audit "
    text = (words * RERANKED_LENGTH)[: RERANKED_LENGTH - 3]
    reranker.scores(words, [text])  # loads the model
    start = time.perf_counter()
    reranker.scores(words, [f"{number:02} {text}" for number in range(RERANKED)])
    return RerankerTrial(reranker.name, RERANKED, (time.perf_counter() - start) * 1000)


class Rerankers:
    def __init__(self) -> None:
        self._rerankers: dict[tuple[str, Path | None], Reranker] = {}

    def named(self, name: str, relative_to: Path | None = None) -> Reranker:
        """Return the reranker for a folder, or a name of fastembed, without loading it.

        `relative_to` is the folder that a relative one is in, by default the current one.
        """
        key = name, relative_to
        if key not in self._rerankers:
            self._rerankers[key] = Reranker(
                name, lambda: open_cross_encoder(name, relative_to=relative_to)
            )
        return self._rerankers[key]

    def not_trusted(self, name: str, root: Path) -> Reranker:
        """Return one that always fails, for a base that the user has not allowed to run it."""

        def refuse() -> CrossEncoder:
            raise RerankerError(
                f'{root} is not trusted with [search] reranker = "{name}"; `kbx trust` allows it'
            )

        return Reranker(name, refuse)
