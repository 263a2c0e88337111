"""A base as kbx 0.3.11 keeps it is opened, indexed and searched as it stands.

The files are written here from the format that it documents and writes; none is from that program.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from tests.functional.vaults import write_vault

PERSON = """---
aliases:
- MN
email: maria@harbour.example
role: Harbour Master
team: '[[Quays]]'
pinned: true
timezone: CET
---
# Maria Novak

## Recent Facts
- [2026-03-10] Speaks Catalan
- [2026-03-12] Closes the north quay on Fridays

## Open Items
- [2026-03-14] send the tide tables (from: Quay planning)
"""
AUTO_CREATED = """# Ria Ekdal

**Email:** ria@vendor.example
**Company:** Cranes Ltd

*Auto-created from Granola meeting attendee.*
"""
PROJECT = """---
aliases: [lagoon]
status: Active
started: 2026-02
lead: '[[Maria Novak]]'
task_keywords: [dredging, pumps]
sources:
- {type: slack, channel: C08HJC8MWQN, name: '#lagoon'}
---
# Blue Lagoon

## Recent Facts
- [2026-03-11] Dredging ends before the first cruise ship
"""
COMPANY = """# Company

## Teams (from Linear)
- **Quays** (QUA) — berths, ropes and cranes
- **Tides** (TID) — forecasts
"""
MEETING = """---
title: Quay planning
date: '2026-03-17'
type: {type}
source: granola-api
granola_id: abc123
tags: [Maria, Tomás]
attendees:
- {{name: Maria Novak, email: maria@harbour.example, company: Harbour}}
- {{name: Ria Ekdal, email: ria@vendor.example, company: Cranes Ltd}}
calendar_uid: 0f3a9c11
---
{body}
"""
NOTES_BODY = "## Decisions\n\n- The crane for Blue Lagoon arrives on pontoon seven.\n"
TRANSCRIPT_BODY = (
    "**Maria Novak:** We moor the pontoon on Thursday.\n\n"
    "**Ria Ekdal**: The crane needs eleven metres of water.\n"
)
STEM = "memory/meetings/2026/03/17/0f3a9c11_Quay_planning.granola"
SUPPRESSED = "memory/notes/2026-03-20-lagoon-song.md"
BASE = {
    "kbx.toml": '[sources]\nmeetings = "memory/meetings"\nmemory = "memory"\n\n'
    '[user]\nname = "Maria Novak"\n\n[writes]\nauto_commit = false\n',
    "memory/people/maria-novak.md": PERSON,
    "memory/people/tomas-ruiz.md": "---\nrole: Crane driver\nreports_to: '[[Maria Novak]]'\n---\n"
    "# Tomás Ruiz\n",
    "memory/people/ria-ekdal.md": AUTO_CREATED,
    "memory/projects/blue-lagoon.md": PROJECT,
    "memory/context/company.md": COMPANY,
    "memory/glossary.md": "# Glossary\n\n## Harbour\n\n| Term | Meaning |\n|---|---|\n"
    "| LOA | length over all |\n",
    "memory/notes/2026-03-19-use-quay-two.md": "---\ntitle: Use quay two\ndate: 2026-03-19\n"
    "tags: [ops]\npinned: true\n---\nThe north quay is closed on Fridays.\n",
    SUPPRESSED: "---\ntitle: A song\ndate: 2026-03-20\n---\nO blue lagoon, blue lagoon.\n",
    "memory/.kbx/entity-suppressions.json": f'{{"{SUPPRESSED}": ["Blue Lagoon"]}}\n',
    f"{STEM}.notes.md": MEETING.format(type="notes", body=NOTES_BODY),
    f"{STEM}.transcript.md": MEETING.format(type="transcript", body=TRANSCRIPT_BODY),
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    root = write_vault(tmp_path_factory.mktemp("kbx") / "harbour", BASE)
    before = digests(root)
    with KnowledgeBase(root) as kb:
        kb.index(fast=True)
        yield kb
    assert digests(root) == before  # indexing and reading write no file of the base


def digests(root: Path) -> dict[str, str]:
    return {path: hashlib.sha256((root / path).read_bytes()).hexdigest() for path in BASE}


def test_people_projects_and_teams_are_its_entities(base: KnowledgeBase) -> None:
    named = {(entity.type, entity.name) for entity in base.entities.find("", 100)}
    assert named == {
        *(("person", name) for name in ("Maria Novak", "Tomás Ruiz", "Ria Ekdal")),
        ("project", "Blue Lagoon"),
        *(("team", name) for name in ("Quays", "Tides")),
    }
    for name, entity_id in (
        ("MN", "person:maria-novak"),
        ("maria@harbour.example", "person:maria-novak"),
        ("ria@vendor.example", "person:ria-ekdal"),
        ("lagoon", "project:blue-lagoon"),
        ("QUA", "team:quays"),
    ):
        assert base.entities.find(name)[0].id == entity_id
    assert not base.status().problems


def test_facts_are_those_of_recent_facts_and_open_items_are_none(base: KnowledgeBase) -> None:
    card = base.entities.card("person:maria-novak")
    assert [(fact.date, fact.text) for fact in card.facts] == [
        ("2026-03-12", "Closes the north quay on Fridays"),
        ("2026-03-10", "Speaks Catalan"),
    ]
    assert [item.text for item in card.open_items] == ["send the tide tables"]
    assert (card.role, card.team) == ("Harbour Master", "Quays")
    assert [fact.text for fact in base.entities.card("project:blue-lagoon").facts] == [
        "Dredging ends before the first cruise ship"
    ]


def test_meetings_belong_to_their_attendees_and_speakers_are_read(base: KnowledgeBase) -> None:
    meetings = {f"{STEM}.notes.md", f"{STEM}.transcript.md"}
    for entity_id in ("person:maria-novak", "person:ria-ekdal"):
        linked = {link.path for link in base.entities.card(entity_id).documents}
        assert meetings <= linked
    tagged = {link.path for link in base.entities.card("person:tomas-ruiz").documents}
    assert meetings <= tagged  # by his first name, which no one else has
    assert SUPPRESSED not in {
        link.path for link in base.entities.card("project:blue-lagoon").documents
    }
    answer = base.search("what did Ria say about the crane?", doc_types=["meeting"])
    assert {result.path for result in answer.results} == meetings
    assert answer.meta.search_mode == "two_pass"


def test_documents_are_found_by_words_of_every_kind_of_page(base: KnowledgeBase) -> None:
    for query, path in (
        ("north quay closed", "memory/notes/2026-03-19-use-quay-two.md"),
        ("length over all", "memory/glossary.md"),
        ("eleven metres of water", f"{STEM}.transcript.md"),
        ("dredging pumps", "memory/projects/blue-lagoon.md"),
    ):
        assert base.search(query, fast=True).results[0].path == path
