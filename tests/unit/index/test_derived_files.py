"""Derived files: their bytes on disk, memory mapping, damage, staleness and deletion."""

from __future__ import annotations

import hashlib
import os
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from kbx_tui.errors import IndexFault
from kbx_tui.index.array_file import digest_of
from kbx_tui.index.derived_files import (
    BODIES,
    STALE_SHARE,
    WORDS,
    delete_derived_files,
    vectors_file,
)
from kbx_tui.index.lexical.postings import Postings, make_postings
from kbx_tui.index.store import Store
from kbx_tui.index.stored_documents import write_bodies
from kbx_tui.removal import DERIVED_FILES, INDEX_MARKER, claim_index_folder


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(str(tmp_path))


def postings_of(*texts: str) -> Postings:
    versioned = ((f"v{number}", text) for number, text in enumerate(texts))
    return make_postings(versioned, with_offsets=True)


def put_bodies(store: Store, bodies: list[tuple[str, str, int]]) -> None:
    versions = np.array([version for version, _, _ in bodies], np.bytes_)
    with BODIES.writer(store) as file:
        columns = ("version", "body", "body_line")
        write_bodies(file, versions, (dict(zip(columns, body, strict=True)) for body in bodies))


def versions_of(count: int) -> NDArray[np.bytes_]:
    return np.array([f"v{number}" for number in range(count)], np.bytes_)


@pytest.mark.parametrize("texts", [[], [""], ["the"], ["a team", "", "two teams"]])
def test_a_mapped_file_equals_what_was_written(texts: list[str], store: Store) -> None:
    postings = postings_of(*texts)
    WORDS.write(store, postings)
    mapped = WORDS.map(store)
    assert mapped is not None
    for field in fields(Postings):
        array = getattr(mapped, field.name)
        np.testing.assert_array_equal(array, getattr(postings, field.name))
        assert not array.flags.writeable
    assert {path.name for path in Path(store.uri).iterdir()} <= {"words.bin", "VERIFIED"}


def test_the_bytes_of_words_bin_do_not_change(store: Store) -> None:
    texts = [("v1", "The team plans a migration"), ("v2", "Teams in Łódź, a team plan")]
    WORDS.write(store, make_postings(texts, with_offsets=True))
    content = (Path(store.uri) / "words.bin").read_bytes()
    assert [line.rstrip(b" ") for line in content.split(b"\n")[:3]] == [
        b"kbx words 3",
        b'{"names": ["|S2", 2, 0, 4211810315], "languages": ["|u1", 2, 64, 1104745215], '
        b'"lengths": ["<i4", 2, 128, 1691307997], '
        b'"begins": ["<i8", 3, 192, 1800779285], "spelling": ["|u1", 18, 256, 2659851073], '
        b'"spelling_starts": ["<i8", 5, 320, 2370574295], "starts": ["<i4", 5, 384, 3970418085], '
        b'"slots": ["<i4", 6, 448, 33391629], "counts": ["<i4", 6, 512, 351109546], '
        b'"place_starts": ["<i4", 5, 576, 1411097280], "places": ["<i4", 7, 640, 1186724323], '
        b'"text_sizes": ["<i4", 2, 704, 3086828913], "offsets": ["<u2", 7, 768, 1725519220]}',
        b"f80b3339",
    ]
    digest = "8b46c0d9ec826651e165d8f88af58a0f745438e485736f2a00967a7656c8aab2"
    assert hashlib.sha256(content).hexdigest() == digest


def test_the_bytes_of_bodies_bin_do_not_change(store: Store) -> None:
    put_bodies(store, [("v1", "Alpha\n", 1), ("v2", "Łódź", 4)])
    content = (Path(store.uri) / "bodies.bin").read_bytes()
    assert [line.rstrip(b" ") for line in content.split(b"\n")[:3]] == [
        b"kbx bodies 3",
        b'{"names": ["|S2", 2, 0, 4211810315], "compressed": ["|u1", 15, 64, 742961060], '
        b'"starts": ["<i8", 3, 128, 2266505465], "sizes": ["<i4", 2, 192, 1050340951], '
        b'"lines": ["<i4", 2, 256, 652888224]}',
        b"18eb6fec",
    ]
    digest = "355bf1e71a3296b0f509670acc762fce86c8280bc48ab74425f408a753e16bd6"
    assert hashlib.sha256(content).hexdigest() == digest


def test_bodies_are_read_by_doc_id(store: Store) -> None:
    expected = [("Alpha\n", 1), ("Łódź", 4), ("", 1), ("A long body. " * 10_000, 7)]
    put_bodies(store, [(f"v{line}", body, line) for body, line in expected])
    bodies = BODIES.map(store)
    assert bodies is not None
    assert [bodies[doc_id] for doc_id in range(4)] == expected
    assert (Path(store.uri) / "bodies.bin").stat().st_size < 10_000


def test_the_format_tag_of_vectors_names_dimension_and_model() -> None:
    file = vectors_file("some/model  v2", 384)
    assert file.format_tag == "kbx vectors 3, 384 numbers each, some/model v2"


def test_mapped_arrays_survive_a_rewrite_of_the_file(store: Store) -> None:
    WORDS.write(store, postings_of("one team"))
    mapped = WORDS.map(store)
    WORDS.write(store, postings_of("another"))
    assert mapped is not None
    assert len(mapped.postings_of(mapped.term_id("team"))[0]) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"kbx words 2",
        b"kbx words 2\n{]\n",
        b"kbx words 2\n{}\n",
        bytes(4096),
        b"kbx words 3\n[]\n%08x\n" % digest_of(b"kbx words 3\n[]\n"),
        None,
    ],
    ids=["empty", "tag-only", "invalid-json", "no-arrays", "zeros", "no-directory", "cut-off"],
)
def test_a_damaged_file_is_treated_as_missing_and_noted(
    content: bytes | None, store: Store
) -> None:
    WORDS.write(store, postings_of("a team of two", "teams"))
    file = Path(store.uri) / "words.bin"
    file.write_bytes(file.read_bytes()[:-200] if content is None else content)
    assert WORDS.map(store) is None
    assert store.damaged_files == {"words.bin"}


@pytest.mark.parametrize("begin", [b"kbx words 1\n", b"kbx bodies 1\n", b"kbx vectors 2, 384"])
def test_a_file_of_a_former_version_is_not_called_damaged(begin: bytes, store: Store) -> None:
    (Path(store.uri) / "words.bin").write_bytes(begin + b"\n{}\n")
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
        file.write_bytes(intact[:at] + piece + intact[at + len(piece) :])
        store.damaged_files.clear()
        if (mapped := WORDS.map(store)) is None:
            assert store.damaged_files == {"words.bin"}
            noticed += 1
            continue
        for field in fields(Postings):  # between the arrays nothing is read
            np.testing.assert_array_equal(
                getattr(mapped, field.name), getattr(expected, field.name)
            )
    assert noticed > len(intact) // 2


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


def test_a_missing_file_maps_to_none(store: Store) -> None:
    assert WORDS.map(store) is None


@pytest.mark.parametrize(("added", "is_current"), [(0, True), (5, True), (6, False)])
def test_a_file_is_current_unless_many_documents_differ(
    store: Store, added: int, is_current: bool
) -> None:
    assert STALE_SHARE == 0.05
    assert not WORDS.is_current(store, versions_of(100))
    WORDS.write(store, postings_of(*["team"] * (100 - added)))
    assert WORDS.is_current(store, versions_of(100)) is is_current


def test_a_words_file_of_a_former_version_is_read_but_not_current(store: Store) -> None:
    WORDS.write(store, make_postings([("v0", "a team")]))
    mapped = WORDS.map(store)
    assert mapped is not None
    assert mapped.offsets is None
    assert not WORDS.is_current(store, versions_of(1))


def test_a_file_whose_writing_failed_leaves_the_one_before(store: Store) -> None:
    WORDS.write(store, postings_of("a team"))
    before = (Path(store.uri) / "words.bin").read_bytes()
    with pytest.raises(KeyboardInterrupt), WORDS.writer(store) as file:
        file.add("versions", versions_of(1))
        raise KeyboardInterrupt
    assert (Path(store.uri) / "words.bin").read_bytes() == before
    assert [path.name for path in Path(store.uri).iterdir()] == ["words.bin"]


def test_write_errors_are_index_faults(tmp_path: Path) -> None:
    with pytest.raises(IndexFault, match=r"cannot write words\.bin"):
        WORDS.write(Store(str(tmp_path / "no-such-folder")), postings_of("team"))


def test_deleting_removes_all_derived_files_and_nothing_else(store: Store) -> None:
    claim_index_folder(Path(store.uri))
    for name in (*DERIVED_FILES, "BUILD"):
        (Path(store.uri) / name).write_bytes(b"")
    delete_derived_files(store)
    delete_derived_files(store)
    assert {path.name for path in Path(store.uri).iterdir()} == {INDEX_MARKER, "BUILD"}
