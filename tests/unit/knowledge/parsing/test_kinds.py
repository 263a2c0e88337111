import pytest

from kbx_tui.knowledge.fields import document_id, is_entity_kind, kind_of


@pytest.mark.parametrize(
    ("path", "declared_type", "expected"),
    [
        ("memory/meetings/2026/03/17/a.md", "transcript", ("meeting", "transcript")),
        ("memory/meetings/people/a.md", "person", ("meeting", "person")),
        ("meetings/a.md", None, ("meeting", "")),
        ("memory/people/a.md", "company", ("person", "")),
        ("People/a.md", None, ("person", "")),
        ("memory/projects/helix/spec.md", None, ("note", "")),
        ("memory/projects/helix/lead.md", "person", ("person", "")),
        ("memory/projects/helix/notes/a.md", None, ("note", "")),
        ("memory/teams/a.md", None, ("team", "")),
        ("memory/notes/deep/a.md", "memo", ("note", "")),
        ("memory/context/company.md", None, ("context", "")),
        ("memory/glossary.md", None, ("glossary", "")),
        ("memory/glossary/a.md", None, ("glossary", "")),
        ("memory/a.md", "Design Doc", ("design-doc", "")),
        ("memory/a.md", ["lab", "x"], ("lab", "")),
        ("memory/a.md", "notes", ("note", "")),
        ("a.md", None, ("note", "")),
        ("a.md", "!!!", ("note", "")),
    ],
)
def test_kind_comes_from_folder_then_type_then_defaults_to_note(
    path: str, declared_type: object, expected: tuple[str, str]
) -> None:
    assert kind_of(path, {} if declared_type is None else {"type": declared_type}) == expected


def test_entity_kinds_are_core_types_and_configured_ones() -> None:
    assert [kind for kind in ("person", "lab", "company", "note") if is_entity_kind(kind)] == [
        "person",
        "lab",
        "company",
    ]
    assert is_entity_kind("team", frozenset({"device"}))
    assert is_entity_kind("device", frozenset({"device"}))
    assert not is_entity_kind("lab", frozenset({"device"}))


def test_document_id_is_explicit_or_entity_slug_or_path() -> None:
    path = "memory/people/jcb.md"
    assert document_id(path, "person", "Jérôme C.", "my id", entity=True) == "my id"
    assert document_id(path, "person", "Jérôme C.", "", entity=True) == "person:jerome-c"
    assert document_id(path, "person", "?!", "", entity=True) == "person:people/jcb"
    assert document_id("memory/notes/a.md", "note", "A", "", entity=False) == "note:notes/a"
