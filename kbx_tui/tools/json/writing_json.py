"""The JSON of writes, undo and drafts, the same on every surface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kbx_tui.tools.json.similarity_json import conflicts_json, match_json, rounded

if TYPE_CHECKING:
    from kbx_tui.drafting.checks import DraftCheck, Verdict
    from kbx_tui.drafting.plans import Applied, Plan, Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.knowledge.records import Fact


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
