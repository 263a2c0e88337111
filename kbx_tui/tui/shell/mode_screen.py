"""What the screens of the modes of one knowledge base share."""

from __future__ import annotations

from collections.abc import Mapping

from kbx_tui.tui.app_state import AppState
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.navigator import Navigator
from kbx_tui.tui.shell.frame_screen import FrameScreen


class ModeScreen(FrameScreen):
    """A mode of the open base."""

    def __init__(self, session: BaseSession, app_state: AppState, navigator: Navigator) -> None:
        super().__init__(navigator)
        self.session, self.app_state = session, app_state

    @property
    def tab_counts(self) -> Mapping[str, str]:
        return self.session.tab_counts

    @property
    def base_words(self) -> tuple[str, str]:
        return self.session.base_words

    async def edit_file(self, path: str, line: int) -> bool:
        """Open a file of the base in the user's editor, then index it; False without a file.

        Where the settings say so, Obsidian opens it instead, beside the app.
        """
        summary = self.session.explore.summary
        if not path or summary is None:
            return False
        if address := await self.session.client.run(lambda engine: engine.obsidian_address(path)):
            self.navigator.open_beside(address)
            return True
        await self.navigator.edit(summary.root, path, line)
        self.session.index_sync.index(maybe_changed=[path])
        return True
