"""`w` finds a document, says why it is not a result, and applies what would make it one."""

from pathlib import Path

import pytest

from kbx_tui.errors import IndexFault
from kbx_tui.tui.boxes.why_not_box import (
    ActionRow,
    AnswerList,
    AnswerView,
    DocumentLine,
    DocumentList,
    WhyNotBox,
)
from kbx_tui.tui.explore.inputs import FilterChip
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from tests.functional.tui.driving import NARROW, TINY, WIDE, Driver, Size, running, starting
from tests.functional.tui.watched import Watched
from tests.functional.vaults import index_vault

QUERY = "what did Alice decide about rollbacks"
MISSING = "memory/meetings/2025/12/04/quarterly-planning.notes.md"
ROLLBACKS = "memory/notes/2026-01-30-rollback-plan.md"
HOSTILE = "memory/a_b%/it's [bold]\x1b[2Jred[/bold].md"


async def open_box(driver: Driver, text: str = "") -> DocumentList:
    await driver.press("w")
    await driver.until_focused(DocumentLine)
    await driver.write(text)
    documents = driver.app.screen.query_one(DocumentList)
    await driver.until(lambda: documents.rows)
    return documents


async def ask(driver: Driver, text: str) -> AnswerView:
    """Ask why not about the best match of a text."""
    await open_box(driver, text)
    await driver.press("enter")
    answers = driver.app.screen.query_one(AnswerList)
    await driver.until(lambda: answers.answer)
    assert answers.answer is not None
    return answers.answer


async def ask_query(driver: Driver, query: str) -> None:
    await driver.ask(query)
    await driver.press("down")
    await driver.until_focused(ResultList)


async def take(driver: Driver, number: int) -> ActionRow:
    """Do what the action of this number says."""
    answer = driver.app.screen.query_one(AnswerList)
    action = answer.rows[number]
    await driver.press(*["down"] * number, "enter")
    await driver.until(lambda: driver.app.screen is driver.explore)
    return action


async def test_every_change_brings_the_document_into_the_first_ten_and_z_takes_it_back(
    demo: Path,
) -> None:
    async with running(demo, WIDE) as driver:
        await ask_query(driver, QUERY)
        before, paths = driver.state, driver.paths
        answer = await ask(driver, "quarterly planning")
        changes = [action for action in answer.actions if action.kind == "apply"]
        assert len(changes) >= 2
        assert any("until" in change.changes for change in changes)
        assert answer.standing.startswith("It is number ")
        await driver.press("escape")
        for number, change in enumerate(changes):
            await ask(driver, "quarterly planning")
            assert await take(driver, number) == change
            await driver.until(lambda: driver.state != before)
            await driver.until(lambda: driver.explore.model.displayed.answers(driver.state))
            await driver.until(lambda: MISSING in driver.paths[:10])
            assert driver.paths.index(MISSING) + 1 == change.rank
            await driver.until(lambda: driver.results.current is not None)
            assert driver.results.current is not None
            assert driver.results.current.path == MISSING
            if "until" in change.changes:  # no pane shows this filter
                await driver.until_shown(FilterChip, change.text.removeprefix("search "), "z undo")
            await driver.press("z")
            assert driver.state == before
            await driver.until(lambda: driver.paths == paths)
            await driver.until(lambda: not driver.explore.query_one(FilterChip).display)


async def test_the_box_is_as_large_as_its_content_beside_why_and_lists_missing_ones_first(
    demo: Path,
) -> None:
    async with running(demo, (140, 40)) as driver:
        await ask_query(driver, QUERY)
        why = driver.explore.query_one(WhyPane).region
        documents = await open_box(driver)
        missing = [document.path not in driver.paths for document in documents.rows]
        assert missing[0]
        assert missing == sorted(missing, reverse=True)
        await driver.write("quarterly planning")
        await driver.press("enter")
        await driver.until_shown(AnswerList, "flat → number ", "others lost")
        box = driver.app.screen.query_one("#why_not").region
        assert box.height <= 18
        assert not box.overlaps(why)


async def test_a_small_terminal_shows_below_a_change_what_it_does(demo: Path) -> None:
    async with running(demo, TINY) as driver:
        await ask_query(driver, QUERY)
        await ask(driver, "quarterly planning")
        await driver.until_shown(AnswerList, "It becomes number")


async def test_a_document_among_the_results_is_gone_to(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await ask_query(driver, QUERY)
        wanted = driver.results.rows[3]
        answer = await ask(driver, wanted.path)
        assert answer.standing.startswith("It is number 4 with ")
        assert [action.text for action in answer.actions] == [
            "go to it: number 4 of the results",
            "read it",
        ]
        await take(driver, 0)
        assert driver.results.current == wanted


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=str)
async def test_any_document_is_read_by_title_without_a_query(demo: Path, size: Size) -> None:
    async with running(demo, size) as driver:
        await driver.press("escape")
        await open_box(driver, "quarterly pl")
        await driver.press("ctrl+o")
        await driver.until_focused(PreviewPane)
        assert driver.explore.query_one(PreviewPane).path == MISSING


async def test_keys_typed_at_once_act_in_their_order_and_typing_again_finds_others(
    demo: Path,
) -> None:
    async with running(demo, NARROW) as driver:
        await ask_query(driver, QUERY)
        await driver.press("w", *"quarterly", "enter")
        await driver.until_shown(AnswerList, "Quarterly planning", "It is number ")
        await driver.write("zzzzzzzz")
        await driver.until_shown(DocumentList, "No title or path is like that.")
        await driver.press("escape")
        assert driver.app.screen is driver.explore


async def test_progress_and_errors_of_the_engine_are_shown_in_the_box(demo: Path) -> None:
    watched = Watched()
    async with running(demo, WIDE, watched=watched) as driver:
        await ask_query(driver, QUERY)
        await open_box(driver, "quarterly")
        watched.asking.clear()
        await driver.press("enter")
        await driver.until(lambda: "asking …" in driver.screen_text())
        await driver.press("escape")
        assert driver.app.screen is driver.explore
        watched.asking.set()
        await ask_query(driver, "rollback plan")
        await open_box(driver, "quarterly")
        watched.faults["why_not"] = IndexFault("the index cannot be read")
        await driver.press("enter")
        await driver.until_shown(DocumentList, "the index cannot be read")


async def test_without_an_index_the_box_says_so(tmp_path: Path) -> None:
    watched = Watched()
    watched.indexing.clear()
    watched.held = lambda progress: True
    (tmp_path / "a.md").write_text("# A\n")
    async with starting(tmp_path, NARROW, watched=watched) as driver:
        await driver.until(lambda: watched.calls["index"])
        await driver.press("escape", "w")
        await driver.until_shown(DocumentList, "Nothing is indexed yet")
        await driver.press("enter", "ctrl+o")
        assert isinstance(driver.app.screen, WhyNotBox)
        await driver.press("escape")
        watched.indexing.set()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hostile-titles")
    texts = {
        HOSTILE: f'---\ntitle: "[red]{"long " * 90}[/] \\e[31m"\n---\nabout the harbour\n',
        "memory/cellar.md": "---\nstatus: redacted\n---\n# Cellar\n\nBarrels of the harbour.\n",
    }
    for number in range(12):
        texts[f"memory/notes/{number}.md"] = f"# Harbour {number}\n\nharbour harbour {number}\n"
    index_vault(root, texts)
    return root


@pytest.mark.parametrize("size", [WIDE, TINY], ids=str)
async def test_hostile_titles_and_paths_are_shown_safely_and_applied(
    hostile: Path, size: Size
) -> None:
    async with running(hostile, size) as driver:
        await ask_query(driver, "harbour")
        answer = await ask(driver, "it's [bold]")
        assert answer.path == HOSTILE
        assert "\x1b" not in driver.screen_text()
        assert "[red]" in answer.title
        number = next(n for n, row in enumerate(answer.actions) if "path" in row.changes)
        action = await take(driver, number)
        assert action.changes["path"] == "memory/a_b%/"
        assert number > next(n for n, row in enumerate(answer.actions) if row.kind == "read")
        await driver.until(lambda: HOSTILE in driver.paths[:10])
        assert "\x1b" not in driver.screen_text()


async def test_the_owner_finds_what_is_redacted_or_left_out_by_a_filter(hostile: Path) -> None:
    async with running(hostile, WIDE) as driver:
        await ask_query(driver, "barrels")
        assert "memory/cellar.md" in driver.paths
        answer = await ask(driver, "cellar")
        assert answer.standing.startswith("It is number 1 ")
        await driver.press("escape")
        await ask_query(driver, "zzzz")
        await driver.narrow("nowhere")
        answer = await ask(driver, "Harbour 3")
        assert answer.standing == "Left out by in:nowhere"
        assert [action.kind for action in answer.actions] == ["read"]


@pytest.mark.parametrize(
    ("query", "path", "filters"),
    [
        ("rollback type:meeting from:2026-03", "", "type:meeting and from:2026-03"),
        ("rollback type:meeting type:note", "memory/people/", "type:meeting and in:memory/people/"),
        ("-rollback @nobody plan tag:x", "", "-rollback, @nobody and tag:x"),
    ],
)
async def test_every_filter_that_hides_a_document_is_named_and_dropped_together(
    demo: Path, query: str, path: str, filters: str
) -> None:
    async with running(demo, WIDE) as driver:
        await driver.ask(query)
        await driver.narrow(path)
        await driver.press("escape")
        before = driver.state
        answer = await ask(driver, "rollback plan")
        assert answer.standing == f"Left out by {filters}"
        assert answer.actions[0].text == f"search without {filters}"
        await take(driver, 0)
        await driver.until(lambda: ROLLBACKS in driver.paths)
        await driver.press("z")
        await driver.until(lambda: driver.state == before)


async def test_a_question_of_common_words_is_said_to_find_nothing(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await ask_query(driver, "what of it")
        answer = await ask(driver, "rollback plan")
        assert answer.standing.startswith("The question has only words that nearly every text has")


async def test_the_box_opens_on_a_document_missing_from_the_results_and_says_of_how_many(
    demo: Path,
) -> None:
    async with running(demo, WIDE) as driver:
        await ask_query(driver, QUERY)
        documents = await open_box(driver)
        assert documents.current is not None
        assert documents.current.path not in driver.paths
        await driver.until_shown(DocumentLine, "part of a title or path of 63")
