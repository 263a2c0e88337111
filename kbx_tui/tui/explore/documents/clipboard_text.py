"""The current document, and the texts that can be copied from it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from textual.screen import Screen

from kbx_tui.safe_text import safe_line
from kbx_tui.search.command_line import command_line
from kbx_tui.tui.explore.model import ExploreModel
from kbx_tui.tui.explore.panes.entity_card import EntityCard
from kbx_tui.tui.explore.panes.entity_list import EntityList
from kbx_tui.tui.explore.panes.result_list import ResultList
from kbx_tui.tui.reading.preview_pane import PreviewPane

if TYPE_CHECKING:
    from kbx_tui.search.results.response import Snippet

Content = Literal["path", "citation", "snippet", "command"]
COMMAND = "command line"
"""The name of the command in the notice that it was copied."""


def current_document(screen: Screen[None], snippets: Mapping[str, Snippet]) -> tuple[str, int]:
    """Return path and 1-based line of the current document.

    The path is empty without one, the line 0 where none is known. Snippets are by path.
    """
    focused = screen.focused
    if isinstance(focused, PreviewPane):
        return focused.path, focused.current_line
    if isinstance(focused, EntityCard):
        return focused.current_path, 0
    if isinstance(focused, EntityList):
        return (focused.current.path if focused.current is not None else ""), 0
    result = screen.query_one(ResultList).current
    if result is None:
        return "", 0
    snippet = snippets.get(result.path)
    return result.path, snippet.line_start if snippet is not None else 0


def text_to_copy(
    screen: Screen[None], model: ExploreModel, content: Content, path: str, line: int
) -> str:
    """Return the text to copy of the document at `path`; empty when there is none."""
    if content == "command":
        if not model.state.query:
            return ""
        roots = [model.summary.root] if model.summary is not None else []
        return command_line(model.state.request(), model.defaults.request(), roots)
    return text(content, path, line, _titles(screen), model.displayed.snippets)


def text(
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


def _titles(screen: Screen[None]) -> dict[str, tuple[str, str]]:
    """Return title and date of what is shown, by path."""
    results = screen.query_one(ResultList).rows
    titles = {result.path: (result.title, result.date) for result in results}
    preview = screen.query_one(PreviewPane).preview
    if preview is not None:
        titles[preview.path] = (preview.title, preview.date)
    return titles
