"""Requests to a server of tools, as its bytes are sent, and a server that is a process."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.command_line import program_environment

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}
TOKEN = "correct-horse-battery-staple"


def call(number: int, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


class ToolServer(subprocess.Popen[bytes]):
    """`kbx mcp` or `kbx jsonl` on a base, with pipes."""

    def __init__(self, base: Path, command: str) -> None:
        super().__init__(
            [sys.executable, "-m", "kbx_tui", "--kb", str(base), command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=program_environment({}),
        )

    def send(self, *requests: object) -> None:
        assert self.stdin
        self.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        self.stdin.flush()

    def answer(self) -> Any:
        assert self.stdout
        return json.loads(self.stdout.readline())
