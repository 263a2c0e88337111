"""What the preview pane keeps in view: other widths and heights, edits, other documents."""

from __future__ import annotations

import pytest

from kbx_tui.tui.reading.reading_layout import lay_out
from tests.functional.tui.preview_app import NOTE, SIZES, PreviewApp, preview_of, reading


async def test_old_layout_is_cut_until_the_one_for_a_new_width_arrives() -> None:
    async with reading(preview_of(best=(6, 6)), (80, 24)) as (app, pilot):
        app.answers = False
        await pilot.resize_terminal(45, 24)
        await pilot.pause()
        widths = [event.width for event in app.resized]
        assert widths[-1] == app.pane.text_width == 42
        assert any(text.endswith("…") for text in app.rows())
        assert all(len(text) <= 42 for text in app.rows())
        app.answers = True
        app.pane.show(lay_out(preview_of(best=(6, 6)), 42))
        await pilot.pause()
        assert not any(text.endswith("…") for text in app.rows())


async def test_pane_requests_a_layout_once_it_knows_its_width() -> None:
    app = PreviewApp()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert [event.width for event in app.resized] == [77]


@SIZES
async def test_document_shown_in_a_hidden_pane_opens_at_its_best_passage(
    size: tuple[int, int],
) -> None:
    app = PreviewApp()
    app.shown = False
    async with app.run_test(size=size) as pilot:
        assert app.pane.text_width == 0
        app.pane.show(lay_out(preview_of(best=(40, 40)), 60))
        app.pane.display = True
        await pilot.pause()
        await pilot.pause()
        assert app.pane.laid_out is not None
        assert app.pane.laid_out.width == app.pane.text_width
        row = next(row for row, text in enumerate(app.rows()) if text.startswith("▌"))
        assert 0 < row <= app.pane.visible_height // 4


async def test_position_survives_a_new_width() -> None:
    async with reading(preview_of(best=(40, 40)), (80, 24)) as (app, pilot):
        await pilot.press("n", "N")
        row = [text[:13] for text in app.rows()].index("▌ The migrati")
        await pilot.resize_terminal(40, 24)
        await pilot.pause()
        assert [text[:13] for text in app.rows()].index("▌ The migrati") == row
        assert app.pane.position == "2/3"


@pytest.mark.parametrize("best", [(75, 76), (80, 80)], ids=["no match", "match"])
async def test_what_is_read_stays_visible_in_a_smaller_terminal(best: tuple[int, int]) -> None:
    async with reading(preview_of(best=best), (140, 60)) as (app, pilot):
        for size in ((140, 40), (80, 24), (80, 12)):  # the best passage is at the end
            await pilot.resize_terminal(*size)
            await pilot.pause()
            await pilot.pause()
            assert any(text.startswith("▌") for text in app.rows()), size


async def test_what_was_scrolled_away_from_does_not_come_back_in_a_smaller_terminal() -> None:
    async with reading(preview_of(best=(40, 40)), (140, 40)) as (app, pilot):
        await pilot.press("G")
        before = app.pane.scroll_offset.y
        await pilot.resize_terminal(140, 20)
        await pilot.pause()
        assert app.pane.scroll_offset.y == before


async def test_position_survives_an_edit_of_the_file() -> None:
    async with reading(preview_of(best=(40, 40))) as (app, pilot):
        await pilot.press("G", "pageup")
        before = app.rows()
        edited = preview_of(NOTE.replace("# Rollback", "A migration more.\n\n# Rollback"), (42, 42))
        app.pane.show(lay_out(edited, app.pane.text_width))
        await pilot.pause()
        assert app.rows() == before
        assert app.pane.position == "3/4"


async def test_new_query_or_document_opens_at_its_own_best_passage() -> None:
    async with reading(preview_of(best=(40, 40))) as (app, pilot):
        await pilot.press("G")
        app.pane.show(lay_out(preview_of(best=(6, 6), words="Bob"), app.pane.text_width))
        await pilot.pause()
        assert app.pane.position == "1/1"
        assert app.pane.current_line == 6
        await pilot.press("G")
        app.pane.show(lay_out(preview_of("other", path="o.md"), app.pane.text_width))
        await pilot.pause()
        assert app.rows()[0] == "  other"


async def test_current_line_is_the_top_one_after_scrolling_away() -> None:
    async with reading(preview_of(best=(6, 6)), (80, 24)) as (app, pilot):
        await pilot.press("pagedown", "pagedown")
        assert app.pane.current_line == app.pane.scroll_offset.y + 3 > 30  # 3 lines folded to 1
