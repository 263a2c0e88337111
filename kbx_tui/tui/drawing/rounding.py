"""Numbers rounded for the screen so that what stands there is right when someone checks it. Pure.

A sum is shown as parts that add up (`rounded_parts`, largest remainder). The score is shown as a
formula, weight times value: there each value may be rounded down or up, and the choice nearest to
the truth whose formula gives the score as shown is taken. One always exists: with all values
rounded down the formula gives at most the truth, with all rounded up at least the truth and one
last digit more than that, so one of the two rounds to the same score.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import floor

from kbx_tui.formatting import join_words
from kbx_tui.safe_text import visible
from kbx_tui.search.ranking.explain import Explanation, rounded_parts
from kbx_tui.search.ranking.rank import Ranking, hotness_share
from kbx_tui.tui.explore.view import Part, Section, Term, Why

UNIT = Fraction(1, 100)


def shown(number: float) -> float:
    """Return `number` as the screen shows it: two decimals."""
    return float(f"{number:.2f}")


def formula_values(total: float, weights: Sequence[float], values: Sequence[float]) -> list[float]:
    """Round `values` so that the sum of weight x value rounds to `total` rounded.

    Weights sum to 1 and are shown in full; `total` is the exact sum. Each value is off by less
    than one last digit.
    """
    wanted = Fraction(f"{total:.2f}")
    factors = [Fraction(str(weight)) for weight in weights]
    exact = [Fraction(value) / UNIT for value in values]
    choices = [_down_or_up(value) for value in exact]

    def badness(choice: tuple[int, ...]) -> tuple[bool, Fraction]:
        result = sum((w * n for w, n in zip(factors, choice, strict=True)), Fraction(0)) * UNIT
        off = sum((abs(n - e) for n, e in zip(choice, exact, strict=True)), Fraction(0))
        return abs(result - wanted) > UNIT / 2, off

    return [float(units * UNIT) for units in min(product(*choices), key=badness)]


def why(ranking: Ranking, explanation: Explanation) -> Why:
    """Return everything the why pane says about one result."""
    ranked, evidence = explanation.ranked, ranking.evidence
    row, alpha = ranked.row, explanation.alpha
    h = hotness_share(ranking.evidence, ranking.tuning)
    relevance, parent = ranked.doc_relevance, ranked.parent_entity_score
    hotness = float(evidence.hotness[row])
    blended = ranked.document_part + ranked.entity_part + ranked.hotness_part
    names = ["document", "entity"] if explanation.two_pass else ["document"]
    inner = [alpha, 1.0 - alpha] if explanation.two_pass else [1.0]
    weights = [*((1.0 - h) * weight for weight in inner), h] if h else inner
    values = [relevance, parent][: len(inner)] + ([hotness] if h else [])
    rounded = formula_values(blended, [_plain(weight) for weight in weights], values)
    terms = tuple(
        Term(_plain(weight), value, name)
        for weight, value, name in zip(inner, rounded, names, strict=False)
    )
    sections = [_document_section(explanation, rounded[0], ranking)]
    if explanation.two_pass:
        sections.append(_entity_section(explanation, rounded[1], ranking.is_coverage))
    return Why(
        row=row,
        title=visible(evidence.titles[row]),
        path=visible(evidence.paths[row]),
        kind=visible(evidence.kinds[row]),
        date=visible(evidence.dates[row]),
        score=shown(blended),
        terms=terms,
        hotness=Term(h, rounded[-1], "hotness") if h else None,
        exact=ranked.exact,
        sections=tuple(sections),
    )


def _document_section(explanation: Explanation, total: float, ranking: Ranking) -> Section:
    lexical, vector, lent = rounded_parts(
        total, [explanation.lexical_part, explanation.vector_part, explanation.lent]
    )
    most = rounded_parts(1.0, [explanation.lexical_weight, explanation.vector_weight])
    cosine = explanation.cosine
    drawn_to = [visible(one.title) for one in ranking.drawn_to if cosine is not None]
    parts = [
        Part(lexical, most[0], "words", f"bm25 {explanation.raw_lexical:.1f}"),
        Part(
            vector,
            most[1],
            "meaning",
            "no vector yet" if cosine is None else f"cosine {cosine:.2f}",
        ),
    ]
    if explanation.lent_by:
        parts.append(Part(lent, None, "lent", f"by the {explanation.lent_by}"))
    return Section(
        "document",
        total,
        tuple(parts),
        f"meaning drawn to {join_words(drawn_to)}" if drawn_to else "",
    )


def _entity_section(explanation: Explanation, total: float, mean: bool) -> Section:
    shares = explanation.entities
    values = rounded_parts(total, [share.share for share in shares])
    parts = tuple(
        Part(value, None, visible(share.name), visible(share.reason))
        for value, share in zip(values, shares, strict=True)
    )
    note = ""
    if len(shares) > 1:
        note = f"mean of the {len(shares)} named" if mean else "the best one counts"
    return Section("entity", total, parts, note)


def _down_or_up(value: Fraction) -> tuple[int, ...]:
    """Whole numbers next to `value`; one when it is whole but for the noise of floats."""
    nearest = round(value)
    if abs(value - nearest) < Fraction(1, 10**7):
        return (nearest,)
    return (floor(value), floor(value) + 1)


def _plain(weight: float) -> float:
    """Return `weight` without the noise of floats: 1 - .7 is .3."""
    return round(weight, 6)
