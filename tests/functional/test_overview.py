"""The digest of a base, and the timeline of an entity, also as of a day."""

import json
import os
import re
from pathlib import Path

import pytest

from kbx_tui import ConfigError, KnowledgeBase, OutOfRange
from kbx_tui.knowledge.facts import FactLine, read_fact_line
from kbx_tui.tools.dispatch import call
from tests.command_line import CommandLine
from tests.functional.vaults import index_vault
from tests.hostile_base import controls_in, write_hostile_base

ADA = """---
role: Skipper
team: '[[Fleet]]'
---
# Ada Stone

## Recent Facts
- [2026-03-01] Sails the north route
- [2026-01-05] ~~Sails the south route~~ (superseded: 2026-03-01) (source: memory/notes/routes.md)
- [2026-01-04] ~~Owns two boats~~
- Likes fog
- [2026-02-01] Hides gold #redacted

## Open Items
- [ ] [2026-02-10] mend the \x1b[31mnets
- [x] [2026-02-11] buy rope
"""
FILES = {
    "memory/people/ada-stone.md": ADA,
    "memory/projects/harbour.md": "# Harbour\n\nLed by [[Ada Stone]].\n",
    "memory/meetings/2026/02/20/routes.md": "---\nattendees: [Ada Stone]\n---\n# Routes\n\nRope.\n",
    "memory/meetings/2026/04/01/spring.md": "---\nattendees: [Ada Stone]\n---\n# Spring\n\nFog.\n",
    "memory/notes/odd.md": "---\ndate: 9999-99-99\n---\n# Odd\n\nAda Stone was there.\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return index_vault(tmp_path_factory.mktemp("base"), FILES)


def test_timeline_has_facts_items_and_documents_by_date(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        found = kb.entities.timeline("@ada")
    shown = [(one.date, one.kind, one.text, one.status) for one in found.entries]
    assert shown[:3] == [
        ("2026-04-01", "meeting", "Spring", ""),
        ("2026-03-01", "fact", "Sails the north route", "active"),
        ("2026-02-20", "meeting", "Routes", ""),
    ]
    assert ("2026-01-05", "fact", "Sails the south route", "superseded") in shown
    assert ("2026-02-11", "open_item", "buy rope", "done") in shown
    assert ("", "fact", "Likes fog", "active") in shown
    assert (found.more, found.later) == (0, 0)


def test_a_card_shows_what_held_on_a_day(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        now, then = (kb.entities.card("person:ada-stone", as_of=day) for day in ("", "2026-02-28"))
    assert {fact.text: fact.status for fact in then.facts} == {
        "Hides gold": "redacted",
        "Sails the south route": "active",
        "Owns two boats": "superseded",
    }
    assert (then.open_items, now.open_items[1].done) == (now.open_items, True)
    assert [each.title for each in then.documents] == ["Routes"]
    assert [each.title for each in now.documents][:2] == ["Spring", "Routes"]


@pytest.mark.parametrize(
    ("as_of", "status", "first"),
    [
        ("2026-02-28", "active", "Routes"),
        ("2026-02", "active", "Routes"),
        ("2026-03-01", "superseded", "Sails the north route"),
        ("2026", "superseded", "Spring"),
    ],
)
def test_timeline_shows_what_held_on_a_day(
    base: Path, kbx: CommandLine, as_of: str, status: str, first: str
) -> None:
    found = kbx("timeline", "Ada Stone", "--as-of", as_of, "--kb", base, "--json").json
    by_text = {entry["text"]: entry for entry in found["entries"]}
    assert found["entries"][0]["text"] == first
    assert by_text["Sails the south route"]["status"] == status
    assert by_text["Sails the south route"]["superseded"] == "2026-03-01"
    assert by_text["Owns two boats"]["status"] == "superseded"  # since when is not stated
    assert "Likes fog" not in by_text
    assert found["later"] >= 2


def test_timeline_is_limited_and_refuses_a_malformed_date(base: Path, kbx: CommandLine) -> None:
    ran = kbx("timeline", "ada", "--limit", "2", "--kb", base)
    assert len(ran.out.splitlines()) == 3
    assert "older entries left out" in ran.err
    shown = kbx("timeline", "ada", "--kb", base).out
    assert "\x1b" not in shown
    assert not re.search(r"\d{9}", shown), "ids of facts are for programs"
    with KnowledgeBase(base) as kb:
        with pytest.raises(ConfigError, match="not a date"):
            kb.entities.timeline("ada", as_of="2026-99-99")
        for as_of in ("tomorrow", "2026-3-1"):
            with pytest.raises(ConfigError, match="not a date"):
                kb.entities.card("person:ada-stone", as_of=as_of)
        for limit in (0, -1):
            with pytest.raises(OutOfRange, match="limit must be 1 or more"):
                kb.entities.timeline("ada", limit=limit)


def test_struck_fact_states_since_when_and_reads_back(tmp_path: Path) -> None:
    with KnowledgeBase(index_vault(tmp_path, FILES)) as kb:
        (fact,) = [fact for fact in kb.entities.facts() if fact.text == "Sails the north route"]
        with pytest.raises(ConfigError, match="is dated 2026-03-01, so it cannot be superseded on"):
            kb.pages.supersede_fact(fact.fact_id, date="2026-02-01")
        kb.pages.supersede_fact(fact.fact_id, text="Sails east", date="2026-05-01", force=True)
        page = (tmp_path / fact.path).read_text(encoding="utf-8")
        assert "- [2026-03-01] ~~Sails the north route~~ (superseded: 2026-05-01)\n" in page
        then = kb.entities.timeline("ada", as_of="2026-04-30").entries
        assert [one.status for one in then if one.fact_id == fact.fact_id] == ["active"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("~~old~~ (superseded: 2026-03-17)", FactLine("old", status="superseded")),
        ("old [superseded: 2026-03-17]", FactLine("old", status="superseded")),
        ("new (superseded: the old rule)", FactLine("new (superseded: the old rule)")),
    ],
)
def test_note_with_a_day_reads_as_superseded(line: str, expected: FactLine) -> None:
    assert read_fact_line(line) == expected


def test_digest_fits_its_tokens_and_is_the_same_again(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        whole, again, small = kb.context(), kb.context(), kb.context(100)
        assert whole == again
        assert not whole.left_out
        assert len(whole.text.encode()) <= 4 * whole.tokens <= 4 * 2000
        assert len(small.text.encode()) <= 4 * small.tokens <= 400
        assert small.left_out
        with pytest.raises(OutOfRange, match="tokens must be within"):
            kb.context(99)
    lines = whole.text.splitlines()
    headings = [line for line in lines if line.startswith("## ")]
    assert headings == [
        *("## People", "## Projects", "## Teams"),
        *("## Open items", "## Recent facts", "## Recent documents"),
    ]
    assert any(line.startswith("- Ada Stone: Skipper, Fleet") for line in lines)
    assert any("mend the nets [fact " in line for line in lines)
    assert "- 2026-04-01 meeting: Spring [memory/meetings/2026/04/01/spring.md:1]" in lines
    assert "south route" not in whole.text
    assert "gold" not in whole.text


def test_agent_gets_nothing_marked_since_the_last_run(tmp_path: Path) -> None:
    page = index_vault(tmp_path, FILES) / "memory/people/ada-stone.md"
    text = ADA.replace("north route", "north route #redacted")
    page.write_text(text, encoding="utf-8")
    os.utime(page, (1e9, 1e9))
    with KnowledgeBase(tmp_path) as kb:
        answer = call(kb, "kbx.context", {"tokens": 500})
    assert "Ada Stone" in answer["text"]
    assert "north route" not in json.dumps(answer)


@pytest.mark.parametrize(
    "words",
    [
        ("timeline", "@mallory"),
        ("timeline", "mallory", "--as-of", "2026-03"),
        ("context", "--tokens", "500"),
        ("related", "@mallory"),
        ("entity", "list", "--stale", "1"),
    ],
    ids=" ".join,
)
def test_nothing_in_a_base_reaches_the_terminal_as_a_control(
    words: tuple[str, ...], tmp_path: Path, kbx: CommandLine
) -> None:
    root = write_hostile_base(tmp_path)
    kbx("index", "--kb", str(root))
    shown = kbx(*words, "--kb", str(root))
    assert shown.code == 0, shown.err
    assert "quokka" in shown.out or "Mallory" in shown.out or "Fact" in shown.out
    assert not controls_in(shown.out + shown.err)
