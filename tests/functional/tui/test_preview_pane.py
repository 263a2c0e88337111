"""The preview pane in a minimal app."""

import pytest

from kbx_tui.tui.drawing.lines import Line
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.reading.reading_layout import TextLayout, lay_out
from tests.functional.tui.preview_app import NOTE, SIZES, PreviewApp, preview_of, reading


@SIZES
async def test_document_opens_at_its_best_passage(size: tuple[int, int]) -> None:
    async with reading(preview_of(best=(40, 40)), size) as (app, _):
        row = next(row for row, text in enumerate(app.rows()) if text.startswith("▌"))
        assert 0 < row <= size[1] // 4
        assert app.highlighted_words() == ["migration"]
        assert app.pane.position == "2/3"
        assert app.pane.current_line == 40
        assert app.pane.vertical_scrollbar.position == app.pane.scroll_offset.y > 0


@pytest.mark.parametrize("keys", [(), ("j",)], ids=["unscrolled", "scrolled"])
async def test_new_width_keeps_the_best_passage_in_place_unless_scrolled(
    keys: tuple[str, ...],
) -> None:
    preview = preview_of(best=(40, 40))
    async with reading(preview) as (app, pilot):
        fresh = app.pane.scroll_offset.y
        app.pane.show(lay_out(preview, 20))
        narrow = app.pane.scroll_offset.y
        assert narrow > fresh
        await pilot.press(*keys)
        app.pane.show(lay_out(preview, app.pane.text_width))
        assert (app.pane.scroll_offset.y == fresh) is not bool(keys)


async def test_without_a_best_passage_it_opens_at_the_top_and_counts_matches() -> None:
    async with reading(preview_of()) as (app, _):
        assert app.rows()[:2] == ["▸ frontmatter: 1 line", "  # Rollback plan"]
        assert app.pane.position == "3 matches"
        assert "3 matches · n/p.md" in str(app.pane.border_subtitle)
        assert app.pane.current_line == 1


async def test_n_and_N_cycle_through_the_matches() -> None:  # noqa: N802
    async with reading(preview_of(best=(40, 40))) as (app, pilot):
        seen = []
        for key in ("n", "n", "n", "N", "N"):
            await pilot.press(key)
            seen.append((app.pane.position, app.pane.current_line))
            assert app.highlighted_words() == ["migration"]
        assert seen == [("3/3", 80), ("1/3", 6), ("2/3", 40), ("1/3", 6), ("3/3", 80)]


async def test_n_continues_from_the_visible_part_after_scrolling() -> None:
    async with reading(preview_of(best=(40, 40))) as (app, pilot):
        assert app.pane.position == "2/3"
        await pilot.press("home")
        assert app.pane.position == "3 matches"  # that of the counter is out of sight
        assert "3 matches · " in str(app.pane.border_subtitle)
        await pilot.press("n")
        assert app.pane.position == "1/3"
        await pilot.press("end", "N")
        assert app.pane.position == "2/3"


async def test_frontmatter_is_folded_until_a_key_or_a_match_in_it_unfolds_it() -> None:
    note = NOTE.replace("team: '[[Platform]]'", "type: plan\ntags: [a, migration]")
    async with reading(preview_of(note)) as (app, pilot):
        folded = "▸ frontmatter: 2 lines, type plan, 2 tags · 1 match"
        assert app.rows()[:2] == [folded, "  # Rollback plan"]
        assert app.pane.current_line == 1
        await pilot.press("U")
        assert app.rows()[:3] == ["▾ ---", "  type: plan", "  tags: [a, migration]"]
        await pilot.click(PreviewPane, offset=(5, 1))
        assert app.rows()[0] == folded
        await pilot.press("n")
        assert app.pane.current_line == 3
        assert app.highlighted_words() == ["migration"]
        assert app.rows()[2] == "  tags: [a, migration]"
        await pilot.press("n")
        assert app.pane.current_line == 7
    async with reading(preview_of(note, best=(2, 3))) as (app, _):
        assert app.rows()[1] == "▌ type: plan"  # the passage that matches is in view


async def test_arrow_keys_cycle_through_links_and_enter_follows() -> None:
    async with reading(preview_of()) as (app, pilot):
        seen = []
        for key in ("right", "l", "l", "l", "l", "h", "left"):
            await pilot.press(key)
            seen.append("".join(app.highlighted_words()))
        assert seen == ["Platform", "Bob", "steps", "Alice Chen", "Platform", "Alice Chen", "steps"]
        assert "link 3/4 → steps.md" in str(app.pane.border_subtitle)
        await pilot.press("enter")
        (followed,) = app.messages
        assert isinstance(followed, PreviewPane.Followed)
        assert (followed.target, followed.path) == ("steps.md", "n/p.md")


async def test_enter_selects_a_link_first_if_none_is_selected() -> None:
    async with reading(preview_of(best=(40, 40))) as (app, pilot):
        await pilot.press("enter")
        assert app.highlighted_words() == ["Alice Chen"]
        assert not app.messages


async def test_enter_on_a_match_within_a_link_follows_the_link() -> None:
    async with reading(preview_of("see [[the migration]]", (1, 1))) as (app, pilot):
        await pilot.press("enter")
        assert [event.target for event in app.followed] == ["the migration"]


async def test_only_a_click_on_a_link_follows_it() -> None:
    async with reading(preview_of()) as (app, pilot):
        row = next(row for row, text in enumerate(app.rows()) if "Bob" in text)
        column = app.rows()[row].index("Bob")
        for x in (column - 2, column + 3, 0):
            await pilot.click(app.pane, offset=(x + 1, row + 1))
        assert not app.messages
        await pilot.click(app.pane, offset=(column + 2 + 1, row + 1))
        assert [event.target for event in app.followed] == ["Bob Okafor"]


async def test_document_without_matches_and_links_survives_all_keys() -> None:
    async with reading(preview_of("just text")) as (app, pilot):
        await pilot.press("n", "N", "h", "l", "enter")
        assert app.pane.position == ""
        assert not app.messages


async def test_empty_and_missing_files_show_a_message() -> None:
    async with reading(preview_of("")) as (app, pilot):
        assert any("This file is empty." in text for text in app.rows())
        app.pane.show_gone("n/p.md", "no document n/p.md in /kb")
        await pilot.pause()
        shown = "\n".join(app.rows())
        assert "n/p.md can no longer be read." in shown
        assert "no document n/p.md in /kb" in shown
        assert "Go back" in shown
        assert app.pane.preview is None
        assert app.pane.path == "n/p.md"
        await pilot.press("n", "l", "enter", "end")
        await pilot.click(app.pane, offset=(5, 2))
        assert not app.messages
        app.pane.show(lay_out(preview_of(), app.pane.text_width))
        await pilot.pause()
        assert app.rows()[0] == "▸ frontmatter: 1 line"


async def test_only_visible_rows_of_a_long_file_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    line = TextLayout.line
    async with reading(preview_of("- a **line** of text\n" * 20_000)) as (app, pilot):

        def counted(layout: TextLayout, row: int) -> Line:
            drawn.append(row)
            return line(layout, row)

        monkeypatch.setattr(TextLayout, "line", counted)
        app.pane.action_scroll_to_end(True)
        await pilot.pause()
        assert app.rows()[-2] == "  - a line of text"
        assert len(set(drawn)) <= 2 * app.pane.visible_height
        assert not app.pane.children


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
        await pilot.press("end")
        before = app.pane.scroll_offset.y
        await pilot.resize_terminal(140, 20)
        await pilot.pause()
        assert app.pane.scroll_offset.y == before


async def test_position_survives_an_edit_of_the_file() -> None:
    async with reading(preview_of(best=(40, 40))) as (app, pilot):
        await pilot.press("end", "pageup")
        before = app.rows()
        edited = preview_of(NOTE.replace("# Rollback", "A migration more.\n\n# Rollback"), (42, 42))
        app.pane.show(lay_out(edited, app.pane.text_width))
        await pilot.pause()
        assert app.rows() == before
        assert app.pane.position == "3/4"


async def test_current_line_is_the_top_one_after_scrolling_away() -> None:
    async with reading(preview_of(best=(6, 6)), (80, 24)) as (app, pilot):
        await pilot.press("pagedown", "pagedown")
        assert app.pane.current_line == app.pane.scroll_offset.y + 3 > 30  # 3 lines folded to 1
