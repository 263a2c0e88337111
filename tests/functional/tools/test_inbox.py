"""What agents write waits in the inbox: proposed over MCP, judged, decided, and asked about."""

import json
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters

from kbx_tui import KnowledgeBase
from kbx_tui.drafting.deciding import decide
from kbx_tui.drafting.drafts import Applied, Asked, Choice, Draft, new_draft
from kbx_tui.drafting.inbox import KEPT_DECIDED, MOST_LINES, MOST_WAITING, Inbox
from kbx_tui.errors import NotConfirmed
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tools.methods import METHODS, output_schema
from tests.command_line import CommandLine, program_environment
from tests.functional.vaults import index_vault

ADA = "memory/people/ada.md"
TEXT = """# Ada Reed

## Recent Facts
- [2026-01-01] Mends the nets of the harbour boats
- [2026-01-02] Prefers written async updates
- [2026-01-03] Owns a red boat #redacted
- [2026-01-04] Rows 5 races a year
"""
HIDDEN = "---\nredacted: true\n---\n# Zoe Quill\n\n## Recent Facts\n- Hums at work\n"
NEW = {"text": "Collects antique barometers", "entity": "Ada Reed"}


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return index_vault(tmp_path, {ADA: TEXT, "memory/people/zoe.md": HIDDEN})


@pytest.fixture
def worker(base: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(base), allow_writes=True, reviews=True)
    yield engine
    engine.close()


@pytest.fixture
def kb(base: Path) -> Iterator[KnowledgeBase]:
    with KnowledgeBase(base) as opened:
        yield opened


def agent(worker: EngineWorker, name: str = "claude-code") -> AbstractAsyncContextManager[Client]:
    about = types.Implementation(name=name, version="1")
    return Client(make_server(worker), client_info=about)


def write(worker: EngineWorker, method: str, **params: Any) -> Any:
    answer = worker.answer(method, params)
    assert answer.failure is None, answer.json
    Draft202012Validator(output_schema(METHODS[method])).validate(answer.json)
    return answer.json


def fact_ids(kb: KnowledgeBase) -> dict[str, int]:
    return {fact.text.split()[0]: fact.fact_id for fact in kb.entities.facts()}


def outcome(worker: EngineWorker, proposal: str) -> str:
    data = write(worker, "kb.get", id=proposal)["data"]
    return str(data["proposal"]["outcome"])


def decided(kb: KnowledgeBase, **changes: Any) -> list[Draft]:
    """Return what waits with the choice that is proposed, or with `changes`."""
    checks = kb.drafts.check(kb.drafts.inbox())
    return [replace(each.draft, **{"choice": decide(each).proposal, **changes}) for each in checks]


def apply(kb: KnowledgeBase, drafts: list[Draft]) -> Applied:
    applied: Applied = kb.drafts.apply(kb.drafts.plan(drafts))
    return applied


def proposal(number: int, **fields: Any) -> Draft:
    return new_draft(
        f"fact {number}", asked=Asked("agent", 1.0 * number, Choice("create")), **fields
    )


async def test_a_write_of_an_agent_waits_with_its_name_and_changes_no_page(
    worker: EngineWorker, base: Path, kb: KnowledgeBase
) -> None:
    async with agent(worker, "claude-code\x1b[31m" + "x" * 100) as client:
        listed = await client.list_tools()
        assert len(listed.model_dump_json(by_alias=True, exclude_unset=True)) < 10_500
        answer = (await client.call_tool("kbx_memory_add", NEW)).structured_content
        assert "proposed to the user" in str(client.instructions)
    assert (answer["written"], answer["entry"]) == (False, None)
    assert "+- [" in answer["diff"]
    assert answer["hints"][0].startswith("proposed, not written")
    assert (base / ADA).read_text("utf-8") == TEXT
    (draft,) = kb.drafts.inbox()
    assert draft.asked is not None
    assert answer["proposal"] == f"proposal:{draft.id}"
    assert draft.asked.by == ("claude-code" + "x" * 100)[:40]
    assert (draft.text, draft.entity_id) == (NEW["text"], "person:ada-reed")
    assert outcome(worker, answer["proposal"]) == "waiting"
    assert write(worker, "kb.capabilities")["review_gated"] is True
    assert stat.S_IMODE((base / ".kbx/inbox.jsonl").stat().st_mode) == 0o600


def test_every_writing_tool_proposes_and_the_user_carries_it_out(
    worker: EngineWorker, base: Path, kb: KnowledgeBase
) -> None:
    ids = fact_ids(kb)
    calls = [
        (
            "kbx.memory_edit_fact",
            {"fact_id": ids["Prefers"], "text": "Prefers async updates, daily"},
        ),
        ("kbx.memory_supersede", {"fact_id": ids["Mends"], "text": "Paints the pier in spring"}),
    ]
    proposals = [write(worker, name, **params)["proposal"] for name, params in calls]
    assert (base / ADA).read_text("utf-8") == TEXT
    drafts = decided(kb)
    assert [draft.choice and draft.choice.action for draft in drafts] == ["merge", "supersede"]
    applied = apply(kb, drafts)
    page = (base / ADA).read_text("utf-8")
    assert "- [2026-01-02] Prefers async updates, daily\n" in page
    assert "~~Mends the nets" in page
    assert "Paints the pier in spring" in page
    assert [outcome(worker, each) for each in proposals] == ["accepted"] * 2
    kb.undo(applied.entry)
    assert (base / ADA).read_text("utf-8") == TEXT


@pytest.mark.parametrize(
    ("name", "left"),
    [("kbx.memory_delete_fact", ""), ("kbx.memory_supersede", "~~Mends the nets of the harbour")],
)
def test_removals_wait_too(
    worker: EngineWorker, base: Path, kb: KnowledgeBase, name: str, left: str
) -> None:
    write(worker, name, fact_id=fact_ids(kb)["Mends"])
    assert (base / ADA).read_text("utf-8") == TEXT
    apply(kb, decided(kb))
    page = (base / ADA).read_text("utf-8")
    assert left in page
    assert bool(left) == ("Mends" in page)


def test_an_agent_learns_what_became_of_it(worker: EngineWorker, kb: KnowledgeBase) -> None:
    first, second = (
        write(worker, "kbx.memory_add", **{**NEW, "text": text})["proposal"]
        for text in ("Collects antique barometers", "Rows to the lighthouse on Sundays")
    )
    keep, drop = decided(kb)
    apply(kb, [replace(keep, text="Collects old barometers"), replace(drop, choice=Choice("skip"))])
    assert (outcome(worker, first), outcome(worker, second)) == ("changed", "refused")
    both = write(worker, "kb.get", ids=[first, second])["data"]["pages"]
    assert "old barometers" not in json.dumps(both)
    assert [each.written for each in kb.drafts.proposals()] == ["Collects old barometers", ""]
    refused = write(worker, "kbx.memory_add", **{**NEW, "text": drop.text})
    assert (refused["proposal"], refused["hints"][0][:12]) == (second, "not proposed")
    assert not kb.drafts.inbox()
    again = write(worker, "kbx.memory_add", **{**NEW, "text": drop.text, "force": True})
    assert again["proposal"] != second
    assert worker.answer("kb.get", {"id": "proposal:0123456789ab"}).failure is not None


def test_what_is_known_is_not_proposed_and_a_dry_run_proposes_nothing(
    worker: EngineWorker, kb: KnowledgeBase
) -> None:
    known = write(worker, "kbx.memory_add", text="prefers written async updates", entity="Ada Reed")
    assert (known["proposal"], known["hints"][-1][:5]) == (None, "known")
    assert write(worker, "kbx.memory_add", **NEW, dry_run=True)["proposal"] is None
    contrary = write(worker, "kbx.memory_add", text="Rows 3 races a year", entity="Ada Reed")
    assert [match["relation"] for match in contrary["matches"]] == ["conflict"]
    (draft,) = decided(kb)  # which is for the user to decide
    assert draft.choice == Choice("supersede", (fact_ids(kb)["Rows"],))
    apply(kb, [replace(draft, choice=Choice("skip"))])
    first, second = (write(worker, "kbx.memory_add", **NEW)["proposal"] for _ in range(2))
    assert first == second
    assert len(kb.drafts.inbox()) == 1


@pytest.mark.parametrize("entity", ["Nobody At All", "Zoe Quill"])
def test_what_does_not_exist_for_an_agent_cannot_be_proposed_about(
    worker: EngineWorker, kb: KnowledgeBase, entity: str
) -> None:
    for name, params in (
        ("kbx.memory_add", {**NEW, "entity": entity}),
        ("kbx.memory_delete_fact", {"fact_id": fact_ids(kb)["Owns"]}),
        ("kbx.memory_edit_fact", {"fact_id": 12345, "text": "Hums"}),
    ):
        assert worker.answer(name, params).failure is not None
    assert not kb.drafts.inbox()


def test_a_proposal_outlives_its_page_and_changes_nothing_else(
    worker: EngineWorker, base: Path, kb: KnowledgeBase
) -> None:
    write(worker, "kbx.memory_edit_fact", fact_id=fact_ids(kb)["Mends"], text="Mends sails")
    write(worker, "kbx.memory_add", **NEW)
    page = base / ADA
    page.write_text(TEXT.replace("harbour boats", "whole fleet"), "utf-8")
    plan = kb.drafts.plan(decided(kb))
    assert [problem.reason[-27:] for problem in plan.problems] == [" longer exists; check again"]
    assert [action for _, action in plan.actions] == ["create"]
    page.unlink()
    kb.index(fast=True)
    plan = kb.drafts.plan(decided(kb))
    assert (len(plan.problems), plan.files) == (2, ())
    assert len(kb.drafts.inbox()) == 2


def test_the_text_of_a_proposal_cannot_act_on_a_terminal(
    worker: EngineWorker, kb: KnowledgeBase, kbx: CommandLine, base: Path
) -> None:
    write(
        worker,
        "kbx.memory_add",
        text="Paints [bold]\x1b]0;x\x07boats\u202e\x00",
        entity="Ada Reed",
    )
    (draft,) = kb.drafts.inbox()
    assert draft.text == "Paints [bold]boats\ufffd"
    shown = kbx("inbox", "--kb", base)
    assert "Paints [bold]boats" in shown.out
    assert "an agent, just now" in shown.out
    assert "\x1b" not in shown.out


def test_the_inbox_is_decided_on_the_command_line(
    worker: EngineWorker, kbx: CommandLine, base: Path
) -> None:
    texts = ("Collects antique barometers", "Rows on Sundays", "Hums at the oars")
    ids = [
        write(worker, "kbx.memory_add", text=text, entity="Ada Reed")["proposal"] for text in texts
    ]
    listed = kbx("inbox", "--json", "--kb", base).json
    assert [each["text"] for each in listed["drafts"]] == list(texts)
    assert [f"proposal:{each['asked']['id']}" for each in listed["drafts"]] == ids
    assert (base / ADA).read_text("utf-8") == TEXT
    assert kbx("inbox", ids[0], "--accept", "--kb", base).code == 0
    assert kbx("inbox", "all", "--refuse", "--kb", base).code == 0
    assert texts[0] in (page := (base / ADA).read_text("utf-8"))
    assert texts[1] not in page
    rows = kbx("inbox", "--decided", "--json", "--kb", base).json
    assert [row["outcome"] for row in rows] == ["accepted", "refused", "refused"]
    assert kbx("inbox", ids[0], "--accept", "--kb", base).code == 4
    assert kbx("inbox", "--accept", "--kb", base).code == 2
    assert kbx("inbox", "--kb", base).out == "nothing waits\n"
    kbx("undo", "--kb", base)
    again = kbx("inbox", "--json", "--kb", base).json
    assert [f"proposal:{each['asked']['id']}" for each in again["drafts"]] == ids[:1]


def test_times_that_no_clock_shows_are_listed(kbx: CommandLine, base: Path) -> None:
    inbox = Inbox(base)
    inbox.add(drafted := proposal(1))
    inbox.decide({drafted.id: ("refused", "")})
    state = base / ".kbx"
    log = (state / "inbox.jsonl").read_text("utf-8")
    (state / "inbox.jsonl").write_text(re.sub(r'"at":[\d.]+', '"at":1e300', log), "utf-8")
    (state / "queries.jsonl").write_text('{"query": "oars", "at": 1e300}\n', "utf-8")
    assert kbx("inbox", "--decided", "--kb", base).out.startswith(("3000-", "2999-"))
    assert kbx("history", "list", "--kb", base).code == 0


@pytest.mark.slow
def test_a_flood_is_stopped_and_the_file_stays_small(tmp_path: Path) -> None:
    inbox = Inbox(tmp_path)
    for start in (0, MOST_WAITING):
        for number in range(start, start + MOST_WAITING):
            inbox.add(proposal(number))
        with pytest.raises(NotConfirmed, match="ask the user to review them"):
            inbox.add(proposal(-1))
        inbox.decide({draft.id: ("refused", "") for draft in inbox.waiting()})
    newest = inbox.proposals()[-1].draft
    inbox.decide({newest.id: ("waiting", "")})
    for _ in range(MOST_LINES // MOST_WAITING):
        refused = {each.draft.id: each.outcome for each in inbox.proposals()[-MOST_WAITING:-1]}
        inbox.decide({draft_id: (outcome, "") for draft_id, outcome in refused.items()})
    assert len((tmp_path / ".kbx/inbox.jsonl").read_bytes().splitlines()) <= MOST_LINES
    assert inbox.waiting() == (newest,)
    assert len(inbox.proposals()) == KEPT_DECIDED + 1


def test_damaged_lines_are_left_out_and_kept(tmp_path: Path) -> None:
    notices: list[str] = []
    inbox = Inbox(tmp_path, notices.append)
    first = inbox.add(proposal(1)).draft
    file = tmp_path / ".kbx/inbox.jsonl"
    bad = (
        b'{"id": "x", "outcome": "gone"}\n\xff\xfe{\n{"id": "z", "draft": {"id": "y"}}\n{"id": "cut'
    )
    file.write_bytes(file.read_bytes() + bad)
    second = inbox.add(proposal(2)).draft
    assert inbox.waiting() == (first, second)
    assert bad in file.read_bytes()
    assert any("cannot be read" in notice for notice in notices)


def test_what_is_dropped_is_refused_and_undo_brings_it_back(kb: KnowledgeBase) -> None:
    late = proposal(3, entity_id="person:ada-reed", is_guessed=False)
    for number in (1, 2):
        kb.drafts.propose(proposal(number, entity_id="person:ada-reed", is_guessed=False))
    first, second = kb.drafts.stored()
    kb.drafts.propose(late)  # meanwhile, by an agent
    kb.drafts.save([replace(second, text="fact two")])
    assert [each.text for each in kb.drafts.inbox()] == ["fact two", "fact 3"]
    assert [each.outcome for each in kb.drafts.proposals()] == ["refused", "waiting", "waiting"]
    kb.drafts.save([first, second])
    assert {each.text for each in kb.drafts.inbox()} == {"fact 1", "fact 2", "fact 3"}
    assert {each.outcome for each in kb.drafts.proposals()} == {"waiting"}


@pytest.mark.slow
def test_processes_that_propose_at_once_and_are_killed_lose_nothing(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from kbx_tui.drafting.drafts import Asked, Choice, new_draft
from kbx_tui.drafting.inbox import Inbox
inbox = Inbox(Path(sys.argv[1]))
for number in range(90):
    asked = Asked(sys.argv[2], 1.0, Choice("create"))
    inbox.add(new_draft(f"{sys.argv[2]} {number}", asked=asked))
    print(number, flush=True)
"""
    command = [sys.executable, "-c", program, str(tmp_path)]
    writers = [
        subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in "ab"
    ]
    assert writers[0].stdout
    while int(writers[0].stdout.readline()) < 40:
        pass
    writers[0].send_signal(signal.SIGKILL)
    told = 40 + len(writers[0].communicate()[0].split())
    writers[1].communicate()
    waiting = [draft.text for draft in Inbox(tmp_path).waiting()]
    assert [text for text in waiting if text[0] == "b"] == [f"b {n}" for n in range(90)]
    assert {f"a {n}" for n in range(told)} <= set(waiting)


@pytest.mark.slow
async def test_the_flag_alone_means_review_and_direct_writes(base: Path, kb: KnowledgeBase) -> None:
    for option, is_written in (("--allow-writes", False), ("--allow-writes=direct", True)):
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "kbx_tui", "--kb", str(base), "mcp", option],
            env=program_environment({}),
        )
        async with Client(server) as client:
            answer = (await client.call_tool("kbx_memory_add", NEW)).structured_content
        assert answer["written"] is is_written
        assert (NEW["text"] in (base / ADA).read_text("utf-8")) is is_written
    (draft,) = kb.drafts.inbox()
    assert draft.asked
    assert draft.asked.by  # the name that the SDK's client gives itself


def test_looking_at_the_inbox_takes_no_draft_of_another_window(base: Path) -> None:
    with KnowledgeBase(base) as one, KnowledgeBase(base) as other:
        one.drafts.stored()
        other.drafts.save([new_draft("Keeps bees")])
        other.drafts.propose(proposal(1))
        shown = one.drafts.inbox(shown=True)
        other.drafts.propose(proposal(2))
        one.drafts.save(shown)
        texts = [draft.text for draft in one.drafts.stored()]
        assert texts.count("Keeps bees") == 1
        assert len(texts) == 3  # the second proposal, which was not shown, still waits
