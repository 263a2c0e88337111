"""The JSON of `memory similar`, `entity similar-field` and `dedup --scan`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.similarity.conflicts.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.matches import (
        DuplicateFact,
        FieldSimilarity,
        SimilarityCheck,
        SimilarityMatch,
    )
    from kbx_tui.similarity.scoring.signals import Signals


def check_json(check: SimilarityCheck) -> dict[str, Any]:
    """Return the output of `kbx memory similar --json`."""
    nearest = [asdict(text) | {"score": rounded(text.score)} for text in check.nearest]
    return {
        "query": check.query,
        "scope": dict(check.scope),
        "threshold": check.threshold,
        "matches": [match_json(match) for match in check.matches],
        "has_similar": check.has_similar,
        "best_score": rounded(check.best_score),
        "nearest": nearest,
        "model": check.model,
        "is_calibrated": check.is_calibrated,
        "in_scope": check.in_scope,
        "notes": list(check.notes),
    }


def match_json(match: SimilarityMatch) -> dict[str, Any]:
    """Return a match, the same object in every answer."""
    return asdict(match) | {
        "score": rounded(match.score),
        "date": match.date or None,
        "entity_name": match.entity_name or None,
        "cosine": rounded(match.cosine),
        "signals": signals_json(match.signals),
        "conflicts": conflicts_json(match.conflicts),
        "field": match.field or None,
        "is_similar": match.is_similar,
    }


def field_json(check: FieldSimilarity) -> dict[str, Any]:
    """Return the output of `kbx entity similar-field --json`."""
    pair = check.pair
    return {
        "entity": check.entity,
        "field": check.field,
        "current_value": check.current_value,
        "proposed_value": check.proposed_value,
        "similarity": rounded(check.similarity),
        "is_similar": check.is_similar,
        "threshold": check.threshold,
        "match_type": check.match_type,
        "relation": pair.relation if pair else None,
        "cosine": rounded(pair.cosine) if pair else None,
        "signals": signals_json(pair.signals) if pair else None,
        "conflicts": conflicts_json(pair.conflicts if pair else ()),
        "model": check.model,
        "notes": list(check.notes),
    }


def scan_json(scan: DuplicateScan) -> dict[str, Any]:
    """Return the output of `kbx dedup --scan --json`."""
    return {
        "clusters": [
            {
                "score": rounded(cluster.score),
                "relation": cluster.relation,
                "facts": _facts_json(cluster.facts),
            }
            for cluster in scan.clusters
        ],
        "facts": scan.facts,
        "conflicts": len(scan.conflicting),
        "conflicting": [
            {
                "score": rounded(pair.score),
                "conflicts": conflicts_json(pair.conflicts),
                "facts": _facts_json(pair.facts),
            }
            for pair in scan.conflicting
        ],
        "kept": scan.kept,
        "model": scan.model,
        "is_calibrated": scan.is_calibrated,
        "notes": list(scan.notes),
    }


def signals_json(signals: Signals) -> dict[str, Any]:
    """Return the signals of a score by name."""
    return {
        name: rounded(value) if isinstance(value, float) else value
        for name, value in asdict(signals).items()
    }


def conflicts_json(conflicts: Iterable[Conflict]) -> list[dict[str, str]]:
    """Return what contradicts each other in two texts."""
    return [asdict(conflict) for conflict in conflicts]


def _facts_json(facts: Iterable[DuplicateFact]) -> list[dict[str, Any]]:
    return [asdict(fact) | {"date": fact.date or None} for fact in facts]


def rounded(number: float) -> float:
    """Return a score with four decimals."""
    return round(number, 4)
