"""No tool returns redacted text."""

import io
import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

import pytest
from mcp import Client

from kbx_tui import KnowledgeBase
from kbx_tui.api import file_writer
from kbx_tui.api.documents import Documents
from kbx_tui.editing.journal import FOLDER, PENDING
from kbx_tui.errors import NotFound
from kbx_tui.index.build.writer_lock import writer_lock
from kbx_tui.knowledge.redaction import PublicPage
from kbx_tui.tools import jsonl_server
from kbx_tui.tools.dispatch import answer_call, call
from kbx_tui.tools.engine_worker import EngineWorker
from kbx_tui.tools.mcp_server import make_server
from kbx_tui.tools.public_answers import NOT_INDEXED_SINCE
from tests.functional.tools.conftest import HIDDEN, PAGES, SECRET
from tests.functional.vaults import index_vault, write_vault
from tests.trusting import copy_base
from tests.waiting import PATIENCE

ADA = "memory/people/ada.md"
BOB = "memory/people/bob.md"
DAY = "2026-03-10"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    pages = {}
    for path, name in ((ADA, "Ada"), (BOB, "Bob")):
        lines = "\n".join(f"- {name} mends boat {number}" for number in range(3))
        pages[path] = f"# {name}\n\nOf the harbour.\n\n## Facts\n{lines}\n"
    return index_vault(tmp_path, pages)


def test_a_text_taken_out_of_its_file_is_withheld_before_the_index_knows(base: Path) -> None:
    page = base / BOB
    page.write_text(page.read_text("utf-8").replace("- Bob mends boat 2\n", ""), "utf-8")
    with KnowledgeBase(base) as kb:
        found = call(kb, "kbx.memory_similar", {"text": "Bob mends boat 2", "threshold": 0.0})
        assert "Bob mends boat 2" not in [match["text"] for match in found["matches"]]
        assert found["matches"]


def test_what_is_about_a_marked_page_is_refused_while_it_cannot_be_indexed(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_writer, "INDEX_LOCK_SECONDS", 0.0)
    page = base / ADA
    page.write_text(page.read_text("utf-8").replace("boat 1", "boat 1 #redacted"), "utf-8")
    known = {"text": "Ada mends boat 1"}
    with KnowledgeBase(base) as kb, writer_lock(base):
        for name, params in (
            ("kb.search", {"query": "mends boat"}),
            ("kb.get", {"id": "person:ada"}),
            ("kb.experts", {"topic": "boat"}),
            ("kbx.search", {"query": "mends boat", "limit": 2}),
            ("kbx.links", {"id": "person:ada"}),
            ("kbx.memory_similar", known),
            ("kbx.memory_similar", {"text": "x y z", "entity": "person:ada"}),
            ("kbx.memory_similar", known | {"threshold": 1.0, "limit": 1}),
            ("kbx.memory_add", known | {"entity": "person:ada"}),
            ("kbx.entity_similar_field", {"entity": "Ada", "field": "role", "value": "keeper"}),
        ):
            failure = answer_call(lambda: kb, name, params, allow_writes=True).failure
            assert failure is not None, name
            assert (failure.type, failure.message) == ("TRANSIENT", NOT_INDEXED_SINCE)
        assert call(kb, "kb.get", {"id": "person:bob"})["data"]["id"] == "person:bob"


def test_a_call_about_a_page_that_is_gone_waits_for_a_run_in_progress(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_writer, "INDEX_LOCK_SECONDS", PATIENCE)
    (base / ADA).unlink()
    with KnowledgeBase(base) as kb, ExitStack() as run:
        run.enter_context(writer_lock(base))
        Timer(0.2, run.close).start()
        found = call(kb, "kbx.search", {"query": "mends boat"})
        assert found["results"] and ADA not in [result["path"] for result in found["results"]]


def test_a_change_that_agents_do_not_see_is_not_noted(base: Path) -> None:
    hidden = base / "memory" / "people" / "dan.md"
    hidden.write_text("# Dan #redacted\n\nOf the quay.\n", "utf-8")
    with KnowledgeBase(base) as kb:
        kb.index(fast=True)

    def notes() -> list[str]:
        with KnowledgeBase(base) as kb:
            return [n for n in call(kb, "kb.capabilities", {})["notes"] if "meaning" not in n]

    assert notes() == []
    hidden.write_text("# Dan #redacted\n\nOf the pier.\n", "utf-8")
    hidden.with_name("eve.md").write_text("# Eve #redacted\n\nOf the pier.\n", "utf-8")
    assert notes() == []
    hidden.unlink()
    assert notes() == []
    (base / ADA).write_text("# Ada\n\nOf the dock.\n", "utf-8")
    assert notes() == ["1 file changed since the last run"]


def test_a_write_that_is_finished_for_an_agent_is_said_to_the_owner_alone(base: Path) -> None:
    said: list[str] = []
    hidden = base / "memory" / "people" / "dan.md"
    hidden.write_text("# Dan #redacted\n\n## Facts\n- Mends oars\n", "utf-8")
    before = hidden.read_bytes()
    with KnowledgeBase(base, notice=said.append) as kb:
        kb.index(fast=True)
        kb.memory_add("Sells rope", entity="Dan")
        shutil.copy(base / FOLDER / "000001.json", base / PENDING)
        hidden.write_bytes(before)
        fact = {"text": "Paints the quay", "entity": "Bob"}
        written = call(kb, "kbx.memory_add", fact, allow_writes=True)
    assert written["written"]
    assert "Sells rope" in hidden.read_text("utf-8")
    assert "dan" not in json.dumps(written)
    assert any("finished an interrupted write of memory/people/dan.md" in each for each in said)


def test_a_write_to_a_marked_page_that_cannot_be_indexed_is_confirmed_once(base: Path) -> None:
    page = base / ADA
    page.write_text(page.read_text("utf-8").replace("boat 1", "boat 1 #redacted"), "utf-8")
    with KnowledgeBase(base) as kb, writer_lock(base):
        params = {"text": "Ada mends boat 1", "entity": "Ada", "force": True}
        added = call(kb, "kbx.memory_add", params, allow_writes=True)
    assert (added["written"], added["matches"]) == (True, [])
    assert page.read_text("utf-8").count("Ada mends boat 1") == 2


@pytest.mark.parametrize(
    ("name", "field"),
    [
        *(("Alice", "role"), ("Chen", "facts"), ("Ally", "role"), ("alice chen", "facts")),
        *(("alice-chen", "role"), ("Alice Chen", "facts")),
        *(("person:alice-chen", "role"), ("person:alice-chen", "facts")),
    ],
)
def test_a_marked_page_is_indexed_first_however_a_call_names_its_entity(
    tmp_path: Path, name: str, field: str
) -> None:
    text = "---\naliases: [Ally]\nrole: Engineer\n---\n# Alice Chen\n\n## Facts\n- Engineer\n"
    with KnowledgeBase(index_vault(tmp_path, {"memory/people/alice-chen.md": text})) as kb:
        marked = text.replace("Engineer\n---", "Engineer # redacted\n---")
        marked = marked.replace("- Engineer", "- Engineer #redacted")
        write_vault(tmp_path, {"memory/people/alice-chen.md": marked})
        params = {"entity": name, "field": field, "value": "Engineer"}
        found = call(kb, "kbx.entity_similar_field", params)
    assert (found["current_value"], found["similarity"]) == (None, 0.0)


def test_no_expert_is_known_for_a_claim_of_another_page_marked_since(base: Path) -> None:
    claim = "---\nlead: Bob\n---\n# Atlas\n\n## Facts\n- The lease is signed\n"
    write_vault(base, {"memory/projects/atlas.md": claim})
    with KnowledgeBase(base) as kb:
        kb.index()
        topic = {"topic": "lease", "limit": 1}
        (expert,) = call(kb, "kb.experts", topic)["experts"]
        assert expert["entity_id"] == "person:bob"
        marked = claim.replace("signed", "signed #redacted")
        write_vault(base, {"memory/projects/atlas.md": marked})
        assert not call(kb, "kb.experts", topic)["experts"]


def test_an_agent_writes_as_if_redacted_lines_said_something_else(tmp_path: Path) -> None:
    told = []
    for secret in ("Keeps the key", "Paints the boat", "Anything at all"):
        root, lines = tmp_path / secret, f"- Likes tea\n- {secret} #redacted\n  - more of it"
        page = f"# Ada\n\n## Facts\n{lines}\n- Sings\n\n## Notes\n\nOpen.\n"
        with KnowledgeBase(index_vault(root, {ADA: page}, fast=True)) as kb:
            write = partial(call, kb, allow_writes=True)
            added = write("kbx.memory_add", {"text": "Keeps the key", "entity": "Ada", "date": DAY})
            number = added["fact_id"]
            newer = {"fact_id": number, "text": "Paints the boat"}
            told += [added, write("kbx.memory_supersede", newer)]
            told.append(write("kbx.memory_delete_fact", {"fact_id": number}))
            with pytest.raises(NotFound, match="no fact has the id"):
                call(kb, "kb.get", {"id": number})
        after = (root / ADA).read_text("utf-8")
        assert f"{lines}\n- Sings\n" in after
        assert "Paints the boat\n\n## Notes\n\nOpen.\n" in after
    assert told[:3] == told[3:6] == told[6:]


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_agent_deletes_a_fact_beside_redacted_ones(tmp_path: Path, number: int) -> None:
    marked = [f"- Secret {count} (redacted)\n  - more of it" for count in range(2)]
    lines = ["- Fact 1", marked[0], "- Fact 2", marked[1], "- Fact 3"]
    page = "# Ada\n\n## Facts\n" + "\n".join(lines) + "\n\n## Notes\n\nOpen.\n"
    with KnowledgeBase(index_vault(tmp_path, {ADA: page})) as kb:
        text = f"Fact {number}"
        found = call(kb, "kbx.memory_similar", {"text": text, "entity": "Ada", "threshold": 0.0})
        (fact_id,) = (each["fact_id"] for each in found["matches"] if each["text"] == text)
        call(kb, "kbx.memory_delete_fact", {"fact_id": fact_id}, allow_writes=True)
    assert (tmp_path / ADA).read_text("utf-8") == page.replace(f"- {text}\n", "")


def test_links_tell_no_agent_which_hidden_files_there_are(tmp_path: Path) -> None:
    hidden = ("./ghost.md", "./nobody.md", "./.kbx/index", "./.kbx/nothing", "./attic/")
    targets = (*hidden, "./plan.txt", "./files/", "../memory/")
    links = " ".join(f"[a]({target})" for target in targets)
    ghost = "---\nredacted: true\n---\n# Ghost\n"
    pages = {"a.md": f"# A\n\n{links}\n", "ghost.md": ghost, "attic/ghost.md": ghost}
    write_vault(tmp_path, {f"memory/{path}": text for path, text in pages.items()})
    write_vault(
        tmp_path, {"memory/plan.txt": "", "memory/files/a.pdf": "", "memory/.kbx/index": ""}
    )
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        broken = call(kb, "kbx.links", {"id": "memory/a.md"})["broken"]
        assert [link["target"] for link in broken] == list(hidden)
        own = kb.links.of("memory/a.md").broken
        assert [link.target for link in own] == ["./nobody.md", "./.kbx/nothing"]


def test_results_fill_the_limit_when_a_page_was_just_marked(base: Path) -> None:
    with KnowledgeBase(base) as kb:
        first = call(kb, "kb.search", {"query": "who mends a boat?", "top_k": 1})["data"]
        page = base / first["results"][0]["metadata"]["file_path"]
        page.write_text("---\nstatus: redacted\n---\n" + page.read_text("utf-8"), "utf-8")
        again = call(kb, "kb.search", {"query": "who mends a boat?", "top_k": 1})["data"]
    assert again["total_found"] == again["total_matched"] == 1
    assert again["results"][0]["id"] != first["results"][0]["id"]


def test_a_page_is_visible_again_once_it_is_indexed_without_its_mark(base: Path) -> None:
    page = base / ADA
    text = page.read_text("utf-8")
    with KnowledgeBase(base) as kb:
        page.write_text("---\nstatus: redacted\n---\n" + text, "utf-8")
        ids = [row["id"] for row in search_rows(kb)]
        assert ids == ["person:bob"]
        page.write_text(text, "utf-8")
        kb.index(fast=True)
        assert {row["id"] for row in search_rows(kb)} == {"person:ada", "person:bob"}


def search_rows(kb: KnowledgeBase) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = call(kb, "kb.search", {"query": "mends boat"})["data"]["results"]
    return rows


def test_a_warm_call_looks_at_each_page_once_and_reads_none(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    looked_at: list[str] = []
    make, identity = PublicPage.__init__, Documents._identity

    def counted(page: PublicPage, path: str, *rest: Any) -> None:
        read.append(path)
        make(page, path, *rest)

    def looked(documents: Documents, path: str) -> tuple[int, ...] | None:
        looked_at.append(path)
        return identity(documents, path)

    monkeypatch.setattr(PublicPage, "__init__", counted)
    monkeypatch.setattr(Documents, "_identity", looked)
    monkeypatch.setattr("kbx_tui.api.documents.SETTLED_NS", 0)
    with KnowledgeBase(base) as kb:
        search_rows(kb)
        assert sorted(read) == [ADA, BOB]
        looked_at.clear()
        search_rows(kb)
        assert sorted(read) == [ADA, BOB]
        assert sorted(looked_at) == [ADA, BOB]


def test_a_change_that_keeps_size_and_time_is_seen(base: Path) -> None:
    import os

    page = base / ADA
    before = page.stat()
    with KnowledgeBase(base) as kb:
        assert kb.documents.public_page(ADA) is not None
        text = page.read_text("utf-8").replace("boat 1\n- Ada mends", "(redacted)\n-  mend")
        data = text.encode()[: before.st_size].ljust(before.st_size, b" ")
        page.write_bytes(data)
        os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
        public = kb.documents.public_page(ADA)
        assert public is not None
        assert public.is_marked


@pytest.fixture(scope="module")
def hiding(lighthouse: Path) -> Iterator[EngineWorker]:
    engine = EngineWorker(lambda: KnowledgeBase(lighthouse), allow_writes=True)
    yield engine
    engine.close()


def jsonl_response(hiding: EngineWorker, method: str, **params: Any) -> dict[str, Any]:
    """Return the response of the JSONL server to a request."""
    request = json.dumps({"id": 1, "method": method, "params": params}).encode() + b"\n"
    sink = io.BytesIO()
    jsonl_server.serve(hiding, io.BytesIO(request), sink)
    response: dict[str, Any] = json.loads(sink.getvalue())
    return response


async def mcp_answer(hiding: EngineWorker, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the answer of the MCP server to a call."""
    async with Client(make_server(hiding)) as client:
        answer: dict[str, Any] = (await client.call_tool(tool, arguments)).structured_content
        return answer


def mentions_secret(answer: Any) -> bool:
    return SECRET in json.dumps(answer).casefold()


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("hierarchy", [True, False])
async def test_search_does_not_mention_hidden_pages_or_entities(
    hiding: EngineWorker, fast: bool, hierarchy: bool
) -> None:
    arguments = {
        "query": "lighthouse of Vera",
        "fast": fast,
        "hierarchy": hierarchy,
        "explain": True,
    }
    found = await mcp_answer(hiding, "kbx_search", **arguments)
    assert not mentions_secret(found)
    titles = {result["title"] for result in found["results"]}
    assert titles == {"Vera Sand", "Vera Kane", "Lamp Works"}
    assert found["meta"]["total_matched"] == 3
    assert found["meta"]["in_scope"] == found["meta"]["explain"]["documents"] == 3


def test_name_shared_with_a_hidden_entity_is_not_ambiguous(hiding: EngineWorker) -> None:
    """Two people are called Kane, and one of them is hidden."""
    found = jsonl_response(hiding, "kbx.search", query="what did Kane mend?")["result"]
    assert found["meta"]["notes"] == []
    similar = jsonl_response(hiding, "kbx.memory_similar", text="mends it", entity="Kane")
    assert similar["result"]["scope"] == {"entity": "Vera Kane"}


async def test_hidden_pages_are_not_listed_or_counted(hiding: EngineWorker) -> None:
    async with Client(make_server(hiding)) as client:
        listed = (await client.list_resources()).resources
    assert len(listed) == len(PAGES) - len(HIDDEN)
    assert not mentions_secret([resource.model_dump_json() for resource in listed])
    capabilities = await mcp_answer(hiding, "kb_capabilities")
    assert capabilities["documents"] == len(listed)
    assert capabilities["types"] == ["person", "project"]
    team = jsonl_response(hiding, "kb.get", id="team:keepers")
    assert "nothing here has the id" in team["error"]["message"]  # only a hidden page has the team


def test_page_redacted_after_indexing_is_not_read(lighthouse: Path, tmp_path: Path) -> None:
    root = copy_base(lighthouse, tmp_path / "base")
    page = root / "memory/people/vera-kane.md"
    page.write_text("---\nstatus: redacted\n---\n" + page.read_text(encoding="utf-8"), "utf-8")
    hiding = EngineWorker(lambda: KnowledgeBase(root))
    refused = jsonl_response(hiding, "kb.get", id="person:vera-kane")
    hiding.close()
    assert refused["error"]["message"].startswith("nothing here has the id")


def test_link_to_a_hidden_page_on_a_visible_page_is_returned(tmp_path: Path) -> None:
    """A mark hides its own page only; other pages need their own."""
    for name, text in {
        "projects/plan.md": "---\nstatus: redacted\n---\n# Plan Nine\n\nOf the harbour.\n",
        "notes/log.md": "# Log\n\nMet on [[Plan Nine]] at the harbour.\n",
    }.items():
        file = tmp_path / "memory" / name
        file.parent.mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
    hiding = EngineWorker(lambda: KnowledgeBase(tmp_path))
    data = jsonl_response(hiding, "kb.get", id="memory/notes/log.md")["result"]["data"]
    hiding.close()
    assert "[[Plan Nine]]" in data["content"]


def test_a_filter_by_a_redacted_alias_is_answered_like_one_by_an_unknown_name(
    tmp_path: Path,
) -> None:
    pages = {
        "people/vera-sand.md": (
            "---\naliases:\n  - Zanzibar Six #redacted\n  - Vee\n---\n# Vera Sand\n"
        ),
        "notes/lamp.md": "---\ntags: [oil]\n---\n# Lamp\n\nBy [[Vera Sand]].\n\n- x #redacted\n",
        "notes/oil.md": "By [[Zanzibar Six]], [[Zanzibar Sixx]] and [[7]].\n",
        **{f"people/{number}.md": f"# Zanzibar {number}\n" for number in range(51)},
    }
    write_vault(tmp_path, {f"memory/{name}": text for name, text in pages.items()})
    engine = EngineWorker(lambda: KnowledgeBase(tmp_path))

    def answer(query: str) -> tuple[list[str], list[str]]:
        found = engine.answer("kbx.search", {"query": f"lamp {query}", "fast": True}).json
        notes = [note for note in found["meta"]["notes"] if "called" in note]
        return [result["path"] for result in found["results"]], notes

    lamp = ["memory/notes/lamp.md"]
    assert answer("@Vee") == (lamp, [])
    nearest = "; did you mean Zanzibar 10?"
    assert answer('@"Zanzibar Six"') == ([], [f"no entity is called Zanzibar Six{nearest}"])
    assert answer('@"Zanzibar Sixx"') == ([], ["no entity is called Zanzibar Sixx"])
    assert answer('@"Vera Sandd"')[1] == ["no entity is called Vera Sandd; did you mean Vera Sand?"]
    assert answer("tag:oil,gas") == (lamp, [])
    assert answer("@Zanzibar") == ([], [])  # 51 others come before her among those with the name
    pinned = {"query": "lamp", "fast": True, "pin": ["Vee"], "mute": ["Zanzibar 7"], "sort": "date"}
    assert engine.answer("kbx.search", pinned).json["results"][0]["path"] == lamp[0]
    names = {"pin": ["Zanzibar Six"], "mute": ["Zanzibar Sixx"], "entities": ["Zanzibar Six"]}
    for key, value in names.items():
        arguments = {key: value}
        refused = engine.answer("kbx.search", {"query": "lamp", **arguments}).json
        assert "no entity is called 'Zanzibar Six" in refused["error"]["message"]
        assert "Vera" not in refused["error"]["message"]
    of_oil = engine.answer("kbx.links", {"id": "memory/notes/oil.md"}).json
    assert [link["title"] for link in of_oil["outgoing"]] == ["Zanzibar 7"]
    assert [link["target"] for link in of_oil["broken"]] == ["Zanzibar Six", "Zanzibar Sixx"]
    assert "memory/people/vera-sand.md" not in of_oil["broken"][1]["suggestions"]
    of_vera = engine.answer("kbx.links", {"id": "memory/people/vera-sand.md"}).json
    assert [link["path"] for link in of_vera["backlinks"]] == lamp
    engine.close()


ROSE = "memory/people/rose.md"
LINKED = "Boats are mended here, of wood. [[hub]]\n"
TURNS = "Quentin Zorro: It rains.\n\nVera: Yes.\n\nQuentin Zorro: And snows.\n"
RAIN = f"---\ntype: meeting\nzebrakey: 1\n---\n# Rain\n\n{TURNS}"
PAGES_AND_MARKED = {
    "memory/one.md": f"# One\n\n{LINKED}",
    "memory/two.md": f"# Two\n\n{LINKED}",
    "memory/hub.md": "# Secret merger\n\nDue in May.\n",
    "memory/three.md": "# Three\n\nRose Quill sails to the island.\n",
    "memory/four.md": "# Four\n\nRose Quill sails to the island.\n",
    ROSE: "# Rose Quill\n\nBakes.\n",
    "memory/rain.md": RAIN,
}


@pytest.mark.parametrize(
    ("page", "tool", "params", "hidden"),
    [
        ("memory/hub.md", "kbx.related", {"id": "memory/one.md", "limit": 1}, "Secret merger"),
        (ROSE, "kbx.related", {"id": "memory/three.md", "limit": 1}, "Rose Quill"),
        ("memory/rain.md", "kbx.search", {"query": "said:@quentin-zoro"}, "Quentin Zorro"),
        ("memory/rain.md", "kbx.search", {"query": "boats zebrakei:1", "fast": True}, "zebrakey"),
    ],
)
def test_no_reason_or_note_is_from_another_page_that_was_just_marked(
    tmp_path: Path, page: str, tool: str, params: dict[str, Any], hidden: str
) -> None:
    with KnowledgeBase(index_vault(tmp_path, PAGES_AND_MARKED)) as kb:
        kb.index()
        answer = json.dumps(call(kb, tool, params))
        assert hidden in answer
        assert page not in answer
        text = PAGES_AND_MARKED[page].removeprefix("---\n")
        rest = text if page == "memory/rain.md" else f"---\n{text}"
        (tmp_path / page).write_text(f"---\nredacted: true\n{rest}", "utf-8")
        assert hidden not in json.dumps(call(kb, tool, params))
