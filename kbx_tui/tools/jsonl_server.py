"""`kbx jsonl`: one JSON request per line in, one response per line out.

{"id": 1, "method": "kb.experts", "params": {"topic": "migration"}}
{"id": 1, "ok": true, "result": {"experts": [...]}}
{"id": 1, "ok": false, "error": {"code": "missing_param", "message": "...", ...}}
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NoReturn

from kbx_tui.tools.answers import ErrorCode
from kbx_tui.tools.dispatch import Failure
from kbx_tui.tools.engine_worker import EngineWorker

LINE_BYTES = 1_000_000
TOO_LONG = f"a line has at most {LINE_BYTES:,} bytes"


def serve(worker: EngineWorker, source: BinaryIO, sink: BinaryIO) -> None:
    for line in request_lines(source):
        if line is None or line.strip():
            sink.write(_encode(respond(worker, line)) + b"\n")
            sink.flush()


def serve_stdio(worker: EngineWorker) -> None:
    """Serve stdin and stdout; anything else this process prints goes to stderr."""
    worker.begin()
    with own_stdout() as sink:
        serve(worker, sys.stdin.buffer, sink)


@contextmanager
def own_stdout() -> Iterator[BinaryIO]:
    """Yield a stream to stdout; in the block, anything else that is printed goes to stderr.

    That the reader closes stdout ends the block silently.
    """
    sys.stdout.flush()
    responses = os.dup(1)
    os.dup2(2, 1)
    try:
        with suppress(BrokenPipeError), os.fdopen(responses, "wb") as sink:
            yield sink
    finally:
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def request_lines(source: BinaryIO) -> Iterator[bytes | None]:
    """Yield each line, or None if it is too long; holds one line in memory at a time."""
    while line := source.readline(LINE_BYTES + 1):
        if len(line) <= LINE_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while (rest := source.readline(LINE_BYTES)) and not rest.endswith(b"\n"):
            pass
        yield None


def respond(worker: EngineWorker, line: bytes | None) -> dict[str, Any]:
    """Return the response to a line; None stands for one that was too long."""
    if line is None:
        return _refuse(None, "invalid_request", TOO_LONG)
    try:
        request = json.loads(line.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):  # invalid UTF-8 or JSON
        return _refuse(None, "invalid_json", "the line is not valid JSON in UTF-8")
    if not isinstance(request, dict):
        return _refuse(None, "invalid_request", 'a request is an object: {"id", "method"}')
    request_id = request.get("id")
    method, params = request.get("method"), request.get("params")
    if not isinstance(method, str):
        return _refuse(request_id, "invalid_request", "method must be text, such as kb.search")
    if not isinstance(params, dict | None):
        return _refuse(request_id, "invalid_request", "params must be an object")
    answer = worker.answer(method, params or {})
    if answer.failure is not None:
        return {"id": request_id, "ok": False, "error": answer.failure.error_json()}
    return {"id": request_id, "ok": True, "result": answer.json}


def _refuse(request_id: Any, code: ErrorCode, message: str) -> dict[str, Any]:
    failure = Failure("VALIDATION", code, message)
    return {"id": request_id, "ok": False, "error": failure.error_json()}


def _encode(response: dict[str, Any]) -> bytes:
    """Return a response as one line, with lone surrogates replaced by `?`."""
    try:
        return json.dumps(response, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except (ValueError, RecursionError):
        return _encode(_refuse(None, "invalid_request", "the id cannot be sent back"))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
