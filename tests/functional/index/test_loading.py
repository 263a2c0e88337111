"""What a search maps and reads of the index: documents, entities, vectors, tables."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.index.arrays import Rows
from kbx_tui.index.lexical.text_files import refresh_text_files
from kbx_tui.index.snapshot import LINKS, Snapshot, documents_of, read_snapshot
from kbx_tui.index.store import Store
from kbx_tui.index.stored_names import NAMES
from kbx_tui.index.stored_records import DOCUMENTS, ENTITIES, FACTS
from kbx_tui.index.vectors import stored_vectors
from kbx_tui.index.vectors.stored_vectors import Coverage
from kbx_tui.index.vectors.vector_matrix import (
    ProfileVectors,
    VectorMatrix,
    VectorSegment,
    load_vectors,
    refresh_vectors_file,
)
from kbx_tui.search.query.name_index import KnownItems
from tests.functional.vaults import store_of

PAGE = "---\naliases: [Quagga]\ntags: [animal]\ndate: 2026-01-02\n---\n# Zebra crossing\n"
COLUMNS = ("paths", "ids", "titles", "dates", "kinds", "tags", "attendees", "aliases", "versions")


def file_of(base: Path) -> Path:
    return base / ".kbx" / "index" / DOCUMENTS.name


def columns_of(snapshot: Snapshot) -> dict[str, list[Any]]:
    return {name: list(getattr(snapshot, name)) for name in COLUMNS}


def links_of(snapshot: Snapshot) -> dict[str, list[Any]]:
    return {
        entity: [links.rows.tolist(), links.kinds.tolist(), links.counts.tolist()]
        for entity, links in snapshot.links.items()
    }


def both(base: Path) -> tuple[Snapshot, Snapshot]:
    """Return the snapshot read with the help of the file, and that read from the tables."""
    loaded = read_snapshot(store_of(base))
    moved = file_of(base).rename(base / "documents.bin")
    try:
        return loaded, read_snapshot(store_of(base))
    finally:
        moved.rename(file_of(base))


def edit(base: Path) -> None:
    memory = base / "memory"
    (memory / "notes" / "zebra.md").write_text(PAGE, encoding="utf-8")
    page, other = sorted((memory / "meetings").rglob("*.md"))[:2]
    page.write_text(page.read_text("utf-8") + "\nMore.\n", encoding="utf-8")
    other.unlink()
    person = sorted((memory / "people").glob("*.md"))[0]
    person.write_text(person.read_text("utf-8") + "\nAnd more.\n", encoding="utf-8")


def test_changed_documents_are_read_beside_the_mapped_file(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.index.derived_files.STALE_SHARE", 0.9)
    before = file_of(demo_copy).read_bytes()
    edit(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
    assert file_of(demo_copy).read_bytes() == before
    loaded, from_tables = both(demo_copy)
    assert [len(loaded.segments), len(from_tables.segments)] == [2, 1]
    assert columns_of(loaded) == columns_of(from_tables)
    assert list(loaded.paths) == sorted(loaded.paths)
    assert links_of(loaded) == links_of(from_tables)
    assert loaded.entities == from_tables.entities
    items = [KnownItems(each.segments, each.entity_pages) for each in (loaded, from_tables)]
    for name in ("paths", "ids", "titles", "dates"):
        for text in getattr(loaded, name):
            assert items[0].find(text) == items[1].find(text)
    for row, path in enumerate(loaded.paths):
        assert loaded.row_of[path] == row


def test_documents_of_an_unchanged_index_are_mapped(demo_copy: Path) -> None:
    snapshot = read_snapshot(store_of(demo_copy))
    (segment,) = snapshot.segments
    assert not segment.documents.paths.data.flags.owndata
    assert not segment.documents.versions.flags.owndata


@pytest.mark.parametrize("limit", ["BLOCK_ROWS", "BLOCK_BYTES"])
def test_documents_read_in_blocks_are_all_documents_by_path(
    demo_copy: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = demo_copy / "memory" / "notes" / "o'neil's 'plan'.md"
    page.write_text("# A plan\n\nAbout a zebra.\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
    store, columns = store_of(demo_copy), ["version", "title", "body"]
    at_once = list(documents_of(store, columns))
    assert any(row["path"].endswith(page.name) for row in at_once)
    monkeypatch.setattr(f"kbx_tui.index.snapshot.{limit}", 3)
    assert list(documents_of(store, columns)) == at_once
    some = np.array([row["version"] for row in at_once[1::9]], np.bytes_)
    for share in (0.0, 1.0):
        monkeypatch.setattr("kbx_tui.index.derived_files.STALE_SHARE", share)
        assert list(documents_of(store, columns, some)) == at_once[1::9]
    assert [row["path"] for row in at_once] == sorted(row["path"] for row in at_once)


def contents_of(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "entities": list(snapshot.entities),
        "links": links_of(snapshot),
        "pages": dict(snapshot.entity_pages.items()),
        "own pages": snapshot.entity_pages.own.tolist(),
        "uses of names": dict(snapshot.name_uses),
    }


def files_of(store: Store) -> list[Path]:
    return [Path(store.uri) / file.name for file in (ENTITIES, NAMES, FACTS, LINKS)]


def test_mapped_entities_and_links_equal_those_of_the_tables(demo_copy: Path) -> None:
    store = store_of(demo_copy)
    mapped = read_snapshot(store)
    assert not mapped.entities.stored.names.data.flags.owndata
    assert not mapped.names.full.hashes.flags.owndata
    expected = contents_of(mapped)
    written = [file.read_bytes() for file in files_of(store)]
    for file in files_of(store):
        file.unlink()
    from_tables = read_snapshot(store)
    assert contents_of(from_tables) == expected
    assert from_tables.entities == mapped.entities
    assert (mapped.facts is not None, from_tables.facts) == (True, None)
    refresh_text_files(store)
    assert [file.read_bytes() for file in files_of(store)] == written
    for row in {int(row) for _, links in mapped.links.items() for row in links.rows}:
        owners = {mapped.entities.ids[number] for number in mapped.links.entities_of(row)}
        assert owners == {owner for owner, links in mapped.links.items() if row in links.rows}


def test_files_of_a_former_state_are_not_read(demo_copy: Path) -> None:
    store = store_of(demo_copy)
    links, entities = store.rows("links", ["entity_id", "path", "kind", "count"]), "entities"
    first = links.sort_by("entity_id").slice(0, 1)
    store.replace("links", first)  # as a run leaves it that is killed before it writes the files
    assert [owner for owner, _ in read_snapshot(store).links.items()] == first[
        "entity_id"
    ].to_pylist()
    rows = store.rows(entities, store.table(entities).schema.names)
    store.replace(entities, rows.slice(0, 2))
    assert sorted(read_snapshot(store).entities.ids) == sorted(rows["id"].to_pylist()[:2])
    refresh_text_files(store)
    assert len(read_snapshot(store).entities) == 2


def test_documents_are_compared_with_their_table_only_if_it_has_changed(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = store_of(demo_copy)

    def fail(_: Store) -> None:
        raise AssertionError("the versions of all documents were read")

    with monkeypatch.context() as patch:
        patch.setattr("kbx_tui.index.snapshot.stored_versions", fail)
        paths = list(read_snapshot(store).paths)
    store.delete("documents", "path", paths[:1])
    assert list(read_snapshot(store).paths) == paths[1:]


def test_a_run_writes_only_the_tables_and_files_that_change(demo_copy: Path) -> None:
    store, memory = store_of(demo_copy), demo_copy / "memory"
    note, person = memory / "notes" / "2026-01-30-rollback-plan.md", memory / "people"
    page = person / "alice-chen.md"

    def written_by(change: Path, text: str) -> tuple[set[str], set[str]]:
        versions, files = store.versions(), {file: file.stat() for file in files_of(store)}
        change.write_text(change.read_text("utf-8") + text, encoding="utf-8")
        with KnowledgeBase(demo_copy) as kb:
            kb.index(fast=True)
        tables = {name for name, number in store.versions().items() if number != versions[name]}
        replaced = {file.stem for file in files if file.stat().st_ino != files[file].st_ino}
        return tables & {"entities", "facts", "links", "name_uses"}, replaced

    assert written_by(note, "\nThe end.\n") == (set(), {"links"})
    assert written_by(note, "\nTold Bob Okafor.\n") == ({"links", "name_uses"}, {"links"})
    tables, files = written_by(page, "\n## Recent Facts\n\n- Alice keeps bees\n")
    assert {"entities", "facts"} <= tables
    assert files == {"entities", "names", "facts", "links"}


MODEL, DIMENSION = BUNDLED.name, 384
PAGE_TEXT = "# Zebra\n\nA zebra crossed the harbour.\n\n## Later\n\nIt came back.\n"
STALE_SHARE = "kbx_tui.index.derived_files.STALE_SHARE"


def vectors_file_of(base: Path) -> Path:
    return base / ".kbx" / "index" / "vectors.bin"


def load(base: Path) -> tuple[VectorMatrix, VectorMatrix]:
    """Return the vectors loaded with the help of the file, and those read from the tables."""
    store = store_of(base)
    snapshot = read_snapshot(store)
    loaded = load_vectors(store, snapshot, model=MODEL, dimension=DIMENSION)
    return loaded, from_tables(store, snapshot)


def from_tables(store: Store, snapshot: Snapshot) -> VectorMatrix:
    rows, profiles = np.arange(len(snapshot.versions)), snapshot.entities.stored.profiles
    stored, coverage = stored_vectors.read_vectors(store, snapshot, rows, profiles, DIMENSION)
    coverage += Coverage(len(profiles), int(np.count_nonzero(stored.profiles == b"")))
    of_entities = ProfileVectors.of(stored.entities, stored.quantized_entities())
    return VectorMatrix((VectorSegment.of(stored, rows),), of_entities, coverage)


def load_vectors_documents_of(vectors: VectorMatrix) -> dict[int, list[bytes]]:
    """Return the bytes of all that belongs to each document, by row."""
    found = {}
    for segment in vectors.segments:
        for row, document in zip(segment.document_rows, segment.documents, strict=True):
            chunks = segment.chunks_of(row)
            assert chunks is not None
            stored, codes = segment.stored, segment.quantized.part(chunks)
            arrays = [stored.chunks[chunks], stored.lines[chunks], stored.contexts[document]]
            arrays += [stored.chunk_weights[document], codes.codes, codes.scales, codes.errors]
            found[int(row)] = [array.tobytes() for array in arrays]
    return found


def profiles_of(vectors: VectorMatrix) -> dict[int, bytes]:
    """Return the vector of the profile of each entity that has one."""
    profiles = vectors.profiles
    sources = profiles.sources
    rows = np.arange(len(profiles.vectors)) if sources is None else sources
    newer = zip(profiles.newer_entities.tolist(), profiles.newer, strict=True)
    found = {n: profiles.vectors[row] for n, row in enumerate(rows.tolist()) if row >= 0}
    return {n: vector.tobytes() for n, vector in (found | dict(newer)).items() if vector.any()}


def assert_equal(vectors: VectorMatrix, expected: VectorMatrix) -> None:
    assert load_vectors_documents_of(vectors) == load_vectors_documents_of(expected)
    assert profiles_of(vectors) == profiles_of(expected)
    assert vectors.coverage == expected.coverage


@pytest.fixture
def no_full_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail when all vectors are read from the tables to load them."""

    def some(store: Store, snapshot: Snapshot, rows: Rows, *rest: Any) -> Any:
        assert len(rows) < len(snapshot.versions), "all vectors were read from the tables"
        return stored_vectors.read_vectors(store, snapshot, rows, *rest)

    monkeypatch.setattr("kbx_tui.index.vectors.vector_matrix.read_vectors", some)


@pytest.mark.usefixtures("no_full_read")
def test_loading_an_unchanged_index_maps_the_file_without_copying(demo_copy: Path) -> None:
    loaded, expected = load(demo_copy)
    assert_equal(loaded, expected)
    assert not loaded.segments[0].stored.chunks.flags.owndata
    assert not loaded.segments[0].stored.chunks.flags.writeable


def add(base: Path) -> None:
    (base / "memory" / "notes" / "zebra.md").write_text(PAGE_TEXT, encoding="utf-8")


def change(base: Path) -> None:
    page = next(iter(sorted((base / "memory" / "meetings").rglob("*.md"))))
    page.write_text(page.read_text("utf-8") + "\n## More\n\nA zebra.\n", encoding="utf-8")


def change_a_person(base: Path) -> None:
    page = next(iter(sorted((base / "memory" / "people").glob("*.md"))))
    page.write_text(page.read_text("utf-8") + "\n## Facts\n\n- Keeps a zebra\n", encoding="utf-8")


def delete(base: Path) -> None:
    next(iter(sorted((base / "memory" / "notes").rglob("*.md")))).unlink()


def delete_a_person(base: Path) -> None:
    sorted((base / "memory" / "people").glob("*.md"))[1].unlink()


def add_an_empty_file(base: Path) -> None:
    (base / "memory" / "notes" / "empty.md").write_text("", encoding="utf-8")


def add_change_and_delete(base: Path) -> None:
    for edit in (add, change, delete, add_an_empty_file):
        edit(base)


@pytest.mark.parametrize(
    "edit",
    [
        add, change, change_a_person, delete, delete_a_person, add_an_empty_file,
        add_change_and_delete,
    ],
    ids=lambda edit: edit.__name__,
)  # fmt: skip
@pytest.mark.usefixtures("no_full_read")
def test_vectors_of_changed_documents_are_read_beside_the_mapped_file(
    demo_copy: Path, edit: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STALE_SHARE, 0.9)
    before = vectors_file_of(demo_copy).read_bytes()
    edit(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert vectors_file_of(demo_copy).read_bytes() == before
    loaded, expected = load(demo_copy)
    assert_equal(loaded, expected)
    assert not any(segment.stored.chunks.flags.owndata for segment in loaded.segments)
    vectors_file_of(demo_copy).with_name("vectors-new.bin").unlink(missing_ok=True)
    assert_equal(*load(demo_copy))
    monkeypatch.setattr(STALE_SHARE, 0.0)  # one is many then: they are read in one pass
    assert_equal(*load(demo_copy))


@pytest.mark.usefixtures("no_full_read")
def test_chunks_without_vectors_lower_the_coverage(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(STALE_SHARE, 0.9)
    add(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
        assert_equal(*load(demo_copy))
        kb.index()
    complete, _ = load(demo_copy)
    store_of(demo_copy).table("vectors").delete("true")
    (vectors_file_of(demo_copy).parent / "vectors-new.bin").unlink()
    loaded, expected = load(demo_copy)
    assert 0.0 < loaded.coverage.share < complete.coverage.share == 1.0
    assert expected.coverage.share == 0.0


def test_the_file_is_rewritten_after_many_changes(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = vectors_file_of(demo_copy).read_bytes()
    add(demo_copy)
    monkeypatch.setattr(STALE_SHARE, 0.0)
    assert_equal(*load(demo_copy))
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert vectors_file_of(demo_copy).read_bytes() != before
    assert_equal(*load(demo_copy))


@pytest.mark.parametrize("damage", ["missing", "cut off", "other model", "older format"])
def test_without_a_valid_file_vectors_are_read_from_the_tables(
    demo_copy: Path, damage: str
) -> None:
    file, (_, before) = vectors_file_of(demo_copy), load(demo_copy)
    if damage == "missing":
        file.unlink()
    elif damage == "cut off":
        file.write_bytes(file.read_bytes()[:-4096])
    else:
        current, other = (
            (b"MiniLM", b"MaxiLM") if damage == "other model" else (b"vectors 4", b"vectors 1")
        )
        header, _, rest = file.read_bytes().partition(b"\n")
        assert current in header
        file.write_bytes(header.replace(current, other) + b"\n" + rest)
    loaded, expected = load(demo_copy)
    assert_equal(loaded, expected)
    assert_equal(loaded, before)
    assert loaded.segments[0].stored.chunks.flags.owndata
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert not load(demo_copy)[0].segments[0].stored.chunks.flags.owndata


def test_the_file_is_not_written_while_vectors_are_missing(demo_copy: Path) -> None:
    vectors_file_of(demo_copy).unlink()
    store = store_of(demo_copy)
    hashes = store.rows("vectors", ["text_hash"])["text_hash"].to_pylist()[:-20:2]
    store.table("vectors").delete(f"text_hash IN ({', '.join(map(repr, hashes))})")
    refresh_vectors_file(store, model=MODEL, dimension=DIMENSION)
    assert not vectors_file_of(demo_copy).exists()


def test_a_cancelled_full_run_leaves_the_file_as_it_was(demo_copy: Path) -> None:
    before = vectors_file_of(demo_copy).read_bytes()
    with KnowledgeBase(demo_copy) as kb:
        kb.index(full=True, cancelled=lambda: True)
    assert vectors_file_of(demo_copy).read_bytes() == before


def test_an_older_snapshot_gets_its_own_vectors(demo_copy: Path) -> None:
    store = store_of(demo_copy)
    snapshot = read_snapshot(store)
    expected = from_tables(store, snapshot)
    delete(demo_copy)
    with KnowledgeBase(demo_copy) as kb:
        kb.index()
    assert_equal(load_vectors(store, snapshot, model=MODEL, dimension=DIMENSION), expected)


def test_the_file_is_the_same_however_many_documents_are_written_at_once(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, before = vectors_file_of(demo_copy), vectors_file_of(demo_copy).read_bytes()
    for at_once in (1, 40):
        file.unlink()
        monkeypatch.setattr("kbx_tui.index.vectors.stored_vectors.BLOCK", at_once)
        refresh_vectors_file(store_of(demo_copy), model=MODEL, dimension=DIMENSION)
        assert file.read_bytes() == before
