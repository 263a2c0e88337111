"""A machine that begins to publish what another one did."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kbx_tui.errors import IndexElsewhere, IndexFault
from tests.functional.object_store.machines import Machine, writer_machine
from tests.trusting import configure_trusted


def test_machine_that_takes_over_begins_with_what_is_published(
    tmp_path: Path, store_uri: str, demo_kb_path: Path
) -> None:
    writer_machine(tmp_path / "writer", store_uri, demo_kb_path).publish()
    heir = writer_machine(tmp_path / "heir", store_uri, demo_kb_path)
    shutil.rmtree(heir.root / ".kbx")
    with heir.open() as kb, kb.publishing() as publication:
        assert publication is not None
        report = kb.index()
        assert (report.added, report.embedded) == (0, 0)


def test_pages_are_not_taken_out_by_a_machine_without_them(
    tmp_path: Path, store_uri: str, demo_kb_path: Path
) -> None:
    writer = writer_machine(tmp_path / "writer", store_uri, demo_kb_path)
    writer.publish()
    reader = Machine(tmp_path / "reader", store_uri)
    page = reader.root / "memory" / "people" / "alice-chen.md"
    page.parent.mkdir(parents=True)
    page.write_text("# Alice Chen\n", "utf-8")
    configure_trusted(reader.root, "")
    with reader.open() as kb:
        kb.index(fast=True)  # as it was before the index was published
    configure_trusted(reader.root, f'[index]\nuri = "{store_uri}"\n')
    with pytest.raises(IndexElsewhere, match="lacks most of the pages that are published"):
        reader.publish()
    assert not (reader.root / ".kbx" / "published.json").exists()
    shutil.rmtree(writer.root / "memory")  # as if a disk were not there
    (writer.root / "memory").mkdir()
    with pytest.raises(IndexFault, match="no page is indexed, so nothing was published"):
        writer.publish()
    assert reader.paths("migration")


def test_page_whose_file_is_elsewhere_is_not_created_again(
    tmp_path: Path, store_uri: str, demo_kb_path: Path
) -> None:
    writer_machine(tmp_path / "writer", store_uri, demo_kb_path).publish()
    reader = Machine(tmp_path / "reader", store_uri)
    with reader.open() as kb:
        with pytest.raises(IndexElsewhere, match=r"alice-chen\.md is not on this machine"):
            kb.memory_add("Likes green tea", entity="Alice Chen")
        assert not (reader.root / "memory").exists()
        assert kb.pages.create("Zora Quill", "person", {}).written
        notes = kb.search("migration").meta.notes
    assert any("the files are not here" in note for note in notes)
