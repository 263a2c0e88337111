"""The JSON of commands and tools. Names and order are a contract: see docs/cli.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

from kbx_tui.tools.answers import field_names

if TYPE_CHECKING:
    from kbx_tui.drafting.drafts import Applied, DraftCheck, Plan, Verdict, Written
    from kbx_tui.editing.journal import JournalEntry
    from kbx_tui.experts.expert_ranking import ExpertRanking
    from kbx_tui.importing.import_planning import ImportPlan
    from kbx_tui.importing.okf import OkfExport
    from kbx_tui.knowledge.records import Fact
    from kbx_tui.search.evidence.evidence import PreferredDates
    from kbx_tui.search.link_records import BrokenLink, DocumentLinks
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


def _plain(value: Any) -> Any:
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


def result_json(result: SearchResult) -> dict[str, Any]:
    return picked(result, field_names("KbxSearchResult"), explain=result.explain)


def meta_json(meta: SearchMeta) -> dict[str, Any]:
    names, is_complete = field_names("KbxSearchMeta"), meta.candidates is None
    others = {"dates": dates_json(meta.dates), "explain": meta.explain, "complete": is_complete}
    fields = picked(meta, names, **others).items()
    return {name: value for name, value in fields if not (is_complete and name in _COMPLETENESS)}


def dates_json(dates: Sequence[PreferredDates]) -> list[dict[str, str | None]]:
    """Return the date words recognised: as typed, with first and last day; None for an open end."""
    return [
        {"text": read.text, "from": read.first or None, "to": read.last or None} for read in dates
    ]


_COMPLETENESS = ("complete", "candidates", "recall")


def completeness_json(meta: SearchMeta) -> dict[str, Any]:
    """Return, if only candidates were scored, how many and the recall; {} if all documents were."""
    if meta.candidates is None:
        return {}
    return dict(zip(_COMPLETENESS, (False, meta.candidates, meta.recall), strict=True))


def experts_json(ranking: ExpertRanking) -> dict[str, Any]:
    names = field_names("ExpertRow")
    experts = []
    for expert in ranking.experts:
        texts = [receipt.text for receipt in expert.receipts[: len(expert.top_claim_ids)]]
        experts.append(picked(expert, names, top_claims=texts))
    return picked(ranking, field_names("KbExpertsAnswer"), experts=experts)


def check_json(check: SimilarityCheck) -> dict[str, Any]:
    return picked(
        check,
        field_names("KbxMemorySimilarAnswer"),
        matches=list(map(match_json, check.matches)),
        nearest=[picked(each, field_names("NearestText")) for each in check.nearest],
    )


def match_json(match: SimilarityMatch) -> dict[str, Any]:
    return picked(match, field_names("SimilarMatch"), reason=match.judgement.reason)


def field_json(check: FieldSimilarity) -> dict[str, Any]:
    of_pair: dict[str, Any] = {"relation": None, "cosine": None, "signals": None, "conflicts": []}
    if check.pair is not None:
        of_pair = picked(check.pair, " ".join(of_pair))
    return picked(check, field_names("KbxEntitySimilarFieldAnswer"), **of_pair)


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
    matches = list(map(match_json, written.matches))
    return picked(written, field_names("WrittenAnswer"), matches=matches)


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
        "entity_id": entity.id if entity else None,
        "entity_name": entity.name if entity else None,
        "candidates": candidates,
        **picked(verdict, "state reason"),
        "proposal": {**picked(proposal, "action fact_ids text?"), "is_sure": verdict.is_sure},
        "matches": [match_json(match.known) | {"is_own": match.is_own} for match in check.matches],
        "repeats": repeats,
        "notes": list(check.notes),
    }


def _applied_json(applied: Applied) -> dict[str, Any]:
    failed = [{"draft": failed.draft_id, "reason": failed.reason} for failed in applied.failed]
    names = "created merged superseded ticked skipped failed paths entry"
    return picked(applied, names, failed=failed)


def links_json(links: DocumentLinks, notes: Sequence[str] = ()) -> dict[str, Any]:
    linked = field_names("LinkedPage")
    return picked(
        links,
        field_names("KbxLinksAnswer"),
        backlinks=[picked(each, field_names("LinkingLine")) for each in links.backlinks],
        mentions=[picked(each, field_names("MentioningLine")) for each in links.mentions],
        outgoing=[picked(each, linked, id=each.entity_id or each.path) for each in links.outgoing],
        broken=list(map(broken_json, links.broken)),
        notes=list(notes),
    )


def broken_json(link: BrokenLink) -> dict[str, Any]:
    return picked(link, field_names("BrokenTarget"))


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
