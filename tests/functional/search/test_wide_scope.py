"""In a scope of more chunks than are compared one by one, candidates are scored, and that is said.

The limits are lowered: the demo has some hundred chunks."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.embedder import BUNDLED
from kbx_tui.errors import IndexFault
from kbx_tui.index.array_file import ArrayWriter
from kbx_tui.index.vectors import vector_lists
from kbx_tui.index.vectors.stored_vectors import Coverage, vectors_file
from kbx_tui.index.vectors.vector_lists import LISTS, VectorLists, refresh_vector_lists
from kbx_tui.index.vectors.vector_matrix import VectorMatrix, VectorSegment
from kbx_tui.search.retrieval import scope
from kbx_tui.tools.json_output import search_json
from kbx_tui.tui.explore.inputs import mode_candidates
from kbx_tui.tui.explore.presenting import mode_words
from tests.command_line import CommandLine
from tests.functional.tui.driving import WIDE, running
from tests.functional.vaults import store_of
from tests.vectors import NO_PROFILES, stored_vectors

QUERY = "what did grace say about the rollback"
FOLDER = "memory/people"
MODEL, DIMENSION = BUNDLED.name, 384


def build(base: Path) -> VectorLists | None:
    store = store_of(base)
    refresh_vector_lists(store, model=MODEL, dimension=DIMENSION)
    return LISTS.map(store)


@pytest.fixture
def base(demo_copy: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a base whose scope is too wide, with lists of which a search reads few."""
    monkeypatch.setattr(vector_lists, "EXACT_CHUNKS", 100)
    monkeypatch.setattr(vector_lists, "RECALL_TARGET", 0.6)
    for name, count in (("BY_WORDS", 5), ("BY_MEANING", 5), ("LINKED", 10)):
        monkeypatch.setattr(scope, name, count)
    assert build(demo_copy) is not None
    return demo_copy


@pytest.fixture
def kb(base: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(base) as opened:
        yield opened


def results(kb: KnowledgeBase, **options: object) -> list[tuple[str, float]]:
    found = kb.search(QUERY, **options).results
    return [(result.path, result.score) for result in found]


def test_reading_all_lists_finds_what_a_scan_finds(base: Path) -> None:
    store = store_of(base)
    lists, stored = LISTS.map(store), vectors_file(MODEL, DIMENSION).map(store)
    assert lists is not None
    assert stored is not None
    lists = replace(lists, probes=np.array([len(lists.starts) - 1]))
    segment = VectorSegment.of(stored, np.arange(len(stored.versions)))
    query = segment.stored.chunks[7]
    cosine, _ = segment.approximate_cosine(query, segment.document_rows)
    nearest = lists.best_documents(query, None, 10, 1.0)
    np.testing.assert_array_equal(np.sort(cosine[nearest]), np.sort(cosine)[-10:])
    wanted = np.arange(len(segment.stored.contexts)) % 2 == 0
    nearest = lists.best_documents(query, wanted, 10, 1.0)
    np.testing.assert_array_equal(np.sort(cosine[nearest]), np.sort(cosine[::2])[-10:])


def test_candidates_are_scored_as_in_a_search_of_all(kb: KnowledgeBase) -> None:
    evidence, full = kb.retrieve(QUERY), kb.retrieve(QUERY, exact=True)
    assert len(evidence) == evidence.scope.candidates < len(full)
    assert (full.scope.complete, evidence.scope.in_scope) == (True, len(full))
    rows = [full.paths.index(path) for path in evidence.paths]
    for one, all_of_it in ((evidence.as_typed, full.as_typed),
                           (evidence.as_searched, full.as_searched)):  # fmt: skip
        np.testing.assert_array_equal(one.raw_lexical, all_of_it.raw_lexical[rows])
        np.testing.assert_array_equal(one.cosine, all_of_it.cosine[rows])
    assert results(kb, limit=3) == results(kb, limit=3, exact=True)


def test_known_items_and_named_people_are_candidates(kb: KnowledgeBase) -> None:
    title = kb.retrieve("rollback", exact=True).titles[3]
    assert kb.retrieve(title).known_items
    evidence = kb.retrieve(QUERY)
    assert any(len(linked.rows) for linked in evidence.links)


def test_json_notes_and_the_app_say_what_was_scored(kb: KnowledgeBase) -> None:
    response = kb.search(QUERY)
    count, recall = response.meta.candidates, response.meta.recall
    meta = search_json(response)["meta"]
    assert (meta["complete"], meta["candidates"], meta["recall"]) == (False, count, recall)
    assert recall is not None
    assert 0.6 <= recall <= 1.0
    (note,) = (note for note in response.meta.notes if "--exact" in note)
    assert f"the {count} documents" in note
    assert f"{count} candidates" in mode_candidates(mode_words(kb.rank(kb.retrieve(QUERY))))[0]


def test_nothing_is_said_where_everything_was_compared(kb: KnowledgeBase) -> None:
    for options in ({"exact": True}, {"path": FOLDER}, {"fast": True}):
        response = kb.search(QUERY, **options)
        meta = search_json(response)["meta"]
        assert not {"complete", "candidates", "recall"} & meta.keys()
        assert not [note for note in response.meta.notes if "scored" in note]


def test_the_command_line_has_a_switch_for_a_search_of_all(kbx: CommandLine, base: Path) -> None:
    assert "scored the" in kbx("search", QUERY, "--kb", base).err
    assert "scored the" not in kbx("search", QUERY, "--exact", "--kb", base).err


def test_why_not_scores_a_document_outside_the_candidates(kb: KnowledgeBase) -> None:
    full, candidates = kb.retrieve(QUERY, exact=True), set(kb.retrieve(QUERY).paths)
    path = next(path for path in full.paths if path not in candidates)
    answer = kb.why_not(QUERY, path)
    assert answer.stage in ("ranked", "no match")
    assert answer.standing.startswith("neither words, links nor the index of vectors find it")
    row = answer.ranking.evidence.paths.index(path)
    as_searched = answer.ranking.components.cosine[row]
    assert as_searched == kb.rank(full).components.cosine[full.paths.index(path)]


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_without_the_lists_everything_is_compared_and_a_note_says_so(
    base: Path, damage: str
) -> None:
    file = base / ".kbx" / "index" / LISTS.name
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:-100])
    with KnowledgeBase(base) as kb:
        response = kb.search(QUERY)
        assert response.meta.candidates is None
        assert [note for note in response.meta.notes if LISTS.name in note]
        assert results(kb) == results(kb, exact=True)
    assert build(base) is not None


def test_an_edited_page_is_a_candidate_beside_the_lists(base: Path) -> None:
    (base / "memory" / "notes" / "zebra.md").write_text("# Zebra\n\nZorkmids.\n", encoding="utf-8")
    with KnowledgeBase(base) as kb:
        kb.index()
        response = kb.search("zebra zorkmids")
        assert response.results[0].path == "memory/notes/zebra.md"
        assert response.meta.candidates is not None


def test_lists_of_other_vectors_are_written_again_and_removed_when_not_needed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists = LISTS.map(store_of(base))
    assert lists is not None
    LISTS.write(store_of(base), replace(lists, source=np.array([1], np.uint32)))
    rebuilt = build(base)
    assert rebuilt is not None
    np.testing.assert_array_equal(rebuilt.source, lists.source)
    monkeypatch.setattr(vector_lists, "EXACT_CHUNKS", 10**6)
    assert build(base) is None


def test_a_disk_that_is_full_ends_with_a_sentence_and_leaves_the_lists_as_they_were(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lists, folder = LISTS.map(store_of(base)), base / ".kbx" / "index"
    assert lists is not None
    LISTS.write(store_of(base), replace(lists, source=np.array([1], np.uint32)))
    before = (folder / LISTS.name).read_bytes()

    def no_room_for_codes(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(ArrayWriter, "map", no_room_for_codes)
    with pytest.raises(IndexFault, match=r"vectors-ivf\.bin: no space left on the device"):
        build(base)
    assert (folder / LISTS.name).read_bytes() == before
    assert not list(folder.glob(f"{LISTS.name}.*"))


async def test_the_app_compares_every_chunk_on_request(base: Path) -> None:
    async with running(base, WIDE) as driver:
        await driver.write(QUERY)
        await driver.until(lambda: driver.titles and driver.view.mode.candidates is not None)
        assert f"of {driver.view.mode.candidates} candidates" in str(driver.results.border_title)
        await driver.press("escape", "equals_sign")
        await driver.until(lambda: driver.view.mode.candidates is None)
        await driver.until(lambda: "every chunk compared" in driver.screen_text())
        await driver.press("z")
        await driver.until(lambda: driver.view.mode.candidates is not None)
        driver.explore.model.update(path=FOLDER)
        await driver.until(lambda: driver.view.mode.candidates is None)
        await driver.press("equals_sign")
        await driver.until(lambda: "every chunk is compared already" in driver.screen_text())
        assert not driver.state.exact


FILTERED_RECALL_DIMENSION, NEAREST = 32, 10


def random_vectors(documents: int) -> VectorMatrix:
    random = np.random.default_rng(documents)
    lengths = random.integers(1, 9, documents)
    chunks = random.standard_normal((int(lengths.sum()), FILTERED_RECALL_DIMENSION)).astype(
        np.float32
    )
    chunks /= np.linalg.norm(chunks, axis=1, keepdims=True)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    contexts, shares = (
        np.zeros((documents, FILTERED_RECALL_DIMENSION), np.float32),
        np.ones(documents, np.float32),
    )
    rows = np.arange(documents)
    segment = VectorSegment.of(stored_vectors(chunks, starts, contexts, shares, rows), rows)
    return VectorMatrix((segment,), NO_PROFILES, Coverage(len(chunks), 0))


SIZES = {documents: random_vectors(documents) for documents in (1, 12, 700, 9000)}


@pytest.mark.parametrize("documents", SIZES)
@given(share=st.sampled_from([0.0, 0.001, 0.01, 0.11, 0.5, 1.0]), seed=st.integers(0, 99))
def test_nearest_documents_in_scope_equal_brute_force(
    documents: int, share: float, seed: int
) -> None:
    vectors, random = SIZES[documents], np.random.default_rng(seed)
    in_scope = random.random(documents) < share
    query = random.standard_normal(FILTERED_RECALL_DIMENSION).astype(np.float32)
    (segment,) = vectors.segments
    stored = segment.stored
    expected = np.array(
        [
            max(float(np.dot(chunk, query)) for chunk in stored.chunks[start:end])
            if is_in_scope
            else -np.inf
            for (start, end), is_in_scope in zip(pairwise(stored.starts), in_scope, strict=True)
        ]
    )
    cosines = np.nan_to_num(vectors.best_cosine(query[None], in_scope)[0], nan=-np.inf)
    count = min(NEAREST, int(in_scope.sum()))
    assert set(np.argsort(-cosines)[:count]) == set(np.argsort(-expected)[:count])
    rows = np.flatnonzero(in_scope)[:50]
    np.testing.assert_array_equal(vectors.best_cosine_of(query, rows), cosines[rows])
