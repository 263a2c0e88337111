"""Related documents: by meaning, links and entities, each with its reason."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.errors import NotFound, OutOfRange
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault, write_vault

PLAN = "notes/plan.md"
FILES = {
    "people/ada-lund.md": "# Ada Lund\n\nKeeps bees.\n",
    PLAN: "# Plan for the hives\n\nAda Lund moves the hives. See [[frames]].\n",
    "notes/frames.md": "# Frames\n\nOld frames are burnt.\n",
    "notes/honey.md": "# Honey\n\nAda Lund sells it in June.\n",
    "notes/moving.md": "# Moving the hives of bees\n\nHives move at night, closed.\n",
    "notes/secret.md": "---\nredacted: true\n---\n# Hives\n\nAda Lund moves hives. [[plan]]\n",
    "notes/tax.md": "# Tax\n\nDue in May, on paper.\n",
}


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(index_vault(tmp_path_factory.mktemp("bees"), FILES)) as base:
        base.index()
        yield base


def test_documents_are_related_by_links_entities_and_meaning(kb: KnowledgeBase) -> None:
    reasons = {each.path: each.reason for each in kb.related(PLAN).related}
    assert reasons["notes/frames.md"].startswith("is linked from it")
    assert "links to it" in reasons["notes/secret.md"]
    assert "shares Ada Lund" in reasons["notes/honey.md"]
    assert "close in meaning" in reasons["notes/moving.md"]
    assert "notes/tax.md" not in reasons
    assert PLAN not in reasons


def test_meaning_counts_from_what_is_usual_in_a_base(tmp_path: Path) -> None:
    words = "cuisine salle cave grange tour porte cour grenier loge cage rampe forge halle serre"
    rooms = words.split(" ")
    texts = {
        f"{room}.md": f"# La {room} du manoir\n\nLa {room} du vieux manoir est fermée la nuit.\n"
        for room in rooms
    }
    texts["anguille.md"] = "# Anguille\n\nOn fume l'anguille au bois de hêtre.\n"
    texts["fumoir.md"] = "# Fumoir\n\nAu fumoir, l'anguille est fumée au bois de hêtre.\n"
    with KnowledgeBase(index_vault(tmp_path, texts)) as base:
        base.index()
        assert [each.path for each in base.related("anguille.md").related] == ["fumoir.md"]
        assert len(base.related("cave.md").related) < len(rooms) - 1


def test_an_entity_whose_page_is_one_of_the_two_is_not_shared(kb: KnowledgeBase) -> None:
    page = "people/ada-lund.md"
    of_page = {each.path: each.reason for each in kb.related(page).related}
    assert "names it" in of_page["notes/honey.md"]
    of_note = {each.path: each.reason for each in kb.related("notes/honey.md").related}
    assert "is named in it" in of_note[page]
    assert "shares Ada Lund" not in of_page["notes/honey.md"] + of_note[page]


def test_only_the_best_are_listed_in_order(kb: KnowledgeBase) -> None:
    every = kb.related("Plan for the hives").related
    assert [each.score for each in every] == sorted((e.score for e in every), reverse=True)
    assert kb.related(PLAN, limit=2).related == every[:2]
    with pytest.raises(OutOfRange, match="limit must be 1 or more"):
        kb.related(PLAN, limit=0)


def test_agents_see_nothing_of_a_redacted_page(kb: KnowledgeBase) -> None:
    public = [each.path for each in kb.public.related(PLAN).related]
    assert "notes/secret.md" not in public
    assert "notes/frames.md" in public
    with pytest.raises(NotFound):
        kb.public.related("notes/secret.md")


def test_without_vectors_links_and_entities_count_and_muted_documents_do_not(
    tmp_path: Path,
) -> None:
    muted = {"kbx.toml": '[search]\nmuted_documents = ["notes/frames.md"]\n'}
    with KnowledgeBase(write_vault(tmp_path, FILES | muted)) as base:
        base.index(fast=True)
        found = base.related(PLAN)
        assert "notes/frames.md" not in [each.path for each in found.related]
        assert any("shares Ada Lund" in each.reason for each in found.related)
        assert all("meaning" not in each.reason for each in found.related)
        assert any(note.startswith("meaning 0 %") for note in found.notes)


def test_the_command_prints_reasons_and_the_nearest_name(
    kbx: CommandLine, kb: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = ["--kb", str(kb.root)]
    monkeypatch.setenv("COLUMNS", "40")
    shown = kbx("related", "frames", *base)
    assert shown.code == 0
    assert "notes/plan.md\n       links to it" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 40
    rows = json.loads(kbx("related", PLAN, "--json", "--limit", "1", *base).out)["related"]
    assert len(rows) == 1
    assert kbx("related", "notes/tax.md", *base).out.endswith("no similar text\n")
    unknown = kbx("related", "notes/plam.md", *base)
    assert unknown.code != 0
    assert "did you mean notes/plan.md?" in unknown.err
    assert "say to which document" in kbx("related", *base).err


def test_an_entity_is_named_as_for_a_timeline(kbx: CommandLine, kb: KnowledgeBase) -> None:
    base = ["--kb", str(kb.root)]
    page = kbx("related", "people/ada-lund.md", *base).out
    assert kbx("related", "@ada", *base).out == kbx("related", "Ada Lund", *base).out == page
    assert kbx("related", "@adda lnd", *base).err == kbx("timeline", "@adda lnd", *base).err
