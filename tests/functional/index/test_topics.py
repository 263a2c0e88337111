"""Tags, hubs, maps of content, folders and properties as entities of a plain folder of notes."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.cli import write_output
from kbx_tui.cli.commands import index as index_command
from kbx_tui.errors import NotFound
from kbx_tui.tui.app_state import entities_asked
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault, write_vault

NOTE = (
    '---\nauthor: "[[Ada Byron]]"\ntags: [garden/soil, work]\n---\nSee [[Compost]]. It works {}.\n'
    "\nNot for everyone #redacted\n"
)
FILES = {
    **{f"Note {number}.md": NOTE.format(number) for number in range(6)},
    "Compost.md": "Made of leaves.\n",
    "Books/Sketches.md": "A tale of engines.\n",
    "Garden MOC.md": "- [[Note 1]]\n- [[Note 2]]\n",
    "Work song.md": "This is how the work goes on.\n",
}
ENTITIES = {
    "person:ada-byron", "tag:garden", "tag:garden-soil", "tag:work", "hub:compost",
    "map:garden-moc", "book:sketches",
}  # fmt: skip
SENTENCE = "10 notes, 1 person, 3 tags, 1 hub, 1 map of content, 1 book"


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path / "base", FILES, fast=True)) as kb:
        yield kb


def ids(kb: KnowledgeBase) -> set[str]:
    return {entity.id for entity in kb.entities.find("", 100)}


def test_topics_become_entities_when_chosen_and_go_when_undone(kb: KnowledgeBase) -> None:
    assert ids(kb) == set()
    proposal = kb.entities.offer()
    assert proposal is not None
    assert (proposal.sentence, proposal.found_sentence) == (SENTENCE, "no entities")
    assert proposal.lines(2) == [
        "people: Ada Byron",
        "tags: #garden 6, #garden/soil 6, and 1 more",
        "hubs: Compost 6",
        "maps of content: Garden MOC",
        "books: Sketches",
    ]
    assert proposal.explanation == [
        "An entity is what notes are about: a search for garden also finds the 6 notes that belong"
        " to it.",
        "A hub is a note that at least 5 others link to, such as Compost.",
        "A map of content lists the notes of a topic, as Garden MOC does.",
    ]
    assert not kb.entities.use(proposal, dry_run=True).written
    assert kb.entities.use(proposal).written
    kb.index(fast=True)
    assert ids(kb) == ENTITIES
    assert kb.entities.offer() is None
    assert kb.entities.proposal().counts == {}
    documents = {
        entity_id: {link.path for link in kb.entities.card(entity_id).documents}
        for entity_id in ("tag:garden", "tag:work", "hub:compost", "person:ada-byron")
    }
    tagged = {f"Note {number}.md" for number in range(6)}
    assert documents["tag:garden"] == documents["tag:work"] == tagged
    assert documents["person:ada-byron"] == tagged
    assert documents["hub:compost"] >= tagged
    kb.undo()
    with KnowledgeBase(kb.root) as again:
        again.index(fast=True)
        assert ids(again) == set()


def test_notes_that_are_topics_count_fully_for_their_tags(tmp_path: Path) -> None:
    note = "A {} of the #garden.\n"
    files = {f"Topics/{name}.md": note.format(name) for name in ("Bed", "Pond", "Shed")}
    settings = '[entities]\ntags = 3\nfolders = ["Topics"]\n'
    files |= {"Spade.md": note.format("spade"), "kbx.toml": settings}
    with KnowledgeBase(index_vault(tmp_path / "base", files, fast=True)) as kb:
        assert "topic:pond" in ids(kb)
        response = kb.search("garden", explain=True)
    explained = [result.explain or {} for result in response.results]
    assert [each["parent_entity_score"] for each in explained] == [1.0] * 4


def test_few_entities_do_not_suppress_the_offer(tmp_path: Path) -> None:
    for people, is_offered in ((1, True), (4, False)):
        pages = {f"people/p{number}.md": f"# Pat {number}\n" for number in range(people)}
        with KnowledgeBase(write_vault(tmp_path / f"{people}", FILES | pages)) as kb:
            with pytest.raises(NotFound):
                kb.entities.offer()
            kb.index(fast=True)
            assert (kb.entities.offer() is not None) == is_offered
            proposal = kb.entities.proposal()
        assert proposal.counts["hubs"] == 1
        assert proposal.found["people"] == people


def test_what_the_settings_of_a_base_decide_is_not_proposed(tmp_path: Path) -> None:
    base = write_vault(tmp_path / "chosen", FILES | {"kbx.toml": "[entities]\nhubs = 6\n"})
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)
        assert kb.entities.offer() is None
        assert ids(kb) == {"hub:compost"}
        proposal = kb.entities.proposal()
        assert proposal.found == {"hubs": 1}
        assert "hubs" not in proposal.settings
        assert proposal.settings["tags"] == 3


def test_names_that_recur_in_properties_are_proposed_as_people(tmp_path: Path) -> None:
    heads = (
        "author: Ida Holm",
        "attendees: [Tim Ek, Ida, me, tim@port.example]",
        "attendees: Tim Ek and Ida Holm, everyone",
        "assignee: rosa diaz\nauthors:\n  - Novak, Eva\n  - Berg, Jon",
        "people: Rosa Diaz; Ida",
        "people: Rosa Diaz\nauthor: Novak, Eva and Berg, Jon",
        "author: Lin\nstatus: Ida Holm",
        "présents: [Zoé Petit, Ida]",
        "Teilnehmer: Zoé Petit und Ida",
    )
    files = {
        f"n{number}.md": f"---\n{head}\n---\nText {number}\n" for number, head in enumerate(heads)
    }
    with KnowledgeBase(index_vault(tmp_path / "base", files, fast=True)) as kb:
        proposal = kb.entities.proposal()
        assert dict(proposal.examples["people"]) == {
            "Rosa Diaz": 3, "Eva Novak": 2, "Ida Holm": 2, "Jon Berg": 2, "Tim Ek": 2,
            "Zoé Petit": 2,
        }  # fmt: skip
        assert proposal.settings == {"names": 2}
        kb.entities.use(proposal)
        kb.index(fast=True)
        card = kb.entities.named("Eva Novak")
        assert {link.path for link in card.documents} == {"n3.md", "n5.md"}


def test_people_in_inline_fields_are_proposed(tmp_path: Path) -> None:
    files = {
        "Reed beds.md": "- Author:: [[Ida Moss]]\n",
        "Moor.md": "assignee:: Bo Lind\n",
        "Fen.md": "- [ ] drain [assignee:: Bo Lind]\n",
    }
    with KnowledgeBase(write_vault(tmp_path, files)) as kb:
        from_files = kb.entities.proposal(from_files=True)
        kb.index(fast=True)
        assert from_files == kb.entities.proposal()
        assert from_files.lines(9) == ["people: Bo Lind 2, Ida Moss"]


def test_folders_of_topics_are_known_in_several_languages(tmp_path: Path) -> None:
    files = {
        "Notizen/Personen/Uwe Falk.md": "Segler.\n",
        "人物/山本花子.md": "船長。\n",
        "Заметки/Люди/Вера Белова.md": "Штурман.\n",
        "30 Libros/La boya.md": "Una novela.\n",
        "PNJ/Berthe.md": "Sorcière. #todo #status/wip #roman\n",
        "Locations/The ford.md": "#todo #status/wip #roman\n",
        "Factions/Wreckers.md": "#todo #status/wip #roman\n",
    }
    with KnowledgeBase(index_vault(tmp_path / "base", files, fast=True)) as kb:
        proposal = kb.entities.proposal()
    kinds = {"people": 4, "tags": 1, "books": 1, "factions": 1, "places": 1}
    assert proposal.counts == kinds
    assert proposal.examples["tags"] == [("#roman", 3)]  # others say what becomes of a note
    assert {name for name, _ in proposal.examples["people"]} == {
        "Uwe Falk", "山本花子", "Вера Белова", "Berthe",
    }  # fmt: skip


def test_the_page_of_a_folder_is_found_by_the_name_of_the_folder(tmp_path: Path) -> None:
    files = {
        "teams/harbour/index.md": "Loads ships.\n",
        "teams/crane_crew/README.md": "# Crane crew\n",
        "teams/index.md": "# All teams\n",
        "log.md": "Met [[harbour]], [[teams/harbour]] and [c](teams/crane_crew/README.md).\n",
    }
    with KnowledgeBase(index_vault(tmp_path / "base", files, fast=True)) as kb:
        assert ids(kb) == {"team:harbour", "team:crane-crew"}
        for name in ("Harbour", "Crane crew"):
            assert "log.md" in {link.path for link in kb.entities.named(name).documents}


def test_init_writes_the_proposal_only_if_told_to(kbx: CommandLine, tmp_path: Path) -> None:
    base = write_vault(tmp_path / "base", FILES)
    before = sorted(file.name for file in base.iterdir())
    shown = kbx("--kb", str(base), "init", "--dry-run")
    assert SENTENCE in shown.out
    assert "found: no entities" in shown.out
    assert "+hubs = 5" in shown.out
    assert sorted(file.name for file in base.iterdir()) == before
    assert "not used" in kbx("--kb", str(base), "init").out
    assert not (base / "kbx.toml").exists()
    written = kbx("--kb", str(base), "init", "--yes", "--json")
    assert written.json["written"] is True
    assert written.json["entities"] == len(ENTITIES)
    again = kbx("--kb", str(base), "init", "--yes").out
    assert "found: 1 person, 3 tags, 1 hub, 1 map of content, 1 book\n" in again
    assert "nothing more qualifies" in again


def test_entities_edited_by_hand_are_noted_until_the_next_run(
    kbx: CommandLine, kb: KnowledgeBase
) -> None:
    note, at = "[entities] in kbx.toml changed since the last run", ("--kb", str(kb.root))
    assert not kb.entities_outdated()
    (kb.root / "kbx.toml").write_text("[entities]\nhubs = 5\n", encoding="utf-8")
    assert note in kbx(*at, "search", "soil", "--fast").err
    assert "entities  [entities] in kbx.toml changed" in kbx(*at, "status").out
    assert kbx(*at, "status", "--json").json["entities_outdated"] is True
    assert kbx(*at, "index", "--fast").code == 0
    assert note not in kbx(*at, "search", "soil", "--fast").err
    assert kbx(*at, "status", "--json").json["entities_outdated"] is False


def test_a_no_to_the_first_run_holds_for_later_ones(
    kbx: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def decline(question: str) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(index_command, "may_ask", lambda: True)
    monkeypatch.setattr(write_output, "confirmed", decline)
    base = write_vault(tmp_path / "base", FILES)
    assert "#garden 6" in kbx("--kb", str(base), "index", "--fast").err
    shutil.rmtree(base / ".kbx" / "index")
    kbx("--kb", str(base), "index", "--fast")
    assert asked == [f"{SENTENCE}: use them as entities?"]
    assert entities_asked(base)


def test_people_in_a_plain_line_of_several_notes_are_proposed_and_linked_to_these(
    tmp_path: Path,
) -> None:
    notes = {
        f"Sync {day}.md": f"# Sync {day}\n\nAttendees: Ines Roth, Guest {day}\n\nWe talked.\n"
        for day in "ABC"
    }
    listed = "Participants: Bring Laptops, Docker, Kubernetes, Sales, Whole Team\n"
    others = {f"Plan {day}.md": listed for day in "ABC"}
    with KnowledgeBase(index_vault(tmp_path / "base", notes | others, fast=True)) as kb:
        proposal = kb.entities.proposal()
        assert proposal.examples == {"people": [("Ines Roth", 3)]}
        assert proposal.settings == {"names": 2}
        (kb.root / "kbx.toml").write_text("[entities]\nnames = 2\n", encoding="utf-8")
    with KnowledgeBase(tmp_path / "base") as kb:
        kb.index(fast=True)
        assert ids(kb) == {"person:ines-roth"}
        assert {result.path for result in kb.search("@ines", fast=True).results} == set(notes)
