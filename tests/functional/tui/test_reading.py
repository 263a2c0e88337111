"""The why pane, reading documents and cards, and the way back."""

from pathlib import Path

import pytest

from kbx_tui import KnowledgeBase
from kbx_tui.formatting import format_score
from kbx_tui.tui.boxes.links_box import LinksList
from kbx_tui.tui.explore.entities import EntityCard, EntityList
from kbx_tui.tui.explore.inputs import QueryLine
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.explore.why_pane import WhyPane
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.help_screen import HelpText
from kbx_tui.tui.widgets.footer import StatusLine
from tests.functional.tui.driving import NARROW, QUESTION, TINY, WIDE, Driver, Size, running

ROLLBACK = "memory/notes/2026-01-30-rollback-plan.md"


def pane_of(driver: Driver) -> PreviewPane:
    return driver.explore.query_one(PreviewPane)


async def read_first(driver: Driver, query: str = "rollback plan") -> None:
    await driver.ask(query)
    await driver.press("down", "enter")
    await driver.until_focused(PreviewPane)


# Why.


async def test_why_follows_the_cursor_and_alpha(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", *["left_square_bracket"] * 3)
        await driver.until(lambda: driver.alpha == 0.35)
        for result in driver.results.rows[:3]:
            driver.results.choose(result.rank - 1)
            await driver.until(lambda path=result.path: explained(driver) == path)  # type: ignore[misc]
            await driver.until_shown(WhyPane, f"{format_score(result.score)} =")
        assert driver.watched.calls["retrieve"] == 1


def explained(driver: Driver) -> str:
    """Return the path of the result that the why pane explains."""
    why = driver.explore.query_one(WhyPane).why
    return "" if why is None else why.path


async def test_why_lists_the_matched_words_when_results_have_one_line(demo: Path) -> None:
    async with running(demo, NARROW, asked=QUESTION) as driver:
        snippets = driver.explore.model.displayed.snippets
        for path in driver.paths[:4]:
            await driver.press("down")
            if not driver.shows(WhyPane):
                await driver.press("x")
            await driver.until(lambda path=path: path in snippets)  # type: ignore[misc]
            terms = [f"{term} ×{count}" for term, count in snippets[path].terms]
            await driver.until_shown(WhyPane, ", ".join(terms))


# A document.


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_enter_opens_the_file_at_its_best_passage_and_escape_closes_it(
    demo: Path, size: Size
) -> None:
    async with running(demo, size) as driver:
        await read_first(driver)
        await driver.until_shown(PreviewPane, "▌")
        assert driver.titles[0] == "Rollback plan"
        assert driver.results.display == (size == WIDE)
        preview = pane_of(driver).preview
        assert preview is not None
        assert preview.path == ROLLBACK
        text = "\n".join(preview.lines)
        for line in ("title: Rollback plan", "## Points of return", "deckctl db whoami"):
            assert line in text
        assert len(preview.lines) == (demo / ROLLBACK).read_text(encoding="utf-8").count("\n") + 1
        await driver.press("escape")
        await driver.until_focused(ResultList)
        assert not pane_of(driver).display


async def test_p_previews_the_document_under_the_cursor_or_that_why_is_of(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "p")
        await driver.until_shown(PreviewPane, "Migration go/no-go")
        assert driver.has_focus(ResultList)
        for _ in range(3):
            await driver.press("down")
            current = driver.results.current
            assert current is not None
            await driver.until_shown(PreviewPane, current.title[:30])
        assert driver.has_focus(ResultList)
        assert len(driver.explore.reader.history) == 1
        await driver.ask("rollback plan")  # a new query leads to its best result
        await driver.until(lambda: pane_of(driver).path == ROLLBACK)
        await driver.press("p")
        await driver.until(lambda: not pane_of(driver).display)
        await driver.until(lambda: driver.explore.query_one(WhyPane).display)
        await driver.press("tab")
        await driver.until_focused(WhyPane)
        await driver.press("p")
        await driver.until_focused(PreviewPane)


# Cards and links.


@pytest.mark.parametrize("size", [WIDE, NARROW, TINY], ids=["wide", "narrow", "tiny"])
async def test_enter_on_an_entity_opens_its_card(demo: Path, size: Size) -> None:
    async with running(demo, size, asked=QUESTION) as driver:
        await driver.press("escape", "e", "enter")
        await driver.until_focused(EntityCard)
        await driver.until_shown(
            EntityCard, "● Alice Chen", "Director of Engineering · Platform", "also achen"
        )
        card = driver.explore.query_one(EntityCard).card
        assert card is not None
        assert len(card.facts) == 9
        assert [fact.status for fact in card.facts].count("superseded") == 1
        assert len(card.open_items) == 4
        assert card.documents
        await driver.press("escape")
        await driver.until_focused(EntityList)  # the pane it was opened from
        assert not driver.explore.query_one(EntityCard).display
        await driver.press("enter")
        await driver.until_focused(EntityCard)
        await driver.press("p")  # closes it wherever the focus is
        await driver.until_focused(ResultList)
        assert not driver.explore.query_one(EntityCard).display


async def test_links_open_cards_and_documents_and_escape_returns(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await read_first(driver)
        await driver.press("home", "right")
        await driver.until_shown(PreviewPane, "link 1/4 → Bob Okafor")
        await driver.press("enter")
        await driver.until_focused(EntityCard)
        await driver.until_shown(EntityCard, "● Bob Okafor")
        await driver.press("G", "enter")  # the oldest of Bob's documents
        await driver.until_focused(PreviewPane)
        oldest = pane_of(driver).path
        assert oldest != ROLLBACK
        await driver.press("escape")
        await driver.until_focused(EntityCard)
        assert driver.explore.query_one(EntityCard).current_path == oldest
        await driver.press("escape")
        await driver.until(lambda: pane_of(driver).path == ROLLBACK)
        await driver.until_focused(PreviewPane)
        await driver.press("escape")
        await driver.until_focused(ResultList)


async def test_without_links_or_matches_the_keys_for_them_say_so(demo_copy: Path) -> None:
    page = "memory/notes/plain.md"
    (demo_copy / page).write_text("# Plain\n\nNothing here.\n", encoding="utf-8")
    async with running(demo_copy, WIDE, asked="rollback plan") as driver:
        driver.explore.reader.open_document(page, focus=True)
        await driver.until_focused(PreviewPane)
        await driver.press("l")
        await driver.until_shown(StatusLine, "this document has no links")
        await driver.press("n")
        await driver.until_shown(StatusLine, "no word of the query is in this document")


async def test_links_and_embeds_of_a_document_show_and_open_others(demo_copy: Path) -> None:
    note = demo_copy / "memory/notes/2026-05-01-quokka.md"
    note.write_text(
        "# Quokka visit\n\nAs in the [[Rollback plan]] and [elsewhere](https://x.example).\n"
        "\n![[Rollback plan#Points of return]]\n\nQuokkas agree.\n",
        encoding="utf-8",
    )
    async with running(demo_copy, WIDE, asked="quokka visit") as driver:
        await driver.until(lambda: driver.titles[:1] == ["Quokka visit"])
        await driver.press("down", "enter")
        await driver.until_focused(PreviewPane)
        await driver.until_shown(PreviewPane, "Rollback plan#Points of return > | Point | When")
        await driver.press("n")
        assert pane_of(driver).current_line == 1  # passages of other notes hold no matches
        await driver.press("N")
        assert pane_of(driver).current_line == 7
        await driver.press("home", "l", "enter")
        await driver.until(lambda: pane_of(driver).path == ROLLBACK)
        await driver.press("escape")
        await driver.until(lambda: pane_of(driver).path == "memory/notes/2026-05-01-quokka.md")
        await driver.press("home", "l", "l", "enter")
        await driver.until_shown(StatusLine, "https://x.example leads to no page of this")
        assert pane_of(driver).path == "memory/notes/2026-05-01-quokka.md"


async def test_entity_without_a_page_offers_its_documents(demo_copy: Path) -> None:
    (demo_copy / "memory/people/alice-chen.md").write_text(
        "---\nteam: Quokkas\n---\n# Alice Chen\n", encoding="utf-8"
    )
    async with running(demo_copy, WIDE, asked="quokkas") as driver:
        await driver.until_shown(EntityList, "● Quokkas team")
        await driver.press("escape", "e", "enter")
        await driver.until_shown(EntityCard, "● Quokkas", "no page of its own")
        await driver.press("enter")
        await driver.until_focused(PreviewPane)


async def test_resizing_keeps_the_message_of_an_unreadable_document(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await read_first(driver)
        await driver.press("escape")
        driver.explore.reader.open_document("memory/gone.md", focus=True)
        await driver.until_shown(PreviewPane, "memory/gone.md can no longer be read")
        await driver.pilot.resize_terminal(*NARROW)
        await driver.until(lambda: driver.explore.has_class("-narrow"))
        await driver.until_shown(PreviewPane, "memory/gone.md can no longer be read")
        await driver.pilot.pause(0.1)  # time for a layout of the document read before
        assert pane_of(driver).path == "memory/gone.md"


async def test_document_that_opens_late_does_not_take_typed_letters(demo: Path) -> None:
    async with running(demo, WIDE, asked="rollback plan") as driver:
        await driver.press("down", "p")
        await driver.until_shown(PreviewPane, "Rollback plan")
        await driver.press("slash")
        await driver.write("quokka")
        await driver.until(lambda: driver.explore.query_one(QueryLine).value == "quokka")
        assert driver.has_focus(QueryLine)


async def test_opened_documents_are_counted_and_previewed_ones_are_not(demo_copy: Path) -> None:
    usage = demo_copy / ".kbx" / "usage.jsonl"
    usage.unlink(missing_ok=True)  # of the tests before
    async with running(demo_copy, WIDE, asked="rollback plan") as driver:
        await driver.press("down", "p")
        await driver.until(lambda: driver.explore.panes.read)
        await driver.press("down", "down")
        assert not usage.exists()
        await driver.press("enter")
        await driver.until_focused(PreviewPane)
        await driver.until(usage.exists)
        assert len(usage.read_text().splitlines()) == 1


LIVE = (160, 45)


def follows_cursor(driver: Driver) -> bool:
    pane, current = pane_of(driver), driver.results.current
    is_laid_out = pane.laid_out.width == pane.text_width
    return current is not None and pane.path == current.path and is_laid_out


async def test_wide_terminal_previews_the_document_under_the_cursor(demo_copy: Path) -> None:
    async with running(demo_copy, LIVE, debounce=0.001) as driver:
        await driver.ask(QUESTION)
        await driver.press("down")
        await driver.until_shown(
            PreviewPane, "Migration go/no-go", "Go for the Migration: cut-over"
        )
        why, pane = driver.explore.query_one(WhyPane), pane_of(driver)
        assert why.display and pane.region.y == why.region.bottom
        first = driver.watched.calls["document"]
        await driver.press(*["down"] * 6)  # read only where the cursor rests
        await driver.until(lambda: follows_cursor(driver))
        assert driver.watched.calls["document"] - first <= 2
        read = driver.watched.calls["document"]
        await driver.press("home")
        await driver.until(lambda: follows_cursor(driver))
        assert driver.watched.calls["document"] == read  # the first one was kept
        assert not driver.explore.reader.history

        await driver.press("tab", "tab")
        await driver.until_focused(PreviewPane)
        path = pane.path
        await driver.press("2")
        judging = driver.explore.session.judging
        await driver.until(lambda: dict(judging.grades_of(QUESTION)) == {path: 2})
        await driver.until(lambda: follows_cursor(driver) and pane.path != path)
        assert driver.has_focus(PreviewPane) and why.display

        await driver.press("p")  # hidden, and remembered like other panes
        await driver.until_focused(ResultList)
        assert not pane.display and driver.app.app_state.base.hidden == ["preview"]
        await driver.press("p")
        await driver.until(lambda: pane.display)

        await driver.press("enter")  # reading takes the place of why, too
        await driver.until_focused(PreviewPane)
        assert not why.display
        await driver.press("escape")
        await driver.until_focused(ResultList)
        assert why.display and pane.display
        await driver.ask("zzzz qqqq type:nothing")
        await driver.until(lambda: pane.preview is None)


async def test_the_beginning_of_a_long_document_is_previewed_and_all_of_it_read(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "memory" / "notes"
    notes.mkdir(parents=True)
    lines = ["# The harbour log", "The gangway was painted."]
    lines += [
        f"Line {number} of the harbour log, on which nothing happened." for number in range(8_000)
    ]
    (notes / "log.md").write_text("\n".join([*lines, "The last line."]), encoding="utf-8")
    with KnowledgeBase(tmp_path) as kb:
        kb.index(fast=True)
        view = kb.documents.view("memory/notes/log.md", most=60)
        assert view.title == "The harbour log" and view.text == "".join(f"{x}\n" for x in lines[:2])
        assert view.left_out == (notes / "log.md").stat().st_size - len(view.text)
    async with running(tmp_path, LIVE, debounce=0.001, asked="gangway") as driver:
        await driver.press("down")
        await driver.until_shown(PreviewPane, "The gangway was painted.")
        preview = pane_of(driver).preview
        assert preview is not None and len(preview.lines) < 5_000
        assert any("kB more appear when the page is read" in line for line in preview.lines[-2:])
        await driver.press("enter")
        await driver.until(lambda: pane_of(driver).laid_out.preview.lines[-1] == "The last line.")


async def test_narrower_terminal_reads_no_document_by_itself(demo: Path) -> None:
    async with running(demo, WIDE, asked=QUESTION) as driver:
        await driver.press("down", "down")
        await driver.until(lambda: explained(driver) == driver.paths[1])
        assert not driver.watched.calls["document"]
        await driver.pilot.resize_terminal(*LIVE)
        await driver.until(lambda: follows_cursor(driver))
        await driver.pilot.resize_terminal(*WIDE)
        await driver.until(lambda: not pane_of(driver).display)
        read = driver.watched.calls["document"]
        await driver.press("down")
        await driver.until(lambda: explained(driver) == driver.paths[2])
        assert driver.watched.calls["document"] == read


MIGRATION = "memory/projects/migration.md"


async def test_a_mention_becomes_a_link_and_is_taken_back(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE, asked="who leads the Migration") as driver:
        driver.explore.reader.open_document(MIGRATION, focus=True)
        await driver.until(lambda: driver.explore.query_one(PreviewPane).path == MIGRATION)
        await driver.press("X")
        await driver.until_shown(LinksList, "13 backlinks", "Cut-over retrospective")
        links = driver.app.screen.query_one(LinksList)

        def count(kind: str) -> int:
            return sum(row.kind == kind for row in links.rows)

        assert (count("mention"), count("outgoing"), count("broken")) == (11, 6, 0)
        first = next(row for row in links.rows if row.kind == "mention")
        assert first.mention is not None
        file = demo_copy / first.path
        before = file.read_bytes()
        await driver.press(*["down"] * links.rows.index(first), "l")
        await driver.until(lambda: (count("backlink"), count("mention")) == (14, 10))
        assert file.read_bytes().count(b"[[") == before.count(b"[[") + 1
        assert len(file.read_bytes()) == len(before) + len("[[]]")
        await driver.press("z")
        await driver.until(lambda: (count("backlink"), count("mention")) == (13, 11))
        assert file.read_bytes() == before
        await driver.press("question_mark")
        await driver.until_shown(HelpText, "In the links", "make the mention under the cursor")
        await driver.press("escape")
        opened = links.rows[0]
        await driver.press("home", "enter")
        await driver.until(lambda: driver.explore.query_one(PreviewPane).path == opened.path)
        await driver.until_focused(PreviewPane)
        assert driver.explore.query_one(PreviewPane).current_line == opened.line


async def test_related_documents_are_listed_with_reasons_and_opened(demo: Path) -> None:
    async with running(demo, WIDE) as driver:
        await read_first(driver)
        await driver.press("v", "n")
        await driver.until_shown(LinksList, "close in meaning (.70)")
        assert driver.screen_text().count("20 related documents") == 1
        rows = driver.app.screen.query_one(LinksList).rows
        await driver.press("down", "enter")
        await driver.until(lambda: pane_of(driver).path == rows[1].path)


async def test_a_turn_of_the_person_asked_for_is_shown_with_who_speaks(demo: Path) -> None:
    async with running(demo, WIDE, asked="what did Marek say about the rehearsal") as driver:
        await driver.press("down")
        await driver.until_shown(ResultList, "Marek: Everyone’s confident".replace("’", "'"))
        await driver.press("tab")  # the details are there with the focus
        await driver.until_shown(WhyPane, "Marek Dvořák speaks here")
