"""What a question asks for, where its words alone do not say."""

from collections.abc import Iterator

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import index_vault

FILES = {
    "people/ada-lund.md": "---\nrole: Bell ringer\n---\n# Ada Lund\n\n- Hates a phone call.\n",
    "people/ben-vale.md": "---\nrole: Carpenter\n---\n# Ben Vale\n\n- On-call until Sunday.\n",
    "people/cleo-hart.md": "---\nrole: Carpenter\n---\n# Cleo Hart\n\n- Mends stairs.\n",
    "teams/support.md": "# Support\n\nAnswers everybody.\n",
    "notes/phones.md": "# Phones\n\nA call is a call. Call back within a day, or call twice.\n",
    "notes/carpentry.md": "# Carpentry\n\nEach carpenter has a bench. Support the beam.\n",
} | {
    f"meetings/{day}.md": f"---\ntitle: {title}\ndate: {day}\nattendees: [{names}]\n---\n{text}\n"
    for day, title, names, text in (
        ("2026-03-02", "All-hands", "", "The mill gets a fourth wheel."),
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
    for query in ("who is on call?", "who was on call this week"):
        assert kb.search(query).results[0].path == "people/ben-vale.md", query


def test_a_role_alone_finds_who_has_it(kb: KnowledgeBase) -> None:
    for query in ("carpenters", "carpenter", "who are our carpenters?"):
        found = {result.path for result in kb.search(query).results[:2]}
        assert found == {"people/ben-vale.md", "people/cleo-hart.md"}, query


def test_a_word_before_meeting_names_the_team_that_has_it(kb: KnowledgeBase) -> None:
    assert kb.search("support the beam").meta.search_mode == "flat"
    for query in ("last support meeting", "support meetings", "meetings support"):
        assert kb.search(query).meta.search_mode == "two_pass", query
    first, *_ = kb.search("last support meeting").results
    assert first.path == "meetings/2026-03-16.md"


def test_a_meeting_is_known_by_usual_titles(kb: KnowledgeBase) -> None:
    response = kb.search("what did we say about a fourth wheel", explain=True)
    reasons = {each.path: (each.explain or {})["lowered_reason"] for each in response.results}
    assert not reasons["meetings/2026-03-02.md"]
