"""Explains the score of one result in numbers that add up as shown. Pure; imported when needed.

Sums are rounded by largest remainder (`rounded_parts`). The score is shown as a sum of weight times
value, too: each value may be rounded down or up, and of all combinations whose sum rounds to the
score as shown, the one nearest to the exact values is taken. One always exists, because the weights
sum to 1: with every value rounded down the sum is at most the exact one, with every value rounded
up it is at least that and one last digit larger, so one of the two rounds to the same score.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import floor

from kbx_tui.formatting import (
    answer_words,
    format_score,
    join_limited,
    rounded_parts,
    share_words,
)
from kbx_tui.safe_text import safe_line
from kbx_tui.search.evidence.evidence import Evidence
from kbx_tui.search.evidence.scores import RERANKER_WEIGHT
from kbx_tui.search.ranking.explain import Explanation
from kbx_tui.search.ranking.rank import Ranked, Ranking
from kbx_tui.tui.explore.view import Addend, Reranking, Section, Term, Why

OFTEN, SOME = 0.5, 0.25
"""Normalized scores of words from which a document has many and several words of the question."""
NEAR, RELATED = 0.5, 0.3
"""Cosines from which a passage says almost the same, and something related."""


def present_why(ranking: Ranking, explanation: Explanation) -> Why:
    ranked, evidence = explanation.ranked, ranking.evidence
    row, alpha = ranked.row, explanation.alpha
    hot_weight = ranking.frecency_weight
    blended = ranked.document_part + ranked.entity_part + ranked.frecency_part  # without reranker
    names, weights, values = ["document"], [1.0], [ranked.answered]
    if explanation.two_pass:
        names, weights = ["document", "entity"], [alpha, 1.0 - alpha]
        values.append(ranked.parent_entity_score)
    all_weights = weights
    if hot_weight:
        all_weights = [*((1.0 - hot_weight) * weight for weight in weights), hot_weight]
        values.append(float(evidence.frecency[row]) if ranked.frecency_part else 0.0)
    rounded = formula_values(blended, [_plain(weight) for weight in all_weights], values)
    terms = tuple(
        Term(_plain(weight), value, name)
        for weight, value, name in zip(weights, rounded, names, strict=False)
    )
    sections = [_document_section(explanation, rounded[0], ranking)]
    if explanation.two_pass:
        sections.append(_entity_section(explanation, rounded[1], ranking.is_coverage))
    reranking = _reranking(ranked, blended)
    return Why(
        row=row,
        title=safe_line(evidence.titles[row]),
        path=safe_line(evidence.paths[row]),
        kind=safe_line(evidence.kinds[row]),
        date=safe_line(evidence.dates[row]),
        score=_shown(blended if reranking is None else max(ranked.score, blended)),
        terms=terms,
        frecency=Term(hot_weight, rounded[-1], "hotness") if hot_weight else None,
        known_item=ranked.known_item,
        sections=tuple(sections),
        reranking=reranking,
    )


def _reranking(ranked: Ranked, plain: float) -> Reranking | None:
    if ranked.reranker_score is None:
        return None
    return Reranking(
        score=ranked.reranker_score,
        plain=_shown(plain),
        added=round(_shown(max(ranked.score, plain)) - _shown(plain), 2),
        maximum=RERANKER_WEIGHT * (1.0 - plain),
    )


def _shown(score: float) -> float:
    """Return a score with the digits shown: halves round to even."""
    return float(f"{score:.2f}")


def _document_section(explanation: Explanation, total: float, ranking: Ranking) -> Section:
    lexical, vector, dated, propagated = rounded_parts(
        total,
        [
            explanation.lexical_part,
            explanation.vector_part,
            explanation.date_part,
            explanation.propagated,
        ],
    )
    maxima: list[float | None] = [None, None]
    if explanation.full_relevance is None and not explanation.date_reason:
        maxima[:] = rounded_parts(1.0, [explanation.lexical_weight, explanation.vector_weight])
    cosine = explanation.cosine
    feedback = [
        safe_line(document.title) for document in ranking.feedback_documents if cosine is not None
    ]
    addends = [
        Addend(
            lexical,
            maxima[0],
            "words",
            f"bm25 {explanation.raw_lexical:.1f}",
            words_sentence(explanation.raw_lexical, explanation.lexical),
        ),
        Addend(
            vector,
            maxima[1],
            "meaning",
            _similarity(cosine, ranking.evidence),
            meaning_sentence(cosine),
        ),
    ]
    if explanation.date_reason:
        addends.append(Addend(dated, None, "date", explanation.date_reason))
    if explanation.propagated_from:
        addends.append(
            Addend(propagated, None, "propagated", f"from the {explanation.propagated_from}")
        )
    notes = [f"feedback from {join_limited(feedback)}"] if feedback else []
    if explanation.full_relevance is not None:
        relevance = explanation.ranked.doc_relevance
        notes.insert(0, answer_words(relevance, explanation.full_relevance))
    return Section("document", total, tuple(addends), tuple(notes))


def _similarity(cosine: float | None, evidence: Evidence) -> str:
    if cosine is not None:
        return f"cosine {cosine:.2f}"
    if evidence.fast:
        return "not used by a fast search"
    return "no vector yet" if evidence.document_query else "nothing to compare"


def _entity_section(explanation: Explanation, total: float, mean: bool) -> Section:
    shares = explanation.entities
    values = rounded_parts(total, [share.share for share in shares])
    weights = [share.weight for share in shares]
    has_weights = len(set(weights)) > 1
    maxima = rounded_parts(1.0, weights) if has_weights else [None] * len(shares)
    addends = []
    for value, maximum, share in zip(values, maxima, shares, strict=True):
        name, answered = safe_line(share.name), share.answered
        reason = share_words(
            safe_line(share.reason),
            answered if explanation.full_relevance is not None else None,
            linked=share.link_strength > 0.0,
        )
        addends.append(Addend(value, maximum, name, reason, link_sentence(name, value, reason)))
    notes = []
    if len(shares) > 1:
        notes = [f"mean of the {len(shares)} named" if mean else "the best of them counts"]
    return Section("entity", total, tuple(addends), tuple(notes))


def words_sentence(raw: float, normalized: float) -> str:
    """Return what a BM25 score says; `normalized` is the same in 0..1."""
    label = f"bm25 {raw:.1f}"
    if raw <= 0.0:
        return f"{label}: no word of your question occurs here"
    if normalized >= OFTEN:
        return f"{label}: rare words of your question occur often here"
    if normalized >= SOME:
        return f"{label}: several words of your question occur here"
    return f"{label}: few words of your question occur here, or only frequent ones"


def meaning_sentence(cosine: float | None) -> str:
    """Return what a cosine says; None stands for a document without a vector."""
    if cosine is None:
        return "no number: meaning was not compared for this document"
    label = f"cosine {format_score(cosine)}"
    if cosine >= NEAR:
        return f"{label}: its best passage says nearly what you ask"
    if cosine >= RELATED:
        return f"{label}: its best passage is about something related"
    return f"{label}: its meaning has little to do with your question"


def link_sentence(name: str, share: float, reason: str) -> str:
    if not share:
        return f"{name} adds nothing: {reason}"
    link, *factors = reason.split(" × ")
    if link.startswith("."):  # the weight of the entity comes first
        link, *factors = factors
    answer = ", as far as it answers the topic" if factors else ""
    return f"{name} adds {format_score(share)}: the document is linked to it by {link}{answer}"


def _plain(weight: float) -> float:
    """Return `weight` without float noise, so that 1 - .7 is .3."""
    return round(weight, 6)


UNIT = Fraction(1, 100)


def formula_values(total: float, weights: Sequence[float], values: Sequence[float]) -> list[float]:
    """Return `values` rounded so that the sum of weight times value rounds to `total` rounded.

    The weights sum to 1 and are shown in full; `total` is the exact sum. Each returned value is
    within one last digit of the exact one.
    """
    target = Fraction(f"{total:.2f}")
    factors = [Fraction(str(weight)) for weight in weights]
    exact = [Fraction(value) / UNIT for value in values]

    def cost(candidate: tuple[int, ...]) -> tuple[bool, Fraction]:
        result = sum((w * n for w, n in zip(factors, candidate, strict=True)), Fraction(0)) * UNIT
        error = sum((abs(n - e) for n, e in zip(candidate, exact, strict=True)), Fraction(0))
        return abs(result - target) > UNIT / 2, error

    candidates = product(*(_nearest_integers(value) for value in exact))
    return [float(units * UNIT) for units in min(candidates, key=cost)]


def _nearest_integers(value: Fraction) -> tuple[int, ...]:
    """Return the integers around `value`, or just one if it is an integer up to float error."""
    nearest = round(value)
    if abs(value - nearest) < Fraction(1, 10**7):
        return (nearest,)
    return (floor(value), floor(value) + 1)
