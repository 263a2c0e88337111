"""The slider in a minimal app."""

from __future__ import annotations

from textual import on
from textual.app import App, ComposeResult

from kbx_tui.tui.widgets.number_slider import NumberSlider, SliderLayout
from tests.functional.tui.driving import rendered_text


class SliderApp(App[None]):
    def compose(self) -> ComposeResult:
        self.changes: list[float] = []
        yield NumberSlider("alpha", 0.5, ends=("entity", "document"))

    @on(NumberSlider.Changed, "#alpha")
    def record(self, event: NumberSlider.Changed) -> None:
        self.changes.append(event.value)


async def test_slider_reports_only_changes_by_the_user() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        slider.show(0.3)
        await pilot.pause()
        assert app.changes == []
        slider.focus()
        await pilot.press("right")
        for _ in range(11):  # a burst, faster than the app can answer
            slider.action_move(5)
        await pilot.pause()
        assert app.changes == [0.35, 0.9]


async def test_slider_steps_do_not_drift() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        slider.action_move_to_end(False)
        for _ in range(20):
            slider.action_move(5)
        await pilot.pause()
        assert app.changes[-1] == 1.0
        slider.action_move(5)
        await pilot.pause()
        assert app.changes[-1] == 1.0


async def test_slider_is_clicked_and_dragged_with_the_mouse() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        layout = SliderLayout.of(slider.size.width, slider.label, slider.ends)
        await pilot.mouse_down(slider, offset=(layout.start, 0))
        await pilot.pause()
        assert slider.value == 0.0
        await pilot.hover(slider, offset=(layout.start + layout.track - 1, 0))
        await pilot.pause()
        assert slider.value == 1.0
        await pilot.mouse_up(slider, offset=(layout.start + layout.track - 1, 0))
        await pilot.pause()
        await pilot.hover(slider, offset=(layout.start, 0))
        assert slider.value == 1.0


async def test_brackets_in_a_note_are_not_markup() -> None:
    app = SliderApp()
    async with app.run_test(size=(120, 16)) as pilot:
        app.query_one(NumberSlider).annotate("[red]2 of [b]3")
        await pilot.pause()
        text = rendered_text(app)
        assert "[red]2 of [b]3" in text
