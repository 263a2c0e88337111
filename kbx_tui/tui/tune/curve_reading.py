"""Computes curves from evidence that is kept: no query is searched again. Loads numpy. Pure."""

from __future__ import annotations

from kbx_tui.evaluation.judged_evidence import JudgedEvidence
from kbx_tui.evaluation.metrics import bootstrap_band, randomisation_p
from kbx_tui.search.ranking.alpha import swap_points
from kbx_tui.search.ranking.rank import rank
from kbx_tui.search.request import Tuning
from kbx_tui.tui.tune.curve import Curve, Measure, Tunable

DEPTH = 10
"""Results whose order the steps are about: as many as the measures read."""


def read_curve(kept: JudgedEvidence, knob: Tunable, measure: Measure, tuning: Tuning) -> Curve:
    """Return the curve around `tuning`; `kept` has at least one query."""
    settings = [*(knob.with_value(tuning, value) for value in knob.values), tuning]
    figures = getattr(kept.measure(settings), measure)
    means, band = figures.mean(axis=1), bootstrap_band(figures)
    return Curve(
        knob,
        measure,
        tuning,
        knob.values,
        tuple(means[:-1].tolist()),
        tuple(band[:-1, 0].tolist()),
        tuple(band[:-1, 1].tolist()),
        len(kept),
        float(means[-1]),
        float(band[-1, 0]),
        float(band[-1, 1]),
    )


def p_of_best(kept: JudgedEvidence, curve: Curve) -> float:
    best = curve.knob.with_value(curve.tuning, curve.values[curve.best])
    figures = getattr(kept.measure([curve.tuning, best]), curve.measure)
    return randomisation_p(figures[0].tolist(), figures[1].tolist())


def steps_of_query(
    kept: JudgedEvidence, query: str, knob: Tunable, tuning: Tuning
) -> tuple[float, ...]:
    """Return the values at which the first 10 results of one query change: swap points of alpha, or
    scores of entities for the threshold; none for other knobs.
    """
    texts = [each.text for each in kept.queries]
    if query not in texts:
        return ()
    evidence = kept.evidence[texts.index(query)]
    if knob.tuning_field == "alpha":
        return swap_points(rank(evidence, tuning), DEPTH)
    if knob.tuning_field == "entity_threshold":
        return tuple(sorted({entity.score for entity in evidence.entities if entity.score <= 1.0}))
    return ()
