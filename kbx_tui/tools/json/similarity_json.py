"""The JSON of `memory similar`, `entity similar-field` and `dedup`; the seed's fields first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.similarity.conflicts.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.matches import (
        FieldSimilarity,
        Nearest,
        SimilarityCheck,
        SimilarityMatch,
    )
    from kbx_tui.similarity.scoring.signals import Signals


def check_json(check: SimilarityCheck) -> dict[str, Any]:
    """Return what `kbx memory similar --json` prints."""
    return {
        "query": check.query,
        "scope": dict(check.scope),
        "threshold": check.threshold,
        "matches": [match_json(match) for match in check.matches],
        "has_similar": check.has_similar,
        "best_score": rounded(check.best_score),
        "nearest": [nearest_json(one) for one in check.nearest],
        "model": check.model,
        "is_calibrated": check.is_calibrated,
        "notes": list(check.notes),
    }


def nearest_json(nearest: Nearest) -> dict[str, Any]:
    """Return what has one of the best scores, with the threshold it is held to."""
    return {
        "text": nearest.text,
        "score": rounded(nearest.score),
        "threshold": nearest.threshold,
        "match_type": nearest.match_type,
        "source_path": nearest.source_path,
        "line": nearest.line,
    }


def match_json(match: SimilarityMatch) -> dict[str, Any]:
    """Return one match."""
    return {
        "text": match.text,
        "score": rounded(match.score),
        "fact_id": match.fact_id,
        "source_path": match.source_path,
        "date": match.date or None,
        "entity_name": match.entity_name or None,
        "match_type": match.match_type,
        "threshold": match.threshold,
        "relation": match.relation,
        "cosine": rounded(match.cosine),
        "signals": signals_json(match.signals),
        "conflicts": conflicts_json(match.conflicts),
        "line": match.line,
        "done": match.done,
    }


def field_json(found: FieldSimilarity) -> dict[str, Any]:
    """Return what `kbx entity similar-field --json` prints."""
    pair = found.pair
    return {
        "entity": found.entity,
        "field": found.field,
        "current_value": found.current_value,
        "proposed_value": found.proposed_value,
        "similarity": rounded(found.similarity),
        "is_similar": found.is_similar,
        "threshold": found.threshold,
        "match_type": found.match_type,
        "relation": pair.relation if pair else None,
        "cosine": rounded(pair.cosine) if pair else None,
        "signals": signals_json(pair.signals) if pair else None,
        "conflicts": conflicts_json(pair.conflicts if pair else ()),
        "model": found.model,
    }


def scan_json(scan: DuplicateScan) -> dict[str, Any]:
    """Return what `kbx dedup --scan --json` prints."""
    clusters = [
        {
            "score": rounded(cluster.score),
            "relation": cluster.relation,
            "facts": [asdict(fact) | {"date": fact.date or None} for fact in cluster.facts],
        }
        for cluster in scan.clusters
    ]
    return {
        "clusters": clusters,
        "facts": scan.facts,
        "conflicts": len(scan.conflicting),
        "conflicting": [
            {
                "score": rounded(pair.score),
                "conflicts": conflicts_json(pair.conflicts),
                "facts": [asdict(fact) | {"date": fact.date or None} for fact in pair.facts],
            }
            for pair in scan.conflicting
        ],
        "model": scan.model,
        "is_calibrated": scan.is_calibrated,
        "notes": list(scan.notes),
    }


def signals_json(signals: Signals) -> dict[str, Any]:
    return {
        name: rounded(value) if isinstance(value, float) else value
        for name, value in asdict(signals).items()
    }


def conflicts_json(conflicts: Iterable[Conflict]) -> list[dict[str, str]]:
    return [asdict(conflict) for conflict in conflicts]


def rounded(number: float) -> float:
    return round(number, 4)
