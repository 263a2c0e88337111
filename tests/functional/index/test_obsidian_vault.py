"""A vault of Obsidian: what is indexed, and what tags, links, aliases and daily notes do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.cli.commands.index import problem_rows
from tests.functional.vaults import index_vault, write_vault

FILES = {
    ".obsidian/templates.json": '{"folder": "Templates"}',
    ".obsidian/daily-notes.json": '{"folder": "Daily", "format": "DD.MM.YYYY"}',
    ".trash/Old.md": "# Old trash\n",
    "Templates/Daily.md": "# {{date}}\n",
    "Daily/17.03.2026.md": "Met [[ann lee|Ann]] about [[Helix#Costs]]. #work/helix\n",
    "people/Ann Lee.md": "---\naliases: A, Annie\nemail: ann@example.com\n---\n# Ann Lee\n",
    "Work/Ann Lee.md": "# Interview with Ann\n",
    "Work/Helix.md": "---\naliases: [Twisted, Long ladder]\ntags: [area/topic]\n---\n"
    "## Costs\n1\n\nx ^b1\n",
    "Work/Mail.md": "Write to ann@example.com, [the plan](../Work/Helix.md#costs).\n",
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path_factory.mktemp("vault"), FILES, fast=True)) as kb:
        yield kb


def found(kb: KnowledgeBase, query: str) -> set[str]:
    return {result.path for result in kb.search(query, fast=True).results}


def test_templates_and_the_bin_are_left_out(vault: KnowledgeBase) -> None:
    status = vault.status()
    assert status.documents == 5
    (problem,) = status.problems
    assert (problem.path, problem.skipped) == ("Templates", True)
    assert "`[index] templates = true`" in problem.reason
    (head, faults), left_out = problem_rows(status.problems)
    assert (head, faults) == ("", [])  # nothing is to be mended
    assert left_out == ("1 left out on purpose", [f"Templates: {problem.reason}"])


def test_tags_and_daily_dates_are_found_by_filters(vault: KnowledgeBase) -> None:
    assert found(vault, "tag:work") == {"Daily/17.03.2026.md"}
    assert found(vault, "tag:area") == found(vault, "tag:area/topic") == {"Work/Helix.md"}
    assert found(vault, "tag:topic") == set()
    assert found(vault, "from:2026-03-17 to:2026-03-17") == {"Daily/17.03.2026.md"}
    assert vault.documents.view("Daily/17.03.2026.md").date == "2026-03-17"


def test_links_lead_where_obsidian_leads(vault: KnowledgeBase) -> None:
    def path(target: str, source: str) -> tuple[str, int]:
        destination = vault.links.follow(target, source)
        assert destination is not None
        return destination.path, destination.line

    assert path("Ann Lee", "Work/Mail.md") == ("Work/Ann Lee.md", 0)
    assert path("Ann Lee", "Daily/17.03.2026.md") == ("Work/Ann Lee.md", 0)
    assert path("people/ann lee", "Work/Mail.md") == ("people/Ann Lee.md", 0)
    assert path("Helix#^b1", "Work/Mail.md") == ("Work/Helix.md", 8)
    assert path("Annie", "Work/Mail.md") == ("people/Ann Lee.md", 0)
    assert path("Twisted#Costs", "Work/Mail.md") == ("Work/Helix.md", 5)
    assert vault.links.follow("Daily", "Work/Mail.md") is None


def test_a_note_and_a_person_are_found_by_each_alias_and_address(vault: KnowledgeBase) -> None:
    for alias in ("twisted", "long ladder"):
        first = vault.search(alias, fast=True).results[0]
        assert (first.path, first.score) == ("Work/Helix.md", 1.0)

    card = vault.entities.named("A")
    assert card.id == "person:ann-lee"
    (mail,) = (document for document in card.documents if document.path == "Work/Mail.md")
    assert mail.reason == "mention"
    assert vault.entities.named("Ann@example.com") == card
    assert found(vault, "@ann@example.com") >= {"Work/Mail.md"}


def reasons(kb: KnowledgeBase) -> list[str]:
    return [each.reason for each in kb.entities.named("Ann").documents if each.path == "n/a.md"]


def test_a_new_file_takes_over_the_links_to_its_name(tmp_path: Path) -> None:
    files = {".obsidian/app.json": "{}", "people/Ann.md": "# Ann\n", "n/a.md": "See [[Ann]].\n"}
    root = write_vault(tmp_path, files)
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        assert any("wikilink" in reason for reason in reasons(kb))
        (root / "n" / "Ann.md").write_text("# About something\n")
        kb.index(fast=True)
        kb.refresh()
        assert not any("wikilink" in reason for reason in reasons(kb))


def test_obsidian_opens_documents_only_where_the_base_is_trusted(tmp_path: Path) -> None:
    settings = {"kbx.toml": '[links]\nopen = "obsidian"\n'}
    root = write_vault(tmp_path / "My vault", FILES | settings)
    address = "obsidian://open?vault=My%20vault&file=Work%2FHelix.md"
    with KnowledgeBase(root, trust=True) as kb:
        assert kb.links.obsidian_address("Work/Helix.md") == address
    with KnowledgeBase(root) as kb:
        assert kb.links.obsidian_address("Work/Helix.md") == ""
        assert [request.without for request in kb.untrusted] == ["documents open in your editor"]


def test_titles_follow_when_most_notes_open_with_headings_of_their_own(tmp_path: Path) -> None:
    files = {".obsidian/app.json": "{}", "Moss.md": "# Kinds of moss\n", "Fern.md": "Green.\n"}
    root = write_vault(tmp_path, files)
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        assert kb.documents.titles() == {"Moss.md": "Moss", "Fern.md": "Fern"}
        assert kb.documents.read("Moss.md").title == kb.documents.view("Moss.md").title == "Moss"
        write_vault(root, {"Fern.md": "# Kinds of fern\n"})
        kb.index(fast=True)
        kb.refresh()
        assert kb.documents.titles() == {"Moss.md": "Kinds of moss", "Fern.md": "Kinds of fern"}
        assert kb.documents.read("Moss.md").title == "Kinds of moss"


def test_days_become_versions_once_a_file_beside_them_can_be_no_day(tmp_path: Path) -> None:
    base = index_vault(tmp_path, {"pump/2024.12.10.md": "Valve.\n"}, fast=True)
    with KnowledgeBase(base) as kb:
        assert [each.date for each in kb.search("valve").results] == ["2024-12-10"]
        (base / "pump/2024.12.0.md").write_text("---\nredacted: true\n---\nHull.\n")
        kb.index(fast=True)
        assert [each.date for each in kb.search("valve").results] == ["2024-12-10"]
        (base / "pump/2024.12.0.md").write_text("Hull.\n")
        kb.index(fast=True)
        assert [each.date for each in kb.search("valve").results] == [""]
        assert kb.index(fast=True).changed == 0


@pytest.mark.parametrize("query", ["berg 2021", "wet fens", "hale 101"])
def test_parts_of_the_name_of_a_note_find_it(tmp_path: Path, query: str) -> None:
    notes = {"berg2021wetFens.md": "It dries.\n", "Hale101B.md": "It drips.\n", "a.md": "Text.\n"}
    with KnowledgeBase(
        index_vault(tmp_path, notes | {".obsidian/app.json": "{}"}, fast=True)
    ) as kb:
        assert len(found(kb, query)) == 1
