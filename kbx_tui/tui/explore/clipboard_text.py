"""What is copied of a document, as text for somewhere else. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from kbx_tui.safe_text import visible
from kbx_tui.tui.explore.view import SnippetView

What = Literal["path", "citation", "snippet", "command"]
NAMES: Mapping[What, str] = {
    "path": "path",
    "citation": "citation",
    "snippet": "snippet",
    "command": "command line",
}


def text(
    what: What,
    path: str,
    line: int,
    titles: Mapping[str, tuple[str, str]],
    snippets: Mapping[str, SnippetView],
) -> str:
    """Return the text to copy, empty when there is none.

    `titles` holds title and date by path.
    """
    if not path or visible(path) != path:  # in a terminal it would act where it is pasted
        return ""
    if what == "path":
        return f"{path}:{line}" if line else path
    if what == "citation":
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
