"""What the keys of explore do with the current document and results: edit, copy, share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from kbx_tui.formatting import format_count
from kbx_tui.safe_text import safe_line
from kbx_tui.search.request import command_line
from kbx_tui.tui.explore.entity_card import EntityCard
from kbx_tui.tui.explore.entity_list import EntityList
from kbx_tui.tui.explore.reader import Reader
from kbx_tui.tui.explore.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane
from kbx_tui.tui.shell.frame_screen import ModeScreen

if TYPE_CHECKING:
    from kbx_tui.api import KnowledgeBase
    from kbx_tui.search.results.response import Snippet

Content = Literal["path", "citation", "snippet", "command"]
COMMAND = "command line"
SHARED_RESULTS = 20
"""Results on a page: those that a reranker ranks, and about what is read."""


class DocumentActions:
    def __init__(self, screen: ModeScreen, reader: Reader) -> None:
        self._screen, self._session, self._reader = screen, screen.session, reader
        self._model = screen.session.explore

    async def edit(self) -> None:
        path, line = self._current()
        if path:
            self._reader.count_opening(path)
        if not await self._screen.edit_file(path, line):
            self._screen.show_notice("no document is chosen: go to one first")

    def linked_path(self) -> str:
        focused = self._screen.focused
        if isinstance(focused, EntityCard):
            return focused.card.path if focused.card is not None else ""
        return self._current()[0]

    def copy(self, content: Content) -> None:
        path, line = self._current()
        if text := self._text(content, path, line):
            self._session.client.start(self._copy(content, path, text))
        elif safe_line(path) != path:
            self._screen.show_notice("not copied: the name of this file holds control characters")
        else:
            self._screen.show_notice("nothing to copy: type a query and go to a result first")

    async def _copy(self, content: Content, path: str, text: str) -> None:
        if content == "snippet":
            snippet = self._model.displayed.snippets[path]
            text = await self._reader.whole_passage(path, snippet) or text
        name = COMMAND if content == "command" else content
        self._screen.show_notice(await self._screen.app.copy(name, text))

    def share(self) -> None:
        if self._model.state.query:
            self._session.client.start(self._share())
        else:
            self._screen.show_notice("there are no results to share: type a query first")

    async def _share(self) -> None:
        request = replace(self._model.state.request(), limit=SHARED_RESULTS)

        def make(engine: KnowledgeBase) -> tuple[str, int]:
            from kbx_tui.sharing.search_page import search_page
            from kbx_tui.sharing.shared_search import share_search

            shared = share_search(engine, request)
            return search_page(shared), len(shared.answer.results)

        page, count = await self._session.client.run(make)
        place = await self._screen.app.save_page(request.searched, page)
        self._screen.show_notice(safe_line(f"wrote {format_count(count, 'result')} to {place}"))

    def refresh_index(self) -> None:
        shown = [result.path for result in self._screen.query_one(ResultList).rows]
        read = self._screen.query_one(PreviewPane).path
        self._session.index_sync.index(maybe_changed=[*shown, read], by_user=True)

    def _current(self) -> tuple[str, int]:
        """Return path and 1-based line of the current document.

        The path is empty without one, the line 0 where none is known.
        """
        focused = self._screen.focused
        if isinstance(focused, PreviewPane):
            return focused.path, focused.current_line
        if isinstance(focused, EntityCard):
            return focused.current_path, 0
        if isinstance(focused, EntityList):
            return (focused.current.path if focused.current is not None else ""), 0
        result = self._screen.query_one(ResultList).current
        if result is None:
            return "", 0
        snippet = self._model.displayed.snippets.get(result.path)
        return result.path, snippet.line_start if snippet is not None else 0

    def _text(self, content: Content, path: str, line: int) -> str:
        model = self._model
        if content == "command":
            if not model.state.query:
                return ""
            roots = [model.summary.root] if model.summary is not None else []
            return command_line(model.state.request(), model.defaults.request(), roots)
        results = self._screen.query_one(ResultList).rows
        titles = {result.path: (result.title, result.date) for result in results}
        preview = self._screen.query_one(PreviewPane).preview
        if preview is not None:
            titles[preview.path] = (preview.title, preview.date)
        return text_of_document(content, path, line, titles, model.displayed.snippets)


def text_of_document(
    content: Content,
    path: str,
    line: int,
    titles: Mapping[str, tuple[str, str]],
    snippets: Mapping[str, Snippet],
) -> str:
    """Return the text to copy of the document at `path`, empty when there is none.

    `titles` holds title and date by path. A path with control characters is not copied: they would
    take effect in the terminal it is pasted into.
    """
    if not path or safe_line(path) != path:
        return ""
    if content == "path":
        return f"{path}:{line}" if line else path
    if content == "citation":
        title, date = titles.get(path, (Path(path).stem, ""))
        return citation(title, date, path)
    return snippets[path].text if path in snippets else ""


def citation(title: str, date: str, path: str) -> str:
    """Return a markdown link: `[Platform sync (2026-03-10)](memory/meetings/sync.md)`."""
    label = f"{title} ({date})" if date else title
    for sign in "\\[]":
        label = label.replace(sign, f"\\{sign}")
    target = f"<{path}>" if any(sign in path for sign in " ()<>") else path
    return f"[{label}]({target})"
