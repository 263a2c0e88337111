"""The slider alone, in the smallest app that holds it."""

from __future__ import annotations

from textual import on
from textual.app import App, ComposeResult

from kbx_tui.tui.widgets.number_slider import NumberSlider


class SliderApp(App[None]):
    def compose(self) -> ComposeResult:
        self.heard: list[float] = []
        yield NumberSlider("alpha", 0.5, ends=("entity", "document"))

    @on(NumberSlider.Changed, "#alpha")
    def remember(self, event: NumberSlider.Changed) -> None:
        self.heard.append(event.value)


async def test_a_slider_tells_only_what_the_person_did() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        slider.show(0.3)
        await pilot.pause()
        assert app.heard == []
        slider.focus()
        await pilot.press("right")
        for _ in range(11):  # a burst, faster than the app can answer
            slider.action_move(5)
        await pilot.pause()
        assert app.heard == [0.35, 0.9]


async def test_twenty_steps_do_not_drift() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        slider.action_move_to_end(False)
        for _ in range(20):
            slider.action_move(5)
        await pilot.pause()
        assert app.heard[-1] == 1.0
        slider.action_move(5)
        await pilot.pause()
        assert app.heard[-1] == 1.0


async def test_the_mouse_clicks_drags_and_scrolls() -> None:
    app = SliderApp()
    async with app.run_test(size=(50, 16)) as pilot:
        slider = app.query_one(NumberSlider)
        plan = slider._plan(slider.size.width)
        await pilot.mouse_down(slider, offset=(plan.start, 0))
        await pilot.pause()
        assert slider.value == 0.0
        await pilot.hover(slider, offset=(plan.start + plan.track - 1, 0))
        await pilot.pause()
        assert slider.value == 1.0
        await pilot.mouse_up(slider, offset=(plan.start + plan.track - 1, 0))
        await pilot.pause()
        await pilot.hover(slider, offset=(plan.start, 0))
        assert slider.value == 1.0


async def test_a_bracket_in_a_note_is_no_markup() -> None:
    app = SliderApp()
    async with app.run_test(size=(120, 16)) as pilot:
        app.query_one(NumberSlider).annotate("[red]2 of [b]3")
        await pilot.pause()
        text = "\n".join(
            "".join(segment.text for segment in strip)
            for strip in app.screen._compositor.render_strips()
        )
        assert "[red]2 of [b]3" in text
