"""The start: welcome screen, switching bases, the question of trust, and the tour."""

import asyncio
from pathlib import Path

import pytest
from textual.containers import VerticalScroll

from kbx_tui.base_trust import trusted_bases
from kbx_tui.demo import FOLDER_VARIABLE
from kbx_tui.tui.app import KbxApp
from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.explore.inputs import DateChip, Knobs, QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.tour import TourBubble
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.shell.help_screen import Help, HelpText
from kbx_tui.tui.shell.questions import FolderLine, TrustQuestion, Welcome
from kbx_tui.tui.widgets.footer import StatusLine
from kbx_tui.tui.widgets.lines_view import ChoiceList
from tests.functional.tui.driving import (
    NARROW,
    TINY,
    WIDE,
    Driver,
    Size,
    is_counted,
    running,
    starting,
)
from tests.functional.vaults import write_vault

WHY = "/home/ida is not a knowledge base: change to a folder of markdown"


def is_open(driver: Driver, root: Path) -> bool:
    opened = driver.app.explore
    return (
        opened is not None
        and opened.model.summary is not None
        and opened.model.summary.root == str(root)
    )


async def choose(driver: Driver, title: str) -> None:
    choices = driver.app.screen.query_one(ChoiceList)
    await driver.until(lambda: choices.has_focus)
    titles = [choice.title for choice in choices.rows]
    await driver.press(*["down"] * titles.index(title), "enter")


async def fill_in(driver: Driver, folder: Path) -> None:
    await driver.until_focused(FolderLine)
    driver.app.screen.query_one(FolderLine).value = str(folder)
    await driver.press("enter")


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_without_a_base_the_reason_and_three_choices_are_shown(size: Size) -> None:
    async with starting(None, size, why=WHY) as driver:
        await driver.until_shown(ChoiceList, "› Open the demo", "Choose a folder")
        assert "is not a knowledge base" in driver.words_of(ChoiceList)
        await driver.press("down", "down")
        await driver.until_shown(ChoiceList, "› Start a new one")


async def test_demo_is_installed_opened_and_indexed(
    demo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "demo"))
    async with starting(None, WIDE, why=WHY) as driver:
        await choose(driver, "Open the demo")
        await driver.until(lambda: driver.app.explore is not None)
        assert (tmp_path / "demo/memory/people/alice-chen.md").is_file()
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
        assert driver.has_focus(QueryLine)


async def test_folder_is_chosen_with_completion(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_vault(tmp_path / "notes-of-mine")
    monkeypatch.chdir(tmp_path)
    async with starting(None, NARROW) as driver:
        await choose(driver, "Choose a folder")
        await driver.until_focused(FolderLine)
        await driver.write("./note")
        await driver.until_shown(FolderLine, "notes-of-mine/")
        await driver.press("tab")
        line = driver.app.screen.query_one(FolderLine)
        await driver.until(lambda: line.value == "./notes-of-mine/")
        assert line.has_focus
        await driver.press("enter")
        await driver.until(lambda: is_open(driver, root))
        await driver.ask("migration")
        await driver.until(lambda: "Migration go/no-go" in driver.titles)


async def test_a_folder_that_cannot_be_opened_or_made_gives_one_error_line(tmp_path: Path) -> None:
    root = write_vault(tmp_path / "mine")
    odd = write_vault(
        tmp_path / "odd", {"kbx.toml": '[index]\nuri = "memory"\n', "memory/a.md": "# A"}
    )
    before = sorted(tmp_path.rglob("*"))
    async with starting(None, WIDE) as driver:
        await choose(driver, "Choose a folder")
        await fill_in(driver, tmp_path / "nowhere")
        await driver.until_shown(StatusLine, "✗", "nowhere")
        assert driver.app.explore is None
        await driver.press("escape")
        await driver.until_focused(ChoiceList)
        assert not driver.app.screen.query_one(FolderLine).display
        await driver.press("home")
        await choose(driver, "Start a new one")
        await fill_in(driver, root)
        await driver.until_shown(StatusLine, "✗", f"{root} already holds", "instead")
        await driver.press("escape")
        await driver.until_focused(ChoiceList)
        await driver.press("home")
        await choose(driver, "Choose a folder")
        await fill_in(driver, odd)
        await driver.until_shown(StatusLine, "✗", 'uri = "memory"', "is the folder of the notes")
    async with starting(odd, WIDE) as driver:  # as from the list of recent bases
        await driver.until_shown(StatusLine, "✗", 'uri = "memory"', "is the folder of the notes")
    assert sorted(tmp_path.rglob("*")) == before


async def test_new_base_has_a_page_on_what_goes_where(tmp_path: Path) -> None:
    async with starting(None, WIDE) as driver:
        await choose(driver, "Start a new one")
        await fill_in(driver, tmp_path / "new")
        await driver.until(lambda: is_open(driver, tmp_path / "new"))
        assert (tmp_path / "new/memory/people").is_dir()
        await driver.ask("what goes where")
        await driver.until(lambda: driver.titles[:1] == ["What goes where"])


async def test_the_help_lists_the_keys_escape_returns_and_q_quits() -> None:
    async with starting(None, NARROW, why=WHY) as driver:
        await driver.until_focused(ChoiceList)
        await driver.press("question_mark")
        await driver.until(lambda: isinstance(driver.app.screen, Help))
        await driver.until_shown(HelpText, "show the keys", "go to the first row")
        await driver.press("escape")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        await driver.press("escape")  # there is no screen to return to
        assert driver.has_focus(ChoiceList)
        await driver.press("q")
        await driver.until(lambda: not driver.app.is_running)


async def test_recent_bases_come_first(tmp_path: Path) -> None:
    roots = [write_vault(tmp_path / name) for name in ("one", "two", "gone")]
    for root in roots:
        async with starting(root, NARROW) as driver:
            await driver.until(lambda root=root: is_open(driver, root))  # type: ignore[misc]
    roots[2].rename(tmp_path / "elsewhere")
    async with starting(None, WIDE) as driver:
        choices = driver.app.screen.query_one(ChoiceList)
        assert [choice.title for choice in choices.rows] == [
            "two",
            "one",
            "Choose a folder",
            "Open the demo",
            "Start a new one",
        ]
        await choose(driver, "one")
        await driver.until(lambda: is_open(driver, roots[0]))


async def test_recent_bases_can_be_forgotten_and_put_back(tmp_path: Path) -> None:
    roots = [write_vault(tmp_path / name) for name in ("one", "two")]
    state = AppState()
    state.note_bases(roots)
    async with starting(None, NARROW) as driver:
        choices = driver.app.screen.query_one(ChoiceList)
        await driver.until_focused(ChoiceList)
        await driver.press("delete")
        assert [choice.title for choice in choices.rows][:2] == ["two", "Choose a folder"]
        await driver.until_shown(StatusLine, "one is no longer listed; its files stay")
        assert AppState().user.bases == [str(roots[1])]
        await driver.press("down", "delete")
        await driver.until_shown(StatusLine, "only a recent knowledge base can be removed")
        await driver.press("z")
        assert [choice.title for choice in choices.rows][:2] == ["one", "two"]
        assert AppState().user.bases == [str(root) for root in roots]
    assert all(root.is_dir() for root in roots)


async def test_b_switches_to_another_base_and_closes_the_first(demo: Path, demo_copy: Path) -> None:
    async with running(demo, WIDE, asked="rollback plan") as driver:
        await driver.press("escape", "b")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        await driver.press("escape")  # returns to the open one
        await driver.until(lambda: driver.app.screen is driver.explore)
        assert driver.titles[0] == "Rollback plan"
        await driver.ask("alice")
        await driver.press("b")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        assert "Open another knowledge base" in driver.text_of(ChoiceList)
        closed = driver.watched.calls["close"]
        await choose(driver, "Choose a folder")
        await fill_in(driver, demo_copy)
        await driver.until(lambda: is_open(driver, demo_copy) and is_counted(driver))
        await driver.until(lambda: driver.watched.calls["close"] > closed)
        assert "Type to search" in driver.text_of(ResultList)
        assert driver.explore.query_one(QueryLine).value == ""
        await driver.ask("alice")
        assert driver.titles
        assert driver.app.app_state.user.bases[:2] == [str(demo_copy), str(demo)]


async def test_another_base_can_be_chosen_after_one_fails_to_open(
    demo: Path, tmp_path: Path
) -> None:
    root = write_vault(tmp_path / "broken")
    (root / "kbx.toml").write_text("[search\n", encoding="utf-8")
    async with starting(root, WIDE) as driver:
        await driver.until_shown(StatusLine, "kbx.toml is not valid TOML")
        await driver.press("escape", "b")
        await driver.until(lambda: isinstance(driver.app.screen, Welcome))
        await choose(driver, "Choose a folder")
        await fill_in(driver, demo)
        await driver.until(lambda: is_open(driver, demo))


ELSEWHERE = '[index]\nuri = "../outside"\n'
COMMITS = "[writes]\nauto_commit = true\n"


def configure(base: Path, text: str) -> Path:
    (base / "kbx.toml").write_text(text, encoding="utf-8")
    return base


async def until_asked(driver: Driver) -> None:
    await driver.until(lambda: isinstance(driver.app.screen, TrustQuestion))
    await driver.until_focused(ChoiceList)


async def until_back(driver: Driver) -> None:
    await driver.until(lambda: driver.app.screen is driver.app.explore)


def asked(driver: Driver) -> bool:
    return any(isinstance(screen, TrustQuestion) for screen in driver.app.screen_stack)


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_the_question_says_what_the_base_asks_for(fresh_demo: Path, size: Size) -> None:
    async with starting(configure(fresh_demo, ELSEWHERE), size) as driver:
        await until_asked(driver)
        await driver.until_shown(ChoiceList, "› Not now", "Allow it")
        await driver.press("tab", "end")  # what it asks for scrolls where there is little room
        shown = set[str]()
        for key in ("home", *["down"] * 12):
            await driver.press(key)
            shown.update(driver.words_of(VerticalScroll).split())
        assert {'"../outside":', "keeps"} <= shown


async def test_an_allowed_base_is_opened_and_never_asks_again(fresh_demo: Path) -> None:
    async with starting(configure(fresh_demo, ELSEWHERE), WIDE) as driver:
        await until_asked(driver)
        await driver.press("down", "enter")
        await until_back(driver)
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
    assert (fresh_demo.parent / "outside" / "documents.lance").is_dir()
    async with starting(fresh_demo, WIDE) as driver:
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
        assert not asked(driver)


@pytest.mark.parametrize("key", ["enter", "escape"])
async def test_a_refused_base_stays_closed_and_the_reason_is_shown(
    fresh_demo: Path, key: str
) -> None:
    async with starting(configure(fresh_demo, ELSEWHERE), WIDE) as driver:
        await until_asked(driver)
        await driver.press(key)
        await until_back(driver)
        assert not driver.explore.query_one(Knobs).display  # kbx.toml is not read: what they say
        await driver.until_shown(StatusLine, "is not trusted with [index] uri")
        await driver.write("alice")  # another attempt to open it
        await driver.until_shown(StatusLine, "is not trusted with [index] uri")
        assert not asked(driver)
        await driver.press("escape", "b")  # another base can be opened
        await driver.until_shown(ChoiceList, "Choose a folder")
    assert not (fresh_demo.parent / "outside").exists()


async def test_the_base_does_not_choose_the_keys_of_the_question(demo_copy: Path) -> None:
    keys = '[keys]\nwelcome.take = "escape"\nwelcome.back = "enter"\nalpha.less = "ctrl+g"\n'
    async with starting(configure(demo_copy, COMMITS + keys), WIDE) as driver:
        await until_asked(driver)
        await driver.press("down", "escape")
        await until_back(driver)
        await driver.until(lambda: driver.app.key_of("alpha.less") == "ctrl+g ]")
        assert trusted_bases()[str(demo_copy.resolve())].granted == {}


async def test_without_git_everything_else_works_and_the_question_is_not_repeated(
    demo_copy: Path,
) -> None:
    async with starting(configure(demo_copy, COMMITS), WIDE) as driver:
        await until_asked(driver)
        await driver.until_shown(ChoiceList, "writes are not committed")
        await driver.press("enter")
        await until_back(driver)
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
    (known,) = trusted_bases().values()
    assert known.granted == {}
    async with starting(demo_copy, WIDE) as driver:
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
        assert not asked(driver)


@pytest.mark.parametrize("is_allowed", [True, False], ids=["allowed", "declined"])
async def test_an_index_from_elsewhere_waits_for_the_answer(
    demo_copy: Path, is_allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KBX_STATE_DIR", str(demo_copy.parent / "another"))
    index = demo_copy / ".kbx" / "index"
    before = (index / "BUILD").read_bytes()
    async with starting(demo_copy, WIDE) as driver:
        await until_asked(driver)
        await driver.until_shown(ChoiceList, "that index is put aside, and made again")
        await driver.press(*["down"] * is_allowed, "enter")
        await until_back(driver)
        await driver.ask("alice")
        await driver.until(lambda: driver.titles)
    assert ((index / "BUILD").read_bytes() == before) is is_allowed
    assert len([*index.parent.glob("index.aside-*")]) == (not is_allowed)


async def test_the_app_says_that_a_write_is_not_committed(demo_copy: Path) -> None:
    async with starting(configure(demo_copy, COMMITS), WIDE) as driver:
        await until_asked(driver)
        await driver.press("escape")
        await until_back(driver)
        client = driver.explore.session.client
        write = client.run(lambda kb: kb.memory_add("Speaks Catalan", entity="Alice Chen"))
        notice = driver.until_shown(StatusLine, "saved, but not committed")
        await asyncio.gather(write, notice)  # it is shown for a moment only


async def test_the_tour_follows_its_keys_and_ends_with_escape(demo: Path) -> None:
    async with starting(demo, WIDE, tour="first") as driver:
        await driver.until(lambda: is_counted(driver))
        await driver.until_shown(TourBubble, "1/6 Press ↑ to ask a question")
        await driver.until_shown(
            ResultList, "for example what did", "↑ enter asks the next of them"
        )
        await driver.press("up")
        query = driver.explore.query_one(QueryLine).value
        assert query.startswith("what did ")
        await driver.until(lambda: driver.explore.view is not None and driver.titles)
        await driver.until_shown(TourBubble, "2/6 Press ↓")
        await driver.press("down")
        await driver.until_shown(TourBubble, "3/6 Press ] twice")
        bubble, results = driver.explore.query_one(TourBubble), driver.results
        assert not bubble.region.overlaps(results.region)  # it hides no row
        before = driver.paths
        await driver.press("right_square_bracket", "right_square_bracket")
        await driver.until(lambda: driver.paths != before)
        await driver.until_shown(TourBubble, "4/6 Press z")
        await driver.press("z")
        await driver.until_shown(TourBubble, "5/6 Press enter")
        await driver.press("enter")
        await driver.until(lambda: driver.explore.panes.read == "document")
        await driver.until_shown(TourBubble, "6/6 Press ?", "esc goes back")
        await driver.press("escape")
        await driver.until_focused(ResultList)
        assert driver.explore.panes.read is None
        await driver.until_shown(TourBubble, "6/6", "esc ends the tour")
        await driver.press("escape")
        await driver.until(lambda: not driver.explore.query_one(TourBubble).display)
        await driver.press("down")
        await driver.until_focused(ResultList)
        await driver.press("tab")
        await driver.until_focused(WhyPane)
        await driver.press("question_mark")
        await driver.until_shown(HelpText, "the document part weighs 50 %", "bm25", "cosine")
    assert KbxApp(demo, tour="always").explore is not None
    again = KbxApp(demo, tour="first")
    assert again.explore is not None
    assert not again.explore.tour.is_wanted  # it has been seen


async def test_the_bubble_covers_nothing_where_there_is_no_room_beside_the_panes(
    demo: Path,
) -> None:
    async with starting(demo, NARROW, tour="always") as driver:
        await driver.until_shown(TourBubble, "1/6 Press ↑", "esc ends the tour")
        await driver.press("up")
        await driver.until_shown(TourBubble, "2/6 Press ↓")
        bubble = driver.explore.query_one(TourBubble).region
        assert driver.explore.query_line.region.bottom <= bubble.y
        assert bubble.bottom <= driver.explore.panes.region.y
        await driver.press("down")
        await driver.until_shown(TourBubble, "3/6")
        assert driver.explore.query_one(TourBubble).region == bubble
        await driver.until_shown(TourBubble, "If a row moves, it gets ▲ or ▼.")
        await driver.pilot.resize_terminal(*TINY)
        await driver.until_shown(TourBubble, "If a row moves, it gets ▲ or ▼.")
        await driver.pilot.resize_terminal(*NARROW)
        await driver.press("slash")  # there, the keys of the next steps would be text
        await driver.until_shown(TourBubble, "3/6 Press ↓ to go back to the results")
        await driver.press("down")
        await driver.until_shown(TourBubble, "3/6", "twice", "esc ends the tour")
        await driver.press("tab")
        await driver.until_shown(TourBubble, "3/6", "esc goes back")
        await driver.press("escape")
        await driver.until_focused(ResultList)
        await driver.until_shown(TourBubble, "3/6", "esc ends the tour")


async def test_the_tour_goes_on_when_a_question_is_typed_and_clicks_follow(demo: Path) -> None:
    async with starting(demo, NARROW, tour="always") as driver:
        await driver.until_shown(TourBubble, "1/6 Press ↑")
        await driver.ask("what is new in March 2026 about Migration?")
        await driver.until_shown(TourBubble, "2/6 Press ↓")
        assert not driver.shows(DateChip)  # it would lie over the tour
        await driver.pilot.click(ResultList, offset=(8, 1))
        await driver.until_shown(TourBubble, "3/6")
        await driver.press("x")  # why takes the rest of the room
        await driver.until(lambda: driver.shows(WhyPane))
        await driver.until(lambda: driver.results.visible_height == 4)
        await driver.until_shown(ResultList, driver.titles[driver.results.cursor][:12])


async def test_escape_in_the_query_line_ends_the_tour_and_leaves_the_focus_there(
    demo: Path,
) -> None:
    async with starting(demo, WIDE, tour="always") as driver:
        await driver.until_shown(TourBubble, "1/6 Press ↑")
        await driver.press("escape")
        await driver.until(lambda: not driver.explore.query_one(TourBubble).display)
        await driver.write("what did")
        assert driver.explore.query_one(QueryLine).value == "what did"
