"""Two-pass search of a small base, with the real model and the real store."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase, NotFound, OutOfRange
from kbx_tui.api import session
from tests.functional.vaults import write_vault


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = KnowledgeBase(write_vault(tmp_path_factory.mktemp("base")))
    base.index()
    return base


def paths(kb: KnowledgeBase, query: str, **options: object) -> list[str]:
    return [r.path for r in kb.search(query, limit=50, **options).results]


def test_named_person_starts_the_second_pass(kb: KnowledgeBase) -> None:
    response = kb.search("what did Alice Chen decide about the cut over?", explain=True)
    assert response.meta.search_mode == "two_pass"
    assert response.meta.pass1_entities[0].id == "person:alice-chen"
    assert response.meta.pass1_entities[0].score == 1.0
    assert response.meta.pass1_entities[0].path == "memory/people/alice-chen.md"
    first = response.results[0]
    assert first.path == "memory/meetings/2026/03/17/go-no-go.md"
    assert first.explain is not None
    assert 0.5 < first.explain["parent_entity_score"] < 1.0  # not all of the topic is answered
    assert first.explain["entities"][0]["reason"].startswith("attendee")


@pytest.mark.parametrize(
    "name", ["alice", "Alice", "ACE", "Ace", "Alice Chen's", "alicechen", "Alise Chen"]
)
def test_person_is_found_under_many_spellings(kb: KnowledgeBase, name: str) -> None:
    response = kb.search(f"{name} on the rehearsal")
    assert response.meta.search_mode == "two_pass"
    assert response.meta.pass1_entities[0].id == "person:alice-chen"


@pytest.mark.parametrize("query", ["alice", "ACE", "who is Alice Chen?", "tell me about Alice"])
def test_query_for_a_person_alone_returns_their_page_first(kb: KnowledgeBase, query: str) -> None:
    first, *others = kb.search(query, explain=True).results
    assert (first.path, first.score) == ("memory/people/alice-chen.md", 1.0)
    assert first.explain is not None
    assert first.explain["exact"] in ("name", "title")
    assert others
    assert others[0].score < 1.0
    scoped = kb.search(query, path="memory/meetings").results
    assert scoped
    assert scoped[0].score < 1.0


@pytest.mark.parametrize("query", ["who is the head of support?", "Who is our head of support"])
def test_page_of_the_person_whose_role_is_asked_for_comes_first(
    demo_kb_path: Path, query: str
) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        first = kb.search(query, explain=True).results[0]
    assert first.explain is not None
    assert (first.path, first.explain["exact"]) == ("memory/people/ruth-castellane.md", "role")


def test_query_about_statements_of_a_person_returns_meetings_first(kb: KnowledgeBase) -> None:
    assert kb.search("what did Alice say?").results[0].path.startswith("memory/meetings/")


def test_team_is_linked_to_documents_of_its_members(kb: KnowledgeBase) -> None:
    response = kb.search("what did the Platform team decide about the database?")
    assert response.meta.pass1_entities[0].id == "team:platform"
    assert response.results[0].path == "memory/meetings/2026/03/17/go-no-go.md"


def test_name_that_occurs_only_in_frontmatter_is_searchable(kb: KnowledgeBase) -> None:
    assert "memory/meetings/2026/03/17/go-no-go.md" in paths(kb, "Chen", fast=True)


@pytest.mark.parametrize(
    "query",
    ["Migration go/no-go", "migration GO/NO-GO", "memory/meetings/2026/03/17/go-no-go.md",
     "meeting:meetings/2026/03/17/go-no-go", "what is Migration go/no-go?"],
)  # fmt: skip
def test_document_named_by_title_path_or_id_comes_first(kb: KnowledgeBase, query: str) -> None:
    first = kb.search(query).results[0]
    assert (first.path, first.score) == ("memory/meetings/2026/03/17/go-no-go.md", 1.0)


@pytest.mark.parametrize("options", [{}, {"hierarchy": False}, {"fast": True}, {"gate": "hard"}])
@pytest.mark.parametrize("path", ["memory/notes", "memory/notes/", "./memory/notes"])
def test_path_filter_applies_in_every_mode(
    kb: KnowledgeBase, options: dict[str, object], path: str
) -> None:
    found = paths(kb, "Alice rollback soup migration", path=path, **options)
    assert all(path.startswith("memory/notes/") for path in found)
    if not options.get("gate"):
        assert "memory/notes/rollbacks.md" in found


def test_vectors_find_a_document_without_a_common_word(kb: KnowledgeBase) -> None:
    assert paths(kb, "what can I eat at noon?")[0] == "memory/notes/lunch.md"


def test_one_evidence_serves_every_tuning(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("what did Alice Chen decide about the cut over?")
    for alpha in (0.0, 0.3, 1.0):
        ranking = kb.rank(evidence, kb.tuning(alpha=alpha))
        response = kb.search("what did Alice Chen decide about the cut over?", alpha=alpha)
        top = [(evidence.paths[ranked.row], round(ranked.score, 4)) for ranked in ranking.top(3)]
        assert top == [(result.path, result.score) for result in response.results[:3]]


HOSTILE = [
    "?", '"', "'", "(", "[x]", "{", "*", "\\", "%", "_", "AND OR NOT", "-", "--", "a:b", "^2", "~",
    "🦆", "会議", "\x00", "\x1b[31m", "x" * 10_000, "word " * 2_000, "the of and", "   ",
    "' OR 1=1 --", "‮", "a\nb\tc", "NaN", "null", "<script>", "$(ls)", "{{x}}",
    "half \ud83d a character",
]  # fmt: skip


@pytest.mark.parametrize("query", HOSTILE)
@pytest.mark.parametrize("fast", [False, True])
def test_any_text_is_a_valid_query(kb: KnowledgeBase, query: str, fast: bool) -> None:
    response = kb.search(query, fast=fast)
    assert response.query == query.replace("\ud83d", "?")
    assert all(0.0 <= result.score <= 1.0 for result in response.results)


def test_chinese_and_japanese_words_are_found_within_longer_text(tmp_path: Path) -> None:
    base = write_vault(tmp_path, {"memory/notes/tokyo.md": "# 報告\n\n東京の会議で決定した。\n"})
    kb = KnowledgeBase(base)
    kb.index()
    assert paths(kb, "会議", fast=True) == ["memory/notes/tokyo.md"]


def test_limit_below_1_is_rejected(kb: KnowledgeBase) -> None:
    with pytest.raises(OutOfRange, match="limit"):
        kb.search("x", limit=0)


def test_searching_an_unindexed_base_indexes_it_with_a_notice(tmp_path: Path) -> None:
    notices: list[str] = []
    kb = KnowledgeBase(write_vault(tmp_path), notice=notices.append)
    assert kb.search("soup").results
    assert "not indexed" in notices[0]


@pytest.fixture
def refresh_before_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every search check for changes of the index."""
    monkeypatch.setattr(session, "REFRESH_SECONDS", -1.0)


@pytest.mark.usefixtures("refresh_before_every_search")
@pytest.mark.parametrize("who", ["the same object", "another one"])
def test_next_search_uses_documents_added_to_the_index(tmp_path: Path, who: str) -> None:
    kb = KnowledgeBase(write_vault(tmp_path))
    kb.index()
    assert not paths(kb, "zorkmid", fast=True)
    write_vault(tmp_path, {"memory/notes/coin.md": "# Coin\n\nA zorkmid.\n"})
    (kb if who == "the same object" else KnowledgeBase(tmp_path)).index()
    assert paths(kb, "zorkmid", fast=True) == ["memory/notes/coin.md"]
    assert not kb.refresh()


@pytest.mark.usefixtures("refresh_before_every_search")
def test_index_rebuilt_in_the_same_place_is_used(tmp_path: Path) -> None:
    kb = KnowledgeBase(write_vault(tmp_path))
    kb.index()
    assert paths(kb, "soup", fast=True) == ["memory/notes/lunch.md"]
    shutil.rmtree(tmp_path / ".kbx" / "index")
    (tmp_path / "memory/notes/lunch.md").rename(tmp_path / "memory/notes/menu.md")
    KnowledgeBase(tmp_path).index()
    assert paths(kb, "soup", fast=True) == ["memory/notes/menu.md"]


def test_exact_title_comes_first_at_every_alpha(kb: KnowledgeBase) -> None:
    for alpha in (0.0, 0.5, 1.0):
        first = kb.search("Alice Chen", alpha=alpha).results[0]
        assert first.path == "memory/people/alice-chen.md"


def test_evidence_is_read_only(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("what did Alice Chen decide?")
    for array in (evidence.as_typed.lexical, evidence.links[0].rows, evidence.links[0].strengths):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize("path", [".env", ".git/config.md", "../x.md", "/etc/passwd", "kbx.toml"])
def test_only_documents_can_be_read(tmp_path: Path, path: str) -> None:
    base = write_vault(tmp_path / "base", {".env": "KEY", ".git/config.md": "x", "kbx.toml": ""})
    (tmp_path / "x.md").write_text("outside")
    with pytest.raises(NotFound):
        KnowledgeBase(base).documents.view(path)


def test_snippet_marks_the_words_and_gives_their_line(kb: KnowledgeBase) -> None:
    evidence = kb.retrieve("which error code means a failed rollback")
    row = evidence.paths.index("memory/notes/rollbacks.md")
    (snippet,) = kb.snippets(evidence, [row])
    shown = {snippet.text[start:end] for start, end in snippet.matches}
    assert {"Error", "code", "rollback"} <= shown
    assert snippet.line_start == 6
    assert dict(snippet.terms)["code"] == 1
