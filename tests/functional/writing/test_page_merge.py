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
    unasked = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor")
    assert (unasked.code, "then say --yes" in unasked.err) == (9, True)
    assert contents(root) == before
    ran = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor", "--yes")
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
            {
                "memory/people/robert.md": None,
                "memory/old/robert.md": "---\ntype: person\n---\n# Robert Okafor\n\n[a](../b.md)\n",
            },
            "links relative to its folder",
        ),
        ({"memory/people/bob.md": KEPT + "\n## Notes\n\n```\n"}, "open at the end of '## Notes'"),
        ({"memory/people/bob.md": KEPT + "\n## Notes\n\n<!-- to do\n"}, "is open at the end"),
        ({"memory/people/bob.md": KEPT + "\n## Notes\n\n%%\nto do\n"}, "is open at the end"),
        ({"memory/people/robert.md": OTHER + "\n%% to do\n"}, "is open at the end"),
        ({"memory/people/robert.md": OTHER + "\n{/* to do\n"}, "is open at the end"),
        ({"memory/people/robert.md": OTHER + "\n${ to do\n"}, "is open at the end"),
        (
            {
                "memory/people/bob.md": KEPT + "\nTea.[^1]\n\n[^1]: Green.\n",
                "memory/people/robert.md": OTHER + "\nCoffee.[^1]\n\n[^1]: Black.\n",
            },
            "both use the label '^1'",
        ),
        (
            {
                "memory/people/bob.md": KEPT + "\n[p]: https://tea.example\n",
                "memory/people/robert.md": OTHER + "\n[see][p] of [P]\n",
            },
            "both use the label 'p'",
        ),
        (
            {
                "memory/people/bob.md": KEPT + "\nTea. ^a\n",
                "memory/people/robert.md": OTHER + "\nCoffee. ^a\n",
            },
            "both use the label '^a'",
        ),
        (
            {
                "memory/people/bob.md": KEPT + "\n### Later\n\nTea.\n",
                "memory/people/robert.md": OTHER + "\n### Later\n\n[[#Later]]\n",
            },
            "would no longer lead to one heading",
        ),
        (
            {
                "memory/people/carl/index.md": "---\naliases: [Bobby]\n---\n# Carl Oh\n",
                "memory/people/carl/notes/n.md": "# N\n\n[[Bobby]]\n",
            },
            "leads to memory/people/carl/index.md, which has that name, too",
        ),
        ({"memory/people/robert.md": "---\nrole: [\n---\n# Robert Okafor\n"}, "mend that first"),
        (
            {
                "memory/people/robert.md": "---\n"
                + "".join(f"robert{n}: x\n" for n in range(750))
                + "---\n# Robert Okafor\n"
                + "".join(f"\n## D{n}\n\nx\n" for n in range(750))
            },
            "has too many sections or fields",
        ),
    ],
)
def test_what_cannot_be_merged_exactly_is_refused(
    kbx: CommandLine, tmp_path: Path, changes: dict[str, str | None], message: str
) -> None:
    files = {path: text for path, text in (FILES | changes).items() if text is not None}
    root = index_vault(tmp_path / "other", files, fast=True)
    before = contents(root)
    ran = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor", "--yes")
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
    assert kbx("--kb", root, "person", "merge", "Bob", "Robert Okafor", "--yes").code == 0
    assert (root / "n.md").read_text("utf-8") == "# N\n\n[[bob]], [[bob|R]], [[bob#Notes]].\n"
    with KnowledgeBase(root) as kb:
        assert kb.links.check() == ()


def test_one_page_is_not_merged_with_itself(kbx: CommandLine, root: Path) -> None:
    ran = kbx("--kb", root, "person", "merge", "Robert Okafor", "Bobby", "--yes")
    assert (ran.code, "both names mean Robert Okafor" in ran.err) == (2, True)
    assert kbx("--kb", root, "person", "merge", "Bob Okafor", "Platform", "--yes").code == 4
    (root / "memory/people/linked.md").symlink_to("bob.md")
    assert kbx("--kb", root, "index", "--fast").code == 0
    for names in (("person:linked", "person:bob"), ("person:bob", "person:linked")):
        ran = kbx("--kb", root, "person", "merge", *names, "--dry-run")
        assert (ran.code, "linked.md is a symbolic link" in ran.err) == (7, True), ran.err


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ("[al](../people/Al%20(Ops).md)", "[al](../people/bob.md)"),
        (
            "[al](../people/Al%20(Ops).md#notes 'Al (Ops)')",
            "[al](../people/bob.md#notes 'Al (Ops)')",
        ),
        ("![al](<../people/Al (Ops).md#Notes>)", "![al](<../people/bob.md#Notes>)"),
        ("[`al`](/memory/people/Al%20%28Ops%29.md?plain=1)", "[`al`](../people/bob.md?plain=1)"),
        (
            "[he][r], [r] [x]\r\n\r\n[R]: <../people/Al (Ops).md> 'Al'\r\n[r]: b.md\r\n[x]: c.md",
            "[he][r], [r] [x]\r\n\r\n[R]: <../people/bob.md> 'Al'\r\n[r]: b.md\r\n[x]: c.md",
        ),
        ("| [[Al (Ops)\\|him]] |\n|-|", "| [[Bob Okafor\\|him]] |\n|-|"),
    ],
)
def test_links_follow_in_every_form(
    kbx: CommandLine, tmp_path: Path, written: str, after: str
) -> None:
    text = "---\nx: 1\n---\n# N\r\n\r\n    [al](../people/Al%20(Ops).md)\n\n{} `{}` end"
    root = index_vault(
        tmp_path / "base",
        {
            "memory/people/bob.md": "\ufeff# Bob Okafor\r\n\r\nLikes tea.",
            "memory/people/Al (Ops).md": "# Robert Okafor\n\n## Notes\n\nCello.\n",
            "memory/notes/n.md": text.format(written, "[al](../people/Al%20(Ops).md)"),
        },
        fast=True,
    )
    before = contents(root)
    ran = kbx("--kb", root, "person", "merge", "Bob Okafor", "Robert Okafor", "--yes")
    assert ran.code == 0, ran.err
    expected = text.format(after, "[al](../people/Al%20(Ops).md)")
    assert (root / "memory/notes/n.md").read_bytes().decode() == expected
    merged = (root / "memory/people/bob.md").read_bytes().decode()
    assert merged == (
        "\ufeff---\r\naliases:\r\n- Robert Okafor\r\n---\r\n# Bob Okafor\r\n\r\nLikes tea.\r\n\r\n"
        "## Notes\r\n\r\nCello."
    )
    assert kbx("--kb", root, "undo").code == 0
    assert contents(root) == before


def test_fields_and_names_of_both_are_kept_or_reported(kbx: CommandLine, tmp_path: Path) -> None:
    root = index_vault(
        tmp_path / "base",
        {
            "memory/people/bob.md": "---\ntitle: SRE\ntags: ops\nlevel: 3\n---\n# Bob Okafor\n",
            "memory/people/robert.md": (
                "---\nname: Alan Lee\nnickname: Al\nrole: Engineer\n# call before ten\n"
                "tags: night\nlevel: 4\nphones: {home: 123}  # old\nsince: 2020-01-02\n"
                "---\n# Robert (Ops)\n"
            ),
            "memory/people/cy.md": "# Cy\n\nWith [[Alan Lee]] and [[Robert]].\n",
            "memory/people/dee.md": "---\ntitle: Head of tea\n---\n# Dee\n",
        },
        fast=True,
    )
    ran = kbx("--kb", root, "person", "merge", "bob okafor", "Alan Lee", "--yes")
    assert ran.code == 0, ran.err
    for lost in ("role 'Engineer' of", "level '4' of", "the comment '# call before ten' of"):
        assert f"{lost} memory/people/robert.md is left out" in ran.err
    assert ran.err.count("left out") == 3
    merged = (root / "memory/people/bob.md").read_text("utf-8")
    for line in ("title: SRE", "level: 3", "phones: {home: 123}  # old", "since: 2020-01-02"):
        assert f"\n{line}\n" in merged
    assert "tags:\n- ops\n- night\n" in merged
    assert "[[Alan Lee]] and [[Robert]]" in (root / "memory/people/cy.md").read_text("utf-8")
    with KnowledgeBase(root) as kb:
        for name in ("Alan Lee", "Al", "Robert (Ops)", "Robert", "Bob Okafor"):
            assert kb.entities.resolve(name).path == "memory/people/bob.md"
        assert kb.entities.resolve("Bob Okafor").role == "SRE"
    assert kbx("--kb", root, "person", "merge", "Cy", "Dee", "--yes").code == 0
    with KnowledgeBase(root) as kb:
        assert kb.entities.resolve("Cy").role == "Head of tea"
        kb.judgments.add("tea", "memory/people/bob.md", 3)
    shown = kbx("--kb", root, "person", "merge", "Cy", "Bob Okafor", "--dry-run")
    assert "1 judgment of memory/people/bob.md will go on naming it" in shown.err
