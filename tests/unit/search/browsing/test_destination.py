"""A link target resolves to an entity, otherwise to a document, otherwise to nothing."""

import pytest

from kbx_tui.index.snapshot import Snapshot
from kbx_tui.knowledge.records import Entity
from kbx_tui.knowledge.written_links import split_target
from kbx_tui.search.link_graph import Destinations, part_line
from tests.unit.knowledge.building import person, project, team
from tests.unit.search.snapshots import snapshot_of

ALICE, BOB = "memory/people/alice-chen.md", "memory/people/bob.md"
MIGRATION = "memory/projects/migration.md"
SYNC = "memory/meetings/2026/03/17/sync.md"
DOCUMENTS = {
    ALICE: ("Alice Chen", "2026-01-01"),
    BOB: ("Bob", ""),
    MIGRATION: ("Migration", ""),
    SYNC: ("Weekly sync", "2026-03-17"),
    "memory/meetings/2026/03/10/sync.md": ("Weekly sync", "2026-03-10"),
    "memory/notes/rollback plan.md": ("How to roll back", "2026-02-01"),
    "memory/notes/migration.md": ("Notes on the move", ""),
    "memory/notes/sub/deep.md": ("Deep", ""),
    "memory/notes/é.md": ("Accents", ""),
    "memory/teams/ops.md": ("Ops", ""),
}
NOTE = "memory/notes/migration.md"


def snapshot(entities: list[Entity]) -> Snapshot:
    paths = tuple(sorted(DOCUMENTS))
    return snapshot_of(
        paths,
        entities,
        ids=tuple(f"note:{path}" for path in paths),
        titles=tuple(DOCUMENTS[path][0] for path in paths),
        dates=tuple(DOCUMENTS[path][1] for path in paths),
    )


DESTINATIONS = Destinations(
    snapshot(
        [
            person("Alice Chen", "Ace", path=ALICE),
            person("Bob", path=BOB),
            project("Migration", path=MIGRATION),
            team("Security"),
            team("Ops", path="memory/teams/ops.md"),
        ]
    )
)


def resolve(target: str, source: str = NOTE) -> tuple[str, str] | None:
    destination = DESTINATIONS.find(target, source)
    return None if destination is None else (destination.entity_id, destination.path)


@pytest.mark.parametrize(
    ("target", "entity_id", "path"),
    [
        ("Alice Chen", "person:alice-chen", ALICE),
        ("ACE", "person:alice-chen", ALICE),
        ("alice-chen", "person:alice-chen", ALICE),
        ("people/alice-chen", "person:alice-chen", ALICE),
        ("memory/people/alice-chen.md", "person:alice-chen", ALICE),
        ("../people/alice-chen.md", "person:alice-chen", ALICE),
        ("[[Alice Chen|her]]", "person:alice-chen", ALICE),
        ("Alice%20Chen", "person:alice-chen", ALICE),
        ("Alice Chen#Recent Facts", "person:alice-chen", ALICE),
        ("Migration", "project:migration", MIGRATION),  # entities first
        ("migration.md", "", NOTE),  # a relative path
        ("./migration.md", "", NOTE),
        ("Security", "team:security", ""),  # an entity without a page
        ("How to roll back", "", "memory/notes/rollback plan.md"),
        ("rollback plan", "", "memory/notes/rollback plan.md"),
        ("rollback%20plan.md", "", "memory/notes/rollback plan.md"),
        ("<rollback plan.md>", "", "memory/notes/rollback plan.md"),
        ("sub/deep", "", "memory/notes/sub/deep.md"),
        ("/memory/notes/sub/deep.md", "", "memory/notes/sub/deep.md"),
        ("notes/sub/deep", "", "memory/notes/sub/deep.md"),
        ("e\u0301.md", "", "memory/notes/é.md"),
        ("Weekly sync", "", SYNC),  # the newest of two
        ("#Decisions", "", NOTE),
    ],
)
def test_target_resolves_to_entity_or_document(target: str, entity_id: str, path: str) -> None:
    assert resolve(target) == (entity_id, path)


@pytest.mark.parametrize(
    "target",
    ["https://example.com/x.md", "HTTP://x", "mailto:a@b.c", "file:///etc/passwd", "", "   ", "#",
     "Nobody", "../nowhere.md", "../../../../etc/passwd", "javascript:alert(1)", "[[]]", "/", ".."],
)  # fmt: skip
def test_target_resolves_to_nothing(target: str) -> None:
    assert resolve(target) is None


def test_a_path_is_first_one_from_the_folder_of_the_note_and_the_nearest_wins() -> None:
    here = "memory/meetings/2026/03/10/notes.md"
    assert resolve("Weekly sync", here) == ("", "memory/meetings/2026/03/10/sync.md")

    assert resolve("sub/deep.md") == ("", "memory/notes/sub/deep.md")
    assert resolve("migration.md", "memory/projects/other.md") == ("project:migration", MIGRATION)
    assert resolve("migration.md", "memory/people/bob.md") == ("project:migration", MIGRATION)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("Page#Part", ("Page", "Part")),
        ("Page#One#Two|shown", ("Page", "One#Two")),
        ("x.md#part-two", ("x.md", "part-two")),
        ("#Part", ("", "Part")),
        ("Page\\|shown", ("Page", "")),
    ],
)
def test_target_splits_into_page_and_heading(target: str, expected: tuple[str, str]) -> None:
    assert split_target(target) == expected


BODY = "# Title\n\n## Part *two*\n\ntext\n\n```\n# code\n```\n\n## What's new?\n"


@pytest.mark.parametrize(
    ("heading", "line"),
    [("Part two", 7), ("part-two", 7), ("Title#Part two", 7), ("whats-new", 15),
     ("What's new?", 15), ("code", 0), ("", 0), ("Nothing", 0), ("part%20two", 7)],
)  # fmt: skip
def test_heading_is_found_by_text_or_anchor(heading: str, line: int) -> None:
    assert part_line(BODY, 5, heading) == line
