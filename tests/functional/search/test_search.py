"""The two passes on a small base, with the real model and the real store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound, OutOfRange
from kbx_tui.api import opened
from tests.functional.vaults import write_vault


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = KnowledgeBase(write_vault(tmp_path_factory.mktemp("base")))
    base.index()
    return base


def paths(kb: KnowledgeBase, query: str, **options: object) -> list[str]:
    return [r.path for r in kb.search(query, limit=50, **options).results]


def test_a_named_person_opens_the_second_pass(kb: KnowledgeBase) -> None:
    response = kb.search("what did Alice Chen decide about the cut over?", explain=True)
    assert response.meta.search_mode == "two_pass"
    assert response.meta.pass1_entities[0].id == "person:alice-chen"
    assert response.meta.pass1_entities[0].score == 1.0
    assert response.meta.pass1_entities[0].path == "memory/people/alice-chen.md"
    first = response.results[0]
    assert first.path == "memory/meetings/2026/03/17/go-no-go.md"
    assert first.explain is not None
    assert first.explain["parent_entity_score"] == 1.0
    assert first.explain["entities"][0]["reason"].startswith("attendee")


@pytest.mark.parametrize(
    "name", ["alice", "Alice", "ACE", "Ace", "Alice Chen's", "alicechen", "Alise Chen"]
)
def test_a_person_is_found_under_many_spellings(kb: KnowledgeBase, name: str) -> None:
    response = kb.search(f"{name} on the rehearsal")
    assert response.meta.search_mode == "two_pass"
    assert response.meta.pass1_entities[0].id == "person:alice-chen"


@pytest.mark.parametrize("query", ["alice", "ACE", "who is Alice Chen?", "tell me about Alice"])
def test_who_is_all_that_is_asked_for_has_their_page_first(kb: KnowledgeBase, query: str) -> None:
    first, *others = kb.search(query, explain=True).results
    assert (first.path, first.score) == ("memory/people/alice-chen.md", 1.0)
    assert first.explain is not None
    assert first.explain["exact"] in ("name", "title")
    assert others
    assert others[0].score < 1.0
    scoped = kb.search(query, path="memory/meetings").results
    assert scoped
    assert scoped[0].score < 1.0


def test_what_someone_said_is_not_asked_of_their_page(kb: KnowledgeBase) -> None:
    assert kb.search("what did Alice say?").results[0].path.startswith("memory/meetings/")


def test_a_pure_topic_falls_back_with_a_reason(kb: KnowledgeBase) -> None:
    meta = kb.search("how do deployment rollbacks work?").meta
    assert meta.search_mode == "flat"
    assert meta.search_mode_reason in ("no_entities", "below_threshold")


def test_a_team_reaches_the_documents_of_its_members(kb: KnowledgeBase) -> None:
    response = kb.search("what did the Platform team decide about the database?")
    assert response.meta.pass1_entities[0].id == "team:platform"
    assert response.results[0].path == "memory/meetings/2026/03/17/go-no-go.md"


def test_a_name_that_stands_only_in_frontmatter_is_searchable_text(kb: KnowledgeBase) -> None:
    assert "memory/meetings/2026/03/17/go-no-go.md" in paths(kb, "Chen", fast=True)


@pytest.mark.parametrize(
    "query",
    ["Migration go/no-go", "migration GO/NO-GO", "memory/meetings/2026/03/17/go-no-go.md",
     "meeting:meetings/2026/03/17/go-no-go", "what is Migration go/no-go?"],
)  # fmt: skip
def test_an_exact_title_path_or_id_comes_first(kb: KnowledgeBase, query: str) -> None:
    first = kb.search(query).results[0]
    assert (first.path, first.score) == ("memory/meetings/2026/03/17/go-no-go.md", 1.0)


@pytest.mark.parametrize("options", [{}, {"hierarchy": False}, {"fast": True}, {"gate": "hard"}])
@pytest.mark.parametrize("path", ["memory/notes", "memory/notes/", "./memory/notes"])
def test_a_path_holds_in_every_mode(
    kb: KnowledgeBase, options: dict[str, object], path: str
) -> None:
    found = paths(kb, "Alice rollback soup migration", path=path, **options)
    assert all(one.startswith("memory/notes/") for one in found)
    if not options.get("gate"):
        assert "memory/notes/rollbacks.md" in found


def test_scores_do_not_depend_on_the_filter(kb: KnowledgeBase) -> None:
    query = "rollback of a release"
    everywhere = {r.path: r.score for r in kb.search(query, limit=50).results}
    inside = {r.path: r.score for r in kb.search(query, limit=50, path="memory/notes").results}
    assert inside and inside.items() <= everywhere.items()


def test_explain_tells_for_each_pipeline_how_the_path_was_applied(kb: KnowledgeBase) -> None:
    explain = kb.search("rollback", path="memory/notes", explain=True).meta.explain
    assert explain is not None
    assert "memory/notes/" in explain["lexical"]["where"]
    assert explain["path"] == "memory/notes"
    assert (explain["lexical"]["filter"], explain["vector"]["filter"]) == ("prefilter", "prefilter")
    assert explain["vector"]["where"] == explain["lexical"]["where"]
    assert explain["lexical"]["in_scope"] == explain["vector"]["in_scope"] == 2


def test_types_limit_what_is_returned(kb: KnowledgeBase) -> None:
    found = paths(kb, "migration", doc_types=["meeting"])
    assert found == ["memory/meetings/2026/03/17/go-no-go.md"]


def test_meaning_finds_what_shares_no_word(kb: KnowledgeBase) -> None:
    assert paths(kb, "what can I eat at noon?")[0] == "memory/notes/lunch.md"


def test_one_evidence_serves_every_tuning(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("what did Alice Chen decide about the cut over?")
    for alpha in (0.0, 0.3, 1.0):
        ranking = kb.rank(evidence, kb.tuning(alpha=alpha))
        response = kb.search("what did Alice Chen decide about the cut over?", alpha=alpha)
        shown = [(evidence.paths[one.row], round(one.score, 4)) for one in ranking.top(3)]
        assert shown == [(result.path, result.score) for result in response.results[:3]]


HOSTILE = [
    "?", '"', "'", "(", "[x]", "{", "*", "\\", "%", "_", "AND OR NOT", "-", "--", "a:b", "^2", "~",
    "🦆", "会議", "\x00", "\x1b[31m", "x" * 10_000, "word " * 2_000, "the of and", "   ",
    "' OR 1=1 --", "‮", "a\nb\tc", "NaN", "null", "<script>", "$(ls)", "{{x}}",
    "half \ud83d a character",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("fast", [False, True])
def test_any_text_is_a_query(kb: KnowledgeBase, query: str, fast: bool) -> None:
    response = kb.search(query, fast=fast)
    assert response.query == query.replace("\ud83d", "?")
    assert all(0.0 <= result.score <= 1.0 for result in response.results)


def test_chinese_and_japanese_words_are_found_inside_a_run(tmp_path: Path) -> None:
    base = write_vault(tmp_path, {"memory/notes/tokyo.md": "# 報告\n\n東京の会議で決定した。\n"})
    kb = KnowledgeBase(base)
    kb.index()
    assert paths(kb, "会議", fast=True) == ["memory/notes/tokyo.md"]


def test_a_limit_below_one_is_refused(kb: KnowledgeBase) -> None:
    with pytest.raises(OutOfRange, match="limit"):
        kb.search("x", limit=0)


def test_an_unindexed_base_is_indexed_on_the_way_and_says_so(tmp_path: Path) -> None:
    heard: list[str] = []
    kb = KnowledgeBase(write_vault(tmp_path), notice=heard.append)
    assert kb.search("soup").results
    assert "not indexed" in heard[0]


@pytest.fixture
def looking_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a search look for what others indexed, however soon it comes after the last one."""
    monkeypatch.setattr(opened, "REFRESH_SECONDS", -1.0)


@pytest.mark.usefixtures("looking_each_time")
@pytest.mark.parametrize("who", ["the same object", "another one"])
def test_an_index_that_grows_is_seen_by_the_next_search(tmp_path: Path, who: str) -> None:
    kb = KnowledgeBase(write_vault(tmp_path))
    kb.index()
    assert not paths(kb, "zorkmid", fast=True)
    write_vault(tmp_path, {"memory/notes/coin.md": "# Coin\n\nA zorkmid.\n"})
    (kb if who == "the same object" else KnowledgeBase(tmp_path)).index()
    assert paths(kb, "zorkmid", fast=True) == ["memory/notes/coin.md"]
    assert not kb.refresh()


@pytest.mark.usefixtures("looking_each_time")
def test_an_index_made_anew_in_the_same_place_is_noticed(tmp_path: Path) -> None:
    kb = KnowledgeBase(write_vault(tmp_path))
    kb.index()
    assert paths(kb, "soup", fast=True) == ["memory/notes/lunch.md"]
    shutil.rmtree(tmp_path / ".kbx" / "index")
    (tmp_path / "memory/notes/lunch.md").rename(tmp_path / "memory/notes/menu.md")
    KnowledgeBase(tmp_path).index()
    assert paths(kb, "soup", fast=True) == ["memory/notes/menu.md"]


def test_an_exact_title_comes_first_at_every_alpha(kb: KnowledgeBase) -> None:
    for alpha in (0.0, 0.5, 1.0):
        first = kb.search("Alice Chen", alpha=alpha).results[0]
        assert first.path == "memory/people/alice-chen.md"


def test_evidence_cannot_be_written_to(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("what did Alice Chen decide?")
    for array in (evidence.as_typed.lexical, evidence.links[0].rows, evidence.links[0].strengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("path", [".env", ".git/config.md", "../x.md", "/etc/passwd", "kbx.toml"])
def test_only_documents_can_be_read(tmp_path: Path, path: str) -> None:
    base = write_vault(tmp_path / "base", {".env": "KEY", ".git/config.md": "x", "kbx.toml": ""})
    (tmp_path / "x.md").write_text("outside")
    with pytest.raises(NotFound):
        KnowledgeBase(base).document(path)


def test_a_snippet_shows_the_words_and_where_they_stand(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("which error code means a failed rollback")
    row = evidence.paths.index("memory/notes/rollbacks.md")
    (snippet,) = kb.snippets(evidence, [row])
    shown = {snippet.text[start:end] for start, end in snippet.matches}
    assert {"Error", "code", "rollback"} <= shown
    assert snippet.line_start == 6
    assert dict(snippet.terms)["code"] == 1
