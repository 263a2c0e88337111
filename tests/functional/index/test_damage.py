"""Damage to the index is noticed, said and repaired, and a full run replaces the index whole."""

import errno
import random
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from msgspec.structs import replace
from numpy.typing import NDArray

from benchmarks.faults.file_damage import KINDS, damage_files
from benchmarks.faults.small_base import write_small_base
from kbx_tui import IndexDamaged, IndexFault, IndexForeign, KnowledgeBase
from kbx_tui.index.array_file import VERIFIED, verified_files
from kbx_tui.index.build.repair import put_in_place
from kbx_tui.index.ownership import claim
from kbx_tui.index.stamp import DIGESTS, read_stamp, write_stamp
from kbx_tui.index.store import Store
from kbx_tui.removal import INDEX_MARKER, INDEX_TABLES
from tests.functional.vaults import stored_rows, write_vault
from tests.trusting import copy_base


@pytest.fixture
def base(indexed_vault: Path, tmp_path: Path) -> Path:
    return copy_base(indexed_vault, tmp_path / "base")


def index_of(base: Path) -> Path:
    return base / ".kbx" / "index"


def newest_manifest(base: Path, table: str) -> Path:
    return min((index_of(base) / f"{table}.lance" / "_versions").glob("*.manifest"))


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def restamp(index: Path, **changed: object) -> None:
    """Write the stamp of an index with other content."""
    stamp = read_stamp(index)
    assert stamp is not None
    write_stamp(index, replace(stamp, **changed))


def forget_verified_files(index: Path) -> None:
    """Make this process know nothing of what others have verified since it looked."""
    verified_files.cache_clear()
    (index / VERIFIED).rename(index / "aside")
    verified_files(str(index))
    (index / "aside").rename(index / VERIFIED)


def vectors_of(base: Path) -> dict[str, NDArray[np.float32]]:
    rows = Store(str(index_of(base))).table("vectors").to_arrow()
    vectors = (np.array(vector, np.float32) for vector in rows["vector"].to_pylist())
    return dict(zip(rows["text_hash"].to_pylist(), vectors, strict=True))


def found(base: Path) -> list[str]:
    response = KnowledgeBase(base).search("what happens after a rollback")
    return [result.path for result in response.results]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_damage_to_any_file_changes_no_answer_without_a_word(kind: str, tmp_path: Path) -> None:
    base = write_small_base(tmp_path / "base")
    assert [*damage_files(KINDS[kind])(base, 10, random.Random(4))] == [[]] * 10


@pytest.mark.parametrize("table", ["entities", "links"])
def test_a_table_older_than_noted_is_said_and_repaired_by_the_next_run(
    base: Path, table: str
) -> None:
    before = {name: stored_rows(base, name) for name in INDEX_TABLES}
    newest_manifest(base, table).unlink()
    with pytest.raises(IndexDamaged, match=f"table {table} .* version 1, but 2 was noted"):
        KnowledgeBase(base).retrieve("rollback")
    assert table in KnowledgeBase(base).status().damage[0]
    report = KnowledgeBase(base).index()
    assert f"table {table}" in report.repaired[0]
    assert report.embedded == 0
    assert {name: stored_rows(base, name) for name in INDEX_TABLES} == before
    assert KnowledgeBase(base).check(read_data=True).sound


def test_a_damaged_derived_file_is_said_and_written_again(base: Path) -> None:
    expected = found(base)
    flip(index_of(base) / "vectors.bin")
    assert "vectors.bin" in KnowledgeBase(base).status().damage[0]
    response = KnowledgeBase(base).search("what happens after a rollback")
    assert "vectors.bin of the index was damaged" in response.meta.notes[0]
    assert [result.path for result in response.results] == expected
    assert not KnowledgeBase(base).status().damage
    flip(index_of(base) / "words.bin")
    assert "words.bin" in KnowledgeBase(base).index().repaired[0]
    assert KnowledgeBase(base).index().repaired == ()


@pytest.mark.parametrize("damage", ["removals", "flips"])
def test_a_full_run_computes_all_vectors_again_if_a_file_of_them_is_damaged(
    base: Path, damage: str
) -> None:
    expected, vectors = found(base), KnowledgeBase(base).status().vectors
    (file,) = (index_of(base) / "vectors.lance" / "data").iterdir()
    KINDS[damage](file, random.Random(2))
    assert "table vectors" in KnowledgeBase(base).status().damage[0] or damage == "removals"
    report = KnowledgeBase(base).index(full=True)
    assert (report.embedded, report.finished) == (vectors, True)
    assert found(base) == expected
    assert KnowledgeBase(base).check(read_data=True).sound


def test_only_finite_vectors_of_unit_length_are_taken_over(base: Path) -> None:
    store = Store(str(index_of(base)))
    table = store.table("vectors")
    hashes = table.to_arrow()["text_hash"].to_pylist()[:2]
    vectors = pa.FixedSizeListArray.from_arrays(
        pa.array([0.0] * 384 + [0.5] * 384, pa.float16()), 384
    )
    store.delete("vectors", "text_hash", hashes)
    table.add(pa.table([pa.array(hashes), vectors], schema=table.schema))
    report = KnowledgeBase(base).check(read_data=True)
    assert any("vectors are not finite" in fault.what for fault in report.faults)
    assert KnowledgeBase(base).index(full=True).embedded == 2
    assert KnowledgeBase(base).check(read_data=True).sound


@pytest.mark.parametrize("is_removed", [False, True])
def test_changed_vectors_are_not_taken_over_when_the_digests_are_lost_too(
    base: Path, is_removed: bool
) -> None:
    verified = index_of(base) / VERIFIED
    while "vectors.lance/data" not in (verified.read_text() if verified.exists() else ""):
        KnowledgeBase(base).check(read_data=True)  # files just written are not kept as verified
    forget_verified_files(index_of(base))
    before = vectors_of(base)
    values = next(iter(before.values()))
    vector, largest = values.astype(np.float16).tobytes(), 2 * int(np.abs(values).argmax())
    (file,) = (
        file
        for file in (index_of(base) / "vectors.lance" / "data").iterdir()
        if vector in file.read_bytes()
    )
    content = bytearray(file.read_bytes())
    content[content.index(vector) + largest + 1] ^= 0x80  # a sign: the length stays 1
    file.write_bytes(content)
    digests = index_of(base) / "DIGESTS"
    if is_removed:
        digests.unlink()
    else:
        flip(digests)
    KnowledgeBase(base).index(full=True)
    after = vectors_of(base)
    assert after.keys() == before.keys()
    assert all(np.allclose(after[text], before[text], atol=1e-3) for text in before)


@pytest.mark.parametrize("table", INDEX_TABLES)
@pytest.mark.parametrize("runs_first", [False, True], ids=["search", "run-then-search"])
def test_a_search_repairs_a_table_whose_data_is_gone(
    base: Path, table: str, runs_first: bool
) -> None:
    before = found(base)
    for file in (index_of(base) / f"{table}.lance" / "data").iterdir():
        file.unlink()
    if runs_first:
        KnowledgeBase(base).index()
    assert found(base) == before


@pytest.mark.parametrize("name", ["bodies.bin", "words.bin", "vectors.bin"])
@pytest.mark.parametrize("kind", ["zeros", "truncations"])
def test_a_mapped_file_that_is_changed_in_place_is_read_again_before_it_is_used(
    base: Path, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.api.session.REFRESH_SECONDS", 600.0)
    reader, query = KnowledgeBase(base), "what happens after a rollback"
    before = reader.search(query).results
    KINDS[kind](index_of(base) / name, random.Random(1))
    response = reader.search(query)
    assert response.results == before
    assert f"{name} of the index was damaged" in response.meta.notes[0]


def test_readers_of_a_replaced_index_continue_without_an_error(base: Path) -> None:
    reader = KnowledgeBase(base)
    assert reader.search("soup").results
    write_vault(base, {"memory/notes/new.md": "# New\n\nA zorkmid.\n"})
    KnowledgeBase(base).index(full=True)
    assert len(reader.entities.facts()) == 4
    reader.refresh()
    assert reader.search("zorkmid", fast=True).results


def test_a_run_changes_no_file_that_a_reader_has_open(base: Path) -> None:
    """A process that reads a mapped part of a file which was cut off is ended by the system."""
    with ExitStack() as opened:
        for page, full in (("one", False), ("two", False), ("three", True)):
            found = [file for file in index_of(base).rglob("*") if file.is_file()]
            before = [(opened.enter_context(file.open("rb")), file.read_bytes()) for file in found]
            write_vault(base, {f"memory/notes/{page}.md": f"# {page}\n\nA zorkmid.\n"})
            (base / "memory/notes/lunch.md").unlink(missing_ok=True)
            KnowledgeBase(base).index(full=full)
            assert KnowledgeBase(base).search(f"zorkmid {page}").results
            for stream, content in before:
                assert stream.read() == content, stream.name


def test_batches_are_read_from_the_beginning_again_where_a_file_was_deleted(base: Path) -> None:
    store, counts = Store(str(index_of(base))), list[int]()

    def count(batches: Iterator[Any]) -> int:
        counts.append(sum(map(len, batches)))
        if len(counts) == 1:  # as if the last file had been deleted after a compaction
            raise FileNotFoundError(errno.ENOENT, "no such file")
        return counts[-1]

    assert store.read_batches("vectors", ["vector"], count) == store.count("vectors") == counts[0]


@pytest.mark.parametrize("can_exchange", [True, False])
def test_a_full_run_leaves_nothing_beside_the_index(
    base: Path, can_exchange: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange:
        monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: (_ for _ in ()).throw(OSError()))
    before = found(base)
    assert KnowledgeBase(base).index(full=True).embedded == 0
    assert [path.name for path in (base / ".kbx").glob("index*")] == ["index"]
    assert found(base) == before


def test_files_are_not_taken_out_of_a_folder_that_the_index_became_a_link_to(
    base: Path, tmp_path: Path
) -> None:
    new = base / ".kbx" / "index.new-0123abcd"
    index_of(base).rename(new)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "keep.txt").touch()
    index_of(base).symlink_to(theirs)
    with pytest.raises(IndexFault, match="left alone"):
        put_in_place(Store(str(new)), Store(str(index_of(base))), len(list(base.rglob("*.md"))))
    assert (theirs / "keep.txt").exists()
    assert not (index_of(base) / "keep.txt").exists()


def test_what_dead_runs_left_is_swept_and_nothing_else(base: Path) -> None:
    state, index = base / ".kbx", index_of(base)
    for folder in ("index.new-0123abcd", "index.old-0123abcd", "index.new-mine"):
        (state / folder).mkdir()
        shutil.copyfile(index / INDEX_MARKER, state / folder / INDEX_MARKER)
    (state / "index.old-00000000").mkdir()
    claim(state / "index.old-00000000")  # of another base of this user
    (state / "index.old-11111111").symlink_to(state / "index.old-00000000")
    for name in (f"words.bin.{'0f' * 16}", f"DIGESTS.{'0f' * 16}", "words.bin.mine"):
        (index / name).write_bytes(b"")
    KnowledgeBase(base).index()
    kept = ["index.new-mine", "index.old-00000000", "index.old-11111111"]
    assert [path.name for path in sorted(state.glob("index.*"))] == kept
    assert (state / "index.old-00000000" / INDEX_MARKER).exists()
    assert [path.name for path in index.glob("*.*") if "0f0f" in path.name] == []
    assert (index / "words.bin.mine").exists()


def test_a_run_that_died_between_two_renames_is_finished_by_the_next(base: Path) -> None:
    index_of(base).rename(base / ".kbx" / "index.new-0123abcd")
    report = KnowledgeBase(base).index()
    assert (report.added, report.embedded) == (0, 0)
    assert found(base)


def test_check_names_every_fault_and_what_mends_it(base: Path) -> None:
    flip(index_of(base) / "bodies.bin")
    flip(next((index_of(base) / "facts.lance" / "data").iterdir()))
    (base / ".kbx" / "labels.jsonl").write_text("{]\n")
    report = KnowledgeBase(base).check()
    wrong = {fault.where: fault.remedy for fault in report.faults}
    assert wrong["bodies.bin"] == wrong["tables"] == "`kbx index`"
    assert "move it away" in wrong[".kbx/labels.jsonl"]
    assert not report.sound
    KnowledgeBase(base).index()
    (base / ".kbx" / "labels.jsonl").unlink()
    assert KnowledgeBase(base).check(read_data=True).sound


def test_a_damaged_build_id_is_said_by_check_and_replaced_by_the_next_run(base: Path) -> None:
    marker = index_of(base) / "BUILD"
    before = found(base)
    flip(marker)
    marker.write_bytes(marker.read_bytes()[:20])
    assert found(base) == before
    (fault,) = KnowledgeBase(base).check().faults
    assert (fault.where, fault.remedy) == ("BUILD", "`kbx index`")
    KnowledgeBase(base).index()
    assert KnowledgeBase(base).check().sound
    assert found(base) == before


@pytest.mark.parametrize(
    "changed",
    [
        {"meta": {"schema_version": 3, "model": "other"}},
        {"counts": {"documents": 1}},
        {"versions": dict.fromkeys(INDEX_TABLES, 1)},
    ],
    ids=["meta", "counts", "older"],
)
def test_a_stamp_that_does_not_fit_the_tables_is_found_and_replaced(
    base: Path, changed: dict[str, dict[str, Any]]
) -> None:
    first, before = KnowledgeBase(base).index(), found(base)
    stamp = read_stamp(index_of(base))
    assert stamp is not None
    restamp(index_of(base), **{key: getattr(stamp, key) | new for key, new in changed.items()})
    is_wrong = "versions" not in changed  # of older tables it says nothing that is used
    faults = KnowledgeBase(base).check().faults
    assert any("does not fit the tables" in fault.what for fault in faults) is is_wrong
    report = KnowledgeBase(base).index()
    assert (report.embedded, report.vectors) == (0, first.vectors)
    assert bool(report.repaired) is is_wrong
    assert read_stamp(index_of(base)) is not None
    assert KnowledgeBase(base).check(read_data=True).sound
    assert found(base) == before


def test_an_index_with_a_stamp_of_another_version_is_rebuilt_with_its_vectors(base: Path) -> None:
    first, stamp = KnowledgeBase(base).index(), index_of(base) / DIGESTS
    stamp.write_bytes(stamp.read_bytes().replace(b"kbx digests 2", b"kbx digests 1", 1))
    report = KnowledgeBase(base).index()
    assert "DIGESTS" in report.repaired[0]
    assert (report.embedded, report.reused) == (0, first.vectors)
    assert KnowledgeBase(base).check(read_data=True).sound


@pytest.mark.parametrize("is_search", [False, True], ids=["run", "search"])
def test_an_index_of_another_model_is_not_embedded_again_because_it_is_damaged(
    base: Path, is_search: bool
) -> None:
    store = Store(str(index_of(base)))
    store.write_meta({**store.meta(), "model": "other"})
    flip(index_of(base) / DIGESTS)
    with pytest.raises(IndexForeign, match=r"embedding model other, but .* run `kbx index --full`"):
        KnowledgeBase(base).search("soup") if is_search else KnowledgeBase(base).index()
    assert stored_rows(base, "vectors")
    assert KnowledgeBase(base).index(full=True).embedded > 0


@pytest.mark.parametrize("place", ["_indices/550e8400-e29b-41d4-a716-446655440000", "data/more"])
def test_no_file_behind_a_link_in_a_table_is_deleted(base: Path, place: str) -> None:
    notes = base.parent / "thesis"
    notes.mkdir()
    (notes / "thesis.lance").write_text("mine")
    for table in INDEX_TABLES:
        link = index_of(base) / f"{table}.lance" / place
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(notes)
    store = Store(str(index_of(base)))
    for table in INDEX_TABLES:
        with pytest.raises(IndexDamaged, match="it is a symbolic link"):
            store.optimize(table)
    with KnowledgeBase(base) as kb:
        kb.index()
        assert kb.search("rollback").results
    assert (notes / "thesis.lance").read_text() == "mine"
    assert not [path for path in index_of(base).rglob("*") if path.is_symlink()]
