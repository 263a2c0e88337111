"""Time the tools, and watch memory: kb_search, concurrent MCP clients, a long JSONL run.

    python -m benchmarks.tools COPY [--requests 10000]

COPY is an indexed base; nothing is written to it.

Measures the time from the start of `kbx mcp` to its answer to initialize, and the share of the SDK;
what a tool costs over the owner's call for the same search, in turn, in processor time; warm
kb_search calls in voice mode; eight concurrent MCP clients in this process, every answer
compared with that of a single client; mixed JSONL requests, valid and invalid, with the growth of
memory and open files.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
from mcp import Client

from benchmarks.common import median, milliseconds, resident_mb, row
from kbx_tui import KnowledgeBase
from kbx_tui.search.request import SearchRequest
from kbx_tui.tools.dispatch import call
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.json_output import search_json
from kbx_tui.tools.jsonl_server import serve
from kbx_tui.tools.mcp_server import make_server

CLIENTS, CALLS_EACH = 8, 20
PAIRS = 12
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "0"},
    },
}
SDK = "import mcp.server.lowlevel.server, mcp.server.stdio; print(flush=True)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--requests", type=int, default=10_000)
    options = parser.parse_args()
    hello(options.base)
    worker = EngineWorker(lambda: KnowledgeBase(options.base))
    queries = queries_of(worker)
    cost(options.base, queries)
    search(worker, queries)
    asyncio.run(clients(worker, queries))
    long_run(worker, queries, options.requests)
    worker.close()


def queries_of(worker: EngineWorker) -> list[str]:
    """Return fifty queries: titles of documents, with and without the name of a person."""
    documents = worker.run(lambda kb: kb.documents.listed(limit=100_000).pages).result()
    people = worker.run(lambda kb: kb.entities.find("", 25)).result()
    some = documents[:: max(len(documents) // 25, 1)]
    titles = [page.title for page in some if len(page.title) > 3]
    pairs = zip(people, titles, strict=False)
    named = [f"what did {person.name} say about {title}" for person, title in pairs]
    return [text[:300] for text in (*titles[:25], *named)]


def cost(base: Path, queries: Sequence[str]) -> None:
    """Print what kbx_search takes, and the same search of the owner, whose JSON is the same."""
    kb = KnowledgeBase(base)
    calls = {
        "owner": lambda query: search_json(kb.search(SearchRequest(query))),
        "tool": lambda query: call(kb, "kbx.search", {"query": query}),
    }
    spent: dict[str, list[float]] = {name: [] for name in calls}
    ratios = []
    for query in queries:
        times: dict[str, list[float]] = {name: [] for name in calls}
        for turn in range(PAIRS):
            for name in sorted(calls, reverse=turn % 2 == 0):
                began = time.process_time()
                calls[name](query)
                times[name].append((time.process_time() - began) * 1000.0)
        medians = {name: median(times[name][2:]) for name in calls}  # the first turns fill caches
        ratios.append(medians["tool"] / medians["owner"])
        for name, value in medians.items():
            spent[name].append(value)
    kb.close()
    for name, values in spent.items():
        row(f"a search, {name}", f"median {median(values):.2f} ms of processor time")
    row("  tool over owner", f"{(median(ratios) - 1) * 100:+.1f} % (median of {len(ratios)})")


def search(worker: EngineWorker, queries: Sequence[str]) -> None:
    """Print the times of warm kb_search calls in voice mode."""
    params = [{"query": query, "capabilities": {"voice": True}} for query in queries]
    worker.answer("kb.search", params[0])
    for kind, asked in (("first time", params[1:]), ("asked again", params[1:] * 3)):
        spent = sorted(
            milliseconds(lambda one=one: worker.answer("kb.search", one))  # type: ignore[misc]
            for one in asked
        )
        p95 = spent[int(len(spent) * 0.95)]
        row(f"kb_search, voice, {kind}", f"median {median(spent):.1f} ms, p95 {p95:.1f} ms")


async def clients(worker: EngineWorker, queries: Sequence[str]) -> None:
    """Print the throughput of concurrent clients, and the number of wrong answers."""
    asked = list(queries[:CALLS_EACH])
    alone = {query: _steady(worker.answer("kb.search", {"query": query}).json)
             for query in asked}  # fmt: skip
    wrong = 0

    async def one() -> None:
        nonlocal wrong
        async with Client(make_server(worker), mode="legacy") as client:
            for query in asked:
                answer = await client.call_tool("kb_search", {"query": query})
                wrong += _steady(answer.structured_content) != alone[query]

    began = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(CLIENTS)))
    spent = time.perf_counter() - began
    calls = CLIENTS * len(asked)
    row(f"{CLIENTS} MCP clients at once", f"{calls / spent:.0f} calls/s, {wrong} wrong of {calls}")


def long_run(worker: EngineWorker, queries: Sequence[str], requests: int) -> None:
    """Print the growth of memory and open files over many mixed requests."""
    lines = _mixed(queries)
    _serve(worker, lines * 5)  # fill all caches first
    process = psutil.Process()
    files, memory = process.num_fds(), resident_mb()
    began, answered = time.perf_counter(), 0
    while answered < requests:
        answered += _serve(worker, lines[: requests - answered])
    spent = time.perf_counter() - began
    row(f"{answered:,} mixed JSONL requests", f"{answered / spent:.0f}/s")
    row("  memory", f"{memory:.0f} MB before, {resident_mb() - memory:+.1f} MB")
    row("  open files", f"{files} before, {process.num_fds() - files:+d}")


def hello(base: Path) -> None:
    """Print the time until a client gets the answer to initialize."""
    bare, whole = [], []
    for _ in range(7):  # in turn, so that a busy machine slows both
        bare.append(milliseconds(lambda: _first_line([sys.executable, "-c", SDK])))
        server = [sys.executable, "-m", "kbx_tui", "--kb", str(base), "mcp"]
        whole.append(milliseconds(lambda server=server: _first_line(server)))  # type: ignore[misc]
    row("start of Python to the MCP SDK", f"median {median(bare):.0f} ms")
    row("start of `kbx mcp` to initialize", f"median {median(whole):.0f} ms")
    row("  beyond the SDK", f"{median(whole) - median(bare):.0f} ms")


def _first_line(command: Sequence[str]) -> None:
    """Start a program, send initialize, wait for the first line of its answer and kill it."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if process.stdin and process.stdout:
        process.stdin.write(json.dumps(HELLO).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
    process.kill()
    process.communicate()


def _mixed(queries: Sequence[str]) -> list[bytes]:
    requests: list[Any] = []
    for at, query in enumerate(queries):
        requests += [
            {"id": at, "method": "kb.search", "params": {"query": query}},
            {"id": at, "method": "kb.experts", "params": {"topic": query}},
            {"id": at, "method": "kbx.search", "params": {"query": query, "fast": True}},
            {"id": at, "method": "kb.search", "params": {"query": query, "top_k": 99}},
            {"id": at, "method": "kb.get", "params": {"id": f"person:nobody-{at}"}},
            [at],
        ]
    return [json.dumps(request).encode() + b"\n" for request in requests] + [b"{broken\n"]


def _serve(worker: EngineWorker, lines: Sequence[bytes]) -> int:
    sink = io.BytesIO()
    serve(worker, io.BytesIO(b"".join(lines)), sink)
    return sink.getvalue().count(b"\n")


def _steady(answer: Any) -> Any:
    return {key: value for key, value in answer.items() if key != "meta"}


if __name__ == "__main__":
    main()
