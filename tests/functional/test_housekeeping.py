"""What a base has that is old or without order: entities nobody mentions, pages without tags."""

from datetime import date, timedelta
from pathlib import Path

from tests.command_line import CommandLine
from tests.functional.vaults import index_vault

NEW = (date.today() - timedelta(20)).isoformat()
PAGES = {
    "people/ann-lee.md": f"# Ann Lee\n\n## Recent Facts\n\n- [{NEW}] Moved\n",
    "people/bo-chan.md": "---\ndate: 2026-11-01\n---\n# Bo Chan\n",
    "people/cy-dorn.md": "# Cy Dorn\n\n## Recent Facts\n\n- [2019-05-01] Joined\n",
    "people/di-east.md": "# Di East\n",
    "projects/pier.md": "# Pier\n\nled by Di East\n",
    "notes/old.md": "---\ndate: 2020-03-01\ntags: [ops]\n---\n# Old\n\nCy Dorn on the Pier.\n",
}


def test_entities_that_nothing_recent_mentions_are_listed_the_oldest_first(
    tmp_path: Path, kbx: CommandLine
) -> None:
    root = index_vault(tmp_path, PAGES, fast=True)
    ran = kbx("--kb", root, "entity", "list", "--stale", "30")
    assert [line.split()[:2] for line in ran.out.splitlines()] == [
        ["never", "person"],
        ["undated", "person"],
        ["2020-03-01", "person"],
        ["2020-03-01", "project"],
    ]
    listed = kbx("--kb", root, "entity", "list", "--stale", "30", "--type", "person", "--json").json
    assert [(each["name"], each["last_mentioned"]) for each in listed] == [
        ("Bo Chan", None),
        ("Di East", None),
        ("Cy Dorn", "2020-03-01"),
    ]
    assert "Ann Lee" in kbx("--kb", root, "entity", "list", "--stale", "10").out
    long = kbx("--kb", root, "entity", "list", "--stale", "9" * 30)
    assert long.out == ran.out.partition("2020")[0]
    assert kbx("--kb", root, "entity", "list", "--stale", "0").code == 2


def test_pages_without_tags_are_found(tmp_path: Path, kbx: CommandLine) -> None:
    root = index_vault(tmp_path, PAGES, fast=True)
    found = kbx("--kb", root, "search", "tag:none", "--format", "paths").out.splitlines()
    assert sorted(found) == sorted(set(PAGES) - {"notes/old.md"})
    found = kbx("--kb", root, "search", "pier -tag:none", "--format", "paths").out.splitlines()
    assert found == ["notes/old.md"]
