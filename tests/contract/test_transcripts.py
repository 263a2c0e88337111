"""Examples of the five proposals: every command line runs, every JSON answer has the shown shape.

The knowledge base is the demo with the two pages that the examples mention.
"""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import FieldSimilarity, KnowledgeBase, SimilarityMatch
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.methods import METHODS, input_schema
from tests.command_line import CommandLine
from tests.conftest import copy_demo

PERSON_A = """---
role: Director of Engineering
team: Platform
---
# Person A

## Recent Facts
- [2026-02-15] Favours Slack DMs over email for quick questions
- [2026-01-20] Prefers written async updates to synchronous meetings
- [2026-03-01] Prefers async communication

## Open Items
- [ ] follow up on migration timeline
"""
PROJECT_X = """# Project X

## Facts
- [2026-03-02] Migration is blocked by the auth dependency
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copy_demo(tmp_path_factory.mktemp("seeds") / "base")
    (root / "memory/people/person-a.md").write_text(PERSON_A, encoding="utf-8")
    (root / "memory/projects/project-x.md").write_text(PROJECT_X, encoding="utf-8")
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


@pytest.fixture(scope="module")
def tools(base: Path) -> Iterator[EngineWorker]:
    worker = EngineWorker(lambda: KnowledgeBase(base))
    yield worker
    worker.close()


def assert_shape(actual: Any, example: Any, path: str = "$") -> None:
    """Assert that an answer has the fields and types of an example; it may have more fields.

    Elements of a list are compared with the first of the example, and must exist if that does.
    """
    if isinstance(example, dict):
        assert isinstance(actual, dict), path
        for field, value in example.items():
            assert field in actual, f"{path}.{field}"
            assert_shape(actual[field], value, f"{path}.{field}")
    elif isinstance(example, list):
        assert isinstance(actual, list), path
        if example:
            assert actual, f"{path} is empty"
            for index, element in enumerate(actual):
                assert_shape(element, example[0], f"{path}[{index}]")
    elif isinstance(example, bool) or isinstance(actual, bool):
        assert type(actual) is type(example), path
    elif isinstance(example, int | float):
        assert isinstance(actual, int | float), f"{path} = {actual!r}"
    elif example is not None:
        assert isinstance(actual, type(example)), f"{path} = {actual!r}"


MATCH = {
    "text": "Favours Slack DMs over email for quick questions",
    "score": 0.91,
    "fact_id": 1234,
    "source_path": "memory/people/person-a.md",
    "date": "2026-02-15",
    "entity_name": "Person A",
    "match_type": "fact",
}
SIMILAR = {
    "query": "prefers async communication",
    "scope": {"entity": "Person A"},
    "threshold": 0.85,
    "matches": [MATCH],
    "has_similar": True,
    "best_score": 0.91,
}
FIELD = {
    "entity": "Person A",
    "field": "role",
    "current_value": "Director of Engineering",
    "proposed_value": "Engineering Director",
    "similarity": 0.96,
    "is_similar": True,
    "threshold": 0.85,
}
EXPERT = {
    "entity_id": "project:migration",
    "name": "Migration",
    "type": "project",
    "claim_count": 3,
    "citation_count": 2,
    "score": 3.0,
    "top_claim_ids": [1],
}
EXPLAINED = {
    "results": [{"path": "x.md", "explain": {"parent_entity_score": 0.92, "final_score": 0.5}}],
    "meta": {
        "search_mode": "two_pass",
        "pass1_entities": [{"id": "x", "name": "Person A", "type": "person", "score": 0.92}],
    },
}
RESULT = {
    "id": "person:andrei_clodius",
    "type": "person",
    "title": "Andrei Clodius",
    "snippet": "...",
    "score": 0.87,
    "source_type": "kb_document",
    "metadata": {"file_path": "people/andrei_clodius.md", "chunk_index": 2},
}
FOUND = {
    "ok": True,
    "data": {"results": [RESULT], "total_found": 5, "query": "original query text"},
}
NOTHING = {
    "ok": True,
    "data": {"results": [], "total_found": 0, "query": "quantum computing blockchain NFTs"},
}

COMMANDS: list[tuple[str, Any]] = [
    ('kbx search "what did the platform team decide about migration?"', None),
    ('kbx search "what did the platform team decide about migration?" --no-hierarchy', None),
    ('kbx search "Person A migration status" --json', {"results": [{"path": ""}], "meta": {}}),
    (
        'kbx search "Person A migration status" --no-hierarchy --json',
        {"meta": {"search_mode": "flat"}},
    ),
    ('kbx search "Person A migration status" --hierarchy-alpha 0.7 --json', {"meta": {}}),
    ('kbx search "Person A migration status" --explain --json', EXPLAINED),
    ('kbx search "topic" --path memory/meetings/', None),
    ('kbx search "deployment" --path memory/meetings/2026/03/', None),
    ('kbx search "infrastructure lead" --path memory/people/', None),
    ('kbx search "blockers" --path memory/projects/', None),
    ('kbx search "migration timeline" --fast --path memory/meetings/ --json', {"results": []}),
    ('kbx search "migration timeline" --path memory/meetings/ --json', {"results": []}),
    ('kbx search "query" --path memory/people/ --json', {"results": []}),
    ('kbx search "query" --path memory/meetings/2026/0[1-3]/ --json', {"results": []}),
    ('kbx experts "migration"', None),
    (
        'kbx experts "migration" --limit 3 --min-claims 2 --weight recency --json',
        {"experts": [EXPERT]},
    ),
    ('kbx experts "migration" --weight citation --json', {"experts": [EXPERT]}),
    ('kbx experts "migration" --weight count --json', {"experts": [EXPERT]}),
    (
        'kbx memory similar "prefers async communication" --entity "Person A" --threshold 0.85',
        None,
    ),
    (
        'kbx memory similar "prefers async communication" --entity "Person A" --threshold 0.85'
        " --json",
        SIMILAR,
    ),
    (
        'kbx memory similar "deployment rollback procedure" --threshold 0.80 --json',
        {"query": "deployment rollback procedure", "threshold": 0.8, "matches": []},
    ),
    (
        'kbx memory similar "migration blocked by auth dependency"'
        ' --path "memory/projects/project-x.md" --json',
        {**SIMILAR, "scope": {"path": "memory/projects/project-x.md"}},
    ),
    (
        'kbx entity similar-field "Person A" --field role --value "Engineering Director" --json',
        FIELD,
    ),
    (
        'kbx entity similar-field "Person A" --field team --value "Platform & Infrastructure"'
        " --json",
        {**FIELD, "current_value": "Platform", "is_similar": False},
    ),
]


@pytest.mark.parametrize(("line", "example"), COMMANDS, ids=[line for line, _ in COMMANDS])
def test_command_line_of_a_proposal_runs(
    kbx: CommandLine, base: Path, monkeypatch: pytest.MonkeyPatch, line: str, example: Any
) -> None:
    monkeypatch.chdir(base)
    program, *arguments = shlex.split(line)
    assert program == "kbx"
    ran = kbx(*arguments)
    assert ran.code == 0, ran.err
    if example is not None:
        assert_shape(ran.json, example)
    if "--path" in arguments and "--json" in arguments and arguments[0] == "search":
        start = arguments[arguments.index("--path") + 1].partition("[")[0]
        assert all(result["path"].startswith(start) for result in ran.json["results"])


def test_proposed_write_commands_run(
    kbx: CommandLine, base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proposals leave out names, which are filled in here."""
    copy = shutil.copytree(base, tmp_path / "base")
    monkeypatch.chdir(copy)
    page = copy / "memory/people/person-a.md"
    before = page.read_bytes()
    shown = kbx("memory", "add", "fact", "--entity", "Person A", "--dry-run")
    assert shown.code == 0, shown.err
    assert page.read_bytes() == before
    edited = kbx("person", "edit", "Person A", "--role", "Director of Engineering")
    assert edited.code == 0, edited.err
    known = kbx("memory", "similar", "prefers async communication", "--json").json["matches"][0]
    merged = "Prefers async communication in writing"
    assert kbx("memory", "edit-fact", str(known["fact_id"]), merged).code == 0
    assert merged in page.read_text(encoding="utf-8")
    again = kbx("memory", "add", merged, "--entity", "Person A", "--json")
    assert again.code == 3
    assert_shape(again.json, {"written": False, "matches": [MATCH]})


def test_plugin_workflow_creates_and_merges_facts(base: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(base, tmp_path / "base")
    with KnowledgeBase(copy) as kb:
        candidate = "Person A collects barometers"
        assert not kb.memory_similar(text=candidate, entity="Person A")
        kb.memory_add(title=candidate, entity="Person A")
        matches = kb.memory_similar(text=candidate, entity="Person A")
        assert matches[0].score > 0.90
        assert matches[0].fact_id is not None
        kb.edit_fact(matches[0].fact_id, text="Collects old barometers")
    assert "Collects old barometers" in (copy / "memory/people/person-a.md").read_text()


SAMPLES = (
    ("Person A prefers written async updates", "MERGE", 0.80),
    ("Person A favours Slack DMs over email", "MERGE", 0.80),
    ("prefers asynchronous communication", "SKIP", 0.90),
    ("Person A collects barometers", "CREATE", 0.0),
)
"""Candidate texts, what the plugin of the proposal then does, and the score it needs for that."""


@pytest.mark.parametrize(("candidate", "expected", "least"), SAMPLES, ids=str)
def test_plugin_pattern_reaches_the_branch_its_author_meant(
    base: Path, tmp_path: Path, candidate: str, expected: str, least: float
) -> None:
    copy, merged_text = shutil.copytree(base, tmp_path / "base"), f"{candidate}, mostly"
    page = copy / "memory/people/person-a.md"
    before = page.read_text(encoding="utf-8")

    def llm_decide(candidate: str, existing: str) -> str:
        assert candidate != existing
        return expected

    with KnowledgeBase(copy) as kb:
        matches = kb.memory_similar(text=candidate, entity="Person A")
        decision = "CREATE"
        if (matches and matches[0].score > 0.90) or (matches and matches[0].score > 0.80):
            decision = llm_decide(candidate, matches[0].text)
        else:
            kb.memory_add(title=candidate, entity="Person A")
        assert decision == expected
        if expected == "CREATE":
            assert candidate in page.read_text(encoding="utf-8")
            return
        assert matches[0].score > least
        assert page.read_text(encoding="utf-8") == before
        if decision == "MERGE":
            assert matches[0].fact_id is not None
            kb.edit_fact(matches[0].fact_id, text=merged_text)
            assert merged_text in page.read_text(encoding="utf-8")


def test_example_scores_of_the_proposal_are_those_the_docs_state(base: Path) -> None:
    """The proposal shows .91 and .87 for them, which docs/similarity.md explains."""
    query = "prefers async communication"
    pairs = [(query, text) for text in (MATCH["text"], PERSON_A.split("] ")[2].split("\n")[0])]
    with KnowledgeBase(base) as kb:
        scores = [round(pair.score, 2) for pair in kb.similarity.pairs(pairs)]
    stated = (Path(__file__).parents[2] / "docs/similarity.md").read_text(encoding="utf-8")
    assert scores == [0.27, 0.76]
    assert all(f"scores .{round(score * 100)}" in stated for score in scores)


def test_field_match_has_the_match_type_of_the_proposal(kbx: CommandLine, base: Path) -> None:
    arguments = ("memory", "similar", "Engineering Director", "--entity", "Person A", "--json")
    answer = kbx(*arguments, "--kb", base).json
    assert answer["has_similar"] is True
    assert (answer["matches"][0]["match_type"], answer["matches"][0]["field"]) == ("field", "role")


def test_similar_field_gives_the_verdicts_of_the_proposal(kbx: CommandLine, base: Path) -> None:
    arguments = ("entity", "similar-field", "Person A", "--json", "--kb", base)
    role = kbx(*arguments, "--field", "role", "--value", "Engineering Director").json
    team = kbx(*arguments, "--field", "team", "--value", "Platform & Infrastructure").json
    assert (role["is_similar"], team["is_similar"]) == (True, False)


TOOLS: list[tuple[str, dict[str, Any], Any]] = [
    (
        "kb.search",
        {"query": "Who worked on the migration?", "capabilities": {"voice": True}},
        FOUND,
    ),
    (
        "kb.search",
        {
            "query": "migration and rollback expertise",
            "top_k": 8,
            "filters": {"type": "person"},
            "capabilities": {"voice": False, "messaging": True},
        },
        {**FOUND, "data": {**FOUND["data"], "filters_applied": {"type": "person"}}},  # type: ignore[dict-item]
    ),
    ("kb.search", {"query": "quantum computing blockchain NFTs"}, NOTHING),
    (
        "kbx.memory_similar",
        {
            "text": "prefers async communication",
            "entity": "Person A",
            "threshold": 0.85,
            "limit": 5,
        },
        SIMILAR,
    ),
    ("kb.experts", {"topic": "migration"}, {"experts": [EXPERT]}),
]


@pytest.mark.parametrize(("name", "params", "example"), TOOLS, ids=str)
def test_tool_answer_has_the_shape_of_the_proposal(
    tools: EngineWorker, name: str, params: dict[str, Any], example: Any
) -> None:
    answer = tools.answer(name, params)
    assert answer.failure is None, answer.json
    assert_shape(json.loads(json.dumps(answer.json)), example)


def test_tool_schema_has_the_shape_of_the_proposal() -> None:
    shown = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "Candidate text to check for similarity"},
            "entity": {"type": "string", "description": "Entity name to scope search (optional)"},
            "path": {"type": "string", "description": "Document path to scope search (optional)"},
            "threshold": {"type": "number", "description": "Minimum similarity (0.0-1.0)"},
            "limit": {
                "type": "integer",
                "default": 5,
                "description": "Max matches to return",
            },
        },
        "required": ["text"],
    }
    method = METHODS["kbx.memory_similar"]
    assert method.tool == "kbx_memory_similar"
    assert method.writes is False  # readOnlyHint: true
    assert_shape(input_schema(method), shown)


def test_python_calls_return_what_the_proposal_shows(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        matches = kb.memory_similar(
            text="prefers async communication", entity="Person A", threshold=0.85, limit=5
        )
        assert all(isinstance(match, SimilarityMatch) for match in matches)
        assert {field: getattr(matches[0], field) for field in MATCH}
        assert kb.has_similar(text="prefers async communication", entity="Person A") is True
        field = kb.entity_similar_field(
            entity="Person A", field="role", value="Engineering Director"
        )
        assert isinstance(field, FieldSimilarity)
        assert field.is_similar is True
        assert (field.current_value, field.proposed_value) == (
            "Director of Engineering",
            "Engineering Director",
        )
        found = kb.experts(topic="migration", limit=10, min_claims=1, weight="count")
        assert {name: getattr(found.experts[0], name) for name in EXPERT}
