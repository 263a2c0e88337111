"""Arrays of scores: normalization to a fixed 0..1 scale, whatever the candidate pool, and fusion.

The constants of scoring are defined here, each with the experiment that chose it.
"""

from __future__ import annotations

from typing import Any, TypeVar

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

VECTOR_FLOOR = 0.3
"""Cosine below which a document without any query term is not a result. Chosen by the experiment
"vector floor" in docs/quality.md."""

REPEATS_COUNTED = 3
"""How many repetitions of a word in the query count. Chosen by the experiment "repeated query
terms" in docs/quality.md."""

IDENTIFIER_SHARE, IDENTIFIER_WEIGHT = 1 / 3, 0.95
"""If at least this share of the words are identifiers, the query is a lookup: they count as often
as a word can (`REPEATS_COUNTED`), and the lexical score gets this weight. Chosen by the experiment
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

DATE_WEIGHT, WRITTEN_DATE_WEIGHT = 0.3, 0.15
"""How much the time that a query asks for weighs in the relevance of a document; the second where
the words of the date are searched for too. Chosen by the experiment "date preference" in
docs/quality.md."""

SOON_AFTER_SHARE, SOON_AFTER_DAYS = 0.5, (7, 31)
"""How far a document is of a time that ended shortly before: at most as many days ago as the time
lasted, but at least and at most these. Chosen by the same experiment."""

DATE_COUNTS_FROM = 0.25
"""Share of a full answer from which the time counts in full. Chosen by the same experiment."""

DATE_ALONE_WEIGHT = 0.75
"""What a document of another time loses if the query asks for people and a time, nothing else: so
much that those of that time come first unless they are hardly linked."""

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

RERANKER_WEIGHT = 0.5
"""Share of what is missing to a score of 1 that a reranker adds at most. Not chosen by experiment,
as no trained cross-encoder was at hand: half keeps it from overruling what an entity adds. `kbx
eval --reranker` measures a model on a base."""


def frozen(array: Array) -> Array:
    """Make an array read-only and return it."""
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


def above_floor(vector: Scores, raw_lexical: Scores) -> Scores:
    """Return the vector scores, 0 where no term matches and the score is below the floor."""
    return np.where((raw_lexical <= 0.0) & (vector < VECTOR_FLOOR), 0.0, vector)


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
