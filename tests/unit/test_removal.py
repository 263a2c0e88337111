"""The guard removes what this program made, and refuses everything else."""

from pathlib import Path

import pytest

from kbx_tui.errors import IndexFault, KbxError
from kbx_tui.index.ownership import claim
from kbx_tui.removal import (
    DEMO_MARKER,
    INDEX_MARKER,
    foreign_entries,
    remove_demo_workplace,
    remove_index,
    remove_index_file,
    remove_page,
    remove_state_file,
    remove_temporary,
)

PARTS = ("documents.lance", "vectors.lance", "BUILD", "words.bin", f"words.bin.{'0f' * 16}")


def unmarked_index(root: Path) -> Path:
    """Write an index that has lost its marker, where a base has its own."""
    folder = root / ".kbx" / "index"
    for name in PARTS:
        part = folder / name
        part.parent.mkdir(parents=True, exist_ok=True)
        if part.suffix == ".lance":
            (part / "data").mkdir(parents=True)
            (part / "data" / "0.lance").write_bytes(b"rows")
        else:
            part.write_bytes(b"half")
    return folder


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_an_index_of_ours_without_a_marker_is_adopted_and_removed_whole(tmp_path: Path) -> None:
    folder = unmarked_index(tmp_path)
    claim(folder)
    assert names_in(folder) == {*PARTS, INDEX_MARKER}
    remove_index(folder)
    assert not folder.exists()


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    for name in ("documents", "chunks", "vectors"):
        (tmp_path / f"{name}.lance").mkdir()
    with pytest.raises(IndexFault, match=r"holds chunks\.lance, which is not part of an index"):
        claim(tmp_path)
    with pytest.raises(IndexFault, match="is not marked"):
        remove_index(tmp_path)
    assert names_in(tmp_path) == {"chunks.lance", "documents.lance", "vectors.lance"}


@pytest.mark.parametrize("name", ["BUILD", "words.bin", "DIGESTS"])
def test_a_file_of_another_program_with_the_same_name_is_refused(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / name).write_text("cc_library(name = 'words')")
    before = names_in(folder)
    with pytest.raises(IndexFault, match="is not part of an index"):
        claim(folder)
    with pytest.raises(IndexFault, match="is not marked"):
        remove_index(folder)
    assert names_in(folder) == before
    (folder / INDEX_MARKER).write_text("")  # it was ours, then, and is damaged
    assert foreign_entries(folder) == []


def test_tables_alone_may_become_an_index_in_a_folder_of_ours(tmp_path: Path) -> None:
    folder = tmp_path / ".kbx" / "index"
    (folder / "documents.lance").mkdir(parents=True)
    claim(folder)
    assert names_in(folder) == {"documents.lance", INDEX_MARKER}


def test_a_link_to_an_index_is_not_followed(tmp_path: Path) -> None:
    folder, link = unmarked_index(tmp_path), tmp_path / "index.old-00000000"
    claim(folder)
    link.symlink_to(folder)
    before = names_in(folder)
    for action in (remove_index, lambda place: remove_index_file(place, "BUILD")):
        with pytest.raises(IndexFault, match="is not marked"):
            action(link)
    assert names_in(folder) == before


@pytest.mark.parametrize("name", ["thesis.md", "other.lance", "words.bin.bak", "documents.lanced"])
def test_a_folder_with_anything_else_is_refused(tmp_path: Path, name: str) -> None:
    folder = unmarked_index(tmp_path)
    (folder / name).write_text("mine")
    with pytest.raises(IndexFault, match=f"holds {name}, which is not part of an index"):
        claim(folder)
    for action in (remove_index, lambda f: remove_index_file(f, "BUILD")):
        with pytest.raises(IndexFault, match="is not marked"):
            action(folder)
    assert names_in(folder) == {*PARTS, name}


def test_what_lies_beside_a_marked_index_stays(tmp_path: Path) -> None:
    folder = unmarked_index(tmp_path)
    claim(folder)
    (folder / "thesis.md").write_text("mine")
    remove_index(folder)
    assert names_in(folder) == {"thesis.md", INDEX_MARKER}


def test_files_of_the_system_say_nothing_and_stay(tmp_path: Path) -> None:
    folder = unmarked_index(tmp_path)
    (folder / ".DS_Store").write_bytes(b"")
    assert foreign_entries(folder) == []
    claim(folder)
    remove_index(folder)
    assert names_in(folder) == {".DS_Store", INDEX_MARKER}


@pytest.mark.parametrize("name", ["documents.lance", "words.bin", "BUILD"])
def test_a_link_is_not_part_of_an_index(tmp_path: Path, name: str) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "mine.md").write_text("mine")
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / name).symlink_to(notes)
    assert foreign_entries(folder) == [name]
    (folder / INDEX_MARKER).write_text("")
    remove_index(folder)
    assert names_in(notes) == {"mine.md"}


def test_a_file_named_like_a_table_is_not_part_of_an_index(tmp_path: Path) -> None:
    (tmp_path / "documents.lance").write_text("mine")
    assert foreign_entries(tmp_path) == ["documents.lance"]


def test_only_files_of_an_index_are_removed_from_one(tmp_path: Path) -> None:
    claim(tmp_path)
    for name in ("../outside.md", "thesis.md", INDEX_MARKER):
        with pytest.raises(IndexFault, match="is not a file of an index"):
            remove_index_file(tmp_path, name)


@pytest.mark.parametrize("name", ["a.md", ".a.md", ".tmp", "notes.tmp", "words.bin", ".kbx-edit"])
def test_only_temporary_files_of_ours_are_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine")
    with pytest.raises(KbxError, match="not known to be made by this program"):
        remove_temporary(tmp_path / name)
    assert names_in(tmp_path) == {name}


@pytest.mark.parametrize("name", [".a.md.kbx-edit", ".labels.tmp", f"bodies.bin.{'a1' * 16}"])
def test_temporary_files_of_ours_are_removed(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("half")
    remove_temporary(tmp_path / name)
    remove_temporary(tmp_path / name)  # a missing one is fine
    assert names_in(tmp_path) == set()


@pytest.mark.parametrize(
    "path", [".kbx/drafts.jsonl", ".kbx/journal/000001.json", "journal/begun.json", "writer.json"]
)
def test_what_the_user_decided_is_never_removed(tmp_path: Path, path: str) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine")
    with pytest.raises(KbxError, match="it was not removed"):
        remove_state_file(file)
    assert file.exists()


def test_notes_of_what_has_ended_are_removed(tmp_path: Path) -> None:
    for path in (".kbx/journal/begun.json", ".kbx/writer.json"):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}")
        remove_state_file(file)
        assert not file.exists()


def test_a_page_is_removed_only_with_the_expected_content(tmp_path: Path) -> None:
    page, other, settings = (tmp_path / name for name in ("zoe.md", "zoe.toml", "kbx.toml"))
    for file in (page, settings):
        file.write_bytes(b"edited since")
    other.write_bytes(b"")
    for file, content in ((page, b"as created"), (settings, b"as created"), (other, b"")):
        with pytest.raises(KbxError, match="it was not removed"):
            remove_page(file, content)
    for file in (page, settings):
        remove_page(file, b"edited since")
    assert names_in(tmp_path) == {"zoe.toml"}


def test_only_copies_of_the_demo_are_removed(tmp_path: Path) -> None:
    workplace = tmp_path / ".kbx-demo-1a"
    (workplace / "old").mkdir(parents=True)
    (workplace / "old" / "thesis.md").write_text("mine")
    with pytest.raises(KbxError, match="it was not removed"):
        remove_demo_workplace(workplace)
    (workplace / "old" / DEMO_MARKER).write_text("")
    with pytest.raises(KbxError, match="it was not removed"):
        remove_demo_workplace(workplace / "old")
    remove_demo_workplace(workplace)
    assert names_in(tmp_path) == set()
