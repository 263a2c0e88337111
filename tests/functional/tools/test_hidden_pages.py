"""A page redacted as a whole does not exist for programs, over JSON Lines and MCP."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError

from kbx_tui import KnowledgeBase
from kbx_tui.tools import jsonl_server
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from tests.functional.tools.conftest import HIDDEN, PAGES, SECRET

IDS = [f"project:{SECRET}-project", f"person:{SECRET}-kane", f"note:{SECRET}"]


@pytest.fixture(scope="module")
def worker(lighthouse: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(lighthouse), allow_writes=True)
    yield engine
    engine.close()


def jsonl_response(worker: EngineWorker, method: str, **params: Any) -> dict[str, Any]:
    """Return the response of the JSONL server to a request."""
    request = json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\n"
    sink = io.BytesIO()
    jsonl_server.serve(worker, io.BytesIO(request), sink)
    response: dict[str, Any] = json.loads(sink.getvalue())
    return response


async def mcp_answer(worker: EngineWorker, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the answer of the MCP server to a call."""
    async with Client(make_server(worker)) as client:
        answer: dict[str, Any] = (await client.call_tool(tool, arguments)).structured_content
        return answer


def mentions_secret(answer: Any) -> bool:
    return SECRET in json.dumps(answer).casefold()


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("hierarchy", [True, False])
async def test_search_does_not_mention_hidden_pages_or_entities(
    worker: EngineWorker, fast: bool, hierarchy: bool
) -> None:
    arguments = {
        "query": "lighthouse of Vera",
        "fast": fast,
        "hierarchy": hierarchy,
        "explain": True,
    }
    found = await mcp_answer(worker, "kbx_search", **arguments)
    assert not mentions_secret(found)
    titles = {result["title"] for result in found["results"]}
    assert titles == {"Vera Sand", "Vera Kane", "Lamp Works"}
    assert found["meta"]["total_matched"] == 3
    assert found["meta"]["in_scope"] == found["meta"]["explain"]["documents"] == 3


async def test_search_for_a_hidden_entity_repeats_only_the_query(worker: EngineWorker) -> None:
    query = f"{SECRET} project lighthouse"
    found = await mcp_answer(worker, "kbx_search", query=query, explain=True)
    assert found["results"]
    document_query = found["meta"]["explain"].pop("document_query")
    assert document_query in query
    assert not mentions_secret({**found, "query": ""})


async def test_shares_add_up_with_a_hidden_entity(worker: EngineWorker) -> None:
    query = f"what of the lighthouse did {SECRET} project say to Vera Sand"
    found = await mcp_answer(worker, "kbx_search", query=query, explain=True)
    assert found["results"]
    for result in found["results"]:
        why = result["explain"]
        shares = sum(share["share"] for share in why["entities"])
        assert shares == pytest.approx(why["parent_entity_score"], abs=0.001)


async def test_results_fill_the_limit_with_visible_pages(worker: EngineWorker) -> None:
    found = await mcp_answer(worker, "kb_search", query="the lighthouse and its oil", top_k=2)
    assert len(found["data"]["results"]) == 2
    assert not mentions_secret(found)


def test_name_shared_with_a_hidden_entity_is_not_ambiguous(worker: EngineWorker) -> None:
    """Two people are called Kane, and one of them is hidden."""
    found = jsonl_response(worker, "kbx.search", query="what did Kane mend?")["result"]
    assert found["meta"]["notes"] == []
    similar = jsonl_response(worker, "kbx.memory_similar", text="mends it", entity="Kane")
    assert similar["result"]["scope"] == {"entity": "Vera Kane"}


@pytest.mark.parametrize("weight", ["count", "relevance"])
async def test_hidden_entity_is_not_an_expert_and_its_page_is_not_evidence(
    worker: EngineWorker, weight: str
) -> None:
    found = await mcp_answer(worker, "kb_experts", topic="lighthouse", weight=weight)
    assert [expert["name"] for expert in found["experts"]] == ["Vera Sand"]
    assert found["total_matched"] == 1
    assert not mentions_secret(found)


@pytest.mark.parametrize("document_id", [*IDS, *HIDDEN])
async def test_hidden_id_gets_the_same_error_as_an_unknown_one(
    worker: EngineWorker, document_id: str
) -> None:
    unknown_id = document_id.replace(SECRET, "madagascar")
    for method, key in (("kb.get", "id"), ("kbx.search", "entities")):
        params: dict[str, Any] = {"id": document_id} if key == "id" else {"entities": [document_id]}
        other: dict[str, Any] = {"id": unknown_id} if key == "id" else {"entities": [unknown_id]}
        query = {} if key == "id" else {"query": "lighthouse"}
        refused = jsonl_response(worker, method, **query, **params)
        unknown = jsonl_response(worker, method, **query, **other)
        assert refused["error"]["code"] == "invalid_request"
        message = refused["error"]["message"].replace(SECRET, "madagascar")
        assert message == unknown["error"]["message"]
    async with Client(make_server(worker)) as client:
        for scheme in ("entity", "document"):
            with pytest.raises(MCPError, match="nothing here has the id"):
                await client.read_resource(f"kbx://{scheme}/{document_id}")


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("kbx.memory_similar", {"text": "the plan"}),
        ("kbx.entity_similar_field", {"field": "role", "value": "the plan"}),
        ("kbx.memory_add", {"text": "the plan is bold"}),
    ],
    ids=["similar", "field", "add"],
)
@pytest.mark.parametrize("name", [f"{SECRET} project", SECRET, f"project:{SECRET}-project"])
def test_hidden_entity_cannot_be_compared_or_written_to(
    worker: EngineWorker, method: str, params: dict[str, Any], name: str
) -> None:
    refused = jsonl_response(worker, method, entity=name, **params)
    assert refused["error"]["code"] == "invalid_request"
    assert refused["error"]["message"].startswith(f"no entity is called {name!r}")
    assert not mentions_secret(refused["error"]["message"].replace(repr(name), ""))


async def test_hidden_pages_are_not_listed_or_counted(worker: EngineWorker) -> None:
    async with Client(make_server(worker)) as client:
        listed = (await client.list_resources()).resources
    assert len(listed) == len(PAGES) - len(HIDDEN)
    assert not mentions_secret([resource.model_dump_json() for resource in listed])
    capabilities = await mcp_answer(worker, "kb_capabilities")
    assert capabilities["documents"] == len(listed)
    assert capabilities["types"] == ["person", "project"]
    team = jsonl_response(worker, "kb.get", id="team:keepers")["result"]["data"]
    assert team["metadata"]["members"] == []


def test_page_redacted_after_indexing_is_not_read(lighthouse: Path, tmp_path: Path) -> None:
    root = shutil.copytree(lighthouse, tmp_path / "base")
    page = root / "memory/people/vera-kane.md"
    page.write_text("---\nstatus: redacted\n---\n" + page.read_text(encoding="utf-8"), "utf-8")
    worker = EngineWorker(lambda: KnowledgeBase(root))
    refused = jsonl_response(worker, "kb.get", id="person:vera-kane")
    worker.close()
    assert refused["error"]["message"].startswith("nothing here has the id")


def test_link_to_a_hidden_page_on_a_visible_page_is_returned(tmp_path: Path) -> None:
    """A mark hides its own page only; other pages need their own."""
    for name, text in {
        "projects/plan.md": "---\nstatus: redacted\n---\n# Plan Nine\n\nOf the harbour.\n",
        "notes/log.md": "# Log\n\nMet on [[Plan Nine]] at the harbour.\n",
    }.items():
        file = tmp_path / "memory" / name
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    worker = EngineWorker(lambda: KnowledgeBase(tmp_path))
    data = jsonl_response(worker, "kb.get", id="memory/notes/log.md")["result"]["data"]
    worker.close()
    assert "[[Plan Nine]]" in data["content"]


def test_a_filter_by_a_redacted_alias_is_answered_like_one_by_an_unknown_name(
    tmp_path: Path,
) -> None:
    pages = {
        "people/vera-sand.md": (
            "---\naliases:\n  - Zanzibar Six #redacted\n  - Vee\n---\n# Vera Sand\n"
        ),
        "notes/lamp.md": "---\ntags: [oil]\n---\n# Lamp\n\nBy [[Vera Sand]].\n\n- x #redacted\n",
        "notes/oil.md": "By [[Zanzibar Six]], [[Zanzibar Sixx]] and [[7]].\n",
        **{f"people/{number}.md": f"# Zanzibar {number}\n" for number in range(51)},
    }
    for name, text in pages.items():
        file = tmp_path / "memory" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    engine = EngineWorker(lambda: KnowledgeBase(tmp_path))

    def answer(query: str) -> tuple[list[str], list[str]]:
        found = engine.answer("kbx.search", {"query": f"lamp {query}", "fast": True}).json
        notes = [note for note in found["meta"]["notes"] if "called" in note]
        return [result["path"] for result in found["results"]], notes

    lamp = ["memory/notes/lamp.md"]
    assert answer("@Vee") == (lamp, [])
    assert answer('@"Zanzibar Six"') == ([], ["no entity is called Zanzibar Six"])
    assert answer('@"Zanzibar Sixx"') == ([], ["no entity is called Zanzibar Sixx"])
    assert answer('@"Vera Sandd"')[1] == ["no entity is called Vera Sandd; did you mean Vera Sand?"]
    assert answer("tag:oil,gas") == (lamp, [])
    assert answer("@Zanzibar") == ([], [])  # 51 others come before her among those with the name
    pinned = {"query": "lamp", "fast": True, "pin": ["Vee"], "mute": ["Zanzibar 7"], "sort": "date"}
    assert engine.answer("kbx.search", pinned).json["results"][0]["path"] == lamp[0]
    secret, unknown = (
        engine.answer("kbx.search", {"query": "lamp", "pin": [name]}).json
        for name in ("Zanzibar Six", "Qwyjibo Six")
    )
    assert str(secret).replace("Zanzibar", "Qwyjibo") == str(unknown)
    for arguments in ({"pin": ["Zanzibar Sixx"]}, {"entities": ["Zanzibar Six"]}):
        refused = engine.answer("kbx.search", {"query": "lamp", **arguments}).json
        assert "no entity is called 'Zanzibar Six" in refused["error"]["message"]
        assert "Vera" not in refused["error"]["message"]
    of_oil = engine.answer("kbx.links", {"id": "memory/notes/oil.md"}).json
    assert [link["title"] for link in of_oil["outgoing"]] == ["Zanzibar 7"]
    assert [link["target"] for link in of_oil["broken"]] == ["Zanzibar Six", "Zanzibar Sixx"]
    assert "memory/people/vera-sand.md" not in of_oil["broken"][1]["suggestions"]
    of_vera = engine.answer("kbx.links", {"id": "memory/people/vera-sand.md"}).json
    assert [link["path"] for link in of_vera["backlinks"]] == lamp
    engine.close()
