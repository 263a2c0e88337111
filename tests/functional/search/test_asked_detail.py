"""A query for a property, open items or members of who it names finds what says so first."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.search.results.response import SearchResult
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault, write_vault

PAGES = {
    "memory/people/ines-moreau.md": (
        "---\nrole: Head brewer\nreports_to: '[[Tor Lindqvist]]'\ntime-zone: Europe/Paris\n"
        "email: ines@brewery.example\n---\n# Ines Moreau\n\n## Facts\n- [2026-01-04] Buys hops\n\n"
        "## Open Items\n- [x] order malt\n- [ ] clean the copper\n"
    ),
    "memory/people/tor-lindqvist.md": (
        "---\nrole: Owner\nteam: Cellar\n---\n# Tor Lindqvist\n\nTor likes brown ale.\n"
    ),
    "memory/people/uma-rao.md": (
        "---\nteam: Cellar\nreports_to: Tor Lindqvist\n---\n# Uma Rao\n\nUma keeps the casks.\n"
    ),
    "memory/teams/cellar.md": "---\nlead: '[[uma-rao|Uma Rao]]'\n---\n# Cellar\n\nCasks, pumps.\n",
    "memory/teams/tasting.md": "---\ntype: team\n---\n# Tasting Board\n\nUma and two guests.\n",
    "memory/projects/harvest.md": (
        "---\nowner: Ines Moreau\nstarted: 2026-01-02\ndue: 2026-09-01\n---\n"
        "# Harvest\n\nPicking hops with everybody.\n"
    ),
    "memory/notes/rota.md": "# Rota\n\nIn each zone a manager, an email and a role. Ines swaps.\n",
    "memory/notes/tasks.md": "# Tasks\n\nTasks and items are open for Ines and Tor in the team.\n",
    "memory/notes/members.md": "# Members\n\nMembers of the Cellar pay a fee, and people report.\n",
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KnowledgeBase:
    base = write_vault(tmp_path_factory.mktemp("brewery"), PAGES)
    index_vault(base)
    return KnowledgeBase(base)


def first(kb: KnowledgeBase, query: str) -> SearchResult:
    result: SearchResult = kb.search(query).results[0]
    return result


@pytest.mark.parametrize(
    ("query", "title", "says"),
    [
        ("Ines' role", "Ines Moreau", "role: Head brewer"),
        ("what is the job title of ines", "Ines Moreau", "role: Head brewer"),
        ("what time zone is Ines in", "Ines Moreau", "time_zone: Europe/Paris"),
        ("ines email address", "Ines Moreau", "email: ines@brewery.example"),
        ("Ines Moreau's boss", "Ines Moreau", "reports_to: Tor Lindqvist"),
        ("when is Harvest due", "Harvest", "due: 2026-09-01"),
        ("deadline of the harvest", "Harvest", "due: 2026-09-01"),
        ("when did Harvest start", "Harvest", "started: 2026-01-02"),
        ("lead of cellar", "Cellar", "lead: Uma Rao"),
        ("open items of Ines", "Ines Moreau", "- [ ] clean the copper"),
        ("tasks for ines", "Ines Moreau", "- [ ] clean the copper"),
        ("what has Ines been working on", "Ines Moreau", "- [ ] clean the copper"),
        ("who is Ines", "Ines Moreau", "role: Head brewer"),
        ("tor lindqvist", "Tor Lindqvist", "role: Owner"),
        ("what does Tor like", "Tor Lindqvist", "Tor likes brown ale."),
        ("Uma", "Uma Rao", "Uma keeps the casks."),
    ],
)
def test_the_page_that_states_it_is_first_and_shows_it(
    kb: KnowledgeBase, query: str, title: str, says: str
) -> None:
    result = first(kb, query)
    assert (result.title, result.snippet) == (title, says)


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("who is Ines' manager", {"Tor Lindqvist"}),
        ("who does ines report to", {"Tor Lindqvist"}),
        ("who reports to Tor", {"Ines Moreau", "Uma Rao"}),
        ("whose boss is Tor Lindqvist", {"Ines Moreau", "Uma Rao"}),
        ("who owns Harvest", {"Ines Moreau"}),
        ("who leads Cellar", {"Uma Rao"}),
        ("members of the Cellar", {"Tor Lindqvist", "Uma Rao"}),
        ("people in the Cellar team", {"Tor Lindqvist", "Uma Rao"}),
        ("members of the Tasting Board", {"Tasting Board"}),
    ],
)
def test_people_are_found_by_what_properties_name(
    kb: KnowledgeBase, query: str, titles: set[str]
) -> None:
    results = kb.search(query).results
    assert {result.title for result in results if result.score == 1.0} == titles


def test_people_are_shown_with_the_property_by_which_they_are_found(kb: KnowledgeBase) -> None:
    assert first(kb, "who reports to Tor").snippet == "reports_to: Tor Lindqvist"
    assert first(kb, "who is the lead of Cellar").snippet == "Uma keeps the casks."


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("Ines' role", "their role"),
        ("when is Harvest due", "its due"),
        ("tasks for ines", "their open items"),
        ("who does ines report to", "manager of Ines Moreau"),
        ("who reports to Tor", "reports to Tor Lindqvist"),
        ("members of the Cellar", "member of Cellar"),
    ],
)
def test_the_reason_says_which_detail_it_is(kb: KnowledgeBase, query: str, why: str) -> None:
    (result, *_) = kb.search(query, explain=True).results
    assert result.explain is not None
    assert result.explain["exact"] == why


@pytest.mark.parametrize(
    "query",
    [
        "Ines on the role of hops",
        "Tor's open items",
        "Ines and Tor's team",
        "Uma's email",
        "email from Ines",
        "who did Ines email",
        "who does Uma lead",
        "who can Tor manage",
        "who started Harvest",
        "next steps for Ines",
    ],
)
def test_nothing_is_first_that_does_not_say_so(kb: KnowledgeBase, query: str) -> None:
    assert all(result.score < 1.0 for result in kb.search(query).results)


def test_control_characters_in_a_name_are_not_printed_with_the_reason(
    tmp_path: Path, kbx: CommandLine
) -> None:
    team = "---\nalias: Cellar\n---\n# Evil \x1b]0;pwn\x07 Cellar\n"
    base = write_vault(tmp_path / "base", PAGES | {"memory/teams/cellar.md": team})
    ran = kbx("--kb", base, "search", "members of Cellar", "--explain")
    assert "member of Evil" in ran.out
    assert "\x1b" not in ran.out


def test_a_page_deleted_since_the_search_shows_no_property_of_another(tmp_path: Path) -> None:
    ada, zed = "memory/people/ada.md", "memory/people/zed.md"
    pages = {path: f"---\nrole: Role of {path}\n---\n# {path[14:17]}\n" for path in (ada, zed)}
    base = index_vault(write_vault(tmp_path, pages))
    with KnowledgeBase(base) as kb:
        evidence = kb.retrieve("ada's role")
        (base / ada).unlink()
        kb.index()
        (snippet,) = kb.snippets(evidence, [evidence.paths.index(ada)])
    assert "role" not in snippet.text.lower()
