"""Derived files: their bytes on disk, memory mapping, damage, staleness and deletion."""

import os
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kbx_tui.errors import IndexFault
from kbx_tui.index.arrays import Versions
from kbx_tui.index.derived_files import STALE_SHARE, DocumentFile, delete_derived_files
from kbx_tui.index.lexical.postings import WORDS, Postings, make_postings
from kbx_tui.index.ownership import claim
from kbx_tui.index.store import Store
from kbx_tui.index.stored_records import BODIES, DOCUMENTS, write_bodies
from kbx_tui.index.vectors.stored_vectors import vectors_file
from kbx_tui.removal import DERIVED_FILES, INDEX_MARKER
from tests.unit.index.columns.documents import titled


@pytest.fixture
def store(tmp_path: Path) -> Store:
    claim(tmp_path)
    return Store(str(tmp_path))


def postings_of(*texts: str) -> Postings:
    versioned = ((f"v{number}", text) for number, text in enumerate(texts))
    return make_postings(versioned)


def put_bodies(store: Store, bodies: list[tuple[str, str, int]]) -> None:
    with BODIES.writer(store) as file:
        columns = ("version", "body", "body_line")
        write_bodies(file, (dict(zip(columns, body, strict=True)) for body in bodies))


def versions_of(count: int) -> NDArray[np.bytes_]:
    return np.array([f"v{number}" for number in range(count)], np.bytes_)


@pytest.mark.parametrize("texts", [[], [""], ["the"], ["a team", "", "two teams"]])
def test_a_mapped_file_equals_what_was_written(texts: list[str], store: Store) -> None:
    postings = postings_of(*texts)
    assert WORDS.map(store) is None
    WORDS.write(store, postings)
    mapped = WORDS.map(store)
    assert mapped is not None
    for field in fields(Postings):
        array = getattr(mapped, field.name)
        np.testing.assert_array_equal(array, getattr(postings, field.name))
        assert not array.flags.writeable
    assert {path.name for path in Path(store.uri).iterdir()} <= {
        "words.bin",
        "VERIFIED",
        INDEX_MARKER,
    }


def test_columns_and_tables_of_hashes_come_back_as_they_went_in(store: Store) -> None:
    documents = titled(["One", "Zwei", ""])
    DOCUMENTS.write(store, documents)
    mapped = DOCUMENTS.map(store)
    assert mapped is not None
    assert list(mapped.titles) == list(documents.titles) == ["One", "Zwei", ""]
    assert mapped.kinds == documents.kinds
    assert mapped.items("zwei") == documents.items("zwei") == [(2, 1)]


def test_bodies_are_read_by_doc_id(store: Store) -> None:
    expected = [("Alpha\n", 1), ("Łódź", 4), ("", 1), ("A long body. " * 10_000, 7)]
    put_bodies(store, [(f"v{line}", body, line) for body, line in expected])
    bodies = BODIES.map(store)
    assert bodies is not None
    assert [bodies[doc_id] for doc_id in range(4)] == expected
    assert (Path(store.uri) / "bodies.bin").stat().st_size < 10_000


def test_the_format_tag_of_vectors_names_dimension_and_model() -> None:
    file = vectors_file("some/model  v2", 384)
    assert file.format_tag == "kbx vectors 4, 384 numbers each, some/model v2"
    assert file.of_newer.format_tag == "kbx vectors-new 4, 384 numbers each, some/model v2"


@pytest.mark.parametrize(
    "content",
    [b"", b"kbx words 4", b"kbx words 4\n{}\n", bytes(4096), None],
    ids=["empty", "tag-only", "no-arrays", "zeros", "cut-off"],
)
def test_a_damaged_file_is_treated_as_missing_and_noted(
    content: bytes | None, store: Store
) -> None:
    WORDS.write(store, postings_of("a team of two", "teams"))
    file = Path(store.uri) / "words.bin"
    file.write_bytes(file.read_bytes()[:-200] if content is None else content)
    assert WORDS.map(store) is None
    assert store.damaged_files == {"words.bin"}


def test_a_file_of_another_version_is_not_called_damaged(store: Store) -> None:
    replace(WORDS, version="0").write(store, postings_of("a team"))
    assert WORDS.map(store) is None
    assert not store.damaged_files


def test_no_flipped_bit_and_no_zeroed_block_is_read_as_content(store: Store) -> None:
    WORDS.write(store, postings_of("a team of two", "teams of ten and one team"))
    file, expected = Path(store.uri) / "words.bin", WORDS.map(store)
    assert expected is not None
    intact = file.read_bytes()
    flips = [bytes([intact[at] ^ (1 << at % 8)]) for at in range(len(intact))]
    zeros = [bytes(len(intact[at : at + 64])) for at in range(0, len(intact), 64)]
    noticed = 0
    for at, piece in (*enumerate(flips), *((64 * row, zero) for row, zero in enumerate(zeros))):
        changed = intact[:at] + piece + intact[at + len(piece) :]
        file.write_bytes(changed)
        store.damaged_files.clear()
        if changed == intact or WORDS.map(store) is None:
            assert changed == intact or store.damaged_files == {"words.bin"}
            noticed += 1
    assert noticed == len(intact) + len(zeros)


def test_a_changed_file_is_compared_again_whatever_its_modification_time(store: Store) -> None:
    WORDS.write(store, postings_of("a team of two"))
    file = Path(store.uri) / "words.bin"
    os.utime(file, (1, 1))
    assert WORDS.map(store) is not None
    content = bytearray(file.read_bytes())
    content[content.rindex(postings_of("a team of two").positions.tobytes())] ^= 1
    file.write_bytes(content)
    os.utime(file, (1, 1))
    assert WORDS.map(store) is None


@pytest.mark.parametrize(("added", "is_current"), [(0, True), (5, True), (6, False)])
def test_a_file_is_current_unless_many_documents_differ(
    store: Store, added: int, is_current: bool
) -> None:
    assert STALE_SHARE == 0.05
    assert not WORDS.is_current(store, versions_of(100))
    WORDS.write(store, postings_of(*["team"] * (100 - added)))
    assert WORDS.is_current(store, versions_of(100)) is is_current


def test_the_few_documents_that_a_file_lacks_go_to_a_file_beside_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {f"v{number}".encode(): f"team {number}" for number in range(6)}

    def write(file: DocumentFile[Postings], versions: Versions | None) -> None:
        wanted = current if versions is None else versions
        texts_of_these = ((each.decode(), texts[each]) for each in wanted.tolist())
        file.write(store, make_postings(texts_of_these))

    def found(current: Versions) -> list[list[int]]:
        mapped, missing = WORDS.map_for(store, current)
        return [*(rows.tolist() for _, rows in mapped), missing.tolist()]

    monkeypatch.setattr("kbx_tui.index.derived_files.STALE_SHARE", 0.6)
    current = versions_of(4)
    WORDS.refresh(store, current, write)
    before = (Path(store.uri) / WORDS.name).stat().st_ino
    current = np.delete(versions_of(6), 2)
    WORDS.refresh(store, current, write)
    assert found(current) == [[0, 1, -1, 2], [3, 4], []]
    assert found(versions_of(6)) == [[0, 1, 2, 3], [4, 5], []]
    assert found(np.array([b"v5", b"v9"])) == [[-1, -1, -1, -1], [-1, 0], [1]]
    WORDS.refresh(store, versions_of(4), write)
    assert not (Path(store.uri) / WORDS.of_newer.name).exists()
    assert (Path(store.uri) / WORDS.name).stat().st_ino == before


def test_a_file_whose_writing_failed_leaves_the_one_before(store: Store) -> None:
    WORDS.write(store, postings_of("a team"))
    before = (Path(store.uri) / "words.bin").read_bytes()
    with pytest.raises(KeyboardInterrupt), WORDS.writer(store) as file:
        file.add("versions", versions_of(1))
        raise KeyboardInterrupt
    assert (Path(store.uri) / "words.bin").read_bytes() == before
    assert {path.name for path in Path(store.uri).iterdir()} == {INDEX_MARKER, "words.bin"}


def test_write_errors_are_index_faults(tmp_path: Path) -> None:
    with pytest.raises(IndexFault, match=r"cannot write words\.bin"):
        WORDS.write(Store(str(tmp_path / "no-such-folder")), postings_of("team"))


def test_deleting_removes_all_derived_files_and_nothing_else(store: Store) -> None:
    for name in (*DERIVED_FILES, "BUILD"):
        (Path(store.uri) / name).write_bytes(b"")
    delete_derived_files(store)
    delete_derived_files(store)
    assert {path.name for path in Path(store.uri).iterdir()} == {INDEX_MARKER, "BUILD"}
