"""From raw scores to the one scale 0..1 that does not depend on the pool, and their fusion.

The constants of ranking stand here, each with the figure that chose it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kbx_tui.search.evidence.evidence import Scores

LEXICAL_HALF = 15.0
"""BM25 at which the lexical score is .5. A blend that saturates is nDCG@10 .875 on tc39-none
person+project, rank fusion .785. With 15 for 5: cacm topic .601 for .583, tc39-none team+project
.820 for .813, person+project .931 for .927, cranfield .498 for .494, all others within .003; 10 and
20 are like it within .007."""

LEXICAL_WEIGHT, NAMES_LEXICAL_WEIGHT = 0.5, 0.66
"""Share of the lexical score in doc_relevance, and where the query names a person or team: meaning
knows no names, and little of what is left without them. With .5 for .7: cacm topic .601 for .568,
cranfield .498 for .482, tc39-none project .896 for .887, qmsum-none topic .728 for .736; with .4
cranfield is .491. With .66 for .7: tc39-none person+project .931 for .923; for .6: team+project
.820 for .809; all others within .006."""

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
qmsum-none topic .728 for .702, cacm .601 for .590, cranfield .498 for .493, locomo person .832 for
.828; all others but the seven role queries within .002."""

NAMED_PAIR_WEIGHT = 0.1
"""The same within the name of a thing, where the query names a person or team too: links tell which
documents are about it. With .1 for .3: tc39-none team+project .820 for .802, person+project .931
for .928, all others the same; with 0 team+project is .813."""

FEEDBACK_AMONG, FEEDBACK_DOCUMENTS, FEEDBACK_WEIGHT = 20, 3, 0.3
"""Of the 20 documents with the best words, the three that fit best draw the meaning of the query
towards them, with .3 of its weight: cacm topic .601 for .584, qmsum-none topic .728 for .713,
cranfield topic .498 for .487, tc39-none project .896 for .893; locomo topic, 13 queries, .899 for
.915, all others within .001. With .5 tc39-none project is .890 and cranfield .487."""

PART_SHARE = 0.9
"""Of what a part of a document scores more than the part beside it, it lends it nine tenths. With
.9 for 0: qmsum-none topic .728 for .672, person .888 for .838; tc39-none, where 16 items go on in
another, within .004. From .7 to .95 topic is .728 to .732 and person .875 to .888; recall of person
in two passes comes up to that of flat (.978, .979) at .9. Were the best part lent to as well,
tc39-none project would fall by .012, flat by .046."""

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
    """Return BM25 on 0..1: `b / (b + 15)`, a saturation as in BM25's own term frequency."""
    return raw_lexical / (raw_lexical + LEXICAL_HALF)


def scale_cosine(cosine: Scores) -> Scores:
    """Return the cosine on 0..1: negative and missing ones are 0."""
    return np.minimum(np.fmax(cosine, 0.0), 1.0)  # fmax passes over what is missing


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
