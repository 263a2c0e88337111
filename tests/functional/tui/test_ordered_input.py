"""Keys that arrive several at once act in the order in which they were typed."""

from __future__ import annotations

from typing import ClassVar

import pytest
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding

from kbx_tui.tui.widgets.input_fields import OrderedInput


class Line(OrderedInput):
    BINDINGS: ClassVar = [Binding("ctrl+k", "app.bell", "Ring")]


class LineApp(App[None]):
    def compose(self) -> ComposeResult:
        yield Line()

    def type(self, *keys: str) -> None:
        """Deliver keys as they come from a slow line: at once."""
        for key in keys:
            self.post_message(events.Key(key, key if len(key) == 1 else None))


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ((*"kitchez", "backspace", "n"), "kitchen"),
        ((*"old", "ctrl+u", *"new"), "new"),
        ((*"bc", "left", "left", "a"), "abc"),
        ((*"bc", "home", "a", "end", "d"), "abcd"),
    ],
    ids=["backspace", "clear", "left", "home-end"],
)
async def test_letters_after_an_editing_key_come_after_it(keys: tuple[str, ...], text: str) -> None:
    app = LineApp()
    async with app.run_test(size=(40, 5)) as pilot:
        app.type(*keys)
        await pilot.pause()
        assert app.query_one(Line).value == text


async def test_a_binding_of_the_field_itself_replaces_the_editing_key() -> None:
    app = LineApp()
    async with app.run_test(size=(40, 5)) as pilot:
        app.type(*"abc", "home")
        await pilot.pause()
        app.type("ctrl+k")
        await pilot.pause()
        assert app.query_one(Line).value == "abc"
