"""The JSON of commands and tools. Names and order are a contract: see docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from kbx_tui.formatting import format_minute

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Applied, Draft, DraftCheck, Plan, Verdict, Written
    from kbx_tui.drafting.inbox import Proposal
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.experts.expert_engine import ExpertRanking
    from kbx_tui.importing.import_planning import ImportPlan
    from kbx_tui.importing.okf import OkfExport
    from kbx_tui.knowledge.records import Fact
    from kbx_tui.search.browse import PageList
    from kbx_tui.search.digest import Digest
    from kbx_tui.search.evidence.evidence import PreferredDates
    from kbx_tui.search.link_records import BrokenLink, DocumentLinks, RelatedDocuments
    from kbx_tui.search.results.response import SearchMeta, SearchResponse, SearchResult
    from kbx_tui.similarity.duplicate_scan import DuplicateScan
    from kbx_tui.similarity.pair_score import (
        DuplicateFact,
        FieldSimilarity,
        SimilarityCheck,
        SimilarityMatch,
    )


def picked(record: object, names: str, **others: Any) -> dict[str, Any]:
    """Return the named attributes of a record, in order, with the values in `others` substituted.

    `date?` stands for the attribute `date`, or None if empty; `score~` is rounded to four decimals.
    Raises ValueError for a value whose name is not listed.
    """
    fields = {}
    for word in names.split():
        name = word.rstrip("?~")
        value = others[name] if name in others else _plain(getattr(record, name))
        if word.endswith("~"):
            value = rounded(value)
        fields[name] = None if word.endswith("?") and not value else value
    if unlisted := others.keys() - fields.keys():
        raise ValueError(f"values without a name in the list: {sorted(unlisted)}")
    return fields


_SIMPLE = frozenset({str, int, float, bool, type(None)})


def _plain(value: Any) -> Any:
    if type(value) in _SIMPLE:  # nearly all are, and the tests below take ten times as long
        return value
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return dict(value) if isinstance(value, Mapping) else value


def rounded(value: Any) -> Any:
    """Return JSON with its numbers rounded to four decimals."""
    match value:
        case float():
            return round(value, 4)
        case dict():
            return {name: rounded(part) for name, part in value.items()}
        case list() | tuple():
            return [rounded(part) for part in value]
    return value


def search_json(response: SearchResponse) -> dict[str, Any]:
    results = list(map(result_json, response.results))
    return {"query": response.query, "results": results, "meta": meta_json(response.meta)}


def digest_json(digest: Digest) -> dict[str, Any]:
    return picked(digest, "text tokens budget left_out")


def result_json(result: SearchResult) -> dict[str, Any]:
    names = "path title date? doc_type score snippet explain line matches"
    return picked(result, names, explain=result.explain)


def meta_json(meta: SearchMeta) -> dict[str, Any]:
    names = (
        "search_mode search_mode_reason pass1_entities path_filter typed_filters dates timings "
        "total_matched total_below_floor in_scope vector_share"
    )
    return {
        **picked(meta, names, dates=dates_json(meta.dates)),
        **completeness_json(meta),
        "notes": list(meta.notes),
        "explain": meta.explain,
    }


def dates_json(dates: Sequence[PreferredDates]) -> list[dict[str, str | None]]:
    """Return the date words recognised: as typed, with first and last day; None for an open end."""
    return [{"text": one.text, "from": one.first or None, "to": one.last or None} for one in dates]


def completeness_json(meta: SearchMeta) -> dict[str, Any]:
    """Return, if only candidates were scored, how many and the recall; {} if all documents were."""
    if meta.candidates is None:
        return {}
    return {"complete": False, "candidates": meta.candidates, "recall": meta.recall}


def experts_json(ranking: ExpertRanking) -> dict[str, Any]:
    names = (
        "entity_id name type claim_count full_claim_count citation_count score top_claim_ids "
        "top_claims"
    )
    experts = [
        picked(
            expert,
            names,
            top_claims=[receipt.text for receipt in expert.receipts[: len(expert.top_claim_ids)]],
        )
        for expert in ranking.experts
    ]
    return picked(ranking, "experts topic weight total_matched in_scope notes", experts=experts)


def check_json(check: SimilarityCheck) -> dict[str, Any]:
    names = "text score~ fact_id threshold match_type source_path line"
    return picked(
        check,
        "query scope threshold matches has_similar best_score~ nearest model is_calibrated "
        "in_scope notes",
        matches=list(map(match_json, check.matches)),
        nearest=[picked(each, names) for each in check.nearest],
    )


def match_json(match: SimilarityMatch) -> dict[str, Any]:
    return picked(
        match,
        "text score~ fact_id source_path date? entity_name? match_type threshold relation cosine~ "
        "signals~ conflicts reason line done field? is_similar",
        reason=match.judgement.reason,
    )


def field_json(check: FieldSimilarity) -> dict[str, Any]:
    of_pair: dict[str, Any] = {"relation": None, "cosine": None, "signals": None, "conflicts": []}
    if check.pair is not None:
        of_pair = picked(check.pair, "relation cosine~ signals~ conflicts")
    return picked(
        check,
        "entity field current_value proposed_value similarity~ is_similar threshold match_type "
        "relation cosine signals conflicts model notes",
        **of_pair,
    )


def scan_json(scan: DuplicateScan) -> dict[str, Any]:
    clusters = [
        picked(cluster, "score~ relation facts", facts=_facts_json(cluster.facts))
        for cluster in scan.clusters
    ]
    conflicting = [
        picked(pair, "score~ conflicts facts", facts=_facts_json(pair.facts))
        for pair in scan.conflicting
    ]
    return picked(
        scan,
        "clusters facts conflicts conflicting kept model is_calibrated notes",
        clusters=clusters,
        conflicts=len(conflicting),
        conflicting=conflicting,
    )


def _facts_json(facts: Iterable[DuplicateFact]) -> list[dict[str, Any]]:
    return [asdict(fact) | {"date": fact.date or None} for fact in facts]


def written_json(written: Written) -> dict[str, Any]:
    return picked(
        written,
        "written matches path fact_id line? diff hints entry proposal",
        matches=list(map(match_json, written.matches)),
        proposal=None,
    )


def fact_json(fact: Fact, entity_name: str) -> dict[str, Any]:
    names = "fact_id text date? entity_id entity_name kind status done path line sources confidence"
    return picked(fact, names, entity_name=entity_name)


def entry_json(entry: JournalEntry) -> dict[str, Any]:
    return {
        "entry": entry.number,
        "at": entry.written_at,
        "told": entry.description,
        "undone": entry.undone,
        "paths": [change.path for change in entry.changes],
    }


def dedup_json(
    checks: list[tuple[DraftCheck, Verdict]], plan: Plan, applied: Applied | None
) -> dict[str, Any]:
    return {
        "drafts": [_draft_json(check, verdict) for check, verdict in checks],
        "diff": plan.diff,
        "applied": None if applied is None else _applied_json(applied),
    }


def _draft_json(check: DraftCheck, verdict: Verdict) -> dict[str, Any]:
    draft, entity, proposal = check.draft, check.entity, verdict.proposal
    candidates = [picked(guess, "id name score~ reason") for guess in check.candidates]
    repeats = [
        {
            "text": repeat.text,
            **picked(repeat.pair, "score~ relation conflicts"),
            "reason": repeat.pair.judgement.reason,
        }
        for repeat in check.repeats
    ]
    return {
        **picked(draft, "text kind date? source?"),
        "asked": _asked_json(draft),
        "entity_id": entity.id if entity else None,
        "entity_name": entity.name if entity else None,
        "candidates": candidates,
        **picked(verdict, "state reason"),
        "proposal": {**picked(proposal, "action fact_ids text?"), "is_sure": verdict.is_sure},
        "matches": [match_json(match.known) | {"is_own": match.is_own} for match in check.matches],
        "repeats": repeats,
        "notes": list(check.notes),
    }


def _asked_json(draft: Draft) -> dict[str, Any] | None:
    """Return who proposes a draft and what for; None for one of the user."""
    if (asked := draft.asked) is None:
        return None
    return {
        "id": draft.id,
        **picked(asked, "by at", at=format_minute(asked.at)),
        **picked(asked.choice, "action fact_ids"),
    }


def proposal_json(proposal: Proposal) -> dict[str, Any]:
    at = None if proposal.decided_at is None else format_minute(proposal.decided_at)
    return {
        **picked(proposal.draft, "text kind entity_id"),
        "asked": _asked_json(proposal.draft),
        **picked(proposal, "outcome decided_at written?", decided_at=at),
    }


def _applied_json(applied: Applied) -> dict[str, Any]:
    failed = [{"draft": failed.draft_id, "reason": failed.reason} for failed in applied.failed]
    names = "created merged superseded ticked removed skipped failed paths entry"
    return picked(applied, names, failed=failed)


def links_json(links: DocumentLinks, notes: Sequence[str] = ()) -> dict[str, Any]:
    line = "path title date? line text"
    return {
        "path": links.path,
        "title": links.title,
        "backlinks": [picked(each, line) for each in links.backlinks],
        "mentions": [picked(each, f"{line} name") for each in links.mentions],
        "outgoing": [
            picked(each, "id path? title line", id=each.entity_id or each.path)
            for each in links.outgoing
        ],
        "broken": list(map(broken_json, links.broken)),
        "notes": list(notes),
    }


def list_json(found: PageList, notes: Sequence[str]) -> dict[str, Any]:
    names = "id path title type date? lines more_lines"
    pages = [picked(page, names) for page in found.pages]
    return {"pages": pages, "total": len(found.paths), "notes": list(notes)}


def related_json(found: RelatedDocuments) -> dict[str, Any]:
    names = "path title date? type score~ reason"
    rows = [picked(each, names, type=each.kind) for each in found.related]
    return picked(found, "path title related notes", related=rows)


def broken_json(link: BrokenLink) -> dict[str, Any]:
    return picked(link, "target line suggestions")


def import_json(plan: ImportPlan, entry: int | None) -> dict[str, Any]:
    uncertain = [
        picked(question.attendee, "name email?")
        | {"candidates": [person.id for person in question.candidates]}
        for question in plan.questions
    ]
    return picked(
        plan,
        "written entry paths present differing attendees uncertain unknown problems diff",
        written=entry is not None,
        entry=entry,
        paths=[edit.path for edit in plan.edits],
        uncertain=uncertain,
        unknown=[picked(who, "name email?") for who in plan.unknown],
    )


def export_json(export: OkfExport) -> dict[str, Any]:
    return picked(export, "folder pages withheld reserved", folder=str(export.folder))
