"""The entities that a query names: one, several that share the name, or none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kbx_tui.index.snapshot import NameVotes
from kbx_tui.knowledge.records import Entity
from kbx_tui.search.query.name_matching import NameMatcher, QueryNames
from kbx_tui.search.query.query_terms import AMBIGUOUS, HINT, NameMatch
from tests.unit.search.query.people import person

ENTITIES = (
    person("Navdeep Bains"),
    person("Carol Shillabeer"),
    person("Carol Hughes"),
    person("Huw Irranca-Davies"),
    person("Suzy Davies"),
    person("David Blaney"),
    person("Jérôme Côté", "JCO"),
    person("Mark Stone"),
    person("H. Blasius"),
    person("Justin Trudeau"),
    person("James R. Miller"),
    person("Ruth Miller"),
    person("Biot"),
    person("Zoë Adler", "Zoe"),
    person("Grace Stein", "Grace"),
    person("李小龙"),
    Entity("team:platform", "Platform", "team", "memory/teams/platform.md"),
    Entity("project:decimal", "Decimal", "project", "memory/projects/decimal.md"),
    Entity("project:record", "Record & Tuple", "project", "memory/projects/record.md"),
    Entity("project:flow", "Flow", "project", "memory/projects/flow.md", aliases=("Data Flow",)),
)
NAMES = NameMatcher.of(ENTITIES)


def found(query: str) -> dict[str, NameMatch]:
    return {ENTITIES[match.entity].id: match for match in NAMES.find(query)}


@pytest.mark.parametrize(
    ("query", "entity"),
    [
        ("What did Navdeep Bains say about loans?", "person:navdeep-bains"),
        ("What did Bains say about loans?", "person:navdeep-bains"),
        ("what did bains say about loans?", "person:navdeep-bains"),
        ("According to Dr. Blaney, what are the reasons?", "person:david-blaney"),
        ("questions from Irranca-Davies", "person:huw-irranca-davies"),
        ("What did Irranca decide", "person:huw-irranca-davies"),
        ("what did Davies say about exports?", "person:suzy-davies"),
        ("Jerome Cote's view of exports", "person:jérôme-côté"),
        ("JCO on exports", "person:jérôme-côté"),
        ("what did jco say about exports", "person:jérôme-côté"),
        ("jco on exports", "person:jérôme-côté"),
        ("zoe exports", "person:zoë-adler"),
        ("李小龙 exports", "person:李小龙"),
        ("J. R. Miller on exports", "person:james-r-miller"),
        ("R. Miller on exports", "person:ruth-miller"),
        ("what is the position of the platform team on exports?", "team:platform"),
        ("Platform on exports", "team:platform"),
        ("platform", "team:platform"),
        ("latest updates on Decimal", "project:decimal"),
        ("does the data flow reach us", "project:flow"),
        ("is the flow finished?", "project:flow"),
        ("how is the flow going", "project:flow"),
        ("when does the flow start", "project:flow"),
        ("is the flow still on track", "project:flow"),
        ("What did huw say about exports?", "person:huw-irranca-davies"),
        ("Which exports did suzy mean", "person:suzy-davies"),
        ("what did huw say about Decimal on 17 March", "person:huw-irranca-davies"),
    ],
)
def test_entity_is_named_outright(query: str, entity: str) -> None:
    match = found(query)[entity]
    assert match.named
    assert match.signal.score == 1.0


@pytest.mark.parametrize(
    ("query", "entity"),
    [
        ("What did Carol Dhillabeer think of nurses?", "person:carol-shillabeer"),
        ("What did JustinTrudeau announce?", "person:justin-trudeau"),
        ("What did Navdep Bains say?", "person:navdeep-bains"),
    ],
)
def test_misspelt_name_scores_below_a_correct_one(query: str, entity: str) -> None:
    (match,) = found(query).values()
    assert ENTITIES[match.entity].id == entity
    assert match.named
    assert 0.75 < match.signal.score < 0.95


@pytest.mark.parametrize(
    ("query", "people"),
    [
        ("What did Carol say about nurses?", {"person:carol-shillabeer", "person:carol-hughes"}),
        ("What did Miller say about exports?", {"person:james-r-miller", "person:ruth-miller"}),
    ],
)
def test_people_who_share_a_name_get_the_same_score(query: str, people: set[str]) -> None:
    matches = found(query)
    assert set(matches) == people
    for match in matches.values():
        assert (match.signal.score, match.signal.ambiguous, match.named) == (AMBIGUOUS, True, False)


@pytest.mark.parametrize(
    "query",
    [
        "how does a new platform handle errors",
        "numerical integration of the blasius equation",
        "solution of the Blasius equation",
        "methods other than biot's principle",
        "theory of Chapman-Blasius gases",
        "experiments on the flow over a flat plate",
        "is the flow over a flat plate finished",
        "is the flow rate finished",
        "is a flow blocked",
        "why is the plate late if the flow started",
        "they mark the end with a stone",
        "what should mark the end in March",
        "What may a stone mark",
        "Flow over a flat plate",
        "what is jco",
        "jco exports",
    ],
)
def test_ordinary_word_is_at_most_a_hint(query: str) -> None:
    for match in NAMES.find(query):
        assert not match.named
        assert match.signal.score <= HINT


@pytest.mark.parametrize(
    ("query", "are_all_needed"),
    [
        ("what did Carol Hughes say about fees", False),
        ("how are fees collected", False),
        ("what did Carol Hughes tell Bains", True),
        ("what did Justin say about fees", True),
        ("platform migration", True),
    ],
)
def test_likely_names_need_no_others_where_no_part_of_another_name_is_left(
    query: str, are_all_needed: bool
) -> None:
    names = QueryNames(NAMES, query)
    likely = list(names.likely())
    assert ("all" in vars(names)) is are_all_needed
    assert likely == names.all


@pytest.mark.parametrize(
    "query", ["papers by Blaney Salton on loans", "what did Tony Bains say", "ask Ada Blaney"]
)
def test_surname_within_another_name_matches_no_one(query: str) -> None:
    assert not found(query)


@pytest.mark.parametrize(
    "query",
    [
        "what did Ruth Castellane say",
        "did Carol Dillinger agree",
        "ask Navdeep Singh on loans",
        "advice from Ruth Castellane",
        "Ruth Castellane",
        "Ruth Castellane's view of loans",
        "loans, Ruth Castellane said, are due",
        "what of Ruth Castellane, minister of loans",
        "when was Ruth Castellane in Lagos",
        "should Navdeep Singh resign",
        "according to Minister Ruth Castellane",
    ],
)
def test_first_name_with_an_unknown_surname_is_at_most_a_hint(query: str) -> None:
    matches = NAMES.find(query)
    assert matches
    for match in matches:
        assert not match.named
        assert match.signal.score <= HINT


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("what did Ruth Tuesday say", {"person:ruth-miller"}),
        ("did Ruth June agree", {"person:ruth-miller"}),
        ("Ruth Monday standup", {"person:ruth-miller"}),
        ("Ruth Kubernetes migration", {"person:ruth-miller"}),
        ("meeting with Ruth Kubernetes migration", {"person:ruth-miller"}),
        ("has Ruth GitHub access", {"person:ruth-miller"}),
        ("Ruth GitHub access", {"person:ruth-miller"}),
        ("Ruth Node.js upgrade", {"person:ruth-miller"}),
        ("the Kafka Ruth outage", {"person:ruth-miller"}),
        ("did Kafka Ruth break", {"person:ruth-miller"}),
        ("tell Ruth Postgres is down", {"person:ruth-miller"}),
        ("Navdeep Terraform rollout", {"person:navdeep-bains"}),
        ("Hat Navdeep Urlaub", {"person:navdeep-bains"}),
        ("Wann hat Ruth Zeit für Postgres", {"person:ruth-miller"}),
        ("Ruth Navdeep 1:1", {"person:ruth-miller", "person:navdeep-bains"}),
        ("Navdeep Ruth 1:1", {"person:ruth-miller", "person:navdeep-bains"}),
        ("did Ruth Navdeep agree", {"person:ruth-miller", "person:navdeep-bains"}),
        ("what did Bains Tuesday say", {"person:navdeep-bains"}),
    ],
)
def test_capitalised_word_after_a_first_name_is_not_always_a_surname(
    query: str, named: set[str]
) -> None:
    matches = found(query)
    assert {entity for entity, match in matches.items() if match.named} == named


@pytest.mark.parametrize("query", ["what did Navdeep Bain say", "Ruth on the AWS bill"])
def test_first_name_matches_before_a_misspelt_surname_or_an_acronym(query: str) -> None:
    assert all(match.signal.score > HINT for match in NAMES.find(query))
    assert found(query)


@pytest.mark.parametrize(
    "query",
    [
        "what did Minister Bains say",
        "what did Bains, Carney and others say",
        "did Bains MP agree",
        "What Did Bains Say About Loans And Exports",
        "Why Bains left",
    ],
)
def test_surname_matches_beside_capitalised_words_that_are_not_names(query: str) -> None:
    assert "person:navdeep-bains" in found(query)


def test_match_includes_the_honorific_and_an_exact_name_wins_over_a_plural() -> None:
    query = "According to Dr. Blaney, why?"
    match = found(query)["person:david-blaney"]
    assert query[match.start : match.end] == "Dr. Blaney"

    projects = [
        Entity(f"project:{number}", name, "project", "")
        for number, name in enumerate(["Class Field", "Class Fields"])
    ]
    (match,) = NameMatcher.of(projects).find("Class Fields update")
    assert (match.entity, match.named) == (1, True)


@given(st.text(max_size=60))
def test_any_text_gives_valid_matches(query: str) -> None:
    for match in NAMES.find(query):
        assert 0 <= match.start < match.end <= len(query)
        assert 0.0 < match.signal.score <= 1.0


@pytest.mark.parametrize("query", ["mark exports", "Mark exports", "grace exports"])
def test_first_name_that_is_an_ordinary_word_is_a_hint(query: str) -> None:
    (match,) = found(query).values()
    assert (match.signal.score, match.named) == (HINT, False)


@pytest.mark.parametrize(
    "query", ["records and tuples update", "why record and tuples", "data flows"]
)
def test_project_of_several_words_is_named_by_plural_and_by_and(query: str) -> None:
    (match,) = found(query).values()
    assert (match.named, match.signal.score) == (True, 1.0)


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Mark", {"person:mark-stone"}),
        ("who is Mark?", {"person:mark-stone"}),
        ("Mark and Ruth Miller", {"person:mark-stone", "person:ruth-miller"}),
        ("ruth miller, mark", {"person:mark-stone", "person:ruth-miller"}),
        ("meeting with suzy davies, mark & huw", {"person:suzy-davies", "person:mark-stone",
                                                  "person:huw-irranca-davies"}),
        ("Mark exports", set()),
        ("ruth miller or mark the exports", {"person:ruth-miller"}),
        ("ruth miller, mark as done", {"person:ruth-miller"}),
        ("ruth miller & mark? why", {"person:mark-stone", "person:ruth-miller"}),
        ("ruth miller and mark said", {"person:mark-stone", "person:ruth-miller"}),
        ("ruth miller" + " " * 50_000 + "mark", {"person:ruth-miller"}),
        ("mark and improve exports of Ruth Miller", {"person:ruth-miller"}),
        ("Ruth Miller and Mark Castellane said", {"person:ruth-miller"}),
    ],
)  # fmt: skip
def test_first_name_that_is_an_ordinary_word_is_named_alone_or_in_a_list(
    query: str, named: set[str]
) -> None:
    assert {entity for entity, match in found(query).items() if match.named} == named


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
