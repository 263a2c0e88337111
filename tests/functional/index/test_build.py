"""Index runs follow the content of the files, with the real model and store."""

from pathlib import Path

import pytest

from kbx_tui import IndexForeign, KnowledgeBase, Progress
from kbx_tui.index.index_folder import index_uri
from kbx_tui.index.index_status import IndexOverview
from kbx_tui.index.snapshot import read_snapshot, stored_entities
from kbx_tui.index.store import Store
from kbx_tui.index.tables import TEXT_RULES
from kbx_tui.index.vectors.vector_matrix import read_chunk_lines
from kbx_tui.removal import INDEX_TABLES
from kbx_tui.search.query_history import PastQuery, QueryHistory
from kbx_tui.tools.dispatch import call
from tests.functional.vaults import BOB, FILES, store_of, stored_rows, tree_digest, write_vault


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_vault(tmp_path / "base")


def search(base: Path, query: str) -> list[str]:
    """Return the paths of the results, best first."""
    return [result.path for result in KnowledgeBase(base).search(query, limit=50).results]


def test_the_report_counts_what_was_indexed(base: Path) -> None:
    report = KnowledgeBase(base).index()
    assert (report.documents, report.added) == (5, 5)
    assert report.facts == 4
    assert {"person:alice-chen", "person:bob-okafor", "team:platform"} <= {
        line.split("'")[3] for line in stored_rows(base, "entities")
    }
    assert report.embedded == report.vectors > report.chunks
    assert report.finished and not report.problems


def test_indexing_leaves_the_users_files_untouched(base: Path) -> None:
    before = tree_digest(base)
    kb = KnowledgeBase(base)
    kb.index()
    kb.search("migration")
    kb.index(full=True)
    kb.status()
    assert tree_digest(base) == before
    assert (base / ".kbx" / ".gitignore").read_text() == "*\n"


def test_a_run_embeds_what_changed_and_forgets_what_is_gone(base: Path) -> None:
    first = KnowledgeBase(base).index()
    again = KnowledgeBase(base).index()
    assert (again.added, again.changed, again.deleted, again.embedded) == (0, 0, 0, 0)
    assert again.generation == first.generation

    KnowledgeBase(base).index()
    page = base / "memory/notes/lunch.md"
    page.write_text(page.read_text() + "\n## Friday\n\nFish and the zorkmid special.\n")
    report = KnowledgeBase(base).index()
    assert (report.changed, report.added) == (1, 0)
    assert 1 <= report.embedded <= 2
    assert search(base, "zorkmid")[0] == "memory/notes/lunch.md"

    KnowledgeBase(base).index()
    (base / "memory/notes/lunch.md").rename(base / "memory/notes/menu.md")
    report = KnowledgeBase(base).index()
    assert (report.moved, report.added, report.deleted, report.embedded) == (1, 0, 0, 0)
    assert "memory/notes/menu.md" in search(base, "soup")
    assert "memory/notes/lunch.md" not in search(base, "soup")

    KnowledgeBase(base).index()
    (base / "memory/people/bob-okafor.md").unlink()
    KnowledgeBase(base).index()
    for name in ("documents", "chunks", "entities", "facts", "links"):
        assert not [row for row in stored_rows(base, name) if "bob-okafor" in row], name


def test_documents_that_were_opened_or_found_get_vectors_first(tmp_path: Path) -> None:
    names = {f"n{number}.md": f"Remark {number}.\n" for number in range(9)}
    head = "---\ndate: 2026-01-01\ntitle: Day\n---\n"
    days = {f"d{number:03}.md": f"{head}Entry {number}\n" for number in range(300)}
    base = write_vault(tmp_path / "base", days | names)
    kb = KnowledgeBase(base)
    kb.index(fast=True)
    kb.documents.opened("n3.md")
    QueryHistory(base).add(PastQuery("remark", first=("n7.md",)))
    embedded = 0

    def note(progress: Progress) -> None:
        nonlocal embedded
        embedded = progress.done if progress.stage == "vectors" else 0

    report = kb.index(note, cancelled=lambda: embedded > 0)
    assert not report.finished
    store = store_of(base)
    hash_of = store.mapping("chunks", "path", "text_hash")
    hashes = set(store.rows("vectors", ["text_hash"])["text_hash"].to_pylist())
    assert {path for path in names if hash_of[path] in hashes} == {"n3.md", "n7.md"}


def test_files_with_swapped_content_are_indexed_without_embedding(base: Path) -> None:
    KnowledgeBase(base).index()
    lunch, rollbacks = base / "memory/notes/lunch.md", base / "memory/notes/rollbacks.md"
    lunch_text, rollbacks_text = lunch.read_text(), rollbacks.read_text()
    lunch.write_text(rollbacks_text)
    rollbacks.write_text(lunch_text)
    report = KnowledgeBase(base).index()
    assert (report.changed, report.embedded) == (2, 0)
    assert search(base, "soup")[0] == "memory/notes/rollbacks.md"


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_incremental_runs_give_the_same_tables_as_one_run(tmp_path: Path, order: str) -> None:
    complete = write_vault(tmp_path / "complete")
    KnowledgeBase(complete).index()
    incremental = tmp_path / "incremental"
    files = list(FILES.items())
    for path, text in files if order == "forwards" else reversed(files):
        write_vault(incremental, {path: text})
        KnowledgeBase(incremental).index()
    for name in INDEX_TABLES:
        assert stored_rows(complete, name) == stored_rows(incremental, name), name


def test_a_new_alias_links_documents_that_did_not_change(base: Path) -> None:
    write_vault(base, {"memory/notes/gossip.md": "# Gossip\n\nThe Wizard fixed the pipeline.\n"})
    KnowledgeBase(base).index()
    assert not [row for row in stored_rows(base, "links") if "gossip" in row and "bob" in row]
    write_vault(
        base, {"memory/people/bob-okafor.md": BOB.replace("role:", "aliases: [The Wizard]\nrole:")}
    )
    KnowledgeBase(base).index()
    assert [row for row in stored_rows(base, "links") if "gossip" in row and "bob" in row]


def test_progress_reports_each_stage_and_when_text_is_searchable(base: Path) -> None:
    reports: list[Progress] = []
    KnowledgeBase(base).index(reports.append)
    stages = list(dict.fromkeys(report.stage for report in reports))
    assert stages == ["reading", "entities", "text index", "chunks", "vectors"]
    assert [report.searchable for report in reports] == sorted(
        report.searchable for report in reports
    )
    assert reports[-1].done == reports[-1].total > 0


def test_an_index_of_another_version_schema_or_model_is_an_error_until_rebuilt(base: Path) -> None:
    kb = KnowledgeBase(base)
    kb.index()
    store = store_of(base)
    store.write_meta({**store.meta(), "schema_version": 999})
    for action in (kb.index, lambda: KnowledgeBase(base).search("x"), kb.status):
        with pytest.raises(IndexForeign, match="kbx index --full"):
            action()
    assert kb.index(full=True).documents == 5

    KnowledgeBase(base).index()
    store = store_of(base)
    store.write_meta({**store.meta(), "schema_version": 1})
    with pytest.raises(IndexForeign, match=r"schema version 1, .* needs 5: run `kbx index --full`"):
        KnowledgeBase(base).search("soup")
    report = KnowledgeBase(base).index()
    assert report.embedded == 0
    assert "an older version of this program" in report.repaired[0]
    assert KnowledgeBase(base).check(read_data=True).sound

    kb = KnowledgeBase(base)
    kb.index()
    store = store_of(base)
    store.write_meta({**store.meta(), "model": "someone/else"})
    for action in (kb.index, lambda: KnowledgeBase(base).search("x")):
        with pytest.raises(IndexForeign, match="someone/else"):
            action()
    assert KnowledgeBase(base).search("soup", fast=True).results
    assert kb.index(full=True).embedded > 0


def test_an_empty_base_can_be_indexed_and_has_no_results(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    report = KnowledgeBase(tmp_path).index()
    assert (report.documents, report.vectors, report.finished) == (0, 0, True)
    assert KnowledgeBase(tmp_path).search("anything").results == ()


def test_changing_the_entity_types_reads_pages_again(base: Path) -> None:
    write_vault(base, {"memory/boats/heron.md": "---\ntype: boat\n---\n# Heron\n\nA ferry.\n"})
    KnowledgeBase(base).index()
    assert not [row for row in stored_rows(base, "entities") if "boat:heron" in row]
    (base / "kbx.toml").write_text('[entities]\ntypes = ["boat"]\n')
    report = KnowledgeBase(base).index()
    assert report.embedded <= 2
    assert [row for row in stored_rows(base, "entities") if "boat:heron" in row]


def test_an_index_of_older_text_rules_is_rebuilt_with_its_vectors(base: Path) -> None:
    first = KnowledgeBase(base).index()
    store = store_of(base)
    store.write_meta({**store.meta(), "text_rules": 5})
    write_vault(base, {"memory/notes/new.md": "# New\n\nSomething.\n"})
    KnowledgeBase(base).index(fast=True)
    assert store_of(base).meta()["text_rules"] == 5
    report = KnowledgeBase(base).index()
    assert report.repaired == (
        "an older version of this program read the texts in the index; it has been rebuilt",
    )
    assert (report.documents, report.reused) == (6, first.vectors)
    assert store_of(base).meta()["text_rules"] == TEXT_RULES
    assert KnowledgeBase(base).index().repaired == ()


def test_entities_with_emails_do_not_cause_all_documents_to_be_linked_again(base: Path) -> None:
    write_vault(
        base, {"memory/people/bob-okafor.md": BOB.replace("role:", "email: b@x.org\nrole:")}
    )
    kb = KnowledgeBase(base)
    kb.index()
    store = store_of(base)
    assert [entity.emails for entity in stored_entities(store) if entity.emails] == [("b@x.org",)]
    reports: list[Progress] = []
    write_vault(base, {"memory/notes/new.md": "# New\n\nSomething.\n"})
    KnowledgeBase(base).index(reports.append)
    assert next(report.total for report in reports if report.stage == "entities") == 1


def test_lines_are_those_of_the_table(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        store = Store(index_uri(kb.root, kb.settings))
        rows = store.rows("chunks", ["path", "ordinal", "line_start", "line_end"]).to_pylist()
        expected: dict[str, list[tuple[int, int]]] = {}
        for row in sorted(rows, key=lambda row: (row["path"], row["ordinal"])):
            expected.setdefault(row["path"], []).append((row["line_start"], row["line_end"]))
        assert len(rows) > len(expected) > 50
        assert kb.documents.chunk_lines([*expected, "memory/unknown.md"]) == expected


def test_a_changed_document_has_no_new_lines_in_an_older_snapshot(demo_copy: Path) -> None:
    with KnowledgeBase(demo_copy) as kb:
        store = Store(index_uri(kb.root, kb.settings))
        before = read_snapshot(store)
        changed, other = before.paths[3], before.paths[4]
        own = kb.documents.chunk_lines([changed])[changed]
        file = demo_copy / changed
        file.write_text(file.read_text(encoding="utf-8") + "\nOne more line.\n", encoding="utf-8")
        kb.index()
        lines = read_chunk_lines(Store(index_uri(kb.root, kb.settings)), before)
        assert lines.of(before.row_of[changed]) == own
        assert lines.of(before.row_of[other]) == kb.documents.chunk_lines([other])[other]
        assert kb.documents.chunk_lines([changed])[changed]


def test_a_further_search_of_an_agent_reads_no_table(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with KnowledgeBase(demo_copy) as kb:
        call(kb, "kb_search", {"query": "rollback plan"})
        reads: list[str] = []
        open_table = Store.table

        def note(store: Store, name: str) -> object:
            reads.append(name)
            return open_table(store, name)

        monkeypatch.setattr(Store, "table", note)
        answer = call(kb, "kb_search", {"query": "who signs off the migration"})
        assert answer["data"]["results"]
        assert reads == []


def test_overview_agrees_with_the_status(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "kb")
    (root / "memory/notes/odd.md").write_text("---\ndate: [x\n---\n# Odd\n", encoding="utf-8")
    with KnowledgeBase(root) as kb:
        before = kb.overview()
        assert (before.documents, len(before.stale)) == ((), len(kb.status().stale))
        kb.index(fast=True)
        overview = kb.overview()
        assert overview.stale == ()
        assert {path for path, _ in overview.unembedded} == set(overview.documents)
        kb.index()
        (root / "memory/notes/odd.md").write_text("# Odd\n", encoding="utf-8")
        (root / "memory/notes/new.md").write_text("# New\n", encoding="utf-8")
        overview, status = kb.overview(), kb.status()
        assert overview.stale == status.stale
        assert overview.problems == status.problems
        assert overview.vector_share == status.vector_share
        assert [problem.path for problem in overview.problems] == ["memory/notes/odd.md"]
        assert tuple(kb.documents.paths()) == overview.documents
        assert kb.documents.in_scope("memory/people")
    assert isinstance(overview, IndexOverview)
