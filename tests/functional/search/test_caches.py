"""Caches serve repeated queries and are discarded with their index generation."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.embedding.local import LocalEmbedder
from kbx_tui.index import derived_files
from kbx_tui.index.lexical.postings import WORDS
from kbx_tui.removal import DERIVED_FILES
from kbx_tui.search.retrieval.entity_pass import EntityPass

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
    ("query", "mode", "texts"),
    [
        ("what did Grace Tully say about the rollback", "two_pass", 1),
        ("what has Grace Tully been working on?", "two_pass", 1),
        ("what did grace say about the rollback", "two_pass", 2),  # no full name
        ("how a ferry is docked", "flat", 1),
        ("how  a ferry is docked ", "flat", 1),
    ],
)
def test_search_embeds_only_the_query_without_the_full_name(
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


def test_flat_search_embeds_both_query_variants(kb: KnowledgeBase, counted: Counted) -> None:
    kb.search("what did Grace Tully say about the rollback", hierarchy=False)
    assert counted.embedded == 2  # pass 1 still reports the entities


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


@pytest.mark.parametrize("damage", ["missing", "cut", "of another base"])
def test_derived_files_may_be_missing_or_damaged(
    demo_copy: Path, tmp_path: Path, damage: str
) -> None:
    expected = results_of(demo_copy)
    files = (demo_copy / ".kbx" / "index" / name for name in DERIVED_FILES)
    for file in [file for file in files if file.exists()]:
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
