"""The app of a visitor keeps to its bases and its options, and remembers nothing."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from textual import events

from kbx_tui import KnowledgeBase
from kbx_tui.errors import NotFound
from kbx_tui.index.ownership import IDS
from kbx_tui.search.query_history import PastQuery, QueryHistory
from kbx_tui.tui.app_state import BASE_FILE
from kbx_tui.tui.commands.command_table import Scope
from kbx_tui.tui.commands.keymap import (
    EXPLORE,
    NO_EDITOR,
    NO_FILES,
    NO_OTHER_BASE,
    READ_ONLY,
    commands_in,
)
from kbx_tui.tui.comparing import Compare
from kbx_tui.tui.dedup.screen import Dedup
from kbx_tui.tui.experts.screen import ExpertList, Experts, TopicLine
from kbx_tui.tui.explore.inputs import PathLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.indexing.screen import Index
from kbx_tui.tui.tune.screen import Tune
from kbx_tui.tui.widgets.footer import KeyBar
from tests.command_line import CHECKOUT
from tests.functional.tui.driving import QUESTION
from tests.functional.tui.reviewing_drafts import Review
from tests.functional.tui.visiting import Visit, visiting
from tests.functional.tui.visitor_process import VisitorProcess
from tests.functional.vaults import tree
from tests.hostile_base import SHOWN_NAME, controls_in
from tests.trusting import copy_base

PAGE = "memory/notes/2026-01-30-rollback-plan.md"


async def refuse_all(visit: Visit, *scopes: Scope) -> set[str]:
    """Press a key of each refused command of `scopes`; each gives its reason. Return their ids."""
    keymap, refused = visit.app.keymap, set()
    for command in commands_in(*scopes):
        if reason := keymap.refusal(command.id):
            key, *_ = (*keymap.keys(command), *command.moved.split(","))
            assert await visit.notice_for(key) == reason, command.id
            refused.add(command.id)
    return refused


async def test_visitor_reads_all_modes_and_changes_nothing(judged_demo: Path) -> None:
    with KnowledgeBase(judged_demo) as kb:
        kb.drafts.save(kb.drafts.in_file("drafts.md"))
    QueryHistory(judged_demo).add(PastQuery("what only the owner asked"))
    before = tree(judged_demo)
    async with visiting(judged_demo) as visit:
        assert visit.app.app_state.past == []
        await visit.ask(QUESTION)
        await visit.press("escape")
        refused = await refuse_all(visit, "results", *EXPLORE)
        assert {"edit", "grade.3", "settings.save", "query.save", "base.switch"} <= refused
        await visit.press("enter")  # reads the document, and records no use
        await visit.until(lambda: visit.explore.reader.is_open)
        await visit.press("escape", "6")
        await visit.until(lambda: isinstance(visit.app.screen, Dedup))
        review = Review(visit)
        await review.checked()
        assert len(review.rows) == 7
        await visit.press("escape")
        refused = await refuse_all(visit, "drafts", "review")
        assert {"drafts.apply", "drafts.load", "draft.skip", "review.undo"} <= refused
        await visit.press("slash")
        visit.app.post_message(events.Paste("one line\nanother line"))
        await visit.until(lambda: visit.here.notice == READ_ONLY)
        assert len(review.rows) == 7
        await visit.press("escape", "7")
        await visit.until(lambda: isinstance(visit.app.screen, Experts))
        visit.app.screen.query_one(TopicLine).value = "Migration"
        await visit.until(lambda: visit.app.screen.query_one(ExpertList).rows)
        await visit.press("escape", "8")
        await visit.until(lambda: isinstance(visit.app.screen, Tune))
        tune = visit.explore.session.tune
        await visit.until(lambda: tune.curve is not None and tune.past_total == 1)
        await visit.press("9")
        await visit.until(lambda: visit.explore.session.index.overview is not None)
        assert await visit.notice_for("R") == READ_ONLY
        await visit.press("5")
        await visit.until(lambda: visit.app.screen is visit.explore)
        await visit.press("d")
        await visit.until(lambda: isinstance(visit.app.screen, Compare))
        assert not visit.here.error
        assert [past.query for past in visit.app.app_state.past] == [QUESTION]
    assert tree(judged_demo) == before
    assert [file.name for file in Path(os.environ["KBX_STATE_DIR"]).iterdir()] == [IDS]


async def test_key_bar_and_click_offer_nothing_of_the_machine(demo: Path) -> None:
    async with visiting(demo) as visit:
        await visit.ask(QUESTION)
        await visit.press("escape")
        bar = visit.text_of(KeyBar)
        assert "enter read" in bar
        assert "edit" not in bar
        commands = [entry.title for entry in visit.app.palette_entries(visit.explore)]
        assert "Citation" in commands
        assert not {"Edit", "Refresh", "Other base", "Relevant", "Save settings"} & {*commands}
        await visit.explore.edit_file(PAGE, 1)  # as a click on a file does
        await visit.until(lambda: visit.here.notice == NO_EDITOR)
        visit.app.open_beside("obsidian://open?path=secret")
        await visit.until(lambda: "obsidian" not in visit.here.notice)
        assert "secret" not in visit.here.notice


async def test_a_new_size_is_drawn_whole(demo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with visiting(demo) as visit:
        drawn = []
        with monkeypatch.context() as patch:
            patch.setattr(visit.app, "redraw_screen", lambda: drawn.append(visit.app.size))
            await visit.pilot.resize_terminal(100, 39)
            await visit.until(lambda: drawn == [(100, 39)])
    visit.app.redraw_screen()  # as the timer of a size that was new just before the end


async def test_visitor_does_not_learn_where_the_base_is(demo: Path) -> None:
    async with visiting(demo) as visit:
        await visit.ask(QUESTION)
        for path in ("/etc/", "../.."):
            visit.explore.query_one(PathLine).value = path
            await visit.until(lambda: f"knowledge base {demo.name};" in visit.here.error)
            assert str(demo.parent) not in visit.here.error
        visit.explore.query_one(PathLine).value = ""
        await visit.until(lambda: not visit.here.error)
        await visit.press("escape")
        assert str(demo.parent) not in await visit.notice_for("C")
        assert str(demo.parent) not in visit.app.clipboard
        visit.app.show_error(f"{demo}/.kbx/index and {demo}")
        await visit.until(lambda: visit.here.error == f".kbx/index and {demo.name}")


async def test_writer_changes_the_base_but_reads_no_file_and_leaves_no_state(
    demo_copy: Path,
) -> None:
    async with visiting(demo_copy, allow_writes=True) as visit:
        await visit.ask(QUESTION)
        await visit.press("escape", "3")
        await visit.until(lambda: visit.explore.session.judging.grades_of(QUESTION))
        assert await visit.notice_for("o") == NO_EDITOR
        visit.app.theme = "nord"
        await visit.press("6")
        await visit.until(lambda: isinstance(visit.app.screen, Dedup))
        await visit.press("escape")
        assert await visit.notice_for("f") == NO_FILES
        visit.explore.session.review.load("/etc/passwd")
        await visit.until(lambda: "no file of the server is read" in visit.here.error)
    with KnowledgeBase(demo_copy) as kb:
        assert [judged.text for judged in kb.judgments.queries()] == [QUESTION]
        assert kb.queries.asked() == ()
    assert not (demo_copy / BASE_FILE).exists()
    assert [file.name for file in Path(os.environ["KBX_STATE_DIR"]).iterdir()] == [IDS]


async def test_several_bases_of_a_visit_are_searched_together_and_no_other(
    demo: Path, tmp_path: Path
) -> None:
    other = copy_base(demo, tmp_path / "other")
    stranger = shutil.copytree(demo / "memory", tmp_path / "stranger" / "memory").parent
    before = tree(demo), tree(other)
    async with visiting(demo, other) as visit:
        await visit.until(lambda: visit.told and visit.told[-1]["base"] == "2 bases")
        assert visit.app.together is not None
        together = visit.app.together
        await visit.until(lambda: all(base.is_searchable for base in together.model.bases))
        visit.app.show_query("rollback plan")
        await visit.until(lambda: visit.told[-1]["title"] == "2 bases - rollback plan")
        await visit.until(lambda: together.answer is not None and together.answer.response.results)
        assert await visit.notice_for("R") == READ_ONLY
        assert await visit.notice_for("b") == NO_OTHER_BASE
        await visit.press("enter")
        names = (demo.name, "other")
        await visit.until(lambda: visit.told[-1]["base"] in names)
        assert visit.told[-1]["query"] == "rollback plan"
        await visit.press("escape", "4")
        await visit.until(lambda: visit.app.screen is together)
        assert str(tmp_path) not in visit.screen_text()
        with pytest.raises(NotFound, match="not one of the knowledge bases of this visit"):
            visit.app.bases.open(stranger)
        for refused in (visit.app.bases.demo, lambda: visit.app.bases.new(str(tmp_path / "new"))):
            with pytest.raises(NotFound):
                refused()
        with pytest.raises(NotFound):
            visit.app.bases.existing(str(stranger))
    assert (tree(demo), tree(other)) == before


async def test_page_learns_base_and_query_and_asks_its_own(demo: Path) -> None:
    async with visiting(demo) as visit:
        await visit.until(lambda: visit.told)
        name = demo.name
        assert visit.told == [{"type": "kbx_page", "title": name, "base": name, "query": ""}]
        visit.app.show_query("rollback\x1b[2J plan")
        await visit.until(lambda: visit.told[-1]["title"] == f"{name} - rollback plan")
        assert visit.has_focus(ResultList)
        visit.app.redraw()
        assert visit.told[-1] == visit.told[-2]
        visit.app.use_scheme("light")
        assert visit.app.theme == "textual-light"
        visit.app.theme = "nord"
        visit.app.use_scheme("dark")
        assert visit.app.theme == "nord"


async def test_link_to_the_web_is_opened_by_the_browser_and_no_other_address(
    demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    async with visiting(demo) as visit:
        monkeypatch.setattr(visit.app, "open_url", opened.append)
        visit.app.leave_base("https://x.example/a")
        for target in ("javascript:alert(1)", "file:///etc/passwd", "mailto:a@b.c", "nowhere"):
            assert "leads to no page of this knowledge" in visit.app.leave_base(target)
        assert opened == ["https://x.example/a"]


async def test_reader_sees_what_another_process_indexes(
    demo_copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kbx_tui.tui.engine.index_sync.LOOK_INTERVAL", 0.05)
    async with visiting(demo_copy) as visit:
        await visit.ask("quokka")
        assert "memory/notes/quokka.md" not in visit.paths
        (demo_copy / "memory/notes/quokka.md").write_text("# Quokka\n\nA quokka at the pier.\n")
        with KnowledgeBase(demo_copy) as kb:
            kb.index()
        await visit.until(lambda: "memory/notes/quokka.md" in visit.paths)
        assert visit.explore.model.summary is not None
        await visit.until(lambda: visit.explore.model.summary.documents == 64)  # type: ignore[union-attr]


async def test_reader_of_a_base_without_an_index_sees_what_makes_it(fresh_demo: Path) -> None:
    before = tree(fresh_demo)
    async with visiting(fresh_demo, is_indexed=False) as visit:
        await visit.until(lambda: "`kbx index` makes it" in visit.here.error)
        await visit.press("escape", "9")
        await visit.until(lambda: isinstance(visit.app.screen, Index))
        await visit.press("5")
    assert tree(fresh_demo) == before


EXPECTED = re.compile(
    r"\x1b\[[0-9;]*[mHJ]"  # colours, the place of the cursor, an empty screen
    r"|\x1b\[\?[0-9;]+[hl]|\x1b\[\?2026\$p"  # modes
    r"|\x1b\]22;[a-z]*\x07"  # the shape of the pointer
)
"""What the app itself sends besides text."""


def test_stream_holds_no_control_of_a_document_and_the_base_stays_as_it_is(hostile: Path) -> None:
    before = tree(hostile)
    with VisitorProcess(dict(os.environ), hostile) as process:
        process.tell("kbx_query", query="Mallory quokka")
        process.read_until(lambda: SHOWN_NAME.encode() in process.drawn)
        process.type("\r")  # reads the first result
        process.read_until(lambda: b"n N" in process.drawn)
        process.tell("resize", width=10**9, height=-1)  # makes no sense: left out
        process.tell("resize", width=90, height=30)
        process.type("C")  # the command line for these results
        process.read_until(lambda: process.told[-1]["type"] == "kbx_copy")
        process.type(">")
        process.read_until(lambda: process.told[-1]["type"] == "kbx_file")
        process.tell("kbx_redraw")
        process.read_until(lambda: process.told[-1]["type"] == "kbx_page")
        process.tell("quit")
        assert process.end() == 0
    page, copied, file, again, end = process.told
    assert page == again
    assert page["query"] == "Mallory quokka"
    assert page["title"] == f"{page['base']} - Mallory quokka"
    assert not controls_in(str(page["title"]))
    assert "quokka" in str(copied["text"])
    assert (file["name"], file["mime_type"]) == ("kbx-results-mallory-quokka.html", "text/html")
    assert str(file["text"]).startswith("<!doctype html>")
    assert end == {"type": "exit"}
    assert not controls_in(EXPECTED.sub("", process.drawn.decode()))
    assert tree(hostile) == before


def test_a_size_that_comes_before_the_first_screen_is_that_of_the_screen(hostile: Path) -> None:
    process = VisitorProcess(dict(os.environ), hostile)
    process.tell("resize", width=60, height=20)
    with process:
        process.read_until(lambda: process.told)
        drawn = len(process.drawn)
        process.tell("kbx_redraw")
        process.read_until(lambda: len(process.told) > 1 and b"\x1b[20;1H" in process.drawn[drawn:])
        assert b"\x1b[21;1H" not in process.drawn[drawn:]


def test_process_ends_when_its_server_is_gone_or_sends_a_malformed_packet(hostile: Path) -> None:
    for packet in (b"", b"M\0\0\0\2{]"):
        with VisitorProcess(dict(os.environ), hostile) as process:
            process.break_off(packet)
            assert process.end() in (0, 129)


def test_options_that_make_no_sense_are_refused_with_a_sentence() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "kbx_tui.tui.visitor", "--editor"],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].endswith("the following arguments are required: --kb")
