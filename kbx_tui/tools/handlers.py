"""The handler of each method, which turns validated arguments into the JSON of the answer.

`kb` is the base as agents see it (`KnowledgeBase.public`). All handlers need the engine, so
`dispatch` imports this module only at the first call.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from kbx_tui import __version__
from kbx_tui.api import KnowledgeBase
from kbx_tui.api.documents import unknown_id
from kbx_tui.drafting.drafts import Action, Asked, Choice, Draft, new_draft
from kbx_tui.errors import ConfigError, EmbeddingError, IndexFault, NotFound
from kbx_tui.formatting import format_minute
from kbx_tui.knowledge.records import Document, Entity, Fact
from kbx_tui.knowledge.redaction import PublicPage
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import SearchRequest
from kbx_tui.search.results.answer import NOT_INDEXED
from kbx_tui.search.results.response import SENTENCE_END, SearchResult
from kbx_tui.similarity.pair_score import require_text
from kbx_tui.tools import arguments
from kbx_tui.tools.arguments import KbGet, KbSearch, SearchFilters
from kbx_tui.tools.json_output import (
    check_json,
    completeness_json,
    dates_json,
    digest_json,
    experts_json,
    field_json,
    links_json,
    list_json,
    picked,
    related_json,
    search_json,
    written_json,
)

Handler = Callable[[KnowledgeBase, Any], dict[str, Any]]
Json = dict[str, Any]

VOICE_RESULTS = 3
SNIPPET_LENGTH = 200
_END = re.compile(rf"{SENTENCE_END.pattern}|(?= - [\[A-Z])")
"""The end of a sentence, or of an item in a list."""
NEWER_FILE = "the file changed since it was indexed: searches and metadata may not know its content"


def search_data(kb: KnowledgeBase, args: KbSearch) -> Json:
    voice = args.capabilities is not None and args.capabilities.voice
    limit = min(args.limit, VOICE_RESULTS) if voice else args.limit
    filters = args.filters or SearchFilters.model_validate({})
    data: Json = {
        "results": [],
        "total_found": 0,
        "query": args.query,
        "filters_applied": filters.model_dump(exclude_none=True, by_alias=True) or None,
        "typed_filters": [],
        "clamped": limit < args.limit,
        "total_matched": 0,
        "total_below_floor": 0,
        "in_scope": 0,
        "dates": [],
        "notes": [NOT_INDEXED],
    }
    if len(args.query.strip()) < 3:
        raise ConfigError("query must have at least 3 characters besides spaces")
    if not kb.is_indexed():
        return data
    kb.documents.require_scope([filters.type] if filters.type else ())
    request = SearchRequest(
        args.query,
        limit=limit,
        path=filters.path,
        doc_types=[filters.type] if filters.type else (),
        since=filters.since,
        until=filters.until,
        tags=[filters.tag] if filters.tag else (),
        entities=[filters.entity] if filters.entity else (),
        dates=args.dates,
    )
    response = kb.search(request)
    meta, rows = response.meta, _rows(kb, response.results, with_snippets=args.include_snippets)
    return data | {
        "results": rows,
        "total_found": len(rows),
        **picked(meta, "total_matched total_below_floor in_scope"),
        **completeness_json(meta),
        **picked(meta, "typed_filters dates notes", dates=dates_json(meta.dates)),
    }


def get_data(kb: KnowledgeBase, args: KbGet) -> Json:
    """Return facts and pages; together they have at most `max_chars` characters."""
    if args.ids is None:
        if args.id is None:
            raise ConfigError("id is missing; ids reads several")
        return _get(kb, args.id, args, args.max_chars)
    if args.id is not None or args.lines is not None or args.offset:
        raise ConfigError("id, lines and offset are for a single page; leave them out with ids")
    pages, left = list[Json](), args.max_chars
    for each in args.ids:
        pages.append(_get(kb, each, args, left))
        left -= len(pages[-1]["content"])
    return {"pages": pages, "notes": []}


def _get(kb: KnowledgeBase, wanted: str | int, args: KbGet, most: int) -> Json:
    """Return a fact, or a page as it is on disk and count it as opened. Raises NotFound."""
    if isinstance(wanted, int) or wanted.isdecimal():
        return _fact_data(kb, kb.pages.fact(int(wanted)))
    if wanted.startswith(PROPOSAL) and (found := _proposal_data(kb, wanted)):
        return found
    documents = kb.documents
    path, entity = documents.identify(wanted)
    page = documents.public_page(path) if path else None
    if page is None or page.is_hidden:
        if entity is None or path:
            raise unknown_id(wanted)
        return _data(entity.id, entity.type, entity, None, "")  # it has no page
    document, text = page.document, page.body
    start, stop = args.offset, len(text)
    if args.lines is not None:
        start, stop = _span_of_lines(args.lines, text, document)
    content = text[start : min(stop, start + most)]
    end = start + len(content)
    if args.offset == 0:  # reading later parts does not count as opening
        documents.opened(path)
    document_id, kind = documents.ids([path])[path], entity.type if entity else document.kind
    return _data(document_id, kind, entity, document, content) | {
        "chunks_count": len(documents.chunk_lines([path]).get(path, ())),
        "total_chars": len(text),
        "next_offset": end if end < len(text) else None,
        "notes": _newer_file(kb, page),
    }


def _span_of_lines(lines: str, text: str, document: Document) -> tuple[int, int]:
    """Return the places in the body of lines of the file, such as `10-40` or `10`."""
    found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", lines.strip())
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if not 1 <= first <= last:
        raise ConfigError(f"lines {lines[:50]!r} is not valid: write them as 10-40")
    rows, above = re.findall(r"[^\n]*\n|[^\n]+", text), document.body_line - 1
    if first > above + len(rows):
        raise ConfigError(f"{document.path} ends at line {above + len(rows):,}")
    start, stop = (max(line - above, 0) for line in (first - 1, last))
    return sum(map(len, rows[:start])), sum(map(len, rows[:stop]))


def _fact_data(kb: KnowledgeBase, fact: Fact) -> Json:
    _, entity = kb.documents.identify(fact.path)
    page = kb.documents.public_page(fact.path)
    document = page.document if page else None
    data = _data(str(fact.fact_id), fact.kind, entity, document, fact.text)
    return data | {
        "metadata": data["metadata"] | {"date": fact.date or None},
        "fact": picked(fact, "fact_id line status done sources confidence"),
        "notes": _newer_file(kb, page),
    }


def _proposal_data(kb: KnowledgeBase, wanted: str) -> Json | None:
    """Return what became of a proposal, without its text: that may have been redacted since."""
    for proposal in kb.drafts.proposals():
        asked = proposal.draft.asked
        if asked is not None and wanted == PROPOSAL + proposal.draft.id:
            days = [format_minute(at) if at else None for at in (asked.at, proposal.decided_at)]
            state = {"outcome": proposal.outcome, "proposed_at": days[0], "decided_at": days[1]}
            return _data(wanted, "proposal", None, None, _SAID[proposal.outcome]) | {
                "proposal": state
            }
    return None


PROPOSAL = "proposal:"
MOST_NAME = 40
_SAID = {
    "waiting": "It waits for the user's review.",
    "accepted": "The user accepted it, and it is written.",
    "changed": "The user wrote something else instead; search before you propose it again.",
    "refused": "Not written: refused or already known. Do not propose it again unless asked.",
}


def proposed_draft(kb: KnowledgeBase, args: Any, by: str) -> Draft:
    """Return what a call of a writing tool asks for, as a draft. Raises as its handler."""
    choice = Choice("create")
    if isinstance(args, arguments.KbxMemoryAdd):
        text, kind, owner = args.text, args.kind, kb.entities.resolve(args.entity).id
    else:
        fact = kb.pages.fact(args.fact_id)
        text, kind, owner = getattr(args, "text", "") or fact.text, fact.kind, fact.entity_id
        choice = Choice(_ACTIONS[type(args)], (fact.fact_id,))
        if choice.action == "supersede" and not args.text:
            choice = Choice("strike", choice.fact_ids)
    name = safe_line(by)[:MOST_NAME].strip() or "an agent"
    # What the user sees is what will be written.
    date, source = (safe_line(getattr(args, key, "") or "") for key in ("date", "source"))
    return new_draft(
        require_text(safe_line(text)).strip(),
        kind=kind,
        entity_id=owner,
        is_guessed=False,
        date=date,
        source=source,
        asked=Asked(name, round(time.time(), 3), choice),
    )


_ACTIONS: Mapping[type[Any], Action] = {
    arguments.KbxMemoryEditFact: "merge",
    arguments.KbxMemorySupersede: "supersede",
    arguments.KbxMemoryDeleteFact: "delete",
}


def propose(kb: KnowledgeBase, draft: Draft, *, again: bool) -> tuple[str, str]:
    """Put a draft in the inbox; return the id of the proposal, and a sentence.

    Raises NotConfirmed if too many wait, and WriteFault.
    """
    proposal = kb.drafts.propose(draft, again=again)
    said = "proposed, not written: it waits for the user's review; kb_get says what became of it"
    if proposal.outcome == "refused":
        day = format_minute(proposal.decided_at or 0.0)[:10]
        said = f"not proposed: the user refused this on {day}"
    elif proposal.draft is not draft:
        said = "it is proposed already, and waits for the user's review"
    return PROPOSAL + proposal.draft.id, said


def _data(
    shown_id: str, kind: str, entity: Entity | None, document: Document | None, text: str
) -> Json:
    known = entity or Entity("", "", "", "")
    metadata = {
        "file_path": document.path if document else None,
        "date": (document.date or None) if document else None,
        "entity_id": known.id or None,
        **picked(known, "aliases role? team? members"),
    }
    return {
        "id": shown_id,
        "type": kind,
        "title": entity.name if entity else document.title if document else "",
        "content": text,
        "metadata": metadata,
        "chunks_count": 0,
        "total_chars": len(text),
        "next_offset": None,
        "fact": None,
        "proposal": None,
        "notes": [],
    }


def _newer_file(kb: KnowledgeBase, page: PublicPage | None) -> list[str]:
    return [] if page is None or kb.documents.is_as_indexed(page) else [NEWER_FILE]


def _rows(kb: KnowledgeBase, results: Iterable[SearchResult], *, with_snippets: bool) -> list[Json]:
    paths = [result.path for result in results]
    ids, chunk_lines = kb.documents.ids(paths), kb.documents.chunk_lines(paths)
    rows = []
    for result in results:
        chunks = chunk_lines.get(result.path, ())
        entity = kb.documents.identify(result.path)[1] if result.path in ids else None
        metadata = {
            "file_path": result.path,
            "chunk_index": next(
                (at for at, (_, last) in enumerate(chunks) if result.line <= last), 0
            ),
            "total_chunks": len(chunks),
            "entity_id": entity.id if entity else None,
            "date": result.date or None,
            "line": result.line,
        }
        row = {
            "id": ids.get(result.path, result.path),
            "type": result.doc_type,
            "title": result.title,
            "snippet": whole_sentences(result) if with_snippets else None,
            "score": min(max(result.score, 0.0), 1.0),
            "source_type": "kb_document",
            "last_updated": result.date or None,
            "metadata": metadata,
        }
        rows.append(row)
    return rows


def whole_sentences(result: SearchResult) -> str:
    """Return the snippet up to the end of a sentence, or with `…` where none ends in its half.

    No word of the query is cut in two.
    """
    text = result.snippet[:SNIPPET_LENGTH]
    if not result.is_cut:
        return text
    least = max([SNIPPET_LENGTH // 2, *(end for _, end in result.matches if end <= len(text))])
    ends = [found.end() for found in _END.finditer(text) if found.end() >= least]
    if ends:
        return text[: ends[-1]]
    end = most = SNIPPET_LENGTH - len(" …")
    if len(text) > most:
        end = max(text.rfind(" ", 0, most + 1), 0) or most
        end = min((a for a, b in result.matches if 0 < a < end < b), default=end)
    return f"{text[:end].rstrip()} …"


def list_data(kb: KnowledgeBase, args: arguments.KbxList) -> Json:
    if not kb.is_indexed():
        return {"pages": [], "total": 0, "notes": [NOT_INDEXED]}
    found = kb.documents.listed(args.path or "", args.text or "", limit=args.limit)
    notes = kb.notes()
    if args.path and not found.paths:
        try:
            kb.documents.require_scope(path=args.path)
        except NotFound as error:
            notes = (str(error), *notes)
    return list_json(found, notes)


def capabilities(kb: KnowledgeBase, args: arguments.KbCapabilities) -> Json:
    """Return the capabilities, except `methods` and `writes`, which `dispatch` adds."""
    kinds = kb.documents.kinds() if kb.is_indexed() else {}
    return {
        "version": __version__,
        "methods": [],
        "retrieval": _retrieval_modes(kb) if kinds else [],
        "review_gated": False,
        "writes": False,
        "transports": ["mcp-stdio", "mcp-http", "jsonl"],
        "types": list(kinds),
        "documents": sum(kinds.values()),
        "notes": list(kb.notes()),
    }


def search_request(args: arguments.KbxSearch) -> SearchRequest:
    """Return the request of a call; what it leaves out has the same default there."""
    return SearchRequest(**{name: getattr(args, name) for name in args.model_fields_set})


def memory_similar(kb: KnowledgeBase, args: arguments.KbxMemorySimilar) -> Json:
    (check,) = kb.similarity.check([args.text], **args.model_dump(exclude={"text"}))
    return check_json(check)


def memory_add(kb: KnowledgeBase, args: arguments.KbxMemoryAdd) -> Json:
    if not kb.is_indexed():
        kb.index(fast=True)
    entity = kb.entities.resolve(args.entity).id
    return written_json(kb.memory_add(**args.model_dump() | {"entity": entity}))


def _retrieval_modes(kb: KnowledgeBase) -> list[str]:
    """Return the modes that work now: those with vectors need the model and indexed vectors."""
    try:
        kb.warm()
        share = kb.retrieve("anything").vector_share
    except (EmbeddingError, IndexFault):
        return ["fts"]
    return ["fts", "vector", "two_pass"] if share > 0.0 else ["fts"]


def _with_envelope(tool: str, handler: Handler, kb: KnowledgeBase, args: Any) -> Json:
    start = time.perf_counter()
    data = handler(kb, args)
    duration_ms = round((time.perf_counter() - start) * 1000, 3)
    return {"ok": True, "data": data, "meta": {"tool": tool, "duration_ms": duration_ms}}


HANDLERS: Mapping[str, Handler] = {
    "kb.search": partial(_with_envelope, "kb_search", search_data),
    "kb.get": partial(_with_envelope, "kb_get", get_data),
    "kb.experts": lambda kb, args: experts_json(kb.experts(**args.model_dump())),
    "kb.capabilities": capabilities,
    "kbx.context": lambda kb, args: digest_json(kb.context(args.tokens)),
    "kbx.search": lambda kb, args: search_json(kb.search(search_request(args))),
    "kbx.list": list_data,
    "kbx.links": lambda kb, args: links_json(kb.links.of(args.id), kb.notes()),
    "kbx.related": lambda kb, args: related_json(kb.related(args.id, args.limit)),
    "kbx.memory_similar": memory_similar,
    "kbx.entity_similar_field": lambda kb, args: field_json(
        kb.entity_similar_field(**args.model_dump())
    ),
    "kbx.memory_add": memory_add,
    "kbx.memory_edit_fact": lambda kb, args: written_json(
        kb.pages.reword_fact(**args.model_dump())
    ),
    "kbx.memory_supersede": lambda kb, args: written_json(
        kb.pages.supersede_fact(**args.model_dump())
    ),
    "kbx.memory_delete_fact": lambda kb, args: written_json(
        kb.pages.delete_fact(**args.model_dump())
    ),
}
