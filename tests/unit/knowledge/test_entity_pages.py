from kbx_tui.knowledge.entities import build_entities
from kbx_tui.knowledge.records import Entity
from tests.unit.knowledge.building import page


def built(files: dict[str, str]) -> dict[str, Entity]:
    documents = [page(text, path) for path, text in files.items()]
    return {entity.id: entity for entity in build_entities(documents)}


def test_person_page_is_an_entity_with_all_fields() -> None:
    text = (
        "---\naliases:\n- JCB\n- Jérôme\nemail: J@Example.com\nrole: SRE Lead\n"
        "team: '[[Platform]]'\n---\n# Jérôme Côté-Blanc\n"
    )
    entities = built({"memory/people/jerome.md": text})
    assert entities["person:jerome-cote-blanc"] == Entity(
        id="person:jerome-cote-blanc",
        name="Jérôme Côté-Blanc",
        type="person",
        path="memory/people/jerome.md",
        aliases=("Jérôme", "JCB"),
        role="SRE Lead",
        team="Platform",
        emails=("j@example.com",),
    )
    assert entities["team:platform"] == Entity(
        id="team:platform",
        name="Platform",
        type="team",
        path="",
        members=("person:jerome-cote-blanc",),
    )


def test_legacy_fields_are_read_from_a_page_without_frontmatter() -> None:
    text = (
        "# Tom Reed\n\n**Role:** Designer\n**Also known as:** TR, Tommy\n**Email**: tom@x.org\n"
        "**Team:** [[Design]]\n\n## Recent Facts\n\n**Role:** not this\n"
    )
    tom = built({"memory/people/tom.md": text})["person:tom-reed"]
    assert (tom.role, tom.aliases, tom.emails) == ("Designer", ("Tommy", "TR"), ("tom@x.org",))
    assert tom.team == "Design"


def test_aliases_are_sorted_longest_first_and_exclude_the_name() -> None:
    text = (
        "---\nname: Helix Search\naliases: helix, 'the big rewrite', HELIX REWRITE\n"
        "codename: Spiral\nnickname: [hx]\n---\n# Helix Rewrite (HX)\n"
    )
    helix = built({"memory/projects/helix.md": text})["project:helix-rewrite-hx"]
    assert helix.aliases == (
        "'the big rewrite'", "HELIX REWRITE", "Helix Search", "Spiral", "helix", "hx",
    )  # fmt: skip


def test_title_of_a_person_is_the_role_and_an_id_in_frontmatter_that_of_the_entity() -> None:
    maria = built({"memory/people/m.md": "---\ntitle: VP Engineering\n---\n# Maria Novak\n"})
    assert maria["person:maria-novak"].role == "VP Engineering"
    assert maria["person:maria-novak"].aliases == ()

    assert list(built({"memory/people/a.md": "---\nid: ana\n---\n# Ana Sol\n"})) == ["ana"]


def test_only_pages_of_entity_types_are_entities() -> None:
    entities = built(
        {
            "memory/x/acme.md": "---\ntype: company\n---\n# Acme\n",
            "memory/notes/a.md": "---\ntype: company\n---\n# A\n",
            "memory/meetings/a.md": "---\ntype: person\n---\n# B\n",
            "memory/glossary.md": "# Terms\n",
        }
    )
    assert list(entities) == ["company:acme"]


def test_teams_are_read_from_company_md() -> None:
    text = (
        "# Company\n\n## Teams (from Linear)\n\n- **Platform** (PLA) — keeps it running\n"
        "- **Design** — draws\n- no team\n\n## Other\n\n- **Not** (NO) — a team\n"
    )
    entities = built({"memory/context/company.md": text, "memory/context/a.md": text})
    assert [(entity.name, entity.aliases) for entity in entities.values()] == [
        ("Design", ()),
        ("Platform", ("PLA",)),
    ]


def test_members_come_from_the_team_page_and_from_person_pages() -> None:
    entities = built(
        {
            "memory/teams/platform.md": (
                "---\naliases: [PLA]\nmembers: ['[[Ana Sol]]', Ghost]\n---\n# Platform\n"
            ),
            "memory/people/a.md": "# Ana Sol\n",
            "memory/people/b.md": "---\nteam: PLA\n---\n# Bo Lund\n",
            "memory/people/c.md": "---\nteam: platform team\n---\n# Cy Tran\n",
        }
    )  # fmt: skip
    assert entities["team:platform"].members == (
        "person:ana-sol",
        "person:bo-lund",
        "person:cy-tran",
    )
    assert len(entities) == 4


def test_text_with_commas_is_several_teams_unless_it_is_one_name() -> None:
    entities = built(
        {
            "memory/teams/t.md": "# Trust, Safety and Policy\n",
            "memory/people/a.md": "---\nteam: Trust, Safety and Policy\n---\n# Ana Sol\n",
            "memory/people/b.md": "---\nteam: Platform, Data\n---\n# Bo Lund\n",
            "memory/people/c.md": "---\nteam: Children, Young People and Schools\n---\n# Cy Tran\n",
        }
    )
    assert {name: entity.members for name, entity in entities.items() if entity.type == "team"} == {
        "team:children-young-people-and-schools": ("person:cy-tran",),
        "team:data": ("person:bo-lund",),
        "team:platform": ("person:bo-lund",),
        "team:trust-safety-and-policy": ("person:ana-sol",),
    }
    assert entities["person:bo-lund"].team == "Platform, Data"


def test_project_given_as_a_team_does_not_create_a_team() -> None:
    entities = built(
        {
            "memory/projects/helix.md": "# Helix\n",
            "memory/people/a.md": "---\nteam: Helix\n---\n# Ana Sol\n",
        }
    )
    assert list(entities) == ["person:ana-sol", "project:helix"]
    assert entities["project:helix"].members == ()


def test_colliding_ids_become_the_shortest_distinct_paths() -> None:
    entities = built(
        {
            "memory/people/alex.md": "# Alex Kim\n",
            "memory/people/alex-2.md": "# Alex Kim\n",
            "memory/people/bo.md": "# Bo Lund\n",
        }
    )
    assert list(entities) == ["person:alex", "person:alex-2", "person:bo-lund"]


def test_entities_do_not_depend_on_the_order_of_files() -> None:
    files = {
        "memory/people/a.md": "---\nteam: Data\n---\n# Ana Sol\n",
        "memory/people/b.md": "---\nteam: data\n---\n# Ana Sol\n",
        "memory/teams/c.md": "# Platform\n",
    }
    assert built(files) == built(dict(reversed(files.items())))
