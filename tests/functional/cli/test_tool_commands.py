from __future__ import annotations

import json
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.command_line import CommandLine, run_program
from tests.hostile_base import acting, write_hostile_base


def test_experts_are_listed_with_what_counts(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("experts", "rollback", "drill", "--limit", "2", "--kb", demo_kb_path)
    assert ran.code == 0
    assert ran.out.startswith(" 1. ")
    assert "person:bob-okafor" in ran.out
    assert "22 minutes" in ran.out
    assert ran.err == ""


def test_an_unknown_weight_is_said_and_counts(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("experts", "migration", "--weight", "loudness", "--json", "--kb", demo_kb_path)
    assert ran.code == 0
    assert "loudness" in ran.err
    assert ran.json["weight"] == "count"


def test_nobody_known_is_no_failure(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("experts", "submarines", "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (0, "nobody is known for submarines\n")


@pytest.mark.parametrize(
    "words",
    [
        ("experts",),
        ("experts", " "),
        ("experts", "?!"),
        ("experts", "migration", "--limit", "-1"),
        ("experts", "migration", "--min-claims", "0"),
        ("tool", "kb_search", "[1]"),
        ("tool", "kb_search", "{"),
        ("tool", "kb_nothing", "--schema"),
        ("mcp", "--http", "--host", "0.0.0.0"),
    ],
    ids=" ".join,
)
def test_wrong_use_is_one_line(
    kbx: CommandLine, demo_kb_path: Path, words: tuple[str, ...]
) -> None:
    ran = kbx(*words, "--kb", demo_kb_path)
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1


@pytest.mark.parametrize("command", ["mcp", "jsonl"])
def test_a_server_tells_at_once_that_there_is_nothing_to_serve(
    kbx: CommandLine, tmp_path: Path, command: str
) -> None:
    ran = kbx(command, "--kb", tmp_path)
    assert ran.code == 4
    assert len(ran.err.splitlines()) == 1


def test_a_tool_prints_json_whatever_happens(kbx: CommandLine, demo_kb_path: Path) -> None:
    voice = kbx("tool", "kb_search", '{"query": "migration"}', "--voice", "--kb", demo_kb_path)
    assert voice.code == 0
    assert voice.json["data"]["clamped"] is True
    failed = kbx("tool", "kb_search", '{"query": "x"}', "--kb", demo_kb_path)
    assert (failed.code, failed.json["ok"]) == (1, False)
    unknown = kbx("tool", "kb_nothing", "--kb", demo_kb_path)
    assert unknown.json["error"]["code"] == "method_not_found"
    schema = kbx("tool", "kb_experts", "--schema").json
    assert schema["inputSchema"]["required"] == ["topic"]


def test_what_a_page_says_does_not_act(kbx: CommandLine, tmp_path: Path) -> None:
    root = write_hostile_base(tmp_path)
    with KnowledgeBase(root) as kb:
        kb.index()
    listed = kbx("experts", "fact", "--kb", root)
    assert listed.code == 0
    assert "Mallory" in listed.out
    assert not acting(listed.out)
    told = kbx("tool", "kb_search", '{"query": "quokka"}', "--kb", root)
    assert told.code == 0
    assert not acting(told.out) - acting("z\u200be\u2060r\U000e0041")  # nothing to be seen
    json.loads(told.out)


def test_bytes_that_are_no_text_are_a_topic_too(demo_kb_path: Path) -> None:
    ran = run_program("experts", b"\xff\xfe migration", "--json", "--kb", demo_kb_path)
    assert ran.code == 0
    assert "Traceback" not in ran.err
