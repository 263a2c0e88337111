"""No byte of any answer holds what is redacted, whenever it was marked."""

import io
import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from kbx_tui import KnowledgeBase
from kbx_tui.search.request import SearchRequest
from kbx_tui.sharing.search_page import search_page
from kbx_tui.sharing.shared_search import share_search
from kbx_tui.tools import jsonl_server
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tools.methods import METHODS
from tests.command_line import CommandLine
from tests.functional.tools.planted import PAGES, SECRETS, write_pages

pytestmark = pytest.mark.slow

WORD = re.compile(r"\w+")
REPEATED = re.compile(r'\\?"(?:document_query|left)\\?": ?\\?"([^"\\]*)\\?"|“([^”]*)”|→ ([^"“”]*)"')
"""The query of the second pass, a topic in a note, and what the text of the call says instead of a
known one, in a conflict and in the reason of a judgement: each may have only words of the call."""
FIELDS = ("role", "team", "aliases", "facts", "open_items", "codename", "quoted", "plan", "nested")
QUERIES = ("lighthouse", "what did Kane mend?", "lighthouse key lies in", "who keeps the ledger?")


def calls() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield tools with arguments: open words, then each secret as a caller might guess it."""
    for query in (*QUERIES, *(f"lighthouse {secret}" for secret in SECRETS)):
        yield "kb_search", {"query": query, "top_k": 10}
        yield "kbx_search", {"query": query, "fast": True, "explain": True, "limit": 50}
    for query in (*QUERIES, "lighthouse of zqfact", "zqstatus kane and zqlisted project"):
        yield "kbx_search", {"query": query, "explain": True, "limit": 3}
        yield "kbx_search", {"query": query, "hierarchy": False, "limit": 50}
        yield "kb_search", {"query": query, "capabilities": {"voice": True}}
        yield "kb_experts", {"topic": query}
        yield "kb_experts", {"topic": query, "weight": "relevance"}
        yield "kbx_memory_similar", {"text": query, "threshold": 0.0, "limit": 50}
        yield "kbx_memory_similar", {"text": query, "threshold": 0.0, "limit": 50, "chunks": True}
        yield "kbx_memory_similar", {"text": query, "threshold": 1.0, "path": "memory"}
    for text in ("Lighthouse key lies in", "Lighthouse oil comes from", "lamps came from"):
        yield "kbx_memory_similar", {"text": text, "entity": "Vera Sand", "threshold": 0.0}
    for field in FIELDS:
        arguments = {"entity": "Vera Sand", "field": field, "value": "lighthouse key"}
        yield "kbx_entity_similar_field", arguments
    for name in ("Vera Sand", "Vee", "Kane", "Zq", "Zqstatus Kan", "Sand", "team", "Zqteams"):
        yield "kbx_entity_similar_field", {"entity": name, "field": "facts", "value": "oil"}
        yield "kbx_memory_similar", {"text": "lighthouse", "entity": name}
        yield "kbx_memory_add", {"text": "likes tea", "entity": name, "dry_run": True}
    for path in ("memory", "memory/notes/zqtitle.md", "memory/**/zq*", "memory/people"):
        yield "kbx_search", {"query": "lighthouse", "path": path, "fast": True}
    yield "kbx_search", {"query": "lighthouse", "tags": ["zqtag"], "explain": True}
    yield "kb_search", {"query": "lighthouse", "filters": {"type": "nothing"}}
    yield "kb_search", {"query": "lighthouse", "filters": {"type": "zqkind"}}
    for kind in ("nothing", "company", "zqkind"):
        yield "kbx_search", {"query": "lighthouse", "types": [kind], "fast": True}
    yield "kb_search", {"query": "lighthouse", "filters": {"type": "company"}}
    for document_id in ("person:vera-sand", "team:zqteam", "team:zqhomes", "note:misc/zqkind"):
        yield "kb_get", {"id": document_id}
    for path in PAGES:
        yield "kb_get", {"id": f"memory/{path}"}
        yield "kbx_links", {"id": f"memory/{path}"}
    yield "kb_capabilities", {}
    yield "kbx_list", {"limit": 500}
    for path in ("", "memory/notes", "memory/**/zq*"):
        for text in ("lighthouse", "redacted", "[", "e", "zqfact", "zqstatus kane"):
            yield "kbx_list", {"path": path, "text": text, "limit": 500}
    for text in ("Lighthouse key lies in the ledger", "Lighthouse lamp was changed", "Is kind"):
        yield "kbx_memory_add", {"text": text, "entity": "Vera Sand", "dry_run": True}
        yield "kbx_memory_add", {"text": text, "entity": "Vera Sand"}


def secrets_in(answer: str, arguments: Any) -> list[str]:
    """Return the secrets in an answer that it does not repeat from the call."""
    sent_texts = sorted(strings(arguments), key=len, reverse=True)
    sent_words = {word for sent in sent_texts for word in WORD.findall(sent.casefold())}

    def repeated(match: re.Match[str]) -> str:
        words = set(WORD.findall((match[1] or match[2] or match[3] or "").casefold()))
        return "" if words <= sent_words else match[0]

    text = REPEATED.sub(repeated, answer).casefold()
    for sent in sent_texts:
        text = text.replace(sent.casefold(), "")
    return [secret for secret in SECRETS if secret in text]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for entry in value.values() if isinstance(value, dict) else value:
            yield from strings(entry)


@pytest.fixture(scope="module", params=["marked-before-indexing", "marked-while-serving"])
def worker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EngineWorker]:
    root = tmp_path_factory.mktemp("planted")
    is_early = request.param == "marked-before-indexing"
    write_pages(root, marked=is_early)
    with KnowledgeBase(root) as kb:
        kb.index()
    engine = EngineWorker(lambda: KnowledgeBase(root), allow_writes=True)
    if not is_early:
        for tool in ("kb_search", "kbx_search"):  # everything is loaded and cached
            assert "zq" in json.dumps(engine.answer(tool, {"query": "lighthouse"}).json)
        write_pages(root, marked=True)
    yield engine
    engine.close()


async def test_no_tool_returns_a_secret(worker: EngineWorker) -> None:
    told, called = [], set()
    async with Client(make_server(worker)) as client:
        for tool, arguments in calls():
            result = await client.call_tool(tool, arguments)
            called.add(tool)
            if found := secrets_in(result.model_dump_json(), arguments):
                told.append((tool, arguments, found))
    assert told == []
    assert {"kb_get", "kb_search", "kbx_search", "kbx_memory_similar"} <= called


async def test_no_resource_contains_a_secret(worker: EngineWorker) -> None:
    async with Client(make_server(worker)) as client:
        listed = await client.list_resources()
        assert len(listed.resources) >= 5
        assert secrets_in(listed.model_dump_json(), {}) == []
        uris = [resource.uri for resource in listed.resources]
        uris += [f"kbx://document/memory/{path}" for path in PAGES]
        uris += ["kbx://entity/person:vera-sand", "kbx://entity/team:zqteam"]
        for uri in uris:
            try:
                text = (await client.read_resource(str(uri))).model_dump_json()
            except MCPError as error:
                text = str(error)
            named = {"id": str(uri).partition("/")[2].partition("/")[2].partition("/")[2]}
            assert secrets_in(text.replace(str(uri), ""), named) == [], uri


def test_no_id_of_a_fact_leads_to_a_secret(worker: EngineWorker) -> None:
    facts = worker.run(lambda kb: kb.entities.facts()).result()
    assert any("zq" in fact.text.casefold() for fact in facts)
    told = []
    for fact in facts:
        changed = {"fact_id": fact.fact_id, "text": "Lighthouse key lies in", "dry_run": True}
        for tool, arguments in (
            ("kb_get", {"id": fact.fact_id}),
            ("kbx_memory_edit_fact", changed),
            ("kbx_memory_supersede", changed),
            ("kbx_memory_delete_fact", {"fact_id": fact.fact_id, "dry_run": True}),
        ):
            answer = worker.answer(tool, arguments).json
            if found := secrets_in(json.dumps(answer), arguments):
                told.append((tool, arguments, found))
    assert told == []


def test_fields_that_are_not_redacted_are_compared(worker: EngineWorker) -> None:
    of_fields = {"text": "keeper of zqrole and zqbeside, the lighthouse plan", "threshold": 0.0}
    answer = worker.answer("kbx_memory_similar", {**of_fields, "entity": "Vera Sand", "limit": 50})
    fields = [match for match in answer.json["matches"] if match["match_type"] == "field"]
    assert not {"role", "codename", "plan", "nested"} & {match["field"] for match in fields}


def test_json_lines_contain_no_secret(worker: EngineWorker) -> None:
    for tool, arguments in [*calls()][::5]:
        method = next(name for name, of in METHODS.items() if of.tool == tool)
        request = json.dumps({"id": 1, "method": method, "params": arguments}).encode()
        sink = io.BytesIO()
        jsonl_server.serve(worker, io.BytesIO(request), sink)
        assert secrets_in(sink.getvalue().decode(), arguments) == [], (tool, arguments)


def test_kbx_tool_prints_no_secret(tmp_path: Path, kbx: CommandLine) -> None:
    write_pages(tmp_path, marked=False)
    with KnowledgeBase(tmp_path) as kb:
        kb.index()
    write_pages(tmp_path, marked=True)
    for tool, arguments in [*calls()][::17]:
        ran = kbx("tool", tool, json.dumps(arguments), "--kb", tmp_path, "--allow-writes")
        assert secrets_in(ran.out + ran.err, arguments) == [], (tool, arguments)


async def test_what_is_not_marked_is_returned(worker: EngineWorker) -> None:
    async with Client(make_server(worker)) as client:
        page = await client.call_tool("kb_get", {"id": "person:vera-sand"})
        data = page.structured_content["data"]
        assert "lamp was changed" in data["content"]
        assert "keeper since the spring" in data["content"]
        assert "[redacted]" in data["content"]
        assert "Vee" in data["metadata"]["aliases"]
        assert data["metadata"]["date"] == "2026-05-05"
        found = await client.call_tool("kb_search", {"query": "who keeps the lighthouse ledger?"})
        results = found.structured_content["data"]["results"]
        assert "person:vera-sand" in [result["id"] for result in results]
        similar = {"text": "Lighthouse lamp was changed", "entity": "Vee"}
        known = await client.call_tool("kbx_memory_similar", similar)
        assert known.structured_content["has_similar"] is True


def test_no_page_to_share_holds_a_secret(worker: EngineWorker) -> None:
    queries = (*QUERIES, *(f"lighthouse {secret}" for secret in SECRETS))
    for query in queries:
        request = SearchRequest(query, limit=50)
        page = worker.run(partial(share_page, request)).result()
        assert secrets_in(page, {"query": query}) == [], query


def share_page(request: SearchRequest, kb: KnowledgeBase) -> str:
    return search_page(share_search(kb, request))
