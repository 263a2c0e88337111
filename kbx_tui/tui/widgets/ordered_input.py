"""A one-line field whose editing keys act in the order in which they were typed."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.widgets import Input

EDITING = {
    key: binding.action
    for binding in Input.BINDINGS
    if isinstance(binding, Binding)
    and binding.action.startswith(("cursor_", "delete_", "home", "end"))
    for key in binding.key.split(",")
}
"""The actions of `Input` that move the cursor or delete, by key."""


class OrderedInput(Input):
    """An `Input` for keys that arrive several at once, over a slow line or after a pause.

    Textual looks for the binding of a key only once it has passed through all parents of the field.
    By then, letters typed after it have been inserted.
    """

    async def on_key(self, event: events.Key) -> None:
        active = self.screen.active_bindings.get(event.key) if event.key in EDITING else None
        if active and active.node is self and active.binding.action == EDITING[event.key]:
            event.stop()
            event.prevent_default()
            await self.run_action(active.binding.action)
