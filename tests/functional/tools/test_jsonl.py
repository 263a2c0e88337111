from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbx_tui.tools.servers import jsonl_server
from kbx_tui.tools.servers.calling import Workplace
from tests.command_line import program_environment

GOOD = {"id": "last", "method": "kb.experts", "params": {"topic": "migration", "limit": 1}}


def asked(workplace: Workplace, *lines: bytes) -> list[Any]:
    sink = io.BytesIO()
    jsonl_server.serve(workplace, io.BytesIO(b"".join(lines)), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def line(request: object) -> bytes:
    return json.dumps(request).encode() + b"\n"


def test_a_request_is_answered_under_its_id(demo: Workplace) -> None:
    (response,) = asked(demo, line(GOOD))
    assert list(response) == ["id", "ok", "result"]
    assert (response["id"], response["ok"]) == ("last", True)
    assert response["result"]["experts"][0]["entity_id"] == "team:platform"


BAD: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"hello\n", "invalid_json"),
    "half an object": (b'{"id": 1\n', "invalid_json"),
    "no UTF-8": (b'{"id": "\xff\xfe"}\n', "invalid_json"),
    "not a number of JSON": (b'{"id": NaN, "method": "kb.experts"}\n', "invalid_json"),
    "a number too long to read": (b'{"id": ' + b"9" * 5000 + b"}\n", "invalid_json"),
    "deep nesting": (b"[" * 200_000 + b"]" * 200_000 + b"\n", "invalid_json"),
    "a list": (b"[]\n", "invalid_request"),
    "a number": (b"1\n", "invalid_request"),
    "a text": (b'"kb.experts"\n', "invalid_request"),
    "null": (b"null\n", "invalid_request"),
    "50 MB": (b'{"id": "' + b"x" * 50_000_000 + b'"}\n', "invalid_request"),
    "no method": (b'{"id": 5}\n', "invalid_request"),
    "a method that is no text": (b'{"id": 5, "method": ["kb.experts"]}\n', "invalid_request"),
    "params as a list": (b'{"method": "kb.experts", "params": []}\n', "invalid_request"),
    "an unknown method": (b'{"method": "kb.destroy"}\n', "method_not_found"),
    "a missing parameter": (b'{"method": "kb.experts"}\n', "missing_param"),
    "null for params": (b'{"method": "kb.experts", "params": null}\n', "missing_param"),
    "an empty topic": (b'{"method": "kb.experts", "params": {"topic": " "}}\n', "invalid_request"),
    "half a character": (
        b'{"method": "kb.experts", "params": {"topic": "\\ud800"}}\n',
        "invalid_request",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_line_is_answered_and_the_next_one_too(demo: Workplace, name: str) -> None:
    bad, code = BAD[name]
    refused, good = asked(demo, bad, b"\n   \n", line(GOOD))
    assert refused["ok"] is False
    assert refused["error"]["code"] == code
    assert set(refused["error"]) == {"code", "message", "type", "retryable"}
    assert "\n" not in refused["error"]["message"]
    assert good["ok"] is True


@pytest.mark.parametrize("identity", [None, 0, "ü\ud800", 1.5, {"a": [1]}, "x" * 10_000], ids=str)
def test_any_id_comes_back(demo: Workplace, identity: Any) -> None:
    (response,) = asked(demo, line({"id": identity, "method": "kb.experts"}))
    expected = "ü?" if identity == "ü\ud800" else identity
    assert response["id"] == expected
    assert response["error"]["message"] == "topic is missing"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"query": "rollback", "limt": 3},
            "limt is no argument of this tool; there are query, top_k,",
        ),
        (
            {"query": "rollback", "filters": {"kind": "note"}},
            "filters.kind is no argument of this tool; there are type, path, from, to, tag",
        ),
    ],
    ids=["argument", "filter"],
)
def test_what_a_tool_does_not_take_is_told_with_what_it_takes(
    demo: Workplace, given: dict[str, Any], said: str
) -> None:
    (response,) = asked(demo, line({"method": "kb.search", "params": given}))
    assert response["error"]["code"] == "invalid_request"
    assert response["error"]["message"].startswith(said)


def test_a_last_line_without_an_end_counts(demo: Workplace) -> None:
    assert asked(demo, line(GOOD).strip())[0]["ok"] is True


def test_a_program_talks_over_pipes(demo_kb_path: Path) -> None:
    requests = [line({"id": at, "method": "kb.capabilities"}) for at in range(3)]
    finished = subprocess.run(
        [sys.executable, "-m", "kbx_tui", "--kb", str(demo_kb_path), "jsonl"],
        input=b"".join([*requests, b"nonsense\n"]),
        capture_output=True,
        env=program_environment({}),
        timeout=120,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    responses = [json.loads(one) for one in finished.stdout.splitlines()]
    assert [one["id"] for one in responses] == [0, 1, 2, None]
    assert "kb.experts" in responses[0]["result"]["methods"]
    assert "Traceback" not in finished.stderr.decode()


def test_a_reader_that_hangs_up_ends_it_quietly(demo_kb_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "kbx_tui", "--kb", str(demo_kb_path), "jsonl"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=program_environment({}),
    )
    assert process.stdin and process.stdout and process.stderr
    process.stdout.close()
    process.stdin.write(line({"method": "kb.experts"}) * 3)
    process.stdin.close()
    assert process.wait(timeout=120) == 0
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


def test_nothing_is_opened_before_it_is_needed(tmp_path: Path) -> None:
    def never() -> Any:
        raise AssertionError("opened")

    workplace = Workplace(never)
    (response,) = asked(workplace, b"[]\n")
    assert response["error"]["code"] == "invalid_request"
    workplace.close()
