"""Caches answer what was asked before, and die with what they were made from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.local import LocalEmbedder
from kbx_tui.index import store
from kbx_tui.index.lexical import text_cache
from kbx_tui.index.reader import Reader
from kbx_tui.search.frecency import USAGE_NAME
from kbx_tui.search.retrieval.entity_pass import EntityPass

QUERY = "what did grace say about the rollback"


class Counted:
    """How often two costly things were done."""

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


def test_a_query_is_embedded_and_looked_for_among_entities_once(
    kb: KnowledgeBase, counted: Counted
) -> None:
    first = kb.retrieve(QUERY)
    wordings = len({first.query, first.document_query})
    assert (counted.embedded, counted.passes) == (wordings, 1)
    again = kb.retrieve(QUERY, path="memory/meetings")
    assert (counted.embedded, counted.passes) == (wordings, 1)
    assert again.entities == first.entities
    kb.retrieve(QUERY + " plan")
    assert counted.passes == 2  # only the same query is the same


@pytest.mark.parametrize(
    ("query", "mode", "texts"),
    [
        ("what did Grace Tully say about the rollback", "two_pass", 1),
        ("what has Grace Tully been working on?", "two_pass", 1),
        ("what did grace say about the rollback", "two_pass", 2),  # no whole name
        ("how a ferry is docked", "flat", 1),
        ("how  a ferry is docked ", "flat", 1),
    ],
)
def test_a_search_embeds_what_is_left_of_a_whole_name(
    kb: KnowledgeBase, counted: Counted, query: str, mode: str, texts: int
) -> None:
    assert kb.search(query).meta.search_mode == mode
    assert counted.embedded == texts


@pytest.mark.parametrize("query", [QUERY, "what did Grace Tully and Alice say about the rollback"])
def test_evidence_for_every_ranking_embeds_two_texts(
    kb: KnowledgeBase, counted: Counted, query: str
) -> None:
    evidence = kb.retrieve(query)
    assert counted.embedded == len({evidence.query, evidence.document_query}) == 2


def test_what_is_left_of_names_is_embedded_beside_the_query_as_typed(
    kb: KnowledgeBase, counted: Counted
) -> None:
    kb.search("what did Grace Tully say about the rollback", hierarchy=False)
    assert counted.embedded == 2  # pass 1 shows whom it is about all the same


def test_an_index_just_opened_keeps_no_query_waiting(demo_copy: Path, counted: Counted) -> None:
    with KnowledgeBase(demo_copy) as kb:
        kb.search("what did Grace Tully say about the rollback")
    assert counted.embedded == 2  # as typed while names are not known yet


def test_a_new_generation_is_asked_anew(
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


def test_the_tables_are_asked_only_when_something_was_written(
    kb: KnowledgeBase, demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    versions = Reader.versions

    def counting(self: Reader) -> dict[str, int]:
        asked.append("versions")
        return versions(self)

    monkeypatch.setattr(Reader, "versions", counting)
    monkeypatch.setattr(store, "SETTLED_NS", -(10**12))  # every commit counts as long past
    kb.refresh()
    asked.clear()
    assert not kb.refresh()
    assert asked == []
    (demo_copy / "memory" / "notes" / "zebra.md").write_text("# Zebra\n", encoding="utf-8")
    kb.index(fast=True)
    assert kb.refresh()
    assert asked


def answers(folder: Path) -> list[tuple[str, float, str]]:
    with KnowledgeBase(folder) as opened:
        found = opened.search(QUERY, limit=30).results
        return [(one.path, one.score, one.snippet) for one in found]


@pytest.mark.parametrize("damage", ["missing", "cut", "of another base"])
def test_the_files_beside_the_index_may_be_lost(
    demo_copy: Path, tmp_path: Path, damage: str
) -> None:
    expected = answers(demo_copy)
    for name in (text_cache.WORDS, text_cache.BODIES, text_cache.VECTORS):
        file = demo_copy / ".kbx" / "index" / name
        assert file.is_file()
        if damage == "missing":
            file.unlink()
        elif damage == "cut":
            file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
        else:
            other = tmp_path / "other"
            (other / "memory").mkdir(parents=True, exist_ok=True)
            (other / "memory" / "one.md").write_text("# One\n\nGrace and the rollback.\n")
            with KnowledgeBase(other) as small:
                small.index()
            shutil.copyfile(other / ".kbx" / "index" / name, file)
    assert answers(demo_copy) == expected


def test_few_changes_are_read_beside_the_files_and_many_write_them_anew(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = demo_copy / ".kbx" / "index" / text_cache.WORDS
    before, page = file.read_bytes(), demo_copy / "memory" / "notes" / "zebra.md"
    page.write_text("# Zebra\n\nA zebra crossed the harbour.\n", encoding="utf-8")
    with KnowledgeBase(demo_copy) as kb:
        kb.index(fast=True)
        assert kb.search("zebra", fast=True).results[0].path == "memory/notes/zebra.md"
        assert file.read_bytes() == before
        beside = {r.path: r.score for r in kb.search("harbour rollback", fast=True).results}
        monkeypatch.setattr(text_cache, "STALE_SHARE", 0.0)
        page.write_text("# Zebra\n\nA zebra crossed the harbour.\n\n", encoding="utf-8")
        kb.index(fast=True)
        assert file.read_bytes() != before
    with KnowledgeBase(demo_copy) as kb:
        assert {r.path: r.score for r in kb.search("harbour rollback", fast=True).results} == beside


def test_an_opening_makes_a_document_hot(demo_copy: Path) -> None:
    (demo_copy / ".kbx" / USAGE_NAME).unlink(missing_ok=True)  # what other tests opened
    with KnowledgeBase(demo_copy) as kb:
        path = kb.search(QUERY).results[3].path
        assert not kb.retrieve(QUERY).hotness.any()
        kb.opened(path)
        evidence = kb.retrieve(QUERY)
        row = evidence.paths.index(path)
        assert evidence.hotness[row] == pytest.approx(2 / 3, abs=1e-3)
        assert kb.rank(evidence, kb.tuning(hotness_weight=1.0)).top(1)[0].row == row
