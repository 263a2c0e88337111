"""Similarity checks against one open index: facts, open items, passages, fields."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from kbx_tui.config import DedupSettings
from kbx_tui.embedding.cross_encoder import bundled_pair_model
from kbx_tui.embedding.embedder import Embedder
from kbx_tui.errors import EmbeddingError, OutOfRange
from kbx_tui.index.path_filter import PathFilter
from kbx_tui.index.snapshot import Snapshot
from kbx_tui.index.vectors.stored_vectors import parallel_scan
from kbx_tui.knowledge.entity_names import strip_subject
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.evidence.scores import Flags
from kbx_tui.search.name_lookup import EntityFinder, SubjectIndex
from kbx_tui.search.open_index import OpenIndex
from kbx_tui.search.results.answer import vector_notes
from kbx_tui.search.retrieval.scope import find_scope
from kbx_tui.similarity.compared_words import normal_form
from kbx_tui.similarity.comparisons import (
    Comparison,
    FieldValue,
    FieldValues,
    best_of,
    current_values,
    find_identical_facts,
    find_passages,
    find_similar_facts,
    list_of,
    near_facts,
    nearest_line,
    score_fields,
    shown_matches,
)
from kbx_tui.similarity.duplicate_scan import NOTHING_KEPT, DuplicateScan, KeptPairs, find_clusters
from kbx_tui.similarity.fact_vectors import (
    CandidateText,
    FactVectorCache,
    FactVectors,
    TextVectors,
    candidate_texts,
)
from kbx_tui.similarity.judging import KeyUse, Probabilities, folded_key, judge
from kbx_tui.similarity.numbers_and_dates import with_full_weekdays
from kbx_tui.similarity.pair_score import (
    FieldSimilarity,
    PairSimilarity,
    Scale,
    SimilarityCheck,
    SimilarityMatch,
    calibration_of,
    pair_similarity,
    require_text,
)

JUDGED_AT_ONCE = 6
"""Most pairs in one run of the pair model: of 12, each takes an eighth longer, and more memory. Two
runs at a time take two thirds of the time of one after the other."""

MOST_JUDGED = 4
"""Matches of a text that are judged, however few are shown: whether any is similar must not depend
on that. The others go by rules."""


class SimilarityEngine:
    """Compares texts with the contents of one open index. Not thread-safe."""

    def __init__(self, index: OpenIndex, embedder: Embedder, settings: DedupSettings) -> None:
        self._index, self._embedder, self._settings = index, embedder, settings
        self._fact_vectors, self.vectors = FactVectorCache(index, embedder), TextVectors(embedder)
        self.calibration = calibration_of(embedder.model)
        self._entities: _Entities | None = None
        self._uses, self._uses_of = dict[str, KeyUse](), -1
        self.judging_note = ""

    def scale(self, threshold: float | None = None) -> Scale:
        return Scale(self.calibration, self._settings, threshold)

    def scope(
        self, entity: str | None, path: PathFilter, *, chunks: bool = False
    ) -> ComparisonScope:
        owner = None if entity is None else self.entity(entity)
        documents = find_scope(self._index.generation().snapshot, path)[0]
        return ComparisonScope(owner, path, documents, chunks or bool(path.text))

    @property
    def subjects(self) -> SubjectIndex:
        return self._known().subjects

    def entity(self, name: str) -> Entity:
        return self._known().finder.find(name)

    def check(
        self, texts: Sequence[str], scope: ComparisonScope, threshold: float | None, limit: int
    ) -> list[SimilarityCheck]:
        """Return one check per text, in the same order.

        Raises ConfigError (empty text), OutOfRange, EmbeddingError and IndexForeign.
        """
        scale = self.scale(threshold)
        if limit < 1:
            raise OutOfRange(f"limit must be 1 or more, got {limit}")
        for text in texts:
            require_text(text)
        facts, within = self._compared(scope)
        notes = (*self._notes(facts), *self._notes_on_scope(scope))
        checks = []
        for candidate in candidate_texts(
            texts, [self._subject(text, scope) for text in texts], self.vectors
        ):
            comparison = find_similar_facts(
                candidate,
                facts,
                scale,
                limit=limit,
                within=within,
                fields=self._fields_in(candidate, scope, scale),
            )
            if scope.with_passages:
                passages = self._passages(candidate, scope, scale, comparison)
                comparison = comparison.joined_with(passages)
            matches, nearest = comparison.matches, comparison.nearest
            asked = matches[:MOST_JUDGED]
            pairs = self.judge([match.judged_pair for match in asked])
            judged = (replace(m, pair=pair) for m, pair in zip(asked, pairs, strict=True))
            shown = shown_matches([*judged, *matches[MOST_JUDGED:]], limit)
            check = SimilarityCheck(
                query=candidate.text,
                scope=scope.as_dict(),
                threshold=_decisive(shown, nearest, scale),
                matches=shown,
                has_similar=any(match.is_similar for match in shown),
                best_score=nearest[0].score if nearest else 0.0,
                nearest=nearest,
                model=self._embedder.model,
                is_calibrated=self.calibration.is_known,
                notes=notes,
            )
            checks.append(check)
        return checks

    def count_compared(self, scope: ComparisonScope) -> int:
        documents = int(scope.documents.sum()) if scope.with_passages else 0
        return _count(*self._compared(scope)) + documents

    def has_identical(self, text: str, scope: ComparisonScope) -> bool:
        facts, within = self._compared(scope)
        if find_identical_facts(require_text(text), facts, within):
            return True
        owner = self._subject(text, scope)
        rows = find_identical_facts(strip_subject(text, owner), facts, within)
        return owner is not None and any(facts.facts[row].entity_id == owner.id for row in rows)

    def near(
        self,
        texts: Sequence[str],
        owners: Sequence[str],
        floor: float,
        limit: int,
        *,
        only_own: bool = False,
        all_own: bool = False,
    ) -> list[tuple[SimilarityMatch, ...]]:
        """Return, per text, the facts and open items that score at least `floor`, best first.

        `owners` has the id of each text's entity, or an empty text. Returned are at most `limit`
        of all entities, plus at most `limit` of the owner, and the owner's fields; `only_own`
        leaves out other entities, and requires owners; with `all_own`, what is known of the owner
        is returned whatever it scores. Raises as `check` does.
        """
        entities, scale = self._index.generation().entities, self.scale()
        known = [entities.get(owner) for owner in owners]
        fields = self._known().fields.of(list(filter(None, known)))
        return [
            near_facts(
                candidate,
                self._fact_vectors.of(candidate.owner if only_own else ""),
                scale,
                floor=floor,
                limit=limit,
                fields=self._score(candidate, fields.get(candidate.owner, ()), scale),
                only_own=only_own,
                all_own=all_own,
            )
            for candidate in candidate_texts(texts, known, self.vectors)
        ]

    def judge(self, pairs: Sequence[PairSimilarity]) -> list[PairSimilarity]:
        """Return pairs with the judgement of the pair model; the right texts are the known ones.

        They are returned unchanged, to be judged by rules, where `[dedup] judge` is `rules`, and
        where the model cannot be loaded; `judging_note` then says why.
        """
        asked = [pair for pair in pairs if not pair.is_same]
        if not asked or self._settings.judge == "rules":
            return list(pairs)
        try:
            model = bundled_pair_model()
            asked.sort(key=lambda pair: len(pair.left) + len(pair.right))  # little padding
            size = min(JUDGED_AT_ONCE, -(-len(asked) // 2))
            found = dict[int, Probabilities]()

            def run(start: int) -> None:
                batch = asked[start : start + size]
                rows = model.probabilities([known_and_draft(pair) for pair in batch])
                found.update(zip(map(id, batch), rows, strict=True))

            parallel_scan(range(0, len(asked), size), run, parallel_from=2)
        except EmbeddingError as error:
            self.judging_note = f"judged by rules: {error}"
            return list(pairs)
        return [
            replace(pair, judged=judge(pair.left, pair.right, row, pair.signals, self._use_of))
            if (row := found.get(id(pair))) is not None
            else pair
            for pair in pairs
        ]

    def _use_of(self, key: str) -> KeyUse:
        """Return how the facts of the base use a key, superseded ones included."""
        generation = self._index.generation().number
        if self._uses_of != generation:
            self._uses, self._uses_of = self._uses_of_keys(), generation
        return self._uses.get(key, KeyUse())

    def _uses_of_keys(self) -> dict[str, KeyUse]:
        values = defaultdict[str, defaultdict[str, set[str]]](lambda: defaultdict(set))
        replaced = defaultdict[str, set[str]](set)
        for row in self._index.store.rows("facts", ["entity_id", "text", "status"]).to_pylist():
            if key := folded_key(row["text"]):
                if row["status"] == "active":
                    values[key][row["entity_id"]].add(normal_form(row["text"]))
                elif row["status"] == "superseded":
                    replaced[key].add(row["entity_id"])
        uses = {}
        for key, by_owner in values.items():
            several = {owner for owner, texts in by_owner.items() if len(texts) > 1}
            uses[key] = KeyUse(len(several), len(replaced[key] & by_owner.keys() - several))
        return uses

    def field(
        self, entity: str, field: str, value: str, threshold: float | None = None
    ) -> FieldSimilarity:
        """Compare a proposed value with a field; for a list, with its most similar item.

        Raises ConfigError for an empty field or value.
        """
        owner, scale = self.entity(entity), self.scale(threshold)
        require_text(value)
        if kind := list_of(field):
            facts, line = self._fact_vectors.of(owner.id), strip_subject(value, owner)
            pair, stored = nearest_line(facts, kind, line, self._embedder, scale)
        else:
            current = current_values(self._index, owner, field)
            pairs = pair_similarity([(text, value) for text in current], self._embedder)
            pair, stored = best_of(pairs, current)
        needed = scale.of(kind or "field", stored)
        return FieldSimilarity(
            entity=owner.name,
            field=field.strip(),
            current_value=None if pair is None else stored,
            proposed_value=value,
            similarity=0.0 if pair is None else pair.score,
            is_similar=pair is not None and pair.score >= needed and pair.relation != "conflict",
            threshold=needed,
            match_type=kind or "field",
            pair=pair,
            model=self._embedder.model,
        )

    def scan(
        self,
        scope: ComparisonScope,
        threshold: float | None,
        kept: KeptPairs = NOTHING_KEPT,
        report: Callable[[int, int], None] = lambda done, total: None,
    ) -> DuplicateScan:
        scale = self.scale(threshold)
        facts, within = self._compared(scope)
        clusters, conflicting, kept_pairs = find_clusters(
            facts, scale, within=within, kept=kept, judge=self.judge, report=report
        )
        return DuplicateScan(
            clusters=tuple(clusters),
            facts=_count(facts, within),
            conflicting=tuple(conflicting),
            model=self._embedder.model,
            is_calibrated=self.calibration.is_known,
            notes=(*self._notes(facts), *scope.notes()),
            kept=kept_pairs,
        )

    def _known(self) -> _Entities:
        snapshot = self._index.generation().snapshot
        if self._entities is None or self._entities.snapshot is not snapshot:
            entities = snapshot.entities
            self._entities = _Entities(
                snapshot,
                EntityFinder(entities),
                SubjectIndex(entities),
                FieldValues(self._index, entities),
            )
        return self._entities

    def _subject(self, text: str, scope: ComparisonScope) -> Entity | None:
        return scope.entity or self.subjects.subject_of(text)

    def _compared(self, scope: ComparisonScope) -> tuple[FactVectors, Flags | None]:
        facts = self._fact_vectors.of(scope.entity.id if scope.entity else "")
        return facts, scope.facts_in(facts, self._index.generation().snapshot)

    def _notes_on_scope(self, scope: ComparisonScope) -> tuple[str, ...]:
        if not (scope.with_passages and scope.documents.any()):
            return scope.notes()
        model, dimension = self._embedder.model, self._embedder.dimension
        vectors = self._index.generation().vectors(model=model, dimension=dimension)
        return tuple(vector_notes(vectors.coverage.share, vectors.coverage.missing))

    def _passages(
        self,
        candidate: CandidateText,
        scope: ComparisonScope,
        scale: Scale,
        comparison: Comparison,
    ) -> Comparison:
        generation = self._index.generation()
        documents = scope.documents
        if scope.entity is not None:
            linked = np.zeros(len(documents), np.bool_)
            linked[generation.entity_documents.linked(scope.entity.id).rows] = True
            documents = documents & linked
        pages = {entity.path: entity.name for entity in generation.snapshot.entities if entity.path}
        return find_passages(
            candidate.text,
            candidate.vector,
            self._index,
            self._embedder,
            scale,
            within=documents,
            names=pages,
            known={normal_form(match.text) for match in comparison.matches},
        )

    def _fields_in(
        self, candidate: CandidateText, scope: ComparisonScope, scale: Scale
    ) -> list[SimilarityMatch]:
        fields, rows = self._known().fields, self._index.generation().snapshot.row_of
        owner = scope.entity
        values = fields.of([owner])[owner.id] if owner else fields.near(candidate.text)
        return [
            field
            for field in self._score(candidate, values, scale)
            if (row := rows.get(field.source_path)) is not None and scope.documents[row]
        ]

    def _score(
        self, candidate: CandidateText, values: Sequence[FieldValue], scale: Scale
    ) -> list[SimilarityMatch]:
        vectors = self.vectors.of([value.text for value in values])
        return score_fields(candidate, values, vectors, scale)

    def _notes(self, facts: FactVectors) -> tuple[str, ...]:
        notes = []
        if facts.missing:
            notes.append(
                f"{facts.missing:,} of {len(facts.facts):,} facts have no vector yet and were "
                "compared by text only; run `kbx index` to add them"
            )
        if not self.calibration.is_known:
            notes.append(f"model {self._embedder.model} has no calibration: scores are raw cosines")
        return tuple(notes)


_NOTE_AT_END = re.compile(r"(?<!\s)\s*\([a-z][\w -]*: [^()]*\)\s*$", re.IGNORECASE)
"""Matches a note about a fact, such as `(confirmed: 2026-04-16)`: no statement of its own."""


def known_and_draft(pair: PairSimilarity) -> tuple[str, str]:
    known, draft = (_NOTE_AT_END.sub("", text) or text for text in (pair.right, pair.left))
    return with_full_weekdays(known), with_full_weekdays(draft)


def _count(facts: FactVectors, within: Flags | None) -> int:
    return len(facts.facts) if within is None else int(within.sum())


def _decisive(
    shown: Sequence[SimilarityMatch], nearest: Sequence[SimilarityMatch], scale: Scale
) -> float:
    similar = (match for match in shown if match.is_similar)
    deciding = next(chain(similar, shown, nearest), None)
    return scale.default if deciding is None else deciding.threshold


@dataclass(frozen=True, slots=True)
class _Entities:
    snapshot: Snapshot
    finder: EntityFinder
    subjects: SubjectIndex
    fields: FieldValues


@dataclass(frozen=True, slots=True)
class ComparisonScope:
    entity: Entity | None
    path: PathFilter
    documents: Flags
    with_passages: bool

    def as_dict(self) -> dict[str, str]:
        named = {"entity": self.entity.name} if self.entity else {}
        return named | ({"path": self.path.text} if self.path.text else {})

    def notes(self) -> tuple[str, ...]:
        if self.documents.any() or not self.path.text:
            return ()
        return (f"no document matches the path {self.path.text}",)

    def facts_in(self, facts: FactVectors, snapshot: Snapshot) -> Flags | None:
        if self.path.is_all:
            return None
        rows = [snapshot.row_of.get(fact.path, -1) for fact in facts.facts]
        return np.append(self.documents, False)[np.array(rows, np.int64)]  # -1: the added False
