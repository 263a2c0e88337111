"""From raw scores to the one scale 0..1 that does not depend on the pool, and their fusion.

The constants of ranking stand here, each with the figure that chose it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence import Scores

LEXICAL_HALF = 5.0
"""BM25 at which the lexical score is .5: nDCG@10 .875 on tc39-none person+project with the
saturating blend against .785 with rank fusion."""

LEXICAL_WEIGHT = 0.7
"""Share of the lexical score in doc_relevance, chosen with LEXICAL_HALF."""

VECTOR_FLOOR = 0.3
"""Likeness below which a document that holds no word of the query is no result. Of 15 queries that
are nonsense or off the subject, those without a known word come to .11-.34 on five sets, nearly all
below .3; of 811 documents judged relevant 29 hold no word, and most of these are below it too."""

IDENTIFIER_SHARE, IDENTIFIER_TIMES, IDENTIFIER_WEIGHT = 1 / 3, 3, 0.95
"""A query of which a third or more are identifiers is a lookup: these count three times, words
nearly alone: tc39-none keyword ("pull request 2718") 1.000 for .795."""

REPEATS_COUNTED = 3
"""How often a word counts that a query repeats: cacm .55 for .52, all others within .002."""

PAIR_WEIGHT = 0.3
"""How much two words count as a pair where they stand side by side as in the query. With .3 for 0:
qmsum-none topic .665 for .652, cacm .583 for .573, locomo person .830 for .825, tc39-none
person+project .928 for .917; tc39-none team+project .787 for .809, all others within .003."""

FEEDBACK_AMONG, FEEDBACK_DOCUMENTS, FEEDBACK_WEIGHT = 20, 3, 0.3
"""Of the 20 documents with the best words, the three that fit best draw the meaning of the query
towards them, with .3 of its weight: qmsum-none topic .676 for .665, cranfield topic .486 for .479,
cacm topic .596 for .590, tc39-none project .890 for .883; locomo topic, 13 queries, .879 for
.894, all others within .001. Two or five documents gain less, and so does a weight of .5."""

MEMBER_FLOOR, MEMBER_GAIN, MEMBER_SCALE = 0.8, 0.2, 2.0
"""Strength of a team's link by its members: .8 + .2 (1 - exp(-members / 2)). With all links alike,
every meeting of any member ties: tc39-none team+project .79 for .74."""

ABOUT_FLOOR, ABOUT_SHARE, ABOUT_PLACE = 0.5, 0.25, 0.25
"""How much a document is about one of its n attendees, named as number p: .5 + .25 / sqrt(n) +
.25 / p. Only where a query asks for the person and nothing else: tc39-none person-only .71 for .45,
.50 without the place. Where it asks for a topic too, this loses: qmsum-none person .80 for .84."""

MENTION_FLOOR, MENTION_GAIN, MENTION_SCALE = 0.5, 0.4, 3.0
"""Strength of a link by mentions: .5 + .4 (1 - exp(-count / 3))."""


def scale_lexical(raw_lexical: Scores) -> Scores:
    """Return BM25 on 0..1: `b / (b + 5)`, a saturation as in BM25's own term frequency."""
    return raw_lexical / (raw_lexical + LEXICAL_HALF)


def scale_cosine(cosine: Scores) -> Scores:
    """Return the cosine on 0..1: negative and missing ones are 0."""
    return np.clip(np.nan_to_num(cosine, nan=0.0), 0.0, 1.0)


def above_floor(vector: Scores, raw_lexical: Scores) -> Scores:
    """Return the vector scores, 0 where no word matches and meaning alone is too little."""
    return np.where((raw_lexical <= 0.0) & (vector < VECTOR_FLOOR), 0.0, vector)


def fuse(lexical: Scores, vector: Scores, lexical_weight: float) -> Scores:
    """Return `w * lexical + (1 - w) * vector`, a convex combination.

    Source: Bruch, Gai & Ingber 2023, https://doi.org/10.1145/3596512.
    """
    return lexical_weight * lexical + (1.0 - lexical_weight) * vector


def member_strength(counts: NDArray[np.int32]) -> Scores:
    """Return the strength of a team's links, shape (n,), by how many members belong to each."""
    return MEMBER_FLOOR + MEMBER_GAIN * (1.0 - np.exp(-counts / MEMBER_SCALE))


def about_strength(attendees: NDArray[np.int64], place: NDArray[np.int64]) -> Scores:
    """Return how much documents are about one attendee, shape (n,): few others, named early."""
    return ABOUT_FLOOR + ABOUT_SHARE / np.sqrt(attendees) + ABOUT_PLACE / place


def mention_strength(counts: NDArray[np.int32]) -> Scores:
    """Return the strength of links by mentions, shape (n,), .5..0.9, growing with the count."""
    return MENTION_FLOOR + MENTION_GAIN * (1.0 - np.exp(-counts / MENTION_SCALE))
