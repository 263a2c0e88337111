import unicodedata

import pytest
from hypothesis import given

from kbx_tui.knowledge.entities import build_entities
from kbx_tui.knowledge.linking import Linker
from kbx_tui.knowledge.records import Entity
from tests.unit.knowledge.building import (
    MEETING,
    PERSON,
    kinds,
    markdown_bodies,
    page,
    person,
    project,
    team,
)

MARIA = person("Maria Novak", "MNK", path=PERSON, emails=("maria@example.com",))
TOM = person("Tom Reed")
HELIX = project("Helix Refactor", "helix", path="memory/projects/helix-refactor.md")


def linked(text: str, *entities: Entity, path: str = MEETING) -> dict[str, dict[str, int]]:
    return kinds(Linker(entities).links(page(text, path)))


def front(block: str, body: str = "") -> str:
    return f"---\n{block}\n---\n{body}"


@pytest.mark.parametrize(
    "attendee",
    ["Maria Novak", "maria  nóvak", "MNK", "'Novak, Maria'", "Dr. Maria Novak (Acme)",
     "Maria Novak @mn", "{name: M., email: Maria@Example.com}", "'X <maria@example.com>'",
     "'[[Maria Novak]]'"],
)  # fmt: skip
def test_attendees_are_resolved_by_name_alias_or_mail_address(attendee: str) -> None:
    assert linked(front(f"attendees:\n- {attendee}"), MARIA, TOM) == {
        "person:maria-novak": {"attendee": 1}
    }


@pytest.mark.parametrize("attendee", ["Maria", "Ria", "Novak", "Mar Novak", "maria@other.org"])
def test_part_of_a_name_does_not_match_an_attendee(attendee: str) -> None:
    assert linked(front(f"attendees: [{attendee}]"), MARIA) == {}


def test_mail_address_distinguishes_people_of_the_same_name() -> None:
    first = person("Alex Kim", id="person:a", emails=("a@x.org",))
    second = person("Alex Kim", id="person:b", emails=("b@x.org",))
    text = front("attendees:\n- {name: Alex Kim, email: b@x.org}", "Alex Kim spoke. Alex left.")
    assert linked(text, first, second) == {"person:b": {"attendee": 1, "mention": 2}}


def test_entity_page_links_to_its_own_entity_once() -> None:
    text = front(
        "name: Maria Novak\nlead: Tom Reed", "# Maria Novak\n\nMaria Novak and [[Tom Reed]]"
    )
    assert linked(text, MARIA, TOM, path=PERSON) == {
        "person:maria-novak": {"own_page": 1},
        "person:tom-reed": {"frontmatter": 1, "mention": 1, "wikilink": 1},
    }


def test_references_and_tags_are_frontmatter_links() -> None:
    text = front(
        "project: '[[helix-refactor]]'\nlead: '[[people/maria-novak|M]]'\n"
        "tags: [helix-refactor, design]"
    )
    assert linked(text, MARIA, HELIX, team("Design")) == {
        "person:maria-novak": {"frontmatter": 1},
        "project:helix-refactor": {"frontmatter": 2},
    }


@pytest.mark.parametrize(
    ("tag", "is_tom"), [("Tom", True), ("tom", False), ("Tomas", False), ("Reed", False)]
)
def test_tag_of_a_meeting_may_be_the_first_name_of_one_person(tag: str, is_tom: bool) -> None:
    tagged = front(f"tags: [{tag}]")
    expected = {"person:tom-reed": {"frontmatter": 1}} if is_tom else {}
    assert linked(tagged, MARIA, TOM) == expected
    assert linked(tagged, MARIA, TOM, path="memory/notes/visit.md") == {}
    assert linked(tagged, MARIA, TOM, person("Tom Hall")) == {}


def test_wikilinks_are_resolved_by_name_file_name_or_path() -> None:
    body = "[[Maria Novak]] [[maria-novak|her]] [[people/maria-novak.md#x]] `[[MNK]]` [[Nobody]]"
    assert linked(body, MARIA)["person:maria-novak"]["wikilink"] == 3


def test_mentions_are_counted_at_word_edges() -> None:
    body = "helix refactor, HELIX\nREFACTOR and Helix-Refactor; _Helix_ Helixed"
    assert linked(front("title: About Hélix Refactor", body), HELIX) == {
        "project:helix-refactor": {"title": 1, "mention": 4}
    }


@pytest.mark.parametrize("title", ["Function.pipe & flow", "function-pipe: FLOW, once more"])
def test_title_mentions_ignore_punctuation(title: str) -> None:
    entity = project("Function pipe, flow()")
    assert linked(front(f'title: "{title}"', title), entity) == {entity.id: {"title": 1}}


def test_composed_and_decomposed_accents_are_found() -> None:
    jerome = person("Jérôme Côté")
    for form in ("NFC", "NFD"):
        body = unicodedata.normalize(form, "Jérôme Côté was here, JÉRÔME CÔTÉ")
        assert linked(body, jerome) == {jerome.id: {"mention": 2}}


def test_longest_of_overlapping_names_wins() -> None:
    assert linked("Helix Refactor Two", HELIX, project("Helix Refactor Two")) == {
        "project:helix-refactor-two": {"mention": 1}
    }
    art, depot = project("Artist"), project("Artist Depot")
    assert linked("the Artist Depotstore", art, depot) == {"project:artist": {"mention": 1}}


def test_first_name_or_initials_count_only_if_one_such_person_is_present() -> None:
    body = "Maria said so. Maria's plan, MARIA, Marian, maria. Maria Novak agreed. Tom too."
    text = front("attendees: [Maria Novak]", body)
    assert linked(text, MARIA, TOM) == {"person:maria-novak": {"attendee": 1, "mention": 3}}
    assert linked("Maria said so", MARIA) == {}

    lopez = person("Maria Lopez")
    assert linked(front("attendees: [Maria Novak]", "Maria said"), MARIA, lopez) == {
        "person:maria-novak": {"attendee": 1, "mention": 1}
    }
    both = linked(front("attendees: [Maria Novak, Maria Lopez]", "Maria said"), MARIA, lopez)
    assert both == {"person:maria-novak": {"attendee": 1}, "person:maria-lopez": {"attendee": 1}}

    andrew = person("Andrew Paprocki", "API")
    assert linked("The API is ready", andrew) == {}
    assert linked(front("attendees: [Andrew Paprocki]", "API: yes"), andrew) == {
        "person:andrew-paprocki": {"attendee": 1, "mention": 1}
    }


def test_shared_alias_counts_only_where_it_means_one_entity() -> None:
    maria = person("Maria Novak", "Maria")
    assert linked("Maria said", maria) == {"person:maria-novak": {"mention": 1}}
    assert linked("Maria said", maria, person("Maria Lopez")) == {}

    blue, green = project("Blue Lagoon", "lagoon"), project("Green Lagoon", "lagoon")
    assert linked("lagoon news", blue, green) == {}
    assert linked("Blue Lagoon: lagoon news", blue, green) == {
        "project:blue-lagoon": {"mention": 2}
    }


@pytest.mark.parametrize(
    ("entity", "matching", "other"),
    [
        (team("Platform"), "ask Platform; the platform team", "a platform for all"),
        (project("PLA"), "PLA is late", "pla is late"),
        (team("ops"), "the ops team", "ops and such"),
        (project("Zeta", "blue-atlas"), "see blue-atlas", "see Blue-Atlas"),
        (person("est31"), "thanks est31", "thanks EST31"),
        (project("Blue Lagoon"), "BLUE lagoon", "bluelagoon"),
        (person("山田太郎"), "本日は山田太郎さんが", "山田さん"),
    ],
    ids=["common", "short", "short-lower-case", "hyphens", "handle", "plain", "no-spaces"],
)
def test_names_that_may_be_words_must_match_in_letter_case(
    entity: Entity, matching: str, other: str
) -> None:
    assert linked(matching, entity)
    assert linked(other, entity) == {}


def test_team_is_linked_to_documents_of_its_members() -> None:
    platform = team("Platform", members=(MARIA.id, TOM.id, "person:gone"))
    assert linked(front("attendees: [Maria Novak, Tom Reed]"), MARIA, TOM, platform) == {
        "person:maria-novak": {"attendee": 1},
        "person:tom-reed": {"attendee": 1},
        "team:platform": {"member": 2},
    }
    assert "team:platform" not in linked("Maria Novak was named", MARIA, platform)


def test_suppressed_links_are_omitted_and_there_are_none_without_entities() -> None:
    platform = team("Platform", members=(MARIA.id,))
    text = front("attendees: [Maria Novak, Tom Reed]", "Maria Novak, Tom Reed")
    linker = Linker([MARIA, TOM, platform], suppressions={MEETING: ["maria novak"]})
    assert kinds(linker.links(page(text, MEETING))) == {
        "person:tom-reed": {"attendee": 1, "mention": 1}
    }
    assert "person:maria-novak" in kinds(linker.links(page(text, "memory/other.md")))

    assert linked("Maria Novak") == {}


@given(markdown_bodies)
def test_links_are_sorted_unique_and_deterministic(body: str) -> None:
    document = page(front("attendees: [Maria Novak]", f"{body}\n[[Helix]] Tom Reed"), MEETING)
    entities = build_entities([page("# Maria Novak\n", PERSON), page("# Tom Reed", "people/t.md")])
    links = Linker(entities).links(document)
    assert list(links) == sorted(links, key=lambda link: (link.entity_id, link.kind))
    assert len({(link.entity_id, link.kind) for link in links}) == len(links)
    assert links == Linker(entities).links(document)
    assert all(link.count > 0 and link.path == MEETING for link in links)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("---\ntitle: Records and Tuples update\n---\nNothing.", "title"),
        ("---\ntitle: Withdrawing Records & Tuples\n---\nNothing.", "title"),
        ("---\ntitle: Plan\n---\nThe records and tuples are late.", "mention"),
        ("---\ntitle: Plan\n---\nA Record and Tuple is late.", "mention"),
    ],
)
def test_plural_and_ampersand_spellings_are_found(text: str, kind: str) -> None:
    assert linked(text, project("Record & Tuple", id="project:record-tuple")) == {
        "project:record-tuple": {kind: 1}
    }


def test_a_name_is_found_in_the_plural_unless_that_is_another_name_or_word() -> None:
    realm, windows = project("ShadowRealm"), project("Windows")
    text = "---\ntitle: ShadowRealms update\n---\nA window in the wall."
    assert linked(text, realm, windows) == {"project:shadowrealm": {"title": 1}}

    field, fields = project("Class Field"), project("Class Fields")
    for text, entity in (("A Class Field is late.", field), ("Class Fields are late.", fields)):
        assert linked(text, field, fields) == {entity.id: {"mention": 1}}
    titled = "---\ntitle: Class Fields update\n---\nNothing."
    assert linked(titled, field, fields) == {fields.id: {"title": 1}}

    zoom = project("Zoomer")
    assert linked("All Zoomers came.", zoom) == {zoom.id: {"mention": 1}}
    assert linked("the camera zoomers in", zoom) == {}

    assert linked("Two Tom Reeds came.", TOM) == {}
