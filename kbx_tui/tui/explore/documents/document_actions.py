"""What can be done with the document the user is at: edit it, copy from it, index it again."""

from __future__ import annotations

from kbx_tui.safe_text import safe_line
from kbx_tui.tui.base_session import BaseSession
from kbx_tui.tui.explore.documents.clipboard_text import (
    COMMAND,
    Content,
    current_document,
    text_to_copy,
)
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.judging.judging_screen import JudgingScreen
from kbx_tui.tui.reading.preview_pane import PreviewPane


class DocumentActions:
    """Acts on the current document of a screen."""

    def __init__(self, screen: JudgingScreen, session: BaseSession) -> None:
        self._screen, self._session = screen, session

    async def edit(self) -> None:
        """Open the document in the user's editor, at the current line."""
        path, line = current_document(self._screen, self._session.explore.displayed.snippets)
        if path:
            self._session.reading.count_opening(path)
        if not await self._screen.edit_file(path, line):
            self._screen.show_notice("no document is chosen: go to one first")

    def linked_path(self) -> str:
        """Return the document whose links to show: on a card the page of the entity."""
        focused = self._screen.focused
        if isinstance(focused, EntityCard):
            return focused.card.path if focused.card is not None else ""
        return current_document(self._screen, self._session.explore.displayed.snippets)[0]

    def copy(self, content: Content) -> None:
        """Copy path, citation, passage or command line."""
        model = self._session.explore
        path, line = current_document(self._screen, model.displayed.snippets)
        text = text_to_copy(self._screen, model, content, path, line)
        if text:
            self._session.client.start(self._copy(content, path, text))
        elif safe_line(path) != path:
            self._screen.show_notice("not copied: the name of this file holds control characters")
        else:
            self._screen.show_notice("nothing to copy: type a query and go to a result first")

    async def _copy(self, content: Content, path: str, text: str) -> None:
        if content == "snippet":
            snippet = self._session.explore.displayed.snippets[path]
            text = await self._session.reading.whole_passage(path, snippet) or text
        name = COMMAND if content == "command" else content
        self._screen.show_notice(await self._screen.navigator.copy(name, text))

    def refresh_index(self) -> None:
        """Index changed files now, those on the screen for certain."""
        shown = [result.path for result in self._screen.query_one(ResultList).rows]
        read = self._screen.query_one(PreviewPane).path
        self._session.index_sync.index(maybe_changed=[*shown, read], by_user=True)
