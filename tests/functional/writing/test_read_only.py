"""A base that is open for reading only: every method is called, and no byte below it changes."""

import inspect
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.api.documents import Documents
from kbx_tui.api.drafts import Drafts
from kbx_tui.api.entities import Entities
from kbx_tui.api.imports import Imports
from kbx_tui.api.judgments import Judgments, Preferences, Tuner
from kbx_tui.api.links import Links
from kbx_tui.api.pages import Pages
from kbx_tui.api.queries import Queries
from kbx_tui.api.similarity import Similarity
from kbx_tui.drafting.drafts import Choice, new_draft
from kbx_tui.errors import NotFound, ReadOnly, RerankerError
from kbx_tui.evaluation.blind_preferences import ShownList
from kbx_tui.evaluation.judgments import TuningSnapshots
from kbx_tui.knowledge.reading import parse_document
from kbx_tui.knowledge.redaction import PublicPage
from kbx_tui.knowledge.topics import EntityProposal
from kbx_tui.search.link_records import UnlinkedMention
from kbx_tui.search.query.typed_filters import UnfinishedFilter
from kbx_tui.search.query_history import QueryHistory
from tests.functional.vaults import tree
from tests.trusting import copy_base

QUERY = "rollback"
ALICE = "memory/people/alice-chen.md"
LISTS = ShownList((ALICE,)), ShownList(("memory/people/bob-okafor.md",))
Call = Callable[[KnowledgeBase], Any]
NAMESPACES: dict[str, type] = {
    "documents": Documents,
    "drafts": Drafts,
    "entities": Entities,
    "imports": Imports,
    "judgments": Judgments,
    "links": Links,
    "pages": Pages,
    "preferences": Preferences,
    "queries": Queries,
    "similarity": Similarity,
    "tuner": Tuner,
    "tuner.snapshots": TuningSnapshots,
}


def drafts() -> list[Any]:
    return [new_draft("Prefers green tea.", entity_id="person:alice-chen", is_guessed=False)]


def decided(kb: KnowledgeBase) -> list[Any]:
    stored = kb.drafts.stored()
    assert stored[0].choice is not None
    return list(stored)


def mention(kb: KnowledgeBase) -> UnlinkedMention:
    found: UnlinkedMention = next(
        mention
        for path in kb.documents.paths()
        for mention in kb.links.of(path).mentions
        if mention.path != path
    )
    return found


def fact_id(kb: KnowledgeBase) -> int:
    number: int = kb.entities.facts(entity="person:alice-chen")[0].fact_id
    return number


WRITES: dict[str, Call] = {
    "index": lambda kb: kb.index(),
    "publishing": lambda kb: kb.publishing().__enter__(),
    "add_vectors": lambda kb: kb.add_vectors(),
    "links.link": lambda kb: kb.links.link(mention(kb), ALICE),
    "memory_add": lambda kb: kb.memory_add("Drinks tea at noon.", entity="Alice Chen", force=True),
    "pages.add_fact": lambda kb: kb.pages.add_fact("Drinks tea.", entity="Alice Chen", force=True),
    "edit_fact": lambda kb: kb.edit_fact(fact_id(kb), "Quite another text."),
    "pages.reword_fact": lambda kb: kb.pages.reword_fact(
        fact_id(kb), "Quite another text.", force=True
    ),
    "pages.delete_fact": lambda kb: kb.pages.delete_fact(fact_id(kb)),
    "pages.supersede_fact": lambda kb: kb.pages.supersede_fact(fact_id(kb)),
    "pages.create": lambda kb: kb.pages.create("Somebody New"),
    "pages.correct_name": lambda kb: kb.pages.correct_name("Thursday", "Friday"),
    "pages.merge": lambda kb: kb.pages.merge("Alice Chen", "Bob Okafor"),
    "pages.edit": lambda kb: kb.pages.edit("Alice Chen", {"role": "Captain"}),
    "imports.apply": lambda kb: kb.imports.apply(kb.imports.plan([kb.root / "talk.srt"])),
    "imports.export_okf": lambda kb: kb.imports.export_okf(kb.root / "export"),
    "undo": lambda kb: kb.undo(),
    "drafts.save": lambda kb: kb.drafts.save(drafts()),
    "drafts.apply": lambda kb: kb.drafts.apply(kb.drafts.plan(decided(kb))),
    "drafts.propose": lambda kb: kb.drafts.propose(drafts()[0]),
    "drafts.keep": lambda kb: kb.drafts.keep(kb.drafts.scan()[0]),
    "drafts.label": lambda kb: kb.drafts.label("one text", "another text", True),
    "judgments.add": lambda kb: kb.judgments.add(QUERY, ALICE, 3),
    "judgments.undo": lambda kb: kb.judgments.undo(),
    "preferences.add": lambda kb: kb.preferences.add(QUERY, *LISTS, "first"),
    "preferences.undo": lambda kb: kb.preferences.undo(),
    "judgments.import_file": lambda kb: kb.judgments.import_file(
        kb.root / "grades.qrels", form="qrels"
    ),
    "judgments.export_file": lambda kb: kb.judgments.export_file(kb.root / "out.qrels"),
    "tuner.save": lambda kb: kb.tuner.save(kb.tuning(alpha=0.123)),
    "change_setting": lambda kb: kb.change_setting("search.hierarchy_alpha", "0.321"),
    "entities.use": lambda kb: kb.entities.use(EntityProposal(9, {}, {"tags": 3}, {"tags": 3})),
    "tuner.mute_documents": lambda kb: kb.tuner.mute_documents([ALICE]),
    "tuner.take_snapshot": lambda kb: kb.tuner.take_snapshot(kb.tuning(alpha=0.2)),
    "tuner.snapshots.add": lambda kb: kb.tuner.snapshots.add(kb.tuner.snapshots.read()[0]),
    "tuner.snapshots.remove": lambda kb: kb.tuner.snapshots.remove(kb.tuner.snapshots.read()[0]),
    "queries.forget": lambda kb: kb.queries.forget(),
    "queries.save": lambda kb: kb.queries.save("other", "migration"),
    "queries.remove": lambda kb: kb.queries.remove("mine"),
    "queries.restore": lambda kb: kb.queries.restore(kb.queries.find("mine")),
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
    "documents.opened": lambda kb: kb.documents.opened(ALICE),  # records nothing
    "queries.open": lambda kb: kb.queries.open("mine", QUERY),  # notes nothing
    "reading": lambda kb: kb.reading().__enter__(),
    "noting": lambda kb: kb.noting().__enter__(),
    "watch": ended_watch,
    "search": lambda kb: kb.search(QUERY, explain=True),
    "retrieve": lambda kb: kb.retrieve(QUERY),
    "rank": ranking,
    "documents.facets": lambda kb: kb.documents.facets(ranking(kb)),
    "links.most_linked": lambda kb: kb.links.most_linked(ranking(kb)),
    "rerank": lambda kb: kb.rerank(ranking(kb)),
    "begin_reranking": lambda kb: kb.begin_reranking(ranking(kb)),
    "try_reranker": no_reranker,
    "snippets": lambda kb: kb.snippets(kb.retrieve(QUERY), [0, 1]),
    "documents.view": lambda kb: kb.documents.view(ALICE),
    "entities.timeline": lambda kb: kb.entities.timeline("person:alice-chen"),
    "links.require_kept": lambda kb: kb.links.require_kept(ALICE, b"# Alice", b"# Alice"),
    "entities.card": lambda kb: kb.entities.card("person:alice-chen"),
    "entities.stale": lambda kb: kb.entities.stale(30),
    "entities.named": lambda kb: kb.entities.named("Alice Chen"),
    "entities.find": lambda kb: kb.entities.find("ali"),
    "entities.resolve": lambda kb: kb.entities.resolve("Alice Chen"),
    "related": lambda kb: kb.related(ALICE),
    "links.related": lambda kb: kb.links.related(ALICE, 3),
    "documents.chosen": lambda kb: kb.documents.chosen(ranking(kb)),
    "documents.find": lambda kb: kb.documents.find("rollback"),
    "links.follow": lambda kb: kb.links.follow("Alice Chen", ALICE),
    "links.of": lambda kb: kb.links.of(ALICE),
    "links.sources": lambda kb: kb.links.sources(ALICE),
    "links.redirected": lambda kb: kb.links.redirected(
        ALICE, b"# A\n", "memory/a.md", kb.entities.resolve("Bob Okafor"), ()
    ),
    "links.require_same": lambda kb: kb.links.require_same(
        *[parse_document(path, b"# A\n") for path in ("memory/a.md", ALICE, ALICE)]
    ),
    "links.require_own_names": lambda kb: kb.links.require_own_names(
        *map(kb.entities.resolve, ("Alice Chen", "Bob Okafor"))
    ),
    "links.orphans": lambda kb: kb.links.orphans("memory"),
    "links.obsidian_address": lambda kb: kb.links.obsidian_address(ALICE),
    "documents.complete_path": lambda kb: kb.documents.complete_path("memory/"),
    "documents.complete_filter": lambda kb: kb.documents.complete_filter(
        UnfinishedFilter("type", "", "", is_quoted=False)
    ),
    "documents.complete_query": lambda kb: kb.documents.complete_query("roll"),
    "documents.require_scope": lambda kb: kb.documents.require_scope(["note"], "memory/people"),
    "documents.count_scope": lambda kb: kb.documents.count_scope("memory/people"),
    "documents.in_scope": lambda kb: kb.documents.in_scope("memory/people"),
    "documents.ids": lambda kb: kb.documents.ids([ALICE]),
    "documents.identify": lambda kb: kb.documents.identify("person:alice-chen"),
    "documents.listed": lambda kb: kb.documents.listed("memory", "rollback", limit=5),
    "documents.paths_of": lambda kb: kb.documents.paths_of([ALICE]),
    "documents.changed": lambda kb: kb.documents.changed([ALICE]),
    "documents.may_hide": lambda kb: kb.documents.may_hide(ALICE),
    "documents.index_changed": lambda kb: kb.documents.index_changed([ALICE], wait=False),
    "documents.chunk_lines": lambda kb: kb.documents.chunk_lines([ALICE]),
    "documents.read": lambda kb: kb.documents.read(ALICE),
    "documents.public_page": lambda kb: kb.documents.public_page(ALICE),
    "documents.is_redacted": lambda kb: kb.documents.is_redacted(ALICE, "a text"),
    "documents.is_as_indexed": lambda kb: kb.documents.is_as_indexed(
        PublicPage(ALICE, b"", frozenset())
    ),
    "documents.named_in": lambda kb: list(kb.documents.named_in("Alice Chen wrote this")),
    "experts": lambda kb: kb.experts(QUERY),
    "similarity.pairs": lambda kb: kb.similarity.pairs([("drinks tea", "drinks green tea")]),
    "memory_similar": lambda kb: kb.memory_similar("prefers tea"),
    "similarity.has_similar": lambda kb: kb.similarity.has_similar("prefers tea", None, None, None),
    "similarity.field": lambda kb: kb.similarity.field("Alice Chen", "role", "captain"),
    "similarity.judge": lambda kb: kb.similarity.judge([("drinks tea", "drinks green tea")]),
    "similarity.check": lambda kb: kb.similarity.check(["prefers tea"]),
    "has_similar": lambda kb: kb.has_similar("prefers tea"),
    "entity_similar_field": lambda kb: kb.entity_similar_field("Alice Chen", "role", "captain"),
    "drafts.scan_duplicates": lambda kb: kb.drafts.scan_duplicates(entity="person:alice-chen"),
    "pages.fact": lambda kb: kb.pages.fact(fact_id(kb)),
    "imports.plan": lambda kb: kb.imports.plan([kb.root / "talk.srt"]),
    "drafts.in_file": lambda kb: kb.drafts.in_file("talk.srt"),
    "drafts.check": lambda kb: kb.drafts.check(drafts()),
    "drafts.scan": lambda kb: kb.drafts.scan(entity="person:alice-chen"),
    "drafts.plan": lambda kb: kb.drafts.plan(drafts()),
    "judgments.grades": lambda kb: kb.judgments.grades(QUERY),
    "preferences.count": lambda kb: kb.preferences.count(kb.tuning(), kb.tuning(alpha=0.1)),
    "judgments.evaluate": lambda kb: kb.judgments.evaluate(kb.judgments.queries()),
    "judgments.sweep": lambda kb: kb.judgments.sweep(kb.judgments.queries(), "alpha"),
    "tuner.judged_evidence": lambda kb: kb.tuner.judged_evidence(kb.judgments.queries()),
    "tuner.advise": lambda kb: None,  # it measures kept evidence, and does no I/O
    "tuner.first_results": lambda kb: kb.tuner.first_results([QUERY]),
    "tuner.observe_thresholds": lambda kb: kb.tuner.observe_thresholds([QUERY]),
    "queries.find": lambda kb: kb.queries.find("mine"),
    "why_not": lambda kb: kb.why_not(QUERY, ALICE),
    "close": lambda kb: kb.close(),
}
"""All other methods that need arguments, each of which answers; those without are called, too."""


@pytest.fixture(scope="module")
def used_base(demo_kb_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the demo with something to undo, to take back, to apply and to import.

    It has none of the caches that a reader would write.
    """
    folder = tmp_path_factory.mktemp("read-only")
    root = copy_base(demo_kb_path, folder / "written")
    with KnowledgeBase(root) as kb:
        kb.memory_add("Keeps bees on the roof.", entity="Alice Chen", force=True)
        kb.judgments.add(QUERY, ALICE, 2)
        kb.preferences.add(QUERY, *LISTS, "second")
        kb.tuner.take_snapshot(kb.tuning())
        kb.queries.save("mine", QUERY)
        kb.drafts.save([replace(draft, choice=Choice("create")) for draft in drafts()])
        kb.documents.opened(ALICE)
        QueryHistory(root).add(QUERY)
    (root / "talk.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nBob: we roll back\n")
    (root / "grades.qrels").write_text(f"rollback 0 {ALICE} 1\n")
    edited = root / "memory/people/bob-okafor.md"
    edited.write_bytes(edited.read_bytes() + b"\n- edited after it was indexed\n")
    caches = shutil.ignore_patterns("VERIFIED", "file-hashes.json")
    return copy_base(root, folder / "larkwater", ignore=caches)


def public_methods() -> dict[str, bool]:
    """Return whether each method of a base and its namespaces can be called without arguments."""
    return {
        f"{namespace}.{name}".removeprefix("."): all(
            parameter.default is not parameter.empty or parameter.kind is parameter.VAR_KEYWORD
            for parameter in list(inspect.signature(member).parameters.values())[1:]
        )
        for namespace, owner in {"": KnowledgeBase, **NAMESPACES}.items()
        for name, member in vars(owner).items()
        if not name.startswith("_") and inspect.isfunction(member)
    }


def test_every_public_method_is_known_to_write_or_not() -> None:
    needs_arguments = {name for name, is_simple in public_methods().items() if not is_simple}
    assert needs_arguments <= WRITES.keys() | READS.keys() <= public_methods().keys()
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
        for name, is_simple in public_methods().items():
            if name in READS:
                READS[name](kb)
            elif is_simple and name not in WRITES:
                attrgetter(name)(kb)()
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
