"""Scores: constants, normalization to a fixed 0..1 scale whatever the candidate pool, and fusion.

The constants of scoring are defined here, each with the experiment that chose it.

Continuations, documents that are parts of a longer one, propagate scores to adjacent parts:

    score' = score + s * max(0, score of the better adjacent part - score)

with the share s (`[search] parts`, 0 = off). A discussion does not end where its transcript was
cut: the next part continues it with fewer of the query's words and other speakers. The best part
keeps its score, so that a document in one piece is not outranked by one in several. The same holds
for links to entities. Parts that a filter excludes propagate too, so that a score depends on no
filter.

Source: passage scores that take the surrounding text into account, Callan 1994,
https://doi.org/10.1007/978-1-4471-2099-5_31. Share: `PROPAGATION_SHARE`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]
Rows = NDArray[np.int64]
Flags = NDArray[np.bool_]
Array = TypeVar("Array", bound=NDArray[Any])

LEXICAL_HALF = 15.0
"""BM25 at which the lexical score is .5. Chosen by the experiments "lexical half-saturation" and
"saturating fusion or rank fusion" in docs/quality.md."""

LEXICAL_WEIGHT, NAMES_LEXICAL_WEIGHT = 0.5, 0.66
"""Weight of the lexical score in doc_relevance; the second applies if the query names a person or
team, because embeddings represent names poorly. Chosen by the experiments "lexical weight" and
"lexical weight with a name" in docs/quality.md."""

VECTOR_FLOOR, NAMES_VECTOR_FLOOR = 0.3, 0.2
"""Cosine below which a document without any query term is not a result; the second applies if the
query asks for a time, or for nothing but names, as dates and links then speak for documents too.
Chosen by the experiment "vector floor" in docs/quality.md."""

REPEATS_COUNTED = 3
"""How many repetitions of a word in the query count. Chosen by the experiment "repeated query
terms" in docs/quality.md."""

IDENTIFIER_SHARE, IDENTIFIER_WEIGHT = 1 / 3, 0.95
"""If at least this share of the words are identifiers, the query is a lookup: each of them counts
`REPEATS_COUNTED` times, and the lexical score gets this weight. Chosen by the experiment
"identifier lookups" in docs/quality.md."""

PAIR_WEIGHT = 0.3
"""Weight of a pair of words that are adjacent in query and document, as an additional term. Chosen
by the experiment "term pairs" in docs/quality.md."""

FEEDBACK_CANDIDATES, FEEDBACK_DOCUMENTS, FEEDBACK_WEIGHT = 20, 3, 0.3
"""Pseudo-relevance feedback: number of candidates (highest BM25), number of feedback documents
(highest relevance among them), and weight of their mean vector. Chosen by the experiment
"pseudo-relevance feedback" in docs/quality.md."""

TITLE_BONUS = 8.0
"""Added to the BM25 of a document whose title holds every word of a query that names nobody, times
the share of the title that the query names. Chosen by the experiment "titles that hold the query"
in docs/quality.md."""

PROPAGATION_SHARE = 0.9
"""Share of a score difference that propagates to an adjacent part. Chosen by the experiment "score
propagation between continuations" in docs/quality.md."""

DATE_WEIGHT = 0.3
"""How much the time that a query asks for weighs in the relevance of a document. Chosen by the
experiment "date preference" in docs/quality.md."""

DATE_COUNTS_FROM = 0.25
"""Share of a full answer from which the time counts in full. Chosen by the same experiment."""

DATE_ALONE_WEIGHT = 0.75
"""Share of its score that a document of another time loses if the query asks for people and a time
only: enough for those of that time to come first, unless they are hardly linked."""

MEMBER_STRENGTH, MENTION_STRENGTH, COUNT_SCALE = (0.8, 0.2), (0.5, 0.4), 3.0
"""Link strength by the number of members of a team, or of mentions: floor and highest gain, of
which 3 give 63 % (`counted_strength`). Chosen by the experiment "team link strength" in
docs/quality.md."""

ABOUT_FLOOR = 0.5
"""Lowest link strength of an attendee (`about_strength`), used only for queries that name a person
and no topic. Chosen by the experiment "person-only link strength" in docs/quality.md."""

FULL_BM25, FULL_COSINE = 1.5, 0.5
"""BM25 per unit of idf, and cosine, of a document that answers a query fully: 1.5 is a document of
average length that holds each word two or three times. Chosen by the experiment "full answer" in
docs/quality.md."""

ANSWER_POWER = 1.5
"""Power of the share of a full answer in the document's own score; the credit of people and teams
is scaled by the square root of that. Chosen by the experiment "credit by topic" in
docs/quality.md."""

THING_SHARPNESS, THING_WEIGHT = 4, 0.85
"""Power of the link strength of things that the query names, so that passing mentions hardly count,
and their weight in the mean with people and teams. Chosen by the experiment "credit of things" in
docs/quality.md."""

ABOUT_OWN_PAGE = 0.75
"""Link strength of a person's own page in such a query: after the meetings that they lead, before
those that they attend."""

RELATED_PAGE_STRENGTH = 0.5
"""Highest strength of the link of an entity with the page of another: a page says who someone works
with, but it is about its own entity. Chosen by the experiment "pages of other entities" in
docs/quality.md."""

RELATED_FIELD_STRENGTH = 0.25
"""Highest strength where only the frontmatter names the entity (`reports_to`, `lead`): the text of
the page does not concern it. Chosen by the experiment "named in the frontmatter alone" in
docs/quality.md."""

PERSON_STRENGTH = 0.9
"""Least strength of the link with the page of a person where a query asks who."""

RERANKER_WEIGHT = 0.5
"""Share of what is missing to a score of 1 that a reranker adds at most. Not chosen by experiment,
as no trained cross-encoder was at hand: half keeps it from overruling what an entity adds. `kbx
eval --reranker` measures a model on a base."""


def frozen(array: Array) -> Array:
    array.flags.writeable = False
    return array


def highest(scores: Scores, rows: Rows, count: int) -> Rows:
    """Return `count` of some ascending rows with the highest scores, best first, ties by row."""
    if count < len(rows):
        floor = np.partition(scores[rows], len(rows) - count)[len(rows) - count]
        rows = rows[scores[rows] >= floor]
    return rows[np.argsort(-scores[rows], kind="stable")[:count]]


def scale_lexical(raw_lexical: Scores) -> Scores:
    """Return BM25 on 0..1: `b / (b + 15)`, a saturation as in BM25's own term frequency."""
    return raw_lexical / (raw_lexical + LEXICAL_HALF)


def scale_cosine(cosine: Scores) -> Scores:
    """Return the cosine on 0..1; negative and missing ones become 0."""
    return np.minimum(np.fmax(cosine, 0.0), 1.0)  # fmax ignores NaN


def above_floor(vector: Scores, raw_lexical: Scores, floor: float) -> Scores:
    """Return the vector scores, 0 where no term matches and the score is below the floor."""
    return np.where((raw_lexical <= 0.0) & (vector < floor), 0.0, vector)


def fuse(lexical: Scores, vector: Scores, lexical_weight: float) -> Scores:
    """Return `w * lexical + (1 - w) * vector`, a convex combination.

    Source: Bruch, Gai & Ingber 2023, https://doi.org/10.1145/3596512.
    """
    return lexical_weight * lexical + (1.0 - lexical_weight) * vector


def counted_strength(counts: NDArray[np.int32], floor: float, gain: float) -> Scores:
    """Return the strength of links by their number: `floor + gain (1 - exp(-count / 3))`."""
    return floor + gain * (1.0 - np.exp(-counts / COUNT_SCALE))


def about_strength(attendees: NDArray[np.int64], place: NDArray[np.int64]) -> Scores:
    """Return how much documents concern attendee number p of n, shape (n,).

    `floor + (1 - floor) * (1 / sqrt(n) + 1 / p) / 2`: 1 for the only one, more if listed early or
    among few.
    """
    return ABOUT_FLOOR + (1.0 - ABOUT_FLOOR) * (1.0 / np.sqrt(attendees) + 1.0 / place) / 2.0


def power(scores: Scores, exponent: float) -> Scores:
    """Return scores, 0 or more, to a power of 1 or more, shape (n,).

    The power of a higher score is never lower. Multiples of one half take products and a square
    root, which is several times as fast as numpy's power.
    """
    times, is_half = divmod(exponent, 1.0)
    if is_half not in (0.0, 0.5):
        return scores**exponent
    product = scores * np.sqrt(scores) if is_half else scores
    for _ in range(int(times) - 1):
        product = product * scores
    return product


@dataclass(frozen=True, slots=True)
class LinkedDocuments:
    rows: Rows
    """Rows of the Evidence, ascending and distinct."""
    strengths: Scores
    reasons: tuple[str, ...]
    """Why each is linked, for display: `attendee`, `title, 4 mentions`."""
    propagated: Flags | None = None
    """Documents linked only through an adjacent part (`Continuations`); None if there are none.
    Such a link counts only if the document has some relevance to the query."""
    in_scope: Rows | None = None
    """The rows in the base of all in scope, where `rows` has only candidates (`WideScope`)."""

    @property
    def all_in_scope(self) -> Rows:
        """All in scope by their rows in the base or, where none is left out, in the Evidence."""
        return self.rows if self.in_scope is None else self.in_scope

    def strengthened(self, links: Mapping[int, tuple[float, str]]) -> LinkedDocuments:
        """Return the documents with further links, the strength and reason of each by row."""
        of_row = self.by_row()
        of_row |= {row: link for row, link in links.items() if link[0] > of_row.get(row, (0.0,))[0]}
        rows = np.array(sorted(of_row), np.int64)
        strengths = np.array([of_row[row][0] for row in rows.tolist()])
        reasons = tuple(of_row[row][1] for row in rows.tolist())
        propagated = None
        if self.propagated is not None:
            others = np.isin(rows, list(links), invert=True)
            propagated = frozen(others & np.isin(rows, self.rows[self.propagated]))
        return LinkedDocuments(frozen(rows), frozen(strengths), reasons, propagated)

    def by_row(self) -> dict[int, tuple[float, str]]:
        """Return the strength and reason of each link by row."""
        links = zip(self.strengths.tolist(), self.reasons, strict=True)
        return dict(zip(self.rows.tolist(), links, strict=True))

    def within(
        self, flags: Flags, scope_rows: Rows, in_scope: Flags | None = None
    ) -> LinkedDocuments:
        """Return the documents flagged, renumbered by their positions in `scope_rows`.

        `flags` are of documents of the base; `scope_rows` are the rows flagged, ascending. Where
        these are candidates, `in_scope` flags all in scope.
        """
        inside = flags[self.rows]
        rows = np.searchsorted(scope_rows, self.rows[inside])
        reasons = tuple(compress(self.reasons, inside))
        propagated = None if self.propagated is None else frozen(self.propagated[inside])
        strengths = frozen(self.strengths[inside])
        counted = None if in_scope is None else frozen(self.rows[in_scope[self.rows]])
        return LinkedDocuments(frozen(rows), strengths, reasons, propagated, counted)


@dataclass(frozen=True, slots=True)
class ComponentScores:
    """How well each document fits one query variant."""

    query: str
    raw_lexical: Scores
    """BM25, unbounded, 0 when no term matches."""
    lexical: Scores
    """`raw_lexical` on a fixed 0..1 scale."""
    cosine: Scores
    """Cosine of the query, after pseudo-relevance feedback, with the best chunk of the document in
    its context (`vector_matrix`), -1..1; NaN for a document without a vector. Approximate, from
    quantized vectors, for a document that was not evaluated (`Evidence.evaluated`)."""
    vector: Scores
    """`cosine` on a fixed 0..1 scale; 0 if missing, or if low and no term matches."""
    own_relevance: Scores
    """Fusion of `lexical` and `vector`, 0..1."""
    doc_relevance: Scores
    """`own_relevance` plus what an adjacent part propagates (`Continuations`), 0..1."""
    propagated_from: NDArray[np.int8]
    """Adjacent part that relevance propagated from: 0 the one before, 1 the one after, -1 none."""
    lexical_weight: float


@dataclass(frozen=True, slots=True)
class QueryVariant:
    """Lexical scores of one variant of a query: as typed, or without the names in it."""

    raw_lexical: Scores
    lexical_weight: float


@dataclass(frozen=True)  # without slots: `lexical` is kept
class Scoring:
    """Scores the documents in scope, including what adjacent parts propagate to them.

    Cosines and BM25 have shape (m,) over the scored documents, results shape (n,) over those in
    scope.
    """

    documents: ScoredDocuments
    variants: Mapping[str, QueryVariant]
    propagation_share: float
    vector_floor: float = VECTOR_FLOOR

    @cached_property
    def lexical(self) -> tuple[ComponentScores, ComponentScores]:
        scores = [self.components(query, None) for query in self.variants]
        return scores[0], scores[-1]

    def components(self, query: str, cosine: Scores | None) -> ComponentScores:
        """Return all scores for one query variant.

        `cosine` is NaN where there is no vector, and None if there is none at all.
        """
        variant, in_scope = self.variants[query], self.documents.values_in_scope
        if cosine is None:
            lexical, vector = scale_lexical(variant.raw_lexical), np.zeros(len(self.documents.rows))
            cosine, own = np.full(len(vector), np.nan), variant.lexical_weight * lexical
        else:
            lexical, vector = _scaled(variant.raw_lexical, cosine, self.vector_floor)
            own = fuse(lexical, vector, variant.lexical_weight)
        relevance, propagated_from = self.documents.propagate(own, self.propagation_share)
        return ComponentScores(
            query=query,
            raw_lexical=frozen(in_scope(variant.raw_lexical)),
            lexical=frozen(in_scope(lexical)),
            cosine=frozen(in_scope(cosine).copy()),
            vector=frozen(in_scope(vector)),
            own_relevance=frozen(in_scope(own)),
            doc_relevance=frozen(relevance),
            propagated_from=frozen(propagated_from),
            lexical_weight=variant.lexical_weight,
        )

    def is_relevant(self, query: str, cosine: Scores) -> Flags:
        """Return which documents in scope would have a `doc_relevance` above 0.

        Parts propagate nothing to a document without any, and both scores have some weight. No
        BM25 is so low that it becomes 0 on the scale of 0..1.
        """
        raw_lexical = self.variants[query].raw_lexical
        vector = above_floor(scale_cosine(cosine), raw_lexical, self.vector_floor)
        return self.documents.values_in_scope((raw_lexical > 0.0) | (vector > 0.0))

    def relevance(self, query: str, cosine: Scores, rows: Rows) -> Scores:
        """Return `doc_relevance` of a few rows in scope, from the cosines of these rows alone."""
        variant, positions = self.variants[query], self.documents.positions_for(rows)
        raw_lexical = variant.raw_lexical[positions]
        scaled = _scaled(raw_lexical, cosine[positions], self.vector_floor)
        own = np.zeros(len(self.documents.rows))
        own[positions] = fuse(*scaled, variant.lexical_weight)
        relevance, _ = self.documents.propagate(own, self.propagation_share)
        return relevance[rows]


def _scaled(raw_lexical: Scores, cosine: Scores, floor: float) -> tuple[Scores, Scores]:
    return scale_lexical(raw_lexical), above_floor(scale_cosine(cosine), raw_lexical, floor)


BEFORE, AFTER, NONE = 0, 1, -1

Values = TypeVar("Values", Scores, Flags)

Sides = NDArray[np.int8]
"""BEFORE, AFTER or NONE per document: the side from which a score propagated."""

SIDE_NAMES = {BEFORE: "part before", AFTER: "part after"}


@dataclass(frozen=True, slots=True)
class Continuations:
    rows: Rows
    """Documents with an adjacent part, ascending."""
    adjacent: Rows
    """Shape (2, len(rows)): rows of the part before and the part after, or NONE."""

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> Self:
        """Return the continuations given by pairs of rows; the second continues the first."""
        sides = {BEFORE: dict[int, int](), AFTER: dict[int, int]()}
        for row, following in pairs:
            sides[AFTER][row], sides[BEFORE][following] = following, row
        rows = sorted({*sides[BEFORE], *sides[AFTER]})
        adjacent = [[side.get(row, NONE) for row in rows] for side in sides.values()]
        return cls(
            frozen(np.array(rows, np.int64)), frozen(np.array(adjacent, np.int64).reshape(2, -1))
        )

    def propagate_links(self, linked: LinkedDocuments, share: float) -> LinkedDocuments:
        size = len(self.rows)
        if not size or not share or not len(linked.rows):
            return linked
        parts = np.vstack((self.rows, self.adjacent))
        index = np.minimum(np.searchsorted(linked.rows, parts), len(linked.rows) - 1)
        is_linked = linked.rows[index] == parts
        own, *adjacent = np.where(is_linked, linked.strengths[index], 0.0)
        gains, sides = _gains(own, np.stack(adjacent), share)
        if not gains.any():
            return linked
        strengths = dict(zip(linked.rows.tolist(), linked.strengths.tolist(), strict=True))
        reasons = dict(zip(linked.rows.tolist(), linked.reasons, strict=True))
        for position in np.flatnonzero(gains).tolist():
            row, side = int(self.rows[position]), int(sides[position])
            strengths[row] = float(own[position] + gains[position])
            reason = f"{linked.reasons[index[side + 1, position]]} in the {SIDE_NAMES[side]}"
            reasons[row] = f"{reasons[row]}, {reason}" if row in reasons else reason
        rows = np.array(sorted(strengths), np.int64)
        return LinkedDocuments(
            frozen(rows),
            frozen(np.array([strengths[row] for row in rows.tolist()])),
            tuple(reasons[row] for row in rows.tolist()),
            frozen(~np.isin(rows, linked.rows)),
        )


@dataclass(frozen=True, slots=True)
class ScoredDocuments:
    flags: Flags
    rows: Rows
    in_scope: Rows
    """Positions in `rows` of the documents in scope, ascending."""
    parts: Rows
    """Indices into `in_scope` of the documents with an adjacent part."""
    adjacent: Rows
    """Shape (2, len(parts)): positions in `rows` of the part before and after, or NONE."""

    @classmethod
    def without_continuations(cls, in_scope: Flags, rows: Rows) -> Self:
        nothing = np.empty(0, np.int64)
        return cls(in_scope, rows, np.arange(len(rows)), nothing, nothing.reshape(2, 0))

    @classmethod
    def of(cls, continuations: Continuations, in_scope: Flags, rows: Rows) -> Self:
        with_adjacent = in_scope[continuations.rows]
        if not with_adjacent.any():
            return cls.without_continuations(in_scope, rows)
        adjacent, flags = continuations.adjacent[:, with_adjacent], in_scope.copy()
        flags[adjacent[adjacent != NONE]] = True
        scored = np.flatnonzero(flags)
        return cls(
            flags=frozen(flags),
            rows=scored,
            in_scope=np.searchsorted(scored, rows),
            parts=np.searchsorted(rows, continuations.rows[with_adjacent]),
            adjacent=np.where(adjacent == NONE, NONE, np.searchsorted(scored, adjacent)),
        )

    def values_in_scope(self, values: Values) -> Values:
        """Return the values of the documents in scope; `values` itself if it has no others."""
        return values if len(self.in_scope) == len(self.rows) else values[self.in_scope]

    def positions_for(self, rows: Rows) -> Rows:
        """Return positions in `self.rows` of documents in scope and of their adjacent parts."""
        is_wanted = np.zeros(len(self.in_scope), np.bool_)
        is_wanted[rows] = True
        with_adjacent = is_wanted[self.parts]
        if not with_adjacent.any():
            return self.in_scope[rows]
        adjacent = self.adjacent[:, with_adjacent]
        is_needed = np.zeros(len(self.rows), np.bool_)
        is_needed[self.in_scope[rows]] = True
        is_needed[adjacent[adjacent != NONE]] = True
        return np.flatnonzero(is_needed)

    def propagate(self, own: Scores, share: float) -> tuple[Scores, Sides]:
        """Return the scores of the documents in scope after propagation, and from which side.

        `own` has shape (len(rows),). Nothing propagates to a document with a score of 0.
        """
        propagated_from = np.full(len(self.in_scope), NONE, np.int8)
        relevance = own[self.in_scope]
        if len(self.parts):
            adjacent = np.where(self.adjacent == NONE, 0.0, own[self.adjacent])
            gains, sides = _gains(relevance[self.parts], adjacent, share)
            gains[relevance[self.parts] <= 0.0] = 0.0
            relevance[self.parts] += gains
            propagated_from[self.parts] = np.where(gains > 0.0, sides, NONE)
        return relevance, propagated_from


def _gains(own: Scores, adjacent: Scores, share: float) -> tuple[Scores, Sides]:
    """Return the gain of each part from its better adjacent part, and the side of that part."""
    sides = np.argmax(adjacent, axis=0).astype(np.int8)  # a tie goes to the part before
    return share * np.maximum(adjacent.max(axis=0) - own, 0.0), sides
