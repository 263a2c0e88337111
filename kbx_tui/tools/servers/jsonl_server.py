"""`kbx jsonl`: one request per line in, one response per line out. No line ends it.

{"id": 1, "method": "kb.experts", "params": {"topic": "migration"}}
{"id": 1, "ok": true, "result": {"experts": [...]}}
{"id": 1, "ok": false, "error": {"code": "missing_param", "message": "...", ...}}
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, BinaryIO, NoReturn

from kbx_tui.tools.contracts.failures import Failure
from kbx_tui.tools.servers.calling import Workplace

LONGEST_LINE = 1_000_000
"""Bytes; what is longer is read over and refused."""


def serve(workplace: Workplace, source: BinaryIO, sink: BinaryIO) -> None:
    """Answer the requests of `source` on `sink` until it ends or nobody reads any more."""
    with suppress(BrokenPipeError):
        for line in lines_of(source):
            if line is not None and not line.strip():
                continue
            sink.write(_encoded(respond(workplace, line)) + b"\n")
            sink.flush()


def serve_stdio(workplace: Workplace) -> None:
    """Serve this process's pipes; whatever else prints goes to stderr meanwhile."""
    sys.stdout.flush()
    wire = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(wire, "wb") as sink:
            serve(workplace, sys.stdin.buffer, sink)
    except BrokenPipeError:  # when the last of it is flushed
        pass
    finally:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def lines_of(source: BinaryIO) -> Iterator[bytes | None]:
    """Yield the lines, None for one that is too long; at most one is held in memory."""
    while line := source.readline(LONGEST_LINE + 1):
        if len(line) <= LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while (rest := source.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


def respond(workplace: Workplace, line: bytes | None) -> dict[str, Any]:
    """Return the response to one line."""
    if line is None:
        return _refused(None, "invalid_request", f"a line holds at most {LONGEST_LINE:,} bytes")
    try:
        request = json.loads(line.decode("utf-8"), parse_constant=_no_number)
    except (ValueError, RecursionError):  # of UTF-8 and JSON both
        return _refused(None, "invalid_json", "the line is no JSON in UTF-8")
    if not isinstance(request, dict):
        return _refused(None, "invalid_request", 'a request is an object: {"id", "method"}')
    identity = request.get("id")
    method, params = request.get("method"), request.get("params")
    if not isinstance(method, str):
        return _refused(identity, "invalid_request", "method must be text, such as kb.search")
    if not isinstance(params, dict | None):
        return _refused(identity, "invalid_request", "params must be an object")
    answer = workplace.answer(method, params or {})
    if answer.failure is not None:
        return {"id": identity, "ok": False, "error": answer.failure.error_json()}
    return {"id": identity, "ok": True, "result": answer.json}


def _refused(identity: Any, code: Any, message: str) -> dict[str, Any]:
    failure = Failure("VALIDATION", code, message)
    return {"id": identity, "ok": False, "error": failure.error_json()}


def _encoded(response: dict[str, Any]) -> bytes:
    """Return one line; half a character that a document or an id holds becomes `?`."""
    try:
        return json.dumps(response, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return _encoded(_refused(None, "invalid_request", "the id cannot be sent back"))


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
