"""The links box: one list of links in both directions; a mention becomes a link by one key."""

from __future__ import annotations

from pathlib import Path

from kbx_tui.tui.boxes.links_box import LinksList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.help_screen import HelpText
from tests.functional.tui.driving import WIDE, running

MIGRATION = "memory/projects/migration.md"


async def test_a_mention_becomes_a_link_and_is_taken_back(demo_copy: Path) -> None:
    async with running(demo_copy, WIDE) as driver:
        await driver.ask("who leads the Migration")
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
