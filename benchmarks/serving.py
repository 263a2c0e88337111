"""MCP over HTTP with several processes: requests a second, latency, memory, overload (Linux).

    python -m benchmarks.serving BASE [--workers 1,2,4] [--clients 8] [--seconds 8]

BASE is an indexed folder, which is copied. The server is the program; the clients are those of the
SDK, in one process, which takes its share of the processors.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import re
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.common import copy_of, row

QUERIES = (
    "release checklist", "how to configure logging", "database migration", "memory leak",
    "security policy", "network timeouts", "api versioning", "error handling", "cache invalidation",
    "user authentication", "who maintains the parser", "python typing generics",
)  # fmt: skip
OVERLOAD_CLIENTS = 50
READY_SECONDS = 120.0


@dataclass
class Asked:
    """The answers that clients got."""

    seconds: list[float] = field(default_factory=list)
    """Of each answered call, sorted at the end."""
    rejected: int = 0
    rejected_seconds: float = 0.0
    """The longest time until a client was asked to try again."""

    def percentile(self, share: float) -> float:
        """Return a percentile of the times in milliseconds; nan if no call was answered."""
        if not self.seconds:
            return math.nan
        ordered = sorted(self.seconds)
        return 1000 * ordered[min(int(share * len(ordered)), len(ordered) - 1)]


@asynccontextmanager
async def served(base: Path, workers: int) -> AsyncIterator[tuple[str, str]]:
    """Run the program, and yield the addresses of MCP and of the metrics when all are ready."""
    command = [sys.executable, "-m", "kbx_tui", "--kb", str(base), "mcp", "--http", "--port", "0"]
    process = await asyncio.create_subprocess_exec(
        *command,
        *("--workers", str(workers), "--metrics-port", "0"),
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    lines = [(await process.stderr.readline()).decode() for _ in range(2)]
    url, metrics = (line.split()[-1] for line in lines)
    deadline = time.monotonic() + READY_SECONDS
    try:
        async with httpx2.AsyncClient() as http:
            while True:
                answer = await http.get(metrics.replace("/metrics", "/readyz"))
                if len(json.loads(answer.text)["generations"]) == workers:
                    break
                assert time.monotonic() < deadline, answer.text
                await asyncio.sleep(0.2)
        yield url, metrics
    finally:
        process.terminate()
        await process.wait()


async def ask(url: str, number: int, until: float, asked: Asked) -> None:
    """Call the search again and again, as one client."""
    async with (
        httpx2.AsyncClient(timeout=120) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        for turn in range(10**9):
            if time.monotonic() > until:
                return
            query = f"{QUERIES[(number + turn) % len(QUERIES)]} {turn % 7}"
            began = time.perf_counter()
            try:
                answer = await client.call_tool("kb_search", {"query": query})
                assert not answer.is_error, answer
            except Exception as error:
                if "try again" not in str(error):
                    raise
                asked.rejected += 1
                took = time.perf_counter() - began
                asked.rejected_seconds = max(asked.rejected_seconds, took)
                await asyncio.sleep(1.0)  # as the refusal asks
            else:
                asked.seconds.append(time.perf_counter() - began)


async def ask_all(url: str, clients: int, seconds: float) -> Asked:
    """Let so many clients ask for so long."""
    asked, until = Asked(), time.monotonic() + seconds
    clients_asking = (ask(url, number, until, asked) for number in range(clients))
    failed = [
        error
        for error in await asyncio.gather(*clients_asking, return_exceptions=True)
        if error is not None
    ]
    asked.rejected += len(failed)  # refused before they could begin
    return asked


async def read_metrics(url: str) -> dict[str, dict[str, float]]:
    """Return what /metrics says of each process: values by process and name."""
    async with httpx2.AsyncClient() as http:
        text = (await http.get(url)).text
    values: dict[str, dict[str, float]] = {}
    for name, process, value in re.findall(r'^(kbx_\w+)\{process="([^"]+)"\} (\S+)$', text, re.M):
        values.setdefault(process, {})[name] = float(value)
    return values


async def measure(base: Path, workers: int, clients: int, seconds: float) -> None:
    async with served(base, workers) as (url, metrics):
        await ask_all(url, clients, 2.0)
        before, mine = await read_metrics(metrics), time.process_time()
        asked = await ask_all(url, clients, seconds)
        after, mine = await read_metrics(metrics), time.process_time() - mine
        count = max(len(asked.seconds), 1)
        cpu = sum(
            values["kbx_cpu_seconds_total"] - before[name]["kbx_cpu_seconds_total"]
            for name, values in after.items()
        )
        name = f"{workers} workers, {clients} clients"
        row(name, f"{count / seconds:6.1f} answers/s, p50 {asked.percentile(0.5):.0f} ms, "
            f"p95 {asked.percentile(0.95):.0f} ms")  # fmt: skip
        row("  processor time per answer", f"{1000 * cpu / count:6.1f} ms server, "
            f"{1000 * mine / count:.1f} ms clients")  # fmt: skip
        for process, values in sorted(after.items()):
            private = values["kbx_private_memory_bytes"] / 1e6
            part = values["kbx_proportional_memory_bytes"] / 1e6
            row(f"  memory of {process}", f"{private:6.0f} MB its own, {part:.0f} MB with its part")
        asked = await ask_all(url, OVERLOAD_CLIENTS, seconds)
        row(f"  overload, {OVERLOAD_CLIENTS} clients", f"{len(asked.seconds):6} answered, p50 "
            f"{asked.percentile(0.5):.0f} ms, the longest {asked.percentile(1.0):.0f} ms; "
            f"{asked.rejected} asked to try again, after "
            f"{1000 * asked.rejected_seconds:.0f} ms at most")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base", type=Path)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=8.0)
    options = parser.parse_args()
    with copy_of(options.base, keep_index=True) as base:
        for workers in map(int, options.workers.split(",")):
            asyncio.run(measure(base, workers, options.clients, options.seconds))


if __name__ == "__main__":
    main()
