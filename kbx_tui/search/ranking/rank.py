"""Ranks the documents of Evidence under one Tuning. Pure: no I/O, a few array operations.

    final = alpha * answered + (1 - alpha) * parent_entity_score
    final = (1 - h) * final + h * frecency            with h = hotness_weight, 0 by default;
                                                      0 stays 0 under any alpha

`answered` says how fully the document answers the query, from its relevance and that of a full
answer (`Topic`), and the parent score is the credit from entities, scaled by how fully the document
answers the rest of the query (`EntityCredit`). So a document that neither says anything of the
topic nor is linked to a thing in it scores 0 under any alpha. It is a result only if it is linked
to the entities and fewer than 10 documents say something of the topic. It comes after those, in the
order of BM25 for the query as typed.

Where the query asks for a time, the relevance is that of `DatePreference`, which counts for the
credit of entities too; but a document that says nothing of the topic has no `answered`.

A flat ranking has `doc_relevance` in place of the first line. Known items, documents that the query
names in full, score 1.0 and come first. Where the Evidence holds scores of a reranker, these raise
the final scores of the first 20 documents (`reranked`).
Source: the two-pass proposal, "Score Propagation Formula".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np

from kbx_tui.errors import OutOfRange
from kbx_tui.search.evidence.evidence import AskedKind, DatePreference, Evidence, FeedbackDocument
from kbx_tui.search.evidence.reranking import RERANKED, reranked
from kbx_tui.search.evidence.scores import Flags, Rows, Scores
from kbx_tui.search.ranking.entities import EntityChoice, EntityCredit, choose_entities
from kbx_tui.search.request import Tuning

FEW_RESULTS = 10
"""Where fewer documents say something of the topic, those linked to the entities follow them: for
"Castellane complaints" there are two, and her own page would be missing. An answer shows ten.
Chosen by the experiment "few answers" in docs/quality.md."""

SAYS_MUCH = 0.5
"""Share of a full relevance below which no document says much of the topic. Where its words are
common, as in "what did Ada and Bob talk about last time", and few documents hold them, these say
nothing, and the query is ranked as if it named the entities alone. Chosen by the experiment
"hardly answered" in docs/quality.md."""

UNLINKED_SHARE, UNLINKED_AT_LEAST = 0.5, 0.1
"""Factor of the score of a document that belongs to none of the people named beside a topic: this
times the number of their documents by that of the topic, and its least value. Chosen by the
experiment "a person and a thing" in docs/quality.md."""


class Ranked(NamedTuple):
    row: int
    rank: int
    score: float
    doc_relevance: float
    answered: float
    """How fully it answers the query, 0..1 (`Topic.answered`).

    The relevance itself where `topic` is None: when flat, where the query names people or teams
    and asks nothing else, or with the seed preset. Where the query asks for a time, that is part of
    it (`DatePreference`)."""
    parent_entity_score: float
    document_part: float
    """What the document adds to the score, `alpha * answered` when two-pass.

    The four parts sum to the score or, for a known item, to the score it would otherwise have.
    """
    entity_part: float
    frecency_part: float
    reranker_part: float
    reranker_score: float | None
    """How well the reranker finds that it answers the query, 0..1; None if that does not count."""
    known_item: str


@dataclass(frozen=True)
class Ranking(EntityChoice):
    """The order of the documents of one Evidence under one Tuning. Computed lazily and cached."""

    @property
    def doc_relevance(self) -> Scores:
        return self.components.doc_relevance

    @cached_property
    def parent_entity_score(self) -> Scores:
        return self._parent_scores(slice(None), self.doc_relevance)

    @cached_property
    def credit(self) -> EntityCredit:
        fields = self.evidence, self.tuning, self.kept, self.search_mode_reason, self.unanswered
        choice = EntityChoice(*fields)
        return EntityCredit(choice)  # not of self: a cycle would keep the arrays until collected

    @cached_property
    def frecency_weight(self) -> float:
        """Weight of frecency; 0 if no document was opened, so that scores do not all fall."""
        return self.tuning.hotness_weight if self.evidence.frecency.any() else 0.0

    @cached_property
    def date_preference(self) -> DatePreference | None:
        """The preference for the time that the query asks for; None without one that applies."""
        preference = self.evidence.date_preference
        return preference if preference is not None and preference.applies else None

    @property
    def asked_kind(self) -> AskedKind | None:
        """What the query asks for; None with the seed preset, or where flat was asked for."""
        applies = self.tuning.scale_by_topic and self.tuning.hierarchy
        return self.evidence.asked_kind if applies else None

    @cached_property
    def factors(self) -> Scores | None:
        """Factor of the score of each document, above 0 and at most 1; None if all are 1.

        Below 1 are documents of another kind than the query asks for, those that belong to none of
        the people it names beside a topic ("Alice on Atlas" asks for what belongs to both), and old
        ones where age counts.
        """
        factors = [self.age_factors, None if self.asked_kind is None else self.asked_kind.factors]
        if self.unlinked_factor < 1.0:
            factors.append(np.where(self.credit.belongs_to_people, 1.0, self.unlinked_factor))
        given = [factor for factor in factors if factor is not None]
        return reduce(np.multiply, given) if given else None

    @property
    def age_factors(self) -> Scores | None:
        """Factors for age; None where it does not count, or the query asks for a time itself."""
        applies = self.date_preference is None and self.tuning.scale_by_topic
        return self.evidence.age_factors if applies else None

    @cached_property
    def unlinked_factor(self) -> float:
        """Factor of a document that belongs to none of the people and teams named, at most 1.

        1 where the query names none, or nothing beside them. Else the rarer part of a question says
        more of what is meant, so the more documents the topic has beside those of the people, the
        less counts one on the topic alone: `min(1, .5 * documents of the people / documents of the
        topic)`. One that belongs to several people counts once. The topic has those linked to the
        thing that it names or those that hold its rarest other word, whichever are fewer.
        """
        if self.topic is None or not self.credit.people:
            return 1.0
        of_parts = [self.topic.documents] if self.topic.documents else []
        if self.topic.thing_share:
            of_parts.append(self.credit.documents_of_thing)
        of_topic = max(min(of_parts, default=0), 1)
        share = UNLINKED_SHARE * self.credit.documents_of_people / of_topic
        return min(1.0, max(share, UNLINKED_AT_LEAST)) if of_parts else 1.0

    def lowered(self, scores: Scores, rows: Rows | slice) -> Scores:
        """Return the scores of some rows times their `factors`."""
        return scores if self.factors is None else scores * self.factors[rows]

    @cached_property
    def final(self) -> Scores:
        if not self.is_reranked:
            return self.plain_final
        final, rows = self.plain_final.copy(), np.array(list(self.reranker_scores))
        final[rows] = reranked(final[rows], np.array(list(self.reranker_scores.values())))
        return final

    @property
    def is_reranked(self) -> bool:
        return bool(self.reranker_scores)

    @cached_property
    def reranker_scores(self) -> Mapping[int, float]:
        reranker = self.evidence.reranker
        if reranker is None or not reranker.scores:
            return {}
        scores = reranker.scores
        return {row: scores[row] for row in self.rows_to_rerank if row in scores}

    @cached_property
    def rows_to_rerank(self) -> Sequence[int]:
        """The first 20 results that a reranker may move, in their order without it.

        Empty where the query asks nothing besides people and teams: a text says nothing about that.
        Known items, which come first anyway, and documents that score 0 under any alpha are left
        out.
        """
        if self.evidence.topic is None:
            return ()
        first = self._best(RERANKED, self.plain_final)
        rows: list[int] = first[self.may_score[first] & ~self.is_known_item[first]].tolist()
        return rows

    @cached_property
    def may_score(self) -> Flags:
        """Rows that score more than 0 under some alpha; openings raise the score of these alone."""
        return (self.doc_relevance > 0.0) | (self.parent_entity_score > 0.0)

    @cached_property
    def plain_final(self) -> Scores:
        relevance, parent = self.doc_relevance, self.parent_entity_score
        return self._final(self.blended, relevance, parent, slice(None))

    @cached_property
    def is_known_item(self) -> Flags:
        flags = np.zeros(len(self.evidence), np.bool_)
        flags[list(self.evidence.known_items)] = True
        return flags

    @cached_property
    def blended(self) -> Scores:
        return self._blend(self.doc_relevance, self.parent_entity_score, slice(None))

    @cached_property
    def matched(self) -> Flags:
        """Rows that are results, including those that top-k retrieval did not evaluate."""
        matched = self.blended > 0.0
        if self.is_hard:
            matched &= self.is_linked
        if self.lists_linked:
            matched |= self.is_linked | self.says_something
        return matched | self.is_known_item if self.evidence.known_items else matched

    @cached_property
    def lists_linked(self) -> bool:
        """Whether documents linked to kept entities follow the few that answer the topic."""
        if self.topic is None:
            return False
        relevant = self.doc_relevance > 0.0  # most often enough, without any credit
        if self.is_hard:
            relevant &= self.is_linked
        if int(np.count_nonzero(relevant)) >= FEW_RESULTS:
            return False
        return int(np.count_nonzero(self.says_something)) < FEW_RESULTS

    @cached_property
    def says_something(self) -> Flags:
        """Rows that say something of the topic; under the hard gate, linked to a kept entity."""
        relevance, credit = self.doc_relevance, self.parent_entity_score
        if self.date_preference is not None:  # which credits documents for their date alone
            credit = self.credit.parent_scores(slice(None), relevance)
        says_something = (relevance > 0.0) | (credit > 0.0)
        return says_something & self.is_linked if self.is_hard else says_something

    @property
    def is_hard(self) -> bool:
        return bool(self.kept) and self.tuning.gate == "hard"

    @cached_property
    def is_linked(self) -> Flags:
        linked = np.zeros(len(self.evidence), np.bool_)
        for index in self.kept:
            links = self.evidence.links[index]
            linked[links.rows[links.strengths > 0.0]] = True
        return linked

    @cached_property
    def included(self) -> Flags:
        """Rows that are results and were evaluated; after top-k retrieval a subset of `matched`."""
        evaluated = self.evidence.evaluated
        return self.matched if evaluated is None else self.matched & evaluated

    @property
    def total_matched(self) -> int:
        return int(np.count_nonzero(self.matched))

    @property
    def total_below_floor(self) -> int:
        """Number of documents with a positive cosine that are not results.

        After top-k retrieval it is approximate: a quantized cosine of nearly 0 may round to 0.
        """
        return int(np.count_nonzero(~self.matched & (self.components.cosine > 0.0)))

    @property
    def feedback_documents(self) -> tuple[FeedbackDocument, ...]:
        as_typed = self.components.query == self.evidence.as_typed.query
        return self.evidence.feedback_documents if as_typed else ()

    @cached_property
    def order(self) -> Rows:
        return self.best(len(self.evidence))

    @cached_property
    def ranks(self) -> Mapping[int, int]:
        return {row: rank for rank, row in enumerate(self.order.tolist(), 1)}

    def why_no_result(self, row: int) -> str:
        if self.is_hard and not self.is_linked[row]:
            return "not linked to a kept entity, which the hard gate requires"
        return "says nothing of what is asked"

    def at(self, alpha: float) -> Ranking:
        tuning = replace(self.tuning, alpha=alpha)
        _require_fit(self.evidence, tuning)
        ranking = replace(self, tuning=tuning)
        vars(ranking)["parent_entity_score"] = self.parent_entity_score  # alpha does not change it
        return ranking

    def final_for(self, rows: Rows, relevance: Scores) -> Scores:
        """Return the final scores that some rows would have with a lower relevance.

        Shapes (n,); `relevance` must be 0 where that of this ranking is 0.
        """
        parent = self._parent_scores(rows, relevance)
        return self._final(self._blend(relevance, parent, rows), relevance, parent, rows)

    def answered(self, relevance: Scores, rows: Rows | slice) -> Scores:
        """Return how fully some rows of this relevance answer the query, 0..1; alpha weighs it.

        This is the dated relevance itself where `topic` is None, and 0 where the relevance is 0.
        """
        dated = self.dated(relevance, rows)
        answered = dated if self.topic is None else self.topic.answered(dated)
        return self.lowered(answered, rows)

    def dated(self, relevance: Scores, rows: Rows | slice, *, alone: bool = True) -> Scores:
        """Return the relevance of some rows with the time that the query asks for as part of it."""
        preference = self.date_preference
        if preference is None:
            return relevance
        return preference.relevance(relevance, rows, capped=self.topic is not None, alone=alone)

    def _parent_scores(self, rows: Rows | slice, relevance: Scores) -> Scores:
        parents = self.credit.parent_scores(rows, self.dated(relevance, rows, alone=False))
        parents = self.lowered(parents, rows)
        preference = self.date_preference
        return parents if preference is None else parents * preference.credit_factors(rows)

    def _blend(self, relevance: Scores, parent: Scores, rows: Rows | slice) -> Scores:
        alpha, answered = self.tuning.alpha, self.answered(relevance, rows)
        return alpha * answered + (1.0 - alpha) * parent if self.kept else answered

    def _final(
        self, final: Scores, relevance: Scores, parent: Scores, rows: Rows | slice
    ) -> Scores:
        """Return blended scores with frecency, those of known items raised to 1."""
        if h := self.frecency_weight:
            moved = (1.0 - h) * final + h * self.evidence.frecency[rows]
            final = np.where((relevance > 0.0) | (parent > 0.0), moved, 0.0)
        return (
            np.where(self.is_known_item[rows], 1.0, final) if self.evidence.known_items else final
        )

    def top(self, limit: int) -> tuple[Ranked, ...]:
        return self._ranked(self.best(limit), 1)

    def ranked(self, row: int, rank: int) -> Ranked:
        return self._ranked(np.array([row]), rank)[0]

    def _ranked(self, rows: Rows, first_rank: int) -> tuple[Ranked, ...]:
        alpha, h = self.tuning.alpha if self.kept else 1.0, self.frecency_weight
        answered = self.answered(self.doc_relevance[rows], rows)
        all_rows = (self.doc_relevance, self.parent_entity_score, self.final, self.plain_final)
        columns = (answered, *(scores[rows] for scores in (*all_rows, self.evidence.frecency)))
        known_items = self.evidence.known_items
        return tuple(
            Ranked(
                row=row,
                rank=rank,
                score=score,
                doc_relevance=relevance,
                answered=answered,
                parent_entity_score=parent,
                document_part=(1.0 - h) * (alpha * answered),
                entity_part=(1.0 - h) * ((1.0 - alpha) * parent),
                frecency_part=h * frecency if relevance or parent else 0.0,
                reranker_part=score - plain,
                reranker_score=self.reranker_scores.get(row),
                known_item=known_items.get(row, ""),
            )
            for rank, (row, answered, relevance, parent, score, plain, frecency) in enumerate(
                zip(rows.tolist(), *(column.tolist() for column in columns), strict=True),
                first_rank,
            )
        )

    def best(self, limit: int) -> Rows:
        return self._best(limit, self.final)

    def best_paths(self, limit: int) -> tuple[str, ...]:
        return tuple(self.evidence.paths[row] for row in self.best(limit).tolist())

    def _best(self, limit: int, final: Scores) -> Rows:
        rows, limit = np.flatnonzero(self.included), max(limit, 0)
        if 0 < limit < len(rows):  # keep all rows that tie with the last place, to sort them
            floor = np.partition(final[rows], len(rows) - limit)[len(rows) - limit]
            rows = rows[final[rows] >= floor]
        return rows[self._sort(rows, final)][:limit]

    def tie_order(self, rows: Rows) -> Rows:
        """Return `rows`, which must ascend, in the order in which equal scores are resolved."""
        return rows[self._sort(rows, None)]

    def _sort(self, rows: Rows, final: Scores | None) -> Rows:
        """Return the sort order of `rows`, which must ascend, as indices into `rows`.

        The last key is the primary one, as in `np.lexsort`. Scores that the reranker makes equal
        are ordered by those before it.
        """
        keys: list[Scores | Flags] = [self.doc_relevance[rows]]
        if self.evidence.known_items:
            keys.append(self.is_known_item[rows])
        if final is not None:
            keys.append(final[rows])
            if final is not self.plain_final:
                keys.insert(1, self.plain_final[rows])
        if self.lists_linked:
            as_typed = self.evidence.as_typed.raw_lexical[rows]
            keys.insert(0, np.where(self.says_something[rows], 0.0, as_typed))
        return descending_order(rows, keys, self.evidence.dates)


def rank(evidence: Evidence, tuning: Tuning) -> Ranking:
    """Rank the documents of `evidence` under `tuning`.

    Raises OutOfRange if the evidence was retrieved for another tuning only.
    """
    _require_fit(evidence, tuning)
    ranking = Ranking(evidence, tuning, *choose_entities(evidence, tuning))
    if ranking.lists_linked and ranking.topic is not None and ranking.topic.is_common:
        much = SAYS_MUCH * ranking.topic.full_relevance
        if 0.0 < ranking.doc_relevance.max(initial=0.0) < much:
            return replace(ranking, unanswered=True)
    return ranking


def _require_fit(evidence: Evidence, tuning: Tuning) -> None:
    if evidence.only_for is not None and evidence.only_for != tuning:
        raise OutOfRange(
            "this evidence holds only what one search needed; to rank with other knobs, use "
            "retrieve(), which evaluates all documents"
        )


def descending_order(rows: Rows, keys: Sequence[Scores | Flags], dates: Sequence[str]) -> Rows:
    """Return the order of `rows`, which must ascend, as indices into `rows`.

    `keys` have the shape of `rows`, the last one counts first; `dates` are those of all documents.
    """
    order = np.lexsort((rows, *(-key.astype(float) for key in keys)))
    tied = np.ones(max(len(rows) - 1, 0), dtype=np.bool_)
    for key in keys:
        tied &= key[order[1:]] == key[order[:-1]]
    return _newest_first(rows, order, tied, dates) if tied.any() else order


def _newest_first(rows: Rows, order: Rows, tied: Flags, dates: Sequence[str]) -> Rows:
    """Return `order` with runs of ties sorted by date; compares dates within ties only."""
    starts = np.flatnonzero(tied & ~np.concatenate(([False], tied[:-1])))
    ends = np.flatnonzero(tied & ~np.concatenate((tied[1:], [False]))) + 2
    for start, end in zip(starts, ends, strict=True):
        run = order[start:end].tolist()  # sorted by path, which a stable sort preserves
        order[start:end] = sorted(run, key=lambda index: dates[int(rows[index])], reverse=True)
    return order
