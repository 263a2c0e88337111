"""Indexing follows the files by content, with the real model and the real store."""

from __future__ import annotations

from pathlib import Path

import pytest

from kbx_tui import IndexForeign, KnowledgeBase, Progress
from kbx_tui.index.build.text_stage import stored_entities
from kbx_tui.index.store import TABLES, Store, index_uri
from tests.functional.vaults import BOB, FILES, tree_digest, write_vault


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write_vault(tmp_path / "base")


def found(base: Path, query: str) -> list[str]:
    return [result.path for result in KnowledgeBase(base).search(query, limit=50).results]


def rows(base: Path, name: str) -> list[str]:
    kb = KnowledgeBase(base)
    store = Store(index_uri(base, kb.settings))
    columns = [c for c in store.table(name).schema.names if c != "vector"]
    values = store.rows(name, columns).to_pylist()
    return sorted(str(one) for one in values if one.get("key") != "indexed_at")


def test_a_run_counts_what_it_found(base: Path) -> None:
    report = KnowledgeBase(base).index()
    assert (report.documents, report.added) == (5, 5)
    assert report.facts == 4
    assert {"person:alice-chen", "person:bob-okafor", "team:platform"} <= {
        line.split("'")[3] for line in rows(base, "entities")
    }
    assert report.embedded == report.vectors > report.chunks
    assert report.finished and not report.problems


def test_indexing_never_writes_a_users_file(base: Path) -> None:
    before = tree_digest(base)
    kb = KnowledgeBase(base)
    kb.index()
    kb.search("migration")
    kb.index(full=True)
    kb.status()
    assert tree_digest(base) == before
    assert (base / ".kbx" / ".gitignore").read_text() == "*\n"


def test_an_unchanged_run_writes_nothing(base: Path) -> None:
    first = KnowledgeBase(base).index()
    again = KnowledgeBase(base).index()
    assert (again.added, again.changed, again.deleted, again.embedded) == (0, 0, 0, 0)
    assert again.generation == first.generation


def test_an_edit_embeds_only_what_changed(base: Path) -> None:
    KnowledgeBase(base).index()
    page = base / "memory/notes/lunch.md"
    page.write_text(page.read_text() + "\n## Friday\n\nFish and the zorkmid special.\n")
    report = KnowledgeBase(base).index()
    assert (report.changed, report.added) == (1, 0)
    assert 1 <= report.embedded <= 2
    assert found(base, "zorkmid")[0] == "memory/notes/lunch.md"


def test_a_moved_file_embeds_nothing(base: Path) -> None:
    KnowledgeBase(base).index()
    (base / "memory/notes/lunch.md").rename(base / "memory/notes/menu.md")
    report = KnowledgeBase(base).index()
    assert (report.moved, report.added, report.deleted, report.embedded) == (1, 0, 0, 0)
    assert "memory/notes/menu.md" in found(base, "soup")
    assert "memory/notes/lunch.md" not in found(base, "soup")


def test_a_deleted_file_is_gone_from_every_table(base: Path) -> None:
    KnowledgeBase(base).index()
    (base / "memory/people/bob-okafor.md").unlink()
    KnowledgeBase(base).index()
    for name in ("documents", "chunks", "entities", "facts", "links"):
        assert not [row for row in rows(base, name) if "bob-okafor" in row], name


def test_two_files_that_swap_their_content_keep_both(base: Path) -> None:
    KnowledgeBase(base).index()
    one, two = base / "memory/notes/lunch.md", base / "memory/notes/rollbacks.md"
    lunch, rollbacks = one.read_text(), two.read_text()
    one.write_text(rollbacks)
    two.write_text(lunch)
    report = KnowledgeBase(base).index()
    assert (report.changed, report.embedded) == (2, 0)
    assert found(base, "soup")[0] == "memory/notes/rollbacks.md"


@pytest.mark.parametrize("order", ["forwards", "backwards"])
def test_many_small_runs_end_like_one(tmp_path: Path, order: str) -> None:
    whole = write_vault(tmp_path / "whole")
    KnowledgeBase(whole).index()
    grown = tmp_path / "grown"
    files = list(FILES.items())
    for path, text in files if order == "forwards" else reversed(files):
        write_vault(grown, {path: text})
        KnowledgeBase(grown).index()
    for name in TABLES:
        assert rows(whole, name) == rows(grown, name), name


def test_a_new_alias_links_documents_that_did_not_change(base: Path) -> None:
    write_vault(base, {"memory/notes/gossip.md": "# Gossip\n\nThe Wizard fixed the pipeline.\n"})
    KnowledgeBase(base).index()
    assert not [row for row in rows(base, "links") if "gossip" in row and "bob" in row]
    write_vault(
        base, {"memory/people/bob-okafor.md": BOB.replace("role:", "aliases: [The Wizard]\nrole:")}
    )
    KnowledgeBase(base).index()
    assert [row for row in rows(base, "links") if "gossip" in row and "bob" in row]


def test_text_comes_first_and_is_searchable_before_any_vector(base: Path) -> None:
    report = KnowledgeBase(base).index(fast=True)
    assert (report.vectors, report.embedded) == (0, 0)
    response = KnowledgeBase(base).search("rollback")
    assert response.results[0].path == "memory/notes/rollbacks.md"
    assert response.meta.vector_share == 0.0
    assert "meaning 0%" in response.meta.notes[0]


def test_a_cancelled_run_can_be_searched_and_continued(base: Path) -> None:
    asked = 0

    def after_the_text() -> bool:
        nonlocal asked
        asked += 1
        return asked > 2

    stopped = KnowledgeBase(base).index(cancelled=after_the_text)
    assert not stopped.finished
    assert found(base, "rollback")
    assert KnowledgeBase(base).index().finished
    assert KnowledgeBase(base).search("rollback").meta.vector_share == 1.0


def test_progress_goes_through_the_stages_and_says_when_one_can_search(base: Path) -> None:
    heard: list[Progress] = []
    KnowledgeBase(base).index(heard.append)
    stages = list(dict.fromkeys(one.stage for one in heard))
    assert stages == ["reading", "entities", "text index", "chunks", "vectors"]
    assert [one.searchable for one in heard] == sorted(one.searchable for one in heard)
    assert heard[-1].done == heard[-1].total > 0


def test_another_schema_version_is_explained_never_mixed(base: Path) -> None:
    kb = KnowledgeBase(base)
    kb.index()
    store = Store(index_uri(base, kb.settings))
    store.write_meta({**store.meta(), "schema_version": 999})
    for action in (kb.index, lambda: KnowledgeBase(base).search("x"), kb.status):
        with pytest.raises(IndexForeign, match="kbx index --full"):
            action()
    assert kb.index(full=True).documents == 5


def test_another_model_is_explained_never_mixed(base: Path) -> None:
    kb = KnowledgeBase(base)
    kb.index()
    store = Store(index_uri(base, kb.settings))
    store.write_meta({**store.meta(), "model": "someone/else"})
    for action in (kb.index, lambda: KnowledgeBase(base).search("x")):
        with pytest.raises(IndexForeign, match="someone/else"):
            action()
    assert KnowledgeBase(base).search("soup", fast=True).results
    assert kb.index(full=True).embedded > 0


def test_a_full_run_keeps_vectors_of_the_same_model(base: Path) -> None:
    KnowledgeBase(base).index()
    report = KnowledgeBase(base).index(full=True)
    assert (report.embedded, report.finished) == (0, True)
    assert report.reused > 0


def test_a_damaged_index_is_one_sentence_and_full_repairs_it(base: Path) -> None:
    KnowledgeBase(base).index()
    for manifest in (base / ".kbx/index/documents.lance/_versions").iterdir():
        manifest.write_bytes(b"")
    from kbx_tui import IndexFault

    with pytest.raises(IndexFault, match="kbx index --full"):
        KnowledgeBase(base).search("soup")
    KnowledgeBase(base).index(full=True)
    assert found(base, "soup")


def test_an_empty_base_indexes_and_finds_nothing(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    report = KnowledgeBase(tmp_path).index()
    assert (report.documents, report.vectors, report.finished) == (0, 0, True)
    assert KnowledgeBase(tmp_path).search("anything").results == ()


def test_changing_which_kinds_are_entities_reads_the_pages_again(base: Path) -> None:
    write_vault(base, {"memory/boats/heron.md": "---\ntype: boat\n---\n# Heron\n\nA ferry.\n"})
    KnowledgeBase(base).index()
    assert not [row for row in rows(base, "entities") if "boat:heron" in row]
    (base / "kbx.toml").write_text('[entities]\ntypes = ["boat"]\n')
    report = KnowledgeBase(base).index()
    assert report.embedded <= 2
    assert [row for row in rows(base, "entities") if "boat:heron" in row]


def test_entities_with_emails_do_not_link_everything_anew(base: Path) -> None:
    write_vault(
        base, {"memory/people/bob-okafor.md": BOB.replace("role:", "email: b@x.org\nrole:")}
    )
    kb = KnowledgeBase(base)
    kb.index()
    store = Store(index_uri(base, kb.settings))
    assert [entity.emails for entity in stored_entities(store) if entity.emails] == [("b@x.org",)]
    heard: list[Progress] = []
    write_vault(base, {"memory/notes/new.md": "# New\n\nSomething.\n"})
    KnowledgeBase(base).index(heard.append)
    assert next(one.total for one in heard if one.stage == "entities") == 1


def test_the_index_may_lie_elsewhere(base: Path, tmp_path: Path) -> None:
    for number, uri in enumerate((str(tmp_path / "elsewhere"), "own/place")):
        (base / "kbx.toml").write_text(f'[index]\nuri = "{uri}"\n')
        assert KnowledgeBase(base).index().documents == 5
        assert (base / uri / "documents.lance").is_dir(), number
    assert not (base / ".kbx" / "index").exists()
    assert found(base, "soup")
