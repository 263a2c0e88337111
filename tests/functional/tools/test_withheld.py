"""A page redacted as a whole is not there: asked as programs ask, over JSONL and MCP."""

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
from kbx_tui.tools.servers import jsonl_server
from kbx_tui.tools.servers.calling import Workplace
from kbx_tui.tools.servers.mcp_server import make_server
from tests.functional.tools.conftest import PAGES, SECRET, WITHHELD

IDS = [f"project:{SECRET}-project", f"person:{SECRET}-kane", f"note:{SECRET}"]


@pytest.fixture(scope="module")
def workplace(lighthouse: Path) -> Iterator[Workplace]:
    opened = Workplace(lambda: KnowledgeBase(lighthouse), allow_writes=True)
    yield opened
    opened.close()


def asked(workplace: Workplace, method: str, **params: Any) -> dict[str, Any]:
    """Return the response of the JSONL server to one request."""
    request = json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\n"
    sink = io.BytesIO()
    jsonl_server.serve(workplace, io.BytesIO(request), sink)
    response: dict[str, Any] = json.loads(sink.getvalue())
    return response


async def called(workplace: Workplace, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return what the MCP server answers to a call."""
    async with Client(make_server(workplace)) as client:
        answer: dict[str, Any] = (await client.call_tool(tool, arguments)).structured_content
        return answer


def names_it(answer: Any) -> bool:
    return SECRET in json.dumps(answer).casefold()


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("hierarchy", [True, False])
async def test_a_search_names_neither_page_nor_entity(
    workplace: Workplace, fast: bool, hierarchy: bool
) -> None:
    wanted = {"query": "lighthouse of Vera", "fast": fast, "hierarchy": hierarchy, "explain": True}
    found = await called(workplace, "kbx_search", **wanted)
    assert not names_it(found)
    titles = {one["title"] for one in found["results"]}
    assert titles == {"Vera Sand", "Vera Kane", "Lamp Works"}
    assert found["meta"]["total_matched"] == 3


async def test_an_entity_asked_for_by_its_name_is_told_nowhere(workplace: Workplace) -> None:
    """Only what the caller said itself comes back."""
    query = f"{SECRET} project lighthouse"
    found = await called(workplace, "kbx_search", query=query, explain=True)
    assert found["results"]
    said = found["meta"]["explain"].pop("document_query")
    assert said in query
    assert not names_it({**found, "query": ""})


async def test_shares_of_a_score_still_add_up(workplace: Workplace) -> None:
    query = f"what of the lighthouse did {SECRET} project say to Vera Sand"
    found = await called(workplace, "kbx_search", query=query, explain=True)
    assert found["results"]
    for result in found["results"]:
        why = result["explain"]
        shares = sum(share["share"] for share in why["entities"])
        assert shares == pytest.approx(why["parent_entity_score"], abs=0.001)


async def test_a_limit_is_filled_with_what_is_open(workplace: Workplace) -> None:
    found = await called(workplace, "kb_search", query="the lighthouse and its oil", top_k=2)
    assert len(found["data"]["results"]) == 2
    assert not names_it(found)


def test_names_that_it_shares_are_those_of_the_others(workplace: Workplace) -> None:
    """Two persons are called Kane, one of them is withheld: the name is not ambiguous then."""
    found = asked(workplace, "kbx.search", query="what did Kane mend?")["result"]
    assert found["meta"]["notes"] == []
    similar = asked(workplace, "kbx.memory_similar", text="mends it", entity="Kane")
    assert similar["result"]["scope"] == {"entity": "Vera Kane"}


@pytest.mark.parametrize("weight", ["count", "relevance"])
async def test_it_is_no_expert_and_speaks_for_none(workplace: Workplace, weight: str) -> None:
    found = await called(workplace, "kb_experts", topic="lighthouse", weight=weight)
    assert [one["name"] for one in found["experts"]] == ["Vera Sand"]
    assert found["total_matched"] == 1
    assert not names_it(found)


@pytest.mark.parametrize("wanted", [*IDS, *WITHHELD])
async def test_it_is_as_unknown_as_what_never_was(workplace: Workplace, wanted: str) -> None:
    never = wanted.replace(SECRET, "madagascar")
    for method, key in (("kb.get", "id"), ("kbx.search", "entities")):
        params: dict[str, Any] = {"id": wanted} if key == "id" else {"entities": [wanted]}
        other: dict[str, Any] = {"id": never} if key == "id" else {"entities": [never]}
        query = {} if key == "id" else {"query": "lighthouse"}
        refused = asked(workplace, method, **query, **params)
        unknown = asked(workplace, method, **query, **other)
        assert refused["error"]["code"] == "invalid_request"
        told = refused["error"]["message"].replace(SECRET, "madagascar")
        assert told == unknown["error"]["message"]
    async with Client(make_server(workplace)) as client:
        for scheme in ("entity", "document"):
            with pytest.raises(MCPError, match="nothing here has the id"):
                await client.read_resource(f"kbx://{scheme}/{wanted}")


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
def test_nothing_is_compared_with_it_nor_written_to_it(
    workplace: Workplace, method: str, params: dict[str, Any], name: str
) -> None:
    refused = asked(workplace, method, entity=name, **params)
    assert refused["error"]["code"] == "invalid_request"
    assert refused["error"]["message"].startswith(f"no entity is called {name!r}")
    assert not names_it(refused["error"]["message"].replace(repr(name), ""))


async def test_it_is_not_listed_nor_counted(workplace: Workplace) -> None:
    async with Client(make_server(workplace)) as client:
        listed = (await client.list_resources()).resources
    assert len(listed) == len(PAGES) - len(WITHHELD)
    assert not names_it([one.model_dump_json() for one in listed])
    told = await called(workplace, "kb_capabilities")
    assert told["documents"] == len(listed)
    assert told["types"] == ["person", "project"]
    team = asked(workplace, "kb.get", id="team:keepers")["result"]["data"]
    assert team["metadata"]["members"] == []


def test_a_page_marked_since_it_was_indexed_is_not_read(lighthouse: Path, tmp_path: Path) -> None:
    root = shutil.copytree(lighthouse, tmp_path / "base")
    page = root / "memory/people/vera-kane.md"
    page.write_text("---\nstatus: redacted\n---\n" + page.read_text(encoding="utf-8"), "utf-8")
    workplace = Workplace(lambda: KnowledgeBase(root))
    refused = asked(workplace, "kb.get", id="person:vera-kane")
    workplace.close()
    assert refused["error"]["message"].startswith("nothing here has the id")


def test_what_others_say_of_it_in_the_open_is_told(tmp_path: Path) -> None:
    """A mark hides its own page; a line elsewhere needs one of its own."""
    for name, text in {
        "projects/plan.md": "---\nstatus: redacted\n---\n# Plan Nine\n\nOf the harbour.\n",
        "notes/log.md": "# Log\n\nMet on [[Plan Nine]] at the harbour.\n",
    }.items():
        file = tmp_path / "memory" / name
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    workplace = Workplace(lambda: KnowledgeBase(tmp_path))
    data = asked(workplace, "kb.get", id="memory/notes/log.md")["result"]["data"]
    workplace.close()
    assert "[[Plan Nine]]" in data["content"]
