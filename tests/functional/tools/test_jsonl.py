import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.tools import jsonl_server
from kbx_tui.tools.engine_worker import EngineWorker
from tests.command_line import program_environment
from tests.functional.tools.mcp_requests import ToolServer

GOOD = {"id": "last", "method": "kb.experts", "params": {"topic": "migration", "limit": 1}}


def responses_to(worker: EngineWorker, *lines: bytes) -> list[Any]:
    sink = io.BytesIO()
    jsonl_server.serve(worker, io.BytesIO(b"".join(lines)), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def line(request: object) -> bytes:
    return json.dumps(request).encode() + b"\n"


def test_response_has_the_id_of_the_request(demo: EngineWorker) -> None:
    (response,) = responses_to(demo, line(GOOD))
    assert list(response) == ["id", "ok", "result"]
    assert (response["id"], response["ok"]) == ("last", True)
    assert response["result"]["experts"][0]["entity_id"] == "project:migration"


BAD: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"hello\n", "invalid_json"),
    "half an object": (b'{"id": 1\n', "invalid_json"),
    "not UTF-8": (b'{"id": "\xff\xfe"}\n', "invalid_json"),
    "not a number of JSON": (b'{"id": NaN, "method": "kb.experts"}\n', "invalid_json"),
    "a number too long to read": (b'{"id": ' + b"9" * 5000 + b"}\n", "invalid_json"),
    "deep nesting": (b"[" * 200_000 + b"]" * 200_000 + b"\n", "invalid_json"),
    "a list": (b"[]\n", "invalid_request"),
    "a number": (b"1\n", "invalid_request"),
    "a text": (b'"kb.experts"\n', "invalid_request"),
    "null": (b"null\n", "invalid_request"),
    "50 MB": (b'{"id": "' + b"x" * 50_000_000 + b'"}\n', "invalid_request"),
    "no method": (b'{"id": 5}\n', "invalid_request"),
    "a method that is not text": (b'{"id": 5, "method": ["kb.experts"]}\n', "invalid_request"),
    "params as a list": (b'{"method": "kb.experts", "params": []}\n', "invalid_request"),
    "an unknown method": (b'{"method": "kb.destroy"}\n', "method_not_found"),
    "a missing parameter": (b'{"method": "kb.experts"}\n', "missing_param"),
    "null for params": (b'{"method": "kb.experts", "params": null}\n', "missing_param"),
    "an empty topic": (b'{"method": "kb.experts", "params": {"topic": " "}}\n', "invalid_request"),
    "a lone surrogate": (
        b'{"method": "kb.experts", "params": {"topic": "\\ud800"}}\n',
        "invalid_request",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_invalid_line_gets_an_error_and_the_next_line_an_answer(
    demo: EngineWorker, name: str
) -> None:
    line_in, code = BAD[name]
    refused, good = responses_to(demo, line_in, b"\n   \n", line(GOOD))
    assert refused["ok"] is False
    assert refused["error"]["code"] == code
    assert set(refused["error"]) == {"code", "message", "type", "retryable", "retry_after_seconds"}
    assert "\n" not in refused["error"]["message"]
    assert good["ok"] is True


@pytest.mark.parametrize("identity", [None, 0, "ü\ud800", 1.5, {"a": [1]}, "x" * 10_000], ids=str)
def test_response_repeats_any_json_id(demo: EngineWorker, identity: Any) -> None:
    (response,) = responses_to(demo, line({"id": identity, "method": "kb.experts"}))
    expected = "ü?" if identity == "ü\ud800" else identity
    assert response["id"] == expected
    assert response["error"]["message"] == "topic is missing"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"query": "rollback", "limt": 3},
            "limt is not an argument of this tool; valid: query, limit,",
        ),
        (
            {"query": "rollback", "filters": {"kind": "note"}},
            "filters.kind is not an argument of this tool; valid: type, path, from, to, tag",
        ),
    ],
    ids=["argument", "filter"],
)
def test_unknown_argument_is_refused_with_the_valid_names(
    demo: EngineWorker, params: dict[str, Any], message: str
) -> None:
    (response,) = responses_to(demo, line({"method": "kb.search", "params": params}))
    assert response["error"]["code"] == "invalid_request"
    assert response["error"]["message"].startswith(message)


@pytest.mark.parametrize("identity", ["a", -5, 2**63], ids=str)
def test_an_id_that_is_neither_text_nor_number_is_refused_by_its_name(
    demo: EngineWorker, identity: Any
) -> None:
    (response,) = responses_to(demo, line({"method": "kb.get", "params": {"id": identity}}))
    assert response["error"]["message"].startswith(("id string should", "id should"))


def test_last_line_without_a_newline_is_answered(demo: EngineWorker) -> None:
    assert responses_to(demo, line(GOOD).strip())[0]["ok"] is True


def test_command_answers_over_pipes(demo_kb_path: Path) -> None:
    requests = [line({"id": number, "method": "kb.capabilities"}) for number in range(3)]
    finished = subprocess.run(
        [sys.executable, "-m", "kbx_tui", "--kb", str(demo_kb_path), "jsonl"],
        input=b"".join([*requests, b"nonsense\n"]),
        capture_output=True,
        env=program_environment({}),
        timeout=120,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    responses = [json.loads(response) for response in finished.stdout.splitlines()]
    assert [response["id"] for response in responses] == [0, 1, 2, None]
    assert "kb.experts" in responses[0]["result"]["methods"]
    assert "Traceback" not in finished.stderr.decode()


def test_server_ends_quietly_when_the_reader_hangs_up(demo_kb_path: Path) -> None:
    process = ToolServer(demo_kb_path, "jsonl")
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.send(*[{"method": "kb.experts"}] * 3)
    process.stdin.close()
    assert process.wait(timeout=120) == 0
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


def test_invalid_request_does_not_open_the_base(tmp_path: Path) -> None:
    def fail() -> Any:
        raise AssertionError("opened")

    worker = EngineWorker(fail)
    (response,) = responses_to(worker, b"[]\n")
    assert response["error"]["code"] == "invalid_request"
    worker.close()
