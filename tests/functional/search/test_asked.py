"""What a question asks for, where its words alone do not say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.retrieval.asked import asks_for_people
from tests.functional.vaults import index_vault

FILES = {
    "people/ada-lund.md": "---\nrole: Bell ringer\n---\n# Ada Lund\n\n- Hates a phone call.\n",
    "people/ben-vale.md": "---\nrole: Carpenter\n---\n# Ben Vale\n\n- On-call until Sunday.\n",
    "people/cleo-hart.md": "---\nrole: Carpenter\n---\n# Cleo Hart\n\n- Mends stairs.\n",
    "teams/support.md": "# Support\n\nAnswers everybody.\n",
    "notes/phones.md": "# Phones\n\nA call is a call. Call back within a day, or call twice.\n",
    "notes/pay.md": "---\ntitle: Pay for being on call at night\n---\nEvery call is paid.\n",
    "notes/kick-off.md": "# Planks\n\nAda Lund had no planks at kickoff.\n",
    "notes/paris.md": "---\ntitle: Paris office\n---\nA room near the station.\n",
    "notes/holiday.md": "# Holiday\n\nBen Vale spent a week in Paris.\n",
    "notes/carpentry.md": "# Carpentry\n\nEach carpenter has a bench. Support the beam.\n",
} | {
    f"meetings/{day}.md": f"---\ntitle: {title}\ndate: {day}\nattendees: [{names}]\n---\n{text}\n"
    for day, title, names, text in (
        ("2026-03-02", "All-hands", "", "The mill gets a fourth wheel."),
        ("2026-03-04", "Kickoff", "Ada Lund, Ben Vale", "The mill opens in May."),
        ("2026-03-09", "Bench", "Ben Vale, Cleo Hart", "[[Support]] wants planks."),
        (
            "2026-03-16",
            "Bench",
            "Ben Vale, Cleo Hart",
            "[[Support]] has planks.",
        ),
        ("2026-03-23", "Bench", "Ada Lund, Cleo Hart", "Wheels, wheels and a fourth beam."),
    )
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path_factory.mktemp("mill"), FILES)) as base:
        base.index()
        yield base


def test_a_state_is_looked_for_with_its_preposition(kb: KnowledgeBase) -> None:
    for query in ("who is on call?", "who was on call this week?"):
        assert kb.search(query).results[0].path == "people/ben-vale.md", query


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("who was at kickoff", "meetings/2026-03-04.md"),
        ("who was in Paris", "notes/paris.md"),
        ("who is on call", "notes/pay.md"),  # its title says so
    ],
)
def test_a_text_without_the_preposition_counts(kb: KnowledgeBase, query: str, path: str) -> None:
    (found,) = (each for each in kb.search(query, explain=True).results if each.path == path)
    assert (found.explain or {})["lexical_score"] > 0.0


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("who attended the kickoff", "meetings/2026-03-04.md"),
        ("who else was at the all hands?", "meetings/2026-03-02.md"),
        ("what did the bell ringer say", "meetings/2026-03-23.md"),  # who says nothing of bells
        ("where is Cleo", "people/cleo-hart.md"),
        ("where's the bell ringer", "people/ada-lund.md"),
        ("is the bell ringer away?", "people/ada-lund.md"),
        ("what is the bell ringer doing", "people/ada-lund.md"),
        ("and Cleo Hart, when is she back?", "people/cleo-hart.md"),
    ],
)
def test_the_page_that_was_asked_for_comes_first(kb: KnowledgeBase, query: str, path: str) -> None:
    assert kb.search(query).results[0].path == path


def test_a_meeting_is_asked_for_by_who_was_there_not_by_who_has_to_do_with_it(
    kb: KnowledgeBase,
) -> None:
    for query in ("who was in the last bench meeting", "who attended bench?"):
        assert kb.search(query).results[0].path.startswith("meetings/"), query
    for query in ("who is in charge of the bench meeting", "who attends to the beam"):
        assert asks_for_people(query), query


def test_a_role_alone_finds_who_has_it(kb: KnowledgeBase) -> None:
    for query in ("carpenters", "carpenter", "who are our carpenters?"):
        found = {result.path for result in kb.search(query).results[:2]}
        assert found == {"people/ben-vale.md", "people/cleo-hart.md"}, query


def test_a_word_before_meeting_names_the_team_that_has_it(kb: KnowledgeBase) -> None:
    for query in (
        "support the beam",
        "discussed support for planks",
        "we agreed support ends when",
    ):
        assert kb.search(query).meta.search_mode == "flat", query
    for query in ("last support meeting", "support meetings", "meetings support"):
        assert kb.search(query).meta.search_mode == "two_pass", query
    first, *_ = kb.search("last support meeting").results
    assert first.path == "meetings/2026-03-16.md"


def test_a_meeting_is_known_by_usual_titles(kb: KnowledgeBase) -> None:
    response = kb.search("what did we say about a fourth wheel", explain=True)
    reasons = {each.path: (each.explain or {})["lowered_reason"] for each in response.results}
    assert not reasons["meetings/2026-03-02.md"]


def test_the_initials_of_a_role_find_who_has_it(tmp_path: Path) -> None:
    files = {
        "people/ada-lund.md": "---\nrole: Chief Executive\n---\n# Ada Lund\n\n- Likes bells.\n",
        "notes/board.md": "# Board\n\nThe executive board meets in June.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, files)) as base:
        found = base.search("who is the CEO?")
        as_typed = base.search("who is the CEO?", as_typed=True)
    assert found.results[0].path == "people/ada-lund.md"
    assert "searched for chief executive" in found.meta.notes[0]
    assert [result.path for result in as_typed.results] == ["notes/board.md"]


def test_a_word_that_happens_to_be_the_initials_of_a_role_is_searched_for(tmp_path: Path) -> None:
    files = {
        "people/ada-lund.md": "---\nrole: Sales Engineering Architect\n---\n# Ada Lund\n",
        "notes/ocean.md": "# Ocean\n\nThe level of the water is rising.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, files)) as base:
        found = base.search("sea level rising")
    assert found.results[0].path == "notes/ocean.md"
    assert not any("searched for sales" in note for note in found.meta.notes)


@pytest.mark.parametrize("query", ["notes by Ada Lund", "notes that Ada Lund wrote"])
def test_what_someone_wrote_is_found_by_its_author(tmp_path: Path, query: str) -> None:
    files = {
        "people/ada-lund.md": "# Ada Lund\n\n- Rings bells.\n",
        "notes/rope.md": "---\nauthor: Ada Lund\n---\n# Rope\n\nHemp stretches.\n",
        "notes/letters.md": "# Letters\n\nWho wrote to us got an answer, written by hand.\n",
    }
    with KnowledgeBase(index_vault(tmp_path, files)) as base:
        assert base.search(query).results[0].path == "notes/rope.md"
