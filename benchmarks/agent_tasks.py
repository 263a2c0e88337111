"""Play ten tasks of an agent over MCP, and count calls and tokens.

    python -m benchmarks.agent_tasks DEMO

DEMO is a copy of the demo, indexed; nothing is written to it.

The calls are those of an agent that has read the descriptions of the tools and the answers so far.
Each task ends with an answer that holds the solution, which is checked. A token counts as four
bytes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client

from benchmarks.common import row
from kbx_tui import KnowledgeBase
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from tests.trusting import copy_base

BYTES_PER_TOKEN = 4

Json = Any
Call = tuple[str, dict[str, Any] | Callable[[Json], dict[str, Any]]]
"""A tool and its arguments, which may depend on the answer to the call before."""


@dataclass(frozen=True)
class Task:
    question: str
    calls: tuple[Call, ...]
    found: str
    """What the last answer holds."""


def first_id(answer: Json) -> dict[str, Any]:
    return {"id": answer["data"]["results"][0]["id"]}


def superseding(answer: Json) -> dict[str, Any]:
    known = answer["matches"] or answer["nearest"]
    drill = next(match for match in known if "rollback drill" in match["text"])
    return {"fact_id": drill["fact_id"], "text": "Practises the drill weekly", "dry_run": True}


TASKS = (
    Task(
        "When is the cut-over, and who signed it off?",
        (("kb_search", {"query": "when is the cut-over and who signed it off?"}),),
        "Thursday 19 March at 22:00, signed off by Alice",
    ),
    Task(
        "Who knows about rollbacks, and why do you think so?",
        (("kb_experts", {"topic": "rollback", "people": True}),),
        "Brought the rollback drill down to 22 minutes",
    ),
    Task(
        "What are Alice's role and team?",
        (
            ("kb_search", {"query": "Alice Chen", "filters": {"type": "person"}}),
            ("kb_get", first_id),
        ),
        "Director of Engineering",
    ),
    Task(
        "Note that Alice favours communicating asynchronously via Slack.",
        (
            (
                "kbx_memory_similar",
                {"text": "Favours asynchronous communication via Slack", "entity": "Alice Chen"},
            ),
        ),
        "Prefers async Slack over email",
    ),
    Task(
        "Is Engineering Director news about Alice's role?",
        (
            (
                "kbx_entity_similar_field",
                {"entity": "Alice Chen", "field": "role", "value": "Engineering Director"},
            ),
        ),
        '"is_similar":true',
    ),
    Task(
        "What refers to the rollback plan?",
        (("kb_search", {"query": "rollback plan"}), ("kbx_links", first_id)),
        "runbook-deployment-rollback",
    ),
    Task(
        "What was said about fares in meetings of March 2026?",
        (("kb_search", {"query": "fares type:meeting in March 2026"}),),
        "2026-03",
    ),
    Task(
        "Which point of return loses something?",
        (("kb_search", {"query": "points of return in the rollback plan"}), ("kb_get", first_id)),
        "if reverse replication held",
    ),
    Task(
        "Note that Bob collects barometers.",
        (
            ("kbx_memory_similar", {"text": "Collects barometers", "entity": "Bob Okafor"}),
            ("kbx_memory_add", {"text": "Collects barometers", "entity": "Bob Okafor"}),
        ),
        '"written":true',
    ),
    Task(
        "Bob's rollback drill is no longer news: he practises it weekly.",
        (
            ("kbx_memory_similar", {"text": "Practises the drill weekly", "entity": "Bob Okafor"}),
            ("kbx_memory_supersede", superseding),
        ),
        "~~Brought the rollback drill down to 22 minutes~~",
    ),
)


async def play(client: Client) -> None:
    listed = await client.list_tools()
    size = len(listed.model_dump_json(by_alias=True, exclude_unset=True).encode())
    row("list of tools", f"{len(listed.tools)} tools, {size:,} bytes, {_tokens(size):,} tokens")
    calls, answered = 0, 0
    for task in TASKS:
        answer: Json = {}
        text, tokens = "", 0
        for tool, arguments in task.calls:
            given = arguments(answer) if callable(arguments) else arguments
            result = await client.call_tool(tool, given)
            assert not result.is_error, result
            text, answer = result.content[0].text, result.structured_content  # type: ignore[union-attr]
            tokens += _tokens(len(text.encode()) + len(json.dumps(given)))
        assert task.found in text, (task.question, text)
        calls, answered = calls + len(task.calls), answered + tokens
        row(task.question, f"{len(task.calls)} calls, {tokens:,} tokens")
    total = answered + _tokens(size)
    row("all", f"{calls} calls, {answered:,} tokens, {total:,} with the list of tools")


def _tokens(size: int) -> int:
    return round(size / BYTES_PER_TOKEN)


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("demo", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = copy_base(options.demo, Path(folder) / "demo")
        worker = EngineWorker(lambda: KnowledgeBase(root), allow_writes=True)
        async with Client(make_server(worker)) as client:
            await play(client)
        worker.close()


if __name__ == "__main__":
    asyncio.run(main())
