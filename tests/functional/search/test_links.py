"""Links between documents in both directions, broken ones, and mentions that become links."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound
from kbx_tui.tools.dispatch import call
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault, write_vault
from tests.trusting import copy_base

FILES = {
    "people/ann-lee.md": "---\naliases: [Annie]\n---\n# Ann Lee\n\nLeads [[Helix]].\n",
    "projects/helix.md": "---\nlead: '[[Ann Lee]]'\n---\n# Helix\n\nSee [[Helix costs#Q1]], "
    "![[chart.png]] and [[Rolback plan]].\n",
    "notes/Helix costs.md": "# Costs of Helix\n\n[Helix](../projects/helix.md) is Helix.\n",
    "notes/Rollback plan.md": "# Rollback plan\n\nWe asked Annie Lee, then Annie.\n",
    "notes/2026-03-01 sync.md": "- Helix is late, says [[ann-lee|the lead]].\n"
    "- The Helix costs: `Helix costs`\n\n| Helix costs | 3 |\n|---|---|\n",
    "files/chart.png": "",
    "notes/Katzen.md": "# Katzen\n\nNichts.\n",
    "notes/Item #1|a.md": "# Top\n",
    "notes/items.md": "[one](Item%20%231%7Ca.md#Top) ![](../files/a%23b.png)\n",
    "files/a#b.png": "",
    "notes/deutsch.md": "Das ist ein Text und er ist nicht auf Englisch, sondern er handelt von "
    "der Welt und den Tieren, die wir mit uns haben. Auch die Katzen sind hier.\n",
    "notes/secret.md": "---\nredacted: true\n---\n[[Helix]] in secret, Helix costs too.\n",
    "notes/partly.md": "# Partly\n\n- open, Helix costs\n- [redacted] see [[Helix]] now\n",
}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_vault(tmp_path_factory.mktemp("links"), FILES, fast=True)


@pytest.fixture(scope="module")
def kb(indexed: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(indexed) as kb:
        yield kb


def test_a_document_has_links_in_both_directions(kb: KnowledgeBase) -> None:
    links = kb.links.of("Helix")
    assert (links.path, links.title) == ("projects/helix.md", "Helix")
    backlinks = {(link.path, link.line, link.text) for link in links.backlinks}
    assert backlinks == {
        ("people/ann-lee.md", 6, "Leads Helix."),
        ("notes/Helix costs.md", 3, "Helix is Helix."),
        ("notes/secret.md", 4, "Helix in secret, Helix costs too."),
        ("notes/partly.md", 4, "- [redacted] see Helix now"),
    }
    assert [(link.path, link.line) for link in links.outgoing] == [
        ("notes/Helix costs.md", 6),
        ("people/ann-lee.md", 0),
    ]
    (broken,) = links.broken
    assert (broken.target, broken.line) == ("Rolback plan", 6)
    assert broken.suggestions == ("notes/Rollback plan.md",)
    (mention, *_) = links.mentions
    assert (mention.path, mention.line, mention.column, mention.name) == (
        "notes/2026-03-01 sync.md", 1, 2, "Helix",
    )  # fmt: skip


def test_links_in_properties_to_odd_names_and_all_mentions_are_found(kb: KnowledgeBase) -> None:
    found = {
        (link.path, link.line, link.target) for link in kb.links.of("person:ann-lee").backlinks
    }
    assert found == {
        ("projects/helix.md", 0, "Ann Lee"),
        ("notes/2026-03-01 sync.md", 1, "ann-lee"),
    }
    names = [mention.name for mention in kb.links.of("Annie").mentions]
    assert names == ["Annie", "Annie"]

    links = kb.links.of("notes/items.md")
    assert ([link.path for link in links.outgoing], links.broken) == (["notes/Item #1|a.md"], ())
    assert [link.path for link in kb.links.of("notes/Item #1|a.md").backlinks] == ["notes/items.md"]

    (mention,) = kb.links.of("notes/Katzen.md").mentions
    assert (mention.path, mention.name) == ("notes/deutsch.md", "Katzen")


def test_an_unknown_document_is_refused_with_the_nearest(kb: KnowledgeBase) -> None:
    with pytest.raises(NotFound, match=r"'Helix cost'.*did you mean notes/Helix costs\.md\?"):
        kb.links.of("Helix cost")


def tree_hash(root: Path) -> str:
    pages = sorted(file for file in root.rglob("*.md") if ".kbx" not in file.parts)
    return hashlib.sha256(b"".join(file.read_bytes() for file in pages)).hexdigest()


def test_a_mention_becomes_a_link_and_undo_restores_every_byte(
    indexed: Path, tmp_path: Path
) -> None:
    root = tmp_path / "base"
    copy_base(indexed, root)
    before = tree_hash(root)
    with KnowledgeBase(root) as kb:
        path = "notes/Helix costs.md"
        mentions = {(m.path, m.line): m for m in kb.links.of(path).mentions}
        file = root / "notes/2026-03-01 sync.md"
        old = file.read_text()
        planned = kb.links.link(mentions["notes/2026-03-01 sync.md", 4], path, dry_run=True)
        assert "+| [[Helix costs]] | 3 |" in planned.diff
        assert kb.links.link(mentions["notes/2026-03-01 sync.md", 2], path).written
        assert file.read_text() == old.replace("The Helix costs", "The [[Helix costs]]")
        assert [link.path for link in kb.links.of(path).backlinks if link.line == 2] == [
            "notes/2026-03-01 sync.md"
        ]
        helix = next(m for m in kb.links.of("Helix").mentions if m.path.endswith("sync.md"))
        kb.links.link(helix, "projects/helix.md")
        kb.undo()
        kb.undo()
        assert tree_hash(root) == before


def test_the_commands_list_links_and_check_fails_for_a_broken_one(
    kbx: CommandLine, indexed: Path
) -> None:
    assert "Helix  projects/helix.md" in kbx("--kb", indexed, "links").out
    shown = kbx("--kb", indexed, "links", "Helix")
    assert shown.out.startswith("Helix  projects/helix.md\n4 backlinks:\n")
    assert "[[Rolback plan]] leads to nothing; did you mean notes/Rollback plan.md?" in shown.out
    checked = kbx("--kb", indexed, "links", "check")
    assert checked.code == 1
    assert checked.out.splitlines()[0].startswith("projects/helix.md:6: [[Rolback plan]] leads to")
    data = json.loads(kbx("--kb", indexed, "links", "check", "--json").out)
    assert [(link["path"], link["target"], link["kind"]) for link in data["broken"]] == [
        ("projects/helix.md", "Rolback plan", "page"),
        ("projects/helix.md", "Helix costs#Q1", "heading"),
    ]
    assert kbx("--kb", indexed, "links", "check", "people").code == 0


def test_agents_see_only_links_that_are_written_openly(kb: KnowledgeBase) -> None:
    answer, failed = call(kb, "kbx.links", {"id": "projects/helix.md"}), ""
    assert not failed
    assert {link["path"] for link in answer["backlinks"]} == {
        "people/ann-lee.md", "notes/Helix costs.md",
    }  # fmt: skip
    costs = call(kb, "kbx.links", {"id": "notes/Helix costs.md"})
    assert "notes/partly.md" in {mention["path"] for mention in costs["mentions"]}
    assert "secret" not in json.dumps(costs)


def test_each_of_many_links_has_its_line(tmp_path: Path) -> None:
    lines = [f"{number} [[Target]] and [[Gone {number}]]" for number in range(50)]
    files = {"Many.md": "\n\n".join(lines) + "\n", "Target.md": "# Target\n"}
    with KnowledgeBase(index_vault(tmp_path / "many", files, fast=True)) as many:
        assert [link.line for link in many.links.of("Target.md").backlinks] == [*range(1, 100, 2)]
        assert [link.line for link in many.links.of("Many.md").broken] == [*range(1, 100, 2)]


EDITS: tuple[tuple[str, str | None], ...] = (
    ("notes/Katzen.md", "# Katzen\n\nSee [[Helix]] and [[Dogs]].\n"),
    ("notes/Katzen.md", "# Katzen\n\nSee [[Helix costs]].\n"),
    ("notes/Dogs.md", "# Dogs\n\n[[Katzen]]\n"),
    ("notes/Katzen.md", "# Cats\n\nSee [[Dogs]] and [[Katzen]].\n"),
    ("notes/Rollback plan.md", "---\naliases: [Rolback plan]\n---\n# Rollback plan\n"),
    ("projects/helix.md", "# Helix two\n\n[[Dogs]]\n"),
    ("notes/Dogs.md", None),
)


def test_links_after_each_edit_equal_those_of_a_reopened_base(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "base", FILES)
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        for path, text in EDITS:
            before = links_of_all(kb)
            (root / path).write_text(text, encoding="utf-8") if text else (root / path).unlink()
            kb.index(fast=True, only=[path])
            kb.refresh()
            with KnowledgeBase(root) as reopened:
                assert links_of_all(kb) == links_of_all(reopened) != before


def links_of_all(kb: KnowledgeBase) -> list[object]:
    return [kb.links.of(path) for path in kb.documents.paths()] + list(kb.links.check())


def test_a_line_full_of_links_is_one_backlink_and_read_around_its_first(tmp_path: Path) -> None:
    links = "garden and soil [[Plan]] " * 12_000
    root = write_vault(tmp_path / "kb", {"plan.md": "# Plan\n", "long.md": f"# Long\n{links}\n"})
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        (backlink,) = kb.links.of("plan.md").backlinks
    assert (backlink.path, backlink.line) == ("long.md", 2)
    assert backlink.text.startswith("garden and soil Plan garden and soil Plan")
    assert 150 <= len(backlink.text) <= 200
