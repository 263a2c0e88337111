"""basic-memory: its own `search_notes` tool, text mode (its other modes need a model download)."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DEPTH = 40


def answer(folder: Path, queries: list[Any], mode: str) -> Iterator[list[str]]:
    os.environ["HOME"] = str(folder / "home")
    os.environ["BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED"] = "false"
    add = ["bm", "project", "add", "base", str(folder / "memory"), "--default"]
    subprocess.run(add, check=True, capture_output=True)
    from basic_memory.mcp.server import mcp
    from basic_memory.mcp.tools import search_notes  # registers it
    from fastmcp import Client

    with asyncio.Runner() as runner:
        client = Client(mcp)
        runner.run(client.__aenter__())
        yield []
        for query in queries:
            arguments = {
                "query": query["text"],
                "project": "base",
                "page_size": DEPTH,
                "search_type": "text",
                "output_format": "json",
            }
            found = runner.run(client.call_tool(search_notes.__name__, arguments))
            results = json.loads(found.content[0].text).get("results", [])
            yield list(dict.fromkeys(f"memory/{each['file_path']}" for each in results))
        runner.run(client.__aexit__(None, None, None))
