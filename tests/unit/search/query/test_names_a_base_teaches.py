"""How the text of a base tells names from ordinary words."""

from __future__ import annotations

import pytest

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.search.query.name_matching import NameMatcher
from tests.unit.search.query.people import person

BILL = (
    person("Bill Blair"),
    person("Ada Young"),
    person("Navdeep Bains"),
    person("Alice Chen", "achen"),
    person("Frank Moss"),
    person("Dan Minor"),
    person("Storm Reyes"),
    person("Ada Genesis"),
    person("Enrico Del"),
    person("Lane Rettig"),
    person("Action items"),
    person("Ali nasrawy"),
    person("Leo Brandt", "LEO"),
    *map(person, ("Rich Vale", "Guy Berg", "Jan Oster")),
)
VOTES = {
    "bill": NameVotes(3, 97),
    "young": NameVotes(1, 60),
    "bains": NameVotes(40, 0),
    "achen": NameVotes(2, 0),
    "frank": NameVotes(26, 0),
    "minor": NameVotes(60, 37),
    "storm": NameVotes(4, 9),
    "genesis": NameVotes(28, 53),
    "lane": NameVotes(20, 3),
    "action": NameVotes(40, 1),
    "items": NameVotes(40, 1),
    "ali": NameVotes(9, 0),
    "leo": NameVotes(18, 0),
    "rich": NameVotes(87, 12),
    "guy": NameVotes(14, 4),
    "jan": NameVotes(25, 27),
}
TAUGHT = NameMatcher.of(BILL, VOTES)


@pytest.mark.parametrize("in_small_letters", [False, True])
@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("the amendments in this Bill", set()),
        ("bill amendments", set()),
        ("Bill amendments", set()),
        ("young people and schools", set()),
        ("schools for Young people", set()),
        ("the Young on exports", set()),
        ("what did bill say", {"Bill Blair"}),
        ("what did Bill say about loans", {"Bill Blair"}),
        ("who is Bill", {"Bill Blair"}),
        ("Mr Bill on loans", {"Bill Blair"}),
        ("Bill Blair on loans", {"Bill Blair"}),
        ("bains loans", {"Navdeep Bains"}),
        ("Bains rehearsal", {"Navdeep Bains"}),
        ("loans of bains", {"Navdeep Bains"}),
        ("achen rollbacks", {"Alice Chen"}),
        ("exports of frank", {"Frank Moss"}),
        ("to be frank on the exports", set()),
        ("schools that are young on the list", set()),
        ("what are bill's plans on loans", {"Bill Blair"}),
        ("amendments of this bill's second part", set()),
        ("renames of leo, the first", {"Leo Brandt"}),
        ("leo on renames", {"Leo Brandt"}),
        ("what are bains and achen on loans", {"Navdeep Bains", "Alice Chen"}),
        ("use frank exports till harvest", {"Frank Moss"}),
        ("the wish to frank the letters", set()),
        ("a more frank discussion of exports", set()),
        ("frank feedback on exports", set()),
        ("Frank Feedback: exports", set()),
        ("what did frank say on exports", {"Frank Moss"}),
        ("explicit support of exports from minor", {"Dan Minor"}),
        ("up to minor details of exports", set()),
        ("exports that you can minor in", set()),
        ("the wish to minor in exports", set()),
        ("talks to guy about exports", {"Guy Berg"}),
        ("what can minor do on exports", {"Dan Minor"}),
        ("minor exports", set()),
        ("storm exports", set()),
        ("sync from genesis for exports", set()),
        ("what did storm say on exports", {"Storm Reyes"}),
        ("una lista del equipo", set()),
        ("flaky exports in the serial lane", set()),
        ("what did lane say on exports", {"Lane Rettig"}),
        ("exports action taken", set()),
        ("exports items", set()),
        ("action items of exports", {"Action items"}),
        ("ali exports", {"Ali nasrawy"}),
        ("exports that have rich data", set()),
        ("a design that is rich use of exports", set()),
        ("feedback on exports from rich", {"Rich Vale"}),
        ("what did rich decide on exports", {"Rich Vale"}),
        ("is rich attending the session on exports", {"Rich Vale"}),
        ("what of guy's analysis of exports", {"Guy Berg"}),
        ("exports for the guy's analysis", set()),
        ("support of exports from jan", {"Jan Oster"}),
        ("support from jan and frank, exports", {"Jan Oster", "Frank Moss"}),
        ("dropped from jan exports", set()),
    ],
)
def test_base_tells_names_from_words(
    query: str, named: set[str], *, in_small_letters: bool
) -> None:
    matches = TAUGHT.find(query.lower() if in_small_letters else query)
    assert {BILL[match.entity].name for match in matches if match.named} == named


@pytest.mark.parametrize(
    ("query", "taught"),
    [
        ("bill amendments", "a word here, 96 %"),
        ("Bains rehearsal", "a name here, 99 %"),
        ("Navdeep Bains on loans", ""),
        ("navdeep loans", ""),
    ],
)
def test_signal_says_what_the_base_taught(query: str, taught: str) -> None:
    (match,) = TAUGHT.find(query)
    assert match.signal.taught == taught
    assert match.signal.detail in query
