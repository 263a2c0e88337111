"""The command lines and the plugin of the five proposals do what their authors meant.

The knowledge base is the demo with the two pages that the examples mention. What the answers look
like is the subject of test_search_json.py and test_similarity_json.py.
"""

import shlex
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.command_line import CommandLine
from tests.trusting import copy_base

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
def base(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = copy_base(demo_kb_path, tmp_path_factory.mktemp("seeds") / "base")
    (root / "memory/people/person-a.md").write_text(PERSON_A, encoding="utf-8")
    (root / "memory/projects/project-x.md").write_text(PROJECT_X, encoding="utf-8")
    with KnowledgeBase(root) as kb:
        kb.index()
    return root


COMMANDS = (
    'kbx search "what did the platform team decide about migration?"',
    'kbx search "Person A migration status" --no-hierarchy --json',
    'kbx search "Person A migration status" --hierarchy-alpha 0.7 --explain --json',
    'kbx search "infrastructure lead" --path memory/people/',
    'kbx search "migration timeline" --fast --path memory/meetings/ --json',
    'kbx search "query" --path memory/meetings/2026/0[1-3]/ --json',
    'kbx experts "migration"',
    'kbx experts "migration" --limit 3 --min-claims 2 --weight recency --json',
    'kbx memory similar "prefers async communication" --entity "Person A" --threshold 0.85 --json',
    'kbx memory similar "migration blocked by auth dependency"'
    ' --path "memory/projects/project-x.md" --json',
    'kbx entity similar-field "Person A" --field role --value "Engineering Director" --json',
)


@pytest.mark.parametrize("line", COMMANDS)
def test_command_line_of_a_proposal_runs(
    kbx: CommandLine, base: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(base)
    ran = kbx(*shlex.split(line)[1:])
    assert (ran.code, bool(ran.out)) == (0, True), ran.err


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
    copy, merged_text = copy_base(base, tmp_path / "base"), f"{candidate}, mostly"
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
