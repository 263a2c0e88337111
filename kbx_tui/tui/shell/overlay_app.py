"""The boxes that the app shows over its screens: help, palette, pickers, and those over explore."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import SystemCommand
from textual.screen import Screen

from kbx_tui.tui.commands.keymap import Keymap
from kbx_tui.tui.commands.offer import Offer
from kbx_tui.tui.shell.frame_screen import FrameScreen
from kbx_tui.tui.shell.terminal_app import TerminalApp

if TYPE_CHECKING:
    from kbx_tui.search.evidence.tuning import Tuning
    from kbx_tui.tui.explore.screen import Explore


class OverlayApp(TerminalApp):
    """An app with boxes, each imported when it is first shown; those over explore need a base.

    The methods are those of `Navigator`, where they are described.
    """

    def __init__(self, theme: str, offer: Offer) -> None:
        super().__init__(theme)
        self.offer = offer
        self.keymap = Keymap(offer=offer)
        self.explore: Explore | None = None
        """The explore screen of the open base."""

    def show_help(self) -> None:
        from kbx_tui.tui.shell.help_screen import Help

        self.push_screen(Help(self.screen, self.keymap))

    def action_help(self) -> None:
        self.show_help()

    def pick_entity(self, pick: Callable[[str], None]) -> None:
        from kbx_tui.tui.commands.entity_picker import entity_palette

        if self.explore is not None:
            self.push_screen(entity_palette(self.explore.model.completions.entities, pick))

    def pick_folders(self) -> None:
        from kbx_tui.tui.indexing.folder_picker import FolderPicker

        if self.explore is not None:
            self.push_screen(FolderPicker(self.explore.session.index, self.keymap))

    def ask_why_not(self) -> None:
        from kbx_tui.tui.why_not.screen import open_box

        if self.explore is not None:
            open_box(self.explore, self.keymap)

    def ask_blind(self, before: Tuning, after: Tuning) -> None:
        from kbx_tui.tui.blind.model import BlindModel
        from kbx_tui.tui.blind.screen import BlindScreen

        if self.explore is not None:
            session, query = self.explore.session, self.explore.model.state.query
            model = BlindModel(session.client, session.judging, query, (before, after))
            self.push_screen(BlindScreen(model, self.keymap))

    def recall(self, *, naming: bool = False) -> None:
        from kbx_tui.tui.recall.recall_box import open_recall

        if self.explore is not None:
            open_recall(self.explore, naming=naming)

    def show_facets(self) -> None:
        from kbx_tui.tui.facets.facet_box import open_facets

        if self.explore is not None:
            open_facets(self.explore)

    def show_links(self, path: str) -> None:
        from kbx_tui.tui.links.links_box import open_links

        if self.explore is not None:
            open_links(self.explore, path)

    # The palette.

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        yield SystemCommand("Theme", "change the colours", self.action_change_theme)
        yield SystemCommand("Screenshot", "save the screen as SVG", self.deliver_screenshot)
        if isinstance(screen, FrameScreen):
            for command in self.keymap.commands_in(*screen.palette_scopes, "app"):
                if command.palette:
                    target: OverlayApp | FrameScreen = self if command.scope == "app" else screen
                    yield SystemCommand(
                        command.label.capitalize(),
                        f"{command.help} ({self.keymap.display_keys(command)})",
                        partial(self._run_command, screen, target, command.action),
                    )
        yield SystemCommand("Quit", "leave the app", self.action_quit)

    async def _run_command(
        self, screen: FrameScreen, target: OverlayApp | FrameScreen, action: str
    ) -> None:
        """Run an action as its key does outside fields, even if the palette was opened in one."""
        screen.leave_field()
        await target.run_action(action)
