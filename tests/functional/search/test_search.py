"""Two-pass search of a small base, with the real model and the real store."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from kbx_tui import KnowledgeBase, NotFound, OutOfRange
from kbx_tui.api import session
from kbx_tui.config import SearchSettings, Settings
from kbx_tui.errors import ConfigError
from kbx_tui.search.request import SearchRequest
from tests.functional.vaults import index_vault, write_vault
from tests.functional.zettelkasten import NOTES, write_zettelkasten


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    return KnowledgeBase(index_vault(tmp_path_factory.mktemp("base")))


def test_who_is_never_surely_answered_by_a_page_that_names_nobody(kb: KnowledgeBase) -> None:
    def first(query: str) -> tuple[str, float]:
        result = kb.search(query).results[0]
        return result.title, result.score

    assert first("lunch menu bread") == ("Lunch menu", 1.0)
    assert first("who cooks the lunch menu")[1] < 1.0
    assert first("who is the lunch menu")[1] < 1.0


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


def test_people_teams_and_meaning_find_documents_without_the_words(kb: KnowledgeBase) -> None:
    assert kb.search("what did Alice say?").results[0].path.startswith("memory/meetings/")
    response = kb.search("what did the Platform team decide about the database?")
    assert response.meta.pass1_entities[0].id == "team:platform"
    assert response.results[0].path == "memory/meetings/2026/03/17/go-no-go.md"
    assert "memory/meetings/2026/03/17/go-no-go.md" in paths(kb, "Chen", fast=True)
    assert paths(kb, "what can I eat at noon?")[0] == "memory/notes/lunch.md"


@pytest.mark.parametrize(
    "query",
    ["Migration go/no-go", "migration GO/NO-GO", "memory/meetings/2026/03/17/go-no-go.md",
     "meeting:meetings/2026/03/17/go-no-go", "what is Migration go/no-go?"],
)  # fmt: skip
def test_document_named_by_title_path_or_id_comes_first(kb: KnowledgeBase, query: str) -> None:
    first = kb.search(query).results[0]
    assert (first.path, first.score) == ("memory/meetings/2026/03/17/go-no-go.md", 1.0)


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


@pytest.fixture
def refresh_before_every_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every search check for changes of the index."""
    monkeypatch.setattr(session, "REFRESH_SECONDS", -1.0)


@pytest.mark.usefixtures("refresh_before_every_search")
@pytest.mark.parametrize("who", ["the same object", "another one"])
def test_next_search_uses_documents_added_to_the_index(tmp_path: Path, who: str) -> None:
    kb = KnowledgeBase(index_vault(tmp_path))
    assert not paths(kb, "zorkmid", fast=True)
    write_vault(tmp_path, {"memory/notes/coin.md": "# Coin\n\nA zorkmid.\n"})
    (kb if who == "the same object" else KnowledgeBase(tmp_path)).index()
    assert paths(kb, "zorkmid", fast=True) == ["memory/notes/coin.md"]
    assert not kb.refresh()


@pytest.mark.usefixtures("refresh_before_every_search")
def test_index_rebuilt_in_the_same_place_is_used(tmp_path: Path) -> None:
    kb = KnowledgeBase(index_vault(tmp_path))
    assert paths(kb, "soup", fast=True) == ["memory/notes/lunch.md"]
    shutil.rmtree(tmp_path / ".kbx" / "index")
    (tmp_path / "memory/notes/lunch.md").rename(tmp_path / "memory/notes/menu.md")
    KnowledgeBase(tmp_path).index()
    assert paths(kb, "soup", fast=True) == ["memory/notes/menu.md"]


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


def test_a_page_that_is_gone_has_no_snippet_even_when_no_page_is_left(tmp_path: Path) -> None:
    base = index_vault(tmp_path / "base", {"memory/notes/tea.md": "# Tea\n\nGreen.\n"}, fast=True)
    with KnowledgeBase(base) as kb:
        evidence = kb.retrieve("tea")
        (base / "memory/notes/tea.md").unlink()
        kb.index(fast=True)
        assert [snippet.text for snippet in kb.snippets(evidence, [0])] == [""]


LINKED = ["Evergreen notes", "Folgezettel", "Index cards", "Rye bread", "Raised beds"]
"""Notes that others link to by their name."""


@pytest.fixture(scope="module")
def titles_kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = KnowledgeBase(write_zettelkasten(tmp_path_factory.mktemp("vault")))
    base.index()
    return base


def titles(titles_kb: KnowledgeBase, query: str, *, fast: bool = False) -> list[str]:
    return [result.title for result in titles_kb.search(query, limit=5, fast=fast).results]


@pytest.mark.parametrize("fast", [False, True], ids=["with-meaning", "fast"])
@pytest.mark.parametrize(
    "query", ["zettelkasten", "Zettelkasten-Method", "method zettelkasten", "the zettelkasten"]
)
def test_a_note_comes_before_those_that_link_to_it(
    titles_kb: KnowledgeBase, query: str, fast: bool
) -> None:
    assert len(NOTES) == 40
    assert titles(titles_kb, query, fast=fast)[0] == "Zettelkasten method"


@pytest.mark.parametrize("fast", [False, True], ids=["with-meaning", "fast"])
def test_the_words_of_a_title_find_its_note_first(titles_kb: KnowledgeBase, fast: bool) -> None:
    for title in LINKED:
        backwards = " ".join(reversed(title.lower().split()))
        assert titles(titles_kb, backwards, fast=fast)[0] == title
        assert titles(titles_kb, f"{title}?", fast=fast)[0] == title


def test_a_title_counts_the_same_as_heading_frontmatter_or_file_name(tmp_path: Path) -> None:
    text = "Fifty grams of rye flour and fifty of water, every day at the same hour."
    files = {
        "memory/notes/starter.md": f"# Sourdough starter\n\n{text}\n",
        "memory/notes/sourdough.md": f"---\ntitle: Sourdough starter\n---\n{text}\n",
        "memory/notes/Sourdough starter.md": f"{text}\n",
    }
    titles_kb = KnowledgeBase(index_vault(tmp_path / "base", files))
    results = titles_kb.search("how is a sourdough starter fed?", explain=True).results
    assert len(results) == 3
    explanations = [result.explain or {} for result in results]
    for part in ("fts_score", "cosine"):
        assert len({round(explanation[part], 3) for explanation in explanations}) == 1, part


@pytest.mark.parametrize(
    "query", ["Rosa Vidal on Harbour", "what did Rosa Vidal change in Harbour?"]
)
def test_a_note_of_person_and_project_comes_before_those_of_the_project_alone(
    tmp_path: Path, query: str
) -> None:
    files = {
        "memory/people/rosa-vidal.md": "---\ntype: person\n---\n# Rosa Vidal\n",
        "memory/projects/harbour.md": "---\ntype: project\n---\n# Harbour\n",
        "memory/notes/valve.md": "# Valve\n\nIt no longer sticks. (Rosa Vidal)\n\nHarbour.\n",
        "memory/notes/lamp.md": "# Lamp\n\nA new lamp for the office. (Rosa Vidal)\n",
    } | {
        f"memory/notes/{n}.md": (
            f"# Harbour step {n}\n\nHarbour changes: the Harbour gate {n}.\n"
            if n < 30
            else f"# Garden {n}\n\nWater the beds of row {n} at noon.\n"
        )
        for n in range(60)
    }
    with KnowledgeBase(index_vault(tmp_path / "base", files, fast=True)) as base:
        first, second, *_ = base.search(query, doc_types=("note",), explain=True).results
    assert first.title == "Valve"
    assert second.explain is not None
    assert second.explain["lowered_reason"] == "not of Rosa Vidal: × .10"


def test_words_of_a_file_name_and_of_properties_find_a_note(tmp_path: Path) -> None:
    files = {
        "memory/notes/vendor-shortlist.md": "# Ideas\n\nThree names to call.\n",
        "memory/notes/b.md": (
            "---\nsummary: lighthouse keepers\nstage: [dormant, 12]\nshop_id: keeper\n---\nText.\n"
        ),
    }
    with KnowledgeBase(index_vault(tmp_path / "base", files, fast=True)) as titles_kb:
        for query, title in [
            ("shortlisted vendors", "Ideas"),
            ("a lighthouse keeper", "b"),
            ("dormant", "b"),
        ]:
            assert titles(titles_kb, query, fast=True) == [title]


TRANSCRIPT = "memory/meetings/2026/03/17/migration-go-no-go.transcript.md"


@pytest.mark.parametrize("fast", [False, True], ids=["with-meaning", "fast"])
@pytest.mark.parametrize(
    "query",
    [
        "what did the platform team decide about the migration?",
        "what was decided about the migration?",
        "What the platform team decided",
    ],
)
def test_reading_begins_below_the_heading_that_answers(
    demo_kb_path: Path, query: str, fast: bool
) -> None:
    results = KnowledgeBase(demo_kb_path).search(query, fast=fast).results
    (result,) = [result for result in results if result.path == TRANSCRIPT]
    lines = (demo_kb_path / TRANSCRIPT).read_text(encoding="utf-8").split("\n")
    assert result.snippet.startswith("- Go for the Migration: cut-over on Thursday")
    assert lines[result.line - 3] == "## What the platform team decided"


def test_passage_is_the_same_at_every_search(demo_kb_path: Path) -> None:
    places = set()
    for _ in range(2):
        with KnowledgeBase(demo_kb_path) as kb:
            results = kb.search("rollback rehearsal").results
            places.add(tuple((result.path, result.line, result.snippet) for result in results))
    assert len(places) == 1


QUESTION = "what did Alice Chen decide about rollbacks"
TOPIC = "how do we roll the cut-over back?"
SEED = Settings(search=SearchSettings(hierarchy_preset="seed"))


@pytest.mark.parametrize("query", [QUESTION, TOPIC])
def test_preset_of_a_search_equals_that_of_the_settings(demo_kb_path: Path, query: str) -> None:
    with KnowledgeBase(demo_kb_path) as kb, KnowledgeBase(demo_kb_path, settings=SEED) as seed:
        assert kb.search(query, preset="seed").results == seed.search(query).results
        assert kb.search(query).results == seed.search(query, preset="default").results
        assert kb.search(query).results != seed.search(query).results


def test_preset_decides_on_feedback_and_ranks_with_the_knobs_given(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        by_seed, plain = kb.retrieve(TOPIC, preset="seed"), kb.retrieve(TOPIC, feedback=0.0)
        np.testing.assert_array_equal(by_seed.as_typed.cosine, plain.as_typed.cosine)
        response = kb.search(QUESTION, preset="seed", gate="soft", explain=True)
        assert response.meta.explain is not None
        assert (response.meta.explain["preset"], response.meta.explain["gate"]) == ("seed", "soft")
        assert kb.tuning("seed", alpha=0.2).preset == "seed"


def test_unknown_preset_is_refused() -> None:
    with pytest.raises(ConfigError, match="preset must be default or seed, got 'best'"):
        SearchRequest("a", preset="best")


def test_topic_that_few_or_no_documents_mention_is_noted(demo_kb_path: Path) -> None:
    with KnowledgeBase(demo_kb_path) as kb:
        response = kb.search("Alice Chen zebra")
    note = "no document says anything about “zebra”; these are linked to Alice Chen"
    assert note in response.meta.notes
    assert {result.score for result in response.results} == {0.0}
    assert any("meetings" in result.path for result in response.results)

    with KnowledgeBase(demo_kb_path) as kb:
        response = kb.search("Castellane complaints")
        evidence = kb.retrieve("Castellane complaints")
        order = [evidence.paths[row] for row in kb.rank(evidence).best(10)]
    note = "only 2 documents match “complaints”; the others are linked to Ruth"
    assert any(note in said for said in response.meta.notes)
    assert [result.score > 0.0 for result in response.results] == [True] * 2 + [False] * 8
    assert response.results[2].path == "memory/people/ruth-castellane.md"
    assert [result.path for result in response.results] == order


@pytest.fixture(scope="module")
def demo(demo_kb_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(demo_kb_path) as demo:
        yield demo


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("migr", "migration"),
        ("migrati", "migration"),  # longer than the stem
        ("what about the Migr", "what about the Migration"),
        ("type:meeting rollb", "type:meeting rollback"),
        ("ali", "alice"),
    ],
)
def test_a_beginning_is_continued_to_a_whole_word(
    demo: KnowledgeBase, typed: str, completed: str
) -> None:
    assert demo.documents.complete_query(typed) == completed


@pytest.mark.parametrize(
    "query",
    [
        "",
        "mi",
        "migration",
        "plan",  # a word, although planning begins like it
        "the",
        "Alice",
        "migr ",
        "zzz",
        '"migr',
        "in:migr",
        "migr2",
        "http://migr",
    ],
)
def test_what_is_whole_or_leads_nowhere_stays(demo: KnowledgeBase, query: str) -> None:
    assert demo.documents.complete_query(query) == query


def test_a_word_is_continued_in_the_language_of_the_documents(tmp_path: Path) -> None:
    notes = tmp_path / "memory" / "notes"
    notes.mkdir(parents=True)
    for day in range(3):
        text = "Wir haben die Lieferungen aus dem Lager und die Verträge noch nicht geprüft."
        (notes / f"lager-{day}.md").write_text(f"# Lager {day}\n\n{text}\n", encoding="utf-8")
    with KnowledgeBase(tmp_path) as demo:
        demo.index(fast=True)
        assert demo.documents.complete_query("liefer") == "lieferungen"
        assert demo.documents.complete_query("vertr") == "vertrage"


@pytest.mark.parametrize(
    ("query", "lead"),
    [
        ("who leads Support", "Ruth Castellane"),
        ("who leads the data team?", "Priya Nair"),
        ("who runs Mobile", "Inês Carvalho"),
        ("who heads Platform", "Alice Chen"),
    ],
)
def test_who_leads_a_team_is_answered_with_its_lead(
    demo: KnowledgeBase, query: str, lead: str
) -> None:
    assert demo.search(query).results[0].title == lead


def test_a_role_that_holds_the_name_of_a_team_names_its_holder(
    demo: KnowledgeBase,
) -> None:
    response = demo.search("what did the Head of Data say about Dunlin?")
    named = [entity.name for entity in response.meta.pass1_entities if entity.score == 1.0]
    assert named == ["Priya Nair", "Flexible Fares"]


def test_a_misspelt_word_is_corrected_unless_it_is_to_be_searched_for_as_typed(
    demo: KnowledgeBase,
) -> None:
    response = demo.search("linkspann")
    assert [note for note in response.meta.notes if "searched for linkspan;" in note]
    assert response.results
    assert not demo.search("linkspann", as_typed=True).results
    assert not demo.search('"linkspann"').results
    assert demo.search("GW217").results == demo.search("gw-217").results
    assert not demo.search("GW217", as_typed=True).results
    assert [note for note in demo.search("checksun").meta.notes if "checksum" in note]
    notes = demo.search("Checkout").meta.notes
    assert not [note for note in notes if "checksum" in note]  # two other letters: another word
    assert not [note for note in demo.search("offsite").meta.notes if "office" in note]


def test_search_itself_completes_nothing(demo: KnowledgeBase) -> None:
    assert demo.search("migr", fast=True).results != demo.search("migration", fast=True).results


@pytest.mark.parametrize(
    ("query", "unknown"),
    [
        ("what did Zorblax say about the rollback", ["no entity is called Zorblax"]),
        ("what did zorblax want", ["no entity is called zorblax"]),
        ("what did Alice say about the rollback", []),
        ("how do I read the rollback plan", []),
    ],
)
def test_a_name_that_no_document_has_is_said_to_be_unknown(
    kb: KnowledgeBase, query: str, unknown: list[str]
) -> None:
    notes = kb.search(query).meta.notes
    assert [note for note in notes if note.startswith("no entity is called")] == unknown
