import json
import subprocess
import sys
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.command_line import CommandLine, program_environment, run_program
from tests.hostile_base import controls_in, write_hostile_base


def test_experts_are_listed_with_their_facts_or_none(kbx: CommandLine, demo_kb_path: Path) -> None:
    ran = kbx("experts", "rollback", "drill", "--limit", "2", "--kb", demo_kb_path)
    assert ran.code == 0
    assert ran.out.startswith(" 1. ")
    assert "person:bob-okafor" in ran.out
    assert "22 minutes" in ran.out
    assert ran.err == ""

    ran = kbx("experts", "submarines", "--kb", demo_kb_path)
    assert (ran.code, ran.out) == (0, "no experts found on submarines\n")


def test_a_listing_headed_by_no_person_names_the_option_for_people(
    kbx: CommandLine, demo_kb_path: Path
) -> None:
    hint = "--people ranks people alone"
    listed = kbx("experts", "migration", "--kb", demo_kb_path).out.splitlines()
    assert "project:migration" in listed[0]
    assert listed[-1] == hint
    for words in (["migration", "--people"], ["rollback", "drill"], ["submarines"]):
        assert hint not in kbx("experts", *words, "--kb", demo_kb_path).out


@pytest.mark.parametrize("command", ["mcp", "jsonl"])
def test_server_without_a_knowledge_base_fails_at_once(
    kbx: CommandLine, tmp_path: Path, command: str
) -> None:
    ran = kbx(command, "--kb", tmp_path / "nowhere")
    assert ran.code == 4
    assert len(ran.err.splitlines()) == 1


def test_tool_always_prints_json(kbx: CommandLine, demo_kb_path: Path) -> None:
    voice = kbx("tool", "kb_search", '{"query": "migration"}', "--voice", "--kb", demo_kb_path)
    assert voice.code == 0
    assert voice.json["data"]["clamped"] is True
    failed = kbx("tool", "kb_search", '{"query": "x"}', "--kb", demo_kb_path)
    assert (failed.code, failed.json["ok"]) == (1, False)
    unknown = kbx("tool", "kb_nothing", "--kb", demo_kb_path)
    error = unknown.json["error"]
    assert error["code"] == "method_not_found"
    assert ("kb_search" in error["message"], "kb.search" in error["message"]) == (True, False)
    schema = kbx("tool", "kb_experts", "--schema").json
    assert schema["inputSchema"]["required"] == ["topic"]


def test_text_of_a_page_never_controls_the_terminal(kbx: CommandLine, tmp_path: Path) -> None:
    root = write_hostile_base(tmp_path)
    with KnowledgeBase(root) as kb:
        kb.index()
    listed = kbx("experts", "fact", "--kb", root)
    assert listed.code == 0
    assert "Mallory" in listed.out
    assert not controls_in(listed.out)
    answered = kbx("tool", "kb_search", '{"query": "quokka"}', "--kb", root)
    assert answered.code == 0
    assert not controls_in(answered.out) - controls_in(
        "z\u200be\u2060r\U000e0041"
    )  # invisible, but harmless
    json.loads(answered.out)


def test_topic_may_contain_undecodable_bytes(demo_kb_path: Path) -> None:
    ran = run_program("experts", b"\xff\xfe migration", "--json", "--kb", demo_kb_path)
    assert ran.code == 0
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("marker", ["kbx.toml", "memory", "nothing"])
def test_an_empty_base_is_served(tmp_path: Path, marker: str) -> None:
    if marker == "memory":
        (tmp_path / "memory").mkdir()
    elif marker == "kbx.toml":
        (tmp_path / "kbx.toml").touch()
    request = {"id": 1, "method": "kb.search", "params": {"query": "rollback plan"}}
    finished = subprocess.run(
        [sys.executable, "-m", "kbx_tui", "--kb", tmp_path, "jsonl"],
        input=json.dumps(request) + "\n",
        capture_output=True,
        encoding="utf-8",
        env=program_environment({}),
        check=False,
        timeout=120,
    )
    assert finished.returncode == 0, finished.stderr
    data = json.loads(finished.stdout)["result"]["data"]
    assert (data["results"], data["in_scope"]) == ([], 0)
    assert data["notes"]
