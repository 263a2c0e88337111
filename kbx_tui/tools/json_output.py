"""The JSON of commands and tools. Names and order are a contract, see docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kbx_tui.drafting.records import Applied, DraftCheck, Plan, Verdict, Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.experts.expert_ranking import ExpertRanking
    from kbx_tui.importing.import_planning import ImportPlan
    from kbx_tui.importing.okf import OkfExport
    from kbx_tui.knowledge.records import Fact
    from kbx_tui.search.evidence.evidence import PreferredDates
    from kbx_tui.search.link_records import Backlink, BrokenLink, DocumentLinks, UnlinkedMention
    from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
    from kbx_tui.similarity.compared_words import Signals
    from kbx_tui.similarity.conflict_guard import Conflict
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.matches import (
        DuplicateFact,
        FieldSimilarity,
        SimilarityCheck,
        SimilarityMatch,
    )


def search_json(response: SearchResponse) -> dict[str, Any]:
    """Return the output of `kbx search --json`; `explain` is null unless requested."""
    return {
        "query": response.query,
        "results": [_result(result) for result in response.results],
        "meta": _meta(response.meta),
    }


def experts_json(ranking: ExpertRanking) -> dict[str, Any]:
    """Return the output of `kbx experts --json`."""
    return {
        "experts": [
            {
                "entity_id": expert.entity_id,
                "name": expert.name,
                "type": expert.type,
                "claim_count": expert.claim_count,
                "full_claim_count": expert.full_claim_count,
                "citation_count": expert.citation_count,
                "score": expert.score,
                "top_claim_ids": list(expert.top_claim_ids),
            }
            for expert in ranking.experts
        ],
        "topic": ranking.topic,
        "weight": ranking.weight,
        "total_matched": ranking.total_matched,
        "in_scope": ranking.in_scope,
        "notes": list(ranking.notes),
    }


def dates_json(dates: Sequence[PreferredDates]) -> list[dict[str, str | None]]:
    """Return the date words that were read: as typed, first and last day; null for an open end."""
    return [
        {"text": read.text, "from": read.first or None, "to": read.last or None} for read in dates
    ]


def completeness_json(meta: SearchMeta) -> dict[str, Any]:
    """Return that only candidates were scored, how many, and the recall; nothing if all were."""
    if meta.candidates is None:
        return {}
    return {"complete": False, "candidates": meta.candidates, "recall": meta.recall}


def _result(result: SearchResult) -> dict[str, Any]:
    return {
        "path": result.path,
        "title": result.title,
        "date": result.date or None,
        "doc_type": result.doc_type,
        "score": result.score,
        "snippet": result.snippet,
        "explain": result.explain,
        "line": result.line,
        "matches": [list(span) for span in result.matches],
    }


def _meta(meta: SearchMeta) -> dict[str, Any]:
    return {
        "search_mode": meta.search_mode,
        "search_mode_reason": meta.search_mode_reason,
        "pass1_entities": [asdict(entity) for entity in meta.pass1_entities],
        "path_filter": meta.path_filter,
        "typed_filters": list(meta.typed_filters),
        "dates": dates_json(meta.dates),
        "timings": dict(meta.timings),
        "total_matched": meta.total_matched,
        "total_below_floor": meta.total_below_floor,
        "in_scope": meta.in_scope,
        "vector_share": meta.vector_share,
        **completeness_json(meta),
        "notes": list(meta.notes),
        "explain": meta.explain,
    }


def check_json(check: SimilarityCheck) -> dict[str, Any]:
    """Return the output of `kbx memory similar --json`."""
    return {
        "query": check.query,
        "scope": dict(check.scope),
        "threshold": check.threshold,
        "matches": [match_json(match) for match in check.matches],
        "has_similar": check.has_similar,
        "best_score": rounded(check.best_score),
        "nearest": [
            {
                "text": text.text,
                "score": rounded(text.score),
                "threshold": text.threshold,
                "match_type": text.match_type,
                "source_path": text.source_path,
                "line": text.line,
            }
            for text in check.nearest
        ],
        "model": check.model,
        "is_calibrated": check.is_calibrated,
        "in_scope": check.in_scope,
        "notes": list(check.notes),
    }


def match_json(match: SimilarityMatch) -> dict[str, Any]:
    """Return a match, the same object in every answer."""
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


def written_json(written: Written) -> dict[str, Any]:
    """Return the output of a command that writes one file."""
    return {
        "written": written.written,
        "matches": [match_json(match) for match in written.matches],
        "path": written.path,
        "fact_id": written.fact_id,
        "line": written.line or None,
        "diff": written.diff,
        "hints": list(written.hints),
        "entry": written.entry,
    }


def fact_json(fact: Fact, entity_name: str) -> dict[str, Any]:
    """Return a fact of `kbx memory list --json`."""
    return {
        "fact_id": fact.fact_id,
        "text": fact.text,
        "date": fact.date or None,
        "entity_id": fact.entity_id,
        "entity_name": entity_name,
        "kind": fact.kind,
        "status": fact.status,
        "done": fact.done,
        "path": fact.path,
        "line": fact.line,
        "sources": list(fact.sources),
        "confidence": fact.confidence,
    }


def entry_json(entry: JournalEntry) -> dict[str, Any]:
    """Return a write of `kbx undo --json`."""
    return {
        "entry": entry.number,
        "at": entry.written_at,
        "told": entry.description,
        "undone": entry.undone,
        "paths": [change.path for change in entry.changes],
    }


def draft_json(check: DraftCheck, verdict: Verdict) -> dict[str, Any]:
    """Return a draft with what is similar to it and the proposal."""
    draft, entity, proposal = check.draft, check.entity, verdict.proposal
    return {
        "text": draft.text,
        "kind": draft.kind,
        "date": draft.date or None,
        "source": draft.source or None,
        "entity_id": entity.id if entity else None,
        "entity_name": entity.name if entity else None,
        "candidates": [
            {
                "id": guess.id,
                "name": guess.name,
                "score": rounded(guess.score),
                "reason": guess.reason,
            }
            for guess in check.candidates
        ],
        "state": verdict.state,
        "reason": verdict.reason,
        "proposal": {
            "action": proposal.action,
            "fact_ids": list(proposal.fact_ids),
            "text": proposal.text or None,
            "is_sure": verdict.is_sure,
        },
        "matches": [match_json(match.known) | {"is_own": match.is_own} for match in check.matches],
        "repeats": [
            {
                "text": repeat.text,
                "score": rounded(repeat.pair.score),
                "relation": repeat.pair.relation,
                "conflicts": conflicts_json(repeat.pair.conflicts),
            }
            for repeat in check.repeats
        ],
        "notes": list(check.notes),
    }


def applied_json(applied: Applied) -> dict[str, Any]:
    """Return the outcome of applying drafts."""
    return {
        "created": applied.created,
        "merged": applied.merged,
        "superseded": applied.superseded,
        "skipped": applied.skipped,
        "failed": [
            {"draft": failed.draft_id, "reason": failed.reason} for failed in applied.failed
        ],
        "paths": list(applied.paths),
        "entry": applied.entry,
    }


def dedup_json(
    checks: list[tuple[DraftCheck, Verdict]], plan: Plan, applied: Applied | None
) -> dict[str, Any]:
    """Return the output of `kbx dedup FILE --json`; `plan` holds the certain drafts."""
    return {
        "drafts": [draft_json(check, verdict) for check, verdict in checks],
        "diff": plan.diff,
        "applied": applied_json(applied) if applied else None,
    }


def links_json(links: DocumentLinks, notes: Sequence[str] = ()) -> dict[str, Any]:
    """Return the links of a document as JSON."""
    return {
        "path": links.path,
        "title": links.title,
        "backlinks": list(map(_linking_line, links.backlinks)),
        "mentions": [{**_linking_line(each), "name": each.name} for each in links.mentions],
        "outgoing": [
            {
                "id": each.entity_id or each.path,
                "path": each.path or None,
                "title": each.title,
                "line": each.line,
            }
            for each in links.outgoing
        ],
        "broken": list(map(broken_json, links.broken)),
        "notes": list(notes),
    }


def broken_json(link: BrokenLink) -> dict[str, Any]:
    """Return a broken link as JSON, without its document."""
    return {"target": link.target, "line": link.line, "suggestions": list(link.suggestions)}


def _linking_line(each: Backlink | UnlinkedMention) -> dict[str, Any]:
    return {
        "path": each.path,
        "title": each.title,
        "date": each.date or None,
        "line": each.line,
        "text": each.text,
    }


def import_json(plan: ImportPlan, entry: int | None) -> dict[str, Any]:
    """Return the output of `kbx import --json`; `entry` is None if nothing was written."""
    return {
        "written": entry is not None,
        "entry": entry,
        "paths": [edit.path for edit in plan.edits],
        "present": plan.present,
        "differing": list(plan.differing),
        "attendees": plan.attendees,
        "uncertain": [
            {
                "name": question.attendee.name,
                "email": question.attendee.email or None,
                "candidates": [person.id for person in question.candidates],
            }
            for question in plan.questions
        ],
        "unknown": [{"name": who.name, "email": who.email or None} for who in plan.unknown],
        "problems": [{"path": one.path, "reason": one.reason} for one in plan.problems],
        "diff": plan.diff,
    }


def export_json(export: OkfExport) -> dict[str, Any]:
    """Return the output of `kbx export --json`."""
    return {
        "folder": str(export.folder),
        "pages": export.pages,
        "withheld": list(export.withheld),
        "reserved": list(export.reserved),
    }
