"""Caches serve repeated queries and are discarded with their index generation."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Barrier, Lock
from typing import Any

import numpy as np
import pytest

from kbx_tui import KbxError, KnowledgeBase, NotFound
from kbx_tui.embedding.local import LocalEmbedder, open_embedder
from kbx_tui.errors import EmbeddingError
from kbx_tui.index import derived_files
from kbx_tui.index.build.file_changes import Changes
from kbx_tui.index.build.stages import _read
from kbx_tui.index.lexical.postings import WORDS
from kbx_tui.knowledge.vault import locate
from kbx_tui.removal import DERIVED_FILES
from kbx_tui.search.query.name_index import NameIndex
from kbx_tui.search.query.name_matching import QueryNames
from kbx_tui.search.query.query_words import QueryWords
from kbx_tui.search.retrieval.document_pass import VECTORS_KEPT, QueryVectors
from kbx_tui.search.retrieval.entity_pass import EntityPass
from tests.functional.vaults import write_vault

QUERY = "what did grace say about the rollback"


class Counted:
    """Counts embedded queries and entity passes."""

    embedded = passes = 0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counts = Counted()
    embed_query, find = LocalEmbedder.embed_query, EntityPass.find

    def counting_embed(self: LocalEmbedder, text: str) -> object:
        counts.embedded += 1
        return embed_query(self, text)

    def counting_find(self: EntityPass, *arguments: object) -> object:
        counts.passes += 1
        return find(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(LocalEmbedder, "embed_query", counting_embed)
    monkeypatch.setattr(EntityPass, "find", counting_find)
    return counts


@pytest.fixture
def kb(demo_copy: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_copy) as opened:
        opened.warm()
        yield opened


def test_query_is_embedded_and_its_entities_are_found_once(
    kb: KnowledgeBase, counted: Counted
) -> None:
    first = kb.retrieve(QUERY)
    variants = len({first.query, first.document_query})
    assert (counted.embedded, counted.passes) == (variants, 1)
    again = kb.retrieve(QUERY, path="memory/meetings")
    assert (counted.embedded, counted.passes) == (variants, 1)
    assert again.entities == first.entities
    kb.retrieve(QUERY + " plan")
    assert counted.passes == 2  # another query


@pytest.mark.parametrize(
    ("owner", "name", "times"),
    [
        (QueryNames, "__init__", 1),
        (QueryWords, "__init__", 2),  # with the forms of names, and as typed
        (NameIndex, "role_holders", 0),  # no word of the query is in a role
    ],
)
def test_a_search_computes_once_what_several_parts_of_it_need(
    kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, times: int
) -> None:
    kb.search("ferries")
    calls, real = list[str](), getattr(owner, name)

    def counting(*arguments: Any) -> Any:
        calls.append(name)
        return real(*arguments)

    monkeypatch.setattr(owner, name, counting)
    assert kb.search("what did Grace Tully say about docking the ferries?").results
    assert len(calls) == times


@pytest.mark.parametrize(
    ("query", "mode", "texts"),
    [
        ("what did Grace Tully say about the rollback", "two_pass", 1),
        ("what has Grace Tully been working on?", "two_pass", 1),
        ("what did grace say about the rollback", "two_pass", 1),
        ("how a ferry is docked", "flat", 1),
        ("how  a ferry is docked ", "flat", 1),
    ],
)
def test_search_embeds_only_the_query_without_the_name(
    kb: KnowledgeBase, counted: Counted, query: str, mode: str, texts: int
) -> None:
    assert kb.search(query).meta.search_mode == mode
    assert counted.embedded == texts


@pytest.mark.parametrize("query", [QUERY, "what did Grace Tully and Alice say about the rollback"])
def test_evidence_for_any_tuning_embeds_both_query_variants(
    kb: KnowledgeBase, counted: Counted, query: str
) -> None:
    evidence = kb.retrieve(query)
    assert counted.embedded == len({evidence.query, evidence.document_query}) == 2


def test_flat_search_embeds_only_the_query_as_typed(kb: KnowledgeBase, counted: Counted) -> None:
    kb.search("what did Grace Tully say about the rollback", hierarchy=False)
    assert counted.embedded == 1  # pass 1 still reports the entities


def test_first_search_embeds_the_query_before_names_are_known(
    demo_copy: Path, counted: Counted
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.search("what did Grace Tully say about the rollback")
    assert counted.embedded == 2  # as typed, as names are not known yet


def test_new_generation_invalidates_the_caches(
    kb: KnowledgeBase, counted: Counted, demo_copy: Path
) -> None:
    before = kb.retrieve(QUERY)
    page = demo_copy / "memory" / "people" / "grace-hopper-kim.md"
    page.write_text("---\nrole: engineer\n---\n# Grace Hopper Kim\n", encoding="utf-8")
    kb.index(fast=True)
    assert kb.refresh()
    after = kb.retrieve(QUERY)
    assert counted.passes == 2
    assert after.generation > before.generation
    assert "person:grace-hopper-kim" in {entity.id for entity in after.entities}


def results_of(folder: Path) -> list[tuple[str, float, str]]:
    with KnowledgeBase(folder) as opened:
        results = opened.search(QUERY, limit=30).results
        return [(result.path, result.score, result.snippet) for result in results]


def test_derived_files_of_another_base_are_not_used(demo_copy: Path, tmp_path: Path) -> None:
    expected = results_of(demo_copy)
    files = (demo_copy / ".kbx" / "index" / name for name in DERIVED_FILES)
    other = write_vault(tmp_path / "other", {"memory/one.md": "# One\n\nGrace and the rollback.\n"})
    with KnowledgeBase(other) as small:
        small.index()
    for file in [file for file in files if file.exists()]:
        shutil.copyfile(other / ".kbx" / "index" / file.name, file)
    assert results_of(demo_copy) == expected


def test_few_changes_are_merged_when_reading_and_many_rewrite_the_file(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = demo_copy / ".kbx" / "index" / WORDS.name
    before, page = file.read_bytes(), demo_copy / "memory" / "notes" / "zebra.md"
    page.write_text("# Zebra\n\nA zebra crossed the harbour.\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
        assert kb.search("zebra", fast=True).results[0].path == "memory/notes/zebra.md"
        assert file.read_bytes() == before
        beside = {r.path: r.score for r in kb.search("harbour rollback", fast=True).results}
        monkeypatch.setattr(derived_files, "STALE_SHARE", 0.0)
        page.write_text("# Zebra\n\nA zebra crossed the harbour.\n\n", encoding="utf-8")
        kb.index(fast=True)
        assert file.read_bytes() != before
    with KnowledgeBase(demo_copy) as kb:
        assert {r.path: r.score for r in kb.search("harbour rollback", fast=True).results} == beside


def test_openings_are_read_only_where_they_count(demo_copy: Path) -> None:
    (demo_copy / ".kbx" / "usage.jsonl").write_bytes(b"nonsense\n")
    said: list[str] = []
    with KnowledgeBase(demo_copy, notice=said.append) as kb:
        kb.search(QUERY)
        assert not said
        kb.search(QUERY, hotness=0.5)
        assert "usage.jsonl: one line cannot be read" in said[0]


def test_opening_a_document_raises_its_frecency(demo_copy: Path) -> None:
    (demo_copy / ".kbx" / "usage.jsonl").unlink(missing_ok=True)  # openings of other tests
    with KnowledgeBase(demo_copy) as kb:
        path = kb.search(QUERY).results[3].path
        assert not kb.retrieve(QUERY).frecency.any()
        kb.documents.opened(path)
        evidence = kb.retrieve(QUERY)
        row = evidence.paths.index(path)
        assert evidence.frecency[row] == pytest.approx(2 / 3, abs=1e-3)
        assert kb.rank(evidence, kb.tuning(hotness_weight=1.0)).top(1)[0].row == row


def test_vectors_are_cached_whatever_the_others_and_tried_again_after_an_error() -> None:
    embedder = open_embedder()
    vectors = QueryVectors(lambda: embedder)
    for text in ("ferry timetable", "ferry"):
        vectors.begin(text)
    np.testing.assert_array_equal(vectors.vector("ferry"), embedder.embed_query("ferry"))
    assert vectors.known("harbour") is None
    assert vectors.known("ferry timetable") is not None

    failing: Any = Failing()
    vectors = QueryVectors(lambda: failing)
    for text in ("ferry", "harbour"):
        with pytest.raises(EmbeddingError, match="cannot run"):
            vectors.vector(text)
    assert vectors.known("ferry") is None
    assert failing.calls == 1  # once for one search
    vectors.begin_search()
    assert vectors.vector("ferry").tolist() == [1.0, 1.0, 1.0]
    assert vectors.vector("ferry") is vectors.vector("ferry")
    assert failing.calls == 2

    failing = Failing()
    failing.calls = 1
    vectors = QueryVectors(lambda: failing)
    for number in range(VECTORS_KEPT + 1):
        vectors.vector(str(number))
    assert vectors.known("0") is None
    assert vectors.known(str(VECTORS_KEPT)) is not None


@pytest.mark.parametrize(("model", "at_once"), [("local", 2), ("openai/any", 1)])
def test_texts_of_the_first_search_are_embedded_at_once_unless_a_server_may_refuse(
    model: str, at_once: int
) -> None:
    embedder: Any = Meeting(model, at_once)
    vectors = QueryVectors(lambda: embedder)
    for text in ("ferry", "ferry timetable"):
        vectors.begin(text)
    for text in ("ferry", "ferry timetable"):
        vectors.vector(text)
    assert embedder.most == at_once


class Meeting:
    """A model that answers as soon as so many texts are embedded at the same time."""

    def __init__(self, model: str, texts: int) -> None:
        self.model, self._barrier, self._lock = model, Barrier(texts, timeout=20), Lock()
        self._running = self.most = 0

    def embed_query(self, text: str) -> Any:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
        self._barrier.wait()
        with self._lock:
            self._running -= 1
        return np.ones(3, np.float32)


class Failing:
    """A model that fails once."""

    model = "local"

    def __init__(self) -> None:
        self.calls = 0

    def embed_query(self, text: str) -> Any:
        self.calls += 1
        if self.calls == 1:
            raise EmbeddingError("the model cannot run")
        return np.ones(3, np.float32)


PAGE = "memory/people/alice-chen.md"


def pipe(file: Path) -> None:
    os.mkfifo(file)


def loop(file: Path) -> None:
    file.symlink_to(file.name)


def device(file: Path) -> None:
    file.symlink_to("/dev/zero")


REPLACEMENTS = [
    pytest.param(pipe, id="pipe"),
    pytest.param(loop, id="loop"),
    pytest.param(device, id="device"),
]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
@pytest.mark.parametrize("replace", REPLACEMENTS)
def test_replaced_page_is_not_read(tmp_path: Path, replace: Callable[[Path], None]) -> None:
    base = write_vault(tmp_path / "base")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        (base / PAGE).unlink()
        replace(base / PAGE)
        with pytest.raises(NotFound, match="alice-chen"):
            kb.documents.view(PAGE)
        with pytest.raises(KbxError, match="alice-chen"):
            kb.memory_add("Likes tea", entity="person:alice-chen")
        report = kb.index(fast=True)
        assert [problem.path for problem in report.problems].count(PAGE) == 1
        assert kb.search("migration", fast=True).results


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_file_that_becomes_a_pipe_while_indexing_is_a_problem(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.md")
    changes = Changes(
        hashes={"a.md": ""}, indexed={}, files={"a.md": tmp_path / "a.md"},
        added=["a.md"], changed=[], deleted=[], moved=0, problems=[],
    )  # fmt: skip
    assert _read("a.md", changes) is None
    assert [problem.reason for problem in changes.problems] == [
        "cannot be read: it is a pipe, not a regular file"
    ]


def test_loop_of_links_is_an_os_error(tmp_path: Path) -> None:
    loop(tmp_path / "a.md")
    with pytest.raises(OSError, match="loop of links"):
        locate(tmp_path, "a.md")
