"""`kbx person merge`: two pages of one person made one."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault

KEPT = """---
role: SRE
email: bob@example.com
tags: [ops]
---
# Bob Okafor

Likes tea.

## Recent Facts

- [2026-01-10] Runs the on-call rota

## Open Items

- [ ] order cable
"""
OTHER = """---
aliases: [Bobby]
role: Engineer
email: rob@example.com
team: '[[Platform]]'
tags: [ops, night]
---
# Robert Okafor

Plays the cello.

## Recent Facts

- [2026-02-01] Moved to Leith (source: [[sync]])
  - confidence: high
- [2026-02-03] Sails

## Notes

See [[#Recent Facts]].
"""
BOTH = """---
aliases:
- Robert Okafor
- Bobby
role: SRE
email:
- bob@example.com
- rob@example.com
team: '[[Platform]]'
tags:
- ops
- night
---
# Bob Okafor

Likes tea.

Plays the cello.

## Recent Facts

- [2026-01-10] Runs the on-call rota
- [2026-02-01] Moved to Leith (source: [[sync]])
  - confidence: high
- [2026-02-03] Sails

## Open Items

- [ ] order cable

## Notes

See [[#Recent Facts]].
"""
SYNC = (
    "---\nattendees: ['[[Robert Okafor]]']\n---\n# Sync\r\n\r\n[[Robert Okafor]] and [[Bobby]], "
    "[[robert|R]] at [the page](../people/robert.md#notes), ![[robert#Notes]] `[[robert]]`.\n"
)
FILES = {
    "memory/people/bob.md": KEPT,
    "memory/people/robert.md": OTHER,
    "memory/notes/sync.md": SYNC,
    "memory/teams/platform.md": "---\ntype: team\n---\n# Platform\n",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return index_vault(tmp_path / "base", FILES, fast=True)


def contents(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in root.rglob("*.md")}


def test_two_pages_become_one_links_follow_and_undo_restores_them(
    kbx: CommandLine, root: Path
) -> None:
    before = contents(root)
    shown = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor", "--dry-run")
    assert contents(root) == before
    assert "+- [2026-02-01] Moved to Leith" in shown.out
    ran = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor")
    assert ran.code == 0, ran.err
    assert "role 'Engineer' of memory/people/robert.md is left out" in ran.err
    after = contents(root)
    assert after.keys() == before.keys() - {"memory/people/robert.md"}
    assert after["memory/people/bob.md"].decode() == BOTH
    assert after["memory/notes/sync.md"].decode() == SYNC.replace(
        "[[robert|R]]", "[[Bob Okafor|R]]"
    ).replace("../people/robert.md", "../people/bob.md").replace("![[robert#", "![[Bob Okafor#")
    with KnowledgeBase(root) as kb:
        assert kb.links.check() == ()
        assert kb.entities.resolve("Robert Okafor").path == "memory/people/bob.md"
        assert len(kb.links.of("memory/people/bob.md").backlinks) > 1
    assert kbx("--kb", root, "undo").code == 0
    assert contents(root) == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"memory/people/robert.md": OTHER + "- secret #redacted\n"}, "has redacted parts"),
        (
            {"memory/notes/sync.md": "---\nup: '[[memory/people/robert]]'\n---\n# S\n"},
            "the link 'memory/people/robert' in memory/notes/sync.md has to be changed by hand",
        ),
        (
            {"memory/notes/sync.md": "# S\n\n[he][r]\n\n[r]: ../people/robert.md\n"},
            "in memory/notes/sync.md:3 has to be changed by hand first",
        ),
        (
            {
                "memory/people/robert.md": None,
                "memory/old/robert.md": "---\ntype: person\n---\n# Robert Okafor\n\n[a](../b.md)\n",
            },
            "links relative to its folder",
        ),
        ({"memory/people/bob.md": KEPT + "\n## Notes\n\n```\n"}, "merge them in an editor"),
    ],
)
def test_what_cannot_be_merged_exactly_is_refused(
    kbx: CommandLine, tmp_path: Path, changes: dict[str, str | None], message: str
) -> None:
    files = {path: text for path, text in (FILES | changes).items() if text is not None}
    root = index_vault(tmp_path / "other", files, fast=True)
    before = contents(root)
    ran = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor")
    assert (ran.code, message in ran.err) == (7, True), ran.err
    assert contents(root) == before


def test_links_of_a_vault_follow_by_the_name_of_the_file(kbx: CommandLine, tmp_path: Path) -> None:
    links = "# N\n\n[[Robert Okafor]], [[robert|R]], [[people/robert#Notes]].\n"
    files = {
        ".obsidian/app.json": "{}",
        "people/bob.md": "---\ntype: person\n---\n# Bob\n",
        "people/robert.md": "---\ntype: person\n---\n# Robert Okafor\n\n## Notes\n\nCello.\n",
        "n.md": links,
    }
    root = index_vault(tmp_path / "vault", files, fast=True)
    assert kbx("--kb", root, "person", "merge", "Bob", "Robert Okafor").code == 0
    assert (root / "n.md").read_text("utf-8") == "# N\n\n[[bob]], [[bob|R]], [[bob#Notes]].\n"
    with KnowledgeBase(root) as kb:
        assert kb.links.check() == ()


def test_one_page_is_not_merged_with_itself(kbx: CommandLine, root: Path) -> None:
    ran = kbx("--kb", root, "person", "merge", "Robert Okafor", "Bobby")
    assert (ran.code, "both names mean Robert Okafor" in ran.err) == (2, True)
    assert kbx("--kb", root, "person", "merge", "Bob Okafor", "Platform").code == 4
