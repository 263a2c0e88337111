"""A base that is open for reading only: every method is called, and no byte below it changes."""

from __future__ import annotations

import inspect
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.drafting.drafts import Choice, new_draft
from kbx_tui.errors import NotFound, ReadOnly, RerankerError
from kbx_tui.evaluation.blind_preferences import ShownList
from kbx_tui.knowledge.topics import EntityProposal
from kbx_tui.search.link_records import UnlinkedMention
from kbx_tui.search.query.filters import UnfinishedFilter
from kbx_tui.search.query_history import QueryHistory
from tests.functional.vaults import tree

QUERY = "rollback"
ALICE = "memory/people/alice-chen.md"
LISTS = ShownList((ALICE,)), ShownList(("memory/people/bob-okafor.md",))
Call = Callable[[KnowledgeBase], Any]


def drafts() -> list[Any]:
    return [new_draft("Prefers green tea.", entity_id="person:alice-chen", is_guessed=False)]


def decided(kb: KnowledgeBase) -> list[Any]:
    stored = kb.drafts()
    assert stored[0].choice is not None
    return list(stored)


def mention(kb: KnowledgeBase) -> UnlinkedMention:
    found: UnlinkedMention = next(
        mention
        for path in kb.document_paths()
        for mention in kb.links(path).mentions
        if mention.path != path
    )
    return found


def fact_id(kb: KnowledgeBase) -> int:
    number: int = kb.facts(entity="person:alice-chen")[0].fact_id
    return number


WRITES: dict[str, Call] = {
    "index": lambda kb: kb.index(),
    "publishing": lambda kb: kb.publishing().__enter__(),
    "add_vectors": lambda kb: kb.add_vectors(),
    "link_mention": lambda kb: kb.link_mention(mention(kb), ALICE),
    "memory_add": lambda kb: kb.memory_add("Drinks tea at noon.", entity="Alice Chen", force=True),
    "edit_fact": lambda kb: kb.edit_fact(fact_id(kb), "Quite another text."),
    "reword_fact": lambda kb: kb.reword_fact(fact_id(kb), "Quite another text.", force=True),
    "delete_fact": lambda kb: kb.delete_fact(fact_id(kb)),
    "supersede_fact": lambda kb: kb.supersede_fact(fact_id(kb)),
    "create_page": lambda kb: kb.create_page("Somebody New"),
    "edit_page": lambda kb: kb.edit_page("Alice Chen", {"role": "Captain"}),
    "apply_import": lambda kb: kb.apply_import(kb.plan_import([kb.root / "talk.srt"])),
    "export_okf": lambda kb: kb.export_okf(kb.root / "export"),
    "undo": lambda kb: kb.undo(),
    "save_drafts": lambda kb: kb.save_drafts(drafts()),
    "apply": lambda kb: kb.apply(kb.plan(decided(kb))),
    "keep_duplicates": lambda kb: kb.keep_duplicates(kb.scan_drafts()[0]),
    "label": lambda kb: kb.label("one text", "another text", True),
    "judge": lambda kb: kb.judge(QUERY, ALICE, 3),
    "undo_judgment": lambda kb: kb.undo_judgment(),
    "prefer": lambda kb: kb.prefer(QUERY, *LISTS, "first"),
    "undo_preference": lambda kb: kb.undo_preference(),
    "import_judgments": lambda kb: kb.import_judgments(kb.root / "grades.qrels", form="qrels"),
    "export_judgments": lambda kb: kb.export_judgments(kb.root / "out.qrels"),
    "save_tuning": lambda kb: kb.save_tuning(kb.tuning(alpha=0.123)),
    "change_setting": lambda kb: kb.change_setting("search.hierarchy_alpha", "0.321"),
    "use_entities": lambda kb: kb.use_entities(EntityProposal(9, {"tags": 3}, {"tags": True})),
    "mute_documents": lambda kb: kb.mute_documents([ALICE]),
    "take_tuning_snapshot": lambda kb: kb.take_tuning_snapshot(kb.tuning(alpha=0.2)),
    "remove_tuning_snapshot": lambda kb: kb.remove_tuning_snapshot(kb.tuning_snapshots()[0]),
    "restore_tuning_snapshot": lambda kb: kb.restore_tuning_snapshot(kb.tuning_snapshots()[0]),
    "clear_query_history": lambda kb: kb.clear_query_history(),
    "save_query": lambda kb: kb.save_query("other", "migration"),
    "remove_saved_query": lambda kb: kb.remove_saved_query("mine"),
    "restore_saved_query": lambda kb: kb.restore_saved_query(kb.saved_query("mine")),
}
"""The methods that write, each refused."""


def ranking(kb: KnowledgeBase, **changes: Any) -> Any:
    return kb.rank(kb.retrieve(QUERY), kb.tuning(**changes))


def ended_watch(kb: KnowledgeBase) -> None:
    stopped = threading.Event()
    stopped.set()
    kb.watch(lambda paths: None, stopped=stopped)


def no_reranker(kb: KnowledgeBase) -> None:
    with pytest.raises(RerankerError):
        kb.try_reranker(str(kb.root))


READS: dict[str, Call] = {
    "opened": lambda kb: kb.opened(ALICE),  # records nothing
    "open_saved_query": lambda kb: kb.open_saved_query("mine", QUERY),  # notes nothing
    "finish_interrupted": lambda kb: kb.finish_interrupted(),
    "noting": lambda kb: kb.noting().__enter__(),
    "is_indexed": lambda kb: kb.is_indexed(),
    "index_question": lambda kb: kb.index_question(),
    "refresh": lambda kb: kb.refresh(),
    "warm": lambda kb: kb.warm(),
    "watch": ended_watch,
    "count_newer_files": lambda kb: kb.count_newer_files(),
    "entities_outdated": lambda kb: kb.entities_outdated(),
    "naming_newer_files": lambda kb: kb.naming_newer_files().__enter__(),
    "status": lambda kb: kb.status(),
    "overview": lambda kb: kb.overview(),
    "index_summary": lambda kb: kb.index_summary(),
    "notes": lambda kb: kb.notes(),
    "check": lambda kb: kb.check(),
    "tuning": lambda kb: kb.tuning(),
    "search": lambda kb: kb.search(QUERY, explain=True),
    "retrieve": lambda kb: kb.retrieve(QUERY),
    "rank": ranking,
    "facets": lambda kb: kb.facets(ranking(kb)),
    "most_linked": lambda kb: kb.most_linked(ranking(kb)),
    "rerank": lambda kb: kb.rerank(ranking(kb)),
    "begin_reranking": lambda kb: kb.begin_reranking(ranking(kb)),
    "try_reranker": no_reranker,
    "explain": lambda kb: kb.explain(ranking(kb), ranking(kb).top(1)[0]),
    "alpha_note": lambda kb: kb.alpha_note(ranking(kb)),
    "next_changes": lambda kb: kb.next_changes(ranking(kb)),
    "swap_points": lambda kb: kb.swap_points(ranking(kb)),
    "matches": lambda kb: kb.matches(kb.retrieve(QUERY), "a rollback"),
    "snippets": lambda kb: kb.snippets(kb.retrieve(QUERY), [0, 1]),
    "document": lambda kb: kb.document(ALICE),
    "entity": lambda kb: kb.entity("person:alice-chen"),
    "named_entity": lambda kb: kb.named_entity("Alice Chen"),
    "find_entities": lambda kb: kb.find_entities("ali"),
    "contents": lambda kb: kb.contents(),
    "find_documents": lambda kb: kb.find_documents("rollback"),
    "follow": lambda kb: kb.follow("Alice Chen", ALICE),
    "links": lambda kb: kb.links(ALICE),
    "broken_links": lambda kb: kb.broken_links(),
    "link_overview": lambda kb: kb.link_overview(),
    "obsidian_address": lambda kb: kb.obsidian_address(ALICE),
    "complete_path": lambda kb: kb.complete_path("memory/"),
    "complete_filter": lambda kb: kb.complete_filter(
        UnfinishedFilter("type", "", "", is_quoted=False)
    ),
    "complete_query": lambda kb: kb.complete_query("roll"),
    "count_scope": lambda kb: kb.count_scope("memory/people"),
    "document_paths": lambda kb: kb.document_paths(),
    "titles": lambda kb: kb.titles(),
    "paths_in_scope": lambda kb: kb.paths_in_scope("memory/people"),
    "document_kinds": lambda kb: kb.document_kinds(),
    "document_ids": lambda kb: kb.document_ids([ALICE]),
    "identify": lambda kb: kb.identify("person:alice-chen"),
    "list_documents": lambda kb: kb.list_documents(0, 5),
    "stored_documents": lambda kb: kb.stored_documents([ALICE]),
    "documents_containing": lambda kb: kb.documents_containing("rollback"),
    "chunk_lines": lambda kb: kb.chunk_lines([ALICE]),
    "read_document": lambda kb: kb.read_document(ALICE),
    "public_page": lambda kb: kb.public_page(ALICE),
    "is_redacted": lambda kb: kb.is_redacted(ALICE, "a text"),
    "is_as_indexed": lambda kb: kb.is_as_indexed(kb.public_page(ALICE)),
    "paths_of_kind": lambda kb: list(kb.paths_of_kind("person")),
    "named_in": lambda kb: list(kb.named_in("Alice Chen wrote this")),
    "experts": lambda kb: kb.experts(QUERY),
    "pair_similarity": lambda kb: kb.pair_similarity([("drinks tea", "drinks green tea")]),
    "memory_similar": lambda kb: kb.memory_similar("prefers tea"),
    "check_similar": lambda kb: kb.check_similar(["prefers tea"]),
    "has_similar": lambda kb: kb.has_similar("prefers tea"),
    "entity_similar_field": lambda kb: kb.entity_similar_field("Alice Chen", "role", "captain"),
    "scan_duplicates": lambda kb: kb.scan_duplicates(entity="person:alice-chen"),
    "fact": lambda kb: kb.fact(fact_id(kb)),
    "facts": lambda kb: kb.facts(),
    "plan_import": lambda kb: kb.plan_import([kb.root / "talk.srt"]),
    "undoable": lambda kb: kb.undoable(),
    "drafts": lambda kb: kb.drafts(),
    "drafts_in": lambda kb: kb.drafts_in("talk.srt"),
    "check_drafts": lambda kb: kb.check_drafts(drafts()),
    "scan_drafts": lambda kb: kb.scan_drafts(entity="person:alice-chen"),
    "kept_duplicates": lambda kb: kb.kept_duplicates(),
    "decide": lambda kb: kb.decide(kb.check_drafts(drafts())[0]),
    "difference": lambda kb: kb.difference("drinks tea", "drinks coffee"),
    "merged_text": lambda kb: None,  # pure
    "plan": lambda kb: kb.plan(drafts()),
    "labelled": lambda kb: kb.labelled(),
    "measure": lambda kb: kb.measure(kb.labelled(), 0.8),
    "grades": lambda kb: kb.grades(QUERY),
    "judgments": lambda kb: kb.judgments(),
    "preferences": lambda kb: kb.preferences(),
    "count_preferences": lambda kb: kb.count_preferences(kb.tuning(), kb.tuning(alpha=0.1)),
    "evaluate": lambda kb: kb.evaluate(kb.judgments()),
    "sweep": lambda kb: kb.sweep(kb.judgments(), "alpha"),
    "judged_evidence": lambda kb: kb.judged_evidence(kb.judgments()),
    "tune": lambda kb: None,  # it measures kept evidence, and does no I/O
    "reread_settings": lambda kb: kb.reread_settings(),
    "entity_proposal": lambda kb: kb.entity_proposal(),
    "first_results": lambda kb: kb.first_results([QUERY]),
    "observe_thresholds": lambda kb: kb.observe_thresholds([QUERY]),
    "tuning_snapshots": lambda kb: kb.tuning_snapshots(),
    "query_history": lambda kb: kb.query_history(),
    "saved_queries": lambda kb: kb.saved_queries(),
    "saved_query": lambda kb: kb.saved_query("mine"),
    "compare": lambda kb: kb.compare(ranking(kb), ranking(kb, alpha=0.1)),
    "explain_pair": lambda kb: kb.explain_pair(ranking(kb), *ranking(kb).best(2).tolist()),
    "why_not": lambda kb: kb.why_not(QUERY, ALICE),
    "close": lambda kb: kb.close(),
}
"""All other methods, each of which answers."""


@pytest.fixture(scope="module")
def used_base(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo with something to undo, to take back, to apply and to import.

    It has none of the caches that a reader would write.
    """
    folder = tmp_path_factory.mktemp("read-only")
    root = shutil.copytree(demo_kb_path, folder / "written")
    with KnowledgeBase(root) as kb:
        kb.memory_add("Keeps bees on the roof.", entity="Alice Chen", force=True)
        kb.judge(QUERY, ALICE, 2)
        kb.prefer(QUERY, *LISTS, "second")
        kb.take_tuning_snapshot(kb.tuning())
        kb.save_query("mine", QUERY)
        kb.save_drafts([replace(draft, choice=Choice("create")) for draft in drafts()])
        kb.opened(ALICE)
        QueryHistory(root).add(QUERY)
    (root / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nBob: we roll back\n")
    (root / "grades.qrels").write_text(f"rollback 0 {ALICE} 1\n")
    edited = root / "memory/people/bob-okafor.md"
    edited.write_bytes(edited.read_bytes() + b"\n- edited after it was indexed\n")
    caches = shutil.ignore_patterns("VERIFIED", "file-hashes.json")
    return shutil.copytree(root, folder / "larkwater", ignore=caches)


def test_every_public_method_is_known_to_write_or_not() -> None:
    public = {
        name
        for name, member in vars(KnowledgeBase).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }
    assert public == WRITES.keys() | READS.keys()
    assert not WRITES.keys() & READS.keys()


def test_methods_that_write_are_refused_and_nothing_changes(used_base: Path) -> None:
    before = tree(used_base)
    with KnowledgeBase(used_base, read_only=True) as kb:
        assert kb.read_only
        for name, call in WRITES.items():
            with pytest.raises(ReadOnly, match=r"^the knowledge base is open for reading only"):
                call(kb)
            assert tree(used_base) == before, name


def test_methods_that_read_answer_and_nothing_changes(used_base: Path) -> None:
    before = tree(used_base)
    with KnowledgeBase(used_base, read_only=True) as kb:
        for name, call in READS.items():
            call(kb)
            assert tree(used_base) == before, name


def test_base_without_an_index_stays_without_one(fresh_demo: Path) -> None:
    before = tree(fresh_demo)
    with KnowledgeBase(fresh_demo, read_only=True) as kb:
        with pytest.raises(ReadOnly, match="no index"):
            kb.search(QUERY)
        with pytest.raises(NotFound):
            kb.retrieve(QUERY)
        assert kb.status().documents == 0
    assert tree(fresh_demo) == before
